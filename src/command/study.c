#include "command/study.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/near.h"
#include "command/page.h"
#include "expr/subst.h"
#include "out/formats.h"
#include "out/report/report_figures.h"
#include "session/inputs/inputs.h"

/* ---- output ------------------------------------------------------------------------------ */

static bool is_figure(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".svg") == 0;
}

bool ns_study_check_outputs(ns_host *host, const ns_arguments *a)
{
    ns_command_phase(host, NS_PHASE_READ);
    host->quiet = ns_command_flag(a, "quiet");
    const char *path;
    for (uint32_t k = 0; ns_command_each(a, "out", &k, &path);) {
        if (!is_figure(path) && !ns_sheet_knows(path))
            return ns_command_refuse(
                host, "--out %s: the name must end in .csv, .json, .h5 or .svg", path);
        const ns_output_format *format = ns_output_find(ns_output_formats, path);
        if (format && format->missing)
            return ns_command_refuse(host, "--out %s: %s", path, format->missing);
    }
    return ns_page_possible(host, a);
}

static int write_page(ns_host *host, const ns_arguments *a, const ns_model *model,
                      const ns_sheet *sheet, const ns_plot *plot)
{
    const char *path = ns_command_text(a, "report");
    if (!path)
        return 0;
    const ns_study_page page = {.model = model, .sheet = sheet, .plot = plot};
    const ns_report_options options = {.template = ns_page_bytes,
                                       .length = ns_page_length,
                                       .command = ns_page_command(host, a)};
    char message[300];
    if (!ns_report_study_write(&page, &options, path, message))
        return ns_command_failed(host, NS_ERR_IO, "cannot write %s", message);
    if (ns_study_prints(host, a))
        fprintf(host->out, "\n  %s (report: open it in a browser)\n", path);
    return 0;
}

int ns_study_finish(ns_host *host, const ns_arguments *a, const ns_model *model,
                    const ns_sheet *sheet, const ns_plot *plot)
{
    ns_json json = ns_json_to(host->out);
    if (ns_command_flag(a, "json"))
        ns_sheet_json(sheet, &json);
    return ns_study_write(host, a, model, sheet, plot);
}

int ns_study_write(ns_host *host, const ns_arguments *a, const ns_model *model,
                   const ns_sheet *sheet, const ns_plot *plot)
{
    ns_command_phase(host, NS_PHASE_WRITE);
    if (host->found)
        host->found(host->context, model, sheet, plot);
    const char *path;
    for (uint32_t k = 0; ns_command_each(a, "out", &k, &path);) {
        if (is_figure(path) && !plot)
            return ns_command_wrong(host, "--out %s: there is nothing to draw", path);
        const int error = is_figure(path) ? ns_plot_write(plot, path)
                                          : ns_sheet_write(sheet, path);
        if (error)
            return ns_command_failed(host, NS_ERR_IO, "cannot write %s: %s", path,
                                     strerror(error));
    }
    const int status = write_page(host, a, model, sheet, plot);
    if (status || !*host->stop)
        return status;
    fprintf(host->err, "noslip: stopped: interrupted; this is what was found until then\n");
    return ns_status_exit(NS_STOP_INTERRUPT);
}

bool ns_study_prints(const ns_host *host, const ns_arguments *a)
{
    return !host->quiet && !ns_command_flag(a, "json");
}

void ns_study_title(ns_host *host, const ns_model *model, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(host->out, "%s%s%s: ", host->style_out.bold, model->description->title,
            host->style_out.plain);
    vfprintf(host->out, format, list);
    fputc('\n', host->out);
    va_end(list);
}

ns_flow *ns_study_flow(ns_host *host, ns_model *model, bool autonomous)
{
    if (model->system->modes.n > 1) {
        ns_command_wrong(host,
                         "the model has %u modes, and this study needs one vector field; run, "
                         "sweep and compare go through modes",
                         model->system->modes.n);
        return NULL;
    }
    /* Not ns_model_problem, which works on a fork of the graph: expressions of the command line
     * get into the model's own, and must mean the same there. */
    if (model->schedule) {
        ns_command_wrong(host, "inputs follow a table or a controller; this study needs "
                               "constant ones: --set NAME=VALUE");
        return NULL;
    }
    const ns_problem *problem = ns_problem_new(model->system, true);
    ns_flow *field = ns_flow_new(host->arena, problem, ns_model_run_options(model).t0, model->p,
                                 model->x0);
    if (autonomous && !ns_flow_autonomous(field)) {
        ns_command_wrong(host, "time enters the equations of this model; this study needs ones "
                               "without it");
        return NULL;
    }
    return field;
}

