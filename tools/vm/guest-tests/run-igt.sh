# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=busybox
# In the guest: runs the IGT subtests of /out/todo, one after the other, each with
# a time limit of $1 seconds, or its own longer limit in /bin/limits. Each adds a
# line to /out/results: result, name, seconds, reason; its output is in /out/logs.
# After one that was killed, or caused a bad line in the kernel log, the others
# are left to the next boot.
#   PASS SKIP FAIL     as the test reports
#   CRASH              ended by a signal
#   TIMEOUT            ended by the limit
#   HANG               could not be killed
#   DMESG              a bad line in the kernel log (/out/bad has the pattern,
#                      /out/fine its exceptions)

common=$1
tests=/usr/libexec/igt-gpu-tools
mkdir -p /out/logs
mkfifo /tmp/done
exec 3<>/tmp/done
dmesg -c >/out/boot.txt
# the guest's kernel log must not be empty: it shows that the guest ended
trap 'echo "igt: the end" >/dev/kmsg' EXIT

# reason LOG PATTERN: prints the first line with an unmet requirement.
reason() {
    grep -m 1 -E "$2" "$1" |
        sed -E 's/^.*(Test requirement|Failed assertion): //; s/[[:space:]]+/ /g'
}

virtio=/sys/bus/pci/drivers/virtio-pci
mount9p() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144$3" "$1" "$2"; }

# memory_root PROGRAM: makes /tmp/memory a root with this program of IGT and the programs that it calls.
memory_root() {
    mkdir -p /tmp/memory/usr/bin /tmp/memory/usr/sbin /tmp/memory/usr/lib /tmp/memory/usr/lib64 /tmp/memory/etc
    for dir in bin sbin lib lib64; do ln -sf "usr/$dir" "/tmp/memory/$dir"; done
    for file in "$1" /usr/bin/dash /usr/bin/timeout /usr/sbin/rtcwake; do
        echo "$file"
        # the libraries of each, and the loader
        chroot /root ldd "$file" | sed -nE 's/^[^\/]*(\/[^ ]+) .*/\1/p'
    done | sort -u | while IFS= read -r file; do
        # lib, bin and others are links in /root
        mkdir -p "/tmp/memory/${file%/*}"
        cp "/root$file" "/tmp/memory$file"
    done
    ln -sf dash /tmp/memory/usr/bin/sh
    for dir in proc sys dev tmp; do
        mkdir -p "/tmp/memory/$dir"
        mount --bind "/$dir" "/tmp/memory/$dir"
    done
    mount --bind /sys/kernel/debug /tmp/memory/sys/kernel/debug
}

# shared_away, shared_back: unmount and mount the host's shared folders. The kernel's 9p does not survive a suspend,
# so its devices are unbound during it.
shared_away() {
    cd /
    umount -l /root && umount /out || return 1
    : >/tmp/away
    for link in "$virtio"/*:*:*; do
        echo "${link##*/}" >>/tmp/away
        echo "${link##*/}" >"$virtio/unbind"
    done
}
shared_back() {
    while read -r device; do echo "$device" >"$virtio/bind"; done </tmp/away
    mount9p out /out && mount9p root /root ,cache=loose,ro || return 1
    for dir in proc sys dev tmp run out; do mount --rbind "/$dir" "/root/$dir"; done
    mount --bind /lib/modules /root/usr/lib/modules
}

# left ROOT: prints the threads in that root, one per line; a thread may outlive its process's main thread.
left() {
    ls -l /proc/[0-9]*/task/[0-9]*/root 2>/dev/null | sed -nE "s|^.*/task/([0-9]+)/root -> $1\$|\1|p"
}

# end_all ROOT: ends the processes in that root: children that a test leaves behind run without end, with the device open,
# so that the module cannot be unloaded.
end_all() {
    tries=60
    while found=$(left "$1") && [ -n "$found" ]; do
        [ "$tries" != 0 ] || return 1
        [ "$tries" != 60 ] || echo "run-igt.sh: ended what it left behind: $found"
        # shellcheck disable=SC2086 # words
        kill -9 $found
        tries=$((tries - 1))
        sleep 1
    done 2>/dev/null
}

