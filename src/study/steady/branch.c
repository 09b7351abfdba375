/* Branches of steady motions in a parameter, by pseudo-arclength.
 *
 * Unknowns y = (x/sigma, c, parameter/scale).  Rows: the equations of a steady motion, F(y) =
 * 0; the choice of one member of the family,
 *
 *     k^T (x - x_s(parameter)) = 0    for all directions k of the family (the kernel of dF/d(x,
 *                                     c)),
 *
 * with x_s the model's own start: the nearest member; and the hyperplane of the step,
 * w^T (y - predicted) = 0.  The kernel is taken at the solution itself, by a second pass. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/steady/branch_internal.h"

enum { MOST_POINTS = 4000, LEAST_POINTS = 40 };

double ns_branch_parameter(const ns_follower *w, const double *y)
{
    return y[w->q->N] * w->q->scale + 0.0; /* no -0 */
}

void ns_branch_unpack(ns_follower *w, const double *y)
{
    const ns_steady *q = w->q;
    for (uint32_t i = 0; i < q->n; i++)
        w->x[i] = y[i] * q->field->sigma[i];
    memcpy(w->c, y + q->n, q->g->count * sizeof *y);
}

static void pack(const ns_follower *w, const double *x, const double *c, double parameter,
                 double *y)
{
    const ns_steady *q = w->q;
    for (uint32_t i = 0; i < q->n; i++)
        y[i] = x[i] / q->field->sigma[i];
    memcpy(y + q->n, c, q->g->count * sizeof *y);
    y[q->N] = parameter / q->scale;
}

/* The model's start at the parameter, and its derivative: set states follow their formulas, the
 * free ones give way. */
static bool look_at_start(ns_follower *w)
{
    ns_steady *q = w->q;
    const ns_system *s = q->field->system;
    const uint32_t n = q->n, m = s->constraints.n + s->start.extra.n;
    ns_arena *a = q->field->scratch;
    if (!ns_system_start(s, q->diag, q->field->t, q->p, q->start))
        return false;
    ns_system_eval(s, q->start_value, n, q->field->t, q->p, NULL, q->start_rate);
    if (!m)
        return true;
    const ns_arena_place mark = ns_arena_mark(a);
    double *r = NS_NEW_ARRAY(a, double, m), *J = NS_NEW_ARRAY(a, double, (size_t)m * n);
    double *A = NS_NEW_ARRAY(a, double, (size_t)m * n), *dx = NS_NEW_ARRAY(a, double, n + 1);
    uint32_t columns = 0;
    ns_system_eval(s, q->start_residual, m, q->field->t, q->p, q->start, r);
    ns_system_eval_dense(s, s->start.jacobian, q->field->t, q->p, q->start, J);
    for (uint32_t j = 0; j < n; j++)
        columns += s->start.free[j];
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0, k = 0; j < n; j++) {
            r[i] += J[(size_t)i * n + j] * q->start_rate[j];
            if (s->start.free[j])
                A[(size_t)i * columns + k++] = J[(size_t)i * n + j];
        }
    ns_dense_least(a, m, columns, A, r, 1e-10, dx);
    for (uint32_t j = 0, k = 0; j < n; j++)
        if (s->start.free[j])
            q->start_rate[j] -= dx[k++];
    ns_arena_release(a, mark);
    return true;
}

/* Rows of F and of the choice (with the kernel K) at y; false where they are not defined. */
bool ns_branch_look(ns_follower *w, const double *y, const double *K)
{
    ns_steady *q = w->q;
    const uint32_t N = q->N, n = q->n, M = N + 1;
    ns_steady_parameter(q, ns_branch_parameter(w, y));
    ns_branch_unpack(w, y);
    if (!look_at_start(w))
        return false;
    ns_steady_look(q, w->x, w->c, w->r0, w->D0);
    ns_flow_eval(q->field, q->by_parameter, w->x, q->by);
    for (uint32_t i = 0; i < q->rows; i++) {
        memcpy(w->D + (size_t)i * M, w->D0 + (size_t)i * N, N * sizeof *w->D);
        w->r[i] = w->r0[i];
        w->D[(size_t)i * M + N] = q->by[i] * q->scale / (i < n ? q->field->sigma[i] : 1);
        if (!isfinite(w->r[i]))
            return false;
    }
    for (uint32_t l = 0; l < w->k; l++) {
        double *row = w->D + (size_t)(q->rows + l) * M, sum = 0, rate = 0, size = 0;
        const double *direction = K + (size_t)l * N;
        memset(row, 0, M * sizeof *row);
        for (uint32_t i = 0; i < n; i++)
            size += direction[i] * direction[i];
        const bool speeds = size < 1e-12; /* a symmetry that does not move the state */
        for (uint32_t i = speeds ? n : 0; i < (speeds ? N : n); i++) {
            row[i] = direction[i];
            sum += direction[i] * (i < n ? y[i] - q->start[i] / q->field->sigma[i] : y[i]);
            rate += i < n ? direction[i] * q->start_rate[i] / q->field->sigma[i] : 0;
        }
        row[N] = -rate * q->scale;
        w->r[q->rows + l] = sum;
    }
    return true;
}

