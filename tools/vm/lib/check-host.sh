# SPDX-License-Identifier: GPL-2.0
# The tests without a guest: Cargo's tests, lints, and rules of the tree.
#
# shellcheck shell=bash

HOST_LOG=$OURO_TOP/build/check/host

# The Rust roots that Kbuild builds, for rustfmt with the kernel's settings.
KERNEL_ROOTS="drivers/gpu/drm/ouro/ouro_main.rs drivers/gpu/drm/ouro/hw/lib.rs drivers/gpu/drm/ouro/core/lib.rs
    rust/ouro_kernel/lib.rs rust/ouro_uapi/lib.rs"

check_cargo() {
    results_begin host-cargo
    local target
    target=$(cargo_target)
    export CARGO_TARGET_DIR=$target
    expect host/fmt "$HOST_LOG/fmt.log" enter cargo fmt --all --check
    expect host/clippy "$HOST_LOG/clippy.log" \
        enter cargo clippy --locked --workspace --all-targets --quiet -- -D warnings
    expect host/examples/fmt "$HOST_LOG/examples-fmt.log" enter cargo fmt --manifest-path examples/rust/Cargo.toml --check
    expect host/examples/fmt-uefi "$HOST_LOG/uefi-fmt.log" enter cargo fmt --manifest-path examples/uefi/Cargo.toml --check
    expect host/examples/clippy "$HOST_LOG/examples-clippy.log" examples_cargo clippy --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" expect host/rustdoc "$HOST_LOG/rustdoc.log" \
        enter cargo doc --locked --workspace --no-deps --document-private-items --quiet
    # Each run of the check has the same random cases; `make fuzz` generates others.
    local log=$HOST_LOG/test.log rc=0
    PROPTEST_RNG_SEED=${OURO_SEED:-2026} enter cargo test --locked --workspace --no-fail-fast -- --show-output >"$log" 2>&1 || rc=$?
    results_cargo host "$log" || rc=1
    results_cover "$log"
    if [ "$rc" = 0 ]; then
        result PASS host/cargo-test
    else
        result FAIL host/cargo-test "see build/check/host/test.log"
        grep -E '^(error|warning: unused|---- .* stdout|thread .* panicked)' -A 4 "$log" | head -n 40 | sed 's/^/    | /' >&2
    fi
    check_perfetto "$log"
    result SKIP host/miri "Miri comes with nightly toolchains; the build root has the stable one"
}

# check_perfetto LOG: a trace of the modelled DG2, which its test dg2_trace has printed, converted by the ouro-decode that
# Cargo has just built, in Perfetto's trace processor.
check_perfetto() {
    local trace=$HOST_LOG/trace.txt json=$HOST_LOG/trace.json log=$HOST_LOG/perfetto.log
    sed -n 's/^trace: //p' "$1" >"$trace"
    if ! step_ready perfetto; then
        result SKIP host/perfetto "Perfetto's trace processor could not be installed"
        return
    fi
    if enter cargo run --locked --quiet -p ouro-decode -- --what trace --no-registers "$trace" >"$json" 2>"$log"; then
        perfetto_reads "$trace" "$json" >"$log.tap" 2>>"$log" || true
        results_tap host/perfetto "$log.tap" || result FAIL host/perfetto "no TAP: see ${log#"$OURO_TOP"/}"
    else
        result FAIL host/perfetto "ouro-decode failed: see ${log#"$OURO_TOP"/}"
    fi
}

# module_without_warning NAME MAKE-ARGUMENT...: builds the module, which must give no warning. A compiler does not repeat
# the warnings of files that it does not compile: earlier objects are used only if all were built without a warning.
module_without_warning() {
    local name=$1 objects=$OURO_TOP/build/module/$1 log
    shift
    [ -e "$objects/.without-warning" ] || rm -rf "$objects"
    rm -f "$objects/.without-warning"
    log=$(MODULE_DIR=$name "$VM_DIR/module" plain "$@" 2>&1) || { echo "$log"; return 1; }
    echo "$log"
    ! grep -qE 'warning[:[]|: warning' <<<"$log" || return 1
    : >"$objects/.without-warning"
}

