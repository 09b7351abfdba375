#include "study/orbits/variation.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/subst.h"

/* A jump x -> R(t, x) at g(t, x) = 0 takes a deviation v to
 *
 *     DR v + (DR f + R_t - f(R)) d,     d = -(dg v) / (dg f + g_t)
 *
 * as it is there by d later: the saltation matrix (Aizerman and Gantmacher 1958).  The states
 * of column j are n (j + 1) ... */
static void vary_jump(const ns_system *s, ns_system *e, uint32_t k, ns_event *event)
{
    ns_graph *g = s->graph;
    ns_arena *a = s->arena;
    const uint32_t n = s->states.n;
    const ns_jump *given = event->jump;
    ns_jump *j = ns_arena_copy(a, given, sizeof *j);
    j->resets.room = j->resets.n; /* copied when it grows */
    j->rest.n = j->rest_resets.n = 0;
    ns_ex *x = ns_system_state_symbols(s, a), *f = ns_system_state_rates(s, a);
    ns_ex *R = ns_arena_copy(a, x, (n + 1) * sizeof *x);
    ns_ex *Rf = NS_NEW_ARRAY(a, ns_ex, n + 1), *after = NS_NEW_ARRAY(a, ns_ex, n + 1);
    ns_ex *v = NS_NEW_ARRAY(a, ns_ex, n + 1), *Rv = NS_NEW_ARRAY(a, ns_ex, n + 1);
    ns_ex pace, gv;
    for (uint32_t i = 0; i < given->resets.n; i++)
        R[given->resets.at[i].state] = given->resets.at[i].value;
    ns_subst(g, f, n, x, R, n, after);
    x[n] = s->time;
    f[n] = ns_one(g);
    ns_diff_along(g, R, n, x, f, n + 1, Rf);
    ns_diff_along(g, &event->value, 1, x, f, n + 1, &pace);
    for (uint32_t c = 0; c < k; c++) {
        for (uint32_t i = 0; i < n; i++)
            v[i] = e->states.at[n * (c + 1) + i].symbol;
        ns_diff_along(g, R, n, x, v, n, Rv);
        ns_diff_along(g, &event->value, 1, x, v, n, &gv);
        const ns_ex d = ns_neg(g, ns_div(g, gv, pace));
        for (uint32_t i = 0; i < n; i++) {
            const ns_ex off = ns_mul(g, ns_sub(g, Rf[i], after[i]), d);
            const ns_reset one = {.state = n * (c + 1) + i, .value = ns_add(g, Rv[i], off)};
            NS_PUSH(a, j->resets, one);
        }
    }
    event->jump = j;
    if (given->call) { /* it cannot be differentiated */
        event->jump = NULL;
        event->action = NS_EVENT_STOP;
        event->meaning = "its jump is found by iteration and has no derivative here";
    }
}

