#include "study/orbits/section.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ode/ensemble/ensemble.h"
#include "ode/method.h"
#include "session/pool.h"

/* ---- tracks ------------------------------------------------------------------------------ */

typedef struct crew {
    const ns_variation *v;
    const ns_section_spec *spec;
    const double *x, *p;
    ns_section_track *tracks;
    uint32_t count, event; /* event: number of the surface */
    atomic_uint next, crossings;
    atomic_int stop;
    volatile int halt;          /* the same for ensembles */
    const char *_Atomic failed; /* why no motion could be run at all; NULL */
} crew;

void ns_section_missed(char *text, size_t room, uint32_t crossings, double t, uint64_t steps)
{
    snprintf(text, room, "the surface is not crossed%s: followed to t = %.6g, %llu steps%s",
             crossings ? " any more" : "", t, (unsigned long long)steps,
             crossings ? " since the last time" : "");
}

/* One start: steps until there are enough crossings.  Everything it needs is its own. */
static void follow(crew *w, uint32_t number)
{
    const uint32_t n = w->v->n;
    ns_section_track *track = &w->tracks[number];
    const char *message = "";
    ns_run *run = ns_run_new(w->v->problem, &w->spec->run, w->p, w->x + (size_t)number * n,
                             &track->status, &message);
    if (!run) {
        snprintf(track->reason, sizeof track->reason, "%s", message);
        return;
    }
    uint32_t seen = 0;
    uint64_t since = 0; /* steps at the last crossing */
    const double end = w->spec->run.until, sign = end < w->spec->run.t0 ? -1 : 1;
    while (track->n < w->spec->crossings && sign * (end - ns_run_time(run)) > 0 && !w->stop) {
        const ns_status status = ns_run_step(run);
        const ns_outcome *o = ns_run_outcome(run);
        for (; seen < o->n_events && track->n < w->spec->crossings; seen++) {
            if (o->events[seen].event != w->event)
                continue;
            track->t[track->n] = o->events[seen].t;
            memcpy(track->x + (size_t)track->n * n, o->event_states + (size_t)seen * n,
                   n * sizeof(double));
            track->n++;
            since = o->steps;
            atomic_fetch_add(&w->crossings, 1);
        }
        if (status != NS_OK) {
            track->status = status;
            snprintf(track->reason, sizeof track->reason, "%s", o->reason);
            break;
        }
        if (w->spec->patience && o->steps - since >= w->spec->patience) {
            track->status = NS_STOP_LIMIT;
            ns_section_missed(track->reason, sizeof track->reason, track->n, ns_run_time(run),
                              o->steps - since);
            break;
        }
    }
    if (w->stop) {
        track->status = NS_STOP_INTERRUPT;
        snprintf(track->reason, sizeof track->reason, "interrupted");
    }
    ns_run_free(run);
}

/* ---- in lanes ---------------------------------------------------------------------------- */

static bool next_start(void *context, uint64_t *id, double *p, double *x0)
{
    crew *w = context;
    const uint32_t number = atomic_fetch_add(&w->next, 1);
    if (number >= w->count || w->stop)
        return false;
    *id = number;
    memcpy(p, w->p, w->v->problem->np * sizeof *p);
    memcpy(x0, w->x + (size_t)number * w->v->n, w->v->n * sizeof *x0);
    return true;
}

static bool take_track(void *context, const ns_ensemble_result *result)
{
    crew *w = context;
    const uint32_t n = w->v->n;
    const ns_outcome *o = result->outcome;
    ns_section_track *track = &w->tracks[result->id];
    for (uint32_t i = 0; i < o->n_events && track->n < w->spec->crossings; i++) {
        if (o->events[i].event != w->event)
            continue;
        track->t[track->n] = o->events[i].t;
        memcpy(track->x + (size_t)track->n * n, o->event_states + (size_t)i * n,
               n * sizeof(double));
        track->n++;
    }
    atomic_fetch_add(&w->crossings, w->spec->crossings);
    if (o->status != NS_OK && track->n < w->spec->crossings) {
        track->status = o->status;
        snprintf(track->reason, sizeof track->reason, "%s", o->reason);
    }
    return !w->stop;
}

