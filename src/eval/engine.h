/* The engines that run a stream: one lane, eight lanes for several instruction sets, and one
 * lane in quadruple precision.  All are instances of interp.inc. */
#ifndef NS_EVAL_ENGINE_H
#define NS_EVAL_ENGINE_H

#include "base/simd.h"
#include "eval/stream.h"

/* What native code asks of the engine it replaces: functions by their operation, and linear
 * systems; on cells of one lane or of eight. */
typedef struct ns_engine_math {
    void (*call[NS_OP_COUNT])(double *y, const double *a, const double *b);
    void (*sincos)(double *sine, double *cosine, const double *a);
    void (*factor)(uint32_t n, double *lu);
    void (*solve)(uint32_t n, const double *lu, double *x);
} ns_engine_math;

typedef struct ns_engine {
    const char *name;
    const ns_engine_math *math;
    ns_simd level; /* which it needs */
    void (*bind)(const ns_stream *stream, double *work, const double *p);
    void (*eval)(const ns_stream *stream, double *work, const double *t, const double *x,
                 double *out);
    /* points[8][n] to lanes[n][8], and back */
    void (*pack)(size_t n, const double *points, double *lanes);
    void (*unpack)(size_t n, const double *lanes, double *points);
    const struct ns_engine *fused; /* with fused operations */
} ns_engine;

extern const ns_engine ns_engine_plain, ns_engine_fused_plain;
#if NS_X86
extern const ns_engine ns_engine_avx2, ns_engine_fused_avx2;
extern const ns_engine ns_engine_avx512, ns_engine_fused_avx512;
#endif

extern const ns_engine_math ns_scalar_math;
void ns_scalar_bind(const ns_stream *stream, double *work, const double *p);
void ns_scalar_eval(const ns_stream *stream, double *work, const double *t, const double *x,
                    double *out);
/* Native code in the place of eval, where it is not NULL; and the interpreter again.  Threads
 * may be evaluating the program meanwhile: they go on with either, to the same bits. */
typedef void (*ns_program_code)(const ns_engine_math *math, double *work, const double *t,
                                const double *x, double *out);
void ns_program_use(const ns_program *program, ns_program_code one, ns_program_code eight,
                    ns_program_code eight_fused);
void ns_program_interpret(const ns_program *program);
const ns_stream *ns_program_stream(const ns_program *program);
const ns_tape *ns_program_tape(const ns_program *program);

void ns_quad_bind(const ns_stream *stream, ns_quad *work, const ns_quad *p);
void ns_quad_eval(const ns_stream *stream, ns_quad *work, const ns_quad *t, const ns_quad *x,
                  ns_quad *out);
void ns_shaken_bind(const ns_stream *stream, ns_quad *work, const ns_quad *p);
void ns_shaken_eval(const ns_stream *stream, ns_quad *work, const ns_quad *t, const ns_quad *x,
                    ns_quad *out);

#endif
