/* Many bodies in formulation `constrained`: what is coupled to nothing else costs what it costs
 * alone and moves as it does alone, to the bit; a snake on wheels, whose segments are all
 * coupled, costs the same for each of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/diff.h"
#include "support/measure.h"

static const double radius = 0.05, spacing = 0.2, along = 0.1, spin = 0.3;

/* Balls first .. first+count-1 on a plane, each with a direction of its own. */
static char *balls(int first, int count)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    fprintf(f, "ground plane\n");
    for (int i = first; i < first + count; i++)
        fprintf(f, "body b%d sphere(%g) { mass 1; uniform }\nconstraint c%d: rolling(b%d)\n", i,
                radius, i, i);
    fprintf(f, "start {\n");
    for (int i = first; i < first + count; i++)
        fprintf(f,
                "b%d.position = [%g, %g, %g]; b%d.quat = [1, 0, 0, 0]\n"
                "b%d.omega = [%.17g, %.17g, %g]\n",
                i, spacing * (i % 10), spacing * (i / 10), radius, i, i,
                -along / radius * sin(2.4 * i), along / radius * cos(2.4 * i), spin);
    fprintf(f, "}\nrun { until 1 }\n");
    fclose(f);
    return text;
}

/* Segments on a plane, hinges between them, an axle with wheels below the middle of each. */
static char *snake(int count)
{
    const double l = 0.1;
    double x = 0, y = 0, before = 0;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    for (int i = 0; i < count; i++) {
        fprintf(f,
                "body s%d { mass 0.1; inertia diag(1e-5, 1e-4, 1e-4); front = [%g, 0, 0]\n"
                "           rear = [%g, 0, 0] }\nconstraint k%d: knife(s%d, s%d.e2)\n",
                i, l / 2, -l / 2, i, i, i);
        if (i == 0)
            fprintf(f, "constraint g: planar(s0, [0, 0, 0], s0.e3, [0, 0, 1])\n");
        else
            fprintf(f, "constraint j%d: revolute(s%d.front, s%d.rear, s%d.e3, s%d.e3)\n", i, i,
                    i - 1, i, i - 1);
    }
    fprintf(f, "start {\n");
    for (int i = 0; i < count; i++) {
        const double angle = 0.35 * sin(0.4 * i) + 0.01 * i;
        if (i > 0) {
            x -= l / 2 * (cos(before) + cos(angle));
            y -= l / 2 * (sin(before) + sin(angle));
        }
        before = angle;
        fprintf(f, "s%d.position = [%.17g, %.17g, 0]; s%d.quat = [%.17g, 0, 0, %.17g]\n", i, x,
                y, i, cos(angle / 2), sin(angle / 2));
    }
    fprintf(f, "s0.position' ~ [0.3, 0, 0]\n}\nrun { until 1 }\n");
    fclose(f);
    return text;
}

static ns_model *model_of(char *text)
{
    ns_model *m = motion_model_text(text, NULL);
    free(text);
    return m;
}

/* Entry by entry the same nodes as one derivative after the other, by columns and by rows. */
static void entries(void **unused)
{
    (void)unused;
    ns_model *m = model_of(balls(0, 12));
    const ns_system *s = m->system;
    enum { MOST = 400 };
    const uint32_t n = s->states.n, all = s->constraints.n;
    ns_ex residual[MOST], x[MOST];
    assert_true(n <= MOST && all <= MOST && all >= n / 2);
    for (uint32_t k = 0; k < all; k++)
        residual[k] = s->constraints.at[k].residual;
    for (uint32_t j = 0; j < n; j++)
        x[j] = s->states.at[j].symbol;
    for (int few = 0; few < 2; few++) {
        const uint32_t rows = few ? n / 2 - 1 : all;
        const ns_sparse_rows *J = ns_diff_sparse(s->graph, s->arena, residual, rows, x, n);
        assert_int_equal(J->rows, rows);
        for (uint32_t k = 0; k < rows; k++)
            for (uint32_t j = 0, e = J->start[k]; j < n; j++) {
                const ns_ex one = ns_diff(s->graph, residual[k], x[j]);
                const bool listed = e < J->start[k + 1] && J->column[e] == j;
                assert_int_equal(listed, !ns_graph_is_zero(s->graph, one));
                if (listed && !few) /* rows in reverse build other formulas */
                    assert_int_equal(J->value[e], one);
                e += listed;
            }
        const ns_sparse_rows *turned = ns_sparse_transposed(s->arena, J, n);
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t e = turned->start[j]; e < turned->start[j + 1]; e++) {
                uint32_t at = J->start[turned->column[e]];
                while (J->column[at] != j)
                    at++;
                assert_int_equal(turned->value[e], J->value[at]);
            }
    }
    ns_model_free(m);
}

