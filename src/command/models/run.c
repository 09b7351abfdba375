/* noslip run: integrate a model, report, write files. */
#include "command/models/run.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "command/page.h"
#include "command/study.h"
#include "command/summary.h"
#include "out/formats.h"
#include "out/report/report.h"
#include "session/record.h"
#include "session/sensitivity.h"
#include "session/start.h"
#include "session/trust/digits.h"
#include "session/trust/trust.h"
#include "study/orbits/relative.h"

static const ns_option options[] = {NS_RUN_OPTIONS, {0}};

/* ---- options ----------------------------------------------------------------------------- */

/* --engine and --precision take a word. */
bool ns_run_command_words(ns_host *host, const ns_arguments *a)
{
    ns_record_engine engine;
    const char *precision = ns_command_text(a, "precision");
    const char *digits = ns_command_text(a, "digits");
    if (!ns_study_engine(host, a, &engine))
        return false;
    if (digits && strcmp(digits, "quad") != 0)
        return ns_command_refuse(host, "--digits is given alone or as --digits=quad, not `%s`",
                                 digits);
    if (!precision || strcmp(precision, "double") == 0)
        return true;
    if (strcmp(precision, "quad") != 0)
        return ns_command_refuse(host, "--precision is double or quad, not `%s`", precision);
    const char *method = ns_command_text(a, "method");
    if (!method || strcmp(method, ns_method_quad.name) == 0)
        return true;
    return ns_command_refuse(
        host, "--precision quad has a method of its own: leave out --method %s", method);
}

static bool positive(ns_host *host, const ns_arguments *a, const char *name, double *value)
{
    if (!ns_command_number(host, a, name, value))
        return false;
    if (!ns_command_flag(a, name) || *value > 0)
        return true;
    return ns_command_refuse(host, "--%s must be positive, not %s", name,
                             ns_command_text(a, name));
}

static bool read_options(ns_host *host, const ns_arguments *a, ns_record_options *o)
{
    double *at;
    size_t n_at;
    if (!ns_study_engine(host, a, &o->engine) ||
        !ns_command_number(host, a, "until", &o->run.until) ||
        !positive(host, a, "tol", &o->run.tolerance) ||
        !ns_command_numbers(host, a, "at", &at, &n_at) ||
        !positive(host, a, "every", &o->every))
        return false;
    if (n_at && ns_command_flag(a, "every"))
        return ns_command_refuse(host, "--at and --every exclude each other");
    o->until_fixed = ns_command_flag(a, "until");
    o->at = at;
    o->n_at = n_at;
    if (ns_command_flag(a, "method"))
        o->run.method = ns_command_text(a, "method");
    const char *precision = ns_command_text(a, "precision");
    if (precision && strcmp(precision, "quad") == 0)
        o->run.method = ns_method_quad.name;
    o->checkpoint = ns_command_text(a, "checkpoint");
    o->resume = ns_command_text(a, "resume");
    NS_LIST(const char *) outputs = {0};
    const char *path;
    for (uint32_t k = 0; ns_command_each(a, "out", &k, &path);)
        NS_PUSH(host->arena, outputs, path);
    o->outputs = outputs.at;
    o->formats = ns_output_formats;
    o->n_outputs = outputs.n;
    return true;
}

/* ---- the report -------------------------------------------------------------------------- */

static int write_report(ns_host *host, const ns_arguments *a, const ns_record *r, int status)
{
    const char *path = ns_command_text(a, "report");
    if (!path || !r->outcome || !r->motion.rows)
        return status;
    ns_report_options page = {.command = ns_page_command(host, a)};
    char message[300], *owned;
    if (!ns_page_template(host, a, &page, &owned))
        return ns_status_exit(NS_ERR_USAGE);
    const bool good = ns_report_write(r, &page, path, message);
    free(owned);
    if (!good)
        return ns_command_failed(host, NS_ERR_IO, "cannot write %s", message);
    if (!host->quiet && !ns_command_flag(a, "json")) {
        if (!r->options.n_outputs)
            ns_style_heading(host->out, &host->style_out, "Written");
        fprintf(host->out, "  %s (report: open it in a browser)\n", path);
    }
    return status;
}

/* ---- running ----------------------------------------------------------------------------- */

static void tell(void *context, const ns_progress *p)
{
    const ns_study_progress *s = context;
    const ns_host_progress now = {.what = s->what,
                                  .fraction = p->fraction,
                                  .at = p->t,
                                  .end = s->end,
                                  .seconds = p->seconds};
    ns_command_progress(s->host, &now);
}

