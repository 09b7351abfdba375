#include "study/steady/equilibria.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/newton.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/steady/stability.h"
#include "study/steady/steady_internal.h"

static ns_flow_program *held_program(ns_steady *q, const ns_ex *symbols)
{
    const ns_system *s = q->field->system;
    ns_ex *out = NS_NEW_ARRAY(q->arena, ns_ex, (size_t)q->h * (q->n + 1) + 1);
    for (uint32_t i = 0; i < q->h; i++)
        out[i] = s->observables.at[q->spec.hold[i].observable].value;
    ns_diff_jacobian(s->graph, out, q->h, symbols, q->n, out + q->h);
    return ns_flow_program_new(q->field, out, q->h * (q->n + 1), NULL, 0);
}

/* Makes everything that is differentiated by the parameter spec.over. */
static void prepare(ns_steady *q)
{
    const ns_system *s = q->field->system;
    const uint32_t np = q->field->np, equations = s->constraints.n + s->start.extra.n;
    const ns_ex *symbols = ns_system_param_symbols(s, q->arena);
    ns_ex *dp = NS_NEW_ARRAY(q->arena, ns_ex, np + 1);
    ns_flow_param_direction(q->field, q->spec.over, dp);
    ns_ex *value = NS_NEW_ARRAY(q->arena, ns_ex, q->rows + equations + 1);
    ns_ex *out = NS_NEW_ARRAY(q->arena, ns_ex, q->rows + equations + 1);
    for (uint32_t i = 0; i < q->n; i++)
        value[i] = s->states.at[i].rate;
    uint32_t k = q->n;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            value[k++] = s->constraints.at[i].residual;
    for (uint32_t i = 0; i < q->h; i++)
        value[k++] = s->observables.at[q->spec.hold[i].observable].value;
    ns_diff_along(s->graph, value, q->rows, symbols, dp, np, out);
    q->by_parameter = ns_flow_program_new(q->field, out, q->rows, NULL, 0);
    q->by = NS_NEW_ARRAY(q->arena, double, q->rows + 1);
    ns_ex *start = NS_NEW_ARRAY(q->arena, ns_ex, q->n + 1);
    ns_diff_along(s->graph, s->start.value, q->n, symbols, dp, np, start);
    q->start_value = start;
    for (uint32_t i = 0; i < equations; i++)
        value[i] = i < s->constraints.n ? s->constraints.at[i].residual
                                        : s->start.extra.at[i - s->constraints.n].residual;
    ns_ex *residual = NS_NEW_ARRAY(q->arena, ns_ex, equations + 1);
    ns_diff_along(s->graph, value, equations, symbols, dp, np, residual);
    q->start_residual = residual;
    q->start = NS_NEW_ARRAY(q->arena, double, q->n + 1);
    q->start_rate = NS_NEW_ARRAY(q->arena, double, q->n + 1);
    q->scale = q->spec.high - q->spec.low;
    q->diag = ns_diag_like(q->arena, s->description->diag);
}

ns_steady *ns_steady_along(const ns_steady *q, uint32_t over)
{
    ns_steady *other = ns_arena_copy(q->arena, q, sizeof *q);
    const uint32_t np = q->field->np;
    other->spec.over = over;
    other->spec.low = 0;
    other->spec.high = 1;
    other->is_set = ns_arena_copy(q->arena, q->is_set, (np + 1) * sizeof *q->is_set);
    other->p_set = ns_arena_copy(q->arena, q->p_set, (np + 1) * sizeof *q->p_set);
    prepare(other);
    return other;
}

ns_steady *ns_steady_new(ns_arena *arena, ns_flow *field, const ns_steady_spec *spec,
                         const double *x)
{
    NS_CHECK(spec->over == UINT32_MAX || spec->over < field->np);
    NS_CHECK(spec->hold || !spec->n_hold);
    ns_steady *q = NS_NEW(arena, ns_steady);
    const ns_system *s = field->system;
    q->arena = arena;
    q->field = field;
    q->spec = *spec;
    q->n = field->n;
    q->m = field->m;
    q->h = spec->n_hold;
    q->rows = q->n + q->m + q->h;
    q->p = ns_arena_copy(arena, field->p, (field->np + 1) * sizeof *q->p);
    q->p_set = NS_NEW_ARRAY(arena, double, field->np + 1);
    q->is_set = NS_NEW_ARRAY(arena, bool, field->np + 1);
    q->g = NS_NEW(arena, ns_generators);
    q->g->n = q->n;
    if (!spec->at_rest)
        q->g = ns_generators_find(field, x);
    if (!ns_flow_autonomous(field) && !ns_generators_find_time(field, x, q->g))
        return NULL;
    q->N = q->n + q->g->count;
    q->f = NS_NEW_ARRAY(arena, double, q->n + 1);
    q->J = NS_NEW_ARRAY(arena, double, (size_t)q->n * q->n + 1);
    q->C = NS_NEW_ARRAY(arena, double, q->m + 1);
    q->G = NS_NEW_ARRAY(arena, double, (size_t)q->m * q->n + 1);
    q->xi = NS_NEW_ARRAY(arena, double, (size_t)q->g->count * q->n + 1);
    q->H = NS_NEW_ARRAY(arena, double, (size_t)q->h * (q->n + 1) + 1);
    if (q->h)
        q->held = held_program(q, ns_system_state_symbols(s, arena));
    if (spec->over != UINT32_MAX)
        prepare(q);
    return q;
}

