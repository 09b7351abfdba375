/* Programs: every engine against the direct evaluator of expr/ and against each other, on
 * random graphs, linear systems, parameters, and at the extremes of size. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "eval/interval/interval.h"
#include "eval/program.h"
#include "expr/eval.h"
#include "support/bits.h"

static const char *const lane_names[] = {"plain", "avx2", "avx512"};
enum { LANE_NAMES = 3 };

/* A program with all its memory. */
typedef struct machine {
    ns_program *program;
    uint32_t nx, np, nout;
    double *work1, *work8, *x8, *p8, *t8, *out8, *x, *p, *out;
} machine;

static machine machine_new(ns_arena *arena, const ns_program_spec *spec)
{
    machine m = {.nx = spec->nx, .np = spec->np, .nout = spec->nout};
    m.program = ns_program_build(arena, spec);
    m.work1 = block_new(ns_program_work1(m.program));
    m.work8 = block_new(ns_program_work8(m.program));
    m.x = block_new(m.nx);
    m.p = block_new(m.np);
    m.out = block_new(m.nout);
    m.x8 = block_new((size_t)m.nx * NS_LANES);
    m.p8 = block_new((size_t)m.np * NS_LANES);
    m.t8 = block_new(NS_LANES);
    m.out8 = block_new((size_t)m.nout * NS_LANES);
    return m;
}

