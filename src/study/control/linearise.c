#include "study/control/linearise.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"

/* Parts this small of the whole do not count: values that depend on others, deviations that
 * have no effect, directions that are not reached. */
static const double dependent = 1e-8;

struct ns_linearise {
    ns_flow *field;
    ns_linear_value *state, *output;
    const char **input;
    uint32_t n, m, k;
    ns_flow_program
        *program; /* Z, W, Y; z, z', y, z'', dz/du, dz'/du, dy/du, d(constraints)/du */
    uint32_t constraints;
};

/* ---- which states ------------------------------------------------------------------------ */

/* States in their order whose deviations determine those of all: a state is taken if it is
 * independent of those before it by an angle that is not too small. */
static void choose(ns_linearise *q, ns_arena *arena, const double *x)
{
    const ns_system *s = q->field->system;
    const uint32_t n = q->field->n;
    double *N = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    double *taken = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    double *row = NS_NEW_ARRAY(arena, double, n + 1);
    bool *used = NS_NEW_ARRAY(arena, bool, n + 1);
    const uint32_t r = ns_flow_tangent(q->field, x, N);
    static const double sines[] = {0.3, 0.03, 1e-3, 1e-6};
    uint32_t count = 0;
    for (unsigned pass = 0; pass < 4 && count < r; pass++)
        for (uint32_t i = 0; i < n && count < r; i++) {
            for (uint32_t j = 0; j < r; j++)
                row[j] = N[(size_t)j * n + i];
            for (uint32_t k = 0; k < count; k++) {
                const double *other = taken + (size_t)k * r, part = ns_dense_dot(r, row, other);
                for (uint32_t j = 0; j < r; j++)
                    row[j] -= part * other[j];
            }
            if (used[i] || !(ns_algebra_length(r, row) > sines[pass]))
                continue;
            ns_dense_unit(r, row);
            memcpy(taken + (size_t)count++ * r, row, r * sizeof *row);
            used[i] = true;
        }
    q->state = NS_NEW_ARRAY(arena, ns_linear_value, count + 1);
    for (uint32_t i = 0; i < n; i++)
        if (used[i])
            q->state[q->n++] = (ns_linear_value){s->states.at[i].name, s->states.at[i].unit,
                                                 s->states.at[i].symbol};
}

/* ---- expressions ------------------------------------------------------------------------- */

typedef struct builder {
    ns_linearise *q;
    ns_arena *a;
    ns_graph *graph;
    const ns_ex *x, *p;
    ns_ex *from, *to; /* [states + 1] time and states with their rates */
    ns_ex *out;
    size_t n_out;
} builder;

static void rates_of(const builder *b, const ns_ex *f, uint32_t n, ns_ex *out)
{
    const ns_system *s = b->q->field->system;
    ns_diff_along(b->graph, f, n, b->from, b->to, b->q->field->n + (s->time ? 1 : 0), out);
}

static void put_gradients(builder *b, const ns_ex *f, uint32_t n)
{
    ns_diff_jacobian(b->graph, f, n, b->x, b->q->field->n, b->out + b->n_out);
    b->n_out += (size_t)n * b->q->field->n;
}

static void put(builder *b, const ns_ex *f, uint32_t n)
{
    memcpy(b->out + b->n_out, f, n * sizeof *f);
    b->n_out += n;
}

/* By the inputs, one column after the other: [m][n]. */
static void put_by_inputs(builder *b, const ns_ex *f, uint32_t n, const uint32_t *inputs)
{
    ns_ex *dp = NS_NEW_ARRAY(b->a, ns_ex, b->q->field->np + 1);
    for (uint32_t j = 0; j < b->q->m; j++) {
        ns_flow_param_direction(b->q->field, inputs[j], dp);
        ns_diff_along(b->graph, f, n, b->p, dp, b->q->field->np, b->out + b->n_out);
        b->n_out += n;
    }
}

