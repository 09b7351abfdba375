/* Sweeps in parts, without processes that know of each other: --shard K/N makes a table of one
 * part, --join one table of all. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/sweep/sweep.h"

/* K/N; false if it is something else. */
static bool read_shard(const char *text, uint64_t *k, uint64_t *n)
{
    char *end = NULL;
    if (*text < '1' || *text > '9')
        return false;
    errno = 0;
    *k = strtoull(text, &end, 10);
    if (errno || *end != '/' || end[1] < '1' || end[1] > '9')
        return false;
    *n = strtoull(end + 1, &end, 10);
    return !errno && !*end && *n > 0 && *k <= *n;
}

/* The K-th of N: rows [(K-1) R/N, K R/N) of R, without overflow. */
static void take(ns_plan *plan, uint64_t k, uint64_t n)
{
    const uint64_t each = plan->rows / n,
                   more = plan->rows % n; /* the first `more` have one more */
    plan->first += (k - 1) * each + (k - 1 < more ? k - 1 : more);
    plan->rows = each + (k - 1 < more);
}

bool ns_sweep_take_shard(ns_host *host, const ns_arguments *a, ns_plan *plan)
{
    const char *text = ns_command_text(a, "shard");
    uint64_t k = 1, n = 1;
    if (!text)
        return true;
    if (ns_command_flag(a, "join"))
        return ns_command_refuse(host, "--shard and --join exclude each other");
    if (!read_shard(text, &k, &n))
        return ns_command_refuse(host, "--shard expects K/N with K from 1 to N, not `%s`",
                                 text);
    if (n > plan->rows)
        return ns_command_refuse(host, "--shard %s: there are only %llu rows", text,
                                 (unsigned long long)plan->rows);
    take(plan, k, n);
    return true;
}

/* All complete rows of one table into another, where they begin at `first`; how many. */
static int copy(ns_sweep_table *from, ns_sweep_table *to, const ns_sweep *part,
                uint64_t *copied)
{
    enum { ROWS = 1024 };
    bool there[ROWS];
    char *records = malloc(ROWS * part->record);
    int error = records ? 0 : ENOMEM;
    for (uint64_t at = 0; at < part->plan.rows && !error; at += ROWS) {
        const uint64_t left = part->plan.rows - at;
        const uint32_t n = left < ROWS ? (uint32_t)left : ROWS;
        error = ns_sweep_table_get(from, at, n, records, there);
        for (uint32_t i = 0, begin = 0; i < n && !error; begin = i) {
            while (i < n && there[i] == there[begin])
                i++;
            if (!there[begin])
                continue;
            error = ns_sweep_table_put(to, part->plan.first + at + begin, i - begin,
                                       records + begin * part->record);
            *copied += i - begin;
        }
    }
    free(records);
    return error;
}

static int join_file(ns_sweep_job *job, const char *path, const ns_sweep_fact *facts,
                     uint32_t n_facts)
{
    ns_host *host = job->host;
    ns_sweep part = *job->sweep;
    ns_sweep_fact *own = NS_NEW_ARRAY(host->arena, ns_sweep_fact, n_facts);
    uint64_t k = 1, n = 1, copied = 0;
    memcpy(own, facts, n_facts * sizeof *own);
    char *shard = ns_sweep_table_shard(path);
    if (!shard || (*shard && !read_shard(shard, &k, &n)) || n > part.plan.rows) {
        free(shard);
        return ns_command_wrong(host, "--join %s: this is not a table of a sweep", path);
    }
    own[n_facts - 1].text = shard;
    take(&part.plan, k, n);
    bool fresh = false;
    ns_status status = NS_ERR_USAGE;
    char message[400];
    ns_sweep_table *table = ns_sweep_table_open(&part, own, n_facts, path, &fresh, &status,
                                                message);
    free(shard);
    if (!table)
        return ns_command_failed(host, status, "--join: %s", message);
    const int error = copy(table, job->table, &part, &copied);
    ns_sweep_table_close(table);
    if (error)
        return ns_command_failed(host, NS_ERR_IO, "--join %s: %s", path, strerror(error));
    if (!host->quiet && copied < part.plan.rows)
        fprintf(host->err, "noslip: note: %s has %llu of its %llu rows\n", path,
                (unsigned long long)copied, (unsigned long long)part.plan.rows);
    return 0;
}

int ns_sweep_join(ns_sweep_job *job, const ns_arguments *a, const ns_sweep_fact *facts,
                  uint32_t n_facts)
{
    int status = 0;
    for (uint32_t i = 0; i < a->options.n && !status; i++) {
        const char *pattern = a->options.at[i].value;
        glob_t found = {0};
        if (strcmp(a->options.at[i].option->name, "join") != 0)
            continue;
        if (access(pattern, F_OK) == 0) { /* a name that looks like a pattern */
            status = join_file(job, pattern, facts, n_facts);
            continue;
        }
        if (glob(pattern, 0, NULL, &found) != 0)
            return ns_command_wrong(job->host, "--join %s: there is no such file", pattern);
        for (size_t k = 0; k < found.gl_pathc && !status; k++)
            status = join_file(job, found.gl_pathv[k], facts, n_facts);
        globfree(&found);
    }
    if (!status && (ns_sweep_table_sync(job->table) != 0 || !ns_sweep_job_count(job)))
        status = ns_status_exit(NS_ERR_IO);
    return status;
}