static void machine_free(machine *m)
{
    double *const blocks[] = {m->work1, m->work8, m->x8, m->p8, m->t8,
                              m->out8,  m->x,     m->p,  m->out};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

static void lane_of(machine *m, int lane)
{
    for (uint32_t i = 0; i < m->nx; i++)
        m->x[i] = m->x8[i * NS_LANES + (uint32_t)lane];
    for (uint32_t i = 0; i < m->np; i++)
        m->p[i] = m->p8[i * NS_LANES + (uint32_t)lane];
}

/* x8, p8, t8 are set: all instruction sets against each lane run alone. */
static void check_lanes(machine *m)
{
    for (int n = 0; n < LANE_NAMES; n++) {
        if (!ns_program_choose_lanes(m->program, lane_names[n]))
            continue;
        assert_string_equal(ns_program_lanes_name(m->program), lane_names[n]);
        ns_program_bind8(m->program, m->work8, m->p8);
        for (int twice = 0; twice < 2; twice++) /* the work block can be used again */
            ns_program_eval8(m->program, m->work8, m->t8, m->x8, m->out8);
        for (int lane = 0; lane < NS_LANES; lane++) {
            lane_of(m, lane);
            ns_program_bind1(m->program, m->work1, m->p);
            ns_program_eval1(m->program, m->work1, m->t8[lane], m->x, m->out);
            for (uint32_t i = 0; i < m->nout; i++)
                if (!same_bits(m->out[i], m->out8[i * NS_LANES + (uint32_t)lane]))
                    fail_msg("%s, lane %d, output %u: %a alone, %a in lanes", lane_names[n],
                             lane, i, m->out[i], m->out8[i * NS_LANES + (uint32_t)lane]);
        }
    }
}

/* ---- random graphs ----------------------------------------------------------------------- */

enum { INPUTS = 6, PARAMS = 4, SYMBOLS = INPUTS + PARAMS + 1, LARGEST = 400 };

typedef struct world {
    ns_arena *arena;
    ns_graph *g;
    ns_ex symbol[SYMBOLS]; /* inputs, parameters, time */
    double value[SYMBOLS];
    ns_ex pool[LARGEST];
    uint32_t n;
    uint64_t seed;
} world;

static uint32_t pick(world *w, uint32_t n)
{
    return (uint32_t)(n * ns_eval_random(&w->seed));
}

static ns_ex any(world *w)
{
    /* recent ones more often, so that graphs are deep as well as wide */
    return ns_eval_random(&w->seed) < 0.5 || w->n < 10 ? w->pool[pick(w, w->n)]
                                                       : w->pool[w->n - 1 - pick(w, 10)];
}

static void keep(world *w, ns_ex e)
{
    double value;
    ns_eval(w->g, &e, 1, w->symbol, w->value, SYMBOLS, &value);
    if (isfinite(value) && fabs(value) < 100 && w->n < LARGEST)
        w->pool[w->n++] = e;
}

static void grow(world *w)
{
    double dice = ns_eval_random(&w->seed);
    if (dice < 0.04) {
        uint32_t n = 2 + pick(w, 4);
        ns_ex M[25], b[5], x[5];
        for (uint32_t i = 0; i < n * n; i++)
            M[i] = any(w);
        for (int right = 0; right < 2; right++) { /* two right-hand sides, one matrix */
            for (uint32_t i = 0; i < n; i++)
                b[i] = any(w);
            ns_solve(w->g, n, M, b, x);
            keep(w, x[pick(w, n)]);
            keep(w, x[pick(w, n)]);
        }
    } else if (dice < 0.1)
        keep(w, ns_powi(w->g, any(w), 2 + (int32_t)pick(w, 12)));
    else if (dice < 0.13)
        keep(w, ns_number(w->g, 4 * ns_eval_random(&w->seed) - 2));
    else if (dice < 0.6) {
        static const ns_op plain[] = {NS_OP_ADD, NS_OP_SUB, NS_OP_MUL, NS_OP_MUL, NS_OP_DIV};
        keep(w, ns_apply(w->g, plain[pick(w, 5)], any(w), any(w)));
    } else {
        ns_op op = (ns_op)(1 + pick(w, NS_OP_LDL - 1));
        if (ns_ops[op].arity > 0)
            keep(w, ns_apply(w->g, op, any(w), any(w)));
    }
}

static world world_new(uint64_t seed, uint32_t size)
{
    world w = {.arena = ns_arena_new(), .seed = seed};
    w.g = ns_graph_new(w.arena);
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        ns_symbol_kind kind = i < INPUTS            ? NS_SYM_STATE
                              : i < INPUTS + PARAMS ? NS_SYM_PARAM
                                                    : NS_SYM_TIME;
        w.symbol[i] = ns_symbol_new(w.g, "s", kind, i);
        w.value[i] = 2 * ns_eval_random(&w.seed) - 0.5;
        w.pool[w.n++] = w.symbol[i];
    }
    while (w.n < size)
        grow(&w);
    return w;
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 120; round++) {
        world w = world_new(1000 + round, 30 + 3 * round);
        enum { OUT = 20 };
        ns_ex out[OUT];
        for (uint32_t i = 0; i < OUT; i++)
            out[i] = i < 12 ? w.pool[w.n - 1 - i] : w.pool[pick(&w, w.n)];
        machine m = machine_new(w.arena, &(ns_program_spec){.graph = w.g,
                                                            .time = w.symbol[SYMBOLS - 1],
                                                            .x = w.symbol,
                                                            .p = w.symbol + INPUTS,
                                                            .out = out,
                                                            .nx = INPUTS,
                                                            .np = PARAMS,
                                                            .nout = OUT});
        for (uint32_t lane = 0; lane < NS_LANES; lane++) {
            double value[SYMBOLS], expected[OUT];
            for (uint32_t i = 0; i < SYMBOLS; i++)
                value[i] = lane == 0 ? w.value[i] : 3 * ns_eval_random(&w.seed) - 1;
            for (uint32_t i = 0; i < INPUTS; i++)
                m.x[i] = m.x8[i * NS_LANES + lane] = value[i];
            for (uint32_t i = 0; i < PARAMS; i++)
                m.p[i] = m.p8[i * NS_LANES + lane] = value[INPUTS + i];
            m.t8[lane] = value[SYMBOLS - 1];
            ns_eval(w.g, out, OUT, w.symbol, value, SYMBOLS, expected);
            ns_program_bind1(m.program, m.work1, m.p);
            ns_program_eval1(m.program, m.work1, m.t8[lane], m.x, m.out);
            for (uint32_t i = 0; i < OUT; i++)
                if (!same_bits(m.out[i], expected[i]))
                    fail_msg("round %u, output %u: %a, directly %a", round, i, m.out[i],
                             expected[i]);
        }
        check_lanes(&m);
        machine_free(&m);
        ns_arena_free(w.arena);
    }
}

/* Every value inside a box lies in the enclosure, as computed; and so does every coefficient in
 * time of a motion x = a + b t in the box, but for the rounding errors of the jets, which make
 * their sums in another order.  Graphs deep enough magnify those, most of all 1 - tanh^2 at its
 * wings: a millionth is granted.  Boxes of all sizes: enclosures of narrow ones must be
 * narrow. */
