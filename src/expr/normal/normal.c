/* Normal forms for print (see expr/normal/normal.h).
 *
 * An expression becomes a quotient of polynomials in atoms.  sin^2 + cos^2 = 1 is used in both
 * directions (sines or cosines of power two and more are removed, whichever gives less),
 * squares of roots are their radicands, tan is sin/cos, and solves of up to five equations are
 * written by Cramer's rule.  Then common factors go: numbers, monomials, and one polynomial if
 * it divides the other.
 *
 * Whatever comes out is compared with the original at random points before it is used. */
#include "expr/normal/normal.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "expr/normal/normal_internal.h"
#include "expr/subst.h"

enum {
    DEPTH = 300,
    SOLVE_MOST = 5,
    TOO_LONG = 3000 /* nothing readable comes of it */
};

typedef struct ratio {
    ns_poly num, den;
} ratio;

typedef struct work {
    ns_graph *g;
    ns_polys p;
    ns_ex atom[NS_ATOMS];
    uint32_t atoms;
    ratio square[NS_ATOMS]; /* of roots, where it is not a polynomial; den.n = 0 for others */
    bool cosines;           /* remove squares of cosines, not of sines */
    const ns_normal_names *names;
    ratio *known; /* by node */
    bool *done;
    uint32_t size, depth;
} work;

/* ---- quotients --------------------------------------------------------------------------- */

static ratio whole(work *w, ns_poly p)
{
    return (ratio){p, ns_poly_number(&w->p, 1)};
}

static ratio cancel(work *w, ratio r)
{
    ns_polys *p = &w->p;
    if (p->failed || r.den.n == 0) {
        p->failed = true;
        return r;
    }
    if (r.num.n == 0)
        return whole(w, r.num);
    uint8_t a[NS_ATOMS], b[NS_ATOMS];
    ns_poly_content(r.num, a);
    ns_poly_content(r.den, b);
    for (int v = 0; v < NS_ATOMS; v++)
        a[v] = a[v] < b[v] ? a[v] : b[v];
    r.num = ns_poly_strip(p, r.num, a);
    r.den = ns_poly_strip(p, r.den, a);
    double scale = 1 / r.den.at[0].c;
    r.num = ns_poly_scale(p, r.num, scale);
    r.den = ns_poly_scale(p, r.den, scale);
    double c;
    ns_poly q;
    if (ns_poly_is_number(r.den, &c))
        return r;
    if (ns_poly_divide(p, r.num, r.den, &q))
        return whole(w, q);
    p->failed = false; /* a failed attempt at division is not part of the result */
    if (r.num.n > 1 && ns_poly_divide(p, r.den, r.num, &q)) {
        r.num = ns_poly_number(p, 1);
        r.den = q;
    }
    p->failed = false;
    return r;
}

static ratio sum(work *w, ratio a, ratio b, double factor)
{
    ns_polys *p = &w->p;
    ns_poly q;
    if (ns_poly_divide(p, a.den, b.den, &q) && !p->failed)
        return cancel(w,
                      (ratio){ns_poly_add(p, a.num, ns_poly_mul(p, b.num, q), factor), a.den});
    if (ns_poly_divide(p, b.den, a.den, &q) && !p->failed)
        return cancel(w,
                      (ratio){ns_poly_add(p, ns_poly_mul(p, a.num, q), b.num, factor), b.den});
    return cancel(w, (ratio){ns_poly_add(p, ns_poly_mul(p, a.num, b.den),
                                         ns_poly_mul(p, b.num, a.den), factor),
                             ns_poly_mul(p, a.den, b.den)});
}

static ratio times(work *w, ratio a, ratio b)
{
    return cancel(w,
                  (ratio){ns_poly_mul(&w->p, a.num, b.num), ns_poly_mul(&w->p, a.den, b.den)});
}

static ratio over(work *w, ratio a, ratio b)
{
    return times(w, a, (ratio){b.den, b.num});
}

/* ---- from the graph ---------------------------------------------------------------------- */

static ratio convert(work *w, ns_ex e);

static uint32_t atom_of(work *w, ns_ex e)
{
    for (uint32_t i = 0; i < w->atoms; i++)
        if (w->atom[i] == e)
            return i;
    if (w->atoms == NS_ATOMS) {
        w->p.failed = true;
        return 0;
    }
    w->atom[w->atoms] = e;
    return w->atoms++;
}

