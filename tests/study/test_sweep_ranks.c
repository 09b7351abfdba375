/* Blocks and records between the processes of a sweep: leader and followers as threads of one
 * process, over an exchange made of queues.  Every row is computed once, its record arrives
 * whole, whatever the number of ranks and threads; stops, failures and strangers end the job in
 * order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "study/sweeps/sweep_ranks.h"

/* ---- an exchange of queues --------------------------------------------------------------- */

enum { MOST = 6 };

typedef struct letter {
    struct letter *next;
    uint32_t from;
    size_t length;
    char bytes[];
} letter;

typedef struct post {
    pthread_mutex_t lock;
    letter *box[MOST];
} post;

typedef struct desk {
    post *post;
    uint32_t rank;
    int words; /* that it can still send, as if it hung then; -1: all */
} desk;

static bool post_send(void *state, uint32_t to, const void *bytes, size_t length)
{
    desk *d = state;
    pthread_mutex_lock(&d->post->lock);
    const bool hangs = d->words == 0;
    d->words -= d->words > 0;
    pthread_mutex_unlock(&d->post->lock);
    if (hangs)
        return true;
    letter *l = malloc(sizeof *l + length);
    *l = (letter){.from = d->rank, .length = length};
    memcpy(l->bytes, bytes, length);
    pthread_mutex_lock(&d->post->lock);
    letter **at = &d->post->box[to];
    while (*at)
        at = &(*at)->next;
    *at = l;
    pthread_mutex_unlock(&d->post->lock);
    return true;
}

static bool post_waiting(void *state, uint32_t *from, size_t *length)
{
    desk *d = state;
    pthread_mutex_lock(&d->post->lock);
    const letter *l = d->post->box[d->rank];
    if (l) {
        *from = l->from;
        *length = l->length;
    }
    pthread_mutex_unlock(&d->post->lock);
    return l != NULL;
}

static void post_receive(void *state, uint32_t from, void *bytes, size_t length)
{
    desk *d = state;
    pthread_mutex_lock(&d->post->lock);
    letter *l = d->post->box[d->rank];
    assert_true(l && l->from == from && l->length == length);
    d->post->box[d->rank] = l->next;
    pthread_mutex_unlock(&d->post->lock);
    memcpy(bytes, l->bytes, length);
    free(l);
}

static const ns_exchange queues = {.interface = NS_EXCHANGE_INTERFACE,
                                   .name = "queues",
                                   .send = post_send,
                                   .waiting = post_waiting,
                                   .receive = post_receive};

/* ---- a sweep that only counts ------------------------------------------------------------ */

enum { ROWS = 5000, RECORD = 24 };

static void make_record(uint64_t row, char record[RECORD])
{
    for (int i = 0; i < RECORD; i++)
        record[i] = (char)(row * 2654435761u >> i);
}

typedef struct pool {
    pthread_mutex_t lock;
    uint64_t next, most;
    unsigned char count[ROWS];
} pool;

static bool pool_next(void *context, uint64_t *first, uint32_t *count)
{
    pool *p = context;
    pthread_mutex_lock(&p->lock);
    const uint64_t size = 1 + p->next * 7 % 13, left = p->most - p->next;
    *first = p->next;
    *count = (uint32_t)(size < left ? size : left);
    p->next += *count;
    pthread_mutex_unlock(&p->lock);
    return *count > 0;
}

static bool pool_done(void *context, uint64_t first, uint32_t count, const void *records)
{
    pool *p = context;
    pthread_mutex_lock(&p->lock);
    for (uint32_t i = 0; i < count; i++) {
        char expected[RECORD];
        make_record(first + i, expected);
        assert_memory_equal((const char *)records + (size_t)i * RECORD, expected, RECORD);
        p->count[first + i]++;
    }
    pthread_mutex_unlock(&p->lock);
    return true;
}

/* What ns_sweep_work does, without motions: it wants several blocks before it gives the first
 * back. */
