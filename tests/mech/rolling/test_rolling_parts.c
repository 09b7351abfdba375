/* Bodies with several parts, ends of parts, second contacts, and conditions that hold from the
 * start. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode/run.h"
#include "support/measure.h"
#include "support/motion.h"

/* Runs to `until` or the stop before; the time of the event (nan if it did not happen). */
static double event_of(const char *text, const char *event, double until, motion *m)
{
    *m = motion_text(text, NULL);
    motion_to(m, until);
    return motion_event(m, event, 0);
}

/* Half a ball rocks on its dome with w^2 = 15 g/(26 r): its centre of mass is 3/8 r below the
 * centre, I = 83/320 m r^2, and 83/320 + (5/8)^2 = 13/20.  The amplitude of 1e-5 changes the
 * period by its square. */
static void hemisphere(void **state)
{
    (void)state;
    motion m;
    event_of("ground plane\nbody hemisphere(0.1) { mass 1; uniform }\n"
             "start { tilt pi - 1e-5 }\nevent through: omega.x = 0\nrun { until 3 }\n",
             "through", 3, &m);
    const double period = motion_event(&m, "through", 3) - motion_event(&m, "through", 1);
    measure_below(fabs(period / (2 * M_PI / sqrt(15 * 9.81 / (26 * 0.1))) - 1), 1e-9, "period",
                  "hemisphere");
    motion_close(&m);
}

/* Where a part ends, the run does, with the contact there: the value is that of the limit. */
static void ends_of_parts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *event, *value;
        double expected;
    } table[] = {
        /* from the dome to the rim: its axis is horizontal */
        {"ground plane\nbody hemisphere(0.1) { mass 1; uniform }\n"
         "start { tilt 170 deg; omega [-12, 0, 0] }\nrun { until 3 }\n",
         "rim", "vertical.z", 0},
        /* the other way */
        {"ground plane\nbody hemisphere(0.1) { mass 1; uniform; contact rim }\n"
         "start { tilt 80 deg; omega [1, 0, 0] }\nrun { until 3 }\n",
         "dome", "vertical.z", 0},
        /* a cone tips from its base on its side: half angle atan(1/2), apex down: cos(tilt) =
         * -sin(that) */
        {"ground plane\nbody cone(0.1, 0.2) { mass 1; uniform }\n"
         "start { tilt 58 deg; omega [1, 0, 0] }\nrun { until 3 }\n",
         "falls", "vertical.z", -0.447213595499957939},
        /* the side of a cone on a ball, to the base (com of the cone at h/4) */
        {"ground sphere(2)\nbody cone(0.1, 0.2) { mass 1; uniform; contact side }\n"
         "start { contact ~ [0, 0, 2]; tilt ~ 120 deg; omega [0, 1, 3] }\nrun { until 3 }\n",
         "base", "s.z", -0.05},
        /* a roller on a ball: to one of its rims */
        {"ground sphere(1)\nbody cylinder(0.1, 0.2) { mass 1; uniform; contact side }\n"
         "start { contact ~ [0, 0, 1]; tilt 90 deg; omega [0.3, 0, 3] }\nrun { until 3 }\n",
         "rim", "s.z^2", 0.01},
        /* the user's own */
        {"ground plane\nbody ellipsoid(0.1, 0.2, 0.1) { mass 1; uniform; limit 0.15 - y }\n"
         "start { tilt 20 deg; omega [-9, 0, 3] }\nrun { until 3 }\n",
         "limit", "s.y", 0.15},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        motion m;
        const double t = event_of(table[i].text, table[i].event, 3, &m);
        const bool square = strcmp(table[i].value, "s.z^2") == 0;
        double value = motion_get(&m, square ? "s.z" : table[i].value);
        if (square)
            value *= value;
        print_message("%s at %.6g: %s = %.15g\n", table[i].event, t, table[i].value, value);
        assert_true(t > 0 && ns_run_outcome(m.run)->status == NS_STOP_EVENT);
        /* the time of an event is good to the last bits, the value by its speed, below 10 */
        measure_below(fabs(value - table[i].expected), 1e-12, table[i].event, table[i].value);
        motion_close(&m);
    }
}

/* A ball in a groove |x| (a little rounded) touches both sides when its centre is in the plane
 * between them, however the ball is described.  The points it is watched at are up to 9 degrees
 * from where it touches: sqrt(2) r (1 - cos 9 deg) = 1.7e-3 late at most. */
static void second_contact(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "sphere(r) { mass 1; uniform }",
        "superellipsoid(r, r, r, 2) { mass 1; inertia diag(J, J, J) }",
        "implicit(x^2 + y^2 + z^2 - r^2) { mass 1; inertia diag(J, J, J) }",
        "parametric([r*cos(u)*cos(v), r*sin(u)*cos(v), r*sin(v)]) { mass 1; inertia diag(J, J, "
        "J) }",
    };
    char text[512];
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int form = 0; form < 2; form++) {
            snprintf(text, sizeof text,
                     "param r = 0.1, J = 0.4*r^2\nground %s { overlap stop }\nbody %s\n"
                     "start { contact %s; axis [1, 0, 0], 0.7 }\nrun { until 3 }\n",
                     form ? "implicit(z - sqrt(x^2 + 1e-6))" : "height(sqrt(x^2 + 1e-6))",
                     bodies[i], form ? "[-0.5, 0, sqrt(0.25 + 1e-6)]" : "[-0.5, 0]");
            motion m;
            const double t = event_of(text, "overlap", 3, &m);
            const double late = motion_get(&m, "com.x");
            print_message("second contact at t = %.6f, com.x = %.1e\n", t, late);
            assert_true(t > 0.4 && late > -1e-6 && late < 1.8e-3);
            motion_close(&m);
        }
    /* a ball that fits runs through */
    motion m;
    assert_true(isnan(event_of("ground height(x^2 + y^2) { overlap warn }\n"
                               "body sphere(0.1) { mass 1; uniform }\n"
                               "start { contact [0.4, 0]; omega [1, 0, 0] }\nrun { until 3 }\n",
                               "overlap", 3, &m)));
    motion_close(&m);
    /* and a disk whose rim is under a shelf from the start is told at once */
    const double t = event_of("ground height(0.5*exp(-500*(x - 0.3)^2)) { overlap warn }\n"
                              "body disk(0.3) { mass 1; uniform }\n"
                              "start { tilt 80 deg }\nrun { until 0.01 }\n",
                              "overlap", 0.01, &m);
    assert_true(t == 0);
    motion_close(&m);
}

