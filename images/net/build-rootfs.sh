#!/bin/sh
# Lays out the image's root in DIR without a container runtime:
#   build-rootfs.sh DIR
# The entry point is /net, the user 65532:65532. Needs go, apt-get and dpkg-deb; see ../packages.sh.
set -eu
root=${1:?usage: build-rootfs.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=../packages.sh
. "$here/../packages.sh"

mkdir -p "$root/tmp" "$root/etc" "$root/usr/bin"
# tcpdump compiles filters and does nothing else. netbase has the names of ports and protocols that a filter may use.
packages libc6 tcpdump libpcap0.8 libdbus-1-3 libsystemd0 libssl3 libgcrypt20 libgpg-error0 liblz4-1 liblzma5 libzstd1 libcap2 netbase "$work/tree"
program "$root" "$work/tree" /usr/bin/tcpdump
cp "$work/tree/etc/services" "$work/tree/etc/protocols" "$root/etc/"
entry_point "$root" net
# To be run but not read: the kernel then keeps other processes of the same user, as the target may be, out of ours (execve(2),
# PR_SET_DUMPABLE), so that a target can neither write into our log nor read our environment.
chmod 0111 "$root/net"
