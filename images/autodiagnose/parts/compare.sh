# Facts for a comparison with other pods: told only when kdebug gives a key (KDEBUG_COMPARE), the same to each of these pods and
# to no other run. Contents are told as four hex digits of a hash under the key: enough to see that two differ, too few to guess
# what they are.

# fact GROUP VALUE NAME: a text. amount GROUP NUMBER NAME: a whole number, if it is one.
fact() {
    plainly "$3" && fact_name=$plain
    plainly "$2" && RECORDS="$RECORDS${NL}X$TAB$1$TAB$plain$TAB$fact_name"
}

amount() {
    if is_number "${2:-}"; then RECORDS="$RECORDS${NL}N$TAB$1$TAB$2$TAB$3"; fi
}

# Not all of a group was told.
facts_cut() { RECORDS="$RECORDS${NL}K$TAB$1"; }

tell_facts() {
    if [ -z "${KDEBUG_COMPARE:-}" ] || [ "$EFFECTIVE" = false ]; then return; fi
    amount sockets "${established:-}" ESTABLISHED
    amount sockets "${syn_sent:-}" SYN_SENT
    amount sockets "${close_wait:-}" CLOSE_WAIT
    amount sockets "${time_wait:-}" TIME_WAIT
    amount sockets "${listening:-}" LISTEN
    amount threads "${threads:-}" threads
    amount threads "$COUNT" processes
    amount threads "${zombies:-}" zombies
    amount files "${opened:-}" 'open files'
    if [ -n "${working:-}" ]; then amount memory $((working / 1048576)) 'in use'; fi
    if [ -n "${usage:-}" ] && [ -n "${usage_before:-}" ] && [ "${elapsed:-0}" -gt 0 ]; then
        amount cpu $(((usage - usage_before) / elapsed / 10)) 'in use'
    fi
    if [ "${ran:-0}" -gt 0 ]; then amount share $((held * 100 / ran)) 'CPU throttled'; fi
    amount share "${fullest:-}" 'fullest disk'
    amount latency "${took:-}" 'DNS lookup'
    tell_peers
    tell_settings
    if [ "$SEES" = false ] || ! command -v sha256sum >/dev/null 2>&1; then return; fi
    tell_environment
    tell_programs
    if [ "$CONTAINED" = true ]; then tell_config; fi
}

# The twenty with the most connections.
tell_peers() {
    count=0
    while read -r connections address port; do
        if [ -z "$port" ]; then continue; fi
        count=$((count + 1))
        if [ "$count" -gt 20 ]; then facts_cut peer && return; fi
        amount peer "$connections" "$address port $port"
    done <<HERE
$(printf '%s\n' "$SURVEY" | awk '$1 == "peer" { print $3, $4, $5 }' | sort -rn)
HERE
}

tell_settings() {
    fact identity "$TARGET_UID:$TARGET_GID" user
    fact identity "${TARGET_NAMES:-none}" capabilities
    fact identity "${TARGET_SECCOMP:-unknown}" 'seccomp mode'
    fact dns "${server:-none}" server
    fact dns "$servers servers, $searches search domains, ndots $ndots" settings
    while IFS=: read -r name soft; do
        if [ -n "$soft" ]; then fact limit "$soft" "$name"; fi
    done <<HERE
$(awk '/^Max (open files|processes|stack size|locked memory|address space|core file size|file size|cpu time) / {
    name = $0; sub(/^Max /, "", name); sub(/  +.*/, "", name)
    rest = substr($0, 27); sub(/^ +/, "", rest); sub(/ .*/, "", rest)
    print name ":" rest
}' "/proc/$PID/limits" 2>/dev/null)
HERE
}

