/* Ready-made constraints of formulation `constrained`: rolling contacts of every kind of side
 * against formulation `rolling`, which has other coordinates and other equations; contacts
 * between bodies; joints against closed forms; and what is refused.
 *
 * Tolerances: both formulations keep some 1e-15 per second of regular motion; limits are ten to
 * a hundred times what is measured, 1e-10 at most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/measure.h"

/* ---- one body on a ground: against `rolling` --------------------------------------------- */

typedef struct pair {
    const char *name, *ground, *kind, *body; /* blocks without their keyword and name */
    const char *start;                       /* of formulation rolling */
    double until, limit;
} pair;

#define LUMPY                                                                                  \
    "mass 0.5; com [0.02, 0.01, 0.005]\n"                                                      \
    "inertia [[1.2e-3, -1e-4, 5e-5], [-1e-4, 1.3e-3, 2e-5], [5e-5, 2e-5, 1.5e-3]]"

static const pair pairs[] = {
    {"ellipsoid on a plane", "plane", "ellipsoid(0.2, 0.15, 0.1)",
     "mass 1; com [0.01, 0.005, -0.02]\n"
     "inertia [[3e-3, -2e-4, 1e-4], [-2e-4, 5e-3, 3e-4], [1e-4, 3e-4, 6e-3]]",
     "quat [0.9, 0.1, 0.3, 0.3]; omega [0.2, -0.4, 0.6]", 10, 1e-10},
    {"edge of a disk on a plane", "plane", "disk(0.1)",
     "mass 0.5; com [0.02, 0.01, 0]\n"
     "inertia [[1.2e-3, -1e-4, 0], [-1e-4, 1.3e-3, 0], [0, 0, 2.4e-3]]",
     "quat [cos(0.5), sin(0.5), 0, 0]; omega [1, 2, 12]", 10, 1e-10},
    {"ball in a bowl", "sphere(0.5) { at [0, 0, 0.5]; side inside }", "sphere(0.1)", LUMPY,
     "contact [0.14, 0, 0.02]; omega [1, 2, 3]", 10, 1e-10},
    {"ball on an egg box", "height(0.05*sin(3*x)*cos(2*y))", "sphere(0.06)", "mass 4; uniform",
     "contact [0.1, 0.2]; omega [3, 2, 1]", 10, 1e-10},
    {"ball in a torus", "torus(1, 0.4) { side inside }", "sphere(0.1)", "mass 1; uniform",
     "contact [1.24, 0, -0.32]; omega [1, 2, 3]", 10, 1e-10},
    {"ball in a trough given by a curve", "extruded(u, 0.3*u^2)", "sphere(0.1)", LUMPY,
     "ground.u = 0.3; omega [1, 2, 3]", 10, 1e-10},
    {"implicit body on a slope", "plane { tilt 0.1; heading 0.4 }",
     "implicit(x^2/0.02 + y^2/0.03 + z^2/0.01 + x^4 - 1)", LUMPY,
     "quat [0.9, 0.1, 0.3, 0.3]; omega [0.5, -1, 1]", 3, 1e-10},
    {"body given by a chart", "plane",
     "parametric([0.2*cos(u)*sin(v), 0.15*sin(u)*sin(v), "
     "0.1*cos(v)])",
     LUMPY "; flip", "quat [0.8, 0.6, 0, 0]; body.u ~ -1.57; body.v ~ 1.9; omega [0.2, 0.1, 1]",
     5, 1e-10},
    {"edge given by a curve", "plane", "edge([0.1*cos(u), 0.12*sin(u), 0.01*cos(2*u)])", LUMPY,
     "quat [0.8, 0.6, 0, 0]; edge.u ~ -1.57; omega [1, 2, 12]", 0.5, 1e-10},
    {"ball on a wire", "wire([u, 0.2*u^2, 0.1*u])", "sphere(0.1)", LUMPY,
     "wire.u = 0.1; omega [1, 2, 3]", 1, 1e-10},
    {"ball on a turntable", "plane { turn [0, 0, 1], 2*t; origin [0.01*sin(3*t), 0, 0] }",
     "sphere(0.1)", LUMPY, "contact [0.2, 0.1]; omega [1, 2, 3]", 2, 1e-10},
    {"can on its rim", "plane", "cylinder(0.05, 0.2)", "mass 1; uniform",
     "roll 0.3; omega [0.5, 0.5, 4]", 3, 1e-10},
};

/* Coordinates of charts and curves: where they occur, in `rolling`, here. */
static const char *const charts[][3] = {{"parametric", "body.u", "c.S.u"},
                                        {"parametric", "body.v", "c.S.v"},
                                        {"edge", "edge.u", "c.S.u"},
                                        {"wire", "wire.u", "c.ground.u"},
                                        {"extruded", "ground.u", "c.ground.u"},
                                        {"extruded", "ground.v", "c.ground.v"}};

