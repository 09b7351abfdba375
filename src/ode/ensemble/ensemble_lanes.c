/* An ensemble in lanes: lanes are given motions, stepped by the kernels, looked at after every
 * step, and emptied. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "base/check.h"
#include "ode/ensemble/ensemble_lanes.h"

/* ---- filling and emptying ---------------------------------------------------------------- */

/* The wanted times up to the present one, which lie in the last step. */
void ns_lanes_keep_states(const ns_lanes *e, ns_lane *of)
{
    const ns_ensemble_options *o = e->options;
    ns_run *run = of->run;
    const uint32_t n = run->s.n;
    while (of->time < o->n_times && (run->s.now.t - o->times[of->time]) * run->s.sense >= 0) {
        ns_run_dense(run, o->times[of->time], of->at + (size_t)of->time * n);
        of->time++;
    }
}

/* Tells the client of a motion whose run is as it ended. */
void ns_lanes_report(ns_lanes *e, ns_lane *of)
{
    for (size_t i = (size_t)of->time * e->problem->n;
         i < (size_t)e->options->n_times * e->problem->n; i++)
        of->at[i] = NAN;
    if (!ns_ensemble_report(e->options, e->client, of->run, of->id, of->at))
        e->stopped = true;
}

/* Starts motions in the run of a lane until one has somewhere to go. */
static bool start(ns_lanes *e, ns_lane *of)
{
    const ns_ensemble_options *o = e->options;
    while (!e->stopped && !e->dry) {
        const char *why;
        if (!e->client->next(e->client->context, &of->id, e->p, e->x0)) {
            e->dry = true;
            break;
        }
        const ns_status status = ns_run_start(of->run, e->p, e->x0, &why);
        if (status != NS_OK) {
            e->stopped = !ns_ensemble_refuse(o, e->client, of->run, status, why, of->id, e->x0,
                                             of->at);
            continue;
        }
        of->time = 0;
        of->evaluations = of->run->s.now.evaluations;
        ns_lanes_keep_states(e, of);
        if (o->run.until != o->run.t0)
            return true;
        ns_lanes_report(e, of);
    }
    return false;
}

static void load(ns_lanes *e, ns_lanes_group *g, uint32_t l)
{
    ns_lane *of = &g->lanes[l];
    ns_bundle *b = g->b;
    if (!start(e, of))
        return;
    const ns_stepper *s = &of->run->s;
    const uint32_t n = s->n, n_ev = e->problem->system->events.n;
    ns_lanes_put(g->p, s->p, e->problem->np, l);
    ns_lanes_give(e, g, l);
    ns_lanes_put(b->size, s->size, n, l);
    ns_lanes_put_noise(b, s, l);
    ns_lanes_put(g->sign, of->run->event_sign, n_ev, l);
    ns_lanes_put(g->value[4], of->run->events_now, ns_program_nout(e->look), l);
    b->probe_at[l] = ns_lanes_next_probe(0, false);
    b->steps[l] = b->rejected[l] = b->smallest[l] = b->largest[l] = b->evaluations[l] = 0;
    b->judge[l] = ns_lanes_next_judgement(&e->options->run, 0);
    b->live[l] = -1;
    e->live++;
    g->rebind = true;
    if (e->tally)
        ns_lanes_tally_load(e, g, l);
}

void ns_lanes_release(ns_lanes *e, ns_lanes_group *g, uint32_t l)
{
    NS_CHECK(e->live > 0 && g->b->live[l]);
    g->b->live[l] = 0;
    e->live--;
    e->changed = true;
}

/* The motion of a lane is at its end; its run has been given its state. */
void ns_lanes_unload(ns_lanes *e, ns_lanes_group *g, uint32_t l)
{
    ns_lane *of = &g->lanes[l];
    ns_lanes_release(e, g, l);
    of->run->s.now.evaluations = of->evaluations + (uint64_t)g->b->evaluations[l];
    if (e->tally)
        ns_lanes_tally_store(e, g, l);
    ns_lanes_report(e, of);
}

/* Lanes without a motion are given the state of one that has: numbers nothing goes wrong
 * with. */
static void idle(const ns_lanes *e, ns_lanes_group *g)
{
    ns_bundle *b = g->b;
    uint32_t from = 0;
    while (from < 8 && !b->live[from])
        from++;
    if (from == 8)
        return;
    double *const states[] = {b->x, b->x_lo, b->x0, b->x0_lo, b->size, b->noise};
    for (uint32_t l = 0; l < 8; l++) {
        if (b->live[l])
            continue;
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            for (uint32_t s = 0; s < b->n; s++)
                states[i][8 * (size_t)s + l] = states[i][8 * (size_t)s + from];
        for (size_t s = 0; s < (size_t)e->kernel->kept * b->n; s++)
            b->K[8 * s + l] = b->K[8 * s + from];
        for (uint32_t k = 0; k < e->problem->np; k++)
            g->p[8 * (size_t)k + l] = g->p[8 * (size_t)k + from];
        b->t[l] = b->from[l] = b->t[from];
        b->want[l] = b->want[from];
        b->longest[l] = b->longest[from];
        b->end[l] = b->end[from];
        b->base[l] = b->base[from];
        b->shift[l] = b->shift[from];
        b->fresh[l] = b->unsound[l] = 0;
    }
}

