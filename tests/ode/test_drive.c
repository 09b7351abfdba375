/* Rates that depend on time: pulses, switches, chirps, wherever they are in a run and however
 * short, are found by every method.
 *
 * The motions are  x' = g(t)  and  y' = v, v' = -y + g(t)  from  x = 0, y = 1, v = 0,  whose
 * solution is
 *
 *     x(T) = int g,   y(T) = cos T + int g(s) sin(T - s) ds
 *
 * with integrals by Gauss's formula over panels that are graded towards everything g does.
 *
 * A quick share of the random motions is run by default; NS_DRIVE_ROUNDS=10000 in the
 * environment makes more. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expr/eval.h"
#include "ode/ensemble/ensemble.h"
#include "ode/method.h"
#include "session/model.h"

/* ---- what happens in time ---------------------------------------------------------------- */

typedef enum kind {
    GAUSSIAN,
    LORENTZ,
    SECH2,
    TANH,      /* a switch that takes its time */
    RECTANGLE, /* by sign */
    TRIANGLE,  /* by abs and max */
    TRAPEZIUM, /* by min and max */
    TRAIN,     /* of three Gaussians, the last one small */
    KINDS
} kind;

typedef struct drive {
    kind kind;
    double at, width, height;
} drive;

static long double value(const drive *d, long double t)
{
    const long double u = (t - d->at) / d->width, A = d->height;
    switch (d->kind) {
    case GAUSSIAN:
        return A * expl(-u * u);
    case LORENTZ:
        return A / (1 + u * u);
    case SECH2:
        return A / (coshl(u) * coshl(u));
    case TANH:
        return A * tanhl(u);
    case RECTANGLE:
        return fabsl(u) < 1 ? A : 0;
    case TRIANGLE:
        return A * fmaxl(0, 1 - fabsl(u));
    case TRAPEZIUM:
        return A * fmaxl(0, fminl(1, 2 - fabsl(u)));
    default: {
        const long double v = u - 8, w = u - 20;
        return A * (expl(-u * u) + expl(-v * v) + 0.01L * expl(-w * w));
    }
    }
}

static void write_drive(char *text, size_t room, const drive *d)
{
    static const char *const form[KINDS] = {
        [GAUSSIAN] = "A*exp(-((t - c)/w)^2)",
        [LORENTZ] = "A/(1 + ((t - c)/w)^2)",
        [SECH2] = "A/cosh((t - c)/w)^2",
        [TANH] = "A*tanh((t - c)/w)",
        [RECTANGLE] = "A/2*(sign(t - c + w) - sign(t - c - w))",
        [TRIANGLE] = "A*max(0, 1 - abs((t - c)/w))",
        [TRAPEZIUM] = "A*max(0, min(1, 2 - abs((t - c)/w)))",
        [TRAIN] = "A*(exp(-u^2) + exp(-(u - 8)^2) + 0.01*exp(-(u - 20)^2))",
    };
    snprintf(text, room,
             "param c = %.17g, w = %.17g, A = %.17g\n"
             "let u = (t - c)/w, g = %s\n"
             "state x' = g, y' = v, v' = -y + g\n"
             "start { x = 0; y = 1; v = 0 }\n",
             d->at, d->width, d->height, form[d->kind]);
}

/* ---- the solution ------------------------------------------------------------------------ */

