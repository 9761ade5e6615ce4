#!/bin/sh
# Lays out the image's root in DIR without a container runtime:
#   build-rootfs.sh DIR
# The entry point is /blackbox, the user 65532:65532. Needs go; GOARCH in the environment is the processor to build for.
set -eu
root=${1:?usage: build-rootfs.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../packages.sh
. "$here/../packages.sh"

mkdir -p "$root/tmp" "$root/etc"
entry_point "$root" blackbox
# To be read, for "blackbox carry": packed, because it is there only for that.
gzip -9 -n <"$root/blackbox" >"$root/blackbox.gz"
chmod 0444 "$root/blackbox.gz"
# To be run but not read: the kernel then keeps other processes of the same user, as the target may be, out of ours (execve(2),
# PR_SET_DUMPABLE), so that a target can neither write into our log nor read our environment.
chmod 0111 "$root/blackbox"
