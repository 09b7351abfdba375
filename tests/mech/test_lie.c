/* Formulation `lie`: the same motion as `lagrange` with the entries of the group matrix as
 * coordinates, Casimir functions, spatial momenta (5.7), the Suslov problem, tables of
 * brackets, and what is refused. */
#include "mech/lie/lie.h"
#include "support/measure.h"
#include "support/motion.h"
#include "support/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Rotation matrices as coordinates; w is the angular velocity in the body. */
#define ROTATION                                                                               \
    "coordinate a, b, c, d, e, f, h, i, j\n"                                                   \
    "let R = [[a, b, c], [d, e, f], [h, i, j]], W = transpose(R)*R',\n"                        \
    "  w = [(W[3, 2] - W[2, 3])/2, (W[1, 3] - W[3, 1])/2, (W[2, 1] - W[1, 2])/2],\n"           \
    "  S = transpose(R)*R\n"                                                                   \
    "constraint unit: [S[1, 1] - 1, S[1, 2], S[1, 3], S[2, 2] - 1, S[2, 3], S[3, 3] - 1] = "   \
    "0\n"                                                                                      \
    "observe g.11 = a, g.12 = b, g.13 = c, g.21 = d, g.22 = e, g.23 = f, g.31 = h, g.32 = "    \
    "i,\n"                                                                                     \
    "  g.33 = j, v1 = w.x, v2 = w.y, v3 = w.z\n"
#define IDENTITY "a = 1; b = 0; c = 0; d = 0; e = 1; f = 0; h = 0; i = 0; j = 1\n"
/* R' = hat(w) at the identity */
#define TURNING(x, y, z)                                                                       \
    "a' = 0; b' = -(" #z "); c' = " #y "; d' = " #z "; e' = 0; f' = -(" #x "); h' = -(" #y     \
    "); i' = " #x "; j' = 0\n"
#define NINE "v1, v2, v3, g.11, g.12, g.13, g.21, g.22, g.23, g.31, g.32, g.33, energy"

typedef struct pair {
    const char *name, *lie, *lagrange, *values;
} pair;

