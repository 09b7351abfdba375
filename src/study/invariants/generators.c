#include "study/invariants/generators.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "mech/common/dense.h"

/* Relative size of a singular value that counts as zero: equations are evaluated to about
 * 1e-13. */
static const double vanishes = 1e-8;
enum { MOST_UNKNOWNS = 700 };

/* Can a linear map mix the two?  Components of one vector; numbers of one kind. */
static bool same_kind(const ns_system *s, uint32_t i, uint32_t j)
{
    const ns_state *a = &s->states.at[i], *b = &s->states.at[j];
    return a->vector || b->vector ? a->first == b->first
                                  : a->kind == b->kind && a->kind != NS_QUANTITY_OTHER;
}

/* Entry A[i][j], or b[i] if j = n. */
typedef struct entry {
    uint32_t i, j;
    double sign;
} entry;

/* An unknown sets up to four entries: a turn of a vector is skew, and the rates of coordinates
 * turn as the coordinates do. */
typedef struct unknown {
    entry at[4];
    uint32_t n;
    int preference; /* as the leading one of a generator, see `leading` */
} unknown;

typedef struct search {
    ns_flow *field;
    double t0;
    bool timed;                    /* samples at different times */
    const ns_flow_program *energy; /* gradient; NULL if there is none */
    unknown *u;
    uint32_t nu, samples;
    double *x;       /* [samples][n] */
    double *average; /* [n] sizes of the states over the samples, of a vector the largest */
} search;

static bool is_component(const ns_system *s, uint32_t i)
{
    return s->states.at[i].vector != NULL;
}

static bool is_quaternion(const ns_system *s, uint32_t i)
{
    return s->states.at[i].kind == NS_QUANTITY_QUATERNION;
}

static bool is_rate(const ns_problem *problem, uint32_t i)
{
    for (uint32_t k = 0; k < problem->n; k++)
        if (problem->source[k] == i)
            return true;
    return false;
}

static void set_entry(search *q, unknown *u, uint32_t i, uint32_t j, double sign)
{
    const uint32_t *source = q->field->problem->source;
    u->at[u->n++] = (entry){i, j, sign};
    if (source[i] != UINT32_MAX && source[j] != UINT32_MAX)
        u->at[u->n++] = (entry){source[i], source[j], sign};
}

/* b[i] for every state that is not the rate of another (and no component of a unit quaternion);
 * turns of vectors and quaternions; all linear maps of plain coordinates. */
static void list_unknowns(search *q, bool linear)
{
    const ns_system *s = q->field->system;
    const ns_problem *problem = q->field->problem;
    const uint32_t n = q->field->n;
    q->u = NS_NEW_ARRAY(q->field->arena, unknown, (size_t)n * (n + 1));
    for (int pass = 0; pass < 2; pass++) {
        q->nu = 0;
        for (uint32_t i = 0; i < n; i++)
            if (!is_rate(problem, i) && !is_quaternion(s, i))
                q->u[q->nu++] = (unknown){.at = {{i, n, 1}}, .n = 1};
        for (uint32_t i = 0; i < n && linear; i++)
            for (uint32_t j = 0; j < n; j++) {
                const bool turn = is_component(s, i);
                if (is_rate(problem, i) || !same_kind(s, i, j) || (turn ? j <= i : pass > 0))
                    continue;
                unknown u = {.preference = is_quaternion(s, i) ? 2 : 1};
                set_entry(q, &u, i, j, 1);
                if (turn)
                    set_entry(q, &u, j, i, -1);
                q->u[q->nu++] = u;
            }
        if (q->nu <= MOST_UNKNOWNS) /* otherwise plain coordinates can only be shifted */
            return;
    }
}

