#include "code/program.h"

#include <math.h>
#include <string.h>

#include "code/jet.h"
#include "code/tape.h"

#define NS_LU_REAL double
#define NS_LU_ABS(x) fabs(x)
#define NS_LU_NAME(name) lu_##name
#include "expr/lu.h"

struct ns_program {
    const ns_tape *tape;
    const ns_jet *jet;
    uint32_t *factor_place;
    uint32_t cells;
};

ns_program *ns_program_build(ns_arena *arena, const ns_program_spec *spec)
{
    ns_program *p = NS_NEW(arena, ns_program);
    p->jet = spec->jets ? ns_jet_build(arena, spec) : NULL;
    p->tape = ns_tape_lower(arena, spec, spec->out, spec->nout, NULL);
    p->factor_place = NS_NEW_ARRAY(arena, uint32_t, p->tape->nfactors + 1);
    p->cells = p->tape->ncells;
    for (uint32_t i = 0; i < p->tape->nfactors; i++) {
        p->factor_place[i] = p->cells;
        p->cells += p->tape->factor_n[i] * (p->tape->factor_n[i] + 1);
    }
    return p;
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
    const ns_tape *tape = program->tape;
    if (bound)
        *bound = ns_tape_count(tape, 0, tape->nbound);
    return ns_tape_count(tape, tape->nbound, tape->ops.n);
}

size_t ns_program_work1(const ns_program *program)
{
    return program->cells;
}

size_t ns_program_work8(const ns_program *program)
{
    return (size_t)program->cells * NS_LANES;
}

static void run1(const ns_program *program, double *v, uint32_t from, uint32_t to)
{
    const ns_tape *tape = program->tape;
    for (uint32_t i = from; i < to; i++) {
        const ns_tape_op *op = &tape->ops.at[i];
        uint32_t n = op->b;
        if (op->op == NS_OP_FACTOR) {
            double *lu = v + program->factor_place[op->y];
            for (uint32_t k = 0; k < n * n; k++)
                lu[k] = v[tape->args.at[op->a + k]];
            lu_factor(n, lu, (unsigned *)(lu + n * n));
        } else if (op->op == NS_OP_SOLVE) {
            double *lu = v + program->factor_place[op->c];
            for (uint32_t k = 0; k < n; k++)
                v[op->y + k] = v[tape->args.at[op->a + k]];
            lu_solve(n, lu, (unsigned *)(lu + n * n), v + op->y);
        } else if (op->op == NS_TAPE_SQUARE)
            v[op->y] = v[op->a] * v[op->a];
        else
            v[op->y] = ns_ops[op->op].value(v[op->a], v[op->b]);
    }
}

static void bind_lane(const ns_program *program, double *work, const double *p, size_t stride)
{
    const ns_tape *tape = program->tape;
    for (uint32_t i = 0; i < tape->constants.n; i++)
        work[tape->constants.at[i].cell] = tape->constants.at[i].hi;
    for (uint32_t i = 0; i < tape->np; i++)
        if (tape->param[i] != NS_TAPE_NONE)
            work[tape->param[i]] = p[i * stride];
    run1(program, work, 0, tape->nbound);
}

static void eval_lane(const ns_program *program, double *work, double t, const double *x,
                      double *out, size_t stride)
{
    const ns_tape *tape = program->tape;
    for (uint32_t i = 0; i < tape->nx; i++)
        work[i] = x[i * stride];
    work[tape->nx] = t;
    run1(program, work, tape->nbound, tape->ops.n);
    for (uint32_t i = 0; i < tape->nout; i++)
        out[i * stride] = work[tape->out[i]];
}

void ns_program_bind1(const ns_program *program, double *work, const double *p)
{
    bind_lane(program, work, p, 1);
}

void ns_program_eval1(const ns_program *program, double *work, double t, const double *x,
                      double *out)
{
    eval_lane(program, work, t, x, out, 1);
}

void ns_program_bind8(const ns_program *program, double *work, const double *p)
{
    for (uint32_t lane = 0; lane < NS_LANES; lane++)
        bind_lane(program, work + lane * program->cells, p + lane, NS_LANES);
}

void ns_program_eval8(const ns_program *program, double *work, const double *t, const double *x,
                      double *out)
{
    for (uint32_t lane = 0; lane < NS_LANES; lane++)
        eval_lane(program, work + lane * program->cells, t[lane], x + lane, out + lane,
                  NS_LANES);
}

size_t ns_program_work_jet(const ns_program *program, uint32_t order)
{
    return program->jet ? ns_jet_work(program->jet, order) : 0;
}

void ns_program_bind_jet(const ns_program *program, double *work, uint32_t order,
                         const double *p)
{
    ns_jet_bind(program->jet, work, order, p);
}

void ns_program_solve_jet(const ns_program *program, double *work, double t, uint32_t order,
                          double *x)
{
    ns_jet_solve(program->jet, work, t, order, x);
}

void ns_program_eval_jet(const ns_program *program, double *work, double t, uint32_t order,
                         const double *x, double *out)
{
    ns_jet_eval(program->jet, work, t, order, x, out);
}

const char *ns_program_lanes_name(const ns_program *program)
{
    (void)program;
    return "plain";
}

bool ns_program_choose_lanes(ns_program *program, const char *name)
{
    (void)program;
    return !name || strcmp(name, "plain") == 0;
}
