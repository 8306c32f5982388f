# SPDX-License-Identifier: GPL-2.0
# Runs lists of IGT subtests in guests, and compares the results with the expected ones.
#
# shellcheck shell=bash

# shellcheck disable=SC2034 # for those who source this
IGT_DIR=$OURO_TOP/tools/testing/igt

# igt_core GPU: prints the core list: the GPU's own if there is one.
igt_core() {
    local own=$IGT_DIR/core-$1.list
    if [ -r "$own" ]; then echo "$own"; else echo "$IGT_DIR/core.list"; fi
}

# igt_list FILE: prints the subtests of a list; `#` begins a comment.
igt_list() {
    sed -E 's/#.*$//; s/^[[:space:]]+//; s/[[:space:]]+$//; /^$/d' "$1" | awk '!seen[$0]++'
}

# list_limit FILE: prints the default limit of a list, from its line `# limit SECONDS`; nothing without one.
list_limit() {
    sed -nE 's/^# limit ([0-9]+)$/\1/p' "$1" | head -n 1
}

# igt_limits FILE: prints name and seconds of each subtest with the comment `limit SECONDS`.
igt_limits() {
    sed -nE 's/^[[:space:]]*([^#[:space:]]+)[[:space:]]*#.*\<limit ([0-9]+)$/\1 \2/p' "$1"
}

# igt_whole TREE: prints all subtests of the programs for the kernel's interfaces, in IGT's order, as the programs list
# them. Without gem_concurrent, which has 485,000, and those that suspend or hibernate.
# shellcheck disable=SC2016 # for the shell in the tree
igt_whole() {
    root_run "$1" sh -c 'cd /usr/libexec/igt-gpu-tools || exit
        for program in gem_* core_* prime_* syncobj_* i915_*; do
            case $program in gem_concurrent_*) continue ;; esac
            # a program without subtests has another exit status
            subs=$(./"$program" --list-subtests 2>/dev/null </dev/null)
            if [ -n "$subs" ]; then echo "$subs" | sed "s/^/$program@/"; else echo "$program"; fi
        done' | grep -vE 'suspend|hibernate|-S[034]($|[-@])'
}

# igt_run LIST DIR LIMIT GUEST-ARGUMENT...: runs the subtests of the list by
# boots_run. With IGT_TOGETHER the subtests of one program run in one process
# (run-igt-together.sh).
igt_run() {
    local list=$1 dir=$2 limit=$3 longest runner=run-igt.sh
    shift 3
    [ -z "${IGT_TOGETHER:-}" ] || runner=run-igt-together.sh
    rm -rf "$dir"
    mkdir -p "$dir"
    igt_list "$list" >"$dir/todo"
    igt_limits "$list" >"$dir/limits"
    longest=$( (echo "$limit"; awk '{print $2}' "$dir/limits") | sort -n | tail -n 1)
    boots_run "$dir" "sh /bin/$runner $limit" --stall $((longest + 260)) --memory 3G \
        --add "$dir/limits" --root "$(clients_tree igt)" --add "$VM_DIR/guest-tests/$runner" "$@"
}

