# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: IGT's gputop beside a client that keeps all engines busy. TAP. gputop reads the fdinfo
# that all DRM drivers have, and has no code for this one.

client=gem_spin_batch
: >/tmp/busy
(
    while [ -e /tmp/busy ]; do
        chroot /root timeout -k 5 60 "/usr/libexec/igt-gpu-tools/$client" --run-subtest legacy
    done
) >/tmp/client.txt 2>&1 </dev/null &

# The client starts and ends: one sample may miss it.
for _ in $(seq 40); do
    chroot /root timeout -k 5 60 env TERM=dumb COLUMNS=120 gputop -d 1 -n 4 >/tmp/gputop.txt 2>&1 </dev/null
    if grep "$client" /tmp/gputop.txt | grep -qE '[1-9][0-9]*\.[0-9]%'; then break; fi
done
rm /tmp/busy
wait

n=0
# seen PATTERN NAME
seen() {
    n=$((n + 1))
    if grep -qE "$1" /tmp/gputop.txt; then echo "ok $n $2"; else echo "not ok $n $2"; fi
}
seen 'DRM minor' "gputop finds the device"
seen ' render ' "gputop finds the render engine"
seen ' copy ' "gputop finds the blitter"
seen ' video ' "gputop finds the video engine"
seen "$client" "gputop finds the client"
seen "[1-9][0-9]*\.[0-9]%.*$client" "gputop sees the client work"
sed 's/^/# /' /tmp/gputop.txt
echo "1..$n"
exit 0
