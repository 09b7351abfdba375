/* Elimination along a tree: see tree.h.
 *
 * Unknowns 0 .. n-1 are v, the rest w.  With x the unknowns that are left, the form is
 * 1/2 x.H x - r.x.  Two kinds of steps, until nothing is left:
 *
 *     w_j = sum c_a x_a put in      H_ab += c_a H_jb + H_aj c_b + c_a H_jj c_b, r_a += c_a r_j
 *     v_k eliminated, d = H_kk      H_ab -= H_ak H_kb / d,                  r_a -= H_ak r_k / d
 *
 * and backwards x_j = sum c_a x_a,  x_k = r_k/d - sum (H_ka/d) x_a. */
#include "expr/tree.h"

#include <string.h>

#include "base/check.h"

typedef struct term {
    uint32_t at; /* unknown */
    ns_ex value;
} term;

typedef NS_LIST(term) terms;

typedef struct step {
    uint32_t at;
    terms parts;   /* w: its c_a; v: H_ka/d */
    ns_ex inverse; /* v: 1/d; w: 0 */
} step;

struct ns_tree {
    ns_graph *g;
    uint32_t n, size; /* velocities; with those of the graph */
    step *steps;      /* [size] */
    ns_ex *pivot, *scale;
};

typedef struct work {
    ns_graph *g;
    ns_arena *arena;
    uint32_t n, size;
    bool dry;           /* nothing is built, operations are counted */
    double count, most; /* operations so far, and permitted in a dry run */
    ns_ex some;         /* in a dry run, anything that is not zero */
    terms *form;        /* [nodes] linear nodes by unknowns */
    terms *of;          /* [size] w: its form */
    terms *H;           /* [size] rows; the diagonal is not in them */
    ns_ex *square;      /* [size] diagonal, 0 if it vanishes */
    ns_ex *scale;       /* [size] the same without what was subtracted; not in a dry run */
} work;

/* ---- arithmetic, or its price ------------------------------------------------------------ */

static ns_ex times(work *w, ns_ex a, ns_ex b)
{
    w->count += w->dry && a != w->some && b != w->some ? 0 : 1;
    return !w->dry ? ns_times(w->g, a, b) : ns_graph_is_one(w->g, a) ? b : w->some;
}

static ns_ex plus(work *w, ns_ex a, ns_ex b)
{
    if (!a || !b)
        return a ? a : b;
    w->count++;
    return w->dry ? w->some : ns_add(w->g, a, b);
}

static ns_ex minus(work *w, ns_ex a, ns_ex b)
{
    w->count++;
    return w->dry ? w->some : a ? ns_sub(w->g, a, b) : ns_neg(w->g, b);
}

static ns_ex coefficient(const work *w, ns_ex e)
{
    return w->dry && !ns_graph_is_one(w->g, e) ? w->some : e;
}

static ns_ex *find(work *w, terms *list, uint32_t at)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i].at == at)
            return &list->at[i].value;
    NS_PUSH(w->arena, *list, ((term){at, 0}));
    return &list->at[list->n - 1].value;
}

static void forget(terms *list, uint32_t at)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i].at == at) { /* those after keep their order */
            memmove(list->at + i, list->at + i + 1, (list->n - i - 1) * sizeof *list->at);
            list->n--;
            return;
        }
}

/* H_ab += value, and H_ba */
static void add(work *w, uint32_t a, uint32_t b, ns_ex value)
{
    if (a == b) {
        w->square[a] = plus(w, w->square[a], value);
        return;
    }
    ns_ex *here = find(w, &w->H[a], b);
    *here = plus(w, *here, value);
    *find(w, &w->H[b], a) = *here;
}

static void subtract(work *w, uint32_t a, uint32_t b, ns_ex value)
{
    if (a == b) {
        w->square[a] = minus(w, w->square[a], value);
        return;
    }
    ns_ex *here = find(w, &w->H[a], b);
    *here = minus(w, *here, value);
    *find(w, &w->H[b], a) = *here;
}

