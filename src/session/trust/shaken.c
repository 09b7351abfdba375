#include "session/trust/shaken.h"

#include <math.h>

#include "expr/eval.h"

static double shaken(double value, uint64_t *seed)
{
    const double dice = ns_eval_random(seed);
    return value == 0 || dice < 0.2 ? value
           : dice < 0.6             ? nextafter(value, (double)INFINITY)
                                    : nextafter(value, -(double)INFINITY);
}

bool ns_shaken_start(ns_model *model, uint64_t seed, double *p, double *x0)
{
    const ns_exact *exact = ns_model_exact(model, false);
    if (!exact)
        return false;
    for (uint32_t i = 0; i < model->system->description->params.n; i++)
        p[i] = shaken(exact->p[i], &seed);
    for (uint32_t i = 0; i < model->system->states.n; i++)
        x0[i] = shaken(exact->x[i], &seed);
    return true;
}
