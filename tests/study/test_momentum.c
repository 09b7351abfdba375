/* Momentum integrals: what Theorem 4.4 decides, the fields of the paper's examples in closed
 * form, the Wronskian, the amended potential of the falling disk, and systems that have no
 * integrals. */
#include "support/measure.h"
#include "support/motion.h"
#include "support/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/eval.h"
#include "study/invariants/momentum.h"

typedef struct found {
    ns_model *model;
    const ns_momentum *f;
} found;

/* Searches a model; `along` NULL: the shape alone. */
static found search(ns_model *model, const char *along, ns_momentum_options options)
{
    found out = {.model = model};
    const ns_system *s = model->system;
    const char *why = "", *message = "";
    uint32_t place = UINT32_MAX;
    assert_non_null(s->symmetry);
    for (uint32_t i = 0; along && i < model->description->coordinates.n; i++)
        if (strcmp(model->description->coordinates.at[i].name, along) == 0)
            place = i;
    const ns_parallel *c = ns_momentum_connection(s, place, &why);
    if (!c)
        fail_msg("no connection: %s", why);
    const ns_run_options run = ns_model_run_options(model);
    if (!(options.until > 0))
        options.until = run.until;
    out.f = ns_momentum_search(s, c, &options, &run, model->p, model->x0, &message);
    if (!out.f)
        fail_msg("no search: %s", message);
    return out;
}

/* The Wronskian by its determinant and by (6.16), the integrals, and independence of the
 * path. */
static void sound(const ns_momentum *f, const char *name)
{
    for (uint32_t k = 0; k < f->points; k++)
        measure_close(f->W[k], f->W_trace[k], 1e-13, name);
    for (uint32_t i = 0; i < f->found; i++)
        measure_below(f->drift[i], 1e-13, "drift of an integral", name);
    assert_int_equal(f->status, NS_OK);
    measure_below(f->path_difference, 1e-12, "two ways to carry eta", name);
}

static void falling_disk(void **state)
{
    (void)state;
    static const char *const models[] = {"falling-disk", "falling-disk-momentum"};
    for (int i = 0; i < 2; i++) {
        double low = -1.5, high = 1.5, base = 0;
        const ns_momentum_options o = {
            .low = &low, .high = &high, .base = &base, .points = 31, .until = 20};
        found r = search(motion_model_file(models[i], NULL), NULL, o);
        assert_int_equal(r.f->found, 2);
        sound(r.f, models[i]);
        double worst = 0, law = 0;
        const double m = 1, R = 0.3, A = m * R * R / 4, B = m * R * R / 2;
        for (uint32_t k = 0; k < r.f->points; k++) {
            const double theta = r.f->at[k];
            worst = fmax(worst, fabs(r.f->W[k] - cos(theta)));
            law = fmax(law, fabs(r.f->W_trace[k] - cos(theta)));
        }
        print_message("%s: W - cos(theta) %.1e, by its law %.1e\n", models[i], worst, law);
        measure_below(worst, 1e-13, "W = W(0) cos(theta)", models[i]);
        measure_below(law, 1e-13, "ln W from the trace", models[i]);
        /* tau is the matrix of the momentum equations (and of (6.18) corrected) */
        double T[4], at = 0.7;
        ns_ex symbol[32];
        double value[32];
        const ns_description *d = r.model->description;
        for (uint32_t k = 0; k < d->params.n; k++) {
            symbol[k] = d->params.at[k].symbol;
            value[k] = r.model->p[k];
        }
        symbol[d->params.n] = r.f->c->z[0];
        value[d->params.n] = at;
        ns_eval(d->graph, r.f->c->T, 4, symbol, value, d->params.n + 1, T);
        measure_close(T[0], tan(at), 1e-14, "tau_1^1");
        measure_close(T[1], -m * R * R / A, 1e-14, "tau_2^1");
        measure_close(T[2], -B / (m * R * R + B), 1e-14, "tau_1^2");
        measure_close(T[3], 0, 1e-14, "tau_2^2");

        const char *message = "";
        const ns_run_options run = ns_model_run_options(r.model);
        const ns_amended *u = ns_momentum_amended(r.model->system, r.f, &run, r.model->p,
                                                  r.model->x0, &message);
        assert_non_null(u);
        print_message("  tilt %.15g .. %.15g, U_c = h at %.15g, %.15g; least h - U_c %.1e\n",
                      u->run_low, u->run_high, u->low, u->high, u->least);
        measure_close(u->low, u->run_low, 1e-12, "lower limit of the tilt");
        measure_close(u->high, u->run_high, 1e-12, "upper limit of the tilt");
        assert_true(u->high - u->low > 0.3);
        assert_true(u->least > -1e-13);
        /* the disk does not fall: U_c grows towards the flat disk on both sides */
        assert_true(u->U[0] > 5 * u->h && u->U[u->points - 1] > 5 * u->h);
        ns_model_free(r.model);
    }
}

