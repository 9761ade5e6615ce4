# What moves while we look: CPU, throttling and memory of the target's cgroup, read up to ten times within the sample. A chart of it
# tells a burst from a steady load, which the difference between the sample's two ends does not.

SERIES_CPU='' SERIES_THROTTLED='' SERIES_MEMORY='' series_at=''

# Sets m_periods, m_throttled, m_usage (microseconds) and m_memory (bytes without the cache that is easily freed); nothing for what is not there.
read_moment() {
    m_periods='' m_throttled='' m_usage='' m_memory='' inactive=''
    while read -r key found; do
        case $key in nr_periods) m_periods=$found ;; nr_throttled) m_throttled=$found ;; usage_usec) m_usage=$found ;; esac
    done 2>/dev/null <"$CPU/cpu.stat" || :
    if [ "$VERSION" = 2 ]; then
        number "$MEMORY/memory.current" && m_memory=$value
        field "$MEMORY/memory.stat" inactive_file && inactive=$value
    else
        number "$CPUACCT/cpuacct.usage" && m_usage=${value:+$((value / 1000))}
        number "$MEMORY/memory.usage_in_bytes" && m_memory=$value
        field "$MEMORY/memory.stat" total_inactive_file && inactive=$value
    fi
    if [ -n "$m_memory" ] && [ "$m_memory" -ge "${inactive:-0}" ]; then m_memory=$((m_memory - ${inactive:-0})); fi
}

# Needs the cgroup. Without a sample nothing is read.
start_series() {
    if [ "$SAMPLE" -eq 0 ]; then return; fi
    now && series_at=$clock series_began=$clock
    read_moment
    last_periods=$m_periods last_throttled=$m_throttled last_usage=$m_usage
}

# One more reading, when a tenth of the sample has passed since the last.
continue_series() {
    if [ -z "$series_at" ]; then return; fi
    now
    passed=$((clock - series_at))
    if [ "$passed" -lt $((SAMPLE * 10)) ]; then return; fi
    read_moment
    at=$(((clock - series_began) * 10)) series_at=$clock
    if is_number "$m_usage" && is_number "$last_usage" && [ "$m_usage" -ge "$last_usage" ]; then
        SERIES_CPU="$SERIES_CPU,[$at,$(((m_usage - last_usage) / passed / 10))]"
    fi
    if is_number "$m_periods" && is_number "$last_periods" && [ "$m_periods" -gt "$last_periods" ]; then
        SERIES_THROTTLED="$SERIES_THROTTLED,[$at,$(((m_throttled - last_throttled) * 100 / (m_periods - last_periods)))]"
    fi
    if [ -n "$m_memory" ]; then SERIES_MEMORY="$SERIES_MEMORY,[$at,$m_memory]"; fi
    last_periods=$m_periods last_throttled=$m_throttled last_usage=$m_usage
}

# Sleeps for what is left of the sample, and reads on meanwhile.
finish_sample() {
    while :; do
        continue_series
        now
        left=$((SAMPLE * 100 - clock + began))
        if [ "$left" -le 0 ]; then return; fi
        if [ -n "$series_at" ] && [ "$left" -gt $((SAMPLE * 10)) ]; then left=$((SAMPLE * 10)); fi
        hundredths=$((left % 100))
        if [ "$hundredths" -lt 10 ]; then hundredths=0$hundredths; fi
        sleep "$((left / 100)).$hundredths" 2>/dev/null || sleep "$((left / 100 + 1))"
    done
}

# Records what was read: needs the limits that the other parts know. Fewer than three readings tell nothing.
look_at_series() {
    millicores=''
    if [ -n "$quota" ]; then millicores=$((quota * 1000 / period)); fi
    series cpu millicores "$millicores" 'CPU in use' "$SERIES_CPU"
    series cpu % '' 'Throttled periods' "$SERIES_THROTTLED"
    series memory bytes "${MEMORY_LIMIT#0}" 'Memory in use' "$SERIES_MEMORY"
}

# series SECTION UNIT LIMIT TEXT POINTS
series() {
    case $5 in *,\[*,\[*,\[*) RECORDS="$RECORDS${NL}L$TAB$1$TAB$2$TAB$3$TAB$4$TAB${5#,}" ;; esac
}
