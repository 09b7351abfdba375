/* Eigenvalues and determinants.
 *
 * Symmetric matrices: Jacobi's rotations.  General ones: rows and columns exchanged so that
 * eigenvalues that can be read off the diagonal are, scaled by powers of two (Parlett and
 * Reinsch 1969, with Euclidean lengths as James, Langou and Lowery 2014), brought to
 * Hessenberg's form by reflections, then Francis' implicit double shifts, with the test of
 * Ahues and Tisseur (1997) for what is small enough to be zero. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/algebra.h"

static bool not_numbers(uint32_t n, double *a)
{
    for (uint32_t i = 0; i < n; i++)
        a[i] = NAN;
    return false;
}

/* ---- symmetric --------------------------------------------------------------------------- */

/* *sum += x; what is rounded off goes to *lost. */
static void gather(double *sum, double *lost, double x)
{
    const double y = *sum + x, part = y - *sum;
    *lost += (*sum - (y - part)) + (x - part);
    *sum = y;
}

/* Makes a_pq = 0; only the upper triangle is used.  tan(2 angle) = 2 a_pq/(a_qq - a_pp).
 * lost[n]: rest of the diagonal. */
static void turn(uint32_t n, double *A, uint32_t p, uint32_t q, double *lost)
{
    double *const pq = A + (size_t)p * n + q;
    double *const pp = A + (size_t)p * n + p, *const qq = A + (size_t)q * n + q;
    const double theta = (*qq - *pp) / 2 / *pq, size = fabs(theta);
    const double root = size > 0x1p30 ? 2 * size : size + sqrt(1 + theta * theta);
    const double t = theta < 0 ? -1 / root : 1 / root, c = 1 / sqrt(1 + t * t), s = c * t;
    const double h = s / (1 + c);
    gather(pp, lost + p, -t * *pq);
    gather(qq, lost + q, t * *pq);
    *pq = 0;
    for (uint32_t j = 0; j < n; j++) {
        if (j == p || j == q)
            continue;
        double *const x = j < p ? A + (size_t)j * n + p : A + (size_t)p * n + j;
        double *const y = j < q ? A + (size_t)j * n + q : A + (size_t)q * n + j;
        const double old = *x;
        *x -= s * (*y + h * old);
        *y += s * (old - h * *y);
    }
}

bool ns_algebra_symmetric(uint32_t n, double *A, double *lambda)
{
    NS_CHECK((A && lambda) || !n);
    enum { SWEEPS = 60 };
    double back;
    for (uint32_t i = 1; i < n; i++)
        memset(A + (size_t)i * n, 0, i * sizeof *A);
    if (!ns_algebra_scale((size_t)n * n, A, A, &back))
        return not_numbers(n, lambda);
    bool turned = true;
    for (uint32_t i = 0; i < n; i++)
        lambda[i] = 0;
    for (int round = 0; round < SWEEPS && turned; round++) {
        turned = false;
        for (uint32_t p = 0; p + 1 < n; p++)
            for (uint32_t q = p + 1; q < n; q++) {
                const double size = fabs(A[(size_t)p * n + q]);
                const double at_p = fabs(A[(size_t)p * n + p]);
                const double at_q = fabs(A[(size_t)q * n + q]);
                if (size < 0x1p-900 || (at_p + size == at_p && at_q + size == at_q)) {
                    A[(size_t)p * n + q] = 0;
                    continue;
                }
                turned = true;
                turn(n, A, p, q, lambda);
            }
    }
    if (turned)
        return not_numbers(n, lambda);
    for (uint32_t k = 0; k < n; k++) {
        const double value = (A[(size_t)k * n + k] + lambda[k]) * back;
        uint32_t i = k;
        for (; i > 0 && lambda[i - 1] > value; i--)
            lambda[i] = lambda[i - 1];
        lambda[i] = value;
    }
    return true;
}

/* ---- general: balance -------------------------------------------------------------------- */

static void exchange(uint32_t n, double *A, uint32_t i, uint32_t j)
{
    for (uint32_t k = 0; k < n && i != j; k++) {
        const double x = A[(size_t)i * n + k];
        A[(size_t)i * n + k] = A[(size_t)j * n + k];
        A[(size_t)j * n + k] = x;
    }
    for (uint32_t k = 0; k < n && i != j; k++) {
        const double x = A[(size_t)k * n + i];
        A[(size_t)k * n + i] = A[(size_t)k * n + j];
        A[(size_t)k * n + j] = x;
    }
}