/* The same body, from parts, at the place where `rolling` starts. */
static motion from_parts(const pair *k, const motion *as)
{
    double q[4], w[3], centre[3], contact[3];
    motion_vector(as, "omega", w);
    motion_vector(as, "centre", centre);
    motion_vector(as, "contact", contact);
    for (int i = 0; i < 4; i++) {
        char name[] = "quat.?";
        name[5] = "wxyz"[i];
        q[i] = motion_get(as, name);
    }
    char text[4096];
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "ground %s\nbody S %s { %s }\nconstraint c: rolling(S, ground)\n"
        "start { S.quat = [%.17g, %.17g, %.17g, %.17g]; S.omega = [%.17g, %.17g, %.17g]\n"
        "S.position = [%.17g, %.17g, %.17g]; c.contact = [%.17g, %.17g, %.17g]\n",
        k->ground, k->kind, k->body, q[0], q[1], q[2], q[3], w[0], w[1], w[2], centre[0],
        centre[1], centre[2], contact[0], contact[1], contact[2]);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++)
        if (strstr(k->ground, charts[i][0]) || strstr(k->kind, charts[i][0]))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s = %.17g\n", charts[i][2],
                                  motion_get(as, charts[i][1]));
    assert_true(n < sizeof text - 4);
    strcpy(text + n, "}\n");
    return motion_text(text, NULL);
}

/* Values of both that mean the same. */
static const char *const same[][2] = {
    {"centre.x", "S.x"},          {"centre.y", "S.y"},
    {"centre.z", "S.z"},          {"com.x", "S.com.x"},
    {"com.y", "S.com.y"},         {"com.z", "S.com.z"},
    {"omega.x", "S.omega.x"},     {"omega.y", "S.omega.y"},
    {"omega.z", "S.omega.z"},     {"contact.x", "c.contact.x"},
    {"contact.y", "c.contact.y"}, {"contact.z", "c.contact.z"},
    {"force.x", "c.force.x"},     {"force.y", "c.force.y"},
    {"force.z", "c.force.z"},     {"force.normal", "c.force.normal"},
};

static void contact(void **state)
{
    const pair *k = *state;
    char text[2048];
    snprintf(text, sizeof text, "ground %s\nbody %s { %s }\nstart { %s }\n", k->ground, k->kind,
             k->body, k->start);
    motion a = motion_text(text, NULL);
    motion_to(&a, 0);
    motion b = from_parts(k, &a);
    double worst = 0, begin = measure_seconds();
    for (int i = 0; i <= 20; i++) {
        double t = k->until * i / 20;
        if (motion_to(&a, t) != NS_OK || motion_to(&b, t) != NS_OK)
            fail_msg("%s: stopped before %g", k->name, t);
        for (size_t j = 0; j < sizeof same / sizeof *same; j++) {
            double x = motion_get(&a, same[j][0]), y = motion_get(&b, same[j][1]);
            worst = fmax(worst, fabs(x - y) / fmax(1, fabs(x)));
        }
    }
    print_message("%-34s difference %.1e over %g s, energy %.1e, residual %.1e, %.0f ms\n",
                  k->name, worst, k->until, measure_energy_drift(&b), motion_residual(&b),
                  1e3 * (measure_seconds() - begin));
    measure_below(worst, k->limit, "difference from `rolling`", k->name);
    measure_below(motion_residual(&b), 1e-12, "residual", k->name);
    if (b.model->system->conservative)
        measure_below(measure_energy_drift(&b), 1e-13, "energy drift", k->name);
    motion_close(&a);
    motion_close(&b);
}

/* ---- a body on a body that is held: against `rolling` on a ground of that shape ---------- */

static const struct held {
    const char *name, *ground, *other, *hold; /* other: the ground's shape as a body */
    const char *kind, *body, *start;
} held[] = {
    {"ellipsoid on a sphere", "sphere(0.5)", "sphere(0.5)",
     "constraint at: T.position = [0, 0, 0]\nconstraint so: T.quat = [1, 0, 0, 0]\n",
     "ellipsoid(0.2, 0.15, 0.1)", LUMPY, "contact [0.3, 0, 0.4]; omega [1, 0.5, 3]"},
    {"edge of a disk on an ellipsoid", "implicit(x^2/0.25 + y^2/0.16 + z^2/0.09 - 1)",
     "ellipsoid(0.5, 0.4, 0.3)",
     "constraint at: T.position = [0, 0, 0]\nconstraint so: T.quat = [1, 0, 0, 0]\n",
     "disk(0.1)", LUMPY,
     "contact [0.3, 0, 0.24]; quat [0.8, 0.6, 0, 0]; rim.y ~ -1; omega [1, 2, 5]"},
    {"ball on a turning sphere", "sphere(0.5) { turn [0, 0, 1], 2*t }", "sphere(0.5)",
     "constraint at: T.position = [0, 0, 0]\nconstraint up: parallel(T.e3, [0, 0, 1])\n"
     "constraint so: angle([1, 0, 0], T.e1, [0, 0, 1], 2*t)\n",
     "sphere(0.1)", LUMPY,
     "ground.x = 0.3; ground.y = 0; ground.z = 0.4; quat [1, 0, 0, 0]; s.x = -0.08; s.y = "
     "-0.01; s.z = -0.085; omega "
     "[1, 0.5, 3]"},
};

