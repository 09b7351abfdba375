#include "command/studies/equilibria_plot.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"

/* What does not grow and what does, in all panels. */
enum { STABLE, GROWING, N_KINDS };
static const ns_plot_colour colours[N_KINDS] = {NS_PLOT_BLUE, NS_PLOT_VERMILION};

ns_plot *ns_equilibria_plot(ns_arena *a, const ns_model *model, const ns_steady_point *points,
                            uint32_t n)
{
    ns_plot *plot = ns_plot_new(a, model->description->title);
    plot->subtitle = "eigenvalues of the steady motion";
    ns_plot_panel *panel = ns_plot_add(plot, "", "real part", "1/s", "imaginary part", "1/s");
    ns_plot_at(panel, NULL, 0)->vertical = true;
    for (uint32_t i = 0; i < n; i++) {
        const ns_linear *l = points[i].linear;
        double *re = NS_NEW_ARRAY(a, double, l->n + 1), *im = NS_NEW_ARRAY(a, double, l->n + 1);
        for (uint32_t k = 0; k < l->n; k++) {
            re[k] = l->eigenvalue[k].re;
            im[k] = l->eigenvalue[k].im;
        }
        ns_plot_points(panel, n > 1 ? ns_arena_format(a, "point %u", i + 1) : NULL, l->n, re,
                       im)
            ->marker = NS_PLOT_CIRCLE;
    }
    return plot;
}

/* ---- branches ---------------------------------------------------------------------------- */

/* The state that tells the branches apart best: the one that moves most along a critical
 * direction, or along the branch. */
static uint32_t telling_state(const ns_flow *field, const ns_branch *b)
{
    const uint32_t n = field->n;
    uint32_t best = 0;
    double most = -1;
    for (uint32_t k = 0; k < n; k++) {
        double low = INFINITY, high = -INFINITY, weight = 0;
        for (uint32_t i = 0; i < b->points.n; i++) {
            low = ns_min(low, b->points.at[i].x[k]);
            high = ns_max(high, b->points.at[i].x[k]);
        }
        weight = (high - low) / field->sigma[k];
        for (uint32_t i = 0; i < b->special.n && b->more.n; i++)
            if (b->special.at[i].critical)
                weight += 1e6 * fabs(b->special.at[i].critical[k]);
        if (weight > 1.0001 * most) {
            most = weight;
            best = k;
        }
    }
    return best;
}

/* One curve y over x[n], a series for the part of each kind; where the kind changes the line
 * goes on to the next point.  Each name is in the legend once. */
static void draw_kinds(ns_plot_panel *panel, uint32_t n, const double *x, const double *y,
                       const uint8_t *kind, const char *const names[N_KINDS])
{
    for (unsigned wanted = 0; wanted < N_KINDS; wanted++) {
        double *part = NS_NEW_ARRAY(panel->plot->arena, double, n + 1);
        bool any = false;
        for (uint32_t i = 0; i < n; i++) {
            const bool here = kind[i] == wanted, next = i + 1 < n && kind[i + 1] == wanted;
            part[i] = here || next ? y[i] : NAN;
            any = any || here;
        }
        if (!any)
            continue;
        ns_plot_series *s = ns_plot_line(panel, names[wanted], n, x, part);
        for (uint32_t i = 0; i + 1 < panel->series.n; i++)
            if (panel->series.at[i]->name && strcmp(panel->series.at[i]->name, s->name) == 0) {
                s->name = NULL;
                break;
            }
        s->dashed = wanted == GROWING;
        s->colour = colours[wanted];
    }
}

static void draw_state(ns_plot_panel *panel, const ns_branch *b, uint32_t state)
{
    static const char *const names[N_KINDS] = {"stable", "unstable"};
    ns_arena *a = panel->plot->arena;
    const uint32_t n = b->points.n;
    double *x = NS_NEW_ARRAY(a, double, n + 1), *y = NS_NEW_ARRAY(a, double, n + 1);
    uint8_t *kind = NS_NEW_ARRAY(a, uint8_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = b->points.at[i].parameter;
        y[i] = b->points.at[i].x[state];
        kind[i] = b->points.at[i].linear->unstable ? GROWING : STABLE;
    }
    draw_kinds(panel, n, x, y, kind, names);
}

