/* Models with modes and jumps against closed forms, through everything that runs are used for:
 * methods, quadruple precision, checkpoints, sweeps, dense output. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/math/quad.h"
#include "session/record.h"

static ns_model *load(const char *file, const ns_override *set, size_t n)
{
    char path[500];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, file);
    ns_model *m = ns_model_load(path, set, n, NS_MODEL_READY);
    assert_non_null(m);
    if (m->status != NS_OK)
        print_message("%s", m->messages);
    assert_int_equal(m->status, NS_OK);
    return m;
}

static ns_record *run(ns_model *m, const char *method, double until)
{
    ns_record_options o = ns_record_defaults(m);
    o.run.method = method;
    if (until > 0)
        o.run.until = until;
    ns_record *r = ns_record_new(m, &o);
    assert_non_null(r);
    if (r->status == NS_OK)
        ns_record_run(r);
    if (r->status != NS_OK)
        print_message("%s\n", r->message);
    return r;
}

static double value(const ns_record *r, const char *name)
{
    const int64_t i = ns_model_observable(r->model, name);
    assert_true(i >= 0);
    return r->last[i];
}

static const char *const methods[] = {"gauss", "taylor", "dop853", "quad"};
enum { METHODS = sizeof methods / sizeof *methods };

/* The times of dop853 are as good as its tolerance, those of the others are rounded. */
static double of(const char *method, double close)
{
    return strcmp(method, "dop853") == 0 ? 1e-11 : close;
}

static bool skipped(const char *method)
{
    return strcmp(method, "quad") == 0 && !NS_HAVE_QUAD;
}

/* Bounces accumulate at sqrt(2 h/g) (1 + e)/(1 - e), for any e: rounding errors of 93 (e = 0.8)
 * to 1800 (e = 0.99) bounces are allowed for by a few units in the last place each. */
static void bounces_accumulate(void **state)
{
    (void)state;
    static const char *const e[] = {"0.5", "0.8", "0.95", "0.99"};
    for (size_t k = 0; k < sizeof e / sizeof *e; k++)
        for (size_t i = 0; i < METHODS; i++) {
            if (skipped(methods[i]) || (k > 1 && strcmp(methods[i], "quad") == 0))
                continue; /* a second each */
            const ns_override set = {"e", e[k]};
            ns_model *m = load("bouncing-ball", &set, 1);
            const double c = strtod(e[k], NULL);
            const double end = sqrt(2 / 9.81) * (1 + c) / (1 - c);
            ns_record *r = run(m, methods[i], end + 1);
            assert_int_equal(r->status, NS_OK);
            const ns_outcome *o = r->outcome;
            const ns_occurrence *last = &o->events[o->n_events - 1];
            assert_true(last->rest);
            assert_true(fabs(last->t / end - 1) < of(methods[i], 1e-14));
            assert_int_equal(o->mode, 1);
            assert_true(value(r, "z") == 0 && value(r, "w") == 0);
            /* energy falls by the work at bounces alone */
            assert_true(o->drift[0] < of(methods[i], 1e-13));
            assert_true(fabs(value(r, "lost") - 9.81) < of(methods[i], 1e-12));
            ns_record_free(r);
            ns_model_free(m);
        }
}

/* The period 2 + 3 pi/2, and the state after six times that, which is the start. */
static void block_on_a_belt(void **state)
{
    (void)state;
    ns_model *m = load("stick-slip", NULL, 0);
    const double period = 2 + 3 * M_PI / 2;
    for (size_t i = 0; i < METHODS; i++) {
        if (skipped(methods[i]))
            continue;
        ns_record *r = run(m, methods[i], 8 * period - 1);
        const ns_outcome *o = r->outcome;
        assert_int_equal(r->status, NS_OK);
        assert_int_equal(o->n_events, 15);
        for (uint32_t k = 0; k < o->n_events; k++) {
            const double t = k / 2 * period + (k % 2 ? period : 2);
            assert_true(fabs(o->events[k].t - t) < of(methods[i], 4e-14));
            assert_int_equal(o->events[k].before, k % 2);
            assert_int_equal(o->events[k].after, !(k % 2));
        }
        size_t next = 0, n = 0;
        double t;
        uint32_t mode;
        while (ns_record_stretch(r, &next, &t, &mode)) {
            assert_int_equal(mode, n % 2);
            n++;
        }
        assert_int_equal(n, 16);
        ns_record_free(r);
    }
    ns_model_free(m);
}

