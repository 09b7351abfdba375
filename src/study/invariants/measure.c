/* Invariant measures (Bloch, Marsden and Zenkov 2009, section 5; see measure.h).
 *
 * A density rho(r) of some coordinates: div + (log rho)' = 0 with r' = R(q) v linear in
 * velocities v means that div = D(q).v with D = R^T h, h = -grad log rho.  So h = (R R^T)^-1
 * R D must give back D, depend on r alone, and be closed. */
#include "study/invariants/measure.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/common/dense.h"
#include "mech/lie/lie.h"
#include "ode/gauss/gauss_table.h"
#include "study/invariants/measure_internal.h"

typedef ns_measure_work work;

enum { POINTS = 24 }; /* random states at which identities are tested */

/* ---- states ------------------------------------------------------------------------------ */

static void choose_points(work *w, double t0, double until)
{
    uint32_t n = w->s->states.n;
    const ns_ex *rates = ns_system_state_rates(w->s, w->s->arena);
    double *rate = NS_NEW_ARRAY(w->s->arena, double, n);
    double *first = NS_NEW_ARRAY(w->s->arena, double, n);
    ns_system_eval(w->s, rates, n, t0, w->p, w->x0, first);
    w->points = NS_NEW_ARRAY(w->s->arena, double, (size_t)POINTS * n);
    w->when = NS_NEW_ARRAY(w->s->arena, double, POINTS);
    uint64_t seed = 51;
    for (int k = 0; k < POINTS; k++) {
        double *y = w->points + (size_t)w->found * n;
        for (uint32_t i = 0; i < n; i++) {
            double scale = 0.3 * (fabs(w->x0[i]) + fabs(first[i]) + 0.3);
            y[i] = w->x0[i] + (k ? scale * (2 * ns_eval_random(&seed) - 1) : 0);
        }
        double t = w->when[w->found] = k ? t0 + (until - t0) * ns_eval_random(&seed) : t0;
        if (!ns_system_project(w->s, t, w->p, y))
            continue;
        w->found++;
        ns_system_eval(w->s, rates, n, t, w->p, y, rate);
        for (uint32_t i = 0; i < n; i++)
            w->speed = ns_max(w->speed, fabs(rate[i]) / (1 + fabs(y[i])));
    }
}

void ns_measure_values(const work *w, const ns_ex *f, size_t n, uint32_t point, double *out)
{
    ns_system_eval(w->s, f, n, w->when[point], w->p, w->points + (size_t)point * w->s->states.n,
                   out);
}

/* ---- divergence -------------------------------------------------------------------------- */

/* The state moves on the manifold c(x) = 0 of its constraints.  If c' = Lambda c near it, a
 * volume there (dx divided by dc) grows at the rate  div - Tr Lambda.  The equations keep c,
 * or nearly: from d(c')/dx = Lambda dc/dx,
 *
 *     Tr Lambda = Tr (J J^T)^-1 J J'^T,      J = dc/dx,  J' = d(c')/dx.
 *
 * False if the constraints depend on each other. */