/* A random step along the tangent space and back to the manifold; false if that fails. */
static bool wander(search *q, uint64_t *seed, double wide, double *y)
{
    ns_flow *field = q->field;
    const uint32_t n = field->n;
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *N = NS_NEW_ARRAY(field->scratch, double, (size_t)n * n + 1);
    double *v = NS_NEW_ARRAY(field->scratch, double, n + 1), most = 0;
    const uint32_t dimension = ns_flow_tangent(field, y, N);
    for (uint32_t i = 0; i < n; i++) { /* a random vector in units of the sizes, made tangent */
        const double random = field->sigma[i] * (2 * ns_eval_random(seed) - 1);
        for (uint32_t k = 0; k < dimension; k++)
            for (uint32_t j = 0; j < n; j++)
                v[j] += N[(size_t)k * n + i] * N[(size_t)k * n + j] * random;
    }
    for (uint32_t i = 0; i < n; i++)
        most = ns_max(most, fabs(v[i]) / field->sigma[i]);
    for (uint32_t i = 0; i < n; i++)
        y[i] += wide * v[i] / ns_max(most, 1e-12);
    ns_arena_release(field->scratch, mark);
    return ns_flow_project(field, y);
}

/* The time of a sample. */
static void set_time(search *q, uint32_t k)
{
    enum { TIMES = 4 };
    if (q->timed)
        q->field->t = q->t0 + 0.013 * (k % TIMES);
}

/* Random states of the manifold near x, each reached by a few steps. */
static void sample(search *q, const double *x)
{
    enum { STEPS = 4 };
    ns_flow *field = q->field;
    const uint32_t n = field->n;
    const uint32_t wanted = 3 * q->nu / n + 6;
    q->x = NS_NEW_ARRAY(field->arena, double, (size_t)wanted * n);
    q->average = NS_NEW_ARRAY(field->arena, double, n + 1);
    double *f = NS_NEW_ARRAY(field->arena, double, n + 1);
    uint64_t seed = 271828;
    double wide = 0.2; /* narrower where the manifold is not reached */
    for (uint32_t tries = 0; tries < 4 * wanted && q->samples < wanted; tries++) {
        double *y = q->x + (size_t)q->samples * n;
        memcpy(y, x, n * sizeof *y);
        set_time(q, q->samples);
        bool good = true;
        for (int k = 0; k < STEPS && good; k++)
            good = wander(q, &seed, wide, y);
        if (!good) {
            wide = ns_max(0.8 * wide, 0.005);
            continue;
        }
        ns_flow_rhs(field, y, f);
        for (uint32_t i = 0; i < n; i++)
            good = good && isfinite(f[i]) && fabs(y[i] - x[i]) < 5 * field->sigma[i];
        q->samples += good;
    }
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < q->samples; k++)
            sum += q->x[(size_t)k * n + i] * q->x[(size_t)k * n + i];
        q->average[i] = ns_max(sqrt(sum / ns_max(1, q->samples)), 1e-6);
    }
    for (uint32_t i = 0; i < n; i++) /* one size for a vector: a turn mixes its components */
        for (uint32_t j = 0; j < n; j++)
            if (is_component(field->system, i) && same_kind(field->system, i, j))
                q->average[i] = ns_max(q->average[i], q->average[j]);
}

/* What one of an unknown is: entries are in units of the states' sizes. */
static double unit_of(const search *q, uint32_t c)
{
    const entry *e = &q->u[c].at[0];
    return q->average[e->i] / (e->j < q->field->n ? q->average[e->j] : 1);
}

/* The linear equations, rows[samples][n + m + 1][nu], in units of the sizes; with `by_time`,
 * the values of d/dt (f, C, E) in `rhs`. */
