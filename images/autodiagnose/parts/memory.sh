# Memory of the target's cgroup.

MEMORY_LIMIT='' above_before='' hits_before=''

# Sets above to how often the cgroup was above its "high" mark (v2 alone has one), and hits to how often it was at its limit.
read_held_back() {
    above='' hits=''
    if [ "$VERSION" = 2 ]; then
        field "$MEMORY/memory.events" high && above=$value
        field "$MEMORY/memory.events" max && hits=$value
    else
        number "$MEMORY/memory.failcnt" && hits=$value
    fi
}

start_memory_sample() {
    read_memory
    MEMORY_LIMIT=${limit:-0}
    read_held_back && above_before=$above hits_before=$hits
}

# Sets used, limit, inactive, kills, peak, swap, high (bytes, or nothing).
read_memory() {
    if [ "$VERSION" = 2 ]; then
        number "$MEMORY/memory.max" && limit=$value
        number "$MEMORY/memory.high" && high=$value
        number "$MEMORY/memory.peak" && peak=$value
        number "$MEMORY/memory.swap.current" && swap=$value
        field "$MEMORY/memory.stat" inactive_file && inactive=$value
        field "$MEMORY/memory.events" oom_kill && kills=$value
        number "$MEMORY/memory.current" && used=$value
    else
        number "$MEMORY/memory.limit_in_bytes" && limit=$value
        high=''
        number "$MEMORY/memory.max_usage_in_bytes" && peak=$value
        field "$MEMORY/memory.stat" total_inactive_file && inactive=$value
        field "$MEMORY/memory.stat" total_swap && swap=$value
        field "$MEMORY/memory.oom_control" oom_kill && kills=$value
        number "$MEMORY/memory.usage_in_bytes" && used=$value
    fi
}

look_at_memory() {
    read_memory
    if [ -z "$used" ]; then
        blind_cgroup memory
        return
    fi
    working=$((used - ${inactive:-0}))
    if [ "$working" -lt 0 ]; then working=0; fi
    count_of "${kills:-0}" process processes
    found oom_kill "${kills:-0}" "the kernel killed $counted of the target for lack of memory"
    text="$((working / 1048576)) MiB in use ($((used / 1048576)) with cache)"
    if [ "${limit:-0}" -gt 0 ]; then
        share=$((working * 100 / limit))
        found memory_near_limit "$share" "memory at $share% of its limit ($((working / 1048576)) of $((limit / 1048576)) MiB)"
        text="$text of $((limit / 1048576)) MiB, $share%"
    else
        text="$text, no limit"
    fi
    if [ -n "$peak" ]; then text="$text; peak $((peak / 1048576)) MiB"; fi
    if [ "${swap:-0}" -gt 0 ]; then text="$text; $((swap / 1048576)) MiB swapped out"; fi
    if [ -n "$high" ]; then text="$text; throttled above $((high / 1048576)) MiB"; fi
    count_of "${kills:-0}" 'out-of-memory kill'
    text="$text; $counted"
    look_at_memory_pressure
    section memory "$text"
}

look_at_memory_pressure() {
    read_held_back
    times=$((${above:-0} - ${above_before:-${above:-0}}))
    # Whatever reads or writes files is at its limit again and again, as the cache of files fills what nobody needs.
    if [ "${limit:-0}" -gt 0 ] && [ $((working * 100 / limit)) -ge 80 ]; then times=$((times + ${hits:-0} - ${hits_before:-${hits:-0}})); fi
    count_of "$times" time
    found memory_held_back "$times" "the cgroup hit its memory limit $counted within the sample"
    count_of $((${above:-0} + ${hits:-0})) time
    if [ "$counted" != '0 times' ]; then text="$text; $counted at the limit since the start"; fi
    pressure "$MEMORY/memory.pressure"
    if [ -z "$pressure_full" ]; then return; fi
    found memory_pressure "$pressure_full" "all processes waited for memory $pressure_full% of the last 10 seconds"
    text="$text; pressure $pressure_full%"
}
