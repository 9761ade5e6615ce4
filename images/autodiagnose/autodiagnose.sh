#!/bin/sh
# First look at a running container from an ephemeral container beside it. Reads only; writes its report to standard
# output and, shortened, to the termination file. Needs sh, awk, cat, date, ls, sed, sleep, stat, tr (busybox has them).
#
#   KDEBUG_RUN                     shown in the header
#   KDEBUG_NOT_AFTER               UTC, RFC 3339; started later, it does nothing
#   AUTODIAGNOSE_PID               the process to look at (default: the target's first process)
#   AUTODIAGNOSE_CGROUP            where the target's cgroup numbers are (default: below the target's root)
#   AUTODIAGNOSE_TERMINATION_LOG   default /dev/termination-log
#   AUTODIAGNOSE_SAMPLE            seconds of the CPU sample (default 1)
#
# Exit: 0 looked, whatever was found; 1 could not look.
set -u
export LC_ALL=C

SAMPLE=${AUTODIAGNOSE_SAMPLE:-1}
TEXT='' FINDINGS='' FINDINGS_SHORT='' SECTIONS='' SECTIONS_SHORT='' TITLES=''
FOUND=0 BLIND=0
PID='' TARGET_UID='' TARGET_GID='' NAME='' EFFECTIVE=true HELP=''
NL='
'

# ---------------------------------------------------------------------------------------------------------- the report

# Names of processes and files are written by others: printable ASCII only, at most 200 characters.
plain() { printf '%.200s' "$1" | tr -c '\040-\176' '?'; }

# Any text, as the inside of a JSON string.
json() { printf '%s' "$1" | tr -c '\040-\176' '?' | sed 's/[\\"]/\\&/g'; }

# finding CODE VALUE THRESHOLD TEXT NEXT: numbers are whole.
finding() {
    FOUND=$((FOUND + 1))
    TITLES=${TITLES:+$TITLES; }$4
    FINDINGS="${FINDINGS:+$FINDINGS,}{\"code\":\"$1\",\"value\":$2,\"threshold\":$3,\"text\":\"$(json "$4")\",\"next\":\"$(json "$5")\"}"
    if [ "$FOUND" -le 5 ]; then FINDINGS_SHORT=$FINDINGS; fi
    PENDING="$PENDING$NL    ! $4$NL      $5"
}

# section NAME TEXT: ok, or finding when `finding` was called since `begin`.
section() {
    state=ok
    if [ -n "$PENDING" ]; then state=finding; fi
    show "$1" "$state" "$2"
}

blind() {
    BLIND=$((BLIND + 1))
    show "$1" not-readable "$2"
}

show() {
    label=$2
    if [ "$2" = not-readable ]; then label='not readable'; fi
    SECTIONS="${SECTIONS:+$SECTIONS,}{\"name\":\"$1\",\"state\":\"$2\",\"text\":\"$(json "$3")\"}"
    SECTIONS_SHORT="${SECTIONS_SHORT:+$SECTIONS_SHORT,}{\"name\":\"$1\",\"state\":\"$2\",\"text\":\"\"}"
    TEXT="$TEXT$NL$(printf '%-13s %-10s %s' "$label" "$1" "$3")$PENDING"
    PENDING=''
}

document() {
    printf '{"kdebug":1,"verdict":"%s","target":{"pid":%s,"uid":%s,"gid":%s,"effective":%s},"findings":[%s],"sections":[%s]}' \
        "$(json "$VERDICT")" "${PID:-null}" "${TARGET_UID:-null}" "${TARGET_GID:-null}" "$EFFECTIVE" "$1" "$2"
}

terminate() {
    file=${AUTODIAGNOSE_TERMINATION_LOG:-/dev/termination-log}
    if [ -n "${AUTODIAGNOSE_TERMINATION_LOG:-}" ] || [ -w "$file" ]; then
        (printf '%s' "$1" >"$file") 2>/dev/null || :
    fi
}

