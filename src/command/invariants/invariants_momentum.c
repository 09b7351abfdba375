/* noslip invariants --search momentum: prints what study/invariants/momentum.h finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/invariants/invariants.h"
#include "command/study.h"
#include "expr/print/print.h"
#include "study/invariants/momentum.h"

static const char *applies(const ns_model *model)
{
    if (!model->system->symmetry)
        return "momentum integrals need a `symmetry` block in the model";
    if (!model->system->symmetry->m)
        return "purely kinematic: the constraints leave no momentum along the symmetry, and "
               "the "
               "shape's own equations decide";
    if (model->system->symmetry->linear)
        return "the momentum equation has terms other than those quadratic in p and r': the "
               "Lagrangian has gyroscopic terms, or the constraints are affine";
    return NULL;
}

/* Everything one run of the command has found. */
typedef struct result {
    const ns_model *model;
    const ns_momentum *best;
    const ns_amended *amended;
    NS_LIST(const char *) notes; /* coordinates that cannot carry a frame, and why */
} result;

/* The variable that NAME=.. names; c->dim if there is none.  *rest: after the sign. */
static uint32_t variable(const ns_parallel *c, const char *text, const char **rest)
{
    const char *equals = strchr(text, '=');
    uint32_t i = 0;
    while (equals && i < c->dim &&
           (strlen(c->name[i]) != (size_t)(equals - text) ||
            strncmp(c->name[i], text, strlen(c->name[i])) != 0))
        i++;
    *rest = equals ? equals + 1 : text;
    return equals ? i : c->dim;
}

/* --region and --base */
static bool read_places(ns_host *host, const ns_arguments *a, const ns_parallel *c,
                        ns_momentum_options *o)
{
    o->low = NS_NEW_ARRAY(host->arena, double, c->dim + 1);
    o->high = NS_NEW_ARRAY(host->arena, double, c->dim + 1);
    o->base = NS_NEW_ARRAY(host->arena, double, c->dim + 1);
    for (uint32_t i = 0; i < c->dim; i++)
        o->low[i] = o->high[i] = o->base[i] = NAN;
    for (uint32_t k = 0; k < a->options.n; k++) {
        const ns_given *given = &a->options.at[k];
        const bool region = strcmp(given->option->name, "region") == 0;
        if (!region && strcmp(given->option->name, "base") != 0)
            continue;
        const char *rest;
        char *end = NULL, *last = NULL;
        const uint32_t i = variable(c, given->value, &rest);
        if (i == c->dim && c->along == UINT32_MAX && !ns_command_flag(a, "along"))
            continue; /* it may be the group coordinate of a later try */
        const double low = strtod(rest, &end);
        const double high = region && end != rest && *end == ':' ? strtod(end + 1, &last) : NAN;
        const bool good = i < c->dim && end != rest &&
                          (region ? last && !*last && low < high : !*end && isfinite(low));
        if (!good) {
            ns_command_wrong(host, "--%s %s: expected %s with one of the variables",
                             given->option->name, given->value, given->option->argument);
            return false;
        }
        *(region ? &o->low[i] : &o->base[i]) = low;
        if (region)
            o->high[i] = high;
    }
    return true;
}

/* ---- text -------------------------------------------------------------------------------- */

static void print_terms(ns_host *host, const ns_momentum *f)
{
    const struct {
        const char *name, *what;
        double size;
    } terms[] = {{"Q", "quadratic in p", f->size_Q},
                 {"tau", "p r'", f->size_tau},
                 {"D", "quadratic in r'", f->size_D}};
    ns_style_heading(host->out, &host->style_out,
                     "Momentum equation p' = Q p p + tau p r' + D r' r'");
    for (int i = 0; i < 3; i++)
        fprintf(host->out, "  %-4s (%s) %s, %.1e of the largest coefficient\n", terms[i].name,
                terms[i].what, terms[i].size > 1e-9 ? "present" : "vanishes", terms[i].size);
    if (f->c->pairs)
        fprintf(host->out, "  curvature of the connection for eta: %.1e (%s)\n", f->curvature,
                f->curvature > 1e-9 ? "not flat" : "flat");
    else
        fprintf(host->out, "  one variable: the connection for eta is flat\n");
}

