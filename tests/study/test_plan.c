/* Plans against closed-form optima, and in runs that follow them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/eval.h"
#include "study/control/steer_path.h"
#include "support/motion.h"

typedef struct bench {
    ns_arena *arena;
    ns_model *model;
    ns_flow *flow;
    uint32_t inputs[2];
    double low[2], high[2];
    ns_steer_value goals[6], keep;
    ns_steer_spec spec;
} bench;

static void open_bench(bench *b, const char *text, uint32_t order)
{
    memset(b, 0, sizeof *b);
    b->arena = ns_arena_new();
    b->model = motion_model_text(text, NULL);
    const ns_run_options run = ns_model_run_options(b->model);
    b->flow = ns_flow_new(b->arena, ns_problem_new(b->model->system, true), run.t0, b->model->p,
                          b->model->x0);
    const ns_description *d = b->model->description;
    for (uint32_t i = 0; i < d->inputs.n; i++) {
        b->inputs[i] = d->inputs.at[i].param;
        b->low[i] = -(double)INFINITY;
        b->high[i] = (double)INFINITY;
    }
    b->spec = (ns_steer_spec){.inputs = b->inputs,
                              .m = d->inputs.n,
                              .low = b->low,
                              .high = b->high,
                              .goals = b->goals,
                              .t0 = run.t0,
                              .until = run.until,
                              .pieces = 32,
                              .order = order};
}

static void close_bench(bench *b)
{
    ns_arena_free(b->arena);
    ns_model_free(b->model);
}

static ns_steer_value value(const bench *b, const char *name, double low, double high)
{
    const int64_t i = ns_model_observable(b->model, name);
    assert_true(i >= 0);
    return (ns_steer_value){name, b->model->system->observables.at[i].value, low, high};
}

static void goal(bench *b, const char *name, double to)
{
    b->goals[b->spec.n_goals++] = value(b, name, to, to);
}

static const ns_steer *find(bench *b)
{
    const ns_steer *plan = ns_steer_find(b->arena, b->flow, &b->spec, b->model->x0);
    if (plan->status != NS_OK)
        print_error("%s\n", plan->message);
    return plan;
}

/* Writes the plan as a table and runs the model with it: how far from the goals?  The largest
 * sample of a value on the way, if one is named. */
static double follow(const bench *b, const char *text, const ns_steer *plan, const char *watch,
                     double *most)
{
    enum { SAMPLES = 500 };
    char set[200] = "";
    FILE *file = fopen("test_plan.csv", "w");
    assert_non_null(file);
    fputs("t", file);
    for (uint32_t i = 0; i < plan->m; i++) {
        const char *name = b->model->description->inputs.at[i].name;
        const size_t length = strlen(set);
        fprintf(file, ",%s", name);
        snprintf(set + length, sizeof set - length, "%s%s=from \"test_plan.csv\" order %u",
                 i ? "; " : "", name, b->spec.order);
    }
    for (uint32_t l = 0; l < plan->knots; l++) {
        fprintf(file, "\n%.17g", plan->t[l]);
        for (uint32_t i = 0; i < plan->m; i++)
            fprintf(file, ",%.17g", plan->u[l * plan->m + i]);
    }
    fputs("\n", file);
    assert_int_equal(fclose(file), 0);
    motion m = motion_text(text, set);
    for (int k = 1; k <= SAMPLES && watch; k++) {
        motion_to(&m, b->spec.t0 + (b->spec.until - b->spec.t0) * k / SAMPLES);
        *most = fmax(*most, motion_get(&m, watch));
    }
    motion_to(&m, b->spec.until);
    double off = 0;
    for (uint32_t i = 0; i < b->spec.n_goals; i++)
        off = fmax(off, fabs(motion_get(&m, b->goals[i].name) - b->goals[i].low));
    motion_close(&m);
    return off;
}

static double in_a_run(const bench *b, const char *text, const ns_steer *plan)
{
    return follow(b, text, plan, NULL, NULL);
}

static const char integrator[] = "input u = 0\nstate x' = v, v' = u\nstart { x = 0; v = 0 }\n"
                                 "run { until 1 }\n";

/* From rest to rest: u = 6 - 12 t, cost 12; dcost/dx = 24, dcost/dv = -12.  With |u| <= b, u =
 * b until s, then a line: with h = 1/2 - s, b (s - s^2 + 2 h^2/3) = 1 and the cost 2 b^2 (s +
 * h/3); s = 1/8 is a knot.  With v <= 6/5: u is a line until 1/4, then zero; cost 15.36. */