static double *equations(search *q, uint32_t *n_rows, const ns_flow_program *by_time,
                         double *rhs)
{
    ns_flow *field = q->field;
    ns_arena *a = field->scratch;
    const uint32_t n = field->n, m = field->m, per = n + m + (q->energy ? 1 : 0);
    *n_rows = q->samples * per;
    double *rows = NS_NEW_ARRAY(a, double, (size_t)*n_rows * q->nu + 1);
    double *f = NS_NEW_ARRAY(a, double, n), *J = NS_NEW_ARRAY(a, double, (size_t)n * n);
    double *C = NS_NEW_ARRAY(a, double, m + 1), *G = NS_NEW_ARRAY(a, double, (size_t)m * n + 1);
    double *dE = NS_NEW_ARRAY(a, double, n + 1), *largest = NS_NEW_ARRAY(a, double, per + 1);
    for (uint32_t k = 0; k < q->samples; k++) {
        const double *x = q->x + (size_t)k * n;
        set_time(q, k);
        if (by_time)
            ns_flow_eval(field, by_time, x, rhs + (size_t)k * per);
        ns_flow_rhs(field, x, f);
        ns_flow_jacobian(field, x, J);
        ns_flow_manifold(field, x, C, G);
        if (q->energy)
            ns_flow_eval(field, q->energy, x, dE);
        for (uint32_t r = 0; r < per; r++) {
            double *row = rows + ((size_t)k * per + r) * q->nu;
            const double *left = r < n       ? J + (size_t)r * n
                                 : r < n + m ? G + (size_t)(r - n) * n
                                             : dE;
            for (uint32_t c = 0; c < q->nu; c++) {
                for (uint32_t e = 0; e < q->u[c].n; e++) {
                    const uint32_t i = q->u[c].at[e].i, j = q->u[c].at[e].j;
                    double value = left[i] * (j < n ? x[j] : 1);
                    if (r == i && j < n)
                        value -= f[j];
                    row[c] += q->u[c].at[e].sign * value * unit_of(q, c);
                }
                largest[r] = ns_max(largest[r], fabs(row[c]));
            }
        }
    }
    double overall = 0;
    for (uint32_t r = 0; r < per; r++)
        overall = ns_max(overall, largest[r]);
    for (size_t k = 0; k < *n_rows && per; k++) {
        const double size = largest[k % per];
        for (uint32_t c = 0; c < q->nu; c++)
            rows[k * q->nu + c] *= size > 1e-14 * overall ? 1 / size : 0;
        if (by_time && size > 1e-14 * overall)
            rhs[k] /= size;
    }
    return rows;
}

/* Values of the fields in the rows of `basis` at all samples: out[samples*n][count]. */
static void values(const search *q, const double *basis, uint32_t count, double *out)
{
    const uint32_t n = q->field->n;
    memset(out, 0, (size_t)q->samples * n * count * sizeof *out);
    for (uint32_t k = 0; k < q->samples; k++)
        for (uint32_t l = 0; l < count; l++)
            for (uint32_t c = 0; c < q->nu; c++)
                for (uint32_t e = 0; e < q->u[c].n; e++) {
                    const uint32_t i = q->u[c].at[e].i, j = q->u[c].at[e].j;
                    out[((size_t)k * n + i) * count + l] +=
                        basis[(size_t)l * q->nu + c] * q->u[c].at[e].sign * unit_of(q, c) /
                        q->average[i] * (j < n ? q->x[(size_t)k * n + j] : 1);
                }
}

/* Those fields of the null space that do not vanish on the manifold. */
static uint32_t nontrivial(search *q, double *basis, uint32_t count)
{
    ns_arena *a = q->field->scratch;
    if (!count)
        return 0;
    const uint32_t rows = q->samples * q->field->n;
    double *X = NS_NEW_ARRAY(a, double, (size_t)rows * count);
    double *V = NS_NEW_ARRAY(a, double, (size_t)count * count);
    double *sigma = NS_NEW_ARRAY(a, double, count + 1);
    double *turned = NS_NEW_ARRAY(a, double, (size_t)count * q->nu);
    values(q, basis, count, X);
    ns_dense_svd(a, rows, count, X, sigma, V);
    uint32_t kept = 0;
    while (kept < count && sigma[kept] > 1e-7 * sigma[0])
        kept++;
    ns_flow_multiply(kept, count, q->nu, V, basis, turned);
    memcpy(basis, turned, (size_t)kept * q->nu * sizeof *basis);
    return kept;
}

/* The leading entry for row l among the rows from l on: the largest of the first preference
 * (shifts, then turns of vectors, then of quaternions, which turns of the ground and of a body
 * share). */
