#include "command/relative.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "study/orbits/relative.h"

enum { SAMPLES = 600, PERIODS = 8 };

void ns_relative_print(ns_host *host, const ns_flow *flow, const ns_affine *h)
{
    const ns_affine_lines lines = ns_affine_words(host->arena, flow, h);
    ns_style_heading(host->out, &host->style_out, "Shift h of a period: x(t + T) = h x(t)");
    for (uint32_t i = 0; i < lines.n; i++)
        fprintf(host->out, "  %s\n", lines.at[i]);
    if (!lines.n)
        fprintf(host->out, "  none: the motion closes\n");
}

void ns_relative_sheet(ns_host *host, ns_sheet *sheet, const ns_flow *flow, const ns_affine *h)
{
    const ns_affine_lines lines = ns_affine_words(host->arena, flow, h);
    ns_affine_plane plane;
    if (ns_affine_path(flow, h, &plane)) {
        ns_sheet_number(sheet, "turn", plane.angle);
        ns_sheet_number(sheet, "centre_x", plane.centre[0]);
        ns_sheet_number(sheet, "centre_y", plane.centre[1]);
    }
    ns_sheet_words_add(sheet, ns_sheet_add(sheet, "shift", lines.n), "per_period", lines.at);
    const uint32_t n = h->n;
    ns_sheet_table *t = ns_sheet_add(sheet, "map", n);
    const char **name = ns_sheet_words(sheet, t, "state");
    for (uint32_t j = 0; j < n; j++) {
        name[j] = flow->system->states.at[j].name;
        double *column = ns_sheet_numbers(sheet, t, name[j], "");
        for (uint32_t i = 0; i < n; i++)
            column[i] = h->H[(size_t)i * n + j];
    }
    ns_sheet_column_add(sheet, t, "shift", "", h->b);
}

/* ---- figures ----------------------------------------------------------------------------- */

/* States along one period, [SAMPLES][n]; false if the motion cannot be followed. */
static bool follow(ns_model *model, const ns_orbit *o, double *x)
{
    const uint32_t n = model->system->states.n;
    ns_run_options options = ns_model_run_options(model);
    ns_status status;
    const char *message;
    options.until = options.t0 + o->period;
    ns_run *run = ns_run_new(ns_model_problem(model, true), &options, model->p, o->x, &status,
                             &message);
    for (uint32_t i = 0; run && i < SAMPLES; i++) {
        const double t = options.t0 + o->period * i / (SAMPLES - 1);
        if (ns_run_to(run, t) != NS_OK) {
            ns_run_free(run);
            return false;
        }
        ns_run_state_at(run, t, x + (size_t)i * n);
    }
    if (run)
        ns_run_free(run);
    return run != NULL;
}

/* Does h change this state, and does it move at all? */
static bool is_changed(const ns_affine *h, uint32_t i)
{
    if (fabs(h->b[i]) > 1e-12)
        return true;
    for (uint32_t j = 0; j < h->n; j++)
        if (fabs(h->H[(size_t)i * h->n + j] - (i == j ? 1 : 0)) > 1e-9)
            return true;
    return false;
}

static bool moves(const double *x, uint32_t n, uint32_t i)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t k = 0; k < SAMPLES; k++) {
        low = ns_min(low, x[(size_t)k * n + i]);
        high = ns_max(high, x[(size_t)k * n + i]);
    }
    return high - low > 1e-9 * ns_max(fabs(low), fabs(high));
}

/* The states whose path is worth a picture: those that h turns, or the first two that it
 * moves. */
static bool find_path(const ns_flow *flow, const ns_affine *h, uint32_t *i, uint32_t *j)
{
    ns_affine_plane plane;
    if (ns_affine_path(flow, h, &plane)) {
        *i = plane.i;
        *j = plane.j;
        return true;
    }
    uint32_t found = 0;
    for (uint32_t k = 0; k < h->n && found < 2; k++) {
        const char *name = flow->system->states.at[k].name, *end = name + strlen(name) - 1;
        if (is_changed(h, k) && (*end == 'x' || *end == 'y'))
            *(found++ ? j : i) = k;
    }
    return found == 2;
}

static void draw_path(ns_host *host, ns_plot *plot, const ns_flow *flow, const ns_orbit *o,
                      const double *x)
{
    const uint32_t n = flow->n;
    const ns_system *s = flow->system;
    uint32_t i = 0, j = 0;
    if (!find_path(flow, o->h, &i, &j))
        return;
    ns_affine *power = ns_affine_new(host->arena, n);
    double *y = NS_NEW_ARRAY(host->arena, double, n + 1);
    double *u = NS_NEW_ARRAY(host->arena, double, PERIODS * SAMPLES);
    double *v = NS_NEW_ARRAY(host->arena, double, PERIODS * SAMPLES);
    for (uint32_t k = 0; k < PERIODS; k++) {
        for (uint32_t l = 0; l < SAMPLES; l++) {
            ns_affine_apply(power, x + (size_t)l * n, y);
            u[k * SAMPLES + l] = y[i];
            v[k * SAMPLES + l] = y[j];
        }
        ns_affine_multiply(flow->scratch, o->h, power, power);
    }
    ns_plot_panel *panel = ns_plot_add(
        plot, ns_arena_format(host->arena, "%d periods", PERIODS), s->states.at[i].name,
        s->states.at[i].unit, s->states.at[j].name, s->states.at[j].unit);
    panel->equal = true;
    ns_plot_line(panel, "path", PERIODS * SAMPLES, u, v)->width = 1.2;
    ns_plot_line(panel, "first period", SAMPLES, u, v)->width = 2.2;
}

