/*
 * Problem P3 in double precision: see hand_paper.h. Titanium, 4500 kg/m^3; kappa^2 = 0.02 as in
 * the paper's section 4.
 */
#include "problems/hand_paper.h"

#include <math.h>

#define RHS_REAL double
#define RHS_FN(name) name
#define RHS_C(x) (x)
#define RHS_SQRT(x) sqrt(x)
#define RHS_SINCOS(x, s, c) (*(s) = sin(x), *(c) = cos(x))
#include "problems/hand_rhs.inc"
#include "problems/hand_rhs_paper.inc"

#define PI 3.141592653589793238462643383280
#define MASS (4.0 / 3 * PI * 0.06 * 0.06 * 0.06 * 4500)

static const sphere p3 = {.h1 = 0.65,
                          .h2 = -3,
                          .h3 = -6.7,
                          .h4 = 20.5,
                          .r = 0.06,
                          .g = 9.81,
                          .m = MASS,
                          .J = 0.4 * MASS * 0.06 * 0.06,
                          .kappa2 = 0.02};

/* Contact (-0.65, 0.1), v_O = (0.2, -0.3, 0.2 f'), no spin about the normal, as in P3min. */
const double hand_paper_y0[20] = {-0.590854837260233746,
                                  0.1,
                                  0.482015760366263656,
                                  1,
                                  0,
                                  0,
                                  0,
                                  -0.65,
                                  0.1,
                                  0.471923697916666667,
                                  0.2,
                                  -0.3,
                                  -1.1721125,
                                  0,
                                  0.420502602066541210,
                                  9.90877736829634323,
                                  -2.46438178082359392,
                                  0.201826370251534374,
                                  -0.3,
                                  -1.18281605700725792};

void hand_paper_rhs(const double *restrict y, double *restrict f)
{
    paper_rhs(&p3, y, f);
}

/* Not inlined: a call costs nothing next to two factorisations, and twelve copies would. */
#define DOP853_NAME dop853
#define DOP853_N 20
#define DOP853_RHS(y, f) hand_paper_rhs(y, f)
#include "rivals/hand_dop853.inc"

int hand_paper_dop853(double t_end, double tol, double *restrict y, hand_stats *stats)
{
    return dop853(t_end, tol, y, stats);
}
