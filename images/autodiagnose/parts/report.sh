# The report: records are collected, and told at the end in three forms.

# One record a line, tabs between: F section code rank value threshold text next, S section state text lacks helps,
# D section text for what stands in the human text only, and L section unit limit text points for what a chart may show.
RECORDS=''

# Sets plain to a text in which no tab and no newline ends a field: the target chooses the names of its processes and files, and
# must not write records of its own.
plainly() {
    plain=$1
    while :; do
        case $plain in
            *"$TAB"*) plain="${plain%%"$TAB"*}?${plain#*"$TAB"}" ;;
            *"$NL"*) plain="${plain%%"$NL"*}?${plain#*"$NL"}" ;;
            *) return ;;
        esac
    done
}

# found CODE VALUE TEXT: records a finding when the value (whole) is beyond its rule's threshold; else fails.
found() {
    rule "$1"
    if [ -n "$r_threshold" ]; then
        if [ "$r_below" = true ]; then
            [ "$2" -lt "$r_threshold" ] || return 1
        else
            [ "$2" -gt "$r_threshold" ] || return 1
        fi
    fi
    plainly "$3"
    RECORDS="$RECORDS${NL}F$TAB$r_section$TAB$1$TAB$r_rank$TAB$2$TAB$r_threshold$TAB$plain$TAB$r_next"
}

section() { plainly "$2" && RECORDS="$RECORDS${NL}S$TAB$1${TAB}ok$TAB$plain"; }

# Of a section in which there was nothing to look at: it is neither fine nor not readable.
skipped() { plainly "$2" && RECORDS="$RECORDS${NL}S$TAB$1${TAB}not-looked-at$TAB$plain"; }

# blind NAME TEXT [LACKS [HELPS]]: HELPS are separated by commas.
blind() { plainly "$2" && RECORDS="$RECORDS${NL}S$TAB$1${TAB}not-readable$TAB$plain$TAB${3:-$LACKS}$TAB${4-$HELPS}"; }

detail() { plainly "$2" && RECORDS="$RECORDS${NL}D$TAB$1$TAB$plain"; }

# Sets cost_… of this diagnosis up to now. Memory: the most that its own cgroup held, else the shell's.
measure_cost() {
    now && cost_ms=$(((clock - began) * 10))
    times_of $$ && cost_cpu=$((t_cpu * 10))
    number /sys/fs/cgroup/memory.peak
    while IFS=: read -r _ controllers inner; do
        # In a container the path of cgroup v1 is that of the node, which is not below our mount.
        if [ "$controllers" = memory ] && [ "$inner" != / ] && [ ! -d "/sys/fs/cgroup/memory$inner" ]; then
            number /sys/fs/cgroup/memory/memory.max_usage_in_bytes
        fi
    done 2>/dev/null </proc/self/cgroup || :
    if [ -z "$value" ]; then
        while read -r key share _; do
            if [ "$key" = VmHWM: ]; then value=$((share * 1024)); fi
        done </proc/$$/status
    fi
    cost_memory=$value
}

