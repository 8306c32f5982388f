# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the upstream i915 on the model. TAP. Runs with i915 loaded.

. /bin/check.sh

bound() { test -e /sys/bus/pci/drivers/i915/0000:00:02.0; }
no_complaint() {
    # messages about engines without an answer, resets, hangs
    ! dmesg | grep -E 'i915.*(\*ERROR\*|GPU HANG|not idle|timed out|Resetting|wedged)'
}
drawn() { ouro-draw --peer --out /out; }
streams() { ouro-truth --out /out/truth.json; }
unload() {
    for driver in /sys/class/vtconsole/vtcon*/bind; do echo 0 >"$driver"; done
    rmmod i915
}

check_begin
check "i915 binds to the model" bound
check "there is a render node" test -c /dev/dri/renderD128
check "stores and blits arrive" drawn
check "the streams of ouro-truth run" streams
check "i915 has no complaint" no_complaint
check "i915 unloads" unload
check_end
