#!/bin/sh
# Builds every configuration and runs every test suite; the last line is "N passed, N failed, N skipped".
# usage: ./test.sh [--quick | --full]
#   --quick: one release build, no sanitizers, no fuzzing, no other systems
#   --full: also every unit test with release-clang and with GCC's sanitizers, cases and models with every build, unoptimised
#     builds, and the unit tests of the Windows build, under Wine
# Environment: PELT_WERROR=ON makes warnings errors; PELT_SHARED=FOLDER names the folder of cases and models
# (default: ../shared, used where it exists); PELT_DISABLED_ISAS="avx512;avx2" builds without these instruction sets.
# shellcheck disable=SC2046,SC2086 # names of tests and of targets are lists of words
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$root/scripts/common.sh"
. "$root/scripts/tap.sh"

quick=
full=
for argument in "$@"; do
    case "$argument" in
    --quick) quick=1 ;;
    --full) full=1 ;;
    -h | --help) sed -n '2,8s/^# //p' "$0"; exit 0 ;;
    *) die "test.sh: unknown argument $argument" ;;
    esac
done
[ -z "$quick" ] || [ -z "$full" ] || die "test.sh: --quick and --full exclude each other"
werror=${PELT_WERROR:-OFF}
shared=${PELT_SHARED:-$root/../shared}

need_packages $build_packages libcmocka-dev python3 python3-numpy valgrind binutils parallel \
    mesa-vulkan-drivers vulkan-validationlayers spirv-tools
[ -n "$quick" ] || need_packages clang libclang-rt-14-dev clang-format gcc-mingw-w64-x86-64
[ -z "$full" ] || need_packages wine64
emulated=
if [ -z "$quick" ] && [ "$(uname -m)" = x86_64 ]; then
    emulated=1
    need_packages gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
fi

work=$root/build/test
mkdir -p "$work/logs"
tap_start "$work/logs"
python=/usr/bin/python3 # Debian's, which has NumPy
export PELT_TEST_REQUIRE_VALIDATION=1 # its package is installed: a layer that is not found is a failure

# configuration NAME C-COMPILER CXX-COMPILER SANITIZERS BUILD-TYPE [TARGETS]: TARGETS that are built, or all.
configuration() {
    say "building $1"
    build_targets=${6-}
    build "$work/$1" -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" -DPELT_SANITIZE="$4" -DCMAKE_BUILD_TYPE="$5" \
        -DPELT_WERROR="$werror" -DPELT_DISABLED_ISAS="${PELT_DISABLED_ISAS-}" || { tap_broken "build $1"; return 1; }
}

# unit_names PATTERN...: the names of all unit tests but those of the patterns.
unit_names() {
    for source in "$root"/tests/unit/test_*.c; do
        test=${source##*/test_}
        test=${test%.c}
        for pattern in "$@"; do
            # shellcheck disable=SC2254
            case "$test" in
            $pattern) continue 2 ;;
            esac
        done
        echo "$test"
    done
}

