# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=busybox
# In the guest: runs the groups of i915's selftests in /out/todo, lines  KIND GROUP PARAMETER [TEST...],  without the
# listed tests. As in IGT, the module is loaded for each group, and after a failed test again for the tests after it. The
# results in /out/results are those of selftests.awk.
#   run-selftests.sh TIMEOUT SEED [ARGUMENT...]    milliseconds for each loop of a test; arguments of the module

limit=$1 seed=$2
shift 2
bad=$(cat /out/bad) fine=$(cat /out/fine)
dmesg -c >/out/boot.txt
# The progress for the host: the line changes with each test, so that a hang is detected.
(
    was=
    while sleep 2; do
        at=$(dmesg | sed -nE 's/^.*i915: Running (.*\/.*)$/\1/p' | tail -n 1)
        [ "$at" = "$was" ] || echo "$(cat /tmp/at) $at" >/out/progress
        was=$at
    done
) &
watcher=$!
# the guest's kernel log must not be empty: it shows that the guest ended
trap 'kill "$watcher"; echo "selftests: the end" >/dev/kmsg' EXIT

while read -r kind group parameter left; do
    echo "$kind/$group" >/tmp/at
    echo "$kind/$group" >/out/progress
    while :; do
        filter=
        for test in $left; do filter="$filter${filter:+,}!$test"; done
        dmesg -c >/dev/null
        echo "selftests: begin $kind $group" >/dev/kmsg
        # afterwards the module does nothing (mock), or has no device (live, perf)
        # shellcheck disable=SC2086 # words
        insmod /lib/modules/i915.ko "$@" "${kind}_selftests=-1" "$parameter=1" \
            "st_timeout=$limit" "st_random_seed=$seed" ${filter:+"st_filter=$filter"}
        ended=$(cat "/sys/module/i915/parameters/${kind}_selftests")
        dmesg >/tmp/kernel
        cat /tmp/kernel >>/out/kernel.txt
        awk -v kind="$kind" -v group="$group" -v ended="$ended" -v bad="$bad" -v fine="$fine" \
            -f /bin/selftests.awk /tmp/kernel |
            # all of the group was left out
            if [ -z "$left" ]; then cat; else grep -v ^NONE; fi >/tmp/results
        tries=20
        until rmmod i915 2>/dev/null; do
            tries=$((tries - 1))
            [ "$tries" -gt 0 ] || { cat /tmp/results >>/out/results; echo "cannot unload i915"; exit 1; }
            sleep 1
        done
        cat /tmp/results >>/out/results
        # a group is complete when its parameter says so, or when no test ran that could be left out
        [ "$ended" != -25 ] || break
        more=$(awk -F'\t' '{n = split($2, part, "/"); if (n > 2) print part[n]}' /tmp/results)
        [ -n "$more" ] || break
        left="$left $more"
    done
done </out/todo
exit 0
