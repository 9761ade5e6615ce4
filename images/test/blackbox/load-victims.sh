#!/bin/sh
# Gives a one-node test cluster the image blackbox and programs that die:
#   load-victims.sh LOADER       LOADER NAME:TAG DIR [ENTRYPOINT …] makes an image of DIR; USER_ID in its environment is the user
# Needs go and cc; the Python of this machine goes along where it is one program with its libraries.
set -eu
loader=${1:?usage: load-victims.sh LOADER}
here=$(cd "$(dirname "$0")" && pwd)
victims=$here/../../tools/cmd/blackbox/testdata
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sh "$here/../../blackbox/build-rootfs.sh" "$work/blackbox"
USER_ID=65532:65532 "$loader" localhost/blackbox:1 "$work/blackbox" /blackbox

mkdir -p "$work/victims/tmp"
cc -O2 -static -pthread -o "$work/victims/victim" "$victims/victim.c"
(cd "$victims/../../.." && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$work/victims/govictim" ./cmd/blackbox/testdata/govictim)
"$loader" localhost/victims:1 "$work/victims"