static bool across_the_manifold(work *w, ns_ex *trace)
{
    const ns_system *s = w->s;
    ns_graph *g = w->g;
    ns_arena *arena = s->arena;
    uint32_t n = s->states.n, m = 0;
    const ns_ex *x = ns_system_state_symbols(s, arena), *dx = ns_system_state_rates(s, arena);
    ns_ex *c = NS_NEW_ARRAY(arena, ns_ex, s->constraints.n + 1);
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            c[m++] = s->constraints.at[i].residual;
    *trace = ns_zero(g);
    w->m->constraints = m;
    if (m == 0)
        return true;
    ns_ex *rate = NS_NEW_ARRAY(arena, ns_ex, m);
    ns_ex *J = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * n),
                            *dJ = NS_NEW_ARRAY(arena, ns_ex,
                                                                            (size_t)m * n);
    ns_diff_along(g, c, m, x, dx, n, rate);
    ns_diff_jacobian(g, c, m, x, n, J);
    ns_diff_jacobian(g, rate, m, x, n, dJ);
    double *numbers = NS_NEW_ARRAY(arena, double, (size_t)m * n);
    double *sigma = NS_NEW_ARRAY(arena, double, (m < n ? m : n) + 1);
    ns_measure_values(w, J, (size_t)m * n, 0, numbers);
    ns_dense_svd(arena, m, n, numbers, sigma, NULL);
    if (m > n || !(sigma[m - 1] > 1e-9 * sigma[0]))
        return false;
    ns_ex *JJ = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * m), *b = NS_NEW_ARRAY(arena, ns_ex, m);
    ns_ex *column = NS_NEW_ARRAY(arena, ns_ex, m);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < m; j++) {
            JJ[i * m + j] = ns_zero(g);
            for (uint32_t k = 0; k < n; k++)
                JJ[i * m + j] = ns_add(g, JJ[i * m + j], ns_mul(g, J[i * n + k], J[j * n + k]));
        }
    for (uint32_t j = 0; j < m; j++) {
        for (uint32_t i = 0; i < m; i++) {
            b[i] = ns_zero(g);
            for (uint32_t k = 0; k < n; k++)
                b[i] = ns_add(g, b[i], ns_mul(g, J[i * n + k], dJ[j * n + k]));
        }
        ns_solve(g, m, JJ, b, column);
        *trace = ns_add(g, *trace, column[j]);
    }
    return true;
}

static void make_divergence(work *w)
{
    const ns_lie *lie = ns_lie_of(w->s);
    ns_measure *m = w->m;
    m->reduced = lie && lie->invariant;
    m->variables = m->reduced ? lie->n : w->s->states.n;
    ns_ex *terms = NS_NEW_ARRAY(w->s->arena, ns_ex, m->variables + 1);
    m->divergence = ns_zero(w->g);
    for (uint32_t i = 0; i < m->variables; i++) {
        terms[i] = ns_diff(w->g, w->s->states.at[i].rate, w->s->states.at[i].symbol);
        m->divergence = ns_add(w->g, m->divergence, terms[i]);
    }
    uint32_t count = m->variables;
    if (!m->reduced) {
        m->dependent = !across_the_manifold(w, &terms[count]);
        if (!m->dependent) {
            terms[count] = ns_neg(w->g, terms[count]);
            m->divergence = ns_add(w->g, m->divergence, terms[count++]);
        }
    }
    double *value = NS_NEW_ARRAY(w->s->arena, double, count);
    ns_system_eval(w->s, &m->divergence, 1, 0, w->p, w->x0, &m->at_start);
    double scale = 0, largest = 0;
    for (uint32_t k = 0; k < w->found; k++) {
        double sum = 0;
        ns_measure_values(w, terms, count, k, value);
        for (uint32_t i = 0; i < count; i++) {
            sum += value[i];
            scale = ns_max(scale, fabs(value[i]));
        }
        largest = ns_max(largest, fabs(sum));
    }
    scale = ns_max(scale, 1e-3 * w->speed);
    m->largest = scale > 0 ? largest / scale : 0;
    m->vanishes = m->largest < 1e-11;
}

/* ---- densities of coordinates ------------------------------------------------------------ */

/* Does f vanish at all points, in relation to `scale` (largest over the points)? */
static bool is_zero(const work *w, ns_ex f, double scale)
{
    for (uint32_t k = 0; k < w->found; k++) {
        double value;
        ns_measure_values(w, &f, 1, k, &value);
        if (!(fabs(value) <= 1e-9 * scale))
            return false;
    }
    return true;
}

