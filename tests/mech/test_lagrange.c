/* Formulation `lagrange`: what is solved for, in short form and with constraints eliminated,
 * against the equations as they are defined, written with the Lagrangian of the text:
 *
 *     d/dt dL/dv - dL/dq - F = A^T lambda,    d psi/dt = 0
 *
 * by exact differentiation, at states that need not satisfy the constraints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/normal/shorten.h"
#include "mech/common/dalembert.h"
#include "support/measure.h"
#include "support/motion.h"

static ns_ex value_of(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return s->observables.at[i].value;
    fail_msg("no value %s", name);
    return 0;
}

/* Largest residual of the equations near the start, in units of the largest term. */
static double residual(const char *name)
{
    ns_model *m = motion_model_file(name, NULL);
    ns_system *s = m->system;
    ns_graph *g = s->graph;
    const ns_description *d = s->description;
    const ns_dalembert *w = s->own;
    const uint32_t n = w->n;
    ns_ex *x = calloc(4 * n + 2, sizeof *x), *dx = x + 2 * n + 1;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = w->q[i];
        dx[i] = w->v[i];
        x[n + i] = w->v[i];
        dx[n + i] = s->accelerations.at[i].to;
    }
    x[2 * n] = d->time;
    dx[2 * n] = ns_one(g);
    ns_ex *terms = calloc((size_t)(3 + w->m) * n + w->m, sizeof *terms);
    const uint32_t each = 3 + w->m;
    for (uint32_t i = 0; i < n; i++) {
        const ns_ex momentum = ns_diff(g, d->lagrangian, w->v[i]);
        ns_ex *row = terms + (size_t)each * i;
        ns_diff_along(g, &momentum, 1, x, dx, 2 * n + 1, &row[0]);
        row[1] = ns_neg(g, ns_diff(g, d->lagrangian, w->q[i]));
        row[2] = ns_zero(g);
        for (uint32_t k = 0; k < d->forces.n; k++)
            if (d->forces.at[k].coordinate == i)
                row[2] = ns_sub(g, row[2], d->forces.at[k].value);
        for (uint32_t k = 0; k < w->m; k++) {
            char text[80];
            snprintf(text, sizeof text, "lambda.%s", d->constraints.at[k].name);
            row[3 + k] = ns_neg(g,
                                ns_mul(g, ns_diff(g, w->psi[k], w->v[i]), value_of(s, text)));
        }
    }
    ns_diff_along(g, w->psi, w->m, x, dx, 2 * n + 1, terms + (size_t)each * n);
    const size_t count = (size_t)each * n + w->m;
    double *out = calloc(count + 2 * n, sizeof *out), *state = out + count, worst = 0;
    uint64_t seed = 7;
    for (int trial = 0; trial < 5; trial++) {
        for (uint32_t i = 0; i < 2 * n; i++)
            state[i] = m->x0[i] + (trial ? ns_eval_random(&seed) - 0.5 : 0);
        ns_system_eval(s, terms, count, 0.3, m->p, state, out);
        double largest = 1e-3, most = 0;
        for (uint32_t i = 0; i < n; i++) {
            double sum = 0;
            for (uint32_t k = 0; k < each; k++) {
                sum += out[each * i + k];
                largest = fmax(largest, fabs(out[each * i + k]));
            }
            most = fmax(most, fabs(sum));
        }
        for (uint32_t k = 0; k < w->m; k++)
            most = fmax(most, fabs(out[(size_t)each * n + k]));
        worst = fmax(worst, isfinite(most) ? most / largest : INFINITY);
    }
    free(out);
    free(terms);
    free(x);
    ns_model_free(m);
    return worst;
}

static void equations(void **state)
{
    (void)state;
    /* blades and wheels, rows that depend on each other, rows that are left over, positions,
     * time */
    static const char *const names[] = {"chaplygin-sleigh",
                                        "sleigh-oscillator",
                                        "snakeboard",
                                        "roller-racer",
                                        "carriage",
                                        "falling-disk",
                                        "vertical-disk",
                                        "knife-edge",
                                        "r2-invariant",
                                        "nonholonomic-particle",
                                        "foucault-pendulum",
                                        "spherical-pendulum",
                                        "double-pendulum",
                                        "double-pendulum-particles",
                                        "bead-on-hoop-particle",
                                        "kepler"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        /* a few dozen roundings; the largest found is 1.6e-15 */
        measure_below(residual(names[i]), 1e-14, "equations", names[i]);
}

/* Fewer operations where there is something to gain, the same numbers in quadruple
 * precision. */
static void short_forms(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    if (!arena || NS_ARENA_GUARD(arena))
        fail_msg("out of memory");
    ns_graph *g = ns_graph_new(arena);
    const ns_ex q = ns_symbol_new(g, "q", NS_SYM_COORD, 0);
    const ns_ex m = ns_symbol_new(g, "m", NS_SYM_PARAM, 0), tenth = ns_decimal(g, "0.1");
    const ns_ex s = ns_sin(g, q), c = ns_cos(g, q);
    const ns_ex inertia = ns_add(g, ns_mul(g, s, ns_mul(g, m, s)),
                                 ns_mul(g, c, ns_mul(g, m, c)));
    assert_int_equal(ns_shorten(g, inertia), m);
    /* a number that is no binary fraction is not computed with */
    const ns_ex third = ns_add(g, inertia, ns_mul(g, tenth, q));
    assert_int_equal(ns_shorten(g, third), third);
    /* what gets longer stays: (q - m)^2 */
    const ns_ex square = ns_powi(g, ns_sub(g, q, m), 2);
    assert_int_equal(ns_shorten(g, square), square);
    const ns_ex both[2] = {s, ns_mul(g, s, s)};
    assert_true(ns_shorten_cost(g, both, 2) < 2 * ns_shorten_cost(g, both, 1));
    ns_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equations),
                                       cmocka_unit_test(short_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
