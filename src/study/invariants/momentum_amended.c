/* The amended potential on a level of all momentum integrals (Bloch, Marsden and Zenkov 2009,
 * section 6.5).
 *
 * With eta_1 .. eta_m a basis, <p, eta_i(r)> = c_i determines p(r) = Phi(r)^-T c, and the
 * energy is that of one degree of freedom,
 *
 *     G_c(r) r'^2/2 + U_c(r) = h,      U_c(r) = p(r).I_S(r)^-1 p(r)/2 + V(r).
 *
 * So the shape stays where U_c <= h.  Its limits are found from U_c alone, and compared with
 * the turning points of the motion. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "study/invariants/momentum.h"

typedef struct work {
    const ns_system *s;
    const ns_parallel *c;
    const double *p; /* parameters */
    double h, scale; /* energy; what h - U_c is compared with */
    ns_ex U;         /* in r and Phi of the carrier */
} work;

/* U_c in terms of r and the states Phi[e][f] of basis vector f, for p = level at the base. */
static ns_ex amended(const ns_parallel *c, const ns_ex *Phi, const double *level)
{
    const ns_symmetry *y = c->y;
    ns_graph *g = y->d->graph;
    const uint32_t m = c->m;
    ns_ex *M = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)m * m);
    ns_ex *b = NS_NEW_ARRAY(y->d->arena, ns_ex, m), *p = NS_NEW_ARRAY(y->d->arena, ns_ex, m);
    for (uint32_t f = 0; f < m; f++) {
        b[f] = ns_number(g, level[f]);
        for (uint32_t e = 0; e < m; e++)
            M[f * m + e] = Phi[e * m + f];
    }
    ns_solve(g, m, M, b, p);
    ns_ex twice = ns_zero(g);
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t e = 0; e < m; e++)
            twice = ns_add(g, twice, ns_mul(g, y->ISi[a * m + e], ns_mul(g, p[a], p[e])));
    return ns_add(g, ns_mul(g, ns_number(g, 0.5), twice), y->V);
}

/* h - U_c at a state of the carrier */
static double excess(const work *w, const double *x)
{
    double U;
    ns_system_eval(w->c->carrier->system, &w->U, 1, 0, w->p, x, &U);
    return w->h - U;
}

/* The nearest r in one direction where U_c = h; infinite if there is none up to `far`. */
static double limit(const work *w, const ns_momentum *f, double far)
{
    enum { INSIDE = 16, HALVINGS = 60 };
    const uint32_t m = w->c->m, n = w->c->carrier->n;
    double *x = NS_NEW_ARRAY(w->s->arena, double, n);
    x[0] = f->start[0];
    x[1] = far;
    memcpy(x + 2, f->Phi_start, sizeof *x * m * m);
    const bool turning = fabs(excess(w, x)) < 1e-10 * w->scale;
    ns_run_options options = ns_run_defaults();
    ns_status status;
    const char *message;
    options.max_step = 0.05;
    ns_run *run = ns_run_new(w->c->carrier, &options, w->p, x, &status, &message);
    if (!run)
        return far > 0 ? INFINITY : -INFINITY;
    double found = far > 0 ? INFINITY : -INFINITY;
    bool first = true;
    do {
        status = ns_run_step(run);
        const double from = ns_run_last_time(run), to = ns_run_time(run);
        for (int k = 1; k <= INSIDE && isinf(found) && to > from; k++) {
            double a = from + (to - from) * (k - 1) / INSIDE,
                   b = from + (to - from) * k / INSIDE;
            ns_run_state_at(run, b, x);
            const double now = excess(w, x);
            if (first && turning && !(now > 0)) {
                found = f->start[0]; /* it starts at its limit and this side is forbidden */
            } else if (!(now > 0)) {
                for (int i = 0; i < HALVINGS; i++) {
                    const double middle = (a + b) / 2;
                    ns_run_state_at(run, middle, x);
                    *(excess(w, x) > 0 ? &a : &b) = middle;
                }
                ns_run_state_at(run, (a + b) / 2, x);
                found = x[0];
            }
            first = false;
        }
    } while (status == NS_OK && isinf(found) && ns_run_time(run) < 1);
    ns_run_free(run);
    return found;
}

