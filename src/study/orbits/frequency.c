/* Frequency analysis (Laskar 1990, Icarus 88; Laskar 1999, in "Hamiltonian systems with three
 * or more degrees of freedom"), of the rate of a signal z = s', so that what drifts is a line
 * at zero.  With the window
 *
 *     w(t) = C (1 + cos(2 pi t/T))^p,     -T/2 <= t <= T/2,     sum w = 1
 *
 * a line of frequency nu is the maximum of |phi|, phi(nu) = sum_k w_k z_k exp(-i nu t_k), but
 * for what other lines at a distance d add, of the order (2 pi/(d T))^(2p+2).  The maximum is
 * the zero of
 *
 *     (|phi|^2)' = 2 Re(conj(phi) phi'),     phi' = sum_k w_k (-i t_k) z_k exp(-i nu t_k)
 *
 * and is found by Newton's method to all digits; a search by values of |phi| alone would find
 * half of them.  Lines are taken one by one, the amplitudes of all fitted again after each
 * (in the scalar product of the window), and at the end all are improved together.
 *
 * The integer combinations are found by trying: a line that is none of the frequencies before
 * it makes a new one.  If a line is a fraction of the only frequency, that was an overtone. */
#include "study/orbits/frequency.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"

enum { POWER = 5, ROUNDS = 6, OVERTONES = 12, FRACTIONS = 4 };

static const double pi = 3.14159265358979323846;
static const double weakest = 1e-12; /* line, of the strongest: what steps leave as noise */
static const double close = 1e-3;    /* of 1/T: a combination meets a line */
static const double faint = 1e-8;    /* lines, of the strongest, that count for the basis */

typedef struct work {
    ns_arena *arena;
    uint32_t n;
    double dt, bin;
    double *w, *t;          /* [n] window, time from the middle */
    double *re, *im;        /* [n] what is left */
    double *zre, *zim;      /* [n] the rate */
    double *fre, *fim;      /* [n] of the transform */
    double *cosine, *sine;  /* [n] of the line in work */
    uint32_t lines;         /* line 0 is at zero */
    double *nu, *are, *aim; /* [most + 1] */
} work;

static double *numbers(work *w, size_t n)
{
    return NS_NEW_ARRAY(w->arena, double, n);
}

static void turn_at(const work *w, double nu)
{
    for (uint32_t k = 0; k < w->n; k++)
        ns_math_sincos(nu * w->t[k], &w->sine[k], &w->cosine[k]);
}

/* phi and its first two derivatives by nu, of (re, im). */
static void look(const work *w, double nu, const double *re, const double *im, double phi[6])
{
    turn_at(w, nu);
    memset(phi, 0, 6 * sizeof *phi);
    for (uint32_t k = 0; k < w->n; k++) {
        const double a = w->w[k] * (re[k] * w->cosine[k] + im[k] * w->sine[k]);
        const double b = w->w[k] * (im[k] * w->cosine[k] - re[k] * w->sine[k]);
        const double t = w->t[k];
        phi[0] += a;
        phi[1] += b;
        phi[2] += t * b;
        phi[3] -= t * a;
        phi[4] -= t * t * a;
        phi[5] -= t * t * b;
    }
}

/* The maximum of |phi| near nu. */
static double refine(const work *w, double nu, const double *re, const double *im)
{
    for (int round = 0; round < 30; round++) {
        double f[6];
        look(w, nu, re, im, f);
        const double slope = f[0] * f[2] + f[1] * f[3];
        const double bend = f[2] * f[2] + f[3] * f[3] + f[0] * f[4] + f[1] * f[5];
        double step = bend < 0 ? -slope / bend : (slope > 0 ? 0.25 : -0.25) * w->bin;
        step = ns_max(-0.5 * w->bin, ns_min(0.5 * w->bin, step));
        nu += step;
        if (!(fabs(step) > 4 * DBL_EPSILON * ns_max(fabs(nu), w->bin)))
            break;
    }
    return nu;
}

/* The transform in place, by halves; n a power of two. */
static void transform(const work *w, double *re, double *im)
{
    const uint32_t n = w->n;
    for (uint32_t i = 1, j = 0; i < n; i++) {
        uint32_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const double a = re[i], b = im[i];
            re[i] = re[j];
            im[i] = im[j];
            re[j] = a;
            im[j] = b;
        }
    }
    for (uint32_t half = 1; half < n; half *= 2)
        for (uint32_t k = 0; k < half; k++) {
            double s, c;
            ns_math_sincos(-pi * k / half, &s, &c);
            for (uint32_t i = k; i < n; i += 2 * half) {
                const uint32_t j = i + half;
                const double a = re[j] * c - im[j] * s, b = re[j] * s + im[j] * c;
                re[j] = re[i] - a;
                im[j] = im[i] - b;
                re[i] += a;
                im[i] += b;
            }
        }
}

