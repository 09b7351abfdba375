/* Studies: the commands of the program on a model of the caller's, with structured results.
 *
 * A command reads its options, computes, and tells its host what it found: facts, tables and a
 * figure (out/tables/sheet.h, out/plot/plot.h).  It works on a copy of the model, since reading
 * the expressions of options adds to the graph; so any number of studies may be under way. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/process/plain.h"
#include "command/command.h"
#include "out/plot/plot.h"
#include "out/report/page.h"
#include "out/report/report_figures.h"
#include "out/tables/sheet.h"
#include "session/gallery.h"
#include "session/variant.h"
#include "study/sweeps/plan.h"

enum { MOST_MODELS = 8 };

struct ns_study {
    ns_verdict verdict;
    ns_arena *arena;
    ns_model *given[2];           /* of the caller */
    const char *word[2];          /* what a command line would call them */
    ns_model *model[MOST_MODELS]; /* the copies that the command has opened */
    uint32_t models;
    const ns_model *about;
    const ns_sheet *sheet; /* NULL: the command has none */
    const ns_plot *plot;
    ns_progress_function progress;
    void *context;
    int stop;
    bool out_of_memory;
    bool as_json; /* the command was asked for its own object */
    bool plain;   /* variants are opened without their numbers */
    char *out, *err;
    size_t out_length, err_length;
    const char *json, *report; /* report: NULL until it is asked for */
    char error[400];
};

const char *ns_api_study_name(size_t i, const char **summary)
{
    for (const ns_command *const *c = ns_commands; *c; c++)
        if (!(*c)->apart && i-- == 0) {
            *summary = (*c)->summary;
            return (*c)->name;
        }
    return NULL;
}

static const ns_command *find(const char *name)
{
    const ns_command *command = ns_command_find(name);
    return command && !command->apart ? command : NULL;
}

const char *ns_study_option(const char *study, size_t i, const char **argument,
                            const char **help)
{
    const ns_command *command = find(study);
    const ns_option *o = command ? command->options : NULL;
    for (size_t k = 0; o && o->name && k < i; k++)
        o++;
    if (!o || !o->name)
        return NULL;
    if (argument)
        *argument = o->argument ? o->argument : "";
    if (help)
        *help = o->help ? o->help : "";
    return o->name;
}

/* ---- the host of the command ------------------------------------------------------------- */

static ns_model *open_copy(void *context, const char *word, const ns_override *overrides,
                           size_t n)
{
    ns_study *s = context;
    const ns_model *of = s->given[word == s->word[1]];
    if (s->plain && of->variant) /* its numbers are among the options */
        of = of->variant->of;
    ns_model *copy = ns_variant_copy(of, overrides, n);
    if (copy && s->models < MOST_MODELS) {
        copy->users++; /* names in the tables are the model's: it lives as long as they */
        s->model[s->models++] = copy;
    }
    return copy;
}

static void keep(void *context, const ns_model *model, const ns_sheet *sheet,
                 const ns_plot *plot)
{
    ns_study *s = context;
    s->about = model;
    s->sheet = sheet;
    s->plot = plot;
}

static bool pass_progress(void *context, const ns_host_progress *p)
{
    ns_study *s = context;
    if (s->progress && s->progress(s->context, p->fraction, p->at))
        s->stop = 1;
    return !s->stop;
}

/* ---- running ----------------------------------------------------------------------------- */

static bool varied(const ns_arguments *a, const char *name)
{
    const size_t length = strlen(name);
    const char *axis;
    for (uint32_t k = 0; ns_command_each(a, "over", &k, &axis);) {
        axis = ns_plan_bare(axis);
        if (strncmp(axis, name, length) == 0 && axis[length] == '=')
            return true;
    }
    return false;
}

/* A sweep makes its starts by itself: the numbers of a variant are options, parameters as --set
 * and the rest as axes of one value, so that the command of the table repeats it. */
static bool take_variant(const ns_study *s, ns_host *host, ns_arguments *a)
{
    const ns_model *m = s->given[0];
    for (uint32_t i = 0; m->variant && i < m->variant->n; i++) {
        const char *name = m->variant->name[i];
        const double x = m->variant->value[i];
        const bool parameter = ns_model_index(m, NS_PARAMETERS, name) >= 0;
        if (varied(a, name))
            continue;
        if (!ns_command_take(
                host, a, parameter ? "set" : "over",
                parameter ? ns_arena_format(host->arena, "%s=%.17g", name, x)
                          : ns_arena_format(host->arena, "%s=%.17g:%.17g:1", name, x, x)))
            return false;
    }
    return true;
}

/* What the command line calls a model: the name of a bundled one, or of its file. */
static const char *word_of(ns_arena *arena, const ns_model *m)
{
    const size_t length = strlen(m->name);
    const bool mech = length > 5 && strcmp(m->name + length - 5, ".mech") == 0;
    const char *name = ns_arena_string(arena, m->name, length - (mech ? 5 : 0));
    const struct ns_gallery_entry *entry = ns_gallery_find(name);
    return entry && strcmp(entry->text, m->text) == 0 ? name
                                                      : ns_arena_string(arena, m->name, length);
}

