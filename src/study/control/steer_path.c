#include "study/control/steer_path.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "base/series/series.h"
#include "expr/diff.h"
#include "expr/subst.h"
#include "mech/common/dense.h"
#include "ode/gauss/gauss_table.h"

/* ---- programs ---------------------------------------------------------------------------- */

/* Where things stand among the outputs of `first`. */
typedef struct place {
    size_t J, l, l_z, c, c_z;
} place;

static place places(const ns_path *p)
{
    const size_t n = p->n, nz = p->n + p->m;
    return (place){.J = n,
                   .l = n + n * nz,
                   .l_z = n + n * nz + 1,
                   .c = n + n * nz + 1 + nz,
                   .c_z = n + n * nz + 1 + nz + p->keeps};
}

typedef struct builder {
    ns_path *p;
    ns_arena *a;
    ns_graph *graph;
    const ns_system *s;
    ns_ex *from, *to; /* parameters that are inputs, symbols that stand for them */
    ns_ex *z;         /* [n + m] states and inputs */
} builder;

static ns_ex in_inputs(const builder *b, ns_ex e)
{
    return ns_subst_one(b->graph, e, b->from, b->to, b->p->m);
}

static ns_ex *fresh(const builder *b, const char *name, uint32_t n)
{
    ns_ex *made = NS_NEW_ARRAY(b->a, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        made[i] = ns_symbol_new(b->graph, ns_arena_format(b->a, "%s%u", name, i + 1),
                                NS_SYM_STATE, i);
    return made;
}

/* Hessian of the sum of weight[i] f[i] by z[nz], as a program with inputs x, then `more`. */
static ns_flow_program *hessian(const builder *b, const ns_ex *f, const ns_ex *weight,
                                uint32_t n, const ns_ex *z, uint32_t nz, const ns_ex *more,
                                uint32_t n_more)
{
    ns_ex sum = ns_zero(b->graph);
    for (uint32_t i = 0; i < n; i++) {
        const ns_ex term = ns_mul(b->graph, weight[i], f[i]);
        sum = ns_add(b->graph, sum, term);
    }
    ns_ex *gradient = NS_NEW_ARRAY(b->a, ns_ex, nz + 1);
    ns_ex *out = NS_NEW_ARRAY(b->a, ns_ex, (size_t)nz * nz + 1);
    ns_diff_gradient(b->graph, sum, z, nz, gradient);
    ns_diff_jacobian(b->graph, gradient, nz, z, nz, out);
    return ns_flow_program_new(b->p->flow, out, nz * nz, more, n_more);
}

static void build_nodes(const builder *b)
{
    ns_path *p = b->p;
    const uint32_t n = p->n, nz = n + p->m, rows = n + 1 + p->keeps;
    ns_ex *f = NS_NEW_ARRAY(b->a, ns_ex, rows + 1);
    for (uint32_t i = 0; i < n; i++)
        f[i] = in_inputs(b, b->s->states.at[i].rate);
    f[n] = ns_zero(b->graph);
    for (uint32_t i = 0; i < p->m && !p->spec->cost; i++) {
        const ns_ex square = ns_mul(b->graph, b->to[i], b->to[i]);
        f[n] = ns_add(b->graph, f[n], square);
    }
    if (p->spec->cost)
        f[n] = in_inputs(b, p->spec->cost);
    for (uint32_t i = 0; i < p->keeps; i++)
        f[n + 1 + i] = in_inputs(b, p->spec->keeps[i].value);
    ns_ex *J = NS_NEW_ARRAY(b->a, ns_ex, (size_t)rows * nz + 1);
    ns_diff_jacobian(b->graph, f, rows, b->z, nz, J);
    const place at = places(p);
    const size_t all = at.c_z + (size_t)p->keeps * nz;
    ns_ex *out = NS_NEW_ARRAY(b->a, ns_ex, all + 1);
    memcpy(out, f, n * sizeof *f);
    memcpy(out + at.J, J, (size_t)n * nz * sizeof *J);
    out[at.l] = f[n];
    memcpy(out + at.l_z, J + (size_t)n * nz, nz * sizeof *J);
    memcpy(out + at.c, f + n + 1, p->keeps * sizeof *f);
    memcpy(out + at.c_z, J + (size_t)(n + 1) * nz, (size_t)p->keeps * nz * sizeof *J);
    p->first = ns_flow_program_new(p->flow, out, (uint32_t)all, b->to, p->m);
    /* inputs u, then the weights */
    ns_ex *weight = fresh(b, "weight", rows);
    ns_ex *more = NS_NEW_ARRAY(b->a, ns_ex, p->m + rows + 1);
    memcpy(more, b->to, p->m * sizeof *more);
    memcpy(more + p->m, weight, rows * sizeof *more);
    p->second = hessian(b, f, weight, rows, b->z, nz, more, p->m + rows);
}

static void build_end(const builder *b)
{
    ns_path *p = b->p;
    const uint32_t n = p->n, k = p->goals;
    ns_ex *out = NS_NEW_ARRAY(b->a, ns_ex, k + (size_t)k * n + 1);
    for (uint32_t i = 0; i < k; i++) {
        const ns_ex target = ns_number(b->graph, p->spec->goals[i].low);
        out[i] = ns_sub(b->graph, p->spec->goals[i].value, target);
    }
    ns_diff_jacobian(b->graph, out, k, b->z, n, out + k);
    p->end = ns_flow_program_new(p->flow, out, k + k * n, NULL, 0);
    ns_ex *weight = fresh(b, "multiplier", k);
    p->end_second = hessian(b, out, weight, k, b->z, n, weight, k);
}

double ns_path_room(const ns_path *p, uint32_t steps)
{
    return (double)steps * NS_PATH_NODES * p->size * (p->n + p->keeps);
}

/* What the inputs must not touch, in words; NULL if all is well. */
static const char *refusal(const builder *b, const ns_steer_spec *spec)
{
    ns_path *p = b->p;
    ns_ex *dp = NS_NEW_ARRAY(b->a, ns_ex, p->flow->np + 1);
    const ns_description *d = b->s->description;
    if (p->n > 100)
        return ns_arena_format(b->a, "plans are for systems of at most 100 states; this has %u",
                               p->n);
    if (ns_path_room(p, spec->pieces) > 2e7)
        return ns_arena_format(b->a,
                               "%u states, %u inputs and %u pieces are more than a plan can "
                               "have: fewer --pieces",
                               p->n, p->m, spec->pieces);
    for (uint32_t j = 0; j < p->m; j++) {
        const char *name = d->params.at[spec->inputs[j]].name;
        ns_flow_param_direction(p->flow, spec->inputs[j], dp);
        for (uint32_t i = 0; i < p->flow->np; i++)
            if (i != spec->inputs[j] && dp[i] != ns_zero(b->graph))
                return ns_arena_format(b->a, "the parameter `%s` depends on the input `%s`",
                                       d->params.at[i].name, name);
        for (uint32_t i = 0; i < b->s->constraints.n; i++)
            if (ns_graph_depends(b->graph, b->s->constraints.at[i].residual, &b->from[j], 1))
                return ns_arena_format(b->a,
                                       "the constraint `%s` contains the input `%s`; plans "
                                       "need inputs in forces, or in rates",
                                       b->s->constraints.at[i].name, name);
        for (uint32_t i = 0; i < p->goals; i++)
            if (ns_graph_depends(b->graph, spec->goals[i].value, &b->from[j], 1))
                return ns_arena_format(b->a, "the goal `%s` contains the input `%s`",
                                       spec->goals[i].name, name);
    }
    return NULL;
}

ns_path *ns_path_new(ns_arena *arena, ns_flow *flow, const ns_steer_spec *spec,
                     const double *x0, const char **message)
{
    ns_path *p = NS_NEW(arena, ns_path);
    *p = (ns_path){.spec = spec,
                   .flow = flow,
                   .arena = arena,
                   .scratch = ns_arena_child(arena),
                   .n = flow->n,
                   .m = spec->m,
                   .goals = spec->n_goals,
                   .keeps = spec->n_keeps,
                   .x0 = x0};
    p->values = spec->order ? spec->pieces + 1 : spec->pieces;
    p->size = p->m * p->values;
    const ns_system *s = flow->system;
    builder b = {.p = p, .a = arena, .graph = s->graph, .s = s};
    const ns_ex *params = ns_system_param_symbols(s, arena);
    b.from = NS_NEW_ARRAY(arena, ns_ex, p->m + 1);
    for (uint32_t i = 0; i < p->m; i++)
        b.from[i] = params[spec->inputs[i]];
    b.to = fresh(&b, "input", p->m);
    b.z = NS_NEW_ARRAY(arena, ns_ex, p->n + p->m + 1);
    memcpy(b.z, ns_system_state_symbols(s, arena), p->n * sizeof *b.z);
    memcpy(b.z + p->n, b.to, p->m * sizeof *b.z);
    *message = refusal(&b, spec);
    if (*message)
        return NULL;
    build_nodes(&b);
    build_end(&b);
    p->g = NS_NEW_ARRAY(arena, double, p->goals + (size_t)p->goals * p->n + 1);
    p->cost_w = NS_NEW_ARRAY(arena, double, p->size + 1);
    p->g_w = NS_NEW_ARRAY(arena, double, (size_t)p->goals * p->size + 1);
    p->x_w = NS_NEW_ARRAY(arena, double, (size_t)p->n * p->size + 1);
    return p;
}

/* ---- grid -------------------------------------------------------------------------------- */

void ns_path_grid(ns_path *p, uint32_t steps)
{
    const ns_steer_spec *spec = p->spec;
    ns_arena *a = p->arena;
    const uint32_t order = spec->order, width = order + 1, rows = p->values;
    const double piece = (spec->until - spec->t0) / spec->pieces;
    p->warm = false;
    if (p->steps == steps)
        return;
    p->steps = steps;
    p->nodes = steps * NS_PATH_NODES;
    p->h = (spec->until - spec->t0) / steps;
    p->weight = NS_NEW_ARRAY(a, double, (size_t)p->nodes * rows + 1);
    p->X = NS_NEW_ARRAY(a, double, (size_t)p->nodes * p->n + 1);
    p->x = NS_NEW_ARRAY(a, double, (size_t)(steps + 1) * p->n + 1);
    p->at = NS_NEW_ARRAY(a, double, (size_t)p->nodes * p->first->outputs + 1);
    p->c = NS_NEW_ARRAY(a, double, (size_t)p->nodes * p->keeps + 1);
    p->S = p->c_w = NULL; /* when they are asked for */
    double *t = NS_NEW_ARRAY(a, double, rows + 1), *y = NS_NEW_ARRAY(a, double, rows + 1);
    double *coefficient = NS_NEW_ARRAY(a, double, (size_t)rows * width + 1);
    for (uint32_t l = 0; l < rows; l++)
        t[l] = spec->t0 + l * piece;
    for (uint32_t l = 0; l < rows; l++) {
        y[l] = 1;
        ns_series_spline(p->scratch, rows, t, y, order, coefficient);
        y[l] = 0;
        for (uint32_t node = 0; node < p->nodes; node++) {
            const uint32_t k = node / NS_PATH_NODES, at = k / (steps / spec->pieces);
            const double s = spec->t0 + (k + gauss_c[node % NS_PATH_NODES]) * p->h - t[at];
            double value = 0;
            for (uint32_t i = width; i-- > 0;)
                value = value * s + coefficient[(size_t)at * width + i];
            p->weight[(size_t)node * rows + l] = value;
        }
    }
}

/* The inputs at a node. */
static void inputs_at(const ns_path *p, const double *w, uint32_t node, double *u)
{
    for (uint32_t i = 0; i < p->m; i++)
        u[i] = ns_dense_dot(p->values, p->weight + (size_t)node * p->values,
                            w + (size_t)i * p->values);
}

/* ---- the motion -------------------------------------------------------------------------- */

static double a_of(uint32_t i, uint32_t j)
{
    return gauss_mu[j][i] * gauss_b[j];
}

static double time_of(const ns_path *p, uint32_t node)
{
    const uint32_t step = node / NS_PATH_NODES;
    return p->spec->t0 + (step + gauss_c[node % NS_PATH_NODES]) * p->h;
}

/* Values of `first` at the nodes of step k; false if one is not a number. */
static bool look(ns_path *p, const double *w, uint32_t k, double *z)
{
    const uint32_t out = p->first->outputs;
    for (uint32_t i = 0; i < NS_PATH_NODES; i++) {
        const uint32_t node = k * NS_PATH_NODES + i;
        double *to = p->at + (size_t)node * out;
        memcpy(z, p->X + (size_t)node * p->n, p->n * sizeof *z);
        inputs_at(p, w, node, z + p->n);
        p->flow->t = time_of(p, node);
        ns_flow_eval(p->flow, p->first, z, to);
        for (uint32_t q = 0; q < out; q++)
            if (!isfinite(to[q]))
                return false;
    }
    return true;
}

/* 1 - h a J of step k, or its transpose. */
static void stage_matrix(const ns_path *p, uint32_t k, bool turned, double *M)
{
    const uint32_t n = p->n, N = NS_PATH_NODES * n, nz = n + p->m;
    for (uint32_t i = 0; i < NS_PATH_NODES; i++)
        for (uint32_t j = 0; j < NS_PATH_NODES; j++) {
            const double *J = p->at + (size_t)(k * NS_PATH_NODES + j) * p->first->outputs +
                              places(p).J;
            const double a = p->h * a_of(i, j);
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t q = 0; q < n; q++) {
                    const size_t row = (size_t)i * n + r, column = (size_t)j * n + q;
                    M[turned ? column * N + row : row * N + column] = (row == column ? 1 : 0) -
                                                                      a * J[(size_t)r * nz + q];
                }
        }
}

