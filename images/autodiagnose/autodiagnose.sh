#!/bin/sh
# First look at a running container from an ephemeral container beside it. Reads only; writes its report to standard
# output and, shortened, to the termination file. Needs sh, awk, cat, date, ls, sleep, stat (busybox has them).
# It shares the pod's CPU and memory limits with the target, so it starts as few processes as it can.
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
PID='' TARGET_UID='' TARGET_GID='' NAME='' EFFECTIVE=true SEES=false HELP='' TREE=''
NL='
'
TAB=$(printf '\t')

# ---------------------------------------------------------------------------------------------------------- the report

# One record a line: F code value threshold text next, or S name state text; tabs between.
RECORDS='' PENDING=''

# finding CODE VALUE THRESHOLD TEXT NEXT: numbers are whole. Belongs to the section that follows.
finding() {
    PENDING=finding
    RECORDS="$RECORDS${NL}F$TAB$1$TAB$2$TAB$3$TAB$4$TAB$5"
}

section() {
    RECORDS="$RECORDS${NL}S$TAB$1$TAB${PENDING:-ok}$TAB$2"
    PENDING=''
}

blind() { RECORDS="$RECORDS${NL}S$TAB$1${TAB}not-readable$TAB$2"; }

# Turns the records into the short JSON (first line), the verdict, the text and the marked JSON. Whatever is not
# printable ASCII, in a name that somebody else chose, becomes "?".
render() {
    printf '%s\n' "$RECORDS" | awk -F '\t' -v given="$1" \
        -v target="{\"pid\":${PID:-null},\"uid\":${TARGET_UID:-null},\"gid\":${TARGET_GID:-null},\"effective\":$EFFECTIVE}" '
        function json(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
        function document(findings, sections) {
            return "{\"kdebug\":1,\"verdict\":" json(verdict) ",\"target\":" target ",\"findings\":[" findings "],\"sections\":[" sections "]}"
        }
        function shorter(most) {
            if (length(document(all, full)) <= most) return document(all, full)
            if (length(document(all, states)) <= most) return document(all, states)
            if (length(document(first, states)) <= most) return document(first, states)
            return document("", "")
        }
        { gsub(/[^\t -~]/, "?") }
        $1 == "F" {
            found++
            titles = titles (found > 1 ? "; " : "") $5
            all = all (found > 1 ? "," : "") "{\"code\":" json($2) ",\"value\":" $3 ",\"threshold\":" $4 ",\"text\":" json($5) ",\"next\":" json($6) "}"
            if (found <= 5) first = all
            notes = notes "\n    ! " $5 "\n      " $6
        }
        $1 == "S" {
            comma = sections++ ? "," : ""
            if ($3 == "not-readable") blind++
            full = full comma "{\"name\":" json($2) ",\"state\":" json($3) ",\"text\":" json($4) "}"
            states = states comma "{\"name\":" json($2) ",\"state\":" json($3) ",\"text\":\"\"}"
            text = text sprintf("\n%-13s %-10s %s", $3 == "not-readable" ? "not readable" : $3, $2, $4) notes
            notes = ""
        }
        END {
            verdict = "Nothing wrong was found"
            if (found) verdict = found (found == 1 ? " finding: " : " findings: ") substr(titles, 1, 220)
            if (blind) verdict = verdict " (" blind " of " sections " sections not readable)"
            verdict = verdict "."
            if (given != "") verdict = given
            gsub(/[^ -~]/, "?", verdict)
            print shorter(3072)
            print verdict
            print text
            print "\n-----BEGIN KDEBUG REPORT-----"
            print shorter(12288)
            print "-----END KDEBUG REPORT-----"
        }'
}

# report [VERDICT]
report() {
    output=$(render "${1:-}")
    run=${KDEBUG_RUN:-none}
    case $run in *[!A-Za-z0-9._-]*) run=unnamed ;; esac
    printf 'kdebug autodiagnose, run %s, %s\n%s\n' "$run" "$STARTED" "${output#*"$NL"}"
    file=${AUTODIAGNOSE_TERMINATION_LOG:-/dev/termination-log}
    if [ -n "${AUTODIAGNOSE_TERMINATION_LOG:-}" ] || [ -w "$file" ]; then
        (printf '%s' "${output%%"$NL"*}" >"$file") 2>/dev/null || :
    fi
}