/* Is row (column) i zero within rows and columns low to high, but for the diagonal? */
static bool alone(uint32_t n, const double *A, uint32_t low, uint32_t high, uint32_t i,
                  bool row)
{
    for (uint32_t j = low; j < high; j++)
        if (j != i && A[row ? (size_t)i * n + j : (size_t)j * n + i] != 0)
            return false;
    return true;
}

/* Rows and columns low to high are left: those outside have an eigenvalue of their own. */
static void isolate(uint32_t n, double *A, uint32_t *low, uint32_t *high)
{
    *low = 0;
    *high = n;
    for (uint32_t i = *high; i > 0;) /* rows, to the end */
        if (alone(n, A, 0, *high, --i, true)) {
            exchange(n, A, i, --*high);
            i = *high;
        }
    for (uint32_t i = *low; i < *high; i++) /* columns, to the beginning */
        if (alone(n, A, *low, *high, i, false)) {
            exchange(n, A, i, *low);
            i = (*low)++;
        }
}

/* Rows and columns by powers of two until each row is about as long as its column. */
static void balance(uint32_t n, double *A, uint32_t low, uint32_t high)
{
    enum { ROUNDS = 100 };
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t i = low; i < high; i++) {
            double row = 0, column = 0;
            for (uint32_t j = low; j < high; j++) {
                row += A[(size_t)i * n + j] * A[(size_t)i * n + j];
                column += A[(size_t)j * n + i] * A[(size_t)j * n + i];
            }
            row = sqrt(row);
            column = sqrt(column);
            if (!(row > 0x1p-400) || !(column > 0x1p-400))
                continue;
            const double sum = row + column;
            double factor = 1;
            for (; column < row / 2 && factor < 0x1p400; factor *= 2, column *= 2)
                row /= 2;
            for (; row <= column / 2 && factor > 0x1p-400; factor /= 2, row *= 2)
                column /= 2;
            if (!(row + column < 0.95 * sum))
                continue;
            changed = true;
            for (uint32_t j = 0; j < n; j++)
                A[(size_t)i * n + j] /= factor;
            for (uint32_t j = 0; j < n; j++)
                A[(size_t)j * n + i] *= factor;
        }
    }
}

/* ---- general: Hessenberg's form ---------------------------------------------------------- */

/* Reflections from both sides; for eigenvalues alone the rows and columns outside the block do
 * not matter. */
static void hessenberg(uint32_t n, double *A, uint32_t low, uint32_t high, double *v, double *w)
{
    for (uint32_t k = low; k + 2 < high; k++) {
        double most = 0, sum = 0;
        for (uint32_t i = k + 1; i < high; i++) {
            v[i] = A[(size_t)i * n + k];
            most = fabs(v[i]) > most ? fabs(v[i]) : most;
        }
        if (most == 0)
            continue;
        const double factor = 1 / most;
        for (uint32_t i = k + 1; i < high; i++) {
            v[i] *= factor;
            sum += v[i] * v[i];
        }
        if (sum == v[k + 1] * v[k + 1])
            continue;
        const double alpha = v[k + 1], beta = alpha > 0 ? -sqrt(sum) : sqrt(sum);
        const double tau = (beta - alpha) / beta;
        for (uint32_t i = k + 2; i < high; i++)
            v[i] /= alpha - beta;
        v[k + 1] = 1;
        memset(w, 0, n * sizeof *w);
        for (uint32_t i = k + 1; i < high; i++)
            for (uint32_t j = k + 1; j < high; j++)
                w[j] += v[i] * A[(size_t)i * n + j];
        for (uint32_t i = k + 1; i < high; i++)
            for (uint32_t j = k + 1; j < high; j++)
                A[(size_t)i * n + j] -= tau * v[i] * w[j];
        A[(size_t)(k + 1) * n + k] = beta * most;
        for (uint32_t i = k + 2; i < high; i++)
            A[(size_t)i * n + k] = 0;
        for (uint32_t i = low; i < high; i++) {
            double *row = A + (size_t)i * n;
            const double part = tau * ns_algebra_dot(high - k - 1, row + k + 1, v + k + 1);
            for (uint32_t j = k + 1; j < high; j++)
                row[j] -= part * v[j];
        }
    }
}

/* ---- general: Francis' steps ------------------------------------------------------------- */

