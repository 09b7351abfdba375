/* Runs in quadruple precision: against motions known to 24 digits, against themselves with
 * other tolerances, and what they write. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "ode/quad/quad.h"
#include "out/formats.h"
#include "session/trust/digits.h"
#include "support/motion.h"
#include "support/reference.h"

#if NS_HAVE_QUAD

typedef struct pair {
    const char *ours, *theirs;
    uint32_t component;
} pair;

static const pair rolling[] = {
    {"com.x", "com", 0},           {"com.y", "com", 1},          {"com.z", "com", 2},
    {"velocity.x", "vel", 0},      {"velocity.y", "vel", 1},     {"velocity.z", "vel", 2},
    {"omega.x", "omega_body", 0},  {"omega.y", "omega_body", 1}, {"omega.z", "omega_body", 2},
    {"contact.x", "contact", 0},   {"contact.y", "contact", 1},  {"normal.x", "normal", 0},
    {"normal.y", "normal", 1},     {"normal.z", "normal", 2},    {"force.normal", "N", 0},
    {"omega.space.x", "omega", 0}, {"energy", "energy", 0},      {NULL, NULL, 0}};

static const pair oscillator[] = {{"p1", "p1", 0},       {"p2", "p2", 0},
                                  {"theta'", "xi1", 0},  {"energy", "energy", 0},
                                  {"theta", "theta", 0}, {"force", "blade_force", 0},
                                  {"r", "r", 0},         {NULL, NULL, 0}};

static ns_record *run(ns_model *model, double tolerance, const double *at, size_t n)
{
    ns_record_options o = ns_record_defaults(model);
    o.at = at;
    o.n_at = n;
    o.every = 0;
    o.keep = true;
    o.until_fixed = true;
    o.run.until = at[n - 1];
    o.run.method = "quad";
    o.run.tolerance = tolerance;
    ns_record *record = ns_record_new(model, &o);
    assert_non_null(record);
    if (record->status != NS_OK)
        fail_msg("%s", record->message);
    assert_int_equal(ns_record_run(record), NS_OK);
    assert_int_equal(record->table.rows, n);
    assert_int_equal(record->low.rows, n);
    return record;
}

static ns_quad value_at(const ns_record *r, uint32_t column, size_t row)
{
    return (ns_quad)ns_table_column(&r->table, column)[row] +
           (ns_quad)ns_table_column(&r->low, column)[row];
}

/* The references have 21 digits: half a unit of the 21st is 5e-21 of a number that begins with
 * 1. */
static const double reference_digits = 6e-21;

static void judge(const char *name, const char *set, const char *file, const pair *pairs)
{
    ns_model *model = motion_model_file(name, set);
    reference r = reference_open(file);
    double *at = calloc(r.samples, sizeof *at), worst = 0;
    for (size_t i = 0; i < r.samples; i++)
        at[i] = reference_number(&r, i, "t");
    ns_record *record = run(model, 0, at, r.samples);
    for (const pair *p = pairs; p->ours; p++) {
        const int64_t column = ns_model_observable(model, p->ours);
        assert_true(column >= 0);
        double size = 0;
        for (size_t i = 0; i < r.samples; i++)
            size = fmax(size, fabs(ns_table_column(&record->table, (uint32_t)column)[i]));
        for (size_t i = 0; i < r.samples; i++) {
            const ns_quad exact = strtof128(reference_text(&r, i, p->theirs, p->component),
                                            NULL);
            const double off = fabs((double)(value_at(record, (uint32_t)column, i) - exact));
            /* where a value passes through zero, its error is that of its terms: 1e-24 of
             * them */
            const double beyond = fmax(off - 1e-24 * fmax(size, 1), 0);
            const double error = beyond > 0 ? beyond / fabs((double)exact) : 0;
            worst = fmax(worst, error);
            if (error > reference_digits)
                print_message("%s: %s at %g is off by %.2g\n", name, p->ours, at[i], error);
        }
    }
    print_message("%s: largest difference %.2g, %.2g s; energy %.2g\n", name, worst,
                  record->seconds, record->outcome->energy_drift);
    assert_true(worst < reference_digits);
    assert_true(record->outcome->energy_drift < 1e-29);
    for (uint32_t i = 0; i < model->system->constraints.n; i++)
        assert_true(record->outcome->residual[i] < 1e-29);
    ns_record_free(record);
    free(at);
    reference_close(&r);
    ns_model_free(model);
}

