/* How the weave speed of the bicycle moves with each of its 25 parameters: exact derivatives of
 * the branch of its nonlinear model against differences in quadruple precision of the linear
 * equations of J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Proc. R. Soc. A 463
 * (2007), appendix A.  Nothing is shared but the parameters. */
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

/* A pair on the imaginary axis: the Hurwitz determinant of the quartic vanishes. */
static quad hurwitz(const matrices *m, quad v)
{
    quad q[2][2][3], a[5] = {0};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            q[i][j][0] = m->g * m->K0[i][j] + v * v * m->K2[i][j];
            q[i][j][1] = v * m->C[i][j];
            q[i][j][2] = m->M[i][j];
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i + j] += q[0][0][i] * q[1][1][j] - q[0][1][i] * q[1][0][j];
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
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if NS_HAVE_QUAD
        cmocka_unit_test(test_weave),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
