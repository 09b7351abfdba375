/* Events: zero crossings of functions g(t, x) of the motion, in every step.
 *
 * Finding.  Each g is sampled at the ends of the step and at the eight Gauss nodes between (one
 * evaluation on eight lanes for all events) and interpolated by a polynomial of degree 9.  Its
 * extrema cut the step into pieces where it is monotonic; a piece whose ends differ in sign has
 * one crossing.  So two crossings between samples are found if the polynomial shows them.  Where
 * the polynomial is not a good picture of g (its last coefficients are not small), the step is
 * halved and sampled again, a few times; then signs of the samples have to do.
 *
 * Signs.  Where the polynomial is within its error of zero, g itself is asked, with a state as
 * accurate as the steps.  Values that are rounding errors count as zero, and zero counts as no
 * sign: touching zero is no crossing, and a run that starts on an event does not fire it.
 * A singularity that is passed in no time, as by a disk that rocks over its flat position, leaves a
 * corner in g: there the least value is looked for.
 * Events that stand for a condition (lift-off) also happen at the start of a run that begins
 * beyond it.
 *
 * Refining.  Newton's iteration on g itself, with accurate states and the slope of the
 * polynomial, safeguarded by the bracket, down to the last bits of the time. */
#include <float.h>
#include <stdlib.h>

#include "ode/roots.h"
#include "ode/run_internal.h"

enum { MAX_DEPTH = 6 };

/* one stretch of the last step, as fractions of it */
typedef struct stretch {
    double l, r;   /* its ends */
    double gl, gr; /* values of g there */
    int depth;
} stretch;

typedef struct search {
    ns_run *run;
    uint32_t event;
    double sign; /* last sign met, walking through the step */
    double size; /* largest |g| seen in the step */
} search;

/* Time at a fraction of the step, exact at its ends. */
static double time_at(const ns_run *run, double u)
{
    const double from = run->s.now.from, t = run->s.now.t;
    return u <= 0 ? from : u >= 1 ? t : from + u * (t - from);
}

static double accurate(ns_run *run, uint32_t event, double t)
{
    ns_run_dense(run, t, run->x_event);
    ns_program_eval1(run->look, run->work_events, t, run->x_event, run->events_now);
    return run->events_now[event];
}

/* Samples all events at the nodes of a stretch: out8[event][8]. */
static void sample(ns_run *run, double l, double r)
{
    double tau[8];
    const bool whole = l == 0 && r == 1;
    for (int i = 0; i < 8; i++) {
        tau[i] = whole ? ns_method_nodes[i] : l + (r - l) * ns_method_nodes[i];
        run->time8[i] = time_at(run, tau[i]);
    }
    run->s.method->sample(&run->s, tau, run->x8);
    ns_program_eval8(run->look, run->work8_events, run->time8, run->x8, run->out8);
}

bool ns_events_reserve(ns_run *run, uint32_t count)
{
    if (count <= run->room_events)
        return true;
    const uint32_t room = count > 2 * run->room_events ? count + 64 : 2 * run->room_events;
    ns_occurrence *list = realloc(run->events, room * sizeof *list);
    if (list)
        run->events = list;
    double *states = realloc(run->event_states, (size_t)room * run->s.n * sizeof *states + 1);
    if (states)
        run->event_states = states;
    if (!list || !states)
        return false;
    run->room_events = room;
    return true;
}

static bool push(ns_run *run, uint32_t event, int direction, double t)
{
    if (!ns_events_reserve(run, run->n_events + 1))
        return false;
    run->events[run->n_events++] = (ns_occurrence){
        .event = event, .direction = direction, .t = t};
    return true;
}

bool ns_events_record(ns_run *run, uint32_t event, int direction, double t, const double *x)
{
    if (!push(run, event, direction, t))
        return false;
    memcpy(run->event_states + (size_t)(run->n_events - 1) * run->s.n, x,
           run->s.n * sizeof(double));
    return true;
}

/* The crossing between fractions a and b, where the sign changes from `sign` to its opposite.
 * `p` with its stretch gives guess and slope; NULL: bisection. */
