/* Steps of gauss with eight motions in lanes, part of the template ensemble_step.h.
 *
 * Method, error estimate and step control are those of gauss.c.  There the stages are in the
 * lanes, and a sweep evaluates all of them at the old stages; here they come one after the
 * other, and each one sees those before it as they are now (Gauss-Seidel instead of Jacobi):
 *
 *     G_i = h b_i f(t + c_i h, X_i),   X_i = x + sum_j mu_ij G_j,   x_new = x + sum_j G_j
 *
 * K holds the G_j of the last step, K_new those of the step being tried, [state][stage][8].
 * Sweeps end lane by lane: one that has converged keeps its increments while others go on.
 * Bundles are not in step with each other: an attempt ends as soon as the step of one bundle
 * does. */
#ifdef NS_BUNDLE

#include "ode/gauss/gauss_table.h"

enum { GAUSS_STAGES = 8 };

/* As in gauss.c, but for the aim. */
#define GAUSS_AIM 0.85
#define GAUSS_LIMIT 4.0
/* Lanes wait for the one that needs most sweeps.  So that all need about the same number the
 * length of a step is chosen for SWEEPS of them (more or fewer take more evaluations at equal
 * error, on P1c at all tolerances), and a step that needs more than MOST_SWEEPS is given up. */
#define SWEEPS 5.0
#define MOST_SWEEPS 9
/* A motion leaves the lanes after so many steps in a row that could be this much longer by the
 * error, in units of what a step by Newton's iteration costs. */
#define PATIENCE 48
#define LEAVE_FACTOR 2.5

/* ---- logarithms
 * ---------------------------------------------------------------------------------- Binary
 * ones of numbers >= 0, straight between powers of two: off by 0.09 at most; -1023 for 0. */

static inline v8 from_whole(i8 a) /* |a| < 2^51 */
{
    return (v8)(a + INT64_C(0x4338000000000000)) - 0x1.8p52;
}

static inline v8 rough_log(v8 a)
{
    return 0x1p-32 * from_whole(((i8)a >> 20) - (INT64_C(1023) << 32));
}

/* 2^a to 0.2 per cent */
static inline v8 rough_power(v8 a)
{
    a = smaller(larger(a, all(-1000)), all(1000));
    const i8 scaled = (i8)(0x1p32 * a + 0x1.8p52) - INT64_C(0x4338000000000000);
    const i8 bit = (scaled + (INT64_C(1023) << 32)) << 20,
             fraction = bit & INT64_C(0xfffffffffffff);
    const v8 whole = (v8)(bit ^ fraction), rest = (v8)(fraction | (INT64_C(1023) << 52)) - 1;
    return whole * (1 + rest * (0.6565 + 0.3435 * rest));
}

/* ---- before the sweeps ------------------------------------------------------------------- */

/* l_j(at): the values that belong to the nodes, of a polynomial of degree 7 */
INLINE void interpolation(v8 at, v8 l[8])
{
    v8 d[8];
    for (int j = 0; j < 8; j++)
        d[j] = at - gauss_c[j];
    const v8 d01 = d[0] * d[1], d23 = d[2] * d[3], d45 = d[4] * d[5], d67 = d[6] * d[7];
    const v8 left = d01 * d23, right = d45 * d67, l6 = left * d45, r2 = d23 * right;
    l[0] = d[1] * r2;
    l[1] = d[0] * r2;
    l[2] = (d01 * d[3]) * right;
    l[3] = (d01 * d[2]) * right;
    l[4] = left * (d[5] * d67);
    l[5] = left * (d[4] * d67);
    l[6] = l6 * d[7];
    l[7] = l6 * d[6];
}

/* c + sum_j a_j K_j of a state */
INLINE v8 mix(const v8 a[8], const double *K, v8 c)
{
    v8 even = fused(a[0], load(K), c), odd = a[1] * load(K + 8);
    even = fused(a[2], load(K + 16), even);
    odd = fused(a[3], load(K + 24), odd);
    even = fused(a[4], load(K + 32), even);
    odd = fused(a[5], load(K + 40), odd);
    even = fused(a[6], load(K + 48), even);
    odd = fused(a[7], load(K + 56), odd);
    return even + odd;
}

