/* Bodies under a contact law: closed forms, balance of energy, agreement with the ideal contact
 * and with sliding written by hand, and what is refused. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BALL "body sphere(0.1) { mass 2; uniform }\n"

/* Far below what the mathematics allows to be wrong; rounding errors of some hundred steps. */
static const double exact = 1e-12;

static void close_to(const char *what, double a, double b)
{
    const double off = fabs(a - b) / fmax(1, fabs(b));
    print_message("%s: %.16g, off by %.1e\n", what, a, off);
    assert_true(off < exact);
}

/* Slip u0 keeps its direction; rolling begins at 2 |u0|/(7 mu g) with v0 - 2/7 u0 (Coriolis).
 * */
static void ball_slides(void **state)
{
    (void)state;
    static const char text[] = "param vx = 3, vy = -1\n"
                               "ground plane { friction coulomb(0.4, 0.25) }\n" BALL
                               "start { com' [vx, vy]; omega.space [7, -12, 5] }\n";
    motion m = motion_text(text, NULL);
    /* u = v + omega x (-r e3) */
    const double u[2] = {3 - 0.1 * -12, -1 + 0.1 * 7}, size = hypot(u[0], u[1]), mu = 0.25;
    const double g = 9.81, end = 2 * size / (7 * mu * g), t = 0.6 * end;
    assert_int_equal(motion_to(&m, t), NS_OK);
    close_to("x of the parabola", motion_get(&m, "com.x"),
             3 * t - mu * g * u[0] / size * t * t / 2);
    close_to("y of the parabola", motion_get(&m, "com.y"),
             -t - mu * g * u[1] / size * t * t / 2);
    close_to("slip", motion_get(&m, "slip"), size - 3.5 * mu * g * t);
    close_to("ratio", motion_get(&m, "force.ratio"), mu);
    assert_int_equal(motion_to(&m, end + 1), NS_OK);
    close_to("rolls from", motion_event(&m, "sticks", 0), end);
    close_to("with", motion_get(&m, "velocity.x"), 3 - 2 * u[0] / 7);
    close_to("and", motion_get(&m, "velocity.y"), -1 - 2 * u[1] / 7);
    assert_true(motion_get(&m, "mode") == 0);
    assert_true(motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* A hoop rolls on an incline if mu >= tan(alpha)/2. */
static void hoop(void **state)
{
    (void)state;
    static const char text[] =
        "param mu = 0.2\nground plane { tilt 0.5; friction coulomb(mu) }\n"
        "body hoop(0.3) { mass 1; uniform }\nstart { tilt 90 deg }\n";
    const double g = 9.81, t = 0.7;
    motion m = motion_text(text, NULL), n = motion_text(text, "mu=0.28");
    assert_int_equal(motion_to(&m, t), NS_OK);
    assert_int_equal(motion_to(&n, t), NS_OK);
    close_to("slips", motion_get(&m, "slip"), (sin(0.5) - 0.4 * cos(0.5)) * g * t);
    close_to("travels", motion_get(&m, "velocity.x") / cos(0.5),
             (sin(0.5) - 0.2 * cos(0.5)) * g * t);
    assert_true(motion_get(&m, "mode") == 1 && motion_get(&n, "mode") == 0);
    close_to("rolls", motion_get(&n, "velocity.x") / cos(0.5), sin(0.5) * g * t / 2);
    motion_close(&m);
    motion_close(&n);
}

/* Bounces accumulate at sqrt(2 h/g) (1 + e)/(1 - e); then it lies, or rolls. */
static void bounces(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { restitution 0.6; friction coulomb(0.2) }\n" BALL
                           "start { com [0, 0, 0.8]; omega [5, 30, 2] }\n",
                           NULL);
    const double end = sqrt(2 * 0.7 / 9.81) * 1.6 / 0.4;
    assert_int_equal(motion_to(&m, end - 1e-3), NS_OK);
    assert_true(motion_get(&m, "mode") == 2);
    assert_int_equal(motion_to(&m, end + 0.5), NS_OK);
    uint32_t n = 0;
    while (!isnan(motion_event(&m, "lands", n)))
        n++;
    assert_true(n > 8 && n < 80);
    close_to("bounces end", motion_event(&m, "lands", n - 1), end);
    assert_true(motion_get(&m, "mode") == 0);
    /* friction at impacts keeps the angular momentum about the contact point */
    close_to("rolls with", motion_get(&m, "velocity.x"), 2.0 / 7 * 0.1 * 30);
    close_to("and with", motion_get(&m, "velocity.y"), -2.0 / 7 * 0.1 * 5);
    assert_true(motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* Garwin 1969: velocities of the centre and of the rim, before and after. */
static void superball(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { restitution 1; restitution.tangential 1 }\n" BALL
                           "start { com [0, 0, 1.1]; com' [1, 0, 0]; omega [0, -4, 0] }\n",
                           NULL);
    const double fall = sqrt(2 / 9.81);
    double v = 1, w = 0.4; /* r omega, against the travel */
    for (int k = 0; k < 3; k++) {
        assert_int_equal(motion_to(&m, (2 * k + 2) * fall), NS_OK);
        const double v1 = (3 * v - 4 * w) / 7, w1 = -(10 * v + 3 * w) / 7;
        v = v1;
        w = w1;
        close_to("velocity", motion_get(&m, "velocity.x"), v);
        close_to("spin", motion_get(&m, "omega.y"), -10 * w);
    }
    close_to("no work", motion_get(&m, "work.impact"), 0);
    motion_close(&m);
}

/* Poisson's restitution.  A ball whose centre of mass is 3 cm off falls without turning and
 * hits with the velocity (u, -v).  With G of the contact point, r = (-0.03, -0.1) its arm:
 *     G_tt = 1/m + r_z^2/I,  G_tn = -r_x r_z/I,  G_nn = 1/m + r_x^2/I
 * Compression sticks with the normal impulse N = (G_tt v + G_tn u)/det.  Restitution L = e N
 * sticks: n.V = e (v + G_tn u/G_tt); or, beyond the cone, slips: T = -mu L sign(G_tn). */
static void poisson(void **state)
{
    (void)state;
    static const char text[] =
        "param u = 0.5, e = 0.6, mu = 5\n"
        "ground plane { friction coulomb(mu); restitution.poisson e }\n"
        "body sphere(0.1) { mass 1; com [0.03, 0, 0]; inertia diag(1e-3, 1e-3, 1e-3) }\n"
        "start { com [0, 0, 0.3]; com' [u, 0, 0] }\n";
    const double m = 1, I = 1e-3, rx = -0.03, rz = -0.1, e = 0.6;
    const double tt = 1 / m + rz * rz / I, tn = -rx * rz / I, nn = 1 / m + rx * rx / I;
    const double det = tt * nn - tn * tn, t = sqrt(0.4 / 9.81), v = 9.81 * t, later = 0.01;
    for (int slips = 0; slips < 2; slips++) {
        char set[80];
        /* without friction in compression, where restitution is to slip */
        const double u = slips ? -tn * v / nn : 0.5, mu = slips ? 0.1 : 5;
        snprintf(set, sizeof set, "u=%.17g; mu=%g", u, mu);
        motion b = motion_text(text, set);
        assert_int_equal(motion_to(&b, t + later), NS_OK);
        close_to("lands", motion_event(&b, "lands", 0), t);
        const double N = (tt * v + tn * u) / det, T = (-nn * u - tn * v) / det, L = e * N;
        assert_true(fabs(T) <= mu * N && (fabs(tn / tt) > mu) == (slips == 1));
        const double after = slips ? mu * L : -tn * L / tt; /* sign(G_tn) = -1 */
        close_to("along", motion_get(&b, "velocity.x"), u + (T + after) / m);
        close_to("up", motion_get(&b, "velocity.z"), -v + (N + L) / m - 9.81 * later);
        close_to("turns", motion_get(&b, "omega.y"), (rz * (T + after) - rx * (N + L)) / I);
        assert_true(motion_get(&b, "work.impact") < 0);
        assert_true(motion_drift(&b, "balance") < exact);
        motion_close(&b);
    }
    /* centred, it is Newton's law */
    motion a = motion_text(
        "ground plane { friction coulomb(0.2); restitution.poisson 0.6 }\n" BALL
        "start { com [0, 0, 0.3]; com' [2, 1, 0] }\n",
        NULL);
    motion b = motion_text("ground plane { friction coulomb(0.2); restitution 0.6 }\n" BALL
                           "start { com [0, 0, 0.3]; com' [2, 1, 0] }\n",
                           NULL);
    assert_int_equal(motion_to(&a, 0.5), NS_OK);
    assert_int_equal(motion_to(&b, 0.5), NS_OK);
    assert_true(motion_difference(&a, &b, "com, velocity, omega, work.impact") < exact);
    motion_close(&a);
    motion_close(&b);
}

/* A top that spins fast and slides under weak friction: the direction of its slip turns with
 * the precession, and costs no steps of its own. */
static void sliding_is_cheap(void **state)
{
    (void)state;
    static const char body[] = "body sphere(0.015) { mass 0.006; com [0, 0, -0.003]; inertia "
                               "diag(8e-7, 8e-7, 7e-7) }\n";
    static const char *const grounds[] = {"ground plane\n",
                                          "ground plane { friction coulomb(0.02) }\n",
                                          "ground plane { friction viscous(0.02) }\n"};
    double work[3] = {0};
    for (int i = 0; i < 3; i++) {
        char text[500];
        snprintf(text, sizeof text, "%s%sstart { tilt 0.5; omega [0, 0, 180]%s }\n", grounds[i],
                 body, i ? "; com' [0, 0]" : "");
        motion m = motion_text(text, NULL);
        assert_int_equal(motion_to(&m, 2), NS_OK);
        work[i] = (double)ns_run_outcome(m.run)->evaluations;
        print_message("%s: %g evaluations\n", grounds[i], work[i]);
        if (i)
            assert_true(motion_get(&m, "mode") == (i == 1));
        motion_close(&m);
    }
    assert_true(work[1] < 1.5 * work[0] && work[2] < 1.5 * work[0]);
}

/* Enough friction: the motion of the ideal contact. */
static void as_ideal(void **state)
{
    (void)state;
    static const char *const grounds[] = {
        "plane", "height(0.1*cos(2*x)*cos(3*y))",
        "plane { origin [0.01*sin(3*t), 0, 0.005*sin(5*t)]; turn [0, 0, 1], 2*t }"};
    static const char *const bodies[] = {
        "body ellipsoid(0.11, 0.1, 0.08) { mass 1; uniform }\n",
        "body egg(0.1, 0.07, 0.2) { mass 1; inertia diag(3e-3, 4e-3, 3.5e-3) }\n",
        "body disk(0.1) { mass 1; uniform }\n"};
    for (int i = 0; i < 9; i++) {
        char ideal[400], real[400], ground[200];
        snprintf(ground, sizeof ground, "%s", grounds[i / 3]);
        char *brace = strchr(ground, '}');
        if (brace)
            *brace = 0;
        const char *start = "start { contact [0.1, 0.2]; tilt 50 deg; omega [1, 2, 1] }\n";
        snprintf(ideal, sizeof ideal, "ground %s\n%s%s", grounds[i / 3], bodies[i % 3], start);
        snprintf(real, sizeof real, "ground %s %s friction coulomb(50) }\n%s%s", ground,
                 brace ? ";" : "{", bodies[i % 3], start);
        motion a = motion_text(ideal, NULL), b = motion_text(real, NULL);
        assert_int_equal(motion_to(&a, 0.5), NS_OK);
        assert_int_equal(motion_to(&b, 0.5), NS_OK);
        const double off = motion_difference(
            &b, &a, "quat, omega, com, contact, force.normal, force.friction");
        print_message("%s, %.12s...: %.1e\n", grounds[i / 3], bodies[i % 3] + 5, off);
        assert_true(off < 1e-11);
        assert_true(motion_get(&b, "mode") == 0);
        motion_close(&a);
        motion_close(&b);
    }
}

/* A sliding spheroid against its equations written by hand: Euler's and Newton's, with the
 * contact below, N from the height of the centre of mass, which is a function of the axis'
 * inclination.  u is viscous here: force -c u. */
static void by_hand(void **state)
{
    (void)state;
    /* coordinates x, y, euler angles z-x-z; contact: support of the spheroid along -e3 */
    static const char hand[] =
        "param a = 0.06, b = 0.1, m = 1, c = 3, g = 9.81\n"
        "param A = m/5*(a^2 + b^2), C = 2/5*m*a^2\n"
        "coordinate x, y, phi, theta, psi\n"
        "let h = sqrt(a^2*sin(theta)^2 + b^2*cos(theta)^2)\n"
        "let hd = (a^2 - b^2)*sin(theta)*cos(theta)/h\n"
        "let vz = hd*theta'\n"
        "lagrangian m/2*(x'^2 + y'^2 + vz^2) + A/2*(theta'^2 + phi'^2*sin(theta)^2)"
        " + C/2*(psi' + phi'*cos(theta))^2 - m*g*h\n"
        /* omega in space; contact from the centre: -h e3 + across the line of nodes */
        "let wx = theta'*cos(phi) + psi'*sin(theta)*sin(phi)\n"
        "let wy = theta'*sin(phi) - psi'*sin(theta)*cos(phi)\n"
        "let wz = phi' + psi'*cos(theta)\n"
        "let q = hd\n" /* along (sin(phi), -cos(phi)): horizontal part of the contact */
        "let rx = q*sin(phi), ry = -q*cos(phi), rz = -h\n"
        "let ux = x' + wy*rz - wz*ry, uy = y' + wz*rx - wx*rz\n"
        "force x = -c*ux\nforce y = -c*uy\n"
        "force phi = -c*(-ux*ry + uy*rx)\n"
        "force theta = -c*(ux*rz*sin(phi) - uy*rz*cos(phi))\n"
        "force psi = -c*(ux*(-sin(theta)*cos(phi)*rz - cos(theta)*ry)"
        " + uy*(cos(theta)*rx - sin(theta)*sin(phi)*rz))\n"
        "observe slip = sqrt(ux^2 + uy^2)\n"
        "start { x = 0; y = 0; phi = 0.3; theta = 1; psi = 0.2;"
        " x' = 0.5; y' = -0.2; phi' = 9; theta' = 0.4; psi' = -3 }\n";
    motion m = motion_text(hand, NULL);
    char text[600];
    const double s = sin(1.0), k = cos(1.0);
    snprintf(text, sizeof text,
             "param a = 0.06, b = 0.1\nground plane { friction viscous(3) }\n"
             "body ellipsoid(a, a, b) { mass 1; uniform }\n"
             "start { euler 0.3, 1, 0.2; com' [0.5, -0.2]; omega [%.17g, %.17g, %.17g] }\n",
             9 * s * sin(0.2) + 0.4 * cos(0.2), 9 * s * cos(0.2) - 0.4 * sin(0.2), 9 * k - 3);
    motion n = motion_text(text, NULL);
    close_to("slip at the start", motion_get(&n, "slip"), motion_get(&m, "slip"));
    const double t = 0.4;
    assert_int_equal(motion_to(&m, t), NS_OK);
    assert_int_equal(motion_to(&n, t), NS_OK);
    assert_true(motion_get(&n, "mode") == 0); /* slide: there is no roll */
    close_to("slip", motion_get(&n, "slip"), motion_get(&m, "slip"));
    close_to("velocity.x", motion_get(&n, "velocity.x"), motion_get(&m, "x'"));
    close_to("velocity.y", motion_get(&n, "velocity.y"), motion_get(&m, "y'"));
    close_to("vertical.z", motion_get(&n, "vertical.z"), cos(motion_get(&m, "theta")));
    assert_true(motion_drift(&n, "balance") < exact);
    motion_close(&m);
    motion_close(&n);
}

/* Friction at one point of a sphere with an axis keeps Jellett's integral, whatever happens. */
static void jellett(void **state)
{
    (void)state;
    motion m = motion_text(
        "param a = 0.003\nground plane { friction coulomb(0.3, 0.2); restitution 0.5 }\n"
        "body sphere(0.015) { mass 0.006; com [0, 0, -a]; inertia diag(8e-7, 8e-7, 7e-7) }\n"
        "start { tilt 0.4; omega [3, 2, 180]; com [0, 0, 0.02]; com' [0.3, 0, 0] }\n"
        "invariant jellett = 8e-7*(omega.x*s.x + omega.y*s.y) + 7e-7*omega.z*s.z\n",
        NULL);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    print_message("jellett %.1e, balance %.1e\n", motion_drift(&m, "jellett"),
                  motion_drift(&m, "balance"));
    assert_true(motion_drift(&m, "jellett") < exact && motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* A body that slides and turns, through several modes: the balance of energy; the same with
 * another method. */
static void balance(void **state)
{
    (void)state;
    motion m = motion_file("euler-disk-slips", NULL);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    uint32_t n = 0;
    while (!isnan(motion_event(&m, "slips", n)))
        n++;
    print_message("%u times slip, balance %.1e\n", n, motion_drift(&m, "balance"));
    assert_true(n >= 5 && motion_drift(&m, "balance") < exact);
    motion_close(&m);
}

/* In quadruple precision, through the end of slip and a hundred bounces' end. */
static void quad(void **state)
{
    (void)state;
    assert_int_equal(system(NS_PROGRAM
                            " run " NS_MODELS_DIR
                            "/bowling-ball.mech --precision quad --quiet >/dev/null"),
                     0);
    assert_int_equal(system(NS_PROGRAM
                            " run " NS_MODELS_DIR
                            "/dropped-ball.mech --precision quad --quiet >/dev/null"),
                     0);
}

/* A can that tumbles lands where one of its rims first touches: the lowest point of a can with
 * the inclination a is R |sin a| + h/2 |cos a| below its centre. */
static void can_lands(void **state)
{
    (void)state;
    static const double rate[] = {1, 9, 14, -6};
    for (size_t i = 0; i < sizeof rate / sizeof *rate; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "ground plane { friction coulomb(0.3); restitution 0.4 }\n"
                 "body cylinder(0.1, 0.3) { mass 1; uniform }\n"
                 "start { com [0, 0, 1]; tilt 0.7; omega [%g, 0, 0] }\n",
                 rate[i]);
        double t = 0.4; /* Newton's iteration from a time when no end is far */
        for (int k = 0; k < 100; k++) {
            const double a = 0.7 + rate[i] * t, s = sin(a), c = cos(a);
            const double f = 1 - 9.81 / 2 * t * t - 0.1 * fabs(s) - 0.15 * fabs(c);
            const double da = -0.1 * copysign(1, s) * c + 0.15 * copysign(1, c) * s;
            t -= f / (-9.81 * t + rate[i] * da);
        }
        motion m = motion_text(text, NULL);
        assert_int_equal(motion_to(&m, 0.6), NS_OK);
        const double first = fmin(fmin(motion_event(&m, "lands", 0), INFINITY),
                                  fmin(motion_event(&m, "changes", 0), INFINITY));
        close_to("the can lands", first, t);
        assert_true(motion_drift(&m, "balance") < exact);
        motion_close(&m);
    }
}

/* A short can falls on its side and rocks: the impact of one rim keeps the angular momentum
 * about it, which multiplies the angular velocity about the other one by
 * k = (J + m (R^2 - h^2/4))/(J + m (R^2 + h^2/4)). */
static void can_rocks(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { friction coulomb(50) }\n"
                           "body cylinder(0.1, 0.1) { mass 1; uniform }\n"
                           "start { tilt 1.4; omega [0, 0, 0] }\n",
                           NULL);
    const double J = (3 * 0.01 + 0.01) / 12, k = (J + 0.0075) / (J + 0.0125);
    const double fall = 9.81 * (0.1 * sin(1.4) + 0.05 * cos(1.4) - 0.1);
    const ns_status status = motion_to(&m, 20);
    assert_true(status == NS_STOP_EVENT);
    assert_true(motion_event(&m, "falls", 0) > 0);
    assert_true(motion_event(&m, "changes", 10) < motion_event(&m, "falls", 0));
    close_to("all is lost to impacts", motion_get(&m, "work.impact"), -fall);
    assert_true(motion_drift(&m, "balance") < exact);
    const double first = motion_event(&m, "changes", 0), next = motion_event(&m, "changes", 1);
    motion_close(&m);
    m = motion_text("ground plane { friction coulomb(50) }\n"
                    "body cylinder(0.1, 0.1) { mass 1; uniform }\n"
                    "start { tilt 1.4; omega [0, 0, 0] }\n",
                    NULL);
    assert_int_equal(motion_to(&m, (first + next) / 2), NS_OK);
    close_to("lost to the first", motion_get(&m, "work.impact"), -fall * (1 - k * k));
    motion_close(&m);
}

/* In flight the apex of a cone lands; what is not followed is not called a fall. */
static void ends_in_flight(void **state)
{
    (void)state;
#define FLIES(body, start)                                                                     \
    "ground plane { friction coulomb(0.3); restitution 0.3 }\nbody " body                      \
    " { mass 1; uniform }\nstart { com [0, 0, 1]; " start " }\n"
    motion m = motion_text(FLIES("cone(0.1, 0.3)", "tilt 3; omega [0, 0, 0]"), NULL);
    assert_int_equal(motion_to(&m, 2), NS_STOP_EVENT);
    /* the centre of mass is 3/4 h from the apex */
    close_to("the apex lands", motion_event(&m, "apex", 0),
             sqrt(2 * (1 + 0.225 * cos(3)) / 9.81));
    motion_close(&m);
    m = motion_text(FLIES("hemisphere(0.1)", "tilt 170 deg; omega [9, 0, 0]"), NULL);
    assert_int_equal(motion_to(&m, 2), NS_STOP_EVENT);
    close_to("a dome turns up", motion_event(&m, "faces", 0), 100 * M_PI / 180 / 9);
    motion_close(&m);
    m = motion_text("ground plane { friction coulomb(0.3); restitution 0.3 }\n"
                    "body hemisphere(0.1) { mass 1; uniform; contact rim }\n"
                    "start { com [0, 0, 1]; tilt 30 deg; omega [6, 0, 0] }\n",
                    NULL);
    assert_int_equal(motion_to(&m, 2), NS_STOP_EVENT);
    close_to("a rim turns up", motion_event(&m, "faces", 0), 60 * M_PI / 180 / 6);
    motion_close(&m);
}

/* A plane is a plane, however it is written; without gravity a ball that touches stays. */
static void plain_grounds(void **state)
{
    (void)state;
#define ON(ground)                                                                             \
    "ground " ground " { friction coulomb(0.2); restitution 0.5 }\n" BALL                      \
    "start { com [0.1, 0, 0.5]; omega [1, 2, 3] }\n"
    motion a = motion_text(ON("plane"), NULL), b = motion_text(ON("implicit(3*z)"), NULL);
    assert_int_equal(motion_to(&a, 1.5), NS_OK);
    assert_int_equal(motion_to(&b, 1.5), NS_OK);
    close_to("implicit", motion_difference(&a, &b, "com, omega, velocity, work.impact"), 0);
    motion_close(&a);
    motion_close(&b);
    a = motion_text("param g = 0\nground plane { friction coulomb(0.2) }\n" BALL
                    "start { com' [1, 0]; omega [0, 0, 3] }\n",
                    NULL);
    assert_int_equal(motion_to(&a, 5), NS_OK);
    close_to("straight on", motion_get(&a, "com.x"), 5);
    motion_close(&a);
}

static void refused(void **state)
{
    (void)state;
#define G(law) "ground plane { " law " }\n" BALL
    static const struct {
        const char *text, *words;
    } bad[] = {
        {G("friction coulomb(-0.1)"), "must not be negative; it is -0.1"},
        {G("friction coulomb(0.1, 0.3)"), "not below the kinetic one"},
        {G("friction viscous(-1)"), "must not be negative"},
        {G("friction contensou(0.1)"), "expected contensou(MU, RADIUS)"},
        {G("friction sticky"), "friction is `coulomb(MU)`"},
        {G("restitution 1.2"), "between 0 and 1; it is 1.2"},
        {G("restitution -0.2"), "between 0 and 1"},
        {G("restitution.poisson 1.2"), "between 0 and 1; it is 1.2"},
        {G("restitution.poisson 0.5; restitution 0.5"), "goes without `restitution`"},
        {G("restitution.poisson 0.5; restitution.tangential 1"), "goes without"},
        {G("restitution 1; restitution.tangential 2"), "between -1 and 1"},
        {G("friction none; restitution.tangential 1"), "tangential restitution needs friction"},
        {G("resistance.rolling -1e-3"), "a length of resistance must not be negative"},
        {G("mu 0.3; friction coulomb(0.2)"), "write `friction coulomb(MU)` instead"},
        {"ground wire([u, 0, 0]) { friction coulomb(0.2) }\n" BALL, "a wire has no side"},
        {"ground plane { unilateral }\nbody ellipsoid(1, 2, 3) { mass 1; uniform; reduced }\n",
         "the reduced system only rolls"},
        {G("unilateral") "start { com [0, 0, 0.05] }", "reaches 0.05 m into it"},
        {G("unilateral") "start { contact [0, 0]; com' [0, 0, -1]; omega [0, 0, 0] }",
         "ground"},
        {G("friction coulomb(0.2)") "start { spin 3 }", "`spin` goes with"},
        {G("friction coulomb(0.2)") "start { centr [0, 0, 1] }", "did you mean `centre`"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        motion_refused(bad[i].text, bad[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_slides),   cmocka_unit_test(hoop),
        cmocka_unit_test(bounces),       cmocka_unit_test(superball),
        cmocka_unit_test(poisson),       cmocka_unit_test(sliding_is_cheap),
        cmocka_unit_test(as_ideal),      cmocka_unit_test(by_hand),
        cmocka_unit_test(jellett),       cmocka_unit_test(balance),
        cmocka_unit_test(quad),          cmocka_unit_test(can_lands),
        cmocka_unit_test(can_rocks),     cmocka_unit_test(ends_in_flight),
        cmocka_unit_test(plain_grounds), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
