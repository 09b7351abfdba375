/* Discrete symmetries (Bloch, Marsden and Zenkov 2009, Proposition 4.3 and section 6.3).
 *
 *     symmetry map { t = -t; r = -r }
 *
 * says that x(t) -> S(x(+-t)) maps motions to motions, S given state by state.  For x' = f(x)
 * that is
 *
 *     DS(x) f(x) = +-f(S(x)),        - if t = -t.
 *
 * A velocity q' that is not named follows its coordinate: +-d/dt S_q.  States that are not
 * named stay.
 * In formulation `reduced` a map that names no group coordinate is one of the reduced
 * equations.
 *
 * Reversibility (Proposition 4.3) is the map t = -t with all velocities and momenta changing
 * sign. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/reduced/symmetry.h"

static bool is_map(const ns_block *b)
{
    return b->form == &ns_block_symmetry && b->kind && strcmp(b->kind, "map") == 0;
}

bool ns_symmetry_maps_known(const ns_description *d, const ns_system *s)
{
    bool good = true;
    for (uint32_t b = 0; b < d->blocks.n; b++) {
        const ns_block *block = &d->blocks.at[b];
        if (!is_map(block)) {
            if (block->form == &ns_block_symmetry && !s->symmetry) {
                ns_diag_error(d->diag, block->span,
                              "formulation `%s` takes no symmetry but `symmetry map { .. }`",
                              s->formulation->name);
                good = false;
            }
            continue;
        }
        for (uint32_t k = 0; k < block->properties.n; k++) {
            const ns_property *p = &block->properties.at[k];
            const bool time = strcmp(p->name, "t") == 0;
            const bool number = p->assigned && !p->guess && p->values == 1 &&
                                p->value[0].rows == 1 && p->value[0].cols == 1;
            if (!number || (!time && ns_system_state_named(s, p->name) == s->states.n)) {
                ns_diag_error(d->diag, p->span,
                              number ? "`%s` is not a state of the system"
                                     : "expected `%s = EXPRESSION`",
                              p->name);
                good = false;
            } else if (time && p->value[0].at[0] != ns_neg(d->graph, d->time) &&
                       p->value[0].at[0] != d->time) {
                ns_diag_error(d->diag, p->value_span, "time maps to t or to -t");
                good = false;
            } else if (!time && ns_graph_depends(d->graph, p->value[0].at[0], &d->time, 1)) {
                ns_diag_error(d->diag, p->value_span, "a map must not depend on time");
                good = false;
            }
        }
    }
    return good;
}

/* One map: S in states, and how many of the states it is about. */
typedef struct map {
    ns_ex *S;
    uint32_t about;
    bool reverses;
} map;

/* Velocities of the model in a value, where they are not states. */
static ns_ex in_states(const ns_system *s, ns_ex e)
{
    const uint32_t n = s->accelerations.n;
    ns_ex *from = NS_NEW_ARRAY(s->arena, ns_ex, n + 1),
                               *to = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        from[i] = s->accelerations.at[i].from;
        to[i] = s->accelerations.at[i].to;
    }
    return n ? ns_subst_one(s->graph, e, from, to, n) : e;
}

static map read_map(const ns_system *s, const ns_block *block, const char **name)
{
    ns_graph *g = s->graph;
    const uint32_t n = s->states.n;
    map m = {.S = ns_system_state_symbols(s, s->arena), .about = s->reduced ? s->reduced : n};
    bool *named = NS_NEW_ARRAY(s->arena, bool, n + 1);
    const ns_ex *x = ns_system_state_symbols(s, s->arena);
    const ns_ex *f = ns_system_state_rates(s, s->arena);
    ns_text text = ns_text_new(s->arena);
    for (uint32_t k = 0; k < block->properties.n; k++) {
        const ns_property *p = &block->properties.at[k];
        const uint32_t i = ns_system_state_named(s, p->name);
        const ns_source *source = &s->description->diag->sources.at[p->span.source - 1];
        ns_text_addf(&text, "%s%s -> %.*s", k ? ", " : "", p->name,
                     (int)(p->value_span.end - p->value_span.begin),
                     source->text + p->value_span.begin);
        if (i == n) { /* time */
            m.reverses = p->value[0].at[0] != s->description->time;
            continue;
        }
        m.S[i] = in_states(s, p->value[0].at[0]);
        named[i] = true;
        if (i >= m.about)
            m.about = n;
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *own = s->states.at[i].name;
        const size_t length = strlen(own);
        if (named[i] || length < 2 || own[length - 1] != '\'')
            continue;
        const uint32_t q = ns_system_state_named(s, ns_arena_string(s->arena, own, length - 1));
        ns_ex rate;
        if (q == n)
            continue;
        ns_diff_along(g, &m.S[q], 1, x, f, n, &rate);
        m.S[i] = m.reverses ? ns_neg(g, rate) : rate;
    }
    *name = ns_text_string(&text);
    return m;
}

