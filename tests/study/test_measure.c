/* Invariant measures: the decisions of Theorems 5.1 to 5.3 with their numbers, the divergence
 * on the graph, densities of coordinates, and the integral along motions in closed form. */
#include "mech/lie/lie.h"
#include "study/invariants/density.h"
#include "study/invariants/measure.h"
#include "support/measure.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static ns_measure *look(ns_model *model, const char *density, double until)
{
    ns_measure_options o = {.run = ns_model_run_options(model)};
    const char *message = "";
    if (until > 0)
        o.run.until = until;
    if (density) {
        ns_value value;
        assert_true(ns_description_evaluate(model->description, "density", density, &value));
        o.density = value.at[0];
    }
    ns_measure *m = ns_measure_new(model->problem, &o, model->p, model->x0, &message);
    assert_non_null(m);
    assert_int_equal(m->status, NS_OK);
    return m;
}

/* Bloch, Marsden and Zenkov 2009, 6.1: so(3).  With I = diag(1, 2, 3) and a = (1, 1, 1), K =
 * 1/(1 + 1/2 + 1/3) = 6/11 and ad*_b a = a x b = (1/3 - 1/2, 1 - 1/3, 1/2 - 1):  (-1/11, 4/11,
 * -3/11). */
static void suslov(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("suslov", NULL);
    ns_measure *m = look(model, NULL, 0);
    const ns_measure_algebra *r = m->algebra;
    assert_true(r->applies && r->unimodular && !r->preserved && !r->eigenvector[0]);
    assert_int_equal(r->negative, 3);
    measure_close(r->residual[0], -1. / 11, 1e-15, "residual");
    measure_close(r->residual[1], 4. / 11, 1e-15, "residual");
    measure_close(r->residual[2], -3. / 11, 1e-15, "residual");
    measure_close(r->gamma[0], 0, 1e-15, "gamma");
    assert_true(r->points > 10);
    measure_below(r->difference, 1e-14, "divergence on the graph", "suslov");
    measure_below(r->spatial, 1e-14, "(5.7)", "suslov");
    /* x' = k y^2, y' = -k x y: the divergence is -k x, and x = c tanh(k c (t - t0)) */
    double k = -r->rate, c = 2, t0 = 3, T = 40; /* rate: largest |div| at v.I v = 1 */
    measure_close(m->integral, log(cosh(k * c * t0)) - log(cosh(k * c * (T - t0))), 1e-13,
                  "integral of the divergence");
    ns_model_free(model);

    model = motion_model_file("suslov-axis", NULL);
    m = look(model, NULL, 0);
    assert_true(m->algebra->preserved && m->algebra->eigenvector[0] && m->vanishes);
    assert_true(m->algebra->gamma[0] == 0);
    ns_model_free(model);

    /* the same axis in other letters: any a along a principal axis of a full inertia */
    model = motion_model_text(
        "algebra so(3) { inertia [[2, 0.5, 0], [0.5, 2, 0], [0, 0, 3]] }\n"
        "constraint a: v1 - v2 = 0\nstart { v1 = 1; v3 = 0.5 }\n",
        NULL);
    m = look(model, NULL, 5);
    assert_true(m->algebra->preserved && m->algebra->eigenvector[0]);
    ns_model_free(model);
}

/* 6.2: se(2).  The residual is -m a/(J + m a^2) along the blade; it vanishes with a. */
static void sleigh(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("sleigh-se2", NULL);
    ns_measure *m = look(model, NULL, 0);
    assert_true(m->algebra->applies && m->algebra->unimodular && !m->algebra->preserved);
    measure_close(m->algebra->residual[0], 0, 1e-15, "residual");
    measure_close(m->algebra->residual[1], -0.8 / 0.82, 1e-15, "residual");
    measure_close(m->algebra->residual[2], 0, 1e-15, "residual");
    measure_below(m->algebra->difference, 1e-14, "divergence on the graph", "sleigh");
    ns_model_free(model);
    model = motion_model_file("sleigh-se2", "a=0");
    m = look(model, NULL, 0);
    assert_true(m->algebra->preserved && m->vanishes && m->integral == 0);
    ns_model_free(model);
}

/* Not unimodular: [e1, e2] = e2, Tr ad = (1, 0).  Free: no measure.  With a = (1, 0) the left
 * side is a itself: gamma = 1, and the volume is preserved after all (the motion stands
 * still). */
static void not_unimodular(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        "algebra table(2) { bracket 1, 2, e2; inertia [1, 2] }\n"
        "start { v = [0.3, 0.4] }\n",
        NULL);
    ns_measure *m = look(model, NULL, 5);
    assert_true(!m->algebra->unimodular && !m->algebra->preserved);
    measure_close(m->algebra->residual[0], 1, 1e-15, "residual");
    measure_below(m->algebra->difference, 1e-14, "divergence on the graph", "affine group");
    ns_model_free(model);
    model = motion_model_text("algebra table(2) { bracket 1, 2, e2; inertia [1, 2] }\n"
                              "constraint c: 2*v1 = 0\nstart { v2 = 0.4 }\n",
                              NULL);
    m = look(model, NULL, 5);
    assert_true(m->algebra->preserved);
    measure_close(m->algebra->gamma[0], 0.5, 1e-15, "gamma");
    ns_model_free(model);
}

