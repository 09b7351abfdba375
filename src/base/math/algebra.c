/* Singular values and least squares.
 *
 * A P = Q R by Householder's reflections, columns exchanged so that the rows of R decrease;
 * then rotations from the left make the rows of R orthogonal (one-sided Jacobi; Drmac and
 * Veselic 2008: on the rows of such an R it converges in a few sweeps, and to the last digits),
 *
 *     J^T R = Sigma W^T,    A = (Q J) Sigma (P W)^T.
 *
 * So V = P W comes for nothing, and of the left singular vectors only (Q J)^T b is ever needed,
 * by doing to b what is done to the rows.
 *
 * Least squares need no rotations where |R| |R^-1|, in the norm of Frobenius, shows that no
 * singular value counts as zero: x = P R^-1 Q^T b if there are enough rows; if there are fewer
 * than columns, with A^T P = Q R, x = Q R^-T P^T b. */
#include "base/math/algebra.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/check.h"

double ns_algebra_power(int k)
{
    const uint64_t bits = (uint64_t)(1023 + k) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double ns_algebra_times_power(double x, int k)
{
    for (; k > 1000 && x != 0 && fabs(x) <= DBL_MAX; k -= 1000)
        x *= 0x1p1000;
    for (; k < -1000 && x != 0 && fabs(x) <= DBL_MAX; k += 1000)
        x *= 0x1p-1000;
    return k > 1000 || k < -1000 ? x : x * ns_algebra_power(k);
}

int ns_algebra_exponent(double x)
{
    uint64_t bits;
    int shift = 0;
    if (fabs(x) < DBL_MIN) {
        x *= 0x1p64;
        shift = 64;
    }
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 2047) - 1023 - shift;
}

bool ns_algebra_scale(size_t count, const double *A, double *to, double *back)
{
    NS_CHECK((A && to && back) || !count);
    double most = 0;
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(A[i]);
        finite = finite && size <= DBL_MAX;
        most = size > most ? size : most;
    }
    /* both 2^k and 2^-k are to be numbers of full precision */
    int k = most > 0 && finite ? ns_algebra_exponent(most) : 0;
    k = k > 1000 ? 1000 : k < -1000 ? -1000 : k;
    const double factor = ns_algebra_power(-k);
    for (size_t i = 0; i < count; i++)
        to[i] = A[i] * factor;
    *back = ns_algebra_power(k);
    return finite;
}

double ns_algebra_length(uint32_t n, const double *a)
{
    NS_CHECK(a || !n);
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!(fabs(a[i]) <= DBL_MAX))
            return fabs(a[i]);
        most = fabs(a[i]) > most ? fabs(a[i]) : most;
    }
    if (most == 0)
        return 0;
    int k = ns_algebra_exponent(most);
    k = k > 1000 ? 1000 : k < -1000 ? -1000 : k;
    const double factor = ns_algebra_power(-k);
    for (uint32_t i = 0; i < n; i++)
        sum += (a[i] * factor) * (a[i] * factor);
    return sqrt(sum) * ns_algebra_power(k);
}

double ns_algebra_hypot(double a, double b)
{
    return ns_algebra_length(2, (const double[2]){a, b});
}

/* ---- R ----------------------------------------------------------------------------------- */

/* Squares of numbers below this would underflow: a matrix of size 1 has rank k if what is left
 * after k columns is smaller. */
static const double nothing = 0x1p-450;

static double column_length(uint32_t m, uint32_t n, const double *A, uint32_t from, uint32_t j)
{
    double sum = 0;
    for (uint32_t i = from; i < m; i++)
        sum += A[(size_t)i * n + j] * A[(size_t)i * n + j];
    return sqrt(sum);
}

static void swap_columns(uint32_t m, uint32_t n, double *A, uint32_t j, uint32_t k)
{
    for (uint32_t i = 0; i < m; i++) {
        const double x = A[(size_t)i * n + j];
        A[(size_t)i * n + j] = A[(size_t)i * n + k];
        A[(size_t)i * n + k] = x;
    }
}

