/* The driver and what all methods share: accuracy, stops, projection, reversal,
 * repeatability. */
#include <float.h>

#include "ode/test_ode_models.h"

static const char *const all[] = {"gauss", "taylor", "dop853", "bdf", "adams"};
static const char *const explicit_ones[] = {"gauss", "taylor", "dop853"};

/* ---- methods ----------------------------------------------------------------------------- */

/* Every method has a name, a line, a text, tolerances, and is found by its name. */
static void test_methods(void **state)
{
    (void)state;
    int n = 0;
    for (const ns_method *const *m = ns_methods; *m; m++, n++) {
        assert_ptr_equal(ns_method_find((*m)->name), *m);
        assert_true(strlen((*m)->summary) > 10 && strlen((*m)->doc) > 200);
        assert_true((*m)->least_tolerance <= (*m)->default_tolerance);
    }
    assert_int_equal(n, 7);
    assert_string_equal(ns_method_find(NULL)->name, "gauss");
    assert_null(ns_method_find("euler"));
}

/* dop853 with fixed steps on a Kepler orbit: order 8; and its interpolant in one step: order 7,
 * that is, an error of h^8 (the state at the beginning of the step being exact). */
static void test_dop853_order(void **state)
{
    (void)state;
    double h[5], error[5], dense[5];
    for (int i = 0; i < 5; i++) {
        model m = model_kepler(0.3);
        ns_run_options o = model_options("gauss", 5, 0);
        ns_run *exact = model_run(&m, &o);
        assert_int_equal(ns_run_to(exact, 5), NS_OK);
        o.method = "dop853";
        h[i] = 5 / (40 * pow(1.3, i));
        o.fixed_step = h[i];
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 5), NS_OK);
        error[i] = 0;
        for (int k = 0; k < 4; k++)
            error[i] = fmax(error[i], fabs(ns_run_state(run)[k] - ns_run_state(exact)[k]));
        ns_run_free(run);
        ns_run_free(exact);

        h[i] *= 2;
        o.fixed_step = h[i];
        run = model_run(&m, &o);
        o.method = "gauss";
        o.fixed_step = 0;
        exact = model_run(&m, &o);
        assert_int_equal(ns_run_step(run), NS_OK);
        double x[4], y[4];
        const double t = 0.4 * h[i];
        ns_run_state_at(run, t, x);
        assert_int_equal(ns_run_to(exact, t), NS_OK);
        ns_run_state_at(exact, t, y);
        dense[i] = 0;
        for (int k = 0; k < 4; k++)
            dense[i] = fmax(dense[i], fabs(x[k] - y[k]));
        ns_run_free(run);
        ns_run_free(exact);
        model_free(&m);
    }
    assert_true(slope(h, error, 5) > 7.5 && slope(h, error, 5) < 8.6);
    assert_true(slope(h, dense, 5) > 7.6 && slope(h, dense, 5) < 8.6);
}

/* The error follows the tolerance over nine decades, on three problems: never much more than it
 * (the errors of many steps add up, and the problems amplify them), never by waste far below
 * it, and less tolerance gives less error.  NS_LADDER=1 prints the table. */
static void test_tolerance_ladder(void **state)
{
    (void)state;
    for (int problem = 0; problem < 3; problem++) {
        model m = problem == 0   ? model_sleigh()
                  : problem == 1 ? model_kepler(0.5)
                                 : model_pendulum(2.5, 0);
        const double until = problem == 1 ? 4 * M_PI : 20;
        ns_run_options o = model_options("gauss", until, 0);
        ns_run *exact = model_run(&m, &o);
        assert_int_equal(ns_run_to(exact, until), NS_OK);
        for (int k = 0; k < 3; k++) {
            double last = INFINITY;
            uint64_t last_steps = 0;
            for (int digits = 4; digits <= 13; digits += 3) {
                o = model_options(explicit_ones[k], until, pow(10, -digits));
                ns_run *run = model_run(&m, &o);
                assert_int_equal(ns_run_to(run, until), NS_OK);
                double error = 0;
                for (uint32_t i = 0; i < m.problem->n; i++) {
                    const double x = ns_run_state(exact)[i];
                    error = fmax(error, fabs(ns_run_state(run)[i] - x) / fmax(1, fabs(x)));
                }
                const double ratio = error / o.tolerance;
                if (getenv("NS_LADDER"))
                    printf("problem %d %-7s tol 1e-%02d error %.1e ratio %7.2g steps %u\n",
                           problem, explicit_ones[k], digits, error, ratio,
                           (unsigned)ns_run_outcome(run)->steps);
                /* at the end of a run errors of its steps may happen to cancel */
                assert_true(ratio < (k == 2 ? 500 : 50) && ratio > 0.001);
                assert_true(error < last);
                if (k != 1) /* taylor changes its order instead */
                    assert_true(ns_run_outcome(run)->steps >= last_steps);
                last = error;
                last_steps = ns_run_outcome(run)->steps;
                ns_run_free(run);
            }
        }
        ns_run_free(exact);
        model_free(&m);
    }
}

