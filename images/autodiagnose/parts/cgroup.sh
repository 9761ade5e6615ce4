# Where the target's cgroup numbers are.

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
    if [ -n "$VERSION" ]; then detail context "the target's cgroup is version $VERSION"; fi
}

# blind, when the numbers of the cgroup lack: with what would help, if a permission would.
blind_cgroup() {
    if [ "$SEES" = true ]; then
        blind "$1" "$CGROUP_HELP" "the target's cgroup files" ''
    else
        blind "$1" "$CGROUP_HELP"
    fi
}
