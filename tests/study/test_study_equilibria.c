/* Steady motions, their eigenvalues and branches, against closed forms and published digits. */
#include "support/measure.h"
#include "support/study.h"
#include "support/texts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/steady/equilibria.h"

static const double g = 9.81;

static study open_model(ns_model *model)
{
    const study s = study_open(model);
    assert_true(ns_flow_autonomous(s.flow));
    return s;
}

static void has(const ns_linear *l, double re, double im, double tolerance, const char *what)
{
    double nearest = HUGE_VAL;
    for (uint32_t i = 0; i < l->n; i++)
        nearest = fmin(nearest, hypot(l->eigenvalue[i].re - re, l->eigenvalue[i].im - im));
    if (!(nearest <= tolerance))
        fail_msg("%s: no eigenvalue near %.15g%+.15gi (nearest at %.2e)", what, re, im,
                 nearest);
}

/* The steady motion nearest to the start. */
static const ns_linear *at_start(study *s, ns_steady_point *point)
{
    const ns_steady_spec spec = {.over = UINT32_MAX};
    ns_steady *q = ns_steady_new(s->arena, s->flow, &spec, s->model->x0);
    if (!ns_steady_find(q, s->model->x0, point))
        fail_msg("no steady motion: residual %.2e", point->residual);
    return ns_linear_at(s->flow, ns_steady_generators(q), s->arena, point->x, point->c, NULL);
}

static const ns_branch *follow(study *s, const char *name, double low, double high)
{
    const ns_description *d = s->model->description;
    ns_steady_spec spec = {.low = low, .high = high};
    while (spec.over < d->params.n && strcmp(d->params.at[spec.over].name, name) != 0)
        spec.over++;
    assert_true(spec.over < d->params.n);
    ns_steady *q = ns_steady_new(s->arena, s->flow, &spec, s->model->x0);
    const char *message = "";
    const ns_branch *b = ns_steady_follow(q, &message);
    if (!b)
        fail_msg("%s", message);
    return b;
}

/* The only special point of a branch. */
static double only(const ns_branch *b, const char *label)
{
    for (uint32_t i = 0; i < b->special.n; i++)
        print_message("  %s at %.17g: %s\n", b->special.at[i].label, b->special.at[i].parameter,
                      b->special.at[i].note);
    assert_int_equal(b->special.n, 1);
    if (label)
        assert_string_equal(b->special.at[0].label, label);
    return b->special.at[0].parameter;
}

static double critical(const char *text, const char *set, const char *name, double low,
                       double high, const char *label)
{
    study s = open_model(motion_model_text(text, set));
    const double found = only(follow(&s, name, low, high), label);
    study_close(&s);
    return found;
}

/* Special points are located to the rounding of what defines them in double: the parameter,
 * constants of the model and its start, some ten of them, each with a weight of about one. */
static const double digits = 20 * DBL_EPSILON;

/* ---- normal forms ------------------------------------------------------------------------ */

