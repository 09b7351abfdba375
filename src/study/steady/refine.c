/* Special points of a branch to the last digits.
 *
 * What vanishes there is the solution of a bordered linear system: a smooth function whose zero
 * the secant method finds, and not an eigenvalue or determinant, which lose what the matrix is
 * larger than they are.  States and solutions have the digits of ns_fine: residuals are
 * computed with them, steps and corrections by least squares in double; each round gains some
 * ten digits.
 *
 * With y = (z, parameter), z = (x/sigma, c), and F(y) = 0 the equations of a steady motion and
 * the choice of one of its family (branch.c), D = dF/dz:
 *   fold           F(y) = 0, v.(z - z0) = a gives the parameter as a function of a: its
 *                  derivative vanishes
 *   branch point   F(y) + mu w = 0, v.(z - z0) = a gives mu(parameter, a), with v near the
 *                  kernel of D and w not in its range: both derivatives vanish (mu is the
 *                  bifurcation function of Lyapunov and Schmidt)
 * Those of eigenvalues are in refine_spectrum.c. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/steady/refine_internal.h"

ns_refiner ns_refine_new(ns_follower *w, const ns_place *p)
{
    const ns_steady *q = w->q;
    ns_arena *a = w->temporary;
    ns_refiner f = {
        .w = w, .arena = a, .n = q->n, .m = q->m, .N = q->N, .rows = q->rows + w->k};
    f.K = p->K;
    f.y = NS_NEW_ARRAY(a, ns_fine, f.N + 1);
    f.r = NS_NEW_ARRAY(a, ns_fine, f.rows + 1);
    f.D = NS_NEW_ARRAY(a, ns_fine, (size_t)f.rows * (f.N + 1) + 1);
    f.v = NS_NEW_ARRAY(a, double, f.N + 1);
    f.z0 = NS_NEW_ARRAY(a, double, f.N + 1);
    f.beside = NS_NEW_ARRAY(a, double, f.rows + 1);
    for (uint32_t i = 0; i <= f.N; i++)
        f.y[i] = f.z0[i] = p->y[i];
    return f;
}

/* ---- F and its derivative ---------------------------------------------------------------- */

/* The rows of a steady motion, as ns_steady_look. */
static void look_at_motion(const ns_refiner *f, const ns_fine *x)
{
    ns_steady *q = f->w->q;
    const ns_generators *g = q->g;
    const uint32_t n = f->n, M = f->N + 1;
    ns_arena *a = f->arena;
    const double *sigma = q->field->sigma;
    const ns_fine *c = f->y + n;
    ns_fine *rate = NS_NEW_ARRAY(a, ns_fine, n + 1);
    ns_fine *J = NS_NEW_ARRAY(a, ns_fine, (size_t)n * n + 1);
    ns_flow_eval_fine(q->field, &q->field->rhs, x, rate);
    ns_flow_eval_fine(q->field, &q->field->jacobian, x, J);
    for (uint32_t i = 0; i < n; i++) {
        ns_fine *row = f->D + (size_t)i * M, sum = rate[i];
        for (uint32_t k = 0; k <= g->count; k++) { /* the last one is xi_0 */
            if (k == g->count && !g->A0)
                break;
            const double *A = k < g->count ? g->A + ((size_t)k * n + i) * n
                                           : g->A0 + (size_t)i * n;
            const ns_fine speed = k < g->count ? c[k] : 1;
            ns_fine xi = k < g->count ? g->b[(size_t)k * n + i] : g->b0[i];
            for (uint32_t j = 0; j < n; j++) {
                xi += A[j] * x[j];
                J[(size_t)i * n + j] -= speed * A[j];
            }
            sum -= speed * xi;
            if (k < g->count)
                row[n + k] = -xi / sigma[i];
        }
        f->r[i] = sum / sigma[i];
        for (uint32_t j = 0; j < n; j++)
            row[j] = J[(size_t)i * n + j] * sigma[j] / sigma[i];
    }
}

