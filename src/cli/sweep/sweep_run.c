/* Threads that take blocks of rows and write them to the table; on several processes, those of
 * rank 0, which gives blocks to the others too. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/sweep/sweep.h"

enum {
    MOST_BLOCK = 1024,
    FIRST_BLOCK = 8,
    SHARES = 4 /* of what is left a block takes at most so small a part for each thread */
};
static const double block_seconds = 0.5, sync_seconds = 2, look_seconds = 0.1;
static const double serve_seconds = 0.002; /* other ranks have a block in reserve meanwhile */

typedef struct driver {
    ns_sweep_job *job;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    uint64_t next, computed;
    double began;
    uint32_t running, workers; /* threads of this process, of all */
    ns_sweep_leader *leader;   /* NULL: there are no other ranks */
    ns_status status;
    char message[400];
} driver;

typedef struct crew {
    const ns_sweep_job *job;
    ns_sweep_client client;
    /* It has come to its end: why, and NS_OK if there were no more blocks. */
    void (*ended)(void *context, ns_status status, const char *message);
    pthread_t thread;
} crew;

static void fail(driver *d, ns_status status, const char *message)
{
    pthread_mutex_lock(&d->lock);
    if (d->status == NS_OK) {
        d->status = status;
        snprintf(d->message, sizeof d->message, "%s", message);
    }
    pthread_mutex_unlock(&d->lock);
}

/* Rows of the next block: about half a second's work, and less near the end so that all end
 * together. */
static uint32_t block_rows(const driver *d)
{
    const uint64_t rows = d->job->sweep->plan.rows, left = d->next < rows ? rows - d->next : 0;
    const double seconds = ns_clock_seconds() - d->began;
    double size = FIRST_BLOCK;
    if (d->computed)
        size = block_seconds * (double)d->computed / (seconds * d->workers);
    const double share = (double)left / (SHARES * (double)d->workers);
    size = size > share ? share : size;
    return size < 1 ? 1 : size > MOST_BLOCK ? MOST_BLOCK : (uint32_t)size;
}

static bool next(void *context, uint64_t *first, uint32_t *count)
{
    driver *d = context;
    int error = 0;
    pthread_mutex_lock(&d->lock);
    *count = 0;
    if (d->status == NS_OK && !*d->job->interrupt) {
        error = ns_sweep_table_missing(d->job->table, &d->next, block_rows(d), count);
        *first = d->next;
        d->next += *count;
    }
    pthread_mutex_unlock(&d->lock);
    if (error)
        fail(d, NS_ERR_IO, strerror(error));
    return !error && *count;
}

static bool done(void *context, uint64_t first, uint32_t count, const void *records)
{
    driver *d = context;
    const int error = ns_sweep_table_put(d->job->table, first, count, records);
    if (error) {
        fail(d, error == ENOMEM ? NS_ERR_MEMORY : NS_ERR_IO, strerror(error));
        return false;
    }
    pthread_mutex_lock(&d->lock);
    d->computed += count;
    const bool go_on = d->status == NS_OK;
    pthread_mutex_unlock(&d->lock);
    return go_on;
}

static void *work(void *context)
{
    crew *c = context;
    char message[300] = "";
    const ns_status status = ns_sweep_work(c->job->sweep, c->job->model->system, &c->client,
                                           message, sizeof message);
    c->ended(c->client.context, status, message);
    return NULL;
}

/* Starts the threads; how many there are.  Those that the system does not give end at once. */
static uint32_t start(const ns_sweep_job *job, crew *crews, const crew *pattern)
{
    for (uint32_t i = 0; i < job->threads; i++) {
        crews[i] = *pattern;
        if (pthread_create(&crews[i].thread, NULL, work, &crews[i]) == 0)
            continue;
        const ns_status status = i ? NS_OK : NS_ERR_SYSTEM; /* fewer will do */
        for (uint32_t k = i; k < job->threads; k++)
            pattern->ended(pattern->client.context, status, "the system gives no threads");
        return i;
    }
    return job->threads;
}

static void thread_ended(void *context, ns_status status, const char *message)
{
    driver *d = context;
    if (status != NS_OK)
        fail(d, status, message);
    pthread_mutex_lock(&d->lock);
    d->running--;
    pthread_cond_signal(&d->ended);
    pthread_mutex_unlock(&d->lock);
}

/* The bar speaks of all rows; its time left is that of the rows computed now. */
static void draw(const driver *d, ns_bar *bar, char what[40])
{
    const double rows = (double)d->job->sweep->plan.rows,
                 seconds = ns_clock_seconds() - d->began;
    const double made = (double)d->computed, at = (double)d->job->complete + made;
    if (made <= 0 || at >= rows)
        return;
    const double fraction = at / rows;
    snprintf(what, 40, "%.3g/s, row", made / seconds);
    bar->what = what;
    ns_terminal_bar_draw(bar, fraction, at,
                         seconds * (rows - at) / made * fraction / (1 - fraction));
}

