/* Nonholonomic models of the gallery against closed forms, the reference motions and second
 * formulations: sleighs, wheels, disks, vehicles.
 *
 * Tolerances are three to thirty times what is measured, which is the rounding error of a run:
 * some 1e-16 per step that the motion may amplify.  Where they are wider, it is said why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/measure.h"
#include "support/reference.h"

static const double g = 9.81;

/* ---- the Chaplygin sleigh and its kin ---------------------------------------------------- */

/* Gudermann's function, the integral of sech. */
static double gd(double u)
{
    return 2 * atan(tanh(u / 2));
}

/* A state at time t, which may be negative. */
static double state_at(ns_model *model, const char *name, double t)
{
    ns_run_options options = ns_model_run_options(model);
    options.until = t;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(model->problem, &options, model->p, model->x0, &status, &message);
    assert_non_null(run);
    assert_int_equal(ns_run_to(run, t), NS_OK);
    uint32_t i = 0;
    while (strcmp(model->system->states.at[i].name, name) != 0)
        i++;
    double value = ns_run_state(run)[i];
    ns_run_free(run);
    return value;
}

static void sleigh_closed_form(void **state)
{
    (void)state;
    const double m = 2, J = 0.5, a = 0.4, theta0 = 0.3, v0 = -0.8, omega0 = 0.5;
    const double K = sqrt((J + m * a * a) / m), V = sqrt(v0 * v0 + K * K * omega0 * omega0);
    const double u0 = atanh(v0 / V);
    static const char *const methods[] = {"gauss", "taylor"};
    for (int k = 0; k < 2; k++) {
        motion sleigh = measure_by_method("chaplygin-sleigh", NULL, methods[k]);
        for (double t = 0; t <= 30; t += 0.25) {
            motion_to(&sleigh, t);
            double u = a * V * t / (K * K) + u0;
            measure_close(motion_get(&sleigh, "v"), V * tanh(u), 1e-14, "v");
            measure_close(motion_get(&sleigh, "theta'"), V / K / cosh(u), 1e-14, "omega");
            measure_close(motion_get(&sleigh, "theta"), theta0 + K / a * (gd(u) - gd(u0)),
                          5e-15, "theta");
        }
        /* v = 0 where u = 0 */
        measure_close(motion_event(&sleigh, "halt", 0), -u0 * K * K / (a * V), 1e-14, "halt");
        measure_below(measure_energy_drift(&sleigh), 1e-14, "energy drift", "sleigh");
        motion_close(&sleigh);
    }
    /* From -infinity to infinity: at 50 s either way sech is 1e-18. */
    ns_model *model = motion_model_file("chaplygin-sleigh", NULL);
    double turn = state_at(model, "theta", 50) - state_at(model, "theta", -50);
    measure_close(turn, M_PI * sqrt(1 + J / (m * a * a)), 5e-15, "total turn");
    ns_model_free(model);
}

static void sleigh_reference(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"theta", "theta"},    {"v", "v"},
                                           {"theta'", "omega"},   {"force", "blade_force"},
                                           {"energy", "energy"},  {"u1", "conserved_u1"},
                                           {"u2", "conserved_u2"}};
    reference r = reference_open("h1_sleigh");
    motion m = motion_file("chaplygin-sleigh", NULL);
    for (size_t i = 0; i < r.samples; i++) {
        assert_int_equal(motion_to(&m, reference_number(&r, i, "t")), NS_OK);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            measure_close(motion_get(&m, names[k][0]), reference_number(&r, i, names[k][1]),
                          1e-14, names[k][0]);
        double contact[2];
        reference_get(&r, i, "contact", contact, 2);
        measure_close(motion_get(&m, "x"), contact[0], 2e-14, "x");
        measure_close(motion_get(&m, "y"), contact[1], 2e-14, "y");
    }
    motion_close(&m);
    reference_close(&r);
}

