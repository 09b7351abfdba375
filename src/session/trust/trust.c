#include "session/trust/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "session/trust/shaken.h"

/* Below this the runs differ by rounding that has not grown yet, above that they have
 * parted. */
static const double quiet = 1e-12, parted = 1e-3 / 2; /* twice over for luck */

double ns_trust_cost(const ns_record *r)
{
    const double slower = r->method->precise ? 100 : 1;
    return 2 * slower * (double)r->outcome->evaluations *
           ns_program_operations(r->model->problem->rhs, NULL);
}

/* ---- sizes ------------------------------------------------------------------------------- */

typedef struct sizes {
    const ns_problem *problem;
    const ns_system *system;
    uint32_t n;
    double *own, *of_vector; /* [n] largest so far */
    double *noise;           /* [n] of the rates, largest so far */
    bool *zero;              /* [n] nothing but rounding so far */
} sizes;

static bool sizes_new(sizes *q, const ns_problem *problem, const ns_system *system)
{
    const uint32_t n = problem->n;
    *q = (sizes){.problem = problem, .system = system, .n = n};
    q->own = calloc(3 * (size_t)n + 1, sizeof *q->own);
    q->zero = calloc(n + (size_t)1, sizeof *q->zero);
    if (!q->own || !q->zero)
        return false;
    q->of_vector = q->own + n;
    q->noise = q->of_vector + n;
    return true;
}

/* Work done is as large as the energy it changes, even where only rounding is done. */
static void sizes_of_work(sizes *q, const ns_outcome *outcome)
{
    const double energy = ns_max(fabs(outcome->energy_first), fabs(outcome->energy_last));
    for (uint32_t i = 0; i < q->n; i++)
        if (isfinite(energy) && strcmp(q->system->states.at[i].unit, "J") == 0)
            q->own[i] = energy;
}

static void sizes_free(sizes *q)
{
    free(q->own);
    free(q->zero);
}

/* With the states x and y of the runs after this much time. */
static void sizes_update(sizes *q, const double *x, const double *y, const double *noise,
                         double elapsed)
{
    static const double least = 1e-8, luck = 1000;
    const uint32_t n = q->n, *source = q->problem->source, *vector = q->problem->vector;
    double *V = q->of_vector;
    for (uint32_t i = 0; i < n; i++) {
        q->own[i] = ns_max(q->own[i], ns_max(fabs(x[i]), fabs(y[i])));
        q->noise[i] = ns_max(q->noise[i], noise[i]);
        V[i] = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        V[vector[i]] = ns_max(V[vector[i]], q->own[i]);
    for (uint32_t i = 0; i < n; i++)
        V[i] = V[vector[i]];
    for (uint32_t i = 0; i < n; i++)
        if (source[i] != UINT32_MAX)
            V[source[i]] = ns_max(V[source[i]], V[i] / elapsed);
    for (uint32_t i = 0; i < n; i++) {
        const double rate = source[i] != UINT32_MAX ? q->noise[source[i]] * elapsed : 0;
        const double rounding = luck * (q->noise[i] + rate) * elapsed;
        q->zero[i] = q->own[i] <= ns_max(least * V[i], rounding);
    }
}

/* What a formulation keeps for itself (the way in which a contact last slipped: of a body that
 * sticks that is rounding) shows in the motion where it matters. */
static bool is_motion(const sizes *q, uint32_t i)
{
    return !q->system->states.at[i].internal;
}

static double separation(const sizes *q, const double *x, const double *y)
{
    double most = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        if (!is_motion(q, i))
            continue;
        const double off = fabs(x[i] - y[i]), size = q->zero[i] ? q->of_vector[i] : q->own[i];
        const bool counts = !q->zero[i] || size > q->own[i];
        if (counts && size > 0 && !(off / size <= most))
            most = off / size;
    }
    return most;
}

/* ---- two runs ---------------------------------------------------------------------------- */

