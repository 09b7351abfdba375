/* Branches of steady motions in a parameter, by pseudo-arclength.
 *
 * Unknowns y = (x/sigma, c, parameter/scale).  Rows: the equations of a steady motion, F(y) = 0; the
 * choice of one member of the family,
 *
 *     k^T (x - x_s(parameter)) = 0    for all directions k of the family (the kernel of dF/d(x, c)),
 *
 * with x_s the model's own start: the nearest member; and the hyperplane of the step,
 * w^T (y - predicted) = 0.  The kernel is taken at the solution itself, by a second pass.
 *
 * Along the branch the signs of the determinant of what remains of the linearisation, of the change of
 * the parameter, and the number of growing modes are watched.  Where one changes between two points
 * the place is found on the chord between them:
 *     fold             the parameter turns back
 *     pitchfork, branch point, double zero   a real eigenvalue (or a pair +-lambda, lambda^2) passes zero: by the
 *                      second derivative along the critical direction, zero or not; double zero if the
 *                      critical direction leads along the family (nothing branches off)
 *     hopf             a complex pair passes the imaginary axis
 *     collision        two imaginary pairs meet and leave the axis */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "mech/dense.h"
#include "study/steady_internal.h"

enum { MOST_POINTS = 4000, LEAST_POINTS = 40 };

typedef struct place {
    double *y;       /* [N + 1] */
    double *tangent; /* [N + 1] */
    double *K;       /* [k][N] kernel: directions of the family */
    ns_linear *linear;
} place;

typedef struct follower {
    ns_steady *q;
    ns_branch *branch;
    ns_linear_shape shape;
    uint32_t k;      /* dimension of the kernel */
    uint32_t rows;   /* of F, of the choice, of the hyperplane */
    double *r, *D;   /* [rows], [rows][N + 1] */
    double *x, *c;   /* work */
    double *r0, *D0; /* of F alone */
    ns_arena *temporary;
    const ns_flow_program *second; /* D^2 (f, C) along directions */
} follower;

static double parameter_of(const follower *w, const double *y)
{
    return y[w->q->N] * w->q->scale;
}

static void unpack(follower *w, const double *y)
{
    const ns_steady *q = w->q;
    for (uint32_t i = 0; i < q->n; i++)
        w->x[i] = y[i] * q->field->sigma[i];
    memcpy(w->c, y + q->n, q->g->count * sizeof *y);
}

static void pack(const follower *w, const double *x, const double *c, double parameter,
                 double *y)
{
    const ns_steady *q = w->q;
    for (uint32_t i = 0; i < q->n; i++)
        y[i] = x[i] / q->field->sigma[i];
    memcpy(y + q->n, c, q->g->count * sizeof *y);
    y[q->N] = parameter / q->scale;
}

/* The model's start at the parameter, and its derivative: set states follow their formulas, the free
 * ones give way. */
static bool look_at_start(follower *w)
{
    ns_steady *q = w->q;
    const ns_system *s = q->field->system;
    const uint32_t n = q->n, m = s->constraints.n + s->start.extra.n;
    ns_arena *a = q->field->scratch;
    if (!ns_system_start(s, q->diag, q->field->t, q->p, q->start))
        return false;
    ns_system_eval(s, q->start_value, n, q->field->t, q->p, NULL, q->start_rate);
    if (!m)
        return true;
    const ns_arena_place mark = ns_arena_mark(a);
    double *r = NS_NEW_ARRAY(a, double, m), *J = NS_NEW_ARRAY(a, double, (size_t)m * n);
    double *A = NS_NEW_ARRAY(a, double, (size_t)m * n), *dx = NS_NEW_ARRAY(a, double, n + 1);
    uint32_t columns = 0;
    ns_system_eval(s, q->start_residual, m, q->field->t, q->p, q->start, r);
    ns_system_eval(s, s->start.jacobian, (size_t)m * n, q->field->t, q->p, q->start, J);
    for (uint32_t j = 0; j < n; j++)
        columns += s->start.free[j];
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0, k = 0; j < n; j++) {
            r[i] += J[(size_t)i * n + j] * q->start_rate[j];
            if (s->start.free[j])
                A[(size_t)i * columns + k++] = J[(size_t)i * n + j];
        }
    ns_dense_least(a, m, columns, A, r, 1e-10, dx);
    for (uint32_t j = 0, k = 0; j < n; j++)
        if (s->start.free[j])
            q->start_rate[j] -= dx[k++];
    ns_arena_release(a, mark);
    return true;
}

