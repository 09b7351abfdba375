/* Threads of one process that take blocks of rows and write them to the table. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/sweep.h"

enum {
    MOST_BLOCK = 1024,
    FIRST_BLOCK = 8,
    SHARES = 4 /* of what is left a block takes at most so small a part for each thread */
};
static const double block_seconds = 0.5, sync_seconds = 2, look_seconds = 0.1;

typedef struct driver {
    ns_sweep_job *job;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    uint64_t next, computed;
    double began;
    uint32_t running;
    ns_status status;
    char message[400];
} driver;

typedef struct crew {
    driver *driver;
    ns_system *system; /* NULL: it loads its own */
    pthread_t thread;
} crew;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(driver *d, ns_status status, const char *message)
{
    pthread_mutex_lock(&d->lock);
    if (d->status == NS_OK) {
        d->status = status;
        snprintf(d->message, sizeof d->message, "%s", message);
    }
    pthread_mutex_unlock(&d->lock);
}

/* Rows of the next block: about half a second's work, and less near the end so that all end together. */
static uint32_t block_rows(const driver *d)
{
    const uint64_t rows = d->job->sweep->plan.rows, left = d->next < rows ? rows - d->next : 0;
    const double seconds = now() - d->began;
    double size = FIRST_BLOCK;
    if (d->computed)
        size = block_seconds * (double)d->computed / (seconds * d->job->threads);
    const double share = (double)left / (SHARES * (double)d->job->threads);
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
    driver *d = c->driver;
    const ns_sweep_job *job = d->job;
    const ns_model *model = job->model;
    ns_model *own = NULL;
    if (!c->system) {
        own = ns_model_load_text(model->name, model->text, model->length, model->overrides,
                                 model->n_overrides, NS_MODEL_DERIVED);
        c->system = own && own->status == NS_OK ? own->system : NULL;
    }
    if (!c->system) {
        fail(d, NS_ERR_MEMORY, "out of memory");
    } else {
        const ns_sweep_client client = {.context = d, .next = next, .done = done};
        char message[300] = "";
        const ns_status status = ns_sweep_work(job->sweep, c->system, &client, message,
                                               sizeof message);
        if (status != NS_OK)
            fail(d, status, message);
    }
    ns_model_free(own);
    pthread_mutex_lock(&d->lock);
    d->running--;
    pthread_cond_signal(&d->ended);
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* The bar speaks of all rows; its time left is that of the rows computed now. */
static void draw(const driver *d, ns_bar *bar, char what[40])
{
    const double rows = (double)d->job->sweep->plan.rows, seconds = now() - d->began;
    const double made = (double)d->computed, at = (double)d->job->complete + made;
    if (made <= 0 || at >= rows)
        return;
    const double fraction = at / rows;
    snprintf(what, 40, "%.3g/s, row", made / seconds);
    bar->what = what;
    ns_terminal_bar_draw(bar, fraction, at,
                         seconds * (rows - at) / made * fraction / (1 - fraction));
}

static void wait_for(driver *d)
{
    ns_bar bar = ns_terminal_bar(d->job->cli->err, !d->job->cli->quiet, "row",
                                 (double)d->job->sweep->plan.rows);
    char what[40];
    double synced = now();
    pthread_mutex_lock(&d->lock);
    while (d->running) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += (long)(look_seconds * 1e9);
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&d->ended, &d->lock, &t);
        if (now() - d->began > 1)
            draw(d, &bar, what);
        if (now() - synced < sync_seconds)
            continue;
        pthread_mutex_unlock(&d->lock);
        const int error = ns_sweep_table_sync(d->job->table);
        if (error)
            fail(d, NS_ERR_IO, strerror(error));
        synced = now();
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    ns_terminal_bar_clear(&bar);
}

ns_status ns_sweep_job_run(ns_sweep_job *job)
{
    driver d = {.job = job, .began = now()};
    crew *crews = calloc(job->threads, sizeof *crews);
    if (!crews || pthread_mutex_init(&d.lock, NULL) || pthread_cond_init(&d.ended, NULL)) {
        free(crews);
        ns_command_wrong(job->cli, "out of memory");
        return NS_ERR_MEMORY;
    }
    uint32_t started = 0;
    for (uint32_t i = 0; i < job->threads; i++) {
        crews[i] = (crew){.driver = &d, .system = i ? NULL : job->model->system};
        pthread_mutex_lock(&d.lock);
        d.running++;
        pthread_mutex_unlock(&d.lock);
        if (pthread_create(&crews[i].thread, NULL, work, &crews[i])) {
            pthread_mutex_lock(&d.lock);
            d.running--;
            pthread_mutex_unlock(&d.lock);
            if (!started)
                fail(&d, NS_ERR_SYSTEM, "the system gives no threads");
            break;
        }
        started++;
    }
    wait_for(&d);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(crews[i].thread, NULL);
    free(crews);
    pthread_mutex_destroy(&d.lock);
    pthread_cond_destroy(&d.ended);
    job->computed = d.computed;
    job->seconds = now() - d.began;
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
