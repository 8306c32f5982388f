# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the first bring-up on a card that shows the firmware's picture. TAP. ouro.ko is not loaded, and /tests
# has the kselftest probe. $1: the text of the log for a card that is refused, whose picture must stay; without it the
# card is accepted.

. /bin/check.sh

refused=${1:-}
driver=/sys/bus/pci/drivers/ouro
id='' place=
for device in /sys/bus/pci/devices/*; do
    case $(cat "$device/class") in
        0x03*)
            id=$(cat "$device/vendor"):$(cat "$device/device") place=${device##*/}
            # the first memory BAR with room for a picture
            while read -r start end _; do
                [ $((end - start)) -lt $((0x7fffff)) ] || { at=$start && break; }
            done <"$device/resource"
            ;;
    esac
done
id=${id#0x}
id=${id%:*}:${id#*:0x}

log() { dmesg | grep "ouro $place: " | tail -n +"$((seen + 1))"; }
# grep -c fails if the count is 0
mark() { seen=$(dmesg | grep -c "ouro $place: ") || true; }
bound() { test -e "$driver/$place"; }
picture() { test -e /sys/bus/platform/devices/ouro-framebuffer; }
# load WORDS...: loads the module with these parameters
load() { mark && insmod /lib/modules/ouro.ko iommu=0 "$@"; }

# said TEXT: the card is not bound, the picture is there, and the log has the reason; unloads the module
said() {
    log | grep -F "$1" || { log && return 1; }
    ! bound && picture && rmmod ouro && picture
}
not_named() { load && said "not bound; to bind it: modprobe ouro probe=$id"; }
another() { load probe=8086:ffff,1002:ffff && said "not bound; to bind it"; }
no_id() { load "probe=$id,card0" && said "probe=card0: not a list of PCI ids"; }
no_step() { load "probe=$id" stop_after=half && said "stop_after=half: none of probe, table, ring, request"; }
is_refused() { load "probe=$id" && said "$refused"; }
looked_at() {
    load "probe=$id" stop_after=probe && log | grep -q "GGTT of [0-9]* entries" &&
        said "stop_after=probe: the device is released again"
}
# a card without a driver is not held awake
sleeps() { OURO_LOOKED_AT=$place /tests/probe -t a_device_that_was_looked_at_sleeps; }
# stops STEP: the bring-up reached this step, took the picture's memory, and released everything
stops() {
    load "probe=$id" "stop_after=$1" && log | grep -F "stop_after=$1: the device is released again" || return 1
    case $1 in ring | request) log | grep -q ": HEAD 0x.* TAIL 0x.* ACTHD 0x" || return 1 ;; esac
    ! bound && ! picture && rmmod ouro
}
# On the debug kernel the picture takes a minute; other guests draw it.
draws() { if [ "$OURO_KERNEL" = debug ]; then order -t a_writer_waits_for_a_writer; else ouro-draw --out /tmp; fi; }
accepted() {
    load "probe=$id" && bound || return 1
    tries=100
    until ls /dev/dri/renderD* || [ "$tries" = 0 ]; do tries=$((tries - 1)) && usleep 100000; done
    draws && rmmod ouro
}

# KUnit, which runs when the module is loaded, takes a second on the debug kernel; other guests have its results.
echo none >/sys/module/kunit/parameters/filter_glob

check_begin
check "a card is there" test -n "$place"
check "the firmware's picture is on it" insmod /lib/modules/ouro_framebuffer.ko "start=$at" "size=$((0x300000))"
check "a card that probe= does not name is left alone" not_named
check "so it is if that names others" another
check "a word that is no PCI id binds nothing" no_id
check "a step that does not exist binds nothing" no_step
if [ -n "$refused" ]; then
    check "a card that is refused keeps its picture" is_refused
    check "so it does at the second try" is_refused
    check "and sleeps again" sleeps
else
    check "stop_after=probe leaves the picture" looked_at
    check "and the card sleeps again" sleeps
    for step in table ring request; do check "stop_after=$step releases the card" stops "$step"; done
    check "then it is bound, works and goes" accepted
fi
check "nothing of the module is left" test ! -e /sys/module/ouro
check_end
