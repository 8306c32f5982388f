# SPDX-License-Identifier: GPL-2.0
# The guest's kernel: steps `source`, `kernel@plain`, `kernel@debug`,
# `kernel@bench`, which only `make bench` wants, and `peer`, Debian's stock kernel with the upstream drivers as modules.
#
# shellcheck shell=bash

KERNEL_SERIES=7.3
KERNEL_VARIANTS="plain debug"

# Configuration fragments of a variant, in order.
kernel_fragments() {
    local dir=$VM_DIR/kernel
    echo "$dir/base.config" "$dir/drm.config"
    [ "$1" = plain ] || echo "$dir/$1.config"
}

text_source() { echo "kernel source $KERNEL_SERIES"; }
mb_source() { echo 2600; }
secs_source() { echo 12; }
key_source() { echo "$KERNEL_SERIES ${OURO_KERNEL_SRC:-} 1" | short_hash; }

# Debian's package from the first suite that has it, else the tarball that
# OURO_KERNEL_SRC names. Kept: nothing is fetched twice.
run_source() {
    local dir=$2 deb
    mkdir "$dir/fetch"
    if [ -n "${OURO_KERNEL_SRC:-}" ]; then
        [ -e "$OURO_KERNEL_SRC" ] || die "OURO_KERNEL_SRC=$OURO_KERNEL_SRC: no such file"
        cp "$OURO_KERNEL_SRC" "$dir/fetch/"
    else
        fetch_package "$dir/fetch" "linux-source-$KERNEL_SERIES" ||
            die "no Debian suite has linux-source-$KERNEL_SERIES any more:" \
                "set OURO_KERNEL_SRC to a tarball of Linux $KERNEL_SERIES.x and start again"
        deb=$(echo "$dir"/fetch/*.deb)
        mkdir "$dir/deb"
        enter dpkg -x "$deb" "$dir/deb"
        mv "$dir"/deb/usr/src/linux-source-*.tar.* "$dir/fetch/"
        rm -rf "$dir/deb" "$deb"
    fi
    mkdir "$dir/linux"
    enter sh -c "tar -C '$dir/linux' --strip-components=1 -xf '$dir'/fetch/*.tar.*"
    rm -rf "$dir/fetch"
    [ -e "$dir/linux/rust/kernel/lib.rs" ] || die "this is not a kernel source with Rust: $dir/linux"
    enter make -s -C "$dir/linux" kernelversion >"$dir/version"
    case $(cat "$dir/version") in
        "$KERNEL_SERIES"*) ;;
        *) die "the source is Linux $(cat "$dir/version"), wanted is $KERNEL_SERIES" ;;
    esac
}

# fetch_package DIR NAME: download from backports, else sid, else experimental.
fetch_package() {
    local dir=$1 name=$2 suite tree mirror
    tree=$(step_dir root)/tree
    # apt's own user cannot write here: download as root
    local apt=(apt-get -o APT::Sandbox::User=root)
    enter "${apt[@]}" update
    if enter sh -c "cd '$dir' && ${apt[*]} download -t $ROOT_SUITE-backports $name"; then return 0; fi
    mirror=$(awk '$1 == "deb" {print $2; exit}' "$tree/etc/apt/sources.list")
    for suite in sid experimental; do
        say "$name is not in $ROOT_SUITE-backports: trying $suite"
        enter sh -ec "
            mkdir -p /tmp/lists/partial
            echo 'deb $mirror $suite main' >/tmp/$suite.list
            set -- -o APT::Sandbox::User=root -o Dir::State::Lists=/tmp/lists -o Dir::Etc::SourceList=/tmp/$suite.list
            apt-get \"\$@\" update
            cd '$dir'
            apt-get \"\$@\" download $name
        " && return 0
    done
    return 1
}

# Where the sources of Rust's core are in the root.
rust_lib_src() {
    # shellcheck disable=SC2016 # for the shell inside
    enter sh -c 'echo /usr/src/rustc-$(rustc -V | cut -d" " -f2)/library'
}

text_kernel() { echo "kernel, $1"; }
mb_kernel() { [ "$1" = debug ] && echo 4000 || echo 2500; }
secs_kernel() { [ "$1" = debug ] && echo 780 || echo 540; }
key_kernel() {
    case " $KERNEL_VARIANTS bench " in
        *" $1 "*) ;;
        *) die "no such kernel: $1" "known: $KERNEL_VARIANTS" ;;
    esac
    # shellcheck disable=SC2046 # file names without spaces
    { key_source; toolchain_hash; cat "$(step_dir source)/version" $(kernel_fragments "$1"); } | short_hash
}
resume_kernel() { :; }
run_kernel() {
    local variant=$1 dir=$2 version
    version=$(cat "$(step_dir source)/version")
    configure_kernel "$variant" "$dir"
    kernel_make "$dir/out" KBUILD_BUILD_TIMESTAMP="$version" KBUILD_BUILD_USER=ouro KBUILD_BUILD_HOST=ouro
}

# kernel_make OUT ARGUMENT...: the kernel's make, with our compilers.
kernel_make() {
    local out=$1
    shift
    enter nice make -C "$(step_dir source)/linux" O="$out" LLVM=-19 RUST_LIB_SRC="$(rust_lib_src)" \
        -j"$(jobs_wanted)" "$@"
}

# configure_kernel VARIANT DIR: tinyconfig and the fragments of the variant. Of a symbol, the last one counts.
configure_kernel() {
    local dir=$2
    mkdir -p "$dir/out"
    # shellcheck disable=SC2046 # file names without spaces
    cat $(kernel_fragments "$1") | tac | awk -F= '/^#/ || !seen[$1]++' | tac >"$dir/fragment"
    kernel_make "$dir/out" tinyconfig
    apply_fragment "$dir/fragment" "$dir/out"
}

# apply_fragment FRAGMENT OUT: merged over the configuration in OUT; a symbol
# that does not survive olddefconfig is an error.
apply_fragment() {
    enter "$(step_dir source)/linux/scripts/kconfig/merge_config.sh" -m -O "$2" "$2/.config" "$1" >/dev/null
    kernel_make "$2" olddefconfig
    config_kept "$1" "$2/.config"
}

# config_kept FRAGMENT CONFIG: every line of the fragment stands in the
# configuration, or the build ends naming those that do not.
config_kept() {
    local line lost=()
    while IFS= read -r line; do
        case $line in
            CONFIG_*=n) ! grep -q "^${line%%=*}=" "$2" || lost+=("$line") ;;
            CONFIG_*=*) grep -qxF "$line" "$2" || lost+=("$line") ;;
        esac
    done <"$1"
    [ ${#lost[@]} = 0 ] || die "olddefconfig dropped or changed: ${lost[*]}"
}

# The module's build folder of a variant.
kernel_out() { echo "$(step_dir "kernel@$1")/out"; }

text_peer() { echo "peer kernel: Debian's stock kernel with its i915 and radeon"; }
mb_peer() { echo 1200; }
secs_peer() { echo 30; }
key_peer() { { key_base; echo "$PEER_MODULES"; echo 1; } | short_hash; }

# The stock package is only unpacked: vmlinuz, and of the modules what the
# peers need.
run_peer() {
    local dir=$2 image release name path file
    image=$(enter apt-cache depends -t "$ROOT_SUITE-backports" linux-image-amd64 2>/dev/null |
        awk '$1 == "Depends:" && $2 ~ /^linux-image-/ {print $2; exit}')
    [ -n "$image" ] || image=linux-image-amd64
    mkdir "$dir/fetch" "$dir/deb"
    # Since 7.2 the image package is but a name for several others.
    for name in "$image" $(enter apt-cache depends --important -t "$ROOT_SUITE-backports" "$image" |
        awk '$1 ~ /Depends:$/ && $2 ~ /^linux-(base|binary|modules)-[0-9]/ {print $2}'); do
        fetch_package "$dir/fetch" "$name" || die "no Debian suite has $name"
    done
    enter sh -ec "for deb in '$dir'/fetch/*.deb; do dpkg -x \"\$deb\" '$dir/deb'; done"
    # /boot, or beside the modules since 7.2
    find "$dir/deb" -type f -name "vmlinuz*" -exec cp {} "$dir/vmlinuz" \;
    [ -s "$dir/vmlinuz" ] || die "$image holds no kernel"
    mkdir -p "$dir/all/lib/modules" "$dir/modules"
    mv "$dir"/deb/usr/lib/modules/* "$dir/all/lib/modules/" 2>/dev/null ||
        mv "$dir"/deb/lib/modules/* "$dir/all/lib/modules/"
    release=$(ls "$dir/all/lib/modules")
    enter depmod -b "$dir/all" "$release"
    for name in $PEER_MODULES; do
        # "insmod PATH" in the order of loading; "builtin NAME" needs nothing
        enter modprobe -d "$dir/all" -S "$release" --show-depends "$name" |
            awk '$1 == "insmod" {print $2}' >"$dir/paths"
        while IFS= read -r path; do
            file=$(basename "$path" .xz)
            [ -e "$dir/modules/$file" ] || case $path in
                *.xz) xz -dc "$path" >"$dir/modules/$file" ;;
                *) cp "$path" "$dir/modules/$file" ;;
            esac
            echo "$file"
        done <"$dir/paths" >"$dir/$name.order"
    done
    [ -s "$dir/i915.order" ] || die "$image has no i915"
    rm -rf "$dir/fetch" "$dir/deb" "$dir/all" "$dir/paths"
    echo "$release" >"$dir/release"
}

# What of the stock kernel is kept: the drivers, what the guest needs to reach
# its shared folder, and vgem, with which clients share buffers.
PEER_MODULES="virtio_pci 9pnet_virtio 9p i915 radeon vgem"

# peer_modules NAME...: file names in the order of loading, without doubles.
peer_modules() {
    local name dir
    dir=$(step_dir peer)
    for name in "$@"; do
        [ -e "$dir/$name.order" ] || die "the peer kernel has no module $name here" "kept are: $PEER_MODULES"
        cat "$dir/$name.order"
    done | awk '!seen[$0]++'
}

text_headers() { echo "kernel headers for test programs"; }
mb_headers() { echo 100; }
secs_headers() { echo 15; }
key_headers() { { cat "$(step_dir source)/version"; echo 1; } | short_hash; }
run_headers() {
    local dir=$2 src
    src=$(step_dir source)/linux
    enter make -s -C "$src" O="$dir/out" INSTALL_HDR_PATH="$dir" headers_install
    rm -rf "$dir/out"
    [ -e "$dir/include/drm/i915_drm.h" ]
}
