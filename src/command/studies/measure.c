/* noslip measure: is there an invariant measure? */
#include "study/invariants/measure.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "command/study.h"
#include "mech/lie/lie.h"
#include "study/invariants/density.h"

static void print_covector(ns_host *host, const char *name, const double *at, uint32_t n)
{
    fprintf(host->out, "  %-15s (", name);
    for (uint32_t i = 0; i < n; i++)
        fprintf(host->out, "%s%.10g", i ? ", " : "", at[i] == 0 ? 0 : at[i]);
    fprintf(host->out, ")\n");
}

static void print_algebra(ns_host *host, const ns_system *s, const ns_measure_algebra *r)
{
    const ns_lie *lie = ns_lie_of(s);
    ns_style_heading(host->out, &host->style_out, "Algebra");
    fprintf(host->out, "  %-15s %s, dimension %u\n", "name", lie->name, r->n);
    fprintf(host->out, "  %-15s %s\n", "unimodular", r->unimodular ? "yes: Tr ad = 0" : "no");
    if (!r->unimodular)
        print_covector(host, "Tr ad", r->T, r->n);
    fprintf(host->out, "  %-15s %u negative, %u zero, %u positive: %s\n", "Killing form",
            r->negative, r->zero, r->positive,
            r->zero               ? "not semisimple"
            : r->negative == r->n ? "semisimple and compact"
                                  : "semisimple, not compact");
    if (!isnan(r->spatial))
        fprintf(host->out,
                "  %-15s mu' = lambda_s Ad* a^s%s (5.7) holds to %.1e at random states\n",
                "in space", lie->quadratic ? "" : " + Ad* e[l]", r->spatial);
    if (!r->applies) {
        fprintf(host->out,
                "  %-15s the Lagrangian or the constraints see more than v: Theorems "
                "5.1 to 5.3 do not apply\n",
                "criterion");
        return;
    }
    ns_style_heading(host->out, &host->style_out,
                     r->constraints ? "Criterion (5.5): K ad*_{I^-1 a} a + Tr ad = gamma a"
                                    : "Criterion (Theorem 5.1): Tr ad = 0");
    print_covector(host, "left side", r->left, r->n);
    for (uint32_t i = 0; i < r->constraints; i++)
        fprintf(host->out, "  gamma.%-9s %.10g\n", s->description->constraints.at[i].name,
                fabs(r->gamma[i]) < 1e-14 ? 0 : r->gamma[i]);
    if (!r->preserved)
        print_covector(host, "residual", r->residual, r->n);
    fprintf(host->out, "  %-15s %s\n", "holds", r->preserved ? "yes" : "no");
    if (!r->preserved)
        fprintf(host->out, "  %-15s %.10g (largest, of motions with v.I v = 1)\n", "divergence",
                r->rate);
    fprintf(host->out,
            "  %-15s left side.v is the divergence of the equations to %.1e (%u "
            "random states)\n",
            "check", r->difference, r->points);
    /* Theorem 5.3 */
    bool all = r->constraints > 0;
    for (uint32_t i = 0; i < r->constraints; i++)
        all = all && r->eigenvector[i];
    if (r->constraints && r->zero == 0)
        fprintf(host->out, "  %-15s %s\n", "Theorem 5.3",
                all ? "the covectors are eigenvectors of the inertia: volume is preserved, "
                      "generically no asymptotic motion"
                : r->preserved
                    ? "not all covectors are eigenvectors of the inertia, yet volume "
                      "is preserved: they commute with I^-1 a"
                    : "not all covectors are eigenvectors of the inertia, and volume "
                      "is not preserved");
}

static void print_density(ns_host *host, const ns_system *s, const ns_measure *m)
{
    const ns_measure_density *d = &m->density;
    if (m->vanishes || m->reduced)
        return;
    ns_style_heading(host->out, &host->style_out, "Density rho of coordinates alone");
    if (!d->found) {
        fprintf(host->out, "  %s: %s\n",
                d->too_large ? "not looked for in a system this large" : "none", d->why);
        return;
    }
    for (uint32_t i = 0; i < d->n; i++)
        fprintf(host->out, "  d log(rho)/d %-6s = %.15g at the start\n",
                s->states.at[d->state[i]].name, -d->at[i]);
    fprintf(host->out, "  it exists: the divergence is -d/dt log(rho)%s\n",
            d->n > 1 ? ", and the form is closed" : "");
}

