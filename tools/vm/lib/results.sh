# SPDX-License-Identifier: GPL-2.0
# The common form of all test results. Each unit of work (one guest, one Cargo
# run) has a file of lines  PASS|FAIL|SKIP <tab> name <tab> reason,  and a file
# of its coverage.
#
# shellcheck shell=bash

RESULTS=$OURO_TOP/build/check/results

# results_begin UNIT: makes its empty file, to which later results are added.
results_begin() {
    UNIT=$1
    mkdir -p "$RESULTS"
    : >"$RESULTS/$UNIT.tsv"
    : >"$RESULTS/$UNIT.cover"
}

result() {
    printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >>"$RESULTS/$UNIT.tsv"
    [ "$1" != FAIL ] || say "  FAIL $2${3:+: $3}"
}

# expect NAME LOG COMMAND...: a test that passes if the command succeeds.
expect() {
    local name=$1 log=$2
    shift 2
    mkdir -p "$(dirname "$log")"
    if "$@" >"$log" 2>&1; then
        result PASS "$name"
    else
        result FAIL "$name" "see ${log#"$OURO_TOP"/}"
        tail -n 8 "$log" | sed 's/^/    | /' >&2
    fi
}

# results_from AWK-PROGRAM PREFIX FILE: adds the results that the program prints.
results_from() {
    local program=$1 prefix=$2 file=$3 lines
    lines=$(awk -v prefix="$prefix" "$program" "$file")
    [ -n "$lines" ] || return 1
    printf '%s\n' "$lines" >>"$RESULTS/$UNIT.tsv"
    grep '^FAIL' <<<"$lines" | awk -F'\t' '{print "  FAIL " $2 ($3 ? ": " $3 : "")}' >&2 || true
}

