/* Tools all methods share: see stepper.h. */
#include "ode/stepper.h"

#include <float.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "ode/drive/drive.h"
#include "ode/pinv.h"

void ns_stepper_rhs(ns_stepper *s, double *work, double t, const double *x, double *f)
{
    s->now.evaluations++;
    if (s->problem->pinv)
        ns_pinv_rhs(s->problem, s->pinv, t, x, f);
    else
        ns_program_eval1(s->problem->rhs, work, t, x, f);
}

void ns_stepper_rhs8(ns_stepper *s, double *work, const double *t, const double *x, double *f)
{
    s->now.evaluations += 8;
    if (s->problem->pinv)
        ns_pinv_rhs8(s->problem, s->pinv, t, x, f);
    else
        ns_program_eval8(s->problem->rhs, work, t, x, f);
}

/* The rates whose rounding errors count. */
static void probe(ns_stepper *s)
{
    if (!s->fused) {
        ns_stepper_rhs8(s, s->work8, s->t8, s->x8, s->f8);
        return;
    }
    s->now.evaluations += 8;
    ns_program_eval8_fused(s->problem->rhs, s->work8, s->t8, s->x8, s->f8);
}

bool ns_stepper_finite(const double *values, size_t n)
{
    /* v - v is 0 for finite v and nan otherwise; a sum keeps the nan and needs no branch; sums
     * of four pairs do not wait for each other */
    typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
    enum { PAIRS = 4 };
    pair sum[PAIRS] = {{0}};
    double rest = 0;
    size_t i = 0;
    for (; i + 2 * PAIRS <= n; i += 2 * PAIRS)
        for (size_t k = 0; k < PAIRS; k++) {
            const pair v = *(const pair *)(values + i + 2 * k);
            sum[k] += v - v;
        }
    for (; i < n; i++)
        rest += values[i] - values[i];
    for (size_t k = 0; k < PAIRS; k++)
        rest += sum[k][0] + sum[k][1];
    return rest == 0;
}

double ns_stepper_clip(const ns_stepper *s, double h)
{
    NS_CHECK(h > 0);
    double end = s->until;
    if (s->drive)
        h = ns_smaller(h, ns_drive_limit(s, &end));
    const double left = s->sense * (end - s->now.t);
    if (left < 0 ||
        !(h > 0)) /* of a forged checkpoint, which has passed it: no way leads there */
        return 0;
    if (s->fixed_step > 0) {
        if (s->fixed_step * (1 + NS_STEPPER_ALL) >= left)
            return end - s->now.t;
        h = s->fixed_step;
    } else {
        if (s->max_step > 0 && h > s->max_step)
            h = s->max_step;
        if (s->cap > 0 && h > s->cap)
            h = s->cap;
        if (!isfinite(h) && !isfinite(left)) /* nothing limits the step: double the time */
            h = 1 + fabs(s->now.t);
        if (h * NS_STEPPER_NEARLY >= left)
            return end - s->now.t;
        if (2 * h > left)
            h = left / 2;
    }
    return (s->now.t + s->sense * h) - s->now.t;
}

bool ns_stepper_too_small(const ns_stepper *s, double h)
{
    const double least = ns_larger(NS_STEPPER_LAST_PLACES * DBL_EPSILON * fabs(s->now.t),
                                   NS_STEPPER_LEAST);
    return !(fabs(h) >= least) && fabs(s->until - s->now.t) > least;
}

ns_status ns_stepper_give_up(ns_stepper *s)
{
    if (s->why == NS_WHY_NONE)
        s->why = NS_WHY_STEP;
    return s->why == NS_WHY_NOT_FINITE ? NS_STOP_SINGULAR : NS_STOP_STEP;
}

bool ns_stepper_stalled(ns_counters *now, double t0, double until)
{
    const uint64_t steps = now->steps - now->mark_steps;
    if (steps < NS_STEPPER_WINDOW)
        return false;
    const double advance = fabs(now->t - now->mark_t);
    const double whole = isfinite(until) ? fabs(until - t0) : fabs(now->t - t0);
    static const double steps_in_all = 1e11, longer_before = 1e4;
    const bool stuck = advance * steps_in_all < whole * (double)steps &&
                       advance * longer_before < now->largest * (double)steps;
    now->mark_t = now->t;
    now->mark_steps = now->steps;
    return stuck;
}

/* Of states that are measured by each other. */
static void resize(ns_stepper *s, uint32_t from, uint32_t to)
{
    double largest = 0;
    for (uint32_t i = from; i < to; i++) {
        const double present = ns_larger(fabs(s->x[i]), fabs(s->x[i] - s->x0[i]));
        s->size[i] = ns_larger(present, NS_STEPPER_MEMORY * s->size[i]);
        largest = ns_larger(largest, s->size[i]);
    }
    if (largest == 0)
        largest = 1;
    for (uint32_t i = from; i < to; i++)
        s->size[i] = ns_larger(s->size[i], ns_larger(NS_STEPPER_PART * largest, s->least_size));
}

