/* Formulation `rolling`: ways to write a start that mean the same, and models that are refused,
 * with the words that say why. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- refused ----------------------------------------------------------------------------- */

typedef struct bad {
    const char *text, *words; /* what the messages must contain */
} bad;

#define PLANE "ground plane\n"
#define BALL "body sphere(0.1) { mass 1; uniform }\n"
#define UNIT "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"

static const bad refused[] = {
    /* where the body is */
    {PLANE BALL "start { com [0, 0, 0.5] }",
     "does not touch the ground: with this com it is 0.4"},
    {PLANE BALL "start { centre [1, 2, 0.11] }", "it is 0.01 m above it"},
    {PLANE BALL "start { com [0, 0, 0.05] }",
     "under the ground: with this com the body reaches"},
    {PLANE BALL "start { com [0, 0, -0.1] }", "the body reaches 0.2 m into it"},
    {"ground height(x^2)\n" BALL "start { com [0, 0, 0] }", "under the ground"},
    {"ground sphere(1) { side inside }\n" BALL "start { com [0, 0, -0.95] }", "0.05 m into it"},
    {PLANE BALL "start { contact [0, 0, 0.3] }", "`contact`: it is off by"},
    {"ground sphere(1)\n" BALL "start { contact [0, 0, 1.5] }",
     "does not satisfy `ground surface`"},
    {"ground sphere(1)\n" BALL "start { contact [0, 0] }", "needs three coordinates"},
    {PLANE BALL "start { contact [0, 0]; com [0, 0, 0.1] }",
     "position is given more than once"},
    {PLANE "body implicit(x^2 + y^2 + z^2 + 1) { mass 1; inertia " UNIT " }",
     "does not satisfy `body surface`"},
    /* how it moves */
    {PLANE "body implicit(x^2 + y^2 + z^2 - 1) { mass 1; inertia " UNIT " }\n"
           "start { s.z ~ 1; tilt 0.1 }",
     "touches from the wrong side at the start"},
    {PLANE BALL "start { com' [1, 0, 1]; spin 0 }", "no rolling has this com'"},
    {PLANE BALL "start { com' [1, 0]; omega [1, 2, 3] }", "velocity is given more than once"},
    {PLANE BALL "start { spin 3 }", "`spin` goes with centre' or com'"},
    {PLANE BALL "start { tilt 10 deg; quat [1, 0, 0, 0] }",
     "orientation is given in more than one"},
    {PLANE BALL "start { roll 1; turn 2 }", "orientation is given in more than one"},
    {PLANE BALL "start { quat [0, 0, 0, 0] }", "not a finite number"},
    {PLANE BALL "start { omga [1, 2, 3] }", "did you mean `omega`"},
    {PLANE BALL "start { omega [1, 2] }", "omega: expected a vector of 3, found a vector of 2"},
    {"ground extruded([u, 0])\n" BALL, "takes two functions of u: extruded(x, z)"},
    /* whether it fits */
    {"ground sphere(0.05) { side inside }\n" BALL "start { contact [0, 0, -0.05] }",
     "does not fit the ground"},
    {"ground paraboloid(10)\n" BALL, "it is flatter than the ground"},
    {"ground sphere(0.05) { side inside }\nbody disk(0.1) { mass 1; uniform }\n"
     "start { contact [0, 0, -0.05]; tilt 80 deg }",
     "bends less than the ground"},
    {PLANE "body disk(0.1) { mass 1; uniform }", "the edge lies flat on the ground"},
    {PLANE "body cylinder(0.1, 0.2) { mass 1; uniform; contact side }\nstart { tilt 90 deg }",
     "does not fit the ground"},
    {"ground wire([u, 0, 0])\nbody disk(0.1) { mass 1; uniform }", "an edge on a wire"},
    /* masses */
    {PLANE "body sphere(0.1) { mass -1; uniform }", "mass must be positive; it is -1"},
    {PLANE "param m = 0\nbody sphere(0.1) { mass m; inertia " UNIT " }", "must be positive"},
    {PLANE "body sphere(0.1) { mass 1; inertia [[1, 0, 0], [0, 1, 0], [0, 0, 3]] }",
     "no mass distribution has this inertia tensor: the principal moment 3"},
    {PLANE "body sphere(0.1) { mass 1; inertia [[1, 2, 0], [2, 1, 0], [0, 0, 1]] }",
     "negative principal moment"},
    {PLANE "body sphere(0.1) { mass 1; inertia [[1, 2, 0], [3, 1, 0], [0, 0, 1]] }",
     "not symmetric: entries 1,2 and 2,1 differ"},
    {PLANE "body sphere(0.1) { mass 1; inertia [1, 2, 3] }", "expected a 3 x 3 matrix"},
    {PLANE "body sphere(0.1) { mass 1 }", "the body needs `inertia`"},
    {PLANE "body sphere(0.1) { inertia " UNIT " }", "the body needs `mass`"},
    {PLANE "body sphere(0.1) { mass 1; uniform; inertia " UNIT " }", "either `inertia` or"},
    {PLANE "body sphere(0.1) { mass 1; uniform; com [0, 0, 0.01] }", "has its centre of mass"},
    {PLANE "body egg(0.03, 0.02, 0.1) { mass 1; uniform }",
     "no closed form for a uniform `egg`"},
    /* shapes */
    {PLANE "body cube(0.1) { mass 1; uniform }",
     "there is no body `cube`; there are: sphere(r)"},
    {"ground disc(1)\n" BALL, "there is no ground `disc`; there are: plane()"},
    {PLANE "body sphere(0.1, 2) { mass 1; uniform }", "sphere takes these sizes: sphere(r)"},
    {PLANE "body sphere([1, 2, 3]) { mass 1; inertia " UNIT " }", "expected a number"},
    {PLANE "body sphere(-0.1) { mass 1; uniform }", "size 1 of sphere(r) must be positive"},
    {PLANE "body ellipsoid(1, -2, 1) { mass 1; inertia " UNIT " }",
     "size 2 of ellipsoid(a, b, c) must be positive; it is -2"},
    {PLANE "body ellipsoid(1, 0, 1) { mass 1; inertia " UNIT " }",
     "size 2 of ellipsoid(a, b, c) must be positive; it is 0"},
    {PLANE "body cylinder(1, -1) { mass 1; uniform }\nstart { tilt 1 }",
     "must not be negative"},
    {PLANE "body sphere(0) { mass 1; uniform }",
     "size 1 of sphere(r) must be positive; it is 0"},
    {PLANE "body superellipsoid(1, 1, 1, 1) { mass 1; inertia " UNIT " }\nstart { tilt 1 }",
     "size 4 of superellipsoid(a, b, c, exponent) must be larger than 1; it is 1"},
    {PLANE "body implicit(q) { mass 1; inertia " UNIT " }", "2:15: error: undefined name `q`"},
    {PLANE "body edge(q) { mass 1; inertia " UNIT " }", "2:11: error: undefined name `q`"},
    {"ground height(x + z)\n" BALL, "a height is a function of x and y only"},
    {"ground plane { side inside }\n" BALL, "`side` means nothing for a ground `plane`"},
    {"ground sphere(1) { axis [1, 0, 0] }\n" BALL, "`axis` means nothing"},
    {PLANE "body sphere(0.1) { mass 1; uniform; contact top }", "`contact` means nothing"},
    {"ground sphere(1) { side below }\n" BALL, "side is `inside` or `outside`"},
    {"ground plane { slip \"stop\" }\n" BALL, "add `mu`"},
    {"ground plane { liftoff 3 }\n" BALL, "`liftoff` is `stop` or `warn`"},
    {"ground plane { tlt 3 deg }\n" BALL, "did you mean `tilt`"},
    {PLANE "body sphere(0.1) { mass 1; uniform; intertia 3 }", "did you mean `inertia`"},
    {PLANE BALL BALL, "a second `body`"},
    {PLANE, "rolling needs a `body` and a `ground`"},
    {PLANE BALL "lagrangian 3*t",
     "3:12: error: formulation `rolling` takes no `lagrangian` line"},
    {"formulation rolling\n" PLANE BALL "coordinate q", "takes no `coordinate` line"},
    {"formulation rolling\n" PLANE BALL "state q' = 1", "takes no `state` line"},
    {PLANE "body sphere(0.1) { mass 1; inertia 0*" UNIT " }", "the inertia tensor is zero"},
    {PLANE BALL "event liftoff: omega.x = 0", "there is an event `liftoff` already"},
    /* bodies and grounds are rigid */
    {PLANE "body sphere(1 + t) { mass 1; uniform }",
     "2:13: error: `sphere` cannot change with time"},
    {PLANE "body sphere(1) { mass 1 + t; uniform }", "`mass` cannot change with time"},
    {PLANE "body sphere(1) { mass 1; com [t, 0, 0]; inertia " UNIT " }", "`com` cannot change"},
    {PLANE "body sphere(1) { mass 1; inertia (1 + t)*" UNIT " }", "`inertia` cannot change"},
    {PLANE "body sphere(1)\nsolid sphere(1) { mass 1 + t }", "`mass` cannot change with time"},
    {"ground height(x*t)\n" BALL, "`height` cannot change with time"},
    {"ground implicit(z - t)\n" BALL, "(`origin` and `turn` move a ground)"},
    {"ground sphere(1) { at [t, 0, 0] }\n" BALL, "`at` cannot change with time"},
    {"ground plane { tilt t }\n" BALL, "`tilt` cannot change with time"},
    {"ground profile(t*x^2)\nbody disk(0.2) { mass 1; uniform }\nstart { place = 1 }",
     "`profile` cannot change with time"},
    {"ground profile(x^2)\nbody disk(0.2) { mass 1 + t; uniform }\nstart { place = 1 }",
     "`mass` cannot change with time"},
    {"ground cylinder(1) { axis [0, 0, 0] }\n" BALL "start { contact [1, 0, 0] }",
     "`axis`: the axis has no direction"},
    {"ground plane { turn [0, 0, 0], t }\n" BALL, "`turn`: the axis has no direction"},
    {PLANE BALL "start { axis [0, 0, 0], 1 }", "`axis`: the axis has no direction"},
    {PLANE BALL "start { omega [1, 2, 3]; omega [1, 2, 3] }",
     "3:26: error: `omega` is given twice"},
    {"ground plane { mu -1 }\n" BALL, "`mu` must not be negative; it is -1"},
    {"ground profile(x^2)\nbody disk(-0.2) { mass 1; uniform }",
     "the radius must be positive; it is -0.2"},
    {"ground profile(x^2)\nbody disk(0.2) { mass 0; uniform }",
     "the mass must be positive; it is 0"},
    {"ground profile(x^2)\nbody disk(0.2) { mass 1; inertia -1 }",
     "the inertia must not be negative"},
    {"particle P { mass -1 }", "the mass of `P` must not be negative; it is -1"},
    {"body S { mass 1; inertia [[1, 0, 0], [0, 1, 0], [0, 0, -2]] }",
     "the inertia of `S` has a negative principal moment: -2"},
    /* what follows from the equations cannot be part of them */
    {PLANE BALL "load { force -omega' }",
     "follows from the equations; it can only be observed"},
    {PLANE BALL "let a = omega'\nload { force -a }",
     "3:14: error: this time derivative follows from the equations"},
    /* expressions without a value at the start */
    {"ground torus(2, 0.5)\n" BALL, "say where the body touches the ground"},
    {"ground height(sqrt(x - 1))\n" BALL "start { contact [0, 0] }", "undefined at the start"},
    {"param a = 0\nground height(log(a + x))\n" BALL "start { contact [0, 0] }",
     "undefined at the start"},
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *text = refused[i].text;
        ns_model *m = ns_model_load_text("bad.mech", text, strlen(text), NULL, 0,
                                         NS_MODEL_READY);
        assert_non_null(m);
        if (m->status != NS_ERR_MODEL || !strstr(m->messages, refused[i].words))
            fail_msg("%s\nstatus %d, expected \"%s\", messages:\n%s", text, (int)m->status,
                     refused[i].words, m->messages);
        ns_model_free(m);
    }
}