/* Eigenvalues of (a b; c d). */
static void of_two(double a, double b, double c, double d, double *re, double *im)
{
    const double p = (a - d) / 2, sb = fabs(b), sc = fabs(c);
    const double most = sb > sc ? sb : sc, least = sb > sc ? sc : sb;
    const double sign = (b < 0) != (c < 0) ? -1 : 1, bc = most * least * sign;
    im[0] = im[1] = 0;
    if (bc == 0) {
        re[0] = a;
        re[1] = d;
        return;
    }
    const double root = sqrt(most * least), size = fabs(p) > root ? fabs(p) : root;
    /* p^2 + b c in units of size^2 */
    const double x = p / size, disc = x * x + (most / size) * (least / size) * sign;
    if (disc >= 0) {
        const double z = p + (p < 0 ? -1 : 1) * size * sqrt(disc);
        re[0] = d + z;
        re[1] = d - (most / z) * least * sign;
    } else {
        re[0] = re[1] = d + p;
        im[0] = size * sqrt(-disc);
        im[1] = -im[0];
    }
}

/* Is the entry below the diagonal in row i as good as zero? */
static bool small(uint32_t n, const double *H, uint32_t i, uint32_t low, uint32_t high)
{
    const double *here = H + (size_t)i * n + i, *above = here - n;
    const double below = fabs(here[-1]), beside = fabs(above[0]);
    if (below < 0x1p-900)
        return true;
    double size = fabs(above[-1]) + fabs(here[0]);
    if (size == 0) {
        size += i >= low + 2 ? fabs(above[-2]) : 0;
        size += i + 1 < high ? fabs(here[n]) : 0;
    }
    if (below > DBL_EPSILON * size)
        return false;
    const double gap = fabs(above[-1] - here[0]), at = fabs(here[0]);
    const double aa = at > gap ? at : gap, bb = at > gap ? gap : at;
    const double most = below > beside ? below : beside,
                 least = below > beside ? beside : below;
    const double s = aa + most, bound = DBL_EPSILON * (bb * (aa / s));
    return least * (most / s) <= (bound > 0x1p-900 ? bound : 0x1p-900);
}

/* Two shifts: real, or first +- i im. */
typedef struct shifts {
    double first, second, im;
} shifts;

/* One double step on rows and columns low to high, at least three. */
static void francis(uint32_t n, double *H, uint32_t low, uint32_t high, shifts s)
{
    double v[3];
    uint32_t m = high - 3;
    for (;; m--) { /* begin where two small entries below the diagonal follow each other */
        const double *h = H + (size_t)m * n + m, *next = h + n;
        v[0] = (h[0] - s.first) * ((h[0] - s.second) / next[0]) + s.im * (s.im / next[0]) +
               h[1];
        v[1] = (h[0] - s.first) + (next[1] - s.second);
        v[2] = next[n + 1];
        const double most = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
        for (int k = 0; k < 3 && most > 0; k++)
            v[k] /= most;
        if (m == low)
            break;
        const double left = fabs(h[-1]) * (fabs(v[1]) + fabs(v[2]));
        const double right = fabs(v[0]) *
                             (fabs(h[-(ptrdiff_t)n - 1]) + fabs(h[0]) + fabs(next[1]));
        if (left <= DBL_EPSILON * right)
            break;
    }
    for (uint32_t k = m; k + 1 < high; k++) {
        const uint32_t size = k + 2 < high ? 3 : 2;
        double *h = H + (size_t)k * n;
        if (k > m)
            for (uint32_t i = 0; i < size; i++)
                v[i] = h[i * (size_t)n + k - 1];
        if (size == 2)
            v[2] = 0;
        const double length = ns_algebra_length(size, v);
        if (length == 0)
            continue;
        const double beta = v[0] > 0 ? -length : length, tau = (beta - v[0]) / beta;
        const double v1 = v[1] / (v[0] - beta), v2 = v[2] / (v[0] - beta);
        if (k > m) {
            h[k - 1] = beta;
            h[n + k - 1] = 0;
            if (size == 3)
                h[2 * (size_t)n + k - 1] = 0;
        } else if (m > low)
            h[k - 1] *= 1 - tau; /* -1 but for rounding, and right where v is nearly zero */
        double *second = h + n, *third = size == 3 ? h + 2 * (size_t)n : h;
        for (uint32_t j = k; j < high; j++) {
            const double part = tau * (h[j] + v1 * second[j] + (size == 3 ? v2 * third[j] : 0));
            h[j] -= part;
            second[j] -= part * v1;
            if (size == 3)
                third[j] -= part * v2;
        }
        const uint32_t end = k + 4 < high ? k + 4 : high;
        for (uint32_t i = low; i < end; i++) {
            double *a = H + (size_t)i * n + k;
            const double part = tau * (a[0] + v1 * a[1] + (size == 3 ? v2 * a[2] : 0));
            a[0] -= part;
            a[1] -= part * v1;
            if (size == 3)
                a[2] -= part * v2;
        }
    }
}