# Sets digest to "#" and four digits of the hash of what comes in; the name is hashed too, so that equal values of two names differ.
digest_of() {
    digest=$({ printf '%s\n%s\n' "$KDEBUG_COMPARE" "$1"; cat; } | sha256sum 2>/dev/null)
    digest="#${digest%"${digest#????}"}"
}

# The variables of the first process, one a line and by name. What each pod has of its own, its name and its address, is taken out
# of the values; those of services are one, because they depend on when the pod was made.
variables() {
    { read -r own_name </proc/sys/kernel/hostname || :; } 2>/dev/null
    # The target may have put a pipe or a file of any length there.
    own_address='' hosts=/proc/$PID/root/etc/hosts
    if [ -f "$hosts" ]; then own_address=$(head -c 65536 "$hosts" 2>/dev/null | tr -d '\0' | awk -v name="$own_name" '$2 == name { print $1; exit }'); fi
    tr '\n\0' '\001\n' 2>/dev/null <"/proc/$PID/environ" | awk -v name="$own_name" -v address="$own_address" '
        function without(text, word, mark, at, all) {
            if (length(word) < 4) return text
            while (at = index(text, word)) { all = all substr(text, 1, at - 1) mark; text = substr(text, at + length(word)) }
            return all text
        }
        {
            variable = $0; sub(/=.*/, "", variable)
            if (variable == $0 || variable !~ /^[A-Za-z_][A-Za-z0-9_.-]*$/ || length(variable) > 80) next
            if (variable ~ /_(SERVICE_(HOST|PORT).*|PORT(_[0-9]+_(TCP|UDP|SCTP).*)?)$/) next
            value = substr($0, length(variable) + 2)
            print variable "=" without(without(value, name, "{pod}"), address, "{address}")
        }' | sort
}

tell_environment() {
    if [ ! -r "/proc/$PID/environ" ]; then return; fi
    count=0
    while IFS= read -r variable; do
        if [ -z "$variable" ]; then continue; fi
        count=$((count + 1))
        if [ "$count" -gt 80 ]; then facts_cut env && break; fi
        name=${variable%%=*}
        digest=$(printf '%s\n%s' "$KDEBUG_COMPARE" "$variable" | sha256sum)
        fact env "#${digest%"${digest#????}"}" "$name"
    done <<HERE
$(variables)
HERE
    digest_of command <"/proc/$PID/cmdline" && fact command "$digest" ''
}

# The program and its libraries, by name and size; the size tells versions apart without reading them.
tell_programs() {
    # shellcheck disable=SC2046 # to be split
    set -- $(awk -v root="/proc/$PID/root" '
        $6 ~ /^\// && $7 == "" && ($2 ~ /x/ || $6 ~ /\.so(\.|$)/) && $6 !~ /[\\*?[]/ && !($6 in seen) { seen[$6] = 1; if (++count <= 40) print root $6 }
        END { if (count > 40) print "cut" }' "/proc/$PID/maps" 2>/dev/null)
    if [ $# -eq 0 ]; then return; fi
    while read -r size path; do
        case $size in '' | ended) continue ;; esac
        if is_number "$size"; then fact program "$size bytes" "${path##*/}"; fi
    done <<HERE
$(said_within 2 stat -L -c '%s %n' "$@")
HERE
    for path; do if [ "$path" = cut ]; then facts_cut program; fi; done
}

# The files of config maps, secrets and projected volumes: a volume of these has the link "..data", and a file mounted alone comes
# from such a place. Not the token of the service account, which each pod has of its own.
config_files() {
    awk '
        {
            for (dash = 7; dash <= NF && $dash != "-"; dash++);
            if ($(dash + 1) !~ /^(ext[234]|xfs|btrfs|overlay|tmpfs)$/ || $5 ~ /[\\*?[]/ || $5 ~ /^\/(proc|sys|dev)(\/|$)/) next
            if ($5 == "/" || $5 ~ /^\/(var\/)?run\/secrets\/kubernetes\.io\/serviceaccount/) next
            print ($4 ~ /kubernetes\.io~(configmap|secret|projected|downward-api)|volume-subpaths|\/\.\.[0-9][0-9][0-9][0-9]_/ ? "file" : "folder"), $5
        }' "/proc/$PID/mountinfo" 2>/dev/null | while read -r kind mount; do
        base=/proc/$PID/root$mount
        if [ -L "$base/..data" ]; then
            for path in "$base"/..data/* "$base"/..data/*/*; do
                if [ -f "$path" ]; then printf '%s %s\n' "$path" "$mount/${path#"$base/..data/"}"; fi
            done
        elif [ "$kind" = file ] && [ -f "$base" ]; then
            printf '%s %s\n' "$base" "$mount"
        fi
    done
}

# Their hashes, as "#0123 NAME"; "cut" after the thirtieth. A target can put a pipe where a file was a moment ago, and opening it waits for ever:
# so this too is given a time.
config_digests() {
    count=0
    config_files | while read -r path name; do
        if [ -z "$name" ]; then continue; fi
        count=$((count + 1))
        if [ "$count" -gt 30 ]; then echo cut && break; fi
        size=$(stat -L -c %s "$path" 2>/dev/null)
        # A config map has at most 1 MiB. A file that we may not read says nothing.
        if [ ! -r "$path" ] || [ "${size:-9999999}" -gt 2097152 ]; then continue; fi
        digest_of "$name" <"$path" && printf '%s %s\n' "$digest" "$name"
    done
}

tell_config() {
    # Not within the here-document: what waits for ever would keep its pipe open.
    said=$(said_within 5 config_digests)
    while read -r digest name; do
        case $digest in
            '#'????) fact config "$digest" "$name" ;;
            cut) facts_cut config ;;
            ended) case $name in 124*) facts_cut config ;; esac ;;
        esac
    done <<HERE
$said
HERE
}
