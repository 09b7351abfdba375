/* What all formulations share: adding states and values to a system, and the checks that need
 * numbers.  Which formulation is used is decided in derive.c, the search for a consistent start
 * is in start.c. */
#include "mech/system.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"

/* Does a quantity of this kind change its sign when time runs backwards? */
static bool is_odd(ns_quantity kind)
{
    return kind == NS_QUANTITY_VELOCITY || kind == NS_QUANTITY_QUATERNION_RATE ||
           kind == NS_QUANTITY_ANGULAR || kind == NS_QUANTITY_QUASIVELOCITY ||
           kind == NS_QUANTITY_MOMENTUM;
}

uint32_t ns_system_add_state(ns_system *s, ns_quantity kind, const char *name, ns_ex symbol,
                             ns_ex rate, const char *unit)
{
    NS_CHECK(name && symbol);
    const uint32_t number = s->states.n;
    NS_PUSH(s->arena, s->states,
            (ns_state){.name = name,
                       .symbol = symbol,
                       .rate = rate,
                       .unit = unit ? unit : "",
                       .kind = kind,
                       .odd = is_odd(kind),
                       .first = number});
    return number;
}

void ns_system_group(ns_system *s, ns_quantity kind, const char *name, uint32_t first,
                     uint32_t n)
{
    NS_CHECK(n > 0 && first + n <= s->states.n);
    for (uint32_t i = first; i < first + n; i++) {
        ns_state *state = &s->states.at[i];
        NS_CHECK(!state->vector);
        state->kind = kind;
        state->odd = is_odd(kind);
        state->vector = name;
        state->first = first;
    }
}

uint32_t ns_system_add_vector(ns_system *s, ns_quantity kind, const char *name,
                              const char *axes, const ns_ex *symbol, const char *unit)
{
    const uint32_t first = s->states.n, n = (uint32_t)strlen(axes);
    for (uint32_t i = 0; i < n; i++)
        ns_system_add_state(s, kind, ns_arena_format(s->arena, "%s.%c", name, axes[i]),
                            symbol[i], 0, unit);
    ns_system_group(s, kind, name, first, n);
    return first;
}

static const char *rate_name(ns_system *s, const ns_coordinate *c)
{
    return ns_arena_format(s->arena, "%s'", c->name);
}

static const char *rate_unit(ns_system *s, const ns_coordinate *c, const char *bare)
{
    return c->unit[0] ? ns_arena_format(s->arena, "%s/s", c->unit) : bare;
}

void ns_system_add_coordinate(ns_system *s, const ns_coordinate *c, ns_ex rate)
{
    ns_system_add_state(s, NS_QUANTITY_COORDINATE, c->name, c->q, rate, c->unit);
}

void ns_system_add_velocity(ns_system *s, const ns_coordinate *c, ns_ex acceleration,
                            const char *bare)
{
    ns_system_add_state(s, NS_QUANTITY_VELOCITY, rate_name(s, c), c->v, acceleration,
                        rate_unit(s, c, bare));
    NS_PUSH(s->arena, s->accelerations, (ns_replacement){.from = c->a, .to = acceleration});
}

void ns_system_derived_velocity(ns_system *s, const ns_coordinate *c, ns_ex velocity,
                                ns_ex acceleration)
{
    NS_PUSH(s->arena, s->accelerations, (ns_replacement){.from = c->v, .to = velocity});
    NS_PUSH(s->arena, s->accelerations, (ns_replacement){.from = c->a, .to = acceleration});
    ns_system_observe(s, NS_QUANTITY_VELOCITY, rate_name(s, c), velocity, rate_unit(s, c, ""),
                      true);
}

void ns_system_multiplier(ns_system *s, const char *name, ns_ex value, bool basic)
{
    ns_system_observe(s, NS_QUANTITY_MULTIPLIER, ns_arena_format(s->arena, "lambda.%s", name),
                      value, "", basic);
}

void ns_system_observe(ns_system *s, ns_quantity kind, const char *name, ns_ex value,
                       const char *unit, bool basic)
{
    NS_PUSH(s->arena, s->observables,
            (ns_observable){.name = name,
                            .value = value,
                            .unit = unit ? unit : "",
                            .kind = kind,
                            .basic = basic});
}