/* Newton's method for the stages of step k. */
static bool solve_step(ns_path *p, const double *w, uint32_t k, double *z, double *M, double *r)
{
    enum { ROUNDS = 25 };
    const uint32_t n = p->n, N = NS_PATH_NODES * n, out = p->first->outputs;
    const double *x = p->x + (size_t)k * n;
    double *X = p->X + (size_t)k * N, before = (double)INFINITY;
    for (uint32_t i = 0; i < N && !p->warm; i++)
        X[i] = x[i % n];
    for (int round = 0; round < ROUNDS; round++) {
        if (!look(p, w, k, z))
            return false;
        const double *f = p->at + (size_t)k * NS_PATH_NODES * out;
        for (uint32_t i = 0; i < NS_PATH_NODES; i++)
            for (uint32_t q = 0; q < n; q++) {
                double sum = 0;
                for (uint32_t j = 0; j < NS_PATH_NODES; j++)
                    sum += a_of(i, j) * f[(size_t)j * out + q];
                r[i * n + q] = x[q] + p->h * sum - X[i * n + q];
            }
        stage_matrix(p, k, false, M);
        if (!ns_dense_solve(N, M, 1, r))
            return false;
        double change = 0;
        for (uint32_t i = 0; i < N; i++) {
            change = ns_max(change, fabs(r[i]) / (p->flow->sigma[i % n] + fabs(X[i])));
            X[i] += r[i];
        }
        if (!isfinite(change) || change > 1e6)
            return false;
        if (change < 1e-15 || (change < 1e-11 && !(change < before / 4)))
            return look(p, w, k, z);
        before = change;
    }
    return false;
}

