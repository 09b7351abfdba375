/* Formulation `pontryagin`: against `rolling`, the reference motion, and what the thesis says
 * of wrong variations, regular motion and penalties. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode/run.h"
#include "support/measure.h"
#include "support/motion.h"
#include "support/reference.h"

#define DISK                                                                                   \
    "param m = 1, r = 1, g = 9.81, A = 0.25, B = 0.23, C = 0.46\n"                             \
    "let c = [l, 0, k], s = r*(Gamma - Gamma.z*[0, 0, 1])/sqrt(1 - Gamma.z^2) + c\n"           \
    "lagrangian dot(omega, diag(A, B, C)*omega)/2 + m/2*dot(Y, Y) - m*g*dot(s, Gamma)\n"

static motion disk(double l, double k, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, "param l = %.17g, k = %.17g\n" DISK "%s", l, k, more);
    return motion_text(text, NULL);
}

static const char after[] =
    "rolling { arm s }\nstart { tilt 60 deg; turn 0.3; omega [1, 0.5, 5] }\n";

/* The same motion as the edge of a disk by curvatures: balanced, unbalanced, and with the
 * centre of mass out of the plane of the rim (a can). */
static void equals_rolling(void **state)
{
    (void)state;
    static const double centres[3][2] = {{0, 0}, {0.2, 0}, {0.1, 0.3}};
    for (int i = 0; i < 3; i++) {
        char text[512];
        motion a = disk(centres[i][0], centres[i][1], after), b;
        snprintf(
            text, sizeof text,
            "ground plane\nbody disk(1) { mass 1; inertia diag(0.25, 0.23, 0.46); com [%.17g, "
            "0, %.17g] }\nstart { tilt 60 deg; turn 0.3; omega [1, 0.5, 5] }\n",
            centres[i][0], centres[i][1]);
        b = motion_text(text, NULL);
        assert_int_equal(motion_to(&a, 10), NS_OK);
        assert_int_equal(motion_to(&b, 10), NS_OK);
        const double off = motion_difference(&a, &b, "com, quat, omega, contact, energy");
        print_message("disk with centre (%g, %g): %.1e\n", centres[i][0], centres[i][1], off);
        assert_true(off <
                    1e-10); /* errors of 1e-15 grow by 1e3 or so in the unbalanced motions */
        assert_true(ns_run_outcome(a.run)->energy_drift < 1e-13);
        motion_close(&a);
        motion_close(&b);
    }
}

/* A loaded ball, s = r Gamma + l chi: the same as a sphere with its centre of mass off the
 * centre, and Jellett's integral Pi . s holds for equal moments about chi, not otherwise. */
static void ball(void **state)
{
    (void)state;
    for (int even = 0; even < 2; even++) {
        char text[768];
        snprintf(text, sizeof text,
                 "param m = 1, r = 0.1, l = 0.02, g = 9.81, A = 0.003, B = %s, C = 0.004\n"
                 "let s = r*Gamma + l*[0, 0, 1], I = diag(A, B, C)\n"
                 "lagrangian dot(omega, I*omega)/2 + m/2*dot(Y, Y) - m*g*dot(s, Gamma)\n"
                 "rolling { arm s }\nobserve jellett = dot(Pi, s)\n"
                 "start { tilt 60 deg; omega [3, 1, 4] }\n",
                 even ? "0.003" : "0.0035");
        motion a = motion_text(text, NULL), b;
        snprintf(
            text, sizeof text,
            "ground plane\nbody sphere(0.1) { mass 1; com [0, 0, 0.02]; inertia diag(0.003, "
            "%s, 0.004) }\nstart { tilt 60 deg; omega [3, 1, 4] }\n",
            even ? "0.003" : "0.0035");
        b = motion_text(text, NULL);
        motion_to(&a, 0);
        const double before = motion_get(&a, "jellett");
        motion_to(&a, 10);
        motion_to(&b, 10);
        measure_below(motion_difference(&a, &b, "com, quat, omega, contact, energy"), 1e-11,
                      "difference", "loaded ball");
        const double change = fabs(motion_get(&a, "jellett") / before - 1);
        assert_true(even ? change < 1e-13 : change > 1e-3);
        motion_close(&a);
        motion_close(&b);
    }
}

/* Reference f2, to 24 digits. */
static void reference_disk(void **state)
{
    (void)state;
    reference r = reference_open("f2_disk_unbalanced");
    motion m = motion_file("jachnik-disk", NULL);
    double worst = 0;
    for (size_t i = 0; i < r.samples; i++) {
        double a[3], b[3];
        motion_to(&m, reference_number(&r, i, "t"));
        motion_vector(&m, "com", a);
        reference_get(&r, i, "com", b, 3);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(a[k] - b[k]));
    }
    measure_below(worst, 1e-12, "com", "f2");
    reference_close(&r);
    motion_close(&m);
}

