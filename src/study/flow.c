#define _GNU_SOURCE /* quadruple precision */
#include "study/flow.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/newton.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/dense.h"

/* Singular values of a constraint Jacobian below this part of the largest count as dependent
 * rows. */
static const double dependent = 1e-9;

static void prepare(ns_flow *field, ns_flow_program *out, const ns_program *program)
{
    out->program = program;
    out->outputs = ns_program_nout(program);
    out->work = NS_NEW_ARRAY(field->arena, double, ns_program_work1(program) + 1);
}

ns_flow *ns_flow_new(ns_arena *arena, const ns_problem *problem, double t, const double *p,
                     const double *x)
{
    NS_CHECK(problem->jacobian);
    NS_CHECK(isfinite(t));
    ns_flow *field = NS_NEW(arena, ns_flow);
    field->problem = problem;
    field->system = problem->system;
    field->arena = arena;
    field->scratch = ns_arena_child(arena);
    field->n = problem->n;
    field->m = problem->n_manifold;
    field->np = problem->np;
    field->t = t;
    field->p = NS_NEW_ARRAY(arena, double, field->np + 1);
    field->sigma = NS_NEW_ARRAY(arena, double, field->n + 1);
    prepare(field, &field->rhs, problem->rhs);
    prepare(field, &field->jacobian, problem->jacobian);
    prepare(field, &field->manifold, problem->manifold);
    field->residual = NS_NEW_ARRAY(arena, double, field->manifold.outputs + 1);
    ns_flow_bind(field, p);
    /* the size of a state: its value, how far it moves in a tenth of a second, and never
     * nothing */
    double *f = NS_NEW_ARRAY(arena, double, field->n + 1);
    ns_flow_rhs(field, x, f);
    for (uint32_t i = 0; i < field->n; i++)
        field->sigma[i] = ns_max(fabs(x[i]) + 0.1 * (isfinite(f[i]) ? fabs(f[i]) : 0), 0.1);
    return field;
}

void ns_flow_bind(ns_flow *field, const double *p)
{
    memcpy(field->p, p, field->np * sizeof *p);
    ns_program_bind1(field->rhs.program, field->rhs.work, field->p);
    ns_program_bind1(field->jacobian.program, field->jacobian.work, field->p);
    ns_program_bind1(field->manifold.program, field->manifold.work, field->p);
    for (uint32_t i = 0; i < field->more.n; i++)
        ns_program_bind1(field->more.at[i]->program, field->more.at[i]->work, field->p);
}

ns_flow_program *ns_flow_program_new(ns_flow *field, const ns_ex *out, uint32_t n_out,
                                     const ns_ex *more, uint32_t n_more)
{
    const ns_system *s = field->system;
    ns_ex *x = NS_NEW_ARRAY(field->arena, ns_ex, field->n + n_more + 1);
    for (uint32_t i = 0; i < field->n; i++)
        x[i] = s->states.at[i].symbol;
    for (uint32_t i = 0; i < n_more; i++)
        x[field->n + i] = more[i];
    const ns_program_spec spec = {.graph = s->graph,
                                  .time = s->time,
                                  .x = x,
                                  .p = ns_system_param_symbols(s, field->arena),
                                  .out = out,
                                  .nx = field->n + n_more,
                                  .np = field->np,
                                  .nout = n_out};
    ns_flow_program *made = NS_NEW(field->arena, ns_flow_program);
    prepare(field, made, ns_program_build(field->arena, &spec));
    ns_program_bind1(made->program, made->work, field->p);
    NS_PUSH(field->arena, field->more, made);
    return made;
}

void ns_flow_eval(const ns_flow *field, const ns_flow_program *program, const double *x,
                  double *out)
{
    ns_program_eval1(program->program, program->work, field->t, x, out);
}

void ns_flow_rhs(const ns_flow *field, const double *x, double *f)
{
    ns_program_eval1(field->rhs.program, field->rhs.work, field->t, x, f);
}

void ns_flow_jacobian(const ns_flow *field, const double *x, double *J)
{
    ns_program_eval1(field->jacobian.program, field->jacobian.work, field->t, x, J);
}

void ns_flow_eval_fine(ns_flow *field, ns_flow_program *program, const ns_fine *x, ns_fine *out)
{
#if NS_HAVE_QUAD
    if (!program->fine)
        program->fine = NS_NEW_ARRAY(field->arena, ns_quad,
                                     ns_program_work_quad(program->program) + 1);
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    ns_quad *p = NS_NEW_ARRAY(field->scratch, ns_quad, field->np + 1);
    for (uint32_t i = 0; i < field->np; i++)
        p[i] = field->p[i];
    ns_program_bind_quad(program->program, program->fine, p);
    ns_program_eval_quad(program->program, program->fine, field->t, x, out);
    ns_arena_release(field->scratch, mark);
#else
    ns_flow_eval(field, program, x, out);
#endif
}