/* ---- the same start in other words ------------------------------------------------------- */

#define BODY                                                                                   \
    "body ellipsoid(0.2, 0.15, 0.1) { mass 1; com [0.01, 0, 0.02]; inertia 0.01*[[1, 0, 0], "  \
    "[0, 1.2, 0], [0, 0, 1.5]] }\n"

static double distance(const char *a, const char *b)
{
    ns_model *m = motion_model_text(a, NULL), *n = motion_model_text(b, NULL);
    assert_int_equal(m->system->states.n, n->system->states.n);
    double worst = 0, turned = 0;
    for (uint32_t i = 0; i < m->system->states.n; i++) {
        double off = fabs(m->x0[i] - n->x0[i]), other = i < 4 ? fabs(m->x0[i] + n->x0[i]) : off;
        worst = fmax(worst, off);
        turned = fmax(turned, other);
    }
    ns_model_free(m);
    ns_model_free(n);
    return fmin(worst, turned);
}

static void orientations(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"quat [cos(0.35), 0, sin(0.35), 0]", "axis [0, 3, 0], 0.7"},
        {"quat [2, 1, -1, 0.5]", "quat [-4, -2, 2, -1]"},
        {"axis [0, 0, 1], 40 deg", "heading 40 deg"},
        {"axis [0, 0, 1], 40 deg", "turn 40 deg"},
        {"axis [1, 0, 0], 40 deg", "tilt 40 deg"},
        {"axis [1, 0, 0], 40 deg", "roll 40 deg"},
        {"axis [0, 1, 0], 40 deg", "pitch 40 deg"},
        {"axis [0, 0, 1], 40 deg", "yaw 40 deg"},
        {"euler 0.3, 0.4, 0.5", "heading 0.3; tilt 0.4; turn 0.5"},
        {"omega.space [0, 0, 2]; tilt 0.5", "omega [0, 2*sin(0.5), 2*cos(0.5)]; tilt 0.5"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char a[400], b[400];
        snprintf(a, sizeof a, PLANE BODY "start { %s }\n", same[i][0]);
        snprintf(b, sizeof b, PLANE BODY "start { %s }\n", same[i][1]);
        double off = distance(a, b);
        if (!(off < 1e-15))
            fail_msg("%s and %s: off by %.1e", same[i][0], same[i][1], off);
    }
}

