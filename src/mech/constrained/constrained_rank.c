/* What can be said about the constraints of a start with numbers: rank [M; A] (43), rank A,
 * rows that follow from others, and whether what they demand of the accelerations agrees. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/rank.h"
#include "mech/constrained/constrained.h"

void ns_constrained_watch(ns_system *s, const ns_constrained *c)
{
    const ns_dalembert *w = &c->eq;
    ns_rank_watch *watch = NS_NEW(s->arena, ns_rank_watch);
    watch->n = w->n;
    watch->m = w->m;
    const char **names = NS_NEW_ARRAY(s->arena, const char *, w->m + 1);
    for (uint32_t k = 0; k < w->m; k++)
        names[k] = w->constraints[k].name;
    watch->names = names;
    watch->Q = w->Q;
    watch->b = w->b;
    watch->first = w->n; /* see add_states */
    watch->pinv = c->pinv;
    for (uint32_t k = 0; k < w->m + w->n; k++) {
        const ns_sparse_rows *list = k < w->m ? &w->rows : &w->masses;
        const uint32_t row = k < w->m ? k : k - w->m;
        for (uint32_t e = list->start[row]; e < list->start[row + 1]; e++)
            NS_PUSH(
                s->arena, watch->entries,
                (ns_rank_entry){.row = k, .column = list->column[e], .value = list->value[e]});
    }
    ns_rank_prepare(s, watch);
    s->watch = watch;
    watch->event = s->events.n;
    NS_PUSH(s->arena, s->events,
            (ns_event){.name = "rank",
                       .value = ns_one(s->graph),
                       .action = NS_EVENT_RECORD,
                       .watched = true,
                       .meaning = "the rank of the constraints changes"});
}

/* Entries of A and M; dense[]: [A; M] by rows. */
static double *numbers(const ns_system *s, double t, const double *p, const double *x)
{
    const ns_rank_watch *watch = s->watch;
    ns_ex *value = NS_NEW_ARRAY(s->arena, ns_ex, watch->entries.n + 1);
    double *number = NS_NEW_ARRAY(s->arena, double, watch->entries.n + 1);
    for (uint32_t k = 0; k < watch->entries.n; k++)
        value[k] = watch->entries.at[k].value;
    ns_system_eval(s, value, watch->entries.n, t, p, x, number);
    return number;
}

static ns_dependences dependences(const ns_system *s, const double *number, ns_ranks ranks)
{
    const ns_rank_watch *watch = s->watch;
    if (ranks.A == watch->m)
        return (ns_dependences){0};
    double *dense = NS_NEW_ARRAY(s->arena, double, ns_rank_work(watch->n, watch->m));
    ns_rank_fill(watch, number, dense);
    return ns_rank_dependences(s->arena, watch->n, watch->m, dense);
}

/* A row that is a combination of others must demand the same combination of accelerations. */
static bool agree(const ns_system *s, ns_diag *diag, ns_dependences list, double t,
                  const double *p, const double *x)
{
    const ns_constrained *c = s->own;
    const ns_dalembert *w = &c->eq;
    uint32_t m = w->m;
    if (!list.n)
        return true;
    double *b = NS_NEW_ARRAY(s->arena, double, m + 1);
    ns_system_eval(s, w->b, m, t, p, x, b);
    bool good = true;
    for (uint32_t k = 0; k < list.n; k++) {
        const ns_dependence *d = &list.at[k];
        double off = b[d->row], size = fabs(off);
        ns_text from = ns_text_new(s->arena);
        for (uint32_t j = 0; j < d->count; j++) {
            double part = d->share[j] * b[d->from[j]];
            off -= part;
            size = ns_max(size, fabs(part));
            ns_text_addf(&from, "%s`%s`", j ? ", " : "", w->constraints[d->from[j]].name);
        }
        if (fabs(off) <= 1e-7 * ns_max(size, 1e-3))
            continue;
        ns_diag_error(diag, w->constraints[d->row].span,
                      "constraint `%s` contradicts %s: at the start the accelerations they "
                      "demand differ by %.6g",
                      w->constraints[d->row].name,
                      d->count ? ns_text_string(&from) : "the equations (it restricts nothing)",
                      off);
        good = false;
    }
    return good;
}

