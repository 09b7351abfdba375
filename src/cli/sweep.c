/* noslip sweep: many motions of one model, over values of its parameters and starts. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cli/sweep.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/signals.h"
#include "cli/study.h"
#include "code/native.h"
#include "io/sweep_from.h"
#include "ode/auto.h"

/* ---- the plan -------------------------------------------------------------------------------- */

/* A state may be called start.NAME, as its column is. */
static const char *bare(const char *name)
{
    return strncmp(name, "start.", 6) == 0 && name[6] ? name + 6 : name;
}

/* NAME=REST; false after saying what is wrong. */
static bool split_name(ns_cli *cli, const char *option, const char *form, const char *text,
                       const char **name, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        ns_command_wrong(cli, "%s expects %s, not '%s'", option, form, text);
        return false;
    }
    *name = bare(ns_arena_string(cli->arena, text, (size_t)(equals - text)));
    *rest = equals + 1;
    return true;
}

static bool whole(const char *text, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (errno == 0 && !*end) {
        *value = n;
        return true;
    }
    const double number = strtod(text, &end); /* 1e6 */
    *value = number >= 0 && number < 0x1p53 ? (uint64_t)number : 0;
    return !*end && number >= 0 && number < 0x1p53 && number == floor(number);
}

static bool read_over(ns_cli *cli, ns_model *model, const char *text, ns_plan *plan)
{
    static const char form[] = "NAME=LOW:HIGH:N or NAME=LOW:HIGH:N:log";
    ns_plan_axis axis = {.kind = NS_PLAN_GRID};
    const char *rest;
    if (!split_name(cli, "--over", form, text, &axis.name, &rest))
        return false;
    const ns_study_words words = ns_study_split(cli->arena, rest, ':');
    const bool log = words.n == 4 && strcmp(words.at[3], "log") == 0;
    if (words.n != 3 && !log) {
        ns_command_wrong(cli, "--over expects %s, not '%s'", form, text);
        return false;
    }
    if (!whole(words.at[2], &axis.n) || axis.n < 1) {
        ns_command_wrong(cli, "--over %s: expected a whole number of values, not '%s'",
                         axis.name, words.at[2]);
        return false;
    }
    if (log)
        axis.kind = NS_PLAN_LOG;
    if (!ns_study_number(cli, model, "--over", words.at[0], &axis.low) ||
        !ns_study_number(cli, model, "--over", words.at[1], &axis.high))
        return false;
    NS_PUSH(cli->arena, plan->axes, axis);
    return true;
}

static bool read_random(ns_cli *cli, ns_model *model, const char *text, ns_plan *plan)
{
    static const char form[] =
        "NAME=uniform(LOW, HIGH), loguniform(LOW, HIGH) or normal(MEAN, DEVIATION)";
    static const struct {
        const char *word;
        ns_plan_kind kind;
    } kinds[] = {{"uniform(", NS_PLAN_UNIFORM},
                 {"loguniform(", NS_PLAN_LOGUNIFORM},
                 {"normal(", NS_PLAN_NORMAL}};
    ns_plan_axis axis = {.kind = NS_PLAN_LIST};
    const char *rest, *inner = NULL;
    if (!split_name(cli, "--random", form, text, &axis.name, &rest))
        return false;
    const size_t length = strlen(rest);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(rest, kinds[i].word, strlen(kinds[i].word)) == 0 &&
            rest[length - 1] == ')') {
            axis.kind = kinds[i].kind;
            inner = ns_arena_string(cli->arena, rest + strlen(kinds[i].word),
                                    length - strlen(kinds[i].word) - 1);
        }
    const ns_study_words words = ns_study_split(cli->arena, inner ? inner : "", ',');
    if (!inner || words.n != 2) {
        ns_command_wrong(cli, "--random expects %s, not '%s'", form, text);
        return false;
    }
    if (!ns_study_number(cli, model, "--random", words.at[0], &axis.low) ||
        !ns_study_number(cli, model, "--random", words.at[1], &axis.high))
        return false;
    NS_PUSH(cli->arena, plan->axes, axis);
    return true;
}

static bool read_whole(ns_cli *cli, const ns_arguments *a, const char *name, uint64_t *value)
{
    const char *text = ns_command_text(a, name);
    if (!text || whole(text, value))
        return true;
    ns_command_wrong(cli, "--%s expects a whole number, not '%s'", name, text);
    return false;
}