/* Over one panel, by 10 nodes in 4 parts. */
static void panel(const drive *d, double T, long double a, long double b, long double sum[2])
{
    static const long double node[] = {
        0.148874338981631210884826001129720L, 0.433395394129247190799265943165784L,
        0.679409568299024406234327365114874L, 0.865063366688984510732096688423493L,
        0.973906528517171720077964012084452L};
    static const long double weight[] = {
        0.295524224714752870173815619188769L, 0.269266719309996355091226921569469L,
        0.219086362515982043995534934228163L, 0.149451349150580593145863396957770L,
        0.066671344308688137593568809893332L};
    enum { PARTS = 4 };
    for (int part = 0; part < PARTS; part++) {
        const long double h = (b - a) / (2 * PARTS), m = a + (2 * part + 1) * h;
        for (int i = 0; i < 10; i++) {
            const long double t = m + (i % 2 ? h : -h) * node[i / 2];
            const long double g = weight[i / 2] * h * value(d, t);
            sum[0] += g;
            sum[1] += g * sinl(T - t);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* x and y at T > 0. */
static void solution(const drive *d, double T, double xy[2])
{
    double mark[600];
    size_t n = 0;
    mark[n++] = 0;
    mark[n++] = T;
    for (double t = 1; t < T && n < 150; t += 1)
        mark[n++] = t;
    const double middle[] = {0, 8, 20};
    for (size_t i = 0; i < (d->kind == TRAIN ? 3 : 1); i++) {
        const double c = d->at + middle[i] * d->width;
        mark[n++] = c;
        for (double r = d->width / 4; r < 2 * T; r *= 1.5) {
            mark[n++] = c - r;
            mark[n++] = c + r;
        }
    }
    for (int k = -2; k <= 2; k++) /* corners */
        mark[n++] = d->at + k * d->width;
    assert_true(n <= sizeof mark / sizeof *mark);
    qsort(mark, n, sizeof *mark, ascending);
    long double sum[2] = {0, cosl(T)};
    for (size_t i = 0; i + 1 < n; i++)
        if (mark[i] >= 0 && mark[i + 1] <= T)
            panel(d, T, mark[i], mark[i + 1], sum);
    xy[0] = (double)sum[0];
    xy[1] = (double)sum[1];
}

/* ---- runs -------------------------------------------------------------------------------- */

static ns_model *load(const char *text)
{
    ns_model *model = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    if (model->status != NS_OK)
        fail_msg("%s\n%s", text, model->messages);
    return model;
}

static ns_run *begin(const ns_model *model, const ns_problem *problem, const ns_run_options *o)
{
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(problem, o, model->p, model->x0, &status, &message);
    if (!run)
        fail_msg("%s: %s", o->method, message);
    return run;
}

static const ns_problem *problem_for(ns_model *model, const char *method)
{
    const ns_problem *problem = ns_model_problem(model, strcmp(method, "bdf") == 0);
    if (strcmp(method, "quad") == 0)
        ns_problem_add_tangent((ns_problem *)problem);
    return problem;
}

static const char *const methods[] = {"gauss", "dop853", "taylor", "bdf",
                                      "adams", "auto",   "quad"};
enum { METHODS = 7, QUAD = 6 };

/* What a method makes of its tolerance: errors of so many steps, more of them at low orders. */
static double granted(const char *method, double tolerance)
{
    if (tolerance == 0)
        tolerance = strcmp(method, "auto") == 0 ? 0 : ns_method_find(method)->default_tolerance;
    const bool multistep = strcmp(method, "bdf") == 0 || strcmp(method, "adams") == 0;
    return (multistep ? 2e4 : 1e3) * fmax(tolerance, 1e-15);
}

/* One motion from 0 to T: errors of x and y, at four times on the way and at the end. */
static void check_motion(const drive *d, double T, const char *method, double tolerance)
{
    char text[600];
    write_drive(text, sizeof text, d);
    ns_model *model = load(text);
    const ns_problem *problem = problem_for(model, method);
    ns_run_options o = ns_run_defaults();
    o.method = method;
    o.until = T;
    o.tolerance = tolerance;
    ns_run *run = begin(model, problem, &o);
    double largest = 1;
    for (int k = 1; k <= 5; k++) {
        const double t = k == 5 ? T : T * k / 5;
        double expected[2], x[3];
        if (ns_run_to(run, t) != NS_OK)
            fail_msg("%s%s: %s", text, method, ns_run_outcome(run)->reason);
        ns_run_state_at(run, t, x);
        solution(d, t, expected);
        largest = fmax(largest, fmax(fabs(expected[0]), fabs(expected[1])));
        for (int i = 0; i < 2; i++)
            if (!(fabs(x[i] - expected[i]) <= granted(method, tolerance) * largest))
                fail_msg("%suntil %.17g\n%s, tolerance %g, t = %g: %c = %.17g, not %.17g "
                         "(error %.2g, %llu steps)",
                         text, T, method, tolerance, t, "xy"[i], x[i], expected[i],
                         x[i] - expected[i], (unsigned long long)ns_run_outcome(run)->steps);
    }
    ns_run_free(run);
    ns_model_free(model);
}

static uint32_t rounds(uint32_t quick)
{
    const char *more = getenv("NS_DRIVE_ROUNDS");
    return more && atoi(more) > 0 ? (uint32_t)atoi(more) : quick;
}

static double random_between(uint64_t *seed, double a, double b)
{
    return a + (b - a) * ns_eval_random(seed);
}

/* Width and place at random: from a part in a hundred thousand of the run to all of it.  The
 * height makes it matter. */
static drive random_drive(uint64_t *seed, double T)
{
    drive d = {.kind = (kind)(KINDS * ns_eval_random(seed))};
    d.width = T * pow(10, random_between(seed, -5, -0.5));
    d.at = T * random_between(seed, -0.1, 1.1);
    d.height = random_between(seed, 0.5, 2) / fmin(d.width, 1);
    if (ns_eval_random(seed) < 0.3) /* switches at round times */
        d.at = round(d.at * 4) / 4;
    if (d.kind == TANH)
        d.height = 1;
    return d;
}

static void test_random_pulses(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-4, 1e-6, 1e-9, 1e-12};
    uint64_t seed = 20;
    for (uint32_t round = 0; round < rounds(300); round++) {
        const double T = round % 7 == 0 ? 100 : random_between(&seed, 1, 20);
        drive d = random_drive(&seed, T);
        const uint32_t method = round % (METHODS - 1);
        if (strcmp(methods[method], "taylor") == 0 && d.kind == SECH2)
            d.kind = LORENTZ; /* the series of cosh overflows: that is said, and no miss */
        const double tolerance = tolerances[(int)(4 * ns_eval_random(&seed))];
        check_motion(&d, T, methods[method],
                     strcmp(methods[method], "bdf") == 0 ? fmax(tolerance, 1e-8) : tolerance);
    }
}

/* ---- every method ------------------------------------------------------------------------ */

/* The same short pulse with each of them, quadruple precision included. */
static void test_every_method(void **state)
{
    (void)state;
    const drive pulses[] = {{GAUSSIAN, 5, 0.1, 10},
                            {GAUSSIAN, 50, 0.3, 1 / (0.3 * sqrt(M_PI))},
                            {GAUSSIAN, 5, 1e-3, 1e3 / sqrt(M_PI)},
                            {RECTANGLE, 3.5, 0.25, 2},
                            {TRAPEZIUM, 7, 1e-3, 500},
                            {RECTANGLE, 2, 2, 0.7}}; /* switches at both ends of the run */
    for (size_t i = 0; i < sizeof pulses / sizeof *pulses; i++)
        for (int k = 0; k < METHODS; k++) {
            if (k == QUAD && !NS_HAVE_QUAD)
                continue;
            check_motion(&pulses[i], 2 * pulses[i].at, methods[k], k == QUAD ? 1e-20 : 1e-8);
            if (k != QUAD)
                check_motion(&pulses[i], 2 * pulses[i].at, methods[k], 0);
        }
}

/* From T back to 0: x(0) = -int g. */
static void test_backwards(void **state)
{
    (void)state;
    uint64_t seed = 21;
    for (uint32_t round = 0; round < 60; round++) {
        const double T = random_between(&seed, 1, 20);
        drive d = random_drive(&seed, T);
        const char *method = methods[round % (METHODS - 1)];
        if (strcmp(method, "taylor") == 0 && d.kind == SECH2)
            d.kind = LORENTZ;
        char text[600];
        write_drive(text, sizeof text, &d);
        ns_model *model = load(text);
        ns_run_options o = ns_run_defaults();
        o.method = method;
        o.t0 = T;
        o.until = 0;
        o.tolerance = 1e-8;
        ns_run *run = begin(model, problem_for(model, method), &o);
        double expected[2];
        if (ns_run_to(run, 0) != NS_OK)
            fail_msg("%s%s, from %.17g: %s", text, method, T, ns_run_outcome(run)->reason);
        solution(&d, T, expected);
        if (!(fabs(ns_run_state(run)[0] + expected[0]) <=
              granted(method, o.tolerance) * fmax(1, fabs(expected[0]))))
            fail_msg("%s%s, from %.17g: %.17g, not %.17g", text, method, T,
                     ns_run_state(run)[0], -expected[0]);
        ns_run_free(run);
        ns_model_free(model);
    }
}

/* Frequencies that grow: sin(t^2) and sin(exp(t)), by many panels. */
static void test_chirps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double T;
        int kind;
    } chirps[] = {{"sin(t^2)", 30, 0}, {"cos(exp(t))", 6, 1}, {"t*sin(40*t)", 5, 2}};
    for (size_t i = 0; i < sizeof chirps / sizeof *chirps; i++) {
        enum { PANELS = 40000 };
        long double sum = 0; /* by three nodes: errors below 1e-12 */
        for (int k = 0; k < PANELS; k++) {
            static const long double node = 0.774596669241483377L;
            const long double h = chirps[i].T / (2.0L * PANELS), m = (2 * k + 1) * h;
            const long double at[] = {m - node * h, m, m + node * h};
            for (int j = 0; j < 3; j++) {
                const long double t = at[j];
                const long double g = chirps[i].kind == 0   ? sinl(t * t)
                                      : chirps[i].kind == 1 ? cosl(expl(t))
                                                            : t * sinl(40 * t);
                sum += h * (j == 1 ? 8 : 5) / 9 * g;
            }
        }
        char text[200];
        snprintf(text, sizeof text, "state x' = %s\nstart { x = 0 }\n", chirps[i].text);
        for (int k = 0; k < METHODS - 1; k++) {
            ns_model *model = load(text);
            ns_run_options o = ns_run_defaults();
            o.method = methods[k];
            o.until = chirps[i].T;
            o.tolerance = 1e-9;
            ns_run *run = begin(model, problem_for(model, methods[k]), &o);
            assert_int_equal(ns_run_to(run, o.until), NS_OK);
            if (!(fabs(ns_run_state(run)[0] - (double)sum) <= granted(methods[k], 1e-9)))
                fail_msg("%s, %s: %.17g, not %.17Lg", chirps[i].text, methods[k],
                         ns_run_state(run)[0], sum);
            ns_run_free(run);
            ns_model_free(model);
        }
    }
}

