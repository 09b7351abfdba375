/* Order of elimination for the saddle matrix of a constrained system.
 *
 * What has mass can be eliminated at any time: its pivot is a mass.  A constraint row waits
 * until everything with mass in it is gone and something of it is: its pivot is then minus an
 * inverse mass.  A member without mass waits until all rows that tie it to a mass are gone, as
 * many rows of its own at least as it has coordinates, and for each coordinate one: these have
 * given it the masses of what it is tied to, and as some of them may say the same about it,
 * none of them can be left for later.  A row without any mass rests on a member without mass
 * that is gone, and no more rows than it has coordinates.  Of those that need not
 * wait the one with fewest neighbours is next (minimum degree), so that little is filled in: in
 * a chain the bodies go first, which are not coupled by masses, and then the joints, each
 * coupled to the next. */
#include <string.h>

#include "mech/common/order.h"
#include "mech/constrained/constrained.h"

typedef struct ordering {
    const ns_order_request *q;
    uint32_t words;
    uint64_t *near;   /* [size][words] neighbours that are left */
    uint32_t *degree; /* [size] */
    bool *gone;       /* [size] */
    bool *held;       /* [size] a row with this coordinate is gone */
    bool *granted;    /* [size] a member without mass, by its first coordinate: it may go */
    bool *taken;      /* [size] rows that are gone and hold a member that was let go */
    uint32_t
        *lent; /* [size] of a member without mass that is gone: rows that rest on it alone */
} ordering;

static bool has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

/* The first one from i on; beyond the last word: none. */
static uint32_t next_of(const uint64_t *set, uint32_t words, uint32_t i)
{
    for (uint32_t w = i / 64; w < words; w++) {
        const uint64_t rest = w == i / 64 ? set[w] >> (i % 64) << (i % 64) : set[w];
        if (rest)
            return 64 * w + (uint32_t)__builtin_ctzll(rest);
    }
    return 64 * words;
}

static bool has_mass(const ns_order_request *q, uint32_t row)
{
    for (uint32_t k = q->first[row]; k < q->first[row + 1]; k++)
        if (q->kind[q->neighbour[k]] == NS_ORDER_MASS)
            return true;
    return false;
}

/* Is a row left that ties v to a mass? */
static bool tied(const ordering *o, uint32_t v)
{
    const ns_order_request *q = o->q;
    for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++) {
        const uint32_t row = q->neighbour[k];
        if (q->kind[row] == NS_ORDER_ROW && !o->gone[row] && has_mass(q, row))
            return true;
    }
    return false;
}

/* A coordinate that is gone and can carry another row without a mass: no more rows than its
 * member has coordinates.  UINT32_MAX if there is none. */
static uint32_t carrier(const ordering *o, uint32_t row)
{
    const ns_order_request *q = o->q;
    for (uint32_t k = q->first[row]; k < q->first[row + 1]; k++) {
        const uint32_t u = q->neighbour[k];
        if (o->gone[u] && o->lent[q->group[u]] < q->group_size[u])
            return u;
    }
    return UINT32_MAX;
}

/* The first coordinate without mass of this group in a row; *alone: there is none of another
 * one. */
static uint32_t first_of(const ns_order_request *q, uint32_t row, uint32_t group, bool *alone)
{
    uint32_t it = UINT32_MAX;
    *alone = true;
    for (uint32_t k = q->first[row]; k < q->first[row + 1]; k++) {
        const uint32_t u = q->neighbour[k];
        if (q->kind[u] != NS_ORDER_MASSLESS)
            continue;
        if (q->group[u] != group)
            *alone = false;
        else if (u < it)
            it = u;
    }
    return it;
}

/* Rows that are gone and hold a group without mass, and no other one that was let go because of
 * them.  Takes up to `take` of them, first those that hold nothing else without mass. */
static uint32_t holding(const ordering *o, uint32_t group, uint32_t take)
{
    const ns_order_request *q = o->q;
    uint32_t count = 0;
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t u = group; u < q->size && q->group[u] == group; u++)
            for (uint32_t k = q->first[u]; k < q->first[u + 1]; k++) {
                const uint32_t row = q->neighbour[k];
                bool alone;
                if (q->kind[row] != NS_ORDER_ROW || !o->gone[row] || o->taken[row] ||
                    first_of(q, row, group, &alone) != u || alone != (turn == 0))
                    continue;
                if (count < take)
                    o->taken[row] = true;
                count++;
            }
    return count;
}