/* A motion and each column of deviations by themselves: those may grow beyond all bounds. */
void ns_stepper_resize(ns_stepper *s)
{
    const uint32_t group = s->problem->system->motion ? s->problem->system->motion : s->n;
    for (uint32_t i = 0; i < s->n; i += group)
        resize(s, i, i + group < s->n ? i + group : s->n);
}

/* Spread of the rates when lane 0 has the state itself and the others differ from it by up to
 * change[i], in a pattern of no meaning (Weyl sequence). */
static void spread(ns_stepper *s, const double *change, double *noise)
{
    uint32_t pattern = 0;
    for (uint32_t lane = 0; lane < 8; lane++) {
        s->t8[lane] = s->now.t;
        for (uint32_t i = 0; i < s->n; i++) {
            pattern += 2654435769u;
            const double share = lane ? (double)(pattern >> 16) / 32768 - 1 : 0;
            s->x8[8 * i + lane] = s->x[i] + change[i] * share;
        }
    }
    probe(s);
    for (uint32_t i = 0; i < s->n; i++) {
        double low = s->f8[8 * i], high = low;
        for (uint32_t lane = 1; lane < 8; lane++) {
            low = ns_smaller(low, s->f8[8 * i + lane]);
            high = ns_larger(high, s->f8[8 * i + lane]);
        }
        noise[i] = isfinite(high - low) ? high - low : noise[i];
    }
}

/* Last bits of the state do not show rounding errors of results in between that they do not
 * reach: of cos(theta)^2 near a pole of the coordinates, say, where the mass matrix is all but
 * singular and its solution magnifies them.  So the rates are looked at along the tangent, too,
 * at equal distances over a short part of the last step.  There all results change in many
 * bits, but the rates are smooth, and what high differences show is rounding errors (Hamming;
 * More and Wild, SIAM J. Sci. Comput. 33 (2011) 1292-1314).  Errors of size e make the seventh
 * sqrt(3432) e, about, and a spread of three e; twice that, for it may happen to be small.  Two
 * neighbouring sixth differences differ in sign, mostly.  Those of a smooth function are all
 * but equal: their difference is a part 7 d/r of them, with the distance d of the points and a
 * radius of convergence r, and steps are not much longer than that.  Lane 0 of f8 has the
 * rates. */
static void measure_roughness(ns_stepper *s)
{
    static const double part = 1.0 / 64; /* of the step */
    static const double sixth[7] = {1, -6, 15, -20, 15, -6, 1};
    static const double twice = 6 / 58.6; /* two spreads of three e, over sqrt(3432) e */
    static const double fades = 0.25;     /* one sample may be small by chance */
    static const double apart = 0.3; /* no smooth function: d/r would be 0.04, the step 20 r */
    const double space = part / 7 * (s->now.t - s->now.from);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t lane = 0; lane < 8; lane++)
            s->x8[8 * i + lane] = s->x[i] - lane * (space * s->f8[8 * i]);
    probe(s);
    for (uint32_t i = 0; i < s->n; i++) {
        double a = 0, b = 0;
        for (uint32_t lane = 0; lane < 7; lane++) {
            a += sixth[lane] * s->f8[8 * i + lane];
            b += sixth[lane] * s->f8[8 * i + lane + 1];
        }
        const double found = fabs(b - a) * twice * s->rough_share;
        const bool rough = fabs(b - a) > apart * ns_larger(fabs(a), fabs(b));
        s->rough[i] = ns_larger(rough && isfinite(found) ? found : 0, fades * s->rough[i]);
        s->noise[i] = ns_larger(s->noise[i], s->rough[i]);
    }
}

/* A small velocity whose rate is a difference of large numbers, or one that stays at zero, is
 * not known to its last place: the noise of its rate adds to it within a step.  It is the rate
 * of a position in its turn, which must not be asked for more.  So states whose rate's noise
 * would move them by many units in the last place are left alone once, to see what noise comes
 * from elsewhere and how fast a change of their own would decay (stiff systems), and then
 * changed by what remains. */
