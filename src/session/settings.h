/* The settings of `run { }`, and the grammar of models: what the language is told about blocks
 * and settings. */
#ifndef NS_SESSION_SETTINGS_H
#define NS_SESSION_SETTINGS_H

#include "lang/grammar.h"

extern const ns_grammar ns_settings_grammar;

#endif
