/* The gallery: every model of models/ loads, runs its time and keeps what must be kept; motions
 * of particles and pendulums are compared with closed forms and second formulations.  Sleighs,
 * wheels and disks are in test_models_nonholonomic.c.
 *
 * Tolerances are three to thirty times what is measured, which is the rounding error of a run:
 * some 1e-16 per step that the motion may amplify.  Where they are wider, it is said why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/gallery.h"
#include "support/measure.h"

static const double g = 9.81;

/* ---- every model ------------------------------------------------------------------------- */

/* The reason that a model gives for an exception, as a line of its head:
 *     # test: skip-energy REASON
 * NULL if there is no such line. */
static const char *exception(const ns_model *model, const char *mark)
{
    const char *at = strstr(model->text, mark);
    if (!at)
        return NULL;
    at += strlen(mark);
    if (strspn(at, " ") == strcspn(at, "\n"))
        fail_msg("%s: an exception needs its reason behind `%s`", model->name, mark);
    return at;
}

/* Each file opens with what the model is, where it comes from and what is known about it. */
static void check_head(const ns_model *model)
{
    static const char *const parts[] = {"\n# Source: ", "\n# Known: ", "\ntitle \""};
    if (model->text[0] != '#')
        fail_msg("%s does not open with what it is", model->name);
    const char *at = model->text;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        at = strstr(at, parts[i]);
        if (!at)
            fail_msg("%s: no `%s` in its place", model->name, parts[i] + 1);
    }
}

static bool stops_by_itself(const ns_system *s)
{
    for (uint32_t i = 0; i < s->events.n; i++)
        if (s->events.at[i].action == NS_EVENT_STOP)
            return true;
    return false;
}

static void gallery_model(void **state)
{
    const char *name = *state;
    ns_model *model = motion_model_file(name, NULL);
    const ns_system *s = model->system;
    check_head(model);
    if (!(model->settings.until > 0))
        fail_msg("%s does not say how long it runs", name);
    double begin = measure_seconds();
    motion m = motion_begin(model, NULL);
    ns_status status = motion_to(&m, model->settings.until);
    double took = measure_seconds() - begin;
    const ns_outcome *outcome = ns_run_outcome(m.run);
    if (status != NS_OK && !(status > 0 && stops_by_itself(s)))
        fail_msg("%s: %s", name, outcome->reason);

    bool conservative = s->conservative && s->energy;
    double residual = motion_residual(&m), drift = 0, error = 0;
    if (conservative && !exception(model, "# test: skip-energy"))
        measure_below(outcome->energy_drift, 1e-13, "energy drift", name);
    measure_below(residual, 1e-12, "constraint residual", name);
    for (uint32_t i = 0; i < s->invariants.n; i++) {
        measure_below(outcome->drift[i], 1e-12, s->invariants.at[i].name, name);
        drift = fmax(drift, outcome->drift[i]);
    }
    /* values called error.* are differences from what is known */
    for (uint32_t i = 0; i < s->observables.n; i++) {
        const char *value = s->observables.at[i].name;
        if (strncmp(value, "error", 5) != 0 || (value[5] && value[5] != '.'))
            continue;
        measure_below(measure_extreme(&m, value), 1e-12, value, name);
        error = fmax(error, measure_extreme(&m, value));
    }
    char energy[16] = "-";
    if (conservative)
        snprintf(energy, sizeof energy, "%.1e", outcome->energy_drift);
    print_message("%-32s energy %-8s residual %.1e invariants %.1e error %.1e %6.0f ms\n", name,
                  energy, residual, drift, error, 1e3 * took);
    motion_close(&m);
}

/* One test for each model. */
static int gallery(void)
{
    char *names[GALLERY_MOST];
    size_t n = gallery_list(names);
    struct CMUnitTest *tests = calloc(n + 1, sizeof *tests);
    if (n < 20 || !tests)
        return 1;
    for (size_t i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = gallery_model, .initial_state = names[i]};
    int failed = _cmocka_run_group_tests("gallery", tests, n, NULL, NULL);
    gallery_free(names, n);
    free(tests);
    return failed;
}

/* ---- oscillator and planet --------------------------------------------------------------- */

static void oscillators(void **state)
{
    (void)state;
    motion a = motion_file("harmonic-oscillator", NULL);
    motion b = motion_file("harmonic-oscillator-first-order", NULL);
    for (double t = 0.5; t < 30; t += 0.5) {
        motion_to(&a, t);
        motion_to(&b, t);
        measure_below(motion_difference(&a, &b, "x, energy"), 1e-15, "difference",
                      "oscillators");
        measure_below(fabs(motion_get(&a, "x'") - motion_get(&b, "v")), 1e-15, "difference",
                      "oscillators");
        measure_close(motion_get(&a, "x"), 0.1 * cos(2 * t), 1e-15, "x");
    }
    measure_close(motion_event(&a, "centre", 18), 18.5 * M_PI / 2, 1e-14, "19th passage");
    motion_close(&a);
    motion_close(&b);
}

