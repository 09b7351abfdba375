/* Help topics.  What the program knows in tables (statements, functions, units, methods,
 * formulations, file formats) is printed from the tables. */
#include "cli/topics.h"

#include <string.h>

#include "lang/functions.h"
#include "lang/statements.h"
#include "lang/units.h"
#include "mech/system.h"
#include "ode/auto.h"
#include "out/formats.h"

void ns_topic_line(ns_host *host, int width, const char *name, const char *words)
{
    if ((int)strlen(name) > width)
        fprintf(host->out, "  %s\n  %-*s  %s\n", name, width, "", words);
    else
        fprintf(host->out, "  %-*s  %s\n", width, name, words);
}

static void print_methods(ns_host *host)
{
    fprintf(host->out, "Integration methods, for --method or  run { method NAME }:\n\n");
    for (const ns_method *const *m = ns_methods; *m; m++) {
        ns_topic_line(host, 10, (*m)->name, (*m)->summary);
        if (m == ns_methods && !strstr((*m)->summary, "default"))
            ns_topic_line(host, 10, "", "(the default)");
    }
    ns_topic_line(host, 10, NS_METHOD_AUTO, "whichever of these costs least, by short trials");
    fprintf(host->out, "\n`noslip help NAME` says more.\n");
}

static void print_formulations(ns_host *host)
{
    fprintf(host->out,
            "Formulations: how equations of motion are derived from a model.  Which one "
            "is used\nfollows from the model, or from its line  formulation NAME.\n\n");
    for (const ns_formulation *const *f = ns_formulations; *f; f++)
        ns_topic_line(host, 12, (*f)->name, (*f)->summary);
    fprintf(host->out, "\n`noslip help NAME` says more.\n");
}

static void print_functions_of(ns_host *host)
{
    ns_style_heading(host->out, &host->style_out, "Functions");
    fprintf(host->out, " ");
    for (int op = 0; op < NS_OP_COUNT; op++)
        if (ns_ops[op].name && ns_ops_find(ns_ops[op].name) == (ns_op)op)
            fprintf(host->out, " %s", ns_ops[op].name);
    fputc('\n', host->out);
    for (const ns_builtin *b = ns_builtins; b->name; b++)
        ns_topic_line(host, 24, b->form ? b->form : b->name, b->help ? b->help : "");
}

static void print_language(ns_host *host)
{
    fprintf(host->out,
            "A model says what a system is; the program derives the equations.  An example:\n"
            "\n"
            "    title \"Chaplygin sleigh\"\n"
            "    param m = 1 kg, J = 1, a = 1 m\n"
            "    coordinate theta, x, y\n"
            "    let vx = x' - a*sin(theta)*theta', vy = y' + a*cos(theta)*theta'\n"
            "    lagrangian m/2*(vx^2 + vy^2) + J/2*theta'^2\n"
            "    constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
            "    start { x' = 1; theta' = 0.1 }\n"
            "    run { until 20 }\n"
            "\n"
            "A statement ends with its line or with ; and # begins a comment.  x' is the time\n"
            "derivative of x; units are factors (6 cm).\n");
    ns_style_heading(host->out, &host->style_out, "Statements");
    for (const ns_statement *s = ns_statements; s->keyword; s++)
        ns_topic_line(host, 34, s->form, s->help);
    for (const ns_block_form *const *form = ns_blocks; *form; form++)
        ns_topic_line(host, 34, (*form)->form, (*form)->help);
    print_functions_of(host);
    ns_style_heading(host->out, &host->style_out, "Settings of run { }");
    ns_topic_line(host, 34, "from T, until T", "the time span; from is 0 unless set");
    ns_topic_line(host, 34, "every DT", "output interval");
    ns_topic_line(host, 34, "tolerance R, method M", "as --tol and --method");
    ns_topic_line(host, 34, "step H", "constant steps, no error control");
    ns_topic_line(host, 34, "first_step H, max_step H, max_steps N",
                  "limits of the steps (max_steps 1e9)");
    ns_topic_line(host, 34, "project on|off", "keep the state on its manifold (on)");
    fprintf(host->out, "\nThe reference is docs/language.md.\n");
}

