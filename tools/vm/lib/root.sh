# SPDX-License-Identifier: GPL-2.0
# The build root: a Debian trixie with backports in the cache, in which Cargo,
# the kernel's build, the models and QEMU run. Steps `base` and `root`, and
# functions that run commands in it.
#
# shellcheck shell=bash

ROOT_SUITE=trixie

# All packages are installed from backports at once: if a library is from
# backports, its -dev package of trixie cannot be installed later.
ROOT_PACKAGES=(
    rustc rust-src cargo rustfmt rust-clippy bindgen
    clang-19 lld-19 llvm-19 gcc libc6-dev make flex bison bc
    libelf-dev libssl-dev dwarves cpio kmod rsync git patch
    xz-utils zstd perl python3 python3-docutils file
    qemu-system-x86 busybox-static strace
    libdrm-dev shellcheck codespell
)

root_sources() {
    local mirror=$1 suite
    for suite in "$ROOT_SUITE" "$ROOT_SUITE-updates" "$ROOT_SUITE-backports"; do
        echo "deb $mirror $suite main"
    done
}

text_base() { echo "build root: bare Debian $ROOT_SUITE"; }
mb_base() { echo 600; }
secs_base() { echo 25; }
key_base() { echo "$ROOT_SUITE x86_64 1" | short_hash; }
run_base() {
    local dir=$2 mirror mode=unshare
    mirror=$(host_mirror)
    am_root && mode=root
    host_apt_settings >"$dir/apt.conf"
    mmdebstrap --mode="$mode" --variant=apt --architectures=amd64 --keyring="$HOST_KEYRING" \
        --include=ca-certificates,debian-archive-keyring \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --aptopt='APT::Install-Recommends "false"' \
        --aptopt="$dir/apt.conf" \
        "$ROOT_SUITE" "$dir/base.tar" ${mirror:+"$mirror"}
}

