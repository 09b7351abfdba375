/* noslip fit: parameters and starts from measured series. */
#include <math.h>
#include <string.h>

#include "command/study.h"
#include "study/fit/fit.h"

/* ---- what is asked for ------------------------------------------------------------------- */

/* NAME or NAME=LOW:HIGH, separated by commas. */
static bool read_unknowns(ns_host *host, const ns_arguments *a, ns_model *model,
                          ns_fit_spec *spec)
{
    const char *text = ns_command_text(a, "parameters");
    if (!text)
        return ns_command_refuse(host,
                                 "name what is unknown: --parameters NAME[=LOW:HIGH],...");
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    const char **names = NS_NEW_ARRAY(host->arena, const char *, words.n + 1);
    double *low = NS_NEW_ARRAY(host->arena, double, words.n + 1);
    double *high = NS_NEW_ARRAY(host->arena, double, words.n + 1);
    for (uint32_t i = 0; i < words.n; i++) {
        double range[2] = {-(double)INFINITY, (double)INFINITY};
        names[i] = words.at[i];
        if (strchr(words.at[i], '=') &&
            !ns_study_parts(host, model, "--parameters", "NAME=LOW:HIGH", words.at[i], 2,
                            &names[i], range))
            return false;
        if (!(range[0] < range[1]))
            return ns_command_refuse(host, "--parameters: the bounds of %s must ascend",
                                     names[i]);
        low[i] = range[0];
        high[i] = range[1];
    }
    spec->names = names;
    spec->low = low;
    spec->high = high;
    spec->n = words.n;
    return true;
}

static bool read_data(ns_host *host, const ns_arguments *a, ns_fit_spec *spec)
{
    NS_LIST(ns_series) data = {0};
    const char *path, *message = "";
    for (uint32_t k = 0; ns_command_each(a, "data", &k, &path);) {
        ns_series s;
        if (!ns_series_read(host->arena, path, &s, &message))
            return ns_command_refuse(host, "--data: %s", message);
        NS_PUSH(host->arena, data, s);
        if (!spec->offset && s.t[0] < spec->run.t0)
            return ns_command_refuse(host, "%s begins at t = %g s, the model at %g s", path,
                                     s.t[0], spec->run.t0);
    }
    if (!data.n)
        return ns_command_refuse(host, "name the measurements: --data FILE.csv or FILE.h5");
    spec->data = data.at;
    spec->experiments = data.n;
    return true;
}

/* Those named, or all columns of the data that are values of the model. */
static bool read_columns(ns_host *host, const ns_arguments *a, const ns_model *model,
                         ns_fit_spec *spec)
{
    const char *text = ns_command_text(a, "columns"), *message = "";
    NS_LIST(ns_fit_column) columns = {0};
    if (text) {
        const ns_study_words words = ns_study_split(host->arena, text, ',');
        for (uint32_t i = 0; i < words.n; i++) {
            if (!ns_series_find(host->arena, &spec->data[0], words.at[i], &message))
                return ns_command_refuse(host, "--columns: %s", message);
            NS_PUSH(host->arena, columns, (ns_fit_column){.name = words.at[i]});
        }
    }
    for (uint32_t i = 0; !text && i < spec->data[0].columns.n; i++)
        if (spec->data[0].columns.at[i].value != spec->data[0].t &&
            ns_model_observable(model, spec->data[0].columns.at[i].name) >= 0)
            NS_PUSH(host->arena, columns,
                    (ns_fit_column){.name = spec->data[0].columns.at[i].name});
    if (!columns.n)
        return ns_command_refuse(host, "no column of %s is the name of a value of the model",
                                 spec->data[0].path);
    spec->columns = columns.at;
    spec->n_columns = columns.n;
    return true;
}

static bool read_sigma(ns_host *host, const ns_arguments *a, ns_model *model, ns_fit_spec *spec)
{
    const char *text = ns_command_text(a, "sigma"), *name;
    if (!text)
        return true;
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    for (uint32_t i = 0; i < words.n; i++) {
        double value = 0;
        if (!ns_study_parts(host, model, "--sigma", "NAME=VALUE", words.at[i], 1, &name,
                            &value))
            return false;
        uint32_t c = 0;
        while (c < spec->n_columns && strcmp(spec->columns[c].name, name) != 0)
            c++;
        if (c == spec->n_columns || !(value > 0))
            return ns_command_refuse(host,
                                     c < spec->n_columns
                                         ? "--sigma: the scatter of %s must be positive"
                                         : "--sigma: no column `%s` is fitted",
                                     name);
        spec->columns[c].sigma = value;
    }
    return true;
}

