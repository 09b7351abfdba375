/* Integrals linear in the velocities with coefficients that are functions of one variable (see
 * study/invariants/integrals.h): no symmetry has to be declared. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_linear.h"

/* ---- collocation ------------------------------------------------------------------------- */

/* Derivative at Chebyshev points cos(pi j/M), j = 0 .. M. */
static void derivative(uint32_t M, const double *z, double *D)
{
    const uint32_t n = M + 1;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            const double ci = i == 0 || i == M ? 2 : 1, cj = j == 0 || j == M ? 2 : 1;
            D[i * n + j] = ci / cj * ((i + j) % 2 ? -1 : 1) / (z[i] - z[j]);
            sum += D[i * n + j];
        }
        D[i * n + i] = -sum; /* of a constant it is zero */
    }
}

/* Chebyshev coefficients a[M + 1] of values f[M + 1]. */
void ns_linear_coefficients(uint32_t M, const double *f, double *a)
{
    const double pi = 3.14159265358979323846;
    for (uint32_t k = 0; k <= M; k++) {
        double sum = 0;
        for (uint32_t j = 0; j <= M; j++)
            sum += f[j] * ns_math_cos(pi * (double)((uint64_t)k * j % (2 * M)) / M) *
                   (j == 0 || j == M ? 0.5 : 1);
        a[k] = sum * 2 / M * (k == 0 || k == M ? 0.5 : 1);
    }
}

/* The equation at all points; false if that cannot be (why in r). */
static bool take_nodes(ns_linear_work *q, ns_linear_nodes *d, const ns_integrals_options *o,
                       bool *stopped)
{
    const double pi = 3.14159265358979323846;
    const uint32_t K = q->K, M = d->M;
    ns_arena *arena = q->w->arena;
    ns_linear_integrals *r = q->r;
    d->z = NS_NEW_ARRAY(arena, double, M + 1);
    d->count = NS_NEW_ARRAY(arena, uint32_t, M + 1);
    d->T = NS_NEW_ARRAY(arena, double, (size_t)(M + 1) * K * K);
    d->B = NS_NEW_ARRAY(arena, double, (size_t)(M + 1) * K * K);
    for (uint32_t j = 0; j <= M; j++) {
        d->z[j] = ns_math_cos(pi * j / M);
        const double u = 0.5 * (r->low + r->high) + 0.5 * (r->high - r->low) * d->z[j];
        if (!ns_linear_sample(q, u)) {
            r->why = ns_arena_format(arena, "no states were found with %s = %.6g",
                                     r->along.name, u);
            return false;
        }
        d->count[j] = ns_linear_conditions(q, d->n, d->T + (size_t)j * K * K,
                                           d->B + (size_t)j * K * K);
        if (d->count[j] < d->n) {
            r->why = "the conditions leave fewer coefficients at some values";
            return false;
        }
        if (o->progress && !o->progress(o->context, (double)j / (M + 1))) {
            *stopped = true;
            return false;
        }
    }
    return true;
}

/* Solutions c at the points. */
static void solve(ns_linear_work *q, ns_linear_nodes *d)
{
    const uint32_t K = q->K, P = d->M + 1, n = d->n;
    ns_arena *arena = q->w->arena, *a = q->w->flow->scratch;
    ns_linear_integrals *r = q->r;
    const ns_arena_place mark = ns_arena_mark(a);
    uint32_t *first = NS_NEW_ARRAY(a, uint32_t, P), columns = 0;
    for (uint32_t j = 0; j < P; j++) {
        first[j] = columns;
        columns += d->count[j];
    }
    double *D = NS_NEW_ARRAY(a, double, P * P);
    double *L = NS_NEW_ARRAY(a, double, (size_t)K * P * columns);
    double *sigma = NS_NEW_ARRAY(a, double, columns);
    double *V = NS_NEW_ARRAY(a, double, (size_t)columns * columns);
    derivative(d->M, d->z, D);
    for (uint32_t j = 0; j < P; j++)
        for (uint32_t k = 0; k < K; k++) {
            double *row = L + ((size_t)j * K + k) * columns;
            for (uint32_t l = 0; l < P; l++)
                for (uint32_t i = 0; i < d->count[l]; i++)
                    row[first[l] + i] = D[j * P + l] * 2 / (r->high - r->low) *
                                        d->B[((size_t)l * K + i) * K + k];
            for (uint32_t i = 0; i < d->count[j]; i++)
                for (uint32_t m = 0; m < K; m++)
                    row[first[j] + i] -= d->T[((size_t)j * K + k) * K + m] *
                                         d->B[((size_t)j * K + i) * K + m];
        }
    ns_dense_svd(a, K * P, columns, L, sigma, V);
    r->n_sigma = columns;
    r->sigma = NS_NEW_ARRAY(arena, double, columns);
    for (uint32_t k = 0; k < columns; k++)
        r->sigma[k] = sigma[columns - 1 - k];
    d->found = 0;
    while (d->found < n && r->sigma[d->found] <= 1e-9 * r->sigma[columns - 1])
        d->found++;
    r->candidates = 0;
    for (uint32_t k = 1; k <= n && k < columns; k++)
        if (r->sigma[k - 1] < 1e-2 * r->sigma[k])
            r->candidates = k;
    const double floor = 1e-16 * r->sigma[columns - 1];
    r->margin = r->sigma[d->found] / ns_max(d->found ? r->sigma[d->found - 1] : 0, floor);
    d->c = NS_NEW_ARRAY(arena, double, (size_t)d->found * K * P + 1);
    for (uint32_t f = 0; f < d->found; f++)
        for (uint32_t j = 0; j < P; j++)
            for (uint32_t i = 0; i < d->count[j]; i++) {
                const double y = V[(size_t)(columns - 1 - f) * columns + first[j] + i];
                for (uint32_t k = 0; k < K; k++)
                    d->c[((size_t)f * K + k) * P + j] += y * d->B[((size_t)j * K + i) * K + k];
            }
    ns_arena_release(a, mark);
}