/* Rows from `first` on: `count` values, and after them their gradients, in out. */
static void look_at_values(const ns_refiner *f, uint32_t first, uint32_t count,
                           const ns_fine *out)
{
    const double *sigma = f->w->q->field->sigma;
    for (uint32_t i = 0; i < count; i++) {
        ns_fine *row = f->D + (size_t)(first + i) * (f->N + 1);
        f->r[first + i] = out[i];
        for (uint32_t j = 0; j < f->N; j++)
            row[j] = j < f->n ? out[count + (size_t)i * f->n + j] * sigma[j] : 0;
    }
}

/* r and D at y; false where they are not defined. */
static bool look(const ns_refiner *f)
{
    ns_follower *w = f->w;
    ns_steady *q = w->q;
    const uint32_t n = f->n, M = f->N + 1;
    const double *sigma = q->field->sigma;
    ns_arena *a = f->arena;
    const ns_arena_place mark = ns_arena_mark(a);
    double *y = NS_NEW_ARRAY(a, double, M);
    ns_fine *x = NS_NEW_ARRAY(a, ns_fine, n + 1);
    ns_fine *out = NS_NEW_ARRAY(a, ns_fine, (size_t)q->rows * (n + 1) + 1);
    for (uint32_t i = 0; i < M; i++)
        y[i] = (double)f->y[i];
    for (uint32_t i = 0; i < n; i++)
        x[i] = f->y[i] * sigma[i];
    bool good = ns_branch_look(w, y, f->K); /* parameters, start, rows of the choice */
    if (good) {
        look_at_motion(f, x);
        if (f->m)
            ns_flow_eval_fine(q->field, &q->field->manifold, x, out);
        look_at_values(f, n, f->m, out);
        if (q->h)
            ns_flow_eval_fine(q->field, q->held, x, out);
        for (uint32_t i = 0; i < q->h; i++)
            out[i] -= q->spec.hold[i].value;
        look_at_values(f, n + f->m, q->h, out);
        ns_flow_eval_fine(q->field, q->by_parameter, x, out);
        for (uint32_t i = 0; i < f->rows; i++) {
            ns_fine *row = f->D + (size_t)i * M;
            const double *coarse = w->D + (size_t)i * M;
            if (i < q->rows) {
                row[M - 1] = out[i] * q->scale / (i < n ? sigma[i] : 1);
            } else {
                f->r[i] = w->r[i];
                for (uint32_t j = 0; j < M; j++) {
                    row[j] = coarse[j];
                    f->r[i] += j < f->N ? coarse[j] * (f->y[j] - y[j]) : 0;
                }
            }
            good = good && isfinite((double)f->r[i]);
        }
    }
    ns_arena_release(a, mark);
    return good;
}

/* ---- solving ----------------------------------------------------------------------------- */

bool ns_refine_solve(ns_arena *a, uint32_t rows, uint32_t columns, const ns_fine *A,
                     const ns_fine *b, ns_fine *u)
{
    enum { ROUNDS = 4 };
    const ns_arena_place mark = ns_arena_mark(a);
    double *coarse = NS_NEW_ARRAY(a, double, (size_t)rows * columns + 1);
    double *left = NS_NEW_ARRAY(a, double, rows + 1);
    double *step = NS_NEW_ARRAY(a, double, columns + 1);
    bool good = true;
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        coarse[i] = (double)A[i];
    memset(u, 0, columns * sizeof *u);
    for (int round = 0; round < ROUNDS; round++) {
        const ns_arena_place inner = ns_arena_mark(a);
        for (uint32_t i = 0; i < rows; i++) {
            ns_fine sum = b[i];
            for (uint32_t j = 0; j < columns; j++)
                sum -= A[(size_t)i * columns + j] * u[j];
            left[i] = (double)sum;
        }
        ns_dense_least(a, rows, columns, coarse, left, 1e-13, step);
        for (uint32_t j = 0; j < columns; j++) {
            u[j] += step[j];
            good = good && isfinite(step[j]);
        }
        ns_arena_release(a, inner);
    }
    ns_arena_release(a, mark);
    return good;
}

