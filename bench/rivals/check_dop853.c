/*
 * Checks of the hand-written DOP853: its coefficients against all order conditions, and the
 * order it shows.
 *
 * A Runge-Kutta method has order p when for every rooted tree t of at most p nodes
 *
 *     sum_i b_i Phi_i(t) = 1/gamma(t)
 *     Phi_i(t) = product over the branches u of the root of t of sum_j a_ij Phi_j(u)
 *
 * where gamma is the product of the sizes of all subtrees (Butcher). There are 200 trees of at
 * most 8 nodes. In quadruple precision the published 30 digits leave residuals near 1e-29 times
 * the size of the coefficients. The estimators must have orders 5 and 3 exactly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fabsf128 */
#endif

#include "problems/quad_ode.h"

#define DOP853_NUM(x) (__extension__ x##F128)
#include "harness/measure.h"
#include "rivals/hand_dop853_coeffs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STAGES = 12, MAX_NODES = 9 };

#define A_(ij) DOP853_A##ij
#define B_(i) DOP853_B##i
#define E_(i) DOP853_ER##i

static const quad a[STAGES][STAGES] = {
    {0},
    {A_(0201)},
    {A_(0301), A_(0302)},
    {A_(0401), 0, A_(0403)},
    {A_(0501), 0, A_(0503), A_(0504)},
    {A_(0601), 0, 0, A_(0604), A_(0605)},
    {A_(0701), 0, 0, A_(0704), A_(0705), A_(0706)},
    {A_(0801), 0, 0, A_(0804), A_(0805), A_(0806), A_(0807)},
    {A_(0901), 0, 0, A_(0904), A_(0905), A_(0906), A_(0907), A_(0908)},
    {A_(1001), 0, 0, A_(1004), A_(1005), A_(1006), A_(1007), A_(1008), A_(1009)},
    {A_(1101), 0, 0, A_(1104), A_(1105), A_(1106), A_(1107), A_(1108), A_(1109), A_(1110)},
    {A_(1201), 0, 0, A_(1204), A_(1205), A_(1206), A_(1207), A_(1208), A_(1209), A_(1210),
     A_(1211)}};

static const quad c[STAGES] = {0,         DOP853_C2,  DOP853_C3,  DOP853_C4,
                               DOP853_C5, DOP853_C6,  DOP853_C7,  DOP853_C8,
                               DOP853_C9, DOP853_C10, DOP853_C11, 1};

static const quad b[STAGES] = {B_(01), 0,      0,      0,      0,      B_(06),
                               B_(07), B_(08), B_(09), B_(10), B_(11), B_(12)};

static const quad er[STAGES] = {E_(01), 0,      0,      0,      0,      E_(06),
                                E_(07), E_(08), E_(09), E_(10), E_(11), E_(12)};

static const quad bh[STAGES] = {DOP853_BH01, 0, 0,           0, 0, 0,
                                0,           0, DOP853_BH09, 0, 0, DOP853_BH12};

/*
 * A tree is the sequence of the depths of its nodes in depth-first order. Phi of the subtree
 * whose root is node `at` for all stages, and gamma of it multiplied into *gamma; returns the
 * node after the subtree.
 */
static int subtree(const int *depth, int n, int at, quad *phi, quad *gamma)
{
    for (int i = 0; i < STAGES; i++)
        phi[i] = 1;
    int next = at + 1;
    while (next < n && depth[next] > depth[at]) {
        quad branch[STAGES];
        next = subtree(depth, n, next, branch, gamma);
        for (int i = 0; i < STAGES; i++) {
            quad sum = 0;
            for (int j = 0; j < i; j++)
                sum += a[i][j] * branch[j];
            phi[i] *= sum;
        }
    }
    *gamma *= next - at;
    return next;
}

/* The next rooted tree in the order of Beyer and Hedetniemi (1980); false after the last. */
static bool next_tree(int *depth, int n)
{
    int p = n - 1;
    while (p > 0 && depth[p] == 1)
        p--;
    if (p <= 0)
        return false;
    int q = p - 1;
    while (depth[q] != depth[p] - 1)
        q--;
    for (int i = p; i < n; i++)
        depth[i] = depth[i - (p - q)];
    return true;
}

/* Largest residual of the conditions of exactly n nodes for weights w; counts the trees. */
static double residual(const quad *w, int n, int *trees)
{
    int depth[MAX_NODES];
    double largest = 0;
    *trees = 0;
    for (int i = 0; i < n; i++)
        depth[i] = i;
    do {
        quad phi[STAGES], gamma = 1, sum = 0;
        subtree(depth, n, 0, phi, &gamma);
        for (int i = 0; i < STAGES; i++)
            sum += w[i] * phi[i];
        largest = fmax(largest, (double)fabsf128(sum - 1 / gamma));
        ++*trees;
    } while (next_tree(depth, n));
    return largest;
}

/* Conditions up to `order` hold and those after it do not. */
static int check_order(const char *what, const quad *w, int order)
{
    int wrong = 0, all = 0;
    double largest = 0;
    for (int n = 1; n <= order; n++) {
        int trees;
        largest = fmax(largest, residual(w, n, &trees));
        all += trees;
    }
    int trees;
    const double beyond = residual(w, order + 1, &trees);
    wrong += !(largest < 1e-26) + !(beyond > 1e-8);
    printf("%-22s order %d: %3d conditions to %.0e, order %d misses by %.0e%s\n", what, order,
           all, largest, order + 1, beyond, wrong ? "  WRONG" : "");
    return wrong;
}

/* Error against steps between two tolerances: the order that the adaptive code shows. */
static int check_observed(const char *name, double loose, double tight)
{
    bench_problem p;
    if (bench_problem_get(name, &p) != 0)
        return 1;
    double end[HAND_MAX_STATES];
    hand_stats few, many;
    if (hand_problem_c853(p.hand, 0, loose, end, &few) != 0)
        return 1;
    const double e1 = bench_error(&p, end);
    if (hand_problem_c853(p.hand, 0, tight, end, &many) != 0)
        return 1;
    const double e2 = bench_error(&p, end);
    const double order = log(e1 / e2) / log((double)many.steps / (double)few.steps);
    const bool wrong = !(order > 7.5 && order < 9);
    printf("%-22s error %.1e in %ld steps, %.1e in %ld: order %.2f%s\n", name, e1, few.steps,
           e2, many.steps, order, wrong ? "  WRONG" : "");
    return wrong;
}

int main(void)
{
    int wrong = 0;
    double row = 0;
    for (int i = 0; i < STAGES; i++) {
        quad sum = -c[i];
        for (int j = 0; j < i; j++)
            sum += a[i][j];
        row = fmax(row, (double)fabsf128(sum));
    }
    printf("%-22s to %.0e%s\n", "c_i = sum_j a_ij", row, row < 1e-27 ? "" : "  WRONG");
    wrong += !(row < 1e-27);

    quad fifth[STAGES];
    for (int i = 0; i < STAGES; i++)
        fifth[i] = b[i] - er[i];
    wrong += check_order("b", b, 8);
    wrong += check_order("b - er", fifth, 5);
    wrong += check_order("bh", bh, 3);
    wrong += check_observed("P1c", 1e-9, 1e-13);
    wrong += check_observed("P2", 1e-9, 1e-13);
    wrong += check_observed("P3min", 1e-9, 1e-12);
    return wrong ? 1 : 0;
}
