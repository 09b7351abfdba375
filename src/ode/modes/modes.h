/* Jumps and modes of a run.
 *
 * A step that meets an event with a jump (ns_jump) ends there.  What comes after, state and
 * mode, is worked out at once and kept; the run takes it when it makes its next step, so that
 * states inside the last step, and at its end, are those before the jump.
 *
 * The time of an event is a double, its zero is not: at the time t found the event is
 * d = -g / g' away, a part of the last place of t.  So that no jump costs digits, the state is
 * taken to t + d by the rates of the old mode, jumps there, and is taken back by the rates of
 * the new one:
 *     x* = x + d f_old(x),  y* = jump(x*),  y = y* - d f_new(y*)
 * with an error of order d^2.  In quadruple precision that leaves 32 digits. */
#ifndef NS_ODE_MODES_MODES_H
#define NS_ODE_MODES_MODES_H

#include "ode/problem.h"
#include "ode/run.h"

/* Where the outputs of the programs below are. */
typedef struct ns_jump_places {
    uint32_t reset, rest_reset; /* first in `resets` */
    uint32_t need, rest_need;   /* first in `needs` */
    uint32_t gate;              /* in `gates` */
} ns_jump_places;

/* Of a problem in one mode; the places are the same in all modes. */
typedef struct ns_jumps {
    const ns_program *resets; /* values of all resets */
    const ns_program *needs;  /* of ways to this mode; 0 in place of others */
    const ns_program *gates;  /* the values g of events with jumps, with jets */
    ns_jump_places *of;       /* [events] */
    uint32_t start_need;      /* of system->start.ways */
    uint64_t fingerprint;
} ns_jumps;

/* NULL if the system has neither jumps nor modes. */
const ns_jumps *ns_jumps_new(const ns_system *system, ns_arena *arena, uint32_t mode);

/* What comes after the present step. */
typedef enum ns_pending {
    NS_PENDING_NONE,
    NS_PENDING_JUMP,  /* to the state run->after in the mode `next` */
    NS_PENDING_BRIDGE /* the same, then over all that is left of accumulating jumps */
} ns_pending;

/* Plain numbers of the present stretch between two jumps: part of a checkpoint. */
typedef struct ns_stretch {
    uint64_t mode, next, pending;
    uint64_t fired;   /* number + 1 of the event that led here; 0: none */
    uint64_t origin;  /* steps made before it began */
    uint64_t bridged; /* the last step went over accumulating jumps */
    uint64_t at_once; /* jumps at the present time */
    uint64_t jumps, mark_jumps;
    double last_t; /* of the last jump; nan before the first */
    double mark_t; /* when progress was judged */
    double until;  /* where the bridge ends */
    double ratio;  /* of the times between the jumps before it */
} ns_stretch;

/* For runs with jumps: jump.c, accumulate.c.  Room for what they evaluate: */
size_t ns_jump_work(const ns_problem *whole, bool precise); /* doubles */

size_t ns_jump_series(const ns_problem *whole);

/* The mode that a motion begins in; UINT32_MAX: the needs of none hold. */
uint32_t ns_jump_first_mode(ns_run *run, const double *x);

/* The last step has been cut at run->events[run->n_events - 1], which makes the motion jump;
 * `others` were found later in that step.  NS_OK, or the run has ended. */
ns_status ns_jump_make(ns_run *run, const ns_occurrence *others, uint32_t n);

/* Does what is pending.  NS_OK with *step: it was a step of its own, over accumulating
 * jumps. */
ns_status ns_jump_take(ns_run *run, bool *step);

/* A stretch has begun: events that begin at their zero count as zero there, and the first step
 * does not run over their return. */
void ns_jump_begun(ns_run *run);

/* accumulate.c: do jumps of this event, one of which has just been recorded, accumulate so soon
 * that the rest can be left out?  Then stretch.until and run->beyond are when and where. */
bool ns_accumulate_find(ns_run *run, uint32_t event);
/* The state inside the step over accumulating jumps. */
void ns_accumulate_state(const ns_run *run, double t, double *x, double *x_lo);

/* run.c: goes on with the present state in this mode. */
ns_status ns_run_enter(ns_run *run, uint32_t mode);

#endif
