# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: two devices at once, each by itself and in the other's absence.
# TAP. Runs with ouro.ko loaded and two models bound, with apertures of 64 MiB and swizzled memory.
# Both are lost in the end.

. /bin/check.sh

driver=/sys/bus/pci/drivers/ouro
one=/dev/dri/renderD128
two=/dev/dri/renderD129
second=$(basename "$(readlink -f /sys/class/drm/renderD129/device)")

draw() {
    mkdir -p "/tmp/$2" && ouro-draw --device "$1" --out "/tmp/$2"
}
both_draw() {
    draw $one one &
    draw $two two && wait $!
}
work() { OURO_NODE=$1 order; }
both_work() {
    work $one &
    work $two && wait $!
}
# For the one that is back, a part of it.
works() { OURO_NODE=$1 order -t a_writer_waits_for_a_writer; }
# The second one comes and goes while the first one works, once: with INTx nothing of a card is shared with the
# guest, and each bind and unbind writes its table by a message for every two entries.
unbind_beside_work() {
    work $one &
    echo "$second" >"$driver/unbind" && echo "$second" >"$driver/bind" || return 1
    wait $! && works $two
}
# The second one is pulled out, with work under way, while the first one works.
remove_beside_work() {
    work $one &
    OURO_NODE=$two unbind -t removed_with_work_in_flight || return 1
    wait $!
    # it may have come back with another number
    two=/dev/dri/$(basename "/sys/bus/pci/devices/$second/drm"/renderD*)
    works "$two"
}
# The module was loaded with a simulated region.
region_moves() {
    OURO_NODE=$one region >/tmp/region.txt || { cat /tmp/region.txt; return 1; }
    ! grep 'no device memory' /tmp/region.txt || return 1
    OURO_NODE=$one usage || return 1
    OURO_NODE=$one moving
}
# Memory channels are equal, and the aperture is smaller than an object.
tiles() { OURO_NODE=$one tiling; }
looks() { OURO_NODE=$one aperture; }
check_begin
check "two nodes" test -c $one -a -c $two
# the picture takes a minute there, and another guest draws it
if [ "$OURO_KERNEL" = debug ]; then
    check "both work at once" both_work
else
    check "both draw at once" both_draw
fi
check "tiles in swizzled memory" tiles
# slow on the debug kernel, where another guest looks through a larger one
[ "$OURO_KERNEL" = debug ] || check "objects larger than the aperture" looks
check "objects in two regions of memory" region_moves
check "one comes and goes beside the other's work" unbind_beside_work
check "one is pulled out and put back beside the other's work" remove_beside_work
check_end
