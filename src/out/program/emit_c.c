/* noslip emit c: see emit_c.h.
 *
 * Expressions are printed from the graph with names for what is shared (expr/print/print.h
 * chooses which), states and parameters under their own names as far as C allows.  The helpers
 * that the expressions use are written before them, and no others, so that no compiler
 * complains of unused functions. */
#include "out/program/emit_c.h"

#include <math.h>

#include "expr/diff.h"
#include "out/program/emit_c_texts.h"
#include "out/program/emit_c_writer.h"

/* ---- the file ---------------------------------------------------------------------------- */

/* name = value, one a line, as the initialiser of an array. */
static void put_values(ns_emit_c_writer *w, const char *head, const char *const *names,
                       const double *values, uint32_t n)
{
    ns_text_addf(w->out, "%s = {\n", head);
    for (uint32_t i = 0; i < n; i++) {
        ns_text_addf(w->out, "    %s, /* %u: %s */\n", ns_emit_c_number(w, values[i]), i,
                     ns_emit_c_comment(w->arena, names[i]));
    }
    ns_text_addf(w->out, "%s};\n\n", n ? "" : "    0.0\n");
}

static void put_strings(ns_emit_c_writer *w, const char *head, const char *const *names,
                        uint32_t n)
{
    ns_text_addf(w->out, "%s = {\n", head);
    for (uint32_t i = 0; i < n; i++)
        ns_text_addf(w->out, "    \"%s\",\n", ns_emit_c_comment(w->arena, names[i]));
    ns_text_addf(w->out, "%s};\n\n", n ? "" : "    \"\"\n");
}

/* ---- constraints ------------------------------------------------------------------------- */

/* Residuals that are to vanish along the motion, and the entries of their Jacobian that can
 * differ from zero, at their places in an array of both: residuals, then the Jacobian by
 * rows. */
typedef struct manifold {
    uint32_t rows, dropped; /* dropped: more than a file of this kind should project */
    NS_LIST(ns_ex) value;
    NS_LIST(uint32_t) place;
    NS_LIST(const char *) name;
} manifold;

static manifold find_manifold(ns_arena *arena, const ns_system *s)
{
    enum { LARGE = 100000 }; /* entries of the Jacobian: they are on the stack */
    const uint32_t n = s->states.n;
    manifold k = {0};
    for (uint32_t i = 0; i < s->constraints.n; i++)
        k.rows += s->constraints.at[i].project;
    if ((uint64_t)k.rows * n > LARGE)
        return (manifold){.dropped = k.rows};
    const ns_ex *x = ns_system_state_symbols(s, arena);
    ns_ex *g = NS_NEW_ARRAY(arena, ns_ex, k.rows + 1);
    ns_ex *G = NS_NEW_ARRAY(arena, ns_ex, (size_t)k.rows * n + 1);
    uint32_t row = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        if (!s->constraints.at[i].project)
            continue;
        g[row] = s->constraints.at[i].residual;
        NS_PUSH(arena, k.value, g[row]);
        NS_PUSH(arena, k.place, row++);
        NS_PUSH(arena, k.name, s->constraints.at[i].name);
    }
    ns_diff_jacobian(s->graph, g, k.rows, x, n, G);
    for (uint32_t i = 0; i < k.rows * n; i++) {
        if (ns_graph_is_zero(s->graph, G[i]))
            continue;
        NS_PUSH(arena, k.value, G[i]);
        NS_PUSH(arena, k.place, k.rows + i);
        NS_PUSH(
            arena, k.name,
            ns_arena_format(arena, "d(%s)/d(%s)", k.name.at[i / n], s->states.at[i % n].name));
    }
    return k;
}

static void put_manifold(ns_emit_c_writer *w, const manifold *k)
{
    ns_text_add(w->out,
                "/* What vanishes along the motion, and its derivatives by the states, by "
                "rows. */\n"
                "void model_constraints(double t, const double x[STATES], const double "
                "*p,\n                       double g[CONSTRAINTS*(STATES + 1)])\n{\n"
                "    for (int i = 0; i < CONSTRAINTS*(STATES + 1); i++)\n"
                "        g[i] = 0.0;\n");
    ns_emit_c_body(w, k->value.at, k->value.n, "g", k->place.at, k->name.at);
    ns_text_add(w->out, "}\n\n");
}

