/* Parts of C files that are made of models: for emit_c.c and emit_fmu.c. */
#ifndef NS_OUT_PROGRAM_EMIT_C_PARTS_H
#define NS_OUT_PROGRAM_EMIT_C_PARTS_H

#include "out/program/emit_c_writer.h"

/* Residuals that are to vanish, and the entries of their Jacobian that can differ from zero, at
 * their places in an array of both: residuals, then the Jacobian by rows. */
typedef struct ns_emit_c_equations {
    uint32_t rows, dropped; /* dropped: more than a file of this kind should hold */
    NS_LIST(ns_ex) value;
    NS_LIST(uint32_t) place;
    NS_LIST(const char *) name;
} ns_emit_c_equations;

/* Of n residuals by the states. */
ns_emit_c_equations ns_emit_c_equations_new(ns_arena *arena, const ns_system *s,
                                            const ns_ex *residual, const char *const *name,
                                            uint32_t n);
/* What the state is kept on. */
ns_emit_c_equations ns_emit_c_constraints(ns_arena *arena, const ns_system *s);
/* The function `name` for them; `count` is the name of their number. */
void ns_emit_c_put_equations(ns_emit_c_writer *w, const ns_emit_c_equations *k,
                             const char *name, const char *count);

/* model_rhs and model_values. */
void ns_emit_c_rates_and_values(ns_emit_c_writer *w);
/* The arrays `parameters` and `start`. */
void ns_emit_c_numbers(ns_emit_c_writer *w);
/* name = value, one a line, as the initialiser of an array. */
void ns_emit_c_values(ns_emit_c_writer *w, const char *head, const char *const *names,
                      const double *values, uint32_t n);
/* Projection and integrator. */
void ns_emit_c_integration(ns_emit_c_writer *w, const ns_emit_c_equations *kept);

#endif