void ns_system_define(ns_system *s, const char *name, const ns_ex *at, uint32_t rows)
{
    ns_ex *copy = ns_arena_copy(s->arena, at, rows * sizeof *at);
    NS_PUSH(s->arena, s->vectors, (ns_scope_entry){.name = name, .value = {rows, 1, copy}});
}

void ns_system_observe_vector(ns_system *s, ns_quantity kind, const char *name, ns_v3 v,
                              const char *unit, bool basic)
{
    static const char axes[3] = {'x', 'y', 'z'};
    ns_system_define(s, name, v.at, 3);
    s->vectors.at[s->vectors.n - 1].unit = unit;
    for (int i = 0; i < 3; i++) {
        const char *component = ns_arena_format(s->arena, "%s.%c", name, axes[i]);
        if (ns_system_state_named(s, component) == s->states.n)
            ns_system_observe(s, kind, component, v.at[i], unit, basic);
    }
}

void ns_system_constant(ns_system *s, const char *name, ns_ex value, const char *unit)
{
    NS_PUSH(s->arena, s->constants,
            (ns_observable){.name = name, .value = value, .unit = unit, .basic = true});
}

void ns_system_claim(ns_system *s, const char *name, ns_ex value, bool expected,
                     const char *where)
{
    NS_PUSH(s->arena, s->claims,
            (ns_known_integral){
                .name = name, .value = value, .expected = expected, .where = where});
    if (expected)
        NS_PUSH(s->arena, s->invariants, (ns_invariant){.name = name, .value = value});
}

void ns_system_fact(ns_system *s, const char *name, const char *format, ...)
{
    ns_text text = ns_text_new(s->arena);
    va_list list;
    va_start(list, format);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    NS_PUSH(s->arena, s->facts, (ns_fact){.name = name, .text = ns_text_string(&text)});
}

ns_ex ns_system_in_states(ns_system *s, ns_ex e)
{
    uint32_t n = s->accelerations.n;
    ns_ex *from = NS_NEW_ARRAY(s->arena, ns_ex, n + 1),
                               *to = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        from[i] = s->accelerations.at[i].from;
        to[i] = s->accelerations.at[i].to;
    }
    return ns_graph_depends(s->graph, e, from, n) ? ns_subst_one(s->graph, e, from, to, n) : e;
}

ns_system *ns_system_fork(const ns_system *s, ns_arena *arena)
{
    ns_system *fork = ns_arena_copy(arena, s, sizeof *s);
    ns_description *d = ns_arena_copy(arena, s->description, sizeof *d);
    fork->arena = d->arena = arena;
    fork->graph = d->graph = ns_graph_fork(s->graph, arena);
    d->diag = ns_diag_like(arena, d->diag);
    fork->description = d;
    /* without room a list is copied when it grows */
    fork->invariants.room = fork->invariants.n;
    fork->events.room = fork->events.n;
    fork->observables.room = fork->observables.n;
    fork->start.extra.room = fork->start.extra.n;
    fork->in_mode = NULL; /* those are on the other bench */
    return fork;
}

void ns_system_params(const ns_system *s, const bool *is_set, const double *p_set, double *p)
{
    const ns_description *d = s->description;
    ns_ex *symbols = NS_NEW_ARRAY(s->arena, ns_ex, d->params.n + 1);
    for (uint32_t i = 0; i < d->params.n; i++) {
        const ns_param *param = &d->params.at[i];
        if (is_set && is_set[i])
            p[i] = p_set[i];
        else if (!ns_graph_is_number(s->graph, param->value, &p[i])) /* as most are */
            ns_eval(s->graph, &param->value, 1, symbols, p, i, &p[i]);
        symbols[i] = param->symbol;
    }
}

uint32_t ns_system_state_named(const ns_system *s, const char *name)
{
    uint32_t i = 0;
    while (i < s->states.n && strcmp(s->states.at[i].name, name) != 0)
        i++;
    return i;
}