# unit_tests CONFIGURATION NAME...
unit_tests() {
    name=$1
    shift
    [ $# -gt 0 ] || tap_broken "$name: no unit tests"
    for test in "$@"; do
        tap_run "$name/test_$test" env CMOCKA_MESSAGE_OUTPUT=TAP "$work/$name/tests/test_$test"
    done
}

# command_tests NAME [OPTION...]: one suite for each file of them.
command_tests() {
    name=$1
    shift
    for file in "$root"/tests/cli/test_*.py; do
        part=${file##*/test_}
        part=${part%.py}
        tap_run "$name/cli/$part" "$python" "$root/tests/cli/run.py" "$work/$name/cli/pelt" "$work/$name/cli-scratch" \
            -k "test_$part." "$@"
    done
}

# same_bytes NAME: cooked files and what kernels write, compared with the first build's; the first call makes the reference.
same_bytes() {
    tap_run "$1/determinism" "$root/tests/determinism/run.sh" "$work/$1" "$work/cook-reference" "$root/tests/data" \
        "$shared/models"
    tap_run "$1/kernels" "$root/tests/determinism/skin.sh" "$work/skin-reference" "$work/$1/skin-hashes" \
        "$work/$1/tests/skin_hashes"
}

# sweep NAME STRIDE
sweep() {
    tap_run "$1/sweep" "$root/tests/sweep/run.sh" "$work/$1" "$2" "$root/tests/data" "$shared/cases" "$work/cooked"
}

# checkers NAME: the command over the cases and models of the shared folder.
checkers() {
    for kind in cases models; do
        [ -d "$shared/$kind" ] || continue
        tap_run "$1/$kind" "$root/tests/checker.sh" $kind "$python" "$shared/tools/check_$kind.py" "$work/$1/cli/pelt" \
            "$shared/$kind"
    done
}

release_gcc() {
    configuration release-gcc gcc g++ "" Release || return
    pelt=$work/release-gcc/cli/pelt
    # First what other configurations are compared with, and read.
    rm -rf "$work/cook-reference" "$work/skin-reference"
    same_bytes release-gcc
    "$root/tests/sweep/cook.sh" "$pelt" "$root/tests/data" "$work/cooked" || tap_broken "cook seeds"
    tap_wait
    tap_run growth "$python" "$root/tests/growth/run.py" "$work/release-gcc"
    tap_run instructions "$python" "$root/tests/instructions/run.py" "$work/release-gcc" "$root/bench/results/instructions.json"
    unit_tests release-gcc $(unit_names)
    command_tests release-gcc
    sweep release-gcc 1
    checkers release-gcc
    tap_run meta "$python" "$root/tests/meta/run.py" "$root" "$work/release-gcc"
    tap_run tap/verdicts "$root/tests/tap/run.sh" "$root" "$work/tap"
    tap_run tap/suites "$root/tests/tap/suites.sh" "$root" "$work/tap-suites"
    tap_run spirv "$root/tests/spirv/run.sh" "$root" "$work/release-gcc" "$work/spirv"
    tap_run vulkan-docs "$python" "$root/tests/vulkan_docs/run.py" "$root" "$work/release-gcc" "$work/vulkan-docs"
    tap_run examples "$python" "$root/tests/examples/run.py" "$root" "$work/release-gcc" "$work/examples"
    tap_run consumer "$root/tests/consumer/run.sh" "$root" "$work/release-gcc" "$work/consumer"
    tap_run validator "$root/tests/validator/run.sh" "$pelt" "$work/validator" "$shared"
    if [ -d "$shared/models" ]; then
        tap_run accuracy "$python" "$root/scripts/accuracy_table.py" "$pelt" "$shared/models" --check
    fi
    tap_run verify "$root/tests/verify/run.sh" "$python" "$pelt" "$work/verify" "$root/tests/data" "$shared"
    # Subgroups of 4 and 16 instead of lavapipe's usual 8.
    for width in 128 512; do
        for suite in shaders shader_skin shader_values shader_bounds schedule kinds; do
            tap_run "release-gcc/width-$width/test_vk_$suite" env LP_NATIVE_VECTOR_WIDTH=$width CMOCKA_MESSAGE_OUTPUT=TAP \
                "$work/release-gcc/tests/test_vk_$suite"
        done
    done
}

# What another compiler makes of the kernels; all of its tests but those of Vulkan with --full only.
release_clang() {
    tests="skin_kernels skin_palette skeleton_isa palette pose"
    targets="cook_hashes skin_hashes $(printf 'test_%s ' $tests)"
    if [ -n "$full" ]; then
        tests=$(unit_names 'vk_*')
        targets=
    fi
    configuration release-clang clang clang++ "" Release "$targets" || return
    same_bytes release-clang
    unit_tests release-clang $tests
    [ -z "$full" ] || checkers release-clang
}

asan_gcc() {
    configuration asan-gcc gcc g++ address,undefined RelWithDebInfo || return
    unit_tests asan-gcc $(unit_names 'vk_*') # a software device takes minutes; asan-clang runs them
    same_bytes asan-gcc
    checkers asan-gcc
}

asan_clang() {
    configuration asan-clang clang clang++ address,undefined RelWithDebInfo || return
    # Hundreds of contexts, most of the time in the driver's compiler; their allocations are counted in any build.
    if [ -n "$full" ]; then
        tests=$(unit_names vk_failure vk_context)
        more=
    else
        # What shaders compute, over and over on a software device, is no matter for sanitizers: other tests run the same calls.
        tests=$(unit_names vk_failure vk_context vk_schedule 'vk_shader*' vk_sizes)
        more="--but hold_on_the_device --but break_even --but tables_and_plots --but enough_vertices"
    fi
    unit_tests asan-clang $tests
    command_tests asan-clang $more
    sweep asan-clang 97
    same_bytes asan-clang
    checkers asan-clang
}

# Without optimisation: the bytes of cooked files and of kernels once more.
plain() {
    configuration "plain-$1" "$1" "$2" "" Debug "cook_hashes skin_hashes" || return
    same_bytes "plain-$1"
}

tsan() {
    tests="pool palette skeleton sharing gltf_sharing skin_job skin_mesh cook_file"
    configuration tsan gcc g++ thread RelWithDebInfo "pelt_command $(printf 'test_%s ' $tests)" || return
    unit_tests tsan $tests
    tap_run tsan/cli "$python" "$root/tests/cli/run.py" "$work/tsan/cli/pelt" "$work/tsan/cli-scratch" -k thread
}

# AArch64 by the cross compiler: unit tests under emulation. Left out are those of Vulkan, which ask for a device of that
# architecture, and test_pool, whose limit on threads the emulator does not know.
neon() {
    say "building neon"
    if ! "$root/tests/arm64/packages.sh" "$work/arm64" >"$work/logs/arm64-packages.log" 2>&1; then
        tail -n 20 "$work/logs/arm64-packages.log" >&2
        tap_broken "AArch64 libraries"
        return
    fi
    tests=$(unit_names 'vk_*' pool)
    build_targets="skin_hashes $(printf 'test_%s ' $tests)"
    build "$work/neon" -DCMAKE_TOOLCHAIN_FILE="$root/tests/arm64/toolchain.cmake" -DPELT_ARM64_ROOT="$work/arm64/root" \
        -DPELT_TOOLS=OFF -DPELT_BENCH=OFF -DPELT_EXAMPLES=OFF -DCMAKE_BUILD_TYPE=Release -DPELT_WERROR="$werror" \
        -DPELT_DISABLED_ISAS="${PELT_DISABLED_ISAS-}" || { tap_broken "build neon"; return; }
    for test in $tests; do
        tap_run "neon/test_$test" env CMOCKA_MESSAGE_OUTPUT=TAP "$root/tests/arm64/run.sh" "$work/arm64/root" \
            "$work/neon/tests/test_$test"
    done
    tap_run neon/kernels "$root/tests/determinism/skin.sh" "$work/skin-reference" "$work/neon/skin-hashes" \
        "$root/tests/arm64/run.sh" "$work/arm64/root" "$work/neon/tests/skin_hashes"
}

fuzz() {
    say "building fuzz"
    build_targets="fuzz_gltf fuzz_pelt"
    build "$work/fuzz" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPELT_SANITIZE=address,undefined \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPELT_FUZZ=ON -DPELT_TESTS=OFF -DPELT_BENCH=OFF -DPELT_TOOLS=OFF ||
        { tap_broken "build fuzz"; return; }
    tap_run fuzz "$root/tests/fuzz/run.sh" "$work/fuzz/tests/fuzz_gltf" "$work/fuzz/corpus" 60 "$root/tests/data" \
        "$shared/cases"
    tap_run fuzz-pelt "$root/tests/fuzz/run.sh" "$work/fuzz/tests/fuzz_pelt" "$work/fuzz/corpus-pelt" 60 "$work/cooked"
}

# The libraries for Windows, static and as DLLs, by a cross compiler; with --full also unit tests, which Wine runs.
windows() {
    say "building windows"
    for linkage in static shared; do
        shared_libraries=$([ $linkage = shared ] && echo ON || echo OFF)
        with_tests=$([ -n "$full" ] && [ $linkage = static ] && echo ON || echo OFF)
        build "$work/windows-$linkage" --toolchain "$root/cmake/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
            -DBUILD_SHARED_LIBS="$shared_libraries" -DPELT_TESTS="$with_tests" -DPELT_WERROR="$werror" ||
            { tap_broken "build windows-$linkage"; return; }
    done
    if [ -n "$full" ]; then
        for program in "$work"/windows-static/tests/test_*.exe; do
            tap_run "windows/$(basename "$program" .exe)" "$root/tests/windows/wine.sh" "$work/windows/wine" "$program"
        done
    fi
    tap_run windows/libraries "$root/tests/windows/run.sh" "$root" "$work/windows-static" "$work/windows-shared" \
        "$work/windows" ${full:+"$work/cook-reference"}
    if [ -n "$full" ]; then
        tap_wait
        "$root/tests/windows/wine.sh" "$work/windows/wine" --end
    fi
}

# While one configuration is built, suites of those before it run.
release_gcc
if [ -z "$quick" ]; then
    asan_clang
    fuzz
    [ -z "$emulated" ] || neon
    tsan
    release_clang
    windows
fi
if [ -n "$full" ]; then
    asan_gcc
    plain gcc g++
    plain clang clang++
fi
tap_finish
