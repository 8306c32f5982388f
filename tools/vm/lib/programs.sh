# SPDX-License-Identifier: GPL-2.0
# The programs: the model, the picture client, the kselftests and the examples.
# They are built in the build root, and copied to build/bin, build/selftests and build/examples.
#
# shellcheck shell=bash

. "$VM_DIR/lib/gpus.sh"

BIN_DIR=$OURO_TOP/build/bin
MODEL_BIN=$BIN_DIR/gpu-model
SELFTESTS=$OURO_TOP/build/selftests
EXAMPLES=$OURO_TOP/build/examples
# The words of tools/vm/build, each with a function build_WORD here.
# shellcheck disable=SC2034 # for tools/vm/build
PROGRAMS='model peer draw truth decode compare selftests exec-cost cs-cost life-cost frame-cost profile'

# cargo_program PACKAGE [CARGO-ARGUMENT...]: builds the package's binary into build/bin.
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

build_peer() {
    cargo_program ouro-peer
}

# Static: the guest has no libraries.
build_draw() {
    RUSTFLAGS="-C target-feature=+crt-static" cargo_program ouro-draw --target x86_64-unknown-linux-gnu
}

# Also for machines of other users with a card: static, so that it runs there.
build_truth() {
    RUSTFLAGS="-C target-feature=+crt-static" cargo_program ouro-truth --target x86_64-unknown-linux-gnu
}

build_decode() {
    cargo_program ouro-decode
}

build_compare() {
    cargo_program ouro-compare
}

# bench_program NAME ARGUMENT...: a program that `make bench` runs.
bench_program() {
    local name=$1
    shift
    mkdir -p "$BIN_DIR"
    enter gcc -O2 -Wall -Wextra -Werror -static -isystem "$(step_dir headers)/include" \
        -isystem "$(step_dir headers)/include/drm" -o "$BIN_DIR/$name-cost" "$OURO_TOP/tools/testing/bench/${name}_cost.c" "$@"
}

# The clients whose ioctls are measured: of the i915 and of the radeon interface.
build_exec-cost() { bench_program exec; }
build_cs-cost() { bench_program cs; }

# QEMU's plugin for a profile; it is loaded in the build root.
build_profile() {
    mkdir -p "$BIN_DIR"
    enter gcc -O2 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -o "$BIN_DIR/profile.so" \
        "$OURO_TOP/tools/testing/bench/profile_plugin.c"
}

# What a driver costs beside its ioctls; with the functions of the kselftests, which are built before.
build_life-cost() {
    bench_program life -I "$OURO_TOP/tools/testing/selftests/drm/ouro" -I "$OURO_TOP/include/uapi" \
        "$SELFTESTS/shared/libshared.a"
}

# Frames of the modelled R5xx. Static: it runs on the host, under its valgrind.
build_frame-cost() {
    local target
    target=$(cargo_target)
    mkdir -p "$BIN_DIR"
    (cd "$OURO_TOP" && CARGO_TARGET_DIR=$target RUSTFLAGS="-C target-feature=+crt-static" enter cargo build --locked \
        --quiet --release -p gpu-model --example r5xx_frame --target x86_64-unknown-linux-gnu)
    install -m 755 "$target/x86_64-unknown-linux-gnu/release/examples/r5xx_frame" "$BIN_DIR/frame-cost"
}

build_selftests() {
    mkdir -p "$SELFTESTS"
    # static: the guest has no libraries
    enter make -s -C "$OURO_TOP/tools/testing/selftests/drm/ouro" OUTPUT="$SELFTESTS" \
        KSRC="$(step_dir source)/linux" HEADERS="$(step_dir headers)/include" CC=gcc \
        USERCFLAGS=-Werror USERLDFLAGS=-static -j"$(jobs_wanted)"
    mkdir -p "$EXAMPLES"
    enter make -s -C "$OURO_TOP/examples" OUT="$EXAMPLES" HEADERS="$(step_dir headers)/include" CC=gcc \
        CFLAGS='-O2 -Wall -Wextra -Werror -static'
    examples_cargo build --release --target x86_64-unknown-linux-gnu
    local program
    for program in hello store copy; do
        install -m 755 "$(cargo_target)/x86_64-unknown-linux-gnu/release/$program" "$EXAMPLES/rust-$program"
    done
}

# examples_cargo COMMAND...: Cargo on the examples in Rust, a workspace of their own. Static: the guest has no libraries.
examples_cargo() {
    (cd "$OURO_TOP/examples/rust" && CARGO_TARGET_DIR=$(cargo_target) HEADERS=$(step_dir headers)/include \
        RUSTFLAGS="-C target-feature=+crt-static" enter cargo "$1" --locked --quiet "${@:2}")
}

# Prints the names of all models, one per line.
model_known() {
    [ -x "$MODEL_BIN" ] || build_model
    enter "$MODEL_BIN" --list
}

# building WHAT FILE: a message before a first build, which may take more than a minute without output.
building() { [ -e "$2" ] || say "building: $1, for the first time ..."; }

# build_program NAME: builds one of PROGRAMS with one line on the terminal, and
# the compiler's output only if it fails.
build_program() {
    local what=$1 log=$OURO_TOP/build/log/$1.log begin=$SECONDS
    mkdir -p "$OURO_TOP/build/log"
    case $what in
        model) building "the model" "$MODEL_BIN" ;;
        selftests) building "the kselftests" "$SELFTESTS/order" ;;
        profile) building "QEMU's plugin" "$BIN_DIR/profile.so" ;;
        *-cost) building "a client that is measured" "$BIN_DIR/$what" ;;
        *) building "ouro-$what" "$BIN_DIR/ouro-$what" ;;
    esac
    if ! "$VM_DIR/build" "$what" >"$log" 2>&1; then
        tail -n 30 "$log" | sed 's/^/    | /' >&2
        die "could not build: $what" "log: $log"
    fi
    say "built: $what ($(clock $((SECONDS - begin))))"
}

# build_module VARIANT: the same for ouro.ko.
build_module() {
    local log=$OURO_TOP/build/log/module-$1.log begin=$SECONDS
    mkdir -p "$OURO_TOP/build/log"
    building "ouro.ko for the $1 kernel" "$OURO_TOP/build/module/$1/ouro.ko"
    if ! "$VM_DIR/module" "$1" >"$log" 2>&1; then
        grep -E '^error|^ +--> ' "$log" | head -n 12 | sed 's/^/    | /' >&2
        die "could not build ouro.ko for the $1 kernel" "log: $log"
    fi
    say "built: ouro.ko for the $1 kernel ($(clock $((SECONDS - begin))))"
}

# kernel_known NAME: ends the script if there is no such kernel, before the set-up starts.
kernel_known() {
    case " $KERNEL_VARIANTS " in *" $1 "*) ;; *) die "no such kernel: $1" "known: $KERNEL_VARIANTS" ;; esac
}
