#include "study/fit/fit.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "base/text.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "session/sensitivity.h"
#include "session/variant.h"

typedef struct fitting {
    ns_arena *a;
    const ns_fit_spec *spec;
    ns_fit *out;
    ns_model *base, *with;      /* the model; with sensitivities */
    const uint32_t *value, *by; /* [columns], [columns][names] among the observables */
    const ns_program *pace;     /* rates of the columns, for offsets; NULL */
    double *pace_work;
    double *J, *r; /* [rows][n], [rows] in units of sigma */
} fitting;

static bool failed(fitting *f, ns_status status, const char *message)
{
    f->out->status = status;
    f->out->message = ns_arena_string(f->a, message, strlen(message));
    return false;
}

/* ---- the model at one set of values ------------------------------------------------------ */

static ns_model *variant_of(fitting *f, const double *q)
{
    ns_variant_value *v = NS_NEW_ARRAY(f->a, ns_variant_value, f->spec->n + 1);
    for (uint32_t i = 0; i < f->spec->n; i++) {
        const char *name = f->spec->names[i];
        v[i] = (ns_variant_value){.name = strncmp(name, "start.", 6) == 0 ? name + 6 : name,
                                  .number = q[i]};
    }
    return ns_variant_new(f->base, v, f->spec->n);
}

/* Values, and with `jacobian` their derivatives, along one experiment. */
static ns_status follow(fitting *f, ns_run *run, uint32_t e, double offset, size_t *row,
                        double *x, double *values)
{
    const ns_fit_spec *spec = f->spec;
    const ns_series *s = &spec->data[e];
    ns_fit *out = f->out;
    const uint32_t n = out->n;
    const char *ignored = "";
    double *pace = NS_NEW_ARRAY(f->a, double, spec->n_columns + 1);
    for (size_t k = 0; k < s->rows; k++) {
        const double t = s->t[k] + offset;
        if (t < spec->run.t0) /* an offset that leads to before the start */
            return NS_ERR_USAGE;
        const ns_status status = ns_run_to(run, t);
        if (ns_run_time(run) < t && status != NS_OK)
            return status;
        ns_run_state_at(run, t, x);
        ns_run_observe(run, t, x, values);
        if (f->pace)
            ns_program_eval1(f->pace, f->pace_work, t, x, pace);
        for (uint32_t c = 0; c < spec->n_columns; c++) {
            const double *d = ns_series_find(f->a, s, spec->columns[c].name, &ignored);
            if (!d || isnan(d[k]))
                continue;
            const double sigma = out->sigma[c];
            double *J = f->J + *row * n;
            memset(J, 0, n * sizeof *J);
            out->t[*row] = s->t[k];
            out->data[*row] = d[k];
            out->model[*row] = values[f->value[c]];
            out->column[*row] = c;
            out->experiment[*row] = e;
            f->r[*row] = (values[f->value[c]] - d[k]) / sigma;
            for (uint32_t j = 0; j < spec->n; j++)
                J[j] = values[f->by[c * spec->n + j]] / sigma;
            if (f->pace)
                J[spec->n + e] = pace[c] / sigma;
            (*row)++;
        }
    }
    return NS_OK;
}

