# SPDX-License-Identifier: GPL-2.0
# The cost of ioctls in instructions: exec-cost in a guest whose clock counts instructions.
#
# shellcheck shell=bash

# tools/testing/bench/figures-GPU: the recorded figures of our driver on the plain kernel. `make check` compares those of
# GPUs whose GPU_PARTS has bench. (With execlists, the figures depend on the time of the model's answers.)
# shellcheck disable=SC2034 # bench and check-vm.sh read it
BENCH_FIGURES=$OURO_TOP/tools/testing/bench/figures
# The same of the upstream driver, to compare with.
# shellcheck disable=SC2034
BENCH_UPSTREAM=$OURO_TOP/tools/testing/bench/upstream
# Instructions of the model of R5xx for a frame, as recorded.
# shellcheck disable=SC2034
BENCH_FRAME=$OURO_TOP/tools/testing/bench/frame-r5xx
# Per cent by which a figure of a submission or a copy may grow before `make check` fails: they repeat within two.
BENCH_TOLERANCE=5
# The same for the others. They differ from boot to boot: by a page table that is allocated, a list that is trimmed, or a
# timer tick in a call of 1,000 instructions.
BENCH_ROUGH_TOLERANCE=100

# bench_client GPU: prints the program that measures the ioctls of the GPU's interface.
bench_client() (
    gpu_read "$1"
    case $GPU_DRIVER in radeon) echo cs-cost ;; *) echo exec-cost ;; esac
)

# bench_guest DIR GPU GUEST-ARGUMENT...: writes DIR/figures.txt: name, median of all rounds, minimum.
bench_guest() {
    local dir=$1 gpu=$2 client
    shift 2
    client=$(bench_client "$gpu")
    "$VM_DIR/guest" --gpu "$gpu" --out "$dir" --icount --memory 1G --timeout 900 --add "$BIN_DIR/$client" "$@" \
        -- "$client" || return
    bench_figures "$dir/output.txt" >"$dir/figures.txt"
}

# bench_profile DIR GPU CALL GUEST-ARGUMENT...: counts the instructions of a call by block: DIR/blocks, and the kernel's
# DIR/symbols. The call `sleep` is a suspend and the resume after it.
bench_profile() {
    local dir=$1 gpu=$2 call=$3 client command
    shift 3
    client=$(bench_client "$gpu")
    command="PROFILE=$call $client"
    if [ "$call" = sleep ]; then
        client=life-cost command="life-cost profile sleep 'sh /bin/sleep.sh mem platform'"
        set -- --add "$VM_DIR/guest-tests/sleep.sh" "$@"
    fi
    OURO_GUEST_PLUGIN="$BIN_DIR/profile.so,out=$dir/blocks" "$VM_DIR/guest" --gpu "$gpu" --out "$dir" --icount --memory 1G \
        --timeout 900 --add "$BIN_DIR/$client" "$@" -- sh -c "$command && cat /proc/kallsyms >/out/symbols"
}

# bench_life DIR GPU MODULE ARGUMENTS FILES GUEST-ARGUMENT...: what a driver costs beside its ioctls. FILES are modules to
# load before. Writes DIR/figures.txt, and DIR/memory.txt: name, bytes of one, of that in slabs. A guest for each kind of
# memory; the first one then hangs, and sleeps.
bench_life() {
    local dir=$1 gpu=$2 module=$3 arguments=$4 files=$5 kind loads after
    shift 5
    loads="for file in $files; do insmod /lib/modules/\$file || exit 1; done"
    loads+="; life-cost load /lib/modules/$module.ko '$arguments'"
    after="life-cost hang && echo 1 >/sys/power/pm_print_times && sh /bin/sleep.sh mem platform"
    after+=" && life-cost slept 0000:00:02.0"
    rm -rf "$dir"
    for kind in objects contexts clients; do
        # The module's own tests are not part of its loading. Upstream's i915 dies when Ivy Bridge resumes without a
        # display, and warns when it leaves DG2: what it has measured until then counts.
        OURO_GUEST_APPEND="kunit.enable=0" "$VM_DIR/guest" --gpu "$gpu" --out "$dir/$kind" --icount --memory 2G \
            --timeout 600 --no-load --add "$BIN_DIR/life-cost" --add "$VM_DIR/guest-tests/sleep.sh" "$@" \
            -- sh -c "$loads && life-cost memory $kind && $after" ||
            { [ "$module" != ouro ] && say "bench: $module failed in the guest $dir/$kind"; } || return
        sed -nE 's/^memory ([a-z-]+ -?[0-9]+ -?[0-9]+)$/\1/p' "$dir/$kind/output.txt" >>"$dir/memory.txt"
        [ "$kind" != objects ] || bench_figures "$dir/$kind/output.txt" >"$dir/figures.txt"
        after=true
    done
}

# bench_frame: prints the instructions of a frame of the modelled R5xx (examples/r5xx_frame.rs of the model): those of
# three frames less those of one, by two. Prints nothing where the host has no valgrind.
bench_frame() {
    local one three
    command -v valgrind >/dev/null || { say "a frame's cost is left out: this host has no valgrind"; return 0; }
    build_program frame-cost || return
    one=$(callgrind_of "$BIN_DIR/frame-cost" 1) || return
    three=$(callgrind_of "$BIN_DIR/frame-cost" 3) || return
    echo $(((three - one) / 2))
}

# callgrind_of PROGRAM ARGUMENT...: prints the instructions of a program that succeeds.
callgrind_of() {
    local said
    said=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null) || return
    sed -nE 's/^==[0-9]+== Collected : ([0-9]+)$/\1/p' <<<"$said"
}

bench_figures() { sed -nE 's/^figure ([a-z0-9-]+ [0-9]+ [0-9]+)$/\1/p' "$1"; }

# bench_counts OURS UPSTREAM: prints the model's counts per call of two outputs of exec-cost, side by side.
bench_counts() {
    awk '$1 != "count" { next }
        FILENAME == ARGV[1] { order[++n] = $2; ours[$2] = sprintf("%10s %8s %10s", $3, $4, $5); next }
        { upstream[$2] = sprintf("%10s %8s %10s", $3, $4, $5) }
        END { for (i = 1; i <= n; i++) printf "%-28s %s %s\n", order[i], ours[order[i]], upstream[order[i]] }' "$1" "$2"
}

# bench_judge KNOWN MEASURED: prints a line for each recorded figure: result, name, reason. It compares the minimum.
bench_judge() {
    awk -v fine="$BENCH_TOLERANCE" -v rough="$BENCH_ROUGH_TOLERANCE" '
        /^#/ { next }
        FILENAME == ARGV[1] { known[$1] = $3; next }
        { measured[$1] = $3 }
        END {
            for (name in known) {
                most = name ~ /-(waited|idle)$|^create-|^map-/ ? rough : fine
                if (!(name in measured)) print "FAIL\t" name "\tnot measured"
                else if (measured[name] > known[name] * (1 + most / 100))
                    print "FAIL\t" name "\t" measured[name] " instructions, more than " most " % above " known[name]
                else print "PASS\t" name "\t"
            }
        }' "$1" "$2"
}
