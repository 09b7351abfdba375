/* noslip invariants --search polynomial: prints what study/invariants/integrals.h finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/invariants/invariants.h"
#include "command/study.h"
#include "study/invariants/integrals.h"

static const char *applies(const ns_model *model)
{
    (void)model;
    return NULL;
}

/* ---- options ----------------------------------------------------------------------------- */

typedef NS_LIST(ns_atom) atoms;

static bool read_atoms(ns_host *host, ns_model *model, const ns_arguments *a,
                       const char *option, atoms *out)
{
    const char *text = ns_command_text(a, option);
    if (!text)
        return true;
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    const char *title = ns_arena_format(host->arena, "--%s", option);
    for (uint32_t i = 0; i < words.n; i++) {
        ns_atom atom = {.name = words.at[i]};
        if (!ns_study_expression(host, model, title, words.at[i], &atom.value))
            return false;
        NS_PUSH(host->arena, *out, atom);
    }
    return true;
}

static bool read_degrees(ns_host *host, const ns_arguments *a, ns_family *f)
{
    const char *text = ns_command_text(a, "degree");
    char *end = NULL, *last = NULL;
    if (!text)
        return true;
    const long v = strtol(text, &end, 10), s = *end == ',' ? strtol(end + 1, &last, 10) : 0;
    if (end == text || (*end && (!last || last == end + 1 || *last)) || v < 0 || v > 12 ||
        s < 0 || s > 12) {
        ns_command_wrong(host, "--degree expects one or two whole numbers from 0 to 12, as in "
                               "2,2: of the velocities, of the shape variables");
        return false;
    }
    f->degree_velocity = (uint32_t)v;
    if (last)
        f->degree_shape = (uint32_t)s;
    return true;
}

bool ns_invariants_read_family(ns_host *host, const ns_arguments *a, ns_model *model,
                               ns_flow *flow, ns_family *f, bool *reduced)
{
    atoms velocity = {0}, shape = {0}, basis = {0};
    f->degree_velocity = f->degree_shape = UINT32_MAX;
    if (!read_atoms(host, model, a, "velocities", &velocity) ||
        !read_atoms(host, model, a, "shape", &shape) ||
        !read_atoms(host, model, a, "basis", &basis) || !read_degrees(host, a, f))
        return false;
    for (uint32_t i = 0; i < velocity.n; i++)
        NS_PUSH(host->arena, f->velocity, velocity.at[i]);
    for (uint32_t i = 0; i < shape.n; i++)
        NS_PUSH(host->arena, f->shape, shape.at[i]);
    for (uint32_t i = 0; i < basis.n; i++)
        NS_PUSH(host->arena, f->single, basis.at[i]);
    if (basis.n && !velocity.n && !shape.n && !ns_command_flag(a, "degree"))
        f->degree_velocity = f->degree_shape = 0; /* these functions and no others */
    ns_family_complete(flow, f, reduced);
    if (ns_family_size(f) > NS_INTEGRALS_MOST) {
        ns_command_wrong(host,
                         "the family has %u functions, more than %d: lower --degree or name "
                         "fewer variables",
                         ns_family_size(f), NS_INTEGRALS_MOST);
        return false;
    }
    return true;
}

/* ---- output ------------------------------------------------------------------------------ */

void ns_invariants_print_names(ns_host *host, const char *title, const ns_atom *at, uint32_t n)
{
    fprintf(host->out, "  %-12s", title);
    for (uint32_t i = 0; i < n; i++)
        fprintf(host->out, "%s%s", i ? ", " : "", at[i].name);
    fprintf(host->out, "%s\n", n ? "" : "none");
}

static void print_integral(ns_host *host, const ns_integral *I, uint32_t number)
{
    fprintf(host->out, "\n  invariant integral%u = %s\n", number, I->text);
    if (I->note[0])
        fprintf(host->out, "    known as     %s\n", I->note);
    if (I->identically)
        fprintf(host->out, "    verified     its rate is zero by the rules of algebra\n");
    fprintf(host->out, "    %s     rate %.1e of its terms at 24 new states, in %s precision\n",
            I->identically ? "        " : "verified", I->rate,
            I->fine ? "quadruple" : "double");
    fprintf(host->out, "    coefficients %s\n",
            I->in_parameters ? "as written hold for other values of the parameters too"
            : I->persists    ? "are numbers for these values of the parameters; the integral "
                               "exists for others too"
                          : "are for these values of the parameters: with others the integral "
                            "was not found");
    fprintf(host->out, "    run          changes by %.1e of its terms\n", I->drift);
}

