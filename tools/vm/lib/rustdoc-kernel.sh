# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# rustdoc for a crate of the module, with rustc's command line from Kbuild's file
# (.NAME.o.cmd), without the options for output.
#   rustdoc-kernel.sh KOUT OBJECTS CMD-FILE

set -euo pipefail

kout=$1 objects=$2 cmd=$3
line=$(sed -nE '1s/^savedcmd_[^ ]+ := //p' "$cmd")
line=${line%%;*}
words=()
env=()
skip=
eval "set -- $line"
started=
for word in "$@"; do
    if [ -z "$started" ]; then
        case $word in
            *=*) env+=("$word") ;;
            *rustc* | *clippy-driver*) started=yes ;;
        esac
        continue
    fi
    if [ -n "$skip" ]; then
        # rustdoc has no --env-set, so the variable is set in the environment
        [ "$skip" != env ] || env+=("$word")
        skip=
        continue
    fi
    case $word in
        --env-set) skip='env' ;;
        --out-dir | --crate-type | --emit | -o) skip=yes ;;
        --emit=* | --out-dir=* | --crate-type=* | --remap-path-scope=* | -Zremap-path-scope=* | -Csplit-debuginfo=*) ;;
        *) words+=("$word") ;;
    esac
done
cd "$objects"
env RUSTC_BOOTSTRAP=1 "${env[@]}" OBJTREE="$kout" rustdoc "${words[@]}" -D warnings -A rustdoc::broken-intra-doc-links \
    -A rustdoc::private-intra-doc-links -o "$objects/doc"
