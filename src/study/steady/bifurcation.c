/* Special points of a branch.
 *
 * Along the branch the signs of the determinant of what remains of the linearisation, of the
 * change of the parameter, and the number of growing modes are watched.  Where one changes
 * between two points the place is found on the chord between them and made precise (refine.c):
 *     fold             the parameter turns back
 *     pitchfork, branch point, double zero   a real eigenvalue (or a pair +-lambda, lambda^2)
 *                                            passes zero: by the
 *                      second derivative along the critical direction, zero or not; double zero
 *                      if the critical direction leads along the family (nothing branches off)
 *     hopf             a complex pair passes the imaginary axis
 *     collision        two imaginary pairs meet and leave the axis */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "mech/common/dense.h"
#include "study/steady/branch_internal.h"

typedef enum watch { DETERMINANT, TURNING, PAIR, COUNT } watch;

/* The complex pair nearest to `im`; its real part, and *im its imaginary part. */
static double nearest_pair(const ns_linear *l, double *im)
{
    double best = INFINITY, re = NAN, found = *im;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->eigenvalue[i].im > 0 && fabs(l->eigenvalue[i].im - *im) < best) {
            best = fabs(l->eigenvalue[i].im - *im);
            re = l->eigenvalue[i].re;
            found = l->eigenvalue[i].im;
        }
    *im = found;
    return re;
}

/* What vanishes at the special point.  `reference`: exponent of the determinant or number of
 * growing modes at one end, or imaginary part of the pair. */
static double test(const ns_place *p, uint32_t N, watch what, double reference)
{
    switch (what) {
    case DETERMINANT:
        return ns_algebra_times_power(p->linear->det, p->linear->det_exponent - (int)reference);
    case TURNING:
        return p->tangent[N];
    case PAIR:
        return nearest_pair(p->linear, &reference);
    case COUNT:
        return (double)p->linear->unstable - reference;
    }
    return NAN;
}

/* Between a and b the test changes its sign: the place, by the Illinois method on the chord
 * (bisection for the number of modes). */
static bool locate(ns_follower *w, const ns_place *a, const ns_place *b, watch what,
                   double ref_a, double ref_b, ns_place *out)
{
    enum { ROUNDS = 80 };
    const uint32_t N = w->q->N, M = N + 1;
    ns_arena *arena = w->temporary;
    double *chord = NS_NEW_ARRAY(arena, double, M), *predicted = NS_NEW_ARRAY(arena, double, M);
    double *normal = NS_NEW_ARRAY(arena, double, M);
    for (uint32_t i = 0; i < M; i++)
        chord[i] = normal[i] = b->y[i] - a->y[i];
    if (what != TURNING && a->tangent[N] * b->tangent[N] > 0) {
        /* the parameter itself tells places apart, whatever noise the critical direction has */
        memset(normal, 0, M * sizeof *normal);
        normal[N] = 1;
    }
    const bool blend = what == PAIR; /* the frequency changes from one end to the other */
    double s0 = 0, s1 = 1, f0 = test(a, N, what, ref_a),
           f1 = test(b, N, what, blend ? ref_b : ref_a);
    if (!(f0 * f1 <= 0))
        return false;
    const double least = what == COUNT ? 0 : 1e-13 * ns_max(fabs(f0), fabs(f1));
    double last = NAN;
    int side = 0, failures = 0;
    ns_place ends[2] = {*a, *b}; /* the nearest places on both sides */
    for (int k = 0; k < ROUNDS; k++) {
        const double width = s1 - s0;
        double s = what == COUNT || f1 == f0 ? (s0 + s1) / 2 : s1 - f1 * width / (f1 - f0);
        if (k % 8 == 7)
            s = (s0 + s1) / 2;
        /* at a branch point itself the equations are singular: come near from both sides */
        const bool near = failures && width < 1e-7;
        if (failures && !near)
            s = ns_min(ns_max(s + (failures % 2 ? 0.03 : -0.03) * width, s0 + 0.01 * width),
                       s1 - 0.01 * width);
        for (uint32_t i = 0; i < M; i++)
            predicted[i] = a->y[i] + s * chord[i];
        ns_place here = ns_branch_place(w, arena);
        for (uint32_t i = 0; i < M; i++)
            here.y[i] = ends[0].y[i] + (s - s0) / width * (ends[1].y[i] - ends[0].y[i]);
        int rounds;
        if (near || !ns_branch_settle(w, &here, normal, predicted, a->K, &rounds)) {
            if (!near && failures++ < 12)
                continue;
            if (!near)
                return false;
            for (uint32_t i = 0; i < M; i++)
                here.y[i] = ends[0].y[i] + (s - s0) / width * (ends[1].y[i] - ends[0].y[i]);
            memcpy(here.K, ends[0].K, (size_t)w->k * N * sizeof *here.K);
            ns_branch_look(w, here.y, here.K);
        }
        ns_branch_tangent(w, chord, here.tangent);
        ns_branch_linearise(w, &here, arena);
        *out = here;
        const double f = test(&here, N, what, blend ? ref_a + s * (ref_b - ref_a) : ref_a);
        if (near || isnan(f) || fabs(f) <= least || fabs(s - last) < 1e-15)
            return !isnan(f);
        last = s;
        if ((f > 0) == (f1 > 0)) {
            s1 = s;
            f1 = f;
            ends[1] = here;
            f0 /= side == 1 ? 2 : 1;
            side = 1;
        } else {
            s0 = s;
            f0 = f;
            ends[0] = here;
            f1 /= side == -1 ? 2 : 1;
            side = -1;
        }
        if (s1 - s0 < 1e-14 || (k > 3 && width - (s1 - s0) < 1e-13 && s1 - s0 < 1e-9))
            return true;
    }
    return s1 - s0 < 1e-10;
}

