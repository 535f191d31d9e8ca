#!/bin/sh
# Whether scripts/tap.sh counts suites as TAP means them, runs them side by side, and ends them. Prints TAP.
# usage: suites.sh SOURCE SCRATCH
set -u
source=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
n=0

# script JOBS LIMIT: a run of the suites that standard input names.
script() {
    rm -rf "$scratch/logs"
    mkdir "$scratch/logs"
    { printf 'cd "%s"\nsay() { :; }\n. "%s/scripts/tap.sh"\ntap_jobs=%s\ntap_limit=%s\ntap_start logs\n' \
        "$scratch" "$source" "$1" "$2" && cat && echo tap_finish; } >"$scratch/script"
}
# check TITLE STATUS LINES: the script must end with this status, and print these lines.
check() {
    n=$((n + 1))
    status=0
    sh "$scratch/script" >"$scratch/out" 2>"$scratch/err" || status=$?
    if [ $status -eq "$2" ] && [ "$(tr -s ' ' <"$scratch/out")" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        { echo "exit status $status, not $2"; cat "$scratch/out" "$scratch/err"; } | sed 's/^/# /'
    fi
}
# counts TITLE SUITE PASSED FAILED SKIPPED
counts() {
    echo "tap_run suite sh -c '$2' >/dev/null" | script 2 20
    status=0
    [ "$4" -eq 0 ] || status=1
    sed -i 's/^tap_finish/tap_wait >wait\n&/' "$scratch/script"
    check "$1" $status "$3 passed, $4 failed, $5 skipped"
}

counts "skips are counted by their directive" 'echo "ok 1 - a"; echo "not ok 2 # SKIP b"; echo "ok 3 - c # skip no d"' 1 0 2
counts "a test that failed is one failure" 'echo "not ok 1 - a"; echo "ok 2 - b"; exit 1' 1 1 0
counts "an exit status without a failed test is a failure" 'echo ok 1 - a; exit 3' 1 1 0
counts "a suite that skips everything" 'echo "not ok 1 # SKIP all of it"' 0 0 1
counts "a suite that prints nothing failed" true 0 1 0
counts "a suite that prints less than its plan failed" 'echo 1..2; echo ok 1 - a' 1 1 0
counts "plans of groups add up" 'for group in 1 2; do echo 1..1; echo ok 1 - a; done' 2 0 0
counts "a suite that is killed failed" 'echo ok 1 - a; kill -9 $$' 1 1 0
counts "a suite that kills its process group failed" 'echo ok 1 - a; kill 0' 1 1 0

script 2 20 <<'END'
tap_run nothing/here ./missing
tap_run a/b echo ok 1
END
check "a program that is missing is a failure, and the next suite runs" 1 "not ok - nothing/here: exit status 127, 0 tests, -1 planned
nothing/here 0 passed 1 failed 0 skipped
a/b 1 passed 0 failed 0 skipped
1 passed, 1 failed, 0 skipped"

script 2 20 <<'END'
tap_run full sh -c 'ln -s /dev/full logs/full.log.status; echo ok 1'
tap_run next echo ok 1
END
check "a suite whose status could not be written is a failure" 1 "not ok - full: its end is not known
not ok - next: its end is not known
0 passed, 2 failed, 0 skipped"

script 2 20 <<'END'
tap_run a/b echo ok 1
tap_run a_b echo ok 1
tap_run a/b echo not ok 1
END
check "suites of one log are a failure" 1 "not ok - a_b: another suite has this log
not ok - a/b: another suite has this log
a/b 1 passed 0 failed 0 skipped
1 passed, 2 failed, 0 skipped"

# Each waits for the other, and the second ends first.
mkfifo "$scratch/there" "$scratch/back"
script 2 20 <<'END'
tap_run first sh -c 'echo >there; read line <back; sleep 0.2; echo ok 1'
tap_run second sh -c 'read line <there; echo >back; echo ok 1'
END
check "suites run at once, and are told in the order of their start" 0 "first 1 passed 0 failed 0 skipped
second 1 passed 0 failed 0 skipped
2 passed, 0 failed, 0 skipped"

script 2 20 <<'END'
for i in 1 2 3 4; do tap_run s$i sh -c 'sleep 0.1; [ $(ls logs/*.pid | wc -l) -le 2 ] && echo ok 1'; done
END
check "no more of them run than there is room for" 0 "s1 1 passed 0 failed 0 skipped
s2 1 passed 0 failed 0 skipped
s3 1 passed 0 failed 0 skipped
s4 1 passed 0 failed 0 skipped
4 passed, 0 failed, 0 skipped"

script 1 20 <<'END'
tap_run writes sh -c 'sleep 0.2; echo ok 1; echo here >file'
tap_wait
cat file
END
check "what needs the files of a suite can wait for it" 0 "writes 1 passed 0 failed 0 skipped
here
1 passed, 0 failed, 0 skipped"

# Ended with their children, which hold the pipe open as long as they live.
script 2 1 <<'END'
tap_run hangs sh -c 'echo ok 1; sleep 20 & sleep 20 >/dev/null'
tap_run quick echo ok 1
END
check "a suite that hangs is ended and failed" 1 "not ok - hangs: exit status 124, 1 tests, -1 planned
hangs 1 passed 1 failed 0 skipped
quick 1 passed 0 failed 0 skipped
2 passed, 1 failed, 0 skipped"

for signal in INT TERM HUP; do
    script 2 20 <<END
tap_run hangs sh -c 'sleep 20 & echo \$! >child; echo >there; wait'
read line <there
kill -$signal \$\$
sleep 0.1
END
    case $signal in INT) status=130 ;; TERM) status=143 ;; HUP) status=129 ;; esac
    check "SIG$signal ends the run" $status ""
    n=$((n + 1))
    if grep -q sleep "/proc/$(cat "$scratch/child")/cmdline" 2>/dev/null; then
        echo "not ok $n - SIG$signal ends what the suites started"
    else
        echo "ok $n - SIG$signal ends what the suites started"
    fi
done
echo "1..$n"
