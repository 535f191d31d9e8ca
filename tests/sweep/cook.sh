#!/bin/sh
# Cooks the small models of a folder into .pelt files for sweeps and fuzzing, with every layout that the file has.
# usage: cook.sh PELT FOLDER OUT
pelt=$1
folder=$2
out=$3
rm -rf "$out"
mkdir -p "$out"
for file in "$folder"/*.glb "$folder"/many.gltf; do
    "$pelt" cook "$file" -o "$out/$(basename "$file").pelt" --quiet >/dev/null || exit 1
done
"$pelt" cook "$folder/morphs.glb" -o "$out/plain.pelt" --weights plain --morph16 --keep-order --quiet >/dev/null &&
    "$pelt" cook "$folder/bar.glb" -o "$out/direct.pelt" --direct-joints --quiet >/dev/null &&
    "$pelt" gen wide --vertices 30 --joints 8 --influences 6 -o "$out/wide.glb" --quiet >/dev/null &&
    "$pelt" cook "$out/wide.glb" -o "$out/wide.pelt" --quiet >/dev/null && rm "$out/wide.glb"