/* Section 2.7: another motion, with the same energy.  Section 2.8: |Y| stays, which for a
 * rolling body it does not. */
static void wrong_variations(void **state)
{
    (void)state;
    static const char start[] = "start { tilt 60 deg; turn 0.3; omega [1, 0.5, 5] }\n";
    char text[256];
    motion m[3];
    double x[3][3], speed[3][2];
    static const char *const ways[] = {"after", "before", "free"};
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text,
                 "rolling { arm s; variations %s }\nobserve speed = norm(Y)\n%s", ways[i],
                 start);
        m[i] = disk(0.2, 0, text);
        motion_to(&m[i], 0);
        speed[i][0] = motion_get(&m[i], "speed");
        motion_to(&m[i], 2);
        speed[i][1] = motion_get(&m[i], "speed");
        motion_vector(&m[i], "com", x[i]);
        assert_true(ns_run_outcome(m[i].run)->energy_drift < 1e-13);
        motion_close(&m[i]);
    }
    for (int i = 1; i < 3; i++) {
        double apart = 0;
        for (int k = 0; k < 3; k++)
            apart = fmax(apart, fabs(x[i][k] - x[0][k]));
        print_message("variations %s: centre of mass %.3g m away after 2 s\n", ways[i], apart);
        assert_true(apart > 0.1);
    }
    assert_true(fabs(speed[2][1] - speed[2][0]) < 1e-13 * speed[2][0]);
    assert_true(fabs(speed[0][1] - speed[0][0]) > 0.01 * speed[0][0]);
}

/* Where three points lie on a circle. */
static void circle(double p[3][2], double centre[2], double *radius)
{
    const double ax = p[1][0] - p[0][0], ay = p[1][1] - p[0][1], bx = p[2][0] - p[0][0],
                 by = p[2][1] - p[0][1], d = 2 * (ax * by - ay * bx);
    const double a = ax * ax + ay * ay, b = bx * bx + by * by;
    centre[0] = p[0][0] + (by * a - ay * b) / d;
    centre[1] = p[0][1] + (ax * b - bx * a) / d;
    *radius = hypot(p[0][0] - centre[0], p[0][1] - centre[1]);
}

/* Section 7: the height is kept; the balanced disk draws a circle with constant omega.z, the
 * unbalanced one does not. */
static void regular(void **state)
{
    (void)state;
    for (int balanced = 0; balanced < 2; balanced++) {
        motion m = motion_file("regular-motion", balanced ? "l=0" : NULL);
        double p[3][2], centre[2], radius, low = INFINITY, high = -INFINITY, off = 0,
                                           height = 0;
        motion_to(&m, 0);
        const double h = motion_get(&m, "height");
        for (int i = 0; i <= 60; i++) {
            double at[2];
            assert_int_equal(motion_to(&m, 0.1 * i), NS_OK);
            at[0] = motion_get(&m, "contact.x");
            at[1] = motion_get(&m, "contact.y");
            const double w = motion_get(&m, "omega.z");
            low = fmin(low, w);
            high = fmax(high, w);
            height = fmax(height, fabs(motion_get(&m, "height") - h) / h);
            if (i < 3)
                memcpy(p[i], at, sizeof at);
            if (i == 2)
                circle(p, centre, &radius);
            if (i > 2)
                off = fmax(off,
                           fabs(hypot(at[0] - centre[0], at[1] - centre[1]) - radius) / radius);
        }
        print_message("%s: height %.1e, off the circle %.1e, omega.z from %g to %g\n",
                      balanced ? "balanced" : "unbalanced", height, off, low, high);
        assert_true(height < 1e-12);
        assert_true(balanced ? off < 1e-10 && high - low < 1e-11 : off > 0.1 && high - low > 1);
        assert_true(ns_run_outcome(m.run)->energy_drift < 1e-13);
        motion_close(&m);
    }
}

/* Section 7.1: the penalty's motion tends to the regular one like eps^2. */
static void penalty(void **state)
{
    (void)state;
    motion exact = motion_file("regular-motion", NULL);
    motion_to(&exact, 0.5);
    double off[2];
    for (int i = 0; i < 2; i++) {
        motion m = motion_file("penalty-disk", i ? "eps=2e-4" : "eps=1e-3");
        assert_int_equal(motion_to(&m, 0.5), NS_OK);
        off[i] = motion_difference(&m, &exact, "com, contact");
        motion_close(&m);
    }
    const double order = log(off[0] / off[1]) / log(5);
    print_message("penalty: %.2e, %.2e, order %.2f\n", off[0], off[1], order);
    assert_true(order > 1.9 && order < 2.1);
    motion_close(&exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_rolling), cmocka_unit_test(ball),
        cmocka_unit_test(reference_disk), cmocka_unit_test(wrong_variations),
        cmocka_unit_test(regular),        cmocka_unit_test(penalty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
