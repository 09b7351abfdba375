/* Eight motions in lanes, a template: see ensemble_kernel.h.  Included once per instruction set
 * with NS_BUNDLE, the beginning of the names of its tables of functions, and NS_BUNDLE_NAME.
 *
 * Here is what the methods share: the length of a step, its acceptance, the search for events.
 * The methods are in ensemble_dop853.h and ensemble_gauss.h. */
#ifdef NS_BUNDLE

#include "ode/ensemble/ensemble_project.h"
#include "ode/ensemble/ensemble_vector.h"

#define INLINE static inline __attribute__((always_inline))

/* The step to try: ns_stepper_clip and ns_stepper_too_small in lanes. */
INLINE void choose_step(ns_bundle *b)
{
    const i8 live = load_mask(b->live);
    const v8 t = load(b->t), until = b->driven ? load(b->end) : all(b->until);
    const v8 left = size_of(until - t);
    v8 h = load(b->want);
    if (b->driven)
        h = smaller(load(b->longest), h);
    i8 end;
    if (b->fixed_step > 0) {
        h = all(b->fixed_step);
        end = h * (1 + 1e-9) >= left;
    } else {
        if (b->max_step > 0)
            h = smaller(all(b->max_step), h);
        h = choose((h - h == 0) | (left - left == 0), h, 1 + size_of(t));
        end = h * 1.001 >= left;
        h = choose(2 * h > left, left / 2, h);
    }
    h = choose(end, until - t, (t + b->sense * h) - t);
    const v8 least = larger(4 * DBL_EPSILON * size_of(t), all(1e-290));
    const i8 tiny = ~(size_of(h) >= least) & (left > least);
    const i8 sound = live & ~load_mask(b->unsound), trying = sound & ~tiny;
    b->singular = bits(live & ~sound);
    b->tiny = bits(sound & tiny);
    h = choose(trying, h, (v8){0});
    store_mask(b->trying, trying);
    store(b->h, h);
    store(b->t_new, choose(end & trying, until, t + h));
}

/* Moves the lanes that accept to their new states; the others keep theirs. */
INLINE void move(ns_bundle *b, i8 accepted)
{
    const size_t end = 8 * (size_t)b->n;
    const double *x = b->x, *x_lo = b->x_lo;
    double *x_new = b->x_new, *x_low = b->x_low, *sizes = b->size;
    v8 largest = {0}, least = all(INFINITY);
    for (size_t at = 0; at < end; at += 8) {
        const v8 now = choose(accepted, load(x_new + at), load(x + at));
        const v8 low = choose(accepted, load(x_low + at), load(x_lo + at));
        /* ns_stepper_resize, in essence */
        const v8 old = load(sizes + at);
        const v8 size = choose(accepted, larger(size_of(now), 0.99 * old), old);
        store(x_new + at, now);
        store(x_low + at, low);
        store(sizes + at, size);
        largest = larger(size, largest);
        least = smaller(size, least);
    }
    const v8 floor = larger(1e-8 * choose(largest == 0, all(1), largest), all(b->least_size));
    if (bits(least < floor))
        for (size_t at = 0; at < end; at += 8)
            store(sizes + at, larger(floor, load(sizes + at)));
    double *const old = b->x0, *const old_low = b->x0_lo;
    b->x0 = b->x;
    b->x0_lo = b->x_lo;
    b->x = x_new;
    b->x_lo = x_low;
    b->x_new = old;
    b->x_low = old_low;
}

/* Counts a step, and goes on to its end where it was accepted.  The lanes that tried propose
 * `want` next; `probe` says whose rates are to be looked at for noise besides those that are
 * due. */