/* Largest relative difference of DS f and +-f(S), and residual at S(x), over random states. */
static double difference(const ns_system *s, const map *m, const double *p, const double *x0)
{
    enum { TRIES = 8 };
    ns_graph *g = s->graph;
    const uint32_t n = s->states.n, nc = s->constraints.n;
    const ns_ex *x = ns_system_state_symbols(s, s->arena);
    const ns_ex *f = ns_system_state_rates(s, s->arena);
    ns_ex *moved = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    ns_ex *residual = NS_NEW_ARRAY(s->arena, ns_ex, nc + 1);
    double *here = NS_NEW_ARRAY(s->arena, double, n + 1);
    double *there = NS_NEW_ARRAY(s->arena, double, n + 1);
    double *left = NS_NEW_ARRAY(s->arena, double, (size_t)TRIES * n + 1);
    double *right = NS_NEW_ARRAY(s->arena, double, (size_t)TRIES * n + 1);
    double *size = NS_NEW_ARRAY(s->arena, double, n + 1);
    double *off = NS_NEW_ARRAY(s->arena, double, nc + 1), worst = 0;
    uint64_t seed = 1998;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < nc; i++)
        residual[i] = s->constraints.at[i].residual;
    ns_diff_along(g, m->S, n, x, f, n, moved);
    for (uint32_t k = 0; k < TRIES; k++) {
        for (uint32_t i = 0; i < n; i++)
            here[i] = x0[i] + (0.3 + 0.2 * fabs(x0[i])) * (2 * ns_eval_random(&seed) - 1);
        if (!ns_system_project(s, 0, p, here))
            continue;
        double *l = left + (size_t)tried * n, *r = right + (size_t)tried * n;
        ns_system_eval(s, m->S, n, 0, p, here, there);
        ns_system_eval(s, moved, n, 0, p, here, l);
        ns_system_eval(s, f, n, 0, p, there, r);
        ns_system_eval(s, residual, nc, 0, p, there, off);
        bool finite = true;
        for (uint32_t i = 0; i < m->about; i++)
            finite = finite && isfinite(l[i]) && isfinite(r[i]);
        if (!finite)
            continue;
        for (uint32_t i = 0; i < nc; i++)
            worst = ns_max(worst, fabs(off[i]));
        for (uint32_t i = 0; i < m->about; i++)
            size[i] = ns_max(size[i], fabs(l[i]) + fabs(r[i]));
        tried++;
    }
    for (uint32_t k = 0; k < tried; k++)
        for (uint32_t i = 0; i < m->about; i++) {
            const double sign = m->reverses ? -1 : 1;
            const double apart = fabs(left[k * n + i] - sign * right[k * n + i]);
            if (size[i] > 0)
                worst = ns_max(worst, apart / size[i]);
        }
    return tried ? worst : NAN;
}

const ns_discrete *ns_symmetry_maps(const ns_system *s, const double *p, const double *x,
                                    uint32_t *n)
{
    const ns_description *d = s->description;
    NS_LIST(ns_discrete) list = {0};
    for (uint32_t b = 0; b < d->blocks.n; b++) {
        if (!is_map(&d->blocks.at[b]))
            continue;
        ns_discrete found = {.span = d->blocks.at[b].span};
        const map m = read_map(s, &d->blocks.at[b], &found.name);
        found.reverses = m.reverses;
        found.S = m.S;
        found.about = m.about;
        found.difference = difference(s, &m, p, x);
        NS_PUSH(s->arena, list, found);
    }
    map reversal = {.S = NS_NEW_ARRAY(s->arena, ns_ex, s->states.n + 1), .about = s->states.n,
                                      .reverses = true};
    const bool on_graph = !(s->watch && s->watch->pinv); /* are the rates there to compare? */
    bool any = false;
    for (uint32_t i = 0; i < s->states.n; i++) {
        const ns_state *state = &s->states.at[i];
        any = any || (state->odd && on_graph);
        reversal.S[i] = state->odd ? ns_neg(s->graph, state->symbol) : state->symbol;
    }
    if (any)
        NS_PUSH(s->arena, list,
                (ns_discrete){.reverses = true,
                              .difference = difference(s, &reversal, p, x),
                              .S = reversal.S,
                              .about = reversal.about});
    *n = list.n;
    return list.at;
}
