# Whom to look at, and who we are.

PID='' TARGET_UID='' TARGET_GID='' TARGET_PERMITTED='' TARGET_NAMES='' NAME='' STARTED_TICKS='' EFFECTIVE=true SEES=false
# Whether its root is another than ours; else what lies there is not the target's own.
CONTAINED=true
OWN_UID='' OWN_GID='' OWN_NAMES='' HELP='' LACKS='a target process' HELPS=target NEIGHBOURS=0

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
        report "Started too late: this run was given up at $KDEBUG_NOT_AFTER, so nothing was done."
        exit 0
    fi
}

is_our_ancestor() {
    ancestor=$$
    while is_number "$ancestor" && [ "$ancestor" -gt 0 ]; do
        if [ "$ancestor" -eq "$1" ]; then return 0; fi
        status_of "$ancestor" || return 1
        ancestor=$s_parent
    done
    return 1
}

# Whether a process has a line of this name (and value) in its environment, as far as we may read it.
has_variable() {
    tr '\n\0' '\001\n' 2>/dev/null <"/proc/$1/environ" | grep -q "$2"
}

# The first process of each container has parent 0, also in a shared process namespace, where process 1 is the pod's
# pause. Takes the oldest of another cgroup than ours that is no pause and no debug container.
find_first_process() {
    lines_of /proc/self/cgroup && ours=$text
    oldest=''
    for path in /proc/[0-9]*; do
        candidate=${path#/proc/}
        status_of "$candidate" || continue
        if [ "$s_parent" != 0 ] || [ "$s_name" = pause ] || [ "$s_name" = autodiagnose.sh ]; then continue; fi
        lines_of "$path/cgroup"
        if [ -z "$text" ] || [ "$text" = "$ours" ] || has_variable "$candidate" '^KDEBUG_RUN='; then continue; fi
        times_of "$candidate" || continue
        NEIGHBOURS=$((NEIGHBOURS + 1))
        if [ -z "$oldest" ] || [ "$t_start" -lt "$oldest" ]; then PID=$candidate oldest=$t_start; fi
    done 2>/dev/null
    # A runtime that shows no cgroups: process 1, unless it is our own.
    if [ -z "$PID" ] && ! is_our_ancestor 1 && status_of 1 && [ "$s_name" != pause ]; then PID=1; fi
}

find_target() {
    PID=${AUTODIAGNOSE_PID:-}
    if [ -z "$PID" ]; then
        find_first_process
    elif ! is_number "$PID"; then
        PID='' && could_not_look 'AUTODIAGNOSE_PID is not a number'
    fi
    if [ -z "$PID" ]; then
        EFFECTIVE=false
        return
    fi
    if ! status_of "$PID"; then
        gone=$PID PID=''
        could_not_look "there is no process $gone here"
    fi
    NAME=$s_name TARGET_UID=$s_uid TARGET_GID=$s_gid TARGET_PERMITTED=$s_permitted TARGET_SECCOMP=$s_seccomp
    names_of "$s_caps" && TARGET_NAMES=$names
    times_of "$PID" && STARTED_TICKS=$t_start
    # The kernel asks for the same right here as for the files, the links of fd and the environment.
    if [ -d "/proc/$PID/root/." ]; then SEES=true; fi
    # shellcheck disable=SC2046 # to be split
    set -- $(stat -L -c %d:%i "/proc/$PID/root/." /proc/self/root/. 2>/dev/null)
    if [ "${1:-}" = "${2:-}" ]; then CONTAINED=false; fi
}

# Sets rights to a sentence's end about a list of capabilities.
rights_of() {
    case $1 in
        '') rights='no capabilities' ;;
        *,*,*,*,*,*,*,*,*,*,*,*,*,*,*,*) rights='many capabilities' ;;
        *) rights="capabilities $1" ;;
    esac
}

# The kernel lets us look with SYS_PTRACE, or as the same uid and gid when we have all of the target's capabilities.
explain_blindness() {
    LACKS='ptrace access to the target: its files, environment and cgroup'
    HELPS=general,sysadmin
    HELP='needs the profile general (SYS_PTRACE): the target has capabilities that we lack'
    case $TARGET_PERMITTED in *[!0]*) return ;; esac
    if [ "$OWN_UID:$OWN_GID" = "$TARGET_UID:$TARGET_GID" ]; then return; fi
    HELPS=identity,general,sysadmin
    HELP="needs the target's own uid:gid $TARGET_UID:$TARGET_GID, or the profile general (SYS_PTRACE)"
}

look_at_context() {
    status_of $$ && OWN_UID=$s_uid OWN_GID=$s_gid
    names_of "$s_caps" && OWN_NAMES=$names
    rights_of "$OWN_NAMES" && we="we are $OWN_UID:$OWN_GID with $rights"
    detail context "kernel $(uname -rm 2>/dev/null), clock $STARTED"
    if [ "$EFFECTIVE" = false ]; then
        found targeting_off 1 'targeting is not effective: the only processes here are our own'
        section context "$we; no target"
        return
    fi
    explain_blindness
    if [ "$NEIGHBOURS" -gt 1 ]; then
        detail context "$NEIGHBOURS containers share this process namespace; AUTODIAGNOSE_PID names the first process of another"
    fi
    case $TARGET_SECCOMP in 0) seccomp=', no seccomp' ;; *) seccomp='' ;; esac
    rights_of "$TARGET_NAMES"
    section context "target is process $PID ($NAME) as $TARGET_UID:$TARGET_GID with $rights$seccomp; $we"
}