ns_variation *ns_variation_new(ns_flow *flow, uint32_t k, const ns_surface *surfaces,
                               uint32_t n_surfaces)
{
    const ns_system *s = flow->system;
    ns_arena *a = s->arena; /* programs of a system live in its arena */
    const uint32_t n = flow->n;
    ns_variation *v = NS_NEW(flow->arena, ns_variation);
    v->flow = flow;
    v->n = n;
    v->k = k;
    v->y = NS_NEW_ARRAY(flow->arena, double, (size_t)n * (k + 1) + 1);
    ns_system *e = NS_NEW(a, ns_system);
    e->description = s->description;
    e->arena = a;
    e->graph = s->graph;
    e->formulation = s->formulation;
    e->time = s->time;
    e->constraints = s->constraints;
    e->own = s->own;
    const ns_ex *x = ns_system_state_symbols(s, a), *f = ns_system_state_rates(s, a);
    for (uint32_t i = 0; i < n; i++)
        NS_PUSH(a, e->states, s->states.at[i]);
    for (uint32_t j = 0; j < k; j++) {
        ns_ex *dx = NS_NEW_ARRAY(a, ns_ex, n + 1), *df = NS_NEW_ARRAY(a, ns_ex, n + 1);
        for (uint32_t i = 0; i < n; i++)
            dx[i] = ns_symbol_new(s->graph,
                                  ns_arena_format(a, "d%u %s", j + 1, s->states.at[i].name),
                                  NS_SYM_STATE, n * (j + 1) + i);
        ns_diff_along(s->graph, f, n, x, dx, n, df);
        for (uint32_t i = 0; i < n; i++)
            NS_PUSH(a, e->states,
                    (ns_state){.name = ns_graph_symbol(s->graph, dx[i])->name,
                               .symbol = dx[i],
                               .rate = df[i],
                               .unit = ""});
    }
    for (uint32_t i = 0; i < s->events.n; i++) {
        ns_event event = s->events.at[i];
        if (event.jump && k)
            vary_jump(s, e, k, &event);
        if (s->events.at[i].jump)
            NS_PUSH(a, e->events, event);
    }
    /* singularities end every run, and so do conditions under which the motion is none: a can
     * that has fallen; events of the model are for `run` */
    for (uint32_t i = 0; i < s->events.n; i++)
        if (!s->events.at[i].jump &&
            (s->events.at[i].action == NS_EVENT_SINGULAR ||
             (s->events.at[i].action == NS_EVENT_STOP && s->events.at[i].condition)))
            NS_PUSH(a, e->events, s->events.at[i]);
    /* the surfaces come last: their numbers are counted from the end */
    for (uint32_t i = 0; i < n_surfaces; i++)
        NS_PUSH(a, e->events,
                (ns_event){.name = "section",
                           .value = surfaces[i].value,
                           .direction = surfaces[i].direction,
                           .action = surfaces[i].stop ? NS_EVENT_STOP : NS_EVENT_RECORD});
    v->problem = ns_problem_new(e, false);
    return v;
}

ns_run *ns_variation_begin(ns_variation *v, const ns_run_options *options, const double *x,
                           const double *V, ns_status *status, const char **message)
{
    memcpy(v->y, x, v->n * sizeof *x);
    if (v->k)
        memcpy(v->y + v->n, V, (size_t)v->n * v->k * sizeof *V);
    return ns_run_new(v->problem, options, v->flow->p, v->y, status, message);
}

ns_status ns_variation_advance(ns_variation *v, ns_run_options options, double t0, double t1,
                               double *x, double *V, const char **message)
{
    ns_status status = NS_OK;
    options.t0 = t0;
    options.until = t1;
    if (v->last_step != 0)
        options.first_step = ns_min(fabs(v->last_step), fabs(t1 - t0));
    ns_run *run = ns_variation_begin(v, &options, x, V, &status, message);
    if (!run)
        return status;
    status = ns_run_to(run, t1);
    if (status == NS_OK) {
        ns_run_state_at(run, t1, v->y);
        memcpy(x, v->y, v->n * sizeof *x);
        if (v->k)
            memcpy(V, v->y + v->n, (size_t)v->n * v->k * sizeof *V);
        v->last_step = ns_run_outcome(run)->largest_step;
    } else if (message)
        *message = ns_arena_format(v->flow->arena, "%s (t = %.10g s)",
                                   ns_run_outcome(run)->reason, ns_run_time(run));
    ns_run_free(run);
    return status;
}

void ns_variation_tangent(ns_variation *v, const double *x, double *V)
{
    const uint32_t n = v->n;
    ns_arena *a = v->flow->scratch;
    if (!v->flow->m)
        return;
    const ns_arena_place mark = ns_arena_mark(a);
    double *N = NS_NEW_ARRAY(a, double, (size_t)n * n + 1);
    double *part = NS_NEW_ARRAY(a, double, (size_t)v->k * n + 1);
    const uint32_t t = ns_flow_tangent(v->flow, x, N);
    ns_flow_multiply_t(v->k, n, t, V, N, part);
    ns_flow_multiply(v->k, t, n, part, N, V);
    ns_arena_release(a, mark);
}
