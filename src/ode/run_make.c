/* A run before its motion: options checked, all memory in one block, laid out by `layout`. */
#include <stdlib.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "mech/common/rank.h"
#include "ode/auto.h"
#include "ode/drive/bump.h"
#include "ode/drive/drive.h"
#include "ode/pinv.h"
#include "ode/run_internal.h"

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What a checkpoint copies.  First what has the same place in every mode.  own: of the method,
 * counted by its layout. */
static void layout_kept(ns_run *run, ns_layout *l, ns_layout *own)
{
    ns_stepper *s = &run->s;
    const ns_problem *problem = s->problem;
    const ns_system *system = problem->system;
    const size_t n = s->n;
    const size_t start = l->used;
    run->kept = ns_layout_here(l);
    NS_LAYOUT_EACH(l, n, &s->x, &s->x_lo, &s->x0, &s->x0_lo, &s->size, &s->noise, &s->rough);
    run->residual = ns_layout_doubles(l, system->constraints.n);
    NS_LAYOUT_EACH(l, system->invariants.n, &run->invariant_first, &run->invariant_off,
                   &run->invariant_scale);
    NS_LAYOUT_EACH(l, system->pushes.n, &run->push_least, &run->push_since);
    NS_LAYOUT_EACH(l, system->observables.n, &run->observable_min, &run->observable_max);
    NS_LAYOUT_EACH(l, system->events.n, &run->event_value, &run->event_sign, &run->event_first);
    run->batch_t = ns_layout_doubles(l, 8);
    run->batch_x = ns_layout_doubles(l, 8 * n);
    if (problem->jumps) {
        NS_LAYOUT_EACH(l, n, &run->after, &run->after_lo, &run->beyond, &run->beyond_lo);
        NS_LAYOUT_EACH(l, system->events.n, &run->jump_last, &run->jump_gap, &run->jump_widest);
        run->jump_tally = ns_layout_doubles(
            l, s->method->precise ? 2 + 2 * (size_t)system->invariants.n : 0);
    }
    run->schedule_kept = ns_layout_doubles(l, ns_schedule_kept(run->options.schedule));
    run->common = l->used;
    *own = (ns_layout){.base = ns_layout_take(l, own->used, 1)};
    run->drive_kept = ns_layout_doubles(l, ns_drive_kept(problem));
    run->bump_kept = ns_layout_doubles(l, ns_bump_kept(problem));
    run->n_kept = (l->used - start) / sizeof(double);
}

/* Work blocks of the programs. */
static void layout_work(ns_run *run, ns_layout *l)
{
    const ns_problem *problem = run->s.problem;
    run->work_rhs = ns_layout_doubles(l, ns_program_work1(problem->rhs));
    run->work_observe = ns_layout_doubles(l, ns_program_work1(problem->observables));
    run->work_events = ns_layout_doubles(l, ns_program_work1(problem->events));
    if (!problem->correction)
        run->work_manifold = ns_layout_doubles(l, ns_program_work1(problem->manifold));
    run->work8_observe = ns_layout_doubles(l, ns_program_work8(problem->observables));
    run->work8_events = ns_layout_doubles(l, ns_program_work8(problem->events));
    run->work8_residuals = ns_layout_doubles(l, ns_program_work8(problem->residuals));
    run->work8_monitor = ns_layout_doubles(l, ns_program_work8(problem->monitor));
    if (problem->pushes)
        run->work8_pushes = ns_layout_doubles(l, ns_program_work8(problem->pushes));
    run->s.work8 = ns_layout_doubles(l, ns_program_work8(problem->rhs));
    if (problem->correction) {
        run->work_shift = ns_layout_doubles(l, ns_program_work1(problem->shift));
        run->work_correction = ns_layout_doubles(l, ns_program_work1(problem->correction));
        run->shift = ns_layout_doubles(l, ns_program_nout(problem->shift));
        run->shift_inputs = ns_layout_doubles(l, problem->n + problem->n_shift);
    }
    if (problem->pinv)
        run->s.pinv = ns_pinv_layout(problem, l);
    const ns_schedule *schedule = run->options.schedule;
    if (schedule)
        run->schedule_work = ns_layout_doubles(l, ns_schedule_work(schedule) +
                                                      schedule->n_samplings + 1);
    const ns_rank_watch *watch = problem->system->watch;
    if (watch) {
        run->work_ranks = ns_layout_doubles(l, ns_program_work1(problem->ranks));
        run->rank_values = ns_layout_doubles(l, most(watch->entries.n, watch->n));
        run->rank_matrix = ns_layout_doubles(l, ns_rank_room(watch));
    }
}