static void print_search(ns_host *host, const ns_density *d)
{
    ns_text names = ns_text_new(host->arena);
    for (uint32_t i = 0; i < d->variables; i++)
        ns_text_addf(&names, "%s%s", i ? ", " : "", d->variable[i].name);
    ns_style_heading(host->out, &host->style_out,
                     ns_arena_format(host->arena, "Density rho of %s", ns_text_string(&names)));
    if (!isnan(d->pointwise))
        fprintf(
            host->out,
            "  at one configuration the divergence is a combination of their rates to %.1e\n",
            d->pointwise);
    fprintf(host->out,
            "  log(rho) a polynomial, (log rho)' = -div by least squares at %u states\n",
            d->states / 2);
    fprintf(host->out, "  %-8s %-10s %s\n", "degree", "functions",
            "left of the divergence, at other states");
    for (uint32_t k = 0; k <= d->degree; k++)
        fprintf(host->out, "  %-8u %-10u %.1e\n", k, d->functions[k], d->left[k]);
    if (d->closed) {
        fprintf(host->out, "\n  rho = %s\n", d->text);
        fprintf(host->out, "  %-15s rate %.1e of its terms at 24 new states, in %s precision\n",
                "verified", d->P->rate, d->P->fine ? "quadruple" : "double");
        fprintf(host->out, "  %-15s %s\n", "coefficients",
                d->P->in_parameters ? "hold for other values of the parameters too"
                : d->P->persists    ? "are numbers for these values of the parameters; such a "
                                      "density exists for others too"
                                    : "are for these values of the parameters");
        fprintf(host->out, "  %-15s singular values %.1e | %.1e, ratio %.1e\n", "margin",
                d->sigma[0], d->sigma[1], d->margin);
    }
    fprintf(host->out, "  %-15s %s\n", "verdict", d->verdict);
}

static void print_motion(ns_host *host, const ns_measure *m)
{
    ns_style_heading(host->out, &host->style_out, "Along the motion");
    fprintf(host->out, "  %-15s %g to %.10g s\n", "time", m->t0, m->t);
    fprintf(host->out, "  %-15s %.10g: a small volume becomes exp(that) times as large\n",
            "integral", m->integral);
    fprintf(host->out, "  %-15s %.10g to %.10g\n", "range", m->least, m->most);
    fprintf(host->out, "  %-15s %.10g per second, %.10g in the second half of the time\n",
            "mean", m->t != m->t0 ? m->integral / (m->t - m->t0) : 0,
            m->t != m->t0 ? 2 * m->half / (m->t - m->t0) : 0);
}

static void print_conclusion(ns_host *host, const ns_measure *m, const ns_density *d)
{
    ns_style_heading(host->out, &host->style_out, "Conclusion");
    fprintf(host->out, "  %s\n", ns_density_conclusion(m, d));
}

/* ---- Chaplygin's reducing multiplier ----------------------------------------------------- */

typedef struct reduction {
    const ns_multiplier *m;
    const ns_density *N; /* found in closed form, or NULL */
    bool given;
} reduction;

static const char *base_words(ns_host *host, const ns_model *model, const ns_multiplier *m)
{
    ns_text text = ns_text_new(host->arena);
    for (uint32_t a = 0; a < m->n; a++)
        ns_text_addf(&text, "%s%s", a ? ", " : "",
                     model->description->coordinates.at[m->base[a]].name);
    return ns_text_string(&text);
}

static const char *multiplier_words(const ns_multiplier *m)
{
    return m->trivial   ? "the reduced motion is Hamiltonian as it is"
           : m->exists  ? "the reduced motion is Hamiltonian in the time tau, dtau = N dt"
           : m->measure ? "a measure, but no reducing multiplier"
                        : "no reducing multiplier, and no density of the base";
}

