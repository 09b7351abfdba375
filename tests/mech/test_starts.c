/* Starts: guesses (~) win over what was left open, in every formulation, and what had to change
 * is said; contacts that cannot be are refused or warned of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/motion.h"

/* Starts are found to rounding errors; the equations here have condition numbers below 100. */
static const double exact = 1e-13;

static double start_of(const ns_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->system->states.n; i++)
        if (strcmp(model->system->states.at[i].name, name) == 0)
            return model->x0[i];
    fail_msg("no state %s", name);
    return NAN;
}

/* "W.x' = 2, W.y' = 0" at the start; `words` must be said, NULL: nothing may be said. */
typedef struct guess_case {
    const char *text, *states[6];
    double values[6];
    const char *words;
} guess_case;

#define DISK                                                                                   \
    "ground plane\nbody W disk(0.3) { mass 5; uniform }\nconstraint c: rolling(W)\n"           \
    "start { W.quat = [cos(45 deg), sin(45 deg), 0, 0]; "
#define SLEIGH                                                                                 \
    "coordinate theta, x, y\nlagrangian x'^2/2 + y'^2/2 + theta'^2/2\n"                        \
    "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
#define FRAME                                                                                  \
    "frame { e1 = [1, 0, 0]; e2 = [0, cos(theta), sin(theta)]; e3 = [0, -sin(theta), "         \
    "cos(theta)] }\n"
#define LEAN "theta = 30 deg; x = 0; y = 0; theta' = 0; "

static const guess_case guesses[] = {
    /* constrained: the rolling of the wheel was left open, its speed not */
    {DISK "W.position' ~ [2, 0, 0] }", {"W.x'", "W.y'", "W.z'"}, {2, 0, 0}, NULL},
    {DISK "W.position' ~ [2, 1, 0.5] }",
     {"W.x'", "W.y'", "W.z'"},
     {2, 1, 0},
     "note: the guess is changed, W.z' from 0.5 to 0, to satisfy"},
    {DISK "W.omega ~ [0, 0, -5] }", {"W.x'", "W.z'"}, {1.5, 0}, NULL},
    {DISK "W.position' ~ [2, 0, 0]; W.omega ~ [0, 0, -5] }",
     /* 2 - v and -5 + w with v = 0.3 w: the least sum of squares */
     {"W.x'"},
     {(2 + 1.5 / 0.09) / (1 + 1 / 0.09)},
     "the guess of W.omega cannot be met with the constraints: it is off by"},
    /* places: the particle is at its guess, the body gives way */
    {"ground plane\nbody B sphere(0.5) { mass 1; uniform }\nparticle P { mass 0 }\n"
     "constraint c: rolling(B, ground, P)\nstart { P ~ [1, 2, 0] }",
     {"P.x", "P.y", "P.z", "B.x", "B.y", "B.z"},
     {1, 2, 0, 1, 2, 0.5},
     NULL},
    {"particle P { mass 1 }\nparticle Q { mass 1 }\nconstraint a: dot(P, P) = 1\n"
     "constraint b: rod(P, Q, 1)\nstart { P ~ [3, 0, 4]; Q ~ [1, 0, 0]; Q' ~ [0, 7, 0] }",
     {"Q.y'", "P.y'", "Q.x'"},
     {7, 0, 0},
     "to satisfy `a`"},
    /* lagrange, and hamel with velocities that are no states */
    {SLEIGH "start { " LEAN "x' ~ 2 }", {"x'", "y'"}, {2, 1.1547005383792515}, NULL},
    {SLEIGH "start { " LEAN "x' ~ 2; y' ~ 0 }",
     {"x'", "y'"},
     {1.5, 0.8660254037844386},
     "y' from 0 to 0.866025, to satisfy `blade`"},
    {SLEIGH FRAME "start { " LEAN "x' ~ 2 }", {"v2"}, {2.309401076758503}, NULL},
    {SLEIGH FRAME "start { " LEAN "x' ~ 2; y' ~ 0 }",
     {"v2"},
     {1.7320508075688772},
     "the guess of y' cannot be met with the constraints: it is off by 0.866025"},
    /* lie: v1 - 2 v2 = 0 */
    {"algebra so(3) { inertia diag(1, 2, 3) }\nconstraint a: v1 - 2*v2 = 0\n"
     "start { v2 ~ 3; v3 = 1 }",
     {"v1", "v2", "v3"},
     {6, 3, 1},
     NULL},
    {"algebra so(3) { inertia diag(1, 2, 3) }\nconstraint a: v1 - 2*v2 = 0\nstart { p1 ~ 4 }",
     {"v1", "v2"},
     {4, 2},
     NULL},
    /* planar: the disk turns as its place moves */
    {"ground profile(0*x)\nbody disk(0.5) { mass 1; uniform }\nstart { place = 0; place' ~ 3 }",
     {"place'", "turn'"},
     {3, 6},
     NULL},
    {"ground profile(0*x)\nbody disk(0.5) { mass 1; uniform }\nstart { turn' ~ 6 }",
     {"place'", "turn'"},
     {3, 6},
     NULL},
    /* rolling: the place on the ground and the orientation */
    {"ground sphere(1) { side inside }\nbody sphere(0.1) { mass 1; uniform }\n"
     "start { contact ~ [0, 0.6, -0.79] }",
     {"contact.y", "contact.z"},
     {0.6 / 0.9920181449953422, -0.79 / 0.9920181449953422},
     "contact.z from -0.79 to -0.796356, to satisfy `ground surface`"},
    {"ground sphere(1) { side inside }\nbody sphere(0.1) { mass 1; uniform }\n"
     "start { contact ~ [0, 0.6, -0.8] }",
     {"contact.y", "contact.z"},
     {0.6, -0.8},
     NULL},
};

