/* draw blocks: what they put into the scene, with numbers, and what is said about mistakes. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/eval.h"

#define PENDULUM                                                                               \
    "param l = 2, m = 1, g = 9.81\ncoordinate a\nlet p = l*[sin(a), -cos(a)]\n"                \
    "lagrangian m/2*dot(p', p') - m*g*p.y\nstart { a = 0.3; a' = 0.7 }\nobserve h = p.y\n"

static ns_model *model(const char *text)
{
    ns_model *m = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(m);
    if (m->status)
        fail_msg("%s", m->messages);
    return m;
}

static void values(const ns_model *m, const ns_ex *f, size_t n, double *out)
{
    ns_system_eval(m->system, f, n, 0.5, m->p, m->x0, out);
}

static void expect(const ns_model *m, ns_v3 v, double x, double y, double z)
{
    double at[3];
    values(m, v.at, 3, at);
    assert_true(fabs(at[0] - x) < 1e-15 && fabs(at[1] - y) < 1e-15 && fabs(at[2] - z) < 1e-15);
}

static void test_plane(void **state)
{
    (void)state;
    ns_model *m = model(PENDULUM "draw side {\n"
                                 "    pin: point [0, 0]\n"
                                 "    rod [0, 0], p, radius = l/50, colour = blue\n"
                                 "    bob: ball p, 0.1 m\n"
                                 "    ball [0, 0], 0.05, a\n"
                                 "    \"the path\": trail p\n"
                                 "    arrow p, p', unit = \"m/s\", color = \"#12ab9F\"\n"
                                 "    weight: arrow p, [0, m*p''[2]], scale = 0.1/m\n"
                                 "}\n");
    const ns_scene *s = &m->system->scene;
    const double x = 2 * sin(0.3), y = -2 * cos(0.3);
    assert_int_equal(s->view, NS_VIEW_SIDE);
    assert_int_equal(s->bodies.n, 2);
    assert_string_equal(s->bodies.at[0].name, "bob");
    assert_string_equal(s->bodies.at[1].name, "ball");
    expect(m, s->bodies.at[0].position, x, 0, y);
    assert_int_equal(s->bodies.at[0].quat[0], 0); /* never turns */
    double q[4], size;
    values(m, s->bodies.at[1].quat, 4, q); /* from x to z: about -y */
    assert_true(fabs(q[0] - cos(0.15)) < 1e-15 && fabs(q[2] + sin(0.15)) < 1e-15);
    assert_int_equal(s->links.n, 1);
    expect(m, s->links.at[0].b, x, 0, y);
    values(m, &s->links.at[0].radius, 1, &size);
    assert_true(size == 0.04);
    assert_string_equal(s->links.at[0].colour, "blue");
    assert_int_equal(s->paths.n, 1);
    assert_string_equal(s->paths.at[0].name, "the path");
    assert_string_equal(s->points.at[0].name, "pin");
    assert_string_equal(s->arrows.at[0].unit, "m/s");
    assert_string_equal(s->arrows.at[0].colour, "#12ab9F");
    expect(m, s->arrows.at[0].vector, 1.4 * cos(0.3), 0, 1.4 * sin(0.3));
    /* accelerations are the equations' own: a'' = -g/l sin a */
    double alpha = -9.81 / 2 * sin(0.3), up;
    values(m, &s->arrows.at[1].vector.at[2], 1, &up);
    assert_true(fabs(up - 2 * (alpha * sin(0.3) + 0.49 * cos(0.3))) < 1e-14);
    ns_model_free(m);
    /* seen from above the second component is y; a block without a view is seen from above */
    m = model(PENDULUM
              "draw {\n box p, [1, 2], a + pi/2\n}\ndraw {\n box [1, 2], [1, 2, 3]\n}\n");
    s = &m->system->scene;
    assert_int_equal(s->view, NS_VIEW_ABOVE);
    assert_string_equal(s->bodies.at[1].name, "box 2");
    expect(m, s->bodies.at[0].position, x, y, 0);
    values(m, s->bodies.at[0].quat, 4, q);
    double half = (0.3 + acos(-1) / 2) / 2;
    assert_true(fabs(q[0] - cos(half)) < 1e-15 && fabs(q[3] - sin(half)) < 1e-15);
    double edges[6];
    values(m, s->bodies.at[0].shapes.at[0].size, 3, edges); /* half as high as it is wide */
    values(m, s->bodies.at[1].shapes.at[0].size, 3, edges + 3);
    assert_true(edges[0] == 1 && edges[1] == 2 && edges[2] == 1 && edges[5] == 3);
    ns_model_free(m);
}

