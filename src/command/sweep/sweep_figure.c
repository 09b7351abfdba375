/* Figures of a sweep: --figure FILE.svg and the page of --report. */
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/text.h"
#include "command/page.h"
#include "command/sweep/sweep.h"
#include "out/report/report_figures.h"
#include "out/tables/sweep_map.h"

bool ns_sweep_wants_figure(const ns_arguments *a)
{
    return ns_command_flag(a, "figure") || ns_command_flag(a, "report");
}

bool ns_sweep_figure_possible(ns_host *host, const ns_arguments *a, const ns_sweep *sweep)
{
    const char *path = ns_command_text(a, "figure"),
               *option = ns_command_flag(a, "figure") ? "figure" : "report";
    if (!ns_sweep_wants_figure(a))
        return true;
    const char *why = ns_command_flag(a, "shard")
                          ? "a shard is not a map; join the shards with --join first"
                          : ns_sweep_map_refuses(sweep);
    if (why)
        return ns_command_refuse(host, "--%s: %s", option, why);
    if (path) {
        const char *dot = strrchr(path, '.');
        if (!dot || strcasecmp(dot, ".svg") != 0)
            return ns_command_refuse(host, "--figure %s: the name must end in .svg", path);
        ns_file_target target;
        const int error = ns_file_target_init(&target, path);
        ns_file_target_free(&target);
        if (error)
            return ns_command_refuse(host, "cannot write %s: %s", path, strerror(error));
    }
    return ns_page_possible(host, a);
}

static bool is_parameter(const ns_model *model, const char *name, const char **unit)
{
    const ns_description *d = model->system->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (strcmp(d->params.at[i].name, name) == 0) {
            *unit = d->params.at[i].unit;
            return true;
        }
    for (uint32_t i = 0; i < model->system->observables.n; i++)
        if (strcmp(model->system->observables.at[i].name, name) == 0)
            *unit = model->system->observables.at[i].unit;
    return false;
}

/* What runs the motion of a point again and shows it: the sweep's own options that run knows
 * too, and the point's values. */
static const char *rerun(ns_host *host, const ns_arguments *a, const ns_sweep *w,
                         const bool *parameter)
{
    static const char *const kept[] = {"set", "until", "tol"};
    ns_text text = ns_text_new(host->arena);
    ns_text_add(&text, "noslip run ");
    ns_page_quote(&text, a->words.at[0]);
    for (uint32_t i = 0; i < a->options.n; i++)
        for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
            if (strcmp(a->options.at[i].option->name, kept[k]) == 0) {
                ns_text_addf(&text, " --%s ", kept[k]);
                ns_page_quote(&text, a->options.at[i].value);
            }
    ns_text_addf(&text, " --method %s", w->options.run.method); /* run has another default */
    for (uint32_t i = 0; i < w->n_axes; i++) {
        ns_text_add(&text, parameter[i] ? " --set " : " --start ");
        ns_page_quote(&text, ns_arena_format(host->arena, "%s=", w->axis[i]));
        ns_text_add(&text, i ? "{y}" : "{x}");
    }
    ns_text_add(&text, " --report motion.html");
    return ns_text_string(&text);
}

static const ns_sheet *make_sheet(const ns_sweep_job *job, const ns_plot *plot, uint64_t later)
{
    ns_host *host = job->host;
    const ns_sweep *w = job->sweep;
    ns_sheet *sheet = ns_sheet_new(host->arena, "sweep", job->model->description->title);
    ns_sheet_number(sheet, "rows", (double)w->plan.rows);
    ns_sheet_text(sheet, "came_to", plot->subtitle);
    if (later) {
        ns_sheet_text(sheet, "status", "stopped");
        ns_sheet_text(sheet, "reason",
                      ns_arena_format(host->arena, "%llu of %llu motions are not computed yet",
                                      (unsigned long long)later,
                                      (unsigned long long)w->plan.rows));
    }
    for (uint32_t i = 0; i < w->n_axes; i++) {
        const ns_plan_axis *axis = &w->plan.axes.at[i];
        const bool grid = axis->kind == NS_PLAN_GRID || axis->kind == NS_PLAN_LOG;
        ns_sheet_text(
            sheet, axis->name,
            !grid ? "samples"
                  : ns_arena_format(host->arena, "%.10g to %.10g, %llu values%s", axis->low,
                                    axis->high, (unsigned long long)axis->n,
                                    axis->kind == NS_PLAN_LOG ? " in equal ratios" : ""));
    }
    return sheet;
}

static int write_page(const ns_sweep_job *job, const ns_arguments *a, const ns_plot *plot,
                      uint64_t later)
{
    ns_host *host = job->host;
    const char *path = ns_command_text(a, "report");
    const ns_study_page page = {
        .model = job->model, .sheet = make_sheet(job, plot, later), .plot = plot};
    const ns_report_options options = {.template = ns_page_bytes,
                                       .length = ns_page_length,
                                       .command = ns_page_command(host, a)};
    char message[300];
    if (ns_report_study_write(&page, &options, path, message))
        return 0;
    return ns_command_failed(host, NS_ERR_IO, "cannot write %s", message);
}

int ns_sweep_draw(ns_sweep_job *job, const ns_arguments *a)
{
    ns_host *host = job->host;
    const ns_sweep *w = job->sweep;
    const char *figure = ns_command_text(a, "figure"), *report = ns_command_text(a, "report");
    const char *unit[2] = {NULL, NULL};
    bool parameter[2] = {false, false};
    if (!figure && !report)
        return 0;
    for (uint32_t i = 0; i < w->n_axes; i++)
        parameter[i] = is_parameter(job->model, w->axis[i], &unit[i]);
    const ns_sweep_map_options options = {.title = job->model->description->title,
                                          .unit = unit,
                                          .command = rerun(host, a, w, parameter)};
    ns_plot *plot = NULL;
    uint64_t later = 0;
    int error = ns_sweep_map(host->arena, w, job->table, &options, &plot, &later);
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "cannot read the table: %s", strerror(error));
    job->plot = plot;
    error = figure ? ns_plot_write(plot, figure) : 0;
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "cannot write %s: %s", figure,
                                 strerror(error));
    const int status = report ? write_page(job, a, plot, later) : 0;
    if (!status && !host->quiet) {
        if (figure)
            fprintf(host->out, "\n  %s\n", figure);
        if (report)
            fprintf(host->out, "\n  %s (report: open it in a browser)\n", report);
    }
    return status;
}
