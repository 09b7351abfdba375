/* noslip equilibria: steady motions, their stability, and branches in a parameter. */
#include <math.h>
#include <string.h>

#include "command/studies/equilibria_plot.h"
#include "command/study.h"
#include "command/summary.h"
#include "study/steady/stability.h"

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model;
    ns_flow *field;
    ns_steady_spec spec;
    ns_shown shown;
    bool table; /* print for people */
} job;

/* ---- one steady motion ------------------------------------------------------------------- */

static const char *kind_of(const ns_generators *g, const double *c)
{
    for (uint32_t k = 0; k < g->count; k++)
        if (fabs(c[k]) > 1e-10)
            return "steady motion (relative equilibrium)";
    return "equilibrium";
}

static void print_eigenvalue(FILE *out, ns_eigenvalue e)
{
    if (e.im == 0)
        fprintf(out, "  % .15g\n", e.re);
    else
        fprintf(out, "  % .15g +- %.15g i\n", e.re, fabs(e.im));
}

static void print_eigenvalues(ns_host *host, const ns_linear *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->eigenvalue[i].im >= 0)
            print_eigenvalue(host->out, l->eigenvalue[i]);
}

/* What the terms of the momentum equation (4.10) of Bloch, Marsden and Zenkov 2009 allow. */
static const char *momentum_words(const ns_momentum *f)
{
    if (f->size_Q > 1e-9)
        return "terms quadratic in p: momenta change even at a fixed shape";
    if (f->size_D > 1e-9)
        return "none quadratic in p, but terms quadratic in r': motions nearby may be "
               "attracted";
    if (f->found < f->c->m)
        return "transport of p along r' alone, not integrable";
    return "transport of p along r' alone, integrable: momenta are functions of the shape, "
           "nothing is attracted";
}

static void print_stability_of(ns_host *host, const ns_stability *s)
{
    ns_style_heading(host->out, &host->style_out, "Nonlinear");
    fprintf(host->out, "  %s\n", s->text);
    if (*s->leaf)
        fprintf(host->out, "  %s\n", s->leaf);
    if (strncmp(s->method, "energy-momentum", 15) == 0)
        fprintf(host->out,
                "  second variation: eigenvalues of one sign, the smallest %.10g of the "
                "largest\n",
                s->least);
    if (s->conserved->momentum)
        fprintf(host->out, "  momentum equation: %s\n", momentum_words(s->conserved->momentum));
}

static const char *name_of(const job *j, uint32_t parameter)
{
    return j->model->description->params.at[parameter].name;
}

/* How the motion and its eigenvalues move with other parameters. */
static void print_rates(const job *j, const ns_steady_point *p, int width)
{
    const ns_system *s = j->model->system;
    const ns_linear *l = p->linear;
    FILE *out = j->host->out;
    for (uint32_t k = 0; k < j->spec.n_by; k++) {
        ns_style_heading(
            out, &j->host->style_out,
            ns_arena_format(j->host->arena, "Derivatives by %s", name_of(j, j->spec.by[k])));
        const double *value = p->rates->value + (size_t)k * s->observables.n;
        for (uint32_t i = 0; i < j->shown.n; i++)
            fprintf(out, "  %-*s % .15g\n", width, s->observables.at[j->shown.at[i]].name,
                    value[j->shown.at[i]]);
        for (uint32_t i = 0; i < l->n; i++) {
            const ns_eigenvalue at = l->eigenvalue[i],
                                e = p->rates->eigenvalue[(size_t)k * l->n + i];
            if (at.im < 0)
                continue;
            fprintf(out, "  of the eigenvalue %.6g", at.re);
            if (at.im > 0)
                fprintf(out, " + %.6g i", at.im);
            if (isnan(e.re))
                fprintf(out, ": none, it is not simple\n");
            else if (at.im > 0)
                fprintf(out, ": % .15g %+.15g i\n", e.re, e.im);
            else
                fprintf(out, ": % .15g\n", e.re);
        }
    }
}

