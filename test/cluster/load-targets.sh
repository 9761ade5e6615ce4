#!/bin/sh
# Gives a one-node test cluster the targets of the images that look into a runtime: a JVM, a Python, a Node and a Go process, each with a
# hot loop and something stuck (images/targets), as user 10001:10001. And starts: programs that die at once (images/starts); deaths: those
# that deaths.test.ts lets die.
#   load-targets.sh LOADER [NAME …]    LOADER NAME:TAG DIR [ENTRYPOINT …] makes an image of DIR; NAME is jvm, python, node, go, starts or deaths
# Needs Debian on this machine, node, /usr/bin/python3, go, gcc, g++ and rustc. KDEBUG_TOOLS keeps Debian's JVM between runs.
set -eu
loader=${1:?usage: load-targets.sh LOADER [NAME …]}
shift
here=$(cd "$(dirname "$0")/images/targets" && pwd)
cache=${KDEBUG_TOOLS:-$HOME/.cache/kdebug-tools}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export USER_ID=10001:10001

# The libraries that a program of this machine is linked with, at their own paths.
libraries() { # ROOT FILE …
    root=$1
    shift
    ldd "$@" | sed -n -e 's/.*=> \(\/[^ ]*\) (.*/\1/p' -e 's/^[[:space:]]*\(\/[^ :]*\) (.*/\1/p' | sort -u | while read -r library; do
        case $library in "$root"*) continue ;; esac
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
}

layout() { # ROOT: what each of them has
    mkdir -p "$1/tmp" "$1/etc" "$1/app"
    chmod 1777 "$1/tmp"
    printf 'root:x:0:0::/:/bin/sh\nshop:x:10001:10001::/:/bin/sh\n' >"$1/etc/passwd"
}

# Debian's JVM, which compiles too: its modules hold javac.
jvm() {
    debian=$cache/openjdk-17
    if [ ! -d "$debian/usr" ]; then
        mkdir -p "$cache" "$work/deb"
        # A new machine has no list of packages yet.
        (cd "$work/deb" && { apt-get download -q openjdk-17-jre-headless || { apt-get update -qq && apt-get download -q openjdk-17-jre-headless; }; }) >&2
        dpkg -x "$work"/deb/openjdk-17-jre-headless_*.deb "$work/openjdk-17"
        # Whoever is second finds it there.
        mv -T "$work/openjdk-17" "$debian" 2>/dev/null || test -d "$debian/usr"
    fi
    home=$(cd "$debian" && echo usr/lib/jvm/java-17-openjdk-*)
    root=$work/jvm
    layout "$root"
    cp -R "$debian/etc" "$root/"
    mkdir -p "$root/$home"
    cp -R "$debian/$home/bin" "$debian/$home/conf" "$debian/$home/lib" "$debian/$home/release" "$root/$home/"
    # What only a compiler or a screen needs.
    rm -f "$root/$home/lib/ct.sym" "$root/$home"/lib/libawt* "$root/$home"/lib/libfontmanager.so "$root/$home"/lib/libmlib_image.so
    libraries "$root" "$root/$home/bin/java" "$root/$home/lib/server/libjvm.so" "$root/$home/lib/libnet.so"
    # Debian's links lead to /etc of the same root; this machine's own JVM, or none, must not answer in its place.
    cp "$debian/etc/java-17-openjdk"/jvm-*.cfg "$work/jvm.cfg"
    rm -f "$root/$home/lib/jvm.cfg"
    cp "$work/jvm.cfg" "$root/$home/lib/jvm.cfg"
    mkdir -p "$root/usr/bin"
    ln -s "/$home/bin/java" "$root/usr/bin/java"
    cp "$here/jvm-deadlock/Shop.java" "$here/../starts/index/Index.java" "$here/deaths/Deaths.java" "$work/"
    "$root/$home/bin/java" -m jdk.compiler/com.sun.tools.javac.Main -proc:none -d "$root/app" "$work/Shop.java" "$work/Index.java" "$work/Deaths.java"
    "$loader" localhost/target-jvm:1 "$root" "/$home/bin/java" -Xmx48m -XX:+UseSerialGC -cp /app Shop
}

python() {
    root=$work/python
    layout "$root"
    library=$(/usr/bin/python3 -I -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    mkdir -p "$root/usr/bin" "$root$library"
    cp -L /usr/bin/python3 "$root/usr/bin/python3"
    tar -C "$library" --exclude=__pycache__ --exclude=test --exclude=dist-packages --exclude='config-*' --exclude=idlelib --exclude=lib2to3 \
        --exclude=tkinter --exclude=ensurepip --exclude=pydoc_data -cf - . | tar -C "$root$library" -xf -
    libraries "$root" /usr/bin/python3 "$library"/lib-dynload/*.so
    cp "$here/python-loop/app.py" "$root/app/"
    "$loader" localhost/target-python:1 "$root" /usr/bin/python3 -I /app/app.py
}

node() {
    root=$work/node
    layout "$root"
    program=$(command node -p process.execPath)
    mkdir -p "$root/usr/bin"
    cp -L "$program" "$root/usr/bin/node"
    libraries "$root" "$program"
    cp "$here/node-loop/app.cjs" "$root/app/"
    "$loader" localhost/target-node:1 "$root" /usr/bin/node /app/app.cjs
}

go() {
    root=$work/go
    layout "$root"
    (cd "$here/go-server" && CGO_ENABLED=0 command go build -trimpath -ldflags=-w -o "$root/app/server" .)
    "$loader" localhost/target-go:1 "$root" /app/server
}

# A Go program for this processor and for another one, and a C program without its library.
starts() {
    root=$work/starts
    layout "$root"
    for processor in amd64 arm64; do
        (cd "$here/../starts/shop" && CGO_ENABLED=0 GOARCH=$processor command go build -trimpath -ldflags=-w -o "$root/app/shop-$processor" .)
    done
    cc -shared -Wl,-soname,libprice.so.2 -o "$work/libprice.so.2" "$here/../starts/linked/price.c"
    cc -o "$root/app/linked" "$here/../starts/linked/shop.c" "$work/libprice.so.2"
    libraries "$root" /usr/bin/env
    "$loader" localhost/target-starts:1 "$root" /app/shop-amd64
}

# Those of C and Go are the ones of blackbox' own tests.
deaths() {
    root=$work/deaths
    layout "$root"
    sources=$here/../../../../images/tools/cmd/blackbox/testdata
    gcc -O2 -pthread -o "$root/app/c" "$sources/victim.c"
    (cd "$sources/govictim" && CGO_ENABLED=0 command go build -trimpath '-ldflags=-s -w' -o "$root/app/go" .)
    g++ -O2 -o "$root/app/cpp" "$here/deaths/deaths.cpp"
    rustc -O -o "$root/app/rust" "$here/deaths/deaths.rs"
    rustc -O -C panic=abort -o "$root/app/rust-abort" "$here/deaths/deaths.rs"
    libraries "$root" "$root/app/c" "$root/app/cpp" "$root/app/rust" "$root/app/rust-abort"
    "$loader" localhost/target-deaths:1 "$root" /app/c
}

for target in "${@:-jvm python node go starts deaths}"; do
    for each in $target; do
        case $each in
        jvm | python | node | go | starts | deaths) "$each" ;;
        *) echo "no target $each" >&2 && exit 2 ;;
        esac
    done
done
