# Reading without starting processes, and the one way to start what may take long. Functions set shell variables.

# limited SECONDS COMMAND …: 124 when it had to be ended, with its state up to then in cut_in. Not the timeout of busybox: its timer becomes a child of process 1,
# which is the target's, and a target that does not wait for it has a zombie more after every look.
limited() {
    now && latest=$((clock + $1 * 100))
    shift
    "$@" &
    worker=$!
    if ended_by "$latest"; then
        wait "$worker"
        return
    fi
    cut_in=$state
    kill "$worker" 2>/dev/null
    # What waits for a dead volume cannot be killed, and is left behind.
    if ended_by $((clock + 50)); then wait "$worker"; fi
    return 124
}

# Whether the worker has ended when the clock is there.
ended_by() {
    while state_of "$worker" && [ "$state" != Z ]; do
        now
        if [ "$clock" -ge "$1" ]; then return 1; fi
        sleep 0.05 2>/dev/null || sleep 1
    done
}

# said_within SECONDS COMMAND …: what it says, and then "ended CODE", or "ended 124 STATE". For what may wait for a dead volume: $(limited …) would
# wait with it, as that one keeps the pipe open.
said_within() {
    { cut_in='' && limited "$@"; echo "ended $?${cut_in:+ $cut_in}"; } 2>/dev/null | while read -r line; do
        printf '%s\n' "$line"
        case $line in 'ended '*) break ;; esac
    done
}

# Sets state to a process' letter; fails when there is none.
state_of() {
    state=''
    while read -r key first _; do
        if [ "$key" = State: ]; then state=$first; fi
    done 2>/dev/null <"/proc/$1/status" || :
    [ -n "$state" ]
}

is_number() {
    case $1 in '' | *[!0-9]*) return 1 ;; *) return 0 ;; esac
}

# Whether a setting is a whole number of at most four digits. One with a zero before it is of base 8 to the shell, and none to JSON.
is_setting() {
    case $1 in 0?* | ?????*) return 1 ;; *) is_number "$1" ;; esac
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

# Sets text to all lines of a short file, joined by ";".
lines_of() {
    text=''
    while read -r line; do text="$text$line;"; done 2>/dev/null <"$1" || :
}

# Sets pressure_some and pressure_full to whole percents of the last ten seconds; to nothing where the kernel does not count.
pressure() {
    pressure_some='' pressure_full=''
    while read -r kind share _; do
        share=${share#avg10=}
        share=${share%%.*}
        is_number "$share" || continue
        case $kind in some) pressure_some=$share ;; full) pressure_full=$share ;; esac
    done 2>/dev/null <"$1" || :
}

# Sets the s_… variables to what a process says of itself; fails when there is none.
status_of() {
    s_name='' s_parent='' s_uid='' s_gid='' s_caps='' s_permitted='' s_seccomp=''
    while read -r key first rest; do
        case $key in
            Name:) s_name=$first${rest:+ $rest} ;;
            PPid:) s_parent=$first ;;
            Uid:) s_uid=$first ;;
            Gid:) s_gid=$first ;;
            CapEff:) s_caps=$first ;;
            CapPrm:) s_permitted=$first ;;
            Seccomp:) s_seccomp=$first ;;
        esac
    done 2>/dev/null <"/proc/$1/status" || :
    [ -n "$s_uid" ]
}

# Sets t_cpu (own and children's, waited for) and t_start of a process, in ticks of 10 ms.
times_of() {
    t_cpu=0 t_start=''
    line=''
    { read -r line <"/proc/$1/stat" || :; } 2>/dev/null
    # shellcheck disable=SC2086 # to be split
    set -- ${line##*") "}
    if [ $# -lt 20 ]; then return 1; fi
    shift 11
    t_cpu=$(($1 + $2 + $3 + $4)) t_start=$9
}

# Sets clock to hundredths of a second since the node's start.
now() {
    read -r up _ </proc/uptime
    clock=${up%.*}${up#*.}
}

CAPABILITIES='CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT
SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG
WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE'

# Sets names to a set's capabilities, separated by commas.
names_of() {
    names='' bit=0
    case $1 in '' | *[!0-9a-f]*) return ;; esac
    for capability in $CAPABILITIES; do
        if [ $((0x$1 >> bit & 1)) -eq 1 ]; then names=$names${names:+,}$capability; fi
        bit=$((bit + 1))
    done
}

# count_of NUMBER ONE [MANY]: sets counted to the number and its words, "1 process" or "2 processes".
count_of() {
    case $1 in 1) counted="1 $2" ;; *) counted="$1 ${3:-$2s}" ;; esac
}

# Sets text to a length of time given in seconds.
duration() {
    if [ "$1" -ge 172800 ]; then text="$(($1 / 86400)) days"
    elif [ "$1" -ge 7200 ]; then text="$(($1 / 3600)) hours"
    elif [ "$1" -ge 120 ]; then text="$(($1 / 60)) minutes"
    else text="$1 seconds"; fi
}