/* A quaternion as a matrix. */
static void rotate(const double q[4], const double v[3], double out[3])
{
    const double w = q[0], *u = q + 1;
    double c[3];
    for (int i = 0; i < 3; i++)
        c[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3] + w * v[i];
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + 2 * (u[(i + 1) % 3] * c[(i + 2) % 3] - u[(i + 2) % 3] * c[(i + 1) % 3]);
}

/* Turns about own axes and a matrix that says the same, at orientations of all kinds. */
static void test_turns(void **state)
{
    (void)state;
    static const char text[] =
        "param a = 0.4, b = -1.1, c = 2.9\ncoordinate q\nlagrangian q'^2/2\nstart { q = 0; q' "
        "= 0 }\n"
        "let Rz(s) = [[cos(s), -sin(s), 0], [sin(s), cos(s), 0], [0, 0, 1]]\n"
        "let Rx(s) = [[1, 0, 0], [0, cos(s), -sin(s)], [0, sin(s), cos(s)]]\n"
        "let Ry(s) = [[cos(s), 0, sin(s)], [0, 1, 0], [-sin(s), 0, cos(s)]]\n"
        "draw space {\n disk [q, 0, 0], 1, z = a, x = b, y = c\n"
        " disk [q, 0, 0], 1, turn = Rz(a)*Rx(b)*Ry(c)\n}\n";
    static const char *const angles[][3] = {
        {"0.4", "-1.1", "2.9"}, {"0", "0", "0"},          {"pi", "0", "0"},
        {"0", "pi", "0"},       {"0", "0", "pi"},         {"pi/2", "pi/2", "0"},
        {"pi/2", "0", "pi/2"},  {"-pi/2", "-pi/2", "pi"}, {"3", "3", "3"},
        {"0", "-3.1", "0.2"},   {"6", "-5", "4"}};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        const ns_override set[] = {
            {"a", angles[i][0]}, {"b", angles[i][1]}, {"c", angles[i][2]}};
        ns_model *m = ns_model_load_text("test", text, strlen(text), set, 3, NS_MODEL_READY);
        assert_non_null(m);
        if (m->status)
            fail_msg("%s", m->messages);
        double q[2][4];
        assert_int_equal(m->system->scene.view, NS_VIEW_SPACE);
        for (uint32_t k = 0; k < 2; k++)
            values(m, m->system->scene.bodies.at[k].quat, 4, q[k]);
        const double *p = m->p, v[3] = {0.3, -0.5, 0.7};
        /* Rz(a) Rx(b) Ry(c) v by hand */
        double y[3] = {v[0] * cos(p[2]) + v[2] * sin(p[2]), v[1],
                       -v[0] * sin(p[2]) + v[2] * cos(p[2])};
        double x[3] = {y[0], y[1] * cos(p[1]) - y[2] * sin(p[1]),
                       y[1] * sin(p[1]) + y[2] * cos(p[1])};
        double z[3] = {x[0] * cos(p[0]) - x[1] * sin(p[0]), x[0] * sin(p[0]) + x[1] * cos(p[0]),
                       x[2]};
        for (int k = 0; k < 2; k++) {
            double got[3], norm = 0;
            for (int j = 0; j < 4; j++)
                norm += q[k][j] * q[k][j];
            rotate(q[k], v, got);
            assert_true(fabs(norm - 1) < 4e-15);
            for (int j = 0; j < 3; j++)
                if (!(fabs(got[j] - z[j]) < 1e-14))
                    fail_msg("turn %d of %s %s %s: %g", k, angles[i][0], angles[i][1],
                             angles[i][2], got[j] - z[j]);
        }
        ns_model_free(m);
    }
}

