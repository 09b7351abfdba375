/* Stability of steady motions of rolling bodies, from the exact Jacobian of the vector field.
 *
 * A steady motion is an equilibrium up to a symmetry: f(x0) = xi(x0), where xi is a motion of
 * the plane (turning by W about the vertical and shifting) together with a spin w of the body
 * frame about an axis of symmetry, z.  Seen from a frame that moves along, the field is f - xi
 * and x0 is an equilibrium; its linearisation is Df(x0) - D xi, restricted to the tangent space
 * of the manifold on which the states live. */
#include "support/measure.h"
#include "support/texts.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mech/common/dense.h"

static const double g = 9.81;

enum { MOST = 16 };

typedef struct linear {
    uint32_t n; /* dimension of the tangent space */
    double M[MOST * MOST];
    double re[MOST], im[MOST]; /* eigenvalues */
    double square;             /* half the trace of M^2 */
    double unsteady;           /* largest component of f - xi but for shifts */
} linear;

static const uint32_t NONE = ~0u;

static uint32_t place(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->states.n; i++)
        if (strcmp(s->states.at[i].name, name) == 0)
            return i;
    return NONE;
}

/* D[i][j] += a, D[j][i] -= a for two named states, where they exist */
static void rotate(const ns_system *s, double *D, const char *i, const char *j, double a)
{
    uint32_t n = s->states.n, p = place(s, i), q = place(s, j);
    if (p == NONE || q == NONE)
        return;
    D[p * n + q] += a;
    D[q * n + p] -= a;
}

/* The linear part of xi.  Turning by W: q' = (0, 0, 0, W) q / 2.  Spin w: q' = q (0, 0, 0, w) /
 * 2, and vectors of the body turn back, v' = -w e3 x v. */
static void symmetry(const ns_system *s, double W, double w, double *D)
{
    rotate(s, D, "quat.w", "quat.z", -(W + w) / 2);
    rotate(s, D, "quat.x", "quat.y", -(W - w) / 2);
    rotate(s, D, "contact.x", "contact.y", -W);
    rotate(s, D, "omega.x", "omega.y", w);
    rotate(s, D, "s.x", "s.y", w);
    rotate(s, D, "rim.x", "rim.y", w);
}

static linear linearise(ns_model *model, double W, double w)
{
    const ns_problem *problem = ns_model_problem(model, true);
    const ns_system *s = model->system;
    uint32_t n = s->states.n, m = problem->n_manifold;
    linear l = {.n = n - m};
    double *J = calloc((size_t)n * n, sizeof *J), *D = calloc((size_t)n * n, sizeof *D);
    double *f = calloc(n, sizeof *f),
           *G = calloc(ns_program_nout(problem->manifold), sizeof *G);
    double *V = calloc((size_t)n * n, sizeof *V), *sigma = calloc(n, sizeof *sigma);
    const ns_program *programs[3] = {problem->rhs, problem->jacobian, problem->manifold};
    double *out[3] = {f, J, G};
    for (int k = 0; k < 3; k++) {
        double *work = calloc(ns_program_work1(programs[k]), sizeof *work);
        ns_program_bind1(programs[k], work, model->p);
        ns_program_eval1(programs[k], work, 0, model->x0, out[k]);
        free(work);
    }
    symmetry(s, W, w, D);
    for (uint32_t i = 0; i < n; i++) {
        double sum = f[i];
        for (uint32_t j = 0; j < n; j++)
            sum -= D[i * n + j] * model->x0[j];
        if (strncmp(s->states.at[i].name, "contact", 7) != 0)
            l.unsteady = fmax(l.unsteady, fabs(sum));
    }
    ns_dense_svd(model->arena, m, n, G + m, sigma, V);
    assert_true(sigma[m - 1] > 1e-6 * sigma[0]); /* the constraints are independent */
    /* M = N (J - D) N^T with the rows of N the last n - m right singular vectors */
    for (uint32_t a = 0; a < l.n; a++)
        for (uint32_t b = 0; b < l.n; b++)
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                    l.M[a * l.n + b] += V[(m + a) * n + i] * (J[i * n + j] - D[i * n + j]) *
                                        V[(m + b) * n + j];
    for (uint32_t a = 0; a < l.n; a++)
        for (uint32_t b = 0; b < l.n; b++)
            l.square += l.M[a * l.n + b] * l.M[b * l.n + a] / 2;
    double copy[MOST * MOST];
    memcpy(copy, l.M, sizeof copy);
    int size = (int)l.n;
    assert_int_equal(LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', size, copy, size, l.re, l.im,
                                   NULL, size, NULL, size),
                     0);
    free(J);
    free(D);
    free(f);
    free(G);
    free(V);
    free(sigma);
    return l;
}

