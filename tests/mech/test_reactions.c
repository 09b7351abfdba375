/* Loads and forces that contain reactions: closed forms, agreement of formulations and of a law
 * with the same law as a load, Painleve's paradox, and what is refused. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

#define BALL "body sphere(0.1) { mass 2; uniform }\n"

static const double exact = 1e-13; /* rounding errors of a hundred steps or fewer */

static void close_to(const char *what, double a, double b)
{
    const double off = fabs(a - b) / fmax(1, fabs(b));
    print_message("%s: %.16g, off by %.1e\n", what, a, off);
    assert_true(off < exact);
}

/* f = c N e3:  N = m g/(1 + c).  f = k R on an incline: a = g sin(alpha)/(1 + 2/5 (1 + k)).  As
 * balls and, with another inertia, as bodies. */
static void rolls(void **state)
{
    (void)state;
    static const char *const bodies[2] = {
        BALL, "body sphere(0.1) { mass 2; inertia diag(0.008, 0.008, 0.009) }\n"};
    for (int k = 0; k < 2; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "ground plane\n%sload { force [0, 0, 0.3*force.normal] }\n"
                 "start { omega [1, 2, 3] }\n",
                 bodies[k]);
        motion m = motion_text(text, NULL);
        assert_int_equal(motion_to(&m, 2), NS_OK);
        close_to("normal force", motion_get(&m, "force.normal"), 2 * 9.81 / 1.3);
        motion_close(&m);
        snprintf(text, sizeof text,
                 "ground plane { tilt 0.3 }\n%sload { force 0.3*force }\n"
                 "start { omega [0, 0, 0] }\n",
                 bodies[k]);
        m = motion_text(text, NULL);
        assert_int_equal(motion_to(&m, 1), NS_OK);
        close_to("down the incline", motion_get(&m, "velocity.x"),
                 cos(0.3) * 9.81 * sin(0.3) / (1 + 0.4 * 1.3));
        motion_close(&m);
    }
}

/* Resistance of rolling by the ground's law and by a load. */
static void resistance(void **state)
{
    (void)state;
#define EGG(law, load)                                                                         \
    "ground plane { friction coulomb(0.4, 0.2)" law " }\n"                                     \
    "body ellipsoid(0.03, 0.03, 0.05) { mass 0.1; uniform }\n"                                 \
    "let n = vertical, w = omega - dot(omega, n)*n\n" load                                     \
    "start { tilt 80 deg; omega [1, 2, 30]; com' [0.1, 0] }\n"
    motion a = motion_text(EGG("; resistance.rolling 1 mm", ""), NULL);
    motion b = motion_text(EGG("", "load { torque -0.001*force.normal*w/norm(w) }\n"), NULL);
    assert_int_equal(motion_to(&a, 0.6), NS_OK);
    assert_int_equal(motion_to(&b, 0.6), NS_OK);
    const double off = motion_difference(&a, &b, "quat, omega, com, velocity, force");
    print_message("law and load: %.1e\n", off);
    assert_true(off < 1e-12); /* through the end of slip */
    close_to("sticks", motion_event(&a, "sticks", 0), motion_event(&b, "sticks", 0));
    motion_close(&a);
    motion_close(&b);
}

/* A growing push p t along x and a load c N e3 under Coulomb's friction: N = m g/(1 + c), and
 * T = 2/7 p t ends at the static limit; then m v' = p t - mu N. */
static void slips(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { friction coulomb(0.3, 0.2) }\n" BALL
                           "load { force [4*t, 0, 0.5*force.normal] }\n"
                           "start { omega [0, 0, 0] }\n",
                           NULL);
    const double N = 2 * 9.81 / 1.5, t = 0.3 * N * 7 / (2 * 4.0), v = 5.0 / 7 * 4 * t * t / 4;
    assert_int_equal(motion_to(&m, t + 1), NS_OK);
    close_to("slips", motion_event(&m, "slips", 0), t);
    close_to("normal force", motion_get(&m, "force.normal"), N);
    close_to("velocity", motion_get(&m, "velocity.x"), v + (2 * t + 1) - 0.2 * N / 2);
    assert_true(motion_get(&m, "mode") == 1);
    motion_close(&m);
}

#define HOOP "param m = 0.2, R = 0.5, mu = 0.3, g = 9.81, v0 = 6\n"

/* A bead on a vertical hoop: y = v^2 of the angle obeys
 *     dy/da = -2 mu y - 2 g R (mu cos a + sin a)
 * as long as it is pressed outwards. */
