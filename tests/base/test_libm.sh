#!/usr/bin/env bash
# No number comes from a function of the C library that depends on the processor: object files
# of the project refer to none of libm's but those below, whose results are exact or correctly
# rounded, and to those for quadruple precision, which are software and have no variants.
set -u
: "${NOSLIP:?path of the program}"
build=$(dirname "$NOSLIP")

exact='sqrt sqrtf fabs floor ceil trunc rint nearbyint round lround llround lrint llrint
    roundeven
fma fmod remainder frexp ldexp scalbn scalbln logb ilogb modf copysign nextafter'

libm=$(ldd "$NOSLIP" | awk '/libm\.so/ { print $3 }')
if [ ! -e "$libm" ] || [ ! -e "$build/libnoslip.a" ] || ! command -v nm >/dev/null; then
    echo "no libm, libnoslip.a or nm: nothing to check"
    exit 0
fi

# variants that the dynamic linker chooses, none for quadruple precision
if command -v readelf >/dev/null &&
        readelf -Ws --dyn-syms "$libm" | awk '$4 == "IFUNC" { print $8 }' | grep f128; then
    echo "libm has variants of these functions"
    exit 1
fi

functions=$(nm -D --defined-only "$libm" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u)
used=$(nm -uA "$build/libnoslip.a" "$build"/CMakeFiles/noslip_program.dir/src/cli/*.o |
    awk '{ sub(/@.*/, "", $NF);
          n = split($1, part, /[:\/]/); print $NF, part[n] ? part[n] : part[n - 1] }')
[ "$(wc -l <<<"$used")" -gt 1000 ] || { echo "nm finds no symbols"; exit 1; }
wrong=$(awk -v exact="$exact" -v functions="$functions" '
    BEGIN {
        n = split(functions, f, /[ \n]+/); for (i = 1; i <= n; i++) libm[f[i]] = 1
        n = split(exact, f, /[ \n]+/); for (i = 1; i <= n; i++) delete libm[f[i]]
    }
    $1 in libm && $1 !~ /f128$/ { print "  " $1 " in " $2 }' <<<"$used")
if [ -n "$wrong" ]; then
    echo "functions of the C library in results (base/math/vecmath.h has others):"
    echo "$wrong"
    exit 1
fi