static void normal_forms(void **state)
{
    (void)state;
    /* x' = p - x^2: down from x = 1 through the fold at 0 and back up along x = -sqrt p */
    study s = open_model(
        motion_model_text("param p = 1\nstate x' = p - x^2\nstart { x = 1 }\n", NULL));
    const ns_branch *b = follow(&s, "p", 1, -1);
    measure_near(only(b, "fold"), 0, digits, "fold");
    const ns_steady_point *last = &b->points.at[b->points.n - 1];
    measure_near(last->parameter, 1, 1e-12, "the branch comes back");
    measure_near(last->x[0], -1, 1e-12, "on the other side");
    measure_near(last->linear->eigenvalue[0].re, 2, 1e-11, "eigenvalue 2 sqrt p");
    study_close(&s);
    measure_near(critical("param p = 0, e = 1\nstate x' = (p - 0.3)*x - x^3\nstate y' = -y\n",
                          NULL, "p", -1, 1, "pitchfork"),
                 0.3, 0.3 * digits, "pitchfork");
    measure_near(critical("param p = 0\nstate x' = (p - 0.3)*x - x^2\nstate y' = -y\n", NULL,
                          "p", -1, 1, "branch point"),
                 0.3, 0.3 * digits, "transcritical");
    measure_near(critical("param p = 0\nstate x' = (p - 0.3)*x - 2*y - x*(x^2 + y^2)\n"
                          "state y' = 2*x + (p - 0.3)*y - y*(x^2 + y^2) + x^2\n",
                          NULL, "p", -1, 1, "hopf"),
                 0.3, 0.3 * digits, "hopf");
    /* two curved branches that cross at p = 1, x = 1, and a state that follows */
    measure_near(
        critical("param p = 0.5\nstate x' = (x - p^2)*(x - 2 + p)\nstate y' = x^3 - 2*y\n"
                 "start { x = p^2; y = p^6/2 }\n",
                 NULL, "p", 0.5, 1.3, "branch point"),
        1, digits, "two curves");
    /* Brusselator: the pair passes at B = 1 + A^2 */
    measure_near(critical("param A = 1.3, B = 2\nstate x' = A + x^2*y - (B + 1)*x\n"
                          "state y' = B*x - x^2*y\nstart { x = A; y = B/A }\n",
                          NULL, "B", 2, 3.1, "hopf"),
                 1 + 1.3 * 1.3, 3 * digits, "Brusselator");
    /* x' = p + x - x^3: the fold at x = 1/sqrt 3, p = -2/(3 sqrt 3) */
    s = open_model(motion_model_text("param p = 1\nstate x' = p + x - x^3\nstate y' = x - y\n"
                                     "start { x = 1.3; y = 1.3 }\n",
                                     NULL));
    b = follow(&s, "p", 1, -0.5);
    assert_true(b->special.n >= 1);
    assert_string_equal(b->special.at[0].label, "fold");
    measure_near(b->special.at[0].parameter, -2 / sqrt(27), digits, "fold of a cubic");
    measure_near(b->special.at[0].x[0], 1 / sqrt(3), digits, "its state");
    study_close(&s);
}

/* A bead on a hoop that turns: the bottom loses stability at rate^2 = g/R, by a pitchfork. */
static void bead(void **state)
{
    (void)state;
    measure_near(
        critical("param w = 1, R = 0.3\ncoordinate theta\n"
                 "lagrangian R^2/2*(theta'^2 + w^2*sin(theta)^2) + 9.81*R*cos(theta)\n",
                 NULL, "w", 1, 10, "pitchfork"),
        sqrt(g / 0.3), 6 * digits, "bead on a hoop");
}

/* An unbalanced disk on top of a circle, centre of mass below its centre: stable iff
 * R > r (r - l)/l (COVERAGE j-top). */
static void on_top(void **state)
{
    (void)state;
    static const char text[] =
        "param r = 1, l = 0.3, R = 2, m = 2, J = 0.7\ncoordinate phi\n"
        "let psi = (R + r)/r*phi\n"
        "let x = (R + r)*sin(phi) - l*sin(psi), y = (R + r)*cos(phi) - l*cos(psi)\n"
        "lagrangian m/2*(x'^2 + y'^2) + J/2*psi'^2 - m*9.81*y\n";
    for (int i = 0; i < 3; i++) {
        const double l = 0.2 + 0.15 * i, expected = (1 - l) / l;
        char set[40];
        snprintf(set, sizeof set, "l=%.17g", l);
        const double found = critical(text, set, "R", 0.3 * expected, 2 * expected,
                                      "pitchfork");
        measure_near(found, expected, digits * expected, "critical radius");
    }
}

/* ---- wheels ------------------------------------------------------------------------------ */

#define WHEEL                                                                                  \
    "param rate = 0, turning = 0\nground plane\nbody %s { mass 0.7; uniform }\n"               \
    "start { tilt 90 deg; omega [0, turning, rate] }\n"

/* Rolling straight: stable iff rate^2 > g/(3 a) for a disk, g/(4 a) for a hoop; spinning on a
 * diameter: iff 4 g/(5 a), 2 g/(3 a).  Here the parameter enters the start alone. */
