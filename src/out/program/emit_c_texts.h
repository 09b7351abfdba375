/* Fixed parts of the file that `noslip emit c` writes: see emit_c.c. */
#ifndef NS_OUT_PROGRAM_EMIT_C_TEXTS_H
#define NS_OUT_PROGRAM_EMIT_C_TEXTS_H

extern const char *const ns_emit_c_helpers[]; /* in the order of its helpers */
extern const char ns_emit_c_least_change[], ns_emit_c_projection[], ns_emit_c_no_projection[];
extern const char ns_emit_c_integrator[], ns_emit_c_main[];

#endif
