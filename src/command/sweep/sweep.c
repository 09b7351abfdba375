/* noslip sweep: many motions of one model, over values of its parameters and starts. */
#include "command/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/study.h"
#include "session/inputs/inputs.h"
#include "session/pool.h"

static int finish(ns_sweep_job *job, const ns_arguments *a, const ns_sweep_outputs *o,
                  ns_status status)
{
    ns_host *host = job->host;
    const bool shown = o->table || o->csv.n || ns_sweep_wants_figure(a);
    const bool all = job->complete + job->outcome.computed == job->sweep->plan.rows;
    int result = ns_status_exit(status);
    for (uint32_t i = 0; i < o->csv.n && all && !result; i++)
        result = ns_sweep_csv_file(job, o->csv.at[i]);
    if (!shown && !ns_sweep_csv(job, host->out))
        result = ns_status_exit(NS_ERR_IO);
    if (!host->quiet && !ns_sweep_summary(job, shown ? host->out : host->err,
                                          shown ? &host->style_out : &host->style_err))
        result = ns_status_exit(NS_ERR_IO);
    if (status == NS_OK || status == NS_STOP_INTERRUPT) {
        const int drawn = ns_sweep_draw(job, a);
        result = drawn ? drawn : result;
        if (!ns_sweep_found(job, status))
            result = ns_status_exit(NS_ERR_IO);
    }
    if (!all && o->table)
        fprintf(host->err,
                "noslip: %s: the rows so far are in %s; the same command continues\n",
                status == NS_STOP_INTERRUPT ? "stopped" : "note", o->table);
    else if (all && o->table && !o->keep && !result)
        unlink(o->table);
    return result;
}

typedef struct watcher {
    const ns_sweep_job *job;
    char what[40];
} watcher;

/* Progress speaks of all rows; its time left is that of the rows computed now. */
static void tell(void *context, const ns_sweep_progress *p)
{
    watcher *w = context;
    const double rows = (double)w->job->sweep->plan.rows, made = (double)p->computed;
    const double at = (double)w->job->complete + made, fraction = at / rows;
    if (made <= 0 || at >= rows)
        return;
    snprintf(w->what, sizeof w->what, "%.3g/s, row", made / p->seconds);
    const ns_host_progress now = {.what = w->what,
                                  .fraction = fraction,
                                  .at = at,
                                  .end = rows,
                                  .seconds = p->seconds * (rows - at) / made * fraction /
                                             (1 - fraction)};
    ns_command_progress(w->job->host, &now);
}

static ns_status run(ns_sweep_job *job)
{
    ns_host *host = job->host;
    watcher w = {.job = job};
    const ns_sweep_sink sink = ns_sweep_table_sink(job->table);
    const ns_sweep_run_options options = {.threads = job->threads,
                                          .engine = job->engine,
                                          .rank = &job->rank,
                                          .identity = job->identity,
                                          .interrupt = host->stop,
                                          .progress = tell,
                                          .context = &w};
    const ns_status status = ns_sweep_run(job->sweep, &sink, &options, &job->outcome);
    ns_command_phase(host, NS_PHASE_WRITE);
    if (*job->outcome.interpreted && !host->quiet)
        fprintf(host->err, "noslip: note: interpreted, for there is no native code: %s\n",
                job->outcome.interpreted);
    if (status != NS_OK && status != NS_STOP_INTERRUPT)
        ns_command_wrong(host, "%s; rows written so far are kept", job->outcome.message);
    return status;
}

