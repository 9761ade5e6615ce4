#!/bin/sh
# Lays out the image's root in DIR without a registry, from a static busybox (Debian: busybox-static):
#   build-rootfs.sh DIR [BUSYBOX]
# The entry point is /autodiagnose.sh, the user 65532:65532.
set -eu
root=${1:?usage: build-rootfs.sh DIR [BUSYBOX]}
busybox=${2:-/bin/busybox}
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$root/bin" "$root/tmp" "$root/etc" "$root/parts"
cp "$busybox" "$root/bin/busybox"
for applet in $("$busybox" --list); do
    if [ "$applet" != busybox ]; then ln -sf busybox "$root/bin/$applet"; fi
done
printf 'root:x:0:0::/:/bin/sh\nnonroot:x:65532:65532::/:/bin/sh\n' >"$root/etc/passwd"
cp "$here/autodiagnose.sh" "$root/autodiagnose.sh"
cp "$here"/parts/*.sh "$root/parts/"
chmod 0555 "$root/autodiagnose.sh" "$root/bin/busybox"
chmod 0444 "$root"/parts/*.sh
