/* See cartan.h. */
#include "study/control/cartan.h"

#include <math.h>
#include <string.h>

#include "base/math/algebra.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"

enum { N = NS_CARTAN_N, ALL = 2 * N, LEVELS = 6, ANGLES = 7, FIELDS = LEVELS + 2 };

enum { MOST_NODES = 1000000 }; /* of the graph, before the last brackets: some seconds */

/* theta is a difference of numbers with eleven or twelve digits */
static const double vanishes = 1e-8, trusted = 1e-6;

typedef struct work {
    ns_graph *g;
    ns_arena *a;
    ns_ex z[ALL];              /* q, p */
    ns_ex C[ALL];              /* field of the Hamiltonian */
    ns_ex field[FIELDS * ALL]; /* w_0 ... w_5, C, E */
    const ns_ex *const *X;     /* [N] */
    ns_ex *symbol;             /* parameters, states, time, p */
    double *value;
    uint32_t symbols;
} work;

static ns_ex pair(const work *w, const ns_ex *p, const ns_ex *X)
{
    ns_ex sum = ns_zero(w->g);
    for (uint32_t i = 0; i < N; i++)
        sum = ns_add(w->g, sum, ns_mul(w->g, p[i], X[i]));
    return sum;
}

/* out = [C, V] = DV C - DC V */
static void along_C(const work *w, const ns_ex *V, ns_ex *out)
{
    ns_ex other[ALL];
    ns_diff_along(w->g, V, ALL, w->z, w->C, ALL, out);
    ns_diff_along(w->g, w->C, ALL, w->z, V, ALL, other);
    for (uint32_t i = 0; i < ALL; i++)
        out[i] = ns_sub(w->g, out[i], other[i]);
}

/* False if the expressions become too long. */
static bool make_fields(work *w)
{
    ns_graph *g = w->g;
    ns_ex *p = w->z + N, h[N], gradient[ALL], M[N * N], right[N];
    for (uint32_t k = 0; k < N; k++)
        h[k] = pair(w, p, w->X[k]);
    const ns_ex H = ns_sub(g, ns_mul(g, h[3], h[1]), ns_mul(g, h[4], h[0]));
    ns_diff_gradient(g, H, w->z, ALL, gradient);
    for (uint32_t i = 0; i < N; i++) {
        w->C[i] = gradient[N + i];
        w->C[N + i] = ns_neg(g, gradient[i]);
    }
    /* v = (0, y):  <y, X_k> = 0, 0, 0, -h_5/r^2, h_4/r^2 */
    const ns_ex square = ns_add(g, ns_powi(g, h[3], 2), ns_powi(g, h[4], 2));
    for (uint32_t k = 0; k < N; k++) {
        right[k] = ns_zero(g);
        for (uint32_t i = 0; i < N; i++)
            M[k * N + i] = w->X[k][i];
    }
    right[3] = ns_neg(g, ns_div(g, h[4], square));
    right[4] = ns_div(g, h[3], square);
    for (uint32_t i = 0; i < N; i++)
        w->field[i] = ns_zero(g);
    ns_solve(g, N, M, right, w->field + N);
    const size_t most = ns_graph_size(g) + MOST_NODES;
    for (uint32_t k = 1; k < LEVELS; k++) {
        if (ns_graph_size(g) > most)
            return false;
        along_C(w, w->field + (k - 1) * ALL, w->field + k * ALL);
    }
    for (uint32_t i = 0; i < ALL; i++) {
        w->field[LEVELS * ALL + i] = w->C[i];
        w->field[(LEVELS + 1) * ALL + i] = i < N ? ns_zero(g) : p[i - N];
    }
    return true;
}

/* Names of everything the fields depend on; values but for states and p, which are last. */
static void make_symbols(work *w, const ns_flow *flow)
{
    const ns_system *s = flow->system;
    const uint32_t np = s->description->params.n, n = s->states.n;
    w->symbols = np + 1 + n + N;
    w->symbol = NS_NEW_ARRAY(w->a, ns_ex, w->symbols);
    w->value = NS_NEW_ARRAY(w->a, double, w->symbols);
    for (uint32_t i = 0; i < np; i++) {
        w->symbol[i] = s->description->params.at[i].symbol;
        w->value[i] = flow->p[i];
    }
    w->symbol[np] = s->time;
    w->value[np] = flow->t;
    for (uint32_t i = 0; i < n; i++)
        w->symbol[np + 1 + i] = s->states.at[i].symbol;
    for (uint32_t i = 0; i < N; i++)
        w->symbol[np + 1 + n + i] = w->z[N + i];
}

/* w_k = sum_j c_j w_j modulo C and E: c[4].  *off: what is left of it, over its size or that
 * which it would have at the rates with which w_0 becomes w_3.  False if they are dependent. */
static bool decompose(ns_arena *a, const double *fields, uint32_t k, double *c, double *off)
{
    double A[ALL * LEVELS], size[LEVELS], found[LEVELS], left[ALL];
    double *room = NS_NEW_ARRAY(a, double, ns_algebra_svd_work(ALL, LEVELS));
    const double *b = fields + k * ALL;
    uint32_t rank;
    for (uint32_t j = 0; j < LEVELS; j++) {
        const double *v = fields + (j < 4 ? j : LEVELS + j - 4) * ALL;
        size[j] = ns_algebra_length(ALL, v);
        for (uint32_t i = 0; i < ALL; i++)
            A[i * LEVELS + j] = v[i] / size[j];
    }
    if (!ns_algebra_least(ALL, LEVELS, A, b, 1e-12, found, &rank, room) || rank < LEVELS)
        return false;
    for (uint32_t i = 0; i < ALL; i++)
        left[i] = b[i] - ns_algebra_dot(LEVELS, A + i * LEVELS, found);
    for (uint32_t j = 0; j < 4; j++)
        c[j] = found[j] / size[j];
    const double usual = size[3] * ns_math_pow(size[3] / size[0], (k - 3) / 3.0);
    const double part = ns_algebra_length(ALL, left) / (ns_algebra_length(ALL, b) + usual);
    *off = ns_max(*off, part);
    return isfinite(part);
}