/* ---- ensembles --------------------------------------------------------------------------- */

enum { MOTIONS = 40 };

typedef struct sweep {
    uint32_t next;
    double at[MOTIONS], width[MOTIONS], height, x[MOTIONS][3];
} sweep;

static bool next_motion(void *context, uint64_t *id, double *p, double *x0)
{
    sweep *s = context;
    if (s->next == MOTIONS)
        return false;
    *id = s->next;
    p[0] = s->at[s->next];
    p[1] = s->width[s->next];
    p[2] = s->height / s->width[s->next];
    x0[0] = 0;
    x0[1] = 1;
    x0[2] = 0;
    s->next++;
    return true;
}

static bool motion_done(void *context, const ns_ensemble_result *r)
{
    sweep *s = context;
    memcpy(s->x[r->id], r->x, sizeof s->x[0]);
    if (r->outcome->status != NS_OK)
        fail_msg("at %.17g, width %.17g: %s", s->at[r->id], s->width[r->id],
                 r->outcome->reason);
    return true;
}

/* Pulses and switches that differ from lane to lane; the bits do not depend on the lanes. */
static void test_lanes(void **state)
{
    (void)state;
    static const kind kinds[] = {GAUSSIAN, RECTANGLE, TRIANGLE, TANH};
    uint64_t seed = 22;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int m = 0; m < 2; m++) {
            drive d = {.kind = kinds[k], .at = 1, .width = 1, .height = 1};
            char text[600];
            write_drive(text, sizeof text, &d);
            ns_model *model = load(text);
            const ns_problem *problem = ns_model_problem(model, false);
            sweep s = {.height = 1}, one;
            for (int i = 0; i < MOTIONS; i++) {
                s.at[i] = random_between(&seed, 0, 20);
                s.width[i] = pow(10, random_between(&seed, -4, 0));
            }
            one = s;
            ns_ensemble_options o = {.run = ns_run_defaults()};
            o.run.method = methods[m];
            o.run.until = 20;
            o.run.tolerance = 1e-9;
            const char *message;
            const ns_ensemble_client all = {&s, next_motion, motion_done},
                                     single = {&one, next_motion, motion_done};
            assert_int_equal(ns_ensemble_run(problem, &o, &all, &message), NS_OK);
            o.lanes = 1;
            assert_int_equal(ns_ensemble_run(problem, &o, &single, &message), NS_OK);
            assert_memory_equal(s.x, one.x, sizeof s.x);
            for (int i = 0; i < MOTIONS; i++) {
                double expected[2];
                d = (drive){kinds[k], s.at[i], s.width[i], s.height / s.width[i]};
                solution(&d, o.run.until, expected);
                for (int j = 0; j < 2; j++)
                    if (!(fabs(s.x[i][j] - expected[j]) <= 2e-6 * fmax(1, fabs(expected[j]))))
                        fail_msg("kind %d, %s, motion %d, at %.17g, width %.17g: %.17g, not "
                                 "%.17g",
                                 (int)kinds[k], methods[m], i, s.at[i], s.width[i], s.x[i][j],
                                 expected[j]);
            }
            ns_model_free(model);
        }
}

