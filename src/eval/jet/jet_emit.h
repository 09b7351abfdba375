/* Native code for jets: C text that does what the interpreter of jets does at order 0 and at
 * the orders above, on the same work block and with the same bits. */
#ifndef NS_EVAL_JET_JET_EMIT_H
#define NS_EVAL_JET_JET_EMIT_H

#include "base/text.h"
#include "eval/jet/jet.h"

/* Needs ns_emit_prelude before it. */
void ns_jet_emit_prelude(ns_text *text);
/* Functions NAME_values and either NAME_series or NAME_orders (ns_jet_values, ns_jet_series,
 * ns_jet_orders). */
void ns_jet_emit(ns_text *text, ns_arena *arena, const ns_jet *jet, const char *name);
/* Is it NAME_series? */
bool ns_jet_is_local(const ns_jet *jet);
void ns_jet_emit_local(ns_text *text, ns_arena *arena, const ns_jet *jet, const char *name);

#endif
