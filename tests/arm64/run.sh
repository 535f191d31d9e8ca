#!/bin/sh
# usage: run.sh ROOT PROGRAM ARGUMENT...
# Runs an AArch64 program under emulation, with the libraries that packages.sh unpacked into ROOT.
set -eu
root=$1
shift
exec qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$root/usr/lib/aarch64-linux-gnu" "$@"
