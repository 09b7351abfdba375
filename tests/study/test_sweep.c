/* Sweeps: samples, plans, rows against single runs, records whatever the blocks. */
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/sweeps/sample.h"
#include "study/sweeps/sweep.h"

/* ---- samples ----------------------------------------------------------------------------- */

/* Known answers of Philox 4x32-10 (Random123, kat_vectors). */
static void philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        ns_sample_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* In every dimension each of 2^k parts holds one of 2^k points in a row; in the plane of any
 * two of the first eight dimensions boxes hold as many as they should, up to the quality of the
 * pair. */
static void sobol(void **state)
{
    (void)state;
    enum { BITS = 10, N = 1 << BITS };
    for (uint32_t d = 0; d < NS_SOBOL_DIMENSIONS; d++)
        for (uint64_t seed = 1; seed < 4; seed++) {
            bool seen[N] = {false};
            for (uint64_t i = 0; i < N; i++) {
                const double u = ns_sample_sobol(seed, d, 3 * N + i);
                assert_true(u > 0 && u < 1);
                const unsigned k = (unsigned)(u * N);
                assert_false(seen[k]);
                seen[k] = true;
            }
        }
    /* the first two dimensions are a (0, 2)-sequence: every elementary box of area 2^-BITS
     * holds one */
    for (unsigned s = 0; s <= BITS; s++) {
        bool seen[N] = {false};
        for (uint64_t i = 0; i < N; i++) {
            const unsigned a = (unsigned)(ns_sample_sobol(5, 0, i) * (1u << s));
            const unsigned b = (unsigned)(ns_sample_sobol(5, 1, i) * (1u << (BITS - s)));
            const unsigned k = (a << (BITS - s)) + b;
            assert_false(seen[k]);
            seen[k] = true;
        }
    }
    /* any two dimensions: no 16 x 16 box of 4096 points has more than twice its share */
    for (uint32_t d = 0; d < NS_SOBOL_DIMENSIONS; d++)
        for (uint32_t e = 0; e < d; e++) {
            unsigned most = 0, count[256] = {0};
            for (uint64_t i = 0; i < 4096; i++) {
                const unsigned k = 16 * (unsigned)(16 * ns_sample_sobol(1, d, i)) +
                                   (unsigned)(16 * ns_sample_sobol(1, e, i));
                most = ++count[k] > most ? count[k] : most;
            }
            assert_true(most <= 32);
        }
}

/* The integral of a smooth product over six dimensions: the Sobol error is far below the random
 * one. */
static void sobol_integral(void **state)
{
    (void)state;
    enum { D = 6, N = 1 << 14 };
    double error[2];
    for (int kind = 0; kind < 2; kind++) {
        double sum = 0;
        for (uint64_t i = 0; i < N; i++) {
            double f = 1;
            for (uint32_t d = 0; d < D; d++) {
                const double u = kind ? ns_sample_sobol(2, d, i) : ns_sample_random(2, d, i);
                f *= 1 + 0.5 * (u - 0.5);
            }
            sum += f;
        }
        error[kind] = fabs(sum / N - 1);
    }
    print_message("  error of the mean: random %.2e, Sobol %.2e\n", error[0], error[1]);
    assert_true(error[1] < 1e-4); /* 6 0.5/N from the shift alone; random: deviation 3e-3 */
    assert_true(error[0] > 10 * error[1] && error[0] < 1.5e-2);
}

/* erfc of the quantile gives the probability back. */
static void normal_quantile(void **state)
{
    (void)state;
    for (int i = 1; i < 2000; i++) {
        const double u = i < 1000 ? i / 2000.0 : pow(10, -(i - 999) / 70.0) / 2;
        const double z = ns_sample_normal(u), back = 0.5 * erfc(-z / sqrt(2));
        assert_true(fabs(back - u) < 1e-13 * u * (1 + z * z));
        if (u > 1e-3)
            assert_true(fabs(z + ns_sample_normal(1 - u)) < 1e-12);
    }
}