static void leading(const search *q, const double *basis, uint32_t count, uint32_t l,
                    uint32_t *row, uint32_t *column)
{
    const uint32_t nu = q->nu;
    double overall = 0;
    for (size_t k = (size_t)l * nu; k < (size_t)count * nu; k++)
        overall = ns_max(overall, fabs(basis[k]));
    for (int class = 0; class < 3; class ++) {
        double most = 0.01 * overall;
        *row = l;
        *column = nu;
        for (uint32_t i = l; i < count; i++)
            for (uint32_t c = 0; c < nu; c++)
                if (q->u[c].preference == class &&
                    fabs(basis[(size_t)i * nu + c]) > 1.0001 * most) {
                    most = fabs(basis[(size_t)i * nu + c]);
                    *row = i;
                    *column = c;
                }
        if (*column < nu)
            return;
    }
}

/* Reduced row echelon form: sparse generators, each with a leading entry of its own. */
static void simplify(const search *q, double *basis, uint32_t count)
{
    const uint32_t nu = q->nu;
    for (uint32_t l = 0; l < count; l++) {
        uint32_t row, column;
        leading(q, basis, count, l, &row, &column);
        for (uint32_t c = 0; c < nu; c++) {
            const double swap = basis[(size_t)row * nu + c];
            basis[(size_t)row * nu + c] = basis[(size_t)l * nu + c];
            basis[(size_t)l * nu + c] = swap;
        }
        const double lead = column < nu ? basis[(size_t)l * nu + column] : 0;
        for (uint32_t c = 0; c < nu && lead != 0; c++)
            basis[(size_t)l * nu + c] /= lead;
        for (uint32_t i = 0; i < count && lead != 0; i++) {
            const double factor = basis[(size_t)i * nu + column];
            for (uint32_t c = 0; c < nu && i != l; c++)
                basis[(size_t)i * nu + c] -= factor * basis[(size_t)l * nu + c];
        }
    }
    for (size_t k = 0; k < (size_t)count * nu; k++)
        if (fabs(basis[k]) < 1e-9)
            basis[k] = 0;
}

/* Halves of small whole numbers, which is what turns of orthonormal frames have, to the last
 * digit. */
static double rounded(double a)
{
    const double near = round(2 * a) / 2;
    return fabs(a - near) < 1e-8 && fabs(near) <= 2 ? near : a;
}

/* Names the k-th generator by what it moves, and gives it a natural speed: a turn by one
 * radian, a shift by one unit. */
static void finish(ns_generators *g, uint32_t k, const ns_flow *field)
{
    const ns_system *s = field->system;
    const uint32_t n = g->n;
    double *A = g->A + (size_t)k * n * n, *b = g->b + (size_t)k * n;
    double shift = 0, turn = 0, lead = 0, quaternion = 0;
    for (uint32_t i = 0; i < n; i++) {
        shift = fabs(b[i]) > 1.0001 * fabs(shift) ? b[i] : shift;
        for (uint32_t j = 0; j < n; j++) {
            const double a = A[(size_t)i * n + j];
            turn = ns_max(turn, fabs(a));
            /* q' = W q/2 and q' = q W/2 both have +W/2 in the column of the scalar part */
            if (is_quaternion(s, i) && is_quaternion(s, j) && s->states.at[j].first == j &&
                fabs(a) > 1.0001 * fabs(quaternion))
                quaternion = a;
            if (i > j && fabs(a) > 1.0001 * fabs(lead)) /* from the first axis to the second */
                lead = a;
        }
    }
    double scale = 1;
    if (quaternion != 0)
        scale = 0.5 / quaternion;
    else if (shift != 0)
        scale = 1 / shift;
    else if (turn > 0)
        scale = (lead < 0 ? -1 : 1) / turn;
    ns_text name = ns_text_new(field->arena);
    ns_text_add(&name, turn > 0 ? "turn of " : "shift of ");
    bool first = true;
    for (uint32_t i = 0; i < n; i++) {
        bool moves = b[i] != 0, known = false;
        for (uint32_t j = 0; j < n; j++)
            moves = moves || A[(size_t)i * n + j] != 0;
        for (uint32_t j = 0; j < i && moves; j++)
            if (same_kind(s, i, j) && is_component(s, i)) {
                bool other = b[j] != 0;
                for (uint32_t l = 0; l < n; l++)
                    other = other || A[(size_t)j * n + l] != 0;
                known = known || (other && turn > 0);
            }
        const ns_state *state = &s->states.at[i];
        known = known || (turn > 0 && (state->kind == NS_QUANTITY_VELOCITY ||
                                       state->kind == NS_QUANTITY_QUATERNION_RATE));
        if (!moves || known)
            continue;
        ns_text_addf(&name, "%s%s", first ? "" : ", ",
                     state->vector && turn > 0 ? state->vector : state->name);
        first = false;
    }
    g->name[k] = ns_text_string(&name);
    for (uint32_t i = 0; i < n; i++) {
        b[i] = rounded(b[i] * scale);
        for (uint32_t j = 0; j < n; j++)
            A[(size_t)i * n + j] = rounded(A[(size_t)i * n + j] * scale);
    }
}

