/* Formulation `rolling`: the states that are left out.  Balls and ellipsoids, tori and disks
 * have a closed form of the point that touches; the same surface as a bare equation or curve
 * has none and keeps its coordinates as states.  Both must give one motion, from every kind of
 * start, on every kind of ground. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/start.h"

#define ALL                                                                                    \
    "quat, omega, omega.space, com, centre, velocity, contact, s, vertical, normal, force, "   \
    "energy, force.normal, force.friction, regularity"

typedef struct pair {
    const char *name, *closed, *open;
} pair;

static const pair ball = {
    "ball", "sphere(0.1) { mass 2; inertia 0.01*[[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
    "implicit(x^2 + y^2 + z^2 - 0.01) { mass 2; inertia "
    "0.01*[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"};
static const pair loaded = {
    "loaded ball",
    "sphere(0.1) { mass 1; com [0.01, -0.02, 0.015]; inertia 1e-3*[[4, 0.1, -0.2], [0.1, 5, "
    "0.3], [-0.2, 0.3, 6]]",
    "implicit(x^2 + y^2 + z^2 - 0.01) { mass 1; com [0.01, -0.02, 0.015]; inertia 1e-3*[[4, "
    "0.1, -0.2], [0.1, 5, 0.3], [-0.2, 0.3, 6]]"};
static const pair chaplygin = {
    "ball, inertia not isotropic",
    "sphere(0.1) { mass 1; inertia 1e-3*[[4, 0.1, -0.2], [0.1, 5, 0.3], [-0.2, 0.3, 6]]",
    "implicit(x^2 + y^2 + z^2 - 0.01) { mass 1; inertia 1e-3*[[4, 0.1, -0.2], [0.1, 5, 0.3], "
    "[-0.2, 0.3, 6]]"};
static const pair egg = {
    "ellipsoid",
    "ellipsoid(0.1, 0.08, 0.07) { mass 1; inertia 1e-3*[[4, 0.1, -0.2], [0.1, 5, 0.3], [-0.2, "
    "0.3, 6]]",
    "implicit(x^2/0.01 + y^2/0.0064 + z^2/0.0049 - 1) { mass 1; inertia 1e-3*[[4, 0.1, -0.2], "
    "[0.1, 5, 0.3], [-0.2, 0.3, 6]]"};
static const pair off_centre = {
    "ellipsoid, centre of mass elsewhere",
    "ellipsoid(0.1, 0.08, 0.07) { mass 1; com [0.01, 0.02, -0.01]; inertia 1e-3*[[4, 0.1, "
    "-0.2], [0.1, 5, 0.3], [-0.2, 0.3, 6]]",
    "implicit(x^2/0.01 + y^2/0.0064 + z^2/0.0049 - 1) { mass 1; com [0.01, 0.02, -0.01]; "
    "inertia 1e-3*[[4, 0.1, -0.2], [0.1, 5, 0.3], [-0.2, 0.3, 6]]"};

static void write(char *text, size_t size, const char *ground, const char *body,
                  const char *rest)
{
    snprintf(text, size, "ground %s\nbody %s }\n%s\n", ground, body, rest);
}

/* Largest difference over [0, until]; how many states the first leaves out. */
static double apart(const char *ground, const pair *body, const char *rest, double until,
                    uint32_t *fewer)
{
    char text[2][2000];
    write(text[0], sizeof text[0], ground, body->closed, rest);
    write(text[1], sizeof text[1], ground, body->open, rest);
    motion a = motion_text(text[0], NULL), b = motion_text(text[1], NULL);
    double worst = motion_difference(&a, &b, ALL);
    for (int i = 1; i <= 10; i++) {
        assert_int_equal(motion_to(&a, until * i / 10), NS_OK);
        assert_int_equal(motion_to(&b, until * i / 10), NS_OK);
        worst = fmax(worst, motion_difference(&a, &b, ALL));
    }
    *fewer = b.model->system->states.n - a.model->system->states.n;
    assert_true(motion_residual(&a) < 1e-14);
    motion_close(&a);
    motion_close(&b);
    return worst;
}

