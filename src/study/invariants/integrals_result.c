/* Linear integrals: parts, tables and formulas of what was found, rates and drifts (see
 * study/invariants/integrals.h). */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_linear.h"

static const double small = 1e-7; /* entry that counts as zero */

/* Reduced echelon form of rows[n][K] in place, pivots from the first column on. */
static void echelon(uint32_t n, uint32_t K, double *rows)
{
    uint32_t done = 0;
    for (uint32_t k = 0; k < K && done < n; k++) {
        uint32_t best = done;
        for (uint32_t i = done; i < n; i++)
            if (fabs(rows[i * K + k]) > fabs(rows[best * K + k]))
                best = i;
        if (!(fabs(rows[best * K + k]) > small))
            continue;
        for (uint32_t j = 0; j < K; j++) {
            const double swap = rows[best * K + j];
            rows[best * K + j] = rows[done * K + j];
            rows[done * K + j] = swap;
        }
        const double pivot = rows[done * K + k];
        for (uint32_t j = 0; j < K; j++)
            rows[done * K + j] /= pivot;
        for (uint32_t i = 0; i < n; i++) {
            const double part = rows[i * K + k];
            for (uint32_t j = 0; j < K && i != done; j++)
                rows[i * K + j] -= part * rows[done * K + j];
        }
        done++;
    }
}

/* Value and derivative of the series at z in [-1, 1]. */
static void series(uint32_t M, const double *a, double z, double *value, double *slope)
{
    double v = 0, d = 0, t0 = 1, t1 = z, d0 = 0, d1 = 1;
    for (uint32_t k = 0; k <= M; k++) {
        v += a[k] * t0;
        d += a[k] * d0;
        const double t2 = 2 * z * t1 - t0, d2 = 2 * t1 + 2 * z * d1 - d0;
        t0 = t1;
        t1 = t2;
        d0 = d1;
        d1 = d2;
    }
    *value = v;
    *slope = d;
}

/* ---- what was found ---------------------------------------------------------------------- */

/* The basis psi[n][K] (of phi) if B is the same at all points; NULL if not. */
static double *constant_basis(const ns_linear_work *q, const ns_linear_nodes *d)
{
    const uint32_t K = q->K, n = d->n;
    ns_arena *a = q->w->arena;
    uint32_t generic = 0;
    while (generic < d->M && d->count[generic] != n)
        generic++;
    if (generic == d->M)
        return NULL;
    double *psi = ns_arena_copy(a, d->B + (size_t)generic * K * K, (size_t)n * K * sizeof *psi);
    for (uint32_t i = 0; i < n * K; i++) /* of phi, not of phi/size */
        psi[i] /= q->size[i % K];
    for (uint32_t i = 0; i < n; i++) {
        double most = 0;
        for (uint32_t k = 0; k < K; k++)
            most = ns_max(most, fabs(psi[i * K + k]));
        for (uint32_t k = 0; k < K; k++)
            psi[i * K + k] /= most;
    }
    echelon(n, K, psi);
    for (uint32_t i = 0; i < n * K; i++) /* rounding errors of whole numbers */
        psi[i] = fabs(psi[i] - round(psi[i])) < 1e-9 ? round(psi[i]) : psi[i];
    for (uint32_t j = 0; j <= d->M; j++)
        for (uint32_t i = 0; i < n; i++) { /* is each psi a combination of the rows of B_j? */
            double off = 0, size = 0;
            double *v = NS_NEW_ARRAY(a, double, K);
            for (uint32_t k = 0; k < K; k++) {
                v[k] = psi[i * K + k] * q->size[k];
                size = ns_math_hypot(size, v[k]);
            }
            for (uint32_t l = 0; l < d->count[j]; l++) {
                const double *row = d->B + ((size_t)j * K + l) * K;
                const double part = ns_linear_dot(K, row, v);
                for (uint32_t k = 0; k < K; k++)
                    v[k] -= part * row[k];
            }
            for (uint32_t k = 0; k < K; k++)
                off = ns_math_hypot(off, v[k]);
            if (off > small * size)
                return NULL;
        }
    return psi;
}