/* Rows of F and of the choice (with the kernel K) at y; false where they are not defined. */
static bool look(follower *w, const double *y, const double *K)
{
    ns_steady *q = w->q;
    const uint32_t N = q->N, n = q->n, M = N + 1;
    ns_steady_parameter(q, parameter_of(w, y));
    unpack(w, y);
    if (!look_at_start(w))
        return false;
    ns_steady_look(q, w->x, w->c, w->r0, w->D0);
    ns_flow_eval(q->field, q->by_parameter, w->x, q->by);
    for (uint32_t i = 0; i < q->rows; i++) {
        memcpy(w->D + (size_t)i * M, w->D0 + (size_t)i * N, N * sizeof *w->D);
        w->r[i] = w->r0[i];
        w->D[(size_t)i * M + N] = q->by[i] * q->scale / (i < n ? q->field->sigma[i] : 1);
        if (!isfinite(w->r[i]))
            return false;
    }
    for (uint32_t l = 0; l < w->k; l++) {
        double *row = w->D + (size_t)(q->rows + l) * M, sum = 0, rate = 0, size = 0;
        const double *direction = K + (size_t)l * N;
        memset(row, 0, M * sizeof *row);
        for (uint32_t i = 0; i < n; i++)
            size += direction[i] * direction[i];
        const bool speeds = size < 1e-12; /* a symmetry that does not move the state */
        for (uint32_t i = speeds ? n : 0; i < (speeds ? N : n); i++) {
            row[i] = direction[i];
            sum += direction[i] * (i < n ? y[i] - q->start[i] / q->field->sigma[i] : y[i]);
            rate += i < n ? direction[i] * q->start_rate[i] / q->field->sigma[i] : 0;
        }
        row[N] = -rate * q->scale;
        w->r[q->rows + l] = sum;
    }
    return true;
}

/* Kernel of dF/d(x, c) after `look`: found if k is not known yet. */
static void kernel(follower *w, bool find, double *K)
{
    const ns_steady *q = w->q;
    ns_arena *a = q->field->scratch;
    const uint32_t N = q->N;
    const ns_arena_place mark = ns_arena_mark(a);
    double *V = NS_NEW_ARRAY(a, double, (size_t)N * N);
    const uint32_t least = q->rows < N ? q->rows : N;
    double *sigma = NS_NEW_ARRAY(a, double, least + 1);
    ns_dense_svd(a, q->rows, N, w->D0, sigma, V);
    if (find)
        for (w->k = N - least; w->k < N && sigma[N - 1 - w->k] <= 1e-9 * sigma[0];)
            w->k++;
    memcpy(K, V + (size_t)(N - w->k) * N, (size_t)w->k * N * sizeof *K);
    /* directions that move no state come last, as pure changes of speed: the others lose their share
     * in them by a turn that diagonalises the parts on the states */
    double *part = NS_NEW_ARRAY(a, double, (size_t)w->k * q->n + 1);
    double *U = NS_NEW_ARRAY(a, double, (size_t)w->k * w->k + 1);
    double *turned = NS_NEW_ARRAY(a, double, (size_t)w->k * N + 1);
    for (uint32_t j = 0; j < q->n; j++)
        for (uint32_t l = 0; l < w->k; l++)
            part[(size_t)j * w->k + l] = K[(size_t)l * N + j];
    double *s = NS_NEW_ARRAY(a, double, w->k + q->n + 1);
    ns_dense_svd(a, q->n, w->k, part, s, U);
    ns_flow_multiply(w->k, w->k, N, U, K, turned);
    memcpy(K, turned, (size_t)w->k * N * sizeof *K);
    ns_arena_release(a, mark);
}

