# SPDX-License-Identifier: GPL-2.0
# The step engine of the set-up. A step makes one folder of the cache. Its name
# has the step's name and a hash of its inputs, so that a second checkout finds
# it, and a changed input makes another folder.
#
# A step NAME (or NAME@ARG) is described by
#   text_NAME ARG        one line for the terminal
#   key_NAME ARG         hash of the inputs; may look into earlier steps
#   mb_NAME ARG          free space that it needs, in MB
#   secs_NAME ARG        estimated seconds on two processors (setup.rst has the table)
#   run_NAME ARG DIR     makes it in DIR
#   resume_NAME          defined if an interrupted run may continue in its folder
#   moved_NAME ARG DIR   defined if the folder contains its own path: corrects it if the cache was moved
#
# A step without resume_NAME works in an empty DIR.tmp, and the complete folder
# is renamed. A step with it (a kernel build: make knows its state, and its
# output folder cannot be moved) works in place.
# Both are complete when .done exists, which is written last, by rename.
#
# Each step runs under flock. Its children also hold the lock: if the set-up is
# killed and they continue, the next set-up waits until they have ended, and does
# not work in the same folder at the same time.
#
# shellcheck shell=bash

STEP_CHILD=

# step_dir STEP: prints its folder.
step_dir() {
    local name=${1%%@*} arg=
    [ "$1" = "$name" ] || arg=${1#*@}
    local key
    key=$("key_$name" "$arg") || return 1
    printf '%s/%s/%s%s\n' "$OURO_CACHE" "$name" "${arg:+$arg-}" "$key"
}

step_ready() {
    [ -e "$(step_dir "$1")/.done" ]
}

# step_moved STEP: runs moved_NAME for a complete step.
step_moved() {
    local name=${1%%@*} arg=''
    [ "$1" = "$name" ] || arg=${1#*@}
    if declare -F "moved_$name" >/dev/null; then "moved_$name" "$arg" "$(step_dir "$1")"; fi
}

# The files of an ordinary user's build root belong to subordinate ids, and can
# only be deleted with the same mapping.
remove_tree() {
    [ -e "$1" ] || return 0
    rm -rf -- "$1" 2>/dev/null && return 0
    am_root || unshare --user --map-auto --map-root-user -- rm -rf -- "$1"
    [ ! -e "$1" ] || die "cannot remove $1" "remove it by hand, then start again"
}

# space_wanted WHAT FOLDER MB: ends the script if the folder's disk has less.
space_wanted() {
    local free
    free=$(df -Pm "$2" | awk 'NR==2 {print $4}')
    [ "$free" -lt "$3" ] || return 0
    die "$1: not enough disk space at $2: $free MB free, $3 MB wanted" \
        "make room (old folders below $OURO_CACHE/target are rebuilt when they are needed), or set OURO_CACHE to a folder on another disk"
}

step_stop() {
    trap - INT TERM HUP
    [ -z "$STEP_CHILD" ] || kill -TERM -- "-$STEP_CHILD" 2>/dev/null || true
    say ""
    say "ouro: set-up stopped; the same command goes on from here"
    exit 130
}

# Prints the remedy for a failed step, by the first match in its log.
step_remedy() {
    local log=$1 free
    free=$(df -Pm "$OURO_CACHE" | awk 'NR==2 {print $4}')
    if [ "${free:-0}" -lt 64 ] || grep -qsi 'no space left on device' "$log"; then
        echo "the disk is full ($free MB free at $OURO_CACHE): make room, or set OURO_CACHE to a folder on another disk"
    elif grep -qsE 'Temporary failure resolving|Could not resolve|Could not connect|Connection (timed out|refused)|Network is unreachable|Failed to fetch' "$log"; then
        echo "the package mirror could not be reached: check network and proxy (http_proxy, https_proxy), then start again"
    elif grep -qsE 'NO_PUBKEY|not signed|Missing key|EXPKEYSIG' "$log"; then
        echo "the mirror's signature is not known here: update the package debian-archive-keyring of this machine"
    elif grep -qsE 'Unable to locate package|has no installation candidate' "$log"; then
        echo "the mirror lacks a package: use a full, current Debian mirror in the apt sources of this machine"
    elif grep -qsE '(^|: )ouro: ' "$log"; then
        grep -hE '(^|: )ouro: ' "$log" | tail -n 1 | sed 's/^.*ouro: //'
    elif grep -qsE 'Operation not permitted|unshare failed' "$log"; then
        echo "mounting was refused: run as root, or allow user namespaces on this machine (containers need --privileged)"
    else
        echo "start again: finished steps are kept. If it fails the same way, read the log"
    fi
}

# about SECONDS: prints a rounded time in words.
about() {
    if [ "$1" -lt 50 ]; then
        echo "about $((($1 + 4) / 5 * 5)) s"
    else
        echo "about $((($1 + 30) / 60)) min"
    fi
}

# step_secs STEP: prints its estimated seconds. The table is for two processors; a kernel's build uses all.
step_secs() {
    local name=${1%%@*} arg='' secs cpus
    [ "$1" = "$name" ] || arg=${1#*@}
    secs=$("secs_$name" "$arg")
    cpus=$(jobs_wanted)
    if [ "$name" = kernel ] && [ "$cpus" != 2 ]; then secs=$((secs * 2 / cpus)); fi
    echo "$secs"
}

# Waits for the step's process, and shows the elapsed time.
step_watch() {
    local pid=$1 head=$2 secs=$3 begin=$SECONDS last=0 now
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        now=$((SECONDS - begin))
        [ "$now" -gt "$last" ] || continue
        if [ -t 2 ]; then
            printf '\r%s  %s of %s ' "$head" "$(clock "$now")" "$(about "$secs")" >&2
            last=$now
        elif [ "$now" -ge $((last + 60)) ]; then
            say "$head  $(clock "$now") of $(about "$secs")"
            last=$now
        fi
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# run_step STEP HEAD: makes a step unless it is complete.
run_step() {
    local step=$1 head=$2 name=${1%%@*} arg='' dir lock log work secs rc=0 begin=$SECONDS
    [ "$step" = "$name" ] || arg=${step#*@}
    dir=$(step_dir "$step") || die "cannot tell the inputs of '$step'"
    head="$head $("text_$name" "$arg")"
    [ ! -e "$dir/.done" ] || return 0
    mkdir -p "$(dirname "$dir")" "$OURO_CACHE/log" || die "cannot write to $OURO_CACHE" \
        "make room or set OURO_CACHE to another folder"

    exec {lock}>>"$dir.lock"
    if ! flock -n "$lock"; then
        say "$head: waiting for another set-up that makes this step"
        flock "$lock"
    fi
    if [ -e "$dir/.done" ]; then
        exec {lock}>&-
        say "$head: made by another set-up"
        return 0
    fi

    space_wanted "$head" "$OURO_CACHE" "$("mb_$name" "$arg")"

    log=$OURO_CACHE/log/$name${arg:+-$arg}.log
    work=$dir
    if ! declare -F "resume_$name" >/dev/null; then
        work=$dir.tmp
        remove_tree "$work"
    fi
    mkdir -p "$work"
    secs=$(step_secs "$step")
    [ -t 2 ] || say "$head: $(about "$secs") ..."
    set -m
    (
        set -e
        "run_$name" "$arg" "$work"
    ) >"$log" 2>&1 </dev/null &
    STEP_CHILD=$!
    set +m
    step_watch "$STEP_CHILD" "$head" "$secs"
    wait "$STEP_CHILD" || rc=$?
    STEP_CHILD=
    if [ "$rc" = 0 ]; then
        : >"$work/.done.tmp" && mv "$work/.done.tmp" "$work/.done" || rc=1
    fi
    if [ "$rc" = 0 ] && [ "$work" != "$dir" ]; then
        mv -T "$work" "$dir" || rc=1
    fi
    if [ "$rc" != 0 ]; then
        say "$head: FAILED after $(clock $((SECONDS - begin)))"
        tail -n 12 "$log" | sed 's/^/    | /' >&2
        die "set-up failed at '$step'" "log:    $log" "remedy: $(step_remedy "$log")"
    fi
    exec {lock}>&-
    say "$head: done in $(clock $((SECONDS - begin)))"
}

# run_steps STEP...: makes the steps that are not complete, in order, after a message with their number and time.
run_steps() {
    local n=0 total=0 secs=0 ready=0 step todo=()
    for step in "$@"; do
        # a step whose key depends on an earlier step that is missing counts as missing
        if step_ready "$step" 2>/dev/null; then
            ready=$((ready + 1))
            step_moved "$step"
            continue
        fi
        todo+=("$step")
        secs=$((secs + $(step_secs "$step")))
    done
    total=${#todo[@]}
    [ "$total" -gt 0 ] || return 0
    say "set-up: $total $([ "$total" = 1 ] && echo step || echo steps) to make, $(about "$secs")$(
        [ "$ready" = 0 ] || echo "; $ready from the cache")"
    trap step_stop INT TERM HUP
    for step in "${todo[@]}"; do
        n=$((n + 1))
        run_step "$step" "[$n/$total]"
    done
    trap - INT TERM HUP
}
