# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: load, bind, unbind and unload. TAP. Runs with ouro.ko loaded and
# one device bound.

. /bin/check.sh

driver=/sys/bus/pci/drivers/ouro
device=
for link in "$driver"/*:*:*; do
    [ ! -e "$link" ] || device=${link##*/}
done
# Its render node has the first number that was free at the bind.
has_node() {
    for node in /sys/bus/pci/devices/"$device"/drm/renderD*; do
        test -c "/dev/dri/${node##*/}" && return
    done
    return 1
}
has_none() { ! has_node; }

# wait_for TEST...: waits for it, since nodes appear and vanish a little after the bind, on a busy host much later.
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
# with the parameters of the first load
# shellcheck disable=SC2046 # words
reload() { rmmod ouro && insmod $(sed -n 's|^ouro.ko|/lib/modules/&|p' /etc/modules) && wait_for has_node; }

# OURO_LOADS times. KUnit has run: from here on its filter matches no suite.
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

# A file that is open during the unbind.
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
# The firmware's framebuffer: in the card's first memory BAR with room for it.
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
if [ "$OURO_KERNEL" = debug ]; then
    check "stores are in order after all that" order
else
    check "the picture client works after all that" ouro-draw --out /tmp
fi
check_end
