/* Contacts of `constrained` under laws of friction: the same motion as `rolling` under the same
 * law, closed forms, two contacts against `lagrange`, and what is refused. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

static const double exact = 1e-13; /* rounding errors of some hundred steps */

static void close_to(const char *what, double a, double b)
{
    const double off = fabs(a - b) / fmax(1, fabs(b));
    print_message("%s: %.16g, off by %.1e\n", what, a, off);
    assert_true(off < exact);
}

/* A uniform ball with any spin: slip u0 keeps its direction, rolling begins after
 * 2 |u0|/(7 mu g) with v0 - 2/7 u0. */
static void ball(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { friction coulomb(0.2) }\n"
                           "body B sphere(0.11) { mass 7; uniform }\n"
                           "constraint c: rolling(B)\n"
                           "start { B.position = [0, 0, 0.11]; B' = [8, 1, 0];\n"
                           "        B.omega = [3, -20, 5] }\n",
                           NULL);
    const double u[2] = {8 + 20 * 0.11, 1 + 3 * 0.11};
    assert_int_equal(motion_to(&m, 3), NS_OK);
    close_to("rolls after", motion_event(&m, "c.sticks", 0),
             2 * hypot(u[0], u[1]) / (7 * 0.2 * 9.81));
    close_to("x'", motion_get(&m, "B.x'"), 8 - 2 * u[0] / 7);
    close_to("y'", motion_get(&m, "B.y'"), 1 - 2 * u[1] / 7);
    assert_true(motion_get(&m, "mode") == 0);
    assert_true(motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* Coins and eggs that slip and stick many times: body with an edge, and one without. */
static void same_as_rolling(const char *shape, const char *law, const char *quat,
                            const char *omega, bool pushed, double until, uint32_t least)
{
    char one[512], two[512];
    (void)snprintf(one, sizeof one,
                   "ground plane { friction %s }\nbody %s\n"
                   "start { quat [%s]; omega.space [%s]; %s }\n",
                   law, shape, quat, omega, pushed ? "com' [0.1, 0.05]" : "");
    (void)snprintf(two, sizeof two,
                   "ground plane { friction %s }\nbody B %s\nconstraint c: rolling(B)\n"
                   "start { B.quat = [%s]; c.contact = [0, 0, 0]; B.omega.space = [%s]; %s }\n",
                   law, shape, quat, omega, pushed ? "B.x' = 0.1; B.y' = 0.05" : "");
    motion a = motion_text(one, NULL), b = motion_text(two, NULL);
    assert_int_equal(motion_to(&a, until), NS_OK);
    assert_int_equal(motion_to(&b, until), NS_OK);
    static const char *const pairs[][2] = {{"com.x", "B.com.x"},
                                           {"com.y", "B.com.y"},
                                           {"com.z", "B.com.z"},
                                           {"omega.x", "B.omega.x"},
                                           {"omega.y", "B.omega.y"},
                                           {"omega.z", "B.omega.z"},
                                           {"slip", "c.slip"},
                                           {"force.normal", "c.force.normal"},
                                           {"work.friction", "work.friction"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const double x = motion_get(&a, pairs[i][0]), y = motion_get(&b, pairs[i][1]);
        print_message("%s: %.16g, off by %.1e\n", pairs[i][0], x, fabs(x - y));
        assert_true(fabs(x - y) < 1e-11 * fmax(1, fabs(x)));
    }
    uint32_t k = 0;
    for (; !isnan(motion_event(&a, "slips", k)); k++)
        assert_true(fabs(motion_event(&a, "slips", k) - motion_event(&b, "c.slips", k)) <
                    1e-12);
    assert_true(k >= least && isnan(motion_event(&b, "c.slips", k)));
    assert_true(motion_drift(&b, "balance") < 1e-12);
    motion_close(&a);
    motion_close(&b);
}

static void disk(void **state)
{
    (void)state;
    same_as_rolling("cylinder(0.0376, 0.0128) { mass 0.4387; uniform }", "coulomb(0.5, 0.3)",
                    "cos(0.5), sin(0.5), 0, 0", "0, 0, -14.4569", false, 1, 6);
}

static void egg(void **state)
{
    (void)state;
    same_as_rolling("ellipsoid(0.03, 0.02, 0.025) { mass 0.1; uniform }", "coulomb(0.15, 0.1)",
                    "cos(0.3), sin(0.3), 0, 0", "1, 12, 8", false, 1, 1);
    same_as_rolling("ellipsoid(0.03, 0.02, 0.025) { mass 0.1; uniform }", "viscous(0.05)",
                    "cos(0.3), sin(0.3), 0, 0", "1, 12, 8", true, 0.5, 0);
    same_as_rolling("ellipsoid(0.03, 0.02, 0.025) { mass 0.1; uniform }", "none",
                    "cos(0.3), sin(0.3), 0, 0", "1, 3, 8", true, 0.5, 0);
}

/* A wheel m spins with w below a cart M: u' = mu g (1 + (m + M) r^2/I), I = 2/5 m r^2. */
static void cart(void **state)
{
    (void)state;
    motion m = motion_text(
        "ground plane { friction coulomb(0.8, 0.6) }\n"
        "body cart { mass 20; inertia diag(1, 2, 2) }\nbody W sphere(0.3) { mass 4; uniform }\n"
        "constraint axle: revolute(cart.position, W.position, cart.e2, W.e2)\n"
        "constraint upright: parallel(cart.e3, [0, 0, 1])\nconstraint c: rolling(W)\n"
        "start { W.position = [0, 0, 0.3]; cart.position = [0, 0, 0.3];\n"
        "        cart.position' = [0, 0, 0]; cart.omega = [0, 0, 0]; W.omega = [0, 40, 0] }\n",
        NULL);
    const double end = 12 / (0.6 * 9.81 * (1 + 24 / 1.6));
    assert_int_equal(motion_to(&m, 1), NS_OK);
    close_to("grips after", motion_event(&m, "c.sticks", 0), end);
    close_to("with", motion_get(&m, "cart.x'"), 0.6 * 9.81 * end);
    close_to("and spin", motion_get(&m, "W.omega.y"), 0.6 * 9.81 * end / 0.3);
    assert_true(motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* Both wheels of a cart are braked, skid and grip again; `lagrange` with pitch, height and
 * normal forces as multipliers. */
static void brakes(void **state)
{
    (void)state;
    static const char numbers[] =
        "param r = 0.3, l = 0.8, h = 0.25, m = 4, M = 20, g = 9.81, v = 10\n"
        "let one_ = -45*4*t*exp(1 - 4*t), two_ = -38*4*t*exp(1 - 4*t)\n";
    char a_text[2048], b_text[2048];
    (void)snprintf(
        a_text, sizeof a_text,
        "%sground plane { friction coulomb(0.8, 0.6) }\n"
        "body cart { mass M; inertia diag(1, 2, 2); f = [l, 0, -h]; b = [-l, 0, -h] }\n"
        "body F sphere(r) { mass m; uniform }\nbody B sphere(r) { mass m; uniform }\n"
        "constraint axle1: revolute(cart.f, F.position, cart.e2, F.e2)\n"
        "constraint axle2: revolute(cart.b, B.position, cart.e2, B.e2)\n"
        "constraint upright: cart.e2[3] = 0\n"
        "constraint one: rolling(F)\nconstraint two: rolling(B)\n"
        "force F.torque = [0, one_, 0]\nforce B.torque = [0, two_, 0]\n"
        "start { cart.position = [0, 0, r + h]; F.position = [l, 0, r];\n"
        "        B.position = [-l, 0, r]; cart.position' = [v, 0, 0];\n"
        "        cart.omega = [0, 0, 0] }\n",
        numbers);
    (void)snprintf(
        b_text, sizeof b_text,
        "%scoordinate x, z, a, p, q\n"
        "let f = [x + l*cos(a) + h*sin(a), z + l*sin(a) - h*cos(a)]\n"
        "let b = [x - l*cos(a) + h*sin(a), z - l*sin(a) - h*cos(a)]\n"
        "lagrangian M/2*(x'^2 + z'^2) + a'^2 + m/2*(dot(f', f') + dot(b', b')) +\n"
        "           0.2*m*r^2*(p'^2 + q'^2) - M*g*z - m*g*(f[2] + b[2])\n"
        "force p = one_, q = two_\nconstraint up: f[2] = r\nconstraint low: b[2] = r\n"
        "contact one { slip (x + l*cos(a) + h*sin(a))' - r*p'; normal lambda.up;\n"
        "              friction coulomb(0.8, 0.6) }\n"
        "contact two { slip (x - l*cos(a) + h*sin(a))' - r*q'; normal (lambda.low);\n"
        "              friction coulomb(0.8, 0.6) }\n"
        "start { x = 0; z = r + h; a = 0; x' = v; p' = v/r; q' = v/r }\n",
        numbers);
    motion a = motion_text(a_text, NULL), b = motion_text(b_text, NULL);
    assert_int_equal(motion_to(&a, 1.2), NS_OK);
    assert_int_equal(motion_to(&b, 1.2), NS_OK);
    static const char *const events[] = {"two.slips", "one.slips", "one.sticks", "two.sticks"};
    for (int i = 0; i < 4; i++)
        close_to(events[i], motion_event(&a, events[i], 0), motion_event(&b, events[i], 0));
    close_to("x", motion_get(&a, "cart.x"), motion_get(&b, "x"));
    close_to("x'", motion_get(&a, "cart.x'"), motion_get(&b, "x'"));
    close_to("front", motion_get(&a, "F.omega.y"), motion_get(&b, "p'"));
    close_to("normal force", motion_get(&a, "one.force.normal"),
             motion_get(&b, "one.force.normal"));
    close_to("work", motion_get(&a, "work.friction"), motion_get(&b, "work.friction"));
    motion_close(&a);
    motion_close(&b);
}

/* One motion in three formulations: a ball whose centre of mass lies off its centre slides,
 * rocks and grips. */
static void three_ways(void **state)
{
    (void)state;
    static const char numbers[] =
        "param mu = 0.15, g = 9.81, r = 0.1, c = 0.03, m = 1, J = 0.004\n";
    static const char ball[] = " sphere(r) { mass m; com [c, 0, 0]; inertia diag(J, J, J) }\n";
    static const char ground[] = "ground plane { friction coulomb(0.25, mu) }\n";
    char text[3][600];
    (void)snprintf(text[0], sizeof text[0],
                   "%s%sbody%sstart { com [0, 0, r]; omega [0, 2, 0]; com' [1.5, 0, -2*c] }\n",
                   numbers, ground, ball);
    (void)snprintf(text[1], sizeof text[1],
                   "%s%sbody A%sconstraint tyre: rolling(A)\n"
                   "start { A.position = [0, 0, r]; A.position' = [1.5, 0, 0]; "
                   "A.omega = [0, 2, 0] }\n",
                   numbers, ground, ball);
    (void)snprintf(text[2], sizeof text[2],
                   "%scoordinate x, z, a\n"
                   "lagrangian m/2*(x'^2 + z'^2) + J/2*a'^2 - m*g*z\n"
                   "constraint low: z' = -c*cos(a)*a'\n"
                   "contact tyre { slip x' + c*sin(a)*a' - r*a'; normal lambda.low;\n"
                   "            friction coulomb(0.25, mu) }\n"
                   "start { x = 0; z = r; a = 0; x' = 1.5; a' = 2 }\n",
                   numbers);
    motion m[3];
    for (int i = 0; i < 3; i++) {
        m[i] = motion_text(text[i], NULL);
        assert_int_equal(motion_to(&m[i], 1.2), NS_OK);
        assert_true(motion_drift(&m[i], "balance") < 1e-12);
    }
    const double t = motion_event(&m[2], "tyre.sticks", 0);
    close_to("rolling sticks", motion_event(&m[0], "sticks", 0), t);
    close_to("constrained sticks", motion_event(&m[1], "tyre.sticks", 0), t);
    close_to("rolling, x", motion_get(&m[0], "com.x"), motion_get(&m[2], "x"));
    close_to("rolling, turn", motion_get(&m[0], "omega.y"), motion_get(&m[2], "a'"));
    close_to("constrained, turn", motion_get(&m[1], "A.omega.y"), motion_get(&m[2], "a'"));
    for (int i = 0; i < 2; i++)
        close_to("work", motion_get(&m[i], "work.friction"),
                 motion_get(&m[2], "work.friction"));
    close_to("force", motion_get(&m[0], "force.normal"), motion_get(&m[2], "lambda.low"));
    for (int i = 0; i < 3; i++)
        motion_close(&m[i]);
}

static void refused(void **state)
{
    (void)state;
#define ON(ground, contact)                                                                    \
    ground "\nbody B sphere(1) { mass 1; uniform }\nconstraint c: " contact                    \
           "\nstart { B.position = [0, 0, 1] }\n"
    static const struct {
        const char *text, *words;
    } bad[] = {
        {ON("ground plane { friction coulomb(-1) }", "rolling(B)"), "must not be negative"},
        {ON("ground plane { friction coulomb(0.1, 0.2) }", "rolling(B)"),
         "not below the kinetic one"},
        {ON("ground plane { friction contensou(0.1, 0.2) }", "rolling(B)"), "several bodies"},
        {ON("ground plane { friction coulomb(0.1); restitution 0.5 }", "rolling(B)"),
         "take `friction` only"},
        {ON("ground plane { friction coulomb(0.1) }", "sliding(B)"), "without friction"},
        {ON("mode p, q\nground plane { friction coulomb(0.1) }", "rolling(B)"),
         "modes of their own"},
        {ON("solve pinv\nground plane { friction coulomb(0.1) }", "rolling(B)"), "solved with"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        motion_refused(bad[i].text, bad[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball),    cmocka_unit_test(disk),   cmocka_unit_test(egg),
        cmocka_unit_test(cart),    cmocka_unit_test(brakes), cmocka_unit_test(three_ways),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