/* The reflection of column k below row k, I - tau v v^T with v_k = 1, on the columns after it
 * and on b.  w[n]. */
static void reflect(uint32_t m, uint32_t n, double *A, uint32_t k, double *b, double *w)
{
    double *row = A + (size_t)k * n;
    const double rest = column_length(m, n, A, k + 1, k);
    for (uint32_t i = k + 1; i < m && rest == 0; i++)
        A[(size_t)i * n + k] = 0; /* may have been too small for its square */
    if (rest == 0)
        return;
    const double alpha = row[k], size = sqrt(alpha * alpha + rest * rest);
    const double beta = alpha > 0 ? -size : size, tau = (beta - alpha) / beta;
    const double part = 1 / (alpha - beta);
    double on_b = b ? b[k] : 0;
    for (uint32_t j = k + 1; j < n; j++)
        w[j] = row[j];
    for (uint32_t i = k + 1; i < m; i++) {
        double *a = A + (size_t)i * n;
        const double v = a[k] *= part;
        for (uint32_t j = k + 1; j < n; j++)
            w[j] += v * a[j];
        on_b += b ? v * b[i] : 0;
    }
    row[k] = beta;
    for (uint32_t j = k + 1; j < n; j++)
        row[j] -= w[j] *= tau;
    for (uint32_t i = k + 1; i < m; i++) {
        double *a = A + (size_t)i * n;
        const double v = a[k];
        for (uint32_t j = k + 1; j < n; j++)
            a[j] -= v * w[j];
        if (b)
            b[i] -= v * (tau * on_b);
    }
    if (b)
        b[k] -= tau * on_b;
}

/* Lengths of columns after k, below row k: from those one row above, unless too much cancels.
 * `last`: as they were when last computed (Drmac and Bujanovic 2008). */
static void shorten(uint32_t m, uint32_t n, const double *A, uint32_t k, double *length,
                    double *last)
{
    for (uint32_t j = k + 1; j < n; j++) {
        if (length[j] == 0)
            continue;
        const double ratio = A[(size_t)k * n + j] / length[j], left = 1 - ratio * ratio;
        const double since = length[j] / last[j];
        if (left > 0 && left * since * since > 0x1p-26)
            length[j] *= sqrt(left);
        else
            length[j] = last[j] = column_length(m, n, A, k + 1, j);
    }
}

/* A becomes R in its upper triangle; column j of A P is column order[j] of A; b becomes Q^T b.
 * w[3 n]. Returns the number of rows of R that are not zero. */
static uint32_t triangle(uint32_t m, uint32_t n, double *A, double *order, double *b, double *w)
{
    const uint32_t least = m < n ? m : n;
    double *length = w + n, *last = w + 2 * (size_t)n;
    NS_CHECK((A && order && w) || !n);
    for (uint32_t j = 0; j < n; j++) {
        order[j] = j;
        length[j] = last[j] = column_length(m, n, A, 0, j);
    }
    for (uint32_t k = 0; k < least; k++) {
        uint32_t best = k;
        for (uint32_t j = k + 1; j < n; j++)
            if (length[j] > length[best])
                best = j;
        if (length[best] < nothing)
            return k;
        if (best != k) {
            swap_columns(m, n, A, k, best);
            const double column = order[k];
            order[k] = order[best];
            order[best] = column;
            length[best] = length[k];
            last[best] = last[k];
        }
        reflect(m, n, A, k, b, w);
        shorten(m, n, A, k, length, last);
    }
    return least;
}

/* ---- rotations --------------------------------------------------------------------------- */

static void swap_rows(uint32_t n, double *a, double *b)
{
    for (uint32_t j = 0; j < n; j++) {
        const double x = a[j];
        a[j] = b[j];
        b[j] = x;
    }
}

