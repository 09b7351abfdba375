/* Batches: what is asked for, and what came of it. */
#include "api/batch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/plain.h"
#include "command/study.h"

ns_verdict ns_batch_refuse(ns_batch *b, ns_verdict verdict, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(b->reason, sizeof b->reason, format, list);
    va_end(list);
    return verdict;
}

ns_batch *ns_batch_new(ns_model *model)
{
    ns_batch *b = calloc(1, sizeof *b);
    if (!b || pthread_mutex_init(&b->lock, NULL)) {
        free(b);
        return NULL;
    }
    b->model = model;
    b->arena = ns_arena_new();
    b->plan.seed = 1;
    b->engine = NS_ENGINE_AUTO;
    if (ns_api_good(model))
        b->run = ns_model_run_options(model);
    return b;
}

void ns_batch_change(ns_batch *b)
{
    b->reason[0] = 0;
    ns_arena_free(b->made);
    ns_model_free(b->own);
    free(b->values);
    free(b->column);
    free(b->status);
    free(b->why);
    b->made = NULL;
    b->own = NULL;
    b->sweep = NULL;
    b->values = b->column = NULL;
    b->status = NULL;
    b->why = NULL;
}

void ns_batch_close(ns_batch *b)
{
    if (!b)
        return;
    ns_batch_change(b);
    ns_arena_free(b->arena);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

const char *ns_batch_reason(const ns_batch *b)
{
    return b ? b->reason : "out of memory";
}

/* ---- what varies ------------------------------------------------------------------------- */

static ns_verdict begin(ns_batch *b)
{
    if (!b)
        return NS_FAILED;
    if (!b->arena)
        return ns_batch_refuse(b, NS_FAILED, "out of memory");
    ns_batch_change(b);
    if (!ns_api_good(b->model))
        return ns_batch_refuse(b, NS_WRONG, "the model is wrong");
    if (b->model->schedule)
        return ns_batch_refuse(b, NS_WRONG,
                               "inputs follow a table or a controller; batches need "
                               "constant ones");
    return NS_DONE;
}

static ns_verdict run_out(ns_batch *b)
{
    ns_arena_unguard(b->arena);
    return ns_batch_refuse(b, NS_FAILED, "out of memory");
}

static bool any_list(const ns_batch *b)
{
    return b->plan.axes.n && b->plan.axes.at[0].kind == NS_PLAN_LIST;
}

/* Everything that is added lives in the arena, which may run out. */
static ns_verdict add_axis(ns_batch *b, ns_plan_axis axis, ns_batch_limits limits,
                           const double *values, size_t n)
{
    axis.name = ns_plan_bare(ns_arena_string(b->arena, axis.name, strlen(axis.name)));
    if (values)
        axis.values = ns_arena_copy(b->arena, values, (n ? n : 1) * sizeof *values);
    NS_PUSH(b->arena, b->plan.axes, axis);
    NS_PUSH(b->arena, b->limits, limits);
    return NS_DONE;
}

ns_verdict ns_batch_vary(ns_batch *b, const char *name, const double *values, size_t n)
{
    NS_PLAIN_NUMBERS;
    ns_verdict verdict = begin(b);
    if (verdict != NS_DONE)
        return verdict;
    if (b->plan.axes.n && !any_list(b))
        return ns_batch_refuse(b, NS_WRONG, "arrays and ranges exclude each other");
    if (b->plan.axes.n && b->plan.count != n)
        return ns_batch_refuse(b, NS_WRONG, "`%s` has %zu values, those before have %llu", name,
                               n, (unsigned long long)b->plan.count);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return ns_batch_refuse(b, NS_WRONG, "value %zu of `%s` is not finite", i, name);
    if (NS_ARENA_GUARD(b->arena))
        return run_out(b);
    b->plan.count = n;
    verdict = add_axis(b, (ns_plan_axis){.name = name, .kind = NS_PLAN_LIST},
                       (ns_batch_limits){0}, n ? values : NULL, n);
    ns_arena_unguard(b->arena);
    return verdict;
}

/* NAME=REST of a range; NULL if it is something else. */
static const char *name_before(const ns_batch *b, const char *text, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || any_list(b))
        return NULL;
    *rest = equals + 1;
    return ns_arena_string(b->arena, text, (size_t)(equals - text));
}

static const char *excluded(const ns_batch *b)
{
    return any_list(b) ? " (arrays and ranges exclude each other)" : "";
}

