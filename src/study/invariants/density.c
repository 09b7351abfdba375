#include "study/invariants/density.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "mech/common/dense.h"
#include "study/invariants/integrals_internal.h"
#include "study/orbits/section.h"

/* What is left of the divergence counts as nothing below this. */
static const double nothing = 1e-10;

typedef struct exponent {
    int above, below;
} exponent;

/* Densities are often roots: of a determinant, of a moment of inertia. */
static const exponent exponents[] = {{1, 1},  {-1, 1}, {1, 2},  {-1, 2}, {2, 1},
                                     {-2, 1}, {3, 2},  {-3, 2}, {3, 1},  {-3, 1},
                                     {1, 3},  {-1, 3}, {1, 4},  {-1, 4}};

static uint32_t degree_of(const ns_integrals_work *w, uint32_t term)
{
    uint32_t degree = 0;
    for (uint32_t i = 0; i < w->atoms; i++)
        degree += w->power[(size_t)term * w->atoms + i];
    return degree;
}

/* At some configurations: the part of div that is not a combination of the rates of the
 * variables. */
static double pointwise(ns_integrals_work *w)
{
    enum { PLACES = 8 };
    ns_flow *flow = w->flow;
    const ns_system *s = flow->system;
    const uint32_t n = flow->n, k = w->atoms, F = 3 * k + 20;
    ns_arena *a = w->arena;
    ns_ex *odd = NS_NEW_ARRAY(a, ns_ex, n + 1);
    bool *fixed = NS_NEW_ARRAY(a, bool, n + 1);
    uint32_t velocities = 0;
    for (uint32_t i = 0; i < n; i++) {
        fixed[i] = !s->states.at[i].odd;
        if (!fixed[i])
            odd[velocities++] = s->states.at[i].symbol;
    }
    for (uint32_t i = 0; i < k; i++)
        if (ns_graph_depends(s->graph, w->atom[i].value, odd, velocities))
            velocities = 0;
    if (!velocities)
        return (double)NAN;
    ns_starts *starts = ns_starts_new(flow, NULL, 0);
    double *A = NS_NEW_ARRAY(a, double, (size_t)F * k + 1), *b = NS_NEW_ARRAY(a, double, F);
    double *h = NS_NEW_ARRAY(a, double, k + 1), *x = NS_NEW_ARRAY(a, double, n + 1);
    double *atom = NS_NEW_ARRAY(a, double, 2 * (size_t)k + 2), worst = 0;
    for (uint32_t place = 0; place < PLACES; place++) {
        const double *at = w->x + (size_t)(place * (w->N / PLACES)) * n;
        double left = 0, all = 0;
        flow->t = w->t[place * (w->N / PLACES)];
        for (uint32_t f = 0; f < F; f++) {
            bool good = false;
            for (int try = 0; try < 20 && !good; try++) {
                for (uint32_t i = 0; i < n; i++)
                    x[i] = fixed[i] ? at[i]
                                    : w->sampler->middle[i] +
                                          w->sampler->width[i] *
                                              (2 * ns_eval_random(&w->sampler->seed) - 1);
                good = ns_starts_solve(starts, fixed, x);
            }
            if (!good)
                return (double)NAN;
            ns_flow_eval(flow, w->rates, x, atom);
            memcpy(A + (size_t)f * k, atom + k, k * sizeof *A);
            b[f] = -atom[2 * k];
        }
        ns_dense_least(a, F, k, A, b, 1e-12, h);
        for (uint32_t f = 0; f < F; f++) {
            double rest = b[f];
            for (uint32_t i = 0; i < k; i++)
                rest -= A[(size_t)f * k + i] * h[i];
            left += rest * rest;
            all += b[f] * b[f];
        }
        const double size = ns_max(sqrt(all / F), 1e-3 * w->rms);
        worst = ns_max(worst, size > 0 ? sqrt(left / F) / size : 0);
    }
    return worst;
}

