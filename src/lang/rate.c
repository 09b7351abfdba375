/* x': the time derivative along the motion.
 *
 * By the chain rule through everything that moves:
 *     time -> 1,  coordinate -> velocity -> acceleration,  state -> its right-hand side.
 * Symbols of a formulation move as it says, by an entry that is the rate of the symbol s, or is
 * named s'.
 *
 * Derivatives are kept by node: the body number n of a chain is built on the one before it, and
 * so is its velocity; walking down to the first body each time would take n^2. */
#include <stdlib.h>
#include <string.h>

#include "expr/diff.h"
#include "lang/reader.h"

static ns_evaluated state_rate(ns_reader *r, const ns_state_line *line, ns_span place,
                               ns_ex *out)
{
    ns_evaluated outcome = {.progress = NS_READ_BROKEN};
    ns_name *name = ns_scope_find(&r->scope, line->name, strlen(line->name));
    if (name->progress == NS_READ_BUSY) {
        ns_diag_error(r->diag, place, "%s' is defined by itself", line->name);
        return outcome;
    }
    ns_evaluate_name(r, name);
    outcome = (ns_evaluated){.progress = name->progress, .missing = name->missing};
    if (name->progress == NS_READ_LATE && !ns_scope_may_come(r, name->missing)) {
        ns_scope_undefined(r, name->missing, false);
        outcome.progress = NS_READ_BROKEN;
    } else if (name->progress == NS_READ_DONE) {
        if (name->value.rows != 1 || name->value.cols != 1)
            outcome.progress = NS_READ_BROKEN; /* the state's own job reports it */
        else
            *out = name->value.at[0];
    }
    return outcome;
}

/* d/dt of one symbol; 0 for parameters. */
static ns_evaluated symbol_rate(ns_reader *r, ns_ex e, ns_span place, ns_ex *out)
{
    const ns_description *d = r->d;
    ns_symbol symbol = *ns_graph_symbol(r->g, e);
    uint32_t i = symbol.index;
    ns_evaluated outcome = {.progress = NS_READ_DONE};
    *out = 0;
    if (symbol.kind == NS_SYM_PARAM)
        return outcome;
    for (uint32_t k = 0; k < d->mode_values.n; k++)
        if (d->mode_values.at[k].symbol == e) /* constant while a mode lasts */
            return outcome;
    if (e == d->time)
        *out = ns_one(r->g);
    else if (symbol.kind == NS_SYM_COORD && i < d->coordinates.n && d->coordinates.at[i].q == e)
        *out = d->coordinates.at[i].v;
    else if (symbol.kind == NS_SYM_VELOCITY && i < d->coordinates.n &&
             d->coordinates.at[i].v == e)
        *out = d->coordinates.at[i].a;
    else if (symbol.kind == NS_SYM_STATE && i < d->states.n && d->states.at[i].symbol == e)
        return state_rate(r, &d->states.at[i], place, out);
    if (*out)
        return outcome;
    for (uint32_t k = 0; k < r->rates.n; k++)
        if (r->rates.at[k].rate_of == e) {
            *out = r->rates.at[k].value.at[0];
            return outcome;
        }
    const char *text = ns_arena_format(r->arena, "%s'", symbol.name);
    const ns_name *entry = ns_scope_find(&r->scope, text, strlen(text));
    if (entry && entry->kind == NS_NAME_ENTRY && entry->value.rows == 1 &&
        entry->value.cols == 1) {
        *out = entry->value.at[0];
        return outcome;
    }
    if (symbol.kind != NS_SYM_ACCEL && !r->finishing && !r->strict) {
        /* It follows from the equations, which are not there yet. */
        outcome.progress = NS_READ_LATE;
        outcome.missing = place;
        return outcome;
    }
    if (symbol.kind == NS_SYM_ACCEL)
        ns_diag_error(r->diag, place, "third derivatives of coordinates are not available");
    else if (!r->finishing)
        ns_diag_error(r->diag, place,
                      "the time derivative of `%s` follows from the equations; it can only be "
                      "observed",
                      symbol.name);
    else
        ns_diag_error(r->diag, place, "the time derivative of `%s` is not available",
                      symbol.name);
    outcome.progress = NS_READ_BROKEN;
    return outcome;
}

enum { UNKNOWN, KNOWN, LISTED };

typedef NS_LIST(ns_ex) nodes;

/* Room for all nodes.  What was kept is forgotten when the formulation has said how its symbols
 * move. */
static struct ns_kept_rates *kept(ns_reader *r)
{
    struct ns_kept_rates *k = &r->kept;
    const uint32_t size = ns_graph_size(r->g);
    const bool other = k->finishing != r->finishing || k->entries != r->rates.n;
    if (size > k->room || other) {
        const uint32_t room = size > k->room ? 2 * size : k->room;
        ns_ex *d = NS_NEW_ARRAY(r->arena, ns_ex, room);
        uint8_t *known = NS_NEW_ARRAY(r->arena, uint8_t, room);
        if (!other && k->room) {
            memcpy(d, k->d, k->room * sizeof *d);
            memcpy(known, k->known, k->room * sizeof *known);
        }
        *k = (struct ns_kept_rates){d, known, room, r->rates.n, r->finishing};
    }
    return k;
}