static bool read_spec(ns_host *host, const ns_arguments *a, ns_model *model, ns_fit_spec *spec)
{
    spec->run = ns_model_run_options(model);
    spec->run.tolerance = 1e-12;
    spec->offset = ns_command_flag(a, "offset");
    if (!ns_command_number(host, a, "tol", &spec->run.tolerance))
        return false;
    if (!(spec->run.tolerance > 0))
        return ns_command_refuse(host, "--tol must be positive");
    return read_unknowns(host, a, model, spec) && read_data(host, a, spec) &&
           read_columns(host, a, model, spec) && read_sigma(host, a, model, spec);
}

/* ---- what is shown ----------------------------------------------------------------------- */

static void print(ns_host *host, const ns_model *model, const ns_fit_spec *spec,
                  const ns_fit *f)
{
    ns_study_title(host, model, "fit");
    fprintf(host->out, "  %zu measurements, %u unknowns, %u rounds, chi^2 = %.6g\n\n", f->rows,
            f->n, f->rounds, f->chi2);
    fprintf(host->out, "  %-20s %-22s %s\n", "", "value", "standard error");
    for (uint32_t i = 0; i < f->n; i++)
        if (f->bound[i])
            fprintf(host->out, "  %-20s %-22.12g at its bound\n", f->name[i], f->value[i]);
        else if (isnan(f->error[i]))
            fprintf(host->out, "  %-20s %-22.12g not determined\n", f->name[i], f->value[i]);
        else
            fprintf(host->out, "  %-20s %-22.12g %.3g\n", f->name[i], f->value[i], f->error[i]);
    ns_style_heading(host->out, &host->style_out, "Scatter");
    for (uint32_t c = 0; c < spec->n_columns; c++)
        fprintf(host->out, "  %-20s %.4g%s\n", spec->columns[c].name, f->sigma[c],
                spec->columns[c].sigma > 0 ? " (given)" : "");
    if (f->n < 2)
        return;
    ns_style_heading(host->out, &host->style_out, "Correlations");
    for (uint32_t i = 1; i < f->n; i++) {
        fprintf(host->out, "  %-20s", f->name[i]);
        for (uint32_t j = 0; j < i; j++)
            fprintf(host->out, " %8.4f", f->correlation[i * f->n + j]);
        fputc('\n', host->out);
    }
}

static ns_sheet *make_sheet(ns_host *host, const ns_model *model, const ns_fit_spec *spec,
                            const ns_fit *f)
{
    ns_arena *a = host->arena;
    ns_sheet *sheet = ns_sheet_new(a, "fit", model->description->title);
    ns_sheet_text(sheet, "status", f->status == NS_OK ? "done" : "stopped");
    ns_sheet_text(sheet, "reason", f->message);
    ns_sheet_number(sheet, "chi2", f->chi2);
    ns_sheet_number(sheet, "measurements", (double)f->rows);
    ns_sheet_number(sheet, "rank", f->rank);
    for (uint32_t k = f->rank; k < f->n; k++)
        ns_sheet_text(sheet, "undetermined", f->combination[k - f->rank]);
    ns_sheet_table *t = ns_sheet_add(sheet, "parameters", f->n);
    ns_sheet_words_add(sheet, t, "name", f->name);
    ns_sheet_column_add(sheet, t, "value", "", f->value);
    ns_sheet_column_add(sheet, t, "error", "", f->error);
    t = ns_sheet_add(sheet, "correlations", f->n);
    ns_sheet_words_add(sheet, t, "name", f->name);
    for (uint32_t j = 0; j < f->n; j++) {
        double *column = ns_sheet_numbers(sheet, t, f->name[j], "");
        for (uint32_t i = 0; i < f->n; i++)
            column[i] = f->correlation[i * f->n + j];
    }
    t = ns_sheet_add(sheet, "residuals", f->rows);
    const char **names = ns_sheet_words(sheet, t, "column");
    double *experiment = ns_sheet_numbers(sheet, t, "experiment", "");
    for (size_t i = 0; i < f->rows; i++) {
        names[i] = spec->columns[f->column[i]].name;
        experiment[i] = f->experiment[i] + 1;
    }
    ns_sheet_column_add(sheet, t, "t", "s", f->t);
    ns_sheet_column_add(sheet, t, "data", "", f->data);
    ns_sheet_column_add(sheet, t, "model", "", f->model);
    ns_sheet_column_add(sheet, t, "residual", "sigma", f->residual);
    return sheet;
}

