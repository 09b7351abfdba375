/* Motions that are periodic up to a symmetry: period and shift against the symmetry block,
 * closed forms, and direct integration over many periods. */
#include "support/measure.h"

#include <math.h>
#include <string.h>

#include "study/orbits/period.h"
#include "study/orbits/relative.h"
#include "study/orbits/section.h"

typedef struct study {
    ns_model *model;
    ns_arena *arena;
    ns_flow *flow;
    ns_run_options run;
    const ns_relative *r;
} study;

static study open_model(ns_model *model, double until)
{
    study s = {.model = model, .arena = ns_arena_new()};
    s.flow = ns_flow_new(s.arena, ns_model_problem(model, true), 0, model->p, model->x0);
    s.run = ns_model_run_options(model);
    s.run.until = until;
    const ns_generators *g = ns_generators_find(s.flow, model->x0);
    s.r = ns_relative_find(s.arena, s.flow, g, &s.run, model->x0);
    if (!s.r->found)
        fail_msg("no period: %s (nearest return at %g misses by %g)", s.r->message, s.r->best,
                 s.r->mismatch);
    return s;
}

static void close_study(study *s)
{
    ns_arena_free(s->arena);
    ns_model_free(s->model);
}

/* Largest difference of direct integration from one period and powers of h, at many times. */
static double rebuilt(study *s, uint32_t periods, uint32_t times)
{
    const uint32_t n = s->flow->n;
    ns_status status;
    const char *message;
    ns_run_options options = s->run;
    options.until = options.t0 + periods * s->r->period;
    ns_run *run = ns_run_new(s->flow->problem, &options, s->model->p, s->model->x0, &status,
                             &message);
    double *x = NS_NEW_ARRAY(s->arena, double, n), *y = NS_NEW_ARRAY(s->arena, double, n);
    double *direct = NS_NEW_ARRAY(s->arena, double, n), worst = 0;
    ns_affine *power = ns_affine_new(s->arena, n);
    assert_non_null(run);
    for (uint32_t i = 1; i <= times; i++) {
        const double t = options.t0 + (options.until - options.t0) * i / times;
        assert_int_equal(ns_run_to(run, t), NS_OK);
        ns_run_state_at(run, t, direct);
        double rest;
        const uint64_t k = ns_relative_periods(s->r, options.t0, t, &rest);
        ns_run_options one = s->run;
        one.until = one.t0 + s->r->period;
        ns_run *short_run = ns_run_new(s->flow->problem, &one, s->model->p, s->model->x0,
                                       &status, &message);
        ns_run_to(short_run, one.t0 + rest);
        ns_run_state_at(short_run, one.t0 + rest, x);
        ns_run_free(short_run);
        ns_affine_power(s->flow->scratch, s->r->h, k, power);
        ns_affine_apply(power, x, y);
        for (uint32_t j = 0; j < n; j++) /* angles grow: their digits are lost in any method */
            worst = fmax(worst, fabs(y[j] - direct[j]) / fmax(1, fabs(direct[j])));
    }
    ns_run_free(run);
    return worst;
}

/* The sleigh with an oscillator: the symmetry is found, not read from a block; period and shift
 * are those that the block gives; 1000 periods. */
static void sleigh(void **state)
{
    (void)state;
    study s = open_model(motion_model_file("sleigh-oscillator", NULL), 100);
    print_message("period %.15g residual %.2e second %.2e, %u invariants, %u generators\n",
                  s.r->period, s.r->residual, s.r->second, s.r->invariants, s.r->g->count);
    const char *message;
    ns_model *other = motion_model_file("sleigh-oscillator-momentum", NULL);
    const ns_period *block = ns_period_find(other->system, 100, &s.run, other->p, other->x0,
                                            &message);
    assert_true(block->found && block->shift[0].factor->kind == NS_GROUP_SE2);
    measure_near(s.r->period, block->period, 1e-12, "period");
    ns_affine_plane plane;
    assert_true(ns_affine_path(s.flow, s.r->h, &plane));
    assert_string_equal(s.model->system->states.at[plane.i].name, "x");
    measure_near(plane.angle, remainder(block->shift[0].turn[0], 2 * M_PI), 1e-12, "turn");
    measure_near(plane.centre[0], block->shift[0].centre[0], 1e-12, "centre x");
    measure_near(plane.centre[1], block->shift[0].centre[1], 1e-12, "centre y");
    ns_model_free(other);
    assert_true(s.r->residual < 1e-12 && s.r->second < 1e-12);
    const double off = rebuilt(&s, 1000, 97);
    print_message("1000 periods: %.2e, stated %.2e\n", off, ns_relative_error(s.r, 1000));
    assert_true(off < 1e-9);
    assert_true(off < ns_relative_error(s.r, 1000));
    close_study(&s);
}

/* A rolling torus in its own states (quaternion, contact): the spin about its axis is a
 * symmetry too. */
static void torus(void **state)
{
    (void)state;
    study s = open_model(motion_model_file("torus", NULL), 20);
    assert_int_equal(s.r->g->count, 4);
    assert_true(rebuilt(&s, 100, 17) < 1e-9);
    close_study(&s);
}

/* A spherical pendulum: its swing turns about the vertical. */
static void pendulum(void **state)
{
    (void)state;
    study s = open_model(motion_model_file("spherical-pendulum", NULL), 40);
    assert_true(rebuilt(&s, 200, 23) < 1e-9);
    ns_affine_plane plane;
    assert_true(ns_affine_path(s.flow, s.r->h, &plane));
    measure_near(plane.centre[0], 0, 1e-12, "centre");
    close_study(&s);
}

