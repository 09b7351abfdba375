/* A system: first-order equations x' = f(t, x; p) on the graph, with all that a run reports.
 * Made by a formulation from a description, and immutable from then on.
 *
 * Evaluating needs memory, and some starts need new expressions.  Both come from the system's
 * arena and graph, its bench, so that a bench serves one thread at a time.  Threads that share
 * a system work on forks of it: the same equations, each with a bench of its own. */
#ifndef NS_MECH_SYSTEM_H
#define NS_MECH_SYSTEM_H

#include "base/text.h"
#include "expr/diff.h"
#include "lang/description.h"
#include "mech/blocks.h"
#include "mech/common/quantity.h"
#include "mech/common/vec3.h"
#include "mech/draw/scene.h"

typedef struct ns_state {
    const char *name;
    ns_ex symbol; /* its place in the state vector is its place in the list */
    ns_ex rate;   /* right-hand side in terms of time, states and parameters */
    const char *unit;
    ns_quantity kind;
    bool internal;      /* of the formulation's own use: not shown by default */
    bool level;         /* of an integral that is kept: projections leave it alone */
    bool odd;           /* changes its sign when time is reversed: velocities, momenta */
    const char *vector; /* name of the vector it is a component of; NULL if it is none */
    uint32_t first;     /* the state that is the first component (w, x); itself if it is none */
} ns_state;

typedef struct ns_observable {
    const char *name;
    ns_ex value;
    const char *unit;
    ns_quantity kind;
    bool basic; /* shown by default; others only when asked for by name or written to files */
} ns_observable;

typedef struct ns_constraint {
    const char *name;
    ns_ex residual; /* vanishes along the motion */
    bool project;   /* part of the manifold the state is kept on */
    ns_span span;
} ns_constraint;

typedef struct ns_invariant {
    const char *name;
    ns_ex value;
    ns_span span;
} ns_invariant;

/* A well-known integral and whether it is one here. */
typedef struct ns_known_integral {
    const char *name;
    ns_ex value;
    bool expected;     /* it holds for this system, by its structure */
    const char *where; /* for which systems it is known to hold */
} ns_known_integral;

typedef ns_event_line ns_event; /* the same content, expressions now in states */

/* Modes.  A system may have several vector fields on one state vector (roll, slide, fly), with
 * jumps between them (ns_jump of an event).  What differs is carried by mode values: symbols
 * that stand for another expression in each mode, in rates, observables, constraints, events,
 * energy, resets, ...  A derivative by a state does not see them: differentiate before, and
 * make a mode value of the derivatives.  ns_system_in_mode resolves them.
 *
 * States, observables, constraints, invariants and events have the same number and order in
 * every mode.  A constraint that does not hold in a mode has the residual 0 there; an event
 * that is not watched in a mode is listed and `off`. */

/* Does it end the step it is found in? */
static inline bool ns_event_cuts(const ns_event *event)
{
    return event->jump || event->action == NS_EVENT_STOP || event->action == NS_EVENT_SINGULAR;
}

static inline bool ns_event_stops(const ns_event *event)
{
    return event->action == NS_EVENT_STOP || event->action == NS_EVENT_SINGULAR;
}

/* A value that is not a state and may be set at the start like one: components of a vector in
 * another frame.  States first .. first+n-1 belong to it, and follow from its components given
 * and from the states through .. through+4 (a quaternion). */
typedef struct ns_start_value {
    const char *name;
    ns_ex value; /* in states */
    ns_ex given; /* at the start, in terms of parameters; 0 if it was not given */
    uint32_t first, n, through;
} ns_start_value;

/* How the initial state is found: x_i = value_i, but the free ones are changed (as little as
 * possible) until all constraints hold. */
typedef struct ns_start {
    ns_ex *value;  /* [n] in terms of parameters */
    bool *free;    /* [n] */
    bool *guess;   /* [n] free ones that the user wrote with ~: given up last; or NULL */
    bool *keep;    /* [n] free ones that change only if nothing else will do; or NULL */
    ns_span *span; /* [n] where the user set it; source 0 if not */
    NS_LIST(ns_constraint) extra; /* further equations for the start alone */
    NS_LIST(ns_constraint)
    wishes; /* guesses of what is not a state: met first, then given up */
    NS_LIST(ns_start_value) other;
    const ns_sparse_rows *jacobian; /* of the residuals (constraints, then extra) by states */
    const ns_sparse_rows *wish;     /* of the wishes, the same */
    /* equations of this name among the extra ones hold unless one of these states is set */
    struct {
        const char *name;
        uint32_t first, n;
    } unless;
    const char *hint; /* what to do if the equations have no value there; or NULL */
    /* What the start leaves open in a mode is as in the modes before, which hold more. */
    bool carry;
    /* The mode at the start: the first whose needs hold; empty: mode 0.  mode > 0: number + 1
     * of the one that the model says. */
    NS_LIST(ns_way) ways;
    uint32_t mode;
    NS_LIST(ns_reset) settle; /* set once the rest is found, in terms of it: internal states */
} ns_start;