report() {
    VERDICT=$1
    whole=$(document "$FINDINGS" "$SECTIONS")
    short=$whole
    if [ "${#short}" -gt 3072 ]; then short=$(document "$FINDINGS" "$SECTIONS_SHORT"); fi
    if [ "${#short}" -gt 3072 ]; then short=$(document "$FINDINGS_SHORT" "$SECTIONS_SHORT"); fi
    if [ "${#short}" -gt 3072 ]; then short=$(document '' ''); fi
    printf 'kdebug autodiagnose, run %s, %s\n%s\n%s\n' "$(plain "${KDEBUG_RUN:-none}")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$VERDICT" "$TEXT"
    printf '\n-----BEGIN KDEBUG REPORT-----\n%s\n-----END KDEBUG REPORT-----\n' "$whole"
    terminate "$short"
}

could_not_look() {
    EFFECTIVE=false
    report "Could not look: $1"
    exit 1
}

PENDING=''

# ---------------------------------------------------------------------------------------------------------- the target

is_number() {
    case $1 in '' | *[!0-9]*) return 1 ;; *) return 0 ;; esac
}

not_after() {
    [ -n "${KDEBUG_NOT_AFTER:-}" ] || return 0
    case $KDEBUG_NOT_AFTER in
        [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z) ;;
        *) could_not_look "KDEBUG_NOT_AFTER is not a UTC time of RFC 3339" ;;
    esac
    limit=$(printf '%.19s' "$KDEBUG_NOT_AFTER" | tr -cd '0-9')
    now=$(date -u +%Y%m%d%H%M%S)
    if [ "$now" -gt "$limit" ]; then
        EFFECTIVE=false
        report "Started too late: this run was given up at $(plain "$KDEBUG_NOT_AFTER"), so nothing was looked at."
        exit 0
    fi
}

# of_status PID KEY: one field of /proc/PID/status.
of_status() { awk -v key="$2:" '$1 == key { print $2; exit }' "/proc/$1/status" 2>/dev/null; }

# In a shared process namespace the first process of every container has parent 0: if process 1 is among our own
# ancestors, the namespace is ours alone and no target is in it.
is_our_ancestor() {
    ancestor=$$
    while is_number "$ancestor" && [ "$ancestor" -gt 0 ]; do
        if [ "$ancestor" -eq "$1" ]; then return 0; fi
        ancestor=$(of_status "$ancestor" PPid)
    done
    return 1
}

# With shareProcessNamespace process 1 is the pod's pause: the oldest process of another cgroup than ours is looked at.
first_neighbour() {
    ours=$(cat /proc/self/cgroup 2>/dev/null)
    for path in /proc/[0-9]*; do printf '%s\n' "${path#/proc/}"; done | sort -n | while read -r neighbour; do
        if [ "$neighbour" -eq 1 ]; then continue; fi
        theirs=$(cat "/proc/$neighbour/cgroup" 2>/dev/null) || continue
        if [ -n "$theirs" ] && [ "$theirs" != "$ours" ]; then
            printf '%s' "$neighbour"
            break
        fi
    done
}

find_target() {
    PID=${AUTODIAGNOSE_PID:-}
    if [ -n "$PID" ]; then
        is_number "$PID" || { PID=''; could_not_look 'AUTODIAGNOSE_PID is not a number'; }
    elif is_our_ancestor 1; then
        EFFECTIVE=false
        return
    else
        PID=1
        if [ "$(of_status 1 Name)" = pause ]; then PID=$(first_neighbour); fi
        if [ -z "$PID" ]; then
            EFFECTIVE=false
            return
        fi
    fi
    if [ ! -r "/proc/$PID/status" ]; then
        gone=$PID PID=''
        could_not_look "there is no process $gone here"
    fi
    NAME=$(plain "$(awk '$1 == "Name:" { sub(/^Name:[ \t]*/, ""); print; exit }' "/proc/$PID/status")")
    TARGET_UID=$(of_status "$PID" Uid)
    TARGET_GID=$(of_status "$PID" Gid)
}

has_capabilities() {
    case $(of_status "$1" CapEff) in *[!0]*) return 0 ;; *) return 1 ;; esac
}

