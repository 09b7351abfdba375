/* noslip run: integrate a model, report, write files. */
#include "cli/commands/run.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/page.h"
#include "cli/signals.h"
#include "cli/study.h"
#include "cli/summary.h"
#include "out/formats.h"
#include "out/report/report.h"
#include "session/record.h"
#include "session/start.h"
#include "session/trust/digits.h"
#include "session/trust/trust.h"
#include "study/orbits/relative.h"

static const ns_option options[] = {NS_RUN_OPTIONS, {0}};

/* ---- options ----------------------------------------------------------------------------- */

/* --engine and --precision take a word. */
bool ns_run_command_words(ns_cli *cli, const ns_arguments *a)
{
    ns_record_engine engine;
    const char *precision = ns_command_text(a, "precision");
    const char *digits = ns_command_text(a, "digits");
    if (!ns_study_engine(cli, a, &engine))
        return false;
    if (digits && strcmp(digits, "quad") != 0)
        return ns_command_refuse(cli, "--digits is given alone or as --digits=quad, not '%s'",
                                 digits);
    if (!precision || strcmp(precision, "double") == 0)
        return true;
    if (strcmp(precision, "quad") != 0)
        return ns_command_refuse(cli, "--precision is double or quad, not '%s'", precision);
    const char *method = ns_command_text(a, "method");
    if (!method || strcmp(method, ns_method_quad.name) == 0)
        return true;
    return ns_command_refuse(
        cli, "--precision quad has a method of its own: leave out --method %s", method);
}

static bool positive(ns_cli *cli, const ns_arguments *a, const char *name, double *value)
{
    if (!ns_command_number(cli, a, name, value))
        return false;
    if (!ns_command_flag(a, name) || *value > 0)
        return true;
    return ns_command_refuse(cli, "--%s must be positive, not %s", name,
                             ns_command_text(a, name));
}

static bool read_options(ns_cli *cli, const ns_arguments *a, ns_record_options *o)
{
    double *at;
    size_t n_at;
    if (!ns_study_engine(cli, a, &o->engine) ||
        !ns_command_number(cli, a, "until", &o->run.until) ||
        !positive(cli, a, "tol", &o->run.tolerance) ||
        !ns_command_numbers(cli, a, "at", &at, &n_at) || !positive(cli, a, "every", &o->every))
        return false;
    if (n_at && ns_command_flag(a, "every"))
        return ns_command_refuse(cli, "--at and --every exclude each other");
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
        NS_PUSH(cli->arena, outputs, path);
    o->outputs = outputs.at;
    o->formats = ns_output_formats;
    o->n_outputs = outputs.n;
    return true;
}

/* ---- the report -------------------------------------------------------------------------- */

static int write_report(ns_cli *cli, const ns_arguments *a, const ns_record *r, int status)
{
    const char *path = ns_command_text(a, "report");
    if (!path || !r->outcome || !r->motion.rows)
        return status;
    const ns_report_options page = {.template = ns_page_bytes,
                                    .length = ns_page_length,
                                    .command = ns_page_command(cli, a)};
    char message[300];
    if (!ns_report_write(r, &page, path, message))
        return ns_command_failed(cli, NS_ERR_IO, "cannot write %s", message);
    if (!cli->quiet && !ns_command_flag(a, "json")) {
        if (!r->options.n_outputs)
            ns_terminal_heading(cli->out, &cli->style_out, "Written");
        fprintf(cli->out, "  %s (report: open it in a browser)\n", path);
    }
    return status;
}

/* ---- running ----------------------------------------------------------------------------- */

static void draw(void *context, const ns_progress *p)
{
    ns_terminal_bar_draw(context, p->fraction, p->t, p->seconds);
}

static int report(ns_cli *cli, const ns_arguments *a, const ns_record *r, const ns_shown *shown)
{
    int status = ns_status_exit(r->status);
    if (r->status < 0 && r->outcome)
        ns_command_wrong(cli, "%s (t = %.10g s was reached)", r->message, r->outcome->t);
    ns_summary_warn(cli, r);
    if (ns_command_flag(a, "json")) {
        if (!ns_output_json_to(cli->out, r))
            status = ns_status_exit(NS_ERR_IO);
    } else if (!cli->quiet) {
        if ((ns_command_flag(a, "at") || ns_command_flag(a, "every")) && !r->options.n_outputs)
            ns_summary_rows(cli, r, shown);
        ns_summary_print(cli, r, shown);
    }
    return status;
}

static void judge_digits(ns_cli *cli, const ns_arguments *a, ns_record *record)
{
    char message[300];
    const bool quad = ns_command_text(a, "digits") != NULL;
    if (record->status >= 0 && !(quad ? ns_digits_judge_quad(record, message, sizeof message)
                                      : ns_digits_judge(record, message, sizeof message)))
        fprintf(cli->err, "noslip: warning: the digits are not known: %s\n", message);
}

/* Reports say how far the trajectory can be trusted if that takes a second or two; --digits
 * always. */
