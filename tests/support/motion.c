#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- models ------------------------------------------------------------------------------ */

enum { MOST_SETS = 16, MOST_TEXT = 512 };

/* Takes "a=1; b=2" apart in place. */
static size_t split(char *set, ns_override *out)
{
    size_t n = 0;
    for (char *save, *part = strtok_r(set, ";", &save); part;
         part = strtok_r(NULL, ";", &save)) {
        part += strspn(part, " ");
        char *equals = strchr(part, '=');
        assert_true(equals && n < MOST_SETS);
        *equals = 0;
        out[n++] = (ns_override){.name = part, .expression = equals + 1};
    }
    return n;
}

static ns_model *loaded(ns_model *model)
{
    assert_non_null(model);
    if (model->status != NS_OK) {
        print_error("%s", model->messages);
        ns_model_free(model);
        fail_msg("the model does not load");
    }
    return model;
}

ns_model *motion_model_text(const char *text, const char *set)
{
    char copy[MOST_TEXT] = "";
    ns_override overrides[MOST_SETS];
    if (set)
        strncpy(copy, set, sizeof copy - 1);
    size_t n = split(copy, overrides);
    return loaded(
        ns_model_load_text("test.mech", text, strlen(text), overrides, n, NS_MODEL_READY));
}

ns_model *motion_model_file(const char *name, const char *set)
{
    char copy[MOST_TEXT] = "", path[MOST_TEXT];
    ns_override overrides[MOST_SETS];
    if (set)
        strncpy(copy, set, sizeof copy - 1);
    size_t n = split(copy, overrides);
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    return loaded(ns_model_load(path, overrides, n, NS_MODEL_READY));
}

/* ---- runs -------------------------------------------------------------------------------- */

static void look(motion *m, double t)
{
    m->t = t;
    if (t == ns_run_time(m->run))
        memcpy(m->x, ns_run_state(m->run), m->model->system->states.n * sizeof *m->x);
    else
        ns_run_state_at(m->run, t, m->x);
    ns_run_observe(m->run, t, m->x, m->value);
}

ns_record *motion_record(ns_model *model, double until)
{
    assert_non_null(model);
    if (model->status != NS_OK)
        fail_msg("%s", model->messages);
    ns_record_options o = ns_record_defaults(model);
    o.motion = true;
    if (until != 0)
        o.run.until = until;
    ns_record *record = ns_record_new(model, &o);
    ns_record_run(record);
    return record;
}

void motion_refused(const char *text, const char *words)
{
    ns_model *model = ns_model_load_text("bad.mech", text, strlen(text), NULL, 0,
                                         NS_MODEL_READY);
    assert_non_null(model);
    if (model->status == NS_OK || ns_status_exit(model->status) != 2 ||
        !strstr(model->messages, words))
        fail_msg("expected \"%s\", got: %s\nof:\n%s", words, model->messages, text);
    ns_model_free(model);
}

motion motion_begin(ns_model *model, const double *x)
{
    return motion_begin_until(model, x, HUGE_VAL);
}

motion motion_begin_until(ns_model *model, const double *x, double until)
{
    motion m = {.model = model};
    ns_run_options options = ns_model_run_options(model);
    options.until = until;
    ns_status status;
    const char *message = "";
    m.run = ns_run_new(model->problem, &options, model->p, x ? x : model->x0, &status,
                       &message);
    if (!m.run)
        fail_msg("no run: %s", message);
    m.x = calloc(model->system->states.n, sizeof *m.x);
    m.value = calloc(model->system->observables.n, sizeof *m.value);
    assert_true(m.x && m.value);
    look(&m, options.t0);
    return m;
}

motion motion_text(const char *text, const char *set)
{
    return motion_begin(motion_model_text(text, set), NULL);
}

motion motion_file(const char *name, const char *set)
{
    return motion_begin(motion_model_file(name, set), NULL);
}

void motion_close(motion *m)
{
    ns_run_free(m->run);
    ns_model_free(m->model);
    free(m->x);
    free(m->value);
}

ns_status motion_to(motion *m, double t)
{
    ns_status status = ns_run_to(m->run, t);
    look(m, status == NS_OK ? t : ns_run_time(m->run));
    return status;
}

/* ---- values ------------------------------------------------------------------------------ */

double motion_get(const motion *m, const char *name)
{
    int64_t i = ns_model_observable(m->model, name);
    if (i < 0)
        fail_msg("there is no value %s", name);
    return m->value[i];
}

void motion_vector(const motion *m, const char *name, double v[3])
{
    char full[64];
    for (int i = 0; i < 3; i++) {
        snprintf(full, sizeof full, "%s.%c", name, "xyz"[i]);
        v[i] = motion_get(m, full);
    }
}

uint32_t motion_state(const motion *m, const char *name)
{
    const ns_system *s = m->model->system;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (strcmp(s->states.at[i].name, name) == 0)
            return i;
    fail_msg("there is no state %s", name);
    return 0;
}

double motion_difference(const motion *a, const motion *b, const char *names)
{
    char copy[MOST_TEXT], full[64];
    strncpy(copy, names, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    double most = 0;
    for (char *save, *name = strtok_r(copy, ", ", &save); name;
         name = strtok_r(NULL, ", ", &save)) {
        double here = 0, turned = 0, size = 1; /* turned: the quaternion with the other sign */
        bool some = false;
        for (int i = 0; i < 5; i++) {
            snprintf(full, sizeof full, i ? "%s.%c" : "%s", name, " wxyz"[i]);
            if (ns_model_observable(a->model, full) < 0)
                continue;
            double u = motion_get(a, full), v = motion_get(b, full);
            some = true;
            size = fmax(size, fabs(v));
            here = fmax(here, fabs(u - v));
            turned = fmax(turned, fabs(u + v));
            if (isnan(u) || isnan(v))
                here = turned = (double)NAN;
        }
        if (!some)
            fail_msg("there is no value %s", name);
        if (strcmp(name, "quat") == 0)
            here = fmin(here, turned);
        here /= size;
        if (!(here <= most))
            most = here;
    }
    return most;
}

double motion_event(const motion *m, const char *name, uint32_t k)
{
    const ns_outcome *outcome = ns_run_outcome(m->run);
    for (uint32_t i = 0; i < outcome->n_events; i++) {
        const ns_occurrence *event = &outcome->events[i];
        if (strcmp(m->model->system->events.at[event->event].name, name) == 0 && k-- == 0)
            return event->t;
    }
    return (double)NAN;
}

double motion_residual(const motion *m)
{
    const ns_outcome *outcome = ns_run_outcome(m->run);
    double most = 0;
    for (uint32_t i = 0; i < m->model->system->constraints.n; i++)
        if (!(outcome->residual[i] <= most))
            most = outcome->residual[i];
    return most;
}

double motion_drift(const motion *m, const char *invariant)
{
    const ns_system *s = m->model->system;
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (strcmp(s->invariants.at[i].name, invariant) == 0)
            return ns_run_outcome(m->run)->drift[i];
    fail_msg("there is no invariant %s", invariant);
    return (double)NAN;
}
