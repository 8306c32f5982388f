# SPDX-License-Identifier: GPL-2.0
# Clients of Mesa and libva: built in the user space they run in, run in a guest.
#
# shellcheck shell=bash

MESA_BIN=$OURO_TOP/build/mesa

# mesa_words GPU: GPU_MESA of it.
mesa_words() (
    gpu_read "$1"
    [ -n "$GPU_MESA" ] || die "what does Mesa call the GPU $1?" "GPU_MESA of tools/vm/gpus/$1"
    echo "$GPU_MESA"
)

build_mesa() {
    mkdir -p "$MESA_BIN"
    # the check runs two at a time
    (
        flock 9
        root_run "$(clients_tree mesa)" make -s -C "$OURO_TOP/tools/testing/mesa" OUT="$MESA_BIN" CC=gcc
    ) 9>"$MESA_BIN.lock"
}

# mesa_run NAME GPU GUEST-ARGUMENT...: all clients in one guest, their results
# under NAME. With OURO_STREAMS=1 their streams too (radeon).
mesa_run() {
    local name=$1 gpu=$2
    shift 2
    guest_run "$name" --gpu "$gpu" --timeout 1200 --memory 1G --root "$(clients_tree mesa)" --tests "$MESA_BIN" \
        --add "$VM_DIR/guest-tests/run-mesa.sh" "$@" -- \
        sh -c "OURO_STREAMS=${OURO_STREAMS:-} sh /bin/run-mesa.sh $(mesa_words "$gpu") ${MESA_LACKS:-}"
    guest_results "$name"
}
