/* See brackets.h. */
#include "study/control/brackets.h"

#include <math.h>
#include <string.h>

#include "base/math/algebra.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/nullspace.h"

/* A direction is new if this much of its length is left without the ones before.  Fields are
 * exact, so that what should vanish is rounding, 1e-15 times a modest condition. */
static const double new_direction = 1e-8;

enum { POINTS = 5 };          /* in general position: the flag that grows most is it */
enum { MOST_BRACKETS = 400 }; /* of one flag: each is longer than those it is made of */

typedef struct ns_distribution {
    ns_flow *flow;
    ns_arena *arena;
    const ns_integrals_options *options;
    uint32_t n, m, r; /* configurations, velocities, fields */
    uint32_t *state;  /* [n] */
    ns_ex *q, *v;     /* [n], [m] symbols */
    ns_ex *X;         /* [r][n] fields */
    double *size;     /* [n] of the components of the fields */
} ns_distribution;

static void values(const ns_distribution *w, const double *x, const ns_ex *f, uint32_t n,
                   double *out)
{
    ns_system_eval(w->flow->system, f, n, w->flow->t, w->flow->p, x, out);
}

/* ---- the distribution -------------------------------------------------------------------- */

static const char *split_states(ns_distribution *w)
{
    const ns_system *s = w->flow->system;
    const uint32_t n = s->states.n;
    w->state = NS_NEW_ARRAY(w->arena, uint32_t, n + 1);
    w->q = NS_NEW_ARRAY(w->arena, ns_ex, n + 1);
    w->v = NS_NEW_ARRAY(w->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const ns_state *state = &s->states.at[i];
        if (state->odd) {
            w->v[w->m++] = state->symbol;
            continue;
        }
        w->state[w->n] = i;
        w->q[w->n++] = state->symbol;
    }
    if (w->m == 0 || w->n == 0)
        return "the model has no velocities: brackets belong to constraints on velocities";
    if (w->n > NS_BRACKETS_MOST)
        return "there are too many configurations: brackets are for up to 40";
    return NULL;
}

/* D[rows][m] = df/dv, if f = D v; otherwise false.  What depends on v after one derivative is
 * not linear, whatever does not vanish with v is affine: by numbers, at two velocities. */
static bool linear(const ns_distribution *w, const double *x, const ns_ex *f, uint32_t rows,
                   ns_ex *D)
{
    const uint32_t m = w->m, n = w->flow->n;
    ns_diff_jacobian(w->flow->system->graph, f, rows, w->v, m, D);
    double *y = ns_arena_copy(w->arena, x, n * sizeof *y);
    double *first = NS_NEW_ARRAY(w->arena, double, (size_t)rows * m + 1);
    double *second = NS_NEW_ARRAY(w->arena, double, (size_t)rows * m + 1);
    double *at = NS_NEW_ARRAY(w->arena, double, rows + 1);
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0, j = 0; i < n; i++) /* two velocities that nothing singles out */
            if (w->flow->system->states.at[i].odd)
                y[i] = ns_math_sin(1.7 * ++j + k) * w->flow->sigma[i];
        values(w, y, D, rows * m, k ? second : first);
    }
    values(w, y, f, rows, at);
    for (uint32_t i = 0; i < rows; i++) {
        double sum = 0, size = 0;
        for (uint32_t j = 0, k = 0; k < n; k++) {
            if (!w->flow->system->states.at[k].odd)
                continue;
            const double a = first[i * m + j], b = second[i * m + j];
            if (!(fabs(a - b) <= 1e-10 * (fabs(a) + fabs(b))))
                return false;
            sum += b * y[k];
            size += fabs(b * y[k]);
            j++;
        }
        if (!(fabs(at[i] - sum) <= 1e-10 * (size + fabs(at[i]))))
            return false;
    }
    return true;
}

