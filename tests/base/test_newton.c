/* Newton's method in its three manners, on equations with known solutions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/math/newton.h"

static void assert_near(double value, double wanted, double tolerance)
{
    assert_true(fabs(value - wanted) <= tolerance);
}

static double largest(uint32_t n, const double *r)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fabs(r[i]) > most ? fabs(r[i]) : most;
    return most;
}

static ns_newton_end run(ns_newton n)
{
    double *work = calloc(ns_newton_work(&n), sizeof *work);
    assert_non_null(work);
    const ns_newton_end end = ns_newton_solve(&n, work);
    free(work);
    return end;
}

/* x^2 + y^2 = 25, x y = 12 */
static double circle(void *context, double *r, double *D)
{
    const double *z = context;
    r[0] = z[0] * z[0] + z[1] * z[1] - 25;
    r[1] = z[0] * z[1] - 12;
    D[0] = 2 * z[0];
    D[1] = 2 * z[1];
    D[2] = z[1];
    D[3] = z[0];
    return largest(2, r);
}

static void whole_steps(void **state)
{
    (void)state;
    double z[2] = {5, 2};
    const ns_newton_end end = run((ns_newton){.rows = 2,
                                              .columns = 2,
                                              .z = z,
                                              .size = 2,
                                              .context = z,
                                              .look = circle,
                                              .rcond = 1e-14,
                                              .rounds = 20,
                                              .near = 1e-13});
    assert_true(end.settled);
    assert_true(end.rounds < 9); /* quadratic: 1e-2, 1e-4, 1e-8, 1e-16 */
    assert_near(z[0], 4, 1e-14);
    assert_near(z[1], 3, 1e-14);
}

/* atan(x) = 0: from |x| > 1.39 whole steps lead ever farther away */
static double arc(void *context, double *r, double *D)
{
    const double *z = context;
    r[0] = atan(*z);
    D[0] = 1 / (1 + *z * *z);
    return fabs(r[0]);
}

static void halved_steps(void **state)
{
    (void)state;
    double z = 3;
    ns_newton n = {.rows = 1, .columns = 1, .z = &z, .size = 1, .context = &z, .look = arc};
    n.rcond = 1e-14;
    n.rounds = 30;
    n.exact = 1e-16;
    assert_false(run(n).settled);
    z = 3;
    n.wild = 1.05;
    assert_true(run(n).rounds < 5); /* given up */
    z = 3;
    n.halvings = 20;
    assert_true(run(n).settled);
    assert_near(z, 0, 1e-16);
}

/* One equation in the plane: x^2 + y^2 = 1. */
static double ring(void *context, double *r, double *D)
{
    const double *z = context;
    r[0] = z[0] * z[0] + z[1] * z[1] - 1;
    D[0] = 2 * z[0];
    D[1] = 2 * z[1];
    return fabs(r[0]);
}

/* The shortest steps keep the direction from the middle; what is fixed does not move; a column
 * of another place in z, in other units. */
static void fewer_equations(void **state)
{
    (void)state;
    double z[2] = {3, 4};
    ns_newton n = {.rows = 1, .columns = 2, .z = z, .size = 2, .context = z, .look = ring};
    n.rcond = 1e-14;
    n.rounds = 30;
    n.near = 1e-13;
    assert_true(run(n).settled);
    assert_near(z[0], 0.6, 1e-14);
    assert_near(z[1], 0.8, 1e-14);
    z[0] = z[1] = 0.6;
    const bool fixed[2] = {true, false};
    n.fixed = fixed;
    n.halvings = 30;
    run(n);
    assert_true(z[0] == 0.6);
    assert_true(fabs(z[1]) > 0.6);
    const uint32_t second = 1;
    const double scale = 2;
    z[0] = z[1] = 1;
    n = (ns_newton){.rows = 1, .columns = 1, .z = z, .size = 2, .context = &z[1]};
    n.look = arc; /* of z[1], by half of it: D is half of what it should be */
    n.column = &second;
    n.scale = &scale;
    n.rcond = 1e-14;
    n.rounds = 1;
    run(n);
    assert_true(z[0] == 1);
    assert_near(z[1], 1 - 2 * atan(1) * 2, 1e-15);
}

/* (x - 1)^2 = 0 twice and a direction that does not matter: singular at the solution. */
static double flat(void *context, double *r, double *D)
{
    const double *z = context;
    r[0] = r[1] = (z[0] - 1) * (z[0] - 1);
    D[0] = D[2] = 2 * (z[0] - 1);
    D[1] = D[3] = 0;
    return sqrt(2) * r[0];
}

static void damped_steps(void **state)
{
    (void)state;
    double z[2] = {5, 2};
    ns_newton n = {.rows = 2, .columns = 2, .z = z, .size = 2, .context = z, .look = circle};
    n.damped = true;
    n.rounds = 200;
    const ns_newton_end end = run(n);
    assert_true(end.off < 1e-13 && end.step < 1e-6);
    assert_near(z[0], 4, 1e-13);
    z[0] = 3;
    z[1] = 7;
    n.look = flat;
    assert_true(run(n).off < 1e-12);
    assert_near(z[0], 1, 1e-6);
    assert_true(z[1] == 7);
}

/* sqrt(x) = 3, undefined below 0: a step there is not taken, and a start there is the end. */
static double root(void *context, double *r, double *D)
{
    const double *z = context;
    r[0] = sqrt(*z) - 3;
    D[0] = 0.5 / sqrt(*z);
    return fabs(r[0]);
}

static void undefined(void **state)
{
    (void)state;
    double z = 100; /* the first whole step goes to -40 */
    ns_newton n = {.rows = 1, .columns = 1, .z = &z, .size = 1, .context = &z, .look = root};
    n.rcond = 1e-14;
    n.rounds = 30;
    n.exact = 1e-15;
    n.halvings = 20;
    assert_true(run(n).settled);
    assert_near(z, 9, 1e-13);
    z = -1;
    const ns_newton_end end = run(n);
    assert_false(end.settled);
    assert_int_equal(end.rounds, 0);
    assert_true(z == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_steps),     cmocka_unit_test(halved_steps),
        cmocka_unit_test(fewer_equations), cmocka_unit_test(damped_steps),
        cmocka_unit_test(undefined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
