/* Whole runs: a record, and what it leaves behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/result.h"
#include "base/process/plain.h"
#include "session/trust/digits.h"
#include "session/trust/trust.h"
#include "study/orbits/relative.h"

static void pass_progress(void *context, const ns_progress *progress)
{
    ns_result *result = context;
    if (result->progress && result->progress(result->context, progress->fraction, progress->t))
        result->stop = 1;
}

/* How many digits are right, and how far to trust it; why not goes to the error. */
static void judge(ns_result *result, const ns_simulate_options *o)
{
    ns_record *r = result->record;
    if (r->status < 0 || !r->outcome)
        return;
    if (o->digits &&
        !(o->digits == 2 ? ns_digits_judge_quad(r, result->error, sizeof result->error)
                         : ns_digits_judge(r, result->error, sizeof result->error)))
        return;
    if (o->trust && ns_trust_judge(r, result->error, sizeof result->error))
        ns_trust_text(r, result->trust, sizeof result->trust);
}

ns_result *ns_simulate(ns_model *model, const ns_simulate_options *options)
{
    NS_PLAIN_NUMBERS;
    ns_result *result = calloc(1, sizeof *result);
    if (!result || !model)
        return result;
    const ns_simulate_options full = ns_api_full(options);
    ns_record_options o;
    if (!ns_api_record_options(model, &full, &o, result->wrong, sizeof result->wrong))
        return result;
    result->progress = full.progress;
    result->context = full.context;
    o.progress = pass_progress;
    o.context = result;
    o.run.interrupt = &result->stop;
    result->record = ns_record_new(model, &o);
    if (result->record && result->record->status == NS_OK) {
        ns_record_run(result->record);
        judge(result, &full);
    }
    return result;
}

void ns_result_close(ns_result *result)
{
    if (result)
        ns_record_free(result->record);
    free(result);
}

static const ns_record *record_of(const ns_result *result)
{
    return result ? result->record : NULL;
}

ns_verdict ns_result_verdict(const ns_result *result)
{
    const ns_record *r = record_of(result);
    return r ? ns_api_verdict(r->status) : result && *result->wrong ? NS_WRONG : NS_FAILED;
}

const char *ns_result_reason(const ns_result *result)
{
    const ns_record *r = record_of(result);
    return r ? r->message : result && *result->wrong ? result->wrong : "out of memory";
}

size_t ns_result_rows(const ns_result *result)
{
    const ns_record *r = record_of(result);
    return r ? r->table.rows : 0;
}

const double *ns_result_times(const ns_result *result)
{
    const ns_record *r = record_of(result);
    return r ? r->table.t : NULL;
}

const double *ns_result_column(const ns_result *result, size_t i)
{
    const ns_record *r = record_of(result);
    return r && i < r->columns ? ns_table_column(&r->table, (uint32_t)i) : NULL;
}

const double *ns_result_low(const ns_result *result, size_t i)
{
    const ns_record *r = record_of(result);
    return r && i < r->columns && r->low.rows ? ns_table_column(&r->low, (uint32_t)i) : NULL;
}

static int64_t column_of(const ns_record *r, const char *name)
{
    return r && r->model->status == NS_OK ? ns_model_observable(r->model, name) : -1;
}

const double *ns_result_values(const ns_result *result, const char *name)
{
    const int64_t i = column_of(record_of(result), name);
    return i < 0 ? NULL : ns_result_column(result, (size_t)i);
}

double ns_result_final(const ns_result *result, const char *name)
{
    const ns_record *r = record_of(result);
    const int64_t i = column_of(r, name);
    return i < 0 || !r->last || !r->run ? (double)NAN : r->last[i];
}

size_t ns_result_events(const ns_result *result)
{
    const ns_record *r = record_of(result);
    return r ? r->events.rows : 0;
}

/* Stretch number i; false if there is none. */
static bool stretch(const ns_result *result, size_t i, double *t, uint32_t *mode)
{
    size_t next = 0;
    const ns_record *r = result ? result->record : NULL;
    if (!r)
        return false;
    for (size_t k = 0; k <= i; k++)
        if (!ns_record_stretch(r, &next, t, mode))
            return false;
    return true;
}

size_t ns_result_modes(const ns_result *result)
{
    size_t n = 0, next = 0;
    double t;
    uint32_t mode;
    while (result && result->record && ns_record_stretch(result->record, &next, &t, &mode))
        n++;
    return n;
}

const char *ns_result_mode_name(const ns_result *result, size_t i)
{
    double t;
    uint32_t mode;
    return stretch(result, i, &t, &mode) ? result->record->model->system->modes.at[mode] : "";
}

double ns_result_mode_time(const ns_result *result, size_t i)
{
    double t;
    uint32_t mode;
    return stretch(result, i, &t, &mode) ? t : (double)NAN;
}

const char *ns_result_event_name(const ns_result *result, size_t event)
{
    if (event >= ns_result_events(result))
        return "";
    const ns_record *r = result->record;
    return r->model->system->events.at[r->outcome->events[event].event].name;
}

double ns_result_event_time(const ns_result *result, size_t event)
{
    return event < ns_result_events(result) ? result->record->events.t[event] : (double)NAN;
}

int ns_result_event_direction(const ns_result *result, size_t event)
{
    return event < ns_result_events(result) ? result->record->outcome->events[event].direction
                                            : 0;
}

double ns_result_event_value(const ns_result *result, size_t event, const char *name)
{
    const int64_t i = column_of(record_of(result), name);
    if (i < 0 || event >= ns_result_events(result))
        return (double)NAN;
    return ns_table_column(&result->record->events, (uint32_t)i)[event];
}

/* ---- quality ----------------------------------------------------------------------------- */

static double of_trust(const ns_record *r, const char *name)
{
    if (!r->trust)
        return (double)NAN;
    return strcmp(name, "until") == 0     ? r->trust->until
           : strcmp(name, "largest") == 0 ? r->trust->largest
           : strcmp(name, "tenfold") == 0 ? r->trust->tenfold
                                          : (double)NAN;
}

double ns_result_diagnostic(const ns_result *result, const char *name)
{
    const ns_record *r = record_of(result);
    if (!r || !r->outcome)
        return (double)NAN;
    if (strcmp(name, "seconds") == 0)
        return r->seconds;
    if (strcmp(name, "period") == 0)
        return r->relative ? r->relative->period : (double)NAN;
    if (strncmp(name, "trust.", 6) == 0)
        return of_trust(r, name + 6);
    return ns_api_diagnostic(r->model, r->outcome, name);
}

const signed char *ns_result_digits(const ns_result *result, size_t i)
{
    const ns_record *r = record_of(result);
    return r && r->digits && i < r->columns ? r->digits + i * r->table.rows : NULL;
}

const char *ns_result_trust(const ns_result *result)
{
    return result ? result->trust : "";
}

const char *ns_result_method(const ns_result *result, const char **why)
{
    const ns_record *r = record_of(result);
    if (why)
        *why = r && r->chosen ? r->choice : "";
    return r && r->method ? r->method->name : "";
}

int ns_result_native(const ns_result *result, const char **why)
{
    const ns_record *r = record_of(result);
    if (why)
        *why = r ? r->native_message : "";
    return r && r->native;
}

ns_verdict ns_result_state(const ns_result *result, double *x)
{
    const ns_record *r = record_of(result);
    if (!r || !r->run)
        return r ? NS_WRONG : NS_FAILED;
    memcpy(x, ns_run_state(r->run), r->model->system->states.n * sizeof *x);
    return NS_DONE;
}

const char *ns_result_error(const ns_result *result)
{
    return result ? result->error : "out of memory";
}
