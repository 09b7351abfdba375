/* x': the time derivative along the motion.
 *
 * By the chain rule through everything that moves:
 *     time -> 1,  coordinate -> velocity -> acceleration,  state -> its right-hand side.
 * Symbols of a formulation move as it says, by an entry that is the rate of the symbol s, or is
 * named s'. */
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
    if (name->progress == NS_READ_LATE && !ns_evaluate_may_come(r, name->missing)) {
        ns_evaluate_undefined(r, name->missing, false);
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
                      "the time derivative of '%s' follows from the equations; it can only be "
                      "observed",
                      symbol.name);
    else
        ns_diag_error(r->diag, place, "the time derivative of '%s' is not available",
                      symbol.name);
    outcome.progress = NS_READ_BROKEN;
    return outcome;
}

ns_evaluated ns_rate_of(ns_reader *r, ns_span place, const ns_cell *a, ns_cell *out)
{
    ns_evaluated outcome = {.progress = NS_READ_DONE};
    ns_cell value = *a; /* the stack may move below */
    uint32_t n = value.rows * value.cols;
    if (n == 1 && ns_graph_symbol(r->g, value.one)) { /* the usual case, without a walk */
        ns_ex rate;
        outcome = symbol_rate(r, value.one, place, &rate);
        if (outcome.progress == NS_READ_DONE)
            *out = ns_arithmetic_scalar(rate ? rate : ns_zero(r->g));
        return outcome;
    }
    if (!ns_evaluate_spend(r, place, n + ns_graph_size(r->g) / 16))
        return (ns_evaluated){.progress = NS_READ_BROKEN};
    bool *used = NS_NEW_ARRAY(r->arena, bool, ns_graph_size(r->g));
    ns_graph_mark(r->g, ns_cell_at(&value), n, used);
    NS_LIST(ns_ex) x = {0}, dx = {0};
    for (ns_ex e = 1, size = ns_graph_size(r->g); e < size; e++) {
        ns_ex rate;
        if (!used[e] || ns_graph_op(r->g, e) != NS_OP_SYMBOL)
            continue;
        outcome = symbol_rate(r, e, place, &rate);
        if (outcome.progress != NS_READ_DONE)
            return outcome;
        if (rate) {
            NS_PUSH(r->arena, x, e);
            NS_PUSH(r->arena, dx, rate);
        }
    }
    ns_ex *at;
    *out = ns_arithmetic_new(r, value.rows, value.cols, &at);
    ns_diff_along(r->g, ns_cell_at(&value), n, x.at, dx.at, x.n, at);
    if (n == 1)
        *out = ns_arithmetic_scalar(at[0]);
    return outcome;
}