# boots_run DIR COMMAND GUEST-ARGUMENT...: runs the tests of DIR/todo (the name is
# the text before a tab) in as many guests as necessary: COMMAND reads /out/todo in
# the guest, and the next guest continues after a crash. Results in DIR: results.tsv
# (result, name, seconds, reason, as in run-igt.sh), logs/, a folder for each guest,
# and guests.tsv with a line for each guest that did not end well.
boots_run() {
    local dir=$1 command=$2 boot=0 ahead=0 out said rest count lost
    shift 2
    mkdir -p "$dir/logs"
    : >"$dir/results.tsv"
    : >"$dir/guests.tsv"
    count=$(wc -l <"$dir/todo")
    while [ -s "$dir/todo" ]; do
        boot=$((boot + 1))
        out=$dir/guest-$boot
        mkdir -p "$out"
        cp "$dir/todo" "$out/todo"
        echo "$DMESG_BAD" >"$out/bad"
        echo "$DMESG_FINE" >"$out/fine"
        echo "$RESET_LINE" >"$out/reset"
        : >"$out/results"
        said=
        "$VM_DIR/guest" --out "$out" --timeout 36000 "$@" -- sh -c "$command" 2>"$out/said" ||
            said=$(xargs -d '\n' <"$out/said" | cut -c1-300)
        cat "$out/results" >>"$dir/results.tsv"
        mv "$out"/logs/* "$dir/logs/" 2>/dev/null || true
        # Its clock ran ahead, and it ran no test.
        if [ -n "$said" ] && [ "$(cat "$out/exit" 2>/dev/null)" = 3 ] && [ "$ahead" -lt 9 ]; then
            ahead=$((ahead + 1))
            continue
        fi
        # The remaining tests. If the guest crashed, its last subtest has crashed.
        rest=$(igt_rest "$out/results" "$out/todo")
        if [ -n "$rest" ] && [ ! -s "$out/exit" ] && ! tail -n 1 "$out/results" | grep -q '^HANG'; then
            lost=$(cat "$out/progress" 2>/dev/null || true)
            cut -f1 <<<"$rest" | grep -qxF -- "$lost" || lost=$(head -n 1 <<<"$rest" | cut -f1)
            printf 'DIED\t%s\t-\t%s\n' "$lost" \
                "$(dmesg_bad "$out/serial.log" | head -n 1 | cut -c1-200)" >>"$dir/results.tsv"
            rest=$(igt_rest <(printf 'DIED\t%s\n' "$lost") - <<<"$rest")
        elif [ -n "$said" ]; then
            printf '%s\t%s\n' "guest-$boot" "$said" >>"$dir/guests.tsv"
            # The runner itself ended at the first test, and would do so again.
            if [ -n "$rest" ] && [ ! -s "$out/results" ] && [ -s "$dir/results.tsv" ]; then
                lost=$(head -n 1 <<<"$rest" | cut -f1)
                printf 'DIED\t%s\t-\t%s\n' "$lost" "the runner ended: see guest-$boot/output.txt" >>"$dir/results.tsv"
                rest=$(igt_rest <(printf 'DIED\t%s\n' "$lost") - <<<"$rest")
            fi
        fi
        printf '%s' "${rest:+$rest
}" >"$dir/todo"
        say "guest $boot ended: $(wc -l <"$dir/results.tsv") of $count tests"
        # no result at all: the next guest would have none either
        if [ -n "$rest" ] && [ "$(wc -l <"$dir/results.tsv")" = 0 ]; then
            say "the guest does not come up: $said"
            return 1
        fi
    done
}

# igt_rest RESULTS TODO: prints the tests of TODO without a result.
# shellcheck disable=SC2016 # awk
igt_rest() {
    awk -F'\t' 'FILENAME == ARGV[1] { done[$2]; next } !($1 in done)' "$1" "$2"
}

# igt_judge RESULTS EXPECTED [BLANKS]: prints a line for each result: verdict, name,
# reason. EXPECTED: lines `FAIL|SKIP|TIMEOUT|CRASH name reason...`; a name that
# ends in `*` matches all names that begin so and have no line of their own. BLANKS: the separators, for [...].
#   PASS  passed, and EXPECTED does not have it
#   SKIP  skipped or failed as EXPECTED has it, with its reason
#   FAIL  anything else, also a test that passes but is in EXPECTED
# shellcheck disable=SC2016 # awk
igt_judge() {
    awk -F'\t' -v OFS='\t' -v blanks="${3:- \t}" '
        function line(name, at) {
            if (name in kind) return name
            for (at = length(name); at > 0; at--)
                if ((substr(name, 1, at) "*") in kind) return substr(name, 1, at) "*"
            return ""
        }
        FILENAME == ARGV[1] {
            sub(/[[:space:]]*#.*$/, "")
            if (split($0, word, "[" blanks "]+") < 3) next
            kind[word[2]] = word[1]
            text = $0; sub("^[^" blanks "]+[" blanks "]+[^" blanks "]+[" blanks "]+", "", text); reason[word[2]] = text
            next
        }
        {
            said = line($2)
            want = said == "" ? "PASS" : kind[said]
            if ($1 == want && want == "PASS") print "PASS", $2, $3 " s"
            else if ($1 == want) print "SKIP", $2, (want == "SKIP" ? "" : "fails as expected: ") reason[said]
            else if ($1 == "PASS") print "FAIL", $2, "passed, but the list says " want ": " reason[said]
            else print "FAIL", $2, $1 (want == "PASS" ? "" : ", the list says " want) ($4 ? ": " $4 : "")
        }' "$2" "$1"
}

# igt_counts RESULTS: prints `N passed, N skipped, N failed`, without regard to expectations.
igt_counts() {
    awk -F'\t' '{n[$1 == "PASS" || $1 == "SKIP" ? $1 : "FAIL"]++}
        END {printf "%d passed, %d skipped, %d failed\n", n["PASS"], n["SKIP"], n["FAIL"]}' "$1"
}
