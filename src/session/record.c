#include "session/record.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ode/auto.h"
#include "ode/quad/quad.h"
#include "session/checkpoint.h"
#include "session/output.h"
#include "session/record_internal.h"
#include "session/settings.h"

enum {
    STEPS_PER_LOOK = 8,      /* steps between two looks at the clock */
    MOST_PENDING = 64 << 20, /* bytes of rows that may wait for being written */
    MOST_ROWS = 2000000000,  /* more output times than this are surely a slip */
    CHECKPOINT_SECONDS = 10,
    WRITE_SHARE = 20 /* writing takes at most about 1/20 of the time */
};

double ns_record_energy_drift(const ns_record *record)
{
    return record->model->system->conservative ? record->outcome->energy_drift : (double)NAN;
}

void ns_record_fail(ns_record *record, ns_status status, const char *format, ...)
{
    if (record->status < 0)
        return;
    record->status = status;
    va_list list;
    va_start(list, format);
    vsnprintf(record->message, sizeof record->message, format, list);
    va_end(list);
}

static void no_memory(ns_record *r)
{
    ns_record_fail(r, NS_ERR_MEMORY, "out of memory");
}

ns_record_options ns_record_defaults(const ns_model *model)
{
    ns_record_options o = {.run = ns_model_run_options(model), .flush_seconds = 2};
    o.run.extremes = false; /* nobody asks for them */
    if (!isnan(model->settings.every))
        o.every = model->settings.every;
    return o;
}

size_t ns_record_rows(const ns_record *record)
{
    return record->first_row + record->table.rows;
}

bool ns_record_stretch(const ns_record *record, size_t *next, double *t, uint32_t *mode)
{
    const ns_outcome *o = record->outcome;
    if (!o || record->model->system->modes.n < 2)
        return false;
    if (*next == 0) {
        *next = 1;
        *t = record->options.run.t0;
        *mode = o->first_mode;
        return true;
    }
    for (size_t i = *next - 1; i < o->n_events; i++)
        if (o->events[i].before != o->events[i].after) {
            *next = i + 2;
            *t = o->events[i].t;
            *mode = o->events[i].after;
            return true;
        }
    *next = o->n_events + (size_t)1;
    return false;
}

/* ---- preparation ------------------------------------------------------------------------- */

static double direction(const ns_record *r)
{
    return r->options.run.until < r->options.run.t0 ? -1 : 1;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

/* The end of the run: what was said, or the last output time if that is later and allowed. */
static void settle_until(ns_record *r)
{
    ns_run_options *run = &r->options.run;
    const ns_record_options *o = &r->options;
    if (isinf(run->until) || !isfinite(run->t0)) {
        ns_record_fail(r, NS_ERR_USAGE, "the run must begin and end at finite times");
        return;
    }
    if (!o->until_fixed)
        for (size_t i = 0; i < o->n_at; i++)
            if (isnan(run->until) || fabs(o->at[i] - run->t0) > fabs(run->until - run->t0))
                run->until = o->at[i];
    if (isnan(run->until))
        ns_record_fail(r, NS_ERR_USAGE,
                       "the model does not say how long to run: add  run { until T }  to it, "
                       "or give the end time");
}

static void copy_times(ns_record *r)
{
    const ns_record_options *o = &r->options;
    const double sign = direction(r);
    r->times = malloc((o->n_at + 1) * sizeof(double));
    if (!r->times) {
        no_memory(r);
        return;
    }
    for (size_t i = 0; i < o->n_at; i++) {
        if (!(sign * o->at[i] >= sign * o->run.t0 && sign * o->at[i] <= sign * o->run.until)) {
            ns_record_fail(r, NS_ERR_USAGE,
                           "output time %g is outside of the run, which goes from %g to %g",
                           o->at[i], o->run.t0, o->run.until);
            return;
        }
        r->times[i] = o->at[i];
    }
    qsort(r->times, o->n_at, sizeof(double), sign > 0 ? ascending : descending);
    for (size_t i = 0; i < o->n_at; i++)
        if (r->n_times == 0 || r->times[r->n_times - 1] < r->times[i] ||
            r->times[r->n_times - 1] > r->times[i])
            r->times[r->n_times++] = r->times[i];
}

static void settle_times(ns_record *r)
{
    const ns_record_options *o = &r->options;
    if (o->n_at)
        copy_times(r);
    else if (o->every < 0 || !isfinite(o->every)) {
        ns_record_fail(r, NS_ERR_USAGE, "the output interval must be positive");
    } else if (o->every > 0) {
        /* The last multiple counts when only round-off keeps it from the end. */
        double n = floor(fabs(o->run.until - o->run.t0) / o->every * (1 + 1e-12));
        if (n >= MOST_ROWS)
            ns_record_fail(r, NS_ERR_USAGE, "output every %g gives more than %d rows", o->every,
                           MOST_ROWS);
        else
            r->n_times = (size_t)n + 1;
    }
}

/* 0.3 rather than 0.30000000000000004, for methods to which 0.3 is a decimal number. */
static double decimal(double t)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", t);
    const double near = strtod(text, NULL);
    return fabs(near - t) <= 4 * DBL_EPSILON * fabs(t) ? near : t;
}