static void test_enclosures(void **state)
{
    (void)state;
    enum { OUT = 20, ORDER = 5, W = ORDER + 1, POINTS = 20 };
    uint32_t tight = 0, known = 0, all = 0;
    for (uint32_t round = 0; round < 300; round++) {
        world w = world_new(9000 + round, 20 + round % 60);
        ns_ex out[OUT];
        for (uint32_t i = 0; i < OUT; i++)
            out[i] = w.pool[pick(&w, w.n)];
        machine m = machine_new(w.arena, &(ns_program_spec){.graph = w.g,
                                                            .time = w.symbol[SYMBOLS - 1],
                                                            .x = w.symbol,
                                                            .p = w.symbol + INPUTS,
                                                            .out = out,
                                                            .nx = INPUTS,
                                                            .np = PARAMS,
                                                            .nout = OUT,
                                                            .jets = true});
        memcpy(m.p, w.value + INPUTS, sizeof(double) * PARAMS);
        double *work = block_new(ns_interval_work(m.program, ORDER));
        double *work0 = block_new(ns_interval_work(m.program, 0));
        double *jets = block_new(ns_program_work_jet(m.program, ORDER));
        ns_program_bind1(m.program, m.work1, m.p);
        ns_program_bind_jet(m.program, jets, ORDER, m.p);
        ns_interval_bind(m.program, work, ORDER, m.p);
        ns_interval_bind(m.program, work0, 0, m.p);
        for (uint32_t box = 0; box < 6; box++) {
            const double wide = pow(10, -(double)(2 * box)), t0 = w.value[SYMBOLS - 1];
            const ns_interval time = {t0 - wide * ns_eval_random(&w.seed),
                                      t0 + wide * ns_eval_random(&w.seed)};
            ns_interval x[INPUTS * W] = {{0}}, x0[INPUTS], in[OUT * W], in0[OUT];
            double rate[INPUTS], slack[INPUTS];
            for (uint32_t i = 0; i < INPUTS; i++) {
                rate[i] = 2 * ns_eval_random(&w.seed) - 1;
                slack[i] = wide * ns_eval_random(&w.seed);
                const double a = rate[i] * (time.lo - t0), b = rate[i] * (time.hi - t0);
                x[i * W] = x0[i] = (ns_interval){w.value[i] + fmin(a, b) - slack[i] - 1e-15,
                                                 w.value[i] + fmax(a, b) + slack[i] + 1e-15};
                x[i * W + 1] = (ns_interval){rate[i], rate[i]};
            }
            ns_interval_eval(m.program, work, ORDER, time, x, in);
            ns_interval_eval(m.program, work0, 0, time, x0, in0);
            for (uint32_t i = 0; i < OUT; i++, all++) {
                assert_true(same_bits(in0[i].lo, in[i * W].lo) &&
                            same_bits(in0[i].hi, in[i * W].hi));
                tight += box == 5 &&
                         in0[i].hi - in0[i].lo < 1e-6 * (1 + ns_interval_size(in0[i]));
                known += box == 5 && ns_interval_size(in[i * W + ORDER]) < 1e9;
            }
            for (uint32_t point = 0; point < POINTS; point++) {
                const double t = time.lo + (time.hi - time.lo) * ns_eval_random(&w.seed);
                double xt[INPUTS * W] = {0}, coefficient[OUT * W];
                for (uint32_t i = 0; i < INPUTS; i++) {
                    m.x[i] = w.value[i] + rate[i] * (t - t0) +
                             slack[i] * (2 * ns_eval_random(&w.seed) - 1);
                    xt[i * W] = m.x[i];
                    xt[i * W + 1] = rate[i];
                }
                ns_program_eval1(m.program, m.work1, t, m.x, m.out);
                ns_program_eval_jet(m.program, jets, t, ORDER, xt, coefficient);
                for (uint32_t i = 0; i < OUT; i++) {
                    if (isfinite(m.out[i]) && !(m.out[i] >= in0[i].lo && m.out[i] <= in0[i].hi))
                        fail_msg("round %u, box %u, output %u: %a outside of [%a, %a]", round,
                                 box, i, m.out[i], in0[i].lo, in0[i].hi);
                    for (uint32_t k = 1; k < W; k++) {
                        const double c = coefficient[i * W + k];
                        const ns_interval e = in[i * W + k];
                        const double grant = 1e-6 * (1 + fabs(c));
                        if (isfinite(c) && !(c >= e.lo - grant && c <= e.hi + grant))
                            fail_msg("round %u, box %u, output %u, coefficient %u: %.17g "
                                     "outside of [%.17g, %.17g]",
                                     round, box, i, k, c, e.lo, e.hi);
                    }
                }
            }
        }
        free(work);
        free(work0);
        free(jets);
        machine_free(&m);
        ns_arena_free(w.arena);
    }
    assert_true(tight > all / 6 * 9 / 10);
    assert_true(known > all / 6 * 8 / 10);
}

