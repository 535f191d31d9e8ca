# Sourced by test.sh: runs suites that print TAP (https://testanything.org) and counts their lines. Plain sh.
# shellcheck shell=sh

tap_start() {
    tap_logs=$1
    tap_passed=0
    tap_failed=0
    tap_skipped=0
    tap_later_names=
}

tap_name_log() {
    tap_name=$1
    tap_log=$tap_logs/$(printf '%s' "$tap_name" | tr '/ ' '__').log
}

# tap_run NAME COMMAND...: a suite that dies, prints no test or not as many as it planned counts as one failure beside what it
# printed.
tap_run() {
    tap_name_log "$1"
    shift
    tap_status=0
    timeout 1500 "$@" >"$tap_log" 2>&1 </dev/null || tap_status=$?
    tap_add
}

# tap_later NAME COMMAND...: the same beside what follows, for suites that use one processor; counted by tap_finish. NAME is one
# word.
tap_later() {
    tap_name_log "$1"
    shift
    tap_later_names="$tap_later_names $tap_name"
    echo 255 >"$tap_log.status"
    { timeout 1500 "$@" >"$tap_log" 2>&1 </dev/null; echo $? >"$tap_log.status"; } &
}

# Counts what is in tap_log, of a suite that ended with tap_status.
tap_add() {
    # cmocka writes a skipped test as "not ok 8 # SKIP name"; the directive counts, not the words before it.
    tap_skip_line='^(not )?ok .*# *[Ss][Kk][Ii][Pp]'
    tap_skips=$(grep -cE "$tap_skip_line" "$tap_log")
    tap_oks=$(grep -E '^ok ' "$tap_log" | grep -cvE "$tap_skip_line")
    tap_bad=$(grep -E '^not ok ' "$tap_log" | grep -cvE "$tap_skip_line")
    # A suite may have several plans, one for each of its groups.
    tap_plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$tap_log" | awk '{ sum += $1 } END { print NR ? sum : -1 }')
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
    grep -E "$tap_skip_line" "$tap_log" | sed 's/^/    /'
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

tap_finish() {
    wait
    for tap_later_name in $tap_later_names; do
        tap_name_log "$tap_later_name"
        tap_status=$(cat "$tap_log.status")
        tap_add
    done
    printf '%d passed, %d failed, %d skipped\n' "$tap_passed" "$tap_failed" "$tap_skipped"
    [ "$tap_failed" -eq 0 ] || exit 1
}
