/* Lyapunov spectra against closed forms, sums against traces, and the rattleback's
 * attractor. */
#include "support/measure.h"

#include <math.h>

#include "study/orbits/lyapunov.h"

static ns_lyapunov *spectrum(ns_arena *arena, ns_model *model, double transient, double span,
                             double tolerance)
{
    ns_flow *flow = ns_flow_new(arena, ns_model_problem(model, true), 0, model->p, model->x0);
    ns_lyapunov_spec spec = {
        .run = ns_model_run_options(model), .transient = transient, .span = span, .rows = 200};
    spec.run.tolerance = tolerance;
    ns_lyapunov *l = ns_lyapunov_run(arena, flow, &spec, model->x0);
    if (l->status != NS_OK)
        fail_msg("%s", l->message);
    for (uint32_t j = 0; j < l->n; j++)
        print_message("%s% .6g", j ? ", " : "  exponents ", l->exponent[j]);
    print_message("; sum %.3g, dimension %.6g\n", l->sum, l->dimension_ky);
    return l;
}

static void linear(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_model *m = motion_model_text("state x' = 0.3*x\nstate y' = -0.5*y\nstate z' = 0.1*z\n"
                                    "start { x = 1; y = 1; z = 1 }\n",
                                    NULL);
    const ns_lyapunov *l = spectrum(arena, m, 0, 20, 0);
    measure_near(l->exponent[0], 0.3, 1e-12, "first");
    measure_near(l->exponent[1], 0.1, 1e-12, "second");
    measure_near(l->exponent[2], -0.5, 1e-12, "third");
    measure_near(l->sum, -0.1, 1e-12, "sum");
    measure_near(l->dimension_ky, 2 + 0.4 / 0.5, 1e-11, "dimension");
    ns_model_free(m);
    ns_arena_free(arena);
}

/* Lorenz: the sum is the trace -(10 + 1 + 8/3) exactly; exponents and dimension as in Sprott,
 * Chaos and Time-Series Analysis (2003): 0.9056, 0, -14.5723; 2.06215. */
static void lorenz(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_model *m = motion_model_text("state x' = 10*(y - x)\nstate y' = x*(28 - z) - y\n"
                                    "state z' = x*y - 8/3*z\nstart { x = 1; y = 1; z = 20 }\n",
                                    NULL);
    const ns_lyapunov *l = spectrum(arena, m, 20, 400, 1e-10);
    measure_near(l->sum, -(10 + 1 + 8.0 / 3), 1e-7, "trace");
    measure_near(l->exponent[0], 0.9056, 0.015, "first");
    measure_near(l->exponent[1], 0, 0.005, "second");
    measure_near(l->dimension_ky, 2.06215, 0.0015, "dimension");
    ns_model_free(m);
    ns_arena_free(arena);
}

/* Henon and Heiles at energy 1/6: volume is preserved and exponents come in pairs +-. */
static void hamiltonian(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_model *m = motion_model_text(
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - x^2*y + y^3/3\n"
        "start { x = 0; y = -0.15; x' ~ 0.5; y' = 0 }\n",
        NULL);
    /* onto the energy 1/6 */
    const double y = -0.15;
    m->x0[motion_state(&(motion){.model = m}, "x'")] = sqrt(1.0 / 3 - y * y +
                                                            2 * y * y * y / 3);
    const ns_lyapunov *l = spectrum(arena, m, 0, 3000, 1e-12);
    measure_near(l->sum, 0, 1e-6, "sum");
    /* not only in the limit: the deviations are chosen so */
    print_message("Henon-Heiles: sum %.1e, pairs %.1e, %.1e\n", l->sum,
                  l->exponent[0] + l->exponent[3], l->exponent[1] + l->exponent[2]);
    measure_near(l->exponent[0] + l->exponent[3], 0, 1e-9, "outer pair");
    measure_near(l->exponent[1] + l->exponent[2], 0, 1e-9, "inner pair");
    measure_near(l->exponent[0], 0.12, 0.03, "chaotic");
    ns_model_free(m);
    /* masses that depend on the place: p is not q' */
    m = motion_model_file("double-pendulum", NULL);
    l = spectrum(arena, m, 0, 200, 1e-12);
    print_message("double pendulum: sum %.1e, pairs %.1e, %.1e\n", l->sum,
                  l->exponent[0] + l->exponent[3], l->exponent[1] + l->exponent[2]);
    measure_near(l->exponent[0] + l->exponent[3], 0, 1e-9, "outer pair");
    measure_near(l->exponent[1] + l->exponent[2], 0, 1e-9, "inner pair");
    ns_model_free(m);
    ns_arena_free(arena);
}

/* The sleigh runs straight in the end, with all its energy: four zeros and
 * -m a u/(J + m a^2), u = sqrt(2 E/m). */
static void sleigh(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_model *m = motion_model_text(
        "param m = 2, J = 0.5, a = 0.3\ncoordinate theta, x, y\n"
        "let vx = x' - a*sin(theta)*theta', vy = y' + a*cos(theta)*theta'\n"
        "lagrangian m/2*(vx^2 + vy^2) + J/2*theta'^2\n"
        "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
        "start { theta = 0.4; theta' = 2; x' = 0.1*cos(0.4); y' = 0.1*sin(0.4) }\n",
        NULL);
    double E;
    ns_system_eval(m->system, &m->system->energy, 1, 0, m->p, m->x0, &E);
    const ns_lyapunov *l = spectrum(arena, m, 30, 40, 0);
    const double u = sqrt(E), rate = -2 * 0.3 * u / (0.5 + 2 * 0.09);
    assert_int_equal(l->n, 5);
    measure_near(l->exponent[4], rate, 1e-3 * fabs(rate) + 0.15, "decay, to 1/t");
    for (int j = 0; j < 4; j++)
        measure_near(l->exponent[j], 0, 0.15, "zero, to log(t)/t");
    /* the volume shrinks at exactly that rate: no terms of 1/t there */
    measure_near(l->sum, rate, 1e-9, "contraction");
    ns_model_free(m);
    ns_arena_free(arena);
}

/* A strange attractor: stretching, contraction of volume, energy and time as two zeros. */
static void attractor(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_model *m = motion_model_file("rattleback-attractor", NULL);
    const ns_lyapunov *l = spectrum(arena, m, 100, 300, 1e-9);
    assert_int_equal(l->n, 5);
    measure_near(l->exponent[0], 0.74, 0.1, "largest");
    assert_true(fabs(l->exponent[1]) < 0.05 && fabs(l->exponent[2]) < 0.05);
    assert_true(l->sum < -0.35 && l->sum > -0.75);
    assert_true(l->dimension_ky > 4.3 && l->dimension_ky < 4.7);
    ns_model_free(m);
    ns_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear), cmocka_unit_test(lorenz),    cmocka_unit_test(hamiltonian),
        cmocka_unit_test(sleigh), cmocka_unit_test(attractor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
