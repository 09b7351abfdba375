/* What the options of `noslip sweep` ask for: the plan, how to run, what to compute, where it
 * goes; and the facts that tell one request from another. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "command/study.h"
#include "command/sweep/sweep.h"
#include "ode/auto.h"
#include "out/formats.h"
#include "out/tables/sweep_from.h"
#include "session/settings.h"

/* ---- the plan ---------------------------------------------------------------------------- */

/* NAME=REST; false after saying what is wrong. */
static bool split_name(ns_host *host, const char *option, const char *form, const char *text,
                       const char **name, const char **rest)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return ns_command_refuse(host, "%s expects %s, not `%s`", option, form, text);
    *name = ns_plan_bare(ns_arena_string(host->arena, text, (size_t)(equals - text)));
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

static bool read_over(ns_host *host, ns_model *model, const char *text, ns_plan *plan)
{
    static const char form[] = "NAME=LOW:HIGH:N or NAME=LOW:HIGH:N:log";
    ns_plan_axis axis = {.kind = NS_PLAN_GRID};
    const char *rest = "";
    if (!split_name(host, "--over", form, text, &axis.name, &rest))
        return false;
    const ns_study_words words = ns_study_split(host->arena, rest, ':');
    const bool log = words.n == 4 && strcmp(words.at[3], "log") == 0;
    if (words.n != 3 && !log)
        return ns_command_refuse(host, "--over expects %s, not `%s`", form, text);
    if (!whole(words.at[2], &axis.n) || axis.n < 1)
        return ns_command_refuse(host, "--over %s: expected a whole number of values, not `%s`",
                                 axis.name, words.at[2]);
    if (log)
        axis.kind = NS_PLAN_LOG;
    if (!ns_study_number(host, model, "--over", words.at[0], &axis.low) ||
        !ns_study_number(host, model, "--over", words.at[1], &axis.high))
        return false;
    NS_PUSH(host->arena, plan->axes, axis);
    return true;
}

static bool read_random(ns_host *host, ns_model *model, const char *text, ns_plan *plan)
{
    static const char form[] =
        "NAME=uniform(LOW, HIGH), loguniform(LOW, HIGH) or normal(MEAN, DEVIATION)";
    ns_plan_axis axis = {.kind = NS_PLAN_LIST};
    const char *rest = "", *inner = NULL;
    if (!split_name(host, "--random", form, text, &axis.name, &rest))
        return false;
    inner = ns_plan_distribution(host->arena, rest, &axis.kind);
    const ns_study_words words = ns_study_split(host->arena, inner ? inner : "", ',');
    if (!inner || words.n != 2)
        return ns_command_refuse(host, "--random expects %s, not `%s`", form, text);
    if (!ns_study_number(host, model, "--random", words.at[0], &axis.low) ||
        !ns_study_number(host, model, "--random", words.at[1], &axis.high))
        return false;
    NS_PUSH(host->arena, plan->axes, axis);
    return true;
}

static bool read_whole(ns_host *host, const ns_arguments *a, const char *name, uint64_t *value)
{
    const char *text = ns_command_text(a, name);
    if (!text || whole(text, value))
        return true;
    return ns_command_refuse(host, "--%s expects a whole number, not `%s`", name, text);
}

static bool read_from(ns_host *host, const ns_arguments *a, ns_plan *plan)
{
    static const char *const others[] = {"over", "random", "count", "seed", "sobol"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ns_command_flag(a, others[i]))
            return ns_command_refuse(host, "--from and --%s exclude each other", others[i]);
    const char *wrong = ns_sweep_from(host->arena, ns_command_text(a, "from"), plan);
    for (uint32_t i = 0; i < plan->axes.n; i++)
        plan->axes.at[i].name = ns_plan_bare(plan->axes.at[i].name);
    if (!wrong)
        wrong = ns_plan_settle(host->arena, plan);
    if (wrong)
        ns_command_wrong(host, "--from: %s", wrong);
    return !wrong;
}

static bool read_plan(ns_host *host, const ns_arguments *a, ns_model *model, ns_plan *plan)
{
    bool sampled = false;
    *plan = (ns_plan){.seed = 1, .sobol = ns_command_flag(a, "sobol")};
    for (uint32_t i = 0; i < a->options.n; i++) {
        const ns_given *given = &a->options.at[i];
        if (strcmp(given->option->name, "over") == 0) {
            if (!read_over(host, model, given->value, plan))
                return false;
        } else if (strcmp(given->option->name, "random") == 0) {
            sampled = true;
            if (!read_random(host, model, given->value, plan))
                return false;
        }
    }
    if (ns_command_flag(a, "from"))
        return read_from(host, a, plan);
    if (!read_whole(host, a, "count", &plan->count) ||
        !read_whole(host, a, "seed", &plan->seed))
        return false;
    const char *lonely = !sampled && plan->sobol                   ? "sobol"
                         : !sampled && ns_command_flag(a, "count") ? "count"
                         : !sampled && ns_command_flag(a, "seed")  ? "seed"
                                                                   : NULL;
    if (lonely)
        return ns_command_refuse(host, "--%s goes with --random", lonely);
    if (sampled && !ns_command_flag(a, "count"))
        return ns_command_refuse(host, "--random needs --count, the number of samples");
    if (!plan->axes.n)
        return ns_command_refuse(host,
                                 "there is nothing to vary: give --over, --random or --from");
    const char *wrong = ns_plan_settle(host->arena, plan);
    if (wrong)
        ns_command_wrong(host, "%s", wrong);
    return !wrong;
}

