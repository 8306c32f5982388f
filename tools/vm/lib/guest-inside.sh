# SPDX-License-Identifier: GPL-2.0
# The part of `guest` in the build root: packs the initramfs, starts the models
# and QEMU, enforces the time limits, and ends all processes.
# Its arguments are the variables OURO_GUEST_*.
#
# shellcheck shell=bash

set -euo pipefail

out=$OURO_GUEST_OUT
stage=$out/.stage
children=()
models=()
stop() {
    local pid
    for pid in "${children[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

[ -z "$OURO_GUEST_ROOT" ] || depmod -b "$stage" "$OURO_GUEST_RELEASE" 2>/dev/null
# Not compressed: an emulated kernel with KASAN takes seconds to decompress it.
(cd "$stage" && find . -print0 | cpio --quiet -0 -o -H newc -R 0:0) >"$out/.initrd"
rm -rf "$stage"

# One process per GPU; QEMU connects once, when it starts.
devices=()
n=0
for gpu in $OURO_GUEST_GPUS; do
    socket=/run/gpu$n
    # shellcheck disable=SC2086 # words
    "$OURO_GUEST_MODEL" --gpu "$gpu" --socket "$socket" --report "$out/model-$n.json" \
        ${OURO_GUEST_REGISTERS:+--registers "$out/model-$n.registers"} $OURO_GUEST_MODEL_ARGS >"$out/model-$n.log" 2>&1 </dev/null &
    model=$!
    children+=("$model")
    models+=("$model")
    for _ in $(seq 1200); do
        [ ! -S "$socket" ] || break
        kill -0 "$model" 2>/dev/null || { echo "the model $gpu ended at once" | tee -a "$out/guest-errors" >&2
            cat "$out/model-$n.log" >&2
            exit 1; }
        sleep 0.05
    done
    [ -S "$socket" ] || { echo "the model $gpu made no socket" | tee -a "$out/guest-errors" >&2; exit 1; }
    # shellcheck disable=SC2054
    devices+=(-device '{"driver":"vfio-user-pci","id":"gpu'"$n"'","addr":"'"$((n + 2))"'","x-msg-timeout":600000,
        "socket":{"type":"unix","path":"'"$socket"'"}}')
    n=$((n + 1))
done
if [ -n "$OURO_GUEST_PCI" ]; then devices+=(-device "vfio-pci,host=$OURO_GUEST_PCI,addr=2"); fi

# shellcheck disable=SC2054 # QEMU wants its commas
shared=(-fsdev "local,id=out,path=$out,security_model=none" -device virtio-9p-pci,fsdev=out,mount_tag=out,addr=1e)
if [ -n "$OURO_GUEST_ROOT" ]; then
    # shellcheck disable=SC2054
    shared+=(-fsdev "local,id=root,path=$OURO_GUEST_ROOT,security_model=none,readonly=on,multidevs=remap"
        -device virtio-9p-pci,fsdev=root,mount_tag=root,addr=1d)
fi

serial=(-serial "file:$out/serial.log" -serial "file:$out/output.txt")
# On a busy host the kernel may take an emulated timer for dead, a processor
# for stalled, and the emulated time stamp counter for unstable.
patience="no_timer_check tsc=reliable rcupdate.rcu_cpu_stall_timeout=300"
[ -z "$OURO_GUEST_PATIENT" ] || patience+=" sysctl.kernel.hung_task_timeout_secs=300"
# Of sixty guests on a busy host one measured the time stamp counter against a timer while its thread did not run: its
# clock was 18 times as fast, and limits of seconds passed at once. TCG's counter is the host's, whose frequency is half
# of the BogoMIPS. (With -icount it is another, and measured well.)
if [ "$OURO_GUEST_ACCEL" = tcg ] && [ -z "$OURO_GUEST_ICOUNT" ] && [ "$(uname -m)" = x86_64 ]; then
    patience+=" $(awk '$1 == "bogomips" {print "tsc_early_khz=" int($3 * 500); exit}' /proc/cpuinfo)"
fi
# A RAM disk allocates memory when it is written; it has room for an uncompressed hibernation image.
images="ramdisk_size=131072 hibernate=nocompress"
# The kernel log is read at the end, and must still be complete.
append="console=ttyS0 panic=-1 reboot=t $patience $images ignore_loglevel log_buf_len=1M"
if [ -n "$OURO_GUEST_INTERACTIVE" ]; then
    # shellcheck disable=SC2054
    serial=(-chardev stdio,id=tty,signal=off -serial chardev:tty)
    append="console=ttyS0 panic=-1 reboot=t $patience quiet"
fi

# Without five-level paging: with it, KASAN kernels have crashed under TCG while
# they detected the processor, before any module was loaded.
cpu=max,la57=off
# An emulated string instruction works byte by byte: a kernel on a processor without fast string
# instructions copies and clears by words.
[ "$OURO_GUEST_ACCEL" = kvm ] || cpu+=,erms=off,fsrm=off,fsrs=off,fzrm=off,fsrc=off
accel=(-accel "$OURO_GUEST_ACCEL" -smp 2)
# shellcheck disable=SC2054
[ -z "$OURO_GUEST_ICOUNT" ] || accel=(-accel tcg,thread=single -icount shift=0 -smp 1)
[ -z "${OURO_GUEST_PLUGIN:-}" ] || accel+=(-plugin "$OURO_GUEST_PLUGIN")
# shellcheck disable=SC2054 # QEMU wants its commas
qemu=(qemu-system-x86_64 -machine q35,memory-backend=ram0 "${accel[@]}" -cpu "$cpu"
    -m "$OURO_GUEST_MEMORY" -object "memory-backend-memfd,id=ram0,size=$OURO_GUEST_MEMORY,share=on"
    -nodefaults -no-user-config -vga none -display none "${serial[@]}" -no-reboot
    "${shared[@]}" "${devices[@]}"
    -kernel "$OURO_GUEST_IMAGE" -initrd "$out/.initrd" -append "$append ${OURO_GUEST_APPEND:-}")

if [ -n "$OURO_GUEST_INTERACTIVE" ]; then
    "${qemu[@]}"
    exit 0
fi
# a pipe in which nothing comes
exec {never}<> <(:)
"${qemu[@]}" >"$out/qemu.log" 2>&1 </dev/null &
vm=$!
children+=("$vm")
begin=$SECONDS
look=$begin
stalled() {
    local last=$begin
    [ "$OURO_GUEST_STALL" -gt 0 ] && [ "$SECONDS" -ge "$look" ] || return 1
    look=$((SECONDS + 10))
    [ ! -e "$out/progress" ] || last=$(($(stat -c %Y "$out/progress") - $(date +%s) + SECONDS))
    [ $((SECONDS - last)) -ge "$OURO_GUEST_STALL" ]
}
while kill -0 "$vm" 2>/dev/null; do
    if stalled; then
        echo "$OURO_GUEST_STALL" >"$out/timeout"
        exit 0
    fi
    if [ $((SECONDS - begin)) -ge "$OURO_GUEST_LIMIT" ]; then
        echo "$OURO_GUEST_LIMIT" >"$out/timeout"
        exit 0
    fi
    # a tenth of a second, without a process for it
    read -rt 0.1 -u "$never" || true
done
children=("${models[@]}")
wait "$vm" || echo "QEMU ended with $? (qemu.log)" >>"$out/guest-errors"
rm -f "$out/.initrd"

# The models end when QEMU disconnects, or at a signal, and then write their
# reports. Exit status 3: a rule of the documents was broken (--strict).
for n in "${!models[@]}"; do
    kill -TERM "${models[$n]}" 2>/dev/null || true
    for _ in $(seq 1200); do
        kill -0 "${models[$n]}" 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL "${models[$n]}" 2>/dev/null || true
    rc=0
    wait "${models[$n]}" || rc=$?
    case $rc in
        0 | 143) ;;
        3) echo "model $n: an access or a rule of the documents was broken (model-$n.json)" >>"$out/guest-errors" ;;
        *) echo "model $n ended with $rc (model-$n.log)" >>"$out/guest-errors" ;;
    esac
done
children=()
