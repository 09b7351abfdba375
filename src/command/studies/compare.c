/* noslip compare: two models of one system, largest difference of common values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "command/study.h"
#include "study/orbits/compare.h"

typedef struct named_pair {
    const char *name;
    ns_compare_pair pair;
    uint32_t place; /* among the values of the model */
} named_pair;
typedef NS_LIST(named_pair) pair_list;

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model[2];
    pair_list pairs;
    double *times;
    size_t n;
} job;

static const ns_option set_option = NS_OPTION_SET;

/* The arguments of one model: --set for both, --set-a or --set-b for this one. */
static ns_arguments side_arguments(ns_host *host, const ns_arguments *a, const char *own)
{
    ns_arguments out = *a;
    memset(&out.options, 0, sizeof out.options);
    for (uint32_t i = 0; i < a->options.n; i++) {
        ns_given given = a->options.at[i];
        if (strcmp(given.option->name, own) == 0)
            given.option = &set_option;
        NS_PUSH(host->arena, out.options, given);
    }
    return out;
}

/* A number for each quaternion of the first model, whose values begin with its states; 0 for
 * everything else. */
static uint32_t quaternion_group(const ns_system *s, uint32_t value)
{
    const bool part = value < s->states.n && s->states.at[value].kind == NS_QUANTITY_QUATERNION;
    return part ? s->states.at[value].first + 1 : 0;
}

static void add_pair(job *j, const char *name, uint32_t a, uint32_t b, uint32_t group)
{
    NS_PUSH(j->host->arena, j->pairs,
            (named_pair){.name = name, .pair = {.a = a, .b = b, .group = group}});
}

/* Does NAME belong to the list: itself, or what begins with it and a dot? */
static bool listed(const ns_study_words *words, const char *name)
{
    for (uint32_t i = 0; i < words->n; i++) {
        const size_t length = strlen(words->at[i]);
        if (strncmp(words->at[i], name, length) == 0 && (!name[length] || name[length] == '.'))
            return true;
    }
    return false;
}

static bool choose_pairs(job *j)
{
    ns_host *host = j->host;
    const ns_system *s = j->model[0]->system;
    const char *only = ns_command_text(j->a, "only");
    const ns_study_words words = ns_study_split(host->arena, only ? only : "", ',');
    for (uint32_t i = 0; i < s->observables.n; i++) {
        const char *name = s->observables.at[i].name;
        const int64_t other = ns_model_observable(j->model[1], name);
        if (other >= 0 && (!only || listed(&words, name)))
            add_pair(j, name, i, (uint32_t)other, quaternion_group(s, i));
    }
    const char *match;
    for (uint32_t i = 0; ns_command_each(j->a, "match", &i, &match);) {
        const ns_study_words list = ns_study_split(host->arena, match, ',');
        for (uint32_t k = 0; k < list.n; k++) {
            const char *name, *other;
            uint32_t a, b;
            if (!ns_command_pair(host, "--match", "NAME=NAME,...", list.at[k], &name, &other) ||
                !ns_study_value(host, j->model[0], name, &a) ||
                !ns_study_value(host, j->model[1], other, &b))
                return false;
            add_pair(j, list.at[k], a, b, 0);
        }
    }
    return j->pairs.n ||
           ns_command_refuse(
               host, "the models have no values of the same name; --match A=B says which "
                     "belong together");
}

/* Times: every DT, or 200 of them, up to --until or the earlier end of the two models. */
static bool choose_times(job *j, ns_run_options options[2])
{
    ns_host *host = j->host;
    double until = NAN, every = NAN, tolerance = NAN;
    for (int k = 0; k < 2; k++)
        if (isfinite(options[k].until) && !(options[k].until >= until))
            until = options[k].until;
    if (!ns_command_number(host, j->a, "until", &until) ||
        !ns_command_number(host, j->a, "every", &every) ||
        !ns_command_number(host, j->a, "tol", &tolerance))
        return false;
    const double t0 = options[0].t0;
    if (!isfinite(until) || t0 != options[1].t0)
        return ns_command_refuse(host, isfinite(until)
                                           ? "the models begin at different times"
                                           : "neither model says an end time; use --until");
    const double span = until - t0;
    if (ns_command_flag(j->a, "every") && !(every > 0 && fabs(span) / every < 1e7))
        return ns_command_refuse(
            host, "--every must be positive and give fewer than ten million rows");
    j->n = isnan(every) ? 201 : (size_t)floor(fabs(span) / every * (1 + 1e-12)) + 1;
    j->times = NS_NEW_ARRAY(host->arena, double, j->n + 1);
    for (size_t i = 0; i < j->n; i++)
        j->times[i] = isnan(every) ? t0 + span * (double)i / 200
                                   : t0 + copysign(every, span) * (double)i;
    for (int k = 0; k < 2; k++) {
        options[k].until = until;
        if (tolerance > 0)
            options[k].tolerance = tolerance;
    }
    return true;
}

