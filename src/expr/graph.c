/* Storage of the graph: nodes, hash-consing, symbols, marking.  The builders that simplify
 * are in build.c. */
#include "expr/graph.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "expr/graph_internal.h"

ns_graph *ns_graph_new(ns_arena *arena)
{
    NS_CHECK(arena);
    ns_graph *g = NS_NEW(arena, ns_graph);
    g->arena = arena;
    g->scratch = ns_arena_child(arena);
    g->workspace = ns_arena_child(arena);
    g->marks = NS_NEW(arena, ns_marks);
    NS_PUSH(arena, g->nodes, (ns_node){0}); /* handle 0 is none */
    NS_PUSH(arena, g->pool, 0);             /* so that the pool has an address */
    g->table_size = 1024;
    g->table = NS_NEW_ARRAY(arena, ns_ex, g->table_size);
    return g;
}

ns_graph *ns_graph_fork(const ns_graph *g, ns_arena *arena)
{
    NS_CHECK(g->nodes.n > 0);
    ns_graph *fork = ns_arena_copy(arena, g, sizeof *g);
    fork->arena = arena;
    fork->scratch = ns_arena_child(arena);
    fork->workspace = ns_arena_child(arena);
    fork->marks = NS_NEW(arena, ns_marks);
    fork->table = ns_arena_copy(arena, g->table, g->table_size * sizeof *g->table);
    /* Entries of these lists never change: a list without room is copied when it grows. */
    fork->nodes.room = fork->nodes.n;
    fork->pool.room = fork->pool.n;
    fork->symbols.room = fork->symbols.n;
    fork->patterns.room = fork->patterns.n;
    return fork;
}

void ns_graph_shake(ns_graph *g)
{
    g->shaken = true;
}

ns_arena *ns_graph_arena(const ns_graph *g)
{
    return g->arena;
}

ns_arena *ns_graph_workspace(const ns_graph *g)
{
    return g->workspace;
}

ns_arena *ns_graph_scratch(const ns_graph *g)
{
    return g->scratch;
}

uint32_t ns_graph_size(const ns_graph *g)
{
    return g->nodes.n;
}

const ns_node *ns_graph_node(const ns_graph *g, ns_ex e)
{
    assert(e > 0 && e < g->nodes.n);
    return &g->nodes.at[e];
}

const ns_ex *ns_graph_args(const ns_graph *g, ns_ex e)
{
    return g->pool.at + ns_graph_node(g, e)->first;
}

ns_op ns_graph_op(const ns_graph *g, ns_ex e)
{
    return (ns_op)ns_graph_node(g, e)->op;
}

const ns_symbol *ns_graph_symbol(const ns_graph *g, ns_ex e)
{
    const ns_node *node = ns_graph_node(g, e);
    return node->op == NS_OP_SYMBOL ? &g->symbols.at[node->integer] : NULL;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h ^= x + UINT64_C(0x9E3779B97F4A7C15) + (h << 6) + (h >> 2);
    h *= UINT64_C(0xFF51AFD7ED558CCD);
    return h ^ (h >> 32);
}

static uint64_t hash_of(const ns_node *node, const ns_ex *args)
{
    uint64_t bits[2];
    memcpy(&bits[0], &node->hi, 8);
    memcpy(&bits[1], &node->lo, 8);
    uint64_t h = mix(mix(node->op, (uint32_t)node->integer), node->n);
    h = mix(mix(h, bits[0]), bits[1]);
    for (uint32_t i = 0; i < node->n; i++)
        h = mix(h, args[i]);
    return h;
}

static bool same(const ns_graph *g, ns_ex e, const ns_node *node, const ns_ex *args)
{
    const ns_node *old = &g->nodes.at[e];
    return old->op == node->op && old->integer == node->integer && old->n == node->n &&
           memcmp(&old->hi, &node->hi, 8) == 0 && memcmp(&old->lo, &node->lo, 8) == 0 &&
           (node->n == 0 || memcmp(g->pool.at + old->first, args, node->n * sizeof *args) == 0);
}

static void enlarge(ns_graph *g)
{
    uint32_t size = g->table_size * 2;
    ns_ex *table = NS_NEW_ARRAY(g->arena, ns_ex, size);
    for (ns_ex e = 1; e < g->nodes.n; e++) {
        uint64_t h = hash_of(&g->nodes.at[e], g->pool.at + g->nodes.at[e].first);
        uint32_t i = (uint32_t)h & (size - 1);
        while (table[i])
            i = (i + 1) & (size - 1);
        table[i] = e;
    }
    g->table = table;
    g->table_size = size;
}

