#!/bin/sh
# Turns a checker's listing ("NAME: what is wrong" lines, then "right/total") into TAP.
# usage: checker.sh NAME COMMAND...
name=$1
shift
TMPDIR=$(mktemp -d) # checkers leave files there
export TMPDIR
lines=$("$@" 2>&1)
status=$?
rm -rf "$TMPDIR"
last=$(printf '%s\n' "$lines" | tail -n 1)
right=${last%%/*}
total=${last##*/}
case "$right$total" in
'' | *[!0-9]*)
    printf '%s\n' "$lines"
    echo "not ok 1 - $name: the checker said no total (exit $status)"
    exit 1
    ;;
esac
i=0
while [ "$i" -lt "$right" ]; do
    i=$((i + 1))
    echo "ok $i - $name"
done
printf '%s\n' "$lines" | sed '$d' | while IFS= read -r line; do
    i=$((i + 1))
    echo "not ok $i - $line"
done
echo "1..$total"
[ "$right" -eq "$total" ] && [ "$total" -gt 0 ] && [ "$status" -eq 0 ]
