/* Adjoint gradients: see adjoint.h.  On a step from t0 to t1 = t0 + h with nodes t_i, weights
 * b_i and k = f_x^T l + g_x at the nodes,
 *
 *     l(t_i) = l(t1) + sum_j mu_ji h b_j k_j,      l(t0) = l(t1) + sum_j h b_j k_j,
 *
 * solved by sweeps; the states at the nodes are kept from the motion. */
#include "study/control/adjoint.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "ode/gauss/gauss_table.h"
#include "session/sensitivity.h"
#include "session/variant.h"

enum { MOST_SWEEPS = 60 };
static const double MOST_BYTES = 2e9; /* of kept states */

typedef struct adjoint {
    ns_adjoint *out;
    ns_arena *arena;
    ns_model *model;
    const ns_system *s;
    const ns_adjoint_spec *spec;
    uint32_t n, np;
    const ns_program *program; /* f_x^T l + g_x, f_p^T l + g_p, g; from x and l */
    const ns_program *last;    /* h_x, h_p, h */
    double *work;
    NS_LIST(double) times;  /* of step ends, the start first */
    double *nodes;          /* [steps][n][8], of malloc */
    size_t room;            /* steps */
    double *l, *mu;         /* [n], [np] */
    double *X, *L, *K, *t8; /* [2 n][8]: states, then l; they are inputs together */
} adjoint;

static bool fails(adjoint *q, ns_status status, const char *message)
{
    q->out->status = status;
    q->out->message = message;
    return false;
}

/* Derivatives of a sum by states and parameters, then itself. */
static const ns_program *build(const adjoint *q, ns_ex sum, const ns_ex *value, bool by_l,
                               const ns_ex *l)
{
    ns_arena *a = q->arena;
    const uint32_t n = q->n, np = q->np;
    ns_ex *x = NS_NEW_ARRAY(a, ns_ex, 2 * (size_t)n + np + 1);
    ns_ex *out = NS_NEW_ARRAY(a, ns_ex, n + np + 2);
    memcpy(x, ns_system_state_symbols(q->s, a), n * sizeof *x);
    const ns_ex *p = ns_system_param_symbols(q->s, a);
    memcpy(x + n, p, np * sizeof *x);
    ns_diff_gradient(q->s->graph, sum, x, n + np, out);
    out[n + np] = *value;
    memcpy(x + n, l, n * sizeof *x);
    const ns_program_spec spec = {.graph = q->s->graph,
                                  .time = q->s->time,
                                  .x = x,
                                  .p = p,
                                  .out = out,
                                  .nx = by_l ? 2 * n : n,
                                  .np = np,
                                  .nout = n + np + 1};
    return ns_program_build(a, &spec);
}

static void build_all(adjoint *q)
{
    ns_graph *g = q->s->graph;
    ns_ex *l = NS_NEW_ARRAY(q->arena, ns_ex, q->n + 1);
    const ns_ex integral = q->spec->integral ? q->spec->integral : ns_zero(g);
    const ns_ex end = q->spec->end ? q->spec->end : ns_zero(g);
    ns_ex sum = integral;
    for (uint32_t i = 0; i < q->n; i++) {
        l[i] = ns_symbol_new(g, "adjoint", NS_SYM_STATE, q->n + i);
        const ns_ex term = ns_mul(g, l[i], q->s->states.at[i].rate);
        sum = ns_add(g, sum, term);
    }
    q->program = build(q, sum, &integral, true, l);
    q->last = build(q, end, &end, false, l);
}

/* Where rates or what is asked for jump there are no derivatives. */
static bool smooth(const adjoint *q)
{
    ns_graph *g = q->s->graph;
    ns_ex *f = NS_NEW_ARRAY(q->arena, ns_ex, q->n + 2);
    const ns_ex size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(q->arena, bool, size + 1);
    memcpy(f, ns_system_state_rates(q->s, q->arena), q->n * sizeof *f);
    f[q->n] = q->spec->integral ? q->spec->integral : ns_zero(g);
    f[q->n + 1] = q->spec->end ? q->spec->end : ns_zero(g);
    ns_graph_mark(g, f, q->n + 2, used);
    for (ns_ex e = 1; e < size; e++)
        if (used[e] && ns_graph_op(g, e) == NS_OP_SIGN)
            return false;
    return true;
}

/* ---- forwards ---------------------------------------------------------------------------- */

