/* States that satisfy the constraints and further conditions, near a given one. */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/newton.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "study/orbits/section.h"

struct ns_starts {
    ns_flow *flow;
    const ns_condition *condition;
    uint32_t n;                    /* conditions */
    const ns_flow_program *values; /* and their gradients */
};

ns_starts *ns_starts_new(ns_flow *flow, const ns_condition *conditions, uint32_t n)
{
    NS_CHECK(conditions || !n);
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

typedef struct solving {
    ns_starts *q;
    const bool *fixed; /* [states]; NULL: none */
    double *x, *out;   /* out: room for the conditions */
} solving;

/* Residuals r[m + n], Jacobian D[m + n][states] in units of the sizes; the largest residual
 * over its size. */
static double look(void *context, double *r, double *D)
{
    const solving *s = context;
    const ns_starts *q = s->q;
    ns_flow *flow = q->flow;
    const uint32_t n = flow->n, m = flow->m, rows = m + q->n;
    ns_flow_manifold(flow, s->x, r, D);
    ns_flow_eval(flow, q->values, s->x, s->out);
    for (uint32_t i = 0; i < q->n; i++)
        r[m + i] = s->out[i] - q->condition[i].target;
    memcpy(D + (size_t)m * n, s->out + q->n, (size_t)q->n * n * sizeof *D);
    const double worst = ns_flow_scale_rows(flow, rows, r, D, 1);
    for (uint32_t i = 0; i < rows && s->fixed; i++)
        for (uint32_t j = 0; j < n; j++)
            if (s->fixed[j])
                D[(size_t)i * n + j] = 0;
    return worst;
}

static bool solve(ns_starts *q, const bool *fixed, double *x)
{
    ns_arena *a = q->flow->scratch;
    const uint32_t n = q->flow->n, rows = q->flow->m + q->n;
    if (!rows)
        return true;
    const ns_arena_place mark = ns_arena_mark(a);
    solving s = {.q = q, .fixed = fixed, .x = x};
    s.out = NS_NEW_ARRAY(a, double, (size_t)q->n * (n + 1) + 1);
    const ns_newton newton = {.rows = rows,
                              .columns = n,
                              .z = x,
                              .size = n,
                              .context = &s,
                              .look = look,
                              .scale = q->flow->sigma,
                              .fixed = fixed,
                              .rcond = 1e-10,
                              .rounds = 60,
                              .halvings = 20,
                              .exact = 1e-16};
    const double off = ns_newton_solve(&newton,
                                       NS_NEW_ARRAY(a, double, ns_newton_work(&newton))).off;
    ns_arena_release(a, mark);
    return off < 1e-11;
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
