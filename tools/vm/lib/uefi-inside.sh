# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The part of uefi_run in the build root: starts a model, and QEMU with firmware.
#   uefi-inside.sh DIR FIRMWARE MODEL

set -euo pipefail

dir=$1 firmware=$2 model=$3 socket=/run/gpu-uefi
# 1 MiB of PTEs, since the program writes each of them through firmware.
"$model" --gpu snb --socket "$socket" --gtt-mb 1 --report "$dir/model-0.json" >"$dir/model-0.log" 2>&1 </dev/null &
child=$!
trap 'kill -KILL "$child" 2>/dev/null || true' EXIT
for _ in $(seq 1200); do
    [ ! -S "$socket" ] || break
    kill -0 "$child"
    sleep 0.05
done
# shellcheck disable=SC2054 # QEMU wants its commas
timeout 900 qemu-system-x86_64 -machine q35,memory-backend=ram0 -accel tcg -cpu max,la57=off -m 256M \
    -object memory-backend-memfd,id=ram0,size=256M,share=on -nodefaults -no-user-config -vga none -display none \
    -serial "file:$dir/serial.log" -no-reboot -net none \
    -drive "if=pflash,format=raw,readonly=on,file=$firmware" -drive "if=pflash,format=raw,file=$dir/vars.fd" \
    -drive "format=raw,file=fat:rw:$dir/disk" \
    -device '{"driver":"vfio-user-pci","addr":"02.0","x-msg-timeout":600000,
        "socket":{"type":"unix","path":"'"$socket"'"}}' >"$dir/qemu.log" 2>&1 </dev/null
trap - EXIT
wait "$child"
