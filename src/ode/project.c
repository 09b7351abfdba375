/* Projection onto the manifold g(t, x) = 0.
 *
 *     x <- x - W G^T (G W G^T)^+ g,     G = dg/dx,  W = diag(w^2)
 *
 * repeated until g vanishes but for rounding errors: the smallest change of the state.  All
 * states count alike, so that vectors and quaternions are changed along themselves and not
 * turned; but velocities (states that are the rate of another) are cheap, so that constraints
 * on velocities change velocities and do not shift the position along the motion; and levels of
 * integrals that are kept (mech/keep.h) do not change.
 *
 * Rows of G are brought to length one and orthogonalised with pivoting; rows that depend on
 * others (redundant constraints) are left out, their residuals vanish with those of the others.
 *
 * A formulation may say itself how the state is to be changed, d = C(t, x) g: an expression in
 * the state and the residuals (system->correction).  Formulation `constrained` takes the
 * smallest change in the metric of the masses, by the sparse factors that its accelerations
 * use, so that the cost grows as theirs with the number of bodies.
 *
 * A state whose residuals are rounding errors already is not touched: the correction would only
 * add noise.  For a rounded state that is  |dg_i| <= eps sum_j |G_ij| size_j.  A state with
 * its low part is known better, and the rounding errors are those of the evaluation, eps times
 * the size of the terms of g: for angles that have grown large this is much less. */
#include <float.h>

#include "mech/common/dense.h"
#include "ode/project.h"
#include "ode/quad/quad_internal.h"

/* A residual g of x + x_lo, for which what x_lo makes of it is added unless it is precise, in
 * units of its rounding error; the larger one of that and `worst`.  G: its derivatives, `count`
 * of them, by the states `column` (NULL: the first ones); terms: size of the terms of g. */
static double judge(const ns_run *run, double *g, const double *G, uint32_t count,
                    const uint32_t *column, double terms, const double *x, const double *x_lo,
                    bool rounded, double worst)
{
    const bool precise = run->s.method->precise;
    double size = 0;
    for (uint32_t e = 0; e < count; e++) {
        const uint32_t j = column ? column[e] : e;
        size += fabs(G[e]) * ns_larger(fabs(x[j]), run->s.size[j]);
        *g += x_lo && !precise ? G[e] * x_lo[j] : 0;
    }
    if (!rounded) /* if the terms vanish themselves, a part of the other size has to do */
        size = ns_smaller(size, ns_larger(terms, NS_PROJECT_TERMS * size));
    const double ratio = fabs(*g) / ((precise ? NS_EPSILON_LOW : DBL_EPSILON) * size);
    return *g != 0 && !(ratio <= worst) ? ratio : worst;
}

/* Evaluates g and G at x + x_lo; returns the largest residual in units of its rounding error,
 * of the state itself if it is to be rounded. */
static double look(ns_run *run, double t, const double *x, const double *x_lo, bool rounded)
{
    const ns_problem *problem = run->s.problem;
    const uint32_t n = run->s.n;
    double worst = 0;
    if (problem->correction) { /* the entries of G that can differ from zero */
        const uint32_t m = problem->n_shift, *start = problem->shift_start;
        double *g = run->shift;
        const double *G = g + m, *terms = G + start[m];
        ns_program_eval1(problem->shift, run->work_shift, t, x, g);
        if (run->s.method->precise)
            ns_quad_residuals(run, t, x, x_lo, false, g);
        for (uint32_t i = 0; i < m; i++)
            worst = judge(run, &g[i], G + start[i], start[i + 1] - start[i],
                          problem->shift_column + start[i], terms[i], x, x_lo, rounded, worst);
        return worst;
    }
    const uint32_t m = problem->n_manifold;
    double *g = run->manifold;
    ns_program_eval1(problem->manifold, run->work_manifold, t, x, g);
    if (run->s.method->precise)
        ns_quad_residuals(run, t, x, x_lo, true, g);
    for (uint32_t i = 0; i < m; i++)
        worst = judge(run, &g[i], g + m + (size_t)i * n, problem->n_reach, NULL,
                      g[m * (n + 1) + i], x, x_lo, rounded, worst);
    return worst;
}

/* The change that the formulation asks for, into run->f. */
static void given_change(ns_run *run, double t, const double *x)
{
    const ns_problem *problem = run->s.problem;
    memcpy(run->shift_inputs, x, problem->n * sizeof(double));
    memcpy(run->shift_inputs + problem->n, run->shift, problem->n_shift * sizeof(double));
    ns_program_eval1(problem->correction, run->work_correction, t, run->shift_inputs, run->f);
}

