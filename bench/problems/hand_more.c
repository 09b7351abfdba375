/*
 * More problems in double precision: see hand_more.h.
 */
#include "problems/hand_more.h"

#include <math.h>
#include <string.h>

#define RHS_REAL double
#define RHS_FN(name) name
#define RHS_C(x) (x)
#define RHS_SQRT(x) sqrt(x)
#define RHS_SINCOS(x, s, c) (*(s) = sin(x), *(c) = cos(x))
#include "problems/hand_rhs_bodies.inc"
#include "problems/hand_rhs_more.inc"

/* ---- ellipsoid in a bowl ----------------------------------------------------------------- */

static const bowl in_bowl = {.aa = 0.1 * 0.1,
                             .bb = 0.08 * 0.08,
                             .cc = 0.06 * 0.06,
                             .I1 = 0.2 * (0.08 * 0.08 + 0.06 * 0.06),
                             .I2 = 0.2 * (0.1 * 0.1 + 0.06 * 0.06),
                             .I3 = 0.2 * (0.1 * 0.1 + 0.08 * 0.08),
                             .m = 1,
                             .g = 9.81,
                             .k = 1};

static void bowl_call(const double *restrict y, double *restrict f)
{
    bowl_rhs(&in_bowl, y, f);
}

#define DOP853_NAME bowl_dop853
#define DOP853_N 9
#define DOP853_RHS(y, f) bowl_rhs(&in_bowl, y, f)
#include "rivals/hand_dop853.inc"

/* (0.9, 0.3, -0.2, 0.25) normalised; contact (0.25, 0), Omega = (1, 2, 3) */
static const double bowl_y0[9] = {0.898877104990060227,
                                  0.299625701663353409,
                                  -0.199750467775568939,
                                  0.249688084719461174,
                                  1,
                                  2,
                                  3,
                                  0.25,
                                  0};
static const char *const bowl_labels[] = {"quat.w",  "quat.x",    "quat.y",
                                          "quat.z",  "omega.x",   "omega.y",
                                          "omega.z", "contact.x", "contact.y"};

/* ---- falling disk ------------------------------------------------------------------------ */

static const disk falling = {
    .m = 1, .R = 0.3, .g = 9.81, .A = 0.3 * 0.3 / 4, .B = 0.3 * 0.3 / 2};

static void disk_call(const double *restrict y, double *restrict f)
{
    disk_rhs(&falling, y, f);
}

static void disk12_call(const double *restrict y, double *restrict f)
{
    disk12_rhs(&falling, y, f);
}

#define DOP853_NAME disk_dop853
#define DOP853_N 8
#define DOP853_RHS(y, f) disk_rhs(&falling, y, f)
#include "rivals/hand_dop853.inc"

#define DOP853_NAME disk12_dop853
#define DOP853_N 12
#define DOP853_RHS(y, f) disk12_rhs(&falling, y, f)
#include "rivals/hand_dop853.inc"

/* theta = 0.2, psi' = 6, phi' = 1: p1 = A cos(0.2), p2 = (m R^2 + B)(6 + sin(0.2)) */
#define COS 0.980066577841241631124196516748
#define SIN 0.198669330795061215459412627118
#define P1 (0.3 * 0.3 / 4 * COS)
#define P2 (1.5 * 0.3 * 0.3 * (6 + SIN))
static const double disk_y0[8] = {0.2, 0, 0, 0, 0, 0, P1, P2};
static const double disk12_y0[12] = {0.2, 0, 0, 0, 0, 0, P1, P2, COS, SIN, 1, 0};
static const char *const disk_labels[] = {"theta", "psi",    "phi", "x",
                                          "y",     "theta'", "p1",  "p2"};

/* ---- chain ------------------------------------------------------------------------------- */

/* 3 m and 3 kg in all, bent at the start: q_i = 0.6 i/n, at rest. */
static const chain chain5 = {3.0 / 5, 9.81}, chain10 = {3.0 / 10, 9.81};
static const chain chain20 = {3.0 / 20, 9.81}, chain40 = {3.0 / 40, 9.81};
static const chain chain80 = {3.0 / 80, 9.81}, chain300 = {3.0 / 300, 9.81};
static const chain chain1000 = {3.0 / 1000, 9.81};

/* Not inlined: calls cost nothing next to these, and twelve copies would. */
#define CHAIN(n)                                                                               \
    __attribute__((noinline)) static void chain##n##_call(const double *restrict y,            \
                                                          double *restrict f)                  \
    {                                                                                          \
        chain_rhs(&chain##n, n, y, f);                                                         \
    }
CHAIN(5)
CHAIN(10)
CHAIN(20)
CHAIN(40)
CHAIN(80)
CHAIN(300)
CHAIN(1000)

__attribute__((noinline)) static void chain20_full_call(const double *restrict y,
                                                        double *restrict f)
{
    chain_full_rhs(&chain20, 20, y, f);
}

#define DOP853_NAME chain5_dop853
#define DOP853_N 10
#define DOP853_RHS(y, f) chain5_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain10_dop853
#define DOP853_N 20
#define DOP853_RHS(y, f) chain10_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain20_dop853
#define DOP853_N 40
#define DOP853_RHS(y, f) chain20_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain40_dop853
#define DOP853_N 80
#define DOP853_RHS(y, f) chain40_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain80_dop853
#define DOP853_N 160
#define DOP853_RHS(y, f) chain80_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain300_dop853
#define DOP853_N 600
#define DOP853_RHS(y, f) chain300_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain1000_dop853
#define DOP853_N 2000
#define DOP853_RHS(y, f) chain1000_call(y, f)
#include "rivals/hand_dop853.inc"
#define DOP853_NAME chain20_full_dop853
#define DOP853_N 40
#define DOP853_RHS(y, f) chain20_full_call(y, f)
#include "rivals/hand_dop853.inc"

const int hand_chain_lengths[] = {5, 10, 20, 40, 80, 300, 1000, 0};

void hand_chain_start(int n, double *y)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0.6 * (i + 1) / n;
        y[n + i] = 0;
    }
}

