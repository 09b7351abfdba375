/* An ensemble in lanes: lanes are given motions, stepped by the kernels, looked at after every
 * step, and emptied. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "base/math/vecmath.h"
#include "ode/drive/drive.h"
#include "ode/ensemble/ensemble_internal.h"
#include "ode/ensemble/ensemble_kernel.h"

typedef struct lane {
    ns_run *run;
    uint64_t id;
    uint32_t time;        /* of the wanted times the next */
    uint64_t evaluations; /* beside those of the attempts */
    double *at;           /* [n_times][n] */
} lane;

/* What has been seen of the motions of a bundle: arrays [quantity][8]. */
typedef struct seen {
    double *first, *last; /* [2 + invariants]: energy, kinetic energy, invariants */
    double *off;          /* [2 + invariants] largest change */
    double *scale;        /* [1 + invariants]: kinetic energy, sizes of the terms */
    double *residual;     /* [constraints] */
    double *least, *most; /* [observables] */
    double *work_monitor, *work_residuals, *work_observe;
} seen;

typedef struct group {
    ns_bundle *b;
    lane lanes[8];
    seen seen;
    bool rebind; /* parameters have changed */
    double *p;   /* [np][8] */
    double *work_events;
    double *sign; /* [events] as ns_run.event_sign */
    /* [events and probes] at the beginning, a quarter, ... of the last step */
    double *value[5];
    double *out; /* room for outputs */
    void *memory;
} group;

typedef struct ensemble {
    const ns_problem *problem;
    const ns_ensemble_options *options;
    const ns_ensemble_client *client;
    const ns_bundle_kernel *kernel;
    bool tally;
    const ns_program *look; /* for events */
    ns_bundle_watch watch;
    uint32_t n_watch;
    double *p, *x0; /* of a motion */
    group groups[NS_BUNDLE_MOST];
    uint32_t n_groups, width;
    uint32_t live;
    bool changed; /* a motion has ended */
    bool dry;     /* no more motions */
    bool stopped; /* by the client */
} ensemble;

/* ---- memory ------------------------------------------------------------------------------ */

/* An array of vectors. */
static double *take(ns_layout *l, size_t count)
{
    return ns_layout_doubles(l, 8 * count);
}

