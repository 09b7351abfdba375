/* Pictures for `noslip equilibria`: eigenvalues in the plane, and branches over a parameter. */
#ifndef NS_COMMAND_STUDIES_EQUILIBRIA_PLOT_H
#define NS_COMMAND_STUDIES_EQUILIBRIA_PLOT_H

#include "out/plot/plot.h"
#include "session/model.h"
#include "study/steady/equilibria.h"

ns_plot *ns_equilibria_plot(ns_arena *arena, const ns_model *model,
                            const ns_steady_point *points, uint32_t n);

/* Real and imaginary parts along the branch, each eigenvalue one curve; below, the state that
 * tells the branches apart. */
ns_plot *ns_branch_plot(ns_arena *arena, const ns_model *model, const ns_flow *field,
                        const ns_branch *branch, const ns_param *over);

#endif