/* While the first sweep goes on, the polynomial of the prediction is extended by the rates
 * found: a residual r of stage i changes those of the stages j behind it by  r (b_j / b_i)
 * N_i(t_j) / N_i(t_i),
 *     N_i(t) = prod_k (t - c_k) prod_{m < i} (t - t_m)
 * with the nodes c_k of the last step and the t_m of this one (Newton's form).  Here are the
 * factors of r; 0 where the new step lies within the last one, which was rejected. */
static void extend_prediction(ns_bundle *b, const v8 t[8])
{
    const i8 ahead = load(b->shift) > 0;
    double *out = b->extend;
    v8 N[8];
    for (int j = 0; j < 8; j++) {
        N[j] = t[j] - gauss_c[0];
        for (int k = 1; k < 8; k++)
            N[j] *= t[j] - gauss_c[k];
    }
    for (int i = 0; i < 7; i++) {
        const v8 known = choose(ahead, N[i], all(1)); /* positive */
        const v8 inverse = choose(ahead, rough_inverse(known, 2), (v8){0});
        for (int j = i + 1; j < 8; j++, out += 8) {
            store(out, N[j] * (inverse * (gauss_b[j] / gauss_b[i])));
            N[j] *= t[j] - t[i];
        }
    }
}

/* Increments of the step to be tried, from the polynomial of the last one. */
static void predict(ns_bundle *b)
{
    const v8 ratio = load(b->h) / load(b->base), shift = load(b->shift);
    const uint32_t n = b->n;
    const double *K = b->K;
    double *K_new = b->K_new;
    v8 t[8];
    for (size_t i = 0; i < GAUSS_STAGES; i++) {
        v8 l[8];
        t[i] = fused(ratio, all(gauss_c[i]), shift);
        interpolation(t[i], l);
        for (int j = 0; j < 8; j++)
            l[j] *= ratio * (gauss_b[i] * gauss_w[j] / gauss_b[j]);
        for (uint32_t s = 0; s < n; s++)
            store(K_new + 64 * (size_t)s + 8 * i, mix(l, K + 64 * (size_t)s, (v8){0}));
    }
    extend_prediction(b, t);
}

/* a^(-1/2) for a > 0, to 0.04 */
static inline v8 rough_inverse_root(v8 a)
{
    return (v8)(0x5fe6eb50c7b537a9 - ((i8)a >> 1));
}

/* How much changes of the states count: see `prepare` of gauss_kernel.h. */
static void weigh_states(ns_bundle *b)
{
    const size_t end = 8 * (size_t)b->n;
    const v8 usual = all(64 * b->settled);
    const v8 noisy = size_of(load(b->h)) *
                     (0.25 * b->settled / DBL_EPSILON); /* noise: fourfold */
    for (size_t at = 0; at < end; at += 8) {
        v8 sum = {0};
        for (size_t j = 0; j < GAUSS_STAGES; j++) {
            const v8 g = load(b->K_new + 8 * (at + j));
            sum = fused(g * (1 / gauss_b[j]), g, sum); /* h^2 mean square of the rate */
        }
        const v8 size = load(b->size + at);
        const v8 one = rough_inverse_root(larger(larger(sum, size * size), all(1e-300)));
        const v8 noise = noisy * load(b->noise + at) * one;
        const v8 share = choose(noise > usual, usual * rough_inverse(larger(noise, usual), 0),
                                all(1));
        store(b->weight + at, share * one);
        store(b->settle + at, share * share * one);
    }
}

static void begin_part(ns_bundle *b, uint32_t part, i8 going)
{
    b->part = part;
    b->sweeps = 0;
    store_mask(b->going, going);
    store(b->moved, (v8){0});
}

static void begin_step(ns_bundle *b)
{
    choose_step(b);
    predict(b);
    weigh_states(b);
    store(b->slowest, (v8){0});
    store(b->reach, all(1));
    store(b->left, (v8){0});
    const i8 trying = load_mask(b->trying);
    store_mask(b->refused, load_mask(b->refused) & ~trying); /* the others keep their reasons */
    store_mask(b->diverged, load_mask(b->diverged) & ~trying);
    begin_part(b, 0, trying);
    b->sweeping = true;
}

/* ---- sweeps ------------------------------------------------------------------------------ */

/* a[bytes] */
INLINE double *behind(double *a, ptrdiff_t bytes)
{
    return (double *)((char *)a + bytes);
}

