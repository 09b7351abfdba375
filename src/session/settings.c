#include "session/settings.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "mech/blocks.h"
#include "ode/auto.h"
#include "session/model.h"

const char *ns_settings_no_method(const char *name, char words[NS_NO_METHOD])
{
    ns_near near = {.word = name};
    for (const ns_method *const *m = ns_methods; *m; m++)
        ns_near_try(&near, (*m)->name);
    ns_near_try(&near, NS_METHOD_AUTO);
    snprintf(words, NS_NO_METHOD, "unknown method `%s`; %s%s%s", name,
             near.found ? "did you mean `" : "see `noslip help methods`",
             near.found ? near.found : "", near.found ? "`?" : "");
    return words;
}

static const char *wrong_method(const char *word, char text[NS_SETTING_TEXT])
{
    static_assert((int)NS_NO_METHOD <= (int)NS_SETTING_TEXT, "room for the message");
    const bool known = ns_method_find(word) || strcmp(word, NS_METHOD_AUTO) == 0;
    return known ? NULL : ns_settings_no_method(word, text);
}

#define AT(field) offsetof(ns_model_settings, field)
static const ns_setting_form settings[] = {
    {"from", NS_SETTING_NUMBER, AT(from), NULL, "s"},
    {"until", NS_SETTING_NUMBER, AT(until), NULL, "s"},
    {"tolerance", NS_SETTING_FRACTION, AT(tolerance), NULL, NULL},
    {"method", NS_SETTING_WORD, AT(method), wrong_method, NULL},
    {"every", NS_SETTING_POSITIVE, AT(every), NULL, "s"},
    {"step", NS_SETTING_POSITIVE, AT(step), NULL, "s"},
    {"first_step", NS_SETTING_POSITIVE, AT(first_step), NULL, "s"},
    {"max_step", NS_SETTING_POSITIVE, AT(max_step), NULL, "s"},
    {"max_steps", NS_SETTING_COUNT, AT(max_steps), NULL, NULL},
    {"project", NS_SETTING_SWITCH, AT(project), NULL, NULL},
    {.name = NULL},
};
#undef AT

const ns_grammar ns_settings_grammar = {.blocks = ns_blocks, .settings = settings};
