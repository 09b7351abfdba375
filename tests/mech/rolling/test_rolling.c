/* Formulation `rolling`: reference motions, closed forms, integrals, time reversal. */
#include "mech/rolling/rolling.h"
#include "support/measure.h"
#include "support/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double g = 9.81;

/* ---- reference motions ------------------------------------------------------------------- */

/* Largest difference, in relation to max(1, |b|). */
static double off(const double *a, const double *b, size_t n)
{
    double most = 0, scale = 1;
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(b[i]));
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]) / scale);
    return most;
}

static void compare(ns_model *model, const char *name, double positions, double forces)
{
    static const struct {
        const char *ours, *theirs;
    } vectors[] = {{"com", "com"},         {"velocity", "vel"},  {"omega", "omega_body"},
                   {"contact", "contact"}, {"normal", "normal"}, {"omega.space", "omega"}};
    reference r = reference_open(name);
    motion m = motion_begin(model, NULL);
    double worst = 0, worst_force = 0;
    for (size_t i = 0; i < r.samples; i++) {
        assert_int_equal(motion_to(&m, reference_number(&r, i, "t")), NS_OK);
        double a[4], b[4], turned[4];
        for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
            motion_vector(&m, vectors[k].ours, a);
            reference_get(&r, i, vectors[k].theirs, b, 3);
            worst = fmax(worst, off(a, b, 3));
        }
        reference_get(&r, i, "quat", b, 4);
        a[0] = motion_get(&m, "quat.w");
        motion_vector(&m, "quat", a + 1);
        for (int k = 0; k < 4; k++)
            turned[k] = -b[k];
        worst = fmax(worst, fmin(off(a, b, 4), off(a, turned, 4)));
        double N = reference_number(&r, i, "N"), T[3], n[3];
        reference_get(&r, i, "T", T, 3);
        reference_get(&r, i, "normal", n, 3);
        for (int k = 0; k < 3; k++)
            b[k] = N * n[k] + T[k];
        motion_vector(&m, "force", a);
        double ours[2] = {motion_get(&m, "force.normal"), motion_get(&m, "force.friction")};
        double theirs[2] = {N, reference_number(&r, i, "T_abs")};
        worst_force = fmax(worst_force, fmax(off(a, b, 3), off(ours, theirs, 2)));
        double energy = reference_number(&r, i, "energy");
        assert_true(fabs(motion_get(&m, "energy") - energy) < 1e-13 * fabs(energy));
    }
    print_message("%s: motion %.1e, forces %.1e, residuals %.1e\n", name, worst, worst_force,
                  motion_residual(&m));
    assert_true(worst < positions);
    assert_true(worst_force < forces);
    assert_true(motion_residual(&m) < 1e-14);
    motion_close(&m);
    reference_close(&r);
}

/* A run in double precision differs from the true motion by rounding errors of 1e-16 times what
 * the motion makes of them: 1e3 to 1e4 in 10 s, 1e2 for the unbalanced disk in 5 s.  The forces
 * of the spheres reach 1000 N and change by 1e4 N/s. */
static void references(void **state)
{
    (void)state;
    static const char disk[] = "ground plane\n"
                               "body disk(0.1) { mass 0.5; uniform }\n"
                               "start { tilt 1.2; turn 0.3; omega [0.5, 2, -5] }\n";
    compare(motion_model_file("sphere-trough", NULL), "a1_sphere_uniform", 2e-12, 1e-11);
    compare(motion_model_file("sphere-two-metals", NULL), "a2_sphere_nonuniform", 1e-11, 1e-11);
    compare(motion_model_file("ellipsoid", NULL), "c_ellipsoid_plane", 4e-12, 2e-12);
    compare(motion_model_text(disk, NULL), "f1_disk_symmetric", 5e-12, 5e-12);
    compare(motion_model_file("unbalanced-disk", NULL), "f2_disk_unbalanced", 1e-12, 1e-12);
}