/* Newton's method on the hyperplane normal . (y - predicted) = 0. */
static bool correct(follower *w, double *y, const double *normal, const double *predicted,
                    const double *K, int *rounds)
{
    enum { ROUNDS = 14 };
    const ns_steady *q = w->q;
    const uint32_t M = q->N + 1;
    ns_arena *a = q->field->scratch;
    double before = INFINITY;
    for (*rounds = 0; *rounds < ROUNDS; ++*rounds) {
        if (!look(w, y, K))
            return false;
        double *row = w->D + (size_t)(w->rows - 1) * M, sum = 0, length = 0;
        for (uint32_t i = 0; i < M; i++) {
            row[i] = normal[i];
            sum += normal[i] * (y[i] - predicted[i]);
        }
        w->r[w->rows - 1] = sum;
        /* near a bifurcation rounding errors move the solution along the critical direction: what
         * satisfies the equations is a solution */
        double off = ns_steady_quality(q, w->c, w->r);
        for (uint32_t i = q->n; i < w->rows; i++)
            off = fmax(off, fabs(w->r[i]));
        if (*rounds > 0 && off < 1e-12)
            return true;
        const ns_arena_place mark = ns_arena_mark(a);
        double *dy = NS_NEW_ARRAY(a, double, M);
        ns_dense_least(a, w->rows, M, w->D, w->r, 1e-13, dy);
        for (uint32_t i = 0; i < M; i++) {
            y[i] -= dy[i];
            length = fmax(length, fabs(dy[i]));
        }
        ns_arena_release(a, mark);
        if (!(length < 1))
            return false;
        if (length < 1e-13 || (length < 1e-8 && length >= before / 4))
            return true;
        before = length;
    }
    return before < 1e-8;
}

/* Tangent of the branch at y after `look` with its own kernel, in the direction of `along`. */
static void tangent(follower *w, const double *along, double *t)
{
    const ns_steady *q = w->q;
    const uint32_t M = q->N + 1, rows = w->rows - 1;
    ns_arena *a = q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *V = NS_NEW_ARRAY(a, double, (size_t)M * M);
    double *sigma = NS_NEW_ARRAY(a, double, rows + M);
    ns_dense_svd(a, rows, M, w->D, sigma, V);
    double dot = 0;
    for (uint32_t i = 0; i < M; i++)
        dot += V[(size_t)(M - 1) * M + i] * along[i];
    for (uint32_t i = 0; i < M; i++)
        t[i] = (dot < 0 ? -1 : 1) * V[(size_t)(M - 1) * M + i];
    ns_arena_release(a, mark);
}

static place place_new(const follower *w, ns_arena *a)
{
    const uint32_t N = w->q->N;
    return (place){.y = NS_NEW_ARRAY(a, double, N + 1),
                       .tangent = NS_NEW_ARRAY(a, double, N + 1),
                                               .K = NS_NEW_ARRAY(a, double, (size_t)N * N + 1)};
}

/* Solves on the hyperplane from p->y on, beginning with the kernel K; then with the kernel at the
 * solution. */
static bool settle(follower *w, place *p, const double *normal, const double *predicted,
                   const double *K, int *rounds)
{
    enum { PASSES = 6 };
    const uint32_t M = w->q->N + 1;
    ns_arena *a = w->q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *old = NS_NEW_ARRAY(a, double, M);
    bool good = correct(w, p->y, normal, predicted, K, rounds);
    for (int pass = 0; pass < PASSES && good; pass++) {
        memcpy(old, p->y, M * sizeof *old);
        good = look(w, p->y, K);
        kernel(w, false, p->K);
        int more;
        good = good && correct(w, p->y, normal, predicted, p->K, &more);
        double change = 0;
        for (uint32_t i = 0; i < M; i++)
            change = fmax(change, fabs(p->y[i] - old[i]));
        if (change < 1e-9)
            break;
    }
    ns_arena_release(a, mark);
    return good && look(w, p->y, p->K);
}

static void linearise(follower *w, place *p, ns_arena *a)
{
    unpack(w, p->y);
    p->linear = ns_linear_at(w->q->field, w->q->g, a, w->x, w->c, &w->shape);
}

/* A copy of the place for the results. */
static ns_steady_point record(follower *w, place *p)
{
    ns_steady *q = w->q;
    ns_steady_point point = {.parameter = parameter_of(w, p->y)};
    unpack(w, p->y);
    point.x = ns_arena_copy(q->arena, w->x, q->n * sizeof(double));
    point.c = ns_arena_copy(q->arena, w->c, (q->g->count + 1) * sizeof(double));
    point.residual = ns_steady_quality(q, w->c, w->r);
    point.linear = NS_NEW(q->arena, ns_linear);
    *point.linear = *p->linear;
    point.linear->basis = point.linear->M = NULL;
    point.linear->eigenvalue = ns_arena_copy(q->arena, p->linear->eigenvalue,
                                             p->linear->n * sizeof(ns_eigenvalue));
    return point;
}

