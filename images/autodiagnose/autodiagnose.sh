#!/bin/sh
# First look at a running container from an ephemeral container beside it. Reads only; writes its report to standard
# output and, shortened, to the termination file. Needs sh, awk, cat, date, du, grep, ls, sleep, stat, tr, uname
# (busybox has them); uses nslookup, nc, openssl, sha256sum and sort where they are. Opens connections to nothing outside the cluster.
# It shares the pod's CPU and memory limits with the target, so it starts as few processes as it can.
#
#   autodiagnose.sh                looks. Exit: 0 looked, whatever was found; 1 could not look.
#   autodiagnose.sh stop RUN-ID    ends the processes of another run. Exit: 0 they have ended; 1 could not; 2 there are none.
#
#   KDEBUG_RUN                     shown in the header
#   KDEBUG_TARGET                  the name of the container to look at, where several share their processes
#   KDEBUG_NOT_AFTER               UTC, RFC 3339; started later, it does nothing
#   KDEBUG_COMPARE                 a key; set, the report has facts to be compared with those of other pods
#   AUTODIAGNOSE_PID               the process to look at (default: the target's first process)
#   AUTODIAGNOSE_CGROUP            where the target's cgroup numbers are (default: below the target's root)
#   AUTODIAGNOSE_SAMPLE            seconds between the two readings of what grows, with ten readings for charts between (default 3; 0: one reading)
#   AUTODIAGNOSE_PEERS             how many peers of the target are tried (default 5; 0: none)
#   AUTODIAGNOSE_TLS               HOST:PORT … within the cluster, whose certificates are looked at
#   AUTODIAGNOSE_TERMINATION_LOG   default /dev/termination-log
#   AUTODIAGNOSE_MESSAGE           its most bytes (default 1024, at least that, at most 3072): the kubelet cuts the messages of all
#                                  containers of a pod, ended ones too, to 12 KiB in equal shares, and a cut report is none
#   AUTODIAGNOSE_GRACE             stop: seconds between TERM and KILL (default 5)
set -u
export LC_ALL=C

VERSION_OF_TOOL=0.2.0
SAMPLE=${AUTODIAGNOSE_SAMPLE:-3}
PEERS=${AUTODIAGNOSE_PEERS:-5}
GRACE=${AUTODIAGNOSE_GRACE:-5}
MESSAGE=${AUTODIAGNOSE_MESSAGE:-1024}
NL='
'
TAB=$(printf '\t')
case $0 in */*) HERE=${0%/*} ;; *) HERE=. ;; esac

. "$HERE/parts/read.sh"
. "$HERE/parts/findings.sh"
. "$HERE/parts/report.sh"
. "$HERE/parts/target.sh"
. "$HERE/parts/processes.sh"
. "$HERE/parts/cgroup.sh"
. "$HERE/parts/memory.sh"
. "$HERE/parts/cpu.sh"
. "$HERE/parts/series.sh"
. "$HERE/parts/survey.sh"
. "$HERE/parts/io.sh"
. "$HERE/parts/files.sh"
. "$HERE/parts/sockets.sh"
. "$HERE/parts/dns.sh"
. "$HERE/parts/peers.sh"
. "$HERE/parts/tls.sh"
. "$HERE/parts/filesystem.sh"
. "$HERE/parts/environment.sh"
. "$HERE/parts/runtime.sh"
. "$HERE/parts/compare.sh"
. "$HERE/parts/stop.sh"

# What takes time is asked within the sample; what grows is read at its two ends.
look() {
    find_target
    look_at_context
    if [ "$EFFECTIVE" = true ]; then
        find_cgroup
        start_memory_sample
        start_cpu_sample
        start_series
        look_at_processes
    fi
    start_socket_sample
    continue_series
    survey
    continue_series
    look_at_dns
    continue_series
    look_at_peers
    continue_series
    look_at_tls
    continue_series
    if [ "$EFFECTIVE" = true ]; then
        look_at_files
        ask_file_systems
        continue_series
        look_at_filesystem
        look_at_environment
        look_at_runtime
        finish_sample
        look_at_memory
        look_at_cpu
        look_at_series
        look_at_io
    else
        finish_sample
        for name in processes memory cpu io files filesystem environment runtime; do
            blind "$name" 'no target process is visible'
        done
    fi
    look_at_sockets
    tell_facts
    report
}

now && began=$clock
STARTED=$(date -u +%Y-%m-%dT%H:%M:%SZ)
[ -r /proc/self/status ] || could_not_look 'there is no /proc'
for setting in "$SAMPLE" "$PEERS" "$GRACE" "$MESSAGE"; do
    if ! is_setting "$setting"; then
        SAMPLE=0 MESSAGE=1024
        could_not_look 'a setting is not a small whole number'
    fi
done
if [ "$MESSAGE" -gt 3072 ]; then MESSAGE=3072; fi
if [ "$MESSAGE" -lt 1024 ]; then MESSAGE=1024; fi
not_after "${1:-}"
case ${1:-} in
    '') look ;;
    stop) stop_run "${2:-}" ;;
    *) could_not_look 'the only command is: stop RUN-ID' ;;
esac