/* Waits until a thread ends, at most so long; the lock is held. */
static void rest(driver *d, double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(seconds * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&d->ended, &d->lock, &t);
}

/* Answers the other ranks; was there anything? */
static bool serve(driver *d)
{
    pthread_mutex_lock(&d->lock);
    const bool stop = d->status != NS_OK || *d->job->interrupt;
    pthread_mutex_unlock(&d->lock);
    const bool heard = ns_sweep_leader_serve(d->leader, stop);
    const char *trouble = ns_sweep_leader_trouble(d->leader);
    if (trouble)
        fail(d, NS_ERR_SYSTEM, trouble);
    return heard;
}

static void wait_for(driver *d)
{
    ns_bar bar = ns_terminal_bar(d->job->cli->err, !d->job->cli->quiet, "row",
                                 (double)d->job->sweep->plan.rows);
    char what[40];
    double synced = ns_clock_seconds(), drawn = synced;
    for (bool over = false; !over;) {
        const bool heard = d->leader && serve(d);
        pthread_mutex_lock(&d->lock);
        if (d->leader)
            d->workers = d->job->threads + ns_sweep_leader_threads(d->leader);
        over = !d->running && (!d->leader || ns_sweep_leader_finished(d->leader));
        if (!over && !heard)
            rest(d, d->leader ? serve_seconds : look_seconds);
        if (ns_clock_seconds() - d->began > 1 && ns_clock_seconds() - drawn >= look_seconds) {
            draw(d, &bar, what);
            drawn = ns_clock_seconds();
        }
        pthread_mutex_unlock(&d->lock);
        if (ns_clock_seconds() - synced < sync_seconds)
            continue;
        const int error = ns_sweep_table_sync(d->job->table);
        if (error)
            fail(d, NS_ERR_IO, strerror(error));
        synced = ns_clock_seconds();
    }
    ns_terminal_bar_clear(&bar);
}

ns_status ns_sweep_job_run(ns_sweep_job *job)
{
    driver d = {.job = job,
                .began = ns_clock_seconds(),
                .running = job->threads,
                .workers = job->threads};
    const ns_sweep_client client = {.context = &d, .next = next, .done = done};
    const crew pattern = {.job = job, .client = client, .ended = thread_ended};
    crew *crews = calloc(job->threads, sizeof *crews);
    if (job->rank.size > 1)
        d.leader = ns_sweep_leader_new(&job->rank, &client, job->sweep->record, job->identity);
    if (!crews || (job->rank.size > 1 && !d.leader) || pthread_mutex_init(&d.lock, NULL) ||
        pthread_cond_init(&d.ended, NULL)) {
        free(crews);
        ns_sweep_leader_free(d.leader);
        ns_command_wrong(job->cli, "out of memory");
        return NS_ERR_MEMORY;
    }
    const uint32_t started = start(job, crews, &pattern);
    wait_for(&d);
    job->met = true;
    for (uint32_t i = 0; i < started; i++)
        pthread_join(crews[i].thread, NULL);
    free(crews);
    pthread_mutex_destroy(&d.lock);
    pthread_cond_destroy(&d.ended);
    ns_sweep_leader_free(d.leader);
    job->computed = d.computed;
    job->seconds = ns_clock_seconds() - d.began;
    const int error = ns_sweep_table_sync(job->table);
    if (error && d.status == NS_OK) {
        d.status = NS_ERR_IO;
        snprintf(d.message, sizeof d.message, "%s", strerror(error));
    }
    if (d.status != NS_OK) {
        ns_command_wrong(job->cli, "%s; rows written so far are kept", d.message);
        return d.status;
    }
    return *job->interrupt ? NS_STOP_INTERRUPT : NS_OK;
}

/* ---- other ranks ------------------------------------------------------------------------- */

static void follower_ended(void *context, ns_status status, const char *message)
{
    ns_sweep_follower_leave(context, status != NS_OK ? message : NULL);
}

ns_status ns_sweep_job_follow(ns_sweep_job *job)
{
    ns_sweep_follower *follower = ns_sweep_follower_new(&job->rank, job->sweep->record,
                                                        job->identity, job->threads);
    crew *crews = calloc(job->threads, sizeof *crews);
    if (!follower || !crews) {
        ns_sweep_follower_free(follower);
        free(crews);
        ns_command_wrong(job->cli, "out of memory");
        return NS_ERR_MEMORY;
    }
    const crew pattern = {
        .job = job, .client = ns_sweep_follower_client(follower), .ended = follower_ended};
    const uint32_t started = start(job, crews, &pattern);
    ns_sweep_follower_serve(follower, job->interrupt);
    job->met = true;
    for (uint32_t i = 0; i < started; i++)
        pthread_join(crews[i].thread, NULL);
    free(crews);
    ns_sweep_follower_free(follower);
    return NS_OK;
}
