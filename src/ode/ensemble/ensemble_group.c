/* Ensembles in lanes: memory of a bundle, and how lanes and their runs exchange a motion. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "base/check.h"
#include "ode/drive/drive.h"
#include "ode/ensemble/ensemble_lanes.h"

/* ---- memory ------------------------------------------------------------------------------ */

/* An array of vectors. */
static double *take(ns_layout *l, size_t count)
{
    return ns_layout_doubles(l, 8 * count);
}

static size_t layout(const ns_lanes *e, ns_lanes_group *g, ns_bundle *b, void *base)
{
    const ns_problem *problem = e->problem;
    const ns_system *system = problem->system;
    const size_t n = problem->n, n_ev = system->events.n, n_inv = system->invariants.n;
    ns_layout l = {.base = base};
    b->stride = 8 * (n + (n % 64 == 0)); /* not a multiple of a page */
    b->work = ns_layout_doubles(&l, ns_program_work8(problem->rhs));
    b->work_core = problem->core ? ns_layout_doubles(&l, ns_program_work8(problem->core))
                                 : NULL;
    NS_LAYOUT_EACH(&l, 8 * n, &b->x, &b->x_lo, &b->x0, &b->x0_lo, &b->x_new, &b->x_low,
                   &b->size, &b->noise, &b->w, &b->change, &b->x_try, &b->x_try_low);
    if (!e->kernel->by_parts) {
        b->K = take(&l, NS_BUNDLE_STAGES * b->stride / 8);
        b->F = take(&l, NS_BUNDLE_DENSE * n);
    } else {
        NS_LAYOUT_EACH(&l, 8 * n, &b->weight, &b->settle, &b->out, &b->room);
        NS_LAYOUT_EACH(&l, 64 * n, &b->K, &b->K_new);
        b->work_parts = ns_layout_doubles(&l, problem->cascade->work);
    }
    if (problem->correction) {
        b->work_manifold = ns_layout_doubles(&l, ns_program_work8(problem->shift));
        b->work_change = ns_layout_doubles(&l, ns_program_work8(problem->correction));
        b->g = take(&l, ns_program_nout(problem->shift));
        b->inputs = take(&l, n + problem->n_shift);
    } else {
        const size_t m = problem->n_manifold;
        b->work_manifold = ns_layout_doubles(&l, ns_program_work8(problem->manifold));
        b->g = take(&l, m * (n + 2));
        b->rows = take(&l, m * n);
        b->along = take(&l, m);
    }
    g->p = take(&l, problem->np);
    g->work_events = ns_layout_doubles(&l, ns_program_work8(problem->events));
    g->sign = take(&l, n_ev);
    for (int i = 0; i < 5; i++)
        g->value[i] = take(&l, ns_program_nout(problem->events));
    if (e->tally) {
        ns_lanes_seen *s = &g->seen;
        NS_LAYOUT_EACH(&l, 8 * (2 + n_inv), &s->first, &s->last, &s->off);
        s->scale = take(&l, 1 + n_inv);
        s->residual = take(&l, system->constraints.n);
        NS_LAYOUT_EACH(&l, 8 * (size_t)system->observables.n, &s->least, &s->most);
        s->work_monitor = ns_layout_doubles(&l, ns_program_work8(problem->monitor));
        s->work_residuals = ns_layout_doubles(&l, ns_program_work8(problem->residuals));
        s->work_observe = ns_layout_doubles(&l, ns_program_work8(problem->observables));
        size_t most = 2 + 2 * n_inv;
        most = system->constraints.n > most ? system->constraints.n : most;
        most = system->observables.n > most ? system->observables.n : most;
        g->out = take(&l, most);
    }
    return l.used;
}

