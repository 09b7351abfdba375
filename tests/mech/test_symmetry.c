/* Symmetry: the reduced equations give the same motion as `lagrange` for every group, the
 * fields of the groups satisfy their brackets, the geometry is what section 4.2 says, and what
 * is refused. */
#include "support/measure.h"
#include "support/motion.h"
#include "support/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/reduced/symmetry.h"

#define OSCILLATOR_START                                                                       \
    "start { theta = 0; x = 0; y = 0; r = 0; theta' = 0.6; x' = -0.35; y' = 0; r' = 1 }\n"
/* body angular velocity of the Euler angles, and the body's axes in space */
#define EULER                                                                                  \
    "let w1 = phi'*sin(theta)*sin(psi) + theta'*cos(psi)\n"                                    \
    "let w2 = phi'*sin(theta)*cos(psi) - theta'*sin(psi)\n"                                    \
    "let w3 = phi'*cos(theta) + psi'\n"
#define AXES                                                                                   \
    "let a1 = [cos(phi)*cos(psi) - sin(phi)*cos(theta)*sin(psi),\n"                            \
    "  sin(phi)*cos(psi) + cos(phi)*cos(theta)*sin(psi), sin(theta)*sin(psi)]\n"               \
    "let a3 = [sin(phi)*sin(theta), -cos(phi)*sin(theta), cos(theta)]\n"

typedef struct example {
    const char *name, *text, *symmetry, *values;
} example;

