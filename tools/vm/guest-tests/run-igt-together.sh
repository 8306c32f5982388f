# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=busybox
# In the guest: runs the IGT subtests of /out/todo as run-igt.sh does, but consecutive subtests of a program in one
# process, which saves its start for each. A subtest has $1 seconds from its start message. After one that exceeds the
# limit or ends the program, the others continue in a new process. Subtests that suspend or hibernate are for run-igt.sh.
# Results and logs are as there.

limit=$1
tests=/usr/libexec/igt-gpu-tools
mkdir -p /out/logs
dmesg -c >/out/boot.txt
# the guest's kernel log must not be empty: it shows that the guest ended
trap 'echo "igt: the end" >/dev/kmsg' EXIT

# left: prints the threads in the clients' root, one per line; a thread may outlive its process's main thread.
left() {
    ls -l /proc/[0-9]*/task/[0-9]*/root 2>/dev/null | sed -nE 's|^.*/task/([0-9]+)/root -> /root$|\1|p'
}

# end_all: ends the processes in that root.
end_all() {
    tries=60
    while found=$(left) && [ -n "$found" ]; do
        [ "$tries" != 0 ] || return 1
        # shellcheck disable=SC2086 # words
        kill -9 $found
        tries=$((tries - 1))
        sleep 1
    done 2>/dev/null
}

# at LOG: prints the subtest that has started and not ended, if any.
at() {
    sed -nE 's/^Starting subtest: (.*)$/+\1/p; s/^Subtest ([^ :]+): [A-Z]+ .*$/-/p' "$1" | tail -n 1 | sed -n 's/^+//p'
}

