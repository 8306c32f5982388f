# SPDX-License-Identifier: GPL-2.0
# What an ioctl costs in instructions: exec-cost in a guest whose clock counts them.
#
# shellcheck shell=bash

# tools/testing/bench/figures-GPU: what was measured last, with our driver and the plain kernel. (Where lists of
# contexts are loaded, figures depend on when the model answers, and there is no such file.)
# shellcheck disable=SC2034 # bench and check-vm.sh read it
BENCH_FIGURES=$OURO_TOP/tools/testing/bench/figures
# The same of the upstream driver, to compare with.
# shellcheck disable=SC2034
BENCH_UPSTREAM=$OURO_TOP/tools/testing/bench/upstream
# Per cent by which a figure of a submission or a copy may grow before `make check` says so: they repeat to within two.
BENCH_TOLERANCE=5
# The same of the others: a page table that is made, a list that is trimmed, or a call of 1,000 instructions with a
# tick in it changes them from one boot to the next.
BENCH_ROUGH_TOLERANCE=100

# bench_guest DIR GPU GUEST-ARGUMENT...: figures in DIR/figures.txt: a name, the median of all rounds and the least.
bench_guest() {
    local dir=$1 gpu=$2
    shift 2
    "$VM_DIR/guest" --gpu "$gpu" --out "$dir" --icount --memory 1G --timeout 900 --add "$BIN_DIR/exec-cost" "$@" || return
    bench_figures "$dir/output.txt" >"$dir/figures.txt"
}

bench_figures() { sed -nE 's/^figure ([a-z0-9-]+ [0-9]+ [0-9]+)$/\1/p' "$1"; }

# bench_counts OURS UPSTREAM: what the model counted for a call, of both outputs of exec-cost, side by side.
bench_counts() {
    awk '$1 != "count" { next }
        FILENAME == ARGV[1] { order[++n] = $2; ours[$2] = sprintf("%10s %8s %10s", $3, $4, $5); next }
        { upstream[$2] = sprintf("%10s %8s %10s", $3, $4, $5) }
        END { for (i = 1; i <= n; i++) printf "%-28s %s %s\n", order[i], ours[order[i]], upstream[order[i]] }' "$1" "$2"
}

# bench_judge KNOWN MEASURED: a line for each figure that is known: verdict, name, reason. The least counts.
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