#if NS_HAVE_QUAD
/* The same graph in quadruple precision: near the doubles, but for graphs that magnify errors;
 * and 0.1 is what it should be. */
static void test_quad(void **state)
{
    (void)state;
    uint32_t close = 0, all = 0;
    for (uint32_t round = 0; round < 60; round++) {
        world w = world_new(5000 + round, 60);
        enum { OUT = 10 };
        machine m = machine_new(w.arena, &(ns_program_spec){.graph = w.g,
                                                            .time = w.symbol[SYMBOLS - 1],
                                                            .x = w.symbol,
                                                            .p = w.symbol + INPUTS,
                                                            .out = w.pool + w.n - OUT,
                                                            .nx = INPUTS,
                                                            .np = PARAMS,
                                                            .nout = OUT});
        ns_quad xq[INPUTS], pq[PARAMS], outq[OUT];
        for (uint32_t i = 0; i < INPUTS; i++)
            xq[i] = (ns_quad)(m.x[i] = w.value[i]);
        for (uint32_t i = 0; i < PARAMS; i++)
            pq[i] = (ns_quad)(m.p[i] = w.value[INPUTS + i]);
        ns_quad *work = aligned_alloc(64, ns_program_work_quad(m.program) * 64);
        ns_program_bind_quad(m.program, work, pq);
        ns_program_eval_quad(m.program, work, (ns_quad)w.value[SYMBOLS - 1], xq, outq);
        ns_program_bind1(m.program, m.work1, m.p);
        ns_program_eval1(m.program, m.work1, w.value[SYMBOLS - 1], m.x, m.out);
        for (int i = 0; i < OUT; i++, all++)
            close += fabs(m.out[i] - (double)outq[i]) <= 1e-11 * (1 + fabs(m.out[i]));
        free(work);
        machine_free(&m);
        ns_arena_free(w.arena);
    }
    assert_true(close > all * 97 / 100);

    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
    const ns_ex out[3] = {ns_mul(g, ns_decimal(g, "0.1"), x), ns_mul(g, ns_pi(g), x),
                          ns_div(g, x, ns_integer(g, 3))};
    const ns_program *program = ns_program_build(
        arena, &(ns_program_spec){.graph = g, .x = &x, .out = out, .nx = 1, .nout = 3});
    ns_quad *work = ns_arena_alloc(arena, ns_program_work_quad(program) * sizeof(ns_quad));
    ns_quad value[3];
    ns_program_bind_quad(program, work, NULL);
    ns_program_eval_quad(program, work, 0, &(ns_quad){1}, value);
    assert_true(fabsf128(value[0] * 10 - 1) < 1e-32);
    assert_true(fabsf128(value[1] - 4 * atanf128(1)) < 1e-31);
    assert_true(fabsf128(value[2] * 3 - 1) < 1e-33);
    ns_arena_free(arena);
}
#endif

/* ---- linear systems ---------------------------------------------------------------------- */

/* M x = b with M and b the inputs. */
static machine solver(ns_arena *arena, uint32_t n)
{
    ns_graph *g = ns_graph_new(arena);
    ns_ex *input = NS_NEW_ARRAY(arena, ns_ex, n * n + n);
    ns_ex *x = NS_NEW_ARRAY(arena, ns_ex, n);
    for (uint32_t i = 0; i < n * n + n; i++)
        input[i] = ns_symbol_new(g, "m", NS_SYM_STATE, i);
    ns_solve(g, n, input, input + n * n, x);
    return machine_new(
        arena,
        &(ns_program_spec){.graph = g, .x = input, .out = x, .nx = n * n + n, .nout = n});
}