/* Too fast over a hill from the first moment: lift-off at the start, as a warning or a stop. */
static void lifted_at_start(void **state)
{
    (void)state;
    motion m;
    double t = event_of("ground height(-x^2/2)\nbody sphere(0.1) { mass 1; uniform }\n"
                        "start { contact [0, 0]; omega [0, 60, 0] }\nrun { until 0.1 }\n",
                        "liftoff", 0.1, &m);
    assert_true(t == 0 && m.t == 0.1);
    motion_close(&m);
    t = event_of(
        "ground height(-x^2/2) { liftoff stop }\nbody sphere(0.1) { mass 1; uniform }\n"
        "start { contact [0, 0]; omega [0, 60, 0] }\nrun { until 0.1 }\n",
        "liftoff", 0.1, &m);
    assert_true(t == 0 && ns_run_outcome(m.run)->status == NS_STOP_EVENT);
    motion_close(&m);
    /* a sliding start: the slope of 45 degrees asks for 2/7 */
    t = event_of("ground plane { tilt 45 deg; mu 0.2 }\nbody sphere(0.1) { mass 1; uniform }\n"
                 "run { until 0.1 }\n",
                 "slip", 0.1, &m);
    assert_true(t == 0);
    motion_close(&m);
}

/* Nothing said about where: on closed grounds the floor below or above the origin. */
static void somewhere(void **state)
{
    (void)state;
    static const struct {
        const char *ground;
        double z;
    } table[] = {{"sphere(2)", 2}, {"sphere(2) { side inside }", -2}, {"implicit(z - x^2)", 0}};
    char text[256];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        snprintf(text, sizeof text,
                 "ground %s\nbody sphere(0.1) { mass 1; uniform }\nrun { until 1 }\n",
                 table[i].ground);
        motion m = motion_text(text, NULL);
        motion_to(&m, 0);
        assert_true(fabs(motion_get(&m, "contact.z") - table[i].z) < 1e-14);
        motion_close(&m);
    }
}

/* A contact given in space is met on grounds that move, turned and shifted at the start too. */
static void on_moving_grounds(void **state)
{
    (void)state;
    static const struct {
        const char *ground, *contact;
        double at[3];
        int given;
    } table[] = {
        {"sphere(0.5) { turn [0, 0, 1], 2*t }", "[0.3, 0, 0.4]", {0.3, 0, 0.4}, 3},
        {"sphere(0.5) { turn [1, 0, 0], 0.3 + t; origin [0.1, 0, 0] }",
         "[0.1, 0.3, 0.4]",
         {0.1, 0.3, 0.4},
         3},
        {"height(0.1*cos(3*x)) { turn [0, 0, 1], 0.5 + 2*t; origin [0.1*t, 0, 0.2] }",
         "[0.1, 0.2]",
         {0.1, 0.2},
         2},
    };
    char text[512];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        snprintf(text, sizeof text,
                 "ground %s\nbody sphere(0.1) { mass 1; uniform }\n"
                 "start { contact %s; omega [0, 0, 1] }\nrun { until 1 }\n",
                 table[i].ground, table[i].contact);
        motion m = motion_text(text, NULL);
        double contact[3];
        motion_vector(&m, "contact", contact);
        for (int k = 0; k < table[i].given; k++)
            assert_true(fabs(contact[k] - table[i].at[k]) < 1e-12);
        assert_int_equal(motion_to(&m, 0.1), NS_OK);
        assert_true(motion_residual(&m) < 1e-13);
        motion_close(&m);
    }
}

/* A disk or torus that rocks without turning comes to lie flat and is past it in no time: the
 * contact jumps to the other side.  No step may run over that. */
static void rocking(void **state)
{
    (void)state;
    for (int k = 0; k < 24; k++) {
        char text[300];
        snprintf(text, sizeof text,
                 "ground plane\nbody %s { mass 1; inertia 1e-3*diag(1, 1, 1) }\n"
                 "start { tilt %d deg; omega [%g, 0, 0] }\n",
                 k % 3 ? k % 3 == 1 ? "torus(0.1, 0.09)" : "torus(0.1, 0.2)" : "disk(0.1)",
                 15 + k, 0.3 * k - 1);
        motion m = motion_text(text, NULL);
        const double energy = motion_get(&m, "energy");
        assert_int_equal(motion_to(&m, 5), NS_STOP_SINGULAR);
        assert_true(fmin(fabs(motion_get(&m, "quat.x")), fabs(motion_get(&m, "quat.w"))) <
                    1e-5);
        assert_true(fabs(motion_get(&m, "energy") / energy - 1) < 1e-13);
        motion_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocking),           cmocka_unit_test(hemisphere),
        cmocka_unit_test(ends_of_parts),     cmocka_unit_test(second_contact),
        cmocka_unit_test(lifted_at_start),   cmocka_unit_test(somewhere),
        cmocka_unit_test(on_moving_grounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
