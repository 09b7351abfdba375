/* Threads where there is one: locks are free, and no other can be started. */
#ifndef NS_WASM_PTHREAD_H
#define NS_WASM_PTHREAD_H

#define __NEED_pthread_t
#define __NEED_pthread_attr_t
#define __NEED_pthread_mutex_t
#define __NEED_pthread_mutexattr_t
#define __NEED_pthread_cond_t
#define __NEED_pthread_condattr_t
#include <bits/alltypes.h>
#include <errno.h>
#include <time.h>

#define NS_WASM_NOTHING(name, ...)                                                             \
    static inline int name(__VA_ARGS__)                                                        \
    {                                                                                          \
        return 0;                                                                              \
    }

NS_WASM_NOTHING(pthread_mutex_init, pthread_mutex_t *, const pthread_mutexattr_t *)
NS_WASM_NOTHING(pthread_mutex_destroy, pthread_mutex_t *)
NS_WASM_NOTHING(pthread_mutex_lock, pthread_mutex_t *)
NS_WASM_NOTHING(pthread_mutex_unlock, pthread_mutex_t *)
NS_WASM_NOTHING(pthread_cond_init, pthread_cond_t *, const pthread_condattr_t *)
NS_WASM_NOTHING(pthread_cond_destroy, pthread_cond_t *)
NS_WASM_NOTHING(pthread_cond_signal, pthread_cond_t *)
NS_WASM_NOTHING(pthread_cond_broadcast, pthread_cond_t *)
NS_WASM_NOTHING(pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *)
NS_WASM_NOTHING(pthread_condattr_init, pthread_condattr_t *)
NS_WASM_NOTHING(pthread_condattr_destroy, pthread_condattr_t *)
NS_WASM_NOTHING(pthread_condattr_setclock, pthread_condattr_t *, clockid_t)
NS_WASM_NOTHING(pthread_join, pthread_t, void **)

static inline int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                                         const struct timespec *t)
{
    (void)c;
    (void)m;
    (void)t;
    return ETIMEDOUT;
}

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                 void *(*start)(void *), void *context)
{
    (void)thread;
    (void)attributes;
    (void)start;
    (void)context;
    return EAGAIN;
}

#endif
