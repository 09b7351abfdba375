/* Polynomials with numbers as coefficients, in up to NS_ATOMS variables, sparse and sorted.
 *
 * Coefficients are doubles: those of mechanics are small fractions.  A sum that is 1e-12 of its
 * terms has cancelled. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "expr/normal/normal_internal.h"

/* Equal monomials by their coefficients: the sum does not depend on how the library sorts. */
static int compare(const void *a, const void *b)
{
    const ns_term *p = a, *q = b;
    const int order = memcmp(q->e, p->e, NS_ATOMS);
    return order ? order : (p->c > q->c) - (p->c < q->c);
}

static ns_poly failure(ns_polys *w)
{
    w->failed = true;
    return (ns_poly){0};
}

/* Sorts, adds up equal monomials, drops what cancelled. */
static ns_poly collect(ns_term *at, uint32_t n)
{
    qsort(at, n, sizeof *at, compare);
    uint32_t out = 0;
    for (uint32_t i = 0; i < n;) {
        double sum = 0, size = 0;
        uint32_t j = i;
        for (; j < n && memcmp(at[j].e, at[i].e, NS_ATOMS) == 0; j++) {
            sum += at[j].c;
            size += fabs(at[j].c);
        }
        ns_term kept = at[i];
        kept.c = sum;
        if (fabs(sum) > 1e-12 * size)
            at[out++] = kept;
        i = j;
    }
    return (ns_poly){at, out};
}

ns_poly ns_poly_number(ns_polys *w, double c)
{
    ns_term *t = NS_NEW(w->arena, ns_term);
    t->c = c;
    return (ns_poly){t, c != 0};
}

ns_poly ns_poly_atom(ns_polys *w, uint32_t atom)
{
    NS_CHECK(atom < NS_ATOMS);
    ns_term *t = NS_NEW(w->arena, ns_term);
    t->c = 1;
    t->e[atom] = 1;
    return (ns_poly){t, 1};
}

ns_poly ns_poly_add(ns_polys *w, ns_poly a, ns_poly b, double factor)
{
    NS_CHECK(a.n <= NS_TERMS_MOST && b.n <= NS_TERMS_MOST);
    if (w->failed || (size_t)a.n + b.n > NS_TERMS_MOST)
        return failure(w);
    ns_term *at = NS_NEW_ARRAY(w->arena, ns_term, a.n + b.n + 1);
    for (uint32_t i = 0; i < a.n; i++)
        at[i] = a.at[i];
    for (uint32_t i = 0; i < b.n; i++) {
        at[a.n + i] = b.at[i];
        at[a.n + i].c *= factor;
    }
    return collect(at, a.n + b.n);
}

ns_poly ns_poly_scale(ns_polys *w, ns_poly a, double factor)
{
    ns_term *at = NS_NEW_ARRAY(w->arena, ns_term, a.n + 1);
    for (uint32_t i = 0; i < a.n; i++) {
        at[i] = a.at[i];
        at[i].c *= factor;
    }
    return (ns_poly){at, factor == 0 ? 0 : a.n};
}

static ns_poly product(ns_polys *w, ns_poly a, ns_poly b)
{
    size_t n = (size_t)a.n * b.n;
    if (w->failed || n > 40 * (size_t)NS_TERMS_MOST)
        return failure(w);
    ns_term *at = NS_NEW_ARRAY(w->arena, ns_term, n + 1);
    for (uint32_t i = 0, k = 0; i < a.n; i++)
        for (uint32_t j = 0; j < b.n; j++, k++) {
            at[k].c = a.at[i].c * b.at[j].c;
            for (int v = 0; v < NS_ATOMS; v++) {
                int e = a.at[i].e[v] + b.at[j].e[v];
                if (e > 100)
                    return failure(w);
                at[k].e[v] = (uint8_t)e;
            }
        }
    ns_poly out = collect(at, (uint32_t)n);
    return out.n > NS_TERMS_MOST ? failure(w) : out;
}

