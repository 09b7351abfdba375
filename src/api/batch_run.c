/* Batches: making the sweep that was asked for, and running it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/batch.h"
#include "base/process/plain.h"
#include "expr/subst.h"
#include "ode/auto.h"
#include "session/variant.h"

/* ---- the request ------------------------------------------------------------------------- */

/* For quantities: expressions of states, time and parameters; for limits: of parameters. */
static bool read_expression(void *context, const char *text, ns_ex *out)
{
    ns_batch *b = context;
    ns_model *m = b->own;
    ns_value value = {0};
    const uint32_t messages = m->diag->messages.n;
    if (!ns_description_evaluate(m->description, "batch", text, &value)) {
        ns_batch_refuse(b, NS_WRONG, "%s: %s", text,
                        m->diag->messages.n > messages ? m->diag->messages.at[messages].text
                                                       : "not an expression");
        return false;
    }
    if (value.rows != 1 || value.cols != 1) {
        ns_batch_refuse(b, NS_WRONG, "expected a number, not a vector: `%s`", text);
        return false;
    }
    *out = value.at[0];
    const ns_system *s = m->system;
    for (uint32_t i = 0; i < s->accelerations.n; i++)
        *out = ns_subst_one(s->graph, *out, &s->accelerations.at[i].from,
                            &s->accelerations.at[i].to, 1);
    return true;
}

/* The numbers of the model's parameters are those of the variant, if it is one. */
static bool read_limit(ns_batch *b, const char *text, double *out)
{
    ns_ex e;
    if (!read_expression(b, text, &e))
        return false;
    ns_system_eval(b->own->system, &e, 1, 0, b->model->p, NULL, out);
    if (isfinite(*out))
        return true;
    ns_batch_refuse(b, NS_WRONG, "`%s` is not a finite number", text);
    return false;
}

/* What a variant has set and the caller does not vary is an axis of one value. */
static void fix_variant(ns_batch *b, ns_plan *plan)
{
    const ns_variant *v = b->model->variant;
    for (uint32_t i = 0; v && i < v->n; i++) {
        bool varied = false;
        for (uint32_t k = 0; k < b->shown; k++)
            varied = varied || strcmp(plan->axes.at[k].name, v->name[i]) == 0;
        const ns_plan_axis axis = {.name = v->name[i],
                                   .kind = NS_PLAN_GRID,
                                   .low = v->value[i],
                                   .high = v->value[i],
                                   .n = 1};
        if (!varied)
            NS_PUSH(b->made, plan->axes, axis);
    }
}

/* NULL, or what is wrong, "" if it is said already. */
static const char *make_plan(ns_batch *b, ns_plan *plan)
{
    *plan = b->plan;
    if (!plan->axes.n)
        return "there is nothing to vary";
    plan->axes.at = ns_arena_copy(b->made, b->plan.axes.at,
                                  b->plan.axes.n * sizeof *plan->axes.at);
    plan->axes.room = plan->axes.n;
    b->shown = plan->axes.n;
    bool sampled = false;
    for (uint32_t i = 0; i < plan->axes.n; i++) {
        const ns_batch_limits *limits = &b->limits.at[i];
        if (limits->low && (!read_limit(b, limits->low, &plan->axes.at[i].low) ||
                            !read_limit(b, limits->high, &plan->axes.at[i].high)))
            return ""; /* the reason is there */
        sampled = sampled || (plan->axes.at[i].kind >= NS_PLAN_UNIFORM &&
                              plan->axes.at[i].kind <= NS_PLAN_NORMAL);
    }
    if (sampled && !plan->count)
        return "random values need a count";
    fix_variant(b, plan);
    return ns_plan_settle(b->made, plan);
}

/* Settings of the model that change from row to row would be taken at one value for all. */
static const char *check_settings(ns_batch *b, const ns_plan *plan)
{
    const char **names = NS_NEW_ARRAY(b->made, const char *, plan->axes.n + 1);
    const char *message = "";
    for (uint32_t i = 0; i < plan->axes.n; i++)
        names[i] = plan->axes.at[i].name;
    const ns_starter *starter = ns_starter_new(b->made, b->own->system, 0, names, plan->axes.n,
                                               &message);
    if (!starter)
        return message;
    const char *setting = b->model->variant
                              ? NULL
                              : ns_starter_setting(starter, b->own->description, b->until_said,
                                                   b->tolerance_said);
    return setting ? ns_arena_format(b->made,
                                     "`%s` of the run block depends on what is varied, and is "
                                     "the same for all rows",
                                     setting)
                   : NULL;
}

static const char *make_run(ns_batch *b, ns_run_options *run)
{
    enum { MOST_STEPS = 10000000 }; /* one row must not keep the others waiting */
    *run = b->run;
    if (isnan(b->model->settings.max_steps) && run->max_steps == NS_RUN_MOST_STEPS)
        run->max_steps = MOST_STEPS;
    if (!b->method_said && !b->model->settings.method)
        run->method = ns_method_dop853.name; /* the fastest in lanes */
    if (ns_auto_asked(run))
        return "method auto chooses for one motion, not for many: name a method";
    const ns_method *method = ns_method_find(run->method);
    run->method = method->name;
    if (run->tolerance == 0)
        run->tolerance = method->default_tolerance;
    else if (run->tolerance < method->least_tolerance)
        run->tolerance = method->least_tolerance;
    run->interrupt = &b->stop;
    return isfinite(run->until) ? NULL : "the model does not say how long to run: set until";
}