static ns_verdict add_over(ns_batch *b, const char *text)
{
    const char *rest = "", *name = name_before(b, text, &rest);
    const ns_study_words parts = ns_study_split(b->arena, rest, ':');
    const bool log = parts.n == 4 && strcmp(parts.at[3], "log") == 0;
    char *end = NULL;
    const double n = parts.n >= 3 ? strtod(parts.at[2], &end) : 0;
    if (!name || (parts.n != 3 && !log) || !*parts.at[0] || !*parts.at[1] || *end ||
        !(n >= 1) || !(n < 0x1p53) || n != floor(n))
        return ns_batch_refuse(b, NS_WRONG,
                               "expected NAME=LOW:HIGH:N or NAME=LOW:HIGH:N:log, not `%s`%s",
                               text, excluded(b));
    return add_axis(b,
                    (ns_plan_axis){.name = name,
                                   .kind = log ? NS_PLAN_LOG : NS_PLAN_GRID,
                                   .n = (uint64_t)n},
                    (ns_batch_limits){parts.at[0], parts.at[1]}, NULL, 0);
}

static ns_verdict add_random(ns_batch *b, const char *text)
{
    ns_plan_axis axis = {.kind = NS_PLAN_LIST};
    const char *rest = "", *inner = "";
    axis.name = name_before(b, text, &rest);
    if (axis.name)
        inner = ns_plan_distribution(b->arena, rest, &axis.kind);
    const ns_study_words parts = ns_study_split(b->arena, inner ? inner : "", ',');
    if (!axis.name || !inner || parts.n != 2 || !*parts.at[0] || !*parts.at[1])
        return ns_batch_refuse(b, NS_WRONG,
                               "expected NAME=uniform(LOW, HIGH), loguniform(LOW, HIGH) or "
                               "normal(MEAN, DEVIATION), not `%s`%s",
                               text, excluded(b));
    return add_axis(b, axis, (ns_batch_limits){parts.at[0], parts.at[1]}, NULL, 0);
}

static ns_verdict add(ns_batch *b, const char *text,
                      ns_verdict (*read)(ns_batch *b, const char *text))
{
    ns_verdict verdict = begin(b);
    if (verdict != NS_DONE)
        return verdict;
    if (NS_ARENA_GUARD(b->arena))
        return run_out(b);
    verdict = read(b, text);
    ns_arena_unguard(b->arena);
    return verdict;
}

ns_verdict ns_batch_over(ns_batch *b, const char *text)
{
    NS_PLAIN_NUMBERS;
    return add(b, text, add_over);
}

ns_verdict ns_batch_random(ns_batch *b, const char *text)
{
    NS_PLAIN_NUMBERS;
    return add(b, text, add_random);
}

static ns_verdict add_get(ns_batch *b, const char *quantity)
{
    const char *copy = ns_arena_string(b->arena, quantity, strlen(quantity));
    NS_PUSH(b->arena, b->gets, copy);
    return NS_DONE;
}

ns_verdict ns_batch_get(ns_batch *b, const char *quantity)
{
    NS_PLAIN_NUMBERS;
    return add(b, quantity, add_get);
}

/* ---- how --------------------------------------------------------------------------------- */

static bool whole(double value, double least, double most)
{
    return value >= least && value <= most && value == floor(value);
}

ns_verdict ns_batch_set_number(ns_batch *b, const char *name, double value)
{
    NS_PLAIN_NUMBERS;
    const ns_verdict verdict = begin(b);
    if (verdict != NS_DONE)
        return verdict;
    bool good = false;
    if (strcmp(name, "until") == 0) {
        good = b->until_said = isfinite(value);
        b->run.until = value;
    } else if (strcmp(name, "tolerance") == 0) {
        good = b->tolerance_said = value > 0 && value < 1;
        b->run.tolerance = value;
    } else if (strcmp(name, "least_size") == 0) {
        good = value >= 0 && isfinite(value);
        b->run.least_size = value;
    } else if (strcmp(name, "max_steps") == 0 && whole(value, 1, 1e18)) {
        good = true;
        b->run.max_steps = (uint64_t)value;
    } else if (strcmp(name, "threads") == 0 && whole(value, 0, 4096)) {
        good = true;
        b->threads = (uint32_t)value;
    } else if (strcmp(name, "lanes") == 0 && whole(value, 0, 8)) {
        b->lanes = (uint32_t)value;
        good = b->lanes == 0 || (8 % b->lanes == 0);
    } else if (strcmp(name, "alone") == 0) {
        good = true;
        b->alone = value > 0;
    } else if (strcmp(name, "count") == 0 && whole(value, 1, 0x1p53) && !any_list(b)) {
        good = true;
        b->plan.count = (uint64_t)value;
    } else if (strcmp(name, "seed") == 0 && whole(value, 0, 0x1p53)) {
        good = true;
        b->plan.seed = (uint64_t)value;
    } else if (strcmp(name, "sobol") == 0) {
        good = true;
        b->plan.sobol = value > 0;
    }
    return good ? NS_DONE
                : ns_batch_refuse(b, NS_WRONG, "%s = %g is not possible", name, value);
}