/* ---- special points -------------------------------------------------------------------------- */

typedef enum watch { DETERMINANT, TURNING, PAIR, COUNT } watch;

/* The complex pair nearest to `im`; its real part, and *im its imaginary part. */
static double nearest_pair(const ns_linear *l, double *im)
{
    double best = INFINITY, re = NAN, found = *im;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->eigenvalue[i].im > 0 && fabs(l->eigenvalue[i].im - *im) < best) {
            best = fabs(l->eigenvalue[i].im - *im);
            re = l->eigenvalue[i].re;
            found = l->eigenvalue[i].im;
        }
    *im = found;
    return re;
}

/* What vanishes at the special point.  `reference`: log |det| or number of growing modes at one end,
 * or imaginary part of the pair. */
static double test(const place *p, uint32_t N, watch what, double reference)
{
    switch (what) {
    case DETERMINANT:
        return p->linear->sign * exp(p->linear->log_det - reference);
    case TURNING:
        return p->tangent[N];
    case PAIR:
        return nearest_pair(p->linear, &reference);
    case COUNT:
        return (double)p->linear->unstable - reference;
    }
    return NAN;
}

/* Between a and b the test changes its sign: the place, by the Illinois method on the chord (bisection
 * for the number of modes). */
static bool locate(follower *w, const place *a, const place *b, watch what, double ref_a,
                   double ref_b, place *out)
{
    enum { ROUNDS = 80 };
    const uint32_t N = w->q->N, M = N + 1;
    ns_arena *arena = w->temporary;
    double *chord = NS_NEW_ARRAY(arena, double, M), *predicted = NS_NEW_ARRAY(arena, double, M);
    double *normal = NS_NEW_ARRAY(arena, double, M);
    for (uint32_t i = 0; i < M; i++)
        chord[i] = normal[i] = b->y[i] - a->y[i];
    if (what != TURNING && a->tangent[N] * b->tangent[N] > 0) {
        /* the parameter itself tells places apart, whatever noise the critical direction has */
        memset(normal, 0, M * sizeof *normal);
        normal[N] = 1;
    }
    const bool blend = what == PAIR; /* the frequency changes from one end to the other */
    double s0 = 0, s1 = 1, f0 = test(a, N, what, ref_a),
           f1 = test(b, N, what, blend ? ref_b : ref_a);
    if (!(f0 * f1 <= 0))
        return false;
    const double least = what == COUNT ? 0 : 1e-13 * fmax(fabs(f0), fabs(f1));
    double last = NAN;
    int side = 0, failures = 0;
    place ends[2] = {*a, *b}; /* the nearest places on both sides */
    for (int k = 0; k < ROUNDS; k++) {
        const double width = s1 - s0;
        double s = what == COUNT || f1 == f0 ? (s0 + s1) / 2 : s1 - f1 * width / (f1 - f0);
        if (k % 8 == 7)
            s = (s0 + s1) / 2;
        /* at a branch point itself the equations are singular: come near from both sides */
        const bool near = failures && width < 1e-7;
        if (failures && !near)
            s = fmin(fmax(s + (failures % 2 ? 0.03 : -0.03) * width, s0 + 0.01 * width),
                     s1 - 0.01 * width);
        for (uint32_t i = 0; i < M; i++)
            predicted[i] = a->y[i] + s * chord[i];
        place here = place_new(w, arena);
        for (uint32_t i = 0; i < M; i++)
            here.y[i] = ends[0].y[i] + (s - s0) / width * (ends[1].y[i] - ends[0].y[i]);
        int rounds;
        if (near || !settle(w, &here, normal, predicted, a->K, &rounds)) {
            if (!near && failures++ < 12)
                continue;
            if (!near)
                return false;
            for (uint32_t i = 0; i < M; i++)
                here.y[i] = ends[0].y[i] + (s - s0) / width * (ends[1].y[i] - ends[0].y[i]);
            memcpy(here.K, ends[0].K, (size_t)w->k * N * sizeof *here.K);
            look(w, here.y, here.K);
        }
        tangent(w, chord, here.tangent);
        linearise(w, &here, arena);
        *out = here;
        const double f = test(&here, N, what, blend ? ref_a + s * (ref_b - ref_a) : ref_a);
        if (near || isnan(f) || fabs(f) <= least || fabs(s - last) < 1e-15)
            return !isnan(f);
        last = s;
        if ((f > 0) == (f1 > 0)) {
            s1 = s;
            f1 = f;
            ends[1] = here;
            f0 /= side == 1 ? 2 : 1;
            side = 1;
        } else {
            s0 = s;
            f0 = f;
            ends[0] = here;
            f1 /= side == -1 ? 2 : 1;
            side = -1;
        }
        if (s1 - s0 < 1e-14 || (k > 3 && width - (s1 - s0) < 1e-13 && s1 - s0 < 1e-9))
            return true;
    }
    return s1 - s0 < 1e-10;
}

