/* The search for integrals in a family of functions (see study/integrals.h):
 *
 *   phi = Q R       columns of values at N states, made orthonormal in the order of their degree;
 *                   a column that depends on earlier ones is left out (a relation on the manifold)
 *   W = phi' R^-1   rates of the orthonormal functions; W v = 0 for integrals v, by SVD
 *
 * The null space is brought to echelon form, with pivots at the highest functions first, so that its last
 * rows are the integrals of lowest degree with the fewest terms.  They are taken one by one from the
 * lowest; energy, what was found before, and all products of these that lie in the family are divided
 * out first. */
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "mech/dense.h"
#include "study/integrals_internal.h"

static const double dependent = 1e-9; /* part of a column that earlier ones do not give */
static const double vanishes =
    1e-8;                         /* singular value of an integral, relative to the largest */
static const double small = 1e-6; /* entry of an echelon form that counts as zero */

/* ---- terms ---------------------------------------------------------------------------------- */

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

static uint32_t degree_of(const uint8_t *power, uint32_t n)
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
                    if (degree_of(in_v + (size_t)v * nv, nv) != dv ||
                        degree_of(in_s + (size_t)s * ns, ns) != ds)
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

/* ---- samples -------------------------------------------------------------------------------- */

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
        if (o->progress && !o->progress(o->context, 0.4 * s / w->N)) {
            *message = "stopped";
            return false;
        }
    }
    return true;
}

/* ---- orthonormal functions and their rates -------------------------------------------------- */

static void subtract(uint32_t n, double factor, const double *a, double *b)
{
    for (uint32_t i = 0; i < n; i++)
        b[i] -= factor * a[i];
}

/* Coefficients a[kept] of a column in the orthonormal functions; what is left of it stays in v. */
static double orthogonalise(const ns_integrals_work *w, double *v, double *a)
{
    memset(a, 0, w->kept * sizeof *a);
    for (int round = 0; round < 2; round++) /* twice is enough */
        for (uint32_t j = 0; j < w->kept; j++) {
            const double part = ns_dense_dot(w->N, w->Q + (size_t)j * w->N, v);
            a[j] += part;
            subtract(w->N, part, w->Q + (size_t)j * w->N, v);
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
        const double rest = orthogonalise(w, v, a);
        if (rest < dependent)
            continue;
        for (uint32_t i = 0; i < N; i++)
            v[i] /= rest;
        for (uint32_t j = 0; j < w->kept; j++)
            w->R[(size_t)j * K + w->kept] = a[j];
        w->R[(size_t)w->kept * K + w->kept] = rest;
        w->size[w->kept] = size;
        w->column[w->kept++] = k;
        if (o->progress && !o->progress(o->context, 0.4 + 0.3 * k / K))
            return false;
    }
    return true;
}

/* c = R^-1 a: coefficients of phi/size */
static void back_substitute(const ns_integrals_work *w, const double *a, double *c)
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
            subtract(N, w->R[(size_t)j * K + k], w->rate_Q + (size_t)j * N, v);
        for (uint32_t i = 0; i < N; i++)
            v[i] /= w->R[(size_t)k * K + k];
    }
}

/* The constant is an integral, and counts among functions only if there is a weight. */
static uint32_t first_of(const ns_integrals_work *w)
{
    return w->weight ? 0 : 1;
}

/* Singular values, ascending, and rows Z[zero][kept] of coefficients of the null space. */
static double *null_space(ns_integrals_work *w, ns_integrals *r)
{
    const uint32_t N = w->N, first = first_of(w);
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
        back_substitute(w, a, Z + (size_t)z * w->kept);
    }
    const double floor = 1e-16 * r->sigma[n - 1];
    if (r->zero < n)
        r->margin = r->sigma[r->zero] / fmax(r->zero ? r->sigma[r->zero - 1] : 0, floor);
    else
        r->margin = INFINITY;
    ns_arena_release(scratch, mark);
    return Z;
}

/* ---- echelon forms -------------------------------------------------------------------------- */

typedef struct echelon {
    uint32_t n;      /* rows */
    double *row;     /* [n][kept] */
    uint32_t *pivot; /* [n] columns, decreasing */
} echelon;