static void as_the_references(void **state)
{
    (void)state;
    judge("sphere-trough", NULL, "a1_sphere_uniform", rolling);
    judge("sphere-two-metals", NULL, "a2_sphere_nonuniform", rolling);
    judge("ellipsoid", NULL, "c_ellipsoid_plane", rolling);
    judge("unbalanced-disk", NULL, "f2_disk_unbalanced", rolling);
    judge("sleigh-oscillator",
          "M=2; m=0.7; J=0.6; k=3; theta0=0.2; dr0=0.9; p10=0.66; p20=1.71",
          "h2_sleigh_oscillator", oscillator);
}

/* A closed form: theta'' = -theta with theta(0) = 1/10, and times that are decimal numbers. */
static const char pendulum[] = "coordinate theta\n"
                               "param a = 0.1, w = 1.3\n"
                               "lagrangian theta'^2/2 - w^2*theta^2/2\n"
                               "start { theta = a; theta' = 0 }\n"
                               "run { until 0.7 }\n";

static void decimal_numbers(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(pendulum, NULL);
    static const double at[] = {0.1, 0.3, 0.7};
    static const char *const text[] = {"0.1", "0.3", "0.7"};
    ns_record *r = run(model, 0, at, 3);
    const ns_quad a = strtof128("0.1", NULL), w = strtof128("1.3", NULL);
    const int64_t column = ns_model_observable(model, "theta");
    assert_true(column >= 0);
    for (size_t i = 0; i < 3; i++) {
        const ns_quad t = strtof128(text[i], NULL), exact = a * cosf128(w * t);
        const ns_quad off = value_at(r, (uint32_t)column, i) - exact;
        assert_true(fabs((double)off) < 2e-32);
        const ns_quad label = (ns_quad)r->table.t[i] + (ns_quad)r->low.t[i];
        assert_true(fabs((double)(label - t)) < 1e-32);
    }
    assert_true(ns_quad_time_low(0.1) != 0); /* a tenth is no double */
    assert_true(ns_quad_time_low(0.5) == 0 && ns_quad_time_low(1.0 / 3) == 0);
    ns_record_free(r);
    ns_model_free(model);
}

/* With the tolerance the error falls, and it stays below what the tolerance promises times the
 * number of steps and the growth of errors of this motion (about a hundred). */
static void tolerances(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("ellipsoid", NULL);
    static const double at[] = {0.35, 1, 2.5};
    ns_record *best = run(model, 1e-33, at, 3);
    static const double tolerance[] = {1e-14, 1e-18, 1e-22, 1e-26, 1e-30};
    for (size_t k = 0; k < sizeof tolerance / sizeof *tolerance; k++) {
        ns_record *r = run(model, tolerance[k], at, 3);
        double worst = 0;
        for (uint32_t c = 0; c < r->columns; c++)
            for (size_t i = 0; i < 3; i++)
                worst = fmax(worst, fabs((double)(value_at(r, c, i) - value_at(best, c, i))));
        print_message("tolerance %g: error %.2g, %llu steps\n", tolerance[k], worst,
                      (unsigned long long)r->outcome->steps);
        assert_true(worst < 1e3 * tolerance[k]);
        ns_record_free(r);
    }
    ns_record_free(best);
    ns_model_free(model);
}

/* Constraints in accelerations only: they drift, and the projection keeps them. */
static void manifold(void **state)
{
    (void)state;
    static const char *const models[] = {"chaplygin-sleigh", "pendulum-particle", "four-bar",
                                         "bicycle"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        char path[600];
        snprintf(path, sizeof path, "%s/../models/%s.mech", NS_TESTS_DIR, models[k]);
        if (access(path, R_OK) != 0)
            continue;
        ns_model *model = motion_model_file(models[k], NULL);
        const double at = 0.5;
        ns_record *r = run(model, 0, &at, 1);
        for (uint32_t i = 0; i < model->system->constraints.n; i++)
            assert_true(r->outcome->residual[i] < 1e-29);
        ns_record_free(r);
        ns_model_free(model);
    }
}

/* A stop at an event leaves a state in quadruple precision there: theta = 1/20 at cos(w t) =
 * 1/2. */
static void events(void **state)
{
    (void)state;
    static const char text[] = "coordinate theta\n"
                               "param a = 0.1, w = 1.3\n"
                               "lagrangian theta'^2/2 - w^2*theta^2/2\n"
                               "start { theta = a; theta' = 0 }\n"
                               "event half: theta = a/2 stop\n"
                               "run { until 10 }\n";
    ns_model *model = motion_model_text(text, NULL);
    ns_record_options o = ns_record_defaults(model);
    o.run.method = "quad";
    o.keep = true;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(ns_record_run(r), NS_OK);
    assert_int_equal(r->outcome->status, NS_STOP_ASKED);
    const double t = r->outcome->t;
    assert_true(fabs(t - M_PI / 3 / 1.3) < 4e-16);
    const ns_quad time = (ns_quad)t + (ns_quad)ns_quad_time_low(t);
    const ns_quad exact = strtof128("0.1", NULL) * cosf128(strtof128("1.3", NULL) * time);
    const int64_t column = ns_model_observable(model, "theta");
    assert_true(fabs((double)(value_at(r, (uint32_t)column, 0) - exact)) < 1e-31);
    ns_record_free(r);
    ns_model_free(model);
}

