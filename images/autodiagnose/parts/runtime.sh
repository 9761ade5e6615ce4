# What runs the target's code, and what the runtimes were told to use, against what the container may use.

# What a verdict needs to name the image that can show more: see RUNTIMES in src/core/diagnosis/rules.ts.
RUNTIME='' PTRACE_SCOPE=''

# Sets RUNTIME. The first process may be an init or a shell, so the first of its processes that is more than native counts.
find_runtime() {
    # Who may attach to processes of the same user (kernel, Yama); without Yama there is no such file.
    number /proc/sys/kernel/yama/ptrace_scope
    PTRACE_SCOPE=$value
    RUNTIME=unknown looked_at=0
    for process in $TREE; do
        looked_at=$((looked_at + 1))
        if [ "$looked_at" -gt 8 ]; then return; fi
        runtime_of "$process"
        case $runtime in
            native) RUNTIME=native ;;
            unknown) ;;
            *) RUNTIME=$runtime && return ;;
        esac
    done
}

# Sets runtime by what a process has mapped and what its program begins with; where neither can be read, by its name alone.
runtime_of() {
    runtime=unknown
    program=$(readlink "/proc/$1/exe" 2>/dev/null) || program=''
    if [ "$SEES" = true ] && [ -n "$program" ]; then
        runtime=native
        case $(grep -soE '/lib(jvm|python[0-9.]*)\.so' "/proc/$1/maps") in
            */libjvm.so*) runtime=jvm ;;
            */libpython*) runtime=python ;;
        esac
        # The note with the build id, which every Go linker puts into the first page.
        if [ "$runtime" = native ] && head -c 4096 "/proc/$1/exe" 2>/dev/null | tr '\0' '\n' | grep -q '^Go$'; then runtime=go; fi
    else
        status_of "$1" && program=$s_name
    fi
    case $runtime in native | unknown) ;; *) return ;; esac
    case ${program##*/} in
        java) runtime=jvm ;;
        python | python[0-9]* | pypy*) runtime=python ;;
        node | nodejs) runtime=node ;;
    esac
}

look_at_runtime() {
    find_runtime
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
    detail runtime "the target's code runs in: $RUNTIME${PTRACE_SCOPE:+; ptrace_scope of Yama is $PTRACE_SCOPE}"
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