could_not_look() {
    EFFECTIVE=false
    report "Could not look: $1."
    exit 1
}

# ------------------------------------------------------------------------------------------- reading without processes

is_number() {
    case $1 in '' | *[!0-9]*) return 1 ;; *) return 0 ;; esac
}

# Sets value to the whole number in a file; to nothing for "max", for -1, and for what cgroup v1 writes without a limit.
number() {
    value=''
    { read -r value <"$1" || :; } 2>/dev/null
    if ! is_number "$value" || [ "${#value}" -ge 19 ]; then value=''; fi
}

# Sets value to the number behind a name in a file of "name number" lines.
field() {
    value=''
    while read -r key found; do
        if [ "$key" = "$2" ] && is_number "$found"; then
            value=$found
            break
        fi
    done 2>/dev/null <"$1" || :
}

# Sets s_name, s_parent, s_uid, s_gid, s_caps of a process; fails when there is none.
status_of() {
    s_name='' s_parent='' s_uid='' s_gid='' s_caps=''
    while read -r key first rest; do
        case $key in
            Name:) s_name=$first${rest:+ $rest} ;;
            PPid:) s_parent=$first ;;
            Uid:) s_uid=$first ;;
            Gid:) s_gid=$first ;;
            CapEff:) s_caps=$first ;;
        esac
    done 2>/dev/null <"/proc/$1/status" || :
    [ -n "$s_uid" ]
}

# Sets clock to hundredths of a second since the node's start.
now() {
    read -r up _ </proc/uptime
    clock=${up%.*}${up#*.}
}

# ---------------------------------------------------------------------------------------------------------- the target

# Sets digits to the 14 digits of a UTC time.
digits_of() {
    before=$IFS
    IFS='-T:Z.'
    # shellcheck disable=SC2086 # to be split
    set -f -- $1
    set +f
    IFS=$before
    digits=$1$2$3$4$5$6
}

not_after() {
    case ${KDEBUG_NOT_AFTER:-} in
        '') return ;;
        [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z) ;;
        [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]*Z) ;;
        *) could_not_look 'KDEBUG_NOT_AFTER is not a UTC time of RFC 3339' ;;
    esac
    digits_of "$KDEBUG_NOT_AFTER" && latest=$digits
    digits_of "$STARTED"
    if [ "$digits" -gt "$latest" ]; then
        EFFECTIVE=false
        report "Started too late: this run was given up at $KDEBUG_NOT_AFTER, so nothing was looked at."
        exit 0
    fi
}

# In a shared process namespace the first process of every container has parent 0: if process 1 is among our own
# ancestors, the namespace is ours alone and no target is in it.
is_our_ancestor() {
    ancestor=$$
    while is_number "$ancestor" && [ "$ancestor" -gt 0 ]; do
        if [ "$ancestor" -eq "$1" ]; then return 0; fi
        status_of "$ancestor" || return 1
        ancestor=$s_parent
    done
    return 1
}

# With shareProcessNamespace process 1 is the pod's pause: the oldest process of another cgroup than ours is looked at.
first_neighbour() {
    ours=$(cat /proc/self/cgroup 2>/dev/null)
    PID=''
    for path in /proc/[0-9]*; do
        candidate=${path#/proc/}
        if [ "$candidate" -eq 1 ] || { [ -n "$PID" ] && [ "$candidate" -gt "$PID" ]; }; then continue; fi
        theirs=$(cat "$path/cgroup" 2>/dev/null)
        if [ -n "$theirs" ] && [ "$theirs" != "$ours" ]; then PID=$candidate; fi
    done
}

find_target() {
    PID=${AUTODIAGNOSE_PID:-}
    if [ -n "$PID" ]; then
        is_number "$PID" || { PID='' && could_not_look 'AUTODIAGNOSE_PID is not a number'; }
    elif ! is_our_ancestor 1; then
        PID=1
        if status_of 1 && [ "$s_name" = pause ]; then first_neighbour; fi
    fi
    if [ -z "$PID" ]; then
        EFFECTIVE=false
        return
    fi
    if ! status_of "$PID"; then
        gone=$PID PID=''
        could_not_look "there is no process $gone here"
    fi
    NAME=$s_name TARGET_UID=$s_uid TARGET_GID=$s_gid TARGET_CAPS=$s_caps
    # The kernel asks for the same right here as for the files, the links of fd and the environment.
    if [ -d "/proc/$PID/root/." ]; then SEES=true; fi
}

# Sets rights to a sentence's end about a set of capabilities.
rights_of() {
    case $1 in
        *[!0]*) rights="capabilities $1" ;;
        *) rights='no capabilities' ;;
    esac
}

