# SPDX-License-Identifier: GPL-2.0
# The base of every script of tools/vm: paths, messages, options.
# Sourced, never run. Sets strict mode for the script that sources it.
#
# shellcheck shell=bash

set -euo pipefail

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
OURO_TOP=$(cd "$VM_DIR/../.." && pwd -P)

# The folders of chroot and depmod, which an ordinary user's PATH may lack.
PATH=$PATH:/usr/sbin:/sbin

# head_of SCRIPT: prints the comment at its top.
head_of() {
    awk 'NR > 2 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"
}
case ${1:-} in
    --help | -h) [ "${BASH_SOURCE[1]:-}" != "$0" ] || { head_of "$0"; exit 0; } ;;
esac

# OURO_CACHELESS: set by a script that needs no cache.
if [ -z "${OURO_CACHE:-}" ] && [ -z "${OURO_CACHELESS:-}" ]; then
    [ -n "${XDG_CACHE_HOME:-${HOME:-}}" ] || {
        echo "ouro: neither OURO_CACHE nor HOME is set: say OURO_CACHE=/some/folder make ..." >&2
        exit 1
    }
    OURO_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ouro
fi
if [ -z "${OURO_CACHELESS:-}" ]; then
    mkdir -p "$OURO_CACHE" 2>/dev/null || {
        echo "ouro: cannot make the cache folder $OURO_CACHE: set OURO_CACHE to a folder you can write to" >&2
        exit 1
    }
    [ -w "$OURO_CACHE" ] && [ -x "$OURO_CACHE" ] || {
        echo "ouro: cannot write to the cache folder $OURO_CACHE: a cache is for one user; copy it, or set OURO_CACHE" >&2
        exit 1
    }
    OURO_CACHE=$(cd "$OURO_CACHE" && pwd -P)
    export OURO_CACHE
fi
export OURO_TOP VM_DIR

# A message for the user, on stderr; results are on stdout.
say() {
    printf '%s\n' "$*" >&2
}

# Ends the script with an error message, and one line for each remedy.
die() {
    local line
    printf 'ouro: %s\n' "$1" >&2
    shift
    for line in "$@"; do
        printf '      %s\n' "$line" >&2
    done
    exit 1
}

# needs_value "$@": ends the script unless the option $1 is followed by a value.
needs_value() {
    [ $# -ge 2 ] || die "${0##*/}: $1 needs a value" "tools/vm/${0##*/} --help"
}

unknown_option() {
    die "${0##*/}: unknown option $1" "tools/vm/${0##*/} --help"
}

# Prints twelve hex digits of the hash of stdin, for names in the cache.
short_hash() {
    sha256sum | cut -c1-12
}

# clock SECONDS: prints m:ss.
clock() {
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Prints the number of processors to use: those on which the process may run.
jobs_wanted() {
    echo "${OURO_JOBS:-$(nproc)}"
}

am_root() {
    [ "$(id -u)" = 0 ]
}

# children_of PID: prints its child processes, without pgrep, which small systems lack.
children_of() {
    local stat
    for stat in /proc/[0-9]*/stat; do
        # "pid (name) state ppid": the name may have blanks and brackets
        { read -r stat <"$stat"; } 2>/dev/null || continue
        # shellcheck disable=SC2086 # words
        set -- "$1" ${stat%% *} ${stat##*) }
        [ "$4" != "$1" ] || echo "$2"
    done
}

# hold_tree PID: stops the process's descendants, each before its children are looked for, and adds them to HELD.
hold_tree() {
    local child
    for child in $(children_of "$1"); do
        # one has ended: the shell that made this list
        kill -STOP "$child" 2>/dev/null || continue
        HELD+=("$child")
        hold_tree "$child"
    done
}

# stop_tree PID: ends the process's descendants. None of them continues first, as a shell would with its next command
# when it sees that the last one has ended.
stop_tree() {
    local HELD=()
    hold_tree "$1"
    [ "${#HELD[@]}" != 0 ] || return 0
    kill -TERM "${HELD[@]}" 2>/dev/null || true
    kill -CONT "${HELD[@]}" 2>/dev/null || true
}
