/* Programs: expressions scheduled on a tape and evaluated fast.
 *
 * A program has inputs (states x and the time t), parameters, and outputs.  Everything that
 * depends on parameters and constants alone is evaluated once, by `bind`; the rest by `eval`.
 * The same program runs on
 *     1 lane      one set of inputs
 *     8 lanes     eight sets at once; arrays are [quantity][lane], 64-byte aligned
 *     jets        Taylor coefficients in time, one lane
 *     quad        quadruple precision, or what the machine has of it, one lane
 * and each lane's result is the same to the bit as running it alone.  No evaluation allocates:
 * all memory is one work block per program, engine and run.
 *
 * Evaluation never fails: outside the domain of a function, or with a singular matrix in a
 * solve, outputs are inf or nan, and the caller looks at them.
 *
 * Native code (eval/native/native.h) takes the place of the interpreter and keeps layout and
 * bits. */
#ifndef NS_EVAL_PROGRAM_H
#define NS_EVAL_PROGRAM_H

#include "base/math/quad.h"
#include "expr/graph.h"

enum { NS_LANES = 8 };

typedef struct ns_program ns_program;

typedef struct ns_program_spec {
    ns_graph *graph;
    ns_ex time;       /* 0 if no output depends on it */
    const ns_ex *x;   /* [nx] input symbols */
    const ns_ex *p;   /* [np] parameter symbols */
    const ns_ex *out; /* [nout] outputs */
    uint32_t nx, np, nout;
    bool jets; /* prepare for jets too (companions are added to the tape) */
    /* Several divisions by one number become products with its reciprocal, one rounding more:
     * the last bits are not those of ns_eval. */
    bool reciprocals;
} ns_program_spec;

/* The program lives in the arena. */
ns_program *ns_program_build(ns_arena *arena, const ns_program_spec *spec);

uint32_t ns_program_nx(const ns_program *program);
uint32_t ns_program_nout(const ns_program *program);
/* Operations per evaluation after bind (a solve of size n counts as its multiply-adds), and
 * evaluated once by bind. */
uint32_t ns_program_operations(const ns_program *program, uint32_t *bound);
/* The same in units of a sum or product: divisions and functions count for more. */
double ns_program_weight(const ns_program *program);
/* Of one order of its series, without the convolutions, whose number goes to *products;
 * squares, which take half the work, count as halves. */
double ns_program_jet_weight(const ns_program *program, double *products);

/* Sizes of the work block in doubles (quad: in ns_quad). */
size_t ns_program_work1(const ns_program *program);
size_t ns_program_work8(const ns_program *program);
size_t ns_program_work_jet(const ns_program *program, uint32_t order);

/* One lane: x[nx], p[np], out[nout]. */
void ns_program_bind1(const ns_program *program, double *work, const double *p);
void ns_program_eval1(const ns_program *program, double *work, double t, const double *x,
                      double *out);

/* Eight lanes: t[8], x[nx][8], p[np][8], out[nout][8]; work and arrays 64-byte aligned. */
void ns_program_bind8(const ns_program *program, double *work, const double *p);
void ns_program_eval8(const ns_program *program, double *work, const double *t, const double *x,
                      double *out);

/* Eight points, one after the other as points[8][n], to lanes[n][8] and back. */
void ns_program_pack8(const ns_program *program, size_t n, const double *points, double *lanes);
void ns_program_unpack8(const ns_program *program, size_t n, const double *lanes,
                        double *points);

/* Evaluation with every sum that has a product of its own as a term rounded once instead of
 * twice (FMA): a third fewer operations and other last bits, which again are the same in every
 * engine.  Equal products no longer cancel to zero.  On x86 the processor must have FMA. */
void ns_program_eval8_fused(const ns_program *program, double *work, const double *t,
                            const double *x, double *out);

/* Jets, for programs built with jets.  Coefficients are of powers of (time - t).  The layout of
 * the work block depends on the order: it is the same in all calls after a bind.
 * solve_jet: the outputs are x' (nout = nx); x[i*(order+1)] holds the state, the other
 *            coefficients x[i*(order+1) + k], k = 1..order, are computed.
 * series:    the same with coefficient k of state i at x[k*per_order + i].
 * eval_jet:  all coefficients of x are given; out[i*(order+1) + k] are computed. */
void ns_program_bind_jet(const ns_program *program, double *work, uint32_t order,
                         const double *p);
void ns_program_solve_jet(const ns_program *program, double *work, double t, uint32_t order,
                          double *x);
void ns_program_series(const ns_program *program, double *work, double t, uint32_t order,
                       double *x, size_t per_order);
void ns_program_eval_jet(const ns_program *program, double *work, double t, uint32_t order,
                         const double *x, double *out);

/* Quadruple precision, one lane; a long double where there is none (base/math/quad.h). */
size_t ns_program_work_quad(const ns_program *program);
void ns_program_bind_quad(const ns_program *program, ns_quad *work, const ns_quad *p);
void ns_program_eval_quad(const ns_program *program, ns_quad *work, ns_quad t, const ns_quad *x,
                          ns_quad *out);
/* The same with other rounding errors (eval/interp/shaken.c): the difference shows how large
 * they are. */
void ns_program_bind_shaken(const ns_program *program, ns_quad *work, const ns_quad *p);
void ns_program_eval_shaken(const ns_program *program, ns_quad *work, ns_quad t,
                            const ns_quad *x, ns_quad *out);

/* Which instruction set the 8-lane evaluator uses here: "avx512", "avx2" or "plain"; and to
 * choose one for tests (NULL: that of ns_simd_level; false if it is above this level). */
const char *ns_program_lanes_name(const ns_program *program);
bool ns_program_choose_lanes(ns_program *program, const char *name);

#endif
