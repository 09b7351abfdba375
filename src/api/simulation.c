/* Simulations: a run that the caller drives. */
#include "api/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/process/plain.h"
#include "session/variant.h"

ns_verdict ns_simulation_wrong(ns_simulation *s, const char *words)
{
    snprintf(s->reason, sizeof s->reason, "%s", words);
    return NS_WRONG;
}

/* ---- beginning --------------------------------------------------------------------------- */

static const char *refused(const ns_simulate_options *o)
{
    return o->at || o->every > 0      ? "a simulation has no output times: ask for states"
           : o->n_outputs             ? "a simulation writes no files"
           : o->checkpoint            ? "a simulation is saved by ns_simulation_save"
           : o->resume                ? "a simulation is restored by ns_simulation_restore"
           : o->digits || o->trust    ? "digits and trust are for whole runs"
           : o->motion || o->periodic ? "motion and periodic are for whole runs"
           : o->progress              ? "a simulation has no progress function"
                                      : NULL;
}

static const char *choose_method(ns_simulation *s, const char *name)
{
    s->method = ns_method_find(name);
    if (!s->method)
        return strcmp(name, "auto") == 0
                   ? "auto chooses for a whole run: name the method of a simulation"
                   : "unknown method";
    return s->method->precise ? "quadruple precision is for whole runs" : NULL;
}

/* Begins at the time t from the state x, in the mode number `mode` - 1, or with 0 in the one
 * that fits; what was there before stays if that fails. */
bool ns_simulation_begin(ns_simulation *s, double t, const double *x, uint32_t mode)
{
    ns_status status = NS_OK;
    const char *message = "";
    ns_run_options o = s->options;
    o.t0 = t;
    o.mode = mode;
    ns_run *run = ns_run_new(s->problem, &o, s->p, x, &status, &message);
    if (!run) {
        snprintf(s->reason, sizeof s->reason, "%s",
                 message && *message ? message : ns_status_text(status));
        return false;
    }
    ns_run_free(s->run);
    s->run = run;
    s->options.held = NULL;
    s->options.t0 = t;
    s->time = t;
    s->next_event = 0;
    s->verdict = NS_DONE;
    s->reason[0] = 0;
    return true;
}

static bool take_room(ns_simulation *s)
{
    const ns_model *m = s->model;
    const size_t n = m->system->states.n, np = m->description->params.n;
    if (NS_ARENA_GUARD(s->arena)) {
        ns_arena_unguard(s->arena);
        return false;
    }
    s->system = ns_system_fork(m->shared, s->arena);
    s->p = ns_arena_copy(s->arena, m->p, (np + 1) * sizeof *s->p);
    s->given = ns_arena_copy(s->arena, m->p, (np + 1) * sizeof *s->given);
    s->before = NS_NEW_ARRAY(s->arena, double, np + 1);
    s->is_set = NS_NEW_ARRAY(s->arena, bool, np + 1);
    if (m->variant)
        memcpy(s->is_set, m->variant->is_set, np * sizeof *s->is_set);
    s->x = NS_NEW_ARRAY(s->arena, double, n + 1);
    s->values = NS_NEW_ARRAY(s->arena, double, m->system->observables.n + 1);
    s->held = NS_NEW_ARRAY(s->arena, double, m->schedule ? m->schedule->n_samplings + 1 : 1);
    ns_arena_unguard(s->arena);
    return true;
}

static ns_verdict prepare(ns_simulation *s, const ns_simulate_options *options)
{
    const ns_simulate_options full = ns_api_full(options);
    const char *wrong = refused(&full);
    ns_record_options o;
    if (!wrong && !ns_api_record_options(s->model, &full, &o, s->reason, sizeof s->reason))
        return NS_WRONG;
    if (!wrong)
        wrong = choose_method(s, o.run.method);
    if (wrong)
        return ns_simulation_wrong(s, wrong);
    s->options = o.run;
    s->options.until = isnan(full.until) ? (double)INFINITY : full.until;
    s->engine = o.engine;
    s->problem = ns_model_problem_for(s->model, s->method);
    if (!s->problem || !take_room(s)) {
        ns_simulation_wrong(s, "out of memory");
        return NS_FAILED;
    }
    return ns_simulation_begin(s, s->options.t0, s->model->x0, 0) ? NS_DONE : NS_WRONG;
}

ns_simulation *ns_simulation_new(ns_model *model, const ns_simulate_options *options)
{
    NS_PLAIN_NUMBERS;
    ns_simulation *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = model;
    s->arena = ns_arena_new();
    s->verdict = NS_FAILED;
    if (!model || !s->arena)
        ns_simulation_wrong(s, model ? "out of memory" : "there is no model");
    else if (model->status != NS_OK) {
        s->verdict = ns_api_verdict(model->status);
        ns_simulation_wrong(s, "the model is wrong");
    } else
        s->verdict = prepare(s, options);
    return s;
}

void ns_simulation_close(ns_simulation *s)
{
    if (!s)
        return;
    ns_run_free(s->run);
    ns_arena_free(s->arena);
    free(s);
}

ns_verdict ns_simulation_verdict(const ns_simulation *s)
{
    return s ? s->verdict : NS_FAILED;
}

const char *ns_simulation_reason(const ns_simulation *s)
{
    return s ? s->reason : "out of memory";
}

/* ---- stepping ---------------------------------------------------------------------------- */

