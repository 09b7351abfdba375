#include "study/control/steer.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/control/steer_internal.h"

/* Goals that depend on others to this part are one. */
static const double rcond = 1e-10;

/* ---- inequalities ------------------------------------------------------------------------ */

static void add_limits(ns_steer_solver *q, bool keep, uint32_t index, double low, double high)
{
    if (isfinite(low))
        NS_PUSH(q->a, q->rows, (ns_steer_limit){keep, index, 1, low});
    if (isfinite(high))
        NS_PUSH(q->a, q->rows, (ns_steer_limit){keep, index, -1, high});
}

static void look(const ns_steer_solver *q, const double *w, double *d)
{
    for (uint32_t i = 0; i < q->rows.n; i++) {
        const ns_steer_limit *row = &q->rows.at[i];
        const double value = row->keep ? q->p->c[row->index] : w[row->index];
        d[i] = row->sign * (value - row->limit);
    }
}

/* out[M] += factor times the gradient of row i. */
static void add_gradient(const ns_steer_solver *q, uint32_t i, double factor, double *out)
{
    const ns_steer_limit *row = &q->rows.at[i];
    if (!row->keep) {
        out[row->index] += factor * row->sign;
        return;
    }
    const double *of = q->p->c_w + (size_t)row->index * q->M;
    for (uint32_t j = 0; j < q->M; j++)
        out[j] += factor * row->sign * of[j];
}

static double along(const ns_steer_solver *q, uint32_t i, const double *dw)
{
    const ns_steer_limit *row = &q->rows.at[i];
    return row->sign * (row->keep
                            ? ns_dense_dot(q->M, q->p->c_w + (size_t)row->index * q->M, dw)
                            : dw[row->index]);
}

/* W += f (gradient)(gradient)^T of row i. */
static void add_square(const ns_steer_solver *q, uint32_t i, double f, double *W)
{
    const ns_steer_limit *row = &q->rows.at[i];
    if (!row->keep) {
        W[(size_t)row->index * q->M + row->index] += f;
        return;
    }
    const double *of = q->p->c_w + (size_t)row->index * q->M;
    for (uint32_t j = 0; j < q->M; j++)
        for (uint32_t l = 0; l < q->M && of[j] != 0; l++)
            W[(size_t)j * q->M + l] += f * of[j] * of[l];
}

/* ---- one step ---------------------------------------------------------------------------- */

/* What is left of the conditions: of the slope, in q->slope; the largest of all. */
static double conditions(ns_steer_solver *q)
{
    const ns_path *p = q->p;
    const ns_arena_place mark = ns_arena_mark(q->a);
    double *left = NS_NEW_ARRAY(q->a, double, q->M + 1);
    double most = 0, size = 1, worst = 0;
    for (uint32_t j = 0; j < q->M; j++) {
        size = ns_max(size, fabs(p->cost_w[j]));
        left[j] = p->cost_w[j];
        for (uint32_t i = 0; i < q->k; i++)
            left[j] += p->g_w[(size_t)i * q->M + j] * q->lambda[i];
    }
    for (uint32_t i = 0; i < q->rows.n; i++) {
        add_gradient(q, i, -q->z[i], left);
        worst = ns_max(worst, fabs(q->d[i] - q->s[i]));
        worst = ns_max(worst, fabs(q->s[i] * q->z[i] - q->mu));
    }
    for (uint32_t j = 0; j < q->M; j++)
        most = ns_max(most, fabs(left[j]));
    q->slope = most / size;
    ns_arena_release(q->a, mark);
    return ns_max(worst, q->slope);
}

