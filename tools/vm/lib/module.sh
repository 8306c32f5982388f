# SPDX-License-Identifier: GPL-2.0
# Building ouro.ko: Cargo makes the procedural macro and finds the sources of
# static_assertions, Kbuild does the rest.
#
# shellcheck shell=bash

# crate_inputs RUNNER...: sets BITFIELD_SO and SA_SRC, from the Cargo that
# RUNNER reaches (`enter`, or `env` for this machine's own). The versions are
# those of ouro_hw; the models' dependencies may bring others.
crate_inputs() {
    local log=$OURO_TOP/build/log/crates.log out bitfield assertions
    mkdir -p "$OURO_TOP/build/log"
    out=$(cd "$OURO_TOP" && "$@" cargo tree --locked -p ouro_hw -e normal --depth 1 --prefix none 2>"$log") ||
        die "Cargo cannot tell the crates of ouro_hw:" "$(tail -n 5 "$log")"
    bitfield=$(awk '$1 == "bitfield-struct" {print substr($2, 2)}' <<<"$out")
    assertions=$(awk '$1 == "static_assertions" {print substr($2, 2)}' <<<"$out")
    [ -n "$bitfield" ] && [ -n "$assertions" ] || die "ouro_hw names no bitfield-struct or static_assertions"
    out=$(cd "$OURO_TOP" && "$@" cargo build --locked -p "bitfield-struct@$bitfield" --message-format=json 2>"$log") ||
        die "Cargo could not build bitfield-struct:" "$(tail -n 5 "$log")" "log: $log"
    BITFIELD_SO=$(grep -o '"[^"]*/libbitfield_struct[^"/]*\.so"' <<<"$out" | tail -n 1 | tr -d '"')
    out=$(cd "$OURO_TOP" && "$@" cargo metadata --locked --format-version 1 2>"$log") ||
        die "cargo metadata failed:" "$(tail -n 5 "$log")"
    SA_SRC=$(grep -o "\"[^\"]*/static_assertions-$assertions/src/lib\.rs\"" <<<"$out" | head -n 1 | tr -d '"')
    [ -n "$BITFIELD_SO" ] || die "Cargo named no library for bitfield-struct"
    [ -n "$SA_SRC" ] || die "Cargo named no source for static_assertions"
}

# module_cached VARIANT MAKE-ARGUMENT...: against a kernel of the cache, in the
# root. The module is in build/module/VARIANT.
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
        OURO_TEST_MODULES=m "$@" modules
    exec {lock}>&-
}

# kdir_fit KDIR: nothing if a Rust DRM module can be built against it with the
# compiler here; else says why not, and ends.
kdir_fit() {
    local kdir=$1 config=$1/.config want have
    local remedy="'make kernel' builds a kernel that fits, for the guest"
    [ -d "$kdir" ] || die "KDIR: no such folder: $kdir" "install this kernel's headers, or: $remedy"
    [ -e "$config" ] || config=$kdir/include/config/auto.conf
    [ -e "$config" ] || die "$kdir is no configured kernel build" "$remedy"
    grep -qx 'CONFIG_RUST=y' "$config" || die "the kernel of $kdir has no Rust (CONFIG_RUST=y)" "$remedy"
    grep -qx 'CONFIG_DRM=y' "$config" ||
        die "the kernel of $kdir has not DRM=y: the kernel crate has no drm module then" "$remedy"
    compgen -G "$kdir/rust/libkernel.rmeta" >/dev/null ||
        die "$kdir lacks the Rust metadata (rust/libkernel.rmeta); distributions' header packages do" \
            "build that kernel from its source, and name its output folder as KDIR; or: $remedy"
    command -v rustc >/dev/null 2>&1 || die "no rustc on this machine" "install the one that built the kernel"
    want=$(sed -n 's/^CONFIG_RUSTC_VERSION_TEXT="\(.*\)"$/\1/p' "$config")
    have=$(rustc --version)
    [ -z "$want" ] || [ "$want" = "$have" ] ||
        die "the kernel of $kdir was built with '$want', here is '$have': they must be the same"
}

# module_foreign KDIR MAKE-ARGUMENT...: against another kernel, with the
# compilers of this machine.
module_foreign() {
    local kdir objects
    kdir=$(realpath -m "$1")
    shift
    kdir_fit "$kdir"
    objects=$OURO_TOP/build/module/${MODULE_DIR:-kdir}
    mkdir -p "$objects"
    CARGO_TARGET_DIR=$OURO_TOP/build/target
    export CARGO_TARGET_DIR
    crate_inputs env
    make -C "$kdir" M="$OURO_TOP" MO="$objects" LLVM="${LLVM:-1}" -j"$(jobs_wanted)" \
        OURO_BITFIELD_SO="$BITFIELD_SO" OURO_SA_SRC="$SA_SRC" "$@" modules
}

# module_install: into the running kernel's module folder, or below
# INSTALL_MOD_PATH, where any kernel's may be: for a package, say.
module_install() {
    local running kdir release built module=$OURO_TOP/build/module/kdir/ouro.ko stage=${INSTALL_MOD_PATH:-}
    running=$(uname -r)
    kdir=$(realpath -m "${KDIR:-/lib/modules/$running/build}")
    [ -n "$stage" ] || [ -d "/lib/modules/$running" ] ||
        die "/lib/modules/$running is not there: modules of the running kernel have no place on this machine" \
            "INSTALL_MOD_PATH=DIR KDIR=DIR puts another kernel's below a folder"
    kdir_fit "$kdir"
    release=$(cat "$kdir/include/config/kernel.release" 2>/dev/null || echo unknown)
    [ -n "$stage" ] || [ "$release" = "$running" ] ||
        die "$kdir is not the running kernel ($running), but $release" \
            "boot that kernel, or name the running one's build folder as KDIR"
    [ -e "$module" ] || die "ouro.ko is not built for it yet" "make KDIR=$kdir"
    built=$(tr '\0' '\n' <"$module" | sed -n 's/^vermagic=\([^ ]*\).*/\1/p')
    [ "$built" = "$release" ] || die "build/module/kdir/ouro.ko is for Linux $built, not $release" "make KDIR=$kdir"
    if [ -n "$stage" ]; then
        install -D -m 644 "$module" "$stage/lib/modules/$release/updates/ouro.ko" ||
            die "cannot write below INSTALL_MOD_PATH=$stage"
        say "installed: $stage/lib/modules/$release/updates/ouro.ko; depmod $release where it is used"
        return
    fi
    am_root || die "installing needs root" "sudo make install"
    install -D -m 644 "$module" "/lib/modules/$release/updates/ouro.ko"
    depmod "$release"
    say "installed: /lib/modules/$release/updates/ouro.ko"
}
