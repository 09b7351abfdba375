/*
 * The problems of the speed table, in double precision. Parameters are compile-time constants,
 * so that the compiler folds them into the code, as it would for a program written for this one
 * motion.
 */
#include "problems/hand_problems.h"
#include "problems/hand_more.h"
#include "problems/hand_paper.h"

#include <math.h>
#include <string.h>

/*
 * gcc's straight-line vectoriser packs scalars of the right-hand sides into pairs and loses a
 * tenth of the rattleback's speed by the packing; the loops over states are still vectorised.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

#define RHS_REAL double
#define RHS_FN(name) name
#define RHS_C(x) (x)
#define RHS_SQRT(x) sqrt(x)
#define RHS_SINCOS(x, s, c) (*(s) = sin(x), *(c) = cos(x)) /* gcc makes it one call */
#include "problems/hand_rhs.inc"

/* ---- P1, P1c: rattleback ----------------------------------------------------------------- */

/* Solid ellipsoid, m = 1; principal axes of inertia turned by +0.02 rad about axis 3:
   I = R diag(J1, J2, J3) R^T with R the rotation by 0.02 about axis 3. */
#define COS 0.999800006666577778412695590837
#define SIN 0.0199986666933330793664902946930
#define J1 (0.2 * (0.03 * 0.03 + 0.02 * 0.02))
#define J2 (0.2 * (0.20 * 0.20 + 0.02 * 0.02))
#define J3 (0.2 * (0.20 * 0.20 + 0.03 * 0.03))

static const rattleback p1 = {.aa = 0.2 * 0.2,
                              .bb = 0.03 * 0.03,
                              .cc = 0.02 * 0.02,
                              .I11 = COS * COS * J1 + SIN * SIN * J2,
                              .I22 = SIN * SIN * J1 + COS * COS * J2,
                              .I33 = J3,
                              .I12 = COS * SIN * (J1 - J2),
                              .m = 1,
                              .g = 9.81};

static void p1_rhs(const double *restrict y, double *restrict f)
{
    rattleback_rhs(&p1, y, f);
}

static void p1_quat_rhs(const double *restrict y, double *restrict f)
{
    rattleback9_rhs(&p1, y, f);
}

/* quaternion, Omega, x, y -> the same with gamma = A^T e3 */
static void p1_quat_finish(const double *y, double *end)
{
    memcpy(end, y, 7 * sizeof *y);
    end[7] = 2 * (y[1] * y[3] - y[0] * y[2]);
    end[8] = 2 * (y[2] * y[3] + y[0] * y[1]);
    end[9] = y[0] * y[0] - y[1] * y[1] - y[2] * y[2] + y[3] * y[3];
    end[10] = y[7];
    end[11] = y[8];
}

#define DOP853_NAME p1_dop853
#define DOP853_N 12
#define DOP853_RHS(y, f) rattleback_rhs(&p1, y, f)
#include "rivals/hand_dop853.inc"

#define DOP853_NAME p1_quat_dop853
#define DOP853_N 9
#define DOP853_RHS(y, f) rattleback9_rhs(&p1, y, f)
#include "rivals/hand_dop853.inc"

static const double p1_y0[12] = {1, 0, 0, 0, 0.01, 0.02, -5, 0, 0, 1, 0, 0};
static const double p1_quat_y0[9] = {1, 0, 0, 0, 0.01, 0.02, -5, 0, 0};
static const double p1c_y0[12] = {1, 0, 0, 0, 0.01, 0.02, -3, 0, 0, 1, 0, 0};
static const double p1c_quat_y0[9] = {1, 0, 0, 0, 0.01, 0.02, -3, 0, 0};
static const char *const p1_labels[] = {"quat.w",  "quat.x",  "quat.y",    "quat.z",
                                        "omega.x", "omega.y", "omega.z",   "gamma.x",
                                        "gamma.y", "gamma.z", "contact.x", "contact.y"};

/* ---- P2: sleigh with oscillator ---------------------------------------------------------- */

static const sleigh p2 = {.M = 1, .m = 1, .J = 1, .k = 1};

static void p2_rhs(const double *restrict y, double *restrict f)
{
    sleigh_rhs(&p2, y, f);
}

static void p2_circle_rhs(const double *restrict y, double *restrict f)
{
    sleigh9_rhs(&p2, y, f);
}

#define DOP853_NAME p2_dop853
#define DOP853_N 7
#define DOP853_RHS(y, f) sleigh_rhs(&p2, y, f)
#include "rivals/hand_dop853.inc"

#define DOP853_NAME p2_circle_dop853
#define DOP853_N 9
#define DOP853_RHS(y, f) sleigh9_rhs(&p2, y, f)
#include "rivals/hand_dop853.inc"