/* ---- how to run -------------------------------------------------------------------------- */

/* Settings of the model that change from row to row would be taken at one value for all. */
static bool settings_fixed(ns_host *host, const ns_arguments *a, ns_model *model,
                           const ns_plan *plan)
{
    const char **names = NS_NEW_ARRAY(host->arena, const char *, plan->axes.n);
    const char *message;
    for (uint32_t i = 0; i < plan->axes.n; i++)
        names[i] = plan->axes.at[i].name;
    const ns_starter *starter = ns_starter_new(host->arena, model->system, 0, names,
                                               plan->axes.n, &message);
    if (!starter)
        return ns_command_refuse(host, "%s", message);
    const char *setting = ns_starter_setting(
        starter, model->description, ns_command_flag(a, "until"), ns_command_flag(a, "tol"));
    return !setting ||
           ns_command_refuse(
               host,
               "`%s` of the run block depends on what is varied, and is the same for "
               "all rows of a sweep%s",
               setting, strcmp(setting, "until") == 0 ? ": give --until" : "");
}

static bool read_run(ns_host *host, const ns_arguments *a, const ns_model *model,
                     ns_run_options *run)
{
    enum { MOST_STEPS = 10000000 }; /* one row must not keep the others waiting */
    *run = ns_model_run_options(model);
    if (isnan(model->settings.max_steps))
        run->max_steps = MOST_STEPS;
    if (!ns_command_number(host, a, "until", &run->until) ||
        !ns_command_number(host, a, "tol", &run->tolerance) ||
        !ns_command_number(host, a, "least", &run->least_size))
        return false;
    if (!(run->least_size >= 0) || isinf(run->least_size))
        return ns_command_refuse(host, "--least must not be negative: %s",
                                 ns_command_text(a, "least"));
    if (ns_command_flag(a, "method"))
        run->method = ns_command_text(a, "method");
    else if (!model->settings.method)
        run->method = ns_method_dop853.name; /* the fastest in lanes */
    if (ns_auto_asked(run))
        return ns_command_refuse(host,
                                 "method auto chooses for one motion, not for a sweep: name a "
                                 "method (dop853 and gauss take eight motions at a time)");
    const ns_method *method = ns_method_find(run->method);
    char words[NS_NO_METHOD];
    if (!method)
        return ns_command_refuse(host, "%s", ns_settings_no_method(run->method, words));
    run->method = method->name;
    if (ns_command_flag(a, "tol") && !(run->tolerance > 0))
        return ns_command_refuse(host, "--tol must be positive, not %s",
                                 ns_command_text(a, "tol"));
    if (run->tolerance == 0)
        run->tolerance = method->default_tolerance;
    else if (run->tolerance < method->least_tolerance)
        run->tolerance = method->least_tolerance;
    if (isnan(run->until))
        return ns_command_refuse(
            host, "the model does not say how long to run: add  run { until T }  to "
                  "it, or give --until");
    if (!isfinite(run->until))
        return ns_command_refuse(host, "--until must be a finite time");
    return true;
}

typedef struct reading {
    ns_host *host;
    ns_model *model;
} reading;

static bool read_expression(void *context, const char *text, ns_ex *out)
{
    const reading *r = context;
    return ns_study_expression(r->host, r->model, "--get", text, out);
}

ns_sweep *ns_sweep_request(ns_host *host, const ns_arguments *a, ns_model *model)
{
    reading r = {.host = host, .model = model};
    ns_sweep_spec spec = {.system = model->system, .reader = read_expression, .context = &r};
    NS_LIST(const char *) gets = {0};
    for (uint32_t i = 0; i < a->options.n; i++)
        if (strcmp(a->options.at[i].option->name, "get") == 0) {
            const ns_study_words words = ns_study_split(host->arena, a->options.at[i].value,
                                                        ',');
            for (uint32_t k = 0; k < words.n; k++)
                NS_PUSH(host->arena, gets, words.at[k]);
        }
    spec.gets = gets.at;
    spec.n_gets = gets.n;
    if (!read_plan(host, a, model, &spec.plan) || !ns_sweep_take_shard(host, a, &spec.plan) ||
        !settings_fixed(host, a, model, &spec.plan) || !read_run(host, a, model, &spec.run) ||
        !ns_study_count(host, a, "lanes", 1, &spec.lanes))
        return NULL;
    if (spec.lanes > 8 || spec.lanes == 3 || spec.lanes == 5 || spec.lanes == 6 ||
        spec.lanes == 7) {
        ns_command_wrong(host, "--lanes is 1, 2, 4 or 8");
        return NULL;
    }
    spec.alone = ns_command_flag(a, "alone");
    if (spec.alone && spec.lanes) {
        ns_command_wrong(host,
                         "--lanes says how many motions at a time, --alone that it is one");
        return NULL;
    }
    const char *message = "";
    ns_sweep *sweep = ns_sweep_new(host->arena, &spec, &message);
    if (!sweep && *message)
        ns_command_wrong(host, "--get: %s", message);
    return sweep;
}