static void print_point(const job *j, const ns_generators *g, const ns_steady_point *p)
{
    ns_host *host = j->host;
    const ns_system *s = j->model->system;
    const ns_linear *l = p->linear;
    double *value = NS_NEW_ARRAY(host->arena, double, s->observables.n + 1);
    ns_flow_observe(j->field, NULL, p->x, 1, value, 1);
    ns_study_title(host, j->model, "%s", kind_of(g, p->c));
    fprintf(host->out, "  found in %u rounds; remaining acceleration %.1e of its terms\n",
            p->rounds, p->residual);
    int width = 8;
    for (uint32_t i = 0; i < j->shown.n; i++)
        width = ns_style_wider(width, s->observables.at[j->shown.at[i]].name);
    ns_style_heading(host->out, &host->style_out, "Values");
    for (uint32_t i = 0; i < j->shown.n; i++) {
        const ns_observable *o = &s->observables.at[j->shown.at[i]];
        char unit[64], number[32] = " undefined";
        if (!isnan(value[j->shown.at[i]]))
            snprintf(number, sizeof number, "% .15g", value[j->shown.at[i]]);
        fprintf(host->out, "  %-*s %-22s%s\n", width, o->name, number,
                ns_summary_unit(o->unit, unit));
    }
    if (g->count) {
        ns_style_heading(
            host->out, &host->style_out,
            g->A0 ? "Symmetries and the speeds along them, in addition to the motion of "
                    "the ground"
                  : "Symmetries and the speeds along them");
        for (uint32_t k = 0; k < g->count; k++)
            fprintf(host->out, "  % -22.15g %s\n", p->c[k], g->name[k]);
    }
    ns_style_heading(host->out, &host->style_out, "Directions");
    fprintf(host->out,
            "  %u on the manifold: %u along symmetries, %u along neighbouring steady motions, "
            "%u that decide\n",
            l->tangent, l->symmetry, l->family, l->n);
    fprintf(host->out, "  %u conserved quantities are independent here\n", l->conserved);
    ns_style_heading(host->out, &host->style_out, "Eigenvalues (1/s)");
    print_eigenvalues(host, l);
    if (p->rates)
        print_rates(j, p, width);
    ns_style_heading(host->out, &host->style_out, "Verdict");
    fprintf(host->out, "  %s\n", ns_linear_verdict(host->arena, l));
    print_stability_of(host, p->stability);
}

/* Tables: eigenvalues (first: it is what CSV gets), values, speeds; a number for the start. */
static void add_eigenvalues(const job *j, ns_sheet *sheet, const ns_steady_point *points,
                            uint32_t n)
{
    size_t rows = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        rows += points[i].linear->n;
    ns_sheet_table *t = ns_sheet_add(sheet, "eigenvalues", rows);
    double *number = ns_sheet_numbers(sheet, t, "point", "");
    double *re = ns_sheet_numbers(sheet, t, "re", "1/s");
    double *im = ns_sheet_numbers(sheet, t, "im", "1/s");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < points[i].linear->n; k++, at++) {
            number[at] = i + 1;
            re[at] = points[i].linear->eigenvalue[k].re;
            im[at] = points[i].linear->eigenvalue[k].im;
        }
    for (uint32_t b = 0; b < j->spec.n_by; b++) {
        const char *name = name_of(j, j->spec.by[b]);
        ns_arena *a = j->host->arena;
        double *re_by = ns_sheet_numbers(sheet, t, ns_arena_format(a, "re by %s", name), "");
        double *im_by = ns_sheet_numbers(sheet, t, ns_arena_format(a, "im by %s", name), "");
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t m = points[i].linear->n;
            for (uint32_t k = 0; k < m; k++) {
                *re_by++ = points[i].rates->eigenvalue[(size_t)b * m + k].re;
                *im_by++ = points[i].rates->eigenvalue[(size_t)b * m + k].im;
            }
        }
    }
}

/* Derivatives of the values. */
static void add_rates(const job *j, ns_sheet *sheet, const ns_steady_point *points, uint32_t n)
{
    const ns_system *s = j->model->system;
    const uint32_t m = s->observables.n;
    ns_sheet_table *t = ns_sheet_add(sheet, "derivatives", (size_t)n * m);
    double *number = ns_sheet_numbers(sheet, t, "point", "");
    const char **name = ns_sheet_words(sheet, t, "name");
    for (size_t i = 0; i < (size_t)n * m; i++) {
        const size_t point = i / m + 1;
        number[i] = (double)point;
        name[i] = s->observables.at[i % m].name;
    }
    for (uint32_t k = 0; k < j->spec.n_by; k++) {
        double *by = ns_sheet_numbers(
            sheet, t, ns_arena_format(j->host->arena, "by %s", name_of(j, j->spec.by[k])), "");
        for (size_t i = 0; i < (size_t)n * m; i++)
            by[i] = points[i / m].rates->value[(size_t)k * m + i % m];
    }
}