static const example examples[] = {
    {"sleigh", SLEIGH, "symmetry { group SE(2) }\n", "theta, x, y, theta', x', energy"},
    {"sleigh by generators", SLEIGH,
     "symmetry { generator [1, -y, x], [0, 1, 0], [0, 0, 1]\n"
     "  field [1, 0, 0], [0, cos(theta), sin(theta)], [0, -sin(theta), cos(theta)] }\n",
     "theta, x, y, theta', x', energy"},
    {"sleigh with oscillator", OSCILLATOR OSCILLATOR_START,
     "symmetry { shape r; group SE(2) }\n", "theta, x, y, r, theta', x', r', energy"},
    {"sleigh with oscillator, frame of (6.6)", OSCILLATOR OSCILLATOR_START,
     "symmetry { shape r; group SE(2)\n"
     "  e1 = [(J + m*r^2)^(-m/(2*(M + m))), 0, 0]; e2 = [0, 1, 0]; e3 = [0, 0, 1] }\n",
     "theta, x, y, r, theta', x', r', energy"},
    {"vertical disk",
     "param m = 1, R = 0.5, I = m*R^2/2, J = m*R^2/4\n"
     "coordinate x, y, theta, phi\n"
     "lagrangian m/2*(x'^2 + y'^2) + I/2*theta'^2 + J/2*phi'^2\n"
     "constraint rx: x' = R*theta'*cos(phi)\n"
     "constraint ry: y' = R*theta'*sin(phi)\n"
     "start { x = 0; y = 0; theta = 0; phi = 0.4; theta' = 3; phi' = 0.7 }\n",
     "symmetry { group SO(2); group SE(2); on theta, phi, x, y }\n",
     "x, y, theta, phi, x', theta', energy"},
    {"falling disk", FALLING, "symmetry { shape theta; group SO(2); group SE(2) }\n",
     "theta, psi, phi, x, y, theta', psi', phi', energy"},
    {"falling disk, frame of 6.5", FALLING,
     "symmetry { shape theta; group SO(2); group SE(2)\n"
     "  e1 = [-tan(theta), 1/cos(theta), R*tan(theta), 0]; e2 = [1, 0, -R, 0] }\n",
     "theta, psi, phi, x, y, theta', psi', phi', energy"},
    {"R^2 example of 4.3",
     "coordinate r, s1, s2\nlet b = 0.5*sin(r)\n"
     "lagrangian (r'^2 + (1 - b^2)*s1'^2 + s2'^2)/2 - (r - 0.3)^2\n"
     "constraint c: s2' = b*s1'\nstart { r = 1; s1 = 0; r' = 0.4; s1' = 1.2 }\n",
     "symmetry { shape r; group R(2) }\n", "r, s1, s2, r', s1', s2', energy"},
    {"nonholonomic particle",
     "coordinate x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint twist: z' = y*x'\n"
     "start { x = 0; y = -2; z = 0; x' = 0.8; y' = 0.5 }\n",
     "symmetry { shape y; generator [1, 0, 0], [0, 0, 1] }\n", "x, y, z, x', y', z'"},
    {"roller racer", RACER, "symmetry { group SE(2); on theta, x, y }\n",
     "x, y, theta, phi, x', y', theta', phi', energy"},
    {"snakeboard, three shape variables",
     "param m = 6, l = 0.2, J = 0.1, Jr = 0.08, Jw = 0.01, k = 0.05\n"
     "coordinate x, y, theta, psi, phi1, phi2\n"
     "lagrangian m/2*(x'^2 + y'^2) + J/2*theta'^2 + Jr/2*(theta' + psi')^2 +\n"
     "  Jw/2*((theta' + phi1')^2 + (theta' + phi2')^2) - k/2*((phi1 - 0.5)^2 + (phi2 + "
     "0.4)^2)\n"
     "constraint front: y'*cos(theta + phi1) - x'*sin(theta + phi1) + l*cos(phi1)*theta' = 0\n"
     "constraint rear:  y'*cos(theta + phi2) - x'*sin(theta + phi2) - l*cos(phi2)*theta' = 0\n"
     "start { x = 0; y = 0; theta = 0; psi = 0; phi1 = 0.3; phi2 = -0.2; x' = 0.3\n"
     "  psi' = 1; phi1' = 0.4; phi2' = 0.1 }\n",
     "symmetry { shape psi, phi1, phi2; group SE(2); on theta, x, y }\n",
     "x, y, theta, psi, phi1, phi2, x', psi', phi1', energy"},
    {"spherical pendulum, no constraints",
     "coordinate theta, phi\nlagrangian (theta'^2 + sin(theta)^2*phi'^2)/2 + 9.81*cos(theta)\n"
     "start { theta = 1; phi = 0; theta' = 0.3; phi' = 2 }\n",
     "symmetry { shape theta; group SO(2) }\n", "theta, phi, theta', phi', energy"},
    {"body with a sliding mass, SO(3), no constraints",
     "param m = 0.5, k = 3\ncoordinate phi, theta, psi, r\n" EULER
     "lagrangian (1*w1^2 + 1.7*w2^2 + 2.2*w3^2)/2 + 0.1*w1*w2 +\n"
     "  m/2*(r'^2 + r^2*(w2^2 + w3^2) + 0.6*r'*w3) - k/2*(r - 0.4)^2\n"
     "start { phi = 0.1; theta = 1.2; psi = 0.3; r = 0.5; phi' = 0.5; theta' = 0.2; psi' = "
     "0.6\n"
     "  r' = 0.1 }\n",
     "symmetry { shape r; group SO(3) }\n",
     "phi, theta, psi, r, phi', theta', psi', r', energy"},
    {"Suslov's body with a sliding mass",
     "param m = 0.5, k = 3\ncoordinate phi, theta, psi, r\n" EULER
     "lagrangian (1*w1^2 + 1.7*w2^2 + 2.2*w3^2)/2 + 0.1*w1*w2 +\n"
     "  m/2*(r'^2 + r^2*(w2^2 + w3^2) + 0.6*r'*w3) - k/2*(r - 0.4)^2\n"
     "constraint suslov: w3 + 0.3*r*w1 - 0.2*r' = 0\n"
     "start { phi = 0.1; theta = 1.2; psi = 0.3; r = 0.5; phi' = 0.3; theta' = 0.2; r' = 0.1 "
     "}\n",
     "symmetry { shape r; group SO(3) }\n",
     "phi, theta, psi, r, phi', theta', psi', r', energy"},
    {"body in space with a blade, SE(3)",
     "param m = 0.5, k = 3\ncoordinate phi, theta, psi, x, y, z, r\n" EULER AXES
     "let P = [x, y, z], Q = P + r*a1\n"
     "lagrangian (w1^2 + 1.7*w2^2 + 2.2*w3^2)/2 + dot(P', P') + m/2*dot(Q', Q') - k/2*(r - "
     "0.4)^2\n"
     "constraint blade: dot(P', a3) + 0.1*w1 = 0\n"
     "start { phi = 0.1; theta = 1.2; psi = 0.3; x = 0; y = 0; z = 0; r = 0.5\n"
     "  phi' = 0.3; theta' = 0.2; psi' = 0.1; x' = 0.3; y' = -0.2; r' = 0.1 }\n",
     "symmetry { shape r; group SE(3) }\n",
     "phi, theta, psi, x, y, z, r, phi', x', r', energy"},
};