/* Rows p and q, with scalar product d, become orthogonal; the longer one grows. */
static void rotate(uint32_t n, double *p, double *q, double d, double *square_p,
                   double *square_q, double *b_p, double *b_q)
{
    const double zeta = (*square_p - *square_q) / (2 * d), size = fabs(zeta);
    const double root = size > 0x1p30 ? 2 * size : size + sqrt(1 + zeta * zeta);
    const double t = zeta < 0 ? -1 / root : 1 / root, c = 1 / sqrt(1 + t * t), s = c * t;
    const double h = s / (1 + c); /* c = 1 - h s: no length is lost if the angle is small */
    for (uint32_t j = 0; j < n; j++) {
        const double x = p[j], y = q[j];
        p[j] = x + s * (y - h * x);
        q[j] = y - s * (x + h * y);
    }
    const double x = *b_p, y = *b_q;
    *b_p = x + s * (y - h * x);
    *b_q = y - s * (x + h * y);
    const double shorter = *square_q - t * d;
    *square_p += t * d;
    *square_q = shorter > 0.25 * *square_q ? shorter : ns_algebra_dot(n, q, q);
}

/* One sweep over all pairs, the longest rows first; whether any pair had to be rotated. */
static bool sweep(uint32_t r, uint32_t n, double *R, double *b, double *square, double limit)
{
    bool turned = false;
    for (uint32_t p = 0; p < r; p++)
        square[p] = ns_algebra_dot(n, R + (size_t)p * n, R + (size_t)p * n);
    for (uint32_t p = 0; p < r; p++) {
        double *row = R + (size_t)p * n;
        uint32_t best = p;
        for (uint32_t q = p + 1; q < r; q++)
            if (square[q] > square[best])
                best = q;
        if (best != p) {
            swap_rows(n, row, R + (size_t)best * n);
            swap_rows(1, b + p, b + best);
            swap_rows(1, square + p, square + best);
        }
        for (uint32_t q = p + 1; q < r; q++) {
            double *other = R + (size_t)q * n;
            const double d = ns_algebra_dot(n, row, other);
            if (!(fabs(d) > limit * (sqrt(square[p]) * sqrt(square[q]))))
                continue;
            turned = true;
            rotate(n, row, other, d, square + p, square + q, b + p, b + q);
        }
    }
    return turned;
}

/* Work space. */
typedef struct room {
    double *A, *order, *b, *w; /* m x n, n, m + n, 3 n + m */
} room;

size_t ns_algebra_svd_work(uint32_t m, uint32_t n)
{
    return (size_t)m * n + 5 * (size_t)n + 2 * (size_t)m;
}

static room rooms(uint32_t m, uint32_t n, double *work)
{
    room r = {.A = work};
    r.order = r.A + (size_t)m * n;
    r.b = r.order + n;
    r.w = r.b + m + n;
    return r;
}

/* From R, with `count` rows that are not zero, in r->A: Sigma W^T in these rows, sigma, and J^T
 * r->b. */
static bool decompose(const room *r, uint32_t m, uint32_t n, uint32_t count, double back,
                      double *sigma)
{
    enum { SWEEPS = 60 };
    const uint32_t least = m < n ? m : n;
    const double limit = 0x1p-52 * sqrt(n);
    for (uint32_t i = 1; i < count; i++)
        memset(r->A + (size_t)i * n, 0, i * sizeof(double));
    int round = 0;
    while (round < SWEEPS && sweep(count, n, r->A, r->b, r->w, limit))
        round++;
    for (uint32_t k = 0; k < least; k++)
        sigma[k] = 0;
    for (uint32_t k = 0; k < count; k++) {
        double *row = r->A + (size_t)k * n;
        const double length = sqrt(ns_algebra_dot(n, row, row));
        for (uint32_t j = 0; j < n; j++)
            row[j] /= length;
        sigma[k] = length * back;
    }
    /* the last sweep had an order of its own; equal values may differ in the last bit */
    for (uint32_t k = 1; k < count; k++)
        for (uint32_t i = k; i > 0 && sigma[i] > sigma[i - 1]; i--) {
            swap_rows(n, r->A + (size_t)i * n, r->A + (size_t)(i - 1) * n);
            swap_rows(1, r->b + i, r->b + i - 1);
            swap_rows(1, sigma + i, sigma + i - 1);
        }
    return round < SWEEPS;
}