static int by_difference(const void *left, const void *right)
{
    const named_pair *a = left, *b = right;
    if (a->pair.largest == b->pair.largest)
        return a->place < b->place ? -1 : 1;
    return a->pair.largest > b->pair.largest ? -1 : 1;
}

static ns_plot *draw(const job *j, size_t rows)
{
    ns_arena *a = j->host->arena;
    ns_plot *plot = ns_plot_new(a, j->model[0]->description->title);
    plot->subtitle = ns_arena_format(a, "difference from: %s", j->model[1]->description->title);
    ns_plot_panel *panel = ns_plot_add(plot, "", "time", "s", "difference", "");
    panel->y.log = true;
    for (uint32_t i = 0; i < j->pairs.n && i < 6; i++) {
        double *y = NS_NEW_ARRAY(a, double, rows + 1);
        for (size_t k = 0; k < rows; k++)
            y[k] = ns_max(fabs(j->pairs.at[i].pair.difference[k]), 1e-18);
        ns_plot_line(panel, j->pairs.at[i].name, rows, j->times, y);
    }
    return plot;
}

static void print(const job *j, const ns_compare_outcome *outcome)
{
    ns_host *host = j->host;
    int width = ns_style_wider(8, "value");
    for (uint32_t i = 0; i < j->pairs.n; i++)
        width = ns_style_wider(width, j->pairs.at[i].name);
    fprintf(host->out, "%s%s%s (%s)\n  and %s (%s)\n", host->style_out.bold,
            j->model[0]->description->title, host->style_out.plain,
            j->model[0]->system->formulation->name, j->model[1]->description->title,
            j->model[1]->system->formulation->name);
    fprintf(host->out, "  compared at %zu times from %g to %g s\n\n", outcome->rows,
            j->times[0], outcome->rows ? j->times[outcome->rows - 1] : j->times[0]);
    fprintf(host->out, "  %-*s %-14s %-14s %s\n", width, "value", "largest diff.", "at t",
            "largest value");
    for (uint32_t i = 0; i < j->pairs.n; i++) {
        const ns_compare_pair *p = &j->pairs.at[i].pair;
        fprintf(host->out, "  %-*s %-14.3e %-14.8g %.6g\n", width, j->pairs.at[i].name,
                p->largest, p->t, p->size);
    }
}

static void fill_sheet(const job *j, ns_sheet *sheet)
{
    ns_sheet_table *t = ns_sheet_add(sheet, "differences", j->pairs.n);
    const char **name = ns_sheet_words(sheet, t, "value");
    double *largest = ns_sheet_numbers(sheet, t, "largest_difference", "");
    double *at = ns_sheet_numbers(sheet, t, "t", "s");
    double *size = ns_sheet_numbers(sheet, t, "largest_value", "");
    for (uint32_t i = 0; i < j->pairs.n; i++) {
        name[i] = j->pairs.at[i].name;
        largest[i] = j->pairs.at[i].pair.largest;
        at[i] = j->pairs.at[i].pair.t;
        size[i] = j->pairs.at[i].pair.size;
    }
}

