# One pass over the target's open files and the pod's sockets, for the sections io, files, sockets and peers.

SURVEY=''

# The lists: the limits and open files of the target's processes, as far as they let us look, behind the line "looked"
# when those are all; then the sockets of the network namespace.
survey_lists() {
    net=/proc/${PID:-self}/net
    if [ "$SEES" = true ] && [ "$LISTABLE" = true ] && [ -n "$TREE" ]; then
        if [ "$LIVING" -le 64 ]; then echo looked; fi
        set --
        for process in $TREE; do set -- "$@" "/proc/$process/limits"; done
        grep -s '^Max open files' "$@" /dev/null
        # With two of them at least, ls names each folder.
        set -- /proc/self/fd/
        for process in $TREE; do set -- "$@" "/proc/$process/fd/"; done
        ls -l "$@" 2>/dev/null
    fi
    echo sockets
    cat "$net/tcp" "$net/tcp6" 2>/dev/null
}

# Lines of key and values: files, sockets, deleted, states, heap, listen, port_use, peer.
survey() {
    # The shell reads byte by byte, and /proc/sys gives only the first.
    # shellcheck disable=SC2046 # to be split
    set -- $(cat /proc/sys/net/ipv4/ip_local_port_range /proc/sys/net/netfilter/nf_conntrack_max /proc/sys/net/netfilter/nf_conntrack_count 2>/dev/null)
    tracked_most=${3:-} tracked=${4:-}
    SURVEY=$(survey_lists | awk -v range="${1:-} ${2:-}" '
        function hex(text, place, number) {
            for (place = 1; place <= length(text); place++) number = number * 16 + index("123456789ABCDEF", substr(text, place, 1))
            return number + 0
        }
        function four(text) { return hex(substr(text, 7, 2)) "." hex(substr(text, 5, 2)) "." hex(substr(text, 3, 2)) "." hex(substr(text, 1, 2)) }
        function swap(word) { return substr(word, 7, 2) substr(word, 5, 2) ":" substr(word, 3, 2) substr(word, 1, 2) }
        function address(text) {
            if (length(text) == 8) return four(text)
            if (substr(text, 1, 24) == "0000000000000000FFFF0000") return four(substr(text, 25))
            if (text == "00000000000000000000000001000000") return "::1"
            return tolower(swap(substr(text, 1, 8)) ":" swap(substr(text, 9, 8)) ":" swap(substr(text, 17, 8)) ":" swap(substr(text, 25, 8)))
        }
        BEGIN { split(range, ports); CONVFMT = "%.0f" }
        $0 == "looked" && NR == 1 { looked = 1; next }
        $0 == "sockets" { network = 1; next }
        !network && match($0, /^\/proc\/[0-9]+\/limits:/) { limit[substr($0, 7, RLENGTH - 14)] = $4; next }
        !network && /^\/proc\/.*\/fd\/:$/ { split($0, words, "/"); pid = words[3]; if (pid != "self") opened[pid] += 0; next }
        !network {
            arrow = index($0, " -> ")
            if (!arrow || pid == "self") next
            link = substr($0, arrow + 4)
            opened[pid]++
            if (match(link, /^socket:\[[0-9]+\]$/)) { sockets[pid]++; held[substr(link, 9, length(link) - 9)] = 1 }
            else if (link ~ /^\/.* \(deleted\)$/ && link !~ /^\/(memfd:|SYSV|dev\/(shm|zero)|\[aio\])/ && ++deleted <= 64) {
                count = split(substr($0, 1, arrow - 1), words, " ")
                sub(/ \(deleted\)$/, "", link); gsub(/[^ -~]/, "?", link)
                if (words[count] ~ /^[0-9]+$/) gone[deleted] = "/proc/" pid "/fd/" words[count] " " substr(link, 1, 80)
            }
            next
        }
        $1 !~ /^[0-9]+:$/ || $4 !~ /^[0-9A-F][0-9A-F]$/ { next }
        {
            split($2, here, ":"); split($3, there, ":")
            port = hex(here[2])
            if ($4 == "0A") listening[port] = 1
            else if (port >= ports[1] && port <= ports[2]) towards[$3]++
            # Nobody holds a socket in TIME_WAIT any more.
            if (looked && $4 != "06" && !($10 in held)) next
            states[$4]++; all++
            if ($4 == "08") { heap["at local port " port]++; heap[$3]++ }
            if ($4 == "0A") { split($5, queue, ":"); waiting = hex(queue[2]); if (waiting >= most_waiting) { most_waiting = waiting; slow = port } mine[port] = 1 }
            if ($4 == "02" && here[1] == there[1]) kept_out[hex(there[2])]++
            if ($4 == "01" || $4 == "02") { peers[$3]++; local[$3] = port; if ($4 == "02") silent[$3]++ }
        }
        END {
            for (id in opened) {
                share = limit[id] + 0 > 0 ? int(opened[id] * 100 / limit[id]) : 0
                if (full == "" || share > best || (share == best && opened[id] > opened[full])) { best = share; full = id }
            }
            if (full != "") print "files", best + 0, full, opened[full] + 0, sockets[full] + 0, limit[full] == "" ? 0 : limit[full]
            for (place = 1; place <= deleted && place <= 64; place++) if (place in gone) print "deleted", gone[place]
            print "states", states["01"] + 0, states["02"] + 0, states["06"] + 0, states["08"] + 0, states["0A"] + 0, all + 0, looked ? "target" : "whole pod"
            for (key in heap) if (heap[key] * 2 > states["08"] && (worst == "" || heap[key] > heap[worst])) worst = key
            if (worst != "" && worst !~ /^at/) { split(worst, there, ":"); worst = "towards " address(there[1]) " port " hex(there[2]) }
            if (worst != "") print "heap", worst
            for (port in mine) if (++shown <= 8) list = list " " port
            print "listen", most_waiting + 0, slow + 0, kept_out[slow] + 0, list
            size = ports[2] - ports[1] + 1
            for (peer in towards) if (towards[peer] > used) { used = towards[peer]; aim = peer }
            if (used && size > 1) { split(aim, there, ":"); print "port_use", int(used * 100 / size), used, size, address(there[1]) " " hex(there[2]) }
            for (peer in peers) if (!(local[peer] in listening)) {
                split(peer, there, ":")
                print "peer", silent[peer] + 0, peers[peer], address(there[1]), hex(there[2])
            }
        }')
}
