# SPDX-License-Identifier: GPL-2.0
# The results of all tests in one form. Each unit of work (one guest, one
# Cargo run) has a file of lines  PASS|FAIL|SKIP <tab> name <tab> reason,  and
# beside it one of what it covered.
#
# shellcheck shell=bash

RESULTS=$OURO_TOP/build/check/results

# results_begin UNIT: an empty file for it; what follows goes there.
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

# expect NAME LOG COMMAND...: one test that is a command.
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

# results_from AWK-PROGRAM PREFIX FILE: the program prints lines of results.
results_from() {
    local program=$1 prefix=$2 file=$3 lines
    lines=$(awk -v prefix="$prefix" "$program" "$file")
    [ -n "$lines" ] || return 1
    printf '%s\n' "$lines" >>"$RESULTS/$UNIT.tsv"
    grep '^FAIL' <<<"$lines" | awk -F'\t' '{print "  FAIL " $2 ($3 ? ": " $3 : "")}' >&2 || true
}

# `cargo test`: a test's name with its crate in front.
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

# kselftest: TAP, numbers dropped. What stands in `# ...` lines since the last
# result is the reason of one that failed: the beginning and the end of it.
# shellcheck disable=SC2016
results_tap() {
    results_from '
        /^#/ {
            line = $0; sub(/^(#[ \t]*)+/, "", line); gsub(/\t/, " ", line)
            # what the harness says of any test, and a program in a program
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

# KUnit in a kernel log: the cases, which are indented under their suite. Only
# those of ouro.ko, which come after it is loaded (the kernel has some of its
# own), or of an ouro in the tree, by the suite's name; and one result a case: it
# runs again with each load.
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

# Lines `cover: ...` of a log.
results_cover() {
    sed -nE 's/^[#[:space:]]*cover: *//p' "$1" >>"$RESULTS/$UNIT.cover" 2>/dev/null || true
}

# peers_only NAMES: whether there are some, a line each, and all are of the upstream driver: GPU/peer, GPU/peer/TEST.
peers_only() { [ -n "$1" ] && ! grep -qvE '^[^/]+/peer(/|$)' <<<"$1"; }

# told_again NAME REASON: for the list at the end, of what was asked again, and why.
told_again() { printf '%s: %s\n' "$1" "$2" >>"$RESULTS/$UNIT.again"; }

# again JOB...: the job of UNIT, once more, if all that went wrong in it is of the upstream driver, and no more than
# a few assertions of its tests, or a guest that stood still: some have not come back from their shutdown, all tests
# done, and nobody knows why yet. What comes right now counts as passed; each is listed at the end. What fails twice
# has failed. Nothing of our own driver is asked again, nor a complaint of the kernel or a program that died.
again() {
    local unit=$UNIT first=$RESULTS/$UNIT.first failed hard
    failed=$(grep '^FAIL' "$RESULTS/$unit.tsv" | cut -f2 || true)
    hard=$(awk -F'\t' '$1 == "FAIL" && $3 !~ /^ *timed out/ {print $2}' "$RESULTS/$unit.tsv")
    if ! peers_only "$failed" || [ "$(wc -l <<<"$failed")" -gt 4 ] ||
        grep -qE '/(guest-and-dmesg|exit|no-gpu|build)$|/rules/|/kunit' <<<"$hard"; then
        return 0
    fi
    say "asking the upstream driver again: $*"
    cp "$RESULTS/$unit.tsv" "$first"
    mv "$RESULTS/$unit.cover" "$first-cover"
    # guest_run looks at it: the first guest's traces stay
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

# results_total: coverage, failures, skips with their reasons, and the line
# that ends it all. Returns 1 if something failed or nothing ran.
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
        # the number behind these words
        function after(words) { return substr($0, index($0, words) + length(words)) + 0 }
        # the kselftests count by program, on each kernel; here by ioctl
        $1 == "ioctl" && $4 == "cases" {
            before = best[$2, $5]
            if (!before) programs[$2]++
            if ($3 > before) { cases[$2] += $3 - before; best[$2, $5] = $3 }
            next
        }
        { print "cover: " $0 }
        # from several programs, each on each kernel and GPU
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
