/* noslip frequencies: the frequencies of a quasi-periodic motion, its drift, and its path in
 * the frame that moves with it.
 *
 * A reduced motion with period T makes a path z(t) in the plane with g(t + T) = h g(t): z is
 * c + exp(i omega2 t) P(t), P of period T (Bloch, Marsden and Zenkov 2009, Theorem 6.1: a torus
 * of two dimensions), or z = v t + P(t) if h does not turn.  In the frame that turns with
 * omega2 about c, or moves with v, the path is a closed curve (pattern evocation, Marsden and
 * Scheurle 1995). */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/study.h"
#include "expr/diff.h"
#include "mech/reduced/symmetry.h"
#include "study/orbits/frequency.h"

typedef struct observed {
    const char *name;
    ns_ex value[2]; /* the second 0 for a real one */
    bool plane;     /* a place in the plane: what is drawn */
} observed;

typedef struct work {
    ns_host *host;
    ns_model *model;
    uint32_t n, samples, lines;
    double until, dt;
    observed signal[NS_FREQUENCY_SIGNALS];
    ns_frequency_signal of[NS_FREQUENCY_SIGNALS];
    double *value[NS_FREQUENCY_SIGNALS][4]; /* [samples] value, value; rate, rate */
    ns_frequencies found;
    uint32_t path;    /* the first place, or n */
    double centre[2]; /* of the path */
    double *u, *v;    /* [samples] in the frame that moves with it */
    double turning;   /* rate at which that frame turns */
    double closure;   /* how far (u, v) is from a closed curve, of its size */
    bool drifts;
} work;

/* ---- what is analysed -------------------------------------------------------------------- */

static bool add(work *w, const char *name, ns_ex x, ns_ex y, bool plane)
{
    if (w->n == NS_FREQUENCY_SIGNALS)
        return ns_command_refuse(w->host, "at most %d signals are analysed",
                                 NS_FREQUENCY_SIGNALS);
    w->signal[w->n++] = (observed){.name = name, .value = {x, y}, .plane = plane};
    return true;
}

/* --of X: a value; --of X,Y: a place in the plane. */
static bool read_signals(work *w, const ns_arguments *a)
{
    const char *text;
    for (uint32_t k = 0; ns_command_each(a, "of", &k, &text);) {
        const ns_study_words part = ns_study_split(w->host->arena, text, ',');
        ns_ex e[2] = {0, 0};
        if (part.n > 2 || part.n == 0)
            return ns_command_refuse(w->host, "--of %s: expected EXPR, or EXPR,EXPR in a plane",
                                     text);
        for (uint32_t i = 0; i < part.n; i++)
            if (!ns_study_expression(w->host, w->model, "--of", part.at[i], &e[i]))
                return false;
        if (!add(w, text, e[0], e[1], part.n == 2))
            return false;
    }
    return true;
}

/* The shape, the place in the plane, and angles and places of other factors of the group. */
static bool signals_of_symmetry(work *w, const ns_symmetry *y)
{
    ns_graph *g = w->model->system->graph;
    ns_arena *arena = w->host->arena;
    const ns_coordinate *q = w->model->description->coordinates.at;
    for (uint32_t i = 0; i < y->sigma; i++)
        if (!add(w, q[y->shape[i]].name, q[y->shape[i]].q, 0, false))
            return false;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t f = 0; f < y->factors.n; f++) {
            const ns_group_factor *one = &y->factors.at[f];
            const uint32_t *at = y->group + one->first;
            if (one->kind == NS_GROUP_SE2 && pass == 0) {
                const char *name = ns_arena_format(arena, "%s,%s", q[at[1]].name,
                                                   q[at[2]].name);
                if (!add(w, name, q[at[1]].q, q[at[2]].q, true))
                    return false;
            } else if (strcmp(one->name, "SO(2)") == 0 && pass == 1) {
                const char *name = ns_arena_format(arena, "exp(i %s)", q[at[0]].name);
                const ns_ex c = ns_cos(g, q[at[0]].q), s = ns_sin(g, q[at[0]].q);
                if (!add(w, name, c, s, false))
                    return false;
            } else if (one->kind == NS_GROUP_R && pass == 1 && one->dim == 2) {
                const char *name = ns_arena_format(arena, "%s,%s", q[at[0]].name,
                                                   q[at[1]].name);
                if (!add(w, name, q[at[0]].q, q[at[1]].q, true))
                    return false;
            }
        }
    return true;
}