const ns_generators *ns_steady_generators(const ns_steady *q)
{
    return q->g;
}

void ns_steady_parameter(ns_steady *q, double value)
{
    NS_CHECK(q->spec.over < q->field->np);
    q->is_set[q->spec.over] = true;
    q->p_set[q->spec.over] = value;
    ns_system_params(q->field->system, q->is_set, q->p_set, q->p);
    ns_flow_bind(q->field, q->p);
}

/* xi_0 at x, component i: what the ground does. */
static double with_time(const ns_generators *g, const double *x, uint32_t i)
{
    double sum = g->A0 ? g->b0[i] : 0;
    for (uint32_t j = 0; j < g->n && g->A0; j++)
        sum += g->A0[(size_t)i * g->n + j] * x[j];
    return sum;
}

void ns_steady_look(ns_steady *q, const double *x, const double *c, double *r, double *D)
{
    const uint32_t n = q->n, count = q->g->count, N = q->N;
    const double *sigma = q->field->sigma;
    ns_flow_rhs(q->field, x, q->f);
    ns_flow_jacobian(q->field, x, q->J);
    ns_flow_manifold(q->field, x, q->C, q->G);
    ns_generators_at(q->g, x, q->xi);
    for (uint32_t i = 0; i < n; i++) {
        double *row = D + (size_t)i * N;
        q->f[i] -= with_time(q->g, x, i);
        r[i] = q->f[i] / sigma[i];
        for (uint32_t j = 0; j < n; j++)
            row[j] = q->J[(size_t)i * n + j] - (q->g->A0 ? q->g->A0[(size_t)i * n + j] : 0);
        for (uint32_t k = 0; k < count; k++) {
            r[i] -= c[k] * q->xi[(size_t)k * n + i] / sigma[i];
            row[n + k] = -q->xi[(size_t)k * n + i] / sigma[i];
            for (uint32_t j = 0; j < n; j++)
                row[j] -= c[k] * q->g->A[((size_t)k * n + i) * n + j];
        }
        for (uint32_t j = 0; j < n; j++)
            row[j] *= sigma[j] / sigma[i];
    }
    for (uint32_t i = 0; i < q->m; i++) {
        double *row = D + (size_t)(n + i) * N;
        r[n + i] = q->C[i];
        memset(row, 0, N * sizeof *row);
        for (uint32_t j = 0; j < n; j++)
            row[j] = q->G[(size_t)i * n + j] * sigma[j];
    }
    if (q->h)
        ns_flow_eval(q->field, q->held, x, q->H);
    for (uint32_t i = 0; i < q->h; i++) {
        double *row = D + (size_t)(n + q->m + i) * N;
        r[n + q->m + i] = q->H[i] - q->spec.hold[i].value;
        memset(row, 0, N * sizeof *row);
        for (uint32_t j = 0; j < n; j++)
            row[j] = q->H[q->h + (size_t)i * n + j] * sigma[j];
    }
}

double ns_steady_quality(const ns_steady *q, const double *c, const double *r)
{
    double most = 0, size = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        double terms = fabs(q->f[i]) / q->field->sigma[i];
        for (uint32_t k = 0; k < q->g->count; k++)
            terms += fabs(c[k] * q->xi[(size_t)k * q->n + i]) / q->field->sigma[i];
        size = ns_max(size, terms);
        most = ns_max(most, fabs(r[i]));
        if (isnan(r[i]))
            return INFINITY;
    }
    return most / ns_max(size, 1);
}

static double norm(const double *r, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += r[i] * r[i];
    return isnan(sum) ? INFINITY : sqrt(sum);
}

