# Sourced by test.sh: runs suites that print TAP (https://testanything.org) side by side and counts their lines. Plain sh.
# shellcheck shell=sh

# tap_start LOGS: LOGS is a folder for logs. As many suites run at once as there are processors, or tap_jobs; each waits for a
# line of the pipe that is descriptor 9 and gives it back. A suite that takes longer than tap_limit seconds is ended.
tap_start() {
    tap_logs=$1
    tap_jobs=${tap_jobs:-$(nproc)}
    tap_limit=${tap_limit:-1200}
    tap_passed=0
    tap_failed=0
    tap_skipped=0
    tap_pending=
    tap_taken=
    rm -f "$tap_logs"/turns "$tap_logs"/*.pid
    mkfifo "$tap_logs/turns"
    exec 9<>"$tap_logs/turns"
    tap_give_turns
    trap 'tap_stop 130' INT
    trap 'tap_stop 143' TERM
    trap 'tap_stop 129' HUP
}

tap_give_turns() {
    seq "$tap_jobs" >&9
}

tap_name_log() {
    tap_name=$1
    tap_log=$1
    while [ "$tap_log" != "${tap_log%/*}" ]; do
        tap_log=${tap_log%/*}_${tap_log##*/}
    done
    tap_log=$tap_logs/$tap_log.log
}

# tap_run NAME COMMAND...: starts a suite as soon as there is room, beside what follows. NAME is one word. A suite that dies,
# prints no test or not as many as it planned counts as one failure beside what it printed. Two of one log would count as one.
tap_run() {
    tap_name_log "$1"
    shift
    case "$tap_taken " in
    *" $tap_log "*)
        tap_broken "$tap_name: another suite has this log"
        return
        ;;
    esac
    tap_taken="$tap_taken $tap_log"
    read -r tap_turn <&9
    rm -f "$tap_log.status"
    tap_suite "$@" &
    tap_pending="$tap_pending $tap_name"
    tap_count_ended
}

# A suite has a process group of its own, which `timeout` makes, and which ends with it.
tap_suite() {
    timeout -k 10 "$tap_limit" "$@" >"$tap_log" 2>&1 </dev/null 9<&- &
    echo $! >"$tap_log.pid"
    tap_status=0
    wait $! || tap_status=$?
    rm -f "$tap_log.pid"
    echo $tap_status >"$tap_log.status"
    echo >&9
}

# Counts the suites that have ended, in the order in which they were started.
tap_count_ended() {
    for tap_name in $tap_pending; do
        tap_name_log "$tap_name"
        [ -s "$tap_log.status" ] || break
        read -r tap_status <"$tap_log.status"
        tap_pending=${tap_pending#" $tap_name"}
        tap_add
    done
}

# tap_wait: returns when every suite has ended, for what needs their files.
tap_wait() {
    for tap_turn in $(seq "$tap_jobs"); do
        read -r tap_turn <&9
        tap_count_ended
    done
    tap_give_turns
}

# tap_stop STATUS: ends what runs, as after Ctrl-C.
tap_stop() {
    trap '' INT TERM HUP
    for tap_pid in "$tap_logs"/*.pid; do
        [ ! -e "$tap_pid" ] || kill "$(cat "$tap_pid")"
    done
    wait
    exit "$1"
}

# cmocka writes a skipped test as "not ok 8 # SKIP name"; the directive counts, not the words before it. A suite may have
# several plans, one for each of its groups.
tap_skip_line='^(not )?ok .*# *[Ss][Kk][Ii][Pp]'
tap_counts='
    $0 ~ skip { skips++; next }
    /^ok / { oks++ }
    /^not ok / { bad++ }
    /^1\.\.[0-9]/ { planned = 1; plan += substr($1, 4) }
    END { printf "tap_oks=%d tap_bad=%d tap_skips=%d tap_plan=%d", oks, bad, skips, planned ? plan : -1 }'

# Counts what is in tap_log, of a suite that ended with tap_status.
tap_add() {
    eval "$(awk -v skip="$tap_skip_line" "$tap_counts" "$tap_log")"
    tap_count=$((tap_oks + tap_skips))
    if [ "$tap_bad" -eq 0 ] &&
        { [ "$tap_status" -ne 0 ] || [ $tap_count -eq 0 ] || { [ "$tap_plan" -ge 0 ] && [ $tap_count -ne "$tap_plan" ]; }; }; then
        tap_bad=1
        printf 'not ok - %s: exit status %s, %s tests, %s planned\n' "$tap_name" "$tap_status" $tap_count "$tap_plan"
    fi
    tap_passed=$((tap_passed + tap_oks))
    tap_failed=$((tap_failed + tap_bad))
    tap_skipped=$((tap_skipped + tap_skips))
    printf '%-40s %5d passed %3d failed %3d skipped\n' "$tap_name" "$tap_oks" "$tap_bad" "$tap_skips"
    [ "$tap_skips" -eq 0 ] || grep -E "$tap_skip_line" "$tap_log" | sed 's/^/    /'
    if [ "$tap_bad" -gt 0 ]; then
        grep -E '^not ok ' "$tap_log" | grep -vE "$tap_skip_line" | head -n 20 | sed 's/^/    /'
        say "--- the end of $tap_log"
        tail -n 30 "$tap_log" >&2
    fi
}

# tap_broken NAME: something could not even start.
tap_broken() {
    printf 'not ok - %s\n' "$1"
    tap_failed=$((tap_failed + 1))
}

# What has left no status by now, as where the disk is full, is counted as broken.
tap_finish() {
    tap_wait
    for tap_name in $tap_pending; do
        tap_broken "$tap_name: its end is not known"
    done
    printf '%d passed, %d failed, %d skipped\n' "$tap_passed" "$tap_failed" "$tap_skipped"
    [ "$tap_failed" -eq 0 ] || exit 1
}