#if NS_HAVE_QUAD

/* x and the rows of N[r][n] are moved by steps of least norm to the manifold and its tangent
 * space: residuals in quadruple precision, matrices in double. */
static void fine_tangent(ns_flow *field, ns_quad *x, uint32_t r, ns_quad *N)
{
    enum { ROUNDS = 3 };
    const uint32_t n = field->n, m = field->m;
    ns_arena *a = field->scratch;
    ns_quad *out = NS_NEW_ARRAY(a, ns_quad, field->manifold.outputs + 1);
    const uint32_t columns = r + 1; /* residuals of x, then of the rows of N */
    double *C = NS_NEW_ARRAY(a, double, m + 1), *G = NS_NEW_ARRAY(a, double, (size_t)m * n + 1);
    double *dx = NS_NEW_ARRAY(a, double, n + 1);
    for (int round = 0; round < ROUNDS && m; round++) {
        ns_flow_eval_fine(field, &field->manifold, x, out);
        for (size_t i = 0; i < (size_t)m * n; i++)
            G[i] = (double)out[m + i] * field->sigma[i % n];
        for (uint32_t k = 0; k < columns; k++) {
            ns_quad *row = k ? N + (size_t)(k - 1) * n : x;
            if (k && round == 0) /* not before x is in place */
                break;
            for (uint32_t i = 0; i < m; i++) {
                ns_quad sum = k ? 0 : out[i];
                for (uint32_t j = 0; j < n && k; j++)
                    sum += out[m + (size_t)i * n + j] * row[j];
                C[i] = (double)sum;
            }
            const ns_arena_place mark = ns_arena_mark(a);
            ns_dense_least(a, m, n, G, C, dependent, dx);
            ns_arena_release(a, mark);
            for (uint32_t j = 0; j < n; j++)
                row[j] -= (ns_quad)field->sigma[j] * dx[j];
        }
    }
}

void ns_flow_fine_point(ns_flow *field, const double *x, ns_quad *y)
{
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    for (uint32_t i = 0; i < field->n; i++)
        y[i] = x[i];
    fine_tangent(field, y, 0, NULL);
    ns_arena_release(field->scratch, mark);
}
#endif

void ns_flow_program_along(ns_flow *field, ns_flow_program *program, uint32_t rows,
                           const double *x, uint32_t r, const double *N, double *out,
                           double *rest)
{
    const uint32_t n = field->n;
    ns_arena *a = field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    ns_fine *y = NS_NEW_ARRAY(a, ns_fine, n + 1);
    ns_fine *J = NS_NEW_ARRAY(a, ns_fine, program->outputs + 1);
    ns_fine *basis = NS_NEW_ARRAY(a, ns_fine, (size_t)r * n + 1);
    for (uint32_t i = 0; i < n; i++)
        y[i] = x[i];
    for (size_t i = 0; i < (size_t)r * n; i++)
        basis[i] = N[i];
#if NS_HAVE_QUAD
    fine_tangent(field, y, r, basis);
#endif
    ns_flow_eval_fine(field, program, y, J);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < r; k++) {
            ns_fine sum = 0;
            for (uint32_t j = 0; j < n; j++)
                sum += J[(size_t)i * n + j] * basis[(size_t)k * n + j];
            out[(size_t)i * r + k] = (double)sum;
        }
    for (size_t i = (size_t)rows * n; rest && i < program->outputs; i++)
        rest[i - (size_t)rows * n] = (double)J[i];
    ns_arena_release(a, mark);
}

void ns_flow_along_tangent(ns_flow *field, const double *x, uint32_t r, const double *N,
                           double *JN)
{
    ns_flow_program_along(field, &field->jacobian, field->n, x, r, N, JN, NULL);
}

void ns_flow_manifold(ns_flow *field, const double *x, double *C, double *G)
{
    const uint32_t n = field->n, m = field->m;
    if (!m)
        return;
    ns_program_eval1(field->manifold.program, field->manifold.work, field->t, x,
                     field->residual);
    memcpy(C, field->residual, m * sizeof *C);
    memcpy(G, field->residual + m, (size_t)m * n * sizeof *G);
}