look_at_context() {
    status_of $$
    rights_of "$s_caps" && we="we are $s_uid:$s_gid with $rights"
    if [ "$EFFECTIVE" = false ]; then
        HELP='no target process is visible'
        finding targeting_off 1 0 'targeting is not effective: the only processes here are our own' \
            'Name the container to look at (--target); if it was named, the container runtime ignored it.'
        section context "$we; no target"
        return
    fi
    if [ "$s_uid:$s_gid" = "$TARGET_UID:$TARGET_GID" ]; then
        HELP='needs the profile general (SYS_PTRACE): the target has capabilities that we lack'
    else
        HELP="needs the target's own uid:gid $TARGET_UID:$TARGET_GID, or the profile general (SYS_PTRACE)"
    fi
    rights_of "$TARGET_CAPS"
    section context "target is process $PID ($NAME) as $TARGET_UID:$TARGET_GID with $rights; $we"
}

# ----------------------------------------------------------------------------------------------------------- processes

# The target and its descendants, from all status files: a line of counts, one of the three largest, one of the pids.
process_tree() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v root="$PID" '
        function inside(id, depth) {
            for (depth = 0; depth < 200 && id in parents; depth++) { if (id == root) return 1; id = parents[id] }
            return 0
        }
        $1 == "Name:" { name = $0; sub(/^Name:[ \t]*/, "", name); gsub(/[^ -~]/, "?", name) }
        $1 == "State:" { state = $2 }
        $1 == "Pid:" { pid = $2; names[pid] = name; states[pid] = state; sizes[pid] = 0 }
        $1 == "PPid:" { parents[pid] = $2 }
        $1 == "VmRSS:" { sizes[pid] = $2 }
        $1 == "Threads:" { threads[pid] = $2 }
        END {
            for (id in parents) if (inside(id)) {
                count++; all += threads[id]; resident += sizes[id]; pids = pids " " id
                if (states[id] == "Z") zombies++
                if (states[id] == "D") waiting++
                mine[id] = sizes[id]
            }
            for (place = 1; place <= 3; place++) {
                best = ""
                for (id in mine) if (mine[id] > 0 && (best == "" || mine[id] > mine[best])) best = id
                if (best == "") break
                top = top (place > 1 ? ", " : "") names[best] " " int(mine[best] / 1024) " MiB"
                mine[best] = 0
            }
            print count + 0, all + 0, zombies + 0, waiting + 0, int(resident / 1024)
            print substr(top, 1, 160)
            print pids
        }'
}

look_at_processes() {
    tree=$(process_tree)
    {
        read -r count threads zombies waiting resident
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
    look_at_pids
    section processes "$count, $threads threads, $zombies zombies, $waiting uninterruptible, $resident MiB resident${top:+ (largest: $top)}"
}

look_at_pids() {
    number "$PIDS/pids.max" && most=$value
    number "$PIDS/pids.current"
    if [ -z "$value" ] || [ "${most:-0}" -eq 0 ]; then return; fi
    share=$((value * 100 / most))
    if [ "$share" -ge 80 ]; then
        finding pids_near_limit "$share" 80 "processes and threads at $share % of the limit ($value of $most)" \
            'Look for a leak of threads or children; new ones will soon fail.'
    fi
}

# -------------------------------------------------------------------------------------------------------------- cgroup

VERSION='' CGROUP_HELP='' MEMORY='' CPU='' CPUACCT='' PIDS=''

# Sets directory to where the target's numbers of a controller are (v2: ''). A process that shares our view of the
# hierarchy lies deeper than the mount; one in a container does not.
controller() {
    directory=$1
    if [ -n "${AUTODIAGNOSE_CGROUP:-}" ]; then return; fi
    while IFS=: read -r _ names inner; do
        case ",$names," in *",$2,"*) ;; *) continue ;; esac
        case $inner in
            *..* | /) ;;
            *) if [ -d "$1$inner" ]; then directory=$1$inner; fi ;;
        esac
    done 2>/dev/null <"/proc/$PID/cgroup" || :
}

