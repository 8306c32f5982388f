# SPDX-License-Identifier: GPL-2.0
# The cost of ioctls in instructions: exec-cost in a guest whose clock counts instructions.
#
# shellcheck shell=bash

# tools/testing/bench/figures-GPU: the recorded figures of our driver on the plain kernel. (With execlists, the figures
# depend on the time of the model's answers, so there is no such file.)
# shellcheck disable=SC2034 # bench and check-vm.sh read it
BENCH_FIGURES=$OURO_TOP/tools/testing/bench/figures
# The same of the upstream driver, to compare with.
# shellcheck disable=SC2034
BENCH_UPSTREAM=$OURO_TOP/tools/testing/bench/upstream
# Per cent by which a figure of a submission or a copy may grow before `make check` fails: they repeat within two.
BENCH_TOLERANCE=5
# The same for the others. They differ from boot to boot: by a page table that is allocated, a list that is trimmed, or a
# timer tick in a call of 1,000 instructions.
BENCH_ROUGH_TOLERANCE=100

# bench_guest DIR GPU GUEST-ARGUMENT...: writes DIR/figures.txt: name, median of all rounds, minimum.
bench_guest() {
    local dir=$1 gpu=$2
    shift 2
    "$VM_DIR/guest" --gpu "$gpu" --out "$dir" --icount --memory 1G --timeout 900 --add "$BIN_DIR/exec-cost" "$@" || return
    bench_figures "$dir/output.txt" >"$dir/figures.txt"
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
