#include "study/orbits/compare.h"

#include <math.h>

#include "base/math/vecmath.h"

/* Sign of the second model's quaternion that brings it nearer to the first. */
static double nearer_sign(const ns_compare_pair *pairs, uint32_t n, uint32_t group,
                          const double *a, const double *b)
{
    double dot = 0;
    for (uint32_t i = 0; i < n; i++)
        if (pairs[i].group == group)
            dot += a[pairs[i].a] * b[pairs[i].b];
    return dot < 0 ? -1 : 1;
}

static void take(ns_compare_pair *pairs, uint32_t n, double t, size_t row, const double *a,
                 const double *b)
{
    for (uint32_t i = 0; i < n; i++) {
        ns_compare_pair *p = &pairs[i];
        const double sign = p->group ? nearer_sign(pairs, n, p->group, a, b) : 1;
        const double left = a[p->a], right = sign * b[p->b], off = left - right;
        p->size = ns_max(p->size, ns_max(fabs(left), fabs(right)));
        if (!(fabs(off) <= p->largest)) {
            p->largest = isnan(off) ? INFINITY : fabs(off);
            p->t = t;
        }
        if (p->difference)
            p->difference[row] = off;
    }
}

ns_compare_outcome ns_compare(ns_arena *arena, const ns_compare_side sides[2],
                              const double *times, size_t n, ns_compare_pair *pairs,
                              uint32_t n_pairs, bool (*progress)(void *, double), void *context)
{
    ns_compare_outcome out = {.status = NS_OK, .reason = ""};
    ns_run *run[2] = {NULL, NULL};
    double *x[2], *value[2];
    for (int k = 0; k < 2 && out.status == NS_OK; k++) {
        const ns_problem *problem = sides[k].problem;
        x[k] = NS_NEW_ARRAY(arena, double, problem->n + 1);
        value[k] = NS_NEW_ARRAY(arena, double, problem->system->observables.n + 1);
        out.side = k;
        run[k] = ns_run_new(problem, &sides[k].options, sides[k].p, sides[k].x0, &out.status,
                            &out.reason);
    }
    for (size_t row = 0; row < n && out.status == NS_OK && run[0] && run[1]; row++) {
        for (int k = 0; k < 2 && out.status == NS_OK; k++) {
            /* a run that stopped is good up to where it did */
            const double sign = sides[k].options.until < sides[k].options.t0 ? -1 : 1;
            const bool covered = sign * (ns_run_time(run[k]) - times[row]) >= 0;
            const ns_status status = covered ? NS_OK : ns_run_to(run[k], times[row]);
            if (status != NS_OK && sign * (ns_run_time(run[k]) - times[row]) < 0) {
                out.status = status;
                out.side = k;
                out.reason = ns_arena_format(arena, "%s", ns_run_outcome(run[k])->reason);
                break;
            }
            ns_run_state_at(run[k], times[row], x[k]);
            ns_run_observe(run[k], times[row], x[k], value[k]);
        }
        if (out.status != NS_OK)
            break;
        take(pairs, n_pairs, times[row], row, value[0], value[1]);
        out.rows = row + 1;
        if (progress && !progress(context, (double)(row + 1) / (double)n)) {
            out.status = NS_STOP_INTERRUPT;
            out.reason = "interrupted";
        }
    }
    for (int k = 0; k < 2; k++)
        if (run[k])
            ns_run_free(run[k]);
    return out;
}
