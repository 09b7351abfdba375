/* Integrals linear in the velocities with coefficients that are functions of one variable (see
 * study/integrals.h): no symmetry has to be declared. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/dense.h"
#include "study/integrals_internal.h"

static const double dependent = 1e-9; /* part of a column that earlier ones do not give */
static const double vanishes = 1e-8;  /* of what cannot be met by c', relative to the rates */
static const double small = 1e-7;     /* entry that counts as zero */

typedef struct linear {
    ns_integrals_work *w;
    ns_linear_integrals *r;
    ns_flow_program *variable; /* u, u', gradient of u */
    uint32_t all, K, F; /* terms linear in velocities; independent ones; states at one u */
    uint32_t *term;     /* [all], then the first K */
    double *size;       /* [K] */
    /* at one value of u */
    double *phi, *dphi, *du; /* [all][F], [all][F], [F] */
} linear;

/* ---- states where u has a value --------------------------------------------------------------- */

/* Newton's method on constraints and u = target, by steps of least norm. */
static bool fix(linear *q, double target, double *x)
{
    enum { ROUNDS = 30 };
    ns_flow *flow = q->w->flow;
    const uint32_t n = flow->n, m = flow->m;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *C = NS_NEW_ARRAY(a, double, m + 2), *dx = NS_NEW_ARRAY(a, double, n + 1);
    double *G = NS_NEW_ARRAY(a, double, (size_t)(m + 1) * n + 1);
    double *out = NS_NEW_ARRAY(a, double, n + 3), before = INFINITY;
    bool good = false;
    for (int k = 0; k < ROUNDS && !good; k++) {
        double worst = 0;
        ns_flow_manifold(flow, x, C, G);
        ns_flow_eval(flow, q->variable, x, out);
        C[m] = out[0] - target;
        memcpy(G + (size_t)m * n, out + 2, n * sizeof *G);
        for (uint32_t i = 0; i <= m; i++) {
            double size = 0;
            for (uint32_t j = 0; j < n; j++) {
                G[(size_t)i * n + j] *= flow->sigma[j];
                size += fabs(G[(size_t)i * n + j]);
            }
            const double ratio = size > 0 ? fabs(C[i]) / size : fabs(C[i]);
            worst = ratio <= worst ? worst : ratio;
        }
        if (!isfinite(worst))
            break;
        good = worst < 4e-16 || (worst < 1e-13 && worst >= before / 2);
        before = worst;
        const ns_arena_place inner = ns_arena_mark(a);
        ns_dense_least(a, m + 1, n, G, C, 1e-9, dx);
        ns_arena_release(a, inner);
        for (uint32_t j = 0; j < n && !good; j++)
            x[j] -= flow->sigma[j] * dx[j];
    }
    ns_arena_release(a, mark);
    return good;
}

/* From x to a state with this value of u by steps along the manifold in the direction in which u changes
 * most, short enough that Newton's method after each changes little of it: on the same branch. */
static bool go_to(linear *q, double target, double *x)
{
    enum { STEPS = 60 };
    ns_flow *flow = q->w->flow;
    const uint32_t n = flow->n;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *N = NS_NEW_ARRAY(a, double, (size_t)n * n + 1), *d = NS_NEW_ARRAY(a, double, n + 1);
    double *y = NS_NEW_ARRAY(a, double, n + 1), *out = NS_NEW_ARRAY(a, double, n + 3);
    double part = 0.25;
    bool there = false;
    for (int k = 0; k < STEPS && !there; k++) {
        double square = 0, step = 0, off = 0;
        ns_flow_eval(flow, q->variable, x, out);
        const uint32_t dimension = ns_flow_tangent(flow, x, N);
        memset(d, 0, n * sizeof *d);
        for (uint32_t j = 0; j < dimension; j++) {
            double along = 0;
            for (uint32_t i = 0; i < n; i++)
                along += N[(size_t)j * n + i] * out[2 + i];
            square += along * along;
            for (uint32_t i = 0; i < n; i++)
                d[i] += along * N[(size_t)j * n + i];
        }
        if (!(square > 0))
            break;
        const double goal = part >= 1 ? target : out[0] + part * (target - out[0]);
        for (uint32_t i = 0; i < n; i++) {
            d[i] *= (goal - out[0]) / square;
            y[i] = x[i] + d[i];
            step = hypot(step, d[i] / flow->sigma[i]);
        }
        const bool good = fix(q, goal, y);
        for (uint32_t i = 0; i < n && good; i++)
            off = hypot(off, (y[i] - x[i] - d[i]) / flow->sigma[i]);
        if (good && off <= 0.25 * step + 1e-9) {
            memcpy(x, y, n * sizeof *x);
            there = part >= 1;
            part = fmin(1, 2 * part);
        } else {
            part /= 2;
        }
    }
    ns_arena_release(a, mark);
    return there;
}

