/* Route `pinv`: accelerations by eq (42) of Udwadia and Mogharabin 2021, with Moore-Penrose
 * inverses from singular value decompositions,
 *
 *     a = [ (I - A^+ A) M ; A ]^+ [ (I - A^+ A) Q ; b ].
 *
 * Matrices and forces come from the graph, on eight lanes; each lane is then solved by itself.
 *
 * Scaling.  With a = S z, S = diag(1/sqrt(M_ii)) (1 without mass), the mass matrix becomes S M
 * S with ones on its diagonal, and rows of A S are brought to length one together with b.  None
 * of this changes a where (42) determines it, and singular values can then be compared with 1.
 *
 * Rank.  Stages of an integrator lie off the constraints, by 1e-8 perhaps; there a dependent
 * row is only nearly dependent, and its singular value that small.  Values below `small` count
 * as zero: the right-hand side is then smooth, the rank being that of the constraints
 * themselves.
 *
 * There is no Taylor rule: method taylor is refused with this route. */
#include "ode/pinv.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/algebra.h"
#include "base/math/vecmath.h"

static const double small = 1e-6;

/* Outputs of the program: entries of the watch, Q, b, and the rates that are no
 * accelerations. */
const ns_ex *ns_pinv_outputs(const ns_system *system, ns_arena *arena, uint32_t *count)
{
    const ns_rank_watch *w = system->watch;
    *count = 0;
    if (!w || !w->pinv)
        return NULL;
    ns_ex *out = NS_NEW_ARRAY(arena, ns_ex, w->entries.n + w->n + w->m + system->states.n);
    for (uint32_t k = 0; k < w->entries.n; k++)
        out[(*count)++] = w->entries.at[k].value;
    for (uint32_t i = 0; i < w->n; i++)
        out[(*count)++] = w->Q[i];
    for (uint32_t k = 0; k < w->m; k++)
        out[(*count)++] = w->b[k];
    for (uint32_t i = 0; i < system->states.n; i++)
        if (i < w->first || i >= w->first + w->n)
            out[(*count)++] = system->states.at[i].rate;
    return out;
}

/* Places in the work block. */
typedef struct room {
    double *work1, *work8, *out, *out8; /* of the program */
    double *M, *A, *N, *B, *y, *scale;  /* n x n, m x n, n x n, (n+m) x n, n+m, n */
    double *sigma, *V, *algebra;        /* n, n x n, work space of algebra.h */
} room;

static room rooms(const ns_problem *problem, ns_layout *l)
{
    const ns_rank_watch *w = problem->system->watch;
    const size_t n = w->n, m = w->m, rows = n + m, out = ns_program_nout(problem->pinv);
    room r;
    r.work8 = ns_layout_doubles(l, ns_program_work8(problem->pinv));
    r.out8 = ns_layout_doubles(l, 8 * out);
    r.work1 = ns_layout_doubles(l, ns_program_work1(problem->pinv));
    r.out = ns_layout_doubles(l, out);
    r.M = ns_layout_doubles(l, n * n);
    r.A = ns_layout_doubles(l, m * n);
    r.N = ns_layout_doubles(l, n * n);
    r.B = ns_layout_doubles(l, rows * n);
    r.y = ns_layout_doubles(l, rows);
    r.scale = ns_layout_doubles(l, n);
    r.sigma = ns_layout_doubles(l, n);
    r.V = ns_layout_doubles(l, n * n);
    r.algebra = ns_layout_doubles(l, ns_algebra_svd_work(w->n + w->m, w->n));
    return r;
}

double *ns_pinv_layout(const ns_problem *problem, ns_layout *l)
{
    double *work = ns_layout_here(l);
    rooms(problem, l);
    return work;
}

static room rooms_in(const ns_problem *problem, double *work)
{
    NS_CHECK(work && problem->pinv);
    return rooms(problem, &(ns_layout){.base = work});
}

void ns_pinv_bind(const ns_problem *problem, double *work, const double *p, const double *p8)
{
    const room r = rooms_in(problem, work);
    ns_program_bind1(problem->pinv, r.work1, p);
    ns_program_bind8(problem->pinv, r.work8, p8);
}