/* Residuals and Jacobian at q; the sum of squares, infinite where there is no such motion. */
static double look(fitting *f, const double *q)
{
    const ns_fit_spec *spec = f->spec;
    ns_model *variant = variant_of(f, q);
    double sum = (double)INFINITY;
    const uint32_t n = f->with->system->states.n;
    double *x0 = NS_NEW_ARRAY(f->a, double, n + 1), *x = NS_NEW_ARRAY(f->a, double, n + 1);
    double *values = NS_NEW_ARRAY(f->a, double, f->with->system->observables.n + 1);
    const char *message = "out of memory";
    size_t row = 0;
    if (!variant || variant->status != NS_OK) {
        message = variant ? variant->messages : message;
    } else if (ns_sensitivity_start(f->with->sensitivity, variant, x0, &message)) {
        ns_status status = NS_OK;
        if (f->pace)
            ns_program_bind1(f->pace, f->pace_work, variant->p);
        for (uint32_t e = 0; e < spec->experiments && status == NS_OK; e++) {
            ns_run_options o = spec->run;
            const ns_series *s = &spec->data[e];
            const double offset = f->pace ? q[spec->n + e] : 0;
            o.until = ns_max(s->t[s->rows - 1] + offset, o.t0);
            o.extremes = false;
            ns_run *run = ns_run_new(f->with->problem, &o, variant->p, x0, &status, &message);
            if (run)
                status = follow(f, run, e, offset, &row, x, values);
            if (run && status != NS_OK)
                message = ns_arena_string(f->a, ns_run_outcome(run)->reason,
                                          strlen(ns_run_outcome(run)->reason));
            ns_run_free(run);
        }
        sum = status == NS_OK ? 0 : sum;
    }
    for (size_t i = 0; i < row && isfinite(sum); i++)
        sum += f->r[i] * f->r[i];
    f->out->rows = isfinite(sum) ? row : f->out->rows;
    if (!isfinite(sum))
        f->out->message = ns_arena_string(f->a, message, strlen(message));
    ns_model_free(variant);
    return isfinite(sum) ? sum : (double)INFINITY;
}

/* ---- Levenberg and Marquardt ------------------------------------------------------------- */

static double low_of(const fitting *f, uint32_t j)
{
    return j < f->spec->n ? f->spec->low[j] : -(double)INFINITY;
}

static double high_of(const fitting *f, uint32_t j)
{
    return j < f->spec->n ? f->spec->high[j] : (double)INFINITY;
}

/* The step of [J; sqrt(damping) D] dq = [-r; 0] in the free q, D the lengths of J's columns. */
static void damped(fitting *f, const bool *is_free, double damping, double *dq)
{
    const uint32_t n = f->out->n;
    const size_t rows = f->out->rows;
    double *A = NS_NEW_ARRAY(f->a, double, (rows + n) * n + 1);
    double *b = NS_NEW_ARRAY(f->a, double, rows + n + 1);
    for (uint32_t j = 0; j < n; j++) {
        double length = 0;
        for (size_t i = 0; i < rows; i++)
            length += f->J[i * n + j] * f->J[i * n + j];
        length = length > 0 ? sqrt(length) : 1;
        for (size_t i = 0; i < rows && is_free[j]; i++)
            A[i * n + j] = f->J[i * n + j] / length;
        A[(rows + j) * n + j] = is_free[j] ? sqrt(damping) : 1;
        dq[j] = length;
    }
    for (size_t i = 0; i < rows; i++)
        b[i] = -f->r[i];
    double *step = NS_NEW_ARRAY(f->a, double, n + 1);
    ns_dense_least(f->a, (uint32_t)rows + n, n, A, b, 1e-14, step);
    for (uint32_t j = 0; j < n; j++)
        dq[j] = is_free[j] ? step[j] / dq[j] : 0;
}

/* At a bound, and the sum falls beyond it? */
static void find_free(const fitting *f, const double *q, bool *is_free)
{
    const uint32_t n = f->out->n;
    for (uint32_t j = 0; j < n; j++) {
        double slope = 0;
        for (size_t i = 0; i < f->out->rows; i++)
            slope += f->J[i * n + j] * f->r[i];
        is_free[j] = !((q[j] <= low_of(f, j) && slope > 0) ||
                       (q[j] >= high_of(f, j) && slope < 0));
    }
}