/* Kernel of dF/d(x, c) after `look`: found if k is not known yet. */
static void kernel(ns_follower *w, bool find, double *K)
{
    const ns_steady *q = w->q;
    ns_arena *a = q->field->scratch;
    const uint32_t N = q->N;
    const ns_arena_place mark = ns_arena_mark(a);
    double *V = NS_NEW_ARRAY(a, double, (size_t)N * N);
    const uint32_t least = q->rows < N ? q->rows : N;
    double *sigma = NS_NEW_ARRAY(a, double, least + 1);
    ns_dense_svd(a, q->rows, N, w->D0, sigma, V);
    if (find)
        for (w->k = N - least; w->k < N && sigma[N - 1 - w->k] <= 1e-9 * sigma[0];)
            w->k++;
    memcpy(K, V + (size_t)(N - w->k) * N, (size_t)w->k * N * sizeof *K);
    /* directions that move no state come last, as pure changes of speed: the others lose their
     * share in them by a turn that diagonalises the parts on the states */
    double *part = NS_NEW_ARRAY(a, double, (size_t)w->k * q->n + 1);
    double *U = NS_NEW_ARRAY(a, double, (size_t)w->k * w->k + 1);
    double *turned = NS_NEW_ARRAY(a, double, (size_t)w->k * N + 1);
    for (uint32_t j = 0; j < q->n; j++)
        for (uint32_t l = 0; l < w->k; l++)
            part[(size_t)j * w->k + l] = K[(size_t)l * N + j];
    double *s = NS_NEW_ARRAY(a, double, w->k + q->n + 1);
    ns_dense_svd(a, q->n, w->k, part, s, U);
    ns_flow_multiply(w->k, w->k, N, U, K, turned);
    memcpy(K, turned, (size_t)w->k * N * sizeof *K);
    ns_arena_release(a, mark);
}

/* Newton's method on the hyperplane normal . (y - predicted) = 0. */
static bool correct(ns_follower *w, double *y, const double *normal, const double *predicted,
                    const double *K, int *rounds)
{
    enum { ROUNDS = 14 };
    const ns_steady *q = w->q;
    const uint32_t M = q->N + 1;
    ns_arena *a = q->field->scratch;
    double before = INFINITY;
    for (*rounds = 0; *rounds < ROUNDS; ++*rounds) {
        if (!ns_branch_look(w, y, K))
            return false;
        double *row = w->D + (size_t)(w->rows - 1) * M, sum = 0, length = 0;
        for (uint32_t i = 0; i < M; i++) {
            row[i] = normal[i];
            sum += normal[i] * (y[i] - predicted[i]);
        }
        w->r[w->rows - 1] = sum;
        /* near a bifurcation rounding errors move the solution along the critical direction:
         * what satisfies the equations is a solution */
        double off = ns_steady_quality(q, w->c, w->r);
        for (uint32_t i = q->n; i < w->rows; i++)
            off = ns_max(off, fabs(w->r[i]));
        if (*rounds > 0 && off < 1e-12)
            return true;
        const ns_arena_place mark = ns_arena_mark(a);
        double *dy = NS_NEW_ARRAY(a, double, M);
        ns_dense_least(a, w->rows, M, w->D, w->r, 1e-13, dy);
        for (uint32_t i = 0; i < M; i++) {
            y[i] -= dy[i];
            length = ns_max(length, fabs(dy[i]));
        }
        ns_arena_release(a, mark);
        if (!(length < 1))
            return false;
        if (length < 1e-13 || (length < 1e-8 && length >= before / 4))
            return true;
        before = length;
    }
    return before < 1e-8;
}

