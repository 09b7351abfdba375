/* From a description to a system: choosing a formulation, and what is added to what it derives.
 * Formulations do not depend on this file, which has the list of them. */
#include <string.h>

#include "base/check.h"
#include "expr/subst.h"
#include "lang/dimension/agree.h"
#include "mech/draw/draw.h"
#include "mech/formulations.h"
#include "mech/keep.h"
#include "mech/reduced/symmetry.h"

const ns_formulation *const ns_formulations[] = {
    &ns_formulation_planar,      &ns_formulation_rolling,
    &ns_formulation_pontryagin,  &ns_formulation_constrained,
    &ns_formulation_reduced,     &ns_formulation_hamel,
    &ns_formulation_lie,         &ns_formulation_lagrange,
    &ns_formulation_first_order, NULL,
};

static const ns_formulation *choose(const ns_description *d)
{
    if (d->formulation) {
        for (uint32_t i = 0; ns_formulations[i]; i++)
            if (strcmp(ns_formulations[i]->name, d->formulation) == 0)
                return ns_formulations[i];
        ns_text known = ns_text_new(d->arena);
        for (uint32_t i = 0; ns_formulations[i]; i++)
            ns_text_addf(&known, "%s%s", i ? ", " : "", ns_formulations[i]->name);
        ns_diag_error(d->diag, d->formulation_span,
                      "there is no formulation `%s`; there are: %s", d->formulation,
                      ns_text_string(&known));
        return NULL;
    }
    for (uint32_t i = 0; ns_formulations[i]; i++)
        if (ns_formulations[i]->fits(d))
            return ns_formulations[i];
    ns_diag_error(d->diag, d->whole,
                  "the model describes no system: expected `coordinate` and `lagrangian`, a "
                  "`body` on a `ground`, an `algebra`, or `state` lines");
    return NULL;
}

/* Blocks the formulation does not read must not be ignored. */
static bool blocks_known(const ns_description *d, const ns_formulation *f)
{
    bool good = true;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        bool known = ns_keep_is(block);
        for (uint32_t k = 0; f->blocks && f->blocks[k]; k++)
            known = known || f->blocks[k] == block->form;
        if (!known) {
            ns_diag_error(d->diag, block->span, "formulation `%s` does not take a `%s` block",
                          f->name, block->form->keyword);
            good = false;
        }
    }
    return good;
}

/* WORD(VALUES) is the value of the properties that are declared so; elsewhere the word is a
 * misspelt function. */
static bool words_known(const ns_description *d)
{
    bool good = true;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        for (uint32_t k = 0; k < d->blocks.at[i].properties.n; k++) {
            const ns_property *p = &d->blocks.at[i].properties.at[k];
            const char *calls = d->blocks.at[i].form->calls;
            const bool taken = !p->word || !p->values || (calls && strcmp(calls, p->name) == 0);
            if (!taken)
                ns_diag_error(d->diag, p->value_span, "`%s` is not a function", p->word);
            good = good && taken;
        }
    return good;
}

static bool lines_known(const ns_description *d, const ns_formulation *f)
{
    const struct {
        const char *word;
        unsigned refused;
        bool there;
        ns_span span;
    } lines[] = {
        {"coordinate", NS_REFUSES_COORDINATE, d->coordinates.n > 0,
         d->coordinates.n > 0 ? d->coordinates.at[0].span : d->whole},
        {"state", NS_REFUSES_STATE, d->states.n > 0,
         d->states.n > 0 ? d->states.at[0].span : d->whole},
        {"lagrangian", NS_REFUSES_LAGRANGIAN, d->lagrangian != 0, d->lagrangian_span},
    };
    const uint32_t errors = d->diag->errors;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].there && (f->refuses & lines[i].refused))
            ns_diag_error(d->diag, lines[i].span, "formulation `%s` takes no `%s` line",
                          f->name, lines[i].word);
    return d->diag->errors == errors;
}

static bool name_taken(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return true;
    return false;
}