static bool minimise(fitting *f)
{
    enum { ROUNDS = 200 };
    const uint32_t n = f->out->n;
    double *q = f->out->value, damping = 1e-3;
    double *dq = NS_NEW_ARRAY(f->a, double, n + 1), *next = NS_NEW_ARRAY(f->a, double, n + 1);
    bool *is_free = NS_NEW_ARRAY(f->a, bool, n + 1);
    double sum = look(f, q);
    if (!isfinite(sum))
        return failed(f, NS_ERR_USAGE,
                      ns_arena_format(f->a, "there is no motion with the first values: %s",
                                      f->out->message));
    if (f->out->rows < n)
        return failed(f, NS_ERR_USAGE, "there are fewer measurements than unknowns");
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (f->spec->progress && !f->spec->progress(f->spec->context, (double)round / ROUNDS))
            return failed(f, NS_STOP_INTERRUPT, "interrupted");
        const ns_arena_place mark = ns_arena_mark(f->a);
        double moved = 0;
        find_free(f, q, is_free);
        damped(f, is_free, damping, dq);
        for (uint32_t j = 0; j < n; j++) {
            next[j] = ns_min(ns_max(q[j] + dq[j], low_of(f, j)), high_of(f, j));
            moved = ns_max(moved, fabs(next[j] - q[j]) /
                                      ns_max(fabs(q[j]), 1e-300 + 1e-8 * fabs(dq[j])));
        }
        double *J = f->J, *r = f->r;
        double *J_next = NS_NEW_ARRAY(f->a, double, f->out->rows * n + 1);
        double *r_next = NS_NEW_ARRAY(f->a, double, f->out->rows + 1);
        f->J = J_next;
        f->r = r_next;
        const double trial = look(f, next);
        f->J = J;
        f->r = r;
        f->out->rounds++;
        if (trial <= sum) {
            const bool settled = sum - trial <= 1e-12 * sum;
            memcpy(q, next, n * sizeof *q);
            memcpy(J, J_next, f->out->rows * n * sizeof *J);
            memcpy(r, r_next, f->out->rows * sizeof *r);
            sum = trial;
            damping = ns_max(damping / 10, 1e-14);
            ns_arena_release(f->a, mark);
            if (settled && damping < 1e-6)
                break;
        } else {
            damping *= 10;
            ns_arena_release(f->a, mark);
        }
        if (moved < 1e-13 || damping > 1e12)
            break;
    }
    f->out->chi2 = look(f, q); /* values and residuals are those of the end */
    return true;
}

/* ---- scatter, errors, what cannot be told apart ------------------------------------------ */

/* Root mean squares of what is left, column by column; those given stay. */
static void estimate_sigma(fitting *f)
{
    const ns_fit_spec *spec = f->spec;
    const double freedom = (double)(f->out->rows - f->out->n) / (double)f->out->rows;
    for (uint32_t c = 0; c < spec->n_columns; c++) {
        double sum = 0, count = 0;
        for (size_t i = 0; i < f->out->rows; i++)
            if (f->out->column[i] == c) {
                const double d = f->out->model[i] - f->out->data[i];
                sum += d * d;
                count++;
            }
        if (!(spec->columns[c].sigma > 0) && sum > 0)
            f->out->sigma[c] = sqrt(sum / count / ns_max(freedom, 1 / count));
    }
}

/* Before anything is known: the spread of the data. */
static void first_sigma(fitting *f)
{
    const char *ignored = "";
    for (uint32_t c = 0; c < f->spec->n_columns; c++) {
        double sum = 0, squares = 0, count = 0;
        for (uint32_t e = 0; e < f->spec->experiments; e++) {
            const ns_series *s = &f->spec->data[e];
            const double *d = ns_series_find(f->a, s, f->spec->columns[c].name, &ignored);
            for (size_t k = 0; d && k < s->rows; k++)
                if (!isnan(d[k])) {
                    sum += d[k];
                    squares += d[k] * d[k];
                    count++;
                }
        }
        const double spread =
            count ? sqrt(ns_max(squares / count - sum * sum / count / count, 0.0)) : 0;
        const double given = f->spec->columns[c].sigma;
        f->out->sigma[c] = given > 0 ? given : spread > 0 ? spread : 1;
    }
}

/* V is a direction of relative changes: "m, k in the proportion 1 : 1". */
static const char *direction_text(const fitting *f, const double *v)
{
    const uint32_t n = f->out->n;
    double largest = 0;
    for (uint32_t j = 0; j < n; j++)
        largest = fabs(v[j]) > fabs(largest) ? v[j] : largest;
    ns_text names = ns_text_new(f->a), parts = ns_text_new(f->a);
    uint32_t count = 0;
    for (uint32_t j = 0; j < n; j++)
        if (fabs(v[j]) > 1e-3 * fabs(largest)) {
            ns_text_addf(&names, "%s%s", count ? ", " : "", f->out->name[j]);
            ns_text_addf(&parts, "%s%.3g", count++ ? " : " : "", v[j] / largest);
        }
    return count > 1 ? ns_arena_format(f->a, "%s in the proportion %s", ns_text_string(&names),
                                       ns_text_string(&parts))
                     : ns_arena_format(f->a, "%s alone", ns_text_string(&names));
}

