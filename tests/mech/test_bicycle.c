/* The Whipple bicycle of models/bicycle.mech, a nonlinear system of four bodies, three hinges
 * and two rolling edges, against the published benchmark (Meijaard, Papadopoulos, Ruina, Schwab
 * 2007): its canonical linear equations
 *
 *     M q'' + v C1 q' + (g K0 + v^2 K2) q = 0,     q = (lean, steer),
 *
 * eigenvalues, weave and capsize speed, and rides.
 *
 * Linearisation: rolling straight on at the speed v is x(t) = exp(t X) x0 + t v e, with X the
 * rotation of both wheels about their axles and e the shift of everything along x.  Both are
 * symmetries, so small deviations y, carried along by exp(t X), obey y' = (J - X) y with the
 * exact Jacobian J of the right-hand side at x0.  On the tangent space of the constraints, and
 * modulo the deviations without lean and steer (place, heading, wheel angles, speed), this is a
 * 4 x 4 matrix. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/diff.h"
#include "mech/common/dense.h"
#include "support/measure.h"

static const double g = 9.81;

static uint32_t index_of(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->states.n; i++)
        if (strcmp(s->states.at[i].name, name) == 0)
            return i;
    fail_msg("there is no state %s", name);
    return 0;
}

/* ---- the linear equations of the model --------------------------------------------------- */

typedef struct bicycle {
    ns_model *model;
    const ns_problem *problem;
    double *p, *x; /* parameters; upright */
    double *J, *G; /* Jacobian n x n; of the constraints m x n */
    double *work_J, *work_G;
    ns_ex gradient[2][200]; /* of lean and steer by the states */
    uint32_t n, m;
} bicycle;

static double *numbers(size_t n)
{
    double *at = calloc(n + 1, sizeof *at);
    assert_non_null(at);
    return at;
}

static bicycle prepare(void)
{
    bicycle b = {.model = motion_model_file("bicycle", "kick=0")};
    const ns_system *s = b.model->system;
    b.problem = ns_model_problem(b.model, true);
    assert_true(b.problem && b.problem->jacobian);
    b.n = s->states.n;
    b.m = b.problem->n_manifold;
    assert_true(b.n <= 200);
    b.p = numbers(b.problem->np);
    memcpy(b.p, b.model->p, b.problem->np * sizeof *b.p);
    b.x = numbers(b.n);
    b.J = numbers((size_t)b.n * b.n);
    b.G = numbers(ns_program_nout(b.problem->manifold));
    b.work_J = numbers(ns_program_work1(b.problem->jacobian));
    b.work_G = numbers(ns_program_work1(b.problem->manifold));
    ns_ex *symbols = calloc(b.n, sizeof *symbols);
    assert_non_null(symbols);
    for (uint32_t i = 0; i < b.n; i++)
        symbols[i] = s->states.at[i].symbol;
    static const char *const names[2] = {"lean", "turn"};
    for (int k = 0; k < 2; k++)
        ns_diff_gradient(s->graph,
                         s->observables.at[ns_model_observable(b.model, names[k])].value,
                         symbols, b.n, b.gradient[k]);
    free(symbols);
    return b;
}

static void release(bicycle *b)
{
    ns_model_free(b->model);
    free(b->p);
    free(b->x);
    free(b->J);
    free(b->G);
    free(b->work_J);
    free(b->work_G);
}

/* J - X: the wheel turns as q' = q (0, 0, 0, rate)/2, and so does its derivative. */
static void carry_along(bicycle *b, const char *wheel, double rate)
{
    static const int from[4] = {3, 2, 1, 0}, sign[4] = {-1, 1, -1, 1};
    for (int derivative = 0; derivative < 2; derivative++)
        for (int i = 0; i < 4; i++) {
            char to[32], of[32];
            snprintf(to, sizeof to, "%s.quat.%c%s", wheel, "wxyz"[i], derivative ? "'" : "");
            snprintf(of, sizeof of, "%s.quat.%c%s", wheel, "wxyz"[from[i]],
                     derivative ? "'" : "");
            b->J[index_of(b->model->system, to) * b->n + index_of(b->model->system, of)] -=
                sign[i] * rate / 2;
        }
}

