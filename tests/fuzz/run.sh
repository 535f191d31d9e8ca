#!/bin/sh
# Fuzzes for a while from a corpus of small files. Prints TAP.
# usage: run.sh FUZZER CORPUS SECONDS SEED-FOLDER...
fuzzer=$1
corpus=$2
seconds=$3
shift 3
mkdir -p "$corpus"
for folder in "$@"; do
    [ -d "$folder" ] || continue
    find "$folder" -maxdepth 1 \( -name '*.gltf' -o -name '*.glb' -o -name '*.pelt' \) -size -9k -exec cp {} "$corpus" \;
done
findings=$(mktemp -d)
if "$fuzzer" -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$findings/" "$corpus"; then
    echo "ok 1 - $seconds seconds of fuzzing found nothing"
    rm -rf "$findings"
else
    echo "not ok 1 - the fuzzer stopped; its input is in $findings"
    exit 1
fi