/* F states with this value of u, and the terms there; false if they are not found. */
static bool sample(linear *q, double u)
{
    enum { TRIES = 60, FIRST = 15 }; /* so many may fail in all, and before the first success */
    ns_integrals_work *w = q->w;
    ns_flow *flow = w->flow;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *x = NS_NEW_ARRAY(a, double, flow->n + 1),
                             *out = NS_NEW_ARRAY(a, double, flow->n + 3);
    double *atom = NS_NEW_ARRAY(a, double, 2 * (size_t)w->atoms + 1);
    uint32_t s = 0;
    for (uint32_t k = 0; s < q->F && k < TRIES + q->F; k++) {
        bool good = ns_sampler_next(w->sampler, x);
        if (!good)
            break;
        if (!s && k == FIRST)
            break;
        if (!go_to(q, u, x))
            continue;
        ns_flow_eval(flow, q->variable, x, out);
        ns_flow_eval(flow, w->rates, x, atom);
        q->du[s] = out[1];
        good = isfinite(out[1]);
        for (uint32_t t = 0; t < q->all && good; t++) {
            double *value = &q->phi[(size_t)t * q->F + s],
                   *rate = &q->dphi[(size_t)t * q->F + s];
            ns_integrals_term(w, q->term[t], atom, value, rate);
            good = isfinite(*value) && isfinite(*rate);
        }
        s += good;
    }
    ns_arena_release(a, mark);
    return s == q->F;
}

/* ---- linear algebra ----------------------------------------------------------------------------- */

static double dot(uint32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes column v orthogonal to Q[k][n], twice; coefficients are added to a[k].  Its length. */
static double orthogonalise(uint32_t n, uint32_t k, const double *Q, double *v, double *a)
{
    for (int round = 0; round < 2; round++)
        for (uint32_t j = 0; j < k; j++) {
            const double part = dot(n, Q + (size_t)j * n, v);
            a[j] += part;
            for (uint32_t i = 0; i < n; i++)
                v[i] -= part * Q[(size_t)j * n + i];
        }
    return sqrt(dot(n, v, v));
}

/* Keeps the terms that are independent where u is fixed: they come first in the list. */
static void choose_terms(linear *q)
{
    ns_arena *a = q->w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *Q = NS_NEW_ARRAY(a, double, (size_t)q->all * q->F);
    double *part = NS_NEW_ARRAY(a, double, q->all + 1);
    for (uint32_t t = 0; t < q->all; t++) {
        double *v = Q + (size_t)q->K * q->F;
        memcpy(v, q->phi + (size_t)t * q->F, q->F * sizeof *v);
        const double size = sqrt(dot(q->F, v, v));
        const double rest = orthogonalise(q->F, q->K, Q, v, part);
        if (!(rest > dependent * size))
            continue;
        for (uint32_t i = 0; i < q->F; i++)
            v[i] /= rest;
        memmove(q->phi + (size_t)q->K * q->F, q->phi + (size_t)t * q->F, q->F * sizeof *v);
        memmove(q->dphi + (size_t)q->K * q->F, q->dphi + (size_t)t * q->F, q->F * sizeof *v);
        q->size[q->K] = size / sqrt(q->F);
        q->term[q->K++] = q->term[t];
    }
    q->all = q->K;
    ns_arena_release(a, mark);
}

/* At the present states: T[K][K] with c' = T c, and rows B[n][K] of the c that can be met; n.
 * c belongs to phi/size.  `expected` > 0: so many, if they can be met to fewer digits. */
static uint32_t conditions(linear *q, uint32_t expected, double *T, double *B)
{
    const uint32_t K = q->K, F = q->F;
    ns_arena *a = q->w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *Q = NS_NEW_ARRAY(a, double, (size_t)K * F), *R = NS_NEW_ARRAY(a, double, K * K);
    double *E = NS_NEW_ARRAY(a, double, (size_t)F * K), *v = NS_NEW_ARRAY(a, double, F);
    double *part = NS_NEW_ARRAY(a, double, K + 1), most = 0;
    double *weight = NS_NEW_ARRAY(a, double, F); /* all states count alike */
    for (uint32_t s = 0; s < F; s++) {
        for (uint32_t k = 0; k < K; k++)
            weight[s] = fmax(weight[s], (fabs(q->du[s] * q->phi[(size_t)k * F + s]) +
                                         fabs(q->dphi[(size_t)k * F + s])) /
                                            q->size[k]);
        weight[s] = weight[s] > 0 ? 1 / weight[s] : 0;
    }
    uint32_t n = 0;
    bool good = true;
    for (uint32_t k = 0; k < K && good; k++) {
        double *column = Q + (size_t)k * F;
        for (uint32_t s = 0; s < F; s++)
            column[s] = weight[s] * q->du[s] * q->phi[(size_t)k * F + s] / q->size[k];
        const double size = sqrt(dot(F, column, column));
        memset(part, 0, K * sizeof *part);
        const double rest = orthogonalise(F, k, Q, column, part);
        good = rest > dependent * size;
        for (uint32_t s = 0; s < F && good; s++)
            column[s] /= rest;
        for (uint32_t j = 0; j < k; j++)
            R[j * K + k] = part[j];
        R[k * K + k] = rest;
    }
    for (uint32_t k = 0; k < K && good; k++) { /* columns of T and of what is left */
        for (uint32_t s = 0; s < F; s++)
            v[s] = weight[s] * q->dphi[(size_t)k * F + s] / q->size[k];
        most = fmax(most, sqrt(dot(F, v, v)));
        memset(part, 0, K * sizeof *part);
        orthogonalise(F, K, Q, v, part);
        for (uint32_t s = 0; s < F; s++)
            E[(size_t)s * K + k] = v[s];
        for (uint32_t j = K; j-- > 0;) {
            double sum = -part[j];
            for (uint32_t l = j + 1; l < K; l++)
                sum -= R[j * K + l] * T[l * K + k];
            T[j * K + k] = sum / R[j * K + j];
        }
    }
    if (good) {
        double *sigma = NS_NEW_ARRAY(a, double, K), *V = NS_NEW_ARRAY(a, double, K * K);
        ns_dense_svd(a, F, K, E, sigma, V);
        while (n < K && sigma[K - 1 - n] <= vanishes * most)
            n++;
        if (expected && n < expected && sigma[K - expected] <= 1e3 * vanishes * most)
            n = expected;
        memcpy(B, V + (size_t)(K - n) * K, (size_t)n * K * sizeof *B);
    }
    ns_arena_release(a, mark);
    return n;
}

/* Reduced echelon form of rows[n][K] in place, pivots from the first column on. */
static void echelon(uint32_t n, uint32_t K, double *rows)
{
    uint32_t done = 0;
    for (uint32_t k = 0; k < K && done < n; k++) {
        uint32_t best = done;
        for (uint32_t i = done; i < n; i++)
            if (fabs(rows[i * K + k]) > fabs(rows[best * K + k]))
                best = i;
        if (!(fabs(rows[best * K + k]) > small))
            continue;
        for (uint32_t j = 0; j < K; j++) {
            const double swap = rows[best * K + j];
            rows[best * K + j] = rows[done * K + j];
            rows[done * K + j] = swap;
        }
        const double pivot = rows[done * K + k];
        for (uint32_t j = 0; j < K; j++)
            rows[done * K + j] /= pivot;
        for (uint32_t i = 0; i < n; i++) {
            const double part = rows[i * K + k];
            for (uint32_t j = 0; j < K && i != done; j++)
                rows[i * K + j] -= part * rows[done * K + j];
        }
        done++;
    }
}

/* ---- collocation -------------------------------------------------------------------------------- */

/* Derivative at Chebyshev points cos(pi j/M), j = 0 .. M. */
static void derivative(uint32_t M, const double *z, double *D)
{
    const uint32_t n = M + 1;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            const double ci = i == 0 || i == M ? 2 : 1, cj = j == 0 || j == M ? 2 : 1;
            D[i * n + j] = ci / cj * ((i + j) % 2 ? -1 : 1) / (z[i] - z[j]);
            sum += D[i * n + j];
        }
        D[i * n + i] = -sum; /* of a constant it is zero */
    }
}

