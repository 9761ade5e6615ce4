# Disks: pressure, file systems, and files that are deleted but open.

NUMBERS='' SILENT=''

# The paths of the target's real file systems, one a device, at most 40; those that the kernel made read-only after an
# error (the mount is rw, the file system ro) begin with "!".
file_systems() {
    awk '
        {
            for (dash = 7; dash <= NF && $dash != "-"; dash++);
            if ($(dash + 1) !~ /^(ext[234]|xfs|btrfs|overlay|tmpfs|nfs4?|ceph|cifs|zfs|fuse.*|9p|vfat|f2fs)$/) next
            if ($3 in seen || $5 ~ /[\\*?[]/ || $5 ~ /^\/(proc|sys)(\/|$)/) next
            seen[$3] = 1
            if (++count <= 40) print ($6 ~ /^rw/ && $(dash + 3) ~ /^ro/ ? "!" : "") $5
        }' "/proc/$PID/mountinfo" 2>/dev/null
}

statfs() { said_within 2 stat -f -c '%b %a %c %d %n' "$@"; }

# Sets NUMBERS to those of the file systems, and SILENT to the paths that do not answer, at most two: each takes its time.
ask_file_systems() {
    if [ "$SEES" = false ] || [ "$CONTAINED" = false ]; then return; fi
    set --
    for path in $(file_systems); do
        case $path in '!'*) found disk_read_only 1 "${path#!} was made read-only by the kernel" ;; esac
        set -- "$@" "/proc/$PID/root${path#!}"
    done
    NUMBERS=$(statfs "$@")
    case $NUMBERS in *'ended 124 '?) ask_one_by_one "$@" ;; esac
}

ask_one_by_one() {
    NUMBERS='' cut=0
    for mount; do
        answer=$(statfs "$mount")
        case $answer in *'ended 124 '?) ;; *) NUMBERS=$NUMBERS$NL$answer && continue ;; esac
        # One that runs lacks a CPU, not an answer.
        case $answer in *R) ;; *) SILENT="$SILENT ${mount#"/proc/$PID/root"}" ;; esac
        cut=$((cut + 1))
        if [ "$cut" -eq 2 ]; then return; fi
    done
}

look_at_io() {
    if [ "$SEES" = false ]; then
        blind io "the target's files are not readable; $HELP"
        return
    fi
    tell=section
    if [ "$CONTAINED" = true ]; then
        look_at_file_systems
    else
        tell=skipped
        io_text='not a container of its own: its disks are those of the machine, and were not looked at'
    fi
    look_at_deleted
    pressure "$CPU/io.pressure"
    if [ -n "$pressure_full" ]; then
        found io_pressure "$pressure_full" "all processes waited for a disk $pressure_full% of the last 10 seconds"
        io_text="$io_text; pressure $pressure_full%"
    fi
    "$tell" io "$io_text"
}

look_at_file_systems() {
    count=0 fullest=0 fullest_path=/
    while read -r blocks free nodes free_nodes path; do
        if [ -n "$path" ]; then look_at_mount; fi
    done <<HERE
$(each_disk)
HERE
    count_of "$count" 'file system'
    io_text="$counted, the fullest is $fullest_path with $fullest%"
    for path in $SILENT; do
        found disk_silent 1 "$path does not answer"
        io_text="$io_text; no answer from $path within 2 s"
    done
}

# The numbers and paths, with one line for all that have the same numbers and are not empty: a disk is often mounted
# several times, as the root (overlay) and as volumes.
each_disk() {
    printf '%s\n' "$NUMBERS" | awk -v before="/proc/$PID/root" '
        NF < 5 { next }
        {
            disk = $1 == $2 ? NR : $1 " " $2 " " $3 " " $4
            path = substr($5, length(before) + 1)
            if (disk in first) { if (++others[disk] <= 3) also[disk] = also[disk] ", " path; next }
            order[++count] = disk; first[disk] = path; numbers[disk] = $1 " " $2 " " $3 " " $4
        }
        END {
            for (place = 1; place <= count; place++) {
                disk = order[place]
                if (others[disk] > 3) also[disk] = also[disk] " and " others[disk] - 3 " more"
                print numbers[disk], first[disk] (disk in also ? " (also " substr(also[disk], 3) ")" : "")
            }
        }'
}

# Sets share to the percentage in use; 0 where the file system does not count.
share_of() {
    share=0
    if is_number "$1" && is_number "$2" && [ "$1" -gt 0 ]; then share=$((100 - $2 * 100 / $1)); fi
}

look_at_mount() {
    count=$((count + 1))
    share_of "$nodes" "$free_nodes" && inodes=$share
    found disk_inodes "$inodes" "$path has used $inodes% of its inodes"
    share_of "$blocks" "$free"
    found disk_full "$share" "$path is $share% full"
    if [ "$count" -le 12 ]; then detail io "$path: $share% of the space, $inodes% of the inodes"; fi
    if [ "$share" -gt "$fullest" ]; then fullest=$share fullest_path=$path; fi
}

# The space that deleted but open files hold; each counts once, however many have it open.
look_at_deleted() {
    set --
    largest_link=''
    while read -r key link path; do
        if [ "$key" = deleted ]; then set -- "$@" "$link"; fi
    done <<HERE
$SURVEY
HERE
    if [ $# -eq 0 ]; then return; fi
    sizes=$(said_within 2 stat -L -c '%d:%i %b %n' "$@" | awk '
        $1 != "ended" && !($1 in seen) { seen[$1] = 1; count++; all += $2; if ($2 >= most) { most = $2; link = $3 } }
        END { printf "%d %d %s", count, all / 2048, link }')
    read -r gone mib largest_link <<HERE
$sizes
HERE
    largest=''
    while read -r key link path; do
        if [ "$key" = deleted ] && [ "$link" = "$largest_link" ]; then largest=", the largest was $path"; fi
    done <<HERE
$SURVEY
HERE
    found deleted_open "${mib:-0}" "deleted files that are still open hold $mib MiB$largest"
    count_of "${gone:-0}" 'deleted but open file'
    io_text="$io_text; $counted with ${mib:-0} MiB"
}
