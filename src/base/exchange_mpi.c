/* The exchange over MPI: a module of its own (see exchange.h).
 *
 * Sends are non-blocking with a copy of the bytes, so that two ranks that send to each other
 * never wait for each other; finished ones are let go at the next call.  Only the thread that
 * opened the exchange calls MPI (MPI_THREAD_FUNNELED).  An error of MPI ends the job, which is
 * MPI's default: what a sweep has written stays, and the same command goes on from there. */
#include "base/exchange.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parcel {
    struct parcel *next;
    MPI_Request request;
    char bytes[];
} parcel;

typedef struct exchange {
    MPI_Comm all;
    parcel *under_way;
} exchange;

enum { TAG = 11 };

static void *mpi_open(uint32_t *rank, uint32_t *size, char message[NS_EXCHANGE_MESSAGE])
{
    int given = MPI_THREAD_SINGLE, me = 0, n = 1;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) {
        snprintf(message, NS_EXCHANGE_MESSAGE, "MPI does not start");
        return NULL;
    }
    exchange *e = calloc(1, sizeof *e);
    if (given < MPI_THREAD_FUNNELED || !e) {
        snprintf(message, NS_EXCHANGE_MESSAGE,
                 e ? "this MPI does not allow threads" : "out of memory");
        free(e);
        MPI_Finalize();
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &e->all);
    MPI_Comm_rank(e->all, &me);
    MPI_Comm_size(e->all, &n);
    *rank = (uint32_t)me;
    *size = (uint32_t)n;
    return e;
}

/* Frees the copies that have been delivered. */
static void let_go(exchange *e)
{
    for (parcel **at = &e->under_way; *at;) {
        parcel *p = *at;
        int done = 0;
        MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
        if (done) {
            *at = p->next;
            free(p);
        } else {
            at = &p->next;
        }
    }
}

static bool mpi_send(void *state, uint32_t to, const void *bytes, size_t length)
{
    exchange *e = state;
    let_go(e);
    parcel *p = length <= INT_MAX ? malloc(sizeof *p + length) : NULL;
    if (!p)
        return false;
    memcpy(p->bytes, bytes, length);
    MPI_Isend(p->bytes, (int)length, MPI_BYTE, (int)to, TAG, e->all, &p->request);
    p->next = e->under_way;
    e->under_way = p;
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it sees one function only */
    return true;
}

static bool mpi_waiting(void *state, uint32_t *from, size_t *length)
{
    exchange *e = state;
    int there = 0, n = 0;
    MPI_Status status;
    let_go(e);
    MPI_Iprobe(MPI_ANY_SOURCE, TAG, e->all, &there, &status);
    if (!there)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    *from = (uint32_t)status.MPI_SOURCE;
    *length = (size_t)n;
    return true;
}

static void mpi_receive(void *state, uint32_t from, void *bytes, size_t length)
{
    exchange *e = state;
    MPI_Recv(bytes, (int)length, MPI_BYTE, (int)from, TAG, e->all, MPI_STATUS_IGNORE);
}

static void mpi_close(void *state)
{
    exchange *e = state;
    while (e->under_way) {
        parcel *p = e->under_way;
        /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): sent in mpi_send */
        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        e->under_way = p->next;
        free(p);
    }
    MPI_Comm_free(&e->all);
    free(e);
    MPI_Finalize();
}

static void mpi_abandon(void *state, int status)
{
    exchange *e = state;
    MPI_Abort(e->all, status);
    abort(); /* not reached */
}

__attribute__((visibility("default"))) extern const ns_exchange ns_exchange_module;
const ns_exchange ns_exchange_module = {
    .interface = NS_EXCHANGE_INTERFACE,
    .name = "mpi",
    .open = mpi_open,
    .send = mpi_send,
    .waiting = mpi_waiting,
    .receive = mpi_receive,
    .close = mpi_close,
    .abandon = mpi_abandon,
};