bool ns_path_solve(ns_path *p, const double *w)
{
    const uint32_t n = p->n, N = NS_PATH_NODES * n, out = p->first->outputs;
    const place at = places(p);
    const ns_arena_place mark = ns_arena_mark(p->scratch);
    double *M = NS_NEW_ARRAY(p->scratch, double, (size_t)N * N + 1);
    double *r = NS_NEW_ARRAY(p->scratch, double, N + 1);
    double *z = NS_NEW_ARRAY(p->scratch, double, n + p->m + 1);
    memcpy(p->x, p->x0, n * sizeof *p->x);
    p->cost = 0;
    bool good = true;
    for (uint32_t k = 0; k < p->steps && good; k++) {
        good = solve_step(p, w, k, z, M, r);
        const double *f = p->at + (size_t)k * NS_PATH_NODES * out;
        for (uint32_t q = 0; q < n; q++) {
            double sum = 0;
            for (uint32_t j = 0; j < NS_PATH_NODES; j++)
                sum += gauss_b[j] * f[(size_t)j * out + q];
            p->x[(size_t)(k + 1) * n + q] = p->x[(size_t)k * n + q] + p->h * sum;
        }
        for (uint32_t j = 0; j < NS_PATH_NODES; j++) {
            const uint32_t node = k * NS_PATH_NODES + j;
            p->cost += p->h * gauss_b[j] * f[(size_t)j * out + at.l];
            memcpy(p->c + (size_t)node * p->keeps, f + (size_t)j * out + at.c,
                   p->keeps * sizeof *p->c);
        }
    }
    p->warm = good;
    if (good) {
        p->flow->t = p->spec->until;
        ns_flow_eval(p->flow, p->end, p->x + (size_t)p->steps * n, p->g);
        for (uint32_t i = 0; i < p->end->outputs; i++)
            good = good && isfinite(p->g[i]);
    }
    ns_arena_release(p->scratch, mark);
    return good && isfinite(p->cost);
}