/* D^2 f(v, v) and D^2 C(v, v) of x and v, made when first needed. */
static const ns_flow_program *second_derivative(ns_follower *w)
{
    ns_steady *q = w->q;
    const ns_system *s = q->field->system;
    const uint32_t n = q->n, m = q->m;
    if (w->second)
        return w->second;
    ns_ex *x = NS_NEW_ARRAY(q->arena, ns_ex, n), *v = NS_NEW_ARRAY(q->arena, ns_ex, n);
    ns_ex *one = NS_NEW_ARRAY(q->arena, ns_ex, n + m + 1);
    ns_ex *two = NS_NEW_ARRAY(q->arena, ns_ex, n + m + 1);
    uint32_t k = n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = s->states.at[i].symbol;
        v[i] = ns_symbol_new(s->graph, "v", NS_SYM_STATE, n + i);
        one[i] = s->states.at[i].rate;
    }
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project)
            one[k++] = s->constraints.at[i].residual;
    ns_diff_along(s->graph, one, n + m, x, v, n, two);
    ns_diff_along(s->graph, two, n + m, x, v, n, one);
    w->second = ns_flow_program_new(q->field, one, n + m, v, n);
    return w->second;
}

/* The direction in which M[r][r] nearly vanishes, of the states: v[n] += V_r . basis. */
static void critical_direction(ns_arena *a, const ns_linear *l, uint32_t n, const double *M,
                               double *v)
{
    const uint32_t r = l->n;
    double *V = NS_NEW_ARRAY(a, double, (size_t)r * r), *sigma = NS_NEW_ARRAY(a, double, r + 1);
    ns_dense_svd(a, r, r, M, sigma, V);
    for (uint32_t i = 0; i < r; i++)
        for (uint32_t j = 0; j < n; j++)
            v[j] += V[(size_t)(r - 1) * r + i] * l->basis[(size_t)i * n + j];
}

/* gamma with L v = sum gamma_k xi_k; false if part of L v leads to other steady motions: no
 * new branch then.  `scale`: size of L on what is left of the tangent space. */
static bool change_of_speeds(ns_follower *w, const double *L, const double *v, double scale,
                             double *gamma)
{
    const ns_steady *q = w->q;
    const uint32_t n = q->n, count = q->g->count;
    ns_arena *a = w->temporary;
    double *Xi = NS_NEW_ARRAY(a, double, n * count + 1), *Lv = NS_NEW_ARRAY(a, double, n);
    double *xi = NS_NEW_ARRAY(a, double, n * count + 1), beside = 0, along = 0;
    ns_generators_at(q->g, w->x, xi);
    ns_flow_multiply(n, n, 1, L, v, Lv);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < count; k++)
            Xi[(size_t)i * count + k] = xi[(size_t)k * n + i];
    ns_dense_least(a, n, count, Xi, Lv, 1e-10, gamma);
    for (uint32_t i = 0; i < n; i++) {
        double rest = Lv[i];
        for (uint32_t k = 0; k < count; k++)
            rest -= Xi[(size_t)i * count + k] * gamma[k];
        beside = ns_max(beside, fabs(rest));
        along = ns_max(along, fabs(v[i]));
    }
    return !(beside > 1e-6 * along * scale);
}