static const pair pairs[] = {
    {"Euler top", "algebra so(3) { inertia diag(1, 2, 3) }\nstart { v = [0.4, 1, -0.3] }\n",
     ROTATION "lagrangian (w.x^2 + 2*w.y^2 + 3*w.z^2)/2\n"
              "start { " IDENTITY TURNING(0.4, 1, -0.3) " }\n",
     NINE},
    {"heavy top",
     "algebra so(3) { inertia [[2, 0.2, 0.1], [0.2, 2.5, -0.1], [0.1, -0.1, 3]]\n"
     "  potential 4*(0.1*g.31 + 0.2*g.32 + g.33) }\nstart { v = [0.4, 1, 3] }\n",
     ROTATION "lagrangian (2*w.x^2 + 2.5*w.y^2 + 3*w.z^2)/2 + 0.2*w.x*w.y + 0.1*w.x*w.z -\n"
              "  0.1*w.y*w.z - 4*(0.1*h + 0.2*i + j)\n"
              "start { " IDENTITY TURNING(0.4, 1, 3) " }\n",
     NINE},
    {"gyrostat",
     "algebra so(3)\nlagrangian (v1^2 + 2*v2^2 + 3*v3^2)/2 + 0.7*v1 - 0.4*v3\n"
     "start { v = [0.4, 1, -0.3] }\n",
     ROTATION "lagrangian (w.x^2 + 2*w.y^2 + 3*w.z^2)/2 + 0.7*w.x - 0.4*w.z\n"
              "start { " IDENTITY TURNING(0.4, 1, -0.3) " }\n",
     NINE},
    {"Suslov",
     "algebra so(3) { inertia diag(1, 2, 3) }\nconstraint a: v1 + 2*v2 - v3 = 0\n"
     "start { v1 = 0.3; v2 = 0.5 }\n",
     ROTATION "lagrangian (w.x^2 + 2*w.y^2 + 3*w.z^2)/2\nconstraint a: w.x + 2*w.y - w.z = 0\n"
              "start { " IDENTITY TURNING(0.3, 0.5, 1.3) " }\n",
     NINE ", lambda.a"},
    {"Veselova",
     "algebra so(3) { inertia diag(1, 2, 3) }\n"
     "constraint a: dot([0, 0.6, 0.8], g*v) = 0\nstart { v = [1, 0.8, -0.6] }\n",
     ROTATION "lagrangian (w.x^2 + 2*w.y^2 + 3*w.z^2)/2\n"
              "constraint a: dot([0, 0.6, 0.8], R*w) = 0\n"
              "start { " IDENTITY TURNING(1, 0.8, -0.6) " }\n",
     NINE ", lambda.a"},
    {"so(4)",
     "algebra so(4) { inertia [1, 1.5, 2, 2.5, 3, 3.5] }\n"
     "constraint c: v1 + v6 - v2 = 0\n"
     "start { v = [1, 0.6, -0.3, 0.5, 0.7, -0.4] }\n",
     "coordinate a, b, c, d, e, f, h, i, j, k, l, m, n, o, p, q\n"
     "let R = [[a, b, c, d], [e, f, h, i], [j, k, l, m], [n, o, p, q]], W = transpose(R)*R',\n"
     "  S = transpose(R)*R,\n"
     "  w = [W[2, 1] - W[1, 2], W[3, 1] - W[1, 3], W[4, 1] - W[1, 4], W[3, 2] - W[2, 3],\n"
     "    W[4, 2] - W[2, 4], W[4, 3] - W[3, 4]]/2\n"
     "lagrangian (w.1^2 + 1.5*w.2^2 + 2*w.3^2 + 2.5*w.4^2 + 3*w.5^2 + 3.5*w.6^2)/2\n"
     "constraint unit: [S[1, 1] - 1, S[1, 2], S[1, 3], S[1, 4], S[2, 2] - 1, S[2, 3],\n"
     "  S[2, 4], S[3, 3] - 1, S[3, 4], S[4, 4] - 1] = 0\n"
     "constraint c: w.1 + w.6 - w.2 = 0\n"
     "start { a = 1; b = 0; c = 0; d = 0; e = 0; f = 1; h = 0; i = 0; j = 0; k = 0; l = 1; m = "
     "0\n  n = 0; o = 0; p = 0; q = 1\n"
     "  a' = 0; e' = 1; j' = 0.6; n' = -0.3; b' = -1; f' = 0; k' = 0.5; o' = 0.7\n"
     "  c' = -0.6; h' = -0.5; l' = 0; p' = -0.4; d' = 0.3; i' = -0.7; m' = 0.4; q' = 0 }\n"
     "observe v1 = w.1, v2 = w.2, v3 = w.3, v4 = w.4, v5 = w.5, v6 = w.6, g.11 = a, g.12 = b,\n"
     "  g.13 = c, g.14 = d, g.44 = q, g.23 = h\n",
     "v1, v2, v3, v4, v5, v6, g.11, g.12, g.13, g.14, g.44, g.23, lambda.c, energy"},
    {"se(2): sleigh",
     "algebra se(2) { inertia [[0.82, 0, 0.8], [0, 2, 0], [0.8, 0, 2]] }\n"
     "constraint blade: v3 = 0\nstart { v1 = 0.5; v2 = -0.8 }\n",
     "param m = 2, J = 0.5, a = 0.4\ncoordinate theta, x, y\n"
     "let c = [x + a*cos(theta), y + a*sin(theta)]\n"
     "lagrangian m/2*dot(c', c') + J/2*theta'^2\n"
     "constraint blade: y'*cos(theta) - x'*sin(theta) = 0\n"
     "start { theta = 0; x = 0; y = 0; theta' = 0.5; x' = -0.8; y' = 0 }\n"
     "observe v1 = theta', v2 = x'*cos(theta) + y'*sin(theta), g.11 = cos(theta),\n"
     "  g.21 = sin(theta), g.13 = x, g.23 = y\n",
     "v1, v2, g.11, g.21, g.13, g.23, lambda.blade, energy"},
    {"se(3): body with an off-centre point that moves along its axis only",
     "algebra se(3) { inertia [[1, 0, 0, 0, 0, 0.3], [0, 2, 0, 0, 0, 0], [0, 0, 3, -0.3, 0, "
     "0],\n"
     "  [0, 0, -0.3, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0.3, 0, 0, 0, 0, 1]] }\n"
     "constraint n: v5 = 0\nconstraint o: v6 = 0\nstart { v = [0.4, 1, -0.3, 0.7, 0, 0] }\n",
     ROTATION "coordinate x, y, z\nlet V = transpose(R)*[x', y', z']\n"
              "lagrangian (w.x^2 + 2*w.y^2 + 3*w.z^2 + dot(V, V))/2 + 0.3*(w.x*V.z - w.z*V.x)\n"
              "constraint n: V.y = 0\nconstraint o: V.z = 0\n"
              "start { x = 0; y = 0; z = 0; x' = 0.7; y' = 0; z' = 0\n" IDENTITY TURNING(
                  0.4, 1, -0.3) " }\nobserve v4 = V.x, g.14 = x, g.24 = y, g.34 = z\n",
     NINE ", v4, g.14, g.24, g.34, lambda.n, lambda.o"},
    {"sl(2)",
     "algebra sl(2) { inertia [[2, 0.3, 0], [0.3, 1, 0.2], [0, 0.2, 1.5]] }\n"
     "start { v = [0.1, 0.3, -0.4] }\n",
     "coordinate a, b, c, d\nlet W = [[d, -b], [-c, a]]*[[a', b'], [c', d']],\n"
     "  w = [(W[1, 1] - W[2, 2])/2, W[1, 2], W[2, 1]]\n"
     "lagrangian (2*w.x^2 + w.y^2 + 1.5*w.z^2)/2 + 0.3*w.x*w.y + 0.2*w.y*w.z\n"
     "constraint det: a*d - b*c = 1\n"
     "start { a = 1; b = 0; c = 0; d = 1; a' = 0.1; b' = 0.3; c' = -0.4; d' = -0.1 }\n"
     "observe v1 = w.x, v2 = w.y, v3 = w.z, g.11 = a, g.12 = b, g.21 = c, g.22 = d\n",
     "v1, v2, v3, g.11, g.12, g.21, g.22, energy"},
    {"heisenberg: nonholonomic, then a sum with R(1)",
     "algebra sum { term heisenberg; term R(1); inertia [[1, 0, 0, 0.1], [0, 2, 0.3, 0],\n"
     "  [0, 0.3, 1, 0], [0.1, 0, 0, 1]] }\n"
     "constraint c: v3 = 2*v4\nstart { v = [0.6, -0.5, 0.8, 0.4] }\n",
     "coordinate x, y, z, s\nlet w = [x', y', z' - x*y', s']\n"
     "lagrangian (w.1^2 + 2*w.2^2 + w.3^2 + w.4^2)/2 + 0.1*w.1*w.4 + 0.3*w.2*w.3\n"
     "constraint c: w.3 = 2*w.4\n"
     "start { x = 0; y = 0; z = 0; s = 0; x' = 0.6; y' = -0.5; z' = 0.8; s' = 0.4 }\n"
     "observe v1 = w.1, v2 = w.2, v3 = w.3, v4 = w.4, g.12 = x, g.23 = y, g.13 = z, g.45 = s\n",
     "v1, v2, v3, v4, g.12, g.13, g.23, g.45, lambda.c, energy"},
};