double ns_record_time(const ns_record *r, size_t i)
{
    if (r->times)
        return r->times[i];
    const ns_run_options *run = &r->options.run;
    const double sign = direction(r), about = run->t0 + sign * (double)i * r->options.every;
    const double t = r->method->precise ? decimal(about) : about;
    return sign * t > sign * run->until - 1e-9 * r->options.every ? run->until : t;
}

static void settle_method(ns_record *r)
{
    const char *name = r->options.run.method;
    r->chosen = ns_auto_asked(&r->options.run);
    r->method = name && !r->chosen ? ns_method_find(name) : ns_methods[0];
    if (r->method && r->method->precise && r->model->sensitivity)
        ns_record_fail(r, NS_ERR_USAGE,
                       "sensitivities are in double precision: choose another "
                       "method than %s",
                       name);
    if (r->method)
        return;
    char words[NS_NO_METHOD];
    ns_record_fail(r, NS_ERR_USAGE, "%s", ns_settings_no_method(name, words));
}

/* --method auto: the trials begin where the run does.  A run that is continued goes on with the
 * method it began with. */
static void choose_method(ns_record *r)
{
    ns_run_options *o = &r->options.run;
    const char *refusal = r->chosen ? ns_auto_refusal(o) : NULL;
    if (!r->chosen)
        return;
    if (refusal) {
        ns_record_fail(r, NS_ERR_USAGE, "%s", refusal);
        return;
    }
    if (r->options.resume && !r->options.route) {
        r->method = ns_checkpoint_method(r, r->options.resume);
        o->method = r->method ? r->method->name : NULL;
        return;
    }
    ns_choice choice;
    ns_auto_choose(ns_model_problem(r->model, false), o, r->model->p, r->model->x0, &choice);
    if (choice.stiff && !r->options.checkpoint) { /* bdf has none */
        const ns_problem *problem = ns_model_problem(r->model, true);
        if (problem)
            ns_auto_choose_stiff(problem, o, r->model->p, r->model->x0, &choice);
    }
    r->method = choice.method;
    o->method = choice.method->name;
    memcpy(r->choice, choice.why, sizeof r->choice);
}

static void settle_tolerance(ns_record *r)
{
    double *tolerance = &r->options.run.tolerance;
    if (!isfinite(*tolerance) || *tolerance < 0)
        ns_record_fail(r, NS_ERR_USAGE, "the tolerance must be a positive number");
    else if (*tolerance == 0)
        *tolerance = r->method->default_tolerance;
    else if (*tolerance < r->method->least_tolerance)
        *tolerance = r->method->least_tolerance; /* and the caller sees it */
}

