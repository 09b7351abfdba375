/* noslip lyapunov: Lyapunov exponents by variational equations. */
#include <math.h>
#include <string.h>

#include "command/study.h"
#include "study/orbits/lyapunov.h"

static void print(ns_host *host, const ns_model *model, const ns_lyapunov *l)
{
    ns_study_title(host, model, "Lyapunov exponents");
    fprintf(host->out, "  %u of %u dimensions over %.10g s, orthonormalised every %.4g s\n\n",
            l->n, l->dimension, l->span, l->interval);
    fprintf(host->out, "  %-4s %-18s %-18s\n", "", "exponent (1/s)", "moved in 2nd half");
    for (uint32_t j = 0; j < l->n; j++)
        fprintf(host->out, "  %-4u % -18.10g %-18.2e\n", j + 1, l->exponent[j], l->spread[j]);
    if (isnan(l->sum))
        return;
    fprintf(host->out, "\n  sum                    % .10g  (growth rate of a volume)\n",
            l->sum);
    fprintf(host->out, "  Kaplan-Yorke dimension  %.6g\n", l->dimension_ky);
    ns_style_heading(host->out, &host->style_out, "Convergence");
    fprintf(host->out, "  %-12s", "t");
    for (uint32_t j = 0; j < l->n && j < 6; j++)
        fprintf(host->out, " %12u", j + 1);
    fputc('\n', host->out);
    for (uint32_t k = 1; k <= 8 && l->rows; k++) {
        const uint32_t row = l->rows * k / 8 ? l->rows * k / 8 - 1 : 0;
        fprintf(host->out, "  %-12.6g", l->t[row]);
        for (uint32_t j = 0; j < l->n && j < 6; j++)
            fprintf(host->out, " % 12.5g", l->running[(size_t)j * l->rows + row]);
        fputc('\n', host->out);
    }
}

static ns_sheet *make_sheet(ns_host *host, const ns_model *model, const ns_lyapunov *l)
{
    ns_arena *a = host->arena;
    ns_sheet *sheet = ns_sheet_new(a, "lyapunov", model->description->title);
    ns_sheet_text(sheet, "status", l->status == NS_OK ? "done" : "stopped");
    ns_sheet_text(sheet, "reason", l->message);
    ns_sheet_number(sheet, "dimension", l->dimension);
    ns_sheet_number(sheet, "span", l->span);
    ns_sheet_number(sheet, "sum", l->sum);
    ns_sheet_number(sheet, "kaplan_yorke", l->dimension_ky);
    ns_sheet_table *t = ns_sheet_add(sheet, "exponents", l->n);
    ns_sheet_column_add(sheet, t, "exponent", "1/s", l->exponent);
    ns_sheet_column_add(sheet, t, "moved", "1/s", l->spread);
    t = ns_sheet_add(sheet, "convergence", l->rows);
    ns_sheet_column_add(sheet, t, "t", "s", l->t);
    for (uint32_t j = 0; j < l->n; j++)
        ns_sheet_column_add(sheet, t, ns_arena_format(a, "exponent%u", j + 1), "1/s",
                            l->running + (size_t)j * l->rows);
    return sheet;
}

static ns_plot *draw(ns_host *host, const ns_model *model, const ns_lyapunov *l)
{
    ns_plot *plot = ns_plot_new(host->arena, model->description->title);
    plot->subtitle = "running Lyapunov exponents";
    ns_plot_panel *panel = ns_plot_add(plot, "", "time", "s", "exponent", "1/s");
    ns_plot_at(panel, NULL, 0);
    panel->x.to = l->rows ? l->t[l->rows - 1] : 0; /* from 0 */
    for (uint32_t j = 0; j < l->n; j++)
        ns_plot_line(panel, ns_arena_format(host->arena, "%u", j + 1), l->rows, l->t,
                     l->running + (size_t)j * l->rows);
    return plot;
}

static bool read_spec(ns_host *host, const ns_arguments *a, ns_lyapunov_spec *spec)
{
    double until = spec->run.until, tolerance = 1e-12;
    if (!ns_command_number(host, a, "until", &until) ||
        !ns_command_number(host, a, "transient", &spec->transient) ||
        !ns_command_number(host, a, "every", &spec->interval) ||
        !ns_command_number(host, a, "tol", &tolerance) ||
        !ns_study_count(host, a, "exponents", 0, &spec->count))
        return false;
    if (!isfinite(until) || until == spec->run.t0)
        return ns_command_refuse(host, "the model says no end time; use --until");
    if (!(tolerance > 0) || spec->interval < 0 || spec->transient < 0)
        return ns_command_refuse(host, "--tol, --every and --transient must be positive");
    static const double most = 1e9; /* orthonormalisations */
    const double least = fabs(until - spec->run.t0) / most;
    if (ns_command_flag(a, "every") && !(spec->interval >= least))
        return ns_command_refuse(
            host, "--every %s is too short: at least %.3g for a motion of %g s",
            ns_command_text(a, "every"), least, fabs(until - spec->run.t0));
    spec->run.tolerance = tolerance;
    spec->span = until - spec->run.t0;
    spec->rows = 1000;
    return true;
}

static int lyapunov(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    ns_model *model = NULL;
    ns_flow *flow = NULL;
    if (!ns_study_open(host, a, false, &model, &flow, &status))
        return status;
    ns_lyapunov_spec spec = {.run = ns_model_run_options(model)};
    if (!read_spec(host, a, &spec)) {
        ns_model_free(model);
        return status;
    }
    ns_study_progress progress = ns_study_progress_new(host, "t", spec.span);
    spec.progress = ns_study_progress_draw;
    spec.context = &progress;
    const ns_lyapunov *l = ns_lyapunov_run(host->arena, flow, &spec, model->x0);
    ns_study_progress_end(&progress);
    if (l->status != NS_OK)
        fprintf(host->err, "noslip: %s: the motion ended early: %s\n",
                l->status < 0 ? "error" : "warning", l->message);
    if (ns_study_prints(host, a))
        print(host, model, l);
    status = ns_study_finish(host, a, model, make_sheet(host, model, l), draw(host, model, l));
    if (!status)
        status = ns_status_exit(l->status);
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "until", .argument = "T", .help = "length of the motion that counts"},
    {.name = "transient", .argument = "T", .help = "this long, first, without counting"},
    {.name = "every", .argument = "DT", .help = "time between two orthonormalisations"},
    {.name = "exponents", .argument = "N", .help = "only the N largest (faster)"},
    {.name = "tol", .argument = "R", .help = "tolerance of the integration (1e-12)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_lyapunov = {
    .name = "lyapunov",
    .summary = "Lyapunov exponents, contraction of volume, Kaplan-Yorke dimension",
    .usage = "MODEL [--until T] [--transient T] [--every DT] [--exponents N] [--tol R]",
    .doc =
        "Deviations that span the tangent space of the constraint manifold are carried along "
        "by\n"
        "the exact variational equations and orthonormalised at intervals.  Their mean growth\n"
        "rates are the exponents; their sum is the growth rate of a volume of phase space,\n"
        "which nonholonomic systems need not preserve.  Symmetries, conserved quantities and\n"
        "the direction of the motion give exponents zero, which converge as log(t)/t.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = lyapunov,
};