static double size_of(const work *w, const ns_ex *f, uint32_t n)
{
    double *value = NS_NEW_ARRAY(w->s->arena, double, n + 1), most = 0;
    for (uint32_t k = 0; k < w->found; k++) {
        ns_measure_values(w, f, n, k, value);
        for (uint32_t i = 0; i < n; i++)
            most = ns_max(most, fabs(value[i]));
    }
    return most;
}

/* Which states are positions: those whose rate is linear and homogeneous in the others,
 * which are velocities or momenta.  Models with coordinates say so themselves. */
static uint32_t split(const work *w, uint32_t *position, uint32_t *velocity,
                      uint32_t *n_velocity)
{
    const ns_system *s = w->s;
    uint32_t n = s->states.n, count = 0;
    *n_velocity = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool is = false;
        for (uint32_t c = 0; c < s->description->coordinates.n; c++)
            is = is || s->description->coordinates.at[c].q == s->states.at[i].symbol;
        if (is)
            position[count++] = i;
        else
            velocity[(*n_velocity)++] = i;
    }
    return count;
}

/* div = D.v */
typedef struct linear_form {
    uint32_t n;   /* velocities */
    ns_ex *v, *D; /* [n] */
    double slope; /* size of D */
} linear_form;

static bool is_linear_in_velocities(work *w, const uint32_t *velocity, linear_form *f)
{
    ns_graph *g = w->g;
    const ns_ex div = w->m->divergence;
    ns_ex sum = ns_zero(g);
    f->v = NS_NEW_ARRAY(w->s->arena, ns_ex, f->n);
    f->D = NS_NEW_ARRAY(w->s->arena, ns_ex, f->n);
    for (uint32_t i = 0; i < f->n; i++)
        f->v[i] = w->s->states.at[velocity[i]].symbol;
    ns_diff_gradient(g, div, f->v, f->n, f->D);
    for (uint32_t i = 0; i < f->n; i++)
        sum = ns_add(g, sum, ns_mul(g, f->D[i], f->v[i]));
    const double size = size_of(w, &div, 1);
    f->slope = size_of(w, f->D, f->n);
    if (!is_zero(w, ns_sub(g, div, sum), size))
        return false;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t j = 0; j < f->n; j++)
            if (!is_zero(w, ns_diff(g, f->D[i], f->v[j]), f->slope))
                return false;
    return true;
}

/* The coordinates r that div depends on. */
static void find_coordinates(work *w, const linear_form *f, const uint32_t *position,
                             uint32_t np)
{
    ns_measure_density *d = &w->m->density;
    d->state = NS_NEW_ARRAY(w->s->arena, uint32_t, np);
    for (uint32_t k = 0; k < np; k++) {
        ns_ex q = w->s->states.at[position[k]].symbol;
        bool matters = false;
        for (uint32_t i = 0; i < f->n && !matters; i++)
            matters = !is_zero(w, ns_diff(w->g, f->D[i], q), f->slope);
        if (matters)
            d->state[d->n++] = position[k];
    }
}

/* r' = R v; h = (R R^T)^-1 R D.  Returns R[m][velocities]. */
static ns_ex *solve_for_h(work *w, const linear_form *f)
{
    ns_graph *g = w->g;
    ns_arena *arena = w->s->arena;
    ns_measure_density *d = &w->m->density;
    const uint32_t m = d->n, nv = f->n;
    ns_ex *R = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * nv);
    ns_ex *rate = NS_NEW_ARRAY(arena, ns_ex, m), *RD = NS_NEW_ARRAY(arena, ns_ex, m);
    ns_ex *RR = NS_NEW_ARRAY(arena, ns_ex, (size_t)m * m);
    for (uint32_t a = 0; a < m; a++)
        rate[a] = w->s->states.at[d->state[a]].rate;
    ns_diff_jacobian(g, rate, m, f->v, nv, R);
    for (uint32_t a = 0; a < m; a++) {
        RD[a] = ns_zero(g);
        for (uint32_t i = 0; i < nv; i++)
            RD[a] = ns_add(g, RD[a], ns_mul(g, R[a * nv + i], f->D[i]));
        for (uint32_t b = 0; b < m; b++) {
            RR[a * m + b] = ns_zero(g);
            for (uint32_t i = 0; i < nv; i++)
                RR[a * m + b] = ns_add(g, RR[a * m + b],
                                       ns_mul(g, R[a * nv + i], R[b * nv + i]));
        }
    }
    d->h = NS_NEW_ARRAY(arena, ns_ex, m);
    d->at = NS_NEW_ARRAY(arena, double, m);
    ns_solve(g, m, RR, RD, d->h);
    return R;
}