static double refine(search *w, const ns_roots_poly *p, const stretch *at, double a, double b,
                     double sign)
{
    ns_run *run = w->run;
    const double from = run->s.now.from, h = run->s.now.t - from;
    double ta = time_at(run, a), tb = time_at(run, b);
    double t = (ta + tb) / 2;
    if (p) {
        const double width = at->r - at->l;
        const double u = ns_roots_between(p, (a - at->l) / width, (b - at->l) / width, sign);
        t = time_at(run, at->l + width * u);
    }
    double last_t = NAN, last_g = NAN, last_move = INFINITY;
    for (int k = 0; k < 100; k++) {
        const double g = accurate(run, w->event, t);
        if (g == 0)
            return t;
        if (g * sign > 0)
            ta = t;
        else
            tb = t;
        const double ulp = DBL_EPSILON * fmax(fabs(t), fabs(h) * 1e-3);
        if (fabs(tb - ta) <= ulp)
            return tb;
        /* slope by the polynomial at first, then by the secant, which needs no derivative */
        double slope = NAN;
        if (!isnan(last_g) && g != last_g)
            slope = (g - last_g) / (t - last_t);
        else if (p)
            slope = ns_roots_slope(p, ((t - from) / h - at->l) / (at->r - at->l)) /
                    (h * (at->r - at->l));
        double next = t - g / slope;
        const bool inside = (next - ta) * (tb - next) > 0;
        if (fabs(next - t) <= 0.5 * ulp)
            return t;
        if (!inside || !(fabs(next - t) <= 0.5 * last_move)) {
            if (inside && fabs(next - t) <= 4 * ulp)
                return t; /* rounding errors of g decide no more */
            next = ta + (tb - ta) / 2;
            last_g = NAN;
        } else {
            last_g = g;
            last_t = t;
        }
        last_move = fabs(next - t);
        t = next;
    }
    return t;
}

/* Walks over points u[0..count-1] with values g[]: each change of sign in the direction asked for
 * is an event. */
static bool walk(search *w, const ns_roots_poly *p, const stretch *at, const double *u,
                 const double *g, int count)
{
    const ns_event *event = &w->run->s.problem->system->events.at[w->event];
    double start = at->l;
    for (int i = 0; i < count; i++) {
        const double sign = ns_sgn(fabs(g[i]) <= 16 * DBL_EPSILON * w->size ? 0 : g[i]);
        if (sign != 0) {
            const int rising = sign * w->run->s.sense > 0 ? 1 : -1; /* with time */
            const bool crossed = w->sign != 0 && sign != w->sign;
            if (crossed && (event->direction == 0 || event->direction == rising)) {
                const double t = refine(w, p, at, start, u[i], w->sign);
                if (!push(w->run, w->event, rising, t))
                    return false;
            }
            w->sign = sign;
            start = u[i];
        }
    }
    return true;
}

/* Adds to the points u[0..count-1] of a stretch, where g has a corner, the one where it comes nearest to
 * zero, by golden sections, if it changes its sign there; returns their number. */
static int add_corner(search *w, const stretch *at, double *u, double *g, int count)
{
    const double golden = 0.3819660112501051;
    int k = 0;
    for (int i = 0; i < count; i++) {
        if (!(g[i] * w->sign > 0))
            return count;
        k = g[i] * w->sign < g[k] * w->sign ? i : k;
    }
    double l = k > 0 ? u[k - 1] : at->l, m = u[k], r = k + 1 < count ? u[k + 1] : at->r;
    double least = g[k] * w->sign;
    for (int i = 0; i < 60 && least > 0 && r - l > 4 * DBL_EPSILON; i++) {
        const double next = m - l > r - m ? m - golden * (m - l) : m + golden * (r - m);
        const double value = accurate(w->run, w->event, time_at(w->run, next)) * w->sign;
        if (value < least) {
            *(next < m ? &r : &l) = m;
            m = next;
            least = value;
        } else {
            *(next < m ? &l : &r) = next;
        }
    }
    if (!(least < 0))
        return count;
    int place = k + (m > u[k]);
    memmove(u + place + 1, u + place, (size_t)(count - place) * sizeof *u);
    memmove(g + place + 1, g + place, (size_t)(count - place) * sizeof *g);
    u[place] = m;
    g[place] = least * w->sign;
    return count + 1;
}

