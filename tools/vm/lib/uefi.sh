# SPDX-License-Identifier: GPL-2.0
# A backend without a kernel: examples/uefi on a modelled Sandy Bridge. Step `ovmf` is Debian's UEFI firmware for QEMU. It
# is not a part of the build root, which need not be made again for it.
#
# shellcheck shell=bash

text_ovmf() { echo "UEFI firmware for QEMU"; }
mb_ovmf() { echo 700; }
secs_ovmf() { echo 20; }
key_ovmf() { { key_base; echo 1; } | short_hash; }
run_ovmf() {
    small_root "$2" '' ovmf
    mkdir "$2/firmware"
    cp "$2"/tree/usr/share/OVMF/OVMF_{CODE,VARS}_4M.fd "$2/firmware/"
    root_ns rm -rf "$2/tree"
}

UEFI_PROGRAM=$OURO_TOP/build/bin/ouro-uefi.efi

# uefi_cargo COMMAND [ARGUMENT...]: runs Cargo on examples/uefi. Debian has no Rust library for this target, so it is built
# from Debian's source, as the kernel builds core.
uefi_cargo() {
    (cd "$OURO_TOP/examples/uefi" && CARGO_TARGET_DIR=$(cargo_target)/uefi enter env RUSTC_BOOTSTRAP=1 \
        CARGO_TARGET_X86_64_UNKNOWN_UEFI_LINKER=lld-link-19 cargo "$1" --locked --quiet --release --target x86_64-unknown-uefi -Zbuild-std=core,alloc,compiler_builtins \
        -Zbuild-std-features=compiler-builtins-mem "${@:2}")
}

build_uefi() {
    mkdir -p "$BIN_DIR"
    uefi_cargo build
    install "$(cargo_target)/uefi/x86_64-unknown-uefi/release/ouro-uefi.efi" "$UEFI_PROGRAM"
}

# uefi_run DIR: runs a guest with firmware and this program only. Its output is DIR/serial.log.
uefi_run() {
    rm -rf "$1"
    mkdir -p "$1/disk/EFI/BOOT"
    cp "$UEFI_PROGRAM" "$1/disk/EFI/BOOT/BOOTX64.EFI"
    cp "$(step_dir ovmf)/firmware/OVMF_VARS_4M.fd" "$1/vars.fd"
    enter bash "$VM_DIR/lib/uefi-inside.sh" "$1" "$(step_dir ovmf)/firmware/OVMF_CODE_4M.fd" "$MODEL_BIN"
}

# The expected checksum: CRC-32 of four rows of 1024 pixels 00336699, of which the columns 256 to 767 of the rows 1
# and 2 are 00ffcc00.
UEFI_SAYS="checksum 0041f6d0"

check_uefi() {
    local dir=$VM_LOG/snb-uefi said
    results_begin vm-uefi
    mkdir -p "$VM_LOG"
    if ! step_ready ovmf; then
        result SKIP snb/uefi "OVMF cannot be had from this mirror"
        return
    fi
    expect snb/uefi/clippy "$VM_LOG/uefi-clippy.log" uefi_cargo clippy -- -D warnings
    expect snb/uefi/build "$VM_LOG/uefi-build.log" build_uefi
    expect snb/uefi/guest "$VM_LOG/uefi-guest.log" uefi_run "$dir"
    said=$(tr -d '\r' <"$dir/serial.log" | grep -aoE '(checksum|failed: ).*' | tail -n 1)
    if [ "$said" = "$UEFI_SAYS" ]; then
        result PASS snb/uefi/checksum
    else
        result FAIL snb/uefi/checksum "it said '$said', wanted '$UEFI_SAYS'"
    fi
    # shellcheck disable=SC2034 # model_rules reads it
    GUEST_DIR=$dir
    model_rules snb/uefi
}
