/* noslip section: Poincare sections, and periodic motions with their multipliers. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/relative.h"
#include "expr/eval.h"
#include "ode/auto.h"
#include "study/orbits/section.h"

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model;
    ns_flow *flow;
    ns_section_spec spec;
    const char *on;
    ns_starts *solver; /* NULL: starts are taken as they are */
    double *starts;    /* [count][n] */
    uint32_t count, refused;
    uint32_t x, y; /* observables of the figure */
} job;

static uint32_t states(const job *j)
{
    return j->flow->n;
}

/* ---- options ----------------------------------------------------------------------------- */

/* EXPR, or LEFT = RIGHT */
static bool read_surface(job *j)
{
    ns_host *host = j->host;
    const char *text = ns_command_text(j->a, "on");
    if (!text)
        return ns_command_refuse(
            host, "--on EXPR says where the section is, for instance --on omega.z");
    j->on = text;
    const char *equals = strchr(text, '=');
    const char *whole = text;
    if (equals)
        whole = ns_arena_format(host->arena, "(%.*s) - (%s)", (int)(equals - text), text,
                                equals + 1);
    if (!ns_study_expression(host, j->model, "--on", whole, &j->spec.surface.value))
        return false;
    const char *direction = ns_command_text(j->a, "direction");
    j->spec.surface.direction = 1;
    if (!direction || strcmp(direction, "rising") == 0)
        return true;
    if (strcmp(direction, "falling") == 0)
        j->spec.surface.direction = -1;
    else if (strcmp(direction, "both") == 0)
        j->spec.surface.direction = 0;
    else
        return ns_command_refuse(host, "--direction is rising, falling or both, not `%s`",
                                 direction);
    return true;
}

/* The conditions of starts: on the surface (if they are on a grid), with the energy of the
 * model's start or --energy. */
static bool prepare_starts(job *j)
{
    ns_host *host = j->host;
    const ns_system *s = j->model->system;
    const bool many = ns_command_flag(j->a, "grid") || ns_command_flag(j->a, "starts");
    const char *energy = ns_command_text(j->a, "energy");
    if (!many && !energy)
        return true;
    if (!s->energy)
        return ns_command_refuse(host,
                                 "this model has no energy to keep; give starts with --from");
    ns_condition conditions[2] = {{.value = s->energy}, {.value = j->spec.surface.value}};
    ns_system_eval(s, &s->energy, 1, j->flow->t, j->flow->p, j->model->x0,
                   &conditions[0].target);
    if (energy && !ns_study_number(host, j->model, "--energy", energy, &conditions[0].target))
        return false;
    j->solver = ns_starts_new(j->flow, conditions, ns_command_flag(j->a, "grid") ? 2 : 1);
    return true;
}

static void add_start(job *j, const double *x, const bool *fixed)
{
    const uint32_t n = states(j);
    double *y = ns_arena_copy(j->host->arena, x, n * sizeof *y);
    if (j->solver && !ns_starts_solve(j->solver, fixed, y)) {
        j->refused++;
        return;
    }
    if (!j->solver && !ns_flow_project(j->flow, y)) {
        j->refused++;
        return;
    }
    double *all = NS_NEW_ARRAY(j->host->arena, double, (size_t)(j->count + 1) * n);
    if (j->count)
        memcpy(all, j->starts, (size_t)j->count * n * sizeof *all);
    memcpy(all + (size_t)j->count * n, y, n * sizeof *all);
    j->starts = all;
    j->count++;
}

typedef struct axis {
    uint32_t state, n;
    double low, high;
} axis;

/* NAME=LOW:HIGH:N */
static bool read_axis(job *j, const char *text, axis *out)
{
    ns_host *host = j->host;
    const char *name;
    double parts[3];
    if (!ns_study_parts(host, j->model, "--grid", "NAME=LOW:HIGH:N", text, 3, &name, parts) ||
        !ns_study_state(host, j->model, name, &out->state))
        return false;
    out->low = parts[0];
    out->high = parts[1];
    const double n = parts[2];
    if (!(n >= 1 && n <= 10000 && n == floor(n)))
        return ns_command_refuse(host,
                                 "--grid: the number of starts is a whole number up to 10000");
    out->n = (uint32_t)n;
    return true;
}