/* Is there an eigenvalue near re + im i? */
static void has(const linear *l, double re, double im, double tolerance, const char *what)
{
    double nearest = HUGE_VAL;
    for (uint32_t i = 0; i < l->n; i++)
        nearest = fmin(nearest, hypot(l->re[i] - re, l->im[i] - im));
    if (!(nearest <= tolerance))
        fail_msg("%s: no eigenvalue near %g%+gi (nearest at %.2e)", what, re, im, nearest);
}

static linear steady(const char *text, const char *set, double W, double w)
{
    ns_model *model = motion_model_text(text, set);
    linear l = linearise(model, W, w);
    if (!(l.unsteady < 1e-12))
        fail_msg("not steady: f - xi is %.2e", l.unsteady);
    ns_model_free(model);
    return l;
}

/* ---- wheels ------------------------------------------------------------------------------ */

#define WHEELS                                                                                 \
    "param rate = 0, turning = 0\nground plane\nbody %s { mass 0.7; uniform }\n"               \
    "start { tilt 90 deg; omega [0, turning, rate] }\n"

typedef struct wheel {
    const char *body;
    double R, r, A, C; /* radii of axis and tread; moments across and along the axis, over m */
} wheel;

static const wheel wheels[] = {
    {"disk(0.1)", 0.1, 0, 0.0025, 0.005},
    {"hoop(0.25)", 0.25, 0, 0.03125, 0.0625},
    {"torus(0.3, 0.1)", 0.3, 0.1, 0.05125, 0.0975},
    {"ellipsoid(0.2, 0.2, 0.05)", 0.2 - 0.0125, 0.0125, 0.0085, 0.016},
};

/* lambda^2 of the only eigenvalues +-lambda that do not vanish: M is traceless but for them,
 * and half the trace of M^2 does not suffer from the double zeros as the eigenvalues do. */
static double square_upright(const char *text, double rate)
{
    char set[64];
    snprintf(set, sizeof set, "rate=%.17g", rate);
    return steady(text, set, 0, rate).square;
}

/* spinning on a diameter: +-lambda and +-i W, the place of the contact seen from the turning
 * frame */
static double square_spin(const char *text, double rate)
{
    char set[64];
    snprintf(set, sizeof set, "turning=%.17g", rate);
    return steady(text, set, rate, 0).square + rate * rate;
}