static void bead(void **state)
{
    (void)state;
    motion a = motion_text(
        HOOP "coordinate x in m, z in m\nlagrangian m/2*(x'^2 + z'^2) - m*g*z\n"
             "constraint hoop: (x^2 + z^2 - R^2)/(2*R) = 0\nlet v = sqrt(x'^2 + z'^2)\n"
             "let drag = mu*lambda.hoop\nforce x = drag*x'/v\nforce z = drag*z'/v\n"
             "observe shown = drag\nstart { x = 0; z = -R; x' = v0; z' = 0 }\n",
        NULL);
    motion b = motion_text(
        HOOP "particle P { mass m }\nconstraint hoop: (dot(P, P) - R^2)/(2*R) = 0\n"
             "constraint plane: P.y = 0\nforce P = mu*lambda.hoop*P'/norm(P')\n"
             "start { P = [0, 0, -R]; P' = [v0, 0, 0] }\n",
        NULL);
    const double mu = 0.3, gR = 9.81 * 0.5, c = 2 * mu;
    const double p = -2 * gR * (c * mu - 1) / (1 + c * c), q = -2 * gR * (mu + c) / (1 + c * c);
    for (int k = 1; k <= 5; k++) {
        assert_int_equal(motion_to(&a, 0.04 * k), NS_OK);
        assert_int_equal(motion_to(&b, 0.04 * k), NS_OK);
        const double x = motion_get(&a, "x"), z = motion_get(&a, "z"), t = atan2(x, -z);
        const double v = hypot(motion_get(&a, "x'"), motion_get(&a, "z'"));
        close_to("square", v * v, p * cos(t) + q * sin(t) + (36 - p) * exp(-c * t));
        close_to("force", motion_get(&a, "lambda.hoop"), -0.2 * (v * v / 0.5 + 9.81 * cos(t)));
        close_to("shown", motion_get(&a, "shown"), mu * motion_get(&a, "lambda.hoop"));
        close_to("constrained, x", motion_get(&b, "P.x"), x);
        close_to("constrained, lambda", motion_get(&b, "lambda.hoop"),
                 motion_get(&a, "lambda.hoop"));
    }
    motion_close(&a);
    motion_close(&b);
}

/* A ball in `constrained`, with the force of its contact in a load. */
static void contact(void **state)
{
    (void)state;
    static const char text[] =
        "param k = 0.3, g = 9.81\ngravity [g*sin(0.3), 0, -g*cos(0.3)]\n"
        "body S sphere(0.1) { mass 2; uniform }\nground G plane\nconstraint C: rolling(S, G)\n"
        "%s\nstart { S.position = [0, 0, 0.1] }\n";
    char one[400];
    snprintf(one, sizeof one, text, "force S.com = k*C.force");
    motion m = motion_text(one, NULL);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    close_to("velocity", motion_get(&m, "S.x'"), 9.81 * sin(0.3) / (1 + 0.4 * 1.3));
    motion_close(&m);
    snprintf(one, sizeof one, text, "force S.com = [0, 0, k*C.force.normal]");
    m = motion_text(one, NULL);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    close_to("normal", motion_get(&m, "C.force.normal"), 2 * 9.81 * cos(0.3) / 1.3);
    close_to("velocity", motion_get(&m, "S.x'"), 9.81 * sin(0.3) * 5 / 7);
    motion_close(&m);
}

/* A rod that slides with its end ahead has a normal force N with
 *     N K = g - (l/2) sin a a'^2,    K = 1 + 3 cos a (cos a - mu sin a)
 * none or several where K < 0, which mu > 4/3 makes possible (Genot and Brogliato 1999). */
static void painleve(void **state)
{
    (void)state;
    static const char text[] =
        "param mu = 2, from = 85\ncoordinate x in m, z in m, a in rad\n"
        "lagrangian (x'^2 + z'^2)/2 + a'^2/24 - 9.81*z\nconstraint floor: z - sin(a)/2 = 0\n"
        "force x = mu*lambda.floor\nforce a = mu*lambda.floor*sin(a)/2\n"
        "start { x = 0; a = from*pi/180; z ~ 0.5; x' = -30; a' = -1 }\n";
    motion m = motion_text(text, NULL), n = motion_text(text, "from=70"),
           k = motion_text(text, "mu=1.33");
    assert_int_equal(motion_to(&m, 0.01), NS_OK);
    const double a = motion_get(&m, "a"), K = 1 + 3 * cos(a) * (cos(a) - 2 * sin(a));
    const double w = motion_get(&m, "a'"), N = motion_get(&m, "lambda.floor");
    assert_true(K < 0.9);
    close_to("normal force", N * K, 9.81 - sin(a) / 2 * w * w);
    assert_int_equal(motion_to(&n, 0.05), NS_STOP_SINGULAR);
    assert_true(motion_event(&n, "jams", 0) == 0);
    assert_int_equal(motion_to(&k, 0.05), NS_OK);
    motion_close(&m);
    motion_close(&n);
    motion_close(&k);
}

static void refused(void **state)
{
    (void)state;
#define BEAD(more)                                                                             \
    "coordinate x in m, z in m\nlagrangian (x'^2 + z'^2)/2 - 9.81*z\n"                         \
    "constraint hoop: x^2 + z^2 = 1\n" more "\nstart { x = 0; z = -1; x' = 1 }\n"
    static const struct {
        const char *text, *words;
    } bad[] = {
        {BEAD("force x = abs(lambda.hoop)"), "in `lambda.hoop` this one is not linear"},
        {BEAD("force x = lambda.hoop^2"), "in `lambda.hoop` this one is not linear"},
        {BEAD("force x = lambda.hop"), "undefined name `lambda.hop`"},
        {BEAD("force x = lambda.hoop\nconstraint two: x*lambda.hoop = z"),
         "a constraint cannot contain the reaction `lambda.hoop`"},
        {"ground plane\n" BALL "load { force [0, 0, force.normal^2] }\n",
         "in `force.normal` this one is not linear"},
        {"ground plane\n" BALL "load { force norm(force)*[0, 0, 1] }\n", "not linear"},
        {"ground plane\n" BALL "load { force force.x*force }\n", "not linear"},
        {"particle P { mass 1 }\nconstraint c: P.z = 0\nforce P = lambda.c*[1, 0, 0]\n"
         "solve pinv\n",
         "solved with `saddle` or `augmented`"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        motion_refused(bad[i].text, bad[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolls),   cmocka_unit_test(resistance), cmocka_unit_test(slips),
        cmocka_unit_test(bead),    cmocka_unit_test(contact),    cmocka_unit_test(painleve),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
