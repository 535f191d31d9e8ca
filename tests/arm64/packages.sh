#!/bin/sh
# usage: packages.sh FOLDER
# Unpacks Debian's AArch64 packages of the libraries that Pelt and its unit tests link into FOLDER/root. Neither the
# installed packages nor the architectures that apt knows on this machine change, and no right of root is needed.
set -eu
folder=$1
packages="libcmocka-dev libcmocka0 libjansson-dev libjansson4 libmeshoptimizer-dev libmeshoptimizer2d libvulkan-dev \
    libvulkan1 libxxhash-dev"

[ -f "$folder/root/complete" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/packages" "$folder/root"
: >"$folder/status"
user=$(id -un)
arm64() {
    apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::lists="$folder/lists" \
        -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User="$user" "$@"
}
arm64 update
cd "$folder/packages"
# shellcheck disable=SC2086
arm64 download $packages
for package in *.deb; do
    dpkg-deb -x "$package" "$folder/root"
done
: >"$folder/root/complete"
