/* Runs of claims, and the functions of expressions that look at them. */
#include "cli/claims/claim_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "cli/open.h"
#include "ode/method.h"
#include "session/gallery.h"

enum { SAMPLES = 2001 }; /* unless the claim says how many */

void ns_claims_model(ns_claims_world *w, const char *name, const char *text)
{
    NS_PUSH(w->arena, w->models, (ns_claims_text){name, text});
}

static ns_model *load(ns_claims_world *w, const char *name, const ns_override *overrides,
                      size_t n)
{
    for (uint32_t i = 0; i < w->models.n; i++)
        if (strcmp(w->models.at[i].name, name) == 0)
            return ns_model_load_text(name, w->models.at[i].text, strlen(w->models.at[i].text),
                                      overrides, n, NS_MODEL_READY);
    const struct ns_gallery_entry *entry = ns_gallery_find(name);
    return entry ? ns_model_load_text(name, entry->text, strlen(entry->text), overrides, n,
                                      NS_MODEL_READY)
                 : NULL;
}

const char *ns_claims_messages(ns_claims_world *w, const char *name)
{
    ns_model *model = load(w, name, NULL, 0);
    const char *messages = NULL;
    if (model && model->status != NS_OK)
        messages = ns_arena_string(w->arena, model->messages, strlen(model->messages));
    ns_model_free(model);
    return messages;
}

static bool fail(ns_claims_world *w, const char *why)
{
    w->why = why;
    return false;
}

static void take_samples(ns_claims_run *r, double from, double until, uint32_t samples)
{
    const uint32_t values = r->model->system->observables.n;
    const uint32_t constraints = r->model->system->constraints.n;
    const ns_program *residuals = r->model->problem->residuals;
    double *x = calloc(r->model->system->states.n + ns_program_work1(residuals) + 1, sizeof *x);
    double *work = x ? x + r->model->system->states.n : NULL;
    if (x)
        ns_program_bind1(residuals, work, r->model->p);
    for (uint32_t i = 0; x && i < samples && r->status == NS_OK; i++) {
        double t = from + (until - from) * i / (samples - 1);
        r->status = ns_run_to(r->run, t);
        if (r->status != NS_OK)
            t = ns_run_time(r->run);
        if (t == ns_run_time(r->run))
            memcpy(x, ns_run_state(r->run), r->model->system->states.n * sizeof *x);
        else
            ns_run_state_at(r->run, t, x);
        r->t[r->n] = t;
        ns_program_eval1(residuals, work, t, x, r->residuals + (size_t)r->n * constraints);
        ns_run_observe(r->run, t, x, r->values + (size_t)r->n++ * values);
    }
    free(x);
}

/* Starts where another run of the same states has ended, with velocities and momenta
 * reversed. */
static bool turn_back(ns_claims_world *w, ns_claims_run *r, const char *name)
{
    const ns_claims_run *other = ns_claims_find(w, name);
    const ns_system *s = r->model->system;
    if (!other || other->model->system->states.n != s->states.n)
        return fail(w, ns_arena_format(w->arena, "no run '%s' of the same states", name));
    for (uint32_t i = 0; i < s->states.n; i++) {
        const double x = ns_run_state(other->run)[i];
        r->model->x0[i] = s->states.at[i].odd ? -x : x;
    }
    return true;
}

static bool start_one(ns_claims_world *w, ns_claims_run *r, const char *model,
                      const ns_claims_setting *settings, uint32_t n)
{
    ns_override overrides[16];
    size_t count = 0;
    const char *until = NULL, *tolerance = NULL, *method = NULL, *back = NULL, *samples = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const char *key = settings[i].name, *value = settings[i].value;
        if (strcmp(key, "until") == 0)
            until = value;
        else if (strcmp(key, "tol") == 0)
            tolerance = value;
        else if (strcmp(key, "method") == 0)
            method = value;
        else if (strcmp(key, "back") == 0)
            back = value;
        else if (strcmp(key, "samples") == 0)
            samples = value;
        else
            overrides[count++] = (ns_override){key, value};
    }
    /* overrides are borrowed by the model */
    r->model = load(w, model, ns_arena_copy(w->arena, overrides, sizeof overrides), count);
    if (!r->model)
        return fail(w, ns_arena_format(w->arena, "no bundled model '%s'", model));
    if (r->model->status != NS_OK)
        return fail(w,
                    ns_arena_string(w->arena, r->model->messages, strlen(r->model->messages)));
    if (back && !turn_back(w, r, back))
        return false;
    ns_run_options options = ns_model_run_options(r->model);
    if (until)
        options.until = atof(until);
    if (tolerance)
        options.tolerance = atof(tolerance);
    if (method)
        options.method = method;
    const ns_method *m = ns_method_find(options.method);
    if (!m)
        return fail(w, ns_arena_format(w->arena, "no method '%s'", options.method));
    const char *message = "";
    r->run = ns_run_new(ns_model_problem(r->model, m->needs_jacobian), &options, r->model->p,
                        r->model->x0, &r->status, &message);
    if (!r->run)
        return fail(w, ns_arena_format(w->arena, "%s", message));
    const long wanted = samples ? atol(samples) : SAMPLES;
    if (wanted < 2 || wanted > 100000)
        return fail(w, "samples: 2 to 100000");
    r->t = calloc((size_t)wanted, sizeof *r->t);
    r->values = calloc((size_t)wanted * r->model->system->observables.n + 1, sizeof(double));
    r->residuals = calloc((size_t)wanted * r->model->system->constraints.n + 1,
                          sizeof *r->residuals);
    if (!r->t || !r->values || !r->residuals)
        return fail(w, "out of memory");
    r->status = NS_OK;
    take_samples(r, options.t0, options.until, (uint32_t)wanted);
    return true;
}