/* The same disk as an edge that rolls: centre = contact + R sin(theta) n + R cos(theta) e3,
 * body axes (heading, radius, axle), omega = phi' e3 - theta' h + psi' a. */
static void same_disk(void **state)
{
    (void)state;
    char text[800];
    const double tilt = 0.2, turning = 1, rolling = 6, beta = (M_PI / 2 - tilt) / 2;
    snprintf(text, sizeof text,
             "param m = 1, R = 0.3\nground plane\n"
             "body disk(R) { mass m; inertia diag(m*R^2/4, m*R^2/4, m*R^2/2) }\n"
             "start { quat [%.17g, %.17g, 0, 0]; omega [0, %.17g, %.17g]; contact [0, 0] }\n"
             "observe up = centre.z\nrun { until 20 }\n",
             cos(beta), sin(beta), turning * cos(tilt), turning * sin(tilt) + rolling);
    motion edge = motion_text(text, NULL), disk = motion_file("falling-disk-momentum", NULL);
    double worst = 0;
    for (int k = 0; k <= 20; k++) {
        assert_int_equal(motion_to(&edge, 0.5 * k), NS_OK);
        assert_int_equal(motion_to(&disk, 0.5 * k), NS_OK);
        const double theta = motion_get(&disk, "theta"), phi = motion_get(&disk, "phi");
        const double expected[3] = {motion_get(&disk, "x") - 0.3 * sin(theta) * sin(phi),
                                    motion_get(&disk, "y") + 0.3 * sin(theta) * cos(phi),
                                    0.3 * cos(theta)};
        double com[3], contact[3];
        motion_vector(&edge, "com", com);
        motion_vector(&edge, "contact", contact);
        for (int i = 0; i < 3; i++)
            worst = fmax(worst, fabs(com[i] - expected[i]));
        worst = fmax(worst, fabs(contact[0] - motion_get(&disk, "x")));
        worst = fmax(worst, fabs(contact[1] - motion_get(&disk, "y")));
        worst = fmax(worst, fabs(motion_get(&edge, "energy") - motion_get(&disk, "energy")));
    }
    print_message("reduced falling disk and rolling edge differ by %.1e\n", worst);
    measure_below(worst, 1e-11, "reduced disk against rolling", "10 s");
    motion_close(&edge);
    motion_close(&disk);
}

/* eta = exp(-b^2/2) (1, b) along d/ds1, d/ds2, up to its scale at the base */
static void r2_example(void **state)
{
    (void)state;
    found r = search(motion_model_file("r2-invariant", NULL), NULL,
                     (ns_momentum_options){.points = 21});
    assert_int_equal(r.f->found, 1);
    sound(r.f, "r2-invariant");
    double worst = 0;
    const double b0 = 0.8 * sin(r.f->base[0]);
    for (uint32_t k = 0; k < r.f->points; k++) {
        const double b = 0.8 * sin(r.f->at[k]), scale = exp(-b * b / 2 + b0 * b0 / 2);
        worst = fmax(worst, fabs(r.f->field[2 * k] - scale));
        worst = fmax(worst, fabs(r.f->field[2 * k + 1] - scale * b));
    }
    print_message("R^2 example: eta off by %.1e over r from %g to %g\n", worst, r.f->low[0],
                  r.f->high[0]);
    assert_true(r.f->high[0] - r.f->low[0] > 1);
    measure_below(worst, 1e-14, "eta = exp(-b^2/2)(1, b)", "r2-invariant");
    ns_model_free(r.model);
}