/* N = I - A^+ A, from the right singular vectors of A. */
static bool kernel_of_constraints(const ns_rank_watch *w, const room *r)
{
    const uint32_t n = w->n, least = w->m < n ? w->m : n;
    if (!ns_algebra_svd(w->m, n, r->A, r->sigma, r->V, r->algebra))
        return false;
    uint32_t rank = 0;
    while (rank < least && r->sigma[rank] > small * ns_max(1e-300, r->sigma[0]))
        rank++;
    memset(r->N, 0, (size_t)n * n * sizeof(double));
    for (uint32_t i = 0; i < n; i++) {
        r->N[(size_t)i * n + i] = 1;
        for (uint32_t k = 0; k < rank; k++)
            for (uint32_t j = 0; j < n; j++)
                r->N[(size_t)i * n + j] -= r->V[(size_t)k * n + i] * r->V[(size_t)k * n + j];
    }
    return true;
}

static void not_numbers(uint32_t n, double *a)
{
    for (uint32_t i = 0; i < n; i++)
        a[i] = NAN;
}

/* a from r->out by (42). */
static void accelerations(const ns_rank_watch *w, const room *r, double *a)
{
    const uint32_t n = w->n, m = w->m, rows = n + m;
    const double *Q = r->out + w->entries.n, *b = Q + n;
    double sum = 0;
    for (uint32_t k = 0; k < w->entries.n + rows; k++)
        sum += r->out[k] - r->out[k];
    if (!(sum == 0)) {
        not_numbers(n, a);
        return;
    }
    memset(r->M, 0, (size_t)n * n * sizeof(double));
    memset(r->A, 0, (size_t)m * n * sizeof(double));
    for (uint32_t k = 0; k < w->entries.n; k++) {
        const ns_rank_entry *e = &w->entries.at[k];
        double *to = e->row < m ? r->A + (size_t)e->row * n : r->M + (size_t)(e->row - m) * n;
        to[e->column] = r->out[k];
    }
    for (uint32_t i = 0; i < n; i++) {
        const double mass = r->M[(size_t)i * n + i];
        r->scale[i] = mass > 0 ? 1 / sqrt(mass) : 1;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            r->M[(size_t)i * n + j] *= r->scale[i] * r->scale[j];
    for (uint32_t k = 0; k < m; k++) {
        double *row = r->A + (size_t)k * n, square = 0;
        for (uint32_t j = 0; j < n; j++) {
            row[j] *= r->scale[j];
            square += row[j] * row[j];
        }
        const double length = square > 0 ? sqrt(square) : 1;
        for (uint32_t j = 0; j < n; j++)
            row[j] /= length;
        r->y[n + k] = b[k] / length;
    }
    if (!kernel_of_constraints(w, r)) {
        not_numbers(n, a);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        double *row = r->B + (size_t)i * n;
        memset(row, 0, n * sizeof(double));
        r->y[i] = 0;
        for (uint32_t l = 0; l < n; l++) {
            const double part = r->N[(size_t)i * n + l];
            r->y[i] += part * r->scale[l] * Q[l];
            for (uint32_t j = 0; j < n; j++)
                row[j] += part * r->M[(size_t)l * n + j];
        }
    }
    memcpy(r->B + (size_t)n * n, r->A, (size_t)m * n * sizeof(double));
    uint32_t rank;
    ns_algebra_least(rows, n, r->B, r->y, small, a, &rank, r->algebra);
    for (uint32_t j = 0; j < n; j++)
        a[j] *= r->scale[j];
}

/* All rates of one lane from r->out; f has the given stride. */
static void rates(const ns_problem *problem, const room *r, double *f, uint32_t stride)
{
    const ns_rank_watch *w = problem->system->watch;
    const double *other = r->out + w->entries.n + w->n + w->m;
    double *a = r->N; /* free again when it is written */
    accelerations(w, r, a);
    for (uint32_t i = 0; i < problem->n; i++)
        f[(size_t)i * stride] = i >= w->first && i < w->first + w->n ? a[i - w->first]
                                                                     : *other++;
}

void ns_pinv_rhs(const ns_problem *problem, double *work, double t, const double *x, double *f)
{
    const room r = rooms_in(problem, work);
    ns_program_eval1(problem->pinv, r.work1, t, x, r.out);
    rates(problem, &r, f, 1);
}

void ns_pinv_rhs8(const ns_problem *problem, double *work, const double *t, const double *x,
                  double *f)
{
    const room r = rooms_in(problem, work);
    const uint32_t count = ns_program_nout(problem->pinv);
    ns_program_eval8(problem->pinv, r.work8, t, x, r.out8);
    for (uint32_t lane = 0; lane < 8; lane++) {
        for (uint32_t k = 0; k < count; k++)
            r.out[k] = r.out8[8 * (size_t)k + lane];
        rates(problem, &r, f + lane, 8);
    }
}
