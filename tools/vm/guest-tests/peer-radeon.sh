# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the upstream radeon on the model. TAP. Runs with radeon loaded, and does not unload it:
# in Linux 7.3 it cannot be unbound, and its work and interrupt would remain.

. /bin/check.sh

bound() { test -e /sys/bus/pci/drivers/radeon/0000:00:02.0; }
said() { dmesg | grep -F "$1"; }
# The sum over all processors of the card's line in /proc/interrupts.
interrupts() { awk '/radeon/ {n = 0; for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i; print n}' /proc/interrupts; }
# The driver enables the interrupt when it waits, unless the work is complete by then.
interrupted() {
    tries=0
    while
        radeon_memory -t moves || return
        tries=$((tries + 1))
        [ "$(interrupts)" -eq 0 ] && [ "$tries" -lt 20 ]
    do :; done
    cat /proc/interrupts
    test "$(interrupts)" -gt 0
}
no_complaint() {
    # messages about missing or late answers, and about work without the engines
    ! dmesg | grep -E '(radeon|\[drm).*(\*ERROR\*|lockup|timed? ?out|failed|[Dd]isabling GPU|Wait for MC idle)'
}

drawn() { ouro-draw --peer --out /out; }
streams() { ouro-truth --out /out/truth.json; }

check_begin
check "radeon binds to the model" bound
check "there is a render node" test -c /dev/dri/renderD128
check "the GART is enabled" said "PCIE GART of 512M enabled"
check "the ring works" said "ring test succeeded"
check "an indirect buffer works, and its fence comes" said "ib test succeeded"
check "the picture is drawn, every pixel right" drawn
check "the streams of ouro-truth run" streams
check "objects move, and interrupts arrive" interrupted
check "radeon has no complaint" no_complaint
check_end
