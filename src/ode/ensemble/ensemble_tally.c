/* Diagnostics of motions in lanes: as tally.c, with one step end in every lane. */
#include "base/math/vecmath.h"
#include "ode/ensemble/ensemble_lanes.h"

void ns_lanes_tally_load(const ns_lanes *e, ns_lanes_group *g, uint32_t l)
{
    const ns_system *system = e->problem->system;
    ns_run *run = g->lanes[l].run;
    ns_lanes_seen *s = &g->seen;
    const uint32_t n_inv = system->invariants.n;
    ns_tally_flush(run); /* the start */
    s->first[l] = s->last[l] = run->tally.energy_first;
    s->off[l] = run->tally.energy_off;
    s->scale[l] = run->tally.kinetic_most;
    ns_lanes_put(s->first + 16, run->invariant_first, n_inv, l);
    ns_lanes_put(s->off + 16, run->invariant_off, n_inv, l);
    ns_lanes_put(s->scale + 8, run->invariant_scale, n_inv, l);
    ns_lanes_put(s->residual, run->residual, system->constraints.n, l);
    ns_lanes_put(s->least, run->observable_min, system->observables.n, l);
    ns_lanes_put(s->most, run->observable_max, system->observables.n, l);
}

void ns_lanes_tally_store(const ns_lanes *e, const ns_lanes_group *g, uint32_t l)
{
    const ns_system *system = e->problem->system;
    ns_run *run = g->lanes[l].run;
    const ns_lanes_seen *s = &g->seen;
    const uint32_t n_inv = system->invariants.n;
    run->tally.energy_last = s->last[l];
    run->tally.energy_off = s->off[l];
    run->tally.kinetic_most = s->scale[l];
    ns_lanes_get(s->off + 16, run->invariant_off, n_inv, l);
    ns_lanes_get(s->scale + 8, run->invariant_scale, n_inv, l);
    ns_lanes_get(s->residual, run->residual, system->constraints.n, l);
    ns_lanes_get(s->least, run->observable_min, system->observables.n, l);
    ns_lanes_get(s->most, run->observable_max, system->observables.n, l);
}

/* Largest changes, residuals and extremes: ns_tally_flush with one step end in every lane. */
void ns_lanes_tally(const ns_lanes *e, ns_lanes_group *g)
{
    const ns_problem *problem = e->problem;
    const ns_system *system = problem->system;
    const ns_bundle *b = g->b;
    ns_lanes_seen *s = &g->seen;
    const uint32_t n_inv = system->invariants.n;
    double *out = g->out;
    ns_program_eval8(problem->monitor, s->work_monitor, b->t, b->x, out);
    for (uint32_t l = 0; l < 8; l++) {
        if (!(b->accepted >> l & 1))
            continue;
        const double off = fabs(out[l] - s->first[l]);
        s->off[l] = off > s->off[l] || isnan(off) ? off : s->off[l];
        s->scale[l] = ns_max(s->scale[l], fabs(out[8 + l]));
        s->last[l] = out[l];
        for (uint32_t i = 0; i < n_inv; i++) {
            const size_t at = 8 * (size_t)i + l;
            s->off[16 + at] = ns_max(s->off[16 + at], fabs(out[16 + at] - s->first[16 + at]));
            s->scale[8 + at] = ns_max(s->scale[8 + at], out[8 * (2 + (size_t)n_inv) + at]);
        }
    }
    ns_program_eval8(problem->residuals, s->work_residuals, b->t, b->x, out);
    for (uint32_t i = 0; i < system->constraints.n; i++)
        for (uint32_t l = 0; l < 8; l++)
            if (b->accepted >> l & 1)
                s->residual[8 * i + l] = ns_max(s->residual[8 * i + l], fabs(out[8 * i + l]));
    if (!e->options->extremes)
        return;
    ns_program_eval8(problem->observables, s->work_observe, b->t, b->x, out);
    for (uint32_t i = 0; i < system->observables.n; i++)
        for (uint32_t l = 0; l < 8; l++)
            if (b->accepted >> l & 1) {
                s->least[8 * i + l] = ns_min(s->least[8 * i + l], out[8 * i + l]);
                s->most[8 * i + l] = ns_max(s->most[8 * i + l], out[8 * i + l]);
            }
}