/* All methods, the same motion: each to its accuracy at its default tolerance. */
static void test_agreement(void **state)
{
    (void)state;
    static const double allowed[] = {1e-14, 2e-14, 1e-11, 1e-5, 1e-8};
    for (int k = 0; k < 5; k++) {
        model m = model_oscillator();
        const ns_run_options o = model_options(all[k], 50, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 50), NS_OK);
        assert_true(fabs(ns_run_state(run)[0] - cos(50)) < allowed[k]);
        assert_true(fabs(ns_run_state(run)[1] + sin(50)) < allowed[k]);
        assert_true(ns_run_outcome(run)->energy_drift < allowed[k]);
        ns_run_free(run);
        model_free(&m);
    }
}

/* Robertson's chemical reactions, stiffness 1e11; values at t = 40 of the test set. */
static void test_robertson(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        model m = model_new();
        ns_graph *g = m.g;
        const ns_ex a = model_state(&m, "a", 1), b = model_state(&m, "b", 0);
        const ns_ex c = model_state(&m, "c", 0);
        const ns_ex r1 = ns_mul(g, ns_number(g, 0.04), a);
        const ns_ex r2 = ns_mul(g, ns_number(g, 1e4), ns_mul(g, b, c));
        const ns_ex r3 = ns_mul(g, ns_number(g, 3e7), ns_mul(g, b, b));
        model_rate(&m, 0, ns_sub(g, r2, r1));
        model_rate(&m, 1, ns_sub(g, ns_sub(g, r1, r2), r3));
        model_rate(&m, 2, r3);
        const ns_run_options o = model_options(k ? "gauss" : "bdf", 40, 1e-12);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 40), NS_OK);
        const double *x = ns_run_state(run);
        assert_true(fabs(x[0] - 0.7158270687194) < 1e-11);
        assert_true(fabs(x[1] - 9.185534764558e-6) < 1e-13);
        assert_true(fabs(x[2] - 0.2841637457458) < 1e-11);
        assert_true(ns_run_outcome(run)->steps < 3000);
        ns_run_free(run);
        model_free(&m);
    }
}

/* Time-dependent right-hand side with a resonance:  x'' + x = cos t,  x = t sin(t) / 2. */
static void test_forced(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        model m = model_new();
        ns_graph *g = m.g;
        const ns_ex x = model_state(&m, "x", 0), v = model_state(&m, "v", 0);
        model_rate(&m, 0, v);
        model_rate(&m, 1, ns_sub(g, ns_cos(g, m.t), x));
        const ns_run_options o = model_options(explicit_ones[k], 30, 0);
        ns_run *run = model_run(&m, &o);
        for (int i = 1; i <= 60; i++) {
            double y[2];
            const double t = 0.5 * i;
            assert_int_equal(ns_run_to(run, t), NS_OK);
            ns_run_state_at(run, t, y);
            assert_true(fabs(y[0] - t * sin(t) / 2) < (k == 2 ? 1e-11 : 4e-14));
        }
        ns_run_free(run);
        model_free(&m);
    }
}

/* ---- time -------------------------------------------------------------------------------- */

