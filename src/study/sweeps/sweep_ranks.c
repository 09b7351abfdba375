#include "study/sweeps/sweep_ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"

typedef enum kind { HELLO = 1, WANT, BLOCK, DONE, END, STOP, FAILED, BYE, ALIVE } kind;

typedef struct head { /* of every message */
    uint32_t kind;
    uint32_t count;
    uint64_t first; /* row; for HELLO the identity, and count the threads */
} head;

static bool send_head(const ns_sweep_rank *job, uint32_t to, kind what, uint64_t first,
                      uint32_t count)
{
    const head message = {.kind = (uint32_t)what, .count = count, .first = first};
    return job->exchange->send(job->state, to, &message, sizeof message);
}

/* ---- rank 0 ------------------------------------------------------------------------------ */

typedef struct member {
    uint32_t wants; /* blocks it has asked for and not been given */
    bool known;     /* has said HELLO */
    bool ended;     /* has been told to end */
    bool stopped;   /* or to stop */
    bool gone;      /* has said BYE, or is lost */
    uint32_t held;  /* blocks it has been given and not sent back */
    double quiet;   /* s since its last word, while the leader served */
} member;

struct ns_sweep_leader {
    ns_sweep_rank job;
    ns_sweep_client client;
    size_t record;
    uint64_t identity;
    uint32_t here, threads; /* followers that have not gone; their threads */
    bool no_more;           /* the client has no blocks left */
    bool lost;              /* a follower is silent */
    double served;          /* when it was served last */
    member *members;
    char *buffer;
    size_t room;
    char trouble[NS_SWEEP_RANKS_MESSAGE];
};

ns_sweep_leader *ns_sweep_leader_new(const ns_sweep_rank *job, const ns_sweep_client *client,
                                     size_t record, const char *identity)
{
    ns_sweep_leader *l = calloc(1, sizeof *l);
    member *members = calloc(job->size, sizeof *members);
    if (!l || !members) {
        free(l);
        free(members);
        return NULL;
    }
    *l = (ns_sweep_leader){.job = *job,
                           .client = *client,
                           .record = record,
                           .identity = ns_hash_bytes(ns_hash_start, identity, strlen(identity)),
                           .here = job->size - 1,
                           .served = ns_clock_seconds(),
                           .members = members};
    return l;
}

static void note(ns_sweep_leader *l, uint32_t rank, const char *text)
{
    if (!*l->trouble)
        snprintf(l->trouble, sizeof l->trouble, "rank %u: %s", rank, text);
}

/* Takes one message; false if there is no memory for it. */
static bool take(const ns_sweep_rank *job, uint32_t from, size_t length, char **buffer,
                 size_t *room)
{
    if (length > *room) {
        char *larger = realloc(*buffer, length);
        if (!larger)
            return false;
        *buffer = larger;
        *room = length;
    }
    job->exchange->receive(job->state, from, *buffer, length);
    return true;
}

static void hear(ns_sweep_leader *l, uint32_t from, size_t length)
{
    head h = {0};
    member *m = &l->members[from];
    memcpy(&h, l->buffer, sizeof h);
    const size_t body = length - sizeof h;
    switch (h.kind) {
    case HELLO:
        m->known = h.first == l->identity;
        l->threads += h.count;
        if (!m->known)
            note(l, from, "is another program, or has another model or request");
        break;
    case WANT:
        m->wants += h.count;
        break;
    case DONE:
        m->held -= m->held > 0;
        if (!m->known || body != h.count * l->record)
            note(l, from, "records of another size");
        else if (!l->client.done(l->client.context, h.first, h.count, l->buffer + sizeof h))
            l->no_more = true;
        break;
    case FAILED:
        l->buffer[length - 1] = '\0';
        note(l, from, body ? l->buffer + sizeof h : "failed");
        break;
    case ALIVE:
        break;
    case BYE:
        if (!m->gone)
            l->here--;
        m->gone = true;
        break;
    default:
        note(l, from, "a message that makes no sense");
    }
}

/* As many blocks as a member has room for. */
static void give(ns_sweep_leader *l, uint32_t to)
{
    member *m = &l->members[to];
    while (m->known && m->wants > 0 && !l->no_more) {
        head block = {.kind = BLOCK};
        if (!l->client.next(l->client.context, &block.first, &block.count)) {
            l->no_more = true;
        } else {
            if (!l->job.exchange->send(l->job.state, to, &block, sizeof block))
                note(l, to, "out of memory");
            m->wants--;
            m->held++;
        }
    }
}

/* Who has been silent for too long?  Time in which the leader itself was held up, with all the
 * others perhaps, does not count. */