/* Data with the model's line, and what is left, for each column of each experiment. */
static ns_plot *draw(ns_host *host, const ns_model *model, const ns_fit_spec *spec,
                     const ns_fit *f)
{
    ns_plot *plot = ns_plot_new(host->arena, model->description->title);
    plot->subtitle = "fit to measurements";
    plot->columns = 2;
    for (uint32_t c = 0; c < spec->n_columns; c++) {
        ns_plot_panel *data = ns_plot_add(plot, "", "time", "s", spec->columns[c].name, "");
        ns_plot_panel *rest = ns_plot_add(plot, "", "time", "s", "residual", "sigma");
        ns_plot_at(rest, NULL, 0);
        for (uint32_t e = 0; e < spec->experiments; e++) {
            double *column[4];
            size_t n = 0;
            for (int k = 0; k < 4; k++)
                column[k] = NS_NEW_ARRAY(host->arena, double, f->rows + 1);
            for (size_t i = 0; i < f->rows; i++)
                if (f->column[i] == c && f->experiment[i] == e) {
                    column[0][n] = f->t[i];
                    column[1][n] = f->data[i];
                    column[2][n] = f->model[i];
                    column[3][n++] = f->residual[i];
                }
            const char *name = spec->experiments > 1 ? spec->data[e].path : "measured";
            ns_plot_points(data, name, n, column[0], column[1]);
            ns_plot_line(data, "model", n, column[0], column[2]);
            ns_plot_points(rest, name, n, column[0], column[3]);
        }
    }
    return plot;
}

static int report(ns_host *host, const ns_arguments *a, const ns_model *model,
                  const ns_fit_spec *spec, const ns_fit *f)
{
    if (f->status != NS_OK) {
        ns_command_wrong(host, "%s", f->message);
        return ns_status_exit(f->status);
    }
    for (uint32_t k = f->rank; k < f->n; k++)
        fprintf(host->err,
                "noslip: warning: the data does not tell these apart: relative changes of %s "
                "leave it unchanged\n",
                f->combination[k - f->rank]);
    if (ns_study_prints(host, a))
        print(host, model, spec, f);
    const int status = ns_study_finish(host, a, model, make_sheet(host, model, spec, f),
                                       draw(host, model, spec, f));
    return status ? status : f->rank < f->n;
}

static int fit(ns_host *host, const ns_arguments *a)
{
    int status = ns_status_exit(NS_ERR_USAGE);
    if (!ns_study_check_outputs(host, a))
        return status;
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    ns_fit_spec spec = {0};
    status = ns_status_exit(NS_ERR_USAGE);
    if (read_spec(host, a, model, &spec)) {
        ns_study_progress progress = ns_study_progress_new(host, "fit", 1);
        spec.progress = ns_study_progress_draw;
        spec.context = &progress;
        const ns_fit *f = ns_fit_run(host->arena, model, &spec);
        ns_study_progress_end(&progress);
        status = report(host, a, model, &spec, f);
    }
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "data",
     .argument = "FILE",
     .repeat = true,
     .help = "measurements, .csv or .h5; one file for each experiment"},
    {.name = "parameters",
     .argument = "NAME[=LOW:HIGH],...",
     .help = "what is unknown: parameters, states at the start, with bounds"},
    {.name = "columns",
     .argument = "NAME,...",
     .help = "columns of the data to fit (all that are values of the model)"},
    {.name = "sigma",
     .argument = "NAME=VALUE,...",
     .help = "scatter of the columns; estimated if it is not given"},
    {.name = "offset", .help = "the clock of each experiment is off by an unknown time"},
    {.name = "tol", .argument = "R", .help = "tolerance of the integration (1e-12)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_fit = {
    .name = "fit",
    .summary = "Fit parameters and starts to measured series, with standard errors",
    .usage = "MODEL --data FILE... --parameters NAME[=LOW:HIGH],... [--columns NAME,...]\n"
             "             [--sigma NAME=VALUE,...] [--offset]",
    .doc = "Least squares by Levenberg and Marquardt's method with exact derivatives of the\n"
           "motion, from the values that the model gives.  Prints values, standard errors and\n"
           "correlations; warns, with status 1, of combinations that the data does not tell\n"
           "apart.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = fit,
};