ns_ex ns_graph_intern(ns_graph *g, ns_node node, const ns_ex *args)
{
    NS_CHECK(node.op > NS_OP_NONE && node.op < NS_OP_COUNT);
    NS_CHECK(args || !node.n);
    NS_CHECK(g->nodes.n < UINT32_MAX);
    uint32_t i = (uint32_t)hash_of(&node, args) & (g->table_size - 1);
    for (; g->table[i]; i = (i + 1) & (g->table_size - 1))
        if (same(g, g->table[i], &node, args))
            return g->table[i];
    node.first = g->pool.n;
    for (uint32_t k = 0; k < node.n; k++) {
        ns_ex arg = args[k]; /* args may point into the pool that is about to move */
        assert(arg > 0 && arg < g->nodes.n);
        NS_PUSH(g->arena, g->pool, arg);
    }
    ns_ex e = g->nodes.n;
    NS_PUSH(g->arena, g->nodes, node);
    g->table[i] = e;
    if (g->nodes.n > g->table_size / 2)
        enlarge(g);
    return e;
}

ns_ex ns_symbol_new(ns_graph *g, const char *name, ns_symbol_kind kind, uint32_t index)
{
    NS_CHECK(name);
    NS_CHECK(kind <= NS_SYM_LOCAL);
    uint32_t id = g->symbols.n;
    ns_ex e = ns_graph_intern(g, (ns_node){.op = NS_OP_SYMBOL, .integer = (int32_t)id}, NULL);
    NS_PUSH(g->arena, g->symbols,
            (ns_symbol){.name = ns_arena_string(g->arena, name, strlen(name)),
                        .kind = kind,
                        .index = index,
                        .node = e});
    return e;
}

bool ns_graph_is_number(const ns_graph *g, ns_ex e, double *value)
{
    const ns_node *node = ns_graph_node(g, e);
    if (node->op != NS_OP_NUMBER)
        return false;
    if (value)
        *value = node->hi;
    return true;
}

bool ns_graph_is_zero(const ns_graph *g, ns_ex e)
{
    const ns_node *node = ns_graph_node(g, e);
    return node->op == NS_OP_NUMBER && node->hi == 0;
}

bool ns_graph_is_one(const ns_graph *g, ns_ex e)
{
    const ns_node *node = ns_graph_node(g, e);
    return node->op == NS_OP_NUMBER && node->hi == 1 && node->lo == 0;
}

void ns_graph_mark(const ns_graph *g, const ns_ex *roots, size_t n, bool *used)
{
    NS_CHECK(roots || !n);
    ns_ex top = 0;
    for (size_t i = 0; i < n; i++) {
        used[roots[i]] = true;
        top = roots[i] > top ? roots[i] : top;
    }
    for (ns_ex e = top; e > 0; e--) {
        if (!used[e])
            continue;
        const ns_node *node = &g->nodes.at[e];
        for (uint32_t k = 0; k < node->n; k++)
            used[g->pool.at[node->first + k]] = true;
    }
}

/* ---- walks over what an expression needs ------------------------------------------------- */

/* And over nothing else: their cost grows with the expression and not with the graph, which
 * holds many in a model of many bodies. */
static ns_marks *marks_of(const ns_graph *g)
{
    ns_marks *marks = g->marks;
    if (marks->room < g->nodes.n) {
        const uint32_t room = g->nodes.room > g->nodes.n ? g->nodes.room : g->nodes.n;
        marks->room = 0; /* until all are there: memory may run out between them */
        marks->stamps = NS_NEW_ARRAY(g->arena, uint32_t, room);
        marks->reached = NS_NEW_ARRAY(g->arena, ns_ex, room);
        marks->value = NS_NEW_ARRAY(g->arena, ns_ex, room);
        marks->vector = NS_NEW_ARRAY(g->arena, ns_ex *, room);
        marks->flag = NS_NEW_ARRAY(g->arena, bool, room);
        marks->now = 0;
        marks->busy = false;
        marks->room = room;
    }
    return marks;
}

static void reach(ns_marks *marks, ns_ex e)
{
    if (marks->stamps[e] == marks->now)
        return;
    marks->stamps[e] = marks->now;
    marks->reached[marks->n++] = e;
}

/* Marks what the roots need, and lists it; afterwards marks->stamps[e] == marks->now tells
 * whether e is needed. */