INLINE v8 load_behind(const double *a, ptrdiff_t bytes)
{
    return load((const double *)((const char *)a + bytes));
}

/* Stage i of the states up to the present part that occur in rates. */
INLINE void arguments(const ns_bundle *b, const ns_bundle_state *end, size_t i)
{
    const double *const x = b->x, *const x_lo = b->x_lo;
    double *const X = b->w, *const K = b->K_new;
    v8 mu[8];
    for (int j = 0; j < 8; j++)
        mu[j] = all(gauss_mu[j][i]);
    for (const ns_bundle_state *s = b->parts->state; s < end; s++) {
        const size_t at = s->place;
        const v8 z = mix(mu, behind(K, (ptrdiff_t)(8 * at)), load_behind(x_lo, (ptrdiff_t)at));
        store(behind(X, (ptrdiff_t)at), load_behind(x, (ptrdiff_t)at) + z);
    }
}

/* Increments of a part at stage i, given its rates; adds up how much they have changed.
 * `extend`: those of the stages behind it follow. */
INLINE void increments(ns_bundle *b, const ns_bundle_part *part, size_t i, bool extend)
{
    const v8 hb = load(b->h) * gauss_b[i];
    const i8 going = load_mask(b->going);
    double *const K = b->K_new + 8 * i;
    const double *const settle = b->settle, *const out = b->out;
    const double *const follow = b->extend + 8 * (7 * i - i * (i - 1) / 2);
    const ns_bundle_state *const list = b->parts->state;
    v8 sum = load(b->moved);
    for (const ns_bundle_state *s = list + part->live, *end = list + part->live_end; s < end;
         s++) {
        const size_t at = s->place;
        double *const k = behind(K, (ptrdiff_t)(8 * at));
        const v8 g = hb * load_behind(out, s->rate), old = load(k), residual = g - old;
        const v8 change = residual * load_behind(settle, (ptrdiff_t)at);
        store(k, choose(going, g, old));
        sum = fused(change, change, sum);
        if (extend)
            for (size_t j = 8; j < 8 * (GAUSS_STAGES - i); j += 8)
                store(k + j, fused(load(follow + j - 8), choose(going, residual, (v8){0}),
                                   load(k + j)));
    }
    for (const ns_bundle_state *s = list + part->idle, *end = list + part->idle_end; s < end;
         s++) {
        double *const k = behind(K, (ptrdiff_t)(8 * (size_t)s->place));
        store(k, choose(going, hb * load_behind(out, s->rate), load(k)));
    }
    store(b->moved, sum);
}

/* Stage i of the part that is being solved. */
static void sweep_stage(ns_bundle *b, size_t i)
{
    const ns_bundle_parts *parts = b->parts;
    const ns_bundle_part *part = &parts->part[b->part];
    arguments(b, parts->state + part->live_end, i);
    store(b->stage_t, load(b->t) + load(b->h) * gauss_c[i]);
    for (const ns_bundle_call *c = parts->call + part->call,
                              *end = parts->call + part->call_end;
         c < end; c++)
        b->rates(c->program, c->work, b->stage_t, b->w, c->out);
    if (part->feedback && b->sweeps == 0)
        increments(b, part, i, true);
    else
        increments(b, part, i, false);
}

/* Change of the stages that ends the sweeps, squared. */
static double enough(const ns_bundle *b, const ns_bundle_part *part)
{
    const double little = 0.01 * b->tolerance,
                 least = 25e-40 * 8.0 * (part->live_end - part->live);
    return little * little > least ? little * little : least;
}

/* What the sweep just made has shown; false when no lane goes on with this part.  The rules are
 * those of iterate_part in gauss.c. */
