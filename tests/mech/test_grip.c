/* Contacts of `lagrange` and `planar` that hold or slide: closed forms, agreement with the
 * ideal constraint and with `rolling` under the same law, several contacts at once, and what
 * is refused. */
#include "support/motion.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

static const double exact = 1e-13; /* rounding errors of some hundred steps */

static void close_to(const char *what, double a, double b)
{
    const double off = fabs(a - b) / fmax(1, fabs(b));
    print_message("%s: %.16g, off by %.1e\n", what, a, off);
    assert_true(off < exact);
}

/* A block is pushed up an incline: it stops at v/(g (sin + mu cos)) and stays if tan(alpha) <
 * static mu, otherwise it comes back with g (sin - mu cos). */
static void block(void **state)
{
    (void)state;
    static const char text[] =
        "param al = 0.4\ncoordinate x in m\nlagrangian x'^2 - 2*9.81*sin(al)*x\n"
        "contact floor { slip x'; normal 2*9.81*cos(al); friction coulomb(0.6, 0.5) }\n"
        "start { x = 0; x' = 3 }\n";
    motion m = motion_text(text, NULL), n = motion_text(text, "al=0.7");
    const double g = 9.81;
    assert_int_equal(motion_to(&m, 2), NS_OK);
    assert_int_equal(motion_to(&n, 2), NS_OK);
    close_to("stops", motion_event(&m, "floor.sticks", 0),
             3 / (g * (sin(0.4) + 0.5 * cos(0.4))));
    close_to("stays at", motion_get(&m, "x"), 4.5 / (g * (sin(0.4) + 0.5 * cos(0.4))));
    assert_true(motion_get(&m, "mode") == 0 && motion_get(&n, "mode") == 1);
    const double end = 3 / (g * (sin(0.7) + 0.5 * cos(0.7)));
    close_to("turns", motion_event(&n, "floor.sticks", 0), end);
    close_to("comes back", motion_get(&n, "x'"), -g * (sin(0.7) - 0.5 * cos(0.7)) * (2 - end));
    assert_true(isnan(motion_event(&n, "floor.slips", 0)));
    assert_true(motion_drift(&m, "balance") < exact && motion_drift(&n, "balance") < exact);
    motion_close(&m);
    motion_close(&n);
}