static void print(ns_host *host, const ns_model *model, const ns_integrals *r, bool reduced)
{
    const ns_family *f = r->family;
    fprintf(host->out, "%s%s%s: integrals of motion\n", host->style_out.bold,
            model->description->title, host->style_out.plain);
    ns_style_heading(host->out, &host->style_out, "Family");
    if (f->velocity.n + f->shape.n && f->degree_velocity + f->degree_shape) {
        ns_invariants_print_names(host, "velocities", f->velocity.at, f->velocity.n);
        ns_invariants_print_names(host, "shape", f->shape.at, f->shape.n);
        fprintf(host->out, "  %-12sup to %u in the velocities, %u in the shape%s\n", "degree",
                f->degree_velocity, f->degree_shape,
                reduced ? " (lowered: the family would be too large)" : "");
    }
    ns_invariants_print_names(host, "further", f->single.at, f->single.n);
    fprintf(host->out, "  %-12s%u, of which %u depend on others on the manifold\n", "functions",
            r->terms, r->relations);
    ns_style_heading(host->out, &host->style_out, "Decision");
    fprintf(host->out, "  %u combination%s with rate zero at %u states: %u new, %u set apart\n",
            r->zero, r->zero == 1 ? "" : "s", r->states, r->found.n, r->trivial);
    fprintf(host->out, "  rates (1/s) of functions of variance one:");
    for (uint32_t k = r->zero > 3 ? r->zero - 3 : 0; k < r->zero + 3 && k < r->n; k++)
        fprintf(host->out, "%s%.1e", k == r->zero ? " | " : " ", r->sigma[k]);
    fprintf(host->out, "%s\n", r->zero + 3 < r->n ? " ..." : "");
    fprintf(host->out, "  margin between found and not found: %.1e\n", r->margin);
    if (r->apart.n) {
        fprintf(host->out, "  set apart:");
        for (uint32_t i = 0; i < r->apart.n; i++)
            fprintf(host->out, "%s %s", i ? "," : "", r->apart.at[i]);
        fputc('\n', host->out);
    }
    ns_style_heading(host->out, &host->style_out, "Integrals");
    if (!r->found.n)
        fprintf(host->out, "  none in this family%s\n",
                f->energy ? " except the energy and its functions" : "");
    for (uint32_t i = 0; i < r->found.n; i++)
        print_integral(host, r->found.at[i], i + 1);
}

static void add_tables(ns_host *host, ns_sheet *sheet, const ns_integrals *r)
{
    ns_arena *a = host->arena;
    ns_sheet_number(sheet, "functions", r->terms);
    ns_sheet_number(sheet, "relations", r->relations);
    ns_sheet_number(sheet, "states", r->states);
    ns_sheet_number(sheet, "zero", r->zero);
    ns_sheet_number(sheet, "found", r->found.n);
    ns_sheet_number(sheet, "margin", r->margin);
    const uint32_t n = r->found.n;
    ns_sheet_table *t = ns_sheet_add(sheet, "integrals", n);
    const char **text = NS_NEW_ARRAY(a, const char *, n + 1);
    const char **note = NS_NEW_ARRAY(a, const char *, n + 1);
    double *rate = NS_NEW_ARRAY(a, double, n + 1), *drift = NS_NEW_ARRAY(a, double, n + 1);
    double *exact = NS_NEW_ARRAY(a, double, n + 1), *terms = NS_NEW_ARRAY(a, double, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        text[i] = r->found.at[i]->text;
        note[i] = r->found.at[i]->note;
        rate[i] = r->found.at[i]->rate;
        drift[i] = r->found.at[i]->drift;
        exact[i] = r->found.at[i]->in_parameters;
        terms[i] = r->found.at[i]->n;
    }
    ns_sheet_words_add(sheet, t, "integral", text);
    ns_sheet_words_add(sheet, t, "known_as", note);
    ns_sheet_column_add(sheet, t, "terms", "", terms);
    ns_sheet_column_add(sheet, t, "in_parameters", "", exact);
    ns_sheet_column_add(sheet, t, "rate", "", rate);
    ns_sheet_column_add(sheet, t, "drift", "", drift);
    t = ns_sheet_add(sheet, "singular", r->n);
    ns_sheet_column_add(sheet, t, "sigma", "1/s", r->sigma);
}

