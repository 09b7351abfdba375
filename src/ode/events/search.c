/* The search for the zeros of one event in the last step.
 *
 * Stretches.  A stretch of the step is examined by ten samples: its ends, and the eight Gauss
 * nodes between (one evaluation on eight lanes for all events).  Where its probes are wild
 * (probes.h) the samples prove nothing.  Then it is cut, where a branch is seen to change
 * (sign, |a|, min, max) or in half, down to what the time resolves; after two cuts an enclosure
 * of g (enclose.c) may show first that there is no zero.  Where the probes are tame, g is
 * interpolated by a polynomial of degree 9, whose last coefficients tell how good it is.  Its
 * extrema cut the stretch into pieces where it is monotonic; a piece whose ends differ in sign
 * has one crossing.  Where it represents g badly the stretch is halved as well, and from the
 * third time on sampled with accurate states.  So the work is proportional to the turns of g
 * near zero.  A search that would need more than MOST_PIECES stretches reports how far it got.
 *
 * Long steps.  Free fall is one step, however long, and where it ends g is so large that what
 * it was at the beginning is a rounding error: a ball one metre above the ground, after a day.
 * Such a step is looked at in stretches that each are a thousand times the one before; dense
 * states are as accurate in the first of them as in a step of its length.
 *
 * Signs.  Where the polynomial is within its error of zero, g itself is evaluated, with a
 * state as accurate as the steps; at an extremum that close to zero the extremum of g itself
 * is sought.  Values within their rounding errors, which enclosures of a point give, count as
 * zero, and zero has no sign: touching zero is not a crossing, and noise about zero fires
 * nothing.  A singularity that is passed in an instant, as by a disk that rocks over its flat
 * position, leaves a corner in g: there the least value is sought.  These events are searched
 * without probes.
 *
 * Refining.  Newton's iteration on g itself, with accurate states and the slope of the
 * polynomial, safeguarded by the bracket, down to the last bits of the time. */
#include <float.h>

#include "base/math/vecmath.h"
#include "ode/events/roots.h"
#include "ode/run_internal.h"

enum {
    ENCLOSE_FROM = 2,
#define RESOLVED 1e-15 /* of a step: nothing is looked for in less */
#define NOTHING 1e-12  /* of the size of an event: rounding errors */

    /* halvings: enclosures cost much more than samples, and these may do */
    /* halvings of a stretch: then probes that change by rounding errors alone are let pass */
    NOISE_FROM = 6,
    ACCURATE_FROM = 3, /* halvings of a tame one: then accurate states are sampled */
    MOST_TAME = 6,     /* the same where rounding errors are not known, and for singularities */
    MOST_FLIPS = 32,   /* cuts at such places on top of each other: the stack is not endless */
    MOST_PIECES = 1 << 20
};

/* one stretch of the last step, as fractions of it */
typedef struct stretch {
    double l, r; /* its ends */
    int depth;   /* how often the step was halved; that itself is sampled in run->events8 */
    int tame;    /* the same since it is tame */
} stretch;

