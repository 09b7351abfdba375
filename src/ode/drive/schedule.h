/* Parameters that change during a run at known times: pieces of tables, and controllers that
 * are sampled at a period and constant in between.
 *
 * Steps end exactly at these times; there the parameters take their new values and the method
 * begins anew.  Values at such a time are those before the change. */
#ifndef NS_ODE_DRIVE_SCHEDULE_H
#define NS_ODE_DRIVE_SCHEDULE_H

#include "eval/program.h"

struct ns_run;

/* From the time t on a parameter has this value. */
typedef struct ns_schedule_change {
    double t;
    uint32_t param;
    double value;
} ns_schedule_change;

/* At origin + k period, k = 0, 1, ... */
typedef struct ns_sampling {
    uint32_t param;
    double period;
} ns_sampling;

typedef struct ns_schedule {
    const ns_schedule_change *changes; /* ascending in time */
    size_t n;
    double begin, end; /* known between these times */
    const char *of;    /* whose values begin and end there, in words; NULL: for ever */
    double origin;     /* of the samples */
    const ns_sampling *samplings;
    uint32_t n_samplings;
    const ns_program *sample; /* their values from states, time and parameters */
} ns_schedule;

/* For run.c.  Doubles that belong to checkpoints, and work for the samples. */
size_t ns_schedule_kept(const ns_schedule *schedule);
size_t ns_schedule_work(const ns_schedule *schedule);
/* The parameters at the start; what is wrong with the request, or NULL. */
const char *ns_schedule_begin(struct ns_run *run);
/* What each sampling gave last. */
void ns_schedule_held(const struct ns_run *run, double *held);
/* True if parameters changed at the present time. */
bool ns_schedule_pass(struct ns_run *run);
/* Is the present time the end of what is known? */
bool ns_schedule_over(const struct ns_run *run);
/* After a checkpoint was read: the parameters as they were.  False if it is none that a run can
 * have come to. */
bool ns_schedule_restore(struct ns_run *run);

#endif
