/* Equations as one writes them, for print: programs run on those that were derived.
 *
 * Lines and rates become quotients of polynomials where that is shorter (expr/normal/normal.h,
 * which compares values before it believes them), with solved systems written out first, and
 * sums over products of velocities and momenta, as papers have them: the momentum equations of
 * the falling disk (Bloch, Marsden and Zenkov 2009, 6.5) come out as
 *
 *     p1' = tan(theta) theta' p1 - B/(B + m R^2) theta' p2,     p2' = -m R^2/A theta' p1    */
#include "mech/readable.h"

#include "expr/normal/normal.h"
#include "expr/subst.h"

/* Components of solved systems in normal form: as a whole an expression may be too long for it,
 * where its parts are not. */
static ns_ex solve_parts(ns_arena *arena, ns_graph *g, ns_ex e)
{
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(arena, bool, size);
    NS_LIST(ns_ex) from = {0}, to = {0};
    ns_graph_mark(g, &e, 1, used);
    for (ns_ex k = 1; k < size; k++)
        if (used[k] && ns_graph_op(g, k) == NS_OP_PICK) {
            NS_PUSH(arena, from, k);
            NS_PUSH(arena, to, ns_normal(g, k, NULL));
        }
    return from.n ? ns_subst_one(g, e, from.at, to.at, from.n) : e;
}

static bool is_tangent(const ns_graph *g, ns_ex e)
{
    const ns_ex above = ns_graph_args(g, e)[0], below = ns_graph_args(g, e)[1];
    return ns_graph_op(g, above) == NS_OP_SIN && ns_graph_op(g, below) == NS_OP_COS &&
           ns_graph_args(g, above)[0] == ns_graph_args(g, below)[0];
}

enum { FACTORS = 16 };

/* The factors of a product; 0 if there are too many. */
static uint32_t factors_of(const ns_graph *g, ns_ex e, ns_ex *out)
{
    uint32_t n = 1;
    out[0] = e;
    for (uint32_t i = 0; i < n;) {
        if (ns_graph_op(g, out[i]) != NS_OP_MUL) {
            i++;
            continue;
        }
        if (n == FACTORS)
            return 0;
        const ns_ex *args = ns_graph_args(g, out[i]);
        out[n++] = args[1];
        out[i] = args[0];
    }
    return n;
}

/* A quotient of products without the factors that both have. */
static ns_ex cancel(ns_graph *g, ns_ex e)
{
    ns_ex above[FACTORS], below[FACTORS], num = ns_one(g), den = ns_one(g);
    const uint32_t n = factors_of(g, ns_graph_args(g, e)[0], above);
    const uint32_t m = factors_of(g, ns_graph_args(g, e)[1], below);
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < m; k++)
            if (above[i] && above[i] == below[k]) {
                above[i] = below[k] = 0;
                any = true;
            }
    for (uint32_t i = 0; i < n && any; i++)
        num = above[i] ? ns_mul(g, num, above[i]) : num;
    for (uint32_t k = 0; k < m && any; k++)
        den = below[k] ? ns_mul(g, den, below[k]) : den;
    return any && n && m ? ns_div(g, num, den) : e;
}

/* Quotients that are left: what cancels goes, and sin(x)/cos(x) is tan(x). */
static ns_ex quotients(ns_arena *arena, ns_graph *g, ns_ex e, bool tangents)
{
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(arena, bool, size);
    NS_LIST(ns_ex) from = {0}, to = {0};
    ns_graph_mark(g, &e, 1, used);
    for (ns_ex k = 1; k < size; k++) {
        if (!used[k] || ns_graph_op(g, k) != NS_OP_DIV)
            continue;
        ns_ex other = k;
        if (!tangents)
            other = ns_normal(g, k, NULL);
        if (!tangents && ns_graph_op(g, other) == NS_OP_DIV)
            other = cancel(g, other);
        if (tangents && is_tangent(g, k))
            other = ns_tan(g, ns_graph_args(g, ns_graph_args(g, k)[0])[0]);
        if (other == k || !(ns_normal_length(g, other) < ns_normal_length(g, k)))
            continue;
        NS_PUSH(arena, from, k);
        NS_PUSH(arena, to, other);
    }
    return from.n ? ns_subst_one(g, e, from.at, to.at, from.n) : e;
}

/* An expression as derived or its normal form, if that is shorter; collected by the velocities
 * and momenta, as one writes it, if that is not much longer. */
static ns_ex readable(const ns_system *s, const ns_ex *odd, uint32_t n_odd, ns_ex e)
{
    ns_graph *g = s->graph;
    const ns_ex parts = solve_parts(s->arena, g, e);
    ns_ex best = e, form[] = {ns_normal(g, e, NULL), parts, ns_normal(g, parts, NULL)};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++)
        if (ns_normal_length(g, form[i]) < ns_normal_length(g, best))
            best = form[i];
    const ns_ex sum = ns_normal_collect(g, best, odd, n_odd, NULL);
    if (ns_normal_length(g, sum) < 1.5 * ns_normal_length(g, best))
        best = sum;
    return quotients(s->arena, g, quotients(s->arena, g, best, false), true);
}

const ns_system *ns_system_readable(const ns_system *from, ns_arena *arena)
{
    enum { MOST = 16 }; /* states: nobody reads more, and it takes long */
    ns_system *s = ns_system_fork(from, arena);
    ns_ex *odd = NS_NEW_ARRAY(arena, ns_ex, s->states.n + 1);
    uint32_t n = 0;
    if (s->states.n > MOST)
        return from;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (s->states.at[i].odd)
            odd[n++] = s->states.at[i].symbol;
    s->states.at = ns_arena_copy(arena, s->states.at, s->states.n * sizeof *s->states.at);
    s->equations.at = ns_arena_copy(arena, s->equations.at,
                                    s->equations.n * sizeof *s->equations.at);
    for (uint32_t i = 0; i < s->states.n; i++)
        s->states.at[i].rate = readable(s, odd, n, s->states.at[i].rate);
    for (uint32_t i = 0; i < s->equations.n; i++)
        s->equations.at[i].value = readable(s, odd, n, s->equations.at[i].value);
    return s;
}
