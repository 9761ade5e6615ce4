# File descriptors of the target's processes, from the survey.

look_at_files() {
    opened='' share=0
    while read -r key first second third fourth fifth; do
        if [ "$key" = files ]; then share=$first holder=$second opened=$third sockets=$fourth most=$fifth; fi
    done <<HERE
$SURVEY
HERE
    if [ -z "$opened" ] && [ "$SEES" = true ]; then
        blind files 'too many files are open to list them within the memory of a first look' 'memory for the list' ''
        return
    elif [ -z "$opened" ]; then
        blind files "the target's open files are not readable; $HELP"
        return
    fi
    partly=''
    if [ "$LIVING" -gt 64 ]; then partly="; 64 of $LIVING processes looked at"; fi
    if ! is_number "$most" || [ "$most" -eq 0 ]; then
        section files "$opened open in process $holder ($sockets sockets), no limit known$partly"
        return
    fi
    found files_near_limit "$share" "open files of process $holder at $share% of the limit ($opened of $most)"
    section files "the fullest process is $holder: $opened open of $most, $share% ($sockets sockets)$partly"
}
