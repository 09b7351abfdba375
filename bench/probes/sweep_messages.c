/* What the leader of a sweep on several processes can pass on: blocks per second and bytes per
 * second, with followers that answer at once, and its own processor time per block.
 *
 *     mpirun -np 3 bench_sweep_messages [ROWS_OF_A_BLOCK [BYTES_OF_A_RECORD]]
 *
 * bench/probes/sweep-scaling calls it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "study/sweeps/sweep_ranks.h"

typedef struct count {
    uint64_t next, most, back;
    uint32_t rows;
} count;

static bool give(void *context, uint64_t *first, uint32_t *rows)
{
    count *c = context;
    *first = c->next * c->rows;
    *rows = c->rows;
    return c->next < c->most && ++c->next;
}

static bool take(void *context, uint64_t first, uint32_t rows, const void *records)
{
    count *c = context;
    (void)first, (void)rows, (void)records;
    c->back++;
    return true;
}

typedef struct answering {
    ns_sweep_follower *follower;
    const void *records;
} answering;

static void *answer(void *context)
{
    const answering *a = context;
    const ns_sweep_client client = ns_sweep_follower_client(a->follower);
    uint64_t first = 0;
    uint32_t rows = 0;
    while (client.next(client.context, &first, &rows) &&
           client.done(client.context, first, rows, a->records)) {}
    ns_sweep_follower_leave(a->follower, NULL);
    return NULL;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const uint32_t rows = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 64;
    const size_t record = argc > 2 ? strtoul(argv[2], NULL, 10) : 136;
    char message[NS_EXCHANGE_MESSAGE];
    ns_sweep_rank rank;
    if (!ns_sweep_rank_join(&rank, true, message)) {
        fprintf(stderr, "sweep_messages: %s\n", message);
        return 3;
    }
    if (rank.rank > 0) {
        enum { THREADS = 4 };
        volatile int stop = 0;
        void *records = calloc(rows, record);
        const answering a = {ns_sweep_follower_new(&rank, record, "", THREADS), records};
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, answer, (void *)&a);
        ns_sweep_follower_serve(a.follower, &stop);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ns_sweep_follower_free(a.follower);
        free(records);
    } else {
        count c = {.rows = rows, .most = 20000};
        const ns_sweep_client client = {.context = &c, .next = give, .done = take};
        ns_sweep_leader *leader = ns_sweep_leader_new(&rank, &client, record, "");
        const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
        while (rank.size > 1 && !ns_sweep_leader_finished(leader))
            if (!ns_sweep_leader_serve(leader, false))
                nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        const double w = seconds(CLOCK_MONOTONIC) - wall,
                     p = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu, n = (double)c.back;
        printf(
            "messages: %g blocks of %u rows of %zu bytes: %.0f blocks/s, %.1f MB/s, %.2f us of "
            "the leader's processor each\n",
            n, rows, record, n / w, n * rows * (double)record / w / 1e6, p / n * 1e6);
        ns_sweep_leader_free(leader);
    }
    ns_sweep_rank_leave(&rank, false, 0);
    return 0;
}