/* ---- outputs ----------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ending) == 0;
}

bool ns_sweep_read_outputs(ns_host *host, const ns_arguments *a, ns_sweep_outputs *o)
{
    *o = (ns_sweep_outputs){0};
    for (uint32_t i = 0; i < a->options.n; i++) {
        if (strcmp(a->options.at[i].option->name, "out") != 0)
            continue;
        const char *path = a->options.at[i].value;
        if (ends_in(path, ".csv")) {
            NS_PUSH(host->arena, o->csv, path);
        } else if (!ends_in(path, ".h5") && !ends_in(path, ".hdf5")) {
            return ns_command_refuse(host, "--out %s: the name must end in .h5 or .csv", path);
        } else if (ns_output_hdf5.missing) {
            return ns_command_refuse(host, "--out %s: %s", path, ns_output_hdf5.missing);
        } else if (o->table) {
            return ns_command_refuse(host, "--out %s: one table is enough, there is %s", path,
                                     o->table);
        } else {
            o->table = path;
        }
    }
    o->keep = o->table != NULL;
    if (!o->table && o->csv.n && !ns_output_hdf5.missing) /* so that it can be continued */
        o->table = ns_arena_format(host->arena, "%s.part.h5", o->csv.at[0]);
    return true;
}

/* What repeats the sweep; what changes neither rows nor quantities is left out. */
static const char *command_line(ns_host *host, const ns_arguments *a)
{
    static const char *const left_out[] = {"threads", "lanes",  "engine", "quiet", "out",
                                           "figure",  "report", "join",   "shard"};
    ns_text text = ns_text_new(host->arena);
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

void ns_sweep_make_facts(ns_host *host, const ns_arguments *a, const ns_model *model,
                         const ns_sweep *sweep, ns_sweep_fact out[NS_SWEEP_FACTS])
{
    ns_text set = ns_text_new(host->arena), gets = ns_text_new(host->arena);
    for (size_t i = 0; i < model->n_overrides; i++)
        ns_text_addf(&set, "%s=%s\n", model->overrides[i].name, model->overrides[i].expression);
    for (uint32_t i = 0; i < a->options.n; i++)
        if (strcmp(a->options.at[i].option->name, "get") == 0)
            ns_text_addf(&gets, "%s\n", a->options.at[i].value);
    const uint64_t tables = ns_description_tables(model->description);
    if (tables)
        ns_text_addf(&set, "tables %016" PRIx64 "\n", tables);
    const ns_run_options *run = &sweep->options.run;
    const char *how = ns_arena_format(host->arena,
                                      "method %s, tolerance %.17g, from %.17g until %.17g",
                                      run->method, run->tolerance, run->t0, run->until);
    if (sweep->options.alone)
        how = ns_arena_format(host->arena, "%s, each alone", how);
    if (run->least_size > 0)
        how = ns_arena_format(host->arena, "%s, sizes from %.17g", how, run->least_size);
    const ns_sweep_fact facts[NS_SWEEP_FACTS] = {
        {"model", model->text, "another model"},
        {"set", ns_text_string(&set),
         tables ? "other values of --set or in its tables" : "other values of --set"},
        {"plan", ns_plan_text(host->arena, &sweep->plan), "another plan"},
        {"quantities", ns_text_string(&gets), "other quantities"},
        {"run", how, "another method, tolerance or time"},
        {"version", NS_VERSION, "another version of noslip"},
        {"title", model->description->title, NULL},
        {"name", model->name, NULL},
        {"command", command_line(host, a), NULL},
        {"shard", ns_command_flag(a, "shard") ? ns_command_text(a, "shard") : "",
         "another shard"},
    };
    memcpy(out, facts, sizeof facts);
}

const char *ns_sweep_identity(ns_host *host, const ns_sweep_fact facts[NS_SWEEP_FACTS])
{
    ns_text text = ns_text_new(host->arena);
    for (int i = 0; i < NS_SWEEP_FACTS; i++)
        if (facts[i].what)
            ns_text_addf(&text, "%s\n%s\n", facts[i].name, facts[i].text);
    return ns_text_string(&text);
}