/* Last Chebyshev coefficients, relative to the largest. */
static double tail(const ns_linear_work *q, const ns_linear_nodes *d)
{
    const uint32_t P = d->M + 1;
    double *a = NS_NEW_ARRAY(q->w->arena, double, P), worst = 0, most = 0;
    for (uint32_t i = 0; i < d->found * q->K; i++) {
        ns_linear_coefficients(d->M, d->c + (size_t)i * P, a);
        for (uint32_t k = 0; k < P; k++) {
            most = ns_max(most, fabs(a[k]));
            if (k + 3 >= P)
                worst = ns_max(worst, fabs(a[k]));
        }
    }
    return most > 0 ? worst / most : 0;
}

/* ---- the search -------------------------------------------------------------------------- */

/* Where the run goes; false if u does not change. */
static bool find_range(ns_linear_work *q)
{
    enum { STEPS = 3000 };
    ns_integrals_work *w = q->w;
    ns_linear_integrals *r = q->r;
    ns_status status = NS_OK;
    const char *message = "";
    double *out = NS_NEW_ARRAY(w->arena, double, w->flow->n + 3), low = INFINITY,
                                                                  high = -INFINITY;
    double *x = NS_NEW_ARRAY(w->arena, double, w->flow->n + 1);
    ns_run *run = ns_run_new(w->flow->problem, w->run, w->flow->p, w->x0, &status, &message);
    if (!run && status == NS_ERR_MEMORY)
        ns_arena_exhausted(w->flow->arena);
    const double t = w->flow->t;
    for (int k = 0; run && k < STEPS; k++) {
        enum { INSIDE = 4 }; /* turning points lie between the steps */
        for (int j = k ? 1 : INSIDE; j <= INSIDE; j++) {
            const double from = ns_run_last_time(run), to = ns_run_time(run);
            if (j < INSIDE)
                ns_run_state_at(run, from + (to - from) * j / INSIDE, x);
            else
                memcpy(x, ns_run_state(run), w->flow->n * sizeof *x);
            w->flow->t = to;
            ns_flow_eval(w->flow, q->variable, x, out);
            low = ns_min(low, out[0]);
            high = ns_max(high, out[0]);
        }
        if (ns_run_time(run) == w->run->until || ns_run_step(run) != NS_OK)
            break;
    }
    if (run)
        ns_run_free(run);
    w->flow->t = t;
    const double room = 0.01 * (high - low);
    r->low = isnan(r->low) ? low - room : r->low;
    r->high = isnan(r->high) ? high + room : r->high;
    return r->high - r->low > 1e-6 * (fabs(r->low) + fabs(r->high));
}

