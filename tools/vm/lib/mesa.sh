# SPDX-License-Identifier: GPL-2.0
# Clients of Mesa and libva: built in their user space, and run in a guest.
#
# shellcheck shell=bash

MESA_BIN=$OURO_TOP/build/mesa
# A longer limit for hangs: in one run a model on a busy host took more than 3 s, the default, for
# a frame. It is a parameter of ouro.ko, and later arguments of the caller override it.
MESA_PATIENCE=hang_ms=60000

# mesa_words GPU: prints its GPU_MESA.
mesa_words() (
    gpu_read "$1"
    [ -n "$GPU_MESA" ] || die "GPU_MESA is not set for $1" "set it in tools/vm/gpus/$1"
    echo "$GPU_MESA"
)

build_mesa() {
    mkdir -p "$MESA_BIN"
    # the check runs two of these at a time
    (
        flock 9
        root_run "$(clients_tree mesa)" make -s -C "$OURO_TOP/tools/testing/mesa" OUT="$MESA_BIN" CC=gcc
    ) 9>"$MESA_BIN.lock"
}

# mesa_run NAME GPU GUEST-ARGUMENT...: runs all clients in one guest, with results
# below NAME. With OURO_STREAMS=1 also writes their streams (radeon).
mesa_run() {
    local name=$1 gpu=$2 patience=()
    shift 2
    case " $(mesa_words "$gpu") " in *" draws "*) patience=(--module-args "$MESA_PATIENCE") ;; esac
    guest_run "$name" --gpu "$gpu" --timeout 1200 --memory 1G --root "$(clients_tree mesa)" --tests "$MESA_BIN" \
        --add "$VM_DIR/guest-tests/run-mesa.sh" "${patience[@]}" "$@" -- \
        sh -c "OURO_STREAMS=${OURO_STREAMS:-} sh /bin/run-mesa.sh $(mesa_words "$gpu") ${MESA_LACKS:-}"
    guest_results "$name"
}
