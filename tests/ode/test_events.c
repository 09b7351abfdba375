/* Events: found, in order, to the last bits; what must not fire does not. */
#include "ode/test_ode_models.h"

#include "ode/events/roots.h"

static const char *const smooth[] = {"gauss", "taylor", "dop853"};

/* ---- zeros of polynomials ---------------------------------------------------------------- */

static void fit(double (*f)(double), ns_roots_poly *p)
{
    double values[NS_ROOTS_POINTS];
    values[0] = f(0);
    for (int i = 0; i < 8; i++)
        values[1 + i] = f(ns_method_nodes[i]);
    values[9] = f(1);
    ns_roots_fit(values, p);
}

static double degree9(double u)
{
    return pow(u - 0.3, 9) + u * u - 0.5;
}

static double wave(double u)
{
    return cos(9 * u + 0.3);
}

/* The fit reproduces polynomials of degree 9, and sees all extrema of a wave. */
static void test_polynomials(void **state)
{
    (void)state;
    ns_roots_poly p;
    fit(degree9, &p);
    for (double u = 0; u <= 1; u += 0.0625) {
        assert_true(fabs(ns_roots_value(&p, u) - degree9(u)) < 1e-13);
        assert_true(fabs(ns_roots_slope(&p, u) - (9 * pow(u - 0.3, 8) + 2 * u)) < 1e-12);
    }
    fit(wave, &p);
    double u[NS_ROOTS_DEGREE];
    assert_int_equal(ns_roots_extrema(&p, u), 2); /* (pi - 0.3)/9 and (2 pi - 0.3)/9 */
    assert_true(fabs(u[0] - (M_PI - 0.3) / 9) < 0.01);
    assert_true(fabs(u[1] - (2 * M_PI - 0.3) / 9) < 0.01);
}

/* Eight simple zeros, a double zero, zeros on the boundaries of halves. */
static void test_bernstein(void **state)
{
    (void)state;
    /* product of (u - z_i) in Bernstein form, by multiplying linear factors */
    static const double cases[3][8] = {{0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.97},
                                       {0.25, 0.5, 0.75, 2, 3, 4, 5, 6},
                                       {0.4, 0.4, 0.9, -1, 2, 3, 4, 5}};
    static const int count[3] = {8, 3, 2};
    for (int c = 0; c < 3; c++) {
        double b[9] = {1};
        for (int k = 0; k < 8; k++) { /* times ((1-u)(-z) + u (1-z)) */
            double next[9] = {0};
            for (int i = 0; i <= k; i++) {
                next[i] += b[i] * -cases[c][k] * (k + 1 - i) / (k + 1);
                next[i + 1] += b[i] * (1 - cases[c][k]) * (i + 1) / (k + 1);
            }
            memcpy(b, next, sizeof b);
        }
        double u[9];
        const int n = ns_roots_bernstein(b, 8, u);
        if (c == 2) { /* the double zero may split into two or vanish by rounding */
            assert_true(n >= 1 && n <= 3);
            assert_true(fabs(u[n - 1] - 0.9) < 1e-12);
            continue;
        }
        assert_int_equal(n, count[c]);
        for (int i = 0; i < n; i++)
            assert_true(fabs(u[i] - cases[c][i]) < 1e-13);
    }
}

/* ---- closed forms ------------------------------------------------------------------------ */

/* x = cos t: zeros at pi/2 + k pi, alternating direction, over 100 s. */
static void test_oscillator(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        model_event(&m, "zero", m.x[0], 0, NS_EVENT_RECORD);
        model_event(&m, "rising", m.x[0], +1, NS_EVENT_RECORD);
        model_event(&m, "falling", m.x[0], -1, NS_EVENT_RECORD);
        const ns_run_options o = model_options(smooth[k], 100, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 100), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        uint32_t count[3] = {0};
        double last = 0;
        const double allowed = k == 2 ? 1e-11 : 1e-13;
        for (uint32_t i = 0; i < out->n_events; i++) {
            const ns_occurrence *e = &out->events[i];
            assert_true(e->t >= last);
            last = e->t;
            const double n = round((e->t - M_PI / 2) / M_PI);
            assert_true(fabs(e->t - (M_PI / 2 + n * M_PI)) < allowed);
            assert_int_equal(e->direction, fmod(n, 2) == 0 ? -1 : 1);
            count[e->event]++;
            const double *x = out->event_states + 2 * (size_t)i;
            assert_true(fabs(x[0]) < allowed && fabs(fabs(x[1]) - 1) < allowed);
        }
        assert_int_equal(count[0], 32);
        assert_int_equal(count[1], 16);
        assert_int_equal(count[2], 16);
        ns_run_free(run);
        model_free(&m);
    }
}