static void judge(fitting *f)
{
    ns_fit *out = f->out;
    const uint32_t n = out->n;
    const size_t rows = out->rows;
    double *A = NS_NEW_ARRAY(f->a, double, rows * n + 1);
    double *sigma = NS_NEW_ARRAY(f->a, double, n + 1);
    double *V = NS_NEW_ARRAY(f->a, double, (size_t)n * n + 1);
    double *cov = NS_NEW_ARRAY(f->a, double, (size_t)n * n + 1);
    double *size = NS_NEW_ARRAY(f->a, double, n + 1);
    find_free(f, out->value, out->bound);
    for (uint32_t j = 0; j < n; j++) {
        out->bound[j] = !out->bound[j];
        size[j] = fabs(out->value[j]) > 0 ? fabs(out->value[j]) : 1;
        for (size_t i = 0; i < rows; i++)
            A[i * n + j] = out->bound[j] ? 0 : f->J[i * n + j] * size[j];
    }
    ns_dense_svd(f->a, (uint32_t)rows, n, A, sigma, V);
    /* derivatives are right to ten digits and more; what is below is none */
    static const double none = 1e-9;
    uint32_t bounded = 0;
    for (uint32_t j = 0; j < n; j++)
        bounded += out->bound[j];
    while (out->rank < n && sigma[out->rank] > none * sigma[0] && sigma[0] > 0)
        out->rank++;
    out->combination = NS_NEW_ARRAY(f->a, const char *, n + 1);
    for (uint32_t k = out->rank; k + bounded < n; k++)
        out->combination[k - out->rank] = direction_text(f, V + (size_t)k * n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 0; k < out->rank; k++)
                cov[i * n + j] += V[k * n + i] * V[k * n + j] / (sigma[k] * sigma[k]) *
                                  size[i] * size[j];
    for (uint32_t i = 0; i < n; i++) {
        double lost = 0;
        for (uint32_t k = out->rank; k + bounded < n; k++)
            lost = ns_max(lost, fabs(V[k * n + i]));
        out->error[i] = lost > 1e-3 || out->bound[i] ? (double)NAN : sqrt(cov[i * n + i]);
        for (uint32_t j = 0; j < n; j++)
            out->correlation[i * n + j] = cov[i * n + j] /
                                          sqrt(cov[i * n + i] * cov[j * n + j]);
    }
    out->rank += bounded;
    memcpy(out->residual, f->r, rows * sizeof *f->r);
}