/* ---- what the graph says ----------------------------------------------------------------- */

enum { OTHER = 3 }; /* neither constant, linear nor quadratic in v */

/* Degrees in v of the nodes that L needs, by their form. */
static void degrees(const ns_graph *g, ns_ex top, const bool *used, uint8_t *degree)
{
    for (ns_ex e = 1; e <= top; e++) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        uint32_t most = degree[e];
        for (uint32_t k = 0; k < node->n; k++)
            most = degree[args[k]] > most ? degree[args[k]] : most;
        if (most && node->n) {
            const uint32_t a = degree[args[0]], b = node->n > 1 ? degree[args[1]] : 0;
            if (node->op == NS_OP_MUL)
                most = a + b;
            else if (node->op == NS_OP_POWI)
                most = node->integer == 2 ? 2 * a : OTHER;
            else if (node->op == NS_OP_DIV ? b > 0
                                           : node->op != NS_OP_ADD && node->op != NS_OP_SUB &&
                                                 node->op != NS_OP_NEG)
                most = OTHER;
        }
        degree[e] = (uint8_t)(most > OTHER ? OTHER : most);
    }
}

static void add_form(work *w, terms *to, const terms *from, ns_ex factor, bool negative)
{
    for (uint32_t i = 0; i < from->n; i++) {
        ns_ex value = factor ? times(w, factor, from->at[i].value) : from->at[i].value;
        ns_ex *here = find(w, to, from->at[i].at);
        *here = negative ? minus(w, *here, value) : plus(w, *here, value);
    }
}

/* The form of a linear node; if others use it too and it has several terms, its own unknown. */
static void linear(work *w, ns_ex e, const uint8_t *degree, uint32_t uses)
{
    const ns_node *node = ns_graph_node(w->g, e);
    const ns_ex a = ns_graph_args(w->g, e)[0], b = node->n > 1 ? ns_graph_args(w->g, e)[1] : 0;
    terms *form = &w->form[e];
    const ns_op op = (ns_op)node->op;
    if (op == NS_OP_MUL && degree[a] == 1)
        add_form(w, form, &w->form[a], coefficient(w, b), false);
    else if (op == NS_OP_MUL)
        add_form(w, form, &w->form[b], coefficient(w, a), false);
    else if (op == NS_OP_DIV)
        add_form(w, form, &w->form[a], w->dry ? w->some : ns_div(w->g, ns_one(w->g), b), false);
    else {
        if (degree[a] == 1)
            add_form(w, form, &w->form[a], 0, op == NS_OP_NEG);
        if (b && degree[b] == 1)
            add_form(w, form, &w->form[b], 0, op == NS_OP_SUB);
    }
    if (uses < 2 || form->n < 2)
        return;
    w->of[w->size] = *form;
    *form = (terms){0};
    NS_PUSH(w->arena, *form, ((term){w->size++, ns_one(w->g)}));
}

/* The size of H_aa grows by that of something times c^2. */
static void grow(work *w, uint32_t a, ns_ex c, ns_ex size)
{
    if (w->dry || !size)
        return;
    const ns_ex value = ns_mul(w->g, ns_powi(w->g, c, 2), size);
    w->scale[a] = w->scale[a] ? ns_add(w->g, w->scale[a], value) : value;
}

/* H += factor a b^T + factor b a^T */
static void product(work *w, const terms *a, const terms *b, ns_ex factor)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const ns_ex scaled = times(w, factor, a->at[i].value);
        for (uint32_t j = 0; j < b->n; j++) {
            const uint32_t p = a->at[i].at, q = b->at[j].at;
            const ns_ex value = times(w, b->at[j].value, scaled);
            add(w, p, q, value);
            if (p == q) {
                add(w, p, q, value);
                grow(w, p, ns_one(w->g), value);
            }
        }
    }
}

