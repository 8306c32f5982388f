# SPDX-License-Identifier: GPL-2.0
# Runs the upstream driver's own selftests on a model in guests, and compares the results with the recorded ones.
#
# shellcheck shell=bash

# shellcheck disable=SC2034 # for those who source this
SELFTESTS_KNOWN=$OURO_TOP/tools/testing/peer/selftests
# The seed of the tests' random numbers, the same in each run.
SELFTESTS_SEED=2026

# selftests_groups KIND...: prints lines KIND GROUP PARAMETER, in the driver's order, from its parameters igt__LINE__KIND_GROUP.
selftests_groups() {
    local kind
    for kind; do
        enter modinfo -F parmtype "$(step_dir kernel@selftest)/modules/i915.ko" |
            sed -nE "s/^(igt__([0-9]+)__${kind}_([^:]+)):bool$/\2 $kind \3 \1/p" | sort -n | cut -d' ' -f2-
    done
}

# selftests_parse LOG KIND GROUP: prints the results of the group in which the guest crashed.
selftests_parse() {
    # All of the log is read: what writes to a pipe that is closed early fails.
    awk '/selftests: begin / {n = 0} {line[n++] = $0} END {for (i = 0; i < n; i++) print line[i]}' "$1" |
        awk -v kind="$2" -v group="$3" -v ended='' -v bad="$DMESG_BAD" -v fine="$DMESG_FINE" \
            -f "$VM_DIR/guest-tests/selftests.awk"
}

# selftests_rest TODO RESULTS: prints the part of TODO without a result: the groups after the last one with a result, and
# the remaining tests of that group.
selftests_rest() {
    awk -F'\t' '
        FILENAME == ARGV[1] {
            n = split($2, part, "/"); at = part[1] " " part[2]
            done[at] = done[at] (n > 2 ? " " part[n] : ""); next
        }
        { split($0, word, " "); line[++all] = $0; name[all] = word[1] " " word[2]; if (name[all] == at) from = all }
        END { for (i = from ? from : 1; i <= all; i++) print line[i] done[name[i]] }' "$2" "$1"
}

# selftests_show FILE PID: prints the file's contents at each change, until the process ends.
selftests_show() {
    local was='' at
    while kill -0 "$2" 2>/dev/null; do
        at=$(cat "$1" 2>/dev/null) || at=$was
        [ "$at" = "$was" ] || say "  at $at"
        was=$at
        sleep 1
    done
}

# selftests_run DIR STALL TIMEOUT ARGUMENTS GUEST-ARGUMENT...: runs the tests of DIR/todo in as many guests as necessary,
# with results in DIR/results.tsv. ARGUMENTS are the module's. A guest in which no new test begins for STALL seconds is
# ended, and its current test has failed.
selftests_run() {
    local dir=$1 stall=$2 limit=$3 module=$4 boot=0 out rc rest before kind group
    shift 4
    : >"$dir/results.tsv"
    rest=$(cat "$dir/todo")
    while [ -n "$rest" ]; do
        boot=$((boot + 1))
        out=$dir/guest-$boot
        mkdir -p "$out"
        printf '%s\n' "$rest" >"$out/todo"
        printf '%s' "$DMESG_BAD" >"$out/bad"
        printf '%s' "$DMESG_FINE" >"$out/fine"
        : >"$out/results"
        # shellcheck disable=SC2086 # words
        "$VM_DIR/guest" --out "$out" --kernel selftest --timeout 7200 --stall "$stall" --memory 2G \
            --add "$VM_DIR/guest-tests/run-selftests.sh" --add "$VM_DIR/guest-tests/selftests.awk" "$@" -- \
            sh /bin/run-selftests.sh "$limit" "$SELFTESTS_SEED" $module 2>"$out/said" &
        selftests_show "$out/progress" $!
        rc=0
        wait $! || rc=$?
        before=$(wc -l <"$dir/results.tsv")
        cat "$out/results" >>"$dir/results.tsv"
        # Bad lines of the log belong to single tests.
        [ "$(cat "$out/exit" 2>/dev/null)" != 0 ] || break
        # It crashed or was ended within a group; or it could not unload the driver at its end.
        read -r kind group < <(sed -nE 's/^.*selftests: begin ([a-z]+) ([a-z_0-9]+).*/\1 \2/p' "$out/serial.log" | tail -n 1) || true
        if [ -n "${group:-}" ] && [ ! -s "$out/exit" ]; then
            selftests_parse "$out/serial.log" "$kind" "$group" >>"$dir/results.tsv"
            [ "$rc" != 124 ] || sed -i -E "\$s/^DIED(.*)\t[^\t]*$/STUCK\1\tnothing new for $stall s/" "$dir/results.tsv"
        fi
        # no result at all: the next guest would have none either
        if [ "$(wc -l <"$dir/results.tsv")" = "$before" ]; then
            say "the guest does not come up: $(xargs <"$out/said" | cut -c1-300)"
            return 1
        fi
        rest=$(selftests_rest "$out/todo" "$dir/results.tsv")
        # a group that crashed before its first test cannot continue
        [ -n "${group:-}" ] && ! grep -q "^[A-Z]*	$kind/$group/" "$dir/results.tsv" && rest=$(sed 1d <<<"$rest")
        say "guest $boot ended in $kind/$group"
    done
}