/* The Hessian with the terms of the inequalities, and the right-hand side of W dw + g_w^T l. */
static bool assemble(ns_steer_solver *q, bool curved)
{
    const ns_path *p = q->p;
    double *zeta = NS_NEW_ARRAY(q->a, double, (size_t)p->nodes * p->keeps + 1);
    for (uint32_t i = 0; i < q->rows.n; i++)
        if (q->rows.at[i].keep)
            zeta[q->rows.at[i].index] += q->rows.at[i].sign * q->z[i];
    if (!ns_path_hessian(q->p, q->w, q->lambda, zeta, curved, q->W))
        return false;
    for (uint32_t j = 0; j < q->M; j++)
        q->r[j] = -p->cost_w[j];
    q->scale = 0;
    for (uint32_t j = 0; j < q->M; j++)
        q->scale = ns_max(q->scale, fabs(q->W[(size_t)j * q->M + j]));
    for (uint32_t i = 0; i < q->rows.n; i++) {
        const double f = q->z[i] / q->s[i];
        add_square(q, i, f, q->W);
        add_gradient(q, i, q->mu / q->s[i] - f * (q->d[i] - q->s[i]), q->r);
    }
    return true;
}

/* dw = y + N^T v: y brings the goals home, v descends in the null space N of g_w, where W, and
 * `more` if that was not enough before, is positive. */
static bool direction(ns_steer_solver *q, double more)
{
    const uint32_t M = q->M, k = q->k;
    ns_arena *a = q->a;
    double *sigma = NS_NEW_ARRAY(a, double, M + k + 1);
    double *V = NS_NEW_ARRAY(a, double, (size_t)M * M + 1);
    double *b = NS_NEW_ARRAY(a, double, M + k + 1), *y = NS_NEW_ARRAY(a, double, M + 1);
    if (!ns_dense_svd(a, k, M, q->p->g_w, sigma, V))
        return false;
    uint32_t rank = 0;
    while (rank < k && rank < M && sigma[rank] > rcond * sigma[0])
        rank++;
    for (uint32_t i = 0; i < k; i++)
        b[i] = -q->p->g[i];
    ns_dense_least(a, k, M, q->p->g_w, b, rcond, y);
    const uint32_t f = M - rank;
    const double *N = V + (size_t)rank * M;
    double *NW = NS_NEW_ARRAY(a, double, (size_t)f * M + 1);
    double *R = NS_NEW_ARRAY(a, double, (size_t)f * f + 1), *v = NS_NEW_ARRAY(a, double, f + 1);
    double *lambda = NS_NEW_ARRAY(a, double, f + 1);
    ns_flow_multiply(f, M, M, N, q->W, NW);
    ns_flow_multiply_t(f, M, f, NW, N, R);
    if (f && !ns_dense_symmetric(a, f, R, lambda))
        return false;
    const double large = f ? ns_max(fabs(lambda[0]), fabs(lambda[f - 1])) : 0;
    double shift = f && lambda[0] < 1e-9 * large ? 1e-8 * large - 1.5 * ns_min(lambda[0], 0)
                                                 : 0;
    shift += more * large;
    for (uint32_t i = 0; i < f; i++) {
        R[(size_t)i * f + i] += shift;
        v[i] = ns_dense_dot(M, N + (size_t)i * M, q->r) -
               ns_dense_dot(M, NW + (size_t)i * M, y);
    }
    if (f && !ns_dense_solve(f, R, 1, v))
        return false;
    memcpy(q->dw, y, M * sizeof *y);
    for (uint32_t i = 0; i < f; i++)
        for (uint32_t j = 0; j < M; j++)
            q->dw[j] += v[i] * N[(size_t)i * M + j];
    double *turned = NS_NEW_ARRAY(a, double, (size_t)M * k + 1);
    for (uint32_t j = 0; j < M; j++) {
        b[j] = q->r[j] - ns_dense_dot(M, q->W + (size_t)j * M, q->dw);
        for (uint32_t i = 0; i < k; i++)
            turned[(size_t)j * k + i] = q->p->g_w[(size_t)i * M + j];
    }
    ns_dense_least(a, M, k, turned, b, rcond, q->next);
    for (uint32_t i = 0; i < q->rows.n; i++) {
        q->ds[i] = along(q, i, q->dw) + q->d[i] - q->s[i];
        q->dz[i] = (q->mu - q->s[i] * q->z[i] - q->z[i] * q->ds[i]) / q->s[i];
    }
    return true;
}