static double largest(const ns_integrals_work *w, const double *row)
{
    double most = 0;
    for (uint32_t k = first_of(w); k < w->kept; k++)
        most = fmax(most, fabs(row[k]));
    return most;
}

/* Subtracts rows of e from `row` until it vanishes at their pivots. */
static void reduce(const echelon *e, uint32_t kept, double *row)
{
    for (uint32_t i = 0; i < e->n; i++) {
        const double part = row[e->pivot[i]];
        for (uint32_t k = 0; k < kept; k++)
            row[k] -= part * e->row[(size_t)i * kept + k];
        row[e->pivot[i]] = 0;
    }
}

/* Reduced echelon form of rows[n][kept] modulo `apart`, pivots from the last column on. */
static echelon echelon_of(ns_integrals_work *w, const double *rows, uint32_t n,
                          const echelon *apart)
{
    const uint32_t kept = w->kept;
    echelon e = {.row = NS_NEW_ARRAY(w->arena, double, (size_t)n * kept + 1),
                                     .pivot = NS_NEW_ARRAY(w->arena, uint32_t, n + 1)};
    double *left = NS_NEW_ARRAY(w->arena, double, (size_t)n * kept + 1);
    uint32_t rest = 0;
    for (uint32_t i = 0; i < n; i++) {
        double *row = left + (size_t)rest * kept;
        memcpy(row, rows + (size_t)i * kept, kept * sizeof *row);
        const double before = largest(w, row);
        if (apart)
            reduce(apart, kept, row);
        const double after = largest(w, row);
        if (!(after > small * before))
            continue;
        for (uint32_t k = 0; k < kept; k++)
            row[k] /= after;
        rest++;
    }
    for (uint32_t k = kept; k-- > first_of(w) && rest;) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < rest; i++)
            if (fabs(left[(size_t)i * kept + k]) > fabs(left[(size_t)best * kept + k]))
                best = i;
        double *row = left + (size_t)best * kept;
        if (!(fabs(row[k]) > small * largest(w, row)))
            continue;
        double *out = e.row + (size_t)e.n * kept;
        const double pivot = row[k];
        for (uint32_t j = 0; j < kept; j++)
            out[j] = row[j] / pivot;
        out[k] = 1;
        if (best != --rest)
            memcpy(row, left + (size_t)rest * kept, kept * sizeof *row);
        for (uint32_t i = 0; i < rest + e.n; i++) {
            double *other = i < rest ? left + (size_t)i * kept
                                     : e.row + (size_t)(i - rest) * kept;
            const double part = other[k];
            for (uint32_t j = 0; j < kept; j++)
                other[j] -= part * out[j];
            other[k] = 0;
        }
        e.pivot[e.n++] = k;
        for (uint32_t i = 0; i < rest;) { /* rows that were combinations are gone */
            double *other = left + (size_t)i * kept;
            if (largest(w, other) > small) {
                i++;
                continue;
            }
            if (i != --rest)
                memcpy(other, left + (size_t)rest * kept, kept * sizeof *other);
        }
    }
    return e;
}

/* ---- what is known -------------------------------------------------------------------------- */

typedef struct known {
    const char *name;
    double *value; /* [N] centred */
    double *slope; /* [PLACES][n] gradient along the manifold; NULL for products */
} known;

typedef struct catalogue {
    NS_LIST(known) base;   /* independent ones */
    NS_LIST(double *) row; /* coefficients of all that is set apart */
    NS_LIST(const char *) name;
} catalogue;

enum { PLACES = 6 }; /* states at which gradients are compared */