static void print_units(ns_host *host)
{
    fprintf(host->out,
            "Units are factors after a number: 6 cm, 0.5 deg, 3 m/s^2.  Everything is "
            "computed in SI.\n\n");
    for (const ns_unit *u = ns_units; u->name; u++) {
        char words[80];
        if (strcmp(u->name, u->si) == 0)
            snprintf(words, sizeof words, "%s", u->help);
        else
            snprintf(words, sizeof words, "%s, %.10g%s %s", u->help,
                     u->numerator / u->denominator, u->pi ? " pi" : "", u->si);
        ns_topic_line(host, 8, u->name, words);
    }
}

static void print_values(ns_host *host)
{
    fprintf(
        host->out,
        "Names of values in tables, files and JSON.  `noslip check MODEL` lists those of a\n"
        "model.\n\n");
    ns_topic_line(host, 26, "x, x'", "a coordinate and its velocity");
    ns_topic_line(host, 26, "energy", "where the system has one");
    ns_topic_line(host, 26, "lambda.NAME", "multiplier of the constraint NAME");
    ns_topic_line(host, 26, "v1, p1", "a quasivelocity, a momentum (formulation hamel)");
    ns_topic_line(host, 26, "quat.w .x .y .z", "orientation of a body");
    ns_topic_line(host, 26, "omega.x .y .z", "its angular velocity in the body frame");
    ns_topic_line(host, 26, "com.x .y .z", "its centre of mass, in space");
    ns_topic_line(host, 26, "centre.x .y .z", "origin of its geometric frame, in space");
    ns_topic_line(host, 26, "contact.x .y .z", "point of contact, in space");
    ns_topic_line(host, 26, "s.x .y .z", "the same from the centre of mass, in the body");
    ns_topic_line(host, 26, "force.normal .friction",
                  "contact force; force.ratio is friction/normal");
    ns_topic_line(host, 26, "BODY.com.x", "with several bodies: the body's name in front");
    ns_topic_line(host, 26, "NAME", "whatever the model declares by  observe NAME = EXPR");
    fprintf(host->out, "\nSI units, unless an observe line says  in UNIT.\n");
}

static void print_files(ns_host *host)
{
    fprintf(host->out, "The format of a file follows from the end of its name:\n\n");
    for (const ns_output_format *const *f = ns_output_formats; *f; f++)
        ns_topic_line(host, 6, (*f)->extension, (*f)->summary);
    fprintf(
        host->out,
        "\n"
        "Rows are the times of --at or --every; without them the end only.  Files are brought\n"
        "up to date every few seconds by replacing them as a whole, or by whole lines (CSV):\n"
        "a kill or a full disk leaves a readable file with the results up to then.  An\n"
        "existing file is replaced when the first results are there.\n");
}

static void print_json(ns_host *host)
{
    fprintf(host->out,
            "--json prints one object:\n"
            "\n"
            "  model, formulation   title of the model; how it was derived\n"
            "  status, reason       \"done\" or \"stopped\"; why, in words\n"
            "  t                    array of output times\n"
            "  values               name -> array, at these times\n"
            "  events               array of {name, t, values}\n"
            "  diagnostics          energy_drift  largest |E-E0|/max(|E0|, kinetic scale)\n"
            "                                     (null where the energy is not conserved:\n"
            "                                     energy_conserved false, energy_change)\n"
            "                       constraints   name -> largest absolute residual\n"
            "                       invariants    name -> largest relative drift\n"
            "                       contacts      name -> least normal force (constrained)\n"
            "                       rank          smallest and largest of A, of M|A^T;\n"
            "                                     rows, coordinates\n"
            "                       steps, evaluations, seconds\n"
            "\n"
            "Numbers read back to the same double; what has no finite value is null.\n");
}

static void print_status(ns_host *host)
{
    fprintf(host->out,
            "Exit status:\n\n"
            "  0  done\n"
            "  1  the motion ended early for a physical or numerical reason, or was\n"
            "     interrupted; the reason is said, everything up to then is kept\n"
            "  2  the command or the model is wrong\n"
            "  3  the system failed: disk, memory\n");
}

const ns_topic ns_topics[] = {
    {"language", "the model language in short", print_language},
    {"units", "units of the language", print_units},
    {"methods", "integration methods", print_methods},
    {"formulations", "how equations are derived", print_formulations},
    {"values", "names of values", print_values},
    {"files", "output files", print_files},
    {"json", "the object printed by --json", print_json},
    {"status", "exit status", print_status},
    {NULL, NULL, NULL},
};
