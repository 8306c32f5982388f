# SPDX-License-Identifier: GPL-2.0
# Runs lists of piglit's tests, in guests by Mesa's driver of the card, or without a guest by Mesa's software renderer in
# the same user space.
#
# shellcheck shell=bash

# shellcheck disable=SC2034 # for those who source this
PIGLIT_DIR=$OURO_TOP/tools/testing/piglit

# piglit_todo LIST: prints name and command of each test.
piglit_todo() {
    root_run "$(clients_tree mesa)" python3 "$VM_DIR/guest-tests/run-piglit.py" resolve "$1"
}

# piglit_run LIST DIR LIMIT GUEST-ARGUMENT...: runs the tests of the list by boots_run (igt.sh) and run-piglit.py.
piglit_run() {
    local list=$1 dir=$2 limit=$3
    shift 3
    rm -rf "$dir"
    mkdir -p "$dir"
    piglit_todo "$list" >"$dir/todo" || return
    # a batch of twenty tests has one more minute
    boots_run "$dir" "echo 2 >/sys/module/drm/parameters/debug
        cp /bin/run-piglit.py /tmp && chroot /root python3 /tmp/run-piglit.py run /out $limit" \
        --stall $((limit + 380)) --memory 2G --root "$(clients_tree mesa)" --module-args "$MESA_PATIENCE" \
        --add "$VM_DIR/guest-tests/run-piglit.py" "$@"
}

# piglit_software LIST DIR LIMIT: the same by llvmpipe, in the client's root, with results in DIR/results.
piglit_software() {
    rm -rf "$2"
    mkdir -p "$2"
    piglit_todo "$1" >"$2/todo" || return
    root_run "$(clients_tree mesa)" env LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe \
        python3 "$VM_DIR/guest-tests/run-piglit.py" run "$2" "$3"
}

# piglit_beside RESULTS: prints the results (result, name, seconds, reason), with that of the software renderer where it
# differs.
# shellcheck disable=SC2016 # awk
piglit_beside() {
    awk -F'\t' -v OFS='\t' '
        FILENAME == ARGV[1] { software[$2] = $1; next }
        $2 in software && software[$2] != $1 { $4 = $4 ($4 ? "; " : "") "llvmpipe: " software[$2] }
        { print }' "$PIGLIT_DIR/software" "$1"
}
