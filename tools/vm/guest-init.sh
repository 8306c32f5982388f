#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# The first program of the guest: mounts, loads the modules, runs the command,
# writes the results to the folder shared with the host, and powers off. Its
# settings are in /etc/ouro, which tools/vm/guest writes.

/bin/busybox mkdir -p /bin /sbin /proc /sys /dev /tmp /run /out
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tmpfs tmp /tmp
mount -t debugfs debug /sys/kernel/debug 2>/dev/null
# No automatic scan for leaks a minute after the boot: the scans at the end find the same.
[ ! -w /sys/kernel/debug/kmemleak ] || echo scan=off 2>/dev/null >/sys/kernel/debug/kmemleak
mkdir -p /dev/pts /dev/shm
mount -t tmpfs shm /dev/shm
# Tests with failing allocations would print ten thousand lines; 4: not on the console.
echo 4 >/proc/sys/vm/drop_caches

. /etc/ouro

end() {
    # Some guests of the stock kernel have stopped here, idle, after all tests. (Not for other kernels: if our
    # driver keeps the guest from its end, the test must fail.)
    [ "$OURO_KERNEL" != peer ] || { sleep 60 && echo b >/proc/sysrq-trigger; } &
    sync
    umount /root/out 2>/dev/null
    umount /out 2>/dev/null
    # QEMU ends at a guest's reset, also after S3, when its ACPI can no longer power off.
    reboot -f
}

# Modules for the guest itself (a stock kernel has 9p as modules).
while read -r file args; do
    # shellcheck disable=SC2086 # words
    insmod "/lib/modules/$file" $args || echo "ouro-guest: cannot load $file"
done </etc/boot-modules

if ! mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /out; then
    echo "ouro-guest: cannot mount the shared folder"
    end
fi

while read -r file args; do
    # shellcheck disable=SC2086 # words
    if ! insmod "/lib/modules/$file" $args; then
        echo "cannot load $file" >>/out/guest-errors
        echo 126 >/out/exit
    fi
done </etc/modules

# A distribution's root, for `chroot /root`, with the mounts of this one.
if [ -n "$CLIENTS" ]; then
    mkdir -p /root
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro root /root ||
        echo "cannot mount the clients' root" >>/out/guest-errors
    for dir in proc sys dev tmp run out; do mount --rbind "/$dir" "/root/$dir"; done
    mount --bind /lib/modules /root/usr/lib/modules
fi

if [ -n "$INTERACTIVE" ]; then
    echo
    echo "ouro guest: GPU $OURO_GPU, kernel $(uname -r) ($OURO_KERNEL); /out is shared; 'exit' powers off"
    setsid cttyhack sh -l
    end
fi

if [ ! -e /out/exit ]; then
    # over a serial line of its own, since the shared folder does not survive a
    # guest that hangs, or a suspend
    stty -F /dev/ttyS1 raw -echo
    sh /etc/command >/dev/ttyS1 2>&1 </dev/null
    echo $? >/out/exit.new
fi

# holders MODULE: prints its reference count, the modules that use it, and the processes that have a DRM device or an
# anonymous file (dma-buf, sync_file, perf) open or mapped, run in the module, are running, or cannot be interrupted.
holders() {
    echo "$1: $(cat "/sys/module/$1/refcnt") references, modules on it: $(ls "/sys/module/$1/holders")"
    # a thread may outlive its process's main thread
    for task in /proc/[0-9]*/task/[0-9]*; do
        open=$(ls -l "$task/fd" 2>/dev/null | sed -nE 's/^.* -> ((\/dev\/dri|anon_inode:|\/dmabuf:).*)$/\1/p' |
            sort | uniq -c | xargs)
        mapped=$(grep -c -E ' (/dev/dri/|/dmabuf:|anon_inode:)' "$task/maps" 2>/dev/null)
        stack=$(cat "$task/stack" 2>/dev/null)
        state=$(sed -nE 's/^State:[[:space:]]*//p' "$task/status" 2>/dev/null)
        case "$open ${mapped:-0}, $state, $stack" in
            " 0, "[!DR]*) case $stack in *"[$1]"*) ;; *) continue ;; esac ;;
        esac
        # /proc/PID/stat: parent, group, session; the name may have blanks
        echo "${task##*/} $(cat "$task/comm"), $state, parent, group and session $(sed -E 's/^.*\) . //' "$task/stat" |
            cut -d' ' -f1-3): ${open:-nothing} open, $mapped mapped"
        echo "$stack" | sed 's/^/    /'
    done
} 2>/dev/null

if [ -n "$UNLOAD" ] && [ -d "/sys/module/$UNLOAD" ]; then
    # A client that was killed at its time limit may take a while to end.
    tries=${CLIENTS:+30}
    until rmmod "$UNLOAD"; do
        if [ "${tries:-0}" = 0 ]; then
            echo "cannot unload $UNLOAD (holders.txt says who keeps it)" >>/out/guest-errors
            holders "$UNLOAD" >/out/holders.txt 2>&1
            break
        fi
        tries=$((tries - 1))
        sleep 1
    done
fi

sh /bin/leaks.sh

dmesg >/out/dmesg.txt
[ ! -e /out/exit.new ] || mv /out/exit.new /out/exit
end
