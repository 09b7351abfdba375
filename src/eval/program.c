/* Programs: the doors to tape, stream, engines and jets. */
#define _GNU_SOURCE
#include "eval/program.h"

#include <stdatomic.h>
#include <string.h>

#include "base/check.h"
#include "eval/engine.h"
#include "eval/jet/jet.h"

typedef struct ns_program_native ns_program_native;

struct ns_program {
    const ns_tape *tape;
    const ns_stream *stream;
    const ns_engine *lanes;
    const ns_jet *jet; /* NULL if not asked for */
    uint32_t operations, bound;
    ns_program_native *native;
};

/* The one part of a program that changes: where native code is, once there is any. */
struct ns_program_native {
    _Atomic(ns_program_code) one, eight, eight_fused;
};

/* Best first. */
static const ns_engine *const all_lanes[] = {
#if NS_X86
    &ns_engine_avx512,
    &ns_engine_avx2,
#endif
    &ns_engine_plain,
};

ns_program *ns_program_build(ns_arena *arena, const ns_program_spec *spec)
{
    NS_CHECK(arena != ns_graph_scratch(spec->graph));
    NS_CHECK((spec->out && spec->x) || !spec->nout || !spec->nx);
    ns_arena *scratch = ns_graph_scratch(spec->graph);
    const ns_arena_place mark = ns_arena_mark(scratch);
    ns_program *program = NS_NEW(arena, ns_program);
    program->tape = ns_tape_lower(arena, spec, spec->out, spec->nout, NULL, NULL);
    program->stream = ns_stream_build(arena, scratch, program->tape);
    program->jet = spec->jets ? ns_jet_build(arena, spec) : NULL;
    program->bound = ns_tape_count(program->tape, 0, program->tape->nbound);
    program->operations = ns_tape_count(program->tape, program->tape->nbound,
                                        program->tape->ops.n);
    program->native = NS_NEW(arena, ns_program_native);
    ns_program_choose_lanes(program, NULL);
    ns_arena_release(scratch, mark);
    return program;
}

uint32_t ns_program_nx(const ns_program *program)
{
    return program->tape->nx;
}

uint32_t ns_program_nout(const ns_program *program)
{
    return program->tape->nout;
}

uint32_t ns_program_operations(const ns_program *program, uint32_t *bound)
{
    if (bound)
        *bound = program->bound;
    return program->operations;
}

double ns_program_weight(const ns_program *program)
{
    return ns_tape_weight(program->tape, program->tape->nbound, program->tape->ops.n);
}

double ns_program_jet_weight(const ns_program *program, double *products)
{
    NS_CHECK(program->jet);
    return ns_jet_weight(program->jet, products);
}

/* ---- values ------------------------------------------------------------------------------ */

size_t ns_program_work1(const ns_program *program)
{
    return program->stream->cells;
}

size_t ns_program_work8(const ns_program *program)
{
    return (size_t)program->stream->cells * NS_LANES;
}

void ns_program_bind1(const ns_program *program, double *work, const double *p)
{
    NS_CHECK(work);
    ns_scalar_bind(program->stream, work, p);
}

void ns_program_eval1(const ns_program *program, double *work, double t, const double *x,
                      double *out)
{
    const ns_program_code code = atomic_load_explicit(&program->native->one,
                                                      memory_order_acquire);
    if (code)
        code(&ns_scalar_math, work, &t, x, out);
    else
        ns_scalar_eval(program->stream, work, &t, x, out);
}

/* Only asked by assertions. */
__attribute__((unused)) static bool aligned(const void *pointer)
{
    return (uintptr_t)pointer % (NS_LANES * sizeof(double)) == 0;
}

void ns_program_bind8(const ns_program *program, double *work, const double *p)
{
    NS_CHECK(aligned(work) && aligned(p));
    program->lanes->bind(program->stream, work, p);
}

void ns_program_eval8(const ns_program *program, double *work, const double *t, const double *x,
                      double *out)
{
    NS_CHECK(aligned(work) && aligned(t) && aligned(x) && aligned(out));
    const ns_program_code code = atomic_load_explicit(&program->native->eight,
                                                      memory_order_acquire);
    if (code)
        code(program->lanes->math, work, t, x, out);
    else
        program->lanes->eval(program->stream, work, t, x, out);
}