static void double_integrator(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, integrator, 3);
    goal(&b, "x", 1);
    goal(&b, "v", 0);
    const ns_steer *plan = find(&b);
    assert_true(fabs(plan->cost / 12 - 1) < 1e-13);
    assert_true(fabs(plan->multiplier[0] - 24) < 1e-10);
    assert_true(fabs(plan->multiplier[1] + 12) < 1e-10);
    assert_true(in_a_run(&b, integrator, plan) < 1e-12);
    b.spec.order = 1;
    const double s = 0.125, h = 0.5 - s, bound = 1 / (s - s * s + 2 * h * h / 3);
    b.low[0] = -bound;
    b.high[0] = bound;
    plan = find(&b);
    assert_true(fabs(plan->cost / (2 * bound * bound * (s + h / 3)) - 1) < 1e-7);
    for (uint32_t l = 0; l < plan->knots; l++)
        assert_true(fabs(plan->u[l]) <= bound);
    b.low[0] = -3.9; /* 4 is needed */
    b.high[0] = 3.9;
    plan = ns_steer_find(b.arena, b.flow, &b.spec, b.model->x0);
    assert_int_equal(plan->status, NS_STOP_LIMIT);
    assert_non_null(strstr(plan->message, "within the bounds"));
    b.low[0] = -(double)INFINITY;
    b.high[0] = (double)INFINITY;
    b.keep = value(&b, "v", -(double)INFINITY, 1.2);
    b.spec.keeps = &b.keep;
    b.spec.n_keeps = 1;
    plan = find(&b);
    assert_true(fabs(plan->cost / 15.36 - 1) < 1e-7);
    assert_true(in_a_run(&b, integrator, plan) < 1e-12);
    close_bench(&b);
}

/* Isoperimetric: area 1 enclosed by a curve of least energy in unit time, a circle: 4 pi. */
static void heisenberg(void **state)
{
    (void)state;
    static const char text[] = "input u = 0, v = 0\n"
                               "state x' = u, y' = v, z' = (x*v - y*u)/2\n"
                               "start { x = 0; y = 0; z = 0 }\nrun { until 1 }\n";
    bench b;
    open_bench(&b, text, 3);
    goal(&b, "x", 0);
    goal(&b, "y", 0);
    goal(&b, "z", 1);
    const ns_steer *plan = find(&b);
    assert_true(fabs(plan->cost / (4 * 3.14159265358979324) - 1) < 1e-9);
    assert_true(fabs(plan->multiplier[2] / (4 * 3.14159265358979324) - 1) < 1e-7);
    assert_true(in_a_run(&b, text, plan) < 1e-10);
    close_bench(&b);
}

/* A sleigh (knife edge with its centre on the edge), by a push along the edge and a torque, to
 * a place beside it, at rest: a parallel displacement.  A run follows the plan. */
static void sleigh(void **state)
{
    (void)state;
    static const char text[] =
        "param m = 2, J = 0.5\ninput push = 0, torque = 0\ncoordinate x, y, th\n"
        "lagrangian m/2*(x'^2 + y'^2) + J/2*th'^2\n"
        "constraint blade: y'*cos(th) - x'*sin(th) = 0\n"
        "force x = push*cos(th), y = push*sin(th), th = torque\n"
        "start { x = 0; y = 0; th = 0; x' = 0; y' = 0; th' = 0 }\nrun { until 2 }\n";
    bench b;
    open_bench(&b, text, 3);
    b.spec.pieces = 16;
    goal(&b, "x", 0.2);
    goal(&b, "y", 0.5);
    goal(&b, "th", 0);
    goal(&b, "x'", 0);
    goal(&b, "y'", 0);
    goal(&b, "th'", 0);
    const ns_steer *plan = find(&b);
    assert_int_equal(plan->status, NS_OK);
    assert_true(in_a_run(&b, text, plan) < 1e-10);
    close_bench(&b);
}

/* The same sleigh, pushed over the ground by the edge itself: what the edge bears, along it and
 * across it, stays within the cone of friction.  Bounds hold at the nodes of the steps; between
 * them it may be a few hundredths more. */
