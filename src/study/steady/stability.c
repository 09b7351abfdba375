#include "study/steady/stability.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "base/text.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "study/steady/steady_internal.h"

/* A definite form has no eigenvalue smaller than this part of the largest; differentials that
 * are so small in relation to their terms vanish.  Points are known to 1e-10. */
static const double definite = 1e-8, vanishes = 1e-7;

typedef struct work {
    ns_steady *q;
    const ns_steady_point *point;
    ns_arena *a; /* scratch */
    uint32_t r;  /* dimension of the quotient */
    double *B;   /* [r][n] its basis */
    double *M;   /* [r][r] */
    uint32_t f;  /* kernel of M */
    double *K;   /* [f][n] in states */
    uint32_t w;  /* of the centre space */
    double *C;   /* [w][n] in states */
    ns_stability *out;
} work;

const char *ns_stability_word(ns_stability_kind kind)
{
    static const char *const word[] = {"undecided", "unstable", "stable", "attracts"};
    return word[kind];
}

/* ---- spaces ------------------------------------------------------------------------------ */

/* Rows made[k][n] = V[k][r] B[r][n]. */
static double *in_states(const work *w, uint32_t k, const double *V)
{
    double *made = NS_NEW_ARRAY(w->a, double, (size_t)k * w->q->n + 1);
    ns_flow_multiply(k, w->r, w->q->n, V, w->B, made);
    return made;
}

/* The kernel of M, as many directions as the linear study has found. */
static void find_kernel(work *w)
{
    const ns_linear_shape *shape = &w->point->linear->shape;
    const uint32_t r = w->r;
    double *V = NS_NEW_ARRAY(w->a, double, (size_t)r * r + 1);
    double *sigma = NS_NEW_ARRAY(w->a, double, r + 1);
    ns_dense_svd(w->a, r, r, w->M, sigma, V);
    w->f = shape->levels ? shape->family[0] : 0;
    w->K = in_states(w, w->f, V + (size_t)(r - w->f) * r);
}

/* The space of all eigenvalues that do not decay: the range of the product of M - lambda over
 * the others, which takes the decaying modes to zero and none of the rest. */
static void find_centre(work *w)
{
    const ns_linear *l = w->point->linear;
    const uint32_t r = w->r;
    const double tol = ns_linear_tolerance(l), size = ns_max(l->scale, 1e-300);
    double *P = NS_NEW_ARRAY(w->a, double, (size_t)r * r + 1);
    double *factor = NS_NEW_ARRAY(w->a, double, (size_t)r * r + 1);
    double *made = NS_NEW_ARRAY(w->a, double, (size_t)r * r + 1);
    for (uint32_t i = 0; i < r; i++)
        P[i * r + i] = 1;
    for (uint32_t k = 0; k < l->n; k++) {
        const ns_eigenvalue e = l->eigenvalue[k];
        if (e.re >= -tol || e.im < 0)
            continue;
        const bool pair = e.im > 0; /* (M - re)^2 + im^2 */
        for (uint32_t i = 0; i < r * r; i++)
            made[i] = (w->M[i] - (i % (r + 1) ? 0 : e.re)) / size;
        memcpy(factor, made, (size_t)r * r * sizeof *made);
        if (pair) {
            ns_flow_multiply(r, r, r, made, made, factor);
            for (uint32_t i = 0; i < r; i++)
                factor[i * r + i] += e.im / size * (e.im / size);
        }
        ns_flow_multiply(r, r, r, factor, P, made);
        memcpy(P, made, (size_t)r * r * sizeof *P);
    }
    double *V = NS_NEW_ARRAY(w->a, double, (size_t)r * r + 1);
    double *sigma = NS_NEW_ARRAY(w->a, double, r + 1);
    for (uint32_t i = 0; i < r; i++) /* its transpose: right singular vectors span the range */
        for (uint32_t j = 0; j < r; j++)
            made[i * r + j] = P[j * r + i];
    ns_dense_svd(w->a, r, r, made, sigma, V);
    w->w = r - l->stable;
    w->C = in_states(w, w->w, V);
}

/* ---- the family -------------------------------------------------------------------------- */

/* Is there a steady motion nearby in the direction d[n], farther away than it would be if
 * Newton's method had come back? */
