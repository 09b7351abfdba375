/* Formulation `hamel`: constraints and frames.
 *
 * A frame that the model gives is checked: as many fields as coordinates, the first n-p tangent
 * to the constraints, all independent.  The normalised determinant
 *
 *     det(u_1, .., u_n)/(|u_1| .. |u_n|)
 *
 * is watched along the motion; where it vanishes the frame ends.
 *
 * Without a frame the program makes one.  If p velocities can be expressed by the others with a
 * determinant that does not depend on the position,
 *
 *     u_i = e_i - e_D A_D^-1 A_i,      completed by e_D,
 *
 * is regular everywhere and the simplest.  Otherwise any choice of D would end where det A_D =
 * 0.  Then reflections carry the constraint rows to fixed directions w_1 .. w_p:  with f_i
 * completing the w to an orthonormal basis,
 *
 *     u_i = H_1 .. H_p f_i,   H_k = 1 - 2 r_k r_k^T/(r_k.r_k),   r_k = b_k + w_k,
 *
 * b_k being the unit vector along what H_(k-1) .. H_1 a^k has beside w_1 .. w_(k-1).  The
 * fields are orthonormal, tangent to the constraints, and smooth wherever the constraints are
 * independent, but where b_k = -w_k: a single point of a sphere of dimension n-k, which a
 * motion does not meet unless that is a circle, n - p = 1; there the direction of motion is
 * given by the minors of A. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"
#include "mech/hamel/hamel.h"

enum {
    MOST_MINOR = 12,    /* size up to which determinants are written out */
    MOST_CHOICES = 3000 /* sets D that are tried */
};