/* Second derivative of the equations along the critical direction, in the left critical direction,
 * over its size: zero at a pitchfork.  nan if it cannot be told. */
static double bend(follower *w, place *p)
{
    ns_steady *q = w->q;
    const ns_system *s = q->field->system;
    const uint32_t n = q->n, m = q->m, r = p->linear->n, count = q->g->count;
    ns_arena *a = w->temporary;
    if (!w->second) {
        ns_ex *x = NS_NEW_ARRAY(q->arena, ns_ex, n), *v = NS_NEW_ARRAY(q->arena, ns_ex, n);
        ns_ex *one = NS_NEW_ARRAY(q->arena, ns_ex, n + m + 1);
        ns_ex *two = NS_NEW_ARRAY(q->arena, ns_ex, n + m + 1);
        uint32_t k = n;
        for (uint32_t i = 0; i < n; i++) {
            x[i] = s->states.at[i].symbol;
            v[i] = ns_symbol_new(s->graph, "v", NS_SYM_STATE, n + i);
            one[i] = s->states.at[i].rate;
        }
        for (uint32_t i = 0; i < s->constraints.n; i++)
            if (s->constraints.at[i].project)
                one[k++] = s->constraints.at[i].residual;
        ns_diff_along(s->graph, one, n + m, x, v, n, two);
        ns_diff_along(s->graph, two, n + m, x, v, n, one);
        w->second = ns_flow_program_new(q->field, one, n + m, v, n);
    }
    double *V = NS_NEW_ARRAY(a, double, (size_t)r * r), *sigma = NS_NEW_ARRAY(a, double, r + 1);
    double *Mt = NS_NEW_ARRAY(a, double, (size_t)r * r), *in = NS_NEW_ARRAY(a, double, 2 * n);
    double *left = NS_NEW_ARRAY(a, double, n), *out = NS_NEW_ARRAY(a, double, n + m + 1);
    double *L = NS_NEW_ARRAY(a, double, (size_t)n * n), *bent = NS_NEW_ARRAY(a, double, n + 1);
    double *gamma = NS_NEW_ARRAY(a, double, count + 1),
                                 *Xi = NS_NEW_ARRAY(a, double, n * count + 1);
    double *Lv = NS_NEW_ARRAY(a, double, n), *C = NS_NEW_ARRAY(a, double, m + 1);
    double *G = NS_NEW_ARRAY(a, double, (size_t)m * n + 1),
                             *xi = NS_NEW_ARRAY(a, double, n * count + 1);
    unpack(w, p->y);
    memcpy(in, w->x, n * sizeof *in);
    double *v = in + n;
    ns_dense_svd(a, r, r, p->linear->M, sigma, V);
    for (uint32_t i = 0; i < r; i++)
        for (uint32_t j = 0; j < n; j++)
            v[j] += V[(size_t)(r - 1) * r + i] * p->linear->basis[(size_t)i * n + j];
    for (uint32_t i = 0; i < r; i++)
        for (uint32_t j = 0; j < r; j++)
            Mt[(size_t)i * r + j] = p->linear->M[(size_t)j * r + i];
    ns_dense_svd(a, r, r, Mt, sigma, V);
    for (uint32_t i = 0; i < r; i++)
        for (uint32_t j = 0; j < n; j++)
            left[j] += V[(size_t)(r - 1) * r + i] * p->linear->basis[(size_t)i * n + j];
    ns_flow_jacobian(q->field, w->x, L);
    for (uint32_t k = 0; k < count; k++)
        for (size_t i = 0; i < (size_t)n * n; i++)
            L[i] -= w->c[k] * q->g->A[(size_t)k * n * n + i];
    /* L v = sum gamma_k xi_k */
    ns_generators_at(q->g, w->x, xi);
    ns_flow_multiply(n, n, 1, L, v, Lv);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < count; k++)
            Xi[(size_t)i * count + k] = xi[(size_t)k * n + i];
    ns_dense_least(a, n, count, Xi, Lv, 1e-10, gamma);
    double scale = 0;
    for (size_t i = 0; i < (size_t)r * r; i++)
        scale = fmax(scale, fabs(p->linear->M[i]));
    /* what of L v leads to other steady motions: no new branch then */
    double beside = 0, along = 0;
    for (uint32_t i = 0; i < n; i++) {
        double rest = Lv[i];
        for (uint32_t k = 0; k < count; k++)
            rest -= Xi[(size_t)i * count + k] * gamma[k];
        beside = fmax(beside, fabs(rest));
        along = fmax(along, fabs(v[i]));
    }
    if (beside > 1e-6 * along * scale)
        return NAN;
    ns_flow_eval(q->field, w->second, in, out);
    /* the state follows the manifold: x + e v + e^2 u/2, G u = -D^2 C(v, v) */
    ns_flow_manifold(q->field, w->x, C, G);
    ns_dense_least(a, m, n, G, out + n, 1e-9, bent);
    double sum = 0, size = 0;
    for (uint32_t i = 0; i < n; i++) {
        double term = out[i];
        for (uint32_t j = 0; j < n; j++) {
            term -= L[(size_t)i * n + j] * bent[j];
            for (uint32_t k = 0; k < count; k++)
                term -= 2 * gamma[k] * q->g->A[((size_t)k * n + i) * n + j] * v[j];
        }
        sum += left[i] * term;
        size += fabs(left[i]) * (fabs(out[i]) + fabs(term));
    }
    return sum != 0 ? fabs(sum) / fmax(size, 1e-6 * scale) : 0;
}

