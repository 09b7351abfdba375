/* Messages between the processes ("ranks") of one job, on one machine or many.
 *
 * An exchange is a const descriptor.  `local` is a job of one process and sends nothing.  `mpi`
 * is in a module of its own beside the program, loaded only when a launcher (mpirun, srun) has
 * started several processes: otherwise a start would pay for MPI, and every machine would need
 * it.
 *
 * A message is a run of bytes with its sender.  Messages from one rank to another arrive in the
 * order in which they were sent.  One thread of each process may use the exchange, the one that
 * opened it. */
#ifndef NS_BASE_EXCHANGE_H
#define NS_BASE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NS_EXCHANGE_INTERFACE = 1, NS_EXCHANGE_MESSAGE = 512 };

typedef struct ns_exchange {
    uint32_t interface; /* NS_EXCHANGE_INTERFACE of those who wrote it */
    const char *name;
    /* Joins the job; NULL with a message in words. */
    void *(*open)(uint32_t *rank, uint32_t *size, char message[NS_EXCHANGE_MESSAGE]);
    /* Takes a copy of the bytes and sees to their delivery; does not wait for the other side.
     * False: no memory. */
    bool (*send)(void *exchange, uint32_t to, const void *bytes, size_t length);
    /* Is there a message?  From whom and how long; does not wait. */
    bool (*waiting)(void *exchange, uint32_t *from, size_t *length);
    /* Takes the message that `waiting` told of. */
    void (*receive)(void *exchange, uint32_t from, void *bytes, size_t length);
    /* Delivers what is under way and leaves; every rank must come to this. */
    void (*close)(void *exchange);
    /* Ends all processes of the job at once, this one too. */
    void (*abandon)(void *exchange, int status);
} ns_exchange;

extern const ns_exchange ns_exchange_local;

/* The symbol of the module: const ns_exchange ns_exchange_module. */
#define NS_EXCHANGE_SYMBOL "ns_exchange_module"

/* Number of processes the launcher says it has started; 1 without one. */
uint32_t ns_exchange_launched(void);
/* Number of tasks that Slurm has started without telling them of each other; otherwise 1. */
uint32_t ns_exchange_strangers(void);

/* The exchange for this process: local, or that of the module where a launcher has started
 * several.
 * NULL, with a message that says what is missing, where it cannot be loaded. */
const ns_exchange *ns_exchange_find(char message[NS_EXCHANGE_MESSAGE]);

#endif
