/* Unbalanced disks joined by rods, from bodies, contacts and rods in space, against: a
 * reference motion (j1), the reduced Lagrangians of the source on a plane (6.65) and in a
 * circle (6.66, 6.74, corrected), and on a curve the Lagrangian of contact parameters and
 * angles with multipliers.
 *
 * The second formulations are planar and share nothing with the first but the numbers.  Limits
 * are 1e-10 over 10 s; measured is 1e-13 to 1e-12. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/measure.h"
#include "support/reference.h"

/* Where disk i is in the motion of bodies: centre (x, z) and centre of mass. */
static void disk(const motion *m, int i, double at[4])
{
    char name[32];
    static const char *const part[4] = {"x", "z", "com.x", "com.z"};
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "D%d.%s", i, part[k]);
        at[k] = motion_get(m, name);
    }
}

/* The same from X.. of the second formulation: observed X1, Z1, x1, z1. */
static void planar(const motion *m, int i, double at[4])
{
    char name[32];
    static const char *const part[4] = {"X", "Z", "x", "z"};
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s%d", part[k], i);
        at[k] = motion_get(m, name);
    }
}

static void agree(motion *a, motion *b, int disks, double until, const char *name)
{
    double worst = 0, moved = 0, first[4], x[4], y[4];
    disk(a, 1, first);
    for (int k = 0; k <= 40; k++) {
        double t = until * k / 40;
        assert_int_equal(motion_to(a, t), NS_OK);
        assert_int_equal(motion_to(b, t), NS_OK);
        for (int i = 1; i <= disks; i++) {
            disk(a, i, x);
            planar(b, i, y);
            for (int j = 0; j < 4; j++)
                worst = fmax(worst, fabs(x[j] - y[j]));
            moved = fmax(moved, i == 1 ? fabs(x[0] - first[0]) : 0);
        }
    }
    print_message("%-34s difference %.1e over %g s; energy %.1e, rows %.1e; moved %.2f m\n",
                  name, worst, until, measure_energy_drift(a), motion_residual(a), moved);
    measure_below(worst, 1e-10, "difference", name);
    measure_below(measure_energy_drift(a), 1e-13, "energy", name);
    measure_below(motion_residual(a), 1e-12, "rows", name);
    assert_true(moved > 0.3);
    motion_close(a);
    motion_close(b);
}

/* ---- two disks on a plane: the reference motion ------------------------------------------ */

static void test_reference(void **state)
{
    (void)state;
    reference r = reference_open("j1_two_disks_plane");
    motion m = motion_file("two-rollers",
                           "m1=0.5; I1=2.1e-3; r1=0.1; l1=0.03; m2=0.3; I2=6e-4; r2=0.07; "
                           "l2=0.02; L=0.35; a1=1; a2=-0.5; w=0.5");
    double worst = 0, forces = 0;
    for (size_t k = 0; k < r.samples; k++) {
        assert_int_equal(motion_to(&m, reference_number(&r, k, "t")), NS_OK);
        for (int i = 1; i <= 2; i++) {
            char key[32], name[48];
            double at[4], com[2], centre[2];
            disk(&m, i, at);
            snprintf(key, sizeof key, "com%d", i);
            reference_get(&r, k, key, com, 2);
            snprintf(key, sizeof key, "centre%d", i);
            reference_get(&r, k, key, centre, 2);
            for (int j = 0; j < 2; j++)
                worst = fmax(worst, fmax(fabs(at[j] - centre[j]), fabs(at[2 + j] - com[j])));
            snprintf(key, sizeof key, "betadot%d", i);
            snprintf(name, sizeof name, "D%d.omega.z", i);
            worst = fmax(worst, fabs(motion_get(&m, name) - reference_number(&r, k, key)));
            snprintf(key, sizeof key, "N%d", i);
            snprintf(name, sizeof name, "roll%d.force.normal", i);
            forces = fmax(forces, fabs(motion_get(&m, name) - reference_number(&r, k, key)));
            snprintf(key, sizeof key, "T%d", i);
            snprintf(name, sizeof name, "roll%d.force.x", i);
            forces = fmax(forces, fabs(motion_get(&m, name) - reference_number(&r, k, key)));
        }
        forces = fmax(forces, fabs(motion_get(&m, "lambda.bar.1") +
                                   reference_number(&r, k, "rod_tension")));
    }
    print_message("reference j1: motion %.1e, forces and tension %.1e\n", worst, forces);
    measure_below(worst, 1e-12, "motion", "j1");
    measure_below(forces, 1e-11, "forces", "j1");
    motion_close(&m);
    reference_close(&r);
}