static void note_change(follower *w, ns_steady_point *point, const place *a, const place *b,
                        const char *what)
{
    const uint32_t before = a->linear->unstable, after = b->linear->unstable;
    point->note = ns_arena_format(w->q->arena, "%s; growing modes: %u before, %u after", what,
                                  before, after);
}

/* Looks between two neighbouring places. */
static void watch_between(follower *w, place *a, place *b)
{
    ns_steady *q = w->q;
    const uint32_t N = q->N;
    ns_arena *arena = w->temporary;
    const bool turns = a->tangent[N] * b->tangent[N] < 0;
    const bool passes = a->linear->n && a->linear->sign * b->linear->sign < 0;
    const bool modes = a->linear->unstable != b->linear->unstable;
    const uint32_t known = w->branch->special.n;
    const ns_arena_place mark = ns_arena_mark(arena);
    place at = place_new(w, arena);
    if (turns && locate(w, a, b, TURNING, 0, 0, &at)) {
        ns_steady_point point = record(w, &at);
        point.label = "fold";
        note_change(w, &point, a, b, "the branch turns back");
        NS_PUSH(q->arena, w->branch->special, point);
    } else if (passes && locate(w, a, b, DETERMINANT, a->linear->log_det, 0, &at)) {
        ns_steady_point point = record(w, &at);
        const double bent = bend(w, &at);
        point.label = isnan(bent) ? "double zero" : bent < 1e-6 ? "pitchfork" : "branch point";
        const int change = (int)b->linear->unstable - (int)a->linear->unstable;
        /* with +-lambda the number of decaying modes changes along */
        const bool pair = (int)b->linear->stable - (int)a->linear->stable == change &&
                          change != 0;
        note_change(w, &point, a, b,
                    pair ? "a pair of real eigenvalues +-lambda meets at zero and becomes "
                           "imaginary, or the reverse"
                         : "a real eigenvalue passes zero");
        NS_PUSH(q->arena, w->branch->special, point);
    } else if (!turns && !passes && modes) {
        /* a pair that passes the axis, or two that meet on it */
        double im_a = NAN, im_b = NAN;
        const double tol = ns_linear_tolerance(a->linear);
        for (uint32_t i = 0; i < a->linear->n; i++) {
            const ns_eigenvalue e = a->linear->eigenvalue[i];
            double im = e.im;
            if (!(e.im > tol) || fabs(e.re) <= tol)
                continue;
            const double re = nearest_pair(b->linear, &im);
            if (re * e.re < 0 && fabs(re) > tol) {
                im_a = e.im;
                im_b = im;
            }
        }
        if (!isnan(im_a) && locate(w, a, b, PAIR, im_a, im_b, &at)) {
            ns_steady_point point = record(w, &at);
            point.label = "hopf";
            double im = (im_a + im_b) / 2;
            nearest_pair(at.linear, &im);
            note_change(w, &point, a, b,
                        ns_arena_format(q->arena,
                                        "a pair passes the imaginary axis at %.10g rad/s", im));
            NS_PUSH(q->arena, w->branch->special, point);
        } else if (isnan(im_a)) {
            const double middle = (a->linear->unstable + b->linear->unstable) / 2.0;
            if (locate(w, a, b, COUNT, middle, 0, &at)) {
                ns_steady_point point = record(w, &at);
                point.label = "collision";
                note_change(w, &point, a, b, "eigenvalues meet on the imaginary axis");
                NS_PUSH(q->arena, w->branch->special, point);
            }
        }
    }
    if (w->branch->special.n == known && (turns || passes || modes)) { /* never silently */
        look(w, b->y, b->K);
        ns_steady_point point = record(w, b);
        point.label = "change";
        note_change(w, &point, a, b,
                    ns_arena_format(q->arena, "between %.10g and here, not located",
                                    parameter_of(w, a->y)));
        NS_PUSH(q->arena, w->branch->special, point);
    }
    ns_arena_release(arena, mark);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* The first place, at parameter `low`. */
static bool begin(follower *w, place *p, const char **message)
{
    ns_steady *q = w->q;
    const uint32_t M = q->N + 1;
    ns_steady_parameter(q, q->spec.low);
    if (!ns_system_start(q->field->system, q->diag, q->field->t, q->p, q->start)) {
        *message = "the model has no start at the lower end of the range";
        return false;
    }
    ns_steady_point point;
    if (!ns_steady_find(q, q->start, &point)) {
        *message = ns_arena_format(
            q->arena,
            "no steady motion was found near the start at the lower end of the "
            "range (the remaining acceleration is %.2g of its terms)",
            point.residual);
        return false;
    }
    /* shape and kernel are those of a generic place, a little inside the range */
    double *normal = NS_NEW_ARRAY(q->arena, double, M),
                                  *predicted = NS_NEW_ARRAY(q->arena, double, M);
    normal[q->N] = 1;
    pack(w, point.x, point.c, q->spec.low, p->y);
    w->k = 0;
    if (!look(w, p->y, p->K)) {
        *message = "the equations are not defined at the lower end of the range";
        return false;
    }
    kernel(w, true, p->K);
    w->rows = q->rows + w->k + 1;
    w->shape = ns_linear_at(q->field, q->g, q->arena, point.x, point.c, NULL)->shape;
    memcpy(predicted, p->y, M * sizeof *predicted);
    int rounds;
    if (!settle(w, p, normal, predicted, p->K, &rounds)) {
        *message = "the steady motion at the lower end of the range could not be made precise";
        return false;
    }
    tangent(w, normal, p->tangent);
    linearise(w, p, q->arena);
    return true;
}

static bool inside(const ns_steady *q, double value)
{
    const double margin = 1e-12 * fabs(q->scale);
    return value >= fmin(q->spec.low, q->spec.high) - margin &&
           value <= fmax(q->spec.low, q->spec.high) + margin;
}

/* Ends the branch exactly on the end of the range between a and b. */
static void end_on_border(follower *w, const place *a, const place *b)
{
    ns_steady *q = w->q;
    const uint32_t N = q->N, M = N + 1;
    ns_arena *arena = w->temporary;
    const double value = parameter_of(w, b->y);
    const double low = fmin(q->spec.low, q->spec.high), high = fmax(q->spec.low, q->spec.high);
    const double border = value > high ? high : low;
    const ns_arena_place mark = ns_arena_mark(arena);
    place at = place_new(w, arena);
    double *normal = NS_NEW_ARRAY(arena, double, M),
                                  *predicted = NS_NEW_ARRAY(arena, double, M);
    const double s = (border / q->scale - a->y[N]) / (b->y[N] - a->y[N]);
    normal[N] = 1;
    for (uint32_t i = 0; i < M; i++)
        at.y[i] = predicted[i] = a->y[i] + s * (b->y[i] - a->y[i]);
    predicted[N] = border / q->scale;
    int rounds;
    if (settle(w, &at, normal, predicted, a->K, &rounds)) {
        tangent(w, a->tangent, at.tangent);
        linearise(w, &at, arena);
        place from = *a;
        watch_between(w, &from, &at);
        look(w, at.y, at.K);
        NS_PUSH(q->arena, w->branch->points, record(w, &at));
    }
    ns_arena_release(arena, mark);
}

static void walk(follower *w, place *here)
{
    ns_steady *q = w->q;
    const uint32_t M = q->N + 1;
    const double longest = 1.0 / LEAST_POINTS;
    double step = longest / 4;
    double *predicted = NS_NEW_ARRAY(q->arena, double, M);
    NS_PUSH(q->arena, w->branch->points, record(w, here));
    while (w->branch->points.n < MOST_POINTS) {
        const ns_arena_place mark = ns_arena_mark(w->temporary);
        place next = place_new(w, w->temporary);
        /* the step is measured along the branch, but the parameter alone must not jump either */
        const double part = fmin(step, longest / fmax(fabs(here->tangent[q->N]), 1e-3));
        for (uint32_t i = 0; i < M; i++)
            next.y[i] = predicted[i] = here->y[i] + part * here->tangent[i];
        int rounds = 0;
        bool good = settle(w, &next, here->tangent, predicted, here->K, &rounds);
        if (good) {
            tangent(w, here->tangent, next.tangent);
            double dot = 0;
            for (uint32_t i = 0; i < M; i++)
                dot += here->tangent[i] * next.tangent[i];
            good = dot > 0.9 || part < 1e-6;
        }
        if (!good) {
            step = part / 3;
            ns_arena_release(w->temporary, mark);
            if (step < 1e-9) {
                w->branch->end = "the branch could not be followed further";
                return;
            }
            continue;
        }
        linearise(w, &next, w->temporary);
        const double value = parameter_of(w, next.y);
        if (!inside(q, value)) {
            end_on_border(w, here, &next);
            w->branch->end = "the parameter left its range";
            return;
        }
        watch_between(w, here, &next);
        look(w, next.y, next.K);
        NS_PUSH(q->arena, w->branch->points, record(w, &next));
        memcpy(here->y, next.y, M * sizeof(double));
        memcpy(here->tangent, next.tangent, M * sizeof(double));
        memcpy(here->K, next.K, (size_t)w->k * q->N * sizeof(double));
        *here->linear = *w->branch->points.at[w->branch->points.n - 1].linear;
        ns_arena_release(w->temporary, mark);
        if (rounds <= 4)
            step = fmin(1.5 * part, 0.5);
        if (q->spec.progress &&
            !q->spec.progress(q->spec.context, fabs((value - q->spec.low) / q->scale))) {
            w->branch->end = "interrupted";
            return;
        }
    }
    w->branch->end = "the limit of points was reached";
}

ns_branch *ns_steady_follow(ns_steady *q, const char **message)
{
    const uint32_t N = q->N, M = N + 1, most = q->rows + N + 1;
    follower w = {.q = q, .branch = NS_NEW(q->arena, ns_branch), .rows = most};
    w.temporary = ns_arena_child(q->arena);
    w.r = NS_NEW_ARRAY(q->arena, double, most + 1);
    w.D = NS_NEW_ARRAY(q->arena, double, (size_t)most * M + 1);
    w.r0 = NS_NEW_ARRAY(q->arena, double, q->rows + 1);
    w.D0 = NS_NEW_ARRAY(q->arena, double, (size_t)q->rows * N + 1);
    w.x = NS_NEW_ARRAY(q->arena, double, q->n + 1);
    w.c = NS_NEW_ARRAY(q->arena, double, q->g->count + 1);
    place here = place_new(&w, q->arena);
    if (!begin(&w, &here, message))
        return NULL;
    walk(&w, &here);
    return w.branch;
}
