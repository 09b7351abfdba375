/* The public interface: include/noslip/noslip.h on top of model and record.
 *
 * Translates between internal status codes and verdicts, checks what a stranger may pass, and
 * keeps the rest to itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noslip/noslip.h"
#include "out/formats.h"
#include "session/model.h"
#include "session/record.h"

struct ns_result {
    ns_record *record;
    int stop; /* set when the progress function wants the run to end */
    int (*progress)(void *context, double fraction, double t);
    void *context;
    char error[400];
};

const char *ns_version(void)
{
    return NS_VERSION;
}

static ns_verdict verdict_of(ns_status status)
{
    return (ns_verdict)ns_status_exit(status);
}

/* ---- models ------------------------------------------------------------------------------ */

static ns_override *overrides_of(const char *const *names, const char *const *expressions,
                                 size_t n)
{
    ns_override *o = calloc(n + 1, sizeof *o);
    for (size_t i = 0; o && i < n; i++)
        o[i] = (ns_override){.name = names[i], .expression = expressions[i]};
    return o;
}

ns_model *ns_model_open(const char *path, const char *const *names,
                        const char *const *expressions, size_t n)
{
    ns_override *o = overrides_of(names, expressions, n);
    ns_model *model = o ? ns_model_load(path, o, n, NS_MODEL_READY) : NULL;
    free(o);
    return model;
}

ns_model *ns_model_open_text(const char *name, const char *text, const char *const *names,
                             const char *const *expressions, size_t n)
{
    ns_override *o = overrides_of(names, expressions, n);
    ns_model *model = o ? ns_model_load_text(name, text, strlen(text), o, n, NS_MODEL_READY)
                        : NULL;
    free(o);
    return model;
}

void ns_model_close(ns_model *model)
{
    ns_model_free(model);
}

ns_verdict ns_model_verdict(const ns_model *model)
{
    return model ? verdict_of(model->status) : NS_FAILED;
}

const char *ns_model_messages(const ns_model *model)
{
    return model ? model->messages : "error: out of memory\n";
}

const char *ns_model_title(const ns_model *model)
{
    return model && model->description ? model->description->title : "";
}

const char *ns_model_formulation(const ns_model *model)
{
    return model && model->system ? model->system->formulation->name : "";
}

size_t ns_model_count(const ns_model *model, ns_kind kind)
{
    if (!model || model->status != NS_OK)
        return 0;
    const ns_system *s = model->system;
    switch (kind) {
    case NS_PARAMETERS:
        return model->description->params.n;
    case NS_STATES:
        return s->states.n;
    case NS_VALUES:
        return s->observables.n;
    case NS_CONSTRAINTS:
        return s->constraints.n;
    case NS_INVARIANTS:
        return s->invariants.n;
    case NS_EVENTS:
        return s->events.n;
    }
    return 0;
}

const char *ns_model_name(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return "";
    const ns_system *s = model->system;
    switch (kind) {
    case NS_PARAMETERS:
        return model->description->params.at[i].name;
    case NS_STATES:
        return s->states.at[i].name;
    case NS_VALUES:
        return s->observables.at[i].name;
    case NS_CONSTRAINTS:
        return s->constraints.at[i].name;
    case NS_INVARIANTS:
        return s->invariants.at[i].name;
    case NS_EVENTS:
        return s->events.at[i].name;
    }
    return "";
}

const char *ns_model_unit(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return "";
    const char *unit = kind == NS_PARAMETERS ? model->description->params.at[i].unit
                       : kind == NS_STATES   ? model->system->states.at[i].unit
                       : kind == NS_VALUES   ? model->system->observables.at[i].unit
                                             : NULL;
    return unit ? unit : "";
}

double ns_model_number(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return (double)NAN;
    return kind == NS_PARAMETERS ? model->p[i] : kind == NS_STATES ? model->x0[i] : (double)NAN;
}

/* ---- options ----------------------------------------------------------------------------- */

typedef enum option_type { ONE_NUMBER, SWITCH, NUMBERS, TEXT, TEXTS } option_type;

typedef struct option {
    const char *name;
    option_type type;
    size_t offset;       /* of the value, or of the array */
    size_t count_offset; /* of its length */
    const char *help;
} option;

#define AT(field) offsetof(ns_simulate_options, field)
static const option options_table[] = {
    {"until", ONE_NUMBER, AT(until), 0, "end time"},
    {"tolerance", ONE_NUMBER, AT(tolerance), 0, "relative tolerance of the integration"},
    {"method", TEXT, AT(method), 0, "integration method"},
    {"at", NUMBERS, AT(at), AT(n_at), "output times"},
    {"every", ONE_NUMBER, AT(every), 0, "output interval"},
    {"step", ONE_NUMBER, AT(step), 0, "constant steps of this length"},
    {"max_step", ONE_NUMBER, AT(max_step), 0, "longest step"},
    {"max_steps", ONE_NUMBER, AT(max_steps), 0, "largest number of steps"},
    {"project", SWITCH, AT(project), 0, "keep the state on its manifold (1 or 0)"},
    {"outputs", TEXTS, AT(outputs), AT(n_outputs), "files to write during the run"},
    {"checkpoint", TEXT, AT(checkpoint), 0, "file to save the run to now and then"},
    {"resume", TEXT, AT(resume), 0, "checkpoint to continue from"},
};
#undef AT
enum { OPTIONS = sizeof options_table / sizeof *options_table };