/* observe, invariant and event lines, now that the names of the formulation exist */
static bool add_late_lines(ns_description *d, ns_system *s)
{
    NS_LIST(ns_scope_entry) scope = {0};
    for (uint32_t i = 0; i < s->observables.n; i++)
        NS_PUSH(s->arena, scope,
                (ns_scope_entry){.name = s->observables.at[i].name,
                                 .value = {1, 1, &s->observables.at[i].value},
                                 .unit = s->observables.at[i].unit});
    for (uint32_t i = 0; i < s->vectors.n; i++)
        NS_PUSH(s->arena, scope, s->vectors.at[i]);
    for (uint32_t i = 0; i < s->states.n; i++) /* so that (expression)' finds its way */
        NS_PUSH(s->arena, scope,
                (ns_scope_entry){.name = s->states.at[i].name,
                                 .value = {1, 1, &s->states.at[i].rate},
                                 .rate_of = s->states.at[i].symbol});
    if (!ns_description_finish(d, scope.at, scope.n))
        return false;
    ns_agree_check(d);
    uint32_t errors = d->diag->errors;
    for (uint32_t i = 0; i < d->observes.n; i++) {
        const ns_named_line *line = &d->observes.at[i];
        if (name_taken(s, line->name))
            ns_diag_error(d->diag, line->span, "`%s` is already the name of a value",
                          line->name);
        ns_system_observe(s, NS_QUANTITY_OBSERVED, line->name,
                          ns_system_in_states(s, line->value), line->unit, true);
    }
    for (uint32_t i = 0; i < d->inputs.n; i++)
        if (d->inputs.at[i].sample)
            d->inputs.at[i].sample = ns_system_in_states(s, d->inputs.at[i].sample);
    for (uint32_t i = 0; i < d->invariants.n; i++) {
        const ns_named_line *line = &d->invariants.at[i];
        ns_ex value = ns_system_in_states(s, line->value);
        bool energy = strcmp(line->name, "energy") == 0;
        if (energy && s->energy)
            ns_diag_error(d->diag, line->span, "the energy is known already");
        else if (energy)
            s->energy = value;
        else
            NS_PUSH(s->arena, s->invariants,
                    (ns_invariant){.name = line->name, .value = value, .span = line->span});
        if (!name_taken(s, line->name))
            ns_system_observe(s, energy ? NS_QUANTITY_ENERGY : NS_QUANTITY_OTHER, line->name,
                              value, line->unit, energy);
    }
    for (uint32_t i = 0; i < d->events.n; i++) {
        ns_event event = d->events.at[i];
        ns_ex local;
        if (ns_graph_depends_kind(s->graph, event.value, NS_SYM_LOCAL, &local)) {
            if (!event.off) /* of an integral; in terms of a place only the formulation knows */
                ns_diag_note(d->diag, event.span,
                             "whether this integral is resolved is not watched here");
            continue;
        }
        for (uint32_t k = 0; k < s->events.n; k++)
            if (strcmp(s->events.at[k].name, event.name) == 0)
                ns_diag_error(d->diag, event.span, "there is an event `%s` already",
                              event.name);
        event.value = ns_system_in_states(s, event.value);
        ns_system_event_jump(s, &event);
        NS_PUSH(s->arena, s->events, event);
    }
    return d->diag->errors == errors;
}

/* The number of the mode as a value. */
static void add_mode(ns_system *s)
{
    ns_ex *value = NS_NEW_ARRAY(s->arena, ns_ex, s->modes.n + 1);
    for (uint32_t k = 0; k < s->modes.n; k++)
        value[k] = ns_integer(s->graph, k);
    if (s->modes.n > 1)
        ns_system_observe(s, NS_QUANTITY_MODE, "mode", ns_system_by_mode(s, value), "", true);
}

ns_system *ns_system_derive(ns_description *d)
{
    const ns_formulation *f = choose(d);
    if (!f || !blocks_known(d, f) || !lines_known(d, f))
        return NULL;
    ns_system *s = NS_NEW(d->arena, ns_system);
    s->description = d;
    s->arena = d->arena;
    s->graph = d->graph;
    s->time = d->time;
    s->formulation = f;
    s->start.mode = d->start_mode;
    for (uint32_t i = 0; i < d->modes.n; i++)
        NS_PUSH(s->arena, s->modes, d->modes.at[i]);
    for (uint32_t i = 0; i < d->mode_values.n; i++)
        NS_PUSH(s->arena, s->mode_values, d->mode_values.at[i]);
    if (!f->derive(d, s) || !words_known(d) || !ns_keep_states(d, s))
        return NULL;
    /* States come first among the values, before what the formulation added. */
    uint32_t added = s->observables.n;
    ns_observable *own = s->observables.at;
    s->observables.at = NULL;
    s->observables.n = s->observables.room = 0;
    for (uint32_t i = 0; i < s->states.n; i++) {
        const ns_state *x = &s->states.at[i];
        NS_CHECK(x->rate);
        ns_system_observe(s, x->kind, x->name, x->symbol, x->unit, !x->internal);
    }
    for (uint32_t i = 0; i < added; i++)
        NS_PUSH(s->arena, s->observables, own[i]);
    add_mode(s);
    if (!add_late_lines(d, s) || !ns_keep_levels(d, s) || !ns_symmetry_maps_known(d, s) ||
        !ns_draw_scene(d, s) || !ns_system_start_prepare(d, s))
        return NULL;
    return s;
}
