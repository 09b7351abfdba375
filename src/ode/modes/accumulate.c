/* Jumps that accumulate.
 *
 * A ball that bounces with the coefficient of restitution e makes infinitely many bounces in a
 * finite time: the times between them form a geometric sequence.  In general they do so in the
 * limit, with corrections that are as small as the times themselves.  With the times t, t1, t2
 * of a jump, the k-th and the 2k-th before it
 *
 *     R = (t - t1) / (t1 - t2),     T = t + (t - t1) R / (1 - R)
 *
 * (Aitken).  k is such that R is at most MOST_RATIO, so that rounding errors of the times grow
 * by a small factor only, however near to one the ratio of neighbours is.  Rounding errors of
 * the states make the times of low bounces uncertain, corrections those of high ones: of the T
 * of all jumps so far the one is taken that differs least from the one before.  What is left is
 * left out when it is a part NEAR of the longest time between the jumps.  States at the jumps
 * are smooth functions of what is left: a parabola through those of the three jumps is
 * extrapolated to 0. */
#include <float.h>

#include "base/math/vecmath.h"
#include "ode/run_internal.h"

#define NEAR 1e-6
#define NEAR_TOLERANCE                                                                         \
    3              /* or this many square roots of the tolerance: heights of hops go as their
                          * squares, and are to be more than errors of the method */
#define AGREE 0.05 /* of what is left: the last T and the best one */
#define MOST_RATIO 0.6
#define PLACES 1e4 /* or what is left is this many units in the last place of the time */
enum { MOST_LAG = 1 << 16 };

/* From an occurrence in the list to the one `count` before it, of the same event. */
static bool back(const ns_run *run, uint32_t *at, uint32_t count)
{
    const uint32_t event = run->events[*at].event;
    while (count) {
        if (*at == 0)
            return false;
        (*at)--;
        if (run->events[*at].event != event)
            continue;
        if (run->events[*at].rest)
            return false;
        count--;
    }
    return true;
}

typedef struct tail {
    uint32_t now, before, first; /* occurrences, k apart */
    double R, left;
} tail;

/* What is left after the occurrence `at`, from those k and 2k before it. */
static bool look(const ns_run *run, uint32_t at, uint32_t k, tail *out)
{
    uint32_t one = at;
    if (!back(run, &one, k))
        return false;
    uint32_t two = one;
    if (!back(run, &two, k))
        return false;
    const double d = run->events[at].t - run->events[one].t;
    const double before = run->events[one].t - run->events[two].t;
    *out = (tail){.now = at, .before = one, .first = two, .R = d / before};
    out->left = d * out->R / (1 - out->R);
    return out->R > 0 && out->R < 1;
}

/* The times between jumps of the event; true if they are so short that it is worth a look. */
static bool count(ns_run *run, uint32_t event, double near, double place)
{
    const double t = run->s.now.t, gap = t - run->jump_last[event];
    run->jump_last[event] = t;
    if (isnan(gap))
        return false; /* the first */
    if (gap > run->jump_gap[event])
        run->jump_widest[event] = gap; /* they become longer: a new sequence */
    run->jump_gap[event] = gap;
    return gap < PLACES * place + 10 * near * run->jump_widest[event];
}

/* Of the times at which the jumps up to `at` would end, the most certain. */
static double best_end(const ns_run *run, uint32_t at, uint32_t k)
{
    enum { MOST = 200 };
    double best = NAN, least = INFINITY;
    tail one, other;
    bool some = look(run, at, k, &one);
    for (int i = 0; some && i < MOST; i++) {
        const double end = run->events[at].t + one.left;
        if (!back(run, &at, 1) || !look(run, at, k, &other))
            break;
        const double apart = fabs(end - (run->events[at].t + other.left));
        if (apart < least) {
            least = apart;
            best = end;
        }
        one = other;
    }
    return best;
}

bool ns_accumulate_find(ns_run *run, uint32_t event)
{
    const double t = run->s.now.t, place = DBL_EPSILON * fabs(t);
    const double near = ns_larger(NEAR, NEAR_TOLERANCE * sqrt(run->s.tolerance));
    if (!count(run, event, near, place))
        return false;
    uint32_t at = run->n_events - 1;
    while (at > 0 && run->events[at].event != event)
        at--;
    tail end;
    uint32_t k = 1;
    while (look(run, at, k, &end) && end.R > MOST_RATIO && k < MOST_LAG)
        k *= 2;
    if (!look(run, at, k, &end) || end.R > MOST_RATIO ||
        end.left > near * run->jump_widest[event] + PLACES * place)
        return false;
    const double ends = best_end(run, at, k);
    if (!(fabs(ends - (t + end.left)) <= 64 * place + AGREE * end.left) || ends < t)
        return false;
    end.left = ends - t;
    const uint32_t n = run->s.n;
    const double *now = run->event_states + (size_t)end.now * n;
    const double *before = run->event_states + (size_t)end.before * n;
    const double *first = run->event_states + (size_t)end.first * n;
    const double left[3] = {end.left, ends - run->events[end.before].t,
                            ends - run->events[end.first].t};
    for (uint32_t i = 0; i < n; i++) {
        const double slope = (now[i] - before[i]) / (left[1] - left[0]);
        const double last = (before[i] - first[i]) / (left[2] - left[1]);
        const double bend = (slope - last) / (left[2] - left[0]);
        const double change = left[0] * (slope + left[1] * bend);
        run->beyond[i] = run->s.x[i];
        run->beyond_lo[i] = run->s.x_lo[i];
        ns_add_compensated(&run->beyond[i], &run->beyond_lo[i], change, 0);
    }
    run->stretch.until = t + end.left;
    if (run->stretch.until == t)
        run->stretch.until = nextafter(t, INFINITY);
    run->stretch.ratio = end.R; /* of neighbours */
    for (uint32_t j = 1; j < k; j *= 2)
        run->stretch.ratio = sqrt(run->stretch.ratio);
    return true;
}

void ns_accumulate_state(const ns_run *run, double t, double *x, double *x_lo)
{
    const ns_stepper *s = &run->s;
    const double part = (t - s->now.from) / (run->stretch.until - s->now.from);
    for (uint32_t i = 0; i < s->n; i++) {
        double high = s->x0[i], low = s->x0_lo[i];
        ns_add_compensated(&high, &low, part * (run->beyond[i] - s->x0[i]), 0);
        x[i] = high;
        if (x_lo)
            x_lo[i] = low;
    }
}
