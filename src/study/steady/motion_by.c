/* How a steady motion and its eigenvalues move with parameters.
 *
 * Along a parameter q the steady motion F(z, q) = 0, z = (x, c), moves by
 *
 *     F_z z' = -F_q,
 *
 * of a family to the member nearest to this one: z' is the solution of least norm in units of
 * the states.  An eigenvalue that is simple, (L - lambda) u = 0, G u = 0, moves by
 *
 *     (L - lambda) u' - lambda' u = -L' u,   G u' = -G' u,   conj(u).u' = 0,
 *     L' u = D^2 f (u, x') + D f_q u - sum_k c_k' A_k u,   G' u = D^2 C (u, x') + D C_q u,
 *
 * everything in units of the states. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/steady/steady_internal.h"

/* Singular values below this part of the largest are zero. */
static const double none = 1e-8, noise = 1e-11;

typedef struct mover {
    ns_steady *q;
    ns_arena *a; /* scratch */
    const ns_steady_point *p;
    uint32_t n, m, N, np, count; /* count: of the values */
    double *r, *D;               /* F and F_z at the point */
    ns_flow_program *mixed, *values;
    double *z, *dp; /* [N], [np]: z' and p' */
} mover;

/* What two programs have in common: d/ds of expressions of states and parameters along x' and
 * p', which are inputs after the states and `before` others. */
static ns_flow_program *rate_program(const mover *w, const ns_ex *value, uint32_t count,
                                     const ns_ex *more, uint32_t before)
{
    const ns_system *s = w->q->field->system;
    ns_ex *from = NS_NEW_ARRAY(w->a, ns_ex, w->n + w->np + 1);
    ns_ex *out = NS_NEW_ARRAY(w->a, ns_ex, count + 1);
    memcpy(from, ns_system_state_symbols(s, w->a), w->n * sizeof *from);
    memcpy(from + w->n, ns_system_param_symbols(s, w->a), w->np * sizeof *from);
    ns_diff_along(s->graph, value, count, from, more + before, w->n + w->np, out);
    return ns_flow_program_new(w->q->field, out, count, more, before + w->n + w->np);
}

static void make_programs(mover *w)
{
    const ns_system *s = w->q->field->system;
    const uint32_t n = w->n, most = n + w->m + w->count, all = 2 * n + w->np;
    ns_ex *more = NS_NEW_ARRAY(w->a, ns_ex, all + 1); /* u, x', p' */
    ns_ex *one = NS_NEW_ARRAY(w->a, ns_ex, most + 1),
                              *two = NS_NEW_ARRAY(w->a, ns_ex, most + 1);
    uint32_t k = n;
    for (uint32_t i = 0; i < all; i++)
        more[i] = ns_symbol_new(s->graph, "u", NS_SYM_STATE, n + i);
    for (uint32_t i = 0; i < n; i++)
        one[i] = s->states.at[i].rate;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            one[k++] = s->constraints.at[i].residual;
    ns_diff_along(s->graph, one, n + w->m, ns_system_state_symbols(s, w->a), more, n, two);
    w->mixed = rate_program(w, two, n + w->m, more, n);
    for (uint32_t i = 0; i < n + w->np; i++)
        more[i] = ns_symbol_new(s->graph, "u", NS_SYM_STATE, n + i);
    for (uint32_t i = 0; i < w->count; i++)
        one[i] = s->observables.at[i].value;
    w->values = rate_program(w, one, w->count, more, 0);
}

/* z' and p' along a parameter; false where there is no z'. */
static bool move(mover *w, uint32_t over)
{
    const ns_steady *q = w->q;
    const double *sigma = q->field->sigma;
    ns_steady *by = ns_steady_along(q, over);
    ns_ex *direction = NS_NEW_ARRAY(w->a, ns_ex, w->np + 1);
    double *b = NS_NEW_ARRAY(w->a, double, q->rows + 1), most = 0, off = 0, size = 0;
    ns_flow_param_direction(q->field, over, direction);
    ns_system_eval(q->field->system, direction, w->np, q->field->t, q->p, NULL, w->dp);
    ns_flow_eval(q->field, by->by_parameter, w->p->x, b);
    for (uint32_t i = 0; i < q->rows; i++) {
        b[i] = -b[i] / (i < w->n ? sigma[i] : 1);
        most = ns_max(most, fabs(b[i]));
    }
    ns_dense_least(w->a, q->rows, w->N, w->D, b, none, w->z);
    for (uint32_t i = 0; i < q->rows; i++) {
        double sum = -b[i];
        for (uint32_t j = 0; j < w->N; j++) {
            sum += w->D[(size_t)i * w->N + j] * w->z[j];
            size = ns_max(size, fabs(w->D[(size_t)i * w->N + j]));
        }
        off = ns_max(off, fabs(sum));
    }
    return off <= none * most || off <= noise * size; /* F_q may be rounding errors alone */
}

