#!/bin/sh
# Looks at the libraries that a cross build made for Windows, and runs what needs another build to compare with. Prints TAP.
# usage: run.sh SOURCE STATIC-BUILD SHARED-BUILD SCRATCH [REFERENCE]
#   REFERENCE: sources and hashes of tests/determinism; given where Wine may run programs.
set -u
source=$1
static_build=$2
shared_build=$3
scratch=$4
reference=${5:-}
tools=x86_64-w64-mingw32
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

# Names that a DLL exports, and DLLs that it needs.
exports() {
    $tools-objdump -p "$1" | awk '/Ordinal\/Name Pointer/ { on = 1; next } /^$/ { on = 0 } on { print $NF }'
}
needs() {
    $tools-objdump -p "$1" | sed -n 's/.*DLL Name: //p'
}

exports_are_ours() {
    exports "$scratch/shared/bin/libpelt.dll" | grep -qx pelt_skin_evaluate || return 1
    exports "$scratch/shared/bin/libpelt_vulkan.dll" | grep -qx pelt_vk_requirements || return 1
    exports "$scratch/shared/bin/libpelt_vulkan.dll" | grep -qx pelt_skin_evaluate && return 1
    for dll in "$scratch"/shared/bin/*.dll; do
        exports "$dll" | grep -v '^pelt_' && return 1
    done
    return 0
}

# Every public function, by the words of the headers.
exports_are_whole() {
    sed -n 's/^PELT_\(VULKAN_\)*API .*\(pelt_[a-z0-9_]*\)(.*/\2/p' "$source"/include/pelt/*.h | sort >"$scratch/declared"
    for dll in "$scratch"/shared/bin/*.dll; do
        exports "$dll"
    done | sort >"$scratch/exported"
    wc -l "$scratch/declared"
    [ "$(wc -l <"$scratch/declared")" -gt 80 ] && diff "$scratch/declared" "$scratch/exported"
}

needs_system_only() {
    for dll in "$scratch"/shared/bin/*.dll; do
        needs "$dll"
        [ -n "$(needs "$dll")" ] || return 1
        needs "$dll" | grep -viE '^(kernel32|msvcrt|ucrtbase|api-ms-win-crt-.*|libpelt)\.dll$' && return 1
    done
    return 0
}

# GCC bug 54412: a 32- or 64-byte vector on a stack that is aligned to 16.
moves_take_any_address() {
    $tools-objdump -d --no-show-raw-insn "$static_build/libpelt.a" >"$scratch/code"
    grep -cE 'vmov(ups|upd|dqu)' "$scratch/code" || return 1
    ! grep -E 'vmov(aps|apd|dqa)[0-9]*\s.*\(' "$scratch/code" | grep -E '%[yz]mm'
}

install() {
    cmake --install "$1" --prefix "$scratch/$2"
}

consume() {
    cmake -S "$source/tests/consumer/cmake" -B "$scratch/consumer-$1" -G Ninja --toolchain "$source/cmake/mingw-w64.cmake" \
        -DPelt_DIR="$scratch/$1/lib/cmake/Pelt" -DPELT_VULKAN_HEADERS="$static_build/host-headers" &&
        cmake --build "$scratch/consumer-$1"
}
# A call through the import table is what dllimport makes of it.
imports() {
    $tools-nm "$(find "$scratch/consumer-shared" -name 'vulkan.c.obj')" | grep ' U __imp_pelt_vk_requirements' &&
        grep -q -- '-DPELT_SHARED' "$scratch/shared/lib/pkgconfig/pelt.pc" &&
        ! grep -q -- '-DPELT_SHARED' "$scratch/static/lib/pkgconfig/pelt.pc" && [ ! -e "$scratch/shared/lib/pkgconfig/pelt-import.pc" ]
}
# It hands over nothing and must be told so.
runs() {
    WINEPATH=$scratch/$1/bin "$source/tests/windows/wine.sh" "$scratch/wine" "$scratch/consumer-$1/consumer_vulkan.exe" |
        grep '^ARGUMENT: .*NULL'
}

says_what_waits() {
    cmake -S "$source" -B "$scratch/import" -G Ninja --toolchain "$source/cmake/mingw-w64.cmake" -DPELT_IMPORT=ON \
        >"$scratch/import.log" 2>&1 && return 1
    grep 'waits for jansson' "$scratch/import.log"
}

cooks_the_same_bytes() {
    "$source/tests/windows/wine.sh" "$scratch/wine" "$static_build/tests/cook_hashes.exe" "$reference"/sources/*.pelt |
        tr -d '\r' >"$scratch/hashes"
    grep '\.pelt ' "$reference/hashes" >"$scratch/reference-hashes"
    wc -l "$scratch/hashes"
    [ -s "$scratch/hashes" ] && diff "$scratch/reference-hashes" "$scratch/hashes"
}

mkdir -p "$scratch"
rm -rf "$scratch/static" "$scratch/shared" "$scratch/consumer-static" "$scratch/consumer-shared" "$scratch/import"
check "a static build installs" install "$static_build" static
check "a shared build installs" install "$shared_build" shared
check "DLLs export names that begin with pelt_ only, each its own" exports_are_ours
check "DLLs export every public function" exports_are_whole
check "DLLs need the C library and the system only" needs_system_only
check "kernels move vectors without trusting the stack's alignment" moves_take_any_address
check "a CMake project uses the static install" consume static
check "a CMake project uses the shared install" consume shared
check "the DLLs' users are compiled for them" imports
check "the import library says what it waits for" says_what_waits
if [ -n "$reference" ]; then
    check "a program runs with the static library" runs static
    check "a program runs with the DLLs" runs shared
    check "cooked files have the bytes of the native build" cooks_the_same_bytes
fi
echo "1..$n"