look_at_context() {
    uid=$(of_status $$ Uid) gid=$(of_status $$ Gid)
    caps='no capabilities'
    if has_capabilities $$; then caps="capabilities $(of_status $$ CapEff)"; fi
    if [ "$EFFECTIVE" = false ]; then
        finding targeting_off 1 0 'targeting is not effective: the only processes here are our own' \
            'Name the container to look at (--target); if it was named, the container runtime ignored it.'
        HELP='no target process is visible'
        section context "we are $uid:$gid with $caps; no target"
        return
    fi
    if [ "$uid:$gid" = "$TARGET_UID:$TARGET_GID" ]; then
        HELP='needs the profile general (SYS_PTRACE): the target has capabilities that we lack'
    else
        HELP="needs the target's own uid:gid $TARGET_UID:$TARGET_GID, or the profile general (SYS_PTRACE)"
    fi
    theirs='no capabilities'
    if has_capabilities "$PID"; then theirs="capabilities $(of_status "$PID" CapEff)"; fi
    section context "target is process $PID ($NAME) as $TARGET_UID:$TARGET_GID with $theirs; we are $uid:$gid with $caps"
}

# ----------------------------------------------------------------------------------------------------------- processes

# The target and its descendants, from all status files: one line of counts, one of the three largest, one of the pids.
process_tree() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v root="$PID" '
        $1 == "Name:" { name = $0; sub(/^Name:[ \t]*/, "", name); gsub(/[^ -~]/, "?", name); pid = ""; rss = 0 }
        $1 == "State:" { state = $2 }
        $1 == "Pid:" { pid = $2; names[pid] = name; states[pid] = state; sizes[pid] = 0 }
        $1 == "PPid:" { parents[pid] = $2 }
        $1 == "VmRSS:" { sizes[pid] = $2 }
        $1 == "Threads:" { threads[pid] = $2 }
        function inside(id, depth) {
            for (depth = 0; depth < 200 && id in parents; depth++) { if (id == root) return 1; id = parents[id] }
            return 0
        }
        END {
            for (id in parents) if (inside(id)) {
                count++; all += threads[id]; rss_all += sizes[id]; pids = pids " " id
                if (states[id] == "Z") zombies++
                if (states[id] == "D") waiting++
            }
            for (place = 1; place <= 3; place++) {
                best = ""
                for (id in parents) if (inside(id) && !(id in shown) && sizes[id] > 0 && (best == "" || sizes[id] > sizes[best])) best = id
                if (best != "") { shown[best] = 1; top = top (top == "" ? "" : ", ") names[best] " " int(sizes[best] / 1024) " MiB" }
            }
            print count + 0, all + 0, zombies + 0, waiting + 0, int(rss_all / 1024)
            print substr(top, 1, 160)
            print pids
        }'
}

look_at_processes() {
    tree=$(process_tree)
    {
        read -r count threads zombies waiting rss
        read -r top || top=''
        read -r TREE || TREE=''
    } <<EOF
$tree
EOF
    if [ "$zombies" -ge 5 ]; then
        finding zombies "$zombies" 5 "$zombies processes have ended and were not waited for" \
            'The first process of the container must wait for its children; run a small init (tini) in front of it.'
    fi
    if [ "$waiting" -ge 5 ]; then
        finding uninterruptible "$waiting" 5 "$waiting processes wait for a disk or a network file system" \
            "Look at the node's disks and at network volumes of the pod."
    fi
    pids_limit
    section processes "$count, $threads threads, $zombies zombies, $waiting uninterruptible, $rss MiB resident${top:+ (largest: $top)}"
}

pids_limit() {
    pids_now=$(number_in pids.current pids/pids.current) pids_max=$(number_in pids.max pids/pids.max)
    if [ -z "$pids_now" ] || [ -z "$pids_max" ] || [ "$pids_max" -eq 0 ]; then return; fi
    share=$((pids_now * 100 / pids_max))
    if [ "$share" -ge 80 ]; then
        finding pids_near_limit "$share" 80 "processes and threads at $share % of the limit ($pids_now of $pids_max)" \
            'Look for a leak of threads or children; new ones will soon fail.'
    fi
}

# -------------------------------------------------------------------------------------------------------------- cgroup