static void kepler(void **state)
{
    (void)state;
    motion m = motion_file("kepler", NULL);
    motion_to(&m, 20 * M_PI + 0.1); /* a little more, for the tenth pericentre */
    for (uint32_t k = 0; k < 10; k++) {
        assert_true(measure_at_event(&m, "pericentre", k));
        measure_close(m.t, (k + 1) * 2 * M_PI, 1e-13, "time of pericentre");
        measure_close(motion_get(&m, "x"), 0.1, 1e-14, "x");
        measure_close(motion_get(&m, "y"), 0, 2e-13, "y"); /* 4.4 times the error in time */
        assert_true(measure_at_event(&m, "apocentre", k));
        measure_close(motion_get(&m, "x"), -1.9, 1e-14, "apocentre");
    }
    measure_below(motion_drift(&m, "momentum"), 1e-14, "drift of the momentum", "Kepler");
    measure_below(motion_drift(&m, "lenz.x"), 1e-14, "drift of the Runge-Lenz vector",
                  "Kepler");
    measure_below(motion_drift(&m, "lenz.y"), 1e-14, "drift of the Runge-Lenz vector",
                  "Kepler");
    motion_close(&m);
}

/* ---- pendulums --------------------------------------------------------------------------- */

/* Angles against Cartesian coordinates with two rods.  At these amplitudes (0.5 and -0.3 rad)
 * the motion is not chaotic: errors grow in proportion to time, not exponentially. */
static void double_pendulum(void **state)
{
    (void)state;
    motion a = motion_file("double-pendulum", NULL);
    motion b = motion_file("double-pendulum-particles", NULL);
    double worst = 0;
    for (double t = 0.1; t <= 10; t += 0.1) {
        motion_to(&a, t);
        motion_to(&b, t);
        worst = fmax(worst,
                     motion_difference(&a, &b, "x1, y1, x2, y2, theta1, theta2, energy"));
    }
    print_message("double pendulum, two formulations: %.1e over 10 s\n", worst);
    measure_below(worst, 1e-12, "difference", "double pendulum");
    motion_close(&a);
    motion_close(&b);
    motion rest = motion_file("double-pendulum-particles", "a1=0; a2=0; m1=3; l2=0.5");
    measure_close(motion_get(&rest, "tension1"), 4 * g, 1e-15, "upper rod at rest");
    measure_close(motion_get(&rest, "tension2"), g, 1e-15, "lower rod at rest");
    motion_close(&rest);
}

static void spherical_pendulum(void **state)
{
    (void)state;
    /* at the start: m (v^2 - g z)/l with v = omega0 l sin(alpha), z = -l cos(alpha) */
    motion m = motion_file("spherical-pendulum", NULL);
    measure_close(motion_get(&m, "tension"), 4 * 0.75 + g * 0.5, 1e-15, "tension at the start");
    motion_to(&m, 20);
    measure_below(measure_extreme(&m, "error.tension"), 3e-13, "tension against the formula",
                  "pendulum");
    measure_below(motion_drift(&m, "momentum"), 1e-14, "drift of the momentum", "pendulum");
    motion_close(&m);
    /* conical: at constant height, once around in 2 pi/omega; the rod pulls with m
     * g/cos(alpha) */
    motion c = motion_file("spherical-pendulum", "omega0=sqrt(g/(l*cos(alpha)))");
    double omega = sqrt(g / 0.5);
    for (double t = 0.1; t < 10; t += 0.1) {
        motion_to(&c, t);
        measure_close(motion_get(&c, "x"), sqrt(0.75) * cos(omega * t), 1e-13, "x");
        measure_close(motion_get(&c, "y"), sqrt(0.75) * sin(omega * t), 1e-13, "y");
        measure_close(motion_get(&c, "z"), -0.5, 5e-14, "z");
        measure_close(motion_get(&c, "tension"), 2 * g, 5e-14, "tension");
    }
    motion_close(&c);
}