/* ---- derivatives ------------------------------------------------------------------------- */

/* Adds s (row[n + m]) [S; du/dw] of a node to out[size]. */
static void add_node(const ns_path *p, uint32_t node, double s, const double *row, double *out)
{
    const double *S = p->S + (size_t)node * p->n * p->size;
    const double *weight = p->weight + (size_t)node * p->values;
    for (uint32_t q = 0; q < p->n; q++)
        for (uint32_t i = 0; i < p->size && row[q] != 0; i++)
            out[i] += s * row[q] * S[(size_t)q * p->size + i];
    for (uint32_t i = 0; i < p->m; i++)
        for (uint32_t l = 0; l < p->values && row[p->n + i] != 0; l++)
            out[(size_t)i * p->values + l] += s * row[p->n + i] * weight[l];
}

/* S at the nodes of step k from that of its beginning, in x_w; x_w at its end. */
static bool derive_step(ns_path *p, uint32_t k, double *M)
{
    const uint32_t n = p->n, N = NS_PATH_NODES * n, out = p->first->outputs, nz = n + p->m;
    const place at = places(p);
    double *S = p->S + (size_t)k * N * p->size;
    const double *first = p->at + (size_t)k * NS_PATH_NODES * out;
    for (uint32_t i = 0; i < NS_PATH_NODES; i++)
        for (uint32_t q = 0; q < n; q++) {
            double *row = S + (size_t)(i * n + q) * p->size;
            memcpy(row, p->x_w + (size_t)q * p->size, p->size * sizeof *row);
            for (uint32_t j = 0; j < NS_PATH_NODES; j++) {
                const uint32_t node = k * NS_PATH_NODES + j;
                const double *fu = first + (size_t)j * out + at.J + (size_t)q * nz + n;
                const double a = p->h * a_of(i, j);
                for (uint32_t c = 0; c < p->m; c++)
                    for (uint32_t l = 0; l < p->values && fu[c] != 0; l++)
                        row[(size_t)c * p->values + l] +=
                            a * fu[c] * p->weight[(size_t)node * p->values + l];
            }
        }
    stage_matrix(p, k, false, M);
    if (!ns_dense_solve(N, M, p->size, S))
        return false;
    for (uint32_t q = 0; q < n; q++)
        for (uint32_t j = 0; j < NS_PATH_NODES; j++)
            add_node(p, k * NS_PATH_NODES + j, p->h * gauss_b[j],
                     first + (size_t)j * out + at.J + (size_t)q * nz,
                     p->x_w + (size_t)q * p->size);
    return true;
}

