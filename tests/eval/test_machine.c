/* Machine code: the bytes of instructions; the same bits as the interpreter for all programs of
 * every model, for systems with pivots of all kinds and for random expressions that need more
 * values than there are registers; systems that let no new code run. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eval/machine/x86.h"
#include "eval/native/native.h"
#include "expr/eval.h"
#include "support/bits.h"
#include "support/gallery.h"
#include "support/motion.h"

static const char *const lane_names[] = {"avx512", "avx2"};
enum { LANE_NAMES = 2 };

/* ---- bytes ------------------------------------------------------------------------------- */

static ns_x86_operand reg(uint8_t number)
{
    return (ns_x86_operand){.reg = number};
}

static ns_x86_operand at(uint8_t base, int32_t disp)
{
    return (ns_x86_operand){.memory = true, .reg = base, .disp = disp};
}

/* What the GNU assembler makes of the same. */
static void instructions_have_their_bytes(void **state)
{
    (void)state;
    enum { ONE = NS_X86_ONE, Y = NS_X86_256, Z = NS_X86_512, NO = NS_X86_NONE };
    ns_x86_operand spread = at(NS_X86_R14, 16);
    spread.spread = true;
    const struct {
        ns_x86_instruction i;
        const char *bytes;
    } cases[] = {
        {{NS_X86_ADD, Z, 1, 2, 0, reg(3), 0}, "62f1ed4858cb"},
        {{NS_X86_ADD, Z, 31, 18, 0, at(NS_X86_RSI, 640), 0}, "6261ed40587e0a"},
        {{NS_X86_SUB, Z, 8, 9, 0, at(NS_X86_RBX, 8200), 0}, "6271b5485c8308200000"},
        {{NS_X86_MUL, Z, 24, 9, 0, spread, 0}, "6241b558594602"},
        {{NS_X86_MUL, ONE, 3, 9, 0, at(NS_X86_RBP, 1000), 0}, "c5b3599de8030000"},
        {{NS_X86_MUL, ONE, 19, 9, 0, at(NS_X86_RBP, 1000), 0}, "62e1b708595d7d"},
        {{NS_X86_DIV, Y, 9, 3, 0, reg(11), 0}, "c441655ecb"},
        {{NS_X86_SQRT, Z, 7, NO, 0, at(NS_X86_R13, 64), 0}, "62d1fd48517d01"},
        {{NS_X86_SQRT, ONE, 2, 12, 0, reg(12), 0}, "c4c11b51d4"},
        {{NS_X86_STORE, Z, 17, NO, 0, at(NS_X86_R8, -128), 0}, "62c1fd482948fe"},
        {{NS_X86_LOAD, Y, 14, NO, 0, at(NS_X86_RCX, 96), 0}, "c57d287160"},
        {{NS_X86_STORE, ONE, 30, NO, 0, at(NS_X86_R15, 8), 0}, "6241ff08117701"},
        {{NS_X86_LOAD, ONE, 6, NO, 0, at(NS_X86_RDX, 24), 0}, "c5fb107218"},
        {{NS_X86_MOVE, Z, 4, NO, 1, reg(20), 0}, "62b1fd4928e4"},
        {{NS_X86_STORE, Z, 20, NO, 1, at(NS_X86_RSI, 64), 0}, "62e1fd49296601"},
        {{NS_X86_COMPARE, Z, 1, 5, 0, reg(22), 0x1e}, "62b1d548c2ce1e"},
        {{NS_X86_COMPARE, Y, 15, 5, 0, reg(2), 0x1e}, "c555c2fa1e"},
        {{NS_X86_BLEND, Y, 1, 3, 0, reg(12), 7}, "c4c3654bcc70"},
        {{NS_X86_EQUAL, Z, 1, 21, 0, reg(9), 0}, "62d2d54029c9"},
        {{NS_X86_EQUAL, Y, 10, 1, 0, reg(9), 0}, "c4427529d1"},
        {{NS_X86_SIGNS, Y, 0, NO, 0, reg(3), 0}, "c5fd50c3"},
        {{NS_X86_ORDER, ONE, 2, NO, 0, reg(17), 0}, "62b1fd082ed1"},
        {{NS_X86_ORDER, ONE, 2, NO, 0, reg(7), 0}, "c5f92ed7"},
        {{NS_X86_ADD_PRODUCT, Z, 1, 2, 0, at(NS_X86_RSI, 64), 0}, "62f2ed48b84e01"},
        {{NS_X86_SUB_PRODUCT, ONE, 1, 2, 0, reg(3), 0}, "c4e2e9bdcb"},
        {{NS_X86_PRODUCT_SUB, Y, 1, 2, 0, reg(13), 0}, "c4c2edbacd"},
        {{NS_X86_XOR, ONE, 1, 2, 0, reg(3), 0}, "c5e957cb"},
        {{NS_X86_AND, Z, 1, 2, 0, reg(3), 0}, "62f1ed4854cb"},
        {{NS_X86_SPREAD, Y, 3, NO, 0, at(NS_X86_RBX, 8), 0}, "c4e27d195b08"},
        {{NS_X86_SPREAD, Z, 3, NO, 1, at(NS_X86_RBX, 8), 0}, "62f2fd49195b01"},
    };
    ns_arena *arena = ns_arena_new();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ns_x86 x = {.arena = arena};
        char bytes[64] = "";
        ns_x86_vector(&x, &cases[k].i);
        for (uint32_t i = 0; i < x.code.n && i < 31; i++)
            snprintf(bytes + 2 * i, 3, "%02x", x.code.at[i]);
        assert_string_equal(bytes, cases[k].bytes);
    }
    ns_x86 x = {.arena = arena};
    char bytes[100] = "";
    ns_x86_call(&x, NS_X86_R15, 304);
    ns_x86_address(&x, NS_X86_RSI, NS_X86_RBP, 0x12345);
    ns_x86_put(&x, NS_X86_R14, 20, 7);
    ns_x86_compare(&x, NS_X86_RBX, 20, 3);
    ns_x86_push(&x, NS_X86_R13);
    ns_x86_pop(&x, NS_X86_RBX);
    ns_x86_copy(&x, NS_X86_RBP, NS_X86_RCX);
    ns_x86_immediate(&x, NS_X86_RDI, 11);
    for (uint32_t i = 0; i < x.code.n && i < 49; i++)
        snprintf(bytes + 2 * i, 3, "%02x", x.code.at[i]);
    assert_string_equal(bytes, "41ff9730010000488db545230100"
                               "41c7461407000000837b140341555b4889cdbf0b000000");
    ns_arena_free(arena);
}