/* Constraints on velocities, C[rows][m]. */
static const char *constraint_rows(const ns_distribution *w, const double *x, uint32_t *rows,
                                   ns_ex **C)
{
    const ns_system *s = w->flow->system;
    ns_ex *f = NS_NEW_ARRAY(w->arena, ns_ex, s->constraints.n + 1);
    *rows = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (ns_graph_depends(s->graph, s->constraints.at[i].residual, w->v, w->m))
            f[(*rows)++] = s->constraints.at[i].residual;
    *C = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)*rows * w->m + 1);
    return linear(w, x, f, *rows, *C) ? NULL
                                      : "a constraint is not linear and homogeneous in the "
                                        "velocities (a prescribed motion, "
                                        "a kept energy): there is no distribution";
}

/* Rows of K[rows][d] that are independent at x, as indices; their number. */
static uint32_t independent_rows(const ns_distribution *w, const double *x, const ns_ex *K,
                                 uint32_t rows, uint32_t d, uint32_t *at)
{
    double *a = NS_NEW_ARRAY(w->arena, double, (size_t)rows * d + 1);
    uint32_t count = 0;
    values(w, x, K, rows * d, a);
    for (uint32_t i = 0; i < rows; i++) {
        double *v = a + (size_t)i * d;
        const double whole = ns_algebra_length(d, v);
        for (uint32_t k = 0; k < count; k++) {
            const double *u = a + (size_t)at[k] * d, c = ns_algebra_dot(d, u, v);
            for (uint32_t j = 0; j < d; j++)
                v[j] -= c * u[j];
        }
        const double left = ns_algebra_length(d, v);
        if (!(left > new_direction * whole))
            continue;
        for (uint32_t j = 0; j < d; j++)
            v[j] /= left;
        at[count++] = i;
    }
    return count;
}

/* Columns u_j of the projection 1 - K^T (K K^T)^-1 K onto the null space of K[rows][d], as
 * U[j*d + i]. */
static void project(const ns_distribution *w, const ns_ex *K, const uint32_t *at, uint32_t rows,
                    uint32_t d, ns_ex *U)
{
    ns_graph *g = w->flow->system->graph;
    ns_ex *KK = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)rows * rows + 1);
    ns_ex *right = NS_NEW_ARRAY(w->arena, ns_ex, rows + 1);
    ns_ex *y = NS_NEW_ARRAY(w->arena, ns_ex, rows + 1);
    for (uint32_t a = 0; a < rows; a++)
        for (uint32_t b = 0; b < rows; b++)
            KK[a * rows + b] = ns_nullspace_dot(g, d, K + (size_t)at[a] * d,
                                                K + (size_t)at[b] * d);
    for (uint32_t j = 0; j < d; j++) {
        for (uint32_t a = 0; a < rows; a++)
            right[a] = K[(size_t)at[a] * d + j];
        if (rows)
            ns_solve(g, rows, KK, right, y);
        for (uint32_t i = 0; i < d; i++) {
            ns_ex e = i == j ? ns_one(g) : ns_zero(g);
            for (uint32_t a = 0; a < rows; a++)
                e = ns_sub(g, e, ns_mul(g, K[(size_t)at[a] * d + i], y[a]));
            U[j * d + i] = e;
        }
    }
}

/* Velocities that the constraints leave: columns V[r][m]. */
static uint32_t free_velocities(const ns_distribution *w, const double *x, const ns_ex *C,
                                uint32_t rows, ns_ex **V)
{
    ns_graph *g = w->flow->system->graph;
    const uint32_t m = w->m;
    ns_ex *zero = NS_NEW_ARRAY(w->arena, ns_ex, rows + 1);
    for (uint32_t i = 0; i < rows; i++)
        zero[i] = ns_zero(g);
    const ns_nullspace t = ns_nullspace_make(g, m, rows, C, zero);
    const uint32_t d = t.d, left = rows - t.taken;
    *V = t.T;
    if (left == 0)
        return d;
    ns_ex *K = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)left * d + 1);
    ns_ex *U = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)d * d + 1);
    uint32_t *at = NS_NEW_ARRAY(w->arena, uint32_t, left + 1);
    for (uint32_t k = 0; k < left; k++)
        for (uint32_t j = 0; j < d; j++)
            K[k * d + j] = ns_nullspace_dot(g, m, C + (size_t)t.row[t.taken + k] * m,
                                            t.T + (size_t)j * m);
    project(w, K, at, independent_rows(w, x, K, left, d, at), d, U);
    *V = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)d * m + 1);
    for (uint32_t j = 0; j < d; j++)
        for (uint32_t i = 0; i < m; i++) {
            ns_ex sum = ns_zero(g);
            for (uint32_t k = 0; k < d; k++)
                sum = ns_add(g, sum, ns_mul(g, t.T[(size_t)k * m + i], U[j * d + k]));
            (*V)[(size_t)j * m + i] = sum;
        }
    return d;
}