/* In quadruple precision a jump costs no digits, though times are doubles: x after six breaks
 * against its closed form F/k + (S - F)/k cos + v sin of the time since. */
static void quad_keeps_its_digits(void **state)
{
    (void)state;
#if NS_HAVE_QUAD
    ns_model *m = load("stick-slip", NULL, 0);
    ns_record *r = run(m, "quad", 40);
    assert_int_equal(r->status, NS_OK);
    const int64_t x = ns_model_observable(m, "x");
    const ns_quad found = (ns_quad)r->last[x] + (ns_quad)r->last_low[x];
    const ns_quad exact = NS_QUAD_READ("-0.1167558273107178109808980753390507", NULL);
    const double off = fabs((double)(found - exact));
    assert_true(off < 1e-28);
    ns_record_free(r);
    ns_model_free(m);
#endif
}

/* Hundreds of impacts with as many changes of mode: times as in quadruple precision. */
static void hundreds_of_changes(void **state)
{
    (void)state;
#if NS_HAVE_QUAD
    ns_model *m = load("rocking-block", NULL, 0);
    ns_record *a = run(m, "gauss", 0), *b = run(m, "quad", 0);
    assert_int_equal(a->status, NS_OK);
    assert_int_equal(b->status, NS_OK);
    assert_true(a->outcome->n_events > 200);
    assert_int_equal(a->outcome->n_events, b->outcome->n_events);
    for (uint32_t i = 0; i < a->outcome->n_events; i++)
        assert_true(fabs(a->outcome->events[i].t - b->outcome->events[i].t) < 1e-13);
    assert_int_equal(a->outcome->mode, 2);
    ns_record_free(a);
    ns_record_free(b);
    ns_model_free(m);
#endif
}

/* Garwin: -333/343 of the velocity after three bounces, the energy kept. */
static void superball(void **state)
{
    (void)state;
    ns_model *m = load("superball", NULL, 0);
    ns_record *r = run(m, "gauss", 0);
    assert_int_equal(r->status, NS_OK);
    assert_true(fabs(value(r, "x'") / 3 + 333.0 / 343) < 1e-14);
    assert_true(fabs(value(r, "phi'") * 0.02 / 3 - 130.0 / 343) < 1e-14);
    assert_true(r->outcome->energy_drift < 1e-14);
    ns_record_free(r);
    ns_model_free(m);
}

/* Saved and restored after any number of steps, the motion keeps its bits. */
static void checkpoints(void **state)
{
    (void)state;
    static const char *const names[] = {"bouncing-ball", "stick-slip", "simplest-walker"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        ns_model *m = load(names[k], NULL, 0);
        ns_run_options o = ns_model_run_options(m);
        for (size_t i = 0; i < 3; i++) {
            ns_status status;
            const char *message;
            o.method = methods[i];
            ns_run *one = ns_run_new(m->problem, &o, m->p, m->x0, &status, &message);
            ns_run *two = ns_run_new(m->problem, &o, m->p, m->x0, &status, &message);
            assert_true(one && two);
            ns_run_to(one, o.until);
            for (unsigned steps = 1; ns_run_time(two) < o.until; steps++) {
                assert_int_equal(ns_run_step(two), NS_OK);
                if (steps % 3)
                    continue;
                const size_t size = ns_run_save_size(two);
                void *bytes = malloc(size);
                ns_run_save(two, bytes);
                ns_run_free(two);
                two = ns_run_new(m->problem, &o, m->p, m->x0, &status, &message);
                assert_int_equal(ns_run_restore(two, bytes, size, &message), NS_OK);
                free(bytes);
            }
            const size_t n = m->problem->n;
            assert_memory_equal(ns_run_state(one), ns_run_state(two), n * sizeof(double));
            const ns_outcome *a = ns_run_outcome(one), *b = ns_run_outcome(two);
            assert_int_equal(a->n_events, b->n_events);
            assert_int_equal(a->steps, b->steps);
            assert_int_equal(a->mode, b->mode);
            for (uint32_t e = 0; e < a->n_events; e++)
                assert_true(a->events[e].t == b->events[e].t);
            assert_memory_equal(a->event_states, b->event_states,
                                a->n_events * n * sizeof(double));
            assert_true(a->energy_drift == b->energy_drift || isnan(a->energy_drift));
            ns_run_free(one);
            ns_run_free(two);
        }
        ns_model_free(m);
    }
}