static size_t layout(const ensemble *e, group *g, ns_bundle *b, void *base)
{
    const ns_problem *problem = e->problem;
    const ns_system *system = problem->system;
    const size_t n = problem->n, n_ev = system->events.n, n_inv = system->invariants.n;
    ns_layout l = {.base = base};
    b->stride = 8 * (n + (n % 64 == 0)); /* not a multiple of a page */
    b->work = ns_layout_doubles(&l, ns_program_work8(problem->rhs));
    b->work_core = problem->core ? ns_layout_doubles(&l, ns_program_work8(problem->core))
                                 : NULL;
    double **const states[] = {&b->x,     &b->x_lo,   &b->x0,    &b->x0_lo,
                               &b->x_new, &b->x_low,  &b->size,  &b->noise,
                               &b->w,     &b->change, &b->x_try, &b->x_try_low};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        *states[i] = take(&l, n);
    if (!e->kernel->by_parts) {
        b->K = take(&l, NS_BUNDLE_STAGES * b->stride / 8);
        b->F = take(&l, NS_BUNDLE_DENSE * n);
    } else {
        double **const more[] = {&b->weight, &b->settle, &b->out, &b->room};
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            *more[i] = take(&l, n);
        b->K = take(&l, 8 * n);
        b->K_new = take(&l, 8 * n);
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
        seen *s = &g->seen;
        s->first = take(&l, 2 + n_inv);
        s->last = take(&l, 2 + n_inv);
        s->off = take(&l, 2 + n_inv);
        s->scale = take(&l, 1 + n_inv);
        s->residual = take(&l, system->constraints.n);
        s->least = take(&l, system->observables.n);
        s->most = take(&l, system->observables.n);
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

static bool make_group(ensemble *e, group *g, ns_status *status, const char **message)
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
    layout(e, g, g->b, g->memory);
    g->b->parts = e->kernel->by_parts ? ns_bundle_parts_new(g->b) : NULL;
    if (e->kernel->by_parts && !g->b->parts)
        return false;
    for (uint32_t l = 0; l < e->width; l++) {
        lane *of = &g->lanes[l];
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

static void free_group(group *g)
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
static const ns_bundle_kernel *kernel_for(const ns_problem *problem, const ns_method *method)
{
    const char *lanes = ns_program_lanes_name(problem->rhs);
    const ns_bundle_kernel *const *k = method->bundle;
    while (strcmp((*k)->name, lanes) != 0 && strcmp((*k)->name, "plain") != 0)
        k++;
    return *k;
}

/* ---- lanes and their runs ---------------------------------------------------------------- */

static void put(double *block, const double *values, uint32_t n, uint32_t l)
{
    for (uint32_t i = 0; i < n; i++)
        block[8 * (size_t)i + l] = values[i];
}

static void get(const double *block, double *values, uint32_t n, uint32_t l)
{
    for (uint32_t i = 0; i < n; i++)
        values[i] = block[8 * (size_t)i + l];
}

/* Four times the noise counts as no error of the method. */
static void put_noise(ns_bundle *b, const ns_stepper *s, uint32_t l)
{
    for (uint32_t i = 0; i < s->n; i++)
        b->noise[8 * (size_t)i + l] = 4 * s->noise[i];
}

static void count(const group *g, uint32_t l)
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
static ns_run *hand_over(const ensemble *e, const group *g, uint32_t l)
{
    ns_run *run = g->lanes[l].run;
    const ns_bundle *b = g->b;
    ns_stepper *s = &run->s;
    count(g, l);
    get(b->x, s->x, s->n, l);
    get(b->x_lo, s->x_lo, s->n, l);
    get(b->x0, s->x0, s->n, l);
    get(b->x0_lo, s->x0_lo, s->n, l);
    get(b->size, s->size, s->n, l);
    e->kernel->take(s, b, l);
    return run;
}

/* The same, ready to be looked at inside the last step. */
static ns_run *open_step(const ensemble *e, group *g, uint32_t l)
{
    g->lanes[l].evaluations += e->kernel->dense(g->b);
    return hand_over(e, g, l);
}

static void tally_load(const ensemble *e, group *g, uint32_t l)
{
    const ns_system *system = e->problem->system;
    ns_run *run = g->lanes[l].run;
    seen *s = &g->seen;
    const uint32_t n_inv = system->invariants.n;
    ns_tally_flush(run); /* the start */
    s->first[l] = s->last[l] = run->tally.energy_first;
    s->off[l] = run->tally.energy_off;
    s->scale[l] = run->tally.kinetic_most;
    put(s->first + 16, run->invariant_first, n_inv, l);
    put(s->off + 16, run->invariant_off, n_inv, l);
    put(s->scale + 8, run->invariant_scale, n_inv, l);
    put(s->residual, run->residual, system->constraints.n, l);
    put(s->least, run->observable_min, system->observables.n, l);
    put(s->most, run->observable_max, system->observables.n, l);
}

static void tally_store(const ensemble *e, const group *g, uint32_t l)
{
    const ns_system *system = e->problem->system;
    ns_run *run = g->lanes[l].run;
    const seen *s = &g->seen;
    const uint32_t n_inv = system->invariants.n;
    run->tally.energy_last = s->last[l];
    run->tally.energy_off = s->off[l];
    run->tally.kinetic_most = s->scale[l];
    get(s->off + 16, run->invariant_off, n_inv, l);
    get(s->scale + 8, run->invariant_scale, n_inv, l);
    get(s->residual, run->residual, system->constraints.n, l);
    get(s->least, run->observable_min, system->observables.n, l);
    get(s->most, run->observable_max, system->observables.n, l);
}

/* ---- filling and emptying ---------------------------------------------------------------- */

/* The wanted times up to the present one, which lie in the last step. */
static void keep_states(const ensemble *e, lane *of)
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
static void report(ensemble *e, lane *of)
{
    for (size_t i = (size_t)of->time * e->problem->n;
         i < (size_t)e->options->n_times * e->problem->n; i++)
        of->at[i] = NAN;
    if (!ns_ensemble_report(e->options, e->client, of->run, of->id, of->at))
        e->stopped = true;
}

/* Starts motions in the run of a lane until one has somewhere to go. */
static bool start(ensemble *e, lane *of)
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
        keep_states(e, of);
        if (o->run.until != o->run.t0)
            return true;
        report(e, of);
    }
    return false;
}

/* How far time lets the next step of a lane go. */
static void bound(ns_bundle *b, const ns_stepper *s, uint32_t l)
{
    b->end[l] = b->until;
    b->longest[l] = b->driven ? ns_drive_limit(s, &b->end[l]) : INFINITY;
}

/* Gives a lane the state of its run, from which the method has begun. */
static void give(const ensemble *e, group *g, uint32_t l)
{
    const ns_stepper *s = &g->lanes[l].run->s;
    ns_bundle *b = g->b;
    put(b->x, s->x, s->n, l);
    put(b->x_lo, s->x_lo, s->n, l);
    put(b->x0, s->x0, s->n, l);
    put(b->x0_lo, s->x0_lo, s->n, l);
    e->kernel->give(s, b, l);
    b->t[l] = b->from[l] = s->now.t;
    b->want[l] = s->now.h;
    b->cautious[l] = 0;
    bound(b, s, l);
}

/* Lanes whose motion has come to a switch go to its other side; all learn how far they may
 * go. */
static void look_at_clock(const ensemble *e, group *g, unsigned going)
{
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8; l++) {
        if (!(going >> l & 1) || !b->live[l])
            continue;
        ns_stepper *s = &g->lanes[l].run->s;
        s->now.t = b->t[l];
        double at, beyond;
        if (b->t[l] == b->until || !ns_drive_switch(s, &at, &beyond)) {
            bound(b, s, l);
            continue;
        }
        ns_run *run = hand_over(e, g, l);
        const uint64_t before = run->s.now.evaluations;
        if (ns_run_cross(run) != NS_OK)
            b->singular |= 1u << l;
        b->ended |= (unsigned)(run->s.now.t == b->until) << l;
        g->lanes[l].evaluations += run->s.now.evaluations - before;
        give(e, g, l);
    }
}