/* The fields X = B V at a point in general position x. */
static const char *make_fields(ns_distribution *w, const double *x)
{
    const ns_system *s = w->flow->system;
    const uint32_t n = w->n, m = w->m;
    ns_ex *rate = NS_NEW_ARRAY(w->arena, ns_ex, n), *C, *V;
    ns_ex *B = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)n * m);
    uint32_t rows;
    for (uint32_t i = 0; i < n; i++) {
        rate[i] = s->states.at[w->state[i]].rate;
        if (ns_graph_depends(s->graph, rate[i], &s->time, 1))
            return "time enters the rates of the configuration: there is no distribution";
    }
    if (!linear(w, x, rate, n, B))
        return "the rates of the configuration are not linear in the velocities (a driven "
               "ground, a prescribed motion): there is no distribution";
    const char *why = constraint_rows(w, x, &rows, &C);
    if (why)
        return why;
    w->r = free_velocities(w, x, C, rows, &V);
    w->X = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)w->r * n + 1);
    w->size = NS_NEW_ARRAY(w->arena, double, n);
    double *at = NS_NEW_ARRAY(w->arena, double, n);
    for (uint32_t j = 0; j < w->r; j++) {
        for (uint32_t i = 0; i < n; i++)
            w->X[(size_t)j * n + i] = ns_nullspace_dot(s->graph, m, B + (size_t)i * m,
                                                       V + (size_t)j * m);
        values(w, x, w->X + (size_t)j * n, n, at);
        for (uint32_t i = 0; i < n; i++)
            w->size[i] = ns_max(w->size[i], fabs(at[i]));
    }
    for (uint32_t i = 0; i < n; i++)
        if (w->size[i] == 0)
            w->size[i] = 1;
    return NULL;
}

/* ---- the flag ---------------------------------------------------------------------------- */

typedef struct ns_basis {
    uint32_t n, count;
    double *at; /* [n][n] orthonormal rows, in units of the sizes */
    double least, most;
} ns_basis;

static ns_basis basis_new(const ns_distribution *w)
{
    return (ns_basis){.n = w->n,
                      .at = NS_NEW_ARRAY(w->arena, double, (size_t)w->n * w->n), .least = 1};
}

/* Adds a direction; false if it is none of its own. */
static bool basis_add(ns_basis *b, const double *size, const double *value)
{
    if (b->count == b->n)
        return false;
    double *v = b->at + (size_t)b->count * b->n;
    for (uint32_t i = 0; i < b->n; i++)
        v[i] = value[i] / size[i];
    const double whole = ns_algebra_length(b->n, v);
    if (!(whole > 0) || !isfinite(whole))
        return false;
    for (int twice = 0; twice < 2; twice++)
        for (uint32_t k = 0; k < b->count; k++) {
            const double *u = b->at + (size_t)k * b->n, c = ns_algebra_dot(b->n, u, v);
            for (uint32_t i = 0; i < b->n; i++)
                v[i] -= c * u[i];
        }
    const double left = ns_algebra_length(b->n, v), sine = left / whole;
    if (!(sine > new_direction)) {
        b->most = ns_max(b->most, sine);
        return false;
    }
    b->least = ns_min(b->least, sine);
    for (uint32_t i = 0; i < b->n; i++)
        v[i] /= left;
    b->count++;
    return true;
}