static ns_verdict make_sweep(ns_batch *b)
{
    ns_sweep_spec spec = {.system = b->own->system,
                          .gets = b->gets.at,
                          .n_gets = b->gets.n,
                          .lanes = b->lanes,
                          .alone = b->alone,
                          .reader = read_expression,
                          .context = b};
    const char *wrong = make_plan(b, &spec.plan);
    if (!wrong && b->alone && b->lanes)
        wrong = "lanes says how many motions at a time, alone that it is one";
    if (!wrong)
        wrong = check_settings(b, &spec.plan);
    if (!wrong)
        wrong = make_run(b, &spec.run);
    if (wrong && *wrong)
        return ns_batch_refuse(b, NS_WRONG, "%s", wrong);
    if (wrong)
        return NS_WRONG;
    b->sweep = ns_sweep_new(b->made, &spec, &wrong);
    if (b->sweep)
        return NS_DONE;
    return wrong && *wrong ? ns_batch_refuse(b, NS_WRONG, "%s", wrong) : NS_WRONG;
}

/* Two arenas may run out. */
static ns_verdict guarded(ns_batch *b)
{
    if (NS_ARENA_GUARD(b->made) || NS_ARENA_GUARD(b->own->arena)) {
        b->sweep = NULL;
        return ns_batch_refuse(b, NS_FAILED, "out of memory");
    }
    return make_sweep(b);
}

ns_verdict ns_batch_prepare(ns_batch *b)
{
    NS_PLAIN_NUMBERS;
    if (!b || !b->arena)
        return NS_FAILED;
    ns_batch_change(b);
    const ns_model *m = b->model;
    if (!ns_api_good(m))
        return ns_batch_refuse(b, NS_WRONG, "the model is wrong");
    b->made = ns_arena_new();
    b->own = ns_model_load_text(m->name, m->text, m->length, m->overrides, m->n_overrides,
                                NS_MODEL_DERIVED);
    if (!b->made || !b->own || b->own->status != NS_OK)
        return ns_batch_refuse(b, NS_FAILED, "out of memory");
    const ns_verdict verdict = guarded(b);
    ns_arena_unguard(b->made);
    ns_arena_unguard(b->own->arena);
    return verdict;
}

/* ---- running ----------------------------------------------------------------------------- */

static bool take_room(ns_batch *b)
{
    const size_t rows = ns_batch_rows(b), columns = ns_batch_columns(b);
    if (b->forget)
        return true;
    b->values = malloc((rows * columns + 1) * sizeof *b->values);
    b->status = malloc((rows + 1) * sizeof *b->status);
    b->why = calloc(rows + 1, sizeof *b->why);
    if (!b->values || !b->status || !b->why)
        return false;
    for (size_t i = 0; i < rows * columns; i++)
        b->values[i] = (double)NAN;
    for (size_t i = 0; i < rows; i++)
        b->status[i] = NS_BATCH_NOT_DONE;
    return true;
}

/* One row: the values of the axes shown, then the quantities; those of hidden axes lie between
 * them in the record. */
static void take_row(ns_batch *b, size_t row, const unsigned char *record, double *columns)
{
    const ns_sweep *sweep = b->sweep;
    const size_t gets = sweep->n_gets * sizeof(double);
    ns_sweep_end end;
    memcpy(columns, record, b->shown * sizeof(double));
    memcpy(columns + b->shown, record + sweep->n_axes * sizeof(double), gets);
    memcpy(&end, record + sweep->n_axes * sizeof(double) + gets, sizeof end);
    end.reason[NS_SWEEP_REASON - 1] = 0;
    if (!b->forget) {
        memcpy(b->values + row * ns_batch_columns(b), columns,
               ns_batch_columns(b) * sizeof *columns);
        b->status[row] = end.status;
        memcpy(b->why[row], end.reason, sizeof end.reason);
    }
    if (b->on_row && !b->stop &&
        b->on_row(b->row_context, row, columns, ns_api_verdict((ns_status)end.status),
                  end.reason))
        b->stop = 1;
}

static int put(void *context, uint64_t first, uint32_t count, const void *records)
{
    ns_batch *b = context;
    double *columns = malloc((ns_batch_columns(b) + 1) * sizeof *columns);
    if (!columns)
        return ENOMEM;
    pthread_mutex_lock(&b->lock);
    for (uint32_t i = 0; i < count; i++)
        take_row(b, (size_t)(first + i), (const unsigned char *)records + i * b->sweep->record,
                 columns);
    pthread_mutex_unlock(&b->lock);
    free(columns);
    return 0;
}

static void pass_progress(void *context, const ns_sweep_progress *p)
{
    ns_batch *b = context;
    const double rows = (double)ns_batch_rows(b), made = (double)p->computed;
    if (b->progress && b->progress(b->progress_context, rows > 0 ? made / rows : 1, made))
        b->stop = 1;
}

ns_verdict ns_batch_run(ns_batch *b)
{
    NS_PLAIN_NUMBERS;
    const ns_verdict verdict = ns_batch_prepare(b);
    if (verdict != NS_DONE)
        return verdict;
    if (!take_room(b))
        return ns_batch_refuse(b, NS_FAILED, "out of memory");
    b->stop = 0;
    if (!ns_batch_rows(b))
        return NS_DONE;
    const ns_sweep_sink sink = {.context = b, .put = put};
    const ns_sweep_run_options o = {.threads = b->threads,
                                    .engine = b->engine,
                                    .interrupt = &b->stop,
                                    .progress = pass_progress,
                                    .context = b};
    ns_sweep_outcome out = {0};
    const ns_status status = ns_sweep_run(b->sweep, &sink, &o, &out);
    if (status == NS_OK)
        return NS_DONE;
    return ns_batch_refuse(b, ns_api_verdict(status), "%s",
                           *out.message ? out.message : ns_status_text(status));
}