/* Without the word that the caller says too. */
static const char *words_of(const char *messages)
{
    static const char error[] = "error: ";
    return strncmp(messages, error, sizeof error - 1) == 0 ? messages + sizeof error - 1
                                                           : messages;
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool find_columns(fitting *f)
{
    const ns_fit_spec *spec = f->spec;
    const ns_sensitivity *q = f->with->sensitivity;
    const ns_system *s = f->with->system;
    uint32_t *value = NS_NEW_ARRAY(f->a, uint32_t, spec->n_columns + 1);
    uint32_t *by = NS_NEW_ARRAY(f->a, uint32_t, (size_t)spec->n_columns * spec->n + 1);
    ns_ex *values = NS_NEW_ARRAY(f->with->arena, ns_ex, spec->n_columns + 1);
    for (uint32_t c = 0; c < spec->n_columns; c++) {
        uint32_t i = 0;
        while (i < q->values &&
               strcmp(s->observables.at[q->value[i]].name, spec->columns[c].name) != 0)
            i++;
        if (i == q->values)
            return failed(
                f, NS_ERR_USAGE,
                ns_arena_format(f->a, "the model has no value `%s`", spec->columns[c].name));
        value[c] = q->value[i];
        values[c] = s->observables.at[value[c]].value;
        for (uint32_t j = 0; j < spec->n; j++)
            by[c * spec->n + j] = q->derivative[(size_t)i * q->k + j];
    }
    f->value = value;
    f->by = by;
    if (!spec->offset)
        return true;
    ns_ex *x = ns_system_state_symbols(s, f->with->arena);
    ns_ex *rate = ns_system_state_rates(s, f->with->arena);
    x[s->states.n] = s->time;
    rate[s->states.n] = ns_one(s->graph);
    ns_ex *pace = NS_NEW_ARRAY(f->with->arena, ns_ex, spec->n_columns + 1);
    ns_diff_along(s->graph, values, spec->n_columns, x, rate, s->states.n + (s->time ? 1 : 0),
                  pace);
    f->pace = ns_problem_program(s, f->with->arena, pace, spec->n_columns);
    f->pace_work = NS_NEW_ARRAY(f->a, double, ns_program_work1(f->pace) + 1);
    return true;
}

static double first_value(const ns_model *model, const char *name)
{
    const ns_description *d = model->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (strcmp(d->params.at[i].name, name) == 0)
            return model->p[i];
    name += strncmp(name, "start.", 6) == 0 ? 6 : 0;
    const uint32_t i = ns_system_state_named(model->system, name);
    return i < model->system->states.n ? model->x0[i] : 0;
}

static void make_room(fitting *f)
{
    const ns_fit_spec *spec = f->spec;
    ns_fit *out = f->out;
    ns_arena *a = f->a;
    size_t rows = 0;
    for (uint32_t e = 0; e < spec->experiments; e++)
        rows += spec->data[e].rows * spec->n_columns;
    out->n = spec->n + (spec->offset ? spec->experiments : 0);
    const char **name = NS_NEW_ARRAY(a, const char *, out->n + 1);
    for (uint32_t j = 0; j < out->n; j++)
        name[j] = j < spec->n             ? spec->names[j]
                  : spec->experiments > 1 ? ns_arena_format(a, "offset %u", j - spec->n + 1)
                                          : "offset";
    out->name = name;
    out->value = NS_NEW_ARRAY(a, double, out->n + 1);
    out->error = NS_NEW_ARRAY(a, double, out->n + 1);
    out->bound = NS_NEW_ARRAY(a, bool, out->n + 1);
    out->correlation = NS_NEW_ARRAY(a, double, (size_t)out->n * out->n + 1);
    out->sigma = NS_NEW_ARRAY(a, double, spec->n_columns + 1);
    out->t = NS_NEW_ARRAY(a, double, rows + 1);
    out->data = NS_NEW_ARRAY(a, double, rows + 1);
    out->model = NS_NEW_ARRAY(a, double, rows + 1);
    out->residual = NS_NEW_ARRAY(a, double, rows + 1);
    out->column = NS_NEW_ARRAY(a, uint32_t, rows + 1);
    out->experiment = NS_NEW_ARRAY(a, uint32_t, rows + 1);
    f->J = NS_NEW_ARRAY(a, double, rows * out->n + 1);
    f->r = NS_NEW_ARRAY(a, double, rows + 1);
}

ns_fit *ns_fit_run(ns_arena *arena, ns_model *model, const ns_fit_spec *spec)
{
    fitting f = {.a = arena, .spec = spec, .out = NS_NEW(arena, ns_fit), .base = model};
    ns_text names = ns_text_new(arena);
    f.out->message = "";
    for (uint32_t j = 0; j < spec->n; j++)
        ns_text_addf(&names, "%s%s", j ? "," : "", spec->names[j]);
    make_room(&f);
    for (uint32_t j = 0; j < spec->n; j++)
        f.out->value[j] = ns_min(ns_max(first_value(model, spec->names[j]), spec->low[j]),
                                 spec->high[j]);
    f.with = ns_sensitivity_model(model, ns_text_string(&names));
    if (!f.with || f.with->status != NS_OK)
        failed(&f, NS_ERR_USAGE, f.with ? words_of(f.with->messages) : "out of memory");
    else if (find_columns(&f)) {
        bool estimated = false;
        for (uint32_t c = 0; c < spec->n_columns; c++)
            estimated = estimated || !(spec->columns[c].sigma > 0);
        first_sigma(&f);
        bool good = minimise(&f);
        for (int again = 0; good && estimated && again < 2; again++) {
            estimate_sigma(&f);
            good = minimise(&f);
        }
        if (good)
            judge(&f);
    }
    ns_model_free(f.with);
    return f.out;
}