static void on_held_body(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        const struct held *k = &held[i];
        char text[4096];
        snprintf(text, sizeof text, "ground %s\nbody %s { %s }\nstart { %s }\n", k->ground,
                 k->kind, k->body, k->start);
        motion a = motion_text(text, NULL);
        double q[4], w[3], c[3], P[3], worst = 0;
        motion_vector(&a, "omega", w);
        motion_vector(&a, "centre", c);
        motion_vector(&a, "contact", P);
        for (int j = 0; j < 4; j++) {
            char name[] = "quat.?";
            name[5] = "wxyz"[j];
            q[j] = motion_get(&a, name);
        }
        snprintf(
            text, sizeof text,
            "body T %s { mass 1; uniform }\n%sbody S %s { %s }\nconstraint c: rolling(S, T)\n"
            "start { S.quat = [%.17g, %.17g, %.17g, %.17g]; S.omega = [%.17g, %.17g, %.17g]\n"
            "S.position = [%.17g, %.17g, %.17g]; c.contact = [%.17g, %.17g, %.17g] }\n",
            k->other, k->hold, k->kind, k->body, q[0], q[1], q[2], q[3], w[0], w[1], w[2], c[0],
            c[1], c[2], P[0], P[1], P[2]);
        motion b = motion_text(text, NULL);
        for (double t = 0; t < 0.5; t += 0.05) {
            assert_int_equal(motion_to(&a, t), NS_OK);
            assert_int_equal(motion_to(&b, t), NS_OK);
            for (size_t j = 0; j < sizeof same / sizeof *same; j++) {
                double x = motion_get(&a, same[j][0]), y = motion_get(&b, same[j][1]);
                worst = fmax(worst, fabs(x - y) / fmax(1, fabs(x)));
            }
        }
        print_message("%-34s difference %.1e over 0.5 s, rows %.1e\n", k->name, worst,
                      motion_residual(&b));
        measure_below(worst, 1e-11, "difference from `rolling`", k->name);
        motion_close(&a);
        motion_close(&b);
    }
}

/* A guess of the contact stays where no position row asks for more, whatever the velocities. */
static void guesses(void **state)
{
    (void)state;
    motion m = motion_text("ground plane { turn [0, 0, 1], 2*t }\n"
                           "body S sphere(0.1) { mass 1; uniform }\nconstraint c: rolling(S)\n"
                           "start { c.contact ~ [0.2, 0.1, 0]; S.omega = [1, 2, 3] }\n",
                           NULL);
    measure_close(motion_get(&m, "S.x"), 0.2, 1e-15, "place of the centre");
    measure_close(motion_get(&m, "c.contact.y"), 0.1, 1e-15, "place of the contact");
    measure_close(motion_get(&m, "S.z"), 0.1, 1e-15, "height");
    measure_close(motion_get(&m, "S.x'"), 2 * 0.1 - 2 * 0.1, 1e-14, "velocity");
    motion_close(&m);
    /* nothing said but the height above a hollow: the body is put on the ground below it */
    m = motion_text("ground G height(0.3*x^2 + 0.1*y^2)\n"
                    "body S ellipsoid(0.2, 0.15, 0.1) { mass 1; uniform }\n"
                    "constraint c: rolling(S, G)\nstart { S.position ~ [0.3, 0.2, 0.5] }\n",
                    NULL);
    measure_below(motion_residual(&m), 1e-14, "rows", "start above a hollow");
    assert_true(motion_get(&m, "S.z") > motion_get(&m, "c.contact.z"));
    motion_close(&m);
}

/* ---- particle form: models against `rolling` --------------------------------------------- */

static void same_contact(const char *name, const char *set, const char *text)
{
    motion a = motion_file(name, set), b = motion_text(text, NULL);
    double worst = 0;
    for (int i = 0; i <= 20; i++) {
        assert_int_equal(motion_to(&a, 0.5 * i), NS_OK);
        assert_int_equal(motion_to(&b, 0.5 * i), NS_OK);
        double P[3], contact_point[3], omega[3], w[3];
        motion_vector(&a, "P", P);
        motion_vector(&b, "contact", contact_point);
        motion_vector(&a, "S.omega", omega);
        motion_vector(&b, "omega", w);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fmax(fabs(P[k] - contact_point[k]), fabs(omega[k] - w[k])));
    }
    print_message("%-34s difference %.1e over 10 s\n", name, worst);
    measure_below(worst, 1e-10, "difference from `rolling`", name);
    motion_close(&a);
    motion_close(&b);
}