/* Cost, barrier and slacks; goals are kept by other means. */
static double merit(const ns_steer_solver *q, const double *s, const double *d)
{
    double sum = q->p->cost;
    for (uint32_t i = 0; i < q->rows.n; i++)
        sum += q->penalty * fabs(d[i] - s[i]) - q->mu * ns_math_log(s[i]);
    return sum;
}

/* The longest step that leaves v above a small part of itself. */
static double longest(uint32_t n, const double *v, const double *dv)
{
    double step = 1;
    for (uint32_t i = 0; i < n; i++)
        if (dv[i] < 0)
            step = ns_min(step, -0.995 * v[i] / dv[i]);
    return step;
}

/* Brings the trial back to the goals by steps of least norm; false if it does not get there. */
static bool restore(ns_steer_solver *q, double enough)
{
    enum { ROUNDS = 8 };
    double *b = NS_NEW_ARRAY(q->a, double, q->k + 1),
                             *dw = NS_NEW_ARRAY(q->a, double, q->M + 1);
    double before = (double)INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        if (!ns_steer_follow(q, q->trial))
            return false;
        const double off = ns_steer_miss(q);
        if (off <= enough)
            return true;
        if (!(off < before))
            return false;
        before = off / 2;
        for (uint32_t i = 0; i < q->k; i++)
            b[i] = -q->p->g[i];
        if (round && !ns_path_derive(q->p))
            return false;
        ns_dense_least(q->a, q->k, q->M, round ? q->p->g_w : q->g_w, b, rcond, dw);
        for (uint32_t j = 0; j < q->M; j++)
            q->trial[j] += dw[j];
    }
    return false;
}

/* A step along the direction, back to the goals; false if none is good enough. */
static bool search(ns_steer_solver *q)
{
    const ns_path *p = q->p;
    const double start = ns_steer_miss(q);
    double slope = ns_dense_dot(q->M, p->cost_w, q->dw), most = 0, off = 0, debt = 0;
    for (uint32_t i = 0; i < q->k; i++)
        debt += fabs(q->next[i] * p->g[i]); /* what the goals may still cost */
    for (uint32_t i = 0; i < q->rows.n; i++) {
        most = ns_max(most, fabs(q->z[i] + q->dz[i]));
        off += fabs(q->d[i] - q->s[i]);
        slope -= q->mu * q->ds[i] / q->s[i];
    }
    if (q->penalty < 1.2 * most)
        q->penalty = 2 * most;
    slope = ns_min(slope - q->penalty * off, 0);
    const double before = merit(q, q->s, q->d);
    const double noise = 1e-13 * (fabs(before) + 1) + 2 * debt;
    double alpha = longest(q->rows.n, q->s, q->ds);
    const double alpha_z = longest(q->rows.n, q->z, q->dz);
    double *d = NS_NEW_ARRAY(q->a, double, q->rows.n + 1);
    for (int halving = 0; halving < 4; halving++, alpha /= 2) {
        for (uint32_t j = 0; j < q->M; j++)
            q->trial[j] = q->w[j] + alpha * q->dw[j];
        for (uint32_t i = 0; i < q->rows.n; i++)
            q->trial_s[i] = q->s[i] + alpha * q->ds[i];
        if (!restore(q, ns_max(1e-14, 0.1 * start)))
            if (!(ns_steer_miss(q) < 1e-12))
                continue;
        look(q, q->trial, d);
        if (!(merit(q, q->trial_s, d) <= before + 1e-4 * alpha * slope + noise))
            continue;
        memcpy(q->w, q->trial, q->M * sizeof *q->w);
        for (uint32_t i = 0; i < q->k; i++)
            q->lambda[i] += alpha * (q->next[i] - q->lambda[i]);
        for (uint32_t i = 0; i < q->rows.n; i++) {
            q->s[i] = q->trial_s[i];
            /* not too far from where mu wants it */
            const double ideal = q->mu / q->s[i], wide = 1e6;
            q->z[i] = ns_min(ns_max(q->z[i] + alpha_z * q->dz[i], ideal / wide), ideal * wide);
        }
        look(q, q->w, q->d);
        q->alpha = alpha;
        return true;
    }
    return false;
}