/* Does R^T h give back D? */
static bool gives_back(work *w, const linear_form *f, const ns_ex *R)
{
    const ns_measure_density *d = &w->m->density;
    ns_graph *g = w->g;
    for (uint32_t i = 0; i < f->n; i++) {
        ns_ex back = ns_neg(g, f->D[i]);
        for (uint32_t a = 0; a < d->n; a++)
            back = ns_add(g, back, ns_mul(g, R[a * f->n + i], d->h[a]));
        if (!is_zero(w, back, f->slope))
            return false;
    }
    return true;
}

/* Does h, of this size, depend on r alone? */
static bool depends_on_own(work *w, double size)
{
    const ns_measure_density *d = &w->m->density;
    for (uint32_t a = 0; a < d->n; a++)
        for (uint32_t i = 0; i < w->s->states.n; i++) {
            bool own = false;
            for (uint32_t b = 0; b < d->n; b++)
                own = own || d->state[b] == i;
            if (!own && !is_zero(w, ns_diff(w->g, d->h[a], w->s->states.at[i].symbol), size))
                return false;
        }
    return true;
}

static bool is_closed(work *w, double size)
{
    ns_measure_density *d = &w->m->density;
    const ns_system *s = w->s;
    for (uint32_t a = 0; a < d->n; a++)
        for (uint32_t b = a + 1; b < d->n; b++) {
            ns_ex curl = ns_sub(w->g, ns_diff(w->g, d->h[a], s->states.at[d->state[b]].symbol),
                                ns_diff(w->g, d->h[b], s->states.at[d->state[a]].symbol));
            d->closed = ns_max(d->closed, size_of(w, &curl, 1) / size);
            if (!is_zero(w, curl, size))
                return false;
        }
    return true;
}

/* Why there is no density of some coordinates; NULL if there is one. */
static const char *density_obstacle(work *w)
{
    enum { MOST_STATES = 60 };
    const ns_system *s = w->s;
    ns_measure_density *d = &w->m->density;
    const uint32_t n = s->states.n;
    uint32_t *position = NS_NEW_ARRAY(s->arena, uint32_t, n);
    uint32_t *velocity = NS_NEW_ARRAY(s->arena, uint32_t, n);
    linear_form f = {0};
    const uint32_t np = split(w, position, velocity, &f.n);
    if (np == 0 || f.n == 0)
        return "the system has no coordinates";
    d->too_large = n > MOST_STATES; /* second derivatives by all of them, of the divergence */
    if (d->too_large)
        return "it has more than 60 states";
    if (!is_linear_in_velocities(w, velocity, &f))
        return "the divergence is not linear in the velocities";
    find_coordinates(w, &f, position, np);
    if (d->n == 0)
        return "the divergence depends on no coordinate";
    const ns_ex *R = solve_for_h(w, &f);
    const double size = size_of(w, d->h, d->n);
    if (!isfinite(size))
        return "the velocities of the coordinates it depends on are bound by the constraints";
    if (!gives_back(w, &f, R))
        return "it is not a combination of the velocities of the coordinates it depends on";
    if (!depends_on_own(w, size))
        return "the coefficients of the velocities depend on other variables";
    if (!is_closed(w, size))
        return "the form h dr is not closed";
    ns_system_eval(s, d->h, d->n, 0, w->p, w->x0, d->at);
    return NULL;
}