bool ns_path_derive(ns_path *p)
{
    const uint32_t n = p->n, N = NS_PATH_NODES * n, out = p->first->outputs, nz = n + p->m;
    const place at = places(p);
    if (!p->S) {
        p->S = NS_NEW_ARRAY(p->arena, double, (size_t)p->nodes * n * p->size + 1);
        p->c_w = NS_NEW_ARRAY(p->arena, double, (size_t)p->nodes * p->keeps * p->size + 1);
    }
    const ns_arena_place mark = ns_arena_mark(p->scratch);
    double *M = NS_NEW_ARRAY(p->scratch, double, (size_t)N * N + 1);
    memset(p->x_w, 0, (size_t)n * p->size * sizeof *p->x_w);
    memset(p->cost_w, 0, p->size * sizeof *p->cost_w);
    memset(p->c_w, 0, (size_t)p->nodes * p->keeps * p->size * sizeof *p->c_w);
    bool good = true;
    for (uint32_t k = 0; k < p->steps && good; k++)
        good = derive_step(p, k, M);
    for (uint32_t node = 0; node < p->nodes && good; node++) {
        const double *first = p->at + (size_t)node * out;
        add_node(p, node, p->h * gauss_b[node % NS_PATH_NODES], first + at.l_z, p->cost_w);
        for (uint32_t i = 0; i < p->keeps; i++)
            add_node(p, node, 1, first + at.c_z + (size_t)i * nz,
                     p->c_w + ((size_t)node * p->keeps + i) * p->size);
    }
    ns_flow_multiply(p->goals, n, p->size, p->g + p->goals, p->x_w, p->g_w);
    ns_arena_release(p->scratch, mark);
    return good;
}