bool ns_claims_start(ns_claims_world *w, const char *name, const char *model,
                     const ns_claims_setting *settings, uint32_t n, bool series)
{
    if (!series) {
        ns_claims_run *r = NS_NEW(w->arena, ns_claims_run);
        r->name = name;
        NS_PUSH(w->arena, w->runs, r);
        return start_one(w, r, model, settings, n);
    }
    ns_claims_series *s = NS_NEW(w->arena, ns_claims_series);
    s->name = name;
    NS_PUSH(w->arena, w->series, s);
    uint32_t which = 0;
    while (which < n && !strchr(settings[which].value, ','))
        which++;
    if (which == n)
        return fail(w, "a series needs a parameter with several values: NAME=V1,V2");
    s->parameter = settings[which].name;
    s->runs = NS_NEW_ARRAY(w->arena, ns_claims_run, 64);
    s->value = NS_NEW_ARRAY(w->arena, double, 64);
    for (const char *at = settings[which].value; at && s->n < 64;) {
        const char *comma = strchr(at, ',');
        ns_claims_setting own[16];
        memcpy(own, settings, n * sizeof *own);
        own[which].value = ns_arena_string(w->arena, at,
                                           comma ? (size_t)(comma - at) : strlen(at));
        s->runs[s->n].name = name;
        s->value[s->n] = atof(own[which].value);
        if (!start_one(w, &s->runs[s->n++], model, own, n))
            return false;
        at = comma ? comma + 1 : NULL;
    }
    return true;
}

bool ns_claims_command(ns_claims_world *w, const char *name, int n, char **words)
{
    char *text = NULL;
    size_t size = 0;
    const ns_command *command = n ? ns_command_find(words[0]) : NULL;
    if (!command)
        return fail(w, "there is no such command");
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return fail(w, "out of memory");
    struct ns_gallery_entry *own = NS_NEW_ARRAY(w->arena, struct ns_gallery_entry, w->models.n + 1);
    for (uint32_t i = 0; i < w->models.n; i++)
        own[i] = (struct ns_gallery_entry){w->models.at[i].name, w->models.at[i].text};
    ns_cli cli = {.arena = w->arena, .out = out, .err = out, .own = own, .n_own = w->models.n};
    static const ns_style plain = {"", "", "", "", ""};
    cli.style_out = cli.style_err = plain;
    ns_arguments arguments = {0};
    if (ns_command_parse(&cli, command, n - 1, words + 1, &arguments))
        command->run(&cli, &arguments);
    fclose(out);
    NS_PUSH(w->arena, w->outputs,
            (ns_claims_text){name, ns_arena_string(w->arena, text, size)});
    free(text);
    return true;
}

static void free_run(ns_claims_run *r)
{
    ns_run_free(r->run);
    ns_model_free(r->model);
    free(r->t);
    free(r->values);
    free(r->residuals);
}

void ns_claims_free(ns_claims_world *w)
{
    for (uint32_t i = 0; i < w->runs.n; i++)
        free_run(w->runs.at[i]);
    for (uint32_t i = 0; i < w->series.n; i++)
        for (uint32_t k = 0; k < w->series.at[i]->n; k++)
            free_run(&w->series.at[i]->runs[k]);
}

/* ---- looking ----------------------------------------------------------------------------- */

ns_claims_series *ns_claims_find_series(const ns_claims_world *w, const char *name)
{
    for (uint32_t i = 0; i < w->series.n; i++)
        if (strcmp(w->series.at[i]->name, name) == 0)
            return w->series.at[i];
    return NULL;
}

