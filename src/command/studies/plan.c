/* noslip plan: inputs that bring a model to a goal at a time with least effort. */
#include <math.h>
#include <string.h>

#include "command/study.h"
#include "study/control/steer.h"

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model;
    ns_flow *flow;
    ns_steer_spec spec;
    const char **input; /* names */
} job;

/* ---- what is asked for ------------------------------------------------------------------- */

/* NAME=LOW:HIGH; an empty side has no bound.  NAME alone has none if `bare`. */
static bool read_range(job *j, const char *option, const char *text, bool bare,
                       const char **name, double *low, double *high)
{
    ns_host *host = j->host;
    *low = -(double)INFINITY;
    *high = (double)INFINITY;
    *name = text;
    if (bare && !strchr(text, '='))
        return true;
    const char *rest;
    if (!ns_command_pair(host, option, "NAME=LOW:HIGH", text, name, &rest))
        return false;
    const ns_study_words parts = ns_study_split(host->arena, rest, ':');
    if (parts.n != 2)
        return ns_command_refuse(host, "%s expects NAME=LOW:HIGH, not `%s`", option, text);
    if ((*parts.at[0] && !ns_study_number(host, j->model, option, parts.at[0], low)) ||
        (*parts.at[1] && !ns_study_number(host, j->model, option, parts.at[1], high)))
        return false;
    return *low < *high ||
           ns_command_refuse(host, "%s: the bounds of %s must ascend", option, *name);
}

static bool read_inputs(job *j)
{
    ns_arena *a = j->host->arena;
    const char *text = ns_command_text(j->a, "inputs");
    const ns_study_words words = text ? ns_study_split(a, text, ',')
                                      : ns_study_inputs(j->host, j->model);
    uint32_t *list = NS_NEW_ARRAY(a, uint32_t, words.n + 1);
    double *low = NS_NEW_ARRAY(a, double, words.n + 1);
    double *high = NS_NEW_ARRAY(a, double, words.n + 1);
    j->input = NS_NEW_ARRAY(a, const char *, words.n + 1);
    if (!words.n)
        return ns_command_refuse(j->host,
                                 "the model has no inputs; declare one, `input u = 0`, "
                                 "or name parameters by --inputs");
    for (uint32_t i = 0; i < words.n; i++) {
        if (!read_range(j, "--inputs", words.at[i], true, &j->input[i], &low[i], &high[i]) ||
            !ns_study_input(j->host, j->model, j->input[i], &list[i]))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (list[k] == list[i])
                return ns_command_refuse(j->host, "--inputs: `%s` is named twice", j->input[i]);
    }
    j->spec.inputs = list;
    j->spec.low = low;
    j->spec.high = high;
    j->spec.m = words.n;
    return true;
}

static bool read_goals(job *j)
{
    ns_arena *a = j->host->arena;
    const ns_system *s = j->model->system;
    const char *text = ns_command_text(j->a, "to");
    if (!text)
        return ns_command_refuse(j->host, "name the goal: --to NAME=VALUE,...");
    const ns_study_words words = ns_study_split(a, text, ',');
    ns_steer_value *goals = NS_NEW_ARRAY(a, ns_steer_value, words.n + 1);
    for (uint32_t i = 0; i < words.n; i++) {
        const char *expression;
        uint32_t index;
        if (!ns_command_pair(j->host, "--to", "NAME=VALUE,...", words.at[i], &goals[i].name,
                             &expression) ||
            !ns_study_value(j->host, j->model, goals[i].name, &index) ||
            !ns_study_number(j->host, j->model, "--to", expression, &goals[i].low))
            return false;
        goals[i].high = goals[i].low;
        goals[i].value = s->observables.at[index].value;
    }
    j->spec.goals = goals;
    j->spec.n_goals = words.n;
    return true;
}

static bool read_keeps(job *j)
{
    NS_LIST(ns_steer_value) keeps = {0};
    const char *text;
    for (uint32_t k = 0; ns_command_each(j->a, "keep", &k, &text);) {
        const ns_study_words words = ns_study_split(j->host->arena, text, ',');
        for (uint32_t i = 0; i < words.n; i++) {
            ns_steer_value keep = {0};
            uint32_t index;
            if (!read_range(j, "--keep", words.at[i], false, &keep.name, &keep.low,
                            &keep.high) ||
                !ns_study_value(j->host, j->model, keep.name, &index))
                return false;
            keep.value = j->model->system->observables.at[index].value;
            NS_PUSH(j->host->arena, keeps, keep);
        }
    }
    j->spec.keeps = keeps.at;
    j->spec.n_keeps = keeps.n;
    return true;
}