static void compute(const ns_sweep_client *client, const volatile int *stop)
{
    enum { HELD = 5 };
    uint64_t first[HELD] = {0};
    uint32_t count[HELD] = {0}, held = 0;
    bool more = true;
    while (more || held) {
        while (more && held < HELD) {
            more = client->next(client->context, &first[held], &count[held]);
            held += more;
        }
        if (*stop || !held)
            return;
        char records[16 * RECORD];
        held--;
        if (first[held] % 17 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        for (uint32_t i = 0; i < count[held]; i++)
            make_record(first[held] + i, records + (size_t)i * RECORD);
        if (!client->done(client->context, first[held], count[held], records))
            return;
    }
}

typedef struct rank {
    desk desk;
    ns_sweep_rank job;
    uint32_t threads;
    const char *identity;
    bool fails;
    ns_sweep_follower *follower;
    volatile int stop;
    pthread_t thread;
} rank;

static void *worker_thread(void *context)
{
    rank *r = context;
    const ns_sweep_client client = ns_sweep_follower_client(r->follower);
    if (!r->fails)
        compute(&client, &r->stop);
    ns_sweep_follower_leave(r->follower, r->fails ? "no compiler" : NULL);
    return NULL;
}

static void *rank_thread(void *context)
{
    rank *r = context;
    pthread_t threads[4];
    r->follower = ns_sweep_follower_new(&r->job, RECORD, r->identity, r->threads);
    for (uint32_t i = 0; i < r->threads; i++)
        pthread_create(&threads[i], NULL, worker_thread, r);
    ns_sweep_follower_serve(r->follower, &r->stop);
    for (uint32_t i = 0; i < r->threads; i++)
        pthread_join(threads[i], NULL);
    ns_sweep_follower_free(r->follower);
    return NULL;
}

typedef struct leading {
    ns_sweep_client client;
    volatile int stop;
} leading;

static void *leader_thread(void *context)
{
    leading *l = context;
    compute(&l->client, &l->stop);
    return NULL;
}

/* The whole job; `stop_at` rows given out: stop.  The last rank can send so many `words`; -1:
 * all.  What is wrong, in `trouble`; is a rank lost? */
static bool job_with(pool *p, uint32_t size, uint32_t threads, uint64_t stop_at, int stranger,
                     int failing, int words, char trouble[NS_SWEEP_RANKS_MESSAGE])
{
    post office = {.lock = PTHREAD_MUTEX_INITIALIZER};
    rank ranks[MOST] = {0};
    *p = (pool){.lock = PTHREAD_MUTEX_INITIALIZER, .most = ROWS};
    for (uint32_t i = 0; i < size; i++) {
        rank *r = &ranks[i];
        r->desk = (desk){.post = &office, .rank = i, .words = i == size - 1 ? words : -1};
        r->job = (ns_sweep_rank){.exchange = &queues,
                                 .state = &r->desk,
                                 .rank = i,
                                 .size = size,
                                 /* s: others tell once a second that they are there */
                                 .silence = words < 0 ? 0 : 2.5};
        r->threads = threads;
        r->identity = (int)i == stranger ? "other" : "same";
        r->fails = (int)i == failing;
        if (i > 0)
            pthread_create(&r->thread, NULL, rank_thread, r);
    }
    leading own = {.client = {.context = p, .next = pool_next, .done = pool_done}};
    pthread_t thread;
    pthread_create(&thread, NULL, leader_thread, &own);
    ns_sweep_leader *leader = ns_sweep_leader_new(&ranks[0].job, &own.client, RECORD, "same");
    while (!ns_sweep_leader_finished(leader)) {
        pthread_mutex_lock(&p->lock);
        const bool stop = p->next >= stop_at;
        pthread_mutex_unlock(&p->lock);
        own.stop = own.stop || stop || ns_sweep_leader_trouble(leader);
        if (!ns_sweep_leader_serve(leader, stop))
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    pthread_join(thread, NULL);
    for (uint32_t i = 1; i < size; i++)
        pthread_join(ranks[i].thread, NULL);
    const char *text = ns_sweep_leader_trouble(leader);
    snprintf(trouble, NS_SWEEP_RANKS_MESSAGE, "%s", text ? text : "");
    const bool lost = ns_sweep_leader_lost(leader);
    ns_sweep_leader_free(leader);
    for (uint32_t i = 0; i < size; i++)
        for (letter *l = office.box[i], *next = NULL; l; l = next) {
            next = l->next;
            free(l);
        }
    return lost;
}

static void job(pool *p, uint32_t size, uint32_t threads, uint64_t stop_at, int stranger,
                int failing, char trouble[NS_SWEEP_RANKS_MESSAGE])
{
    assert_false(job_with(p, size, threads, stop_at, stranger, failing, -1, trouble));
}

static void test_every_row_once(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= MOST; size++)
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            pool p;
            char trouble[NS_SWEEP_RANKS_MESSAGE];
            job(&p, size, threads, UINT64_MAX, -1, -1, trouble);
            if (size == 1) /* nobody to wait for: the leader's own thread has done it */
                assert_true(p.next == ROWS);
            assert_string_equal(trouble, "");
            for (int i = 0; i < ROWS; i++)
                assert_int_equal(p.count[i], 1);
        }
}