static void test_every_lane_has_its_pivots(void **state)
{
    (void)state;
    uint64_t seed = 77;
    const uint32_t sizes[] = {2, 3, 4, 7, 12, 17, 29}; /* from 12 on by panels of 8 */
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint32_t n = sizes[s];
        ns_arena *arena = ns_arena_new();
        machine m = solver(arena, n);
        for (int round = 0; round < 200; round++) {
            for (uint32_t i = 0; i < n * n + n; i++)
                for (uint32_t lane = 0; lane < NS_LANES; lane++) {
                    double value = 2 * ns_eval_random(&seed) - 1;
                    if (round % 3 == 1) /* equal sizes and zeros: which pivot is taken? */
                        value = floor(3 * value);
                    if (round % 5 == 2 && lane == 3)
                        value = 0; /* singular */
                    if (round % 5 == 3 && lane == 6 && i == 1)
                        value = NAN;
                    if (round % 7 == 3 && lane > 0) /* all lanes alike */
                        value = m.x8[i * NS_LANES];
                    m.x8[i * NS_LANES + lane] = value;
                }
            for (int lane = 0; lane < NS_LANES; lane++)
                m.t8[lane] = 0;
            check_lanes(&m);
        }
        machine_free(&m);
        ns_arena_free(arena);
    }
}

/* Small backward error: |b - M x| <= c n eps (|M| |x| + |b|). */
static void test_solutions_solve(void **state)
{
    (void)state;
    uint64_t seed = 88;
    for (uint32_t n = 2; n <= 40; n += n < 6 ? 1 : 17) {
        ns_arena *arena = ns_arena_new();
        machine m = solver(arena, n);
        ns_program_bind1(m.program, m.work1, m.p);
        for (int round = 0; round < 50; round++) {
            for (uint32_t i = 0; i < n * n + n; i++)
                m.x[i] = 2 * ns_eval_random(&seed) - 1;
            ns_program_eval1(m.program, m.work1, 0, m.x, m.out);
            for (uint32_t i = 0; i < n; i++) {
                long double rest = m.x[n * n + i], size = fabsl(rest);
                for (uint32_t j = 0; j < n; j++) {
                    const long double term = (long double)m.x[i * n + j] * m.out[j];
                    rest -= term;
                    size += fabsl(term);
                }
                assert_true(fabsl(rest) <= 4 * n * 0x1p-53L * size);
            }
        }
        machine_free(&m);
        ns_arena_free(arena);
    }
}

/* ---- parameters, counts, odd cases ------------------------------------------------------- */

static void test_bind_does_what_is_constant(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
    const ns_ex p[2] = {ns_symbol_new(g, "p", NS_SYM_PARAM, 0),
                        ns_symbol_new(g, "unused", NS_SYM_PARAM, 1)};
    /* x sin(p)^2 + 2/3: bind does sine, square and quotient */
    const ns_ex f = ns_add(g, ns_mul(g, x, ns_powi(g, ns_sin(g, p[0]), 2)),
                           ns_div(g, ns_integer(g, 2), ns_integer(g, 3)));
    const ns_ex out[4] = {f, p[0], x, ns_sin(g, p[0])};
    machine m = machine_new(
        arena, &(ns_program_spec){
                   .graph = g, .x = &x, .p = p, .out = out, .nx = 1, .np = 2, .nout = 4});
    uint32_t bound;
    assert_int_equal(ns_program_operations(m.program, &bound), 2);
    assert_int_equal(bound, 3);
    assert_int_equal(ns_program_nx(m.program), 1);
    assert_int_equal(ns_program_nout(m.program), 4);
    for (int round = 0; round < 3; round++) {
        m.p[0] = 0.3 + round;
        m.p[1] = NAN;
        ns_program_bind1(m.program, m.work1, m.p);
        m.p[0] = NAN; /* bind has taken what it needs */
        for (int k = 0; k < 3; k++) {
            m.x[0] = 1.5 - k;
            ns_program_eval1(m.program, m.work1, NAN, m.x, m.out);
            const double s = sin(0.3 + round), ss = s * s;
            assert_true(m.out[0] == m.x[0] * ss + 2.0 / 3);
            assert_true(m.out[1] == 0.3 + round && m.out[2] == m.x[0] && m.out[3] == s);
        }
    }
    for (int lane = 0; lane < NS_LANES; lane++) {
        m.x8[lane] = lane;
        m.p8[lane] = 0.1 * lane;
        m.p8[NS_LANES + lane] = 0;
        m.t8[lane] = 0;
    }
    check_lanes(&m);
    machine_free(&m);
    ns_arena_free(arena);
}