/* Pendulum from rest at theta0: passes the bottom after a quarter of the period 4 K(sin
 * theta0/2), and swings back to where it was. */
static void test_pendulum(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const double theta0 = 3;
        model m = model_pendulum(theta0, 0);
        model_event(&m, "bottom", m.x[0], 0, NS_EVENT_RECORD);
        model_event(&m, "turn", m.x[1], 0, NS_EVENT_RECORD); /* zero at the start */
        const ns_run_options o = model_options(smooth[k], 30, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 30), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        const double K = model_elliptic(sin(theta0 / 2));
        const double allowed = k == 2 ? 1e-11 : 2e-13;
        assert_int_equal(out->n_events, (uint32_t)(30 / K));
        for (uint32_t i = 0; i < out->n_events; i++) {
            assert_true(fabs(out->events[i].t - (i + 1) * K) < allowed * (i + 1));
            assert_int_equal(out->events[i].event, i % 2); /* bottom, turn, bottom, ... */
        }
        ns_run_free(run);
        model_free(&m);
    }
}

/* ---- hard cases -------------------------------------------------------------------------- */

/* x' = 1 allows one step over everything: 40 crossings of sin(20 x) in it, all in order. */
static void test_many_in_one_step(void **state)
{
    (void)state;
    /* the large coefficients of dop853's interpolant cost it a digit */
    static const double allowed[] = {2e-15, 2e-15, 2e-14};
    for (size_t k = 0; k < 3; k++) {
        model m = model_new();
        ns_graph *g = m.g;
        const ns_ex x = model_state(&m, "x", 0);
        model_rate(&m, 0, ns_one(g));
        model_event(&m, "wave", ns_sin(g, ns_mul(g, ns_number(g, 20), x)), 0, NS_EVENT_RECORD);
        model_event(&m, "later", ns_sub(g, x, ns_number(g, 3.1)), 0, NS_EVENT_RECORD);
        ns_run_options o = model_options(smooth[k], 6.4, 0);
        o.first_step = 6.4;
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 6.4), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        assert_int_equal(out->steps, 1);
        assert_int_equal(out->n_events, 41);
        uint32_t n = 0;
        for (uint32_t i = 0; i < out->n_events; i++) {
            if (i > 0)
                assert_true(out->events[i].t >= out->events[i - 1].t);
            if (out->events[i].event == 1) {
                assert_true(fabs(out->events[i].t - 3.1) < allowed[k]);
                continue;
            }
            n++;
            assert_true(fabs(out->events[i].t - n * M_PI / 20) < allowed[k]);
        }
        assert_int_equal(n, 40);
        ns_run_free(run);
        model_free(&m);
    }
}

/* x = cos t seen through g = x - (1 - d): near the top of each swing g is positive for a time
 * 2 acos(1 - d).  Two crossings between samples for small d; none if d is negative. */
static void test_double_crossing(void **state)
{
    (void)state;
    static const double depth[] = {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, -1e-10, -1e-8, -1e-3};
    for (size_t k = 0; k < 3; k++)
        for (size_t c = 0; c < sizeof depth / sizeof *depth; c++) {
            const double d = depth[c];
            model m = model_oscillator();
            m.x0[0] = 0;
            m.x0[1] = 1; /* x = sin t, top at pi/2 + 2 pi n */
            model_event(&m, "top", ns_sub(m.g, m.x[0], ns_number(m.g, 1 - d)), 0,
                        NS_EVENT_RECORD);
            const ns_run_options o = model_options(smooth[k], 20, 0);
            ns_run *run = model_run(&m, &o);
            assert_int_equal(ns_run_to(run, 20), NS_OK);
            const ns_outcome *out = ns_run_outcome(run);
            assert_int_equal(out->n_events, d > 0 ? 6 : 0);
            for (uint32_t i = 0; i < out->n_events; i++) {
                const double half = acos(1 - d), top = M_PI / 2 + 2 * M_PI * (i / 2);
                const double t = i % 2 ? top + half : top - half;
                /* x is known to 1e-15 at best, and dx/dt = sin(half) there */
                assert_true(fabs(out->events[i].t - t) < (k == 2 ? 4e-13 : 1e-14) / half);
                assert_int_equal(out->events[i].direction, i % 2 ? -1 : 1);
            }
            ns_run_free(run);
            model_free(&m);
        }
}