bool ns_lanes_make_group(ns_lanes *e, ns_lanes_group *g, ns_status *status,
                         const char **message)
{
    ns_run_options o = e->options->run;
    o.only_stops = !e->options->events;
    g->b = aligned_alloc(64, sizeof *g->b);
    if (!g->b)
        return false;
    *g->b = (ns_bundle){.problem = e->problem, .n = e->problem->n};
    const size_t bytes = layout(e, g, g->b, NULL) + NS_LAYOUT_ALIGNMENT; /* never empty */
    g->memory = aligned_alloc(NS_LAYOUT_ALIGNMENT, bytes);
    if (!g->memory)
        return false;
    memset(g->memory, 0, bytes);
    const size_t placed = layout(e, g, g->b, g->memory);
    NS_CHECK(placed + NS_LAYOUT_ALIGNMENT == bytes);
    (void)placed;
    g->b->parts = e->kernel->by_parts ? ns_bundle_parts_new(g->b) : NULL;
    if (e->kernel->by_parts && !g->b->parts)
        return false;
    for (uint32_t l = 0; l < e->width; l++) {
        ns_lane *of = &g->lanes[l];
        of->run = ns_run_make(e->problem, &o, status, message);
        of->at = calloc((size_t)e->options->n_times * e->problem->n + 1, sizeof *of->at);
        if (!of->run || !of->at)
            return false;
        of->run->no_tally = !e->tally;
        of->run->s.fused = !e->options->unfused;
    }
    const ns_run *run = g->lanes[0].run;
    ns_bundle *b = g->b;
    b->sense = run->s.sense;
    b->until = run->s.until;
    b->tolerance = run->s.tolerance;
    b->max_step = run->s.max_step;
    b->fixed_step = run->s.fixed_step;
    b->least_size = run->s.least_size;
    b->driven = e->problem->drivers && !(b->fixed_step > 0);
    b->project = o.project && (e->problem->n_manifold > 0 || e->problem->correction);
    b->metric = run->metric;
    b->rates = e->options->unfused ? ns_program_eval8 : ns_program_eval8_fused;
    return true;
}

void ns_lanes_free_group(ns_lanes_group *g)
{
    for (uint32_t l = 0; l < 8; l++) {
        ns_run_free(g->lanes[l].run);
        free(g->lanes[l].at);
    }
    if (g->b)
        ns_bundle_parts_free(g->b->parts);
    free(g->memory);
    free(g->b);
}

/* The kernel for the lanes that the right-hand side is evaluated on. */
const ns_bundle_kernel *ns_lanes_kernel(const ns_problem *problem, const ns_method *method)
{
    const char *lanes = ns_program_lanes_name(problem->rhs);
    const ns_bundle_kernel *const *k = method->bundle;
    while (strcmp((*k)->name, lanes) != 0 && strcmp((*k)->name, "plain") != 0)
        k++;
    return *k;
}

/* ---- lanes and their runs ---------------------------------------------------------------- */

static void count(const ns_lanes_group *g, uint32_t l)
{
    const ns_bundle *b = g->b;
    ns_counters *now = &g->lanes[l].run->s.now;
    now->from = b->from[l];
    now->t = b->t[l];
    now->h = b->want[l];
    now->steps = (uint64_t)b->steps[l];
    now->rejected = (uint64_t)b->rejected[l];
    now->smallest = b->smallest[l];
    now->largest = b->largest[l];
}

/* Gives the run of a lane its state and its last step. */
ns_run *ns_lanes_hand_over(const ns_lanes *e, const ns_lanes_group *g, uint32_t l)
{
    NS_CHECK(l < e->width && g->b->live[l]);
    ns_run *run = g->lanes[l].run;
    const ns_bundle *b = g->b;
    ns_stepper *s = &run->s;
    count(g, l);
    ns_lanes_get(b->x, s->x, s->n, l);
    ns_lanes_get(b->x_lo, s->x_lo, s->n, l);
    ns_lanes_get(b->x0, s->x0, s->n, l);
    ns_lanes_get(b->x0_lo, s->x0_lo, s->n, l);
    ns_lanes_get(b->size, s->size, s->n, l);
    e->kernel->take(s, b, l);
    return run;
}

/* The same, ready to be looked at inside the last step. */
ns_run *ns_lanes_open_step(const ns_lanes *e, ns_lanes_group *g, uint32_t l)
{
    g->lanes[l].evaluations += e->kernel->dense(g->b);
    return ns_lanes_hand_over(e, g, l);
}

/* How far time lets the next step of a lane go. */
void ns_lanes_bound(ns_bundle *b, const ns_stepper *s, uint32_t l)
{
    b->end[l] = b->until;
    b->longest[l] = b->driven ? ns_drive_limit(s, &b->end[l]) : INFINITY;
}

/* Gives a lane the state of its run, from which the method has begun. */
void ns_lanes_give(const ns_lanes *e, ns_lanes_group *g, uint32_t l)
{
    const ns_stepper *s = &g->lanes[l].run->s;
    ns_bundle *b = g->b;
    ns_lanes_put(b->x, s->x, s->n, l);
    ns_lanes_put(b->x_lo, s->x_lo, s->n, l);
    ns_lanes_put(b->x0, s->x0, s->n, l);
    ns_lanes_put(b->x0_lo, s->x0_lo, s->n, l);
    e->kernel->give(s, b, l);
    b->t[l] = b->from[l] = s->now.t;
    b->want[l] = s->now.h;
    b->cautious[l] = 0;
    ns_lanes_bound(b, s, l);
}