ns_ex *ns_system_state_symbols(const ns_system *s, ns_arena *arena)
{
    ns_ex *x = NS_NEW_ARRAY(arena, ns_ex, s->states.n + 1);
    for (uint32_t i = 0; i < s->states.n; i++)
        x[i] = s->states.at[i].symbol;
    return x;
}

ns_ex *ns_system_state_rates(const ns_system *s, ns_arena *arena)
{
    ns_ex *rate = NS_NEW_ARRAY(arena, ns_ex, s->states.n + 1);
    for (uint32_t i = 0; i < s->states.n; i++)
        rate[i] = s->states.at[i].rate;
    return rate;
}

ns_ex *ns_system_param_symbols(const ns_system *s, ns_arena *arena)
{
    const ns_description *d = s->description;
    ns_ex *p = NS_NEW_ARRAY(arena, ns_ex, d->params.n + 1);
    for (uint32_t i = 0; i < d->params.n; i++)
        p[i] = d->params.at[i].symbol;
    return p;
}

void ns_system_eval(const ns_system *s, const ns_ex *f, size_t nf, double t, const double *p,
                    const double *x, double *out)
{
    if (s->evaluator) {
        s->evaluator->eval(s->evaluator, f, nf, t, p, x, out);
        return;
    }
    const ns_description *d = s->description;
    uint32_t np = d->params.n, n = s->states.n;
    ns_ex *symbols = NS_NEW_ARRAY(s->arena, ns_ex, np + n + 1);
    double *value = NS_NEW_ARRAY(s->arena, double, np + n + 1);
    for (uint32_t i = 0; i < np; i++) {
        symbols[i] = d->params.at[i].symbol;
        value[i] = p[i];
    }
    for (uint32_t i = 0; x && i < n; i++) {
        symbols[np + i] = s->states.at[i].symbol;
        value[np + i] = x[i];
    }
    uint32_t count = np + (x ? n : 0);
    symbols[count] = s->time;
    value[count] = t;
    ns_eval(s->graph, f, nf, symbols, value, count + 1, out);
}

/* Has no quantity that marks a singularity changed its sign between two states? */
static bool same_branch(const ns_system *s, const double *p, const double *x, const double *y)
{
    for (uint32_t i = 0; i < s->events.n; i++) {
        double at_x, at_y;
        if (s->events.at[i].action != NS_EVENT_SINGULAR)
            continue;
        ns_system_eval(s, &s->events.at[i].value, 1, 0, p, x, &at_x);
        ns_system_eval(s, &s->events.at[i].value, 1, 0, p, y, &at_y);
        if (!(at_x * at_y > 0))
            return false;
    }
    return true;
}

/* d/dt of a quantity as a sum of terms, one per state and the time, with the gradient
 * after. */
typedef struct drift {
    const ns_system *s;
    uint32_t n;
    ns_ex *terms;                  /* [2n + 1] */
    double *value, *y, *p, *shake; /* values of the terms; work */
} drift;

static drift drift_new(const ns_system *s, ns_ex quantity, const ns_ex *rates)
{
    const uint32_t n = s->states.n;
    drift d = {.s = s, .n = n};
    ns_ex *symbols = ns_system_state_symbols(s, s->arena);
    d.terms = NS_NEW_ARRAY(s->arena, ns_ex, 2 * (size_t)n + 1);
    d.value = NS_NEW_ARRAY(s->arena, double, 2 * (size_t)n + 1);
    d.y = NS_NEW_ARRAY(s->arena, double, n + 1);
    d.shake = NS_NEW_ARRAY(s->arena, double, n + 1);
    d.p = NS_NEW_ARRAY(s->arena, double, s->description->params.n + 1);
    symbols[n] = s->time;
    ns_diff_gradient(s->graph, quantity, symbols, n + 1, d.terms);
    for (uint32_t i = 0; i < n; i++) {
        d.terms[n + 1 + i] = d.terms[i];
        d.terms[i] = ns_mul(s->graph, d.terms[i], rates[i]);
    }
    return d;
}

/* The sum at y, and the sum of its terms' sizes. */
static double drift_at(const drift *d, const double *p, const double *y, double *size)
{
    double sum = 0;
    ns_system_eval(d->s, d->terms, 2 * (size_t)d->n + 1, 0, p, y, d->value);
    *size = 0;
    for (uint32_t i = 0; i <= d->n; i++) {
        sum += d->value[i];
        *size += fabs(d->value[i]);
    }
    return sum;
}