/* z' = A z for z = (lean, steer, lean', steer') at the speed v, angles in radians. */
static void linear(bicycle *b, double v, double A[4][4])
{
    const ns_system *s = b->model->system;
    uint32_t n = b->n, half = n / 2;
    ns_diag *diag = b->model->diag;
    for (uint32_t i = 0; i < s->description->params.n; i++)
        if (strcmp(s->description->params.at[i].name, "v") == 0)
            b->p[i] = v;
    assert_true(ns_system_start(s, diag, 0, b->p, b->x));
    ns_program_bind1(b->problem->jacobian, b->work_J, b->p);
    ns_program_eval1(b->problem->jacobian, b->work_J, 0, b->x, b->J);
    ns_program_bind1(b->problem->manifold, b->work_G, b->p);
    ns_program_eval1(b->problem->manifold, b->work_G, 0, b->x, b->G);
    carry_along(b, "R", v / 0.3);
    carry_along(b, "F", v / 0.35);

    ns_arena *arena = s->arena;
    double *C = numbers((size_t)4 * n), value[200];
    for (int k = 0; k < 2; k++) {
        ns_system_eval(s, b->gradient[k], n, 0, b->p, b->x, value);
        for (uint32_t i = 0; i < half; i++) {
            C[(size_t)k * n + i] = value[i] * M_PI / 180;
            C[(size_t)(k + 2) * n + half + i] = value[i] * M_PI / 180;
        }
    }
    double *sigma = numbers(n), *V = numbers((size_t)n * n);
    uint32_t rank = 0;
    ns_dense_svd(arena, b->m, n, b->G + b->m, sigma, V);
    while (rank < n && rank < b->m && sigma[rank] > 1e-9 * sigma[0])
        rank++;
    uint32_t r = n - rank;
    assert_int_equal(r, 10); /* 7 places and 3 velocities */
    const double *N = V + (size_t)rank * n;
    /* CN and C (J - X) N, both 4 x r */
    double *CN = numbers((size_t)4 * r), *CL = numbers((size_t)4 * n),
           *CLN = numbers((size_t)4 * r);
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                CL[k * n + j] += C[k * n + i] * b->J[i * n + j];
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t l = 0; l < r; l++)
            for (uint32_t i = 0; i < n; i++) {
                CN[k * r + l] += C[k * n + i] * N[l * n + i];
                CLN[k * r + l] += CL[k * n + i] * N[l * n + i];
            }
    /* A CN = CLN: overdetermined, and solvable because deviations without lean and steer make
     * none */
    for (uint32_t k = 0; k < 4; k++) {
        double transposed[64], row[4] = {0}, off = 0;
        for (uint32_t l = 0; l < r; l++)
            for (uint32_t i = 0; i < 4; i++)
                transposed[l * 4 + i] = CN[i * r + l];
        assert_int_equal(ns_dense_least(arena, r, 4, transposed, CLN + k * r, 1e-9, row), 4);
        for (uint32_t l = 0; l < r; l++) {
            double sum = -CLN[k * r + l];
            for (uint32_t i = 0; i < 4; i++)
                sum += row[i] * CN[i * r + l];
            off = fmax(off, fabs(sum));
        }
        measure_below(off, 1e-9, "lean and steer made by other deviations", "bicycle");
        memcpy(A[k], row, sizeof row);
    }
    free(C);
    free(sigma);
    free(V);
    free(CN);
    free(CL);
    free(CLN);
}

typedef struct eigenvalue {
    double re, im;
} eigenvalue;

static void eigenvalues(double A[4][4], eigenvalue e[4])
{
    double a[16], re[4], im[4];
    memcpy(a, A, sizeof a);
    assert_int_equal(
        LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', 4, a, 4, re, im, NULL, 4, NULL, 4), 0);
    for (int i = 0; i < 4; i++)
        e[i] = (eigenvalue){re[i], im[i]};
}

/* ---- the benchmark ----------------------------------------------------------------------- */

static void test_canonical(void **state)
{
    (void)state;
    static const double M[2][2] = {{80.81722, 2.31941332208709},
                                   {2.31941332208709, 0.29784188199686}};
    static const double C1[2][2] = {{0, 33.86641391492494},
                                    {-0.85035641456978, 1.68540397397560}};
    static const double K0[2][2] = {{-80.95, -2.59951685249872},
                                    {-2.59951685249872, -0.80329488458618}};
    static const double K2[2][2] = {{0, 76.59734589573222}, {0, 2.65431523794604}};
    bicycle b = prepare();
    double worst = 0, det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    double inverse[2][2] = {{M[1][1] / det, -M[0][1] / det}, {-M[1][0] / det, M[0][0] / det}};
    for (double v = 0.5; v < 9; v += 1.7) {
        double A[4][4];
        linear(&b, v, A);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                double place = 0, rate = 0;
                for (int k = 0; k < 2; k++) {
                    place -= inverse[i][k] * (g * K0[k][j] + v * v * K2[k][j]);
                    rate -= inverse[i][k] * v * C1[k][j];
                }
                int sign = i == j ? 1 : -1; /* the benchmark steers to the right */
                worst = fmax(worst, fabs(A[2 + i][j] - sign * place) / fmax(1, fabs(place)));
                worst = fmax(worst, fabs(A[2 + i][2 + j] - sign * rate) / fmax(1, fabs(rate)));
                worst = fmax(worst, fabs(A[i][j]) + fabs(A[i][2 + j] - (i == j)));
            }
    }
    print_message("canonical equations: %.1e\n", worst);
    measure_below(worst, 1e-11, "linear equations", "bicycle"); /* as many digits are printed */
    release(&b);
}

