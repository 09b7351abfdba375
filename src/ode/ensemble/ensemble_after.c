/* Ensembles in lanes: what is done after every step. */
#include "ode/drive/drive.h"
#include "ode/ensemble/ensemble_lanes.h"

/* Lanes whose motion has come to a switch go to its other side; all learn how far they may
 * go. */
static void look_at_clock(const ns_lanes *e, ns_lanes_group *g, unsigned going)
{
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8; l++) {
        if (!(going >> l & 1) || !b->live[l])
            continue;
        ns_stepper *s = &g->lanes[l].run->s;
        s->now.t = b->t[l];
        double at, beyond;
        if (b->t[l] == b->until || !ns_drive_switch(s, &at, &beyond)) {
            ns_lanes_bound(b, s, l);
            continue;
        }
        ns_run *run = ns_lanes_hand_over(e, g, l);
        const uint64_t before = run->s.now.evaluations;
        if (ns_run_cross(run) != NS_OK)
            b->singular |= 1u << l;
        b->ended |= (unsigned)(run->s.now.t == b->until) << l;
        g->lanes[l].evaluations += run->s.now.evaluations - before;
        ns_lanes_give(e, g, l);
    }
}

static void sample(const ns_lanes *e, ns_lanes_group *g, double u, double *values)
{
    ns_bundle *b = g->b;
    if (u < 1) {
        e->kernel->inside(b, u);
        ns_program_eval8(e->look, g->work_events, b->stage_t, b->w, values);
    } else
        ns_program_eval8(e->look, g->work_events, b->t, b->x, values);
}

/* Lanes in which events may have happened: from values at three points of the step, and at five
 * where these leave it open. */
static unsigned find_suspects(const ns_lanes *e, ns_lanes_group *g)
{
    double **const v = g->value;
    double *const last = v[0];
    v[0] = v[4];
    v[4] = last;
    sample(e, g, 1, v[4]);
    sample(e, g, 0.5, v[2]);
    const double *const three[] = {v[0], v[2], v[4]};
    unsigned found = e->kernel->suspects(&e->watch, g->sign, three, 3) & g->b->accepted;
    if (!found)
        return 0;
    sample(e, g, 0.25, v[1]);
    sample(e, g, 0.75, v[3]);
    const double *const five[] = {v[0], v[1], v[2], v[3], v[4]};
    return found & e->kernel->suspects(&e->watch, g->sign, five, 5);
}

/* Events and ranks.  A lane that is to stop has its run as it ended. */
static unsigned look_for_events(ns_lanes *e, ns_lanes_group *g)
{
    const uint32_t n_ev = e->problem->system->events.n;
    ns_bundle *b = g->b;
    unsigned suspects = e->n_watch ? find_suspects(e, g) : 0, stopped = 0;
    const unsigned look = e->problem->system->watch ? b->accepted : suspects;
    for (uint32_t l = 0; l < 8; l++) {
        if (!(look >> l & 1))
            continue;
        ns_run *run = ns_lanes_open_step(e, g, l);
        ns_status status = NS_OK;
        if (suspects >> l & 1) {
            ns_lanes_get(g->value[0], run->event_value, n_ev, l);
            ns_lanes_get(g->sign, run->event_sign, n_ev, l);
            status = ns_events_scan(run);
            ns_lanes_put(g->sign, run->event_sign, n_ev, l);
            ns_lanes_put(g->value[4], run->event_value, n_ev, l);
        }
        if (status == NS_OK)
            status = ns_rank_step(run);
        if (status == NS_OK)
            continue;
        stopped |= 1u << l;
        ns_lanes_put(b->x, run->s.x, b->n, l); /* the step may have been cut */
        ns_lanes_put(b->x_lo, run->s.x_lo, b->n, l);
        b->t[l] = run->s.now.t;
    }
    return stopped;
}

static void look_at_times(ns_lanes *e, ns_lanes_group *g, unsigned stopped)
{
    const ns_ensemble_options *o = e->options;
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8; l++) {
        ns_lane *of = &g->lanes[l];
        if (!(b->accepted >> l & 1) || of->time >= o->n_times ||
            (b->t[l] - o->times[of->time]) * b->sense < 0)
            continue;
        if (!(stopped >> l & 1))
            ns_lanes_open_step(e, g, l);
        ns_lanes_keep_states(e, of);
    }
}