/* N: the configurations less the constraints on them, which are independent at x. */
static uint32_t dimension(const ns_distribution *w, const double *x)
{
    const ns_system *s = w->flow->system;
    ns_basis b = basis_new(w);
    ns_ex *row = NS_NEW_ARRAY(w->arena, ns_ex, w->n);
    double *value = NS_NEW_ARRAY(w->arena, double, w->n);
    double *one = NS_NEW_ARRAY(w->arena, double, w->n);
    for (uint32_t i = 0; i < w->n; i++)
        one[i] = 1 / w->size[i]; /* covectors */
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        if (ns_graph_depends(s->graph, s->constraints.at[i].residual, w->v, w->m))
            continue;
        ns_diff_gradient(s->graph, s->constraints.at[i].residual, w->q, w->n, row);
        values(w, x, row, w->n, value);
        basis_add(&b, one, value);
    }
    return w->n - b.count;
}

/* *terms: the size of what is subtracted, in units of the sizes. */
static void bracket(const ns_distribution *w, const ns_ex *X, const ns_ex *Y, ns_ex *out,
                    ns_ex *terms)
{
    ns_graph *g = w->flow->system->graph;
    ns_ex *other = NS_NEW_ARRAY(w->arena, ns_ex, w->n);
    ns_diff_along(g, Y, w->n, w->q, X, w->n, out);
    ns_diff_along(g, X, w->n, w->q, Y, w->n, other);
    *terms = ns_zero(g);
    for (uint32_t i = 0; i < w->n; i++) {
        const ns_ex both = ns_add(g, ns_abs(g, out[i]), ns_abs(g, other[i]));
        *terms = ns_add(g, *terms, ns_mul(g, ns_number(g, 1 / w->size[i]), both));
        out[i] = ns_sub(g, out[i], other[i]);
    }
}

/* A flag that is being made.  `last` are the fields whose brackets come next: those that added
 * a direction, or, where the point is singular, all: a bracket may vanish there, and those made
 * of it not. */
typedef struct ns_flag_work {
    const ns_distribution *w;
    const double *x, *elsewhere; /* the point; another, not near it */
    bool all;
    uint32_t first, made; /* fields of the first level; brackets so far */
    ns_basis basis;
    NS_LIST(ns_bracket) last;
    ns_flag *flag;
} ns_flag_work;

static double length_of(const ns_distribution *w, const double *value)
{
    double length = 0;
    for (uint32_t i = 0; i < w->n; i++)
        length += fabs(value[i]) / w->size[i];
    return length;
}

/* Is a value nothing but rounding: of its terms (0: it has none), or of a factor that vanishes
 * here, as cos(pi/2) does, but for 6e-17?  Then the field is far larger elsewhere. */
static bool is_rounding(const ns_flag_work *k, const ns_ex *field, const double *value,
                        ns_ex terms)
{
    const ns_distribution *w = k->w;
    double size = 0, *other = NS_NEW_ARRAY(w->arena, double, w->n);
    if (!terms)
        return false;
    values(w, k->x, &terms, 1, &size);
    values(w, k->elsewhere, field, w->n, other);
    const double there = length_of(w, other);
    return length_of(w, value) <= 1e-12 * (isfinite(there) ? ns_max(size, there) : size);
}

static void consider(ns_flag_work *k, const ns_ex *field, ns_ex terms, uint32_t level,
                     const char *name)
{
    const ns_distribution *w = k->w;
    ns_graph *g = w->flow->system->graph;
    double *value = NS_NEW_ARRAY(w->arena, double, w->n);
    bool zero = true;
    for (uint32_t i = 0; i < w->n; i++)
        zero = zero && ns_graph_is_zero(g, field[i]);
    values(w, k->x, field, w->n, value);
    const ns_bracket made = {.name = name, .level = level, .field = field, .value = value};
    const bool added = !zero && !is_rounding(k, field, value, terms) &&
                       basis_add(&k->basis, w->size, value);
    if (added)
        NS_PUSH(w->arena, k->flag->fields, made);
    if (added || (k->all && !zero))
        NS_PUSH(w->arena, k->last, made);
}

/* The next level: brackets of the fields of the first level with those of the last.  False if
 * somebody wants it to stop. */
