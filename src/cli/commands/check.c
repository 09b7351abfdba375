/* noslip check: read, derive and verify a model without integrating it. */
#include <math.h>
#include <string.h>

#include "cli/open.h"
#include "cli/summary.h"
#include "expr/eval.h"
#include "mech/reduced/symmetry.h"

/* Relative rate of change up to which a quantity counts as constant: round-off of a long
 * expression, far below any real change. */
static const double constant_rate = 1e-10;

/* Values of expressions at the start. */
static void evaluate(const ns_model *m, const ns_ex *f, uint32_t n, double *out)
{
    ns_system_eval(m->system, f, n, ns_model_run_options(m).t0, m->p, m->x0, out);
}

static void print_facts(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    int width = ns_terminal_wider(0, "degrees of freedom");
    for (uint32_t i = 0; i < s->facts.n; i++)
        width = ns_terminal_wider(width, s->facts.at[i].name);
    fprintf(cli->out, "%s%s%s\n", cli->style_out.bold, s->description->title,
            cli->style_out.plain);
    fprintf(cli->out, "  %-*s %s\n", width, "formulation", s->formulation->name);
    for (uint32_t i = 0; i < s->facts.n; i++)
        fprintf(cli->out, "  %-*s %s\n", width, s->facts.at[i].name, s->facts.at[i].text);
    uint32_t bound = 0;
    const uint32_t operations = ns_program_operations(m->problem->rhs, &bound);
    fprintf(cli->out, "  %-*s %u\n", width, "states", s->states.n);
    fprintf(cli->out, "  %-*s %u per evaluation of the right-hand side, %u once per run\n",
            width, "operations", operations, bound);
}

static void print_line(ns_cli *cli, int width, const char *name, double value, const char *unit,
                       const char *remark)
{
    char number[40], buffer[64];
    snprintf(number, sizeof number, "% .15g", value);
    if (*remark || (unit && *unit))
        fprintf(cli->out, "  %-*s %-22s%s%s%s\n", width, name, number,
                ns_summary_unit(unit, buffer), *remark ? "  " : "", remark);
    else
        fprintf(cli->out, "  %-*s %s\n", width, name, number);
}

static void print_parameters(ns_cli *cli, const ns_model *m)
{
    const ns_description *d = m->description;
    if (!d->params.n)
        return;
    int width = 8;
    for (uint32_t i = 0; i < d->params.n; i++)
        width = ns_terminal_wider(width, d->params.at[i].name);
    ns_terminal_heading(cli->out, &cli->style_out, "Parameters");
    for (uint32_t i = 0; i < d->params.n; i++)
        print_line(cli, width, d->params.at[i].name, m->p[i], d->params.at[i].unit,
                   d->params.at[i].set ? "(--set)" : "");
}

/* States and their rates; false if a rate has no finite value. */
static bool print_start(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    ns_ex *rates = NS_NEW_ARRAY(cli->arena, ns_ex, s->states.n + 1);
    double *values = NS_NEW_ARRAY(cli->arena, double, s->states.n + 1);
    int width = 8;
    for (uint32_t i = 0; i < s->states.n; i++) {
        width = ns_terminal_wider(width, s->states.at[i].name);
        rates[i] = s->states.at[i].rate;
    }
    evaluate(m, rates, s->states.n, values);
    char title[64];
    snprintf(title, sizeof title, "Start, t = %g s", ns_model_run_options(m).t0);
    ns_terminal_heading(cli->out, &cli->style_out, title);
    bool good = true;
    for (uint32_t i = 0; i < s->states.n; i++) {
        print_line(cli, width, s->states.at[i].name, m->x0[i], s->states.at[i].unit, "");
        if (!isfinite(values[i])) {
            ns_command_wrong(cli, "the derivative of '%s' has no finite value at the start",
                             s->states.at[i].name);
            good = false;
        }
    }
    return good;
}

static void print_constraints(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    if (!s->constraints.n)
        return;
    ns_ex *residuals = NS_NEW_ARRAY(cli->arena, ns_ex, s->constraints.n);
    double *values = NS_NEW_ARRAY(cli->arena, double, s->constraints.n);
    int width = 8;
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        width = ns_terminal_wider(width, s->constraints.at[i].name);
        residuals[i] = s->constraints.at[i].residual;
    }
    evaluate(m, residuals, s->constraints.n, values);
    ns_terminal_heading(cli->out, &cli->style_out, "Constraints, residual at the start");
    for (uint32_t i = 0; i < s->constraints.n; i++)
        fprintf(cli->out, "  %-*s % .2g\n", width, s->constraints.at[i].name, values[i]);
}