/* (6.2), (6.3) and the brackets C_ij^m of section 6.2. */
static void sleigh(void **state)
{
    (void)state;
    const double m = 2, J = 0.5, a = 0.4, k = sqrt(m * a * a / (J + m * a * a));
    /* the shape (there is none) gives nothing */
    found none = search(motion_model_file("chaplygin-sleigh", NULL), NULL,
                        (ns_momentum_options){0});
    assert_int_equal(none.f->found, 0);
    ns_model_free(none.model);
    double base = 0;
    found r = search(motion_model_file("chaplygin-sleigh", NULL), "theta",
                     (ns_momentum_options){.base = &base, .points = 21});
    assert_int_equal(r.f->found, 2);
    assert_true(r.f->constant);
    sound(r.f, "sleigh");
    double worst = 0, brackets = 0, T[4];
    const ns_description *d = r.model->description;
    ns_ex symbol[32];
    for (uint32_t i = 0; i < d->params.n; i++)
        symbol[i] = d->params.at[i].symbol;
    ns_eval(d->graph, r.f->c->T, 4, symbol, r.model->p, d->params.n, T);
    for (uint32_t i = 0; i < r.f->points; i++) {
        const double th = r.f->at[i], C = cos(k * th), S = sin(k * th);
        const double expected[6] = {C, a / k * S, 0, -k / a * S, C, 0};
        const double *u = r.f->field + (size_t)i * 6;
        for (int c = 0; c < 6; c++)
            worst = fmax(worst, fabs(u[c] - expected[c]));
        /* [u_i, u_j] with u_3 = e_3, [e1, e2] = e3, [e1, e3] = -e2, and du/dtheta = -T u */
        double U[3][3] = {{u[0], u[1], 0}, {u[3], u[4], 0}, {0, 0, 1}}, dU[3][3] = {{0}};
        for (int v = 0; v < 2; v++)
            for (int e = 0; e < 2; e++)
                dU[v][e] = -(T[2 * e] * U[v][0] + T[2 * e + 1] * U[v][1]);
        const double paper[3][3] = {{-k * k / a * C, k * S, 1},
                                    {-k / a * C * S, -C * C, 0},
                                    {k * k / (a * a) * S * S, k / a * C * S, 0}};
        static const int pair[3][2] = {{0, 1}, {0, 2}, {1, 2}};
        for (int q = 0; q < 3; q++) {
            const double *x = U[pair[q][0]], *y = U[pair[q][1]];
            double b[3];
            for (int e = 0; e < 3; e++)
                b[e] = x[0] * dU[pair[q][1]][e] - y[0] * dU[pair[q][0]][e];
            b[2] += x[0] * y[1] - x[1] * y[0];
            b[1] -= x[0] * y[2] - x[2] * y[0];
            for (int e = 0; e < 3; e++) {
                double sum = 0;
                for (int v = 0; v < 3; v++)
                    sum += paper[q][v] * U[v][e];
                brackets = fmax(brackets, fabs(b[e] - sum));
            }
        }
    }
    print_message("sleigh: frame (6.2)-(6.3) off by %.1e, its brackets by %.1e\n", worst,
                  brackets);
    measure_below(worst, 1e-13, "frame (6.2)-(6.3)", "sleigh");
    measure_below(brackets, 1e-13, "brackets of 6.2", "sleigh");
    ns_model_free(r.model);
    /* x and y cannot carry a frame: their rates depend on theta */
    const char *why = NULL;
    ns_model *model = motion_model_file("chaplygin-sleigh", NULL);
    assert_null(ns_momentum_connection(model->system, 1, &why));
    assert_non_null(strstr(why, "depends on theta"));
    ns_model_free(model);
}

#define TWO                                                                                    \
    "coordinate r, s, x, y\n"                                                                  \
    "start { r = 0.2; s = 0.1; x = 0; r' = 0.3; s' = -0.4; x' = 1; y = 0 }\n"                  \
    "symmetry { shape r, s; group R(2) }\nrun { until 5 }\n"                                   \
    "constraint link: y' = b*x'\n"