/* The place of the strongest line of what is left, to a part of a bin. */
static double strongest(work *w)
{
    for (uint32_t k = 0; k < w->n; k++) {
        w->fre[k] = w->w[k] * w->re[k];
        w->fim[k] = w->w[k] * w->im[k];
    }
    transform(w, w->fre, w->fim);
    uint32_t best = 0;
    double most = -1;
    for (uint32_t k = 0; k < w->n; k++) {
        const double size = w->fre[k] * w->fre[k] + w->fim[k] * w->fim[k];
        if (size > most) {
            most = size;
            best = k;
        }
    }
    return w->bin * (best > w->n / 2 ? (double)best - w->n : (double)best);
}

static void add_line(const work *w, double nu, double are, double aim, double sign)
{
    turn_at(w, nu);
    for (uint32_t k = 0; k < w->n; k++) {
        w->re[k] += sign * (are * w->cosine[k] - aim * w->sine[k]);
        w->im[k] += sign * (are * w->sine[k] + aim * w->cosine[k]);
    }
}

/* sum_k cos(nu t_k)/n */
static double kernel(const work *w, double nu)
{
    const double half = 0.5 * nu * w->dt, below = ns_math_sin(half);
    return fabs(below) > 1e-12 ? ns_math_sin(w->n * half) / (w->n * below) : 1;
}

/* The window's transform at a distance d, sum_k w_k cos(d t_k): the window is cos(x/2)^(2p),
 * x = 2 pi t/T, a sum of cos(j x) with binomial coefficients. */
static double overlap(const work *w, double d)
{
    double sum = kernel(w, d), c = 1;
    for (int j = 1; j <= POWER; j++) {
        c *= (POWER - j + 1.0) / (POWER + j);
        sum += c * (kernel(w, d + j * w->bin) + kernel(w, d - j * w->bin));
    }
    return sum;
}

/* Amplitudes of all lines, and what they leave.  The window is even, so the products of two
 * lines are real: real and imaginary parts are fitted by themselves. */
static void fit(work *w)
{
    const uint32_t m = w->lines;
    double *G = numbers(w, (size_t)m * m), *copy = numbers(w, (size_t)m * m);
    double *bre = numbers(w, m), *bim = numbers(w, m), f[6];
    for (uint32_t i = 0; i < m; i++) {
        look(w, w->nu[i], w->zre, w->zim, f);
        bre[i] = f[0];
        bim[i] = f[1];
        for (uint32_t j = 0; j <= i; j++)
            G[i * m + j] = G[j * m + i] = overlap(w, w->nu[i] - w->nu[j]);
    }
    memcpy(copy, G, (size_t)m * m * sizeof *G);
    ns_dense_least(w->arena, m, m, G, bre, 1e-12, w->are);
    ns_dense_least(w->arena, m, m, copy, bim, 1e-12, w->aim);
    memcpy(w->re, w->zre, w->n * sizeof *w->re);
    memcpy(w->im, w->zim, w->n * sizeof *w->im);
    for (uint32_t i = 0; i < m; i++)
        add_line(w, w->nu[i], w->are[i], w->aim[i], -1);
}

/* Weighted mean square. */
static double square(const work *w, const double *re, const double *im)
{
    double sum = 0;
    for (uint32_t k = 0; k < w->n; k++)
        sum += w->w[k] * (re[k] * re[k] + im[k] * im[k]);
    return sum;
}

/* Products of two lines at a distance d under the window: sums of w cos, w t sin, w t^2 cos. */
static void products(const work *w, double d, double sum[3])
{
    turn_at(w, d);
    memset(sum, 0, 3 * sizeof *sum);
    for (uint32_t k = 0; k < w->n; k++) {
        const double t = w->t[k] * w->bin, c = w->w[k] * w->cosine[k];
        sum[0] += c;
        sum[1] += w->w[k] * w->sine[k] * t;
        sum[2] += c * t * t;
    }
}

/* All frequencies and amplitudes together, by a step of Gauss and Newton: what is left is to
 * vanish to first order along  E_i, i E_i, i t (a_i/|a_i|) E_i,  E_i = exp(i nu_i t).  The line
 * at zero stays there.  True if another step may help. */
