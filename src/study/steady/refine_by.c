/* How a special point of a branch moves with other parameters.
 *
 * At a pair on the imaginary axis F(z, v, q) = 0, (L - lambda) u = 0, G u = 0, e.u = 1 and
 * Re lambda = 0 for the parameter v of the branch (refine_spectrum.c).  Along any parameter q
 *
 *     F_z z' = -F_q,
 *     (L - lambda) u' - lambda' u = -L' u,   G u' = -G' u,   e.u' = 0,
 *     L' u = D^2 f (u, x') + D f_q u - sum_k c_k' A_k u,   G' u = D^2 C (u, x') + D C_q u,
 *
 * which gives lambda' by q and by v; the point moves by dv/dq = -Re lambda_q / Re lambda_v.
 * The member of the family that is nearest to the start of the model moves with that start. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "study/steady/refine_internal.h"

/* d/ds of (Df u, DC u) along x' = w, p' = dp, from x, u, w and dp. */
static ns_flow_program *mixed_program(const ns_steady *q)
{
    const ns_system *s = q->field->system;
    ns_arena *a = q->arena;
    ns_graph *g = s->graph;
    const uint32_t n = q->n, m = q->m, np = q->field->np, more = 2 * n + np;
    ns_ex *from = NS_NEW_ARRAY(a, ns_ex, n + np + 1);
    ns_ex *extra = NS_NEW_ARRAY(a, ns_ex, more + 1); /* u, w, dp */
    ns_ex *one = NS_NEW_ARRAY(a, ns_ex, n + m + 1), *two = NS_NEW_ARRAY(a, ns_ex, n + m + 1);
    const ns_ex *p = ns_system_param_symbols(s, a);
    uint32_t k = n;
    for (uint32_t i = 0; i < more; i++)
        extra[i] = ns_symbol_new(g, "u", NS_SYM_STATE, n + i);
    for (uint32_t i = 0; i < n; i++) {
        from[i] = s->states.at[i].symbol;
        one[i] = s->states.at[i].rate;
    }
    memcpy(from + n, p, np * sizeof *p);
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            one[k++] = s->constraints.at[i].residual;
    ns_diff_along(g, one, n + m, from, extra, n, two);
    ns_diff_along(g, two, n + m, from, extra + n, n + np, one);
    return ns_flow_program_new(q->field, one, n + m, extra, more);
}

/* z'[N] by the parameter of `q`; false if there is none. */
static bool motion_by(const ns_pair *c, ns_steady *q, ns_fine *dz)
{
    ns_refiner f = *c->f;
    ns_follower w = *f.w;
    const uint32_t N = f.N, M = N + 1;
    w.q = q;
    f.w = &w;
    f.y = ns_arena_copy(f.arena, c->f->y, M * sizeof *f.y);
    f.r = NS_NEW_ARRAY(f.arena, ns_fine, f.rows + 1);
    f.D = NS_NEW_ARRAY(f.arena, ns_fine, (size_t)f.rows * M + 1);
    f.y[N] = q->p[q->spec.over];
    if (!ns_refine_settle(&f, NS_BORDER_NONE, 0))
        return false;
    ns_fine *A = NS_NEW_ARRAY(f.arena, ns_fine, (size_t)f.rows * N + 1);
    ns_fine *b = NS_NEW_ARRAY(f.arena, ns_fine, f.rows + 1);
    for (uint32_t i = 0; i < f.rows; i++) {
        memcpy(A + (size_t)i * N, f.D + (size_t)i * M, N * sizeof *A);
        b[i] = -f.D[(size_t)i * M + N];
    }
    return ns_refine_solve(f.arena, f.rows, N, A, b, dz);
}

/* Real part of lambda' by a parameter. */
static double real_part_by(const ns_pair *c, ns_flow_program *mixed, const ns_fine *S,
                           uint32_t over)
{
    const ns_refiner *f = c->f;
    const uint32_t n = f->n, m = f->m, rows = 2 * (n + m) + 2, U = c->unknown;
    ns_steady *q = ns_steady_along(f->w->q, over);
    const uint32_t np = q->field->np;
    const double *sigma = q->field->sigma;
    ns_arena *a = f->arena;
    ns_ex *direction = NS_NEW_ARRAY(a, ns_ex, np + 1);
    double *dp = NS_NEW_ARRAY(a, double, np + 1);
    ns_fine *dz = NS_NEW_ARRAY(a, ns_fine, f->N + 1);
    ns_fine *in = NS_NEW_ARRAY(a, ns_fine, 3 * (size_t)n + np + 1);
    ns_fine *out = NS_NEW_ARRAY(a, ns_fine, n + m + 1);
    ns_fine *right = NS_NEW_ARRAY(a, ns_fine, rows), *step = NS_NEW_ARRAY(a, ns_fine, U);
    if (!motion_by(c, q, dz))
        return NAN;
    ns_flow_param_direction(q->field, over, direction);
    ns_system_eval(q->field->system, direction, np, q->field->t, q->p, NULL, dp);
    for (uint32_t part = 0; part < 2; part++) {
        const ns_fine *u = c->u + (size_t)part * n;
        for (uint32_t i = 0; i < n; i++) {
            in[i] = f->y[i] * sigma[i];
            in[n + i] = u[i] * sigma[i];
            in[2 * n + i] = dz[i] * sigma[i];
        }
        for (uint32_t i = 0; i < np; i++)
            in[3 * n + i] = dp[i];
        ns_flow_eval_fine(q->field, mixed, in, out);
        for (uint32_t i = 0; i < n + m; i++) {
            ns_fine sum = out[i];
            for (uint32_t k = 0; k < q->g->count && i < n; k++)
                for (uint32_t j = 0; j < n; j++)
                    sum -= dz[n + k] * q->g->A[((size_t)k * n + i) * n + j] * in[n + j];
            right[(size_t)part * (n + m) + i] = -sum / (i < n ? sigma[i] : 1);
        }
    }
    right[rows - 2] = right[rows - 1] = 0;
    return ns_refine_solve(a, rows, U, S, right, step) ? (double)step[2 * n] : NAN;
}

void ns_refine_pair_by(const ns_pair *c, double *by)
{
    const ns_steady *q = c->f->w->q;
    const uint32_t rows = 2 * (c->f->n + c->f->m) + 2;
    ns_arena *a = c->f->arena;
    const ns_arena_place mark = ns_arena_mark(a);
    ns_fine *S = NS_NEW_ARRAY(a, ns_fine, (size_t)rows * c->unknown);
    ns_fine *left = NS_NEW_ARRAY(a, ns_fine, rows);
    ns_refine_pair_rows(c, S, left);
    ns_flow_program *mixed = mixed_program(q);
    const double own = real_part_by(c, mixed, S, q->spec.over);
    for (uint32_t i = 0; i < q->spec.n_by; i++) {
        const ns_arena_place inner = ns_arena_mark(a);
        by[i] = -real_part_by(c, mixed, S, q->spec.by[i]) / own;
        ns_arena_release(a, inner);
    }
    ns_arena_release(a, mark);
}