/* H += 2 factor a a^T */
static void self_product(work *w, const terms *a, ns_ex factor)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const ns_ex scaled = times(w, factor, a->at[i].value);
        for (uint32_t j = 0; j <= i; j++)
            add(w, a->at[i].at, a->at[j].at, times(w, a->at[j].value, scaled));
        grow(w, a->at[i].at, a->at[i].value, factor);
    }
}

/* H by going down from L: bar is the factor of a quadratic node in L. */
static void quadratic(work *w, ns_ex top, const bool *used, const uint8_t *degree)
{
    ns_graph *g = w->g;
    ns_ex *bar = NS_NEW_ARRAY(w->arena, ns_ex, top + 1);
    bar[top] = ns_one(g);
    for (ns_ex e = top; e > 0; e--) {
        if (!used[e] || degree[e] != 2 || !bar[e])
            continue;
        const ns_node node = *ns_graph_node(g, e);
        const ns_ex a = ns_graph_args(g, e)[0], b = node.n > 1 ? ns_graph_args(g, e)[1] : 0;
        const ns_ex factor = bar[e];
        if (node.op == NS_OP_POWI) {
            self_product(w, &w->form[a],
                         w->dry ? coefficient(w, factor) : ns_mul(g, ns_number(g, 2), factor));
        } else if (node.op == NS_OP_MUL && degree[a] == 1) {
            product(w, &w->form[a], &w->form[b], factor);
        } else if (node.op == NS_OP_MUL) {
            const ns_ex inner = degree[a] == 2 ? a : b, outer = degree[a] == 2 ? b : a;
            bar[inner] = plus(w, bar[inner], times(w, coefficient(w, outer), factor));
        } else if (node.op == NS_OP_DIV) {
            bar[a] = plus(w, bar[a], w->dry ? w->some : ns_div(g, factor, b));
        } else if (node.op == NS_OP_NEG) {
            bar[a] = minus(w, bar[a], factor);
        } else {
            if (degree[a] == 2)
                bar[a] = plus(w, bar[a], factor);
            if (degree[b] == 2)
                bar[b] = node.op == NS_OP_SUB ? minus(w, bar[b], factor)
                                              : plus(w, bar[b], factor);
        }
    }
}

/* ---- elimination ------------------------------------------------------------------------- */

/* The row of an unknown, which then stands in no other any more. */
static terms take(work *w, uint32_t at)
{
    const terms row = w->H[at];
    w->H[at] = (terms){0};
    for (uint32_t i = 0; i < row.n; i++)
        forget(&w->H[row.at[i].at], at);
    return row;
}

static void put_in(work *w, uint32_t j, step *s)
{
    const terms *c = &w->of[j];
    const terms row = take(w, j);
    *s = (step){.at = j, .parts = *c};
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < row.n; k++) {
            const uint32_t a = c->at[i].at, b = row.at[k].at;
            const ns_ex value = times(w, c->at[i].value, row.at[k].value);
            add(w, a, b, value);
            if (a == b)
                add(w, a, b, value);
        }
    if (!w->square[j])
        return;
    for (uint32_t i = 0; i < c->n; i++) {
        const ns_ex scaled = times(w, c->at[i].value, w->square[j]);
        for (uint32_t k = 0; k <= i; k++)
            add(w, c->at[i].at, c->at[k].at, times(w, c->at[k].value, scaled));
        grow(w, c->at[i].at, c->at[i].value, w->scale[j]);
    }
}

static bool eliminate(work *w, uint32_t k, step *s)
{
    const terms row = take(w, k);
    *s = (step){.at = k};
    if (!w->square[k] || ns_graph_is_zero(w->g, w->square[k]))
        return false;
    w->count += 4;
    s->inverse = w->dry ? w->some : ns_div(w->g, ns_one(w->g), w->square[k]);
    for (uint32_t i = 0; i < row.n; i++)
        NS_PUSH(w->arena, s->parts,
                ((term){row.at[i].at, times(w, row.at[i].value, s->inverse)}));
    for (uint32_t i = 0; i < row.n; i++)
        for (uint32_t j = 0; j <= i; j++)
            subtract(w, row.at[i].at, row.at[j].at,
                     times(w, row.at[i].value, s->parts.at[j].value));
    return true;
}