static void particles(void **state)
{
    (void)state;
    same_contact(
        "sphere-egg-box", NULL,
        "ground height(0.05*sin(3*x)*cos(2*y))\nbody sphere(6 cm) { mass 1; uniform }\n"
        "start { contact [0.1, 0.2]; quat [1, 0, 0, 0]; omega [3, 2, 1] }\n");
    same_contact("sphere-torus", NULL,
                 "param r = 6 cm, d1 = 4500, d2 = 5494\n"
                 "param m = 2/3*pi*r^3*(d1 + d2), rho = 3/8*r*(d2 - d1)/(d1 + d2)\n"
                 "param J = 2/5*m*r^2\nground torus(1, 0.4) { side inside }\n"
                 "body sphere(r) { mass m; com [rho, 0, 0]\n"
                 "                 inertia diag(J, J - m*rho^2, J - m*rho^2) }\n"
                 "start { contact [1.24, 0, -0.32]; quat [1, 0, 0, 0]; omega [3, 20, 5] }\n");
    same_contact("sphere-ellipsoid-bowl", NULL,
                 "ground implicit(x^2 + y^2/0.49 + z^2/0.25 - 1) { side inside }\n"
                 "body sphere(6 cm) { mass 1; uniform }\n"
                 "start { contact [0.6, 0, -0.4]; quat [1, 0, 0, 0]; omega [5, 3, 2] }\n");
}

/* ---- machines against other formulations ------------------------------------------------- */

static void compare(motion *a, motion *b, const char *names, double until, const char *what)
{
    double worst = 0;
    for (int i = 0; i <= 20; i++) {
        assert_int_equal(motion_to(a, until * i / 20), NS_OK);
        assert_int_equal(motion_to(b, until * i / 20), NS_OK);
        worst = fmax(worst, motion_difference(a, b, names));
    }
    print_message("%-34s difference %.1e over %g s, rows %.1e\n", what, worst, until,
                  motion_residual(a));
    measure_below(worst, 1e-11, "difference", what);
    measure_below(motion_residual(a), 1e-12, "rows", what);
    motion_close(a);
    motion_close(b);
}

/* Two spheres touch where the distance of centres is R + r, along the line of centres. */
static void ball_on_ball(void **state)
{
    (void)state;
    motion a = motion_file("ball-on-ball", NULL);
    motion b = motion_text(
        "param R = 0.3, r = 0.1, M = 3, m = 0.5\n"
        "body A { mass M; inertia diag(2/5*M*R^2, 2/5*M*R^2, 2/5*M*R^2) }\n"
        "body B { mass m; inertia diag(2/5*m*r^2, 2/5*m*r^2, 2/5*m*r^2) }\n"
        "let n = (B.position - A.position)/(R + r)\n"
        "constraint low: A.position[3] = R\n"
        "constraint roll: A.position' + cross(A.omega.space, [0, 0, -R]) = 0\n"
        "constraint high: dot(n, n) = 1\n"
        "constraint top: B.position' - cross(B.omega.space, r*n) = A.position' + "
        "cross(A.omega.space, R*n)\n"
        "let k = [sin(0.2), 0, cos(0.2)]\n"
        "start { A.position = [0, 0, R]; B.position = [0, 0, R] + (R + r)*k\n"
        "A.quat = [1, 0, 0, 0]; B.quat = [1, 0, 0, 0]; A.omega = [0, 0, 2]\n"
        "B.omega = [0.5, 1, 4] }\n",
        NULL);
    compare(&a, &b, "A, B, A.omega, B.omega, energy", 1, "ball on a ball");
}

static void snakeboard(void **state)
{
    (void)state;
    motion a = motion_file("snakeboard-parts", NULL), b = motion_file("snakeboard", NULL);
    double until = 3 * 2 * M_PI / 4; /* three of ten periods */
    compare(&a, &b, "x, y, theta, energy", until, "snakeboard from parts");
}

static void robot(void **state)
{
    (void)state;
    motion a = motion_file("spherical-robot", "tilt=0");
    motion b = motion_text(
        "param R = 0.15, M = 1, m = 2, l = 0.06, g = 9.81, rate = 4\n"
        "coordinate a\nlet b = a - rate*(t - sin(2*t)/2), c = [R*a - l*sin(b), R - l*cos(b)]\n"
        "lagrangian 5/6*M*R^2*a'^2 + m/2*dot(c', c') + 2e-4*(b')^2 - m*g*c[2]\n"
        "start { a = 0; a' = 0 }\nobserve path.x = R*a, path.y = 0*a, bob.x = c[1], bob.z = "
        "c[2]\n",
        NULL);
    motion_to(&a, 4);
    assert_true(motion_get(&a, "path.x") > 1);
    motion_close(&a);
    a = motion_file("spherical-robot", "tilt=0");
    compare(&a, &b, "path.x, path.y, bob.x, bob.z", 5, "spherical robot, straight");
}

