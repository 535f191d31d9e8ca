#!/bin/sh
# Runs the sweep program over small files, two at a time. Prints TAP.
# usage: run.sh BUILD STRIDE FOLDER...      STRIDE: 1 = every length, see sweep.c
build=$1
stride=$2
shift 2
scratch=$build/sweep-scratch
rm -rf "$scratch"
mkdir -p "$scratch"
for folder in "$@"; do
    [ -d "$folder" ] && find "$folder" -maxdepth 1 \( -name '*.gltf' -o -name '*.glb' \)
done | sort >"$scratch/files"
awk 'NR % 2 == 0' "$scratch/files" >"$scratch/even"
awk 'NR % 2 == 1' "$scratch/files" >"$scratch/odd"
for half in even odd; do
    tr '\n' '\0' <"$scratch/$half" | xargs -0 -r "$build/tests/sweep" "--stride=$stride" >"$scratch/$half.tap" 2>&1 &
    eval "$half=$!"
done
# shellcheck disable=SC2154
wait "$even"
status=$?
wait "$odd"
odd_status=$?
cat "$scratch/even.tap" "$scratch/odd.tap"
[ "$status" -eq 0 ] && [ "$odd_status" -eq 0 ]
