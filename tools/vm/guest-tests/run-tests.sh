# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: runs each program of /tests, and stores its TAP and exit status.
# Nothing may be open in /out meanwhile: a test of suspend unmounts it.
mkdir -p /tmp/tap /out/tap
# Prints the seconds of work of the guest's processors.
worked() { awk '/^cpu / {print int(($2 + $3 + $4 + $7 + $8) / 100)}' /proc/stat; }
for program in /tests/*; do
    [ -f "$program" ] || continue
    case $program in *.helper) continue ;; esac
    name=${program##*/}
    name=${name%.sh}
    began=$(cut -d. -f1 /proc/uptime)
    before=$(worked)
    case $program in
        *.sh) sh "$program" >"/tmp/tap/$name.txt" 2>&1 </dev/null ;;
        *) "$program" >"/tmp/tap/$name.txt" 2>&1 </dev/null ;;
    esac
    echo $? >"/tmp/tap/$name.exit"
    echo "$name: ended with $(cat "/tmp/tap/$name.exit") after $(($(cut -d. -f1 /proc/uptime) - began)) s, $(($(worked) - before)) s of work"
    cp "/tmp/tap/$name."* /out/tap/
done
exit 0