static void miss(ns_sweep_leader *l)
{
    static const double most = 1; /* s between two looks */
    const double now = ns_clock_seconds(), since = now - l->served;
    l->served = now;
    for (uint32_t r = 1; r < l->job.size; r++) {
        member *m = &l->members[r];
        m->quiet += since < most ? since : most;
        if (m->gone || !(l->job.silence > 0) || m->quiet < l->job.silence)
            continue;
        m->gone = l->lost = true;
        m->stopped = send_head(&l->job, r, STOP, 0, 0); /* should it come to itself */
        l->here--;
        char words[200];
        snprintf(words, sizeof words, "no word from it for %.0f s: it or its machine hangs",
                 m->quiet);
        if (m->held || !l->no_more)
            note(l, r, words);
    }
}

bool ns_sweep_leader_serve(ns_sweep_leader *l, bool stop)
{
    bool heard = false;
    uint32_t from = 0;
    size_t length = 0;
    enum { MOST = 4096 }; /* messages: the caller has other things to see to */
    for (int i = 0; i < MOST && l->job.exchange->waiting(l->job.state, &from, &length); i++) {
        heard = true;
        l->members[from].quiet = 0;
        if (length < sizeof(head) || !take(&l->job, from, length, &l->buffer, &l->room)) {
            note(l, from, length < sizeof(head) ? "half a message" : "out of memory");
            break;
        }
        hear(l, from, length);
        if (!stop && !*l->trouble)
            give(l, from);
    }
    miss(l);
    const bool halt = stop || *l->trouble;
    if (!halt && !l->no_more)
        return heard;
    for (uint32_t r = 1; r < l->job.size; r++) {
        member *m = &l->members[r];
        if (m->gone)
            continue;
        if (halt && !m->stopped)
            m->ended = m->stopped = send_head(&l->job, r, STOP, 0, 0);
        else if (l->no_more && !m->ended)
            m->ended = send_head(&l->job, r, END, 0, 0);
    }
    return heard;
}

bool ns_sweep_leader_finished(const ns_sweep_leader *l)
{
    return l->here == 0;
}

bool ns_sweep_leader_lost(const ns_sweep_leader *l)
{
    return l->lost;
}

uint32_t ns_sweep_leader_threads(const ns_sweep_leader *l)
{
    return l->threads;
}

const char *ns_sweep_leader_trouble(const ns_sweep_leader *l)
{
    return *l->trouble ? l->trouble : NULL;
}

void ns_sweep_leader_free(ns_sweep_leader *l)
{
    if (!l)
        return;
    free(l->members);
    free(l->buffer);
    free(l);
}

/* ---- the other ranks --------------------------------------------------------------------- */

typedef struct parcel { /* a block on its way: to the threads, or its records back */
    struct parcel *next;
    head head; /* followed by the records: sent as they lie */
    char records[];
} parcel;

typedef struct queue {
    parcel *first, **last;
} queue;

struct ns_sweep_follower {
    ns_sweep_rank job;
    size_t record;
    uint64_t identity;
    uint32_t threads;
    pthread_mutex_t lock;
    pthread_cond_t blocks, news; /* for the threads; for the one that serves */
    queue waiting, done;
    uint32_t taken; /* blocks that threads have taken since the last WANT */
    uint32_t left;  /* threads that have ended */
    bool ended;
    char failed[NS_SWEEP_RANKS_MESSAGE];
};

static void push(queue *q, parcel *p)
{
    p->next = NULL;
    *q->last = p;
    q->last = &p->next;
}

static parcel *pull(queue *q)
{
    parcel *p = q->first;
    if (p) {
        q->first = p->next;
        if (!q->first)
            q->last = &q->first;
    }
    return p;
}

ns_sweep_follower *ns_sweep_follower_new(const ns_sweep_rank *job, size_t record,
                                         const char *identity, uint32_t threads)
{
    ns_sweep_follower *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (ns_sweep_follower){
        .job = *job,
        .record = record,
        .identity = ns_hash_bytes(ns_hash_start, identity, strlen(identity)),
        .threads = threads};
    f->waiting.last = &f->waiting.first;
    f->done.last = &f->done.first;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->blocks, NULL);
    pthread_cond_init(&f->news, &clock);
    pthread_condattr_destroy(&clock);
    return f;
}

static bool follower_next(void *context, uint64_t *first, uint32_t *count)
{
    ns_sweep_follower *f = context;
    pthread_mutex_lock(&f->lock);
    parcel *p = NULL;
    while (!(p = pull(&f->waiting)) && !f->ended)
        pthread_cond_wait(&f->blocks, &f->lock);
    f->taken += p != NULL;
    if (p)
        pthread_cond_signal(&f->news);
    pthread_mutex_unlock(&f->lock);
    if (!p)
        return false;
    *first = p->head.first;
    *count = p->head.count;
    free(p);
    return true;
}

