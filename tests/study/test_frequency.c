/* Frequency analysis against signals that are known. */
#include "support/measure.h"

#include <math.h>

#include "study/orbits/frequency.h"

enum { N = 4096 };

/* The rate of  sum_j a_j exp(i (nu_j t + b_j)) + v t. */
static void make(uint32_t lines, const double (*line)[3], double v, double dt, double *re,
                 double *im)
{
    for (uint32_t k = 0; k < N; k++) {
        const double t = k * dt;
        re[k] = v;
        im[k] = 0;
        for (uint32_t j = 0; j < lines; j++) {
            const double x = line[j][0] * t + line[j][2];
            re[k] -= line[j][0] * line[j][1] * sin(x);
            im[k] += line[j][0] * line[j][1] * cos(x);
        }
    }
}

/* Lines at omega2 + k omega1, as a path in the plane has them, and a shape with overtones. */
static void torus(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    static double re[2][N], im[2][N];
    const double w1 = sqrt(7), w2 = -0.2 * sqrt(3), dt = 0.03;
    /* the shape's first overtone is the strongest line */
    const double shape[][3] = {{2 * w1, 0.7, 0.3}, {w1, 0.2, 1.1}, {3 * w1, 1e-4, 2}};
    const double path[][3] = {
        {w2, 1.5, 0.4}, {w2 + w1, 0.3, 1}, {w2 - w1, 1e-3, 0}, {w2 + 2 * w1, 1e-6, 3}};
    make(3, shape, 0, dt, re[0], im[0]);
    make(4, path, 0.125, dt, re[1], im[1]);
    ns_frequency_signal s[2] = {{.re = re[0]}, {.re = re[1], .im = im[1]}};
    const ns_frequencies f = ns_frequency_analyse(arena, s, 2, N, dt, 8);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.unknown, 0);
    measure_near(f.omega[0], w1, 1e-13, "omega1");
    measure_near(f.omega[1], w2, 1e-13, "omega2");
    measure_near(s[1].drift[0], 0.125, 1e-13, "drift");
    measure_near(s[1].drift[1], 0, 1e-13, "no drift across");
    assert_int_equal(s[0].lines, 3);
    assert_int_equal(s[1].lines, 4);
    measure_near(s[0].line[0].nu, 2 * w1, 1e-13, "overtone");
    /* the rate of a real signal: its values are the real parts */
    measure_near(hypot(s[0].line[0].re, s[0].line[0].im), 0.7, 1e-12, "its amplitude");
    measure_near(s[1].line[0].re, 1.5 * cos(0.4), 1e-12, "amplitude, real part");
    measure_near(s[1].line[0].im, 1.5 * sin(0.4), 1e-12, "amplitude, imaginary part");
    measure_near(hypot(s[1].line[3].re, s[1].line[3].im), 1e-6, 1e-12, "weak line");
    measure_below(s[1].rest, 1e-12, "rest", "path");
    ns_arena_free(arena);
}

/* Two lines three bins apart: the others taken away, each is exact. */
static void near(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    static double re[N], im[N];
    const double dt = 0.05, bin = 2 * M_PI / (N * dt), a = 1.7, b = a + 9.3 * bin;
    const double lines[][3] = {{a, 1, 0}, {b, 0.5, 1}};
    make(2, lines, 0, dt, re, im);
    ns_frequency_signal s = {.re = re, .im = im};
    const ns_frequencies f = ns_frequency_analyse(arena, &s, 1, N, dt, 2);
    assert_int_equal(f.n, 2);
    measure_near(s.line[0].nu, a, 1e-11, "first");
    measure_near(s.line[1].nu, b, 1e-11, "second");
    ns_arena_free(arena);
}

/* At rest there is nothing. */
static void still(void **state)
{
    (void)state;
    ns_arena *arena = ns_arena_new();
    static double re[N];
    for (uint32_t k = 0; k < N; k++)
        re[k] = 0.5;
    ns_frequency_signal s = {.re = re};
    const ns_frequencies f = ns_frequency_analyse(arena, &s, 1, N, 0.1, 4);
    assert_int_equal(f.n, 0);
    measure_near(s.drift[0], 0.5, 1e-14, "drift"); /* a sum of 4096 numbers */
    ns_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torus),
        cmocka_unit_test(near),
        cmocka_unit_test(still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