/* The rate at which lambda^2 changes its sign, by bisection. */
static double critical(double (*square)(const char *, double), const char *text, double low,
                       double high)
{
    assert_true(square(text, low) > 0 && square(text, high) < 0);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(square(text, middle) > 0 ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* Straight rolling with h = R + r, k = 1 (all over m):
 *     (A + h^2) lambda^2 = g R - C (C + h^2) rate^2/A
 * stable iff rate^2 > g R A/(C (C + h^2)): g/(3 a) for a disk, g/(4 a) for a hoop. */
static void upright(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++) {
        const wheel *v = &wheels[i];
        char text[300];
        snprintf(text, sizeof text, WHEELS, v->body);
        double h = v->R + v->r;
        double expected = sqrt(g * v->R * v->A / (v->C * (v->C + h * h)));
        double found = critical(square_upright, text, 0.5 * expected, 2 * expected);
        print_message("%s rolls upright above %.12g rad/s, expected %.12g\n", v->body, found,
                      expected);
        measure_near(found, expected, 1e-10 * expected, v->body);
        for (int k = 1; k <= 5; k++) {
            double rate = expected * k / 2;
            double lambda2 = (g * v->R - v->C * (v->C + h * h) * rate * rate / v->A) /
                             (v->A + h * h);
            measure_near(square_upright(text, rate), lambda2, 1e-11 * g / v->R, v->body);
        }
    }
    measure_near(
        critical(square_upright,
                 "param rate = 0, a = 0.2\nground plane\nbody disk(a) { mass 1; uniform }\n"
                 "start { tilt 90 deg; omega [0, 0, rate] }\n",
                 1, 10),
        sqrt(g / (3 * 0.2)), 1e-10, "g/(3 a)");
}

/* Spinning on a diameter, disk and hoop: stable iff rate^2 > g a/(A + a^2), that is 4 g/(5 a)
 * and 2 g/(3 a).  Here the spin comes first: W = rate. */
static void on_a_diameter(void **state)
{
    (void)state;
    static const double share[2] = {4.0 / 5, 2.0 / 3};
    for (int i = 0; i < 2; i++) {
        const wheel *v = &wheels[i];
        char text[300];
        snprintf(text, sizeof text, WHEELS, v->body);
        double expected = sqrt(share[i] * g / v->R);
        measure_near(expected, sqrt(g * v->R / (v->A + v->R * v->R)), 1e-14 * expected,
                     "formula");
        double found = critical(square_spin, text, 0.5 * expected, 2 * expected);
        print_message("%s spins upright above %.12g rad/s, expected %.12g\n", v->body, found,
                      expected);
        measure_near(found, expected, 1e-10 * expected, v->body);
    }
}

/* ---- rattlebacks ------------------------------------------------------------------------- */

/* The numbers of Kane and Levinson (COVERAGE x-rattleback) have these digits. */
static void rattleback(void **state)
{
    (void)state;
    char text[400];
    snprintf(text, sizeof text, STONE, "");
    linear l = steady(text, NULL, -5, 0);
    has(&l, 2.1207, 109.392, 6e-4, "spin -5");
    has(&l, 2.1207, -109.392, 6e-4, "spin -5");
    linear back = steady(text, "spin=5", 5, 0);
    has(&back, -2.1207, 109.392, 6e-4, "spin 5");
    double growth = 0, other = 0;
    for (uint32_t i = 0; i < l.n; i++) {
        growth = fmax(growth, l.re[i]);
        other = fmax(other, back.re[i]);
    }
    print_message("rattleback: growth %.10g at -5, %.10g at +5 per second\n", growth, other);
    measure_near(growth, 2.1207, 5e-5, "growth at spin -5");
    /* reversing time reverses the spin: the spectrum changes its sign */
    for (uint32_t i = 0; i < l.n; i++)
        has(&back, -l.re[i], l.im[i], 1e-10, "reversed");

    /* the reduced system: five dimensions, the same oscillations */
    snprintf(text, sizeof text, STONE, "reduced;");
    linear r = steady(text, NULL, 0, 0);
    assert_int_equal(r.n, 5);
    for (uint32_t i = 0; i < r.n; i++)
        has(&l, r.re[i], r.im[i], 1e-10, "reduced");
}

/* Growth and decay in the motion itself: a small kick grows as the eigenvalue says. */
static void growth(void **state)
{
    (void)state;
    char text[400];
    snprintf(text, sizeof text, STONE, "reduced;");
    motion m = motion_text(text, NULL);
    double x[16];
    uint32_t n = m.model->system->states.n, omega = motion_state(&m, "omega.x");
    assert_true(n <= 16);
    memcpy(x, m.x, n * sizeof *x);
    x[omega] = 1e-7;
    x[omega + 1] = 1e-7;
    motion kicked = motion_begin(m.model, x);
    /* largest |omega.x| in a window of some periods, at two times */
    double most[2] = {0, 0};
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < 400; i++) {
            motion_to(&kicked, 2.5 + 3 * w + 0.001 * i);
            most[w] = fmax(most[w], fabs(motion_get(&kicked, "omega.x")));
        }
    double rate = log(most[1] / most[0]) / 3;
    print_message("rattleback: motion grows as exp(%.4f t)\n", rate);
    measure_near(rate, 2.1207, 1e-2, "growth in the motion");
    kicked.model = NULL;
    motion_close(&kicked);
    motion_close(&m);
}

/* The circle of the hoop and Euler's disk: steady, and stable (no growth but for the square
 * root of rounding errors that double zeros show). */
static void circles(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("hoop", NULL);
    double alpha = 75 * M_PI / 180;
    double w = cos(alpha) * (0.5 - g / (0.4 * sin(alpha))) / 2;
    linear l = linearise(model, 1, w - cos(alpha));
    ns_model_free(model);
    print_message("hoop: f - xi %.1e, lambda^2 %.6g\n", l.unsteady, l.square + 1);
    assert_true(l.unsteady < 1e-12);
    for (uint32_t i = 0; i < l.n; i++)
        assert_true(fabs(l.re[i]) < 1e-4);
    model = motion_model_file("euler-disk", "kick=0");
    double tilt = 10 * M_PI / 180, rate = sqrt(4 * g / (0.0375 * sin(tilt)));
    l = linearise(model, rate, -rate * cos(tilt));
    ns_model_free(model);
    print_message("Euler's disk: f - xi %.1e, rate %.6g rad/s\n", l.unsteady, rate);
    assert_true(l.unsteady < 1e-11 * rate * rate);
    for (uint32_t i = 0; i < l.n; i++)
        assert_true(fabs(l.re[i]) < 1e-4 * rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upright),    cmocka_unit_test(on_a_diameter),
        cmocka_unit_test(rattleback), cmocka_unit_test(growth),
        cmocka_unit_test(circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
