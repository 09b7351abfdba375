/* Formulation `planar`: disks on curves, against the thesis's equations (as corrected), closed
 * forms, the same disk in space, and the reference motion of two coupled rollers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ode/run.h"
#include "support/measure.h"
#include "support/motion.h"

/* Largest difference of a value of one motion from that of another at ten times. */
static double apart(motion *a, const char *x, motion *b, const char *y, double until)
{
    double most = 0;
    for (int i = 1; i <= 10; i++) {
        assert_int_equal(motion_to(a, until * i / 10), NS_OK);
        assert_int_equal(motion_to(b, until * i / 10), NS_OK);
        most = fmax(most, fabs(motion_get(a, x) - motion_get(b, y)));
    }
    return most;
}

/* (6.10), written as it is, and the cycloid (6.14). */
static void rocking(void **state)
{
    (void)state;
    motion a = motion_file("rocking-disk", NULL);
    motion b = motion_text(
        "param r = 1, l = 0.4, m = 1, J = m*r^2/2 - m*l^2, g = 9.81\n"
        "state q' = w\n"
        "state w' = -m*l*(g + r*w^2)/(J + m*(r^2 + l^2 - 2*r*l*cos(q)))*sin(q)\n"
        "start { q = 2; w = 0 }\n",
        NULL);
    measure_below(apart(&a, "turn", &b, "q", 10), 1e-12, "turn", "rocking disk");
    const double q = motion_get(&a, "turn");
    measure_below(fabs(motion_get(&a, "com.x") - (q - 0.4 * sin(q))), 1e-14, "com.x",
                  "cycloid");
    measure_below(fabs(motion_get(&a, "com.z") - (1 - 0.4 * cos(q))), 1e-14, "com.z",
                  "cycloid");
    motion_close(&a);
    motion_close(&b);
    /* small oscillations (6.13); the amplitude of 1e-4 changes the period by its square */
    motion m = motion_file("rocking-disk", "start=1e-4");
    motion_to(&m, 10);
    const double period = motion_event(&m, "lowest", 3) - motion_event(&m, "lowest", 1);
    const double w = sqrt(9.81 * 0.4 / (0.5 - 0.16 + 0.36));
    measure_below(fabs(period * w / (2 * M_PI) - 1), 1e-8, "period", "rocking disk");
    motion_close(&m);
}

/* Rests anywhere on the curve of stationarity. */
static void stationary(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        motion push = motion_file("stationary-curve", NULL);
        motion_to(&push, i);
        double *x = push.x;
        for (const char *const *name =
                 (const char *const[]){"place'", "turn'", "x'", "z'", NULL};
             *name; name++)
            x[motion_state(&push, *name)] = 0;
        motion rest = motion_begin(motion_model_file("stationary-curve", NULL), x);
        const double place = x[motion_state(&push, "place")];
        motion_to(&rest, 5);
        /* rounding errors are pushed about by nothing: they may drift with time */
        measure_below(fabs(motion_get(&rest, "place") - place), 1e-13, "place", "at rest");
        motion_close(&rest);
        motion_close(&push);
    }
}

/* The balanced disk in a circle is a pendulum of length (k + 1)(R - r); unbalanced it obeys
 * (6.54) as corrected in docs/theory/planar.md, with theta = turn + slope and theta_0 its value
 * at the lowest point. */
static void in_circle(void **state)
{
    (void)state;
    motion a = motion_file("disk-in-circle", "l=0");
    motion b = motion_text("param L = 1.5*2.5, g = 9.81\ncoordinate q\n"
                           "lagrangian L^2*q'^2/2 + g*L*cos(q)\nstart { q = 40 deg; q' = 0 }\n",
                           NULL);
    measure_below(apart(&a, "place", &b, "q", 10), 1e-12, "angle", "pendulum");
    motion_close(&a);
    motion_close(&b);
    a = motion_file("disk-in-circle", NULL);
    motion_to(&a, 0);
    char text[640];
    /* R place = r (theta - theta_0) */
    snprintf(
        text, sizeof text,
        "param R = 3, r = 0.5, l = 0.2, m = 1, J = 0.125, g = 9.81, q0 = %.17g - R/r*40 deg\n"
        "let k = r/R, s2 = r^2 + l^2 - 2*r*l*cos(q), p = k*(q - q0)\n"
        "state q' = w\n"
        "state w' = (-m*r*l*(1 - k)*w^2*sin(q) - m*g*(r*sin(p) + l*sin(q - p)))/((J + "
        "m*s2)*(1 - k))\n"
        "start { q = %.17g; w = 0 }\n",
        motion_get(&a, "theta"), motion_get(&a, "theta"));
    b = motion_text(text, NULL);
    measure_below(apart(&a, "theta", &b, "q", 10), 1e-12, "theta", "(6.54) corrected");
    motion_close(&a);
    motion_close(&b);
}

/* The same disk in space, its edge on the extruded curve: until the unstable upright position
 * gives way to rounding errors, which grow by e in 0.2 s or so. */