static bool read_from(ns_cli *cli, const ns_arguments *a, ns_plan *plan)
{
    static const char *const others[] = {"over", "random", "count", "seed", "sobol"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ns_command_flag(a, others[i])) {
            ns_command_wrong(cli, "--from and --%s exclude each other", others[i]);
            return false;
        }
    const char *wrong = ns_sweep_from(cli->arena, ns_command_text(a, "from"), plan);
    for (uint32_t i = 0; i < plan->axes.n; i++)
        plan->axes.at[i].name = bare(plan->axes.at[i].name);
    if (!wrong)
        wrong = ns_plan_settle(cli->arena, plan);
    if (wrong)
        ns_command_wrong(cli, "--from: %s", wrong);
    return !wrong;
}

static bool read_plan(ns_cli *cli, const ns_arguments *a, ns_model *model, ns_plan *plan)
{
    bool sampled = false;
    *plan = (ns_plan){.seed = 1, .sobol = ns_command_flag(a, "sobol")};
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *given = &a->options.at[i];
        if (strcmp(given->option->name, "over") == 0) {
            if (!read_over(cli, model, given->value, plan))
                return false;
        } else if (strcmp(given->option->name, "random") == 0) {
            sampled = true;
            if (!read_random(cli, model, given->value, plan))
                return false;
        }
    }
    if (ns_command_flag(a, "from"))
        return read_from(cli, a, plan);
    if (!read_whole(cli, a, "count", &plan->count) || !read_whole(cli, a, "seed", &plan->seed))
        return false;
    const char *lonely = !sampled && plan->sobol                   ? "sobol"
                         : !sampled && ns_command_flag(a, "count") ? "count"
                         : !sampled && ns_command_flag(a, "seed")  ? "seed"
                                                                   : NULL;
    if (lonely) {
        ns_command_wrong(cli, "--%s goes with --random", lonely);
        return false;
    }
    if (sampled && !ns_command_flag(a, "count")) {
        ns_command_wrong(cli, "--random needs --count, the number of samples");
        return false;
    }
    if (!plan->axes.n) {
        ns_command_wrong(cli, "there is nothing to vary: give --over, --random or --from");
        return false;
    }
    const char *wrong = ns_plan_settle(cli->arena, plan);
    if (wrong)
        ns_command_wrong(cli, "%s", wrong);
    return !wrong;
}

/* ---- how to run --------------------------------------------------------------------------------- */

/* Settings of the model that change from row to row would be taken at one value for all. */
static bool settings_fixed(ns_cli *cli, const ns_arguments *a, ns_model *model,
                           const ns_plan *plan)
{
    const ns_description *d = model->description;
    const char **names = NS_NEW_ARRAY(cli->arena, const char *, plan->axes.n);
    const char *message;
    for (uint32_t i = 0; i < plan->axes.n; i++)
        names[i] = plan->axes.at[i].name;
    const ns_starter *starter = ns_starter_new(cli->arena, model->system, 0, names,
                                               plan->axes.n, &message);
    if (!starter) {
        ns_command_wrong(cli, "%s", message);
        return false;
    }
    for (uint32_t i = 0; i < d->settings.n; i++) {
        const ns_setting *s = &d->settings.at[i];
        const bool given = (strcmp(s->name, "until") == 0 && ns_command_flag(a, "until")) ||
                           (strcmp(s->name, "tolerance") == 0 && ns_command_flag(a, "tol")) ||
                           strcmp(s->name, "every") == 0;
        if (given || s->word || !s->value || !ns_starter_varies(starter, s->value))
            continue;
        ns_command_wrong(cli,
                         "`%s` of the run block depends on what is varied, and is the same for "
                         "all rows of a sweep%s",
                         s->name, strcmp(s->name, "until") == 0 ? ": give --until" : "");
        return false;
    }
    return true;
}

