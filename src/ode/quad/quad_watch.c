/* Diagnostics of a run in quadruple precision: see quad.h. */
#define _GNU_SOURCE
#include "base/math/quad.h"

#include "base/math/vecmath.h"
#include "ode/quad/quad.h"
#include "ode/quad/quad_internal.h"

#if NS_HAVE_QUAD

static const ns_quad *join(const ns_quad_engine *q, uint32_t n, const double *x,
                           const double *x_lo)
{
    for (uint32_t i = 0; i < n; i++)
        q->Y[i] = (ns_quad)x[i] + (ns_quad)(x_lo ? x_lo[i] : 0);
    return q->Y;
}

void ns_quad_residuals(ns_run *run, double t, const double *x, const double *x_lo,
                       bool projected, double *g)
{
    const ns_quad_engine *q = run->s.outside;
    const ns_system *system = run->s.problem->system;
    ns_program_eval_quad(run->s.problem->residuals, q->work_residuals, ns_quad_time(t),
                         join(q, run->s.n, x, x_lo), q->out);
    uint32_t m = 0;
    for (uint32_t i = 0; i < system->constraints.n; i++)
        if (!projected || system->constraints.at[i].project)
            g[m++] = (double)q->out[i];
}

void ns_quad_tally_begin(ns_run *run)
{
    const ns_quad_engine *q = run->s.outside;
    const uint32_t k = run->s.problem->system->invariants.n;
    ns_program_eval_quad(run->s.problem->monitor, q->work_monitor, ns_quad_time(run->s.now.t),
                         join(q, run->s.n, run->s.x, run->s.x_lo), q->out);
    double *energy = ns_quad_first(run), *first = ns_quad_first_invariants(run);
    ns_quad_split(q->out[0], &energy[0], &energy[1]);
    for (size_t i = 0; i < k; i++)
        ns_quad_split(q->out[2 + i], &first[2 * i], &first[2 * i + 1]);
}

void ns_quad_tally(ns_run *run)
{
    const ns_quad_engine *q = run->s.outside;
    const ns_problem *problem = run->s.problem;
    const uint32_t k = problem->system->invariants.n;
    const double *energy = ns_quad_first(run), *first = ns_quad_first_invariants(run);
    ns_tally *tally = &run->tally;
    ns_program_eval_quad(problem->monitor, q->work_monitor, ns_quad_time(run->s.now.t),
                         join(q, run->s.n, run->s.x, run->s.x_lo), q->out);
    const double off = fabs((double)(q->out[0] - (ns_quad)energy[0] - (ns_quad)energy[1]));
    tally->energy_off = off > tally->energy_off || isnan(off) ? off : tally->energy_off;
    tally->energy_last = (double)q->out[0];
    tally->kinetic_most = ns_max(tally->kinetic_most, fabs((double)q->out[1]));
    for (uint32_t i = 0; i < k; i++) {
        const double *start = first + 2 * (size_t)i;
        const ns_quad change = q->out[2 + i] - (ns_quad)start[0] - (ns_quad)start[1];
        run->invariant_off[i] = ns_max(run->invariant_off[i], fabs((double)change));
        run->invariant_scale[i] = ns_max(run->invariant_scale[i], (double)q->out[2 + k + i]);
    }
    double *g = run->out8;
    ns_quad_residuals(run, run->s.now.t, run->s.x, run->s.x_lo, false, g);
    for (uint32_t i = 0; i < problem->system->constraints.n; i++)
        run->residual[i] = ns_max(run->residual[i], fabs(g[i]));
}

static ns_quad energy_now(ns_run *run)
{
    const ns_quad_engine *q = run->s.outside;
    ns_program_eval_quad(run->s.problem->monitor, q->work_monitor, ns_quad_time(run->s.now.t),
                         join(q, run->s.n, run->s.x, run->s.x_lo), q->out);
    return q->out[0];
}

/* A method that begins anew forgets what it kept: the energy compared with, less the present
 * one, and the invariants. */
void ns_quad_tally_leave(ns_run *run)
{
    const double *energy = ns_quad_first(run);
    double *keep = run->jump_tally;
    ns_quad_split((ns_quad)energy[0] + (ns_quad)energy[1] - energy_now(run), &keep[0],
                  &keep[1]);
    memcpy(keep + 2, ns_quad_first_invariants(run),
           2 * run->s.problem->system->invariants.n * sizeof *keep);
}

void ns_quad_tally_enter(ns_run *run)
{
    double *energy = ns_quad_first(run);
    const double *keep = run->jump_tally;
    const ns_quad base = (ns_quad)keep[0] + (ns_quad)keep[1] + energy_now(run);
    ns_quad_split(base, &energy[0], &energy[1]);
    memcpy(ns_quad_first_invariants(run), keep + 2,
           2 * run->s.problem->system->invariants.n * sizeof *keep);
}

void ns_quad_observe(ns_run *run, double t, double *values, double *low)
{
    const ns_quad_engine *q = run->s.outside;
    ns_stepper *s = &run->s;
    if (t == s->now.t || s->now.from == s->now.t) {
        join(q, s->n, s->x, s->x_lo);
    } else if (t == s->now.from) {
        join(q, s->n, s->x0, s->x0_lo);
    } else {
        double *x = run->x_try, *x_lo = run->x_try + ns_round8(s->n);
        if (run->stretch.bridged)
            ns_accumulate_state(run, t, x, x_lo);
        else
            s->method->state_low(s, t, x, x_lo);
        join(q, s->n, x, x_lo);
    }
    if (run->options.shaken) {
        ns_program_bind_shaken(s->problem->observables, q->work_observe, q->p);
        ns_program_eval_shaken(s->problem->observables, q->work_observe, ns_quad_time(t), q->Y,
                               q->out);
    } else {
        ns_program_eval_quad(s->problem->observables, q->work_observe, ns_quad_time(t), q->Y,
                             q->out);
    }
    for (uint32_t i = 0; i < s->problem->system->observables.n; i++)
        ns_quad_split(q->out[i], &values[i], &low[i]);
}

#else

void ns_quad_tally_leave(ns_run *run)
{
    (void)run;
}

void ns_quad_tally_enter(ns_run *run)
{
    (void)run;
}

void ns_quad_residuals(ns_run *run, double t, const double *x, const double *x_lo,
                       bool projected, double *g)
{
    (void)run, (void)t, (void)x, (void)x_lo, (void)projected, (void)g;
}

void ns_quad_tally_begin(ns_run *run)
{
    (void)run;
}

void ns_quad_tally(ns_run *run)
{
    (void)run;
}

void ns_quad_observe(ns_run *run, double t, double *values, double *low)
{
    (void)run, (void)t, (void)values, (void)low;
}

#endif
