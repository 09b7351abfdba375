/* `noslip sweep`: what its parts share. */
#ifndef NS_COMMAND_SWEEP_SWEEP_H
#define NS_COMMAND_SWEEP_SWEEP_H

#include "command/open.h"
#include "out/tables/sweep_table.h"

typedef struct ns_sweep_job {
    ns_host *host;
    ns_model *model;
    const ns_sweep *sweep;
    ns_sweep_table *table;
    uint32_t threads;
    ns_record_engine engine;
    ns_sweep_rank rank;   /* of this process; only rank 0 has a table */
    const char *identity; /* what makes this sweep different from another */
    uint64_t complete;    /* rows that were there before */
    ns_sweep_outcome outcome;
    const struct ns_plot *plot; /* the map of --figure and --report; NULL */
} ns_sweep_job;

/* The sweep that the options ask for; NULL after saying what is wrong. */
ns_sweep *ns_sweep_request(ns_host *host, const ns_arguments *a, ns_model *model);

/* --out */
typedef struct ns_sweep_outputs {
    const char *table; /* NULL: a nameless one */
    bool keep;         /* the table is asked for; otherwise it is removed at the end */
    NS_LIST(const char *) csv;
} ns_sweep_outputs;
bool ns_sweep_read_outputs(ns_host *host, const ns_arguments *a, ns_sweep_outputs *o);

/* What the table belongs to; and what makes one sweep different from another, for processes
 * that join in. */
enum { NS_SWEEP_FACTS = 10 };
void ns_sweep_make_facts(ns_host *host, const ns_arguments *a, const ns_model *model,
                         const ns_sweep *sweep, ns_sweep_fact out[NS_SWEEP_FACTS]);
const char *ns_sweep_identity(ns_host *host, const ns_sweep_fact facts[NS_SWEEP_FACTS]);

/* How many rows are complete, by looking at all; false after saying what is wrong. */
bool ns_sweep_job_count(ns_sweep_job *job);

/* What the rows came to: how many, why some ended early, extremes. */
bool ns_sweep_summary(ns_sweep_job *job, FILE *to, const ns_style *style);
/* For a host that takes results: facts, and the complete rows as a table if there are not more
 * than fit into memory with ease; false after saying what is wrong. */
bool ns_sweep_found(ns_sweep_job *job, ns_status status);
/* The complete rows as CSV. */
bool ns_sweep_csv(ns_sweep_job *job, FILE *to);
int ns_sweep_csv_file(ns_sweep_job *job, const char *path);

/* --shard K/N: makes the plan the K-th of N parts of itself, of equal size; false after saying
 * what is wrong. */
bool ns_sweep_take_shard(ns_host *host, const ns_arguments *a, ns_plan *plan);
/* --join FILE...: copies the rows of tables of shards into the table; the exit status.  The
 * last of the facts is the shard. */
int ns_sweep_join(ns_sweep_job *job, const ns_arguments *a, const ns_sweep_fact *facts,
                  uint32_t n_facts);

/* --figure and --report: are they asked for; can they be made (false after saying why not);
 * make them, the exit status. */
bool ns_sweep_wants_figure(const ns_arguments *a);
bool ns_sweep_figure_possible(ns_host *host, const ns_arguments *a, const ns_sweep *sweep);
int ns_sweep_draw(ns_sweep_job *job, const ns_arguments *a);

#endif