/* How much of the sum is rounding error: what becomes of it when states and parameters change
 * in their last bits.  That shows what cancels inside the terms too. */
static double drift_noise(const drift *d, const double *p, double sum, uint64_t *seed)
{
    enum { SHAKES = 4 };
    const uint32_t np = d->s->description->params.n;
    double noise = 0, size;
    for (int k = 0; k < SHAKES; k++) {
        for (uint32_t i = 0; i < d->n; i++)
            d->shake[i] = d->y[i] * (1 + DBL_EPSILON * (4 * ns_eval_random(seed) - 2));
        for (uint32_t i = 0; i < np; i++)
            d->p[i] = p[i] * (1 + DBL_EPSILON * (4 * ns_eval_random(seed) - 2));
        const double off = fabs(drift_at(d, d->p, d->shake, &size) - sum);
        noise = off > noise ? off : noise;
    }
    return noise;
}

/* How fast anything moves, against its size. */
static double pace_of(uint32_t n, const double *x, const double *rate)
{
    double pace = 0;
    for (uint32_t i = 0; i < n; i++)
        pace = ns_max(pace, fabs(rate[i]) / (fabs(x[i]) + 0.1 * fabs(rate[i]) + 0.01));
    return pace;
}

double ns_system_drift_rate(const ns_system *s, ns_ex quantity, const double *p,
                            const double *x)
{
    enum { TRIES = 8 };
    /* A sum that is all rounding error counts as this much of its size: a hundredth of what is
     * still called constant, as few shakes show less than the whole.  Real rates are 1e15 times
     * their noise if they are well conditioned, and stay what they are. */
    const double pure_noise = 1e-12;
    const uint32_t n = s->states.n;
    const ns_ex *rates = ns_system_state_rates(s, s->arena);
    const drift d = drift_new(s, quantity, rates);
    double *rate = NS_NEW_ARRAY(s->arena, double, n + 1);
    ns_system_eval(s, rates, n, 0, p, x, rate);
    double pace = pace_of(n, x, rate), *other = NS_NEW_ARRAY(s->arena, double, n + 1);
    uint64_t seed = 1982, dice = 1687;
    double total[TRIES], most[TRIES], noise[TRIES], largest = 0, worst = NAN;
    int tried = 0;
    for (int k = 0; k < TRIES; k++) {
        /* The size of a state, and how far it moves in a tenth of a second, set the scale. */
        for (uint32_t i = 0; i < n; i++) {
            double scale = fabs(x[i]) + 0.1 * fabs(rate[i]) + 0.01;
            d.y[i] = x[i] + (k ? 0.3 * scale * (2 * ns_eval_random(&seed) - 1) : 0);
        }
        if (k && (!ns_system_project(s, 0, p, d.y) || !same_branch(s, p, x, d.y)))
            continue;
        double size, usual = 0;
        const double sum = drift_at(&d, p, d.y, &size);
        for (uint32_t i = 0; i < n; i++)
            usual += fabs(d.value[n + 1 + i] * d.y[i]);
        if (!isfinite(size))
            continue;
        ns_system_eval(s, rates, n, 0, p, d.y, other); /* the start may be at rest */
        pace = ns_max(pace, pace_of(n, d.y, other));
        total[tried] = fabs(sum);
        noise[tried] = sum != 0 ? drift_noise(&d, p, sum, &dice) : 0;
        most[tried++] = size;
        /* where each term vanishes by itself, the terms are rounding errors too */
        largest = ns_max(largest, ns_max(size, isfinite(usual) ? pace * usual : 0));
    }
    /* Where everything vanishes by symmetry, rounding errors are all there is: such a state is
     * measured by the others. */
    for (int k = 0; k < tried; k++) {
        const double size = ns_max(most[k], 1e-3 * largest) + noise[k] / pure_noise;
        const double relative = size > 0 ? total[k] / size : 0;
        if (!(relative <= worst))
            worst = relative;
    }
    return worst;
}