static void same_motion(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[6000], other[6000];
        snprintf(text, sizeof text, "%srun { until 20 }\n", pairs[i].lie);
        snprintf(other, sizeof other, "%srun { until 20 }\n", pairs[i].lagrange);
        motion a = motion_text(text, NULL), b = motion_text(other, NULL);
        assert_string_equal(a.model->system->formulation->name, "lie");
        assert_string_equal(b.model->system->formulation->name, "lagrange");
        double worst = 0;
        for (int k = 0; k <= 20; k++) {
            assert_int_equal(motion_to(&a, k / 2.), NS_OK);
            assert_int_equal(motion_to(&b, k / 2.), NS_OK);
            worst = fmax(worst, motion_difference(&a, &b, pairs[i].values));
        }
        print_message("%s: %.1e\n", pairs[i].name, worst);
        measure_below(worst, 1e-11, "difference between lie and lagrange", pairs[i].name);
        uint32_t points;
        double failure = ns_lie_spatial_failure(a.model->system, a.model->p, a.model->x0,
                                                &points);
        assert_true(points > 10);
        measure_below(failure, 1e-14, "failure of (5.7)", pairs[i].name);
        motion_close(&a);
        motion_close(&b);
    }
}

/* Without constraints: energy, Casimirs and spatial momenta to the last digits over 100 s. */
static void free_motions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t casimirs;
    } cases[] = {
        {"algebra so(3) { inertia diag(1, 2, 3) }\nstart { v = [0.1, 1, 0.1] }\n", 1},
        {"algebra so(4) { inertia [1, 2, 3, 4, 5, 7] }\nstart { v = [1, 0.2, -0.3, 0.5, 0.7, "
         "-0.4] }\n",
         2},
        {"algebra so(5) { inertia [1, 2, 3, 4, 5, 6, 7, 8, 9, 11] }\n"
         "start { v = [1, 0.2, -0.3, 0.5, 0.7, -0.4, 0.1, 0.6, -0.5, 0.2] }\n",
         1},
        {"algebra se(2) { inertia [[2, 0, 0.5], [0, 1, 0], [0.5, 0, 3]] }\n"
         "start { v = [0.5, 0.4, 0.3] }\n",
         1},
        {"algebra se(3) { inertia [1, 2, 3, 1, 2, 1.5] }\n"
         "start { v = [0.5, 0.4, 0.3, 0.3, -0.2, 0.4] }\n",
         2},
        {"algebra heisenberg(2) { inertia [1, 2, 3, 1, 2] }\n"
         "start { v = [0.5, 0.4, 0.3, 0.3, -0.2] }\n",
         1},
        {"algebra sum { term so(3); term so(3); inertia [1, 2, 3, 3, 2, 4] }\n"
         "start { v = [0.5, 0.4, 0.3, 0.3, -0.2, 0.4] }\n",
         2},
        {"algebra table(3) { bracket 1, 2, e3; bracket 2, 3, e1; bracket 3, 1, e2\n"
         "  inertia diag(1, 2, 3); reconstruct adjoint }\nstart { v = [0.1, 1, 0.1] }\n",
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%srun { until 100 }\n", cases[i].text);
        motion m = motion_text(text, NULL);
        assert_int_equal(motion_to(&m, 100), NS_OK);
        measure_below(measure_energy_drift(&m), 1e-13, "energy drift", cases[i].text);
        measure_below(motion_residual(&m), 1e-14, "residual", cases[i].text);
        const ns_system *s = m.model->system;
        uint32_t casimirs = 0, momenta = 0;
        for (uint32_t k = 0; k < s->invariants.n; k++) {
            const char *name = s->invariants.at[k].name;
            casimirs += strncmp(name, "casimir", 7) == 0;
            momenta += strncmp(name, "mu", 2) == 0;
            measure_below(motion_drift(&m, name), 1e-12, name, cases[i].text);
        }
        assert_int_equal(casimirs, cases[i].casimirs);
        assert_int_equal(momenta, ns_lie_of(s)->n);
        motion_close(&m);
    }
}