static double sense(const ns_simulation *s)
{
    return s->options.until < s->options.t0 ? -1 : 1;
}

static void go_native(ns_simulation *s)
{
    char message[300];
    s->engine = NS_ENGINE_INTERPRETER; /* decided, one way or the other */
    ns_problem_native(s->problem, s->method->lanes, message, sizeof message, NULL);
}

/* Without an end in sight half of the way is taken to be done. */
static void consider_native(ns_simulation *s, double seconds)
{
    enum { STEPS_PER_LOOK = 8 };
    s->seconds += seconds;
    if (s->engine != NS_ENGINE_AUTO || ++s->looked % STEPS_PER_LOOK)
        return;
    const double span = s->options.until - s->options.t0;
    const double done = isfinite(span) ? (ns_run_time(s->run) - s->options.t0) / span : 0.5;
    if (ns_problem_native_pays(s->problem, s->seconds, done))
        go_native(s);
}

static ns_verdict make_step(ns_simulation *s)
{
    if (s->engine == NS_ENGINE_NATIVE)
        go_native(s);
    const bool timed = s->engine == NS_ENGINE_AUTO;
    const double began = timed ? ns_clock_seconds() : 0;
    const ns_status status = ns_run_step(s->run);
    if (timed)
        consider_native(s, ns_clock_seconds() - began);
    if (status == NS_OK)
        return NS_DONE;
    const char *reason = ns_run_outcome(s->run)->reason;
    snprintf(s->reason, sizeof s->reason, "%s",
             reason && *reason ? reason : ns_status_text(status));
    return s->verdict = ns_api_verdict(status);
}

/* Tells of events up to the time t; true if the caller wants to stop at one. */
static bool tell(ns_simulation *s, double t)
{
    const ns_outcome *o = ns_run_outcome(s->run);
    const size_t n = s->system->states.n;
    while (s->on_event && s->next_event < o->n_events &&
           sense(s) * (t - o->events[s->next_event].t) >= 0) {
        const ns_occurrence *e = &o->events[s->next_event];
        const double *x = o->event_states + s->next_event * n;
        s->next_event++;
        if (s->on_event(s->context, e->event, e->t, e->direction, x)) {
            s->time = e->t;
            return true;
        }
    }
    return false;
}

static ns_verdict ready(const ns_simulation *s)
{
    return !s ? NS_FAILED : !s->run ? s->verdict : NS_DONE;
}

ns_verdict ns_simulation_step(ns_simulation *s)
{
    NS_PLAIN_NUMBERS;
    if (ready(s) != NS_DONE || s->verdict != NS_DONE)
        return ns_simulation_verdict(s);
    ns_verdict verdict = NS_DONE;
    if (s->time == ns_run_time(s->run)) {
        if (s->time == s->options.until)
            return ns_simulation_wrong(s, "the end of the simulation was reached");
        verdict = make_step(s);
    }
    if (!tell(s, ns_run_time(s->run)))
        s->time = ns_run_time(s->run);
    return verdict;
}

ns_verdict ns_simulation_advance(ns_simulation *s, double t)
{
    NS_PLAIN_NUMBERS;
    if (ready(s) != NS_DONE)
        return ns_simulation_verdict(s);
    const double sign = sense(s);
    if (!(sign * (t - ns_run_last_time(s->run)) >= 0))
        return ns_simulation_wrong(s, "the time lies before the last step");
    if (sign * (t - s->options.until) > 0)
        return ns_simulation_wrong(s, "the time lies beyond the end of the simulation");
    while (sign * (t - ns_run_time(s->run)) > 0) {
        if (s->verdict != NS_DONE)
            return s->verdict;
        if (tell(s, ns_run_time(s->run)))
            return NS_DONE;
        const ns_verdict verdict = make_step(s);
        if (verdict == NS_DONE)
            continue;
        if (!tell(s, ns_run_time(s->run)))
            s->time = ns_run_time(s->run);
        return sign * (t - ns_run_time(s->run)) > 0 ? verdict : NS_DONE;
    }
    if (!tell(s, t))
        s->time = t;
    return NS_DONE;
}

double ns_simulation_time(const ns_simulation *s)
{
    return ready(s) == NS_DONE ? s->time : (double)NAN;
}

double ns_simulation_from(const ns_simulation *s)
{
    return ready(s) == NS_DONE ? ns_run_last_time(s->run) : (double)NAN;
}

double ns_simulation_reached(const ns_simulation *s)
{
    return ready(s) == NS_DONE ? ns_run_time(s->run) : (double)NAN;
}

/* ---- events ------------------------------------------------------------------------------ */

long ns_simulation_event(ns_simulation *s, double *t, int *direction, double *x)
{
    if (ready(s) != NS_DONE)
        return -1;
    const ns_outcome *o = ns_run_outcome(s->run);
    if (s->next_event >= o->n_events || sense(s) * (s->time - o->events[s->next_event].t) < 0)
        return -1;
    const size_t i = s->next_event++, n = s->system->states.n;
    if (t)
        *t = o->events[i].t;
    if (direction)
        *direction = o->events[i].direction;
    if (x)
        memcpy(x, o->event_states + i * n, n * sizeof *x);
    return (long)o->events[i].event;
}

ns_verdict ns_simulation_on_event(ns_simulation *s, ns_event_function function, void *context)
{
    if (!s)
        return NS_FAILED;
    s->on_event = function;
    s->context = context;
    return NS_DONE;
}
