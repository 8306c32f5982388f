# SPDX-License-Identifier: GPL-2.0
# Decides from a guest's output files whether its run was good.
#
# shellcheck shell=bash

# Patterns that a kernel log must not have.
DMESG_BAD='WARNING: |BUG: |BUG!|Oops|kernel BUG|general protection fault|KASAN|UBSAN:|kmemleak: [1-9]'
DMESG_BAD+='|INFO: (possible|task|rcu)|possible (circular|recursive) locking|suspicious RCU|inconsistent lock state'
DMESG_BAD+='|held lock freed|sleeping function called|scheduling while atomic|ODEBUG|blocked for more than'
DMESG_BAD+='|nobody cared|rust_kernel: panicked|Kernel panic|irq [0-9]+: |bad unlock balance|list_(add|del) corruption'
DMESG_BAD+='|Out of memory: Killed'
# The models answer in time, unless a test says otherwise: the driver has woken a device that is suspended.
DMESG_BAD+='|forcewake: not acknowledged'

# Lines of a stock kernel that match these, but are not about the driver.
DMESG_FINE='possible clocksource|irq [0-9]+: .*(affinity|domain)'

# The line of ouro.ko for a reset (drivers/gpu/drm/ouro/reset/message.rs).
# shellcheck disable=SC2034 # for others
RESET_LINE='ouro [^ ]*: (GPU hang|reset) on [a-z]+[0-9]+: '

# dmesg_bad FILE: prints the bad lines.
dmesg_bad() {
    grep -E "$DMESG_BAD" "$1" 2>/dev/null | grep -vE "$DMESG_FINE" || true
}

# guest_verdict DIR: prints nothing and returns 0 for a good run, else the
# reasons, one a line.
guest_verdict() {
    local dir=$1 log=$1/dmesg.txt bad=0 lines
    if [ -e "$dir/timeout" ]; then
        echo "timed out after $(cat "$dir/timeout") s"
        bad=1
    fi
    if [ ! -s "$log" ]; then
        log=$dir/serial.log
        if [ ! -e "$dir/timeout" ]; then
            echo "the guest died before its end"
            bad=1
        fi
    fi
    if [ -s "$dir/guest-errors" ]; then
        sed 's/^/guest: /' "$dir/guest-errors"
        bad=1
    fi
    if [ -e "$dir/exit" ] && [ "$(cat "$dir/exit")" != 0 ]; then
        echo "the command ended with $(cat "$dir/exit")"
        bad=1
    fi
    lines=$(dmesg_bad "$log")
    if [ -n "$lines" ]; then
        head -n 5 <<<"$lines" | sed 's/^/dmesg: /'
        bad=1
    fi
    if [ -s "$dir/kmemleak.txt" ]; then
        echo "kmemleak: $(grep -c '^unreferenced object' "$dir/kmemleak.txt") unreferenced objects (kmemleak.txt)"
        bad=1
    fi
    if grep -qE '^ *not ok ' <(sed -E 's/^\[ *[0-9.]+\] ?//' "$log"); then
        echo "a KUnit test failed (dmesg.txt)"
        bad=1
    fi
    return "$bad"
}