/* Rows (L - lambda) u and G u of real and imaginary parts, A[2 (n + m)][columns]. */
static void put_rows(const mover *w, ns_eigenvalue e, uint32_t columns, double *A)
{
    const uint32_t n = w->n, R = n + w->m;
    for (uint32_t i = 0; i < R; i++)
        for (uint32_t j = 0; j < n; j++) {
            const double d = w->D[(size_t)i * w->N + j];
            double *re = A + (size_t)i * columns, *im = A + (size_t)(R + i) * columns;
            re[j] = im[n + j] = d - (i == j ? e.re : 0);
            if (i == j) {
                re[n + j] = e.im;
                im[j] = -e.im;
            }
        }
}

/* (L' u, G' u), negative: right-hand sides of the real or the imaginary part. */
static void put_right(const mover *w, const double *u, double *in, double *right)
{
    const ns_steady *q = w->q;
    const uint32_t n = w->n;
    const double *sigma = q->field->sigma;
    for (uint32_t i = 0; i < n; i++) {
        in[i] = w->p->x[i];
        in[n + i] = u[i] * sigma[i];
        in[2 * n + i] = w->z[i] * sigma[i];
    }
    memcpy(in + 3 * n, w->dp, w->np * sizeof *in);
    ns_flow_eval(q->field, w->mixed, in, right);
    for (uint32_t i = 0; i < n + w->m; i++) {
        for (uint32_t k = 0; k < q->g->count && i < n; k++)
            for (uint32_t j = 0; j < n; j++)
                right[i] -= w->z[n + k] * q->g->A[((size_t)k * n + i) * n + j] * in[n + j];
        right[i] /= -(i < n ? sigma[i] : 1);
    }
}

/* Rows of (L - lambda) u, G u and conj(u).u, derived by u and lambda:
 * S[2 (n + m) + 2][2 n + 2]. */
static void put_border(const mover *w, ns_eigenvalue e, const double *u, double *S)
{
    const uint32_t n = w->n, R = n + w->m, rows = 2 * R + 2, columns = 2 * n + 2;
    memset(S, 0, (size_t)rows * columns * sizeof *S);
    put_rows(w, e, columns, S);
    for (uint32_t i = 0; i < n; i++) {
        double *re = S + (size_t)i * columns + 2 * n;
        double *im = S + (size_t)(R + i) * columns + 2 * n;
        re[0] = im[1] = -u[i];
        re[1] = u[n + i];
        im[0] = -u[n + i];
        re = S + (size_t)(rows - 2) * columns;
        im = S + (size_t)(rows - 1) * columns;
        re[i] = im[n + i] = u[i];
        re[n + i] = u[n + i];
        im[i] = -u[n + i];
    }
}

/* The eigenvector u[2 n], of length 1, and the eigenvalue to their last digits by Newton's
 * method; false if the eigenvalue is not simple. */
static bool vector_of(const mover *w, ns_eigenvalue *e, double *u)
{
    enum { STEPS = 2 };
    const uint32_t n = w->n, rows = 2 * (n + w->m), columns = 2 * n;
    double *A = NS_NEW_ARRAY(w->a, double, (size_t)rows * columns + 1);
    double *s = NS_NEW_ARRAY(w->a, double, columns + 1);
    double *V = NS_NEW_ARRAY(w->a, double, (size_t)columns * columns + 1);
    double *S = NS_NEW_ARRAY(w->a, double, (size_t)(rows + 2) * (columns + 2));
    double *r = NS_NEW_ARRAY(w->a, double, rows + 2);
    double *step = NS_NEW_ARRAY(w->a, double, columns + 2);
    put_rows(w, *e, columns, A);
    if (!ns_dense_svd(w->a, rows, columns, A, s, V))
        return false;
    memcpy(u, V + (size_t)(columns - 1) * columns, columns * sizeof *u);
    if (s[columns - 2] > none * s[0] || (n > 1 && s[columns - 3] <= 100 * none * s[0]))
        return false;
    for (int k = 0; k < STEPS; k++) {
        put_border(w, *e, u, S);
        for (uint32_t i = 0; i < rows; i++) {
            r[i] = 0;
            for (uint32_t j = 0; j < columns; j++)
                r[i] -= S[(size_t)i * (columns + 2) + j] * u[j];
        }
        r[rows] = r[rows + 1] = 0;
        if (ns_dense_least(w->a, rows + 2, columns + 2, S, r, noise, step) < columns + 2)
            return false;
        for (uint32_t j = 0; j < columns; j++)
            u[j] += step[j];
        e->re += step[columns];
        e->im += e->im == 0 ? 0 : step[columns + 1];
    }
    return true;
}