static void test_stop(void **state)
{
    (void)state;
    pool p;
    char trouble[NS_SWEEP_RANKS_MESSAGE];
    job(&p, 4, 2, ROWS / 3, -1, -1, trouble);
    assert_string_equal(trouble, "");
    uint32_t done = 0;
    for (int i = 0; i < ROWS; i++) {
        assert_true(p.count[i] <= 1);
        done += p.count[i];
    }
    assert_true(done > 0 && done < ROWS);
}

static void test_stranger_and_failure(void **state)
{
    (void)state;
    pool p;
    char trouble[NS_SWEEP_RANKS_MESSAGE];
    job(&p, 3, 2, UINT64_MAX, 2, -1, trouble);
    assert_string_equal(trouble, "rank 2: is another program, or has another model or request");
    job(&p, 3, 2, UINT64_MAX, -1, 1, trouble);
    assert_string_equal(trouble, "rank 1: no compiler");
    for (int i = 0; i < ROWS; i++)
        assert_true(p.count[i] <= 1);
}

/* A rank that never comes is not waited for once nothing is left; one that falls silent with
 * rows of its own ends the job. */
static void test_silence(void **state)
{
    (void)state;
    pool p;
    int told = 0;
    char trouble[NS_SWEEP_RANKS_MESSAGE];
    assert_true(job_with(&p, 4, 2, UINT64_MAX, -1, -1, 0, trouble));
    assert_string_equal(trouble, "");
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(p.count[i], 1);
    for (int words = 2; words < 12; words += 3) { /* HELLO, WANT, and some more */
        assert_true(job_with(&p, 3, 2, UINT64_MAX, -1, -1, words, trouble));
        const bool named = strstr(trouble, "rank 2: no word from it for") != NULL;
        /* on a busy machine the others may have done all before it asked for anything */
        assert_true(named || !*trouble);
        for (int i = 0; i < ROWS; i++)
            assert_true(named ? p.count[i] <= 1 : p.count[i] == 1);
        told += named;
    }
    assert_true(told > 0);
}

/* Without a launcher there is one process, and no module is loaded. */
static void test_local(void **state)
{
    (void)state;
    char message[NS_EXCHANGE_MESSAGE];
    uint32_t own = 9, size = 9, from = 0;
    size_t length = 0;
    unsetenv("OMPI_COMM_WORLD_SIZE");
    unsetenv("PMI_SIZE");
    unsetenv("MPI_LOCALNRANKS");
    unsetenv("PMIX_RANK");
    unsetenv("SLURM_STEP_NUM_TASKS");
    assert_int_equal(ns_exchange_launched(), 1);
    const ns_exchange *e = ns_exchange_find(message);
    assert_ptr_equal(e, &ns_exchange_local);
    void *at = e->open(&own, &size, message);
    assert_non_null(at);
    assert_int_equal(own, 0);
    assert_int_equal(size, 1);
    assert_false(e->waiting(at, &from, &length));
    assert_false(e->send(at, 1, "x", 1));
    e->close(at);
    setenv("OMPI_COMM_WORLD_SIZE", "nonsense", 1);
    assert_int_equal(ns_exchange_launched(), 1);
    setenv("OMPI_COMM_WORLD_SIZE", "12", 1);
    assert_int_equal(ns_exchange_launched(), 12);
    /* this program has no module beside it */
    assert_null(ns_exchange_find(message));
    assert_non_null(strstr(message, "MPI"));
    unsetenv("OMPI_COMM_WORLD_SIZE");
    /* srun that tells its tasks nothing, and one that does */
    setenv("SLURM_STEP_NUM_TASKS", "4", 1);
    assert_int_equal(ns_exchange_launched(), 1);
    assert_int_equal(ns_exchange_strangers(), 4);
    setenv("PMIX_RANK", "2", 1);
    assert_int_equal(ns_exchange_launched(), 4);
    assert_int_equal(ns_exchange_strangers(), 1);
    unsetenv("PMIX_RANK");
    unsetenv("SLURM_STEP_NUM_TASKS");
    assert_int_equal(ns_exchange_strangers(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_once),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stranger_and_failure),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
