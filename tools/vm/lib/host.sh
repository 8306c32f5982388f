# SPDX-License-Identifier: GPL-2.0
# The host's requirements for the set-up, with messages about those that are
# missing. Also the host's settings for the build root: mirror, proxies,
# certificates.
#
# shellcheck shell=bash

HOST_KEYRING=${OURO_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

# Prints the packages that the set-up needs and this machine lacks, by Debian's names.
host_missing() {
    local want missing=()
    for want in mmdebstrap:mmdebstrap git:git make:make unshare:util-linux flock:util-linux tar:tar xz:xz-utils; do
        command -v "${want%%:*}" >/dev/null 2>&1 || missing+=("${want##*:}")
    done
    if ! am_root; then
        command -v newuidmap >/dev/null 2>&1 || missing+=(uidmap)
    fi
    [ -e "$HOST_KEYRING" ] || missing+=(debian-archive-keyring)
    printf '%s\n' "${missing[@]}" | sort -u | xargs
}

# Kernel, guest and build root are x86-64, and run without emulation on the host.
host_architecture() {
    local machine
    machine=$(uname -m)
    [ "$machine" = x86_64 ] || die "this machine is $machine; the set-up builds and runs x86_64" \
        "use an x86_64 machine (a virtual one will do)"
}

# An ordinary user needs a user namespace with subordinate ids.
host_user() {
    if am_root; then
        unshare --mount --propagation private -- true 2>/dev/null ||
            die "root may not mount here, which the build root needs" \
                "in a container: run it with --privileged, or with the right CAP_SYS_ADMIN"
        return 0
    fi
    local user
    user=$(id -un)
    grep -qsE "^($user|$(id -u)):" /etc/subuid && grep -qsE "^($user|$(id -u)):" /etc/subgid ||
        die "user $user has no subordinate ids, which the build root needs" \
            "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $user"
    unshare --user --map-auto --map-root-user --mount -- true 2>/dev/null ||
        die "this machine does not let user $user make a user namespace" \
            "run as root, or allow it: sudo sysctl kernel.unprivileged_userns_clone=1" \
            "(Ubuntu: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
}

# All checks above. Root on a machine with apt installs the missing packages;
# otherwise the message has the command.
host_check() {
    local missing sudo=sudo
    host_architecture
    missing=$(host_missing)
    if [ -n "$missing" ]; then
        if am_root && command -v apt-get >/dev/null 2>&1 && [ -z "${OURO_NO_INSTALL:-}" ]; then
            say "ouro: installing on this machine, with apt-get: $missing"
            mkdir -p "$OURO_CACHE/log"
            # shellcheck disable=SC2086 # a list of words
            { apt-get update && DEBIAN_FRONTEND=noninteractive \
                apt-get install -y --no-install-recommends $missing; } \
                >"$OURO_CACHE/log/host.log" 2>&1 ||
                die "apt-get could not install: $missing" "log: $OURO_CACHE/log/host.log" \
                    "install them by hand, then start again"
            missing=$(host_missing)
        fi
    fi
    if [ -n "$missing" ]; then
        am_root && sudo=
        if command -v apt-get >/dev/null 2>&1; then
            die "missing on this machine: $missing" "${sudo:+sudo }apt-get install $missing"
        fi
        die "missing on this machine: $missing" "install these (Debian's names) with the package manager here"
    fi
    host_user
}

# Prints the Debian mirror of this machine's apt; nothing if there is none, and
# then mmdebstrap uses its default.
host_mirror() {
    local id=
    [ -z "${OURO_MIRROR:-}" ] || { echo "$OURO_MIRROR"; return 0; }
    # shellcheck disable=SC1091 # of the machine, not of the tree
    id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}") || true
    [ "$id" = debian ] && command -v apt-get >/dev/null 2>&1 || return 0
    # shellcheck disable=SC2016 # apt's own variables
    apt-get indextargets --format '$(ORIGIN)|$(SUITE)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -F'|' '$1 == "Debian" && $2 !~ /security|updates|backports/ && $3 ~ /^https?:/ {print $3; exit}' || true
}

# Prints the settings of this machine's apt for access to the mirror.
host_apt_settings() {
    command -v apt-config >/dev/null 2>&1 || return 0
    apt-config dump 2>/dev/null |
        grep -E '^Acquire::(https?::Proxy|https::(CaInfo|Verify)|Check-Valid-Until|Check-Date)' || true
}

# Prints the machine's bundle of certificates: Cargo in the build root must trust
# the same authorities, for example that of a proxy that terminates TLS.
host_ca_bundle() {
    local file
    for file in "${CARGO_HTTP_CAINFO:-}" "${SSL_CERT_FILE:-}" "${CURL_CA_BUNDLE:-}" \
        /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
        if [ -n "$file" ] && [ -s "$file" ]; then
            realpath "$file"
            return 0
        fi
    done
}