/* (4.2)-(4.3), (4.6)-(4.7) and (2.13)-(2.15) against Lagrange-d'Alembert over 10 s. */
static void same_motion(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        motion run[3];
        for (int k = 0; k < 3; k++) {
            char text[4000];
            snprintf(text, sizeof text, "%srun { until 20 }\n%s%s", e->text, e->symmetry,
                     k == 0   ? ""
                     : k == 1 ? "solve reduced\n"
                              : "solve momentum\n");
            run[k] = motion_text(text, NULL);
            assert_string_equal(run[k].model->system->formulation->name,
                                k ? "reduced" : "lagrange");
            assert_non_null(run[k].model->system->symmetry);
        }
        double worst = 0, momentum = 0, multiplier = 0, residual = 0;
        for (int k = 0; k <= 20; k++) {
            for (int j = 0; j < 3; j++)
                assert_int_equal(motion_to(&run[j], 0.5 * k), NS_OK);
            worst = fmax(worst, motion_difference(&run[1], &run[0], e->values));
            worst = fmax(worst, motion_difference(&run[2], &run[0], e->values));
            for (uint32_t c = 0; c < run[0].model->description->constraints.n; c++) {
                char name[64];
                snprintf(name, sizeof name, "lambda.%s",
                         run[0].model->description->constraints.at[c].name);
                multiplier = fmax(multiplier, motion_difference(&run[1], &run[0], name));
                multiplier = fmax(multiplier, motion_difference(&run[2], &run[0], name));
                snprintf(name, sizeof name, "residual.%s",
                         run[0].model->description->constraints.at[c].name);
                residual = fmax(residual, fabs(motion_get(&run[1], name)));
                residual = fmax(residual, fabs(motion_get(&run[2], name)));
            }
            for (uint32_t a = 0; a < run[0].model->system->symmetry->m; a++) {
                char full[32], own[32];
                snprintf(full, sizeof full, "symmetry.p%u", a + 1);
                snprintf(own, sizeof own, "p%u", a + 1);
                for (int j = 1; j < 3; j++)
                    momentum = fmax(momentum,
                                    fabs(motion_get(&run[j], own) - motion_get(&run[0], full)));
            }
        }
        print_message("%-50s %.1e, momenta %.1e, multipliers %.1e, energy drift %.1e\n",
                      e->name, worst, momentum, multiplier, measure_energy_drift(&run[2]));
        measure_below(worst, 1e-11, "reduced against lagrange", e->name);
        measure_below(momentum, 1e-11, "momenta", e->name);
        measure_below(multiplier, 1e-11, "multipliers", e->name);
        measure_below(residual, 1e-14, "residuals of the constraints", e->name);
        measure_below(measure_energy_drift(&run[1]), 1e-13, "energy", e->name);
        measure_below(measure_energy_drift(&run[2]), 1e-13, "energy", e->name);
        for (int j = 0; j < 3; j++)
            motion_close(&run[j]);
    }
}

/* Largest |[a, b] - sum_C c_C d_C| over random states, for fields of a symmetry. */
static double bracket_error(const ns_symmetry *y, const ns_ex *a, const ns_ex *b,
                            const ns_ex *c, const ns_ex *d)
{
    ns_graph *g = y->d->graph;
    double worst = 0;
    for (uint32_t i = 0; i < y->n; i++) {
        ns_ex forward, back;
        ns_diff_along(g, &b[i], 1, y->q, a, y->n, &forward);
        ns_diff_along(g, &a[i], 1, y->q, b, y->n, &back);
        ns_ex rest = ns_sub(g, forward, back);
        for (uint32_t C = 0; c && C < y->k; C++)
            rest = ns_sub(g, rest, ns_mul(g, c[C], d[C * y->n + i]));
        uint64_t seed = 7;
        for (uint32_t point = 0; point < 4; point++) {
            const ns_ex *symbol;
            const double *value;
            uint32_t count;
            double out;
            ns_symmetry_point(y, point, &seed, &symbol, &value, &count);
            ns_eval(g, &rest, 1, symbol, value, count, &out);
            worst = fmax(worst, fabs(out));
        }
    }
    return worst;
}

