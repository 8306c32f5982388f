# SPDX-License-Identifier: GPL-2.0
# A real card for the guest, by vfio-pci: everything that must hold is looked
# at first, and what does not is said with the remedy.
#
# shellcheck shell=bash

# pci_known ADDRESS: ends with the reason if there is no such device that could
# be a card of ours: at once, before half an hour of set-up.
pci_known() {
    local address=$1 sys=/sys/bus/pci/devices/$1
    [[ $address =~ ^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]] ||
        die "PCI=$address is no PCI address" "write it as lspci -D does: 0000:01:00.0"
    [ -d "$sys" ] || die "there is no PCI device $address on this machine" "lspci -D names them"
    case $(cat "$sys/class") in
        0x03*) ;;
        *) die "the device $address ($(cat "$sys/vendor"):$(cat "$sys/device")) is not one that ouro drives: it draws nothing" \
            "lspci -D names the devices" ;;
    esac
}

# pci_check ADDRESS MODULE: ends with the reason if the card cannot be given
# to a guest. MODULE is ouro.ko: its own table says what it drives.
pci_check() {
    local address=$1 module=$2 sys=/sys/bus/pci/devices/$1 group other driver
    pci_known "$address"
    pci_supported "$sys" "$module" ||
        die "the device $address ($(cat "$sys/vendor"):$(cat "$sys/device")) is not one that ouro drives"
    [ -e "$sys/iommu_group" ] ||
        die "$address has no IOMMU group: the guest could write anywhere in memory" \
            "switch VT-d or AMD-Vi on in the firmware, and boot with intel_iommu=on"
    group=$(basename "$(readlink -f "$sys/iommu_group")")
    for other in "$sys"/iommu_group/devices/*; do
        driver=none
        [ ! -e "$other/driver" ] || driver=$(basename "$(readlink -f "$other/driver")")
        case $(basename "$other"):$driver in
            "$address:vfio-pci") ;;
            "$address:"*)
                die "$address is bound to '$driver', not to vfio-pci" \
                    "(a card that shows this machine's screen cannot be taken)" \
                    "sudo modprobe vfio-pci; echo vfio-pci | sudo tee $sys/driver_override" \
                    "echo $address | sudo tee $sys/driver/unbind; echo $address | sudo tee /sys/bus/pci/drivers_probe"
                ;;
            *:vfio-pci | *:none | *:pcieport) ;;
            *) die "$(basename "$other") is in the same IOMMU group ($group) and bound to '$driver'" \
                "bind it to vfio-pci as well, or unbind it" ;;
        esac
    done
    [ -r "/dev/vfio/$group" ] && [ -w "/dev/vfio/$group" ] ||
        die "no access to /dev/vfio/$group" "run as root, or: sudo chown $(id -un) /dev/vfio/$group"
}

# pci_supported SYSFS-FOLDER MODULE: the module's alias table matches.
pci_supported() {
    local alias pattern
    alias=$(cat "$1/modalias")
    while IFS= read -r pattern; do
        # shellcheck disable=SC2254 # it is a pattern
        case $alias in $pattern) return 0 ;; esac
    done < <(tr '\0' '\n' <"$2" | sed -n 's/^alias=//p')
    return 1
}