static void print_multiplier(ns_host *host, const ns_model *model, const reduction *r)
{
    const ns_multiplier *m = r->m;
    ns_style_heading(host->out, &host->style_out, "Chaplygin's reducing multiplier N");
    if (m->why) {
        fprintf(host->out, "  not looked for: %s\n", m->why);
        return;
    }
    fprintf(host->out, "  %-15s %s\n", "base", base_words(host, model, m));
    if (!m->trivial) {
        fprintf(host->out,
                "  %-15s (log N)' is linear in the velocities to %.1e, closed to %.1e\n",
                "measure", m->linear, m->closed);
        fprintf(host->out, "  %-15s F = grad(log N) p.r' - (log N)' p %s %.1e of its terms\n",
                "condition", m->condition < 1e-9 ? "holds to" : "fails by", m->condition);
    }
    if (r->given)
        fprintf(host->out, "  %-15s %s: (log N)' differs by %.1e\n", "given N",
                m->given < 1e-9 ? "is the multiplier" : "is NOT the multiplier", m->given);
    if (r->N && r->N->closed) {
        fprintf(host->out, "  N = %s\n", r->N->text);
        fprintf(host->out, "  %-15s rate %.1e of its terms at new states\n", "verified",
                r->N->P->rate);
    }
    if (m->exists && !m->trivial)
        fprintf(host->out, "  %-15s dtau = N dt, P = N p, H = P.M^-1 P/(2 N^2) + V\n",
                "time change");
    fprintf(host->out, "  %-15s %s\n", "verdict", multiplier_words(m));
}

/* ---- --out, --report --------------------------------------------------------------------- */

/* Theorems 5.1 to 5.3 */
static void add_algebra(ns_sheet *sheet, const ns_system *s, const ns_measure_algebra *r)
{
    ns_sheet_number(sheet, "unimodular", r->unimodular);
    if (!isnan(r->spatial))
        ns_sheet_number(sheet, "spatial", r->spatial);
    ns_sheet_table *t = ns_sheet_add(sheet, "algebra", r->n);
    ns_sheet_column_add(sheet, t, "Tr_ad", "", r->T);
    if (!r->applies)
        return;
    ns_sheet_number(sheet, "preserved", r->preserved);
    ns_sheet_number(sheet, "rate", r->rate);
    ns_sheet_column_add(sheet, t, "left", "", r->left);
    ns_sheet_column_add(sheet, t, "residual", "", r->residual);
    t = ns_sheet_add(sheet, "gamma", r->constraints);
    const char **name = ns_sheet_words(sheet, t, "constraint");
    for (uint32_t i = 0; i < r->constraints; i++)
        name[i] = s->description->constraints.at[i].name;
    ns_sheet_column_add(sheet, t, "gamma", "", r->gamma);
}

static ns_sheet *make_sheet(ns_host *host, const ns_model *model, const ns_measure *m,
                            const ns_density *d, const reduction *r)
{
    ns_sheet *sheet = ns_sheet_new(host->arena, "measure", model->description->title);
    ns_sheet_text(sheet, "conclusion", ns_density_conclusion(m, d));
    ns_sheet_number(sheet, "variables", m->variables);
    ns_sheet_number(sheet, "divergence", m->at_start);
    ns_sheet_number(sheet, "t", m->t);
    ns_sheet_number(sheet, "integral", m->integral);
    ns_sheet_number(sheet, "least", m->least);
    ns_sheet_number(sheet, "most", m->most);
    if (d) {
        ns_sheet_text(sheet, "search", d->verdict);
        if (d->closed)
            ns_sheet_text(sheet, "rho", d->text);
    }
    if (!r->m->why) {
        ns_sheet_text(sheet, "multiplier", multiplier_words(r->m));
        ns_sheet_text(sheet, "base", base_words(host, model, r->m));
        ns_sheet_number(sheet, "condition", r->m->condition);
        if (r->given)
            ns_sheet_number(sheet, "given_multiplier", r->m->given);
        if (r->N && r->N->closed)
            ns_sheet_text(sheet, "N", r->N->text);
    }
    ns_sheet_table *t = ns_sheet_add(sheet, "motion", m->times.n);
    ns_sheet_column_add(sheet, t, "t", "s", m->times.at);
    ns_sheet_column_add(sheet, t, "integral", "1", m->grown.at);
    if (d) {
        double *degree = NS_NEW_ARRAY(host->arena, double, d->degree + 1);
        for (uint32_t k = 0; k <= d->degree; k++)
            degree[k] = k;
        t = ns_sheet_add(sheet, "fit", d->degree + 1);
        ns_sheet_column_add(sheet, t, "degree", "1", degree);
        ns_sheet_column_add(sheet, t, "left", "1", d->left);
    }
    if (m->algebra)
        add_algebra(sheet, model->system, m->algebra);
    return sheet;
}

