/* A record of a motion that is periodic up to a symmetry (study/orbits/relative.h): x(t + k T)
 * = h^k x(t).
 *
 * One period is integrated, once for what is known about its quality and once for every batch
 * of output times, in the order of their places in the period; powers of h carry the states to
 * their times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/output.h"
#include "session/record_internal.h"
#include "study/orbits/relative.h"

enum { BATCH = 1 << 15 };

static void find_period(ns_record *r)
{
    const ns_record_options *o = &r->options;
    const ns_problem *problem = ns_model_problem(r->model, true);
    if (o->motion || o->checkpoint || o->resume)
        ns_record_fail(r, NS_ERR_USAGE,
                       "a motion built from one period has no report, no picture and no "
                       "checkpoint");
    else if (r->method->precise)
        ns_record_fail(r, NS_ERR_USAGE,
                       "a motion built from one period is computed in double precision");
    else if (!(o->run.until > o->run.t0))
        ns_record_fail(r, NS_ERR_USAGE, "a motion built from one period runs forwards");
    r->own = ns_arena_new();
    if (!r->own || !problem)
        ns_record_fail(r, NS_ERR_MEMORY, "out of memory");
    if (r->status != NS_OK)
        return;
    ns_flow *flow = ns_flow_new(r->own, problem, o->run.t0, r->model->p, r->model->x0);
    const ns_generators *g = ns_generators_find(flow, r->model->x0);
    r->relative = ns_relative_find(r->own, flow, g, &o->run, r->model->x0);
    if (!r->relative->found)
        ns_record_fail(
            r, NS_ERR_USAGE,
            "the motion is not periodic, also not up to the symmetries found (%u): %s",
            g->count, r->relative->message);
}

typedef struct place {
    double rest;
    uint64_t k;
    uint32_t number; /* in the batch */
} place;

static int by_rest(const void *a, const void *b)
{
    const double x = ((const place *)a)->rest, y = ((const place *)b)->rest;
    return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = ((const place *)a)->number, y = ((const place *)b)->number;
    return (x > y) - (x < y);
}

/* One more run of the period. */
static ns_run *begin(ns_record *r)
{
    ns_run_options options = r->options.run;
    ns_status status = NS_OK;
    const char *message = "";
    options.until = options.t0 + r->relative->period;
    ns_run *run = ns_run_new(ns_model_problem(r->model, r->method->needs_jacobian), &options,
                             r->model->p, r->model->x0, &status, &message);
    if (!run)
        ns_record_fail(r, status ? status : NS_ERR_MEMORY, "%s", message);
    return run;
}

/* States of the places, x[number][n]. */
static bool visit(ns_record *r, place *at, uint32_t count, double *x)
{
    const uint32_t n = r->model->system->states.n;
    ns_run *run = begin(r);
    if (!run)
        return false;
    qsort(at, count, sizeof *at, by_rest);
    ns_status status = NS_OK;
    for (uint32_t i = 0; i < count && status == NS_OK; i++) {
        const double t = r->options.run.t0 + at[i].rest;
        status = ns_run_to(run, t);
        ns_run_state_at(run, t, x + (size_t)at[i].number * n);
    }
    if (status != NS_OK)
        ns_record_fail(r, status, "%s", ns_run_outcome(run)->reason);
    ns_run_free(run);
    qsort(at, count, sizeof *at, by_number);
    return status == NS_OK;
}

/* h^k, kept while k stays the same. */
typedef struct power {
    ns_affine *h;
    uint64_t k;
} power;

static void carry(const ns_record *r, power *p, uint64_t k, const double *x, double *y)
{
    if (p->k != k) {
        ns_affine_power(r->own, r->relative->h, k, p->h);
        p->k = k;
    }
    ns_affine_apply(p->h, x, y);
}

/* Rows of the output times from..to, or of the end alone. */
static void rows(ns_record *r, power *p, size_t from, size_t to, place *at, double *x)
{
    const uint32_t n = r->model->system->states.n, count = (uint32_t)(to - from);
    for (uint32_t i = 0; i < count; i++) {
        const double t = r->n_times ? ns_record_time(r, from + i) : r->options.run.until;
        at[i].number = i;
        at[i].k = ns_relative_periods(r->relative, r->options.run.t0, t, &at[i].rest);
    }
    if (!visit(r, at, count, x))
        return;
    for (uint32_t i = 0; i < count && r->status == NS_OK; i++) {
        carry(r, p, at[i].k, x + (size_t)i * n, r->x);
        ns_record_add_row(r, r->n_times ? ns_record_time(r, from + i) : r->options.run.until,
                          r->x);
    }
    r->next_time = to;
}

/* Quality and events of the first period; the end of the whole. */
static void finish(ns_record *r, power *p)
{
    ns_run *run = begin(r);
    if (!run)
        return;
    ns_run_free(r->run);
    r->run = run;
    const ns_status status = ns_run_to(run, r->options.run.t0 + r->relative->period);
    const double end = r->options.run.until;
    double rest;
    const uint64_t k = ns_relative_periods(r->relative, r->options.run.t0, end, &rest);
    place at = {.rest = rest, .k = k};
    if (!visit(r, &at, 1, r->x))
        return;
    double *y = NS_NEW_ARRAY(r->own, double, r->model->system->states.n + 1);
    carry(r, p, k, r->x, y);
    ns_run_observe(run, end, y, r->last);
    r->whole = *ns_run_outcome(run);
    r->whole.t = end;
    r->outcome = &r->whole;
    if (status != NS_OK)
        ns_record_fail(r, status, "%s", r->whole.reason);
}

static void all_rows(ns_record *r)
{
    const double began = ns_clock_seconds();
    const uint32_t n = r->model->system->states.n;
    power p = {.h = ns_affine_new(r->own, n)};
    const size_t all = r->n_times ? r->n_times : 1;
    const size_t room = all < BATCH ? all : BATCH;
    place *at = NS_NEW_ARRAY(r->own, place, room);
    double *x = NS_NEW_ARRAY(r->own, double, room * n + 1);
    for (size_t from = 0; from < all && r->status == NS_OK; from += BATCH) {
        rows(r, &p, from, from + BATCH < all ? from + BATCH : all, at, x);
        if (!r->options.keep)
            ns_record_write(r, (double)INFINITY);
    }
    if (r->status == NS_OK)
        finish(r, &p);
    r->seconds = ns_clock_seconds() - began;
}

const ns_record_route ns_relative_route = {.begin = find_period, .run = all_rows};
