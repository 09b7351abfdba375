/* How the weave speed and the eigenvalues of the bicycle move with each of its 25 parameters:
 * exact derivatives of its nonlinear model against differences in quadruple precision of the
 * linear equations of J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Proc. R. Soc.
 * A 463 (2007), appendix A.  Nothing is shared but the parameters. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "base/math/quad.h"
#include "study/steady/equilibria.h"
#include "support/study.h"

#if NS_HAVE_QUAD
typedef ns_quad quad;

static const char *const names[] = {"w",    "c",  "tilt", "g",    "rr",   "mr",   "Irxx",
                                    "Iryy", "xb", "zb",   "mb",   "Ibxx", "Ibyy", "Ibzz",
                                    "Ibxz", "xh", "zh",   "mh",   "Ihxx", "Ihyy", "Ihzz",
                                    "Ihxz", "rf", "mf",   "Ifxx", "Ifyy"};
enum { PARAMETERS = sizeof names / sizeof *names };

static quad get(const quad *p, const char *name)
{
    for (int i = 0; i < PARAMETERS; i++)
        if (strcmp(names[i], name) == 0)
            return p[i];
    fail_msg("no parameter %s", name);
    return 0;
}

typedef struct matrices {
    quad M[2][2], C[2][2], K0[2][2], K2[2][2], g; /* M q'' + v C q' + (g K0 + v^2 K2) q = 0 */
} matrices;

static matrices canonical(const quad *p)
{
#define P(name) const quad name = get(p, #name)
    P(w);
    P(c);
    P(tilt);
    P(rr);
    P(mr);
    P(xb);
    P(mb);
    P(xh);
    P(mh);
    P(rf);
    P(mf);
#undef P
    /* z points down there */
    const quad zb = -get(p, "zb"), zh = -get(p, "zh"), s = NS_QUAD_LIBM(sin)(tilt),
               k = NS_QUAD_LIBM(cos)(tilt);
    const quad Ibxz = -get(p, "Ibxz"), Ihxz = -get(p, "Ihxz"), Ihxx = get(p, "Ihxx"),
               Ihzz = get(p, "Ihzz"), Ifxx = get(p, "Ifxx"), Irxx = get(p, "Irxx");
    const quad mT = mr + mb + mh + mf, xT = (xb * mb + xh * mh + w * mf) / mT;
    const quad zT = (-rr * mr + zb * mb + zh * mh - rf * mf) / mT;
    const quad Txx = Irxx + get(p, "Ibxx") + Ihxx + Ifxx + mr * rr * rr + mb * zb * zb +
                     mh * zh * zh + mf * rf * rf;
    const quad Txz = Ibxz + Ihxz - mb * xb * zb - mh * xh * zh + mf * w * rf;
    const quad Tzz = Irxx + get(p, "Ibzz") + Ihzz + Ifxx + mb * xb * xb + mh * xh * xh +
                     mf * w * w;
    const quad mA = mh + mf, xA = (xh * mh + w * mf) / mA, zA = (zh * mh - rf * mf) / mA;
    const quad Axx = Ihxx + Ifxx + mh * (zh - zA) * (zh - zA) + mf * (rf + zA) * (rf + zA);
    const quad Axz = Ihxz - mh * (xh - xA) * (zh - zA) + mf * (w - xA) * (rf + zA);
    const quad Azz = Ihzz + Ifxx + mh * (xh - xA) * (xh - xA) + mf * (w - xA) * (w - xA);
    const quad uA = (xA - w - c) * k - zA * s;
    const quad All = mA * uA * uA + Axx * s * s + 2 * Axz * s * k + Azz * k * k;
    const quad Alx = -mA * uA * zA + Axx * s + Axz * k;
    const quad Alz = mA * uA * xA + Axz * s + Azz * k, mu = c / w * k;
    const quad SR = get(p, "Iryy") / rr, SF = get(p, "Ifyy") / rf, ST = SR + SF;
    const quad SA = mA * uA + mu * mT * xT;
    const quad Mx = Alx + mu * Txz;
    return (matrices){.M = {{Txx, Mx}, {Mx, All + 2 * mu * Alz + mu * mu * Tzz}},
                      .C = {{0, mu * ST + SF * k + Txz / w * k - mu * mT * zT},
                            {-(mu * ST + SF * k), Alz / w * k + mu * (SA + Tzz / w * k)}},
                      .K0 = {{mT * zT, -SA}, {-SA, -SA * s}},
                      .K2 = {{0, (ST - mT * zT) / w * k}, {0, (SA + SF * s) / w * k}},
                      .g = get(p, "g")};
}

/* The characteristic polynomial, a0 + a1 x + ... + a4 x^4. */
static void quartic(const matrices *m, quad v, quad a[5])
{
    quad q[2][2][3];
    for (int i = 0; i < 5; i++)
        a[i] = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            q[i][j][0] = m->g * m->K0[i][j] + v * v * m->K2[i][j];
            q[i][j][1] = v * m->C[i][j];
            q[i][j][2] = m->M[i][j];
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i + j] += q[0][0][i] * q[1][1][j] - q[0][1][i] * q[1][0][j];
}

/* A pair on the imaginary axis: the Hurwitz determinant of the quartic vanishes. */
static quad hurwitz(const matrices *m, quad v)
{
    quad a[5];
    quartic(m, v, a);
    return a[1] * a[2] * a[3] - a[1] * a[1] * a[4] - a[3] * a[3] * a[0];
}

