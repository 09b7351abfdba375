#include "io/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/shaken.h"

/* Below this the runs differ by rounding that has not grown yet, above that they have parted. */
static const double quiet = 1e-12, parted = 1e-3;

double ns_trust_cost(const ns_record *r)
{
    return 2 * (double)r->outcome->evaluations *
           ns_program_operations(r->model->problem->rhs, NULL);
}

/* Both runs side by side over the time that was reached. */
static bool follow(const ns_record *r, ns_run *a, ns_run *b, double *work, ns_trust *q)
{
    const uint32_t n = r->model->system->states.n;
    const double t0 = r->options.run.t0, span = r->outcome->t - t0;
    double *size = work, *x = work + n, *y = x + n;
    memset(size, 0, n * sizeof *size);
    for (size_t k = 1; k <= NS_TRUST_POINTS; k++) {
        const double t = t0 + span * (double)k / NS_TRUST_POINTS;
        if (ns_run_to(a, t) != NS_OK || ns_run_to(b, t) != NS_OK)
            break; /* an event of one came earlier than that of the other, or nothing is left */
        ns_run_state_at(a, t, x);
        ns_run_state_at(b, t, y);
        double most = 0;
        for (uint32_t i = 0; i < n; i++) {
            size[i] = fmax(size[i], fabs(x[i]));
            if (size[i] > 0)
                most = fmax(most, fabs(x[i] - y[i]) / size[i]);
        }
        q->t[q->n] = t;
        q->off[q->n++] = most;
    }
    return q->n > 1;
}

/* Slope of v over u, least squares. */
static double slope(const double *u, const double *v, size_t n)
{
    double su = 0, sv = 0, uu = 0, uv = 0;
    for (size_t i = 0; i < n; i++) {
        su += u[i] / (double)n;
        sv += v[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        uu += (u[i] - su) * (u[i] - su);
        uv += (u[i] - su) * (v[i] - sv);
    }
    return uv / uu;
}

/* Exponential growth: at least a factor 1e5 between rounding and parting, and faster than the fourth
 * power of the time: differences of regular motions grow like the first power, or the second. */
static void judge(ns_trust *q, double t0)
{
    double u[NS_TRUST_POINTS], w[NS_TRUST_POINTS], v[NS_TRUST_POINTS];
    size_t n = 0;
    double most = 0;
    q->until = q->tenfold = (double)NAN;
    for (size_t k = 0; k < q->n; k++) {
        most = fmax(most, q->off[k]);
        if (isnan(q->until) && most > parted)
            q->until = q->t[k];
        if (most > quiet && most < parted) {
            u[n] = fabs(q->t[k] - t0);
            w[n] = log(u[n]);
            v[n++] = log(most);
        }
    }
    q->largest = most;
    if (n >= 10 && most > 1e5 * quiet && slope(w, v, n) > 4)
        q->tenfold = log(10) / slope(u, v, n);
}

bool ns_trust_judge(ns_record *r, char *message, size_t room)
{
    const uint32_t n = r->model->system->states.n;
    const uint32_t np = r->model->system->description->params.n;
    double *work = malloc((3 * (size_t)n + n + np + 1) * sizeof *work);
    ns_trust *q = calloc(1, sizeof *q);
    ns_run_options o = r->options.run;
    const char *why = "out of memory";
    ns_status status = NS_ERR_MEMORY;
    ns_run *a = NULL, *b = NULL;
    o.until = r->outcome->t;
    if (work && q && o.until != o.t0) {
        double *p = work + 3 * (size_t)n, *x0 = p + np;
        uint64_t seed = 1;
        for (uint32_t i = 0; i < np; i++)
            p[i] = ns_shaken(r->model->p[i], &seed);
        for (uint32_t i = 0; i < n; i++)
            x0[i] = ns_shaken(r->model->x0[i], &seed);
        a = ns_run_new(r->model->problem, &o, r->model->p, r->model->x0, &status, &why);
        if (!r->method->needs_jacobian)
            o.method = "gauss";
        o.tolerance = r->method->needs_jacobian ? r->options.run.tolerance / 10 : 1e-17;
        o.fixed_step = 0;
        if (a)
            b = ns_run_new(r->model->problem, &o, p, x0, &status, &why);
    }
    const bool good = a && b && follow(r, a, b, work, q);
    if (good)
        judge(q, r->options.run.t0);
    else
        snprintf(message, room, "%s", a && b ? "the other run ended at once" : why);
    ns_run_free(a);
    ns_run_free(b);
    free(work);
    if (good)
        r->trust = q;
    else
        free(q);
    return good;
}

void ns_trust_text(const ns_record *r, char *text, size_t room)
{
    const ns_trust *q = r->trust;
    char growth[80] = "";
    if (!isnan(q->tenfold))
        snprintf(growth, sizeof growth,
                 "; small differences grow tenfold in about %.2g s, exponentially", q->tenfold);
    if (isnan(q->until))
        snprintf(
            text, room,
            "a run of another accuracy, from a start changed in its last bits, agrees to %.1g "
            "throughout%s",
            q->largest, growth);
    else
        snprintf(
            text, room,
            "right to three digits until %.4g s: there a run of another accuracy, from a start "
            "changed in its last bits, takes another way%s",
            q->until, growth);
}