/* CSV has 34 digits and times as decimal numbers; what is not supported is refused. */
static void files(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(pendulum, NULL);
    char path[] = "/tmp/noslip-quad-XXXXXX.csv";
    const int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    const char *outputs[] = {path};
    ns_record_options o = ns_record_defaults(model);
    o.run.method = "quad";
    o.every = 0.1;
    o.formats = ns_output_formats;
    o.outputs = outputs;
    o.n_outputs = 1;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(ns_record_run(r), NS_OK);
    ns_record_free(r);
    char *text;
    size_t length;
    assert_int_equal(ns_file_read(path, 1 << 20, &text, &length), 0);
    const char *row = strstr(text, "\n0.3,");
    assert_non_null(row);
    const ns_quad theta = strtof128(row + 5, NULL);
    const ns_quad exact = strtof128("0.1", NULL) *
                          cosf128(strtof128("0.39", NULL)); /* 1.3 times 0.3 */
    assert_true(fabs((double)(theta - exact)) < 2e-32);
    free(text);
    unlink(path);

    o.n_outputs = 0;
    o.checkpoint = path;
    r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "double precision"));
    ns_record_free(r);
    ns_model_free(model);
}

/* Where much cancels, the start is that of quadruple precision, not the double: 3*0.3 - 0.9 +
 * 1e-10 is 1e-10.  Numbers have 106 bits, 2^-107 of 0.9 is 6e-33: relative to 1e-10 that is
 * 1e-22, with three of them.  The digits say so: no more than 22, and not only the 6 of double
 * precision. */
static void cancellation(void **state)
{
    (void)state;
    ns_model *model = motion_model_text("param a = 0.3, b = 3*a - 0.9 + 1e-9\n"
                                        "state x' = -x, y' = b\n"
                                        "start { x = a*3 - 0.9 + 1e-10; y = 0 }\n",
                                        NULL);
    static const double at[] = {0, 1};
    ns_record *r = run(model, 0, at, 2);
    const ns_quad x0 = strtof128("1e-10", NULL), b = strtof128("1e-9", NULL);
    assert_true(fabs((double)((value_at(r, 0, 0) - x0) / x0)) < 4e-22);
    assert_true(fabs((double)((value_at(r, 0, 1) - x0 * expf128(-1)) / x0)) < 4e-22);
    assert_true(fabs((double)((value_at(r, 1, 1) - b) / b)) < 4e-22);
    char message[300];
    assert_true(ns_digits_judge(r, message, sizeof message));
    for (uint32_t column = 0; column < 2; column++) {
        assert_true(ns_digits_at(r, column, 1) <= 23);
        assert_true(ns_digits_at(r, column, 1) >= 18);
    }
    ns_record_free(r);
    ns_model_free(model);
}

/* Inside a value: 1 - cos(x) is x^2/2 = 5e-25, of which 113 bits, or 1e-34, leave 9 digits. */
static void values_cancel(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        "state x' = -x\nstart { x = 1e-12 }\nobserve y = 1 - cos(x), z = 1 + x\n", NULL);
    static const double at[] = {0.5};
    ns_record *r = run(model, 0, at, 1);
    char message[300];
    assert_true(ns_digits_judge(r, message, sizeof message));
    const int64_t y = ns_model_observable(model, "y"), z = ns_model_observable(model, "z");
    assert_true(y >= 0 && z >= 0);
    assert_true(ns_digits_at(r, (uint32_t)y, 0) <= 9 && ns_digits_at(r, (uint32_t)y, 0) >= 5);
    assert_true(ns_digits_at(r, (uint32_t)z, 0) >= 29);
    ns_record_free(r);
    ns_model_free(model);
}

/* A start given from outside is the decimal number; the others are those of the model. */
static void from_outside(void **state)
{
    (void)state;
    ns_model *model = motion_model_text("state x' = 0, y' = 0\nstart { x = 0.1; y = 0.7 }\n",
                                        NULL);
    model->x0[0] = 0.3;
    const ns_exact *exact = ns_model_exact(model, false);
    assert_non_null(exact);
    for (uint32_t i = 0; i < 2; i++) {
        const ns_quad x = (ns_quad)exact->x[i] + (ns_quad)exact->x_lo[i];
        assert_true(fabs((double)(x - strtof128(i ? "0.7" : "0.3", NULL))) < 2e-32);
    }
    ns_model_free(model);
}

