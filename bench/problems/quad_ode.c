/*
 * Two integrators in quadruple precision for reference solutions (see quad_ode.h). Slow and
 * simple.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fabsf128 */
#endif

#include "problems/quad_ode.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_STAGES = 24 };

/* ---- Gauss collocation ------------------------------------------------------------------- */

typedef struct gauss_table {
    quad a[MAX_STAGES][MAX_STAGES], b[MAX_STAGES];
    /* slopes at the next step's stages from those at this step's, by extrapolation */
    quad next[MAX_STAGES][MAX_STAGES];
} gauss_table;

/* P_0 .. P_n at x */
static void legendre(int n, quad x, quad *p)
{
    p[0] = 1;
    p[1] = x;
    for (int k = 1; k < n; k++)
        p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

/*
 * Nodes on (-1, 1) are the zeros of P_s, by Newton's method. The Lagrange polynomial of node j
 * is w_j sum_k (2k+1)/2 P_k(x_j) P_k(x) for k < s, and the integral of P_k is (P_{k+1} -
 * P_{k-1})/(2k+1), which gives a_ij without cancellation.
 */
static void gauss_make(gauss_table *g, int s)
{
    quad x[MAX_STAGES], w[MAX_STAGES], p[MAX_STAGES + 2], at[MAX_STAGES][MAX_STAGES + 2];
    for (int i = 0; i < s; i++) {
        quad z = -(quad)cos(M_PI * (i + 0.75) / (s + 0.5));
        quad slope = 1;
        for (int it = 0; it < 8; it++) {
            legendre(s, z, p);
            slope = s * (z * p[s] - p[s - 1]) / (z * z - 1);
            z -= p[s] / slope;
        }
        legendre(s, z, p);
        slope = s * (z * p[s] - p[s - 1]) / (z * z - 1);
        x[i] = z;
        w[i] = 2 / ((1 - z * z) * slope * slope);
        legendre(s, z, at[i]);
    }
    for (int i = 0; i < s; i++) {
        g->b[i] = w[i] / 2;
        for (int j = 0; j < s; j++) {
            quad sum = (1 + x[i]) / 2;
            for (int k = 1; k < s; k++)
                sum += at[j][k] * (at[i][k + 1] - at[i][k - 1]) / 2;
            g->a[i][j] = w[j] * sum / 2;
        }
        /* node i of the next step lies at x[i] + 2 of this one */
        legendre(s, x[i] + 2, p);
        for (int j = 0; j < s; j++) {
            quad sum = 0;
            for (int k = 0; k < s; k++)
                sum += (2 * k + 1) * at[j][k] * p[k] / 2;
            g->next[i][j] = w[j] * sum;
        }
    }
}

int quad_gauss(int s, quad_rhs *rhs, const void *param, int n, quad t_end, int steps, quad *y)
{
    assert(s > 1 && s <= MAX_STAGES && n <= QUAD_MAX_N);
    gauss_table table;
    const gauss_table *g = &table;
    gauss_make(&table, s);
    const quad h = t_end / steps;
    quad f[MAX_STAGES][QUAD_MAX_N], guess[MAX_STAGES][QUAD_MAX_N], carry[QUAD_MAX_N] = {0};
    rhs(param, y, f[0]);
    for (int i = 1; i < s; i++)
        memcpy(f[i], f[0], sizeof f[0]);
    for (int step = 0; step < steps; step++) {
        quad last = INFINITY;
        for (int it = 0;; it++) {
            /* Gauss-Seidel: a stage uses the newest values of the others. */
            quad change = 0;
            for (int i = 0; i < s; i++) {
                quad Y[QUAD_MAX_N], F[QUAD_MAX_N];
                for (int k = 0; k < n; k++) {
                    quad sum = 0;
                    for (int j = 0; j < s; j++)
                        sum += g->a[i][j] * f[j][k];
                    Y[k] = y[k] + h * sum;
                }
                rhs(param, Y, F);
                for (int k = 0; k < n; k++) {
                    const quad d = fabsf128(F[k] - f[i][k]) * h;
                    change = d > change ? d : change;
                    f[i][k] = F[k];
                }
            }
            if (change < Q(1e-36) || (change < Q(1e-31) && change >= last / 2))
                break;
            if (it > 200 || !(change < 1e10))
                return -1;
            last = change;
        }
        for (int k = 0; k < n; k++) {
            quad sum = 0;
            for (int j = 0; j < s; j++)
                sum += g->b[j] * f[j][k];
            const quad d = h * sum + carry[k], new = y[k] + d;
            carry[k] = d - (new - y[k]);
            y[k] = new;
        }
        for (int i = 0; i < s; i++)
            for (int k = 0; k < n; k++) {
                quad sum = 0;
                for (int j = 0; j < s; j++)
                    sum += g->next[i][j] * f[j][k];
                guess[i][k] = sum;
            }
        memcpy(f, guess, sizeof f);
    }
    return 0;
}

/* ---- extrapolation (Gragg, Bulirsch, Stoer) ---------------------------------------------- */

/*
 * Step control: the last two entries of the extrapolation table differ by about the error of
 * the second to last, of order 2k - 2; a step is taken when that is below tol.
 */
int quad_gbs(int order, quad tol, quad_rhs *rhs, const void *param, int n, quad t_end, quad *y)
{
    const int rows = order / 2;
    assert(rows > 1 && rows <= MAX_STAGES && n <= QUAD_MAX_N);
    quad carry[QUAD_MAX_N] = {0};
    quad t = 0, H = t_end / 10000;
    int steps = 0;
    for (bool done = false; !done;) {
        done = t + H * Q(1.0001) >= t_end;
        if (done)
            H = t_end - t;
        /* Aitken-Neville in h^2 on the increments: T[i] is extrapolated from rows i .. j */
        quad f0[QUAD_MAX_N], T[MAX_STAGES][QUAD_MAX_N], err = 0;
        rhs(param, y, f0);
        for (int j = 0; j < rows; j++) {
            const int sub = 2 * (j + 1);
            const quad h = H / sub;
            quad a[QUAD_MAX_N] = {0}, b[QUAD_MAX_N], Y[QUAD_MAX_N], f[QUAD_MAX_N];
            for (int k = 0; k < n; k++)
                b[k] = h * f0[k];
            for (int i = 1; i < sub; i++) {
                for (int k = 0; k < n; k++)
                    Y[k] = y[k] + b[k];
                rhs(param, Y, f);
                for (int k = 0; k < n; k++) {
                    const quad c = a[k] + 2 * h * f[k];
                    a[k] = b[k];
                    b[k] = c;
                }
            }
            for (int k = 0; k < n; k++)
                Y[k] = y[k] + b[k];
            rhs(param, Y, f);
            for (int k = 0; k < n; k++)
                T[j][k] = (a[k] + b[k] + h * f[k]) / 2;
            for (int i = j - 1; i >= 0; i--) {
                const quad ratio = (quad)(j + 1) / (i + 1);
                for (int k = 0; k < n; k++)
                    T[i][k] = T[i + 1][k] + (T[i + 1][k] - T[i][k]) / (ratio * ratio - 1);
            }
        }
        for (int k = 0; k < n; k++) {
            const quad size = fabsf128(y[k]),
                       d = fabsf128(T[0][k] - T[1][k]) / (size > 1 ? size : 1);
            err = d > err ? d : err;
        }
        const double factor = 0.9 * pow((double)(err / tol) + 1e-30, -1.0 / (order - 1));
        if (err > tol) {
            H *= factor < 0.2 ? 0.2 : factor;
            done = false;
            continue;
        }
        for (int k = 0; k < n; k++) {
            const quad d = T[0][k] + carry[k], new = y[k] + d;
            carry[k] = d - (new - y[k]);
            y[k] = new;
        }
        t += H;
        H *= factor > 2 ? 2 : factor;
        steps++;
    }
    return steps;
}