/* Touching zero is not a crossing: g = 1 - x and g = x^2. */
static void test_touching(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        m.x0[0] = 0;
        m.x0[1] = 1;
        model_event(&m, "square", ns_mul(m.g, m.x[0], m.x[0]), 0, NS_EVENT_RECORD);
        const ns_run_options o = model_options(smooth[k], 50, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 50), NS_OK);
        assert_int_equal(ns_run_outcome(run)->n_events, 0);
        ns_run_free(run);
        model_free(&m);
    }
}

/* A function with a kink, |x| - 1/2, and one with a jump, sign(x): found all the same. */
static void test_kinks(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        ns_graph *g = m.g;
        model_event(&m, "kink", ns_sub(g, ns_abs(g, m.x[0]), ns_number(g, 0.5)), 0,
                    NS_EVENT_RECORD);
        model_event(&m, "jump", ns_sign(g, m.x[0]), 0, NS_EVENT_RECORD);
        const ns_run_options o = model_options(smooth[k], 2 * M_PI, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 2 * M_PI), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        static const double at[] = {1, 1.5, 2, 4, 4.5, 5};
        assert_int_equal(out->n_events, 6);
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(out->events[i].event, i % 3 == 1);
            assert_true(fabs(out->events[i].t - at[i] * M_PI / 3) < 1e-12);
        }
        ns_run_free(run);
        model_free(&m);
    }
}

/* A run that starts on an event, exactly or but for rounding errors, does not fire it at once
 * and finds it the next time. */
static void test_start_on_event(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            model m = model_oscillator();
            static const double shift[] = {0, 1e-17, -1e-17};
            const double phase = 0.5;
            m.x0[0] = sin(phase);
            m.x0[1] = cos(phase);
            const ns_ex level = ns_number2(m.g, sin(phase), 0);
            model_event(&m, "level",
                        ns_add(m.g, ns_sub(m.g, m.x[0], level), ns_number(m.g, shift[c])), 0,
                        NS_EVENT_RECORD);
            const ns_run_options o = model_options(smooth[k], 7, 0);
            ns_run *run = model_run(&m, &o);
            assert_int_equal(ns_run_to(run, 7), NS_OK);
            const ns_outcome *out = ns_run_outcome(run);
            assert_int_equal(out->n_events, 2);
            assert_true(fabs(out->events[0].t - (M_PI - 2 * phase)) < 1e-11);
            assert_true(fabs(out->events[1].t - 2 * M_PI) < 1e-11);
            assert_int_equal(out->events[0].direction, -1);
            ns_run_free(run);
            model_free(&m);
        }
}

/* ---- none is run over -------------------------------------------------------------------- */

static const char *const all[] = {"gauss", "taylor", "dop853", "bdf", "adams", "quad"};

/* A wheel that turns at 100 rad/s for 100 s, which methods do in one step or a few: 3183
 * crossings of sin, every second one rising; the first one stops it. */
static void test_wheel(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int stop = 0; stop < 2; stop++) {
            if (k == 5 && !NS_HAVE_QUAD)
                continue;
            model m = model_new();
            ns_graph *g = m.g;
            const ns_ex th = model_state(&m, "th", 0.1), w = model_state(&m, "w", 100);
            model_rate(&m, 0, w);
            model_rate(&m, 1, ns_zero(g));
            model_event(&m, "rev", ns_sin(g, th), 1, stop ? NS_EVENT_STOP : NS_EVENT_RECORD);
            ns_problem *problem = ns_problem_new(m.s, true);
            ns_problem_add_tangent(problem);
            m.problem = problem;
            const ns_run_options o = model_options(all[k], k == 5 ? 10 : 100, 0);
            ns_run *run = model_run(&m, &o);
            assert_int_equal(ns_run_to(run, o.until), stop ? NS_STOP_EVENT : NS_OK);
            const ns_outcome *out = ns_run_outcome(run);
            assert_int_equal(out->n_events, stop ? 1 : k == 5 ? 159 : 1591);
            for (uint32_t i = 0; i < out->n_events; i++)
                assert_true(fabs(out->events[i].t - (2 * M_PI * (i + 1) - 0.1) / 100) < 1e-13);
            ns_run_free(run);
            model_free(&m);
        }
}

/* Free fall is one step, whatever its length: what is small at its beginning is met there, from
 * above the ground, from the ground itself, through a hump that barely reaches 1.27. */