/* Least squares on the first half of the states, what is left on the second. */
static double fit(ns_integrals_work *w, uint32_t degree, uint32_t *functions)
{
    ns_arena *a = w->flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    const uint32_t N = w->N, half = N / 2;
    uint32_t *column = NS_NEW_ARRAY(a, uint32_t, w->kept + 1), n = 0;
    for (uint32_t k = 1; k < w->kept; k++)
        if (degree_of(w, w->column[k]) <= degree)
            column[n++] = k;
    double *A = NS_NEW_ARRAY(a, double, (size_t)N * n + 1), *b = NS_NEW_ARRAY(a, double, N);
    double *c = NS_NEW_ARRAY(a, double, n + 1), left = 0, all = 0;
    for (uint32_t s = 0; s < N; s++) {
        double size = fabs(w->divergence[s]); /* fast states count as the others */
        for (uint32_t j = 0; j < n; j++)
            size = ns_max(size, fabs(w->rate_Q[(size_t)column[j] * N + s]));
        size = size > 0 ? size : 1;
        b[s] = -w->divergence[s] / size;
        for (uint32_t j = 0; j < n; j++) /* rates of orthonormal functions */
            A[(size_t)s * n + j] = w->rate_Q[(size_t)column[j] * N + s] / size;
    }
    ns_dense_least(a, half, n, A, b, 1e-13, c);
    for (uint32_t s = half; s < N; s++) {
        double rest = b[s];
        for (uint32_t j = 0; j < n; j++)
            rest -= A[(size_t)s * n + j] * c[j];
        left += rest * rest;
        all += b[s] * b[s];
    }
    ns_arena_release(a, mark);
    *functions = n;
    return all > 0 ? sqrt(left / all) : 0;
}

/* Signs of P at the samples: 1 if it is positive somewhere, plus 2 if it is negative
 * somewhere. */
static int signs(const ns_integrals_work *w, const ns_integral *P)
{
    int found = 0;
    for (uint32_t s = 0; s < w->N; s++) {
        double sum = 0;
        for (uint32_t k = 0; k < P->n; k++)
            sum += P->c[k] * w->phi[(size_t)P->term[k] * w->N + s];
        found |= sum > 0 ? 1 : sum < 0 ? 2 : 0;
    }
    return found;
}

static const char *power_text(ns_arena *a, const char *P, exponent e)
{
    if (e.above == 1 && e.below == 1)
        return P;
    if (e.below == 2 && e.above == 1)
        return ns_arena_format(a, "sqrt(%s)", P);
    if (e.below == 2 && e.above == -1)
        return ns_arena_format(a, "1/sqrt(%s)", P);
    if (e.below == 1)
        return e.above < 0 ? ns_arena_format(a, "1/(%s)^%d", P, -e.above)
                           : ns_arena_format(a, "(%s)^%d", P, e.above);
    return ns_arena_format(a, "(%s)^(%d/%d)", P, e.above, e.below);
}

static void find_closed(ns_integrals_work *w, ns_density *r)
{
    ns_arena *arena = w->arena;
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents && !r->closed; k++) {
        ns_integrals found = {0};
        w->factor = (double)exponents[k].below / exponents[k].above;
        const double *row = ns_integrals_lowest(w, &found);
        if (!found.zero || !row)
            continue;
        const ns_integral *P = ns_integrals_refine(w, row);
        if (!P)
            continue;
        if (signs(w, P) == 2) { /* its negative, then, for roots */
            w->negative = true;
            const ns_integral *turned = ns_integrals_refine(w, row);
            w->negative = false;
            P = turned ? turned : P;
        }
        r->closed = true;
        r->above = exponents[k].above;
        r->below = exponents[k].below;
        r->P = P;
        r->margin = found.margin;
        r->sigma[0] = found.sigma[found.zero - 1] / r->divergence;
        r->sigma[1] = found.zero < found.n ? found.sigma[found.zero] / r->divergence : NAN;
        r->vanishing = signs(w, P) == 3;
        r->text = power_text(arena, P->text, exponents[k]);
    }
    w->factor = 0;
}