static uint32_t state_of(const ns_system *s, const char *name)
{
    uint32_t i = 0;
    while (strcmp(s->states.at[i].name, name) != 0)
        assert_true(++i < s->states.n);
    return i;
}

/* Accelerations and changes of a ball among others are those of the ball alone, to the bit. */
static void as_alone(void **unused)
{
    (void)unused;
    enum { COUNT = 15 };
    ns_model *m = model_of(balls(0, COUNT));
    const uint32_t n = m->system->states.n;
    double *rate = calloc(n, sizeof *rate);
    ns_system_eval(m->system, ns_system_state_rates(m->system, m->system->arena), n, 0, m->p,
                   m->x0, rate);
    for (int i = 0; i < COUNT; i++) {
        ns_model *alone = model_of(balls(i, 1));
        const ns_system *s = alone->system;
        double x[64], single[64];
        assert_int_equal(COUNT * s->states.n, n);
        for (uint32_t k = 0; k < s->states.n; k++)
            x[k] = m->x0[state_of(m->system, s->states.at[k].name)];
        ns_system_eval(s, ns_system_state_rates(s, s->arena), s->states.n, 0, alone->p, x,
                       single);
        for (uint32_t k = 0; k < s->states.n; k++)
            assert_true(rate[state_of(m->system, s->states.at[k].name)] == single[k]);
        ns_model_free(alone);
    }
    free(rate);
    ns_model_free(m);
}

static double operations(char *text)
{
    ns_model *m = model_of(text);
    const double found = ns_program_operations(ns_model_problem(m, false)->rhs, NULL);
    ns_model_free(m);
    return found;
}

/* The limit for the snake: what is filled in differs a little with the order of elimination. */
static void same_cost_for_each(void **unused)
{
    (void)unused;
    const double alone = operations(balls(1, 1));
    for (int count = 10; count <= 30; count += 10)
        measure_below(operations(balls(1, count)), count * alone + 0.5, "operations", "balls");
    const double few = operations(snake(12)), more = operations(snake(20)),
                 most = operations(snake(28));
    measure_below(fabs((most - more) / (more - few) - 1), 0.05, "operations of eight segments",
                  "snake");
}

/* A ball rolls straight on; without any step being as short as errors elsewhere would ask for
 * the limit is rounding of a hundred bodies' projections. */
static void straight(void **unused)
{
    (void)unused;
    enum { COUNT = 100 };
    motion m = motion_begin(model_of(balls(0, COUNT)), NULL);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    for (int i = 0; i < COUNT; i++) {
        char name[20];
        double at[3];
        snprintf(name, sizeof name, "b%d", i);
        motion_vector(&m, name, at);
        measure_near(at[0], spacing * (i % 10) + along * cos(2.4 * i), 1e-12, name);
        measure_near(at[1], spacing * (i / 10) + along * sin(2.4 * i), 1e-12, name);
        measure_near(at[2], radius, 1e-14, name);
    }
    measure_below(measure_energy_drift(&m), 1e-13, "energy", "balls");
    assert_int_equal(ns_run_outcome(m.run)->rank_A[0], 7 * COUNT);
    motion_close(&m);
}

/* Wheels and hinges hold, and nothing is lost. */
static void wheels(void **unused)
{
    (void)unused;
    motion m = motion_begin(model_of(snake(50)), NULL);
    assert_int_equal(motion_to(&m, 1), NS_OK);
    measure_below(motion_residual(&m), 1e-12, "residual", "snake");
    measure_below(measure_energy_drift(&m), 1e-12, "energy", "snake");
    motion_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries), cmocka_unit_test(as_alone),
                                       cmocka_unit_test(same_cost_for_each),
                                       cmocka_unit_test(straight), cmocka_unit_test(wheels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
