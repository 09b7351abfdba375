#include "study/orbits/recur.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"

enum { INSIDE = 8, HALVINGS = 80 };

typedef struct search {
    ns_recur *r;
    double *dy0, *weight, *now, *before; /* now, before: y and y' */
} search;

/* Where y lies along the motion through y0, and its distance from y0. */
static double along(const search *w, const double *y, double *distance)
{
    const ns_recur *r = w->r;
    double sum = 0, square = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const double apart = y[i] - r->y0[i];
        sum += w->weight[i] * apart * w->dy0[i];
        square += w->weight[i] * apart * apart;
    }
    *distance = sqrt(square);
    return sum;
}

static void widen(search *w)
{
    ns_recur *r = w->r;
    for (uint32_t i = 0; i < r->n; i++) {
        r->low[i] = ns_min(r->low[i], w->now[i]);
        r->high[i] = ns_max(r->high[i], w->now[i]);
        const double range = r->high[i] - r->low[i];
        const bool moves = range > r->still * (fabs(r->high[i]) + fabs(r->low[i]));
        w->weight[i] = moves ? 1 / (range * range) : 0;
    }
}

/* The passage between a and b, to the last bits of the time. */
static void settle(search *w, ns_run *run, double a, double b, double *x)
{
    ns_recur *r = w->r;
    double distance;
    for (int i = 0; i < HALVINGS && fabs(b - a) > 0; i++) {
        const double middle = (a + b) / 2;
        ns_run_state_at(run, middle, x);
        r->look(r->context, x, w->now);
        *(along(w, w->now, &distance) < 0 ? &a : &b) = middle;
    }
    ns_run_state_at(run, b, x);
    r->look(r->context, x, w->now);
    along(w, w->now, &distance);
    const bool good = distance < r->near && r->accept(r->context, b, x);
    if (good || distance < r->mismatch) {
        r->mismatch = distance;
        r->best = b;
    }
    r->found = good;
}

bool ns_recur_search(ns_recur *r, ns_arena *arena, const ns_problem *problem,
                     const ns_run_options *options, const double *p, const double *x0,
                     const char **message)
{
    const uint32_t n = r->n, nx = problem->system->states.n;
    search w = {.r = r};
    ns_status status;
    ns_run *run = ns_run_new(problem, options, p, x0, &status, message);
    if (!run)
        return false;
    double *x = NS_NEW_ARRAY(arena, double, nx + 1);
    w.dy0 = NS_NEW_ARRAY(arena, double, n + 1);
    w.weight = NS_NEW_ARRAY(arena, double, n + 1);
    w.now = NS_NEW_ARRAY(arena, double, 2 * (size_t)n + 1);
    w.before = NS_NEW_ARRAY(arena, double, 2 * (size_t)n + 1);
    r->y0 = NS_NEW_ARRAY(arena, double, n + 1);
    r->low = NS_NEW_ARRAY(arena, double, n + 1);
    r->high = NS_NEW_ARRAY(arena, double, n + 1);
    r->mismatch = INFINITY;
    r->best = NAN;
    r->look(r->context, x0, w.now);
    for (uint32_t i = 0; i < n; i++) {
        r->y0[i] = r->low[i] = r->high[i] = w.now[i];
        w.dy0[i] = w.now[n + i];
    }
    memcpy(w.before, w.now, 2 * (size_t)n * sizeof *w.now);
    bool left = false;
    do {
        status = ns_run_step(run);
        const double from = ns_run_last_time(run), to = ns_run_time(run);
        for (int k = 1; k <= INSIDE && to > from && !r->found; k++) {
            const double a = from + (to - from) * (k - 1) / INSIDE;
            const double b = from + (to - from) * k / INSIDE;
            double distance;
            ns_run_state_at(run, b, x);
            r->look(r->context, x, w.now);
            widen(&w);
            const double before = along(&w, w.before, &distance);
            const double after = along(&w, w.now, &distance);
            memcpy(w.before, w.now, 2 * (size_t)n * sizeof *w.now);
            left = left || after < 0; /* it has to go round before it can come back */
            if (left && before < 0 && after >= 0)
                settle(&w, run, a, b, x);
        }
    } while (status == NS_OK && !r->found && ns_run_time(run) < options->until);
    ns_run_free(run);
    return true;
}