static int by_handle(const void *a, const void *b)
{
    const ns_ex x = *(const ns_ex *)a, y = *(const ns_ex *)b;
    return x < y ? -1 : x > y;
}

static void list(ns_reader *r, ns_ex e, nodes *found)
{
    uint8_t *known = r->kept.known;
    if (known[e] == UNKNOWN) {
        known[e] = LISTED;
        NS_PUSH(r->arena, *found, e);
    }
}

/* Nodes below these whose derivative is not known, in order.  *plain: no linear systems among
 * them. */
static nodes unknown_below(ns_reader *r, const ns_ex *f, uint32_t n, bool *plain)
{
    nodes found = {0};
    kept(r);
    *plain = true;
    for (uint32_t i = 0; i < n; i++)
        list(r, f[i], &found);
    for (uint32_t i = 0; i < found.n; i++) {
        const ns_ex e = found.at[i];
        *plain = *plain && ns_diff_plain(r->g, e);
        for (uint32_t k = 0; k < ns_graph_node(r->g, e)->n; k++)
            list(r, ns_graph_args(r->g, e)[k], &found);
    }
    for (uint32_t i = 0; i < found.n; i++)
        r->kept.known[found.at[i]] = UNKNOWN;
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, by_handle);
    return found;
}

/* The derivatives of the symbols among some nodes. */
static ns_evaluated symbol_rates(ns_reader *r, ns_span place, const nodes *below, nodes *x,
                                 nodes *dx)
{
    ns_evaluated outcome = {.progress = NS_READ_DONE};
    for (uint32_t i = 0; i < below->n; i++) {
        ns_ex rate;
        if (ns_graph_op(r->g, below->at[i]) != NS_OP_SYMBOL)
            continue;
        outcome = symbol_rate(r, below->at[i], place, &rate);
        if (outcome.progress != NS_READ_DONE)
            return outcome;
        if (rate) {
            NS_PUSH(r->arena, *x, below->at[i]);
            NS_PUSH(r->arena, *dx, rate);
        }
    }
    return outcome;
}

/* All of these, and keeps them. */
static void derive(ns_reader *r, const nodes *below, const nodes *x, const nodes *dx)
{
    struct ns_kept_rates *k = kept(r); /* it may be another by now */
    for (uint32_t i = 0; i < x->n; i++)
        k->d[x->at[i]] = ns_graph_is_zero(r->g, dx->at[i]) ? 0 : dx->at[i];
    for (uint32_t i = 0; i < below->n; i++) {
        const ns_ex e = below->at[i];
        if (ns_graph_op(r->g, e) != NS_OP_SYMBOL && !k->known[e])
            k->d[e] = ns_diff_step(r->g, e, k->d);
        k->known[e] = KNOWN;
    }
}

ns_evaluated ns_rate_of(ns_reader *r, ns_span place, const ns_cell *a, ns_cell *out)
{
    ns_evaluated outcome;
    ns_cell value = *a; /* the stack may move below */
    uint32_t n = value.rows * value.cols;
    if (n == 1 && ns_graph_symbol(r->g, value.one)) { /* the usual case, without a walk */
        ns_ex rate;
        outcome = symbol_rate(r, value.one, place, &rate);
        if (outcome.progress == NS_READ_DONE)
            *out = ns_arithmetic_scalar(rate ? rate : ns_zero(r->g));
        return outcome;
    }
    bool plain;
    const nodes below = unknown_below(r, ns_cell_at(&value), n, &plain);
    if (!ns_evaluate_spend(r, place, n + below.n / 16))
        return (ns_evaluated){.progress = NS_READ_BROKEN};
    nodes x = {0}, dx = {0};
    outcome = symbol_rates(r, place, &below, &x, &dx);
    if (outcome.progress != NS_READ_DONE)
        return outcome;
    ns_ex *at;
    *out = ns_arithmetic_new(r, value.rows, value.cols, &at);
    if (plain) {
        derive(r, &below, &x, &dx);
        for (uint32_t i = 0; i < n; i++) {
            const ns_ex d = r->kept.d[ns_cell_at(&value)[i]];
            at[i] = d ? d : ns_zero(r->g);
        }
    } else {
        const struct ns_kept_rates *k = kept(r);
        for (ns_ex e = 1; e < ns_graph_size(r->g); e++)
            if (k->known[e] == KNOWN && k->d[e]) { /* shortens the walk */
                NS_PUSH(r->arena, x, e);
                NS_PUSH(r->arena, dx, k->d[e]);
            }
        ns_diff_along(r->g, ns_cell_at(&value), n, x.at, dx.at, x.n, at);
    }
    if (n == 1)
        *out = ns_arithmetic_scalar(at[0]);
    return outcome;
}