static bool neighbour(work *w, const double *d, double step)
{
    ns_steady *q = w->q;
    const double *x0 = w->point->x;
    double *x = NS_NEW_ARRAY(w->a, double, q->n + 1), size = 0, along = 0, square = 0;
    for (uint32_t i = 0; i < q->n; i++)
        size = ns_max(size, fabs(d[i]) / q->field->sigma[i]);
    for (uint32_t i = 0; i < q->n; i++)
        x[i] = x0[i] + step / size * d[i];
    ns_steady_point found;
    if (!ns_steady_find(q, x, &found))
        return false;
    for (uint32_t i = 0; i < q->n; i++) {
        along += (found.x[i] - x0[i]) * d[i];
        square += d[i] * d[i];
    }
    return fabs(along / square * size / step - 1) < 0.1;
}

/* Neighbours both ways in every direction of the kernel, and in mixed ones. */
static bool is_manifold(work *w)
{
    ns_steady *q = w->q;
    const uint32_t held = q->h, rows = q->rows, mixed = w->f > 1 ? w->f : 0;
    double *d = NS_NEW_ARRAY(w->a, double, q->n + 1);
    uint64_t seed = 1938;
    bool good = true;
    q->h = 0; /* what is held would forbid the family */
    q->rows = q->n + q->m;
    for (uint32_t k = 0; k < w->f + mixed && good; k++) {
        memset(d, 0, q->n * sizeof *d);
        for (uint32_t j = 0; j < w->f; j++) {
            const double part = k < w->f ? (j == k ? 1 : 0) : 2 * ns_eval_random(&seed) - 1;
            for (uint32_t i = 0; i < q->n; i++)
                d[i] += part * w->K[(size_t)j * q->n + i];
        }
        good = neighbour(w, d, 1e-3) && neighbour(w, d, -1e-3);
    }
    q->h = held;
    q->rows = rows;
    return good;
}

/* Rank of the differentials on rows of directions; null[.][k], if given: directions in which
 * none changes; returns the rank. */
static uint32_t rank_on(const work *w, uint32_t k, const double *B, double *null)
{
    const ns_conserved *c = w->out->conserved;
    const uint32_t rows = c->n > k ? c->n : k;
    double *D = NS_NEW_ARRAY(w->a, double, (size_t)rows * k + 1);
    double *V = NS_NEW_ARRAY(w->a, double, (size_t)k * k + 1);
    double *sigma = NS_NEW_ARRAY(w->a, double, rows + k + 1);
    if (!k)
        return 0;
    ns_conserved_differentials(c, w->point->x, k, B, D);
    ns_dense_svd(w->a, rows, k, D, sigma, V);
    uint32_t rank = 0;
    while (rank < k && rank < c->n && sigma[rank] > vanishes)
        rank++;
    if (null)
        memcpy(null, V + (size_t)rank * k, (size_t)(k - rank) * k * sizeof *null);
    return rank;
}

/* ---- energy and momentum ----------------------------------------------------------------- */

/* Combinations lambda[.][n] of the functions that are critical; how many. */
static uint32_t critical(const work *w, double *lambda)
{
    const ns_conserved *c = w->out->conserved;
    const uint32_t k = c->n, r = w->r, rows = r > k ? r : k;
    double *D = NS_NEW_ARRAY(w->a, double, (size_t)k * r + 1);
    double *Dt = NS_NEW_ARRAY(w->a, double, (size_t)rows * k + 1);
    double *sigma = NS_NEW_ARRAY(w->a, double, rows + k + 1);
    double *V = NS_NEW_ARRAY(w->a, double, (size_t)k * k + 1);
    ns_conserved_differentials(c, w->point->x, r, w->B, D);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = 0; j < r; j++)
            Dt[(size_t)j * k + i] = D[(size_t)i * r + j];
    if (!k)
        return 0;
    ns_dense_svd(w->a, rows, k, Dt, sigma, V);
    uint32_t rank = 0;
    while (rank < k && rank < r && sigma[rank] > vanishes)
        rank++;
    memcpy(lambda, V + (size_t)rank * k, (size_t)(k - rank) * k * sizeof *lambda);
    return k - rank;
}

/* Smallest over largest eigenvalue, if all have one sign; otherwise 0. */
static double definiteness(const work *w, const double *lambda, uint32_t d, const double *W)
{
    double *H = NS_NEW_ARRAY(w->a, double, (size_t)d * d + 1);
    double *e = NS_NEW_ARRAY(w->a, double, d + 1);
    ns_conserved_second(w->out->conserved, w->point->x, lambda, d, W, H);
    if (!ns_dense_symmetric(w->a, d, H, e) || e[0] * e[d - 1] <= 0)
        return 0;
    return ns_min(fabs(e[0]), fabs(e[d - 1])) / ns_max(fabs(e[0]), fabs(e[d - 1]));
}