static void bead_on_hoop(void **state)
{
    (void)state;
    const double R = 1, w = 5, equilibrium = acos(g / (R * w * w)), theta0 = 1.5;
    motion rest = motion_file("bead-on-hoop", "theta0=acos(g/(R*w^2))");
    motion_to(&rest, 10);
    measure_close(motion_get(&rest, "equilibrium"), equilibrium, 0, "equilibrium");
    measure_close(motion_get(&rest, "theta"), equilibrium, 1e-14, "at the equilibrium");
    motion_close(&rest);

    /* cos(theta) at the two turning points has the equilibrium's in the middle */
    motion a = motion_file("bead-on-hoop", NULL);
    motion b = motion_file("bead-on-hoop-particle", NULL);
    double worst = 0;
    for (double t = 0.1; t <= 10; t += 0.1) {
        motion_to(&a, t);
        motion_to(&b, t);
        worst = fmax(worst, motion_difference(&a, &b, "theta, motor"));
    }
    print_message("bead on a hoop, two formulations: %.1e over 10 s\n", worst);
    measure_below(worst, 1e-12, "difference", "bead"); /* the torque is up to 30 N m */
    measure_below(motion_drift(&b, "jacobi"), 1e-14, "drift of Jacobi's integral", "bead");
    for (uint32_t k = 0; k < 10; k++) {
        assert_true(measure_at_event(&a, "turn", k));
        double other = acos(2 * cos(equilibrium) - cos(theta0));
        measure_close(motion_get(&a, "theta"), k % 2 ? theta0 : other, 1e-14, "turning point");
    }
    motion_close(&a);
    motion_close(&b);

    /* small swings about it: w sin(theta), up to the square of the amplitude */
    char set[64];
    snprintf(set, sizeof set, "theta0=%.17g", equilibrium + 1e-4);
    motion c = motion_file("bead-on-hoop", set);
    motion_to(&c, 5);
    double period = motion_event(&c, "turn", 3) - motion_event(&c, "turn", 1);
    measure_close(period * w * sin(equilibrium), 2 * M_PI, 1e-7, "period of small swings");
    motion_close(&c);
}

/* The plane of the swing after an hour: Earth's rate times sin(latitude), less 3/8 (A/l)^2 of
 * it for the narrow ellipse; terms of fourth order in A/l are 1e-6 of that. */
static void foucault(void **state)
{
    (void)state;
    const double A = 3, l = 67, latitude = 48.846 * M_PI / 180;
    const double rate = 2 * M_PI / 86164.1 * sin(latitude) * (1 - 3 * A * A / (8 * l * l));
    motion m = motion_file("foucault-pendulum", NULL);
    assert_int_equal(motion_to(&m, 3600), NS_OK);
    uint32_t last = 0;
    while (!isnan(motion_event(&m, "out", last)))
        last++;
    last -= 1 + last % 2; /* an even number of half periods after the start */
    assert_true(measure_at_event(&m, "out", last) && last > 400);
    double turned = -motion_get(&m, "direction") * M_PI / 180;
    print_message("Foucault pendulum: %.6f deg in %.1f s, by theory %.6f\n",
                  turned * 180 / M_PI, m.t, rate * m.t * 180 / M_PI);
    measure_close(turned / (rate * m.t), 1, 1e-6, "rate of the plane");
    motion_close(&m);
}

/* ---- a chain of 30 ----------------------------------------------------------------------- */

/* Laguerre's polynomials L_0 ... L_n at x */
static void laguerre(int n, double x, double *L)
{
    L[0] = 1;
    L[1] = 1 - x;
    for (int k = 1; k < n; k++)
        L[k + 1] = ((2 * k + 1 - x) * L[k] - k * L[k - 1]) / (k + 1);
}

static void chain(void **state)
{
    (void)state;
    enum { N = 30 };
    double begin = measure_seconds();
    ns_model *model = motion_model_file("chain-30", NULL);
    double took = measure_seconds() - begin;
    print_message("chain of 30 pendulums built in %.0f ms\n", 1e3 * took);
    assert_true(took < 5); /* about 0.1 s on an idle machine; this is no place to be strict */

    /* Slowest small swing: the smallest zero of L_30, by bisection. */
    double low = 0.04, high = 0.06, L[N + 1];
    for (int k = 0; k < 60; k++) {
        double middle = (low + high) / 2;
        laguerre(N, middle, L);
        *(L[N] > 0 ? &low : &high) = middle;
    }
    laguerre(N, low, L);
    const double l = 0.1, w = sqrt(low * g / l), amplitude = 1e-5;
    double x[2 * N] = {0};
    for (int i = 0; i < N; i++) /* link i+1 leads from mass N-i to mass N-1-i above the end */
        x[i] = amplitude * (L[N - 1 - i] - (i ? L[N - i] : 0));
    motion m = motion_begin(model, x);
    /* The angles swing as cos(w t), up to terms of third order, relatively 1e-10. */
    double period = 2 * M_PI / w, worst = 0;
    for (int k = 1; k <= 8; k++) {
        motion_to(&m, k * period / 8);
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(m.x[i] - x[i] * cos(2 * M_PI * k / 8)));
    }
    print_message("slowest mode, period %.6f s: off by %.1e of the amplitude\n", period,
                  worst / amplitude);
    measure_below(worst / amplitude, 1e-9, "mode", "chain");

    /* Let go as a straight line at rest: at first all accelerations but one vanish, and the
     * speeds of the lower links are rounding errors of the others for a while.  That is no
     * reason for short steps. */
    double line[2 * N] = {0};
    for (int i = 0; i < N; i++)
        line[i] = 0.3;
    motion straight = motion_begin(model, line);
    assert_int_equal(motion_to(&straight, 1), NS_OK);
    const ns_outcome *outcome = ns_run_outcome(straight.run);
    print_message("straight chain: %u steps in 1 s, energy drift %.1e\n",
                  (unsigned)outcome->steps, outcome->energy_drift);
    assert_true(outcome->steps < 1500);
    measure_below(outcome->energy_drift, 1e-13, "energy drift", "straight chain");
    measure_drop(&straight);
    motion_close(&m);
}