ns_verdict ns_batch_set_text(ns_batch *b, const char *name, const char *text)
{
    NS_PLAIN_NUMBERS;
    const ns_verdict verdict = begin(b);
    if (verdict != NS_DONE)
        return verdict;
    if (strcmp(name, "method") == 0) {
        const ns_method *method = ns_method_find(text);
        if (!method)
            return ns_batch_refuse(b, NS_WRONG, "unknown method `%s`", text);
        b->run.method = method->name;
        b->method_said = true;
        return NS_DONE;
    }
    if (strcmp(name, "engine") == 0 && ns_api_engine(text, &b->engine))
        return NS_DONE;
    return ns_batch_refuse(b, NS_WRONG, "%s = %s is not possible", name, text);
}

ns_verdict ns_batch_on_row(ns_batch *b, ns_row_function function, void *context, int keep)
{
    if (!b)
        return NS_FAILED;
    b->on_row = function;
    b->row_context = context;
    b->forget = !keep;
    return NS_DONE;
}

ns_verdict ns_batch_on_progress(ns_batch *b, ns_progress_function progress, void *context)
{
    if (!b)
        return NS_FAILED;
    b->progress = progress;
    b->progress_context = context;
    return NS_DONE;
}

/* ---- what came of it --------------------------------------------------------------------- */

size_t ns_batch_rows(const ns_batch *b)
{
    return b && b->sweep ? (size_t)b->sweep->plan.rows : 0;
}

size_t ns_batch_columns(const ns_batch *b)
{
    return b && b->sweep ? (size_t)b->shown + b->sweep->n_gets : 0;
}

const char *ns_batch_column_name(const ns_batch *b, size_t i)
{
    if (i >= ns_batch_columns(b))
        return "";
    return i < b->shown ? b->sweep->label[i] : b->sweep->get[i - b->shown].name;
}

const char *ns_batch_column_unit(const ns_batch *b, size_t i)
{
    if (i >= ns_batch_columns(b))
        return "";
    if (i >= b->shown)
        return b->sweep->get[i - b->shown].unit;
    for (ns_kind kind = NS_PARAMETERS; kind <= NS_STATES; kind++) {
        const long at = ns_model_index(b->model, kind, b->sweep->axis[i]);
        if (at >= 0)
            return ns_model_unit(b->model, kind, (size_t)at);
    }
    return "";
}

const double *ns_batch_values(const ns_batch *b)
{
    return b ? b->values : NULL;
}

const double *ns_batch_column(ns_batch *b, const char *name)
{
    const size_t rows = ns_batch_rows(b), columns = ns_batch_columns(b);
    size_t i = 0;
    while (i < columns && strcmp(ns_batch_column_name(b, i), name) != 0)
        i++;
    if (i == columns || !b->values)
        return NULL;
    /* a copy for each column, in one block, filled when it is asked for */
    if (!b->column)
        b->column = malloc((rows * columns + 1) * sizeof *b->column);
    for (size_t k = 0; b->column && k < rows; k++)
        b->column[i * rows + k] = b->values[k * columns + i];
    return b->column ? b->column + i * rows : NULL;
}

ns_verdict ns_batch_verdict(const ns_batch *b, size_t row)
{
    return row < ns_batch_rows(b) && b->status && b->status[row] != NS_BATCH_NOT_DONE
               ? ns_api_verdict((ns_status)b->status[row])
               : NS_FAILED;
}

const char *ns_batch_why(const ns_batch *b, size_t row)
{
    return row < ns_batch_rows(b) && b->why ? b->why[row] : "";
}