static int compute(ns_host *host, const ns_arguments *a, ns_sweep_job *job)
{
    ns_sweep_outputs o;
    bool fresh = true;
    ns_status status = NS_ERR_USAGE;
    ns_sweep_fact facts[NS_SWEEP_FACTS];
    if (!ns_sweep_read_outputs(host, a, &o) || !ns_sweep_figure_possible(host, a, job->sweep))
        return ns_status_exit(status);
    ns_sweep_make_facts(host, a, job->model, job->sweep, facts);
    job->identity = ns_sweep_identity(host, facts);
    if (ns_command_flag(a, "join") && !o.keep)
        return ns_command_wrong(host, "--join needs --out FILE.h5, the table of the whole");
    if (ns_command_flag(a, "join") && job->rank.rank > 0)
        return 0; /* one is enough */
    ns_command_phase(host, job->rank.rank == 0 ? NS_PHASE_RUN : NS_PHASE_FOLLOW);
    if (job->rank.rank > 0)
        return ns_status_exit(run(job));
    char message[400];
    job->table = ns_sweep_table_open(job->sweep, facts, NS_SWEEP_FACTS, o.table, &fresh,
                                     &status, message);
    if (!job->table)
        return ns_command_failed(host, status, "%s", message);
    if (ns_command_flag(a, "join")) {
        const int joined = ns_sweep_join(job, a, facts, NS_SWEEP_FACTS);
        return joined ? joined : finish(job, a, &o, NS_OK);
    }
    if (!fresh && !ns_sweep_job_count(job))
        return ns_status_exit(NS_ERR_IO);
    if (job->complete < job->sweep->plan.rows)
        status = run(job);
    return finish(job, a, &o, status);
}

static int sweep_on(ns_host *host, const ns_arguments *a, ns_sweep_job *job)
{
    int status;
    if (!ns_study_engine(host, a, &job->engine))
        return ns_status_exit(NS_ERR_USAGE);
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_DERIVED, &status);
    if (!model)
        return status;
    job->model = model;
    job->threads = ns_pool_cores();
    status = ns_status_exit(NS_ERR_USAGE);
    if (ns_inputs_change(model->description))
        ns_command_wrong(host, "inputs follow a table or a controller; a sweep needs constant "
                               "ones: --set NAME=VALUE");
    else if (ns_study_count(host, a, "threads", 1, &job->threads)) {
        job->sweep = ns_sweep_request(host, a, model);
        if (job->sweep)
            status = compute(host, a, job);
    }
    ns_sweep_table_close(job->table);
    ns_model_free(model);
    return status;
}

/* A rank that is not 0 says to rank 0 what is wrong, which may be wrong there alone. */
static int sweep_elsewhere(ns_host *host, const ns_arguments *a, ns_sweep_job *job)
{
    FILE *said = host->err;
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    host->quiet = true;
    if (memory)
        host->err = memory;
    sweep_on(host, a, job);
    host->err = said;
    if (memory)
        fclose(memory);
    if (!job->outcome.met)
        (void)ns_sweep_rank_dismiss(&job->rank, text && length ? text : "failed");
    free(text);
    return 0; /* the exit status is that of rank 0 */
}

static int sweep(ns_host *host, const ns_arguments *a)
{
    char message[NS_EXCHANGE_MESSAGE];
    ns_sweep_job job = {.host = host};
    int status;
    host->quiet = ns_command_flag(a, "quiet");
    const uint32_t tasks = host->owns_process ? ns_exchange_strangers() : 1;
    if (tasks > 1 && ns_command_flag(a, "out") && !ns_command_flag(a, "shard") &&
        !ns_command_flag(a, "join"))
        return ns_command_failed(host, NS_ERR_SYSTEM,
                                 "srun has started %u processes, which do not know each other: "
                                 "srun --mpi=pmix, or give each its part with --shard",
                                 tasks);
    if (!ns_sweep_rank_join(&job.rank, host->owns_process, message))
        return ns_command_failed(host, NS_ERR_SYSTEM,
                                 "several processes were started (%u), but %s",
                                 ns_exchange_launched(), message);
    if (job.rank.rank > 0) {
        status = sweep_elsewhere(host, a, &job);
    } else {
        status = sweep_on(host, a, &job);
        if (!job.outcome.met)
            job.outcome.lost = !ns_sweep_rank_dismiss(&job.rank, NULL);
    }
    ns_sweep_rank_leave(&job.rank, job.outcome.lost, status);
    return status;
}

