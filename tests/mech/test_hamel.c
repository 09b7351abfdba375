/* Formulation `hamel`: the same motion and the same multipliers as `lagrange`, Euler's
 * equations, the sleigh of the reference, its brackets and conserved momenta, and what is
 * refused. */
#include "expr/normal/normal.h"
#include "support/motion.h"
#include "support/reference.h"
#include "support/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

#define BODY                                                                                   \
    "frame { e1 = [1, 0, 0]; e2 = [0, cos(theta), sin(theta)]\n"                               \
    "  e3 = [0, -sin(theta), cos(theta)] }\n"
#define RUN "run { until 20 }\n"
#define TWISTED                                                                                \
    "coordinate x, y, z\nlagrangian (x'^2 + 2*y'^2 + z'^2)/2 - 0.3*y - 0.1*x*z\n"              \
    "constraint a: cos(z)*x' + sin(z)*y' = 0\n"                                                \
    "constraint b: cos(x)*z' = sin(x)*(x' - y')/2\n"                                           \
    "start { x = 0.3; y = 0; z = 0.2; y' = 1 }\nrun { until 20 }\n"

typedef struct pair {
    const char *name, *text, *frame, *values;
    double until;
} pair;

static const pair pairs[] = {
    {"sleigh", SLEIGH RUN, BODY, "theta, x, y, theta', x', y', lambda.blade, energy", 10},
    {"sleigh, frame made", SLEIGH RUN, "formulation hamel\n",
     "theta, x, y, theta', x', y', lambda.blade, energy", 10},
    {"sleigh in space, with multipliers", SLEIGH RUN,
     "frame { u1 = [1, -y, x]; u2 = [0, 1, 0]; u3 = [0, 0, 1] }\nsolve multipliers\n",
     "theta, x, y, theta', x', y', lambda.blade, energy", 10},
    {"sleigh in its body frame, with multipliers", SLEIGH RUN, BODY "solve multipliers\n",
     "theta, x, y, theta', x', y', lambda.blade, energy", 10},
    {"sleigh with oscillator",
     "param M = 1, m = 1, J = 1, k = 1\n"
     "coordinate theta, x, y, r\n"
     "let c = [x + r*cos(theta), y + r*sin(theta)]\n"
     "lagrangian M/2*(x'^2 + y'^2) + J/2*theta'^2 + m/2*dot(c', c') - k/2*r^2\n"
     "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
     "start { theta = 0; x = 0; y = 0; r = 0; theta' = 0.2; x' = -0.35; y' = 0; r' = 1 }\n"
     "run { until 20 }\n",
     "frame { e1 = [1, 0, 0, 0]; e2 = [0, cos(theta), sin(theta), 0]; e3 = [0, 0, 0, 1]\n"
     "  e4 = [0, -sin(theta), cos(theta), 0] }\n",
     "theta, x, y, r, theta', x', y', r', lambda.blade, energy", 10},
    {"vertical disk",
     "param m = 1, R = 0.5, I = m*R^2/2, J = m*R^2/4\n"
     "coordinate x, y, theta, phi\n"
     "lagrangian m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2\n"
     "constraint rx: x' = R*theta'*cos(phi)\n"
     "constraint ry: y' = R*theta'*sin(phi)\n"
     "start { x = 0; y = 0; theta = 0; phi = 0.4; theta' = 3; phi' = 0.7 }\n"
     "run { until 20 }\n",
     "formulation hamel\n", "x, y, theta, phi, x', theta', lambda.rx, lambda.ry", 10},
    {"falling disk, frame made", FALLING RUN, "formulation hamel\n",
     "theta, psi, phi, x, y, theta', psi', phi', lambda.rx, lambda.ry, energy", 10},
    {"falling disk, frame of section 6.5", FALLING RUN,
     "frame { u1 = [1, 0, 0, 0, 0]\n"
     "  u2 = [0, -tan(theta), 1/cos(theta), R*tan(theta)*cos(phi), R*tan(theta)*sin(phi)]\n"
     "  u3 = [0, 1, 0, -R*cos(phi), -R*sin(phi)]\n"
     "  u4 = [0, 0, 0, cos(phi), sin(phi)]; u5 = [0, 0, 0, -sin(phi), cos(phi)] }\n",
     "theta, psi, phi, x, y, theta', psi', phi', lambda.rx, lambda.ry, energy", 10},
    {"nonholonomic particle",
     "coordinate x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint twist: z' = y*x'\n"
     "start { x = 0; y = -2; z = 0; x' = 0.8; y' = 0.5 }\nrun { until 20 }\n",
     "frame { a = [1, 0, y]; b = [0, 1, 0]; c = [0, 0, 1] }\n",
     "x, y, z, x', y', z', lambda.twist", 10},
    {"roller racer, free handlebar", RACER RUN,
     "frame { e1 = [cos(theta), sin(theta), sin(phi)/D, 0]; e2 = [0, 0, -d2/D, 1]\n"
     "  e3 = [-sin(theta), cos(theta), 0, 0]; e4 = [0, 0, 1, 0] }\n",
     "x, y, theta, phi, x', y', theta', phi', lambda.seat, lambda.handlebar, energy", 10},
    {"roller racer, frame made", RACER RUN, "formulation hamel\n",
     "x, y, theta, phi, x', y', theta', phi', lambda.seat, lambda.handlebar, energy", 10},
    {"one direction left, frame made", TWISTED, "formulation hamel\n",
     "x, y, z, x', y', z', lambda.a, lambda.b, energy", 10},
    {"falling disk in a frame that is not its own, with multipliers", FALLING RUN,
     "frame { u1 = [1, 0.2*psi, 0, 0, 0]; u2 = [0, 1, theta, 0, 1]; u3 = [0, 0, 1, 0, 0]\n"
     "  u4 = [0, 0, 0, 1, 0.1*x]; u5 = [0.1, 0, 0, 0, 1] }\nsolve multipliers\n",
     "theta, psi, phi, x, y, theta', psi', phi', lambda.rx, lambda.ry, energy", 10},
    {"affine: a blade on a table that turns",
     "param W = 0.7\ncoordinate theta, x, y\n"
     "lagrangian ((x' - sin(theta)*theta')^2 + (y' + cos(theta)*theta')^2 + theta'^2)/2\n"
     "constraint blade: (y' - W*x)*cos(theta) - (x' + W*y)*sin(theta) = 0\n"
     "start { theta = 0.3; x = 0.2; y = 0.1; theta' = 1; x' = 0.5 }\nrun { until 10 }\n",
     "frame { a = [1, 0, 0.1*x]; b = [0, 1, 0]; c = [0.2, 0, 1] }\nsolve multipliers\n",
     "theta, x, y, theta', x', y', lambda.blade, energy, energy.moving", 10},
    {"rheonomic, frame given with time",
     "coordinate x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x^2/2 - x*z\n"
     "constraint c: y'*cos(2*t) - x'*sin(2*t) = 0.3*y + sin(t)\n"
     "start { x = 1; y = 0.5; z = 0; x' = 0.2; z' = 1 }\nrun { until 8 }\n",
     "frame { a = [cos(2*t), sin(2*t), 0]; b = [0, 0, 1 + t/9]; c = [-sin(2*t), cos(2*t), x] "
     "}\n",
     "x, y, z, x', y', z', lambda.c, energy", 8},
    {"spherical pendulum with drag",
     "param g = 9.81, c = 0.1\ncoordinate theta, phi\n"
     "lagrangian (theta'^2 + sin(theta)^2*phi'^2)/2 + g*cos(theta) + 0.1*sin(t)*theta'\n"
     "force theta = -c*theta', phi = -c*sin(theta)^2*phi'\n"
     "start { theta = 1; phi = 0; theta' = 0.3; phi' = 2 }\nrun { until 20 }\n",
     "frame { a = [1, 0.3*theta]; b = [0.4*sin(phi), 1/sin(theta)] }\n",
     "theta, phi, theta', phi'", 10},
};