static void test_operations_of_a_solve(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    machine m = solver(arena, 3);
    /* elimination: 8 multiply-adds and 3 quotients; substitution: 9 */
    assert_int_equal(ns_program_operations(m.program, NULL), 20);
    machine_free(&m);
    ns_arena_free(arena);
}

static void test_odd_outputs(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex t = ns_symbol_new(g, "t", NS_SYM_TIME, 0);
    const ns_ex x[2] = {ns_symbol_new(g, "x", NS_SYM_STATE, 0),
                        ns_symbol_new(g, "y", NS_SYM_STATE, 1)};
    const ns_ex stray = ns_symbol_new(g, "stray", NS_SYM_LOCAL, 0);
    const ns_ex sum = ns_add(g, x[0], t);
    /* a number, the time, an input, one thing twice, a symbol nobody gives */
    const ns_ex out[7] = {ns_number(g, 2.5), t, x[1], sum, sum, stray, ns_mul(g, stray, t)};
    machine m = machine_new(
        arena,
        &(ns_program_spec){.graph = g, .time = t, .x = x, .out = out, .nx = 2, .nout = 7});
    m.x[0] = 1, m.x[1] = 2;
    ns_program_bind1(m.program, m.work1, NULL);
    ns_program_eval1(m.program, m.work1, 0.25, m.x, m.out);
    const double expected[7] = {2.5, 0.25, 2, 1.25, 1.25, NAN, NAN};
    for (int i = 0; i < 7; i++)
        assert_true(same_bits(m.out[i], expected[i]));
    for (int lane = 0; lane < NS_LANES; lane++)
        m.x8[lane] = m.x8[NS_LANES + lane] = m.t8[lane] = lane;
    check_lanes(&m);
    machine_free(&m);

    /* nothing at all */
    m = machine_new(arena, &(ns_program_spec){.graph = g});
    assert_int_equal(ns_program_operations(m.program, NULL), 0);
    ns_program_bind1(m.program, m.work1, NULL);
    ns_program_eval1(m.program, m.work1, 0, NULL, NULL);
    machine_free(&m);
    assert_false(ns_program_choose_lanes(m.program, "sixteen"));
    assert_true(ns_program_choose_lanes(m.program, NULL));
    ns_arena_free(arena);
}

/* ---- size -------------------------------------------------------------------------------- */

static void test_deep_graph(void **state)
{
    (void)state;
    enum { DEPTH = 500000 };
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
    const ns_ex half = ns_symbol_new(g, "half", NS_SYM_PARAM, 0);
    ns_ex y = x; /* two nodes per round: a million deep */
    double expected = 0.75;
    for (int k = 0; k < DEPTH; k++) {
        y = ns_add(g, x, ns_mul(g, half, y));
        expected = 0.75 + 0.5 * expected;
    }
    machine m = machine_new(arena, &(ns_program_spec){.graph = g,
                                                      .x = &x,
                                                      .p = &half,
                                                      .out = &y,
                                                      .nx = 1,
                                                      .np = 1,
                                                      .nout = 1,
                                                      .jets = true});
    assert_int_equal(ns_program_operations(m.program, NULL), 2 * DEPTH);
    assert_true(ns_program_work1(m.program) < 10); /* one value is alive at a time */
    m.x[0] = 0.75, m.p[0] = 0.5;
    ns_program_bind1(m.program, m.work1, m.p);
    ns_program_eval1(m.program, m.work1, 0, m.x, m.out);
    assert_true(m.out[0] == expected);

    /* and x' = y as a series: y = 2 x here, so coefficient k + 1 is 2/(k + 1) times the last */
    double *work = block_new(ns_program_work_jet(m.program, 3));
    double jet[4] = {1};
    ns_program_bind_jet(m.program, work, 3, m.p);
    ns_program_solve_jet(m.program, work, 0, 3, jet);
    assert_true(fabs(jet[1] - 2) < 1e-14 && fabs(jet[2] - 2) < 1e-14);
    assert_true(fabs(jet[3] - 4.0 / 3) < 1e-14);
    free(work);
    machine_free(&m);
    ns_arena_free(arena);
}

/* Depth-first order keeps few values alive: a balanced tree of sums of products of depth d
 * needs about d cells, not 2^d. */
