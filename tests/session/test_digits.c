/* --digits: never more than are right, by motions known to 24 digits; and not many fewer. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/trust/digits.h"
#include "support/motion.h"
#include "support/reference.h"

typedef struct pair {
    const char *ours, *theirs;
    uint32_t component, of; /* of a vector of the reference; of = 1: a number */
} pair;

static const pair rolling[] = {
    {"com.x", "com", 0, 3},           {"com.y", "com", 1, 3},
    {"com.z", "com", 2, 3},           {"velocity.x", "vel", 0, 3},
    {"velocity.y", "vel", 1, 3},      {"velocity.z", "vel", 2, 3},
    {"omega.x", "omega_body", 0, 3},  {"omega.y", "omega_body", 1, 3},
    {"omega.z", "omega_body", 2, 3},  {"contact.x", "contact", 0, 3},
    {"contact.y", "contact", 1, 3},   {"normal.x", "normal", 0, 3},
    {"normal.y", "normal", 1, 3},     {"normal.z", "normal", 2, 3},
    {"force.normal", "N", 0, 1},      {"force.friction", "T_abs", 0, 1},
    {"omega.space.x", "omega", 0, 3}, {"omega.space.z", "omega", 2, 3},
    {"energy", "energy", 0, 1},       {NULL, NULL, 0, 0}};

static const pair oscillator[] = {{"p1", "p1", 0, 1},
                                  {"p2", "p2", 0, 1},
                                  {"theta'", "xi1", 0, 1},
                                  {"energy", "energy", 0, 1},
                                  {"force", "blade_force", 0, 1},
                                  {"theta", "theta", 0, 1},
                                  {"r", "r", 0, 1},
                                  {NULL, NULL, 0, 0}};

static double known(const reference *r, size_t sample, const pair *p)
{
    double values[4];
    if (p->of == 1)
        return reference_number(r, sample, p->theirs);
    reference_get(r, sample, p->theirs, values, p->of);
    return values[p->component];
}

/* How many digits were right beyond those that were said, summed over all values. */
typedef struct tally {
    double spare;
    uint32_t n, optimistic;
} tally;

static void judge(ns_model *model, const char *name, const pair *pairs, const char *method,
                  double tolerance, bool quad, tally *all)
{
    reference r = reference_open(name);
    double *at = calloc(r.samples, sizeof *at);
    for (size_t i = 0; i < r.samples; i++)
        at[i] = reference_number(&r, i, "t");
    ns_record_options o = ns_record_defaults(model);
    o.at = at;
    o.n_at = r.samples;
    o.every = 0;
    o.keep = true;
    o.until_fixed = true;
    o.run.until = at[r.samples - 1];
    o.run.method = method;
    o.run.tolerance = tolerance;
    ns_record *record = ns_record_new(model, &o);
    assert_non_null(record);
    assert_int_equal(ns_record_run(record), NS_OK);
    char message[300];
    if (!(quad ? ns_digits_judge_quad(record, message, sizeof message)
               : ns_digits_judge(record, message, sizeof message)))
        fail_msg("%s", message);
    assert_int_equal(record->table.rows, r.samples);
    for (const pair *p = pairs; p->ours; p++) {
        const int64_t column = ns_model_observable(model, p->ours);
        assert_true(column >= 0);
        for (size_t i = 0; i < r.samples; i++) {
            const double exact = known(&r, i, p);
            const double value = ns_table_column(&record->table, (uint32_t)column)[i];
            const int digits = ns_digits_at(record, (uint32_t)column, i);
            assert_true(digits >= 0 && digits <= NS_DIGITS_MOST);
            if (exact == 0 || value == 0)
                continue;
            /* the reference itself was rounded when it was read */
            const double error = fmax(fabs(value - exact) / fabs(value) - 0x1p-53, 0);
            if (error > pow(10, -digits)) {
                print_message("%s, %s %.0e: %s at %g is %.17g, exact %.17g, not %d digits\n",
                              name, method ? method : "gauss", tolerance, p->ours, at[i], value,
                              exact, digits);
                all->optimistic++;
            }
            all->spare += fmin(-log10(fmax(error, 1e-16)), 16) - digits;
            all->n++;
        }
    }
    ns_record_free(record);
    free(at);
    reference_close(&r);
}