check_module() {
    results_begin host-module
    local log=$HOST_LOG src
    src=$(step_dir source)/linux
    expect host/module-W1-clippy "$log/module.log" module_without_warning neat W=1 CLIPPY=1
    local roots=() file
    for file in $KERNEL_ROOTS; do
        [ ! -e "$OURO_TOP/$file" ] || roots+=("$file")
    done
    expect host/rustfmt-kernel "$log/rustfmt.log" \
        enter rustfmt --check --edition 2021 --config-path "$src/.rustfmt.toml" "${roots[@]}"
    # names of OpenGL, EGL and libva are not in checkpatch's style
    checkpatch "$log/checkpatch.log" '' '*.c' '*.h' ':!tools/testing/mesa'
    checkpatch "$log/checkpatch-mesa.log" --ignore=CAMELCASE 'tools/testing/mesa/*.c' 'tools/testing/mesa/*.h'
    check_rustdoc_kernel
}

# checkpatch LOG OPTIONS PATHSPEC...: one run for all files, since each run reads its lists; a result for each file.
# Its messages begin with the file's name.
checkpatch() {
    local log=$1 options=$2 file files
    shift 2
    mapfile -t files < <(cd "$OURO_TOP" && git ls-files -- "$@")
    # shellcheck disable=SC2086 # words
    if ! enter perl "$(step_dir source)/linux/scripts/checkpatch.pl" --no-tree --strict --terse --no-summary -q \
        $options -f "${files[@]}" >"$log" 2>&1 && ! grep -qE '^[^ ]+\.[ch]:[0-9]+: ' "$log"; then
        result FAIL host/checkpatch "it did not run: see ${log#"$OURO_TOP"/}"
    fi
    for file in "${files[@]}"; do
        if grep -qF "$file:" "$log"; then
            result FAIL "host/checkpatch/$file" "$(grep -F "$file:" "$log" | head -n 1)"
        else
            result PASS "host/checkpatch/$file"
        fi
    done
}

# rustdoc of the crates that only Kbuild builds, with Kbuild's command line
# without the options for output.
check_rustdoc_kernel() {
    local objects=$OURO_TOP/build/module/neat name cmd
    for name in rust/ouro_kernel/lib rust/ouro_uapi/lib drivers/gpu/drm/ouro/ouro_main; do
        cmd=$objects/$(dirname "$name")/.$(basename "$name").o.cmd
        if [ ! -e "$cmd" ]; then
            result FAIL "host/rustdoc/$name" "the module was not built"
            continue
        fi
        expect "host/rustdoc/$name" "$HOST_LOG/rustdoc-${name//\//-}.log" \
            enter bash "$VM_DIR/lib/rustdoc-kernel.sh" "$(kernel_out plain)" "$objects" "$cmd"
    done
}