static void refill(ns_lanes *e, ns_lanes_group *g)
{
    if (g->b->sweeping)
        return;
    for (uint32_t l = 0; l < e->width && !e->dry; l++)
        if (!g->b->live[l])
            load(e, g, l);
    if (!g->rebind)
        return;
    const ns_problem *problem = e->problem;
    ns_bundle *b = g->b;
    idle(e, g);
    g->rebind = false;
    ns_program_bind8(problem->rhs, b->work, g->p);
    if (problem->core)
        ns_program_bind8(problem->core, b->work_core, g->p);
    for (uint32_t k = 0; e->kernel->by_parts && k < b->parts->part[b->parts->n - 1].call_end;
         k++)
        if (b->parts->call[k].work != b->work)
            ns_program_bind8(b->parts->call[k].program, b->parts->call[k].work, g->p);
    if (problem->correction) {
        ns_program_bind8(problem->shift, b->work_manifold, g->p);
        ns_program_bind8(problem->correction, b->work_change, g->p);
    } else
        ns_program_bind8(problem->manifold, b->work_manifold, g->p);
    ns_program_bind8(e->look, g->work_events, g->p);
    if (e->tally) {
        ns_program_bind8(problem->monitor, g->seen.work_monitor, g->p);
        ns_program_bind8(problem->residuals, g->seen.work_residuals, g->p);
        ns_program_bind8(problem->observables, g->seen.work_observe, g->p);
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Groups with a motion in them. */
static uint32_t find_busy(ns_lanes *e, ns_lanes_group **busy)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < e->n_groups; k++) {
        int64_t some = 0;
        for (uint32_t l = 0; l < 8; l++)
            some |= e->groups[k].b->live[l];
        if (some)
            busy[n++] = &e->groups[k];
    }
    return n;
}

static void run_all(ns_lanes *e)
{
    ns_bundle *bundles[NS_BUNDLE_MOST];
    ns_lanes_group *busy[NS_BUNDLE_MOST];
    uint32_t n = 0;
    e->changed = true;
    while (!e->stopped) {
        if (e->changed) {
            e->changed = false;
            for (uint32_t k = 0; k < e->n_groups && !e->stopped; k++)
                refill(e, &e->groups[k]);
            n = find_busy(e, busy);
            for (uint32_t k = 0; k < n; k++)
                bundles[k] = busy[k]->b;
        }
        if (e->stopped || n == 0)
            return;
        const unsigned ended = e->kernel->attempt(bundles, n);
        NS_CHECK(ended && ended < 1u << n);
        for (uint32_t k = 0; k < n && !e->stopped; k++)
            if (ended >> k & 1)
                ns_lanes_look_after(e, busy[k]);
    }
}

static void choose_watch(ns_lanes *e)
{
    const ns_probes *probes = e->problem->probes;
    const ns_bundle_watch *watch = &e->watch;
    for (uint32_t i = 0; i < probes->n_events; i++) {
        watch->event[i] = ns_events_wanted(e->groups[0].lanes[0].run, i);
        e->n_watch += watch->event[i];
        for (uint32_t k = 0; k < probes->n && watch->event[i]; k++)
            watch->probe[k] = watch->probe[k] || ns_probes_has(probes, i, k);
    }
}

ns_status ns_ensemble_in_lanes(const ns_problem *problem, const ns_ensemble_options *options,
                               const ns_ensemble_client *client, const char **message)
{
    const uint32_t n_ev = problem->system->events.n;
    const ns_method *method = ns_method_find(options->run.method);
    ns_lanes e = {.problem = problem,
                  .options = options,
                  .client = client,
                  .kernel = ns_lanes_kernel(problem, method),
                  .tally = options->extremes || options->diagnostics,
                  .look = options->events ? problem->events : problem->stops,
                  .width = options->lanes ? options->lanes : 8,
                  .n_groups = options->lanes ? 1 : NS_BUNDLE_MOST};
    ns_status status = NS_ERR_MEMORY;
    *message = "out of memory";
    e.p = calloc((size_t)problem->np + problem->n + 1, sizeof *e.p);
    e.x0 = e.p ? e.p + problem->np : NULL;
    e.watch.probes = problem->probes;
    e.watch.event = calloc((size_t)n_ev + problem->probes->n + 1, sizeof *e.watch.event);
    e.watch.probe = e.watch.event ? e.watch.event + n_ev : NULL;
    bool good = e.p && e.watch.event;
    for (uint32_t k = 0; k < e.n_groups && good; k++)
        good = ns_lanes_make_group(&e, &e.groups[k], &status, message);
    if (good) {
        choose_watch(&e);
        run_all(&e);
        status = NS_OK;
        *message = "";
    }
    for (uint32_t k = 0; k < NS_BUNDLE_MOST; k++)
        ns_lanes_free_group(&e.groups[k]);
    free(e.watch.event);
    free(e.p);
    return status;
}