/* Two shape variables: tau = b db/(a + b^2) is exact if a = 1 - b^2, and not in general. */
static void exactness(void **state)
{
    (void)state;
    found flat = search(
        motion_model_text(TWO
                          "let b = 0.6*sin(r + 2*s) + 0.3*s\n"
                          "lagrangian (r'^2 + s'^2 + (1 - b^2)*x'^2 + y'^2)/2 - r^2 - s^2\n",
                          NULL),
        NULL, (ns_momentum_options){0});
    print_message("exact tau: curvature %.1e, eta carried two ways %.1e\n", flat.f->curvature,
                  flat.f->path_difference);
    assert_int_equal(flat.f->found, 1);
    measure_below(flat.f->curvature, 1e-13, "curvature of an exact tau", "two shape variables");
    sound(flat.f, "exact tau");
    double worst = 0;
    const double b0 = 0.6 * sin(0.4) + 0.03;
    for (uint32_t k = 0; k < flat.f->points; k++) {
        const double *z = flat.f->at + 2 * (size_t)k,
                     b = 0.6 * sin(z[0] + 2 * z[1]) + 0.3 * z[1];
        worst = fmax(worst, fabs(flat.f->Phi[k] - exp((b0 * b0 - b * b) / 2)));
    }
    measure_below(worst, 1e-13, "eta = exp(-b^2/2)", "two shape variables");
    ns_model_free(flat.model);
    found bent = search(
        motion_model_text(TWO
                          "let b = 0.6*sin(r + 2*s) + 0.3*s\n"
                          "lagrangian (r'^2 + s'^2 + (1 + r^2)*x'^2 + y'^2)/2 - r^2 - s^2\n",
                          NULL),
        NULL, (ns_momentum_options){0});
    print_message("tau not exact: curvature %.1e, singular value %.1e\n", bent.f->curvature,
                  bent.f->sigma[0]);
    assert_int_equal(bent.f->found, 0);
    assert_true(bent.f->curvature > 1e-2);
    ns_model_free(bent.model);
}

/* One integral of two momenta: a third, free coordinate beside a tau that is not exact. */
static void some(void **state)
{
    (void)state;
    found r = search(
        motion_model_text(
            "coordinate r, s, x, y, z\n"
            "let b = 0.6*sin(r + 2*s) + 0.3*s\n"
            "lagrangian (r'^2 + s'^2 + (1 + r^2)*x'^2 + y'^2 + (1 + s^2)*z'^2)/2 - r^2\n"
            "constraint link: y' = b*x'\n"
            "start { r = 0.2; s = 0.1; x = 0; r' = 0.3; s' = -0.4; x' = 1; z' = 0.5 }\n"
            "symmetry { shape r, s; group R(3)\n"
            "  e1 = [1, b, 0.5]; e2 = [1, b, -0.25]; e3 = [0, 1, 0] }\n"
            "run { until 5 }\n",
            NULL),
        NULL, (ns_momentum_options){0});
    assert_int_equal(r.f->found, 1);
    sound(r.f, "free coordinate");
    /* the field is d/dz = (e1 - e2)/0.75 up to scale, at every point */
    double worst = 0;
    for (uint32_t k = 0; k < r.f->points; k++) {
        const double *u = r.f->field + 3 * (size_t)k;
        worst = fmax(worst, fmax(fabs(u[0]), fabs(u[1])) / fabs(u[2]));
    }
    measure_below(worst, 1e-13, "the free direction", "free coordinate");
    ns_model_free(r.model);
}

/* No integrals: terms in p p (oscillator), in r' r' (roller racer), a body that turns
 * freely. */
static void none(void **state)
{
    (void)state;
    static const char racer[] = RACER
        "symmetry { group SE(2); on theta, x, y }\nrun { until 5 }\n";
    found r = search(motion_model_text(racer, NULL), NULL, (ns_momentum_options){0});
    assert_int_equal(r.f->found, 0);
    assert_true(r.f->size_D > 1e-3 && r.f->size_Q < 1e-13);
    ns_model_free(r.model);
    r = search(motion_model_file("sleigh-oscillator-momentum", NULL), NULL,
               (ns_momentum_options){.until = 10});
    assert_int_equal(r.f->found, 0);
    assert_true(r.f->size_Q > 1e-2 && r.f->size_tau > 1e-2 && r.f->size_D < 1e-13);
    ns_model_free(r.model);
    /* in the frame of (6.6) the term in p r' is gone */
    r = search(motion_model_file("sleigh-oscillator-frame", NULL), NULL,
               (ns_momentum_options){.until = 10});
    assert_int_equal(r.f->found, 0);
    assert_true(r.f->size_Q > 1e-2 && r.f->size_tau < 1e-13);
    ns_model_free(r.model);
    /* both rates of the vertical disk are constant */
    r = search(motion_model_file("vertical-disk", NULL), NULL, (ns_momentum_options){0});
    assert_int_equal(r.f->found, 2);
    sound(r.f, "vertical disk");
    ns_model_free(r.model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(falling_disk), cmocka_unit_test(same_disk),
        cmocka_unit_test(r2_example),   cmocka_unit_test(sleigh),
        cmocka_unit_test(exactness),    cmocka_unit_test(some),
        cmocka_unit_test(none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
