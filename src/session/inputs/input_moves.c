/* Inputs that move parts of the system: a support, the ground, what a constraint prescribes.
 *
 * If the acceleration u'' of an input enters the equations of motion, momenta contain u'.  A
 * table by lines has corners, where u' jumps: a blow, which the equations between the knots do
 * not contain.  A pendulum on a support that is moved so would stay at rest.  It is the same
 * with u' and the jumps of tables by steps and of controllers.  Such models are refused.
 *
 * Whether u' or u'' enters is found by trying: the model is derived again with the function
 *
 *     u = A + B (t - T) + C/2 (t - T)^2
 *
 * in place of the input, where at the time T  u = A, u' = B, u'' = C, and the rates at T are
 * compared with those without B or C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "session/inputs/inputs.h"
#include "session/settings.h"

enum { STATES = 3 }; /* tried: the start, and others near it */

/* The rates with u = 1 + b (t - t0) + c/2 (t - t0)^2 at some states, [STATES][n]; NULL if there
 * is no such model: a formulation that takes no time. */
static double *rates(ns_model *model, const ns_input *input, double t0, double b, double c)
{
    ns_arena *a = model->arena;
    const uint32_t n = model->system->states.n;
    ns_override *set = NS_NEW_ARRAY(a, ns_override, model->n_overrides + 1);
    memcpy(set, model->overrides, model->n_overrides * sizeof *set);
    set[model->n_overrides].name = input->name;
    set[model->n_overrides].expression = ns_arena_format(
        a, "1 + (%.17g)*(t - (%.17g)) + (%.17g)*(t - (%.17g))^2/2", b, t0, c, t0);
    ns_diag *diag = ns_diag_new(a);
    ns_description *d = ns_description_read(a, diag, &ns_settings_grammar, model->name,
                                            model->text, model->length, set,
                                            model->n_overrides + 1);
    const ns_system *s = d ? ns_system_derive(d) : NULL;
    if (!s || diag->errors || s->states.n != n)
        return NULL;
    double *p = NS_NEW_ARRAY(a, double, d->params.n + 1);
    ns_system_params(s, NULL, NULL, p);
    ns_ex *f = NS_NEW_ARRAY(a, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f[i] = s->states.at[i].rate;
    double *x = NS_NEW_ARRAY(a, double, n + 1);
    double *out = NS_NEW_ARRAY(a, double, (size_t)STATES * n + 1);
    for (uint32_t k = 0; k < STATES; k++) {
        for (uint32_t i = 0; i < n; i++) { /* as if by chance */
            const double part = ((int)((7 * i + 3 * k) % 11) - 4.5) / 50;
            x[i] = model->x0[i] + (k ? part * (fabs(model->x0[i]) + 1) : 0);
        }
        ns_system_eval(s, f, n, t0, p, x, out + (size_t)k * n);
    }
    return out;
}

static bool enters(ns_model *model, const ns_input *input, double t0, double b, double c)
{
    static const double rounding = 1e-10; /* of the largest rate */
    const size_t n = (size_t)STATES * model->system->states.n;
    const double *without = rates(model, input, t0, 0, 0);
    const double *with = without ? rates(model, input, t0, b, c) : NULL;
    double size = 0, off = 0;
    for (size_t i = 0; with && i < n; i++) {
        if (!isfinite(with[i]) || !isfinite(without[i]))
            continue;
        size = ns_max(size, fabs(without[i]));
        off = ns_max(off, fabs(with[i] - without[i]));
    }
    return off > rounding * size;
}

void ns_inputs_check_moves(ns_model *model)
{
    const ns_description *d = model->description;
    const double t0 = ns_model_run_options(model).t0;
    for (uint32_t i = 0; i < d->inputs.n; i++) {
        const ns_input *input = &d->inputs.at[i];
        const bool lines = input->file && input->order == 1;
        if (!input->sampled && !(input->file && input->order < 2))
            continue;
        if (!enters(model, input, t0, lines ? 0 : 1.37, 0.83))
            continue;
        ns_diag_error(model->diag, input->span,
                      lines ? "the input `%s` moves parts of the system: its acceleration "
                              "enters the equations, and a table by lines has corners, which "
                              "would be blows; say `order 3`"
                      : input->sampled
                          ? "the input `%s` moves parts of the system: its rate enters the "
                            "equations, and a controller jumps, which would be blows; let it "
                            "be a force, or the rate of a state"
                          : "the input `%s` moves parts of the system: its rate enters the "
                            "equations, and a table by steps jumps, which would be blows; say "
                            "`order 3`",
                      input->name);
    }
}