static void build(ns_linearise *q, ns_arena *arena, const uint32_t *inputs)
{
    const ns_system *s = q->field->system;
    const uint32_t n = q->n, k = q->k, states = q->field->n;
    builder b = {.q = q,
                 .a = arena,
                 .graph = s->graph,
                 .x = ns_system_state_symbols(s, arena),
                 .p = ns_system_param_symbols(s, arena)};
    b.from = ns_system_state_symbols(s, arena);
    b.to = ns_system_state_rates(s, arena);
    b.from[states] = s->time;
    b.to[states] = ns_one(s->graph);
    q->constraints = s->constraints.n;
    const size_t all = (size_t)(2 * n + k) * states + 3 * n + k +
                       (size_t)q->m * (2 * n + k + q->constraints);
    b.out = NS_NEW_ARRAY(arena, ns_ex, all + 1);
    ns_ex *z = NS_NEW_ARRAY(arena, ns_ex, n + 1), *y = NS_NEW_ARRAY(arena, ns_ex, k + 1);
    ns_ex *rate = NS_NEW_ARRAY(arena, ns_ex, n + 1),
                               *second = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    ns_ex *residual = NS_NEW_ARRAY(arena, ns_ex, q->constraints + 1);
    for (uint32_t i = 0; i < n; i++)
        z[i] = q->state[i].value;
    for (uint32_t i = 0; i < k; i++)
        y[i] = q->output[i].value;
    for (uint32_t i = 0; i < q->constraints; i++)
        residual[i] = s->constraints.at[i].residual;
    rates_of(&b, z, n, rate);
    rates_of(&b, rate, n, second);
    put_gradients(&b, z, n);
    put_gradients(&b, rate, n);
    put_gradients(&b, y, k);
    put(&b, z, n);
    put(&b, rate, n);
    put(&b, y, k);
    put(&b, second, n);
    put_by_inputs(&b, z, n, inputs);
    put_by_inputs(&b, rate, n, inputs);
    put_by_inputs(&b, y, k, inputs);
    put_by_inputs(&b, residual, q->constraints, inputs);
    q->program = ns_flow_program_new(q->field, b.out, (uint32_t)b.n_out, NULL, 0);
}

ns_linearise *ns_linearise_new(ns_arena *arena, ns_flow *field, const ns_linearise_spec *spec,
                               const double *x, const char **message)
{
    enum { MOST = 200 };
    ns_linearise *q = NS_NEW(arena, ns_linearise);
    q->field = field;
    q->m = spec->m;
    q->input = NS_NEW_ARRAY(arena, const char *, spec->m + 1);
    for (uint32_t i = 0; i < spec->m; i++)
        q->input[i] = field->system->description->params.at[spec->inputs[i]].name;
    if (spec->n) {
        q->n = spec->n;
        q->state = ns_arena_copy(arena, spec->states, spec->n * sizeof *spec->states);
    } else
        choose(q, arena, x);
    q->k = spec->k ? spec->k : q->n;
    q->output = spec->k ? ns_arena_copy(arena, spec->outputs, spec->k * sizeof *spec->outputs)
                        : q->state;
    if (q->n > MOST || q->k > MOST || q->m > MOST) {
        *message = ns_arena_format(arena, "more than %d states, inputs or outputs", MOST);
        return NULL;
    }
    build(q, arena, spec->inputs);
    return q;
}

/* ---- matrices ---------------------------------------------------------------------------- */

/* The state whose deviation has most to do with the direction d[r] of the tangent space. */
static const char *missing_state(const ns_flow *field, uint32_t r, const double *N,
                                 const double *d)
{
    double most = -1;
    const char *name = "";
    for (uint32_t i = 0; i < field->n; i++) {
        double length = 0, part = 0;
        for (uint32_t j = 0; j < r; j++) {
            length += N[(size_t)j * field->n + i] * N[(size_t)j * field->n + i];
            part += N[(size_t)j * field->n + i] * d[j];
        }
        if (!field->system->states.at[i].internal && length > 1e-12 &&
            fabs(part) / sqrt(length) > most) {
            most = fabs(part) / sqrt(length);
            name = field->system->states.at[i].name;
        }
    }
    return name;
}

/* M[rows][n] with M Z = F on the tangent space; the first row that is not so, or `rows`, with
 * what is left of it in `left`. */