/* ---- what it costs, and restarts --------------------------------------------------------- */

static uint64_t steps_of(const char *rate, const char *method)
{
    char text[300];
    snprintf(text, sizeof text, "state y' = v, v' = -y + %s\nstart { y = 1; v = 0 }\n", rate);
    ns_model *model = load(text);
    ns_run_options o = ns_run_defaults();
    o.method = method;
    o.until = 200;
    ns_run *run = begin(model, problem_for(model, method), &o);
    assert_int_equal(ns_run_to(run, o.until), NS_OK);
    const uint64_t steps = ns_run_outcome(run)->steps;
    ns_run_free(run);
    ns_model_free(model);
    return steps;
}

/* A drive no faster than the motion takes no more steps than another state of that frequency
 * would; nor does one that is nothing but rounding errors (taylor's series magnify those). */
static void test_smooth_drives_are_free(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const uint64_t free = steps_of("0.3*v*y", methods[k]), most = free + free / 4 + 10;
        assert_true(steps_of("0.2*sin(t)", methods[k]) <= most);
        assert_true(steps_of("0.2*cos(0.3*t)", methods[k]) <= most);
        if (k < 2)
            assert_true(steps_of("(sin(3*t)*cos(2*t) - cos(3*t)*sin(2*t) - sin(t))",
                                 methods[k]) <= most);
    }
}

