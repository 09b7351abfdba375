/* noslip check: read, derive and verify a model without integrating it. */
#include <math.h>
#include <string.h>

#include "command/open.h"
#include "command/summary.h"
#include "expr/eval.h"
#include "mech/reduced/symmetry.h"
#include "out/tables/sheet.h"

/* What is printed, as facts and tables for the library. */
typedef struct findings {
    ns_sheet *sheet;
    /* conserved quantities, well-known integrals, discrete symmetries */
    NS_LIST(const char *) quantity, said, map, holds;
    NS_LIST(double) rate, difference;
} findings;

/* Relative rate of change up to which a quantity counts as constant: round-off of a long
 * expression, far below any real change. */
static const double constant_rate = 1e-10;

/* "degrees of freedom" as the name of a fact: degrees_of_freedom */
static const char *fact_name(ns_arena *arena, const char *name)
{
    char *out = ns_arena_string(arena, name, strlen(name));
    for (char *c = out; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    return out;
}

/* Values of expressions at the start. */
static void evaluate(const ns_model *m, const ns_ex *f, uint32_t n, double *out)
{
    ns_system_eval(m->system, f, n, ns_model_run_options(m).t0, m->p, m->x0, out);
}

static void print_facts(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    int width = ns_style_wider(0, "degrees of freedom");
    for (uint32_t i = 0; i < s->facts.n; i++)
        width = ns_style_wider(width, s->facts.at[i].name);
    fprintf(host->out, "%s%s%s\n", host->style_out.bold, s->description->title,
            host->style_out.plain);
    fprintf(host->out, "  %-*s %s\n", width, "formulation", s->formulation->name);
    ns_sheet_text(f->sheet, "formulation", s->formulation->name);
    for (uint32_t i = 0; i < s->facts.n; i++) {
        fprintf(host->out, "  %-*s %s\n", width, s->facts.at[i].name, s->facts.at[i].text);
        ns_sheet_text(f->sheet, fact_name(host->arena, s->facts.at[i].name),
                      s->facts.at[i].text);
    }
    ns_sheet_number(f->sheet, "states", s->states.n);
    uint32_t bound = 0;
    const uint32_t operations = ns_program_operations(m->problem->rhs, &bound);
    fprintf(host->out, "  %-*s %u\n", width, "states", s->states.n);
    fprintf(host->out, "  %-*s %u per evaluation of the right-hand side, %u once per run\n",
            width, "operations", operations, bound);
}

static void print_line(ns_host *host, int width, const char *name, double value,
                       const char *unit, const char *remark)
{
    char number[40], buffer[64];
    snprintf(number, sizeof number, "% .15g", value);
    if (*remark || (unit && *unit))
        fprintf(host->out, "  %-*s %-22s%s%s%s\n", width, name, number,
                ns_summary_unit(unit, buffer), *remark ? "  " : "", remark);
    else
        fprintf(host->out, "  %-*s %s\n", width, name, number);
}

static void print_parameters(ns_host *host, const ns_model *m)
{
    const ns_description *d = m->description;
    if (!d->params.n)
        return;
    int width = 8;
    for (uint32_t i = 0; i < d->params.n; i++)
        width = ns_style_wider(width, d->params.at[i].name);
    ns_style_heading(host->out, &host->style_out, "Parameters");
    for (uint32_t i = 0; i < d->params.n; i++)
        print_line(host, width, d->params.at[i].name, m->p[i], d->params.at[i].unit,
                   d->params.at[i].set ? "(--set)" : "");
}

/* States and their rates; false if a rate has no finite value. */
static bool print_start(ns_host *host, const ns_model *m)
{
    const ns_system *s = m->system;
    ns_ex *rates = NS_NEW_ARRAY(host->arena, ns_ex, s->states.n + 1);
    double *values = NS_NEW_ARRAY(host->arena, double, s->states.n + 1);
    int width = 8;
    for (uint32_t i = 0; i < s->states.n; i++) {
        width = ns_style_wider(width, s->states.at[i].name);
        rates[i] = s->states.at[i].rate;
    }
    evaluate(m, rates, s->states.n, values);
    char title[64];
    snprintf(title, sizeof title, "Start, t = %g s", ns_model_run_options(m).t0);
    ns_style_heading(host->out, &host->style_out, title);
    bool good = true;
    for (uint32_t i = 0; i < s->states.n; i++) {
        print_line(host, width, s->states.at[i].name, m->x0[i], s->states.at[i].unit, "");
        if (!isfinite(values[i])) {
            ns_command_wrong(host, "the derivative of `%s` has no finite value at the start",
                             s->states.at[i].name);
            good = false;
        }
    }
    return good;
}

static void print_constraints(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    if (!s->constraints.n)
        return;
    ns_ex *residuals = NS_NEW_ARRAY(host->arena, ns_ex, s->constraints.n);
    double *values = NS_NEW_ARRAY(host->arena, double, s->constraints.n);
    int width = 8;
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        width = ns_style_wider(width, s->constraints.at[i].name);
        residuals[i] = s->constraints.at[i].residual;
    }
    evaluate(m, residuals, s->constraints.n, values);
    ns_style_heading(host->out, &host->style_out, "Constraints, residual at the start");
    for (uint32_t i = 0; i < s->constraints.n; i++)
        fprintf(host->out, "  %-*s % .2g\n", width, s->constraints.at[i].name, values[i]);
    ns_sheet_table *t = ns_sheet_add(f->sheet, "constraints", s->constraints.n);
    const char **name = ns_sheet_words(f->sheet, t, "constraint");
    for (uint32_t i = 0; i < s->constraints.n; i++)
        name[i] = s->constraints.at[i].name;
    ns_sheet_column_add(f->sheet, t, "residual", "", values);
}