static bool ready(const ordering *o, uint32_t v)
{
    const ns_order_request *q = o->q;
    if (q->kind[v] == NS_ORDER_MASS)
        return true;
    if (q->kind[v] == NS_ORDER_MASSLESS) {
        if (o->granted[q->group[v]])
            return true;
        bool held = true;
        for (uint32_t u = q->group[v]; held && u < q->size && q->group[u] == q->group[v]; u++)
            held = q->kind[u] != NS_ORDER_MASSLESS || (o->held[u] && !tied(o, u));
        return held && holding(o, q->group[v], 0) >= q->group_size[v];
    }
    bool touched = q->first[v] == q->first[v + 1];
    if (!touched && !has_mass(q, v))
        return carrier(o, v) != UINT32_MAX;
    for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++) {
        const uint32_t u = q->neighbour[k];
        if (q->kind[u] == NS_ORDER_MASS && !o->gone[u])
            return false;
        touched = touched || o->gone[u];
    }
    return touched;
}

static void eliminate(ordering *o, uint32_t v)
{
    const ns_order_request *q = o->q;
    uint64_t *of_v = o->near + (size_t)v * o->words;
    o->gone[v] = true;
    for (uint32_t u = next_of(of_v, o->words, 0); u < q->size;
         u = next_of(of_v, o->words, u + 1)) {
        uint64_t *of_u = o->near + (size_t)u * o->words;
        uint32_t degree = 0;
        for (uint32_t w = 0; w < o->words; w++)
            of_u[w] |= of_v[w];
        of_u[u / 64] &= ~(UINT64_C(1) << (u % 64));
        of_u[v / 64] &= ~(UINT64_C(1) << (v % 64));
        for (uint32_t w = 0; w < o->words; w++)
            degree += (uint32_t)__builtin_popcountll(of_u[w]);
        o->degree[u] = degree;
    }
    if (q->kind[v] == NS_ORDER_MASSLESS && !o->granted[q->group[v]]) {
        o->granted[q->group[v]] = true;
        holding(o, q->group[v], q->group_size[v]);
    }
    if (q->kind[v] != NS_ORDER_ROW)
        return;
    const uint32_t by = has_mass(q, v) ? UINT32_MAX : carrier(o, v);
    if (by != UINT32_MAX)
        o->lent[q->group[by]]++;
    for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++)
        o->held[q->neighbour[k]] = true;
}

static ordering ordering_of(ns_arena *arena, const ns_order_request *q)
{
    const uint32_t size = q->size;
    ordering o = {.q = q, .words = size / 64 + 1};
    o.near = NS_NEW_ARRAY(arena, uint64_t, (size_t)size * o.words);
    o.degree = NS_NEW_ARRAY(arena, uint32_t, size);
    o.granted = NS_NEW_ARRAY(arena, bool, size);
    o.taken = NS_NEW_ARRAY(arena, bool, size);
    o.lent = NS_NEW_ARRAY(arena, uint32_t, size);
    o.held = NS_NEW_ARRAY(arena, bool, size);
    o.gone = NS_NEW_ARRAY(arena, bool, size);
    for (uint32_t v = 0; v < size; v++)
        for (uint32_t k = q->first[v]; k < q->first[v + 1]; k++)
            if (q->neighbour[k] != v && !has(o.near + (size_t)v * o.words, q->neighbour[k])) {
                put(o.near + (size_t)v * o.words, q->neighbour[k]);
                o.degree[v]++;
            }
    return o;
}

bool ns_constrained_order(ns_arena *arena, const ns_order_request *q, uint32_t *order)
{
    const uint32_t size = q->size;
    ordering o = ordering_of(arena, q);
    for (uint32_t k = 0; k < size; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t v = 0; v < size; v++)
            if (!o.gone[v] && (best == UINT32_MAX || o.degree[v] < o.degree[best]) &&
                ready(&o, v))
                best = v;
        if (best == UINT32_MAX)
            return false;
        order[k] = best;
        eliminate(&o, best);
    }
    return true;
}

