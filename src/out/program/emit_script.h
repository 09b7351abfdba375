/* noslip emit python, noslip emit octave: the equations of a model as a script of its own, for
 * reading and teaching: rates, values, parameters, start, the method of Dormand and Prince. */
#ifndef NS_OUT_PROGRAM_EMIT_SCRIPT_H
#define NS_OUT_PROGRAM_EMIT_SCRIPT_H

#include "out/program/emit_c_writer.h"

void ns_emit_script(const ns_model *model, ns_emit_language language, ns_text *out);

#endif