static void guesses_win(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof guesses / sizeof *guesses; k++) {
        const guess_case *c = &guesses[k];
        ns_model *model = motion_model_text(c->text, NULL);
        for (size_t i = 0; i < 6 && c->states[i]; i++) {
            const double value = start_of(model, c->states[i]);
            if (!(fabs(value - c->values[i]) <= exact * (1 + fabs(c->values[i]))))
                fail_msg("%s\n%s starts at %.17g, not %.17g", c->text, c->states[i], value,
                         c->values[i]);
        }
        if (c->words ? !strstr(model->messages, c->words) : model->messages[0] != 0)
            fail_msg("%s\nsaid `%s`, expected `%s`", c->text, model->messages,
                     c->words ? c->words : "");
        ns_model_free(model);
    }
}

/* ---- the right side of a chart ----------------------------------------------------------- */

#define BOWL "ground parametric([cos(u)*cos(v), sin(u)*cos(v), 1 + sin(v)]) { side inside }\n"
#define EGG "body ellipsoid(0.1, 0.15, 0.2) { mass 1; uniform }\n"

/* Wherever the contact is said to be, the body is inside of the sphere about (0, 0, 1), below
 * its middle, also near the pole where the chart's normal flips. */
static void inside_of_charts(void **state)
{
    (void)state;
    static const char *const starts[] = {"contact ~ [0.1, 0, 0]", "contact ~ [-0.1, 0.05, 0]",
                                         "contact [0.3, 0.1]",    "contact [-0.2, 0.1]",
                                         "contact [0.01, 0]",     "contact ~ [0, 0, 0]",
                                         "centre [0, 0, 0.2]",    "contact [0.001, -0.001]"};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        char text[400];
        snprintf(text, sizeof text, BOWL EGG "start { %s }\n", starts[k]);
        motion m = motion_text(text, NULL);
        motion_to(&m, 0);
        double at[3], com[3];
        motion_vector(&m, "contact", at);
        motion_vector(&m, "com", com);
        const double from = hypot(hypot(com[0], com[1]), com[2] - 1);
        if (!(from < 1 - 0.1 + exact && at[2] < 0.2 && motion_get(&m, "force.normal") > 0))
            fail_msg("%s: the body is %g from the middle", starts[k], from);
        motion_close(&m);
    }
    motion_refused(BOWL EGG "start { ground.u = 0; ground.v = -1.7 }",
                   "starts on the wrong side of the ground");
    /* two flips bring the normal back */
    ns_model_free(motion_model_text(BOWL EGG "start { ground.u = 0; ground.v = 5 }", NULL));
    motion_refused(BOWL
                   "body B sphere(0.1) { mass 1; uniform }\nconstraint c: rolling(B, ground)\n"
                   "start { c.ground.u = 0.3; c.ground.v = -1.7 }",
                   "starts on the wrong side of the ground");
    ns_model_free(motion_model_text(
        BOWL "body B sphere(0.1) { mass 1; uniform }\nconstraint c: rolling(B, ground)\n"
             "start { c.ground.u = 0.3; c.ground.v = -1.3 }",
        NULL));
}

