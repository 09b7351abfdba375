/* noslip portrait: the phase plane of two states that form a system of their own. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/study.h"
#include "study/orbits/portrait.h"

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model;
    ns_flow *flow;
    ns_portrait_spec spec;
    const char *quantity; /* name of what the levels are of; NULL: none */
} job;

/* --plane X,Y, or the first two states that form a system (none a mere shadow of the other). */
static bool choose_plane(job *j)
{
    const char *text = ns_command_text(j->a, "plane");
    if (text) {
        const ns_study_words words = ns_study_split(j->host->arena, text, ',');
        if (words.n != 2)
            return ns_command_refuse(j->host, "--plane expects two states, X,Y");
        return ns_study_state(j->host, j->model, words.at[0], &j->spec.x) &&
               ns_study_state(j->host, j->model, words.at[1], &j->spec.y) &&
               (j->spec.x != j->spec.y ||
                ns_command_refuse(j->host, "--plane expects two different states, X,Y"));
    }
    if (ns_portrait_plane(j->model->system, &j->spec.x, &j->spec.y))
        return true;
    return ns_command_refuse(
        j->host, "no two states of this model form a system of their own (a portrait "
                 "needs reduced equations)");
}

/* NAME=LOW:HIGH for the two states. */
static bool choose_window(job *j)
{
    ns_host *host = j->host;
    const uint32_t place[2] = {j->spec.x, j->spec.y};
    ns_portrait_window(j->model->system, j->model->x0, &j->spec);
    const char *text, *name;
    for (uint32_t k = 0; ns_command_each(j->a, "range", &k, &text);) {
        uint32_t state;
        double ends[2];
        if (!ns_study_parts(host, j->model, "--range", "NAME=LOW:HIGH", text, 2, &name, ends) ||
            !ns_study_state(host, j->model, name, &state))
            return false;
        const double low = ends[0], high = ends[1];
        if (!(low < high) || (state != place[0] && state != place[1]))
            return ns_command_refuse(host,
                                     low < high ? "--range: `%s` is not one of the two states"
                                                : "--range %s: LOW must be below HIGH",
                                     name);
        j->spec.from[state == place[1]] = low;
        j->spec.to[state == place[1]] = high;
    }
    return true;
}

/* Levels of --levels-of, else of the energy if the two states determine it. */
static bool choose_quantity(job *j)
{
    const ns_system *s = j->model->system;
    const char *text = ns_command_text(j->a, "of");
    const uint32_t x = j->spec.x, y = j->spec.y;
    if (text) {
        if (!ns_study_expression(j->host, j->model, "--of", text, &j->spec.quantity))
            return false;
        if (ns_portrait_depends_on_others(s, j->spec.quantity, x, y))
            return ns_command_refuse(j->host,
                                     "--of %s: it depends on other states than the two", text);
        j->quantity = text;
    } else if (s->energy && !ns_portrait_depends_on_others(s, s->energy, x, y)) {
        j->spec.quantity = s->energy;
        j->quantity = "energy";
    }
    return true;
}

static void print(const job *j, const ns_portrait *p)
{
    ns_host *host = j->host;
    const ns_state *x = &j->model->system->states.at[j->spec.x];
    const ns_state *y = &j->model->system->states.at[j->spec.y];
    ns_study_title(host, j->model, "phase plane of %s and %s", x->name, y->name);
    fprintf(host->out, "  %u equilibria, %u separatrices%s%s\n\n", p->points.n,
            p->separatrices.n, j->quantity ? ", levels of " : "",
            j->quantity ? j->quantity : "");
    if (p->points.n)
        fprintf(host->out, "  %-22s %-18s %-18s eigenvalues (1/s)\n", "kind", x->name, y->name);
    uint32_t lines = 0;
    for (uint32_t i = 0; i < p->points.n; i++) {
        const ns_portrait_point *q = &p->points.at[i];
        if (q->kind == NS_PORTRAIT_LINE && ++lines > 5)
            continue;
        fprintf(host->out, "  %-22s % -18.12g % -18.12g ", ns_portrait_kind_name(q->kind), q->x,
                q->y);
        if (q->eigenvalue[0].im != 0)
            fprintf(host->out, "%.10g +- %.10g i\n", q->eigenvalue[0].re, q->eigenvalue[0].im);
        else
            fprintf(host->out, "%.10g, %.10g\n", q->eigenvalue[0].re, q->eigenvalue[1].re);
    }
    if (lines > 5)
        fprintf(host->out, "  ... and %u more on lines of equilibria\n", lines - 5);
}

