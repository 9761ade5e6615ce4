#!/bin/sh
# Gives a one-node test cluster the images that the end-to-end tests name:
#   load-images.sh LOADER        LOADER NAME:TAG DIR [ENTRYPOINT …] makes an image of DIR; USER_ID in its environment is the user
set -eu
loader=${1:?usage: load-images.sh LOADER}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sh "$here/../../images/autodiagnose/build-rootfs.sh" "$work/autodiagnose"
USER_ID=65532:65532 "$loader" localhost/autodiagnose:1 "$work/autodiagnose" /autodiagnose.sh

sh "$here/../../images/autodiagnose/build-rootfs.sh" "$work/lines"
rm -r "$work/lines/autodiagnose.sh" "$work/lines/parts"
cp "$here/images/lines" "$work/lines/bin/lines"
chmod 0555 "$work/lines/bin/lines"
"$loader" localhost/lines:1 "$work/lines"

# The two images of EphemeralJob's examples, by the names that these have.
sh "$here/../../images/autodiagnose/build-rootfs.sh" "$work/busybox"
rm -r "$work/busybox/autodiagnose.sh" "$work/busybox/parts"
cp -R "$work/busybox" "$work/helloworld"
cp "$here/images/helloworld" "$work/helloworld/helloworld"
chmod 0555 "$work/helloworld/helloworld"
cp -R "$work/busybox" "$work/looker"
cp "$here/images/looker" "$work/looker/looker"
chmod 0555 "$work/looker/looker"
"$loader" localhost/looker:1 "$work/looker" /looker
"$loader" docker.io/library/busybox:latest "$work/busybox"
"$loader" reg.docker.alibaba-inc.com/zhoushua/helloworld:v1.1 "$work/helloworld" /helloworld

# These need go, and packages of Debian and PyPI, fetched once.
for image in stacks profile net; do
    sh "$here/../../images/$image/build-rootfs.sh" "$work/$image"
    USER_ID=65532:65532 "$loader" "localhost/$image:1" "$work/$image" "/$image"
done