/* The fields of the frame, e = e_AB E_B, [k][n]. */
static const ns_ex *frame_fields(const ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t k = y->k, n = y->n;
    ns_ex *e = NS_NEW_ARRAY(y->d->arena, ns_ex, k * n);
    for (uint32_t A = 0; A < k; A++)
        for (uint32_t c = 0; c < n; c++) {
            e[A * n + c] = ns_zero(g);
            for (uint32_t B = 0; B < k; B++)
                e[A * n + c] = ns_add(g, e[A * n + c],
                                      ns_mul(g, y->e[A * k + B], y->E[B * n + c]));
        }
    return e;
}

/* [X, E] = 0, [E, E] = C0 E, and in the frame [e, e] = C e: for every group. */
static void group_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char text[4000];
        snprintf(text, sizeof text, "%s%s", examples[i].text, examples[i].symmetry);
        ns_model *model = motion_model_text(text, NULL);
        const ns_symmetry *y = model->system->symmetry;
        const uint32_t k = y->k, n = y->n;
        double worst = 0;
        const ns_ex *e = frame_fields(y);
        for (uint32_t A = 0; A < k; A++)
            for (uint32_t B = 0; B < k; B++) {
                worst = fmax(worst, bracket_error(y, y->X + A * n, y->E + B * n, NULL, NULL));
                worst = fmax(worst, bracket_error(y, y->E + A * n, y->E + B * n,
                                                  y->C0 + (A * k + B) * k, y->E));
                worst = fmax(worst,
                             bracket_error(y, e + A * n, e + B * n, y->C + (A * k + B) * k, e));
            }
        measure_below(worst, 1e-13, "brackets", examples[i].name);
        ns_model_free(model);
    }
}

static void values_at_start(const ns_symmetry *y, const ns_ex *f, uint32_t n, double *out)
{
    const ns_ex *symbol;
    const double *value;
    uint32_t count;
    uint64_t seed = 3;
    ns_symmetry_point(y, 1, &seed, &symbol, &value, &count);
    ns_eval(y->d->graph, f, n, symbol, value, count, out);
}

/* (2.19), (2.20) for the fields u_alpha = d/dr - A e, u_a = e_a, and the block-diagonal
 * metric. */
static void connection_fields(void **state)
{
    (void)state;
    for (size_t x = 0; x < sizeof examples / sizeof *examples; x++) {
        char text[4000];
        snprintf(text, sizeof text, "%s%s", examples[x].text, examples[x].symmetry);
        ns_model *model = motion_model_text(text, NULL);
        const ns_symmetry *y = model->system->symmetry;
        ns_graph *g = y->d->graph;
        const uint32_t k = y->k, m = y->m, n = y->n, sigma = y->sigma;
        const ns_ex *e = frame_fields(y);
        ns_ex *u = NS_NEW_ARRAY(y->d->arena, ns_ex, sigma * n + 1);
        for (uint32_t i = 0; i < sigma; i++)
            for (uint32_t c = 0; c < n; c++) {
                u[i * n + c] = c == y->shape[i] ? ns_one(g) : ns_zero(g);
                for (uint32_t A = 0; A < k; A++)
                    u[i * n + c] = ns_sub(g, u[i * n + c],
                                          ns_mul(g, y->A[i * k + A], e[A * n + c]));
            }
        double worst = 0, metric = 0, horizontal = 0;
        for (uint32_t i = 0; i < sigma; i++) {
            for (uint32_t j = 0; j < sigma; j++)
                worst = fmax(worst, bracket_error(y, u + i * n, u + j * n,
                                                  y->B + (i * sigma + j) * k, e));
            for (uint32_t b = 0; b < m; b++)
                worst = fmax(worst, bracket_error(y, u + i * n, e + b * n,
                                                  y->Ecal + (i * m + b) * k, e));
        }
        /* u_alpha satisfies the constraints and is orthogonal to S */
        ns_ex *pi = NS_NEW_ARRAY(y->d->arena, ns_ex, n);
        ns_ex *M = NS_NEW_ARRAY(y->d->arena, ns_ex, n * n);
        ns_diff_gradient(g, y->d->lagrangian, y->dq, n, pi);
        ns_diff_jacobian(g, pi, n, y->dq, n, M);
        uint64_t seed = 11;
        for (uint32_t point = 0; point < 4; point++) {
            const ns_ex *symbol;
            const double *value;
            uint32_t count;
            double Mv[64], uv[64], ev[64], rows[64];
            assert_true(n * n <= 64);
            ns_symmetry_point(y, point, &seed, &symbol, &value, &count);
            ns_eval(g, M, n * n, symbol, value, count, Mv);
            ns_eval(g, u, sigma * n, symbol, value, count, uv);
            ns_eval(g, e, k * n, symbol, value, count, ev);
            ns_eval(g, y->rows, y->constraints * n, symbol, value, count, rows);
            for (uint32_t i = 0; i < sigma; i++) {
                for (uint32_t a = 0; a < m; a++) {
                    double sum = 0;
                    for (uint32_t c = 0; c < n; c++)
                        for (uint32_t d = 0; d < n; d++)
                            sum += uv[i * n + c] * Mv[c * n + d] * ev[a * n + d];
                    metric = fmax(metric, fabs(sum));
                }
                for (uint32_t s = 0; s < y->constraints; s++) {
                    double sum = 0;
                    for (uint32_t c = 0; c < n; c++)
                        sum += rows[s * n + c] * uv[i * n + c];
                    horizontal = fmax(horizontal, fabs(sum));
                }
            }
        }
        print_message("%-50s brackets %.1e, orthogonality %.1e, constraints %.1e\n",
                      examples[x].name, worst, metric, horizontal);
        measure_below(worst, 1e-12, "brackets (2.19), (2.20)", examples[x].name);
        measure_below(metric, 1e-13, "u_alpha orthogonal to S", examples[x].name);
        measure_below(horizontal, 1e-13, "u_alpha in D", examples[x].name);
        ns_model_free(model);
    }
}