static bool look_at_sweep(ns_bundle *b)
{
    const ns_bundle_part *part = &b->parts->part[b->part];
    const i8 going = load_mask(b->going);
    const v8 change = load(b->moved);
    const i8 finite = going & (change <= DBL_MAX);
    b->sweeps++;
    if (part->major)
        store(b->evaluations, load(b->evaluations) + choose(going, all(GAUSS_STAGES), (v8){0}));
    store_mask(b->refused, load_mask(b->refused) | (going & ~finite));
    if (!part->feedback)
        return false;
    const double count = 8.0 * (part->live_end - part->live),
                 noise = 4 * DBL_EPSILON * DBL_EPSILON * count;
    const double little = enough(b, part);
    const v8 guess = load(b->rho),
             last = b->sweeps == 1 ? change / (guess * guess) : load(b->last);
    const i8 none = {0}, not_first = b->sweeps > 1 ? ~none : none;
    i8 done = (change <= little) | (change * change <= little * last) |
              (not_first & (change > 0.25 * last) & (change <= noise));
    done &= finite &
            (not_first | (load(b->steps) > 0)); /* in the first step rho is not known yet */
    i8 bad = {0};
    if (b->sweeps == 1) {
        store(b->first, change);
        store(b->seen, (v8){0});
        store(b->seen_sweeps, all(1));
        b->expected = 1;
    } else {
        b->expected *= 0.49;
        const i8 clear = change > noise;
        const double passed = b->sweeps - 1;
        store(b->seen, choose(finite & clear, change, load(b->seen)));
        store(b->seen_sweeps, choose(finite & clear, all(passed), load(b->seen_sweeps)));
        bad = change > 4 * last;
        if (b->sweeps > 4)
            bad |= clear & (change > b->expected * load(b->first));
    }
    if (b->sweeps >= MOST_SWEEPS)
        bad = ~(i8){0};
    bad &= finite & ~done;
    store_mask(b->diverged, load_mask(b->diverged) | bad);
    store(b->left, choose(done, larger(change, load(b->left)), load(b->left)));
    store(b->last, change);
    store(b->moved, (v8){0});
    const i8 next = finite & ~done & ~bad;
    store_mask(b->going, next);
    return bits(next);
}

/* The sweeps of a part: how much they contract, and how long a step could be that needs SWEEPS
 * of them.
 * With a step longer by a factor 2^l the first change grows by about 2^15l, which is how well
 * the extended prediction does, and the contraction by 2^l:  log first + 15 l + SWEEPS (log rho
 * + l) = log enough. */
static void end_part(ns_bundle *b)
{
    const ns_bundle_part *part = &b->parts->part[b->part];
    const v8 seen = load(b->seen), first = rough_log(load(b->first));
    const v8 step = (rough_log(seen) - first) /
                    load(b->seen_sweeps); /* of squares, as all here */
    const v8 reach = (rough_log(all(enough(b, part))) - first - SWEEPS * step) *
                     (1 / (30 + 2 * SWEEPS));
    const i8 known = seen > 0;
    store(b->slowest,
          larger(choose(known, rough_power(0.5 * step), (v8){0}), load(b->slowest)));
    store(b->reach, smaller(choose(known, reach, all(1)), load(b->reach)));
}

/* Goes on with the next part; false if there is none. */
static bool next_part(ns_bundle *b)
{
    const i8 going = load_mask(b->trying) & ~load_mask(b->refused) & ~load_mask(b->diverged);
    if (b->parts->part[b->part].feedback)
        end_part(b);
    if (b->part + 1 >= b->parts->n || !bits(going))
        return false;
    begin_part(b, b->part + 1, going);
    return true;
}

/* ---- after the sweeps -------------------------------------------------------------------- */

/* The new state, its increments summed without rounding errors, from the outer stages to the
 * inner. */
static void update(ns_bundle *b)
{
    static const int inwards[8] = {0, 7, 1, 6, 2, 5, 3, 4};
    const size_t end = 8 * (size_t)b->n;
    const v8 h = load(b->h), inverse = 1 / choose(h == 0, all(1), h);
    v8 lacking[8]; /* h b_j is hb_j (1 + lacking_j) */
    for (int j = 0; j < 8; j++) {
        const v8 hb = h * gauss_b[j];
        lacking[j] = (fused(h, all(gauss_b[j]), -hb) + h * gauss_b_lo[j]) *
                     (inverse * (1 / gauss_b[j]));
    }
    for (size_t at = 0; at < end; at += 8) {
        v8 sum = {0}, rest = {0}, e;
        for (int k = 0; k < 8; k++) {
            const int j = inwards[k];
            const v8 g = load(b->K_new + 8 * (at + (size_t)j));
            sum = two_sum(sum, g, &e);
            rest += fused(g, lacking[j], e);
        }
        v8 low;
        const v8 total = two_sum(load(b->x + at), sum, &e);
        const v8 x = two_sum(total, e + (load(b->x_lo + at) + rest), &low);
        store(b->x_new + at, x);
        store(b->x_low + at, low);
    }
}