/* The zeros of the normal force that the references give to 20 digits. */
static void lift_off_times(void **state)
{
    (void)state;
    static const double uniform[2] = {0.42345038282564995, 1.5896823255162082};
    static const double metals[2] = {0.3909761572214715, 1.5777039442471852};
    motion a = motion_file("sphere-trough", NULL), b = motion_file("sphere-two-metals", NULL);
    motion_to(&a, 2);
    motion_to(&b, 2);
    for (uint32_t k = 0; k < 2; k++) {
        measure_near(motion_event(&a, "liftoff", k), uniform[k], 1e-13, "lift-off, uniform");
        measure_near(motion_event(&b, "liftoff", k), metals[k], 1e-13, "lift-off, two metals");
    }
    motion_close(&a);
    motion_close(&b);
}

/* Kane and Levinson's values have 8 digits. */
static void rattleback(void **state)
{
    (void)state;
    static const double known[3] = {5.0410423, 1.7614232, -3.1175435};
    motion m = motion_file("rattleback", NULL);
    motion_to(&m, 1);
    double omega[3];
    motion_vector(&m, "omega", omega);
    for (int i = 0; i < 3; i++)
        measure_near(omega[i], known[i], 0.5e-7, "omega at 1 s");
    motion_close(&m);
}

/* ---- closed forms ------------------------------------------------------------------------ */

/* Circles at k times the table's rate: contact = middle + turn(k W t) (contact_0 - middle). */
static void turntable(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        double k;
    } balls[] = {{"W=5", 2.0 / 7}, {"W=5; J=2/3*m*r^2", 2.0 / 5}};
    for (int b = 0; b < 2; b++) {
        motion m = motion_file("turntable", balls[b].set);
        double rate = balls[b].k * 5, x0 = 0.3, middle = x0 - 0.1 / rate, worst = 0;
        for (int i = 1; i <= 10; i++) {
            motion_to(&m, 2 * i);
            double angle = rate * m.t;
            worst = fmax(
                worst, hypot(motion_get(&m, "contact.x") - middle - (x0 - middle) * cos(angle),
                             motion_get(&m, "contact.y") - (x0 - middle) * sin(angle)));
        }
        print_message("turntable, k = %.3f: %.1e\n", balls[b].k, worst);
        assert_true(worst < 1e-13);
        motion_close(&m);
    }
}

/* Round at a constant rate, up and down at sqrt(2/7) of it, dropping 5 g/rate^2. */
static void cylinder(void **state)
{
    (void)state;
    motion m = motion_file("ball-in-cylinder", NULL);
    double rate = 8, frequency = sqrt(2.0 / 7) * rate, depth = 5 * g / (2 * rate * rate);
    double R = 0.17, lowest = 0, worst = 0;
    for (int i = 1; i <= 400; i++) {
        motion_to(&m, 0.05 * i);
        double z = motion_get(&m, "com.z");
        worst = fmax(worst, fabs(z + depth * (1 - cos(frequency * m.t))));
        worst = fmax(worst, hypot(motion_get(&m, "com.x") - R * cos(rate * m.t),
                                  motion_get(&m, "com.y") - R * sin(rate * m.t)));
        lowest = fmin(lowest, z);
    }
    print_message("ball in a cylinder: %.1e\n", worst);
    assert_true(worst < 1e-11); /* phase: 160 rad times 1e-14 */
    motion_to(&m, 20 + M_PI / frequency * (2 * ceil(20 * frequency / (2 * M_PI)) + 1) - 20);
    measure_near(motion_get(&m, "com.z"), -5 * g / (rate * rate), 1e-11, "lowest point");
    motion_close(&m);
}

/* Rest at theta0 or speed v there: energy 7/10 m v^2 and N = m g cos - m v^2/(R + r) give
 *     cos(theta) = (10 cos(theta0) + 7 v^2/(g (R + r)))/17. */
