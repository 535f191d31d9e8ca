#!/bin/sh
# Builds pelt and runs its main job on a skinned character: inspect, pose, bounds and cook, and on the Vulkan devices that
# there are.
# usage: ./demo.sh [FILE.glb|FILE.gltf]      without FILE: a generated octopus
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$root/scripts/common.sh"

[ $# -le 1 ] || die "usage: ./demo.sh [FILE.glb|FILE.gltf]"
case "${1-}" in
-h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
esac
[ $# -eq 0 ] || [ -e "$1" ] || die "demo.sh: $1: no such file"
[ $# -eq 0 ] || [ -f "$1" ] || die "demo.sh: $1: not a file"

# shellcheck disable=SC2086
need_packages $build_packages
build "$root/build/demo" -DCMAKE_BUILD_TYPE=Release -DPELT_TESTS=OFF -DPELT_BENCH=OFF || die "the build failed"
pelt="$root/build/demo/cli/pelt"
out="$root/out"
mkdir -p "$out"

show() {
    printf '\n$ pelt %s\n' "$*"
    "$pelt" "$@"
}

if [ $# -eq 1 ]; then
    model=$1
    case "$model" in
    -*) model=./$model ;; # a name, not an option of pelt
    esac
    clip="#0"
else
    model="$out/octopus.glb"
    clip="swim"
    show gen octopus --force -o "$model"
fi
show inspect "$model"
if "$pelt" inspect --json "$model" 2>/dev/null | grep -q '"clips": *\[\]'; then
    show pose "$model" --force -o "$out/posed.glb"
    show bounds "$model"
else
    show pose "$model" --clip "$clip" --time 50% --force -o "$out/posed.glb"
    show bounds "$model" --clip all
fi
show cook "$model" --force -o "$out/cooked.pelt"
show devices
show verify "$model"
"$pelt" pose "$model" --quiet --force -o "$out/rest.obj" >/dev/null
printf '\nResults are in %s:\n' "$out"
ls -l "$out"
