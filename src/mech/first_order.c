/* Formulation `first-order`: the model states its equations itself.
 *
 *     state x' = f(t, x; p)
 *
 * An invariant called `energy` is taken as the energy of the system. */
#include "mech/formulations.h"

static bool fits(const ns_description *d)
{
    return d->states.n > 0;
}

static bool derive(ns_description *d, ns_system *s)
{
    if (d->coordinates.n > 0 || d->lagrangian) {
        ns_span at = d->coordinates.n ? d->coordinates.at[0].span : d->lagrangian_span;
        ns_diag_error(d->diag, at,
                      "a model has either `state` lines or coordinates with a Lagrangian");
        return false;
    }
    if (d->states.n == 0) {
        ns_diag_error(d->diag, d->formulation_span, "the model has no `state` line");
        return false;
    }
    if (d->constraints.n > 0) {
        ns_diag_error(d->diag, d->constraints.at[0].span,
                      "a first-order system takes no constraints: write `invariant` to watch a "
                      "quantity");
        return false;
    }
    if (d->forces.n > 0) {
        ns_diag_error(d->diag, d->forces.at[0].span,
                      "a first-order system takes no forces: add them to the `state` lines");
        return false;
    }
    for (uint32_t i = 0; i < d->states.n; i++) {
        const ns_state_line *line = &d->states.at[i];
        ns_system_add_state(s, NS_QUANTITY_COORDINATE, line->name, line->symbol,
                            line->derivative, line->unit);
    }
    s->conservative = true; /* nothing is known against it; `check` verifies */
    return true;
}

static const ns_block_form *const blocks[] = {&ns_block_symmetry, NULL}; /* `symmetry map` */

const ns_formulation ns_formulation_first_order = {
    .name = "first-order",
    .summary = "equations x' = f(t, x) given as they are",
    .doc =
        "A model with lines  state x' = EXPR  is integrated as it stands.  Every state needs "
        "one line.\nAn invariant named `energy` counts as the energy of the system.",
    .fits = fits,
    .derive = derive,
    .blocks = blocks,
};