CGROUP='' VERSION=''

# The cgroup of a process that shares our view of the hierarchy lies deeper than the mount; in a container it does not.
own_path() {
    inner=$(awk -F: -v name="$2" '(name == "" && $1 == 0) || (name != "" && index("," $2 ",", "," name ",")) { print $3; exit }' "/proc/$PID/cgroup" 2>/dev/null)
    case $inner in
        *..* | / | '') printf '%s' "$1" ;;
        *) if [ -d "$1$inner" ]; then printf '%s' "$1$inner"; else printf '%s' "$1"; fi ;;
    esac
}

find_cgroup() {
    root=${AUTODIAGNOSE_CGROUP:-${PID:+/proc/$PID/root/sys/fs/cgroup}}
    if [ -z "$root" ]; then return; fi
    if [ -r "$root/cgroup.controllers" ] || [ -r "$root/memory.current" ] || [ -r "$root/cpu.stat" ]; then
        VERSION=2 CGROUP=$root
        if [ -z "${AUTODIAGNOSE_CGROUP:-}" ]; then CGROUP=$(own_path "$root" ''); fi
    elif [ -d "$root/memory" ] || [ -d "$root/cpu" ]; then
        VERSION=1 CGROUP=$root
    fi
}

# in_cgroup V2FILE V1FILE: the contents, or nothing.
in_cgroup() {
    if [ "$VERSION" = 2 ]; then
        cat "$CGROUP/$1" 2>/dev/null
    elif [ "$VERSION" = 1 ]; then
        controller=${2%%/*}
        directory=$CGROUP/$controller
        if [ -z "${AUTODIAGNOSE_CGROUP:-}" ]; then directory=$(own_path "$directory" "$controller"); fi
        cat "$directory/${2#*/}" 2>/dev/null
    fi
}

# One whole number; nothing for "max" and for what v1 writes when there is no limit.
number_in() {
    value=$(in_cgroup "$1" "$2")
    if is_number "$value" && [ "${#value}" -lt 19 ]; then printf '%s' "$value"; fi
}

# field NAME: of "name value" lines on standard input.
field() { awk -v key="$1" '$1 == key && $2 ~ /^[0-9]+$/ { print $2; exit }'; }

mib() { printf '%s' $(($1 / 1048576)); }

look_at_memory() {
    usage=$(number_in memory.current memory/memory.usage_in_bytes)
    if [ -z "$usage" ]; then
        blind memory "the target's cgroup is not readable; $HELP"
        return
    fi
    limit=$(number_in memory.max memory/memory.limit_in_bytes)
    stat=$(in_cgroup memory.stat memory/memory.stat)
    inactive=$(printf '%s\n' "$stat" | field "$(if [ "$VERSION" = 2 ]; then echo inactive_file; else echo total_inactive_file; fi)")
    working=$((usage - ${inactive:-0}))
    if [ "$working" -lt 0 ]; then working=0; fi
    kills=$(in_cgroup memory.events memory/memory.oom_control | field oom_kill)
    if [ "${kills:-0}" -gt 0 ]; then
        finding oom_kill "$kills" 0 "the kernel killed $kills processes of the target for lack of memory" \
            'Raise the memory limit or find what grows; the log of the previous container may name it.'
    fi
    used="$(mib "$working") MiB in use ($(mib "$usage") with cache)"
    if [ -z "$limit" ] || [ "$limit" -eq 0 ]; then
        section memory "$used, no limit"
        return
    fi
    share=$((working * 100 / limit))
    if [ "$share" -ge 90 ]; then
        finding memory_near_limit "$share" 90 "memory at $share % of its limit ($(mib "$working") of $(mib "$limit") MiB)" \
            'Raise the memory limit or look for a leak; at the limit the kernel kills the container.'
    fi
    section memory "$used of $(mib "$limit") MiB, $share %; ${kills:-0} out-of-memory kills"
}

