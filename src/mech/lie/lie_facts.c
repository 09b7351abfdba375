/* What is known of an algebra from its brackets: trace of ad, Killing form, Casimir functions.
 *
 * A function F(p) is a Casimir if it is constant along p' = ad*_xi p for every xi.  For a
 * linear one, F = c^a p_a, that is c^a C_ab^m = 0: the centre.  For a quadratic one, F = Q^ab
 * p_a p_b with Q symmetric,
 *
 *     Q^ab C_ad^c + Q^ac C_ad^b = 0          for all d and b <= c,
 *
 * a linear system for Q.  Both are solved by elimination; products of linear ones are left
 * out. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/lie/lie.h"

enum { MOST_QUADRATIC = 16 }; /* dimension up to which quadratic Casimirs are looked for */

void ns_lie_trace(uint32_t n, const double *C, double *T)
{
    for (uint32_t a = 0; a < n; a++) {
        T[a] = 0;
        for (uint32_t b = 0; b < n; b++)
            T[a] += C[((size_t)a * n + b) * n + b];
    }
}

void ns_lie_killing(uint32_t n, const double *C, double *kappa)
{
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            double sum = 0;
            for (uint32_t c = 0; c < n; c++)
                for (uint32_t m = 0; m < n; m++)
                    sum += C[((size_t)a * n + c) * n + m] * C[((size_t)b * n + m) * n + c];
            kappa[a * n + b] = sum;
        }
}

/* Gauss-Jordan with the largest pivot of each column; pivot[i] is the column of row i. */
static uint32_t reduce(uint32_t rows, uint32_t columns, double *M, uint32_t *pivot)
{
    double size = 0;
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        size = ns_max(size, fabs(M[i]));
    uint32_t rank = 0;
    for (uint32_t c = 0; c < columns && rank < rows; c++) {
        uint32_t best = rank;
        for (uint32_t r = rank; r < rows; r++)
            if (fabs(M[(size_t)r * columns + c]) > fabs(M[(size_t)best * columns + c]))
                best = r;
        if (!(fabs(M[(size_t)best * columns + c]) > 1e-9 * size))
            continue;
        for (uint32_t k = 0; k < columns && best != rank; k++) {
            double swap = M[(size_t)best * columns + k];
            M[(size_t)best * columns + k] = M[(size_t)rank * columns + k];
            M[(size_t)rank * columns + k] = swap;
        }
        double inverse = 1 / M[(size_t)rank * columns + c];
        for (uint32_t k = 0; k < columns; k++)
            M[(size_t)rank * columns + k] *= inverse;
        for (uint32_t r = 0; r < rows; r++) {
            double factor = M[(size_t)r * columns + c];
            if (r == rank || factor == 0)
                continue;
            for (uint32_t k = 0; k < columns; k++)
                M[(size_t)r * columns + k] -= factor * M[(size_t)rank * columns + k];
        }
        pivot[rank++] = c;
    }
    return rank;
}

/* Coefficients come out as fractions of small numbers: take off the rounding errors. */
static double tidy(double x)
{
    double near = round(x * 60) / 60;
    return fabs(x - near) < 1e-10 ? near : x;
}

/* Basis of {x: M x = 0} for M[rows][columns], reduced so that each vector has a component 1
 * where the others have 0.  Returns how many; *basis is [that][columns].  M is destroyed. */
static uint32_t null_space(ns_arena *arena, uint32_t rows, uint32_t columns, double *M,
                           double **basis)
{
    uint32_t *pivot = NS_NEW_ARRAY(arena, uint32_t, columns + 1);
    uint32_t rank = reduce(rows, columns, M, pivot), found = 0;
    *basis = NS_NEW_ARRAY(arena, double, (size_t)(columns - rank) * columns + 1);
    for (uint32_t c = 0, next = 0; c < columns; c++) {
        if (next < rank && pivot[next] == c) {
            next++;
            continue;
        }
        double *x = *basis + (size_t)found++ * columns;
        x[c] = 1;
        for (uint32_t r = 0; r < rank; r++)
            x[pivot[r]] = tidy(-M[(size_t)r * columns + c]);
    }
    return found;
}

static uint32_t place(uint32_t n, uint32_t a, uint32_t b) /* of Q^ab, a <= b, in a vector */
{
    return a > b ? place(n, b, a) : a * n - a * (a + 1) / 2 + b;
}

static uint32_t linear(ns_arena *arena, uint32_t n, const double *C, double **basis)
{
    double *M = NS_NEW_ARRAY(arena, double, (size_t)n * n * n);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t bm = 0; bm < n * n; bm++)
            M[(size_t)bm * n + a] = C[(size_t)a * n * n + bm];
    return null_space(arena, n * n, n, M, basis);
}