/* --guess NAME=EXPR,...: of time; the others begin at what the model says. */
static bool read_guess(job *j)
{
    ns_arena *a = j->host->arena;
    const char *text = ns_command_text(j->a, "guess");
    if (!text)
        return true;
    ns_ex *guess = NS_NEW_ARRAY(a, ns_ex, j->spec.m + 1);
    const ns_ex *p = ns_system_param_symbols(j->model->system, a);
    for (uint32_t i = 0; i < j->spec.m; i++)
        guess[i] = p[j->spec.inputs[i]];
    const ns_study_words words = ns_study_split(a, text, ',');
    for (uint32_t k = 0; k < words.n; k++) {
        const char *name, *expression;
        uint32_t i = 0;
        if (!ns_command_pair(j->host, "--guess", "NAME=EXPR,...", words.at[k], &name,
                             &expression))
            return false;
        while (i < j->spec.m && strcmp(j->input[i], name) != 0)
            i++;
        if (i == j->spec.m)
            return ns_command_refuse(j->host, "--guess: `%s` is not an input of the plan",
                                     name);
        if (!ns_study_expression(j->host, j->model, "--guess", expression, &guess[i]))
            return false;
    }
    j->spec.guess = guess;
    return true;
}

static bool read_grid(job *j)
{
    ns_host *host = j->host;
    ns_steer_spec *spec = &j->spec;
    const ns_run_options run = ns_model_run_options(j->model);
    spec->t0 = run.t0;
    spec->until = run.until;
    spec->pieces = 32;
    bool bounds = false;
    for (uint32_t i = 0; i < spec->m; i++)
        bounds = bounds || isfinite(spec->low[i]) || isfinite(spec->high[i]);
    double order = bounds ? 1 : 3;
    if (!ns_command_number(host, j->a, "until", &spec->until) ||
        !ns_study_count(host, j->a, "pieces", 3, &spec->pieces) ||
        !ns_command_number(host, j->a, "order", &order))
        return false;
    if (!isfinite(spec->until))
        return ns_command_refuse(host, "the model says no end time; use --until");
    if (!(spec->until > spec->t0))
        return ns_command_refuse(host, "--until must lie after the beginning, t = %g s",
                                 spec->t0);
    if (order != 0 && order != 1 && order != 3)
        return ns_command_refuse(host, "--order is 0, 1 or 3");
    if (order == 3 && bounds)
        return ns_command_refuse(host, "between its knots a cubic spline may leave its bounds: "
                                       "use --order 1 or 0");
    spec->order = (uint32_t)order;
    if ((double)spec->m * spec->pieces > 2000)
        return ns_command_refuse(host, "--pieces: at most 2000 knots of all inputs together");
    return true;
}

static bool read_spec(job *j)
{
    const char *cost = ns_command_text(j->a, "cost");
    return read_inputs(j) && read_goals(j) && read_keeps(j) && read_guess(j) && read_grid(j) &&
           (!cost || ns_study_expression(j->host, j->model, "--cost", cost, &j->spec.cost));
}

/* ---- what is shown ----------------------------------------------------------------------- */

static void print(const job *j, const ns_steer *plan)
{
    ns_host *host = j->host;
    const ns_steer_spec *spec = &j->spec;
    ns_study_title(host, j->model, "plan");
    fprintf(host->out,
            "  cost %.12g; from t = %.6g to %.6g s, %u pieces of order %u, %u steps\n",
            plan->cost, spec->t0, spec->until, spec->pieces, spec->order, plan->steps);
    fprintf(
        host->out,
        "  goal met to %.1e, with steps half as long to %.1e; optimal to %.1e of the slope\n",
        plan->miss, plan->error, plan->slope);
    fprintf(host->out, "  %u of %u guesses led there, %u rounds\n", plan->found, plan->guesses,
            plan->rounds);
    ns_style_heading(host->out, &host->style_out, "Inputs");
    fprintf(host->out, "  %-10s", "t");
    for (uint32_t i = 0; i < plan->m; i++)
        fprintf(host->out, " %16s", j->input[i]);
    fputc('\n', host->out);
    const uint32_t every = plan->knots > 20 ? (plan->knots - 1) / 10 : 1;
    for (uint32_t l = 0; l < plan->knots; l += every) {
        fprintf(host->out, "  %-10.6g", plan->t[l]);
        for (uint32_t i = 0; i < plan->m; i++)
            fprintf(host->out, " %16.9g", plan->u[(size_t)l * plan->m + i]);
        fputc('\n', host->out);
    }
    ns_style_heading(host->out, &host->style_out, "Change of the cost with the goal");
    for (uint32_t i = 0; i < spec->n_goals; i++)
        fprintf(host->out, "  %-20s % .9g\n", spec->goals[i].name, plan->multiplier[i]);
}