static void wheels(void **state)
{
    (void)state;
    static const struct {
        const char *body, *name;
        double expected2;
    } cases[] = {
        {"disk(0.1)", "rate", 1 / 0.3},
        {"hoop(0.25)", "rate", 1 / 1.0},
        {"disk(0.1)", "turning", 4 / 0.5},
        {"hoop(0.25)", "turning", 2 / 0.75},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, WHEEL, cases[i].body);
        const double expected = sqrt(g * cases[i].expected2);
        const double found = critical(text, NULL, cases[i].name, 0.4 * expected, 2.1 * expected,
                                      "double zero");
        print_message("%s, %s: %.17g, expected %.17g\n", cases[i].body, cases[i].name, found,
                      expected);
        measure_near(found, expected, digits * expected, cases[i].body);
    }
}

/* Directions of a rolling disk: 8 on the manifold, of which 4 are symmetries (two shifts, a
 * turn of the plane, the spin of the disk) and 2 lead to neighbouring steady motions (rate,
 * circle). */
static void directions(void **state)
{
    (void)state;
    char text[300];
    snprintf(text, sizeof text, WHEEL, "disk(0.1)");
    study s = open_model(motion_model_text(text, "rate=3"));
    ns_steady_point point;
    const ns_linear *l = at_start(&s, &point);
    assert_int_equal(l->tangent, 8);
    assert_int_equal(l->symmetry, 4);
    assert_int_equal(l->family, 2);
    assert_int_equal(l->n, 2);
    /* (A + a^2) lambda^2 = g a - C (C + a^2) rate^2/A */
    const double a = 0.1, A = a * a / 4, C = a * a / 2;
    const double lambda = sqrt((g * a - C * (C + a * a) * 9 / A) / (A + a * a));
    has(l, lambda, 0, 1e-11 * lambda, "disk");
    has(l, -lambda, 0, 1e-11 * lambda, "disk");
    study_close(&s);

    /* a circle of the hoop, from a state beside it: Newton's method finds a steady motion */
    s = open_model(motion_model_file("hoop", NULL));
    s.model->x0[motion_state(&(motion){.model = s.model}, "omega.x")] += 0.02;
    s.model->x0[motion_state(&(motion){.model = s.model}, "omega.y")] -= 0.01;
    l = at_start(&s, &point);
    assert_true(point.rounds > 0);
    assert_int_equal(l->n, 2);
    assert_int_equal(l->unstable, 0);
    assert_true(fabs(l->eigenvalue[0].im) > 1);
    study_close(&s);
}

/* ---- rattleback -------------------------------------------------------------------------- */

/* Kane and Levinson's stone (COVERAGE x-rattleback); full and reduced equations agree, and
 * reversing the spin reverses the spectrum. */
static void rattleback(void **state)
{
    (void)state;
    char text[400];
    snprintf(text, sizeof text, STONE, "");
    ns_steady_point point;
    study s = open_model(motion_model_text(text, NULL));
    const ns_linear *full = at_start(&s, &point);
    print_message("rattleback: %.12g +- %.12g i\n", full->eigenvalue[0].re,
                  full->eigenvalue[0].im);
    has(full, 2.1207, 109.392, 5e-4, "spin -5");
    measure_near(full->eigenvalue[0].re, 2.1207, 5e-5, "growth");
    assert_int_equal(full->symmetry, 3); /* two shifts, a turn */
    assert_int_equal(full->family, 1);   /* the rate of spin */
    assert_int_equal(full->n, 4);
    assert_int_equal(full->unstable, 2);

    snprintf(text, sizeof text, STONE, "reduced;");
    study r = open_model(motion_model_text(text, "spin=5"));
    const ns_linear *reduced = at_start(&r, &point);
    assert_int_equal(reduced->n, 4);
    assert_int_equal(reduced->symmetry, 0);
    for (uint32_t i = 0; i < reduced->n; i++)
        has(full, -reduced->eigenvalue[i].re, reduced->eigenvalue[i].im, 1e-9, "reversed");
    study_close(&r);
    study_close(&s);
}