static void moments(void **state)
{
    (void)state;
    enum { N = 40000 };
    ns_arena *arena = ns_arena_new();
    ns_plan plan = {.count = N, .seed = 7};
    NS_PUSH(arena, plan.axes,
            (ns_plan_axis){.name = "u", .kind = NS_PLAN_UNIFORM, .low = 2, .high = 5});
    NS_PUSH(arena, plan.axes,
            (ns_plan_axis){.name = "n", .kind = NS_PLAN_NORMAL, .low = -1, .high = 0.5});
    NS_PUSH(arena, plan.axes,
            (ns_plan_axis){.name = "l", .kind = NS_PLAN_LOGUNIFORM, .low = 0.01, .high = 100});
    assert_null(ns_plan_settle(arena, &plan));
    assert_int_equal(plan.rows, N);
    double mean[3] = {0}, square[3] = {0}, mixed = 0;
    for (uint64_t i = 0; i < N; i++) {
        double v[3];
        ns_plan_row(&plan, i, v);
        assert_true(v[0] > 2 && v[0] < 5 && v[2] > 0.01 && v[2] < 100);
        v[2] = log10(v[2]);
        for (int k = 0; k < 3; k++) {
            mean[k] += v[k] / N;
            square[k] += v[k] * v[k] / N;
        }
        mixed += (v[0] - 3.5) * (v[1] + 1) / N;
    }
    /* five standard deviations of the estimates */
    const double sigma[3] = {3 / sqrt(12), 0.5, 4 / sqrt(12)}, centre[3] = {3.5, -1, 0};
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(mean[k] - centre[k]) < 5 * sigma[k] / sqrt(N));
        const double variance = square[k] - mean[k] * mean[k];
        assert_true(fabs(variance / (sigma[k] * sigma[k]) - 1) < 5 * sqrt(2.0 / N));
    }
    assert_true(fabs(mixed) < 5 * sigma[0] * sigma[1] / sqrt(N));
    ns_arena_free(arena);
}

static void grids(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    ns_plan plan = {.count = 1};
    NS_PUSH(arena, plan.axes,
            (ns_plan_axis){.name = "a", .kind = NS_PLAN_GRID, .low = -1, .high = 1, .n = 5});
    NS_PUSH(arena, plan.axes,
            (ns_plan_axis){.name = "b", .kind = NS_PLAN_LOG, .low = 1, .high = 1000, .n = 4});
    assert_null(ns_plan_settle(arena, &plan));
    assert_int_equal(plan.rows, 20);
    for (uint64_t i = 0; i < 20; i++) {
        double v[2];
        ns_plan_row(&plan, i, v);
        assert_true(v[0] == -1 + 0.5 * (double)(i / 4)); /* exact in binary */
        assert_true(fabs(v[1] - pow(10, (double)(i % 4))) <= 1e-13 * v[1]);
    }
    plan.axes.at[1].low = -1;
    assert_non_null(ns_plan_settle(arena, &plan));
    ns_arena_free(arena);
}

/* ---- rows -------------------------------------------------------------------------------- */

typedef struct job {
    ns_arena *arena;
    ns_model *model;
    ns_sweep *sweep;
} job;

static bool reader(void *context, const char *text, ns_ex *out)
{
    const job *j = context;
    ns_value value;
    if (!ns_description_evaluate(j->model->description, "--get", text, &value))
        return false;
    *out = ns_system_in_states(j->model->system, value.at[0]);
    return true;
}

static job job_new(const char *name, const ns_plan_axis *axes, uint32_t n_axes,
                   const char *const *gets, uint32_t n_gets, double until, uint32_t lanes,
                   const char *method)
{
    job j = {.arena = ns_arena_new()};
    char path[300];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    j.model = ns_model_load(path, NULL, 0, NS_MODEL_DERIVED);
    if (j.model->status != NS_OK)
        fail_msg("%s", j.model->messages);
    ns_sweep_spec spec = {.system = j.model->system,
                          .run = ns_model_run_options(j.model),
                          .gets = gets,
                          .n_gets = n_gets,
                          .lanes = lanes,
                          .reader = reader,
                          .context = &j};
    spec.run.until = until;
    if (method)
        spec.run.method = method;
    for (uint32_t i = 0; i < n_axes; i++)
        NS_PUSH(j.arena, spec.plan.axes, axes[i]);
    spec.plan.count = 4;
    spec.plan.seed = 3;
    assert_null(ns_plan_settle(j.arena, &spec.plan));
    const char *message = "";
    j.sweep = ns_sweep_new(j.arena, &spec, &message);
    if (!j.sweep)
        fail_msg("%s", message);
    return j;
}

static void job_free(job *j)
{
    ns_model_free(j->model);
    ns_arena_free(j->arena);
}

static char *rows(job *j, uint64_t first, uint32_t count)
{
    char message[300] = "";
    char *records = ns_arena_alloc(j->arena, count * j->sweep->record);
    const ns_status status = ns_sweep_rows(j->sweep, first, count, records, message,
                                           sizeof message);
    if (status != NS_OK)
        fail_msg("%s", message);
    return records;
}

/* Each row against a run of its own, of a model loaded with these values: equal to the bit, and
 * in lanes to round-off. */