static bool follower_done(void *context, uint64_t first, uint32_t count, const void *records)
{
    ns_sweep_follower *f = context;
    const size_t bytes = count * f->record;
    parcel *p = malloc(sizeof *p + bytes);
    pthread_mutex_lock(&f->lock);
    if (p) {
        p->head = (head){.kind = DONE, .first = first, .count = count};
        memcpy(p->records, records, bytes);
        push(&f->done, p);
    } else {
        snprintf(f->failed, sizeof f->failed, "out of memory");
        f->ended = true;
    }
    pthread_cond_signal(&f->news);
    pthread_mutex_unlock(&f->lock);
    return p != NULL;
}

ns_sweep_client ns_sweep_follower_client(ns_sweep_follower *follower)
{
    return (ns_sweep_client){.context = follower, .next = follower_next, .done = follower_done};
}

void ns_sweep_follower_leave(ns_sweep_follower *f, const char *message)
{
    pthread_mutex_lock(&f->lock);
    f->left++;
    if (message && !*f->failed)
        snprintf(f->failed, sizeof f->failed, "%s", message);
    pthread_cond_signal(&f->news);
    pthread_mutex_unlock(&f->lock);
}

/* Sends records away. */
static void deliver(ns_sweep_follower *f)
{
    for (;;) {
        pthread_mutex_lock(&f->lock);
        parcel *p = pull(&f->done);
        pthread_mutex_unlock(&f->lock);
        if (!p)
            return;
        /* not sent for want of memory: the row is computed again when the sweep goes on */
        f->job.exchange->send(f->job.state, 0, &p->head,
                              sizeof p->head + p->head.count * f->record);
        free(p);
    }
}

/* Asks for as many blocks as threads have taken, whether they are done with them or not: a
 * thread may want several before it gives the first back. */
static void ask(ns_sweep_follower *f)
{
    pthread_mutex_lock(&f->lock);
    const uint32_t n = f->ended ? 0 : f->taken;
    f->taken = 0;
    pthread_mutex_unlock(&f->lock);
    if (n)
        send_head(&f->job, 0, WANT, 0, n);
}

static void obey(ns_sweep_follower *f, const head *h, volatile int *stop)
{
    pthread_mutex_lock(&f->lock);
    if (h->kind == BLOCK) {
        parcel *p = malloc(sizeof *p);
        if (p) {
            p->head = *h;
            push(&f->waiting, p);
        } else {
            snprintf(f->failed, sizeof f->failed, "out of memory");
            f->ended = true;
        }
    } else {
        f->ended = true;
        if (h->kind == STOP) {
            *stop = 1;
            for (parcel *p = NULL; (p = pull(&f->waiting));)
                free(p);
        }
    }
    pthread_cond_broadcast(&f->blocks);
    pthread_mutex_unlock(&f->lock);
}

/* Until a thread has news, at most this long. */
static void wait_for_news(ns_sweep_follower *f, long nanoseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += nanoseconds;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&f->lock);
    if (!f->done.first && !f->taken && f->left < f->threads)
        pthread_cond_timedwait(&f->news, &f->lock, &until);
    pthread_mutex_unlock(&f->lock);
}

static void complain(ns_sweep_follower *f, bool *done)
{
    char text[sizeof(head) + sizeof f->failed];
    const head h = {.kind = FAILED};
    memcpy(text, &h, sizeof h);
    pthread_mutex_lock(&f->lock);
    memcpy(text + sizeof h, f->failed, sizeof f->failed);
    pthread_mutex_unlock(&f->lock);
    if (!*done && text[sizeof h])
        *done = f->job.exchange->send(f->job.state, 0, text, sizeof text);
}