/* Number of the step at which the noise of the rates is measured next, after so many. */
static double next_probe(double steps, bool noisy)
{
    enum { NOW_AND_THEN = 1024 };
    return steps + (noisy ? NS_STEPPER_SOON : NOW_AND_THEN);
}

/* Number of the step at which a motion is judged next, after so many. */
static double next_judgement(const ns_run_options *o, double steps)
{
    const double next = steps + NS_STEPPER_WINDOW, most = (double)o->max_steps;
    return most > 0 && most < next ? most : next;
}

static void load(ensemble *e, group *g, uint32_t l)
{
    lane *of = &g->lanes[l];
    ns_bundle *b = g->b;
    if (!start(e, of))
        return;
    const ns_stepper *s = &of->run->s;
    const uint32_t n = s->n, n_ev = e->problem->system->events.n;
    put(g->p, s->p, e->problem->np, l);
    give(e, g, l);
    put(b->size, s->size, n, l);
    put_noise(b, s, l);
    put(g->sign, of->run->event_sign, n_ev, l);
    put(g->value[4], of->run->events_now, ns_program_nout(e->look), l);
    b->probe_at[l] = next_probe(0, false);
    b->steps[l] = b->rejected[l] = b->smallest[l] = b->largest[l] = b->evaluations[l] = 0;
    b->judge[l] = next_judgement(&e->options->run, 0);
    b->live[l] = -1;
    e->live++;
    g->rebind = true;
    if (e->tally)
        tally_load(e, g, l);
}

static void release(ensemble *e, group *g, uint32_t l)
{
    g->b->live[l] = 0;
    e->live--;
    e->changed = true;
}

/* The motion of a lane is at its end; its run has been given its state. */
static void unload(ensemble *e, group *g, uint32_t l)
{
    lane *of = &g->lanes[l];
    release(e, g, l);
    of->run->s.now.evaluations = of->evaluations + (uint64_t)g->b->evaluations[l];
    if (e->tally)
        tally_store(e, g, l);
    report(e, of);
}

/* Lanes without a motion are given the state of one that has: numbers nothing goes wrong
 * with. */
static void idle(const ensemble *e, group *g)
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

static void refill(ensemble *e, group *g)
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

/* ---- after every step -------------------------------------------------------------------- */

static void sample(const ensemble *e, group *g, double u, double *values)
{
    ns_bundle *b = g->b;
    if (u < 1) {
        e->kernel->inside(b, u);
        ns_program_eval8(e->look, g->work_events, b->stage_t, b->w, values);
    } else
        ns_program_eval8(e->look, g->work_events, b->t, b->x, values);
}

/* Lanes in which events may have happened: from values at three points of the step, and at five
 * where these leave it open. */