/* Eigenvalues of rows and columns low to high of H, a matrix of Hessenberg's form. */
static bool iterate(uint32_t n, double *H, uint32_t low, uint32_t high, double *re, double *im)
{
    uint32_t rounds = 0;
    while (high > low) {
        uint32_t first = high - 1;
        while (first > low && !small(n, H, first, low, high))
            first--;
        if (first > low)
            H[(size_t)first * n + first - 1] = 0;
        double *last = H + (size_t)(high - 1) * n + high - 1, *before = last - n;
        if (first == high - 1) {
            re[first] = *last;
            im[first] = 0;
        } else if (first == high - 2)
            of_two(before[-1], before[0], last[-1], last[0], re + first, im + first);
        if (first + 2 >= high) {
            high = first;
            rounds = 0;
            continue;
        }
        if (rounds++ > 300)
            return false;
        shifts s;
        if (rounds % 10 == 0) { /* others, to get out of a circle, at either end */
            const bool end = rounds % 20;
            const double *at = H + (size_t)first * n + first;
            const double size = end ? fabs(last[-1]) + fabs(before[-2])
                                    : fabs(at[n]) + fabs(at[2 * (size_t)n + 1]);
            s.first = s.second = 0.75 * size + (end ? last[0] : at[0]);
            s.im = 0.66 * size;
        } else {
            double r[2], i[2];
            of_two(before[-1], before[0], last[-1], last[0], r, i);
            /* real: the one nearer to the last entry, twice */
            const bool near = fabs(r[0] - *last) <= fabs(r[1] - *last);
            s = (shifts){r[i[0] > 0 || near ? 0 : 1], r[i[0] > 0 || !near ? 1 : 0], i[0]};
        }
        francis(n, H, first, high, s);
    }
    return true;
}

bool ns_algebra_eigenvalues(uint32_t n, double *A, double *re, double *im)
{
    NS_CHECK((A && re && im) || !n);
    uint32_t low, high;
    double back;
    bool good = ns_algebra_scale((size_t)n * n, A, A, &back);
    if (good && n) {
        isolate(n, A, &low, &high);
        balance(n, A, low, high);
        hessenberg(n, A, low, high, re, im);
        for (uint32_t i = 0; i < n; i++)
            if (i < low || i >= high) {
                re[i] = A[(size_t)i * n + i];
                im[i] = 0;
            }
        good = iterate(n, A, low, high, re, im);
    }
    for (uint32_t i = 0; i < n && good; i++) {
        re[i] *= back;
        im[i] *= back;
    }
    return good || (not_numbers(n, re), not_numbers(n, im));
}

/* ---- determinant ------------------------------------------------------------------------- */

bool ns_algebra_determinant(uint32_t n, double *A, double *value, int *exponent)
{
    NS_CHECK(value && exponent);
    double back;
    *value = NAN;
    *exponent = 0;
    if (!ns_algebra_scale((size_t)n * n, A, A, &back))
        return false;
    *value = 1;
    for (uint32_t k = 0; k < n && *value != 0; k++) {
        uint32_t best = k;
        for (uint32_t i = k + 1; i < n; i++)
            if (fabs(A[(size_t)i * n + k]) > fabs(A[(size_t)best * n + k]))
                best = i;
        double *row = A + (size_t)k * n;
        for (uint32_t j = k; j < n && best != k; j++) {
            const double x = row[j];
            row[j] = A[(size_t)best * n + j];
            A[(size_t)best * n + j] = x;
        }
        *value *= best == k ? row[k] : -row[k];
        if (*value == 0)
            break;
        const int power = ns_algebra_exponent(*value);
        *value *= ns_algebra_power(-power);
        *exponent += power + ns_algebra_exponent(back);
        for (uint32_t i = k + 1; i < n; i++) {
            const double factor = A[(size_t)i * n + k] / row[k];
            for (uint32_t j = k + 1; j < n; j++)
                A[(size_t)i * n + j] -= factor * row[j];
        }
    }
    return true;
}
