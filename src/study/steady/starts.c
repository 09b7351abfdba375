/* States that satisfy the constraints and further conditions, near a given one. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "study/orbits/section.h"

struct ns_starts {
    ns_flow *flow;
    const ns_condition *condition;
    uint32_t n;                    /* conditions */
    const ns_flow_program *values; /* and their gradients */
};

ns_starts *ns_starts_new(ns_flow *flow, const ns_condition *conditions, uint32_t n)
{
    const ns_system *s = flow->system;
    ns_starts *q = NS_NEW(flow->arena, ns_starts);
    q->flow = flow;
    q->n = n;
    q->condition = ns_arena_copy(flow->arena, conditions, n * sizeof *conditions);
    const ns_ex *x = ns_system_state_symbols(s, flow->arena);
    ns_ex *out = NS_NEW_ARRAY(flow->arena, ns_ex, (size_t)n * (flow->n + 1) + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = conditions[i].value;
    ns_diff_jacobian(s->graph, out, n, x, flow->n, out + n);
    q->values = ns_flow_program_new(flow, out, n * (flow->n + 1), NULL, 0);
    return q;
}

/* Residuals r[m + n] over their sizes, Jacobian D[m + n][states] in units of the sizes. */
static double look(ns_starts *q, const double *x, const bool *fixed, double *out, double *r,
                   double *D)
{
    ns_flow *flow = q->flow;
    const uint32_t n = flow->n, m = flow->m, rows = m + q->n;
    double worst = 0;
    ns_flow_manifold(flow, x, r, D);
    ns_flow_eval(flow, q->values, x, out);
    for (uint32_t i = 0; i < q->n; i++) {
        r[m + i] = out[i] - q->condition[i].target;
        memcpy(D + (size_t)(m + i) * n, out + q->n + (size_t)i * n, n * sizeof *D);
    }
    for (uint32_t i = 0; i < rows; i++) {
        double size = 0;
        for (uint32_t j = 0; j < n; j++) {
            D[(size_t)i * n + j] *= flow->sigma[j];
            size += fabs(D[(size_t)i * n + j]);
            if (fixed && fixed[j])
                D[(size_t)i * n + j] = 0;
        }
        const double ratio = size > 0 ? fabs(r[i]) / size : fabs(r[i]);
        if (!(ratio <= worst))
            worst = isnan(ratio) ? INFINITY : ratio;
    }
    return worst;
}

static bool solve(ns_starts *q, const bool *fixed, double *x)
{
    enum { ROUNDS = 60 };
    ns_flow *flow = q->flow;
    ns_arena *a = flow->scratch;
    const uint32_t n = flow->n, rows = flow->m + q->n;
    if (!rows)
        return true;
    const ns_arena_place mark = ns_arena_mark(a);
    double *out = NS_NEW_ARRAY(a, double, (size_t)q->n * (n + 1) + 1);
    double *r = NS_NEW_ARRAY(a, double, rows + 1), *dx = NS_NEW_ARRAY(a, double, n + 1);
    double *D = NS_NEW_ARRAY(a, double, (size_t)rows * n + 1);
    double *old = NS_NEW_ARRAY(a, double, n + 1);
    double now = look(q, x, fixed, out, r, D);
    for (int k = 0; k < ROUNDS && isfinite(now) && now > 1e-16; k++) {
        const ns_arena_place inner = ns_arena_mark(a);
        ns_dense_least(a, rows, n, D, r, 1e-10, dx);
        ns_arena_release(a, inner);
        memcpy(old, x, n * sizeof *old);
        const double before = now;
        double part = 1;
        for (int halvings = 0; halvings < 20; halvings++, part /= 2) {
            for (uint32_t j = 0; j < n; j++)
                x[j] = fixed && fixed[j] ? old[j] : old[j] - part * flow->sigma[j] * dx[j];
            now = look(q, x, fixed, out, r, D);
            if (now < before)
                break;
        }
        if (!(now < before)) {
            memcpy(x, old, n * sizeof *old);
            now = before;
            break;
        }
    }
    ns_arena_release(a, mark);
    return now < 1e-11;
}

/* From a state at rest the energy has no slope: where the first try fails, free states are
 * pushed. */
bool ns_starts_solve(ns_starts *q, const bool *fixed, double *x)
{
    enum { TRIES = 8 };
    const uint32_t n = q->flow->n;
    const ns_arena_place mark = ns_arena_mark(q->flow->scratch);
    double *first = ns_arena_copy(q->flow->scratch, x, n * sizeof *x);
    uint64_t seed = 1664;
    bool good = solve(q, fixed, x);
    for (int k = 0; k < TRIES && !good; k++) {
        for (uint32_t i = 0; i < n; i++) {
            const double push = q->flow->sigma[i] * (2 * ns_eval_random(&seed) - 1);
            x[i] = first[i] + (fixed && fixed[i] ? 0 : push);
        }
        good = solve(q, fixed, x);
    }
    ns_arena_release(q->flow->scratch, mark);
    return good;
}