INLINE void settle(ns_bundle *b, i8 accepted, i8 rejected, v8 want, i8 probe)
{
    const i8 trying = accepted | rejected, one = (i8)all(1);
    const v8 length = size_of(load(b->h)), steps = load(b->steps);
    move(b, accepted);
    b->accepted = bits(accepted);
    b->ended = bits(accepted & (load(b->t_new) == b->until));
    const i8 due = steps + 1 >= load(b->probe_at);
    b->probe = bits((accepted & due) | probe);
    b->judged = bits(accepted & (steps + 1 >= load(b->judge)));

    store(b->want, choose(trying, want, load(b->want)));
    store(b->cautious, choose(trying, (v8)(rejected & one), load(b->cautious)));
    const v8 smallest = load(b->smallest), largest = load(b->largest);
    store(b->smallest,
          choose(accepted & ((steps == 0) | (length < smallest)), length, smallest));
    store(b->largest, choose(accepted & (length > largest), length, largest));
    store(b->steps, steps + (v8)(accepted & one));
    store(b->rejected, load(b->rejected) + (v8)(rejected & one));
    store(b->from, choose(accepted, load(b->t), load(b->from)));
    store(b->t, choose(accepted, load(b->t_new), load(b->t)));
}

/* Lanes in which three or five evenly spaced samples of a probe show what depends on it: see
 * probes.h.  Three show half as much as ten. */
INLINE i8 tame(const ns_probe *probe, const double *const *values, size_t at, int count)
{
    const v8 limit = all(count < 5 ? 0.5 * probe->limit : probe->limit);
    const v8 ratio = probe->kind == NS_PROBE_RATIO ? limit : all(NS_PROBE_FAR_RATIO);
    v8 a[5], lo = all(INFINITY), hi = -lo, bend = {0};
    for (int i = 0; i < count; i++) {
        a[i] = load(values[i] + at);
        lo = smaller(a[i], lo);
        hi = larger(a[i], hi);
    }
    const i8 near = hi - lo <= limit;
    const i8 even = ((lo > 0) & (hi <= ratio * lo)) | ((hi < 0) & (lo >= ratio * hi)) |
                    (lo == hi);
    switch (probe->kind) {
    case NS_PROBE_RANGE:
        return near;
    case NS_PROBE_RATIO:
        return even;
    case NS_PROBE_FAR:
        return near | even;
    case NS_PROBE_FLAT:
        return near | (lo > NS_PROBE_FLAT_FROM) | (hi < -NS_PROBE_FLAT_FROM);
    case NS_PROBE_KINK:
    case NS_PROBE_SIDE:
        break;
    }
    for (int i = 1; i + 1 < count; i++)
        bend = larger(size_of(a[i - 1] - 2 * a[i] + a[i + 1]), bend);
    return (lo > bend) | (hi < -bend);
}

static unsigned suspects(const ns_bundle_watch *watch, const double *sign,
                         const double *const *values, int count)
{
    const ns_probes *probes = watch->probes;
    const uint32_t events = probes->n_events;
    i8 safe = ~(i8){0};
    for (uint32_t k = 0; k < probes->n; k++)
        if (watch->probe[k])
            safe &= tame(&probes->at[k], values, 8 * (size_t)(events + k), count);
    for (uint32_t k = 0; k < events; k++) {
        if (!watch->event[k])
            continue;
        const size_t at = 8 * (size_t)k;
        const v8 s = load(sign + at);
        v8 a[5], least = all(INFINITY), most = -least, bend = {0};
        i8 known = s != 0;
        for (int i = 0; i < count; i++) {
            a[i] = s * load(values[i] + at);
            known &= a[i] > 0;
            least = smaller(a[i], least);
            most = larger(a[i], most);
        }
        if (count < 5)
            safe &= known & (least > 4 * (most - least));
        else {
            /* between samples it dips by an eighth of the second difference; the fourth tells
             * whether the samples show the function at all */
            for (int i = 1; i < 4; i++)
                bend = larger(size_of(a[i - 1] - 2 * a[i] + a[i + 1]), bend);
            bend += 4 * size_of((a[0] + a[4]) - 4 * (a[1] + a[3]) + 6 * a[2]);
            safe &= known & (least > bend);
        }
    }
    return bits(~safe);
}

#define NS_JOIN_NAMES(a, b) a##b
#define NS_JOIN(a, b) NS_JOIN_NAMES(a, b)

#include "ode/ensemble/ensemble_dop853.h"
#include "ode/ensemble/ensemble_gauss.h"

#endif