/* Chebyshev coefficients a[M + 1] of values f[M + 1]. */
static void coefficients(uint32_t M, const double *f, double *a)
{
    const double pi = 3.14159265358979323846;
    for (uint32_t k = 0; k <= M; k++) {
        double sum = 0;
        for (uint32_t j = 0; j <= M; j++)
            sum += f[j] * cos(pi * (double)((uint64_t)k * j % (2 * M)) / M) *
                   (j == 0 || j == M ? 0.5 : 1);
        a[k] = sum * 2 / M * (k == 0 || k == M ? 0.5 : 1);
    }
}

/* Value and derivative of the series at z in [-1, 1]. */
static void series(uint32_t M, const double *a, double z, double *value, double *slope)
{
    double v = 0, d = 0, t0 = 1, t1 = z, d0 = 0, d1 = 1;
    for (uint32_t k = 0; k <= M; k++) {
        v += a[k] * t0;
        d += a[k] * d0;
        const double t2 = 2 * z * t1 - t0, d2 = 2 * t1 + 2 * z * d1 - d0;
        t0 = t1;
        t1 = t2;
        d0 = d1;
        d1 = d2;
    }
    *value = v;
    *slope = d;
}

typedef struct nodes {
    uint32_t M, n;   /* intervals, dimension of B at most values */
    double *z;       /* [M + 1] */
    double *T, *B;   /* [M + 1][K][K]; of B the first count[j] rows */
    uint32_t *count; /* [M + 1]: at single values more may be left open */
    uint32_t found;
    double *c; /* [found][K][M + 1] of phi/size */
} nodes;