/* The two-wheeled carriage is a sleigh whose mass and inertia contain the wheels'. */
static void carriage(void **state)
{
    (void)state;
    const double m = 10, J = 0.6, a = 0.15, mw = 1, R = 0.1, b = 0.25;
    const double C = mw * R * R / 2, A = C / 2;
    const double M = m + 2 * mw + 2 * C / (R * R);
    const double I = J + m * a * a + 2 * A + 2 * (mw + C / (R * R)) * b * b;
    ns_model *model = motion_model_file("carriage", NULL);
    double turn = state_at(model, "theta", 200) - state_at(model, "theta", -200);
    measure_close(turn, M_PI * sqrt(M * I) / (m * a), 5e-15, "total turn");
    motion c = motion_begin(model, NULL);
    motion_to(&c, 30);
    measure_below(measure_extreme(&c, "error.v"), 2e-14, "error.v", "carriage");
    measure_below(measure_extreme(&c, "error.omega"), 2e-14, "error.omega", "carriage");
    measure_below(motion_drift(&c, "wheels"), 1e-14, "drift of the integrated constraint",
                  "carriage");
    motion_close(&c);
}

/* ---- sleigh with oscillator -------------------------------------------------------------- */

static void oscillator_reference(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"theta", "theta"},
                                           {"x", "x"},
                                           {"y", "y"},
                                           {"r", "r"},
                                           {"r'", "rdot"},
                                           {"v", "xi2"},
                                           {"p1", "p1"},
                                           {"p2", "p2"},
                                           {"theta'", "xi1"},
                                           {"energy", "energy"},
                                           {"force", "blade_force"}};
    reference r = reference_open("h2_sleigh_oscillator");
    motion m = motion_file("sleigh-oscillator",
                           "M=2; m=0.7; J=0.6; k=3; theta0=0.2; dr0=0.9; p10=0.66; p20=1.71");
    double worst = 0;
    for (size_t i = 0; i < r.samples; i++) {
        assert_int_equal(motion_to(&m, reference_number(&r, i, "t")), NS_OK);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            double known = reference_number(&r, i, names[k][1]);
            measure_close(motion_get(&m, names[k][0]), known, 1e-13, names[k][0]);
            worst = fmax(worst, fabs(motion_get(&m, names[k][0]) - known));
        }
    }
    print_message("sleigh with oscillator against the reference: %.1e\n", worst);
    motion_close(&m);
    reference_close(&r);
}

/* Energy over 1000 s.  In coordinates the direction theta grows without end, and its rounding
 * error with it: the faster the sleigh turns, the less its energy is known.  The reduced
 * equations do not know theta. */
static void oscillator_energy(void **state)
{
    (void)state;
    static const struct {
        const char *name, *set;
        double limit;
    } cases[] = {
        {"sleigh-oscillator", NULL, 1e-13},    /* theta reaches 161 rad */
        {"sleigh-oscillator", "p10=1", 5e-13}, /* 719 rad: rounded by 6e-14 */
        {"sleigh-oscillator-reduced", NULL, 1e-13},
        {"sleigh-oscillator-reduced", "p10=1", 1e-13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        motion m = motion_file(cases[i].name, cases[i].set);
        assert_int_equal(motion_to(&m, 1000), NS_OK);
        print_message("%s %s: energy drift %.1e over 1000 s, theta %.0f\n", cases[i].name,
                      cases[i].set ? cases[i].set : "", measure_energy_drift(&m),
                      motion_get(&m, "theta"));
        measure_below(measure_energy_drift(&m), cases[i].limit, "energy drift", cases[i].name);
        motion_close(&m);
    }
}

/* Two formulations of one motion, and the theorem that r, p1, p2 are periodic. */
static void oscillator_two_ways(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *set = k ? "p10=1" : NULL;
        motion full = motion_file("sleigh-oscillator", set);
        motion reduced = motion_file("sleigh-oscillator-reduced", set);
        double worst = 0;
        for (double t = 1; t <= 100; t++) {
            motion_to(&full, t);
            motion_to(&reduced, t);
            worst = fmax(
                worst, motion_difference(&full, &reduced, "theta, x, y, r, p1, p2, v, energy"));
        }
        print_message("sleigh with oscillator, two formulations: %.1e over 100 s\n", worst);
        measure_below(worst, 1e-12, "difference", "two formulations"); /* of angles up to 72 */
        double p1 = k ? 1 : 0.2, p2 = 0.3;
        uint32_t n = 0;
        while (measure_at_event(&full, "middle", n)) {
            measure_close(motion_get(&full, "p1"), p1, 1e-13, "p1");
            measure_close(motion_get(&full, "p2"), p2, 1e-13, "p2");
            measure_close(motion_get(&full, "r'"), 1, 1e-13, "r'");
            n++;
        }
        assert_true(n > 15);
        motion_close(&full);
        motion_close(&reduced);
    }
}