static void in_space(void **state)
{
    (void)state;
    motion a = motion_text("param r = 0.3, l = 0.1, m = 1\nground profile(0.2*x^2 + 0.05*x^3)\n"
                           "body disk(r) { mass m; com l; inertia m*r^2/2 }\n"
                           "start { place = 1; turn = 0.5; place' = 0 }\n",
                           NULL);
    motion b = motion_text(
        "param r = 0.3, l = 0.1, m = 1, a = 0.5\nground extruded(u, 0.2*u^2 + 0.05*u^3)\n"
        "body disk(r) { mass m; com [0, l, 0]; inertia diag(m*r^2/4, m*r^2/4, m*r^2/2) }\n"
        "start { ground.u = 1; ground.v = 0; omega [0, 0, 0]\n"
        "quat sqrt(2)/2*[cos(a/2), -cos(a/2), sin(a/2), sin(a/2)] }\n",
        NULL);
    static const char *const names[] = {"com.x", "com.z", "force.normal", "force.friction"};
    for (int i = 1; i <= 10; i++) {
        motion_to(&a, 0.2 * i);
        motion_to(&b, 0.2 * i);
        for (int k = 0; k < 4; k++)
            measure_below(fabs(motion_get(&a, names[k]) - motion_get(&b, names[k])),
                          k < 2 ? 1e-11 : 1e-10, names[k], "extruded");
    }
    motion_close(&a);
    motion_close(&b);
}

/* Under a hoop: the other side of a curve is the mirror image. */
static void other_side(void **state)
{
    (void)state;
    motion a = motion_text(
        "ground curve([u, 0.1*u^2])\nbody disk(0.3) { mass 1; com 0.1; inertia "
        "0.04 }\nstart { place = 1; turn = 0.5; place' = 0 }\n",
        NULL);
    motion b = motion_text(
        "ground curve([-u, 0.1*u^2]) { side right }\nbody disk(0.3) { mass 1; com "
        "0.1; inertia 0.04 }\nstart { place = -1; turn = 0.5; place' = 0 }\n",
        NULL);
    measure_below(apart(&a, "com.x", &b, "com.x", 5), 1e-12, "com.x", "side right");
    motion_close(&a);
    motion_close(&b);
}

/* Two disks on a rod: the one angle's Lagrangian (6.65), and five of them on a curve keep
 * energy and rods. */
static void rods(void **state)
{
    (void)state;
    motion a = motion_text(
        "param m1 = 3, m2 = 1, r = 1, l = 0.4, a1 = 2, L = 3\nground profile(0*x)\n"
        "body A disk(r) { mass m1; com l; inertia m1*r^2/2 }\n"
        "body B disk(r) { mass m2; com l; inertia m2*r^2/2 }\n"
        "constraint bar: rod(A, B, L)\n"
        "start { A.place = 0; A.turn = a1; A.place' = 0; B.place = L; B.turn = a1 + pi; "
        "B.place' = 0 "
        "}\n",
        NULL);
    motion b = motion_file("two-rollers-reduced", NULL);
    measure_below(apart(&a, "A.turn", &b, "theta1", 10), 1e-10, "angle", "two rollers");
    motion_close(&a);
    motion_close(&b);
    char text[1024] = "ground profile(0.1*x^2 + 0.05*cos(2*x))\n";
    for (int i = 0; i < 5; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "body D%d disk(0.2) { mass 1; com 0.05; inertia 0.02 }\n", i);
    for (int i = 0; i < 4; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "constraint rod%d: rod(D%d, D%d, 0.6)\n", i, i, i + 1);
    strncat(text,
            "start { D0.place = -2; D1.place ~ -1.5; D2.place ~ -1; D3.place ~ -0.5; D4.place "
            "~ 0 }\nrun { until 5 }\n",
            sizeof text - strlen(text) - 1);
    motion m = motion_text(text, NULL);
    assert_int_equal(motion_to(&m, 5), NS_OK);
    measure_below(motion_residual(&m), 1e-13, "residual", "five rollers");
    measure_below(ns_run_outcome(m.run)->energy_drift, 1e-13, "energy", "five rollers");
    motion_close(&m);
}

/* (6.23): a valley that bends more than the disk ends the run, with the reason. */
static void curvature(void **state)
{
    (void)state;
    motion m = motion_text("ground profile(2*x^2)\nbody disk(0.3) { mass 1; uniform }\n"
                           "start { place = 0.8; turn = 0; place' = 0 }\nrun { until 5 }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 5), NS_STOP_SINGULAR);
    /* 4 r = (1 + 16 x^2)^(3/2) */
    const double x = sqrt((pow(1.2, 2.0 / 3) - 1) / 16);
    measure_below(fabs(motion_get(&m, "place") - x), 1e-5, "place", "curvature");
    motion_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rocking),   cmocka_unit_test(stationary), cmocka_unit_test(in_circle),
        cmocka_unit_test(in_space),  cmocka_unit_test(other_side), cmocka_unit_test(rods),
        cmocka_unit_test(curvature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