ns_claims_run *ns_claims_find(const ns_claims_world *w, const char *name)
{
    for (uint32_t i = 0; i < w->runs.n; i++)
        if (strcmp(w->runs.at[i]->name, name) == 0)
            return w->runs.at[i];
    ns_claims_series *s = ns_claims_find_series(w, name);
    return s ? &s->runs[s->present] : NULL;
}

const char *ns_claims_output(const ns_claims_world *w, const char *name)
{
    for (uint32_t i = 0; i < w->outputs.n; i++)
        if (strcmp(w->outputs.at[i].name, name) == 0)
            return w->outputs.at[i].text;
    return NULL;
}

static double missing(ns_claims_world *w, const ns_claims_run *run, const char *what,
                      const char *name)
{
    if (!w->claim->error)
        w->claim->error = ns_arena_format(w->arena, "line %u: run '%s' has no %s '%s'", w->line,
                                          run->name, what, name ? name : "");
    return (double)NAN;
}

static double sample(const ns_claims_run *r, int64_t value, uint32_t i)
{
    return r->values[(size_t)i * r->model->system->observables.n + (size_t)value];
}

static const double *residual_samples(ns_claims_world *w, const ns_claims_run *r,
                                      const char *name)
{
    const ns_system *s = r->model->system;
    uint32_t which = 0;
    while (which < s->constraints.n && strcmp(s->constraints.at[which].name, name) != 0)
        which++;
    if (which == s->constraints.n)
        return NULL;
    double *out = NS_NEW_ARRAY(w->arena, double, r->n);
    for (uint32_t i = 0; i < r->n; i++)
        out[i] = r->residuals[(size_t)i * s->constraints.n + which];
    return out;
}

static const double *energy_samples(ns_claims_world *w, const ns_claims_run *r)
{
    const int64_t energy = ns_model_observable(r->model, "energy");
    double *out = NS_NEW_ARRAY(w->arena, double, r->n);
    for (uint32_t i = 0; energy >= 0 && i < r->n; i++)
        out[i] = (sample(r, energy, i) - sample(r, energy, 0)) / fabs(sample(r, energy, 0));
    return energy < 0 ? NULL : out;
}

const double *ns_claims_samples(ns_claims_world *w, const ns_claims_run *run, const char *name)
{
    if (strcmp(name, "t") == 0)
        return run->t;
    if (strncmp(name, "residual.", 9) == 0)
        return residual_samples(w, run, name + 9);
    if (strcmp(name, "energy.error") == 0)
        return energy_samples(w, run);
    const int64_t value = ns_model_observable(run->model, name);
    if (value < 0)
        return NULL;
    double *out = NS_NEW_ARRAY(w->arena, double, run->n);
    for (uint32_t i = 0; i < run->n; i++)
        out[i] = sample(run, value, i);
    return out;
}

const char *ns_claims_unit(const ns_claims_run *run, const char *name)
{
    const int64_t value = ns_model_observable(run->model, name);
    return strcmp(name, "t") == 0 ? "s"
           : value < 0            ? ""
                                  : run->model->system->observables.at[value].unit;
}

double ns_claims_differ(ns_claims_world *w, ns_claims_run *a, const char *x, ns_claims_run *b,
                        const char *y)
{
    const int64_t i = ns_model_observable(a->model, x), k = ns_model_observable(b->model, y);
    double most = 0;
    if (i < 0 || k < 0)
        return missing(w, i < 0 ? a : b, "value", i < 0 ? x : y);
    for (uint32_t n = 0; n < a->n && n < b->n; n++) {
        if (a->t[n] != b->t[n])
            return missing(w, b, "common times with", a->name);
        most = ns_max(most, fabs(sample(a, i, n) - sample(b, k, n)));
    }
    return most;
}

/* Largest distance of the points from the circle that fits them best (least squares of
 * x^2 + y^2 + a x + b y + c, about the mean of the points), in parts of its radius. */
double ns_claims_circle(ns_claims_world *w, ns_claims_run *r, const char *x, const char *y)
{
    const double *xs = ns_claims_samples(w, r, x), *ys = ns_claims_samples(w, r, y);
    if (!xs || !ys)
        return missing(w, r, "value", xs ? y : x);
    double mx = 0, my = 0, uu = 0, uv = 0, vv = 0, uz = 0, vz = 0, zz = 0, most = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        mx += xs[i] / r->n;
        my += ys[i] / r->n;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        const double u = xs[i] - mx, v = ys[i] - my, z = u * u + v * v;
        uu += u * u;
        uv += u * v;
        vv += v * v;
        uz += u * z;
        vz += v * z;
        zz += z;
    }
    const double det = 2 * (uu * vv - uv * uv);
    const double a = (uz * vv - vz * uv) / det, b = (vz * uu - uz * uv) / det;
    const double radius = sqrt(a * a + b * b + zz / r->n);
    for (uint32_t i = 0; i < r->n; i++)
        most = ns_max(most, fabs(ns_math_hypot(xs[i] - mx - a, ys[i] - my - b) / radius - 1));
    return most;
}