static bool read_run(ns_cli *cli, const ns_arguments *a, const ns_model *model,
                     ns_run_options *run)
{
    *run = ns_model_run_options(model);
    if (!ns_command_number(cli, a, "until", &run->until) ||
        !ns_command_number(cli, a, "tol", &run->tolerance) ||
        !ns_command_number(cli, a, "least", &run->least_size))
        return false;
    if (!(run->least_size >= 0) || isinf(run->least_size)) {
        ns_command_wrong(cli, "--least must not be negative: %s", ns_command_text(a, "least"));
        return false;
    }
    if (ns_command_flag(a, "method"))
        run->method = ns_command_text(a, "method");
    else if (!model->settings.method)
        run->method = ns_method_dop853.name; /* the method with motions in lanes */
    if (ns_auto_asked(run)) {
        ns_command_wrong(cli, "method auto chooses for one motion, not for a sweep: name a "
                              "method (dop853 takes eight motions at a time)");
        return false;
    }
    const ns_method *method = ns_method_find(run->method);
    if (!method) {
        const char *near = ns_model_nearest_method(run->method);
        ns_command_wrong(cli, "unknown method '%s'%s%s%s", run->method,
                         near ? "; did you mean '" : "; see `noslip help methods`",
                         near ? near : "", near ? "'?" : "");
        return false;
    }
    run->method = method->name;
    if (ns_command_flag(a, "tol") && !(run->tolerance > 0)) {
        ns_command_wrong(cli, "--tol must be positive, not %s", ns_command_text(a, "tol"));
        return false;
    }
    if (run->tolerance == 0)
        run->tolerance = method->default_tolerance;
    else if (run->tolerance < method->least_tolerance)
        run->tolerance = method->least_tolerance;
    if (isnan(run->until)) {
        ns_command_wrong(cli,
                         "the model does not say how long to run: add  run { until T }  to "
                         "it, or give --until");
        return false;
    }
    if (!isfinite(run->until)) {
        ns_command_wrong(cli, "--until must be a finite time");
        return false;
    }
    run->interrupt = ns_signals_flag();
    return true;
}

typedef struct reading {
    ns_cli *cli;
    ns_model *model;
} reading;

static bool read_expression(void *context, const char *text, ns_ex *out)
{
    const reading *r = context;
    return ns_study_expression(r->cli, r->model, "--get", text, out);
}

static ns_sweep *read_sweep(ns_cli *cli, const ns_arguments *a, ns_model *model)
{
    reading r = {.cli = cli, .model = model};
    ns_sweep_spec spec = {.system = model->system, .reader = read_expression, .context = &r};
    NS_LIST(const char *) gets = {0};
    for (uint32_t i = 0; i < a->options.n; i++)
        if (strcmp(a->options.at[i].option->name, "get") == 0) {
            const ns_study_words words = ns_study_split(cli->arena, a->options.at[i].value,
                                                        ',');
            for (uint32_t k = 0; k < words.n; k++)
                NS_PUSH(cli->arena, gets, words.at[k]);
        }
    spec.gets = gets.at;
    spec.n_gets = gets.n;
    if (!read_plan(cli, a, model, &spec.plan) || !ns_sweep_take_shard(cli, a, &spec.plan) ||
        !settings_fixed(cli, a, model, &spec.plan) || !read_run(cli, a, model, &spec.run) ||
        !ns_study_count(cli, a, "lanes", 1, &spec.lanes))
        return NULL;
    if (spec.lanes > 8 || spec.lanes == 3 || spec.lanes == 5 || spec.lanes == 6 ||
        spec.lanes == 7) {
        ns_command_wrong(cli, "--lanes is 1, 2, 4 or 8");
        return NULL;
    }
    const char *message = "";
    ns_sweep *sweep = ns_sweep_new(cli->arena, &spec, &message);
    if (!sweep && *message)
        ns_command_wrong(cli, "--get: %s", message);
    return sweep;
}

/* ---- outputs -------------------------------------------------------------------------------------- */

typedef struct outputs {
    const char *table; /* NULL: a nameless one */
    bool keep;         /* the table is asked for; otherwise it is removed at the end */
    NS_LIST(const char *) csv;
} outputs;

static bool ends_in(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ending) == 0;
}

static bool read_outputs(ns_cli *cli, const ns_arguments *a, outputs *o)
{
    *o = (outputs){0};
    for (uint32_t i = 0; i < a->options.n; i++) {
        if (strcmp(a->options.at[i].option->name, "out") != 0)
            continue;
        const char *path = a->options.at[i].value;
        if (ends_in(path, ".csv")) {
            NS_PUSH(cli->arena, o->csv, path);
        } else if (!ends_in(path, ".h5") && !ends_in(path, ".hdf5")) {
            ns_command_wrong(cli, "--out %s: the name must end in .h5 or .csv", path);
            return false;
        } else if (o->table) {
            ns_command_wrong(cli, "--out %s: one table is enough, there is %s", path, o->table);
            return false;
        } else {
            o->table = path;
        }
    }
    o->keep = o->table != NULL;
    if (!o->table && o->csv.n)
        o->table = ns_arena_format(cli->arena, "%s.part.h5", o->csv.at[0]);
    return true;
}

