/* Pictures for `noslip period`: the reduced orbit and the path of the group. */
#ifndef NS_COMMAND_STUDIES_PERIOD_PLOT_H
#define NS_COMMAND_STUDIES_PERIOD_PLOT_H

#include "command/command.h"
#include "out/plot/plot.h"
#include "session/model.h"

/* The motions of models with the same coordinates, each to its time `until`, in one picture;
 * NULL if there is nothing to draw. */
ns_plot *ns_period_plot(ns_host *host, ns_model *const *models, const double *until,
                        uint32_t n);

#endif