/* D with its borders: a column, and the row of v. */
static ns_fine *bordered(const ns_refiner *f, ns_border what, uint32_t *rows, uint32_t *columns)
{
    *rows = f->rows + (what == NS_BORDER_NONE ? 0 : 1);
    *columns = f->N + (what == NS_BORDER_NONE ? 0 : 1);
    ns_fine *B = NS_NEW_ARRAY(f->arena, ns_fine, (size_t)*rows * *columns + 1);
    for (uint32_t i = 0; i < f->rows; i++) {
        const ns_fine *row = f->D + (size_t)i * (f->N + 1);
        memcpy(B + (size_t)i * *columns, row, f->N * sizeof *B);
        if (what != NS_BORDER_NONE)
            B[(size_t)i * *columns + f->N] = what == NS_BORDER_VECTOR ? f->beside[i]
                                                                      : row[f->N];
    }
    for (uint32_t j = 0; j < f->N && what != NS_BORDER_NONE; j++)
        B[(size_t)f->rows * *columns + j] = f->v[j];
    return B;
}

bool ns_refine_settle(ns_refiner *f, ns_border what, double amplitude)
{
    enum { ROUNDS = 10 };
    double before = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const ns_arena_place mark = ns_arena_mark(f->arena);
        if (!look(f))
            return false;
        uint32_t rows, columns;
        const ns_fine *B = bordered(f, what, &rows, &columns);
        double *coarse = NS_NEW_ARRAY(f->arena, double, (size_t)rows * columns + 1);
        double *left = NS_NEW_ARRAY(f->arena, double, rows + 1), size = 0;
        double *step = NS_NEW_ARRAY(f->arena, double, columns + 1);
        for (size_t i = 0; i < (size_t)rows * columns; i++)
            coarse[i] = (double)B[i];
        for (uint32_t i = 0; i < f->rows; i++)
            left[i] = (double)(f->r[i] + (what == NS_BORDER_VECTOR ? f->mu * f->beside[i] : 0));
        if (what != NS_BORDER_NONE) {
            ns_fine sum = -amplitude;
            for (uint32_t j = 0; j < f->N; j++)
                sum += f->v[j] * (f->y[j] - f->z0[j]);
            left[f->rows] = (double)sum;
        }
        ns_dense_least(f->arena, rows, columns, coarse, left, 1e-13, step);
        for (uint32_t j = 0; j < f->N; j++) {
            f->y[j] -= step[j];
            size = ns_max(size, fabs(step[j]));
        }
        if (what == NS_BORDER_VECTOR)
            f->mu -= step[f->N];
        if (what == NS_BORDER_PARAMETER) {
            f->y[f->N] = (double)(f->y[f->N] - step[f->N]);
            size = ns_max(size, fabs(step[f->N]));
        }
        ns_arena_release(f->arena, mark);
        if (!(size < 0.1))
            return false;
        if (size < 1e-25 || (size < 1e-10 && size > before / 8))
            return look(f);
        before = size;
    }
    return false;
}

/* The last unknown of B u = right. */
static double last_of(const ns_refiner *f, ns_border what, const ns_fine *right)
{
    const ns_arena_place mark = ns_arena_mark(f->arena);
    uint32_t rows, columns;
    const ns_fine *B = bordered(f, what, &rows, &columns);
    ns_fine *u = NS_NEW_ARRAY(f->arena, ns_fine, columns + 1);
    const bool good = ns_refine_solve(f->arena, rows, columns, B, right, u);
    const double last = good ? (double)u[columns - 1] : NAN;
    ns_arena_release(f->arena, mark);
    return last;
}

/* The derivative of the last unknown by the amplitude. */
static double by_amplitude(const ns_refiner *f, ns_border what)
{
    ns_fine *right = NS_NEW_ARRAY(f->arena, ns_fine, f->rows + 1);
    right[f->rows] = 1;
    return last_of(f, what, right);
}

/* ---- the search -------------------------------------------------------------------------- */

