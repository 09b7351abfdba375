/* Motions that are periodic up to a symmetry: period and shift against the symmetry block, closed forms,
 * and direct integration over many periods. */
#include "support/motion.h"

#include <math.h>
#include <string.h>

#include "study/period.h"
#include "study/relative.h"

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

/* The sleigh with an oscillator: the symmetry is found, not read from a block; period and shift are
 * those that the block gives; 1000 periods. */
static void sleigh(void **state)
{
    (void)state;
    study s = open_model(motion_model_file("sleigh-oscillator", NULL), 100);
    print_message("period %.15g residual %.2e second %.2e, %u invariants, %u generators\n",
                  s.r->period, s.r->residual, s.r->second, s.r->invariants, s.r->g->count);
    const double off = rebuilt(&s, 1000, 97);
    print_message("1000 periods: %.2e, stated %.2e\n", off, ns_relative_error(s.r, 1000));
    assert_true(off < 1e-9);
    close_study(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleigh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
