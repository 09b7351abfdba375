/*
 * Another program as a child process: started with a list of arguments, never through a shell,
 * and ended when it takes too long.
 */
#ifndef BENCH_CHILD_H
#define BENCH_CHILD_H

#include <stddef.h>

typedef struct child_result {
    int status;       /* of its exit; -1: not started, killed or too long */
    double wall, cpu; /* seconds of it and its children, user and system */
} child_result;

/* What it prints on standard output goes to out[room], cut and ended with a zero byte; out may
 * be
   NULL. Standard error goes nowhere. */
child_result child_run(const char *const *arguments, double most_seconds, char *out,
                       size_t room);

#endif
