/* The space of functions in which integrals are looked for, and those of its combinations that
 * do not change:
 *
 *   phi = Q R       columns of values at N states, made orthonormal in the order of their
 *                   degree;
 *                   a column that depends on earlier ones is left out (a relation on the
 *                   manifold)
 *   W = phi' R^-1   rates of the orthonormal functions; W v = 0 for integrals v, by SVD */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_internal.h"

static const double dependent = 1e-9; /* part of a column that earlier ones do not give */
static const double vanishes =
    1e-8; /* singular value of an integral, relative to the largest */

/* ---- terms ------------------------------------------------------------------------------- */

/* Exponents of all products of degree <= d of n variables, by degree: [count][n]. */
static uint8_t *products(ns_arena *a, uint32_t n, uint32_t d, uint32_t *count)
{
    NS_LIST(uint8_t *) list = {0};
    NS_PUSH(a, list, NS_NEW_ARRAY(a, uint8_t, n + 1));
    uint32_t begin = 0;
    for (uint32_t degree = 1; degree <= d && n; degree++) {
        const uint32_t end = list.n;
        for (uint32_t k = begin; k < end; k++) { /* by one factor more, not before the last */
            uint32_t last = n;
            while (last > 0 && !list.at[k][last - 1])
                last--;
            for (uint32_t i = last ? last - 1 : 0; i < n; i++) {
                uint8_t *next = ns_arena_copy(a, list.at[k], n + 1);
                next[i]++;
                NS_PUSH(a, list, next);
            }
        }
        begin = end;
    }
    *count = list.n;
    uint8_t *out = NS_NEW_ARRAY(a, uint8_t, (size_t)list.n * n + 1);
    for (uint32_t k = 0; k < list.n; k++)
        memcpy(out + (size_t)k * n, list.at[k], n);
    return out;
}

uint32_t ns_integrals_degree(const uint8_t *power, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += power[i];
    return sum;
}

static void make_terms(ns_integrals_work *w)
{
    const ns_family *f = w->family;
    const uint32_t nv = f->velocity.n, ns = f->shape.n;
    uint32_t count_v, count_s;
    const uint8_t *in_v = products(w->arena, nv, f->degree_velocity, &count_v);
    const uint8_t *in_s = products(w->arena, ns, f->degree_shape, &count_s);
    w->atoms = nv + ns + f->single.n;
    w->atom = NS_NEW_ARRAY(w->arena, ns_atom, w->atoms + 1);
    for (uint32_t i = 0; i < w->atoms; i++)
        w->atom[i] = i < nv        ? f->velocity.at[i]
                     : i < nv + ns ? f->shape.at[i - nv]
                                   : f->single.at[i - nv - ns];
    w->power = NS_NEW_ARRAY(w->arena, uint8_t,
                            ((size_t)count_v * count_s + f->single.n) * w->atoms + 1);
    for (uint32_t dv = 0; dv <= f->degree_velocity; dv++)
        for (uint32_t ds = 0; ds <= f->degree_shape; ds++)
            for (uint32_t s = 0; s < count_s; s++)
                for (uint32_t v = 0; v < count_v; v++) {
                    if (ns_integrals_degree(in_v + (size_t)v * nv, nv) != dv ||
                        ns_integrals_degree(in_s + (size_t)s * ns, ns) != ds)
                        continue;
                    uint8_t *power = w->power + (size_t)w->terms++ * w->atoms;
                    memcpy(power, in_v + (size_t)v * nv, nv);
                    memcpy(power + nv, in_s + (size_t)s * ns, ns);
                }
    for (uint32_t i = f->single.n; i-- > 0;) /* the energy last */
        w->power[(size_t)w->terms++ * w->atoms + nv + ns + i] = 1;
}

void ns_integrals_term(const ns_integrals_work *w, uint32_t term, const double *atom,
                       double *value, double *rate)
{
    const uint8_t *power = w->power + (size_t)term * w->atoms;
    const double *change = atom + w->atoms;
    double v = 1, d = 0; /* (v u^e)' = v' u^e + v e u^(e-1) u' */
    for (uint32_t i = 0; i < w->atoms; i++)
        for (uint32_t k = 0; k < power[i]; k++) {
            d = d * atom[i] + v * change[i];
            v *= atom[i];
        }
    *value = v;
    *rate = w->weight ? d + w->factor * atom[2 * w->atoms] * v : d;
}

/* ---- samples ----------------------------------------------------------------------------- */