static void print_region(ns_host *host, const ns_momentum *f)
{
    fprintf(host->out, "  region     ");
    for (uint32_t i = 0; i < f->c->dim; i++)
        fprintf(host->out, "%s%s from %.6g to %.6g", i ? ", " : "", f->c->name[i], f->low[i],
                f->high[i]);
    fprintf(host->out, "%s\n", f->c->dim ? "" : "a point");
}

static void print_head(ns_host *host, const ns_momentum *f, const char *symbol, uint32_t n)
{
    fprintf(host->out, " ");
    for (uint32_t i = 0; i < f->c->dim; i++)
        fprintf(host->out, " %14s", f->c->name[i]);
    for (uint32_t i = 0; i < f->found; i++)
        for (uint32_t e = 0; e < n; e++) {
            char name[32];
            snprintf(name, sizeof name, "%s%u.%u", symbol, i + 1, e + 1);
            fprintf(host->out, " %20s", name);
        }
}

/* Component e of the field eta_i at a point of the table. */
static double eta(const ns_momentum *f, uint32_t at, uint32_t i, uint32_t e)
{
    const uint32_t m = f->c->m;
    double sum = 0;
    for (uint32_t b = 0; b < m; b++)
        sum += f->Phi[((size_t)at * m + e) * m + b] * f->eta0[i * m + b];
    return sum;
}

static void print_eta(ns_host *host, const ns_momentum *f)
{
    const ns_symmetry *y = f->c->y;
    const uint32_t m = f->c->m, k = y->k, dim = f->c->dim;
    ns_style_heading(host->out, &host->style_out,
                     "Fields eta along the frame e_1 .. e_m, and the Wronskian");
    print_head(host, f, "eta", m);
    fprintf(host->out, " %20s %11s\n", "W", "by (6.16)");
    for (uint32_t at = 0; at < f->points; at++) {
        fprintf(host->out, " ");
        for (uint32_t i = 0; i < dim; i++)
            fprintf(host->out, " %14.8g", f->at[at * dim + i]);
        for (uint32_t i = 0; i < f->found; i++)
            for (uint32_t e = 0; e < m; e++)
                fprintf(host->out, " %20.15g", eta(f, at, i, e));
        fprintf(host->out, " %20.15g %+10.1e\n", f->W[at], f->W_trace[at] / f->W[at] - 1);
    }
    ns_style_heading(host->out, &host->style_out,
                     "The same along the basis of the Lie algebra");
    print_head(host, f, "field", k);
    fputc('\n', host->out);
    for (uint32_t at = 0; at < f->points; at++) {
        fprintf(host->out, " ");
        for (uint32_t i = 0; i < dim; i++)
            fprintf(host->out, " %14.8g", f->at[at * dim + i]);
        for (uint32_t i = 0; i < f->found * k; i++)
            fprintf(host->out, " %20.15g", f->field[(size_t)at * f->found * k + i]);
        fputc('\n', host->out);
    }
    if (!f->constant)
        return;
    ns_style_heading(host->out, &host->style_out,
                     "d eta = -T eta with constant T: eta is its exponential");
    for (uint32_t i = 0; i < dim * m * m; i++) {
        ns_text text = ns_text_new(host->arena);
        if (ns_graph_is_zero(y->d->graph, f->c->T[i]))
            continue;
        ns_print_expression(y->d->graph, f->c->T[i], NS_PRINT_TEXT, NULL, &text);
        fprintf(host->out, "  T_%s[%u,%u] = %s\n", f->c->name[i / (m * m)], i / m % m + 1,
                i % m + 1, ns_text_string(&text));
    }
}

static void print_run(ns_host *host, const ns_momentum *f)
{
    char title[80];
    snprintf(title, sizeof title, "Integrals along the run to t = %g s", f->until);
    ns_style_heading(host->out, &host->style_out, title);
    for (uint32_t i = 0; i < f->found; i++)
        fprintf(host->out, "  <p, eta%u>  %20.15g   drift %.1e\n", i + 1, f->value[i],
                f->drift[i]);
    fprintf(host->out,
            "  eta carried along the motion and along a straight line differ by %.1e\n",
            f->path_difference);
    if (f->status > 0)
        fprintf(host->out, "  the run stopped: %s\n", f->reason);
}

