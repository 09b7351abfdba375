/*
 * The figures of docs/performance.md.
 */
#include "harness/report.h"

#include "out/plot/plot.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Contenders that are drawn, each always in the same colour and with the same mark. */
static const struct look {
    const char *name;
    ns_plot_colour colour;
    ns_plot_marker marker;
    bool dashed;
} looks[] = {
    {"C853", NS_PLOT_BLACK, NS_PLOT_SQUARE, false},
    {"gauss-native", NS_PLOT_VERMILION, NS_PLOT_CIRCLE, false},
    {"gauss", NS_PLOT_ORANGE, NS_PLOT_CIRCLE, true},
    {"derived-native", NS_PLOT_BLUE, NS_PLOT_CIRCLE, false},
    {"derived", NS_PLOT_SKY, NS_PLOT_CIRCLE, true},
    {"lanes", NS_PLOT_GREEN, NS_PLOT_TRIANGLE, false},
    {"GSL", NS_PLOT_GREY, NS_PLOT_SQUARE, false},
    {"CVODE", NS_PLOT_BROWN, NS_PLOT_DIAMOND, false},
    {"SciPy", NS_PLOT_PURPLE, NS_PLOT_DIAMOND, true},
    {"Octave", NS_PLOT_PURPLE, NS_PLOT_CROSS, true},
};

enum { LOOKS = sizeof looks / sizeof *looks };

static ns_plot_series *styled(ns_plot_series *series, const struct look *look)
{
    series->colour = look->colour;
    series->marker = look->marker;
    series->dashed = look->dashed;
    return series;
}

/* One value of every rung. */
static double *column(ns_arena *arena, const bench_result *r, double (*of)(const bench_rung *))
{
    double *values = NS_NEW_ARRAY(arena, double, (size_t)r->n_rungs + 1);
    for (int i = 0; i < r->n_rungs; i++)
        values[i] = of(&r->rungs[i]);
    return values;
}

static double error_of(const bench_rung *r)
{
    return r->error;
}

static double tolerance_of(const bench_rung *r)
{
    return r->tolerance;
}

static double milliseconds_of(const bench_rung *r)
{
    return 1e3 * r->seconds;
}

static void add_contenders(const bench_session *s, int p, ns_plot_panel *panel,
                           double (*across)(const bench_rung *))
{
    ns_arena *arena = panel->plot->arena;
    panel->x.log = panel->y.log = true;
    for (int k = 0; k < LOOKS; k++) {
        const int c = bench_contender_index(s, looks[k].name);
        const bench_result *r = c >= 0 ? &s->results[p][c] : NULL;
        if (r && r->n_rungs > 0)
            styled(ns_plot_line(panel, looks[k].name, (size_t)r->n_rungs,
                                column(arena, r, across), column(arena, r, milliseconds_of)),
                   &looks[k]);
    }
}

static int write_problem(const bench_session *s, int p, ns_arena *arena, const char *folder)
{
    ns_plot *plot = ns_plot_new(arena, s->problems[p]->what);
    ns_plot_panel *panel = ns_plot_add(plot, "", "error of the final state", "", "CPU time",
                                       "ms");
    add_contenders(s, p, panel, error_of);
    panel->x.from = 1;
    panel->x.to = 1e-15;
    panel->height = 360;
    return ns_plot_write(plot,
                         ns_arena_format(arena, "%s/%s.svg", folder, s->problems[p]->name));
}

/* ---- bars -------------------------------------------------------------------------------- */

/* Bars are wide lines that begin at the bottom of the panel. */
static int write_ratios(const bench_session *s, ns_arena *arena, const char *folder)
{
    static const char *const shown[] = {"gauss-native", "derived-native", "lanes", "GSL",
                                        "CVODE",        "SciPy",          "Octave"};
    enum { SHOWN = sizeof shown / sizeof *shown };
    static const double targets[2] = {1e-6, 1e-9};
    const double bottom = 0.05;
    ns_plot *plot = ns_plot_new(arena, "CPU time at equal error, C853 = 1");
    for (int k = 0; k < 2; k++) {
        ns_text names = ns_text_new(arena);
        for (int p = 0; p < s->n_problems; p++)
            ns_text_addf(&names, "%s%d %s", p ? ", " : "", p + 1, s->problems[p]->name);
        ns_plot_panel *panel = ns_plot_add(plot,
                                           ns_arena_format(arena, "error %.0e", targets[k]),
                                           ns_text_string(&names), "", "ratio", "");
        panel->y.log = true;
        panel->y.from = bottom;
        panel->y.to = 2000;
        panel->x.from = 0.4;
        panel->x.to = s->n_problems + 0.6;
        panel->height = 240;
        int target = 0;
        while (target + 1 < BENCH_TARGETS && bench_targets[target] != targets[k])
            target++;
        for (int i = 0; i < SHOWN; i++) {
            const int c = bench_contender_index(s, shown[i]);
            double *x = NS_NEW_ARRAY(arena, double, 3 * BENCH_MAX_PROBLEMS);
            double *y = NS_NEW_ARRAY(arena, double, 3 * BENCH_MAX_PROBLEMS);
            size_t n = 0;
            for (int p = 0; p < s->n_problems && c > 0; p++) {
                const double ratio = bench_ratio(s, p, c, target);
                if (isnan(ratio))
                    continue;
                x[n] = x[n + 1] = x[n + 2] = p + 1 + 0.11 * (i - (SHOWN - 1) / 2.0);
                y[n] = bottom;
                y[n + 1] = ratio;
                y[n + 2] = NAN;
                n += 3;
            }
            if (n == 0)
                continue;
            ns_plot_series *series = ns_plot_line(panel, shown[i], n, x, y);
            for (int l = 0; l < LOOKS; l++)
                if (strcmp(looks[l].name, shown[i]) == 0)
                    series->colour = looks[l].colour;
            if (strcmp(shown[i], "Octave") == 0)
                series->paint = "#e39ad0";
            series->width = 6;
        }
        ns_plot_at(panel, "C853", 1);
    }
    return ns_plot_write(plot, ns_arena_format(arena, "%s/ratios.svg", folder));
}