static bool next_level(ns_flag_work *k, uint32_t level)
{
    const ns_distribution *w = k->w;
    ns_flag *f = k->flag;
    const ns_bracket *last = k->last.at;
    const uint32_t n = k->last.n;
    memset(&k->last, 0, sizeof k->last);
    for (uint32_t i = 0; i < k->first; i++)
        for (uint32_t j = level == 2 ? i + 1 : 0; j < n; j++) {
            if (k->basis.count == f->dimension || k->made == MOST_BRACKETS)
                return true;
            if (w->options->progress &&
                !w->options->progress(w->options->context,
                                      (double)k->basis.count / f->dimension))
                return false;
            ns_ex *Z = NS_NEW_ARRAY(w->arena, ns_ex, w->n);
            ns_ex terms;
            bracket(w, f->fields.at[i].field, last[j].field, Z, &terms);
            k->made++;
            consider(k, Z, terms, level,
                     ns_arena_format(w->arena, "[%s, %s]", f->fields.at[i].name, last[j].name));
        }
    return true;
}

static bool make_flag(const ns_distribution *w, const double *x, const double *elsewhere,
                      uint32_t depth, bool all, ns_flag *f, bool *unfinished)
{
    ns_flag_work k = {
        .w = w, .x = x, .elsewhere = elsewhere, .all = all, .basis = basis_new(w), .flag = f};
    *f = (ns_flag){.dimension = dimension(w, x)};
    for (uint32_t j = 0; j < w->r; j++)
        consider(&k, w->X + (size_t)j * w->n, 0, 1, ns_arena_format(w->arena, "X%u", j + 1));
    k.first = f->fields.n;
    NS_PUSH(w->arena, f->growth, k.basis.count);
    while (k.last.n > 0 && k.basis.count < f->dimension && f->growth.n < depth &&
           k.made < MOST_BRACKETS) {
        if (!next_level(&k, f->growth.n + 1))
            return false;
        NS_PUSH(w->arena, f->growth, k.basis.count);
    }
    *unfinished = k.last.n > 0 && k.basis.count < f->dimension;
    while (f->growth.n > 1 && f->growth.at[f->growth.n - 2] == k.basis.count)
        f->growth.n--;
    f->least = k.basis.least;
    f->most = k.basis.most;
    return true;
}

/* The flag at the start: as in general position, or else with all brackets. */
static bool flag_at_start(const ns_distribution *w, const double *x0, const double *elsewhere,
                          uint32_t depth, const ns_flag *general, ns_flag *f)
{
    bool more;
    if (!make_flag(w, x0, elsewhere, depth, false, f, &more))
        return false;
    const bool same = f->growth.n == general->growth.n &&
                      memcmp(f->growth.at, general->growth.at,
                             f->growth.n * sizeof *f->growth.at) == 0;
    return same || make_flag(w, x0, elsewhere, depth, true, f, &more);
}

/* ---- integrals --------------------------------------------------------------------------- */

/* Polynomials of the configuration that stay constant; with sines and cosines if that is not
 * enough. */
static const ns_integrals *find_integrals(const ns_distribution *w, const double *x0,
                                          uint32_t wanted)
{
    enum { MOST_ATOMS = 12 };
    const ns_system *s = w->flow->system;
    const ns_integrals *found = NULL;
    for (int round = 0; round < 2; round++) {
        ns_family *f = NS_NEW(w->arena, ns_family);
        f->degree_shape = 2;
        for (uint32_t i = 0; i < w->n; i++) {
            const ns_state *q = &s->states.at[w->state[i]];
            NS_PUSH(w->arena, f->shape, (ns_atom){q->name, q->symbol});
            if (round == 0 || q->kind != NS_QUANTITY_COORDINATE)
                continue;
            NS_PUSH(w->arena, f->shape,
                    (ns_atom){ns_arena_format(w->arena, "sin(%s)", q->name),
                              ns_sin(s->graph, q->symbol)});
            NS_PUSH(w->arena, f->shape,
                    (ns_atom){ns_arena_format(w->arena, "cos(%s)", q->name),
                              ns_cos(s->graph, q->symbol)});
        }
        if (f->shape.n > MOST_ATOMS || ns_family_size(f) > NS_INTEGRALS_MOST)
            break;
        const char *message;
        const ns_integrals *now = ns_integrals_search(w->flow, f, w->options, x0, &message);
        if (now && (!found || now->found.n > found->found.n))
            found = now;
        if (found && found->found.n >= wanted)
            break;
    }
    return found && found->found.n ? found : NULL;
}