/* The multipliers k = h b q + h a^T eta of the rates at the nodes of step k, in place[node][n],
 * and those of its beginning in q[n]:
 *     (1 - h (a J)^T) eta = h b (J^T q + l_x) - c_x z,    q <- q + sum eta. */
static bool adjoint_step(ns_path *p, uint32_t k, const double *zeta, double *q, double *M,
                         double *eta, double *to)
{
    const uint32_t n = p->n, N = NS_PATH_NODES * n, out = p->first->outputs, nz = n + p->m;
    const place at = places(p);
    const double *first = p->at + (size_t)k * NS_PATH_NODES * out;
    for (uint32_t j = 0; j < NS_PATH_NODES; j++) {
        const double *of = first + (size_t)j * out, hb = p->h * gauss_b[j];
        const size_t node = (size_t)k * NS_PATH_NODES + j;
        for (uint32_t i = 0; i < n; i++) {
            double sum = of[at.l_z + i];
            for (uint32_t r = 0; r < n; r++)
                sum += of[at.J + (size_t)r * nz + i] * q[r];
            eta[j * n + i] = hb * sum;
            for (uint32_t r = 0; r < p->keeps; r++)
                eta[j * n + i] -= of[at.c_z + (size_t)r * nz + i] * zeta[node * p->keeps + r];
        }
    }
    stage_matrix(p, k, true, M);
    if (!ns_dense_solve(N, M, 1, eta))
        return false;
    for (uint32_t j = 0; j < NS_PATH_NODES; j++)
        for (uint32_t i = 0; i < n; i++) {
            double sum = gauss_b[j] * q[i];
            for (uint32_t r = 0; r < NS_PATH_NODES; r++)
                sum += a_of(r, j) * eta[r * n + i];
            to[j * n + i] = p->h * sum;
        }
    for (uint32_t i = 0; i < N; i++)
        q[i % n] += eta[i];
    return true;
}