static const char *names(const work *w)
{
    const ns_conserved *c = w->out->conserved;
    ns_text text = ns_text_new(w->q->arena);
    for (uint32_t i = 0; i < c->n; i++)
        ns_text_addf(&text, "%s%s", i ? ", " : "", c->name[i]);
    return ns_text_string(&text);
}

static bool energy_momentum(work *w)
{
    enum { TRIES = 200 };
    const ns_linear *l = w->point->linear;
    ns_stability *out = w->out;
    const uint32_t k = out->conserved->n;
    double *null = NS_NEW_ARRAY(w->a, double, (size_t)w->w * w->w + 1);
    double *lambda = NS_NEW_ARRAY(w->a, double, (size_t)k * k + 1);
    double *mixed = NS_NEW_ARRAY(w->a, double, k + 1);
    const uint32_t rank = rank_on(w, w->w, w->C, null), d = w->w - rank;
    const uint32_t found = critical(w, lambda);
    double *W = NS_NEW_ARRAY(w->a, double, (size_t)d * w->q->n + 1);
    ns_flow_multiply(d, w->w, w->q->n, null, w->C, W);
    uint64_t seed = 1788;
    double best = d ? 0 : 1;
    for (uint32_t k0 = 0; k0 < (found > 1 ? TRIES : found) && d; k0++) {
        memset(mixed, 0, k * sizeof *mixed);
        for (uint32_t j = 0; j < found; j++) {
            const double part = k0 < found ? (j == k0 ? 1 : 0) : 2 * ns_eval_random(&seed) - 1;
            for (uint32_t i = 0; i < k; i++)
                mixed[i] += part * lambda[(size_t)j * k + i];
        }
        best = ns_max(best, definiteness(w, mixed, d, W));
    }
    out->least = best;
    if (!(best > definite))
        return false;
    out->kind = NS_STABILITY_STABLE;
    out->method = l->stable ? "energy-momentum on the centre manifold" : "energy-momentum";
    out->text = ns_arena_format(
        w->q->arena, "stable (%s): %s on the level of %s%s", out->method,
        d ? "a strict extremum of a conserved quantity" : "an isolated point", names(w),
        l->stable ? "; some deviations decay" : "; no motion tends to it");
    return true;
}

/* ---- reversibility ----------------------------------------------------------------------- */

/* Does S leave y0 and the kernel alone, and one direction only turn round? */
static bool turns_one(work *w, const ns_discrete *map)
{
    ns_steady *q = w->q;
    const ns_system *s = q->field->system;
    const uint32_t n = q->n, k = map->about;
    const ns_ex *symbols = ns_system_state_symbols(s, w->a);
    ns_ex *by = NS_NEW_ARRAY(w->a, ns_ex, (size_t)k * n + 1);
    double *there = NS_NEW_ARRAY(w->a, double, k + 1),
                                 *sigma = NS_NEW_ARRAY(w->a, double, n + 1);
    double *D = NS_NEW_ARRAY(w->a, double, (size_t)k * n + 1);
    ns_system_eval(s, map->S, k, q->field->t, q->field->p, w->point->x, there);
    for (uint32_t i = 0; i < k; i++)
        if (!(fabs(there[i] - w->point->x[i]) <= 1e-9 * q->field->sigma[i]))
            return false;
    ns_diff_jacobian(s->graph, map->S, k, symbols, n, by);
    ns_system_eval(s, by, (size_t)k * n, q->field->t, q->field->p, w->point->x, D);
    for (uint32_t i = 0; i < k; i++)
        D[(size_t)i * n + i] -= 1;
    double *on = NS_NEW_ARRAY(w->a, double, (size_t)k * w->r + 1);
    double *kernel = NS_NEW_ARRAY(w->a, double, (size_t)k * w->f + 1);
    ns_flow_multiply_t(k, n, w->r, D, w->B, on);
    ns_flow_multiply_t(k, n, w->f, D, w->K, kernel);
    for (size_t i = 0; i < (size_t)k * w->f; i++)
        if (!(fabs(kernel[i]) < vanishes))
            return false;
    ns_dense_svd(w->a, k, w->r, on, sigma, NULL);
    return k >= 2 && w->r >= 2 && sigma[0] > vanishes && sigma[1] <= vanishes;
}

