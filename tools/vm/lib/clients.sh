# SPDX-License-Identifier: GPL-2.0
# What unmodified user space runs in: `clients@igt` and `clients@mesa`, each a
# small Debian of its own that a guest mounts read-only (tools/vm/guest --root).
# There is no kernel module in them: nothing can load i915 beside our driver.
#
# shellcheck shell=bash

# clients_packages NAME: what is installed.
clients_packages() {
    case $1 in
        igt) echo igt-gpu-tools-tests igt-gpu-tools kmod ;;
        # with a compiler: our own clients are built against these libraries
        mesa)
            echo libegl1 libgbm1 libegl-mesa0 libgl1-mesa-dri mesa-utils-bin \
                libva2 libva-drm2 i965-va-driver \
                libopengl0 gcc make libc6-dev libegl-dev libopengl-dev libgl-dev libgbm-dev libva-dev libdrm-dev pkgconf
            ;;
        *) die "no such clients: $1" "known: igt mesa" ;;
    esac
}

# Packages that come from sid: IGT, and the libraries of which it wants newer
# ones than trixie has.
CLIENTS_NEWER='igt-gpu-tools* intel-gpu-tools libdrm* libxv1'

text_clients() { echo "user space for guests: $1"; }
mb_clients() { [ "$1" = igt ] && echo 900 || echo 1500; }
secs_clients() { [ "$1" = igt ] && echo 60 || echo 120; }
key_clients() { { key_base; clients_packages "$1"; echo "$CLIENTS_NEWER"; echo 3; } | short_hash; }
run_clients() {
    local name=$1 dir=$2 newer=''
    [ "$name" != igt ] || newer=$CLIENTS_NEWER
    # shellcheck disable=SC2046 # words
    small_root "$dir" "$newer" $(clients_packages "$name")
}

# clients_tree NAME: the folder that a guest mounts.
clients_tree() { echo "$(step_dir "clients@$1")/tree"; }

# clients_version NAME PACKAGE: as it was installed.
clients_version() {
    awk -v name="$2" '$1 == name {print $2}' "$(clients_tree "$1")/usr/share/ouro-packages"
}