static void find_density(work *w)
{
    w->m->density.why = density_obstacle(w);
    w->m->density.found = !w->m->density.why;
}

/* div + rho'/rho = 0 for the density that was given */
static void verify_density(work *w, ns_ex rho)
{
    const ns_system *s = w->s;
    uint32_t n = s->states.n;
    const ns_ex *x = ns_system_state_symbols(s, s->arena);
    const ns_ex *dx = ns_system_state_rates(s, s->arena);
    ns_ex change;
    ns_diff_along(w->g, &rho, 1, x, dx, n, &change);
    ns_ex pair[2] = {w->m->divergence, ns_div(w->g, change, rho)};
    double scale = 0, worst = 0;
    for (uint32_t k = 0; k < w->found; k++) {
        double value[2];
        ns_measure_values(w, pair, 2, k, value);
        double off = fabs(value[0] + value[1]);
        worst = isnan(off) ? NAN : ns_max(worst, off);
        scale = ns_max(scale, fabs(value[0]) + fabs(value[1]));
    }
    w->m->given = scale > 0 ? worst / scale : worst;
}

/* ---- along the motion -------------------------------------------------------------------- */

static bool follow(work *w, const ns_run_options *o, const char **message)
{
    ns_measure *m = w->m;
    const ns_system *s = w->s;
    const uint32_t n = s->states.n;
    const ns_program *program = ns_problem_program(s, s->arena, &m->divergence, 1);
    double *memory = NS_NEW_ARRAY(s->arena, double, ns_program_work1(program));
    double *y = NS_NEW_ARRAY(s->arena, double, n);
    ns_program_bind1(program, memory, w->p);
    ns_status status;
    ns_run *run = ns_run_new(w->problem, o, w->p, w->x0, &status, message);
    if (!run)
        return false;
    m->t0 = m->t = o->t0;
    NS_PUSH(s->arena, m->times, m->t0);
    NS_PUSH(s->arena, m->grown, 0);
    double middle = 0.5 * (o->t0 + o->until);
    while ((o->until > o->t0 ? m->t < o->until : m->t > o->until) &&
           (m->status = ns_run_step(run)) == NS_OK) {
        /* the steps of the method are short enough for its own quadrature */
        double from = ns_run_last_time(run), h = ns_run_time(run) - from, part = 0;
        for (int k = 0; k < 8; k++) {
            double t = from + gauss_c[k] * h, value;
            ns_run_state_at(run, t, y);
            ns_program_eval1(program, memory, t, y, &value);
            part += gauss_b[k] * h * value;
        }
        m->integral += part;
        m->least = ns_min(m->least, m->integral);
        m->most = ns_max(m->most, m->integral);
        m->t = from + h;
        NS_PUSH(s->arena, m->times, m->t);
        NS_PUSH(s->arena, m->grown, m->integral);
        if (fabs(m->t - o->t0) > fabs(middle - o->t0))
            m->half += part;
    }
    m->reason = ns_arena_string(s->arena, ns_run_outcome(run)->reason,
                                strlen(ns_run_outcome(run)->reason));
    ns_run_free(run);
    return true;
}

ns_measure *ns_measure_new(const ns_problem *problem, const ns_measure_options *options,
                           const double *p, const double *x0, const char **message)
{
    const ns_system *s = problem->system;
    work w = {.problem = problem,
              .s = s,
              .g = s->graph,
              .p = p,
              .x0 = x0,
              .m = NS_NEW(s->arena, ns_measure)};
    choose_points(&w, options->run.t0, options->run.until);
    make_divergence(&w);
    w.m->algebra = ns_measure_algebra_new(&w);
    if (!w.m->vanishes && !w.m->reduced)
        find_density(&w);
    w.m->given = NAN;
    if (options->density)
        verify_density(&w, options->density);
    return follow(&w, &options->run, message) ? w.m : NULL;
}
