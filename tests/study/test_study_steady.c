/* Steady motions on moving grounds and of tall cylinders, against closed forms. */
#include "support/measure.h"
#include "support/study.h"

#include <math.h>
#include <string.h>

#include "study/steady/equilibria.h"

static ns_hold held(const study *s, const char *name)
{
    const int64_t i = ns_model_observable(s->model, name);
    assert_true(i >= 0);
    const ns_system *y = s->model->system;
    ns_hold h = {.observable = (uint32_t)i};
    ns_system_eval(y, &y->observables.at[i].value, 1, 0, s->model->p, s->model->x0, &h.value);
    return h;
}

/* A ball on a turntable: its centre goes round with 2/7 of the table's rate about any point
 * (here: no radius at all), so that deviations turn with that rate.  Time enters the
 * equations. */
static void turntable(void **state)
{
    (void)state;
    study s = study_open(motion_model_file("turntable", NULL));
    assert_false(ns_flow_autonomous(s.flow));
    const ns_steady_spec spec = {.over = UINT32_MAX};
    ns_steady *q = ns_steady_new(s.arena, s.flow, &spec, s.model->x0);
    assert_non_null(q);
    const ns_generators *g = ns_steady_generators(q);
    assert_non_null(g->A0);
    ns_steady_point point;
    assert_true(ns_steady_find(q, s.model->x0, &point));
    const ns_linear *l = ns_linear_at(s.flow, g, s.arena, point.x, point.c, NULL);
    assert_int_equal(l->n, 2);
    measure_near(fabs(l->eigenvalue[0].im), 2.0 / 7 * 5, 1e-9, "2/7 of the rate");
    measure_near(l->eigenvalue[0].re, 0, 1e-9, "no growth");
    study_close(&s);
    /* a ground that does not turn uniformly has none */
    s = study_open(motion_model_file("tilting-plane", NULL));
    assert_null(ns_steady_new(s.arena, s.flow, &spec, s.model->x0));
    study_close(&s);
}

/* A ball that goes round in a vertical cylinder at one height: spin about the normal holds it;
 * deviations go up and down with sqrt(2/7) of its rate (Littlewood). */
static void cylinder(void **state)
{
    (void)state;
    study s = study_open(motion_model_file("ball-in-cylinder", NULL));
    const ns_steady_spec spec = {.over = UINT32_MAX};
    const uint32_t n = s.flow->n;
    double *x = ns_arena_copy(s.arena, s.model->x0, n * sizeof *x);
    x[motion_state(&(motion){.model = s.model}, "omega.space.x")] = -100;
    ns_steady *q = ns_steady_new(s.arena, s.flow, &spec, s.model->x0);
    ns_steady_point point;
    assert_true(ns_steady_find(q, x, &point));
    const ns_linear *l = ns_linear_at(s.flow, ns_steady_generators(q), s.arena, point.x,
                                      point.c, NULL);
    const ns_system *y = s.model->system;
    const int64_t turning = ns_model_observable(s.model, "turning");
    assert_true(turning >= 0 && l->n == 2);
    double rate;
    ns_system_eval(y, &y->observables.at[turning].value, 1, 0, s.model->p, point.x, &rate);
    measure_near(fabs(l->eigenvalue[0].im), sqrt(2.0 / 7) * fabs(rate), 1e-10, "up and down");
    study_close(&s);
}

#define TALL                                                                                   \
    "param r = 0.05, l = 0.03, m = 1, theta = 0.5, n = 12, w = -3.1\nground plane\n"           \
    "body cylinder(r, 2*l) { mass m; uniform }\n"                                              \
    "start { tilt theta; omega [0, w, n] }\n"                                                  \
    "observe cosine = quat.w^2 + quat.z^2 - quat.x^2 - quat.y^2\n"

/* A cylinder of height 2 l on its rim, axis at the angle theta from the vertical, precession W,
 * spin n about the axis.  With s = (0, -r, -l) from the centre to the contact, w = (0, W sin,
 * n), v = (l W sin - r n) e1, moments A and C, the equation of angular momentum along e1 is
 *     m g (l sin - r cos) + m W (l W sin - r n)(r sin + l cos) = W (C n sin - A W sin cos),
 * quadratic in W: a W^2 - b W + c = 0.  Where the cylinder leans beyond its balance, c > 0, the
 * two steady motions meet at b^2 = 4 a c: a fold over the height. */
typedef struct terms {
    double a, b, c;
} terms;

static terms quadratic(double l)
{
    const double r = 0.05, m = 1, g = 9.81, n = 12, sine = sin(0.5), cosine = cos(0.5);
    const double A = m * (r * r / 4 + l * l / 3), C = m * r * r / 2, h = r * sine + l * cosine;
    return (terms){.a = A * sine * cosine + m * l * sine * h,
                   .b = n * (C * sine + m * r * h),
                   .c = m * g * (l * sine - r * cosine)};
}