static void off_sphere(void **state)
{
    (void)state;
    static const char text[] = "param R = 0.5, r = 0.05, theta0 = 0.001, v = 0\n"
                               "ground sphere(R) { liftoff \"stop\" }\n"
                               "body sphere(r) { mass 0.1; uniform }\n"
                               "start { contact [R*sin(theta0), 0, R*cos(theta0)]\n"
                               "        com' [v*cos(theta0), 0, -v*sin(theta0)]; spin 0 }\n";
    static const struct {
        const char *set;
        double theta0, v;
    } cases[] = {{NULL, 0.001, 0},
                 {"theta0=0.3", 0.3, 0},
                 {"theta0=0.1; v=0.8", 0.1, 0.8},
                 {"theta0=0.1; R=2; r=1", 0.1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        motion m = motion_text(text, cases[i].set);
        assert_int_equal(motion_to(&m, 100), NS_STOP_EVENT);
        double expected =
            (10 * cos(cases[i].theta0) + 7 * cases[i].v * cases[i].v / (g * 0.55)) / 17;
        measure_near(motion_get(&m, "normal.z"), expected, 1e-12, "cosine at lift-off");
        measure_near(motion_get(&m, "force.normal"), 0, 1e-12, "force at lift-off");
        motion_close(&m);
    }
    motion m = motion_file("ball-off-sphere", NULL);
    assert_int_equal(motion_to(&m, 5), NS_STOP_EVENT);
    measure_near(motion_get(&m, "cosine"), 10.0 / 17 * cos(M_PI / 180), 1e-12, "gallery model");
    motion_close(&m);
}

/* Down a plane: a parabola with the acceleration g sin(alpha)/(1 + k), k = moment/(m r^2), and
 * the friction that this needs, tan(alpha) k/(1 + k).  Disk and hoop run straight. */
static void incline(void **state)
{
    (void)state;
    static const char text[] = "param alpha = 20 deg, way = 30 deg\n"
                               "ground plane { tilt alpha; heading way }\n"
                               "body %s\n"
                               "start { %s }\n";
    static const struct {
        const char *body, *start;
        double k;
    } cases[] = {{"sphere(0.1) { mass 0.3; uniform }", "heading 40 deg; tilt 1", 2.0 / 5},
                 {"sphere(0.1) { mass 0.3; uniform }", "tilt 1; omega [1, 2, 3]", 2.0 / 5},
                 {"sphere(1) { mass 0.3; inertia 0.2*[[1, 0, 0], [0, 1, 0], [0, 0, 1]] }",
                  "tilt 1; omega [1, -2, 3]", 2.0 / 3},
                 {"disk(0.2) { mass 0.3; uniform }", "heading 30 deg; tilt 90 deg", 0.5},
                 {"hoop(0.2) { mass 0.3; uniform }", "heading 30 deg; tilt 90 deg", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[500];
        snprintf(model, sizeof model, text, cases[i].body, cases[i].start);
        motion m = motion_text(model, NULL);
        double alpha = 20 * M_PI / 180, t = 4, from[3], v[3], to[3];
        motion_vector(&m, "com", from);
        motion_vector(&m, "velocity", v);
        motion_to(&m, t);
        motion_vector(&m, "com", to);
        double way = g * sin(alpha) / (1 + cases[i].k) * t * t / 2, near = 1e-13 * way;
        measure_near(to[0] - from[0] - v[0] * t, way * cos(alpha) * cos(M_PI / 6), near, "x");
        measure_near(to[1] - from[1] - v[1] * t, way * cos(alpha) * sin(M_PI / 6), near, "y");
        measure_near(to[2] - from[2] - v[2] * t, -way * sin(alpha), near, "z");
        measure_near(motion_get(&m, "force.ratio"), tan(alpha) * cases[i].k / (1 + cases[i].k),
                     1e-13, "friction");
        motion_close(&m);
    }
}

/* Across the axis of the rocking plane by the equation of models/tilting-plane.mech in another
 * formulation, along it in closed form. */
static void rocking_plane(void **state)
{
    (void)state;
    static const char lagrange[] =
        "param A = 5 deg, w = 3, r = 3 cm, m = 0.1 kg, g = 9.81\n"
        "coordinate xi\n"
        "let phi = A*sin(w*t)\n"
        "lagrangian 7/10*m*(xi' + r*A*w*cos(w*t))^2 + m/2*(xi*A*w*cos(w*t))^2 +\n"
        "           m*g*xi*sin(phi)\n"
        "start { xi = 0; xi' = -5/7*g*A/w - r*A*w }\n";
    motion a = motion_file("tilting-plane", NULL), b = motion_text(lagrange, NULL);
    double worst = 0;
    for (int i = 1; i <= 20; i++) {
        motion_to(&a, 0.5 * i);
        motion_to(&b, 0.5 * i);
        double phi = 5 * M_PI / 180 * sin(3 * a.t), xi = motion_get(&b, "xi");
        worst = fmax(worst, fabs(motion_get(&a, "contact.x") - xi * cos(phi)));
        worst = fmax(worst, fabs(motion_get(&a, "contact.z") + xi * sin(phi)));
        measure_near(motion_get(&a, "error"), 0, 1e-14, "speed along the axis");
    }
    print_message("rocking plane: %.1e\n", worst);
    assert_true(worst < 1e-13);
    assert_true(motion_drift(&a, "along") < 1e-13);
    motion_close(&a);
    motion_close(&b);
}

/* A ground that moves up and down: more gravity, nothing else. */
static void lift(void **state)
{
    (void)state;
    static const char moving[] = "ground paraboloid(0.5) { origin [1 + 0.2*t, 0, 0.7*t^2/2] }\n"
                                 "body sphere(0.1) { mass 1; uniform }\n"
                                 "start { contact [1.3, 0.1]; omega [1, 2, 3] }\n";
    static const char fixed[] = "param g = 9.81 + 0.7\n"
                                "ground paraboloid(0.5)\n"
                                "body sphere(0.1) { mass 1; uniform }\n"
                                "start { contact [0.3, 0.1]; omega [1, 2, 3] }\n";
    motion a = motion_text(moving, NULL), b = motion_text(fixed, NULL);
    motion_to(&a, 5);
    motion_to(&b, 5);
    measure_near(motion_get(&a, "com.x") - 1 - 0.2 * 5, motion_get(&b, "com.x"), 1e-12, "x");
    measure_near(motion_get(&a, "com.y"), motion_get(&b, "com.y"), 1e-12, "y");
    measure_near(motion_get(&a, "com.z") - 0.7 * 12.5, motion_get(&b, "com.z"), 1e-12, "z");
    measure_near(motion_get(&a, "force.normal"), motion_get(&b, "force.normal"), 1e-11,
                 "force");
    motion_close(&a);
    motion_close(&b);
}

/* Euler's disk with its centre at rest, the hoop on its circle. */
static void steady(void **state)
{
    (void)state;
    motion m = motion_file("euler-disk", "kick=0");
    double from[3], to[3];
    motion_vector(&m, "com", from);
    for (int i = 1; i <= 40; i++) {
        motion_to(&m, 0.25 * i);
        motion_vector(&m, "com", to);
        for (int k = 0; k < 3; k++)
            measure_near(to[k], from[k], 1e-11, "centre of Euler's disk");
        measure_near(motion_get(&m, "force.normal"), 0.44 * g, 1e-10, "force on Euler's disk");
    }
    motion_close(&m);

    m = motion_file("hoop", NULL);
    double alpha = 75 * M_PI / 180, a = 0.4, rate = 1;
    double w = cos(alpha) * (rate / 2 - g / (a * rate * sin(alpha))) / 2,
           radius = -a * w / rate;
    motion_vector(&m, "com", from);
    for (int i = 1; i <= 40; i++) {
        motion_to(&m, 0.5 * i);
        motion_vector(&m, "com", to);
        measure_near(to[0], from[0] + radius * sin(rate * m.t), 1e-12, "hoop, x");
        measure_near(to[1], from[1] + radius * (1 - cos(rate * m.t)), 1e-12, "hoop, y");
        measure_near(to[2], from[2], 1e-13, "hoop, z");
        measure_near(motion_get(&m, "force.normal"), 0.3 * g, 1e-12, "hoop, force");
    }
    motion_close(&m);
}

/* A ball that hangs from a straight wire is a pendulum: theta'' = -5 g/(7 r) sin(theta),
 * whatever it does along the wire. */
static void straight_wire(void **state)
{
    (void)state;
    static const char ball[] = "ground wire([u, 0, 0])\n"
                               "body sphere(0.05) { mass 0.2; uniform }\n"
                               "start { contact [0, 0]; s.z ~ 0.05; omega [20, 3, 0] }\n";
    static const char pendulum[] = "coordinate theta\n"
                                   "lagrangian theta'^2/2 + 5*9.81/(7*0.05)*cos(theta)\n"
                                   "start { theta = 0; theta' = 20 }\n";
    motion a = motion_text(ball, NULL), b = motion_text(pendulum, NULL);
    double worst = 0;
    for (int i = 1; i <= 20; i++) {
        motion_to(&a, 0.1 * i);
        motion_to(&b, 0.1 * i);
        double theta = motion_get(&b, "theta");
        worst = fmax(worst, hypot(motion_get(&a, "com.y") - 0.05 * sin(theta),
                                  motion_get(&a, "com.z") + 0.05 * cos(theta)));
    }
    print_message("straight wire: %.1e\n", worst);
    assert_true(worst < 1e-13);
    motion_close(&a);
    motion_close(&b);
}

/* Small rocking of a flat face on a sphere; the frequency depends on the square of the
 * amplitude of 1e-5. */
static void rocking(void **state)
{
    (void)state;
    static const char text[] =
        "param c = 0.03, R = 0.2, q = 0.274167948626678\n"
        "ground sphere(R)\n"
        "body superellipsoid(0.1, 0.1, c, 4) {\n"
        "    mass 1; inertia q*[[0.01 + c^2, 0, 0], [0, 0.01 + c^2, 0], [0, 0, 0.02]]\n"
        "}\n"
        "start { contact [0, 0, R]; omega [1e-4, 0, 0] }\n"
        "event level: vertical.y = 0\n";
    motion m = motion_text(text, NULL);
    motion_to(&m, 10);
    double c = 0.03, I = 0.274167948626678 * (0.01 + c * c);
    double half = M_PI / sqrt(g * (0.2 - c) / (I + c * c));
    measure_near(motion_event(&m, "level", 50) - motion_event(&m, "level", 10), 40 * half, 1e-8,
                 "forty half periods");
    motion_close(&m);
}

/* ---- integrals --------------------------------------------------------------------------- */

/* v of the body in space */
static void to_space(const motion *m, const double v[3], double out[3])
{
    double w = motion_get(m, "quat.w"), q[3];
    motion_vector(m, "quat", q);
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]),
                   2 * (q[0] * v[1] - q[1] * v[0])};
    out[0] = v[0] + w * t[0] + q[1] * t[2] - q[2] * t[1];
    out[1] = v[1] + w * t[1] + q[2] * t[0] - q[0] * t[2];
    out[2] = v[2] + w * t[2] + q[0] * t[1] - q[1] * t[0];
}