static void print_ranks(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    if (!s->formulation->ranks)
        return;
    ns_rank_facts ranks = {.lines = ns_text_new(host->arena)};
    s->formulation->ranks(s, ns_model_run_options(m).t0, m->p, m->x0, &ranks);
    if (!ranks.lines.length)
        return;
    ns_style_heading(host->out, &host->style_out, "Ranks at the start");
    fputs(ns_text_string(&ranks.lines), host->out);
    ns_sheet_table *t = ns_sheet_add(f->sheet, "ranks", ranks.at.n);
    const char **matrix = ns_sheet_words(f->sheet, t, "matrix");
    double *rank = ns_sheet_numbers(f->sheet, t, "rank", "");
    double *full = ns_sheet_numbers(f->sheet, t, "full", "");
    for (uint32_t i = 0; i < ranks.at.n; i++) {
        matrix[i] = ranks.at.at[i].matrix;
        rank[i] = ranks.at.at[i].rank;
        full[i] = ranks.at.at[i].full;
    }
}

static void keep_conserved(ns_host *host, findings *f, const char *name, const char *said,
                           double rate)
{
    NS_PUSH(host->arena, f->quantity, name);
    NS_PUSH(host->arena, f->said, said);
    NS_PUSH(host->arena, f->rate, rate);
}

