/* The functions of a claim's expressions that look at runs, series and printed output:
 * docs/claims.md says what each means. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/claims/claim_runs.h"

typedef const ns_formula_call call;

static const double none = (double)NAN;

static ns_claims_world *world(call *c)
{
    return c->world->context;
}

/* ---- arguments --------------------------------------------------------------------------- */

/* Argument k is a word; false after a message. */
static bool word(call *c, uint32_t k, const char *expected, ns_claim_word *out)
{
    out->text = ns_formula_word(c->world->arena, &c->args[k]);
    out->place = c->args[k].span;
    if (!out->text)
        ns_diag_error(c->world->diag, out->place, "expected %s", expected);
    return out->text != NULL;
}

static ns_claims_run *run_at(call *c, uint32_t k)
{
    ns_claim_word name;
    return word(c, k, "the name of a run", &name) ? ns_claims_find(world(c), &name) : NULL;
}

/* Argument k is a number; `otherwise` if it is left out. */
static double number_at(call *c, uint32_t k, double otherwise)
{
    return k < c->n ? ns_formula_value(c->world, &c->args[k]) : otherwise;
}

static double missing(const ns_claims_world *w, const ns_claims_run *run, ns_span place,
                      const char *what, const char *name)
{
    ns_diag_error(w->claim->diag, place, "run `%s` has no %s `%s`", run->name, what, name);
    return none;
}

/* Arguments k and k + 1 are a run and one of its values. */
static const double *samples_at(call *c, uint32_t k, ns_claims_run **run)
{
    ns_claim_word name;
    *run = run_at(c, k);
    if (!*run || !word(c, k + 1, "the name of a value", &name))
        return NULL;
    return ns_claims_samples(world(c), *run, name.place, name.text);
}

/* ---- samples ----------------------------------------------------------------------------- */

static double *new_samples(const ns_claims_world *w, const ns_claims_run *r, const double *from,
                           size_t stride)
{
    double *out = NS_NEW_ARRAY(w->arena, double, r->n);
    for (uint32_t i = 0; i < r->n; i++)
        out[i] = from[i * stride];
    return out;
}

const double *ns_claims_samples(const ns_claims_world *w, const ns_claims_run *r, ns_span place,
                                const char *name)
{
    const ns_system *s = r->model->system;
    if (strcmp(name, "t") == 0)
        return r->t;
    for (uint32_t i = 0; strncmp(name, "residual.", 9) == 0 && i < s->constraints.n; i++)
        if (strcmp(s->constraints.at[i].name, name + 9) == 0)
            return new_samples(w, r, r->residuals + i, s->constraints.n);
    const bool error = strcmp(name, "energy.error") == 0;
    const int64_t value = ns_model_observable(r->model, error ? "energy" : name);
    if (value < 0) {
        missing(w, r, place, "value", name);
        return NULL;
    }
    double *out = new_samples(w, r, r->values + value, s->observables.n);
    const double first = out[0];
    for (uint32_t i = 0; error && i < r->n; i++)
        out[i] = (out[i] - first) / fabs(first);
    return out;
}

const char *ns_claims_unit(const ns_claims_run *run, const char *name)
{
    const int64_t value = ns_model_observable(run->model, name);
    return strcmp(name, "t") == 0 ? "s"
           : value < 0            ? ""
                                  : run->model->system->observables.at[value].unit;
}

/* Of the samples of a value, or of the values of a series. */
enum { FIRST, LAST, LEAST, MOST, CHANGE, FALLS };

static double reduce(int what, const double *v, uint32_t n)
{
    double least = INFINITY, most = -INFINITY, change = 0;
    bool falls = true;
    for (uint32_t i = 0; i < n; i++) {
        least = ns_min(least, v[i]);
        most = ns_max(most, v[i]);
        change = ns_max(change, fabs(v[i] - v[0]));
        falls = falls && (i == 0 || v[i] < v[i - 1]);
    }
    switch (what) {
    case FIRST:
        return v[0];
    case LAST:
        return v[n - 1];
    case LEAST:
        return least;
    case MOST:
        return most;
    case CHANGE:
        return change;
    default:
        return falls;
    }
}

