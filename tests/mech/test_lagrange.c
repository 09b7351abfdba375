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
static double residual(ns_model *m)
{
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
        measure_below(residual(motion_model_file(names[i], NULL)), 1e-14, "equations",
                      names[i]);
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

/* ---- along the tree of velocities -------------------------------------------------------- */

typedef struct links {
    const char *name;
    int (*parent)(int i); /* 0: none */
    bool relative;        /* angles from link to link */
    bool cart;            /* all of it hangs on something that moves */
    const char *more;     /* statements, in terms of p1, p2, ...; their positions */
    int tree;             /* is one expected? */
    const char *kinetic;  /* added to the Lagrangian */
    const char *refused;  /* words of the message */
} links;

static int before(int i)
{
    return i - 1;
}

static int half(int i)
{
    return i / 2;
}

static int none(int i)
{
    (void)i;
    return 0;
}

static ns_model *links_model(const links *k, int n)
{
    static char text[200000];
    size_t at = (size_t)snprintf(text, sizeof text,
                                 "param m = 0.3, l = 0.4, g = 9.81, w = 2\n"
                                 "let arm(q) = l*[sin(q), -cos(q)]\n"
                                 "let share(p) = m/2*dot(p', p') - m*g*p.y\n"
                                 "coordinate q0\nlet p0 = [%s, 0], a0 = 0\n",
                                 k->cart ? "q0" : "0.1*sin(w*t)");
    for (int i = 1; i <= n; i++) {
        char above[20] = "0";
        if (k->relative && k->parent(i))
            snprintf(above, sizeof above, "a%d", k->parent(i));
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "coordinate q%d\nlet a%d = %s + q%d, p%d = p%d + arm(a%d)\n", i,
                               i, above, i, i, k->parent(i), i);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "lagrangian q0'^2%s", k->kinetic);
    for (int i = 1; i <= n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " + share(p%d)", i);
    at += (size_t)snprintf(text + at, sizeof text - at, "\n%s\nstart {", k->more);
    for (int i = 1; i <= n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " q%d ~ 0.%d; q%d' ~ 0.5;", i,
                               1 + i % 7, i);
    snprintf(text + at, sizeof text - at, "}\n");
    ns_model *m = ns_model_load_text(k->name, text, strlen(text), NULL, 0, NS_MODEL_READY);
    if (!m || (m->status != NS_OK && !k->refused))
        fail_msg("%s: %s", k->name, m ? m->messages : "out of memory");
    return m;
}

static bool has_tree(const ns_model *m)
{
    return ((const ns_dalembert *)m->system->own)->tree;
}

/* What is solved along the tree solves the equations as defined, for every kind of coupling
 * that changes the order of elimination, with constraints and without; and where L is not
 * quadratic or a pivot vanishes there is no tree. */
static void trees(void **state)
{
    (void)state;
    static const links kinds[] = {
        {"chain", before, false, false, "", 1, "", NULL},
        {"relative angles", before, true, false, "", 1, "", NULL},
        {"chain on a cart", before, true, true, "", 1, "", NULL},
        {"binary tree", half, true, true, "", 1, "", NULL},
        {"pendulums on a cart", none, false, true, "", 1, "", NULL},
        {"closed loop", before, false, true, "constraint end: p24 = [0.5, -1.5]", 1, "", NULL},
        {"blade at the end", before, true, true,
         "constraint blade: dot(p24', [-sin(a24), cos(a24)]) = 0\nforce q3 = -q3'", 1, "",
         NULL},
        {"linear and gyroscopic terms", before, false, true, "", 1,
         " + w*q1*q2' - (q3' - q4')*(q5' + q6')/1000 + (q0' + w*t)^2/3", NULL},
        {"velocities in a root", before, false, true, "", 0, " + sqrt(1 + q1'^2)", NULL},
        {"no square of q0'", before, false, false, "", 0, " - q0'^2 + q0'*q1'/10", NULL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ns_model *m = links_model(&kinds[i], 24);
        if (has_tree(m) != kinds[i].tree)
            fail_msg("%s: %s", kinds[i].name, kinds[i].tree ? "no tree" : "a tree");
        /* condition of M: up to 24^2 links times the 1e-15 of the models above */
        measure_below(residual(m), 1e-13, "equations along the tree", kinds[i].name);
    }
}

/* Operations per link do not grow with their number. */
static void linear_cost(void **state)
{
    (void)state;
    static const links kinds[] = {{"chain", before, false, false, "", 1, "", NULL},
                                  {"relative angles", before, true, true, "", 1, "", NULL},
                                  {"binary tree", half, true, true, "", 1, "", NULL},
                                  {"pendulums on a cart", none, false, true, "", 1, "", NULL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double operations[3];
        for (int k = 0; k < 3; k++) {
            ns_model *m = links_model(&kinds[i], 32 << k);
            assert_true(has_tree(m));
            operations[k] = ns_program_operations(ns_model_problem(m, false)->rhs, NULL);
            ns_model_free(m);
        }
        const double first = operations[1] - operations[0],
                     second = operations[2] - operations[1];
        measure_below(fabs(second / first - 2), 0.02, "growth", kinds[i].name);
    }
}

/* A mass that is zero, always or at the start alone, is found there and said of its
 * coordinate. */
static void massless_link(void **state)
{
    (void)state;
    static const links kinds[] = {{"always", before, false, false, "param e = 0", 0,
                                   " + (e - m)/2*dot(p24', p24')",
                                   "the accelerations of q24 are not determined"},
                                  {"at the start", before, false, false, "", 1, "*q0^2",
                                   "the accelerations of q0 are not determined"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ns_model *m = links_model(&kinds[i], 24);
        assert_int_equal(m->status, NS_ERR_MODEL);
        if (!strstr(m->messages, kinds[i].refused))
            fail_msg("%s: %s", kinds[i].name, m->messages);
        ns_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations), cmocka_unit_test(short_forms), cmocka_unit_test(trees),
        cmocka_unit_test(linear_cost), cmocka_unit_test(massless_link)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