static const char *psi_text(const ns_linear_work *q, const double *psi)
{
    ns_text text = ns_text_new(q->w->arena);
    for (uint32_t k = 0; k < q->K; k++) {
        const double c = psi[k];
        if (fabs(c) < small)
            continue;
        ns_text_addf(&text, "%s", text.length ? c < 0 ? " - " : " + " : c < 0 ? "-" : "");
        if (fabs(c) != 1)
            ns_text_addf(&text, "%.15g*", fabs(c));
        ns_text_addf(&text, "%s", ns_integrals_term_text(q->w, q->term[k]));
    }
    return ns_text_string(&text);
}

/* c in terms of phi or psi. */
static void write_parts(ns_linear_work *q, const ns_linear_nodes *d)
{
    const uint32_t K = q->K, P = d->M + 1;
    ns_arena *a = q->w->arena;
    ns_linear_integrals *r = q->r;
    const double *psi = constant_basis(q, d);
    r->constant = psi != NULL;
    r->parts = psi ? d->n : K;
    r->part = NS_NEW_ARRAY(a, const char *, r->parts + 1);
    r->c = NS_NEW_ARRAY(a, double, (size_t)r->found * r->parts * P + 1);
    for (uint32_t i = 0; i < r->parts; i++)
        r->part[i] = psi ? psi_text(q, psi + (size_t)i * K)
                         : ns_integrals_term_text(q->w, q->term[i]);
    for (uint32_t f = 0; f < r->found; f++)
        for (uint32_t i = 0; i < r->parts; i++) {
            uint32_t k = psi ? 0 : i;
            while (psi && psi[i * K + k] != 1) /* its pivot */
                k++;
            for (uint32_t j = 0; j < P; j++)
                r->c[((size_t)f * r->parts + i) * P + j] = d->c[((size_t)f * K + k) * P + j] /
                                                           q->size[k];
        }
}

/* Combinations for which the coefficients at the middle point are a unit matrix, as far as
 * possible. */
static void normalise(const ns_linear_work *q, ns_linear_nodes *d)
{
    ns_linear_integrals *r = q->r;
    const uint32_t K = r->parts, P = d->M + 1, f = d->found, middle = d->M / 2, wide = K + f;
    ns_arena *a = q->w->arena;
    double *rows = NS_NEW_ARRAY(a, double, (size_t)f * wide + 1); /* [ c(middle) | 1 ] */
    for (uint32_t i = 0; i < f; i++) {
        double most = 0;
        for (uint32_t k = 0; k < K; k++)
            most = ns_max(most, fabs(r->c[((size_t)i * K + k) * P + middle]));
        for (uint32_t k = 0; k < K; k++)
            rows[i * wide + k] = r->c[((size_t)i * K + k) * P + middle] / most;
        rows[i * wide + K + i] = 1 / most;
    }
    echelon(f, wide, rows);
    double *to[2] = {r->c, d->c};
    const uint32_t size[2] = {K * P, q->K * P};
    for (int which = 0; which < 2; which++) {
        double *old = ns_arena_copy(a, to[which], (size_t)f * size[which] * sizeof *old);
        memset(to[which], 0, (size_t)f * size[which] * sizeof *old);
        for (uint32_t i = 0; i < f; i++)
            for (uint32_t j = 0; j < f; j++)
                for (uint32_t k = 0; k < size[which]; k++)
                    to[which][(size_t)i * size[which] + k] += rows[i * wide + K + j] *
                                                              old[(size_t)j * size[which] + k];
    }
}

static const char *integral_text(const ns_linear_work *q, uint32_t f)
{
    const ns_linear_integrals *r = q->r;
    const uint32_t P = r->points, M = P - 1;
    ns_arena *arena = q->w->arena;
    ns_text text = ns_text_new(arena);
    double *a = NS_NEW_ARRAY(arena, double, P);
    const char *z = ns_arena_format(arena, "acos((%s - %.17g)/%.17g)", r->along.name,
                                    0.5 * (r->low + r->high), 0.5 * (r->high - r->low));
    for (uint32_t i = 0; i < r->parts; i++) {
        double most = 0;
        ns_linear_coefficients(M, r->c + ((size_t)f * r->parts + i) * P, a);
        for (uint32_t k = 0; k < P; k++)
            most = ns_max(most, fabs(a[k]));
        uint32_t last = P;
        while (last > 1 && fabs(a[last - 1]) < 1e-16 * most)
            last--;
        if (most == 0)
            continue;
        ns_text_addf(&text, "%s(%.17g", text.length ? " + " : "", a[0]);
        for (uint32_t k = 1; k < last; k++)
            ns_text_addf(&text, " %c %.17g*cos(%u*%s)", a[k] < 0 ? '-' : '+', fabs(a[k]), k, z);
        ns_text_addf(&text, ")*(%s)", r->part[i]);
    }
    return ns_text_string(&text);
}