static uint32_t express(ns_arena *a, uint32_t rows, uint32_t n, uint32_t r, const double *Z,
                        const double *F, double *M, double *left)
{
    double *Zt = NS_NEW_ARRAY(a, double, (size_t)r * n + 1);
    double whole = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < r; j++)
            Zt[(size_t)j * n + i] = Z[(size_t)i * r + j];
    for (size_t i = 0; i < (size_t)rows * r; i++)
        whole = ns_max(whole, fabs(F[i]));
    for (uint32_t i = 0; i < rows; i++) {
        const double *f = F + (size_t)i * r;
        const ns_arena_place mark = ns_arena_mark(a);
        ns_dense_least(a, r, n, Zt, f, 1e-13, M + (size_t)i * n);
        ns_arena_release(a, mark);
        for (uint32_t j = 0; j < r; j++)
            left[j] = f[j] - ns_dense_dot(n, Zt + (size_t)j * n, M + (size_t)i * n);
        const double size = ns_max(ns_algebra_length(r, f), 1e-3 * whole);
        if (!(ns_algebra_length(r, left) <= dependent * size))
            return i;
    }
    return rows;
}

static uint32_t rank_of(ns_arena *a, uint32_t m, uint32_t n, const double *A)
{
    const ns_arena_place mark = ns_arena_mark(a);
    double *sigma = NS_NEW_ARRAY(a, double, m + n + 1);
    ns_dense_svd(a, m, n, A, sigma, NULL);
    uint32_t rank = 0;
    while (rank < m && rank < n && sigma[rank] > dependent * sigma[0])
        rank++;
    ns_arena_release(a, mark);
    return rank;
}

/* Dimension of span b, Ab, AAb, ... for the columns b of B, A by rows or, turned, by columns:
 * each new direction is made orthogonal to those before, twice. */
static uint32_t reach(ns_arena *a, uint32_t n, uint32_t m, const double *A, const double *B,
                      bool turned)
{
    const ns_arena_place mark = ns_arena_mark(a);
    double *V = NS_NEW_ARRAY(a, double, (size_t)(n + 1) * n + 1);
    uint32_t count = 0, next = 0;
    for (uint32_t j = 0; count < n && (j < m || next < count); j++) {
        double *v = V + (size_t)count * n;
        for (uint32_t i = 0; i < n && j < m; i++)
            v[i] = turned ? B[(size_t)j * n + i] : B[(size_t)i * m + j];
        if (j >= m) {
            const double *of = V + (size_t)next++ * n;
            for (uint32_t i = 0; i < n; i++) {
                v[i] = 0;
                for (uint32_t l = 0; l < n; l++)
                    v[i] += (turned ? A[(size_t)l * n + i] : A[(size_t)i * n + l]) * of[l];
            }
        }
        if (!(ns_dense_unit(n, v) > 0))
            continue;
        for (int twice = 0; twice < 2; twice++)
            for (uint32_t k = 0; k < count; k++) {
                const double part = ns_dense_dot(n, v, V + (size_t)k * n);
                for (uint32_t i = 0; i < n; i++)
                    v[i] -= part * V[(size_t)k * n + i];
            }
        if (ns_dense_unit(n, v) > dependent)
            count++;
    }
    ns_arena_release(a, mark);
    return count;
}

/* rest: z, z', y, z'', then derivatives by the inputs, each [m][...]. */
static bool take_rest(const ns_linearise *q, ns_arena *arena, const double *rest,
                      ns_linear_model *l, const char **message)
{
    const uint32_t n = q->n, m = q->m, k = q->k;
    memcpy(l->z, rest, n * sizeof *rest);
    memcpy(l->rate, rest + n, n * sizeof *rest);
    memcpy(l->y, rest + 2 * n, k * sizeof *rest);
    memcpy(l->second, rest + 2 * n + k, n * sizeof *rest);
    const double *Zu = rest + 3 * n + k, *Wu = Zu + (size_t)m * n, *Yu = Wu + (size_t)m * n;
    const double *Cu = Yu + (size_t)m * k;
    for (uint32_t j = 0; j < m; j++) {
        for (uint32_t i = 0; i < n; i++) {
            l->B[(size_t)i * m + j] = Wu[(size_t)j * n + i];
            if (Zu[(size_t)j * n + i] == 0)
                continue;
            *message = ns_arena_format(arena,
                                       "`%s` follows the input `%s` without delay: it cannot "
                                       "be a state of the linear model, only an output",
                                       q->state[i].name, q->input[j]);
            return false;
        }
        for (uint32_t i = 0; i < k; i++)
            l->D[(size_t)i * m + j] = Yu[(size_t)j * k + i];
        for (uint32_t i = 0; i < q->constraints; i++)
            if (Cu[(size_t)j * q->constraints + i] != 0) {
                *message = ns_arena_format(
                    arena,
                    "the constraint `%s` contains the input `%s`: its rate would be an input "
                    "too; steer by a force, or prescribe the acceleration",
                    q->field->system->constraints.at[i].name, q->input[j]);
                return false;
            }
    }
    return true;
}

