# The target's processes.

TREE='' LISTABLE=true COUNT=0 LIVING=0

# The target's processes: those of its cgroup where that is not ours, and its descendants. Lines: counts; the three
# largest; the pids of the living, at most 64: the target's own, then those with the most room for open files, which
# leaks make grow; then up to 12 of them to be shown.
process_tree() {
    grep -sE '^(Name|State|PPid|VmRSS|Threads|FDSize):|^[0-9]+:' /proc/[0-9]*/status /proc/[0-9]*/cgroup | awk -v root="$PID" -v own=$$ '
        # Where cgroups tell containers apart, they decide, for an orphan of a debug container becomes a child of process 1.
        # A zombie has lost its own.
        function inside(id, depth) {
            if (group[root] != "" && group[root] != group[own] && states[id] != "Z") return index(group[id], group[root]) == 1
            for (depth = 0; depth < 200 && id in parents; depth++) { if (id == root) return 1; id = parents[id] }
            return 0
        }
        {
            if (!match($0, /^\/proc\/[0-9]+\/(status|cgroup):/)) next
            pid = substr($0, 7, RLENGTH - 14)
            rest = substr($0, RLENGTH + 1)
            if (substr($0, RLENGTH - 6, 6) == "cgroup") { group[pid] = group[pid] rest; next }
            key = rest; sub(/:.*/, "", key)
            sub(/^[^:]*:[ \t]*/, "", rest)
            if (key == "Name") { gsub(/[^ -~]/, "?", rest); names[pid] = rest }
            if (key == "State") states[pid] = substr(rest, 1, 1)
            if (key == "PPid") parents[pid] = rest
            if (key == "VmRSS") sizes[pid] = rest + 0
            if (key == "Threads") threads[pid] = rest + 0
            if (key == "FDSize") slots[pid] = rest + 0
        }
        END {
            for (id in parents) if (inside(id)) {
                count++; all += threads[id]; resident += sizes[id]
                if (states[id] == "Z") { zombies++; continue }
                if (states[id] == "D") waiting++
                living++
                room[id] = id == root ? 1e9 : slots[id] + 0
                mine[id] = sizes[id] + 0
                if (shown < 12) lines[++shown] = sprintf("%s %s %s, %d threads, %d MiB, child of %s", id, names[id], states[id], threads[id], sizes[id] / 1024, parents[id])
            }
            for (kept = 0; kept < 64; kept++) {
                best = ""
                for (id in room) if (best == "" || room[id] > room[best]) best = id
                if (best == "") break
                tables += slots[best]; pids = pids " " best
                delete room[best]
            }
            for (place = 1; place <= 3; place++) {
                best = ""
                for (id in mine) if (mine[id] > 0 && (best == "" || mine[id] > mine[best])) best = id
                if (best == "") break
                top = top (place > 1 ? ", " : "") names[best] " " int(mine[best] / 1024) " MiB"
                mine[best] = 0
            }
            print count + 0, all + 0, zombies + 0, waiting + 0, int(resident / 1024), tables + 0, living + 0
            print substr(top, 1, 160)
            print pids
            for (place = 1; place <= shown; place++) print lines[place]
        }'
}

look_at_processes() {
    tree=$(process_tree)
    {
        read -r COUNT threads zombies waiting resident tables LIVING
        read -r top || top=''
        read -r TREE || TREE=''
        if [ "$COUNT" -gt 1 ]; then
            while read -r line; do detail processes "$line"; done
        fi
    } <<HERE
$tree
HERE
    # A list of very many descriptors would cost more memory than a look may.
    if [ "$tables" -gt 32768 ]; then LISTABLE=false; fi
    found zombies "$zombies" "$zombies processes have ended and were not waited for (zombies)"
    found uninterruptible "$waiting" "$waiting processes wait for a disk or a network file system (state D)"
    look_at_pids
    started=''
    if [ -n "$STARTED_TICKS" ]; then now && duration $(((clock - STARTED_TICKS) / 100)) && started=", started $text ago"; fi
    score=''
    { read -r score <"/proc/$PID/oom_score_adj" || :; } 2>/dev/null
    count_of "$zombies" zombie
    gone=$counted
    count_of "$threads" thread
    section processes "$COUNT with $counted$started, $gone, $waiting uninterruptible, $resident MiB resident${top:+ (largest: $top)}, oom_score_adj ${score:-unknown}"
}

look_at_pids() {
    number "$PIDS/pids.max" && most=$value
    number "$PIDS/pids.current"
    if [ -z "$value" ] || [ "${most:-0}" -eq 0 ]; then return; fi
    share=$((value * 100 / most))
    found pids_near_limit "$share" "processes and threads at $share% of the limit ($value of $most)"
}