static void add_points(const job *j, ns_sheet *sheet, const ns_generators *g,
                       const ns_steady_point *points, uint32_t n)
{
    ns_arena *a = j->host->arena;
    const ns_system *s = j->model->system;
    ns_sheet_table *t = ns_sheet_add(sheet, "points", n);
    const char **kind = ns_sheet_words(sheet, t, "kind");
    const char **verdict = ns_sheet_words(sheet, t, "verdict");
    const char **stability = ns_sheet_words(sheet, t, "stability");
    const char **method = ns_sheet_words(sheet, t, "method");
    const char **leaf = ns_sheet_words(sheet, t, "leaf");
    double *residual = ns_sheet_numbers(sheet, t, "residual", "");
    double *symmetry = ns_sheet_numbers(sheet, t, "symmetry_directions", "");
    double *family = ns_sheet_numbers(sheet, t, "family_directions", "");
    double *unstable = ns_sheet_numbers(sheet, t, "growing_modes", "");
    double *values = NS_NEW_ARRAY(a, double, (size_t)n * s->observables.n + 1);
    for (uint32_t i = 0; i < n; i++) {
        kind[i] = kind_of(g, points[i].c);
        verdict[i] = ns_linear_verdict(a, points[i].linear);
        stability[i] = ns_stability_word(points[i].stability->kind);
        method[i] = points[i].stability->method;
        leaf[i] = points[i].stability->leaf;
        residual[i] = points[i].residual;
        symmetry[i] = points[i].linear->symmetry;
        family[i] = points[i].linear->family;
        unstable[i] = points[i].linear->unstable;
        ns_flow_observe(j->field, NULL, points[i].x, 1, values + i, n);
    }
    for (uint32_t k = 0; k < s->observables.n; k++)
        ns_sheet_column_add(sheet, t, s->observables.at[k].name, s->observables.at[k].unit,
                            values + (size_t)k * n);
    for (uint32_t k = 0; k < g->count; k++) {
        double *speed = ns_sheet_numbers(sheet, t,
                                         ns_arena_format(a, "speed of %s", g->name[k]), "1/s");
        for (uint32_t i = 0; i < n; i++)
            speed[i] = points[i].c[k];
    }
}

/* Guesses x[*n][states]: each --from, otherwise the model's start; NULL after saying what is
 * wrong. */
static const double *read_guesses(const job *j, uint32_t *n)
{
    ns_host *host = j->host;
    const uint32_t states = j->field->n;
    double *x = NS_NEW_ARRAY(host->arena, double, (size_t)(j->a->options.n + 1) * states + 1);
    const char *text;
    *n = 0;
    for (uint32_t k = 0; ns_command_each(j->a, "from", &k, &text); ++*n) {
        double *guess = x + (size_t)*n * states;
        memcpy(guess, j->model->x0, states * sizeof *x);
        if (!ns_study_assign(host, j->model, "--from", text, guess))
            return NULL;
    }
    if (!*n)
        memcpy(x, j->model->x0, states * sizeof *x);
    *n += !*n;
    return x;
}

static int find_all(const job *j)
{
    ns_host *host = j->host;
    uint32_t n;
    ns_steady *q = ns_steady_new(host->arena, j->field, &j->spec, j->model->x0);
    if (!q)
        return ns_command_wrong(host,
                                "time enters the equations of this model, and not as on a "
                                "ground that moves uniformly: it has no steady motions");
    const ns_generators *g = ns_steady_generators(q);
    const double *guesses = read_guesses(j, &n);
    if (!guesses)
        return ns_status_exit(NS_ERR_USAGE);
    const ns_steady_set set = ns_steady_find_all(q, n, guesses);
    for (uint32_t i = 0; i < set.failed.n; i++)
        fprintf(host->err,
                "noslip: warning: no steady motion found from guess %u: Newton's method "
                "stopped after %u rounds with a remaining acceleration of %.2g of its terms\n",
                set.failures.at[i] + 1, set.failed.at[i].rounds, set.failed.at[i].residual);
    ns_sheet *sheet = ns_sheet_new(host->arena, "equilibria", j->model->description->title);
    ns_sheet_text(sheet, "status", set.found.n ? "done" : "stopped");
    ns_sheet_number(sheet, "symmetries", g->count);
    add_eigenvalues(j, sheet, set.found.at, set.found.n);
    add_points(j, sheet, g, set.found.at, set.found.n);
    if (j->spec.n_by)
        add_rates(j, sheet, set.found.at, set.found.n);
    for (uint32_t i = 0; i < set.found.n && j->table; i++) {
        if (i)
            fputc('\n', host->out);
        print_point(j, g, &set.found.at[i]);
    }
    const int status = ns_study_finish(
        host, j->a, j->model, sheet,
        ns_equilibria_plot(host->arena, j->model, set.found.at, set.found.n));
    return status ? status : set.failed.n && !set.found.n ? 1 : 0;
}

