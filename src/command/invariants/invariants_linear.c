/* noslip invariants --search linear: integrals linear in the velocities with functions of one
 * shape variable, and --search all: these and polynomials. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/invariants/invariants.h"
#include "command/study.h"

static const char *applies(const ns_model *model)
{
    (void)model;
    return NULL;
}

/* ---- options ----------------------------------------------------------------------------- */

typedef struct request {
    ns_family family;
    ns_atom along; /* name NULL: all variables of the family */
    double low, high;
    uint32_t points; /* rows of the table */
} request;

/* --region NAME=LOW:HIGH for the variable of --along */
static bool read_region(ns_host *host, const ns_arguments *a, request *q)
{
    const char *text = NULL;
    for (uint32_t k = 0; k < a->options.n; k++)
        if (strcmp(a->options.at[k].option->name, "region") == 0) {
            if (text) {
                ns_command_wrong(host, "--region can be given once with --search linear");
                return false;
            }
            text = a->options.at[k].value;
        }
    q->low = q->high = NAN;
    if (!text)
        return true;
    const char *equals = strrchr(text, '=');
    char *end = NULL, *last = NULL;
    if (equals && (!q->along.name || strlen(q->along.name) != (size_t)(equals - text) ||
                   strncmp(q->along.name, text, (size_t)(equals - text)) != 0))
        equals = NULL;
    if (equals) {
        q->low = strtod(equals + 1, &end);
        q->high = *end == ':' ? strtod(end + 1, &last) : (double)NAN;
    }
    if (!equals || !last || last == end + 1 || *last || !(q->low < q->high)) {
        ns_command_wrong(host, "--region %s: expected NAME=LOW:HIGH with the NAME of --along",
                         text);
        return false;
    }
    return true;
}

static bool read_request(ns_host *host, const ns_arguments *a, ns_model *model, ns_flow *flow,
                         request *q)
{
    bool reduced;
    const char *along = ns_command_text(a, "along");
    q->points = 9;
    if (along) {
        q->along.name = along;
        if (!ns_study_expression(host, model, "--along", along, &q->along.value))
            return false;
    }
    if (!ns_invariants_read_family(host, a, model, flow, &q->family, &reduced) ||
        !read_region(host, a, q) || !ns_study_count(host, a, "points", 2, &q->points))
        return false;
    if (!ns_command_flag(a, "degree") || !strchr(ns_command_text(a, "degree"), ','))
        q->family.degree_shape = 1;
    return true;
}

/* ---- the search -------------------------------------------------------------------------- */

/* The variable with most integrals; NULL after saying what is wrong.  *tried: in words. */
static const ns_linear_integrals *look(ns_host *host, ns_model *model, ns_flow *flow,
                                       const request *q, ns_integrals_options *o,
                                       ns_study_words *tried)
{
    const ns_linear_integrals *best = NULL;
    const uint32_t n = q->along.name ? 1 : q->family.variable.n;
    const char *message = "";
    for (uint32_t i = 0; i < n; i++) {
        const ns_atom *u = q->along.name ? &q->along : &q->family.variable.at[i];
        const ns_linear_integrals *r = ns_linear_search(flow, &q->family, o, model->x0, u,
                                                        q->low, q->high, &message);
        if (!r) {
            ns_command_wrong(host, "%s", message);
            return NULL;
        }
        NS_PUSH(host->arena, *tried,
                r->found ? ns_arena_format(host->arena, "%-12s %u", u->name, r->rank)
                         : ns_arena_format(host->arena, "%-12s none: %s", u->name, r->why));
        if (!best || r->rank > best->rank || (r->rank == best->rank && r->parts < best->parts))
            best = r;
        if (r->rank >= 2 && r->rank == r->n)
            break; /* all that one value of the variable allows */
    }
    if (!best)
        ns_command_wrong(host, "the model has no shape variable; name one with --along");
    return best;
}

/* ---- output ------------------------------------------------------------------------------ */

