/* Events: zero crossings of functions g(t, x) of the motion, in every step.
 *
 * All events are sampled together inside each step, with their probes; search.c finds the
 * crossings of each.  Here they are put in order, recorded, and acted on.
 *
 * A run that starts on an event does not fire it.  Events that stand for a condition (lift-off)
 * also happen at the start of a run that begins beyond it.  Where an event changes too fast for
 * all its crossings to be found, the run ends, with those up to there. */
#include <float.h>
#include <stdlib.h>

#include "base/check.h"
#include "ode/run_internal.h"

bool ns_events_reserve(ns_run *run, uint32_t count)
{
    if (count <= run->room_events)
        return true;
    const uint32_t room = count > 2 * run->room_events ? count + 64 : 2 * run->room_events;
    ns_occurrence *list = realloc(run->events, room * sizeof *list);
    if (list)
        run->events = list;
    double *states = realloc(run->event_states, (size_t)room * run->s.n * sizeof *states + 1);
    if (states)
        run->event_states = states;
    if (!list || !states)
        return false;
    run->room_events = room;
    return true;
}

bool ns_events_push(ns_run *run, uint32_t event, int direction, double t)
{
    NS_CHECK(event < run->s.problem->system->events.n && (direction == 1 || direction == -1));
    if (!ns_events_reserve(run, run->n_events + 1))
        return false;
    run->events[run->n_events++] = (ns_occurrence){.event = event,
                                                   .direction = direction,
                                                   .t = t,
                                                   .before = (uint32_t)run->stretch.mode,
                                                   .after = (uint32_t)run->stretch.mode};
    return true;
}

bool ns_events_record(ns_run *run, uint32_t event, int direction, double t, const double *x)
{
    if (!ns_events_push(run, event, direction, t))
        return false;
    memcpy(run->event_states + (size_t)(run->n_events - 1) * run->s.n, x,
           run->s.n * sizeof(double));
    return true;
}

static int earlier(const void *a, const void *b)
{
    const ns_occurrence *p = a, *q = b;
    if (p->t != q->t)
        return p->t < q->t ? -1 : 1;
    return p->event < q->event ? -1 : p->event > q->event;
}

static void sort(ns_run *run, uint32_t first)
{
    qsort(run->events + first, run->n_events - first, sizeof *run->events, earlier);
    if (run->s.sense < 0)
        for (uint32_t a = first, b = run->n_events - 1; a < b; a++, b--) {
            const ns_occurrence swap = run->events[a];
            run->events[a] = run->events[b];
            run->events[b] = swap;
        }
}

/* What is found together with a jump, at its time but for the last places, is recorded before
 * it. */
static void jumps_last(ns_run *run, uint32_t first)
{
    const ns_event *events = run->s.problem->system->events.at;
    for (uint32_t k = first; k + 1 < run->n_events; k++) {
        ns_occurrence *one = &run->events[k], *next = one + 1;
        const double places = 8 * DBL_EPSILON * fabs(one->t);
        if (!events[one->event].jump || ns_event_cuts(&events[next->event]) ||
            fabs(next->t - one->t) > places)
            continue;
        const ns_occurrence jump = *one;
        next->t = jump.t;
        *one = *next;
        *next = jump;
    }
}

/* Samples events and probes at the nodes of the last step and at its end; tells which probes
 * are wild. */
static void sample(ns_run *run)
{
    ns_stepper *s = &run->s;
    const ns_probes *probes = s->problem->probes;
    const size_t n = probes->n_events;
    const double from = s->now.from, h = s->now.t - from;
    for (int i = 0; i < 8; i++)
        run->time8[i] = from + ns_method_nodes[i] * h;
    s->method->sample(s, ns_method_nodes, run->x8);
    ns_program_eval8(run->look, run->work8_events, run->time8, run->x8, run->events8);
    if (probes->kinks && run->events_at == from)
        memcpy(run->events_begin, run->events_end, (n + probes->n) * sizeof(double));
    else if (probes->kinks)
        ns_program_eval1(run->look, run->work_events, from, s->x0, run->events_begin);
    ns_program_eval1(run->look, run->work_events, s->now.t, s->x, run->events_end);
    run->events_at = s->now.t;
    const ns_probes_seen seen = {.nodes = run->events8 + 8 * n,
                                 .begin = run->events_begin + n,
                                 .end = run->events_end + n,
                                 .apart = 1};
    ns_probes_wild(probes, &seen, run->wild);
}

void ns_events_begin(ns_run *run)
{
    ns_program_eval1(run->look, run->work_events, run->s.now.t, run->s.x, run->events_now);
    for (uint32_t i = 0; i < run->s.problem->system->events.n; i++) {
        run->event_sign[i] = 0; /* decided in the first step, when the size of g is known */
        run->event_first[i] = run->event_value[i] = run->events_now[i];
    }
    run->events_at = NAN;
    ns_enclose_begin(run);
}