static void same_motion(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[4000];
        snprintf(text, sizeof text, "%s%s", pairs[i].frame, pairs[i].text);
        motion a = motion_text(pairs[i].text, NULL), b = motion_text(text, NULL);
        assert_string_equal(a.model->system->formulation->name, "lagrange");
        assert_string_equal(b.model->system->formulation->name, "hamel");
        double worst = 0;
        for (int k = 0; k <= 20; k++) {
            double t = pairs[i].until * k / 20;
            assert_int_equal(motion_to(&a, t), NS_OK);
            assert_int_equal(motion_to(&b, t), NS_OK);
            worst = fmax(worst, motion_difference(&b, &a, pairs[i].values));
        }
        print_message("%s: %.1e\n", pairs[i].name, worst);
        if (!(worst < 1e-11))
            fail_msg("%s: hamel and lagrange differ by %.2e", pairs[i].name, worst);
        motion_close(&a);
        motion_close(&b);
    }
}

/* The sleigh of the gallery is one and the same in all its frames and on se(2). */
static void gallery_sleighs(void **state)
{
    (void)state;
    static const char *const names[] = {"sleigh-frame", "sleigh-conserved-frame",
                                        "sleigh-space", "sleigh-se2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        motion a = motion_file("chaplygin-sleigh", NULL), b = motion_file(names[i], NULL);
        double worst = 0;
        for (int k = 1; k <= 10; k++) {
            assert_int_equal(motion_to(&a, k), NS_OK);
            assert_int_equal(motion_to(&b, k), NS_OK);
            worst = fmax(worst, motion_difference(&b, &a, "energy, lambda.blade"));
            if (i < 3) {
                worst = fmax(worst, motion_difference(&b, &a, "theta, x, y, theta', x', y'"));
            } else {
                double theta = motion_get(&a, "theta");
                worst = fmax(worst, fabs(motion_get(&b, "g.13") - motion_get(&a, "x")));
                worst = fmax(worst, fabs(motion_get(&b, "g.23") - motion_get(&a, "y")));
                worst = fmax(worst, fabs(motion_get(&b, "g.11") - cos(theta)));
                worst = fmax(worst, fabs(motion_get(&b, "g.21") - sin(theta)));
                worst = fmax(worst, fabs(motion_get(&b, "v1") - motion_get(&a, "theta'")));
            }
        }
        print_message("%s: %.1e\n", names[i], worst);
        assert_true(worst < 1e-11);
        motion_close(&a);
        motion_close(&b);
    }
}

