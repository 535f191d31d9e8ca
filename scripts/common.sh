# Sourced by demo.sh, test.sh and scripts/*: installs what is missing and builds. Plain sh.
# shellcheck shell=sh

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# need_packages PACKAGE...: installs the Debian packages that are missing; asks no network when none is.
need_packages() {
    missing=
    for package in "$@"; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
        [ "$state" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || die "please install:$missing (this machine has no apt-get)"
    say "installing:$missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "please run as root, or install sudo, or install by hand:$missing"
        as_root="sudo -n"
        $as_root true 2>/dev/null || die "sudo asks for a password; please install by hand: apt-get install$missing"
    fi
    log=$(mktemp)
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1 </dev/null ||
        { $as_root env DEBIAN_FRONTEND=noninteractive apt-get update >"$log" 2>&1 </dev/null &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log" 2>&1 </dev/null; } ||
        { tail -n 20 "$log" >&2; die "could not install:$missing"; }
    rm -f "$log"
}

# What building the libraries and the command needs.
build_packages="gcc g++ libc6-dev cmake ninja-build pkg-config libjansson-dev libmeshoptimizer-dev libxxhash-dev libzip-dev \
    libvulkan-dev glslc"

# build FOLDER CMAKE-ARGUMENT...: configures and builds, all or the build_targets; prints the log only when something
# fails.
build_targets=
build() {
    folder=$1
    shift
    mkdir -p "$folder"
    cmake -S "$root" -B "$folder" -G Ninja "$@" >"$folder/build.log" 2>&1 &&
        cmake --build "$folder" ${build_targets:+--target $build_targets} >>"$folder/build.log" 2>&1 ||
        { tail -n 60 "$folder/build.log" >&2; build_targets=; return 1; }
    build_targets=
}
