#!/bin/sh
# Builds every configuration and runs every test suite; the last line is "N passed, N failed, N skipped".
# usage: ./test.sh [--quick]      --quick: one release build, no sanitizers, no fuzzing
# Environment: PELT_WERROR=ON makes warnings errors; PELT_SHARED=FOLDER names the folder of cases and models
# (default: ../shared, used where it exists).
set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$root/scripts/common.sh"
. "$root/scripts/tap.sh"

quick=
for argument in "$@"; do
    case "$argument" in
    --quick) quick=1 ;;
    -h | --help) sed -n '2,5s/^# //p' "$0"; exit 0 ;;
    *) die "test.sh: unknown argument $argument" ;;
    esac
done
werror=${PELT_WERROR:-OFF}
shared=${PELT_SHARED:-$root/../shared}

# shellcheck disable=SC2086
need_packages $build_packages libcmocka-dev python3 python3-numpy valgrind binutils parallel \
    mesa-vulkan-drivers vulkan-validationlayers spirv-tools
[ -n "$quick" ] || need_packages clang libclang-rt-14-dev clang-format

work=$root/build/test
mkdir -p "$work/logs"
tap_start "$work/logs"
python=/usr/bin/python3 # Debian's, which has NumPy
export PELT_TEST_REQUIRE_VALIDATION=1 # its package is installed: a layer that is not found is a failure

# configuration NAME C-COMPILER CXX-COMPILER SANITIZERS BUILD-TYPE
configuration() {
    say "building $1"
    build "$work/$1" -DCMAKE_C_COMPILER="$2" -DCMAKE_CXX_COMPILER="$3" -DPELT_SANITIZE="$4" -DCMAKE_BUILD_TYPE="$5" \
        -DPELT_WERROR="$werror"
}

# Suites that every configuration runs.
suites() {
    name=$1
    pelt=$work/$name/cli/pelt
    for program in "$work/$name"/tests/test_*; do
        [ -x "$program" ] && [ -f "$program" ] || continue
        tap_run "$name/$(basename "$program")" env CMOCKA_MESSAGE_OUTPUT=TAP "$program"
    done
    tap_run "$name/cli" "$python" "$root/tests/cli/run.py" "$pelt" "$work/$name/cli-scratch"
    case "$name" in
    release-gcc)
        rm -rf "$work/cook-reference"
        "$root/tests/sweep/cook.sh" "$pelt" "$root/tests/data" "$work/cooked" || tap_broken "cook seeds"
        tap_run "$name/sweep" "$root/tests/sweep/run.sh" "$work/$name" 1 "$root/tests/data" "$shared/cases" "$work/cooked"
        ;;
    asan-clang)
        tap_run "$name/sweep" "$root/tests/sweep/run.sh" "$work/$name" 97 "$root/tests/data" "$shared/cases" "$work/cooked"
        ;;
    esac
    tap_run "$name/determinism" "$root/tests/determinism/run.sh" "$work/$name" "$work/cook-reference" "$root/tests/data" \
        "$shared/models"
    if [ -d "$shared/cases" ]; then
        tap_run "$name/cases" "$root/tests/checker.sh" cases "$python" "$shared/tools/check_cases.py" "$pelt" "$shared/cases"
    fi
    if [ -d "$shared/models" ]; then
        tap_run "$name/models" "$root/tests/checker.sh" models "$python" "$shared/tools/check_models.py" "$pelt" "$shared/models"
    fi
}

if configuration release-gcc gcc g++ "" Release; then
    suites release-gcc
    tap_run meta "$python" "$root/tests/meta/run.py" "$root" "$work/release-gcc"
    tap_run spirv "$root/tests/spirv/run.sh" "$root" "$work/release-gcc" "$work/spirv"
    tap_run vulkan-docs "$python" "$root/tests/vulkan_docs/run.py" "$root" "$work/release-gcc" "$work/vulkan-docs"
    tap_run examples "$python" "$root/tests/examples/run.py" "$root" "$work/release-gcc" "$work/examples"
    tap_run consumer "$root/tests/consumer/run.sh" "$root" "$work/release-gcc" "$work/consumer"
    tap_run validator "$root/tests/validator/run.sh" "$work/release-gcc/cli/pelt" "$work/validator" "$shared"
    if [ -d "$shared/models" ]; then
        tap_run accuracy "$python" "$root/scripts/accuracy_table.py" "$work/release-gcc/cli/pelt" "$shared/models" --check
    fi
    tap_run verify "$root/tests/verify/run.sh" "$python" "$work/release-gcc/cli/pelt" "$work/verify" "$root/tests/data" "$shared"
    tap_run growth "$python" "$root/tests/growth/run.py" "$work/release-gcc"
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
    # Without optimisation: the bytes of cooked files once more.
    for compilers in gcc:g++ clang:clang++; do
        name=plain-${compilers%:*}
        if configuration "$name" "${compilers%:*}" "${compilers#*:}" "" Debug; then
            tap_run "$name/determinism" "$root/tests/determinism/run.sh" "$work/$name" "$work/cook-reference"
        else
            tap_broken "build $name"
        fi
    done
    if configuration tsan gcc g++ thread RelWithDebInfo; then
        for suite in pool palette sharing skin_job skin_mesh cook_file; do
            tap_run "tsan/test_$suite" env CMOCKA_MESSAGE_OUTPUT=TAP "$work/tsan/tests/test_$suite"
        done
        tap_run tsan/cli "$python" "$root/tests/cli/run.py" "$work/tsan/cli/pelt" "$work/tsan/cli-scratch" -k thread
    else
        tap_broken "build tsan"
    fi
    if build "$work/fuzz" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPELT_SANITIZE=address,undefined \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPELT_FUZZ=ON -DPELT_TESTS=OFF -DPELT_BENCH=OFF -DPELT_TOOLS=OFF; then
        tap_run fuzz "$root/tests/fuzz/run.sh" "$work/fuzz/tests/fuzz_gltf" "$work/fuzz/corpus" 60 "$root/tests/data" \
            "$shared/cases"
        tap_run fuzz-pelt "$root/tests/fuzz/run.sh" "$work/fuzz/tests/fuzz_pelt" "$work/fuzz/corpus-pelt" 60 "$work/cooked"
    else
        tap_broken "build fuzz"
    fi
fi
tap_finish