bool ns_hamel_constraints(ns_hamel *w)
{
    for (uint32_t k = 0; k < w->p; k++) {
        const ns_constraint_line *line = &w->d->constraints.at[k];
        if (!ns_graph_depends(w->g, line->residual, w->dq, w->n)) {
            ns_diag_error(w->d->diag, line->span,
                          "formulation `hamel` takes constraints on velocities; `%s` is on "
                          "positions (use `lagrange`)",
                          line->name);
            return false;
        }
        if (!ns_subst_collect_linear(w->g, line->residual, w->dq, w->n, w->A + k * w->n,
                                     &w->b[k])) {
            ns_diag_error(w->d->diag, line->span,
                          "constraint `%s` must be linear in the velocities, with further "
                          "terms of position and time",
                          line->name);
            return false;
        }
        w->affine = w->affine || !ns_graph_is_zero(w->g, w->b[k]) ||
                    ns_graph_depends(w->g, line->residual, &w->d->time, 1);
    }
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Values of expressions in coordinates and parameters at the start, as far as it is given. */
static void at_start(ns_hamel *w, const ns_ex *f, uint32_t count, double *out)
{
    const ns_description *d = w->d;
    uint32_t n = w->n, np = d->params.n;
    double *params = NS_NEW_ARRAY(d->arena, double, np + 1);
    double *value = NS_NEW_ARRAY(d->arena, double, np + n + 1); /* time: 0 */
    ns_ex *symbol = NS_NEW_ARRAY(d->arena, ns_ex, np + n + 1);
    symbol[np + n] = d->time;
    ns_system_params(w->s, NULL, NULL, params);
    for (uint32_t i = 0; i < np; i++) {
        symbol[i] = d->params.at[i].symbol;
        value[i] = params[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        symbol[np + i] = w->q[i];
        for (uint32_t k = 0; k < d->starts.n; k++)
            if (d->starts.at[k].symbol == w->q[i])
                ns_eval(w->g, &d->starts.at[k].value, 1, symbol, value, np, &value[np + i]);
    }
    ns_eval(w->g, f, count, symbol, value, np + n + 1, out);
}

/* Are the constraints independent at the start? */
static bool independent(ns_hamel *w)
{
    uint32_t n = w->n, p = w->p;
    double *A = NS_NEW_ARRAY(w->d->arena, double, p * n + 1);
    double *sigma = NS_NEW_ARRAY(w->d->arena, double, n + 1);
    at_start(w, w->A, p * n, A);
    for (uint32_t k = 0; k < p; k++) {
        ns_dense_unit(n, A + k * n);
        const bool defined = ns_dense_svd(w->d->arena, k + 1, n, A, sigma, NULL);
        if (!defined || !(sigma[k] > 1e-12)) {
            ns_diag_error(w->d->diag, w->d->constraints.at[k].span,
                          defined ? "the constraints depend on each other at the start; "
                                    "`constrained` accepts that"
                                  : "the constraint is not defined at the start");
            return false;
        }
    }
    return true;
}

/* det of the rows x columns submatrix of m[..][stride] with the given columns, all rows: by
 * rows, every minor of the last rows once.  0 if it is too large. */
static ns_ex determinant(ns_graph *g, ns_arena *arena, uint32_t size, uint32_t stride,
                         const ns_ex *m, const uint32_t *column)
{
    if (size > MOST_MINOR)
        return 0;
    uint32_t all = (1u << size) - 1;
    ns_ex *minor = NS_NEW_ARRAY(arena, ns_ex, (size_t)all + 1);
    for (uint32_t used = all + 1; used-- > 0;) {
        uint32_t row = (uint32_t)__builtin_popcount(used);
        minor[used] = row == size ? ns_one(g) : ns_zero(g);
        bool odd = false;
        for (uint32_t j = 0; row < size && j < size; j++) {
            if (used >> j & 1)
                continue;
            ns_ex entry = m[row * stride + column[j]], rest = minor[used | 1u << j];
            if (!ns_graph_is_zero(g, entry) && !ns_graph_is_zero(g, rest)) {
                ns_ex term = ns_mul(g, entry, rest);
                minor[used] = odd ? ns_sub(g, minor[used], term) : ns_add(g, minor[used], term);
            }
            odd = !odd;
        }
    }
    return minor[0];
}

/* ---- a given frame ----------------------------------------------------------------------- */

static bool tangent(ns_hamel *w, uint32_t i, const ns_property *p)
{
    for (uint32_t k = 0; k < w->p; k++) {
        ns_ex along = ns_zero(w->g), size = ns_zero(w->g);
        for (uint32_t j = 0; j < w->n; j++) {
            ns_ex term = ns_mul(w->g, w->A[k * w->n + j], w->u[i * w->n + j]);
            along = ns_add(w->g, along, term);
            size = ns_add(w->g, size, ns_abs(w->g, term));
        }
        if (!ns_eval_vanishes(w->g, along, size)) {
            ns_diag_error(w->d->diag, p->span,
                          "field `%s` does not satisfy constraint `%s`: the first %u fields "
                          "must (or write `solve multipliers`)",
                          p->name, w->d->constraints.at[k].name, w->n - w->p);
            return false;
        }
    }
    return true;
}

/* The determinant of the directions of the fields, at the start and from there on.  The
 * quasivelocities grow as its inverse; the run ends where it has fallen to a ten-thousandth,
 * before they cost more than four digits. */
static bool watch(ns_hamel *w, const ns_block *block, ns_ex det)
{
    double first;
    at_start(w, &det, 1, &first);
    if (fabs(first) < 1e-10) {
        ns_diag_error(w->d->diag, block->span,
                      "the fields of the frame are dependent at the start: the determinant of "
                      "their directions is %.2g",
                      first);
        return false;
    }
    if (!ns_graph_depends(w->g, det, w->q, w->n) &&
        !ns_graph_depends(w->g, det, &w->d->time, 1))
        return true;
    ns_ex value = det;
    if (isfinite(first))
        value = ns_sub(w->g, ns_div(w->g, det, ns_number(w->g, first)), ns_number(w->g, 1e-4));
    NS_PUSH(w->d->arena, w->s->events,
            (ns_event){.name = "frame",
                       .value = value,
                       .action = NS_EVENT_SINGULAR,
                       .span = block->span,
                       .meaning = ns_arena_format(
                           w->d->arena,
                           "the fields of the frame become dependent: the determinant of their "
                           "directions has fallen to %.2g",
                           isfinite(first) ? 1e-4 * first : 0)});
    return true;
}

static bool read_frame(ns_hamel *w, const ns_block *block)
{
    if (block->properties.n != w->n) {
        ns_diag_error(w->d->diag, block->span, "the frame needs %u fields, it has %u", w->n,
                      block->properties.n);
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const ns_property *p = &block->properties.at[i];
        if (p->values != 1 || p->value[0].rows * p->value[0].cols != w->n) {
            ns_diag_error(w->d->diag, p->values ? p->value_span : p->span,
                          "field `%s` needs %u components, one per coordinate", p->name, w->n);
            return false;
        }
        for (uint32_t k = 0; k < w->n; k++) {
            ns_ex component = p->value[0].at[k];
            if (ns_graph_depends(w->g, component, w->dq, w->n)) {
                ns_diag_error(w->d->diag, p->value_span,
                              "field `%s` may depend on coordinates, time and parameters only",
                              p->name);
                return false;
            }
            w->affine = w->affine || ns_graph_depends(w->g, component, &w->d->time, 1);
            w->u[i * w->n + k] = component;
        }
        if (!w->multipliers && i + w->p < w->n && !tangent(w, i, p))
            return false;
    }
    /* what is watched */
    uint32_t n = w->n;
    uint32_t *column = NS_NEW_ARRAY(w->d->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        column[i] = i;
    ns_ex det = determinant(w->g, w->d->arena, n, n, w->u, column);
    for (uint32_t i = 0; i < n && det; i++) {
        ns_ex square = ns_zero(w->g);
        for (uint32_t k = 0; k < n; k++)
            square = ns_add(w->g, square, ns_powi(w->g, w->u[i * n + k], 2));
        det = ns_div(w->g, det, ns_sqrt(w->g, square));
    }
    return !det || watch(w, block, det);
}

/* ---- a frame made from the constraints --------------------------------------------------- */

/* Next set of p of n numbers, in lexicographic order. */
static bool next_choice(uint32_t *D, uint32_t p, uint32_t n)
{
    uint32_t i = p;
    while (i > 0 && D[i - 1] == n - p + i - 1)
        i--;
    if (i == 0)
        return false;
    D[i - 1]++;
    for (; i < p; i++)
        D[i] = D[i - 1] + 1;
    return true;
}

/* Looks for D with det A_D the same at all positions; among several, the largest at the
 * start. */
static bool constant_choice(ns_hamel *w, uint32_t *best)
{
    uint32_t n = w->n, p = w->p, tried = 0;
    uint32_t *D = NS_NEW_ARRAY(w->d->arena, uint32_t, p + 1);
    double most = 0;
    for (uint32_t i = 0; i < p; i++)
        D[i] = i;
    do {
        ns_ex det = determinant(w->g, w->d->arena, p, n, w->A, D);
        double value;
        if (!det || ns_graph_depends(w->g, det, w->q, n) ||
            ns_graph_depends(w->g, det, &w->d->time, 1))
            continue;
        at_start(w, &det, 1, &value);
        if (fabs(value) > most) {
            most = fabs(value);
            memcpy(best, D, p * sizeof *D);
        }
    } while (next_choice(D, p, n) && ++tried < MOST_CHOICES);
    return most > 1e-9;
}

/* u_i = e_i - e_D A_D^-1 A_i */
static void eliminate(ns_hamel *w, const uint32_t *D)
{
    uint32_t n = w->n, p = w->p, field = 0;
    ns_ex *AD = NS_NEW_ARRAY(w->d->arena, ns_ex, p * p + 1);
    ns_ex *right = NS_NEW_ARRAY(w->d->arena, ns_ex, p + 1);
    ns_ex *x = NS_NEW_ARRAY(w->d->arena, ns_ex, p + 1);
    for (uint32_t k = 0; k < p; k++)
        for (uint32_t j = 0; j < p; j++)
            AD[k * p + j] = w->A[k * n + D[j]];
    ns_text names = ns_text_new(w->d->arena);
    for (uint32_t i = 0; i < n; i++) {
        bool dependent = false;
        for (uint32_t j = 0; j < p; j++)
            dependent = dependent || D[j] == i;
        if (dependent)
            continue;
        for (uint32_t k = 0; k < p; k++)
            right[k] = w->A[k * n + i];
        ns_solve(w->g, p, AD, right, x);
        w->u[field * n + i] = ns_one(w->g);
        for (uint32_t j = 0; j < p; j++)
            w->u[field * n + D[j]] = ns_neg(w->g, x[j]);
        ns_text_addf(&names, "%sv%u = %s'", field ? ", " : "", field + 1,
                     w->d->coordinates.at[i].name);
        field++;
    }
    for (uint32_t j = 0; j < p; j++)
        w->u[(field + j) * n + D[j]] = ns_one(w->g);
    ns_system_fact(w->s, "frame", "made by the program: %s", ns_text_string(&names));
}

static ns_ex dot(ns_graph *g, const ns_ex *a, const ns_ex *b, uint32_t n)
{
    ns_ex sum = ns_zero(g);
    for (uint32_t i = 0; i < n; i++)
        sum = ns_add(g, sum, ns_mul(g, a[i], b[i]));
    return sum;
}

/* y <- y - 2 r (r.y)/(r.r) */
static void reflect(ns_graph *g, const ns_ex *r, ns_ex over, ns_ex *y, uint32_t n)
{
    ns_ex factor = ns_mul(g, dot(g, r, y, n), over); /* over = 2/(r.r) */
    for (uint32_t i = 0; i < n; i++)
        y[i] = ns_sub(g, y[i], ns_mul(g, factor, r[i]));
}

/* A fixed orthonormal basis in general position, [n][n]. */
static void general_basis(ns_hamel *w, double *W)
{
    uint32_t n = w->n;
    uint64_t seed = 2009;
    for (uint32_t i = 0; i < n; i++)
        for (double norm = 0; norm < 0.3;) {
            norm = 0;
            for (uint32_t k = 0; k < n; k++)
                W[i * n + k] = 2 * ns_eval_random(&seed) - 1;
            for (int pass = 0; pass < 2; pass++)
                for (uint32_t j = 0; j < i; j++) {
                    double along = 0;
                    for (uint32_t k = 0; k < n; k++)
                        along += W[i * n + k] * W[j * n + k];
                    for (uint32_t k = 0; k < n; k++)
                        W[i * n + k] -= along * W[j * n + k];
                }
            for (uint32_t k = 0; k < n; k++)
                norm = ns_math_hypot(norm, W[i * n + k]);
            for (uint32_t k = 0; k < n; k++)
                W[i * n + k] /= norm;
        }
}

static void reflected(ns_hamel *w)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->d->arena;
    uint32_t n = w->n, p = w->p;
    double *W = NS_NEW_ARRAY(arena, double, (size_t)n * n), value;
    general_basis(w, W);
    ns_ex *f = NS_NEW_ARRAY(arena, ns_ex, (size_t)n * n); /* the basis on the graph */
    for (uint32_t i = 0; i < n * n; i++)
        f[i] = ns_number(g, W[i]);
    ns_ex *r = NS_NEW_ARRAY(arena, ns_ex, (size_t)p * n), *over = NS_NEW_ARRAY(arena, ns_ex, p);
    ns_ex *b = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t k = 0; k < p; k++) {
        memcpy(b, w->A + k * n, n * sizeof *b);
        for (uint32_t l = 0; l < k; l++)
            reflect(g, r + l * n, over[l], b, n);
        for (uint32_t l = 0; l < k; l++) {
            ns_ex along = dot(g, b, f + l * n, n);
            for (uint32_t i = 0; i < n; i++)
                b[i] = ns_sub(g, b[i], ns_mul(g, along, f[l * n + i]));
        }
        ns_ex norm = ns_sqrt(g, dot(g, b, b, n));
        for (uint32_t i = 0; i < n; i++)
            b[i] = ns_div(g, b[i], norm);
        /* begin on the side of w_k */
        ns_ex side = dot(g, b, f + k * n, n);
        at_start(w, &side, 1, &value);
        for (uint32_t i = 0; i < n && value < 0; i++)
            f[k * n + i] = ns_neg(g, f[k * n + i]);
        for (uint32_t i = 0; i < n; i++)
            r[k * n + i] = ns_add(g, b[i], f[k * n + i]);
        over[k] = ns_div(g, ns_number(g, 2), dot(g, r + k * n, r + k * n, n));
    }
    for (uint32_t i = 0; i < n - p; i++) {
        ns_ex *u = w->u + i * n;
        memcpy(u, f + (p + i) * n, n * sizeof *u);
        for (uint32_t k = p; k-- > 0;)
            reflect(g, r + k * n, over[k], u, n);
    }
    ns_system_fact(w->s, "frame",
                   "made by the program: %u orthonormal fields tangent to the constraints, "
                   "completed by the constraint rows; regular wherever these are independent",
                   n - p);
}

/* n - p = 1: the direction is that of the minors of A. */
static bool from_minors(ns_hamel *w)
{
    ns_graph *g = w->g;
    uint32_t n = w->n, *column = NS_NEW_ARRAY(w->d->arena, uint32_t, n);
    ns_ex square = ns_zero(g);
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t k = 0, c = 0; k < n; k++)
            if (k != j)
                column[c++] = k;
        ns_ex minor = determinant(g, w->d->arena, n - 1, n, w->A, column);
        if (!minor)
            return false;
        w->u[j] = j % 2 ? ns_neg(g, minor) : minor;
        square = ns_add(g, square, ns_powi(g, minor, 2));
    }
    ns_ex norm = ns_sqrt(g, square);
    for (uint32_t j = 0; j < n; j++)
        w->u[j] = ns_div(g, w->u[j], norm);
    ns_system_fact(w->s, "frame",
                   "made by the program: the unit field tangent to the "
                   "constraints, completed by the constraint rows");
    return true;
}

