# SPDX-License-Identifier: GPL-2.0
# The tests in guests: our driver on each kernel, and the upstream driver on
# the same model.
#
# shellcheck shell=bash

VM_LOG=$OURO_TOP/build/check/vm

# guest_run NAME GUEST-ARGUMENT...: runs one guest. The result NAME/guest passes if the guest ended well with a clean
# kernel log. With REGISTERS the models log register writes.
guest_run() {
    local name=$1 dir=$VM_LOG/${1//\//-}${AGAIN:+-again}
    shift
    rm -rf "$dir"
    if "$VM_DIR/guest" --out "$dir" ${REGISTERS:+--registers} "$@" 2>"$VM_LOG/${name//\//-}.err"; then
        result PASS "$name/guest-and-dmesg"
    else
        result FAIL "$name/guest-and-dmesg" "$(tr '\n' ';' <"$VM_LOG/${name//\//-}.err" | cut -c1-300)"
    fi
    GUEST_DIR=$dir
}

# The results of each program of /tests (TAP), and of KUnit.
guest_results() {
    local name=$1 file program
    for file in "$GUEST_DIR"/tap/*.txt; do
        [ -e "$file" ] || continue
        program=$(basename "$file" .txt)
        results_tap "$name/$program" "$file" || result FAIL "$name/$program" "no TAP: see ${file#"$OURO_TOP"/}"
        results_cover "$file"
        # A program whose plan has more tests than results has crashed.
        [ ! -e "$GUEST_DIR/tap/$program.exit" ] || case $(cat "$GUEST_DIR/tap/$program.exit") in
            0 | 4) ;;
            1) grep -q '^not ok' "$file" || result FAIL "$name/$program/exit" "ended with 1" ;;
            *) result FAIL "$name/$program/exit" "ended with $(cat "$GUEST_DIR/tap/$program.exit")" ;;
        esac
    done
}

# Rules of the documents that a client's batch can break; the hostile batches of
# the tests do. All other rules are the driver's. (Before the reset of a hung
# engine, the driver moves the head and clears the error though the engine is not
# idle: there is no other way to reset it.)
CLIENT_RULES='blt|flush-dw-bit5|unaligned-qword|reserved|reserved-post-sync|privilege|chained-privilege|client-register'
CLIENT_RULES+='|ring-only|arbitration-off|many-events|cs-mchbar|srm-forbidden|update-gtt|bare-stall|flush-prelude'
CLIENT_RULES+='|tlb-without-post-sync|big-page-uneven|head-write-enabled|error-persists'

# model_rules NAME [clients]: fails if the model's report has a broken rule of the driver or an
# undocumented register. `clients`: unmodified user space has run, to which GPU_CLIENTS_RULES and
# GPU_CLIENTS_REGISTERS belong; the latter must be in the report.
model_rules() {
    local name=$1 clients=${2:-} file broken rules=$CLIENT_RULES registers='' unknown
    if [ -n "$clients" ]; then
        rules+=${GPU_CLIENTS_RULES:+|${GPU_CLIENTS_RULES// /|}} registers=$GPU_CLIENTS_REGISTERS
    fi
    for file in "$GUEST_DIR"/model-*.json; do
        if [ ! -s "$file" ]; then
            result FAIL "$name/rules" "the model left no report"
            continue
        fi
        broken=$(awk '/"lints": \{$/ {on = 1; next} on && /\}/ {exit} on {gsub(/[",:]/, ""); print $1 "=" $2}' "$file" |
            grep -vE "^($rules)=" | xargs)
        unknown=$(sed -nE 's/^ *"offset": "0x0*([0-9a-f]+)".*/\1/p' "$file" | sort | xargs)
        if [ "$unknown" != "$registers" ]; then
            broken+=" undocumented registers: ${unknown:-none}${registers:+, not $registers}"
        elif [ -z "$registers" ] && ! grep -qE '"undocumented": \[\]' "$file"; then
            broken+=" undocumented registers"
        fi
        if [ -z "$broken" ]; then
            result PASS "$name/rules/$(basename "$file" .json)"
        else
            result FAIL "$name/rules/$(basename "$file" .json)" "$broken"
        fi
    done
}

# submission_cost NAME: the register accesses of asynchronous submissions on the engines of
# GPU_COSTS, as `make run` measured them: one posted write each (submissions that become ready
# together may share one), and no other accesses but those that arm an interrupt, which the
# report counts, and a few for interrupts of earlier requests.
submission_cost() {
    local name=$1 report=$GUEST_DIR/report.txt engine bad
    for engine in $GPU_COSTS; do
        bad=$(awk -v engine="$engine" '
            $1 == "cost" && $2 == engine {
                n = $3; seen = 1
                for (i = 4; i <= NF; i++) {
                    if ($(i + 1) == "port") port = $i
                    if ($(i + 1) == "other") other = $i
                    if ($(i + 1) == "reads" && $(i + 2) == "each;") reads = $i
                    if ($(i + 1) == "interrupts" && $(i + 2) ~ /armed/) armed = $i
                }
                if (port > 1.0) print port " port writes each"
                if (other * n > armed + 4.7) print other " other writes each"
                if (reads * n > armed + 4.7) print reads " reads each"
            }
            END { if (!seen) print "not in the report" }' "$report" | xargs)
        if [ -z "$bad" ]; then
            result PASS "$name/draw/cost-$engine"
        else
            result FAIL "$name/draw/cost-$engine" "$bad"
        fi
    done
    sed -nE 's/^(pixels|blits) +(.*)$/picture: \1 \2/p' "$report" >>"$RESULTS/$UNIT.cover"
}

# lists_work NAME: on chips with execlists, the counters of `make run`: contexts preempted each other, objects moved
# between memory regions, and each list was loaded by one write.
lists_work() {
    local name=$1 report=$GUEST_DIR/report.txt bad
    grep -q '^device .* backend gen12,' "$report" || return 0
    bad=$(awk '
        $1 == "lists" {
            for (i = 2; i < NF; i++) {
                if ($(i + 1) == "loads") loads = $i
                if ($(i + 1) == "port") writes = $i
                if ($(i + 1) == "preemptions,") preemptions = $i
            }
        }
        $1 == "migrations" { moves = $2 }
        END {
            if (!loads || loads != writes) print loads + 0 " loads by " writes + 0 " writes"
            if (!preemptions) print "no preemption"
            if (!moves) print "no migration"
        }' "$report" | xargs)
    if [ -z "$bad" ]; then
        result PASS "$name/draw/lists"
    else
        result FAIL "$name/draw/lists" "$bad"
    fi
}

# Arguments of all guests of a kernel. The time limits are for guests that hang: a busy host is many times
# slower than an idle one.
guest_common() {
    local gpu=$1 kernel=$2 limit=1800
    [ "$kernel" != debug ] || limit=5400
    GUEST_COMMON=(--gpu "$gpu" --kernel "$kernel" --timeout "$limit"
        --add "$BIN_DIR/ouro-draw" --add "$SELFTESTS/order" --add "$VM_DIR/guest-tests/run-tests.sh"
        --add "$VM_DIR/guest-tests/sleep.sh")
}

# kselftests_for DRIVER DIR: copies the programs for this interface to DIR.
kselftests_for() {
    local driver=$1 dir=$2 list other
    rm -rf "$dir"
    mkdir -p "$dir"
    find "$SELFTESTS" -maxdepth 1 -type f -executable -exec cp {} "$dir/" \; 2>/dev/null || true
    for list in "$VM_DIR"/guest-tests/kselftests-*-only; do
        [ "$list" != "$VM_DIR/guest-tests/kselftests-$driver-only" ] || continue
        while read -r other _; do rm -f "$dir/$other"; done <"$list"
    done
}

# tests_only DIR NAMES: removes all other programs from DIR, except their helpers; without names, none.
tests_only() {
    local dir=$1 names=$2 file name
    for file in ${names:+"$dir"/*}; do
        name=$(basename "$file" .sh)
        [[ $file == *.helper || " $names " == *" $name "* || " $names " == *" ${name#zz-} "* ]] || rm -f "$file"
    done
}

# vm_tests GPU KERNEL DIR: copies all programs for the GPU to DIR, also those of GPU_WAITS; sets LONGER to the variables of
# longer runs (testing.rst), and to that of GPU_AFTER_SCAN.
vm_tests() {
    local gpu=$1 kernel=$2 dir=$3 file variable
    gpu_read "$gpu" "$kernel"
    kselftests_for "$GPU_DRIVER" "$dir"
    cp "$VM_DIR"/guest-tests/lifecycle.sh "$dir/zz-lifecycle.sh"
    cp "$VM_DIR"/guest-tests/examples.sh "$dir/"
    for file in {,rust-}{hello,store,copy}; do cp "$EXAMPLES/$file" "$dir/$file.helper"; done
    for file in $GPU_LEFT_OUT; do rm -f "$dir/$file" "$dir/zz-$file.sh"; done
    tests_only "$dir" "$GPU_ONLY"
    LONGER=${GPU_AFTER_SCAN:+"export OURO_AFTER_SCAN='$GPU_AFTER_SCAN'; "}
    for variable in $GPU_TURNS; do
        file=${variable%%=*}
        [ -n "${!file:-}" ] || LONGER+="export $variable; "
    done
    for variable in OURO_LOADS OURO_UNBINDS OURO_STRESS OURO_CHAOS OURO_MANY OURO_TRIES OURO_ROUNDS OURO_SEED OURO_PROBES \
        OURO_REMOVALS OURO_CONTEXTS OURO_REWRITES OURO_BEHIND OURO_PLACES OURO_RACES OURO_TABLES OURO_BACK OURO_PAGES \
        OURO_IMAGES OURO_RESETS OURO_MEMCG OURO_REQUESTS; do
        [ -z "${!variable:-}" ] || LONGER+="export $variable=${!variable}; "
    done
}

# check_waits GPU KERNEL: the programs of GPU_WAITS. They mostly wait for time to pass (until a hang is detected),
# and leave the processors to other guests.
check_waits() {
    local gpu=$1 kernel=$2 name=$1/$2 tests
    results_begin "vm-$gpu-$kernel-waits"
    mkdir -p "$VM_LOG"
    tests=$VM_LOG/tests-$gpu-$kernel-waits
    vm_tests "$gpu" "$kernel" "$tests"
    tests_only "$tests" "$GPU_WAITS"
    guest_common "$gpu" "$kernel"
    guest_run "$name/waits" "${GUEST_COMMON[@]}" --model-args "$GPU_TESTS_MODEL $GPU_WAITS_MODEL" --tests "$tests" -- sh -c \
        "$LONGER"'OURO_SLEEP="sh /bin/sleep.sh" sh /bin/run-tests.sh'
    guest_results "$name"
    model_rules "$name/waits"
    # make run and check-gl search the log for this line
    case " $GPU_WAITS " in
        *" hang "*)
            if grep -qE "$RESET_LINE" "$GUEST_DIR/dmesg.txt"; then
                result PASS "$name/waits/the log says that an engine was reset"
            else
                result FAIL "$name/waits/the log says that an engine was reset" "no line is like RESET_LINE of lib/verdict.sh"
            fi
            ;;
    esac
}

# check_vm GPU KERNEL: the picture, if GPU_PICTURE, and all programs except those of check_waits.
check_vm() {
    local gpu=$1 kernel=$2 name=$1/$2 tests file
    results_begin "vm-$gpu-$kernel"
    mkdir -p "$VM_LOG"
    tests=$VM_LOG/tests-$gpu-$kernel
    vm_tests "$gpu" "$kernel" "$tests"
    for file in $GPU_WAITS; do rm -f "$tests/$file" "$tests/zz-$file.sh"; done
    guest_common "$gpu" "$kernel"

    # the picture, then all other tests; KUnit ran when the module was loaded
    local job=${GPU_PICTURE:+'ouro-draw --out /out; '}
    guest_run "$name" "${GUEST_COMMON[@]}" --model-args "$GPU_TESTS_MODEL" --tests "$tests" -- sh -c \
        "$LONGER$job"'OURO_SLEEP="sh /bin/sleep.sh" sh /bin/run-tests.sh'
    [ -z "$job" ] || draw_results "$name" "$gpu"
    guest_results "$name"
    model_rules "$name"
    results_ktap "$name/kunit" "$GUEST_DIR/dmesg.txt" || result FAIL "$name/kunit" "no KUnit result in dmesg.txt"
}

# draw_results NAME GPU: the results of the picture.
draw_results() {
    local name=$1 gpu=$2 file
    for file in "$gpu.png" report.txt; do
        if [ -s "$GUEST_DIR/$file" ]; then
            result PASS "$name/draw/$file"
        else
            result FAIL "$name/draw/$file" "not written: see ${GUEST_DIR#"$OURO_TOP"/}/output.txt"
        fi
    done
    # it is also written for a wrong picture
    if grep -q '^pixels .*: all right$' "$GUEST_DIR/report.txt"; then
        result PASS "$name/draw/pixels"
    else
        result FAIL "$name/draw/pixels" "$(grep -E '^(WRONG|resets) ' "$GUEST_DIR/report.txt" | head -n 3 | xargs)"
    fi
    submission_cost "$name"
    lists_work "$name"
}

# check_pair GPU KERNEL: two GPUs in one guest, with INTx instead of MSI, the smaller page table, and a simulated
# region of device memory each.
check_pair() {
    local gpu=$1 kernel=$2 name=$1/$2/two-intx
    results_begin "vm-$gpu-$kernel-pair"
    mkdir -p "$VM_LOG"
    guest_common "$gpu" "$kernel"
    OURO_GUEST_APPEND="pci=nomsi kmemleak=off" guest_run "$name" --gpu "$gpu" "${GUEST_COMMON[@]}" \
        --add "$SELFTESTS/unbind" --add "$SELFTESTS/region" --add "$SELFTESTS/usage" \
        --add "$SELFTESTS/moving" --module-args test_region_mb=8 \
        --add "$SELFTESTS/tiling" --add "$SELFTESTS/aperture" --model-args "--gtt-mb 1 --aperture-mb 64 --swizzle" \
        --add "$VM_DIR/guest-tests/two-gpus.sh" -- sh /bin/two-gpus.sh
    results_tap "$name" "$GUEST_DIR/output.txt" || result FAIL "$name" "no TAP: see output.txt"
    model_rules "$name"
}

# tests_for NAME PROGRAM...: makes a folder with these kselftests, for the guest NAME.
tests_for() {
    local tests=$VM_LOG/tests-$1 program
    shift
    rm -rf "$tests"
    mkdir -p "$tests"
    for program; do cp "$SELFTESTS/$program" "$tests/"; done
    echo "$tests"
}

# check_chaos GPU KERNEL: the programs of GPU_CHAOS on a model with random faults (model.rst, "Chaos"), the same in each
# run: completions and interrupts are late, repeated or lost. The tests wait for results without a time limit.
check_chaos() {
    local gpu=$1 kernel=$2 name=$1/$2/chaos tests
    gpu_read "$gpu"
    results_begin "vm-$gpu-$kernel-chaos"
    mkdir -p "$VM_LOG"
    # shellcheck disable=SC2086 # words
    tests=$(tests_for "$gpu-$kernel-chaos" $GPU_CHAOS)
    guest_run "$name" --gpu "$gpu" --kernel "$kernel" --timeout 1800 --model-args "--chaos ${OURO_SEED:-2026}" \
        --tests "$tests" --add "$VM_DIR/guest-tests/run-tests.sh" -- sh /bin/run-tests.sh
    guest_results "$name"
}

# check_small GPU KERNEL: the programs of GPU_SMALL on a card with little VRAM, of which the CPU can access a half:
# objects are evicted and moved back all the time. Hangs may be replayed.
check_small() {
    local gpu=$1 kernel=$2 name=$1/$2/small tests
    gpu_read "$gpu"
    results_begin "vm-$gpu-$kernel-small"
    mkdir -p "$VM_LOG"
    # shellcheck disable=SC2086 # words
    tests=$(tests_for "$gpu-$kernel-small" $GPU_SMALL)
    guest_run "$name" --gpu "$gpu" --kernel "$kernel" --timeout 1800 --model-args "--vram-mb 32 --aperture-mb 16" \
        --module-args replay=1 \
        --tests "$tests" --add "$VM_DIR/guest-tests/run-tests.sh" -- sh /bin/run-tests.sh
    guest_results "$name"
    model_rules "$name"
}

# check_global GPU KERNEL: the programs of GPU_GLOBAL with the module's arguments of GPU_GLOBAL_MODULE, so that contexts
# have fewer address spaces than they could have. Sandy Bridge: no PPGTT, which the driver does not use in a guest unless
# iommu=0 says that there is no IOMMU; the model is behind a translating IOMMU, and reports each use of a PPGTT.
check_global() {
    local gpu=$1 kernel=$2 name=$1/$2/global tests
    gpu_read "$gpu"
    results_begin "vm-$gpu-$kernel-global"
    mkdir -p "$VM_LOG"
    # shellcheck disable=SC2086 # words
    tests=$(tests_for "$gpu-$kernel-global" $GPU_GLOBAL)
    guest_run "$name" --gpu "$gpu" --kernel "$kernel" --timeout 1800 --module-args "$GPU_GLOBAL_MODULE" \
        ${GPU_GLOBAL_MODEL:+--model-args "$GPU_GLOBAL_MODEL"} --tests "$tests" --add "$VM_DIR/guest-tests/run-tests.sh" -- \
        env "OURO_${GPU_GLOBAL_MODULE^^}" sh /bin/run-tests.sh
    if grep -q "ouro .*: $GPU_GLOBAL_SAYS" "$GUEST_DIR/dmesg.txt"; then
        result PASS "$name/log"
    else
        result FAIL "$name/log" "the log does not say so: see ${GUEST_DIR#"$OURO_TOP"/}/dmesg.txt"
    fi
    guest_results "$name"
    model_rules "$name"
}

# check_first GPU KERNEL: the first bring-up on a card that shows the firmware's picture: the driver ignores it, probes it,
# and brings it up step by step; a card that it refuses, where there is one, keeps the picture.
check_first() {
    local gpu=$1 kernel=$2 name=$1/$2/first tests
    gpu_read "$gpu"
    results_begin "vm-$gpu-$kernel-first"
    mkdir -p "$VM_LOG"
    tests=$(tests_for "$gpu-$kernel-first" probe)
    OURO_GUEST_APPEND=kmemleak=off guest_run "$name" --gpu "$gpu" --kernel "$kernel" --timeout 1800 --no-load \
        --add "$BIN_DIR/ouro-draw" --add "$SELFTESTS/order" \
        --tests "$tests" --add "$VM_DIR/guest-tests/bringup.sh" -- sh /bin/bringup.sh
    results_tap "$name" "$GUEST_DIR/output.txt" || result FAIL "$name" "no TAP: see output.txt"
    model_rules "$name"
    if [ -n "$GPU_LATE" ]; then
        guest_run "$name/late" --gpu "$gpu" --kernel "$kernel" --timeout 1800 --model-args "$GPU_LATE" \
            --tests "$(tests_for "$gpu-$kernel-late" context)" --add "$VM_DIR/guest-tests/run-tests.sh" -- sh /bin/run-tests.sh
        guest_results "$name/late"
        model_rules "$name/late"
        if grep -q "ouro .*: $GPU_LATE_SAYS" "$GUEST_DIR/dmesg.txt"; then
            result PASS "$name/late/log"
        else
            result FAIL "$name/late/log" "the log does not say so: see ${GUEST_DIR#"$OURO_TOP"/}/dmesg.txt"
        fi
    fi
    [ -n "$GPU_REFUSED" ] || return
    guest_run "$name/refused" --gpu "$gpu" --kernel "$kernel" --timeout 1800 --no-load \
        --model-args "$GPU_REFUSED_MODEL" --tests "$tests" --add "$VM_DIR/guest-tests/bringup.sh" -- sh /bin/bringup.sh "$GPU_REFUSED"
    results_tap "$name/refused" "$GUEST_DIR/output.txt" || result FAIL "$name/refused" "no TAP: see output.txt"
    model_rules "$name/refused"
}

# check_none: the module without a GPU.
check_none() {
    results_begin vm-none
    mkdir -p "$VM_LOG"
    guest_run none/plain/no-gpu --gpu none --kernel plain --timeout 1800 -- \
        sh -c '! ls /dev/dri/renderD128 2>/dev/null'
}

# peer_file NAME SUFFIX: prints the file of guest-tests for the GPU, else for its driver.
peer_file() {
    local file=$VM_DIR/guest-tests/$1-$gpu$2
    [ -e "$file" ] || file=$VM_DIR/guest-tests/$1-$driver$2
    echo "$file"
}

# A file for each GPU with the differences between the register writes of ouro and of the upstream driver, and reasons.
PEER_LISTS=$OURO_TOP/tools/testing/peer

# registers_wanted GPU: prints yes if its register writes are compared.
registers_wanted() { if [ -e "$PEER_LISTS/reasons-$1" ]; then echo yes; fi; }

# check_registers GPU PEER-GUEST: compares the register writes of the upstream driver in that guest with those of ouro in a
# short guest: load, work on each engine, unload.
check_registers() {
    local gpu=$1 peer=$2 name=$1/registers log=$VM_LOG/registers-$1.tap
    guest_run "$name" --gpu "$gpu" --kernel plain --timeout 600 --model-args "$GPU_HABITS $GPU_PEER_REAL" \
        --add "$SELFTESTS/engines" -- engines
    enter "$BIN_DIR/ouro-peer" --peer "$peer/model-0.registers" --ours "$GUEST_DIR/model-0.registers" \
        --reasons "$PEER_LISTS/reasons-$gpu" --order "$PEER_LISTS/order-$gpu" >"$log" 2>&1 || true
    results_tap "$name" "$log" || result FAIL "$name" "no TAP: see ${log#"$OURO_TOP"/}: $(tail -n 1 "$log")"
}

# check_peer GPU: the upstream driver on our model.
check_peer() {
    local gpu=$1 name=$1/peer driver file
    gpu_read "$gpu"
    driver=$GPU_DRIVER
    results_begin "peer-$gpu"
    mkdir -p "$VM_LOG"
    file=$(peer_file peer .sh)
    # The upstream driver logs operations that take longer than on a card, and a
    # host that stops for a moment causes the same. Errors of the model are logged
    # in each run.
    local attempt REGISTERS
    REGISTERS=$(registers_wanted "$gpu")
    for attempt in 1 2 3; do
        guest_run "$name" --gpu "$gpu" --kernel peer --module "$driver" --memory 1G --timeout 600 \
            --model-args "$GPU_HABITS $GPU_PEER_REAL $GPU_PEER_SLOW" --module-args "$GPU_PEER_MODULE" --add "$BIN_DIR/ouro-draw" \
            --add "$BIN_DIR/ouro-truth" --add "$SELFTESTS/radeon_memory" --add "$SELFTESTS/discrete" --add "$file:peer.sh" -- sh /bin/peer.sh
        if [ "$attempt" = 3 ] || ! grep -q '^not ok .* has no complaint' "$GUEST_DIR/output.txt"; then break; fi
        say "the upstream $driver complained; the guest runs again:"
        grep '^# ' "$GUEST_DIR/output.txt" >&2
        told_again "$name/$driver has no complaint" "$(grep '^# ' "$GUEST_DIR/output.txt" | head -n 3 | cut -c1-200 | paste -sd '|')"
    done
    results_tap "$name" "$GUEST_DIR/output.txt" || result FAIL "$name" "no result: see ${GUEST_DIR#"$OURO_TOP"/}/output.txt"
    results_cover "$GUEST_DIR/output.txt"
    # the results of the streams by that driver, and on the model without a driver
    expect "$name/truth" "$VM_LOG/truth-$gpu.log" enter "$BIN_DIR/ouro-compare" "$GUEST_DIR/truth.json"
    [ -z "$REGISTERS" ] || check_registers "$gpu" "$GUEST_DIR"
    REGISTERS=''

    # the kselftests of behaviour that both drivers promise must pass with the upstream driver, or they test our
    # own choices; the others test limits, files and resets in which the drivers differ
    local tests
    # shellcheck disable=SC2046 # words
    tests=$(tests_for "$gpu-peer" $(<"$(peer_file peer-kselftests '')"))
    # Without timeslices: if work of a virtual engine is in a list behind a batch that cannot be preempted, the upstream
    # driver resets the engine after 640 ms. On a faster machine the other engine would have taken the work.
    local slices='for f in /sys/class/drm/card*/engine/*/timeslice_duration_ms; do [ ! -e "$f" ] || echo 0 >"$f"; done'
    for attempt in 1 2 3; do
        guest_run "$name/kselftest" --gpu "$gpu" --kernel peer --module "$driver" --memory 1G --timeout 600 \
            --model-args "$GPU_HABITS $GPU_PEER_REAL" --module-args "$GPU_PEER_MODULE" --add "$VM_DIR/guest-tests/run-tests.sh" \
            --tests "$tests" -- sh -c "$slices; sh /bin/run-tests.sh"
        # i915 fails to load if its first contexts take more than a fifth of a second
        grep -qs 'declaring it wedged' "$GUEST_DIR/dmesg.txt" || break
        [ "$attempt" = 3 ] || told_again "$name/kselftest/guest-and-dmesg" "i915 gave up while it came up"
    done
    guest_results "$name/kselftest"
    # answers of the upstream driver do not count as covered
    : >"$RESULTS/$UNIT.cover"
}

# check_selftests GPU: the short list of i915's own selftests on our model.
check_selftests() {
    local gpu=$1 name=$1/peer/selftests verdict test reason log=$VM_LOG/selftests-$1.log
    gpu_read "$gpu"
    results_begin "selftests-$gpu"
    mkdir -p "$VM_LOG"
    if ! step_ready kernel@selftest; then
        result SKIP "$name" "their kernel is not built: make check-peer SELFTESTS=1 GPU=$gpu builds it in some 10 minutes"
        return 0
    fi
    "$VM_DIR/selftests" --gpu "$gpu" --only "$GPU_SELFTESTS" >"$log" 2>&1 || true
    if [ ! -s "$OURO_TOP/build/selftests-peer/$gpu/judged.tsv" ]; then
        result FAIL "$name" "no result: see ${log#"$OURO_TOP"/}"
        return 0
    fi
    while IFS=$'\t' read -r verdict test reason; do
        result "$verdict" "$name/$test" "$reason"
    done <"$OURO_TOP/build/selftests-peer/$gpu/judged.tsv"
}

# check_bench GPU: compares the cost of ioctls with the recorded figures.
check_bench() {
    local gpu=$1 name=$1/bench verdict figure reason
    results_begin "bench-$gpu"
    mkdir -p "$VM_LOG"
    if bench_guest "$VM_LOG/bench-$gpu" "$gpu" --kernel plain 2>"$VM_LOG/bench-$gpu.err"; then
        while IFS=$'\t' read -r verdict figure reason; do
            result "$verdict" "$name/$figure" "$reason"
        done < <(bench_judge "$BENCH_FIGURES-$gpu" "$VM_LOG/bench-$gpu/figures.txt")
    else
        result FAIL "$name/guest" "$(tr '\n' ';' <"$VM_LOG/bench-$gpu.err" | cut -c1-300)"
    fi
}

# check_igt GPU: IGT's core list.
check_igt() {
    local gpu=$1 name=$1/igt verdict test reason
    results_begin "igt-$gpu"
    mkdir -p "$VM_LOG"
    if step_ready clients@igt; then
        igt_run "$(igt_core "$gpu")" "$VM_LOG/igt-$gpu" 60 --gpu "$gpu" --kernel plain ||
            result FAIL "$name" "the guest does not come up: see build/check/vm/igt-$gpu"
        while IFS=$'\t' read -r verdict test reason; do
            result "$verdict" "$name/$test" "$reason"
        done < <(igt_judge "$VM_LOG/igt-$gpu/results.tsv" "$IGT_DIR/expected-$gpu")
        while IFS=$'\t' read -r test reason; do
            result FAIL "$name/$test" "$reason"
        done <"$VM_LOG/igt-$gpu/guests.tsv"
        # a monitor that polls once a second may miss the client
        if [ -n "${OURO_GPUTOP:-}" ]; then
            guest_run "$gpu/gputop" --gpu "$gpu" --kernel plain --timeout 600 --memory 1G \
                --root "$(clients_tree igt)" --add "$VM_DIR/guest-tests/run-gputop.sh" -- sh /bin/run-gputop.sh
            results_tap "$gpu/gputop" "$GUEST_DIR/output.txt" ||
                result FAIL "$gpu/gputop" "no TAP: see output.txt"
        else
            result SKIP "$gpu/gputop" "it may miss its client on a slow machine: OURO_GPUTOP=1 runs it"
        fi
    else
        result SKIP "$name" "IGT's packages cannot be had from this mirror"
    fi
}

# check_mesa GPU: Mesa and libva, unmodified.
check_mesa() {
    local gpu=$1 name=$1/mesa
    results_begin "mesa-$gpu"
    mkdir -p "$VM_LOG"
    if ! step_ready clients@mesa; then
        result SKIP "$name" "Mesa's packages cannot be had from this mirror"
    elif expect "$name/build" "$VM_LOG/mesa-build.log" build_mesa; then
        gpu_read "$gpu"
        mesa_run "$name" "$gpu" --kernel plain
        model_rules "$name" clients
    fi
}

# check_piglit GPU: piglit's core list, through unmodified Mesa.
check_piglit() {
    local gpu=$1 name=$1/piglit verdict test reason
    results_begin "piglit-$gpu"
    mkdir -p "$VM_LOG"
    if ! step_ready clients@mesa; then
        result SKIP "$name" "piglit's packages cannot be had from this mirror"
        return
    fi
    piglit_run "$PIGLIT_DIR/core.list" "$VM_LOG/piglit-$gpu" 60 --gpu "$gpu" --kernel plain ||
        result FAIL "$name" "the guest does not come up: see build/check/vm/piglit-$gpu"
    while IFS=$'\t' read -r verdict test reason; do
        result "$verdict" "$name/$test" "$reason"
    done < <(igt_judge "$VM_LOG/piglit-$gpu/results.tsv" "$PIGLIT_DIR/expected" '\t')
    while IFS=$'\t' read -r test reason; do
        result FAIL "$name/$test" "$reason"
    done <"$VM_LOG/piglit-$gpu/guests.tsv"
}
