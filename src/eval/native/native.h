/* Native code of programs.
 *
 * On x86-64 with AVX2 or AVX-512 it is machine code of our own (machine.h), made in
 * milliseconds.  On other processors, on systems that refuse to execute memory that was
 * written, and everywhere if NOSLIP_NATIVE=c is set, the system's compiler makes it from C text
 * (emit.h).  Taylor series are always interpreted.
 *
 * The text is compiled once and kept: in $XDG_CACHE_HOME/noslip (or ~/.cache/noslip), a
 * folder that nobody else can read or write, under a name made of the text, the compiler and
 * its flags.  A folder or a file that belongs to somebody else, or that others can write, is
 * not used; nor is a file whose bytes have changed.  New files appear by rename: processes that
 * need the same code at the same time do not disturb each other.
 *
 * Files that nobody has used for 60 days are removed, and the least recently used ones when all
 * together exceed 256 MB (prune.h).
 *
 * The compiler is `cc`, or what NOSLIP_CC names; NOSLIP_CC= (empty) switches it off.  It is
 * started with a list of arguments, never through a shell. */
#ifndef NS_EVAL_NATIVE_NATIVE_H
#define NS_EVAL_NATIVE_NATIVE_H

#include "eval/program.h"

typedef struct ns_native ns_native;

typedef struct ns_native_request {
    const ns_program *program;
    bool one, eight;  /* on which numbers of lanes */
    bool eight_fused; /* for ns_program_eval8_fused */
} ns_native_request;

typedef struct ns_native_facts {
    bool cached;        /* it was there already */
    double seconds;     /* all that was done here */
    size_t text_length; /* of the C text, 0: there is none */
    size_t code_length; /* of machine code that no compiler has made */
} ns_native_facts;

/* Makes the programs use native code, which other threads may be evaluating meanwhile.  NULL if
 * that is not possible: then they stay as they are and `message` says why.  The programs must
 * outlive the code.  facts may be NULL. */
ns_native *ns_native_new(const ns_native_request *requests, uint32_t n, char *message,
                         size_t room, ns_native_facts *facts);
/* Is native code of this program made without a compiler, in milliseconds?  (It may be
 * refused.) */
bool ns_native_is_quick(const ns_program *program);
/* Operations; of what is beside the right-hand side, longer programs should stay
 * interpreted. */
uint32_t ns_native_most(const ns_program *program);
/* Back to the interpreter.  No program may be evaluated meanwhile: problems keep the code of
 * their programs to their end (ode/problem.h). */
void ns_native_free(ns_native *native);

#endif
