#!/bin/sh
# Runs a Windows program under Wine without a display. usage: wine.sh PREFIX PROGRAM [ARGUMENT...]
#   PREFIX: Wine's folder, made by the first call.   wine.sh PREFIX --end: ends what runs there and removes it.
set -eu
PATH=$PATH:/usr/lib/wine # Debian's wine64 puts nothing on the path
export WINEPREFIX="$1" WINEDEBUG=-all
# No debugger: under it a program that crashed may end with status 0. No installers of .NET and HTML either.
export WINEDLLOVERRIDES='winedbg.exe,mscoree,mshtml='
shift
if [ "$1" = --end ]; then
    [ -d "$WINEPREFIX" ] || exit 0
    server=$(command -v wineserver64 || command -v wineserver)
    "$server" -k || true
    "$server" -w
    rm -rf "$WINEPREFIX"
    exit 0
fi
mkdir -p "$(dirname "$WINEPREFIX")"
exec "$(command -v wine64 || command -v wine)" "$@"