/* Velocities are cheaper to change than positions (ode/project.c). */
static void put_weights(ns_emit_c_writer *w)
{
    const ns_problem *problem = w->model->problem;
    const uint32_t n = problem->n;
    ns_text_add(w->out,
                "/* How easily a state is changed: velocities rather than positions. */\n"
                "static const double weight[STATES] = {");
    for (uint32_t i = 0; i < n; i++) {
        bool velocity = false;
        for (uint32_t j = 0; j < n; j++)
            velocity = velocity || problem->source[j] == i;
        ns_text_addf(w->out, "%s%s",
                     i == 0   ? "\n    "
                     : i % 12 ? ", "
                              : ",\n    ",
                     velocity && !problem->correction ? "1e6" : "1.0");
    }
    ns_text_add(w->out, "\n};\n\n");
}

static void put_head(const ns_emit_c_writer *w, const manifold *kept)
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

static void put_declarations(const ns_emit_c_writer *w, const manifold *kept)
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
                 kept->rows
                     ? "void model_constraints(double t, const double x[STATES], const "
                       "double *p,\n                       double g[CONSTRAINTS*(STATES + "
                       "1)]);\n"
                     : "");
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
    const uint32_t n = s->states.n, np = s->description->params.n, nv = s->observables.n;
    ns_text bodies = ns_text_new(arena);
    const manifold kept = find_manifold(arena, s);
    ns_emit_c_writer w = {.arena = arena,
                          .model = model,
                          .g = s->graph,
                          .out = &bodies,
                          .line = ns_text_new(arena)};
    w.names = NS_NEW_ARRAY(arena, const char *, ns_graph_size(s->graph));
    if (s->time)
        w.names[s->time] = "t";
    const char **states = NS_NEW_ARRAY(arena, const char *, n + 1);
    const char **rates = NS_NEW_ARRAY(arena, const char *, n + 1);
    const char **params = NS_NEW_ARRAY(arena, const char *, np + 1);
    const char **values = NS_NEW_ARRAY(arena, const char *, nv + 1);
    ns_ex *roots = NS_NEW_ARRAY(arena, ns_ex, n + nv + (size_t)1);
    for (uint32_t i = 0; i < n; i++) {
        states[i] = s->states.at[i].name;
        rates[i] = ns_arena_format(arena, "d/dt %s", states[i]);
        roots[i] = s->states.at[i].rate;
        ns_emit_c_name(&w, s->states.at[i].symbol, states[i]);
    }
    for (uint32_t i = 0; i < np; i++) {
        params[i] = s->description->params.at[i].name;
        ns_emit_c_name(&w, s->description->params.at[i].symbol, params[i]);
    }
    for (uint32_t i = 0; i < nv; i++) {
        values[i] = s->observables.at[i].name;
        roots[n + i] = s->observables.at[i].value;
    }

    ns_text_add(&bodies, "/* Derivatives of the states. */\n"
                         "void model_rhs(double t, const double x[STATES], const double *p,"
                         " double dx[STATES])\n{\n");
    ns_emit_c_body(&w, roots, n, "dx", NULL, rates);
    ns_text_add(&bodies, "}\n\n/* Everything that can be observed. */\n"
                         "void model_values(double t, const double x[STATES], const double *p,"
                         " double v[VALUES])\n{\n");
    ns_emit_c_body(&w, roots + n, nv, "v", NULL, values);
    ns_text_add(&bodies, "}\n\n");
    if (kept.rows)
        put_manifold(&w, &kept);

    w.out = out;
    put_head(&w, &kept);
    put_declarations(&w, &kept);
    put_values(&w, "static const double parameters[]", params, model->p, np);
    put_values(&w, "static const double start[]", states, model->x0, n);
    put_strings(&w, "static const char *const names[]", values, nv);
    for (int i = 0; i < NS_EMIT_HELPERS; i++)
        if (w.needs[i])
            ns_text_add(out, ns_emit_c_helpers[i]);
    ns_text_add_bytes(out, ns_text_string(&bodies), bodies.length);
    put_times(&w);
    if (kept.rows) {
        put_weights(&w);
        ns_text_add(out, ns_emit_c_projection);
    } else
        ns_text_add(out, ns_emit_c_no_projection);
    ns_text_add(out, ns_emit_c_integrator);
    ns_text_add(out, ns_emit_c_main);
}