/* Den Hartog's block on a belt: period 2 + 3 pi/2 (models/stick-slip.mech). */
static void belt(void **state)
{
    (void)state;
    motion m = motion_text("coordinate x in m\nlagrangian 1/2*x'^2 - 1/2*x^2\n"
                           "contact belt { slip x' - 0.5; normal 2; "
                           "friction coulomb(0.5, 0.25) }\nstart { x = 0; x' = 0.5 }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 50), NS_OK);
    for (uint32_t k = 0; k < 7; k++)
        close_to("slips", motion_event(&m, "belt.slips", k), 2 + k * (2 + 1.5 * M_PI));
    motion_close(&m);
}

/* The normal force as a multiplier: a bead on a hoop comes to rest where friction holds it. */
static void bead(void **state)
{
    (void)state;
    motion m = motion_text(
        "param R = 0.5, g = 9.81\ncoordinate x in m, z in m\n"
        "lagrangian (x'^2 + z'^2)/2 - g*z\nconstraint hoop: (x^2 + z^2 - R^2)/(2*R) = 0\n"
        "contact rub { slip (-z*x' + x*z')/R; normal -lambda.hoop; friction coulomb(0.3) }\n"
        "start { x = 0; z = -R; x' = 1.5; z' ~ 0 }\n",
        NULL);
    assert_int_equal(motion_to(&m, 0.05), NS_OK);
    const double c = 0.6, gR = 9.81 * 0.5, p = -2 * gR * (c * 0.3 - 1) / (1 + c * c);
    const double q = -2 * gR * (0.3 + c) / (1 + c * c);
    const double t = atan2(motion_get(&m, "x"), -motion_get(&m, "z"));
    const double v = motion_get(&m, "rub.slip");
    close_to("square", v * v, p * cos(t) + q * sin(t) + (2.25 - p) * exp(-c * t));
    assert_int_equal(motion_to(&m, 3), NS_OK);
    const double rest = atan2(motion_get(&m, "x"), -motion_get(&m, "z"));
    assert_true(motion_get(&m, "mode") == 0 && fabs(tan(rest)) < 0.3);
    close_to("holds", motion_get(&m, "rub.force.ratio"), fabs(tan(rest)));
    assert_true(motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* With friction enough, Chaplygin's sleigh with its constraint. */
static void sleigh(void **state)
{
    (void)state;
    motion a = motion_file("slipping-sleigh", "static=100");
    motion b = motion_text(
        "param m = 2, J = 0.5, a = 0.4\ncoordinate theta in rad, x in m, y in m\n"
        "let centre = [x + a*cos(theta), y + a*sin(theta)]\n"
        "lagrangian m/2*dot(centre', centre') + J/2*theta'^2\n"
        "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
        "start { theta = 0.3; x = 0; y = 0; theta' = 3; x' = -1.5*cos(0.3); y' = "
        "-1.5*sin(0.3) }\n",
        NULL);
    assert_int_equal(motion_to(&a, 2.3), NS_OK);
    assert_int_equal(motion_to(&b, 2.3), NS_OK);
    const double off = motion_difference(&a, &b, "theta, x, y, theta', x', y', lambda.blade");
    print_message("ideal blade: %.1e\n", off);
    assert_true(off < exact);
    motion_close(&a);
    motion_close(&b);
    a = motion_file("slipping-sleigh", NULL);
    assert_int_equal(motion_to(&a, 6), NS_OK);
    assert_true(motion_event(&a, "blade.sticks", 1) > 2 && motion_get(&a, "mode") == 0);
    close_to("needed", motion_get(&a, "blade.force.friction"), motion_get(&a, "needed"));
    assert_true(motion_drift(&a, "balance") < exact);
    motion_close(&a);
}

/* Two contacts.  Locked, it slows down with kinetic mu g. */
static void brake(void **state)
{
    (void)state;
    /* accelerations are constant: steps would grow without an end */
    motion m = motion_begin_until(motion_model_file("braking-wheel", NULL), NULL, 4);
    assert_int_equal(motion_to(&m, 2), NS_OK);
    const double v = motion_get(&m, "x'");
    assert_true(motion_get(&m, "mode") == 1); /* tyre slides, pads stick */
    close_to("slips", motion_event(&m, "tyre.slips", 0), motion_get(&m, "t1"));
    close_to("turns no more", motion_get(&m, "turn'"), 0);
    assert_int_equal(motion_to(&m, 4), NS_OK);
    close_to("stands", motion_event(&m, "tyre.sticks", 0), 2 + v / (0.7 * 9.81));
    close_to("work", motion_get(&m, "work.friction"), -62000);
    assert_true(motion_get(&m, "mode") == 0);
    motion_close(&m);
}

/* Disks in a plane against the same disks in space: an incline, and a valley with slip
 * from both ends.  Upright disks in space are unstable: when it sticks for the second time
 * rounding errors have become a slip across of 2e-10 m/s, which at the 1 m/s^2 of friction
 * makes that time uncertain by 2e-10 s; other values feel the square of it. */
static void disks(void **state)
{
    (void)state;
    motion a = motion_text(
        "ground profile(-tan(0.5)*x) { from -1; to 5; friction coulomb(0.2) }\n"
        "body disk(0.3) { mass 1; inertia 0.09 }\n"
        "start { place = 0; turn = 0; place' = 0; turn' = 0 }\n",
        NULL);
    assert_int_equal(motion_to(&a, 0.7), NS_OK);
    close_to("slip", fabs(motion_get(&a, "slip")), (sin(0.5) - 0.4 * cos(0.5)) * 9.81 * 0.7);
    motion_close(&a);
#define LAW "friction coulomb(0.16, 0.1)"
    a = motion_text("ground profile(0.4*x^2) { from -2; to 2; " LAW " }\n"
                    "body disk(0.2) { mass 1.5; uniform }\n"
                    "start { place = -1; turn = 0; place' = 0; turn' = 0 }\n",
                    NULL);
    motion b = motion_text("ground height(0.4*x^2) { " LAW " }\n"
                           "body disk(0.2) { mass 1.5; inertia diag(0.03, 0.03, 0.03) }\n"
                           "start { contact [-1, 0]; roll 90 deg; omega [0, 0, 0] }\n",
                           NULL);
    assert_int_equal(motion_to(&a, 2.3), NS_OK);
    assert_int_equal(motion_to(&b, 2.3), NS_OK);
    /* In space the disk stands upright and falls sideways with the rate
     * sqrt(m g r/(J + m r^2)): rounding errors become slip across the way with exp(rate t), and
     * the end of slip is late by some of it. */
    const double falls = sqrt(1.5 * 9.81 * 0.2 / (0.03 + 1.5 * 0.04));
    uint32_t k = 0;
    for (; !isnan(motion_event(&b, "sticks", k)) || !isnan(motion_event(&a, "sticks", k)); k++)
        if (k == 0)
            close_to("sticks", motion_event(&a, "sticks", k), motion_event(&b, "sticks", k));
        else
            assert_true(fabs(motion_event(&a, "sticks", k) - motion_event(&b, "sticks", k)) <
                        exact + DBL_EPSILON * exp(falls * motion_event(&a, "sticks", k)));
    assert_true(k >= 2);
    close_to("x", motion_get(&a, "com.x"), motion_get(&b, "com.x"));
    close_to("z", motion_get(&a, "com.z"), motion_get(&b, "com.z"));
    close_to("work", motion_get(&a, "work.friction"), motion_get(&b, "work.friction"));
    assert_true(motion_drift(&a, "balance") < exact);
    motion_close(&a);
    motion_close(&b);
}

static void quad(void **state)
{
    (void)state;
    assert_int_equal(system(NS_PROGRAM
                            " run " NS_MODELS_DIR
                            "/braking-wheel.mech --precision quad --quiet >/dev/null"),
                     0);
}

/* A rod that is pushed ahead of its tip under strong friction (Painleve): no force fits. */
static void paradox(void **state)
{
    (void)state;
    motion m = motion_text(
        "param mu = 1.8, m = 1, l = 1, J = 1/12, g = 9.81\ncoordinate x, y, a\n"
        "lagrangian m/2*(x'^2 + y'^2) + J/2*a'^2 - m*g*y\n"
        "constraint low: (y - l/2*sin(a))' = 0\n"
        "contact tip { slip (x - l/2*cos(a))'; normal lambda.low; friction coulomb(mu) }\n"
        "start { x = 0; a = 1; y = 0.5*sin(1); x' = -3; a' = 0; y' = 0 }\n",
        NULL);
    assert_int_equal(motion_to(&m, 1), NS_STOP_SINGULAR);
    assert_true(motion_event(&m, "jams", 0) == 0);
    motion_close(&m);
}

static void refused(void **state)
{
    (void)state;
#define BOX(contact) "coordinate x in m\nlagrangian x'^2/2\n" contact "\nstart { x' = 1 }\n"
    static const struct {
        const char *text, *words;
    } bad[] = {
        {BOX("contact a { slip x'; normal 1 }"), "a contact needs `slip`"},
        {BOX("contact a { slip x'; normal 1; friction coulomb(-1) }"), "must not be negative"},
        {BOX("contact a { slip x'; normal 1; friction coulomb(0.1, 0.2) }"),
         "not below the kinetic one"},
        {BOX("contact a { slip x'; normal 1; friction viscous(2) }"), "other friction is a"},
        {BOX("contact a { slip x; normal 1; friction coulomb(0.1) }"), "is a velocity"},
        {BOX("mode p, q\ncontact a { slip x'; normal 1; friction coulomb(0.1) }"),
         "modes of their own"},
        {BOX("contact a { slip x'; normal abs(lambda.a); friction coulomb(0.1) }"),
         "not linear"},
        {"ground profile(x^2) { friction viscous(1) }\nbody disk(0.1) { mass 1; uniform }\n"
         "start { place = 0 }\n",
         "other friction is a"},
        {"ground profile(x^2) { friction coulomb(0.2, 0.3) }\n"
         "body disk(0.1) { mass 1; uniform }\nstart { place = 0 }\n",
         "not below the kinetic one"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        motion_refused(bad[i].text, bad[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block),  cmocka_unit_test(belt),    cmocka_unit_test(bead),
        cmocka_unit_test(sleigh), cmocka_unit_test(brake),   cmocka_unit_test(disks),
        cmocka_unit_test(quad),   cmocka_unit_test(paradox), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