static void agree(const char *ground, const pair *body, const char *rest, double until,
                  double tolerance)
{
    uint32_t fewer;
    const double worst = apart(ground, body, rest, until, &fewer);
    print_message("%s on %s: %.1e, %u states fewer\n", body->name, ground, worst, fewer);
    if (!(worst < tolerance))
        fail_msg("%s on %s: the two differ by %.1e", body->name, ground, worst);
    assert_true(fewer > 0);
}

#define TURNED "quat [0.9, 0.3, -0.2, 0.25]; "

/* Starts and grounds; what moves fast is followed for a short time. */
static const struct {
    const char *ground, *start;
    double until;
} places[] = {
    {"plane", "start { " TURNED "omega [1, 2, 3] }", 5},
    {"plane { tilt 5 deg; heading 0.4 }", "start { " TURNED "omega.space [1, 2, 3] }", 3},
    {"height(0.3*cos(2*x)*sin(y) - 0.1*x*y)",
     "start { " TURNED "contact [0.2, 0.3]; omega [1, 2, 3] }", 2},
    {"paraboloid(0.7) { at [0.1, 0, 0.2] }",
     "start { " TURNED "contact [0.3, 0.1]; omega [1, 2, 3] }", 3},
    {"sphere(1.5) { side inside }",
     "start { " TURNED "contact [0.9, 0, -1.2]; omega [1, 2, 3] }", 3},
    {"sphere(2) { side outside }", "start { " TURNED "contact [0, 1.2, 1.6]; omega [1, 2, 3] }",
     0.5},
    {"cylinder(1) { side inside; axis [1, 0.2, 0] }",
     "start { " TURNED "contact [0.1, 0.02, -1]; omega [1, 2, 3] }", 3},
    {"torus(2, 1) { side inside }",
     "start { " TURNED "contact [1.6, 1.2, -1]; omega [1, 2, 3] }", 2},
    {"implicit(z - 0.2*x^2 - 0.3*y^2 - 0.1*x*y*z)",
     "start { " TURNED "contact [0.3, 0.1, 0.021/0.997]; omega [1, 2, 3] }", 2},
    {"parametric([u, v, 0.3*u^2 + 0.2*u*v + 0.3*v^2])",
     "start { " TURNED "contact [0.3, 0.1]; omega [1, 2, 3] }", 2},
    {"extruded(u, 0.2*cos(2*u))", "start { " TURNED "contact [0.3, 0.1]; omega [1, 2, 3] }", 2},
    {"plane { turn [0, 0, 1], 2*t + 0.1*t^2; origin [0.1*sin(t), 0, 0.05*cos(2*t)] }",
     "start { " TURNED "contact [0.3, 0.1]; omega [1, 2, 3] }", 3},
    {"height(0.5*x^2 + 0.4*y^2) { turn [0.2, 0, 1], sin(t); origin [0.1*t, 0, 0] }",
     "start { " TURNED "contact [0.1, 0.1]; omega [1, 2, 3] }", 2},
};

static void grounds(void **state)
{
    (void)state;
    const pair *const bodies[] = {&ball, &loaded, &chaplygin, &egg, &off_centre};
    const double limit =
        3e-11; /* forces of 60 N, of which a change in the last bit leaves 12 digits */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
            agree(places[i].ground, bodies[k], places[i].start, places[i].until, limit);
}

static void loads(void **state)
{
    (void)state;
    static const char rest[] =
        "load { force [0.3, 0.1*sin(t), 0.2] - 0.1*velocity; torque [0.01, 0.02, 0] - "
        "0.003*omega; torque.space [0, 0, 0.01*cos(t)]; force.body [0.1, 0, 0] }\n"
        "start { " TURNED "contact [0.2, 0.3]; omega [1, 2, 3] }";
    agree("height(0.3*cos(2*x)*sin(y) - 0.1*x*y)", &ball, rest, 2, 1e-11);
    agree("plane", &ball, rest, 2, 1e-11);
    agree("plane", &chaplygin, rest, 2, 1e-11);
    agree("height(0.3*cos(2*x)*sin(y) - 0.1*x*y)", &chaplygin, rest, 2, 1e-11);
    agree("height(0.3*cos(2*x)*sin(y) - 0.1*x*y)", &egg, rest, 2, 1e-11);
    agree("plane", &egg, rest, 2, 1e-11);
}