static uint32_t quadratic(ns_arena *arena, uint32_t n, const double *C, double **basis)
{
    uint32_t unknowns = n * (n + 1) / 2;
    double *M = NS_NEW_ARRAY(arena, double, (size_t)n * unknowns * unknowns);
    uint32_t row = 0;
    for (uint32_t d = 0; d < n; d++)
        for (uint32_t b = 0; b < n; b++)
            for (uint32_t c = b; c < n; c++, row++)
                for (uint32_t a = 0; a < n; a++) {
                    M[(size_t)row * unknowns + place(n, a, b)] +=
                        C[((size_t)a * n + d) * n + c];
                    M[(size_t)row * unknowns + place(n, a, c)] +=
                        C[((size_t)a * n + d) * n + b];
                }
    return null_space(arena, row, unknowns, M, basis);
}

/* Is the vector independent of those before it (kept[count])?  If so it is added, reduced. */
static bool is_new(uint32_t length, const double *x, double *kept, uint32_t *lead,
                   uint32_t *count)
{
    double *y = kept + (size_t)*count * length;
    memcpy(y, x, length * sizeof *x);
    for (uint32_t k = 0; k < *count; k++) {
        double factor = y[lead[k]] / kept[(size_t)k * length + lead[k]];
        for (uint32_t i = 0; i < length; i++)
            y[i] -= factor * kept[(size_t)k * length + i];
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < length; i++)
        if (fabs(y[i]) > fabs(y[most]))
            most = i;
    if (!(fabs(y[most]) > 1e-9))
        return false;
    lead[(*count)++] = most;
    return true;
}

static void add(ns_system *s, ns_ex value, bool expected, uint32_t number)
{
    const char *name = ns_arena_format(s->arena, "casimir%u", number);
    ns_system_claim(s, name, value, expected, "motions without constraints and potential");
    ns_system_observe(s, NS_QUANTITY_OTHER, name, value, "", false);
    NS_PUSH(s->arena, s->equations,
            (ns_equation_line){.group = "Casimir functions", .name = name, .value = value});
}

void ns_lie_casimirs(const ns_lie *w, ns_system *s, bool expected)
{
    ns_graph *g = s->graph;
    uint32_t n = w->n, number = 0;
    if (!w->numbers) {
        ns_system_fact(s, "Casimir functions", "not looked for: brackets depend on parameters");
        return;
    }
    double *C = NS_NEW_ARRAY(s->arena, double, (size_t)n * n * n), *one;
    double *none = NS_NEW_ARRAY(s->arena, double, s->description->params.n + 1);
    ns_lie_constants(w, s, none, C);
    uint32_t ones = linear(s->arena, n, C, &one);
    for (uint32_t k = 0; k < ones; k++) {
        ns_ex sum = ns_zero(g);
        for (uint32_t a = 0; a < n; a++)
            sum = ns_add(g, sum, ns_mul(g, ns_number(g, one[k * n + a]), w->p[a]));
        add(s, sum, expected, ++number);
    }
    if (n > MOST_QUADRATIC) {
        ns_system_fact(s, "Casimir functions",
                       "%u linear; quadratic ones are looked for up to dimension %d", number,
                       (int)MOST_QUADRATIC);
        return;
    }
    double *two;
    uint32_t length = n * (n + 1) / 2, twos = quadratic(s->arena, n, C, &two), count = 0;
    uint32_t *lead = NS_NEW_ARRAY(s->arena, uint32_t, (size_t)ones * ones + twos + 1);
    double *kept = NS_NEW_ARRAY(s->arena, double,
                                ((size_t)ones * ones + twos + 1) * length + 1);
    double *product = NS_NEW_ARRAY(s->arena, double, length);
    for (uint32_t j = 0; j < ones; j++)
        for (uint32_t k = j; k < ones; k++) {
            memset(product, 0, length * sizeof *product);
            for (uint32_t a = 0; a < n; a++)
                for (uint32_t b = 0; b < n; b++)
                    product[place(n, a, b)] += one[j * n + a] * one[k * n + b] /
                                               (a == b ? 1 : 2);
            is_new(length, product, kept, lead, &count);
        }
    for (uint32_t k = 0; k < twos; k++) {
        const double *Q = two + (size_t)k * length;
        if (!is_new(length, Q, kept, lead, &count))
            continue;
        ns_ex sum = ns_zero(g);
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a; b < n; b++) {
                double q = Q[place(n, a, b)] * (a == b ? 1 : 2);
                if (q != 0)
                    sum = ns_add(g, sum,
                                 ns_mul(g, ns_number(g, q), ns_mul(g, w->p[a], w->p[b])));
            }
        add(s, sum, expected, ++number);
    }
    ns_system_fact(s, "Casimir functions", "%u linear, %u quadratic", ones, number - ones);
}