static void chain(void **state)
{
    (void)state;
    char text[4096];
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "param m = 0.2, l = 0.25, g = 9.81, J = m*l^2/12\ncoordinate q1, q2, q3, q4, q5, q6\n"
        "let arm(q) = l*[sin(q), -cos(q)], e0 = [0, 0], e1 = arm(q1), e2 = e1 + arm(q2),\n"
        "e3 = e2 + arm(q3), e4 = e3 + arm(q4), e5 = e4 + arm(q5), e6 = e5 + arm(q6)\n"
        "let share(p, q) = m/2*dot((p + arm(q)/2)', (p + arm(q)/2)') + J/2*(q')^2 -\n"
        "                  m*g*(p + arm(q)/2)[2]\n"
        "lagrangian share(e0, q1) + share(e1, q2) + share(e2, q3) + share(e3, q4) +\n"
        "           share(e4, q5) + share(e5, q6)\n"
        "observe end.x = e6[1], end.z = e6[2]\nstart {");
    for (int i = 1; i <= 6; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " q%d = 1.2; q%d' = 0;", i, i);
    snprintf(text + n, sizeof text - n, " }\n");
    motion a = motion_file("chain-of-rods", NULL), b = motion_text(text, NULL);
    compare(&a, &b, "end.x, end.z, energy", 1, "chain of six rods");
}

/* ---- joints against closed forms --------------------------------------------------------- */

static double at(motion *m, double t, const char *name)
{
    assert_int_equal(motion_to(m, t), NS_OK);
    return motion_get(m, name);
}

/* Hooke's joint: shafts at the angle B; the second turns at the rate of the first times
 * cos B/(1 - sin^2 B cos^2 q), with q the angle of the first's pin from the shafts' plane. */
static void hooke(void **state)
{
    (void)state;
    motion m = motion_text(
        "param B = 0.5\nlet u = [cos(B), sin(B), 0]\n"
        "body S { mass 1; inertia diag(1, 1, 1) }\nbody T { mass 1; inertia diag(1, 1, 1) }\n"
        "constraint first: revolute(S, [0, 0, 0], S.e1, [1, 0, 0])\n"
        "constraint second: revolute(T, [0, 0, 0], T.e1, u)\n"
        "constraint cross: universal(S, T, S.e2, T.e3)\n"
        "constraint drive: angle([0, 1, 0], S.e2, [1, 0, 0], 3*t)\n"
        "start { S.quat = [1, 0, 0, 0]; T.quat = [cos(B/2), 0, 0, sin(B/2)] }\n",
        NULL);
    for (double t = 0; t < 3; t += 0.37) {
        double rate = at(&m, t, "T.omega.x"), q = 3 * t, s = sin(0.5) * cos(q);
        measure_close(rate, 3 * cos(0.5) / (1 - s * s), 1e-12, "rate of the second shaft");
    }
    measure_below(motion_residual(&m), 1e-12, "rows", "Hooke's joint");
    motion_close(&m);
}

