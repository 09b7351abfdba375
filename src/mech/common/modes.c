/* Modes: see mech/system.h. */
#include <string.h>

#include "base/check.h"
#include "base/near.h"
#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/system.h"

ns_ex ns_system_by_mode(ns_system *s, const ns_ex *value)
{
    const uint32_t n = ns_system_modes(s);
    bool same = true;
    for (uint32_t k = 1; k < n; k++)
        same = same && value[k] == value[0];
    if (same)
        return value[0];
    for (uint32_t i = 0; i < s->mode_values.n; i++)
        if (memcmp(s->mode_values.at[i].value, value, n * sizeof *value) == 0)
            return s->mode_values.at[i].symbol;
    const ns_mode_value one = {
        .symbol = ns_symbol_new(s->graph, "by mode", NS_SYM_LOCAL, s->mode_values.n),
        .value = ns_arena_copy(s->arena, value, n * sizeof *value)};
    NS_PUSH(s->arena, s->mode_values, one);
    return one.symbol;
}

/* ---- jumps, as the model says ------------------------------------------------------------ */

/* The states that a name means: itself, or the components of a vector; how many. */
static uint32_t states_of(const ns_system *s, const char *name, uint32_t *first)
{
    *first = ns_system_state_named(s, name);
    if (*first < s->states.n)
        return 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (s->states.at[i].vector && strcmp(s->states.at[i].vector, name) == 0)
            *first = n++ ? *first : i;
    return n;
}

static void no_state(const ns_system *s, const ns_change_line *line)
{
    ns_near near = {.word = line->state};
    ns_text known = ns_text_new(s->arena);
    bool value = false;
    for (uint32_t i = 0; i < s->states.n; i++) {
        ns_near_try(&near, s->states.at[i].name);
        ns_text_addf(&known, "%s%s", i ? ", " : "", s->states.at[i].name);
    }
    for (uint32_t i = 0; i < s->observables.n; i++)
        value = value || strcmp(s->observables.at[i].name, line->state) == 0;
    for (uint32_t i = 0; i < s->description->params.n; i++)
        value = value || strcmp(s->description->params.at[i].name, line->state) == 0;
    if (near.found && !value)
        ns_diag_error(s->description->diag, line->span,
                      "`%s` is not a state of the system; did you mean `%s`?", line->state,
                      near.found);
    else
        ns_diag_error(s->description->diag, line->span,
                      "`%s` is %s, and an event can change states only: %s", line->state,
                      value ? "no state but a value" : "not a state of the system",
                      ns_text_string(&known));
}

static void add_resets(ns_system *s, ns_jump *j, const ns_change_line *line)
{
    uint32_t first = 0;
    const uint32_t n = states_of(s, line->state, &first);
    ns_diag *diag = s->description->diag;
    if (!n) {
        no_state(s, line);
        return;
    }
    if (line->value.rows != n) {
        ns_diag_error(diag, line->span, "`%s` has %u component%s, the value %u", line->state, n,
                      n > 1 ? "s" : "", line->value.rows);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const ns_reset one = {.state = first + i,
                              .value = ns_system_in_states(s, line->value.at[i])};
        for (uint32_t k = 0; k < (line->rest ? j->rest_resets.n : j->resets.n); k++)
            if ((line->rest ? j->rest_resets.at[k] : j->resets.at[k]).state == one.state)
                ns_diag_error(diag, line->span, "`%s` is changed twice", line->state);
        if (line->rest)
            NS_PUSH(s->arena, j->rest_resets, one);
        else
            NS_PUSH(s->arena, j->resets, one);
    }
}

void ns_system_event_jump(ns_system *s, ns_event *event)
{
    if (!event->n_changes && !event->in)
        return;
    ns_jump *j = event->n_changes ? NS_NEW(s->arena, ns_jump) : NULL;
    for (uint32_t i = 0; i < event->n_changes; i++) {
        const ns_change_line *line = &event->changes[i];
        if (line->state) {
            add_resets(s, j, line);
            continue;
        }
        ns_way way = {.mode = line->mode};
        if (line->value.rows)
            NS_PUSH(s->arena, way.needs, ns_system_in_states(s, line->value.at[0]));
        if (line->rest)
            NS_PUSH(s->arena, j->rest, way);
        else
            NS_PUSH(s->arena, j->ways, way);
    }
    if (j)
        j->in = event->in;
    event->jump = j;
}

/* ---- a system in one of its modes -------------------------------------------------------- */

/* Places of expressions, all of them replaced at once. */
typedef struct places {
    ns_arena *arena;
    NS_LIST(ns_ex *) at;
} places;

static void add(places *w, ns_ex *e)
{
    if (*e)
        NS_PUSH(w->arena, w->at, e);
}