/* Is the motion itself among the fields (a linear system commutes with itself)? */
static bool contains_motion(search *q, const double *basis, uint32_t count)
{
    ns_arena *a = q->field->scratch;
    const uint32_t n = q->field->n, rows = q->samples * n;
    double *X = NS_NEW_ARRAY(a, double, (size_t)rows * count + 1);
    double *f = NS_NEW_ARRAY(a, double, rows + 1), *c = NS_NEW_ARRAY(a, double, count + 1);
    values(q, basis, count, X);
    double size = 0, rest = 0;
    for (uint32_t k = 0; k < q->samples; k++) {
        ns_flow_rhs(q->field, q->x + (size_t)k * n, f + (size_t)k * n);
        for (uint32_t i = 0; i < n; i++)
            f[(size_t)k * n + i] /= q->average[i];
    }
    ns_dense_least(a, rows, count, X, f, 1e-12, c);
    for (uint32_t r = 0; r < rows; r++) {
        double sum = f[r];
        for (uint32_t l = 0; l < count; l++)
            sum -= X[(size_t)r * count + l] * c[l];
        size = ns_max(size, fabs(f[r]));
        rest = ns_max(rest, fabs(sum));
    }
    return rest < 1e-7 * size;
}

static uint32_t solve(search *q, double **basis, double *margin)
{
    ns_arena *a = q->field->scratch;
    uint32_t n_rows, null = 0;
    const double *rows = equations(q, &n_rows, NULL, NULL);
    double *V = NS_NEW_ARRAY(a, double, (size_t)q->nu * q->nu);
    const uint32_t values_n = n_rows < q->nu ? n_rows : q->nu;
    double *sigma = NS_NEW_ARRAY(a, double, values_n + 1);
    ns_dense_svd(a, n_rows, q->nu, rows, sigma, V);
    /* the largest gap among the small ones divides symmetries from the rest */
    double gap = 0;
    for (uint32_t k = 1; k < values_n; k++) {
        const double here = ns_max(sigma[values_n - k], 1e-15 * sigma[0]);
        const double ratio = sigma[values_n - 1 - k] / here;
        if (here <= vanishes * sigma[0] && ratio > gap) {
            gap = ratio;
            null = k;
        }
    }
    *margin = null && null < values_n
                  ? sigma[values_n - 1 - null] / ns_max(sigma[values_n - null], 1e-300)
                  : INFINITY;
    *basis = V + (size_t)(q->nu - null) * q->nu;
    return nontrivial(q, *basis, null);
}

/* Unknowns, samples and the gradient of the energy. */
static void prepare(search *q, const double *x, bool linear)
{
    ns_flow *field = q->field;
    const ns_system *s = field->system;
    const uint32_t n = field->n;
    q->t0 = field->t;
    q->timed = !ns_flow_autonomous(field);
    if (s->energy) {
        ns_ex *gradient = NS_NEW_ARRAY(field->arena, ns_ex, n + 1);
        const ns_ex *symbols = ns_system_state_symbols(s, field->arena);
        ns_diff_gradient(s->graph, s->energy, symbols, n, gradient);
        q->energy = ns_flow_program_new(field, gradient, n, NULL, 0);
    }
    list_unknowns(q, linear);
    sample(q, x);
}