/* Cartan's quartic, where there is one and no constraint ties the coordinates. */
static const ns_cartan *quartic(const ns_distribution *w, const ns_flag *f, uint32_t points,
                                const double *x)
{
    const ns_ex *X[NS_CARTAN_N];
    if (w->n != NS_CARTAN_N || f->growth.n != 3 || f->growth.at[0] != 2 ||
        f->growth.at[1] != 3 || f->growth.at[2] != 5)
        return NULL;
    for (uint32_t k = 0; k < NS_CARTAN_N; k++)
        X[k] = f->fields.at[k].field;
    return ns_cartan_quartic(w->arena, w->flow, w->q, X, w->size, points, x);
}

const ns_brackets *ns_brackets_find(ns_arena *arena, ns_flow *flow,
                                    const ns_integrals_options *o, const double *x0,
                                    uint32_t depth, const char **message)
{
    ns_distribution w = {.flow = flow, .arena = arena, .options = o};
    *message = split_states(&w);
    if (*message)
        return NULL;
    ns_sampler *sampler = ns_sampler_new(flow, &o->run, x0, message);
    double *all = NS_NEW_ARRAY(arena, double, (POINTS + 1) * (size_t)flow->n);
    double *x = all + flow->n;
    memcpy(all, x0, flow->n * sizeof *x0);
    if (!sampler)
        return NULL;
    *message = "no configuration in general position was found near the motion";
    if (!ns_sampler_next(sampler, x))
        return NULL;
    *message = make_fields(&w, x);
    if (*message)
        return NULL;
    *message = "interrupted";
    ns_brackets *r = NS_NEW(arena, ns_brackets);
    r->n = w.n;
    r->state = w.state;
    bool more;
    uint32_t points = 1; /* the start and those in general position */
    for (int k = 0; k < POINTS; k++, points++) {
        ns_flag flag;
        x = all + points * (size_t)flow->n;
        if (k > 0 && !ns_sampler_next(sampler, x))
            break;
        if (!make_flag(&w, x, k ? all + flow->n : x0, depth, false, &flag, &more))
            return NULL;
        if (k > 0 && flag.fields.n <= r->general.fields.n)
            continue;
        r->general = flag;
        r->unfinished = more;
    }
    if (!flag_at_start(&w, x0, all + flow->n, depth, &r->general, &r->start))
        return NULL;
    const uint32_t reached = r->general.fields.n, N = r->general.dimension;
    if (reached < N && !r->unfinished)
        r->integrals = find_integrals(&w, x0, N - reached);
    r->cartan = quartic(&w, &r->start, points, all);
    return r;
}

const char *ns_brackets_verdict(ns_arena *arena, const ns_brackets *b)
{
    const ns_flag *f = &b->general;
    const uint32_t first = f->growth.at[0], reached = f->fields.n, N = f->dimension;
    if (first == N)
        return "free: no constraint restricts the velocities";
    if (reached == N)
        return ns_arena_format(arena,
                               "completely nonholonomic, of degree %u: every configuration "
                               "can be reached from every other near it",
                               f->growth.n);
    if (b->unfinished)
        return "not decided: ask for a greater depth";
    if (reached == first)
        return ns_arena_format(arena,
                               "holonomic: %u integral%s of the configuration restrict%s the "
                               "motion to a surface of dimension %u",
                               N - reached, N - reached == 1 ? "" : "s",
                               N - reached == 1 ? "s" : "", reached);
    return ns_arena_format(arena,
                           "partly nonholonomic: %u integral%s of the configuration, and on "
                           "the surfaces of dimension %u where they are constant every "
                           "configuration can be reached",
                           N - reached, N - reached == 1 ? "" : "s", reached);
}