static bool improve(work *w)
{
    const uint32_t m = w->lines, size = 3 * m;
    double *A = numbers(w, (size_t)size * size), *b = numbers(w, size), *x = numbers(w, size);
    double *c = numbers(w, m), *s = numbers(w, m), worst = 0, largest = 0; /* a_i/|a_i| */
    for (uint32_t i = 0; i < m; i++) {
        const double length = ns_math_hypot(w->are[i], w->aim[i]);
        c[i] = length > 0 && i ? w->are[i] / length : 0; /* none at zero */
        s[i] = length > 0 && i ? w->aim[i] / length : 0;
        largest = ns_max(largest, length);
    }
    for (uint32_t i = 0; i < m; i++) {
        double f[6], p[3];
        look(w, w->nu[i], w->re, w->im, f);
        b[3 * i] = f[0];
        b[3 * i + 1] = f[1];
        b[3 * i + 2] = w->bin * (c[i] * f[2] + s[i] * f[3]);
        for (uint32_t j = 0; j <= i; j++) {
            products(w, w->nu[j] - w->nu[i], p);
            const double block[3][3] = {
                {p[0], 0, -c[j] * p[1]},
                {0, p[0], -s[j] * p[1]},
                {c[i] * p[1], s[i] * p[1], (c[i] * c[j] + s[i] * s[j]) * p[2]}};
            for (uint32_t k = 0; k < 9; k++) {
                const size_t row = 3 * i + k / 3, column = 3 * j + k % 3;
                A[row * size + column] = A[column * size + row] = block[k / 3][k % 3];
            }
        }
    }
    ns_dense_least(w->arena, size, size, A, b, 1e-13, x);
    for (uint32_t i = 1; i < m; i++) {
        const double length = ns_math_hypot(w->are[i], w->aim[i]);
        const double change = length > 0 ? x[3 * i + 2] / length : 0;
        if (!(fabs(change) < 0.5)) /* in bins: the lines are not resolved */
            return false;
        worst = ns_max(worst, fabs(x[3 * i + 2]) / largest);
    }
    for (uint32_t i = 1; i < m; i++) {
        const double length = ns_math_hypot(w->are[i], w->aim[i]);
        w->nu[i] += length > 0 ? w->bin * x[3 * i + 2] / length : 0;
    }
    fit(w);
    return worst > 1e-14;
}

/* What was found only because the others were not exact yet. */
static void drop_faint(work *w)
{
    double largest = 0;
    uint32_t kept = 1;
    for (uint32_t i = 1; i < w->lines; i++)
        largest = ns_max(largest, ns_math_hypot(w->are[i], w->aim[i]));
    for (uint32_t i = 1; i < w->lines; i++)
        if (ns_math_hypot(w->are[i], w->aim[i]) > weakest * largest)
            w->nu[kept++] = w->nu[i];
    if (kept == w->lines)
        return;
    w->lines = kept;
    fit(w);
}

static void find_lines(work *w, uint32_t most)
{
    w->lines = 1;
    w->nu[0] = 0;
    fit(w);
    double largest = 0;
    while (w->lines <= most) {
        const double nu = refine(w, strongest(w), w->re, w->im);
        double f[6], nearest = INFINITY;
        look(w, nu, w->re, w->im, f);
        const double size = ns_math_hypot(f[0], f[1]);
        for (uint32_t i = 0; i < w->lines; i++)
            nearest = ns_min(nearest, fabs(nu - w->nu[i]));
        largest = ns_max(largest, size);
        /* a line beside one that there is: not resolved in this time, or noise */
        if (!(size > weakest * largest) || nearest < 1.5 * w->bin)
            break;
        w->nu[w->lines++] = nu;
        fit(w);
    }
    for (int round = 0; round < ROUNDS && improve(w); round++)
        continue;
    drop_faint(w);
}

/* From the rate to the signal, A = a/(i nu), and from the middle to the beginning. */
static void put_lines(const work *w, ns_frequency_signal *s)
{
    const double whole = square(w, w->zre, w->zim), rest = square(w, w->re, w->im);
    s->drift[0] = w->are[0];
    s->drift[1] = w->aim[0];
    s->rest = whole > 0 ? sqrt(rest / whole) : 0;
    s->line = NS_NEW_ARRAY(w->arena, ns_frequency_line, w->lines + 1);
    for (uint32_t i = 1; i < w->lines; i++) {
        double sine, cosine;
        const double nu = w->nu[i], a = w->aim[i] / nu, b = -w->are[i] / nu;
        if (!s->im && nu < 0)
            continue;
        ns_math_sincos(nu * w->t[0], &sine, &cosine);
        const double twice = s->im ? 1 : 2; /* with the line at -nu */
        ns_frequency_line one = {.nu = nu,
                                 .re = twice * (a * cosine - b * sine),
                                 .im = twice * (a * sine + b * cosine)};
        uint32_t at = s->lines++;
        while (at > 0 && ns_math_hypot(s->line[at - 1].re, s->line[at - 1].im) <
                             ns_math_hypot(one.re, one.im)) {
            s->line[at] = s->line[at - 1];
            at--;
        }
        s->line[at] = one;
    }
}

