/* Zeros of small polynomials in Bernstein form: see roots.h. */
#include "ode/events/roots.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/math/vecmath.h"

/* Inverse of the matrix of Bernstein polynomials at the nodes, by columns: all coefficients at
 * once. */
static const double bernstein[10][10] = {
    {1, -7.111111111111111, 21.77777777777778, -37.333333333333336, 38.888888888888886,
     -24.88888888888889, 9.333333333333334, -1.7777777777777777, 0.1111111111111111, 0},
    {0, 9.024884064791094, -33.01987283790182, 59.50817120546684, -63.161492323681834,
     40.74454512164171, -15.331460950821556, 2.924188019228891, -0.1828196172714335, 0},
    {0, -1.2058801546953553, 16.630276204815313, -38.31705064874339, 44.40274042799319,
     -29.7129345707469, 11.357982623236751, -2.179701373135819, 0.1364726635430837, 0},
    {0, 0.43605753596479563, -6.6264119645191535, 27.497871053260944, -38.73518248664697,
     28.076802020790417, -11.10438196437471, 2.159400649297505, -0.13562161438339282, 0},
    {0, -0.2357805556994444, 3.6870606780428106, -17.515454129745912, 35.89160617885656,
     -30.50608436820617, 12.90432281172104, -2.574939375827725, 0.1626876777506527, 0},
    {0, 0.1626876777506527, -2.574939375827725, 12.90432281172104, -30.50608436820617,
     35.89160617885656, -17.515454129745912, 3.6870606780428106, -0.2357805556994444, 0},
    {0, -0.13562161438339282, 2.159400649297505, -11.10438196437471, 28.076802020790417,
     -38.73518248664697, 27.497871053260944, -6.6264119645191535, 0.43605753596479563, 0},
    {0, 0.1364726635430837, -2.179701373135819, 11.357982623236751, -29.7129345707469,
     44.40274042799319, -38.31705064874339, 16.630276204815313, -1.2058801546953553, 0},
    {0, -0.1828196172714335, 2.924188019228891, -15.331460950821556, 40.74454512164171,
     -63.161492323681834, 59.50817120546684, -33.01987283790182, 9.024884064791094, 0},
    {0, 0.1111111111111111, -1.7777777777777777, 9.333333333333334, -24.88888888888889,
     38.888888888888886, -37.333333333333336, 21.77777777777778, -7.111111111111111, 1},
};

/* Coefficients of the Legendre polynomials of degree 8 and 9. */
static const double legendre8[10] = {
    0.5,
    -0.7743333200925615,
    0.43951347405149993,
    -0.24464276180640177,
    0.07946260784746334,
    0.07946260784746334,
    -0.24464276180640177,
    0.43951347405149993,
    -0.7743333200925615,
    0.5,
};
static const double legendre9[10] = {
    -0.2647058823529412,  0.42689315802620853, -0.2920715387259969,  0.24644865627044504,
    -0.229337484328538,   0.229337484328538,   -0.24644865627044504, 0.2920715387259969,
    -0.42689315802620853, 0.2647058823529412,
};

void ns_roots_fit(const double *values, ns_roots_poly *p)
{
    double a8 = 0, a9 = 0;
    p->size = 0;
    for (int i = 0; i < NS_ROOTS_POINTS; i++) {
        a8 += legendre8[i] * values[i];
        a9 += legendre9[i] * values[i];
        p->size = fabs(values[i]) > p->size ? fabs(values[i]) : p->size;
        p->b[i] = 0;
    }
    for (int i = 0; i < NS_ROOTS_POINTS; i++)
        for (int k = 0; k < NS_ROOTS_POINTS; k++)
            p->b[k] += bernstein[i][k] * values[i];
    p->error = ns_max(fabs(a8), fabs(a9));
}

/* Value and slope, by a Horner scheme in the ratio of the smaller one of u and 1 - u to the
 * other, which is as good as de Casteljau's in a fifth of the operations. */
static double value_slope(const double *b, int degree, double u, double *slope)
{
    static const double binomial[2][NS_ROOTS_POINTS] = {{1, 8, 28, 56, 70, 56, 28, 8, 1},
                                                        {1, 9, 36, 84, 126, 126, 84, 36, 9, 1}};
    const double *c = binomial[degree == NS_ROOTS_DEGREE];
    const bool left = u <= 0.5;
    const double v = left ? 1 - u : u, z = left ? u / v : (1 - u) / v;
    /* p = v^n P(z), P(z) = sum c_k b_k z^k from the near end */
    double P = 0, D = 0, power = 1;
    for (int k = degree; k >= 0; k--) {
        D = D * z + P;
        P = P * z + c[k] * b[left ? k : degree - k];
    }
    for (int k = 0; k < degree - 1; k++)
        power *= v;
    /* dp/dz-end: v' = -1, z' = 1/v^2 towards the other end */
    const double along = power * (D / v - degree * P);
    *slope = left ? along : -along;
    return power * v * P;
}