static void test_checkpoints(void **state)
{
    (void)state;
    const drive d = {TRAIN, 5, 0.02, 30};
    for (int k = 0; k < 3; k++)
        for (int corner = 0; corner < 2; corner++) {
            char text[600];
            drive e = d;
            e.kind = corner ? TRAPEZIUM : TRAIN;
            write_drive(text, sizeof text, &e);
            ns_model *model = load(text);
            const ns_problem *problem = ns_model_problem(model, false);
            ns_run_options o = ns_run_defaults();
            o.method = methods[k];
            o.until = 10;
            ns_run *whole = begin(model, problem, &o), *again = NULL;
            const char *message;
            void *bytes = NULL;
            size_t size = 0;
            for (int step = 0; ns_run_time(whole) < o.until; step++) {
                assert_int_equal(ns_run_step(whole), NS_OK);
                if (step % 7 == 3) { /* the second run is always restored, never goes on */
                    size = ns_run_save_size(whole);
                    bytes = realloc(bytes, size);
                    ns_run_save(whole, bytes);
                    ns_run_free(again);
                    again = begin(model, problem, &o);
                    assert_int_equal(ns_run_restore(again, bytes, size, &message), NS_OK);
                } else if (again) {
                    assert_int_equal(ns_run_step(again), NS_OK);
                    assert_true(ns_run_time(again) == ns_run_time(whole));
                    assert_memory_equal(ns_run_state(again), ns_run_state(whole),
                                        problem->n * sizeof(double));
                }
            }
            free(bytes);
            ns_run_free(again);
            ns_run_free(whole);
            ns_model_free(model);
        }
}