static void print_amended(ns_host *host, const ns_momentum *f, const ns_amended *u)
{
    ns_style_heading(host->out, &host->style_out,
                     "Amended potential U_c on this level of the integrals");
    fprintf(host->out, "  energy h                    %.15g\n", u->h);
    fprintf(host->out, "  U_c <= h for %-8s between %.15g and %.15g\n", f->c->name[0], u->low,
            u->high);
    fprintf(host->out, "  the run went from           %.12g to  %.12g\n", u->run_low,
            u->run_high);
    fprintf(host->out, "  least (h - U_c)/scale along the run %.1e\n", u->least);
    for (uint32_t k = 0; k < u->points; k++)
        fprintf(host->out, "  %14.8g %20.15g\n", u->r[k], u->U[k]);
}

static void print(ns_host *host, const result *r)
{
    const ns_momentum *f = r->best;
    const ns_symmetry *y = f->c->y;
    fprintf(host->out, "%sMomentum integrals: %s%s\n", host->style_out.bold,
            r->model->description->title, host->style_out.plain);
    fprintf(host->out, "  group      %s, %u of %u directions allowed by the constraints\n",
            y->name, y->m, y->k);
    print_region(host, f);
    for (uint32_t i = 0; i < r->notes.n; i++)
        fprintf(host->out, "  note       %s\n", r->notes.at[i]);
    print_terms(host, f);
    ns_style_heading(host->out, &host->style_out, "Decision");
    fprintf(host->out, "  %u integral%s linear in the momenta p1 .. p%u%s%s%s\n", f->found,
            f->found == 1 ? "" : "s", y->m,
            f->c->along == UINT32_MAX ? ", with fields that depend on the shape"
                                      : ", with fields that depend on ",
            f->c->along == UINT32_MAX ? "" : f->c->name[f->c->dim - 1],
            f->c->along == UINT32_MAX || y->sigma == 0 ? "" : " and the shape");
    fprintf(host->out, "  singular values of the conditions:");
    for (uint32_t a = 0; a < y->m; a++)
        fprintf(host->out, " %.1e", f->sigma[a]);
    fputc('\n', host->out);
    if (!f->found)
        return;
    print_eta(host, f);
    print_run(host, f);
    if (r->amended)
        print_amended(host, f, r->amended);
}

/* ---- facts, tables, figure --------------------------------------------------------------- */

static void add_places(ns_sheet *sheet, ns_sheet_table *t, const ns_momentum *f)
{
    for (uint32_t i = 0; i < f->c->dim; i++) {
        double *place = ns_sheet_numbers(sheet, t, f->c->name[i], "");
        for (uint32_t at = 0; at < f->points; at++)
            place[at] = f->at[at * f->c->dim + i];
    }
}

/* eta along the frame with the Wronskian, and along the basis of the Lie algebra. */
static void add_fields(ns_arena *a, ns_sheet *sheet, const ns_momentum *f)
{
    const uint32_t m = f->c->m, k = f->c->y->k;
    ns_sheet_table *t = ns_sheet_add(sheet, "eta", f->points);
    add_places(sheet, t, f);
    for (uint32_t i = 0; i < f->found * m; i++) {
        const char *name = ns_arena_format(a, "eta%u.%u", i / m + 1, i % m + 1);
        double *column = ns_sheet_numbers(sheet, t, name, "");
        for (uint32_t at = 0; at < f->points; at++)
            column[at] = eta(f, at, i / m, i % m);
    }
    ns_sheet_column_add(sheet, t, "W", "", f->W);
    ns_sheet_column_add(sheet, t, "W_law", "", f->W_trace);
    t = ns_sheet_add(sheet, "fields", f->points);
    add_places(sheet, t, f);
    for (uint32_t i = 0; i < f->found * k; i++) {
        const char *name = ns_arena_format(a, "field%u.%u", i / k + 1, i % k + 1);
        double *column = ns_sheet_numbers(sheet, t, name, "");
        for (uint32_t at = 0; at < f->points; at++)
            column[at] = f->field[(size_t)at * f->found * k + i];
    }
}

