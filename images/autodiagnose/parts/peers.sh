# Peers that the target talks to, and the API server: does a new connection succeed? Private addresses only, a few, all at
# once, without data.

is_private() {
    case $1 in
        10.* | 192.168.* | 127.* | ::1 | fc??:* | fd??:*) return 0 ;;
        172.1[6-9].* | 172.2[0-9].* | 172.3[01].*) return 0 ;;
        100.6[4-9].* | 100.[7-9][0-9].* | 100.1[01][0-9].* | 100.12[0-7].*) return 0 ;;
        *) return 1 ;;
    esac
}

# Sets zero to the flag of this nc that sends nothing, if it has one; fails when there is no nc.
find_nc() {
    command -v nc >/dev/null 2>&1 || return 1
    case $(nc --help 2>&1) in *-z*) zero=-z ;; *) zero='' ;; esac
}

# try_peer ADDRESS PORT: one line, the result in its first word.
try_peer() {
    # shellcheck disable=SC2086 # a flag, or nothing
    said=$(limited 2 nc $zero -w 1 "$1" "$2" 2>&1)
    status=$?
    case $said in
        *refused*) echo "refused $1 $2" ;;
        *'timed out'* | *imeout*) echo "timeout $1 $2" ;;
        *nreachable* | *'o route'*) echo "unreachable $1 $2" ;;
        # Ended by us: it was connected, and the peer keeps it open.
        *) case $status in 0 | 124) echo "reachable $1 $2" ;; *) echo "unreachable $1 $2" ;; esac ;;
    esac
}

# The results of all, tried at the same time; the API server in a line that begins with "api".
try_peers() {
    if [ -n "$api" ]; then echo "api $(try_peer "$api" "${KUBERNETES_SERVICE_PORT:-443}")" & fi
    tried=0
    # Those that do not answer the target come first.
    while read -r _ _ _ address port; do
        if ! is_private "$address"; then continue; fi
        tried=$((tried + 1))
        if [ "$tried" -le "$PEERS" ]; then try_peer "$address" "$port" & fi
    done <<HERE
$peers
HERE
    wait
}

look_at_peers() {
    peers=$(printf '%s\n' "$SURVEY" | awk '$1 == "peer" { if ($2 > 0) print; else rest = rest "\n" $0 } END { print substr(rest, 2) }')
    total=0 outside=0 tried=0 good=0 refused=0 silent=0 refused_at='' silent_at='' api=''
    while read -r _ _ _ address port; do
        if [ -z "$port" ]; then continue; fi
        total=$((total + 1))
        is_private "$address" || outside=$((outside + 1))
    done <<HERE
$peers
HERE
    count_of "$total" peer
    text="$counted, $outside of them outside the private ranges and never tried"
    if is_private "${KUBERNETES_SERVICE_HOST:-}"; then api=$KUBERNETES_SERVICE_HOST; fi
    if [ "$PEERS" -eq 0 ] || { [ "$total" -eq "$outside" ] && [ -z "$api" ]; }; then
        skipped peers "$text"
        return
    fi
    if ! find_nc; then
        blind peers "$text; there is no nc to try them with" 'the tool nc' ''
        return
    fi
    results=$(try_peers)
    while read -r result address port _; do
        case $result in
            '') continue ;;
            # No finding: a pod may well be kept from it.
            api)
                text="$text; the API server: $address"
                continue
                ;;
            reachable) good=$((good + 1)) ;;
            refused) refused=$((refused + 1)) refused_at="$refused_at $address:$port" ;;
            *) silent=$((silent + 1)) silent_at="$silent_at $address:$port" ;;
        esac
        tried=$((tried + 1))
        detail peers "$address port $port: $result"
    done <<HERE
$results
HERE
    count_of "$refused" 'peer refuses' 'peers refuse'
    if [ "$refused" -gt 0 ]; then found peer_refused "$refused" "$counted a new connection:$refused_at"; fi
    count_of "$silent" 'peer does' 'peers do'
    if [ "$silent" -gt 0 ]; then found peer_timeout "$silent" "$counted not answer a new connection:$silent_at"; fi
    section peers "$text; tried $tried: $good reachable, $refused refused, $silent without an answer"
}