/* A slide down a slope, a sliding and turning sleeve, a driven point, gears. */
static void joints(void **state)
{
    (void)state;
    motion m = motion_text(
        "param a = 0.3\nlet u = [cos(a), 0, -sin(a)], v = [0, 1, 0]\n"
        "body S { mass 2; com [0.1, 0.2, 0.3]; inertia diag(1, 2, 2.5) }\n"
        "constraint rail: prismatic(S, [0, 0, 0], S.e1, u, S.e2, v)\n"
        "start { S.position = [0, 0, 0]; S.quat = [cos(a/2), 0, sin(a/2), 0]\n"
        "        S.position' = [0, 0, 0] }\n",
        NULL);
    double s = 0.5 * 9.81 * sin(0.3) * 4;
    measure_close(at(&m, 2, "S.x"), s * cos(0.3), 1e-13, "slide");
    measure_below(fabs(motion_get(&m, "S.omega.x")), 1e-13, "turning of a slide", "slope");
    motion_close(&m);

    m = motion_text("body S { mass 2; inertia diag(1, 2, 2.5) }\n"
                    "constraint rail: cylindrical(S, [0, 0, 0], S.e3, [0, 0, 1])\n"
                    "start { S.position = [0, 0, 0]; S.quat = [1, 0, 0, 0]\n"
                    "        S.omega = [0, 0, 3]; S.position' = [0, 0, 0] }\n",
                    NULL);
    measure_close(at(&m, 1, "S.z"), -0.5 * 9.81, 1e-13, "sleeve");
    measure_close(motion_get(&m, "S.omega.z"), 3, 1e-13, "sleeve's turning");
    motion_close(&m);

    m = motion_text("particle P { mass 2 }\n"
                    "constraint go: motion(P, [sin(2*t), 0, cos(t)])\n"
                    "start { P ~ [0, 0, 1] }\n",
                    NULL);
    measure_close(at(&m, 1, "P.x"), sin(2), 1e-14, "driven point");
    measure_close(motion_get(&m, "P.reaction.z"), 2 * (9.81 - cos(1)), 1e-12, "driving force");
    motion_close(&m);

    /* sun of 30 teeth at rest, planets of 15 on a carrier that turns at 2 */
    m = motion_text("body C { mass 1; inertia diag(1, 1, 1); pin = [1, 0, 0] }\n"
                    "body Sun { mass 1; inertia diag(1, 1, 1) }\n"
                    "body P { mass 1; inertia diag(1, 1, 1) }\n"
                    "constraint c: revolute(C, [0, 0, 0], C.e3, [0, 0, 1])\n"
                    "constraint s: revolute(Sun, [0, 0, 0], Sun.e3, [0, 0, 1])\n"
                    "constraint p: revolute(P, C.pin, P.e3, C.e3)\n"
                    "constraint held: angle([1, 0, 0], Sun.e1, [0, 0, 1], 0)\n"
                    "constraint drive: angle([1, 0, 0], C.e1, [0, 0, 1], 2*t)\n"
                    "constraint teeth: gear(P, Sun, P.e3, Sun.e3, 30/15, C)\n"
                    "start { P.position ~ [1, 0, 0] }\n",
                    NULL);
    measure_close(at(&m, 1, "P.omega.z"), 2 * (1 + 2.0), 1e-12, "planet");
    motion_close(&m);

    m = motion_text(
        "body A { mass 1; inertia diag(1, 1, 3) }\nbody B { mass 1; inertia diag(1, 1, 2) }\n"
        "constraint a: revolute(A, [0, 0, 0], A.e3, [0, 0, 1])\n"
        "constraint b: revolute(B, [1, 0, 0], B.e3, [0, 0, 1])\n"
        "constraint g: gear(A, B, A.e3, B.e3, 0.5)\n"
        "start { B.position ~ [1, 0, 0]; A.omega = [0, 0, 1] }\n",
        NULL);
    measure_close(at(&m, 1, "B.omega.z"), -2, 1e-13, "gear");
    motion_close(&m);
}

/* A torque on a free body, a force at its rim, a damper, gravity along x. */
static void loads(void **state)
{
    (void)state;
    motion m = motion_text("gravity [2, 0, 0]\n"
                           "body S { mass 4; inertia diag(1, 1, 3); rim = [0.5, 0, 0] }\n"
                           "force S.torque = [0, 0, 6], S = [0, 8, 0]\n",
                           NULL);
    measure_close(at(&m, 0.7, "S.omega.z"), 2 * 0.7, 1e-14, "torque");
    measure_close(motion_get(&m, "S.x"), 0.7 * 0.7, 1e-14, "gravity along x");
    measure_close(motion_get(&m, "S.y"), 0.7 * 0.7, 1e-14, "force");
    motion_close(&m);
    m = motion_text(
        "gravity [0, 0, 0]\nbody S { mass 4; inertia diag(1, 1, 3); rim = [0.5, 0, 0] }\n"
        "constraint pin: revolute(S, [0, 0, 0], S.e3, [0, 0, 1])\n"
        "force S.rim = 6*S.e2\n",
        NULL);
    measure_close(at(&m, 0.7, "S.omega.z"), 0.7, 1e-13, "force at the rim");
    motion_close(&m);
    m = motion_text("gravity [0, 0, 0]\nparticle P { mass 2 }\n"
                    "damper { from P; to [0, 0, 0]; damping 3 }\n"
                    "start { P = [1, 0, 0]; P' = [1, 0, 0] }\n",
                    NULL);
    measure_close(at(&m, 0.7, "P.x'"), exp(-1.5 * 0.7), 1e-13, "damper");
    motion_close(&m);
}

/* ---- what is refused --------------------------------------------------------------------- */

#define BALL "body S sphere(0.1) { mass 1; uniform }\n"
#define FLOOR "ground G plane\n"
#define POINT "particle P { mass 1 }\n"