/* A start read off from another one's values: contact, com or centre; omega, com' or
 * centre'. */
static void positions(void **state)
{
    (void)state;
    static const char *const grounds[] = {
        "ground plane\n",
        "ground plane { tilt 0.3; heading 1 }\n",
        "ground height(0.1*x^2 - 0.2*y)\n",
        "ground sphere(2) { side inside; at [0, 0, 2] }\n",
        "ground cylinder(2) { axis [1, 1, 0]; side inside }\n",
        "ground plane { turn [0, 0.1, 1], 0.5 + 2*t; origin [sin(t), 0, 0] }\n"};
    static const char *const bodies[] = {BODY, "body disk(0.2) { mass 1; uniform }\n"};
    for (int k = 0; k < 12; k++) {
        char first[600], second[800];
        const char *ground = grounds[k / 2], *body = bodies[k % 2];
        snprintf(first, sizeof first, "%s%sstart { euler 0.3, 1, 0.5; omega [1, 2, 3]; %s }\n",
                 ground, body,
                 k / 2 == 3   ? "contact [0, 0, 0]"
                 : k / 2 == 4 ? "contact [0, 0, -2]"
                              : "contact [0, 0]");
        motion m = motion_text(first, NULL);
        double com[3], centre[3], v[3], omega[3], n[3];
        motion_vector(&m, "com", com);
        motion_vector(&m, "centre", centre);
        motion_vector(&m, "velocity", v);
        motion_vector(&m, "omega.space", omega);
        motion_vector(&m, "normal", n);
        double spin = omega[0] * n[0] + omega[1] * n[1] + omega[2] * n[2];
        snprintf(second, sizeof second,
                 "%s%sstart { euler 0.3, 1, 0.5; com [%.17g, %.17g, %.17g]\n"
                 "com' [%.17g, %.17g, %.17g]; spin %.17g }\n",
                 ground, body, com[0], com[1], com[2], v[0], v[1], v[2], spin);
        double off = distance(first, second);
        snprintf(second, sizeof second,
                 "%s%sstart { euler 0.3, 1, 0.5; centre [%.17g, %.17g, %.17g]\n"
                 "omega.space [%.17g, %.17g, %.17g] }\n",
                 ground, body, centre[0], centre[1], centre[2], omega[0], omega[1], omega[2]);
        off = fmax(off, distance(first, second));
        if (!(off < 1e-13))
            fail_msg("%s: off by %.1e", first, off);
        motion_close(&m);
    }
}