/* theta at one direction (h_4, h_5), and the size of its terms. */
static bool invariant(work *w, const double *scale, const double *h, double *theta,
                      double *terms, double *off)
{
    double M[N * N], fields[FIELDS * ALL], c[4], d[4], *p = w->value + w->symbols - N;
    double *room = NS_NEW_ARRAY(w->a, double, ns_algebra_svd_work(N, N));
    const double right[N] = {0, 0, 0, h[0], h[1]};
    uint32_t rank;
    for (uint32_t k = 0; k < N; k++)
        ns_eval(w->g, w->X[k], N, w->symbol, w->value, w->symbols - N, M + k * N);
    if (!ns_algebra_least(N, N, M, right, 1e-13, p, &rank, room) || rank < N)
        return false;
    ns_eval(w->g, w->field, FIELDS * ALL, w->symbol, w->value, w->symbols, fields);
    for (uint32_t k = 0; k < FIELDS; k++)
        for (uint32_t i = 0; i < N; i++) {
            fields[k * ALL + i] /= scale[i];
            fields[k * ALL + N + i] *= scale[i];
        }
    if (!decompose(w->a, fields, 4, c, off) || !decompose(w->a, fields, 5, d, off))
        return false;
    const double c1_rate = d[1] - c[0];
    *theta = -c[0] + 0.3 * c1_rate - 0.09 * c[2] * c[2];
    /* should all of them be rounding: in proportion to the rates with which w_0 becomes w_3 */
    const double rate = ns_algebra_length(ALL, fields + 3 * ALL) /
                        ns_algebra_length(ALL, fields);
    *terms = fabs(c[0]) + 0.3 * (fabs(d[1]) + fabs(c[0])) + 0.09 * c[2] * c[2] +
             1e-3 * ns_math_pow(rate, 4.0 / 3);
    /* the equation is its own adjoint: c_3 = 0, d_2 = 2 c_1, d_3 = c_2, as powers of a rate */
    const double unit = sqrt(sqrt(*terms));
    const double wrong[3] = {c[3] / unit, (d[2] - 2 * c[1]) / (unit * unit * unit),
                             (d[3] - c[2]) / (unit * unit)};
    for (int i = 0; i < 3; i++)
        *off = ns_max(*off, fabs(wrong[i]));
    return isfinite(*theta);
}

/* The quartic at one point. */
static bool quartic(work *w, const double *scale, ns_cartan *r, double *form)
{
    static const double pi = 3.14159265358979323846;
    double A[ANGLES * 5], theta[ANGLES], terms, most = 0;
    double *room = NS_NEW_ARRAY(w->a, double, ns_algebra_svd_work(ANGLES, 5));
    uint32_t rank;
    for (int k = 0; k < ANGLES; k++) {
        const double angle = pi * k / ANGLES, h[2] = {ns_math_cos(angle), ns_math_sin(angle)};
        if (!invariant(w, scale, h, &theta[k], &terms, &r->off))
            return false;
        r->size = ns_max(r->size, fabs(theta[k]) / terms);
        most = ns_max(most, terms);
        for (int j = 0; j < 5; j++)
            A[k * 5 + j] = ns_eval_power(h[0], 4 - j) * ns_eval_power(h[1], j);
    }
    if (!ns_algebra_least(ANGLES, 5, A, theta, 1e-14, form, &rank, room))
        return false;
    for (int k = 0; k < ANGLES; k++)
        r->off = ns_max(r->off, fabs(theta[k] - ns_algebra_dot(5, A + k * 5, form)) / most);
    return true;
}

const ns_cartan *ns_cartan_quartic(ns_arena *arena, ns_flow *flow, const ns_ex *q,
                                   const ns_ex *const X[NS_CARTAN_N], const double *scale,
                                   uint32_t points, const double *x)
{
    static const char *const names[N] = {"p.1", "p.2", "p.3", "p.4", "p.5"};
    work *w = NS_NEW(arena, work);
    ns_cartan *r = NS_NEW(arena, ns_cartan);
    double form[5];
    *w = (work){.g = flow->system->graph, .a = arena, .X = X};
    for (uint32_t i = 0; i < N; i++) {
        w->z[i] = q[i];
        w->z[N + i] = ns_symbol_new(w->g, names[i], NS_SYM_LOCAL, i);
    }
    if (!make_fields(w))
        return NULL;
    make_symbols(w, flow);
    for (uint32_t k = 0; k < points; k++) {
        memcpy(w->value + w->symbols - N - flow->n, x + (size_t)k * flow->n,
               flow->n * sizeof *x);
        if (!quartic(w, scale, r, k ? form : r->form))
            return NULL;
    }
    if (!(r->off < trusted))
        return NULL;
    r->flat = r->size <= vanishes;
    for (int j = 0; j < 5; j++)
        form[j] = fabs(r->form[j]);
    const double most = ns_max(ns_max(ns_max(form[0], form[1]), ns_max(form[2], form[3])),
                               form[4]);
    for (int j = 0; j < 5; j++)
        if (r->flat || form[j] <= vanishes * most)
            r->form[j] = 0;
    return r;
}
