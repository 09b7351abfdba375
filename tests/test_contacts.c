/* Ready-made constraints of formulation `constrained`: rolling contacts of every kind of side against
 * formulation `rolling`, which has other coordinates and other equations; contacts between bodies;
 * joints against closed forms; and what is refused.
 *
 * Tolerances: both formulations keep some 1e-15 per second of regular motion; limits are ten to a
 * hundred times what is measured, 1e-10 at most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/measure.h"

/* ---- one body on a ground: against `rolling` -------------------------------------------------- */

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

int main(void)
{
    enum { PAIRS = sizeof pairs / sizeof *pairs };
    struct CMUnitTest tests[PAIRS];
    for (size_t i = 0; i < PAIRS; i++)
        tests[i] = (struct CMUnitTest){.name = pairs[i].name,
                                       .test_func = contact,
                                       .initial_state = (void *)(uintptr_t)&pairs[i]};
    return _cmocka_run_group_tests("contacts", tests, PAIRS, NULL, NULL);
}
