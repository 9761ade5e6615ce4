#!/bin/sh
# Lays out the image's root in DIR without a container runtime:
#   build-rootfs.sh DIR
# The entry point is /profile, the user 65532:65532. Needs go, apt-get, dpkg-deb and pip; see ../packages.sh.
set -eu
root=${1:?usage: build-rootfs.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/../packages.sh"

mkdir -p "$root/tmp" "$root/etc" "$root/usr/bin"
packages libc6 jattach "$work/tree"
program "$root" "$work/tree" /usr/bin/jattach
wheel py-spy "$work/py-spy"
cp "$work"/py-spy/py_spy-*.data/scripts/py-spy "$root/usr/bin/py-spy"
entry_point "$root" profile
# To be run but not read: the kernel then keeps other processes of the same user, as the target may be, out of ours (execve(2),
# PR_SET_DUMPABLE), so that a target can neither write into our log nor read our environment.
chmod 0111 "$root/profile" "$root/usr/bin/py-spy"