static ns_plot *make_plot(ns_host *host, const ns_model *model, const ns_measure *m)
{
    ns_plot *plot = ns_plot_new(host->arena, model->description->title);
    ns_plot_panel *panel = ns_plot_add(plot, "", "t", "s",
                                       "log of the growth of a small volume", "");
    ns_plot_line(panel, NULL, m->times.n, m->times.at, m->grown.at);
    ns_plot_at(panel, NULL, 0);
    return plot;
}

/* ---- --json ------------------------------------------------------------------------------ */

static void put_search(ns_json *j, const ns_density *d)
{
    ns_json_object(j, "search");
    ns_json_number(j, "degree", d->degree);
    ns_json_numbers(j, "left", d->left, d->degree + 1);
    ns_json_bool(j, "exists", d->exists);
    ns_json_bool(j, "none", d->none);
    ns_json_bool(j, "closed", d->closed);
    if (d->closed) {
        ns_json_text(j, "rho", d->text);
        ns_json_number(j, "rate", d->P->rate);
        ns_json_number(j, "margin", d->margin);
    }
    ns_json_number(j, "pointwise", d->pointwise);
    ns_json_number(j, "divergence", d->divergence);
    ns_json_end(j);
}

static void put_algebra(ns_json *j, const ns_measure_algebra *r)
{
    const double killing[] = {r->negative, r->zero, r->positive};
    ns_json_object(j, "algebra");
    ns_json_number(j, "dimension", r->n);
    ns_json_bool(j, "unimodular", r->unimodular);
    ns_json_numbers(j, "trace", r->T, r->n);
    ns_json_numbers(j, "killing", killing, 3);
    ns_json_bool(j, "applies", r->applies);
    if (r->applies) {
        ns_json_numbers(j, "left", r->left, r->n);
        ns_json_numbers(j, "gamma", r->gamma, r->constraints);
        ns_json_numbers(j, "residual", r->residual, r->n);
        ns_json_number(j, "rate", r->rate);
        ns_json_bool(j, "preserved", r->preserved);
    }
    ns_json_number(j, "spatial", r->spatial);
    ns_json_end(j);
}

static void put_multiplier(ns_host *host, ns_json *j, const ns_model *model, const reduction *r)
{
    ns_json_object(j, "multiplier");
    ns_json_text(j, "base", base_words(host, model, r->m));
    ns_json_bool(j, "exists", r->m->exists);
    ns_json_bool(j, "measure", r->m->measure);
    ns_json_number(j, "condition", r->m->condition);
    if (r->given)
        ns_json_number(j, "given", r->m->given);
    if (r->N && r->N->closed)
        ns_json_text(j, "N", r->N->text);
    ns_json_end(j);
}

static void put_json(ns_host *host, const ns_model *model, const ns_measure *m,
                     const ns_density *d, const reduction *r)
{
    const ns_system *s = model->system;
    ns_json json = ns_json_to(host->out), *const j = &json;
    ns_json_object(j, NULL);
    if (m->algebra)
        put_algebra(j, m->algebra);
    ns_json_number(j, "divergence", m->at_start);
    ns_json_bool(j, "vanishes", m->vanishes);
    ns_json_number(j, "given", m->given);
    ns_json_object(j, "density");
    for (uint32_t i = 0; m->density.found && i < m->density.n; i++)
        ns_json_number(j, s->states.at[m->density.state[i]].name, -m->density.at[i]);
    ns_json_end(j);
    if (d)
        put_search(j, d);
    if (!r->m->why)
        put_multiplier(host, j, model, r);
    ns_json_number(j, "t", m->t);
    ns_json_number(j, "integral", m->integral);
    ns_json_number(j, "least", m->least);
    ns_json_number(j, "most", m->most);
    ns_json_end(j);
}

