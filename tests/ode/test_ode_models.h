/* Small systems built by hand on the graph, for the tests of integration. */
#ifndef TEST_ODE_MODELS_H
#define TEST_ODE_MODELS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ode/method.h"
#include "ode/run.h"

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* Slope of log error against log step, by least squares. */
static inline double slope(const double *h, const double *error, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        const double x = log(h[i]), y = log(error[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

typedef struct model {
    ns_arena *arena;
    ns_graph *g;
    ns_system *s;
    const ns_problem *problem;
    ns_ex t, x[16], p[4];
    double x0[16], value[4]; /* initial state, parameters */
} model;

static inline model model_new(void)
{
    model m = {0};
    m.arena = ns_arena_new();
    assert_non_null(m.arena);
    m.g = ns_graph_new(m.arena);
    ns_description *d = NS_NEW(m.arena, ns_description);
    d->arena = m.arena;
    d->graph = m.g;
    m.s = NS_NEW(m.arena, ns_system);
    m.s->description = d;
    m.s->arena = m.arena;
    m.s->graph = m.g;
    m.t = ns_symbol_new(m.g, "t", NS_SYM_TIME, 0);
    m.s->time = m.t;
    d->time = m.t;
    return m;
}

static inline void model_free(model *m)
{
    ns_arena_free(m->arena);
}

static inline ns_ex model_state(model *m, const char *name, double start)
{
    const uint32_t i = m->s->states.n;
    m->x[i] = ns_symbol_new(m->g, name, NS_SYM_STATE, i);
    m->x0[i] = start;
    NS_PUSH(m->arena, m->s->states, (ns_state){.name = name, .symbol = m->x[i], .unit = ""});
    return m->x[i];
}

static inline void model_rate(model *m, uint32_t i, ns_ex rate)
{
    m->s->states.at[i].rate = rate;
}

static inline ns_ex model_param(model *m, const char *name, double value)
{
    ns_description *d = (ns_description *)m->s->description;
    const uint32_t i = d->params.n;
    m->p[i] = ns_symbol_new(m->g, name, NS_SYM_PARAM, i);
    m->value[i] = value;
    NS_PUSH(m->arena, d->params, (ns_param){.name = name, .symbol = m->p[i]});
    return m->p[i];
}

static inline void model_event(model *m, const char *name, ns_ex value, int direction,
                               ns_event_action action)
{
    NS_PUSH(m->arena, m->s->events,
            (ns_event){.name = name, .value = value, .direction = direction, .action = action});
}

static inline void model_constraint(model *m, const char *name, ns_ex residual, bool project)
{
    NS_PUSH(m->arena, m->s->constraints,
            (ns_constraint){.name = name, .residual = residual, .project = project});
}

static inline void model_invariant(model *m, const char *name, ns_ex value)
{
    NS_PUSH(m->arena, m->s->invariants, (ns_invariant){.name = name, .value = value});
}

static inline void model_observe(model *m, const char *name, ns_ex value)
{
    NS_PUSH(m->arena, m->s->observables,
            (ns_observable){.name = name, .value = value, .unit = "", .basic = true});
}

/* Builds the problem at first use. */
static inline ns_run *model_run(model *m, const ns_run_options *o)
{
    if (!m->problem)
        m->problem = ns_problem_new(m->s, true);
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(m->problem, o, m->value, m->x0, &status, &message);
    if (!run)
        fail_msg("ns_run_new: %s", message);
    return run;
}

static inline ns_run_options model_options(const char *method, double until, double tolerance)
{
    ns_run_options o = ns_run_defaults();
    o.method = method;
    o.until = until;
    o.tolerance = tolerance;
    return o;
}

/* ---- the systems ------------------------------------------------------------------------- */

/* x'' = -x */
static inline model model_oscillator(void)
{
    model m = model_new();
    const ns_ex x = model_state(&m, "x", 1), v = model_state(&m, "v", 0);
    model_rate(&m, 0, v);
    model_rate(&m, 1, ns_neg(m.g, x));
    const ns_ex half = ns_number(m.g, 0.5);
    m.s->kinetic = ns_mul(m.g, half, ns_mul(m.g, v, v));
    m.s->energy = ns_add(m.g, m.s->kinetic, ns_mul(m.g, half, ns_mul(m.g, x, x)));
    return m;
}

/* Kepler problem at pericentre with eccentricity e, period 2 pi. */
static inline model model_kepler(double e)
{
    model m = model_new();
    ns_graph *g = m.g;
    const ns_ex x = model_state(&m, "x", 1 - e), y = model_state(&m, "y", 0);
    const ns_ex u = model_state(&m, "u", 0), v = model_state(&m, "v", sqrt((1 + e) / (1 - e)));
    const ns_ex r2 = ns_add(g, ns_mul(g, x, x), ns_mul(g, y, y));
    const ns_ex r = ns_sqrt(g, r2), r3 = ns_mul(g, r2, r);
    model_rate(&m, 0, u);
    model_rate(&m, 1, v);
    model_rate(&m, 2, ns_neg(g, ns_div(g, x, r3)));
    model_rate(&m, 3, ns_neg(g, ns_div(g, y, r3)));
    m.s->kinetic = ns_mul(g, ns_number(g, 0.5), ns_add(g, ns_mul(g, u, u), ns_mul(g, v, v)));
    m.s->energy = ns_sub(g, m.s->kinetic, ns_div(g, ns_one(g), r));
    model_invariant(&m, "angular momentum", ns_sub(g, ns_mul(g, x, v), ns_mul(g, y, u)));
    return m;
}

/* Chaplygin sleigh with a mass on a spring along the blade, M = m = J = k = 1. */
static inline model model_sleigh(void)
{
    model m = model_new();
    ns_graph *g = m.g;
    const ns_ex r = model_state(&m, "r", 0), v = model_state(&m, "v", 1);
    const ns_ex p1 = model_state(&m, "p1", 1), p2 = model_state(&m, "p2", 0.3);
    const ns_ex theta = model_state(&m, "theta", 0);
    model_state(&m, "x", 0);
    model_state(&m, "y", 0);
    const ns_ex I = ns_add(g, ns_one(g), ns_mul(g, r, r));
    const ns_ex xi = ns_div(g, p1, I), xi2 = ns_mul(g, xi, xi);
    const ns_ex u = ns_mul(g, ns_number(g, 0.5), ns_sub(g, p2, v));
    model_rate(&m, 0, v);
    model_rate(&m, 1, ns_mul(g, r, ns_sub(g, xi2, ns_number(g, 2))));
    model_rate(&m, 2, ns_neg(g, ns_mul(g, ns_mul(g, r, xi), u)));
    model_rate(&m, 3, ns_mul(g, r, xi2));
    model_rate(&m, 4, xi);
    model_rate(&m, 5, ns_mul(g, u, ns_cos(g, theta)));
    model_rate(&m, 6, ns_mul(g, u, ns_sin(g, theta)));
    return m;
}

/* theta'' = -sin theta */
static inline model model_pendulum(double theta0, double omega0)
{
    model m = model_new();
    const ns_ex theta = model_state(&m, "theta", theta0), w = model_state(&m, "omega", omega0);
    model_rate(&m, 0, w);
    model_rate(&m, 1, ns_neg(m.g, ns_sin(m.g, theta)));
    m.s->kinetic = ns_mul(m.g, ns_number(m.g, 0.5), ns_mul(m.g, w, w));
    m.s->energy = ns_sub(m.g, m.s->kinetic, ns_cos(m.g, theta));
    return m;
}

/* Complete elliptic integral K(k) by the arithmetic-geometric mean. */
static inline double model_elliptic(double k)
{
    double a = 1, b = sqrt(1 - k * k);
    for (int i = 0; i < 8; i++) {
        const double c = sqrt(a * b);
        a = (a + b) / 2;
        b = c;
    }
    return M_PI / (2 * a);
}

#endif
