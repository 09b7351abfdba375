/* The instruction stream of the interpreters: the tape in an order that keeps few values alive,
 * in cells that are used again, as words of 32 bits.
 *
 * Cells are addressed by 8 times their number: the byte offset for doubles; engines whose cells
 * are larger scale it.  One stream serves all engines.
 *
 * Codes
 *   END
 *   the forms of forms.def, each without and with storing:  code, operands [, y]
 *   CALL         code, op, a, b, y: any row of the table of operations
 *   SINCOS       code, a, y (sine), z (cosine)
 *   FACTOR       code, n, m, then the n*n entries: LU factors in cells m ..., then pivots
 *   SOLVE        code, n, m, y, then the n entries of b */
#ifndef NS_EVAL_STREAM_H
#define NS_EVAL_STREAM_H

#include "eval/tape.h"

typedef enum ns_code {
    NS_CODE_END,
#define NS_FORM(NAME, ...) NS_CODE_##NAME, NS_CODE_##NAME##_S,
#include "eval/forms.def"
#undef NS_FORM
    NS_CODE_CALL,
    NS_CODE_SINCOS,
    NS_CODE_FACTOR,
    NS_CODE_SOLVE,
    NS_CODE_COUNT
} ns_code;

enum { NS_STREAM_CELL = 8 }; /* bytes of a cell of one double */

typedef struct ns_stream_constant {
    uint32_t place;
    double hi, lo;
} ns_stream_constant;

typedef struct ns_stream_param {
    uint32_t place, index;
} ns_stream_param;

typedef struct ns_stream {
    uint32_t nx, nout;
    uint32_t cells;              /* of the work block; x in the first nx, then t */
    const uint32_t *bound, *run; /* run by bind, by eval */
    NS_LIST(ns_stream_constant) constants;
    NS_LIST(ns_stream_param) params;
    uint32_t *out; /* [nout] places */
} ns_stream;

ns_stream *ns_stream_build(ns_arena *arena, ns_arena *scratch, const ns_tape *tape);

#endif
