/* The settings of `run { }`, and the grammar of models: what the language is told about blocks
 * and settings. */
#ifndef NS_SESSION_SETTINGS_H
#define NS_SESSION_SETTINGS_H

#include "lang/grammar.h"

extern const ns_grammar ns_settings_grammar;

/* What to say where there is no method of this name: the nearest one, or where they are
 * listed. */
enum { NS_NO_METHOD = 300 };
const char *ns_settings_no_method(const char *name, char words[NS_NO_METHOD]);

#endif