/* The adjoint group of a table is the group itself for so(3): same matrices, same momenta. */
static void table_is_named(void **state)
{
    (void)state;
    motion a = motion_text("algebra so(3) { inertia diag(1, 2, 3) }\n"
                           "start { v = [0.4, 1, -0.3] }\nrun { until 20 }\n",
                           NULL);
    motion b = motion_text(
        "param k = 1\nalgebra table(3) { bracket 1, 2, [0, 0, k]; bracket 2, 3, 1, k\n"
        "  bracket 3, 1, 2, k; inertia diag(1, 2, 3); reconstruct adjoint }\n"
        "start { p = [0.4, 2, -0.9] }\nrun { until 20 }\n",
        NULL);
    assert_int_equal(motion_to(&a, 10), NS_OK);
    assert_int_equal(motion_to(&b, 10), NS_OK);
    measure_below(motion_difference(&a, &b,
                                    "v1, v2, v3, p1, p2, p3, mu1, mu2, mu3, g.11, g.12, g.13, "
                                    "g.21, g.22, g.23, g.31, g.32, g.33, energy"),
                  1e-12, "difference", "table");
    motion_close(&a);
    motion_close(&b);
}

/* Suslov, generic a: the motion goes from -w to w, where w spans {a.w = 0} and the directions
 * in which the rate vanishes: (I w x w) parallel to a, that is w = I^-1 a x a ... (normal to
 * both). */
