/* Formulation `constrained`: bodies, particles of no mass and dependent constraints, against
 * reference motions, other formulations, and eq (42) of Udwadia and Mogharabin 2021 by a
 * pseudo-inverse of its own. */
#include "mech/test_constrained_motion.h"

#include <lapacke.h>

static void test_uniform(void **state)
{
    (void)state;
    motion m = begin(GROUND UNIFORM ROLLS ENERGY START);
    go(&m, 1); /* tests/reference/a1_sphere_uniform.json */
    below(distance(&m, "S",
                   (double[]){0.7476316471915387, -0.07787382476037037, 0.5569024777868071}),
          1e-12, "centre at 1 s");
    go(&m, 10);
    below(distance(&m, "S",
                   (double[]){-0.6026991211695228, -1.731377215098056, 0.5536987422747511}),
          1e-10, "centre at 10 s");
    below(distance(&m, "P",
                   (double[]){-0.6619445702249951, -1.731377215098056, 0.5442131339012494}),
          1e-10, "contact at 10 s");
    keeps(&m, 1e-13, 1e-12);
    end(&m);
}

static void test_two_metals(void **state)
{
    (void)state;
    static const double contact[] = {-0.6615086398946731, 2.4041401762517474,
                                     0.5414935063222928};
    motion one = begin(GROUND TWO_METALS ROLLS ENERGY START);
    go(&one, 10); /* tests/reference/a2_sphere_nonuniform.json */
    below(distance(&one, "P", contact), 1e-10, "contact at 10 s");
    keeps(&one, 1e-13, 1e-12);
    motion two = begin(GROUND METALS
                       "body S { mass m; inertia diag(J, J - m*rho^2, J - m*rho^2)\n"
                       "         middle = [-rho, 0, 0] }\n"
                       "particle C { mass 0 }\n"
                       "constraint centre: C - S.middle = 0\n"
                       "constraint touch: P + r*n - C = 0\n"
                       "constraint noslip: C' + r*cross(n, S.omega.space) = 0\n" ENERGY START);
    go(&two, 10);
    below(distance(&two, "P", contact), 1e-10, "contact at 10 s, two particles");
    below(distance(&two, "C", (double[]){get(&one, "S.x"), get(&one, "S.y"), get(&one, "S.z")}),
          1e-10, "centre, one particle and two");
    keeps(&two, 1e-13, 1e-12);
    end(&one);
    end(&two);
}

static void test_kappa(void **state)
{
    (void)state;
    motion given = begin(GROUND TWO_METALS ROLLS START);
    go(&given, 2);
    static const char *const kappa2[] = {"1e-3", "1e-1", "1", "10", "1e3"};
    for (size_t i = 0; i < sizeof kappa2 / sizeof *kappa2; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%ssolve augmented(kappa2 = %s)\n",
                 GROUND TWO_METALS ROLLS START, kappa2[i]);
        motion m = begin(text);
        go(&m, 2);
        below(difference(&m, &given), 1e-9, kappa2[i]);
        end(&m);
    }
    end(&given);
}

static void test_redundant(void **state)
{
    (void)state;
    motion plain = begin(GROUND TWO_METALS ROLLS START);
    motion more = begin(GROUND TWO_METALS ROLLS
                        "constraint again: 3*G(P) = 0\n"
                        "constraint apart: dot(n, S.position - P) = r\n"
                        "constraint along: dot(n, S.position') = 0\n" START);
    go(&plain, 2);
    go(&more, 2);
    below(difference(&more, &plain), 1e-11, "three dependent constraints more");
    end(&plain);
    end(&more);
}

/* ---- eq (42) ----------------------------------------------------------------------------- */

/* x = B^+ y for B of m x n, with m >= n or not; the singular values are cut at 1e-11. */
static void pinv(const double *B, int m, int n, double *P)
{
    int k = m < n ? m : n;
    double *a = malloc((size_t)(m * n) * sizeof *a), *s = malloc((size_t)k * sizeof *s);
    double *u = malloc((size_t)(m * k) * sizeof *u), *vt = malloc((size_t)(k * n) * sizeof *vt);
    double *work = malloc((size_t)k * sizeof *work);
    assert_true(a && s && u && vt && work);
    memcpy(a, B, (size_t)(m * n) * sizeof *a);
    assert_int_equal(
        LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'S', 'S', m, n, a, n, s, u, k, vt, n, work), 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int l = 0; l < k && s[l] > 1e-11 * s[0]; l++)
                sum += vt[l * n + i] * u[j * k + l] / s[l];
            P[i * m + j] = sum;
        }
    free(a);
    free(s);
    free(u);
    free(vt);
    free(work);
}