static int report(ns_host *host, const ns_arguments *a, const ns_record *r,
                  const ns_shown *shown)
{
    int status = ns_status_exit(r->status);
    if (r->status < 0 && r->outcome)
        ns_command_wrong(host, "%s (t = %.10g s was reached)", r->message, r->outcome->t);
    ns_summary_warn(host, r);
    if (ns_command_flag(a, "json")) {
        if (!ns_output_json_to(host->out, r))
            status = ns_status_exit(NS_ERR_IO);
    } else if (!host->quiet) {
        if ((ns_command_flag(a, "at") || ns_command_flag(a, "every")) && !r->options.n_outputs)
            ns_summary_rows(host, r, shown);
        ns_summary_print(host, r, shown, ns_command_flag(a, "verbose"));
    }
    return status;
}

/* Memory that ran out on the way to a judgement; what was computed stays as it is. */
static int unjudged(const char *message)
{
    return strncmp(message, "out of memory", 13) == 0 ? ns_status_exit(NS_ERR_MEMORY) : 0;
}

static int judge_digits(ns_host *host, const ns_arguments *a, ns_record *record)
{
    char message[300];
    const bool quad = ns_command_text(a, "digits") != NULL;
    if (record->status >= 0 && !(quad ? ns_digits_judge_quad(record, message, sizeof message)
                                      : ns_digits_judge(record, message, sizeof message))) {
        fprintf(host->err, "noslip: warning: the digits are not known: %s\n", message);
        return unjudged(message);
    }
    return 0;
}

/* Reports say how far the trajectory can be trusted if that takes a second or two; --digits
 * always. */
static int judge_trust(ns_host *host, ns_record *record, bool asked)
{
    static const double short_enough = 2e9;
    char message[300];
    if (record->status < 0 || !record->outcome ||
        record->outcome->t == record->options.run.t0 ||
        (!asked && ns_trust_cost(record) > short_enough))
        return 0;
    if (ns_trust_judge(record, message, sizeof message))
        return 0;
    const int status = unjudged(message);
    if (asked || status)
        fprintf(host->err,
                "noslip: warning: how far to trust the trajectory is not known: %s\n", message);
    return status;
}

/* Options that need or exclude each other. */
static bool options_fit(ns_host *host, const ns_arguments *a)
{
    if (ns_command_flag(a, "live") && !ns_command_flag(a, "report"))
        return ns_command_refuse(host, "--live makes a page of --report live: give both");
    if (!ns_command_flag(a, "periodic") || !ns_command_flag(a, "digits"))
        return true;
    return ns_command_refuse(
        host, "--periodic and --digits exclude each other: the summary of a motion "
              "built from one period states its error");
}

/* --sensitivity NAME,...: the derivatives of the motion become values of the model.  `held`:
 * what --start gives. */
static bool add_sensitivities(ns_host *host, const ns_arguments *a, ns_model *model,
                              const ns_study_words *held)
{
    const char *text = ns_command_text(a, "sensitivity"), *message = "";
    if (!text)
        return true;
    if (ns_command_flag(a, "digits") || ns_command_flag(a, "periodic"))
        return ns_command_refuse(host, "--sensitivity excludes --digits and --periodic");
    const ns_study_words names = ns_study_split(host->arena, text, ',');
    if (!ns_sensitivity_extend(model, names.at, names.n, held->at, held->n, &message))
        return ns_command_refuse(host, "--sensitivity: %s", message);
    if (model->sensitivity->loose && !host->quiet)
        fprintf(host->err, "noslip: note: the start is not determined by what the model gives; "
                           "sensitivities are those of the nearest start\n");
    return true;
}

/* --start NAME=EXPR: other values of states at the start; the rest is made consistent with
 * them, as in a sweep. */
static bool change_start(ns_host *host, const ns_arguments *a, ns_model *model)
{
    ns_study_words names = {0};
    NS_LIST(double) values = {0};
    const char *text, *name, *expression;
    for (uint32_t k = 0; ns_command_each(a, "start", &k, &text);) {
        double value = 0;
        if (!ns_command_pair(host, "--start", "NAME=EXPR", text, &name, &expression) ||
            !ns_study_number(host, model, "--start", expression, &value))
            return false;
        NS_PUSH(host->arena, names, name);
        NS_PUSH(host->arena, values, value);
    }
    if (!names.n)
        return add_sensitivities(host, a, model, &names);
    char reason[300] = "";
    const char *message = reason;
    ns_starter *starter = ns_starter_new(host->arena, model->system,
                                         ns_model_run_options(model).t0, names.at, names.n,
                                         &message);
    if (starter &&
        ns_starter_find(starter, values.at, model->p, model->x0, reason, sizeof reason))
        return add_sensitivities(host, a, model, &names);
    return ns_command_refuse(host, "--start: %s", message);
}

