/* What a symmetry tells the reader: facts for `noslip check`, lines for `noslip equations`. */
#include "expr/eval.h"
#include "mech/reduced/symmetry.h"

/* A line for every entry of an array that does not vanish.  Index i of the array is printed as
 * [first[0] + .., first[1] + .., ..] for the sizes in `size`; a size of 0 ends. */
static void lines(const ns_symmetry *y, ns_text *vanishing, const char *group,
                  const char *symbol, const ns_ex *at, const uint32_t size[3],
                  const uint32_t first[3])
{
    ns_system *s = y->s;
    uint32_t total = 1, shown = 0;
    for (uint32_t d = 0; d < 3; d++)
        total *= size[d];
    for (uint32_t i = 0; i < total; i++) {
        if (ns_graph_is_zero(s->graph, at[i]) || ns_eval_vanishes(s->graph, at[i], 0))
            continue;
        const uint32_t index[3] = {i / (size[1] * size[2]) + first[0],
                                   i / size[2] % size[1] + first[1], i % size[2] + first[2]};
        ns_text name = ns_text_new(s->arena);
        ns_text_addf(&name, "%s[", symbol);
        for (uint32_t d = 0; d < 3; d++)
            if (first[d])
                ns_text_addf(&name, "%s%u", name.at[name.length - 1] == '[' ? "" : ",",
                             index[d]);
        ns_text_addf(&name, "]");
        NS_PUSH(
            s->arena, s->equations,
            (ns_equation_line){.group = group, .name = ns_text_string(&name), .value = at[i]});
        shown++;
    }
    if (!shown && total)
        ns_text_addf(vanishing, "%s%s", vanishing->length ? ", " : "", symbol);
}

static const char *list(const ns_symmetry *y, const uint32_t *places, uint32_t n)
{
    ns_text text = ns_text_new(y->s->arena);
    for (uint32_t i = 0; i < n; i++)
        ns_text_addf(&text, "%s%s", i ? ", " : "", y->d->coordinates.at[places[i]].name);
    return n ? ns_text_string(&text) : "none";
}