/* atom^2 -> square, for one atom */
static ns_poly apply(ns_polys *w, ns_poly a, uint32_t atom)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < a.n; i++)
        most = a.at[i].e[atom] > most ? a.at[i].e[atom] : most;
    if (most < 2)
        return a;
    ns_poly sum = {0}, power = ns_poly_number(w, 1);
    for (uint32_t half = 0; 2 * half <= most && !w->failed; half++) {
        ns_term *at = NS_NEW_ARRAY(w->arena, ns_term, a.n + 1);
        uint32_t n = 0;
        for (uint32_t i = 0; i < a.n; i++)
            if (a.at[i].e[atom] / 2 == half) {
                at[n] = a.at[i];
                at[n++].e[atom] %= 2;
            }
        sum = ns_poly_add(w, sum, product(w, collect(at, n), power), 1);
        power = product(w, power, w->rule[atom].square);
    }
    return sum;
}

ns_poly ns_poly_mul(ns_polys *w, ns_poly a, ns_poly b)
{
    NS_CHECK(a.n <= NS_TERMS_MOST && b.n <= NS_TERMS_MOST);
    ns_poly out = product(w, a, b);
    for (uint32_t i = 0; i < NS_ATOMS && !w->failed; i++)
        if (w->rule[i].has)
            out = apply(w, out, i);
    return out;
}

bool ns_poly_is_number(ns_poly a, double *c)
{
    NS_CHECK(c);
    static const uint8_t none[NS_ATOMS];
    if (a.n > 1 || (a.n == 1 && memcmp(a.at[0].e, none, NS_ATOMS) != 0))
        return false;
    *c = a.n ? a.at[0].c : 0;
    return true;
}

bool ns_poly_divide(ns_polys *w, ns_poly a, ns_poly b, ns_poly *q)
{
    NS_CHECK(q);
    *q = (ns_poly){0};
    if (b.n == 0)
        return false;
    for (uint32_t step = 0; a.n > 0; step++) {
        ns_term *t = NS_NEW(w->arena, ns_term);
        t->c = a.at[0].c / b.at[0].c;
        for (int v = 0; v < NS_ATOMS; v++) {
            if (a.at[0].e[v] < b.at[0].e[v])
                return false;
            t->e[v] = (uint8_t)(a.at[0].e[v] - b.at[0].e[v]);
        }
        ns_poly single = {t, 1};
        a = ns_poly_add(w, a, product(w, single, b), -1);
        *q = ns_poly_add(w, *q, single, 1);
        if (w->failed || step > NS_TERMS_MOST)
            return false;
    }
    return true;
}

void ns_poly_content(ns_poly a, uint8_t e[NS_ATOMS])
{
    memset(e, 0, NS_ATOMS);
    for (uint32_t i = 0; i < a.n; i++)
        for (int v = 0; v < NS_ATOMS; v++)
            if (i == 0 || a.at[i].e[v] < e[v])
                e[v] = a.at[i].e[v];
}

ns_poly ns_poly_strip(ns_polys *w, ns_poly a, const uint8_t e[NS_ATOMS])
{
    ns_term *at = NS_NEW_ARRAY(w->arena, ns_term, a.n + 1);
    for (uint32_t i = 0; i < a.n; i++) {
        at[i] = a.at[i];
        for (int v = 0; v < NS_ATOMS; v++)
            at[i].e[v] = (uint8_t)(at[i].e[v] - e[v]);
    }
    return (ns_poly){at, a.n};
}

ns_poly ns_poly_determinant(ns_polys *w, uint32_t n, const ns_poly *m)
{
    NS_CHECK(m || !n);
    uint32_t all = (1u << n) - 1;
    ns_poly *minor = NS_NEW_ARRAY(w->arena, ns_poly, (size_t)all + 1);
    minor[all] = ns_poly_number(w, 1);
    for (uint32_t used = all; used-- > 0 && !w->failed;) { /* minors of the last rows first */
        uint32_t row = (uint32_t)__builtin_popcount(used);
        double sign = 1;
        for (uint32_t j = 0; j < n; j++) {
            if (used >> j & 1)
                continue;
            ns_poly rest = minor[used | 1u << j];
            if (m[row * n + j].n && rest.n)
                minor[used] = ns_poly_add(w, minor[used], ns_poly_mul(w, m[row * n + j], rest),
                                          sign);
            sign = -sign;
        }
    }
    return minor[0];
}