ns_plot *ns_relative_plot(ns_host *host, ns_model *model, const ns_flow *flow,
                          const ns_orbit *o)
{
    const uint32_t n = flow->n;
    const ns_system *s = flow->system;
    double *x = NS_NEW_ARRAY(host->arena, double, (size_t)SAMPLES * n + 1);
    if (!follow(model, o, x))
        return NULL;
    int64_t pick[2] = {o->horizontal, o->vertical};
    for (uint32_t i = 0; i < n; i++) /* states come first among the observables */
        if (!is_changed(o->h, i) && moves(x, n, i) && (pick[0] < 0 || pick[1] < 0))
            pick[pick[0] < 0 ? 0 : 1] = i;
    ns_plot *plot = ns_plot_new(host->arena, model->description->title);
    plot->subtitle = ns_arena_format(host->arena, "periodic motion, T = %.10g s", o->period);
    if (pick[0] >= 0 && pick[1] >= 0) {
        const ns_observable *a = &s->observables.at[pick[0]], *b = &s->observables.at[pick[1]];
        double *value = NS_NEW_ARRAY(host->arena, double, (size_t)s->observables.n * SAMPLES);
        ns_flow_observe(flow, NULL, x, SAMPLES, value, SAMPLES);
        ns_plot_panel *panel = ns_plot_add(plot, "one period", a->name, a->unit, b->name,
                                           b->unit);
        ns_plot_line(panel, NULL, SAMPLES, value + pick[0] * SAMPLES,
                     value + pick[1] * SAMPLES);
    }
    draw_path(host, plot, flow, o, x);
    plot->columns = plot->panels.n;
    return plot->panels.n ? plot : NULL;
}

/* ---- noslip period ----------------------------------------------------------------------- */

static void print(ns_host *host, const ns_model *model, const ns_flow *flow,
                  const ns_relative *r)
{
    fprintf(host->out, "%sMotion up to symmetries: %s%s\n", host->style_out.bold,
            model->description->title, host->style_out.plain);
    fprintf(host->out, "  %u symmetries found", r->g->count);
    for (uint32_t i = 0; i < r->g->count; i++)
        fprintf(host->out, "%s %s", i ? ";" : ":", r->g->name[i]);
    fprintf(host->out, "\n  %u quantities that they leave unchanged are watched\n",
            r->invariants);
    if (!r->found) {
        fprintf(host->out, "  no period: %s\n", r->message);
        if (isfinite(r->mismatch))
            fprintf(host->out,
                    "  the nearest return, at t = %.10g s, misses by %.2g of the orbit's "
                    "size\n",
                    r->best, r->mismatch);
        return;
    }
    fprintf(host->out,
            "  period     %.15g s\n  returns to %.1e of the states' sizes, a second period to "
            "%.1e\n",
            r->period, r->residual, r->second);
    ns_relative_print(host, flow, r->h);
}

int ns_relative_period(ns_host *host, const ns_arguments *a, ns_model *model, double until)
{
    ns_flow *flow = ns_study_flow(host, model, true);
    if (!flow)
        return ns_status_exit(NS_ERR_USAGE);
    ns_run_options options = ns_model_run_options(model);
    options.until = until;
    const ns_generators *g = ns_generators_find(flow, model->x0);
    const ns_relative *r = ns_relative_find(host->arena, flow, g, &options, model->x0);
    ns_sheet *sheet = ns_sheet_new(host->arena, "period", model->description->title);
    ns_sheet_number(sheet, "found", r->found);
    ns_sheet_number(sheet, "period", r->period);
    ns_sheet_number(sheet, "residual", r->residual);
    ns_sheet_number(sheet, "second", r->second);
    ns_sheet_number(sheet, "mismatch", r->mismatch);
    ns_plot *plot = NULL;
    if (r->found) {
        ns_relative_sheet(host, sheet, flow, r->h);
        plot = ns_relative_plot(host, model, flow,
                                &(ns_orbit){.x = model->x0,
                                            .period = r->period,
                                            .h = r->h,
                                            .horizontal = -1,
                                            .vertical = -1});
    }
    if (ns_study_prints(host, a))
        print(host, model, flow, r);
    const int status = ns_study_finish(host, a, model, sheet, plot);
    return status ? status : !r->found;
}