/* H += [S; du/dw]^T D [S; du/dw] of one node; T: work [nz][size]. */
static void add_square(const ns_path *p, const double *Z, uint32_t nz, const double *D,
                       double *T, double *H)
{
    ns_flow_multiply(nz, nz, p->size, D, Z, T);
    for (uint32_t q = 0; q < nz; q++)
        for (uint32_t i = 0; i < p->size; i++) {
            const double z = Z[(size_t)q * p->size + i];
            const double *t = T + (size_t)q * p->size;
            double *row = H + (size_t)i * p->size;
            for (uint32_t j = 0; j < p->size && z != 0; j++)
                row[j] += z * t[j];
        }
}

static void node_square(ns_path *p, uint32_t node, const double *weights, double *in, double *D,
                        double *Z, double *T, double *H, const double *u)
{
    const uint32_t n = p->n, nz = n + p->m, rows = n + 1 + p->keeps;
    memcpy(in, p->X + (size_t)node * n, n * sizeof *in);
    memcpy(in + n, u, p->m * sizeof *in);
    memcpy(in + nz, weights, rows * sizeof *in);
    p->flow->t = time_of(p, node);
    ns_flow_eval(p->flow, p->second, in, D);
    memcpy(Z, p->S + (size_t)node * n * p->size, (size_t)n * p->size * sizeof *Z);
    memset(Z + (size_t)n * p->size, 0, (size_t)p->m * p->size * sizeof *Z);
    for (uint32_t i = 0; i < p->m; i++)
        memcpy(Z + (size_t)(n + i) * p->size + (size_t)i * p->values,
               p->weight + (size_t)node * p->values, p->values * sizeof *Z);
    add_square(p, Z, nz, D, T, H);
}

bool ns_path_hessian(ns_path *p, const double *w, const double *lambda, const double *zeta,
                     bool curved, double *H)
{
    const uint32_t n = p->n, N = NS_PATH_NODES * n, nz = n + p->m, rows = n + 1 + p->keeps;
    ns_arena *a = p->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    double *M = NS_NEW_ARRAY(a, double, (size_t)N * N + 1);
    double *eta = NS_NEW_ARRAY(a, double, N + 1), *to = NS_NEW_ARRAY(a, double, N + 1);
    double *q = NS_NEW_ARRAY(a, double, n + 1), *u = NS_NEW_ARRAY(a, double, p->m + 1);
    double *in = NS_NEW_ARRAY(a, double, nz + rows + p->goals + 1);
    double *D = NS_NEW_ARRAY(a, double, (size_t)nz * nz + 1);
    double *Z = NS_NEW_ARRAY(a, double, (size_t)nz * p->size + 1);
    double *T = NS_NEW_ARRAY(a, double, (size_t)nz * p->size + 1);
    double *weights = NS_NEW_ARRAY(a, double, rows + 1);
    memset(H, 0, (size_t)p->size * p->size * sizeof *H);
    memcpy(in, p->x + (size_t)p->steps * n, n * sizeof *in);
    memcpy(in + n, lambda, p->goals * sizeof *in);
    p->flow->t = p->spec->until;
    ns_flow_eval(p->flow, p->end_second, in, D);
    if (curved)
        add_square(p, p->x_w, n, D, T, H);
    for (uint32_t i = 0; i < p->goals; i++)
        for (uint32_t r = 0; r < n; r++)
            q[r] += lambda[i] * p->g[p->goals + (size_t)i * n + r];
    bool good = true;
    for (uint32_t k = p->steps; k-- > 0 && good;) {
        good = !curved || adjoint_step(p, k, zeta, q, M, eta, to);
        for (uint32_t j = 0; j < NS_PATH_NODES && good; j++) {
            const uint32_t node = k * NS_PATH_NODES + j;
            memcpy(weights, to + (size_t)j * n, n * sizeof *weights);
            weights[n] = p->h * gauss_b[j];
            for (uint32_t i = 0; i < p->keeps; i++)
                weights[n + 1 + i] = curved ? -zeta[(size_t)node * p->keeps + i] : 0;
            inputs_at(p, w, node, u);
            node_square(p, node, weights, in, D, Z, T, H, u);
        }
    }
    for (size_t i = 0; i < (size_t)p->size * p->size; i++)
        good = good && isfinite(H[i]);
    ns_arena_release(a, mark);
    return good;
}