/* ---- programs ---------------------------------------------------------------------------- */

enum { PARTS = 3 }; /* eight lanes, eight fused, one after the other */

/* A program with all its memory. */
typedef struct memory {
    ns_program *program;
    uint32_t nx, np, nout;
    double *work1, *work8, *x8, *p8, *t8, *out8, *x, *p, *out;
} memory;

static memory memory_new(ns_program *program, uint32_t np)
{
    memory m = {.program = program,
                .nx = ns_program_nx(program),
                .np = np,
                .nout = ns_program_nout(program)};
    m.work1 = block_new(ns_program_work1(program));
    m.work8 = block_new(ns_program_work8(program));
    m.x = block_new(m.nx);
    m.p = block_new(np);
    m.out = block_new(m.nout);
    m.x8 = block_new((size_t)m.nx * 8);
    m.p8 = block_new((size_t)np * 8);
    m.t8 = block_new(8);
    m.out8 = block_new((size_t)m.nout * 8);
    return m;
}

static void memory_free(memory *m)
{
    double *const blocks[] = {m->work1, m->work8, m->x8, m->p8, m->t8,
                              m->out8,  m->x,     m->p,  m->out};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

/* Inputs and parameters near given ones, different in all lanes. */
static void fill(memory *m, const double *x, uint32_t n, const double *p, double spread,
                 uint64_t *seed)
{
    for (uint32_t i = 0; i < 8 * m->nx; i++)
        m->x8[i] = (x && i / 8 < n ? x[i / 8] : 0) + spread * (ns_eval_random(seed) - 0.5);
    for (uint32_t i = 0; i < 8 * m->np; i++)
        m->p8[i] = p ? p[i / 8] * (1 + 0.01 * (i % 8)) : ns_eval_random(seed);
    for (int i = 0; i < 8; i++)
        m->t8[i] = ns_eval_random(seed);
}

/* All outputs: of eight lanes, with sums rounded once, and of the same lanes one after the
 * other. */
static double *outputs(memory *m)
{
    const size_t part = 8 * (size_t)m->nout;
    double *all = block_new(PARTS * part), *one = all + 2 * part;
    ns_program_bind8(m->program, m->work8, m->p8);
    ns_program_eval8_fused(m->program, m->work8, m->t8, m->x8, m->out8);
    memcpy(all + part, m->out8, part * sizeof *all);
    ns_program_eval8(m->program, m->work8, m->t8, m->x8, m->out8);
    memcpy(all, m->out8, part * sizeof *all);
    for (uint32_t lane = 0; lane < 8; lane++) {
        for (uint32_t i = 0; i < m->nx; i++)
            m->x[i] = m->x8[8 * i + lane];
        for (uint32_t i = 0; i < m->np; i++)
            m->p[i] = m->p8[8 * i + lane];
        ns_program_bind1(m->program, m->work1, m->p);
        ns_program_eval1(m->program, m->work1, m->t8[lane], m->x, m->out);
        for (uint32_t i = 0; i < m->nout; i++)
            one[8 * i + lane] = m->out[i];
    }
    return all;
}

static void compare(const char *name, const memory *m, const double *expected,
                    const double *found)
{
    static const char *const parts[PARTS] = {"", " fused", " alone"};
    for (size_t k = 0; k < PARTS * 8 * (size_t)m->nout; k++)
        if (!same_bits(expected[k], found[k]))
            fail_msg("%s, %s: output %zu, lane %zu%s: %a, interpreted %a", name,
                     ns_program_lanes_name(m->program), k / 8 % m->nout, k % 8,
                     parts[k / 8 / m->nout], found[k], expected[k]);
}

static ns_native *native_of(const ns_program *program)
{
    char message[300];
    ns_native_facts facts;
    const ns_native_request request = {
        .program = program, .one = true, .eight = true, .eight_fused = true};
    ns_native *native = ns_native_new(&request, 1, message, sizeof message, &facts);
    if (!native)
        fail_msg("%s", message);
    assert_true(facts.code_length > 0 && facts.text_length == 0); /* no compiler was needed */
    return native;
}

/* Are there instructions at all that we write? */
static bool have_lanes(ns_program *program)
{
    return ns_program_choose_lanes(program, "avx2");
}

typedef struct tally {
    uint32_t programs, finite;
    const ns_model *model;
} tally;

static void check_program(tally *all, ns_program *program)
{
    const ns_model *model = all->model;
    if (!program || !ns_program_operations(program, NULL))
        return;
    memory m = memory_new(program, model->problem->np);
    for (int k = 0; k < LANE_NAMES; k++) {
        if (!ns_program_choose_lanes(program, lane_names[k]))
            continue;
        uint64_t seed = 11;
        bool finite = true;
        for (int round = 0; round < 3; round++) {
            fill(&m, model->x0, model->problem->n, model->p, 0.2 * round, &seed);
            double *expected = outputs(&m);
            ns_native *native = native_of(program);
            double *found = outputs(&m);
            compare(model->name, &m, expected, found);
            ns_native_free(native);
            for (size_t i = 0; i < PARTS * 8 * (size_t)m.nout; i++)
                finite = finite && isfinite(found[i]);
            free(expected);
            free(found);
        }
        all->programs++;
        all->finite += finite;
    }
    memory_free(&m);
}

/* Every program of every model. */
static void gallery_has_the_same_bits(void **state)
{
    (void)state;
    tally all = {0};
    char *names[GALLERY_MOST];
    const size_t n = gallery_list(names);
    for (size_t k = 0; k < n; k++) {
        ns_model *model = motion_model_file(names[k], NULL);
        const ns_problem *p = model->problem;
        const ns_program *const programs[] = {p->rhs,       p->events,      p->manifold,
                                              p->residuals, p->correction,  p->shift,
                                              p->monitor,   p->observables, p->jacobian};
        if (!have_lanes((ns_program *)(uintptr_t)p->rhs)) {
            ns_model_free(model);
            gallery_free(names, n);
            skip();
        }
        all.model = model;
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            check_program(&all, (ns_program *)(uintptr_t)programs[i]);
        ns_model_free(model);
    }
    gallery_free(names, n);
    assert_true(all.programs > 500);
    assert_true(all.finite > all.programs / 2); /* the comparison is not one of nans */
}

/* ---- systems ----------------------------------------------------------------------------- */

/* M x = b and M y = c with M, b, c inputs: sizes on both sides of what is written out. */
static void systems_have_the_same_bits(void **state)
{
    (void)state;
    uint64_t seed = 77;
    for (uint32_t n = 1; n <= NS_LANES + 6; n++) {
        ns_arena *arena = ns_arena_new();
        ns_graph *g = ns_graph_new(arena);
        const uint32_t nx = n * n + 2 * n;
        ns_ex *input = NS_NEW_ARRAY(arena, ns_ex, nx), *x = NS_NEW_ARRAY(arena, ns_ex, 2 * n);
        for (uint32_t i = 0; i < nx; i++)
            input[i] = ns_symbol_new(g, "m", NS_SYM_STATE, i);
        ns_solve(g, n, input, input + n * n, x);
        ns_solve(g, n, input, input + n * n + n, x + n);
        ns_program *program = ns_program_build(
            arena,
            &(ns_program_spec){.graph = g, .x = input, .out = x, .nx = nx, .nout = 2 * n});
        memory m = memory_new(program, 0);
        for (int k = 0; k < LANE_NAMES; k++) {
            if (!ns_program_choose_lanes(program, lane_names[k]))
                continue;
            for (int round = 0; round < 60; round++) {
                fill(&m, NULL, 0, NULL, 2, &seed);
                for (uint32_t i = 0; i < 8 * nx; i++) {
                    if (round % 3 == 1) /* equal sizes and zeros: which pivot is taken? */
                        m.x8[i] = floor(3 * m.x8[i]);
                    if (round % 5 == 2 && i % 8 == 3)
                        m.x8[i] = 0;    /* singular */
                    if (round % 7 == 3) /* all lanes alike */
                        m.x8[i] = m.x8[i - i % 8];
                    if (round % 4 == 3 && i / 8 < n * n && i / 8 % (n + 1) == 0)
                        m.x8[i] += 4; /* no row is exchanged */
                }
                if (round % 5 == 3)
                    m.x8[8 + 6] = NAN;
                double *expected = outputs(&m);
                ns_native *native = native_of(program);
                double *found = outputs(&m);
                compare("system", &m, expected, found);
                ns_native_free(native);
                free(expected);
                free(found);
            }
        }
        memory_free(&m);
        ns_arena_free(arena);
    }
}

/* ---- random expressions ------------------------------------------------------------------ */

/* N operations on any two of the values so far: many of them stay alive for long.  Some outputs
 * are inputs, numbers, or the same.  Long programs have operations on the first 200 values, and
 * sums over all of them. */
static ns_program *random_program(ns_arena *arena, uint64_t *seed, uint32_t N)
{
    enum { X = 7, P = 3, OUT = 40, SHORT = 400, OLD = 200 };
    const bool is_long = N > SHORT;
    ns_graph *g = ns_graph_new(arena);
    ns_ex *value = NS_NEW_ARRAY(arena, ns_ex, N), *out = NS_NEW_ARRAY(arena, ns_ex, OUT);
    uint32_t n = 0;
    for (uint32_t i = 0; i < X; i++)
        value[n++] = ns_symbol_new(g, "x", NS_SYM_STATE, i);
    for (uint32_t i = 0; i < P; i++)
        value[n++] = ns_symbol_new(g, "p", NS_SYM_PARAM, i);
    value[n++] = ns_symbol_new(g, "t", NS_SYM_TIME, 0);
    value[n++] = ns_number(g, 0.3);
    value[n++] = ns_number(g, -1.7);
    while (n < N) {
        const uint32_t choice = is_long && n > OLD ? OLD : n;
        const ns_ex a = value[(uint32_t)(ns_eval_random(seed) * choice)];
        const ns_ex b = value[(uint32_t)(ns_eval_random(seed) * choice)];
        ns_ex y;
        switch ((int)(ns_eval_random(seed) * 14)) {
        case 0:
        case 1:
        case 2:
            y = ns_add(g, a, b);
            break;
        case 3:
        case 4:
            y = ns_sub(g, a, b);
            break;
        case 5:
            y = ns_neg(g, a);
            break;
        case 6:
            y = ns_sqrt(g, ns_add(g, ns_one(g), ns_powi(g, a, 2)));
            break;
        case 7:
            y = ns_div(g, a, ns_add(g, ns_one(g), ns_powi(g, b, 2)));
            break;
        case 8:
            y = ns_eval_random(seed) < 0.2 ? ns_sin(g, a) : ns_powi(g, a, 2);
            break;
        default:
            y = ns_mul(g, a, b);
        }
        value[n++] = y;
    }
    for (uint32_t i = 0; i < OUT; i++)
        out[i] = value[i < 5 ? 2 * i : (uint32_t)(ns_eval_random(seed) * N)];
    for (uint32_t i = 0; is_long && i < N; i++)
        if (i % OUT >= 5)
            out[i % OUT] = ns_add(g, out[i % OUT], value[i]);
    return ns_program_build(arena, &(ns_program_spec){.graph = g,
                                                      .time = value[X + P],
                                                      .x = value,
                                                      .p = value + X,
                                                      .out = out,
                                                      .nx = X,
                                                      .np = P,
                                                      .nout = OUT});
}

static void random_expressions(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 60; round++) {
        ns_arena *arena = ns_arena_new();
        ns_program *program = random_program(arena, &seed, round % 10 ? 400 : 5000);
        memory m = memory_new(program, 3);
        for (int k = 0; k < LANE_NAMES; k++) {
            if (!ns_program_choose_lanes(program, lane_names[k]))
                continue;
            fill(&m, NULL, 0, NULL, 3, &seed);
            double *expected = outputs(&m);
            ns_native *native = native_of(program);
            double *found = outputs(&m);
            compare("random", &m, expected, found);
            /* outputs in the place of the inputs */
            double *both = block_new(8 * (size_t)m.nout);
            memcpy(both, m.x8, 8 * m.nx * sizeof *both);
            ns_program_eval8(program, m.work8, m.t8, both, both);
            assert_memory_equal(both, m.out8, 8 * m.nout * sizeof *both);
            ns_native_free(native);
            free(both);
            free(expected);
            free(found);
        }
        memory_free(&m);
        ns_arena_free(arena);
    }
}