/* Names are looked at before anything is computed or any file is made. */
static void check_outputs(ns_record *r)
{
    const ns_record_options *o = &r->options;
    for (size_t i = 0; i < o->n_outputs; i++) {
        if (!ns_output_find(o->formats, o->outputs[i]))
            ns_record_fail(r, NS_ERR_USAGE,
                           "the format of `%s` is unknown: its name must end in .h5, .csv, "
                           ".json, .svg or .glb",
                           o->outputs[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(o->outputs[i], o->outputs[j]) == 0)
                ns_record_fail(r, NS_ERR_USAGE, "the output `%s` is given twice",
                               o->outputs[i]);
    }
}

static void open_outputs(ns_record *r)
{
    const ns_record_options *o = &r->options;
    r->files = calloc(o->n_outputs + 1, sizeof *r->files);
    if (!r->files) {
        no_memory(r);
        return;
    }
    for (size_t i = 0; i < o->n_outputs && r->status == NS_OK; i++) {
        r->n_files = i + 1;
        const ns_output_format *format = ns_output_find(o->formats, o->outputs[i]);
        if (!ns_output_open(&r->files[i], format, o->outputs[i]))
            ns_record_fail(r, r->files[i].code == ENOMEM ? NS_ERR_MEMORY : NS_ERR_USAGE,
                           "cannot write %s", r->files[i].error);
        if (r->files[i].format && r->files[i].format->needs_all)
            r->options.keep = true;
        if (r->files[i].format && r->files[i].format->needs_motion)
            r->options.motion = true;
        if (r->files[i].format && r->files[i].format->needs_scene &&
            !ns_scene_is_drawn(&r->model->system->scene))
            ns_record_fail(r, NS_ERR_USAGE,
                           "cannot write %s: the model has no picture; a `draw` block gives it "
                           "one",
                           o->outputs[i]);
    }
    if (o->checkpoint && r->status == NS_OK) {
        ns_file_target target;
        int error = ns_file_target_init(&target, o->checkpoint);
        ns_file_target_free(&target);
        if (error)
            ns_record_fail(r, error == ENOMEM ? NS_ERR_MEMORY : NS_ERR_USAGE,
                           "cannot write %s: %s", o->checkpoint, strerror(error));
        r->options.keep = true; /* a checkpoint holds the rows too */
    }
}

static void begin_run(ns_record *r)
{
    const ns_problem *problem = ns_model_problem_for(r->model, r->method);
    if (!problem) {
        no_memory(r);
        return;
    }
    if (r->method->precise && (r->options.checkpoint || r->options.resume)) {
        ns_record_fail(r, NS_ERR_USAGE, "checkpoints are for runs in double precision");
        return;
    }
    if (!r->method->exact_restart && (r->options.checkpoint || r->options.resume)) {
        ns_record_fail(r, NS_ERR_USAGE,
                       "runs by %s cannot be continued: its history is in memory that no "
                       "checkpoint holds; gauss, dop853 and taylor continue to the bit",
                       r->method->name);
        return;
    }
    const double *p = r->model->p, *x0 = r->model->x0;
    if (r->method->precise) {
        const ns_exact *exact = r->model->exact[0];
        r->options.run.p_lo = exact->p_lo;
        r->options.run.x0_lo = exact->x_lo;
        p = exact->p;
        x0 = exact->x;
    }
    ns_status status = NS_OK;
    const char *message = "";
    r->run = ns_run_new(problem, &r->options.run, p, x0, &status, &message);
    if (!r->run)
        ns_record_fail(r, status ? status : NS_ERR_MEMORY, "%s",
                       message && *message ? message : ns_status_text(status));
    else
        r->outcome = ns_run_outcome(r->run);
}

static void resume(ns_record *r)
{
    if (r->options.resume && !r->options.route)
        ns_checkpoint_load(r, r->options.resume);
}

static void begin_rest(ns_record *r)
{
    if (r->options.route)
        r->options.route->begin(r);
    if (r->status == NS_OK && r->options.motion &&
        !ns_motion_begin(&r->motion, r->run, r->model->system->states.n))
        no_memory(r);
}

/* In this order, while nothing is wrong. */
static void (*const steps[])(ns_record *r) = {
    check_outputs, settle_method, settle_until, choose_method, settle_tolerance,
    settle_times,  begin_run,     resume,       open_outputs,  begin_rest,
};

ns_record *ns_record_new(ns_model *model, const ns_record_options *options)
{
    ns_record *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->model = model;
    r->options = *options;
    if (model->status != NS_OK) {
        ns_record_fail(r, model->status, "%s", ns_status_text(model->status));
        return r;
    }
    const size_t n = model->system->states.n;
    r->columns = model->system->observables.n;
    r->table.columns = r->low.columns = r->events.columns = r->columns;
    r->x = calloc(n + 1, sizeof(double));
    r->row = calloc(r->columns + (size_t)1, sizeof(double));
    r->last = calloc(r->columns + (size_t)1, sizeof(double));
    r->row_low = calloc(r->columns + (size_t)1, sizeof(double));
    r->last_low = calloc(r->columns + (size_t)1, sizeof(double));
    if (!r->x || !r->row || !r->last || !r->row_low || !r->last_low)
        no_memory(r);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && r->status == NS_OK; i++)
        steps[i](r);
    return r;
}

/* ---- running ----------------------------------------------------------------------------- */

void ns_record_add_row(ns_record *r, double t, const double *x)
{
    bool precise = r->options.observe != NULL;
    if (precise)
        r->options.observe(r->options.observer, ns_run_mode(r->run), t, x, r->row, r->row_low);
    else
        precise = ns_run_observe_precise(r->run, t, r->row, r->row_low);
    if (!precise)
        ns_run_observe(r->run, t, x, r->row);
    else if (!ns_table_add(&r->low, ns_quad_time_low(t), r->row_low))
        ns_record_fail(r, NS_ERR_MEMORY, "out of memory at t = %g", t);
    if (!ns_table_add(&r->table, t, r->row))
        ns_record_fail(r, NS_ERR_MEMORY, "out of memory at t = %g", t);
}

