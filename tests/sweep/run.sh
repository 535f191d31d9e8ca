#!/bin/sh
# Runs the sweep program over small files, two at a time, the largest first. Prints TAP.
# usage: run.sh BUILD STRIDE FOLDER...      STRIDE: 1 = every length, see sweep.c
build=$1
stride=$2
shift 2
for folder in "$@"; do
    [ -d "$folder" ] || continue
    find "$folder" -maxdepth 1 \( -name '*.gltf' -o -name '*.glb' -o -name '*.pelt' \) -printf '%s %p\n'
done | sort -rn | cut -d' ' -f2- | tr '\n' '\0' |
    xargs -0 -r -n 1 -P 2 "$build/tests/sweep" "--stride=$stride" 2>&1
