#include "session/inputs/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/series/series.h"

int64_t ns_inputs_find(const ns_description *d, const char *name)
{
    for (uint32_t i = 0; i < d->inputs.n; i++)
        if (strcmp(d->inputs.at[i].name, name) == 0)
            return i;
    return -1;
}

bool ns_inputs_change(const ns_description *d)
{
    for (uint32_t i = 0; i < d->inputs.n; i++)
        if (d->inputs.at[i].file || d->inputs.at[i].sampled)
            return true;
    return false;
}

/* A file that the model names lies beside it, one from outside where the program runs. */
static const char *path_of(const ns_model *model, const ns_input *input)
{
    const char *slash = strrchr(model->name, '/');
    if (input->outside || input->file[0] == '/' || !slash)
        return input->file;
    return ns_arena_format(model->arena, "%.*s/%s", (int)(slash - model->name), model->name,
                           input->file);
}

typedef struct changes {
    NS_LIST(ns_schedule_change) list;
    double begin, end;
    const char *of;
} changes;

static bool whole(const ns_model *model, const ns_input *input, const ns_series *s,
                  const double *y)
{
    for (size_t k = 0; k < s->rows; k++)
        if (!isfinite(y[k])) {
            ns_diag_error(model->diag, input->file_span,
                          "%s: the column of the input `%s` has no value at t = %.10g s (row "
                          "%zu); tables have no gaps",
                          s->path, input->name, s->t[k], k + 1);
            return false;
        }
    if (s->rows >= 2)
        return true;
    ns_diag_error(model->diag, input->file_span, "%s: a table has at least two rows", s->path);
    return false;
}

static bool read_table(ns_model *model, const ns_input *input, changes *q)
{
    ns_arena *a = model->arena;
    ns_series s;
    const char *message = "";
    const char *column = input->column ? input->column : input->name;
    const double *y = NULL;
    if (!ns_series_read(a, path_of(model, input), &s, &message) ||
        !(y = ns_series_find(a, &s, column, &message))) {
        ns_diag_error(model->diag, input->file_span, "%s", message);
        return false;
    }
    if (!whole(model, input, &s, y))
        return false;
    const uint32_t width = input->order + 1;
    double *c = NS_NEW_ARRAY(a, double, s.rows * width + 1);
    ns_series_spline(a, s.rows, s.t, y, input->order, c);
    const size_t pieces = input->order ? s.rows - 1 : s.rows;
    for (size_t k = 0; k < pieces; k++) {
        NS_PUSH(a, q->list, (ns_schedule_change){s.t[k], input->param, s.t[k]});
        for (uint32_t i = 0; i < width; i++)
            NS_PUSH(a, q->list,
                    (ns_schedule_change){s.t[k], input->param + 1 + i, c[k * width + i]});
    }
    const double end = input->order ? s.t[s.rows - 1] : (double)INFINITY;
    if (!q->of || s.t[0] > q->begin || end < q->end)
        q->of = ns_arena_format(a, "the table %s of the input `%s`", s.path, input->name);
    q->begin = s.t[0] > q->begin ? s.t[0] : q->begin;
    q->end = end < q->end ? end : q->end;
    return true;
}

static int earlier(const void *a, const void *b)
{
    const ns_schedule_change *p = a, *q = b;
    if (p->t != q->t)
        return p->t < q->t ? -1 : 1;
    return (p->param > q->param) - (p->param < q->param);
}

/* The parameters of tables as they are at the time the model begins at: starts need them. */
static void set_first(ns_model *model, const changes *q, double t0)
{
    ns_description *d = model->description;
    for (uint32_t i = 0; i < q->list.n; i++) {
        const ns_schedule_change *c = &q->list.at[i];
        if (c->t > t0)
            break;
        d->params.at[c->param].value = ns_number(model->system->graph, c->value);
        model->p[c->param] = c->value;
    }
}

bool ns_inputs_read(ns_model *model)
{
    const ns_description *d = model->description;
    changes q = {.begin = -(double)INFINITY, .end = (double)INFINITY};
    bool good = true;
    for (uint32_t i = 0; i < d->inputs.n; i++)
        if (d->inputs.at[i].file)
            good = read_table(model, &d->inputs.at[i], &q) && good;
    if (!good || !ns_inputs_change(d))
        return good;
    if (q.list.n)
        qsort(q.list.at, q.list.n, sizeof *q.list.at, earlier);
    ns_schedule *schedule = NS_NEW(model->arena, ns_schedule);
    schedule->changes = q.list.at;
    schedule->n = q.list.n;
    schedule->begin = q.begin;
    schedule->end = q.end;
    schedule->of = q.of;
    set_first(model, &q, ns_model_run_options(model).t0);
    model->schedule = schedule;
    return true;
}

void ns_inputs_schedule(ns_model *model, const ns_model *of)
{
    ns_arena *a = model->arena;
    const ns_description *d = model->description;
    if (!of->schedule)
        return;
    ns_schedule *q = ns_arena_copy(a, of->schedule, sizeof *q);
    ns_sampling *samplings = NS_NEW_ARRAY(a, ns_sampling, d->inputs.n + 1);
    ns_ex *sample = NS_NEW_ARRAY(a, ns_ex, d->inputs.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->inputs.n; i++) {
        const ns_input *input = &d->inputs.at[i];
        if (!input->sampled)
            continue;
        samplings[n].param = input->param;
        ns_system_eval(model->system, &input->period, 1, 0, model->p, NULL,
                       &samplings[n].period);
        if (!(samplings[n].period > 0))
            ns_diag_error(model->diag, input->span, "the period of the input `%s` is %g s",
                          input->name, samplings[n].period);
        sample[n++] = input->sample;
    }
    q->samplings = samplings;
    q->n_samplings = n;
    q->origin = ns_model_run_options(model).t0;
    if (n)
        q->sample = ns_problem_program(model->system, a, sample, n);
    model->schedule = q;
}
