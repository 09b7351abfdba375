/* Two models of one system, and models that differ by a known amount. */
#include "support/motion.h"

#include <math.h>
#include <string.h>

#include "study/orbits/compare.h"

static void pair_by_name(ns_model *a, ns_model *b, const char *name, ns_compare_pair *pair)
{
    const int64_t i = ns_model_observable(a, name), k = ns_model_observable(b, name);
    assert_true(i >= 0 && k >= 0);
    *pair = (ns_compare_pair){.a = (uint32_t)i, .b = (uint32_t)k};
}

static ns_compare_outcome run(ns_model *a, ns_model *b, const double *times, size_t n,
                              ns_compare_pair *pairs, uint32_t n_pairs)
{
    ns_arena *arena = ns_arena_new();
    ns_compare_side sides[2];
    ns_model *model[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        sides[k] = (ns_compare_side){.problem = ns_model_problem(model[k], false),
                                     .p = model[k]->p,
                                     .x0 = model[k]->x0,
                                     .options = ns_model_run_options(model[k])};
        sides[k].options.until = times[n - 1];
    }
    const ns_compare_outcome out = ns_compare(arena, sides, times, n, pairs, n_pairs, NULL,
                                              NULL);
    ns_arena_free(arena);
    return out;
}

/* x'' = -x from x = 1, and with a phase d: they differ by cos t - cos(t + d), at most 2
 * sin(d/2). */
static void known_difference(void **state)
{
    (void)state;
    enum { N = 601 };
    const double d = 1e-3;
    ns_model *a = motion_model_text(
        "coordinate x\nlagrangian x'^2/2 - x^2/2\nstart { x = 1; x' = 0 }\n", NULL);
    ns_model *b = motion_model_text(
        "coordinate x\nlagrangian x'^2/2 - x^2/2\nstart { x = cos(1e-3); x' = -sin(1e-3) }\n",
        NULL);
    double times[N], difference[N];
    for (int i = 0; i < N; i++)
        times[i] = 0.01 * i;
    ns_compare_pair pair;
    pair_by_name(a, b, "x", &pair);
    pair.difference = difference;
    const ns_compare_outcome out = run(a, b, times, N, &pair, 1);
    assert_int_equal(out.status, NS_OK);
    assert_int_equal(out.rows, N);
    double largest = 0, at = 0;
    for (int i = 0; i < N; i++) {
        const double expected = cos(times[i]) - cos(times[i] + d);
        assert_true(fabs(difference[i] - expected) < 1e-14);
        if (fabs(expected) > largest) {
            largest = fabs(expected);
            at = times[i];
        }
    }
    assert_true(fabs(pair.largest - largest) < 1e-14);
    assert_true(fabs(pair.t - at) < 1e-12);
    ns_model_free(a);
    ns_model_free(b);
}

/* Lagrange-d'Alembert and Hamel, and a quaternion of the opposite sign. */
static void same_system(void **state)
{
    (void)state;
    double times[21];
    for (int i = 0; i < 21; i++)
        times[i] = 0.5 * i;
    ns_model *a = motion_model_file("chaplygin-sleigh", NULL);
    ns_model *b = motion_model_file("sleigh-frame", NULL);
    static const char *const names[] = {"x", "y", "theta", "energy", "lambda.blade"};
    ns_compare_pair pairs[5];
    for (int i = 0; i < 5; i++)
        pair_by_name(a, b, names[i], &pairs[i]);
    assert_int_equal(run(a, b, times, 21, pairs, 5).status, NS_OK);
    for (int i = 0; i < 5; i++)
        assert_true(pairs[i].largest < 1e-13 && pairs[i].size > 0.1);
    ns_model_free(a);
    ns_model_free(b);

    a = motion_model_file("rattleback", NULL);
    b = motion_model_file("rattleback", NULL);
    static const char *const quat[] = {"quat.w", "quat.x", "quat.y", "quat.z"};
    for (int i = 0; i < 4; i++) {
        pair_by_name(a, b, quat[i], &pairs[i]);
        pairs[i].group = 1;
        b->x0[motion_state(&(motion){.model = b}, quat[i])] *= -1;
    }
    assert_int_equal(run(a, b, times, 5, pairs, 4).status, NS_OK);
    for (int i = 0; i < 4; i++)
        assert_true(pairs[i].largest < 1e-9);
    ns_model_free(a);
    ns_model_free(b);
}

/* A motion that ends early says so, and what was reached counts. */
static void early_end(void **state)
{
    (void)state;
    static const char text[] = "state x' = 1\nstart { x = 0 }\nevent over: x = 0.75 stop\n";
    double times[5] = {0, 0.25, 0.5, 1, 2};
    ns_model *a = motion_model_text("state x' = 1\nstart { x = 0 }\n", NULL);
    ns_model *b = motion_model_text(text, NULL);
    ns_compare_pair pair;
    pair_by_name(a, b, "x", &pair);
    const ns_compare_outcome out = run(a, b, times, 5, &pair, 1);
    assert_int_equal(out.status, NS_STOP_ASKED);
    assert_int_equal(out.side, 1);
    assert_int_equal(out.rows, 3);
    ns_model_free(a);
    ns_model_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_difference),
        cmocka_unit_test(same_system),
        cmocka_unit_test(early_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