/* Forwards and back again. */
static void test_reversal(void **state)
{
    (void)state;
    static const double allowed[] = {3e-14, 3e-14, 1e-10};
    for (int k = 0; k < 3; k++) {
        model m = model_sleigh();
        ns_run_options o = model_options(explicit_ones[k], 10, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 10), NS_OK);
        double start[7];
        memcpy(start, m.x0, sizeof start);
        memcpy(m.x0, ns_run_state(run), sizeof start);
        ns_run_free(run);
        o.t0 = 10;
        o.until = 0;
        run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 0), NS_OK);
        assert_true(ns_run_time(run) == 0);
        for (int i = 0; i < 7; i++)
            assert_true(fabs(ns_run_state(run)[i] - start[i]) < allowed[k]);
        ns_run_free(run);
        model_free(&m);
    }
}

/* The run ends exactly at `until`; steps cover the times asked for; options are obeyed. */
static void test_times(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        model m = model_oscillator();
        ns_run_options o = model_options(all[k], 1.1, 1e-8);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 0.3), NS_OK);
        assert_true(ns_run_last_time(run) < 0.3 && ns_run_time(run) >= 0.3);
        assert_int_equal(ns_run_to(run, 5), NS_OK);
        assert_true(ns_run_time(run) == 1.1);
        const uint64_t steps = ns_run_outcome(run)->steps;
        assert_int_equal(ns_run_step(run), NS_OK); /* at the end: nothing more happens */
        assert_int_equal(ns_run_outcome(run)->steps, steps);
        ns_run_free(run);

        o.max_step = 0.01;
        run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 1.1), NS_OK);
        assert_true(ns_run_outcome(run)->largest_step <= 0.01 * (1 + 1e-9));
        assert_true(ns_run_outcome(run)->steps >= 110);
        ns_run_free(run);

        o.max_steps = 7;
        run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 1.1), NS_STOP_LIMIT);
        assert_int_equal(ns_run_outcome(run)->steps, 7);
        assert_non_null(strstr(ns_run_outcome(run)->reason, "7 steps"));
        ns_run_free(run);

        volatile int stop = 0;
        o.max_steps = 0;
        o.interrupt = &stop;
        run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 0.5), NS_OK);
        stop = 1;
        const double t = ns_run_time(run);
        assert_int_equal(ns_run_to(run, 1.1), NS_STOP_INTERRUPT);
        assert_true(ns_run_time(run) == t);
        ns_run_free(run);
        model_free(&m);
    }
}

/* No end in time: an event ends it, also when nothing else limits the step (x' = 1). */
static void test_unlimited(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        model m = model_new();
        const ns_ex x = model_state(&m, "x", 0);
        model_rate(&m, 0, ns_one(m.g));
        model_event(&m, "there", ns_sub(m.g, x, ns_number(m.g, 1000)), 0, NS_EVENT_STOP);
        const ns_run_options o = model_options(all[k], INFINITY, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, INFINITY), NS_STOP_EVENT);
        assert_true(fabs(ns_run_time(run) - 1000) < 1e-6);
        ns_run_free(run);
        model_free(&m);
    }
}

static void test_bad_requests(void **state)
{
    (void)state;
    model m = model_oscillator();
    m.problem = ns_problem_new(m.s, false);
    const ns_run_options good = model_options(NULL, 1, 0);
    ns_run_options bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].method = "euler";
    bad[1].tolerance = -1;
    bad[2].until = NAN;
    bad[3].max_step = -1;
    bad[4].fixed_step = NAN;
    bad[5].t0 = INFINITY;
    ns_status status;
    const char *message;
    for (int i = 0; i < 6; i++) {
        assert_null(ns_run_new(m.problem, &bad[i], m.value, m.x0, &status, &message));
        assert_int_equal(status, NS_ERR_USAGE);
        assert_true(strlen(message) > 5);
    }
    m.x0[1] = INFINITY;
    assert_null(ns_run_new(m.problem, &good, m.value, m.x0, &status, &message));
    assert_int_equal(status, NS_ERR_USAGE);
    model_free(&m);
}

/* ---- singularities ----------------------------------------------------------------------- */

