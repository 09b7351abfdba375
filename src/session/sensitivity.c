#include "session/sensitivity.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "session/variant.h"

typedef struct column {
    const char *label;
    uint32_t param, state; /* one of them; the other is NONE */
    ns_ex *dp;             /* [np] derivatives of the parameters by it */
} column;

enum { NONE = UINT32_MAX };

typedef struct extension {
    ns_model *model;
    ns_arena *a;
    const ns_system *s; /* of the motion itself */
    uint32_t n, np;
    NS_LIST(column) columns;
    const ns_ex *x, *p;
    bool *held, *fixed; /* [n], [np] set from outside: they do not follow from parameters */
    const char **message;
} extension;

/* ---- names ------------------------------------------------------------------------------- */

static uint32_t find_state(const extension *e, const char *name)
{
    const uint32_t i = ns_system_state_named(e->s, name);
    return i < e->n ? i : NONE;
}

static uint32_t find_param(const extension *e, const char *name)
{
    const ns_description *d = e->s->description;
    uint32_t i = 0;
    while (i < e->np && strcmp(d->params.at[i].name, name) != 0)
        i++;
    return i < e->np ? i : NONE;
}

static bool add_column(extension *e, uint32_t param, uint32_t state)
{
    for (uint32_t i = 0; i < e->columns.n; i++)
        if (e->columns.at[i].param == param && e->columns.at[i].state == state) {
            *e->message = ns_arena_format(e->a, "`%s` is named twice", e->columns.at[i].label);
            return false;
        }
    const char *label = param != NONE
                            ? e->s->description->params.at[param].name
                            : ns_arena_format(e->a, "start.%s", e->s->states.at[state].name);
    NS_PUSH(e->a, e->columns, (column){.label = label, .param = param, .state = state});
    return true;
}