/* One system at many scales: lengths k, times sqrt(k).  Where nothing is said about the place,
 * the contact is the floor on the vertical through the origin, exactly; the body's point is
 * searched. */
static void scales(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double contact; /* height over k */
    } systems[] = {
        {"ground sphere(k) { side inside }\n"
         "body egg(0.1*k, 0.08*k, 0.2) { mass 1; inertia (0.1*k)^2*diag(1, 1.2, 1.3) }\n",
         -1},
        {"ground height(0.3/k*x^2 + 0.2/k*y^2)\n"
         "body implicit((x/(0.1*k))^2 + (y/(0.08*k))^2 + (z/(0.06*k))^2 + (z/(0.06*k))^4 - 1) "
         "{\n"
         "mass 1; inertia (0.1*k)^2*diag(1, 1.2, 1.3) }\n",
         0},
        {"ground sphere(k)\n"
         "body implicit((sqrt(x^2 + y^2) - 0.1*k)^2 + z^2 - (0.04*k)^2) {\n"
         "mass 1; inertia (0.1*k)^2*diag(1, 1.2, 1.3) }\n",
         1},
        {"ground sphere(k)\nbody disk(0.1*k) { mass 1; uniform }\n", 1},
    };
    static const double k[] = {1, 1e-6, 1e-3, 1e3, 1e7};
    enum { N = 6 };
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        double first[N] = {0};
        for (size_t j = 0; j < sizeof k / sizeof *k; j++) {
            char text[600];
            snprintf(text, sizeof text,
                     "param k = %g\n%sstart { tilt 20 deg; omega [1, 2, 3]/sqrt(k) }\n"
                     "observe place = com/k, rate = omega*sqrt(k)\n",
                     k[j], systems[i].text);
            motion m = motion_text(text, NULL);
            double at[3], value[N];
            motion_vector(&m, "contact", at);
            assert_true(at[0] == 0 && at[1] == 0);
            assert_true(fabs(at[2] / k[j] - systems[i].contact) < 1e-15);
            assert_int_equal(motion_to(&m, sqrt(k[j]) / 5), NS_OK);
            motion_vector(&m, "place", value);
            motion_vector(&m, "rate", value + 3);
            for (int n = 0; n < N && j > 0; n++)
                if (!(fabs(value[n] - first[n]) < 1e-12))
                    fail_msg("%s at scale %g: off by %.1e", systems[i].text, k[j],
                             fabs(value[n] - first[n]));
            if (j == 0)
                memcpy(first, value, sizeof first);
            motion_close(&m);
        }
    }
}