static quad weave(const quad *p)
{
    const matrices m = canonical(p);
    quad low = 4, high = 4.6;
    for (int k = 0; k < 110; k++) {
        const quad v = (low + high) / 2;
        if ((hurwitz(&m, v) > 0) == (hurwitz(&m, high) > 0))
            high = v;
        else
            low = v;
    }
    return low;
}

static void test_weave(void **state)
{
    (void)state;
    study s = study_open(motion_model_file("bicycle", "kick=0"));
    const ns_description *d = s.model->description;
    uint32_t by[PARAMETERS], over = 0;
    quad p[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        for (by[i] = 0; strcmp(d->params.at[by[i]].name, names[i]) != 0;)
            by[i]++;
        p[i] = s.model->p[by[i]];
    }
    while (strcmp(d->params.at[over].name, "v") != 0)
        over++;
    const ns_steady_spec spec = {
        .over = over, .low = 4.2, .high = 4.4, .by = by, .n_by = PARAMETERS};
    ns_steady *q = ns_steady_new(s.arena, s.flow, &spec, s.model->x0);
    const char *message = "";
    const ns_branch *b = ns_steady_follow(q, &message);
    assert_non_null(b);
    assert_int_equal(b->special.n, 1);
    const ns_steady_point *point = &b->special.at[0];
    assert_true(fabs(point->parameter - (double)weave(p)) < 1e-13);
    for (int i = 0; i < PARAMETERS; i++) {
        const quad value = p[i], h = value / 1000000000;
        p[i] = value + h;
        const quad above = weave(p);
        p[i] = value - h;
        const quad below = weave(p);
        p[i] = value;
        const double exact = (double)((above - below) / (2 * h));
        if (!(fabs(point->by[i] - exact) <= 1e-11 * fmax(fabs(exact), 1e-3)))
            fail_msg("weave speed by %s: %.15g, differences %.15g", names[i], point->by[i],
                     exact);
    }
    print_message("weave speed %.15g, by the trail %.15g\n", point->parameter, point->by[1]);
    study_close(&s);
}

/* The root of the quartic near x, by Newton's method. */
static void root(const quad *p, quad v, const double near[2], quad x[2])
{
    quad a[5];
    const matrices m = canonical(p);
    quartic(&m, v, a);
    x[0] = near[0];
    x[1] = near[1];
    for (int round = 0; round < 8; round++) {
        quad f[2] = {a[4], 0}, d[2] = {0, 0};
        for (int i = 3; i >= 0; i--) {
            const quad d0 = d[0] * x[0] - d[1] * x[1] + f[0];
            d[1] = d[0] * x[1] + d[1] * x[0] + f[1];
            d[0] = d0;
            const quad f0 = f[0] * x[0] - f[1] * x[1] + a[i];
            f[1] = f[0] * x[1] + f[1] * x[0];
            f[0] = f0;
        }
        const quad size = d[0] * d[0] + d[1] * d[1];
        x[0] -= (f[0] * d[0] + f[1] * d[1]) / size;
        x[1] -= (f[1] * d[0] - f[0] * d[1]) / size;
    }
}

/* Capsize, weave and castering at 5 m/s by each parameter, at constant speed.  Capsize, 0.3/s,
 * lies beside the zeros of the symmetries, with rates of 1e3/s: it has nine digits, the others
 * have ten. */
static void test_eigenvalues(void **state)
{
    (void)state;
    study s = study_open(motion_model_file("bicycle", "kick=0; v=5"));
    const ns_description *d = s.model->description;
    uint32_t by[PARAMETERS];
    quad p[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
        for (by[i] = 0; strcmp(d->params.at[by[i]].name, names[i]) != 0;)
            by[i]++;
        p[i] = s.model->p[by[i]];
    }
    const int64_t speed = ns_model_observable(s.model, "B.x'");
    assert_true(speed >= 0);
    const ns_hold hold = {(uint32_t)speed, 5};
    const ns_steady_spec spec = {
        .over = UINT32_MAX, .hold = &hold, .n_hold = 1, .by = by, .n_by = PARAMETERS};
    ns_steady *q = ns_steady_new(s.arena, s.flow, &spec, s.model->x0);
    const ns_steady_set set = ns_steady_find_all(q, 1, s.model->x0);
    assert_int_equal(set.found.n, 1);
    const ns_steady_point *point = &set.found.at[0];
    const ns_linear *l = point->linear;
    assert_int_equal(l->n, 4);
    double worst = 0;
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < PARAMETERS; i++) {
            const ns_eigenvalue e = point->rates->eigenvalue[i * 4 + k];
            const double near[2] = {l->eigenvalue[k].re, l->eigenvalue[k].im};
            const quad value = p[i], h = value / 1000000000;
            quad above[2], below[2];
            p[i] = value + h;
            root(p, 5, near, above);
            p[i] = value - h;
            root(p, 5, near, below);
            p[i] = value;
            const double re = (double)((above[0] - below[0]) / (2 * h));
            const double im = (double)((above[1] - below[1]) / (2 * h));
            const double off = hypot(e.re - re, e.im - im) / fmax(hypot(re, im), 1e-2);
            if (!(off < (k == 0 ? 2e-9 : 1e-10)))
                fail_msg("%.6g %+.6g i by %s: %.15g %+.15g i, differences %.15g %+.15g i",
                         near[0], near[1], names[i], e.re, e.im, re, im);
            worst = fmax(worst, off);
        }
    print_message("eigenvalues by parameters: the largest error is %.1e\n", worst);
    study_close(&s);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if NS_HAVE_QUAD
        cmocka_unit_test(test_weave),
        cmocka_unit_test(test_eigenvalues),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
