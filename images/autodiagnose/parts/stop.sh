# Ends the processes of another run: those whose environment names it. No exec right is needed, because all debug
# containers of one target share its process namespace.

# Sets matches to the living processes of a run, never our own; unread to how many would not be read.
processes_of_run() {
    matches='' unread=0 above=' '
    ancestor=$$
    while [ "$ancestor" -gt 0 ] && status_of "$ancestor"; do
        above="$above$ancestor "
        ancestor=$s_parent
    done
    for path in /proc/[0-9]*; do
        candidate=${path#/proc/}
        case $above in *" $candidate "*) continue ;; esac
        if belongs "$candidate"; then matches="$matches $candidate"; fi
    done
}

# Whether a process lives and has the run in its environment.
belongs() {
    state_of "$1" || return 1
    case $state in Z | X) return 1 ;; esac
    if ! { true <"/proc/$1/environ"; } 2>/dev/null; then
        unread=$((unread + 1))
        return 1
    fi
    has_variable "$1" "^KDEBUG_RUN=$RUN_TO_STOP\$"
}

stop_run() {
    RUN_TO_STOP=$1
    case $1 in
        '' | *[!A-Za-z0-9-]*) end_stop 1 'usage: stop RUN-ID (letters, digits and dashes)' ;;
    esac
    if [ "$1" = "${KDEBUG_RUN:-}" ]; then end_stop 1 "Not stopped: $1 is this run itself."; fi
    processes_of_run
    if [ -z "$matches" ] && [ "$unread" -gt 0 ]; then
        end_stop 2 "Nothing to stop: no process of run $1 is visible, and $unread could not be read. Use the run's own target, user and profile."
    elif [ -z "$matches" ]; then
        end_stop 2 "Nothing to stop: no process of run $1 is visible. It has ended, or it has another target."
    fi
    stopped=$matches signal=TERM
    signal_all TERM
    wait_for_end || { signal=KILL && signal_all KILL && wait_for_end; } || end_stop 1 "Not stopped: the processes of run $1 are still there:$matches."
    end_stop 0 "Stopped run $1 with $signal: processes$stopped."
}

signal_all() {
    for process in $matches; do
        if belongs "$process" && ! kill -s "$1" "$process" 2>/dev/null && belongs "$process"; then
            end_stop 1 "Not stopped: process $process of run $RUN_TO_STOP may not be signalled. Use the run's own user."
        fi
    done
}

# Waits until no process of the run is left, at most GRACE seconds; sets matches to those that are.
wait_for_end() {
    now && until=$((clock + GRACE * 100))
    while :; do
        left=''
        for process in $matches; do
            if belongs "$process"; then left="$left $process"; fi
        done
        matches=$left
        # Those that were started meanwhile belong to it as well.
        if [ -z "$matches" ]; then processes_of_run; fi
        if [ -z "$matches" ]; then return 0; fi
        now
        if [ "$clock" -ge "$until" ]; then return 1; fi
        sleep 0.1 2>/dev/null || sleep 1
    done
}

# end_stop CODE SENTENCE: to the log and the termination file.
end_stop() {
    printf '%s\n' "$2"
    file=${AUTODIAGNOSE_TERMINATION_LOG:-/dev/termination-log}
    if [ -n "${AUTODIAGNOSE_TERMINATION_LOG:-}" ] || [ -w "$file" ]; then (printf '%s' "$2" >"$file") 2>/dev/null || :; fi
    exit "$1"
}