text_root() { echo "build root: compilers, QEMU, tools"; }
mb_root() { echo 5000; }
secs_root() { echo 45; }
key_root() { { key_base; printf '%s\n' "${ROOT_PACKAGES[@]}" 3; } | short_hash; }
run_root() {
    local dir=$2 tree=$2/tree mirror
    mkdir "$tree" "$OURO_CACHE/debs" 2>/dev/null || mkdir -p "$tree"
    root_ns tar -C "$tree" --numeric-owner --exclude='./dev/*' -xf "$(step_dir base)/base.tar"
    # The sources that mmdebstrap writes have paths of this machine.
    mirror=$(root_ns cat "$tree/etc/apt/sources.list" | awk '$1 == "deb" {
        for (i = 2; i <= NF; i++) if ($i ~ /^[a-z]+:\//) {print $i; exit}}')
    [ -n "$mirror" ] || die "no mirror in the sources of the bare root"
    root_sources "$mirror" | root_ns sh -c "cat >'$tree/etc/apt/sources.list'"
    root_ns sh -c "rm -f '$tree'/etc/apt/sources.list.d/* && : >'$tree/etc/hosts' &&
        rm -f '$tree/etc/resolv.conf' && : >'$tree/etc/resolv.conf' && mkdir -p '$tree/mnt'"
    root_run "$tree" sh -ec '
        apt-get update
        apt-get install -y --no-install-recommends -o Dir::Cache::archives="$1" -t "$2" $3
        apt-get clean
        dpkg-query -W -f "\${Package} \${Version}\n" >/usr/share/ouro-packages
    ' sh "$OURO_CACHE/debs" "$ROOT_SUITE-backports" "${ROOT_PACKAGES[*]}"
    root_run "$tree" sh -c '
        rustc -vV; cargo -V; bindgen --version; clang-19 --version; ld.lld-19 --version
        qemu-system-x86_64 --version
    ' >"$dir/toolchain"
    rm -rf "$OURO_CACHE/debs"
}

# small_root DIR NEWER PACKAGE...: makes DIR/tree, a Debian with these packages and no compilers. NEWER: patterns of
# packages from sid, '' for none. SMALL_ROOT_PATHS: lines of dpkg.cfg that exclude files from unpacking.
small_root() {
    local dir=$1 newer=$2 tree=$1/tree mirror
    shift 2
    mkdir -p "$tree" "$dir/debs"
    root_ns tar -C "$tree" --numeric-owner --exclude='./dev/*' -xf "$(step_dir base)/base.tar"
    mirror=$(root_ns cat "$tree/etc/apt/sources.list" | awk '$1 == "deb" {
        for (i = 2; i <= NF; i++) if ($i ~ /^[a-z]+:\//) {print $i; exit}}')
    [ -n "$mirror" ] || die "no mirror in the sources of the bare root"
    {
        echo "deb $mirror $ROOT_SUITE main"
        echo "deb $mirror $ROOT_SUITE-updates main"
        [ -z "$newer" ] || echo "deb $mirror sid main"
    } | root_ns sh -c "cat >'$tree/etc/apt/sources.list'"
    if [ -n "$newer" ]; then
        printf 'Package: *\nPin: release n=sid\nPin-Priority: 100\n\nPackage: %s\nPin: release n=sid\nPin-Priority: 990\n' \
            "$newer" | root_ns sh -c "cat >'$tree/etc/apt/preferences.d/newer'"
    fi
    [ -z "${SMALL_ROOT_PATHS:-}" ] || root_ns sh -c "cat >'$tree/etc/dpkg/dpkg.cfg.d/paths'" <<<"$SMALL_ROOT_PATHS"
    root_ns sh -c "rm -f '$tree'/etc/apt/sources.list.d/* '$tree/etc/resolv.conf' &&
        : >'$tree/etc/hosts' && : >'$tree/etc/resolv.conf' && mkdir -p '$tree/mnt' '$tree/out' '$tree/usr/lib/modules'"
    # shellcheck disable=SC2016 # for the shell inside
    OURO_BIND=$dir root_run "$tree" sh -ec '
        archives=$1
        shift
        apt-get update
        apt-get install -y --no-install-recommends -o APT::Sandbox::User=root -o Dir::Cache::archives="$archives" "$@"
        apt-get clean
        rm -rf /var/lib/apt/lists/*
        dpkg-query -W -f "\${Package} \${Version}\n" >/usr/share/ouro-packages
    ' sh "$dir/debs" "$@"
    rm -rf "$dir/debs"
}

# root_ns COMMAND...: runs it as the owner of the build root's files: root, or the
# first id of an ordinary user's namespace.
root_ns() {
    if am_root; then "$@"; else unshare --user --map-auto --map-root-user -- "$@"; fi
}

# root_run TREE COMMAND...: runs it in the root TREE, in a mount namespace of its
# own, with checkout and cache at the same paths as outside.
root_run() {
    local tree=$1 flags=(--mount --propagation private)
    shift
    am_root || flags+=(--user --map-auto --map-root-user)
    unshare "${flags[@]}" -- bash "$VM_DIR/lib/in-root.sh" "$tree" "$OURO_TOP:$OURO_CACHE:${OURO_BIND:-}" \
        "$(host_ca_bundle)" "$PWD" "$@"
}

# enter COMMAND...: runs it in the build root.
enter() {
    root_run "$(step_dir root)/tree" "$@"
}

# toolchain_hash: prints a hash of the compilers' versions, a part of the key of all that they build.
toolchain_hash() {
    short_hash <"$(step_dir root)/toolchain"
}

# cargo_target: prints Cargo's target folder, one for each root and checkout. (Cargo
# names its outputs by the path within the workspace, and compares file times: two
# checkouts in one folder would use each other's libraries.) Folders of checkouts
# that no longer exist are removed.
cargo_target() {
    local key dir lock
    key=$({ toolchain_hash; echo "$OURO_TOP"; } | short_hash)
    dir=$OURO_CACHE/target/$key
    if [ ! -e "$dir/checkout" ]; then
        mkdir -p "$OURO_CACHE/target"
        exec {lock}>>"$OURO_CACHE/target/.lock"
        flock "$lock"
        [ -e "$dir/checkout" ] || cargo_target_new "$dir"
        exec {lock}>&-
    fi
    echo "$dir"
}

# cargo_target_new DIR: makes a folder with hard links to the third-party libraries of the fullest other one, so
# that a fresh clone builds only its own crates. Cargo checks whether they can be used.
cargo_target_new() {
    local dir=$1 other kind fullest='' most=0 n
    for other in "$OURO_CACHE"/target/*/; do
        n=$(find "$other" -mindepth 2 -maxdepth 4 -path '*/.fingerprint/*' 2>/dev/null | wc -l)
        [ "$n" -le "$most" ] || { most=$n; fullest=$other; }
    done
    rm -rf "$dir.new"
    mkdir -p "$dir.new"
    for kind in debug release x86_64-unknown-linux-gnu/release; do
        [ -d "$fullest/$kind/.fingerprint" ] || continue
        mkdir -p "$dir.new/$kind"
        cp -al "$fullest/$kind/.fingerprint" "$fullest/$kind/build" "$fullest/$kind/deps" "$dir.new/$kind/" 2>/dev/null || true
        # without our own packages, their libraries, and all programs
        find "$dir.new/$kind" -mindepth 2 -maxdepth 2 \( -name '*ouro*' -o -name '*gpu[-_]model*' \) -exec rm -rf {} +
        find "$dir.new/$kind/deps" -type f -perm -100 ! -name '*.so' -delete 2>/dev/null || true
    done
    echo "$OURO_TOP" >"$dir.new/checkout"
    rm -rf "$dir"
    mv "$dir.new" "$dir"
    for other in "$OURO_CACHE"/target/*/; do
        [ ! -e "$other/checkout" ] || [ -d "$(<"$other/checkout")" ] || rm -rf "$other"
    done
}
