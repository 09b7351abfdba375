/* A problem: the programs of one system, ready to integrate.  Immutable, shared by threads; its
 * programs may get native code while they are used, which changes no bit of what they give. */
#ifndef NS_ODE_PROBLEM_H
#define NS_ODE_PROBLEM_H

#include "eval/native/native.h"
#include "mech/system.h"
#include "ode/cascade.h"
#include "ode/events/probes.h"

typedef struct ns_problem {
    const ns_system *system;
    uint32_t n, np;             /* states, parameters */
    const ns_program *rhs;      /* n outputs, with jets */
    const ns_program *jacobian; /* n*n outputs df_i/dx_j by rows; NULL if not built */
    const ns_program *tangent;  /* J v from x and v: 2n inputs; see ns_problem_add_tangent */
    /* for discrete mechanics, see ns_problem_add_balance */
    const ns_balance *balance;
    const ns_program *pieces;
    const ns_program *observables; /* in the order of system->observables */
    const ns_program *events;      /* in the order of system->events; then their probes */
    const ns_program *stops;       /* the same, with zeros for those that do not stop a run */
    const ns_probes *probes;       /* of the events */
    const ns_program *residuals;   /* in the order of system->constraints */
    /* m residuals to project, m*n of their Jacobian by rows, m sizes of the residuals' terms */
    const ns_program *manifold;
    /* energy, kinetic energy (0 if none), the invariants I_k, then for each of them the size of
     * its terms, sum_j |x_j dI_k/dx_j|, against which its drift is judged */
    const ns_program *monitor;
    const ns_program *pushes;  /* in the order of system->pushes; NULL if there are none */
    const ns_program *ranks;   /* entries of system->watch; NULL if there is none */
    const ns_program *pinv;    /* for route `pinv`, see pinv.h; NULL otherwise */
    const ns_program *drivers; /* functions of time in the rates, see drive.h; NULL: none */
    const ns_program *bumps;   /* what can be narrow in the rates, see bump.h; NULL: nothing */
    const ns_program *bump_clues;
    uint32_t n_manifold;
    uint32_t n_reach; /* states that it contains, and those before; a multiple of 4, or all */
    /* Projection by the formulation (system->correction), NULL without.  shift: n_shift
     * residuals, entries of their Jacobian (row i: columns shift_column[shift_start[i] ..]),
     * sizes of terms. correction: the change of the state, from states and residuals. */
    const ns_program *shift, *correction;
    uint32_t n_shift;
    const uint32_t *shift_start, *shift_column;
    /* x_i' = x_j and nothing else (a coordinate and its velocity): source[i] = j, otherwise
     * UINT32_MAX.  In `order` every state comes after its source. */
    const uint32_t *source, *order;
    /* P.x, P.y and P.z are components of one vector: [n] the first of them; of others:
     * itself */
    const uint32_t *vector;
    /* States that occur in the rates, [n_needed]; the others are quadratures.  core: the
     * right-hand side with zeros for their rates; NULL if that saves nothing, or it is very
     * long. */
    const uint32_t *needed;
    uint32_t n_needed;
    const ns_program *core;
    const ns_cascade
        *cascade; /* the right-hand side by parts that are solved one after the other */
    /* The same with parts that are linear in their own states (deviations from a motion), for
     * one motion alone; NULL: there are none. */
    const ns_cascade *linear;
    /* Systems with several modes: one problem for each, and this one has the programs of mode
     * 0. NULL: there is only this one. */
    struct ns_problem *const *mode;
    uint32_t n_modes;             /* at least 1 */
    const struct ns_jumps *jumps; /* ode/modes/modes.h; NULL: no event makes the motion jump */
    uint64_t fingerprint; /* of the equations: tells checkpoints of different models apart */
    struct ns_problem_code *code; /* native code that was made so far */
} ns_problem;

/* The parts of the right-hand side, for one motion. */
static inline const ns_cascade *ns_problem_cascade(const ns_problem *problem)
{
    return problem->linear ? problem->linear : problem->cascade;
}

/* Builds in the system's arena and graph, which no other thread may use meanwhile.  `jacobian`:
 * the Jacobian too, whatever it costs (methods that need it say so); without, it is built only
 * where that is cheap, for `gauss`, which can use it on stiff problems. */
ns_problem *ns_problem_new(const ns_system *system, bool jacobian);

/* The problem of a mode. */
static inline const ns_problem *ns_problem_in_mode(const ns_problem *problem, uint32_t mode)
{
    return problem->mode ? problem->mode[mode] : problem;
}

/* A program for expressions in the states, the parameters and time. */
const ns_program *ns_problem_program(const ns_system *system, ns_arena *arena, const ns_ex *out,
                                     uint32_t nout);

/* Of expressions: the same for the same model, whatever else is on its graph. */
uint64_t ns_problem_fingerprint(const ns_graph *g, ns_arena *arena, const ns_ex *roots,
                                uint32_t n_roots);

/* Adds the derivative of the right-hand side along a direction, for methods that need it. */
void ns_problem_add_tangent(ns_problem *problem);

/* Adds the equations as discrete mechanics needs them (mech/system.h), if the system
 * has them in that form.  pieces: U, P, G, psi, phi (nq + 2 nv + 2 m values), their derivatives
 * by all states, by rows, and A. */
void ns_problem_add_balance(ns_problem *problem);

enum { NS_LANES_ALL = -1 }; /* for whichever method */

/* Native code for what the steps of a method consist of that evaluates on `lanes` lanes
 * (ns_method.lanes); Taylor series stay interpreted.  The results keep their bits.  False if
 * that is not possible, and why.  Code is made once, for all runs of the problem, and lives as
 * long as it; any thread may ask for it. */
bool ns_problem_native(const ns_problem *problem, int lanes, char *message, size_t room,
                       ns_native_facts *facts);
/* The same for some of its programs. */
bool ns_problem_compile(const ns_problem *problem, const ns_native_request *requests,
                        uint32_t n, char *message, size_t room, ns_native_facts *facts);
/* For tests and benchmarks: back to the interpreter.  Nothing may be evaluated meanwhile. */
void ns_problem_interpret(const ns_problem *problem);
/* For ns_problem_new: where the code will be. */
struct ns_problem_code *ns_problem_code_new(ns_arena *arena);
/* Does native code pay for the rest of a job, of which the part `done` (0 to 1) took this many
 * seconds, interpreted? It saves two thirds of the rest and more; making it takes 0.1 to 2
 * seconds with a compiler, 0.1 to 10 milliseconds without. */
bool ns_problem_native_pays(const ns_problem *problem, double seconds, double done);

#endif