void ns_symmetry_note(const ns_symmetry *y)
{
    ns_system *s = y->s;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma, u = k - m;
    ns_system_fact(s, "symmetry", "%s on %s; shape: %s", y->name, list(y, y->group, k),
                   list(y, y->shape, sigma));
    ns_system_fact(s, "invariance", "L to %.1e, constraints to %.1e, at %d random states",
                   y->invariance_L, y->invariance_D, (int)NS_SYMMETRY_POINTS);
    if (y->constraints)
        ns_system_fact(s, "dimension assumption", "holds (smallest singular value %.2g)",
                       y->principal);
    ns_system_fact(s, "S = D cap V", "dimension %u%s", m,
                   !y->constraints ? " (no constraints: all of the group)"
                   : m == 0        ? ": purely kinematic, no momentum equation"
                                   : "");
    ns_text zero = ns_text_new(s->arena);
    const uint32_t pair[3] = {1, k, k}, both[3] = {0, 1, 1}, all[3] = {1, 1, 1};
    lines(y, &zero, "frame e_A(r) along the basis of the Lie algebra", "e", y->e, pair, both);
    lines(y, &zero, "brackets of the frame [e_A, e_B] = C_AB^C e_C", "C", y->C,
          (const uint32_t[3]){k, k, k}, all);
    lines(y, &zero, "gamma: de_A/dr = gamma e_B (2.16)", "gamma", y->gamma,
          (const uint32_t[3]){k, sigma, k}, all);
    lines(y, &zero,
          y->constraints ? "nonholonomic connection (Def 4.2)"
                         : "mechanical connection (Def 2.4)",
          "A", y->A, (const uint32_t[3]){1, sigma, k}, both);
    if (y->constraints)
        lines(y, &zero, "mechanical connection (Def 2.4)", "Amech", y->mech,
              (const uint32_t[3]){1, sigma, k}, both);
    lines(y, &zero, y->constraints ? "constrained locked inertia" : "locked inertia", "I",
          y->IS, (const uint32_t[3]){1, m, m}, both);
    lines(y, &zero, "inertia across: I_US", "IUS", y->IUS, (const uint32_t[3]){1, u, m},
          (const uint32_t[3]){0, m + 1, 1});
    lines(y, &zero, "metric of the shape G_c", "Gc", y->Gc,
          (const uint32_t[3]){1, sigma, sigma}, both);
    lines(y, &zero, "curvature of the connection, with gamma (4.11)", "B", y->B,
          (const uint32_t[3]){sigma, sigma, k}, all);
    lines(y, &zero, "E (2.18)", "E", y->Ecal, (const uint32_t[3]){sigma, m, k}, all);
    lines(y, &zero, "Lambda", "Lambda", y->Lambda, (const uint32_t[3]){1, u, sigma},
          (const uint32_t[3]){0, m + 1, 1});
    lines(y, &zero, "momentum equation: Q, quadratic in p", "Q", y->Q,
          (const uint32_t[3]){m, m, m}, all);
    lines(y, &zero, "momentum equation: tau, D_{a alpha}^c (4.11)", "tau", y->tau,
          (const uint32_t[3]){m, sigma, m}, all);
    lines(y, &zero, "momentum equation: D_{a alpha beta}, quadratic in r'", "D", y->R,
          (const uint32_t[3]){m, sigma, sigma}, all);
    if (y->linear) {
        lines(y, &zero, "velocities given by the constraints: Omega^a'", "w", y->w,
              (const uint32_t[3]){1, 1, u}, (const uint32_t[3]){0, 0, m + 1});
        lines(y, &zero, "p at Omega = 0, from linear terms and given velocities", "base",
              y->base, (const uint32_t[3]){1, 1, m}, (const uint32_t[3]){0, 0, 1});
    }
    if (zero.length)
        ns_system_fact(s, "vanishing", "%s", ns_text_string(&zero));
    NS_PUSH(s->arena, s->equations,
            (ns_equation_line){.group = "potential", .name = "V", .value = y->V});
}

void ns_symmetry_note_reduced(const ns_symmetry *y)
{
    ns_system *s = y->s;
    ns_graph *g = s->graph;
    const uint32_t k = y->k, m = y->m, sigma = y->sigma;
    const char *group = y->constraints ? "reduced equations (4.6), (4.7) and reconstruction"
                                       : "reduced equations (2.13)-(2.15)";
    ns_ex *p = NS_NEW_ARRAY(s->arena, ns_ex, m + 1), *O = NS_NEW_ARRAY(s->arena, ns_ex, m + 1);
    ns_ex *P = NS_NEW_ARRAY(s->arena, ns_ex, k + 1);
    ns_ex *rate = NS_NEW_ARRAY(s->arena, ns_ex, sigma + m + k + 1);
    for (uint32_t a = 0; a < m; a++)
        p[a] = ns_symbol_new(g, ns_arena_format(s->arena, "p%u", a + 1), NS_SYM_LOCAL, a);
    ns_symmetry_velocity(y, p, O);
    ns_symmetry_full_momentum(y, p, P);
    ns_symmetry_shape_rate(y, O, P, rate);
    ns_symmetry_momentum_rate(y, O, P, rate + sigma);
    ns_symmetry_group_rate(y, O, rate + sigma + m);
    for (uint32_t i = 0; i < sigma + m + k; i++) {
        const char *of = i < sigma       ? y->d->coordinates.at[y->shape[i]].name
                         : i < sigma + m ? ns_graph_symbol(g, p[i - sigma])->name
                                         : y->d->coordinates.at[y->group[i - sigma - m]].name;
        NS_PUSH(s->arena, s->equations,
                (ns_equation_line){
                    .group = group,
                    .name = ns_arena_format(s->arena, i < sigma ? "%s''" : "%s'", of),
                    .value = rate[i]});
    }
}