/* ---- knife edge, vertical disk, particle ------------------------------------------------- */

static void knife_edge(void **state)
{
    (void)state;
    const double w = 2, h = g * 0.5 / (2 * w * w); /* sin(30 deg) = 0.5 */
    motion m = motion_file("knife-edge", NULL);
    for (double t = 0.1; t < 20; t += 0.1) {
        motion_to(&m, t);
        measure_close(motion_get(&m, "x"), h * pow(sin(w * t), 2), 1e-13, "x");
        measure_close(motion_get(&m, "y"), h * (w * t - sin(2 * w * t) / 2), 1e-13, "y");
        measure_close(motion_get(&m, "speed"), 2 * h * w * sin(w * t), 1e-13, "speed");
        /* The plane turns the velocity, m speed w, and holds m g sin(alpha) sin(phi); near a
         * cusp it feels errors of the direction 40 times as much as the place does. */
        measure_close(motion_get(&m, "force"), -2 * g * 0.5 * sin(w * t), 5e-13, "force");
    }
    /* cusps every half turn, where the edge stands still at the height it started from */
    for (uint32_t k = 0; k < 12; k++) {
        assert_true(measure_at_event(&m, "cusp", k));
        measure_close(m.t, (k + 1) * M_PI / w, 1e-14, "time of a cusp");
        measure_close(motion_get(&m, "x"), 0, 2e-14, "height of a cusp");
    }
    motion_close(&m);
}

/* Ten laps of a circle of radius 2.14 m; the angle of rolling grows to 269 rad, its rounding
 * error to 3e-14, and the way with it by R. */
static void vertical_disk(void **state)
{
    (void)state;
    const double R = 0.5, Omega = 3, omega = 0.7, phi0 = 0.4, radius = R * Omega / omega;
    motion m = motion_file("vertical-disk", NULL);
    double worst = 0;
    for (double t = 0.5; t < 20 * M_PI / omega; t += 0.5) {
        motion_to(&m, t);
        double x = motion_get(&m, "x") + radius * sin(phi0);
        double y = motion_get(&m, "y") - radius * cos(phi0);
        worst = fmax(worst, fabs(hypot(x, y) - radius));
        worst = fmax(worst, fabs(x - radius * sin(phi0 + omega * t)));
        worst = fmax(worst, fabs(y + radius * cos(phi0 + omega * t)));
        measure_close(motion_get(&m, "theta"), Omega * t, 3e-15, "rolling");
        measure_close(motion_get(&m, "friction"), R * Omega * omega, 2e-14, "friction");
    }
    print_message("vertical disk: off its circle by %.1e\n", worst);
    measure_below(worst, 1e-13 * radius, "distance from the circle", "vertical disk");
    assert_int_equal(motion_to(&m, 20 * M_PI / omega), NS_OK);
    measure_close(motion_event(&m, "lap", 0), 2 * M_PI / omega, 1e-14, "time of a lap");
    motion_close(&m);
}

static void nonholonomic_particle(void **state)
{
    (void)state;
    const double y0 = -2, v = 0.5, c = 0.8 * sqrt(5);
    motion m = motion_file("nonholonomic-particle", NULL);
    for (double t = 0.5; t <= 20; t += 0.5) {
        motion_to(&m, t);
        double y = y0 + v * t;
        measure_close(motion_get(&m, "x"), c / v * (asinh(y) - asinh(y0)), 1e-14, "x");
        measure_close(motion_get(&m, "z"), c / v * (hypot(1, y) - hypot(1, y0)), 1e-14, "z");
        /* z'' from the motion is the force along (-y, 0, 1) */
        measure_close(motion_get(&m, "reaction.z"), v * c / pow(1 + y * y, 1.5), 1e-14,
                      "reaction");
    }
    motion_close(&m);
}

/* ---- falling disk ------------------------------------------------------------------------ */