/* Sets A and b from the unknowns. */
static void unpack(const search *q, const double *u, double *A, double *b)
{
    const uint32_t n = q->field->n;
    for (uint32_t c = 0; c < q->nu; c++)
        for (uint32_t e = 0; e < q->u[c].n; e++) {
            const uint32_t i = q->u[c].at[e].i, j = q->u[c].at[e].j;
            const double value = u[c] * q->u[c].at[e].sign * unit_of(q, c);
            if (j < n)
                A[(size_t)i * n + j] = value;
            else
                b[i] = value;
        }
}

ns_generators *ns_generators_find(ns_flow *field, const double *x)
{
    const uint32_t n = field->n;
    search q = {.field = field};
    prepare(&q, x, true);
    ns_generators *g = NS_NEW(field->arena, ns_generators);
    g->n = n;
    if (!q.samples || !n)
        return g;
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *basis;
    uint32_t count = solve(&q, &basis, &g->margin);
    if (count && contains_motion(&q, basis, count)) {
        list_unknowns(&q, false); /* shifts only */
        count = solve(&q, &basis, &g->margin);
    }
    simplify(&q, basis, count);
    g->count = count;
    g->A = NS_NEW_ARRAY(field->arena, double, (size_t)count * n * n + 1);
    g->b = NS_NEW_ARRAY(field->arena, double, (size_t)count * n + 1);
    g->name = NS_NEW_ARRAY(field->arena, const char *, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        unpack(&q, basis + (size_t)k * q.nu, g->A + (size_t)k * n * n, g->b + (size_t)k * n);
        finish(g, k, field);
    }
    ns_arena_release(field->scratch, mark);
    field->t = q.t0;
    return g;
}

/* ---- time -------------------------------------------------------------------------------- */

/* [xi_0, xi_k] as a column: entries of A0 A_k - A_k A0, then of A0 b_k - A_k b0. */
static void bracket(const ns_generators *g, uint32_t k, double *out)
{
    const uint32_t n = g->n;
    const double *A = g->A + (size_t)k * n * n, *b = g->b + (size_t)k * n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= n; j++) {
            double sum = 0;
            for (uint32_t l = 0; l < n; l++)
                sum += j < n
                           ? g->A0[(size_t)i * n + l] * A[(size_t)l * n + j] -
                                 A[(size_t)i * n + l] * g->A0[(size_t)l * n + j]
                           : g->A0[(size_t)i * n + l] * b[l] - A[(size_t)i * n + l] * g->b0[l];
            out[(size_t)i * (n + 1) + j] = sum;
        }
}

/* Only symmetries that commute with xi_0 are ones of f - xi_0. */
static void centralise(ns_generators *g, ns_arena *arena, ns_arena *scratch)
{
    const uint32_t n = g->n, rows = n * (n + 1), count = g->count;
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *M = NS_NEW_ARRAY(scratch, double, (size_t)rows * count + 1);
    double *one = NS_NEW_ARRAY(scratch, double, rows + 1), most = 0;
    double *basis = NS_NEW_ARRAY(scratch, double, (size_t)count * count + 1);
    for (uint32_t k = 0; k < count; k++) {
        bracket(g, k, one);
        for (uint32_t i = 0; i < rows; i++) {
            M[(size_t)i * count + k] = one[i];
            most = ns_max(most, fabs(one[i]));
        }
    }
    if (most > 1e-9) {
        const uint32_t kept = ns_flow_complement(scratch, rows, count, M, 1e-8, basis);
        double *A = NS_NEW_ARRAY(arena, double, (size_t)kept * n * n + 1);
        double *b = NS_NEW_ARRAY(arena, double, (size_t)kept * n + 1);
        const char **name = NS_NEW_ARRAY(arena, const char *, kept + 1);
        ns_flow_multiply(kept, count, n * n, basis, g->A, A);
        ns_flow_multiply(kept, count, n, basis, g->b, b);
        for (uint32_t k = 0; k < kept; k++) {
            name[k] = "a combination";
            for (uint32_t l = 0; l < count; l++)
                if (fabs(fabs(basis[(size_t)k * count + l]) - 1) < 1e-9)
                    name[k] = g->name[l];
        }
        g->A = A;
        g->b = b;
        g->name = name;
        g->count = kept;
    }
    ns_arena_release(scratch, mark);
}