static void print(ns_host *host, const ns_linear_integrals *r, const ns_family *f,
                  const ns_study_words *tried, uint32_t rows, bool formulas)
{
    ns_style_heading(host->out, &host->style_out,
                     "Linear in the velocities, coefficients functions of one variable");
    ns_invariants_print_names(host, "velocities", f->velocity.at, f->velocity.n);
    ns_invariants_print_names(host, "shape", f->shape.at, f->shape.n);
    for (uint32_t i = 0; i < tried->n; i++)
        fprintf(host->out, "  %-14s%s\n", i ? "" : "functions of", tried->at[i]);
    if (!r->found)
        return;
    fprintf(host->out, "\n  %u integral%s I = sum of c(%s) times\n", r->found,
            r->found == 1 ? "" : "s", r->along.name);
    if (r->rank < r->found)
        fprintf(host->out, "  (%u are independent functions at one state)\n", r->rank);
    for (uint32_t i = 0; i < r->parts; i++)
        fprintf(host->out, "    part %-3u %s\n", i + 1, r->part[i]);
    fprintf(host->out, "  with coefficients that solve a linear equation c' = T c, here for\n");
    fprintf(host->out, "  %s from %.6g to %.6g, at %u Chebyshev points\n", r->along.name,
            r->low, r->high, r->points);
    fprintf(host->out, "  singular values of the equation: %.1e | %.1e, margin %.1e\n",
            r->sigma[r->found - 1], r->sigma[r->found], r->margin);
    fprintf(host->out, "  last Chebyshev coefficients      %.1e of the largest\n", r->tail);
    fprintf(host->out, "  rate at new states               %.1e of its terms\n", r->rate);
    for (uint32_t f_ = 0; f_ < r->found; f_++)
        fprintf(host->out, "  linear%-2u %22.15g on the run, changes by %.1e on three runs\n",
                f_ + 1, r->value[f_], r->drift[f_]);
    fprintf(host->out, "\n  %-14s", r->along.name);
    for (uint32_t k = 0; k < r->found * r->parts; k++)
        fprintf(host->out, "  linear%u.part%-9u", k / r->parts + 1, k % r->parts + 1);
    fputc('\n', host->out);
    rows = rows < r->points ? rows : r->points;
    for (uint32_t j = rows; j-- > 0;) {
        const uint32_t at = (r->points - 1) * j / (rows - 1);
        fprintf(host->out, "  %-14.8g", r->u[at]);
        for (uint32_t k = 0; k < r->found * r->parts; k++)
            fprintf(host->out, "  % -21.15g", r->c[(size_t)k * r->points + at]);
        fputc('\n', host->out);
    }
    for (uint32_t k = 0; k < r->found && formulas; k++)
        fprintf(host->out, "\n  invariant linear%u = %s\n", k + 1, r->text[k]);
    if (!formulas)
        fprintf(host->out, "\n  (--formulas prints them as lines for the model)\n");
}

static void add_tables(ns_host *host, ns_sheet *sheet, const ns_linear_integrals *r)
{
    ns_arena *a = host->arena;
    ns_sheet_text(sheet, "variable", r->along.name);
    ns_sheet_number(sheet, "linear_found", r->found);
    if (!r->found)
        return;
    ns_sheet_number(sheet, "linear_independent", r->rank);
    ns_sheet_number(sheet, "linear_margin", r->margin);
    ns_sheet_number(sheet, "linear_rate", r->rate);
    ns_sheet_number(sheet, "linear_tail", r->tail);
    ns_sheet_table *t = ns_sheet_add(sheet, "coefficients", r->points);
    ns_sheet_column_add(sheet, t, r->along.name, "", r->u);
    for (uint32_t k = 0; k < r->found * r->parts; k++)
        ns_sheet_column_add(
            sheet, t, ns_arena_format(a, "linear%u.part%u", k / r->parts + 1, k % r->parts + 1),
            "", r->c + (size_t)k * r->points);
    t = ns_sheet_add(sheet, "parts", r->parts);
    ns_sheet_words_add(sheet, t, "part", r->part);
    t = ns_sheet_add(sheet, "linear", r->found);
    ns_sheet_words_add(sheet, t, "integral", r->text);
    ns_sheet_column_add(sheet, t, "value", "", r->value);
    ns_sheet_column_add(sheet, t, "drift", "", r->drift);
    t = ns_sheet_add(sheet, "linear_singular", r->n_sigma);
    ns_sheet_column_add(sheet, t, "sigma", "", r->sigma);
}