static ns_plot *draw(ns_host *host, const ns_model *model, const ns_integrals *r)
{
    ns_plot *plot = ns_plot_new(host->arena, model->description->title);
    double *number = NS_NEW_ARRAY(host->arena, double, r->n + 1);
    double *shown = NS_NEW_ARRAY(host->arena, double, r->n + 1);
    for (uint32_t k = 0; k < r->n; k++) {
        number[k] = k + 1;
        shown[k] = ns_max(r->sigma[k], 1e-18 * r->sigma[r->n - 1]);
    }
    plot->subtitle = "rates of functions of variance one, in the order of their size";
    ns_plot_panel *panel = ns_plot_add(plot, "", "number", "", "rate", "1/s");
    panel->y.log = true;
    if (r->zero)
        ns_plot_points(panel, "integrals", r->zero, number, shown)->marker = NS_PLOT_CIRCLE;
    if (r->n > r->zero)
        ns_plot_points(panel, "no integrals", r->n - r->zero, number + r->zero,
                       shown + r->zero);
    return plot;
}

/* ---- the search -------------------------------------------------------------------------- */

int ns_invariants_polynomial_part(ns_host *host, const ns_arguments *a, ns_model *model,
                                  bool quiet, ns_sheet *sheet, ns_plot **plot)
{
    ns_family family = {.degree_velocity = 0};
    bool reduced = false;
    ns_integrals_options o = {.run = ns_model_run_options(model)};
    ns_flow *flow = ns_study_flow(host, model, false);
    if (!flow || !ns_command_number(host, a, "until", &o.run.until) ||
        !ns_study_count(host, a, "states", 10, &o.states) ||
        !ns_invariants_read_family(host, a, model, flow, &family, &reduced))
        return ns_status_exit(NS_ERR_USAGE);
    const char *message = "";
    ns_study_progress progress = ns_study_progress_new(host, "search", 1);
    o.progress = ns_study_progress_draw;
    o.context = &progress;
    const ns_integrals *r = ns_integrals_search(flow, &family, &o, model->x0, &message);
    ns_study_progress_end(&progress);
    if (!r)
        return ns_command_wrong(host, "%s", message);
    if (!quiet)
        print(host, model, r, reduced);
    add_tables(host, sheet, r);
    *plot = draw(host, model, r);
    return 0;
}

int ns_invariants_run(ns_host *host, const ns_arguments *a, ns_model *model, bool as_json,
                      const char *search, ns_invariants_part *const *parts, size_t n)
{
    ns_plot *plot = NULL;
    ns_sheet *sheet = ns_sheet_new(host->arena, "invariants", model->description->title);
    ns_sheet_text(sheet, "search", search);
    int status = 0;
    for (size_t i = 0; i < n && !status && !*host->stop; i++)
        status = parts[i](host, a, model, as_json || host->quiet, sheet, &plot);
    return status ? status : ns_study_finish(host, a, model, sheet, plot);
}

static int polynomial(ns_host *host, const ns_arguments *a, ns_model *model, bool as_json)
{
    static ns_invariants_part *const parts[] = {ns_invariants_polynomial_part};
    return ns_invariants_run(host, a, model, as_json, "polynomial", parts, 1);
}

static const char *const options[] = {"velocities", "shape", "basis",  "degree", "states",
                                      "until",      "out",   "report", NULL};

const ns_invariant_search ns_invariants_polynomial = {
    .name = "polynomial",
    .summary = "polynomials in velocities and shape variables, or functions given by --basis",
    .options = options,
    .applies = applies,
    .run = polynomial,
};
