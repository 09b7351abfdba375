/* The engines that run a stream: one lane, eight lanes for several instruction sets, and one
 * lane in quadruple precision.  All are instances of interp.inc. */
#ifndef NS_CODE_ENGINE_H
#define NS_CODE_ENGINE_H

#include "code/stream.h"

typedef struct ns_lanes {
    const char *name;
    bool (*available)(void);
    void (*bind)(const ns_stream *stream, double *work, const double *p);
    void (*eval)(const ns_stream *stream, double *work, const double *t, const double *x,
                 double *out);
} ns_lanes;

extern const ns_lanes ns_lanes_plain;
#if NS_X86
extern const ns_lanes ns_lanes_avx2, ns_lanes_avx512;
#endif

void ns_scalar_bind(const ns_stream *stream, double *work, const double *p);
void ns_scalar_eval(const ns_stream *stream, double *work, const double *t, const double *x,
                    double *out);
#if NS_HAVE_QUAD
void ns_quad_bind(const ns_stream *stream, ns_quad *work, const ns_quad *p);
void ns_quad_eval(const ns_stream *stream, ns_quad *work, const ns_quad *t, const ns_quad *x,
                  ns_quad *out);
#endif

#endif