static int compare_models(job *j)
{
    ns_host *host = j->host;
    ns_compare_side sides[2];
    ns_run_options options[2];
    double within = INFINITY;
    for (int k = 0; k < 2; k++)
        options[k] = ns_model_run_options(j->model[k]);
    if (!choose_pairs(j) || !choose_times(j, options) ||
        !ns_command_number(host, j->a, "within", &within))
        return ns_status_exit(NS_ERR_USAGE);
    NS_CHECK(j->pairs.at && j->times && j->n);
    ns_compare_pair *pairs = NS_NEW_ARRAY(host->arena, ns_compare_pair, j->pairs.n);
    for (uint32_t i = 0; i < j->pairs.n; i++) {
        pairs[i] = j->pairs.at[i].pair;
        pairs[i].difference = NS_NEW_ARRAY(host->arena, double, j->n + 1);
    }
    for (int k = 0; k < 2; k++) {
        const ns_model *m = j->model[k];
        const ns_method *method = ns_method_find(options[k].method);
        sides[k] = (ns_compare_side){.problem = method && !method->precise
                                                    ? ns_model_problem_for(j->model[k], method)
                                                    : ns_model_problem(j->model[k], false),
                                     .p = m->p,
                                     .x0 = m->x0,
                                     .options = options[k]};
    }
    ns_study_progress progress = ns_study_progress_new(host, "t", j->times[j->n - 1]);
    ns_compare_outcome outcome = ns_compare(host->arena, sides, j->times, j->n, pairs,
                                            j->pairs.n, ns_study_progress_draw, &progress);
    ns_study_progress_end(&progress);
    for (uint32_t i = 0; i < j->pairs.n; i++) {
        j->pairs.at[i].pair = pairs[i];
        j->pairs.at[i].place = i;
    }
    qsort(j->pairs.at, j->pairs.n, sizeof *j->pairs.at, by_difference);
    if (outcome.status < 0)
        return ns_command_failed(host, outcome.status, "model %s: %s", outcome.side ? "B" : "A",
                                 outcome.reason);
    if (outcome.status != NS_OK && outcome.status != NS_STOP_ASKED)
        fprintf(host->err, "noslip: warning: model %s ended early: %s\n",
                outcome.side ? "B" : "A", outcome.reason);
    else if (outcome.status == NS_STOP_ASKED && !host->quiet)
        fprintf(host->err, "noslip: note: model %s is done: %s\n", outcome.side ? "B" : "A",
                outcome.reason);
    if (outcome.status == NS_STOP_ASKED) /* an event of the model: what was asked for */
        outcome.status = NS_OK;
    ns_sheet *sheet = ns_sheet_new(host->arena, "compare", j->model[0]->description->title);
    ns_sheet_text(sheet, "other", j->model[1]->description->title);
    ns_sheet_text(sheet, "status", outcome.status == NS_OK ? "done" : "stopped");
    ns_sheet_number(sheet, "largest_difference", j->pairs.at[0].pair.largest);
    ns_sheet_text(sheet, "largest_at", j->pairs.at[0].name);
    fill_sheet(j, sheet);
    if (ns_study_prints(host, j->a))
        print(j, &outcome);
    int status = ns_study_finish(host, j->a, j->model[0], sheet, draw(j, outcome.rows));
    if (!status && !(j->pairs.at[0].pair.largest <= within)) {
        fprintf(host->err, "noslip: the models differ by more than %g\n", within);
        status = 1;
    }
    return status ? status : ns_status_exit(outcome.status);
}

static int compare(ns_host *host, const ns_arguments *a)
{
    int status = ns_status_exit(NS_ERR_USAGE);
    job j = {.host = host, .a = a};
    if (!ns_study_check_outputs(host, a))
        return status;
    for (int k = 0; k < 2; k++) {
        const ns_arguments own = side_arguments(host, a, k ? "set-b" : "set-a");
        j.model[k] = ns_open_model(host, &own, a->words.at[k], NS_MODEL_READY, &status);
        if (!j.model[k])
            break;
    }
    if (j.model[1])
        status = compare_models(&j);
    for (int k = 0; k < 2; k++)
        if (j.model[k])
            ns_model_free(j.model[k]);
    return status;
}

static const ns_option options[] = {
    {.name = "match",
     .argument = "A=B,...",
     .help = "values with different names that are the same",
     .repeat = true},
    {.name = "only", .argument = "NAME,...", .help = "of the common values only these"},
    {.name = "until", .argument = "T", .help = "end time"},
    {.name = "every", .argument = "DT", .help = "compare every DT (200 times without)"},
    {.name = "tol", .argument = "R", .help = "tolerance of the integration of both"},
    {.name = "within", .argument = "D", .help = "exit status 1 if a value differs by more"},
    {.name = "set-a",
     .argument = "NAME=EXPR",
     .help = "give a parameter of the first model another value",
     .repeat = true},
    {.name = "set-b",
     .argument = "NAME=EXPR",
     .help = "the same for the second model",
     .repeat = true},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_compare = {
    .name = "compare",
    .summary = "Compare two models of one system: largest difference of common values",
    .usage = "A B [--match A=B,...] [--only NAME,...] [--until T] [--tol R] [--within D]",
    .doc = "Both models are integrated side by side and every value that has the same name in\n"
           "both is compared.  Quaternions are compared up to their sign.",
    .options = options,
    .models = 2,
    .least = 2,
    .most = 2,
    .run = compare,
};