enum { FEW = 12 }; /* neighbours with which an unknown is eliminated at once */

typedef struct plan {
    work *w;
    uint32_t *left; /* [n] in how many w still to come v_k stands */
    uint32_t *late; /* [n] those with many neighbours, left for the end */
    uint32_t n_late, done;
    step *steps;
    ns_ex *pivot;
} plan;

static bool next(plan *p, uint32_t k)
{
    p->pivot[k] = p->w->square[k];
    return (!p->w->dry || p->w->count <= p->w->most) &&
           eliminate(p->w, k, &p->steps[p->done++]);
}

/* v_k if nothing hinders it. */
static bool consider(plan *p, uint32_t k)
{
    if (p->left[k])
        return true;
    if (p->w->H[k].n <= FEW)
        return next(p, k);
    p->late[p->n_late++] = k;
    return true;
}

/* The rest, always the one with fewest neighbours. */
static bool finish(plan *p)
{
    for (; p->n_late > 0; p->n_late--) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < p->n_late; i++)
            if (p->w->H[p->late[i]].n < p->w->H[p->late[best]].n)
                best = i;
        const uint32_t k = p->late[best];
        p->late[best] = p->late[p->n_late - 1];
        if (!next(p, k))
            return false;
    }
    return true;
}

static bool eliminate_all(work *w, step *steps, ns_ex *pivot)
{
    plan p = {.w = w, .steps = steps, .pivot = pivot};
    p.left = NS_NEW_ARRAY(w->arena, uint32_t, w->n);
    p.late = NS_NEW_ARRAY(w->arena, uint32_t, w->n);
    for (uint32_t j = w->n; j < w->size; j++)
        for (uint32_t i = 0; i < w->of[j].n; i++)
            if (w->of[j].at[i].at < w->n)
                p.left[w->of[j].at[i].at]++;
    for (uint32_t k = w->n; k-- > 0;) /* those that stand in no w */
        if (!consider(&p, k))
            return false;
    for (uint32_t j = w->size; j-- > w->n;) {
        const terms c = w->of[j];
        put_in(w, j, &steps[p.done++]);
        for (uint32_t i = c.n; i-- > 0;)
            if (c.at[i].at < w->n) {
                p.left[c.at[i].at]--;
                if (!consider(&p, c.at[i].at))
                    return false;
            }
    }
    return finish(&p) && p.done == w->size;
}

/* ---- the whole --------------------------------------------------------------------------- */

typedef struct request {
    ns_ex lagrangian;
    uint32_t n;
    const ns_ex *v;
    const bool *used;
    const uint8_t *degree;
    const uint32_t *uses;
} request;

static bool run(work *w, const request *q, step **steps, ns_ex **pivot)
{
    const ns_ex top = q->lagrangian;
    uint32_t most = q->n;
    for (ns_ex e = 1; e <= top; e++)
        most += q->used[e] && q->degree[e] == 1;
    w->n = w->size = q->n;
    w->form = NS_NEW_ARRAY(w->arena, terms, top + 1);
    w->of = NS_NEW_ARRAY(w->arena, terms, most);
    for (uint32_t k = 0; k < q->n; k++)
        if (q->v[k] <= top)
            NS_PUSH(w->arena, w->form[q->v[k]], ((term){k, ns_one(w->g)}));
    for (ns_ex e = 1; e <= top; e++)
        if (q->used[e] && q->degree[e] == 1 && ns_graph_op(w->g, e) != NS_OP_SYMBOL)
            linear(w, e, q->degree, q->uses[e]);
    w->H = NS_NEW_ARRAY(w->arena, terms, w->size);
    w->square = NS_NEW_ARRAY(w->arena, ns_ex, w->size);
    w->scale = NS_NEW_ARRAY(w->arena, ns_ex, w->size);
    quadratic(w, top, q->used, q->degree);
    *steps = NS_NEW_ARRAY(w->arena, step, w->size);
    *pivot = NS_NEW_ARRAY(w->arena, ns_ex, w->n);
    return eliminate_all(w, *steps, *pivot);
}