#define OWN(w, list)                                                                           \
    ((list).at = own((w), (list).at, (list).n, &(list).room, sizeof *(list).at))
static void *own(const places *w, const void *at, uint32_t n, uint32_t *room, size_t size)
{
    *room = n;
    return n ? ns_arena_copy(w->arena, at, n * size) : NULL;
}

static void add_observables(places *w, ns_observable *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add(w, &at[i].value);
}

static void add_constraints(places *w, ns_constraint *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add(w, &at[i].residual);
}

static void add_ways(places *w, ns_way *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        OWN(w, at[i].needs);
        for (uint32_t k = 0; k < at[i].needs.n; k++)
            add(w, &at[i].needs.at[k]);
    }
}

static void add_events(places *w, ns_system *s, uint32_t mode)
{
    OWN(w, s->events);
    for (uint32_t i = 0; i < s->events.n; i++) {
        ns_event *e = &s->events.at[i];
        e->off = e->off || (e->in && !(e->in >> mode & 1));
        if (e->jump) {
            ns_jump *j = e->jump = ns_arena_copy(w->arena, e->jump, sizeof *j);
            e->off = e->off || (j->in && !(j->in >> mode & 1));
            OWN(w, j->resets);
            OWN(w, j->rest_resets);
            OWN(w, j->ways);
            OWN(w, j->rest);
            for (uint32_t k = 0; k < j->resets.n; k++)
                add(w, &j->resets.at[k].value);
            for (uint32_t k = 0; k < j->rest_resets.n; k++)
                add(w, &j->rest_resets.at[k].value);
            add_ways(w, j->ways.at, j->ways.n);
            add_ways(w, j->rest.at, j->rest.n);
        }
        if (e->off)
            e->value = ns_one(s->graph);
        add(w, &e->value);
    }
}

static void add_motion(places *w, ns_system *s)
{
    OWN(w, s->states);
    OWN(w, s->accelerations);
    OWN(w, s->vectors);
    OWN(w, s->constraints);
    OWN(w, s->invariants);
    OWN(w, s->claims);
    OWN(w, s->equations);
    for (uint32_t i = 0; i < s->states.n; i++)
        add(w, &s->states.at[i].rate);
    for (uint32_t i = 0; i < s->accelerations.n; i++)
        add(w, &s->accelerations.at[i].to);
    for (uint32_t i = 0; i < s->vectors.n; i++) {
        ns_value *v = &s->vectors.at[i].value;
        const uint32_t n = v->rows * v->cols;
        ns_ex *at = ns_arena_copy(w->arena, v->at, n * sizeof *at);
        for (uint32_t k = 0; k < n; k++)
            add(w, &at[k]);
        v->at = at;
    }
    add_constraints(w, s->constraints.at, s->constraints.n);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        add(w, &s->invariants.at[i].value);
    for (uint32_t i = 0; i < s->claims.n; i++)
        add(w, &s->claims.at[i].value);
    for (uint32_t i = 0; i < s->equations.n; i++)
        add(w, &s->equations.at[i].value);
    add(w, &s->energy);
    add(w, &s->kinetic);
}

static void add_tools(places *w, ns_system *s)
{
    const uint32_t n = s->states.n;
    if (s->correction) {
        ns_correction *c = s->correction = ns_arena_copy(w->arena, s->correction, sizeof *c);
        c->change = ns_arena_copy(w->arena, c->change, n * sizeof *c->change);
        for (uint32_t i = 0; i < n; i++)
            add(w, &c->change[i]);
    }
    if (!s->watch)
        return;
    ns_rank_watch *k = s->watch = ns_arena_copy(w->arena, s->watch, sizeof *k);
    OWN(w, k->entries);
    for (uint32_t i = 0; i < k->entries.n; i++)
        add(w, &k->entries.at[i].value);
    ns_ex *Q = k->Q ? ns_arena_copy(w->arena, k->Q, k->n * sizeof *Q) : NULL;
    ns_ex *b = k->b ? ns_arena_copy(w->arena, k->b, k->m * sizeof *b) : NULL;
    for (uint32_t i = 0; Q && i < k->n; i++)
        add(w, &Q[i]);
    for (uint32_t i = 0; b && i < k->m; i++)
        add(w, &b[i]);
    k->Q = Q;
    k->b = b;
}

static void add_start(places *w, ns_system *s)
{
    OWN(w, s->start.extra);
    OWN(w, s->start.wishes);
    OWN(w, s->start.other);
    OWN(w, s->start.ways);
    OWN(w, s->start.settle);
    for (uint32_t i = 0; i < s->start.settle.n; i++)
        add(w, &s->start.settle.at[i].value);
    add_constraints(w, s->start.extra.at, s->start.extra.n);
    add_constraints(w, s->start.wishes.at, s->start.wishes.n);
    for (uint32_t i = 0; i < s->start.other.n; i++)
        add(w, &s->start.other.at[i].value);
    add_ways(w, s->start.ways.at, s->start.ways.n);
}