double ns_roots_value(const ns_roots_poly *p, double u)
{
    double slope = 0;
    return value_slope(p->b, NS_ROOTS_DEGREE, u, &slope);
}

double ns_roots_slope(const ns_roots_poly *p, double u)
{
    double slope = 0;
    value_slope(p->b, NS_ROOTS_DEGREE, u, &slope);
    return slope;
}

int ns_roots_extrema(const ns_roots_poly *p, double *u)
{
    double d[NS_ROOTS_DEGREE];
    for (int i = 0; i < NS_ROOTS_DEGREE; i++)
        d[i] = NS_ROOTS_DEGREE * (p->b[i + 1] - p->b[i]);
    return ns_roots_bernstein(d, NS_ROOTS_DEGREE - 1, u);
}

static int variations(const double *b, int degree)
{
    int count = 0;
    double last = 0;
    for (int i = 0; i <= degree; i++) {
        if (b[i] == 0)
            continue;
        count += last * b[i] < 0;
        last = b[i] < 0 ? -1 : 1;
    }
    return count;
}

/* The zero between l and r, where the signs differ and `sign` is that at l: Newton's iteration
 * in a shrinking bracket. */
static double between(const double *b, int degree, double l, double r, double sign)
{
    static const double resolved = 1e-15, still = 2e-16; /* of the unit interval */
    enum { MOST = 100, BISECT = 8 };                     /* rounds; each eighth by halves */
    double u = (l + r) / 2;
    for (int k = 0; k < MOST && r - l > resolved; k++) {
        double slope = 0;
        const double f = value_slope(b, degree, u, &slope);
        if (f == 0)
            return u;
        if (f * sign > 0)
            l = u;
        else
            r = u;
        const double next = u - f / slope;
        if (fabs(next - u) <= still)
            return u;
        u = next > l && next < r && k % BISECT != BISECT - 1 ? next : (l + r) / 2;
    }
    return (l + r) / 2;
}

double ns_roots_between(const ns_roots_poly *p, double l, double r, double sign)
{
    return between(p->b, NS_ROOTS_DEGREE, l, r, sign);
}

/* Halves the interval until each piece has no or one change of sign.  The explicit stack holds
 * the pieces further right below; a piece shorter than 1e-9 counts as one (multiple) zero.  A
 * zero that falls on a boundary shows in neither half and gets a piece of width zero. */
int ns_roots_bernstein(const double *b, int degree, double *u)
{
    enum { DEPTH = 72 };
    struct piece {
        double b[NS_ROOTS_POINTS], l, r;
    } stack[DEPTH + 2];
    static const double narrow = 1e-9; /* zeros nearer to each other count as one */
    int top = 0, found = 0;
    const size_t bytes = sizeof(double) * (size_t)(degree + 1);
    memcpy(stack[0].b, b, bytes);
    stack[0].l = 0;
    stack[0].r = 1;
    while (top >= 0 && found < degree) {
        struct piece *p = &stack[top];
        const int count = variations(p->b, degree);
        const bool single = count == 1 && p->b[0] * p->b[degree] < 0;
        const bool point = p->l == p->r;
        if (point || single || (count > 0 && (p->r - p->l < narrow || top >= DEPTH)))
            u[found++] = p->l +
                         (p->r - p->l) * (single ? between(p->b, degree, 0, 1, p->b[0]) : 0.5);
        if (point || single || count == 0 || p->r - p->l < narrow || top >= DEPTH) {
            top--;
            continue;
        }
        /* de Casteljau at the middle: c starts as the whole and ends as the right half */
        const double middle = (p->l + p->r) / 2;
        struct piece left = {.l = p->l, .r = middle};
        double c[NS_ROOTS_POINTS];
        memcpy(c, p->b, bytes);
        left.b[0] = c[0];
        for (int k = 1; k <= degree; k++) {
            for (int i = 0; i <= degree - k; i++)
                c[i] = (c[i] + c[i + 1]) / 2;
            left.b[k] = c[0];
        }
        memcpy(p->b, c, bytes);
        p->l = middle;
        if (c[0] == 0)
            stack[++top] = (struct piece){.l = middle, .r = middle};
        stack[++top] = left;
    }
    return found;
}