/* Gradient of sum_k c_k phi_k/size_k at sample s, along the manifold. */
static void gradient(ns_integrals_work *w, const double *c, uint32_t s, double *out)
{
    const uint32_t n = w->flow->n, a = w->atoms;
    ns_arena *scratch = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *atom = NS_NEW_ARRAY(scratch, double, 2 * (size_t)a + 1);
    double *slope = NS_NEW_ARRAY(scratch, double, (size_t)a * n + 1);
    double *N = NS_NEW_ARRAY(scratch, double, (size_t)n * n + 1);
    double *full = NS_NEW_ARRAY(scratch, double, n + 1);
    const double *x = w->x + (size_t)s * n;
    w->flow->t = w->t[s];
    ns_flow_eval(w->flow, w->rates, x, atom);
    ns_flow_eval(w->flow, w->slopes, x, slope);
    for (uint32_t i = 0; i < a; i++) { /* d/d(atom i): the rate with atom' = 1 */
        double sum = 0, value, rate;
        for (uint32_t j = 0; j < a; j++)
            atom[a + j] = i == j;
        for (uint32_t k = 0; k < w->kept; k++) {
            if (c[k] == 0 || !w->power[(size_t)w->column[k] * a + i])
                continue;
            ns_integrals_term(w, w->column[k], atom, &value, &rate);
            sum += c[k] / w->size[k] * rate;
        }
        for (uint32_t j = 0; j < n; j++)
            full[j] += sum * slope[(size_t)i * n + j];
    }
    const uint32_t dimension = ns_flow_tangent(w->flow, x, N);
    memset(out, 0, n * sizeof *out);
    for (uint32_t d = 0; d < dimension; d++)
        out[d] = ns_dense_dot(n, N + (size_t)d * n, full);
    const double length = sqrt(ns_dense_dot(dimension, out, out));
    for (uint32_t d = 0; d < dimension && length > 0; d++)
        out[d] /= length;
    ns_arena_release(scratch, mark);
}

static void values_of(const ns_integrals_work *w, const double *c, double *value)
{
    double mean = 0;
    memset(value, 0, w->N * sizeof *value);
    for (uint32_t k = 0; k < w->kept; k++)
        if (c[k] != 0)
            subtract(w->N, -c[k] / w->size[k], w->phi + (size_t)w->column[k] * w->N, value);
    for (uint32_t i = 0; i < w->N; i++)
        mean += value[i] / w->N;
    for (uint32_t i = 0; i < w->N; i++)
        value[i] -= mean;
}

/* Are the differentials of the base and of this function dependent at all places? */
static bool depends(ns_integrals_work *w, const catalogue *k, const double *slope)
{
    const uint32_t n = w->flow->n, m = k->base.n + 1;
    if (m == 1)
        return false;
    if (m > n)
        return true;
    double *A = NS_NEW_ARRAY(w->arena, double, (size_t)m * n);
    double *sigma = NS_NEW_ARRAY(w->arena, double, m + n);
    for (uint32_t s = 0; s < PLACES; s++) {
        for (uint32_t i = 0; i + 1 < m; i++)
            memcpy(A + (size_t)i * n, k->base.at[i].slope + (size_t)s * n, n * sizeof *A);
        memcpy(A + (size_t)(m - 1) * n, slope + (size_t)s * n, n * sizeof *A);
        ns_dense_svd(w->arena, m, n, A, sigma, NULL);
        if (sigma[m - 1] > small)
            return false;
    }
    return true;
}

/* A column of values: its coefficients, if it lies in the family. */
static double *row_of(ns_integrals_work *w, const double *value)
{
    double *v = ns_arena_copy(w->arena, value, w->N * sizeof *v);
    double *a = NS_NEW_ARRAY(w->arena, double, w->kept + 1);
    double *c = NS_NEW_ARRAY(w->arena, double, w->kept + 1);
    const double size = sqrt(ns_dense_dot(w->N, v, v));
    if (!(orthogonalise(w, v, a) < 1e-8 * size))
        return NULL;
    back_substitute(w, a, c);
    c[0] = 0;
    return c;
}

