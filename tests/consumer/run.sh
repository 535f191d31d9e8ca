#!/bin/sh
# Builds the README's C program with the sources as a subfolder and shared libraries, installs those, and static ones from an
# existing build, builds the program against each through CMake and pkg-config, runs it, and looks at what the shared libraries
# export and need. Prints TAP.
# usage: run.sh SOURCE BUILD SCRATCH
set -u
source=$1
static_build=$2
scratch=$3
n=0

check() {
    n=$((n + 1))
    title=$1
    shift
    if "$@" >"$scratch/check.log" 2>&1; then
        echo "ok $n - $title"
    else
        echo "not ok $n - $title"
        sed 's/^/# /' "$scratch/check.log" | tail -n 20
    fi
}

consume_cmake() {
    cmake -S "$source/tests/consumer/cmake" -B "$scratch/cmake-$1" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/$1" \
        -DCONSUMER_SOURCE="$scratch/program.c" && cmake --build "$scratch/cmake-$1" && runs "$1" "$scratch/cmake-$1/consumer" &&
        runs_vulkan "$1" "$scratch/cmake-$1/consumer_vulkan"
}

# Shared libraries, which are installed next. Not optimised, to be quick.
consume_source() {
    cmake -S "$source/tests/consumer/cmake" -B "$scratch/source" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON \
        -DCONSUMER_PELT="$source" -DCONSUMER_SOURCE="$scratch/program.c" && cmake --build "$scratch/source" &&
        "$scratch/source/consumer" "$scratch/worm.glb" | grep -E 'min .* max ' && "$scratch/source/consumer_vulkan" &&
        [ ! -e "$scratch/source/pelt/cli" ]
}

consume_pkgconfig() {
    # eval, since pkg-config quotes blanks in paths for a shell.
    flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$scratch/$1" -name pelt.pc)") pkg-config --cflags --libs pelt-import) &&
        eval "gcc -std=c17 -Wall -Wextra -Werror \"\$scratch/program.c\" -o \"\$scratch/pkgconfig-$1\" $flags" &&
        runs "$1" "$scratch/pkgconfig-$1" || return 1
    flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$scratch/$1" -name pelt.pc)") pkg-config --cflags --libs pelt-vulkan) &&
        eval "gcc -std=c17 -Wall -Wextra -Werror \"\$source/tests/consumer/cmake/vulkan.c\" \
            -o \"\$scratch/vulkan-$1\" $flags" &&
        runs_vulkan "$1" "$scratch/vulkan-$1"
}

# The program prints the box of the character's first primitive.
runs() {
    LD_LIBRARY_PATH=$(dirname "$(find "$scratch/$1" -name 'libpelt.*' | head -n 1)") "$2" "$scratch/worm.glb" | grep -E 'min .* max '
}

# The program hands over nothing and must be told so.
runs_vulkan() {
    LD_LIBRARY_PATH=$(dirname "$(find "$scratch/$1" -name 'libpelt.*' | head -n 1)") "$2" | grep '^ARGUMENT: .*NULL'
}

# A triangle from (0, 0, 0) to (1, 1, 0) on a node that stands at x = 5, and a scene without meshes.
takes_any_scene() {
    cat >"$scratch/rigid.gltf" <<END
{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "translation": [5, 0, 0]}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
 "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36,
 "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}
END
    echo '{"asset": {"version": "2.0"}}' >"$scratch/empty.gltf"
    out=$("$scratch/pkgconfig-static" "$scratch/rigid.gltf") || return 1
    echo "$out"
    [ "$out" = "min 5 0 0 max 6 1 0" ] || return 1
    "$scratch/pkgconfig-static" "$scratch/empty.gltf"
    [ $? -eq 1 ]
}

# Symbols of a shared library that do not begin with pelt_ (none may), then those of an archive that begin with neither
# pelt_ nor the internal pelti_.
foreign_symbols() {
    find "$scratch/shared" -name 'libpelt*.so' -exec nm -D --defined-only {} \; | awk '$2 ~ /^[A-TV-Z]$/ { print $3 }' |
        grep -v '^pelt_' | grep -vE '^_(init|fini)$'
    find "$scratch/static" -name 'libpelt*.a' -exec nm -g --defined-only {} \; 2>/dev/null | awk 'NF == 3 { print $3 }' |
        grep -vE '^pelti?_'
}

