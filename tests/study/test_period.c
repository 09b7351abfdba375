/* Reduced periodic motion: the period by other means, the shift of the group, relative
 * equilibria; and discrete symmetries of the equations. */
#include "support/measure.h"
#include "support/motion.h"
#include "support/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mech/reduced/symmetry.h"
#include "study/orbits/period.h"

static const ns_period *find(ns_model *model, double until)
{
    const char *message = "";
    const ns_run_options run = ns_model_run_options(model);
    const ns_period *r = ns_period_find(model->system, until, &run, model->p, model->x0,
                                        &message);
    if (!r)
        fail_msg("no search: %s", message);
    return r;
}

/* Without rotation the mass swings with w^2 = k (M + m)/(M m) (6.11) and the blade runs
 * straight. */
static void closed_form(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("sleigh-oscillator-momentum",
                                        "p10=0; p20=0.4; M=1.7; m=0.6; k=2");
    const ns_period *r = find(model, 20);
    const double M = 1.7, m = 0.6, k = 2, T = 2 * M_PI / sqrt(k * (M + m) / (M * m));
    assert_true(r->found);
    measure_close(r->period, T, 1e-14, "period 2 pi/w");
    measure_close(r->shift[0].turn[0], 0, 1e-14, "no turn");
    measure_close(r->shift[0].move[0], 0.4 / (M + m) * T, 1e-14, "move by p2/(M + m) T");
    measure_close(r->shift[0].move[1], 0, 1e-14, "straight");
    ns_model_free(model);
}

/* Period by the event r = 0, shift by two states of the full system of formulation
 * `lagrange`. */
static void sleigh_oscillator(void **state)
{
    (void)state;
    static const char *const models[] = {"sleigh-oscillator-momentum",
                                         "sleigh-oscillator-frame"};
    double periods[2], turns[2];
    for (int i = 0; i < 2; i++) {
        ns_model *model = motion_model_file(models[i], "p10=0.9; theta0=0.4");
        const ns_period *r = find(model, 40);
        assert_true(r->found);
        measure_below(r->mismatch, 1e-13, "return of r, r', p", models[i]);
        measure_below(r->shift_error, 1e-13, "g(t + T) = h g(t)", models[i]);
        motion full = motion_file("sleigh-oscillator", "p10=0.9; theta0=0.4");
        assert_int_equal(motion_to(&full, 4 * r->period), NS_OK);
        double first = NAN;
        for (uint32_t k = 0; k < 4; k++) {
            const double t = motion_event(&full, "middle", k);
            if (t > 1e-6) {
                first = t;
                break;
            }
        }
        measure_close(r->period, first, 1e-13, "period by events");
        motion_close(&full);
        full = motion_file("sleigh-oscillator", "p10=0.9; theta0=0.4");
        double begin[3] = {motion_get(&full, "theta"), 0, 0}, before[3] = {0}, worst = 0;
        for (int k = 0; k < 4; k++) { /* h^k applied to the start */
            assert_int_equal(motion_to(&full, r->period * (k + 1)), NS_OK);
            const ns_shift *h = &r->shift[0];
            const double c = cos(h->turn[0]), s = sin(h->turn[0]);
            before[0] = begin[0] + h->turn[0];
            before[1] = c * begin[1] - s * begin[2] + h->move[0];
            before[2] = s * begin[1] + c * begin[2] + h->move[1];
            memcpy(begin, before, sizeof begin);
            worst = fmax(worst, fabs(motion_get(&full, "theta") - begin[0]));
            worst = fmax(worst, fabs(motion_get(&full, "x") - begin[1]));
            worst = fmax(worst, fabs(motion_get(&full, "y") - begin[2]));
        }
        print_message("%s: T = %.15g, turn %.15g; four shifts against lagrange %.1e\n",
                      models[i], r->period, r->shift[0].turn[0], worst);
        measure_below(worst, 1e-12, "shifts against lagrange", models[i]);
        /* relative equilibria: r = 0, p = p0 */
        assert_true(r->equilibrium);
        assert_int_equal(r->family, 2);
        measure_close(r->at[0], 0, 1e-15, "r = 0");
        assert_true(!r->free[0] && r->free[1] && r->free[2]);
        periods[i] = r->period;
        turns[i] = r->shift[0].turn[0];
        motion_close(&full);
        ns_model_free(model);
    }
    measure_close(periods[0], periods[1], 1e-13, "period in both frames");
    measure_close(turns[0], turns[1], 1e-13, "turn in both frames");
}