/* --density, --multiplier: EXPR in the names of the model */
static bool read_density(ns_host *host, ns_model *model, const char *option, const char *text,
                         ns_ex *out)
{
    ns_value value;
    if (!ns_description_evaluate(model->description, option, text, &value) ||
        value.rows * value.cols != 1) {
        ns_text message = ns_text_new(host->arena);
        ns_diag_render(model->diag, &message);
        fputs(ns_text_string(&message), host->err);
        return ns_command_refuse(host, "%s expects a number in the names of the model", option);
    }
    *out = value.at[0];
    return true;
}

static void print_all(ns_host *host, const ns_model *model, const ns_measure *m,
                      const ns_density *d, bool density, const reduction *r)
{
    fprintf(host->out, "%s%s%s\n", host->style_out.bold, model->description->title,
            host->style_out.plain);
    if (m->algebra)
        print_algebra(host, model->system, m->algebra);
    ns_style_heading(host->out, &host->style_out, "Divergence of the equations");
    fprintf(host->out, "  %-15s %s (%u)", "variables",
            m->reduced ? "the velocities v" : "all states", m->variables);
    if (m->constraints)
        fprintf(host->out, ", %s the manifold of %u constraint%s",
                m->dependent ? "not only on" : "on", m->constraints,
                m->constraints == 1 ? "" : "s");
    fputc('\n', host->out);
    fprintf(host->out, "  %-15s %.10g\n", "at the start", m->at_start);
    fprintf(host->out, "  %-15s %s (relative size %.1e)\n", "near the start",
            m->vanishes ? "vanishes" : "does not vanish", m->largest);
    if (density)
        fprintf(host->out, "  %-15s %s: div + (log rho)' is zero to %.1e\n", "given density",
                m->given < 1e-10 ? "invariant" : "NOT invariant", m->given);
    print_density(host, model->system, m);
    if (d)
        print_search(host, d);
    print_multiplier(host, model, r);
    print_motion(host, m);
    print_conclusion(host, m, d);
}

/* --on EXPR,...: sums and products stand between brackets in what is found. */
static bool read_variables(ns_host *host, ns_model *model, const char *text, ns_family *family)
{
    const ns_study_words words = ns_study_split(host->arena, text, ',');
    for (uint32_t i = 0; i < words.n; i++) {
        int depth = 0;
        bool sum = false;
        for (const char *c = words.at[i]; *c; c++) {
            depth += (*c == '(') - (*c == ')');
            sum = sum || (depth == 0 && strchr("+-*/^", *c));
        }
        ns_atom atom = {.name = sum ? ns_arena_format(host->arena, "(%s)", words.at[i])
                                    : words.at[i]};
        if (!ns_study_expression(host, model, "--on", words.at[i], &atom.value))
            return false;
        NS_PUSH(host->arena, family->shape, atom);
    }
    return true;
}

/* A density of the variables of --on, or of the shape variables where nothing else has decided.
 * False after saying what is wrong. */
static bool search(ns_host *host, const ns_arguments *a, ns_model *model, const ns_measure *m,
                   const ns_density **out)
{
    const char *text = ns_command_text(a, "on"), *message = "";
    uint32_t degree = 0;
    ns_family family = {.degree_velocity = 0};
    if (!ns_study_count(host, a, "degree", 1, &degree))
        return false;
    if (degree >= NS_DENSITY_DEGREES)
        return ns_command_refuse(host, "--degree expects a number from 1 to %d",
                                 NS_DENSITY_DEGREES - 1);
    enum {
        SMALL = 20
    }; /* states: the search in larger systems takes long and must be asked for */
    const bool decided = m->vanishes || m->density.found || m->reduced;
    if (!text && (decided || model->system->states.n > SMALL)) {
        if (degree)
            ns_command_wrong(host, "--degree is for the search of --on");
        return !degree;
    }
    ns_flow *flow = ns_study_flow(host, model, false);
    if (!flow)
        return false;
    if (text) {
        if (!read_variables(host, model, text, &family))
            return false;
    } else {
        bool reduced;
        family = *ns_family_default(flow, &reduced);
    }
    if (!family.shape.n)
        return true;
    family.degree_shape = degree;
    if (degree && ns_family_size(&family) > NS_INTEGRALS_MOST)
        return ns_command_refuse(
            host,
            "the family has more than %d functions: lower --degree or name "
            "fewer variables",
            NS_INTEGRALS_MOST);
    ns_study_progress progress = ns_study_progress_new(host, "search", 1);
    const ns_integrals_options o = {.run = ns_model_run_options(model),
                                    .progress = ns_study_progress_draw,
                                    .context = &progress};
    *out = ns_density_search(flow, &family, m->divergence, degree, &o, model->x0, &message);
    ns_study_progress_end(&progress);
    if (!*out)
        ns_command_wrong(host, "%s", message);
    return *out != NULL;
}