static bool all_finite(size_t n, const double *v)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

/* A and C from their parts on the tangent space; false with a message. */
static bool take_matrices(const ns_linearise *q, ns_arena *arena, uint32_t r, const double *N,
                          const double *on, ns_linear_model *l, const char **message)
{
    ns_arena *a = q->field->scratch;
    const uint32_t n = q->n, k = q->k;
    const double *Z = on, *W = Z + (size_t)n * r, *Y = W + (size_t)n * r;
    double *left = NS_NEW_ARRAY(a, double, r + 1);
    const uint32_t rank = rank_of(a, n, r, Z);
    if (rank < n) {
        *message = ns_arena_format(arena,
                                   "the values depend on each other: %u are named, their "
                                   "deviations have %u dimensions",
                                   n, rank);
        return false;
    }
    uint32_t bad = express(a, n, n, r, Z, W, l->A, left);
    if (bad < n) {
        *message = ns_arena_format(arena,
                                   "the rate of `%s` depends on more than the values named, "
                                   "for example on `%s`: name it too",
                                   q->state[bad].name, missing_state(q->field, r, N, left));
        return false;
    }
    bad = express(a, k, n, r, Z, Y, l->C, left);
    if (bad == k)
        return true;
    *message = ns_arena_format(arena,
                               "the output `%s` depends on more than the states named, for "
                               "example on `%s`: name it too",
                               q->output[bad].name, missing_state(q->field, r, N, left));
    return false;
}

ns_linear_model *ns_linearise_at(ns_linearise *q, ns_arena *arena, const double *x,
                                 const char **message)
{
    const uint32_t n = q->n, m = q->m, k = q->k, states = q->field->n;
    ns_linear_model *l = NS_NEW(arena, ns_linear_model);
    *l = (ns_linear_model){.n = n,
                           .m = m,
                           .k = k,
                           .state = q->state,
                           .output = q->output,
                           .input = q->input,
                           .t = q->field->t};
    l->z = NS_NEW_ARRAY(arena, double, n + 1);
    l->rate = NS_NEW_ARRAY(arena, double, n + 1);
    l->second = NS_NEW_ARRAY(arena, double, n + 1);
    l->y = NS_NEW_ARRAY(arena, double, k + 1);
    l->A = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    l->B = NS_NEW_ARRAY(arena, double, (size_t)n * m + 1);
    l->C = NS_NEW_ARRAY(arena, double, (size_t)k * n + 1);
    l->D = NS_NEW_ARRAY(arena, double, (size_t)k * m + 1);
    l->mode = NS_NEW_ARRAY(arena, ns_eigenvalue, n + 1);
    ns_arena *a = q->field->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    const uint32_t rows = 2 * n + k;
    double *N = NS_NEW_ARRAY(a, double, (size_t)states * states + 1);
    const uint32_t r = ns_flow_tangent(q->field, x, N);
    double *on = NS_NEW_ARRAY(a, double, (size_t)rows * r + 1);
    const size_t n_rest = q->program->outputs - (size_t)rows * states;
    double *rest = NS_NEW_ARRAY(a, double, n_rest + 1);
    ns_flow_program_along(q->field, q->program, rows, x, r, N, on, rest);
    bool good = all_finite((size_t)rows * r, on) && all_finite(n_rest, rest);
    if (!good)
        *message = "a value or a derivative is undefined at this state";
    good = good && take_rest(q, arena, rest, l, message) &&
           take_matrices(q, arena, r, N, on, l, message);
    ns_arena_release(a, mark);
    if (!good)
        return NULL;
    ns_linear_eigenvalues(a, n, l->A, l->mode);
    l->controllable = reach(a, n, m, l->A, l->B, false);
    l->observable = reach(a, n, k, l->A, l->C, true);
    return l;
}
