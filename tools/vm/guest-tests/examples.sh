# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the programs of examples/, as Documentation/gpu/ouro/debug-hang.rst has them. TAP.

. /bin/check.sh

state=$(echo /sys/class/drm/card*/error)

# The commands of store are those of two generations, as hello tells.
stores() { /tests/hello.helper | grep -qE '\((gen6|gen7)\)'; }
hangs() {
    # status 1 and these words, or the example is not true
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
if stores; then
    check "store stores" /tests/store.helper
    echo >"$state"
    check "store hangs if it is told to" hangs
    check "the error state names the process" told
    echo >"$state"
    check "the next one is not affected" /tests/store.helper
fi
check_end
