/* Projection onto the manifold in lanes, part of ensemble_step.h: what project.c and correct.c
 * do for one motion, with two differences.  Rows are taken in their order instead of the
 * longest first, so that all lanes do the same; rows that depend on those before are left out
 * lane by lane.
 * And where the residuals are so small that their squares are rounding errors, the change is
 * made without looking whether it was good. */
#ifdef NS_BUNDLE

#include "ode/ensemble/ensemble_vector.h"

enum { PROJECT_ROUNDS = 8 };

/* Adds to a residual what the low part of the state makes of it; its ratio to its rounding
 * error, the larger one of that and `worst`.  G: entries `count`, of the states `column` (NULL:
 * all). */
static inline v8 judge(const ns_bundle *b, double *g, const double *G, uint32_t count,
                       const uint32_t *column, v8 terms, const double *low, v8 worst)
{
    const double *sizes = b->change; /* not needed until the change is made */
    v8 size = {0}, residual = load(g);
    for (uint32_t e = 0; e < count; e++) {
        const size_t at = 8 * (size_t)(column ? column[e] : e);
        const v8 entry = load(G + 8 * (size_t)e);
        size = fused(size_of(entry), load(sizes + at), size);
        residual = fused(entry, load(low + at), residual);
    }
    store(g, residual);
    size = smaller(larger(1e-3 * size, terms), size);
    const v8 ratio = size_of(residual) / (DBL_EPSILON * size);
    return choose((residual != 0) & ~(ratio <= worst), ratio, worst);
}

/* Residuals of x + low into g; the largest in units of its rounding error. */
static v8 look(ns_bundle *b, const double *x, const double *low)
{
    const ns_problem *problem = b->problem;
    v8 worst = {0};
    for (size_t at = 0; at < 8 * (size_t)b->n; at += 8)
        store(b->change + at, larger(size_of(load(x + at)), load(b->size + at)));
    if (problem->correction) {
        const uint32_t m = problem->n_shift, *start = problem->shift_start;
        ns_program_eval8(problem->shift, b->work_manifold, b->t_new, x, b->g);
        const double *G = b->g + 8 * (size_t)m, *terms = G + 8 * (size_t)start[m];
        for (uint32_t i = 0; i < m; i++)
            worst = judge(b, b->g + 8 * (size_t)i, G + 8 * (size_t)start[i],
                          start[i + 1] - start[i], problem->shift_column + start[i],
                          load(terms + 8 * (size_t)i), low, worst);
        return worst;
    }
    const size_t n = b->n, m = problem->n_manifold;
    ns_program_eval8(problem->manifold, b->work_manifold, b->t_new, x, b->g);
    for (size_t i = 0; i < m; i++)
        worst = judge(b, b->g + 8 * i, b->g + 8 * (m + i * n), b->n, NULL,
                      load(b->g + 8 * (m * (n + 1) + i)), low, worst);
    return worst;
}

/* The smallest change of the state in units of the metric, into b->change. */
static void smallest_change(ns_bundle *b)
{
    const size_t end = 8 * (size_t)b->n;
    const uint32_t m = b->problem->n_manifold;
    const double *metric = b->metric;
    double *change = b->change, *along = b->along;
    for (size_t at = 0; at < end; at += 8)
        store(change + at, (v8){0});
    for (uint32_t k = 0; k < m; k++) {
        const double *G = b->g + 8 * (size_t)m + k * end;
        double *q = b->rows + k * end;
        v8 sum = {0};
        for (size_t at = 0; at < end; at += 8) {
            const v8 entry = load(G + at) * metric[at / 8];
            store(q + at, entry);
            sum = fused(entry, entry, sum);
        }
        v8 z = load(b->g + 8 * (size_t)k), rest = sum; /* for k > 0 found below */
        for (uint32_t l = 0; l < k; l++) {
            const double *other = b->rows + l * end;
            v8 part = {0};
            for (size_t at = 0; at < end; at += 8)
                part = fused(load(q + at), load(other + at), part);
            z = fused(-part, load(along + 8 * (size_t)l), z);
            rest = (v8){0};
            for (size_t at = 0; at < end; at += 8) {
                const v8 entry = fused(-part, load(other + at), load(q + at));
                store(q + at, entry);
                rest = fused(entry, entry, rest);
            }
        }
        /* what is left of a row that depends on the others is rounding errors */
        const v8 inverse = choose(rest > 1e-18 * sum, 1 / root(rest), (v8){0});
        z *= inverse; /* from now on the coefficient along q */
        store(along + 8 * (size_t)k, z);
        for (size_t at = 0; at < end; at += 8) {
            const v8 unit = inverse * load(q + at);
            store(q + at, unit);
            store(change + at, fused(-z, unit, load(change + at)));
        }
    }
}

/* The change that the formulation asks for. */
static void given_change(ns_bundle *b)
{
    const ns_problem *problem = b->problem;
    memcpy(b->inputs, b->x_new, 8 * (size_t)b->n * sizeof(double));
    memcpy(b->inputs + 8 * (size_t)b->n, b->g, 8 * (size_t)problem->n_shift * sizeof(double));
    ns_program_eval8(problem->correction, b->work_change, b->t_new, b->inputs, b->change);
}

/* Moves x_new + x_low in the lanes whose step is good. */
static void project(ns_bundle *b)
{
    const double enough = 4, small = 1e-9 / DBL_EPSILON;
    const size_t end = 8 * (size_t)b->n;
    v8 worst = look(b, b->x_new, b->x_low);
    i8 going = load_mask(b->good) & (worst > enough);
    for (int round = 0; round < PROJECT_ROUNDS && bits(going); round++) {
        if (b->problem->correction)
            given_change(b);
        else
            smallest_change(b);
        going &= not_finite(b->n, b->change) == 0;
        for (size_t at = 0; at < end; at += 8) {
            v8 low;
            store(b->x_try + at,
                  add_compensated(load(b->x_new + at), load(b->x_low + at),
                                  load(b->change + at) * b->metric[at / 8], &low));
            store(b->x_try_low + at, low);
        }
        const v8 before = worst;
        const i8 sure = before < small;
        if (bits(going & ~sure)) {
            worst = look(b, b->x_try, b->x_try_low);
            going &= sure | (worst < before);
        }
        for (size_t at = 0; at < end; at += 8) {
            store(b->x_new + at, choose(going, load(b->x_try + at), load(b->x_new + at)));
            store(b->x_low + at, choose(going, load(b->x_try_low + at), load(b->x_low + at)));
        }
        going &= ~sure & (worst > enough) & ~(worst > 0.5 * before);
    }
}

#endif