void ns_order_neighbours(ns_arena *arena, uint32_t size, uint32_t entries, const uint32_t *row,
                         const uint32_t *col, uint32_t **first, uint32_t **neighbour)
{
    uint32_t *start = NS_NEW_ARRAY(arena, uint32_t, size + 2);
    uint32_t *list = NS_NEW_ARRAY(arena, uint32_t, 2 * (size_t)entries + 1);
    for (uint32_t e = 0; e < entries; e++)
        if (row[e] != col[e]) {
            start[row[e] + 2]++;
            start[col[e] + 2]++;
        }
    for (uint32_t v = 2; v < size + 2; v++)
        start[v] += start[v - 1];
    for (uint32_t e = 0; e < entries; e++)
        if (row[e] != col[e]) {
            list[start[row[e] + 1]++] = col[e];
            list[start[col[e] + 1]++] = row[e];
        }
    *first = start;
    *neighbour = list;
}

/* One component of the matrix, numbered 0 .. size-1: first what is `first`, as it stands, for
 * it is not coupled among itself. */
static void order_component(ns_arena *arena, uint32_t size, const uint32_t *start,
                            const uint32_t *neighbour, const bool *first, uint32_t *order)
{
    ns_order_kind *kind = NS_NEW_ARRAY(arena, ns_order_kind, size + 1);
    uint32_t *none = NS_NEW_ARRAY(arena, uint32_t, size + 1), k = 0;
    for (uint32_t v = 0; v < size; v++) {
        kind[v] = first[v] ? NS_ORDER_MASS : NS_ORDER_ROW;
        if (first[v])
            order[k++] = v;
    }
    const ns_order_request request = {.size = size,
                                      .kind = kind,
                                      .group = none,
                                      .group_size = none,
                                      .first = start,
                                      .neighbour = neighbour};
    ordering o = ordering_of(arena, &request);
    for (uint32_t i = 0; i < k; i++)
        eliminate(&o, order[i]);
    for (; k < size; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t v = 0; v < size; v++)
            if (!o.gone[v] && (best == UINT32_MAX || o.degree[v] < o.degree[best]))
                best = v;
        order[k] = best;
        eliminate(&o, best);
    }
}

/* Components one after the other: what is coupled to nothing else costs what it costs alone. */
static void order_components(ns_arena *arena, uint32_t size, const uint32_t *start,
                             const uint32_t *neighbour, const bool *first, uint32_t *order)
{
    uint32_t *list = NS_NEW_ARRAY(arena, uint32_t, size + 1), done = 0;
    uint32_t *place = NS_NEW_ARRAY(arena, uint32_t, size + 1); /* in its component, plus one */
    for (uint32_t root = 0; root < size; root++) {
        if (place[root])
            continue;
        const ns_arena_place mark = ns_arena_mark(arena);
        uint32_t n = 0, edges = 0;
        list[n++] = root;
        place[root] = 1;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = start[list[i]]; k < start[list[i] + 1]; k++)
                if (!place[neighbour[k]]) {
                    place[neighbour[k]] = 1;
                    list[n++] = neighbour[k];
                }
        ns_graph_sort(list, n);
        for (uint32_t i = 0; i < n; i++) {
            place[list[i]] = i + 1;
            edges += start[list[i] + 1] - start[list[i]];
        }
        uint32_t *from = NS_NEW_ARRAY(arena, uint32_t, n + 1);
        uint32_t *to = NS_NEW_ARRAY(arena, uint32_t, edges + 1), at = 0;
        bool *is_first = NS_NEW_ARRAY(arena, bool, n + 1);
        for (uint32_t i = 0; i < n; i++) {
            is_first[i] = first[list[i]];
            for (uint32_t k = start[list[i]]; k < start[list[i] + 1]; k++)
                to[at++] = place[neighbour[k]] - 1;
            from[i + 1] = at;
        }
        order_component(arena, n, from, to, is_first, order + done);
        for (uint32_t i = 0; i < n; i++)
            order[done + i] = list[order[done + i]];
        done += n;
        ns_arena_release(arena, mark);
    }
}

const ns_pattern *ns_order_two_stages(ns_graph *g, uint32_t size, uint32_t entries,
                                      const uint32_t *row, const uint32_t *col,
                                      const bool *first)
{
    ns_arena *arena = ns_graph_workspace(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    uint32_t *order = NS_NEW_ARRAY(arena, uint32_t, size + 1), *start, *neighbour;
    ns_order_neighbours(arena, size, entries, row, col, &start, &neighbour);
    order_components(arena, size, start, neighbour, first, order);
    const ns_pattern *p = ns_sparse_pattern(g, size, entries, row, col, order);
    ns_arena_release(arena, mark);
    return p;
}