static void test_curves(void **state)
{
    (void)state;
    ns_model *m = model(PENDULUM
                        "let track(u) = [u, l*u^2]\nlet hill(x, y) = x*y/l\n"
                        "draw side {\n ground track, -1, l\n wire track, 0, 1, radius = 0.1\n"
                        " curve track, 0, 2*pi\n}\n");
    const ns_scene *s = &m->system->scene;
    assert_int_equal(s->curves.n, 3);
    assert_int_equal(s->curves.at[0].kind, NS_CURVE_GROUND);
    double range[2], z;
    values(m, s->curves.at[0].range, 2, range);
    assert_true(range[0] == -1 && range[1] == 2);
    ns_ex symbols[2] = {s->curves.at[0].u, m->description->params.at[0].symbol};
    double at[2] = {3, 2};
    ns_eval(m->system->graph, &s->curves.at[0].point.at[2], 1, symbols, at, 2, &z);
    assert_true(z == 18);
    ns_model_free(m);
    m = model(PENDULUM
              "let hill(x, y) = x*y/l\ndraw space {\n surface hill\n point [0, 0, p.y]\n}\n");
    s = &m->system->scene;
    assert_int_equal(s->ground.kind, NS_DRAW_GRAPH);
    ns_ex local[3] = {s->ground.x[0], s->ground.x[1], symbols[1]};
    local[2] = m->description->params.at[0].symbol;
    ns_eval(m->system->graph, &s->ground.F, 1, local, (double[]){3, 5, 2}, 3, &z);
    assert_true(z == 7.5);
    ns_model_free(m);
}

static void test_algebra(void **state)
{
    (void)state;
    ns_model *m = model(
        "param A = 1, B = 2, C = 3\n"
        "state x' = (1/C - 1/B)*y*z, y' = (1/A - 1/C)*z*x, z' = (1/B - 1/A)*x*y\n"
        "start { x = 0.1; y = 2; z = 0.3 }\nlet M = [x, y, z]\n"
        "observe E = (x^2/A + y^2/B + z^2/C)/2\n"
        "draw algebra {\n momentum: point M, unit = \"kg m^2/s\"\n"
        " sphere norm(M)\n energy: ellipsoid [sqrt(2*E*A), sqrt(2*E*B), sqrt(2*E*C)]\n"
        " plane [0, 0, 1], 0.3, colour = green\n mark [0, 1, 0]\n"
        " velocity: arrow [x/A, y/B, z/C]\n axes \"M1\", \"M2\", \"M3\"\n}\n");
    const ns_scene_algebra *a = &m->system->scene.algebra;
    assert_true(a->drawn);
    assert_string_equal(a->name, "momentum");
    assert_string_equal(a->unit, "kg m^2/s");
    assert_string_equal(a->axes[2], "M3");
    assert_int_equal(a->levels.n, 4);
    assert_int_equal(a->vectors.n, 1);
    expect(m, a->point, 0.1, 2, 0.3);
    double r, half[3];
    values(m, &a->levels.at[0].size, 1, &r);
    assert_true(fabs(r - sqrt(4.1)) < 1e-15);
    values(m, a->levels.at[1].at.at, 3, half);
    assert_true(fabs(0.01 / (half[0] * half[0]) + 4 / (half[1] * half[1]) +
                     0.09 / (half[2] * half[2]) - 1) < 1e-15);
    ns_model_free(m);
}

static uint32_t drawn(const ns_scene *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->bodies.n; i++)
        n += s->bodies.at[i].shapes.n > 0 || s->bodies.at[i].drawing.kind != NS_DRAW_NONE;
    return n;
}

/* Formulation constrained: shapes as stated, wheels and rods from constraints, and what a draw
 * block says instead of a guess. */
