/*
 * Reference final states of the problems of the speed table, in quadruple precision (113 bits).
 *
 *     bench_reference_quad            check reference.h and the right-hand sides
 *     bench_reference_quad --write    print a new reference.h (with a name: that part of it)
 *
 * Each problem is integrated by two methods that share nothing but the right-hand side, Gauss
 * collocation and extrapolation (quad_ode.h), the first with two orders and steps. Right-hand
 * sides are checked too: those of P2 and P3min against the project's reference motions
 * h2_sleigh_oscillator and a1_sphere_uniform, the rattleback's by an independent formulation,
 * Newton-Euler equations with the contact force as unknown, which is itself checked against
 * c_ellipsoid_plane.
 *
 * The parameters are the decimal numbers of the problem, not their roundings to double. The
 * roundings alone move the end of P1c by 1e-14 and that of P1 by 3e-8.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sqrtf128 and its like */
#endif

#include "problems/reference_quad.h"
#include "problems/hand_problems.h"
#include "problems/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/hand_rhs.inc"

enum { MAX_N = QUAD_MAX_N };

/* ---- an independent formulation of the rattleback ------------------------------------------
 *
 * Newton-Euler equations of an ellipsoid on the plane z = 0 with the contact force as the
 * unknown, for any inertia tensor and centre of mass. e: centre of mass minus centre of the
 * ellipsoid, body frame.
 *
 *     s = -D gamma/sqrt(gamma.D gamma) - e,  gamma = A^T e3,  gamma' = gamma x Omega
 *     m V' = A F - m g e3,  I Omega' = s x F - Omega x I Omega     (F in the body frame)
 *     no slip, differentiated:  A^T V' + Omega' x s + Omega x s' + Omega x (Omega x s) = 0
 *
 * The last line is a linear system for F. State, 13: quaternion, centre of mass, V (space),
 * Omega (body).
 */
typedef struct newton {
    quad axes[3], e[3], I[3][3], m, g;
} newton;