/* Opposite disks of one build turn where a single one does, whatever the second one's mass. */
static void test_figure(void **state)
{
    (void)state;
    double before = 0;
    static const char *const masses[] = {"m2=0.1", "m2=1", "m2=2"};
    for (size_t i = 0; i < 3; i++) {
        motion m = motion_file("two-rollers", masses[i]);
        assert_int_equal(motion_to(&m, 10), NS_OK);
        assert_true(measure_at_event(&m, "turns", 0));
        measure_close(motion_get(&m, "angle1"), -2, 1e-12, "angle where it turns");
        assert_true(m.t > before); /* slower with a heavier second disk */
        before = m.t;
        motion_close(&m);
    }
    motion m = motion_file("two-rollers", "m2=5");
    assert_int_equal(motion_to(&m, 0.1), NS_OK);
    assert_true(motion_get(&m, "angle1") > 2); /* and the other way round beyond m1 */
    motion_close(&m);
}

/* ---- plane and circle: one angle is left ------------------------------------------------- */

#define SIZES                                                                                  \
    "param g = 9.81, r1 = 1, r2 = 0.8, r3 = 1.1, r4 = 0.7, r5 = 0.9\n"                         \
    "param m1 = 3, m2 = 2, m3 = 4, m4 = 1, m5 = 2\n"                                           \
    "param l1 = 0.3, l2 = 0.2, l3 = 0.4, l4 = 0.1, l5 = 0\n"

/* (6.63): s2 is the square of the distance from the contact to the centre of mass */
#define ON_PLANE                                                                               \
    "let s2(r, l, q) = r^2 + l^2 - 2*r*l*cos(q)\n"                                             \
    "let share(k, m, r, l, q) = k/2*(q')^2 + m/2*s2(r, l, q)*(q')^2 + m*g*l*cos(q)\n"

static void test_plane(void **state)
{
    (void)state;
    motion a = motion_file("two-rollers", "r2=0.7; a2=0.4; w=1");
    motion b = motion_text(
        "param m1 = 3, m2 = 1, r1 = 1, r2 = 0.7, l1 = 0.4, l2 = 0.4, g = 9.81\n" ON_PLANE
        "coordinate q1\nlet q2 = r1/r2*(q1 - 2) + 0.4, X = r1*(q1 - 2)\n"
        "lagrangian share(m1*r1^2/2, m1, r1, l1, q1) + share(m2*r2^2/2, m2, r2, l2, q2)\n"
        "start { q1 = 2; q1' = 1 }\n"
        "observe X1 = X, Z1 = r1, x1 = X - l1*sin(q1), z1 = r1 - l1*cos(q1)\n"
        "observe X2 = X + 3, Z2 = r2, x2 = X + 3 - l2*sin(q2), z2 = r2 - l2*cos(q2)\n",
        NULL);
    agree(&a, &b, 2, 10, "two disks on a plane, (6.65)");
    a = motion_file("five-rollers", NULL);
    b = motion_text(
        SIZES ON_PLANE
        "coordinate q1\nlet X = r1*(q1 - 2), q2 = X/r2 + 0.5, q3 = X/r3 - 1, q4 = X/r4 + 3,\n"
        "    q5 = X/r5\n"
        "let part(m, r, l, q) = share(m*r^2/2, m, r, l, q)\n"
        "lagrangian part(m1, r1, l1, q1) + part(m2, r2, l2, q2) + part(m3, r3, l3, q3) +\n"
        "           part(m4, r4, l4, q4) + part(m5, r5, l5, q5)\n"
        "start { q1 = 2; q1' = 0.5 }\n"
        "observe X1 = X, Z1 = r1, x1 = X1 - l1*sin(q1), z1 = r1 - l1*cos(q1)\n"
        "observe X2 = X + 2.5, Z2 = r2, x2 = X2 - l2*sin(q2), z2 = r2 - l2*cos(q2)\n"
        "observe X3 = X + 5, Z3 = r3, x3 = X3 - l3*sin(q3), z3 = r3 - l3*cos(q3)\n"
        "observe X4 = X + 7.5, Z4 = r4, x4 = X4 - l4*sin(q4), z4 = r4 - l4*cos(q4)\n"
        "observe X5 = X + 10, Z5 = r5, x5 = X5 - l5*sin(q5), z5 = r5 - l5*cos(q5)\n",
        NULL);
    agree(&a, &b, 5, 10, "five disks on a plane, (6.65)");
}

/* (6.66) corrected; q from the normal at the contact, p the place; the angle in space is q -
 * p */
#define IN_CIRCLE                                                                              \
    "let s2(r, l, q) = r^2 + l^2 - 2*r*l*cos(q)\n"                                             \
    "let share(m, r, l, q, p) = (1 - r/R)^2*(m*r^2/2 + m*s2(r, l, q))*(q')^2/2 -\n"            \
    "                           m*g*(R - (R - r)*cos(p) - l*cos(q - p))\n"

