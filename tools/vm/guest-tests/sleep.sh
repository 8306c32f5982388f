# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: to sleep and awake again. sleep.sh STATE LEVEL, words of
# /sys/power/state and /sys/power/pm_test: as far as the level says, and back.
#
# The kernel's 9p does not survive it: the shared folder's device is away
# meanwhile, and nothing may be open there.

state=$1 level=$2
virtio=/sys/bus/pci/drivers/virtio-pci
shared=
for link in "$virtio"/*:*:*; do
    [ ! -e "$link" ] || shared=${link##*/}
done
umount /out && echo "$shared" >"$virtio/unbind" || exit 1
echo 0 >/sys/module/suspend/parameters/pm_test_delay
echo "$level" >/sys/power/pm_test
slept=0
echo "$state" >/sys/power/state || slept=1
echo none >/sys/power/pm_test
echo "$shared" >"$virtio/bind"
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /out && [ "$slept" = 0 ]