static void suslov_asymptotics(void **state)
{
    (void)state;
    const double I[3] = {1, 2, 3}, a[3] = {1, 1, 1};
    motion m = motion_text("algebra so(3) { inertia diag(1, 2, 3) }\n"
                           "constraint a: v1 + v2 + v3 = 0\n"
                           "start { v1 = 1; v2 = 0.3 }\nrun { until 100 }\n",
                           NULL);
    assert_int_equal(motion_to(&m, 100), NS_OK);
    /* On the plane a.w = 0 the equilibria obey (I w x w).(I^-1 a x) ... = 0: with n = I^-1 a
     * the rate I w' = I w x w + lambda a vanishes iff I w x w is parallel to a, iff I w.a = 0
     * too. */
    double w[3] = {I[1] * a[1] * a[2] - I[2] * a[2] * a[1],
                   I[2] * a[2] * a[0] - I[0] * a[0] * a[2],
                   I[0] * a[0] * a[1] - I[1] * a[1] * a[0]};
    double norm = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), v[3], size = 0;
    for (int i = 0; i < 3; i++) {
        v[i] = motion_get(&m, i == 0 ? "v1" : i == 1 ? "v2" : "v3");
        size += v[i] * v[i];
    }
    size = sqrt(size);
    double sign = v[0] * w[0] > 0 ? 1 : -1;
    for (int i = 0; i < 3; i++)
        measure_close(v[i] / size, sign * w[i] / norm, 1e-14, "asymptotic direction");
    measure_below(measure_energy_drift(&m), 1e-14, "energy drift", "Suslov");
    measure_below(motion_residual(&m), 1e-14, "a.v", "Suslov");
    motion_close(&m);
}

/* The sleigh of the reference, in se(2). */
static void sleigh_reference(void **state)
{
    (void)state;
    motion m = motion_text(
        "param m = 2, J = 0.5, a = 0.4\n"
        "algebra se(2) { inertia [[J + m*a^2, 0, m*a], [0, m, 0], [m*a, 0, m]] }\n"
        "constraint blade: v3 = 0\n"
        "start { v1 = 0.5; v2 = -0.8\n"
        "  g = [[cos(0.3), -sin(0.3), 0], [sin(0.3), cos(0.3), 0], [0, 0, 1]] }\n"
        "let th = atan2(g.21, g.11), I = J + m*a^2, x = g.13, y = g.23\n"
        /* (6.1), (5.7) and lambda(mu) of section 6.2 */
        "observe e1 = p1' + a/I*p1*p2, e2 = p2' - m*a/I^2*p1^2\n"
        "observe e3 = mu1' - lambda.blade*(x*cos(th) + y*sin(th)),\n"
        "  e4 = mu2' + lambda.blade*sin(th), e5 = mu3' - lambda.blade*cos(th),\n"
        "  e6 = lambda.blade - J*(mu1 + y*mu2 - x*mu3)*(mu2*cos(th) + mu3*sin(th))/I^2,\n"
        "  e7 = -mu2*sin(th) + mu3*cos(th) - m*a/I*(mu1 + y*mu2 - x*mu3)\n"
        "run { until 20 }\n",
        NULL);
    reference r = reference_open("h1_sleigh");
    for (size_t i = 0; i < r.samples; i++) {
        double contact[2], theta = reference_number(&r, i, "theta");
        assert_int_equal(motion_to(&m, reference_number(&r, i, "t")), NS_OK);
        reference_get(&r, i, "contact", contact, 2);
        measure_close(motion_get(&m, "g.13"), contact[0], 1e-13, "x");
        measure_close(motion_get(&m, "g.23"), contact[1], 1e-13, "y");
        measure_close(motion_get(&m, "g.11"), cos(theta), 1e-13, "cos(theta)");
        measure_close(motion_get(&m, "g.21"), sin(theta), 1e-13, "sin(theta)");
        static const char *const errors[] = {"e1", "e2", "e3", "e4", "e5", "e6", "e7"};
        for (int k = 0; k < 7; k++)
            measure_close(motion_get(&m, errors[k]), 0, 2e-14, errors[k]);
    }
    reference_close(&r);
    motion_close(&m);
}

/* 30 dimensions, ten copies of so(3) in a basis that mixes all of them: every bracket is
 * full. */