typedef struct search {
    ns_run *run;
    uint32_t event;
    double sign;           /* last sign met, walking through the step */
    double size;           /* largest |g| seen in the step */
    double reach;          /* the first stretch, as a fraction of the step */
    double first;          /* g at the beginning of the step */
    double end, end_value; /* at the right end of the last stretch */
    uint32_t pieces;
    double *until; /* NOT_ALL: where the search ended */
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

/* The same at the end of a stretch, which the next one shares. */
static double value_at(search *w, double u)
{
    ns_run *run = w->run;
    if (u <= 0 || u >= 1)
        return u <= 0 ? w->first : run->events_end[w->event];
    if (u != w->end) {
        w->end = u;
        w->end_value = accurate(run, w->event, time_at(run, u));
    }
    return w->end_value;
}

static bool is_singular(const search *w)
{
    return w->run->s.problem->system->events.at[w->event].action == NS_EVENT_SINGULAR;
}

/* Events and probes at eight fractions of the step. */
static void sample_at(ns_run *run, const double *tau, double *out)
{
    for (int i = 0; i < 8; i++)
        run->time8[i] = time_at(run, tau[i]);
    run->s.method->sample(&run->s, tau, run->x8);
    ns_program_eval8(run->look, run->work8_events, run->time8, run->x8, out);
}

/* The samples of the probes in a stretch; those of the nodes are there. */
static ns_probes_seen seen_in(search *w, const stretch *at)
{
    ns_run *run = w->run;
    const ns_probes *probes = run->s.problem->probes;
    const size_t n = probes->n_events;
    if (at->depth == 0)
        return (ns_probes_seen){.nodes = run->events8 + 8 * n,
                                .begin = run->events_begin + n,
                                .end = run->events_end + n,
                                .apart = 1};
    ns_probes_seen seen = {.nodes = run->out8 + 8 * n, .apart = 8};
    if (probes->kinks && ns_probes_meet(probes, probes->kinks, w->event)) {
        const double tau[8] = {at->l, at->r, at->r, at->r, at->r, at->r, at->r, at->r};
        sample_at(run, tau, run->ends8);
        seen.begin = run->ends8 + 8 * n;
        seen.end = seen.begin + 1;
    }
    return seen;
}

/* Are the probes tame, whose samples at the nodes of the stretch are in run->out8? */
static bool look_inside(search *w, const stretch *at)
{
    ns_run *run = w->run;
    const ns_probes *probes = run->s.problem->probes;
    ns_probes_seen seen = seen_in(w, at);
    bool tame = !ns_probes_wild_of(probes, &seen, w->event);
    if (!tame && at->depth >= NOISE_FROM) {
        ns_enclose_noise(run, w->event, time_at(run, (at->l + at->r) / 2));
        seen.noise = run->enclosure.memory ? run->enclosure.out + probes->n_events : NULL;
        tame = !ns_probes_wild_of(probes, &seen, w->event);
    }
    return tame;
}

/* Samples g at the nodes of a stretch; true if its probes are tame. */
static bool sample(search *w, const stretch *at, double *g)
{
    ns_run *run = w->run;
    const ns_probes *probes = run->s.problem->probes;
    double tau[8];
    if (at->depth == 0) {
        memcpy(g, run->events8 + 8 * (size_t)w->event, 8 * sizeof *g);
        return is_singular(w) || !ns_probes_meet(probes, run->wild, w->event);
    }
    for (int i = 0; i < 8; i++)
        tau[i] = at->l + (at->r - at->l) * ns_method_nodes[i];
    sample_at(run, tau, run->out8);
    memcpy(g, run->out8 + 8 * (size_t)w->event, 8 * sizeof *g);
    const bool tame = is_singular(w) || look_inside(w, at);
    for (int i = 0; i < 8 && tame && at->tame >= ACCURATE_FROM && !is_singular(w); i++)
        g[i] = accurate(run, w->event, time_at(run, tau[i]));
    return tame;
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
    static const double near_zero = 1e-3; /* of the step: times nearer to zero count as this */
    for (int k = 0; k < 100; k++) {
        const double g = accurate(run, w->event, t);
        if (g == 0)
            return t;
        if (g * sign > 0)
            ta = t;
        else
            tb = t;
        const double ulp = DBL_EPSILON * ns_max(fabs(t), fabs(h) * at->r * near_zero);
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

/* The sign of g at a point; 0 if rounding errors decide it.  That is looked into where it
 * matters: it would be a change of sign, or the first sign, and g is small or no smooth picture
 * shows it. */
static double sign_of(search *w, double u, double g, bool smooth)
{
    const double tiny = 16 * DBL_EPSILON * w->size, sign = ns_sgn(g);
    if (sign == 0 || sign == w->sign || isnan(sign) || (smooth && fabs(g) > tiny))
        return isnan(sign) ? 0 : sign;
    const double noise = is_singular(w)
                             ? INFINITY
                             : ns_enclose_noise(w->run, w->event, time_at(w->run, u));
    return fabs(g) > (noise < INFINITY ? noise : tiny) ? sign : 0;
}

/* Walks over points u[0..count-1] with values g[]: each change of sign in the direction asked
 * for is an event.  `smooth`: p is a good picture of g. */
static ns_found walk(search *w, const ns_roots_poly *p, bool smooth, const stretch *at,
                     const double *u, const double *g, int count)
{
    const ns_event *event = &w->run->s.problem->system->events.at[w->event];
    double start = at->l;
    for (int i = 0; i < count; i++) {
        const double sign = sign_of(w, u[i], g[i], smooth);
        if (sign == 0)
            continue;
        const int rising = sign * w->run->s.sense > 0 ? 1 : -1; /* with time */
        const bool crossed = w->sign != 0 && sign != w->sign;
        if (crossed && (event->direction == 0 || event->direction == rising)) {
            const double t = refine(w, p, at, start, u[i], w->sign);
            if (!ns_events_push(w->run, w->event, rising, t))
                return NS_FOUND_NO_MEMORY;
            if (ns_event_cuts(event))
                return NS_FOUND_STOP;
        }
        w->sign = sign;
        start = u[i];
    }
    return NS_FOUND_ALL;
}

/* Adds to the points u[0..count-1] of a stretch, where g has a corner, the one where it comes
 * nearest to zero, by golden sections, if it changes its sign there; returns their number. */
static int add_corner(search *w, const stretch *at, double *u, double *g, int count)
{
    const double golden = 0.3819660112501051; /* (3 - sqrt(5)) / 2 */
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

/* An extremum of the polynomial, near zero: moves it to that of g, by parabolas through three
 * points, until g is on the other side of zero or gets no nearer. */
static void settle(search *w, const stretch *at, const ns_roots_poly *p, double near, double *u,
                   double *g)
{
    const double width = at->r - at->l, at_u = (*u - at->l) / width,
                 step = 1e-4; /* for the bend of a polynomial of degree 9: no rounding errors */
    const double bend = (ns_roots_slope(p, at_u + step) - ns_roots_slope(p, at_u - step)) /
                        (2 * step);
    const double across = bend > 0 ? -1 : 1; /* the side of zero that is looked for */
    double d = bend != 0 ? width * ns_min(0.1, sqrt(2 * near / fabs(bend))) : 0;
    *g = accurate(w->run, w->event, time_at(w->run, *u));
    for (int k = 0; k < 4 && d > 0 && *g * across <= 0; k++, d /= 8) {
        if (*u - d < at->l || *u + d > at->r)
            continue;
        const double l = accurate(w->run, w->event, time_at(w->run, *u - d));
        const double r = accurate(w->run, w->event, time_at(w->run, *u + d));
        const double curve = l + r - 2 * *g;
        if (!(curve * across < 0))
            return;
        const double next = *u + d * ns_max(-1, ns_min(1, (l - r) / (2 * curve)));
        const double value = accurate(w->run, w->event, time_at(w->run, next));
        if (value * across > *g * across) {
            *u = next;
            *g = value;
        }
    }
}

static ns_found scan(search *w, const stretch *at);

static ns_found divide(search *w, const stretch *at, double middle, bool tame)
{
    const stretch left = {at->l, middle, at->depth + 1, tame ? at->tame + 1 : 0};
    const stretch right = {middle, at->r, left.depth, left.tame};
    const ns_found found = scan(w, &left);
    return found == NS_FOUND_ALL ? scan(w, &right) : found;
}

static ns_found halve(search *w, const stretch *at, bool tame)
{
    return divide(w, at, (at->l + at->r) / 2, tame);
}

/* Where a branch is seen to change between two samples, sign(a) or the like: the place, to the
 * last bits, by cutting in nine again and again; the middle of the stretch if there is none. */
static double find_flip(search *w, const stretch *at)
{
    ns_run *run = w->run;
    const ns_probes *probes = run->s.problem->probes;
    const double width = at->r - at->l, middle = at->l + width / 2;
    uint32_t probe = 0;
    if (at->depth >= MOST_FLIPS || !probes->kinks ||
        !ns_probes_meet(probes, probes->kinks, w->event))
        return middle;
    const ns_probes_seen seen = seen_in(w, at);
    const int k = seen.begin ? ns_probes_flip(probes, &seen, w->event, &probe) : -1;
    if (k < 0)
        return middle;
    double a = k == 0 ? at->l : at->l + width * ns_method_nodes[k - 1];
    double b = k == 8 ? at->r : at->l + width * ns_method_nodes[k];
    const double first = k == 0 ? seen.begin[seen.apart * probe]
                                : seen.nodes[8 * probe + (size_t)k - 1];
    const double *v = run->ends8 + 8 * ((size_t)probes->n_events + probe);
    for (int i = 0; i < 20 && b - a > RESOLVED; i++) {
        double tau[8];
        for (int j = 0; j < 8; j++)
            tau[j] = a + (b - a) * (j + 1) / 9;
        sample_at(run, tau, run->ends8);
        int j = 0;
        while (j < 8 && v[j] * first > 0)
            j++;
        a = j > 0 ? tau[j - 1] : a;
        b = j < 8 ? tau[j] : b;
    }
    const double least = width / 1024; /* not next to an end: that would be no progress */
    return a - at->l < least || at->r - a < least ? middle : a;
}

static bool divisible(const search *w, const stretch *at)
{
    const double l = time_at(w->run, at->l), r = time_at(w->run, at->r);
    return fabs(r - l) > 8 * DBL_EPSILON * ns_max(fabs(l), fabs(r)) &&
           at->r - at->l > RESOLVED * w->reach;
}

/* Nothing but the end of the stretch is looked at: it cannot be resolved, or has one sign. */
static ns_found jump(search *w, const stretch *at)
{
    const double g = value_at(w, at->r);
    return isfinite(g) ? walk(w, NULL, false, at, &at->r, &g, 1) : NS_FOUND_ALL;
}

static ns_found scan_wild(search *w, const stretch *at)
{
    double sign = 0;
    if (at->depth >= ENCLOSE_FROM) {
        const ns_interval range = ns_enclose_event(w->run, w->event, at->l, at->r);
        sign = range.lo > 0 ? 1 : range.hi < 0 ? -1 : 0;
    }
    if (sign != 0 && (sign == w->sign || w->sign == 0)) {
        w->sign = sign;
        return NS_FOUND_ALL;
    }
    return sign == 0 && divisible(w, at) ? divide(w, at, find_flip(w, at), false) : jump(w, at);
}

/* The extrema of a good polynomial, and the end. */
static ns_found scan_good(search *w, const stretch *at, const ns_roots_poly *p, double near,
                          bool smooth, double end)
{
    double extrema[NS_ROOTS_DEGREE], u[NS_ROOTS_POINTS], g[NS_ROOTS_POINTS];
    const int n = ns_roots_extrema(p, extrema);
    for (int i = 0; i < n; i++) {
        u[i] = at->l + (at->r - at->l) * extrema[i];
        g[i] = ns_roots_value(p, extrema[i]);
        if (fabs(g[i]) <= near)
            settle(w, at, p, near, &u[i], &g[i]);
    }
    u[n] = at->r;
    g[n] = end;
    return walk(w, p, smooth, at, u, g, n + 1);
}

/* The samples themselves, where no polynomial shows g, and the end. */
static ns_found scan_bad(search *w, const stretch *at, const double *values)
{
    double u[NS_ROOTS_POINTS + 1], g[NS_ROOTS_POINTS + 1];
    int count = 0;
    for (; count < 8; count++) {
        u[count] = at->l + (at->r - at->l) * ns_method_nodes[count];
        g[count] = values[1 + count];
    }
    if (is_singular(w) && w->sign != 0)
        count = add_corner(w, at, u, g, count);
    u[count] = at->r;
    g[count++] = values[9];
    return walk(w, NULL, false, at, u, g, count);
}

/* Nothing near zero, where it has been: the common case.  No polynomial of degree 9 with these
 * least and largest values at the samples leaves their range by more than a few times its
 * width. */
static bool away(double sign, double least, double most)
{
    const double width = most - least;
    return sign > 0 ? least > 4 * width : sign < 0 && -most > 4 * width;
}

static ns_found scan_tame(search *w, const stretch *at, const double *values)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < NS_ROOTS_POINTS; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    w->size = ns_max(w->size, ns_max(fabs(least), fabs(most)));
    if (away(w->sign, least, most))
        return NS_FOUND_ALL;

    ns_roots_poly p;
    ns_roots_fit(values, &p);
    /* errors of the polynomial: of what it spans, and of its size where that is rounding */
    static const double small = 1e-5, round_off = 1e-13;
    const bool smooth = p.error <= small * (most - least);
    bool good = smooth || p.error <= round_off * p.size;
    /* a polynomial lies between its Bernstein coefficients: here too far from zero for its
     * error, be it small or not */
    const double near = 16 * p.error + NOTHING * p.size;
    bool clear = w->sign != 0;
    for (int i = 0; i < NS_ROOTS_POINTS && clear; i++)
        clear = p.b[i] * w->sign > near;
    if (clear)
        return NS_FOUND_ALL;
    bool known = !is_singular(w);
    if (!good && known && at->tame == 0) { /* the end of the step costs no evaluation */
        const double noise = ns_enclose_noise(w->run, w->event, w->run->s.now.t);
        if (noise < INFINITY && ns_max(fabs(least), fabs(most)) <= noise)
            return NS_FOUND_ALL; /* nothing but noise: no value has a sign */
    }
    if (!good && known && at->tame >= ACCURATE_FROM) { /* is it noise? */
        const double noise = ns_enclose_noise(w->run, w->event,
                                              time_at(w->run, (at->l + at->r) / 2));
        known = noise < INFINITY;
        good = known && p.error <= noise;
    }
    if (!good && !divisible(w, at))
        return jump(w, at);
    if (!good && (known || at->tame < MOST_TAME))
        return halve(w, at, true);
    return good ? scan_good(w, at, &p, near, smooth, values[9]) : scan_bad(w, at, values);
}

static ns_found scan(search *w, const stretch *at)
{
    const volatile int *interrupt = w->run->options.interrupt;
    if (++w->pieces > MOST_PIECES || (w->pieces % 256 == 0 && interrupt && *interrupt)) {
        *w->until = time_at(w->run, at->l);
        return NS_FOUND_NOT_ALL;
    }
    double values[NS_ROOTS_POINTS];
    const bool tame = sample(w, at, values + 1);
    if (!tame)
        return scan_wild(w, at);
    values[0] = value_at(w, at->l);
    values[9] = value_at(w, at->r);
    int defined = 0;
    for (int i = 0; i < NS_ROOTS_POINTS; i++)
        defined += isfinite(values[i]) != 0;
    if (defined == NS_ROOTS_POINTS)
        return scan_tame(w, at, values);
    /* not defined here: its sign is kept until it is again */
    const bool some = defined > 0 && at->tame < MOST_TAME && divisible(w, at);
    return some ? halve(w, at, true) : NS_FOUND_ALL;
}

/* The sign a run begins with.  A condition is taken not to have held before the start. */
static bool first_sign(search *w, double g)
{
    const ns_event *event = &w->run->s.problem->system->events.at[w->event];
    const double sign = fabs(g) > NOTHING * w->size ? ns_sgn(g) : 0;
    w->sign = sign;
    if (!event->condition)
        return true;
    if (sign == 0)
        w->sign = -event->direction;
    return sign != event->direction ||
           ns_events_push(w->run, w->event, event->direction, w->run->s.now.from);
}

/* The fraction of the step that is looked at first: all of it, unless g grows so much that its
 * beginning is lost in it. */
static double first_reach(search *w, bool begins)
{
    static const double lost = 1e-8, much = 1e6; /* of the size; of the beginning */
    /* the next stretch; g that grows as t has more than `linear` of its size at its end */
    static const double next = 1e-3, linear = 1e-4;
    ns_run *run = w->run;
    const double first = fabs(w->first);
    const double *inner = run->events8 + 8 * (size_t)w->event;
    if (is_singular(w) || !(first < lost * w->size))
        return 1;
    const bool given = first > ns_enclose_start(run, w->event);
    if (!given && (!begins || fabs(inner[0]) > next * w->size))
        return 1;
    double u = 1, g = w->size;
    while (u > DBL_MIN / next && (!given || g > much * first)) {
        const double t = time_at(run, u * next);
        if (!(fabs(t - run->s.now.from) > fabs(run->s.now.from) * NOTHING))
            break;
        const double value = fabs(accurate(run, w->event, t));
        if (!(value < INFINITY) || (!given && value >= linear * g))
            break;
        u *= next;
        g = value;
    }
    return u;
}

static ns_found scan_all(search *w, bool begins)
{
    const stretch whole = {.l = 0, .r = 1};
    w->reach = first_reach(w, begins);
    if (w->reach == 1)
        return begins && !first_sign(w, w->first) ? NS_FOUND_NO_MEMORY : scan(w, &whole);
    static const double longer = 1e3;
    ns_found found = NS_FOUND_ALL;
    stretch at = {.l = 0, .r = w->reach, .depth = 1, .tame = ACCURATE_FROM};
    while (found == NS_FOUND_ALL && at.l < 1) {
        w->size = ns_max(fabs(value_at(w, at.r)), fabs(value_at(w, at.l)));
        if (begins && at.l == 0 && !first_sign(w, w->first))
            return NS_FOUND_NO_MEMORY;
        found = scan(w, &at);
        at.l = at.r;
        at.r = at.r * longer < 1 / longer ? at.r * longer : 1;
    }
    return found;
}

ns_found ns_search_step(ns_run *run, uint32_t event, double *until)
{
    const ns_probes *probes = run->s.problem->probes;
    search w = {.run = run, .event = event, .sign = run->event_sign[event], .until = until};
    w.end = NAN;
    const double first = run->event_value[event], last = run->events_end[event];
    const double *inner = run->events8 + 8 * (size_t)event;
    double least = first < last ? first : last, most = first < last ? last : first;
    double zero = 0 * first + 0 * last; /* nan if one is not finite */
    for (int i = 0; i < 8; i++) {
        least = inner[i] < least ? inner[i] : least;
        most = inner[i] > most ? inner[i] : most;
        zero += 0 * inner[i];
    }
    run->event_value[event] = last;
    if (zero == 0 && away(w.sign, least, most) && !ns_probes_meet(probes, run->wild, event))
        return NS_FOUND_ALL;
    w.first = first;
    for (int i = -1; i <= 8; i++) {
        const double size = fabs(i < 0 ? first : i < 8 ? inner[i] : last);
        w.size = size > w.size && size < INFINITY ? size : w.size;
    }
    const bool begins = run->s.now.steps == run->stretch.origin + 1 && isfinite(first);
    const ns_found found = scan_all(&w, begins);
    run->event_sign[event] = w.sign;
    return found;
}
