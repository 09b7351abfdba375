/* noslip emit c: see emit_c.h.
 *
 * Expressions are printed from the graph with names for what is shared (expr/print/print.h
 * chooses which), states and parameters under their own names as far as C allows.  The helpers
 * that the expressions use are written before them, and no others, so that no compiler
 * complains of unused functions. */
#include "out/program/emit_c.h"

#include <math.h>

#include "out/program/emit_c_parts.h"
#include "out/program/emit_c_texts.h"
#include "out/program/emit_c_writer.h"

static void put_head(const ns_emit_c_writer *w, const ns_emit_c_equations *kept)
{
    const ns_model *m = w->model;
    ns_text_addf(w->out, "/* %s\n *\n",
                 ns_emit_c_comment(w->arena, m->system->description->title));
    ns_text_addf(
        w->out,
        " * Equations of motion (formulation %s), written by noslip %s.\n"
        " *\n"
        " *     cc -O2 -o motion THIS_FILE -lm\n"
        " *     ./motion [END_TIME [OUTPUT_INTERVAL [TOLERANCE]]]  > motion.csv\n"
        " *\n"
        " * model_rhs and model_values are what another program needs; they keep nothing\n"
        " * between calls and may be used by several threads.  SI units.\n",
        m->system->formulation->name, NS_VERSION);
    if (m->system->description->params.n)
        ns_text_add(
            w->out,
            " *\n"
            " * The start was computed for the parameters given here: other parameters may\n"
            " * need another start.\n");
    if (kept->dropped)
        ns_text_addf(
            w->out,
            " *\n * The %u constraints are not imposed again after each step: they drift "
            "with the\n * errors of the integrator, and the motion with them.\n",
            kept->dropped);
    if (m->system->events.n)
        ns_text_add(w->out, " *\n * Events of the model are not part of this file.\n");
    ns_text_add(w->out, " */\n");
}

static void put_declarations(const ns_emit_c_writer *w, const ns_emit_c_equations *kept)
{
    const ns_system *s = w->model->system;
    ns_text_addf(w->out,
                 "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n"
                 "enum { STATES = %u, PARAMETERS = %u, VALUES = %u, CONSTRAINTS = %u };\n\n"
                 "void model_rhs(double t, const double x[STATES], const double *p,"
                 " double dx[STATES]);\n"
                 "void model_values(double t, const double x[STATES], const double *p,"
                 " double v[VALUES]);\n%s\n",
                 s->states.n, s->description->params.n, s->observables.n, kept->rows,
                 kept->rows ? "void model_constraints(double t, const double x[STATES], const "
                              "double *p,\n                       double *g);\n"
                            : "");
}

static void put_names(ns_emit_c_writer *w)
{
    const uint32_t n = w->system->observables.n;
    ns_text_add(w->out, "static const char *const names[] = {\n");
    for (uint32_t i = 0; i < n; i++)
        ns_text_addf(w->out, "    \"%s\",\n",
                     ns_emit_c_comment(w->arena, w->system->observables.at[i].name));
    ns_text_addf(w->out, "%s};\n\n", n ? "" : "    \"\"\n");
}

static void put_times(ns_emit_c_writer *w)
{
    const ns_model_settings *settings = &w->model->settings;
    const double from = isnan(settings->from) ? 0 : settings->from;
    const double until = isnan(settings->until) ? from + 1 : settings->until;
    ns_text_addf(
        w->out, "static const double first_time = %s, last_time = %s, interval = %s;\n\n",
        ns_emit_c_number(w, from), ns_emit_c_number(w, until),
        ns_emit_c_number(w, isnan(settings->every) ? fabs(until - from) : settings->every));
}

void ns_emit_c(const ns_model *model, ns_text *out)
{
    ns_arena *arena = out->arena;
    const ns_system *s = model->system;
    ns_text bodies = ns_text_new(arena);
    const ns_emit_c_equations kept = ns_emit_c_constraints(arena, s);
    ns_emit_c_writer w = ns_emit_c_writer_new(arena, model, s, &bodies);
    ns_emit_c_rates_and_values(&w);
    if (kept.rows)
        ns_emit_c_put_equations(&w, &kept, "model_constraints", "CONSTRAINTS");

    w.out = out;
    put_head(&w, &kept);
    put_declarations(&w, &kept);
    ns_emit_c_numbers(&w);
    put_names(&w);
    for (int i = 0; i < NS_EMIT_HELPERS; i++)
        if (w.needs[i])
            ns_text_add(out, ns_emit_c_helpers[i]);
    ns_text_add_bytes(out, ns_text_string(&bodies), bodies.length);
    put_times(&w);
    if (kept.rows)
        ns_text_add(out, ns_emit_c_least_change);
    ns_emit_c_integration(&w, &kept);
    ns_text_add(out, ns_emit_c_main);
}