static void print_ranks(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    if (!s->formulation->ranks)
        return;
    ns_text text = ns_text_new(cli->arena);
    s->formulation->ranks(s, ns_model_run_options(m).t0, m->p, m->x0, &text);
    ns_terminal_heading(cli->out, &cli->style_out, "Ranks at the start");
    fputs(ns_text_string(&text), cli->out);
}

/* One line about a quantity; false if it is said to be constant and is not. */
static bool print_conserved(ns_cli *cli, const ns_model *m, int width, const char *name,
                            ns_ex value, bool claimed)
{
    const double rate = ns_system_drift_rate(m->system, value, m->p, m->x0);
    const bool constant = rate <= constant_rate;
    const char *verdict = constant  ? "constant"
                          : claimed ? "NOT constant"
                                    : "changes (forces do work, or time enters)";
    if (isnan(rate)) {
        fprintf(cli->out, "  %-*s not known: its rate has no finite value near the start\n",
                width, name);
        return ns_command_refuse(cli, "the rate of '%s' has no finite value near the start",
                                 name);
    }
    fprintf(cli->out, "  %-*s %s (relative rate %.1e)\n", width, name, verdict, rate);
    if (constant || !claimed)
        return true;
    return ns_command_refuse(
        cli,
        "'%s' is not constant along the motion: its relative rate of change near "
        "the start is %.2g",
        name, rate);
}

static bool print_invariants(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    if (!s->energy && !s->invariants.n)
        return true;
    int width = ns_terminal_wider(8, "energy");
    for (uint32_t i = 0; i < s->invariants.n; i++)
        width = ns_terminal_wider(width, s->invariants.at[i].name);
    ns_terminal_heading(cli->out, &cli->style_out, "Conserved quantities");
    bool good = true;
    if (s->energy)
        good = print_conserved(cli, m, width, "energy", s->energy, s->conservative);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (!print_conserved(cli, m, width, s->invariants.at[i].name, s->invariants.at[i].value,
                             true))
            good = false;
    return good;
}

/* Well-known integrals of related systems, which this one need not have. */
static void print_claims(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    int width = 8;
    uint32_t others = 0;
    for (uint32_t i = 0; i < s->claims.n; i++)
        if (!s->claims.at[i].expected) {
            width = ns_terminal_wider(width, s->claims.at[i].name);
            others++;
        }
    if (!others)
        return;
    ns_terminal_heading(cli->out, &cli->style_out, "Well-known integrals, looked at here");
    for (uint32_t i = 0; i < s->claims.n; i++) {
        const ns_known_integral *claim = &s->claims.at[i];
        if (claim->expected)
            continue;
        const double rate = ns_system_drift_rate(s, claim->value, m->p, m->x0);
        if (isnan(rate))
            fprintf(cli->out, "  %-*s not known: its rate has no finite value near the start\n",
                    width, claim->name);
        else
            fprintf(cli->out, "  %-*s %s (relative rate %.1e); known for %s\n", width,
                    claim->name, rate <= constant_rate ? "constant" : "not constant", rate,
                    claim->where);
    }
}

/* Discrete symmetries that the model states, and reversibility; false if one does not hold. */
static bool print_maps(ns_cli *cli, const ns_model *m)
{
    uint32_t n;
    const ns_discrete *maps = ns_symmetry_maps(m->system, m->p, m->x0, &n);
    bool good = true;
    if (!n)
        return true;
    ns_terminal_heading(cli->out, &cli->style_out, "Discrete symmetries");
    for (uint32_t i = 0; i < n; i++) {
        const bool holds = maps[i].difference <= constant_rate;
        const char *name = maps[i].name ? maps[i].name : "t -> -t, velocities and momenta -> -";
        if (isnan(maps[i].difference) && !maps[i].name) {
            fprintf(cli->out, "  %s: not known, there are no finite rates near the start\n",
                    name);
            continue;
        }
        fprintf(cli->out, "  %s: %s (relative difference %.1e)\n", name,
                holds          ? maps[i].name ? "holds" : "reversible"
                : maps[i].name ? "DOES NOT HOLD"
                               : "not reversible",
                maps[i].difference);
        if (holds || !maps[i].name)
            continue;
        ns_command_wrong(cli,
                         "the map %s is not a symmetry of the equations: relative difference "
                         "%.2g at random states near the start",
                         name, maps[i].difference);
        good = false;
    }
    return good;
}