static ns_eigenvalue eigenvalue_by(const mover *w, ns_eigenvalue e, const double *u)
{
    const uint32_t n = w->n, R = n + w->m, rows = 2 * R + 2, columns = 2 * n + 2;
    double *S = NS_NEW_ARRAY(w->a, double, (size_t)rows * columns);
    double *right = NS_NEW_ARRAY(w->a, double, rows);
    double *step = NS_NEW_ARRAY(w->a, double, columns);
    double *in = NS_NEW_ARRAY(w->a, double, 3 * (size_t)n + w->np + 1);
    put_border(w, e, u, S);
    put_right(w, u, in, right);
    put_right(w, u + n, in, right + R);
    right[rows - 2] = right[rows - 1] = 0;
    if (ns_dense_least(w->a, rows, columns, S, right, noise, step) < columns)
        return (ns_eigenvalue){NAN, NAN};
    return (ns_eigenvalue){step[2 * n], e.im == 0 ? 0 : step[2 * n + 1]};
}

/* All derivatives along one parameter. */
static void derive(mover *w, uint32_t over, ns_steady_rates *out, uint32_t k)
{
    const ns_linear *l = w->p->linear;
    double *z = out->state + (size_t)k * w->N, *value = out->value + (size_t)k * w->count;
    ns_eigenvalue *e = out->eigenvalue + (size_t)k * l->n;
    const bool there = move(w, over);
    for (uint32_t i = 0; i < w->N; i++)
        z[i] = there ? w->z[i] * (i < w->n ? w->q->field->sigma[i] : 1) : NAN;
    double *in = NS_NEW_ARRAY(w->a, double, 2 * (size_t)w->n + w->np + 1);
    memcpy(in, w->p->x, w->n * sizeof *in);
    memcpy(in + w->n, z, w->n * sizeof *in);
    memcpy(in + 2 * w->n, w->dp, w->np * sizeof *in);
    ns_flow_eval(w->q->field, w->values, in, value);
    double *u = NS_NEW_ARRAY(w->a, double, 2 * (size_t)w->n + 1);
    for (uint32_t i = 0; i < l->n; i++) {
        ns_eigenvalue one = l->eigenvalue[i];
        const bool other = i > 0 && one.im < 0 && l->eigenvalue[i - 1].im == -one.im;
        if (other)
            e[i] = (ns_eigenvalue){e[i - 1].re, -e[i - 1].im};
        else if (there && vector_of(w, &one, u))
            e[i] = eigenvalue_by(w, one, u);
        else
            e[i] = (ns_eigenvalue){NAN, NAN};
    }
}

const ns_steady_rates *ns_steady_derive(ns_steady *q, const ns_steady_point *p)
{
    ns_arena *a = q->field->scratch;
    const uint32_t by = q->spec.n_by;
    mover w = {.q = q,
               .a = a,
               .p = p,
               .n = q->n,
               .m = q->m,
               .N = q->N,
               .np = q->field->np,
               .count = q->field->system->observables.n};
    ns_steady_rates *out = NS_NEW(q->arena, ns_steady_rates);
    out->state = NS_NEW_ARRAY(q->arena, double, (size_t)by * q->N + 1);
    out->value = NS_NEW_ARRAY(q->arena, double, (size_t)by * w.count + 1);
    out->eigenvalue = NS_NEW_ARRAY(q->arena, ns_eigenvalue, (size_t)by * p->linear->n + 1);
    const ns_arena_place mark = ns_arena_mark(a);
    w.r = NS_NEW_ARRAY(a, double, q->rows + 1);
    w.D = NS_NEW_ARRAY(a, double, (size_t)q->rows * q->N + 1);
    w.z = NS_NEW_ARRAY(a, double, q->N + 1);
    w.dp = NS_NEW_ARRAY(a, double, w.np + 1);
    make_programs(&w);
    ns_steady_look(q, p->x, p->c, w.r, w.D);
    for (uint32_t k = 0; k < by; k++) {
        const ns_arena_place inner = ns_arena_mark(a);
        derive(&w, q->spec.by[k], out, k);
        ns_arena_release(a, inner);
    }
    ns_arena_release(a, mark);
    return out;
}