void ns_sweep_follower_serve(ns_sweep_follower *f, volatile int *stop)
{
    /* Asking MPI costs a processor's time: seldom while the threads have work, often when they
     * wait. */
    enum { SHORT = 100000, LONG = 2000000 }; /* ns */
    bool over = false, told = false, complained = false;
    double alive = ns_clock_seconds();
    char *buffer = NULL;
    size_t room = 0;
    complain(f, &complained); /* before it is taken for a stranger */
    send_head(&f->job, 0, HELLO, f->identity, f->threads);
    send_head(&f->job, 0, WANT, 0, f->threads);
    while (!over) {
        uint32_t from = 0;
        size_t length = 0;
        pthread_mutex_lock(&f->lock);
        over = f->left == f->threads;
        const bool idle = !f->waiting.first && !f->ended;
        pthread_mutex_unlock(&f->lock);
        deliver(f);
        ask(f);
        complain(f, &complained);
        if (ns_clock_seconds() - alive >= 1) {
            send_head(&f->job, 0, ALIVE, 0, 0);
            alive = ns_clock_seconds();
        }
        while (f->job.exchange->waiting(f->job.state, &from, &length)) {
            head h = {0};
            if (length < sizeof h || !take(&f->job, from, length, &buffer, &room))
                break;
            memcpy(&h, buffer, sizeof h);
            told = told || h.kind == END || h.kind == STOP;
            obey(f, &h, stop);
        }
        if (!over)
            wait_for_news(f, idle ? SHORT : LONG);
    }
    complain(f, &complained);
    /* The leader's last word must have been taken before the exchange is closed. */
    for (uint32_t from = 0; !told;) {
        size_t length = 0;
        head h = {0};
        if (!f->job.exchange->waiting(f->job.state, &from, &length)) {
            nanosleep(&(struct timespec){.tv_nsec = SHORT}, NULL);
            continue;
        }
        if (length < sizeof h || !take(&f->job, from, length, &buffer, &room))
            break;
        memcpy(&h, buffer, sizeof h);
        told = h.kind == END || h.kind == STOP;
    }
    send_head(&f->job, 0, BYE, 0, 0);
    free(buffer);
}

void ns_sweep_follower_free(ns_sweep_follower *f)
{
    if (!f)
        return;
    for (parcel *p = NULL; (p = pull(&f->waiting)) || (p = pull(&f->done));)
        free(p);
    pthread_cond_destroy(&f->news);
    pthread_cond_destroy(&f->blocks);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* ---- coming and going -------------------------------------------------------------------- */

/* A launcher of another make than that of the module: every process would be a rank 0. */
static void *open_with(ns_sweep_rank *rank, char message[NS_EXCHANGE_MESSAGE])
{
    const uint32_t launched = ns_exchange_launched();
    void *state = rank->exchange->open(&rank->rank, &rank->size, message);
    if (!state || launched == 1 || rank->size > 1)
        return state;
    rank->exchange->close(state);
    snprintf(
        message, NS_EXCHANGE_MESSAGE,
        "they do not find each other: the launcher is not that of the MPI which noslip-mpi.so "
        "was built with (Open MPI: mpirun, or srun --mpi=pmix); or give each process its part "
        "with --shard");
    return NULL;
}

bool ns_sweep_rank_join(ns_sweep_rank *rank, bool others, char message[NS_EXCHANGE_MESSAGE])
{
    *rank = (ns_sweep_rank){.exchange = others ? ns_exchange_find(message) : &ns_exchange_local,
                            .size = 1};
    const char *silence = getenv("NOSLIP_SILENCE");
    enum { USUAL = 300, LEAST = 5 }; /* s; ranks give a sign of life once a second */
    char *end = NULL;
    const double wanted = silence ? strtod(silence, &end) : USUAL;
    rank->silence = end == silence || !(wanted > 0) ? USUAL : wanted < LEAST ? LEAST : wanted;
    if (!others)
        rank->state = rank->exchange->open(&rank->rank, &rank->size, message);
    else if (rank->exchange)
        rank->state = open_with(rank, message);
    return rank->state != NULL;
}

static bool no_block(void *context, uint64_t *first, uint32_t *count)
{
    (void)context, (void)first, (void)count;
    return false;
}

static bool no_records(void *context, uint64_t first, uint32_t count, const void *records)
{
    (void)context, (void)first, (void)count, (void)records;
    return true;
}

bool ns_sweep_rank_dismiss(const ns_sweep_rank *rank, const char *message)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    if (rank->size == 1)
        return true;
    if (rank->rank == 0) {
        const ns_sweep_client nobody = {.next = no_block, .done = no_records};
        ns_sweep_leader *leader = ns_sweep_leader_new(rank, &nobody, 0, "");
        if (!leader)
            rank->exchange->abandon(rank->state, 3);
        while (!ns_sweep_leader_finished(leader))
            if (!ns_sweep_leader_serve(leader, true))
                nanosleep(&pause, NULL);
        const bool lost = ns_sweep_leader_lost(leader);
        ns_sweep_leader_free(leader);
        return !lost;
    }
    volatile int stop = 0;
    ns_sweep_follower *follower = ns_sweep_follower_new(rank, 0, "", 1);
    if (!follower)
        rank->exchange->abandon(rank->state, 3);
    ns_sweep_follower_leave(follower, message);
    ns_sweep_follower_serve(follower, &stop);
    ns_sweep_follower_free(follower);
    return true;
}

void ns_sweep_rank_leave(const ns_sweep_rank *rank, bool lost, int status)
{
    if (!rank->state)
        return;
    if (lost) {
        fflush(NULL);
        rank->exchange->abandon(rank->state, status);
    }
    rank->exchange->close(rank->state);
}