/* Adds an integral and all its products with those there are, as long as they lie in the family. */
static void add_known(ns_integrals_work *w, catalogue *k, const char *name, const double *c,
                      const double *slope)
{
    enum { MOST = 200 };
    double *value = NS_NEW_ARRAY(w->arena, double, w->N);
    values_of(w, c, value);
    NS_PUSH(
        w->arena, k->base,
        (known){name, value,
                ns_arena_copy(w->arena, slope, (size_t)PLACES * w->flow->n * sizeof *slope)});
    NS_PUSH(w->arena, k->row, ns_arena_copy(w->arena, c, w->kept * sizeof *c));
    NS_PUSH(w->arena, k->name, name);
    NS_LIST(known) level = {0};
    NS_PUSH(w->arena, level, k->base.at[k->base.n - 1]);
    for (uint32_t i = 0; i < level.n && k->row.n < MOST; i++)
        for (uint32_t j = 0; j < k->base.n; j++) {
            const known *a = &level.at[i], *b = &k->base.at[j];
            double *product = NS_NEW_ARRAY(w->arena, double, w->N);
            for (uint32_t s = 0; s < w->N; s++)
                product[s] = a->value[s] * b->value[s];
            double *row = row_of(w, product);
            if (!row)
                continue;
            const char *title = ns_arena_format(w->arena, "%s*%s", a->name, b->name);
            const known made = {title, product, NULL};
            NS_PUSH(w->arena, k->row, row);
            NS_PUSH(w->arena, k->name, title);
            if (i < 40)
                NS_PUSH(w->arena, level, made);
        }
}

static double *slopes_of(ns_integrals_work *w, const double *c)
{
    double *slope = NS_NEW_ARRAY(w->arena, double, (size_t)PLACES * w->flow->n);
    for (uint32_t s = 0; s < PLACES; s++)
        gradient(w, c, s * (w->N / PLACES), slope + (size_t)s * w->flow->n);
    return slope;
}

/* What the formulation or the model knows already: is the integral a function of one of them? */
static const char *recognise(ns_integrals_work *w, const double *c)
{
    const ns_system *s = w->flow->system;
    double *value = NS_NEW_ARRAY(w->arena, double, w->N);
    values_of(w, c, value);
    const double size = sqrt(ns_dense_dot(w->N, value, value));
    for (uint32_t i = 0; i < s->invariants.n; i++) {
        const ns_flow_program *program = ns_flow_program_new(
            w->flow, &s->invariants.at[i].value, 1, NULL, 0);
        double *A = NS_NEW_ARRAY(w->arena, double, 3 * (size_t)w->N), fit[3];
        for (int form = 2; form <= 3; form++) {
            for (uint32_t k = 0; k < w->N; k++) {
                double I;
                w->flow->t = w->t[k];
                ns_flow_eval(w->flow, program, w->x + (size_t)k * w->flow->n, &I);
                A[(size_t)k * 2] = 1;
                A[(size_t)k * 2 + 1] = form == 2 ? I : I * I;
            }
            ns_dense_least(w->arena, w->N, 2, A, value, 1e-12, fit);
            double off = 0;
            for (uint32_t k = 0; k < w->N; k++) {
                const double d = value[k] - fit[0] - fit[1] * A[(size_t)k * 2 + 1];
                off += d * d;
            }
            if (sqrt(off) < 1e-8 * size)
                return ns_arena_format(w->arena,
                                       form == 2 ? "%s, times a constant"
                                                 : "the square of %s, times a constant",
                                       s->invariants.at[i].name);
        }
    }
    return "";
}

/* ---- the search ----------------------------------------------------------------------------- */

static uint32_t terms_of(const ns_integrals_work *w, const double *row)
{
    const double most = largest(w, row);
    uint32_t n = 0;
    for (uint32_t k = 1; k < w->kept; k++)
        n += fabs(row[k]) > small * most;
    return n;
}

static uint32_t top_degree(const ns_integrals_work *w, const double *row)
{
    const double most = largest(w, row);
    uint32_t degree = 0;
    for (uint32_t k = 1; k < w->kept; k++)
        if (fabs(row[k]) > small * most) {
            const uint8_t *power = w->power + (size_t)w->column[k] * w->atoms;
            const uint32_t d = degree_of(power, w->family->velocity.n);
            degree = d > degree ? d : degree;
        }
    return degree;
}

/* The lowest new row is known only up to what is set apart: of the rows of the plain echelon form
 * that would do as well, the one with the fewest terms. */