/* What repeats the sweep; what changes neither rows nor quantities is left out. */
static const char *command_line(ns_cli *cli, const ns_arguments *a)
{
    static const char *const left_out[] = {"threads", "lanes",  "engine", "quiet", "out",
                                           "figure",  "report", "join",   "shard"};
    ns_text text = ns_text_new(cli->arena);
    ns_text_addf(&text, "noslip sweep %s", a->words.at[0]);
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *given = &a->options.at[i];
        bool out = false;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++)
            out = out || strcmp(left_out[k], given->option->name) == 0;
        if (out)
            continue;
        ns_text_addf(&text, " --%s", given->option->name);
        if (given->value) {
            ns_text_add(&text, " '");
            for (const char *c = given->value; *c; c++)
                ns_text_add_bytes(&text, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
            ns_text_add(&text, "'");
        }
    }
    return ns_text_string(&text);
}

enum { FACTS = 10 };

/* What the table belongs to. */
static void make_facts(ns_cli *cli, const ns_arguments *a, const ns_model *model,
                       const ns_sweep *sweep, ns_sweep_fact out[FACTS])
{
    ns_text set = ns_text_new(cli->arena), gets = ns_text_new(cli->arena);
    for (size_t i = 0; i < model->n_overrides; i++)
        ns_text_addf(&set, "%s=%s\n", model->overrides[i].name, model->overrides[i].expression);
    for (uint32_t i = 0; i < a->options.n; i++)
        if (strcmp(a->options.at[i].option->name, "get") == 0)
            ns_text_addf(&gets, "%s\n", a->options.at[i].value);
    const ns_run_options *run = &sweep->options.run;
    const char *how = ns_arena_format(cli->arena,
                                      "method %s, tolerance %.17g, from %.17g until %.17g",
                                      run->method, run->tolerance, run->t0, run->until);
    if (run->least_size > 0)
        how = ns_arena_format(cli->arena, "%s, sizes from %.17g", how, run->least_size);
    const ns_sweep_fact facts[FACTS] = {
        {"model", model->text, "another model"},
        {"set", ns_text_string(&set), "other values of --set"},
        {"plan", ns_plan_text(cli->arena, &sweep->plan), "another plan"},
        {"quantities", ns_text_string(&gets), "other quantities"},
        {"run", how, "another method, tolerance or time"},
        {"version", NS_VERSION, "another version of noslip"},
        {"title", model->description->title, NULL},
        {"name", model->name, NULL},
        {"command", command_line(cli, a), NULL},
        {"shard", ns_command_flag(a, "shard") ? ns_command_text(a, "shard") : "",
         "another shard"},
    };
    memcpy(out, facts, sizeof facts);
}

/* What makes one sweep different from another, for processes that join in. */
static const char *identity(ns_cli *cli, const ns_sweep_fact facts[FACTS])
{
    ns_text text = ns_text_new(cli->arena);
    for (int i = 0; i < FACTS; i++)
        if (facts[i].what)
            ns_text_addf(&text, "%s\n%s\n", facts[i].name, facts[i].text);
    return ns_text_string(&text);
}

static ns_sweep_table *open_table(ns_cli *cli, const ns_sweep_fact facts[FACTS],
                                  const ns_sweep *sweep, const char *path, bool *fresh,
                                  ns_status *status)
{
    char message[400];
    ns_sweep_table *table = ns_sweep_table_open(sweep, facts, FACTS, path, fresh, status,
                                                message);
    if (!table)
        ns_command_wrong(cli, "%s", message);
    return table;
}

/* ---- the command ------------------------------------------------------------------------------------ */