# Turns the records into the short JSON (first line), the verdict, the text and the marked JSON. Whatever is not
# printable ASCII, in a name that somebody else chose, becomes "?".
render() {
    printf 'T\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\nW\t%s\t%s\t%s\nC\t%s\t%s\t%s\t%s\n%s\n' \
        "$PID" "$TARGET_UID" "$TARGET_GID" "$EFFECTIVE" "$NAME" "$TARGET_NAMES" "$RUNTIME" "$PTRACE_SCOPE" "$OWN_UID" "$OWN_GID" "$OWN_NAMES" \
        "$cost_ms" "${cost_cpu:-0}" "${cost_memory:-0}" "$SAMPLE" "$RECORDS" |
        awk -F '\t' -v given="$1" -v version="$VERSION_OF_TOOL" -v message="$MESSAGE" '
        function json(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
        function words(list, all, count, each, place) {
            count = split(list, each, ",")
            for (place = 1; place <= count; place++) all = all (place > 1 ? "," : "") json(each[place])
            return "[" all "]"
        }
        function cut(text, most) { return length(text) > most ? substr(text, 1, most - 3) "..." : text }
        function finding(id, advice) {
            return "{\"code\":" json(code[id]) ",\"section\":" json(place_of[id]) ",\"value\":" value[id] \
                (limit[id] == "" ? "" : ",\"threshold\":" limit[id]) ",\"text\":" json(cut(phrase[id], advice ? 300 : words_left)) \
                (advice ? ",\"next\":" json(next_step[id]) : "") "}"
        }
        function part(name, level) {
            return "{\"name\":" json(name) ",\"state\":" json(state[name]) (level > 1 ? "" : ",\"text\":" json(level > 0 ? "" : cut(said[name], 300))) \
                (state[name] != "not-readable" || level > 2 ? "" : \
                    (level > 1 || lacks[name] == "" ? "" : ",\"lacks\":" json(lacks[name])) ",\"helps\":" words(helps[name])) "}"
        }
        # level 0: all; 1: sections with empty texts; 2: without what lacked, and no capabilities; 3: without what helps;
        # 4: no sections, and fewer words
        function document(most, advice, level, all, place, name) {
            words_left = level > 3 ? 60 : 120
            all = "{\"kdebug\":1,\"tool\":{\"name\":\"autodiagnose\",\"version\":" json(version) "},\"verdict\":" json(cut(verdict, level > 3 ? 100 : 300)) \
                ",\"self\":{" self (level > 1 ? "" : own) "},\"target\":{" target (level > 1 ? "" : theirs) "},\"findings\":["
            for (place = 1; place <= total && place <= most; place++) all = all (place > 1 ? "," : "") finding(order[place], advice)
            all = all "],\"sections\":["
            for (place = 1; place <= (level > 3 ? 0 : sections); place++) all = all (place > 1 ? "," : "") part(list[place], level)
            return all "],\"cost\":" cost ",\"sampleSeconds\":" seconds (lines != "" && with_lines ? ",\"series\":[" lines "]" : "") \
                (whole && told != "" ? ",\"facts\":[" told "],\"factsCut\":" words(cuts) : "") "}"
        }
        function shorter(most, text) {
            with_lines = most > 4096
            text = document(20, 1, 0); if (length(text) <= most) return text
            text = document(20, 1, 1); if (length(text) <= most) return text
            text = document(8, 1, 2); if (length(text) <= most) return text
            text = document(5, 1, 2); if (length(text) <= most) return text
            text = document(5, 0, 2); if (length(text) <= most) return text
            text = document(3, 0, 3); if (length(text) <= most) return text
            text = document(3, 0, 4); if (length(text) <= most) return text
            return document(1, 0, 4)
        }
        BEGIN { sections = split("", list); verdict = "" }
        { gsub(/[^\t -~]/, "?") }
        $1 == "T" {
            target = "\"effective\":" $5
            if ($2 != "") {
                target = target ",\"pid\":" $2 ",\"uid\":" $3 ",\"gid\":" $4 ",\"name\":" json(substr($6, 1, 40))
                theirs = ",\"capabilities\":" words($7) ($8 == "" ? "" : ",\"runtime\":" json($8)) ($9 == "" ? "" : ",\"ptraceScope\":" $9)
            }
        }
        $1 == "W" { self = "\"uid\":" $2 ",\"gid\":" $3; own = ",\"capabilities\":" words($4) }
        $1 == "C" { cost = "{\"milliseconds\":" $2 ",\"cpuMilliseconds\":" $3 ",\"memoryBytes\":" $4 "}"; seconds = $5; spent = $2; cpu = $3; held = $4 }
        $1 == "F" {
            count++
            place_of[count] = $2; code[count] = $3; rank[count] = $4; value[count] = $5; limit[count] = $6; phrase[count] = $7; next_step[count] = $8
            notes[$2] = notes[$2] "\n    ! " $7 "\n      " $8
        }
        $1 == "S" { state[$2] = $3; said[$2] = $4; lacks[$2] = $5; helps[$2] = $6 }
        $1 == "L" {
            lines = lines (lines == "" ? "" : ",") "{\"section\":" json($2) ",\"text\":" json($5) ",\"unit\":" json($3) \
                ($4 == "" ? "" : ",\"limit\":" $4) ",\"points\":[" $6 "]}"
        }
        # Facts for a comparison: the value first, for a filter of secrets takes what follows a name for its value.
        $1 == "X" || $1 == "N" {
            item = "[" ($1 == "N" ? $3 : json(substr($3, 1, 80))) "," json($2) "," json(substr($4, 1, 80)) "]"
            if (length(told) + length(item) < 8000) told = told (told == "" ? "" : ",") item
            else { $1 = "K" }
        }
        $1 == "K" && !($2 in cut_groups) { cut_groups[$2] = 1; cuts = cuts (cuts == "" ? "" : ",") $2 }
        $1 == "D" { details[$2] = details[$2] "\n      " $3 }
        END {
            for (level = 1; level <= 3; level++) for (id = 1; id <= count; id++) if (rank[id] == level) order[++total] = id
            for (place = 1; place <= total; place++) titles = titles (place > 1 ? "; " : "") phrase[order[place]]
            asked = split("context processes memory cpu io files sockets dns peers tls filesystem environment runtime", names, " ")
            for (place = 1; place <= asked; place++) {
                name = names[place]
                if (!(name in state)) continue
                list[++sections] = name
                if (state[name] == "not-readable") blind++
                else if (name in notes) state[name] = "finding"
                shown = state[name]
                gsub(/-/, " ", shown)
                text = text sprintf("\n%-13s %-11s %s", shown, name, said[name]) notes[name] details[name]
            }
            verdict = "No problems found"
            if (total) verdict = total (total == 1 ? " finding: " : " findings: ") cut(titles, 220)
            if (blind) verdict = verdict " (" blind " of " sections " sections not readable)"
            verdict = verdict "."
            if (given != "") verdict = given
            gsub(/[^ -~]/, "?", verdict)
            print shorter(message)
            print verdict
            print text
            printf "\nThis check took %d ms, %d ms of CPU and %.1f MiB of memory.\n", spent, cpu, held / 1048576
            print "\n-----BEGIN KDEBUG REPORT-----"
            whole = 1
            print shorter(16000)
            print "-----END KDEBUG REPORT-----"
        }'
}

# report [VERDICT]
report() {
    measure_cost
    if [ -z "$OWN_UID" ] && status_of $$; then OWN_UID=$s_uid OWN_GID=$s_gid; fi
    output=$(render "${1:-}")
    run=${KDEBUG_RUN:-none}
    case $run in *[!A-Za-z0-9._-]*) run=unnamed ;; esac
    printf 'kdebug autodiagnose, run %s, %s\n%s\n' "$run" "$STARTED" "${output#*"$NL"}"
    file=${AUTODIAGNOSE_TERMINATION_LOG:-/dev/termination-log}
    if [ -n "${AUTODIAGNOSE_TERMINATION_LOG:-}" ] || [ -w "$file" ]; then
        (printf '%s' "${output%%"$NL"*}" >"$file") 2>/dev/null || :
    fi
}

could_not_look() {
    EFFECTIVE=false RECORDS=''
    report "Could not look: $1."
    exit 1
}