/* ---- the whole --------------------------------------------------------------------------- */

static ns_steer_end improve(ns_steer_solver *q, double mu_end)
{
    enum { ROUNDS = 200 };
    double more = 0, cost = (double)INFINITY;
    unsigned quiet = 0;
    if (!ns_steer_follow(q, q->w))
        return NS_STEER_LOST;
    look(q, q->w, q->d);
    for (int round = 0; round < ROUNDS; round++, q->rounds++) {
        const ns_arena_place mark = ns_arena_mark(q->a);
        if (q->spec->progress && !q->spec->progress(q->spec->context, round / (double)ROUNDS))
            return NS_STEER_STOPPED;
        if (!ns_path_derive(q->p))
            return NS_STEER_LOST;
        const double left = conditions(q), off = ns_steer_miss(q);
        const bool last = !q->rows.n || q->mu <= mu_end;
        if (left < 1e-9 && off < 1e-13 && last)
            return NS_STEER_FOUND;
        /* rounding decides from here on: nothing is gained any more */
        const bool same = fabs(q->p->cost - cost) <= 1e-11 * fabs(cost) && left < 1e-5;
        quiet = same && off < 1e-12 ? quiet + 1 : 0;
        cost = q->p->cost;
        if (quiet > 3 && last)
            return NS_STEER_FOUND;
        if (!last && (ns_max(left, off) < 10 * q->mu || quiet > 3)) {
            q->mu = ns_max(mu_end, ns_min(0.2 * q->mu, q->mu * sqrt(q->mu)));
            q->penalty = 1;
            quiet = 0;
        }
        memcpy(q->g_w, q->p->g_w, (size_t)q->k * q->M * sizeof *q->g_w);
        if (!assemble(q, true) || !direction(q, more))
            return NS_STEER_LOST;
        if (q->bent && q->slope > 1e-2 && (!assemble(q, false) || !direction(q, more)))
            return NS_STEER_LOST;
        while (!search(q)) { /* shorter, more along the slope */
            more = more > 0 ? 8 * more : 1e-4;
            if (more > 1e6 || !ns_steer_follow(q, q->w) || !ns_path_derive(q->p) ||
                !direction(q, more))
                return left < 1e-7 && off < 1e-12 && last ? NS_STEER_FOUND : NS_STEER_STALLED;
        }
        if (q->alpha < 1e-9)
            return NS_STEER_STALLED;
        more = q->alpha < 1 ? more : more > 1e-6 ? more / 8 : 0;
        ns_arena_release(q->a, mark);
    }
    return NS_STEER_STALLED;
}

static double *numbers(const ns_steer_solver *q, size_t n)
{
    return NS_NEW_ARRAY(q->p->arena, double, n + 1);
}

static ns_steer_solver *solver_new(ns_arena *arena, ns_path *p)
{
    const ns_steer_spec *spec = p->spec;
    ns_steer_solver *q = NS_NEW(arena, ns_steer_solver);
    *q = (ns_steer_solver){
        .p = p, .spec = spec, .a = ns_arena_child(arena), .M = p->size, .k = p->goals};
    for (uint32_t i = 0; i < p->m; i++)
        for (uint32_t l = 0; l < p->values; l++)
            add_limits(q, false, i * p->values + l, spec->low[i], spec->high[i]);
    for (uint32_t node = 0; node < p->nodes; node++)
        for (uint32_t i = 0; i < p->keeps; i++)
            add_limits(q, true, node * p->keeps + i, spec->keeps[i].low, spec->keeps[i].high);
    double **const wide[] = {&q->w, &q->dw, &q->r, &q->trial};
    double **const rows[] = {&q->s, &q->z, &q->d, &q->ds, &q->dz, &q->trial_s};
    for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++)
        *wide[i] = numbers(q, q->M);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = numbers(q, q->rows.n);
    q->lambda = numbers(q, q->k);
    q->next = numbers(q, q->k);
    q->g_w = numbers(q, (size_t)q->k * q->M);
    q->W = numbers(q, (size_t)q->M * q->M);
    return q;
}