static ns_sheet *make_sheet(const job *j, const ns_steer *plan)
{
    const ns_system *s = j->model->system;
    ns_sheet *sheet = ns_sheet_new(j->host->arena, "plan", j->model->description->title);
    ns_sheet_text(sheet, "status", "done");
    ns_sheet_number(sheet, "cost", plan->cost);
    ns_sheet_number(sheet, "miss", plan->miss);
    ns_sheet_number(sheet, "error", plan->error);
    ns_sheet_number(sheet, "slope", plan->slope);
    ns_sheet_number(sheet, "order", j->spec.order);
    ns_sheet_number(sheet, "steps", plan->steps);
    ns_sheet_number(sheet, "rounds", plan->rounds);
    ns_sheet_table *t = ns_sheet_add(sheet, "plan", plan->knots);
    ns_sheet_column_add(sheet, t, "t", "s", plan->t);
    for (uint32_t i = 0; i < plan->m + s->states.n; i++) {
        const bool input = i < plan->m;
        const uint32_t k = input ? i : i - plan->m, width = input ? plan->m : plan->n;
        double *column = ns_sheet_numbers(sheet, t, input ? j->input[k] : s->states.at[k].name,
                                          input ? "" : s->states.at[k].unit);
        for (uint32_t l = 0; l < plan->knots; l++)
            column[l] = (input ? plan->u : plan->x)[(size_t)l * width + k];
    }
    t = ns_sheet_add(sheet, "goals", j->spec.n_goals);
    const char **name = ns_sheet_words(sheet, t, "name");
    double *value = ns_sheet_numbers(sheet, t, "value", "");
    for (uint32_t i = 0; i < j->spec.n_goals; i++) {
        name[i] = j->spec.goals[i].name;
        value[i] = j->spec.goals[i].low;
    }
    ns_sheet_column_add(sheet, t, "multiplier", "", plan->multiplier);
    return sheet;
}

static ns_plot *draw(const job *j, const ns_sheet *sheet, const ns_steer *plan)
{
    const ns_sheet_table *t = sheet->tables.at[0];
    ns_plot *plot = ns_plot_new(j->host->arena, j->model->description->title);
    plot->subtitle = "inputs of least effort, and the motion";
    ns_plot_panel *inputs = ns_plot_add(plot, "", "time", "s", "inputs", "");
    ns_plot_panel *states = ns_plot_add(plot, "", "time", "s", "states", "");
    for (uint32_t i = 1; i < t->columns.n && i <= plan->m + 8; i++)
        ns_plot_line(i <= plan->m ? inputs : states, t->columns.at[i].name, plan->knots,
                     plan->t, t->columns.at[i].number);
    return plot;
}

static int plan(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    job j = {.host = host, .a = a};
    if (!ns_study_open(host, a, false, &j.model, &j.flow, &status))
        return status;
    if (read_spec(&j)) {
        ns_study_progress progress = ns_study_progress_new(host, "plan", 1);
        j.spec.progress = ns_study_progress_draw;
        j.spec.context = &progress;
        const ns_steer *p = ns_steer_find(host->arena, j.flow, &j.spec, j.model->x0);
        ns_study_progress_end(&progress);
        if (p->status != NS_OK) {
            ns_command_wrong(host, "%s", p->message);
            status = ns_status_exit(p->status);
        } else {
            if (ns_study_prints(host, a))
                print(&j, p);
            const ns_sheet *sheet = make_sheet(&j, p);
            status = ns_study_finish(host, a, j.model, sheet, draw(&j, sheet, p));
        }
    }
    ns_model_free(j.model);
    return status;
}

static const ns_option options[] = {
    {.name = "to", .argument = "NAME=VALUE,...", .help = "the goal: values at the end"},
    {.name = "until", .argument = "T", .help = "when it is to be reached"},
    {.name = "inputs",
     .argument = "NAME[=LOW:HIGH],...",
     .help = "inputs or parameters to steer with, and their bounds (all inputs)"},
    {.name = "keep",
     .argument = "NAME=LOW:HIGH,...",
     .help = "values that stay between bounds on the way; one side may be empty",
     .repeat = true},
    {.name = "cost",
     .argument = "EXPR",
     .help = "rate of the cost (the sum of the squares of the inputs)"},
    {.name = "guess",
     .argument = "NAME=EXPR,...",
     .help = "inputs to begin with, functions of t (several waves)"},
    {.name = "pieces", .argument = "N", .help = "pieces of the inputs (32)"},
    {.name = "order",
     .argument = "0|1|3",
     .help = "of the splines of the inputs (3; with bounds 1)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_plan = {
    .name = "plan",
    .summary = "Find inputs of least effort that bring a model to a goal at a given time",
    .usage = "MODEL --to NAME=VALUE,... [--until T] [--inputs NAME[=LOW:HIGH],...]\n"
             "            [--keep NAME=LOW:HIGH,...]... [--cost EXPR] [--guess NAME=EXPR,...] "
             "[--pieces N] [--order 0|1|3]",
    .doc =
        "Inputs are splines through equidistant knots, motions collocation polynomials on\n"
        "Gauss nodes; the knots of least cost are found by Newton's method with exact second\n"
        "derivatives.  The table of --out FILE.csv is one that `noslip run` takes:\n"
        "--set 'u=from \"FILE.csv\" order 3'.  Of several guesses the cheapest end counts; a\n"
        "plan is a local optimum.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = plan,
};