static void test_circle(void **state)
{
    (void)state;
    motion a = motion_file("two-rollers-circle", "l1=0.5; b2=1");
    motion b = motion_text(
        "param R = 10, r1 = 2, m1 = 2, l1 = 0.5, r2 = 0.5, m2 = 1, l2 = 0.2, g = 9.81\n"
        "param apart = acos(((R - r1)^2 + (R - r2)^2 - 9)/(2*(R - r1)*(R - r2)))\n" IN_CIRCLE
        "coordinate q1\nlet p1 = r1/R*q1, p2 = p1 - apart, q2 = R/r2*p2 + 1\n"
        "lagrangian share(m1, r1, l1, q1, p1) + share(m2, r2, l2, q2, p2)\n"
        "start { q1 = R/r1*0.5; q1' = 0 }\n"
        "observe X1 = (R - r1)*sin(p1), Z1 = R - (R - r1)*cos(p1),\n"
        "  x1 = X1 - l1*sin(q1 - p1), z1 = Z1 - l1*cos(q1 - p1)\n"
        "observe X2 = (R - r2)*sin(p2), Z2 = R - (R - r2)*cos(p2),\n"
        "  x2 = X2 - l2*sin(q2 - p2), z2 = Z2 - l2*cos(q2 - p2)\n",
        NULL);
    agree(&a, &b, 2, 10, "two disks in a circle, (6.66)");
    a = motion_file("five-rollers-circle", NULL);
    b = motion_text(
        SIZES
        "param R = 10\n" IN_CIRCLE
        "coordinate p1\nlet p2 = p1 - 0.25, p3 = p1 - 0.55, p4 = p1 - 0.8, p5 = p1 - 1\n"
        "let q1 = R/r1*p1 + 2, q2 = R/r2*p2 + 0.5, q3 = R/r3*p3 - 1, q4 = R/r4*p4 + 3,\n"
        "    q5 = R/r5*p5\n"
        "lagrangian share(m1, r1, l1, q1, p1) + share(m2, r2, l2, q2, p2) +\n"
        "  share(m3, r3, l3, q3, p3) + share(m4, r4, l4, q4, p4) + share(m5, r5, l5, q5, p5)\n"
        "start { p1 = 0.8; p1' = 0 }\n"
        "let X(r, p) = (R - r)*sin(p), Z(r, p) = R - (R - r)*cos(p)\n"
        "let x(r, l, q, p) = X(r, p) - l*sin(q - p), z(r, l, q, p) = Z(r, p) - l*cos(q - p)\n"
        "observe X1 = X(r1, p1), Z1 = Z(r1, p1), x1 = x(r1, l1, q1, p1),\n"
        "  z1 = z(r1, l1, q1, p1), X2 = X(r2, p2), Z2 = Z(r2, p2), x2 = x(r2, l2, q2, p2),\n"
        "  z2 = z(r2, l2, q2, p2), X3 = X(r3, p3), Z3 = Z(r3, p3), x3 = x(r3, l3, q3, p3),\n"
        "  z3 = z(r3, l3, q3, p3), X4 = X(r4, p4), Z4 = Z(r4, p4), x4 = x(r4, l4, q4, p4),\n"
        "  z4 = z(r4, l4, q4, p4), X5 = X(r5, p5), Z5 = Z(r5, p5), x5 = x(r5, l5, q5, p5),\n"
        "  z5 = z(r5, l5, q5, p5)\n",
        NULL);
    agree(&a, &b, 5, 10, "five disks in a circle, (6.66)");
}

/* ---- any curve --------------------------------------------------------------------------- */

/* Contact parameter u and angle b of each disk.  The centre is C = c(u) + r n, and it rolls:
 * r b' = C'.t, with the tangent t. */
#define ON_CURVE                                                                               \
    "param h = 0.2, k = 1.5\n"                                                                 \
    "let slope(u) = -h*k*sin(k*u), tangent(u) = [1, slope(u)]/sqrt(1 + slope(u)^2)\n"          \
    "let centre(u, r) = [u, h*cos(k*u)] + r*[-tangent(u)[2], tangent(u)[1]]\n"                 \
    "let mass(u, b, r, l) = centre(u, r) - l*[sin(b), cos(b)]\n"                               \
    "let square(v) = dot(v, v)\n"                                                              \
    "let share(m, r, l, u, b) = m/2*square(mass(u, b, r, l)') + m*r^2/4*(b')^2 -\n"            \
    "                           m*g*mass(u, b, r, l)[2]\n"                                     \
    "let slip(u, b, r) = r*b' - dot(centre(u, r)', tangent(u))\n"