static void test_constrained(void **state)
{
    (void)state;
    ns_model *m = model(
        "param r = 0.3\nbody W { mass 1; inertia diag(1, 2, 1) }\n"
        "body B { mass 2; inertia diag(1, 1, 1); tip = [0, 0, 0.5]; end = [0.4, 0, 0] }\n"
        "particle P { mass 1 }\nlabel L { at B.tip }\n"
        "constraint roll: wheel(W, r)\n"
        "constraint axle: revolute(W.position, B.position, W.e2, B.e2)\n"
        "constraint stick: rod(P, B.tip, 0.25)\n"
        "spring { from P; to B.end; stiffness 3; length 0.1 }\n"
        "start { W.position = [0, 0, r]; W.quat = [1, 0, 0, 0]; B.quat = [1, 0, 0, 0]\n"
        "        B.position ~ [0, 0, r]; P ~ [0, 0, 1.05]; L ~ [0, 0, 0.8]\n"
        "        W.omega = [0, 1, 0] }\n");
    const ns_scene *s = &m->system->scene;
    assert_int_equal(s->view, NS_VIEW_SPACE);
    assert_int_equal(drawn(s), 2);
    assert_int_equal(s->bodies.at[0].shapes.at[0].kind, NS_SHAPE_WHEEL);
    assert_int_equal(s->bodies.at[1].shapes.n, 2);
    assert_int_equal(s->bodies.at[1].shapes.at[0].kind, NS_SHAPE_ROD);
    assert_int_equal(s->ground.kind, NS_DRAW_PLANE);
    assert_int_equal(s->links.n, 2);
    assert_int_equal(s->links.at[0].kind, NS_LINK_ROD);
    assert_int_equal(s->links.at[1].kind, NS_LINK_SPRING);
    double a[3], b[3];
    values(m, s->links.at[0].a.at, 3, a);
    values(m, s->links.at[0].b.at, 3, b);
    assert_true(fabs(hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]) - 0.25) < 1e-12);
    bool contact = false;
    for (uint32_t i = 0; i < s->paths.n; i++)
        if (s->paths.at[i].role == NS_PATH_CONTACT) {
            expect(m, s->paths.at[i].point, 0, 0, 0);
            contact = true;
        }
    assert_true(contact);
    assert_int_equal(s->points.n, 3); /* the joint, P and L */
    ns_model_free(m);
    /* a contact: the shape is the body's own, the path is on it and on the ground */
    m = model(
        "ground plane\nbody S sphere(0.2) { mass 1; inertia diag(1, 1, 1) }\n"
        "body Q { mass 1; inertia diag(2, 3, 4) }\n"
        "constraint touch: rolling(S, ground)\nconstraint pin: ball(S.position, Q.position)\n"
        "start { S.quat = [1, 0, 0, 0]; Q.quat = [1, 0, 0, 0]; S.omega = [0, 1, 0]; Q.omega = "
        "[0, 0, 0] }\n");
    s = &m->system->scene;
    assert_true(s->bodies.at[0].drawing.kind != NS_DRAW_NONE && !s->bodies.at[0].guessed);
    assert_true(s->bodies.at[1].guessed);
    assert_int_equal(s->bodies.at[1].shapes.at[0].kind, NS_SHAPE_ELLIPSOID);
    double axes[3], square[3]; /* the ellipsoid has the inertia (b^2 + c^2)/5, ... */
    values(m, s->bodies.at[1].shapes.at[0].size, 3, axes);
    for (int i = 0; i < 3; i++)
        square[i] = axes[i] * axes[i] / 5;
    assert_true(fabs(square[1] + square[2] - 2) < 1e-14 &&
                fabs(square[2] + square[0] - 3) < 1e-14 &&
                fabs(square[0] + square[1] - 4) < 1e-14);
    assert_int_equal(s->arrows.n, 1);
    int on_body = 0;
    for (uint32_t i = 0; i < s->paths.n; i++)
        on_body += s->paths.at[i].body == 0;
    assert_int_equal(on_body, 1);
    ns_model_free(m);
    /* the bicycle: its own lines take the place of all guesses; wheels touch the ground */
    m = motion_model_file("bicycle", NULL);
    s = &m->system->scene;
    uint32_t wheels = 0;
    for (uint32_t i = 0; i < s->bodies.n; i++) {
        if (i < 4) /* R, B, H, F themselves */
            assert_true(s->bodies.at[i].shapes.n == 0 &&
                        s->bodies.at[i].drawing.kind == NS_DRAW_NONE);
        wheels += s->bodies.at[i].shapes.n &&
                  s->bodies.at[i].shapes.at[0].kind == NS_SHAPE_WHEEL;
    }
    assert_int_equal(wheels, 2);
    assert_true(s->links.n >= 10);
    for (uint32_t i = 0; i < s->paths.n; i++)
        if (strstr(s->paths.at[i].name, "contact")) {
            values(m, &s->paths.at[i].point.at[2], 1, a);
            assert_true(fabs(a[0]) < 1e-13);
        }
    ns_model_free(m);
}