static void print_constants(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    if (!s->constants.n)
        return;
    ns_ex *values = NS_NEW_ARRAY(cli->arena, ns_ex, s->constants.n);
    double *numbers = NS_NEW_ARRAY(cli->arena, double, s->constants.n);
    int width = 8;
    for (uint32_t i = 0; i < s->constants.n; i++) {
        width = ns_terminal_wider(width, s->constants.at[i].name);
        values[i] = s->constants.at[i].value;
    }
    evaluate(m, values, s->constants.n, numbers);
    ns_terminal_heading(cli->out, &cli->style_out,
                        "Mass properties (inertia about the centre of mass, tensor entries)");
    for (uint32_t i = 0; i < s->constants.n; i++)
        print_line(cli, width, s->constants.at[i].name, numbers[i], s->constants.at[i].unit,
                   "");
}

/* --form: does the vector field satisfy i_Y omega = dE on the distribution? */
static bool print_form(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    uint32_t points = 0;
    const double worst = s->formulation->form ? s->formulation->form(s, m->p, m->x0, &points)
                                              : NAN;
    if (!points)
        return ns_command_refuse(
            cli, "--form is about rolling bodies without loads on a fixed ground");
    ns_terminal_heading(cli->out, &cli->style_out, "Semi-symplectic form");
    fprintf(cli->out,
            "  omega(Y, v) = dE(v) at %u random states and variations: largest "
            "relative difference %.1e\n",
            points, worst);
    return worst < 1e-10;
}

/* Names in lines of readable length. */
static void print_names(ns_cli *cli, const ns_model *m)
{
    const ns_system *s = m->system;
    ns_terminal_heading(cli->out, &cli->style_out, "Values (--show, --out, --json)");
    size_t column = 0;
    for (uint32_t i = 0; i < s->observables.n; i++) {
        const ns_observable *o = &s->observables.at[i];
        const char *comma = i + 1 < s->observables.n ? "," : "";
        const size_t length = strlen(o->name) + strlen(comma) + 1;
        if (column && column + length > 76) {
            fputc('\n', cli->out);
            column = 0;
        }
        column += length;
        fprintf(cli->out, "%s%s%s", column == length ? "  " : " ", o->name, comma);
    }
    fputc('\n', cli->out);
}

static void print_events(ns_cli *cli, const ns_model *m)
{
    static const char *const actions[] = {"recorded", "stops the run", "warns",
                                          "stops the run: singular"};
    const ns_system *s = m->system;
    if (!s->events.n)
        return;
    int width = 8;
    for (uint32_t i = 0; i < s->events.n; i++)
        width = ns_terminal_wider(width, s->events.at[i].name);
    ns_terminal_heading(cli->out, &cli->style_out, "Events");
    for (uint32_t i = 0; i < s->events.n; i++) {
        const ns_event *e = &s->events.at[i];
        fprintf(cli->out, "  %-*s %s%s%s%s\n", width, e->name, actions[e->action],
                e->direction > 0   ? ", rising"
                : e->direction < 0 ? ", falling"
                                   : "",
                e->meaning ? ": " : "", e->meaning ? e->meaning : "");
    }
}

static int check(ns_cli *cli, const ns_arguments *a)
{
    int status;
    ns_model *model = ns_open_model(cli, a, a->words.at[0], NS_MODEL_READY, &status);
    if (!model)
        return status;
    print_facts(cli, model);
    print_parameters(cli, model);
    print_constants(cli, model);
    bool good = print_start(cli, model);
    print_constraints(cli, model);
    print_ranks(cli, model);
    good = print_invariants(cli, model) && good;
    print_claims(cli, model);
    good = print_maps(cli, model) && good;
    if (ns_command_flag(a, "form"))
        good = print_form(cli, model) && good;
    print_events(cli, model);
    print_names(cli, model);
    ns_model_free(model);
    return good ? 0 : ns_status_exit(NS_ERR_MODEL);
}

static const ns_option options[] = {
    NS_OPTION_SET,
    {.name = "form",
     .help =
         "rolling bodies: verify the two-form and dE on the distribution (Patrick 2022, (10))"},
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
    .least = 1,
    .most = 1,
    .run = check,
};