/* Angular momentum about the contact of a body with moments I, from positions and
 * velocities. */
static void about_contact(const motion *m, const double I[3], double mass, double K[3])
{
    double omega[3], com[3], contact[3], v[3], L[3], arm[3];
    motion_vector(m, "omega", omega);
    motion_vector(m, "com", com);
    motion_vector(m, "contact", contact);
    motion_vector(m, "velocity", v);
    for (int i = 0; i < 3; i++) {
        L[i] = I[i] * omega[i];
        arm[i] = mass * (com[i] - contact[i]);
    }
    to_space(m, L, K);
    K[0] += arm[1] * v[2] - arm[2] * v[1];
    K[1] += arm[2] * v[0] - arm[0] * v[2];
    K[2] += arm[0] * v[1] - arm[1] * v[0];
}

static void chaplygin_ball(void **state)
{
    (void)state;
    static const double I[3] = {0.002, 0.003, 0.0045};
    motion m = motion_file("chaplygin-ball", NULL);
    double K0[3], K[3];
    about_contact(&m, I, 1, K0);
    for (int i = 1; i <= 20; i++) {
        motion_to(&m, i);
        about_contact(&m, I, 1, K);
        for (int k = 0; k < 3; k++)
            measure_near(K[k], K0[k], 1e-16, "momentum about the contact"); /* of size 0.07 */
        measure_near(motion_get(&m, "force.normal"), g, 1e-14, "force");
    }
    assert_true(motion_drift(&m, "momentum.x") < 1e-14);
    motion_close(&m);
}