static bool scan(search *w, const stretch *at, const double *inner)
{
    ns_run *run = w->run;
    double values[NS_ROOTS_POINTS], u[NS_ROOTS_POINTS + 1], g[NS_ROOTS_POINTS + 1];
    values[0] = at->gl;
    memcpy(values + 1, inner, 8 * sizeof(double));
    values[9] = at->gr;
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < NS_ROOTS_POINTS; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    w->size = fmax(w->size, fmax(fabs(least), fabs(most)));
    /* nothing near zero: the common case.  No polynomial of degree 9 with these values leaves
     * their range by more than a few times its width */
    if (w->sign != 0 && (least > 4 * (most - least) || -most > 4 * (most - least)))
        return true;

    ns_roots_poly p;
    ns_roots_fit(values, &p);
    const bool good = p.error <= 1e-5 * (most - least) || p.error <= 1e-13 * p.size;
    /* a polynomial lies between its Bernstein coefficients: here too far from zero for its error,
     * be it small or not */
    const double near = 16 * p.error + 1e-12 * p.size;
    bool clear = w->sign != 0;
    for (int i = 0; i < NS_ROOTS_POINTS && clear; i++)
        clear = p.b[i] * w->sign > near;
    if (clear)
        return true;
    if (!good && at->depth < MAX_DEPTH) {
        const double middle = (at->l + at->r) / 2;
        const double value = accurate(run, w->event, time_at(run, middle));
        const stretch half[2] = {{at->l, middle, at->gl, value, at->depth + 1},
                                 {middle, at->r, value, at->gr, at->depth + 1}};
        for (int i = 0; i < 2; i++) {
            sample(run, half[i].l, half[i].r);
            double mine[8];
            memcpy(mine, run->out8 + 8 * (size_t)w->event, sizeof mine);
            if (!scan(w, &half[i], mine))
                return false;
        }
        return true;
    }
    int count = 0;
    if (good) {
        double extrema[NS_ROOTS_DEGREE];
        const int n = ns_roots_extrema(&p, extrema);
        for (int i = 0; i < n; i++) {
            u[count] = at->l + (at->r - at->l) * extrema[i];
            g[count] = ns_roots_value(&p, extrema[i]);
            if (fabs(g[count]) <= near)
                g[count] = accurate(run, w->event, time_at(run, u[count]));
            count++;
        }
    } else {
        const ns_event *event = &run->s.problem->system->events.at[w->event];
        for (; count < 8; count++) {
            u[count] = at->l + (at->r - at->l) * ns_method_nodes[count];
            g[count] = values[1 + count];
        }
        if (event->action == NS_EVENT_SINGULAR && w->sign != 0)
            count = add_corner(w, at, u, g, count);
    }
    u[count] = at->r;
    g[count++] = at->gr;
    return walk(w, good ? &p : NULL, at, u, g, count);
}

static int earlier(const void *a, const void *b)
{
    const ns_occurrence *p = a, *q = b;
    if (p->t != q->t)
        return p->t < q->t ? -1 : 1;
    return p->event < q->event ? -1 : p->event > q->event;
}

void ns_events_begin(ns_run *run)
{
    ns_program_eval1(run->look, run->work_events, run->s.now.t, run->s.x, run->event_value);
    for (uint32_t i = 0; i < run->s.problem->system->events.n; i++) {
        run->event_sign[i] = 0; /* decided in the first step, when the size of g is known */
        run->event_first[i] = run->event_value[i];
    }
}