ns_tree *ns_tree_make(ns_graph *g, ns_arena *arena, ns_ex lagrangian, uint32_t n,
                      const ns_ex *v, uint32_t right, double most)
{
    const ns_ex top = lagrangian;
    bool *used = NS_NEW_ARRAY(arena, bool, top + 1);
    uint8_t *degree = NS_NEW_ARRAY(arena, uint8_t, top + 1);
    uint32_t *uses = NS_NEW_ARRAY(arena, uint32_t, top + 1);
    ns_graph_mark(g, &top, 1, used);
    for (uint32_t k = 0; k < n; k++)
        if (v[k] <= top)
            degree[v[k]] = 1;
    degrees(g, top, used, degree);
    for (ns_ex e = 1; e <= top; e++)
        for (uint32_t k = 0; used[e] && degree[e] && k < ns_graph_node(g, e)->n; k++)
            uses[ns_graph_args(g, e)[k]]++;
    if (degree[top] != 2)
        return NULL;
    const request q = {top, n, v, used, degree, uses};
    work w = {.g = g, .arena = arena, .dry = true, .some = top, .most = most};
    step *steps;
    ns_ex *pivot;
    if (!run(&w, &q, &steps, &pivot))
        return NULL;
    for (uint32_t i = 0; i < w.size; i++)
        w.count += 4.0 * right * steps[i].parts.n;
    if (w.count > most)
        return NULL;
    w = (work){.g = g, .arena = arena};
    if (!run(&w, &q, &steps, &pivot))
        return NULL;
    ns_tree *tree = NS_NEW(arena, ns_tree);
    *tree = (ns_tree){g, n, w.size, steps, pivot, NS_NEW_ARRAY(arena, ns_ex, n)};
    for (uint32_t k = 0; k < n; k++)
        tree->scale[k] = w.scale[k] ? w.scale[k] : pivot[k];
    return tree;
}

void ns_tree_solve(const ns_tree *tree, const ns_ex *r, ns_ex *x)
{
    ns_graph *g = tree->g;
    ns_arena *arena = ns_graph_workspace(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    ns_ex *y = NS_NEW_ARRAY(arena, ns_ex, tree->size);
    for (uint32_t i = 0; i < tree->size; i++)
        y[i] = i < tree->n ? r[i] : ns_zero(g);
    for (uint32_t i = 0; i < tree->size; i++) {
        const step *s = &tree->steps[i];
        for (uint32_t k = 0; k < s->parts.n; k++) {
            const term *t = &s->parts.at[k];
            const ns_ex change = ns_times(g, t->value, y[s->at]);
            y[t->at] = s->inverse ? ns_sub(g, y[t->at], change) : ns_add(g, y[t->at], change);
        }
    }
    for (uint32_t i = tree->size; i-- > 0;) {
        const step *s = &tree->steps[i];
        ns_ex sum = s->inverse ? ns_times(g, s->inverse, y[s->at]) : ns_zero(g);
        for (uint32_t k = 0; k < s->parts.n; k++) {
            const term *t = &s->parts.at[k];
            const ns_ex change = ns_times(g, t->value, y[t->at]);
            sum = s->inverse ? ns_sub(g, sum, change) : ns_add(g, sum, change);
        }
        y[s->at] = sum;
    }
    memcpy(x, y, tree->n * sizeof *x);
    ns_arena_release(arena, mark);
}

const ns_ex *ns_tree_pivots(const ns_tree *tree)
{
    return tree->pivot;
}

const ns_ex *ns_tree_sizes(const ns_tree *tree)
{
    return tree->scale;
}
