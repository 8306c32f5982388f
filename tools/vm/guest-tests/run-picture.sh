# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# In the guest: the picture by OpenGL, in the user space of Mesa (/root). Its output and both
# drawings are written to /out. $1 is a part of Mesa's name for the GPU, then width and height.

mkdir -p /tmp/clients /tmp/picture
cp /tests/picture /tmp/clients/
chroot /root timeout -k 5 600 /tmp/clients/picture "$1" "$2" "$3" /tmp/picture >/out/gl.txt 2>&1 </dev/null
rc=$?
cp /tmp/picture/*.ppm /out/
cat /out/gl.txt
if grep -q 'rejected CS' /out/gl.txt; then rc=1; fi
exit "$rc"
