# SPDX-License-Identifier: GPL-2.0
# Tests of set-up: cards that cannot be given to a guest.
#
# shellcheck shell=bash disable=SC2154

pci() { bash -c ". '$VM_DIR/lib/common.sh'; . '$VM_DIR/lib/pci.sh'; pci_check '$1' /dev/null" 2>&1; }
has "a wrong PCI address is refused" "$(pci 1:2)" "no PCI address" "0000:01:00.0"
has "an absent PCI device is refused" "$(pci 0000:fe:1f.7)" "there is no PCI device"
first=$(ls /sys/bus/pci/devices 2>/dev/null | head -n 1)
if [ -n "$first" ]; then
    has "a device that ouro does not drive is refused" "$(pci "$first")" "not one that ouro drives"
else
    skip "a device that ouro does not drive is refused" "this machine has no PCI devices"
fi
# An R5xx in a tree of devices of our own, and the code that it runs.
mkdir -p "$scratch/devices/0000:07:00.0" "$scratch/firmware/radeon"
echo 0x1002 >"$scratch/devices/0000:07:00.0/vendor"
echo 0x7146 >"$scratch/devices/0000:07:00.0/device"
echo 0x030000 >"$scratch/devices/0000:07:00.0/class"
card() {
    OURO_PCI_DEVICES=$scratch/devices OURO_FIRMWARE_DIRS="$scratch/none $scratch/firmware" \
        bash -c ". '$VM_DIR/lib/common.sh'; . '$VM_DIR/lib/pci.sh'; $1" 2>&1
}
has "an R5xx without its firmware is refused" "$(card 'pci_known 0000:07:00.0')" "radeon/R520_cp.bin" "firmware-amd-graphics"
has "a guest does not start with it" "$(card "pci_firmware 0000:07:00.0 '$scratch/copied'")" "firmware-amd-graphics"
[ ! -e "$scratch/copied" ]
ok $? "nothing is put in its place"
file=$scratch/firmware/radeon/R520_cp.bin
seq 1 512 | head -c 2048 >"$scratch/R520"
for kind in cp:'' xz:.xz zstd:.zst; do
    rm -rf "$scratch/copied" "$file"*
    case ${kind%%:*} in
        cp) cp "$scratch/R520" "$file" ;;
        *) "${kind%%:*}" -qc "$scratch/R520" >"$file${kind##*:}" ;;
    esac
    said=$(card "pci_firmware 0000:07:00.0 '$scratch/copied'")
    [ -z "$said" ] && cmp -s "$scratch/R520" "$scratch/copied/radeon/R520_cp.bin"
    ok $? "its firmware (R520_cp.bin${kind##*:}) goes into the guest"
done
: >"$file.xz"
rm -f "$file" "$file.zst"
has "an empty file is none" "$(card 'pci_known 0000:07:00.0')" "firmware-amd-graphics"
echo 0x8086 >"$scratch/devices/0000:07:00.0/vendor"
[ -z "$(card 'pci_known 0000:07:00.0')" ]
ok $? "an Intel card needs none"
# shellcheck disable=SC2016 # for the shell inside
name=$(card 'echo "$R5XX_FIRMWARE"')
[ "$(sed -nE 's/^ *firmware: \["(.*)"\],$/\1/p' "$OURO_TOP/drivers/gpu/drm/ouro/ouro_main.rs")" = "$name" ] &&
    grep -qF "const FILE: &str = \"$name\";" "$OURO_TOP/drivers/gpu/drm/ouro/hw/r5xx/microcode.rs"
ok $? "the module names the file that the driver asks for"
