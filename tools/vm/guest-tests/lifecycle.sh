# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the driver comes and goes. TAP. Runs with ouro.ko loaded and
# one device bound.

. /bin/check.sh

driver=/sys/bus/pci/drivers/ouro
device=
for link in "$driver"/*:*:*; do
    [ ! -e "$link" ] || device=${link##*/}
done
# Its render node has the number that was free when it was bound.
has_node() {
    for node in /sys/bus/pci/devices/"$device"/drm/renderD*; do
        test -c "/dev/dri/${node##*/}" && return
    done
    return 1
}
has_none() { ! has_node; }

# wait_for TEST...: a node comes and goes a little after the bind; on a busy host that may be long.
wait_for() {
    left=600
    while ! "$@"; do
        [ "$left" -gt 0 ] || return 1
        left=$((left - 1))
        usleep 100000
    done
}
bind() { echo "$device" >"$driver/bind" && wait_for has_node; }
unbind() { echo "$device" >"$driver/unbind" && wait_for has_none; }
# with the arguments it was loaded with at first
# shellcheck disable=SC2046 # words
reload() { rmmod ouro && insmod $(sed -n 's|^ouro.ko|/lib/modules/&|p' /etc/modules) && wait_for has_node; }

# As often as OURO_LOADS says. KUnit has had its turn: from here on no suite's name fits.
often=${OURO_LOADS:-50}
unbinds=5
if [ "$OURO_KERNEL" = debug ]; then
    often=${OURO_LOADS:-3}
    unbinds=2
fi
loads() {
    echo none >/sys/module/kunit/parameters/filter_glob
    times=$often
    while [ "$times" -gt 0 ]; do
        reload || return 1
        times=$((times - 1))
    done
}
unbind_bind() {
    times=$unbinds
    while [ "$times" -gt 0 ]; do
        unbind && bind || return 1
        times=$((times - 1))
    done
}

# A file that is open while its device goes.
unbind_open() {
    has_node && exec 9<"/dev/dri/${node##*/}" || return 1
    unbind || return 1
    exec 9<&-
    bind
}
removal() {
    echo 1 >"/sys/bus/pci/devices/$device/remove" && wait_for has_none &&
        echo 1 >/sys/bus/pci/rescan && wait_for has_node
}

framebuffer() { test -e /sys/bus/platform/devices/ouro-framebuffer; }
no_framebuffer() { ! framebuffer; }
# What firmware drew with: a framebuffer in the first memory of the card that has room for it.
from_firmware() {
    unbind || return 1
    found=
    while read -r start end _; do
        [ $((end - start)) -lt $((0x7fffff)) ] || { found=$start && break; }
    done <"/sys/bus/pci/devices/$device/resource"
    insmod /lib/modules/ouro_framebuffer.ko "start=$found" "size=$((0x300000))" && framebuffer || return 1
    bind && no_framebuffer && rmmod ouro_framebuffer
}

interrupts() { grep -q -i ouro /proc/interrupts; }

check_begin
check "a device is bound" test -n "$device"
check "there is a render node" has_node
check "an interrupt is registered" interrupts
check "unbind and bind $unbinds times" unbind_bind
check "unload and load $often times" loads
check "unbind while a file is open" unbind_open
check "remove the device and find it again" removal
check "a framebuffer of the firmware goes when the driver takes the card" from_firmware
check "the picture client works after all that" ouro-draw --out /tmp
check_end
