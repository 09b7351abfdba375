#include "expr/normal/shorten.h"

#include <math.h>

#include "base/check.h"
#include "expr/normal/normal.h"

enum {
    LONGEST = 2500, /* in print: beyond that normal forms take long and rarely help */
    DENOMINATOR = 64,
    LARGEST = 1 << 20
};

uint32_t ns_shorten_price(const ns_node *node)
{
    const uint32_t n = node->integer > 0 ? (uint32_t)node->integer : 0;
    switch ((ns_op)node->op) {
    case NS_OP_NUMBER:
    case NS_OP_SYMBOL:
    case NS_OP_PICK:
        return 0;
    case NS_OP_ADD:
    case NS_OP_SUB:
    case NS_OP_MUL:
    case NS_OP_NEG:
    case NS_OP_ABS:
        return 1;
    case NS_OP_POWI:
        return 2;
    case NS_OP_DIV:
    case NS_OP_SQRT:
        return 4;
    case NS_OP_FACTOR:
        return n * n * n / 3 + 4 * n;
    case NS_OP_LDL:
        return 8 * node->n;
    case NS_OP_SOLVE:
        return n * n;
    default:
        return 12;
    }
}

double ns_shorten_cost(const ns_graph *g, const ns_ex *roots, size_t n)
{
    NS_CHECK(roots || !n);
    ns_arena *arena = ns_graph_scratch(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(arena, bool, size);
    ns_graph_mark(g, roots, n, used);
    double sum = 0;
    for (ns_ex e = 1; e < size; e++)
        sum += used[e] ? ns_shorten_price(ns_graph_node(g, e)) : 0;
    ns_arena_release(arena, mark);
    return sum;
}

/* Normal forms compute with the leading halves of numbers, in double precision. */
static bool exact_numbers(const ns_graph *g, ns_ex root)
{
    ns_arena *arena = ns_graph_scratch(g);
    const ns_arena_place mark = ns_arena_mark(arena);
    bool *used = NS_NEW_ARRAY(arena, bool, ns_graph_size(g));
    ns_graph_mark(g, &root, 1, used);
    bool exact = true;
    for (ns_ex e = 1; e <= root && exact; e++) {
        const ns_node *node = ns_graph_node(g, e);
        if (!used[e] || node->op != NS_OP_NUMBER)
            continue;
        const double scaled = node->hi * DENOMINATOR;
        exact = node->lo == 0 && scaled == floor(scaled) && fabs(scaled) < LARGEST;
    }
    ns_arena_release(arena, mark);
    return exact;
}

ns_ex ns_shorten(ns_graph *g, ns_ex e)
{
    if (ns_graph_node(g, e)->n == 0 || !exact_numbers(g, e) || ns_normal_length(g, e) > LONGEST)
        return e;
    const ns_ex other = ns_normal(g, e, NULL);
    return other != e && exact_numbers(g, other) &&
                   ns_shorten_cost(g, &other, 1) < ns_shorten_cost(g, &e, 1)
               ? other
               : e;
}