bool ns_constrained_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                           const double *x)
{
    uint32_t n = s->watch->n;
    const double *number = numbers(s, t0, p, x);
    for (uint32_t k = 0; k < s->watch->entries.n; k++)
        if (!isfinite(number[k])) {
            ns_diag_error(diag, s->description->whole,
                          "the mass matrix or a constraint is not defined at the start");
            return false;
        }
    double *work = NS_NEW_ARRAY(s->arena, double, ns_rank_room(s->watch));
    double *share = NS_NEW_ARRAY(s->arena, double, n + 1);
    ns_ranks ranks = ns_rank_of(s->watch, number, UINT32_MAX, work, share);
    if (ranks.all < n) {
        char text[400];
        ns_rank_names(s, share, text, sizeof text);
        uint32_t most = 0; /* the message points to whose coordinate it is */
        for (uint32_t i = 1; i < n; i++)
            most = share[i] > share[most] ? i : most;
        ns_diag_error(diag, s->description->coordinates.at[most].span,
                      "the accelerations of %s are not determined: rank [M | A^T] is %u, not "
                      "%u; give them a mass or constrain them",
                      text, ranks.all, n);
        return false;
    }
    return agree(s, diag, dependences(s, number, ranks), t0, p, x);
}

void ns_constrained_ranks(const ns_system *s, double t0, const double *p, const double *x,
                          ns_rank_facts *out)
{
    const ns_rank_watch *watch = s->watch;
    uint32_t n = watch->n, m = watch->m;
    const double *number = numbers(s, t0, p, x);
    double *work = NS_NEW_ARRAY(s->arena, double, ns_rank_room(watch));
    ns_ranks ranks = ns_rank_of(watch, number, UINT32_MAX, work, NULL);
    ns_dependences list = dependences(s, number, ranks);
    ns_text *lines = &out->lines;
    NS_PUSH(s->arena, out->at, (ns_rank_fact){.matrix = "A", .rank = ranks.A, .full = m});
    NS_PUSH(s->arena, out->at,
            (ns_rank_fact){.matrix = "[M | A^T]", .rank = ranks.all, .full = n});
    ns_text_addf(lines, "  rank A           %u of %u rows\n", ranks.A, m);
    ns_text_addf(lines, "  rank [M | A^T]   %u of %u coordinates: the accelerations are %s\n",
                 ranks.all, n, ranks.all == n ? "unique" : "NOT unique");
    ns_text_addf(lines, "  freedom          %u accelerations left to the forces\n",
                 n - ranks.A);
    bool *shared = NS_NEW_ARRAY(s->arena, bool, m + 1);
    for (uint32_t k = 0; k < list.n; k++) {
        shared[list.at[k].row] = true;
        for (uint32_t j = 0; j < list.at[k].count; j++)
            shared[list.at[k].from[j]] = true;
    }
    if (list.n) {
        ns_text_addf(lines, "  not unique      ");
        for (uint32_t k = 0; k < m; k++)
            if (shared[k])
                ns_text_addf(lines, " lambda.%s", watch->names[k]);
        ns_text_addf(lines, " (totals such as NAME.reaction are)\n");
    }
    for (uint32_t k = 0; k < list.n; k++) {
        const ns_dependence *d = &list.at[k];
        ns_text_addf(lines, "  %s follows from", watch->names[d->row]);
        for (uint32_t j = 0; j < d->count && j < 8; j++)
            ns_text_addf(lines, "%s %s", j ? "," : "", watch->names[d->from[j]]);
        if (d->count > 8)
            ns_text_addf(lines, " and %u more", d->count - 8);
        ns_text_addf(lines, "%s\n", d->count ? "" : " nothing: it restricts no acceleration");
    }
}