bool ns_study_open(ns_host *host, const ns_arguments *a, bool autonomous, ns_model **model,
                   ns_flow **flow, int *status)
{
    *status = ns_status_exit(NS_ERR_USAGE);
    *model = NULL;
    *flow = NULL;
    if (!ns_study_check_outputs(host, a))
        return false;
    *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, status);
    if (!*model)
        return false;
    *status = ns_status_exit(NS_ERR_USAGE); /* of what follows */
    *flow = ns_study_flow(host, *model, autonomous);
    if (*flow)
        return true;
    ns_model_free(*model);
    return false;
}

/* ---- words and expressions --------------------------------------------------------------- */

ns_study_words ns_study_split(ns_arena *arena, const char *text, char separator)
{
    ns_study_words list = {0};
    int depth = 0;
    const char *begin = text;
    for (const char *c = text;; c++) {
        depth += (*c == '(' || *c == '[') - (*c == ')' || *c == ']');
        if (*c && (*c != separator || depth > 0))
            continue;
        const char *end = c;
        while (begin < end && *begin == ' ')
            begin++;
        while (end > begin && end[-1] == ' ')
            end--;
        NS_PUSH(arena, list, ns_arena_string(arena, begin, (size_t)(end - begin)));
        if (!*c)
            return list;
        begin = c + 1;
    }
}

bool ns_study_expression(ns_host *host, ns_model *model, const char *option, const char *text,
                         ns_ex *out)
{
    ns_description *d = model->description;
    const ns_system *s = model->system;
    const uint32_t errors = d->diag->errors, messages = d->diag->messages.n;
    ns_value value;
    const bool good = ns_description_evaluate(d, option, text, &value) &&
                      d->diag->errors == errors;
    if (!good) {
        ns_diag only = *d->diag; /* only the new messages */
        only.messages.at += messages;
        only.messages.n -= messages;
        ns_text words = ns_text_new(host->arena);
        ns_diag_render(&only, &words);
        fputs(ns_text_string(&words), host->err);
        return false;
    }
    if (value.rows != 1 || value.cols != 1)
        return ns_command_refuse(host, "%s: expected a number, not a vector: `%s`", option,
                                 text);
    ns_ex e = value.at[0];
    for (uint32_t i = 0; i < s->accelerations.n; i++)
        e = ns_subst_one(s->graph, e, &s->accelerations.at[i].from, &s->accelerations.at[i].to,
                         1);
    *out = e;
    return true;
}

bool ns_study_number(ns_host *host, ns_model *model, const char *option, const char *text,
                     double *out)
{
    ns_ex e;
    if (!ns_study_expression(host, model, option, text, &e))
        return false;
    ns_system_eval(model->system, &e, 1, 0, model->p, NULL, out);
    if (isfinite(*out))
        return true;
    return ns_command_refuse(host, "%s: `%s` is not a finite number", option, text);
}

static bool unknown(ns_host *host, const ns_model *model, const char *what, const char *name)
{
    const char *nearest = ns_model_nearest_observable(model, name);
    if (nearest)
        return ns_command_refuse(host, "`%s` is not a %s of the model; did you mean `%s`?",
                                 name, what, nearest);
    return ns_command_refuse(host, "`%s` is not a %s of the model; `noslip check` lists them",
                             name, what);
}

bool ns_study_state(ns_host *host, const ns_model *model, const char *name, uint32_t *index)
{
    const ns_system *s = model->system;
    for (*index = 0; *index < s->states.n; ++*index)
        if (strcmp(s->states.at[*index].name, name) == 0)
            return true;
    return unknown(host, model, "state", name);
}

bool ns_study_value(ns_host *host, const ns_model *model, const char *name, uint32_t *index)
{
    const int64_t found = ns_model_observable(model, name);
    if (found < 0)
        return unknown(host, model, "value", name);
    *index = (uint32_t)found;
    return true;
}

bool ns_study_input(ns_host *host, const ns_model *model, const char *name, uint32_t *param)
{
    const ns_description *d = model->description;
    const int64_t input = ns_inputs_find(d, name);
    if (input >= 0 && d->inputs.at[input].param == NS_INPUT_NO_PARAM)
        return ns_command_refuse(
            host, "--inputs: `%s` is a function of time; give it a constant value with --set",
            name);
    ns_near near = {.word = name};
    for (*param = 0; *param < d->params.n; ++*param) {
        if (strcmp(d->params.at[*param].name, name) == 0)
            return true;
        ns_near_try(&near, d->params.at[*param].name);
    }
    return ns_command_refuse(host, "--inputs: `%s` is neither an input nor a parameter%s%s%s",
                             name, near.found ? "; did you mean `" : "",
                             near.found ? near.found : "", near.found ? "`?" : "");
}