/* event(R, NAME, k), count(R, NAME): nan if it did not happen so often */
static double of_event(ns_claims_world *w, ns_claims_run *r, const char *name, double k,
                       bool count)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = ns_run_outcome(r->run);
    uint32_t which = 0, seen = 0;
    while (which < s->events.n && !(name && strcmp(s->events.at[which].name, name) == 0))
        which++;
    if (which == s->events.n)
        return missing(w, r, "event", name);
    for (uint32_t i = 0; i < o->n_events; i++)
        if (o->events[i].event == which && seen++ == (uint32_t)k && !count)
            return o->events[i].t;
    return count ? seen : (double)NAN;
}

double ns_claims_when(ns_claims_world *w, ns_claims_run *r, const char *event, const char *name,
                      double k)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = ns_run_outcome(r->run);
    const int64_t value = ns_model_observable(r->model, name);
    double *values = NS_NEW_ARRAY(w->arena, double, s->observables.n);
    if (value < 0)
        return missing(w, r, "value", name);
    for (uint32_t i = 0; i < o->n_events; i++)
        if (event && strcmp(s->events.at[o->events[i].event].name, event) == 0 && k-- < 1) {
            ns_run_observe(r->run, o->events[i].t, o->event_states + (size_t)i * s->states.n,
                           values);
            return values[value];
        }
    return missing(w, r, "event", event);
}

/* drift(R), residual(R), invariant(R, NAME), time(R), stopped(R), param(R, NAME) */
static double of_whole(ns_claims_world *w, ns_claims_run *r, const char *function,
                       const char *name)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = ns_run_outcome(r->run);
    double most = 0;
    if (strcmp(function, "drift") == 0)
        return o->energy_drift;
    if (strcmp(function, "time") == 0)
        return r->t[r->n - 1];
    if (strcmp(function, "stopped") == 0)
        return r->status != NS_OK;
    if (strcmp(function, "residual") == 0) {
        for (uint32_t i = 0; i < s->constraints.n; i++)
            most = ns_max(most, o->residual[i]);
        return most;
    }
    if (strcmp(function, "invariant") == 0) {
        for (uint32_t i = 0; i < s->invariants.n; i++)
            if (name && strcmp(s->invariants.at[i].name, name) == 0)
                return o->drift[i];
        return missing(w, r, "invariant", name);
    }
    for (uint32_t i = 0; i < s->description->params.n; i++)
        if (name && strcmp(s->description->params.at[i].name, name) == 0)
            return r->model->p[i];
    return missing(w, r, "parameter", name);
}

static const char *const functions[] = {
    "start", "end",     "at",       "max",   "min",    "change",    "event", "count",  "drift",
    "time",  "stopped", "residual", "param", "differ", "invariant", "when",  "circle", NULL};

bool ns_claims_knows(const char *function)
{
    for (uint32_t i = 0; functions[i]; i++)
        if (strcmp(functions[i], function) == 0)
            return true;
    return false;
}

double ns_claims_value(ns_claims_world *w, ns_claims_run *r, const char *function,
                       const char *name, double extra)
{
    if (strcmp(function, "event") == 0 || strcmp(function, "count") == 0)
        return of_event(w, r, name, extra, function[0] == 'c');
    static const char *const of_values[] = {"start", "end", "at", "max", "min", "change", NULL};
    uint32_t which = 0;
    while (of_values[which] && strcmp(of_values[which], function) != 0)
        which++;
    if (!of_values[which])
        return of_whole(w, r, function, name);
    const int64_t value = name ? ns_model_observable(r->model, name) : -1;
    if (value < 0)
        return missing(w, r, "value", name);
    if (strcmp(function, "start") == 0)
        return sample(r, value, 0);
    if (strcmp(function, "end") == 0)
        return sample(r, value, r->n - 1);
    if (strcmp(function, "at") == 0) { /* the sample there; they are 2000 to a run */
        uint32_t i = 0;
        while (i + 1 < r->n && fabs(r->t[i] - extra) > fabs(r->t[i + 1] - extra))
            i++;
        return fabs(r->t[i] - extra) < 1e-9 * ns_max(1, fabs(extra)) ? sample(r, value, i)
                                                                     : (double)NAN;
    }
    double low = INFINITY, high = -INFINITY, change = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const double v = sample(r, value, i);
        low = ns_min(low, v);
        high = ns_max(high, v);
        change = ns_max(change, fabs(v - sample(r, value, 0)));
    }
    return function[0] == 'c' ? change : strcmp(function, "max") == 0 ? high : low;
}
