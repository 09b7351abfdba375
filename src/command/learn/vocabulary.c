/* noslip words: the words of the model language, from the tables that the parser reads, for
 * grammars of editors. */
#include <string.h>

#include "base/json.h"
#include "command/command.h"
#include "expr/ops.h"
#include "lang/functions.h"
#include "lang/statements.h"
#include "lang/units.h"
#include "mech/blocks.h"
#include "mech/system.h"
#include "ode/auto.h"
#include "session/settings.h"

static void put_functions(ns_json *j)
{
    ns_json_array(j, "functions");
    for (int op = 0; op < NS_OP_COUNT; op++)
        if (ns_ops[op].name && ns_ops_find(ns_ops[op].name) == (ns_op)op)
            ns_json_text(j, NULL, ns_ops[op].name);
    for (const ns_builtin *b = ns_builtins; b->name; b++)
        ns_json_text(j, NULL, b->name);
    ns_json_end(j);
}

static int words(ns_host *host, const ns_arguments *a)
{
    (void)a;
    static const char *const after[] = {"in", "rising", "falling", "stop", "record", "warn"};
    static const char *const constants[] = {"t", "pi"};
    ns_json json = ns_json_to(host->out), *const j = &json;
    ns_json_object(j, NULL);
    ns_json_array(j, "statements");
    for (const ns_statement *s = ns_statements; s->keyword; s++)
        ns_json_text(j, NULL, s->keyword);
    ns_json_end(j);
    ns_json_array(j, "blocks");
    for (const ns_block_form *const *b = ns_blocks; *b; b++)
        ns_json_text(j, NULL, (*b)->keyword);
    ns_json_end(j);
    put_functions(j);
    ns_json_array(j, "units");
    for (const ns_unit *u = ns_units; u->name; u++)
        ns_json_text(j, NULL, u->name);
    ns_json_end(j);
    ns_json_texts(j, "reserved", after, sizeof after / sizeof *after);
    ns_json_texts(j, "constants", constants, sizeof constants / sizeof *constants);
    ns_json_array(j, "settings");
    for (const ns_setting_form *s = ns_settings_grammar.settings; s->name; s++)
        ns_json_text(j, NULL, s->name);
    ns_json_end(j);
    ns_json_array(j, "methods");
    for (const ns_method *const *m = ns_methods; *m; m++)
        ns_json_text(j, NULL, (*m)->name);
    ns_json_text(j, NULL, NS_METHOD_AUTO);
    ns_json_end(j);
    ns_json_array(j, "formulations");
    for (const ns_formulation *const *f = ns_formulations; *f; f++)
        ns_json_text(j, NULL, (*f)->name);
    ns_json_end(j);
    ns_json_end(j);
    return 0;
}

const ns_command ns_command_words = {
    .name = "words",
    .summary = "Print the words of the model language as JSON, for editors",
    .usage = "",
    .least = 0,
    .most = 0,
    .run = words,
};