static void cross(const quad *a, const quad *b, quad *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static void apply(quad (*A)[3], const quad *v, quad *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = A[i][0] * v[0] + A[i][1] * v[1] + A[i][2] * v[2];
}

/* A x = b by elimination with pivots */
static void solve3(quad (*A)[3], const quad *b, quad *x)
{
    quad M[3][4];
    for (int i = 0; i < 3; i++) {
        memcpy(M[i], A[i], sizeof A[i]);
        M[i][3] = b[i];
    }
    for (int c = 0; c < 3; c++) {
        int pivot = c;
        for (int i = c + 1; i < 3; i++)
            if (fabsf128(M[i][c]) > fabsf128(M[pivot][c]))
                pivot = i;
        for (int j = 0; j < 4; j++) {
            const quad t = M[c][j];
            M[c][j] = M[pivot][j];
            M[pivot][j] = t;
        }
        for (int i = 0; i < 3; i++) {
            if (i == c)
                continue;
            const quad factor = M[i][c] / M[c][c];
            for (int j = c; j < 4; j++)
                M[i][j] -= factor * M[c][j];
        }
    }
    for (int i = 0; i < 3; i++)
        x[i] = M[i][3] / M[i][i];
}

static void rotation(const quad *q, quad (*A)[3])
{
    const quad w = q[0], x = q[1], y = q[2], z = q[3];
    const quad rows[3][3] = {
        {w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
    memcpy(A, rows, sizeof rows);
}

/* s and, if wanted, its rate */
static void contact_vector(const newton *p, const quad *gamma, const quad *dgamma, quad *s,
                           quad *ds)
{
    quad d[3], qq = 0, rate = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = p->axes[i] * p->axes[i] * gamma[i];
        qq += d[i] * gamma[i];
        rate += dgamma ? d[i] * dgamma[i] : 0;
    }
    const quad root = sqrtf128(qq);
    for (int i = 0; i < 3; i++) {
        s[i] = -d[i] / root - p->e[i];
        if (dgamma)
            ds[i] = -p->axes[i] * p->axes[i] * dgamma[i] / root + d[i] * rate / (root * qq);
    }
}

static void newton_rhs(const void *param, const quad *y, quad *f)
{
    const newton *p = param;
    const quad *q = y, *V = y + 7, *O = y + 10;
    quad A[3][3], I[3][3], dgamma[3], s[3], ds[3];
    rotation(q, A);
    memcpy(I, p->I, sizeof I);
    const quad *gamma = A[2]; /* third row of A = A^T e3 */
    cross(gamma, O, dgamma);
    contact_vector(p, gamma, dgamma, s, ds);

    quad L[3], OL[3], OS[3], OOS[3], ODS[3], free[3], freexs[3], force[3], known[3];
    apply(I, O, L);
    cross(O, L, OL);
    solve3(I, OL, free);
    cross(free, s, freexs); /* [I^-1 (Omega x I Omega)] x s */
    cross(O, s, OS);
    cross(O, OS, OOS);
    cross(O, ds, ODS);
    for (int i = 0; i < 3; i++)
        known[i] = p->g * gamma[i] - OOS[i] - ODS[i] + freexs[i];
    quad M[3][3]; /* column j: what a unit force along j does to the left side */
    for (int j = 0; j < 3; j++) {
        quad unit[3] = {0}, moment[3], alpha[3], column[3];
        unit[j] = 1;
        cross(s, unit, moment);
        solve3(I, moment, alpha);
        cross(alpha, s, column);
        for (int i = 0; i < 3; i++)
            M[i][j] = column[i] + unit[i] / p->m;
    }
    solve3(M, known, force);

    quad moment[3], spaceforce[3];
    cross(s, force, moment);
    for (int i = 0; i < 3; i++)
        moment[i] -= OL[i];
    solve3(I, moment, f + 10);
    apply(A, force, spaceforce);
    for (int i = 0; i < 3; i++) {
        f[4 + i] = V[i];
        f[7 + i] = spaceforce[i] / p->m - (i == 2 ? p->g : 0);
    }
    f[0] = -(q[1] * O[0] + q[2] * O[1] + q[3] * O[2]) / 2;
    f[1] = (q[0] * O[0] + q[2] * O[2] - q[3] * O[1]) / 2;
    f[2] = (q[0] * O[1] + q[3] * O[0] - q[1] * O[2]) / 2;
    f[3] = (q[0] * O[2] + q[1] * O[1] - q[2] * O[0]) / 2;
}

/* From quaternion and Omega, with the contact at the origin. */
static void newton_start(const newton *p, const quad *q, const quad *O, quad *y)
{
    quad A[3][3], s[3], v[3], t[3];
    rotation(q, A);
    contact_vector(p, A[2], NULL, s, NULL);
    memcpy(y, q, 4 * sizeof *y);
    memcpy(y + 10, O, 3 * sizeof *y);
    apply(A, s, t);
    cross(s, O, v);
    apply(A, v, y + 7);
    for (int i = 0; i < 3; i++)
        y[4 + i] = -t[i];
}

/* quaternion, Omega, gamma, contact: the components of P1 */
static void newton_finish(const newton *p, const quad *y, quad *end)
{
    quad A[3][3], s[3], t[3];
    rotation(y, A);
    contact_vector(p, A[2], NULL, s, NULL);
    apply(A, s, t);
    memcpy(end, y, 4 * sizeof *y);
    memcpy(end + 4, y + 10, 3 * sizeof *y);
    memcpy(end + 7, A[2], 3 * sizeof *y);
    end[10] = y[4] + t[0];
    end[11] = y[5] + t[1];
}

/* ---- the problems ------------------------------------------------------------------------ */

static void rattleback_call(const void *p, const quad *y, quad *f)
{
    rattleback_rhs_q(p, y, f);
}

static void sleigh_call(const void *p, const quad *y, quad *f)
{
    sleigh_rhs_q(p, y, f);
}

static void sphere_call(const void *p, const quad *y, quad *f)
{
    sphere_rhs_q(p, y, f);
}

static rattleback_q rattleback_param(void)
{
    const quad a = Q(0.2), b = Q(0.03), c = Q(0.02), co = cosf128(Q(0.02)),
               si = sinf128(Q(0.02));
    const quad J1 = (b * b + c * c) / 5, J2 = (a * a + c * c) / 5, J3 = (a * a + b * b) / 5;
    return (rattleback_q){.aa = a * a,
                          .bb = b * b,
                          .cc = c * c,
                          .I11 = co * co * J1 + si * si * J2,
                          .I22 = si * si * J1 + co * co * J2,
                          .I33 = J3,
                          .I12 = co * si * (J1 - J2),
                          .m = 1,
                          .g = Q(9.81)};
}

static sphere_q sphere_param(void)
{
    return (sphere_q){.h1 = Q(0.65),
                      .h2 = -3,
                      .h3 = Q(-6.7),
                      .h4 = Q(20.5),
                      .r = Q(0.06),
                      .g = Q(9.81),
                      .kappa = Q(5.0) / 7};
}

/* slope f', height f, normal n1 = n_x, n3 = n_z at x */
typedef struct profile {
    quad slope, height, n1, n3;
} profile;

static profile profile_at(const sphere_q *p, quad x)
{
    profile at;
    at.slope = p->h1 + x * (p->h2 + x * (p->h3 + x * p->h4));
    at.height = x * (p->h1 + x * (p->h2 / 2 + x * (p->h3 / 3 + x * p->h4 / 4)));
    at.n3 = 1 / sqrtf128(1 + at.slope * at.slope);
    at.n1 = -at.slope * at.n3;
    return at;
}

static void sphere_start(const sphere_q *p, quad *y)
{
    const profile at = profile_at(p, Q(-0.65));
    const quad vx = Q(0.2), vy = Q(-0.3), vz = at.slope * vx;
    const quad start[9] = {Q(-0.65),           Q(0.1),
                           -at.n3 * vy / p->r, (at.n3 * vx - at.n1 * vz) / p->r,
                           at.n1 * vy / p->r,  1};
    memcpy(y, start, sizeof start);
}

/* The twenty components of P3 from the nine of P3min. */
static void sphere_to_paper(const sphere_q *p, const quad *y, quad *end)
{
    const profile at = profile_at(p, y[0]);
    const quad *o = y + 2;
    quad f[9];
    sphere_rhs_q(p, y, f);
    end[0] = y[0] + p->r * at.n1;
    end[1] = y[1];
    end[2] = at.height + p->r * at.n3;
    memcpy(end + 3, y + 5, 4 * sizeof *y);
    end[7] = y[0];
    end[8] = y[1];
    end[9] = at.height;
    end[10] = p->r * (o[1] * at.n3);
    end[11] = p->r * (o[2] * at.n1 - o[0] * at.n3);
    end[12] = -p->r * (o[1] * at.n1);
    memcpy(end + 13, f + 5, 4 * sizeof *y);
    end[17] = f[0];
    end[18] = f[1];
    end[19] = at.slope * f[0];
}

/* Largest difference of components, each scaled by max(1, |component|). */
static double distance(int n, const quad *a, const quad *b)
{
    double largest = 0;
    for (int i = 0; i < n; i++) {
        const double size = fabs((double)b[i]), d = fabs((double)(a[i] - b[i]));
        largest = fmax(largest, d / fmax(1, size));
    }
    return largest;
}

static void finish(const motion *m, const quad *y, quad *end)
{
    if (m->finish)
        m->finish(y, end);
    else
        memcpy(end, y, (size_t)m->n * sizeof *y);
}

/* GBS, through the independent formulation where there is one. */
static void by_gbs(const motion *m, int order, quad tol, quad *end)
{
    quad y[MAX_N];
    if (m->other) {
        newton_start(m->other, m->y0, m->y0 + 4, y);
        quad_gbs(order, tol, newton_rhs, m->other, 13, m->t_end, y);
        newton_finish(m->other, y, end);
    } else {
        memcpy(y, m->y0, sizeof y);
        quad_gbs(order, tol, m->rhs, m->param, m->n, m->t_end, y);
        finish(m, y, end);
    }
}

static void by_gauss(const motion *m, int stages, int steps, quad *end)
{
    quad y[MAX_N];
    memcpy(y, m->y0, sizeof y);
    if (quad_gauss(stages, m->rhs, m->param, m->n, m->t_end, steps, y) != 0) {
        fprintf(stderr, "%s: the iteration of the collocation equations failed\n", m->name);
        exit(1);
    }
    finish(m, y, end);
}

/* ---- against the published motions ------------------------------------------------------- */

static int report(const char *what, double difference, double allowed)
{
    fprintf(stderr, "%-66s %.1e%s\n", what, difference, difference <= allowed ? "" : "  WRONG");
    return difference <= allowed ? 0 : 1;
}

/* Final states of the reference motions, which were computed in 210 bits; 21 digits. */
static int check_published(void)
{
    int wrong = 0;
    quad y[MAX_N], end[MAX_N];

    const newton c = {{Q(0.25), Q(0.18), Q(0.12)},
                      {Q(0.02), Q(-0.015), Q(0.01)},
                      {{Q(0.016), Q(0.0011), Q(-0.0007)},
                       {Q(0.0011), Q(0.024), Q(0.0009)},
                       {Q(-0.0007), Q(0.0009), Q(0.029)}},
                      Q(1.5),
                      Q(9.81)};
    const quad norm = sqrtf128(Q(1.0025)); /* of (0.9, 0.3, -0.2, 0.25) */
    const quad q0[4] = {Q(0.9) / norm, Q(0.3) / norm, Q(-0.2) / norm, Q(0.25) / norm};
    const quad O0[3] = {Q(1.2), Q(-0.8), Q(2.5)};
    const quad c_end[9] = {Q(7.19205457785845840196e-03),  Q(2.97922601095313195618e-01),
                           Q(-5.13691572225934073501e-01), Q(-8.04556627423825246726e-01),
                           Q(7.90920393208025656534e-01),  Q(1.23991256216618540301e+00),
                           Q(-3.14743595386825092064e+00), Q(1.06469495846611503534e-02),
                           Q(1.15979731593412456552e+00)};
    newton_start(&c, q0, O0, y);
    quad_gbs(24, Q(1e-28), newton_rhs, &c, 13, 10, y);
    newton_finish(&c, y, end);
    end[7] = end[10];
    end[8] = end[11];
    wrong += report("c_ellipsoid_plane, Newton-Euler form", distance(9, end, c_end), 1e-20);

    const sleigh_q h2 = {.M = 2, .m = Q(0.7), .J = Q(0.6), .k = 3};
    const quad h2_end[7] = {Q(3.12818432824785241750e-01), Q(5.89199253601544131970e-01),
                            Q(6.38989852193763367862e-01), Q(1.75799257611097083321e+00),
                            Q(1.82957605210704699416e+01), Q(-7.14290009985042537082e-01),
                            Q(2.22450698029091451785e-01)};
    const quad h2_start[7] = {0, Q(0.9), Q(0.66), Q(1.71), Q(0.2), 0, 0};
    memcpy(y, h2_start, sizeof h2_start);
    quad_gbs(24, Q(1e-28), sleigh_call, &h2, 7, 20, y);
    wrong += report("h2_sleigh_oscillator, right-hand side of P2", distance(7, y, h2_end),
                    1e-20);

    const sphere_q a1 = sphere_param();
    const quad a1_end[9] = {Q(-6.61944570224995047431e-01), Q(-1.73137721509805604928e+00),
                            Q(8.41035466336012116857e-01),  Q(1.06622637180897171241e+01),
                            Q(-4.92894852556562626424e+00), Q(-4.36196672980313737025e-01),
                            Q(4.32823237898079926899e-01),  Q(3.54065079252828800527e-01),
                            Q(7.05006685691714135251e-01)};
    sphere_start(&a1, y);
    quad_gbs(24, Q(1e-28), sphere_call, &a1, 9, 10, y);
    wrong += report("a1_sphere_uniform, right-hand side of P3min", distance(9, y, a1_end),
                    1e-20);
    return wrong;
}

/* ---- main -------------------------------------------------------------------------------- */

/* hi + lo carries 106 bits: enough to measure errors of double-precision runs. */
static void write_problem(const char *name, int n, const quad *end, double difference)
{
    const hand_problem *p = hand_problem_find(name);
    const int digits = (int)floor(-log10(difference));
    printf("    {\"%s\",\n     %d,\n     %d,\n     {\n", name, n, digits);
    for (int i = 0; i < n; i++) {
        const double hi = (double)end[i], lo = (double)(end[i] - hi);
        char text[64];
        strfromf128(text, sizeof text, "%.28g", end[i]);
        printf("         /* %s %s */\n         {%a, %a},\n", p->labels[i], text, hi, lo);
    }
    printf("     }},\n");
}

static int check_problem(const char *name, int n, const quad *end, double allowed)
{
    char what[80];
    snprintf(what, sizeof what, "%s, reference.h against a second method", name);
    for (size_t i = 0; i < sizeof bench_references / sizeof *bench_references; i++) {
        const bench_reference *ref = &bench_references[i];
        if (strcmp(ref->name, name) != 0 || ref->n != n)
            continue;
        quad stored[MAX_N];
        for (int k = 0; k < n; k++)
            stored[k] = (quad)ref->value[k][0] + ref->value[k][1];
        return report(what, distance(n, stored, end), allowed);
    }
    return report(what, INFINITY, allowed);
}

int main(int argc, char **argv)
{
    const bool write = argc >= 2 && strcmp(argv[1], "--write") == 0;
    if (argc > (write ? 3 : 1)) {
        fprintf(stderr, "usage: bench_reference_quad [--write [PROBLEM]]\n");
        return 2;
    }
    const char *only = argc == 3 ? argv[2] : NULL; /* its part of the file alone */
    const rattleback_q rb = rattleback_param();
    const newton other = {{Q(0.2), Q(0.03), Q(0.02)},
                          {0},
                          {{rb.I11, rb.I12, 0}, {rb.I12, rb.I22, 0}, {0, 0, rb.I33}},
                          1,
                          Q(9.81)};
    const sleigh_q sl = {.M = 1, .m = 1, .J = 1, .k = 1};
    const sphere_q sp = sphere_param();
    motion motions[4 + REFERENCE_MORE] = {
        {.name = "P1c",
         .n = 12,
         .rhs = rattleback_call,
         .param = &rb,
         .t_end = 20,
         .y0 = {1, 0, 0, 0, Q(0.01), Q(0.02), -3, 0, 0, 1},
         .steps = 5000,
         .other = &other},
        {.name = "P1",
         .n = 12,
         .rhs = rattleback_call,
         .param = &rb,
         .t_end = 20,
         .y0 = {1, 0, 0, 0, Q(0.01), Q(0.02), -5, 0, 0, 1},
         .steps = 12000,
         .other = &other},
        {.name = "P2",
         .n = 7,
         .rhs = sleigh_call,
         .param = &sl,
         .t_end = 100,
         .y0 = {0, 1, 1, Q(0.3)},
         .steps = 1000},
        {.name = "P3min", .n = 9, .rhs = sphere_call, .param = &sp, .t_end = 10, .steps = 4000},
    };
    reference_more(motions + 4);
    sphere_start(&sp, motions[3].y0);

    int wrong = check_published();
    reference_check more[REFERENCE_CHECKS];
    reference_more_check(more);
    for (int i = 0; i < REFERENCE_CHECKS; i++)
        wrong += report(more[i].what, more[i].difference, 1e-20);
    if (write && !only)
        printf("/*\n"
               " * Final states of the problems of the speed table, integrated in quadruple "
               "precision.\n"
               " * Written by   bench_reference_quad --write > bench/problems/reference.h   -- "
               "do not "
               "edit.\n"
               " *\n"
               " * Each component is the sum of two doubles. `digits`: agreement of two "
               "integrations with\n"
               " * different orders and steps; the comment shows 28 digits.\n"
               " */\n"
               "#ifndef BENCH_REFERENCE_H\n"
               "#define BENCH_REFERENCE_H\n\n"
               "typedef struct bench_reference {\n"
               "    const char *name;\n"
               "    int n;\n"
               "    int digits;\n"
               "    double value[40][2];\n"
               "} bench_reference;\n\n"
               "/* clang-format off */\n"
               "static const bench_reference bench_references[] = {\n");
    for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
        const motion *m = &motions[i];
        if (only && strcmp(only, m->name) != 0)
            continue;
        /* errors of P1 grow by ten decades on the way */
        const double allowed = strcmp(m->name, "P1") == 0 ? 1e-15 : 1e-20;
        const int n = m->components ? m->components : m->n;
        quad end[MAX_N], second[MAX_N], paper[MAX_N];
        by_gbs(m, write ? 20 : 28, write ? Q(1e-32) : Q(1e-26), second);
        if (!write) {
            wrong += check_problem(m->name, n, second, allowed);
            if (m->rhs == sphere_call) {
                sphere_to_paper(&sp, second, paper);
                wrong += check_problem("P3", 20, paper, allowed);
            }
            continue;
        }
        quad coarse[MAX_N];
        char what[80];
        by_gauss(m, 20, m->steps, end);
        by_gauss(m, 18, m->steps - m->steps / 5, coarse);
        const double difference = distance(n, coarse, end);
        snprintf(what, sizeof what, "%s, Gauss 20 stages against 18, longer steps", m->name);
        wrong += report(what, difference, allowed);
        snprintf(what, sizeof what, "%s, Gauss against GBS%s", m->name,
                 m->other ? ", Newton-Euler form" : "");
        wrong += report(what, distance(n, second, end), allowed);
        write_problem(m->name, n, end, difference);
        if (m->rhs == sphere_call) {
            sphere_to_paper(&sp, end, paper);
            write_problem("P3", 20, paper, difference);
        }
    }
    if (write && !only)
        printf("};\n/* clang-format on */\n\n#endif\n");
    return wrong ? 1 : 0;
}
