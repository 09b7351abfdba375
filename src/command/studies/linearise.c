/* noslip linearise: linear models about steady motions and along motions, and regulators. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/studies/matrices.h"
#include "command/study.h"
#include "expr/diff.h"
#include "study/steady/equilibria.h"

typedef struct job {
    ns_host *host;
    const ns_arguments *a;
    ns_model *model;
    ns_flow *flow;
    ns_linearise_spec spec;
    double *at; /* times */
    size_t n_at;
    ns_linear_set set; /* n_at, at least 1 */
    double *Q, *R;
} job;

/* ---- what is asked for ------------------------------------------------------------------- */

/* A value of the model by its name; NAME' is its rate where the model has no such value. */
static bool find_value(job *j, const char *option, const char *name, ns_linear_value *out)
{
    const ns_system *s = j->model->system;
    int64_t found = ns_model_observable(j->model, name);
    const size_t length = strlen(name);
    const bool rate = found < 0 && length > 1 && name[length - 1] == '\'';
    if (rate)
        found = ns_model_observable(j->model,
                                    ns_arena_string(j->host->arena, name, length - 1));
    if (found < 0) {
        const char *nearest = ns_model_nearest_observable(j->model, name);
        return ns_command_refuse(j->host, "%s: `%s` is not a value of the model%s%s%s", option,
                                 name, nearest ? "; did you mean `" : "",
                                 nearest ? nearest : "", nearest ? "`?" : "");
    }
    const ns_observable *o = &s->observables.at[found];
    *out = (ns_linear_value){name, rate ? "" : o->unit, o->value};
    if (!rate)
        return true;
    ns_ex *x = ns_system_state_symbols(s, j->host->arena);
    ns_ex *f = ns_system_state_rates(s, j->host->arena);
    x[s->states.n] = s->time;
    f[s->states.n] = ns_one(s->graph);
    ns_diff_along(s->graph, &o->value, 1, x, f, s->states.n + (s->time ? 1 : 0), &out->value);
    return true;
}

static bool read_values(job *j, const char *option, const ns_linear_value **list, uint32_t *n)
{
    const char *text = ns_command_text(j->a, option);
    if (!text)
        return true;
    const ns_study_words words = ns_study_split(j->host->arena, text, ',');
    ns_linear_value *value = NS_NEW_ARRAY(j->host->arena, ns_linear_value, words.n + 1);
    for (uint32_t i = 0; i < words.n; i++)
        if (!find_value(j, ns_arena_format(j->host->arena, "--%s", option), words.at[i],
                        &value[i]))
            return false;
    *list = value;
    *n = words.n;
    return true;
}

/* Inputs and parameters that are named, or all inputs with a constant value. */
static bool read_inputs(job *j)
{
    const char *text = ns_command_text(j->a, "inputs");
    const ns_study_words words = text ? ns_study_split(j->host->arena, text, ',')
                                      : ns_study_inputs(j->host, j->model);
    uint32_t *list = NS_NEW_ARRAY(j->host->arena, uint32_t, words.n + 1);
    for (uint32_t k = 0; k < words.n; k++)
        if (!ns_study_input(j->host, j->model, words.at[k], &list[k]))
            return false;
    j->spec.inputs = list;
    j->spec.m = words.n;
    return true;
}