/* ---- narrow functions of the state ------------------------------------------------------- */

/* A hill of height H < v^2/2 and width w at a, or one that travels with speed c: in its frame
 * energy is conserved, and crossing it takes longer by
 *
 *     int (1/sqrt(v^2 - 2V) - 1/v) dz */
static void check_hill(uint64_t *seed, const char *method)
{
    const double v = random_between(seed, 0.5, 2),
                 H = random_between(seed, -2, 0.9) * v * v / 2;
    const double w = pow(10, random_between(seed, -4, -0.5)), a = random_between(seed, 3, 6);
    const double c = ns_eval_random(seed) < 0.5 ? 0 : random_between(seed, -1, 1), T = 12 / v;
    const bool sech = ns_eval_random(seed) < 0.4 && w > 0.03; /* no overflow in series */
    char text[400];
    snprintf(text, sizeof text,
             "param a = %.17g, w = %.17g, H = %.17g, c = %.17g\n"
             "let u = (x - a - c*t)/w\n"
             "state x' = v, v' = %s\n"
             "start { x = 0; v = %.17g }\n",
             a, w, H, c, sech ? "2*H/w*tanh(u)/cosh(u)^2" : "2*H/w*u*exp(-u^2)", v + c);
    long double late = 0;
    enum { PANELS = 4000 };
    const double reach = sech ? 25 : 8;
    for (int k = 0; k < PANELS; k++) { /* the trapezoidal rule is spectral here */
        const long double u = reach * (2 * k + 1 - PANELS) / PANELS;
        const long double V = sech ? H / (coshl(u) * coshl(u)) : H * expl(-u * u);
        late += 2 * reach * w / PANELS * (1 / sqrtl((long double)v * v - 2 * V) - 1.0L / v);
    }
    if (a + reach * w > v * (T - (double)late)) /* not yet behind it */
        return;
    ns_model *model = load(text);
    ns_run_options o = ns_run_defaults();
    o.method = method;
    o.until = T;
    o.tolerance = 1e-8;
    ns_run *run = begin(model, problem_for(model, method), &o);
    if (ns_run_to(run, T) != NS_OK)
        fail_msg("%s%s: %s", text, method, ns_run_outcome(run)->reason);
    const double expected = c * T + v * (T - (double)late), x = ns_run_state(run)[0];
    /* what an error of the speed, relative to the narrow hill's force, grows to on the way */
    if (!(fabs(x - expected) <= 20 * granted(method, o.tolerance) * 12))
        fail_msg("%suntil %.17g, %s: x = %.17g, not %.17g, error %.2g, without hill %.17g",
                 text, T, method, x, expected, x - expected, (v + c) * T);
    ns_run_free(run);
    ns_model_free(model);
}

static void test_hills(void **state)
{
    (void)state;
    uint64_t seed = 23;
    for (uint32_t round = 0; round < rounds(200); round++)
        check_hill(&seed, methods[round % (METHODS - 1)]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_pulses), cmocka_unit_test(test_every_method),
        cmocka_unit_test(test_backwards),     cmocka_unit_test(test_chirps),
        cmocka_unit_test(test_lanes),         cmocka_unit_test(test_smooth_drives_are_free),
        cmocka_unit_test(test_checkpoints),   cmocka_unit_test(test_hills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