/* Euler angles with the body's axes as frame: v is the angular velocity in the body. */
static void euler_top(void **state)
{
    (void)state;
    static const char top[] =
        "param A = 1, B = 2, C = 3\ncoordinate phi, theta, psi\n"
        "let w1 = phi'*sin(theta)*sin(psi) + theta'*cos(psi),\n"
        "  w2 = phi'*sin(theta)*cos(psi) - theta'*sin(psi), w3 = phi'*cos(theta) + psi'\n"
        "lagrangian (A*w1^2 + B*w2^2 + C*w3^2)/2\n"
        "frame { e1 = [sin(psi)/sin(theta), cos(psi), -cos(theta)*sin(psi)/sin(theta)]\n"
        "  e2 = [cos(psi)/sin(theta), -sin(psi), -cos(theta)*cos(psi)/sin(theta)]\n"
        "  e3 = [0, 0, 1] }\n"
        "start { phi = 0; theta = 1; psi = 0.2; phi' = 0.4; theta' = 0.3; psi' = 1 }\n"
        "run { until 20 }\n";
    motion a = motion_text(top, NULL);
    motion b = motion_text("param A = 1, B = 2, C = 3\n"
                           "state v1' = (B - C)/A*v2*v3, v2' = (C - A)/B*v3*v1,\n"
                           "  v3' = (A - B)/C*v1*v2\n"
                           "start { v1 = 0.4*sin(1)*sin(0.2) + 0.3*cos(0.2)\n"
                           "  v2 = 0.4*sin(1)*cos(0.2) - 0.3*sin(0.2); v3 = 0.4*cos(1) + 1 }\n"
                           "run { until 20 }\n",
                           NULL);
    for (int k = 0; k <= 20; k++) {
        assert_int_equal(motion_to(&a, k / 2.), NS_OK);
        assert_int_equal(motion_to(&b, k / 2.), NS_OK);
        assert_true(motion_difference(&a, &b, "v1, v2, v3") < 1e-11);
    }
    motion_close(&a);
    motion_close(&b);
}

static void sleigh_reference(void **state)
{
    (void)state;
    motion m = motion_text(BODY SLEIGH RUN, NULL);
    reference r = reference_open("h1_sleigh");
    for (size_t i = 0; i < r.samples; i++) {
        double contact[2];
        if (motion_to(&m, reference_number(&r, i, "t")) != NS_OK)
            fail_msg("the run ends early");
        reference_get(&r, i, "contact", contact, 2);
        assert_true(fabs(motion_get(&m, "x") - contact[0]) < 1e-13);
        assert_true(fabs(motion_get(&m, "y") - contact[1]) < 1e-13);
        assert_true(fabs(motion_get(&m, "theta") - reference_number(&r, i, "theta")) < 1e-13);
    }
    reference_close(&r);
    motion_close(&m);
}