static unsigned find_suspects(const ensemble *e, group *g)
{
    double **const v = g->value;
    double *const last = v[0];
    v[0] = v[4];
    v[4] = last;
    sample(e, g, 1, v[4]);
    sample(e, g, 0.5, v[2]);
    const double *const three[] = {v[0], v[2], v[4]};
    unsigned found = e->kernel->suspects(&e->watch, g->sign, three, 3) & g->b->accepted;
    if (!found)
        return 0;
    sample(e, g, 0.25, v[1]);
    sample(e, g, 0.75, v[3]);
    const double *const five[] = {v[0], v[1], v[2], v[3], v[4]};
    return found & e->kernel->suspects(&e->watch, g->sign, five, 5);
}

/* Events and ranks.  A lane that is to stop has its run as it ended. */
static unsigned look_for_events(ensemble *e, group *g)
{
    const uint32_t n_ev = e->problem->system->events.n;
    ns_bundle *b = g->b;
    unsigned suspects = e->n_watch ? find_suspects(e, g) : 0, stopped = 0;
    const unsigned look = e->problem->system->watch ? b->accepted : suspects;
    for (uint32_t l = 0; l < 8; l++) {
        if (!(look >> l & 1))
            continue;
        ns_run *run = open_step(e, g, l);
        ns_status status = NS_OK;
        if (suspects >> l & 1) {
            get(g->value[0], run->event_value, n_ev, l);
            get(g->sign, run->event_sign, n_ev, l);
            status = ns_events_scan(run);
            put(g->sign, run->event_sign, n_ev, l);
            put(g->value[4], run->event_value, n_ev, l);
        }
        if (status == NS_OK)
            status = ns_rank_step(run);
        if (status == NS_OK)
            continue;
        stopped |= 1u << l;
        put(b->x, run->s.x, b->n, l); /* the step may have been cut */
        put(b->x_lo, run->s.x_lo, b->n, l);
        b->t[l] = run->s.now.t;
    }
    return stopped;
}

static void look_at_times(ensemble *e, group *g, unsigned stopped)
{
    const ns_ensemble_options *o = e->options;
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8; l++) {
        lane *of = &g->lanes[l];
        if (!(b->accepted >> l & 1) || of->time >= o->n_times ||
            (b->t[l] - o->times[of->time]) * b->sense < 0)
            continue;
        if (!(stopped >> l & 1))
            open_step(e, g, l);
        keep_states(e, of);
    }
}

/* Largest changes, residuals and extremes: ns_tally_flush with one step end in every lane. */
static void tally(const ensemble *e, group *g)
{
    const ns_problem *problem = e->problem;
    const ns_system *system = problem->system;
    const ns_bundle *b = g->b;
    seen *s = &g->seen;
    const uint32_t n_inv = system->invariants.n;
    double *out = g->out;
    ns_program_eval8(problem->monitor, s->work_monitor, b->t, b->x, out);
    for (uint32_t l = 0; l < 8; l++) {
        if (!(b->accepted >> l & 1))
            continue;
        const double off = fabs(out[l] - s->first[l]);
        s->off[l] = off > s->off[l] || isnan(off) ? off : s->off[l];
        s->scale[l] = ns_max(s->scale[l], fabs(out[8 + l]));
        s->last[l] = out[l];
        for (uint32_t i = 0; i < n_inv; i++) {
            const size_t at = 8 * (size_t)i + l;
            s->off[16 + at] = ns_max(s->off[16 + at], fabs(out[16 + at] - s->first[16 + at]));
            s->scale[8 + at] = ns_max(s->scale[8 + at], out[8 * (2 + (size_t)n_inv) + at]);
        }
    }
    ns_program_eval8(problem->residuals, s->work_residuals, b->t, b->x, out);
    for (uint32_t i = 0; i < system->constraints.n; i++)
        for (uint32_t l = 0; l < 8; l++)
            if (b->accepted >> l & 1)
                s->residual[8 * i + l] = ns_max(s->residual[8 * i + l], fabs(out[8 * i + l]));
    if (!e->options->extremes)
        return;
    ns_program_eval8(problem->observables, s->work_observe, b->t, b->x, out);
    for (uint32_t i = 0; i < system->observables.n; i++)
        for (uint32_t l = 0; l < 8; l++)
            if (b->accepted >> l & 1) {
                s->least[8 * i + l] = ns_min(s->least[8 * i + l], out[8 * i + l]);
                s->most[8 * i + l] = ns_max(s->most[8 * i + l], out[8 * i + l]);
            }
}

