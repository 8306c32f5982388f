# SPDX-License-Identifier: GPL-2.0
# Clients of Mesa and libva: built in the user space they run in, run in a guest.
#
# shellcheck shell=bash

MESA_BIN=$OURO_TOP/build/mesa

# mesa_name GPU: part of what Mesa calls the renderer.
mesa_name() {
    case $1 in
        snb) echo SNB ;;
        *) die "what does Mesa call the GPU $1?" ;;
    esac
}

build_mesa() {
    mkdir -p "$MESA_BIN"
    root_run "$(clients_tree mesa)" make -s -C "$OURO_TOP/tools/testing/mesa" OUT="$MESA_BIN" CC=gcc
}

# mesa_run NAME GPU GUEST-ARGUMENT...: all clients in one guest, their results
# under NAME.
mesa_run() {
    local name=$1 gpu=$2
    shift 2
    guest_run "$name" --gpu "$gpu" --timeout 600 --memory 1G --root "$(clients_tree mesa)" --tests "$MESA_BIN" \
        --add "$VM_DIR/guest-tests/run-mesa.sh" "$@" -- sh /bin/run-mesa.sh "$(mesa_name "$gpu")"
    guest_results "$name"
}
