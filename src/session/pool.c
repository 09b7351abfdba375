#define _GNU_SOURCE /* sched_getaffinity */
#include "session/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/process/plain.h"

struct ns_pool {
    void (*work)(void *context);
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    uint32_t size, running, seen; /* seen: running, when it was looked at last */
    pthread_t threads[];
};

static void *thread(void *context)
{
    ns_pool *pool = context;
    ns_plain_begin(); /* of this thread, to its end */
    pool->work(pool->context);
    pthread_mutex_lock(&pool->lock);
    pool->running--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

ns_pool *ns_pool_start(uint32_t threads, void (*work)(void *context), void *context)
{
    ns_pool *pool = calloc(1, sizeof *pool + threads * sizeof(pthread_t));
    pthread_condattr_t clock;
    if (!pool)
        return NULL;
    pool->work = work;
    pool->context = context;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->ended, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_lock(&pool->lock); /* none ends before it is counted */
    while (pool->size < threads &&
           pthread_create(&pool->threads[pool->size], NULL, thread, pool) == 0)
        pool->size++;
    pool->running = pool->seen = pool->size;
    pthread_mutex_unlock(&pool->lock);
    return pool;
}

uint32_t ns_pool_size(const ns_pool *pool)
{
    return pool->size;
}

uint32_t ns_pool_running(ns_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const uint32_t running = pool->running;
    pthread_mutex_unlock(&pool->lock);
    return running;
}

void ns_pool_rest(ns_pool *pool, double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)(seconds * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_mutex_lock(&pool->lock);
    if (pool->running == pool->seen)
        pthread_cond_timedwait(&pool->ended, &pool->lock, &t);
    pool->seen = pool->running;
    pthread_mutex_unlock(&pool->lock);
}

void ns_pool_free(ns_pool *pool)
{
    if (!pool)
        return;
    for (uint32_t i = 0; i < pool->size; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Processes of the same job on this machine. */
static long neighbours(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", /* Open MPI */
                                        "MPI_LOCALNRANKS"};           /* MPICH, Intel MPI */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *said = getenv(names[i]);
        if (said)
            return strtol(said, NULL, 10);
    }
    return 1;
}

uint32_t ns_pool_cores(void)
{
    const long all = sysconf(_SC_NPROCESSORS_ONLN), ranks = neighbours();
    cpu_set_t set;
    long cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : all;
    if (cores >= all && ranks > 1)
        cores = all / ranks;
    return cores > 0 ? (uint32_t)cores : 1;
}