/* Tori and edges have their closed form on planes. */
static void lowest_points(void **state)
{
    (void)state;
    static const char start[] = "start { heading 0.4; tilt 70 deg; omega [0.3, 1, 4] }";
    static const pair torus = {
        "torus",
        "torus(0.3, 0.1) { mass 1; inertia 0.01*[[3, 0, 0], [0, 3.5, 0.1], [0, 0.1, 5]]",
        "implicit((sqrt(x^2 + y^2) - 0.3)^2 + z^2 - 0.01) { mass 1; inertia 0.01*[[3, 0, 0], "
        "[0, 3.5, 0.1], [0, 0.1, 5]]"};
    static const pair rim = {"rim",
                             "rim(0.3, 0.05) { mass 1; com [0.01, 0, 0.02]; inertia 0.01*[[3, "
                             "0, 0], [0, 3.5, 0.1], [0, 0.1, 5]]",
                             "edge([0.3*cos(u), 0.3*sin(u), 0.05]) { mass 1; com [0.01, 0, "
                             "0.02]; inertia 0.01*[[3, 0, 0], [0, 3.5, 0.1], [0, 0.1, 5]]"};
    agree("plane", &torus, start, 5, 1e-11);
    agree("plane { tilt 0.05 }", &torus, start, 3, 1e-11);
    uint32_t fewer;
    /* regularity depends on the curve's parameter: r instead of r^2 */
    const double worst = apart("plane", &rim, start, 3, &fewer);
    print_message("rim: %.1e, %u states fewer\n", worst, fewer);
    assert_int_equal(fewer, 1);
    assert_true(worst < 1e-11);
}

/* All starts of a ball: omega in both frames, by components, by the velocity of its centre;
 * orientations that are guesses or follow from an equation. */
static void starts(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "start { " TURNED "omega.x = 1; omega.z = 3 }",
        "start { " TURNED "omega.space [1, 2, 3]; omega.y = 4 }",
        "start { " TURNED "omega [1, 2, 3]; omega.y = 4 }",
        "start { quat.w = 0.6; quat.x = 0.8; omega [1, 2, 3] }",
        "start { " TURNED "centre' [0.2, 0.3]; spin 1 }",
        "start { " TURNED "com' [0.2, 0.3]; contact [1, 2] }",
        "start { " TURNED "centre [0.2, 0.3, 0.1] }",
        "start { " TURNED "s.x ~ -0.05; s.y ~ -0.04; s.z ~ -0.07; omega [0, 0, 1] }",
        "start { contact ~ [1, 2]; omega.x ~ 1; omega.y = 2 }",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        agree("plane", &ball, ways[i], 1, 1e-12);
}

/* Sweeps vary what is no state as if it were one. */
static void varied(void **state)
{
    (void)state;
    static const char *const names[] = {"omega.y", "omega.z", "quat.w"};
    char text[2][2000];
    static const char rest[] = "param a = 0.3\n"
                               "start { quat ~ [cos(a), sin(a), 0, 0]; omega [1, 2, 3] }";
    write(text[0], sizeof text[0], "plane", ball.closed, rest);
    write(text[1], sizeof text[1], "plane", ball.open, rest);
    double omega[2][4];
    for (int k = 0; k < 2; k++) {
        ns_model *model = motion_model_text(text[k], NULL);
        ns_arena *arena = ns_arena_new();
        const char *message = "";
        ns_starter *q = ns_starter_new(arena, model->system, 0, names, 3, &message);
        assert_non_null(q);
        double *x = NS_NEW_ARRAY(arena, double, model->system->states.n);
        double *p = NS_NEW_ARRAY(arena, double, model->description->params.n + 1);
        const double value[3] = {5, -1, 0.9};
        char reason[200];
        if (!ns_starter_find(q, value, p, x, reason, sizeof reason))
            fail_msg("no start: %s", reason);
        motion m = motion_begin(model, x);
        motion_vector(&m, "omega", omega[k]);
        omega[k][3] = motion_get(&m, "quat.w");
        motion_close(&m);
        ns_arena_free(arena);
    }
    const double expected[4] = {1, 5, -1, 0.9};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 4; i++)
            assert_true(fabs(omega[k][i] - expected[i]) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grounds), cmocka_unit_test(loads),  cmocka_unit_test(lowest_points),
        cmocka_unit_test(starts),  cmocka_unit_test(varied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
