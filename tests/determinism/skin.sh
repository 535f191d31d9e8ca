#!/bin/sh
# Compares the bytes that this build's kernels write with those of the first build. Prints TAP.
# usage: skin.sh REFERENCE LINES PROGRAM ARGUMENT...
#   REFERENCE: the lines of the first build, made by the first call. LINES: where this build's go. The program is skin_hashes, or
#   what runs it.
# NEON does the same operations as AVX2 on fewer vertices at a time, so its lines are compared with those.
set -u
reference=$1
lines=$2
shift 2
if ! "$@" >"$lines"; then
    echo "1..1"
    echo "not ok 1 - skin_hashes ends with an error"
    exit 1
fi
sed -i 's/^neon /avx2 /' "$lines"
[ -s "$reference" ] || cp "$lines" "$reference"
count=0
report() {
    count=$((count + 1))
    echo "$1 $count - $2"
}
for isa in $(cut -d ' ' -f 1 "$lines" | sort -u); do
    wanted=$(grep "^$isa " "$reference")
    if [ -z "$wanted" ]; then
        report ok "bytes of $isa # SKIP the first build ran on a processor without it"
    elif [ "$wanted" = "$(grep "^$isa " "$lines")" ]; then
        report ok "bytes of $isa"
    else
        report "not ok" "bytes of $isa differ from those of the first build"
    fi
done
# Neither kernel fuses products, and both sum up in the same order.
if grep -q '^sse2 ' "$lines"; then
    if [ "$(grep '^sse2 ' "$lines" | cut -d ' ' -f 2-4)" = "$(grep '^scalar ' "$lines" | cut -d ' ' -f 2-4)" ]; then
        report ok "positions and boxes of sse2 are those of scalar"
    else
        report "not ok" "positions and boxes of sse2 are those of scalar"
    fi
fi
echo "1..$count"
