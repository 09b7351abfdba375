/* Panels: shape against its velocity and against the first momentum, the first two momenta, and
 * the path of the group in the plane, as in figures 6.2 to 6.4 of Bloch, Marsden, Zenkov
 * (2009). */
#include "command/studies/period_plot.h"

#include <string.h>

#include "mech/reduced/symmetry.h"

enum { SAMPLES = 2400, MOST = 4 };

/* What is drawn: pairs of observables. */
typedef struct panel {
    const char *title, *x, *y;
    bool equal;
} panel;

/* The name of momentum a in this formulation. */
static const char *momentum(ns_host *host, const ns_model *m, uint32_t a)
{
    const char *own = ns_arena_format(host->arena, "symmetry.p%u", a + 1);
    return ns_model_observable(m, own) >= 0 ? own : ns_arena_format(host->arena, "p%u", a + 1);
}

static uint32_t choose(ns_host *host, const ns_model *m, panel *panels)
{
    const ns_symmetry *y = m->system->symmetry;
    const ns_coordinate *q = m->description->coordinates.at;
    uint32_t n = 0;
    const char *shape = y->sigma ? q[y->shape[0]].name : NULL;
    if (shape)
        panels[n++] = (panel){"reduced motion", shape,
                              ns_arena_format(host->arena, "%s'", shape), false};
    if (shape && y->m)
        panels[n++] = (panel){"reduced motion", shape, momentum(host, m, 0), false};
    if (y->m > 1)
        panels[n++] = (panel){"momenta", momentum(host, m, 0), momentum(host, m, 1), false};
    for (uint32_t f = 0; f < y->factors.n && n < MOST; f++) {
        const ns_group_factor *factor = &y->factors.at[f];
        const uint32_t first = factor->kind == NS_GROUP_SE2   ? 1
                               : factor->kind == NS_GROUP_SE3 ? 3
                                                              : 0;
        if (factor->kind == NS_GROUP_SO3 || factor->dim < first + 2)
            continue;
        panels[n++] = (panel){"path", q[y->group[factor->first + first]].name,
                              q[y->group[factor->first + first + 1]].name, true};
        break;
    }
    return n;
}

/* Values of the panels' names along a run: out[2 * panels][SAMPLES]; how many samples. */
static size_t follow(ns_host *host, ns_model *m, double until, const panel *panels, uint32_t n,
                     double *const *out)
{
    ns_run_options options = ns_model_run_options(m);
    ns_status status;
    const char *message = "";
    const double t0 = options.t0;
    options.until = until;
    ns_run *run = ns_run_new(ns_model_problem(m, false), &options, m->p, m->x0, &status,
                             &message);
    if (!run)
        return 0;
    double *x = NS_NEW_ARRAY(host->arena, double, m->system->states.n);
    double *value = NS_NEW_ARRAY(host->arena, double, m->system->observables.n);
    size_t count = 0;
    for (; count < SAMPLES; count++) {
        const double t = t0 + (until - t0) * (double)count / (SAMPLES - 1);
        if (ns_run_to(run, t) != NS_OK && ns_run_time(run) < t)
            break;
        ns_run_state_at(run, t, x);
        ns_run_observe(run, t, x, value);
        for (uint32_t i = 0; i < n; i++) {
            out[2 * i][count] = value[ns_model_observable(m, panels[i].x)];
            out[2 * i + 1][count] = value[ns_model_observable(m, panels[i].y)];
        }
    }
    ns_run_free(run);
    return count;
}

ns_plot *ns_period_plot(ns_host *host, ns_model *const *models, const double *until, uint32_t n)
{
    panel panels[MOST];
    const uint32_t drawn = choose(host, models[0], panels);
    if (!drawn)
        return NULL;
    ns_plot *plot = ns_plot_new(host->arena, models[0]->description->title);
    ns_plot_panel *frame[MOST];
    plot->columns = drawn < 3 ? drawn : 2;
    for (uint32_t i = 0; i < drawn; i++) {
        const int64_t x = ns_model_observable(models[0], panels[i].x);
        const int64_t y = ns_model_observable(models[0], panels[i].y);
        if (x < 0 || y < 0)
            return NULL;
        const ns_observable *o = models[0]->system->observables.at;
        frame[i] = ns_plot_add(plot, panels[i].title, o[x].name, o[x].unit, o[y].name,
                               o[y].unit);
        frame[i]->equal = panels[i].equal;
    }
    for (uint32_t k = 0; k < n; k++) {
        double *out[2 * MOST];
        for (uint32_t i = 0; i < 2 * drawn; i++)
            out[i] = NS_NEW_ARRAY(host->arena, double, SAMPLES);
        const size_t count = follow(host, models[k], until[k], panels, drawn, out);
        for (uint32_t i = 0; i < drawn; i++)
            ns_plot_line(frame[i], NULL, count, out[2 * i], out[2 * i + 1])->width = 1.2;
    }
    return plot;
}