typedef struct ns_fact {
    const char *name, *text; /* for check and equations: "degrees of freedom", "2" */
} ns_fact;

/* What `check` says about ranks at the start: lines to read, and the numbers in them. */
typedef struct ns_rank_fact {
    const char *matrix;
    uint32_t rank, full;
} ns_rank_fact;
typedef struct ns_rank_facts {
    ns_text lines;
    NS_LIST(ns_rank_fact) at;
} ns_rank_facts;

/* For `noslip equations`:  name = value */
typedef struct ns_equation_line {
    const char *group; /* "mass matrix", "constraints": lines of one group stand together */
    const char *name;  /* "M[1,2]", "blade" */
    ns_ex value;
} ns_equation_line;

typedef struct ns_replacement {
    ns_ex from,
        to; /* an acceleration (or a velocity that is not a state) and its value in states */
} ns_replacement;

/* Matrices whose ranks are watched along a motion: constraint rows A, m x n, and the mass
 * matrix M, n x n.  Only entries that can differ from zero are listed; rows of M have numbers m
 * .. m+n-1. */
typedef struct ns_rank_entry {
    uint32_t row, column;
    ns_ex value;
} ns_rank_entry;

typedef struct ns_rank_watch {
    uint32_t n, m;
    NS_LIST(ns_rank_entry) entries;
    const char *const *names; /* [m] of the rows */
    uint32_t event;           /* index of the event `rank` */
    /* for large systems, see rank.c: [ 1 A^T ; A -e ] and [ 1 B ; B^T -e ] with B = [A; M] */
    const struct ns_pattern *of_A, *of_all;
    /* accelerations, states first .. first+n-1, are those of  M a = Q + A^T l,  A a = b  */
    const ns_ex *Q, *b;
    uint32_t first;
    bool pinv; /* runs compute them by pseudo-inverses */
} ns_rank_watch;

/* How a state is brought back to its manifold, in the formulation's own metric. */
typedef struct ns_correction {
    ns_ex *residual; /* [constraints] symbols that stand for the residuals */
    ns_ex *change;   /* [states] in terms of states and residuals */
} ns_correction;

/* Something faster than walking over the graph, for those who look at one system with many
 * numbers (session/start.h): takes the place of ns_system_eval, with the same meaning. */
typedef struct ns_evaluator {
    void (*eval)(struct ns_evaluator *self, const ns_ex *f, size_t nf, double t,
                 const double *p, const double *x, double *out);
} ns_evaluator;

/* The equations before they are solved for accelerations, on states x = (q, v), coordinates
 * first; what a step of discrete mechanics is made of (ode/methods/discrete.c):
 *
 *     q' = U(t, q, v),      P(t, q, v)' = G(t, q, v) + A(t, q)^T lambda,
 *     phi_k(t, q) = 0  or  psi_k(t, q, v) = 0                                              */
typedef struct ns_balance {
    uint32_t nq, nv, m;     /* coordinates, velocities, constraints */
    const ns_ex *U, *P, *G; /* [nq], [nv], [nv] */
    const ns_ex *A, *psi;   /* [m][nv], [m] at velocity level */
    const ns_ex *phi;       /* [m] at position level; 0: psi is not the derivative of one */
} ns_balance;

typedef struct ns_formulation ns_formulation;
typedef struct ns_system ns_system;

struct ns_system {
    const ns_description *description;
    ns_arena *arena;
    ns_graph *graph;
    const ns_formulation *formulation;
    ns_ex time;
    NS_LIST(ns_state) states;
    NS_LIST(ns_replacement) accelerations;
    NS_LIST(ns_scope_entry) vectors; /* further names for observe, event, invariant */
    NS_LIST(ns_observable) observables;
    NS_LIST(ns_constraint) constraints;
    uint32_t levels; /* how many constraints, the last, keep integrals: no start meets them */
    NS_LIST(ns_invariant) invariants; /* user's and the formulation's, not the energy */
    NS_LIST(ns_event) events;
    NS_LIST(const char *) modes; /* names; none or one: an ordinary system */
    NS_LIST(ns_mode_value) mode_values;
    NS_LIST(ns_known_integral)
    claims; /* `check` verifies them; the expected are invariants too */
    NS_LIST(ns_observable) constants; /* computed from parameters alone: masses, ... */
    NS_LIST(ns_observable)
    pushes; /* normal forces of contacts, by their names: they cannot pull */
    NS_LIST(ns_fact) facts;
    NS_LIST(ns_equation_line) equations;
    ns_ex energy, kinetic; /* 0 if the system has none */
    bool conservative;     /* nothing in the model makes the energy change */
    bool iterated;         /* rates come from iterations: see ns_description.precise */
    ns_start start;
    ns_scene scene;
    ns_correction *correction;    /* NULL: the smallest change, all states alike */
    ns_rank_watch *watch;         /* NULL if there are no ranks to watch */
    struct ns_symmetry *symmetry; /* mech/reduced/symmetry.h; NULL if the model has none */
    uint32_t reduced; /* > 0: that many states are closed by themselves, the others follow */
    uint32_t motion;  /* > 0: that many states are a motion, the others deviations from it */
    void *own;        /* of the formulation */
    ns_evaluator *evaluator;    /* NULL: the graph itself */
    struct ns_system **in_mode; /* [modes] on the same bench, made when first asked for */
};