/* --weights NAME=W,...: of states and inputs in the cost; 1 where nothing is said. */
static bool read_weights(job *j, const ns_linear_model *l)
{
    j->Q = NS_NEW_ARRAY(j->host->arena, double, l->n + 1);
    j->R = NS_NEW_ARRAY(j->host->arena, double, l->m + 1);
    for (uint32_t i = 0; i < l->n; i++)
        j->Q[i] = 1;
    for (uint32_t i = 0; i < l->m; i++)
        j->R[i] = 1;
    const char *text = ns_command_text(j->a, "weights"), *name;
    const ns_study_words words = text ? ns_study_split(j->host->arena, text, ',')
                                      : (ns_study_words){0};
    for (uint32_t k = 0; k < words.n; k++) {
        double value = 0, *weight = NULL;
        if (!ns_study_parts(j->host, j->model, "--weights", "NAME=VALUE", words.at[k], 1, &name,
                            &value))
            return false;
        bool input = false;
        for (uint32_t i = 0; i < l->n; i++)
            if (strcmp(l->state[i].name, name) == 0)
                weight = &j->Q[i];
        for (uint32_t i = 0; i < l->m && !weight; i++)
            if (strcmp(l->input[i], name) == 0) {
                weight = &j->R[i];
                input = true;
            }
        if (!weight)
            return ns_command_refuse(j->host,
                                     "--weights: `%s` is neither a state nor an input of the "
                                     "linear model",
                                     name);
        if (!(value >= 0) || (input && !(value > 0)))
            return ns_command_refuse(j->host, "--weights: the weight of `%s` must be %s", name,
                                     input ? "positive" : "positive or zero");
        *weight = value;
    }
    return true;
}

static bool read_spec(job *j)
{
    ns_host *host = j->host;
    const char *path = ns_command_text(j->a, "matrices");
    if (path && !ns_matrices_know(path))
        return ns_command_refuse(
            host, "--matrices %s: the name must end in .m (Octave), .npz (NumPy) or .json",
            path);
    if (!ns_command_numbers(host, j->a, "at", &j->at, &j->n_at) ||
        !read_values(j, "states", &j->spec.states, &j->spec.n) ||
        !read_values(j, "outputs", &j->spec.outputs, &j->spec.k) || !read_inputs(j))
        return false;
    const double t0 = ns_model_run_options(j->model).t0;
    for (size_t i = 0; i < j->n_at; i++)
        if (!(j->at[i] >= (i ? j->at[i - 1] : t0)))
            return ns_command_refuse(host, "--at: times must ascend from %g s on", t0);
    if (j->n_at && ns_command_flag(j->a, "steady"))
        return ns_command_refuse(host, "--at and --steady exclude each other");
    const bool lqr = ns_command_flag(j->a, "lqr");
    if (lqr && j->n_at > 1)
        return ns_command_refuse(host, "--lqr needs one linear model; --at names %zu", j->n_at);
    if (lqr && !j->spec.m)
        return ns_command_refuse(host, "--lqr needs an input; the model has none (--inputs)");
    if (ns_command_flag(j->a, "weights") && !lqr)
        return ns_command_refuse(host, "--weights goes with --lqr");
    return true;
}

/* ---- the work ---------------------------------------------------------------------------- */

/* The state to linearise about: the start, the steady motion nearest to it. */
static bool first_state(job *j, double *x)
{
    memcpy(x, j->model->x0, j->flow->n * sizeof *x);
    if (!ns_command_flag(j->a, "steady"))
        return true;
    const ns_steady_spec spec = {.over = UINT32_MAX};
    ns_steady_point point = {0};
    ns_steady *q = ns_steady_new(j->host->arena, j->flow, &spec, x);
    if (!q)
        return ns_command_refuse(j->host, "time enters the equations of this model: it has no "
                                          "steady motions");
    if (!ns_steady_find(q, x, &point))
        return ns_command_refuse(j->host,
                                 "no steady motion found from the start: Newton's method "
                                 "stopped after %u rounds with a remaining acceleration of "
                                 "%.2g of its terms",
                                 point.rounds, point.residual);
    memcpy(x, point.x, j->flow->n * sizeof *x);
    return true;
}

