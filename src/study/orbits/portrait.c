#include "study/orbits/portrait.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"

enum { GRID = 24, CELLS = 120, MOST_CURVE = 4000 };

typedef struct plane {
    ns_arena *arena;
    ns_flow *flow;
    const ns_portrait_spec *spec;
    const ns_problem *problem;    /* the two states alone */
    const ns_flow_program *local; /* f, g, and their Jacobian, of the whole state */
    double *state;                /* [n] the start with x and y replaced */
    double size[2];
    ns_portrait *out;
} plane;

static void look(plane *w, const double q[2], double f[2], double J[4])
{
    double out[6];
    w->state[w->spec->x] = q[0];
    w->state[w->spec->y] = q[1];
    ns_flow_eval(w->flow, w->local, w->state, out);
    memcpy(f, out, 2 * sizeof *f);
    memcpy(J, out + 2, 4 * sizeof *J);
}

/* ---- equilibria -------------------------------------------------------------------------- */

/* Eigenvalues of a 2 x 2 matrix. */
static void eigenvalues(const double J[4], ns_eigenvalue e[2])
{
    const double half = (J[0] + J[3]) / 2, det = J[0] * J[3] - J[1] * J[2];
    const double d = (J[0] - J[3]) * (J[0] - J[3]) / 4 + J[1] * J[2];
    if (d < 0) {
        e[0] = (ns_eigenvalue){half, sqrt(-d)};
        e[1] = (ns_eigenvalue){half, -sqrt(-d)};
        return;
    }
    const double far = half + copysign(sqrt(d), half); /* without cancellation */
    const double near = far != 0 ? det / far : 0;
    e[0] = (ns_eigenvalue){ns_max(far, near), 0};
    e[1] = (ns_eigenvalue){ns_min(far, near), 0};
}

/* rate: the largest entry of the Jacobian in the window, against which eigenvalues vanish. */
static ns_portrait_kind classify(double rate, const ns_eigenvalue e[2])
{
    const double tol = 1e-7 * rate;
    if (fabs(e[0].im) > tol)
        return fabs(e[0].re) > tol ? NS_PORTRAIT_FOCUS : NS_PORTRAIT_CENTRE;
    const bool first = fabs(e[0].re) <= tol, second = fabs(e[1].re) <= tol;
    if (first && second)
        return NS_PORTRAIT_CUSP;
    if (first || second)
        return NS_PORTRAIT_LINE;
    return e[0].re * e[1].re < 0 ? NS_PORTRAIT_SADDLE : NS_PORTRAIT_NODE;
}

/* Newton's method with steps of least norm (singular on lines of equilibria). */
static bool newton(plane *w, double q[2], double J[4])
{
    double f[2], before = INFINITY;
    for (int round = 0; round < 60; round++) {
        look(w, q, f, J);
        if (!isfinite(f[0]) || !isfinite(f[1]))
            return false;
        /* damped normal equations in units of the window: (J^T J + mu) d = J^T f */
        const double a = J[0] * w->size[0], b = J[1] * w->size[1], c = J[2] * w->size[0],
                     d = J[3] * w->size[1];
        const double r0 = a * f[0] + c * f[1], r1 = b * f[0] + d * f[1];
        const double trace = a * a + b * b + c * c + d * d;
        const double mu = 1e-14 * trace + 1e-300;
        const double m00 = a * a + c * c + mu, m01 = a * b + c * d, m11 = b * b + d * d + mu;
        const double det = m00 * m11 - m01 * m01;
        if (!(det > 0))
            return ns_math_hypot(f[0], f[1]) == 0;
        double s0 = (m11 * r0 - m01 * r1) / det, s1 = (m00 * r1 - m01 * r0) / det;
        const double length = ns_math_hypot(s0, s1), part = length > 0.2 ? 0.2 / length : 1;
        q[0] -= part * s0 * w->size[0];
        q[1] -= part * s1 * w->size[1];
        if (length < 1e-14 || (length < 1e-9 && length >= before / 2)) {
            look(w, q, f, J);
            return ns_math_hypot(f[0], f[1]) <= 1e-9 * sqrt(trace);
        }
        before = length;
    }
    return false;
}

