/* What an error is measured against: each state's own size, but no smaller than a small part of
 * the largest state's (ode/stepper.c).  Both sides of that rule have a price, and both are held
 * here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode/run.h"
#include "support/motion.h"

/* A small state beside a large one keeps its own digits: two oscillators that know nothing of
 * each other, one a million times smaller. */
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

/* States that begin at exactly zero and have no size yet must not ask for absurd accuracy: a
 * ball let go on an egg box (with a floor of 1e-12 it took 91,000 steps). */
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

/* Rejected steps are the sign of a state whose size is misjudged; the snakeboard starts with
 * most of its states at zero. */
static void test_few_rejected(void **state)
{
    (void)state;
    motion m = motion_file("snakeboard", NULL);
    assert_int_equal(motion_to(&m, 10), NS_OK);
    const ns_outcome *outcome = ns_run_outcome(m.run);
    assert_true(5 * outcome->rejected < outcome->steps);
    motion_close(&m);
}

/* A free symmetric top passes the pole of its Euler angles: the mass matrix is all but singular
 * there, and rounding errors of its entries make rates that no step size makes smooth.  Its
 * axis turns about the angular momentum L at the rate L/A:  cos th = c + (cos th0 - c) cos(L
 * t/A) - sin th0 th0' A/L sin(L t/A),  c = p_ph p_ps/L^2. */
static void test_pole(void **state)
{
    (void)state;
    static const char *const methods[] = {"gauss", "taylor", "dop853"};
    static const double rates[] = {1e-2, 1e-3, 1e-4};
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
            char text[400];
            snprintf(text, sizeof text,
                     "param w = %g\ncoordinate th, ph, ps\n"
                     "lagrangian (th'^2 + ph'^2*sin(th)^2)/2 + (ps' + ph'*cos(th))^2\n"
                     "start { th = 1; th' = -1; ph' = w; ps' = 0 }\n"
                     "run { until 5; method %s }\n",
                     rates[k], methods[i]);
            motion m = motion_text(text, NULL);
            assert_int_equal(motion_to(&m, 5), NS_OK);
            const double w = rates[k], s = sin(1), p_ps = 2 * w * cos(1),
                         p_ph = w * s * s + p_ps * cos(1);
            const double L = sqrt(1 + w * w * s * s + p_ps * p_ps), c = p_ph * p_ps / (L * L);
            const double exact = c + (cos(1) - c) * cos(5 * L) + s / L * sin(5 * L);
            /* the angle nearest to the pole: where what is left of the energy is th'^2/2 = 0 */
            const double nearest = fabs(p_ph - p_ps), lost = 2.2e-16 / (nearest * nearest);
            assert_true(fabs(cos(motion_get(&m, "th")) - exact) < 100 * lost);
            assert_true(ns_run_outcome(m.run)->steps < 40000); /* it was tens of millions */
            motion_close(&m);
        }
}

/* A disk that falls all but flat: the contact races half way round the rim within microseconds,
 * and the disk rises. */
static void test_nearly_flat(void **state)
{
    (void)state;
    motion m = motion_file("falling-disk", "tilt0=0.1; rolling0=-2; turning0=-3");
    assert_int_equal(motion_to(&m, 1.4), NS_OK);
    assert_true(ns_run_outcome(m.run)->steps < 10000);
    /* by quadruple precision; cos(theta) was 3e-5, which costs eps/cos^2 = 2e-7 of the rates,
     * and the way back some more */
    assert_true(fabs(motion_get(&m, "theta") - 1.46215623507790602) < 1e-3);
    assert_true(fabs(motion_get(&m, "phi") + 9.96677181434049049) < 1e-3);
    motion_close(&m);
}

/* Where every step is right and the time does not move, the run ends and says so: here the
 * angle of the motion is 1/(1 - t), and steps are shorter the nearer t = 1 is. */
static void test_no_progress(void **state)
{
    (void)state;
    static const char *const methods[] = {"gauss", "taylor", "dop853"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "param K = 0.1\nlet w = 1 + K/(1 - t)^2\n"
                 "state u' = w*v\nstate v' = -w*u\nstart { u = 1 }\n"
                 "run { until 10; method %s }\n",
                 methods[i]);
        motion m = motion_text(text, NULL);
        assert_int_equal(motion_to(&m, 10), NS_STOP_STEP);
        const ns_outcome *o = ns_run_outcome(m.run);
        assert_non_null(strstr(o->reason, "no progress near t = 0.9999"));
        assert_true(o->steps < 1000000);
        assert_true(fabs(o->t - 1) < 1e-3);
        motion_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_beside_large), cmocka_unit_test(test_from_rest),
        cmocka_unit_test(test_few_rejected),       cmocka_unit_test(test_pole),
        cmocka_unit_test(test_nearly_flat),        cmocka_unit_test(test_no_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
