/* Phase planes against closed forms. */
#include "support/measure.h"
#include "support/study.h"

#include <math.h>
#include <string.h>

#include "study/orbits/portrait.h"

static const ns_portrait *make(study *s, const char *x, const char *y, double wide, double high,
                               ns_ex quantity)
{
    const motion m = {.model = s->model};
    ns_portrait_spec spec = {.x = motion_state(&m, x),
                             .y = motion_state(&m, y),
                             .from = {-wide, -high},
                             .to = {wide, high},
                             .run = ns_model_run_options(s->model),
                             .span = 30,
                             .orbits = 4,
                             .levels = 5,
                             .quantity = quantity};
    return ns_portrait_make(s->arena, s->flow, &spec, s->model->x0);
}

/* Saddles at +-pi with +-1, a centre at 0 with +-i; separatrices p = +-2 cos(q/2); levels of
 * the energy. */
static void pendulum(void **state)
{
    (void)state;
    study s = study_open(
        motion_model_text("coordinate q\nlagrangian q'^2/2 + cos(q)\nstart { q = 1 }\n", NULL));
    const ns_portrait *p = make(&s, "q", "q'", 4, 3, s.model->system->energy);
    assert_string_equal(p->message, "");
    assert_int_equal(p->points.n, 3);
    uint32_t saddles = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const ns_portrait_point *e = &p->points.at[i];
        measure_near(e->y, 0, 1e-13, "at rest");
        if (e->kind == NS_PORTRAIT_SADDLE) {
            saddles++;
            measure_near(fabs(e->x), M_PI, 1e-13, "saddle");
            measure_near(e->eigenvalue[0].re, 1, 1e-13, "saddle");
            measure_near(e->eigenvalue[1].re, -1, 1e-13, "saddle");
        } else {
            assert_int_equal(e->kind, NS_PORTRAIT_CENTRE);
            measure_near(e->x, 0, 1e-13, "centre");
            measure_near(e->eigenvalue[0].im, 1, 1e-13, "centre");
        }
    }
    assert_int_equal(saddles, 2);
    assert_int_equal(p->separatrices.n, 8);
    for (uint32_t i = 0; i < p->separatrices.n; i++) {
        const ns_portrait_curve *c = &p->separatrices.at[i];
        assert_true(c->n > 20);
        for (size_t k = 0; k < c->n; k++)
            measure_near(fabs(c->y[k]), 2 * fabs(cos(c->x[k] / 2)), 1e-5, "separatrix");
    }
    /* marching squares: the energy on a piece is the same to the square of a cell */
    assert_int_equal(p->levels.n, 5);
    for (uint32_t i = 0; i < p->levels.n; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < p->levels.at[i].n; k++) {
            const double q = p->levels.at[i].x[k], v = p->levels.at[i].y[k];
            if (isnan(q))
                continue;
            low = fmin(low, v * v / 2 - cos(q));
            high = fmax(high, v * v / 2 - cos(q));
        }
        assert_true(high - low < 2e-3);
    }
    study_close(&s);
}

/* Friction makes foci, strong friction nodes. */
static void friction(void **state)
{
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        study s = study_open(motion_model_text(
            "param c = 0.3\nstate q' = v\nstate v' = -sin(q) - c*v\nstart { q = 1; v = 0 }\n",
            strong ? "c=3" : NULL));
        const ns_portrait *p = make(&s, "q", "v", 2, 2, 0);
        assert_int_equal(p->points.n, 1);
        assert_int_equal(p->points.at[0].kind, strong ? NS_PORTRAIT_NODE : NS_PORTRAIT_FOCUS);
        measure_near(p->points.at[0].eigenvalue[0].re, strong ? (-3 + sqrt(5)) / 2 : -0.15,
                     1e-13, "decay");
        study_close(&s);
    }
}

/* The sleigh runs straight at any speed: a line of equilibria, ends of the momentum ellipses.
 * Its angle stands in the equations of the momenta only in appearance; the path is another
 * matter. */
static void sleigh(void **state)
{
    (void)state;
    study s = study_open(motion_model_file("sleigh-frame", NULL));
    const ns_portrait *p = make(&s, "v1", "v2", 2, 2, s.model->system->energy);
    assert_string_equal(p->message, "");
    assert_true(p->points.n > 10);
    for (uint32_t i = 0; i < p->points.n; i++) {
        measure_near(p->points.at[i].x, 0, 1e-7, "no turning");
        assert_true(p->points.at[i].kind == NS_PORTRAIT_LINE ||
                    p->points.at[i].kind == NS_PORTRAIT_CUSP);
    }
    for (uint32_t i = 0; i < p->orbits.n; i++) { /* motions keep the energy */
        const ns_portrait_curve *c = &p->orbits.at[i];
        double first = NAN, x[8];
        const motion m = {.model = s.model};
        memcpy(x, s.model->x0, s.model->system->states.n * sizeof *x);
        for (size_t k = 0; k < c->n; k++) {
            double E;
            x[motion_state(&m, "v1")] = c->x[k];
            x[motion_state(&m, "v2")] = c->y[k];
            ns_system_eval(s.model->system, &s.model->system->energy, 1, 0, s.model->p, x, &E);
            if (k)
                measure_near(E, first, 1e-9, "energy");
            first = E;
        }
    }
    p = make(&s, "x", "y", 2, 2, 0);
    assert_non_null(strstr(p->message, "depends on"));
    study_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum),
        cmocka_unit_test(friction),
        cmocka_unit_test(sleigh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