static void layout_scratch(ns_run *run, ns_layout *l)
{
    ns_stepper *s = &run->s;
    const ns_problem *problem = s->problem;
    const ns_system *system = problem->system;
    const size_t n = s->n, m = problem->correction ? 0 : problem->n_manifold;
    const size_t n_look = ns_program_nout(problem->events), n_inv = system->invariants.n;
    run->drive = ns_drive_layout(s, l);
    run->bump = ns_bump_layout(problem, l);
    run->out8 = ns_layout_doubles(l,
                                  8 * most(most(system->observables.n, system->constraints.n),
                                           most(n_look, 2 + 2 * n_inv + system->pushes.n)));
    run->time8 = s->t8 = ns_layout_doubles(l, 8);
    run->x8 = s->x8 = ns_layout_doubles(l, 8 * n);
    s->f8 = ns_layout_doubles(l, 8 * n);
    NS_LAYOUT_EACH(l, n, &s->change, &s->other, &s->rest, &run->metric, &run->f, &run->x_event);
    run->manifold = ns_layout_doubles(l, m * (n + 2));
    run->basis = ns_layout_doubles(l, m * n);
    run->triangle = ns_layout_doubles(l, m * m + 3 * m);
    run->x_try = ns_layout_doubles(l, 2 * ns_round8(n));
    run->drift = ns_layout_doubles(l, n_inv);
    NS_LAYOUT_EACH(l, n_look, &run->events_now, &run->events_begin, &run->events_end);
    run->events8 = ns_layout_doubles(l, 8 * n_look);
    run->ends8 = ns_layout_doubles(l, problem->probes->kinks ? 8 * n_look : 0);
    run->wild = ns_layout_take(l, problem->probes->words, sizeof(uint64_t));
    if (problem->jumps) {
        const size_t out = most(most(ns_program_nout(problem->jumps->resets),
                                     ns_program_nout(problem->jumps->needs)),
                                most(ns_program_nout(problem->jumps->gates), n));
        NS_LAYOUT_EACH(l, out, &run->jump_out, &run->jump_out_lo, &run->jump_f,
                       &run->jump_f_lo);
        run->jump_gates = ns_layout_doubles(l,
                                            3 * (size_t)ns_program_nout(problem->jumps->gates));
        run->jump_series = ns_layout_doubles(l, ns_jump_series(run->whole));
        run->work_jump = ns_layout_doubles(l, ns_jump_work(run->whole, s->method->precise));
    }
}

/* Places everything in the block, the kept part first; returns its size in bytes. */
static size_t layout(ns_run *run, void *base)
{
    ns_stepper *s = &run->s;
    ns_layout l = {.base = base};
    ns_layout kept = {0}, scratch = {0}; /* of the method: counted, then placed */
    s->method->layout(s, &kept, &scratch);
    s->p = ns_layout_doubles(&l, s->problem->np);
    s->p8 = ns_layout_doubles(&l, 8 * (size_t)s->problem->np);
    s->p_lo = ns_layout_doubles(&l, s->problem->np);
    layout_kept(run, &l, &kept);
    scratch = (ns_layout){.base = ns_layout_take(&l, scratch.used, 1)};
    s->method->layout(s, &kept, &scratch);
    layout_scratch(run, &l);
    layout_work(run, &l);
    return l.used;
}

/* Events are looked for with this. */
static void choose_look(ns_run *run)
{
    const ns_problem *problem = run->s.problem;
    const bool stops = run->options.only_stops && run->options.last_count == 0;
    run->look = stops ? problem->stops : problem->events;
}

void ns_run_place(ns_run *run)
{
    layout(run, run->block);
    memset((char *)run->block + run->common, 0, run->n_block - run->common);
    choose_look(run);
    ns_run_bind(run);
}