/* The equation at all points; false if that cannot be (why in r). */
static bool take_nodes(linear *q, nodes *d, const ns_integrals_options *o, bool *stopped)
{
    const double pi = 3.14159265358979323846;
    const uint32_t K = q->K, M = d->M;
    ns_arena *arena = q->w->arena;
    ns_linear_integrals *r = q->r;
    d->z = NS_NEW_ARRAY(arena, double, M + 1);
    d->count = NS_NEW_ARRAY(arena, uint32_t, M + 1);
    d->T = NS_NEW_ARRAY(arena, double, (size_t)(M + 1) * K * K);
    d->B = NS_NEW_ARRAY(arena, double, (size_t)(M + 1) * K * K);
    for (uint32_t j = 0; j <= M; j++) {
        d->z[j] = cos(pi * j / M);
        const double u = 0.5 * (r->low + r->high) + 0.5 * (r->high - r->low) * d->z[j];
        if (!sample(q, u)) {
            r->why = ns_arena_format(arena, "no states were found with %s = %.6g",
                                     r->along.name, u);
            return false;
        }
        d->count[j] = conditions(q, d->n, d->T + (size_t)j * K * K, d->B + (size_t)j * K * K);
        if (d->count[j] < d->n) {
            r->why = "the conditions leave fewer coefficients at some values";
            return false;
        }
        if (o->progress && !o->progress(o->context, (double)j / (M + 1))) {
            *stopped = true;
            return false;
        }
    }
    return true;
}

/* Solutions c at the points. */
static void solve(linear *q, nodes *d)
{
    const uint32_t K = q->K, P = d->M + 1, n = d->n;
    ns_arena *arena = q->w->arena, *a = q->w->flow->scratch;
    ns_linear_integrals *r = q->r;
    const ns_arena_place mark = ns_arena_mark(a);
    uint32_t *first = NS_NEW_ARRAY(a, uint32_t, P), columns = 0;
    for (uint32_t j = 0; j < P; j++) {
        first[j] = columns;
        columns += d->count[j];
    }
    double *D = NS_NEW_ARRAY(a, double, P * P);
    double *L = NS_NEW_ARRAY(a, double, (size_t)K * P * columns);
    double *sigma = NS_NEW_ARRAY(a, double, columns);
    double *V = NS_NEW_ARRAY(a, double, (size_t)columns * columns);
    derivative(d->M, d->z, D);
    for (uint32_t j = 0; j < P; j++)
        for (uint32_t k = 0; k < K; k++) {
            double *row = L + ((size_t)j * K + k) * columns;
            for (uint32_t l = 0; l < P; l++)
                for (uint32_t i = 0; i < d->count[l]; i++)
                    row[first[l] + i] = D[j * P + l] * 2 / (r->high - r->low) *
                                        d->B[((size_t)l * K + i) * K + k];
            for (uint32_t i = 0; i < d->count[j]; i++)
                for (uint32_t m = 0; m < K; m++)
                    row[first[j] + i] -= d->T[((size_t)j * K + k) * K + m] *
                                         d->B[((size_t)j * K + i) * K + m];
        }
    ns_dense_svd(a, K * P, columns, L, sigma, V);
    r->n_sigma = columns;
    r->sigma = NS_NEW_ARRAY(arena, double, columns);
    for (uint32_t k = 0; k < columns; k++)
        r->sigma[k] = sigma[columns - 1 - k];
    d->found = 0;
    while (d->found < n && r->sigma[d->found] <= 1e-9 * r->sigma[columns - 1])
        d->found++;
    r->candidates = 0;
    for (uint32_t k = 1; k <= n && k < columns; k++)
        if (r->sigma[k - 1] < 1e-2 * r->sigma[k])
            r->candidates = k;
    const double floor = 1e-16 * r->sigma[columns - 1];
    r->margin = r->sigma[d->found] / fmax(d->found ? r->sigma[d->found - 1] : 0, floor);
    d->c = NS_NEW_ARRAY(arena, double, (size_t)d->found * K * P + 1);
    for (uint32_t f = 0; f < d->found; f++)
        for (uint32_t j = 0; j < P; j++)
            for (uint32_t i = 0; i < d->count[j]; i++) {
                const double y = V[(size_t)(columns - 1 - f) * columns + first[j] + i];
                for (uint32_t k = 0; k < K; k++)
                    d->c[((size_t)f * K + k) * P + j] += y * d->B[((size_t)j * K + i) * K + k];
            }
    ns_arena_release(a, mark);
}

/* Last Chebyshev coefficients, relative to the largest. */
static double tail(const linear *q, const nodes *d)
{
    const uint32_t P = d->M + 1;
    double *a = NS_NEW_ARRAY(q->w->arena, double, P), worst = 0, most = 0;
    for (uint32_t i = 0; i < d->found * q->K; i++) {
        coefficients(d->M, d->c + (size_t)i * P, a);
        for (uint32_t k = 0; k < P; k++) {
            most = fmax(most, fabs(a[k]));
            if (k + 3 >= P)
                worst = fmax(worst, fabs(a[k]));
        }
    }
    return most > 0 ? worst / most : 0;
}

/* ---- what was found ----------------------------------------------------------------------------- */