/* States at the times of --at: x[n_at][n]. */
static bool states_at(job *j, double *x)
{
    const uint32_t n = j->flow->n;
    ns_run_options options = ns_model_run_options(j->model);
    ns_status status = NS_OK;
    const char *message = "";
    options.until = j->at[j->n_at - 1];
    if (options.until == options.t0)
        return true;
    const ns_problem *problem = ns_model_problem(j->model, false);
    ns_run *run = problem ? ns_run_new(problem, &options, j->model->p, j->model->x0, &status,
                                       &message)
                          : NULL;
    if (!run)
        return ns_command_refuse(j->host, "%s", problem ? message : "out of memory");
    for (size_t i = 0; i < j->n_at && status == NS_OK; i++) {
        double *to = x + i * n;
        memcpy(to, j->model->x0, n * sizeof *to);
        if (j->at[i] == options.t0)
            continue;
        status = ns_run_time(run) < j->at[i] || i == 0 ? ns_run_to(run, j->at[i]) : NS_OK;
        if (status == NS_OK || ns_run_time(run) >= j->at[i]) {
            status = NS_OK;
            ns_run_state_at(run, j->at[i], to);
        } else
            ns_command_refuse(j->host, "the motion ends at t = %.10g s: %s", ns_run_time(run),
                              ns_run_outcome(run)->reason);
    }
    ns_run_free(run);
    return status == NS_OK;
}

/* Along a steady motion the values must change uniformly, or the matrices do not stay. */
static bool stays(const job *j, const ns_linear_model *l)
{
    double size = 0;
    for (uint32_t i = 0; i < l->n; i++)
        size = ns_max(size, fabs(l->rate[i]));
    for (uint32_t i = 0; i < l->n; i++)
        if (fabs(l->second[i]) > 1e-7 * ns_max(size, 1))
            return ns_command_refuse(
                j->host,
                "the value `%s` does not change uniformly along the steady motion: the "
                "matrices "
                "would change with time; choose values that stay (--states)",
                l->state[i].name);
    return true;
}

static bool compute(job *j)
{
    ns_host *host = j->host;
    const uint32_t n = j->flow->n;
    const char *message = "";
    j->set.n = j->n_at ? (uint32_t)j->n_at : 1;
    double *x = NS_NEW_ARRAY(host->arena, double, (size_t)j->set.n * n + 1);
    j->set.arena = host->arena;
    j->set.at = NS_NEW_ARRAY(host->arena, ns_linear_model *, j->set.n + 1);
    if (!first_state(j, x) || (j->n_at && !states_at(j, x)))
        return false;
    ns_linearise *q = ns_linearise_new(host->arena, j->flow, &j->spec, x, &message);
    if (!q)
        return ns_command_refuse(host, "%s", message);
    for (uint32_t i = 0; i < j->set.n; i++) {
        if (j->n_at)
            j->flow->t = j->at[i];
        j->set.at[i] = ns_linearise_at(q, host->arena, x + (size_t)i * n, &message);
        if (!j->set.at[i])
            return ns_command_refuse(host, "%s", message);
    }
    if (ns_command_flag(j->a, "steady") && !stays(j, j->set.at[0]))
        return false;
    return !ns_command_flag(j->a, "lqr") || read_weights(j, j->set.at[0]);
}

/* ---- what is shown ----------------------------------------------------------------------- */

static void print_matrix(const job *j, const ns_linear_model *l, const ns_matrix *m)
{
    if (!m->rows || !m->columns)
        return;
    ns_style_heading(j->host->out, &j->host->style_out, m->name);
    int width = 4;
    for (uint32_t i = 0; i < m->rows; i++)
        width = ns_style_wider(width, ns_matrix_name(l, m->rows_are, i));
    fprintf(j->host->out, "  %-*s", width, "");
    for (uint32_t k = 0; k < m->columns; k++)
        fprintf(j->host->out, " %16s", ns_matrix_name(l, m->columns_are, k));
    fputc('\n', j->host->out);
    for (uint32_t i = 0; i < m->rows; i++) {
        fprintf(j->host->out, "  %-*s", width, ns_matrix_name(l, m->rows_are, i));
        for (uint32_t k = 0; k < m->columns; k++)
            fprintf(j->host->out, " %16.9g", m->at[(size_t)i * m->columns + k]);
        fputc('\n', j->host->out);
    }
}