find_cgroup() {
    CGROUP_HELP="the target's cgroup is not readable; $HELP"
    if [ "$SEES" = true ]; then CGROUP_HELP="the target's cgroup has no such numbers, or is not mounted in it"; fi
    root=${AUTODIAGNOSE_CGROUP:-${PID:+/proc/$PID/root/sys/fs/cgroup}}
    if [ -z "$root" ]; then return; fi
    if [ -r "$root/cgroup.controllers" ] || [ -r "$root/memory.current" ] || [ -r "$root/cpu.stat" ]; then
        VERSION=2
        controller "$root" ''
        MEMORY=$directory CPU=$directory PIDS=$directory
    elif [ -d "$root/memory" ] || [ -d "$root/cpu" ]; then
        VERSION=1
        controller "$root/memory" memory && MEMORY=$directory
        controller "$root/cpu" cpu && CPU=$directory
        controller "$root/cpuacct" cpuacct && CPUACCT=$directory
        controller "$root/pids" pids && PIDS=$directory
    fi
}

read_memory() {
    if [ "$VERSION" = 2 ]; then
        number "$MEMORY/memory.max" && limit=$value
        field "$MEMORY/memory.stat" inactive_file && inactive=$value
        field "$MEMORY/memory.events" oom_kill && kills=$value
        number "$MEMORY/memory.current"
    else
        number "$MEMORY/memory.limit_in_bytes" && limit=$value
        field "$MEMORY/memory.stat" total_inactive_file && inactive=$value
        field "$MEMORY/memory.oom_control" oom_kill && kills=$value
        number "$MEMORY/memory.usage_in_bytes"
    fi
}

look_at_memory() {
    read_memory
    if [ -z "$value" ]; then
        blind memory "$CGROUP_HELP"
        return
    fi
    working=$((value - ${inactive:-0}))
    if [ "$working" -lt 0 ]; then working=0; fi
    if [ "${kills:-0}" -gt 0 ]; then
        finding oom_kill "$kills" 0 "the kernel killed $kills processes of the target for lack of memory" \
            'Raise the memory limit or find what grows; the log of the previous container may name it.'
    fi
    used="$((working / 1048576)) MiB in use ($((value / 1048576)) with cache)"
    if [ "${limit:-0}" -eq 0 ]; then
        section memory "$used, no limit"
        return
    fi
    share=$((working * 100 / limit))
    if [ "$share" -ge 90 ]; then
        finding memory_near_limit "$share" 90 "memory at $share % of its limit ($((working / 1048576)) of $((limit / 1048576)) MiB)" \
            'Raise the memory limit or look for a leak; at the limit the kernel kills the container.'
    fi
    section memory "$used of $((limit / 1048576)) MiB, $share %; ${kills:-0} out-of-memory kills"
}

# Sets periods, throttled, usage (microseconds).
read_cpu() {
    field "$CPU/cpu.stat" nr_periods && periods=$value
    field "$CPU/cpu.stat" nr_throttled && throttled=$value
    field "$CPU/cpu.stat" usage_usec && usage=$value
    if [ -z "$usage" ] && [ -n "$CPUACCT" ]; then
        number "$CPUACCT/cpuacct.usage"
        usage=${value:+$((value / 1000))}
    fi
}

start_cpu_sample() {
    read_cpu
    now
    periods_before=${periods:-0} throttled_before=${throttled:-0} usage_before=$usage sampled_at=$clock
}

# Sets text to the CPU limit.
cpu_limit() {
    quota='' period='' text='no limit'
    if [ "$VERSION" = 2 ]; then
        { read -r quota period <"$CPU/cpu.max" || :; } 2>/dev/null
    else
        number "$CPU/cpu.cfs_period_us" && period=$value
        number "$CPU/cpu.cfs_quota_us" && quota=$value
    fi
    if is_number "$quota" && is_number "$period" && [ "$period" -gt 0 ]; then
        text="limit $((quota * 1000 / period)) millicores"
    fi
}