static void test_curve(void **state)
{
    (void)state;
    motion a = motion_file("two-rollers-curve", NULL);
    char start[256];
    snprintf(start, sizeof start, "u2 ~ %.17g", motion_get(&a, "roll2.contact.x"));
    char text[4096];
    snprintf(text, sizeof text, "%s%s }\n",
             "param g = 9.81, m1 = 3, m2 = 1, r1 = 1, r2 = 0.6, l1 = 0.4, l2 = 0.2\n" ON_CURVE
             "coordinate u1, b1, u2, b2\n"
             "lagrangian share(m1, r1, l1, u1, b1) + share(m2, r2, l2, u2, b2)\n"
             "constraint roll1: slip(u1, b1, r1) = 0\nconstraint roll2: slip(u2, b2, r2) = 0\n"
             "constraint bar: square(centre(u1, r1) - centre(u2, r2)) = 9\n"
             "observe X1 = centre(u1, r1)[1], Z1 = centre(u1, r1)[2], x1 = mass(u1, b1, r1, "
             "l1)[1],\n"
             "  z1 = mass(u1, b1, r1, l1)[2], X2 = centre(u2, r2)[1], Z2 = centre(u2, r2)[2],\n"
             "  x2 = mass(u2, b2, r2, l2)[1], z2 = mass(u2, b2, r2, l2)[2]\n"
             "start { u1 = 0; b1 = 2; b2 = 0; b1' = 0.5; u1' ~ 0.4; u2' ~ 0.4; b2' ~ 0.6; ",
             start);
    motion b = motion_text(text, NULL);
    agree(&a, &b, 2, 10, "two disks on a curve");
    a = motion_file("five-rollers-curve", NULL);
    snprintf(start, sizeof start, "u2 ~ %.17g; u3 ~ %.17g; u4 ~ %.17g; u5 ~ %.17g",
             motion_get(&a, "roll2.contact.x"), motion_get(&a, "roll3.contact.x"),
             motion_get(&a, "roll4.contact.x"), motion_get(&a, "roll5.contact.x"));
    snprintf(
        text, sizeof text, "%s%s }\n",
        SIZES ON_CURVE
        "coordinate u1, b1, u2, b2, u3, b3, u4, b4, u5, b5\n"
        "lagrangian share(m1, r1, l1, u1, b1) + share(m2, r2, l2, u2, b2) +\n"
        "  share(m3, r3, l3, u3, b3) + share(m4, r4, l4, u4, b4) + share(m5, r5, l5, u5, b5)\n"
        "constraint roll1: slip(u1, b1, r1) = 0\nconstraint roll2: slip(u2, b2, r2) = 0\n"
        "constraint roll3: slip(u3, b3, r3) = 0\nconstraint roll4: slip(u4, b4, r4) = 0\n"
        "constraint roll5: slip(u5, b5, r5) = 0\n"
        "constraint bar1: square(centre(u1, r1) - centre(u2, r2)) = 6.25\n"
        "constraint bar2: square(centre(u2, r2) - centre(u3, r3)) = 6.25\n"
        "constraint bar3: square(centre(u3, r3) - centre(u4, r4)) = 6.25\n"
        "constraint bar4: square(centre(u4, r4) - centre(u5, r5)) = 6.25\n"
        "let X(u, r) = centre(u, r)[1], Z(u, r) = centre(u, r)[2]\n"
        "let x(u, b, r, l) = mass(u, b, r, l)[1], z(u, b, r, l) = mass(u, b, r, l)[2]\n"
        "observe X1 = X(u1, r1), Z1 = Z(u1, r1), x1 = x(u1, b1, r1, l1), z1 = z(u1, b1, r1, "
        "l1)\n"
        "observe X2 = X(u2, r2), Z2 = Z(u2, r2), x2 = x(u2, b2, r2, l2), z2 = z(u2, b2, r2, "
        "l2)\n"
        "observe X3 = X(u3, r3), Z3 = Z(u3, r3), x3 = x(u3, b3, r3, l3), z3 = z(u3, b3, r3, "
        "l3)\n"
        "observe X4 = X(u4, r4), Z4 = Z(u4, r4), x4 = x(u4, b4, r4, l4), z4 = z(u4, b4, r4, "
        "l4)\n"
        "observe X5 = X(u5, r5), Z5 = Z(u5, r5), x5 = x(u5, b5, r5, l5), z5 = z(u5, b5, r5, "
        "l5)\n"
        "start { u1 = 0; b1 = 2; b2 = 0.5; b3 = -1; b4 = 3; b5 = 0; b1' = 0.5\n",
        start);
    b = motion_text(text, NULL);
    agree(&a, &b, 5, 10, "five disks on a curve");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference), cmocka_unit_test(test_figure),
        cmocka_unit_test(test_plane),     cmocka_unit_test(test_circle),
        cmocka_unit_test(test_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