static void find_equilibria(plane *w)
{
    const ns_portrait_spec *s = w->spec;
    double rate = 1e-12;
    for (int i = 0; i <= GRID; i++)
        for (int k = 0; k <= GRID; k++) {
            const double q[2] = {s->from[0] + w->size[0] * i / GRID,
                                 s->from[1] + w->size[1] * k / GRID};
            double f[2], J[4];
            look(w, q, f, J);
            for (int l = 0; l < 4; l++)
                rate = isfinite(J[l]) ? ns_max(rate, fabs(J[l])) : rate;
        }
    for (int i = 0; i <= GRID; i++)
        for (int k = 0; k <= GRID; k++) {
            double J[4],
                q[2] = {s->from[0] + w->size[0] * i / GRID, s->from[1] + w->size[1] * k / GRID};
            if (!newton(w, q, J))
                continue;
            const double margin = 1e-9;
            if (q[0] < s->from[0] - margin * w->size[0] ||
                q[0] > s->to[0] + margin * w->size[0] ||
                q[1] < s->from[1] - margin * w->size[1] ||
                q[1] > s->to[1] + margin * w->size[1])
                continue;
            ns_portrait_point p = {.x = q[0], .y = q[1]};
            eigenvalues(J, p.eigenvalue);
            p.kind = classify(rate, p.eigenvalue);
            for (int l = 0; l < 2; l++) /* rounding errors of zero */
                *(l ? &p.y : &p.x) = fabs(q[l]) < 1e-14 * w->size[l] ? 0 : q[l];
            const double apart = p.kind == NS_PORTRAIT_LINE ? 0.02 : 1e-6;
            bool known = false;
            for (uint32_t l = 0; l < w->out->points.n && !known; l++)
                known = fabs(w->out->points.at[l].x - p.x) < apart * w->size[0] &&
                        fabs(w->out->points.at[l].y - p.y) < apart * w->size[1];
            if (!known)
                NS_PUSH(w->arena, w->out->points, p);
        }
}

/* ---- curves ------------------------------------------------------------------------------ */

static bool inside(const plane *w, const double q[2], double margin)
{
    for (int i = 0; i < 2; i++)
        if (q[i] < w->spec->from[i] - margin * w->size[i] ||
            q[i] > w->spec->to[i] + margin * w->size[i])
            return false;
    return true;
}

/* Follows the motion from q for a time (negative: backwards), until it leaves the window. */
static ns_portrait_curve follow(plane *w, const double q[2], double span)
{
    ns_portrait_curve c = {0};
    c.x = NS_NEW_ARRAY(w->arena, double, MOST_CURVE);
    c.y = NS_NEW_ARRAY(w->arena, double, MOST_CURVE);
    ns_run_options options = w->spec->run;
    options.t0 = 0;
    options.until = span;
    options.project = false;
    ns_status status = NS_OK;
    const char *message = "";
    ns_run *run = ns_run_new(w->problem, &options, w->flow->p, q, &status, &message);
    if (!run)
        return c;
    c.x[0] = q[0];
    c.y[0] = q[1];
    c.n = 1;
    bool going = true;
    while (going && fabs(ns_run_time(run)) < fabs(span) && c.n < MOST_CURVE - 16) {
        if (ns_run_step(run) != NS_OK)
            break;
        const double a = ns_run_last_time(run), b = ns_run_time(run);
        const double *end = ns_run_state(run);
        /* points so near that the curve is smooth: about a hundredth of the window */
        const double far = ns_max(fabs(end[0] - c.x[c.n - 1]) / w->size[0],
                                  fabs(end[1] - c.y[c.n - 1]) / w->size[1]);
        int pieces = (int)ns_min(16, ns_max(1, ceil(far / 0.01)));
        if (c.n + (size_t)pieces >= MOST_CURVE)
            break;
        for (int i = 1; i <= pieces; i++) {
            double at[2];
            ns_run_state_at(run, a + (b - a) * i / pieces, at);
            c.x[c.n] = at[0];
            c.y[c.n++] = at[1];
            going = isfinite(at[0]) && isfinite(at[1]) && inside(w, at, 0.02);
            if (!going)
                break;
        }
    }
    ns_run_free(run);
    return c;
}

/* Both branches of both curves of a saddle, begun a little beside it along the eigenvectors. */
static void find_separatrices(plane *w)
{
    for (uint32_t i = 0; i < w->out->points.n; i++) {
        const ns_portrait_point *p = &w->out->points.at[i];
        if (p->kind != NS_PORTRAIT_SADDLE)
            continue;
        double f[2], J[4], q[2] = {p->x, p->y};
        look(w, q, f, J);
        for (int k = 0; k < 4; k++) {
            const double lambda = p->eigenvalue[k / 2].re; /* the first is the positive one */
            /* (J - lambda) v = 0, from the larger row */
            double v[2] = {J[1], lambda - J[0]};
            if (ns_math_hypot(J[2], lambda - J[3]) > ns_math_hypot(J[1], lambda - J[0])) {
                v[0] = lambda - J[3];
                v[1] = J[2];
            }
            const double length = ns_math_hypot(v[0] / w->size[0], v[1] / w->size[1]);
            const double step = (k % 2 ? -1 : 1) * 1e-6 / length;
            const double start[2] = {p->x + step * v[0], p->y + step * v[1]};
            ns_portrait_curve c = follow(w, start, lambda > 0 ? w->spec->span : -w->spec->span);
            c.from = i;
            c.out = lambda > 0;
            NS_PUSH(w->arena, w->out->separatrices, c);
        }
    }
}