/* (I omega).s and omega_3 sqrt(A C + m (I s).s), computed here */
static void two_integrals(const motion *m, double A, double C, double mass, double out[2])
{
    double omega[3], s[3];
    motion_vector(m, "omega", omega);
    motion_vector(m, "s", s);
    double across = s[0] * s[0] + s[1] * s[1];
    out[0] = A * (omega[0] * s[0] + omega[1] * s[1]) + C * omega[2] * s[2];
    out[1] = omega[2] * sqrt(A * C + mass * (A * across + C * s[2] * s[2]));
}

static void jellett_and_routh(void **state)
{
    (void)state;
    motion m = motion_file("routh-sphere", NULL);
    double first[2], now[2], most = 0;
    two_integrals(&m, 0.0040, 0.0035, 1, first);
    for (int i = 1; i <= 40; i++) {
        motion_to(&m, 0.5 * i);
        two_integrals(&m, 0.0040, 0.0035, 1, now);
        for (int k = 0; k < 2; k++)
            most = fmax(most, fabs(now[k] / first[k] - 1));
    }
    print_message("Jellett, Routh: %.1e\n", most);
    assert_true(most < 1e-13);
    assert_true(motion_drift(&m, "jellett") < 1e-13 && motion_drift(&m, "routh") < 1e-13);
    motion_close(&m);

    /* For the disk neither is one. */
    m = motion_file("coin", NULL);
    double r = 12.875e-3, mass = 8.5e-3, C = mass * r * r / 2, least[2] = {0, 0};
    two_integrals(&m, C / 2, C, mass, first);
    for (int i = 1; i <= 40; i++) {
        motion_to(&m, 0.01 * i);
        two_integrals(&m, C / 2, C, mass, now);
        least[0] = fmax(least[0], fabs(now[0] - first[0]) / (C * 23 * r));
        least[1] = fmax(least[1], fabs(now[1] / first[1] - 1));
    }
    assert_true(least[0] > 1e-3 && least[1] > 1e-3);
    const ns_system *s = m.model->system;
    for (uint32_t i = 0; i < s->invariants.n; i++)
        assert_true(strcmp(s->invariants.at[i].name, "jellett") != 0);
    motion_close(&m);
}