static bool grid_starts(job *j)
{
    enum { MOST = 3 };
    axis axes[MOST];
    uint32_t n_axes = 0, total = 1;
    const char *text;
    for (uint32_t k = 0; ns_command_each(j->a, "grid", &k, &text);) {
        if (n_axes == MOST)
            return ns_command_refuse(j->host, "at most three --grid");
        if (!read_axis(j, text, &axes[n_axes]))
            return false;
        total *= axes[n_axes++].n;
    }
    if (total > 100000)
        return ns_command_refuse(j->host, "--grid: more than 100000 starts");
    const uint32_t n = states(j);
    bool *fixed = NS_NEW_ARRAY(j->host->arena, bool, n + 1);
    double *x = NS_NEW_ARRAY(j->host->arena, double, n + 1);
    for (uint32_t k = 0; k < n_axes; k++)
        fixed[axes[k].state] = true;
    for (uint32_t i = 0; i < total; i++) {
        memcpy(x, j->model->x0, n * sizeof *x);
        uint32_t rest = i;
        for (uint32_t k = 0; k < n_axes; k++) {
            const uint32_t at = rest % axes[k].n;
            rest /= axes[k].n;
            x[axes[k].state] = axes[k].n > 1 ? axes[k].low + (axes[k].high - axes[k].low) * at /
                                                                 (axes[k].n - 1)
                                             : axes[k].low;
        }
        add_start(j, x, fixed);
    }
    return true;
}

static bool choose_starts(job *j)
{
    ns_host *host = j->host;
    const uint32_t n = states(j);
    double *x = NS_NEW_ARRAY(host->arena, double, n + 1), spread = 0.2;
    uint32_t random = 0;
    if (!prepare_starts(j) || !ns_study_count(host, j->a, "starts", 1, &random) ||
        !ns_command_number(host, j->a, "spread", &spread))
        return false;
    if (ns_command_flag(j->a, "grid") && !grid_starts(j))
        return false;
    const char *from;
    for (uint32_t k = 0; ns_command_each(j->a, "from", &k, &from);) {
        memcpy(x, j->model->x0, n * sizeof *x);
        if (!ns_study_assign(host, j->model, "--from", from, x))
            return false;
        add_start(j, x, NULL);
    }
    uint64_t seed = 314159;
    for (uint32_t i = 0; i < random; i++) {
        for (uint32_t k = 0; k < n; k++)
            x[k] = j->model->x0[k] +
                   spread * j->flow->sigma[k] * (2 * ns_eval_random(&seed) - 1);
        add_start(j, x, NULL);
    }
    if (!j->count && !j->refused)
        add_start(j, j->model->x0, NULL);
    if (j->refused)
        fprintf(
            host->err,
            "noslip: note: %u starts cannot be brought onto the constraints, the energy and "
            "the surface; they are left out\n",
            j->refused);
    if (j->count)
        return true;
    return ns_command_refuse(host, "no start is left");
}

/* --plot X,Y: the values of the figure; the first two states that are not part of the
 * surface. */
static bool choose_axes(job *j)
{
    const char *text = ns_command_text(j->a, "plot");
    const ns_system *s = j->model->system;
    if (text) {
        const ns_study_words words = ns_study_split(j->host->arena, text, ',');
        if (words.n != 2)
            return ns_command_refuse(j->host, "--plot expects two names, X,Y");
        return ns_study_value(j->host, j->model, words.at[0], &j->x) &&
               ns_study_value(j->host, j->model, words.at[1], &j->y);
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->states.n && found < 2; i++)
        if (j->spec.surface.value != s->states.at[i].symbol)
            *(found++ ? &j->y : &j->x) = i; /* states come first among the values */
    return true;
}

/* ---- results ----------------------------------------------------------------------------- */