static bool reversible(work *w)
{
    ns_steady *q = w->q;
    const ns_system *s = q->field->system;
    const ns_linear *l = w->point->linear;
    ns_stability *out = w->out;
    if (!s->reduced || w->r != s->reduced || l->n != 2 || l->stable || l->zero ||
        l->shape.levels > 1 || !out->is_manifold)
        return false;
    uint32_t n;
    const ns_discrete *maps = ns_symmetry_maps(s, q->field->p, w->point->x, &n);
    for (uint32_t i = 0; i < n; i++)
        if (maps[i].reverses && maps[i].name && maps[i].difference < 1e-9 &&
            maps[i].about == s->reduced && turns_one(w, &maps[i])) {
            out->kind = NS_STABILITY_STABLE;
            out->method = "reversible";
            out->text = ns_arena_format(q->arena,
                                        "stable (reversible by %s): shape and momenta of the "
                                        "motions nearby are periodic; none tends to it",
                                        maps[i].name);
            return true;
        }
    return false;
}

/* ---- verdicts ---------------------------------------------------------------------------- */

static bool first_method(work *w)
{
    const ns_linear *l = w->point->linear;
    ns_stability *out = w->out;
    out->method = "first method";
    if (l->unstable) {
        out->kind = NS_STABILITY_UNSTABLE;
        out->text = "unstable (Lyapunov's first method): a mode grows";
    } else if (w->r && l->stable == w->r) {
        out->kind = NS_STABILITY_ATTRACTS;
        out->text = "asymptotically stable (Lyapunov's first method): nearby motions tend to "
                    "it";
    }
    return out->kind != NS_STABILITY_UNDECIDED;
}

static bool malkin(work *w)
{
    const ns_linear *l = w->point->linear;
    ns_stability *out = w->out;
    if (!l->n || l->stable != l->n || l->shape.levels != 1 || !out->is_manifold)
        return false;
    out->kind = NS_STABILITY_ATTRACTS;
    out->method = "Lyapunov-Malkin";
    out->text = ns_arena_format(w->q->arena,
                                "stable (Lyapunov and Malkin): every motion nearby tends to a "
                                "steady motion of the family of %u parameter%s",
                                w->f, w->f > 1 ? "s" : "");
    out->leaf = out->told == w->f
                    ? ns_arena_format(w->q->arena,
                                      "on the level of %s this steady motion itself attracts: "
                                      "asymptotically stable there",
                                      names(w))
                    : ns_arena_format(
                          w->q->arena,
                          "conserved quantities tell %u of the family's %u directions "
                          "apart: which member is reached is not theirs to say",
                          out->told, w->f);
    return true;
}

/* Nothing but the family: all conserved quantities are coordinates of it, or it is at rest. */
static bool only_family(work *w)
{
    ns_stability *out = w->out;
    if (w->point->linear->n || w->f != w->r || !out->is_manifold)
        return false;
    out->kind = NS_STABILITY_STABLE;
    out->method = "family";
    out->text = "stable: every motion nearby is steady too";
    return true;
}

const ns_stability *ns_stability_at(ns_steady *q, const ns_steady_point *point)
{
    const ns_linear *l = point->linear;
    ns_stability *out = NS_NEW(q->arena, ns_stability);
    const ns_arena_place mark = ns_arena_mark(q->field->scratch);
    work w = {.q = q, .point = point, .a = q->field->scratch, .out = out};
    out->text = out->leaf = "";
    out->method = "none";
    w.r = ns_linear_quotient(q->field, q->g, q->arena, point->x, point->c, &w.B, &w.M);
    out->conserved = ns_conserved_at(q->field, q->g, point->x);
    find_kernel(&w);
    find_centre(&w);
    out->centre = w.w;
    out->family = w.f;
    out->told = rank_on(&w, w.f, w.K, NULL);
    const bool known = !l->n || !isnan(l->eigenvalue[0].re);
    if (known && !first_method(&w)) {
        out->is_manifold = w.f && is_manifold(&w);
        if (!malkin(&w) && !only_family(&w) && !energy_momentum(&w) && !reversible(&w)) {
            out->method = "none";
            out->text = "not decided: neither the linear terms nor the conserved quantities "
                        "known here say more";
        }
    }
    ns_arena_release(q->field->scratch, mark);
    return out;
}
