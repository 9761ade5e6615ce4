# The target's files: temporary directories, core files, mounts, the age of its token.

look_at_filesystem() {
    if [ "$SEES" = false ]; then
        blind filesystem "the target's files are not readable; $HELP"
        return
    fi
    if [ "$CONTAINED" = false ]; then
        skipped filesystem 'not a container of its own: its files and mounts are those of the machine, and were not looked at'
        return
    fi
    if [ -n "$SILENT" ]; then
        blind filesystem "not looked at, since$SILENT does not answer" 'an answer of a volume' ''
        return
    fi
    top=/proc/$PID/root
    options=$(awk '$5 == "/" { root = $6 } END { split(root, each, ","); print NR, each[1] == "ro" ? "read-only" : "writable" }' "/proc/$PID/mountinfo" 2>/dev/null)
    files_text="${options% *} mounts, the root is ${options#* }"
    show_mounts
    look_at_temporary
    look_at_core_files
    look_at_token
    look_at_modes
    section filesystem "$files_text"
}

show_mounts() {
    while read -r line; do
        if [ -n "$line" ]; then detail filesystem "$line"; fi
    done <<HERE
$(awk '$5 !~ /^\/(proc|sys|dev)(\/|$)/ && ++count <= 16 {
        for (dash = 7; dash <= NF && $dash != "-"; dash++);
        print "mount " $5 " " $(dash + 1) " " $6
    }' "/proc/$PID/mountinfo" 2>/dev/null)
HERE
}

# The size of temporary and log directories, as far as they can be counted within two seconds.
look_at_temporary() {
    sizes=$(said_within 2 du -sxk "$top/tmp" "$top/var/tmp" "$top/var/log" "$top/dev/shm")
    case $sizes in *'ended 124 '?) files_text="$files_text; too many files to count within 2 s" ;; esac
    mib=0 where=''
    while read -r size path; do
        is_number "$size" || continue
        size=$((size / 1024)) path=${path#"$top"}
        detail filesystem "$path holds $size MiB"
        mib=$((mib + size))
        if [ "$size" -gt 0 ]; then where="$where $path $size MiB"; fi
    done <<HERE
$sizes
HERE
    files_text="$files_text; $mib MiB temporary files and logs"
    found temporary_files "$mib" "temporary files and logs hold $mib MiB:$where"
}

look_at_core_files() {
    set --
    more=''
    for path in "$top"/core "$top"/core.* "$top"/tmp/core "$top"/tmp/core.* "$top"/var/tmp/core.* "/proc/$PID/cwd/core" "/proc/$PID/cwd"/core.*; do
        case ${path##*/} in core | core.*[0-9]) ;; *) continue ;; esac
        if [ ! -f "$path" ]; then continue; fi
        if [ $# -eq 64 ]; then more=' or more' && break; fi
        set -- "$@" "$path"
    done
    if [ $# -eq 0 ]; then return; fi
    read -r cores one <<HERE
$(stat -c '%d:%i %n' "$@" 2>/dev/null | awk '!($1 in seen) { seen[$1] = 1; count++; one = $2 } END { print count + 0, one }')
HERE
    one=${one#"$top"}
    count_of "$cores$more" 'core file'
    found core_dump "$cores" "$counted of a crashed process, one is ${one#"/proc/$PID"}"
}

# The kubelet puts a new directory in place when it renews the token.
look_at_token() {
    for folder in "$top/run/secrets/kubernetes.io/serviceaccount" "$top/var/run/secrets/kubernetes.io/serviceaccount"; do
        if [ ! -L "$folder/..data" ]; then continue; fi
        renewed=$(stat -c %Y "$folder/..data" 2>/dev/null)
        is_number "$renewed" || continue
        age=$(($(date +%s) - renewed))
        duration "$age"
        files_text="$files_text; the token was renewed $text ago"
        found token_old $((age / 3600)) "the service account token was last renewed $((age / 3600)) hours ago"
        return
    done
}

# Directories that everybody may write to, without the sticky bit.
look_at_modes() {
    open=$(stat -c '%a %n' "$top/" "$top/etc" "$top/usr" "$top/bin" "$top/usr/bin" "$top/opt" "$top/app" "$top/tmp" "/proc/$PID/cwd/" 2>/dev/null |
        awk '$1 ~ /^[0-7]?[0-7][0-7][2367]$/ && $1 !~ /^[1357][0-7][0-7][0-7]$/ { print $2 }')
    for path in $open; do
        path=${path#"$top"}
        detail filesystem "${path#"/proc/$PID"} is writable for everybody"
    done
}