/* Frame (6.2)-(6.4): its first two momenta are constant. */
static void sleigh_conserved(void **state)
{
    (void)state;
    motion m = motion_text(SLEIGH RUN "param K = sqrt((J + m*a^2)/m), k = a/K\n"
                                      "let C = cos(k*theta), S = sin(k*theta)\n"
                                      "frame { u1 = [C, K*S*cos(theta), K*S*sin(theta)]\n"
                                      "  u2 = [-S/K, C*cos(theta), C*sin(theta)]\n"
                                      "  u3 = [0, -sin(theta), cos(theta)] }\n",
                           NULL);
    double p1 = motion_get(&m, "p1"), p2 = motion_get(&m, "p2");
    for (int k = 1; k <= 40; k++) {
        assert_int_equal(motion_to(&m, k / 4.), NS_OK);
        assert_true(fabs(motion_get(&m, "p1") - p1) < 1e-13);
        assert_true(fabs(motion_get(&m, "p2") - p2) < 1e-13);
    }
    motion_close(&m);
}

/* Body frame: [e1, e2] = e3, [e1, e3] = -e2, no other. */
static void sleigh_brackets(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(BODY SLEIGH RUN, NULL);
    const ns_system *s = model->system;
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->equations.n; i++) {
        const ns_equation_line *line = &s->equations.at[i];
        if (line->name[0] != 'c')
            continue;
        double expected = strcmp(line->name, "c[1,2,3]") == 0   ? 1
                          : strcmp(line->name, "c[1,3,2]") == 0 ? -1
                                                                : (double)NAN;
        for (int k = 0; k < 20; k++) {
            double x[5] = {sin(1. + k) * 3, cos(2. * k), sin(3. * k), 1, 2}, value;
            ns_system_eval(s, &line->value, 1, 0, model->p, x, &value);
            assert_true(fabs(value - expected) < 1e-14);
        }
        found++;
    }
    assert_int_equal(found, 2);
    ns_model_free(model);
}

/* Frame (6.2)-(6.4): the coefficients are printed in closed form and are those of section
 * 6.2. */