static void print_modes(const job *j, const char *title, uint32_t n, const ns_eigenvalue *e)
{
    ns_style_heading(j->host->out, &j->host->style_out, title);
    for (uint32_t i = 0; i < n; i++)
        if (e[i].im == 0)
            fprintf(j->host->out, "  % .15g\n", e[i].re);
        else if (e[i].im > 0)
            fprintf(j->host->out, "  % .15g +- %.15g i\n", e[i].re, e[i].im);
}

static void print(const job *j, uint32_t i)
{
    ns_host *host = j->host;
    const ns_linear_model *l = j->set.at[i];
    const bool steady = ns_command_flag(j->a, "steady");
    if (steady)
        ns_study_title(host, j->model, "linear model about a steady motion");
    else
        ns_study_title(host, j->model, "linear model at t = %.10g s", l->t);
    fprintf(host->out, "  %u states, %u inputs, %u outputs\n", l->n, l->m, l->k);
    if (l->m)
        fprintf(host->out, "  the inputs reach %u of %u dimensions%s\n", l->controllable, l->n,
                l->controllable == l->n ? ": controllable" : "");
    fprintf(host->out, "  the outputs show %u of %u dimensions%s\n", l->observable, l->n,
            l->observable == l->n ? ": observable" : "");
    ns_matrix m[NS_MATRICES];
    const uint32_t n = ns_matrices_of(&j->set, i, m);
    for (uint32_t k = 0; k < n; k++)
        if (k < 2 || k > 3 || j->spec.k)
            print_matrix(j, l, &m[k]);
    print_modes(j, "Eigenvalues of A (1/s)", l->n, l->mode);
    if (!j->set.lqr)
        return;
    print_modes(j, "Eigenvalues of A - B K (1/s)", l->n, j->set.lqr->mode);
    fprintf(host->out, "  the Riccati equation holds to %.1e of its terms\n",
            j->set.lqr->residual);
}

static void add_matrix(const job *j, ns_sheet *sheet, uint32_t which)
{
    ns_matrix m[NS_MATRICES];
    ns_matrices_of(&j->set, 0, m);
    const uint32_t rows = m[which].rows, columns = m[which].columns;
    ns_sheet_table *t = ns_sheet_add(sheet, m[which].name, (size_t)rows * j->set.n);
    double *time = j->n_at ? ns_sheet_numbers(sheet, t, "t", "s") : NULL;
    const char **name = ns_sheet_words(sheet, t, "row");
    for (uint32_t k = 0; k < columns; k++) {
        double *column = ns_sheet_numbers(
            sheet, t, ns_matrix_name(j->set.at[0], m[which].columns_are, k), "");
        for (uint32_t i = 0; i < j->set.n; i++) {
            ns_matrices_of(&j->set, i, m);
            for (uint32_t r = 0; r < rows; r++)
                column[(size_t)i * rows + r] = m[which].at[(size_t)r * columns + k];
        }
    }
    for (uint32_t i = 0; i < j->set.n; i++)
        for (uint32_t r = 0; r < rows; r++) {
            name[(size_t)i * rows + r] = ns_matrix_name(j->set.at[i], m[which].rows_are, r);
            if (time)
                time[(size_t)i * rows + r] = j->set.at[i]->t;
        }
}

static void add_modes(ns_sheet *sheet, const char *name, uint32_t n, const ns_eigenvalue *e)
{
    ns_sheet_table *t = ns_sheet_add(sheet, name, n);
    double *re = ns_sheet_numbers(sheet, t, "re", "1/s");
    double *im = ns_sheet_numbers(sheet, t, "im", "1/s");
    for (uint32_t i = 0; i < n; i++) {
        re[i] = e[i].re;
        im[i] = e[i].im;
    }
}