static ns_record *run_text(const char *text, ns_model **m)
{
    *m = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(*m);
    if ((*m)->status != NS_OK)
        print_message("%s", (*m)->messages);
    assert_int_equal((*m)->status, NS_OK);
    return run(*m, NULL, 0);
}

/* Never an endless loop: bounces without a word about what follows end with their time, a jump
 * that leads nowhere and jumps at one time with a message. */
static void ends(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"state z' = w, w' = -10\nstart { z = 1 }\nrun { until 10 }\n"
         "event bounce: z = 0 falling { w = -w/2 }",
         "accumulate at t = 1.341640786499874"},
        {"mode a, b\nstate z' = 1\nstart { z = -1 }\nrun { until 5 }\n"
         "event there: z = 0 \"nothing is known\" in a { mode b if -1 }",
         "no mode fits what follows: nothing is known"},
        {"mode a, b\nstate z' = 1, w' = 0\nstart { z = -1 }\nrun { until 5 }\n"
         "event to: z = 0 { z = 1/w }",
         "not finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ns_model *m;
        ns_record *r = run_text(cases[i].text, &m);
        assert_int_equal(r->status, NS_STOP_EVENT);
        if (!strstr(r->message, cases[i].words))
            print_message("%s\n", r->message);
        assert_non_null(strstr(r->message, cases[i].words));
        ns_record_free(r);
        ns_model_free(m);
    }
}

/* An event near the start of a run without end: a motion that is a polynomial in time is made
 * in steps as long as one likes, but for the events in them. */
static void long_runs(void **state)
{
    (void)state;
    static const char text[] = "mode slides, rests\nstate x' = v, v' = -2*mode.slides\n"
                               "start { x = 0; v = 3; mode slides }\nrun { until 1e60 }\n"
                               "event halts: v = 0 falling in slides { v = 0; mode rests }\n";
    ns_model *m = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_int_equal(m->status, NS_OK);
    for (size_t i = 0; i < METHODS; i++) {
        if (skipped(methods[i]))
            continue;
        ns_record *r = run(m, methods[i], 0);
        assert_int_equal(r->status, NS_OK);
        assert_int_equal(r->outcome->n_events, 1);
        assert_true(fabs(r->outcome->events[0].t - 1.5) < 1e-14);
        assert_true(fabs(value(r, "x") - 2.25) < 1e-13);
        ns_record_free(r);
    }
    ns_model_free(m);
    /* tyre and pads of a braking wheel */
    m = load("braking-wheel", NULL, 0);
    ns_record *a = run(m, "gauss", 0), *b = run(m, "gauss", 1e50);
    assert_int_equal(b->status, NS_OK);
    assert_int_equal(a->outcome->n_events, b->outcome->n_events);
    for (uint32_t i = 0; i < a->outcome->n_events; i++)
        assert_true(fabs(a->outcome->events[i].t - b->outcome->events[i].t) < 1e-13);
    ns_record_free(a);
    ns_record_free(b);
    ns_model_free(m);
}

/* Two balls that land at the same time both bounce. */
static void at_one_time(void **state)
{
    (void)state;
    ns_model *m;
    ns_record *r = run_text("state x' = v, v' = -10, y' = w, w' = -10\n"
                            "start { x = 1; y = 1 }\nrun { until 1.5 }\n"
                            "event one: x = 0 falling { v = -v }\n"
                            "event two: y = 0 falling { w = -w }",
                            &m);
    assert_int_equal(r->status, NS_OK);
    assert_int_equal(r->outcome->n_events, 4);
    assert_true(value(r, "x") > 0 && fabs(value(r, "x") - value(r, "y")) < 1e-14);
    ns_record_free(r);
    ns_model_free(m);
}