/* Extremes of r along the motion, at its turning points, and the least excess. */
static bool follow(const work *w, const ns_momentum *f, ns_amended *out,
                   const ns_run_options *o, const double *x0, const char **message)
{
    enum { INSIDE = 8, HALVINGS = 60 };
    const ns_system *s = w->s;
    const uint32_t m = w->c->m, n = s->states.n, all = n + m * m;
    const uint32_t place = ns_momentum_state(s, w->c->z[0]);
    ns_ex *eta = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m);
    const ns_system *t = ns_momentum_with_eta(s, f, eta);
    ns_ex *Phi = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m);
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t e = 0; e < m; e++)
            Phi[e * m + i] = eta[i * m + e];
    const ns_ex U = amended(w->c, Phi, f->value), rate = w->c->dz[0];
    double *x = NS_NEW_ARRAY(s->arena, double, all), at, r_rate, before;
    memcpy(x, x0, n * sizeof *x);
    for (uint32_t i = 0; i < m; i++) /* all integrals: eta0 is the unit matrix */
        for (uint32_t e = 0; e < m; e++)
            x[n + i * m + e] = f->Phi_start[e * m + i];
    ns_run_options options = *o;
    options.until = f->until;
    ns_status status;
    ns_run *run = ns_run_new(ns_problem_new(t, false), &options, w->p, x, &status, message);
    if (!run)
        return false;
    out->run_low = out->run_high = x0[place];
    out->least = INFINITY;
    ns_system_eval(t, &rate, 1, options.t0, w->p, x, &before);
    do {
        status = ns_run_step(run);
        const double from = ns_run_last_time(run), to = ns_run_time(run);
        for (int k = 1; k <= INSIDE && to > from; k++) {
            double a = from + (to - from) * (k - 1) / INSIDE,
                   b = from + (to - from) * k / INSIDE;
            ns_run_state_at(run, b, x);
            ns_system_eval(t, &U, 1, b, w->p, x, &at);
            ns_system_eval(t, &rate, 1, b, w->p, x, &r_rate);
            out->least = ns_min(out->least, (w->h - at) / w->scale);
            const double after = r_rate;
            for (int i = 0; i < HALVINGS && before * after < 0; i++) {
                const double middle = (a + b) / 2;
                ns_run_state_at(run, middle, x);
                ns_system_eval(t, &rate, 1, middle, w->p, x, &r_rate);
                *(r_rate * before > 0 ? &a : &b) = middle;
            }
            before = after;
            out->run_low = ns_min(out->run_low, x[place]);
            out->run_high = ns_max(out->run_high, x[place]);
        }
    } while (status == NS_OK && ns_run_time(run) < f->until);
    ns_run_free(run);
    return true;
}

const ns_amended *ns_momentum_amended(const ns_system *s, const ns_momentum *f,
                                      const ns_run_options *run, const double *p,
                                      const double *x0, const char **message)
{
    const ns_parallel *c = f->c;
    const uint32_t m = c->m;
    if (!f->all || c->dim != 1 || c->y->sigma != 1 || !s->energy) {
        *message = "the amended potential needs one shape variable and all integrals";
        return NULL;
    }
    ns_amended *out = NS_NEW(s->arena, ns_amended);
    work w = {.s = s, .c = c, .p = p};
    ns_system_eval(s, &s->energy, 1, run->t0, p, x0, &w.h);
    ns_system_eval(s, &s->kinetic, 1, run->t0, p, x0, &w.scale);
    w.scale = ns_max(fabs(w.h), w.scale);
    w.U = amended(c, c->Phi, f->value);
    out->h = w.h;
    if (!follow(&w, f, out, run, x0, message))
        return NULL;
    const double far = 1 + 3 * (out->run_high - out->run_low);
    out->low = limit(&w, f, -far);
    out->high = limit(&w, f, far);
    out->points = f->points;
    out->r = NS_NEW_ARRAY(s->arena, double, f->points);
    out->U = NS_NEW_ARRAY(s->arena, double, f->points);
    double *x = NS_NEW_ARRAY(s->arena, double, c->carrier->n);
    for (uint32_t k = 0; k < f->points; k++) {
        x[0] = out->r[k] = f->at[k];
        memcpy(x + 2, f->Phi + (size_t)k * m * m, sizeof *x * m * m);
        out->U[k] = w.h - excess(&w, x);
    }
    return out;
}