static double of_samples(call *c)
{
    ns_claims_run *r;
    const double *v = samples_at(c, 0, &r);
    return v ? reduce(c->what, v, r->n) : none;
}

/* The sample at a time; nan if there is none. */
static double of_at(call *c)
{
    ns_claims_run *r;
    const double *v = samples_at(c, 0, &r), t = number_at(c, 2, 0);
    uint32_t i = 0;
    while (v && i + 1 < r->n && fabs(r->t[i] - t) > fabs(r->t[i + 1] - t))
        i++;
    return v && fabs(r->t[i] - t) < 1e-9 * ns_max(1, fabs(t)) ? v[i] : none;
}

static double of_differ(call *c)
{
    ns_claims_run *a, *b;
    const double *x = samples_at(c, 0, &a), *y = x ? samples_at(c, 2, &b) : NULL;
    double most = y ? 0 : none;
    for (uint32_t i = 0; y && i < a->n && i < b->n; i++) {
        if (a->t[i] != b->t[i])
            return missing(world(c), b, c->place, "common times with", a->name);
        most = ns_max(most, fabs(x[i] - y[i]));
    }
    return most;
}

/* Largest distance of the points from the circle that fits them best (least squares of
 * x^2 + y^2 + a x + b y + c, about the mean of the points), in parts of its radius. */
static double off_circle(const double *xs, const double *ys, uint32_t n)
{
    double mx = 0, my = 0, uu = 0, uv = 0, vv = 0, uz = 0, vz = 0, zz = 0, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        mx += xs[i] / n;
        my += ys[i] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
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
    const double radius = sqrt(a * a + b * b + zz / n);
    for (uint32_t i = 0; i < n; i++)
        most = ns_max(most, fabs(ns_math_hypot(xs[i] - mx - a, ys[i] - my - b) / radius - 1));
    return most;
}

static double of_circle(call *c)
{
    ns_claims_run *r;
    ns_claim_word name;
    const double *x = samples_at(c, 0, &r), *y = NULL;
    if (x && word(c, 2, "the name of a value", &name))
        y = ns_claims_samples(world(c), r, name.place, name.text);
    return y ? off_circle(x, y, r->n) : none;
}

/* ---- events ------------------------------------------------------------------------------ */

/* Arguments 0 and 1 are a run and one of its events. */
static bool event_at(call *c, ns_claims_run **run, uint32_t *event)
{
    ns_claim_word name;
    *run = run_at(c, 0);
    if (!*run || !word(c, 1, "the name of an event", &name))
        return false;
    const ns_system *s = (*run)->model->system;
    for (*event = 0; *event < s->events.n; ++*event)
        if (strcmp(s->events.at[*event].name, name.text) == 0)
            return true;
    missing(world(c), *run, name.place, "event", name.text);
    return false;
}

/* The k-th time it happened, k from 0, as an index of the outcome's list; the length of that
 * list if it did not happen that often.  *seen: how often in all, up to there. */
static uint32_t occurrence_of(const ns_outcome *o, uint32_t event, double k, uint32_t *seen)
{
    *seen = 0;
    for (uint32_t i = 0; i < o->n_events; i++)
        if (o->events[i].event == event && (*seen)++ == k)
            return i;
    return o->n_events;
}

static double of_event(call *c)
{
    ns_claims_run *r;
    uint32_t event, seen;
    if (!event_at(c, &r, &event))
        return none;
    const ns_outcome *o = ns_run_outcome(r->run);
    const uint32_t i = occurrence_of(o, event, number_at(c, 2, 0), &seen);
    return i < o->n_events ? o->events[i].t : none;
}

static double of_count(call *c)
{
    ns_claims_run *r;
    uint32_t event, seen;
    if (!event_at(c, &r, &event))
        return none;
    occurrence_of(ns_run_outcome(r->run), event, INFINITY, &seen);
    return seen;
}