cpu_numbers() {
    stat=$(in_cgroup cpu.stat cpu/cpu.stat)
    periods=$(printf '%s\n' "$stat" | field nr_periods)
    throttled=$(printf '%s\n' "$stat" | field nr_throttled)
    usage=$(printf '%s\n' "$stat" | field usage_usec)
    if [ -z "$usage" ]; then
        usage=$(number_in cpu.none cpuacct/cpuacct.usage)
        if [ -n "$usage" ]; then usage=$((usage / 1000)); fi
    fi
}

# Hundredths of a second since the node's start.
now() {
    read -r up _ </proc/uptime
    printf '%s' "${up%.*}${up#*.}"
}

start_cpu_sample() {
    cpu_numbers
    periods_before=${periods:-0} throttled_before=${throttled:-0} usage_before=$usage sampled_at=$(now)
}

cpu_limit() {
    quota='' period=''
    if [ "$VERSION" = 2 ]; then
        read -r quota period <<EOF
$(in_cgroup cpu.max '')
EOF
    else
        quota=$(number_in '' cpu/cpu.cfs_quota_us) period=$(number_in '' cpu/cpu.cfs_period_us)
    fi
    if is_number "$quota" && is_number "$period" && [ "$period" -gt 0 ]; then
        printf 'limit %s.%02d CPU' $((quota / period)) $((quota % period * 100 / period))
    else
        printf 'no limit'
    fi
}

look_at_cpu() {
    cpu_numbers
    if [ -z "$usage" ] && [ -z "$periods" ]; then
        blind cpu "the target's cgroup is not readable; $HELP"
        return
    fi
    text=$(cpu_limit)
    elapsed=$(($(now) - sampled_at))
    if [ -n "$usage" ] && [ -n "$usage_before" ] && [ "$elapsed" -gt 0 ]; then
        text="$(((usage - usage_before) / elapsed / 100)) % of one CPU in use, $text"
    fi
    ran=$((${periods:-0} - periods_before)) held=$((${throttled:-0} - throttled_before))
    if [ "$ran" -gt 0 ]; then
        share=$((held * 100 / ran))
        if [ "$share" -gt 10 ]; then
            finding cpu_throttled "$share" 10 "CPU throttled in $share % of the last periods ($held of $ran)" \
                'Raise or remove the CPU limit, or give the process fewer threads than it has CPU.'
        fi
        text="$text, throttled in $share % of $ran periods"
    elif [ "${periods:-0}" -gt 0 ]; then
        share=$((throttled * 100 / periods))
        if [ "$share" -gt 25 ]; then
            finding cpu_throttled "$share" 25 "CPU throttled in $share % of all periods since the start ($throttled of $periods)" \
                'It is idle now; look at it under load, and compare the CPU limit with what it needs then.'
        fi
        text="$text, throttled in $share % of all periods, idle now"
    fi
    section cpu "$text"
}

# --------------------------------------------------------------------------------------------------- files and sockets

# shellcheck disable=SC2012 # what is listed is numbers
open_files() {
    # Since Linux 6.2 the size of the directory is the number of descriptors.
    opened=$(stat -c %s "/proc/$1/fd/" 2>/dev/null)
    if [ "${opened:-0}" -gt 0 ]; then printf '%s' "$opened"; else ls "/proc/$1/fd" 2>/dev/null | awk 'END { print NR }'; fi
}

look_at_files() {
    if ! ls "/proc/$PID/fd/" >/dev/null 2>&1; then
        blind files "the target's open files are not readable; $HELP"
        return
    fi
    opened=$(open_files "$PID")
    limit=$(awk '/^Max open files/ { print $4 }' "/proc/$PID/limits" 2>/dev/null)
    if ! is_number "$limit" || [ "$limit" -eq 0 ]; then
        section files "$opened open, no limit known"
        return
    fi
    share=$((opened * 100 / limit))
    if [ "$share" -ge 80 ]; then
        finding files_near_limit "$share" 80 "open files at $share % of the limit ($opened of $limit)" \
            'Look for sockets or files that are never closed; at the limit every open fails.'
    fi
    section files "$opened open of $limit, $share %"
}