/* Rows for all output times that the run has covered. */
static void add_rows(ns_record *r)
{
    const double reached = ns_run_time(r->run), sign = direction(r);
    while (r->next_time < r->n_times && r->status >= 0) {
        const double t = ns_record_time(r, r->next_time);
        if (sign * t > sign * reached)
            break;
        if (sign * t < sign * reached && !r->method->precise) {
            ns_run_state_at(r->run, t, r->x);
            ns_record_add_row(r, t, r->x);
        } else {
            ns_record_add_row(r, t, ns_run_state(r->run));
        }
        r->next_time++;
        if (!r->options.keep && ns_table_bytes(&r->table) > MOST_PENDING)
            ns_record_write(r, (double)INFINITY);
    }
}

static void add_events(ns_record *r)
{
    const ns_outcome *o = r->outcome;
    const size_t n = r->model->system->states.n;
    for (size_t i = r->events.rows; i < o->n_events; i++) {
        if (r->outcome == &r->whole)
            ns_run_observe(r->run, o->events[i].t, o->event_states + i * n, r->row);
        else
            ns_run_observe_event(r->run, (uint32_t)i, r->row);
        if (!ns_table_add(&r->events, o->events[i].t, r->row)) {
            ns_record_fail(r, NS_ERR_MEMORY, "out of memory at t = %g", o->t);
            break;
        }
    }
}

static void look(ns_record *r)
{
    if (r->outcome == &r->whole) { /* built from one period: what there is to know is known */
        add_events(r);
        return;
    }
    r->outcome = ns_run_outcome(r->run);
    add_events(r);
    if (!ns_run_observe_precise(r->run, ns_run_time(r->run), r->last, r->last_low))
        ns_run_observe(r->run, ns_run_time(r->run), ns_run_state(r->run), r->last);
}

/* Things done now and then.  Writing may take long on a slow disk or with much data: the time
 * to the next is a multiple of what the last one took. */
static double next_time(double began, double shortest)
{
    const double ended = ns_clock_seconds(), pause = WRITE_SHARE * (ended - began);
    return ended + (pause > shortest ? pause : shortest);
}

static void write_file(ns_record *r, ns_output *file)
{
    const double began = ns_clock_seconds();
    if (file->failed)
        return;
    const bool good = ns_output_write(file, r);
    file->due = next_time(began, r->options.flush_seconds);
    if (good)
        return;
    if (file->rows && !file->format->needs_motion) /* pictures are written at the end only */
        ns_record_fail(r, NS_ERR_IO, "cannot write %s; it holds the first %zu rows",
                       file->error, file->rows);
    else
        ns_record_fail(r, NS_ERR_IO, "cannot write %s", file->error);
}

void ns_record_write(ns_record *r, double time)
{
    bool looked = false, all = true;
    for (size_t i = 0; i < r->n_files; i++) {
        if (time >= r->files[i].due) {
            if (!looked)
                look(r);
            looked = true;
            write_file(r, &r->files[i]);
        }
        all = all && r->files[i].rows == ns_record_rows(r);
    }
    /* Rows that are in all files are forgotten. */
    if (!r->options.keep && all) {
        r->first_row += r->table.rows;
        r->table.rows = r->low.rows = 0;
    }
}

static double first_due(ns_record *r, double began)
{
    for (size_t i = 0; i < r->n_files; i++)
        r->files[i].due = began + r->options.flush_seconds / 4; /* something soon */
    return began + CHECKPOINT_SECONDS;
}

static void report(const ns_record *r)
{
    if (!r->options.progress)
        return;
    const ns_run_options *o = &r->options.run;
    const double span = o->until - o->t0, t = ns_run_time(r->run);
    const ns_progress p = {.fraction = span > 0 || span < 0 ? (t - o->t0) / span : 1,
                           .t = t,
                           .seconds = r->seconds,
                           .steps = ns_run_outcome(r->run)->steps};
    r->options.progress(r->options.context, &p);
}

static void save_checkpoint(ns_record *r)
{
    if (r->options.checkpoint)
        ns_checkpoint_save(r, r->options.checkpoint);
}

/* ---- native code ------------------------------------------------------------------------- */

static void go_native(ns_record *r)
{
    const ns_problem *problem = ns_model_problem_for(r->model, r->method);
    r->native = ns_problem_native(problem, r->method->lanes, r->native_message,
                                  sizeof r->native_message, NULL);
    if (r->native)
        r->native_message[0] = 0;
}