/* The reduced system has no orientation, but it begins as one says: like the whole system.  One
 * of the bodies is open above. */
static void reduced(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "ellipsoid(0.1, 0.08, 0.06)", "implicit((x/0.1)^2 + (y/0.08)^2 + (z/0.06)^2 - 1)",
        "parametric([0.1*cos(u)*cos(v), 0.08*sin(u)*cos(v), 0.06*sin(v)])",
        "implicit(5*x^2 + 8*y^2 - z - 0.05)", "egg(0.1, 0.08, 0.2)"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        motion m[2];
        for (int k = 0; k < 2; k++) {
            char text[500];
            snprintf(text, sizeof text,
                     PLANE "body %s { %s mass 1; com [0.005, 0.002, 0.001]; inertia "
                           "2e-3*diag(1, 1.2, 1.3) }\n"
                           "start { tilt 30 deg; turn 20 deg; omega [1, 2, 3] }\n",
                     shapes[i], k ? "reduced;" : "");
            m[k] = motion_text(text, NULL);
        }
        for (int k = 0; k <= 1; k++) {
            for (int j = 0; j < 2; j++)
                assert_int_equal(motion_to(&m[j], 0.3 * k), NS_OK);
            const double off = motion_difference(&m[0], &m[1], "s, vertical, omega, energy");
            if (!(off < (k ? 1e-12 : 1e-15)))
                fail_msg("%s, reduced: off by %.1e at %.1f s", shapes[i], off, 0.3 * k);
        }
        motion_close(&m[0]);
        motion_close(&m[1]);
    }
    /* the contact itself, instead of an orientation */
    motion m = motion_text(PLANE "body parametric([0.1*cos(u)*cos(v), 0.08*sin(u)*cos(v), "
                                 "0.06*sin(v)]) { reduced; mass 1; inertia " UNIT " }\n"
                                 "start { body.u = 0.3; body.v = -0.4 }\n",
                           NULL);
    assert_true(motion_get(&m, "body.u") == 0.3 && motion_get(&m, "body.v") == -0.4);
    motion_close(&m);
}

