#include "study/section.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- tracks --------------------------------------------------------------------------------- */

typedef struct crew {
    const ns_variation *v;
    const ns_section_spec *spec;
    const double *x, *p;
    ns_section_track *tracks;
    uint32_t count, event; /* event: number of the surface */
    atomic_uint next, done, crossings;
    atomic_int stop;
} crew;

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
            atomic_fetch_add(&w->crossings, 1);
        }
        if (status != NS_OK) {
            track->status = status;
            snprintf(track->reason, sizeof track->reason, "%s", o->reason);
            break;
        }
    }
    if (w->stop) {
        track->status = NS_STOP_INTERRUPT;
        snprintf(track->reason, sizeof track->reason, "interrupted");
    }
    ns_run_free(run);
}

static void *work(void *context)
{
    crew *w = context;
    for (;;) {
        const uint32_t number = atomic_fetch_add(&w->next, 1);
        if (number >= w->count || w->stop)
            break;
        follow(w, number);
        atomic_fetch_add(&w->done, 1);
    }
    return NULL;
}

ns_section_track *ns_section_run(ns_arena *arena, ns_flow *flow, const ns_section_spec *spec,
                                 const double *x, uint32_t count)
{
    enum { MOST_THREADS = 64 };
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
    pthread_t thread[MOST_THREADS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = spec->threads ? spec->threads : cores > 0 ? (uint32_t)cores : 1;
    wanted = wanted > count ? count : wanted > MOST_THREADS ? MOST_THREADS : wanted;
    uint32_t started = 0;
    while (started < wanted && pthread_create(&thread[started], NULL, work, &w) == 0)
        started++;
    if (!started)
        work(&w);
    while (started && w.done < count && !w.stop) {
        const struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
        if (spec->progress &&
            !spec->progress(spec->context,
                            (double)w.crossings / ((double)count * (double)spec->crossings)))
            w.stop = 1;
    }
    for (uint32_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    return w.tracks;
}
