#include "base/math/newton.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/algebra.h"
#include "base/math/vecmath.h"

/* Damping, as a share of |r|: where it begins and the least; how it falls with a step that
 * leads nearer and grows with one that does not; beyond the last number, or with steps as
 * short as the next, it is hopeless. */
static const double first_damping = 0.1, least_damping = 1e-3, falls = 4, grows = 8,
                    most_damping = 1e12, shortest_step = 1e-10;
/* Singular values of a damped system that count as zero: only what is zero but for rounding. */
static const double damped_rcond = 1e-14;

typedef struct search {
    const ns_newton *n;
    double *r, *D, *dz, *from;
    double *system, *right; /* damped: D over mu, r over 0 */
    double *algebra;
    double off, before, damping, step;
} search;

static uint32_t damped_rows(const ns_newton *n)
{
    return n->damped ? n->rows + n->columns : 0;
}

size_t ns_newton_work(const ns_newton *n)
{
    const uint32_t tall = n->damped ? damped_rows(n) : n->rows;
    const size_t least = n->solve ? 0 : ns_algebra_svd_work(tall, n->columns);
    return n->rows + (size_t)n->rows * n->columns + n->columns + n->size +
           (size_t)damped_rows(n) * (n->columns + 1) + least + 1;
}

static double length(uint32_t n, const double *a)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * a[i];
    return isnan(sum) ? INFINITY : sqrt(sum);
}

static void damped_step(const search *s)
{
    const uint32_t m = s->n->rows, n = s->n->columns;
    uint32_t rank;
    memcpy(s->system, s->D, (size_t)m * n * sizeof *s->D);
    memset(s->system + (size_t)m * n, 0, (size_t)n * n * sizeof *s->D);
    memcpy(s->right, s->r, m * sizeof *s->r);
    memset(s->right + m, 0, n * sizeof *s->r);
    for (uint32_t i = 0; i < n; i++)
        s->system[(size_t)(m + i) * n + i] = s->damping * s->off;
    ns_algebra_least(m + n, n, s->system, s->right, damped_rcond, s->dz, &rank, s->algebra);
}

static bool make_step(const search *s)
{
    const ns_newton *n = s->n;
    uint32_t rank;
    if (n->solve)
        return n->solve(n->context, s->r, s->D, s->dz);
    if (n->damped)
        damped_step(s);
    else
        ns_algebra_least(n->rows, n->columns, s->D, s->r, n->rcond, s->dz, &rank, s->algebra);
    return true;
}

static void try_step(search *s, double part)
{
    const ns_newton *n = s->n;
    for (uint32_t j = 0; j < n->columns; j++) {
        const uint32_t i = n->column ? n->column[j] : j;
        const double way = n->scale ? part * n->scale[j] * s->dz[j] : part * s->dz[j];
        if (!n->fixed || !n->fixed[j])
            n->z[i] = s->from[i] - way;
    }
    s->off = n->look(n->context, s->r, s->D);
}

static void go_back(search *s)
{
    memcpy(s->n->z, s->from, s->n->size * sizeof *s->from);
    s->off = s->n->look(s->n->context, s->r, s->D);
}

/* False if no step leads nearer; z is where it was then. */
static bool take_step(search *s)
{
    const ns_newton *n = s->n;
    memcpy(s->from, n->z, n->size * sizeof *s->from);
    if (n->damped) {
        s->step = length(n->columns, s->dz);
        try_step(s, 1);
        if (s->off < s->before) {
            s->damping = ns_max(s->damping / falls, least_damping);
            return true;
        }
        go_back(s);
        s->damping *= grows;
        return !(s->step < shortest_step || s->damping > most_damping);
    }
    if (!n->halvings) {
        try_step(s, 1);
        return true;
    }
    double part = 1;
    for (int k = 0; k < n->halvings; k++, part /= 2) {
        try_step(s, part);
        if (s->off < s->before || s->off <= n->enough)
            return true;
    }
    go_back(s);
    return false;
}

ns_newton_end ns_newton_solve(const ns_newton *n, double *work)
{
    NS_CHECK(n->look && n->rounds >= 0 && !(n->solve && n->damped));
    search s = {.n = n, .before = INFINITY, .damping = first_damping};
    s.r = work;
    s.D = s.r + n->rows;
    s.dz = s.D + (size_t)n->rows * n->columns;
    s.from = s.dz + n->columns;
    s.system = s.from + n->size;
    s.right = s.system + (size_t)damped_rows(n) * n->columns;
    s.algebra = s.right + damped_rows(n);
    s.off = n->look(n->context, s.r, s.D);
    ns_newton_end end = {0};
    for (; end.rounds < n->rounds && isfinite(s.off); end.rounds++) {
        if (n->wild > 0 && s.off > n->wild * s.before)
            break;
        end.settled = s.off <= n->exact || (s.off < n->near && s.off >= s.before / 2);
        if (end.settled)
            break;
        s.before = s.off;
        if (!make_step(&s) || !take_step(&s))
            break;
    }
    end.off = s.off;
    end.step = s.step;
    return end;
}