static bool make_frame(ns_hamel *w)
{
    uint32_t n = w->n, p = w->p, *D = NS_NEW_ARRAY(w->d->arena, uint32_t, p + 1);
    for (uint32_t k = 0; k < n * n; k++)
        w->u[k] = ns_zero(w->g);
    if (p == 0 || constant_choice(w, D)) {
        eliminate(w, D);
        return true;
    }
    if (n - p != 1 || !from_minors(w))
        reflected(w);
    memcpy(w->u + (n - p) * n, w->A, (size_t)p * n * sizeof *w->u);
    return true;
}

ns_ex ns_hamel_on_field(const ns_hamel *w, uint32_t s, uint32_t j)
{
    return dot(w->g, w->A + s * w->n, w->u + j * w->n, w->n);
}

/* sum_r a^s(u_r) v^r = -b^s for the last p quasivelocities */
static void give_velocities(ns_hamel *w)
{
    const uint32_t p = w->p, m = w->n - p;
    ns_ex *T = NS_NEW_ARRAY(w->d->arena, ns_ex, (size_t)p * p + 1);
    ns_ex *right = NS_NEW_ARRAY(w->d->arena, ns_ex, p + 1);
    bool any = false;
    for (uint32_t s = 0; s < p; s++) {
        right[s] = ns_neg(w->g, w->b[s]);
        any = any || !ns_graph_is_zero(w->g, right[s]);
        for (uint32_t r = 0; r < p; r++)
            T[s * p + r] = ns_hamel_on_field(w, s, m + r);
    }
    if (any)
        ns_solve(w->g, p, T, right, w->v + m);
}