/* A value that jumps over zero with the parameters has the sign of before: it is found in the
 * next step, at its beginning. */
void ns_events_changed(ns_run *run)
{
    ns_program_eval1(run->look, run->work_events, run->s.now.t, run->s.x, run->events_now);
    memcpy(run->event_value, run->events_now,
           run->s.problem->system->events.n * sizeof *run->event_value);
    run->events_at = NAN;
    ns_enclose_begin(run);
}

/* Ends the last step at time t, inside it. */
static void cut(ns_run *run, double t)
{
    ns_stepper *s = &run->s;
    ns_run_dense(run, t, run->x_event);
    memcpy(s->x, run->x_event, s->n * sizeof(double));
    memset(s->x_lo, 0, s->n * sizeof(double));
    if (s->method->precise && t != s->now.t)
        s->method->state_low(s, t, s->x, s->x_lo);
    s->now.t = t;
}

static ns_status stop(ns_run *run, const ns_event *event, double t)
{
    cut(run, t);
    if (event->action == NS_EVENT_SINGULAR)
        return ns_run_stop(run, NS_STOP_SINGULAR, "%s at t = %.10g",
                           event->meaning ? event->meaning : event->name, t);
    if (event->asked)
        return ns_run_stop(run, NS_STOP_ASKED, "ended at t = %.10g by the event %s%s%s", t,
                           event->name, event->meaning ? ": " : "",
                           event->meaning ? event->meaning : "");
    return ns_run_stop(run, NS_STOP_EVENT, "event %s at t = %.10g%s%s", event->name, t,
                       event->meaning ? ": " : "", event->meaning ? event->meaning : "");
}

/* The crossings of an event are known up to time t only. */
static ns_status give_up(ns_run *run, const ns_event *event, double t)
{
    cut(run, t);
    if (run->options.interrupt && *run->options.interrupt)
        return ns_run_stop(run, NS_STOP_INTERRUPT, "interrupted at t = %.10g", t);
    return ns_run_stop(run, NS_STOP_LIMIT,
                       "event %s changes too fast: its crossings after t = %.10g are too many "
                       "to be told apart",
                       event->name, t);
}

static ns_status out_of_memory(ns_run *run)
{
    return ns_run_stop(run, NS_ERR_MEMORY, "out of memory for events at t = %.10g",
                       run->s.now.t);
}

bool ns_events_wanted(const ns_run *run, uint32_t i)
{
    const ns_event *event = &run->s.problem->system->events.at[i];
    return !event->watched && !event->off && (ns_event_cuts(event) || !run->options.only_stops);
}

ns_status ns_events_scan(ns_run *run)
{
    ns_stepper *s = &run->s;
    const ns_system *system = s->problem->system;
    const uint32_t n_ev = system->events.n, first = run->n_events;
    uint32_t to_find = 0;
    for (uint32_t i = 0; i < n_ev; i++)
        to_find += ns_events_wanted(run, i);
    if (to_find == 0)
        return NS_OK;
    sample(run);
    uint32_t unknown = UINT32_MAX; /* the event whose crossings are known up to `until` only */
    double until = s->now.t;
    for (uint32_t i = 0; i < n_ev; i++) {
        double reached = s->now.t;
        if (!ns_events_wanted(run, i))
            continue;
        const ns_found found = ns_search_step(run, i, &reached);
        if (found == NS_FOUND_NO_MEMORY)
            return out_of_memory(run);
        if (found == NS_FOUND_NOT_ALL &&
            (unknown == UINT32_MAX || (until - reached) * s->sense > 0)) {
            unknown = i;
            until = reached;
        }
    }
    if (run->n_events > first)
        sort(run, first);
    if (s->problem->jumps)
        jumps_last(run, first);
    uint32_t kept = first;
    for (uint32_t k = first; k < run->n_events; k++) {
        const ns_occurrence found = run->events[k];
        if ((found.t - until) * s->sense > 0)
            break;
        const ns_event *event = &system->events.at[found.event];
        ns_run_dense(run, found.t, run->event_states + (size_t)kept * s->n);
        run->events[kept++] = found;
        const bool counted = run->options.last_count && found.event == run->options.last_event;
        run->n_last += counted;
        if (ns_event_stops(event) || (counted && run->n_last == run->options.last_count)) {
            run->n_events = kept;
            return stop(run, event, found.t);
        }
        if (event->jump) {
            const uint32_t others = run->n_events - k - 1;
            run->n_events = kept;
            cut(run, found.t);
            return ns_jump_make(run, run->events + k + 1, others);
        }
    }
    run->n_events = kept;
    return unknown == UINT32_MAX ? NS_OK : give_up(run, &system->events.at[unknown], until);
}
