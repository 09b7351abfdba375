#include "study/sweeps/sweep_run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/pool.h"

enum {
    MOST_BLOCK = 1024,
    FIRST_BLOCK = 8,
    SHARES = 4 /* of what is left a block takes at most this part for each thread */
};
static const double block_seconds = 0.5, sync_seconds = 2, look_seconds = 0.1;
static const double serve_seconds = 0.002; /* other ranks have a block in reserve meanwhile */

typedef struct driver {
    const ns_sweep *sweep;
    const ns_sweep_sink *sink;
    const ns_sweep_run_options *options;
    ns_sweep_outcome *out;
    ns_sweep_client client; /* from which the threads take blocks */
    pthread_mutex_t lock;   /* of what follows, and of `out` */
    uint64_t next;
    uint64_t given;            /* rows that threads have taken */
    bool all;                  /* none is left to take */
    uint32_t threads, workers; /* threads of this process, of all */
    double began;
    ns_status status;
    ns_sweep_leader *leader;     /* NULL: there are no other ranks, or this is one of them */
    ns_sweep_follower *follower; /* of a rank that is not 0 */
} driver;

static void fail(driver *d, ns_status status, const char *message)
{
    pthread_mutex_lock(&d->lock);
    if (d->status == NS_OK) {
        d->status = status;
        snprintf(d->out->message, sizeof d->out->message, "%s", message);
    }
    pthread_mutex_unlock(&d->lock);
}

/* 0 or an errno value, which ends the run. */
static bool well(driver *d, int error)
{
    if (error)
        fail(d, error == ENOMEM ? NS_ERR_MEMORY : NS_ERR_IO, strerror(error));
    return !error;
}