static const struct refusal {
    const char *text, *message;
} refusals[] = {
    {POINT "particle F { mass 0 }\n", "2:1: error: the accelerations of F.x, F.y, F.z"},
    {POINT "constraint c: 1 = 1\n",
     "2:12: error: the constraint `c` mentions no coordinate and no velocity"},
    {POINT "constraint c: rod([0, 0, 0], [1, 0, 0], 1)\n",
     "2:12: error: constraint `c.1` contains no coordinate"},
    {BALL "start { S.quat = [1, 1, 0, 0] }\n",
     "2:18: error: the start does not satisfy `S.unit`: it is off by 0.5"},
    {POINT "constraint a: rod(P, [0, 0, 0], 1)\nconstraint b: rod(P, [0, 0, 0], 2)\n"
           "start { P ~ [1, 0, 0] }\n",
     "contradict"},
    {BALL "force S.omega = [0, 0, 1]\n", "2:7: error: `S.omega` is not a point"},
    {BALL "damper { from S.position; to [0, 0, 0] }\n", "2:1: error: a damper needs"},
    {BALL "ground G plane { mu 0.3 }\nconstraint c: rolling(S)\n",
     "2:18: error: `mu` is not a property of `ground`"},
    {BALL "ground G hole(3)\n", "2:10: error: there is no ground `hole`"},
    {"body S sphere(-0.1) { mass 1; inertia diag(1, 1, 1) }\n",
     "1:8: error: size 1 of sphere(r)"},
    {"body S sphere([1, 2]) { mass 1; inertia diag(1, 1, 1) }\n", "expected a number"},
    {BALL "gravity 9.81\n", "2:9: error: gravity: expected a vector of 3, found a number"},
    {FLOOR BALL "constraint c: rolling(T, G)\n",
     "3:23: error: rolling: expected the name of a body"},
    {FLOOR BALL "constraint c: rolling(S, H)\n",
     "3:26: error: rolling: expected the name of a body, ground or surface, found `H`"},
    {FLOOR BALL "constraint c: rolling(S, S)\n", "3:15: error: a body cannot touch itself"},
    {FLOOR BALL POINT "constraint c: rolling(P, G)\n", "4:23: error: `P` is a particle"},
    {FLOOR "body S { mass 1; inertia diag(1, 1, 1) }\nconstraint c: rolling(S, G)\n",
     "3:23: error: body `S` has no shape to touch with"},
    {FLOOR "ground H plane\n" BALL "constraint c: rolling(S)\n",
     "4:15: error: there are several grounds"},
    {FLOOR BALL "constraint c: rolling(S, G, S)\n",
     "3:29: error: rolling: expected a particle"},
    {BALL "surface G(x, y) = x\nconstraint c: rolling(S, G)\n",
     "3:26: error: `G` is not a surface"},
    {BALL "constraint c: wheel(Q, 1)\n",
     "2:21: error: wheel: expected the name of a body, found `Q`"},
    {BALL "constraint c: wheel(S, S)\n", "2:24: error: wheel: expected a number, found `S`"},
    {BALL "constraint c: rod(S, tip, 1)\n",
     "2:22: error: rod: expected a point or direction, found `tip`"},
    {BALL "constraint c: rod(S, [0, 0, 0], 0)\n", "2:33: error: a rod of no length"},
    {BALL "constraint c: rod(S, [0, 0], 1)\n", "expected a vector of 3, found a vector of 2"},
    {BALL "constraint c: rod(S, [0, 0, 0])\n", "2:15: error: expected rod(A, B, length)"},
    {BALL "constraint c: hinge(S)\n",
     "there is no constraint `hinge`; there are: rod(A, B, length)"},
    {BALL "constraint c: S = 0\n", "2:15: error: `S` has no value of its own"},
    {"body S ball(0.1) { mass 1; uniform }\nconstraint c: at(S, [0, 0, 0])\n",
     "1:8: error: there is no body `ball`"},
    {"body S { mass 1; uniform }\n", "1:18: error: no closed form for a uniform"},
    {"body S sphere(1) { mass 1; uniform; com [0, 0, 1] }\nconstraint c: at(S, [0, 0, 0])\n",
     "1:37: error: a uniform body has its centre of mass"},
    {"param x = 1\nground G height(x^2)\n" BALL "constraint c: rolling(S, G)\n",
     "2:10: error: in a shape `x` is its own coordinate"},
    {"ground G height(x^2)\n" BALL
     "constraint c: rolling(S, G)\nconstraint d: S.position[1] = x\n",
     "4:12: error: `x` has a meaning only in the shape"},
    {FLOOR BALL "constraint c: rolling(S, G)\nstart { c.contact = [0, 0, 0]; S.position = [0, "
                "0, -0.1] }\n",
     "touches from the wrong side"},
    {"ground G sphere(0.1) { side inside }\n" BALL "constraint c: rolling(S, G)\n", "error"},
};

static void refuses(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        ns_model *model = ns_model_load_text("bad", r->text, strlen(r->text), NULL, 0,
                                             NS_MODEL_READY);
        assert_non_null(model);
        if (model->status == NS_OK || !strstr(model->messages, r->message)) {
            print_message("%sstatus %d, no `%s` in: %s\n", r->text, (int)model->status,
                          r->message, model->messages);
            wrong++;
        }
        ns_model_free(model);
    }
    assert_int_equal(wrong, 0);
}