/* Ends the run at time t, inside or at the end of the last step. */
static ns_status cut(ns_run *run, const ns_event *event, const ns_occurrence *at)
{
    ns_stepper *s = &run->s;
    ns_run_dense(run, at->t, run->x_event);
    memcpy(s->x, run->x_event, s->n * sizeof(double));
    memset(s->x_lo, 0, s->n * sizeof(double));
    if (s->method->precise && at->t != s->now.t)
        s->method->state_low(s, at->t, s->x, s->x_lo);
    s->now.t = at->t;
    if (event->action == NS_EVENT_SINGULAR)
        return ns_run_stop(run, NS_STOP_SINGULAR, "%s at t = %.10g",
                           event->meaning ? event->meaning : event->name, at->t);
    return ns_run_stop(run, NS_STOP_EVENT, "event %s at t = %.10g%s%s", event->name, at->t,
                       event->meaning ? ": " : "", event->meaning ? event->meaning : "");
}

static ns_status out_of_memory(ns_run *run)
{
    return ns_run_stop(run, NS_ERR_MEMORY, "out of memory for events at t = %.10g",
                       run->s.now.t);
}

/* The sign a run begins with.  A condition is taken not to have held before the start. */
static bool first_sign(search *w, double g)
{
    const ns_event *event = &w->run->s.problem->system->events.at[w->event];
    const double sign = fabs(g) > 1e-12 * w->size ? ns_sgn(g) : 0;
    w->sign = sign;
    if (!event->condition)
        return true;
    if (sign == 0)
        w->sign = -event->direction;
    return sign != event->direction ||
           push(w->run, w->event, event->direction, w->run->s.now.from);
}

bool ns_events_wanted(const ns_run *run, uint32_t i)
{
    const ns_event *event = &run->s.problem->system->events.at[i];
    return !event->watched && (ns_event_stops(event) || !run->options.only_stops);
}

ns_status ns_events_scan(ns_run *run)
{
    ns_stepper *s = &run->s;
    const ns_system *system = s->problem->system;
    const uint32_t n_ev = system->events.n, first = run->n_events;
    uint32_t to_find = 0;
    for (uint32_t i = 0; i < n_ev; i++)
        to_find += ns_events_wanted(run, i);
    if (to_find == 0)
        return NS_OK;
    sample(run, 0, 1);
    memcpy(run->events8, run->out8, 8 * (size_t)n_ev * sizeof(double));
    ns_program_eval1(run->look, run->work_events, s->now.t, s->x, run->events_end);
    for (uint32_t i = 0; i < n_ev; i++) {
        if (!ns_events_wanted(run, i))
            continue;
        const stretch whole = {0, 1, run->event_value[i], run->events_end[i], 0};
        search w = {.run = run, .event = i, .sign = run->event_sign[i]};
        w.size = fmax(fabs(whole.gl), fabs(whole.gr));
        for (uint32_t j = 0; j < 8; j++) {
            const double size = fabs(run->events8[8 * i + j]);
            w.size = size > w.size ? size : w.size;
        }
        if (!isfinite(w.size))
            continue; /* not defined here; its sign is kept until it is again */
        if (s->now.steps == 1 && !first_sign(&w, whole.gl))
            return out_of_memory(run);
        if (!scan(&w, &whole, run->events8 + 8 * i))
            return out_of_memory(run);
        run->event_sign[i] = w.sign;
        run->event_value[i] = whole.gr;
    }
    if (run->n_events == first)
        return NS_OK;

    qsort(run->events + first, run->n_events - first, sizeof *run->events, earlier);
    if (s->sense < 0)
        for (uint32_t a = first, b = run->n_events - 1; a < b; a++, b--) {
            const ns_occurrence swap = run->events[a];
            run->events[a] = run->events[b];
            run->events[b] = swap;
        }
    uint32_t kept = first;
    for (uint32_t k = first; k < run->n_events; k++) {
        const ns_occurrence found = run->events[k];
        const ns_event *event = &system->events.at[found.event];
        ns_run_dense(run, found.t, run->event_states + (size_t)kept * s->n);
        run->events[kept++] = found;
        const bool counted = run->options.last_count && found.event == run->options.last_event;
        run->n_last += counted;
        if (ns_event_stops(event) || (counted && run->n_last == run->options.last_count)) {
            run->n_events = kept;
            return cut(run, event, &found);
        }
    }
    run->n_events = kept;
    return NS_OK;
}