/* ---- growth ------------------------------------------------------------------------------ */

static void panel_bodies(const bench_session *s, ns_plot *plot)
{
    static const struct look hand = {"", NS_PLOT_BLACK, NS_PLOT_SQUARE, false};
    static const struct look interpreted = {"", NS_PLOT_SKY, NS_PLOT_CIRCLE, true};
    static const struct look native = {"", NS_PLOT_BLUE, NS_PLOT_CIRCLE, false};
    ns_plot_panel *panel = ns_plot_add(plot, "Chain, 1 s", "links", "", "CPU time", "ms");
    double *columns[4];
    for (int k = 0; k < 4; k++)
        columns[k] = NS_NEW_ARRAY(plot->arena, double, GROWTH_CHAINS);
    for (int i = 0; i < GROWTH_CHAINS; i++) {
        const bench_chain *c = &s->growth.chains[i];
        columns[0][i] = c->links;
        columns[1][i] = 1e3 * c->by_hand;
        columns[2][i] = 1e3 * c->interpreted;
        columns[3][i] = 1e3 * c->native;
    }
    panel->x.log = panel->y.log = true;
    styled(ns_plot_line(panel, "C853, tensions", GROWTH_CHAINS, columns[0], columns[1]), &hand);
    styled(ns_plot_line(panel, "interpreted", GROWTH_CHAINS, columns[0], columns[2]),
           &interpreted);
    styled(ns_plot_line(panel, "native", GROWTH_CHAINS, columns[0], columns[3]), &native);
}

static void panel_lanes(const bench_session *s, ns_plot *plot)
{
    static const double lanes[GROWTH_LANES] = {1, 2, 4, 8};
    ns_plot_panel *panel = ns_plot_add(plot, "P1c, ensemble", "lanes", "", "motions", "1/s");
    panel->x.to = 8.5;
    panel->y.to = 1.1 * fmax(s->growth.lanes[GROWTH_LANES - 1], 1);
    ns_plot_line(panel, NULL, GROWTH_LANES, lanes, s->growth.lanes)->marker = NS_PLOT_TRIANGLE;
}

static void panel_time(const bench_session *s, ns_plot *plot)
{
    ns_plot_panel *panel = ns_plot_add(plot, "P2, derived, native", "simulated time", "s",
                                       "CPU time", "ms");
    double *ms = NS_NEW_ARRAY(plot->arena, double, GROWTH_TIMES);
    for (int i = 0; i < GROWTH_TIMES; i++)
        ms[i] = 1e3 * s->growth.seconds[i];
    panel->x.log = panel->y.log = true;
    ns_plot_line(panel, NULL, GROWTH_TIMES, s->growth.times, ms)->marker = NS_PLOT_CIRCLE;
}

static int write_growth(const bench_session *s, ns_arena *arena, const char *folder)
{
    ns_plot *plot = ns_plot_new(arena, "How costs grow");
    plot->columns = 2;
    const int p = bench_problem_index(s, "P1c");
    if (p >= 0) {
        ns_plot_panel *panel = ns_plot_add(plot, "P1c", "tolerance", "", "CPU time", "ms");
        add_contenders(s, p, panel, tolerance_of);
        panel->x.from = 1e-2;
        panel->x.to = 1e-17;
    }
    panel_bodies(s, plot);
    panel_lanes(s, plot);
    panel_time(s, plot);
    return ns_plot_write(plot, ns_arena_format(arena, "%s/growth.svg", folder));
}

int bench_figures_write(const bench_session *s, const char *folder)
{
    ns_arena *arena = ns_arena_new();
    if (!arena)
        return ENOMEM;
    int error = 0;
    if (NS_ARENA_GUARD(arena)) {
        ns_arena_free(arena);
        return ENOMEM;
    }
    for (int p = 0; p < s->n_problems && !error; p++)
        error = write_problem(s, p, arena, folder);
    if (!error)
        error = write_ratios(s, arena, folder);
    if (!error)
        error = write_growth(s, arena, folder);
    ns_arena_free(arena);
    return error;
}