/* Rows `from` to n of V[n][n] become orthonormal and orthogonal to those before: of the unit
 * vectors always the one that is furthest from them, twice made orthogonal.  left[n]: squares
 * of their distances. */
static void complete(uint32_t n, uint32_t from, double *V, double *left)
{
    for (uint32_t j = 0; j < n; j++) {
        left[j] = 1;
        for (uint32_t i = 0; i < from; i++)
            left[j] -= V[(size_t)i * n + j] * V[(size_t)i * n + j];
    }
    for (uint32_t k = from; k < n; k++) {
        double *v = V + (size_t)k * n;
        uint32_t best = 0;
        for (uint32_t j = 1; j < n; j++)
            if (left[j] > left[best])
                best = j;
        memset(v, 0, n * sizeof *v);
        v[best] = 1;
        for (int pass = 0; pass < 2; pass++)
            for (uint32_t i = 0; i < k; i++) {
                const double *u = V + (size_t)i * n, part = ns_algebra_dot(n, u, v);
                for (uint32_t j = 0; j < n; j++)
                    v[j] -= part * u[j];
            }
        const double length = sqrt(ns_algebra_dot(n, v, v));
        for (uint32_t j = 0; j < n; j++) {
            v[j] /= length;
            left[j] -= v[j] * v[j];
        }
        left[best] = -1;
    }
}

static bool not_numbers(size_t n, double *a)
{
    for (size_t i = 0; i < n; i++)
        a[i] = NAN;
    return false;
}

bool ns_algebra_svd(uint32_t m, uint32_t n, const double *A, double *sigma, double *V,
                    double *work)
{
    NS_CHECK(A || !m || !n);
    NS_CHECK(work && (sigma || !m || !n));
    const room r = rooms(m, n, work);
    uint32_t count = 0;
    double back;
    memset(r.b, 0, ((size_t)m + n) * sizeof *r.b);
    bool good = ns_algebra_scale((size_t)m * n, A, r.A, &back);
    if (good) {
        count = triangle(m, n, r.A, r.order, r.b, r.w);
        good = decompose(&r, m, n, count, back, sigma);
    }
    if (!good) {
        not_numbers(V ? (size_t)n * n : 0, V);
        return not_numbers(m < n ? m : n, sigma);
    }
    for (uint32_t k = 0; k < count && V; k++)
        for (uint32_t j = 0; j < n; j++)
            V[(size_t)k * n + (uint32_t)r.order[j]] = r.A[(size_t)k * n + j];
    if (V)
        complete(n, count, V, r.w);
    return true;
}

/* Is |R| |R^-1| < 1/rcond, for the upper triangle in the first n rows of R[][stride]?  y[n]. */
static bool regular(uint32_t n, uint32_t stride, const double *R, double rcond, double *y)
{
    double norm = 0, inverse = 0;
    for (uint32_t j = 0; j < n; j++) {
        y[j] = 1 / R[(size_t)j * stride + j];
        for (uint32_t i = j; i-- > 0;) { /* R y = e_j */
            const double *row = R + (size_t)i * stride;
            y[i] = -ns_algebra_dot(j - i, row + i + 1, y + i + 1) / row[i];
        }
        inverse += ns_algebra_dot(j + 1, y, y);
        const double *row = R + (size_t)j * stride + j;
        norm += ns_algebra_dot(n - j, row, row);
    }
    return sqrt(norm) * sqrt(inverse) * rcond < 1; /* false if not a number */
}