/* Several constraints: the left side is the divergence of the graph, whatever the algebra. */
static void several(void **state)
{
    (void)state;
    static const char *const models[] = {
        "algebra so(4) { inertia [1, 2, 3, 4, 5, 7] }\n"
        "constraint a: v1 + v6 - 2*v3 = 0\nconstraint b: v2 + v4 + v5 = 0\n"
        "start { v = [0.4, 0.3, 0.3, -0.5, 0.2, 0.2] }\n",
        "algebra se(3) { inertia [[3, 0, 0, 0, 0.2, 0], [0, 4, 0, 0, 0, 0.3], [0, 0, 5, 0, 0, "
        "0],\n"
        "  [0, 0, 0, 1, 0, 0], [0.2, 0, 0, 0, 2, 0], [0, 0.3, 0, 0, 0, 3]] }\n"
        "constraint a: v4 = 0\nconstraint b: v5 + v1 = 0\nconstraint c: v6 = v2\n"
        "start { v = [0.4, 0.3, 0.3, 0, -0.4, 0.3] }\n",
    };
    for (int i = 0; i < 2; i++) {
        ns_model *model = motion_model_text(models[i], NULL);
        ns_measure *m = look(model, NULL, 3);
        assert_true(m->algebra->applies && !m->algebra->preserved && m->algebra->rate > 0.01);
        measure_below(m->algebra->difference, 1e-14, "divergence on the graph", models[i]);
        ns_model_free(model);
    }
    /* coordinate axes of so(4) with a diagonal inertia: eigenvectors, Theorem 5.3 */
    ns_model *model = motion_model_text("algebra so(4) { inertia [1, 2, 3, 4, 5, 7] }\n"
                                        "constraint a: v1 = 0\nconstraint b: v5 = 0\n"
                                        "start { v2 = 0.3; v3 = 0.2; v4 = 0.1; v6 = 0.5 }\n",
                                        NULL);
    ns_measure *m = look(model, NULL, 3);
    assert_true(m->algebra->preserved && m->algebra->eigenvector[0] &&
                m->algebra->eigenvector[1] && m->vanishes);
    ns_model_free(model);
}

/* Densities of coordinates, against the integral along the motion: log rho(start) - log
 * rho(t). */