/* Of a chaotic motion derivatives grow until they say nothing about it. */
static void doubt_sensitivities(ns_host *host, const ns_record *r)
{
    uint32_t column = 0;
    double since = 0;
    if (!r->model->sensitivity || !r->last ||
        !ns_sensitivity_useless(r->model, r->last, r->options.run.t0, r->outcome->t, &column,
                                &since))
        return;
    fprintf(
        host->err,
        "noslip: warning: the derivatives say nothing about the true motion beyond about t = "
        "%.3g s: there a change of `%s` in its last digit moves the motion by more than a "
        "thousandth\n",
        since, r->model->sensitivity->label[column]);
}

int ns_run_command_model(ns_host *host, const ns_arguments *a, ns_model *model)
{
    ns_record_options o = ns_record_defaults(model);
    ns_shown shown;
    if (!read_options(host, a, &o) || !ns_page_possible(host, a) || !options_fit(host, a) ||
        !change_start(host, a, model) ||
        !ns_summary_choose(host, model, ns_command_text(a, "show"), &shown)) {
        ns_model_free(model);
        return ns_status_exit(NS_ERR_USAGE);
    }
    o.keep = ns_command_flag(a, "json") || ns_command_flag(a, "digits") ||
             (o.n_outputs == 0 && !host->quiet);
    o.motion = ns_command_flag(a, "report");
    if (ns_command_flag(a, "show")) {
        o.drawn = shown.at;
        o.n_drawn = shown.n;
    }
    o.route = ns_command_flag(a, "periodic") ? &ns_relative_route : NULL;
    ns_study_progress progress = {.host = host, .what = "t", .end = o.run.until};
    o.progress = tell;
    o.context = &progress;
    ns_record *record = ns_record_new(model, &o);
    int status, judged = 0;
    if (!record) {
        ns_command_wrong(host, "out of memory");
        status = ns_status_exit(NS_ERR_MEMORY);
    } else if (record->status != NS_OK) {
        ns_command_wrong(host, "%s", record->message);
        status = ns_status_exit(record->status);
    } else {
        progress.end = record->options.run.until;
        if (o.run.tolerance > 0 && o.run.tolerance < record->options.run.tolerance &&
            !host->quiet)
            fprintf(host->err, "noslip: note: the least tolerance of %s is %g; it is used\n",
                    record->method->name, record->options.run.tolerance);
        ns_command_phase(host, NS_PHASE_RUN);
        ns_record_run(record);
        ns_command_phase(host, NS_PHASE_WRITE);
        if (o.engine == NS_ENGINE_NATIVE && record->native_message[0] && !host->quiet)
            fprintf(host->err, "noslip: note: interpreted, without native code: %s\n",
                    record->native_message);
        if (ns_command_flag(a, "digits"))
            judged = judge_digits(host, a, record);
        if (!model->sensitivity &&
            (ns_command_flag(a, "digits") || ns_command_flag(a, "report")))
            judged |= judge_trust(host, record, ns_command_flag(a, "digits"));
        status = report(host, a, record, &shown);
        doubt_sensitivities(host, record);
        status = judged ? judged : status;
        status = write_report(host, a, record, status);
    }
    ns_record_free(record);
    ns_model_free(model);
    return status;
}

static int run(ns_host *host, const ns_arguments *a)
{
    host->quiet = ns_command_flag(a, "quiet");
    if (!ns_run_command_words(host, a))
        return ns_status_exit(NS_ERR_USAGE);
    int status;
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_READY, &status);
    return model ? ns_run_command_model(host, a, model) : status;
}

const ns_command ns_command_run = {
    .name = "run",
    .summary = "Integrate a model, say how accurate the result is, write files",
    .usage = "MODEL [options]",
    .doc = "MODEL is a file, - for standard input, or the name of a bundled model (see\n"
           "`noslip gallery`) when there is no such file.  What the options leave open is\n"
           "taken from the run block of the model, then from the defaults of the method.\n"
           "\n"
           "The summary and its tables go to standard output, everything else to standard\n"
           "error.  Exit status: 0 done; 1 the motion ended early (everything up to then is\n"
           "kept); 2 the command or the model is wrong; 3 the system failed.",
    .options = options,
    .models = 1,
    .apart = true,
    .least = 1,
    .most = 1,
    .run = run,
};