/* ---- a branch ---------------------------------------------------------------------------- */

static void print_stability(const job *j, const ns_branch *b, const char *name)
{
    ns_host *host = j->host;
    const ns_steady_point *first = &b->points.at[0];
    fprintf(host->out, "  %u points from %s = %.10g to %.10g; %s\n", b->points.n, name,
            first->parameter, b->points.at[b->points.n - 1].parameter, b->end);
    fprintf(host->out,
            "  %u directions: %u along symmetries, %u along neighbouring steady motions, %u "
            "that decide\n",
            first->linear->tangent, first->linear->symmetry, first->linear->family,
            first->linear->n);
    for (uint32_t i = 0, begin = 0; i < b->points.n; i++) {
        const bool last = i + 1 == b->points.n;
        if (!last &&
            b->points.at[i + 1].linear->unstable == b->points.at[begin].linear->unstable)
            continue;
        const uint32_t unstable = b->points.at[begin].linear->unstable;
        fprintf(host->out, "  %s %.6g to %.6g: ", name, b->points.at[begin].parameter,
                b->points.at[i].parameter);
        if (unstable)
            fprintf(host->out, "unstable, %u growing mode%s\n", unstable,
                    unstable > 1 ? "s" : "");
        else if (b->points.at[i].linear->stable == b->points.at[i].linear->n)
            fprintf(host->out, "asymptotically stable but for neutral directions\n");
        else
            fprintf(host->out, "linearly stable\n");
        begin = i + 1;
    }
}

static void print_special(const job *j, const ns_steady_point *p, const char *name)
{
    FILE *out = j->host->out;
    fprintf(out, "  %-12s %s = %.15g\n               %s\n", p->label, name, p->parameter,
            p->note);
    for (uint32_t i = 0; i < j->spec.n_by && p->by; i++)
        fprintf(out, "               %s by %s: %.15g\n", name, name_of(j, j->spec.by[i]),
                p->by[i]);
    if (j->spec.n_by && !p->by)
        fprintf(out, "               no derivatives at a point of this kind\n");
}

static void print_branch(const job *j, const ns_branch *b, const char *name)
{
    ns_host *host = j->host;
    ns_study_title(host, j->model, "branch of steady motions over %s", name);
    print_stability(j, b, name);
    for (uint32_t i = 0; i < b->more.n; i++) {
        const ns_steady_point *from = &b->special.at[b->more.at[i]->from];
        ns_style_heading(host->out, &host->style_out,
                         ns_arena_format(host->arena, "Branch %u, from the %s at %s = %.10g",
                                         i + 2, from->label, name, from->parameter));
        print_stability(j, b->more.at[i], name);
    }
    ns_style_heading(host->out, &host->style_out, "Special points");
    if (!b->special.n)
        fprintf(host->out, "  none\n");
    for (uint32_t i = 0; i < b->special.n; i++)
        print_special(j, &b->special.at[i], name);
}