static ns_sheet *make_sheet(ns_host *host, const result *r)
{
    const ns_momentum *f = r->best;
    const ns_amended *u = r->amended;
    ns_sheet *sheet = ns_sheet_new(host->arena, "invariants", r->model->description->title);
    ns_sheet_text(sheet, "search", "momentum");
    ns_sheet_text(sheet, "group", f->c->y->name);
    ns_sheet_number(sheet, "momenta", f->c->m);
    ns_sheet_number(sheet, "found", f->found);
    ns_sheet_number(sheet, "Q", f->size_Q);
    ns_sheet_number(sheet, "tau", f->size_tau);
    ns_sheet_number(sheet, "D", f->size_D);
    ns_sheet_number(sheet, "curvature", f->curvature);
    if (f->found) {
        ns_sheet_number(sheet, "path_difference", f->path_difference);
        add_fields(host->arena, sheet, f);
        ns_sheet_table *t = ns_sheet_add(sheet, "integrals", f->found);
        ns_sheet_column_add(sheet, t, "value", "", f->value);
        ns_sheet_column_add(sheet, t, "drift", "", f->drift);
    }
    ns_sheet_table *t = ns_sheet_add(sheet, "singular", f->c->m);
    ns_sheet_column_add(sheet, t, "sigma", "", f->sigma);
    if (!u)
        return sheet;
    ns_sheet_number(sheet, "energy", u->h);
    ns_sheet_number(sheet, "low", u->low);
    ns_sheet_number(sheet, "high", u->high);
    ns_sheet_number(sheet, "run_low", u->run_low);
    ns_sheet_number(sheet, "run_high", u->run_high);
    ns_sheet_number(sheet, "least", u->least);
    t = ns_sheet_add(sheet, "amended", u->points);
    ns_sheet_column_add(sheet, t, f->c->name[0], "", u->r);
    ns_sheet_column_add(sheet, t, "U", "J", u->U);
    return sheet;
}

/* eta over one variable, and the amended potential with the energy; NULL if there is nothing
 * to draw. */
static ns_plot *draw(ns_host *host, const result *r)
{
    const ns_momentum *f = r->best;
    const uint32_t m = f->c->m;
    if (!f->found || f->c->dim != 1)
        return NULL;
    ns_plot *plot = ns_plot_new(host->arena, r->model->description->title);
    for (uint32_t i = 0; i < f->found; i++) {
        ns_plot_panel *panel = ns_plot_add(plot, ns_arena_format(host->arena, "eta%u", i + 1),
                                           f->c->name[0], "", "along the frame", "");
        for (uint32_t e = 0; e < m; e++) {
            double *y = NS_NEW_ARRAY(host->arena, double, f->points + 1);
            for (uint32_t at = 0; at < f->points; at++)
                y[at] = eta(f, at, i, e);
            ns_plot_line(panel, ns_arena_format(host->arena, "e%u", e + 1), f->points, f->at,
                         y);
        }
    }
    if (!r->amended)
        return plot;
    ns_plot_panel *panel = ns_plot_add(plot, "amended potential", f->c->name[0], "", "U", "J");
    ns_plot_line(panel, "U", r->amended->points, r->amended->r, r->amended->U);
    ns_plot_at(panel, "energy", r->amended->h);
    return plot;
}

/* Names of --region and --base must be coordinates of the model: others would be ignored. */
static bool known_places(ns_host *host, const ns_arguments *a, const ns_model *model)
{
    const ns_description *d = model->description;
    for (uint32_t k = 0; k < a->options.n; k++) {
        const ns_given *given = &a->options.at[k];
        if (strcmp(given->option->name, "region") != 0 &&
            strcmp(given->option->name, "base") != 0)
            continue;
        const size_t length = strcspn(given->value, "=");
        bool known = false;
        for (uint32_t i = 0; i < d->coordinates.n; i++)
            known = known || (strlen(d->coordinates.at[i].name) == length &&
                              strncmp(d->coordinates.at[i].name, given->value, length) == 0);
        if (!known) {
            ns_command_wrong(host, "--%s %s: `%.*s` is not a coordinate", given->option->name,
                             given->value, (int)length, given->value);
            return false;
        }
    }
    return true;
}