static void large_table(void **state)
{
    (void)state;
    enum { n = 30 };
    static double S[n][n], T[n][n];
    uint64_t seed = 7;
    /* S = 1 + small: its inverse by elimination */
    double work[n][2 * n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            S[i][j] = (i == j) + 0.1 * ((double)(seed >> 11) / 9007199254740992. - 0.5);
            work[i][j] = S[i][j];
            work[i][n + j] = i == j;
        }
    for (int k = 0; k < n; k++) {
        double inverse = 1 / work[k][k];
        for (int j = 0; j < 2 * n; j++)
            work[k][j] *= inverse;
        for (int i = 0; i < n; i++) {
            double factor = work[i][k];
            for (int j = 0; i != k && j < 2 * n; j++)
                work[i][j] -= factor * work[k][j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            T[i][j] = work[i][n + j];
    /* f_i = S_ia e_a:  [f_i, f_j] = S_ia S_jb eps_ab^c T_cm f_m */
    size_t room = 2000000, used = 0;
    char *text = malloc(room);
    assert_non_null(text);
    used += (size_t)snprintf(text, room, "algebra table(%d) {\n", n);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double bracket[n] = {0};
            for (int block = 0; block < n; block += 3)
                for (int c = 0; c < 3; c++) {
                    int a = block + (c + 1) % 3, b = block + (c + 2) % 3;
                    bracket[block + c] = S[i][a] * S[j][b] - S[i][b] * S[j][a];
                }
            used += (size_t)snprintf(text + used, room - used, "bracket %d, %d, [", i + 1,
                                     j + 1);
            for (int m = 0; m < n; m++) {
                double sum = 0;
                for (int c = 0; c < n; c++)
                    sum += bracket[c] * T[c][m];
                used += (size_t)snprintf(text + used, room - used, "%s%.17g", m ? "," : "",
                                         sum);
            }
            used += (size_t)snprintf(text + used, room - used, "]\n");
        }
    used += (size_t)snprintf(text + used, room - used, "inertia [");
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%d", i ? "," : "", i + 1);
    used += (size_t)snprintf(text + used, room - used,
                             "] }\nconstraint a: v1 + v2 = 0\nconstraint b: v3 = v4 + v5\n"
                             "constraint c: v7 = 0\nconstraint d: v1 + v9 - v30 = 0\n"
                             "constraint e: v20 = 2*v21\n"
                             "start { v1 = 1; v4 = 0.5; v9 = 0.3; v15 = -0.4; v21 = 0.2; "
                             "v29 = 0.6 }\nrun { until 2 }\n");
    clock_t before = clock(); /* of this process: others may keep the machine busy */
    ns_model *model = motion_model_text(text, NULL);
    double took = (double)(clock() - before) / CLOCKS_PER_SEC;
    print_message("30 dimensions: %zu bytes of text, built in %.2f s\n", used, took);
#ifdef NDEBUG
    measure_below(took, 1, "time to build", "30 dimensions");
#endif
    motion m = motion_begin(model, NULL);
    assert_int_equal(motion_to(&m, 2), NS_OK);
    measure_below(measure_energy_drift(&m), 1e-13, "energy drift", "30 dimensions");
    measure_below(motion_residual(&m), 1e-13, "residual", "30 dimensions");
    motion_close(&m);
    free(text);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"algebra table(3) { bracket 1, 2, e3; bracket 2, 3, e1; bracket 3, 1, e1 + e2\n"
         "  inertia [1, 1, 1] }\n",
         "violate the Jacobi identity: [e1, [e2, e3]] + cyclic has a component of size 1"},
        {"algebra table(3) { bracket 1, 1, e3; inertia [1, 1, 1] }\n", "[e1, e1] is zero"},
        {"algebra table(3) { bracket 1, 2, e3; bracket 2, 1, e3; inertia [1, 1, 1] }\n",
         "[e2, e1] is given a second time, differently"},
        {"algebra table(3) { bracket 1, 4, e3; inertia [1, 1, 1] }\n",
         "the index of a basis vector must be a whole number from 1 to 3"},
        {"algebra table(3) { bracket 1, 2, [1, 2]; inertia [1, 1, 1] }\n",
         "expected `bracket i, j, VECTOR` with 3 components"},
        {"algebra table { inertia [1, 1, 1] }\n", "expected table(n)"},
        {"algebra table(3) { bracket 1, 2, e4; inertia [1, 1, 1] }\n",
         "in terms of parameters and e1 .. e3"},
        {"algebra sum { term so(3); term table(2); inertia [1, 1] }\n",
         "the terms of a sum are algebras with a name"},
        {"algebra so(3) { inertia [1, 1, 1]; reconstruct no; potential g.33 }\n",
         "undefined name `g.33`: the group is not followed"},
        {"algebra so(9) { inertia [1, 1, 1] }\n", "whole number from 2 to 8"},
        {"algebra se(4) { inertia [1, 1, 1] }\n", "whole number from 2 to 3"},
        {"algebra so { inertia [1, 1, 1] }\n", "expected so(n)"},
        {"algebra su(2) { inertia [1, 1, 1] }\n", "there is no algebra `su`"},
        {"algebra sum { inertia [1, 1, 1] }\n", "the sum has no terms"},
        {"algebra so(3) { term so(3); inertia [1, 1, 1] }\n",
         "`term` belongs to `algebra sum`"},
        {"algebra so(3) { bracket 1, 2, 3, 1; inertia [1, 1, 1] }\n",
         "`bracket` belongs to `algebra table(n)`"},
        {"algebra so(3) { inertia [1, 1, 1]; mass 3 }\n", "mass"},
        {"algebra so(3) { inertia [1, 1] }\n", "`inertia` is a symmetric 3 x 3 matrix"},
        {"algebra so(3) { inertia [[1, 2, 0], [0, 1, 0], [0, 0, 1]] }\n",
         "the inertia is not symmetric: entries (1, 2) and (2, 1)"},
        {"algebra so(3) { inertia [1, -2, 1] }\n",
         "not positive definite: its least eigenvalue is -2"},
        {"algebra so(3) { inertia [1, v1, 1] }\n", "`inertia` may depend on parameters only"},
        {"algebra so(3)\n", "expected `inertia` in the block, or a `lagrangian`"},
        {"algebra so(3) { inertia [1, 1, 1] }\nlagrangian v1^2\n", "not both"},
        {"algebra so(3) { inertia [1, 1, 1]; potential v1 }\n",
         "a potential depends on g and time"},
        {"algebra so(3) { inertia [1, 1, 1] }\nconstraint a: v1^2 = v2\n",
         "must be linear in the velocities"},
        {"algebra so(3) { inertia [1, 1, 1] }\nconstraint a: g.11 = 1\n",
         "must be linear in the velocities"},
        {"algebra so(3) { inertia [1, 1, 1] }\nconstraint a: v1 = v2\nconstraint b: 2*v2 = "
         "2*v1\n",
         "constraint `b` depends on those before it"},
        {"algebra so(3) { inertia [1, 1, 1] }\nconstraint a: v1 = 0\nconstraint b: v2 = 0\n"
         "constraint c: v3 = 0\n",
         "leave nothing"},
        {"algebra so(3) { inertia [1, 1, 1] }\nconstraint a: v4 = 0\n", "undefined name `v4`"},
        {"algebra so(3) { inertia [1, 1, 1] }\ncoordinate x\n", "no coordinates"},
        {"algebra so(3) { inertia [1, 1, 1] }\nstart { w = 1 }\n", "`w` is not something"},
        {"algebra so(3) { inertia [1, 1, 1] }\nstart { g.11 = 2 }\n",
         "the start does not satisfy `rotation.11`"},
        {"algebra se(2) { inertia [1, 1, 1] }\n"
         "start { g = [[1, 0, 0], [0, 1, 0], [1, 0, 1]] }\n",
         "entry (3, 1) of g must be 0"},
        {"algebra so(3) { inertia [1, 1, 1]; reconstruct perhaps }\n",
         "`reconstruct` is `matrices`, `adjoint` or `no`"},
        {"formulation lie\ncoordinate x\nlagrangian x'^2\n", "needs an `algebra`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        motion_refused(cases[i][0], cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_motion),      cmocka_unit_test(free_motions),
        cmocka_unit_test(table_is_named),   cmocka_unit_test(suslov_asymptotics),
        cmocka_unit_test(sleigh_reference), cmocka_unit_test(large_table),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
