/* For tests that run models through the library: a model with one run of it, and values by
 * name.  Everything asserts; a model that does not load prints its messages. */
#ifndef TEST_SUPPORT_MOTION_H
#define TEST_SUPPORT_MOTION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "session/model.h"
#include "session/record.h"

typedef struct motion {
    ns_model *model;
    ns_run *run;
    double t;
    double *x, *value; /* state and values at t */
} motion;

/* "a=1; b=2*c" sets parameters as --set does; NULL sets none. */
ns_model *motion_model_text(const char *text, const char *set);
ns_model *motion_model_file(const char *name, const char *set); /* models/NAME.mech */

/* A record of the whole motion, as reports and pictures need it, to `until`; 0: to the model's
 * own end.  Run already; ns_record_free does not free the model. */
ns_record *motion_record(ns_model *model, double until);

/* Fails unless a model is refused as wrong, with these words among its messages. */
void motion_refused(const char *text, const char *words);

/* The run begins at the model's start, or at the state x.  It is not finished at any time: ask
 * motion_to.  motion_close frees the model too. */
motion motion_begin(ns_model *model, const double *x);
motion motion_begin_until(ns_model *model, const double *x, double until);
motion motion_text(const char *text, const char *set);
motion motion_file(const char *name, const char *set);
void motion_close(motion *m);

/* Integrates to t, which must not lie before the last one; the status of the run. */
ns_status motion_to(motion *m, double t);

double motion_get(const motion *m, const char *name);
void motion_vector(const motion *m, const char *name, double v[3]); /* NAME.x, .y, .z */
uint32_t motion_state(const motion *m, const char *name);           /* its index */

/* Largest |a - b|/max(1, |b|) over the values NAME or vectors NAME.x, .y, .z, .w in the list
 * "com, quat, energy"; the sign of the quaternion is free. */
double motion_difference(const motion *a, const motion *b, const char *names);

/* Time of the k-th (from 0) occurrence of an event; nan if there is none. */
double motion_event(const motion *m, const char *name, uint32_t k);

/* Largest |residual| of all constraints so far, and relative drift of an invariant. */
double motion_residual(const motion *m);
double motion_drift(const motion *m, const char *invariant);

#endif