static void test_long_steps(void **state)
{
    (void)state;
    const double g0 = 9.81, w0 = 5, root = sqrt(w0 * w0 - 2 * g0 * 1.27);
    for (size_t k = 0; k < 3; k++)
        for (int length = 0; length <= 150; length += 15) {
            model m = model_new();
            ns_graph *g = m.g;
            const ns_ex z = model_state(&m, "z", 0), w = model_state(&m, "w", w0);
            model_rate(&m, 0, w);
            model_rate(&m, 1, ns_number(g, -g0));
            model_event(&m, "floor", z, -1, NS_EVENT_RECORD);
            model_event(&m, "top", ns_sub(g, z, ns_number(g, 1.27)), 0, NS_EVENT_RECORD);
            const ns_run_options o = model_options(smooth[k], pow(10, length) * 2, 0);
            ns_run *run = model_run(&m, &o);
            assert_int_equal(ns_run_to(run, o.until), NS_OK);
            const ns_outcome *out = ns_run_outcome(run);
            assert_int_equal(out->n_events, 3);
            /* the hump is 0.03 s long: an error of z counts 17 times */
            assert_true(fabs(out->events[0].t - (w0 - root) / g0) < 1e-13);
            assert_true(fabs(out->events[1].t - (w0 + root) / g0) < 1e-13);
            assert_true(fabs(out->events[2].t - 2 * w0 / g0) < 1e-13);
            ns_run_free(run);
            model_free(&m);
        }
}

/* What cannot be found is not left out silently: the run ends where the search did. */
static void test_too_many(void **state)
{
    (void)state;
    static const double rate = 1e6;
    model m = model_new();
    ns_graph *g = m.g;
    const ns_ex x = model_state(&m, "x", 0.5 / rate);
    model_rate(&m, 0, ns_one(g));
    model_event(&m, "wave", ns_sin(g, ns_mul(g, ns_number(g, rate), x)), 0, NS_EVENT_RECORD);
    model_event(&m, "late", ns_sub(g, x, ns_number(g, 9)), 0, NS_EVENT_RECORD);
    ns_run_options o = model_options("taylor", 10, 0);
    o.first_step = 10;
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 10), NS_STOP_LIMIT);
    const ns_outcome *out = ns_run_outcome(run);
    assert_non_null(strstr(out->reason, "event wave changes too fast"));
    assert_true(out->t > 0.01 && out->t < 9);
    assert_int_equal(out->n_events, (uint32_t)((out->t + 0.5 / rate) * rate / M_PI));
    ns_run_free(run);
    model_free(&m);
}

/* Zero but for rounding errors, all the time or part of it: nothing happens. */
static void test_noise(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        ns_graph *g = m.g;
        const ns_ex x = m.x[0], v = m.x[1], one = ns_one(g);
        const ns_ex radius = ns_add(g, ns_mul(g, x, x), ns_mul(g, v, v));
        const ns_ex cube = ns_powi(g, ns_add(g, x, one), 3);
        const ns_ex sum = ns_add(g, ns_powi(g, x, 3),
                                 ns_mul(g, ns_number(g, 3), ns_add(g, ns_mul(g, x, x), x)));
        /* inside the steps of dop853 the radius differs from 1 by more than rounding errors */
        if (k < 2)
            model_event(&m, "radius", ns_sub(g, radius, one), 0, NS_EVENT_RECORD);
        model_event(&m, "cube", ns_sub(g, ns_sub(g, cube, sum), one), 0, NS_EVENT_RECORD);
        model_event(&m, "half", ns_apply(g, NS_OP_MAX, x, ns_zero(g)), 0, NS_EVENT_RECORD);
        const ns_run_options o = model_options(smooth[k], 50, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 50), NS_OK);
        assert_int_equal(ns_run_outcome(run)->n_events, 0);
        ns_run_free(run);
        model_free(&m);
    }
}

/* sqrt(x) - 1/2 and log(x) + 3 on x = cos t: not defined for half of the time, found in the
 * other. */
static void test_domains(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        ns_graph *g = m.g;
        model_event(&m, "root", ns_sub(g, ns_sqrt(g, m.x[0]), ns_number(g, 0.5)), 0,
                    NS_EVENT_RECORD);
        model_event(&m, "log", ns_add(g, ns_log(g, m.x[0]), ns_number(g, 3)), 0,
                    NS_EVENT_RECORD);
        const ns_run_options o = model_options(smooth[k], 2 * M_PI, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 2 * M_PI), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        const double a = acos(0.25), b = acos(exp(-3));
        const double at[] = {a, b, 2 * M_PI - b, 2 * M_PI - a};
        assert_int_equal(out->n_events, 4);
        for (uint32_t i = 0; i < 4; i++)
            assert_true(fabs(out->events[i].t - at[i]) < 1e-11);
        ns_run_free(run);
        model_free(&m);
    }
}