static const double p2_y0[7] = {0, 1, 1, 0.3, 0, 0, 0};
static const double p2_circle_y0[9] = {0, 1, 1, 0.3, 0, 0, 0, 1, 0};
static const char *const p2_labels[] = {"r", "r'", "p1", "p2", "theta", "x", "y"};

/* ---- P3min: Udwadia and Mogharabin's (2021) uniform sphere in the fewest states ---------- */

static const sphere p3 = {
    .h1 = 0.65, .h2 = -3, .h3 = -6.7, .h4 = 20.5, .r = 0.06, .g = 9.81, .kappa = 5.0 / 7};

static void p3min_rhs(const double *restrict y, double *restrict f)
{
    sphere_rhs(&p3, y, f);
}

#define DOP853_NAME p3min_dop853
#define DOP853_N 9
#define DOP853_RHS(y, f) sphere_rhs(&p3, y, f)
#include "rivals/hand_dop853.inc"

/* contact (-0.65, 0.1), v_O = (0.2, -0.3, 0.2 f'), omega = n x v_O/r */
static const double p3min_y0[9] = {
    -0.65, 0.1, 0.841005204133082419, 19.8175547365926865, -4.92876356164718784, 1, 0, 0, 0};
static const char *const p3min_labels[] = {"contact.x",     "contact.y",     "omega.space.x",
                                           "omega.space.y", "omega.space.z", "quat.w",
                                           "quat.x",        "quat.y",        "quat.z"};

/* ---- P3: the same motion in the paper's form --------------------------------------------- */

static const char *const p3_labels[] = {
    "centre.x",  "centre.y",  "centre.z",  "quat.w",     "quat.x",     "quat.y",    "quat.z",
    "contact.x", "contact.y", "contact.z", "centre.x'",  "centre.y'",  "centre.z'", "quat.w'",
    "quat.x'",   "quat.y'",   "quat.z'",   "contact.x'", "contact.y'", "contact.z'"};

/* ---- the table --------------------------------------------------------------------------- */

static const hand_problem problems[] = {
    {"P1c",
     "rattleback, spin -3, 20 s",
     12,
     p1_labels,
     20,
     {{"quaternion, Omega, gamma, contact", 12, p1c_y0, p1_rhs, p1_dop853, NULL, 220},
      {"quaternion, Omega, contact", 9, p1c_quat_y0, p1_quat_rhs, p1_quat_dop853,
       p1_quat_finish, 235}}},
    {"P1",
     "rattleback, spin -5, 20 s (passes a separatrix)",
     12,
     p1_labels,
     20,
     {{"quaternion, Omega, gamma, contact", 12, p1_y0, p1_rhs, p1_dop853, NULL, 220},
      {"quaternion, Omega, contact", 9, p1_quat_y0, p1_quat_rhs, p1_quat_dop853, p1_quat_finish,
       235}}},
    {"P2",
     "sleigh with oscillator, 100 s",
     7,
     p2_labels,
     100,
     {{"r, r', p1, p2, theta, x, y, cos and sin of theta", 9, p2_circle_y0, p2_circle_rhs,
       p2_circle_dop853, NULL, 15},
      {"r, r', p1, p2, theta, x, y", 7, p2_y0, p2_rhs, p2_dop853, NULL, 13}}},
    {"P3min",
     "uniform sphere on surface (65), fewest states, 10 s",
     9,
     p3min_labels,
     10,
     {{"contact, omega in space, quaternion", 9, p3min_y0, p3min_rhs, p3min_dop853, NULL, 57}}},
    {"P3",
     "the same in the paper's form, eq (45) with energy row, 10 s",
     20,
     p3_labels,
     10,
     {{"centre, quaternion, contact and their rates", 20, hand_paper_y0, hand_paper_rhs,
       hand_paper_dop853, NULL, 0}}},
};

const hand_problem *hand_problem_at(int i)
{
    const int count = (int)(sizeof problems / sizeof *problems);
    if (i >= count && i < count + hand_more_count)
        return &hand_more_problems[i - count];
    return i >= 0 && i < count ? &problems[i] : NULL;
}

const hand_problem *hand_problem_find(const char *name)
{
    for (int i = 0; hand_problem_at(i); i++)
        if (strcmp(hand_problem_at(i)->name, name) == 0)
            return hand_problem_at(i);
    return NULL;
}

int hand_problem_c853(const hand_problem *p, int form, double tol, double *end,
                      hand_stats *stats)
{
    const hand_form *f = &p->forms[form];
    double y[HAND_MAX_STATES];
    memcpy(y, f->y0, (size_t)f->n * sizeof *y);
    const int status = f->dop853(p->t_end, tol, y, stats);
    if (f->finish)
        f->finish(y, end);
    else
        memcpy(end, y, (size_t)p->n * sizeof *y);
    return status;
}