static bool choose_signals(work *w, const ns_arguments *a)
{
    const ns_system *s = w->model->system;
    if (!read_signals(w, a))
        return false;
    if (w->n)
        return true;
    if (s->symmetry)
        return signals_of_symmetry(w, s->symmetry);
    const int64_t height = ns_model_observable(w->model, "com.z"),
                  x = ns_model_observable(w->model, "contact.x"),
                  y = ns_model_observable(w->model, "contact.y");
    if (height >= 0 && x >= 0 && y >= 0)
        return add(w, "com.z", s->observables.at[height].value, 0, false) &&
               add(w, "contact.x,contact.y", s->observables.at[x].value,
                   s->observables.at[y].value, true);
    return ns_command_refuse(w->host,
                             "%s: what is to be analysed?  Say --of EXPR for a value "
                             "and --of EXPR,EXPR for a place in a plane",
                             w->model->name);
}

/* ---- sampling ---------------------------------------------------------------------------- */

/* Values and rates at equally spaced times, into w->value; the status of the run. */
static int sample(work *w)
{
    const ns_model *m = w->model;
    const ns_system *s = m->system;
    ns_arena *arena = w->host->arena;
    const uint32_t n = s->states.n, outputs = 4 * w->n;
    ns_ex *f = NS_NEW_ARRAY(s->arena, ns_ex, outputs);
    ns_ex *symbol = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    ns_ex *rate = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    memcpy(symbol, ns_system_state_symbols(s, s->arena), n * sizeof *symbol);
    memcpy(rate, ns_system_state_rates(s, s->arena), n * sizeof *rate);
    symbol[n] = s->time;
    rate[n] = ns_one(s->graph);
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < 2; k++) {
            f[4 * i + k] = w->signal[i].value[k] ? w->signal[i].value[k] : ns_zero(s->graph);
            ns_diff_along(s->graph, &f[4 * i + k], 1, symbol, rate, n + 1, &f[4 * i + 2 + k]);
            w->value[i][k] = NS_NEW_ARRAY(arena, double, w->samples);
            w->value[i][2 + k] = NS_NEW_ARRAY(arena, double, w->samples);
        }
    const ns_program *program = ns_problem_program(s, s->arena, f, outputs);
    double *memory = NS_NEW_ARRAY(arena, double, ns_program_work1(program) + 1);
    double *x = NS_NEW_ARRAY(arena, double, n + 1), *out = NS_NEW_ARRAY(arena, double, outputs);
    ns_program_bind1(program, memory, m->p);
    ns_run_options options = ns_model_run_options(m);
    const double t0 = options.t0;
    const char *message = "";
    ns_status status;
    options.until = w->until;
    w->dt = (w->until - t0) / w->samples;
    ns_run *run = ns_run_new(ns_model_problem(w->model, false), &options, m->p, m->x0, &status,
                             &message);
    if (!run)
        return ns_command_failed(w->host, status, "%s", message);
    ns_study_progress progress = ns_study_progress_new(w->host, "t", w->until - t0);
    bool on = true;
    uint32_t count = 0;
    for (; count < w->samples && on; count++) {
        const double t = t0 + count * w->dt;
        if (ns_run_to(run, t) != NS_OK && ns_run_time(run) < t)
            break;
        ns_run_state_at(run, t, x);
        ns_program_eval1(program, memory, t, x, out);
        for (uint32_t i = 0; i < outputs; i++)
            w->value[i / 4][i % 4][count] = out[i];
        if (count % 256 == 0)
            on = ns_study_progress_draw(&progress, (double)count / w->samples);
    }
    ns_study_progress_end(&progress);
    int end = 0;
    if (!on)
        end = ns_command_wrong(w->host, "interrupted");
    else if (count < w->samples) {
        ns_command_refuse(w->host, "the motion ended at t = %.6g s: %s", ns_run_time(run),
                          ns_run_outcome(run)->reason);
        end = 1;
    }
    ns_run_free(run);
    return end;
}