static void measure_drift(ns_stepper *s)
{
    enum { MANY = 64 };
    const double length = fabs(s->now.t - s->now.from);
    double *change = s->change, *other = s->other;
    bool some = false, more = false;
    for (uint32_t i = 0; i < s->n; i++) {
        other[i] = length * s->noise[i] > MANY * change[i] ? 0 : change[i];
        some = some || other[i] < change[i];
    }
    if (!some)
        return;
    for (uint32_t i = 0; i < s->n; i++) {
        const double keep = change[i];
        change[i] = other[i];
        other[i] = keep;
    }
    memcpy(s->rest, s->noise, s->n * sizeof *s->rest);
    spread(s, change, s->rest);
    for (uint32_t i = 0; i < s->n; i++) {
        s->rest[i] = ns_larger(s->rest[i], s->rough[i]);
        if (change[i] < other[i]) {
            const double own = ns_larger(s->noise[i] - s->rest[i], 0) / other[i];
            const double drift = s->rest[i] * length / (1 + own * length);
            more = more || drift > MANY * other[i];
            other[i] = drift > MANY * other[i] ? drift : other[i];
        }
        change[i] = other[i];
    }
    if (!more)
        return;
    spread(s, change, s->noise);
    for (uint32_t i = 0; i < s->n; i++)
        s->noise[i] = ns_larger(s->noise[i], s->rough[i]);
}

/* Is there much noise, and more than the tolerance?  It goes with the rates: where they fall
 * fast, on the way from a pole, old noise would hide errors. */
static bool is_noisy(const ns_stepper *s)
{
    const double length = fabs(s->now.t - s->now.from);
    static const double much = 1e-11; /* whatever the tolerance */
    static const double nothing =
        1e-7; /* of the largest: a state that is noise and nothing else */
    const double allowed = ns_larger(s->tolerance, much) * s->rough_share;
    double largest = 0;
    for (uint32_t i = 0; i < s->n; i++)
        largest = ns_larger(largest, s->size[i]);
    bool found = false;
    for (uint32_t i = 0; i < s->n; i++)
        found = found ||
                (s->rough[i] * length > allowed * s->size[i] && s->size[i] > nothing * largest);
    return found;
}

void ns_stepper_measure_noise(ns_stepper *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->change[i] = DBL_EPSILON * ns_larger(fabs(s->x[i]), s->size[i]);
    spread(s, s->change, s->noise);
    if (s->now.from != s->now.t)
        measure_roughness(s);
    measure_drift(s);
    s->now.probed = s->now.steps;
    s->now.noisy = is_noisy(s);
}

void ns_stepper_trouble(ns_stepper *s)
{
    if (s->now.probed != s->now.steps)
        ns_stepper_measure_noise(s);
}

void ns_stepper_accept(ns_stepper *s, double h, const double *x_new, const double *x_new_lo)
{
    const size_t bytes = s->n * sizeof(double);
    memcpy(s->x0, s->x, bytes);
    memcpy(s->x0_lo, s->x_lo, bytes);
    memcpy(s->x, x_new, bytes);
    memcpy(s->x_lo, x_new_lo, bytes);
    ns_stepper_advance(s, h);
    ns_stepper_resize(s);
}

void ns_stepper_advance(ns_stepper *s, double h)
{
    NS_CHECK(s->sense * h > 0);
    ns_counters *now = &s->now;
    const bool last = h == s->until - now->t;
    now->from = now->t;
    now->t = last ? s->until : now->t + h;
    const double length = fabs(h);
    now->smallest = now->steps ? ns_smaller(now->smallest, length) : length;
    now->largest = ns_larger(now->largest, length);
    now->steps++;
    enum { NOW_AND_THEN = 64 };
    if (now->steps >= now->probed + (now->noisy ? NS_STEPPER_SOON : NOW_AND_THEN))
        ns_stepper_measure_noise(s);
}

double ns_stepper_radius(const ns_stepper *s, const double *x, uint32_t order, size_t state,
                         size_t degree)
{
    enum { FIRST = 4 }; /* coefficients that the last two are compared with */
    double radius = INFINITY;
    for (uint32_t i = 0; i < s->n; i++, x += state) {
        double best = 0; /* of the first four: independent of units */
        for (uint32_t j = 0; j < FIRST; j++) {
            double least = INFINITY;
            for (uint32_t k = order - 1; k <= order; k++)
                if (x[k * degree] != 0)
                    least = ns_smaller(
                        least, ns_math_pow(fabs(x[j * degree] / x[k * degree]), 1.0 / (k - j)));
            best = ns_larger(best, least);
        }
        radius = ns_smaller(radius, best);
    }
    return radius;
}

double ns_stepper_guess(const ns_stepper *s, const double *f, double parts)
{
    static const double usual = 1e-3; /* seconds, or of the run, where nothing tells a scale */
    double x_max = 0, f_max = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        x_max = ns_larger(x_max, fabs(s->x[i]));
        f_max = ns_larger(f_max, fabs(f[i]));
    }
    for (uint32_t i = 0; i < s->n && x_max > 0; i++) /* near zero for a moment, on the way */
        x_max = ns_larger(x_max, s->size[i]);
    const double span = fabs(s->until - s->now.t);
    if (!(x_max > 0) || !(f_max > 0))
        return isfinite(span) ? ns_smaller(usual, usual * span) : usual;
    return x_max / f_max / parts;
}
