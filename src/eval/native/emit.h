/* Native code, first half: a stream as C text.
 *
 * The text holds, for each program, functions that do what the interpreters' eval does, on one
 * lane and on eight, with the same operations in the same order and on the same work block: so
 * they give the same bits and may take over from the interpreter between any two evaluations.
 * Binding stays with the interpreter.
 *
 * Values live in local variables.  A long program is cut into chunks of about 500 operations,
 * each a function of its own: compilers are slow on long functions, and spill.  Values that a
 * later chunk reads are kept in their cells of the work block.
 *
 * Systems of up to NS_EMIT_SMALL equations are written out when factors and solution are in one
 * chunk; others, and all functions but square roots, are done by the engine, through a
 * table. */
#ifndef NS_EVAL_NATIVE_EMIT_H
#define NS_EVAL_NATIVE_EMIT_H

#include "base/text.h"
#include "eval/engine.h"

enum { NS_EMIT_SMALL = 5, NS_EMIT_CHUNK = 500 };

/* Lines of the text at which it can be cut in two: before a function, and before the macros
 * that all functions after it use.  What comes before the first of these belongs to every
 * part. */
#define NS_EMIT_CUT "/* function */\n"
#define NS_EMIT_MACROS "/* macros */\n"

typedef enum ns_emit_lanes {
    NS_EMIT_ONE = 1,
    NS_EMIT_EIGHT = 2,
    NS_EMIT_EIGHT_FUSED = 4
} ns_emit_lanes;

/* What all functions need, once per text. */
void ns_emit_prelude(ns_text *text);
/* Functions NAME_1, NAME_8, NAME_8f of a program, as `lanes` says. */
void ns_emit_program(ns_text *text, ns_arena *scratch, const ns_stream *stream,
                     const char *name, unsigned lanes);

#endif
