# Name resolution as the target has it configured. Only a name of the cluster is looked up.

# Sets servers to their number, server to the first, zone to the cluster's own zone (the search domain that begins with
# "svc."), searches to the number of search domains, ndots. The target chooses how long the file is.
read_resolv_conf() {
    servers=0 server='' zone='' searches=0 ndots=1
    while read -r key rest; do
        case $key in
            nameserver)
                servers=$((servers + 1))
                if [ -z "$server" ]; then server=${rest%% *}; fi
                ;;
            search)
                searches=0
                for domain in $rest; do
                    searches=$((searches + 1))
                    case $domain in *[!A-Za-z0-9.-]*) ;; svc.*) zone=$domain ;; esac
                done
                ;;
            options)
                for option in $rest; do
                    case $option in ndots:*) ndots=${option#ndots:} ;; esac
                done
                ;;
        esac
    done <<HERE
$(head -c 16384 "$1" 2>/dev/null | tr -d '\0')
HERE
    case $server in *[!0-9A-Fa-f.:]*) server='' ;; esac
}

look_at_dns() {
    conf=/etc/resolv.conf
    theirs=/proc/${PID:-self}/root/etc/resolv.conf
    # A pipe would have us wait for its writer.
    if [ -f "$theirs" ] && [ -r "$theirs" ]; then conf=$theirs; fi
    if [ ! -r "$conf" ]; then
        blind dns "there is no resolv.conf to read; $HELP"
        return
    fi
    read_resolv_conf "$conf"
    count_of "$searches" 'search domain'
    dns_text="$counted, ndots $ndots"
    count_of "$servers" 'name server'
    dns_text="$counted, $dns_text"
    tell=section
    found dns_many_servers "$servers" "resolv.conf names $servers servers"
    if [ "$servers" -eq 0 ] || [ -z "$server" ]; then
        found dns_no_server 0 'resolv.conf names no server'
    elif [ -z "${KUBERNETES_SERVICE_HOST:-}" ] || [ -z "$zone" ]; then
        tell=skipped dns_text="$dns_text; no lookup, this is not a cluster's DNS"
    elif ! command -v nslookup >/dev/null 2>&1; then
        tell=skipped dns_text="$dns_text; no lookup, there is no nslookup"
    elif timed_lookup a && timed_lookup aaaa; then
        look_at_dns_over_tcp
    fi
    "$tell" dns "$dns_text"
}

# timed_lookup TYPE: fails when nobody answered.
timed_lookup() {
    name=kubernetes.default.$zone
    now && asked_at=$clock
    answer=$(limited 2 nslookup "-type=$1" "$name" "$server" 2>&1)
    status=$?
    now && took=$(((clock - asked_at) * 10))
    dns_text="$dns_text; $1 of $name in $took ms"
    case $answer in
        *NXDOMAIN*)
            found dns_unknown_name 1 "DNS does not know $name (NXDOMAIN)"
            return 1
            ;;
        *'No answer'* | *"${name}"*ddress*) status=0 ;;
    esac
    if [ "$status" -ne 0 ]; then
        found dns_unanswered "$took" "the name server $server gave no answer for $1 of $name within $took ms"
        return 1
    fi
    found dns_slow "$took" "DNS took $took ms for $1 of $name" || :
}

# What is too long for UDP is asked again by TCP.
look_at_dns_over_tcp() {
    find_nc || return
    result=$(try_peer "$server" 53)
    dns_text="$dns_text; by TCP ${result%% *}"
    case $result in
        reachable*) ;;
        *) found dns_no_tcp 1 "the name server $server answers by UDP only (TCP: ${result%% *})" ;;
    esac
}