/* ---- contacts that cannot be ------------------------------------------------------------- */

static void warned(const char *text, const char *words)
{
    ns_model *model = motion_model_text(text, NULL);
    if (words ? !strstr(model->messages, words) : model->messages[0] != 0)
        fail_msg("%s\nsaid `%s`, expected `%s`", text, model->messages, words ? words : "");
    ns_model_free(model);
}

static void overlaps(void **state)
{
    (void)state;
    static const char long_body[] = "body ellipsoid(0.2, 0.03, 0.02) { mass 1; uniform }";
    char text[600];
    snprintf(text, sizeof text, "ground height(1000*x^4)\n%s", long_body);
    warned(text, "m into the ground at the start, away from the contact");
    snprintf(text, sizeof text, "ground height(0.1*x^4)\n%s", long_body);
    warned(text, NULL);
    warned(
        "ground height(1000*x^4)\nbody implicit(x^4/0.2^4 + y^4/0.03^4 + z^4/0.02^4 - 1) "
        "{ mass 1; inertia diag(1, 1, 1); com [0, 0, 0] }\nstart { roll 1 deg; pitch 1 deg }",
        "into the ground");
    warned("ground height(1000*x^4)\nbody disk(0.2) { mass 1; uniform }\n"
           "start { tilt 85 deg }",
           "into the ground");
    warned("ground sphere(1) { side inside }\nbody disk(0.2) { mass 1; uniform }\n"
           "start { contact [0, 0, -1]; tilt 80 deg }",
           NULL);
    /* constrained: flatter than the bowl */
    warned("ground sphere(0.05) { side inside }\nbody B sphere(0.1) { mass 1; uniform }\n"
           "constraint c: rolling(B, ground)\nstart { B.position ~ [0, 0, 0.05] }",
           "does not fit at the start");
    warned("ground sphere(0.5) { side inside }\nbody B sphere(0.1) { mass 1; uniform }\n"
           "constraint c: rolling(B, ground)\nstart { B.position = [0, 0, -0.4] }",
           NULL);
}

/* A ball on a sphere in `constrained` pulls where the one in `rolling` would lift off: at
 * cos(theta) = 10/17 from rest at the top (Routh), for any sizes. */
static void contacts_that_pull(void **state)
{
    (void)state;
    motion m = motion_text("ground sphere(1)\nbody B sphere(0.1) { mass 1; uniform }\n"
                           "constraint c: rolling(B, ground)\n"
                           "start { B.position = [0.011, 0, sqrt(1.1^2 - 0.011^2)] }",
                           NULL);
    const ns_outcome *o;
    motion_to(&m, 2);
    o = ns_run_outcome(m.run);
    assert_int_equal(m.model->system->pushes.n, 1);
    assert_true(isnan(o->push_since[0]) && o->push_least[0] > 0);
    double last = 0, cosine = 1;
    for (double t = 2; isnan(o->push_since[0]) && t < 10; t += 0.005) {
        last = cosine;
        motion_to(&m, t);
        o = ns_run_outcome(m.run);
        cosine = motion_get(&m, "B.z") / 1.1;
    }
    /* it began at rest, 1e-2 from the top: 10/17 cos(0.01); met within one of the steps
     * above */
    assert_true(cosine < 10.0 / 17 * cos(0.01) + 0.02 && last > 10.0 / 17 * cos(0.01) - 0.02);
    assert_true(o->push_least[0] < 0);
    motion_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_win),
        cmocka_unit_test(inside_of_charts),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(contacts_that_pull),
    };
    return cmocka_run_group_tests_name("starts", tests, NULL, NULL);
}