/* sin(x) or cos(x): both become atoms, with the rule for the square of one of them */
static uint32_t angle(work *w, ns_ex x, bool cosine)
{
    uint32_t s = atom_of(w, ns_sin(w->g, x)), c = atom_of(w, ns_cos(w->g, x));
    uint32_t out = w->cosines ? c : s, stays = w->cosines ? s : c;
    if (!w->p.rule[out].has && !w->p.failed) {
        w->p.rule[out].square = ns_poly_add(
            &w->p, ns_poly_number(&w->p, 1),
            ns_poly_mul(&w->p, ns_poly_atom(&w->p, stays), ns_poly_atom(&w->p, stays)), -1);
        w->p.rule[out].has = true;
    }
    return cosine ? c : s;
}

/* An atom (a root, or a name for one) whose square is known.  If that is a polynomial it is put
 * in at once, otherwise in the end. */
static ratio root(work *w, ns_ex e, ns_ex radicand)
{
    ratio r = convert(w, radicand);
    uint32_t a = atom_of(w, e);
    double c;
    if (w->p.failed)
        return r;
    if (!ns_poly_is_number(r.den, &c)) {
        w->square[a] = r;
    } else if (!w->p.rule[a].has) {
        w->p.rule[a].square = ns_poly_scale(&w->p, r.num, 1 / c);
        w->p.rule[a].has = true;
    }
    return whole(w, ns_poly_atom(&w->p, a));
}

/* p with atom^2 = N/D, times D^(*taken) */
static ns_poly settle_one(work *w, ns_poly p, uint32_t atom, uint32_t *taken)
{
    ns_polys *q = &w->p;
    uint32_t most = 0;
    for (uint32_t i = 0; i < p.n; i++)
        most = p.at[i].e[atom] / 2 > (int)most ? p.at[i].e[atom] / 2u : most;
    *taken = most;
    ns_poly out = {0};
    for (uint32_t half = 0; half <= most && !q->failed; half++) {
        ns_term *at = NS_NEW_ARRAY(q->arena, ns_term, p.n + 1);
        uint32_t n = 0;
        for (uint32_t i = 0; i < p.n; i++)
            if (p.at[i].e[atom] / 2u == half) {
                at[n] = p.at[i];
                at[n++].e[atom] %= 2;
            }
        ns_poly part = ns_poly_add(q, (ns_poly){at, n}, (ns_poly){0}, 1);
        for (uint32_t k = 0; k < most; k++)
            part = ns_poly_mul(q, part, k < half ? w->square[atom].num : w->square[atom].den);
        out = ns_poly_add(q, out, part, 1);
    }
    return out;
}

static ratio settle(work *w, ratio r)
{
    for (uint32_t a = 0; a < w->atoms && !w->p.failed; a++) {
        if (w->square[a].den.n == 0)
            continue;
        uint32_t above, below;
        ns_poly num = settle_one(w, r.num, a, &above), den = settle_one(w, r.den, a, &below);
        for (; below > above && !w->p.failed; below--)
            num = ns_poly_mul(&w->p, num, w->square[a].den);
        for (; above > below && !w->p.failed; above--)
            den = ns_poly_mul(&w->p, den, w->square[a].den);
        r = cancel(w, (ratio){num, den});
    }
    return r;
}