/* Measures the noise of the rates in the lanes that ask for it. */
static void probe(ns_lanes_group *g)
{
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8; l++) {
        ns_lane *of = &g->lanes[l];
        if (!(b->probe >> l & 1) || !b->live[l])
            continue;
        ns_stepper *s = &of->run->s;
        s->now.from = b->from[l];
        s->now.t = b->t[l];
        ns_lanes_get(b->x, s->x, s->n, l);
        ns_lanes_get(b->size, s->size, s->n, l);
        const uint64_t before = s->now.evaluations;
        ns_stepper_measure_noise(s);
        of->evaluations += s->now.evaluations - before;
        ns_lanes_put_noise(b, s, l);
        b->probe_at[l] = ns_lanes_next_probe(b->steps[l], s->now.noisy);
    }
}

/* Lanes whose motion is at its end, well or not. */
static void end_motions(ns_lanes *e, ns_lanes_group *g, unsigned stopped)
{
    const ns_run_options *o = &e->options->run;
    ns_bundle *b = g->b;
    const bool interrupted = o->interrupt && *o->interrupt;
    const unsigned failed = b->singular | b->tiny;
    for (uint32_t l = 0; l < 8 && !e->stopped; l++) {
        if (!b->live[l])
            continue;
        ns_run *run = g->lanes[l].run;
        const bool fails = failed >> l & 1, judged = b->judged >> l & 1;
        if (stopped >> l & 1) {
            ns_lanes_unload(e, g, l);
            continue;
        }
        if (b->t[l] != b->until && !fails && !judged && !interrupted)
            continue;
        ns_lanes_hand_over(e, g, l);
        if (fails) {
            const bool rates = b->singular >> l & 1 || b->refused[l];
            run->s.why = rates            ? NS_WHY_NOT_FINITE
                         : b->diverged[l] ? NS_WHY_ITERATION
                                          : NS_WHY_STEP;
            ns_run_explain(run, rates ? NS_STOP_SINGULAR : NS_STOP_STEP);
        } else if (b->t[l] == b->until) {
            /* all is well */
        } else if (interrupted)
            ns_run_interrupt(run);
        else if (ns_run_judge(run) == NS_OK) {
            b->judge[l] = ns_lanes_next_judgement(o, b->steps[l]);
            continue;
        }
        ns_lanes_unload(e, g, l);
    }
}

/* Motions that are better off alone (stiff ones, with Newton's iteration): their runs go on
 * from where they are. */
static void let_go(ns_lanes *e, ns_lanes_group *g)
{
    const uint32_t n_ev = e->problem->system->events.n;
    ns_bundle *b = g->b;
    for (uint32_t l = 0; l < 8 && !e->stopped; l++) {
        if (!(b->leave >> l & 1) || !b->live[l])
            continue;
        ns_lane *of = &g->lanes[l];
        ns_run *run = ns_lanes_hand_over(e, g, l);
        run->s.now.evaluations = of->evaluations + (uint64_t)b->evaluations[l];
        ns_lanes_get(g->sign, run->event_sign, n_ev, l);
        ns_lanes_get(g->value[4], run->event_value, n_ev, l);
        if (e->tally)
            ns_lanes_tally_store(e, g, l);
        ns_lanes_release(e, g, l);
        of->time = ns_ensemble_follow(run, e->options, of->time, of->at);
        ns_lanes_report(e, of);
    }
}

void ns_lanes_look_after(ns_lanes *e, ns_lanes_group *g)
{
    unsigned stopped = 0;
    if (e->n_watch || e->problem->system->watch)
        stopped = look_for_events(e, g);
    if (e->options->n_times)
        look_at_times(e, g, stopped);
    if (e->tally)
        ns_lanes_tally(e, g);
    if (g->b->driven)
        look_at_clock(e, g, g->b->accepted & ~stopped);
    const ns_run_options *o = &e->options->run;
    if (stopped | g->b->ended | g->b->singular | g->b->tiny | g->b->judged || o->interrupt)
        end_motions(e, g, stopped);
    if (g->b->leave)
        let_go(e, g);
    if (g->b->probe)
        probe(g);
}
