/* A model as a C program of its own: right-hand side, values, parameters, a small integrator
 * and a main, in one file that needs the C library alone. */
#ifndef NS_OUT_PROGRAM_EMIT_C_H
#define NS_OUT_PROGRAM_EMIT_C_H

#include "base/text.h"
#include "session/model.h"

/* The model must be ready (NS_MODEL_READY) and without error. */
void ns_emit_c(const ns_model *model, ns_text *out);

#endif