/* ---- all models of this kind ------------------------------------------------------------- */

/* Final states by three methods that have nothing in common but the right-hand side.
 * Tolerances follow from how the motion treats rounding errors: Kepler's speed of 4.4 at the
 * pericentre and its error in time; angles of hundreds of radians. */
static void methods_agree(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double t, limit;
    } cases[] = {
        {"harmonic-oscillator", 30, 1e-13},
        {"kepler", 60, 1e-10},
        {"double-pendulum", 10, 1e-12},
        {"double-pendulum-particles", 10, 1e-12},
        {"bead-on-hoop", 10, 1e-12},
        {"bead-on-hoop-particle", 10, 1e-12},
        {"knife-edge", 10, 1e-12},
        {"chaplygin-sleigh", 10, 1e-13},
        {"sleigh-oscillator", 100, 1e-11},
        {"sleigh-oscillator-reduced", 100, 1e-11},
        {"vertical-disk", 20, 1e-12},
        {"falling-disk", 20, 1e-11},
        {"snakeboard", 15, 3e-11},
        {"carriage", 20, 1e-12},
        {"spherical-pendulum", 20, 1e-11},
        {"foucault-pendulum", 300, 1e-10},
        {"nonholonomic-particle", 20, 1e-12},
        {"roller-racer", 10, 1e-12},
    };
    static const char *const methods[] = {"taylor", "dop853"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        motion a = measure_by_method(cases[i].name, NULL, "gauss");
        assert_int_equal(motion_to(&a, cases[i].t), NS_OK);
        double worst[2] = {0};
        for (int k = 0; k < 2; k++) {
            motion b = measure_by_method(cases[i].name, NULL, methods[k]);
            assert_int_equal(motion_to(&b, cases[i].t), NS_OK);
            for (uint32_t j = 0; j < a.model->system->states.n; j++)
                worst[k] = fmax(worst[k], fabs(a.x[j] - b.x[j]) / fmax(1, fabs(a.x[j])));
            measure_below(worst[k], cases[i].limit, methods[k], cases[i].name);
            motion_close(&b);
        }
        print_message("%-28s gauss against taylor %.1e, dop853 %.1e\n", cases[i].name, worst[0],
                      worst[1]);
        motion_close(&a);
    }
}

/* Loaded and run a second time: the same bits. */
static void same_bits(void **state)
{
    (void)state;
    static const char *const names[] = {"sleigh-oscillator", "falling-disk", "chain-30",
                                        "double-pendulum-particles", "snakeboard"};
    static const char *const methods[] = {"gauss", "taylor", "dop853"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < 3; k++) {
            motion a = measure_by_method(names[i], NULL, methods[k]);
            motion b = measure_by_method(names[i], NULL, methods[k]);
            motion_to(&a, 1.5);
            motion_to(&b, 1.5);
            const ns_system *s = a.model->system;
            assert_memory_equal(a.x, b.x, s->states.n * sizeof *a.x);
            assert_memory_equal(a.value, b.value, s->observables.n * sizeof *a.value);
            assert_true(ns_run_outcome(a.run)->evaluations ==
                        ns_run_outcome(b.run)->evaluations);
            motion_close(&a);
            motion_close(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum), cmocka_unit_test(spherical_pendulum),
        cmocka_unit_test(bead_on_hoop),    cmocka_unit_test(foucault),
        cmocka_unit_test(chain),           cmocka_unit_test(oscillators),
        cmocka_unit_test(kepler),          cmocka_unit_test(methods_agree),
        cmocka_unit_test(same_bits),
    };
    int failed = gallery();
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