bool ns_generators_find_time(ns_flow *field, const double *x, ns_generators *g)
{
    const ns_system *s = field->system;
    const uint32_t n = field->n, m = field->m;
    search q = {.field = field};
    prepare(&q, x, true);
    const uint32_t per = n + m + (q.energy ? 1 : 0);
    ns_ex *value = NS_NEW_ARRAY(field->arena, ns_ex, per + 1);
    ns_ex *out = NS_NEW_ARRAY(field->arena, ns_ex, per + 1);
    uint32_t rows = 0, n_rows;
    for (uint32_t i = 0; i < n; i++)
        value[rows++] = s->states.at[i].rate;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            value[rows++] = s->constraints.at[i].residual;
    if (q.energy)
        value[rows++] = s->energy;
    if (rows != per || !q.samples)
        return false;
    for (uint32_t i = 0; i < per; i++)
        out[i] = ns_diff(s->graph, value[i], s->time);
    const ns_flow_program *by_time = ns_flow_program_new(field, out, per, NULL, 0);
    const ns_arena_place mark = ns_arena_mark(field->scratch);
    double *rhs = NS_NEW_ARRAY(field->scratch, double, (size_t)q.samples * per + 1);
    double *u = NS_NEW_ARRAY(field->scratch, double, q.nu + 1), rest = 0, size = 0;
    const double *M = equations(&q, &n_rows, by_time, rhs);
    for (uint32_t k = 0; k < n_rows; k++)
        rhs[k] = -rhs[k];
    ns_dense_least(field->scratch, n_rows, q.nu, M, rhs, 1e-10, u);
    for (uint32_t k = 0; k < n_rows; k++) {
        double off = rhs[k];
        for (uint32_t c = 0; c < q.nu; c++)
            off -= M[(size_t)k * q.nu + c] * u[c];
        rest = ns_max(rest, fabs(off));
        size = ns_max(size, fabs(rhs[k]));
    }
    const bool found = rest < 1e-8 * ns_max(size, 1e-300);
    if (found) {
        g->A0 = NS_NEW_ARRAY(field->arena, double, (size_t)n * n + 1);
        g->b0 = NS_NEW_ARRAY(field->arena, double, n + 1);
        unpack(&q, u, g->A0, g->b0);
        centralise(g, field->arena, field->scratch);
    }
    ns_arena_release(field->scratch, mark);
    field->t = q.t0;
    return found;
}

void ns_generators_at(const ns_generators *g, const double *x, double *xi)
{
    NS_CHECK((g->A && g->b) || !g->count);
    for (uint32_t k = 0; k < g->count; k++)
        for (uint32_t i = 0; i < g->n; i++) {
            double sum = g->b[(size_t)k * g->n + i];
            for (uint32_t j = 0; j < g->n; j++)
                sum += g->A[((size_t)k * g->n + i) * g->n + j] * x[j];
            xi[(size_t)k * g->n + i] = sum;
        }
}

bool ns_generators_rests(const ns_flow *field, const ns_generators *g, uint32_t k,
                         const double *x)
{
    /* of what it would be for states of usual size; found by Newton's method, which leaves less
     * than its last step of 1e-6, squared */
    const double little = 1e-11;
    const double *A = g->A + (size_t)k * g->n * g->n, *b = g->b + (size_t)k * g->n;
    for (uint32_t i = 0; i < g->n; i++) {
        double sum = b[i], size = fabs(b[i]);
        for (uint32_t j = 0; j < g->n; j++) {
            sum += A[(size_t)i * g->n + j] * x[j];
            size += fabs(A[(size_t)i * g->n + j]) * field->sigma[j];
        }
        if (fabs(sum) > little * size)
            return false;
    }
    return true;
}