/* x' = x^2 from 1 is 1/(1 - t): stops just before t = 1, with what is good kept and said. */
static void test_blow_up(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        model m = model_new();
        const ns_ex x = model_state(&m, "x", 1);
        model_rate(&m, 0, ns_mul(m.g, x, x));
        model_observe(&m, "x", x);
        const ns_run_options o = model_options(all[k], 2, 0);
        ns_run *run = model_run(&m, &o);
        const ns_status status = ns_run_to(run, 2);
        assert_true(status == NS_STOP_STEP || status == NS_STOP_SINGULAR);
        const ns_outcome *out = ns_run_outcome(run);
        assert_true(out->t < 1.01 && out->t > 0.999);
        assert_non_null(strstr(out->reason, "t = "));
        assert_non_null(strstr(out->reason, "x"));
        assert_true(isfinite(ns_run_state(run)[0]) && ns_run_state(run)[0] > 1000);
        assert_true(isfinite(out->observable_max[0]));
        assert_int_equal(ns_run_step(run), status); /* for good */
        if (k < 3) {
            double y[1];
            const double t = (ns_run_last_time(run) + out->t) / 2;
            ns_run_state_at(run, t, y);
            assert_true(isfinite(y[0]));
        }
        ns_run_free(run);
        model_free(&m);
    }
}

/* x' = -1/x from 1 is sqrt(1 - 2 t): the end of existence at t = 1/2. */
static void test_end_of_existence(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        model m = model_new();
        const ns_ex x = model_state(&m, "x", 1);
        model_rate(&m, 0, ns_div(m.g, ns_number(m.g, -1), x));
        const ns_run_options o = model_options(explicit_ones[k], 2, 0);
        ns_run *run = model_run(&m, &o);
        const ns_status status = ns_run_to(run, 2);
        assert_true(status == NS_STOP_STEP || status == NS_STOP_SINGULAR);
        assert_true(fabs(ns_run_time(run) - 0.5) < 1e-6);
        assert_true(isfinite(ns_run_state(run)[0]));
        ns_run_free(run);
        model_free(&m);
    }
}

/* A right-hand side that is not a number at the start is told at once, with names. */
static void test_nan_at_start(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        model m = model_new();
        const ns_ex x = model_state(&m, "height", -1), v = model_state(&m, "v", 0.5);
        model_rate(&m, 0, v);
        model_rate(&m, 1, ns_sqrt(m.g, x));
        const ns_run_options o = model_options(all[k], 1, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 1), NS_STOP_SINGULAR);
        const ns_outcome *out = ns_run_outcome(run);
        assert_non_null(strstr(out->reason, "not finite at t = 0, the start"));
        assert_non_null(strstr(out->reason, "v' = "));
        assert_non_null(strstr(out->reason, "height = -1"));
        assert_true(out->t == 0 && out->steps == 0);
        double y[2];
        ns_run_state_at(run, 0, y);
        assert_true(y[0] == -1);
        ns_run_free(run);
        model_free(&m);
    }
}

/* sqrt(x) ends at x = 0 where the motion x' = -1 leads: not finite just after t = 1. */
static void test_nan_later(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        model m = model_new();
        const ns_ex x = model_state(&m, "x", 1);
        model_state(&m, "y", 0);
        model_rate(&m, 0, ns_number(m.g, -1));
        model_rate(&m, 1, ns_log(m.g, x));
        const ns_run_options o = model_options(explicit_ones[k], 2, 1e-10);
        ns_run *run = model_run(&m, &o);
        const ns_status status = ns_run_to(run, 2);
        assert_true(status == NS_STOP_SINGULAR || status == NS_STOP_STEP);
        assert_true(fabs(ns_run_time(run) - 1) < 1e-3);
        assert_true(isfinite(ns_run_state(run)[1]));
        ns_run_free(run);
        model_free(&m);
    }
}

/* ---- diagnostics ------------------------------------------------------------------------- */

/* Energy relative to the larger of |E0| and the kinetic energy; invariants relative to their
 * terms; extremes of observables over all step ends. */
