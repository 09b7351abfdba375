#!/usr/bin/env bash
# Install to a temporary prefix and use it as a stranger would: the program, pkg-config, CMake
# (shared and static), C++. The shared library must show only ns_ symbols.
#   scripts/check-install.sh [BUILD-FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() {
    echo "check-install: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >/dev/null
lib=$(find "$prefix" -name libnoslip.so)
[ -n "$lib" ] || fail "no shared library"
libdir=$(dirname "$lib")

# Moved after installation: nothing inside may remember where it was.
mv "$prefix" "$work/moved"
libdir=${libdir/"$prefix"/"$work/moved"}
prefix=$work/moved
if grep -rIl -e "$work" -e "$PWD" "$prefix" >"$work/leaks"; then
    fail "absolute paths in $(cat "$work/leaks")"
fi

foreign=$(nm -D --defined-only "$libdir/libnoslip.so" |
    awk '$2 ~ /[A-Za-z]/ && $3 !~ /^ns_/ { print $3 }')
[ -z "$foreign" ] || fail "symbols without the prefix ns_:" $foreign
nm -D --defined-only "$libdir/libnoslip.so" | grep ' T ns_version$' >/dev/null ||
    fail "ns_version is not exported"

cat >"$work/use.c" <<'C'
#include <noslip/noslip.h>
#include <stdio.h>

int main(void)
{
    return puts(ns_version()) < 0;
}
C
cat >"$work/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.25)
project(use C)
find_package(noslip REQUIRED COMPONENTS static)
add_executable(use_shared use.c)
target_link_libraries(use_shared noslip::noslip)
add_executable(use_static use.c)
target_link_libraries(use_static noslip::static)
C

export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
version=$(pkg-config --modversion noslip)
expect() {
    local said
    said=$("$@") || fail "$1 does not run"
    [ "$said" = "$version" ] || fail "$1 says '$said', not $version"
}

gcc -std=c11 -Wall -Wextra -Wpedantic -Werror "$work/use.c" \
    $(pkg-config --cflags --libs noslip) -o "$work/use"
expect "$work/use"
gcc "$work/use.c" $(pkg-config --cflags noslip) -l:libnoslip.a \
    $(pkg-config --static --libs noslip) -o "$work/use-a"
LD_LIBRARY_PATH= expect "$work/use-a"
cmake -G Ninja -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" ||
    { cat "$work/log"; fail "find_package"; }
cmake --build "$work/build" >"$work/log" ||
    { cat "$work/log"; fail "build through find_package"; }
expect "$work/build/use_shared"
expect "$work/build/use_static"
for header in "$prefix"/include/noslip/*.h; do
    g++ -std=c++17 -Wall -Wextra -fsyntax-only -x c++ -I"$prefix/include" "$header" \
        -Wno-pragma-once-outside-header ||
        fail "$header in C++"
done

if [ -x "$build/noslip" ]; then
    LD_LIBRARY_PATH= "$prefix/bin/noslip" help >/dev/null ||
        fail "the installed program does not run"
    want=$(find models -name '*.mech' | wc -l)
    have=$(find "$prefix/share/noslip/models" -name '*.mech' | wc -l)
    [ "$want" -eq "$have" ] || fail "$have of $want models installed"
fi
echo "check-install: ok ($version)"