/* ---- what may be refused ----------------------------------------------------------------- */

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

/* Where memory once written must not be run the compiler is used, and without one the reason
 * said. */
static void code_may_be_refused(void **state)
{
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char cache[] = "/tmp/noslip-refused-XXXXXX", message[300], command[80];
        ns_model *model = motion_model_file("knife-edge", NULL);
        if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0)
            _exit(1);
        if (prctl(PR_SET_MDWE, 1UL, 0UL, 0UL, 0UL) != 0)
            _exit(77);
        ns_native_facts facts;
        bool native = ns_problem_native(model->problem, 8, message, sizeof message, &facts);
        const bool compiled = native && facts.text_length > 0 && facts.code_length == 0;
        ns_problem_interpret(model->problem);
        setenv("NOSLIP_CC", "", 1);
        native = ns_problem_native(model->problem, 8, message, sizeof message, &facts);
        snprintf(command, sizeof command, "rm -r %s", cache);
        const int removed = system(command);
        _exit(compiled && !native && strstr(message, "switched off") && removed == 0 ? 0 : 2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_have_their_bytes),
        cmocka_unit_test(gallery_has_the_same_bits),
        cmocka_unit_test(systems_have_the_same_bits),
        cmocka_unit_test(random_expressions),
        cmocka_unit_test(code_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