/* Second derivative of the equations along the critical direction, in the left critical
 * direction, over its size: zero at a pitchfork.  nan if it cannot be told.  critical[N]: that
 * direction, in units of the sizes, with the change of the speeds. */
static double bend(ns_follower *w, ns_place *p, double *critical)
{
    ns_steady *q = w->q;
    const uint32_t n = q->n, m = q->m, r = p->linear->n, count = q->g->count;
    ns_arena *a = w->temporary;
    double *Mt = NS_NEW_ARRAY(a, double, (size_t)r * r), *in = NS_NEW_ARRAY(a, double, 2 * n);
    double *left = NS_NEW_ARRAY(a, double, n), *out = NS_NEW_ARRAY(a, double, n + m + 1);
    double *L = NS_NEW_ARRAY(a, double, (size_t)n * n), *bent = NS_NEW_ARRAY(a, double, n + 1);
    double *gamma = NS_NEW_ARRAY(a, double, count + 1), *C = NS_NEW_ARRAY(a, double, m + 1);
    double *G = NS_NEW_ARRAY(a, double, (size_t)m * n + 1), *v = in + n;
    const ns_flow_program *second = second_derivative(w);
    ns_branch_unpack(w, p->y);
    memcpy(in, w->x, n * sizeof *in);
    critical_direction(a, p->linear, n, p->linear->M, v);
    for (uint32_t i = 0; i < r; i++)
        for (uint32_t j = 0; j < r; j++)
            Mt[(size_t)i * r + j] = p->linear->M[(size_t)j * r + i];
    critical_direction(a, p->linear, n, Mt, left);
    ns_flow_jacobian(q->field, w->x, L);
    for (uint32_t k = 0; k < count; k++)
        for (size_t i = 0; i < (size_t)n * n; i++)
            L[i] -= w->c[k] * q->g->A[(size_t)k * n * n + i];
    double scale = 0;
    for (size_t i = 0; i < (size_t)r * r; i++)
        scale = ns_max(scale, fabs(p->linear->M[i]));
    if (!change_of_speeds(w, L, v, scale, gamma))
        return NAN;
    for (uint32_t i = 0; i < n; i++)
        critical[i] = v[i] / q->field->sigma[i];
    memcpy(critical + n, gamma, count * sizeof *gamma);
    ns_flow_eval(q->field, second, in, out);
    /* the state follows the manifold: x + e v + e^2 u/2, G u = -D^2 C(v, v) */
    ns_flow_manifold(q->field, w->x, C, G);
    ns_dense_least(a, m, n, G, out + n, 1e-9, bent);
    double sum = 0, size = 0;
    for (uint32_t i = 0; i < n; i++) {
        double term = out[i];
        for (uint32_t j = 0; j < n; j++) {
            term -= L[(size_t)i * n + j] * bent[j];
            for (uint32_t k = 0; k < count; k++)
                term -= 2 * gamma[k] * q->g->A[((size_t)k * n + i) * n + j] * v[j];
        }
        sum += left[i] * term;
        size += fabs(left[i]) * (fabs(out[i]) + fabs(term));
    }
    return sum != 0 ? fabs(sum) / ns_max(size, 1e-6 * scale) : 0;
}

/* ---- kinds ------------------------------------------------------------------------------- */

/* Records the place as a special point, with what happens there and to the growing modes. */
static ns_steady_point *note(ns_follower *w, ns_place *at, const ns_place *a, const ns_place *b,
                             const char *label, const char *what)
{
    ns_steady_point point = ns_branch_record(w, at);
    point.label = label;
    point.note = ns_arena_format(w->q->arena, "%s; growing modes: %u before, %u after", what,
                                 a->linear->unstable, b->linear->unstable);
    NS_PUSH(w->q->arena, w->branch->special, point);
    return &w->branch->special.at[w->branch->special.n - 1];
}

static void watch_turning(ns_follower *w, ns_place *a, ns_place *b, ns_place *at)
{
    if (!locate(w, a, b, TURNING, 0, 0, at))
        return;
    ns_refine_fold(w, at);
    ns_branch_look(w, at->y, at->K);
    note(w, at, a, b, "fold", "the branch turns back");
}

/* Two branches cross at a zero of the determinant, and the tangent found there is any mixture
 * of theirs: the chord from a to b goes along the one that is followed. */