static void tall_cylinder(void **state)
{
    (void)state;
    study s = study_open(motion_model_text(TALL, NULL));
    const ns_hold hold[2] = {held(&s, "cosine"), held(&s, "omega.z")};
    const ns_description *d = s.model->description;
    ns_steady_spec spec = {.low = 0.03, .high = 0.3, .hold = hold, .n_hold = 2};
    while (strcmp(d->params.at[spec.over].name, "l") != 0)
        spec.over++;
    ns_steady *q = ns_steady_new(s.arena, s.flow, &spec, s.model->x0);
    const char *message = "";
    const ns_branch *b = ns_steady_follow(q, &message);
    assert_non_null(b);
    double low = 0.1, high = 0.2;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        const terms t = quadratic(middle);
        *(t.b * t.b > 4 * t.a * t.c ? &low : &high) = middle;
    }
    uint32_t folds = 0;
    for (uint32_t i = 0; i < b->special.n; i++)
        if (strcmp(b->special.at[i].label, "fold") == 0) {
            folds++;
            measure_near(b->special.at[i].parameter, low, 1e-11, "height of the fold");
        }
    assert_int_equal(folds, 1);
    /* both branches: W from the rate about e2 */
    const uint32_t y = motion_state(&(motion){.model = s.model}, "omega.x") + 1;
    const uint32_t x = y - 1;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (uint32_t i = 0; i < b->points.n; i++) {
        const ns_steady_point *p = &b->points.at[i];
        const terms t = quadratic(p->parameter);
        const double size = hypot(p->x[x], p->x[y]);
        double W = size / sin(0.5), root = HUGE_VAL;
        for (int sign = -1; sign <= 1; sign += 2) /* the direction of e2 is free */
            root = fmin(root, fabs(t.a * W * W - sign * t.b * W + t.c) /
                                  (t.a * W * W + fabs(t.b * W) + fabs(t.c)));
        measure_near(root, 0, 1e-12, "quadratic equation");
        least = fmin(least, W);
        most = fmax(most, W);
    }
    measure_near(b->points.at[b->points.n - 1].parameter, 0.03, 1e-12,
                 "back to where it began");
    print_message("tall cylinder: %u points, precession %.4g to %.4g rad/s, fold at %.15g\n",
                  b->points.n, least, most, low);
    /* at the end of the branch: the other root */
    const terms t = quadratic(0.03);
    const double other = (t.b + sqrt(t.b * t.b - 4 * t.a * t.c)) / (2 * t.a);
    const double *last = b->points.at[b->points.n - 1].x;
    measure_near(hypot(last[x], last[y]) / sin(0.5), other, 1e-10, "fast precession");
    study_close(&s);
}

/* The bead on a turning hoop: beyond w^2 = g/R the lowest point is unstable and two places with
 * cos q = g/(R w^2) leave it; frequency w sin q there.  The branches are followed both ways. */
static void pitchfork(void **state)
{
    (void)state;
    study s = study_open(
        motion_model_text("param w = 2, R = 1, g = 9.81\ncoordinate q\n"
                          "lagrangian R^2/2*(q'^2 + w^2*sin(q)^2) + g*R*cos(q)\n"
                          "start { q = 0 }\n",
                          NULL));
    ns_steady_spec spec = {.low = 2, .high = 6, .switching = true};
    ns_steady *q = ns_steady_new(s.arena, s.flow, &spec, s.model->x0);
    const char *message = "";
    const ns_branch *b = ns_steady_follow(q, &message);
    assert_non_null(b);
    assert_int_equal(b->special.n, 1);
    assert_string_equal(b->special.at[0].label, "pitchfork");
    measure_near(b->special.at[0].parameter, sqrt(9.81), 1e-12, "critical rate");
    assert_int_equal(b->more.n, 2);
    double sign = 1;
    for (uint32_t k = 0; k < 2; k++) {
        const ns_branch *m = b->more.at[k];
        assert_true(m->points.n > 20);
        assert_string_equal(m->end, "the parameter left its range");
        for (uint32_t i = 0; i < m->points.n; i++) {
            const double w = m->points.at[i].parameter, angle = acos(9.81 / (w * w));
            measure_near(fabs(m->points.at[i].x[0]), angle, 1e-9, "angle");
            measure_near(fabs(m->points.at[i].linear->eigenvalue[0].im), w * sin(angle), 1e-8,
                         "frequency");
        }
        sign *= m->points.at[m->points.n - 1].x[0] > 0 ? 1 : -1;
    }
    assert_true(sign < 0); /* one on each side */
    study_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turntable),
        cmocka_unit_test(cylinder),
        cmocka_unit_test(tall_cylinder),
        cmocka_unit_test(pitchfork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
