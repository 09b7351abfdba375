#!/usr/bin/env bash
# Memory that runs out: every allocation of every command below fails once. The outcome is the
# right answer, or status 3 and a word about memory; never a crash, never another answer.
# Of commands with many allocations, by HDF5 and CVODE above all, some fail, others each day:
# MOST of them (all: MOST=1000000). With BUDGET=SECONDS every command takes about so long, with
# as many of its allocations as that allows, evenly spread (`make torture`).
set -u
. "$(dirname "$0")/cli_lib.sh"
cd "$W" || exit 1
if ! command -v cc >/dev/null || ldd "$NOSLIP" 2>/dev/null | grep -Eq 'libasan|libtsan' ||
    nm "$NOSLIP" 2>/dev/null | grep -q __asan_init; then
    echo "skipped: no compiler, or a build with allocators of its own"
    exit 0
fi

# The allocation number FAIL_NTH fails; how many there were goes to the file FAIL_COUNT.
cat >shim.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
static atomic_long first, *count = &first; /* shared with processes that noslip starts */
__attribute__((constructor)) static void begin(void)
{
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    count = shared;
    *count = first;
}
static int fails(void)
{
    const char *nth = getenv("FAIL_NTH");
    if (++*count != (nth ? atol(nth) : 0))
        return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t a, size_t b) { return fails() ? NULL : __libc_calloc(a, b); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return fails() ? NULL : __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n)
{
    return fails() || !(*p = __libc_memalign(a, n)) ? ENOMEM : 0;
}
__attribute__((destructor)) static void end(void)
{
    FILE *out = getenv("FAIL_COUNT") ? fopen(getenv("FAIL_COUNT"), "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", (long)*count);
        fclose(out);
    }
}
C
cc -O1 -shared -fPIC shim.c -o shim.so || exit 1
export XDG_CACHE_HOME=$W/cache

# without times, which differ
steady() {
    sed -E 's/"seconds": [0-9.e+-]+//; s/, [0-9.e+-]+ s$//; s/in [0-9.e+-]+ s, .*second$//' "$1"
}

# every NAME arguments...: all allocations in turn; some NAME ...: MOST of them
some() {
    local most=${MOST:-40}
    every "$@"
}
every() {
    local name=$1 n total wrong=0 got right step tried=0
    shift
    rm -rf o.*
    local begin=$(date +%s%N) took most=${most:-}
    FAIL_COUNT=$W/count LD_PRELOAD=$W/shim.so "$NOSLIP" "$@" >right 2>err </dev/null
    right=$?
    took=$((($(date +%s%N) - begin) / 1000000 + 10)) # ms, with what the shell does besides
    total=$(cat count)
    [ -z "${BUDGET:-}" ] || most=$((BUDGET * 1000 / took + 1))
    step=$((total / ${most:-total} + 1))
    [ -n "${most:-}" ] || step=1
    [ "${most:-0}" -lt "$total" ] || step=1
    for n in $(seq $((day % step + 1)) $step "$total"); do
        tried=$((tried + 1))
        rm -rf o.*
        FAIL_NTH=$n LD_PRELOAD=$W/shim.so timeout 60 "$NOSLIP" "$@" >out 2>err </dev/null
        got=$?
        if [ $got = 3 ] && grep -q memory err; then
            continue
        elif [ $got != $right ] || ! cmp -s <(steady right) <(steady out); then
            wrong=$((wrong + 1))
            echo "     | allocation $n: status $got: $(tail -1 err)"
        fi
    done
    [ $wrong = 0 ] && pass "$name: $tried of $total allocations" ||
        fail "$name: $wrong of $tried of $total"
}
day=$(($(date +%s) / 86400))

every "check" check oscillator.mech
every "run" run oscillator.mech
every "run --json" run oscillator.mech --json
every "run to CSV" run oscillator.mech --every 1 --out o.csv
every "run --checkpoint" run oscillator.mech --checkpoint o.checkpoint
every "run --digits" run oscillator.mech --until 1 --digits
every "run in quad" run oscillator.mech --until 0.1 --precision quad
every "equations" equations oscillator.mech
every "emit c" emit c oscillator.mech
every "equilibria" equilibria oscillator.mech
every "section" section oscillator.mech --on x
every "invariants" invariants oscillator.mech
some "run to HDF5" run oscillator.mech --every 1 --out o.h5
some "sweep" sweep oscillator.mech --over k=1:2:3 --get x --out o.h5 --threads 1
some "lyapunov to HDF5" lyapunov oscillator.mech --until 2 --out o.h5
every "bdf" run oscillator.mech --until 0.1 --method bdf
every "adams" run oscillator.mech --until 0.1 --method adams
some "page" run oscillator.mech --report o.html
some "picture" run oscillator.mech --out o.svg
finish