/* a = [ (I - A^+ A) M ; A ]^+ [ Q ; b ], the part of Q in the range of A^T being free */
static double against_42(const motion *m, double t)
{
    enum { MOST = 64 };
    static double M[MOST * MOST], A[MOST * MOST], B[2 * MOST * MOST], Ap[MOST * MOST];
    static double Bp[2 * MOST * MOST], y[2 * MOST], Q[MOST], a[MOST];
    const ns_system *s = m->model->system;
    const ns_constrained *c = s->own;
    const ns_dalembert *eq = &c->eq;
    const double *p = m->model->p;
    int n = (int)eq->n, k = (int)eq->m;
    assert_true(n < MOST && k < MOST);
    ns_system_eval(s, ns_dalembert_dense(eq, &eq->masses), eq->n * eq->n, t, p, m->x, M);
    ns_system_eval(s, ns_dalembert_dense(eq, &eq->rows), eq->m * eq->n, t, p, m->x, A);
    ns_system_eval(s, eq->Q, eq->n, t, p, m->x, Q);
    ns_system_eval(s, eq->b, eq->m, t, p, m->x, y + n);
    ns_system_eval(s, c->acceleration, eq->n, t, p, m->x, a);
    pinv(A, k, n, Ap);
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            B[i * n + j] = 0;
        for (int l = 0; l < n; l++) {
            double N = i == l;
            for (int h = 0; h < k; h++)
                N -= Ap[i * k + h] * A[h * n + l];
            y[i] += N * Q[l];
            for (int j = 0; j < n; j++)
                B[i * n + j] += N * M[l * n + j];
        }
    }
    memcpy(B + n * n, A, (size_t)(k * n) * sizeof *B);
    pinv(B, n + k, n, Bp);
    double worst = 0, size = 1;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n + k; j++)
            sum += Bp[i * (n + k) + j] * y[j];
        worst = fmax(worst, fabs(sum - a[i]));
        size = fmax(size, fabs(sum));
    }
    return worst / size;
}

static void test_pseudo_inverse(void **state)
{
    (void)state;
    static const char *const texts[] = {GROUND UNIFORM ROLLS START,
                                        GROUND TWO_METALS ROLLS ENERGY START};
    for (int k = 0; k < 2; k++) {
        for (int i = 1; i <= 20; i++) {
            double t = 10 * fmod(0.6180339887 * i, 1);
            motion again = begin(texts[k]);
            go(&again, t);
            below(against_42(&again, t), 1e-10, "acceleration by (42)");
            end(&again);
        }
    }
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    (void)state;
    refused("particle P { mass 1 }\nparticle Free { mass 0 }\nrun { until 1 }\n",
            "Free.x, Free.y, Free.z", "Free.x, Free.y, Free.z");
    refused("particle P { mass 1 }\n"
            "constraint short: rod(P, [0, 0, 0], 1)\nconstraint long: rod(P, [0, 0, 0], 2)\n"
            "start { P ~ [1, 0, 0] }\nrun { until 1 }\n",
            "short", "long");
}

/* ---- rods and labels --------------------------------------------------------------------- */

static void test_pendulum(void **state)
{
    (void)state;
    motion a = begin("particle P { mass 2 }\nconstraint r: rod(P, [0, 0, 0], 1)\n"
                     "start { P = [0.6, 0, -0.8]; P' = [0, 0, 0] }\nrun { until 5 }\n");
    motion b = begin("coordinate q\nlagrangian q'^2 + 2*9.81*cos(q)\n"
                     "start { q = atan2(0.6, 0.8); q' = 0 }\nrun { until 5 }\n");
    go(&a, 5);
    go(&b, 5);
    below(fabs(get(&a, "P.x") - sin(get(&b, "q"))), 1e-11, "pendulum, x");
    below(fabs(get(&a, "P.z") + cos(get(&b, "q"))), 1e-11, "pendulum, z");
    keeps(&a, 1e-13, 1e-12);
    end(&a);
    end(&b);
}