int hand_chain_dop853(int n, double t_end, double tol, double *restrict y, hand_stats *stats)
{
    switch (n) {
    case 5:
        return chain5_dop853(t_end, tol, y, stats);
    case 10:
        return chain10_dop853(t_end, tol, y, stats);
    case 20:
        return chain20_dop853(t_end, tol, y, stats);
    case 40:
        return chain40_dop853(t_end, tol, y, stats);
    case 80:
        return chain80_dop853(t_end, tol, y, stats);
    case 300:
        return chain300_dop853(t_end, tol, y, stats);
    case 1000:
        return chain1000_dop853(t_end, tol, y, stats);
    default:
        return -1;
    }
}

/* 0.6 i/20 */
static const double chain_y0[40] = {0.03, 0.06, 0.09, 0.12, 0.15, 0.18, 0.21, 0.24, 0.27, 0.3,
                                    0.33, 0.36, 0.39, 0.42, 0.45, 0.48, 0.51, 0.54, 0.57, 0.6};
static const char *const chain_labels[] = {
    "q1",   "q2",   "q3",   "q4",   "q5",   "q6",   "q7",   "q8",   "q9",   "q10",
    "q11",  "q12",  "q13",  "q14",  "q15",  "q16",  "q17",  "q18",  "q19",  "q20",
    "q1'",  "q2'",  "q3'",  "q4'",  "q5'",  "q6'",  "q7'",  "q8'",  "q9'",  "q10'",
    "q11'", "q12'", "q13'", "q14'", "q15'", "q16'", "q17'", "q18'", "q19'", "q20'"};

/* ---- bicycle ----------------------------------------------------------------------------- */

static bodies whipple; /* filled before main, as are the starts */
static double bicycle_y0[52];

__attribute__((constructor)) static void prepare(void)
{
    bicycle_set(&whipple);
    bicycle_start(bicycle_y0);
}

__attribute__((noinline)) static void bicycle_call(const double *restrict y, double *restrict f)
{
    bodies_rhs(&whipple, y, f);
}

static void bicycle_end(const double *y, double *end)
{
    bicycle_finish(y, end);
}

#define DOP853_NAME bicycle_dop853
#define DOP853_N 52
#define DOP853_RHS(y, f) bicycle_call(y, f)
#include "rivals/hand_dop853.inc"

static const char *const bicycle_labels[] = {
    "R.x",       "R.y",       "R.z",       "R.quat.w", "R.quat.x", "R.quat.y",  "R.quat.z",
    "B.quat.w",  "B.quat.x",  "B.quat.y",  "B.quat.z", "H.quat.w", "H.quat.x",  "H.quat.y",
    "H.quat.z",  "F.quat.w",  "F.quat.x",  "F.quat.y", "F.quat.z", "B.omega.x", "B.omega.y",
    "B.omega.z", "H.omega.x", "H.omega.y", "H.omega.z"};

const hand_problem hand_more_problems[] = {
    {"bowl",
     "triaxial ellipsoid rolling in a paraboloid, 5 s",
     9,
     bowl_labels,
     5,
     {{"quaternion, Omega, contact", 9, bowl_y0, bowl_call, bowl_dop853, NULL, 0}}},
    {"disk",
     "falling disk, 20 s",
     8,
     disk_labels,
     20,
     {{"angles, contact, theta', momenta, sines and cosines", 12, disk12_y0, disk12_call,
       disk12_dop853, NULL, 0},
      {"the same without sines and cosines", 8, disk_y0, disk_call, disk_dop853, NULL, 0}}},
    {"chain",
     "chain of 20 pendulums, 2 s",
     40,
     chain_labels,
     2,
     {{"angles and their rates, by tensions", 40, chain_y0, chain20_call, chain20_dop853, NULL,
       0},
      {"the same with the full mass matrix", 40, chain_y0, chain20_full_call,
       chain20_full_dop853, NULL, 0}}},
    {"bicycle",
     "Whipple bicycle, 4 bodies, 5 s",
     25,
     bicycle_labels,
     5,
     {{"bodies in space, band of constraint forces", 52, bicycle_y0, bicycle_call,
       bicycle_dop853, bicycle_end, 0}}},
};

const int hand_more_count = sizeof hand_more_problems / sizeof *hand_more_problems;