static bool pays(const ns_record *r, double seconds)
{
    const ns_run_options *o = &r->options.run;
    return ns_problem_native_pays(ns_model_problem_for(r->model, r->method), seconds,
                                  (ns_run_time(r->run) - o->t0) / (o->until - o->t0));
}

static ns_status integrate(ns_record *r)
{
    const double sign = direction(r), until = r->options.run.until;
    const double began = ns_clock_seconds(), before = r->seconds;
    double checkpoint_due = first_due(r, began);
    double next_report = began;
    ns_status status = NS_OK;
    ns_record_engine engine = r->options.engine;
    if (engine == NS_ENGINE_NATIVE)
        go_native(r);
    add_rows(r);
    for (unsigned i = 1; status == NS_OK && r->status == NS_OK; i++) {
        if (sign * ns_run_time(r->run) >= sign * until)
            break;
        status = ns_run_step(r->run);
        add_rows(r);
        if (r->options.motion)
            ns_motion_add(&r->motion, r->run);
        if (i % STEPS_PER_LOOK)
            continue;
        double time = ns_clock_seconds();
        r->seconds = before + (time - began);
        if (engine == NS_ENGINE_AUTO && pays(r, time - began)) {
            engine = NS_ENGINE_NATIVE;
            go_native(r);
        }
        ns_record_write(r, time);
        if (r->options.checkpoint && time >= checkpoint_due) {
            look(r);
            save_checkpoint(r);
            checkpoint_due = next_time(time, CHECKPOINT_SECONDS);
        }
        if (time >= next_report) {
            report(r);
            next_report = time + 0.1;
        }
    }
    r->seconds = before + (ns_clock_seconds() - began);
    return status;
}

/* Adds to the message which linear system is all but singular where the run ended. */
static void say_singular(ns_record *r)
{
    static const double small = 1e-6; /* such a pivot costs six digits */
    const ns_model *model = r->model;
    const size_t used = strlen(r->message);
    ns_arena *arena = ns_arena_new();
    if (arena && !NS_ARENA_GUARD(arena)) {
        uint32_t n = 0;
        const double pivot = ns_system_pivot(ns_system_fork(model->shared, arena), arena,
                                             ns_run_time(r->run), model->p,
                                             ns_run_state(r->run), &n);
        if (pivot < small)
            snprintf(r->message + used, sizeof r->message - used,
                     "; of the %u linear equations that give the rates one is all but a "
                     "combination of the others there (pivot %.2g)",
                     n, pivot);
    }
    ns_arena_free(arena);
}

ns_status ns_record_run(ns_record *r)
{
    if (r->status != NS_OK || !r->run)
        return r->status;
    r->running = true;
    if (r->options.route) {
        r->options.route->run(r);
        look(r);
        r->running = false;
        ns_record_write(r, (double)INFINITY);
        for (size_t i = 0; i < r->n_files; i++)
            ns_output_close(&r->files[i]);
        return r->status;
    }
    const ns_status status = integrate(r);
    look(r);
    if (status == NS_STOP_ASKED && r->status == NS_OK) {
        snprintf(r->message, sizeof r->message, "%s", r->outcome->reason);
    } else if (status != NS_OK) {
        const char *reason = r->outcome->reason;
        ns_record_fail(r, status, "%s", reason && *reason ? reason : ns_status_text(status));
        if (status == NS_STOP_STEP || status == NS_STOP_LIMIT || status == NS_STOP_SINGULAR)
            say_singular(r);
    }
    r->running = false;
    if (r->options.motion)
        ns_motion_end(&r->motion, r->run);
    save_checkpoint(r);
    /* Without output times the end is what is recorded, wherever it is. */
    if (r->n_times == 0)
        ns_record_add_row(r, ns_run_time(r->run), ns_run_state(r->run));
    ns_record_write(r, (double)INFINITY);
    for (size_t i = 0; i < r->n_files; i++)
        ns_output_close(&r->files[i]);
    return r->status;
}

void ns_record_free(ns_record *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_files; i++)
        ns_output_close(&r->files[i]);
    free(r->files);
    ns_run_free(r->run);
    ns_table_free(&r->table);
    ns_table_free(&r->low);
    ns_table_free(&r->events);
    ns_motion_free(&r->motion);
    ns_arena_free(r->own);
    free(r->digits);
    free(r->trust);
    free(r->times);
    free(r->x);
    free(r->row);
    free(r->last);
    free(r->row_low);
    free(r->last_low);
    free(r);
}
