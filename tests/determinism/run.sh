#!/bin/sh
# Compares what this build cooks with what the first one did, byte for byte through hashes. Prints TAP.
# usage: run.sh BUILD REFERENCE FOLDER...
#   REFERENCE: sources and hashes of the first build; made by the first call, which needs pelt itself for more models.
#   Sources are made once: what `gen` writes may depend on the C library's mathematics, what cooking writes must not.
set -u
build=$1
reference=$2
shift 2
if [ ! -s "$reference/hashes" ]; then
    rm -rf "$reference"
    mkdir -p "$reference/sources"
    for folder in "$@"; do
        [ -d "$folder" ] || continue
        find "$folder" -maxdepth 1 \( -name '*.glb' -o -name '*.vrm' \) -size -2048k -exec cp {} "$reference/sources" \;
    done
    for kind in octopus wide crowd; do
        "$build/cli/pelt" gen $kind -o "$reference/sources/gen-$kind.glb" --quiet
    done
    # Large enough to be shared out to threads within one primitive.
    "$build/cli/pelt" gen octopus --vertices 40000 -o "$reference/sources/gen-large.glb" --quiet
    # Cooked ones are sources too: builds without the import library read nothing else.
    for source in "$reference"/sources/*; do
        "$build/cli/pelt" cook "$source" -o "${source%.*}.pelt" --quiet >/dev/null 2>&1
    done
    "$build/tests/cook_hashes" "$reference"/sources/* >"$reference/hashes"
fi
hashes=$build/cook-hashes
if "$build/tests/cook_hashes" "$reference"/sources/* >"$hashes" 2>"$hashes.errors"; then
    echo "ok 1 - the bytes are the same with one, two and eight threads"
else
    echo "not ok 1 - the bytes depend on threads, or cooking failed"
    sed 's/^/# /' "$hashes.errors"
fi
if [ -s "$hashes" ] && cmp -s "$reference/hashes" "$hashes"; then
    echo "ok 2 - $(wc -l <"$hashes") outputs have the bytes of the first build"
else
    echo "not ok 2 - outputs differ from those of the first build"
    diff "$reference/hashes" "$hashes" | sed 's/^/# /' | head -n 20
fi
echo "1..2"
