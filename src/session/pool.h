/* A pool: threads of this process that all do the same work, until none is left. */
#ifndef NS_SESSION_POOL_H
#define NS_SESSION_POOL_H

#include <stdint.h>

typedef struct ns_pool ns_pool;

/* Starts threads that call work(context) once each: as many as the system gives, which may be
 * none.  NULL: no memory. */
ns_pool *ns_pool_start(uint32_t threads, void (*work)(void *context), void *context);
/* How many were started, and how many of them have not ended. */
uint32_t ns_pool_size(const ns_pool *pool);
uint32_t ns_pool_running(ns_pool *pool);
/* Waits until a thread ends, at most this long; not at all if one has since the last call. */
void ns_pool_rest(ns_pool *pool, double seconds);
/* Waits for all of them. */
void ns_pool_free(ns_pool *pool);

/* Processors for this process: what a launcher has bound it to, or its share of the machine. */
uint32_t ns_pool_cores(void);

#endif