static ns_sheet *make_sheet(const job *j)
{
    const ns_linear_model *l = j->set.at[0];
    ns_sheet *sheet = ns_sheet_new(j->host->arena, "linearise", j->model->description->title);
    ns_sheet_text(sheet, "status", "done");
    ns_sheet_number(sheet, "states", l->n);
    ns_sheet_number(sheet, "inputs", l->m);
    ns_sheet_number(sheet, "outputs", l->k);
    ns_sheet_number(sheet, "controllable", l->controllable);
    ns_sheet_number(sheet, "observable", l->observable);
    if (j->set.lqr)
        ns_sheet_number(sheet, "residual", j->set.lqr->residual);
    for (uint32_t k = 0; k < 4; k++)
        add_matrix(j, sheet, k);
    add_modes(sheet, "eigenvalues", l->n, l->mode);
    if (j->set.lqr) {
        add_matrix(j, sheet, 4);
        add_matrix(j, sheet, 5);
        add_modes(sheet, "closed", l->n, j->set.lqr->mode);
    }
    return sheet;
}

static int write_matrices(const job *j)
{
    const char *path = ns_command_text(j->a, "matrices");
    const int error = path ? ns_matrices_write(&j->set, path) : 0;
    if (error)
        return ns_command_failed(j->host, NS_ERR_IO, "cannot write %s: %s", path,
                                 strerror(error));
    return 0;
}

static int linearise(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    const char *message = "";
    job j = {.host = host, .a = a};
    if (!ns_study_open(host, a, false, &j.model, &j.flow, &status))
        return status;
    if (read_spec(&j) && compute(&j)) {
        if (ns_command_flag(a, "lqr"))
            j.set.lqr = ns_lqr_solve(host->arena, j.set.at[0], j.Q, j.R, &message);
        const bool failed = ns_command_flag(a, "lqr") && !j.set.lqr;
        if (failed)
            ns_command_wrong(host, "%s", message);
        for (uint32_t i = 0; i < j.set.n && ns_study_prints(host, a); i++)
            print(&j, i);
        status = ns_study_finish(host, a, j.model, make_sheet(&j), NULL);
        status = status ? status : write_matrices(&j);
        status = status ? status : failed;
    }
    ns_model_free(j.model);
    return status;
}

static const ns_option options[] = {
    {.name = "states",
     .argument = "NAME,...",
     .help = "values whose deviations are the states (states of the model); NAME' is a rate"},
    {.name = "inputs",
     .argument = "NAME,...",
     .help = "inputs or parameters (all inputs of the model)"},
    {.name = "outputs", .argument = "NAME,...", .help = "values that are seen (the states)"},
    {.name = "steady", .help = "about the steady motion nearest to the start"},
    {.name = "at", .argument = "T1,T2,...", .help = "at these times along the motion"},
    {.name = "lqr", .help = "the feedback u = -K z of least quadratic cost"},
    {.name = "weights",
     .argument = "NAME=W,...",
     .help = "weights of states and inputs in that cost (1)"},
    {.name = "matrices", .argument = "FILE", .help = "write the matrices (.m, .npz, .json)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_linearise = {
    .name = "linearise",
    .summary = "Linear models with inputs and outputs, controllability, regulators",
    .usage = "MODEL [--states NAME,...] [--inputs NAME,...] [--outputs NAME,...]\n"
             "                 [--steady | --at T1,T2,...] [--lqr [--weights NAME=W,...]] "
             "[--matrices FILE]",
    .doc =
        "Exact matrices of z' = A z + B u, y = C z + D u for deviations from a motion: at the\n"
        "start, at times along the motion, or about a steady motion.  The values z may be any\n"
        "that determine their own rates; a message names what is missing.  --lqr minimises\n"
        "the integral of sum w z^2 + sum w u^2.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = linearise,
};