/* Each motion ends at its last crossing. */
static ns_ensemble_options options_of(crew *w)
{
    ns_ensemble_options options = {.run = w->spec->run, .events = true};
    options.run.last_event = w->event;
    options.run.last_count = w->spec->crossings;
    options.run.interrupt = &w->halt;
    return options;
}

/* Starts in the lanes of one thread. */
static void work_in_lanes(void *context)
{
    crew *w = context;
    const ns_ensemble_options options = options_of(w);
    const ns_ensemble_client client = {w, next_start, take_track};
    const char *message;
    if (ns_ensemble_run(w->v->problem, &options, &client, &message) != NS_OK) {
        w->failed = message;
        w->stop = 1;
    }
}

static void work(void *context)
{
    crew *w = context;
    for (;;) {
        const uint32_t number = atomic_fetch_add(&w->next, 1);
        if (number >= w->count || w->stop)
            break;
        follow(w, number);
    }
}

/* Native code, which gives the same bits.  Made without a compiler it takes less time than a
 * few hundred steps; with one, up to 2 seconds, which only a long section is worth: between two
 * crossings the rates are evaluated EVALUATIONS times and more, a nanosecond and more an
 * operation. */
static void go_native(crew *w, const ns_method *method, uint32_t threads)
{
    enum { EVALUATIONS = 300 };
    static const double worth = 0.2;
    const ns_problem *problem = w->v->problem;
    const ns_ensemble_options options = options_of(w);
    const bool quick = method->lanes != 0 && ns_native_is_quick(problem->rhs);
    const double least_seconds = 1e-9 * EVALUATIONS * w->spec->crossings * w->count / threads *
                                 ns_program_operations(problem->rhs, NULL);
    char message[300];
    if (!quick && least_seconds < worth)
        return;
    ns_ensemble_native(problem, &options, message, sizeof message, NULL);
}

ns_section_track *ns_section_run(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 const double *x, uint32_t count)
{
    const uint32_t n = flow->n;
    ns_surface surface = spec->surface;
    surface.stop = false;
    crew w = {.spec = spec, .x = x, .p = flow->p, .count = count};
    w.v = ns_variation_new(flow, 0, &surface, 1);
    w.event = w.v->problem->system->events.n - 1;
    w.tracks = NS_NEW_ARRAY(arena, ns_section_track, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        w.tracks[i].t = NS_NEW_ARRAY(arena, double, spec->crossings + 1);
        w.tracks[i].x = NS_NEW_ARRAY(arena, double, (size_t)spec->crossings * n + 1);
    }
    const ns_method *method = ns_method_find(spec->run.method);
    const bool in_lanes = method && method->bundle && method->interpolates;
    void (*const hand)(void *) = in_lanes ? work_in_lanes : work;
    uint32_t wanted = spec->threads ? spec->threads : ns_pool_cores();
    wanted = wanted > count ? count : wanted;
    if (method && wanted)
        go_native(&w, method, wanted);
    ns_pool *pool = wanted ? ns_pool_start(wanted, hand, &w) : NULL;
    if (!pool || !ns_pool_size(pool))
        hand(&w);
    const double look_seconds = 0.02;
    while (pool && ns_pool_running(pool) && !w.stop) {
        ns_pool_rest(pool, look_seconds);
        if (spec->progress &&
            !spec->progress(spec->context,
                            (double)w.crossings / ((double)count * (double)spec->crossings)))
            w.stop = w.halt = 1;
    }
    ns_pool_free(pool);
    for (uint32_t i = 0; w.failed && i < count; i++)
        if (!w.tracks[i].n) {
            w.tracks[i].status = NS_ERR_MEMORY;
            snprintf(w.tracks[i].reason, sizeof w.tracks[i].reason, "%s", w.failed);
        }
    return w.tracks;
}
