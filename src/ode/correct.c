/* Projection where the formulation says how: the change of the state is an expression in the
 * state and the residuals, d = C(t, x) g (system->correction).  Formulation `constrained` takes
 * the smallest change in the metric of the masses, by the sparse factors that its accelerations
 * use, so that the cost grows as theirs with the number of bodies.
 *
 * Residuals are those of x + x_lo: g(x) + G x_lo with the entries of G that can differ from
 * zero. */
#include <float.h>

#include "ode/quad/quad_internal.h"

double ns_correct_residuals(ns_run *run, double t, const double *x, const double *x_lo,
                            bool rounded)
{
    const ns_problem *problem = run->s.problem;
    const uint32_t m = problem->n_shift, *start = problem->shift_start;
    double *g = run->shift;
    const double *G = g + m, *terms = G + start[m];
    ns_program_eval1(problem->shift, run->work_shift, t, x, g);
    const bool precise = run->s.method->precise;
    if (precise)
        ns_quad_residuals(run, t, x, x_lo, false, g);
    double worst = 0;
    for (uint32_t i = 0; i < m; i++) {
        double size = 0;
        for (uint32_t e = start[i]; e < start[i + 1]; e++) {
            const uint32_t j = problem->shift_column[e];
            size += fabs(G[e]) * ns_larger(fabs(x[j]), run->s.size[j]);
            g[i] += x_lo && !precise ? G[e] * x_lo[j] : 0;
        }
        if (!rounded) /* if the terms vanish themselves, a part of the other size has to do */
            size = ns_smaller(size, ns_larger(terms[i], 1e-3 * size));
        const double ratio = fabs(g[i]) / ((precise ? NS_EPSILON_LOW : DBL_EPSILON) * size);
        if (g[i] != 0 && !(ratio <= worst))
            worst = ratio;
    }
    return worst;
}

void ns_correct_change(ns_run *run, double t, const double *x)
{
    const ns_problem *problem = run->s.problem;
    memcpy(run->shift_inputs, x, problem->n * sizeof(double));
    memcpy(run->shift_inputs + problem->n, run->shift, problem->n_shift * sizeof(double));
    ns_program_eval1(problem->correction, run->work_correction, t, run->shift_inputs, run->f);
}