/* The options of the caller; then models and other words. */
static bool take_arguments(ns_study *s, ns_host *host, const ns_command *command,
                           const char *const *names, const char *const *values, size_t n,
                           ns_arguments *a)
{
    *a = (ns_arguments){.command = command};
    for (size_t i = 0; i < n; i++) {
        const char *given = values && values[i] ? values[i] : "";
        /* facts may quote it: it lives as long as they */
        const char *value = *given ? ns_arena_string(host->arena, given, strlen(given)) : NULL;
        s->as_json = s->as_json || strcmp(names[i], "json") == 0;
        if (!*names[i] && value && !command->models)
            NS_PUSH(host->arena, a->words, value);
        else if (!ns_command_take(host, a, names[i], value))
            return false;
    }
    if (!command->models)
        return ns_command_enough(host, a);
    for (int k = 0; k < 2; k++)
        s->word[k] = word_of(host->arena, s->given[k]);
    if (command->form)
        NS_PUSH(host->arena, a->words, command->form(a));
    for (uint32_t k = 0; k < command->models; k++)
        NS_PUSH(host->arena, a->words, s->word[k]);
    s->plain = command->starts;
    return ns_command_enough(host, a) && (!s->plain || take_variant(s, host, a));
}

static int run(ns_study *s, ns_host *host, const ns_command *command, const char *const *names,
               const char *const *values, size_t n)
{
    if (NS_ARENA_GUARD(s->arena)) {
        ns_arena_unguard(s->arena);
        s->sheet = NULL;
        s->plot = NULL;
        s->out_of_memory = true;
        return NS_FAILED;
    }
    ns_arguments arguments;
    int status = ns_status_exit(NS_ERR_USAGE);
    if (take_arguments(s, host, command, names, values, n, &arguments))
        status = command->run(host, &arguments);
    s->json = "";
    if (s->sheet && !s->as_json) {
        ns_json json = ns_json_new(s->arena);
        ns_sheet_json(s->sheet, &json);
        s->json = ns_json_string(&json);
    }
    ns_arena_unguard(s->arena);
    return status;
}

static void begin(ns_study *s, const ns_command *command, const char *const *names,
                  const char *const *values, size_t n)
{
    ns_host host = {.arena = s->arena,
                    .out = open_memstream(&s->out, &s->out_length),
                    .err = open_memstream(&s->err, &s->err_length),
                    .style_out = ns_style_none,
                    .style_err = ns_style_none,
                    .stop = &s->stop,
                    .context = s,
                    .open = command->models ? open_copy : NULL,
                    .found = keep,
                    .progress = pass_progress};
    if (host.out && host.err)
        s->verdict = (ns_verdict)run(s, &host, command, names, values, n);
    /* a text that did not fit into memory is no text */
    bool whole = host.out && !ferror(host.out) && !fflush(host.out);
    whole = host.err && !ferror(host.err) && !fflush(host.err) && whole;
    if (host.out)
        fclose(host.out);
    if (host.err)
        fclose(host.err);
    if (!whole) {
        s->verdict = NS_FAILED;
        s->out_of_memory = true;
    }
}

ns_study *ns_study_run(ns_model *model, ns_model *other, const char *name,
                       const char *const *names, const char *const *values, size_t n,
                       ns_progress_function progress, void *context)
{
    NS_PLAIN_NUMBERS;
    ns_study *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->verdict = NS_FAILED;
    s->arena = ns_arena_new();
    s->progress = progress;
    s->context = context;
    s->given[0] = model;
    s->given[1] = other ? other : model;
    s->json = "";
    const ns_command *command = find(name);
    s->out_of_memory = !s->arena;
    if (!s->arena)
        return s;
    if (!command)
        s->verdict = asprintf(&s->err, "error: there is no study `%s`\n", name) < 0 ? NS_FAILED
                                                                                    : NS_WRONG;
    else if (command->models && !model)
        return s;
    else if (command->models && (model->status != NS_OK || s->given[1]->status != NS_OK))
        s->verdict = asprintf(&s->err, "error: the model is wrong\n") < 0 ? NS_FAILED
                                                                          : NS_WRONG;
    else
        begin(s, command, names, values, n);
    return s;
}

void ns_study_close(ns_study *s)
{
    if (!s)
        return;
    ns_arena_free(s->arena); /* before the models: programs in it belong to their problems */
    for (uint32_t i = 0; i < s->models; i++)
        ns_model_free(s->model[i]);
    free(s->out);
    free(s->err);
    free(s);
}

/* ---- what was found ---------------------------------------------------------------------- */

ns_verdict ns_study_verdict(const ns_study *s)
{
    return s ? s->verdict : NS_FAILED;
}

const char *ns_study_messages(const ns_study *s)
{
    return !s || s->out_of_memory ? "error: out of memory\n" : s->err ? s->err : "";
}

const char *ns_study_summary(const ns_study *s)
{
    return s && s->out && !s->as_json ? s->out : "";
}