/* Places that name a coordinate the fields do not depend on. */
static void note_unused(ns_host *host, const ns_arguments *a, result *r)
{
    for (uint32_t k = 0; k < a->options.n; k++) {
        const ns_given *given = &a->options.at[k];
        const char *rest;
        if ((strcmp(given->option->name, "region") == 0 ||
             strcmp(given->option->name, "base") == 0) &&
            variable(r->best->c, given->value, &rest) == r->best->c->dim)
            NS_PUSH(host->arena, r->notes,
                    ns_arena_format(host->arena,
                                    "--%s %s was not needed: the fields do not "
                                    "depend on it",
                                    given->option->name, given->value));
    }
}

/* ---- the search -------------------------------------------------------------------------- */

static bool try_one(ns_host *host, const ns_arguments *a, const ns_model *model, uint32_t along,
                    result *r, bool must)
{
    const char *why = NULL, *message = "";
    const ns_parallel *c = ns_momentum_connection(model->system, along, &why);
    if (!c) {
        NS_PUSH(host->arena, r->notes, why);
        if (must)
            ns_command_wrong(host, "%s", why);
        return !must;
    }
    const ns_run_options run = ns_model_run_options(model);
    double points = 0;
    ns_momentum_options o = {.until = run.until};
    if (!ns_command_number(host, a, "until", &o.until) ||
        !ns_command_number(host, a, "points", &points) || !read_places(host, a, c, &o))
        return false;
    if (!isfinite(o.until) || o.until <= run.t0 || points < 0 || points > 100000) {
        ns_command_wrong(host, "--until must come after the start, --points be positive");
        return false;
    }
    o.points = (uint32_t)points;
    const ns_momentum *f = ns_momentum_search(model->system, c, &o, &run, model->p, model->x0,
                                              &message);
    if (!f) {
        ns_command_wrong(host, "%s", message);
        return false;
    }
    if (!r->best || f->found > r->best->found)
        r->best = f;
    return true;
}

static int search(ns_host *host, const ns_arguments *a, ns_model *model, bool as_json)
{
    const ns_symmetry *y = model->system->symmetry;
    const ns_run_options run = ns_model_run_options(model);
    result r = {.model = model};
    const char *along = ns_command_text(a, "along"), *message = "";
    if (!known_places(host, a, model))
        return ns_status_exit(NS_ERR_USAGE);
    if (along) {
        uint32_t i = 0;
        while (i < y->k &&
               strcmp(model->description->coordinates.at[y->group[i]].name, along) != 0)
            i++;
        if (i == y->k)
            return ns_command_wrong(host, "--along %s: that is not a group coordinate", along);
        if (!try_one(host, a, model, y->group[i], &r, true))
            return ns_status_exit(NS_ERR_USAGE);
    } else {
        if (!try_one(host, a, model, UINT32_MAX, &r, true))
            return ns_status_exit(NS_ERR_USAGE);
        for (uint32_t i = 0; i < y->k && r.best->found < y->m; i++)
            if (!try_one(host, a, model, y->group[i], &r, false))
                return ns_status_exit(NS_ERR_USAGE);
    }
    note_unused(host, a, &r);
    if (r.best->all && r.best->c->dim == 1 && y->sigma == 1)
        r.amended = ns_momentum_amended(model->system, r.best, &run, model->p, model->x0,
                                        &message);
    if (!as_json && !host->quiet)
        print(host, &r);
    return ns_study_finish(host, a, model, make_sheet(host, &r), draw(host, &r));
}

static const char *const options[] = {"until",  "along", "region", "base",
                                      "points", "out",   "report", NULL};

const ns_invariant_search ns_invariants_momentum = {
    .name = "momentum",
    .options = options,
    .summary = "integrals linear in the momenta of a symmetry",
    .applies = applies,
    .run = search,
};