/* The basis psi[n][K] (of phi) if B is the same at all points; NULL if not. */
static double *constant_basis(const linear *q, const nodes *d)
{
    const uint32_t K = q->K, n = d->n;
    ns_arena *a = q->w->arena;
    uint32_t generic = 0;
    while (d->count[generic] != n && generic < d->M)
        generic++;
    double *psi = ns_arena_copy(a, d->B + (size_t)generic * K * K, (size_t)n * K * sizeof *psi);
    for (uint32_t i = 0; i < n * K; i++) /* of phi, not of phi/size */
        psi[i] /= q->size[i % K];
    for (uint32_t i = 0; i < n; i++) {
        double most = 0;
        for (uint32_t k = 0; k < K; k++)
            most = fmax(most, fabs(psi[i * K + k]));
        for (uint32_t k = 0; k < K; k++)
            psi[i * K + k] /= most;
    }
    echelon(n, K, psi);
    for (uint32_t i = 0; i < n * K; i++) /* rounding errors of whole numbers */
        psi[i] = fabs(psi[i] - round(psi[i])) < 1e-9 ? round(psi[i]) : psi[i];
    for (uint32_t j = 0; j <= d->M; j++)
        for (uint32_t i = 0; i < n; i++) { /* is each psi a combination of the rows of B_j? */
            double off = 0, size = 0;
            double *v = NS_NEW_ARRAY(a, double, K);
            for (uint32_t k = 0; k < K; k++) {
                v[k] = psi[i * K + k] * q->size[k];
                size = hypot(size, v[k]);
            }
            for (uint32_t l = 0; l < d->count[j]; l++) {
                const double *row = d->B + ((size_t)j * K + l) * K;
                const double part = dot(K, row, v);
                for (uint32_t k = 0; k < K; k++)
                    v[k] -= part * row[k];
            }
            for (uint32_t k = 0; k < K; k++)
                off = hypot(off, v[k]);
            if (off > small * size)
                return NULL;
        }
    return psi;
}

static const char *psi_text(const linear *q, const double *psi)
{
    ns_text text = ns_text_new(q->w->arena);
    for (uint32_t k = 0; k < q->K; k++) {
        const double c = psi[k];
        if (fabs(c) < small)
            continue;
        ns_text_addf(&text, "%s", text.length ? c < 0 ? " - " : " + " : c < 0 ? "-" : "");
        if (fabs(c) != 1)
            ns_text_addf(&text, "%.15g*", fabs(c));
        ns_text_addf(&text, "%s", ns_integrals_term_text(q->w, q->term[k]));
    }
    return ns_text_string(&text);
}

/* c in terms of phi or psi. */
static void write_parts(linear *q, const nodes *d)
{
    const uint32_t K = q->K, P = d->M + 1;
    ns_arena *a = q->w->arena;
    ns_linear_integrals *r = q->r;
    const double *psi = constant_basis(q, d);
    r->constant = psi != NULL;
    r->parts = psi ? d->n : K;
    r->part = NS_NEW_ARRAY(a, const char *, r->parts + 1);
    r->c = NS_NEW_ARRAY(a, double, (size_t)r->found * r->parts * P + 1);
    for (uint32_t i = 0; i < r->parts; i++)
        r->part[i] = psi ? psi_text(q, psi + (size_t)i * K)
                         : ns_integrals_term_text(q->w, q->term[i]);
    for (uint32_t f = 0; f < r->found; f++)
        for (uint32_t i = 0; i < r->parts; i++) {
            uint32_t k = i;
            for (k = 0; psi && psi[i * K + k] != 1; k++) /* its pivot */
                continue;
            k = psi ? k : i;
            for (uint32_t j = 0; j < P; j++)
                r->c[((size_t)f * r->parts + i) * P + j] = d->c[((size_t)f * K + k) * P + j] /
                                                           q->size[k];
        }
}

/* Combinations for which the coefficients at the middle point are a unit matrix, as far as possible. */
static void normalise(const linear *q, nodes *d)
{
    ns_linear_integrals *r = q->r;
    const uint32_t K = r->parts, P = d->M + 1, f = d->found, middle = d->M / 2, wide = K + f;
    ns_arena *a = q->w->arena;
    double *rows = NS_NEW_ARRAY(a, double, (size_t)f * wide + 1); /* [ c(middle) | 1 ] */
    for (uint32_t i = 0; i < f; i++) {
        double most = 0;
        for (uint32_t k = 0; k < K; k++)
            most = fmax(most, fabs(r->c[((size_t)i * K + k) * P + middle]));
        for (uint32_t k = 0; k < K; k++)
            rows[i * wide + k] = r->c[((size_t)i * K + k) * P + middle] / most;
        rows[i * wide + K + i] = 1 / most;
    }
    echelon(f, wide, rows);
    double *to[2] = {r->c, d->c};
    const uint32_t size[2] = {K * P, q->K * P};
    for (int which = 0; which < 2; which++) {
        double *old = ns_arena_copy(a, to[which], (size_t)f * size[which] * sizeof *old);
        memset(to[which], 0, (size_t)f * size[which] * sizeof *old);
        for (uint32_t i = 0; i < f; i++)
            for (uint32_t j = 0; j < f; j++)
                for (uint32_t k = 0; k < size[which]; k++)
                    to[which][(size_t)i * size[which] + k] += rows[i * wide + K + j] *
                                                              old[(size_t)j * size[which] + k];
    }
}