static void follow_chord(const ns_follower *w, const ns_place *a, const ns_place *b,
                         ns_place *at)
{
    double length = 0;
    for (uint32_t i = 0; i <= w->q->N; i++) {
        at->tangent[i] = b->y[i] - a->y[i];
        length += at->tangent[i] * at->tangent[i];
    }
    for (uint32_t i = 0; i <= w->q->N && length > 0; i++)
        at->tangent[i] /= sqrt(length);
}

static void watch_determinant(ns_follower *w, ns_place *a, ns_place *b, ns_place *at)
{
    if (!locate(w, a, b, DETERMINANT, a->linear->det_exponent, 0, at))
        return;
    follow_chord(w, a, b, at);
    double *critical = NS_NEW_ARRAY(w->q->arena, double, w->q->N + 1);
    double bent = bend(w, at, critical);
    if (isnan(bent))
        ns_refine_double_zero(w, at);
    else if (ns_refine_branch_point(w, at))
        bent = bend(w, at, critical);
    ns_branch_look(w, at->y, at->K);
    const int change = (int)b->linear->unstable - (int)a->linear->unstable;
    /* with +-lambda the number of decaying modes changes along */
    const bool pair = (int)b->linear->stable - (int)a->linear->stable == change && change != 0;
    note(w, at, a, b,
         isnan(bent)   ? "double zero"
         : bent < 1e-6 ? "pitchfork"
                       : "branch point",
         pair ? "a pair of real eigenvalues +-lambda meets at zero and becomes imaginary, or "
                "the reverse"
              : "a real eigenvalue passes zero")
        ->critical = isnan(bent) ? NULL : critical;
}

/* A pair that passes the axis, or two that meet on it. */
static void watch_modes(ns_follower *w, ns_place *a, ns_place *b, ns_place *at)
{
    double im_a = NAN, im_b = NAN;
    const double tol = ns_linear_tolerance(a->linear);
    for (uint32_t i = 0; i < a->linear->n; i++) {
        const ns_eigenvalue e = a->linear->eigenvalue[i];
        double im = e.im;
        if (!(e.im > tol) || fabs(e.re) <= tol)
            continue;
        const double re = nearest_pair(b->linear, &im);
        if (re * e.re < 0 && fabs(re) > tol) {
            im_a = e.im;
            im_b = im;
        }
    }
    const double middle = (a->linear->unstable + b->linear->unstable) / 2.0;
    if (isnan(im_a) && locate(w, a, b, COUNT, middle, 0, at))
        note(w, at, a, b, "collision", "eigenvalues meet on the imaginary axis");
    if (isnan(im_a) || !locate(w, a, b, PAIR, im_a, im_b, at))
        return;
    double im = (im_a + im_b) / 2;
    nearest_pair(at->linear, &im);
    double *by = NS_NEW_ARRAY(w->q->arena, double, w->q->spec.n_by + 1);
    for (uint32_t i = 0; i < w->q->spec.n_by; i++)
        by[i] = NAN;
    ns_refine_pair(w, at, im, w->q->spec.n_by ? by : NULL);
    nearest_pair(at->linear, &im);
    ns_branch_look(w, at->y, at->K);
    note(w, at, a, b, "hopf",
         ns_arena_format(w->q->arena, "a pair passes the imaginary axis at %.10g rad/s", im))
        ->by = by;
}

/* Looks between two neighbouring places. */
void ns_bifurcation_watch(ns_follower *w, ns_place *a, ns_place *b)
{
    const uint32_t N = w->q->N, known = w->branch->special.n;
    const bool turns = a->tangent[N] * b->tangent[N] < 0;
    const bool passes = a->linear->n && a->linear->det * b->linear->det < 0;
    const bool modes = a->linear->unstable != b->linear->unstable;
    const ns_arena_place mark = ns_arena_mark(w->temporary);
    ns_place at = ns_branch_place(w, w->temporary);
    if (turns)
        watch_turning(w, a, b, &at);
    if (passes && w->branch->special.n == known)
        watch_determinant(w, a, b, &at);
    if (!turns && !passes && modes)
        watch_modes(w, a, b, &at);
    if (w->branch->special.n == known && (turns || passes || modes)) { /* never silently */
        ns_branch_look(w, b->y, b->K);
        note(w, b, a, b, "change",
             ns_arena_format(w->q->arena, "between %.10g and here, not located",
                             ns_branch_parameter(w, a->y)));
    }
    ns_arena_release(w->temporary, mark);
}