/* Rates that are constant, zero, or nothing but rounding. */
static void at_rest(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        double exact;
    } cases[] = {
        {"state x' = 1\n", "x", 3},
        {"state x' = 0, y' = -2\nstart { x = 0.5; y = 6 }\n", "x", 0.5},
        {"state x' = 0.3*3 - 0.9, y' = x\nstart { x = 1; y = 0 }\n", "y", 3},
        {"ground plane\nbody sphere(0.1) { mass 1; uniform }\n", "com.x", 0},
        {"coordinate q\nlagrangian q'^2/2 - q^2/2\nstart { q = 0; q' = 0 }\n", "q", 0},
        {"coordinate q\nlagrangian q'^2/2\nstart { q = 0; q' = 1 }\n", "q", 3},
        {"particle P { mass 1 }\nconstraint floor: P.z = 0\nstart { P = [1, 2, 0] }\n", "P.x",
         1},
    };
    static const double at[] = {1, 3};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ns_model *model = motion_model_text(cases[k].text, NULL);
        ns_record *r = run(model, 0, at, 2);
        const int64_t column = ns_model_observable(model, cases[k].name);
        assert_true(column >= 0);
        const ns_quad off = value_at(r, (uint32_t)column, 1) - (ns_quad)cases[k].exact;
        assert_true(fabs((double)off) < 1e-30);
        assert_true(r->outcome->steps <
                    20); /* from a first step of 1/1000, three times as long each */
        ns_record_free(r);
        ns_model_free(model);
    }
}

/* Regularised systems are corrected until nothing is left: the energy is kept to the rounding
 * of the arithmetic, 1e-32, times a few hundred evaluations. */
static void constrained(void **state)
{
    (void)state;
    static const char *const models[] = {"two-rollers", "four-bar", "ball-on-ball"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        ns_model *model = motion_model_file(models[k], NULL);
        static const double at[] = {0.5};
        ns_record *r = run(model, 0, at, 1);
        print_message("%s: energy %.2g, %llu steps\n", models[k], r->outcome->energy_drift,
                      (unsigned long long)r->outcome->steps);
        assert_true(r->outcome->energy_drift < 1e-29);
        ns_record_free(r);
        ns_model_free(model);
    }
}

/* A pendulum in the plane y = 0, by a particle on a rod and by its angle.  P.y should be zero,
 * and is nothing but rounding: it must not ask for shorter steps.  The particle has the same
 * motion in other coordinates: half as many steps again are allowed for. */
static void states_of_noise(void **state)
{
    (void)state;
    ns_model *angle = motion_model_text("coordinate q\nlagrangian q'^2/2 + 9.81*cos(q)\n"
                                        "start { q = asin(0.6); q' = 1 }\n",
                                        NULL);
    ns_model *place = motion_model_text("particle P { mass 1 }\n"
                                        "constraint rod: rod(P, [0, 0, 0], 1)\n"
                                        "start { P = [0.6, 0, -0.8]; P' = [0.8, 0, 0.6] }\n",
                                        NULL);
    static const double at[] = {10};
    ns_record *a = run(angle, 0, at, 1), *b = run(place, 0, at, 1);
    const int64_t q = ns_model_observable(angle, "q"), x = ns_model_observable(place, "P.x");
    assert_true(q >= 0 && x >= 0);
    const ns_quad off = sinf128(value_at(a, (uint32_t)q, 0)) - value_at(b, (uint32_t)x, 0);
    print_message("%llu steps and %llu, %.2g\n", (unsigned long long)a->outcome->steps,
                  (unsigned long long)b->outcome->steps, (double)off);
    assert_true(fabs((double)off) < 1e-27); /* 1e-30 a step */
    assert_true(2 * b->outcome->steps <= 3 * a->outcome->steps);
    ns_record_free(a);
    ns_record_free(b);
    ns_model_free(angle);
    ns_model_free(place);
}

#else

static void is_missing(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("ellipsoid", NULL);
    ns_record_options o = ns_record_defaults(model);
    o.run.method = "quad";
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "gcc"));
    ns_record_free(r);
    ns_model_free(model);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if NS_HAVE_QUAD
        cmocka_unit_test(as_the_references),
        cmocka_unit_test(decimal_numbers),
        cmocka_unit_test(tolerances),
        cmocka_unit_test(manifold),
        cmocka_unit_test(events),
        cmocka_unit_test(files),
        cmocka_unit_test(cancellation),
        cmocka_unit_test(values_cancel),
        cmocka_unit_test(from_outside),
        cmocka_unit_test(at_rest),
        cmocka_unit_test(constrained),
        cmocka_unit_test(states_of_noise),
#else
        cmocka_unit_test(is_missing),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