/* The model's own coordinates: the same pendulum by both formulations, from the start given. */
static void coordinates(void **state)
{
    (void)state;
    static const char text[] = "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\n"
                               "constraint rod: x^2 + y^2 = 1\n"
                               "start { x = 0.6; y = -0.8; x' = 0.8; y' = 0.6 }\n";
    char other[512];
    snprintf(other, sizeof other, "formulation constrained\n%s", text);
    motion a = motion_text(text, NULL), b = motion_text(other, NULL);
    assert_int_equal(motion_to(&a, 5), NS_OK);
    assert_int_equal(motion_to(&b, 5), NS_OK);
    assert_true(fabs(motion_get(&a, "x") - motion_get(&b, "x")) < 1e-12);
    assert_true(fabs(motion_get(&a, "y'") - motion_get(&b, "y'")) < 1e-12);
    motion_close(&a);
    motion_close(&b);
}

/* A part that touches ends: the run stops when it does in formulation `rolling`. */
static void ends_of_parts(void **state)
{
    (void)state;
    static const struct {
        const char *body, *ground, *start, *position, *event;
    } cases[] = {
        {"cylinder(0.1, 0.3) { mass 1; uniform }", "plane", "tilt 40 deg; omega [0.3, 0.2, 1]",
         "[0, -0.05, 0.2]", "falls"},
        {"cylinder(0.1, 0.3) { mass 1; uniform; contact top }", "plane",
         "tilt 140 deg; omega [-0.3, 0.2, -1]", "[0, -0.05, 0.2]", "falls"},
        {"cone(0.1, 0.3) { mass 1; uniform }", "plane", "tilt 60 deg; omega [1, 0.2, 0.3]",
         "[0, -0.05, 0.1]", "falls"},
        {"hemisphere(0.1) { mass 1; uniform }", "height(0.5*x^2 + 0.2*y^2)",
         "tilt 120 deg; omega [-8, 0.2, 1]", "[0, 0, 0.1]", "rim"},
        {"hemisphere(0.1) { mass 1; uniform; contact rim }", "plane",
         "tilt 60 deg; omega [5, 0.2, 1]", "[0, -0.05, 0.1]", "dome"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[500], other[600], name[20], guess[200];
        snprintf(text, sizeof text, "ground %s\nbody %s\nstart { %s }\n", cases[i].ground,
                 cases[i].body, cases[i].start);
        motion a = motion_text(text, NULL);
        double q[4], w[3];
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "quat.%c", "wxyz"[k]);
            q[k] = motion_get(&a, name);
        }
        motion_vector(&a, "omega", w);
        snprintf(guess, sizeof guess,
                 "S.quat = [%.17g, %.17g, %.17g, %.17g]; S.omega = [%.17g, %.17g, %.17g]", q[0],
                 q[1], q[2], q[3], w[0], w[1], w[2]);
        snprintf(other, sizeof other,
                 "ground G %s\nbody S %s\nconstraint c: rolling(S, G)\n"
                 "start { %s; S.position ~ %s; c.contact = [0, 0, 0] }\n",
                 cases[i].ground, cases[i].body, guess, cases[i].position);
        motion b = motion_text(other, NULL);
        assert_int_equal(motion_to(&a, 3), NS_STOP_EVENT);
        assert_int_equal(motion_to(&b, 3), NS_STOP_EVENT);
        snprintf(name, sizeof name, "c.%s", cases[i].event);
        const double first = motion_event(&a, cases[i].event, 0),
                     second = motion_event(&b, name, 0);
        if (!(first > 1e-3 && fabs(first - second) < 1e-12))
            fail_msg("%s: %s at %.15g s and %.15g s", cases[i].body, cases[i].event, first,
                     second);
        motion_close(&a);
        motion_close(&b);
    }
}

int main(void)
{
    enum { PAIRS = sizeof pairs / sizeof *pairs };
    struct CMUnitTest tests[PAIRS];
    for (size_t i = 0; i < PAIRS; i++)
        tests[i] = (struct CMUnitTest){.name = pairs[i].name,
                                       .test_func = contact,
                                       .initial_state = (void *)(uintptr_t)&pairs[i]};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(ends_of_parts), cmocka_unit_test(on_held_body),
        cmocka_unit_test(guesses),       cmocka_unit_test(particles),
        cmocka_unit_test(ball_on_ball),  cmocka_unit_test(snakeboard),
        cmocka_unit_test(robot),         cmocka_unit_test(chain),
        cmocka_unit_test(hooke),         cmocka_unit_test(joints),
        cmocka_unit_test(refuses),       cmocka_unit_test(loads),
        cmocka_unit_test(coordinates),
    };
    int failed = _cmocka_run_group_tests("contacts", tests, PAIRS, NULL, NULL);
    return failed + cmocka_run_group_tests_name("machines", others, NULL, NULL);
}