static const char *integral_text(const linear *q, uint32_t f)
{
    const ns_linear_integrals *r = q->r;
    const uint32_t P = r->points, M = P - 1;
    ns_arena *arena = q->w->arena;
    ns_text text = ns_text_new(arena);
    double *a = NS_NEW_ARRAY(arena, double, P);
    const char *z = ns_arena_format(arena, "acos((%s - %.17g)/%.17g)", r->along.name,
                                    0.5 * (r->low + r->high), 0.5 * (r->high - r->low));
    for (uint32_t i = 0; i < r->parts; i++) {
        double most = 0;
        coefficients(M, r->c + ((size_t)f * r->parts + i) * P, a);
        for (uint32_t k = 0; k < P; k++)
            most = fmax(most, fabs(a[k]));
        uint32_t last = P;
        while (last > 1 && fabs(a[last - 1]) < 1e-16 * most)
            last--;
        if (most == 0)
            continue;
        ns_text_addf(&text, "%s(%.17g", text.length ? " + " : "", a[0]);
        for (uint32_t k = 1; k < last; k++)
            ns_text_addf(&text, " %c %.17g*cos(%u*%s)", a[k] < 0 ? '-' : '+', fabs(a[k]), k, z);
        ns_text_addf(&text, ")*(%s)", r->part[i]);
    }
    return ns_text_string(&text);
}

/* I, I' and the sizes of their terms at a state; false if u is out of range. */
static bool value_at(const linear *q, const nodes *d, const double *a, uint32_t f,
                     const double *x, double out[4])
{
    ns_integrals_work *w = q->w;
    const ns_linear_integrals *r = q->r;
    const uint32_t P = d->M + 1;
    ns_arena *scratch = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *u = NS_NEW_ARRAY(scratch, double, w->flow->n + 3);
    double *atom = NS_NEW_ARRAY(scratch, double, 2 * (size_t)w->atoms + 1);
    ns_flow_eval(w->flow, q->variable, x, u);
    ns_flow_eval(w->flow, w->rates, x, atom);
    const double half = 0.5 * (r->high - r->low), z = (u[0] - 0.5 * (r->low + r->high)) / half;
    memset(out, 0, 4 * sizeof *out);
    for (uint32_t k = 0; k < q->K; k++) {
        double value, rate, c, slope;
        ns_integrals_term(w, q->term[k], atom, &value, &rate);
        series(d->M, a + ((size_t)f * q->K + k) * P, z, &c, &slope);
        const double one = slope / half * u[1] * value, two = c * rate;
        out[0] += c * value / q->size[k];
        out[1] += (one + two) / q->size[k];
        out[2] += fabs(c * value) / q->size[k];
        out[3] += (fabs(one) + fabs(two)) / q->size[k];
    }
    ns_arena_release(scratch, mark);
    return fabs(z) <= 1 + 1e-9;
}

static void follow(linear *q, const nodes *d, const double *a, const double *x0, bool own)
{
    enum { STEPS = 3000 };
    ns_integrals_work *w = q->w;
    ns_linear_integrals *r = q->r;
    ns_status status = NS_OK;
    const char *message = "";
    ns_run *run = ns_run_new(w->flow->problem, w->run, w->flow->p, x0, &status, &message);
    const double t = w->flow->t;
    double *first = NS_NEW_ARRAY(w->arena, double, r->found + 1), out[4];
    for (int k = 0; run && k < STEPS; k++) {
        bool inside = true;
        w->flow->t = ns_run_time(run);
        for (uint32_t f = 0; f < r->found && inside; f++) {
            inside = value_at(q, d, a, f, ns_run_state(run), out);
            if (!k)
                first[f] = out[0];
            if (!k && own)
                r->value[f] = out[0];
            if (inside)
                r->drift[f] = fmax(r->drift[f], fabs(out[0] - first[f]) / fmax(out[2], 1e-300));
        }
        if (!inside || ns_run_time(run) == w->run->until || ns_run_step(run) != NS_OK)
            break;
    }
    if (run)
        ns_run_free(run);
    w->flow->t = t;
}