void ns_program_pack8(const ns_program *program, size_t n, const double *points, double *lanes)
{
    program->lanes->pack(n, points, lanes);
}

void ns_program_unpack8(const ns_program *program, size_t n, const double *lanes,
                        double *points)
{
    program->lanes->unpack(n, lanes, points);
}

void ns_program_eval8_fused(const ns_program *program, double *work, const double *t,
                            const double *x, double *out)
{
    NS_CHECK(aligned(work) && aligned(t) && aligned(x) && aligned(out));
    const ns_program_code code = atomic_load_explicit(&program->native->eight_fused,
                                                      memory_order_acquire);
    if (code)
        code(program->lanes->math, work, t, x, out);
    else
        program->lanes->fused->eval(program->stream, work, t, x, out);
}

const char *ns_program_lanes_name(const ns_program *program)
{
    return program->lanes->name;
}

bool ns_program_choose_lanes(ns_program *program, const char *name)
{
    const ns_simd level = ns_simd_level();
    for (size_t i = 0; i < sizeof all_lanes / sizeof *all_lanes; i++) {
        const ns_engine *lanes = all_lanes[i];
        if ((name && strcmp(name, lanes->name) != 0) || lanes->level > level)
            continue;
        program->lanes = lanes;
        return true;
    }
    return false;
}

const ns_stream *ns_program_stream(const ns_program *program)
{
    return program->stream;
}

const ns_tape *ns_program_tape(const ns_program *program)
{
    return program->tape;
}

void ns_program_use(const ns_program *program, ns_program_code one, ns_program_code eight,
                    ns_program_code eight_fused)
{
    ns_program_native *native = program->native;
    if (one)
        atomic_store_explicit(&native->one, one, memory_order_release);
    if (eight)
        atomic_store_explicit(&native->eight, eight, memory_order_release);
    if (eight_fused)
        atomic_store_explicit(&native->eight_fused, eight_fused, memory_order_release);
}

void ns_program_interpret(const ns_program *program)
{
    ns_program_native *native = program->native;
    atomic_store_explicit(&native->one, NULL, memory_order_release);
    atomic_store_explicit(&native->eight, NULL, memory_order_release);
    atomic_store_explicit(&native->eight_fused, NULL, memory_order_release);
}

size_t ns_program_work_quad(const ns_program *program)
{
    return program->stream->cells;
}

void ns_program_bind_quad(const ns_program *program, ns_quad *work, const ns_quad *p)
{
    NS_CHECK(work);
    ns_quad_bind(program->stream, work, p);
}

void ns_program_eval_quad(const ns_program *program, ns_quad *work, ns_quad t, const ns_quad *x,
                          ns_quad *out)
{
    ns_quad_eval(program->stream, work, &t, x, out);
}

void ns_program_bind_shaken(const ns_program *program, ns_quad *work, const ns_quad *p)
{
    ns_shaken_bind(program->stream, work, p);
}

void ns_program_eval_shaken(const ns_program *program, ns_quad *work, ns_quad t,
                            const ns_quad *x, ns_quad *out)
{
    ns_shaken_eval(program->stream, work, &t, x, out);
}

/* ---- jets -------------------------------------------------------------------------------- */

size_t ns_program_work_jet(const ns_program *program, uint32_t order)
{
    NS_CHECK(program->jet);
    return ns_jet_work(program->jet, order);
}

void ns_program_bind_jet(const ns_program *program, double *work, uint32_t order,
                         const double *p)
{
    NS_CHECK(program->jet);
    ns_jet_bind(program->jet, work, order, p);
}

void ns_program_solve_jet(const ns_program *program, double *work, double t, uint32_t order,
                          double *x)
{
    NS_CHECK(program->tape->nout == program->tape->nx);
    ns_jet_solve(program->jet, work, t, order, x, (size_t)order + 1, 1);
}

void ns_program_series(const ns_program *program, double *work, double t, uint32_t order,
                       double *x, size_t per_order)
{
    NS_CHECK(program->tape->nout == program->tape->nx);
    ns_jet_solve(program->jet, work, t, order, x, 1, per_order);
}

void ns_program_eval_jet(const ns_program *program, double *work, double t, uint32_t order,
                         const double *x, double *out)
{
    NS_CHECK(program->jet);
    ns_jet_eval(program->jet, work, t, order, x, out);
}