/* Component i of M^-1 b */
static ratio cramer(work *w, ns_ex solve, uint32_t component)
{
    ns_polys *p = &w->p;
    const ns_ex *args = ns_graph_args(w->g, solve);
    uint32_t n = (uint32_t)ns_graph_node(w->g, solve)->integer;
    if (n > SOLVE_MOST) {
        p->failed = true;
        return (ratio){0};
    }
    ns_ex *entry = NS_NEW_ARRAY(p->arena, ns_ex, (size_t)n * (n + 1));
    const ns_ex *M = ns_graph_args(w->g, args[0]);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            entry[i * (n + 1) + j] = M[i * n + j];
        entry[i * (n + 1) + n] = args[1 + i];
    }
    ns_poly *m = NS_NEW_ARRAY(p->arena, ns_poly, (size_t)n * n),
                              *c = NS_NEW_ARRAY(
                                                                     p->arena, ns_poly,
                                                                     (size_t)n * n);
    for (uint32_t i = 0; i < n && !p->failed; i++) {
        ns_poly common = ns_poly_number(p, 1), q; /* denominator of the row */
        ratio *row = NS_NEW_ARRAY(p->arena, ratio, n + 1);
        for (uint32_t j = 0; j <= n && !p->failed; j++) {
            row[j] = convert(w, entry[i * (n + 1) + j]);
            if (!p->failed && !ns_poly_divide(p, common, row[j].den, &q))
                common = ns_poly_mul(p, common, row[j].den);
        }
        for (uint32_t j = 0; j <= n && !p->failed; j++) {
            if (!ns_poly_divide(p, common, row[j].den, &q)) {
                p->failed = true;
                break;
            }
            ns_poly value = ns_poly_mul(p, row[j].num, q);
            if (j < n)
                m[i * n + j] = value;
            for (uint32_t k = 0; k < n; k++) /* with column `component` replaced by b */
                if ((k == component && j == n) || (k != component && j == k))
                    c[i * n + k] = value;
        }
    }
    if (p->failed)
        return (ratio){0};
    return cancel(w, (ratio){ns_poly_determinant(p, n, c), ns_poly_determinant(p, n, m)});
}

static ratio power(work *w, ratio a, int32_t n)
{
    ratio out = whole(w, ns_poly_number(&w->p, 1));
    for (int32_t i = 0; i < n && !w->p.failed; i++)
        out = times(w, out, a);
    return out;
}

/* Both arguments of an operation, the second first: in a call C would leave the order open. */
static void both(work *w, ns_ex a, ns_ex b, ratio *left, ratio *right)
{
    *right = convert(w, b);
    *left = convert(w, a);
}

static ratio make(work *w, ns_ex e)
{
    ns_graph *g = w->g;
    const ns_node *node = ns_graph_node(g, e);
    ns_ex a = node->n > 0 ? ns_graph_args(g, e)[0] : 0,
          b = node->n > 1 ? ns_graph_args(g, e)[1] : 0;
    int32_t integer = node->integer;
    ratio left, right;
    switch ((ns_op)node->op) {
    case NS_OP_NUMBER:
        return whole(w, ns_poly_number(&w->p, node->hi));
    case NS_OP_ADD:
        both(w, a, b, &left, &right);
        return sum(w, left, right, 1);
    case NS_OP_SUB:
        both(w, a, b, &left, &right);
        return sum(w, left, right, -1);
    case NS_OP_NEG: {
        ratio r = convert(w, a);
        return (ratio){ns_poly_scale(&w->p, r.num, -1), r.den};
    }
    case NS_OP_MUL:
        both(w, a, b, &left, &right);
        return times(w, left, right);
    case NS_OP_DIV:
        both(w, a, b, &left, &right);
        return over(w, left, right);
    case NS_OP_POWI:
        return power(w, convert(w, a), integer);
    case NS_OP_SQRT:
        return root(w, e, a);
    case NS_OP_SIN:
    case NS_OP_COS:
        return whole(w, ns_poly_atom(&w->p, angle(w, a, node->op == NS_OP_COS)));
    case NS_OP_TAN: {
        uint32_t c = angle(w, a, true), s = angle(w, a, false);
        return (ratio){ns_poly_atom(&w->p, s), ns_poly_atom(&w->p, c)};
    }
    case NS_OP_PICK:
        return cramer(w, a, (uint32_t)integer);
    case NS_OP_SYMBOL:
        for (size_t i = 0; w->names && i < w->names->n; i++)
            if (w->names->name[i] == e) {
                ns_ex value = w->names->value[i];
                bool is_root = ns_graph_op(g, value) == NS_OP_SQRT;
                return is_root ? root(w, e, ns_graph_args(g, value)[0]) : convert(w, value);
            }
        break;
    default:
        break;
    }
    return whole(w, ns_poly_atom(&w->p, atom_of(w, e)));
}