static void like_runs(const char *name, const char *parameter, double low, double high,
                      double until)
{
    const ns_plan_axis axis = {
        .name = parameter, .kind = NS_PLAN_GRID, .low = low, .high = high, .n = 3};
    job j = job_new(name, &axis, 1, NULL, 0, until, 0, NULL);
    const char *lanes = rows(&j, 0, 3);
    j.sweep->options.alone = true;
    const char *records = rows(&j, 0, 3);
    char path[300];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    for (uint32_t i = 0; i < 3; i++) {
        const double *record = (const double *)(records + i * j.sweep->record);
        char value[40];
        snprintf(value, sizeof value, "%.17g", record[0]);
        const ns_override set = {.name = parameter, .expression = value};
        ns_model *m = ns_model_load(path, &set, 1, NS_MODEL_READY);
        assert_int_equal(m->status, NS_OK);
        ns_run_options options = ns_model_run_options(m);
        options.until = until;
        ns_status status;
        const char *message;
        ns_run *run = ns_run_new(m->problem, &options, m->p, m->x0, &status, &message);
        assert_non_null(run);
        status = ns_run_to(run, until);
        const ns_sweep_end *end = (const ns_sweep_end *)(record + 1 + j.sweep->n_gets);
        assert_int_equal(status, end->status);
        double *values = ns_arena_alloc(j.arena, m->system->observables.n * sizeof(double));
        ns_run_observe(run, ns_run_time(run), ns_run_state(run), values);
        for (uint32_t k = 0; k < j.sweep->n_gets; k++) {
            const int64_t at = ns_model_observable(m, j.sweep->get[k].name);
            const double expected = at >= 0 ? values[at] : ns_run_outcome(run)->energy_drift;
            if (!(record[1 + k] == expected) && !(isnan(expected) && isnan(record[1 + k])))
                fail_msg("%s, %s = %s: %s is %.17g, the run says %.17g", name, parameter, value,
                         j.sweep->get[k].name, record[1 + k], expected);
            const double other = ((const double *)(lanes + i * j.sweep->record))[1 + k];
            if (fabs(other - expected) > 1e-12 * fmax(1, fabs(expected)))
                fail_msg("%s, %s = %s: %s is %.17g in lanes, the run says %.17g", name,
                         parameter, value, j.sweep->get[k].name, other, expected);
        }
        ns_run_free(run);
        ns_model_free(m);
    }
    job_free(&j);
}

static void single_runs(void **state)
{
    (void)state;
    like_runs("chaplygin-sleigh", "m", 1, 3, 3);
    like_runs("rattleback", "a", 0.18, 0.22, 0.3);
    like_runs("euler-disk", "alpha", 0.1, 0.3, 0.3);        /* rate depends on it */
    like_runs("sphere-one-particle", "d", 1000, 8000, 0.1); /* m, then J */
    like_runs("falling-disk", "R", 0.2, 0.4, 0.3);
    like_runs("heavy-top", "gravity", 5, 9, 0.3);
    like_runs("sleigh-frame", "v0", -1, 1, 1); /* hamel */
    like_runs("suslov", "B", 2, 2.5, 0.5);     /* lie */
    like_runs("double-pendulum-particles", "l1", 1, 2, 0.3);
    like_runs("five-rollers", "L", 2.4, 2.6, 0.3);
}

/* A start: the same as a parameter that the start uses. */
static void starts(void **state)
{
    (void)state;
    const ns_plan_axis by_start = {
        .name = "theta'", .kind = NS_PLAN_GRID, .low = 0.2, .high = 0.7, .n = 4};
    ns_plan_axis by_parameter = by_start;
    by_parameter.name = "omega0";
    static const char *const gets[] = {"theta", "x", "y", "theta'@1", "max(v)"};
    job a = job_new("chaplygin-sleigh", &by_start, 1, gets, 5, 5, 0, NULL);
    job b = job_new("chaplygin-sleigh", &by_parameter, 1, gets, 5, 5, 0, NULL);
    const char *ra = rows(&a, 0, 4), *rb = rows(&b, 0, 4);
    assert_memory_equal(ra, rb, 4 * a.sweep->record);
    /* v = V tanh(u), u = a V t/K^2 + atanh(v0/V), V^2 = v0^2 + K^2 omega0^2, K^2 = (J + m
     * a^2)/m */
    for (uint32_t i = 0; i < 4; i++) {
        const double *record = (const double *)(ra + i * a.sweep->record);
        const ns_model *m = b.model;
        double p[4] = {0};
        static const char *const names[] = {"J", "m", "a", "v0"};
        for (uint32_t k = 0; k < 4; k++)
            for (uint32_t q = 0; q < m->description->params.n; q++)
                if (strcmp(m->description->params.at[q].name, names[k]) == 0)
                    p[k] = m->p[q];
        const double K2 = (p[0] + p[1] * p[2] * p[2]) / p[1];
        const double V = sqrt(p[3] * p[3] + K2 * record[0] * record[0]);
        const double v = V * tanh(p[2] * V * 5 / K2 + atanh(p[3] / V));
        assert_true(fabs(record[5] - fmax(v, p[3])) < 1e-13);
    }
    job_free(&a);
    job_free(&b);
}