static void test_double_pendulum(void **state)
{
    (void)state;
    motion a = begin("particle P { mass 1 }\nparticle Q { mass 2 }\n"
                     "constraint r: rod(P, [0, 0, 0], 1)\nconstraint s: rod(Q, P, 0.5)\n"
                     "start { P = [0.6, 0, -0.8]; Q = [1, 0, -1.1]; P' = [0, 0, 0]\n"
                     "Q' = [0, 0, 0] }\nrun { until 5 }\n");
    motion b = begin("coordinate u, v\nlet P = [sin(u), -cos(u)],\n"
                     "Q = P + 0.5*[sin(v), -cos(v)]\n"
                     "lagrangian dot(P', P')/2 + dot(Q', Q') - 9.81*P.y - 2*9.81*Q.y\n"
                     "start { u = atan2(0.6, 0.8); v = atan2(0.4, 0.3); u' = 0; v' = 0 }\n"
                     "run { until 5 }\n");
    go(&a, 5);
    go(&b, 5);
    double u = get(&b, "u"), v = get(&b, "v");
    below(fabs(get(&a, "P.x") - sin(u)), 1e-11, "first, x");
    below(fabs(get(&a, "Q.x") - sin(u) - 0.5 * sin(v)), 1e-11, "second, x");
    below(fabs(get(&a, "Q.z") + cos(u) + 0.5 * cos(v)), 1e-11, "second, z");
    keeps(&a, 1e-13, 1e-12);
    end(&a);
    end(&b);
}

static void test_label(void **state)
{
    (void)state;
    motion m = begin("body S { mass 1; inertia diag(1, 2, 2.5); tip = [0.3, -0.2, 0.5] }\n"
                     "label L { at S.tip }\n"
                     "start { S.position = [0, 0, 1]; S.position' = [1, 2, 3]\n"
                     "S.quat = [1, 0, 0, 0]; S.omega = [1, -2, 0.7] }\n"
                     "let r = S.tip - S.position, w = S.omega.space\n"
                     "observe off = norm(L - S.tip),\n"
                     "  speed = norm(L' - S.position' - cross(w, r)),\n"
                     "  accel = norm(L'' - S.position'' - cross(w', r)"
                     " - cross(w, cross(w, r)))\n"
                     "run { until 3 }\n");
    double values[128];
    assert_true(m.model->system->observables.n < 128);
    for (int t = 0; t <= 3; t++) {
        go(&m, t);
        ns_run_observe(m.run, t, m.x, values);
        below(values[ns_model_observable(m.model, "off")], 1e-12, "place of the label");
        below(values[ns_model_observable(m.model, "speed")], 1e-11, "velocity of the label");
        below(values[ns_model_observable(m.model, "accel")], 1e-11, "acceleration");
    }
    keeps(&m, 1e-13, 1e-12);
    end(&m);
}

/* Four revolute joints in a plane: 23 rows of rank 20 on 21 coordinates. */
static void test_four_bar(void **state)
{
    (void)state;
    motion m = begin("body K { mass 1; inertia diag(0.01, 0.1, 0.1)\n"
                     "         a = [-0.5, 0, 0]; b = [0.5, 0, 0] }\n"
                     "body C { mass 2; inertia diag(0.01, 1, 1)\n"
                     "         a = [-1.25, 0, 0]; b = [1.25, 0, 0] }\n"
                     "body R { mass 1.5; inertia diag(0.01, 0.5, 0.5)\n"
                     "         a = [-1, 0, 0]; b = [1, 0, 0] }\n"
                     "constraint j1: revolute(K.a, [0, 0, 0], K.e2, [0, 1, 0])\n"
                     "constraint j2: revolute(K.b, C.a, K.e2, C.e2)\n"
                     "constraint j3: revolute(C.b, R.b, C.e2, R.e2)\n"
                     "constraint j4: revolute(R.a, [3, 0, 0], R.e2, [0, 1, 0])\n"
                     "start { K.quat = [sqrt(2)/2, 0, -sqrt(2)/2, 0]; K.omega = [0, 3, 0]\n"
                     "K.position ~ [0, 0, 0.5]; C.position ~ [1.2, 0, 1.5]\n"
                     "R.position ~ [2.7, 0, 1]; C.quat ~ [0.98, 0, -0.18, 0]\n"
                     "R.quat ~ [0.65, 0, -0.75, 0] }\nrun { until 3 }\n");
    go(&m, 3);
    keeps(&m, 1e-13, 1e-12);
    below(against_42(&m, 3), 1e-9, "acceleration by (42)");
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),        cmocka_unit_test(test_two_metals),
        cmocka_unit_test(test_kappa),          cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_pseudo_inverse), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_pendulum),       cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_label),          cmocka_unit_test(test_four_bar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