bool ns_refine_secant(double (*value)(void *context, double s), void *context, double *s)
{
    enum { ROUNDS = 16 };
    const double start = *s;
    double a = *s, b = *s + NS_REFINE_STEP, f_a = value(context, a), f_b = value(context, b);
    double moved = INFINITY;
    for (int round = 0; round < ROUNDS && isfinite(f_a) && isfinite(f_b); round++) {
        if (f_b == 0 || f_b == f_a || a == b) {
            *s = b;
            return f_b == 0 || moved < 1e-12;
        }
        const double next = b - f_b * ((b - a) / (f_b - f_a));
        moved = fabs(next - b);
        if (!(fabs(next - start) < 100 * NS_REFINE_STEP))
            return false;
        a = b;
        f_a = f_b;
        b = next;
        f_b = value(context, b);
        if (moved <= 1e-16 * fabs(b)) {
            *s = b;
            return isfinite(f_b);
        }
    }
    return false;
}

bool ns_refine_finish(const ns_refiner *f, ns_place *p)
{
    double *y = NS_NEW_ARRAY(f->arena, double, f->N + 1);
    for (uint32_t i = 0; i <= f->N; i++)
        y[i] = (double)f->y[i];
    if (!ns_branch_look(f->w, y, f->K))
        return false;
    memcpy(p->y, y, (f->N + 1) * sizeof *y);
    if (f->K != p->K)
        memcpy(p->K, f->K, (size_t)f->w->k * f->N * sizeof *p->K);
    double *along = ns_arena_copy(f->arena, p->tangent, (f->N + 1) * sizeof *along);
    ns_branch_tangent(f->w, along, p->tangent);
    ns_branch_linearise(f->w, p, f->arena);
    return true;
}

/* ---- fold -------------------------------------------------------------------------------- */

static double turning(void *context, double amplitude)
{
    ns_refiner *f = context;
    return ns_refine_settle(f, NS_BORDER_PARAMETER, amplitude)
               ? by_amplitude(f, NS_BORDER_PARAMETER)
               : NAN;
}

bool ns_refine_fold(ns_follower *w, ns_place *p)
{
    ns_refiner f = ns_refine_new(w, p);
    double length = 0, amplitude = 0;
    for (uint32_t i = 0; i < f.N; i++) { /* the tangent is the kernel of D */
        f.v[i] = p->tangent[i];
        length += f.v[i] * f.v[i];
    }
    for (uint32_t i = 0; i < f.N; i++)
        f.v[i] /= sqrt(length);
    return ns_refine_secant(turning, &f, &amplitude) && ns_refine_finish(&f, p);
}

/* ---- branch point ------------------------------------------------------------------------ */

/* The kernel of D0 where ns_branch_look was last: its `count` directions, in rows. */
static const double *kernel_of(const ns_refiner *f, uint32_t count)
{
    const uint32_t N = f->N;
    double *V = NS_NEW_ARRAY(f->arena, double, (size_t)N * N + 1);
    double *sigma = NS_NEW_ARRAY(f->arena, double, N + 1);
    ns_dense_svd(f->arena, f->w->q->rows, N, f->w->D0, sigma, V);
    return V + (size_t)(N - count) * N;
}

/* A place on the tangent, before or after p by about a step of the parameter. */
static bool look_beside(const ns_refiner *f, const ns_place *p, double sign)
{
    double *y = ns_arena_copy(f->arena, p->y, (f->N + 1) * sizeof *y);
    const double step = NS_REFINE_STEP / ns_max(fabs(p->tangent[f->N]), 1e-3);
    for (uint32_t i = 0; i <= f->N; i++)
        y[i] += sign * step * p->tangent[i];
    return ns_branch_look(f->w, y, p->K);
}

/* The kernel of D0 at p has one dimension more than the family: v.  There nothing tells them
 * apart, and the kernel's last directions are any mixture of both; before and after p the
 * family is the whole kernel, so what is common to both sides is the family at p. */