static void densities(void **state)
{
    (void)state;
    static const struct {
        const char *model, *coordinate, *rho;
    } cases[] = {
        {"falling-disk-frame", "theta", "cos(theta)"},
        {"falling-disk", "theta", "cos(theta)^2"}, /* psi and phi' are velocities here */
        {"nonholonomic-particle", "y", "sqrt(1 + y^2)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ns_model *model = motion_model_file(cases[i].model, NULL);
        const char *rho = cases[i].rho;
        ns_measure *m = look(model, rho, 5);
        assert_true(!m->vanishes && m->density.found && m->density.n == 1);
        assert_string_equal(model->system->states.at[m->density.state[0]].name,
                            cases[i].coordinate);
        measure_below(m->given, 1e-12, "given density", cases[i].model);
        ns_value value;
        assert_true(ns_description_evaluate(model->description, "rho", rho, &value));
        motion run = motion_begin(model, NULL);
        assert_int_equal(motion_to(&run, 5), NS_OK);
        double first, last;
        ns_system_eval(model->system, value.at, 1, 0, model->p, model->x0, &first);
        ns_system_eval(model->system, value.at, 1, 0, model->p, run.x, &last);
        measure_close(m->integral, log(first / last), 1e-12, cases[i].model);
        motion_close(&run);
    }
    /* the Veselova problem's density is a function of the matrix g */
    ns_model *model = motion_model_file("veselova", NULL);
    ns_measure *m = look(model, "sqrt(g.31^2/A + g.32^2/B + g.33^2/C)", 5);
    assert_true(!m->vanishes);
    measure_below(m->given, 1e-13, "given density", "veselova");
    ns_measure *wrong = look(model, "g.31^2/A + g.32^2/B + g.33^2/C", 5);
    assert_true(wrong->given > 0.1);
    ns_model_free(model);
    /* a Hamiltonian system preserves volume; an unbalanced sleigh has no density of this
     * kind */
    model = motion_model_file("spherical-pendulum", NULL);
    m = look(model, NULL, 1);
    assert_true(m->vanishes || m->density.found);
    ns_model_free(model);
    model = motion_model_file("sleigh-frame", NULL);
    m = look(model, NULL, 5);
    assert_true(!m->vanishes && !m->density.found);
    measure_below(m->integral, 0, "integral", "unbalanced sleigh");
    ns_model_free(model);
    model = motion_model_file("sleigh-frame", "a=0");
    m = look(model, NULL, 5);
    assert_true(m->vanishes);
    ns_model_free(model);
}

/* ---- densities of chosen variables ------------------------------------------------------- */

typedef struct search {
    ns_model *model;
    ns_arena *arena;
    ns_flow *flow;
    const ns_density *d;
} search;

static search density(const char *name, uint32_t degree)
{
    search q = {.model = motion_model_file(name, NULL), .arena = ns_arena_new()};
    const char *message = "";
    bool reduced;
    const ns_measure *m = look(q.model, NULL, 1);
    q.flow = ns_flow_new(q.arena, ns_problem_new(q.model->system, true), 0, q.model->p,
                         q.model->x0);
    const ns_integrals_options o = {.run = ns_model_run_options(q.model)};
    q.d = ns_density_search(q.flow, ns_family_default(q.flow, &reduced), m->divergence, degree,
                            &o, q.model->x0, &message);
    if (!q.d)
        fail_msg("%s: %s", name, message);
    print_message("%s: pointwise %.1e, left %.1e at degree %u, %s\n", name, q.d->pointwise,
                  q.d->left[q.d->degree], q.d->degree, q.d->verdict);
    return q;
}

static void end(search *q)
{
    ns_arena_free(q->arena);
    ns_model_free(q->model);
}

/* Largest relative difference of P(s) from a constant multiple of `form` over the sphere of
 * radius r. */
static double differs(const search *q, double r, double (*form)(const double s[3]))
{
    const ns_system *sys = q->model->system;
    ns_value value;
    assert_true(
        ns_description_evaluate(q->model->description, "density", q->d->P->text, &value));
    double first = 0, worst = 0, *x = NS_NEW_ARRAY(q->arena, double, sys->states.n);
    for (int k = 0; k < 40; k++) {
        const double z = 1 - (2 * k + 1) / 40., phi = 2.4 * k, rho = sqrt(1 - z * z);
        const double s[3] = {r * rho * cos(phi), r * rho * sin(phi), r * z};
        /* s = -r Gamma: the ball turned so that Gamma is vertical, q = (1 + G.e3, G x
         * e3)/|..| */
        const double G[3] = {-s[0] / r, -s[1] / r, -s[2] / r}, norm = sqrt(2 + 2 * G[2]);
        const double quat[4] = {(1 + G[2]) / norm, G[1] / norm, -G[0] / norm, 0};
        const uint32_t at = motion_state(&(motion){.model = q->model}, "quat.w");
        memcpy(x + at, quat, sizeof quat);
        double P;
        ns_system_eval(sys, value.at, 1, 0, q->model->p, x, &P);
        const double ratio = P / form(s);
        first = k ? first : ratio;
        worst = fmax(worst, fabs(ratio / first - 1));
    }
    return worst;
}

/* Chaplygin (1903): with D = m r^2 and s = -r Gamma the measure  sqrt(1 - D Gamma.(I + D)^-1
 * Gamma) d omega  is invariant. */
static double chaplygin(const double s[3])
{
    const double r = 0.1, D = 1 * r * r, I[3] = {0.002, 0.003, 0.0045};
    double sum = 1;
    for (int i = 0; i < 3; i++)
        sum -= D * s[i] * s[i] / (r * r) / (I[i] + D);
    return sum;
}

static void density_of_balls(void **state)
{
    (void)state;
    search q = density("chaplygin-ball", 2);
    assert_true(q.d->exists && q.d->closed && !q.d->vanishing);
    assert_int_equal(q.d->above, 1);
    assert_int_equal(q.d->below, 2);
    assert_true(q.d->margin > 1e8);
    measure_below(q.d->pointwise, 1e-12, "at one configuration", "chaplygin-ball");
    measure_below(q.d->P->rate, q.d->P->fine ? 1e-28 : 1e-12, "rate", "chaplygin-ball");
    measure_below(differs(&q, 0.1, chaplygin), 1e-13, "Chaplygin's density", "chaplygin-ball");
    /* as the user would verify it */
    const ns_measure *m = look(q.model, q.d->text, 1);
    measure_below(m->given, 1e-12, "the density, given", "chaplygin-ball");
    end(&q);
    q = density("veselova", 2); /* sqrt(g.31^2/A + g.32^2/B + g.33^2/C), known */
    assert_true(q.d->exists && q.d->closed && q.d->below == 2 && q.d->above == 1);
    m = look(q.model, q.d->text, 1);
    measure_below(m->given, 1e-12, "the density, given", "veselova");
    end(&q);
}

static void no_density(void **state)
{
    (void)state;
    static const char *const models[] = {"chaplygin-sleigh", "ellipsoid", "sleigh-oscillator"};
    for (int i = 0; i < 3; i++) {
        search q = density(models[i], 3);
        assert_true(q.d->none && !q.d->exists && !q.d->closed);
        assert_true(q.d->pointwise > 1e-3);
        assert_true(q.d->left[3] > 1e-3);
        end(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_of_balls), cmocka_unit_test(no_density),
        cmocka_unit_test(suslov),           cmocka_unit_test(sleigh),
        cmocka_unit_test(not_unimodular),   cmocka_unit_test(several),
        cmocka_unit_test(densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