/* Values inside of steps are those of the stretch they are in: rows on a fine grid. */
static void dense(void **state)
{
    (void)state;
    ns_model *m = load("bouncing-ball", NULL, 0);
    ns_record_options o = ns_record_defaults(m);
    o.every = 0.01;
    o.keep = true;
    ns_record *r = ns_record_new(m, &o);
    ns_record_run(r);
    assert_int_equal(r->status, NS_OK);
    const double *z = ns_table_column(&r->table, (uint32_t)ns_model_observable(m, "z"));
    const double *mode = ns_table_column(&r->table, (uint32_t)ns_model_observable(m, "mode"));
    const double g = 9.81, e = 0.8, first = sqrt(2 / g), end = first * (1 + e) / (1 - e);
    for (size_t i = 0; i < r->table.rows; i++) {
        const double t = r->table.t[i];
        double begin = first, v = g * first * e, height = 0;
        if (t < first)
            height = 1 - g * t * t / 2;
        else if (t < end - 1e-6) {
            while (begin + 2 * v / g < t) {
                begin += 2 * v / g;
                v *= e;
            }
            height = v * (t - begin) - g * (t - begin) * (t - begin) / 2;
        }
        assert_true(fabs(z[i] - height) < 1e-13);
        assert_true(mode[i] == (t > end));
    }
    ns_record_free(r);
    ns_model_free(m);
}

/* What is drawn is that of the mode each row is in: the block turns about the edge it is on. */
static void drawn(void **state)
{
    (void)state;
    ns_model *m = load("rocking-block", NULL, 0);
    ns_record_options o = ns_record_defaults(m);
    o.motion = true;
    ns_record *r = ns_record_new(m, &o);
    ns_record_run(r);
    assert_int_equal(r->status, NS_OK);
    ns_arena *arena = ns_arena_new();
    const ns_frames *frames = ns_frames_new(&r->motion, m, arena);
    const ns_ex theta = m->system->states.at[0].symbol;
    const double *angle = ns_motion_values(&r->motion, m, arena, &theta, 1);
    const double b = 2 * sin(0.2), d = 2 * cos(0.2);
    assert_true(frames->n > 100);
    for (size_t k = 0; k < frames->n; k++) {
        const double edge = copysign(b / 2, angle[k]),
                     *at = frames->bodies[0].position.at + 3 * k;
        const double x = edge - edge * cos(angle[k]) + d / 2 * sin(angle[k]);
        const double z = fabs(edge * sin(angle[k])) + d / 2 * cos(angle[k]);
        /* a few roundings of numbers of size 1 */
        assert_true(fabs(at[0] - x) < 1e-15 && fabs(at[2] - z) < 1e-15);
    }
    ns_arena_free(arena);
    ns_record_free(r);
    ns_model_free(m);
}

/* A motion has both sides of each jump, however many rows are forgotten: bounces turn the
 * velocity round, and mode and time are those of the stretch. */
static void sides(void **state)
{
    (void)state;
    for (int fine = 0; fine < 2; fine++) {
        ns_model *m = load("bouncing-ball", NULL, 0);
        ns_record_options o = ns_record_defaults(m);
        o.motion = true;
        if (fine) /* more rows than there is room for */
            o.run.fixed_step = 1e-3;
        ns_record *r = ns_record_new(m, &o);
        ns_record_run(r);
        assert_int_equal(r->status, NS_OK);
        ns_arena *arena = ns_arena_new();
        const ns_ex w = m->system->states.at[2].symbol;
        const double *t = ns_motion_times(&r->motion, arena);
        const double *v = ns_motion_values(&r->motion, m, arena, &w, 1);
        uint32_t jumps = 0;
        assert_true(!fine || r->motion.stride > 1);
        for (size_t k = 1; k < r->motion.rows; k++) {
            assert_true(t[k] >= t[k - 1]);
            if (t[k] > t[k - 1])
                continue;
            assert_true(fabs(t[k] - r->outcome->events[jumps].t) < 1e-12);
            jumps++;
            /* t is known to its last bits, so w to g times 4 s * 2^-52; the last one ends at
             * rest */
            if (r->motion.mode[k] == 0)
                assert_true(fabs(v[k] + 0.8 * v[k - 1]) < 1e-13);
        }
        assert_true(jumps > 20 && jumps <= r->outcome->n_events);
        ns_arena_free(arena);
        ns_record_free(r);
        ns_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounces_accumulate),
        cmocka_unit_test(block_on_a_belt),
        cmocka_unit_test(quad_keeps_its_digits),
        cmocka_unit_test(hundreds_of_changes),
        cmocka_unit_test(superball),
        cmocka_unit_test(checkpoints),
        cmocka_unit_test(ends),
        cmocka_unit_test(long_runs),
        cmocka_unit_test(at_one_time),
        cmocka_unit_test(dense),
        cmocka_unit_test(drawn),
        cmocka_unit_test(sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