/* Tangent of the branch at y after `look` with its own kernel, in the direction of `along`. */
void ns_branch_tangent(ns_follower *w, const double *along, double *t)
{
    const ns_steady *q = w->q;
    const uint32_t M = q->N + 1, rows = w->rows - 1;
    ns_arena *a = q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *V = NS_NEW_ARRAY(a, double, (size_t)M * M);
    double *sigma = NS_NEW_ARRAY(a, double, rows + M);
    ns_dense_svd(a, rows, M, w->D, sigma, V);
    double dot = 0;
    for (uint32_t i = 0; i < M; i++)
        dot += V[(size_t)(M - 1) * M + i] * along[i];
    for (uint32_t i = 0; i < M; i++)
        t[i] = (dot < 0 ? -1 : 1) * V[(size_t)(M - 1) * M + i];
    ns_arena_release(a, mark);
}

ns_place ns_branch_place(const ns_follower *w, ns_arena *a)
{
    const uint32_t N = w->q->N;
    return (ns_place){.y = NS_NEW_ARRAY(a, double, N + 1),
                                        .tangent = NS_NEW_ARRAY(a, double, N + 1),
                                            .K = NS_NEW_ARRAY(a, double, (size_t)N * N + 1)};
}

/* Solves on the hyperplane from p->y on, beginning with the kernel K; then with the kernel at
 * the solution. */
bool ns_branch_settle(ns_follower *w, ns_place *p, const double *normal,
                      const double *predicted, const double *K, int *rounds)
{
    enum { PASSES = 6 };
    const uint32_t M = w->q->N + 1;
    ns_arena *a = w->q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *old = NS_NEW_ARRAY(a, double, M);
    bool good = correct(w, p->y, normal, predicted, K, rounds);
    for (int pass = 0; pass < PASSES && good; pass++) {
        memcpy(old, p->y, M * sizeof *old);
        good = ns_branch_look(w, p->y, K);
        kernel(w, false, p->K);
        int more;
        good = good && correct(w, p->y, normal, predicted, p->K, &more);
        double change = 0;
        for (uint32_t i = 0; i < M; i++)
            change = ns_max(change, fabs(p->y[i] - old[i]));
        if (change < 1e-9)
            break;
    }
    ns_arena_release(a, mark);
    return good && ns_branch_look(w, p->y, p->K);
}

void ns_branch_linearise(ns_follower *w, ns_place *p, ns_arena *a)
{
    ns_branch_unpack(w, p->y);
    p->linear = ns_linear_at(w->q->field, w->q->g, a, w->x, w->c, &w->shape);
}

