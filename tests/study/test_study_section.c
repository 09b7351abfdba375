/* Poincare sections and periodic motions against closed forms. */
#include "support/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/orbits/section.h"

typedef struct study {
    ns_model *model;
    ns_arena *arena;
    ns_flow *flow;
    ns_section_spec spec;
} study;

static uint32_t state_of(const study *s, const char *name)
{
    return motion_state(&(motion){.model = s->model}, name);
}

/* The surface is a state: NAME = 0. */
static study open_text(const char *text, const char *surface, double until)
{
    study s = {.model = motion_model_text(text, NULL), .arena = ns_arena_new()};
    s.flow = ns_flow_new(s.arena, ns_model_problem(s.model, true), 0, s.model->p, s.model->x0);
    s.spec.run = ns_model_run_options(s.model);
    s.spec.run.until = until;
    s.spec.crossings = 50;
    s.spec.surface.value = s.model->system->states.at[state_of(&s, surface)].symbol;
    s.spec.surface.direction = 1;
    return s;
}

static void close_study(study *s)
{
    ns_arena_free(s->arena);
    ns_model_free(s->model);
}

#define OSCILLATORS                                                                            \
    "param w = 1.4142135623730951\ncoordinate x, y\n"                                          \
    "lagrangian (x'^2 + y'^2)/2 - x^2/2 - w^2*y^2/2\nstart { x = 1; y = 0.3; x' = 0; y' = 0 "  \
    "}\n"

/* x = cos t rises through 0 at 3 pi/2 + 2 pi k; y = 0.3 cos(w t). */
static void crossings(void **state)
{
    (void)state;
    study s = open_text(OSCILLATORS, "x", 1000);
    double starts[3 * 4];
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(starts + 4 * i, s.model->x0, 4 * sizeof(double));
        starts[4 * i + state_of(&s, "x")] = 1 + 0.1 * i;
    }
    s.spec.threads = 3;
    const ns_section_track *many = ns_section_run(s.arena, s.flow, &s.spec, starts, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(many[i].status, NS_OK);
        assert_int_equal(many[i].n, 50);
        for (uint32_t k = 0; k < 50; k++) {
            const double t = 1.5 * M_PI + 2 * M_PI * k;
            measure_near(many[i].t[k], t, 1e-12 * t, "time");
            measure_near(many[i].x[4 * k + state_of(&s, "x")], 0, 1e-13, "on the surface");
            measure_near(many[i].x[4 * k + state_of(&s, "y")], 0.3 * cos(sqrt(2) * t), 1e-12,
                         "y");
        }
    }
    /* threads do not change a bit */
    s.spec.threads = 1;
    const ns_section_track *one = ns_section_run(s.arena, s.flow, &s.spec, starts, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_memory_equal(one[i].x, many[i].x, 50 * 4 * sizeof(double));
    /* the other direction, half a period later; and both */
    s.spec.surface.direction = -1;
    const ns_section_track *down = ns_section_run(s.arena, s.flow, &s.spec, starts, 1);
    measure_near(down->t[0], M_PI / 2, 1e-13, "falling");
    s.spec.surface.direction = 0;
    const ns_section_track *both = ns_section_run(s.arena, s.flow, &s.spec, starts, 1);
    measure_near(both->t[1] - both->t[0], M_PI, 1e-12, "both");
    close_study(&s);
}

/* Without native code, in lanes or not, all bits are the same. */
static void engines(void **state)
{
    (void)state;
    static const char *const methods[] = {"gauss", "dop853"};
    study s = open_text("coordinate x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - x^2*y + "
                        "y^3/3\nstart { x = 0; y = 0.1; x' = 0.3; y' = 0.05 }\n",
                        "x", 400);
    double starts[12 * 4];
    for (uint32_t i = 0; i < 12; i++) {
        memcpy(starts + 4 * i, s.model->x0, 4 * sizeof(double));
        starts[4 * i + state_of(&s, "y")] = 0.02 * i;
    }
    for (int m = 0; m < 2; m++) {
        s.spec.run.method = methods[m];
        s.spec.run.tolerance = 1e-12;
        unsetenv("NOSLIP_NATIVE");
        const ns_section_track *native = ns_section_run(s.arena, s.flow, &s.spec, starts, 12);
        setenv("NOSLIP_NATIVE", "c", 1); /* which these few crossings are not worth */
        const ns_section_track *plain = ns_section_run(s.arena, s.flow, &s.spec, starts, 12);
        unsetenv("NOSLIP_NATIVE");
        for (uint32_t i = 0; i < 12; i++) {
            assert_int_equal(native[i].n, 50);
            assert_int_equal(plain[i].n, 50);
            assert_memory_equal(native[i].t, plain[i].t, 50 * sizeof(double));
            assert_memory_equal(native[i].x, plain[i].x, 50 * 4 * sizeof(double));
        }
    }
    close_study(&s);
}

