# Sockets of the target, or of the whole pod where the target does not let us look.

# The counters of the network namespace: segments out, sent again, overflows of listen queues.
tcp_counters() {
    awk '
        $1 != before { for (place = 2; place <= NF; place++) name[place] = $place; before = $1; next }
        { for (place = 2; place <= NF; place++) value[$1 name[place]] = $place; before = "" }
        END { print value["Tcp:OutSegs"] + 0, value["Tcp:RetransSegs"] + 0, value["TcpExt:ListenOverflows"] + 0 }
    ' "/proc/${PID:-self}/net/snmp" "/proc/${PID:-self}/net/netstat" 2>/dev/null
}

start_socket_sample() { counters_before=$(tcp_counters); }

look_at_sockets() {
    whose='' worst='' most_waiting=0 slow_port=0 is_full=false listeners=''
    while read -r key first second third fourth fifth sixth seventh; do
        case $key in
            states) established=$first syn_sent=$second time_wait=$third close_wait=$fourth listening=$fifth all=$sixth whose=$seventh ;;
            heap) worst="$first $second $third $fourth" ;;
            listen)
                most_waiting=$first slow_port=$second listeners="$fourth $fifth $sixth $seventh"
                # No answer from the pod's own listener.
                if [ "$third" -gt 0 ]; then is_full=true; fi
                ;;
            port_use) found ports_near_limit "$first" "$first% of the local ports towards ${fourth} port $fifth are in use ($second of $third)" ;;
        esac
    done <<HERE
$SURVEY
HERE
    if [ ! -r "/proc/${PID:-self}/net/tcp" ] || [ -z "$whose" ]; then
        blind sockets "the sockets are not readable; $HELP"
        return
    fi
    found close_wait "$close_wait" "$close_wait sockets in CLOSE_WAIT${worst:+, most $worst}"
    found syn_sent "$syn_sent" "$syn_sent connections get no answer (SYN_SENT)"
    found accept_queue "$most_waiting" "$most_waiting connections wait to be accepted at port $slow_port" && is_full=true
    text="$((all - time_wait)) of the $whose: $established established, $listening listening, $close_wait CLOSE_WAIT, $syn_sent SYN_SENT; $time_wait TIME_WAIT in the pod"
    look_at_counters
    look_at_conntrack
    # shellcheck disable=SC2086 # to be split
    set -- $listeners
    if [ $# -gt 0 ]; then detail sockets "listens at port $*"; fi
    section sockets "$text"
}

# Counters of the past mean something only while they grow, or while a queue is full. /proc does not tell how many it takes.
look_at_counters() {
    # shellcheck disable=SC2046,SC2086 # to be split
    set -- $counters_before $(tcp_counters)
    if [ $# -lt 6 ]; then return; fi
    sent=$(($4 - $1)) again=$(($5 - $2)) dropped=$(($6 - $3))
    count_of "$6" connection
    if [ "$6" -gt 0 ]; then text="$text; $counted dropped by full listen queues since the start"; fi
    if [ "$most_waiting" -gt 0 ]; then
        if [ "$is_full" = true ]; then dropped=$6; fi
        count_of "$most_waiting" 'connection waits' 'connections wait'
        wait_there=$counted
        count_of "$dropped" 'was dropped' 'were dropped'
        found listen_overflow "$dropped" "a listen queue is full: $wait_there at port $slow_port, $counted"
    elif [ "$whose" != target ]; then
        count_of "$dropped" connection
        found listen_overflow "$dropped" "full listen queues of the pod dropped $counted within the sample"
    fi
    # A share of very few is none.
    if [ "$sent" -ge 100 ]; then
        share=$((again * 100 / sent))
        found retransmits "$share" "$share% of the sent TCP segments had to be sent again ($again of $sent)"
        text="$text; $share% sent again"
    fi
}

look_at_conntrack() {
    if ! is_number "$tracked" || [ "${tracked_most:-0}" -eq 0 ]; then return; fi
    share=$((tracked * 100 / tracked_most))
    found conntrack_near_limit "$share" "tracked connections at $share% of the limit ($tracked of $tracked_most)"
}