look_at_cpu() {
    read_cpu
    if [ -z "$usage" ] && [ -z "$periods" ]; then
        blind cpu "$CGROUP_HELP"
        return
    fi
    cpu_limit
    now
    elapsed=$((clock - sampled_at))
    if [ -n "$usage" ] && [ -n "$usage_before" ] && [ "$elapsed" -gt 0 ]; then
        text="$(((usage - usage_before) / elapsed / 10)) millicores in use, $text"
    fi
    look_at_throttling
    section cpu "$text"
}

look_at_throttling() {
    ran=$((${periods:-0} - periods_before)) held=$((${throttled:-0} - throttled_before))
    if [ "$ran" -gt 0 ]; then
        share=$((held * 100 / ran))
        text="$text, throttled in $share % of $ran periods"
        if [ "$share" -gt 10 ]; then
            finding cpu_throttled "$share" 10 "CPU throttled in $share % of the last periods ($held of $ran)" \
                'Raise or remove the CPU limit, or give the process fewer threads than it has CPU.'
        fi
    elif [ "${periods:-0}" -gt 0 ]; then
        share=$((${throttled:-0} * 100 / periods))
        text="$text, throttled in $share % of all periods, idle now"
        if [ "$share" -gt 25 ]; then
            finding cpu_throttled "$share" 25 "CPU throttled in $share % of all periods since the start (${throttled:-0} of $periods)" \
                'It is idle now; look at it under load, and compare the CPU limit with what it needs then.'
        fi
    fi
}

# --------------------------------------------------------------------------------------------------- files and sockets

# Sets opened. Since Linux 6.2 the size of the directory is the number of descriptors.
count_files() {
    opened=$(stat -c %s "/proc/$PID/fd/" 2>/dev/null)
    if is_number "$opened" && [ "$opened" -gt 0 ]; then return; fi
    # shellcheck disable=SC2012 # the names are numbers
    opened=$(ls "/proc/$PID/fd/" | awk 'END { print NR }')
}

# Sets most to the soft limit of open files.
files_limit() {
    most=''
    while read -r first second third soft _; do
        if [ "$first $second $third" = 'Max open files' ]; then most=$soft; fi
    done 2>/dev/null <"/proc/$PID/limits" || :
}

look_at_files() {
    if ! ls "/proc/$PID/fd/" >/dev/null 2>&1; then
        blind files "the target's open files are not readable; $HELP"
        return
    fi
    count_files
    files_limit
    if ! is_number "$most" || [ "$most" -eq 0 ]; then
        section files "$opened open, no limit known"
        return
    fi
    share=$((opened * 100 / most))
    if [ "$share" -ge 80 ]; then
        finding files_near_limit "$share" 80 "open files at $share % of the limit ($opened of $most)" \
            'Look for sockets or files that are never closed; at the limit every open fails.'
    fi
    section files "$opened open of $most, $share %"
}

# The open files of the target's processes, behind the line "looked"; nothing when they do not let us look, or are too many.
held_files() {
    seen=0
    for process in $TREE; do seen=$((seen + 1)); done
    if [ "$SEES" = false ] || [ "$seen" -eq 0 ] || [ "$seen" -gt 64 ]; then return; fi
    echo looked
    set --
    for process in $TREE; do set -- "$@" "/proc/$process/fd/"; done
    ls -l "$@" 2>/dev/null
}

# Counts by state: established, SYN_SENT, TIME_WAIT, CLOSE_WAIT, listening, all; then whose they are. Nobody holds a
# socket in TIME_WAIT any more.
socket_states() {
    { held_files; cat "$1/tcp" "$1/tcp6" 2>/dev/null; } | awk '
        $1 == "looked" { looked = 1; next }
        match($0, /socket:\[[0-9]+\]$/) { held[substr($0, RSTART + 8, RLENGTH - 9)] = 1; next }
        $1 !~ /^[0-9]+:$/ || $4 !~ /^[0-9A-F][0-9A-F]$/ { next }
        looked && $4 != "06" && !($10 in held) { next }
        { states[$4]++; all++ }
        END { print states["01"] + 0, states["02"] + 0, states["06"] + 0, states["08"] + 0, states["0A"] + 0, all + 0, looked ? "target" : "whole pod" }'
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

# Sets servers to their number, zone to the cluster's own zone: the search domain that begins with "svc.".
read_resolv_conf() {
    servers=0 zone=''
    while read -r key rest; do
        case $key in
            nameserver) servers=$((servers + 1)) ;;
            search)
                for domain in $rest; do
                    case $domain in *[!A-Za-z0-9.-]*) ;; svc.*) zone=$domain ;; esac
                done
                ;;
        esac
    done 2>/dev/null <"$1" || :
}