/* Error of the step in units of the tolerance, and the factor to the length that would have the
 * error aimed at: `judge` and `estimate` of gauss.c. */
static v8 estimate_error(const ns_bundle *b, v8 *factor)
{
    const size_t end = 8 * (size_t)b->n;
    double *const deviation = b->out, *const c6 = b->w, *const c7 = b->room;
    v8 most = {0};
    for (size_t at = 0; at < end; at += 8) {
        const double *K = b->K_new + 8 * at;
        v8 g[8], sum = {0}, f6 = {0}, f7 = {0}, f = {0};
        for (int j = 0; j < 8; j++) {
            g[j] = load(K + 8 * j);
            sum += g[j];
        }
        for (int j = 0; j < 4; j++) {
            f6 = fused(all(gauss_leg6[j] / gauss_b[j]), g[j] + g[7 - j], f6);
            f7 = fused(all(gauss_leg7[j] / gauss_b[j]), g[j] - g[7 - j], f7);
        }
        for (int j = 0; j < 8; j++) {
            const v8 d = fused(all(-gauss_b[j]), sum, g[j]);
            f = fused(d * (1 / gauss_b[j]), d, f);
        }
        const v8 w = load(b->weight + at);
        f = f * w * w;
        store(deviation + at, f);
        store(c6 + at, size_of(f6) * w);
        store(c7 + at, size_of(f7) * w);
        most = larger(f, most);
    }
    const v8 left = larger(root(load(b->left)), all(b->settled));
    const v8 noisy = size_of(load(b->h)) * left * (0.25 / DBL_EPSILON); /* noise: fourfold */
    const v8 floor = larger(1e-6 * most, all(1e-300));
    v8 e6 = {0}, e7 = {0}, m6 = {0}, m7 = {0};
    for (size_t at = 0; at < end; at += 8) {
        const v8 error = 4 * larger(noisy * load(b->weight + at) * load(b->noise + at),
                                    all(DBL_EPSILON));
        const v8 whole = rough_inverse(larger(load(deviation + at), floor), 1);
        const v8 a6 = larger(load(c6 + at) - error, (v8){0});
        const v8 a7 = larger(load(c7 + at) - error, (v8){0});
        const v8 r6 = a6 * a6 * whole, r7 = a7 * a7 * whole;
        m6 = larger(r6, m6);
        m7 = larger(r7, m7);
        e6 = larger(a6 * a6 * r6, e6);
        e7 = larger(a7 * a7 * r7, e7);
    }
    const v8 D6 = rough_log(m6) * (1.0 / 6), D7 = rough_log(m7) * (1.0 / 7);
    const v8 D = smaller(larger(D6, D7), (v8){0}); /* logarithms of squares */
    const v8 last = larger(rough_log(e7), rough_log(e6) + 2 * D);
    const v8 error = 0.5 * last + D - b->goal;
    const i8 none = ~(larger(e6, e7) > 0);
    *factor = choose(none, all(1000), GAUSS_AIM * rough_power(-0.0625 * error));
    return choose(none, (v8){0}, rough_power(error));
}

/* Lanes whose steps the sweeps keep short again and again (`limited`) while Newton's iteration
 * would allow much longer ones: see choose_iteration in gauss.c. */
static i8 wants_newton(ns_bundle *b, i8 accepted, i8 limited, v8 factor)
{
    if (!b->problem->jacobian)
        return (i8){0};
    const v8 slow = load(b->slow);
    const v8 next = choose(limited & (factor > LEAVE_FACTOR * b->price), slow + 1, (v8){0});
    store(b->slow, choose(accepted, next, slow));
    return accepted & (next >= PATIENCE);
}