static void bowl_and_can(void **state)
{
    (void)state;
    motion m = motion_file("ball-in-bowl", NULL);
    motion_to(&m, 20);
    assert_true(motion_drift(&m, "pivoting") < 1e-14);
    assert_true(motion_drift(&m, "vertical_momentum") < 1e-14);
    motion_close(&m);
    /* Jachnik 2011, section 9: the higher the can, the fewer the laps, until it falls */
    static const char *const set[5] = {"l=0", "l=1", "l=2", "l=3", "l=4"};
    uint32_t before = ~0u;
    for (int i = 0; i < 5; i++) {
        m = motion_file("can", set[i]);
        ns_status status = motion_to(&m, 15);
        uint32_t laps = 0;
        while (motion_event(&m, "lap", laps) <= 15) /* nan ends it too */
            laps++;
        print_message("can, %s: %u laps in %.4f s\n", set[i], laps, m.t);
        assert_int_equal(status, i < 4 ? NS_OK : NS_STOP_EVENT);
        assert_true(laps < before);
        assert_true(ns_run_outcome(m.run)->energy_drift < 1e-13);
        before = laps;
        if (i == 4)
            measure_near(motion_event(&m, "falls", 0), m.t, 0, "the end");
        motion_close(&m);
    }
}

/* ---- quality ----------------------------------------------------------------------------- */