/* Says what is wrong with a line of the model; false. */
static bool refuse_at(ns_host *host, const ns_model *m, ns_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool refuse_at(ns_host *host, const ns_model *m, ns_span span, const char *format, ...)
{
    ns_text words = ns_text_new(host->arena), text = ns_text_new(host->arena);
    va_list list;
    va_start(list, format);
    ns_text_vaddf(&words, format, list);
    va_end(list);
    if (!span.source)
        return ns_command_refuse(host, "%s", ns_text_string(&words));
    ns_diag *diag = ns_diag_like(host->arena, m->diag);
    ns_diag_error(diag, span, "%s", ns_text_string(&words));
    ns_diag_render(diag, &text);
    fputs(ns_text_string(&text), host->err);
    return false;
}

/* One line about a quantity; false if it is said to be constant and is not. */
static bool print_conserved(ns_host *host, const ns_model *m, findings *f, int width,
                            ns_invariant said, bool claimed)
{
    const char *name = said.name;
    const double rate = ns_system_drift_rate(m->system, said.value, m->p, m->x0);
    const bool constant = rate <= constant_rate;
    const char *verdict = constant  ? "constant"
                          : claimed ? "NOT constant"
                                    : "changes (forces do work, or time enters)";
    keep_conserved(host, f, name,
                   isnan(rate) ? "not known"
                   : constant  ? "constant"
                               : "not constant",
                   rate);
    if (isnan(rate)) {
        fprintf(host->out, "  %-*s not known: its rate has no finite value near the start\n",
                width, name);
        return refuse_at(host, m, said.span,
                         "the rate of `%s` has no finite value near the start", name);
    }
    fprintf(host->out, "  %-*s %s (relative rate %.1e)\n", width, name, verdict, rate);
    if (constant || !claimed)
        return true;
    return refuse_at(host, m, said.span,
                     "`%s` is not constant along the motion: its relative rate of change near "
                     "the start is %.2g",
                     name, rate);
}

static bool print_invariants(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    if (!s->energy && !s->invariants.n)
        return true;
    int width = ns_style_wider(8, "energy");
    for (uint32_t i = 0; i < s->invariants.n; i++)
        width = ns_style_wider(width, s->invariants.at[i].name);
    ns_style_heading(host->out, &host->style_out, "Conserved quantities");
    bool good = true;
    if (s->energy)
        good = print_conserved(host, m, f, width,
                               (ns_invariant){.name = "energy", .value = s->energy},
                               s->conservative);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (!print_conserved(host, m, f, width, s->invariants.at[i], true))
            good = false;
    return good;
}

/* Well-known integrals of related systems, which this one need not have. */
static void print_claims(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    int width = 8;
    uint32_t others = 0;
    for (uint32_t i = 0; i < s->claims.n; i++)
        if (!s->claims.at[i].expected) {
            width = ns_style_wider(width, s->claims.at[i].name);
            others++;
        }
    if (!others)
        return;
    ns_style_heading(host->out, &host->style_out, "Well-known integrals, looked at here");
    for (uint32_t i = 0; i < s->claims.n; i++) {
        const ns_known_integral *claim = &s->claims.at[i];
        if (claim->expected)
            continue;
        const double rate = ns_system_drift_rate(s, claim->value, m->p, m->x0);
        keep_conserved(host, f, claim->name,
                       isnan(rate)             ? "not known"
                       : rate <= constant_rate ? "constant"
                                               : "not constant",
                       rate);
        if (isnan(rate))
            fprintf(host->out,
                    "  %-*s not known: its rate has no finite value near the start\n", width,
                    claim->name);
        else
            fprintf(host->out, "  %-*s %s (relative rate %.1e); known for %s\n", width,
                    claim->name, rate <= constant_rate ? "constant" : "not constant", rate,
                    claim->where);
    }
}

/* Discrete symmetries that the model states, and reversibility; false if one does not hold. */
static bool print_maps(ns_host *host, const ns_model *m, findings *f)
{
    uint32_t n;
    const ns_discrete *maps = ns_symmetry_maps(m->system, m->p, m->x0, &n);
    bool good = true;
    if (!n)
        return true;
    ns_style_heading(host->out, &host->style_out, "Discrete symmetries");
    for (uint32_t i = 0; i < n; i++) {
        const bool holds = maps[i].difference <= constant_rate;
        const char *name = maps[i].name ? maps[i].name : "t -> -t, velocities and momenta -> -";
        NS_PUSH(host->arena, f->map, name);
        NS_PUSH(host->arena, f->holds,
                isnan(maps[i].difference) ? "not known"
                : holds                   ? "holds"
                                          : "does not hold");
        NS_PUSH(host->arena, f->difference, maps[i].difference);
        if (isnan(maps[i].difference) && !maps[i].name) {
            fprintf(host->out, "  %s: not known, there are no finite rates near the start\n",
                    name);
            continue;
        }
        fprintf(host->out, "  %s: %s (relative difference %.1e)\n", name,
                holds          ? maps[i].name ? "holds" : "reversible"
                : maps[i].name ? "DOES NOT HOLD"
                               : "not reversible",
                maps[i].difference);
        if (holds || !maps[i].name)
            continue;
        ns_command_wrong(host,
                         "the map %s is not a symmetry of the equations: relative difference "
                         "%.2g at random states near the start",
                         name, maps[i].difference);
        good = false;
    }
    return good;
}

static void print_constants(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    if (!s->constants.n)
        return;
    ns_ex *values = NS_NEW_ARRAY(host->arena, ns_ex, s->constants.n);
    double *numbers = NS_NEW_ARRAY(host->arena, double, s->constants.n);
    int width = 8;
    for (uint32_t i = 0; i < s->constants.n; i++) {
        width = ns_style_wider(width, s->constants.at[i].name);
        values[i] = s->constants.at[i].value;
    }
    evaluate(m, values, s->constants.n, numbers);
    ns_style_heading(host->out, &host->style_out,
                     "Mass properties (inertia about the centre of mass, tensor entries)");
    for (uint32_t i = 0; i < s->constants.n; i++)
        print_line(host, width, s->constants.at[i].name, numbers[i], s->constants.at[i].unit,
                   "");
    ns_sheet_table *t = ns_sheet_add(f->sheet, "mass_properties", s->constants.n);
    const char **name = ns_sheet_words(f->sheet, t, "property");
    for (uint32_t i = 0; i < s->constants.n; i++)
        name[i] = s->constants.at[i].name;
    ns_sheet_column_add(f->sheet, t, "value", "", numbers);
}

/* --form: does the vector field satisfy i_Y omega = dE on the distribution? */
static bool print_form(ns_host *host, const ns_model *m, findings *f)
{
    const ns_system *s = m->system;
    uint32_t points = 0;
    const double worst = s->formulation->form ? s->formulation->form(s, m->p, m->x0, &points)
                                              : NAN;
    if (!points)
        return ns_command_refuse(
            host,
            "--form is about rolling bodies without loads on a fixed ground, not `rubber`");
    ns_style_heading(host->out, &host->style_out, "Semi-symplectic form");
    fprintf(host->out,
            "  omega(Y, v) = dE(v) at %u random states and variations: largest "
            "relative difference %.1e\n",
            points, worst);
    ns_sheet_number(f->sheet, "form", worst);
    ns_sheet_number(f->sheet, "form_states", points);
    return worst < 1e-10;
}

/* Names in lines of readable length. */
static void print_names(ns_host *host, const ns_model *m)
{
    const ns_system *s = m->system;
    ns_style_heading(host->out, &host->style_out, "Values (--show, --out, --json)");
    size_t column = 0;
    for (uint32_t i = 0; i < s->observables.n; i++) {
        const ns_observable *o = &s->observables.at[i];
        const char *comma = i + 1 < s->observables.n ? "," : "";
        const size_t length = strlen(o->name) + strlen(comma) + 1;
        if (column && column + length > 76) {
            fputc('\n', host->out);
            column = 0;
        }
        column += length;
        fprintf(host->out, "%s%s%s", column == length ? "  " : " ", o->name, comma);
    }
    fputc('\n', host->out);
}

static void print_events(ns_host *host, const ns_model *m)
{
    static const char *const actions[] = {"recorded", "stops the run", "warns",
                                          "stops the run: singular"};
    const ns_system *s = m->system;
    if (!s->events.n)
        return;
    int width = 8;
    for (uint32_t i = 0; i < s->events.n; i++)
        width = ns_style_wider(width, s->events.at[i].name);
    ns_style_heading(host->out, &host->style_out, "Events");
    for (uint32_t i = 0; i < s->events.n; i++) {
        const ns_event *e = &s->events.at[i];
        fprintf(host->out, "  %-*s %s%s%s%s%s\n", width, e->name, actions[e->action],
                e->jump ? ", the motion jumps" : "",
                e->direction > 0   ? ", rising"
                : e->direction < 0 ? ", falling"
                                   : "",
                e->meaning ? ": " : "", e->meaning ? e->meaning : "");
    }
}

static void print_modes(ns_host *host, const ns_system *s, uint32_t start)
{
    for (uint32_t k = 0; k < s->modes.n; k++)
        fprintf(host->out, "%s%s%s", k ? ", " : "  modes              ", s->modes.at[k],
                k == start ? " (at the start)" : "");
    if (s->modes.n)
        fputc('\n', host->out);
}

/* Lists that have grown while printing, as tables; then all of it to the library. */
static void finish(ns_host *host, const ns_model *m, findings *f)
{
    ns_sheet_table *t = ns_sheet_add(f->sheet, "conserved", f->rate.n);
    ns_sheet_words_add(f->sheet, t, "quantity", f->quantity.at);
    ns_sheet_words_add(f->sheet, t, "verdict", f->said.at);
    ns_sheet_column_add(f->sheet, t, "rate", "", f->rate.at);
    if (f->map.n) {
        t = ns_sheet_add(f->sheet, "symmetries", f->map.n);
        ns_sheet_words_add(f->sheet, t, "map", f->map.at);
        ns_sheet_words_add(f->sheet, t, "verdict", f->holds.at);
        ns_sheet_column_add(f->sheet, t, "difference", "", f->difference.at);
    }
    if (host->found)
        host->found(host->context, m, f->sheet, NULL);
}

static int check(ns_host *host, const ns_arguments *a)
{
    int status;
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    /* what differs from mode to mode is looked at in the mode of the start */
    ns_system *const whole = model->system;
    const uint32_t mode = ns_system_first_mode(whole, ns_model_run_options(model).t0, model->p,
                                               model->x0);
    model->system = (ns_system *)ns_system_mode(whole, mode == UINT32_MAX ? 0 : mode);
    findings f = {.sheet = ns_sheet_new(host->arena, "check", model->description->title)};
    print_facts(host, model, &f);
    print_modes(host, whole, mode);
    print_parameters(host, model);
    print_constants(host, model, &f);
    bool good = print_start(host, model);
    print_constraints(host, model, &f);
    print_ranks(host, model, &f);
    good = print_invariants(host, model, &f) && good;
    print_claims(host, model, &f);
    good = print_maps(host, model, &f) && good;
    if (ns_command_flag(a, "form"))
        good = print_form(host, model, &f) && good;
    model->system = whole;
    print_events(host, model);
    print_names(host, model);
    finish(host, model, &f);
    ns_model_free(model);
    return good ? 0 : ns_status_exit(NS_ERR_MODEL);
}

static const ns_option options[] = {
    NS_OPTION_SET,
    {.name = "form",
     .help = "rolling bodies: verify the two-form and dE on the distribution (Patrick 2022, "
             "(10), (18))"},
    {0},
};

const ns_command ns_command_check = {
    .name = "check",
    .summary =
        "Read, derive and verify a model: degrees of freedom, start, conserved quantities",
    .usage = "MODEL [--set NAME=EXPR]... [--form]",
    .doc =
        "Nothing is integrated.  The energy and every invariant are verified by their exact\n"
        "derivative along the equations of motion, at states near the start.  An invariant\n"
        "that is not constant is an error of the model (exit status 2).",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = check,
};
