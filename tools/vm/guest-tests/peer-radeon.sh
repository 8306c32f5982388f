# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the upstream radeon on the model. TAP. Runs with radeon loaded, and does not unload it:
# Linux 7.3 has no function that takes it from a device, and leaves its work and its interrupt behind.

. /bin/check.sh

bound() { test -e /sys/bus/pci/drivers/radeon/0000:00:02.0; }
said() { dmesg | grep -F "$1"; }
# The line of /proc/interrupts that is the card's: all processors' together.
interrupts() { awk '/radeon/ {n = 0; for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i; print n}' /proc/interrupts; }
# The driver asks for one when it waits, and not if the work is done by then.
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
    # what did not answer, or came late; work without the engines
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