static double of_when(call *c)
{
    ns_claims_run *r;
    ns_claim_word name;
    uint32_t event, seen;
    if (!event_at(c, &r, &event) || !word(c, 2, "the name of a value", &name))
        return none;
    const ns_system *s = r->model->system;
    const ns_outcome *o = ns_run_outcome(r->run);
    const int64_t value = ns_model_observable(r->model, name.text);
    if (value < 0)
        return missing(world(c), r, name.place, "value", name.text);
    const uint32_t i = occurrence_of(o, event, number_at(c, 3, 0), &seen);
    if (i == o->n_events)
        return missing(world(c), r, c->args[1].span, "such event", s->events.at[event].name);
    double *values = NS_NEW_ARRAY(c->world->arena, double, s->observables.n);
    ns_run_observe(r->run, o->events[i].t, o->event_states + (size_t)i * s->states.n, values);
    return values[value];
}

/* ---- whole runs -------------------------------------------------------------------------- */

enum { DRIFT, TIME, STOPPED, RESIDUAL };

static double of_run(call *c)
{
    const ns_claims_run *r = run_at(c, 0);
    if (!r)
        return none;
    const ns_outcome *o = ns_run_outcome(r->run);
    double most = 0;
    switch (c->what) {
    case DRIFT:
        return o->energy_drift;
    case TIME:
        return r->t[r->n - 1];
    case STOPPED:
        return r->status != NS_OK && r->status != NS_STOP_ASKED;
    default:
        for (uint32_t i = 0; i < r->model->system->constraints.n; i++)
            most = ns_max(most, o->residual[i]);
        return most;
    }
}

static double of_invariant(call *c)
{
    ns_claim_word name;
    const ns_claims_run *r = run_at(c, 0);
    if (!r || !word(c, 1, "the name of an invariant", &name))
        return none;
    const ns_system *s = r->model->system;
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (strcmp(s->invariants.at[i].name, name.text) == 0)
            return ns_run_outcome(r->run)->drift[i];
    return missing(world(c), r, name.place, "invariant", name.text);
}

static double of_param(call *c)
{
    ns_claim_word name;
    const ns_claims_run *r = run_at(c, 0);
    if (!r || !word(c, 1, "the name of a parameter", &name))
        return none;
    const ns_description *d = r->model->system->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (strcmp(d->params.at[i].name, name.text) == 0)
            return r->model->p[i];
    return missing(world(c), r, name.place, "parameter", name.text);
}

/* ---- series ------------------------------------------------------------------------------ */

/* Argument 0 is a series: the values of argument 1 for each of its runs; NULL after a
 * message. */
static const double *over_series(call *c, ns_claims_series **series)
{
    ns_claim_word name;
    if (!word(c, 0, "the name of a series", &name))
        return NULL;
    ns_claims_series *s = ns_claims_find_series(world(c), &name);
    double *out = s ? NS_NEW_ARRAY(c->world->arena, double, s->n) : NULL;
    for (uint32_t k = 0; s && k < s->n; k++) {
        s->present = k;
        out[k] = ns_formula_value(c->world, &c->args[1]);
    }
    *series = s;
    return out;
}

static double of_series(call *c)
{
    ns_claims_series *s;
    const double *v = over_series(c, &s);
    return v ? reduce(c->what, v, s->n) : none;
}

/* The slope of log |value| over log |parameter|, by least squares. */
static double of_order(call *c)
{
    ns_claims_series *s;
    const double *v = over_series(c, &s);
    double mx = 0, my = 0, sxy = 0, sxx = 0;
    for (uint32_t i = 0; v && i < s->n; i++) {
        mx += ns_math_log(fabs(s->value[i])) / s->n;
        my += ns_math_log(fabs(v[i])) / s->n;
    }
    for (uint32_t i = 0; v && i < s->n; i++) {
        const double x = ns_math_log(fabs(s->value[i])), y = ns_math_log(fabs(v[i]));
        sxy += (x - mx) * (y - my);
        sxx += (x - mx) * (x - mx);
    }
    return v ? sxy / sxx : none;
}

