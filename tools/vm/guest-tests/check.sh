# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: checks of a shell script, with results as TAP. Each guest has it
# as /bin/check.sh.

# Before the first check.
check_begin() {
    checks=0
    echo "TAP version 13"
}

# check NAME COMMAND...: prints the command's output if it fails.
check() {
    checks=$((checks + 1))
    check_name=$1
    shift
    read -r check_start _ </proc/uptime
    if "$@" >/tmp/said 2>&1; then
        echo "ok $checks $check_name"
        read -r check_now _ </proc/uptime
        echo "# after $((${check_now%.*} - ${check_start%.*})) s"
    else
        sed 's/^/# /' /tmp/said
        echo "not ok $checks $check_name"
    fi
}

# After the last check.
check_end() { echo "1..$checks"; }
