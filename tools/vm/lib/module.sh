# SPDX-License-Identifier: GPL-2.0
# Builds ouro.ko: Cargo builds the procedural macro and finds the sources of
# static_assertions, Kbuild builds the module.
#
# shellcheck shell=bash

# crate_sources RUNNER...: sets BITFIELD_VERSION, and BITFIELD_SRC and SA_SRC to the lib.rs of each crate, by the Cargo
# that RUNNER runs (`enter`, or `env` for this machine's own). The versions are those of ouro_hw; the models may depend on
# others.
crate_sources() {
    local log=$OURO_TOP/build/log/crates.log out assertions
    mkdir -p "$OURO_TOP/build/log"
    out=$(cd "$OURO_TOP" && "$@" cargo tree --locked -p ouro_hw -e normal --depth 1 --prefix none 2>"$log") ||
        die "Cargo cannot tell the crates of ouro_hw:" "$(tail -n 5 "$log")"
    BITFIELD_VERSION=$(awk '$1 == "bitfield-struct" {print substr($2, 2)}' <<<"$out")
    assertions=$(awk '$1 == "static_assertions" {print substr($2, 2)}' <<<"$out")
    [ -n "$BITFIELD_VERSION" ] && [ -n "$assertions" ] || die "ouro_hw names no bitfield-struct or static_assertions"
    out=$(cd "$OURO_TOP" && "$@" cargo metadata --locked --format-version 1 2>"$log") ||
        die "cargo metadata failed:" "$(tail -n 5 "$log")"
    # shellcheck disable=SC2034 # for intree.sh
    BITFIELD_SRC=$(grep -o "\"[^\"]*/bitfield-struct-$BITFIELD_VERSION/src/lib\.rs\"" <<<"$out" | head -n 1 | tr -d '"')
    SA_SRC=$(grep -o "\"[^\"]*/static_assertions-$assertions/src/lib\.rs\"" <<<"$out" | head -n 1 | tr -d '"')
    [ -n "$BITFIELD_SRC" ] || die "Cargo named no source for bitfield-struct"
    [ -n "$SA_SRC" ] || die "Cargo named no source for static_assertions"
}

# crate_inputs RUNNER...: also builds the macro, and sets BITFIELD_SO.
crate_inputs() {
    local log=$OURO_TOP/build/log/crates.log out
    crate_sources "$@"
    out=$(cd "$OURO_TOP" && "$@" cargo build --locked -p "bitfield-struct@$BITFIELD_VERSION" --message-format=json 2>"$log") ||
        die "Cargo could not build bitfield-struct:" "$(tail -n 5 "$log")" "log: $log"
    BITFIELD_SO=$(grep -o '"[^"]*/libbitfield_struct[^"/]*\.so"' <<<"$out" | tail -n 1 | tr -d '"')
    [ -n "$BITFIELD_SO" ] || die "Cargo named no library for bitfield-struct"
}

# module_cached VARIANT MAKE-ARGUMENT...: builds build/module/VARIANT for a kernel
# of the cache, in the build root.
module_cached() {
    local variant=$1 kout objects lock
    shift
    kout=$(kernel_out "$variant")
    objects=$OURO_TOP/build/module/${MODULE_DIR:-$variant}
    mkdir -p "$objects"
    exec {lock}>>"$objects.lock"
    flock "$lock"
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cargo_target)}
    export CARGO_TARGET_DIR
    crate_inputs enter
    enter make -C "$kout" M="$OURO_TOP" MO="$objects" LLVM=-19 -j"$(jobs_wanted)" \
        RUST_LIB_SRC="$(rust_lib_src)" OURO_BITFIELD_SO="$BITFIELD_SO" OURO_SA_SRC="$SA_SRC" \
        OURO_TEST_MODULES=m CONFIG_DRM_OURO_KUNIT_TEST=y "$@" modules
    exec {lock}>&-
}

# The module's requirements of a kernel's configuration: symbol|reason. Kernels of `make kernel` meet them.
KDIR_SYMBOLS='CONFIG_MODULES|modules
CONFIG_PCI|its devices
CONFIG_RUST|Rust in the kernel
CONFIG_CC_IS_CLANG|built with LLVM=1: bindgen reads what clang compiles
CONFIG_DRM|with m the kernel crate has no drm module
CONFIG_RUST_FW_LOADER_ABSTRACTIONS|the kernel crate loads firmware
CONFIG_MMU_NOTIFIER|memory of a process as a buffer object; without a prompt: CONFIG_KVM, CONFIG_DRM_I915 and others select it'

# llvm_tool NAME: prints the tool's name in the kernel's make, which depends on LLVM.
llvm_tool() {
    case ${LLVM:-1} in
        1) echo "$1" ;;
        */) echo "$LLVM$1" ;;
        *) echo "$1$LLVM" ;;
    esac
}

