/* Native code for jets: C text that does what the interpreter of jets does at order 0 and at the
 * orders above, on the same work block and with the same bits. */
#ifndef NS_CODE_JET_EMIT_H
#define NS_CODE_JET_EMIT_H

#include "base/text.h"
#include "code/jet.h"

/* Needs ns_emit_prelude before it. */
void ns_jet_emit_prelude(ns_text *text);
/* Functions NAME_values and NAME_orders (ns_jet_values, ns_jet_orders). */
void ns_jet_emit(ns_text *text, const ns_jet *jet, const char *name);

#endif