/* Extrema between step ends: a harmonic oscillator x = A cos(w t) sampled by few, large
 * steps. */
static void extrema(void **state)
{
    (void)state;
    const ns_plan_axis axis = {.name = "x", .kind = NS_PLAN_GRID, .low = 1, .high = 2, .n = 3};
    static const char *const gets[] = {"min(x)",      "max(x)",       "reversal(x)",
                                       "reversed(x)", "big=max(x^2)", "half=x@pi/3"};
    job j = job_new("harmonic-oscillator", &axis, 1, gets, 6, 7, 0, NULL);
    const char *records = rows(&j, 0, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const double *r = (const double *)(records + i * j.sweep->record);
        print_message("  x0 %g: %.17g %.17g %.17g\n", r[0], r[1], r[2], r[3]);
        assert_true(r[4] == 1);
        assert_true(r[2] >= r[0] && r[1] < 0 && r[3] > 0 && r[3] < 7);
        assert_true(fabs(r[1] + r[2]) < 1e-12 * r[2]);        /* a full swing */
        assert_true(fabs(r[5] - r[2] * r[2]) < 1e-12 * r[5]); /* of the square */
    }
    job_free(&j);
}

/* Records do not depend on lanes, nor on how rows are cut into blocks. */
typedef struct cutter {
    uint64_t next, rows;
    uint32_t size;
    char *records;
    size_t bytes;
    uint32_t got;
} cutter;

static bool cut(void *context, uint64_t *first, uint32_t *count)
{
    cutter *c = context;
    if (c->next >= c->rows)
        return false;
    *first = c->next;
    *count = c->rows - c->next < c->size ? (uint32_t)(c->rows - c->next) : c->size;
    c->next += *count;
    return true;
}

static bool take(void *context, uint64_t first, uint32_t count, const void *records)
{
    cutter *c = context;
    memcpy(c->records + first * c->bytes, records, count * c->bytes);
    c->got += count;
    return true;
}

static void check_blocks(const char *method)
{
    /* some rows have no start (a < 0) */
    const ns_plan_axis axes[] = {
        {.name = "a", .kind = NS_PLAN_UNIFORM, .low = -0.05, .high = 0.25},
        {.name = "omega.z", .kind = NS_PLAN_GRID, .low = -5, .high = 5, .n = 5}};
    static const char *const gets[] = {"omega.z", "min(force.normal)", "event(reversal)",
                                       "energy_drift", "quat.w@0.05"};
    char *reference = NULL;
    static const uint32_t lanes[] = {1, 2, 8, 0}, sizes[] = {20, 1, 3, 7};
    for (uint32_t i = 0; i < 4; i++) {
        job j = job_new("rattleback", axes, 2, gets, 5, 0.2, lanes[i], method);
        cutter c = {.rows = j.sweep->plan.rows, .size = sizes[i], .bytes = j.sweep->record};
        assert_int_equal(c.rows, 20);
        c.records = calloc(c.rows, c.bytes);
        const ns_sweep_client client = {.context = &c, .next = cut, .done = take};
        char message[300];
        assert_int_equal(ns_sweep_work(j.sweep, &client, message, 300), NS_OK);
        assert_int_equal(c.got, 20);
        uint32_t failed = 0;
        for (uint32_t k = 0; k < 20; k++) {
            const double *r = (const double *)(c.records + k * c.bytes);
            const ns_sweep_end *end = (const ns_sweep_end *)(r + 7);
            failed += end->status != NS_OK;
            assert_true((r[0] < 0) == (end->status == NS_ERR_MODEL));
            assert_true((end->status == NS_OK) == (end->reason[0] == 0));
            assert_true(end->status == NS_OK || isnan(r[2]));
        }
        assert_true(failed > 0 && failed < 20);
        if (reference)
            assert_memory_equal(reference, c.records, 20 * c.bytes);
        else
            reference = c.records;
        if (reference != c.records)
            free(c.records);
        job_free(&j);
    }
    free(reference);
}

/* Also with more motions under way than a block has rows. */
static void blocks(void **state)
{
    (void)state;
    check_blocks("gauss");
    check_blocks("dop853");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox),         cmocka_unit_test(sobol),
        cmocka_unit_test(sobol_integral), cmocka_unit_test(normal_quantile),
        cmocka_unit_test(moments),        cmocka_unit_test(grids),
        cmocka_unit_test(single_runs),    cmocka_unit_test(starts),
        cmocka_unit_test(extrema),        cmocka_unit_test(blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
