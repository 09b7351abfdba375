/* Parts and blocks of a right-hand side, and expressions rewritten for speed. */
#include <float.h>

#include "expr/eval.h"
#include "expr/normal/quick.h"
#include "ode/test_ode_models.h"

/* A pendulum on a turning arm, with an angle and a path that nothing depends on: w' is dear, a'
 * = w; b' = a; x', y' depend on b; u' turns with w and itself. */
static model model_cascade(void)
{
    model m = model_new();
    ns_graph *g = m.g;
    const ns_ex a = model_state(&m, "a", 0.4), w = model_state(&m, "w", 1);
    const ns_ex b = model_state(&m, "b", 0), x = model_state(&m, "x", 0);
    const ns_ex u = model_state(&m, "u", 1), v = model_state(&m, "v", 0);
    const ns_ex k = model_param(&m, "k", 2);
    (void)x;
    ns_ex torque = ns_zero(g);
    for (int i = 1; i < 6; i++)
        torque = ns_add(g, torque, ns_div(g, ns_sin(g, ns_mul(g, ns_integer(g, i), a)), k));
    model_rate(&m, 0, w);
    model_rate(&m, 1, ns_neg(g, torque));
    model_rate(&m, 2, a);
    model_rate(&m, 3, ns_add(g, ns_cos(g, b), ns_mul(g, u, ns_cos(g, m.t))));
    model_rate(&m, 4, ns_neg(g, ns_mul(g, w, v)));
    model_rate(&m, 5, ns_mul(g, w, u));
    m.problem = ns_problem_new(m.s, false);
    return m;
}

/* Every state is in one part, after all that it depends on; the blocks' rates are those of the
 * whole but for rounding errors. */
static void check_cascade(model *m)
{
    if (!m->problem)
        m->problem = ns_problem_new(m->s, false);
    const ns_problem *problem = m->problem;
    const ns_cascade *c = problem->cascade;
    const uint32_t n = problem->n;
    double x8[16 * 8] __attribute__((aligned(64))), f8[16 * 8] __attribute__((aligned(64)));
    double out[16 * 8] __attribute__((aligned(64))), t8[8] __attribute__((aligned(64)));
    double p8[4 * 8] __attribute__((aligned(64)));
    for (uint32_t lane = 0; lane < 8; lane++) {
        t8[lane] = 0.1 * lane;
        for (uint32_t i = 0; i < n; i++)
            x8[8 * i + lane] = m->x0[i] + 0.03 * (lane + 1.0) * (i + 1.0);
        for (uint32_t i = 0; i < problem->np; i++)
            p8[8 * i + lane] = m->value[i];
    }
    double *work = aligned_alloc(64, ns_program_work8(problem->rhs) * sizeof(double) + 64);
    ns_program_bind8(problem->rhs, work, p8);
    ns_program_eval8(problem->rhs, work, t8, x8, f8);
    free(work);
    uint32_t seen[16] = {0}, count = 0;
    for (uint32_t p = 0; p < c->n; p++) {
        const ns_rate_part *part = &c->part[p];
        uint32_t in_blocks = 0;
        for (uint32_t b = 0; b < part->n_blocks; b++) {
            const ns_rate_block *block = &part->block[b];
            if (block->rhs) {
                work = aligned_alloc(64, ns_program_work8(block->rhs) * sizeof(double) + 64);
                ns_program_bind8(block->rhs, work, p8);
                ns_program_eval8(block->rhs, work, t8, x8, out);
                free(work);
            }
            in_blocks += block->n;
            assert_true(block->live <= block->n);
            for (uint32_t k = block->live; k < block->n; k++) { /* nobody notices these */
                double changed[16 * 8] __attribute__((aligned(64)));
                double x2[16 * 8] __attribute__((aligned(64)));
                memcpy(x2, x8, 8 * n * sizeof *x2);
                for (uint32_t lane = 0; lane < 8; lane++)
                    x2[8 * block->state[k] + lane] += 1;
                work = aligned_alloc(64, ns_program_work8(problem->rhs) * sizeof(double) + 64);
                ns_program_bind8(problem->rhs, work, p8);
                ns_program_eval8(problem->rhs, work, t8, x2, changed);
                free(work);
                assert_memory_equal(changed, f8, 8 * n * sizeof *f8);
            }
            for (uint32_t k = 0; k < block->n; k++) {
                const uint32_t i = block->state[k];
                seen[i]++;
                if (block->row[k] == NS_NO_ROW)
                    assert_true(seen[block->source[k]] == 1 &&
                                problem->source[i] == block->source[k]);
                for (uint32_t lane = 0; lane < 8 && block->row[k] != NS_NO_ROW; lane++)
                    assert_true(fabs(out[8 * block->row[k] + lane] - f8[8 * i + lane]) <=
                                1e-14 * (1 + fabs(f8[8 * i + lane])));
            }
        }
        assert_int_equal(in_blocks, part->n);
        for (uint32_t k = 0; k < part->n; k++)
            assert_true(seen[part->state[k]] == 1 && c->state[count++] == part->state[k]);
    }
    assert_int_equal(count, n);
}