/* Rank of the differentials by the velocities: how many are independent functions. */
static uint32_t rank_at(const linear *q, const nodes *d, const double *a, const double *x)
{
    ns_integrals_work *w = q->w;
    const ns_linear_integrals *r = q->r;
    const uint32_t P = d->M + 1, n = w->flow->n;
    ns_arena *s = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(s);
    double *u = NS_NEW_ARRAY(s, double, n + 3), *N = NS_NEW_ARRAY(s, double, (size_t)n * n + 1);
    double *atom = NS_NEW_ARRAY(s, double, 2 * (size_t)w->atoms + 1);
    double *slope = NS_NEW_ARRAY(s, double, (size_t)w->atoms * n + 1);
    double *G = NS_NEW_ARRAY(s, double, (size_t)r->found * n + 1);
    double *full = NS_NEW_ARRAY(s, double, n + 1),
                                *sigma = NS_NEW_ARRAY(s, double, r->found + n);
    const double half = 0.5 * (r->high - r->low);
    ns_flow_eval(w->flow, q->variable, x, u);
    ns_flow_eval(w->flow, w->rates, x, atom);
    ns_flow_eval(w->flow, w->slopes, x, slope);
    const uint32_t dimension = ns_flow_tangent(w->flow, x, N);
    for (uint32_t f = 0; f < r->found; f++) {
        memset(full, 0, n * sizeof *full);
        for (uint32_t k = 0; k < q->K; k++) {
            double c, dc, value, rate;
            series(d->M, a + ((size_t)f * q->K + k) * P,
                   (u[0] - 0.5 * (r->low + r->high)) / half, &c, &dc);
            for (uint32_t i = 0; i < w->atoms; i++) { /* d phi/d(atom i) */
                for (uint32_t j = 0; j < w->atoms; j++)
                    atom[w->atoms + j] = i == j;
                ns_integrals_term(w, q->term[k], atom, &value, &rate);
                for (uint32_t j = 0; j < n; j++)
                    full[j] += c * rate * slope[(size_t)i * n + j] / q->size[k];
            }
            for (uint32_t j = 0; j < n; j++)
                full[j] += dc / half * value * u[2 + j] / q->size[k];
        }
        double length = 0;
        for (uint32_t e = 0; e < dimension; e++) {
            G[(size_t)f * n + e] = dot(n, N + (size_t)e * n, full);
            length = hypot(length, G[(size_t)f * n + e]);
        }
        for (uint32_t e = 0; e < dimension && length > 0; e++)
            G[(size_t)f * n + e] /= length;
    }
    ns_dense_svd(s, r->found, n, G, sigma, NULL);
    uint32_t rank = 0;
    while (rank < r->found && rank < n && sigma[rank] > small)
        rank++;
    ns_arena_release(s, mark);
    return rank;
}

static void verify(linear *q, const nodes *d)
{
    enum { STATES = 60, OTHERS = 2 };
    ns_integrals_work *w = q->w;
    ns_linear_integrals *r = q->r;
    const uint32_t P = d->M + 1;
    double *a = NS_NEW_ARRAY(w->arena, double, (size_t)r->found * q->K * P + 1), out[4];
    double *x = NS_NEW_ARRAY(w->arena, double, w->flow->n + 1), worst = 0, most = 0;
    for (uint32_t i = 0; i < r->found * q->K; i++)
        coefficients(d->M, d->c + (size_t)i * P, a + (size_t)i * P);
    uint32_t others = 0;
    r->drift = NS_NEW_ARRAY(w->arena, double, r->found + 1);
    r->value = NS_NEW_ARRAY(w->arena, double, r->found + 1);
    uint64_t seed = 1905;
    for (int s = 0; s < STATES && ns_sampler_next(w->sampler, x); s++) {
        if (!go_to(q, r->low + (r->high - r->low) * ns_eval_random(&seed), x))
            continue;
        const uint32_t rank = rank_at(q, d, a, x);
        r->rank = rank > r->rank ? rank : r->rank;
        for (uint32_t f = 0; f < r->found; f++) {
            value_at(q, d, a, f, x, out);
            worst = fmax(worst, fabs(out[1]));
            most = fmax(most, out[3]);
            if (!f && others < OTHERS) {
                others++;
                follow(q, d, a, x, false);
            }
        }
    }
    r->rate = most > 0 ? worst / most : NAN;
    follow(q, d, a, w->x0, true);
}

/* ---- the search --------------------------------------------------------------------------------- */

/* Where the run goes; false if u does not change. */
static bool find_range(linear *q)
{
    enum { STEPS = 3000 };
    ns_integrals_work *w = q->w;
    ns_linear_integrals *r = q->r;
    ns_status status = NS_OK;
    const char *message = "";
    double *out = NS_NEW_ARRAY(w->arena, double, w->flow->n + 3), low = INFINITY,
                                                                  high = -INFINITY;
    double *x = NS_NEW_ARRAY(w->arena, double, w->flow->n + 1);
    ns_run *run = ns_run_new(w->flow->problem, w->run, w->flow->p, w->x0, &status, &message);
    const double t = w->flow->t;
    for (int k = 0; run && k < STEPS; k++) {
        enum { INSIDE = 4 }; /* turning points lie between the steps */
        for (int j = k ? 1 : INSIDE; j <= INSIDE; j++) {
            const double from = ns_run_last_time(run), to = ns_run_time(run);
            if (j < INSIDE)
                ns_run_state_at(run, from + (to - from) * j / INSIDE, x);
            else
                memcpy(x, ns_run_state(run), w->flow->n * sizeof *x);
            w->flow->t = to;
            ns_flow_eval(w->flow, q->variable, x, out);
            low = fmin(low, out[0]);
            high = fmax(high, out[0]);
        }
        if (ns_run_time(run) == w->run->until || ns_run_step(run) != NS_OK)
            break;
    }
    if (run)
        ns_run_free(run);
    w->flow->t = t;
    const double room = 0.01 * (high - low);
    r->low = isnan(r->low) ? low - room : r->low;
    r->high = isnan(r->high) ? high + room : r->high;
    return r->high - r->low > 1e-6 * (fabs(r->low) + fabs(r->high));
}

