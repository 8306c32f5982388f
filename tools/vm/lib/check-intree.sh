# SPDX-License-Identifier: GPL-2.0
# Tests of `make intree`: in `make check` the files that it writes; in `make check-intree` their build and guests.
#
# shellcheck shell=bash

. "$VM_DIR/lib/module.sh"
. "$VM_DIR/lib/intree.sh"

INTREE_LOG=$OURO_TOP/build/check/intree

# own_folder SOURCE TREE FOLDER: in a tree of links to SOURCE, makes FOLDER a real folder of links.
own_folder() {
    local at=$2/$3
    # from the top down: below a link is the source itself
    [ "$3" = . ] || own_folder "$1" "$2" "$(dirname "$3")"
    [ -L "$at" ] || [ ! -d "$at" ] || return 0
    rm -f "$at"
    mkdir -p "$at"
    find "$1/$3" -mindepth 1 -maxdepth 1 -exec ln -s -t "$at" {} +
}

# intree_skeleton SOURCE TREE: makes a tree of links, with copies of the files that `make intree` writes to.
intree_skeleton() {
    local file dir
    for file in drivers/gpu/drm/ci/xfails/x include/uapi/drm/x Documentation/ABI/testing/x tools/testing/x $INTREE_EDITED; do
        dir=$(dirname "$file")
        own_folder "$1" "$2" "$dir"
        # the source must not be written to
        case $(realpath "$2/$dir")/ in "$(realpath "$1")"/*) die "$2/$dir is a link into the source tree" "choose another kernel tree" ;; esac
        [ ! -L "$2/$file" ] || { rm "$2/$file"; cp "$1/$file" "$2/$file"; }
    done
    # this file finds its tree by its real path
    rm "$2/tools/testing/kunit"
    cp -r "$1/tools/testing/kunit" "$2/tools/testing/kunit"
}

# intree_written TREE COUNT: `make intree` writes COUNT files.
intree_written() {
    local said
    said=$("$VM_DIR/intree" "$1" 2>&1) || { echo "$said"; return 1; }
    echo "$said"
    grep -q "^$2 files written" <<<"$said"
}

# intree_twice TREE: a second run writes nothing and changes no time; a third one repairs the files that differ, and only
# these.
intree_twice() {
    local tree=$1 driver=$1/drivers/gpu/drm/ouro
    : >"$INTREE_LOG/before"
    sleep 1
    intree_written "$tree" 0 || return 1
    [ -z "$(find "$tree" -type f -newer "$INTREE_LOG/before")" ] || { echo "a file is newer"; return 1; }
    echo "// changed" >>"$driver/ouro_main.rs"
    : >"$driver/of_before.rs"
    : >"$driver/built_generated.rs"
    sed -i '/^F:\tdrivers\/gpu\/drm\/ouro\/$/d' "$tree/MAINTAINERS"
    sed -i '/^libbitfield_struct_name/d' "$tree/rust/Makefile"
    intree_written "$tree" '[0-9]*' || return 1
    [ ! -e "$driver/of_before.rs" ] && [ -e "$driver/built_generated.rs" ] || { echo "the wrong file is gone"; return 1; }
    cmp "$OURO_TOP/drivers/gpu/drm/ouro/ouro_main.rs" "$driver/ouro_main.rs" &&
        diff -u "$INTREE_LOG/MAINTAINERS" "$tree/MAINTAINERS" && diff -u "$INTREE_LOG/rust.mk" "$tree/rust/Makefile"
}

# intree_complete TREE: all our files exist, unchanged; the kernel's files have new lines and no other change.
intree_complete() {
    local tree=$1 source file lines pattern
    source=$(step_dir source)/linux
    while IFS= read -r file; do
        case $file in *Cargo.toml | */hw/README.md | */hw/LICENSE* | */hw/examples/*) continue ;; esac
        cmp "$OURO_TOP/$file" "$tree/${file/#rust\//drivers\/gpu\/drm\/ouro\/}" || return 1
    done < <(cd "$OURO_TOP" && git ls-files drivers rust include tools/testing/selftests Documentation/gpu Documentation/ABI)
    for file in $INTREE_EDITED; do
        lines=$(diff "$source/$file" "$tree/$file")
        grep -q '^>' <<<"$lines" || { echo "$file has no line more"; return 1; }
        ! grep -q '^<' <<<"$lines" || { echo "$file has lines less: $lines"; return 1; }
    done
    # each pattern of the entry matches a file
    sed -n 's/^F:\t//p' "$OURO_TOP/MAINTAINERS" | while IFS= read -r pattern; do
        compgen -G "$tree/$pattern" >/dev/null || { echo "MAINTAINERS names $pattern"; exit 1; }
    done || return 1
    # as many expectations of IGT as in this tree, each a line that drm-ci accepts
    for file in "$OURO_TOP"/tools/testing/igt/expected-*; do
        lines=$(cat "$tree/drivers/gpu/drm/ci/xfails/ouro-${file##*-}"-{fails,skips}.txt | grep -v '^#' | grep . || true)
        [ "$(grep -cE '^[A-Z]+ [^ ]+ .' "$file")" = "$(grep -c . <<<"$lines")" ] || { echo "$file: not as many"; return 1; }
        [ -z "$lines" ] || ! grep -vE '^([a-z0-9_]+(@[^ ,]+)?,(Fail|Timeout|Crash)|\^[a-z0-9_]+(@[^ ,]*)?(\$|\.\*))$' <<<"$lines" || return 1
    done
}

# intree_make TREE OUT MAKE-ARGUMENT...: the kernel's make in the build root, without the network and without Cargo.
# OURO_AT: bindings for the root.
intree_make() {
    local tree=$1 out=$2
    shift 2
    OURO_BIND="${OURO_AT:-}:/dev/null=/usr/bin/cargo" enter unshare --net nice make -C "$tree" O="$out" LLVM=-19 \
        RUST_LIB_SRC="$(rust_lib_src)" -j"$(jobs_wanted)" "$@"
}

# intree_kconfig TREE OUT: in a configuration without the symbols that other drivers select, DRM_OURO can be set and
# selects its dependencies, as a module and built in.
intree_kconfig() {
    local tree=$1 out=$2 as symbol
    mkdir -p "$out"
    for as in m y; do
        grep -vE '^CONFIG_(X86_SGX|MMU_NOTIFIER|DRM_SIMPLEDRM|APERTURE_HELPERS|WANT_DEV_COREDUMP|DRM_OURO|RUST_FW_LOADER_ABSTRACTIONS)\b' \
            "$(kernel_out plain)/.config" >"$out/.config"
        printf 'CONFIG_DRM_OURO=%s\nCONFIG_DRM_OURO_KUNIT_TEST=y\n' "$as" >>"$out/.config"
        intree_make "$tree" "$out" -s olddefconfig || return 1
        for symbol in DRM_OURO="$as" DRM_OURO_KUNIT_TEST=y MMU_NOTIFIER=y APERTURE_HELPERS=y WANT_DEV_COREDUMP=y \
            RUST_FW_LOADER_ABSTRACTIONS=y '# CONFIG_X86_SGX is not set'; do
            grep -qE "^(CONFIG_)?$symbol\$" "$out/.config" || { echo "not in the configuration: $symbol"; return 1; }
        done
    done
}

# intree_kunit TREE OUT: kunit.py accepts .kunitconfig, and keeps all its lines.
intree_kunit() {
    OURO_BIND=/dev/null=/usr/bin/cargo enter unshare --net python3 "$1/tools/testing/kunit/kunit.py" config \
        --kunitconfig="$1/drivers/gpu/drm/ouro" --arch=x86_64 --make_options LLVM=-19 --build_dir="$2" || return 1
    grep -qx CONFIG_DRM_OURO_KUNIT_TEST=y "$2/.config"
}

# intree_tests TREE: the kernel's list of selftests, by lib.mk, has ours.
intree_tests() {
    local said
    grep -qx 'TARGETS += drm/ouro' "$1/tools/testing/selftests/Makefile" || return 1
    said=$(enter make -s -C "$1/tools/testing/selftests/drm/ouro" emit_tests COLLECTION=drm/ouro) || return 1
    echo "$said"
    grep -qx drm/ouro:order <<<"$said" && [ "$(wc -l <<<"$said")" -gt 60 ]
}

# The part of `make check`: the files; Kconfig, kunit.py and lib.mk accept them.
check_intree_files() {
    results_begin host-intree
    local tree
    mkdir -p "$INTREE_LOG" "$OURO_TOP/build/intree"
    rm -rf "$OURO_TOP/build/intree/links" "$OURO_TOP/build/intree/config"
    tree=$OURO_TOP/build/intree/links
    intree_skeleton "$(step_dir source)/linux" "$tree"
    expect intree/files/drop "$INTREE_LOG/drop.log" intree_written "$tree" '[1-9][0-9]*'
    expect intree/files/complete "$INTREE_LOG/complete.log" intree_complete "$tree"
    cp "$tree/MAINTAINERS" "$INTREE_LOG/MAINTAINERS"
    cp "$tree/rust/Makefile" "$INTREE_LOG/rust.mk"
    expect intree/files/twice "$INTREE_LOG/twice.log" intree_twice "$tree"
    expect intree/files/kconfig "$INTREE_LOG/kconfig.log" intree_kconfig "$tree" "$OURO_TOP/build/intree/config"
    expect intree/files/kunitconfig "$INTREE_LOG/kunitconfig.log" intree_kunit "$tree" "$OURO_TOP/build/intree/config/kunit"
    expect intree/files/selftests "$INTREE_LOG/selftests.log" intree_tests "$tree"
    rm -rf "$OURO_TOP/build/intree/links" "$OURO_TOP/build/intree/config"
}

# intree_build M-OR-Y: the guest's plain kernel with ouro in its tree. Copies are mounted at the paths of the originals, so
# that only new files are built.
intree_build() {
    local dir=$OURO_TOP/build/intree source out log=$OURO_TOP/build/intree/make-$1.log
    source=$(step_dir source)/linux
    out=$(kernel_out plain)
    {
        grep -v '^CONFIG_DRM_OURO' "$dir/out/.config"
        printf 'CONFIG_DRM_OURO=%s\nCONFIG_DRM_OURO_KUNIT_TEST=y\n' "$1"
    } >"$dir/config"
    cp "$dir/config" "$dir/out/.config"
    local OURO_AT=$dir/linux=$source:$dir/out=$out as=(KBUILD_BUILD_USER=ouro KBUILD_BUILD_HOST=ouro)
    as+=(KBUILD_BUILD_TIMESTAMP="$(cat "$(step_dir source)/version")")
    {
        intree_make "$source" "$out" olddefconfig && intree_make "$source" "$out" "${as[@]}"
    } >"$log" 2>&1 || { cat "$log"; return 1; }
    cat "$log"
    grep -qx "CONFIG_DRM_OURO=$1" "$dir/out/.config" || { echo "olddefconfig dropped it"; return 1; }
    ! grep -qE 'warning[:[]|: warning' "$log"
}

# intree_kselftests: built by the kernel's own rules, with its headers.
intree_kselftests() {
    local tree=$OURO_TOP/build/intree/linux out=$OURO_TOP/build/intree/tests-out
    enter make -s -C "$tree" O="$out" headers || return 1
    enter nice make -s -C "$tree/tools/testing/selftests" TARGETS=drm/ouro O="$out" CC=gcc -j"$(jobs_wanted)" \
        USERCFLAGS=-Werror USERLDFLAGS=-static FORCE_TARGETS=1
}

# `make check-intree`: the whole build, as a module and built in, and a guest for each.
INTREE_PROGRAMS="getparam gem_create gem_mmap exec_reloc exec_fence context order syncobj userptr reset"
check_intree_built() {
    results_begin intree
    local dir=$OURO_TOP/build/intree tests=$OURO_TOP/build/intree/tests program as
    mkdir -p "$INTREE_LOG"
    rm -rf "$dir"
    mkdir -p "$dir" "$tests"
    say "a copy of the kernel's source and of its build: 2.1 GB"
    cp -a --reflink=auto "$(step_dir source)/linux" "$dir/linux"
    cp -a --reflink=auto "$(kernel_out plain)" "$dir/out"
    expect intree/drop "$INTREE_LOG/drop.log" intree_written "$dir/linux" '[1-9][0-9]*'
    expect intree/kselftests "$INTREE_LOG/kselftests.log" intree_kselftests
    for program in $INTREE_PROGRAMS; do cp "$dir/tests-out/kselftest/drm/ouro/$program" "$tests/" || true; done
    for as in m y; do
        say "building the kernel with DRM_OURO=$as"
        expect "intree/build-$as" "$INTREE_LOG/build-$as.log" intree_build "$as"
        guest_run "intree/$as" --gpu snb --intree "$dir/out" --tests "$tests" --timeout 1800 \
            --add "$VM_DIR/guest-tests/run-tests.sh" -- sh /bin/run-tests.sh
        guest_results "intree/$as"
        results_ktap "intree/$as/kunit" "$GUEST_DIR/dmesg.txt" || result FAIL "intree/$as/kunit" "no KUnit result in dmesg.txt"
        model_rules "intree/$as"
    done
}