void ns_simulate_defaults(ns_simulate_options *options, size_t size)
{
    ns_simulate_options full = {.size = size, .until = (double)NAN, .project = -1};
    memcpy(options, &full, size < sizeof full ? size : sizeof full);
}

ns_simulate_options *ns_options_new(void)
{
    ns_simulate_options *options = malloc(sizeof *options);
    if (options)
        ns_simulate_defaults(options, sizeof *options);
    return options;
}

static void *field(ns_simulate_options *options, size_t offset)
{
    return (char *)options + offset;
}

static void clear_texts(char **texts, size_t n)
{
    for (size_t i = 0; texts && i < n; i++)
        free(texts[i]);
    free(texts);
}

/* Frees what an option made by ns_options_new holds. */
static void clear(ns_simulate_options *options, const option *o)
{
    void *at = field(options, o->offset);
    if (o->type == TEXTS)
        clear_texts(*(char ***)at, *(size_t *)field(options, o->count_offset));
    else if (o->type == TEXT || o->type == NUMBERS)
        free(*(void **)at);
    if (o->type == TEXT || o->type == NUMBERS || o->type == TEXTS)
        *(void **)at = NULL;
    if (o->type == NUMBERS || o->type == TEXTS)
        *(size_t *)field(options, o->count_offset) = 0;
}

void ns_options_free(ns_simulate_options *options)
{
    for (size_t i = 0; options && i < OPTIONS; i++)
        clear(options, &options_table[i]);
    free(options);
}

static const option *find_option(const char *name)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strcmp(options_table[i].name, name) == 0)
            return &options_table[i];
    return NULL;
}

ns_verdict ns_options_set_number(ns_simulate_options *options, const char *name, double value)
{
    const option *o = find_option(name);
    if (!options)
        return NS_FAILED;
    if (!o || (o->type != ONE_NUMBER && o->type != SWITCH))
        return NS_WRONG;
    if (o->type == SWITCH)
        *(int *)field(options, o->offset) = value > 0 || value < 0;
    else
        *(double *)field(options, o->offset) = value;
    return NS_DONE;
}

ns_verdict ns_options_set_numbers(ns_simulate_options *options, const char *name,
                                  const double *values, size_t n)
{
    const option *o = find_option(name);
    if (!options)
        return NS_FAILED;
    if (!o || o->type != NUMBERS)
        return NS_WRONG;
    double *copy = malloc((n + 1) * sizeof *copy);
    if (!copy)
        return NS_FAILED;
    if (n)
        memcpy(copy, values, n * sizeof *copy);
    clear(options, o);
    *(double **)field(options, o->offset) = copy;
    *(size_t *)field(options, o->count_offset) = n;
    return NS_DONE;
}

ns_verdict ns_options_set_text(ns_simulate_options *options, const char *name, const char *text)
{
    const option *o = find_option(name);
    if (!options)
        return NS_FAILED;
    if (!o || o->type != TEXT)
        return NS_WRONG;
    char *copy = strdup(text);
    if (!copy)
        return NS_FAILED;
    clear(options, o);
    *(char **)field(options, o->offset) = copy;
    return NS_DONE;
}

ns_verdict ns_options_set_texts(ns_simulate_options *options, const char *name,
                                const char *const *texts, size_t n)
{
    const option *o = find_option(name);
    if (!options)
        return NS_FAILED;
    if (!o || o->type != TEXTS)
        return NS_WRONG;
    char **copies = calloc(n + 1, sizeof *copies);
    bool good = copies != NULL;
    for (size_t i = 0; i < n && good; i++)
        good = (copies[i] = strdup(texts[i])) != NULL;
    if (!good) {
        clear_texts(copies, n);
        return NS_FAILED;
    }
    clear(options, o);
    *(char ***)field(options, o->offset) = copies;
    *(size_t *)field(options, o->count_offset) = n;
    return NS_DONE;
}

ns_verdict ns_options_set_progress(ns_simulate_options *options,
                                   int (*progress)(void *context, double fraction, double t),
                                   void *context)
{
    if (!options)
        return NS_FAILED;
    options->progress = progress;
    options->context = context;
    return NS_DONE;
}

const char *ns_options_name(size_t i, const char **type, const char **help)
{
    static const char *const types[] = {"number", "number", "numbers", "text", "texts"};
    if (i >= OPTIONS)
        return NULL;
    if (type)
        *type = types[options_table[i].type];
    if (help)
        *help = options_table[i].help;
    return options_table[i].name;
}

/* ---- runs -------------------------------------------------------------------------------- */