static void conserved_brackets(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("sleigh-conserved-frame", NULL);
    const ns_system *s = model->system;
    const double m = 2, J = 0.5, a = 0.4, k = sqrt(m * a * a / (J + m * a * a));
    uint32_t found = 0, constant = 0;
    for (uint32_t i = 0; i < s->equations.n; i++) {
        const ns_equation_line *line = &s->equations.at[i];
        bool bracket = strncmp(line->name, "c[", 2) == 0, used[4000] = {false};
        if (strcmp(line->name, "p1'") == 0 || strcmp(line->name, "p2'") == 0) {
            assert_true(ns_graph_is_zero(s->graph, line->value)); /* conserved */
            constant++;
        }
        if (!bracket)
            continue;
        found++;
        assert_true(ns_graph_size(s->graph) < 4000);
        ns_graph_mark(s->graph, &line->value, 1, used);
        for (ns_ex e = 1; e < ns_graph_size(s->graph); e++)
            assert_true(!used[e] || ns_graph_op(s->graph, e) != NS_OP_PICK);
        assert_true(ns_normal_length(s->graph, line->value) < 20);
        for (int n = 0; n < 20; n++) {
            double x[5] = {sin(1. + n) * 3, cos(2. * n), sin(3. * n), 1, 2}, value, th = x[0];
            double C = cos(k * th), S = sin(k * th);
            ns_system_eval(s, &line->value, 1, 0, model->p, x, &value);
            double right = strcmp(line->name, "c[1,2,1]") == 0   ? -k * k / a * C
                           : strcmp(line->name, "c[1,2,2]") == 0 ? k * S
                           : strcmp(line->name, "c[1,2,3]") == 0 ? 1
                           : strcmp(line->name, "c[1,3,1]") == 0 ? -k / a * C * S
                           : strcmp(line->name, "c[1,3,2]") == 0 ? -C * C
                           : strcmp(line->name, "c[2,3,1]") == 0 ? k * k / (a * a) * S * S
                           : strcmp(line->name, "c[2,3,2]") == 0 ? k / a * C * S
                                                                 : (double)NAN;
            assert_true(fabs(value - right) < 1e-14);
        }
    }
    assert_int_equal(found, 7);
    assert_int_equal(constant, 2);
    ns_model_free(model);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nframe { a = [1, 0] }\n",
         "the frame needs 2 fields, it has 1"},
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nframe { a = [1, 0]; b = [0, 1, 0] }\n",
         "field `b` needs 2 components"},
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nframe { a = [1, y']; b = [0, 1] }\n",
         "field `a` may depend on coordinates, time and parameters only"},
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nconstraint c: x' = y*y'\n"
         "frame { a = [1, 0]; b = [0, 1] }\n",
         "field `a` does not satisfy constraint `c`"},
        {"formulation hamel\ncoordinate x, y\nlagrangian x'^2 + y'^2\nconstraint c: x = y\n",
         "`c` is on positions"},
        {"formulation hamel\ncoordinate x, y\nlagrangian x'^2 + y'^2\n"
         "constraint c: x' = y'^2\n",
         "linear in the velocities, with further terms of position and time"},
        {"formulation hamel\ncoordinate x, y, z\nlagrangian x'^2 + y'^2 + z'^2\n"
         "constraint c: x' = y'\nconstraint d: 2*x' = 2*y'\n",
         "depend on each other"},
        {"coordinate x, y, z\nlagrangian x'^2 + y'^2 + z'^2\n"
         "constraint c: x' = y'\nconstraint d: 2*x' = 2*y'\n"
         "frame { a = [1, 1, 0]; b = [0, 0, 1]; e = [1, 0, 0] }\n",
         "depend on each other"},
        {"formulation hamel\ncoordinate x\nlagrangian x'^2\nconstraint c: x' = 0\n",
         "leave nothing"},
        {"formulation hamel\ncoordinate x\nlagrangian x'^2\nstate q' = x\n",
         "takes no `state` line"},
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nframe { a = [1, 0]; b = [sin(x), cos(x)] }\n"
         "start { x = pi/2; x' = 1; y' = 2 }\n",
         "dependent at the start: the determinant of their directions is 6.1e-17"},
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nframe { a = [1, 1]; b = [2, 2] }\n",
         "dependent at the start"},
        {"coordinate x, y\nlagrangian x'^2 + y'^2\nframe { a = [1, 0]; b = [0, 1] }\n"
         "solve augmented\n",
         "knows `solve multipliers` only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        motion_refused(cases[i][0], cases[i][1]);
}

/* Velocities, angular velocities and momenta that are no states may be guesses: they give way
 * to constraints, and are met where there are none. */
static void guesses(void **state)
{
    (void)state;
    static const char skate[] = "coordinate x, y, a\nlagrangian (x'^2 + y'^2)/2 + a'^2/4 + x\n"
                                "constraint blade: x'*sin(a) = y'*cos(a)\n"
                                "start { x = 0; y = 0; a = 0.3; a' = 1; x' = 0.5; y' ~ 0 }\n";
    char text[400];
    snprintf(text, sizeof text, "formulation hamel\n%s", skate);
    motion a = motion_text(skate, NULL), b = motion_text(text, NULL);
    assert_true(motion_difference(&a, &b, "x, y, a, x', y', a'") < 1e-15);
    assert_int_equal(motion_to(&a, 2), NS_OK);
    assert_int_equal(motion_to(&b, 2), NS_OK);
    assert_true(motion_difference(&a, &b, "x, y, a, x', y', a'") < 1e-13);
    motion_close(&a);
    motion_close(&b);
    a = motion_text("coordinate x, y\nlagrangian (x'^2 + y'^2)/2\n"
                    "frame { e = [2, 1]; f = [0, 3] }\nstart { x' ~ 1; y' ~ 2 }\n",
                    NULL);
    assert_true(fabs(motion_get(&a, "x'") - 1) < 1e-15 &&
                fabs(motion_get(&a, "y'") - 2) < 1e-15);
    motion_close(&a);
    a = motion_text("algebra so(3) { inertia diag(1, 2, 3) }\nconstraint c: v3 = 0\n"
                    "start { p ~ [1, 2, 3] }\n",
                    NULL);
    assert_true(fabs(motion_get(&a, "v1") - 1) < 1e-15 &&
                fabs(motion_get(&a, "v2") - 1) < 1e-15 && fabs(motion_get(&a, "v3")) < 1e-15);
    motion_close(&a);
    a = motion_text("body S { mass 1; inertia diag(1, 2, 3) }\n"
                    "constraint hinge: revolute(S, [0, 0, 0], S.e3, [0, 0, 1])\n"
                    "start { S.omega ~ [1, 2, 3] }\n",
                    NULL);
    assert_true(fabs(motion_get(&a, "S.omega.z") - 3) < 1e-14 &&
                fabs(motion_get(&a, "S.omega.x")) < 1e-15);
    motion_close(&a);
}