/* Change of the state in units of w, into run->f. */
static void correction(ns_run *run)
{
    const uint32_t n = run->s.n, m = run->s.problem->n_manifold;
    const uint32_t reach = run->s.problem->n_reach;
    const double *g = run->manifold;
    double *Q = run->basis, *R = run->triangle; /* [m][n], [m][m] */
    double *rhs = R + (size_t)m * m, *norm = rhs + m;
    uint32_t *row = (uint32_t *)(norm + m); /* row[k]: constraint that became k-th */
    for (uint32_t i = 0; i < m; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < reach; j++) {
            const double b = g[m + (size_t)i * n + j] * run->metric[j];
            Q[(size_t)i * n + j] = b;
            sum += b * b;
        }
        const double length = sqrt(sum), scale = length > 0 ? 1 / length : 0;
        for (uint32_t j = 0; j < reach; j++)
            Q[(size_t)i * n + j] *= scale;
        rhs[i] = g[i] * scale;
        norm[i] = length > 0;
        row[i] = i;
    }
    static const double dependent = 1e-9; /* what is left of a row that depends on others */
    memset(run->f, 0, n * sizeof(double));
    for (uint32_t k = 0; k < m; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < m; i++)
            if (norm[row[i]] > norm[row[best]])
                best = i;
        const uint32_t p = row[best];
        row[best] = row[k];
        row[k] = p;
        /* again where much cancelled: Gram-Schmidt is then orthogonal to rounding error */
        double *q = Q + (size_t)p * n, *r = R + (size_t)p * m;
        memset(r, 0, m * sizeof(double));
        double length = 1;
        for (int pass = 0; pass < 2 && k > 0; pass++) {
            const double before = length;
            for (uint32_t l = 0; l < k; l++) {
                const double *ql = Q + (size_t)row[l] * n;
                const double product = ns_dense_dot(reach, q, ql);
                for (uint32_t j = 0; j < reach; j++)
                    q[j] -= product * ql[j];
                r[l] += product;
            }
            length = ns_dense_dot(reach, q, q);
            if (length > 0.5 * before)
                break;
        }
        length = sqrt(ns_dense_dot(reach, q, q));
        if (!(length > dependent))
            break; /* this and all others do */
        double z = rhs[p];
        for (uint32_t l = 0; l < k; l++)
            z -= r[l] * rhs[row[l]];
        z /= length;
        rhs[p] = z; /* from now on the coefficient along q */
        for (uint32_t j = 0; j < reach; j++) {
            q[j] /= length;
            run->f[j] -= z * q[j];
        }
        for (uint32_t i = k + 1; i < m; i++) {
            const double product = ns_dense_dot(reach, Q + (size_t)row[i] * n, q);
            norm[row[i]] = ns_larger(0, norm[row[i]] - product * product);
        }
    }
}

void ns_project_begin(ns_run *run)
{
    const ns_problem *problem = run->s.problem;
    static const double cheap = 1e6; /* velocities */
    for (uint32_t i = 0; i < problem->n; i++)
        run->metric[i] = 1;
    for (uint32_t i = 0; i < problem->n; i++)
        if (problem->source[i] != UINT32_MAX)
            run->metric[problem->source[i]] = problem->correction ? 1 : cheap;
    for (uint32_t i = 0; i < problem->n && !problem->correction; i++)
        if (problem->system->states.at[i].level)
            run->metric[i] = 0;
}

bool ns_project_off(ns_run *run)
{
    static const double much = 1e5; /* rounding errors: steps leave some, tables too */
    const ns_problem *problem = run->s.problem;
    return (problem->n_manifold > 0 || problem->correction) &&
           look(run, run->s.now.t, run->s.x, NULL, true) > much;
}

bool ns_project(ns_run *run, double t, double *x, double *x_lo)
{
    const ns_problem *problem = run->s.problem;
    if (problem->n_manifold == 0 && !problem->correction)
        return false;
    const bool rounded = x_lo == NULL;
    double worst = look(run, t, x, x_lo, rounded);
    if (!(worst > NS_PROJECT_ENOUGH))
        return false;
    const uint32_t n = run->s.n;
    double *x_new = run->x_try, *lo = run->x_try + ns_round8(n);
    memcpy(x_new, x, n * sizeof(double));
    if (x_lo)
        memcpy(lo, x_lo, n * sizeof(double));
    else
        memset(lo, 0, n * sizeof(double));
    bool moved = false;
    for (int round = 0; round < NS_PROJECT_ROUNDS && worst > NS_PROJECT_ENOUGH; round++) {
        if (problem->correction)
            given_change(run, t, x);
        else
            correction(run);
        if (!ns_stepper_finite(run->f, n))
            break;
        for (uint32_t j = 0; j < n; j++)
            ns_add_compensated(&x_new[j], &lo[j], run->f[j] * run->metric[j], 0);
        const double before = worst;
        worst = look(run, t, x_new, lo, rounded);
        if (!(worst < before))
            break;
        memcpy(x, x_new, n * sizeof(double));
        if (x_lo)
            memcpy(x_lo, lo, n * sizeof(double));
        moved = true;
        if (worst > NS_PROJECT_PROGRESS * before)
            break;
    }
    return moved;
}