static void pass_progress(void *context, const ns_progress *progress)
{
    ns_result *result = context;
    if (result->progress && result->progress(result->context, progress->fraction, progress->t))
        result->stop = 1;
}

static ns_record_options record_options(const ns_model *model, const ns_simulate_options *from)
{
    ns_record_options o = ns_record_defaults(model);
    if (!isnan(from->until)) {
        o.run.until = from->until;
        o.until_fixed = true;
    }
    if (from->tolerance < 0 || from->tolerance > 0)
        o.run.tolerance = from->tolerance;
    if (from->method)
        o.run.method = from->method;
    if (from->step > 0)
        o.run.fixed_step = from->step;
    if (from->max_step > 0)
        o.run.max_step = from->max_step;
    if (from->max_steps > 0 && from->max_steps < 1e18)
        o.run.max_steps = (uint64_t)from->max_steps;
    if (from->project >= 0)
        o.run.project = from->project != 0;
    o.at = from->at;
    o.n_at = from->n_at;
    if (from->every < 0 || from->every > 0)
        o.every = from->every;
    o.outputs = from->outputs;
    o.formats = ns_output_formats;
    o.n_outputs = from->n_outputs;
    o.checkpoint = from->checkpoint;
    o.resume = from->resume;
    o.keep = true;
    return o;
}

ns_result *ns_simulate(ns_model *model, const ns_simulate_options *options)
{
    ns_result *result = calloc(1, sizeof *result);
    if (!result || !model)
        return result;
    /* A caller compiled for an earlier version passes a shorter struct. */
    ns_simulate_options full;
    ns_simulate_defaults(&full, sizeof full);
    if (options)
        memcpy(&full, options, options->size < sizeof full ? options->size : sizeof full);
    ns_record_options o = record_options(model, &full);
    result->progress = full.progress;
    result->context = full.context;
    o.progress = pass_progress;
    o.context = result;
    o.run.interrupt = &result->stop;
    result->record = ns_record_new(model, &o);
    if (result->record && result->record->status == NS_OK)
        ns_record_run(result->record);
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
    return r ? verdict_of(r->status) : NS_FAILED;
}

const char *ns_result_reason(const ns_result *result)
{
    const ns_record *r = record_of(result);
    return r ? r->message : "out of memory";
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

static double named(const char *name, const char *prefix, const ns_record *r)
{
    const ns_system *s = r->model->system;
    name += strlen(prefix);
    if (prefix[0] == 'c') {
        for (uint32_t i = 0; i < s->constraints.n; i++)
            if (strcmp(s->constraints.at[i].name, name) == 0)
                return r->outcome->residual[i];
    } else {
        for (uint32_t i = 0; i < s->invariants.n; i++)
            if (strcmp(s->invariants.at[i].name, name) == 0)
                return r->outcome->drift[i];
    }
    return (double)NAN;
}

double ns_result_diagnostic(const ns_result *result, const char *name)
{
    const ns_record *r = record_of(result);
    if (!r || !r->outcome)
        return (double)NAN;
    const ns_outcome *o = r->outcome;
    static const char constraint[] = "constraint.", invariant[] = "invariant.";
    if (strncmp(name, constraint, sizeof constraint - 1) == 0)
        return named(name, constraint, r);
    if (strncmp(name, invariant, sizeof invariant - 1) == 0)
        return named(name, invariant, r);
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"energy_drift", ns_record_energy_drift(r)},
        {"energy_change", o->energy_drift},
        {"t_end", o->t},
        {"steps", (double)o->steps},
        {"rejected", (double)o->rejected},
        {"evaluations", (double)o->evaluations},
        {"seconds", r->seconds},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0)
            return numbers[i].value;
    return (double)NAN;
}

ns_verdict ns_result_write(ns_result *result, const char *path)
{
    if (!result || !result->record)
        return NS_FAILED;
    *result->error = 0;
    const ns_record *r = result->record;
    if (!r->outcome) {
        snprintf(result->error, sizeof result->error, "there is nothing to write");
        return NS_WRONG;
    }
    const ns_output_format *format = ns_output_find(ns_output_formats, path);
    if (!format) {
        snprintf(result->error, sizeof result->error,
                 "the format of '%s' is unknown: its name must end in .h5, .csv or .json",
                 path);
        return NS_WRONG;
    }
    if (format->needs_motion && !r->motion.rows) {
        snprintf(result->error, sizeof result->error,
                 "'%s' is a picture: `noslip run --out` writes it during the run", path);
        return NS_WRONG;
    }
    ns_output output;
    ns_verdict verdict = NS_DONE;
    if (!ns_output_open(&output, format, path))
        verdict = NS_WRONG;
    else if (!ns_output_write(&output, r))
        verdict = NS_FAILED;
    if (verdict != NS_DONE)
        snprintf(result->error, sizeof result->error, "cannot write %s", output.error);
    ns_output_close(&output);
    return verdict;
}

const char *ns_result_error(const ns_result *result)
{
    return result ? result->error : "out of memory";
}