static ns_sheet *make_sheet(const job *j, const ns_section_track *tracks, double **value,
                            size_t *rows)
{
    ns_arena *a = j->host->arena;
    const ns_system *s = j->model->system;
    const uint32_t columns = s->observables.n;
    *rows = 0;
    for (uint32_t i = 0; i < j->count; i++)
        *rows += tracks[i].n;
    *value = NS_NEW_ARRAY(a, double, (size_t)columns * *rows + 1);
    ns_sheet *sheet = ns_sheet_new(a, "section", j->model->description->title);
    ns_sheet_text(sheet, "on", j->on);
    ns_sheet_number(sheet, "starts", j->count);
    ns_sheet_number(sheet, "crossings", (double)*rows);
    ns_sheet_table *table = ns_sheet_add(sheet, "section", *rows);
    double *number = ns_sheet_numbers(sheet, table, "start", "");
    double *t = ns_sheet_numbers(sheet, table, "t", "s");
    size_t at = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        const ns_section_track *track = &tracks[i];
        ns_flow_observe(j->flow, track->t, track->x, track->n, *value + at, *rows);
        for (uint32_t k = 0; k < track->n; k++, at++) {
            number[at] = i + 1;
            t[at] = track->t[k];
        }
    }
    for (uint32_t c = 0; c < columns; c++)
        ns_sheet_column_add(sheet, table, s->observables.at[c].name, s->observables.at[c].unit,
                            *value + (size_t)c * *rows);
    return sheet;
}

static ns_plot *draw(const job *j, const ns_section_track *tracks, const double *value,
                     size_t rows)
{
    ns_arena *a = j->host->arena;
    const ns_system *s = j->model->system;
    const ns_observable *x = &s->observables.at[j->x], *y = &s->observables.at[j->y];
    ns_plot *plot = ns_plot_new(a, j->model->description->title);
    plot->subtitle = ns_arena_format(a, "section on %s", j->on);
    ns_plot_panel *panel = ns_plot_add(plot, "", x->name, x->unit, y->name, y->unit);
    panel->height = 420;
    size_t at = 0;
    for (uint32_t i = 0; i < j->count; i++) {
        ns_plot_series *series = ns_plot_points(panel, NULL, tracks[i].n,
                                                value + (size_t)j->x * rows + at,
                                                value + (size_t)j->y * rows + at);
        series->marker = NS_PLOT_DOT;
        at += tracks[i].n;
    }
    return plot;
}

static void print_tracks(const job *j, const ns_section_track *tracks, const double *value,
                         size_t rows)
{
    ns_host *host = j->host;
    const ns_system *s = j->model->system;
    enum { SHOWN = 20 };
    ns_study_title(host, j->model, "section on %s, %s", j->on,
                   j->spec.surface.direction > 0   ? "rising"
                   : j->spec.surface.direction < 0 ? "falling"
                                                   : "both directions");
    fprintf(host->out, "  %u start%s, %zu crossings\n\n", j->count, j->count == 1 ? "" : "s",
            rows);
    fprintf(host->out, "  %-6s %-16s %-20s %-20s\n", "start", "t", s->observables.at[j->x].name,
            s->observables.at[j->y].name);
    size_t at = 0, shown = 0;
    for (uint32_t i = 0; i < j->count; i++)
        for (uint32_t k = 0; k < tracks[i].n; k++, at++)
            if (shown < SHOWN) {
                shown++;
                fprintf(host->out, "  %-6u %-16.10g % -20.13g % -20.13g\n", i + 1,
                        tracks[i].t[k], value[(size_t)j->x * rows + at],
                        value[(size_t)j->y * rows + at]);
            }
    if (rows > shown)
        fprintf(host->out, "  ... %zu more; --out FILE writes them all\n", rows - shown);
}

static int sections(job *j)
{
    ns_host *host = j->host;
    if (!choose_starts(j) || !choose_axes(j))
        return ns_status_exit(NS_ERR_USAGE);
    ns_study_progress progress = ns_study_progress_new(host, "part", 1);
    j->spec.progress = ns_study_progress_draw;
    j->spec.context = &progress;
    const ns_section_track *tracks = ns_section_run(host->arena, j->flow, &j->spec, j->starts,
                                                    j->count);
    ns_study_progress_end(&progress);
    double *value;
    size_t rows;
    int status = 0;
    ns_sheet *sheet = make_sheet(j, tracks, &value, &rows);
    for (uint32_t i = 0; i < j->count; i++)
        if (tracks[i].status != NS_OK && tracks[i].status != NS_STOP_ASKED) {
            fprintf(host->err, "noslip: warning: start %u ended early: %s\n", i + 1,
                    tracks[i].reason);
            status = ns_status_exit(tracks[i].status);
        }
    if (ns_study_prints(host, j->a))
        print_tracks(j, tracks, value, rows);
    const int finish = ns_study_finish(host, j->a, j->model, sheet,
                                       draw(j, tracks, value, rows));
    return finish ? finish : status;
}