# kdir_lacks KDIR: prints the requirements that the kernel build does not meet, one per line; the compilers are not
# checked.
kdir_lacks() {
    local kdir=$1 config=$1/.config symbol why have release
    [ -d "$kdir" ] || { echo "no such folder: $kdir"; return; }
    [ -e "$config" ] || config=$kdir/include/config/auto.conf
    [ -e "$config" ] || { echo "it is no configured kernel build: it has no .config"; return; }
    release=$(cat "$kdir/include/config/kernel.release" 2>/dev/null) || true
    case $release in
        "$KERNEL_SERIES" | "$KERNEL_SERIES"[.-]*) ;;
        '') echo "it was not built: include/config/kernel.release is missing" ;;
        *) echo "it is Linux $release; the driver is written for $KERNEL_SERIES" ;;
    esac
    while IFS='|' read -r symbol why; do
        have=$(sed -n "s/^$symbol=//p" "$config")
        [ "$have" = y ] || echo "$symbol=y is missing${have:+ (it is $have)}: $why"
    done <<<"$KDIR_SYMBOLS"
    compgen -G "$kdir/rust/libkernel.rmeta" >/dev/null ||
        echo "rust/libkernel.rmeta is missing: header packages of distributions lack the Rust metadata"
}

# tools_lack KDIR: the same for this machine's compilers.
tools_lack() {
    local kdir=$1 config=$1/.config tool want have
    [ -e "$config" ] || config=$kdir/include/config/auto.conf
    for tool in make cargo "$(llvm_tool clang)" "$(llvm_tool ld.lld)" bindgen; do
        command -v "$tool" >/dev/null 2>&1 || echo "no $tool on this machine"
    done
    # 127: the dynamic loader
    tool=$kdir/tools/objtool/objtool
    if [ -x "$tool" ]; then
        "$tool" >/dev/null 2>&1 || [ $? != 127 ] ||
            echo "a library of the kernel's objtool is missing on this machine (Debian: libelf1t64): $tool"
    fi
    if ! have=$(rustc --version 2>/dev/null); then
        echo "no rustc on this machine: it must be the one that built the kernel"
        return
    fi
    want=$(sed -n 's/^CONFIG_RUSTC_VERSION_TEXT="\(.*\)"$/\1/p' "$config" 2>/dev/null) || true
    [ -z "$want" ] || [ "$want" = "$have" ] ||
        echo "the kernel was built with '$want', here is '$have': they must be the same"
}

# kdir_fit KDIR: ends the script with all missing requirements if no module can be
# built for the kernel with this machine's compilers.
kdir_fit() {
    local kdir=$1 lacks=()
    mapfile -t lacks < <(kdir_lacks "$kdir")
    [ ${#lacks[@]} = 0 ] || die "no ouro.ko for the kernel of $kdir:" "${lacks[@]}" \
        "kernels of distributions do not fit: build Linux $KERNEL_SERIES with tools/vm/kernel/drm.config in its" \
        "configuration, boot it, and name its output folder as KDIR (Documentation/gpu/ouro/install.rst);" \
        "'make kernel' builds one that has all of this, but for the guest: without drivers of a real machine"
    mapfile -t lacks < <(tools_lack "$kdir")
    [ ${#lacks[@]} = 0 ] || die "no ouro.ko for the kernel of $kdir:" "${lacks[@]}"
}

# kdir_variant KDIR: prints the variant if it is a kernel of the cache.
kdir_variant() {
    local variant
    [ -e "$(step_dir root)/toolchain" ] && [ -e "$(step_dir source)/version" ] || return 0
    for variant in $KERNEL_VARIANTS; do
        if step_ready "kernel@$variant" && [ "$(realpath -m "$(kernel_out "$variant")")" = "$1" ]; then echo "$variant"; fi
    done
}

# module_foreign KDIR MAKE-ARGUMENT...: builds build/module/kdir for another
# kernel with this machine's compilers; for a kernel of the cache with those of
# the build root.
module_foreign() {
    local kdir objects variant
    kdir=$(realpath -m "$1")
    shift
    variant=$(kdir_variant "$kdir")
    [ -n "$variant" ] || kdir_fit "$kdir"
    objects=$OURO_TOP/build/module/${MODULE_DIR:-kdir}
    # objects for another kernel cannot be used
    [ "$(cat "$objects/.kdir" 2>/dev/null)" = "$kdir" ] || rm -rf "$objects"
    mkdir -p "$objects"
    echo "$kdir" >"$objects/.kdir"
    if [ -n "$variant" ]; then
        MODULE_DIR=${MODULE_DIR:-kdir} module_cached "$variant" "$@"
        return
    fi
    CARGO_TARGET_DIR=$OURO_TOP/build/target
    export CARGO_TARGET_DIR
    crate_inputs env
    make -C "$kdir" M="$OURO_TOP" MO="$objects" LLVM="${LLVM:-1}" -j"$(jobs_wanted)" \
        OURO_BITFIELD_SO="$BITFIELD_SO" OURO_SA_SRC="$SA_SRC" "$@" modules
}

# module_default MAKE-ARGUMENT...: for the running kernel if it meets the requirements, else for the guest's if it exists.
module_default() {
    local kdir why
    kdir=/lib/modules/$(uname -r)/build
    why=$(kdir_lacks "$kdir"; tools_lack "$kdir")
    if [ -n "$why" ] && [ -e "$(step_dir root)/toolchain" ] && [ -e "$(step_dir source)/version" ] &&
        step_ready kernel@plain; then
        module_cached plain "$@"
        say "built: build/module/plain/ouro.ko, for the guest's kernel; the running one cannot take it:"
        sed 's/^/    /' <<<"$why" >&2
    else
        module_foreign "$kdir" "$@"
        say "built: build/module/kdir/ouro.ko"
    fi
}
