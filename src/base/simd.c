#include "base/simd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { LEVELS = NS_SIMD_AVX512 + 1 };
static const char *const names[LEVELS] = {"plain", "avx2", "avx512"};

/* The highest level that the processor and the system allow. */
static ns_simd highest(void)
{
#if NS_X86
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return NS_SIMD_PLAIN;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return NS_SIMD_AVX2;
    return NS_SIMD_AVX512;
#else
    return NS_SIMD_PLAIN;
#endif
}

/* LEVELS: there is none of this name. */
static unsigned find(const char *word)
{
    unsigned level = 0;
    while (level < LEVELS && strcmp(word, names[level]) != 0)
        level++;
    return level;
}

ns_simd ns_simd_level(void)
{
    const ns_simd most = highest();
    const char *word = getenv(NS_SIMD_VARIABLE);
    const unsigned level = word ? find(word) : LEVELS;
    return level < (unsigned)most ? (ns_simd)level : most;
}

const char *ns_simd_name(ns_simd level)
{
    NS_CHECK((unsigned)level < LEVELS);
    return names[level];
}

bool ns_simd_check(const char *word, char *message, size_t room)
{
    if (!word || !*word)
        return true;
    const unsigned level = find(word);
    const ns_simd most = highest();
    if (level == LEVELS)
        snprintf(message, room, "expected plain, avx2 or avx512, not `%.40s`", word);
    else if (level > (unsigned)most)
        snprintf(message, room, "this processor has no %s; its highest level is %s", word,
                 names[most]);
    else
        return true;
    return false;
}

bool ns_simd_check_variable(char *message, size_t room)
{
    static const char head[] = NS_SIMD_VARIABLE ": ";
    snprintf(message, room, "%s", head);
    const size_t length = sizeof head - 1 < room ? sizeof head - 1 : room;
    return ns_simd_check(getenv(NS_SIMD_VARIABLE), message + length, room - length);
}
