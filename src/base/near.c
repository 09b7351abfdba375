#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"

enum { MOST = 64 }; /* longer words are near to nothing */

/* Sin is sin. */
static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Number of edits (insert, delete, replace, swap) between two words. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
    /* Optimal string alignment; three rows are enough because a swap looks two rows back. */
    unsigned row[3][MOST + 1];
    for (size_t j = 0; j <= n; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = last[j - 1] + !same(a[i - 1], b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[m % 3][n];
}

void ns_near_try(ns_near *near, const char *name)
{
    NS_CHECK(near->word && name);
    const size_t m = strlen(near->word), n = strlen(name);
    /* Short words are near to everything: let them differ in one letter only. */
    const unsigned most = m < 4 ? 1 : m < 8 ? 2 : 3;
    if ((m > n ? m - n : n - m) > most || m < 2 || n < 2 || m > MOST || n > MOST)
        return;
    const unsigned edits = distance(near->word, m, name, n);
    if (edits <= most && (!near->found || edits < near->edits)) {
        near->found = name;
        near->edits = edits;
    }
}