uint32_t ns_flow_complement(ns_arena *scratch, uint32_t m, uint32_t n, const double *A,
                            double tol, double *out)
{
    NS_CHECK(tol >= 0);
    const ns_arena_place mark = ns_arena_mark(scratch);
    uint32_t rank = 0;
    double *V = NS_NEW_ARRAY(scratch, double, (size_t)n * n + 1);
    double *sigma = NS_NEW_ARRAY(scratch, double, (m < n ? m : n) + 1);
    for (uint32_t i = 0; i < n && !m; i++)
        V[(size_t)i * n + i] = 1;
    ns_dense_svd(scratch, m, n, A, sigma, V);
    while (rank < m && rank < n && sigma[rank] > tol * sigma[0] && sigma[0] > 0)
        rank++;
    memcpy(out, V + (size_t)rank * n, (size_t)(n - rank) * n * sizeof *out);
    ns_arena_release(scratch, mark);
    return n - rank;
}

uint32_t ns_flow_tangent(ns_flow *field, const double *x, double *N)
{
    const uint32_t n = field->n, m = field->m;
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *C = NS_NEW_ARRAY(field->scratch, double, m + 1);
    double *G = NS_NEW_ARRAY(field->scratch, double, (size_t)m * n + 1);
    ns_flow_manifold(field, x, C, G);
    double longest = 0;
    for (uint32_t i = 0; i < m; i++) { /* lengths of the rows, in C */
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += G[(size_t)i * n + j] * G[(size_t)i * n + j];
        C[i] = sqrt(sum);
        longest = ns_max(longest, C[i]);
    }
    for (uint32_t i = 0; i < m; i++) /* rows of length one, but for those that vanish */
        for (uint32_t j = 0; j < n; j++)
            G[(size_t)i * n + j] *= C[i] > dependent * longest ? 1 / C[i] : 0;
    const uint32_t dimension = ns_flow_complement(field->scratch, m, n, G, dependent, N);
    ns_arena_release(field->scratch, mark);
    return dimension;
}

/* The shortest dx with G dx = C: rows of G[m][n], which are changed, are made orthonormal, the
 * longest rest first, and dx = sum z_k q_k.  Rows that depend on others by `dependent` are left
 * out: with theirs the others hold. */
static void shortest(uint32_t m, uint32_t n, double *G, double *C, double *dx)
{
    double longest = 0;
    memset(dx, 0, n * sizeof *dx);
    for (uint32_t k = 0; k < m; k++) {
        uint32_t pivot = k;
        double most = 0;
        for (uint32_t i = k; i < m; i++) {
            const double *row = G + (size_t)i * n, length = ns_dense_dot(n, row, row);
            pivot = length > most ? i : pivot;
            most = ns_max(length, most);
        }
        longest = ns_max(longest, sqrt(most));
        if (!(sqrt(most) > dependent * longest))
            return;
        double *q = G + (size_t)k * n, *other = G + (size_t)pivot * n, z = C[pivot];
        for (uint32_t j = 0; j < n && pivot != k; j++) {
            const double swap = q[j];
            q[j] = other[j];
            other[j] = swap;
        }
        C[pivot] = C[k];
        const double one = 1 / sqrt(most);
        z *= one;
        for (uint32_t j = 0; j < n; j++) {
            q[j] *= one;
            dx[j] += z * q[j];
        }
        for (uint32_t i = k + 1; i < m; i++) {
            double *row = G + (size_t)i * n;
            const double part = ns_dense_dot(n, row, q);
            C[i] -= part * z;
            for (uint32_t j = 0; j < n; j++)
                row[j] -= part * q[j];
        }
    }
}

double ns_flow_scale_rows(const ns_flow *field, uint32_t rows, const double *r, double *D,
                          double bare)
{
    double worst = 0;
    for (uint32_t i = 0; i < rows; i++) {
        double size = 0, *row = D + (size_t)i * field->n;
        for (uint32_t j = 0; j < field->n; j++) {
            row[j] *= field->sigma[j];
            size += fabs(row[j]);
        }
        const double ratio = fabs(r[i]) / (size > 0 ? size : bare);
        if (!(ratio <= worst))
            worst = isnan(ratio) ? INFINITY : ratio;
    }
    return worst;
}

typedef struct projection {
    ns_flow *field;
    double *x;
} projection;

/* A row of zeros does not matter: the state cannot be moved for it. */
static double off_manifold(void *context, double *C, double *G)
{
    const projection *p = context;
    ns_flow_manifold(p->field, p->x, C, G);
    return ns_flow_scale_rows(p->field, p->field->m, C, G, INFINITY);
}