static void test_diagnostics(void **state)
{
    (void)state;
    model m = model_oscillator();
    ns_graph *g = m.g;
    /* a decaying energy, so that the drift is known:  v' = -x - v/10 */
    model_rate(&m, 1, ns_sub(g, ns_neg(g, m.x[0]), ns_mul(g, ns_number(g, 0.1), m.x[1])));
    model_observe(&m, "x", m.x[0]);
    model_observe(&m, "one", ns_one(g));
    model_invariant(&m, "zero", ns_sub(g, m.x[0], ns_mul(g, m.x[0], ns_one(g))));
    model_invariant(&m, "wrong", m.x[0]);
    model_constraint(&m, "off", ns_sub(g, m.x[0], ns_number(g, 3)), false);
    ns_run_options o = model_options("gauss", 200, 0);
    o.max_step = 0.01;
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 200), NS_OK);
    const ns_outcome *out = ns_run_outcome(run);
    assert_true(out->energy_first == 0.5);
    assert_true(fabs(out->energy_drift - 1) < 1e-6); /* all of it is gone */
    assert_true(fabs(out->energy_last) < 1e-8);
    assert_true(out->observable_max[0] == 1);
    assert_true(out->observable_min[0] < -0.85 && out->observable_min[0] > -0.86);
    assert_true(out->observable_min[1] == 1 && out->observable_max[1] == 1);
    assert_true(out->drift[0] == 0);
    assert_true(out->drift[1] > 1.85 && out->drift[1] < 1.86);
    assert_true(fabs(out->residual[0] - 3.855) < 1e-3);
    assert_true(out->evaluations >= 8 * out->steps);
    ns_run_free(run);
    model_free(&m);

    m = model_sleigh(); /* no energy here */
    o = model_options("gauss", 1, 0);
    run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 1), NS_OK);
    assert_true(isnan(ns_run_outcome(run)->energy_drift));
    ns_run_free(run);
    model_free(&m);
}

/* ---- projection -------------------------------------------------------------------------- */

/* Spherical pendulum of length 1 in Cartesian coordinates:
 *     q' = v,  v' = -g e3 - (v.v - g q3) q / (q.q),   q.q = 1,  q.v = 0
 * with redundant constraints (the first one again, in other units).  Started on a cone of angle
 * alpha with w^2 = g / cos alpha the bob goes round in a circle. */
static model spherical(double alpha)
{
    model m = model_new();
    ns_graph *g = m.g;
    static const char *const names[] = {"x", "y", "z", "u", "v", "w"};
    const double w = sqrt(9.81 / cos(alpha));
    const double start[] = {sin(alpha), 0, -cos(alpha), 0, w * sin(alpha), 0};
    ns_ex q[6];
    for (int i = 0; i < 6; i++)
        q[i] = model_state(&m, names[i], start[i]);
    ns_ex qq = ns_zero(g), vv = ns_zero(g), qv = ns_zero(g);
    for (int i = 0; i < 3; i++) {
        qq = ns_add(g, qq, ns_mul(g, q[i], q[i]));
        vv = ns_add(g, vv, ns_mul(g, q[3 + i], q[3 + i]));
        qv = ns_add(g, qv, ns_mul(g, q[i], q[3 + i]));
    }
    const ns_ex gravity = ns_number(g, 9.81);
    const ns_ex lambda = ns_div(g, ns_sub(g, vv, ns_mul(g, gravity, q[2])), qq);
    for (int i = 0; i < 3; i++) {
        model_rate(&m, (uint32_t)i, q[3 + i]);
        const ns_ex pull = ns_neg(g, ns_mul(g, lambda, q[i]));
        model_rate(&m, (uint32_t)(3 + i), i == 2 ? ns_sub(g, pull, gravity) : pull);
    }
    const ns_ex length = ns_sub(g, qq, ns_one(g));
    model_constraint(&m, "length", length, true);
    model_constraint(&m, "tangent", qv, true);
    model_constraint(&m, "again", ns_mul(g, ns_number(g, 1000), length), true);
    m.s->kinetic = ns_mul(g, ns_number(g, 0.5), vv);
    m.s->energy = ns_add(g, m.s->kinetic, ns_mul(g, gravity, q[2]));
    return m;
}