/* I, I' and the sizes of their terms at a state; false if u is out of range. */
static bool value_at(const ns_linear_work *q, const ns_linear_nodes *d, const double *a,
                     uint32_t f, const double *x, double out[4])
{
    ns_integrals_work *w = q->w;
    const ns_linear_integrals *r = q->r;
    const uint32_t P = d->M + 1;
    ns_arena *scratch = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *u = NS_NEW_ARRAY(scratch, double, w->flow->n + 3);
    double *atom = NS_NEW_ARRAY(scratch, double, 2 * (size_t)w->atoms + 1);
    ns_flow_eval(w->flow, q->variable, x, u);
    ns_flow_eval(w->flow, w->rates, x, atom);
    const double half = 0.5 * (r->high - r->low), z = (u[0] - 0.5 * (r->low + r->high)) / half;
    memset(out, 0, 4 * sizeof *out);
    for (uint32_t k = 0; k < q->K; k++) {
        double value, rate, c, slope;
        ns_integrals_term(w, q->term[k], atom, &value, &rate);
        series(d->M, a + ((size_t)f * q->K + k) * P, z, &c, &slope);
        const double one = slope / half * u[1] * value, two = c * rate;
        out[0] += c * value / q->size[k];
        out[1] += (one + two) / q->size[k];
        out[2] += fabs(c * value) / q->size[k];
        out[3] += (fabs(one) + fabs(two)) / q->size[k];
    }
    ns_arena_release(scratch, mark);
    return fabs(z) <= 1 + 1e-9;
}

static void follow(ns_linear_work *q, const ns_linear_nodes *d, const double *a,
                   const double *x0, bool own)
{
    enum { STEPS = 3000 };
    ns_integrals_work *w = q->w;
    ns_linear_integrals *r = q->r;
    ns_status status = NS_OK;
    const char *message = "";
    ns_run *run = ns_run_new(w->flow->problem, w->run, w->flow->p, x0, &status, &message);
    if (!run && status == NS_ERR_MEMORY)
        ns_arena_exhausted(w->flow->arena);
    const double t = w->flow->t;
    double *first = NS_NEW_ARRAY(w->arena, double, r->found + 1), out[4];
    for (int k = 0; run && k < STEPS; k++) {
        bool inside = true;
        w->flow->t = ns_run_time(run);
        for (uint32_t f = 0; f < r->found && inside; f++) {
            inside = value_at(q, d, a, f, ns_run_state(run), out);
            if (!k)
                first[f] = out[0];
            if (!k && own)
                r->value[f] = out[0];
            if (inside)
                r->drift[f] = ns_max(r->drift[f],
                                     fabs(out[0] - first[f]) / ns_max(out[2], 1e-300));
        }
        if (!inside || ns_run_time(run) == w->run->until || ns_run_step(run) != NS_OK)
            break;
    }
    if (run)
        ns_run_free(run);
    w->flow->t = t;
}

