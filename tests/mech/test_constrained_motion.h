/* For the tests of formulation `constrained`: a model, its motion, and what it must keep; the
 * spheres of Udwadia and Mogharabin 2021 as text. */
#ifndef TEST_CONSTRAINED_MOTION_H
#define TEST_CONSTRAINED_MOTION_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mech/constrained/constrained.h"
#include "session/model.h"

#define UNUSED __attribute__((unused))

/* ---- a model and its motion -------------------------------------------------------------- */

typedef struct motion {
    ns_model *model;
    ns_run *run;
    double *x;
} motion;

UNUSED static motion begin(const char *text)
{
    motion m = {
        .model = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY)};
    assert_non_null(m.model);
    if (m.model->status != NS_OK)
        fail_msg("%s", m.model->messages);
    ns_run_options options = ns_model_run_options(m.model);
    ns_status status;
    const char *message = "";
    m.run = ns_run_new(ns_model_problem(m.model, false), &options, m.model->p, m.model->x0,
                       &status, &message);
    if (!m.run)
        fail_msg("%s", message);
    m.x = calloc(m.model->system->states.n, sizeof *m.x);
    assert_non_null(m.x);
    return m;
}

UNUSED static void go(motion *m, double t)
{
    assert_int_equal(ns_run_to(m->run, t), NS_OK);
    ns_run_state_at(m->run, t, m->x);
}

UNUSED static void end(motion *m)
{
    ns_run_free(m->run);
    ns_model_free(m->model);
    free(m->x);
}

UNUSED static double get(const motion *m, const char *name)
{
    const ns_system *s = m->model->system;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (strcmp(s->states.at[i].name, name) == 0)
            return m->x[i];
    fail_msg("there is no state %s", name);
    return NAN;
}

UNUSED static double distance(const motion *m, const char *name, const double expected[3])
{
    double worst = 0;
    for (int i = 0; i < 3; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s.%c", name, "xyz"[i]);
        worst = fmax(worst, fabs(get(m, full) - expected[i]));
    }
    return worst;
}

/* Largest difference of the states that both have. */
UNUSED static double difference(const motion *a, const motion *b)
{
    const ns_system *s = a->model->system, *r = b->model->system;
    double worst = 0;
    for (uint32_t i = 0; i < s->states.n; i++)
        for (uint32_t k = 0; k < r->states.n; k++)
            if (strcmp(s->states.at[i].name, r->states.at[k].name) == 0)
                worst = fmax(worst, fabs(a->x[i] - b->x[k]) / fmax(1, fabs(b->x[k])));
    return worst;
}

UNUSED static void below(double value, double limit, const char *what)
{
    if (!(value <= limit))
        fail_msg("%s: %.3g, not below %g", what, value, limit);
}

/* Energy and constraints over the whole run. */
UNUSED static void keeps(motion *m, double energy, double residual)
{
    const ns_outcome *o = ns_run_outcome(m->run);
    below(o->energy_drift, energy, "energy");
    for (uint32_t i = 0; i < m->model->system->constraints.n; i++)
        below(o->residual[i], residual, m->model->system->constraints.at[i].name);
}

UNUSED static void refused(const char *text, const char *word, const char *other)
{
    ns_model *model = ns_model_load_text("test", text, strlen(text), NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    if (model->status == NS_OK)
        fail_msg("not refused: %s", text);
    if (!strstr(model->messages, word) && !strstr(model->messages, other))
        fail_msg("no `%s` or `%s` in: %s", word, other, model->messages);
    ns_model_free(model);
}

/* ---- the spheres of Udwadia and Mogharabin 2021 ------------------------------------------ */

#define GROUND                                                                                 \
    "param r = 0.06\n"                                                                         \
    "surface G(x, y, z) = z - (0.65*x - 3*x^2/2 - 6.7*x^3/3 + 20.5*x^4/4)\n"                   \
    "particle P { mass 0 }\n"                                                                  \
    "let n = grad(G)(P)/norm(grad(G)(P))\n"                                                    \
    "constraint on: G(P) = 0\n"
#define ROLLS                                                                                  \
    "constraint touch: P + r*n - S.position = 0\n"                                             \
    "constraint noslip: S.position' + r*cross(n, S.omega.space) = 0\n"
#define START                                                                                  \
    "start { P = [-0.65, 0.1, 0.47192369791666666]; S.position ~ [-0.59, 0.1, 0.48]\n"         \
    "S.quat = [1, 0, 0, 0]\n"                                                                  \
    "S.omega.space = [0.8410052041330824, 19.817554736592687, -4.928763561647187] }\n"         \
    "run { until 10 }\n"
#define UNIFORM                                                                                \
    "param m = 4/3*pi*r^3*4500, J = 2/5*m*r^2\n"                                               \
    "body S { mass m; inertia diag(J, J, J) }\n"
#define METALS "param m = 2/3*pi*r^3*9994, rho = 3/8*r*994/9994, J = 2/5*m*r^2\n"
#define TWO_METALS                                                                             \
    METALS "body S { mass m; com [rho, 0, 0]; inertia diag(J, J - m*rho^2, J - m*rho^2) }\n"
#define ENERGY "constraint level: keep energy\n"

#endif
