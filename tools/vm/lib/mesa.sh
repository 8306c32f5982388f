# SPDX-License-Identifier: GPL-2.0
# Clients of Mesa and libva: built in the user space they run in, run in a guest.
#
# shellcheck shell=bash

MESA_BIN=$OURO_TOP/build/mesa
# A model that draws a frame while others have its processor is no card that hangs: 3 s, the
# default, were too short in one run. It is for ouro.ko; what a caller says later counts.
MESA_PATIENCE=hang_ms=60000

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
    local name=$1 gpu=$2 patience=()
    shift 2
    case " $(mesa_words "$gpu") " in *" draws "*) patience=(--module-args "$MESA_PATIENCE") ;; esac
    guest_run "$name" --gpu "$gpu" --timeout 1200 --memory 1G --root "$(clients_tree mesa)" --tests "$MESA_BIN" \
        --add "$VM_DIR/guest-tests/run-mesa.sh" "${patience[@]}" "$@" -- \
        sh -c "OURO_STREAMS=${OURO_STREAMS:-} sh /bin/run-mesa.sh $(mesa_words "$gpu") ${MESA_LACKS:-}"
    guest_results "$name"
}
