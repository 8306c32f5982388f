# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the programs of examples/, as Documentation/gpu/ouro/debug-hang.rst has them. TAP.

. /bin/check.sh

state=$(echo /sys/class/drm/card*/error)

# store has the commands of two generations, copy of three; hello prints the generation.
stores() { /tests/hello.helper | grep -qE '\((gen6|gen7)\)'; }
copies() { /tests/hello.helper | grep -qE '\((gen4|gen6|gen7)\)'; }
# Both print the same, except for the counts of engines.
alike() {
    /tests/hello.helper | sed 's/: [0-9].*//' >/tmp/hello-c
    /tests/rust-hello.helper | sed 's/: [0-9].*//' >/tmp/hello-rust
    [ -s /tmp/hello-c ] && cmp /tmp/hello-c /tmp/hello-rust
}
hangs() {
    # status 1 and this text, as on the page
    ! /tests/store.helper wrong >/tmp/hung 2>&1 && grep -q 'the GPU hung in this batch' /tmp/hung
}
told() { grep -q '^process: store' "$state"; }

# Tests before this one may have let engines hang for long.
for interval in /sys/class/drm/card*/engine/*/heartbeat_interval_ms; do
    [ -w "$interval" ] || continue
    cat "${interval%/*}/.defaults/heartbeat_interval_ms" >"$interval"
done

check_begin
check "hello says what the device is" /tests/hello.helper
check "hello in Rust says the same" alike
if copies; then
    check "copy copies" /tests/copy.helper
    check "copy in Rust copies" /tests/rust-copy.helper
fi
if stores; then
    check "store stores" /tests/store.helper
    check "store in Rust stores" /tests/rust-store.helper
    echo >"$state"
    check "store hangs if it is told to" hangs
    check "the error state names the process" told
    echo >"$state"
    check "the next one is not affected" /tests/store.helper
fi
check_end