static const ns_marks *mark_all(const ns_graph *g, const ns_ex *roots, size_t n)
{
    ns_marks *marks = marks_of(g);
    if (++marks->now == 0) { /* wrapped */
        memset(marks->stamps, 0, marks->room * sizeof *marks->stamps);
        marks->now = 1;
    }
    marks->n = 0;
    for (size_t i = 0; i < n; i++)
        reach(marks, roots[i]);
    for (uint32_t i = 0; i < marks->n; i++) {
        const ns_node *node = &g->nodes.at[marks->reached[i]];
        for (uint32_t k = 0; k < node->n; k++)
            reach(marks, g->pool.at[node->first + k]);
    }
    return marks;
}

bool ns_graph_depends(const ns_graph *g, ns_ex e, const ns_ex *symbols, size_t n)
{
    NS_CHECK(e < g->nodes.n);
    NS_CHECK(symbols || !n);
    const ns_marks *marks = mark_all(g, &e, 1);
    for (size_t i = 0; i < n; i++)
        if (marks->stamps[symbols[i]] == marks->now)
            return true;
    return false;
}

bool ns_graph_depends_kind(const ns_graph *g, ns_ex e, ns_symbol_kind kind, ns_ex *found)
{
    NS_CHECK(e < g->nodes.n);
    const ns_marks *marks = mark_all(g, &e, 1);
    ns_ex first = 0; /* of the symbols in the order in which they were made */
    for (uint32_t i = 0; i < marks->n; i++) {
        const ns_symbol *symbol = ns_graph_symbol(g, marks->reached[i]);
        if (symbol && symbol->kind == kind && (!first || marks->reached[i] < first))
            first = marks->reached[i];
    }
    if (first && found)
        *found = first;
    return first != 0;
}

static int ascending(const void *a, const void *b)
{
    const ns_ex x = *(const ns_ex *)a, y = *(const ns_ex *)b;
    return x < y ? -1 : x > y;
}

void ns_graph_sort(ns_ex *list, uint32_t n)
{
    qsort(list, n, sizeof *list, ascending);
}

ns_ex *ns_graph_reach(const ns_graph *g, const ns_ex *roots, size_t n, uint32_t *count)
{
    NS_CHECK(roots || !n);
    const ns_marks *marks = mark_all(g, roots, n);
    ns_ex top = 0, *list = NS_NEW_ARRAY(g->scratch, ns_ex, marks->n + 1);
    for (size_t i = 0; i < n; i++)
        top = roots[i] > top ? roots[i] : top;
    enum { FEW = 16 }; /* sorting a node costs as much as looking at so many */
    *count = 0;
    if (marks->n < top / FEW) {
        *count = marks->n;
        memcpy(list, marks->reached, marks->n * sizeof *list);
        ns_graph_sort(list, marks->n);
        return list;
    }
    for (ns_ex e = 1; e <= top; e++)
        if (marks->stamps[e] == marks->now)
            list[(*count)++] = e;
    return list;
}

uint32_t ns_graph_coordinates(const ns_graph *g, ns_arena *arena, ns_ex e, uint32_t **at)
{
    const ns_marks *marks = mark_all(g, &e, 1);
    uint32_t n = 0, kept = 0;
    for (int turn = 0; turn < 2; turn++) {
        if (turn)
            *at = NS_NEW_ARRAY(arena, uint32_t, n + 1);
        n = 0;
        for (uint32_t i = 0; i < marks->n; i++) {
            const ns_symbol *symbol = ns_graph_symbol(g, marks->reached[i]);
            if (!symbol || (symbol->kind != NS_SYM_COORD && symbol->kind != NS_SYM_VELOCITY))
                continue;
            if (turn)
                (*at)[n] = symbol->index;
            n++;
        }
    }
    ns_graph_sort(*at, n);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || (*at)[i] != (*at)[kept - 1])
            (*at)[kept++] = (*at)[i];
    return kept;
}

ns_slots ns_graph_slots(const ns_graph *g)
{
    ns_marks *marks = marks_of(g);
    if (marks->busy) { /* memory ran out meanwhile */
        memset(marks->value, 0, marks->room * sizeof *marks->value);
        memset(marks->vector, 0, marks->room * sizeof *marks->vector);
        memset(marks->flag, 0, marks->room * sizeof *marks->flag);
    }
    marks->busy = true;
    return (ns_slots){marks->value, marks->vector, marks->flag};
}

void ns_graph_slots_clear(const ns_graph *g, const ns_ex *list, uint32_t n)
{
    ns_marks *marks = g->marks;
    for (uint32_t i = 0; i < n; i++) {
        marks->value[list[i]] = 0;
        marks->vector[list[i]] = NULL;
        marks->flag[list[i]] = false;
    }
    marks->busy = false;
}
