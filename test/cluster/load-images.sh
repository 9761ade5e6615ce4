#!/bin/sh
# Gives a one-node test cluster the images that the end-to-end tests name:
#   load-images.sh LOADER        LOADER NAME:TAG DIR [ENTRYPOINT …] makes an image of DIR; USER_ID in its environment is the user
set -eu
loader=${1:?usage: load-images.sh LOADER}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Debian's static busybox under the names of all its programs.
with_busybox() { # DIR
    mkdir -p "$1/bin" "$1/tmp" "$1/etc"
    cp /bin/busybox "$1/bin/busybox"
    for applet in $(/bin/busybox --list); do
        if [ "$applet" != busybox ]; then ln -sf busybox "$1/bin/$applet"; fi
    done
    printf 'root:x:0:0::/:/bin/sh\nnonroot:x:65532:65532::/:/bin/sh\n' >"$1/etc/passwd"
}

with_busybox "$work/lines"
cp "$here/images/lines" "$work/lines/bin/lines"
chmod 0555 "$work/lines/bin/lines"
"$loader" localhost/lines:1 "$work/lines"

# The two images of EphemeralJob's examples, by the names that these have.
with_busybox "$work/busybox"
cp -R "$work/busybox" "$work/helloworld"
cp "$here/images/helloworld" "$work/helloworld/helloworld"
chmod 0555 "$work/helloworld/helloworld"
cp -R "$work/busybox" "$work/looker"
cp "$here/images/looker" "$work/looker/looker"
chmod 0555 "$work/looker/looker"
"$loader" localhost/looker:1 "$work/looker" /looker
"$loader" docker.io/library/busybox:latest "$work/busybox"
"$loader" reg.docker.alibaba-inc.com/zhoushua/helloworld:v1.1 "$work/helloworld" /helloworld

# These need go, and all but the first and the last packages of Debian and PyPI, fetched once.
for image in autodiagnose stacks profile net blackbox; do
    sh "$here/../../images/$image/build-rootfs.sh" "$work/$image"
    USER_ID=65532:65532 "$loader" "localhost/$image:1" "$work/$image" "/$image"
done