/* One table of points: the parameter, the values, real and imaginary parts. */
static void add_branch(const job *j, ns_sheet *sheet, const char *table, const char *name,
                       const ns_steady_point *points, uint32_t n, bool labels)
{
    ns_arena *a = j->host->arena;
    const ns_system *s = j->model->system;
    const uint32_t states = s->states.n, modes = n ? points[0].linear->n : 0;
    ns_sheet_table *t = ns_sheet_add(sheet, table, n);
    const char **label = labels ? ns_sheet_words(sheet, t, "label") : NULL;
    double *parameter = ns_sheet_numbers(sheet, t, name, "");
    const char **note = labels ? ns_sheet_words(sheet, t, "note") : NULL;
    double *unstable = ns_sheet_numbers(sheet, t, "growing_modes", "");
    for (uint32_t i = 0; i < n; i++) {
        parameter[i] = points[i].parameter;
        unstable[i] = points[i].linear->unstable;
        if (labels) {
            label[i] = points[i].label;
            note[i] = points[i].note;
        }
    }
    for (uint32_t k = 0; k < j->spec.n_by && labels; k++) {
        double *by = ns_sheet_numbers(
            sheet, t, ns_arena_format(a, "%s by %s", name, name_of(j, j->spec.by[k])), "");
        for (uint32_t i = 0; i < n; i++)
            by[i] = points[i].by ? points[i].by[k] : NAN;
    }
    for (uint32_t k = 0; k < modes; k++) {
        double *re = ns_sheet_numbers(sheet, t, ns_arena_format(a, "re%u", k + 1), "1/s");
        double *im = ns_sheet_numbers(sheet, t, ns_arena_format(a, "im%u", k + 1), "1/s");
        for (uint32_t i = 0; i < n; i++) {
            re[i] = points[i].linear->eigenvalue[k].re;
            im[i] = points[i].linear->eigenvalue[k].im;
        }
    }
    for (uint32_t k = 0; k < states; k++) {
        double *x = ns_sheet_numbers(sheet, t, s->states.at[k].name, s->states.at[k].unit);
        for (uint32_t i = 0; i < n; i++)
            x[i] = points[i].x[k];
    }
}

static int follow(job *j, const char *over)
{
    ns_host *host = j->host;
    if (!ns_study_range(host, j->model, "--over", over, &j->spec.over, &j->spec.low,
                        &j->spec.high))
        return ns_status_exit(NS_ERR_USAGE);
    const ns_param *param = &j->model->description->params.at[j->spec.over];
    ns_study_progress progress = ns_study_progress_new(host, param->name, j->spec.high);
    progress.from = j->spec.low;
    j->spec.progress = ns_study_progress_draw;
    j->spec.context = &progress;
    ns_steady *q = ns_steady_new(host->arena, j->field, &j->spec, j->model->x0);
    const char *message = "";
    const ns_branch *b = ns_steady_follow(q, &message);
    ns_study_progress_end(&progress);
    if (!b)
        return ns_command_failed(host, NS_STOP_LIMIT, "%s", message);
    ns_sheet *sheet = ns_sheet_new(host->arena, "equilibria", j->model->description->title);
    ns_sheet_text(sheet, "parameter", param->name);
    ns_sheet_text(sheet, "end", b->end);
    add_branch(j, sheet, "branch", param->name, b->points.at, b->points.n, false);
    add_branch(j, sheet, "special", param->name, b->special.at, b->special.n, true);
    for (uint32_t i = 0; i < b->more.n; i++)
        add_branch(j, sheet, ns_arena_format(host->arena, "branch%u", i + 2), param->name,
                   b->more.at[i]->points.at, b->more.at[i]->points.n, false);
    if (j->table)
        print_branch(j, b, param->name);
    const int status = ns_study_finish(
        host, j->a, j->model, sheet, ns_branch_plot(host->arena, j->model, j->field, b, param));
    return status ? status : strcmp(b->end, "the parameter left its range") != 0 ? 1 : 0;
}

/* ---- options ----------------------------------------------------------------------------- */

static bool read_holds(job *j)
{
    ns_host *host = j->host;
    const char *text = ns_command_text(j->a, "hold");
    if (!text)
        return true;
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    ns_hold *hold = NS_NEW_ARRAY(host->arena, ns_hold, words.n + 1);
    double *value = NS_NEW_ARRAY(host->arena, double, j->model->system->observables.n + 1);
    ns_flow_observe(j->field, NULL, j->model->x0, 1, value, 1);
    for (uint32_t i = 0; i < words.n; i++) {
        const char *equals = strchr(words.at[i], '=');
        const char *name = equals ? ns_arena_string(host->arena, words.at[i],
                                                    (size_t)(equals - words.at[i]))
                                  : words.at[i];
        if (!ns_study_value(host, j->model, name, &hold[i].observable))
            return false;
        hold[i].value = value[hold[i].observable];
        if (equals && !ns_study_number(host, j->model, "--hold", equals + 1, &hold[i].value))
            return false;
    }
    j->spec.hold = hold;
    j->spec.n_hold = words.n;
    return true;
}

