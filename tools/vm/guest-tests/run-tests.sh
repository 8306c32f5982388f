# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: runs each program of /tests, and stores its TAP and exit status. Programs of OURO_AFTER_SCAN are last, behind
# a scan for leaks that turns kmemleak off: with it, an allocation takes twice the time and more.
# Nothing may be open in /out meanwhile: a test of suspend unmounts it.
mkdir -p /tmp/tap /out/tap
# Prints the seconds of work of the guest's processors.
worked() { awk '/^cpu / {print int(($2 + $3 + $4 + $7 + $8) / 100)}' /proc/stat; }
# run PROGRAM
run() {
    name=${1##*/}
    name=${name%.sh}
    began=$(cut -d. -f1 /proc/uptime)
    before=$(worked)
    case $1 in
        *.sh) sh "$1" >"/tmp/tap/$name.txt" 2>&1 </dev/null ;;
        *) "$1" >"/tmp/tap/$name.txt" 2>&1 </dev/null ;;
    esac
    echo $? >"/tmp/tap/$name.exit"
    echo "$name: ended with $(cat "/tmp/tap/$name.exit") after $(($(cut -d. -f1 /proc/uptime) - began)) s, $(($(worked) - before)) s of work"
    cp "/tmp/tap/$name."* /out/tap/
}
after=''
for program in /tests/*; do
    [ -f "$program" ] || continue
    case $program in *.helper) continue ;; esac
    case " $OURO_AFTER_SCAN " in
        *" ${program##*/} "*) after="$after $program" ;;
        *) run "$program" ;;
    esac
done
if [ -n "$after" ]; then sh /bin/leaks.sh; fi
for program in $after; do run "$program"; done
exit 0
