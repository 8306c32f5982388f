# SPDX-License-Identifier: GPL-2.0
# Adds ouro.ko to the modules of a kernel, and removes it. Root needs no compiler:
# the module in build/module/kdir is that of `make KDIR=...`.
#
# shellcheck shell=bash

# The root of lib/modules, for the tests.
MODULES_ROOT=${OURO_MODULES_ROOT:-}

# module_release FILE: prints the release of the kernel that it was built for.
module_release() {
    tr '\0' '\n' <"$1" | sed -n 's/^vermagic=\([^ ]*\).*/\1/p'
}

# kdir_release KDIR: prints the release of the kernel that was built there.
kdir_release() {
    [ -d "$1" ] || die "KDIR: no such folder: $1"
    cat "$1/include/config/kernel.release" 2>/dev/null ||
        die "$1 is no kernel build: include/config/kernel.release is missing"
}

# modules_place: prints the folder above lib/modules; ends the script if it cannot be written.
modules_place() {
    local what=$1 place=${INSTALL_MOD_PATH:-$MODULES_ROOT}
    [ -n "$place" ] || am_root || die "${what}ing needs root" "sudo make $what"
    echo "$place"
}

# modules_known PLACE RELEASE: runs depmod, if the kernel's own modules are installed there, too.
modules_known() {
    if ! [ -e "$1/lib/modules/$2/modules.order" ] || ! command -v depmod >/dev/null; then
        say "to be done where it is used: depmod $2"
    elif [ -n "$1" ]; then
        depmod -b "$1" "$2"
    else
        depmod "$2"
    fi
}

# module_install: installs for the kernel of KDIR, else for the running kernel, or below INSTALL_MOD_PATH for the kernel
# that the module was built for. Without INSTALL_MOD_PATH it must be the running kernel.
module_install() {
    local release built='' place running module=$OURO_TOP/build/module/kdir/ouro.ko why
    local make="make${KDIR:+ KDIR=$KDIR}"
    running=${OURO_RUNNING:-$(uname -r)}
    [ ! -e "$module" ] || built=$(module_release "$module")
    if [ -n "${KDIR:-}" ]; then
        release=$(kdir_release "$KDIR")
    elif [ -n "${INSTALL_MOD_PATH:-}" ]; then
        release=${built:-$running}
    else
        release=$running
    fi
    if [ -z "${INSTALL_MOD_PATH:-}" ] && [ "$release" != "$running" ]; then
        die "$KDIR is not the running kernel ($running), but $release" \
            "boot that kernel, or install below a folder: INSTALL_MOD_PATH=DIR"
    fi
    if [ "$built" != "$release" ]; then
        mapfile -t why < <(kdir_lacks "${KDIR:-/lib/modules/$release/build}")
        if [ ${#why[@]} -gt 0 ]; then
            why+=("kernels of distributions do not fit: what does is in Documentation/gpu/ouro/install.rst")
        else
            why=("first, as yourself: $make")
        fi
        [ -z "$built" ] || why=("build/module/kdir/ouro.ko is for Linux $built" "${why[@]}")
        if [ -z "${KDIR:-}" ]; then why+=("a kernel that was built elsewhere: make KDIR=DIR, then make install KDIR=DIR"); fi
        die "there is no ouro.ko for Linux $release:" "${why[@]}"
    fi
    place=$(modules_place install)
    [ -n "${INSTALL_MOD_PATH:-}" ] || [ -d "$place/lib/modules/$release" ] ||
        die "$place/lib/modules/$release is not there: modules of the running kernel have no place on this machine" \
            "INSTALL_MOD_PATH=DIR puts it below a folder"
    install -D -m 644 "$module" "$place/lib/modules/$release/updates/ouro.ko" ||
        die "cannot write below $place/lib/modules"
    modules_known "$place" "$release"
    say "installed: $place/lib/modules/$release/updates/ouro.ko"
    [ -z "${INSTALL_MOD_PATH:-}" ] || return 0
    say "it has no card until you name one by its PCI id: modprobe ouro probe=8086:0126 (Documentation/gpu/ouro/install.rst)"
    say "make uninstall takes it away"
}

# module_remove: removes ouro.ko from all kernels, since the user may have booted another one; with KDIR, from that one.
module_remove() {
    local place release file found=''
    place=$(modules_place uninstall)
    release='*'
    if [ -n "${KDIR:-}" ]; then release=$(kdir_release "$KDIR"); fi
    # shellcheck disable=SC2086 # it is a pattern
    for file in "$place"/lib/modules/$release/updates/ouro.ko; do
        [ -e "$file" ] || continue
        rm -f "$file" || die "cannot remove $file"
        rmdir "${file%/*}" 2>/dev/null || true
        file=${file%/updates/*}
        modules_known "$place" "${file##*/}"
        say "removed: $file/updates/ouro.ko"
        found=yes
    done
    [ -n "$found" ] || say "no ouro.ko is installed${KDIR:+ for $release} below ${place:-/}"
    if [ -z "${INSTALL_MOD_PATH:-}" ] && [ -d /sys/module/ouro ]; then
        say "it is still loaded: until the next boot, or: rmmod ouro"
    fi
}