/* The variables in which N is looked for without --on.  Try 0: sine and cosine of each base
 * coordinate; 1, 2: the point of the sphere that two angles stand for, by either.  False if
 * there are no more. */
static bool default_variables(ns_host *host, const ns_model *model, const ns_multiplier *m,
                              int try, ns_family *family)
{
    ns_graph *g = model->system->graph;
    const ns_coordinate *c = model->description->coordinates.at;
    *family = (ns_family){.degree_velocity = 0};
    if (try > (m->n == 2 ? 2 : 0))
        return false;
    for (uint32_t i = 0; i < m->n && !try; i++) {
        const ns_coordinate *one = &c[m->base[i]];
        const ns_atom sine = {.name = ns_arena_format(host->arena, "sin(%s)", one->name),
                              .value = ns_sin(g, one->q)};
        const ns_atom cosine = {.name = ns_arena_format(host->arena, "cos(%s)", one->name),
                                .value = ns_cos(g, one->q)};
        NS_PUSH(host->arena, family->shape, sine);
        NS_PUSH(host->arena, family->shape, cosine);
    }
    if (!try)
        return true;
    const ns_coordinate *t = &c[m->base[try - 1]], *p = &c[m->base[2 - try]];
    const ns_ex sine = ns_sin(g, t->q), s = ns_sin(g, p->q), q = ns_cos(g, p->q);
    const ns_atom point[3] = {
        {.name = ns_arena_format(host->arena, "(sin(%s)*sin(%s))", t->name, p->name),
         .value = ns_mul(g, sine, s)},
        {.name = ns_arena_format(host->arena, "(sin(%s)*cos(%s))", t->name, p->name),
         .value = ns_mul(g, sine, q)},
        {.name = ns_arena_format(host->arena, "cos(%s)", t->name), .value = ns_cos(g, t->q)}};
    for (int i = 0; i < 3; i++)
        NS_PUSH(host->arena, family->shape, point[i]);
    return true;
}

/* N as a power of a polynomial; without states to look at there is none, and nothing wrong. */
static bool search_multiplier(ns_host *host, const ns_arguments *a, ns_model *model,
                              reduction *r)
{
    const char *text = ns_command_text(a, "on"), *message = "";
    const ns_integrals_options o = {.run = ns_model_run_options(model)};
    const ns_ex growth = ns_neg(model->system->graph, r->m->rate);
    ns_family family = {.degree_velocity = 0};
    ns_flow *flow = ns_study_flow(host, model, false);
    if (!flow || (text && !read_variables(host, model, text, &family)))
        return false;
    for (int try = 0; !r->N || !r->N->closed; try++) {
        if (text ? try > 0 : !default_variables(host, model, r->m, try, &family))
            break;
        r->N = ns_density_search(flow, &family, growth, 4, &o, model->x0, &message);
    }
    return true;
}

static bool find_multiplier(ns_host *host, const ns_arguments *a, ns_model *model, reduction *r)
{
    const char *text = ns_command_text(a, "base"), *given = ns_command_text(a, "multiplier");
    const ns_description *d = model->description;
    const ns_study_words words = ns_study_split(host->arena, text ? text : "", ',');
    uint32_t base[32], n = 0;
    ns_ex N = 0;
    for (uint32_t i = 0; i < words.n && text; i++) {
        uint32_t k = 0;
        while (k < d->coordinates.n && strcmp(d->coordinates.at[k].name, words.at[i]) != 0)
            k++;
        if (k == d->coordinates.n || k >= 32 || n == 32) {
            ns_command_wrong(host, "--base: `%s` is not a coordinate of the model",
                             words.at[i]);
            return false;
        }
        base[n++] = k;
    }
    if (given && !read_density(host, model, "--multiplier", given, &N))
        return false;
    r->given = N != 0;
    r->m = ns_multiplier_new(model->system, base, n, N, model->p, model->x0);
    if (r->m->why && (text || given)) {
        ns_command_wrong(host, "%s: %s", text ? "--base" : "--multiplier", r->m->why);
        return false;
    }
    if (r->m->why || !r->m->measure || r->m->trivial || model->system->states.n > 20)
        return true;
    return search_multiplier(host, a, model, r);
}