static void judge_trust(ns_cli *cli, ns_record *record, bool asked)
{
    static const double short_enough = 2e9;
    char message[300];
    if (record->status < 0 || !record->outcome ||
        (!asked && ns_trust_cost(record) > short_enough))
        return;
    if (!ns_trust_judge(record, message, sizeof message) && asked)
        fprintf(cli->err, "noslip: warning: how far to trust the trajectory is not known: %s\n",
                message);
}

static bool periodic_possible(ns_cli *cli, const ns_arguments *a)
{
    if (!ns_command_flag(a, "periodic") || !ns_command_flag(a, "digits"))
        return true;
    return ns_command_refuse(
        cli, "--periodic and --digits exclude each other: the summary of a motion "
             "built from one period states its error");
}

/* --start NAME=EXPR: other values of states at the start; the rest is made consistent with
 * them, as in a sweep. */
static bool change_start(ns_cli *cli, const ns_arguments *a, ns_model *model)
{
    NS_LIST(const char *) names = {0};
    NS_LIST(double) values = {0};
    const char *text, *name, *expression;
    for (uint32_t k = 0; ns_command_each(a, "start", &k, &text);) {
        double value = 0;
        if (!ns_command_pair(cli, "--start", "NAME=EXPR", text, &name, &expression) ||
            !ns_study_number(cli, model, "--start", expression, &value))
            return false;
        NS_PUSH(cli->arena, names, name);
        NS_PUSH(cli->arena, values, value);
    }
    if (!names.n)
        return true;
    char reason[300] = "";
    const char *message = reason;
    ns_starter *starter = ns_starter_new(
        cli->arena, model->system, ns_model_run_options(model).t0, names.at, names.n, &message);
    if (starter &&
        ns_starter_find(starter, values.at, model->p, model->x0, reason, sizeof reason))
        return true;
    return ns_command_refuse(cli, "--start: %s", message);
}

int ns_run_command_model(ns_cli *cli, const ns_arguments *a, ns_model *model)
{
    ns_record_options o = ns_record_defaults(model);
    ns_shown shown;
    if (!read_options(cli, a, &o) ||
        !ns_summary_choose(cli, model, ns_command_text(a, "show"), &shown) ||
        !ns_page_possible(cli, a) || !periodic_possible(cli, a) ||
        !change_start(cli, a, model)) {
        ns_model_free(model);
        return ns_status_exit(NS_ERR_USAGE);
    }
    o.keep = ns_command_flag(a, "json") || ns_command_flag(a, "digits") ||
             (o.n_outputs == 0 && !cli->quiet);
    o.motion = ns_command_flag(a, "report");
    o.route = ns_command_flag(a, "periodic") ? &ns_relative_route : NULL;
    ns_bar bar = ns_terminal_bar(cli->err, !cli->quiet, "t", o.run.until);
    o.progress = draw;
    o.context = &bar;
    ns_record *record = ns_record_new(model, &o);
    int status;
    if (!record) {
        ns_command_wrong(cli, "out of memory");
        status = ns_status_exit(NS_ERR_MEMORY);
    } else if (record->status != NS_OK) {
        ns_command_wrong(cli, "%s", record->message);
        status = ns_status_exit(record->status);
    } else {
        bar.end = record->options.run.until;
        if (o.run.tolerance > 0 && o.run.tolerance < record->options.run.tolerance &&
            !cli->quiet)
            fprintf(cli->err, "noslip: note: the least tolerance of %s is %g; it is used\n",
                    record->method->name, record->options.run.tolerance);
        ns_signals_catch(true);
        ns_record_run(record);
        ns_terminal_bar_clear(&bar);
        if (o.engine == NS_ENGINE_NATIVE && record->native_message[0] && !cli->quiet)
            fprintf(cli->err, "noslip: note: interpreted, without native code: %s\n",
                    record->native_message);
        if (ns_command_flag(a, "digits"))
            judge_digits(cli, a, record);
        if (ns_command_flag(a, "digits") || ns_command_flag(a, "report"))
            judge_trust(cli, record, ns_command_flag(a, "digits"));
        status = report(cli, a, record, &shown);
        status = write_report(cli, a, record, status);
    }
    ns_record_free(record);
    ns_model_free(model);
    return status;
}

static int run(ns_cli *cli, const ns_arguments *a)
{
    cli->quiet = ns_command_flag(a, "quiet");
    if (!ns_run_command_words(cli, a))
        return ns_status_exit(NS_ERR_USAGE);
    int status;
    ns_model *model = ns_open_model(cli, a, a->words.at[0], NS_MODEL_READY, &status);
    return model ? ns_run_command_model(cli, a, model) : status;
}

const ns_command ns_command_run = {
    .name = "run",
    .summary = "Integrate a model, say how good the result is, write files",
    .usage = "MODEL [options]",
    .doc = "MODEL is a file, - for standard input, or the name of a bundled model (see\n"
           "`noslip gallery`) when there is no such file.  What the options leave open is\n"
           "taken from the run block of the model, then from the defaults of the method.\n"
           "\n"
           "The summary and its tables go to standard output, everything else to standard\n"
           "error.  Exit status: 0 done; 1 the motion ended early (everything up to then is\n"
           "kept); 2 the command or the model is wrong; 3 the system failed.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