# said LOG PROGRAM: prints result, name, seconds and reason of each subtest that ended.
# shellcheck disable=SC2016 # awk
said() {
    awk -v program="$2" -v OFS='\t' '
        /^Starting subtest: / { why = "" }
        /Test requirement: / && why == "" { sub(/^.*Test requirement: /, ""); gsub(/[ \t]+/, " "); why = common = $0 }
        /Failed assertion: / { sub(/^.*Failed assertion: /, ""); gsub(/[ \t]+/, " "); if (!failed) why = $0; failed = 1 }
        /^Subtest [^ :]+: [A-Z]+ \(/ {
            name = $2; sub(/:$/, "", name)
            seconds = $4; gsub(/[(s)]/, "", seconds)
            result = $3 == "SUCCESS" ? "PASS" : $3
            print result, program "@" name, int(seconds + 0.5), result == "PASS" ? "" : why != "" ? why : common
            why = ""; failed = 0
        }' "$1"
}

result() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" >>/out/results; }

# bad_lines: prints new bad lines of the kernel log, each with the subtest that had started before it.
# shellcheck disable=SC2016 # awk
bad_lines() {
    awk '/\[IGT\] .*: starting subtest / { name = $0; sub(/^.*\[IGT\] /, "", name); sub(/: starting subtest /, "@", name) }
        { print name "\t" $0 }' /tmp/kernel >/tmp/named
    grep -E -f /out/bad /tmp/named | grep -v -E -f /out/fine
}

# told: prints the host's clock, from the time of a file that it writes.
told() { : >/out/clock; stat -c %Y /out/clock; }
# A guest that starts on a busy host may calibrate its clock wrongly, and then all limits are too short.
host=$(told) begin=$(cut -d. -f1 /proc/uptime)
sleep 6
if [ $(($(told) - host)) -lt 4 ] || [ $(($(cut -d. -f1 /proc/uptime) - begin - $(told) + host)) -gt 3 ]; then
    echo "run-igt-together.sh: the clock runs ahead: $(($(told) - host)) s are $(($(cut -d. -f1 /proc/uptime) - begin)) s here"
    exit 3
fi

cp /out/todo /tmp/todo
turn=0
while [ -s /tmp/todo ]; do
    first=$(head -n 1 /tmp/todo)
    echo "$first" >/out/progress
    program=${first%%@*}
    subs=$(awk -F@ -v program="$program" '$1 != program { exit } $2 != "" { print $2 }' /tmp/todo | xargs | tr ' ' ,)
    turn=$((turn + 1))
    log=/out/logs/$program.$turn.txt
    set --
    [ -z "$subs" ] || set -- --run-subtest "$subs"
    rm -f /tmp/done
    (
        chroot /root "$tests/$program" "$@" >"$log" 2>&1 </dev/null
        echo $? >/tmp/done.new
        mv /tmp/done.new /tmp/done
    ) &
    here='' since=$(cut -d. -f1 /proc/uptime) late='' begin=$since
    while [ ! -e /tmp/done ]; do
        sleep 0.2 2>/dev/null || sleep 1
        now=$(cut -d. -f1 /proc/uptime)
        lines=$(grep -cE '^(Starting subtest|Subtest )' "$log" 2>/dev/null)
        if [ "$lines" != "$here" ]; then
            here=$lines since=$now
            under=$(at "$log")
            echo "$program${under:+@$under}" >/out/progress
        elif [ $((now - since)) -ge "$limit" ]; then
            late=yes
            break
        fi
    done
    stuck=
    end_all || stuck=yes
    if [ -z "$stuck" ]; then
        tries=20
        until [ -e /tmp/done ] || [ "$tries" = 0 ]; do sleep 1; tries=$((tries - 1)); done
    fi
    rc=$(cat /tmp/done 2>/dev/null)
    seconds=$(($(cut -d. -f1 /proc/uptime) - begin))
    under=$(at "$log")
    said "$log" "$program" >/tmp/said
    cat /tmp/said >>/out/results
    n=$(wc -l </tmp/said)
    # a program without subtests, or a subtest that it does not have
    name=$program${subs:+@${under:-}}
    if [ "$n" = 0 ] && [ -z "$under" ]; then name=$first; fi
    if [ -n "$stuck" ]; then
        result HANG "$name" "$seconds" ''
    elif [ -n "$late" ]; then
        result TIMEOUT "$name" "$limit" ''
    elif [ -n "$under" ] || [ "$n" = 0 ]; then
        why=$(grep -m 1 -E 'Test requirement: |Failed assertion: |Unknown subtest' "$log" |
            sed -E 's/^.*(Test requirement|Failed assertion): //; s/[[:space:]]+/ /g')
        case $rc in
            0) result PASS "$name" "$seconds" '' ;;
            77) result SKIP "$name" "$seconds" "$why" ;;
            79) result FAIL "$name" "$seconds" "no such subtest" ;;
            *)
                if [ "${rc:-0}" -ge 128 ]; then result CRASH "$name" "$seconds" "signal $((rc - 128))"
                else result FAIL "$name" "$seconds" "$why"; fi
                ;;
        esac
    fi
    dmesg -c >/tmp/kernel
    cat /tmp/kernel >>/out/kernel.txt
    bad_lines >/tmp/bad
    if [ -s /tmp/bad ]; then
        # the first of each subtest
        awk -F'\t' '!seen[$1]++ { print }' /tmp/bad >>/out/dmesg-bad.tsv
    fi
    # subtests without a result
    awk -F'\t' 'FILENAME == ARGV[1] { done[$2]; next } !($1 in done)' /out/results /tmp/todo >/tmp/rest
    # no result: not repeated
    if cmp -s /tmp/rest /tmp/todo; then
        result FAIL "$first" "$seconds" "no result (exit $rc)"
        tail -n +2 /tmp/todo >/tmp/rest
    fi
    mv /tmp/rest /tmp/todo
    cp /tmp/todo /out/rest
    if [ -n "$stuck" ]; then
        echo w >/proc/sysrq-trigger
        dmesg >>/out/kernel.txt
        sync
        reboot -f
    fi
    # later subtests must not get the lines of this one
    [ ! -s /tmp/bad ] || exit 0
    # work of the program may still run on the GPU
    [ -z "$late" ] || sleep 1
done
exit 0
