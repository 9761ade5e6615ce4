# Certificates of the endpoints that AUTODIAGNOSE_TLS names, within the cluster only.

# Whether a host is within the cluster: a private address, or a name that only the cluster's DNS knows.
is_inside() {
    case $1 in
        '' | -* | *[!A-Za-z0-9.:-]*) return 1 ;;
        *.svc | *.cluster.local | *.internal | localhost) return 0 ;;
        *[!0-9.]*.*) return 1 ;;
        *.*) is_private "$1" ;;
        *) return 0 ;;
    esac
}

look_at_tls() {
    if [ -z "${AUTODIAGNOSE_TLS:-}" ]; then
        skipped tls 'no endpoints to look at (AUTODIAGNOSE_TLS names them)'
        return
    fi
    if ! command -v openssl >/dev/null 2>&1; then
        blind tls 'the certificates cannot be read: this image has no openssl' 'the tool openssl' ''
        return
    fi
    tls_text='' looked=0 left_out=0
    set -f
    for endpoint in $AUTODIAGNOSE_TLS; do
        host=${endpoint%:*} port=${endpoint##*:}
        if ! is_number "$port" || ! is_inside "$host" || [ "$looked" -ge 5 ]; then
            left_out=$((left_out + 1))
            continue
        fi
        looked=$((looked + 1))
        look_at_certificate
    done
    set +f
    if [ "$left_out" -gt 0 ]; then tls_text="$tls_text; $left_out left out (not within the cluster, no HOST:PORT, or beyond the fifth)"; fi
    count_of "$looked" endpoint
    if [ "$looked" -eq 0 ]; then skipped tls "$counted$tls_text"; else section tls "$counted$tls_text"; fi
}

look_at_certificate() {
    case $host in *[!0-9.]*) check=-checkhost ;; *) check=-checkip ;; esac
    answer=$(limited 3 openssl s_client -connect "$host:$port" -servername "$host" 2>/dev/null |
        openssl x509 -noout -enddate "$check" "$host" 2>/dev/null)
    days=$(printf '%s\n' "$answer" | awk -v now="$(date +%s)" '
        # Days from 1970 to a date of the Gregorian calendar.
        function days(year, month, day) {
            if (month < 3) { year--; month += 12 }
            return 365 * year + int(year / 4) - int(year / 100) + int(year / 400) + int((153 * (month - 3) + 2) / 5) + day - 719469
        }
        sub(/^notAfter=/, "") {
            split($3, clock, ":")
            end = days($4, (index("JanFebMarAprMayJunJulAugSepOctNovDec", $1) + 2) / 3, $2) * 86400 + clock[1] * 3600 + clock[2] * 60
            left = (end - now) / 86400
            print left < 0 ? 0 : int(left)
        }')
    if [ -z "$days" ]; then
        tls_text="$tls_text; $host:$port gave no certificate"
        return
    fi
    count_of "$days" day
    tls_text="$tls_text; $host:$port has $counted left"
    found tls_expiring "$days" "the certificate of $host:$port has $counted left"
    case $answer in *'NOT match'*) found tls_mismatch 1 "the certificate of $host:$port is not for that name" ;; esac
}