static bool interrupted(const driver *d)
{
    return d->options->interrupt && *d->options->interrupt;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Rows of the next block: about half a second's work, and less near the end so that all end
 * together. */
static uint32_t block_rows(const driver *d)
{
    const uint64_t rows = d->sweep->plan.rows, left = d->next < rows ? rows - d->next : 0;
    const double seconds = ns_clock_seconds() - d->began;
    double size = FIRST_BLOCK;
    if (d->out->computed)
        size = block_seconds * (double)d->out->computed / (seconds * d->workers);
    const double share = (double)left / (SHARES * (double)d->workers);
    size = size > share ? share : size;
    return size < 1 ? 1 : size > MOST_BLOCK ? MOST_BLOCK : (uint32_t)size;
}

static int find_missing(const driver *d, uint64_t *first, uint32_t most, uint32_t *count)
{
    if (d->sink->missing)
        return d->sink->missing(d->sink->context, first, most, count);
    const uint64_t left = d->sweep->plan.rows - *first;
    *count = left < most ? (uint32_t)left : most;
    return 0;
}

static bool next(void *context, uint64_t *first, uint32_t *count)
{
    driver *d = context;
    int error = 0;
    pthread_mutex_lock(&d->lock);
    *count = 0;
    if (d->status == NS_OK && !interrupted(d)) {
        error = find_missing(d, &d->next, block_rows(d), count);
        *first = d->next;
        d->next += *count;
        d->given += *count;
        d->all = d->all || !*count;
    }
    pthread_mutex_unlock(&d->lock);
    return well(d, error) && *count;
}

static bool done(void *context, uint64_t first, uint32_t count, const void *records)
{
    driver *d = context;
    if (!well(d, d->sink->put(d->sink->context, first, count, records)))
        return false;
    pthread_mutex_lock(&d->lock);
    d->out->computed += count;
    const bool go_on = d->status == NS_OK;
    pthread_mutex_unlock(&d->lock);
    return go_on;
}

static void work(void *context)
{
    driver *d = context;
    char message[300] = "";
    const ns_status status = ns_sweep_work(d->sweep, &d->client, message, sizeof message);
    if (d->follower)
        ns_sweep_follower_leave(d->follower, status != NS_OK ? message : NULL);
    else if (status != NS_OK)
        fail(d, status, message);
}

/* ---- native code ------------------------------------------------------------------------- */

/* Compiling takes 0.1 to 0.5 seconds: it pays if all rows take much longer, judged by some of
 * them. */
static bool pays(const driver *d)
{
    enum { TRIES = 4 };
    static const double enough = 0.05, seconds_left = 3;
    const uint64_t rows = d->sweep->plan.rows;
    void *record = malloc(d->sweep->record);
    const double began = ns_clock_seconds();
    double seconds = 0;
    uint32_t tried = 0;
    char message[300];
    while (record && tried < TRIES && tried < rows && seconds < enough && !interrupted(d)) {
        if (ns_sweep_rows(d->sweep, rows / TRIES * tried, 1, record, message, sizeof message) !=
            NS_OK)
            break;
        tried++;
        seconds = ns_clock_seconds() - began;
    }
    free(record);
    return tried && seconds / tried * (double)rows / d->threads > seconds_left;
}

static void go_native(const driver *d)
{
    const bool asked = d->options->engine == NS_ENGINE_NATIVE;
    char *message = d->out->interpreted;
    if (!asked && (d->options->engine != NS_ENGINE_AUTO || !pays(d)))
        return;
    if (ns_ensemble_native(d->sweep->problem, &d->sweep->options, message,
                           sizeof d->out->interpreted, NULL) ||
        !asked)
        *message = 0;
}

/* ---- rank 0 ------------------------------------------------------------------------------ */

/* Answers the other ranks; was there anything? */
static bool serve(driver *d)
{
    pthread_mutex_lock(&d->lock);
    const bool stop = d->status != NS_OK || interrupted(d);
    d->workers = d->threads + ns_sweep_leader_threads(d->leader);
    pthread_mutex_unlock(&d->lock);
    const bool heard = ns_sweep_leader_serve(d->leader, stop);
    const char *trouble = ns_sweep_leader_trouble(d->leader);
    if (trouble)
        fail(d, NS_ERR_SYSTEM, trouble);
    return heard;
}

static void show(driver *d)
{
    pthread_mutex_lock(&d->lock);
    const ns_sweep_progress p = {d->out->computed, ns_clock_seconds() - d->began};
    pthread_mutex_unlock(&d->lock);
    if (d->options->progress && p.seconds > 1)
        d->options->progress(d->options->context, &p);
}

static void sync_rows(driver *d)
{
    if (d->sink->sync)
        well(d, d->sink->sync(d->sink->context));
}

/* Until all threads have ended and all ranks have said good bye. */
static void attend(driver *d, ns_pool *pool)
{
    double synced = ns_clock_seconds(), shown = synced;
    for (bool over = false; !over;) {
        const bool heard = d->leader && serve(d);
        over = !ns_pool_running(pool) && (!d->leader || ns_sweep_leader_finished(d->leader));
        if (!over && !heard)
            ns_pool_rest(pool, d->leader ? serve_seconds : look_seconds);
        const double now = ns_clock_seconds();
        if (now - shown >= look_seconds) {
            show(d);
            shown = now;
        }
        if (now - synced >= sync_seconds) {
            sync_rows(d);
            synced = ns_clock_seconds();
        }
    }
}

static ns_status lead(driver *d)
{
    const ns_sweep_run_options *o = d->options;
    d->client = (ns_sweep_client){.context = d, .next = next, .done = done};
    const bool alone = !o->rank || o->rank->size == 1;
    if (!alone)
        d->leader = ns_sweep_leader_new(o->rank, &d->client, d->sweep->record, o->identity);
    ns_pool *pool = alone || d->leader ? ns_pool_start(d->threads, work, d) : NULL;
    if (pool) {
        if (!ns_pool_size(pool))
            fail(d, NS_ERR_SYSTEM, "the system gives no threads");
        attend(d, pool);
        d->out->met = true;
        d->out->lost = d->leader && ns_sweep_leader_lost(d->leader);
    } else {
        fail(d, NS_ERR_MEMORY, "out of memory");
    }
    ns_pool_free(pool);
    ns_sweep_leader_free(d->leader);
    /* a thread that lacked memory may have ended without a word */
    if (alone && !interrupted(d) && (!d->all || d->out->computed < d->given))
        fail(d, NS_ERR_MEMORY, "out of memory: not all rows were computed");
    d->out->seconds = ns_clock_seconds() - d->began;
    sync_rows(d);
    return d->status != NS_OK ? d->status : interrupted(d) ? NS_STOP_INTERRUPT : NS_OK;
}

/* ---- other ranks ------------------------------------------------------------------------- */

static ns_status follow(driver *d)
{
    const ns_sweep_run_options *o = d->options;
    volatile int stop = 0;
    d->follower = ns_sweep_follower_new(o->rank, d->sweep->record, o->identity, d->threads);
    ns_pool *pool = NULL;
    if (d->follower) {
        d->client = ns_sweep_follower_client(d->follower);
        pool = ns_pool_start(d->threads, work, d);
    }
    if (pool) {
        const uint32_t size = ns_pool_size(pool); /* fewer will do */
        for (uint32_t i = size; i < d->threads; i++)
            ns_sweep_follower_leave(d->follower, size ? NULL : "the system gives no threads");
        ns_sweep_follower_serve(d->follower, o->interrupt ? o->interrupt : &stop);
        d->out->met = true;
    } else {
        fail(d, NS_ERR_MEMORY, "out of memory");
    }
    ns_pool_free(pool);
    ns_sweep_follower_free(d->follower);
    return d->status;
}

ns_status ns_sweep_run(const ns_sweep *sweep, const ns_sweep_sink *sink,
                       const ns_sweep_run_options *options, ns_sweep_outcome *out)
{
    const uint32_t threads = options->threads ? options->threads : ns_pool_cores();
    driver d = {.sweep = sweep,
                .sink = sink,
                .options = options,
                .out = out,
                .threads = threads,
                .workers = threads};
    *out = (ns_sweep_outcome){0};
    pthread_mutex_init(&d.lock, NULL);
    go_native(&d);
    d.began = ns_clock_seconds();
    const ns_status status = options->rank && options->rank->rank > 0 ? follow(&d) : lead(&d);
    pthread_mutex_destroy(&d.lock);
    return status;
}
