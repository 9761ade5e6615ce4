# Names of the target's environment; a value never leaves awk, except as a number that sizes a runtime.

FLAGS=''

# Lines: "names COUNT SERVICES NAME …", and what sizes a runtime: "jvm bytes|percent N", "node bytes N", "procs N", "gomem N".
flags() {
    set --
    for process in $TREE; do
        if [ $# -lt 32 ]; then set -- "$@" "$process"; fi
    done
    for process; do
        cat "/proc/$process/cmdline" 2>/dev/null
        printf '\0variables\0'
        if [ "$SEES" = true ]; then cat "/proc/$process/environ" 2>/dev/null; fi
        printf '\0process\0'
    done | tr '\n\0' '\001\n' | awk '
        function size(text, number, unit) {
            if (!match(text, /^[0-9]+/)) return 0
            number = substr(text, 1, RLENGTH) + 0
            unit = tolower(substr(text, RLENGTH + 1, 1))
            if (unit == "k") return number * 1024
            if (unit == "m") return number * 1048576
            if (unit == "g") return number * 1073741824
            if (unit == "t") return number * 1099511627776
            return number
        }
        # A hundred times as much must still fit into a number of the shell.
        function most(kind, number) { if (number > 1e16) number = 1e16; if (number > sizes[kind]) sizes[kind] = number }
        # A JVM reads the four sources of its flags in this order, and the last one wins.
        function flag(word, source) {
            if (word ~ /^-Xmx[0-9]/) heap[source] = size(substr(word, 5))
            if (word ~ /^-XX:MaxHeapSize=[0-9]/) heap[source] = size(substr(word, 17))
            if (word ~ /^-XX:MaxRAMPercentage=[0-9]/) percent[source] = int(substr(word, 22))
            if (word ~ /^--max[-_]old[-_]space[-_]size=[0-9]/) most("node bytes", size(substr(word, 22)) * 1048576)
        }
        # A percentage means nothing beside a size; and what starts a JVM has the variables, but not the flags, of that one.
        function end_of_process(source, bytes, share) {
            for (source = 1; source <= 4; source++) {
                if (source in heap) bytes = heap[source]
                if (source in percent) share = percent[source]
            }
            if (is_java && !java++) { delete sizes["jvm bytes"]; delete sizes["jvm percent"] }
            if (!java || is_java) { if (bytes > 0) most("jvm bytes", bytes); else most("jvm percent", share + 0) }
            split("", heap); split("", percent)
            words_seen = is_java = variables = 0
        }
        BEGIN { sources["JAVA_TOOL_OPTIONS"] = 1; sources["JDK_JAVA_OPTIONS"] = 2; sources["_JAVA_OPTIONS"] = 4; sources["NODE_OPTIONS"] = 5 }
        $0 == "variables" { variables = 1; next }
        $0 == "process" { end_of_process(); next }
        !variables { if (!words_seen++) is_java = /(^|\/)java$/; flag($0, 3); next }
        {
            name = $0
            sub(/=.*/, "", name)
            if (name !~ /^[A-Za-z_][A-Za-z0-9_]*$/ || name == $0) next
            value = substr($0, length(name) + 2)
            if (name == "GOMAXPROCS" && value ~ /^[0-9]+$/) most("procs", value + 0)
            if (name == "GOMEMLIMIT") most("gomem", size(value))
            if (name in sources) {
                count = split(value, words, " ")
                for (place = 1; place <= count; place++) flag(words[place], sources[name])
            }
            if (name in seen) next
            seen[name] = 1
            if (name ~ /_(SERVICE_(HOST|PORT).*|PORT(_[0-9]+_(TCP|UDP|SCTP).*)?)$/) services++
            else if (++named <= 60) list = list " " substr(name, 1, 64)
        }
        END {
            print "names", named + 0, services + 0 list
            for (kind in sizes) if (sizes[kind] > 0) printf "%s %.0f\n", kind, sizes[kind]
        }'
}

look_at_environment() {
    FLAGS=$(flags)
    if [ ! -r "/proc/$PID/environ" ] || [ "$SEES" = false ]; then
        blind environment "the target's environment is not readable; $HELP"
        return
    fi
    read -r _ named services list <<HERE
$FLAGS
HERE
    if [ -n "$list" ]; then detail environment "$list"; fi
    section environment "$named names and $services of services; values are never read out"
}