/* A rigid body that turns freely (Lagrange top without weight), SO(3): p is periodic with
 * 2 pi/((1 - C/A) w3), the shift turns about the fixed angular momentum. */
static void free_body(void **state)
{
    (void)state;
    static const char text[] =
        "param A = 1, C = 1.6\ncoordinate phi, theta, psi\n"
        "let w1 = phi'*sin(theta)*sin(psi) + theta'*cos(psi)\n"
        "let w2 = phi'*sin(theta)*cos(psi) - theta'*sin(psi), w3 = phi'*cos(theta) + psi'\n"
        "lagrangian (A*(w1^2 + w2^2) + C*w3^2)/2\nsymmetry { group SO(3) }\n"
        "start { phi = 0.3; theta = 1; psi = 0.2; phi' = 0.7; theta' = 0.4; psi' = 0.9 }\n"
        "run { until 40 }\n";
    ns_model *model = motion_model_text(text, NULL);
    const ns_period *r = find(model, 40);
    const double A = 1, C = 1.6, w3 = 0.7 * cos(1.0) + 0.9;
    assert_true(r->found);
    measure_close(r->period, 2 * M_PI / fabs((C - A) / A * w3), 1e-13, "period of the body");
    measure_below(r->shift_error, 1e-12, "shift in SO(3)", "free body");
    /* the axis of the shift is the angular momentum L in space: h L = L */
    motion m = motion_begin(model, NULL);
    const double *g = m.x, cf = cos(g[0]), sf = sin(g[0]), ct = cos(g[1]), st = sin(g[1]);
    const double cp = cos(g[2]), sp = sin(g[2]);
    const double p[3] = {r->start[0], r->start[1], r->start[2]};
    const double R[3][3] = {{cf * cp - sf * ct * sp, -cf * sp - sf * ct * cp, sf * st},
                            {sf * cp + cf * ct * sp, cf * ct * cp - sf * sp, -cf * st},
                            {st * sp, st * cp, ct}};
    double L[3] = {0}, worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            L[i] += R[i][j] * p[j];
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += r->shift[0].turn[3 * i + j] * L[j];
        worst = fmax(worst, fabs(sum - L[i]));
    }
    print_message("free body: T = %.15g, h L - L = %.1e\n", r->period, worst);
    measure_below(worst, 1e-12, "axis of the shift", "free body");
    motion_close(&m);
}

/* The sleigh alone does not come back; steady motions of the disk are a family of dimension
 * 2. */
static void others(void **state)
{
    (void)state;
    ns_model *model = motion_model_file("chaplygin-sleigh", NULL);
    const ns_period *r = find(model, 10);
    assert_true(!r->found && isnan(r->period));
    assert_true(r->equilibrium);
    assert_int_equal(r->family, 1); /* p1 = 0, p2 free */
    measure_close(r->at[0], 0, 1e-10, "p1 = 0");
    assert_true(!r->free[0] && r->free[1]);
    ns_model_free(model);
    model = motion_model_file("falling-disk-momentum", NULL);
    r = find(model, 5);
    assert_true(r->found);
    measure_below(r->shift_error, 1e-12, "shift of the disk", "falling disk");
    assert_int_equal(r->family, 2);
    ns_model_free(model);
}

#define OSCILLATOR_START                                                                       \
    "start { theta = 0.2; x = 0; y = 0; r = 0.1; theta' = 0.6; x' ~ 0.3; r' = 1 }\n"

static double map(const char *text, uint32_t which, uint32_t count)
{
    ns_model *model = motion_model_text(text, NULL);
    uint32_t n;
    const ns_discrete *maps = ns_symmetry_maps(model->system, model->p, model->x0, &n);
    assert_int_equal(n, count);
    const double difference = maps[which].difference;
    ns_model_free(model);
    return difference;
}

