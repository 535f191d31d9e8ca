#!/bin/sh
# Builds every configuration and runs every test suite; the last line is "N passed, N failed, N skipped".
# usage: ./test.sh [--quick | --full]
#   --quick: one release build, no sanitizers, no fuzzing, no other systems
#   --full: also runs the unit tests of the Windows build, under Wine
# Environment: PELT_WERROR=ON makes warnings errors; PELT_SHARED=FOLDER names the folder of cases and models
# (default: ../shared, used where it exists); PELT_DISABLED_ISAS="avx512;avx2" builds without these instruction sets.
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
    -h | --help) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
    *) die "test.sh: unknown argument $argument" ;;
    esac
done
[ -z "$quick" ] || [ -z "$full" ] || die "test.sh: --quick and --full exclude each other"
werror=${PELT_WERROR:-OFF}
shared=${PELT_SHARED:-$root/../shared}

# shellcheck disable=SC2086
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
        -DPELT_WERROR="$werror" -DPELT_DISABLED_ISAS="${PELT_DISABLED_ISAS-}"
}

# Suites that every configuration runs.
suites() {
    name=$1
    pelt=$work/$name/cli/pelt
    for program in "$work/$name"/tests/test_*; do
        [ -x "$program" ] && [ -f "$program" ] || continue
        case "$name/$program" in
        asan-gcc/*/test_vk_*) continue ;; # a software device takes minutes; asan-clang runs them
        # Hundreds of contexts, most of the time in the driver's compiler; their allocations are counted in any build.
        asan-clang/*/test_vk_failure | asan-clang/*/test_vk_context) continue ;;
        esac
        tap_run "$name/$(basename "$program")" env CMOCKA_MESSAGE_OUTPUT=TAP "$program"
    done
    case "$name" in
    asan-gcc | release-clang) ;; # the command is tried with two builds and the thread sanitizer
    *) tap_run "$name/cli" "$python" "$root/tests/cli/run.py" "$pelt" "$work/$name/cli-scratch" ;;
    esac
    case "$name" in
    release-gcc)
        rm -rf "$work/cook-reference" "$work/skin-reference"
        "$root/tests/sweep/cook.sh" "$pelt" "$root/tests/data" "$work/cooked" || tap_broken "cook seeds"
        tap_run "$name/sweep" "$root/tests/sweep/run.sh" "$work/$name" 1 "$root/tests/data" "$shared/cases" "$work/cooked"
        ;;
    asan-clang)
        tap_run "$name/sweep" "$root/tests/sweep/run.sh" "$work/$name" 97 "$root/tests/data" "$shared/cases" "$work/cooked"
        ;;
    esac
    tap_run "$name/determinism" "$root/tests/determinism/run.sh" "$work/$name" "$work/cook-reference" "$root/tests/data" \
        "$shared/models"
    tap_run "$name/kernels" "$root/tests/determinism/skin.sh" "$work/skin-reference" "$work/$name/tests/skin_hashes"
    if [ -d "$shared/cases" ]; then
        tap_run "$name/cases" "$root/tests/checker.sh" cases "$python" "$shared/tools/check_cases.py" "$pelt" "$shared/cases"
    fi
    if [ -d "$shared/models" ]; then
        tap_run "$name/models" "$root/tests/checker.sh" models "$python" "$shared/tools/check_models.py" "$pelt" "$shared/models"
    fi
}

# AArch64 by the cross compiler: unit tests under emulation. Left out are those of Vulkan, which ask for a device of that
# architecture, and test_pool, whose limit on threads the emulator does not know.
neon() {
    say "building neon"
    if ! "$root/tests/arm64/packages.sh" "$work/arm64" >"$work/logs/arm64-packages.log" 2>&1; then
        tail -n 20 "$work/logs/arm64-packages.log" >&2
        tap_broken "AArch64 libraries"
    elif build "$work/neon" -DCMAKE_TOOLCHAIN_FILE="$root/tests/arm64/toolchain.cmake" \
        -DPELT_ARM64_ROOT="$work/arm64/root" -DPELT_TOOLS=OFF -DPELT_BENCH=OFF -DPELT_EXAMPLES=OFF \
        -DCMAKE_BUILD_TYPE=Release -DPELT_WERROR="$werror"; then
        for program in "$work"/neon/tests/test_*; do
            [ -x "$program" ] && [ -f "$program" ] || continue
            case "$program" in
            */test_vk_* | */test_pool) continue ;;
            esac
            tap_run "neon/$(basename "$program")" env CMOCKA_MESSAGE_OUTPUT=TAP "$root/tests/arm64/run.sh" \
                "$work/arm64/root" "$program"
        done
        tap_run neon/kernels "$root/tests/determinism/skin.sh" "$work/skin-reference" "$root/tests/arm64/run.sh" \
            "$work/arm64/root" "$work/neon/tests/skin_hashes"
    else
        tap_broken "build neon"
    fi
}

