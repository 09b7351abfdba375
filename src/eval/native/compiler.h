/* The system's compiler: `cc`, or what NOSLIP_CC names; NOSLIP_CC= (empty) switches it off.  It
 * is started with a list of arguments, never through a shell.  Functions that return false
 * have written to `message` why. */
#ifndef NS_EVAL_NATIVE_COMPILER_H
#define NS_EVAL_NATIVE_COMPILER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { NS_COMPILER_FLAGS = 24 };

typedef struct ns_compiler {
    char *message;
    size_t room;
    char path[PATH_MAX];                  /* the file that runs */
    const char *flags[NS_COMPILER_FLAGS]; /* ends with NULL */
} ns_compiler;

bool ns_compiler_find(ns_compiler *c);
/* Starts it on files (the list ends with NULL); `what` is -c or -shared; what it complains of
 * goes to `complaints`. */
bool ns_compiler_start(const ns_compiler *c, const char *what, const char *const *files,
                       const char *made, const char *complaints, pid_t *child);
bool ns_compiler_wait(const ns_compiler *c, const char *complaints, pid_t child);
/* Ends a compiler that is not wanted any more. */
void ns_compiler_stop(pid_t child);

/* The shared library made of one C text that needs the C library alone, bytes from malloc. */
bool ns_compiler_library(const char *text, size_t length, char **bytes, size_t *n,
                         char *message, size_t room);

#endif