/* Hollow bodies that hang on a ball inside of them: however the shape is written, and as in
 * formulation `constrained`. */
static void hollow(void **state)
{
    (void)state;
    static const char *const shapes[] = {"ellipsoid(0.5, 0.45, 0.4)",
                                         "implicit((x/0.5)^2 + (y/0.45)^2 + (z/0.4)^2 - 1)",
                                         "superellipsoid(0.5, 0.45, 0.4, 2)"};
#define SHELL                                                                                  \
    "{ flip; mass 1; com [0.02, 0.01, -0.03]; inertia [[0.1, 0.01, 0], [0.01, 0.12, 0.005], "  \
    "[0, 0.005, 0.09]] }\n"
    motion other = motion_text(
        "ground G sphere(0.2)\nbody S ellipsoid(0.5, 0.45, 0.4) " SHELL
        "constraint c: rolling(S, G)\n"
        "start { S.quat = [cos(10 deg), sin(10 deg), 0, 0]; c.contact = [0, 0, 0.2]\n"
        "S.omega = [1, 2, 0.3]; S.position ~ [0, 0, -0.25] }\nobserve place = S.com\n",
        NULL);
    assert_int_equal(motion_to(&other, 1), NS_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[500];
        snprintf(text, sizeof text,
                 "ground sphere(0.2)\nbody %s " SHELL
                 "start { tilt 20 deg; contact [0, 0, 0.2]; omega [1, 2, 0.3] }\n"
                 "observe place = com\n",
                 shapes[i]);
        motion m = motion_text(text, NULL);
        const double weight = motion_get(&m, "force.normal"), high = motion_get(&m, "com.z");
        assert_true(weight > 0 && high < 0);
        assert_int_equal(motion_to(&m, 1), NS_OK);
        const double off = motion_difference(&m, &other, "place, energy");
        if (!(off < 1e-13))
            fail_msg("hollow %s: off by %.1e", shapes[i], off);
        motion_close(&m);
    }
    motion_close(&other);
}

/* Rates of the states can be observed: Newton's law, and the power of all forces. */
static void rates(void **state)
{
    (void)state;
    motion m = motion_text(
        "param m = 1.5, g = 9.81\n"
        "let I = 0.01*[[1, 0.1, 0], [0.1, 1.2, 0], [0, 0, 1.5]]\n"
        "ground height(0.2*x^2 + 0.1*x*y)\n"
        "body ellipsoid(0.2, 0.15, 0.1) { mass m; com [0.01, 0, 0.02]; inertia I }\n"
        "start { euler 0.3, 1, 0.5; omega [1, 2, 3] }\n"
        "let law = m*com'' + [0, 0, m*g] - force\n"
        "observe law, power = dot(I*omega', omega) + m*dot(velocity', velocity) + "
        "m*g*com.z', first = omega.x', spin = quat.w'\n",
        NULL);
    for (int k = 0; k <= 10; k++) {
        double law[3];
        assert_int_equal(motion_to(&m, 0.2 * k), NS_OK);
        motion_vector(&m, "law", law);
        for (int i = 0; i < 3; i++)
            assert_true(fabs(law[i]) < 1e-12); /* forces of 20 N */
        assert_true(fabs(motion_get(&m, "power")) < 1e-12);
        assert_true(fabs(motion_get(&m, "first")) > 1e-3);
    }
    motion_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals), cmocka_unit_test(orientations), cmocka_unit_test(positions),
        cmocka_unit_test(scales),   cmocka_unit_test(reduced),      cmocka_unit_test(hollow),
        cmocka_unit_test(rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