/* Measures the noise of the rates in the lanes that ask for it. */
static void probe(group *g)
{
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8; l++) {
        lane *of = &g->lanes[l];
        if (!(b->probe >> l & 1) || !b->live[l])
            continue;
        ns_stepper *s = &of->run->s;
        s->now.from = b->from[l];
        s->now.t = b->t[l];
        get(b->x, s->x, s->n, l);
        get(b->size, s->size, s->n, l);
        const uint64_t before = s->now.evaluations;
        ns_stepper_measure_noise(s);
        of->evaluations += s->now.evaluations - before;
        put_noise(b, s, l);
        b->probe_at[l] = next_probe(b->steps[l], s->now.noisy);
    }
}

/* Lanes whose motion is at its end, well or not. */
static void end_motions(ensemble *e, group *g, unsigned stopped)
{
    const ns_run_options *o = &e->options->run;
    ns_bundle *b = g->b;
    const bool interrupted = o->interrupt && *o->interrupt;
    const unsigned failed = b->singular | b->tiny;
    for (uint32_t l = 0; l < 8 && !e->stopped; l++) {
        if (!b->live[l])
            continue;
        ns_run *run = g->lanes[l].run;
        const bool fails = failed >> l & 1, judged = b->judged >> l & 1;
        if (stopped >> l & 1) {
            unload(e, g, l);
            continue;
        }
        if (b->t[l] != b->until && !fails && !judged && !interrupted)
            continue;
        hand_over(e, g, l);
        if (fails) {
            const bool rates = b->singular >> l & 1 || b->refused[l];
            run->s.why = rates            ? NS_WHY_NOT_FINITE
                         : b->diverged[l] ? NS_WHY_ITERATION
                                          : NS_WHY_STEP;
            ns_run_explain(run, rates ? NS_STOP_SINGULAR : NS_STOP_STEP);
        } else if (b->t[l] == b->until) {
            /* all is well */
        } else if (interrupted)
            ns_run_interrupt(run);
        else if (ns_run_judge(run) == NS_OK) {
            b->judge[l] = next_judgement(o, b->steps[l]);
            continue;
        }
        unload(e, g, l);
    }
}

/* Motions that are better off alone (stiff ones, with Newton's iteration): their runs go on
 * from where they are. */
static void let_go(ensemble *e, group *g)
{
    const uint32_t n_ev = e->problem->system->events.n;
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8 && !e->stopped; l++) {
        if (!(b->leave >> l & 1) || !b->live[l])
            continue;
        lane *of = &g->lanes[l];
        ns_run *run = hand_over(e, g, l);
        run->s.now.evaluations = of->evaluations + (uint64_t)b->evaluations[l];
        get(g->sign, run->event_sign, n_ev, l);
        get(g->value[4], run->event_value, n_ev, l);
        if (e->tally)
            tally_store(e, g, l);
        release(e, g, l);
        of->time = ns_ensemble_follow(run, e->options, of->time, of->at);
        report(e, of);
    }
}

static void look_after(ensemble *e, group *g)
{
    unsigned stopped = 0;
    if (e->n_watch || e->problem->system->watch)
        stopped = look_for_events(e, g);
    if (e->options->n_times)
        look_at_times(e, g, stopped);
    if (e->tally)
        tally(e, g);
    if (g->b->driven)
        look_at_clock(e, g, g->b->accepted & ~stopped);
    const ns_run_options *o = &e->options->run;
    if (stopped | g->b->ended | g->b->singular | g->b->tiny | g->b->judged || o->interrupt)
        end_motions(e, g, stopped);
    if (g->b->leave)
        let_go(e, g);
    if (g->b->probe)
        probe(g);
}

/* ---- all of it --------------------------------------------------------------------------- */

/* Groups with a motion in them. */
static uint32_t find_busy(ensemble *e, group **busy)
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

static void run_all(ensemble *e)
{
    ns_bundle *bundles[NS_BUNDLE_MOST];
    group *busy[NS_BUNDLE_MOST];
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
        for (uint32_t k = 0; k < n && !e->stopped; k++)
            if (ended >> k & 1)
                look_after(e, busy[k]);
    }
}

static void choose_watch(ensemble *e)
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
    ensemble e = {.problem = problem,
                  .options = options,
                  .client = client,
                  .kernel = kernel_for(problem, method),
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
        good = make_group(&e, &e.groups[k], &status, message);
    if (good) {
        choose_watch(&e);
        run_all(&e);
        status = NS_OK;
        *message = "";
    }
    for (uint32_t k = 0; k < NS_BUNDLE_MOST; k++)
        free_group(&e.groups[k]);
    free(e.watch.event);
    free(e.p);
    return status;
}