/* Parameters by which steady motions, or special points, are differentiated: names, or `all` of
 * those that are given and not computed, but for that of the branch. */
static bool read_by(job *j, const char *over)
{
    ns_host *host = j->host;
    const char *text = ns_command_text(j->a, "sensitivity");
    const ns_description *d = j->model->description;
    if (!text)
        return true;
    const size_t length = over ? strcspn(over, "=") : 0;
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    const bool all = words.n == 1 && strcmp(words.at[0], "all") == 0;
    uint32_t *by = NS_NEW_ARRAY(host->arena, uint32_t, d->params.n + words.n + 1);
    for (uint32_t i = 0; i < d->params.n && all; i++) {
        const ns_ex value = d->params.at[i].value;
        const bool own = over && strlen(d->params.at[i].name) == length &&
                         strncmp(d->params.at[i].name, over, length) == 0;
        if (!own && !ns_graph_depends_kind(d->graph, value, NS_SYM_PARAM, NULL))
            by[j->spec.n_by++] = i;
    }
    for (uint32_t k = 0; k < words.n && !all; k++) {
        uint32_t i = 0;
        while (i < d->params.n && strcmp(d->params.at[i].name, words.at[k]) != 0)
            i++;
        if (i == d->params.n) {
            ns_command_wrong(host, "--sensitivity: `%s` is not a parameter of the model",
                             words.at[k]);
            return false;
        }
        by[j->spec.n_by++] = i;
    }
    j->spec.by = by;
    return true;
}

static int equilibria(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    ns_model *model = NULL;
    const char *over = ns_command_text(a, "over");
    job j = {.host = host,
             .a = a,
             .spec = {.over = UINT32_MAX,
                      .at_rest = ns_command_flag(a, "rest"),
                      .switching = ns_command_flag(a, "switch")}};
    if (!ns_study_open(host, a, over || j.spec.at_rest, &model, &j.field, &status))
        return status;
    j.model = model;
    j.table = ns_study_prints(host, a); /* --quiet is read by now */
    if (!read_holds(&j) || !read_by(&j, over) ||
        !ns_summary_choose(host, model, ns_command_text(a, "show"), &j.shown))
        status = ns_status_exit(NS_ERR_USAGE);
    else if (over && ns_command_flag(a, "from"))
        status = ns_command_wrong(
            host, "--over begins at the model's start; it does not take --from");
    else
        status = over ? follow(&j, over) : find_all(&j);
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "from",
     .argument = "NAME=EXPR,...",
     .help = "begin with these states instead of the model's start",
     .repeat = true},
    {.name = "hold",
     .argument = "NAME[=EXPR],...",
     .help = "keep these values: of the start, or as given"},
    {.name = "switch",
     .help = "with --over: follow also the branches that leave at pitchforks"},
    {.name = "over",
     .argument = "NAME=LOW:HIGH",
     .help = "follow the branch while a parameter changes; locate folds and bifurcations"},
    {.name = "sensitivity",
     .argument = "NAME,...|all",
     .help = "derivatives of values and eigenvalues by parameters; with --over: how points "
             "where a pair of eigenvalues passes the imaginary axis move"},
    {.name = "rest", .help = "only equilibria, no steady motions along symmetries"},
    {.name = "show", .argument = "NAME,...", .help = "which values to print"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_equilibria = {
    .name = "equilibria",
    .summary = "Find equilibria and steady motions, their stability and their branches",
    .usage = "MODEL [--from NAME=EXPR,...]... [--hold NAME[=EXPR],...] [--over NAME=LOW:HIGH]",
    .doc =
        "A steady motion is one that only moves along symmetries of the model: rolling on a\n"
        "circle, steady spin.  The symmetries are found automatically.  Newton's method "
        "begins\n"
        "at the model's start (or --from); of a family of steady motions the nearest is "
        "taken.\n"
        "Eigenvalues come from the exact Jacobian; directions along symmetries and along\n"
        "neighbouring steady motions are set apart, the rest decides about stability.\n"
        "With --over the branch is followed through the range of a parameter; the parameter "
        "may\n"
        "enter the equations or only the start.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = equilibria,
};
