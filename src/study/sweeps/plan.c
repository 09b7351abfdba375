#include "study/sweeps/plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/math/vecmath.h"
#include "base/text.h"
#include "study/sweeps/sample.h"

static bool on_grid(const ns_plan_axis *axis)
{
    return axis->kind == NS_PLAN_GRID || axis->kind == NS_PLAN_LOG;
}

static const char *check_axis(ns_arena *arena, const ns_plan_axis *axis)
{
    if (axis->kind == NS_PLAN_LIST)
        return NULL;
    if (!isfinite(axis->low) || !isfinite(axis->high))
        return ns_arena_format(arena, "the values of `%s` are not finite", axis->name);
    if (on_grid(axis) && axis->n < 1)
        return ns_arena_format(arena, "`%s` needs at least one value", axis->name);
    if ((axis->kind == NS_PLAN_LOG || axis->kind == NS_PLAN_LOGUNIFORM) &&
        !(axis->low * axis->high > 0))
        return ns_arena_format(
            arena,
            "`%s` in equal ratios needs ends of the same sign, not zero, not "
            "%g and %g",
            axis->name, axis->low, axis->high);
    if (axis->kind == NS_PLAN_NORMAL && !(axis->high >= 0))
        return ns_arena_format(arena, "`%s`: the deviation is %g, it must not be negative",
                               axis->name, axis->high);
    return NULL;
}

const char *ns_plan_distribution(ns_arena *arena, const char *text, ns_plan_kind *kind)
{
    static const struct {
        const char *word;
        ns_plan_kind kind;
    } kinds[] = {{"uniform(", NS_PLAN_UNIFORM},
                 {"loguniform(", NS_PLAN_LOGUNIFORM},
                 {"normal(", NS_PLAN_NORMAL}};
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t word = strlen(kinds[i].word);
        if (strncmp(text, kinds[i].word, word) == 0 && text[length - 1] == ')') {
            *kind = kinds[i].kind;
            return ns_arena_string(arena, text + word, length - word - 1);
        }
    }
    return NULL;
}

const char *ns_plan_bare(const char *name)
{
    return strncmp(name, "start.", 6) == 0 && name[6] ? name + 6 : name;
}

const char *ns_plan_settle(ns_arena *arena, ns_plan *plan)
{
    const uint64_t most = (uint64_t)1 << 53; /* samples have 53 bits */
    uint32_t sampled = 0;
    uint64_t rows = 1;
    if (!plan->axes.n)
        return "there is nothing to vary";
    for (uint32_t i = 0; i < plan->axes.n; i++) {
        const ns_plan_axis *axis = &plan->axes.at[i];
        const char *wrong = check_axis(arena, axis);
        if (wrong)
            return wrong;
        if (axis->kind == NS_PLAN_LIST) {
            plan->rows = plan->count;
            continue;
        }
        if (on_grid(axis)) {
            if (axis->n > most / rows)
                return "the grid has more than 2^53 points";
            rows *= axis->n;
        } else {
            sampled++;
        }
    }
    if (plan->axes.at[0].kind == NS_PLAN_LIST)
        return NULL;
    if (plan->sobol && sampled > NS_SOBOL_DIMENSIONS)
        return ns_arena_format(arena, "a Sobol sequence has at most %d dimensions here",
                               NS_SOBOL_DIMENSIONS);
    if (!sampled)
        plan->count = 1;
    else if (plan->count < 1)
        return "there must be at least one sample";
    if (plan->count > most / rows)
        return "there are more than 2^53 rows";
    plan->rows = rows * plan->count;
    return NULL;
}

static double grid_value(const ns_plan_axis *axis, uint64_t k)
{
    if (k == 0 || axis->n == 1)
        return axis->low;
    if (k == axis->n - 1)
        return axis->high;
    const double u = (double)k / (double)(axis->n - 1);
    if (axis->kind == NS_PLAN_LOG)
        return axis->low * ns_math_pow(axis->high / axis->low, u);
    return axis->low + u * (axis->high - axis->low);
}

static double sample_value(const ns_plan_axis *axis, double u)
{
    if (axis->kind == NS_PLAN_UNIFORM)
        return axis->low + u * (axis->high - axis->low);
    if (axis->kind == NS_PLAN_LOGUNIFORM)
        return axis->low * ns_math_pow(axis->high / axis->low, u);
    return axis->low + axis->high * ns_sample_normal(u);
}

void ns_plan_row(const ns_plan *plan, uint64_t row, double *values)
{
    row += plan->first;
    uint64_t point = plan->count ? row / plan->count : 0;
    for (uint32_t i = plan->axes.n; i-- > 0;) {
        const ns_plan_axis *axis = &plan->axes.at[i];
        if (on_grid(axis)) {
            values[i] = grid_value(axis, point % axis->n);
            point /= axis->n;
        } else if (axis->kind == NS_PLAN_LIST) {
            values[i] = axis->values[row];
        }
    }
    uint32_t dimension = 0;
    for (uint32_t i = 0; i < plan->axes.n; i++) {
        const ns_plan_axis *axis = &plan->axes.at[i];
        if (on_grid(axis) || axis->kind == NS_PLAN_LIST)
            continue;
        const double u = plan->sobol ? ns_sample_sobol(plan->seed, dimension, row)
                                     : ns_sample_random(plan->seed, dimension, row);
        values[i] = sample_value(axis, u);
        dimension++;
    }
}

const char *ns_plan_text(ns_arena *arena, const ns_plan *plan)
{
    static const char *const words[] = {"grid",       "log",    "uniform",
                                        "loguniform", "normal", "list"};
    ns_text text = ns_text_new(arena);
    bool sampled = false;
    for (uint32_t i = 0; i < plan->axes.n; i++) {
        const ns_plan_axis *axis = &plan->axes.at[i];
        ns_text_addf(&text, "%s %s", axis->name, words[axis->kind]);
        if (axis->kind == NS_PLAN_LIST)
            ns_text_addf(&text, " %" PRIu64 " values %016" PRIx64 "\n", plan->count,
                         ns_hash_bytes(ns_hash_start, axis->values,
                                       (size_t)plan->count * sizeof *axis->values));
        else if (on_grid(axis))
            ns_text_addf(&text, " %.17g %.17g %" PRIu64 "\n", axis->low, axis->high, axis->n);
        else
            ns_text_addf(&text, " %.17g %.17g\n", axis->low, axis->high);
        sampled = sampled || (!on_grid(axis) && axis->kind != NS_PLAN_LIST);
    }
    if (sampled)
        ns_text_addf(&text, "samples %" PRIu64 " seed %" PRIu64 "%s\n", plan->count, plan->seed,
                     plan->sobol ? " sobol" : "");
    return ns_text_string(&text);
}