static bool add_name(extension *e, const char *name)
{
    if (strcmp(name, "start") == 0) {
        for (uint32_t i = 0; i < e->n; i++)
            if (!add_column(e, NONE, i))
                return false;
        return true;
    }
    const uint32_t param = find_param(e, name);
    if (param != NONE)
        return add_column(e, param, NONE);
    const bool start = strncmp(name, "start.", 6) == 0;
    const uint32_t state = find_state(e, start ? name + 6 : name);
    if (state != NONE)
        return add_column(e, NONE, state);
    const char *near = ns_description_nearest(e->s->description, name);
    *e->message = ns_arena_format(
        e->a, "`%s` is neither a parameter nor a state of the model, nor `start`%s%s%s", name,
        near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return false;
}

/* ---- equations --------------------------------------------------------------------------- */

/* Of every parameter by the column's, through those that depend on it. */
static void parameter_directions(extension *e, column *c)
{
    const ns_description *d = e->s->description;
    ns_graph *g = e->s->graph;
    c->dp = NS_NEW_ARRAY(e->a, ns_ex, e->np + 1);
    for (uint32_t i = 0; i < e->np; i++) {
        if (i == c->param)
            c->dp[i] = ns_one(g);
        else if (e->fixed[i])
            c->dp[i] = ns_zero(g);
        else
            ns_diff_along(g, &d->params.at[i].value, 1, e->p, c->dp, i, &c->dp[i]);
    }
}

/* out[i] = (df_i/dx) v + (df_i/dp) dp of column c; without v the second part alone. */
static void along(const extension *e, const column *c, const ns_ex *v, const ns_ex *f, size_t n,
                  ns_ex *out)
{
    ns_ex *from = NS_NEW_ARRAY(e->a, ns_ex, e->n + e->np + 1);
    ns_ex *to = NS_NEW_ARRAY(e->a, ns_ex, e->n + e->np + 1);
    uint32_t k = 0;
    for (uint32_t i = 0; v && i < e->n; i++, k++) {
        from[k] = e->x[i];
        to[k] = v[i];
    }
    for (uint32_t i = 0; i < e->np; i++, k++) {
        from[k] = e->p[i];
        to[k] = c->dp[i];
    }
    ns_diff_along(e->s->graph, f, n, from, to, k, out);
}

static const ns_ex *add_states(const extension *e, ns_system *to, uint32_t j)
{
    const ns_system *s = e->s;
    const column *c = &e->columns.at[j];
    ns_ex *v = NS_NEW_ARRAY(e->a, ns_ex, e->n + 1), *rate = NS_NEW_ARRAY(e->a, ns_ex, e->n + 1);
    for (uint32_t i = 0; i < e->n; i++)
        v[i] = ns_symbol_new(s->graph,
                             ns_arena_format(e->a, "%s by %s", s->states.at[i].name, c->label),
                             NS_SYM_STATE, e->n * (j + 1) + i);
    along(e, c, v, ns_system_state_rates(s, e->a), e->n, rate);
    for (uint32_t i = 0; i < e->n; i++)
        ns_system_add_state(to, NS_QUANTITY_OTHER, ns_graph_symbol(s->graph, v[i])->name, v[i],
                            rate[i], "");
    return v;
}

/* Values in their order: states, deviations, the other values, their derivatives, events. */
static void add_values(const extension *e, ns_system *to, const ns_ex *const *v,
                       ns_sensitivity *q)
{
    const ns_system *s = e->s;
    const uint32_t k = q->k, values = s->observables.n;
    uint32_t *value = NS_NEW_ARRAY(e->a, uint32_t, values + 1);
    uint32_t *derivative = NS_NEW_ARRAY(e->a, uint32_t, (size_t)values * k + 1);
    ns_ex *f = NS_NEW_ARRAY(e->a, ns_ex, values + 1),
                            *d = NS_NEW_ARRAY(e->a, ns_ex, values + 1);
    for (uint32_t i = 0; i < values; i++)
        f[i] = s->observables.at[i].value;
    for (uint32_t part = 0; part < 2; part++) {
        const uint32_t begin = part ? e->n : 0, end = part ? values : e->n;
        for (uint32_t i = begin; i < end; i++) {
            value[i] = to->observables.n;
            NS_PUSH(e->a, to->observables, s->observables.at[i]);
        }
        for (uint32_t j = 0; j < k; j++) {
            along(e, &e->columns.at[j], v[j], f + begin, end - begin, d);
            for (uint32_t i = begin; i < end; i++) {
                derivative[(size_t)i * k + j] = to->observables.n;
                ns_system_observe(to, NS_QUANTITY_OTHER,
                                  ns_arena_format(e->a, "%s by %s", s->observables.at[i].name,
                                                  e->columns.at[j].label),
                                  d[i - begin], "", s->observables.at[i].basic);
            }
        }
    }
    q->values = values;
    q->value = value;
    q->derivative = derivative;
}

static void add_event_times(const extension *e, ns_system *to, const ns_ex *const *v,
                            ns_sensitivity *q)
{
    const ns_system *s = e->s;
    ns_graph *g = s->graph;
    uint32_t *place = NS_NEW_ARRAY(e->a, uint32_t, (size_t)s->events.n * q->k + 1);
    ns_ex *x = ns_system_state_symbols(s, e->a), *f = ns_system_state_rates(s, e->a);
    x[e->n] = s->time;
    f[e->n] = ns_one(g);
    for (uint32_t i = 0; i < s->events.n; i++) {
        ns_ex pace;
        ns_diff_along(g, &s->events.at[i].value, 1, x, f, e->n + (s->time ? 1 : 0), &pace);
        for (uint32_t j = 0; j < q->k; j++) {
            ns_ex shift;
            along(e, &e->columns.at[j], v[j], &s->events.at[i].value, 1, &shift);
            const ns_ex time = ns_graph_is_zero(g, pace) ? ns_zero(g)
                                                         : ns_neg(g, ns_div(g, shift, pace));
            place[(size_t)i * q->k + j] = to->observables.n;
            ns_system_observe(to, NS_QUANTITY_OTHER,
                              ns_arena_format(e->a, "%s.t by %s", s->events.at[i].name,
                                              e->columns.at[j].label),
                              time, "", false);
        }
    }
    q->event = place;
}

/* The correction of the formulation leaves the deviations alone. */
static void widen_correction(const extension *e, ns_system *to)
{
    if (!to->correction)
        return;
    ns_correction *c = ns_arena_copy(e->a, to->correction, sizeof *c);
    ns_ex *change = NS_NEW_ARRAY(e->a, ns_ex, to->states.n + 1);
    for (uint32_t i = 0; i < to->states.n; i++)
        change[i] = i < e->n ? c->change[i] : ns_zero(e->s->graph);
    c->change = change;
    to->correction = c;
}

/* ---- the start --------------------------------------------------------------------------- */

typedef struct start_equations {
    uint32_t m;      /* constraints, then further equations of the start */
    double *J, *r_q; /* [m][n] by the states; [m] by the column's parameter */
    double *given;   /* [n] derivatives of what is given */
    bool *places;    /* [m] the equation has no velocities */
} start_equations;

static start_equations equations_at(const extension *e, const column *c, double t0)
{
    const ns_system *s = e->s;
    const ns_model *model = e->model;
    start_equations q = {.m = ns_system_start_rows(s)};
    ns_ex *r = NS_NEW_ARRAY(e->a, ns_ex, q.m + 1), *d = NS_NEW_ARRAY(e->a, ns_ex, q.m + e->n);
    q.J = NS_NEW_ARRAY(e->a, double, (size_t)q.m * e->n + 1);
    q.r_q = NS_NEW_ARRAY(e->a, double, q.m + 1);
    q.given = NS_NEW_ARRAY(e->a, double, e->n + 1);
    q.places = NS_NEW_ARRAY(e->a, bool, q.m + 1);
    for (uint32_t i = 0; i < q.m; i++) {
        r[i] = ns_system_start_row(s, i)->residual;
        q.places[i] = !ns_graph_depends_kind(s->graph, r[i], NS_SYM_VELOCITY, NULL);
    }
    ns_system_eval_dense(s, s->start.jacobian, t0, model->p, model->x0, q.J);
    along(e, c, NULL, r, q.m, d);
    ns_system_eval(s, d, q.m, t0, model->p, model->x0, q.r_q);
    along(e, c, NULL, s->start.value, e->n, d);
    ns_system_eval(s, d, e->n, t0, model->p, NULL, q.given);
    return q;
}

/* How far the derivatives of the equations are from zero, against the size of a row and of v:
 * single terms may all be rounding errors. */
static double missed(const extension *e, const start_equations *q, const double *v)
{
    double worst = 0, largest = 0;
    for (uint32_t j = 0; j < e->n; j++)
        largest = ns_max(largest, fabs(v[j]));
    for (uint32_t i = 0; i < q->m; i++) {
        double sum = q->r_q[i], size = fabs(sum);
        for (uint32_t j = 0; j < e->n; j++) {
            sum += q->J[(size_t)i * e->n + j] * v[j];
            size += fabs(q->J[(size_t)i * e->n + j]) * largest;
        }
        worst = size > 0 ? ns_max(worst, fabs(sum) / size) : worst;
    }
    return worst;
}

/* The least change of v in the columns that may move which meets the equations in use; whether
 * it is the only one. */
static bool settle(const extension *e, const start_equations *q, const bool *use,
                   const bool *moves, double *v)
{
    uint32_t rows = 0, columns = 0;
    uint32_t *at = NS_NEW_ARRAY(e->a, uint32_t, e->n + 1);
    for (uint32_t j = 0; j < e->n; j++)
        if (moves[j])
            at[columns++] = j;
    double *A = NS_NEW_ARRAY(e->a, double, (size_t)q->m * columns + 1);
    double *b = NS_NEW_ARRAY(e->a, double, q->m + 1);
    double *dv = NS_NEW_ARRAY(e->a, double, columns + 1);
    for (uint32_t i = 0; i < q->m; i++) {
        if (use && !use[i])
            continue;
        double sum = q->r_q[i], length = 0;
        for (uint32_t j = 0; j < e->n; j++)
            sum += q->J[(size_t)i * e->n + j] * v[j];
        for (uint32_t j = 0; j < columns; j++) {
            A[(size_t)rows * columns + j] = q->J[(size_t)i * e->n + at[j]];
            length += A[(size_t)rows * columns + j] * A[(size_t)rows * columns + j];
        }
        const double scale = length > 0 ? 1 / sqrt(length) : 1; /* units of rows differ */
        for (uint32_t j = 0; j < columns; j++)
            A[(size_t)rows * columns + j] *= scale;
        b[rows++] = -scale * sum;
    }
    if (!rows || !columns)
        return true;
    const uint32_t rank = ns_dense_least(e->a, rows, columns, A, b, 1e-12, dv);
    for (uint32_t j = 0; j < columns; j++)
        v[at[j]] += dv[j];
    return rank == columns;
}

/* Was anything that may move given, and not taken as it was given? */
static bool moved(const extension *e, const bool *moves, double t0)
{
    double *given = NS_NEW_ARRAY(e->a, double, e->n + 1);
    const double *x = e->model->x0;
    ns_system_eval(e->s, e->s->start.value, e->n, t0, e->model->p, NULL, given);
    for (uint32_t i = 0; i < e->n; i++)
        if (moves[i] && fabs(given[i] - x[i]) > 1e-9 * ns_max(fabs(given[i]), fabs(x[i])))
            return true;
    return false;
}

/* As ns_system_start finds states: what is kept and guessed moves last, places before
 * velocities. */
static bool start_of_parameter(const extension *e, const column *c, double t0, double *v,
                               bool *loose)
{
    const ns_start *start = &e->s->start;
    const bool *held = e->held;
    const start_equations q = equations_at(e, c, t0);
    bool *moves = NS_NEW_ARRAY(e->a, bool, e->n + 1);
    bool *part = NS_NEW_ARRAY(e->a, bool, e->n + 1);
    for (int round = 0; round < 6; round++) {
        const bool in_turn = round % 2 == 0;
        bool sole = true;
        for (uint32_t i = 0; i < e->n; i++) {
            const bool late = (start->keep && start->keep[i]) ||
                              (start->guess && start->guess[i]);
            moves[i] = start->free[i] && !held[i] &&
                       (round >= 4 || !late ||
                        (round >= 2 && !(start->guess && start->guess[i])));
            v[i] = held[i] ? 0 : q.given[i];
        }
        for (int velocities = in_turn ? 0 : 2; velocities < 3; velocities++) {
            for (uint32_t i = 0; i < e->n; i++) {
                const bool place = ns_graph_symbol(e->s->graph, e->x[i])->kind == NS_SYM_COORD;
                part[i] = moves[i] && (velocities == 2 || place == !velocities);
            }
            sole = settle(e, &q, velocities ? NULL : q.places, part, v) && sole;
            if (in_turn && velocities == 1)
                break;
        }
        *loose = !sole && moved(e, moves, t0);
        if (missed(e, &q, v) < 1e-9)
            return true;
    }
    return false;
}

/* A change of one state, brought to the tangent of the manifold by the least change. */
static bool start_of_state(const extension *e, uint32_t state, double t0, double *v)
{
    const column none = {.dp = NS_NEW_ARRAY(e->a, ns_ex, e->np + 1)};
    for (uint32_t i = 0; i < e->np; i++)
        none.dp[i] = ns_zero(e->s->graph);
    start_equations q = equations_at(e, &none, t0);
    bool *moves = NS_NEW_ARRAY(e->a, bool, e->n + 1);
    q.m = e->s->constraints.n - e->s->levels;
    for (uint32_t i = 0; i < e->n; i++) {
        moves[i] = true;
        v[i] = i == state;
    }
    settle(e, &q, NULL, moves, v);
    return missed(e, &q, v) < 1e-9;
}

/* Levels of what is kept follow the rest: dI/dp + dI/dx . v. */
static void follow_levels(const extension *e, const column *c, double t0, double *v)
{
    const ns_system *s = e->s;
    const ns_model *model = e->model;
    ns_ex *d = NS_NEW_ARRAY(e->a, ns_ex, e->n + 1);
    double *g = NS_NEW_ARRAY(e->a, double, e->n + 1);
    for (uint32_t i = 0; i < s->start.settle.n; i++) {
        const ns_reset *one = &s->start.settle.at[i];
        if (!s->states.at[one->state].level)
            continue;
        d[e->n] = ns_zero(s->graph);
        if (c->param != NONE)
            along(e, c, NULL, &one->value, 1, &d[e->n]);
        ns_diff_gradient(s->graph, one->value, e->x, e->n, d);
        ns_system_eval(s, d, e->n + 1, t0, model->p, model->x0, g);
        v[one->state] = g[e->n];
        for (uint32_t j = 0; j < e->n; j++)
            v[one->state] += j == one->state ? 0 : g[j] * v[j];
    }
}

static bool find_start(const extension *e, double *x0, bool *loose)
{
    const double t0 = ns_model_run_options(e->model).t0;
    for (uint32_t j = 0; j < e->columns.n; j++) {
        const column *c = &e->columns.at[j];
        double *v = x0 + (size_t)e->n * (j + 1);
        bool open = false;
        const bool good = c->param != NONE ? start_of_parameter(e, c, t0, v, &open)
                                           : start_of_state(e, c->state, t0, v);
        if (!good) {
            *e->message = ns_arena_format(
                e->a,
                "the start has no derivative by `%s`: the equations of the start are "
                "dependent there",
                c->label);
            return false;
        }
        follow_levels(e, c, t0, v);
        *loose = *loose || open;
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Where a sign in the rates changes that depends on states or on what is varied, the deviations
 * jump too: the run ends there rather than going on with wrong ones.  Jumps at fixed times do
 * them no harm. */
static void end_at_jumps(const extension *e, ns_system *to)
{
    const ns_graph *g = e->s->graph;
    const ns_ex size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(e->a, bool, size + 1);
    ns_graph_mark(g, ns_system_state_rates(e->s, e->a), e->n, used);
    to->events.room = to->events.n; /* copied when it grows */
    for (ns_ex i = 1; i < size; i++) {
        if (!used[i] || ns_graph_op(g, i) != NS_OP_SIGN)
            continue;
        const ns_ex of = ns_graph_args(g, i)[0];
        bool depends = ns_graph_depends(g, of, e->x, e->n);
        for (uint32_t j = 0; j < e->columns.n && !depends; j++)
            for (uint32_t k = 0; k < e->np && !depends; k++)
                depends = !ns_graph_is_zero(g, e->columns.at[j].dp[k]) &&
                          ns_graph_depends(g, of, &e->p[k], 1);
        if (depends)
            NS_PUSH(e->a, to->events,
                    (ns_event){.name = "jump",
                               .value = of,
                               .action = NS_EVENT_STOP,
                               .meaning = "the rates jump, where derivatives of the motion "
                                          "are not computed"});
    }
}

static bool hold(extension *e, const char *const *held, uint32_t n_held)
{
    e->held = NS_NEW_ARRAY(e->a, bool, e->n + 1);
    e->fixed = NS_NEW_ARRAY(e->a, bool, e->np + 1);
    for (uint32_t i = 0; i < n_held; i++) {
        const uint32_t param = find_param(e, held[i]), state = find_state(e, held[i]);
        if (param != NONE)
            e->fixed[param] = true;
        else if (state != NONE)
            e->held[state] = true;
        else {
            *e->message = ns_arena_format(
                e->a,
                "`%s` is given at the start and is not a state: there are no derivatives "
                "then",
                held[i]);
            return false;
        }
    }
    return true;
}

static bool possible(const extension *e)
{
    if (e->model->sensitivity)
        *e->message = "the model has sensitivities already";
    else if (e->s->watch && e->s->watch->pinv)
        *e->message = "accelerations by pseudo-inverses (solve pinv) have no derivatives on "
                      "the graph; choose another route of `solve`";
    else if (ns_system_jumps(e->s) || ns_system_modes(e->s) > 1)
        *e->message = "there are no sensitivities of motions that jump or change their mode";
    else if (e->model->schedule && e->model->schedule->n_samplings)
        *e->message = "sampled inputs follow the motion: there are no sensitivities with them";
    else
        return true;
    return false;
}

static extension extension_of(ns_model *model, const char **message)
{
    ns_system *s = model->system;
    return (extension){.model = model,
                       .a = model->arena,
                       .s = s,
                       .n = s->states.n,
                       .np = s->description->params.n,
                       .x = ns_system_state_symbols(s, model->arena),
                       .p = ns_system_param_symbols(s, model->arena),
                       .message = message};
}

/* What is varied, by its names. */
static bool add_names(extension *e, const char *const *names, uint32_t n,
                      const char *const *held, uint32_t n_held)
{
    if (!possible(e) || !hold(e, held, n_held))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!add_name(e, names[i]))
            return false;
    for (uint32_t j = 0; j < e->columns.n; j++)
        parameter_directions(e, &e->columns.at[j]);
    return true;
}

bool ns_sensitivity_extend(ns_model *model, const char *const *names, uint32_t n,
                           const char *const *held, uint32_t n_held, const char **message)
{
    ns_system *s = model->system;
    ns_arena *a = model->arena;
    extension e = extension_of(model, message);
    if (!add_names(&e, names, n, held, n_held))
        return false;
    const uint32_t k = e.columns.n;
    ns_sensitivity *q = NS_NEW(a, ns_sensitivity);
    q->n = e.n;
    q->k = k;
    q->label = NS_NEW_ARRAY(a, const char *, k + 1);
    ns_system *to = ns_arena_copy(a, s, sizeof *s);
    to->motion = e.n;
    to->states = (typeof(to->states)){0};
    to->observables = (typeof(to->observables)){0};
    for (uint32_t i = 0; i < e.n; i++)
        NS_PUSH(a, to->states, s->states.at[i]);
    const ns_ex **v = NS_NEW_ARRAY(a, const ns_ex *, k + 1);
    for (uint32_t j = 0; j < k; j++)
        q->label[j] = e.columns.at[j].label;
    double *x0 = NS_NEW_ARRAY(a, double, (size_t)e.n * (k + 1) + 1);
    memcpy(x0, model->x0, e.n * sizeof *x0);
    if (!find_start(&e, x0, &q->loose))
        return false;
    for (uint32_t j = 0; j < k; j++)
        v[j] = add_states(&e, to, j);
    add_values(&e, to, v, q);
    add_event_times(&e, to, v, q);
    widen_correction(&e, to);
    end_at_jumps(&e, to);
    model->system = to;
    model->x0 = x0;
    model->sensitivity = q;
    model->problem = ns_problem_new(to, false);
    model->with_jacobian = model->with_tangent = model->with_balance = NULL;
    model->exact[0] = model->exact[1] = NULL;
    model->shared = ns_system_fork(to, a);
    return true;
}

bool ns_sensitivity_start(const ns_sensitivity *q, ns_model *variant, double *x0,
                          const char **message)
{
    const ns_variant *own = variant->variant;
    extension e = extension_of(variant, message);
    bool loose = false;
    memcpy(x0, variant->x0, e.n * sizeof *x0);
    return add_names(&e, q->label, q->k, own ? own->name : NULL, own ? own->n : 0) &&
           find_start(&e, x0, &loose);
}

/* What is varied, as a number: errors are relative to it. */
static double size_of_column(const ns_model *model, const char *label)
{
    const ns_system *s = model->system;
    const ns_description *d = s->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (strcmp(d->params.at[i].name, label) == 0)
            return fabs(model->p[i]);
    const uint32_t i = ns_system_state_named(s, label + strlen("start."));
    return i < model->sensitivity->n ? ns_max(fabs(model->x0[i]), 1e-3) : 0;
}

bool ns_sensitivity_useless(const ns_model *model, const double *last, double t0, double t,
                            uint32_t *worst, double *since)
{
    static const double few = 1e-3; /* three digits */
    const ns_sensitivity *q = model->sensitivity;
    double most = 0, size = 0;
    for (uint32_t i = 0; i < q->n; i++)
        size = ns_max(size, fabs(last[q->value[i]]));
    for (uint32_t j = 0; j < q->k; j++) {
        const double by = DBL_EPSILON * size_of_column(model, q->label[j]);
        for (uint32_t i = 0; i < q->n; i++) {
            const double own = ns_max(fabs(last[q->value[i]]), few * size);
            const double share = by * fabs(last[q->derivative[(size_t)i * q->k + j]]) / own;
            if (share > most) {
                most = share;
                *worst = j;
            }
        }
    }
    if (!(most > few))
        return false;
    const double whole = ns_math_log(most / DBL_EPSILON), part = ns_math_log(few / DBL_EPSILON);
    *since = t0 + (t - t0) * part / whole;
    return true;
}

static void extend_guarded(ns_model *copy, const ns_model *model, const char *names)
{
    const char *message = "";
    if (NS_ARENA_GUARD(copy->arena)) {
        ns_arena_unguard(copy->arena);
        copy->status = NS_ERR_MEMORY;
        copy->messages = "error: out of memory\n";
        return;
    }
    NS_LIST(const char *) list = {0};
    char *rest = ns_arena_string(copy->arena, names, strlen(names)), *word;
    while ((word = strsep(&rest, ",")))
        NS_PUSH(copy->arena, list, (word += strspn(word, " "), word));
    const ns_variant *from = model->variant;
    if (!ns_sensitivity_extend(copy, list.at, list.n, from ? from->name : NULL,
                               from ? from->n : 0, &message)) {
        copy->status = NS_ERR_MODEL;
        copy->messages = ns_arena_format(copy->arena, "error: %s\n", message);
    }
    ns_arena_unguard(copy->arena);
}

ns_model *ns_sensitivity_model(const ns_model *model, const char *names)
{
    ns_model *copy = ns_variant_copy(model, NULL, 0);
    if (copy && copy->status == NS_OK)
        extend_guarded(copy, model, names);
    return copy;
}
