# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the upstream i915 on the modelled DG2, by execlists. TAP. Runs with i915 loaded.

. /bin/check.sh

bound() { test -e /sys/bus/pci/drivers/i915/0000:00:02.0; }
# At least one of each class, each with a recorded first context: otherwise the GT is wedged.
engines() {
    for engine in rcs0 bcs0 ccs0 vcs0 vcs1 vecs0 vecs1; do
        test -d "/sys/class/drm/card0/engine/$engine" || { echo "no $engine"; return 1; }
    done
    test "$(cat /sys/kernel/debug/dri/0*/i915_wedged | head -n 1)" = 0
}
# The sum over all processors of the card's line in /proc/interrupts.
interrupts() { awk '/i915/ {n = 0; for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i; print n}' /proc/interrupts; }
interrupted() { test "$(interrupts)" -gt 0; }
complaints() { dmesg | grep -E 'i915.*(\*ERROR\*|GPU HANG|not idle|timed out|Resetting|wedged)'; }
no_complaint() { ! complaints; }
drawn() { ouro-draw --peer --out /out; }
streams() { ouro-truth --out /out/truth.json; }
work() { discrete -T a_bad_batch_is_its_own_contexts -T work_that_is_not_preemptible_is_found; }
# The engine is reset by itself, for a reason, where this test is run; not for a machine that stood still.
one_reset() {
    timeout=/sys/class/drm/card0/engine/bcs0/preempt_timeout_ms
    usual=$(cat "$timeout")
    [ "$1" = 'preemption time out' ] || echo 10000 >"$timeout"
    discrete -t "$2"
    rc=$?
    echo "$usual" >"$timeout"
    [ "$rc" = 0 ] || return 1
    complaints
    complaints | grep -q "Resetting bcs0 for $1"
}
unload() {
    for driver in /sys/class/vtconsole/vtcon*/bind; do echo 0 >"$driver"; done
    rmmod i915
}

check_begin
check "i915 binds to the model" bound
check "there is a render node" test -c /dev/dri/renderD128
check "all engines have recorded a context" engines
check "stores, blits and preemption do what they should" work
check "the picture is drawn, every pixel right" drawn
check "the streams of ouro-truth run" streams
check "interrupts arrive" interrupted
check "i915 has no complaint" no_complaint
check "a bad batch resets its engine" one_reset 'CS error' a_bad_batch_is_its_own_contexts
check "so does one that cannot be preempted" one_reset 'preemption time out' work_that_is_not_preemptible_is_found
check "i915 unloads" unload
check_end