static void print_periodic(const job *j, const ns_periodic *p)
{
    ns_host *host = j->host;
    const ns_system *s = j->model->system;
    ns_study_title(host, j->model, "periodic motion through %s", j->on);
    fprintf(host->out, "  found in %u rounds; comes back to %.1e of the states' sizes\n\n",
            p->rounds, p->residual);
    int width = ns_style_wider(8, "period");
    for (uint32_t i = 0; i < s->states.n; i++)
        width = ns_style_wider(width, s->states.at[i].name);
    fprintf(host->out, "  %-*s % .15g s\n", width, "period", p->period);
    for (uint32_t i = 0; i < s->states.n; i++)
        fprintf(host->out, "  %-*s % .15g\n", width, s->states.at[i].name, p->x[i]);
    if (j->spec.modulo)
        ns_relative_print(host, j->flow, p->h);
    ns_style_heading(host->out, &host->style_out, "Multipliers");
    for (uint32_t i = 0; i < p->n; i++) {
        const ns_eigenvalue e = p->multiplier[i];
        if (e.im > 0)
            fprintf(host->out, "  % .12g +- %.12g i   modulus %.12g\n", e.re, e.im,
                    ns_math_hypot(e.re, e.im));
        else if (e.im == 0)
            fprintf(host->out, "  % .12g\n", e.re);
    }
    fprintf(host->out, "  product %.12g\n", p->product);
    fprintf(host->out, "\n  %s\n", p->verdict);
}

