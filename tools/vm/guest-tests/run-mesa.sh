# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: clients of Mesa and libva in their own user space (/root), each
# with a time limit. TAP. $1 is a part of Mesa's name for the GPU, the other words
# are features that Mesa lacks on it or has in another form. With OURO_STREAMS=1
# the streams for a radeon device are written to /out/streams.

gpu=$1
shift
export OURO_LACKS="$*"
mkdir -p /tmp/clients /tmp/tap /out/tap
cp /tests/* /tmp/clients/

# run NAME LIMIT COMMAND...
run() {
    name=$1 limit=$2
    shift 2
    preload='' record=''
    if [ -n "${OURO_STREAMS:-}" ]; then
        mkdir -p /out/streams
        preload=/tmp/clients/record.so record=/out/streams/$name
    fi
    LD_PRELOAD=$preload OURO_RECORD=$record chroot /root timeout -k 5 "$limit" "$@" >"/tmp/tap/$name.txt" 2>&1 </dev/null
    rc=$?
    echo "$rc" >"/tmp/tap/$name.exit"
    echo "$name: ended with $rc"
}

run draw 300 /tmp/clients/draw "$gpu"
run scenes 300 /tmp/clients/scenes "$gpu"
run share 120 /tmp/clients/share "$gpu"

# The upstream driver allows Mesa compressed depth, which the model does not have; ours does not
# (uapi.rst). The upstream driver is the one without usage in fdinfo.
case $OURO_LACKS in *usage*) export RADEON_DEBUG=nohiz,nozmask,nocmask ;; esac
case $OURO_LACKS in *draws*) run picture 300 /tmp/clients/picture "$gpu" 160 120 ;; esac
unset RADEON_DEBUG
case $OURO_LACKS in *video*) ;; *) run decode 120 /tmp/clients/decode ;; esac

# Mesa's own program that opens the device on each platform of EGL.
run info 120 eglinfo.x86_64-linux-gnu -B
# Without an X server it always fails, so its output is tested.
rm /tmp/tap/info.exit
mv /tmp/tap/info.txt /tmp/info
{
    n=0
    for platform in GBM Surfaceless; do
        n=$((n + 1))
        if sed -n "/^$platform platform:/,/^\$/p" /tmp/info | grep -q "renderer: .*$gpu"; then
            echo "ok $n eglinfo finds the GPU on $platform"
        else
            echo "not ok $n eglinfo finds the GPU on $platform"
        fi
    done
    sed 's/^/# /' /tmp/info
    echo "1..2"
} >/tmp/tap/info.txt

# Mesa ignores that the kernel refuses a stream. The argument refused=N is the
# expected number of these.
{
    known=0
    for word in $OURO_LACKS; do
        case $word in refused=*) known=${word#*=} ;; esac
    done
    refused=$(cat /tmp/tap/*.txt /tmp/info | grep -c 'rejected CS')
    echo "# $refused streams refused, $known are known"
    [ "$refused" -le "$known" ] || printf 'not '
    echo "ok 1 the kernel takes all streams but those known"
    echo "1..1"
} >/tmp/tap/streams.txt

cp /tmp/tap/* /out/tap/
exit 0