/* nu = sum_b k_b omega_b with small k, those of the last frequencies as small as can be; false
 * if there is no such combination of the first b. */
static bool combine(const ns_frequencies *f, double nu, uint32_t b, int32_t *k)
{
    if (b == 0)
        return fabs(nu) < close * f->bin;
    if (b == 1) {
        const double times = floor(nu / f->omega[0] + 0.5);
        k[0] = fabs(times) <= 4 * OVERTONES ? (int32_t)times : 0;
        return combine(f, nu - k[0] * f->omega[0], 0, k);
    }
    const int32_t reach = b == 2 ? OVERTONES : 3;
    for (int32_t size = 0; size <= reach; size++)
        for (int sign = 1; sign >= (size ? -1 : 1); sign -= 2) {
            k[b - 1] = sign * size;
            if (combine(f, nu - k[b - 1] * f->omega[b - 1], b - 1, k))
                return true;
        }
    return false;
}

/* Makes nu known, with a new frequency if need be. */
static void explain(ns_frequencies *f, double nu)
{
    int32_t k[NS_FREQUENCY_BASIS] = {0};
    if (combine(f, nu, f->n, k))
        return;
    for (int q = 2; f->n == 1 && q <= FRACTIONS; q++)
        if (combine(f, q * nu, f->n, k)) {
            f->omega[0] /= q;
            return;
        }
    if (f->n == NS_FREQUENCY_BASIS)
        return;
    if (f->n) /* the slowest of those that the first leads to */
        nu -= f->omega[0] * floor(nu / f->omega[0] + 0.5);
    f->omega[f->n] = f->n ? nu : fabs(nu);
    f->n++;
}

static bool counts(const ns_frequency_signal *s, uint32_t i)
{
    return ns_math_hypot(s->line[i].re, s->line[i].im) >
           faint * ns_math_hypot(s->line[0].re, s->line[0].im);
}

ns_frequencies ns_frequency_analyse(ns_arena *arena, ns_frequency_signal *signal,
                                    uint32_t signals, uint32_t n, double dt, uint32_t most)
{
    work w = {.arena = arena, .n = n, .dt = dt, .bin = 2 * pi / (n * dt)};
    double **const all[] = {&w.w,   &w.t,   &w.re,  &w.im,     &w.zre,
                            &w.zim, &w.fre, &w.fim, &w.cosine, &w.sine};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = numbers(&w, n);
    double **const few[] = {&w.nu, &w.are, &w.aim};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        *few[i] = numbers(&w, 2 * (size_t)most + 2);
    double sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        w.t[k] = (k - 0.5 * (n - 1)) * dt;
        double height = 0.5 + 0.5 * ns_math_cos(w.bin * w.t[k]);
        w.w[k] = 1;
        for (int i = 0; i < POWER; i++)
            w.w[k] *= height;
        sum += w.w[k];
    }
    for (uint32_t k = 0; k < n; k++)
        w.w[k] /= sum;
    ns_frequencies f = {.bin = w.bin};
    for (uint32_t i = 0; i < signals; i++) {
        ns_frequency_signal *s = &signal[i];
        memcpy(w.zre, s->re, n * sizeof(double));
        if (s->im)
            memcpy(w.zim, s->im, n * sizeof(double));
        else
            memset(w.zim, 0, n * sizeof(double));
        find_lines(&w, s->im ? most : 2 * most);
        put_lines(&w, s);
        for (uint32_t k = 0; k < s->lines; k++)
            if (counts(s, k))
                explain(&f, s->line[k].nu);
    }
    for (uint32_t i = 0; i < signals; i++)
        for (uint32_t k = 0; k < signal[i].lines; k++) {
            ns_frequency_line *one = &signal[i].line[k];
            one->known = combine(&f, one->nu, f.n, one->k);
            f.unknown += !one->known && counts(&signal[i], k);
        }
    return f;
}