static bool solve_shortest(void *context, double *C, double *G, double *dx)
{
    const projection *p = context;
    shortest(p->field->m, p->field->n, G, C, dx);
    return true;
}

bool ns_flow_project(ns_flow *field, double *x)
{
    NS_CHECK(field && x);
    if (!field->m)
        return true;
    projection p = {.field = field, .x = x};
    const ns_newton newton = {.rows = field->m,
                              .columns = field->n,
                              .z = x,
                              .size = field->n,
                              .context = &p,
                              .look = off_manifold,
                              .scale = field->sigma,
                              .solve = solve_shortest,
                              .rounds = 30,
                              .exact = 4e-16,
                              .near = 1e-12,
                              .wild = 1e3};
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    const ns_newton_end end = ns_newton_solve(
        &newton, NS_NEW_ARRAY(field->scratch, double, ns_newton_work(&newton)));
    ns_arena_release(field->scratch, mark);
    return end.settled;
}

void ns_flow_observe(const ns_flow *field, const double *t, const double *x, size_t n,
                     double *out, size_t stride)
{
    const ns_program *program = field->problem->observables;
    const uint32_t columns = field->system->observables.n;
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *work = NS_NEW_ARRAY(field->scratch, double, ns_program_work1(program) + 1);
    double *row = NS_NEW_ARRAY(field->scratch, double, columns + 1);
    ns_program_bind1(program, work, field->p);
    for (size_t k = 0; k < n; k++) {
        ns_program_eval1(program, work, t ? t[k] : field->t, x + k * field->n, row);
        for (uint32_t i = 0; i < columns; i++)
            out[i * stride + k] = row[i];
    }
    ns_arena_release(field->scratch, mark);
}

void ns_flow_param_direction(ns_flow *field, uint32_t over, ns_ex *dp)
{
    const ns_description *d = field->system->description;
    ns_graph *g = field->system->graph;
    const ns_ex *symbols = ns_system_param_symbols(field->system, field->arena);
    for (uint32_t i = 0; i < field->np; i++) {
        if (i == over)
            dp[i] = ns_one(g);
        else
            ns_diff_along(g, &d->params.at[i].value, 1, symbols, dp, i, &dp[i]);
    }
}

bool ns_flow_autonomous(ns_flow *field)
{
    const ns_system *s = field->system;
    if (!s->time)
        return true;
    ns_ex *rate = NS_NEW_ARRAY(field->arena, ns_ex, field->n + s->constraints.n + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < field->n; i++)
        if (ns_graph_depends(s->graph, s->states.at[i].rate, &s->time, 1))
            rate[count++] = ns_diff(s->graph, s->states.at[i].rate, s->time);
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (ns_graph_depends(s->graph, s->constraints.at[i].residual, &s->time, 1))
            rate[count++] = ns_diff(s->graph, s->constraints.at[i].residual, s->time);
    /* time may stand there without effect, as in a table that turns */
    double *value = NS_NEW_ARRAY(field->arena, double, field->n + s->constraints.n + 1);
    double *x = NS_NEW_ARRAY(field->arena, double, field->n + 1);
    uint64_t seed = 1844;
    for (int k = 0; k < 6 && count; k++) {
        for (uint32_t i = 0; i < field->n; i++)
            x[i] = field->sigma[i] * (2 * ns_eval_random(&seed) - 1);
        if (!ns_flow_project(field, x))
            continue;
        ns_system_eval(s, rate, count, field->t + 3 * ns_eval_random(&seed), field->p, x,
                       value);
        for (uint32_t i = 0; i < count; i++)
            if (fabs(value[i]) > 1e-10)
                return false;
    }
    return true;
}

void ns_flow_multiply(uint32_t m, uint32_t k, uint32_t n, const double *A, const double *B,
                      double *C)
{
    memset(C, 0, (size_t)m * n * sizeof *C);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t l = 0; l < k; l++) {
            const double a = A[(size_t)i * k + l];
            for (uint32_t j = 0; j < n; j++)
                C[(size_t)i * n + j] += a * B[(size_t)l * n + j];
        }
}

void ns_flow_multiply_t(uint32_t m, uint32_t k, uint32_t n, const double *A, const double *B,
                        double *C)
{
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t l = 0; l < k; l++)
                sum += A[(size_t)i * k + l] * B[(size_t)j * k + l];
            C[(size_t)i * n + j] = sum;
        }
}
