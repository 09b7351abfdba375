/* Ranks along a run: of the constraint rows A and of [M; A], at every accepted step.
 *
 * If [M; A] loses rank the accelerations are no longer unique: the run stops and names the
 * coordinates.  A change of rank A is an event, `rank`.  It usually happens at one moment,
 * between two steps: a linkage passes through its dead point.  The length of the last
 * independent row then goes to zero and comes back.  Where its trend over the last step says
 * that it may do so within this one, it is looked at inside the step, closer and closer around
 * its smallest value. */
#include "mech/common/rank.h"

#include "base/math/vecmath.h"
#include "ode/run_internal.h"

/* A row this short, of length one originally, at a moment inside a step: zero.  States there
 * have half the digits of step ends. */
static const double vanishing = 1e-6;

static const ns_rank_watch *watch_of(const ns_run *run)
{
    return run->s.problem->system->watch;
}

static ns_ranks ranks_at(ns_run *run, double t, const double *x, uint32_t most)
{
    const ns_rank_watch *watch = watch_of(run);
    ns_program_eval1(run->s.problem->ranks, run->work_ranks, t, x, run->rank_values);
    return ns_rank_of(watch, run->rank_values, most, run->rank_matrix, NULL);
}

static void add(ns_tally *tally, ns_ranks r)
{
    tally->rank_A[0] = r.A < tally->rank_A[0] ? r.A : tally->rank_A[0];
    tally->rank_A[1] = r.A > tally->rank_A[1] ? r.A : tally->rank_A[1];
    tally->rank_all[0] = r.all < tally->rank_all[0] ? r.all : tally->rank_all[0];
    tally->rank_all[1] = r.all > tally->rank_all[1] ? r.all : tally->rank_all[1];
}

void ns_rank_begin(ns_run *run)
{
    if (!watch_of(run))
        return;
    const ns_ranks r = ranks_at(run, run->s.now.t, run->s.x, UINT32_MAX);
    ns_tally *tally = &run->tally;
    tally->rank_A[0] = tally->rank_A[1] = tally->rank_now = r.A;
    tally->rank_all[0] = tally->rank_all[1] = r.all;
    tally->rank_least = r.least_A;
    tally->rank_slope = -INFINITY; /* nothing known: look inside the first step */
}

/* Smallest length of the last independent row inside the last step, and when. */
static double smallest_inside(ns_run *run, double *when)
{
    ns_stepper *s = &run->s;
    const uint32_t n = s->n, most = (uint32_t)run->tally.rank_now;
    double l = 0, r = 1, best = INFINITY, at = 0;
    static const double resolved = 1e-9, passing = 1e-3; /* of the step; of a row */
    enum { ROUNDS = 16 };
    for (int round = 0; round < ROUNDS && r - l > resolved; round++) {
        double tau[8], least[8];
        uint32_t low = 0;
        for (int i = 0; i < 8; i++)
            tau[i] = l + (r - l) * (i + 0.5) / 8;
        s->method->sample(s, tau, run->x8);
        for (uint32_t i = 0; i < 8; i++) {
            for (uint32_t k = 0; k < n; k++)
                run->x_event[k] = run->x8[8 * k + i];
            const double t = s->now.from + tau[i] * (s->now.t - s->now.from);
            const ns_ranks found = ranks_at(run, t, run->x_event, most);
            least[i] = found.A < most ? 0 : found.least_A;
            low = least[i] < least[low] ? i : low;
        }
        if (least[low] < best) {
            best = least[low];
            at = tau[low];
        }
        /* at an end of the step it only passes on its way */
        if (round == 0 && (low == 0 || low == 7) && best > passing)
            break;
        /* if it went to zero and back between the samples, in straight lines or as a parabola,
         * one neighbour of the smallest sample would be at least three or nine times as
         * large */
        if (low > 0 && low < 7 && ns_max(least[low - 1], least[low + 1]) < 2 * least[low])
            break;
        const double width = (r - l) / 8;
        l = ns_max(0, tau[low] - width);
        r = ns_min(1, tau[low] + width);
    }
    *when = s->now.from + at * (s->now.t - s->now.from);
    return best;
}

/* The accelerations are no longer unique: says which. */
static ns_status lost(ns_run *run, double t, uint32_t rank)
{
    const ns_rank_watch *watch = watch_of(run);
    char names[400];
    ns_rank_of(watch, run->rank_values, UINT32_MAX, run->rank_matrix, run->x_event);
    ns_rank_names(run->s.problem->system, run->x_event, names, sizeof names);
    return ns_run_stop(run, NS_STOP_SINGULAR,
                       "the accelerations of %s are no longer determined at t = %.10g: rank "
                       "[M | A^T] fell to %u of %u",
                       names, t, rank, watch->n);
}

ns_status ns_rank_step(ns_run *run)
{
    const ns_rank_watch *watch = watch_of(run);
    if (!watch)
        return NS_OK;
    ns_stepper *s = &run->s;
    ns_tally *tally = &run->tally;
    const double length = fabs(s->now.t - s->now.from);
    const ns_ranks r = ranks_at(run, s->now.t, s->x, UINT32_MAX);
    add(tally, r);
    if (r.all < watch->n)
        return lost(run, s->now.t, r.all);
    bool good = true;
    if (r.A != (uint32_t)tally->rank_now) {
        good = ns_events_record(run, watch->event, r.A > (uint32_t)tally->rank_now ? 1 : -1,
                                s->now.t, s->x);
    } else if (r.A > 0 &&
               tally->rank_least + tally->rank_slope * length < 0.5 * tally->rank_least) {
        double when;
        if (smallest_inside(run, &when) < vanishing) {
            ns_run_dense(run, when, run->x_event);
            good = ns_events_record(run, watch->event, -1, when, run->x_event);
            tally->rank_A[0] = r.A - 1 < tally->rank_A[0] ? r.A - 1 : tally->rank_A[0];
        }
    }
    tally->rank_slope = length > 0 ? (r.least_A - tally->rank_least) / length : 0;
    tally->rank_least = r.least_A;
    tally->rank_now = r.A;
    return good ? NS_OK
                : ns_run_stop(run, NS_ERR_MEMORY, "out of memory for events at t = %.10g",
                              s->now.t);
}

bool ns_rank_explain(ns_run *run)
{
    const ns_rank_watch *watch = watch_of(run);
    if (!watch)
        return false;
    const ns_ranks r = ranks_at(run, run->s.now.t, run->s.x, (uint32_t)run->tally.rank_now);
    if (r.all < watch->n) {
        lost(run, run->s.now.t, r.all);
        return true;
    }
    static const double hardly = 1e-5;
    if (r.least_all > hardly)
        return false;
    ns_run_stop(run, NS_STOP_SINGULAR,
                "the accelerations are hardly determined near t = %.10g: of the rows of [M | "
                "A^T] one is independent of the others by %.2g of its length only",
                run->s.now.t, r.least_all);
    return true;
}
