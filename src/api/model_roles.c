/* What role states and values play, and which of them are components of one vector. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"

static bool derived(const ns_model *model, size_t i)
{
    const ns_graph *g = model->description->graph;
    for (size_t k = 0; k < i; k++)
        if (ns_graph_depends(g, model->description->params.at[i].value,
                             &model->description->params.at[k].symbol, 1))
            return true;
    return false;
}

static const char *word_of(ns_quantity kind)
{
    static const char *const words[] = {
        [NS_QUANTITY_OTHER] = "other",
        [NS_QUANTITY_COORDINATE] = "coordinate",
        [NS_QUANTITY_VELOCITY] = "velocity",
        [NS_QUANTITY_QUATERNION] = "quaternion",
        [NS_QUANTITY_QUATERNION_RATE] = "quaternion rate",
        [NS_QUANTITY_ANGULAR] = "angular velocity",
        [NS_QUANTITY_QUASIVELOCITY] = "quasivelocity",
        [NS_QUANTITY_MOMENTUM] = "momentum",
        [NS_QUANTITY_PLACE] = "place",
        [NS_QUANTITY_ON_BODY] = "place on body",
        [NS_QUANTITY_PARAMETER] = "surface parameter",
        [NS_QUANTITY_MATRIX] = "matrix",
        [NS_QUANTITY_FORCE] = "force",
        [NS_QUANTITY_MULTIPLIER] = "multiplier",
        [NS_QUANTITY_ENERGY] = "energy",
        [NS_QUANTITY_OBSERVED] = "observed",
        [NS_QUANTITY_MODE] = "mode",
    };
    return (size_t)kind < sizeof words / sizeof *words && words[kind] ? words[kind] : "other";
}

const char *ns_model_quantity(const ns_model *model, ns_kind kind, size_t i)
{
    if (i >= ns_model_count(model, kind))
        return "";
    return kind == NS_STATES   ? word_of(model->system->states.at[i].kind)
           : kind == NS_VALUES ? word_of(model->system->observables.at[i].kind)
                               : "";
}

const char *ns_model_role(const ns_model *model, ns_kind kind, size_t i)
{
    static const char *const actions[] = {"record", "stop", "warn", "singular"};
    if (i >= ns_model_count(model, kind))
        return "";
    switch (kind) {
    case NS_PARAMETERS:
        return derived(model, i) ? "derived" : "given";
    case NS_STATES:
        return word_of(model->system->states.at[i].kind);
    case NS_VALUES:
        return model->system->observables.at[i].basic ? "basic" : "more";
    case NS_CONSTRAINTS:
        return model->system->constraints.at[i].project ? "projected" : "watched";
    case NS_EVENTS:
        return actions[model->system->events.at[i].action];
    case NS_INPUTS: {
        const ns_input *input = &model->description->inputs.at[i];
        return input->file                         ? "table"
               : input->sampled                    ? "sampled"
               : input->param == NS_INPUT_NO_PARAM ? "function"
                                                   : "given";
    }
    default:
        return "";
    }
}

/* States know their vector; values and parameters go by the language's way to name components.
 *
 * The length of the name of the vector, 0 if the name is none of a component: of `omega.x'` the
 * stem is "omega", and what stands after the component, the prime, belongs to the vector
 * too. */
static size_t stem_of(const char *name, const char **behind)
{
    const char *dot = strrchr(name, '.');
    if (!dot || dot == name || !dot[1] || !strchr("wxyz", dot[1]))
        return 0;
    *behind = dot + 2;
    return strspn(*behind, "'") == strlen(*behind) ? (size_t)(dot - name) : 0;
}

static bool same_vector(const char *a, const char *b)
{
    const char *behind[2] = {"", ""};
    const size_t n = stem_of(a, &behind[0]), m = stem_of(b, &behind[1]);
    return n && n == m && strncmp(a, b, n) == 0 && strcmp(behind[0], behind[1]) == 0;
}

/* Is `name` that of the vector which `component` belongs to: omega, or omega' ? */
static bool names_vector(const char *name, const char *component)
{
    const char *behind;
    const size_t n = stem_of(component, &behind);
    return n && strncmp(name, component, n) == 0 && strcmp(name + n, behind) == 0;
}

size_t ns_model_vector(const ns_model *model, ns_kind kind, const char *name, size_t *numbers,
                       size_t room)
{
    const size_t n = ns_model_count(model, kind);
    const long alone = ns_model_index(model, kind, name);
    size_t found = 0;
    if (alone >= 0) {
        if (room)
            numbers[0] = (size_t)alone;
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        if (names_vector(name, ns_model_name(model, kind, i))) {
            if (found < room)
                numbers[found] = i;
            found++;
        }
    return found;
}

size_t ns_model_vector_of(const ns_model *model, ns_kind kind, size_t i, char *name,
                          size_t room)
{
    const char *component = ns_model_name(model, kind, i), *behind = "";
    const size_t n = ns_model_count(model, kind), length = stem_of(component, &behind);
    size_t others = 0;
    for (size_t k = 0; k < n && length; k++)
        others += k != i && same_vector(component, ns_model_name(model, kind, k));
    if (room)
        snprintf(name, room, "%.*s%s", others ? (int)length : 0, component,
                 others ? behind : "");
    return others ? length + strlen(behind) : 0;
}