/* ---- a function of analysis -------------------------------------------------------------- */

/* Gauss's series  F(a, b; c; z) = sum_n (a)_n (b)_n z^n/((c)_n n!),  |z| < 1.  The pair a, b is
 * given by its sum s and product p, for it may be a conjugate one:
 *
 *     (a + n)(b + n) = n^2 + s n + p
 *
 * Terms are added with their rounding errors; the rest, a geometric series at the end, is below
 * a unit in the last place. */
static double of_hypergeometric(call *c)
{
    enum { TERMS = 100000 };
    const double s = number_at(c, 0, 0), p = number_at(c, 1, 0), low = number_at(c, 2, 0),
                 z = number_at(c, 3, 0);
    double sum = 1, lost = 0, term = 1;
    if (!(fabs(z) < 1) || (low <= 0 && floor(low) == low))
        return none; /* not a number fulfils no expectation */
    for (double n = 0; n < TERMS; n++) {
        term *= (n * n + s * n + p) / ((low + n) * (n + 1)) * z;
        const double to = sum + term;
        lost += fabs(sum) >= fabs(term) ? sum - to + term : term - to + sum;
        sum = to;
        if (n > fabs(s) + fabs(low) && fabs(term) < 1e-18 * (1 - fabs(z)) * fabs(sum))
            return sum + lost;
    }
    return none;
}

/* ---- output ------------------------------------------------------------------------------ */

/* Arguments: a command, "text" [, k].  What it printed after the k-th occurrence of the text;
 * *good is false after a message. */
static const char *behind(call *c, bool *good)
{
    ns_claim_word name;
    *good = word(c, 0, "the name of a command", &name);
    const char *found = *good ? ns_claims_output(world(c), &name) : NULL;
    const char *part = ns_formula_string(c->world->arena, &c->args[1]);
    if (found && !part)
        ns_diag_error(c->world->diag, c->args[1].span, "expected a text between \" \"");
    *good = found && part;
    if (!*good)
        return NULL;
    found = strstr(found, part);
    for (double k = number_at(c, 2, 0); found && k >= 1; k--)
        found = strstr(found + 1, part);
    return found ? found + strlen(part) : NULL;
}

/* `what`: the number there, otherwise whether there is such a place */
static double of_output(call *c)
{
    bool good;
    const char *found = behind(c, &good);
    if (!c->what)
        return good ? found != NULL : none;
    while (found && *found && !isdigit((unsigned char)*found) &&
           !(*found == '-' && isdigit((unsigned char)found[1])))
        found++;
    return found ? strtod(found, NULL) : none;
}

const ns_formula_function ns_claims_functions[] = {
    {"start", 2, 2, of_samples, FIRST},
    {"end", 2, 2, of_samples, LAST},
    {"min", 2, 2, of_samples, LEAST},
    {"max", 2, 2, of_samples, MOST},
    {"change", 2, 2, of_samples, CHANGE},
    {"at", 3, 3, of_at, 0},
    {"differ", 4, 4, of_differ, 0},
    {"circle", 3, 3, of_circle, 0},
    {"event", 2, 3, of_event, 0},
    {"count", 2, 2, of_count, 0},
    {"when", 3, 4, of_when, 0},
    {"drift", 1, 1, of_run, DRIFT},
    {"time", 1, 1, of_run, TIME},
    {"stopped", 1, 1, of_run, STOPPED},
    {"residual", 1, 1, of_run, RESIDUAL},
    {"invariant", 2, 2, of_invariant, 0},
    {"param", 2, 2, of_param, 0},
    {"smallest", 2, 2, of_series, LEAST},
    {"largest", 2, 2, of_series, MOST},
    {"falls", 2, 2, of_series, FALLS},
    {"order", 2, 2, of_order, 0},
    {"has", 2, 3, of_output, false},
    {"number", 2, 3, of_output, true},
    {"hypergeometric", 4, 4, of_hypergeometric, 0},
    {NULL, 0, 0, NULL, 0},
};
