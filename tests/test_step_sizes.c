/* What an error is measured against: each state's own size, but no smaller than a small part of
 * the largest state's (ode/stepper.c).  Both sides of that rule have a price, and both are held
 * here. */
#include <math.h>

#include "ode/run.h"
#include "support/motion.h"

/* A small state beside a large one keeps its own digits: two oscillators that know nothing of each
 * other, one a million times smaller. */
static void test_small_beside_large(void **state)
{
    (void)state;
    motion m = motion_text("coordinate x, y\n"
                           "lagrangian (x'^2 - 4*x^2)/2 + (y'^2 - 9*y^2)/2\n"
                           "start { x = 1; x' = 0; y = 1e-6; y' = 0 }\nrun { until 10 }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 10), NS_OK);
    /* angles of 30 rad cost a few units of 2^-53 times 30 */
    assert_true(fabs(motion_get(&m, "x") - cos(20)) < 1e-14);
    assert_true(fabs(motion_get(&m, "y") * 1e6 - cos(30)) < 2e-14);
    motion_close(&m);
}

/* States that begin at exactly zero and have no size yet must not ask for absurd accuracy: a ball
 * let go on an egg box (with a floor of 1e-12 it took 91,000 steps). */
static void test_from_rest(void **state)
{
    (void)state;
    motion m = motion_text("param h = 2 cm, k = 30, r = 1.5 cm\n"
                           "ground height(h*cos(k*x)*cos(k*y))\n"
                           "body sphere(r) { mass 20 g; uniform }\n"
                           "start { contact [0.02, 0.03] }\nrun { until 10 }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 10), NS_OK);
    assert_true(ns_run_outcome(m.run)->steps < 2000);
    assert_true(ns_run_outcome(m.run)->energy_drift < 1e-13);
    motion_close(&m);
}

/* Rejected steps are the sign of a state whose size is misjudged; the snakeboard starts with most
 * of its states at zero. */
static void test_few_rejected(void **state)
{
    (void)state;
    motion m = motion_file("snakeboard", NULL);
    assert_int_equal(motion_to(&m, 10), NS_OK);
    const ns_outcome *outcome = ns_run_outcome(m.run);
    assert_true(5 * outcome->rejected < outcome->steps);
    motion_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_beside_large),
        cmocka_unit_test(test_from_rest),
        cmocka_unit_test(test_few_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
