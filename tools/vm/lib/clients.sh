# SPDX-License-Identifier: GPL-2.0
# The roots of unmodified user space: `clients@igt` and `clients@mesa`, each a
# small Debian that a guest mounts read-only (tools/vm/guest --root).
# They have no kernel modules, so that no client can load i915 beside our driver.
#
# shellcheck shell=bash

# clients_packages NAME: prints the packages to install.
clients_packages() {
    case $1 in
        igt) echo igt-gpu-tools-tests igt-gpu-tools kmod ;;
        # with a compiler: our clients are built with these libraries
        mesa)
            echo libegl1 libgbm1 libegl-mesa0 libgl1-mesa-dri mesa-utils-bin \
                libva2 libva-drm2 i965-va-driver \
                libopengl0 gcc make libc6-dev libegl-dev libopengl-dev libgl-dev libgbm-dev libva-dev libdrm-dev pkgconf \
                piglit
            ;;
        *) die "no such clients: $1" "known: igt mesa" ;;
    esac
}

# Packages from sid: IGT, and the libraries of which it needs newer versions
# than those of trixie.
CLIENTS_NEWER='igt-gpu-tools* intel-gpu-tools libdrm* libxv1'

# clients_paths NAME: paths of the packages that are not unpacked, and exceptions. Of piglit's 2 GB the exceptions are the
# tests of OpenGL up to 2.1 and OpenGL ES 2: the modelled chips have no later version.
clients_paths() {
    local tests=/usr/lib/x86_64-linux-gnu/piglit part
    [ "$1" = mesa ] || return 0
    echo "path-exclude=$tests/generated_tests/*"
    # also the folders: dpkg does not create folders of excluded paths
    for part in spec 'spec/glsl-1.[12]0' spec/arb_draw_buffers spec/arb_shader_texture_lod spec/arb_texture_rectangle \
        spec/oes_standard_derivatives asmparsertest; do
        echo "path-include=$tests/generated_tests/$part"
        [ "$part" = spec ] || echo "path-include=$tests/generated_tests/$part/*"
    done
    for part in cl vulkan spec/khr_texture_compression_astc spec/oes_texture_compression_astc; do
        echo "path-exclude=$tests/tests/$part/*"
    done
}

text_clients() { echo "user space for guests: $1"; }
mb_clients() { [ "$1" = igt ] && echo 900 || echo 1700; }
secs_clients() { [ "$1" = igt ] && echo 60 || echo 120; }
key_clients() {
    { key_base; clients_packages "$1"; clients_paths "$1"; echo "$CLIENTS_NEWER"; echo 3; } | short_hash
}
run_clients() {
    local name=$1 dir=$2 newer=''
    [ "$name" != igt ] || newer=$CLIENTS_NEWER
    # shellcheck disable=SC2046 # words
    SMALL_ROOT_PATHS=$(clients_paths "$name") small_root "$dir" "$newer" $(clients_packages "$name")
}

# clients_tree NAME: prints the folder that a guest mounts.
clients_tree() { echo "$(step_dir "clients@$1")/tree"; }

# clients_version NAME PACKAGE: prints the installed version.
clients_version() {
    awk -v name="$2" '$1 == name {print $2}' "$(clients_tree "$1")/usr/share/ouro-packages"
}