/* Default runs of the gallery: what a run reports about itself. */
static void gallery(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool conservative;
    } models[] = {
        {"rattleback", true},
        {"rattleback-p1c", true},
        {"egg", true},
        {"ellipsoid", true},
        {"ellipsoid-bowl", true},
        {"superellipsoid", true},
        {"torus", true},
        {"sphere-trough", true},
        {"sphere-two-metals", true},
        {"euler-disk", true},
        {"unbalanced-disk", true},
        {"coin", true},
        {"hoop", true},
        {"can", true},
        {"chaplygin-ball", true},
        {"routh-sphere", true},
        {"rock-n-roller", true},
        {"turntable", false},
        {"ball-in-bowl", true},
        {"ball-in-cylinder", true},
        {"ball-off-sphere", true},
        {"disk-in-sphere", true},
        {"ball-on-wire", true},
        {"ball-on-egg-box", true},
        {"tilting-plane", false},
    };
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        motion m = motion_file(models[k].name, NULL);
        const ns_system *s = m.model->system;
        motion_to(&m, m.model->settings.until);
        const ns_outcome *o = ns_run_outcome(m.run);
        print_message("%-18s %7.2f s  energy %.1e  residuals %.1e\n", models[k].name, m.t,
                      o->energy_drift, motion_residual(&m));
        assert_true(models[k].conservative == s->conservative);
        assert_true(o->energy_drift < 1e-13 || !s->conservative);
        assert_true(motion_residual(&m) < 1e-13);
        assert_string_equal(s->constraints.at[0].name, "quaternion");
        assert_true(o->residual[0] < 1e-15);
        for (uint32_t i = 0; i < s->invariants.n; i++)
            assert_true(o->drift[i] < 1e-13);
        motion_close(&m);
    }
}

/* ---- time reversal ----------------------------------------------------------------------- */

/* Forward 10 s, omega reversed, 10 s again: back at the start with the reversed omega.
 * Rounding errors grow on both ways: 1e-9 leaves them a factor of 1e7. */
static void reversal(void **state)
{
    (void)state;
    static const char *const names[] = {"ball-in-bowl",
                                        "ball-in-cylinder",
                                        "ball-on-wire",
                                        "can",
                                        "chaplygin-ball",
                                        "coin",
                                        "egg",
                                        "ellipsoid",
                                        "euler-disk",
                                        "ellipsoid-bowl",
                                        "hoop",
                                        "rattleback-p1c",
                                        "rock-n-roller",
                                        "routh-sphere",
                                        "sphere-trough",
                                        "superellipsoid",
                                        "torus",
                                        "unbalanced-disk",
                                        "sphere-two-metals"};
    double all = 0;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        motion m = motion_file(names[k], NULL);
        const ns_rolling *r = m.model->system->own;
        uint32_t n = m.model->system->states.n, omega = r->omega; /* in the body or in space */
        double *x0 = calloc(n, sizeof *x0);
        assert_non_null(x0);
        memcpy(x0, m.x, n * sizeof *x0);
        assert_int_equal(motion_to(&m, 10), NS_OK);
        for (uint32_t i = 0; i < 3; i++)
            m.x[omega + i] = -m.x[omega + i];
        motion back = motion_begin(m.model, m.x);
        assert_int_equal(motion_to(&back, 10), NS_OK);
        double worst = 0, dot = 0;
        uint32_t quat = motion_state(&m, "quat.w");
        for (uint32_t i = 0; i < 4; i++)
            dot += back.x[quat + i] * x0[quat + i];
        double sign = dot < 0 ? -1 : 1;
        for (uint32_t i = 0; i < n; i++) {
            bool is_quat = i >= quat && i < quat + 4, is_omega = i >= omega && i < omega + 3;
            double expected = is_omega ? -x0[i] : is_quat ? sign * x0[i] : x0[i];
            worst = fmax(worst, fabs(back.x[i] - expected) / fmax(1, fabs(x0[i])));
        }
        if (!(worst < 1e-9))
            fail_msg("%s: state off by %.1e after reversal", names[k], worst);
        all = fmax(all, worst);
        back.model = NULL;
        motion_close(&back);
        motion_close(&m);
        free(x0);
    }
    print_message("time reversal, worst of all: %.1e\n", all);
}