/* Both side by side over the time that was reached. */
static bool follow(const ns_record *r, ns_run *a, ns_run *b, sizes *s, double *work,
                   ns_trust *q, bool *exhausted)
{
    const double t0 = r->options.run.t0, span = r->outcome->t - t0;
    double *x = work, *y = x + s->n;
    for (size_t k = 1; k <= NS_TRUST_POINTS; k++) {
        const double t = t0 + span * (double)k / NS_TRUST_POINTS;
        const ns_status first = ns_run_to(a, t);
        const ns_status second = first == NS_OK ? ns_run_to(b, t) : NS_OK;
        *exhausted = first == NS_ERR_MEMORY || second == NS_ERR_MEMORY;
        if (*exhausted)
            return false;
        if (first != NS_OK || second != NS_OK)
            break; /* an event of one came earlier than that of the other, or nothing is left */
        ns_run_state_at(a, t, x);
        ns_run_state_at(b, t, y);
        sizes_update(s, x, y, ns_run_noise(a), fabs(t - t0));
        q->t[q->n] = t;
        q->off[q->n++] = separation(s, x, y);
    }
    for (uint32_t i = s->n; i-- > 0;)
        if (s->zero[i] && s->own[i] > 0 && is_motion(s, i)) {
            q->zeros++;
            q->first_zero = i;
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

/* Exponential growth: at least a factor 1e5 between rounding and parting, and faster than the
 * fourth power of the time: differences of regular motions grow like the first power, or the
 * second. */
static void judge(ns_trust *q, double t0)
{
    double u[NS_TRUST_POINTS], w[NS_TRUST_POINTS], v[NS_TRUST_POINTS];
    size_t n = 0;
    double most = 0;
    q->until = q->tenfold = (double)NAN;
    for (size_t k = 0; k < q->n; k++) {
        most = ns_max(most, q->off[k]);
        if (isnan(q->until) && most > parted)
            q->until = q->t[k];
        if (most > quiet && most < parted) {
            u[n] = fabs(q->t[k] - t0);
            w[n] = ns_math_log(u[n]);
            v[n++] = ns_math_log(most);
        }
    }
    q->largest = most;
    if (n >= 10 && most > 1e5 * quiet && slope(w, v, n) > 4)
        q->tenfold = ns_math_log(10) / slope(u, v, n);
}

/* The other run, from a start changed in its last bits. */
static ns_run *run_other(const ns_record *r, const ns_problem *problem, double *p, double *x0,
                         ns_status *status, const char **why)
{
    ns_run_options o = r->options.run;
    o.until = r->outcome->t;
    o.fixed_step = 0;
    if (r->method->precise) {
        const ns_exact *exact = ns_model_exact(r->model, true);
        if (!exact)
            return NULL;
        o.tolerance = r->options.run.tolerance * 100;
        o.p_lo = exact->p_lo;
        o.x0_lo = exact->x_lo;
        return ns_run_new(problem, &o, exact->p, exact->x, status, why);
    }
    if (!ns_shaken_start(r->model, 1, p, x0))
        return NULL;
    ns_model *twin = ns_model_twin(r->model, NS_MODEL_SHAKEN);
    if (twin)
        problem = ns_model_problem_for(twin, r->method);
    if (!problem)
        return NULL;
    if (!r->method->needs_jacobian)
        o.method = "gauss";
    o.tolerance = r->method->needs_jacobian ? r->options.run.tolerance / 10 : 1e-17;
    /* short enough to meet what longer steps may have passed over */
    const double part = fabs(o.until - o.t0) / NS_TRUST_POINTS;
    if (!(o.max_step > 0 && o.max_step < part))
        o.max_step = part;
    return ns_run_new(problem, &o, p, x0, status, why);
}

bool ns_trust_judge(ns_record *r, char *message, size_t room)
{
    const ns_problem *problem = ns_model_problem_for(r->model, r->method);
    if (!problem) {
        snprintf(message, room, "out of memory");
        return false;
    }
    const uint32_t n = problem->n, np = problem->np;
    double *work = malloc((3 * (size_t)n + np + 1) * sizeof *work);
    ns_trust *q = calloc(1, sizeof *q);
    sizes s = {0};
    ns_run_options o = r->options.run;
    const char *why = "out of memory";
    ns_status status = NS_ERR_MEMORY;
    ns_run *a = NULL, *b = NULL;
    o.until = r->outcome->t;
    if (work && q && sizes_new(&s, problem, r->model->system) && o.until != o.t0) {
        sizes_of_work(&s, r->outcome);
        const ns_exact *exact = r->method->precise ? ns_model_exact(r->model, false) : NULL;
        double *p = work + 2 * (size_t)n, *x0 = p + np;
        a = ns_run_new(problem, &o, exact ? exact->p : r->model->p,
                       exact ? exact->x : r->model->x0, &status, &why);
        if (a)
            why = "out of memory"; /* unless the other run says otherwise */
        b = a ? run_other(r, problem, p, x0, &status, &why) : NULL;
    }
    bool exhausted = false;
    const bool good = a && b && follow(r, a, b, &s, work, q, &exhausted);
    if (good)
        judge(q, r->options.run.t0);
    else
        snprintf(message, room, "%s",
                 exhausted ? "out of memory"
                 : a && b  ? "the other run ended at once"
                           : why);
    ns_run_free(a);
    ns_run_free(b);
    sizes_free(&s);
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
    char growth[80] = "", zeros[160] = "";
    if (!isnan(q->tenfold))
        snprintf(growth, sizeof growth,
                 "; small differences grow tenfold in about %.2g s, exponentially", q->tenfold);
    if (q->zeros)
        snprintf(zeros, sizeof zeros, "; %.60s%s zero but for rounding",
                 r->model->system->states.at[q->first_zero].name,
                 q->zeros == 1 ? " is" : " and others are");
    if (isnan(q->until))
        snprintf(
            text, room,
            "a run of another accuracy, from a start changed in its last bits, agrees to %.1g "
            "throughout%s%s",
            q->largest, growth, zeros);
    else
        snprintf(
            text, room,
            "right to three digits until %.4g s: there a run of another accuracy, from a start "
            "changed in its last bits, takes another way%s%s",
            q->until, growth, zeros);
}