static bool keep_step(adjoint *q, ns_run *run, double *x)
{
    const uint32_t n = q->n;
    const size_t step = q->times.n - 1;
    const double t0 = ns_run_last_time(run), h = ns_run_time(run) - t0;
    if (step == q->room) {
        const size_t room = q->room ? 2 * q->room : 64;
        if ((double)room * 8 * n * sizeof(double) > MOST_BYTES)
            return fails(q, NS_STOP_LIMIT,
                         "the motion has too many steps to be kept for the way back; "
                         "take a shorter one or a looser tolerance (--tol)");
        double *more = realloc(q->nodes, room * 8 * n * sizeof *more);
        if (!more)
            return fails(q, NS_ERR_MEMORY, "out of memory");
        q->nodes = more;
        q->room = room;
    }
    double *to = q->nodes + step * 8 * n;
    for (uint32_t j = 0; j < 8; j++) {
        ns_run_state_at(run, t0 + h * gauss_c[j], x);
        for (uint32_t i = 0; i < n; i++)
            to[8 * i + j] = x[i];
    }
    NS_PUSH(q->arena, q->times, ns_run_time(run));
    return true;
}

static bool forwards(adjoint *q, double *end)
{
    ns_run_options options = ns_model_run_options(q->model);
    options.until = q->spec->until;
    options.method = "gauss";
    options.extremes = false;
    options.only_stops = true;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(ns_model_problem(q->model, false), &options, q->model->p,
                             q->model->x0, &status, &message);
    if (!run)
        return fails(q, status, message);
    double *x = NS_NEW_ARRAY(q->arena, double, q->n + 1);
    NS_PUSH(q->arena, q->times, options.t0);
    bool good = true;
    while (good && ns_run_time(run) < options.until) {
        status = ns_run_step(run);
        if (status != NS_OK && ns_run_time(run) < options.until)
            good = fails(q, status,
                         ns_arena_format(q->arena, "the motion ends at t = %g s: %s",
                                         ns_run_time(run), ns_run_outcome(run)->reason));
        else
            good = keep_step(q, run, x);
    }
    memcpy(end, ns_run_state(run), q->n * sizeof *end);
    q->out->steps = q->times.n - 1;
    ns_run_free(run);
    return good;
}

/* ---- backwards --------------------------------------------------------------------------- */

/* l at the nodes from k there; the largest change, relative to the largest l. */
static double sweep(const adjoint *q, double h)
{
    double change = 0, size = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        const double *k = q->K + 8 * (size_t)i;
        for (uint32_t s = 0; s < 8; s++) {
            double sum = 0;
            for (uint32_t j = 0; j < 8; j++)
                sum += gauss_mu[s][j] * (h * gauss_b[j] * k[j]);
            double *l = &q->L[8 * i + s];
            change = ns_max(change, fabs(q->l[i] + sum - *l));
            *l = q->l[i] + sum;
            size = ns_max(size, fabs(*l));
        }
    }
    return size > 0 ? change / size : 0;
}

static bool step_back(adjoint *q, size_t step)
{
    const uint32_t n = q->n;
    const double t0 = q->times.at[step], h = q->times.at[step + 1] - t0;
    memcpy(q->X, q->nodes + step * 8 * n, 8 * (size_t)n * sizeof *q->X);
    for (uint32_t j = 0; j < 8; j++) {
        q->t8[j] = t0 + h * gauss_c[j];
        for (uint32_t i = 0; i < n; i++)
            q->L[8 * i + j] = q->l[i];
    }
    double last = INFINITY;
    for (int k = 0;; k++) {
        ns_program_eval8(q->program, q->work, q->t8, q->X, q->K);
        const double change = sweep(q, h);
        if (!isfinite(change) || k == MOST_SWEEPS)
            return fails(
                q, NS_STOP_STEP,
                ns_arena_format(q->arena, "the way back does not converge at t = %g s", t0));
        if (change <= DBL_EPSILON || (change <= 64 * DBL_EPSILON && change > last / 2))
            break;
        last = change;
    }
    for (uint32_t j = 0; j < 8; j++) {
        const double w = h * gauss_b[j];
        for (uint32_t i = 0; i < n; i++)
            q->l[i] += w * q->K[8 * i + j];
        for (uint32_t i = 0; i < q->np; i++)
            q->mu[i] += w * q->K[8 * (n + i) + j];
        q->out->value += w * q->K[8 * (n + q->np) + j];
    }
    return true;
}

static bool backwards(adjoint *q, const double *end)
{
    const uint32_t n = q->n, np = q->np, outputs = n + np + 1;
    ns_arena *a = q->arena;
    double *work1 = NS_NEW_ARRAY(a, double, ns_program_work1(q->last) + 8);
    double *out = NS_NEW_ARRAY(a, double, outputs + 1);
    const size_t bytes = 8 * sizeof(double) *
                         (2 * (size_t)n + outputs + np + 1 + ns_program_work8(q->program) / 8 +
                          1);
    double *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block)
        return fails(q, NS_ERR_MEMORY, "out of memory");
    q->X = block;
    q->L = q->X + 8 * (size_t)n;
    q->K = q->L + 8 * (size_t)n;
    q->t8 = q->K + 8 * (size_t)outputs;
    double *p8 = q->t8 + 8;
    q->work = p8 + 8 * (size_t)np;
    for (uint32_t i = 0; i < 8 * np; i++)
        p8[i] = q->model->p[i / 8];
    ns_program_bind8(q->program, q->work, p8);
    ns_program_bind1(q->last, work1, q->model->p);
    ns_program_eval1(q->last, work1, q->times.at[q->times.n - 1], end, out);
    q->l = out;
    q->mu = out + n;
    q->out->value = out[n + np];
    bool good = true;
    for (size_t step = q->times.n - 1; step-- > 0 && good;)
        good = step_back(q, step);
    free(block);
    return good;
}