/* ---- bicycle ----------------------------------------------------------------------------- */

/* Benchmark of Meijaard, Papadopoulos, Ruina and Schwab 2007, Table 2 and section 6 (COVERAGE
 * x-bicycle): every digit of it, from the nonlinear model. */
static void bicycle(void **state)
{
    (void)state;
    study s = open_model(motion_model_file("bicycle", "v=4; kick=0"));
    ns_steady_point point;
    const ns_linear *l = at_start(&s, &point);
    assert_int_equal(l->tangent, 10);
    assert_int_equal(l->symmetry, 5); /* two shifts, a turn, two wheels */
    assert_int_equal(l->family, 1);   /* the speed */
    assert_int_equal(l->n, 4);
    has(l, 0.413253315211, 3.079108186032, 1e-12, "weave");
    has(l, -1.429444273613, 0, 1e-12, "capsize");
    has(l, -12.158614265764, 0, 1e-12, "caster");

    const ns_branch *weave = follow(&s, "v", 4.2, 4.4);
    assert_int_equal(weave->special.n, 1);
    assert_string_equal(weave->special.at[0].label, "hopf");
    const ns_branch *capsize = follow(&s, "v", 5.9, 6.1);
    assert_int_equal(capsize->special.n, 1);
    print_message("bicycle: weave at %.17g, capsize at %.17g\n", weave->special.at[0].parameter,
                  capsize->special.at[0].parameter);
    /* Meijaard's formulas, Appendix A, in 50 digits.  The slope of the capsize eigenvalue is
     * 0.16, entries of the Jacobian are a hundred times larger: their last bit would be worth
     * 1e-13, were they known in double only.  Where it passes zero, directions of the family
     * (the speed) and of the other branch (the lean) are to be told apart. */
    measure_near(weave->special.at[0].parameter, 4.292382536341104, 1e-13 * 4.3, "weave speed");
    measure_near(capsize->special.at[0].parameter, 6.024262015388359, 1e-13 * 6.0,
                 "capsize speed");
    study_close(&s);
}

/* ---- curves of eigenvalues --------------------------------------------------------------- */

/* Sorted eigenvalues change places where two curves cross; joined ones go straight on.  Where
 * two real ones become a pair both are used. */
static void joined(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    const ns_eigenvalue guess[] = {{0.4, 0}, {0.6, 0}, {0, -1}, {0, 1}};
    const ns_eigenvalue now[] = {{0.61, 0}, {0.41, 0}, {0.01, 1.02}, {0.01, -0.98}};
    const uint32_t expected[] = {1, 0, 3, 2};
    uint32_t order[4];
    ns_linear_join(arena, 4, guess, now, order);
    assert_memory_equal(order, expected, sizeof expected);
    const ns_eigenvalue equal[] = {{0.5, 0}, {0.5, 0}}, pair[] = {{0.5, 0.1}, {0.5, -0.1}};
    ns_linear_join(arena, 2, equal, pair, order);
    assert_int_equal(order[0] + order[1], 1);
    const ns_eigenvalue nothing[] = {{NAN, NAN}, {NAN, NAN}};
    ns_linear_join(arena, 2, equal, nothing, order);
    assert_int_equal(order[0] + order[1], 1);
    ns_arena_free(arena);
}

/* A damped oscillator commutes with linear maps of (x, v), all of which leave its rest where it
 * is: they take no direction away and turn no frame.  -c/2 +- i sqrt(k - c^2/4). */
static void at_rest(void **state)
{
    (void)state;
    study s = open_model(
        motion_model_text("state x' = v, v' = -2*x - 0.3*v\nstart { x = 1; v = 1 }\n", NULL));
    ns_steady_point point;
    const ns_linear *l = at_start(&s, &point);
    assert_int_equal(l->n, 2);
    assert_int_equal(l->symmetry, 0);
    has(l, -0.15, sqrt(2 - 0.15 * 0.15), digits, "damped oscillator");
    study_close(&s);
}