static ratio convert(work *w, ns_ex e)
{
    if (w->p.failed || w->depth >= DEPTH) {
        w->p.failed = true;
        return (ratio){0};
    }
    if (e < w->size && w->done[e])
        return w->known[e];
    w->depth++;
    ratio r = make(w, e);
    w->depth--;
    if (e < w->size) {
        w->known[e] = r;
        w->done[e] = true;
    }
    return r;
}

/* ---- back to the graph ------------------------------------------------------------------- */

static ns_ex monomial(work *w, const uint8_t e[NS_ATOMS], double c)
{
    ns_graph *g = w->g;
    ns_ex out = ns_one(g);
    for (uint32_t i = 0; i < w->atoms; i++)
        if (e[i])
            out = ns_mul(g, out, e[i] > 1 ? ns_powi(g, w->atom[i], e[i]) : w->atom[i]);
    return c == 1 ? out : ns_mul(g, ns_number(g, c), out);
}

/* The common factor, then the sum, its positive terms first. */
static ns_ex polynomial(work *w, ns_poly p)
{
    ns_graph *g = w->g;
    if (p.n == 0)
        return ns_zero(g);
    uint8_t e[NS_ATOMS];
    ns_poly_content(p, e);
    ns_poly rest = ns_poly_strip(&w->p, p, e);
    double common = fabs(p.at[0].c), sign = 0;
    for (uint32_t i = 0; i < p.n; i++) {
        if (fabs(fabs(p.at[i].c) - common) > 1e-12 * common)
            common = 1;
        sign += p.at[i].c > 0 ? 1 : -1;
    }
    if (p.n == 1)
        return monomial(w, p.at[0].e, p.at[0].c);
    if (sign < 0)
        common = -common;
    ns_ex out = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < rest.n; i++) {
            double c = rest.at[i].c / common;
            if ((c > 0) != (pass == 0))
                continue;
            ns_ex term = monomial(w, rest.at[i].e, fabs(c));
            out = !out ? (pass ? ns_neg(g, term) : term)
                       : (pass ? ns_sub(g, out, term) : ns_add(g, out, term));
        }
    ns_ex factor = monomial(w, e, fabs(common));
    out = ns_graph_is_one(g, factor) ? out : ns_mul(g, factor, out);
    return common < 0 ? ns_neg(g, out) : out;
}

static ns_ex quotient(work *w, ratio r)
{
    double c;
    ns_ex top = polynomial(w, r.num);
    if (ns_poly_is_number(r.den, &c) && c == 1)
        return top;
    /* -(a/b) rather than (-a)/b */
    bool negative = r.num.n == 1 && r.num.at[0].c < 0;
    if (negative)
        top = polynomial(w, ns_poly_scale(&w->p, r.num, -1));
    ns_ex out = ns_div(w->g, top, polynomial(w, r.den));
    return negative ? ns_neg(w->g, out) : out;
}

/* sum over monomials in x of (coefficient)(monomial) */
static ns_ex grouped(work *w, ratio r, const ns_ex *x, size_t n)
{
    bool is_x[NS_ATOMS] = {false};
    for (uint32_t i = 0; i < w->atoms; i++)
        for (size_t k = 0; k < n; k++)
            is_x[i] = is_x[i] || w->atom[i] == x[k] ||
                      ns_graph_depends(w->g, w->atom[i], &x[k], 1);
    bool *used = NS_NEW_ARRAY(w->p.arena, bool, r.num.n + 1);
    ns_ex out = 0;
    for (uint32_t i = 0; i < r.num.n; i++) {
        if (used[i])
            continue;
        uint8_t e[NS_ATOMS] = {0};
        ns_term *at = NS_NEW_ARRAY(w->p.arena, ns_term, r.num.n);
        uint32_t count = 0;
        for (uint32_t j = i; j < r.num.n; j++) {
            bool same = true;
            for (uint32_t v = 0; v < NS_ATOMS; v++)
                same = same && (!is_x[v] || r.num.at[j].e[v] == r.num.at[i].e[v]);
            if (!same)
                continue;
            used[j] = true;
            at[count] = r.num.at[j];
            for (uint32_t v = 0; v < NS_ATOMS; v++)
                if (is_x[v]) {
                    e[v] = at[count].e[v];
                    at[count].e[v] = 0;
                }
            count++;
        }
        ratio part = cancel(w, (ratio){{at, count}, r.den});
        if (w->p.failed)
            return 0;
        bool minus = true; /* all terms negative: subtract */
        for (uint32_t j = 0; j < part.num.n; j++)
            minus = minus && part.num.at[j].c < 0;
        if (minus)
            part.num = ns_poly_scale(&w->p, part.num, -1);
        ns_ex term = ns_mul(w->g, quotient(w, part), monomial(w, e, 1));
        out = !out    ? (minus ? ns_neg(w->g, term) : term)
              : minus ? ns_sub(w->g, out, term)
                      : ns_add(w->g, out, term);
    }
    return out ? out : ns_zero(w->g);
}