/* A symmetry beside a frame: formulation hamel has the same momenta. */
static void beside_hamel(void **state)
{
    (void)state;
    static const char block[] = "symmetry { shape r; group SE(2) }\nrun { until 20 }\n";
    char text[4000];
    snprintf(text, sizeof text, "%s%s", OSCILLATOR OSCILLATOR_START, block);
    motion a = motion_text(text, NULL);
    snprintf(text, sizeof text, "formulation hamel\n%s%s", OSCILLATOR OSCILLATOR_START, block);
    motion b = motion_text(text, NULL);
    assert_string_equal(b.model->system->formulation->name, "hamel");
    for (int k = 0; k <= 4;
         k++) { /* the made frame ends where the blade points along an axis */
        assert_int_equal(motion_to(&a, 0.25 * k), NS_OK);
        assert_int_equal(motion_to(&b, 0.25 * k), NS_OK);
        measure_below(motion_difference(&b, &a, "symmetry.p1, symmetry.p2, symmetry.Omega1"),
                      1e-12, "momenta in hamel", "oscillator");
    }
    motion_close(&a);
    motion_close(&b);
}

/* Section 6.3: A = (0, m/(M+m), 0), I_S = diag(J + m r^2, M + m), and (4.11) gives (6.5). */
static void oscillator_geometry(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        OSCILLATOR OSCILLATOR_START "symmetry { shape r; group SE(2) }\n", NULL);
    const ns_symmetry *y = model->system->symmetry;
    double A[3], IS[4], tau[4], Q[8], R[2], r, M = 1.5, m = 0.7, J = 1;
    values_at_start(y, y->A, 3, A);
    values_at_start(y, y->IS, 4, IS);
    values_at_start(y, y->tau, 4, tau);
    values_at_start(y, y->Q, 8, Q);
    values_at_start(y, y->R, 2, R);
    values_at_start(y, y->r, 1, &r);
    const double I = J + m * r * r;
    measure_close(A[0], 0, 1e-15, "A1");
    measure_close(A[1], m / (M + m), 1e-15, "A2");
    measure_close(A[2], 0, 1e-15, "A3");
    measure_close(IS[0], I, 1e-15, "I11");
    measure_close(IS[1], 0, 1e-15, "I12");
    measure_close(IS[3], M + m, 1e-15, "I22");
    measure_close(tau[0], m * m * r / ((M + m) * I), 1e-15, "tau_1^1");
    measure_close(fabs(tau[1]) + fabs(tau[2]) + fabs(tau[3]), 0, 1e-15, "the rest of tau");
    measure_close(2 * Q[1], -m * r / ((M + m) * I), 1e-15, "p1 p2 in p1'");
    measure_close(Q[4], m * r / (I * I), 1e-15, "p1^2 in p2'");
    measure_close(fabs(Q[0]) + fabs(Q[3]) + fabs(Q[5]) + fabs(Q[7]), 0, 1e-15, "the rest of Q");
    measure_close(fabs(R[0]) + fabs(R[1]), 0, 1e-15, "no terms in r'^2");
    ns_model_free(model);
}