static void find_orbits(plane *w)
{
    const ns_portrait_spec *s = w->spec;
    const uint32_t side = (uint32_t)ceil(sqrt(s->orbits));
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t k = 0; k < side; k++) {
            const double q[2] = {s->from[0] + w->size[0] * (i + 0.5) / side,
                                 s->from[1] + w->size[1] * (k + 0.5) / side};
            for (int way = -1; way <= 1; way += 2)
                NS_PUSH(w->arena, w->out->orbits, follow(w, q, way * s->span));
        }
}

/* ---- level sets -------------------------------------------------------------------------- */

/* Marching squares: the pieces of value = level. */
static void add_level(plane *w, const double *value, double level)
{
    const ns_portrait_spec *s = w->spec;
    NS_LIST(double) xs = {0}, ys = {0};
    for (int i = 0; i < CELLS; i++)
        for (int k = 0; k < CELLS; k++) {
            /* corners counter-clockwise; where the level cuts a side */
            static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
            double v[4], cx[4], cy[4];
            int cuts = 0;
            for (int c = 0; c < 4; c++)
                v[c] = value[(i + corner[c][0]) * (CELLS + 1) + k + corner[c][1]] - level;
            for (int c = 0; c < 4; c++) {
                const int d = (c + 1) % 4;
                if (!isfinite(v[c]) || !isfinite(v[d]) || (v[c] < 0) == (v[d] < 0))
                    continue;
                const double part = v[c] / (v[c] - v[d]);
                cx[cuts] = i + corner[c][0] + part * (corner[d][0] - corner[c][0]);
                cy[cuts++] = k + corner[c][1] + part * (corner[d][1] - corner[c][1]);
            }
            for (int c = 0; c + 1 < cuts; c += 2) {
                for (int d = 0; d < 2; d++) {
                    NS_PUSH(w->arena, xs, s->from[0] + w->size[0] * cx[c + d] / CELLS);
                    NS_PUSH(w->arena, ys, s->from[1] + w->size[1] * cy[c + d] / CELLS);
                }
                NS_PUSH(w->arena, xs, NAN);
                NS_PUSH(w->arena, ys, NAN);
            }
        }
    if (xs.n)
        NS_PUSH(w->arena, w->out->levels,
                (ns_portrait_curve){.n = xs.n, .x = xs.at, .y = ys.at});
}

static int ascending(double a, double b)
{
    return a < b ? -1 : a > b;
}

