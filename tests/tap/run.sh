#!/bin/sh
# Whether tests/tap judges as cmocka does: builds verdicts.c with both and compares. Prints TAP.
# usage: run.sh SOURCE SCRATCH
set -u
source=$1
scratch=$2
mkdir -p "$scratch"
build() {
    name=$1
    shift
    gcc -std=c17 -Wall -Wextra -Wpedantic -Werror "$source/tests/tap/verdicts.c" -o "$scratch/$name" "$@" >"$scratch/build.log" 2>&1 ||
        { sed 's/^/# /' "$scratch/build.log"; echo "not ok 1 - verdicts.c builds"; exit 1; }
}
build cmocka -lcmocka
build tap -I"$source/tests/tap" "$source/tests/tap/cmocka.c"

# NAME: its verdicts, one line each. cmocka writes a skipped test as "not ok 4 # SKIP name".
verdicts() {
    CMOCKA_MESSAGE_OUTPUT=TAP "$scratch/$1" 2>/dev/null | grep -E '^(not )?ok ' |
        sed -E 's/^(not )?ok [0-9]+ # SKIP (.*)/skip \2/; s/^ok [0-9]+ - (.*) # SKIP$/skip \1/; s/^(not )?ok [0-9]+ - /\1ok /' |
        sed 's/ Could not run test: .*//' >"$scratch/$1.verdicts"
}
n=0
check() {
    n=$((n + 1))
    title=$1
    shift
    if "$@" >"$scratch/check.log" 2>&1; then
        echo "ok $n - $title"
    else
        echo "not ok $n - $title"
        sed 's/^/# /' "$scratch/check.log" | head -n 40
    fi
}
# What the names promise.
as_named() {
    awk '{ name = $NF; wanted = name ~ /^fails_/ ? "not ok" : name ~ /^skips_/ ? "skip" : "ok"; sub(" " name "$", "");
           if ($0 != wanted) { print name ": " $0; bad = 1 } } END { exit bad || NR != 24 }' "$scratch/$1.verdicts"
}
exits_with_failures() {
    "$scratch/$1" >/dev/null 2>&1
    [ $? -eq 19 ]
}
for runner in cmocka tap; do
    verdicts $runner
    check "$runner: every test ends as its name says" as_named $runner
    check "$runner: the exit status counts failures" exits_with_failures $runner
done
check "both say the same" diff "$scratch/cmocka.verdicts" "$scratch/tap.verdicts"
echo "1..$n"