static ns_sheet *make_sheet(const job *j, const ns_portrait *p)
{
    const ns_system *s = j->model->system;
    const uint32_t n = p->points.n;
    ns_sheet *sheet = ns_sheet_new(j->host->arena, "portrait", j->model->description->title);
    const ns_state *x = &s->states.at[j->spec.x], *y = &s->states.at[j->spec.y];
    ns_sheet_table *t = ns_sheet_add(sheet, "equilibria", n);
    const char **kind = ns_sheet_words(sheet, t, "kind");
    double *const c[6] = {ns_sheet_numbers(sheet, t, x->name, x->unit),
                          ns_sheet_numbers(sheet, t, y->name, y->unit),
                          ns_sheet_numbers(sheet, t, "re1", "1/s"),
                          ns_sheet_numbers(sheet, t, "im1", "1/s"),
                          ns_sheet_numbers(sheet, t, "re2", "1/s"),
                          ns_sheet_numbers(sheet, t, "im2", "1/s")};
    for (uint32_t i = 0; i < n; i++) {
        const ns_portrait_point *q = &p->points.at[i];
        kind[i] = ns_portrait_kind_name(q->kind);
        c[0][i] = q->x;
        c[1][i] = q->y;
        for (int k = 0; k < 2; k++) {
            c[2 + 2 * k][i] = q->eigenvalue[k].re;
            c[3 + 2 * k][i] = q->eigenvalue[k].im;
        }
    }
    size_t rows = 0, at = 0;
    for (uint32_t i = 0; i < p->separatrices.n; i++)
        rows += p->separatrices.at[i].n;
    t = ns_sheet_add(sheet, "separatrices", rows);
    double *number = ns_sheet_numbers(sheet, t, "curve", "");
    double *saddle = ns_sheet_numbers(sheet, t, "saddle", "");
    double *sx = ns_sheet_numbers(sheet, t, x->name, x->unit);
    double *sy = ns_sheet_numbers(sheet, t, y->name, y->unit);
    for (uint32_t i = 0; i < p->separatrices.n; i++)
        for (size_t k = 0; k < p->separatrices.at[i].n; k++, at++) {
            number[at] = i + 1;
            saddle[at] = p->separatrices.at[i].from + 1;
            sx[at] = p->separatrices.at[i].x[k];
            sy[at] = p->separatrices.at[i].y[k];
        }
    return sheet;
}

static void draw_points(const job *j, ns_plot_panel *panel, const ns_portrait *p)
{
    static const struct {
        ns_plot_marker marker;
        ns_plot_colour colour;
    } looks[] = {{NS_PLOT_CROSS, NS_PLOT_VERMILION}, {NS_PLOT_CIRCLE, NS_PLOT_GREEN},
                 {NS_PLOT_SQUARE, NS_PLOT_BLUE},     {NS_PLOT_DIAMOND, NS_PLOT_PURPLE},
                 {NS_PLOT_DOT, NS_PLOT_BLACK},       {NS_PLOT_TRIANGLE, NS_PLOT_ORANGE}};
    ns_arena *a = j->host->arena;
    for (int kind = 0; kind < 6; kind++) {
        double *x = NS_NEW_ARRAY(a, double, p->points.n + 1);
        double *y = NS_NEW_ARRAY(a, double, p->points.n + 1);
        size_t n = 0;
        for (uint32_t i = 0; i < p->points.n; i++)
            if ((int)p->points.at[i].kind == kind) {
                x[n] = p->points.at[i].x;
                y[n++] = p->points.at[i].y;
            }
        if (!n)
            continue;
        ns_plot_series *series = ns_plot_points(
            panel, ns_portrait_kind_name((ns_portrait_kind)kind), n, x, y);
        series->marker = looks[kind].marker;
        series->colour = looks[kind].colour;
        series->width = kind == NS_PORTRAIT_LINE ? 3 : 0;
    }
}