# selftests_judge KNOWN RESULTS: prints a line for each test: verdict, name, reason. KNOWN: lines
# `RESULT name [reason...]` for all tests; a line that begins with a blank continues the one before.
#   PASS  passed, as in KNOWN
#   SKIP  did not pass, as in KNOWN, with the reason there
#   FAIL  anything else: another result, a test that is not in KNOWN, one that did not run, a missing reason
selftests_judge() {
    awk -v OFS='\t' '
        FILENAME == ARGV[1] {
            if (/^[ \t]+[^ \t]/ && name != "") { sub(/^[ \t]+/, " "); reason[name] = reason[name] $0; next }
            if (/^#/ || NF < 2) next
            name = $2; want[name] = $1; order[++n] = name
            text = $0; sub(/^[^ ]+ [^ ]+ */, "", text); reason[name] = text
            next
        }
        { split($0, field, "\t"); got[field[2]] = field[1]; why[field[2]] = field[4]
          if (!(field[2] in want)) { want[field[2]] = ""; order[++n] = field[2] } }
        END {
            for (i = 1; i <= n; i++) {
                name = order[i]
                if (want[name] == "") print "FAIL", name, got[name] ", and the list has no such test" (why[name] == "" ? "" : ": " why[name])
                else if (!(name in got)) print "FAIL", name, "it did not run"
                else if (got[name] != want[name])
                    print "FAIL", name, got[name] ", the list says " want[name] (why[name] == "" ? "" : ": " why[name])
                else if (got[name] == "PASS") print "PASS", name, ""
                else if (reason[name] == "") print "FAIL", name, "the list has no reason for " want[name]
                else print "SKIP", name, reason[name]
            }
        }' "$1" "$2"
}

# selftests_record KNOWN RESULTS: writes KNOWN: its first comment, then each test with its result and the earlier
# reason. The lines of a group without any result, which did not run, stay as they are.
selftests_record() {
    local known=$1 results=$2
    [ -e "$known" ] || : >"$known"
    {
        if [ -s "$known" ]; then sed '/^[^#]/,$d' "$known"; else echo "# SPDX-License-Identifier: GPL-2.0"; fi
        awk '
            function group(name) { split(name, part, "/"); return part[1] "/" part[2] }
            FILENAME == ARGV[1] {
                if (/^[ \t]+[^ \t]/ && name != "") { reason[name] = reason[name] "\n" $0; next }
                if (/^#/ || NF < 2) next
                name = $2; text = $0; sub(/^[^ ]+ [^ ]+/, "", text); reason[name] = text
                was[name] = $1; order[++n] = name
                next
            }
            { split($0, field, "\t"); name = field[2]; ran[group(name)] = 1
              if (!(name in result) && !(name in was)) order[++n] = name
              result[name] = field[1] }
            END {
                for (i = 1; i <= n; i++) {
                    name = order[i]
                    if (name in result) print result[name] " " name (result[name] == "PASS" ? "" : reason[name])
                    else if (!(group(name) in ran)) print was[name] " " name reason[name]
                }
            }' "$known" "$results"
    } >"$known.new"
    mv "$known.new" "$known"
}