static void find_levels(plane *w)
{
    const ns_portrait_spec *s = w->spec;
    const ns_flow_program *program = ns_flow_program_new(w->flow, &s->quantity, 1, NULL, 0);
    const uint32_t n = (CELLS + 1) * (CELLS + 1);
    double *value = NS_NEW_ARRAY(w->arena, double, n), *sorted;
    uint32_t finite = 0;
    for (uint32_t i = 0; i <= CELLS; i++)
        for (uint32_t k = 0; k <= CELLS; k++) {
            w->state[s->x] = s->from[0] + w->size[0] * i / CELLS;
            w->state[s->y] = s->from[1] + w->size[1] * k / CELLS;
            ns_flow_eval(w->flow, program, w->state, &value[i * (CELLS + 1) + k]);
        }
    /* levels at equal shares of the window, so that every part of it has some */
    sorted = NS_NEW_ARRAY(w->arena, double, n);
    for (uint32_t i = 0; i < n; i++)
        if (isfinite(value[i]))
            sorted[finite++] = value[i];
    for (uint32_t gap = finite / 2; gap; gap /= 2)
        for (uint32_t i = gap; i < finite; i++)
            for (uint32_t k = i; k >= gap && ascending(sorted[k], sorted[k - gap]) < 0;
                 k -= gap) {
                const double swap = sorted[k];
                sorted[k] = sorted[k - gap];
                sorted[k - gap] = swap;
            }
    for (uint32_t i = 0; i < s->levels && finite; i++)
        add_level(w, value, sorted[(size_t)(finite - 1) * (i + 1) / (s->levels + 1)]);
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool depends(const ns_system *s, ns_ex e, uint32_t state)
{
    const ns_ex symbol = s->states.at[state].symbol;
    return ns_graph_depends(s->graph, e, &symbol, 1) &&
           !ns_eval_vanishes(s->graph, ns_diff(s->graph, e, symbol), 0);
}

bool ns_portrait_depends_on_others(const ns_system *s, ns_ex e, uint32_t x, uint32_t y)
{
    for (uint32_t i = 0; i < s->states.n; i++)
        if (i != x && i != y && depends(s, e, i))
            return true;
    return false;
}

bool ns_portrait_plane(const ns_system *s, uint32_t *x, uint32_t *y)
{
    for (*x = 0; *x < s->states.n; ++*x)
        for (*y = *x + 1; *y < s->states.n; ++*y) {
            const ns_ex first = s->states.at[*x].rate, second = s->states.at[*y].rate;
            if (!ns_portrait_depends_on_others(s, first, *x, *y) &&
                !ns_portrait_depends_on_others(s, second, *x, *y) && depends(s, first, *y) &&
                !ns_graph_is_zero(s->graph, second))
                return true;
        }
    return false;
}

void ns_portrait_window(const ns_system *s, const double *x0, ns_portrait_spec *spec)
{
    const uint32_t place[2] = {spec->x, spec->y};
    for (int k = 0; k < 2; k++) {
        const char *unit = s->states.at[place[k]].unit;
        const bool angle = unit && strcmp(unit, "rad") == 0;
        const double wide = angle ? 4 : 2 * ns_max(fabs(x0[place[k]]), 1);
        spec->from[k] = -wide;
        spec->to[k] = wide;
    }
}

/* The system of the two states; a message if another state enters.  States that stand in the
 * equations without effect (an angle in sin^2 + cos^2) are replaced by their values. */
static bool reduce(plane *w)
{
    const ns_system *s = w->flow->system;
    const uint32_t place[2] = {w->spec->x, w->spec->y};
    ns_ex *from = NS_NEW_ARRAY(w->arena, ns_ex, s->states.n + 1);
    ns_ex *to = NS_NEW_ARRAY(w->arena, ns_ex, s->states.n + 1);
    uint32_t others = 0;
    for (uint32_t i = 0; i < s->states.n; i++) {
        if (i == place[0] || i == place[1])
            continue;
        from[others] = s->states.at[i].symbol;
        to[others++] = ns_number(s->graph, w->state[i]);
        for (int k = 0; k < 2; k++)
            if (depends(s, s->states.at[place[k]].rate, i)) {
                w->out->message = ns_arena_format(
                    w->arena,
                    "the rate of %s depends on %s: the two are not a system of their own",
                    s->states.at[place[k]].name, s->states.at[i].name);
                return false;
            }
    }
    ns_system *e = NS_NEW(s->arena, ns_system);
    e->description = s->description;
    e->arena = s->arena;
    e->graph = s->graph;
    e->formulation = s->formulation;
    e->time = s->time;
    ns_ex x[2], out[6];
    for (int k = 0; k < 2; k++) {
        ns_state state = s->states.at[place[k]];
        state.rate = ns_subst_one(s->graph, state.rate, from, to, others);
        NS_PUSH(s->arena, e->states, state);
        x[k] = state.symbol;
        out[k] = state.rate;
    }
    ns_diff_jacobian(s->graph, out, 2, x, 2, out + 2);
    w->problem = ns_problem_new(e, false);
    w->local = ns_flow_program_new(w->flow, out, 6, NULL, 0);
    return true;
}

ns_portrait *ns_portrait_make(ns_arena *arena, ns_flow *flow, const ns_portrait_spec *spec,
                              const double *x)
{
    NS_CHECK(spec->x < flow->n && spec->y < flow->n && spec->x != spec->y);
    NS_CHECK(spec->from[0] < spec->to[0] && spec->from[1] < spec->to[1]);
    plane w = {.arena = arena, .flow = flow, .spec = spec, .out = NS_NEW(arena, ns_portrait)};
    w.out->message = "";
    w.state = ns_arena_copy(arena, x, flow->n * sizeof *x);
    for (int i = 0; i < 2; i++)
        w.size[i] = spec->to[i] - spec->from[i];
    if (!reduce(&w))
        return w.out;
    find_equilibria(&w);
    find_separatrices(&w);
    find_orbits(&w);
    if (spec->quantity && spec->levels)
        find_levels(&w);
    return w.out;
}

const char *ns_portrait_kind_name(ns_portrait_kind kind)
{
    static const char *const names[] = {
        "saddle", "centre", "node", "focus", "line of equilibria", "both eigenvalues zero"};
    return names[kind];
}