/* Starts with two conditions and one state given. */
static void starts(void **state)
{
    (void)state;
    study s = open_text(OSCILLATORS, "x", 10);
    const ns_system *system = s.model->system;
    const ns_condition conditions[2] = {{system->energy, 0.7}, {s.spec.surface.value, 0}};
    ns_starts *q = ns_starts_new(s.flow, conditions, 2);
    double x[4];
    bool fixed[4] = {false};
    const uint32_t y = state_of(&s, "y");
    fixed[y] = true;
    memcpy(x, s.model->x0, sizeof x);
    x[y] = -0.25;
    assert_true(ns_starts_solve(q, fixed, x));
    double E;
    ns_system_eval(system, &system->energy, 1, 0, s.model->p, x, &E);
    measure_near(E, 0.7, 1e-15, "energy");
    measure_near(x[state_of(&s, "x")], 0, 1e-16, "surface");
    assert_true(x[y] == -0.25);
    /* more energy than there is: y alone has 1 */
    x[y] = -1;
    assert_false(ns_starts_solve(q, fixed, x));
    close_study(&s);
}

/* y = 0 is a periodic motion of the oscillators: multipliers exp(+-2 pi i w). */
static void multipliers(void **state)
{
    (void)state;
    study s = open_text(OSCILLATORS, "x", 100);
    double x[4];
    memcpy(x, s.model->x0, sizeof x);
    x[state_of(&s, "x")] = 0;
    x[state_of(&s, "x'")] = 1;
    x[state_of(&s, "y")] = 1e-3;
    const ns_periodic *p = ns_section_periodic(s.arena, s.flow, &s.spec, 1, x);
    if (!p->found)
        fail_msg("%s", p->message);
    measure_near(p->period, 2 * M_PI, 1e-12, "period");
    assert_int_equal(p->n, 2);
    measure_near(p->multiplier[0].re, cos(2 * M_PI * sqrt(2)), 1e-11, "multiplier");
    measure_near(fabs(p->multiplier[0].im), fabs(sin(2 * M_PI * sqrt(2))), 1e-11, "multiplier");
    measure_near(p->product, 1, 1e-11, "volume");
    assert_non_null(strstr(p->verdict, "linearly stable"));
    close_study(&s);

    /* the pendulum at 2 rad: T = 4 K(sin 1), by the arithmetic-geometric mean */
    s = open_text(
        "coordinate q\nlagrangian q'^2/2 + cos(q)\nstart { q = 0; q' = 1.6829419696157930 }\n",
        "q", 100);
    p = ns_section_periodic(s.arena, s.flow, &s.spec, 1, s.model->x0);
    assert_true(p->found);
    double a = 1, g = cos(1);
    for (int i = 0; i < 8; i++) {
        const double mean = (a + g) / 2;
        g = sqrt(a * g);
        a = mean;
    }
    measure_near(p->period, 2 * M_PI / a, 1e-12, "pendulum");
    assert_int_equal(p->n, 0); /* the motion and the energy are all there is */
    close_study(&s);
}

/* Van der Pol: the only multiplier is the exponential of the divergence along the cycle, which
 * the state d adds up; the period is 6.66328685932. */
static void limit_cycle(void **state)
{
    (void)state;
    study s = open_text("state x' = y\nstate y' = (1 - x^2)*y - x\nstart { x = 0; y = 2 }\n",
                        "x", 100);
    const ns_periodic *p = ns_section_periodic(s.arena, s.flow, &s.spec, 1, s.model->x0);
    assert_true(p->found);
    measure_near(p->period, 6.6632868593231, 1e-10, "period of van der Pol's cycle");
    assert_int_equal(p->n, 1);
    ns_model *with = motion_model_text(
        "state x' = y\nstate y' = (1 - x^2)*y - x\nstate d' = 1 - x^2\n", NULL);
    const double x0[3] = {p->x[0], p->x[1], 0};
    motion m = motion_begin(with, x0);
    motion_to(&m, p->period);
    measure_near(p->multiplier[0].re, exp(motion_get(&m, "d")), 1e-12, "multiplier");
    motion_close(&m);
    /* a motion that does not come back says so */
    s.spec.run.until = 1;
    p = ns_section_periodic(s.arena, s.flow, &s.spec, 1, s.model->x0);
    assert_false(p->found);
    assert_non_null(strstr(p->message, "the surface is not crossed"));
    close_study(&s);
}

/* Chaos and symplectic structure: a closed motion of Henon and Heiles at its third return. */
static void henon_heiles(void **state)
{
    (void)state;
    study s = open_text(
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)/2 - x^2*y + y^3/3\n"
        "start { x = 0; y = 0.2; x' = 0.34; y' = 0 }\n",
        "x", 200);
    const ns_periodic *p = ns_section_periodic(s.arena, s.flow, &s.spec, 1, s.model->x0);
    assert_true(p->found);
    assert_int_equal(p->n, 2);
    measure_near(p->product, 1, 1e-10, "symplectic");
    /* integrated for one period it closes */
    motion m = motion_begin(motion_model_text("coordinate x, y\nlagrangian (x'^2 + y'^2)/2 - "
                                              "(x^2 + y^2)/2 - x^2*y + y^3/3\n",
                                              NULL),
                            p->x);
    motion_to(&m, p->period);
    for (int i = 0; i < 4; i++)
        measure_near(m.x[i], p->x[i], 1e-12, "closes");
    motion_close(&m);
    close_study(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings),   cmocka_unit_test(engines),
        cmocka_unit_test(starts),      cmocka_unit_test(multipliers),
        cmocka_unit_test(limit_cycle), cmocka_unit_test(henon_heiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