look_at_dns() {
    conf=/etc/resolv.conf
    if [ -n "$PID" ] && [ -r "/proc/$PID/root/etc/resolv.conf" ]; then conf=/proc/$PID/root/etc/resolv.conf; fi
    if [ ! -r "$conf" ]; then
        blind dns "there is no resolv.conf to read; $HELP"
        return
    fi
    read_resolv_conf "$conf"
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
    now && asked_at=$clock
    answer=$(timeout 3 nslookup "$1" 2>&1)
    status=$?
    now && took=$(((clock - asked_at) * 10))
    text="$text; $1 in $took ms"
    case $answer in
        *NXDOMAIN*)
            finding dns_unknown_name 1 0 "DNS does not know $1" "Look at the cluster's DNS (CoreDNS) and its configuration."
            return
            ;;
    esac
    if [ "$status" -ne 0 ]; then
        finding dns_unanswered "$took" 3000 "DNS gave no answer within $took ms" \
            "Look at the cluster's DNS pods and at network policies that keep port 53 from this pod."
    elif [ "$took" -gt 1000 ]; then
        finding dns_slow "$took" 1000 "DNS took $took ms for one name" "Look at the load of the cluster's DNS pods."
    fi
}

# -------------------------------------------------------------------------------------------------------------- mounts

# The paths of the target's real file systems, one a device, at most 40; those that the kernel made read-only after an
# error (the mount is rw, the file system ro) begin with "!".
file_systems() {
    awk '
        {
            for (dash = 7; dash <= NF && $dash != "-"; dash++);
            if ($(dash + 1) !~ /^(ext[234]|xfs|btrfs|overlay|tmpfs|nfs4?|ceph|cifs|zfs|fuse.*|9p|vfat|f2fs)$/) next
            if ($3 in seen || index($5, "\\")) next
            seen[$3] = 1
            if (++count <= 40) print ($6 ~ /^rw/ && $(dash + 3) ~ /^ro/ ? "!" : "") $5
        }' "/proc/$PID/mountinfo" 2>/dev/null
}

look_at_mounts() {
    if [ "$SEES" = false ]; then
        blind mounts "the target's files are not readable; $HELP"
        return
    fi
    set --
    for path in $(file_systems); do
        case $path in
            '!'*) finding disk_read_only 1 0 "${path#!} was made read-only by the kernel" "Look at the node's kernel log for disk errors." ;;
        esac
        set -- "$@" "/proc/$PID/root${path#!}"
    done
    count=0 fullest=0 fullest_path=/
    numbers=$(stat -f -c '%b %a %c %d %n' "$@" 2>/dev/null)
    while read -r blocks free nodes free_nodes path; do
        if [ -n "$path" ]; then look_at_mount; fi
    done <<EOF
$numbers
EOF
    section mounts "$count file systems, the fullest is $fullest_path with $fullest %"
}

# Sets share to the percentage in use; 0 where the file system does not count.
share_of() {
    share=0
    if is_number "$1" && is_number "$2" && [ "$1" -gt 0 ]; then share=$((100 - $2 * 100 / $1)); fi
}

look_at_mount() {
    count=$((count + 1))
    path=${path#"/proc/$PID/root"}
    share_of "$nodes" "$free_nodes"
    if [ "$share" -gt 90 ]; then
        finding disk_inodes "$share" 90 "$path has used $share % of its inodes" 'Look for a directory with very many small files.'
    fi
    share_of "$blocks" "$free"
    if [ "$share" -gt 90 ]; then
        finding disk_full "$share" 90 "$path is $share % full" 'Remove what is not needed, or make the volume larger.'
    fi
    if [ "$share" -gt "$fullest" ]; then fullest=$share fullest_path=$path; fi
}

# ---------------------------------------------------------------------------------------------------------------- main

STARTED=$(date -u +%Y-%m-%dT%H:%M:%SZ)
[ -r /proc/self/status ] || could_not_look 'there is no /proc'
not_after
find_target
look_at_context
if [ "$EFFECTIVE" = true ]; then
    find_cgroup
    start_cpu_sample
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
    look_at_sockets
    look_at_dns
fi
report