# expected-GPU must not list a subtest that passes with the upstream driver on
# the same model.
check_igt_lists() {
    local gpu dir=$OURO_TOP/tools/testing/igt excused test reason
    results_begin host-igt
    for gpu in $(gpus_all); do
        gpu_has "$gpu" igt || continue
        excused=$(awk 'FNR == NR {if ($1 == "PASS") good[$2]; next}
            $3 == "lacks:" {next}
            $2 in good {print $2}
            /^[A-Z]+ [^ ]*\* / {for (name in good) if (index(name, substr($2, 1, length($2) - 1)) == 1) print $2, name}' \
            "$dir/peer-$gpu" "$dir/expected-$gpu" | xargs)
        if [ -z "$excused" ]; then
            result PASS "host/igt/expected-$gpu"
        else
            result FAIL "host/igt/expected-$gpu" "the upstream driver passes: $excused"
        fi
        while read -r _ test reason; do
            result SKIP "host/igt/expected-$gpu/$test" "upstream passes it; ouro $reason"
        done < <(awk '$3 == "lacks:"' "$dir/expected-$gpu")
    done
}

# tree_lacks NAME PATTERN HINT [PATHSPEC...]: fails if a tracked file has the pattern.
tree_lacks() {
    local name=$1 pattern=$2 hint=$3 found
    shift 3
    found=$(cd "$OURO_TOP" && git grep -nIE "$pattern" -- "$@" | head -n 5) || true
    if [ -z "$found" ]; then
        result PASS "$name"
    else
        result FAIL "$name" "$hint"
        sed 's/^/    | /' <<<"$found" >&2
    fi
}

check_tree() {
    results_begin host-tree
    local file bad lines hosts=debian
    # in two parts, so that the pattern does not match this line
    hosts+='|crates|pypi|npmjs'
    tree_lacks host/tree/hosts "://[a-z.]*($hosts)[.]" "a package registry's host name" . ':!Cargo.lock' ':!*.lock'
    tree_lacks host/tree/paths '(^|[^[:alnum:]_.])/(home|root|work)/[a-z]' "a path of one machine" . ':!tools/vm'
    bad=$(cd "$OURO_TOP" && git ls-files '*.rs' '*.c' '*.h' '*.sh' '*.toml' '*.config' Kbuild Makefile |
        while IFS= read -r file; do head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0' || echo "$file"; done)
    if [ -z "$bad" ]; then result PASS host/tree/spdx; else result FAIL host/tree/spdx "$(xargs <<<"$bad")"; fi

    # unsafe is allowed in rust/ouro_kernel, and in the places of tools/vm/unsafe
    bad=$(cd "$OURO_TOP" && git grep -nwE 'unsafe' -- '*.rs' ':!rust/ouro_kernel' |
        grep -vE '^[^:]+:[0-9]+: *//|unsafe_code|unsafe_op_in_unsafe_fn|"[^"]*unsafe[^"]*"' |
        cut -d: -f1 | sort | uniq -c | awk '{print $2, $1}' |
        while read -r file count; do
            [ "$count" -le "$(awk -v f="$file" '$1 == f {print $2}' "$VM_DIR/unsafe" | grep . || echo 0)" ] ||
                echo "$file ($count)"
        done)
    if [ -z "$bad" ]; then
        result PASS host/tree/unsafe
    else
        result FAIL host/tree/unsafe "outside rust/ouro_kernel, and not in tools/vm/unsafe: $(xargs <<<"$bad")"
    fi

    # The limit of a file's length.
    bad=$(cd "$OURO_TOP" && git ls-files '*.rs' '*.c' '*.h' '*.sh' '*.py' tools/vm | sort -u | while IFS= read -r file; do
        lines=$(wc -l <"$file")
        [ "$lines" -le 600 ] || echo "$file ($lines)"; done | xargs)
    if [ -z "$bad" ]; then
        result PASS host/tree/length
    else
        result FAIL host/tree/length "more than 600 lines: $bad"
    fi

    # A model may be older than the driver's backend: then no guest runs on it yet.
    local known
    known=$(model_known 2>/dev/null | sort | xargs) || true
    if [ -n "$known" ] && [ -z "$(comm -23 <(gpus_all | sort) <(tr ' ' '\n' <<<"$known"))" ]; then
        result PASS host/tree/gpus
    else
        result FAIL host/tree/gpus "tools/vm/gpus has '$(gpus_all | xargs)', gpu-model --list '$known'"
    fi
    # the programs that are left out for an interface exist
    bad=$(cd "$OURO_TOP" && awk '{print $1}' tools/vm/guest-tests/kselftests-*-only | while IFS= read -r file; do
        git ls-files --error-unmatch "tools/testing/selftests/drm/ouro/$file.c" >/dev/null 2>&1 || echo "$file"; done | xargs)
    if [ -z "$bad" ]; then
        result PASS host/tree/kselftests
    else
        result FAIL host/tree/kselftests "tools/vm/guest-tests names $bad"
    fi
    (cd "$OURO_TOP" && git ls-files tools/vm .ci) | while IFS= read -r file; do
        if head -n 1 "$OURO_TOP/$file" | grep -qE '^#!.*sh' || [[ $file == *.sh ]]; then echo "$file"; fi
    done >"$HOST_LOG/scripts"
    # shellcheck disable=SC2046 # file names without spaces
    expect host/shellcheck "$HOST_LOG/shellcheck.log" enter shellcheck -x -e SC1091,SC2001,SC2012,SC2015,SC2016,SC2153,SC2319 $(cat "$HOST_LOG/scripts")
}

# dead_links FILE: prints the links of a Markdown page to files of the tree that do not exist.
dead_links() {
    local link
    grep -oE '\]\([^)]+\)' "$OURO_TOP/$1" | sed 's/^](//; s/)$//; s/#.*//' | while IFS= read -r link; do
        case $link in '' | *://*) ;; *) [ -e "$OURO_TOP/$(dirname "$1")/$link" ] || echo "$link" ;; esac
    done
}

# abi_is_good: the kernel's tool accepts the files of Documentation/ABI, without a message.
abi_is_good() {
    local said
    said=$(enter python3 "$(step_dir source)/linux/tools/docs/get_abi.py" --dir "$OURO_TOP/Documentation/ABI" validate 2>&1) || return 1
    echo "$said"
    [ -z "$said" ]
}

# The documentation: each page by docutils and Sphinx, and the comments of our header by the kernel's kernel-doc.
check_docs() {
    results_begin host-docs
    local log=$HOST_LOG/rst.log pages header=include/uapi/drm/ouro_drm.h file dead
    mapfile -t pages < <(cd "$OURO_TOP" && git ls-files '*.rst')
    (cd "$OURO_TOP" && enter python3 tools/vm/lib/rst.py "${pages[@]}") >"$log" 2>&1 || true
    results_tap host/docs "$log" || result FAIL host/docs "it did not run: see ${log#"$OURO_TOP"/}"
    expect "host/docs/$header" "$HOST_LOG/kernel-doc.log" \
        enter python3 "$(step_dir source)/linux/tools/docs/kernel-doc" -none -Wall -Werror "$OURO_TOP/$header"
    expect host/docs/abi "$HOST_LOG/abi.log" abi_is_good
    # the tables of coverage quote the documents; words.txt has names of registers, of the kernel and of files
    # shellcheck disable=SC2046 # file names without spaces
    expect host/docs/spelling "$HOST_LOG/spelling.log" enter codespell -I "$OURO_TOP/tools/testing/docs/words.txt" \
        --skip '*/coverage*,*/streams/*,*/samples/*,*.gz,*.png' $(cd "$OURO_TOP" && git ls-files '*.md' |
            sed "s|^|$OURO_TOP/|") "$OURO_TOP"/{Documentation,drivers,examples,include,rust,tools}
    while IFS= read -r file; do
        dead=$(dead_links "$file" | xargs)
        if [ -z "$dead" ]; then result PASS "host/docs/links/$file"; else result FAIL "host/docs/links/$file" "$dead"; fi
    done < <(cd "$OURO_TOP" && git ls-files '*.md')
    if step_ready docs; then
        expect host/docs/sphinx "$HOST_LOG/sphinx.log" docs_html "$OURO_TOP/build/docs"
    else
        result SKIP host/docs/sphinx "Sphinx's packages cannot be had from this mirror"
    fi
}

# Tests of the set-up: its real engine with small steps.
check_engine() {
    results_begin host-setup
    local log=$HOST_LOG/setup-tests.log
    "$VM_DIR/tests/run" >"$log" 2>&1 || true
    results_tap host/setup "$log" || result FAIL host/setup "no result: see build/check/host/setup-tests.log"
}