/* x = P R^-1 r->b, with R in r->A. */
static void solve_tall(const room *r, uint32_t n, double *x)
{
    double *y = r->w;
    for (uint32_t i = n; i-- > 0;) {
        const double *row = r->A + (size_t)i * n;
        y[i] = (r->b[i] - ns_algebra_dot(n - i - 1, row + i + 1, y + i + 1)) / row[i];
        x[(uint32_t)r->order[i]] = y[i];
    }
}

/* x = Q R^-T P^T r->b, with R[m][m] and, below, the reflections of A^T P in r->A[n][m]. */
static void solve_wide(const room *r, uint32_t m, uint32_t n, double *x)
{
    for (uint32_t i = 0; i < n; i++)
        x[i] = i < m ? r->b[(uint32_t)r->order[i]] : 0;
    for (uint32_t i = 0; i < m; i++) {
        const double *row = r->A + (size_t)i * m;
        x[i] /= row[i];
        for (uint32_t j = i + 1; j < m; j++)
            x[j] -= row[j] * x[i];
    }
    for (uint32_t k = m; k-- > 0;) {
        double square = 1, sum = x[k];
        bool reflected = false;
        for (uint32_t i = k + 1; i < n; i++) {
            const double v = r->A[(size_t)i * m + k];
            reflected = reflected || v != 0;
            square += v * v;
            sum += v * x[i];
        }
        sum *= 2 / square;
        if (!reflected)
            continue;
        x[k] -= sum;
        for (uint32_t i = k + 1; i < n; i++)
            x[i] -= sum * r->A[(size_t)i * m + k];
    }
}

/* By rotations, from R: singular values up to rcond times the largest count as zero. */
static bool solve_any(const room *r, uint32_t m, uint32_t n, uint32_t count, double rcond,
                      double *x, uint32_t *rank)
{
    double *sigma = r->w + 3 * (size_t)n;
    if (!decompose(r, m, n, count, 1, sigma))
        return false;
    for (; *rank < count && sigma[*rank] > rcond * sigma[0]; ++*rank) {
        const double part = r->b[*rank] / sigma[*rank], *row = r->A + (size_t)*rank * n;
        for (uint32_t j = 0; j < n; j++)
            x[(uint32_t)r->order[j]] += part * row[j];
    }
    return true;
}

bool ns_algebra_least(uint32_t m, uint32_t n, const double *A, const double *b, double rcond,
                      double *x, uint32_t *rank, double *work)
{
    NS_CHECK(work && rank && (x || !n));
    NS_CHECK(rcond >= 0);
    const room r = rooms(m, n, work);
    double back, size;
    bool done = false;
    *rank = 0;
    if (!ns_algebra_scale(m, b, r.b, &size) || !ns_algebra_scale((size_t)m * n, A, r.A, &back))
        return not_numbers(n, x);
    for (uint32_t j = 0; j < n; j++)
        x[j] = 0;
    if (m < n) {
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < n; j++)
                r.A[(size_t)j * m + i] = A[(size_t)i * n + j] * (1 / back);
        done = triangle(n, m, r.A, r.order, NULL, r.w) == m && regular(m, m, r.A, rcond, r.w);
        if (done)
            solve_wide(&r, m, n, x);
        else
            ns_algebra_scale((size_t)m * n, A, r.A, &back);
    }
    if (!done) {
        const uint32_t count = triangle(m, n, r.A, r.order, r.b, r.w);
        done = m >= n && count == n && regular(n, n, r.A, rcond, r.w);
        if (done)
            solve_tall(&r, n, x);
        else if (!solve_any(&r, m, n, count, rcond, x, rank))
            return not_numbers(n, x);
    }
    if (done)
        *rank = m < n ? m : n;
    const int power = ns_algebra_exponent(size) - ns_algebra_exponent(back);
    for (uint32_t j = 0; j < n; j++) /* size/back may overflow where x does not */
        x[j] = ns_algebra_times_power(x[j], power) + 0.0; /* no -0 */
    return true;
}