static void list_terms(linear *q)
{
    const ns_integrals_work *w = q->w;
    const uint32_t nv = w->family->velocity.n;
    q->term = NS_NEW_ARRAY(w->arena, uint32_t, w->terms + 1);
    for (uint32_t t = 0; t < w->terms; t++) {
        uint32_t degree = 0, single = 0;
        for (uint32_t i = 0; i < w->atoms; i++) {
            degree += i < nv ? w->power[(size_t)t * w->atoms + i] : 0;
            single += i >= nv + w->family->shape.n ? w->power[(size_t)t * w->atoms + i] : 0;
        }
        if (degree == 1 && !single)
            q->term[q->all++] = t;
    }
    q->r->functions = q->all;
    q->F = 3 * q->all + 30;
    q->size = NS_NEW_ARRAY(w->arena, double, q->all + 1);
    q->phi = NS_NEW_ARRAY(w->arena, double, (size_t)q->all * q->F + 1);
    q->dphi = NS_NEW_ARRAY(w->arena, double, (size_t)q->all * q->F + 1);
    q->du = NS_NEW_ARRAY(w->arena, double, q->F + 1);
}

static void prepare_variable(linear *q)
{
    ns_flow *flow = q->w->flow;
    const ns_system *s = flow->system;
    const uint32_t n = flow->n;
    ns_ex *x = NS_NEW_ARRAY(flow->arena, ns_ex, n + 1),
                            *dx = NS_NEW_ARRAY(flow->arena, ns_ex, n + 1);
    ns_ex *out = NS_NEW_ARRAY(flow->arena, ns_ex, n + 3);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = s->states.at[i].symbol;
        dx[i] = s->states.at[i].rate;
    }
    out[0] = q->r->along.value;
    ns_diff_along(s->graph, out, 1, x, dx, n, out + 1);
    ns_diff_gradient(s->graph, out[0], x, n, out + 2);
    q->variable = ns_flow_program_new(flow, out, n + 2, NULL, 0);
}

/* False if it was stopped. */
static bool look(linear *q, const ns_integrals_options *o)
{
    enum { SIZES = 6 };
    static const uint32_t sizes[SIZES] = {12, 24, 40, 64, 96, 128};
    ns_linear_integrals *r = q->r;
    ns_arena *arena = q->w->arena;
    r->why = "it does not change along the run";
    if (!find_range(q))
        return true;
    r->why = ns_arena_format(arena, "no states were found with %s inside the range",
                             r->along.name);
    if (!sample(q, r->low + 0.3819 * (r->high - r->low))) /* no special place */
        return true;
    choose_terms(q);
    r->independent = q->K;
    double *T = NS_NEW_ARRAY(arena, double, (size_t)q->K * q->K + 1);
    double *B = NS_NEW_ARRAY(arena, double, (size_t)q->K * q->K + 1);
    r->n = q->K ? conditions(q, 0, T, B) : 0;
    q->F = 3 * q->K + 20;
    r->why = "no coefficients meet the conditions at one value of it";
    if (!r->n)
        return true;
    for (int k = 0; k < SIZES; k++) {
        nodes d = {.M = sizes[k], .n = r->n};
        bool stopped = false;
        if (!take_nodes(q, &d, o, &stopped))
            return !stopped;
        solve(q, &d);
        r->found = d.found;
        r->why = d.found ? NULL : "the conditions at different values of it exclude each other";
        r->points = d.M + 1;
        r->tail = d.found ? tail(q, &d) : 0;
        /* More points while there is a gap but no zeros yet, or series are cut; none found: once more,
         * to be sure. */
        const bool open = r->candidates > d.found || (d.found && r->tail > 1e-13);
        if (k + 1 < SIZES && (open || (!d.found && k == 0)))
            continue;
        if (!d.found)
            return true;
        r->u = NS_NEW_ARRAY(arena, double, r->points);
        for (uint32_t j = 0; j < r->points; j++)
            r->u[j] = 0.5 * (r->low + r->high) + 0.5 * (r->high - r->low) * d.z[j];
        write_parts(q, &d);
        normalise(q, &d);
        r->text = NS_NEW_ARRAY(arena, const char *, r->found);
        for (uint32_t f = 0; f < r->found; f++)
            r->text[f] = integral_text(q, f);
        verify(q, &d);
        return true;
    }
    return true;
}

ns_linear_integrals *ns_linear_search(ns_flow *flow, const ns_family *family,
                                      const ns_integrals_options *o, const double *x0,
                                      const ns_atom *along, double low, double high,
                                      const char **message)
{
    ns_family *f = ns_arena_copy(flow->arena, family, sizeof *family);
    f->degree_velocity = 1;
    ns_integrals_work *w = NS_NEW(flow->arena, ns_integrals_work);
    *w = (ns_integrals_work){
        .flow = flow, .arena = flow->arena, .family = f, .run = &o->run, .x0 = x0};
    linear q = {.w = w, .r = NS_NEW(flow->arena, ns_linear_integrals)};
    q.r->along = *along;
    q.r->low = low;
    q.r->high = high;
    w->sampler = ns_sampler_new(flow, &o->run, x0, message);
    if (!w->sampler)
        return NULL;
    ns_integrals_prepare(w);
    list_terms(&q);
    prepare_variable(&q);
    if (!look(&q, o)) {
        *message = "stopped";
        return NULL;
    }
    return q.r;
}