static double spherical_run(const char *method, double tolerance, bool project,
                            double *residual)
{
    const double alpha = 0.7, until = 100;
    model m = spherical(alpha);
    ns_run_options o = model_options(method, until, tolerance);
    o.project = project;
    ns_run *run = model_run(&m, &o);
    double worst = 0;
    const double w = sqrt(9.81 / cos(alpha));
    for (int i = 1; i <= 500; i++) {
        double x[6];
        const double t = until * i / 500;
        assert_int_equal(ns_run_to(run, t), NS_OK);
        ns_run_state_at(run, t, x);
        worst = fmax(worst, fabs(x[0] - sin(alpha) * cos(w * t)));
        worst = fmax(worst, fabs(x[1] - sin(alpha) * sin(w * t)));
        if (project) /* between steps too */
            assert_true(fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1) < 4e-15);
    }
    const ns_outcome *out = ns_run_outcome(run);
    *residual = fmax(out->residual[0], out->residual[1]);
    assert_true(fabs(out->residual[2] - 1000 * out->residual[0]) <= 1e-12);
    ns_run_free(run);
    model_free(&m);
    return worst;
}

/* Residuals vanish to rounding errors, at any tolerance, at steps and between them; and it does
 * no harm at the accuracy all users get. */
static void test_projection(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        double with, without;
        const double error = spherical_run(all[k], 0, true, &with);
        const double free_error = spherical_run(all[k], 0, false, &without);
        assert_true(with < 5e-15);
        assert_true(error < 1.5 * free_error + 1e-13);
        spherical_run(all[k], 1e-6, true, &with);
        spherical_run(all[k], 1e-6, false, &without);
        assert_true(with < 5e-15 && without > 1e-9);
    }
}

/* With equal steps, on a motion that is no circle: the drift off the manifold is most of the
 * error of the explicit methods, and projection takes it away. */
static void test_projection_pays(void **state)
{
    (void)state;
    static const double step[] = {0.3, 0.06, 0.12}, gain[] = {1.2, 0.1, 0.1};
    for (int k = 0; k < 3; k++) {
        double error[2];
        for (int project = 0; project < 2; project++) {
            model m = spherical(0.7);
            m.x0[4] *= 0.6;
            ns_run_options o = model_options(NULL, 50, 0);
            ns_run *exact = model_run(&m, &o);
            assert_int_equal(ns_run_to(exact, 50), NS_OK);
            o = model_options(explicit_ones[k], 50, 1e-8);
            o.fixed_step = step[k];
            o.project = project;
            ns_run *run = model_run(&m, &o);
            assert_int_equal(ns_run_to(run, 50), NS_OK);
            error[project] = 0;
            for (int i = 0; i < 6; i++) {
                const double d = ns_run_state(run)[i] - ns_run_state(exact)[i];
                error[project] = fmax(error[project], fabs(d));
            }
            ns_run_free(run);
            ns_run_free(exact);
            model_free(&m);
        }
        assert_true(error[1] < gain[k] * error[0]);
    }
}

/* ---- repeatability ----------------------------------------------------------------------- */

static void test_same_bits(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        double end[2][7];
        uint64_t steps[2];
        for (int round = 0; round < 2; round++) {
            model m = model_sleigh();
            const ns_run_options o = model_options(all[k], 20, 0);
            ns_run *run = model_run(&m, &o);
            /* looking inside steps and at the outcome changes nothing */
            for (int i = 1; i <= 40; i++) {
                double x[7];
                assert_int_equal(ns_run_to(run, 0.5 * i), NS_OK);
                if (round == 1) {
                    ns_run_state_at(run, 0.5 * i, x);
                    ns_run_outcome(run);
                }
            }
            memcpy(end[round], ns_run_state(run), sizeof end[0]);
            steps[round] = ns_run_outcome(run)->steps;
            ns_run_free(run);
            model_free(&m);
        }
        assert_memory_equal(end[0], end[1], sizeof end[0]);
        assert_true(steps[0] == steps[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),          cmocka_unit_test(test_dop853_order),
        cmocka_unit_test(test_tolerance_ladder), cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_robertson),        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_reversal),         cmocka_unit_test(test_times),
        cmocka_unit_test(test_unlimited),        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_blow_up),          cmocka_unit_test(test_end_of_existence),
        cmocka_unit_test(test_nan_at_start),     cmocka_unit_test(test_nan_later),
        cmocka_unit_test(test_diagnostics),      cmocka_unit_test(test_projection),
        cmocka_unit_test(test_projection_pays),  cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