/* Rank of the differentials by the velocities: how many are independent functions. */
static uint32_t rank_at(const ns_linear_work *q, const ns_linear_nodes *d, const double *a,
                        const double *x)
{
    ns_integrals_work *w = q->w;
    const ns_linear_integrals *r = q->r;
    const uint32_t P = d->M + 1, n = w->flow->n;
    ns_arena *s = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(s);
    double *u = NS_NEW_ARRAY(s, double, n + 3), *N = NS_NEW_ARRAY(s, double, (size_t)n * n + 1);
    double *atom = NS_NEW_ARRAY(s, double, 2 * (size_t)w->atoms + 1);
    double *slope = NS_NEW_ARRAY(s, double, (size_t)w->atoms * n + 1);
    double *G = NS_NEW_ARRAY(s, double, (size_t)r->found * n + 1);
    double *full = NS_NEW_ARRAY(s, double, n + 1),
                                *sigma = NS_NEW_ARRAY(s, double, r->found + n);
    const double half = 0.5 * (r->high - r->low);
    ns_flow_eval(w->flow, q->variable, x, u);
    ns_flow_eval(w->flow, w->rates, x, atom);
    ns_flow_eval(w->flow, w->slopes, x, slope);
    const uint32_t dimension = ns_flow_tangent(w->flow, x, N);
    for (uint32_t f = 0; f < r->found; f++) {
        memset(full, 0, n * sizeof *full);
        for (uint32_t k = 0; k < q->K; k++) {
            double c, dc, value = 0, rate = 0;
            series(d->M, a + ((size_t)f * q->K + k) * P,
                   (u[0] - 0.5 * (r->low + r->high)) / half, &c, &dc);
            for (uint32_t i = 0; i < w->atoms; i++) { /* d phi/d(atom i) */
                for (uint32_t j = 0; j < w->atoms; j++)
                    atom[w->atoms + j] = i == j;
                ns_integrals_term(w, q->term[k], atom, &value, &rate);
                for (uint32_t j = 0; j < n; j++)
                    full[j] += c * rate * slope[(size_t)i * n + j] / q->size[k];
            }
            for (uint32_t j = 0; j < n; j++)
                full[j] += dc / half * value * u[2 + j] / q->size[k];
        }
        double length = 0;
        for (uint32_t e = 0; e < dimension; e++) {
            G[(size_t)f * n + e] = ns_linear_dot(n, N + (size_t)e * n, full);
            length = ns_math_hypot(length, G[(size_t)f * n + e]);
        }
        for (uint32_t e = 0; e < dimension && length > 0; e++)
            G[(size_t)f * n + e] /= length;
    }
    ns_dense_svd(s, r->found, n, G, sigma, NULL);
    uint32_t rank = 0;
    while (rank < r->found && rank < n && sigma[rank] > small)
        rank++;
    ns_arena_release(s, mark);
    return rank;
}

static void verify(ns_linear_work *q, const ns_linear_nodes *d)
{
    enum { STATES = 60, OTHERS = 2 };
    ns_integrals_work *w = q->w;
    ns_linear_integrals *r = q->r;
    const uint32_t P = d->M + 1;
    double *a = NS_NEW_ARRAY(w->arena, double, (size_t)r->found * q->K * P + 1), out[4];
    double *x = NS_NEW_ARRAY(w->arena, double, w->flow->n + 1), worst = 0, most = 0;
    for (uint32_t i = 0; i < r->found * q->K; i++)
        ns_linear_coefficients(d->M, d->c + (size_t)i * P, a + (size_t)i * P);
    uint32_t others = 0;
    r->drift = NS_NEW_ARRAY(w->arena, double, r->found + 1);
    r->value = NS_NEW_ARRAY(w->arena, double, r->found + 1);
    uint64_t seed = 1905;
    for (int s = 0; s < STATES && ns_sampler_next(w->sampler, x); s++) {
        if (!ns_linear_go_to(q, r->low + (r->high - r->low) * ns_eval_random(&seed), x))
            continue;
        const uint32_t rank = rank_at(q, d, a, x);
        r->rank = rank > r->rank ? rank : r->rank;
        for (uint32_t f = 0; f < r->found; f++) {
            value_at(q, d, a, f, x, out);
            worst = ns_max(worst, fabs(out[1]));
            most = ns_max(most, out[3]);
            if (!f && others < OTHERS) {
                others++;
                follow(q, d, a, x, false);
            }
        }
    }
    r->rate = most > 0 ? worst / most : NAN;
    follow(q, d, a, w->x0, true);
}

void ns_linear_result(ns_linear_work *q, ns_linear_nodes *d)
{
    ns_linear_integrals *r = q->r;
    ns_arena *arena = q->w->arena;
    r->u = NS_NEW_ARRAY(arena, double, r->points);
    for (uint32_t j = 0; j < r->points; j++)
        r->u[j] = 0.5 * (r->low + r->high) + 0.5 * (r->high - r->low) * d->z[j];
    write_parts(q, d);
    normalise(q, d);
    r->text = NS_NEW_ARRAY(arena, const char *, r->found);
    for (uint32_t f = 0; f < r->found; f++)
        r->text[f] = integral_text(q, f);
    verify(q, d);
}