static bool split_kernel(ns_refiner *f, const ns_place *p)
{
    const uint32_t N = f->N, k = f->w->k;
    ns_arena *a = f->arena;
    double *parts = NS_NEW_ARRAY(a, double, (size_t)2 * k * (k + 1) + 1);
    double *sigma = NS_NEW_ARRAY(a, double, N + 1);
    double *turn = NS_NEW_ARRAY(a, double, (size_t)(k + 1) * (k + 1));
    double *turned = NS_NEW_ARRAY(a, double, (size_t)(k + 1) * N);
    if (!ns_branch_look(f->w, p->y, p->K))
        return false;
    const double *kernel = kernel_of(f, k + 1);
    for (uint32_t side = 0; side < 2 && k; side++) {
        if (!look_beside(f, p, side ? 1 : -1))
            return false;
        ns_flow_multiply_t(k, N, k + 1, kernel_of(f, k), kernel,
                           parts + (size_t)side * k * (k + 1));
    }
    ns_dense_svd(a, 2 * k, k + 1, parts, sigma, turn);
    ns_flow_multiply(k + 1, k + 1, N, turn, kernel, turned);
    f->K = turned;
    memcpy(f->v, turned + (size_t)k * N, N * sizeof *f->v);
    return true;
}

/* mu by amplitude and by parameter. */
static bool slopes(ns_refiner *f, double parameter, double amplitude, double e[2])
{
    f->y[f->N] = parameter;
    if (!ns_refine_settle(f, NS_BORDER_VECTOR, amplitude))
        return false;
    ns_fine *right = NS_NEW_ARRAY(f->arena, ns_fine, f->rows + 1);
    for (uint32_t i = 0; i < f->rows; i++)
        right[i] = -f->D[(size_t)i * (f->N + 1) + f->N];
    e[0] = by_amplitude(f, NS_BORDER_VECTOR);
    e[1] = last_of(f, NS_BORDER_VECTOR, right);
    return isfinite(e[0]) && isfinite(e[1]);
}

bool ns_refine_branch_point(ns_follower *w, ns_place *p)
{
    enum { ROUNDS = 16 };
    ns_refiner f = ns_refine_new(w, p);
    if (p->y[f.N] + NS_REFINE_STEP == p->y[f.N] || f.w->k + 1 > f.N || f.N > w->q->rows)
        return false;
    /* beside the range of D: what D makes of v a little further on the branch */
    double length = 0;
    if (!split_kernel(&f, p) || !look_beside(&f, p, 1))
        return false;
    for (uint32_t i = 0; i < f.rows; i++) {
        for (uint32_t j = 0; j < f.N; j++)
            f.beside[i] += w->D[(size_t)i * (f.N + 1) + j] * f.v[j];
        length += f.beside[i] * f.beside[i];
    }
    for (uint32_t i = 0; i < f.rows; i++)
        f.beside[i] /= sqrt(length);
    double s = p->y[f.N], a = 0, e[2], by_s[2], by_a[2];
    if (!slopes(&f, s, NS_REFINE_STEP, by_a) || !slopes(&f, s + NS_REFINE_STEP, 0, by_s) ||
        !slopes(&f, s, 0, e))
        return false;
    double J[2][2]; /* of e by s and a; corrected by Broyden's rule */
    for (int i = 0; i < 2; i++) {
        J[i][0] = (by_s[i] - e[i]) / NS_REFINE_STEP;
        J[i][1] = (by_a[i] - e[i]) / NS_REFINE_STEP;
    }
    for (int round = 0; round < ROUNDS; round++) {
        const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
        const double ds = -(e[0] * J[1][1] - e[1] * J[0][1]) / det;
        const double da = -(e[1] * J[0][0] - e[0] * J[1][0]) / det;
        double now[2];
        if (!(fabs(s + ds - p->y[f.N]) < 100 * NS_REFINE_STEP) ||
            !(fabs(a + da) < 100 * NS_REFINE_STEP) || !slopes(&f, s + ds, a + da, now))
            return false;
        s += ds;
        a += da;
        const double square = ds * ds + da * da;
        if (fabs(ds) <= 1e-16 * fabs(s))
            return ns_refine_finish(&f, p);
        for (int i = 0; i < 2; i++) {
            const double miss = now[i] - e[i] - J[i][0] * ds - J[i][1] * da;
            J[i][0] += miss * ds / square;
            J[i][1] += miss * da / square;
            e[i] = now[i];
        }
    }
    return false;
}