/* ---- the frame that moves with the path -------------------------------------------------- */

/* What is left of the place without its lines and drift, in the mean: its centre. */
static void find_centre(work *w)
{
    const ns_frequency_signal *s = &w->of[w->path];
    double sum[2] = {0, 0}, weight = 0;
    for (uint32_t k = 0; k < w->samples; k++) {
        const double t = k * w->dt, h = ns_math_sin(3.14159265358979323846 * k / w->samples);
        const double a = h * h * h * h; /* ends count less: what the lines leave swings */
        double z[2] = {w->value[w->path][0][k] - s->drift[0] * t,
                       w->value[w->path][1][k] - s->drift[1] * t};
        for (uint32_t i = 0; i < s->lines; i++) {
            double sine, cosine;
            ns_math_sincos(s->line[i].nu * t, &sine, &cosine);
            z[0] -= s->line[i].re * cosine - s->line[i].im * sine;
            z[1] -= s->line[i].re * sine + s->line[i].im * cosine;
        }
        sum[0] += a * z[0];
        sum[1] += a * z[1];
        weight += a;
    }
    w->centre[0] = sum[0] / weight;
    w->centre[1] = sum[1] / weight;
}

static int32_t common(int32_t a, int32_t b)
{
    while (b) {
        const int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Do two combinations differ by a multiple of step[]?  A step of zeros becomes what they differ
 * by, without a common divisor. */
static bool in_steps(const int32_t *k, const int32_t *first, int32_t *step)
{
    int32_t d[NS_FREQUENCY_BASIS], divisor = 0;
    bool none = true, parallel = true;
    for (int b = 0; b < NS_FREQUENCY_BASIS; b++) {
        d[b] = k[b] - first[b];
        divisor = common(divisor, d[b]);
        none = none && !step[b];
    }
    for (int b = 0; b < NS_FREQUENCY_BASIS && none && divisor; b++)
        step[b] = d[b] / divisor;
    for (int b = 0; b < NS_FREQUENCY_BASIS; b++)
        for (int c = 0; c < b; c++)
            parallel = parallel && d[b] * step[c] == d[c] * step[b];
    return parallel;
}

/* Where all lines of the path differ by multiples of one frequency delta, it is a closed curve
 * in the frame that turns with any of them: with the slowest of those that delta leads to.  The
 * share of lines that differ otherwise is how far it is from closed. */
static void find_frame(work *w)
{
    const ns_frequency_signal *s = &w->of[w->path];
    int32_t step[NS_FREQUENCY_BASIS] = {0};
    double all = 0, off = 0, delta = 0;
    for (uint32_t i = 0; i < s->lines; i++) {
        const double size = ns_math_hypot(s->line[i].re, s->line[i].im);
        const bool good = s->line[i].known && in_steps(s->line[i].k, s->line[0].k, step);
        all += size;
        off += good ? 0 : size;
    }
    for (uint32_t b = 0; b < w->found.n; b++)
        delta += step[b] * w->found.omega[b];
    w->closure = all > 0 ? off / all : 0;
    w->turning = delta != 0 ? s->line[0].nu - delta * floor(s->line[0].nu / delta + 0.5) : 0;
    if (fabs(w->turning) < 1e-3 * w->found.bin)
        w->turning = 0;
}

/* u + i v = (z - c - drift t) exp(-i turning t) */
static void move_along(work *w)
{
    const ns_frequency_signal *s = &w->of[w->path];
    const double speed = ns_math_hypot(s->drift[0], s->drift[1]);
    double largest = 0;
    w->u = NS_NEW_ARRAY(w->host->arena, double, w->samples);
    w->v = NS_NEW_ARRAY(w->host->arena, double, w->samples);
    for (uint32_t i = 0; i < s->lines; i++)
        largest = ns_max(largest,
                         fabs(s->line[i].nu) * ns_math_hypot(s->line[i].re, s->line[i].im));
    w->drifts = speed > 1e-9 * largest; /* rounding errors of the mean are below */
    find_frame(w);
    find_centre(w);
    for (uint32_t k = 0; k < w->samples; k++) {
        const double t = k * w->dt;
        const double x = w->value[w->path][0][k] - w->centre[0] -
                         (w->drifts ? s->drift[0] * t : 0);
        const double y = w->value[w->path][1][k] - w->centre[1] -
                         (w->drifts ? s->drift[1] * t : 0);
        double sine, cosine;
        ns_math_sincos(w->turning * t, &sine, &cosine);
        w->u[k] = x * cosine + y * sine;
        w->v[k] = y * cosine - x * sine;
    }
}

/* ---- output ------------------------------------------------------------------------------ */

static const char *words_of(const work *w, const ns_frequency_line *line)
{
    ns_text text = ns_text_new(w->host->arena);
    for (uint32_t b = 0; b < w->found.n && line->known; b++) {
        const int32_t k = line->k[b];
        if (!k)
            continue;
        ns_text_addf(&text, "%s", k < 0 ? text.length ? " - " : "-" : text.length ? " + " : "");
        if (k != 1 && k != -1)
            ns_text_addf(&text, "%d ", k < 0 ? -k : k);
        ns_text_addf(&text, "omega%u", b + 1);
    }
    return line->known ? ns_text_string(&text) : "no combination";
}

static void print_path(const work *w)
{
    const ns_frequency_signal *s = &w->of[w->path];
    FILE *out = w->host->out;
    ns_style_heading(out, &w->host->style_out,
                     ns_arena_format(w->host->arena, "Path of (%s)", w->signal[w->path].name));
    if (w->drifts)
        fprintf(out, "  drifts with (%.12g, %.12g) per second\n", s->drift[0], s->drift[1]);
    else
        fprintf(out, "  does not drift; centre (%.12g, %.12g)\n", w->centre[0], w->centre[1]);
    if (w->turning != 0)
        fprintf(out,
                "  in the frame that turns about it with %.15g rad/s it is a closed curve, but "
                "for %.1e of its size\n",
                w->turning, w->closure);
    else
        fprintf(out, "  %s it is a closed curve, but for %.1e of its size\n",
                w->drifts ? "in the frame that drifts with it" : "in space", w->closure);
}

static void print(const work *w)
{
    FILE *out = w->host->out;
    ns_study_title(w->host, w->model, "frequencies");
    fprintf(out, "  over %.10g s, %u samples, at most %u lines of each signal\n\n",
            w->samples * w->dt, w->samples, w->lines);
    for (uint32_t b = 0; b < w->found.n; b++)
        fprintf(out, "  omega%u   % .15g rad/s   period %.15g s\n", b + 1, w->found.omega[b],
                2 * 3.14159265358979323846 / fabs(w->found.omega[b]));
    if (w->found.unknown)
        fprintf(out,
                "  %u lines are not combinations of them: not quasi-periodic, or too short\n",
                w->found.unknown);
    else if (w->found.n)
        fprintf(out, "  quasi-periodic on a torus of dimension %u\n", w->found.n);
    else
        fprintf(out, "  nothing moves\n");
    for (uint32_t i = 0; i < w->n; i++) {
        const ns_frequency_signal *s = &w->of[i];
        ns_style_heading(out, &w->host->style_out, w->signal[i].name);
        fprintf(out, "  mean rate %.12g", s->drift[0]);
        if (s->im)
            fprintf(out, ", %.12g", s->drift[1]);
        fprintf(out, "; the lines leave %.1e of the rate\n  %-22s %-18s %s\n", s->rest,
                "frequency (rad/s)", "amplitude", "");
        for (uint32_t k = 0; k < s->lines; k++)
            fprintf(out, "  % -22.15g %-18.12g %s\n", s->line[k].nu,
                    ns_math_hypot(s->line[k].re, s->line[k].im), words_of(w, &s->line[k]));
    }
    if (w->path < w->n)
        print_path(w);
}

static ns_sheet *make_sheet(const work *w)
{
    ns_arena *a = w->host->arena;
    ns_sheet *sheet = ns_sheet_new(a, "frequencies", w->model->description->title);
    uint32_t rows = 0;
    ns_sheet_number(sheet, "dimension", w->found.n);
    ns_sheet_number(sheet, "unknown", w->found.unknown);
    for (uint32_t b = 0; b < w->found.n; b++)
        ns_sheet_number(sheet, ns_arena_format(a, "omega%u", b + 1), w->found.omega[b]);
    for (uint32_t i = 0; i < w->n; i++)
        rows += w->of[i].lines;
    if (w->path < w->n) {
        ns_sheet_number(sheet, "drifts", w->drifts);
        ns_sheet_number(sheet, "drift_x", w->of[w->path].drift[0]);
        ns_sheet_number(sheet, "drift_y", w->of[w->path].drift[1]);
        ns_sheet_number(sheet, "centre_x", w->centre[0]);
        ns_sheet_number(sheet, "centre_y", w->centre[1]);
        ns_sheet_number(sheet, "turning", w->turning);
        ns_sheet_number(sheet, "closure", w->closure);
    }
    ns_sheet_table *t = ns_sheet_add(sheet, "lines", rows);
    const char **name = NS_NEW_ARRAY(a, const char *, rows + 1);
    const char **means = NS_NEW_ARRAY(a, const char *, rows + 1);
    double *nu = NS_NEW_ARRAY(a, double, rows + 1), *re = NS_NEW_ARRAY(a, double, rows + 1);
    double *im = NS_NEW_ARRAY(a, double, rows + 1);
    uint32_t row = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; k < w->of[i].lines; k++, row++) {
            const ns_frequency_line *line = &w->of[i].line[k];
            name[row] = w->signal[i].name;
            nu[row] = line->nu;
            re[row] = line->re;
            im[row] = line->im;
            means[row] = words_of(w, line);
        }
    ns_sheet_words_add(sheet, t, "signal", name);
    ns_sheet_column_add(sheet, t, "frequency", "rad/s", nu);
    ns_sheet_column_add(sheet, t, "re", "", re);
    ns_sheet_column_add(sheet, t, "im", "", im);
    ns_sheet_words_add(sheet, t, "combination", means);
    if (w->path == w->n)
        return sheet;
    double *time = NS_NEW_ARRAY(a, double, w->samples);
    for (uint32_t k = 0; k < w->samples; k++)
        time[k] = k * w->dt;
    t = ns_sheet_add(sheet, "path", w->samples);
    ns_sheet_column_add(sheet, t, "t", "s", time);
    ns_sheet_column_add(sheet, t, "x", "", w->value[w->path][0]);
    ns_sheet_column_add(sheet, t, "y", "", w->value[w->path][1]);
    ns_sheet_column_add(sheet, t, "u", "", w->u);
    ns_sheet_column_add(sheet, t, "v", "", w->v);
    return sheet;
}

static ns_plot *draw(const work *w)
{
    ns_arena *a = w->host->arena;
    ns_plot *plot = ns_plot_new(a, w->model->description->title);
    if (w->path < w->n) {
        const ns_study_words name = ns_study_split(a, w->signal[w->path].name, ',');
        ns_plot_panel *panel = ns_plot_add(plot, "in space", name.at[0], "",
                                           name.n > 1 ? name.at[1] : "", "");
        panel->equal = true;
        ns_plot_line(panel, NULL, w->samples, w->value[w->path][0], w->value[w->path][1])
            ->width = 1;
        panel = ns_plot_add(plot,
                            w->turning != 0 ? "in the frame that turns with it"
                                            : "in the frame that moves with it",
                            "u", "", "v", "");
        panel->equal = true;
        ns_plot_line(panel, NULL, w->samples, w->u, w->v)->width = 1;
        plot->columns = 2;
    }
    ns_plot_panel *panel = ns_plot_add(plot, "lines", "frequency", "rad/s", "amplitude", "");
    panel->y.log = true;
    for (uint32_t i = 0; i < w->n; i++) {
        const ns_frequency_signal *s = &w->of[i];
        double *nu = NS_NEW_ARRAY(a, double, s->lines + 1);
        double *size = NS_NEW_ARRAY(a, double, s->lines + 1);
        for (uint32_t k = 0; k < s->lines; k++) {
            nu[k] = s->line[k].nu;
            size[k] = ns_math_hypot(s->line[k].re, s->line[k].im);
        }
        ns_plot_series *points = ns_plot_line(panel, w->signal[i].name, s->lines, nu, size);
        points->line = false;
        points->marker = i ? NS_PLOT_SQUARE : NS_PLOT_CIRCLE;
    }
    return plot;
}

/* ---- the command ------------------------------------------------------------------------- */

static bool read(work *w, const ns_arguments *a)
{
    const ns_run_options run = ns_model_run_options(w->model);
    w->until = run.until;
    w->samples = 8192;
    w->lines = 12;
    if (!ns_command_number(w->host, a, "until", &w->until) ||
        !ns_study_count(w->host, a, "samples", 64, &w->samples) ||
        !ns_study_count(w->host, a, "lines", 1, &w->lines))
        return false;
    if (!isfinite(w->until) || w->until <= run.t0)
        return ns_command_refuse(w->host, "--until must come after the start");
    if (w->samples & (w->samples - 1) || w->samples > 1 << 20)
        return ns_command_refuse(w->host, "--samples must be a power of two, at most 1048576");
    if (w->lines > 100)
        return ns_command_refuse(w->host, "--lines: at most 100");
    if (w->model->system->modes.n > 1 || ns_system_jumps(w->model->system))
        return ns_command_refuse(w->host,
                                 "%s: the motion has jumps, or several modes: no "
                                 "quasi-periodic motion",
                                 w->model->name);
    return choose_signals(w, a);
}

static int frequencies(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    if (!ns_study_check_outputs(host, a))
        return ns_status_exit(NS_ERR_USAGE);
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    work w = {.host = host, .model = model};
    status = read(&w, a) ? sample(&w) : ns_status_exit(NS_ERR_USAGE);
    if (!status) {
        w.path = w.n;
        for (uint32_t i = w.n; i-- > 0;) {
            w.of[i] = (ns_frequency_signal){.re = w.value[i][2],
                                            .im = w.signal[i].value[1] ? w.value[i][3] : NULL};
            if (w.signal[i].plane)
                w.path = i;
        }
        w.found = ns_frequency_analyse(host->arena, w.of, w.n, w.samples, w.dt, w.lines);
        if (w.path < w.n)
            move_along(&w);
        if (ns_study_prints(host, a))
            print(&w);
        status = ns_study_finish(host, a, model, make_sheet(&w), draw(&w));
        if (!status && w.found.unknown)
            status = 1;
    }
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "of",
     .argument = "EXPR[,EXPR]",
     .help = "a value to analyse, or a place in a plane (default: shape and group)",
     .repeat = true},
    {.name = "until", .argument = "T", .help = "length of the motion that is analysed"},
    {.name = "samples", .argument = "N", .help = "a power of two (8192)"},
    {.name = "lines", .argument = "N", .help = "at most this many lines of a signal (12)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_frequencies = {
    .name = "frequencies",
    .summary = "Frequencies of a quasi-periodic motion, drift, path in the moving frame",
    .usage = "MODEL [--of EXPR[,EXPR]]... [--until T] [--samples N] [--lines N]",
    .doc =
        "Takes the motion apart into its lines by Laskar's frequency analysis, to about ten\n"
        "digits over a hundred periods, and finds the few frequencies of which all lines are\n"
        "integer combinations: the motion fills a torus of that dimension (Bloch, Marsden,\n"
        "Zenkov 2009, Theorem 6.1).  Says whether a path in the plane drifts, and draws it in\n"
        "the frame that turns or drifts with it, where it is a closed curve (--out FILE.svg).\n"
        "Without --of: the shape, the place and the angles of a `symmetry` block; height and\n"
        "contact of a rolling body.  Exit status 1: some lines are not combinations.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = frequencies,
};