static const ns_option options[] = {
    {.name = "over",
     .argument = "NAME=LOW:HIGH:N[:log]",
     .help = "N values of a parameter or start; several make a grid",
     .repeat = true},
    {.name = "random",
     .argument = "NAME=DIST",
     .help = "uniform(LOW, HIGH), loguniform(LOW, HIGH) or normal(MEAN, DEVIATION)",
     .repeat = true},
    {.name = "count", .argument = "N", .help = "how many samples of --random"},
    {.name = "seed", .argument = "N", .help = "which samples (1)"},
    {.name = "sobol", .help = "samples of --random spread evenly, by a Sobol sequence"},
    {.name = "from",
     .argument = "FILE",
     .help = "values from a file: .csv, or .h5; a column for each name, a line for each row"},
    {.name = "get",
     .argument = "QUANTITY,...",
     .help = "what to keep of each motion, see QUANTITY",
     .repeat = true},
    NS_OPTION_SET,
    {.name = "until", .argument = "T", .help = "end time"},
    {.name = "tol", .argument = "R", .help = "tolerance, relative to the size of each state"},
    {.name = "least", .argument = "SIZE", .help = "smaller states count as of this size (0)"},
    {.name = "method",
     .argument = "M",
     .help = "integration method (the model's, otherwise dop853); it and gauss in lanes"},
    {.name = "engine",
     .argument = "E",
     .help = "interpreter, native (compiled), or auto: native when it pays (default)"},
    {.name = "threads", .argument = "N", .help = "threads (all cores)"},
    {.name = "lanes",
     .argument = "N",
     .help = "motions at a time on a thread: 1, 2, 4 or 8 (as many as pay)"},
    {.name = "alone",
     .help = "one motion after the other: each row to the bit what `run` gives"},
    {.name = "out",
     .argument = "FILE",
     .help = "the table, .h5 or .csv; the same command continues a table that is not complete",
     .repeat = true},
    {.name = "shard",
     .argument = "K/N",
     .help = "only the K-th of N parts of the rows, as a table of its own"},
    {.name = "join",
     .argument = "FILE",
     .help = "copy the rows of tables of shards ('part-*.h5') into --out; compute nothing",
     .repeat = true},
    {.name = "figure",
     .argument = "FILE.svg",
     .help = "results over one or two varied quantities as curves or maps"},
    {.name = "report",
     .argument = "FILE.html",
     .help = "the same as a page: values under the pointer, the command of each motion"},
    NS_OPTION_LIMITS,
    NS_OPTION_QUIET,
    {0},
};

const ns_command ns_command_sweep = {
    .name = "sweep",
    .summary = "Run many motions over values of parameters and starts, as one table",
    .usage = "MODEL --over NAME=LOW:HIGH:N... [--get QUANTITY,...] [--out FILE]",
    .doc =
        "Each row of the table is a motion with its own values of the parameters and starting\n"
        "states that are varied.  QUANTITY, with NAME= before it to name the column, is\n"
        "    EXPR           the value where the motion ends\n"
        "    EXPR@T         at a time\n"
        "    EXPR@EVENT     at the first event of that name\n"
        "    min(EXPR), max(EXPR)              over the whole motion\n"
        "    event(EVENT)   time of the first event of that name; EVENT alone is the same\n"
        "    count(EVENT), happened(EVENT)     how often; 1 if ever\n"
        "    reversal(EXPR), reversed(EXPR)    time of the first change of sign; 1 if ever\n"
        "    energy_drift, steps, end          drift of the energy; steps; time reached\n"
        "Without --get: the basic values at the end and the drift of the energy.\n"
        "\n"
        "A motion that ends early, or has no start, is a row with its status and reason.  The\n"
        "same command with the same --out continues a sweep that was stopped in any way.  "
        "Without\n"
        "--out the table is printed as CSV.  Rows are the same to the bit whatever the "
        "threads\n"
        "and lanes.",
    .options = options,
    .models = 1,
    .starts = true,
    .least = 1,
    .most = 1,
    .run = sweep,
};
