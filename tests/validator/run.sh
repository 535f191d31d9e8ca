#!/bin/sh
# Poses many models to .glb and .gltf and holds the results against the Khronos glTF validator. Prints TAP.
# usage: run.sh PELT SCRATCH [FOLDER]      FOLDER: holds cases/ and models/, used where it exists
pelt=$1
scratch=$2
folder=${3-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

skip() {
    echo "ok 1 - posed files pass the Khronos validator # SKIP $1"
    echo "1..1"
    exit 0
}
command -v node >/dev/null || skip "node is not here"
command -v npm >/dev/null || skip "npm is not here"

rm -rf "$scratch/out" "$scratch/in"
mkdir -p "$scratch/out" "$scratch/in"
cp "$here"/package.json "$here"/package-lock.json "$here"/validate.mjs "$scratch"
if ! (cd "$scratch" && { [ -d node_modules/gltf-validator ] || npm ci --no-audit --no-fund; }) >"$scratch/npm.log" 2>&1; then
    [ -z "${CI-}" ] || { tail -n 5 "$scratch/npm.log"; echo "not ok 1 - npm ci"; exit 1; }
    skip "npm ci failed"
fi

"$pelt" gen octopus --vertices 2000 -o "$scratch/in/octopus.glb" >/dev/null
"$pelt" gen wide -o "$scratch/in/wide.glb" >/dev/null
"$pelt" gen crowd --count 5 -o "$scratch/in/crowd.glb" >/dev/null
"$pelt" gen deep -o "$scratch/in/deep.glb" >/dev/null

# Rest pose, then the middle of the first clip; a file that is refused has no output and nothing to check.
number=0
pose_all() {
    for model in "$@"; do
        [ -f "$model" ] || continue
        number=$((number + 1))
        name=$number-$(basename "$model" | tr -c 'A-Za-z0-9._\n-' '_')
        "$pelt" pose "$model" --quiet -o "$scratch/out/$name-rest.glb" >/dev/null 2>&1
        "$pelt" pose "$model" --quiet --space mesh -o "$scratch/out/$name-mesh.gltf" >/dev/null 2>&1
        "$pelt" pose "$model" --quiet --clip '#0' --time 37% -o "$scratch/out/$name-clip.glb" >/dev/null 2>&1
    done
}
for model in octopus wide crowd; do
    "$pelt" cook "$scratch/in/$model.glb" -o "$scratch/in/$model.pelt" >/dev/null
done
pose_all "$scratch"/in/*.glb "$scratch"/in/*.pelt "$here"/../data/*.gl[bt]* "$folder"/cases/*.gltf "$folder"/cases/*.glb \
    "$folder"/models/*.gltf "$folder"/models/*.glb "$folder"/models/*.vrm "$folder"/models/*/*.gltf "$folder"/models/*/*.glb
cd "$scratch" && node validate.mjs out/*.glb out/*.gltf