/* Lines of the language that a formulation may refuse. */
enum { NS_REFUSES_COORDINATE = 1, NS_REFUSES_STATE = 2, NS_REFUSES_LAGRANGIAN = 4 };

/* A formulation: one const descriptor per file of mech/. */
struct ns_formulation {
    const char *name;
    const char *summary; /* one line for help */
    const char *doc;     /* paragraphs for `noslip help NAME` */
    unsigned refuses;    /* lines it has no use for and must not ignore: NS_REFUSES_... */
    /* Is the description of this kind (when the model does not name a formulation)? */
    bool (*fits)(const ns_description *d);
    /* Builds the system; false after adding errors to d->diag. */
    bool (*derive)(ns_description *d, ns_system *s);
    /* Are sizes such as radii what they must be?  Before a start is looked for; may be NULL. */
    bool (*sizes)(const ns_system *s, ns_diag *diag, const double *p);
    /* Looks at the equations with numbers, at the start (ranks, definiteness); may be NULL. */
    bool (*verify)(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x);
    /* Warns of what is possible for the equations but not for bodies, at the start of the model
     * as it stands (not of each row of a sweep); may be NULL. */
    void (*doubts)(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x);
    /* Ranks at the start, for `check`; may be NULL. */
    void (*ranks)(const ns_system *s, double t0, const double *p, const double *x,
                  ns_rank_facts *out);
    /* Better first guesses for the free states of a start, with numbers; may be NULL. */
    void (*guess)(const ns_system *s, double t0, const double *p, double *x);
    /* Largest relative failure of the geometric identity behind the equations (the two-form of
     * rolling) over random states; *points: how many.  May be NULL. */
    double (*form)(const ns_system *s, const double *p, const double *x, uint32_t *points);
    /* The equations as discrete mechanics needs them, built on the bench of s, a fork of the
     * system; NULL if it has no such form.  May be NULL. */
    const ns_balance *(*balance)(const ns_system *s);
    const ns_block_form *const *blocks; /* it reads, ending with NULL; or NULL */
};

extern const ns_formulation *const ns_formulations[]; /* ends with NULL */

/* The system of a description, or NULL with errors in its diag.  Also adds what is common to
 * all formulations: observes, invariants, events, states as observables. */
ns_system *ns_system_derive(ns_description *d);

/* The system with its memory in another arena (see above): what is evaluated, built or changed
 * there leaves the system alone.  It must outlive the fork.  Lists may be added to; entries
 * that are changed in place must be copied first. */
ns_system *ns_system_fork(const ns_system *s, ns_arena *arena);

/* modes.c.  A value that differs from mode to mode, value[modes]: a symbol, or the expression
 * itself if it is the same in all. */
ns_ex ns_system_by_mode(ns_system *s, const ns_ex *value);
/* Replaces the mode values in f[nf] by what they are in one mode. */
void ns_system_resolve(const ns_system *s, uint32_t mode, ns_arena *arena, ns_ex *f, size_t nf);
/* The system with every mode value replaced by what it is in mode k: an ordinary system, a fork
 * in the arena.  Without modes: a fork. */
ns_system *ns_system_in_mode(const ns_system *s, uint32_t k, ns_arena *arena);
/* The same on the bench of the system itself, made once. */
const ns_system *ns_system_mode(const ns_system *s, uint32_t k);
static inline uint32_t ns_system_modes(const ns_system *s)
{
    return s->modes.n > 1 ? s->modes.n : 1;
}
/* The mode that the start says, or the first. */
static inline uint32_t ns_system_given_mode(const ns_system *s)
{
    return s->start.mode ? s->start.mode - 1 : 0;
}
/* The jump that the braces of an event ask for, with errors in the description's diag. */
void ns_system_event_jump(ns_system *s, ns_event *event);
bool ns_system_jumps(const ns_system *s); /* has it events that change mode or state? */
/* The mode a motion begins in at a state, by system->start; UINT32_MAX: the needs of none of
 * them hold there. */
uint32_t ns_system_first_mode(const ns_system *s, double t0, const double *p, const double *x);

