/* Parts of C files that are made of models: see emit_c_parts.h. */
#include "out/program/emit_c_parts.h"

#include "expr/diff.h"
#include "out/program/emit_c_texts.h"

void ns_emit_c_values(ns_emit_c_writer *w, const char *head, const char *const *names,
                      const double *values, uint32_t n)
{
    ns_text_addf(w->out, "%s = {\n", head);
    for (uint32_t i = 0; i < n; i++) {
        ns_text_addf(w->out, "    %s, /* %u: %s */\n", ns_emit_c_number(w, values[i]), i,
                     ns_emit_c_comment(w->arena, names[i]));
    }
    ns_text_addf(w->out, "%s};\n\n", n ? "" : "    0.0\n");
}

void ns_emit_c_numbers(ns_emit_c_writer *w)
{
    const ns_system *s = w->system;
    const ns_description *d = s->description;
    const char **names = NS_NEW_ARRAY(w->arena, const char *, s->states.n + d->params.n + 1);
    for (uint32_t i = 0; i < d->params.n; i++)
        names[i] = d->params.at[i].name;
    ns_emit_c_values(w, "static const double parameters[]", names, w->model->p, d->params.n);
    for (uint32_t i = 0; i < s->states.n; i++)
        names[i] = s->states.at[i].name;
    ns_emit_c_values(w, "static const double start[]", names, w->model->x0, s->states.n);
}

void ns_emit_c_rates_and_values(ns_emit_c_writer *w)
{
    const ns_system *s = w->system;
    const uint32_t n = s->states.n, nv = s->observables.n;
    const char **names = NS_NEW_ARRAY(w->arena, const char *, n + nv + (size_t)1);
    ns_ex *roots = NS_NEW_ARRAY(w->arena, ns_ex, n + nv + (size_t)1);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = ns_arena_format(w->arena, "d/dt %s", s->states.at[i].name);
        roots[i] = s->states.at[i].rate;
    }
    for (uint32_t i = 0; i < nv; i++) {
        names[n + i] = s->observables.at[i].name;
        roots[n + i] = s->observables.at[i].value;
    }
    ns_text_add(w->out, "/* Derivatives of the states. */\n"
                        "void model_rhs(double t, const double x[STATES], const double *p,"
                        " double dx[STATES])\n{\n");
    ns_emit_c_body(w, roots, n, "dx", NULL, names);
    ns_text_add(w->out, "}\n\n/* Everything that can be observed. */\n"
                        "void model_values(double t, const double x[STATES], const double *p,"
                        " double v[VALUES])\n{\n");
    ns_emit_c_body(w, roots + n, nv, "v", NULL, names + n);
    ns_text_add(w->out, "}\n\n");
}

/* ---- constraints ------------------------------------------------------------------------- */

ns_emit_c_equations ns_emit_c_equations_new(ns_arena *arena, const ns_system *s,
                                            const ns_ex *residual, const char *const *name,
                                            uint32_t rows)
{
    enum { LARGE = 100000 }; /* entries of the Jacobian: they are on the stack */
    const uint32_t n = s->states.n;
    ns_emit_c_equations k = {.rows = rows};
    if ((uint64_t)rows * n > LARGE)
        return (ns_emit_c_equations){.dropped = rows};
    const ns_ex *x = ns_system_state_symbols(s, arena);
    ns_ex *G = NS_NEW_ARRAY(arena, ns_ex, (size_t)rows * n + 1);
    for (uint32_t i = 0; i < rows; i++) {
        NS_PUSH(arena, k.value, residual[i]);
        NS_PUSH(arena, k.place, i);
        NS_PUSH(arena, k.name, name[i]);
    }
    ns_diff_jacobian(s->graph, residual, rows, x, n, G);
    for (uint32_t i = 0; i < rows * n; i++) {
        if (ns_graph_is_zero(s->graph, G[i]))
            continue;
        NS_PUSH(arena, k.value, G[i]);
        NS_PUSH(arena, k.place, rows + i);
        NS_PUSH(arena, k.name,
                ns_arena_format(arena, "d(%s)/d(%s)", name[i / n], s->states.at[i % n].name));
    }
    return k;
}

ns_emit_c_equations ns_emit_c_constraints(ns_arena *arena, const ns_system *s)
{
    NS_LIST(ns_ex) g = {0};
    NS_LIST(const char *) name = {0};
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project) {
            NS_PUSH(arena, g, s->constraints.at[i].residual);
            NS_PUSH(arena, name, s->constraints.at[i].name);
        }
    return ns_emit_c_equations_new(arena, s, g.at, name.at, g.n);
}

void ns_emit_c_put_equations(ns_emit_c_writer *w, const ns_emit_c_equations *k,
                             const char *name, const char *count)
{
    ns_text_addf(w->out,
                 "/* What is to vanish, and its derivatives by the states, by rows. */\n"
                 "void %s(double t, const double x[STATES], const double *p, double *g)\n{\n",
                 name);
    if (k->rows)
        ns_text_addf(w->out,
                     "    for (int i = 0; i < %s*(STATES + 1); i++)\n"
                     "        g[i] = 0.0;\n",
                     count);
    else
        ns_text_add(w->out, "    (void)g;\n");
    ns_emit_c_body(w, k->value.at, k->value.n, "g", k->place.at, k->name.at);
    ns_text_add(w->out, "}\n\n");
}

/* ---- the integrator ---------------------------------------------------------------------- */

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
                     problem->correction                   ? "1.0"
                     : problem->system->states.at[i].level ? "0.0"
                     : velocity                            ? "1e6"
                                                           : "1.0");
    }
    ns_text_add(w->out, "\n};\n\n");
}

void ns_emit_c_integration(ns_emit_c_writer *w, const ns_emit_c_equations *kept)
{
    if (kept->rows) {
        put_weights(w);
        ns_text_add(w->out, ns_emit_c_projection);
    } else
        ns_text_add(w->out, ns_emit_c_no_projection);
    ns_text_add(w->out, ns_emit_c_integrator);
}
