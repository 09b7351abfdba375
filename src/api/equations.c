/* The derived equations in several forms. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/process/plain.h"
#include "expr/print/mathml.h"
#include "mech/readable.h"

/* As `noslip equations` or `noslip emit` prints them. */
static char *by_command(ns_model *model, const char *study, const char *option)
{
    ns_study *s = ns_study_run(model, NULL, study, &option, NULL, option ? 1 : 0, NULL, NULL);
    char *copy = ns_study_verdict(s) == NS_DONE ? strdup(ns_study_summary(s)) : NULL;
    ns_study_close(s);
    return copy;
}

/* ---- MathML ------------------------------------------------------------------------------ */

static void line(const ns_system *s, const ns_shared *shared, const char *name, ns_ex value,
                 ns_text *out)
{
    ns_text_add(out, "<mtr><mtd>");
    ns_mathml_name(name, out);
    ns_text_add(out, "</mtd><mtd><mo>=</mo></mtd><mtd><mrow>");
    ns_mathml_expression(s->graph, value, shared, out);
    ns_text_add(out, "</mrow></mtd></mtr>\n");
}

static void definition(const ns_system *s, const ns_shared *shared, uint32_t i, ns_text *out)
{
    ns_text_add(out, "<mtr><mtd>");
    ns_mathml_name(shared->items.at[i].name, out);
    ns_text_add(out, "</mtd><mtd><mo>=</mo></mtd><mtd><mrow>");
    ns_mathml_definition(s->graph, shared, i, out);
    ns_text_add(out, "</mrow></mtd></mtr>\n");
}

/* The rates, then what the names in them stand for. */
static void fill(const ns_system *s, ns_arena *arena, ns_text *out)
{
    const ns_ex *rates = ns_system_state_rates(s, arena);
    const ns_shared *shared = ns_print_shared(s->graph, rates, s->states.n, "t");
    ns_text_add(out, "<math display=\"block\"><mtable displaystyle=\"true\" "
                     "columnalign=\"right center left\">\n");
    for (uint32_t i = 0; i < s->states.n; i++)
        line(s, shared, ns_arena_format(arena, "%s'", s->states.at[i].name), rates[i], out);
    for (uint32_t i = 0; i < shared->items.n; i++)
        definition(s, shared, i, out);
    ns_text_add(out, "</mtable></math>\n");
}

static char *guarded(ns_model *model, ns_arena *arena)
{
    if (NS_ARENA_GUARD(arena)) {
        ns_arena_unguard(arena);
        return NULL;
    }
    const ns_system *fork = ns_system_fork(model->shared, arena);
    ns_text text = ns_text_new(arena);
    fill(ns_system_readable(fork, arena), arena, &text);
    ns_arena_unguard(arena);
    return strdup(ns_text_string(&text));
}

static char *mathml(ns_model *model)
{
    ns_arena *arena = ns_arena_new();
    char *copy = arena ? guarded(model, arena) : NULL;
    ns_arena_free(arena);
    return copy;
}

char *ns_model_equations(ns_model *model, const char *form)
{
    NS_PLAIN_NUMBERS;
    if (!ns_api_good(model))
        return NULL;
    return strcmp(form, "text") == 0     ? by_command(model, "equations", NULL)
           : strcmp(form, "latex") == 0  ? by_command(model, "equations", "latex")
           : strcmp(form, "c") == 0      ? by_command(model, "emit", NULL)
           : strcmp(form, "mathml") == 0 ? mathml(model)
                                         : NULL;
}
