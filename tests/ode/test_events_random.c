/* Events of random functions: none is run over, none is made up.
 *
 * Each case is a function g of one coordinate x with known zeros, watched on a motion known in
 * closed form: uniform, which any method makes in a few huge steps, or x = cos t.  Fast waves,
 * pulses and wells far narrower than a step, steep flanks, kinks, poles nearby, products.  The
 * crossings found must be those of the closed form, one by one, with their directions.
 *
 * NS_EVENTS_CASES gives the number of cases (2000 by default). */
#include "ode/test_ode_models.h"

#include "ode/ensemble/ensemble.h"
#include "support/motion.h"

enum { MOST_ZEROS = 40000 };

typedef struct zeros {
    uint32_t n;
    double x[MOST_ZEROS], tie; /* ascending; two nearer than this are not told apart */
} zeros;

static uint64_t seed;

static double uniform(double low, double high)
{
    seed += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * ((double)((z ^ z >> 31) >> 11) * 0x1p-53);
}

static double loguniform(double low, double high)
{
    return exp(uniform(log(low), log(high)));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void put(zeros *z, double x)
{
    assert_true(z->n < MOST_ZEROS);
    z->x[z->n++] = x;
}

static void put_pair(zeros *z, double c, double w)
{
    put(z, c - w);
    put(z, c + w);
}

/* Zeros of sin(a x + b) - s in [low, high]. */
static void put_wave(zeros *z, double a, double b, double s, double low, double high)
{
    const double first = asin(s);
    for (int k = 0; k < 2; k++) {
        const double phase = (k ? M_PI - first : first) - b;
        const double from = ceil((a * low - phase) / (2 * M_PI));
        for (double n = from; phase + 2 * M_PI * n <= a * high; n++)
            put(z, (phase + 2 * M_PI * n) / a);
    }
}

static ns_ex num(model *m, double value)
{
    return ns_number(m->g, value);
}

/* (x - c)/w */
static ns_ex scaled(model *m, ns_ex x, double c, double w)
{
    return ns_div(m->g, ns_sub(m->g, x, num(m, c)), num(m, w));
}

static ns_ex wave(model *m, ns_ex x, double a, double b)
{
    return ns_sin(m->g, ns_add(m->g, ns_mul(m->g, num(m, a), x), num(m, b)));
}

enum { FAMILIES = 19 };

/* A random function of x with its zeros in [low, high] (others may be listed too). */
static ns_ex invent(model *m, ns_ex x, int family, double low, double high, zeros *z)
{
    ns_graph *g = m->g;
    const double length = high - low, c = uniform(low + 0.1 * length, high - 0.1 * length);
    const double w = length * loguniform(1e-7, 0.05), a = loguniform(1, 3000) / length;
    const double b = uniform(0, 6), s = uniform(-0.95, 0.95);
    const ns_ex q = scaled(m, x, c, w), square = ns_mul(g, q, q);
    z->n = 0;
    switch (family) {
    case 0:
        put_wave(z, a, b, 0, low, high);
        return wave(m, x, a, b);
    case 1:
        put_wave(z, a, b, s, low, high);
        return ns_sub(g, wave(m, x, a, b), num(m, s));
    case 2: /* a wave that just does not reach zero: a million turns are not looked at */
        return ns_add(g, wave(m, x, 1e3 * a, b), num(m, 1 + loguniform(1e-2, 1)));
    case 3:
        put_wave(z, a, b, 0, low, high);
        put(z, c);
        return ns_mul(g, wave(m, x, a, b), ns_sub(g, x, num(m, c)));
    case 4:
        put_pair(z, c, w);
        return ns_sub(g, ns_mul(g, ns_sub(g, x, num(m, c)), ns_sub(g, x, num(m, c))),
                      num(m, w * w));
    case 5: /* a well */
        put_pair(z, c, w * sqrt(log(2)));
        return ns_sub(g, num(m, 1), ns_mul(g, num(m, 2), ns_exp(g, ns_neg(g, square))));
    case 6: /* a resonance */
        put_pair(z, c, w);
        return ns_sub(g, ns_div(g, ns_one(g), ns_add(g, ns_one(g), square)), num(m, 0.5));
    case 7:
        put(z, c);
        return ns_apply(g, NS_OP_TANH, q, 0);
    case 8:
        put_pair(z, c, w);
        return ns_sub(g, ns_abs(g, ns_sub(g, x, num(m, c))), num(m, w));
    case 9: /* a slit between two arctangents */
        put_pair(z, c, w / 2);
        return ns_sub(g,
                      ns_sub(g, ns_apply(g, NS_OP_ATAN, ns_add(g, q, num(m, 0.5)), 0),
                             ns_apply(g, NS_OP_ATAN, ns_sub(g, q, num(m, 0.5)), 0)),
                      num(m, atan(1)));
    case 10:
        put_pair(z, c, w * sqrt(3));
        return ns_sub(g, ns_sqrt(g, ns_add(g, square, ns_one(g))), num(m, 2));
    case 11: /* max(1 - |q|, -1/2) */
        put_pair(z, c, w);
        return ns_apply(g, NS_OP_MAX, ns_sub(g, ns_one(g), ns_abs(g, q)), num(m, -0.5));
    case 12: { /* up to twelve zeros of a polynomial, some in close pairs */
        ns_ex product = ns_one(g);
        const int pairs = 1 + (int)uniform(0, 6);
        for (int i = 0; i < pairs; i++) {
            const double at = low + length * (i + uniform(0.2, 0.8)) / pairs;
            const double d = length * loguniform(1e-5, 0.1) / pairs;
            put_pair(z, at, d);
            product = ns_mul(g, product, ns_sub(g, x, num(m, at - d)));
            product = ns_mul(g, product, ns_sub(g, x, num(m, at + d)));
        }
        return product;
    }
    case 13: /* a wave within a small window, one side of zero elsewhere */
        put_pair(z, c, w);
        return ns_mul(g, ns_sub(g, num(m, w * w), ns_powi(g, ns_sub(g, x, num(m, c)), 2)),
                      ns_add(g, num(m, 1.1), wave(m, x, a, b)));
    case 14: /* kinks with something steep behind them */
        put_pair(z, c, 0.75 * w);
        return ns_sub(g,
                      ns_sqrt(g, ns_apply(g, NS_OP_MAX, ns_sub(g, ns_one(g), ns_abs(g, q)),
                                          num(m, 0.01))),
                      num(m, 0.5));
    case 15:
        put_pair(z, c, 0.1 * w);
        return ns_sub(g, ns_div(g, ns_one(g), ns_add(g, ns_abs(g, q), num(m, 0.1))), num(m, 5));
    case 16: /* a jump that leaves the sign alone, and what it is divided by again */
        put_wave(z, a, b, 0, low, high);
        return ns_div(g, wave(m, x, a, b), ns_add(g, num(m, 2), ns_sign(g, q)));
    case 17: /* 2 q = q + q^3 */
        put_pair(z, c, w);
        put(z, c);
        return ns_sub(g, ns_apply(g, NS_OP_ATAN2, ns_mul(g, num(m, 2), q), ns_one(g)),
                      ns_apply(g, NS_OP_ATAN, ns_add(g, q, ns_powi(g, q, 3)), 0));
    default: { /* the logarithm of a resonance, and a high power */
        put_pair(z, c, w * sqrt(exp(1) - 1));
        const ns_ex log = ns_log(g, ns_add(g, ns_one(g), square));
        return ns_sub(g, ns_powi(g, log, 9), ns_one(g));
    }
    }
}

/* Times at which x = cos t passes the zeros, between 0 and `until`; false if one is too near a
 * turning point. */
static bool turn_to_times(const zeros *z, double until, zeros *times)
{
    times->n = 0;
    for (uint32_t i = 0; i < z->n; i++) {
        if (fabs(fabs(z->x[i]) - 1) < 1e-3)
            return false;
        if (fabs(z->x[i]) > 1)
            continue;
        const double t = acos(z->x[i]);
        for (double turn = 0; turn < until; turn += 2 * M_PI)
            for (int k = 0; k < 2; k++)
                if (turn + (k ? 2 * M_PI - t : t) < until)
                    put(times, turn + (k ? 2 * M_PI - t : t));
    }
    return true;
}

static const char *const methods[] = {"gauss", "taylor", "dop853", "bdf", "adams", "quad"};

typedef struct job {
    int family, method, stop;
    bool circle; /* x = cos t */
    double v, low, high, until;
} job;

static void compare_events(const job *j, uint64_t start, const ns_outcome *out,
                           const zeros *want, double allowed)
{
    const uint32_t n = j->stop && want->n ? 1 : want->n;
    bool good = out->n_events == n;
    double worst = 0;
    for (uint32_t i = 0; i < n && good; i++) {
        worst = fmax(worst, fabs(out->events[i].t - want->x[i]));
        good = worst <= allowed &&
               (i == 0 || out->events[i].direction == -out->events[i - 1].direction);
    }
    if (!good)
        fail_msg("seed %llu family %d method %s circle %d stop %d: %u of %u, off by %g "
                 "(allowed %g); %s",
                 (unsigned long long)start, j->family, methods[j->method], j->circle, j->stop,
                 out->n_events, n, worst, allowed, out->reason);
}

static void test_random(void **state)
{
    (void)state;
    static zeros z, times;
    const char *text = getenv("NS_EVENTS_CASES");
    const uint32_t cases = text ? (uint32_t)atol(text) : 2000;
    uint64_t total = 0;
    for (uint32_t k = 0; k < cases; k++) {
        const uint64_t start = seed = 1000003 * (uint64_t)k;
        job j = {.family = (int)(k % FAMILIES), .circle = k / FAMILIES % 2};
        j.method = (int)uniform(0,
                                j.circle ? 3 : 5.1); /* the others are slow, or err by more */
        j.stop = uniform(0, 1) < 0.2;
        j.v = j.circle ? 1 : loguniform(0.01, 1000);
        j.low = j.circle ? -1 : uniform(-3, 3);
        j.high = j.circle ? 1 : j.low + loguniform(0.1, 1000);
        j.until = j.circle ? uniform(4, 8) : (j.high - j.low) / j.v;
        model m = j.circle ? model_oscillator() : model_new();
        if (!j.circle) {
            model_state(&m, "x", j.low);
            model_rate(&m, 0, num(&m, j.v));
        }
        const ns_ex g = invent(&m, m.x[0], j.family, j.low, j.high, &z);
        model_event(&m, "g", g, 0, j.stop ? NS_EVENT_STOP : NS_EVENT_RECORD);
        bool fit = true;
        times.n = 0;
        if (j.circle)
            fit = turn_to_times(&z, j.until, &times);
        for (uint32_t i = 0; i < z.n && !j.circle; i++)
            if (z.x[i] > j.low && z.x[i] < j.high)
                put(&times, (z.x[i] - j.low) / j.v);
        qsort(times.x, times.n, sizeof *times.x, compare);
        /* a state off by some units in the last place moves an event by that over the speed,
         * which is at least sin(acos(0.999)) on the circle; dop853 errs by 1e-11 there */
        const double size = fmax(fabs(j.low), fabs(j.high));
        const double allowed = j.circle ? (j.method == 2 ? 1e-9 : 2e-12)
                                        : 64 * 2.2e-16 * (size + j.v * j.until) / j.v;
        for (uint32_t i = 0; i < times.n; i++) {
            const double before = i ? times.x[i - 1] : 0;
            const double after = i + 1 < times.n ? times.x[i + 1] : j.until;
            fit = fit && times.x[i] - before > 8 * allowed && after - times.x[i] > 8 * allowed;
        }
        if (fit) {
            const ns_run_options o = model_options(methods[j.method], j.until, 0);
            ns_problem *problem = ns_problem_new(m.s, true);
            if (j.method == 5)
                ns_problem_add_tangent(problem);
            m.problem = problem;
            ns_run *run = model_run(&m, &o);
            ns_run_to(run, j.until);
            const ns_outcome *out = ns_run_outcome(run);
            compare_events(&j, start, out, &times, allowed);
            total += out->n_events;
            ns_run_free(run);
        }
        model_free(&m);
    }
    print_message("%llu events\n", (unsigned long long)total);
    assert_true(total > 10 * (uint64_t)cases);
}

/* ---- motions in lanes -------------------------------------------------------------------- */

typedef struct lanes_job {
    uint32_t n, next;
    const model *m;
    const double *speed;
    double until;
    bool stops;
} lanes_job;

static bool next_motion(void *context, uint64_t *id, double *p, double *x0)
{
    lanes_job *j = context;
    if (j->next == j->n)
        return false;
    *id = j->next++;
    p[0] = j->speed[*id];
    x0[0] = j->m->x0[0];
    return true;
}

/* sin x on x = 0.1 + v t: crossings at n pi. */
static bool motion_done(void *context, const ns_ensemble_result *r)
{
    const lanes_job *j = context;
    const double v = j->speed[r->id];
    const uint32_t n = j->stops ? 1 : (uint32_t)((0.1 + v * j->until) / M_PI);
    assert_int_equal(r->outcome->n_events, n);
    for (uint32_t i = 0; i < n; i++)
        assert_true(fabs(r->outcome->events[i].t - ((i + 1) * M_PI - 0.1) / v) < 1e-12);
    if (j->stops)
        assert_true(r->outcome->t == r->outcome->events[0].t);
    return true;
}

/* Every motion of an ensemble has the events that it has alone. */
static void test_lanes(void **state)
{
    (void)state;
    enum { N = 40 };
    for (int k = 0; k < 8; k++) {
        model m = model_new();
        const ns_ex x = model_state(&m, "x", 0.1), v = model_param(&m, "v", 1);
        model_rate(&m, 0, v);
        model_event(&m, "wave", ns_sin(m.g, x), 0, k & 1 ? NS_EVENT_STOP : NS_EVENT_RECORD);
        m.problem = ns_problem_new(m.s, false);
        double speed[N];
        for (int i = 0; i < N; i++)
            speed[i] = loguniform(1, 300);
        lanes_job j = {.n = N, .m = &m, .speed = speed, .until = 10, .stops = k & 1};
        ns_ensemble_options o = {.run = model_options(k & 2 ? "gauss" : "dop853", 10, 0),
                                 .events = !(k & 1),
                                 .alone = k & 4};
        const ns_ensemble_client client = {&j, next_motion, motion_done};
        const char *message;
        assert_int_equal(ns_ensemble_run(m.problem, &o, &client, &message), NS_OK);
        assert_int_equal(j.next, N);
        model_free(&m);
    }
}

/* ---- a motion without closed form -------------------------------------------------------- */

enum { FUNCTIONS = 8 };

/* A rattleback, with random functions of its motion as events, against a grid so fine that none
 * of them turns in a cell: a change of sign there is an odd number of events, none an even
 * one. */
static void test_rattleback(void **state)
{
    (void)state;
    static const double until = 0.5, cell = 5e-6;
    seed = 7;
    char text[3000] = "ground plane\n"
                      "solid ellipsoid(0.2, 0.03, 0.02) { mass 1; turn [0, 0, 1], 0.02 }\n"
                      "body ellipsoid(0.2, 0.03, 0.02) { }\n"
                      "start { omega [0.5, 0.2, -5]; tilt 5 deg }\n";
    static const char *const shapes[][2] = {{"sin", "*omega.x"},
                                            {"cos", "*omega.z"},
                                            {"tanh", "*(omega.y + 0.1)"},
                                            {"sin(omega.y)*sin", "*com.z*omega.x"}};
    for (int i = 0; i < FUNCTIONS; i++) {
        char function[200];
        snprintf(function, sizeof function, "%s(%.6g%s + %.6g)", shapes[i % 4][0],
                 loguniform(30, 3000), shapes[i % 4][1], uniform(0, 6));
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "observe g%d = %s\nevent e%d: %s\n", i, function, i, function);
    }
    ns_model *rattleback = motion_model_text(text, NULL);
    const ns_system *system = rattleback->system;
    int64_t column[FUNCTIONS];
    for (int i = 0; i < FUNCTIONS; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        column[i] = ns_model_observable(rattleback, name);
        assert_true(column[i] >= 0);
    }
    double *value = calloc(system->observables.n, sizeof *value), total = 0;
    for (int method = 0; method < 3; method++) {
        ns_run_options o = model_options(methods[method], until, 0);
        ns_status status;
        const char *message;
        ns_run *found = ns_run_new(rattleback->problem, &o, rattleback->p, rattleback->x0,
                                   &status, &message);
        assert_non_null(found);
        assert_int_equal(ns_run_to(found, until), NS_OK);
        const ns_outcome *out = ns_run_outcome(found);
        o.method = "taylor";
        o.only_stops = true;
        ns_run *run = ns_run_new(rattleback->problem, &o, rattleback->p, rattleback->x0,
                                 &status, &message);
        assert_non_null(run);
        double *x = calloc(system->states.n, sizeof *x), last[FUNCTIONS] = {0};
        uint32_t seen = 0;
        for (uint32_t k = 0; k * cell < until; k++) {
            ns_run_to(run, k * cell);
            ns_run_state_at(run, k * cell, x);
            ns_run_observe(run, k * cell, x, value);
            uint32_t count[FUNCTIONS] = {0};
            for (; seen < out->n_events && out->events[seen].t <= k * cell; seen++) {
                const char *name = system->events.at[out->events[seen].event].name;
                if (name[0] == 'e' && name[2] == 0)
                    count[name[1] - '0']++;
            }
            for (int i = 0; i < FUNCTIONS; i++) {
                const double g = value[column[i]];
                const bool changed = k > 0 && (g > 0) != (last[i] > 0);
                total += count[i];
                /* an event in the last bits of a cell may count for its neighbour */
                if (count[i] % 2 != changed && fabs(g) > 1e-8 && fabs(last[i]) > 1e-8)
                    fail_msg("%s: g%d at t = %.9g: %u events, from %g to %g", methods[method],
                             i, k * cell, count[i], last[i], g);
                last[i] = g;
            }
        }
        free(x);
        ns_run_free(run);
        ns_run_free(found);
    }
    free(value);
    ns_model_free(rattleback);
    print_message("%g events\n", total);
    assert_true(total > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_rattleback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