/* Multipliers for which the slope is least. */
static void estimate(ns_steer_solver *q)
{
    double *turned = numbers(q, (size_t)q->M * q->k), *b = numbers(q, q->M);
    for (uint32_t j = 0; j < q->M; j++) {
        b[j] = -q->p->cost_w[j];
        for (uint32_t i = 0; i < q->k; i++)
            turned[(size_t)j * q->k + i] = q->p->g_w[(size_t)i * q->M + j];
    }
    ns_dense_least(q->a, q->M, q->k, turned, b, rcond, q->lambda);
}

/* From the knots in q->w: near to the goal, slacks inside, then the rounds. */
static ns_steer_end begin(ns_steer_solver *q)
{
    if (!ns_steer_follow(q, q->w))
        return NS_STEER_LOST;
    const ns_steer_end near = ns_steer_approach(q);
    if (near != NS_STEER_FOUND && (near != NS_STEER_STALLED || !q->rows.n))
        return near;
    if (!ns_steer_follow(q, q->w) || !ns_path_derive(q->p))
        return NS_STEER_LOST;
    look(q, q->w, q->d);
    const double size = ns_max(fabs(q->p->cost), 1e-3) / (q->rows.n ? q->rows.n : 1);
    q->mu = q->rows.n ? 0.1 * size : 0;
    q->penalty = 1;
    estimate(q);
    for (uint32_t i = 0; i < q->rows.n; i++) {
        q->s[i] = ns_max(q->d[i], 1e-2 * (1 + fabs(q->rows.at[i].limit)));
        q->z[i] = q->mu / q->s[i];
    }
    return improve(q, 1e-9 * size);
}

/* The motion for the knots w on a grid twice as fine: how far from the goal? */
static double recheck(ns_arena *arena, const ns_path *p, const double *w)
{
    ns_path finer = *p;
    ns_path_grid(&finer, 2 * p->steps);
    finer.g = NS_NEW_ARRAY(arena, double, p->goals + (size_t)p->goals * p->n + 1);
    const ns_steer_solver q = {.p = &finer, .spec = p->spec, .k = p->goals};
    return ns_path_solve(&finer, w) ? ns_steer_miss(&q) : (double)INFINITY;
}

static void take(ns_steer *plan, ns_arena *arena, const ns_steer_solver *q)
{
    const ns_path *p = q->p;
    const ns_steer_spec *spec = q->spec;
    const uint32_t every = p->steps / spec->pieces;
    plan->knots = spec->pieces + 1;
    plan->m = p->m;
    plan->n = p->n;
    plan->steps = p->steps;
    plan->t = NS_NEW_ARRAY(arena, double, plan->knots + 1);
    plan->u = NS_NEW_ARRAY(arena, double, (size_t)plan->knots * p->m + 1);
    plan->x = NS_NEW_ARRAY(arena, double, (size_t)plan->knots * p->n + 1);
    plan->multiplier = NS_NEW_ARRAY(arena, double, q->k + 1);
    for (uint32_t l = 0; l < plan->knots; l++) {
        const uint32_t value = l < p->values ? l : p->values - 1;
        plan->t[l] = spec->t0 + l * ((spec->until - spec->t0) / spec->pieces);
        for (uint32_t i = 0; i < p->m; i++)
            plan->u[(size_t)l * p->m + i] = q->w[(size_t)i * p->values + value];
        memcpy(plan->x + (size_t)l * p->n, p->x + (size_t)l * every * p->n,
               p->n * sizeof *plan->x);
    }
    for (uint32_t i = 0; i < q->k; i++)
        plan->multiplier[i] = -q->lambda[i];
    plan->cost = p->cost;
    plan->miss = ns_steer_miss(q);
    plan->slope = q->slope;
}