static void test_few_cells(void **state)
{
    (void)state;
    enum { LEAVES = 4096 };
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    const ns_ex x = ns_symbol_new(g, "x", NS_SYM_STATE, 0);
    static ns_ex level[LEAVES];
    static double value[LEAVES];
    for (uint32_t i = 0; i < LEAVES; i++) {
        level[i] = ns_powi(g, ns_sin(g, ns_add(g, x, ns_number(g, 0.001 * i))), 3);
        const double s = sin(0.5 + 0.001 * i);
        value[i] = s * (s * s);
    }
    for (uint32_t n = LEAVES; n > 1; n /= 2)
        for (uint32_t i = 0; i < n / 2; i++) {
            level[i] = n % 3 ? ns_add(g, level[2 * i], level[2 * i + 1])
                             : ns_mul(g, level[2 * i], level[2 * i + 1]);
            value[i] = n % 3 ? value[2 * i] + value[2 * i + 1]
                             : value[2 * i] * value[2 * i + 1];
        }
    machine m = machine_new(
        arena, &(ns_program_spec){.graph = g, .x = &x, .out = level, .nx = 1, .nout = 1});
    m.x[0] = 0.5;
    ns_program_bind1(m.program, m.work1, NULL);
    ns_program_eval1(m.program, m.work1, 0, m.x, m.out);
    assert_true(fabs(m.out[0] - value[0]) <= 1e-12 * fabs(value[0]));
    assert_true(ns_program_work1(m.program) < LEAVES + 40); /* the numbers, and a few */
    machine_free(&m);
    ns_arena_free(arena);
}

static void test_building_is_fast(void **state)
{
    (void)state;
    enum { SIZE = 20000, INPUT = 40 };
    ns_arena *arena = ns_arena_new();
    ns_graph *g = ns_graph_new(arena);
    static ns_ex pool[SIZE];
    uint64_t seed = 3;
    for (uint32_t i = 0; i < SIZE; i++) {
        const ns_ex a = i ? pool[(uint32_t)(i * ns_eval_random(&seed))] : 0;
        const ns_ex b = i ? pool[(uint32_t)(i * ns_eval_random(&seed))] : 0;
        pool[i] = i < INPUT    ? ns_symbol_new(g, "x", NS_SYM_STATE, i)
                  : i % 3 == 0 ? ns_mul(g, a, b)
                  : i % 3 == 1 ? ns_sub(g, a, ns_sin(g, b))
                               : ns_add(g, a, b);
    }
    const clock_t start = clock();
    (void)ns_program_build(arena, &(ns_program_spec){.graph = g,
                                                     .x = pool,
                                                     .out = pool + SIZE - INPUT,
                                                     .nx = INPUT,
                                                     .nout = INPUT,
                                                     .jets = true});
    /* milliseconds in release builds; this must hold with sanitizers, too */
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 0.5);
    ns_arena_free(arena);
}

/* Memory may run out anywhere while a program is built. */
static void test_out_of_memory(void **state)
{
    (void)state;
    volatile uint64_t n = 0;
    for (volatile bool built = false; !built;) {
        ns_arena *volatile arena = ns_arena_new();
        if (!NS_ARENA_GUARD(arena)) {
            ns_graph *g = ns_graph_new(arena);
            const ns_ex x[2] = {ns_symbol_new(g, "x", NS_SYM_STATE, 0),
                                ns_symbol_new(g, "y", NS_SYM_STATE, 1)};
            const ns_ex M[4] = {ns_exp(g, x[0]), x[1], ns_powi(g, x[0], 3), ns_sin(g, x[1])};
            ns_ex out[2];
            ns_solve(g, 2, M, x, out);
            ns_arena_fail_after(arena, ++n);
            (void)ns_program_build(
                arena, &(ns_program_spec){
                           .graph = g, .x = x, .out = out, .nx = 2, .nout = 2, .jets = true});
            built = true;
        }
        ns_arena_free(arena);
    }
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_enclosures),
#if NS_HAVE_QUAD
        cmocka_unit_test(test_quad),
#endif
        cmocka_unit_test(test_every_lane_has_its_pivots),
        cmocka_unit_test(test_solutions_solve),
        cmocka_unit_test(test_bind_does_what_is_constant),
        cmocka_unit_test(test_operations_of_a_solve),
        cmocka_unit_test(test_odd_outputs),
        cmocka_unit_test(test_deep_graph),
        cmocka_unit_test(test_few_cells),
        cmocka_unit_test(test_building_is_fast),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
