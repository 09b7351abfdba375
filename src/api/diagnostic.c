/* Qualities of a motion by name. */
#include <math.h>
#include <string.h>

#include "api/api.h"

static double residual(const ns_model *model, const ns_outcome *o, const char *name)
{
    const long i = ns_model_index(model, NS_CONSTRAINTS, name);
    return i < 0 ? (double)NAN : o->residual[i];
}

static double drift(const ns_model *model, const ns_outcome *o, const char *name)
{
    const long i = ns_model_index(model, NS_INVARIANTS, name);
    return i < 0 ? (double)NAN : o->drift[i];
}

double ns_api_diagnostic(const ns_model *model, const ns_outcome *o, const char *name)
{
    static const char constraint[] = "constraint.", invariant[] = "invariant.";
    if (strncmp(name, constraint, sizeof constraint - 1) == 0)
        return residual(model, o, name + sizeof constraint - 1);
    if (strncmp(name, invariant, sizeof invariant - 1) == 0)
        return drift(model, o, name + sizeof invariant - 1);
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"energy_drift", model->system->conservative ? o->energy_drift : (double)NAN},
        {"energy_change", o->energy_drift},
        {"t_end", o->t},
        {"steps", (double)o->steps},
        {"rejected", (double)o->rejected},
        {"evaluations", (double)o->evaluations},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, name) == 0)
            return numbers[i].value;
    return (double)NAN;
}