static void test_parts(void **state)
{
    (void)state;
    model m = model_cascade();
    const ns_cascade *c = m.problem->cascade;
    check_cascade(&m);
    /* (a, w) with a after w, then (u, v), then b, then x */
    assert_int_equal(c->n, 3);
    assert_true(c->part[0].feedback && c->part[1].feedback && !c->part[2].feedback);
    assert_true(c->part[0].n == 2 && c->part[0].n_blocks == 1 && c->part[0].block[0].major);
    assert_true(c->part[0].block[0].state[0] == 1 && c->part[0].block[0].state[1] == 0);
    assert_true(c->part[0].block[0].row[0] == 0 && c->part[0].block[0].row[1] == NS_NO_ROW);
    assert_true(c->part[1].n == 2 && c->part[1].n_blocks == 1);
    assert_true(c->part[2].n == 2 && c->part[2].n_blocks == 2);
    assert_true(c->part[2].block[0].state[0] == 2 && c->part[2].block[1].state[0] == 3);
    model_free(&m);
    m = model_kepler(0.3);
    check_cascade(&m);
    model_free(&m);
    m = model_sleigh();
    check_cascade(&m);
    model_free(&m);
}

/* x' = e^2 shares what the rates of a and b cost: it stays with them, but is swept at the end
 * only. */
static model model_idle(void)
{
    model m = model_new();
    ns_graph *g = m.g;
    const ns_ex x = model_state(&m, "x", 0), a = model_state(&m, "a", 1);
    const ns_ex b = model_state(&m, "b", 0.5);
    const ns_ex e = ns_mul(g, ns_sin(g, a), ns_cos(g, b));
    (void)x;
    model_rate(&m, 0, ns_mul(g, e, e));
    model_rate(&m, 1, ns_add(g, e, b));
    model_rate(&m, 2, ns_mul(g, ns_neg(g, a), e));
    m.problem = ns_problem_new(m.s, false);
    return m;
}

static void test_idle(void **state)
{
    (void)state;
    model m = model_idle();
    const ns_cascade *c = m.problem->cascade;
    check_cascade(&m);
    assert_true(c->n == 1 && c->part[0].n == 3 && c->part[0].live == 2);
    const ns_rate_block *last = &c->part[0].block[c->part[0].n_blocks - 1];
    assert_true(last->state[last->n - 1] == 0 && last->live == last->n - 1);
    double end[2][3], inside[2][3];
    for (int k = 0; k < 2; k++) {
        const ns_run_options o = model_options(k ? "taylor" : "gauss", 10, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 4), NS_OK);
        ns_run_state_at(run, 4, inside[k]);
        assert_int_equal(ns_run_to(run, 10), NS_OK);
        memcpy(end[k], ns_run_state(run), sizeof end[k]);
        ns_run_free(run);
    }
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(inside[0][i] - inside[1][i]) < 2e-14 * (1 + fabs(end[0][i])));
        assert_true(fabs(end[0][i] - end[1][i]) < 2e-14 * (1 + fabs(end[0][i])));
    }
    model_free(&m);
}

/* The same motion as with one part: against taylor, which knows no parts. */
static void test_motion(void **state)
{
    (void)state;
    model m = model_cascade();
    double end[2][6];
    for (int k = 0; k < 2; k++) {
        const ns_run_options o = model_options(k ? "taylor" : "gauss", 10, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 10), NS_OK);
        memcpy(end[k], ns_run_state(run), sizeof end[k]);
        ns_run_free(run);
    }
    for (int i = 0; i < 6; i++)
        assert_true(fabs(end[0][i] - end[1][i]) < 2e-14 * (1 + fabs(end[0][i])));
    model_free(&m);
}

/* Divisions below e that are left, and solutions of linear systems. */
static void count_slow(const ns_graph *g, ns_ex e, uint32_t *divisions, uint32_t *solves)
{
    bool *used = calloc(ns_graph_size(g), sizeof *used);
    assert_non_null(used);
    ns_graph_mark(g, &e, 1, used);
    *divisions = *solves = 0;
    for (ns_ex i = 1; i < ns_graph_size(g); i++) {
        *divisions += used[i] && ns_graph_op(g, i) == NS_OP_DIV;
        *solves += used[i] && ns_graph_op(g, i) == NS_OP_SOLVE;
    }
    free(used);
}

static void test_quick(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 3; n++) {
        model m = model_new();
        ns_graph *g = m.g;
        ns_ex M[9], r[3], y[3], x[13];
        double value[13];
        uint32_t nx = 0;
        for (uint32_t i = 0; i < n * n; i++) {
            M[i] = x[nx] = model_state(&m, "m", 0);
            value[nx] = (i % (n + 1) ? 0.3 : 2) + 0.1 * sin(7.0 * nx);
            nx++;
        }
        for (uint32_t i = 0; i < n; i++) {
            r[i] = x[nx] = model_state(&m, "r", 0);
            value[nx] = cos(3.0 * nx);
            nx++;
        }
        ns_solve(g, n, M, r, y);
        /* the components over one denominator, summed */
        ns_ex sum = ns_zero(g), below = ns_sqrt(g, ns_powi(g, r[0], 2)), out;
        for (uint32_t i = 0; i < n; i++)
            sum = ns_add(g, sum, ns_mul(g, ns_integer(g, i + 2), ns_div(g, y[i], below)));
        ns_quick(g, &sum, 1, x, nx, &out);
        uint32_t divisions, solves;
        count_slow(g, out, &divisions, &solves);
        assert_int_equal(solves, 0);
        assert_int_equal(divisions, 2); /* the determinant and the root */
        double a, b;
        ns_eval(g, &sum, 1, x, value, nx, &a);
        ns_eval(g, &out, 1, x, value, nx, &b);
        assert_true(fabs(a - b) <= 20 * DBL_EPSILON * fabs(a) && a != 0);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