static void test_eigenvalues(void **state)
{
    (void)state;
    static const eigenvalue known[4] = {{0.413253315211, 3.079108186032},
                                        {0.413253315211, -3.079108186032},
                                        {-1.429444273613, 0},
                                        {-12.158614265764, 0}};
    bicycle b = prepare();
    double A[4][4], worst = 0;
    eigenvalue e[4];
    linear(&b, 4, A);
    eigenvalues(A, e);
    for (int k = 0; k < 4; k++) {
        double nearest = HUGE_VAL;
        for (int i = 0; i < 4; i++)
            nearest = fmin(nearest, hypot(e[i].re - known[k].re, e[i].im - known[k].im));
        worst = fmax(worst, nearest);
    }
    print_message("eigenvalues at 4 m/s: %.1e\n", worst);
    measure_below(worst, 1e-11, "eigenvalues", "bicycle");
    release(&b);
}

/* Growth of the weave, the pair with the largest frequency. */
static double weave(bicycle *b, double v)
{
    double A[4][4];
    eigenvalue e[4];
    linear(b, v, A);
    eigenvalues(A, e);
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (fabs(e[i].im) > fabs(e[k].im))
            k = i;
    return e[k].re;
}

/* Product of all four: vanishes at the capsize speed. */
static double capsize(bicycle *b, double v)
{
    double A[4][4], a[16], det = 1;
    lapack_int pivot[4];
    linear(b, v, A);
    memcpy(a, A, sizeof a);
    assert_int_equal(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, 4, 4, a, 4, pivot), 0);
    for (int i = 0; i < 4; i++)
        det *= pivot[i] == i + 1 ? a[5 * i] : -a[5 * i];
    return det;
}

static double root(bicycle *b, double (*f)(bicycle *b, double v), double v0, double v1)
{
    double f0 = f(b, v0), f1 = f(b, v1);
    for (int k = 0; k < 20 && fabs(v1 - v0) > 1e-14 && f1 != f0; k++) {
        double v2 = v1 - f1 * (v1 - v0) / (f1 - f0);
        v0 = v1;
        f0 = f1;
        v1 = v2;
        f1 = f(b, v2);
    }
    return v1;
}

static void test_speeds(void **state)
{
    (void)state;
    bicycle b = prepare();
    double slow = root(&b, weave, 4.2, 4.4), fast = root(&b, capsize, 5.9, 6.1);
    print_message("weave speed %.12f, capsize speed %.12f m/s\n", slow, fast);
    measure_close(slow, 4.29238253634, 1e-11, "weave speed");
    measure_close(fast, 6.02426201539, 1e-11, "capsize speed");
    release(&b);
}

/* ---- rides ------------------------------------------------------------------------------- */

static void test_rides(void **state)
{
    (void)state;
    motion m = motion_file("bicycle", "kick=0");
    assert_int_equal(motion_to(&m, 2), NS_OK);
    measure_close(motion_get(&m, "R.x"), 10, 1e-13, "straight on");
    measure_below(fabs(motion_get(&m, "lean")) + fabs(motion_get(&m, "turn")), 1e-11,
                  "lean and turn", "straight on");
    measure_close(motion_get(&m, "back.force.normal"), 94 * g - 309.3035294117647, 1e-12,
                  "load behind");
    measure_close(motion_get(&m, "fore.force.normal"),
                  g * (85 * 0.3 + 4 * 0.9 + 3 * 1.02) / 1.02, 1e-12, "load in front");
    motion_close(&m);

    /* 5 m/s: at -0.322 and -0.775 +- 4.46i 1/s everything dies out; nonlinear terms stay
     * small */
    m = motion_file("bicycle", "kick=0.5");
    double most = 0;
    for (double t = 0.1; t < 2; t += 0.1) {
        assert_int_equal(motion_to(&m, t), NS_OK);
        most = fmax(most, fabs(motion_get(&m, "lean")));
    }
    assert_int_equal(motion_to(&m, 20), NS_OK);
    print_message(
        "kick: leans by %.2f degrees, after 20 s by %.1e; energy %.1e, residual %.1e\n", most,
        motion_get(&m, "lean"), measure_energy_drift(&m), motion_residual(&m));
    assert_true(most > 1);
    measure_below(fabs(motion_get(&m, "lean")), 0.01 * most, "lean after 20 s", "bicycle");
    measure_below(fabs(motion_get(&m, "turn")), 0.01 * most, "turn after 20 s", "bicycle");
    measure_below(measure_energy_drift(&m), 1e-13, "energy drift", "bicycle");
    measure_below(motion_residual(&m), 1e-12, "residual", "bicycle");
    motion_close(&m);

    /* below the weave speed a small kick grows */
    m = motion_file("bicycle", "kick=1e-3; v=3.5");
    assert_int_equal(motion_to(&m, 5), NS_OK);
    measure_below(0.05, fabs(motion_get(&m, "lean")), "lean, not grown", "3.5 m/s");
    motion_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_rides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
