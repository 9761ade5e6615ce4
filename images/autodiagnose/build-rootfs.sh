#!/bin/sh
# Lays out the image's root in DIR without a registry, from a static busybox (Debian: busybox-static):
#   build-rootfs.sh DIR [BUSYBOX [LISTER]]
# LISTER is the busybox that runs here and names the applets; needed when BUSYBOX is for another platform.
# The entry point is /autodiagnose.sh, the user 65532:65532.
set -eu
root=${1:?usage: build-rootfs.sh DIR [BUSYBOX [LISTER]]}
busybox=${2:-/bin/busybox}
lister=${3:-$busybox}
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$root/bin" "$root/tmp" "$root/etc" "$root/parts"
cp "$busybox" "$root/bin/busybox"
for applet in $("$lister" --list); do
    if [ "$applet" != busybox ]; then ln -sf busybox "$root/bin/$applet"; fi
done
printf 'root:x:0:0::/:/bin/sh\nnonroot:x:65532:65532::/:/bin/sh\n' >"$root/etc/passwd"
cp "$here/autodiagnose.sh" "$root/autodiagnose.sh"
cp "$here"/parts/*.sh "$root/parts/"
chmod 0555 "$root/autodiagnose.sh"
# To be run but not read: the kernel then keeps other processes of the same user, as the target may be, out of ours (execve(2),
# PR_SET_DUMPABLE), so that a target can neither write into our log nor read our environment.
chmod 0111 "$root/bin/busybox"
chmod 0444 "$root"/parts/*.sh