/* Speeds that come nearest to f. */
static void first_speeds(ns_steady *q, const double *x, double *c)
{
    const uint32_t n = q->n, count = q->g->count;
    const ns_arena_place mark = ns_arena_mark(q->field->scratch);
    double *A = NS_NEW_ARRAY(q->field->scratch, double, (size_t)n * count + 1);
    double *b = NS_NEW_ARRAY(q->field->scratch, double, n + 1);
    ns_flow_rhs(q->field, x, b);
    ns_generators_at(q->g, x, q->xi);
    for (uint32_t i = 0; i < n; i++) {
        b[i] = (b[i] - with_time(q->g, x, i)) / q->field->sigma[i];
        for (uint32_t k = 0; k < count; k++)
            A[(size_t)i * count + k] = q->xi[(size_t)k * n + i] / q->field->sigma[i];
    }
    ns_dense_least(q->field->scratch, n, count, A, b, 1e-8, c);
    ns_arena_release(q->field->scratch, mark);
}

/* ---- the search -------------------------------------------------------------------------- */

typedef struct finding {
    ns_steady *q;
    double *z; /* x, then c */
    double *r; /* where they were seen last */
} finding;

static double look(void *context, double *r, double *D)
{
    finding *f = context;
    ns_steady_look(f->q, f->z, f->z + f->q->n, r, D);
    f->r = r;
    return norm(r, f->q->rows);
}

bool ns_steady_find(ns_steady *q, const double *x, ns_steady_point *point)
{
    const uint32_t n = q->n, N = q->N;
    ns_arena *a = q->field->scratch;
    *point = (ns_steady_point){.parameter = q->spec.over != UINT32_MAX ? q->p[q->spec.over]
                                                                       : 0};
    point->x = NS_NEW_ARRAY(q->arena, double, N + 1);
    point->c = point->x + n;
    memcpy(point->x, x, n * sizeof *x);
    first_speeds(q, x, point->c);
    const ns_arena_place mark = ns_arena_mark(a);
    finding f = {.q = q, .z = point->x};
    double *scale = NS_NEW_ARRAY(a, double, N + 1);
    for (uint32_t i = 0; i < N; i++)
        scale[i] = i < n ? q->field->sigma[i] : 1;
    const ns_newton newton = {.rows = q->rows,
                              .columns = N,
                              .z = f.z,
                              .size = N,
                              .context = &f,
                              .look = look,
                              .scale = scale,
                              .damped = true,
                              .rounds = 200};
    const ns_newton_end end = ns_newton_solve(&newton,
                                              NS_NEW_ARRAY(a, double, ns_newton_work(&newton)));
    point->rounds = (uint32_t)end.rounds;
    point->residual = ns_steady_quality(q, point->c, f.r);
    for (uint32_t k = 0; k < q->g->count; k++)
        if (ns_generators_rests(q->field, q->g, k, point->x))
            point->c[k] = 0;
    double off = 0;
    for (uint32_t i = n; i < q->rows; i++)
        off = ns_max(off, fabs(f.r[i]));
    ns_arena_release(a, mark);
    return point->residual < 1e-10 && off < 1e-10 && end.step < 1e-6;
}

/* The same steady motion as one before: the same states and speeds. */
static bool is_known(const ns_steady *q, const ns_steady_set *set, const ns_steady_point *p)
{
    for (uint32_t i = 0; i < set->found.n; i++) {
        double off = 0;
        for (uint32_t k = 0; k < q->n; k++)
            off = ns_max(off, fabs(set->found.at[i].x[k] - p->x[k]));
        for (uint32_t k = 0; k < q->g->count; k++)
            off = ns_max(off, fabs(set->found.at[i].c[k] - p->c[k]));
        if (off < 1e-8)
            return true;
    }
    return false;
}

ns_steady_set ns_steady_find_all(ns_steady *q, uint32_t n, const double *x)
{
    ns_steady_set set = {0};
    for (uint32_t i = 0; i < n; i++) {
        ns_steady_point point;
        if (!ns_steady_find(q, x + (size_t)i * q->n, &point)) {
            NS_PUSH(q->arena, set.failed, point);
            NS_PUSH(q->arena, set.failures, i);
        } else if (!is_known(q, &set, &point)) {
            point.linear = ns_linear_at(q->field, q->g, q->arena, point.x, point.c, NULL);
            point.stability = ns_stability_at(q, &point);
            if (q->spec.n_by)
                point.rates = ns_steady_derive(q, &point);
            NS_PUSH(q->arena, set.found, point);
        }
    }
    return set;
}