/* Values of all parameters (p[n]): defaults and what depends on them, with p_set[i] given from
 * outside where is_set[i]; is_set may be NULL. */
void ns_system_params(const ns_system *s, const bool *is_set, const double *p_set, double *p);

/* Initial state x[n] at time t0 for parameter values p.  False with errors in diag (which
 * equation, by how much) if the equations cannot be met. */
bool ns_system_start(const ns_system *s, ns_diag *diag, double t0, const double *p, double *x);

/* The values of such rows, all of them: dense[rows][n]. */
void ns_system_eval_dense(const ns_system *s, const ns_sparse_rows *rows, double t,
                          const double *p, const double *x, double *dense);

/* The equations of the start, numbered through: constraints but for levels, extra ones. */
uint32_t ns_system_start_rows(const ns_system *s);
const ns_constraint *ns_system_start_row(const ns_system *s, uint32_t k);

/* Moves x to the nearest point where all constraints hold, all states being free.
 * False if that fails. */
bool ns_system_project(const ns_system *s, double t, const double *p, double *x);

/* Is `quantity` constant along the motion?  Largest |d/dt| over random states near the start on
 * the manifold, relative to the size of its terms. */
double ns_system_drift_rate(const ns_system *s, ns_ex quantity, const double *p,
                            const double *x);

/* The number of the state of this name; states.n if there is none. */
uint32_t ns_system_state_named(const ns_system *s, const char *name);

/* Symbols of the states, their rates, symbols of the parameters, each [n + 1]: the last place
 * is free. */
ns_ex *ns_system_state_symbols(const ns_system *s, ns_arena *arena);
ns_ex *ns_system_state_rates(const ns_system *s, ns_arena *arena);
ns_ex *ns_system_param_symbols(const ns_system *s, ns_arena *arena);

/* Values of expressions at a state (while deriving and checking; runs use programs). */
void ns_system_eval(const ns_system *s, const ns_ex *f, size_t nf, double t, const double *p,
                    const double *x, double *out);

/* pivot.c: smallest pivot, as a part of the largest, of the linear systems in the rates at a
 * state; 1 if there is none.
 * *size: how many equations that system has. */
double ns_system_pivot(const ns_system *s, ns_arena *arena, double t, const double *p,
                       const double *x, uint32_t *size);

/* e with accelerations (and velocities, where they are not states) replaced by the equations'
 * own. */
ns_ex ns_system_in_states(ns_system *s, ns_ex e);

/* For formulations */
bool ns_system_start_prepare(const ns_description *d, ns_system *s);
/* An equation for the start of something that is not a state, or a guess of it. */
void ns_system_start_equation(ns_system *s, const char *name, ns_ex residual, bool guess,
                              ns_span span);
/* A new state, the number of which is returned.  Whether it is odd follows from its kind. */
uint32_t ns_system_add_state(ns_system *s, ns_quantity kind, const char *name, ns_ex symbol,
                             ns_ex rate, const char *unit);
/* States NAME.x, NAME.y, ..., as the letters of `axes` say: the components of a vector. */
uint32_t ns_system_add_vector(ns_system *s, ns_quantity kind, const char *name,
                              const char *axes, const ns_ex *symbol, const char *unit);
/* Makes states that there are, first .. first+n-1, the components of a vector. */
void ns_system_group(ns_system *s, ns_quantity kind, const char *name, uint32_t first,
                     uint32_t n);
/* The same for a coordinate of the description; for its velocity, whose unit is `bare` if the
 * coordinate has none; and for a velocity that is not a state but has a value in states. */
void ns_system_add_coordinate(ns_system *s, const ns_coordinate *c, ns_ex rate);
void ns_system_add_velocity(ns_system *s, const ns_coordinate *c, ns_ex acceleration,
                            const char *bare);
void ns_system_derived_velocity(ns_system *s, const ns_coordinate *c, ns_ex velocity,
                                ns_ex acceleration);
/* lambda.NAME */
void ns_system_multiplier(ns_system *s, const char *name, ns_ex value, bool basic);
void ns_system_observe(ns_system *s, ns_quantity kind, const char *name, ns_ex value,
                       const char *unit, bool basic);
/* A vector that observe, event, invariant and draw may use. */
void ns_system_define(ns_system *s, const char *name, const ns_ex *at, uint32_t rows);
/* Components NAME.x, NAME.y, NAME.z as values (unless they are states), and NAME as a
 * vector. */
void ns_system_observe_vector(ns_system *s, ns_quantity kind, const char *name, ns_v3 v,
                              const char *unit, bool basic);
void ns_system_constant(ns_system *s, const char *name, ns_ex value, const char *unit);
void ns_system_claim(ns_system *s, const char *name, ns_ex value, bool expected,
                     const char *where);
void ns_system_fact(ns_system *s, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
