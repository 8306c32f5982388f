# SPDX-License-Identifier: GPL-2.0
# The programs beside the module: the model, the picture client, the
# kselftests. Built in the root, copied to build/bin: Cargo's target folder is
# shared with other checkouts.
#
# shellcheck shell=bash

BIN_DIR=$OURO_TOP/build/bin
MODEL_BIN=$BIN_DIR/gpu-model
SELFTESTS=$OURO_TOP/build/selftests

# cargo_program PACKAGE [CARGO-ARGUMENT...]: build its binary into build/bin.
cargo_program() {
    local package=$1 lock target
    shift
    target=$(cargo_target)
    mkdir -p "$BIN_DIR" "$target"
    exec {lock}>>"$target/.ouro-lock"
    flock "$lock"
    (cd "$OURO_TOP" && CARGO_TARGET_DIR=$target enter cargo build --locked --quiet --release -p "$package" "$@")
    local from=$target/release/$package
    [[ " $* " != *" --target "* ]] || from=$target/x86_64-unknown-linux-gnu/release/$package
    cmp -s "$from" "$BIN_DIR/$package" || install -m 755 "$from" "$BIN_DIR/$package"
    exec {lock}>&-
}

build_model() {
    cargo_program gpu-model
}

# Static: the guest has no libraries.
build_draw() {
    RUSTFLAGS="-C target-feature=+crt-static" cargo_program ouro-draw --target x86_64-unknown-linux-gnu
}

build_selftests() {
    mkdir -p "$SELFTESTS"
    enter make -s -C "$OURO_TOP/tools/testing/selftests/drm/ouro" OUT="$SELFTESTS" \
        KSRC="$(step_dir source)/linux" HEADERS="$(step_dir headers)/include" CC=gcc -j"$(jobs_wanted)"
}

# The GPUs there are, one a line: the models say.
model_known() {
    [ -x "$MODEL_BIN" ] || build_model
    enter "$MODEL_BIN" --list
}