/* Jacobians see the states through mode values only now. */
static void differentiate_start(ns_system *s)
{
    const uint32_t n = s->states.n, m = s->constraints.n + s->start.extra.n;
    const uint32_t all = m + s->start.wishes.n;
    const ns_ex *x = ns_system_state_symbols(s, s->arena);
    ns_ex *r = NS_NEW_ARRAY(s->arena, ns_ex, all + 1);
    for (uint32_t i = 0; i < all; i++)
        r[i] = i < s->constraints.n ? s->constraints.at[i].residual
               : i < m              ? s->start.extra.at[i - s->constraints.n].residual
                                    : s->start.wishes.at[i - m].residual;
    ns_sparse_rows *J = ns_diff_sparse(s->graph, s->arena, r, all, x, n);
    ns_sparse_rows *wish = ns_arena_copy(s->arena, J, sizeof *J);
    J->rows = m;
    wish->rows = all - m;
    wish->start += m;
    s->start.jacobian = J;
    s->start.wish = wish;
}

void ns_system_resolve(const ns_system *s, uint32_t mode, ns_arena *arena, ns_ex *f, size_t nf)
{
    const uint32_t n = s->mode_values.n;
    ns_ex *from = NS_NEW_ARRAY(arena, ns_ex, n + 1), *to = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        from[i] = s->mode_values.at[i].symbol;
        to[i] = ns_subst_one(s->graph, s->mode_values.at[i].value[mode], from, to, i);
    }
    ns_subst(s->graph, f, nf, from, to, n, f);
}

/* s: a copy of its own. */
static void resolve(ns_system *s, uint32_t mode)
{
    places w = {.arena = s->arena};
    add_motion(&w, s);
    add_events(&w, s, mode);
    add_tools(&w, s);
    add_start(&w, s);
    OWN(&w, s->observables);
    OWN(&w, s->pushes);
    add_observables(&w, s->observables.at, s->observables.n);
    add_observables(&w, s->pushes.at, s->pushes.n);
    ns_ex *all = NS_NEW_ARRAY(s->arena, ns_ex, w.at.n + 1);
    for (uint32_t i = 0; i < w.at.n; i++)
        all[i] = *w.at.at[i];
    ns_system_resolve(s, mode, s->arena, all, w.at.n);
    for (uint32_t i = 0; i < w.at.n; i++)
        *w.at.at[i] = all[i];
    for (uint32_t i = 0; i < s->constraints.n; i++) /* nothing to project on in this mode */
        if (ns_graph_is_zero(s->graph, s->constraints.at[i].residual))
            s->constraints.at[i].project = false;
    s->mode_values.n = s->modes.n = 0;
    s->in_mode = NULL;
    differentiate_start(s);
}

ns_system *ns_system_in_mode(const ns_system *s, uint32_t k, ns_arena *arena)
{
    ns_system *fork = ns_system_fork(s, arena);
    NS_CHECK(k < ns_system_modes(s));
    fork->in_mode = NULL;
    fork->evaluator = NULL;
    if (s->modes.n > 1)
        resolve(fork, k);
    return fork;
}

const ns_system *ns_system_mode(const ns_system *s, uint32_t k)
{
    ns_system *own = (ns_system *)s; /* the bench is ours while we are asked */
    if (s->modes.n < 2)
        return s;
    NS_CHECK(k < s->modes.n);
    if (!own->in_mode)
        own->in_mode = NS_NEW_ARRAY(s->arena, ns_system *, s->modes.n);
    if (!own->in_mode[k]) {
        ns_system *one = ns_arena_copy(s->arena, s, sizeof *s);
        resolve(one, k);
        own->in_mode[k] = one;
    }
    return s->in_mode[k];
}

bool ns_system_jumps(const ns_system *s)
{
    for (uint32_t i = 0; i < s->events.n; i++)
        if (s->events.at[i].jump)
            return true;
    return false;
}

uint32_t ns_system_first_mode(const ns_system *s, double t0, const double *p, const double *x)
{
    if (s->start.mode || !s->start.ways.n || s->modes.n < 2)
        return ns_system_given_mode(s);
    for (uint32_t i = 0; i < s->start.ways.n; i++) {
        const ns_system *in = ns_system_mode(s, s->start.ways.at[i].mode);
        const ns_way *way = &in->start.ways.at[i];
        bool good = true;
        for (uint32_t k = 0; k < way->needs.n && good; k++) {
            double value;
            ns_system_eval(in, &way->needs.at[k], 1, t0, p, x, &value);
            good = value > 0;
        }
        if (good)
            return way->mode;
    }
    return UINT32_MAX;
}