# Output of `cargo test`: the crate is put before the test's name.
# shellcheck disable=SC2016 # awk
results_cargo() {
    results_from '
        /^ *Running / { crate = $0; sub(/^.*deps\//, "", crate); sub(/-[0-9a-f]+\).*$/, "", crate) }
        /^ *Doc-tests / { crate = $2 "/doc" }
        /^test .* \.\.\. (ok|FAILED|ignored)/ {
            name = $0; sub(/^test /, "", name)
            state = name; sub(/^.* \.\.\. /, "", state); sub(/ \.\.\. [^.]*$/, "", name)
            sub(/ \.\.\. (ok|FAILED|ignored).*$/, "", name); sub(/ - should panic$/, "", name)
            full = prefix "/" crate "/" name
            if (state ~ /^ok/) print "PASS\t" full "\t"
            else if (state ~ /^FAILED/) print "FAIL\t" full "\tassertion failed"
            else { sub(/^ignored,? ?/, "", state); print "SKIP\t" full "\t" (state ? state : "marked #[ignore]") }
        }' "$1" "$2"
}

# Output of kselftests: TAP without the numbers. The reason of a failed test is
# the beginning and the end of the `# ...` lines since the last result.
# shellcheck disable=SC2016
results_tap() {
    results_from '
        /^#/ {
            line = $0; sub(/^(#[ \t]*)+/, "", line); gsub(/\t/, " ", line)
            # lines of the harness for each test, and nested TAP
            if (line ~ /^(TAP version|1[.][.]|ok |Starting |PASSED|FAILED|Totals|selected)/ || line ~ /^RUN  / || line ~ /^ *(OK|FAIL)  / || line ~ /: Test (failed|terminated by assertion)$/ || line ~ /^cover:/ || line == "") next
            said[++n] = line
            next
        }
        /^(not )?ok [0-9]+/ {
            bad = ($1 == "not"); line = $0; sub(/^(not )?ok [0-9]+ *-? */, "", line)
            reason = ""
            if (match(line, /# *SKIP/)) { reason = substr(line, RSTART + RLENGTH); line = substr(line, 1, RSTART - 1); skip = 1 }
            else skip = 0
            sub(/ *#.*$/, "", line); sub(/ +$/, "", line); sub(/^ +/, "", reason)
            if (skip) print "SKIP\t" prefix "/" line "\t" (reason ? reason : "no reason given")
            else if (!bad) print "PASS\t" prefix "/" line "\t"
            else {
                why = ""
                for (i = 1; i <= n; i++) {
                    if (n > 6 && i == 4) { i = n - 2; why = why " | ..." }
                    why = why (why ? " | " : "") substr(said[i], 1, 200)
                }
                print "FAIL\t" prefix "/" line "\t" (why ? why : "not ok")
            }
            n = 0
        }' "$1" "$2"
}

# KUnit's cases in a kernel log, which are indented below their suite. Only those
# of ouro.ko, which are after the message of its load (the kernel has others), or
# of ouro in the tree, by the suite's name; one result per case, since each load
# runs all of them.
# shellcheck disable=SC2016
results_ktap() {
    results_from '
        { sub(/^\[ *[0-9.]+\] ?/, "") }
        /^ouro: loading out-of-tree module/ { ours = 1 }
        /^ +# Subtest: / { suite = $3 }
        !ours && suite !~ /^ouro_/ { next }
        /^ +(not )?ok [0-9]+ / {
            bad = ($1 == "not"); line = $0; sub(/^ +(not )?ok [0-9]+ *-? */, "", line)
            skip = (line ~ /# *SKIP/); reason = line; sub(/^.*# *SKIP */, "", reason); sub(/ *#.*$/, "", line)
            name = prefix "/" suite "." line
            if (!(name in result)) order[++n] = name
            if (bad) result[name] = "FAIL\t" name "\tKUnit"
            else if (!(name in result)) result[name] = skip ? "SKIP\t" name "\t" reason : "PASS\t" name "\t"
        }
        END { for (i = 1; i <= n; i++) print result[order[i]] }' "$1" "$2"
}

# Adds the lines `cover: ...` of a log to the coverage.
results_cover() {
    sed -nE 's/^[#[:space:]]*cover: *//p' "$1" >>"$RESULTS/$UNIT.cover" 2>/dev/null || true
}

# peers_only NAMES: whether NAMES is not empty, and all its lines are of the upstream driver: GPU/peer, GPU/peer/TEST.
peers_only() { [ -n "$1" ] && ! grep -qvE '^[^/]+/peer(/|$)' <<<"$1"; }

# told_again NAME REASON: adds a test to the list of repeated ones, which is printed at the end.
told_again() { printf '%s: %s\n' "$1" "$2" >>"$RESULTS/$UNIT.again"; }

# again JOB...: repeats the job of UNIT once, if all its failures are of the upstream driver, and are at most a few failed
# assertions or a guest that stopped: some guests did not finish their shutdown after all tests, for an unknown reason. A
# test that passes in the second run has passed, and is listed at the end; one that fails twice has failed. Tests of our
# own driver are not repeated, nor messages of the kernel and crashed programs.
again() {
    local unit=$UNIT first=$RESULTS/$UNIT.first failed hard
    failed=$(grep '^FAIL' "$RESULTS/$unit.tsv" | cut -f2 || true)
    hard=$(awk -F'\t' '$1 == "FAIL" && $3 !~ /^ *timed out/ {print $2}' "$RESULTS/$unit.tsv")
    if ! peers_only "$failed" || [ "$(wc -l <<<"$failed")" -gt 4 ] ||
        grep -qE '/(guest-and-dmesg|exit|no-gpu|build)$|/rules/|/kunit' <<<"$hard"; then
        return 0
    fi
    say "repeating a job of the upstream driver: $*"
    cp "$RESULTS/$unit.tsv" "$first"
    mv "$RESULTS/$unit.cover" "$first-cover"
    # guest_run reads it, and keeps the files of the first guest
    # shellcheck disable=SC2034
    AGAIN=yes
    "$@"
    unset AGAIN
    cat "$first-cover" >>"$RESULTS/$unit.cover"
    awk -F'\t' -v OFS='\t' '
        NR == FNR { second[$2] = $1; line[$2] = $0; next }
        { first[$2] = 1 }
        $1 == "FAIL" { print $2 ": " $3 (second[$2] == "PASS" ? "" : " (and the second time)") >>again }
        $1 == "FAIL" && second[$2] == "PASS" { print "PASS", $2, ""; next }
        { print }
        END { for (name in second) if (!(name in first)) print line[name] }
        ' again="$RESULTS/$unit.again" "$RESULTS/$unit.tsv" "$first" >"$first-merged"
    mv "$first-merged" "$RESULTS/$unit.tsv"
}

# results_total: prints coverage, failures, skips with their reasons, and the line
# of totals. Returns 1 if a test failed or none ran.
results_total() {
    local all passed failed skipped
    all=$(cat "$RESULTS"/*.tsv 2>/dev/null || true)
    passed=$(grep -c '^PASS' <<<"$all" || true)
    failed=$(grep -c '^FAIL' <<<"$all" || true)
    skipped=$(grep -c '^SKIP' <<<"$all" || true)
    if [ "$skipped" -gt 0 ]; then
        say "skipped, and why:"
        grep '^SKIP' <<<"$all" | awk -F'\t' '{print "  " $2 ": " $3}' >&2
    fi
    if cat "$RESULTS"/*.again >/dev/null 2>&1; then
        say "the upstream driver was asked again for:"
        sed 's/^/  /' "$RESULTS"/*.again >&2
    fi
    if [ "$failed" -gt 0 ]; then
        say "failed:"
        grep '^FAIL' <<<"$all" | awk -F'\t' '{print "  " $2 ($3 ? ": " $3 : "")}' >&2
    fi
    cat "$RESULTS"/*.cover 2>/dev/null | sort -u | awk '
        # the number after this text
        function after(words) { return substr($0, index($0, words) + length(words)) + 0 }
        # kselftests count per program and kernel; these are totals per ioctl
        $1 == "ioctl" && $4 == "cases" {
            before = best[$2, $5]
            if (!before) programs[$2]++
            if ($3 > before) { cases[$2] += $3 - before; best[$2, $5] = $3 }
            next
        }
        { print "cover: " $0 }
        # sums over programs, kernels and GPUs
        / failed: / && $1 == "allocations" { failed += after("failed: ") }
        /^stress calls: / { calls += after("calls: ") }
        /engines. resets: / { resets += after("resets: ") }
        /^resets survived: / { resets += after("survived: ") }
        END {
            if (failed + calls + resets)
                print "cover: in all: " failed + 0 " allocations failed, " calls + 0 " stress calls, " \
                    resets + 0 " resets survived"
            for (name in cases) { n++; all += cases[name] }
            if (n) print "cover: " n " ioctls, " all " cases"
            for (name in cases) print "cover: ioctl " name ": " cases[name] " cases in " programs[name] " programs"
        }' | sort
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
