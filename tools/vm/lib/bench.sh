# SPDX-License-Identifier: GPL-2.0
# What an ioctl costs in instructions: exec-cost in a guest whose clock counts them.
#
# shellcheck shell=bash

# tools/testing/bench/figures-GPU: what was measured last, with our driver and the plain kernel.
BENCH_FIGURES=$OURO_TOP/tools/testing/bench/figures
# Per cent by which a figure may grow before `make check` says so. They repeat to within two.
BENCH_TOLERANCE=5

# bench_guest DIR GPU GUEST-ARGUMENT...: figures in DIR/figures.txt, a name and a number a line.
bench_guest() {
    local dir=$1 gpu=$2
    shift 2
    "$VM_DIR/guest" --gpu "$gpu" --out "$dir" --icount --memory 1G --timeout 900 --add "$BIN_DIR/exec-cost" "$@" || return
    bench_figures "$dir/output.txt" >"$dir/figures.txt"
}

bench_figures() { sed -nE 's/^figure ([a-z0-9-]+) ([0-9]+)$/\1 \2/p' "$1"; }

# bench_judge KNOWN MEASURED: a line for each figure that is known: verdict, name, reason. What waits for the GPU
# depends on when the model answers: that is measured, and not judged.
bench_judge() {
    awk -v most="$BENCH_TOLERANCE" '
        /^#/ { next }
        FILENAME == ARGV[1] { known[$1] = $2; next }
        { measured[$1] = $2 }
        END {
            for (name in known) {
                if (name ~ /-waited$/) continue
                if (!(name in measured)) print "FAIL\t" name "\tnot measured"
                else if (measured[name] > known[name] * (1 + most / 100))
                    print "FAIL\t" name "\t" measured[name] " instructions, more than " most " % above " known[name]
                else print "PASS\t" name "\t"
            }
        }' "$1" "$2"
}