# The libraries for Windows, static with unit tests and as DLLs, by a cross compiler; Wine runs them with --full only.
windows() {
    say "building windows"
    for linkage in static shared; do
        shared_libraries=$([ $linkage = shared ] && echo ON || echo OFF)
        unit_tests=$([ $linkage = static ] && echo ON || echo OFF)
        build "$work/windows-$linkage" --toolchain "$root/cmake/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
            -DBUILD_SHARED_LIBS="$shared_libraries" -DPELT_TESTS="$unit_tests" -DPELT_WERROR="$werror" ||
            { tap_broken "build windows-$linkage"; return; }
    done
    if [ -n "$full" ]; then
        for program in "$work"/windows-static/tests/test_*.exe; do
            tap_run "windows/$(basename "$program" .exe)" "$root/tests/windows/wine.sh" "$work/windows/wine" "$program"
        done
    fi
    tap_run windows/libraries "$root/tests/windows/run.sh" "$root" "$work/windows-static" "$work/windows-shared" \
        "$work/windows" ${full:+"$work/cook-reference"}
    [ -z "$full" ] || "$root/tests/windows/wine.sh" "$work/windows/wine" --end
}

if configuration release-gcc gcc g++ "" Release; then
    suites release-gcc
    tap_run meta "$python" "$root/tests/meta/run.py" "$root" "$work/release-gcc"
    tap_run tap "$root/tests/tap/run.sh" "$root" "$work/tap"
    tap_run spirv "$root/tests/spirv/run.sh" "$root" "$work/release-gcc" "$work/spirv"
    tap_run vulkan-docs "$python" "$root/tests/vulkan_docs/run.py" "$root" "$work/release-gcc" "$work/vulkan-docs"
    tap_run examples "$python" "$root/tests/examples/run.py" "$root" "$work/release-gcc" "$work/examples"
    tap_run consumer "$root/tests/consumer/run.sh" "$root" "$work/release-gcc" "$work/consumer"
    tap_run validator "$root/tests/validator/run.sh" "$work/release-gcc/cli/pelt" "$work/validator" "$shared"
    if [ -d "$shared/models" ]; then
        tap_run accuracy "$python" "$root/scripts/accuracy_table.py" "$work/release-gcc/cli/pelt" "$shared/models" --check
    fi
    tap_run verify "$root/tests/verify/run.sh" "$python" "$work/release-gcc/cli/pelt" "$work/verify" "$root/tests/data" "$shared"
    tap_later growth "$python" "$root/tests/growth/run.py" "$work/release-gcc"
    tap_later instructions "$python" "$root/tests/instructions/run.py" "$work/release-gcc" "$root/bench/results/instructions.json"
    # Subgroups of 4 and 16 instead of lavapipe's usual 8.
    for width in 128 512; do
        for suite in shaders shader_skin shader_bounds schedule; do
            tap_run "release-gcc/width-$width/test_vk_$suite" env LP_NATIVE_VECTOR_WIDTH=$width CMOCKA_MESSAGE_OUTPUT=TAP \
                "$work/release-gcc/tests/test_vk_$suite"
        done
    done
else
    tap_broken "build release-gcc"
fi
if [ -z "$quick" ]; then
    # name, compilers, sanitizers
    while read -r name cc cxx sanitizers type; do
        [ "$sanitizers" != none ] || sanitizers=
        if configuration "$name" "$cc" "$cxx" "$sanitizers" "$type"; then
            suites "$name"
        else
            tap_broken "build $name"
        fi
    done <<END
release-clang clang clang++ none Release
asan-gcc gcc g++ address,undefined RelWithDebInfo
asan-clang clang clang++ address,undefined RelWithDebInfo
END
    # Without optimisation: the bytes of cooked files and of kernels once more.
    for compilers in gcc:g++ clang:clang++; do
        name=plain-${compilers%:*}
        if configuration "$name" "${compilers%:*}" "${compilers#*:}" "" Debug "cook_hashes skin_hashes"; then
            tap_run "$name/determinism" "$root/tests/determinism/run.sh" "$work/$name" "$work/cook-reference"
            tap_run "$name/kernels" "$root/tests/determinism/skin.sh" "$work/skin-reference" "$work/$name/tests/skin_hashes"
        else
            tap_broken "build $name"
        fi
    done
    shared_suites="pool palette skeleton sharing gltf_sharing skin_job skin_mesh cook_file"
    # shellcheck disable=SC2086
    if configuration tsan gcc g++ thread RelWithDebInfo "pelt_command $(printf 'test_%s ' $shared_suites)"; then
        for suite in $shared_suites; do
            tap_run "tsan/test_$suite" env CMOCKA_MESSAGE_OUTPUT=TAP "$work/tsan/tests/test_$suite"
        done
        tap_run tsan/cli "$python" "$root/tests/cli/run.py" "$work/tsan/cli/pelt" "$work/tsan/cli-scratch" -k thread
    else
        tap_broken "build tsan"
    fi
    if [ -n "$emulated" ]; then
        neon
    fi
    if build "$work/fuzz" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPELT_SANITIZE=address,undefined \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPELT_FUZZ=ON -DPELT_TESTS=OFF -DPELT_BENCH=OFF -DPELT_TOOLS=OFF; then
        tap_later fuzz "$root/tests/fuzz/run.sh" "$work/fuzz/tests/fuzz_gltf" "$work/fuzz/corpus" 60 "$root/tests/data" \
            "$shared/cases"
        tap_later fuzz-pelt "$root/tests/fuzz/run.sh" "$work/fuzz/tests/fuzz_pelt" "$work/fuzz/corpus-pelt" 60 "$work/cooked"
    else
        tap_broken "build fuzz"
    fi
    windows
fi
tap_finish
