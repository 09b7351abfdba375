/* The search for integrals in a family of functions (see study/invariants/integrals.h): the
 * null space of integrals_space.c is brought to echelon form, with pivots at the highest
 * functions first, so that its last rows are the integrals of lowest degree with the fewest
 * terms.  They are taken one by one from the lowest; energy, what was found before, and all
 * products of these that lie in the family are divided out first. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_internal.h"

static const double small = 1e-6; /* entry of an echelon form that counts as zero */

/* ---- echelon forms ----------------------------------------------------------------------- */

typedef struct echelon {
    uint32_t n;      /* rows */
    double *row;     /* [n][kept] */
    uint32_t *pivot; /* [n] columns, decreasing */
} echelon;

static double largest(const ns_integrals_work *w, const double *row)
{
    double most = 0;
    for (uint32_t k = ns_integrals_first(w); k < w->kept; k++)
        most = ns_max(most, fabs(row[k]));
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
    for (uint32_t k = kept; k-- > ns_integrals_first(w) && rest;) {
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

/* ---- what is known ----------------------------------------------------------------------- */

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
            ns_integrals_subtract(w->N, -c[k] / w->size[k],
                                  w->phi + (size_t)w->column[k] * w->N, value);
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
    if (!(ns_integrals_orthogonalise(w, v, a) < 1e-8 * size))
        return NULL;
    ns_integrals_coefficients(w, a, c);
    c[0] = 0;
    return c;
}

/* Adds an integral and all its products with those there are, as long as they lie in the
 * family. */
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

/* What the formulation or the model knows already: is the integral a function of one of
 * them? */
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

/* ---- the search -------------------------------------------------------------------------- */

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
            const uint32_t d = ns_integrals_degree(power, w->family->velocity.n);
            degree = d > degree ? d : degree;
        }
    return degree;
}

/* The lowest new row is known only up to what is set apart: of the rows of the plain echelon
 * form that would do as well, the one with the fewest terms. */
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
        w->share = 0.6 / (r->zero + 1);
        w->progress = 0.4 + w->share * round;
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
        if (w->stopped || (o->progress && !o->progress(o->context, w->progress + w->share)))
            break;
    }
    for (uint32_t i = 0; i < k.name.n; i++)
        if (strncmp(k.name.at[i], "integral", 8) != 0 || strchr(k.name.at[i], '*'))
            NS_PUSH(w->arena, r->apart, k.name.at[i]);
    r->trivial = r->zero - (r->found.n < r->zero ? r->found.n : r->zero);
}

const double *ns_integrals_lowest(ns_integrals_work *w, ns_integrals *r)
{
    const double *Z = ns_integrals_null_space(w, r);
    const echelon e = echelon_of(w, Z, r->zero, NULL);
    return e.n ? e.row + (size_t)(e.n - 1) * w->kept : NULL;
}

ns_integrals *ns_integrals_search(ns_flow *flow, const ns_family *family,
                                  const ns_integrals_options *o, const double *x0,
                                  const char **message)
{
    ns_arena *arena = flow->arena;
    ns_integrals_work w = {
        .flow = flow, .arena = arena, .family = family, .run = &o->run, .options = o, .x0 = x0};
    ns_integrals *r = NS_NEW(arena, ns_integrals);
    const double t = flow->t;
    r->family = family;
    if (!ns_integrals_sample(&w, o, message))
        return NULL;
    r->terms = w.terms;
    r->states = w.N;
    r->relations = w.terms - w.kept;
    const double *Z = ns_integrals_null_space(&w, r);
    separate(&w, r, Z, o);
    flow->t = t;
    return r;
}