/* Which eigenvalue of point i belongs to curve k: order[i*modes + k]. */
static const uint32_t *join(ns_arena *a, const ns_branch *b, uint32_t modes)
{
    uint32_t *order = NS_NEW_ARRAY(a, uint32_t, (size_t)b->points.n * modes + 1);
    ns_eigenvalue *last = NS_NEW_ARRAY(a, ns_eigenvalue, modes + 1);
    ns_eigenvalue *guess = NS_NEW_ARRAY(a, ns_eigenvalue, modes + 1);
    double step = 0; /* of the parameter, to the last point */
    for (uint32_t i = 0; i < b->points.n; i++) {
        const ns_steady_point *p = &b->points.at[i];
        uint32_t *now = order + (size_t)i * modes;
        if (i)
            ns_linear_join(a, modes, guess, p->linear->eigenvalue, now);
        const double next = i + 1 < b->points.n ? p[1].parameter - p->parameter : 0;
        for (uint32_t k = 0; k < modes; k++) {
            now[k] = i ? now[k] : k;
            /* straight on; never further than the last step went */
            const double go = step != 0 ? ns_min(1, ns_max(0, next / step)) : 0;
            const ns_eigenvalue e = p->linear->eigenvalue[now[k]];
            guess[k].re = e.re + go * (e.re - last[k].re);
            guess[k].im = e.im + go * (e.im - last[k].im);
            last[k] = e;
        }
        step = next;
    }
    return order;
}

static void draw_modes(ns_plot_panel *panel, const ns_branch *b, uint32_t modes,
                       const uint32_t *order, bool imaginary)
{
    static const char *const names[N_KINDS] = {"does not grow", "grows"};
    ns_arena *a = panel->plot->arena;
    const uint32_t n = b->points.n;
    double *x = NS_NEW_ARRAY(a, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        x[i] = b->points.at[i].parameter;
    for (uint32_t k = 0; k < modes; k++) {
        double *y = NS_NEW_ARRAY(a, double, n + 1);
        uint8_t *kind = NS_NEW_ARRAY(a, uint8_t, n + 1);
        for (uint32_t i = 0; i < n; i++) {
            const ns_linear *l = b->points.at[i].linear;
            const ns_eigenvalue e = l->eigenvalue[order[(size_t)i * modes + k]];
            y[i] = imaginary ? e.im : e.re;
            kind[i] = e.re > ns_linear_tolerance(l) ? GROWING : STABLE;
        }
        draw_kinds(panel, n, x, y, kind, names);
    }
}

static void draw_special(ns_plot_panel *panel, const ns_branch *b, uint32_t state)
{
    if (!b->special.n)
        return;
    ns_arena *a = panel->plot->arena;
    double *x = NS_NEW_ARRAY(a, double, b->special.n);
    double *y = NS_NEW_ARRAY(a, double, b->special.n);
    for (uint32_t i = 0; i < b->special.n; i++) {
        x[i] = b->special.at[i].parameter;
        y[i] = b->special.at[i].x[state];
    }
    ns_plot_series *series = ns_plot_points(panel, "special points", b->special.n, x, y);
    series->marker = NS_PLOT_DIAMOND;
    series->colour = NS_PLOT_BLACK;
}

ns_plot *ns_branch_plot(ns_arena *a, const ns_model *model, const ns_flow *field,
                        const ns_branch *b, const ns_param *over)
{
    const uint32_t modes = b->points.at[0].linear->n;
    const uint32_t *order = join(a, b, modes);
    ns_plot *plot = ns_plot_new(a, model->description->title);
    plot->subtitle = "eigenvalues along the branch of steady motions";
    for (int part = 0; part < 2; part++) {
        ns_plot_panel *panel = ns_plot_add(plot, "", over->name, over->unit,
                                           part ? "imaginary part" : "real part", "1/s");
        ns_plot_at(panel, NULL, 0);
        draw_modes(panel, b, modes, order, part == 1);
        for (uint32_t i = 0; i < b->special.n; i++)
            ns_plot_at(panel, b->special.at[i].label, b->special.at[i].parameter)->vertical =
                true;
    }
    const uint32_t state = telling_state(field, b);
    const ns_state *shown = &model->system->states.at[state];
    ns_plot_panel *panel = ns_plot_add(plot, "branches", over->name, over->unit, shown->name,
                                       shown->unit);
    draw_state(panel, b, state);
    for (uint32_t i = 0; i < b->more.n; i++)
        draw_state(panel, b->more.at[i], state);
    draw_special(panel, b, state);
    return plot;
}