static void never_more_than_are_right(void **state)
{
    (void)state;
    static const struct {
        const char *model, *set, *reference;
        const pair *pairs;
    } cases[] = {
        {"sphere-trough", NULL, "a1_sphere_uniform", rolling},
        {"sphere-two-metals", NULL, "a2_sphere_nonuniform", rolling},
        {"ellipsoid", NULL, "c_ellipsoid_plane", rolling},
        {"unbalanced-disk", NULL, "f2_disk_unbalanced", rolling},
        {"sleigh-oscillator", "M=2; m=0.7; J=0.6; k=3; theta0=0.2; dr0=0.9; p10=0.66; p20=1.71",
         "h2_sleigh_oscillator", oscillator},
    };
    static const struct {
        const char *method;
        double tolerance;
    } ways[] = {{NULL, 0}, {"gauss", 1e-6}, {"gauss", 1e-11}, {"taylor", 0}, {"dop853", 1e-9}};
    tally all = {0}, sharp = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ns_model *model = motion_model_file(cases[i].model, cases[i].set);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            judge(model, cases[i].reference, cases[i].pairs, ways[k].method, ways[k].tolerance,
                  false, &all);
#if NS_HAVE_QUAD
        judge(model, cases[i].reference, cases[i].pairs, i % 2 ? "gauss" : NULL,
              i % 2 ? 1e-9 : 0, true, &sharp);
#endif
        ns_model_free(model);
    }
    print_message("%u values: %.2f digits more are right than said\n", all.n,
                  all.spare / all.n);
    assert_int_equal(all.optimistic, 0);
    assert_int_equal(sharp.optimistic, 0);
    if (sharp.n) {
        print_message("in quadruple precision, %u values: %.2f more\n", sharp.n,
                      sharp.spare / sharp.n);
        assert_true(sharp.spare / sharp.n < 1.2);
    }
    assert_true(all.spare / all.n < 2); /* and it is worth saying */
}

static ns_record *judged(const char *text, double step)
{
    ns_model *model = motion_model_text(text, NULL);
    static const double at[] = {0, 1};
    ns_record_options o = ns_record_defaults(model);
    o.at = at;
    o.n_at = 2;
    o.keep = o.until_fixed = true;
    o.run.until = 1;
    o.run.fixed_step = step;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    assert_int_equal(ns_record_run(r), NS_OK);
    char message[300];
    if (!ns_digits_judge(r, message, sizeof message))
        fail_msg("%s", message);
    return r;
}

static int digits(const ns_record *r, const char *name, size_t row)
{
    const int64_t column = ns_model_observable(r->model, name);
    assert_true(column >= 0);
    return ns_digits_at(r, (uint32_t)column, row);
}

static void release(ns_record *r)
{
    ns_model *model = r->model;
    ns_record_free(r);
    ns_model_free(model);
}

/* Rounding of given numbers: of 1e-10 = 3*0.3 - 0.9 + 1e-10 double precision has 6 digits, of
 * 1e-9 as a rate 7, and none of one that is zero.  What has not cancelled keeps its digits. */
static void given_numbers(void **state)
{
    (void)state;
    ns_record *r = judged("param a = 0.3, b = 3*a - 0.9 + 1e-9\n"
                          "state x' = -x, y' = b, z' = (0.3*3 - 0.9)*1e10, u' = -u\n"
                          "start { x = a*3 - 0.9 + 1e-10; y = 0; z = 0; u = a }\n",
                          0);
    for (size_t row = 0; row < 2; row++) {
        assert_true(digits(r, "x", row) <= 6 && digits(r, "x", row) >= 4);
        assert_true(digits(r, "u", row) >= 13);
    }
    assert_true(digits(r, "y", 1) <= 7 && digits(r, "y", 1) >= 4);
    assert_int_equal(digits(r, "z", 1), 0);
    release(r);
}

/* Rounding inside values: of 1 - cos(0.001) = 5e-7 double precision has 9 or 10 digits; noise
 * about zero has none, at the start too. */
static void inside_values(void **state)
{
    (void)state;
    ns_record *r = judged("state x' = v, v' = -x\nstart { x = 1e-3; v = 0 }\n"
                          "observe y = 1 - cos(x), z = (x + 0.1)^2 - x^2 - 0.2*x - 0.01\n",
                          0);
    const int64_t y = ns_model_observable(r->model, "y");
    assert_true(y >= 0);
    for (size_t row = 0; row < 2; row++) {
        const double x = row ? 1e-3 * cos(1) : 1e-3; /* 1 - cos(x) without cancellation */
        const double exact = 2 * sin(x / 2) * sin(x / 2);
        const double value = ns_table_column(&r->table, (uint32_t)y)[row];
        assert_true(fabs(value - exact) <= exact * pow(10, -digits(r, "y", row)));
        assert_true(digits(r, "y", row) <= 11 && digits(r, "y", row) >= 7);
        assert_int_equal(digits(r, "z", row), 0);
        assert_true(digits(r, "x", row) >= 14);
    }
    release(r);
}

/* A pulse that the run's steps pass over: those of the others are shorter, and not in line with
 * them. */
static void passed_over(void **state)
{
    (void)state;
    ns_record *r = judged("state x' = v, v' = -x + exp(-((t - 0.5)/0.001)^2)/0.001\n"
                          "start { x = 1; v = 0 }\n",
                          1);
    assert_true(digits(r, "x", 1) <= 1 && digits(r, "v", 1) <= 1);
    release(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_more_than_are_right), cmocka_unit_test(given_numbers),
        cmocka_unit_test(inside_values), cmocka_unit_test(passed_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
