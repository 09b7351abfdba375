/* A sweep on several processes: rank 0 leads, gives blocks of rows to the others as they ask
 * for them, and takes their records; its own threads take blocks from the same client.
 *
 *     leader                                    follower
 *                        <- HELLO identity, n   the same program, model and request? this many
 *                                               threads
 *                        <- WANT n              room for n more blocks
 *     BLOCK first, count ->
 *                        <- DONE first, count, records
 *     END                ->                     there are no more: finish what you have
 *     STOP               ->                     drop what you have
 *                        <- FAILED text         cannot compute at all
 *                        <- ALIVE               every second, whatever its threads do
 *                        <- BYE                 the follower's last word
 *
 * A follower has one block for each of its threads in reserve, waiting or asked for, so that no
 * thread waits for a message and the last blocks are spread.  Who computes a row does not
 * change its record.  A process that dies ends the job (MPI sees to that); its blocks have not
 * been written, and the same command computes them when it goes on.  One that hangs, or whose
 * machine does, says nothing: after `silence` it counts as lost.  That ends the job too, unless
 * nothing was left for it to do. */
#ifndef NS_STUDY_SWEEPS_SWEEP_RANKS_H
#define NS_STUDY_SWEEPS_SWEEP_RANKS_H

#include "base/exchange.h"
#include "study/sweeps/sweep.h"

enum { NS_SWEEP_RANKS_MESSAGE = 600 };

typedef struct ns_sweep_rank { /* this process' place among the others */
    const ns_exchange *exchange;
    void *state; /* of the exchange */
    uint32_t rank, size;
    double silence; /* s without a word after which a rank is lost */
} ns_sweep_rank;

/* Takes part in the job that a launcher has started; alone without one, or without `others`.
 * Ranks may be silent for 300 s, or $NOSLIP_SILENCE.  False, with words. */
bool ns_sweep_rank_join(ns_sweep_rank *rank, bool others, char message[NS_EXCHANGE_MESSAGE]);
/* For a process that has nothing to do for the sweep, because its request is wrong (`message`,
 * of a rank that is not 0) or because there is nothing left: tells the others and waits for
 * them.  Are all of them still there? */
bool ns_sweep_rank_dismiss(const ns_sweep_rank *rank, const char *message);
/* `lost`: nobody waits for the others; the job ends with the exit status. */
void ns_sweep_rank_leave(const ns_sweep_rank *rank, bool lost, int status);

/* ---- rank 0 ------------------------------------------------------------------------------ */

typedef struct ns_sweep_leader ns_sweep_leader;

/* `client` hands out the blocks and takes the records; it is called from the thread that calls
 * ns_sweep_leader_serve.  `identity` is what makes this sweep different from another.  NULL: no
 * memory. */
ns_sweep_leader *ns_sweep_leader_new(const ns_sweep_rank *job, const ns_sweep_client *client,
                                     size_t record, const char *identity);
/* Answers the messages that have come; does not wait.  True if there were any.  After `stop`
 * followers are told to drop what they have. */
bool ns_sweep_leader_serve(ns_sweep_leader *leader, bool stop);
/* Have all followers said good bye, but for those that are lost? */
bool ns_sweep_leader_finished(const ns_sweep_leader *leader);
/* Is any of them lost? */
bool ns_sweep_leader_lost(const ns_sweep_leader *leader);
/* Threads of the followers that have said how many they have. */
uint32_t ns_sweep_leader_threads(const ns_sweep_leader *leader);
/* What is wrong with a follower, or with the client; NULL if nothing is. */
const char *ns_sweep_leader_trouble(const ns_sweep_leader *leader);
void ns_sweep_leader_free(ns_sweep_leader *leader);

/* ---- the other ranks --------------------------------------------------------------------- */

typedef struct ns_sweep_follower ns_sweep_follower;

ns_sweep_follower *ns_sweep_follower_new(const ns_sweep_rank *job, size_t record,
                                         const char *identity, uint32_t threads);
/* For the threads that compute: blocks from the leader, records to it.  Any thread may use
 * it. */
ns_sweep_client ns_sweep_follower_client(ns_sweep_follower *follower);
/* A thread has come to its end; `message` says why it could not compute, NULL if there were no
 * more blocks.  Called once by each of the threads. */
void ns_sweep_follower_leave(ns_sweep_follower *follower, const char *message);
/* Passes messages on until the threads have ended; called by the thread that opened the
 * exchange.  *stop is set when the leader says so. */
void ns_sweep_follower_serve(ns_sweep_follower *follower, volatile int *stop);
void ns_sweep_follower_free(ns_sweep_follower *follower);

#endif