static void falling_disk(void **state)
{
    (void)state;
    motion m = motion_file("falling-disk", NULL);
    assert_int_equal(motion_to(&m, 100), NS_OK);
    print_message("falling disk: energy drift %.1e over 100 s\n", measure_energy_drift(&m));
    measure_below(measure_energy_drift(&m), 1e-13, "energy drift", "falling disk");
    measure_below(measure_extreme(&m, "error.p1"), 1e-13, "residual of the momentum equation",
                  "falling disk");
    measure_below(measure_extreme(&m, "error.p2"), 1e-13, "residual of the momentum equation",
                  "falling disk");
    uint32_t n = 0;
    for (; measure_at_event(&m, "highest", n); n++) /* the tilt is periodic */
        measure_close(motion_get(&m, "theta"), 0.2, 1e-13, "tilt at the top");
    assert_true(n > 100);
    motion_close(&m);
}

/* Steady rolling: the tilt stays if, with the spin s = phi' sin(theta) + psi',
 *     (m R^2 + B) s phi' cos(theta) - A phi'^2 sin(theta) cos(theta) + m g R sin(theta) = 0.
 * It is stable but not attracting: rounding errors shake the tilt and stay. */
static void falling_disk_steady(void **state)
{
    (void)state;
    const double R = 0.3, A = R * R / 4, B = R * R / 2, theta = 0.4, turning = -2.5;
    const double s = (A * turning * turning * cos(theta) - g * R) * sin(theta) /
                     ((R * R + B) * turning * cos(theta));
    char set[200];
    snprintf(set, sizeof set, "tilt0=%.17g; turning0=%.17g; rolling0=%.17g", theta, turning,
             s - turning * sin(theta));
    motion m = motion_file("falling-disk", set);
    motion_to(&m, 20);
    const ns_outcome *outcome = ns_run_outcome(m.run);
    int64_t i = ns_model_observable(m.model, "theta");
    measure_close(outcome->observable_min[i], theta, 1e-12, "least tilt");
    measure_close(outcome->observable_max[i], theta, 1e-12, "largest tilt");
    measure_close(motion_get(&m, "phi"), turning * 20, 1e-12, "heading");
    motion_close(&m);
}

/* The reference was computed with forces and torques in space.  There the disk is laid on its
 * side by 1.2 about x and turned by 0.3 about its axis n; omega has the parts -theta' along x,
 * phi' cos(theta) along the rising direction of the disk, and phi' sin(theta) + psi' along
 * n. */
static void falling_disk_reference(void **state)
{
    (void)state;
    const double R = 0.1, theta = M_PI / 2 - 1.2, turned = 0.3;
    const double w1 = 0.5 * cos(turned) - 2 * sin(turned);
    const double w2 = 0.5 * sin(turned) + 2 * cos(turned), w3 = -5;
    const double turning = w2 / cos(theta), rolling = w3 - turning * sin(theta);
    char set[300];
    snprintf(set, sizeof set, "m=0.5; R=0.1; tilt0=%.17g; turning0=%.17g; rolling0=%.17g",
             theta, turning, rolling);
    ns_model *model = motion_model_file("falling-disk", set);
    motion start = motion_begin(model, NULL);
    start.x[motion_state(&start, "theta'")] = -w1;
    motion m = motion_begin(model, start.x);
    reference r = reference_open("f1_disk_symmetric");
    double worst = 0;
    for (size_t i = 0; i < r.samples; i++) {
        assert_int_equal(motion_to(&m, reference_number(&r, i, "t")), NS_OK);
        double com[3], contact[3], tilt = motion_get(&m, "theta"), phi = motion_get(&m, "phi");
        reference_get(&r, i, "com", com, 3);
        reference_get(&r, i, "contact", contact, 3);
        double x = motion_get(&m, "x"), y = motion_get(&m, "y");
        double off[5] = {x - contact[0], y - contact[1], x - R * sin(tilt) * sin(phi) - com[0],
                         y + R * sin(tilt) * cos(phi) - com[1], R * cos(tilt) - com[2]};
        for (int k = 0; k < 5; k++)
            worst = fmax(worst, fabs(off[k]));
        measure_close(motion_get(&m, "energy"), reference_number(&r, i, "energy"), 1e-13,
                      "energy");
    }
    print_message("falling disk against the reference: %.1e over %.0f s\n", worst, m.t);
    measure_below(worst, 1e-12, "difference from the reference", "falling disk");
    reference_close(&r);
    measure_drop(&start);
    motion_close(&m);
}

