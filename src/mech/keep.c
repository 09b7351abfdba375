/* Known integrals as constraints.
 *
 * Let I(x) be constant along the motion.  The row  dI/dt = 0  may be added to those of the
 * constraints (Udwadia and Mogharabin 2021, section 3.1 (e), for the energy (40)).  It is
 * consistent with them: the accelerations without it meet it already, so that its multiplier is
 * zero and no acceleration changes.  What it does is to keep errors of the steps and rounding
 * errors from leaving the level I(x) = I(x0).  Therefore it is enough, in every formulation, to
 * make the level a part of the manifold that states are brought back to after each step:
 *
 *     I(x) - level = 0,      level' = 0,      level(t0) = I(x(t0))
 *
 * with the level as a further state, which projections leave alone.  Formulation `constrained`
 * has the row of the energy itself, (40) and (63), with its multiplier. */
#include "mech/keep.h"

#include <string.h>

bool ns_keep_is(const ns_block *block)
{
    return block->form == &ns_block_constraint && block->kind &&
           strcmp(block->kind, "keep") == 0 && block->arg_words && block->arg_words[0];
}

bool ns_keep_of(const ns_block *block, const char *quantity)
{
    return ns_keep_is(block) && strcmp(block->arg_words[0], quantity) == 0;
}

static const char *level_of(ns_arena *arena, const ns_block *block)
{
    return ns_arena_format(arena, "%s.level", block->arg_words[0]);
}

/* Is it kept by a row of the formulation, which then has the level among its states? */
static bool as_row(const ns_system *s, const ns_block *block)
{
    const char *name = level_of(s->arena, block);
    for (uint32_t i = 0; i < s->states.n; i++)
        if (s->states.at[i].level && strcmp(s->states.at[i].name, name) == 0)
            return !s->states.at[i].internal;
    return false;
}

/* The formulation may have made the start already: one more state, which is set at the end. */
static void lengthen_start(ns_system *s)
{
    const uint32_t n = s->states.n;
    ns_start *start = &s->start;
    bool **flags[] = {&start->free, &start->guess, &start->keep};
    if (!start->value)
        return;
    ns_ex *value = NS_NEW_ARRAY(s->arena, ns_ex, n);
    memcpy(value, start->value, (n - 1) * sizeof *value);
    value[n - 1] = ns_zero(s->graph);
    start->value = value;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bool *longer = NS_NEW_ARRAY(s->arena, bool, n);
        if (!*flags[i])
            continue;
        memcpy(longer, *flags[i], (n - 1) * sizeof *longer);
        *flags[i] = longer;
    }
    if (start->span) {
        ns_span *span = NS_NEW_ARRAY(s->arena, ns_span, n);
        memcpy(span, start->span, (n - 1) * sizeof *span);
        start->span = span;
    }
}

bool ns_keep_states(const ns_description *d, ns_system *s)
{
    bool good = true;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        if (!ns_keep_is(block))
            continue;
        for (uint32_t k = 0; k < i; k++)
            if (ns_keep_of(&d->blocks.at[k], block->arg_words[0])) {
                ns_diag_error(d->diag, block->kind_span, "`%s` is kept already",
                              block->arg_words[0]);
                good = false;
            }
        if (as_row(s, block))
            continue;
        if (s->modes.n > 1) {
            ns_diag_error(d->diag, block->span,
                          "the motion goes through several modes, and jumps between them may "
                          "change `%s`: it cannot be kept",
                          block->arg_words[0]);
            return false;
        }
        const char *name = level_of(s->arena, block);
        const ns_ex symbol = ns_symbol_new(s->graph, name, NS_SYM_STATE, s->states.n);
        const uint32_t at = ns_system_add_state(s, NS_QUANTITY_OTHER, name, symbol,
                                                ns_zero(s->graph), "");
        s->states.at[at].internal = s->states.at[at].level = true;
        lengthen_start(s);
    }
    return good;
}

/* The value of an integral by its name, or 0. */
static ns_ex find(const ns_system *s, const char *name)
{
    if (strcmp(name, "energy") == 0)
        return s->energy;
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (strcmp(s->invariants.at[i].name, name) == 0)
            return s->invariants.at[i].value;
    return 0;
}

static void unknown(const ns_description *d, const ns_system *s, const ns_block *block)
{
    ns_text known = ns_text_new(d->arena);
    if (s->energy)
        ns_text_add(&known, "energy");
    for (uint32_t i = 0; i < s->invariants.n; i++)
        ns_text_addf(&known, "%s%s", known.length ? ", " : "", s->invariants.at[i].name);
    ns_diag_error(d->diag, block->kind_span,
                  "`%s` is not a known integral of this model%s%s; others are made known by a "
                  "line  invariant %s = EXPR",
                  block->arg_words[0], known.length ? ", which has: " : "",
                  ns_text_string(&known), block->arg_words[0]);
}

bool ns_keep_levels(const ns_description *d, ns_system *s)
{
    bool good = true;
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        if (!ns_keep_is(block) || as_row(s, block))
            continue;
        while (!s->states.at[at].level || !s->states.at[at].internal)
            at++;
        const ns_ex value = find(s, block->arg_words[0]);
        if (!value) {
            unknown(d, s, block);
            good = false;
        } else if (ns_system_jumps(s)) {
            ns_diag_error(d->diag, block->span,
                          "events of this model change its states, and with them `%s`: it "
                          "cannot be kept",
                          block->arg_words[0]);
            good = false;
        } else {
            const ns_ex residual = ns_sub(s->graph, value, s->states.at[at].symbol);
            NS_PUSH(s->arena, s->constraints,
                    (ns_constraint){block->name, residual, true, block->span});
            NS_PUSH(s->arena, s->start.settle, (ns_reset){.state = at, .value = value});
            s->levels++;
        }
        at++;
    }
    /* the formulation's own correction knows nothing of levels */
    if (s->levels)
        s->correction = NULL;
    return good;
}

bool ns_keep_verify(const ns_system *s, ns_diag *diag, const double *p, const double *x)
{
    const double constant = 1e-10; /* as `check` says of invariants */
    bool good = true;
    for (uint32_t k = s->constraints.n - s->levels; k < s->constraints.n; k++) {
        const ns_constraint *c = &s->constraints.at[k];
        const double rate = ns_system_drift_rate(s, c->residual, p, x);
        if (rate <= constant)
            continue;
        ns_diag_error(diag, c->span,
                      "`%s` keeps what is not constant along the motion: its relative rate of "
                      "change near the start is %.2g",
                      c->name, rate);
        good = false;
    }
    return good;
}