const char *ns_study_json(const ns_study *s)
{
    return !s ? "" : s->as_json && s->out ? s->out : s->json;
}

const char *ns_study_report(ns_study *s)
{
    NS_PLAIN_NUMBERS;
    if (!s || !s->sheet)
        return "";
    if (s->report)
        return s->report;
    if (!NS_ARENA_GUARD(s->arena)) {
        const ns_study_page page = {.model = s->about, .sheet = s->sheet, .plot = s->plot};
        size_t length;
        s->report = ns_report_study_data(&page, "", s->arena, &length);
    }
    ns_arena_unguard(s->arena);
    return s->report ? s->report : "";
}

size_t ns_study_fact_count(const ns_study *s)
{
    return s && s->sheet ? s->sheet->facts.n : 0;
}

const char *ns_study_fact(const ns_study *s, size_t i, double *number, const char **text)
{
    const bool there = i < ns_study_fact_count(s);
    const ns_sheet_fact none = {.name = "", .number = (double)NAN};
    const ns_sheet_fact *f = there ? &s->sheet->facts.at[i] : &none;
    if (number)
        *number = f->text ? (double)NAN : f->number;
    if (text)
        *text = f->text;
    return f->name;
}

double ns_study_fact_number(const ns_study *s, const char *name)
{
    for (size_t i = 0; i < ns_study_fact_count(s); i++)
        if (strcmp(s->sheet->facts.at[i].name, name) == 0 && !s->sheet->facts.at[i].text)
            return s->sheet->facts.at[i].number;
    return (double)NAN;
}

size_t ns_study_table_count(const ns_study *s)
{
    return s && s->sheet ? s->sheet->tables.n : 0;
}

const char *ns_study_table(const ns_study *s, size_t table, size_t *rows, size_t *columns)
{
    const ns_sheet_table *t = table < ns_study_table_count(s) ? s->sheet->tables.at[table]
                                                              : NULL;
    if (rows)
        *rows = t ? t->rows : 0;
    if (columns)
        *columns = t ? t->columns.n : 0;
    return t ? t->name : "";
}

const char *ns_study_column(const ns_study *s, size_t table, size_t column, const char **unit,
                            const double **numbers, const char *const **texts)
{
    const ns_sheet_table *t = table < ns_study_table_count(s) ? s->sheet->tables.at[table]
                                                              : NULL;
    const ns_sheet_column *c = t && column < t->columns.n ? &t->columns.at[column] : NULL;
    if (unit)
        *unit = c && c->unit ? c->unit : "";
    if (numbers)
        *numbers = c ? c->number : NULL;
    if (texts)
        *texts = c ? c->text : NULL;
    return c ? c->name : "";
}

const double *ns_study_numbers(const ns_study *s, const char *table, const char *column,
                               size_t *rows)
{
    if (rows)
        *rows = 0;
    for (size_t i = 0; i < ns_study_table_count(s); i++) {
        const ns_sheet_table *t = s->sheet->tables.at[i];
        for (uint32_t k = 0; strcmp(t->name, table) == 0 && k < t->columns.n; k++)
            if (strcmp(t->columns.at[k].name, column) == 0 && t->columns.at[k].number) {
                if (rows)
                    *rows = t->rows;
                return t->columns.at[k].number;
            }
    }
    return NULL;
}

/* ---- files ------------------------------------------------------------------------------- */

static ns_verdict write_page(ns_study *s, const char *path)
{
    const ns_study_page page = {.model = s->about, .sheet = s->sheet, .plot = s->plot};
    const ns_report_options o = {.template = ns_page_bytes, .length = ns_page_length};
    char why[300];
    if (ns_report_study_write(&page, &o, path, why))
        return NS_DONE;
    snprintf(s->error, sizeof s->error, "cannot write %s", why);
    return NS_FAILED;
}

ns_verdict ns_study_save(ns_study *s, const char *path)
{
    NS_PLAIN_NUMBERS;
    if (!s)
        return NS_FAILED;
    const char *dot = strrchr(path, '.');
    const bool figure = dot && strcmp(dot, ".svg") == 0;
    const bool page = dot && strcmp(dot, ".html") == 0;
    s->error[0] = 0;
    const char *wrong = !s->sheet                ? "the study has no tables"
                        : figure && !s->plot     ? "the study has no figure"
                        : page && !s->about      ? "the study has no page"
                        : page && !ns_page_bytes ? "built without the page of reports"
                        : !figure && !page && !ns_sheet_knows(path)
                            ? "the name must end in .csv, .json, .h5, .svg or .html"
                            : NULL;
    if (wrong) {
        snprintf(s->error, sizeof s->error, "%s: %s", path, wrong);
        return NS_WRONG;
    }
    if (page)
        return write_page(s, path);
    const int error = figure ? ns_plot_write(s->plot, path) : ns_sheet_write(s->sheet, path);
    if (error)
        snprintf(s->error, sizeof s->error, "cannot write %s: %s", path, strerror(error));
    return error ? NS_FAILED : NS_DONE;
}

const char *ns_study_error(const ns_study *s)
{
    return s ? s->error : "out of memory";
}