static void draw_curve(ns_plot_panel *panel, const ns_portrait_curve *c, ns_plot_colour colour,
                       double width)
{
    ns_plot_series *s = ns_plot_line(panel, NULL, c->n, c->x, c->y);
    s->colour = colour;
    s->width = width;
}

static ns_plot *draw(const job *j, const ns_portrait *p)
{
    const ns_state *x = &j->model->system->states.at[j->spec.x];
    const ns_state *y = &j->model->system->states.at[j->spec.y];
    ns_plot *plot = ns_plot_new(j->host->arena, j->model->description->title);
    plot->subtitle = ns_arena_format(j->host->arena, "phase plane%s%s",
                                     j->quantity ? ", levels of " : "",
                                     j->quantity ? j->quantity : "");
    ns_plot_panel *panel = ns_plot_add(plot, "", x->name, x->unit, y->name, y->unit);
    panel->height = 480;
    panel->x.from = j->spec.from[0];
    panel->x.to = j->spec.to[0];
    panel->y.from = j->spec.from[1];
    panel->y.to = j->spec.to[1];
    for (uint32_t i = 0; i < p->levels.n; i++)
        draw_curve(panel, &p->levels.at[i], NS_PLOT_GREY, 0.7);
    for (uint32_t i = 0; i < p->orbits.n; i++)
        draw_curve(panel, &p->orbits.at[i], NS_PLOT_SKY, 0.9);
    for (uint32_t i = 0; i < p->separatrices.n; i++)
        draw_curve(panel, &p->separatrices.at[i],
                   p->separatrices.at[i].out ? NS_PLOT_VERMILION : NS_PLOT_BLUE, 1.8);
    draw_points(j, panel, p);
    return plot;
}

static int portrait(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    ns_model *model = NULL;
    job j = {.host = host, .a = a};
    if (!ns_study_open(host, a, true, &model, &j.flow, &status))
        return status;
    j.model = model;
    j.spec.run = ns_model_run_options(model);
    j.spec.run.tolerance = 1e-10;
    j.spec.orbits = 36;
    j.spec.levels = 16;
    j.spec.span = 20;
    if (choose_plane(&j) && choose_window(&j) && choose_quantity(&j) &&
        ns_study_count(host, a, "orbits", 0, &j.spec.orbits) &&
        ns_study_count(host, a, "levels", 0, &j.spec.levels) &&
        ns_command_number(host, a, "until", &j.spec.span)) {
        const ns_portrait *p = ns_portrait_make(host->arena, j.flow, &j.spec, model->x0);
        if (*p->message)
            ns_command_wrong(host, "%s", p->message);
        else {
            if (ns_study_prints(host, a))
                print(&j, p);
            status = ns_study_finish(host, a, model, make_sheet(&j, p), draw(&j, p));
        }
    }
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "plane", .argument = "X,Y", .help = "the two states (the first that fit)"},
    {.name = "range",
     .argument = "NAME=LOW:HIGH",
     .help = "the window, for each of the two",
     .repeat = true},
    {.name = "of", .argument = "EXPR", .help = "draw levels of this (of the energy)"},
    {.name = "levels", .argument = "N", .help = "how many levels (16)"},
    {.name = "orbits", .argument = "N", .help = "about how many motions (36)"},
    {.name = "until", .argument = "T", .help = "how long motions and separatrices are (20 s)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_portrait = {
    .name = "portrait",
    .summary = "Phase portrait of two states: equilibria, separatrices, level sets",
    .usage = "MODEL [--plane X,Y] [--range NAME=LOW:HIGH]... [--of EXPR] [--until T]",
    .doc =
        "Two states whose rates depend on these two alone are a system in the plane.  All its\n"
        "equilibria in the window are found and told apart; from every saddle the "
        "separatrices\n"
        "are followed; levels of the energy (or --of) and some motions fill the figure (--out\n"
        "FILE.svg).  Separatrices that leave a saddle are red, those that enter it blue.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = portrait,
};