void ns_run_bind(ns_run *run)
{
    const ns_problem *problem = run->s.problem;
    const double *p = run->s.p, *p8 = run->s.p8;
    ns_program_bind1(problem->rhs, run->work_rhs, p);
    ns_program_bind8(problem->rhs, run->s.work8, p8);
    ns_program_bind1(problem->observables, run->work_observe, p);
    ns_program_bind1(run->look, run->work_events, p);
    if (!problem->correction)
        ns_program_bind1(problem->manifold, run->work_manifold, p);
    if (problem->correction) {
        ns_program_bind1(problem->shift, run->work_shift, p);
        ns_program_bind1(problem->correction, run->work_correction, p);
    }
    if (problem->pinv)
        ns_pinv_bind(problem, run->s.pinv, p, p8);
    if (problem->ranks)
        ns_program_bind1(problem->ranks, run->work_ranks, p);
    ns_program_bind8(run->look, run->work8_events, p8);
    if (run->no_tally)
        return;
    ns_program_bind8(problem->observables, run->work8_observe, p8);
    ns_program_bind8(problem->residuals, run->work8_residuals, p8);
    ns_program_bind8(problem->monitor, run->work8_monitor, p8);
    if (problem->pushes)
        ns_program_bind8(problem->pushes, run->work8_pushes, p8);
}

/* NULL if the request makes sense, otherwise what is wrong with it. */
static const char *check(const ns_problem *problem, const ns_run_options *o,
                         const ns_method *method)
{
    if (!method)
        return ns_auto_asked(o) ? "auto chooses for one motion: name a method here"
                                : "unknown method";
    if (method->needs_jacobian && !problem->jacobian)
        return "this method needs the Jacobian of the system";
    if (method->needs_balance && !problem->balance)
        return "discrete mechanics is for `lagrange` and `hamel`, without friction and without "
               "reactions in forces: use another method";
    if (method->needs_balance && !(o->fixed_step > 0))
        return "this method makes steps of constant length: say which, by `step` in `run { }`";
    if (method->precise && problem->pinv)
        return "`solve pinv` works in double precision only: use another `solve`";
    if (method->precise && !problem->tangent)
        return "quadruple precision is for runs: another method has to do here";
    if (method->needs_series && problem->pinv)
        return "`solve pinv` has no Taylor series: use another method, or another `solve`";
    if (o->until < o->t0 && problem->jumps)
        return "a motion that jumps goes forward only: what was before a jump does not follow "
               "from what is after it";
    if (o->mode > problem->n_modes)
        return "the system has no such mode";
    if (!isfinite(o->t0) || isnan(o->until))
        return "the times of the run are not finite";
    if (!(o->tolerance >= 0) || o->tolerance >= 1)
        return "the tolerance must lie between 0 and 1";
    if (!(o->least_size >= 0) || isinf(o->least_size))
        return "the least size of states must not be negative";
    if (!(o->first_step >= 0) || !(o->max_step >= 0) || !(o->fixed_step >= 0) ||
        isinf(o->fixed_step))
        return "step sizes must not be negative";
    return NULL;
}

ns_run *ns_run_make(const ns_problem *problem, const ns_run_options *options, ns_status *status,
                    const char **message)
{
    const ns_method *method = ns_method_find(options->method);
    const char *wrong = check(problem, options, method);
    ns_run *run = NULL;
    *status = NS_ERR_USAGE;
    *message = wrong;
    if (wrong)
        return NULL;

    *status = NS_ERR_MEMORY;
    *message = "out of memory";
    run = calloc(1, sizeof *run + method->view);
    if (!run)
        return NULL;
    ns_stepper *s = &run->s;
    s->view = run + 1;
    run->options = *options;
    run->whole = problem;
    s->method = method;
    s->n = problem->n;
    s->until = options->until;
    s->sense = options->until < options->t0 ? -1 : 1;
    s->tolerance = options->tolerance > 0 ? ns_max(options->tolerance, method->least_tolerance)
                                          : method->default_tolerance;
    s->least_size = options->least_size;
    s->first_step = options->first_step;
    s->max_step = options->max_step;
    s->fixed_step = options->fixed_step;
    for (uint32_t k = 0; k < problem->n_modes; k++) { /* room for each mode */
        s->problem = ns_problem_in_mode(problem, k);
        run->n_block = most(run->n_block, layout(run, NULL) + NS_LAYOUT_ALIGNMENT);
    }
    s->problem = ns_problem_in_mode(problem, 0);
    choose_look(run);
    run->block = aligned_alloc(NS_LAYOUT_ALIGNMENT, run->n_block);
    if (!run->block) {
        free(run);
        return NULL;
    }
    const size_t placed = layout(run, run->block);
    NS_CHECK(placed + NS_LAYOUT_ALIGNMENT <= run->n_block);
    (void)placed;
    *status = NS_OK;
    *message = "";
    return run;
}