static const double *shortest(ns_integrals_work *w, const echelon *plain, const echelon *apart,
                              const double *row)
{
    const uint32_t degree = top_degree(w, row), kept = w->kept;
    double *left = NS_NEW_ARRAY(w->arena, double, kept + 1);
    for (uint32_t i = 0; i < plain->n; i++) {
        const double *other = plain->row + (size_t)i * kept;
        if (top_degree(w, other) > degree || terms_of(w, other) >= terms_of(w, row))
            continue;
        memcpy(left, other, kept * sizeof *left);
        reduce(apart, kept, left);
        if (largest(w, left) > small * largest(w, other))
            row = other;
    }
    return row;
}

static void separate(ns_integrals_work *w, ns_integrals *r, const double *Z,
                     const ns_integrals_options *o)
{
    catalogue k = {0};
    if (w->family->energy) {
        double *value = NS_NEW_ARRAY(w->arena, double, w->N);
        memcpy(value, w->phi + (size_t)(w->terms - 1) * w->N, w->N * sizeof *value);
        double *row = row_of(w, value);
        if (row && largest(w, row) > 0)
            add_known(w, &k, "energy", row, slopes_of(w, row));
    }
    const echelon plain = echelon_of(w, Z, r->zero, NULL);
    for (uint32_t round = 0; round <= r->zero; round++) {
        double *rows = NS_NEW_ARRAY(w->arena, double, (size_t)k.row.n * w->kept + 1);
        for (uint32_t i = 0; i < k.row.n; i++)
            memcpy(rows + (size_t)i * w->kept, k.row.at[i], w->kept * sizeof *rows);
        const echelon apart = echelon_of(w, rows, k.row.n, NULL);
        const echelon rest = echelon_of(w, Z, r->zero, &apart);
        if (!rest.n)
            break;
        const double *row = shortest(w, &plain, &apart,
                                     rest.row + (size_t)(rest.n - 1) * w->kept);
        const double *slope = slopes_of(w, row);
        const uint32_t number = r->found.n + 1;
        const bool function = depends(w, &k, slope);
        ns_integral *found = function ? NULL : ns_integrals_refine(w, row);
        if (found) {
            found->note = recognise(w, row);
            NS_PUSH(w->arena, r->found, found);
            add_known(w, &k, ns_arena_format(w->arena, "integral%u", number), row, slope);
        } else {
            const char *name = function ? "a function of the others"
                                        : "not confirmed in higher precision";
            NS_PUSH(w->arena, k.row, ns_arena_copy(w->arena, row, w->kept * sizeof *row));
            NS_PUSH(w->arena, k.name, name);
        }
        if (o->progress && !o->progress(o->context, 0.8 + 0.2 * round / (r->zero + 1)))
            break;
    }
    for (uint32_t i = 0; i < k.name.n; i++)
        if (strncmp(k.name.at[i], "integral", 8) != 0 || strchr(k.name.at[i], '*'))
            NS_PUSH(w->arena, r->apart, k.name.at[i]);
    r->trivial = r->zero - (r->found.n < r->zero ? r->found.n : r->zero);
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
    *message = "stopped";
    if (!make_orthonormal(w, o))
        return false;
    make_rates(w);
    return true;
}

const double *ns_integrals_lowest(ns_integrals_work *w, ns_integrals *r)
{
    const double *Z = null_space(w, r);
    const echelon e = echelon_of(w, Z, r->zero, NULL);
    return e.n ? e.row + (size_t)(e.n - 1) * w->kept : NULL;
}

ns_integrals *ns_integrals_search(ns_flow *flow, const ns_family *family,
                                  const ns_integrals_options *o, const double *x0,
                                  const char **message)
{
    ns_arena *arena = flow->arena;
    ns_integrals_work w = {
        .flow = flow, .arena = arena, .family = family, .run = &o->run, .x0 = x0};
    ns_integrals *r = NS_NEW(arena, ns_integrals);
    const double t = flow->t;
    r->family = family;
    if (!ns_integrals_sample(&w, o, message))
        return NULL;
    r->terms = w.terms;
    r->states = w.N;
    r->relations = w.terms - w.kept;
    const double *Z = null_space(&w, r);
    separate(&w, r, Z, o);
    flow->t = t;
    return r;
}
