/* Machine code (machine.h) in memory that can be run. */
#ifndef NS_EVAL_MACHINE_INSTALL_H
#define NS_EVAL_MACHINE_INSTALL_H

#include "eval/engine.h"
#include "eval/native/native.h"

typedef struct ns_installed {
    void *memory;        /* NULL: nothing is installed */
    size_t length, code; /* of the memory, of the code */
} ns_installed;

/* Does this machine have the instructions that we write? */
bool ns_install_can(const ns_program *program);
/* Makes the programs use machine code.  false: this machine has no instructions that we write,
 * or the system lets nothing be run that was just written; then nothing has changed. */
bool ns_install(ns_installed *made, ns_arena *scratch, const ns_native_request *requests,
                uint32_t n);
/* No program may be evaluated meanwhile, and none may use the code. */
void ns_install_remove(ns_installed *made);

#endif