static int finish(ns_sweep_job *job, const ns_arguments *a, const outputs *o, ns_status status)
{
    ns_cli *cli = job->cli;
    const bool shown = o->table || ns_sweep_wants_figure(a);
    const bool all = job->complete + job->computed == job->sweep->plan.rows;
    int result = ns_status_exit(status);
    for (uint32_t i = 0; i < o->csv.n && all && !result; i++)
        result = ns_sweep_csv_file(job, o->csv.at[i]);
    if (!shown && !ns_sweep_csv(job, cli->out))
        result = ns_status_exit(NS_ERR_IO);
    if (!cli->quiet && !ns_sweep_summary(job, shown ? cli->out : cli->err,
                                         shown ? &cli->style_out : &cli->style_err))
        result = ns_status_exit(NS_ERR_IO);
    if (status == NS_OK || status == NS_STOP_INTERRUPT) {
        const int drawn = ns_sweep_draw(job, a);
        result = drawn ? drawn : result;
    }
    if (!all && o->table)
        fprintf(cli->err, "noslip: %s: the rows so far are in %s; the same command continues\n",
                status == NS_STOP_INTERRUPT ? "stopped" : "note", o->table);
    else if (all && o->table && !o->keep && !result)
        unlink(o->table);
    return result;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Compiling takes 0.1 to 0.5 seconds: it pays if all rows take much longer, judged by some of them. */
static bool pays(const ns_sweep_job *job)
{
    enum { TRIES = 4 };
    static const double enough = 0.05, seconds_left = 3;
    const uint64_t rows = job->sweep->plan.rows;
    void *record = malloc(job->sweep->record);
    const double began = now();
    double seconds = 0;
    uint32_t tried = 0;
    char message[300];
    while (record && tried < TRIES && tried < rows && seconds < enough && !*ns_signals_flag()) {
        if (ns_sweep_rows(job->sweep, job->model->system, rows / TRIES * tried, 1, record,
                          message, sizeof message) != NS_OK)
            break;
        tried++;
        seconds = now() - began;
    }
    free(record);
    return tried && seconds / tried * (double)rows / job->threads > seconds_left;
}

static ns_native *go_native(const ns_sweep_job *job, const ns_arguments *a)
{
    const char *word = ns_command_text(a, "engine");
    const bool asked = word && strcmp(word, "native") == 0;
    char message[300] = "";
    if (word && strcmp(word, "interpreter") == 0)
        return NULL;
    if (!asked && !pays(job))
        return NULL;
    ns_native *native = ns_ensemble_native(job->sweep->problem, &job->sweep->options, message,
                                           sizeof message, NULL);
    if (!native && asked && !job->cli->quiet)
        fprintf(job->cli->err, "noslip: note: interpreted, for there is no native code: %s\n",
                message);
    return native;
}

static int compute(ns_cli *cli, const ns_arguments *a, ns_sweep_job *job)
{
    outputs o;
    bool fresh = true;
    ns_status status = NS_ERR_USAGE;
    ns_sweep_fact facts[FACTS];
    if (!read_outputs(cli, a, &o) || !ns_sweep_figure_possible(cli, a, job->sweep))
        return ns_status_exit(status);
    make_facts(cli, a, job->model, job->sweep, facts);
    job->identity = identity(cli, facts);
    if (ns_command_flag(a, "join") && !o.keep) {
        ns_command_wrong(cli, "--join needs --out FILE.h5, the table of the whole");
        return ns_status_exit(status);
    }
    if (ns_command_flag(a, "join") && job->rank.rank > 0)
        return 0; /* one is enough */
    ns_signals_catch(job->rank.rank == 0);
    if (job->rank.rank > 0) {
        ns_native *native = go_native(job, a);
        status = ns_sweep_job_follow(job);
        ns_native_free(native);
        return ns_status_exit(status);
    }
    job->table = open_table(cli, facts, job->sweep, o.table, &fresh, &status);
    if (!job->table)
        return ns_status_exit(status);
    if (ns_command_flag(a, "join")) {
        const int joined = ns_sweep_join(job, a, facts, FACTS);
        return joined ? joined : finish(job, a, &o, NS_OK);
    }
    if (!fresh && !ns_sweep_job_count(job))
        return ns_status_exit(NS_ERR_IO);
    if (job->complete < job->sweep->plan.rows) {
        ns_native *native = go_native(job, a);
        status = ns_sweep_job_run(job);
        ns_native_free(native);
    }
    return finish(job, a, &o, status);
}

/* Processors for this process: what the launcher has bound it to, or its share of the machine. */
static uint32_t own_cores(void)
{
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    const long ranks = local ? strtol(local, NULL, 10) : 1;
    cpu_set_t set;
    long cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : all;
    if (cores >= all && ranks > 1)
        cores = all / ranks;
    return cores > 0 ? (uint32_t)cores : 1;
}

static int sweep_on(ns_cli *cli, const ns_arguments *a, ns_sweep_job *job)
{
    int status;
    const char *engine = ns_command_text(a, "engine");
    if (engine && strcmp(engine, "interpreter") != 0 && strcmp(engine, "native") != 0 &&
        strcmp(engine, "auto") != 0)
        return ns_command_wrong(cli, "--engine is interpreter, native or auto, not '%s'",
                                engine);
    ns_model *model = ns_open_model(cli, a, a->words.at[0], NS_MODEL_DERIVED, &status);
    if (!model)
        return status;
    job->model = model;
    job->threads = own_cores();
    status = ns_status_exit(NS_ERR_USAGE);
    if (ns_study_count(cli, a, "threads", 1, &job->threads)) {
        job->sweep = read_sweep(cli, a, model);
        if (job->sweep)
            status = compute(cli, a, job);
    }
    ns_sweep_table_close(job->table);
    ns_model_free(model);
    return status;
}

/* A rank that is not 0 says to rank 0 what is wrong, which may be wrong there alone. */
static int sweep_elsewhere(ns_cli *cli, const ns_arguments *a, ns_sweep_job *job)
{
    FILE *said = cli->err;
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    cli->quiet = true;
    if (memory)
        cli->err = memory;
    sweep_on(cli, a, job);
    cli->err = said;
    if (memory)
        fclose(memory);
    if (!job->met)
        ns_sweep_rank_dismiss(&job->rank, text && length ? text : "failed");
    free(text);
    return 0; /* the exit status is that of rank 0 */
}

static int sweep(ns_cli *cli, const ns_arguments *a)
{
    char message[NS_EXCHANGE_MESSAGE];
    ns_sweep_job job = {.cli = cli, .interrupt = ns_signals_flag()};
    int status;
    cli->quiet = ns_command_flag(a, "quiet");
    if (!ns_sweep_rank_join(&job.rank, message)) {
        ns_command_wrong(cli, "several processes were started (%u), but %s",
                         ns_exchange_launched(), message);
        return ns_status_exit(NS_ERR_SYSTEM);
    }
    if (job.rank.rank > 0) {
        status = sweep_elsewhere(cli, a, &job);
    } else {
        status = sweep_on(cli, a, &job);
        if (!job.met)
            ns_sweep_rank_dismiss(&job.rank, NULL);
    }
    ns_sweep_rank_leave(&job.rank);
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
     .help = "what is kept of each motion (see below)",
     .repeat = true},
    NS_OPTION_SET,
    {.name = "until", .argument = "T", .help = "end time"},
    {.name = "tol", .argument = "R", .help = "tolerance, relative to the size of each state"},
    {.name = "least", .argument = "SIZE", .help = "smaller states count as of this size (0)"},
    {.name = "method",
     .argument = "M",
     .help = "integration method (the model's, otherwise dop853, in lanes)"},
    {.name = "engine",
     .argument = "E",
     .help = "interpreter, native (compiled), or auto: native when it pays (default)"},
    {.name = "threads", .argument = "N", .help = "threads (all cores)"},
    {.name = "lanes",
     .argument = "N",
     .help = "motions at a time on a thread: 1, 2, 4 or 8 (as many as pay)"},
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
    NS_OPTION_QUIET,
    {0},
};

const ns_command ns_command_sweep = {
    .name = "sweep",
    .summary = "Many motions over values of parameters and starts, as one table",
    .usage = "MODEL --over NAME=LOW:HIGH:N... [--get QUANTITY,...] [--out FILE]",
    .doc =
        "Each row of the table is a motion with its own values of the parameters and starting\n"
        "states that are varied.  QUANTITY, with NAME= before it to name the column, is\n"
        "    EXPR           the value where the motion ends\n"
        "    EXPR@T         at a time\n"
        "    EXPR@EVENT     at the first event of that name\n"
        "    min(EXPR), max(EXPR)              over the whole motion\n"
        "    event(EVENT)   time of the first event of that name\n"
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
    .least = 1,
    .most = 1,
    .run = sweep,
};
