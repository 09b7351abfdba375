/* Options of runs: a struct that may grow, and the same by name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/process/plain.h"
#include "out/formats.h"
#include "study/orbits/relative.h"

typedef enum option_type { ONE_NUMBER, SWITCH, COUNT, NUMBERS, TEXT, TEXTS } option_type;

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
    {"engine", TEXT, AT(engine), 0, "interpreter, native or auto"},
    {"first_step", ONE_NUMBER, AT(first_step), 0, "length of the first step"},
    {"least_size", ONE_NUMBER, AT(least_size), 0, "smaller states are measured by this"},
    {"digits", COUNT, AT(digits), 0, "how many digits are right: 1, or 2 by quadruple runs"},
    {"trust", SWITCH, AT(trust), 0, "how far the trajectory can be trusted (1 or 0)"},
    {"motion", SWITCH, AT(motion), 0, "keep the motion, for pictures (1 or 0)"},
    {"periodic", SWITCH, AT(periodic), 0, "build the motion from one period (1 or 0)"},
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
    if (!o || (o->type != ONE_NUMBER && o->type != SWITCH && o->type != COUNT))
        return NS_WRONG;
    if (o->type == COUNT && !(value >= 0 && value <= 2))
        return NS_WRONG;
    if (o->type == COUNT)
        *(int *)field(options, o->offset) = (int)value;
    else if (o->type == SWITCH)
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
    NS_PLAIN_NUMBERS;
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
    NS_PLAIN_NUMBERS;
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

ns_verdict ns_options_set_progress(ns_simulate_options *options, ns_progress_function progress,
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
    static const char *const types[] = {"number",  "number", "number",
                                        "numbers", "text",   "texts"};
    if (i >= OPTIONS)
        return NULL;
    if (type)
        *type = types[options_table[i].type];
    if (help)
        *help = options_table[i].help;
    return options_table[i].name;
}

/* ---- for the runs ------------------------------------------------------------------------ */

ns_simulate_options ns_api_full(const ns_simulate_options *options)
{
    ns_simulate_options full;
    ns_simulate_defaults(&full, sizeof full);
    /* a caller compiled for an earlier version passes a shorter struct */
    if (options)
        memcpy(&full, options, options->size < sizeof full ? options->size : sizeof full);
    full.size = sizeof full;
    return full;
}

bool ns_api_engine(const char *word, ns_record_engine *engine)
{
    static const struct {
        const char *name;
        ns_record_engine engine;
    } engines[] = {{"interpreter", NS_ENGINE_INTERPRETER},
                   {"native", NS_ENGINE_NATIVE},
                   {"auto", NS_ENGINE_AUTO}};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (!word || strcmp(word, engines[i].name) == 0) {
            *engine = word ? engines[i].engine : NS_ENGINE_AUTO;
            return true;
        }
    return false;
}

/* Numbers that replace what the model says, where they are said. */
static void run_options(const ns_simulate_options *from, ns_run_options *to)
{
    if (!isnan(from->until))
        to->until = from->until;
    if (from->tolerance < 0 || from->tolerance > 0)
        to->tolerance = from->tolerance;
    if (from->method)
        to->method = from->method;
    if (from->step > 0)
        to->fixed_step = from->step;
    if (from->first_step > 0)
        to->first_step = from->first_step;
    if (from->least_size < 0 || from->least_size > 0)
        to->least_size = from->least_size;
    if (from->max_step > 0)
        to->max_step = from->max_step;
    if (from->max_steps > 0 && from->max_steps < 1e18)
        to->max_steps = (uint64_t)from->max_steps;
    if (from->project >= 0)
        to->project = from->project != 0;
}

bool ns_api_record_options(const ns_model *model, const ns_simulate_options *from,
                           ns_record_options *to, char *message, size_t room)
{
    *to = ns_record_defaults(model);
    run_options(from, &to->run);
    to->until_fixed = !isnan(from->until);
    to->at = from->at;
    to->n_at = from->n_at;
    if (from->every < 0 || from->every > 0)
        to->every = from->every;
    to->outputs = from->outputs;
    to->formats = ns_output_formats;
    to->n_outputs = from->n_outputs;
    to->checkpoint = from->checkpoint;
    to->resume = from->resume;
    to->keep = true;
    to->motion = from->motion != 0;
    to->route = from->periodic ? &ns_relative_route : NULL;
    if (!ns_api_engine(from->engine, &to->engine))
        snprintf(message, room, "the engine is interpreter, native or auto, not `%s`",
                 from->engine);
    else if (from->periodic && from->digits)
        snprintf(message, room,
                 "periodic and digits exclude each other: a motion built from one period "
                 "states its error");
    else if (from->n_at && from->every > 0)
        snprintf(message, room, "at and every exclude each other");
    else
        return true;
    return false;
}