/* Accepts or rejects, and proposes the next step. */
static void end_step(ns_bundle *b)
{
    const i8 trying = load_mask(b->trying), diverged = load_mask(b->diverged) & trying;
    v8 factor, error;
    update(b);
    error = estimate_error(b, &factor);
    i8 solved = trying & ~diverged & ~load_mask(b->refused);
    const i8 sound = not_finite(b->n, b->x_new) == 0, pass = load_mask(b->pass);
    store_mask(b->refused,
               (load_mask(b->refused) & ~trying) | (trying & ~diverged & ~(solved & sound)));
    solved &= sound;
    const i8 too_long = solved & ~pass & ~(error <= GAUSS_LIMIT);
    store_mask(b->good, solved & ~too_long);
    if (b->project)
        project(b);
    const i8 accepted = solved & ~too_long, rejected = trying & ~accepted;

    const v8 h = load(b->h), length = size_of(h), rho = load(b->slowest), base = load(b->base);
    const v8 sure = choose(pass, larger(factor, all(1)), factor);
    const v8 best = length * smaller(sure, all(2)), before = load(b->best);
    const v8 trend = choose(before > 0, best / choose(before > 0, before, all(1)), all(1));
    v8 next = best * smaller(larger(trend, all(0.5)), all(1));
    /* no longer than so many sweeps can do */
    next = smaller(next, length * rough_power(larger(load(b->reach), all(-1.7))));
    /* an error that hardly gets less in a shorter step is rounding error: let it pass */
    const v8 part = size_of(h / base), part2 = part * part;
    const i8 stubborn = too_long & (load(b->shift) == 0) & (error < b->rounding) &
                        (error > load(b->tried_error) * (part2 * part2 * part2));
    const v8 shorter = choose(stubborn, length, length * larger(factor, all(0.1)));
    const v8 slower = length * smaller(rough_power(larger(load(b->reach), all(-3))), all(0.8));
    const v8 failed = choose(diverged, slower, 0.25 * length);
    store(b->best, choose(accepted, best, before));
    store(b->rho, choose(accepted, smaller(larger(rho, all(0.01)), all(0.5)), load(b->rho)));
    store_mask(b->pass, (pass | stubborn) & ~accepted);
    store(b->tried_error, choose(too_long, error, all(INFINITY)));
    b->leave = bits(wants_newton(b, accepted, next < 0.7 * best, sure));

    /* what the next step is predicted from: this one, unless it came to nothing */
    double *const K = b->K, *const K_new = b->K_new;
    const i8 late = diverged & sound & (rho < 0.3), keep = solved | late;
    if (bits(~keep))
        for (size_t at = 0; at < 64 * (size_t)b->n; at += 8)
            store(K_new + at, choose(keep, load(K_new + at), load(K + at)));
    b->K = K_new;
    b->K_new = K;
    store(b->base, choose(keep, h, base));
    store(b->shift, choose(accepted, all(1), choose(keep, (v8){0}, load(b->shift))));
    const i8 cautious = load(b->cautious) != 0;
    settle(b, accepted, rejected, choose(accepted, next, choose(too_long, shorter, failed)),
           rejected & cautious);
    b->sweeping = false;
}

static unsigned gauss_attempt(ns_bundle *const *bundles, uint32_t count)
{
    unsigned ended = 0;
    for (uint32_t k = 0; k < count; k++)
        if (!bundles[k]->sweeping)
            begin_step(bundles[k]);
    while (!ended) {
        for (size_t i = 0; i < GAUSS_STAGES; i++)
            for (uint32_t k = 0; k < count; k++)
                sweep_stage(bundles[k], i);
        for (uint32_t k = 0; k < count; k++)
            if (!look_at_sweep(bundles[k]) && !next_part(bundles[k])) {
                end_step(bundles[k]);
                ended |= 1u << k;
            }
    }
    return ended;
}

/* ---- inside the last step ---------------------------------------------------------------- */

static uint32_t gauss_dense(ns_bundle *b)
{
    (void)b; /* K is all there is */
    return 0;
}

/* At a quarter, half and three quarters: the polynomial. */
static void gauss_inside(ns_bundle *b, double u)
{
    const double *weights = gauss_quarters[(int)(4 * u) - 1];
    v8 a[8];
    for (int j = 0; j < 8; j++)
        a[j] = all(weights[j]);
    for (size_t at = 0; at < 8 * (size_t)b->n; at += 8)
        store(b->w + at, load(b->x0 + at) + mix(a, b->K + 8 * at, (v8){0}));
    store(b->stage_t, load(b->from) + u * load(b->h));
}

const ns_bundle_kernel NS_JOIN(NS_BUNDLE, _gauss) = {
    .name = NS_BUNDLE_NAME,
    .kept = GAUSS_STAGES,
    .by_parts = true,
    .attempt = gauss_attempt,
    .dense = gauss_dense,
    .inside = gauss_inside,
    .suspects = suspects,
    .give = ns_gauss_give,
    .take = ns_gauss_take,
};

#endif