static ns_plot *draw(ns_host *host, ns_plot *plot, const ns_model *model,
                     const ns_linear_integrals *r)
{
    if (!r->found)
        return plot;
    plot = plot ? plot : ns_plot_new(host->arena, model->description->title);
    for (uint32_t f = 0; f < r->found; f++) {
        ns_plot_panel *panel = ns_plot_add(plot,
                                           ns_arena_format(host->arena, "linear%u", f + 1),
                                           r->along.name, "", "coefficient", "");
        for (uint32_t i = 0; i < r->parts; i++)
            ns_plot_line(panel, r->part[i], r->points, r->u,
                         r->c + ((size_t)f * r->parts + i) * r->points);
    }
    return plot;
}

/* Search and output of one of the two, into a sheet that both share. */
int ns_invariants_linear_part(ns_host *host, const ns_arguments *a, ns_model *model, bool quiet,
                              ns_sheet *sheet, ns_plot **plot)
{
    request q = {.points = 0};
    ns_integrals_options o = {.run = ns_model_run_options(model)};
    ns_study_words tried = {0};
    ns_flow *flow = ns_study_flow(host, model, false);
    if (!flow || !ns_command_number(host, a, "until", &o.run.until) ||
        !read_request(host, a, model, flow, &q))
        return ns_status_exit(NS_ERR_USAGE);
    ns_study_progress progress = ns_study_progress_new(host, "search", 1);
    o.progress = ns_study_progress_draw;
    o.context = &progress;
    const ns_linear_integrals *r = look(host, model, flow, &q, &o, &tried);
    ns_study_progress_end(&progress);
    if (!r)
        return ns_status_exit(NS_ERR_USAGE);
    if (!quiet)
        print(host, r, &q.family, &tried, q.points, ns_command_flag(a, "formulas"));
    add_tables(host, sheet, r);
    *plot = draw(host, *plot, model, r);
    return 0;
}

static int linear(ns_host *host, const ns_arguments *a, ns_model *model, bool as_json)
{
    static ns_invariants_part *const parts[] = {ns_invariants_linear_part};
    if (!as_json && !host->quiet)
        fprintf(host->out, "%s%s%s: integrals of motion\n", host->style_out.bold,
                model->description->title, host->style_out.plain);
    return ns_invariants_run(host, a, model, as_json, "linear", parts, 1);
}

static int all(ns_host *host, const ns_arguments *a, ns_model *model, bool as_json)
{
    static ns_invariants_part *const parts[] = {ns_invariants_polynomial_part,
                                                ns_invariants_linear_part};
    return ns_invariants_run(host, a, model, as_json, "all", parts, 2);
}

static const char *const linear_options[] = {"velocities", "shape",  "degree", "along",
                                             "region",     "points", "until",  "formulas",
                                             "out",        "report", NULL};

const ns_invariant_search ns_invariants_linear = {
    .name = "linear",
    .summary = "linear in the velocities, coefficients functions of one variable",
    .options = linear_options,
    .applies = applies,
    .run = linear,
};

static const char *const all_options[] = {"velocities", "shape", "until",  "formulas",
                                          "states",     "out",   "report", NULL};

const ns_invariant_search ns_invariants_all = {
    .name = "all",
    .summary = "polynomial, then linear",
    .options = all_options,
    .applies = applies,
    .run = all,
};
