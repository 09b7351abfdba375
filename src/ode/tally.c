/* Diagnostics of a run: energy, residuals, invariants, extremes of the observables.
 *
 * They are evaluated in batches of eight step ends, one per lane, at a fraction of the cost of
 * one at a time.  Minima and maxima do not depend on the order, and a lane gives the
 * bits a single evaluation gives, so the result does not depend on when a batch is emptied. */
#include "base/check.h"
#include "ode/quad/quad_internal.h"

/* Energy, residuals and invariants of the present state alone, in all lanes of the result. */
static const double *look_at_present(ns_run *run)
{
    for (int lane = 0; lane < 8; lane++) {
        run->time8[lane] = run->s.now.t;
        for (uint32_t i = 0; i < run->s.n; i++)
            run->x8[8 * i + (uint32_t)lane] = run->s.x[i];
    }
    ns_program_eval8(run->s.problem->monitor, run->work8_monitor, run->time8, run->x8,
                     run->out8);
    return run->out8;
}

void ns_tally_begin(ns_run *run)
{
    const ns_system *system = run->s.problem->system;
    run->tally = (ns_tally){0};
    for (uint32_t i = 0; i < system->observables.n; i++) {
        run->observable_min[i] = INFINITY;
        run->observable_max[i] = -INFINITY;
    }
    for (uint32_t i = 0; i < system->pushes.n; i++) {
        run->push_least[i] = INFINITY;
        run->push_since[i] = (double)NAN;
    }
    if (run->s.method->precise)
        ns_quad_tally_begin(run);
    ns_tally_add(run);
    /* the first batch holds the start alone: it gives the reference values */
    const double *out = look_at_present(run);
    run->tally.energy_first = run->tally.energy_base = out[0];
    run->tally.energy_last = out[0];
    for (uint32_t i = 0; i < system->invariants.n; i++)
        run->invariant_first[i] = out[8 * (2 + i)];
}

/* Energy, invariants and residuals of the first `count` lanes of the batch. */
static void look_at_batch(ns_run *run, uint32_t count)
{
    const ns_problem *problem = run->s.problem;
    const ns_system *system = problem->system;
    ns_tally *tally = &run->tally;
    double *out = run->out8;
    ns_program_eval8(problem->monitor, run->work8_monitor, run->batch_t, run->batch_x, out);
    const uint32_t k = system->invariants.n;
    for (uint32_t lane = 0; lane < count; lane++) {
        const double off = fabs(out[lane] - tally->energy_base);
        tally->energy_off = off > tally->energy_off || isnan(off) ? off : tally->energy_off;
        tally->kinetic_most = ns_larger(tally->kinetic_most, fabs(out[8 + lane]));
        for (uint32_t i = 0; i < k; i++) {
            const double drift = fabs(out[8 * (2 + i) + lane] - run->invariant_first[i]);
            run->invariant_off[i] = ns_larger(run->invariant_off[i], drift);
            run->invariant_scale[i] = ns_larger(run->invariant_scale[i],
                                                out[8 * (2 + k + i) + lane]);
        }
    }
    tally->energy_last = out[count - 1];
    ns_program_eval8(problem->residuals, run->work8_residuals, run->batch_t, run->batch_x, out);
    for (uint32_t i = 0; i < system->constraints.n; i++)
        for (uint32_t lane = 0; lane < count; lane++)
            run->residual[i] = ns_larger(run->residual[i], fabs(out[8 * i + lane]));
}

/* Normal forces of contacts. */
static void look_at_pushes(ns_run *run, uint32_t count)
{
    const ns_problem *problem = run->s.problem;
    double *out = run->out8;
    ns_program_eval8(problem->pushes, run->work8_pushes, run->batch_t, run->batch_x, out);
    for (uint32_t i = 0; i < problem->system->pushes.n; i++)
        for (uint32_t lane = 0; lane < count; lane++) {
            run->push_least[i] = ns_smaller(run->push_least[i], out[8 * i + lane]);
            if (out[8 * i + lane] < 0 && isnan(run->push_since[i]))
                run->push_since[i] = run->batch_t[lane];
        }
}

void ns_tally_flush(ns_run *run)
{
    const ns_problem *problem = run->s.problem;
    const ns_system *system = problem->system;
    ns_tally *tally = &run->tally;
    const uint32_t count = (uint32_t)tally->pending, n = run->s.n;
    if (count == 0)
        return;
    for (uint32_t lane = count; lane < 8; lane++) { /* fill up with something finite */
        run->batch_t[lane] = run->batch_t[0];
        for (uint32_t i = 0; i < n; i++)
            run->batch_x[8 * i + lane] = run->batch_x[8 * i];
    }
    double *out = run->out8;
    if (!run->s.method->precise)
        look_at_batch(run, count);
    if (problem->pushes)
        look_at_pushes(run, count);
    const uint32_t n_obs = run->options.extremes ? system->observables.n : 0;
    if (n_obs)
        ns_program_eval8(problem->observables, run->work8_observe, run->batch_t, run->batch_x,
                         out);
    for (uint32_t i = 0; i < n_obs; i++) {
        double least = run->observable_min[i], most = run->observable_max[i];
        for (uint32_t lane = 0; lane < count; lane++) {
            least = ns_smaller(least, out[8 * i + lane]);
            most = ns_larger(most, out[8 * i + lane]);
        }
        run->observable_min[i] = least;
        run->observable_max[i] = most;
    }
    tally->pending = 0;
}

void ns_tally_add(ns_run *run)
{
    if (run->s.method->precise)
        ns_quad_tally(run);
    NS_CHECK(run->tally.pending < 8);
    const uint32_t lane = (uint32_t)run->tally.pending++;
    run->batch_t[lane] = run->s.now.t;
    for (uint32_t i = 0; i < run->s.n; i++)
        run->batch_x[8 * i + lane] = run->s.x[i];
    if (run->tally.pending == 8)
        ns_tally_flush(run);
}

void ns_tally_leave(ns_run *run)
{
    ns_tally_flush(run); /* its programs are those of the mode that is left */
    if (run->s.method->precise)
        ns_quad_tally_leave(run);
}

/* The state after the jump; the energy it has is what it is compared with from now on, less the
 * error that there was before. */
void ns_tally_enter(ns_run *run)
{
    ns_tally *tally = &run->tally;
    const double before = tally->energy_last;
    if (run->s.method->precise)
        ns_quad_tally_enter(run);
    const double *out = look_at_present(run);
    tally->energy_base += out[0] - before;
    ns_tally_add(run);
}