/* ---- choice ------------------------------------------------------------------------------ */

/* How long it is in print, solves counting as much as what they hide. */
double ns_normal_length(ns_graph *g, ns_ex e)
{
    ns_arena *arena = ns_graph_scratch(g);
    ns_arena_place mark = ns_arena_mark(arena);
    bool *used = NS_NEW_ARRAY(arena, bool, ns_graph_size(g));
    double *length = NS_NEW_ARRAY(arena, double, (size_t)e + 1);
    ns_graph_mark(g, &e, 1, used);
    for (ns_ex i = 1; i <= e; i++) {
        if (!used[i])
            continue;
        const ns_node *node = ns_graph_node(g, i);
        length[i] = node->op == NS_OP_SOLVE ? 100 : 1;
        for (uint32_t k = 0; k < node->n; k++)
            length[i] = ns_min(length[i] + length[ns_graph_args(g, i)[k]], 1e12);
    }
    double out = length[e];
    ns_arena_release(arena, mark);
    return out;
}

static ns_ex attempt(ns_graph *g, ns_ex e, const ns_ex *x, size_t n,
                     const ns_normal_names *names, bool cosines)
{
    ns_arena *arena = ns_graph_workspace(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    uint32_t size = ns_graph_size(g);
    work w = {.g = g, .p = {.arena = arena}, .cosines = cosines, .names = names, .size = size};
    w.known = NS_NEW_ARRAY(arena, ratio, size);
    w.done = NS_NEW_ARRAY(arena, bool, size);
    ratio r = settle(&w, convert(&w, e));
    ns_ex out = w.p.failed ? 0 : x ? grouped(&w, r, x, n) : quotient(&w, r);
    ns_arena_release(arena, mark);
    return out;
}

static ns_ex best(ns_graph *g, ns_ex e, const ns_ex *x, size_t n, const ns_normal_names *names)
{
    ns_ex out = e;
    double least = ns_normal_length(g, e);
    if (least > TOO_LONG)
        return e;
    for (int k = 0; k < 4; k++) {
        const ns_normal_names *with = k >= 2 ? names : NULL;
        if (k >= 2 && (!names || !names->n))
            break;
        ns_ex other = attempt(g, e, x, n, with, k % 2);
        if (!other)
            continue;
        double length = ns_normal_length(g, other);
        /* grouped by x is wanted for its own sake, unless it is much longer; names are given up
         * only where that gives much less */
        bool wanted = with ? length < 0.6 * least
                           : length < least || (x && out == e && length < 2 * least);
        if (!wanted)
            continue;
        ns_ex old = e, new = other;
        for (size_t i = with ? with->n : 0; i-- > 0;) {
            old = ns_subst_one(g, old, &with->name[i], &with->value[i], 1);
            new = ns_subst_one(g, new, &with->name[i], &with->value[i], 1);
        }
        ns_ex scale = ns_add(g, ns_abs(g, old), ns_abs(g, new));
        if (ns_graph_is_zero(g, ns_sub(g, old, new)) ||
            ns_eval_vanishes(g, ns_sub(g, old, new), scale)) {
            out = other;
            least = length;
        }
    }
    return out;
}

ns_ex ns_normal(ns_graph *g, ns_ex e, const ns_normal_names *names)
{
    return best(g, e, NULL, 0, names);
}

ns_ex ns_normal_collect(ns_graph *g, ns_ex e, const ns_ex *x, size_t n,
                        const ns_normal_names *names)
{
    NS_CHECK(x || !n);
    return best(g, e, x, n, names);
}
