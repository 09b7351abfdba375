/* Enclosures of events: intervals that hold an event's value over a stretch of the last step.
 *
 * States.  The polynomial of degree 9 through ten samples of the method's own interpolant lies
 * between its Bernstein coefficients; what it leaves out is judged by its last ones.  States
 * inside the step are more accurate than the interpolant (method.h): how far the two differ in
 * the middle and at the end of the step is added.
 *
 * Values.  Interval arithmetic on the program of the events: eval/interval/interval.h. */
#include <float.h>
#include <stdlib.h>

#include "base/math/vecmath.h"
#include "ode/events/roots.h"
#include "ode/run_internal.h"

static const ns_interval whole = {-INFINITY, INFINITY};

void ns_enclose_begin(ns_run *run)
{
    run->enclosure.bound = false;
    run->enclosure.from = run->enclosure.to = NAN;
}

static void place(ns_run *run, ns_layout *l)
{
    ns_enclosure *e = &run->enclosure;
    const size_t n = run->s.n;
    e->work = ns_layout_doubles(l, ns_interval_work(run->look, 0));
    e->nodes = ns_layout_doubles(l, 8 * n);
    e->ends = ns_layout_doubles(l, 8 * n);
    e->off = ns_layout_doubles(l, n);
    e->x = ns_layout_take(l, n, sizeof *e->x);
    e->out = ns_layout_take(l, ns_program_nout(run->look), sizeof *e->out);
}

static bool prepare(ns_run *run)
{
    ns_enclosure *e = &run->enclosure;
    if (!e->memory) {
        ns_layout l = {0};
        place(run, &l);
        e->memory = aligned_alloc(NS_LAYOUT_ALIGNMENT, l.used + NS_LAYOUT_ALIGNMENT);
        if (!e->memory)
            return false;
        place(run, &(ns_layout){.base = e->memory});
    }
    if (!e->bound)
        ns_interval_bind(run->look, e->work, 0, run->s.p);
    e->bound = true;
    return true;
}

static ns_interval eval(ns_run *run, uint32_t event, double from, double to)
{
    ns_enclosure *e = &run->enclosure;
    const ns_interval t = {ns_min(from, to), ns_max(from, to)};
    ns_interval_eval(run->look, e->work, 0, t, e->x, e->out);
    return e->out[event];
}

/* How far the interpolant is off in this step. */
static void measure(ns_run *run)
{
    ns_enclosure *e = &run->enclosure;
    ns_stepper *s = &run->s;
    if (e->from == s->now.from && e->to == s->now.t)
        return;
    e->from = s->now.from;
    e->to = s->now.t;
    const double tau[8] = {0.5, 1, 1, 1, 1, 1, 1, 1};
    s->method->sample(s, tau, e->ends);
    ns_run_dense(run, s->now.from + 0.5 * (s->now.t - s->now.from), run->x_event);
    for (size_t i = 0; i < s->n; i++)
        e->off[i] = 4 * ns_larger(fabs(run->x_event[i] - e->ends[8 * i]),
                                  fabs(s->x[i] - e->ends[8 * i + 1]));
}

ns_interval ns_enclose_event(ns_run *run, uint32_t event, double l, double r)
{
    ns_stepper *s = &run->s;
    if (!prepare(run))
        return whole;
    const ns_enclosure *e = &run->enclosure;
    measure(run);
    double tau[8];
    const double ends[8] = {l, r, r, r, r, r, r, r};
    for (int i = 0; i < 8; i++)
        tau[i] = l + (r - l) * ns_method_nodes[i];
    s->method->sample(s, tau, e->nodes);
    s->method->sample(s, ends, e->ends);
    for (size_t i = 0; i < s->n; i++) {
        double values[NS_ROOTS_POINTS];
        ns_roots_poly p;
        values[0] = e->ends[8 * i];
        memcpy(values + 1, e->nodes + 8 * i, 8 * sizeof(double));
        values[9] = e->ends[8 * i + 1];
        ns_roots_fit(values, &p);
        double lo = p.b[0], hi = p.b[0];
        for (int k = 1; k < NS_ROOTS_POINTS; k++) {
            lo = ns_smaller(lo, p.b[k]);
            hi = ns_larger(hi, p.b[k]);
        }
        /* the coefficients are sums of terms up to 64 times the values */
        const double more = 4 * p.error + e->off[i] + 256 * DBL_EPSILON * p.size;
        if (!(more < INFINITY))
            return whole;
        e->x[i] = (ns_interval){lo - more, hi + more};
    }
    const double from = s->now.from, h = s->now.t - from;
    return eval(run, event, l > 0 ? from + l * h : from, r < 1 ? from + r * h : s->now.t);
}

/* The size of what a component of a vector is rounded with: projections onto constraints mix
 * the components, and the height of a ball that rolls fast changes by the last bits of its
 * speed. */
static double around(const ns_run *run, size_t i)
{
    const ns_system *system = run->s.problem->system;
    const ns_state *at = system->states.at;
    double most = ns_larger(fabs(run->x_event[i]), run->s.size[i]);
    if (!at[i].vector || !run->options.project || !system->constraints.n)
        return most;
    for (size_t k = at[i].first; k < run->s.n && at[k].vector && at[k].first == at[i].first;
         k++)
        most = ns_larger(most, fabs(run->x_event[k]));
    return most;
}

double ns_enclose_noise(ns_run *run, uint32_t event, double t)
{
    if (!prepare(run))
        return INFINITY;
    const ns_enclosure *e = &run->enclosure;
    ns_run_dense(run, t, run->x_event);
    const double h = fabs(run->s.now.t - run->s.now.from);
    for (size_t i = 0; i < run->s.n; i++) {
        const double x = run->x_event[i];
        /* its last bits, and what rounding errors of its rate make in a step: a velocity that
         * should be zero is nothing else */
        const double more = 4 * DBL_EPSILON * around(run, i) + 16 * h * run->s.noise[i];
        e->x[i] = (ns_interval){x - more, x + more};
    }
    const ns_interval g = eval(run, event, t, t);
    const double noise = g.hi - g.lo;
    return noise < INFINITY ? noise : INFINITY;
}

double ns_enclose_start(ns_run *run, uint32_t event)
{
    if (!prepare(run))
        return INFINITY;
    const ns_stepper *s = &run->s;
    const ns_enclosure *e = &run->enclosure;
    double largest = 0;
    for (size_t i = 0; i < s->n; i++)
        largest = ns_larger(largest, fabs(s->x0[i]));
    const double more = 64 * DBL_EPSILON * largest;
    for (size_t i = 0; i < s->n; i++)
        e->x[i] = (ns_interval){s->x0[i] - more, s->x0[i] + more};
    const ns_interval g = eval(run, event, s->now.from, s->now.from);
    const double noise = g.hi - g.lo;
    return noise < INFINITY ? noise : INFINITY;
}
