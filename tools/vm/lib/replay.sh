# SPDX-License-Identifier: GPL-2.0
# Step `replay`: Mesa's tools that replay a hang of an i915 error state, which Debian does not package, built from its
# source package.
#
# shellcheck shell=bash

REPLAY_PACKAGES='meson ninja-build gcc g++ libc6-dev pkgconf flex bison python3-mako python3-packaging python3-yaml
    libdrm-dev zlib1g-dev libexpat1-dev libelf-dev xz-utils'
# No driver: only the tools, and what they decode commands with.
REPLAY_OPTIONS='-Dtools=intel -Dgallium-drivers= -Dvulkan-drivers= -Dplatforms= -Dopengl=false -Dgles1=disabled
    -Dgles2=disabled -Dglx=disabled -Degl=disabled -Dgbm=disabled -Dshared-glapi=disabled -Dllvm=disabled
    -Dvalgrind=disabled -Dlibunwind=disabled -Dlmsensors=disabled -Dzstd=disabled -Dbuildtype=release'
REPLAY_TOOLS='intel_error2hangdump intel_hang_replay'

text_replay() { echo "Mesa's tools that replay hangs"; }
mb_replay() { echo 3000; }
secs_replay() { echo 420; }
key_replay() { { key_base; echo "$REPLAY_PACKAGES $REPLAY_OPTIONS $REPLAY_TOOLS"; echo 1; } | short_hash; }

# Tree and tools; the source is not kept.
run_replay() {
    local dir=$2
    # shellcheck disable=SC2086 # words
    small_root "$dir" '' $REPLAY_PACKAGES
    mkdir -p "$dir/src/lists/partial" "$dir/src/mesa"
    # shellcheck disable=SC2016 # for the shell inside
    OURO_BIND=$dir root_run "$dir/tree" sh -ec '
        src=$1 options=$2 tools=$3
        cd "$src"
        sed -n "s/^deb /deb-src /p" /etc/apt/sources.list >list
        set -- -o "Dir::State::Lists=$src/lists" -o "Dir::Etc::SourceList=$src/list" -o APT::Sandbox::User=root
        apt-get "$@" update
        apt-get "$@" source --download-only mesa
        tar -C mesa --strip-components=1 -xf mesa_*.orig.tar.?z
        meson setup $options out mesa
        for tool in $tools; do set -- "$@" "src/intel/tools/$tool"; done
        shift 6
        nice ninja -C out "$@"
        cd out
        cp "$@" /usr/bin/
        sed -n "s/^Version: //p" ../mesa_*.dsc | head -n 1 >/usr/share/ouro-mesa
    ' sh "$dir/src" "$REPLAY_OPTIONS" "$REPLAY_TOOLS"
    rm -rf "$dir/src"
}

# replay_tree: prints the folder of the root with the tools.
replay_tree() { echo "$(step_dir replay)/tree"; }