/* Prop 4.3: forward 10 s, velocities reversed, 10 s again: the start with velocities
 * reversed. */
static void reversible(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char text[4000];
        snprintf(text, sizeof text, "%srun { until 20 }\n%ssolve momentum\n", examples[i].text,
                 examples[i].symmetry);
        motion there = motion_text(text, NULL);
        const ns_system *s = there.model->system;
        double x0[32], x[32], worst = 0;
        memcpy(x0, there.model->x0, s->states.n * sizeof *x0);
        assert_int_equal(motion_to(&there, 5), NS_OK);
        for (uint32_t k = 0; k < s->states.n; k++)
            x[k] = s->states.at[k].odd ? -there.x[k] : there.x[k];
        motion back = motion_begin(motion_model_text(text, NULL), x);
        assert_int_equal(motion_to(&back, 5), NS_OK);
        for (uint32_t k = 0; k < s->states.n; k++) {
            const double expected = s->states.at[k].odd ? -x0[k] : x0[k];
            worst = fmax(worst, fabs(back.x[k] - expected) / fmax(1, fabs(expected)));
        }
        print_message("%-50s returns to %.1e\n", examples[i].name, worst);
        measure_below(worst, 1e-12, "there and back", examples[i].name);
        motion_close(&back);
        motion_close(&there);
    }
}

static void refuses(void **state)
{
    (void)state;
    motion_refused(SLEIGH "symmetry { group SE(3) }\n",
                   "wrong split: the group has 6 dimensions");
    motion_refused(SLEIGH "symmetry { shape theta; group SE(2) }\n",
                   "the group coordinates are 2 (x, y)");
    motion_refused(SLEIGH "symmetry { group SU(2) }\n", "the group SU(2) is not known");
    motion_refused(
        SLEIGH "symmetry { group R(3) }\n",
        "the Lagrangian is not invariant: its derivative along the generator of `theta`");
    motion_refused(
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 - x*0.001\nstart { x = 1 }\n"
        "symmetry { group R(2) }\n",
        "the Lagrangian is not invariant: its derivative along the generator of `x` in R(2)");
    motion_refused(
        "coordinate x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n"
        "constraint c: z' = y*x'\nsymmetry { group R(3) }\n",
        "constraint `c` is not invariant: its derivative along the generator of `y`");
    motion_refused("coordinate x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: y' = 0\n"
                   "symmetry { shape y; group R(1) }\n",
                   "the dimension assumption fails");
    motion_refused(SLEIGH "symmetry { generator [1, -y, x], [0, 1, 0], [0, 0, 1] }\n",
                   "generators 1 and 2 do not commute");
    motion_refused(SLEIGH "symmetry { generator [1, 0, 0], [0, 1, 0] }\n",
                   "3 group coordinates need 3 `generator` vectors, there are 2");
    motion_refused(OSCILLATOR OSCILLATOR_START
                   "symmetry { shape r; group SE(2); e1 = [0, 0, 1]; e2 = [0, 1, 0] }\n",
                   "vector `e1` does not satisfy constraint `blade`");
    motion_refused(OSCILLATOR OSCILLATOR_START
                   "symmetry { shape r; group SE(2); e1 = [1, 0, 0]; e2 = [2, 0, 0] }\n",
                   "the vectors of the frame depend on each other");
    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry { shapes r; group SE(2) }\n",
                   "did you mean `shape`");
    motion_refused(OSCILLATOR OSCILLATOR_START
                   "symmetry { shape r; group SE(2) }\nsolve augmented\n",
                   "`solve augmented` is not known with a symmetry");
    motion_refused("coordinate x, y\nlagrangian (x'^2 + y'^2)/2\nforce x = -x'\n"
                   "symmetry { group R(2) }\n",
                   "no forces");
    motion_refused(
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 + x*y' - y*x'\nsymmetry { group R(2) }\n",
        "not invariant");
    motion_refused(
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2 + x'^4\nsymmetry { shape x; group "
        "R(1) }\n",
        "quadratic in the velocities");
    motion_refused(
        "coordinate x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: x' = y\n"
        "symmetry { group R(2) }\n",
        "constraint `c` is not invariant: its derivative along the generator of `y`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_motion),
        cmocka_unit_test(group_fields),
        cmocka_unit_test(oscillator_geometry),
        cmocka_unit_test(connection_fields),
        cmocka_unit_test(beside_hamel),
        cmocka_unit_test(reversible),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
