# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: scans for leaks, writes what is found to /out/kmemleak.txt, and turns kmemleak off. Does nothing without
# kmemleak, or if it is off.
file=/sys/kernel/debug/kmemleak
if [ ! -w "$file" ] || ! echo scan=off 2>/dev/null >"$file"; then exit; fi
# It reports memory that is older than five seconds and was unreachable in two scans.
sleep 6
echo scan >"$file"
echo scan >"$file"
cat "$file" >/out/kmemleak.txt
echo off >"$file"
