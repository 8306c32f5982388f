# SPDX-License-Identifier: GPL-2.0
# A real card for the guest, by vfio-pci: all requirements are checked first, and
# each failure is reported with its remedy.
#
# shellcheck shell=bash

PCI_DEVICES=${OURO_PCI_DEVICES:-/sys/bus/pci/devices}
# The kernel's firmware folders, and the file for R5xx cards, which is also in ouro.ko's modinfo.
FIRMWARE_DIRS=${OURO_FIRMWARE_DIRS:-/lib/firmware/updates /lib/firmware}
R5XX_FIRMWARE=radeon/R520_cp.bin

# firmware_find NAME: prints the path on this machine, plain or compressed; nothing if there is none.
firmware_find() {
    local dir suffix
    for dir in $FIRMWARE_DIRS; do
        for suffix in '' .xz .zst; do
            if [ -s "$dir/$1$suffix" ]; then
                echo "$dir/$1$suffix"
                return
            fi
        done
    done
}

# pci_firmware ADDRESS [DIR]: copies the card's firmware to DIR, uncompressed; ends the script if this machine lacks it.
# Without DIR it only checks.
pci_firmware() {
    local file to=${2:+$2/$R5XX_FIRMWARE}
    [ "$(cat "$PCI_DEVICES/$1/vendor")" = 0x1002 ] || return 0
    file=$(firmware_find "$R5XX_FIRMWARE")
    [ -n "$file" ] || die "the card $1 needs the file $R5XX_FIRMWARE, which is in none of: $FIRMWARE_DIRS" \
        "it is not free software: Debian's package firmware-amd-graphics has it (section non-free-firmware)," \
        "elsewhere linux-firmware: sudo apt-get install firmware-amd-graphics"
    [ -n "$to" ] || return 0
    mkdir -p "${to%/*}"
    case $file in
        *.xz) xz -dc "$file" >"$to" ;;
        *.zst) zstd -dcq "$file" >"$to" ;;
        *) cp "$file" "$to" ;;
    esac || die "cannot unpack $file"
    [ -s "$to" ] || die "$file is empty"
}

# pci_known ADDRESS: ends the script with the reason if there is no such device, or
# it cannot be a supported card, before the set-up starts.
pci_known() {
    local address=$1 sys=$PCI_DEVICES/$1
    [[ $address =~ ^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]] ||
        die "PCI=$address is no PCI address" "write it as lspci -D does: 0000:01:00.0"
    [ -d "$sys" ] || die "there is no PCI device $address on this machine" "lspci -D names them"
    case $(cat "$sys/class") in
        0x03*) ;;
        *) die "the device $address ($(cat "$sys/vendor"):$(cat "$sys/device")) is not one that ouro drives: not a display controller" \
            "lspci -D names the devices" ;;
    esac
    pci_firmware "$address"
}

# pci_check ADDRESS MODULE: ends the script with the reason if the card cannot be
# given to a guest. MODULE is ouro.ko, which has the table of PCI ids.
pci_check() {
    local address=$1 module=$2 sys=$PCI_DEVICES/$1 group other driver
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

# pci_supported SYSFS-FOLDER MODULE: whether the module's aliases match the device.
pci_supported() {
    local alias pattern
    alias=$(cat "$1/modalias")
    while IFS= read -r pattern; do
        # shellcheck disable=SC2254 # it is a pattern
        case $alias in $pattern) return 0 ;; esac
    done < <(tr '\0' '\n' <"$2" | sed -n 's/^alias=//p')
    return 1
}
