/* Inputs of a model that change during its runs: tables from files and sampled controllers
 * become a schedule of parameters (ode/drive/schedule.h). */
#ifndef NS_SESSION_INPUTS_INPUTS_H
#define NS_SESSION_INPUTS_INPUTS_H

#include "session/model.h"

/* Reads the tables of a model that was derived; errors go to its diag, with their places. */
bool ns_inputs_read(ns_model *model);
/* Makes the model's schedule for its parameters; a variant takes the tables of its model. */
void ns_inputs_schedule(ns_model *model, const ns_model *of);

/* Refuses tables by lines or steps and controllers that move parts of the system, see
 * input_moves.c. */
void ns_inputs_check_moves(ns_model *model);

/* Do inputs follow tables or controllers? */
bool ns_inputs_change(const ns_description *d);
/* Number of an input among the description's, -1 if there is none. */
int64_t ns_inputs_find(const ns_description *d, const char *name);

#endif
