# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: each program of /tests by itself, its TAP and its exit kept.
mkdir -p /out/tap
for program in /tests/*; do
    [ -f "$program" ] || continue
    case $program in *.helper) continue ;; esac
    name=${program##*/}
    name=${name%.sh}
    case $program in
        *.sh) sh "$program" >"/out/tap/$name.txt" 2>&1 </dev/null ;;
        *) "$program" >"/out/tap/$name.txt" 2>&1 </dev/null ;;
    esac
    echo $? >"/out/tap/$name.exit"
done
exit 0