bool ns_hamel_frame(ns_hamel *w, const ns_block *frame)
{
    if (!independent(w) || !(frame ? read_frame(w, frame) : make_frame(w)))
        return false;
    if (!w->multipliers)
        give_velocities(w);
    return true;
}

/* ---- checks ------------------------------------------------------------------------------ */

bool ns_hamel_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                     const double *x)
{
    const ns_hamel *w = s->own;
    uint32_t n = w->n;
    double *u = NS_NEW_ARRAY(s->arena, double, (size_t)n * n);
    double *sigma = NS_NEW_ARRAY(s->arena, double, n), det = 1;
    ns_system_eval(s, w->u, (size_t)n * n, t0, p, x, u);
    for (uint32_t i = 0; i < n; i++)
        ns_dense_unit(n, u + i * n);
    ns_dense_svd(s->arena, n, n, u, sigma, NULL);
    for (uint32_t i = 0; i < n; i++)
        det *= sigma[i];
    const ns_block *frame = ns_block_single(w->d, &ns_block_frame);
    if (sigma[n - 1] > 1e-10)
        return true;
    ns_diag_error(diag, frame ? frame->span : w->d->whole,
                  isfinite(det) ? "the fields of the frame are dependent at the start: the "
                                  "determinant of their directions is %.2g"
                                : "the fields of the frame are not defined at the start",
                  det);
    return false;
}