static int periodic(job *j, uint32_t returns)
{
    ns_host *host = j->host;
    const uint32_t n = states(j);
    if (ns_command_flag(j->a, "grid") || ns_command_flag(j->a, "starts"))
        return ns_command_wrong(host, "--periodic takes one guess: the start, or --from");
    if (!choose_starts(j) || !choose_axes(j))
        return ns_status_exit(NS_ERR_USAGE);
    if (ns_command_flag(j->a, "modulo"))
        j->spec.modulo = ns_generators_find(j->flow, j->starts);
    const ns_periodic *p = ns_section_periodic(host->arena, j->flow, &j->spec, returns,
                                               j->starts);
    if (!p->found) {
        ns_command_wrong(host, "no periodic motion found: %s (after %u rounds)", p->message,
                         p->rounds);
        return p->status < 0 ? ns_status_exit(p->status) : 1;
    }
    ns_sheet *sheet = ns_sheet_new(host->arena, "section", j->model->description->title);
    ns_sheet_text(sheet, "on", j->on);
    ns_sheet_text(sheet, "closes", j->spec.modulo ? "up to the symmetries" : "by itself");
    ns_sheet_number(sheet, "period", p->period);
    ns_sheet_number(sheet, "residual", p->residual);
    ns_sheet_number(sheet, "product", p->product);
    ns_sheet_text(sheet, "verdict", p->verdict);
    ns_sheet_table *t = ns_sheet_add(sheet, "multipliers", p->n);
    double *re = NS_NEW_ARRAY(host->arena, double, p->n + 1);
    double *im = NS_NEW_ARRAY(host->arena, double, p->n + 1);
    for (uint32_t i = 0; i < p->n; i++) {
        re[i] = p->multiplier[i].re;
        im[i] = p->multiplier[i].im;
    }
    ns_sheet_column_add(sheet, t, "re", "", re);
    ns_sheet_column_add(sheet, t, "im", "", im);
    t = ns_sheet_add(sheet, "state", n);
    const char **name = NS_NEW_ARRAY(host->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        name[i] = j->model->system->states.at[i].name;
    ns_sheet_words_add(sheet, t, "name", name);
    ns_sheet_column_add(sheet, t, "value", "", p->x);
    if (j->spec.modulo)
        ns_relative_sheet(host, sheet, j->flow, p->h);
    if (ns_study_prints(host, j->a))
        print_periodic(j, p);
    const ns_orbit orbit = {
        .x = p->x, .period = p->period, .h = p->h, .horizontal = j->x, .vertical = j->y};
    return ns_study_finish(host, j->a, j->model, sheet,
                           ns_relative_plot(host, j->model, j->flow, &orbit));
}

static int section(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    ns_model *model = NULL;
    job j = {.host = host, .a = a};
    if (!ns_study_open(host, a, false, &model, &j.flow, &status))
        return status;
    j.model = model;
    j.spec.run = ns_model_run_options(model);
    j.spec.crossings = 1000;
    double until = INFINITY, tolerance = 0;
    uint32_t returns = 1;
    if (read_surface(&j) && ns_study_count(host, a, "crossings", 1, &j.spec.crossings) &&
        ns_command_number(host, a, "until", &until) &&
        ns_command_number(host, a, "tol", &tolerance) &&
        ns_study_count(host, a, "threads", 1, &j.spec.threads) &&
        ns_study_count(host, a, "periodic", 1, &returns)) {
        if (tolerance > 0)
            j.spec.run.tolerance = tolerance;
        if (ns_command_flag(a, "method"))
            j.spec.run.method = ns_command_text(a, "method");
        if (ns_auto_asked(&j.spec.run)) {
            status = ns_command_wrong(host, "method auto chooses for one motion, not for many "
                                            "starts: name a method");
            ns_model_free(model);
            return status;
        }
        if (!ns_method_find(j.spec.run.method)) {
            status = ns_command_wrong(host,
                                      "unknown method `%s`; `noslip help methods` lists them",
                                      j.spec.run.method);
            ns_model_free(model);
            return status;
        }
        /* without an end the number of crossings ends it; a motion that never crosses must end
         * too */
        enum { PATIENCE = 20000 };
        j.spec.run.until = isfinite(until) ? until : j.spec.run.t0 + 1e5;
        if (!isfinite(until) && !ns_command_flag(a, "max-steps"))
            j.spec.patience = PATIENCE;
        status = ns_command_flag(a, "periodic") ? periodic(&j, returns) : sections(&j);
    }
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "on", .argument = "EXPR", .help = "the surface: EXPR = 0, or LEFT = RIGHT"},
    {.name = "direction",
     .argument = "D",
     .help = "rising (default), falling or both: how it is passed"},
    {.name = "crossings", .argument = "N", .help = "of each start (1000)"},
    {.name = "until",
     .argument = "T",
     .help = "latest time (none, but 20000 steps without a crossing are enough)"},
    {.name = "from",
     .argument = "NAME=EXPR,...",
     .help = "a start: these states, the others from the model's start",
     .repeat = true},
    {.name = "grid",
     .argument = "NAME=LOW:HIGH:N",
     .help = "starts on the surface and the energy with this state given",
     .repeat = true},
    {.name = "starts", .argument = "N", .help = "random starts on the energy near the model's"},
    {.name = "spread", .argument = "R", .help = "how near, in sizes of the states (0.2)"},
    {.name = "energy", .argument = "E", .help = "energy of the starts (that of the model's)"},
    {.name = "periodic",
     .argument = "K",
     .help = "find a motion that closes at the K-th return, and its multipliers"},
    {.name = "modulo", .help = "with --periodic: it closes up to a symmetry, which is told"},
    {.name = "plot", .argument = "X,Y", .help = "values of the figure and the table"},
    {.name = "threads", .argument = "N", .help = "how many starts at once (all cores)"},
    {.name = "method",
     .argument = "M",
     .help = "of integration; dop853 takes eight starts at a time, in lanes"},
    {.name = "tol", .argument = "R", .help = "tolerance of the integration"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_section = {
    .name = "section",
    .summary = "Poincare sections on any surface; periodic motions and their multipliers",
    .usage = "MODEL --on EXPR [--direction D] [--crossings N] [--grid NAME=LOW:HIGH:N]... "
             "[--periodic K [--modulo]]",
    .doc = "Writes down where motions pass the surface.  Starts: the model's own, --from, a "
           "--grid of\n"
           "states on the surface with the energy of the model's start (or --energy), where "
           "the other\n"
           "states are found by the program, or random --starts on that energy.\n"
           "--periodic K looks for a motion that closes at its K-th return by Newton's method "
           "with\n"
           "the exact variational equations, begun at the start or --from.  With --modulo it "
           "closes "
           "up to\n"
           "the symmetries of the model: reduced motions and their phase.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = section,
};
