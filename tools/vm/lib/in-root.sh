# SPDX-License-Identifier: GPL-2.0
# The inner part of root_run: mounts /proc and others in the build root and enters it.
# Runs in a mount namespace of its own, so that nothing has to be unmounted.
#   in-root.sh TREE PATH:PATH... CA-BUNDLE DIRECTORY COMMAND...
# A PATH is mounted at the same path inside, FROM=TO at another.

# shellcheck shell=bash

set -eu

tree=$1 binds=$2 bundle=$3 dir=$4
shift 4

mount --rbind /proc "$tree/proc"
mount --rbind /sys "$tree/sys"
mount --rbind /dev "$tree/dev"
mount -t tmpfs -o mode=1777 tmpfs "$tree/tmp"
mount -t tmpfs -o mode=755 tmpfs "$tree/run"

IFS=:
for path in $binds; do
    [ -n "$path" ] || continue
    inside=$tree${path#*=}
    [ -e "$inside" ] || mkdir -p "$inside"
    mount --rbind "${path%%=*}" "$inside"
done
unset IFS

for file in /etc/resolv.conf /etc/hosts; do
    if [ -e "$file" ]; then mount --bind "$(realpath "$file")" "$tree$file"; fi
done
inside=/etc/ssl/certs/ca-certificates.crt
if [ -n "$bundle" ] && [ -e "$tree$inside" ]; then mount --bind "$bundle" "$tree$inside"; fi

pass=()
for name in TERM http_proxy https_proxy ftp_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY all_proxy \
    CARGO_TARGET_DIR RUSTFLAGS RUSTDOCFLAGS RUST_LOG RUST_BACKTRACE PROPTEST_CASES PROPTEST_RNG_SEED; do
    if [ -n "${!name:-}" ]; then pass+=("$name=${!name}"); fi
done
while IFS= read -r name; do
    pass+=("$name=${!name}")
done < <(compgen -e | grep '^OURO_' || true)

# The cache's folders are written by checks, each of which compiles a file once: what rustc would keep for a second
# time is half of the disk that they take.
pass+=("CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}")

exec chroot "$tree" /usr/bin/env -i \
    HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    SSL_CERT_FILE=$inside CARGO_HTTP_CAINFO=$inside GIT_SSL_CAINFO=$inside \
    CARGO_HOME="$OURO_CACHE/cargo" "${pass[@]}" \
    /usr/bin/env -C "$dir" "$@"
