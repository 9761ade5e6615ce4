# CPU of the target's cgroup, over the sample.

# Sets periods, throttled, stood (ms throttled), usage (microseconds).
read_cpu() {
    field "$CPU/cpu.stat" nr_periods && periods=$value
    field "$CPU/cpu.stat" nr_throttled && throttled=$value
    if [ "$VERSION" = 2 ]; then
        field "$CPU/cpu.stat" throttled_usec && stood=$((${value:-0} / 1000))
    else
        field "$CPU/cpu.stat" throttled_time && stood=$((${value:-0} / 1000000))
    fi
    field "$CPU/cpu.stat" usage_usec && usage=$value
    if [ -z "$usage" ] && [ -n "$CPUACCT" ]; then
        number "$CPUACCT/cpuacct.usage"
        usage=${value:+$((value / 1000))}
    fi
}

start_cpu_sample() {
    read_cpu
    cpu_limit
    now
    periods_before=${periods:-0} throttled_before=${throttled:-0} stood_before=$stood usage_before=$usage sampled_at=$clock
}

# Sets quota and period (nothing without a limit), and text.
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
    else
        quota=''
    fi
}

look_at_cpu() {
    read_cpu
    if [ -z "$usage" ] && [ -z "$periods" ]; then
        blind_cgroup cpu
        return
    fi
    cpu_limit
    now
    elapsed=$((clock - sampled_at))
    if [ -n "$usage" ] && [ -n "$usage_before" ] && [ "$elapsed" -gt 0 ]; then
        text="$(((usage - usage_before) / elapsed / 10)) millicores in use, $text"
    fi
    look_at_throttling || look_at_cpu_pressure
    { read -r load _ </proc/loadavg || load=unknown; } 2>/dev/null
    section cpu "$text; load of the node $load"
}

# Whether it is throttled.
look_at_throttling() {
    ran=$((${periods:-0} - periods_before)) held=$((${throttled:-0} - throttled_before)) stood=$((stood - stood_before))
    if [ "$ran" -gt 0 ]; then
        share=$((held * 100 / ran))
        text="$text, throttled in $share% of $ran periods ($stood ms)"
        found cpu_throttled "$share" "CPU throttled in $share% of the last periods ($held of $ran, $stood ms)"
    elif [ "${periods:-0}" -gt 0 ]; then
        share=$((${throttled:-0} * 100 / periods))
        text="$text, throttled in $share% of all periods, idle now"
        found cpu_throttled_before "$share" "CPU throttled in $share% of all periods since the start (${throttled:-0} of $periods)"
    else
        return 1
    fi
}

look_at_cpu_pressure() {
    pressure "$CPU/cpu.pressure"
    if [ -z "$pressure_some" ]; then return; fi
    found cpu_pressure "$pressure_some" "processes waited for a CPU $pressure_some% of the last 10 seconds"
    text="$text, pressure $pressure_some%"
}