static int measure(ns_host *host, const ns_arguments *a)
{
    int status;
    if (!ns_study_check_outputs(host, a))
        return ns_status_exit(NS_ERR_USAGE);
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    ns_measure_options o = {.run = ns_model_run_options(model)};
    const char *density = ns_command_text(a, "density"), *message = "";
    if (!ns_command_number(host, a, "until", &o.run.until) ||
        (density && !read_density(host, model, "--density", density, &o.density))) {
        ns_model_free(model);
        return ns_status_exit(NS_ERR_USAGE);
    }
    const ns_measure *m = ns_measure_new(model->problem, &o, model->p, model->x0, &message);
    if (!m) {
        ns_command_wrong(host, "%s", message);
        ns_model_free(model);
        return ns_status_exit(NS_ERR_USAGE);
    }
    const ns_density *found = NULL;
    reduction reduced = {.m = NULL};
    if (!search(host, a, model, m, &found) || !find_multiplier(host, a, model, &reduced)) {
        ns_model_free(model);
        return ns_status_exit(NS_ERR_USAGE);
    }
    if (ns_command_flag(a, "json"))
        put_json(host, model, m, found, &reduced);
    else if (!host->quiet)
        print_all(host, model, m, found, density != NULL, &reduced);
    status = ns_study_write(host, a, model, make_sheet(host, model, m, found, &reduced),
                            make_plot(host, model, m));
    if (m->status != NS_OK)
        fprintf(host->err, "noslip: the motion ended at t = %.10g s: %s\n", m->t, m->reason);
    if (status == 0)
        status = ns_status_exit(m->status);
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    NS_STUDY_OPTIONS,
    {.name = "until", .argument = "T", .help = "end of the motion that is looked at"},
    {.name = "density", .argument = "EXPR", .help = "a density to verify"},
    {.name = "on", .argument = "EXPR,...", .help = "look for a density of these variables"},
    {.name = "base", .argument = "NAME,...", .help = "base coordinates of a Chaplygin system"},
    {.name = "multiplier", .argument = "EXPR", .help = "a reducing multiplier to verify"},
    {.name = "degree", .argument = "D", .help = "largest degree of log(rho) in them"},
    {0},
};

const ns_command ns_command_measure = {
    .name = "measure",
    .summary = "Decide whether a measure is invariant: unimodularity, (5.5), divergence",
    .usage = "MODEL [--on EXPR,...] [--degree D] [--density EXPR] [--base NAME,...] "
             "[--multiplier EXPR] "
             "[--until T] [--set NAME=EXPR]... "
             "[--out FILE]... [--report FILE.html] [--json] [--quiet]",
    .doc =
        "On a Lie algebra Theorems 5.1 and 5.2 of Bloch, Marsden and Zenkov (2009) decide: "
        "the\n"
        "left side of (5.5), gamma or the residual are printed, for any number of "
        "constraints.\n"
        "For systems with coordinates a density that depends on coordinates alone is looked\n"
        "for.  Where that does not decide, or with --on, a density of variables (rolling\n"
        "bodies: arm and vertical): log(rho) a polynomial, by least squares at states all over "
        "the\n"
        "manifold, and rho a power of a polynomial, in closed form.\n"
        "For every system the divergence of the equations, exact, is integrated along "
        "the\n"
        "motion: the logarithm of the growth of a small volume.\n"
        "If constraints give the velocities of some coordinates by those of the others, the\n"
        "base, and nothing depends on them, Chaplygin's reducing multiplier is looked for: N\n"
        "such that the motion of the base is Hamiltonian in the time tau, dtau = N dt.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = measure,
};