static void make_programs(ns_integrals_work *w)
{
    const ns_system *s = w->flow->system;
    const uint32_t n = w->flow->n, a = w->atoms;
    ns_ex *x = ns_system_state_symbols(s, w->arena), *dx = ns_system_state_rates(s, w->arena);
    ns_ex *out = NS_NEW_ARRAY(w->arena, ns_ex, 2 * (size_t)a + 2);
    ns_ex *slope = NS_NEW_ARRAY(w->arena, ns_ex, (size_t)a * n + 1);
    uint32_t nx = n;
    if (s->time) {
        x[nx] = s->time;
        dx[nx++] = ns_one(s->graph);
    }
    for (uint32_t i = 0; i < a; i++)
        out[i] = w->atom[i].value;
    ns_diff_along(s->graph, out, a, x, dx, nx, out + a);
    ns_diff_jacobian(s->graph, out, a, x, n, slope);
    out[2 * a] = w->weight;
    w->rates = ns_flow_program_new(w->flow, out, 2 * a + (w->weight ? 1 : 0), NULL, 0);
    w->slopes = ns_flow_program_new(w->flow, slope, a * n, NULL, 0);
}

void ns_integrals_prepare(ns_integrals_work *w)
{
    make_terms(w);
    make_programs(w);
}

static bool all_finite(const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool take_samples(ns_integrals_work *w, const ns_integrals_options *o,
                         const char **message)
{
    const uint32_t n = w->flow->n;
    double *atom = NS_NEW_ARRAY(w->arena, double, 2 * (size_t)w->atoms + 1);
    w->x = NS_NEW_ARRAY(w->arena, double, (size_t)w->N * n + 1);
    w->t = NS_NEW_ARRAY(w->arena, double, w->N);
    w->phi = NS_NEW_ARRAY(w->arena, double, (size_t)w->terms * w->N);
    w->dphi = NS_NEW_ARRAY(w->arena, double, (size_t)w->terms * w->N);
    w->divergence = NS_NEW_ARRAY(w->arena, double, w->N);
    for (uint32_t s = 0; s < w->N; s++) {
        double *x = w->x + (size_t)s * n;
        bool good = false;
        for (int k = 0; k < 4 && !good; k++) {
            good = ns_sampler_next(w->sampler, x);
            if (good)
                ns_flow_eval(w->flow, w->rates, x, atom);
            good = good && all_finite(atom, w->rates->outputs);
        }
        if (!good) {
            *message = "no states were found on the manifold near the run";
            return false;
        }
        w->t[s] = w->flow->t;
        w->divergence[s] = w->weight ? atom[2 * w->atoms] : 0;
        for (uint32_t k = 0; k < w->terms; k++)
            ns_integrals_term(w, k, atom, &w->phi[(size_t)k * w->N + s],
                              &w->dphi[(size_t)k * w->N + s]);
        if (o->progress && !o->progress(o->context, 0.3 * s / w->N)) {
            *message = "interrupted";
            return false;
        }
    }
    return true;
}

/* ---- orthonormal functions and their rates ----------------------------------------------- */

void ns_integrals_subtract(uint32_t n, double factor, const double *a, double *b)
{
    for (uint32_t i = 0; i < n; i++)
        b[i] -= factor * a[i];
}

double ns_integrals_orthogonalise(const ns_integrals_work *w, double *v, double *a)
{
    memset(a, 0, w->kept * sizeof *a);
    for (int round = 0; round < 2; round++) /* twice is enough */
        for (uint32_t j = 0; j < w->kept; j++) {
            const double part = ns_dense_dot(w->N, w->Q + (size_t)j * w->N, v);
            a[j] += part;
            ns_integrals_subtract(w->N, part, w->Q + (size_t)j * w->N, v);
        }
    return sqrt(ns_dense_dot(w->N, v, v));
}

static bool make_orthonormal(ns_integrals_work *w, const ns_integrals_options *o)
{
    const uint32_t K = w->terms, N = w->N;
    w->column = NS_NEW_ARRAY(w->arena, uint32_t, K);
    w->size = NS_NEW_ARRAY(w->arena, double, K);
    w->Q = NS_NEW_ARRAY(w->arena, double, (size_t)K * N);
    w->R = NS_NEW_ARRAY(w->arena, double, (size_t)K * K);
    double *a = NS_NEW_ARRAY(w->arena, double, K + 1);
    for (uint32_t k = 0; k < K; k++) {
        double *v = w->Q + (size_t)w->kept * N;
        memcpy(v, w->phi + (size_t)k * N, N * sizeof *v);
        const double size = sqrt(ns_dense_dot(N, v, v));
        if (!(size > 0) || !isfinite(size))
            continue;
        for (uint32_t i = 0; i < N; i++)
            v[i] /= size;
        const double rest = ns_integrals_orthogonalise(w, v, a);
        if (rest < dependent)
            continue;
        for (uint32_t i = 0; i < N; i++)
            v[i] /= rest;
        for (uint32_t j = 0; j < w->kept; j++)
            w->R[(size_t)j * K + w->kept] = a[j];
        w->R[(size_t)w->kept * K + w->kept] = rest;
        w->size[w->kept] = size;
        w->column[w->kept++] = k;
        if (o->progress && !o->progress(o->context, 0.3 + 0.1 * k / K))
            return false;
    }
    return true;
}

void ns_integrals_coefficients(const ns_integrals_work *w, const double *a, double *c)
{
    for (uint32_t k = w->kept; k-- > 0;) {
        double sum = a[k];
        for (uint32_t j = k + 1; j < w->kept; j++)
            sum -= w->R[(size_t)k * w->terms + j] * c[j];
        c[k] = sum / w->R[(size_t)k * w->terms + k];
    }
}

static void make_rates(ns_integrals_work *w)
{
    const uint32_t N = w->N, K = w->terms;
    w->rate_Q = NS_NEW_ARRAY(w->arena, double, (size_t)w->kept * N);
    for (uint32_t k = 0; k < w->kept; k++) {
        double *v = w->rate_Q + (size_t)k * N;
        const double *rate = w->dphi + (size_t)w->column[k] * N;
        for (uint32_t i = 0; i < N; i++)
            v[i] = rate[i] / w->size[k];
        for (uint32_t j = 0; j < k; j++)
            ns_integrals_subtract(N, w->R[(size_t)j * K + k], w->rate_Q + (size_t)j * N, v);
        for (uint32_t i = 0; i < N; i++)
            v[i] /= w->R[(size_t)k * K + k];
    }
}

uint32_t ns_integrals_first(const ns_integrals_work *w)
{
    return w->weight ? 0 : 1;
}

double *ns_integrals_null_space(ns_integrals_work *w, ns_integrals *r)
{
    const uint32_t N = w->N, first = ns_integrals_first(w);
    ns_arena *scratch = w->flow->scratch;
    const uint32_t n = w->kept - first;
    double *Z = NS_NEW_ARRAY(w->arena, double, (size_t)(n + 1) * w->kept + 1);
    r->n = n;
    r->sigma = NS_NEW_ARRAY(w->arena, double, n + 1);
    if (!n)
        return Z;
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *rows = NS_NEW_ARRAY(scratch, double, (size_t)N * n);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < n; k++) {
            const size_t at = (size_t)(k + first) * N + i;
            rows[(size_t)i * n + k] = w->rate_Q[at] + w->factor * w->divergence[i] * w->Q[at];
        }
    double *sigma = NS_NEW_ARRAY(scratch, double, n);
    double *V = NS_NEW_ARRAY(scratch, double, (size_t)n * n);
    double *a = NS_NEW_ARRAY(scratch, double, w->kept);
    ns_dense_svd(scratch, N, n, rows, sigma, V);
    for (uint32_t k = 0; k < n; k++)
        r->sigma[k] = sigma[n - 1 - k];
    while (r->zero < n && r->sigma[r->zero] <= vanishes * r->sigma[n - 1])
        r->zero++;
    for (uint32_t z = 0; z < r->zero; z++) {
        memset(a, 0, w->kept * sizeof *a);
        memcpy(a + first, V + (size_t)(n - 1 - z) * n, n * sizeof *a);
        ns_integrals_coefficients(w, a, Z + (size_t)z * w->kept);
    }
    const double floor = 1e-16 * r->sigma[n - 1];
    if (r->zero < n)
        r->margin = r->sigma[r->zero] / ns_max(r->zero ? r->sigma[r->zero - 1] : 0, floor);
    else
        r->margin = INFINITY;
    ns_arena_release(scratch, mark);
    return Z;
}

bool ns_integrals_sample(ns_integrals_work *w, const ns_integrals_options *o,
                         const char **message)
{
    ns_integrals_prepare(w);
    w->N = 2 * w->terms + 60;
    if (o->states > w->terms + 10)
        w->N = o->states;
    w->sampler = ns_sampler_new(w->flow, &o->run, w->x0, message);
    if (!w->sampler || !take_samples(w, o, message))
        return false;
    *message = "interrupted";
    if (!make_orthonormal(w, o))
        return false;
    make_rates(w);
    return true;
}
