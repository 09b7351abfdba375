#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/dense.h"
#include "study/control/steer_internal.h"

bool ns_steer_follow(const ns_steer_solver *q, const double *w)
{
    return ns_path_solve(q->p, w) || ns_path_solve(q->p, w);
}

double ns_steer_miss(const ns_steer_solver *q)
{
    double most = 0;
    for (uint32_t i = 0; i < q->k; i++)
        most = ns_max(most, fabs(q->p->g[i]) / (1 + fabs(q->spec->goals[i].low)));
    return most;
}

/* The size of an input that changes a state by about 1 until the end. */
static double size_of(const ns_steer_solver *q, uint32_t i)
{
    const ns_path *p = q->p;
    double *z = NS_NEW_ARRAY(q->a, double, p->n + p->m + 1);
    double *out = NS_NEW_ARRAY(q->a, double, p->first->outputs + 1), most = 0;
    memcpy(z, p->x0, p->n * sizeof *z);
    for (uint32_t j = 0; j < p->m; j++)
        z[p->n + j] = p->flow->p[q->spec->inputs[j]];
    p->flow->t = q->spec->t0;
    ns_flow_eval(p->flow, p->first, z, out);
    for (uint32_t r = 0; r < p->n; r++)
        most = ns_max(most, fabs(out[p->n + (size_t)r * (p->n + p->m) + p->n + i]));
    return isfinite(most) && most > 0 ? 1 / (most * (q->spec->until - q->spec->t0)) : 1;
}

void ns_steer_guess(ns_steer_solver *q, uint32_t number, double *w)
{
    static const double pi = 3.141592653589793;
    const ns_steer_spec *spec = q->spec;
    const uint32_t values = q->p->values;
    for (uint32_t i = 0; i < spec->m; i++) {
        const uint32_t wave = number > 4 ? 1 + number % 3 : number;
        const double size = (number > 4 ? number : number > 2 ? 3 : 1) * size_of(q, i);
        for (uint32_t l = 0; l < values; l++) {
            const double part = (l + (spec->order ? 0 : 0.5)) / spec->pieces;
            double *to = &w[(size_t)i * values + l];
            *to = q->p->flow->p[spec->inputs[i]];
            if (spec->guess)
                ns_system_eval(q->p->flow->system, &spec->guess[i], 1,
                               spec->t0 + part * (spec->until - spec->t0), q->p->flow->p,
                               q->p->x0, to);
            if (number) {
                const double phase = pi * (wave * part * (i % 2 ? 2 : 1) + 0.25 * i * number);
                *to += size * ns_math_cos(phase);
            }
            const double low = spec->low[i], high = spec->high[i];
            if (isfinite(low) && isfinite(high)) /* well inside */
                *to = ns_min(ns_max(*to, low + 0.1 * (high - low)), high - 0.1 * (high - low));
            else
                *to = isfinite(low) ? ns_max(*to, low + 0.1) : ns_min(*to, high - 0.1);
        }
    }
}

static void into_bounds(const ns_steer_solver *q, double *w)
{
    const uint32_t values = q->p->values;
    for (uint32_t j = 0; j < q->M; j++) {
        const double low = q->spec->low[j / values], high = q->spec->high[j / values];
        const double margin = isfinite(high - low) ? 1e-3 * (high - low) : 1e-3;
        w[j] = ns_max(ns_min(w[j], high - margin), low + margin);
    }
}

/* Brings the goals near by damped steps of least norm (Levenberg, Marquardt), whatever the
 * effort: dw = -g_w^T (g_w g_w^T + damping)^-1 g. */
ns_steer_end ns_steer_approach(ns_steer_solver *q)
{
    enum { ROUNDS = 200 };
    const uint32_t M = q->M, k = q->k;
    double damping = 1e-3;
    bool derived = false;
    double *G = NS_NEW_ARRAY(q->a, double, (size_t)k * k + 1);
    double *b = NS_NEW_ARRAY(q->a, double, k + 1), *g = NS_NEW_ARRAY(q->a, double, k + 1);
    for (int round = 0; round < ROUNDS && ns_steer_miss(q) > 1e-6; round++, q->rounds++) {
        if (q->spec->progress && !q->spec->progress(q->spec->context, 0))
            return NS_STEER_STOPPED;
        if (!derived && !ns_path_derive(q->p))
            return NS_STEER_LOST;
        derived = true;
        double trace = 0, before = 0, now = 0;
        ns_flow_multiply_t(k, M, k, q->p->g_w, q->p->g_w, G);
        for (uint32_t i = 0; i < k; i++)
            trace = ns_max(trace, G[(size_t)i * k + i]);
        for (uint32_t i = 0; i < k; i++) {
            G[(size_t)i * k + i] += damping * trace;
            g[i] = q->p->g[i];
            b[i] = -g[i];
            before += g[i] * g[i];
        }
        if (!ns_dense_solve(k, G, 1, b))
            return NS_STEER_STALLED;
        memcpy(q->trial, q->w, M * sizeof *q->w);
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t j = 0; j < M; j++)
                q->trial[j] += b[i] * q->p->g_w[(size_t)i * M + j];
        into_bounds(q, q->trial);
        const bool good = ns_steer_follow(q, q->trial);
        for (uint32_t i = 0; i < k && good; i++)
            now += q->p->g[i] * q->p->g[i];
        if (good && now < before) {
            memcpy(q->w, q->trial, M * sizeof *q->w);
            damping = ns_max(damping / 5, 1e-12);
            derived = false;
            continue;
        }
        memcpy(q->p->g, g, k * sizeof *g);
        damping *= 4;
        if (damping > 1e8)
            return NS_STEER_STALLED;
    }
    return ns_steer_miss(q) <= 1e-6 ? NS_STEER_FOUND : NS_STEER_STALLED;
}