# The inodes of the sockets that the target's processes hold. Nothing when they do not let us look, or are too many.
# shellcheck disable=SC2012 # only what the links point to is read
held_sockets() {
    seen=0
    for process in $TREE; do seen=$((seen + 1)); done
    if [ "$seen" -eq 0 ] || [ "$seen" -gt 64 ] || ! ls "/proc/$PID/fd/" >/dev/null 2>&1; then return; fi
    echo looked
    for process in $TREE; do
        ls -l "/proc/$process/fd/" 2>/dev/null | awk 'match($0, /socket:\[[0-9]+\]$/) { print "held", substr($0, RSTART + 8, RLENGTH - 9) }'
    done
}

# Counts by state: established, SYN_SENT, TIME_WAIT, CLOSE_WAIT, listening, all; then whose they are. Nobody holds a
# socket in TIME_WAIT any more.
socket_states() {
    { held_sockets; cat "$1/tcp" "$1/tcp6" 2>/dev/null; } | awk '
        $1 == "looked" { looked = 1; next }
        $1 == "held" { held[$2] = 1; next }
        $4 !~ /^[0-9A-F][0-9A-F]$/ { next }
        looked && $4 != "06" && !($10 in held) { next }
        { states[$4]++; all++ }
        END { print states["01"] + 0, states["02"] + 0, states["06"] + 0, states["08"] + 0, states["0A"] + 0, all + 0, looked ? "target" : "pod" }'
}

look_at_sockets() {
    net=/proc/${PID:-self}/net
    if [ ! -r "$net/tcp" ]; then
        blind sockets "the sockets are not readable; $HELP"
        return
    fi
    states=$(socket_states "$net")
    read -r established syn_sent time_wait close_wait listening all whose <<EOF
$states
EOF
    if [ "$close_wait" -gt 100 ]; then
        finding close_wait "$close_wait" 100 "$close_wait sockets in CLOSE_WAIT" \
            'The peer has closed and the process has not: look for connections that are not closed after an error.'
    fi
    if [ "$syn_sent" -gt 20 ]; then
        finding syn_sent "$syn_sent" 20 "$syn_sent connections get no answer (SYN_SENT)" \
            'Look at network policies and at whether the peer is up.'
    fi
    section sockets "$all of the $whose: $established established, $listening listening, $close_wait CLOSE_WAIT, $syn_sent SYN_SENT, $time_wait TIME_WAIT"
}

# ----------------------------------------------------------------------------------------------------------------- DNS

look_at_dns() {
    conf=/etc/resolv.conf
    if [ -n "$PID" ] && [ -r "/proc/$PID/root/etc/resolv.conf" ]; then conf=/proc/$PID/root/etc/resolv.conf; fi
    if [ ! -r "$conf" ]; then
        blind dns "there is no resolv.conf to read; $HELP"
        return
    fi
    servers=$(awk '$1 == "nameserver" { count++ } END { print count + 0 }' "$conf")
    # The cluster's own zone is the search domain that begins with "svc.".
    zone=$(awk '$1 == "search" { for (place = 2; place <= NF; place++) if ($place ~ /^svc\.[A-Za-z0-9.-]+$/) print $place }' "$conf" | tail -n 1)
    text="$servers name servers"
    if [ "$servers" -eq 0 ]; then
        finding dns_no_server 0 1 'resolv.conf names no server' "Look at the pod's dnsPolicy and dnsConfig."
    elif [ -z "${KUBERNETES_SERVICE_HOST:-}" ] || [ -z "$zone" ]; then
        text="$text; no lookup, this is not a cluster's DNS"
    elif ! command -v nslookup >/dev/null 2>&1 || ! command -v timeout >/dev/null 2>&1; then
        text="$text; no lookup, there is no nslookup"
    else
        timed_lookup "kubernetes.default.$zone"
    fi
    section dns "$text"
}