/* Shifts only: a particle on a slope that swings between springs and drifts. */
static void drift(void **state)
{
    (void)state;
    study s = open_model(motion_model_text("coordinate x, y\n"
                                           "lagrangian (x'^2 + y'^2)/2 - x^2/2 + x'*y'/2\n"
                                           "start { x = 1; x' = 0.3; y' = 0.7 }\n",
                                           NULL),
                         100);
    /* p = y' + x'/2 is conserved: x'' (1 - 1/4) = -x, period 2 pi sqrt(3/4), drift p T */
    const double T = 2 * M_PI * sqrt(0.75), p = 0.7 + 0.15;
    measure_near(s.r->period, T, 1e-13, "period");
    const uint32_t y = motion_state(&(motion){.model = s.model}, "y");
    measure_near(s.r->h->b[y], p * T, 1e-13, "drift");
    const ns_affine_lines lines = ns_affine_words(s.arena, s.flow, s.r->h);
    assert_int_equal(lines.n, 1);
    assert_memory_equal(lines.at[0], "y: move 4.625", 13);
    close_study(&s);
}

/* Groups: exp of a turn about a point, its powers, and the element found from two states. */
static void elements(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("sleigh-oscillator", NULL);
    ns_arena *arena = ns_arena_new();
    ns_flow *flow = ns_flow_new(arena, ns_model_problem(model, true), 0, model->p, model->x0);
    const ns_generators *g = ns_generators_find(flow, model->x0);
    const uint32_t n = flow->n;
    assert_int_equal(g->count, 3);
    ns_affine *h = ns_affine_new(arena, n), *k = ns_affine_new(arena, n);
    ns_affine *found = ns_affine_new(arena, n);
    double *x = ns_arena_copy(arena, model->x0, n * sizeof *x);
    double *y = NS_NEW_ARRAY(arena, double, n), *z = NS_NEW_ARRAY(arena, double, n);
    for (int turn = -3; turn <= 3; turn++) {
        const double c[3] = {0.7 * turn, -0.4, 0.9 * turn + 0.1};
        const double c7[3] = {7 * c[0], 7 * c[1], 7 * c[2]};
        ns_affine_exp(flow->scratch, g, c, h);
        ns_affine_power(flow->scratch, h, 7, k);
        ns_affine_exp(flow->scratch, g, c7, found);
        for (size_t i = 0; i < (size_t)n * n; i++)
            measure_near(k->H[i], found->H[i], 1e-12, "power");
        ns_affine_apply(h, x, y);
        found = ns_affine_new(arena, n);
        assert_true(ns_affine_match(flow, g, x, y, found, NULL) < 1e-13);
        ns_affine_apply(found, x, z);
        for (uint32_t i = 0; i < n; i++)
            measure_near(z[i], y[i], 1e-12 * fmax(1, fabs(y[i])), "match");
    }
    ns_arena_free(arena);
    ns_model_free(model);
}

/* A triaxial ellipsoid rocks while it spins: its reduced motion closes for a start that
 * Newton's method finds; then watching that motion gives the same period and turn. */
static void ellipsoid(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        "ground plane\nbody ellipsoid(0.25, 0.18, 0.12) { mass 1.5; inertia [[0.016, 0, 0], "
        "[0, 0.024, 0], [0, 0, 0.029]] }\nstart { quat [1, 0.1, 0, 0]; omega [0.6, 0.1, 3] }\n"
        "run { until 10 }\n",
        NULL);
    ns_arena *arena = ns_arena_new();
    ns_flow *flow = ns_flow_new(arena, ns_model_problem(model, true), 0, model->p, model->x0);
    const uint32_t spin = motion_state(&(motion){.model = model}, "omega.x");
    ns_section_spec spec = {
        .surface = {.value = model->system->states.at[spin].symbol, .direction = 1},
        .run = ns_model_run_options(model),
        .modulo = ns_generators_find(flow, model->x0)};
    spec.run.until = 10;
    const ns_periodic *p = ns_section_periodic(arena, flow, &spec, 1, model->x0);
    assert_true(p->found);
    assert_true(p->residual < 1e-12);
    /* reversible, with an energy: multipliers in pairs of product 1 */
    measure_near(p->product, 1, 1e-8, "product");
    const ns_relative *r = ns_relative_find(arena, flow, spec.modulo, &spec.run, p->x);
    assert_true(r->found);
    measure_near(r->period, p->period, 1e-10, "period");
    ns_affine_plane a, b;
    assert_true(ns_affine_path(flow, p->h, &a) && ns_affine_path(flow, r->h, &b));
    measure_near(a.angle, b.angle, 1e-9, "turn");
    measure_near(a.centre[0], b.centre[0], 1e-9, "centre");
    /* a surface that the turn moves is refused */
    spec.surface.value =
        model->system->states.at[motion_state(&(motion){.model = model}, "contact.x")].symbol;
    assert_false(ns_section_periodic(arena, flow, &spec, 1, model->x0)->found);
    ns_arena_free(arena);
    ns_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements), cmocka_unit_test(drift), cmocka_unit_test(sleigh),
        cmocka_unit_test(pendulum), cmocka_unit_test(torus), cmocka_unit_test(ellipsoid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