/* The multipliers are the forces that `constrained` finds: there from the augmented mass
 * matrix. */
static void forces_of_constrained(void **state)
{
    (void)state;
    static const char *const frames[] = {
        "frame { a = [1, 0, y]; b = [0, 1, 0]; c = [0, 0, 1] }\n",
        "frame { a = [1, 0.2*y, 0]; b = [0.5, 1, 0]; c = [0, sin(x), 1] }\nsolve multipliers\n",
        "formulation hamel\n"};
    motion b = motion_text("param g = 0\nparticle P { mass 1.3 }\n"
                           "constraint twist: P'[3] = P.y*P'[1]\n"
                           "start { P = [0, -2, 0]; P' = [0.8, 0.5, -1.6] }\n"
                           "observe x = P.x, y = P.y, z = P.z\nrun { until 20 }\n",
                           NULL);
    assert_string_equal(b.model->system->formulation->name, "constrained");
    assert_int_equal(motion_to(&b, 10), NS_OK);
    for (int i = 0; i < 3; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "%scoordinate x, y, z\nlagrangian 1.3*(x'^2 + y'^2 + z'^2)/2\n"
                 "constraint twist: z' = y*x'\n"
                 "start { x = 0; y = -2; z = 0; x' = 0.8; y' = 0.5 }\nrun { until 20 }\n",
                 frames[i]);
        motion a = motion_text(text, NULL);
        assert_int_equal(motion_to(&a, 10), NS_OK);
        assert_true(motion_difference(&a, &b, "x, y, z, lambda.twist, energy") < 1e-11);
        motion_close(&a);
    }
    motion_close(&b);
}

/* A frame that becomes dependent on the way: the run ends there and says so. */
static void frame_ends(void **state)
{
    (void)state;
    static const char text[] = "coordinate x, y\nlagrangian (x'^2 + y'^2)/2\n"
                               "frame { a = [1, 0]; b = [sin(x), cos(x)] }\n"
                               "start { x = 0; y = 0; x' = 1; y' = 0.5 }\nrun { until 5 }\n";
    motion m = motion_text(text, NULL);
    assert_int_equal(motion_to(&m, 5), NS_STOP_SINGULAR);
    const ns_outcome *outcome = ns_run_outcome(m.run);
    assert_non_null(strstr(outcome->reason, "determinant of their directions has fallen to"));
    assert_true(fabs(outcome->t - (M_PI / 2 - 1e-4)) < 1e-6); /* cos(x) = 1e-4 */
    motion_close(&m);
}

/* What the program says about the frame it makes. */
static void made_frames(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"formulation hamel\n" SLEIGH RUN, "2 orthonormal fields"},
        {"formulation hamel\n" TWISTED, "the unit field"},
        {"formulation hamel\n" FALLING RUN, "v1 = theta', v2 = psi', v3 = phi'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ns_model *model = motion_model_text(cases[i][0], NULL);
        bool said = false;
        for (uint32_t k = 0; k < model->system->facts.n; k++)
            said = said || strstr(model->system->facts.at[k].text, cases[i][1]);
        assert_true(said);
        ns_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_motion),
        cmocka_unit_test(gallery_sleighs),
        cmocka_unit_test(euler_top),
        cmocka_unit_test(sleigh_reference),
        cmocka_unit_test(sleigh_conserved),
        cmocka_unit_test(sleigh_brackets),
        cmocka_unit_test(conserved_brackets),
        cmocka_unit_test(refusals),
        cmocka_unit_test(guesses),
        cmocka_unit_test(forces_of_constrained),
        cmocka_unit_test(frame_ends),
        cmocka_unit_test(made_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