/* (i)-(iv) of 6.3 in both frames; reflections of the full system; what is none. */
static void maps(void **state)
{
    (void)state;
    static const char *const models[] = {"sleigh-oscillator-momentum",
                                         "sleigh-oscillator-frame"};
    for (int i = 0; i < 2; i++) {
        ns_model *model = motion_model_file(models[i], NULL);
        uint32_t n;
        const ns_discrete *found = ns_symmetry_maps(model->system, model->p, model->x0, &n);
        assert_int_equal(n, 5);
        for (uint32_t k = 0; k < n; k++)
            measure_below(found[k].difference, 1e-13, "map", models[i]);
        assert_string_equal(found[2].name, "t -> -t, r -> -r");
        ns_model_free(model);
    }
    /* the full system: reflection, and reversal of the motion */
    measure_below(
        map(OSCILLATOR OSCILLATOR_START "symmetry map { theta = -theta; y = -y }\n", 0, 2),
        1e-13, "reflection", "lagrange");
    measure_below(map(OSCILLATOR OSCILLATOR_START "symmetry map { t = -t }\n", 0, 2), 1e-13,
                  "reversal", "lagrange");
    measure_below(map(OSCILLATOR OSCILLATOR_START
                      "symmetry map { theta = theta + 1; x = x*cos(1) - y*sin(1)\n"
                      "  y = x*sin(1) + y*cos(1) }\n",
                      0, 2),
                  1e-13, "rotation by 1 rad", "lagrange");
    /* none of these */
    assert_true(map(OSCILLATOR OSCILLATOR_START "symmetry map { theta = -theta }\n", 0, 2) >
                1e-3);
    assert_true(map(OSCILLATOR OSCILLATOR_START "symmetry map { r = -r }\n", 0, 2) > 1e-3);
    assert_true(map(OSCILLATOR OSCILLATOR_START "force r = -0.1*r'\nsymmetry map { t = -t }\n",
                    0, 2) > 1e-3);
    /* reversibility by itself: with friction it is lost */
    assert_true(map(OSCILLATOR OSCILLATOR_START "force r = -0.1*r'\n", 0, 1) > 1e-3);
    measure_below(map(OSCILLATOR OSCILLATOR_START, 0, 1), 1e-13, "reversible", "lagrange");
    measure_below(map(OSCILLATOR OSCILLATOR_START
                      "formulation hamel\nsymmetry map { t = -t; v1 = -v1; v2 = -v2\n"
                      "  v3 = -v3 }\n",
                      0, 2),
                  1e-13, "reversal", "hamel");
    /* first-order systems: the pendulum */
    static const char pendulum[] = "state a' = b\nstate b' = -sin(a)\nstart { a = 1; b = 0 }\n";
    char text[400];
    snprintf(text, sizeof text, "%ssymmetry map { a = -a; b = -b }\n", pendulum);
    measure_below(map(text, 0, 1), 1e-13, "point reflection", "pendulum");
    snprintf(text, sizeof text, "%ssymmetry map { a = -a }\n", pendulum);
    assert_true(map(text, 0, 1) > 1e-3);

    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry map { z = -z }\n",
                   "undefined name `z`");
    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry map { z = -r }\n",
                   "`z` is not a state of the system");
    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry map { t = 2*t }\n",
                   "time maps to t or to -t");
    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry map { r = r + t }\n",
                   "must not depend on time");
    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry map { r }\n",
                   "expected `r = EXPRESSION`");
    motion_refused(OSCILLATOR OSCILLATOR_START "symmetry circle { r = -r }\n",
                   "there is no kind `circle` of symmetry");
    snprintf(text, sizeof text, "%ssymmetry { group R(1) }\n", pendulum);
    motion_refused(text, "formulation `first-order` takes no symmetry but `symmetry map");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form), cmocka_unit_test(sleigh_oscillator),
        cmocka_unit_test(free_body),   cmocka_unit_test(others),
        cmocka_unit_test(maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