/* ---- all --------------------------------------------------------------------------------- */

/* dp[np]: derivatives of the parameters by what is varied; all zero for a state. */
static void direction(const adjoint *q, const char *name, double *dp)
{
    const ns_description *d = q->s->description;
    const ns_ex *p = ns_system_param_symbols(q->s, q->arena);
    ns_ex *by = NS_NEW_ARRAY(q->arena, ns_ex, q->np + 1);
    const ns_variant *own = q->model->variant;
    for (uint32_t i = 0; i < q->np; i++) {
        bool fixed = false;
        for (uint32_t k = 0; own && k < own->n; k++)
            fixed = fixed || strcmp(own->name[k], d->params.at[i].name) == 0;
        if (strcmp(d->params.at[i].name, name) == 0)
            by[i] = ns_one(q->s->graph);
        else if (fixed)
            by[i] = ns_zero(q->s->graph);
        else
            ns_diff_along(q->s->graph, &d->params.at[i].value, 1, p, by, i, &by[i]);
    }
    ns_system_eval(q->s, by, q->np, 0, q->model->p, NULL, dp);
}

/* `start` stands for all states. */
static void list_names(adjoint *q)
{
    NS_LIST(const char *) list = {0};
    for (uint32_t k = 0; k < q->spec->n; k++) {
        const bool all = strcmp(q->spec->names[k], "start") == 0;
        for (uint32_t i = 0; i < q->n && all; i++)
            NS_PUSH(q->arena, list,
                    ns_arena_format(q->arena, "start.%s", q->s->states.at[i].name));
        if (!all)
            NS_PUSH(q->arena, list, q->spec->names[k]);
    }
    q->out->names = list.at;
    q->out->n = list.n;
}

static bool collect(adjoint *q)
{
    list_names(q);
    const uint32_t n = q->n, k = q->out->n;
    const ns_sensitivity names = {.n = n, .k = k, .label = q->out->names};
    double *x0 = NS_NEW_ARRAY(q->arena, double, (size_t)n * (k + 1) + 1);
    double *dp = NS_NEW_ARRAY(q->arena, double, q->np + 1);
    const char *message = "";
    if (!ns_sensitivity_start(&names, q->model, x0, &message))
        return fails(q, NS_ERR_MODEL, message);
    q->out->gradient = NS_NEW_ARRAY(q->arena, double, k + 1);
    q->out->start = ns_arena_copy(q->arena, q->l, (n + 1) * sizeof *q->l);
    for (uint32_t j = 0; j < k; j++) {
        double sum = 0;
        direction(q, q->out->names[j], dp);
        for (uint32_t i = 0; i < n; i++)
            sum += q->l[i] * x0[(size_t)n * (j + 1) + i];
        for (uint32_t i = 0; i < q->np; i++)
            sum += q->mu[i] * dp[i];
        q->out->gradient[j] = sum;
    }
    return true;
}

ns_adjoint *ns_adjoint_find(ns_arena *arena, ns_model *model, const ns_adjoint_spec *spec)
{
    const ns_system *s = spec->system;
    adjoint q = {.out = NS_NEW(arena, ns_adjoint),
                 .arena = arena,
                 .model = model,
                 .s = s,
                 .spec = spec,
                 .n = s->states.n,
                 .np = s->description->params.n};
    double *end = NS_NEW_ARRAY(arena, double, q.n + 1);
    q.out->message = "";
    if (model->schedule)
        fails(&q, NS_ERR_MODEL,
              "inputs that change in steps (tables, samples) have no way back");
    else if (s->watch && s->watch->pinv)
        fails(&q, NS_ERR_MODEL,
              "accelerations by pseudo-inverses (solve pinv) have no derivatives on the graph; "
              "choose another route of `solve`");
    else if (ns_system_jumps(s) || ns_system_modes(s) > 1 || !smooth(&q))
        fails(&q, NS_ERR_MODEL,
              "there are no gradients of motions that jump or change their mode");
    else {
        build_all(&q);
        if (forwards(&q, end) && backwards(&q, end))
            collect(&q);
    }
    free(q.nodes);
    return q.out;
}