/* ---- acting ------------------------------------------------------------------------------ */

/* The run ends at a stop event, exactly there; what would come later is not reported. */
static void test_stop(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        ns_graph *g = m.g;
        model_event(&m, "low", ns_add(g, m.x[0], ns_number(g, 0.5)), -1, NS_EVENT_STOP);
        model_event(&m, "after", ns_add(g, m.x[0], ns_number(g, 0.5001)), -1, NS_EVENT_RECORD);
        model_event(&m, "before", m.x[0], 0, NS_EVENT_RECORD);
        model_observe(&m, "x", m.x[0]);
        const ns_run_options o = model_options(smooth[k], 10, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 10), NS_STOP_EVENT);
        const ns_outcome *out = ns_run_outcome(run);
        const double t = 2 * M_PI / 3;
        assert_true(fabs(out->t - t) < 1e-13);
        assert_true(ns_run_time(run) == out->t);
        assert_true(fabs(ns_run_state(run)[0] + 0.5) < 1e-14);
        assert_true(fabs(ns_run_state(run)[1] + sin(t)) < 1e-13);
        assert_int_equal(out->n_events, 2);
        assert_int_equal(out->events[0].event, 2);
        assert_int_equal(out->events[1].event, 0);
        assert_true(out->events[1].t == out->t);
        assert_non_null(strstr(out->reason, "low"));
        assert_true(out->observable_min[0] > -0.5 - 1e-14); /* nothing beyond the event */
        /* inside the last step, up to the event */
        double x[2];
        const double mid = (ns_run_last_time(run) + out->t) / 2;
        ns_run_state_at(run, mid, x);
        assert_true(fabs(x[0] - cos(mid)) < 1e-13);
        /* stopped for good */
        assert_int_equal(ns_run_step(run), NS_STOP_EVENT);
        assert_true(ns_run_time(run) == out->t);
        ns_run_free(run);
        model_free(&m);
    }
}

static void test_singular_event(void **state)
{
    (void)state;
    model m = model_oscillator();
    NS_PUSH(m.arena, m.s->events,
            (ns_event){.name = "flat",
                       .value = ns_sub(m.g, m.x[0], ns_number(m.g, -0.9)),
                       .action = NS_EVENT_SINGULAR,
                       .meaning = "the disk lies flat"});
    const ns_run_options o = model_options(NULL, 10, 0);
    ns_run *run = model_run(&m, &o);
    assert_int_equal(ns_run_to(run, 10), NS_STOP_SINGULAR);
    assert_non_null(strstr(ns_run_outcome(run)->reason, "the disk lies flat at t = 2.69"));
    ns_run_free(run);
    model_free(&m);
}

/* Backwards the same events, in reverse order; rising means rising with time. */
static void test_backwards(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        model m = model_oscillator();
        model_event(&m, "rising", m.x[0], +1, NS_EVENT_RECORD);
        const ns_run_options o = model_options(smooth[k], -20, 0);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, -20), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        assert_int_equal(out->n_events, 3); /* cos rises through zero at -pi/2 - 2 pi n */
        for (uint32_t i = 0; i < 3; i++)
            assert_true(fabs(out->events[i].t + M_PI / 2 + 2 * M_PI * i) < 1e-12);
        ns_run_free(run);
        model_free(&m);
    }
}

/* CVODE's interpolant serves events too, to its accuracy. */
static void test_cvode(void **state)
{
    (void)state;
    static const char *const names[] = {"bdf", "adams"};
    for (size_t k = 0; k < 2; k++) {
        model m = model_oscillator();
        model_event(&m, "zero", m.x[0], 0, NS_EVENT_RECORD);
        const ns_run_options o = model_options(names[k], 10, 1e-10);
        ns_run *run = model_run(&m, &o);
        assert_int_equal(ns_run_to(run, 10), NS_OK);
        const ns_outcome *out = ns_run_outcome(run);
        assert_int_equal(out->n_events, 3);
        for (uint32_t i = 0; i < 3; i++)
            assert_true(fabs(out->events[i].t - M_PI / 2 - M_PI * i) < 1e-6);
        ns_run_free(run);
        model_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polynomials),
        cmocka_unit_test(test_bernstein),
        cmocka_unit_test(test_oscillator),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_many_in_one_step),
        cmocka_unit_test(test_double_crossing),
        cmocka_unit_test(test_touching),
        cmocka_unit_test(test_kinks),
        cmocka_unit_test(test_start_on_event),
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_long_steps),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_singular_event),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_cvode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