ns_study_words ns_study_inputs(ns_host *host, const ns_model *model)
{
    const ns_description *d = model->description;
    ns_study_words words = {0};
    for (uint32_t i = 0; i < d->inputs.n; i++)
        if (d->inputs.at[i].param != NS_INPUT_NO_PARAM)
            NS_PUSH(host->arena, words, d->inputs.at[i].name);
    return words;
}

bool ns_study_assign(ns_host *host, ns_model *model, const char *option, const char *text,
                     double *x)
{
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    for (uint32_t i = 0; i < words.n; i++) {
        const char *name, *expression;
        uint32_t index;
        double value;
        if (!ns_command_pair(host, option, "NAME=VALUE,...", words.at[i], &name, &expression) ||
            !ns_study_state(host, model, name, &index) ||
            !ns_study_number(host, model, option, expression, &value))
            return false;
        x[index] = value;
    }
    return true;
}

bool ns_study_parts(ns_host *host, ns_model *model, const char *option, const char *form,
                    const char *text, uint32_t n, const char **name, double *out)
{
    const char *rest;
    if (!ns_command_pair(host, option, form, text, name, &rest))
        return false;
    const ns_study_words parts = ns_study_split(host->arena, rest, ':');
    if (parts.n != n)
        return ns_command_refuse(host, "%s expects %s, not `%s`", option, form, text);
    for (uint32_t i = 0; i < n; i++)
        if (!ns_study_number(host, model, option, parts.at[i], &out[i]))
            return false;
    return true;
}

bool ns_study_range(ns_host *host, ns_model *model, const char *option, const char *text,
                    uint32_t *index, double *low, double *high)
{
    const ns_description *d = model->description;
    const char *name;
    double ends[2] = {0};
    if (!ns_study_parts(host, model, option, "NAME=LOW:HIGH", text, 2, &name, ends))
        return false;
    for (*index = 0; *index < d->params.n; ++*index)
        if (strcmp(d->params.at[*index].name, name) == 0)
            break;
    if (*index == d->params.n) {
        ns_near near = {.word = name};
        for (uint32_t i = 0; i < d->params.n; i++)
            ns_near_try(&near, d->params.at[i].name);
        return ns_command_refuse(host, "`%s` is not a parameter of the model%s%s%s", name,
                                 near.found ? "; did you mean `" : "",
                                 near.found ? near.found : "", near.found ? "`?" : "");
    }
    *low = ends[0];
    *high = ends[1];
    return *low != *high || ns_command_refuse(host, "%s: the range is empty", option);
}

bool ns_study_count(ns_host *host, const ns_arguments *a, const char *name, uint32_t least,
                    uint32_t *value)
{
    double number = *value;
    if (!ns_command_flag(a, name))
        return true;
    if (!ns_command_number(host, a, name, &number))
        return false;
    if (number < least || number > 1e9 || number != floor(number))
        return ns_command_refuse(host, "--%s expects a whole number, at least %u", name, least);
    *value = (uint32_t)number;
    return true;
}

/* ---- progress ---------------------------------------------------------------------------- */

ns_study_progress ns_study_progress_new(ns_host *host, const char *what, double end)
{
    ns_command_phase(host, NS_PHASE_STUDY);
    return (ns_study_progress){
        .host = host, .what = what, .end = end, .begin = ns_clock_seconds()};
}

bool ns_study_progress_draw(void *progress, double fraction)
{
    const ns_study_progress *p = progress;
    const ns_host_progress now = {.what = p->what,
                                  .fraction = fraction,
                                  .at = p->from + fraction * (p->end - p->from),
                                  .end = p->end,
                                  .seconds = ns_clock_seconds() - p->begin};
    return ns_command_progress(p->host, &now);
}

void ns_study_progress_end(const ns_study_progress *progress)
{
    ns_command_phase(progress->host, NS_PHASE_WRITE);
}

bool ns_study_engine(ns_host *host, const ns_arguments *a, ns_record_engine *engine)
{
    static const char *const words[] = {[NS_ENGINE_INTERPRETER] = "interpreter",
                                        [NS_ENGINE_NATIVE] = "native",
                                        [NS_ENGINE_AUTO] = "auto"};
    const char *word = ns_command_text(a, "engine");
    *engine = NS_ENGINE_AUTO;
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *engine = (ns_record_engine)i;
            return true;
        }
    return !word ||
           ns_command_refuse(host, "--engine is interpreter, native or auto, not `%s`", word);
}
