# Sourced by test.sh: runs suites that print TAP (https://testanything.org) and counts their lines. Plain sh.
# shellcheck shell=sh

tap_start() {
    tap_logs=$1
    tap_passed=0
    tap_failed=0
    tap_skipped=0
}

# tap_run NAME COMMAND...: a suite that dies, or prints no test, counts as one failure beside what it printed.
tap_run() {
    tap_name=$1
    shift
    tap_log=$tap_logs/$(printf '%s' "$tap_name" | tr '/ ' '__').log
    tap_status=0
    timeout 1500 "$@" >"$tap_log" 2>&1 </dev/null || tap_status=$?
    # cmocka writes a skipped test as "not ok 8 # SKIP name"; the directive counts, not the words before it.
    tap_skip_line='^(not )?ok .*# *[Ss][Kk][Ii][Pp]'
    tap_skips=$(grep -cE "$tap_skip_line" "$tap_log")
    tap_oks=$(grep -E '^ok ' "$tap_log" | grep -cvE "$tap_skip_line")
    tap_bad=$(grep -E '^not ok ' "$tap_log" | grep -cvE "$tap_skip_line")
    if [ "$tap_bad" -eq 0 ] && { [ "$tap_status" -ne 0 ] || [ $((tap_oks + tap_skips)) -eq 0 ]; }; then
        tap_bad=1
        printf 'not ok - %s: exit status %s, %s tests\n' "$tap_name" "$tap_status" $((tap_oks + tap_skips))
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
    printf '%d passed, %d failed, %d skipped\n' "$tap_passed" "$tap_failed" "$tap_skipped"
    [ "$tap_failed" -eq 0 ] || exit 1
}