cp /out/todo /tmp/todo
while IFS= read -r name; do
    echo "$name" >/out/progress
    limit=$(awk -v name="$name" -v limit="$common" '$1 == name && $2 > limit {limit = $2} END {print limit}' /bin/limits)
    program=${name%%@*}
    rest=${name#"$program"}
    rest=${rest#@}
    sub=${rest%%@*}
    dynamic=${rest#"$sub"}
    dynamic=${dynamic#@}
    set --
    [ -z "$sub" ] || set -- --run-subtest "$sub"
    [ -z "$dynamic" ] || set -- "$@" --dynamic-subtest "$dynamic"
    log=/out/logs/$name.txt root=/root
    case $name in
        # S0, S3 and S4 at the end of a name, or before the name of an engine
        *suspend* | *hibernate* | *-S[034] | *-S[034][-@]*)
            # IGT would load it from a folder that is unmounted then
            chroot /root modprobe vgem
            memory_root "$tests/$program"
            log=/tmp/log root=/tmp/memory
            shared_away || exit 1
            # the machine's clock wakes it only from S3
            case $name in *-S0*) [ ! -e /lib/modules/ouro_alarm.ko ] || insmod /lib/modules/ouro_alarm.ko ;; esac
            ;;
    esac
    begin=$(cut -d. -f1 /proc/uptime)
    (
        # By its path: busybox's timeout would signal only the test, not its children.
        chroot "$root" /usr/bin/timeout -k 5 "$limit" "$tests/$program" "$@" >"$log" 2>&1 </dev/null 3>&-
        echo $? >&3
    ) &
    rc='' again=''
    # A killed process may need a while to end on a busy machine.
    # shellcheck disable=SC3045 # busybox has it
    read -r -t $((limit + 60)) rc <&3
    seconds=$(($(cut -d. -f1 /proc/uptime) - begin))
    # a process that cannot be ended counts as a test that cannot
    [ -z "$rc" ] || end_all "$root" >>"$log" || rc=
    if [ "$root" = /tmp/memory ]; then
        [ ! -d /sys/module/ouro_alarm ] || rmmod ouro_alarm
        shared_back || exit 1
        cp /tmp/log "/out/logs/$name.txt"
        log=/out/logs/$name.txt
        # later tests must not see leftovers of these
        again=yes
    fi
    why=
    case $rc in
        0) result=PASS ;;
        77) result=SKIP why=$(reason "$log" 'Test requirement: ') ;;
        124) result=TIMEOUT again=yes ;;
        '') result=HANG again=yes ;;
        79) result=FAIL why="no such subtest" ;;
        *)
            result=FAIL why=$(reason "$log" 'Failed assertion: |Unknown subtest')
            [ "$rc" -lt 128 ] || result=CRASH why="signal $((rc - 128))"
            # a test that handles the signal of the limit
            [ "$seconds" -lt "$limit" ] || result=TIMEOUT why="exit $rc"
            [ "$result" != TIMEOUT ] || again=yes
            ;;
    esac
    if [ "$result" = HANG ]; then echo w >/proc/sysrq-trigger; fi
    dmesg -c >/tmp/kernel
    if grep -E -f /out/bad /tmp/kernel | grep -v -E -f /out/fine >/tmp/lines; then
        why="$result, and in the kernel log: $(head -n 1 /tmp/lines | cut -c1-160)"
        result=DMESG again=yes
    fi
    cat /tmp/kernel >>/out/kernel.txt
    cat /tmp/kernel >"/out/logs/$name.dmesg"
    printf '%s\t%s\t%s\t%s\n' "$result" "$name" "$seconds" "$why" >>/out/results
    if [ -z "$rc" ]; then
        # the module can no longer be unloaded
        sync
        reboot -f
    fi
    [ -z "$again" ] || exit 0
done </tmp/todo
exit 0
