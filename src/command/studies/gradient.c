/* noslip gradient: one number of a motion by many parameters, by the adjoint equations. */
#include <math.h>
#include <string.h>

#include "command/study.h"
#include "study/control/adjoint.h"

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model;
    ns_flow *flow;
    ns_adjoint_spec spec;
} job;

/* Names of --by, or all parameters that are given and not computed. */
static bool read_names(job *j)
{
    ns_arena *a = j->host->arena;
    const ns_description *d = j->model->description;
    const char *text = ns_command_text(j->a, "by");
    if (text && strcmp(text, "all") != 0) {
        const ns_study_words words = ns_study_split(a, text, ',');
        j->spec.names = words.at;
        j->spec.n = words.n;
        return true;
    }
    const char **names = NS_NEW_ARRAY(a, const char *, d->params.n + 1);
    for (uint32_t i = 0; i < d->params.n; i++)
        if (!ns_graph_depends_kind(d->graph, d->params.at[i].value, NS_SYM_PARAM, NULL))
            names[j->spec.n++] = d->params.at[i].name;
    j->spec.names = names;
    return j->spec.n || ns_command_refuse(j->host, "the model has no parameters");
}

/* A value of the model by its name, or an expression of states, parameters and time. */
static bool read_value(job *j, const char *option, ns_ex *out)
{
    const char *text = ns_command_text(j->a, option);
    if (!text)
        return true;
    const int64_t index = ns_model_observable(j->model, text);
    if (index >= 0) {
        *out = j->model->system->observables.at[index].value;
        return true;
    }
    return ns_study_expression(j->host, j->model,
                               ns_arena_format(j->host->arena, "--%s", option), text, out);
}

static bool read_spec(job *j)
{
    j->spec.system = j->model->system;
    j->spec.until = ns_model_run_options(j->model).until;
    if (!read_names(j) || !read_value(j, "end", &j->spec.end) ||
        !read_value(j, "integral", &j->spec.integral) ||
        !ns_command_number(j->host, j->a, "until", &j->spec.until))
        return false;
    if (!j->spec.end && !j->spec.integral)
        return ns_command_refuse(j->host, "say what to differentiate: --end VALUE, --integral "
                                          "VALUE, or both, whose sum it is then");
    if (!isfinite(j->spec.until))
        return ns_command_refuse(j->host, "the model says no end time; use --until");
    return j->spec.until > ns_model_run_options(j->model).t0 ||
           ns_command_refuse(j->host, "--until must be after the beginning");
}

static void print(const job *j, const ns_adjoint *g)
{
    FILE *out = j->host->out;
    ns_study_title(j->host, j->model, "gradient");
    fprintf(out, "  value %.15g; %llu steps until t = %g s\n", g->value,
            (unsigned long long)g->steps, j->spec.until);
    ns_style_heading(out, &j->host->style_out, "Derivatives");
    for (uint32_t i = 0; i < g->n; i++)
        fprintf(out, "  %-20s % .15g\n", g->names[i], g->gradient[i]);
}

static int show(const job *j, const ns_adjoint *g)
{
    ns_host *host = j->host;
    if (ns_study_prints(host, j->a))
        print(j, g);
    ns_sheet *sheet = ns_sheet_new(host->arena, "gradient", j->model->description->title);
    ns_sheet_text(sheet, "status", "done");
    ns_sheet_number(sheet, "value", g->value);
    ns_sheet_number(sheet, "steps", (double)g->steps);
    ns_sheet_table *t = ns_sheet_add(sheet, "gradient", g->n);
    const char **name = ns_sheet_words(sheet, t, "name");
    memcpy(name, g->names, g->n * sizeof *name);
    ns_sheet_column_add(sheet, t, "derivative", "", g->gradient);
    const ns_system *s = j->model->system;
    t = ns_sheet_add(sheet, "start", s->states.n);
    name = ns_sheet_words(sheet, t, "state");
    for (uint32_t i = 0; i < s->states.n; i++)
        name[i] = s->states.at[i].name;
    ns_sheet_column_add(sheet, t, "derivative", "", g->start);
    return ns_study_finish(host, j->a, j->model, sheet, NULL);
}

static int gradient(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    job j = {.host = host, .a = a};
    if (!ns_study_open(host, a, false, &j.model, &j.flow, &status))
        return status;
    if (read_spec(&j)) {
        const ns_adjoint *g = ns_adjoint_find(host->arena, j.model, &j.spec);
        if (g->status != NS_OK) {
            ns_command_wrong(host, "%s", g->message);
            status = ns_status_exit(g->status);
        } else
            status = show(&j, g);
    } else
        status = ns_status_exit(NS_ERR_USAGE);
    ns_model_free(j.model);
    return status;
}

static const ns_option options[] = {
    {.name = "end",
     .argument = "VALUE",
     .help = "a value of the model, or an expression, at the end"},
    {.name = "integral",
     .argument = "VALUE",
     .help = "the integral over time of a value or an expression"},
    {.name = "by",
     .argument = "NAME,...|all",
     .help = "parameters, and states at the start (start.NAME); all parameters"},
    {.name = "until", .argument = "T", .help = "the end"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_gradient = {
    .name = "gradient",
    .summary = "Differentiate an end value or an integral by many parameters at once",
    .usage = "MODEL [--end VALUE] [--integral VALUE] [--by NAME,...|all] [--until T]",
    .doc =
        "The adjoint equations are integrated backwards over the steps of the motion: the "
        "cost\n"
        "is that of a few runs, whatever the number of parameters.  For many values and few\n"
        "parameters `noslip run --sensitivity` costs less.",
    .options = options,
    .least = 1,
    .most = 1,
    .models = 1,
    .run = gradient,
};
