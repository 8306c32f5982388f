# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: to sleep and awake again. sleep.sh STATE LEVEL, words of
# /sys/power/state and /sys/power/pm_test: as far as the level says, and back.
# `mem real`: the machine itself sleeps, and its clock wakes it. Its devices lose
# their power, which they do not in the kernel's tests. Once in a guest: it does
# not get the event of its clock off the second time.
# `disk image`: memory is written to swap on a RAM disk, read back, and goes on
# from there; it needs one that is large enough (ramdisk_size=).
#
# The kernel's 9p does not survive it: the shared folder's device is away
# meanwhile, and nothing may be open there.

state=$1 level=$2
# What KASAN knows of memory is in its image, too: some hundred megabytes, page
# by page. It goes as far as the devices, which takes the kernel five seconds.
[ "$level" != image ] || [ "$OURO_KERNEL" != debug ] || level=devices
disk=/dev/ram15
virtio=/sys/bus/pci/drivers/virtio-pci
shared=
for link in "$virtio"/*:*:*; do
    [ ! -e "$link" ] || shared=${link##*/}
done
# To make an image smaller takes longer than to write it.
[ "$state" != disk ] || echo $((1 << 40)) >/sys/power/image_size
umount /out && echo "$shared" >"$virtio/unbind" || exit 1
slept=0
clock=/sys/class/rtc/rtc0/wakealarm
# Not before it sleeps.
[ "$OURO_KERNEL" != debug ] && seconds=3 || seconds=20
if [ "$level" = real ]; then
    { echo 0 >"$clock" && echo "+$seconds" >"$clock" && echo "$state" >/sys/power/state; } || slept=1
elif [ "$level" = image ]; then
    { mkswap "$disk" && swapon "$disk" && echo test_resume >/sys/power/disk &&
        echo disk >/sys/power/state; } || slept=1
    swapoff "$disk"
    # After a successful resume the log of the saved kernel lacks this line; if it is there, the image was never
    # restored.
    ! dmesg | grep 'Image saving done' || slept=1
else
    echo 0 >/sys/module/suspend/parameters/pm_test_delay
    echo "$level" >/sys/power/pm_test
    echo "$state" >/sys/power/state || slept=1
    echo none >/sys/power/pm_test
fi
echo "$shared" >"$virtio/bind"
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /out && [ "$slept" = 0 ]