exports_are_ours() {
    [ -n "$(find "$scratch/shared" -name 'libpelt.so')" ] && [ -n "$(find "$scratch/static" -name 'libpelt.a')" ] || return 1
    # A look that finds nothing at all has failed, not passed.
    find "$scratch/shared" -name 'libpelt.so' -exec nm -D --defined-only {} \; | grep -q ' T pelt_skin_evaluate$' || return 1
    find "$scratch/static" -name 'libpelt.a' -exec nm -g --defined-only {} \; | grep -q ' T pelt_skin_evaluate$' || return 1
    found=$(foreign_symbols)
    echo "$found"
    [ -z "$found" ]
}

# The command's objects are those of the static build, where internal names would link too.
command_takes_exports() {
    find "$scratch/shared" -name 'libpelt*.so' -exec nm -D --defined-only {} \; | awk '{ print $3 }' | sort -u >"$scratch/exported"
    find "$static_build/cli" "$static_build/bench/baselines" -name '*.o' -exec nm -u {} \; | awk '{ print $2 }' |
        grep -E '^pelti?_' | sort -u >"$scratch/taken"
    nm --defined-only "$static_build/libpelt.a" "$static_build/libpelt_import.a" "$static_build/libpelt_vulkan.a" 2>/dev/null |
        awk '$2 ~ /^[A-TV-Z]$/ { print $3 }' | sort -u | comm -12 - "$scratch/taken" >"$scratch/wanted"
    wc -l "$scratch/wanted"
    [ "$(wc -l <"$scratch/wanted")" -gt 40 ] && comm -23 "$scratch/wanted" "$scratch/exported" >"$scratch/hidden"
    cat "$scratch/hidden"
    [ -f "$scratch/hidden" ] && [ ! -s "$scratch/hidden" ]
}

runtime_needs_libc_only() {
    needs=$(readelf -d "$(find "$scratch/shared" -name libpelt.so)" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    echo "$needs"
    [ -n "$needs" ] && ! echo "$needs" | grep -vE '^(libc|libm|libpthread|ld-linux[^ ]*)\.so'
}

vulkan_links_no_vulkan() {
    needs=$(readelf -d "$(find "$scratch/shared" -name libpelt_vulkan.so)" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    echo "$needs"
    echo "$needs" | grep -q '^libpelt\.so' && ! echo "$needs" | grep -vE '^(libpelt|libc|libm|ld-linux[^ ]*)\.so' &&
        nm -D --defined-only "$(find "$scratch/shared" -name libpelt_vulkan.so)" | grep -q ' T pelt_vk_requirements$'
}

rm -rf "$scratch"
mkdir -p "$scratch"
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/README.md" >"$scratch/program.c"
check "the README's program is at most 25 lines" test "$(wc -l <"$scratch/program.c")" -le 25
check "a sample file is made" "$static_build/cli/pelt" gen worm -o "$scratch/worm.glb"
check "a static build installs" cmake --install "$static_build" --prefix "$scratch/static"
check "a CMake project takes in the sources, without command, tests and benchmarks" consume_source
check "a shared build installs" cmake --install "$scratch/source" --prefix "$scratch/shared"
for kind in static shared; do
    check "a CMake project uses the $kind install" consume_cmake $kind
    check "a pkg-config project uses the $kind install" consume_pkgconfig $kind
done
check "the README's program takes a mesh without a skin, and a scene without meshes" takes_any_scene
check "exported symbols begin with pelt_" exports_are_ours
check "the command takes from the libraries what they export, and nothing else" command_takes_exports
check "the runtime library needs the C library only" runtime_needs_libc_only
check "the Vulkan library needs the runtime library and the C library only" vulkan_links_no_vulkan
check "the man page is installed" test -s "$scratch/static/share/man/man1/pelt.1"
echo "1..$n"