static const struct {
    const char *block, *words;
} mistakes[] = {
    {"draw side {\n rodd [0, 0], p\n}", "8:2: error: cannot draw `rodd`; did you mean `rod`?"},
    {"draw side {\n rod [0, 0]\n}", "8:2: error: expected `rod A, B`, found 1 value"},
    {"draw side {\n rod [0, 0], q\n}",
     "8:14: error: expected an end, a vector of 2 or 3, found `q`"},
    {"draw side {\n rod [0, 0], a\n}",
     "8:14: error: expected an end, a vector of 2 or 3, found a number"},
    {"draw space {\n rod [0, 0], p\n}",
     "8:6: error: expected an end, a vector of 3, found a vector of 2"},
    {"draw side {\n rod [0, 0], p, color = bleu\n}",
     "8:25: error: expected a colour: one of blue,"},
    {"draw side {\n rod [0, 0], p, spokes = 3\n}",
     "8:17: error: `rod` has no option `spokes`; there are: colour, color, radius"},
    {"draw side {\n ball p, 0.1*a\n}", "8:10: error: a size must not change during the motion"},
    {"draw side {\n ball p, t\n}", "8:10: error: a size must not change"},
    {"draw side {\n ball p, 0.1, p\n}", "8:15: error: expected an angle, found a vector of 2"},
    {"draw side {\n ball p, 1 + missing\n}", "8:14: error: undefined name `missing`"},
    {"draw sideways {\n ball p, 1\n}", "7:6: error: there is no view `sideways`"},
    {"draw side {\n ball p, 1\n}\ndraw above {\n ball p, 1\n}",
     "10:6: error: the picture is seen from one place"},
    {"draw side {\n curve p, 0, 1\n}",
     "8:8: error: expected the name of a function of one number, NAME(u), found a vector of 2"},
    {"draw side {\n ground hill, 0, 1\n}",
     "8:9: error: expected the name of a function of one number"},
    {"draw space {\n disk [0, 0, 0], 1, a\n}",
     "8:21: error: in space a thing is turned by options"},
    {"draw space {\n disk [0, 0, 0], 1, turn = [1, 0]\n}",
     "8:28: error: expected a quaternion"},
    {"draw side {\n wheel p, 1, spokes = 1000\n}",
     "8:23: error: expected a number from 1 to 100"},
    {"draw side {\n polygon p, [[1, 2], [3, 4]]\n}", "8:13: error: expected corners [[x, y]"},
    {"draw algebra {\n rod [0, 0], p\n}",
     "8:2: error: cannot draw `rod`; there are: point, sphere"},
    {"draw side {\n point p,\n}", "expected an expression"},
    {"draw side {\n 3\n}", "8:2: error: expected what to draw"},
    {"draw side {\n floor\n floor 1\n}", "9:2: error: there is a ground already"},
    {"draw side {\n ball p, 1\n", "expected `}`"},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char text[2000];
        snprintf(text, sizeof text, PENDULUM "%s\nlet hill(x, y) = x\n", mistakes[i].block);
        ns_model *m = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_DERIVED);
        assert_non_null(m);
        if (m->status != NS_ERR_MODEL || !strstr(m->messages, mistakes[i].words))
            fail_msg("%s\ngave %d:\n%s", mistakes[i].block, m->status, m->messages);
        ns_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane),       cmocka_unit_test(test_turns),
        cmocka_unit_test(test_curves),      cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_constrained), cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