/* Derivatives by the first parameter, with the arena of the study. */
static const ns_steady_point *moved(study *s, uint32_t n_by, const uint32_t *by)
{
    const ns_steady_spec spec = {.over = UINT32_MAX, .by = by, .n_by = n_by};
    ns_steady *q = ns_steady_new(s->arena, s->flow, &spec, s->model->x0);
    const ns_steady_set set = ns_steady_find_all(q, 1, s->model->x0);
    assert_int_equal(set.found.n, 1);
    return &set.found.at[0];
}

/* A bead on a turning hoop rests where cos q = g/(R W^2) and swings with the rate W sin q; with
 * the damping 2 d the rate is -d +- i sqrt(W^2 sin^2 q - d^2).  At a fold nothing has
 * derivatives; where eigenvalues coincide they have none. */
static void derivatives(void **state)
{
    (void)state;
    static const uint32_t by[] = {0, 1, 2};
    study s = open_model(motion_model_text(
        "param W = 7, d = 0.5, R = 0.5, g = 9.81\ncoordinate q\n"
        "lagrangian R^2/2*(q'^2 + W^2*sin(q)^2) + g*R*cos(q)\nforce q = -2*d*R^2*q'\n"
        "start { q = 1; q' = 0 }\nobserve twice = 2*R*q\n",
        NULL));
    const ns_steady_point *p = moved(&s, 3, by);
    const double W = 7, R = 0.5, d = 0.5, q = acos(g / (R * W * W)), sine = sin(q);
    const double q_W = 2 * g / (R * W * W * W) / sine, q_R = g / (R * R * W * W) / sine;
    const double rate = sqrt(W * W * sine * sine - d * d);
    const int64_t twice = ns_model_observable(s.model, "twice");
    const uint32_t m = s.model->system->observables.n;
    assert_true(fabs(p->rates->state[0] - q_W) < 1e-14);
    assert_true(fabs(p->rates->value[twice] - 2 * R * q_W) < 1e-14);
    assert_true(fabs(p->rates->value[m + twice]) < 1e-14);
    assert_true(fabs(p->rates->value[2 * m + twice] - 2 * q - 2 * R * q_R) < 1e-14);
    assert_int_equal(p->linear->n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const double sign = p->linear->eigenvalue[i].im > 0 ? 1 : -1;
        const ns_eigenvalue *e = &p->rates->eigenvalue[i];
        assert_true(
            hypot(e[0].re, e[0].im - sign * (W * sine * sine + W * W * sine * cos(q) * q_W) /
                                         rate) < 1e-13);
        assert_true(hypot(e[2].re + 1, e[2].im + sign * d / rate) < 1e-13);
    }
    study_close(&s);
    s = open_model(motion_model_text("param a = 0, k = 2\nstate x' = a - x^2, y' = -k*y\n"
                                     "start { x = 0; y = 0 }\n",
                                     NULL));
    p = moved(&s, 2, by);
    assert_true(isnan(p->rates->state[0]));
    /* by k nothing moves */
    assert_true(fabs(p->rates->value[s.model->system->observables.n +
                                     (size_t)ns_model_observable(s.model, "x")]) < 1e-15);
    study_close(&s);
    s = open_model(motion_model_text("param a = 1, k = 2\nstate x' = a - k*x, y' = -k*y\n"
                                     "start { x = 0; y = 0 }\n",
                                     NULL));
    p = moved(&s, 2, by);
    assert_true(fabs(p->rates->state[0] - 0.5) < 1e-15);
    assert_true(isnan(p->rates->eigenvalue[2].re));
    study_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives), cmocka_unit_test(normal_forms),
        cmocka_unit_test(bead),        cmocka_unit_test(on_top),
        cmocka_unit_test(wheels),      cmocka_unit_test(directions),
        cmocka_unit_test(rattleback),  cmocka_unit_test(bicycle),
        cmocka_unit_test(joined),      cmocka_unit_test(at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