/* A copy of the place for the results. */
ns_steady_point ns_branch_record(ns_follower *w, ns_place *p)
{
    ns_steady *q = w->q;
    ns_steady_point point = {.parameter = ns_branch_parameter(w, p->y)};
    ns_branch_unpack(w, p->y);
    point.x = ns_arena_copy(q->arena, w->x, q->n * sizeof(double));
    point.c = ns_arena_copy(q->arena, w->c, (q->g->count + 1) * sizeof(double));
    point.residual = ns_steady_quality(q, w->c, w->r);
    point.linear = NS_NEW(q->arena, ns_linear);
    *point.linear = *p->linear;
    point.linear->basis = point.linear->M = NULL;
    point.linear->eigenvalue = ns_arena_copy(q->arena, p->linear->eigenvalue,
                                             p->linear->n * sizeof(ns_eigenvalue));
    return point;
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* The first place, at parameter `low`. */
static bool begin(ns_follower *w, ns_place *p, const char **message)
{
    ns_steady *q = w->q;
    const uint32_t M = q->N + 1;
    ns_steady_parameter(q, q->spec.low);
    if (!ns_system_start(q->field->system, q->diag, q->field->t, q->p, q->start)) {
        *message = "the model has no start at the lower end of the range";
        return false;
    }
    ns_steady_point point;
    if (!ns_steady_find(q, q->start, &point)) {
        *message = ns_arena_format(
            q->arena,
            "no steady motion was found near the start at the lower end of the "
            "range (the remaining acceleration is %.2g of its terms)",
            point.residual);
        return false;
    }
    /* shape and kernel are those of a generic place, a little inside the range */
    double *normal = NS_NEW_ARRAY(q->arena, double, M),
                                  *predicted = NS_NEW_ARRAY(q->arena, double, M);
    normal[q->N] = 1;
    pack(w, point.x, point.c, q->spec.low, p->y);
    w->k = 0;
    if (!ns_branch_look(w, p->y, p->K)) {
        *message = "the equations are not defined at the lower end of the range";
        return false;
    }
    kernel(w, true, p->K);
    w->rows = q->rows + w->k + 1;
    w->shape = ns_linear_at(q->field, q->g, q->arena, point.x, point.c, NULL)->shape;
    memcpy(predicted, p->y, M * sizeof *predicted);
    int rounds;
    if (!ns_branch_settle(w, p, normal, predicted, p->K, &rounds)) {
        *message = "the steady motion at the lower end of the range could not be made precise";
        return false;
    }
    ns_branch_tangent(w, normal, p->tangent);
    ns_branch_linearise(w, p, q->arena);
    return true;
}

static bool inside(const ns_steady *q, double value)
{
    const double margin = 1e-12 * fabs(q->scale);
    return value >= ns_min(q->spec.low, q->spec.high) - margin &&
           value <= ns_max(q->spec.low, q->spec.high) + margin;
}

/* Ends the branch exactly on the end of the range between a and b. */
static void end_on_border(ns_follower *w, const ns_place *a, const ns_place *b)
{
    ns_steady *q = w->q;
    const uint32_t N = q->N, M = N + 1;
    ns_arena *arena = w->temporary;
    const double value = ns_branch_parameter(w, b->y);
    const double low = ns_min(q->spec.low, q->spec.high),
                 high = ns_max(q->spec.low, q->spec.high);
    const double border = value > high ? high : low;
    const ns_arena_place mark = ns_arena_mark(arena);
    ns_place at = ns_branch_place(w, arena);
    double *normal = NS_NEW_ARRAY(arena, double, M),
                                  *predicted = NS_NEW_ARRAY(arena, double, M);
    const double s = (border / q->scale - a->y[N]) / (b->y[N] - a->y[N]);
    normal[N] = 1;
    for (uint32_t i = 0; i < M; i++)
        at.y[i] = predicted[i] = a->y[i] + s * (b->y[i] - a->y[i]);
    predicted[N] = border / q->scale;
    int rounds;
    if (ns_branch_settle(w, &at, normal, predicted, a->K, &rounds)) {
        ns_branch_tangent(w, a->tangent, at.tangent);
        ns_branch_linearise(w, &at, arena);
        ns_place from = *a;
        ns_bifurcation_watch(w, &from, &at);
        ns_branch_look(w, at.y, at.K);
        NS_PUSH(q->arena, w->branch->points, ns_branch_record(w, &at));
    }
    ns_arena_release(arena, mark);
}

static void walk(ns_follower *w, ns_place *here)
{
    ns_steady *q = w->q;
    const uint32_t M = q->N + 1;
    const double longest = 1.0 / LEAST_POINTS;
    double step = longest / 4;
    double *predicted = NS_NEW_ARRAY(q->arena, double, M);
    NS_PUSH(q->arena, w->branch->points, ns_branch_record(w, here));
    while (w->branch->points.n < MOST_POINTS) {
        const ns_arena_place mark = ns_arena_mark(w->temporary);
        ns_place next = ns_branch_place(w, w->temporary);
        /* the step is measured along the branch, but the parameter alone must not jump
         * either */
        const double part = ns_min(step, longest / ns_max(fabs(here->tangent[q->N]), 1e-3));
        for (uint32_t i = 0; i < M; i++)
            next.y[i] = predicted[i] = here->y[i] + part * here->tangent[i];
        int rounds = 0;
        bool good = ns_branch_settle(w, &next, here->tangent, predicted, here->K, &rounds);
        if (good) {
            ns_branch_tangent(w, here->tangent, next.tangent);
            double dot = 0;
            for (uint32_t i = 0; i < M; i++)
                dot += here->tangent[i] * next.tangent[i];
            good = dot > 0.9 || part < 1e-6;
        }
        if (!good) {
            step = part / 3;
            ns_arena_release(w->temporary, mark);
            if (step < 1e-9) {
                w->branch->end = "the branch could not be followed further";
                return;
            }
            continue;
        }
        ns_branch_linearise(w, &next, w->temporary);
        const double value = ns_branch_parameter(w, next.y);
        if (!inside(q, value)) {
            end_on_border(w, here, &next);
            w->branch->end = "the parameter left its range";
            return;
        }
        ns_bifurcation_watch(w, here, &next);
        ns_branch_look(w, next.y, next.K);
        NS_PUSH(q->arena, w->branch->points, ns_branch_record(w, &next));
        memcpy(here->y, next.y, M * sizeof(double));
        memcpy(here->tangent, next.tangent, M * sizeof(double));
        memcpy(here->K, next.K, (size_t)w->k * q->N * sizeof(double));
        *here->linear = *w->branch->points.at[w->branch->points.n - 1].linear;
        ns_arena_release(w->temporary, mark);
        if (rounds <= 4)
            step = ns_min(1.5 * part, 0.5);
        if (q->spec.progress &&
            !q->spec.progress(q->spec.context, fabs((value - q->spec.low) / q->scale))) {
            w->branch->end = "interrupted";
            return;
        }
    }
    w->branch->end = "the limit of points was reached";
}

/* The branch that leaves at a special point along its critical direction (sign 1 or -1): a
 * first place at a small distance, on the hyperplane across that direction, then the walk. */
static ns_branch *leave(ns_follower *w, const ns_steady_point *from, double sign)
{
    ns_steady *q = w->q;
    const uint32_t N = q->N, M = N + 1;
    ns_follower other = *w;
    other.branch = NS_NEW(q->arena, ns_branch);
    double *normal = NS_NEW_ARRAY(q->arena, double, M), size = 0;
    double *predicted = NS_NEW_ARRAY(q->arena, double, M);
    ns_place here = ns_branch_place(w, q->arena);
    for (uint32_t i = 0; i < N; i++)
        size += from->critical[i] * from->critical[i];
    for (uint32_t i = 0; i < N && size > 0; i++)
        normal[i] = sign * from->critical[i] / sqrt(size);
    pack(w, from->x, from->c, from->parameter, predicted);
    for (double step = 0.03; step > 1e-4; step /= 3) {
        for (uint32_t i = 0; i < M; i++)
            here.y[i] = predicted[i] + step * normal[i];
        double *target = ns_arena_copy(q->arena, here.y, M * sizeof *target);
        int rounds;
        /* the family as it is there */
        if (!ns_branch_look(&other, here.y, here.K))
            continue;
        kernel(&other, false, here.K);
        if (!ns_branch_settle(&other, &here, normal, target, here.K, &rounds))
            continue;
        ns_branch_tangent(&other, normal, here.tangent);
        ns_branch_linearise(&other, &here, q->arena);
        walk(&other, &here);
        return other.branch;
    }
    return NULL;
}

static void switch_branches(ns_follower *w)
{
    ns_steady *q = w->q;
    for (uint32_t i = 0; i < w->branch->special.n; i++)
        for (int sign = 1; sign >= -1 && w->branch->special.at[i].critical; sign -= 2) {
            ns_branch *b = leave(w, &w->branch->special.at[i], sign);
            if (!b)
                continue;
            b->from = i;
            NS_PUSH(q->arena, w->branch->more, b);
        }
}

ns_branch *ns_steady_follow(ns_steady *q, const char **message)
{
    const uint32_t N = q->N, M = N + 1, most = q->rows + N + 1;
    ns_follower w = {.q = q, .branch = NS_NEW(q->arena, ns_branch), .rows = most};
    w.temporary = ns_arena_child(q->arena);
    w.r = NS_NEW_ARRAY(q->arena, double, most + 1);
    w.D = NS_NEW_ARRAY(q->arena, double, (size_t)most * M + 1);
    w.r0 = NS_NEW_ARRAY(q->arena, double, q->rows + 1);
    w.D0 = NS_NEW_ARRAY(q->arena, double, (size_t)q->rows * N + 1);
    w.x = NS_NEW_ARRAY(q->arena, double, q->n + 1);
    w.c = NS_NEW_ARRAY(q->arena, double, q->g->count + 1);
    ns_place here = ns_branch_place(&w, q->arena);
    if (!begin(&w, &here, message))
        return NULL;
    walk(&w, &here);
    if (q->spec.switching)
        switch_branches(&w);
    return w.branch;
}