static void list_terms(ns_linear_work *q)
{
    const ns_integrals_work *w = q->w;
    const uint32_t nv = w->family->velocity.n;
    q->term = NS_NEW_ARRAY(w->arena, uint32_t, w->terms + 1);
    for (uint32_t t = 0; t < w->terms; t++) {
        uint32_t degree = 0, single = 0;
        for (uint32_t i = 0; i < w->atoms; i++) {
            degree += i < nv ? w->power[(size_t)t * w->atoms + i] : 0;
            single += i >= nv + w->family->shape.n ? w->power[(size_t)t * w->atoms + i] : 0;
        }
        if (degree == 1 && !single)
            q->term[q->all++] = t;
    }
    q->r->functions = q->all;
    q->F = 3 * q->all + 30;
    q->size = NS_NEW_ARRAY(w->arena, double, q->all + 1);
    q->phi = NS_NEW_ARRAY(w->arena, double, (size_t)q->all * q->F + 1);
    q->dphi = NS_NEW_ARRAY(w->arena, double, (size_t)q->all * q->F + 1);
    q->du = NS_NEW_ARRAY(w->arena, double, q->F + 1);
}

static void prepare_variable(ns_linear_work *q)
{
    ns_flow *flow = q->w->flow;
    const ns_system *s = flow->system;
    const uint32_t n = flow->n;
    const ns_ex *x = ns_system_state_symbols(s, flow->arena);
    const ns_ex *dx = ns_system_state_rates(s, flow->arena);
    ns_ex *out = NS_NEW_ARRAY(flow->arena, ns_ex, n + 3);
    out[0] = q->r->along.value;
    ns_diff_along(s->graph, out, 1, x, dx, n, out + 1);
    ns_diff_gradient(s->graph, out[0], x, n, out + 2);
    q->variable = ns_flow_program_new(flow, out, n + 2, NULL, 0);
}

/* False if it was stopped. */
static bool look(ns_linear_work *q, const ns_integrals_options *o)
{
    enum { SIZES = 6 };
    static const uint32_t sizes[SIZES] = {12, 24, 40, 64, 96, 128};
    ns_linear_integrals *r = q->r;
    ns_arena *arena = q->w->arena;
    r->why = "it does not change along the run";
    if (!find_range(q))
        return true;
    r->why = ns_arena_format(arena, "no states were found with %s inside the range",
                             r->along.name);
    if (!ns_linear_sample(q, r->low + 0.3819 * (r->high - r->low))) /* no special place */
        return true;
    ns_linear_choose(q);
    r->independent = q->K;
    double *T = NS_NEW_ARRAY(arena, double, (size_t)q->K * q->K + 1);
    double *B = NS_NEW_ARRAY(arena, double, (size_t)q->K * q->K + 1);
    r->n = q->K ? ns_linear_conditions(q, 0, T, B) : 0;
    q->F = 3 * q->K + 20;
    r->why = "no coefficients meet the conditions at one value of it";
    if (!r->n)
        return true;
    for (int k = 0; k < SIZES; k++) {
        ns_linear_nodes d = {.M = sizes[k], .n = r->n};
        bool stopped = false;
        if (!take_nodes(q, &d, o, &stopped))
            return !stopped;
        solve(q, &d);
        r->found = d.found;
        r->why = d.found ? NULL : "the conditions at different values of it exclude each other";
        r->points = d.M + 1;
        r->tail = d.found ? tail(q, &d) : 0;
        /* More points while there is a gap but no zeros yet, or series are cut; none found:
         * once more, to be sure. */
        const bool open = r->candidates > d.found || (d.found && r->tail > 1e-13);
        if (k + 1 < SIZES && (open || (!d.found && k == 0)))
            continue;
        if (!d.found)
            return true;
        ns_linear_result(q, &d);
        return true;
    }
    return true;
}

ns_linear_integrals *ns_linear_search(ns_flow *flow, const ns_family *family,
                                      const ns_integrals_options *o, const double *x0,
                                      const ns_atom *along, double low, double high,
                                      const char **message)
{
    ns_family *f = ns_arena_copy(flow->arena, family, sizeof *family);
    f->degree_velocity = 1;
    ns_integrals_work *w = NS_NEW(flow->arena, ns_integrals_work);
    *w = (ns_integrals_work){
        .flow = flow, .arena = flow->arena, .family = f, .run = &o->run, .x0 = x0};
    ns_linear_work q = {.w = w, .r = NS_NEW(flow->arena, ns_linear_integrals)};
    q.r->along = *along;
    q.r->low = low;
    q.r->high = high;
    w->sampler = ns_sampler_new(flow, &o->run, x0, message);
    if (!w->sampler)
        return NULL;
    ns_integrals_prepare(w);
    list_terms(&q);
    prepare_variable(&q);
    if (!look(&q, o)) {
        *message = "interrupted";
        return NULL;
    }
    return q.r;
}
