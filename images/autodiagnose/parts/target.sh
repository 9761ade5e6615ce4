# Whom to look at, and who we are.

PID='' TARGET_UID='' TARGET_GID='' TARGET_PERMITTED='' TARGET_NAMES='' NAME='' STARTED_TICKS='' EFFECTIVE=true SEES=false
# Whether its root is another than ours; else what lies there is not the target's own.
CONTAINED=true
# Whether the node's own processes are visible.
ON_NODE=false
OWN_UID='' OWN_GID='' OWN_NAMES='' HELP='' LACKS='a target process' HELPS=target NEIGHBOURS=0 FIRSTS=''

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
        if [ "${1:-}" = stop ]; then end_stop 1 "Not stopped: this started too late, after $KDEBUG_NOT_AFTER."; fi
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

# Sets place to the path of a process' cgroup: the longest, where hierarchies differ.
place_of() {
    place=''
    while IFS=: read -r _ _ inner; do
        if [ "${#inner}" -gt "${#place}" ]; then place=$inner; fi
    done 2>/dev/null <"/proc/$1/cgroup" || :
}

# Where the node's own processes are visible (hostPID): the folders of those in our pod, whose cgroups lie beside ours.
processes_of_pod() {
    place_of self
    case $place in
        # In a cgroup namespace, the one beside ours is above us.
        /) grep -lsE ':/\.\./[^./]' /proc/[0-9]*/cgroup ;;
        /*/*) grep -lsF "${place%/*}/" /proc/[0-9]*/cgroup ;;
    esac
}

# Whether a process, whose status was read, is the first of its container: it has no parent here, also in a shared process
# namespace, where process 1 is the pod's pause; among the node's processes, its parent is in another cgroup.
is_first() {
    if [ "$s_parent" = 0 ]; then return 0; fi
    if [ "$ON_NODE" = false ]; then return 1; fi
    place_of "$s_parent" && theirs=$place
    place_of "$1"
    [ "$place" != "$theirs" ]
}

# Sets container to what the pod calls a process' container: the kubelet mounts a file from a folder of that name into each.
container_of() {
    container=''
    while read -r _ _ _ source _; do
        case $source in
            */pods/*/containers/*/*)
                source=${source%/*}
                container=${source##*/}
                ;;
        esac
    done 2>/dev/null <"/proc/$1/mountinfo" || :
}

# Takes the first process of the container that KDEBUG_TARGET names; else the oldest first process of another cgroup than ours
# that is no pause and no debug container.
find_first_process() {
    lines_of /proc/self/cgroup && ours=$text
    oldest=''
    if status_of 2 && [ "$s_name" = kthreadd ]; then ON_NODE=true; fi
    candidates=$(if [ "$ON_NODE" = true ]; then processes_of_pod; else echo /proc/[0-9]*; fi)
    for path in $candidates; do
        candidate=${path#/proc/} candidate=${candidate%/cgroup}
        status_of "$candidate" || continue
        if [ "$s_name" = pause ] || [ "$s_name" = autodiagnose.sh ] || ! is_first "$candidate"; then continue; fi
        lines_of "/proc/$candidate/cgroup"
        if [ -z "$text" ] || [ "$text" = "$ours" ] || has_variable "$candidate" '^KDEBUG_RUN='; then continue; fi
        times_of "$candidate" || continue
        NEIGHBOURS=$((NEIGHBOURS + 1))
        container_of "$candidate"
        if [ -n "${KDEBUG_TARGET:-}" ] && [ "$container" = "$KDEBUG_TARGET" ]; then
            PID=$candidate NEIGHBOURS=1
            break
        fi
        FIRSTS="$FIRSTS, $candidate ($s_name${container:+ of $container})"
        if [ -z "$oldest" ] || [ "$t_start" -lt "$oldest" ]; then PID=$candidate oldest=$t_start; fi
    done 2>/dev/null
    # A runtime that shows no cgroups: process 1, unless it is our own or the node's.
    if [ -z "$PID" ] && [ "$ON_NODE" = false ] && ! is_our_ancestor 1 && status_of 1 && [ "$s_name" != pause ]; then PID=1; fi
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
    plainly "$s_name"
    NAME=$plain TARGET_UID=$s_uid TARGET_GID=$s_gid TARGET_PERMITTED=$s_permitted TARGET_SECCOMP=$s_seccomp
    names_of "$s_caps" && TARGET_NAMES=$names
    times_of "$PID" && STARTED_TICKS=$t_start
    # The kernel asks for the same right here as for the files, the links of fd and the environment.
    if [ -d "/proc/$PID/root/." ]; then SEES=true; fi
    container_of "$PID"
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
    case $TARGET_PERMITTED in
        # What root has in a container unless more is given or some is taken.
        00000000a80425fb) HELP='needs the profile general (SYS_PTRACE), or baseline as root: the target is root with default capabilities' ;;
    esac
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
        found targeting_off 1 'targeting is not effective: no process of another container is visible'
        section context "$we; no target"
        return
    fi
    explain_blindness
    # Process 1, where it is no pause, has the namespace for itself and its debug containers.
    if [ "$PID" != 1 ] && found target_unclear "$NEIGHBOURS" "$NEIGHBOURS containers share this process namespace; process $PID ($NAME), the oldest, was looked at"; then
        detail context "the first processes of the containers: ${FIRSTS#, }"
    fi
    case $TARGET_SECCOMP in 0) seccomp=', no seccomp' ;; 2) seccomp=', seccomp' ;; *) seccomp='' ;; esac
    rights_of "$TARGET_NAMES"
    section context "target is process $PID ($NAME${container:+ of container $container}) as $TARGET_UID:$TARGET_GID with $rights$seccomp; $we"
}