static void cone(void **state)
{
    (void)state;
    static const char text[] =
        "param m = 2, J = 0.5, g = 9.81\ninput push = 0, torque = 0\ncoordinate x, y, th\n"
        "lagrangian m/2*(x'^2 + y'^2) + J/2*th'^2\n"
        "constraint blade: y'*cos(th) - x'*sin(th) = 0\n"
        "force x = push*cos(th), y = push*sin(th), th = torque\n"
        "observe cone = sqrt(push^2 + lambda.blade^2 + 1e-6)/(m*g)\n"
        "start { x = 0; y = 0; th = 0; x' = 0; y' = 0; th' = 0 }\nrun { until 2 }\n";
    double most[2] = {0}, cost[2];
    for (int k = 0; k < 2; k++) {
        bench b;
        open_bench(&b, text, 3);
        b.spec.pieces = 16;
        static const char *const names[] = {"x", "y", "th", "x'", "y'", "th'"};
        static const double to[] = {0.2, 0.5, 0, 0, 0, 0};
        for (int i = 0; i < 6; i++)
            goal(&b, names[i], to[i]);
        const double mu = 0.8 * most[0];
        b.keep = value(&b, "cone", -(double)INFINITY, mu);
        b.spec.keeps = &b.keep;
        b.spec.n_keeps = (uint32_t)k;
        const ns_steer *plan = find(&b);
        assert_int_equal(plan->status, NS_OK);
        cost[k] = plan->cost;
        assert_true(follow(&b, text, plan, "cone", &most[k]) < 1e-10);
        if (k)
            assert_true(most[1] < 1.03 * mu && most[1] > 0.97 * mu);
        close_bench(&b);
    }
    print_message("cone: %.3g, %.3g; cost %.5g, %.5g\n", most[0], most[1], cost[0], cost[1]);
    assert_true(cost[1] > cost[0]);
}

/* Second derivatives against differences of first ones, on a system with everything. */
static void derivatives(void **state)
{
    (void)state;
    bench b;
    open_bench(&b,
               "input u = 0, w = 0\n"
               "state x' = v*cos(a), y' = v*sin(a) + t*u^2, a' = v*w, v' = u - v*abs(y)*x\n"
               "start { x = 0.1; y = 0.2; a = 0; v = 1 }\nrun { until 1 }\n"
               "observe c = x*v + a^2, g = sin(x) + y*v\n",
               1);
    b.spec.pieces = 3;
    goal(&b, "g", 0.3);
    goal(&b, "a", 0.3);
    b.keep = value(&b, "c", -1, 1);
    b.spec.keeps = &b.keep;
    b.spec.n_keeps = 1;
    const char *message;
    ns_path *p = ns_path_new(b.arena, b.flow, &b.spec, b.model->x0, &message);
    assert_non_null(p);
    ns_path_grid(p, 6);
    double w[8], d[8], trial[8], H[64], zeta[48], slope[2][8];
    const double lambda[] = {0.7, -1.3}, step = 1e-5;
    uint64_t seed = 7;
    for (int i = 0; i < 8; i++) {
        w[i] = ns_eval_random(&seed) - 0.5;
        d[i] = ns_eval_random(&seed) - 0.5;
    }
    for (int i = 0; i < 48; i++)
        zeta[i] = ns_eval_random(&seed);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 8; i++)
            trial[i] = w[i] + (side ? step : -step) * d[i];
        assert_true(ns_path_solve(p, trial) && ns_path_derive(p));
        for (int i = 0; i < 8; i++) {
            slope[side][i] = p->cost_w[i] + lambda[0] * p->g_w[i] + lambda[1] * p->g_w[8 + i];
            for (int k = 0; k < 48; k++)
                slope[side][i] -= zeta[k] * p->c_w[k * 8 + i];
        }
    }
    assert_true(ns_path_solve(p, w) && ns_path_derive(p));
    assert_true(ns_path_hessian(p, w, lambda, zeta, true, H));
    for (int i = 0; i < 8; i++) {
        double sum = 0;
        for (int j = 0; j < 8; j++)
            sum += H[i * 8 + j] * d[j];
        /* truncation step^2, rounding eps/step */
        assert_true(fabs(sum - (slope[1][i] - slope[0][i]) / (2 * step)) < 1e-8);
    }
    close_bench(&b);
}

/* What no input can bring about. */
static void hopeless(void **state)
{
    (void)state;
    bench b;
    open_bench(&b,
               "input u = 0\nstate x' = u, y' = -y\nstart { x = 0; y = 1 }\n"
               "run { until 1 }\n",
               3);
    goal(&b, "y", 2);
    const ns_steer *plan = ns_steer_find(b.arena, b.flow, &b.spec, b.model->x0);
    assert_int_equal(plan->status, NS_STOP_LIMIT);
    assert_non_null(strstr(plan->message, "y comes to 0.367879 instead of 2"));
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_integrator),
        cmocka_unit_test(heisenberg),
        cmocka_unit_test(sleigh),
        cmocka_unit_test(cone),
        cmocka_unit_test(derivatives),
        cmocka_unit_test(hopeless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