/* ---- driven vehicles --------------------------------------------------------------------- */

/* Bessel's function of order one, for small arguments. */
static double bessel1(double x)
{
    double sum = 0, term = x / 2;
    for (int k = 1; k < 20; k++) {
        sum += term;
        term *= -x * x / 4 / (k * (k + 1.0));
    }
    return sum;
}

static void snakeboard(void **state)
{
    (void)state;
    const double wa = 4, Jr = 0.08, a = 1, b = 0.5, m = 6, l = 0.2;
    motion drive = motion_file("snakeboard", NULL);
    for (int k = 1; k <= 10; k++) {
        motion_to(&drive, k * 2 * M_PI / wa);
        measure_close(motion_get(&drive, "p"), k * 2 * M_PI * wa * Jr * a * bessel1(b), 2e-13,
                      "p");
        /* the axles stand straight: all momentum is in the speed */
        measure_close(motion_get(&drive, "v"), motion_get(&drive, "p") / (m * l), 2e-13, "v");
    }
    measure_below(measure_extreme(&drive, "error.p"), 2e-13,
                  "residual of the momentum equation", "snakeboard");
    motion_close(&drive);
    /* turning on the spot: in a common period no speed is gained, the heading is */
    motion turn = motion_file("snakeboard", "wb=2");
    motion_to(&turn, 2 * M_PI / 2);
    double first = motion_get(&turn, "theta");
    motion_to(&turn, 4 * M_PI / 2);
    measure_close(motion_get(&turn, "v"), 0, 2e-13, "speed after turning");
    measure_close(motion_get(&turn, "theta"), 2 * first, 2e-13, "two turns");
    assert_true(fabs(first) > 0.1);
    motion_close(&turn);
    /* parking: sideways */
    motion park = motion_file("snakeboard", "wa=6; wb=4");
    motion_to(&park, 2 * M_PI / 2);
    measure_close(motion_get(&park, "x"), 0, 2e-13, "x after parking");
    measure_close(motion_get(&park, "theta"), 0, 2e-13, "direction after parking");
    assert_true(motion_get(&park, "y") > 0.01);
    motion_close(&park);
}

/* Which way it runs, by the sign of I2 d1 - I1 d2; and the small-swing momentum, p' = phi'^2
 * (I2 d1 - I1 d2)/(d1 + d2) in the mean, up to the square of the amplitude. */
static void roller_racer(void **state)
{
    (void)state;
    motion ahead = motion_file("roller-racer", NULL);
    motion back = motion_file("roller-racer", "I2=0.2");
    motion_to(&ahead, 20);
    motion_to(&back, 20);
    assert_true(motion_get(&ahead, "v") > 0.5 && motion_get(&back, "v") < -0.5);
    measure_below(measure_extreme(&ahead, "error.p"), 1e-12,
                  "residual of the momentum equation", "racer");
    motion_close(&ahead);
    motion_close(&back);
    const double b = 0.01, w = 6, rate = (0.6 * 0.4 - 1.5 * 0.1) / 0.5;
    motion small = motion_file("roller-racer", "b=0.01");
    motion_to(&small, 10 * 2 * M_PI / w);
    double p = 10 * 2 * M_PI / w * b * b * w * w / 2 * rate;
    measure_close(motion_get(&small, "p") / p, 1, 1e-3, "momentum of small swings");
    motion_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleigh_closed_form),
        cmocka_unit_test(sleigh_reference),
        cmocka_unit_test(carriage),
        cmocka_unit_test(oscillator_reference),
        cmocka_unit_test(oscillator_energy),
        cmocka_unit_test(oscillator_two_ways),
        cmocka_unit_test(knife_edge),
        cmocka_unit_test(vertical_disk),
        cmocka_unit_test(nonholonomic_particle),
        cmocka_unit_test(falling_disk),
        cmocka_unit_test(falling_disk_steady),
        cmocka_unit_test(falling_disk_reference),
        cmocka_unit_test(snakeboard),
        cmocka_unit_test(roller_racer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