/* What a search that failed came to. */
static const char *failure(ns_arena *arena, const ns_steer_solver *q, ns_steer_end end)
{
    uint32_t worst = 0;
    double most = 0;
    if (!ns_steer_follow(q, q->w))
        end = NS_STEER_LOST;
    for (uint32_t i = 0; i < q->k; i++) {
        const double off = fabs(q->p->g[i]) / (1 + fabs(q->spec->goals[i].low));
        worst = off > most ? i : worst;
        most = ns_max(most, off);
    }
    if (end == NS_STEER_LOST)
        return "the motion cannot be followed with the inputs of the guess: it is singular, or "
               "changes too fast (more --pieces, another --guess)";
    if (most < 1e-9)
        return "the goal was reached, but not with least effort: the search stalled";
    return ns_arena_format(
        arena,
        "the goal is not reached: %s comes to %.6g instead of %.6g, and no small change of the "
        "inputs brings it nearer%s",
        q->spec->goals[worst].name, q->spec->goals[worst].low + q->p->g[worst],
        q->spec->goals[worst].low, q->rows.n ? " within the bounds" : "");
}

/* Finer steps until halving them changes nothing that counts. */
static ns_steer_end settle(ns_arena *arena, ns_path *p, ns_steer_solver **q, double *error)
{
    ns_steer_end end = NS_STEER_FOUND;
    while ((*error = recheck(arena, p, (*q)->w)) > 1e-12 && p->steps < 16 * p->spec->pieces &&
           ns_path_room(p, 2 * p->steps) < 4e7) {
        const ns_steer_solver before = **q;
        ns_path_grid(p, 2 * p->steps);
        *q = solver_new(arena, p);
        memcpy((*q)->w, before.w, before.M * sizeof *before.w);
        (*q)->rounds = before.rounds;
        end = begin(*q);
        if (end != NS_STEER_FOUND)
            return end;
    }
    return end;
}

ns_steer *ns_steer_find(ns_arena *arena, ns_flow *flow, const ns_steer_spec *spec,
                        const double *x0)
{
    enum { GUESSES = 5, MORE = 12 }; /* more, and larger ones, if none of these leads there */
    ns_steer *plan = NS_NEW(arena, ns_steer);
    const char *message = NULL;
    ns_path *p = ns_path_new(arena, flow, spec, x0, &message);
    plan->status = NS_ERR_USAGE;
    plan->message = message;
    if (!p)
        return plan;
    const char *why = NULL;
    double best = (double)INFINITY;
    ns_steer_solver *of = NULL;
    const uint32_t most = spec->guess ? 1 : GUESSES;
    for (uint32_t number = 0; number < most || (most > 1 && !of && number < most + MORE);
         number++) {
        ns_path_grid(p, spec->pieces);
        ns_steer_solver *q = solver_new(arena, p);
        ns_steer_guess(q, number, q->w);
        ns_steer_end end = begin(q);
        double error = 0;
        plan->guesses++;
        plan->rounds += q->rounds;
        if (end == NS_STEER_STOPPED) {
            plan->status = NS_STOP_INTERRUPT;
            plan->message = "stopped before a plan was found";
            return plan;
        }
        if (end == NS_STEER_FOUND && (end = settle(arena, p, &q, &error)) == NS_STEER_FOUND) {
            plan->found++;
            if (p->cost < best * (1 - 1e-9)) {
                best = p->cost;
                of = q;
                plan->error = error;
                take(plan, arena, q);
            }
        } else if (!why || end == NS_STEER_STALLED)
            why = failure(arena, q, end);
    }
    plan->status = of ? NS_OK : NS_STOP_LIMIT;
    plan->message = of ? "" : why;
    return plan;
}
