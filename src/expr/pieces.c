#include "expr/pieces.h"

#include "base/check.h"
#include "expr/sparse.h"

void ns_pieces_text(ns_pieces *p, const char *text)
{
    NS_CHECK(text);
    NS_PUSH(p->out->arena, p->stack, (ns_piece){.text = text});
}

void ns_pieces_push(ns_pieces *p, ns_ex node, int least)
{
    NS_CHECK(node);
    NS_CHECK(least >= 0 && least <= NS_LEVEL_ATOM);
    NS_PUSH(p->out->arena, p->stack, (ns_piece){.node = node, .least = (uint8_t)least});
}

void ns_pieces_unsigned(ns_pieces *p, ns_ex node, int least)
{
    NS_CHECK(node);
    NS_CHECK(least >= 0 && least <= NS_LEVEL_ATOM);
    NS_PUSH(p->out->arena, p->stack,
            (ns_piece){.node = node, .least = (uint8_t)least, .unsign = true});
}

void ns_pieces_index(ns_pieces *p, uint32_t index)
{
    NS_PUSH(p->out->arena, p->stack, (ns_piece){.index = index});
}

const ns_shared_item *ns_pieces_item(const ns_pieces *p, ns_ex e)
{
    if (!p->shared || e >= p->shared->size || !p->shared->place[e])
        return NULL;
    return &p->shared->items.at[p->shared->place[e] - 1];
}

ns_ex ns_pieces_arg(const ns_pieces *p, ns_ex e, uint32_t k)
{
    NS_CHECK(k < ns_graph_node(p->g, e)->n);
    return ns_graph_args(p->g, e)[k];
}

bool ns_pieces_negative(const ns_pieces *p, ns_ex e)
{
    double value;
    return ns_graph_is_number(p->g, e, &value) && value < 0;
}

/* Is it written with a minus in front, which a sum may take for its own? */
static bool leads_with_minus(const ns_pieces *p, ns_ex e)
{
    if (ns_pieces_item(p, e))
        return false;
    const ns_op op = ns_graph_op(p->g, e);
    if (op == NS_OP_MUL)
        return ns_pieces_negative(p, ns_pieces_arg(p, e, 0));
    return op == NS_OP_NEG || ns_pieces_negative(p, e);
}

const ns_ex *ns_pieces_entries(const ns_pieces *p, ns_ex e)
{
    NS_CHECK(ns_graph_op(p->g, e) == NS_OP_FACTOR || ns_graph_op(p->g, e) == NS_OP_LDL);
    if (ns_graph_op(p->g, e) == NS_OP_FACTOR)
        return ns_graph_args(p->g, e);
    const ns_pattern *pattern = ns_sparse_of(p->g, e);
    const uint32_t n = pattern->n;
    ns_ex *at = NS_NEW_ARRAY(ns_graph_arena(p->g), ns_ex, (size_t)n * n);
    for (uint32_t k = 0; k < pattern->entries; k++) {
        const uint32_t i = pattern->row[k], j = pattern->col[k];
        at[i * n + j] = at[j * n + i] = ns_pieces_arg(p, e, k);
    }
    return at;
}

size_t ns_pieces_word(const char *name, size_t length)
{
    size_t n = 0;
    const bool digits = length && name[0] >= '0' && name[0] <= '9';
    while (n < length && name[n] != '.' && name[n] != '_' &&
           (name[n] >= '0' && name[n] <= '9') == digits)
        n++;
    return n;
}

void ns_pieces_sum(ns_pieces *p, ns_ex e, const char *plus, const char *minus)
{
    NS_CHECK(ns_graph_op(p->g, e) == NS_OP_ADD || ns_graph_op(p->g, e) == NS_OP_SUB);
    const bool add = ns_graph_op(p->g, e) == NS_OP_ADD;
    const ns_ex b = ns_pieces_arg(p, e, 1);
    const bool signed_term = leads_with_minus(p, b);
    if (add && signed_term)
        ns_pieces_unsigned(p, b, NS_LEVEL_PRODUCT);
    else
        ns_pieces_push(p, b,
                       add           ? NS_LEVEL_SUM
                       : signed_term ? NS_LEVEL_ATOM
                                     : NS_LEVEL_PRODUCT);
    ns_pieces_text(p, add && !signed_term ? plus : minus);
    ns_pieces_push(p, ns_pieces_arg(p, e, 0), NS_LEVEL_SUM);
}

void ns_pieces_power(ns_pieces *p, ns_ex e, const char *before, const char *between,
                     const char *behind)
{
    NS_CHECK(ns_graph_op(p->g, e) == NS_OP_POW || ns_graph_op(p->g, e) == NS_OP_POWI);
    const ns_node *node = ns_graph_node(p->g, e);
    const ns_ex a = ns_pieces_arg(p, e, 0);
    if (!ns_pieces_item(p, a) && node->op == NS_OP_POWI && ns_graph_node(p->g, a)->n == 1 &&
        p->notation->function(ns_graph_op(p->g, a))) {
        p->notation->call(p, a, (uint32_t)node->integer);
        return;
    }
    ns_pieces_text(p, behind);
    if (node->op == NS_OP_POWI)
        ns_pieces_index(p, (uint32_t)node->integer);
    else
        ns_pieces_push(p, ns_pieces_arg(p, e, 1), 0);
    ns_pieces_text(p, between);
    ns_pieces_push(p, a, NS_LEVEL_ATOM);
    ns_pieces_text(p, before);
}

bool ns_pieces_lone(const ns_pieces *p, ns_ex e)
{
    if (ns_graph_node(p->g, e)->n != 1)
        return false;
    const ns_ex a = ns_pieces_arg(p, e, 0);
    return ns_graph_op(p->g, a) == NS_OP_SYMBOL || ns_pieces_item(p, a);
}

static void print_piece(ns_pieces *p, ns_piece next)
{
    const ns_notation *how = p->notation;
    if (next.text) {
        ns_text_add(p->out, next.text);
        return;
    }
    if (!next.node) {
        ns_text_addf(p->out, "%s%u%s", how->before_index, next.index, how->behind_index);
        return;
    }
    if (how->level(p, &next) < next.least) {
        ns_text_add(p->out, how->open);
        ns_pieces_text(p, how->close);
    }
    const ns_shared_item *item = next.expand ? NULL : ns_pieces_item(p, next.node);
    if (item)
        how->name(item->name, p->out);
    else
        how->node(p, next.node, next.unsign);
}

void ns_pieces_print(ns_pieces *p, ns_ex e, bool expand)
{
    NS_CHECK(p->notation && p->g && p->out);
    NS_CHECK(p->stack.n == 0);
    NS_PUSH(p->out->arena, p->stack, (ns_piece){.node = e, .expand = expand});
    while (p->stack.n)
        print_piece(p, p->stack.at[--p->stack.n]);
}
