# What the runtimes were told to use, against what the container may use.

look_at_runtime() {
    runtime_text=''
    while read -r kind unit amount; do
        case $kind in
            jvm) look_at_jvm ;;
            node) look_at_heap node_heap "Node.js heap" "$amount" ;;
            gomem) look_at_heap go_memory_limit GOMEMLIMIT "$unit" ;;
            procs) look_at_procs "$unit" ;;
        esac
    done <<HERE
$FLAGS
HERE
    runtime_text=${runtime_text:-no flag or variable that sizes a JVM, Node.js or Go}
    if [ "$SEES" = false ]; then
        blind runtime "only the command line is readable: $runtime_text; $HELP"
    else
        section runtime "$runtime_text"
    fi
}

say() { runtime_text=$runtime_text${runtime_text:+; }$1; }

look_at_jvm() {
    if [ "$unit" = percent ]; then
        say "JVM heap $amount% of the limit"
        if [ "${MEMORY_LIMIT:-0}" -gt 0 ]; then found jvm_heap "$amount" "the JVM heap may grow to $amount% of the memory limit (MaxRAMPercentage)"; fi
    else
        look_at_heap jvm_heap 'JVM heap' "$amount"
    fi
}

# look_at_heap CODE NAME BYTES
look_at_heap() {
    if [ "${MEMORY_LIMIT:-0}" -eq 0 ]; then
        say "$2 $(($3 / 1048576)) MiB, no memory limit known"
        return
    fi
    share=$(($3 * 100 / MEMORY_LIMIT))
    say "$2 $(($3 / 1048576)) MiB, $share% of the limit"
    found "$1" "$share" "$2 of $(($3 / 1048576)) MiB is $share% of the memory limit ($((MEMORY_LIMIT / 1048576)) MiB)"
}

look_at_procs() {
    say "GOMAXPROCS $1"
    if [ -z "$quota" ]; then return; fi
    processors=$(((quota + period - 1) / period))
    found go_max_procs $(($1 * 100 / processors)) "GOMAXPROCS is $1 and the CPU limit $((quota * 1000 / period)) millicores"
}