/* ---- size -------------------------------------------------------------------------------- */

/* Written by hand the right-hand side of problem P1c has 211 operations. */
static void operations(void **state)
{
    (void)state;
    /* by hand: 220 operations for the first, 57 for the second (bench/problems/hand_rhs.inc) */
    static const struct {
        const char *name;
        uint32_t states, most;
    } models[] = {{"rattleback-p1c", 9, 240},
                  {"sphere-trough", 9, 75},
                  {"ball-in-cylinder", 10, 80},
                  {"turntable", 9, 75},
                  {"chaplygin-ball", 9, 140},
                  {"ellipsoid-bowl", 9, 310},
                  {"coin", 9, 175}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        ns_model *model = motion_model_file(models[i].name, NULL);
        uint32_t bound, count = ns_program_operations(model->problem->rhs, &bound);
        print_message("%s: %u operations, %u once\n", models[i].name, count, bound);
        assert_int_equal(model->system->states.n, models[i].states);
        assert_true(count <= models[i].most);
        ns_model_free(model);
    }
}

/* A general body on a general ground is derived in less than 50 ms; the limit here is for slow
 * machines and sanitizers. */
static void building(void **state)
{
    (void)state;
    static const char text[] =
        "ground implicit(z - 0.1*sin(3*x)*cos(2*y) - 0.05*x*y)\n"
        "body implicit((x/0.12)^4 + (y/0.1)^2 + (z/0.09)^2 + 30*x*y*z - 1) {\n"
        "    mass 1; inertia 1e-3*[[4, 0, 0], [0, 5, 0], [0, 0, 6]]\n"
        "}\n"
        "start { contact [0, 0, 0]; omega [1, 2, 3] }\n";
    double best = HUGE_VAL;
    for (int i = 0; i < 5; i++) {
        clock_t begin = clock();
        ns_model_free(motion_model_text(text, NULL));
        best = fmin(best, (double)(clock() - begin) / CLOCKS_PER_SEC);
    }
    print_message("implicit body on implicit ground: built in %.1f ms\n", 1e3 * best);
    assert_true(best < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references),     cmocka_unit_test(lift_off_times),
        cmocka_unit_test(rattleback),     cmocka_unit_test(turntable),
        cmocka_unit_test(cylinder),       cmocka_unit_test(off_sphere),
        cmocka_unit_test(incline),        cmocka_unit_test(rocking_plane),
        cmocka_unit_test(lift),           cmocka_unit_test(steady),
        cmocka_unit_test(straight_wire),  cmocka_unit_test(rocking),
        cmocka_unit_test(chaplygin_ball), cmocka_unit_test(jellett_and_routh),
        cmocka_unit_test(bowl_and_can),   cmocka_unit_test(gallery),
        cmocka_unit_test(reversal),       cmocka_unit_test(operations),
        cmocka_unit_test(building),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