timed_lookup() {
    asked_at=$(now)
    answer=$(timeout 3 nslookup "$1" 2>&1)
    status=$?
    took=$((($(now) - asked_at) * 10))
    case $answer in
        *NXDOMAIN*)
            finding dns_unknown_name 1 0 "DNS does not know $1" "Look at the cluster's DNS (CoreDNS) and its configuration."
            ;;
        *)
            if [ "$status" -ne 0 ]; then
                finding dns_unanswered "$took" 3000 "DNS gave no answer within $took ms" \
                    "Look at the cluster's DNS pods and at network policies that keep UDP and TCP port 53 from this pod."
            elif [ "$took" -gt 1000 ]; then
                finding dns_slow "$took" 1000 "DNS took $took ms for one name" "Look at the load of the cluster's DNS pods."
            fi
            ;;
    esac
    text="$text; $1 in $took ms"
}

# -------------------------------------------------------------------------------------------------------------- mounts

# Real file systems of the target, one line a device: path, type, whether the kernel made it read-only after an error.
file_systems() {
    awk '
        {
            for (dash = 7; dash <= NF && $dash != "-"; dash++);
            type = $(dash + 1)
            if (type !~ /^(ext[234]|xfs|btrfs|overlay|tmpfs|nfs4?|ceph|cifs|zfs|fuse.*|9p|vfat|f2fs)$/) next
            if ($3 in seen || index($5, "\\")) next
            seen[$3] = 1
            turned = $6 ~ /^rw/ && $(dash + 3) ~ /^ro/
            if (++count <= 40) print $5, type, turned
        }' "/proc/$PID/mountinfo" 2>/dev/null
}

# share TOTAL FREE: percent in use, 0 where the file system does not count.
share() {
    if is_number "$1" && is_number "$2" && [ "$1" -gt 0 ]; then printf '%s' $((100 - $2 * 100 / $1)); else printf 0; fi
}

look_at_mounts() {
    if ! ls "/proc/$PID/root/" >/dev/null 2>&1; then
        blind mounts "the target's files are not readable; $HELP"
        return
    fi
    count=0 fullest=0 fullest_path=/
    mounted=$(file_systems)
    while read -r path type turned; do
        if [ -z "$path" ]; then continue; fi
        look_at_mount || continue
        count=$((count + 1))
        if [ "$space" -gt "$fullest" ]; then fullest=$space fullest_path=$shown; fi
    done <<EOF
$mounted
EOF
    section mounts "$count file systems, the fullest is $fullest_path with $fullest %"
}

look_at_mount() {
    numbers=$(stat -f -c '%b %a %c %d' "/proc/$PID/root$path" 2>/dev/null) || return 1
    read -r blocks free nodes free_nodes <<EOF
$numbers
EOF
    space=$(share "$blocks" "$free") inodes=$(share "$nodes" "$free_nodes") shown=$(plain "$path")
    if [ "$space" -gt 90 ]; then
        finding disk_full "$space" 90 "$shown ($type) is $space % full" 'Remove what is not needed, or make the volume larger.'
    fi
    if [ "$inodes" -gt 90 ]; then
        finding disk_inodes "$inodes" 90 "$shown ($type) has used $inodes % of its inodes" 'Look for a directory with very many small files.'
    fi
    if [ "$turned" = 1 ]; then
        finding disk_read_only 1 0 "$shown ($type) was made read-only by the kernel" "Look at the node's kernel log for disk errors."
    fi
}

# ---------------------------------------------------------------------------------------------------------------- main

[ -r /proc/self/status ] || could_not_look 'there is no /proc'
not_after
find_target
find_cgroup
start_cpu_sample
look_at_context
if [ "$EFFECTIVE" = true ]; then
    TREE=''
    look_at_processes
    look_at_memory
    look_at_files
    look_at_sockets
    look_at_dns
    look_at_mounts
    # What was asked above is part of the sample.
    if [ "$SAMPLE" != 0 ]; then sleep "$SAMPLE"; fi
    look_at_cpu
else
    TREE=''
    look_at_sockets
    look_at_dns
fi

blindness=''
if [ "$BLIND" -gt 0 ]; then blindness=" ($BLIND of the sections not readable)"; fi
case $FOUND in
    0) report "Nothing wrong was found$blindness." ;;
    1) report "1 finding: $(printf '%.160s' "$TITLES")$blindness." ;;
    *) report "$FOUND findings: $(printf '%.220s' "$TITLES")$blindness." ;;
esac
exit 0