static void judge(ns_density *r, ns_arena *a)
{
    const double last = r->left[r->degree];
    const double before = r->degree >= 2 ? r->left[r->degree - 2] : 1;
    if (r->closed && !r->vanishing) {
        r->exists = true;
        r->verdict = "a density of these variables is invariant, in closed form";
    } else if (r->closed) {
        r->exists = true;
        r->verdict =
            "a density of these variables is invariant, singular where its base vanishes";
    } else if (last < nothing) {
        r->exists = true;
        r->verdict = ns_arena_format(a,
                                     "a density of these variables is invariant: log(rho) is a "
                                     "polynomial of degree %u to rounding errors",
                                     r->degree);
    } else if (r->pointwise > 1e-8) {
        r->none = true;
        r->verdict = ns_arena_format(
            a,
            "no density of these variables: at one configuration %.2g of "
            "the divergence is not a combination of their rates",
            r->pointwise);
    } else if (last < 0.3 * before && last < 0.05) {
        r->verdict = ns_arena_format(
            a,
            "a density of these variables seems to exist: what is left "
            "falls with the degree, to %.1e at %u",
            last, r->degree);
    } else {
        r->verdict = "open: raise the degree or choose other variables";
    }
}

ns_density *ns_density_search(ns_flow *flow, const ns_family *variables, ns_ex divergence,
                              uint32_t degree, const ns_integrals_options *o, const double *x0,
                              const char **message)
{
    ns_arena *arena = flow->arena;
    ns_density *r = NS_NEW(arena, ns_density);
    ns_family *f = NS_NEW(arena, ns_family);
    const double t = flow->t;
    f->shape.at = variables->shape.at; /* these and nothing else */
    f->shape.n = variables->shape.n;
    r->variable = f->shape.at;
    r->variables = f->shape.n;
    for (f->degree_shape = degree ? degree : 6;
         !degree && f->degree_shape > 1 && ns_family_size(f) > 250;)
        f->degree_shape--;
    r->degree = f->degree_shape;
    ns_integrals_work w = {.flow = flow,
                           .arena = arena,
                           .family = f,
                           .run = &o->run,
                           .x0 = x0,
                           .weight = divergence};
    ns_integrals_options more = *o; /* the fits are judged at states of their own */
    more.states = 6 * ns_family_size(f) + 120;
    if (!ns_integrals_sample(&w, &more, message))
        return NULL;
    r->states = w.N;
    for (uint32_t s = 0; s < w.N; s++)
        r->divergence += w.divergence[s] * w.divergence[s] / w.N;
    r->divergence = sqrt(r->divergence);
    w.rms = r->divergence;
    r->pointwise = pointwise(&w);
    for (uint32_t d = 0; d <= r->degree; d++)
        r->left[d] = fit(&w, d, &r->functions[d]);
    find_closed(&w, r);
    judge(r, arena);
    flow->t = t;
    return r;
}

const char *ns_density_conclusion(const ns_measure *m, const ns_density *d)
{
    const ns_measure_algebra *r = m->algebra;
    if (r && r->applies && r->preserved)
        return "the volume in the velocities is invariant";
    if (r && r->applies)
        return "no measure with a smooth positive density is invariant";
    if (m->vanishes)
        return "the volume in these variables is invariant";
    if (m->given < 1e-10)
        return "the given density is invariant";
    if (m->density.found)
        return "there is an invariant density of coordinates alone";
    if (d && (d->exists || d->none))
        return d->verdict;
    if (m->density.too_large)
        return "open: the volume is not invariant; look at the integral along the motion, or "
               "try "
               "--density";
    return "open: the volume is not invariant, and there is no density of coordinates alone; "
           "look at the integral along the motion, or try --density";
}
