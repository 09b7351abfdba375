#include "study/invariants/affine.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/eval.h"
#include "mech/common/dense.h"

ns_affine *ns_affine_new(ns_arena *arena, uint32_t n)
{
    ns_affine *h = NS_NEW(arena, ns_affine);
    *h = (ns_affine){.n = n,
                     .H = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1),
                                       .b = NS_NEW_ARRAY(arena, double, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        h->H[(size_t)i * n + i] = 1;
    return h;
}

void ns_affine_set(ns_affine *to, const ns_affine *from)
{
    memcpy(to->H, from->H, (size_t)to->n * to->n * sizeof *to->H);
    memcpy(to->b, from->b, to->n * sizeof *to->b);
}

void ns_affine_direct(const ns_affine *h, const double *v, double *w)
{
    for (uint32_t i = 0; i < h->n; i++) {
        w[i] = 0;
        for (uint32_t j = 0; j < h->n; j++)
            w[i] += h->H[(size_t)i * h->n + j] * v[j];
    }
}

void ns_affine_apply(const ns_affine *h, const double *x, double *y)
{
    ns_affine_direct(h, x, y);
    for (uint32_t i = 0; i < h->n; i++)
        y[i] += h->b[i];
}

void ns_affine_multiply(ns_arena *scratch, const ns_affine *outer, const ns_affine *inner,
                        ns_affine *out)
{
    const uint32_t n = out->n;
    const ns_arena_place mark = ns_arena_mark(scratch);
    double *H = NS_NEW_ARRAY(scratch, double, (size_t)n * n + 1);
    double *b = NS_NEW_ARRAY(scratch, double, n + 1);
    ns_flow_multiply(n, n, n, outer->H, inner->H, H);
    ns_affine_apply(outer, inner->b, b);
    memcpy(out->H, H, (size_t)n * n * sizeof *H);
    memcpy(out->b, b, n * sizeof *b);
    ns_arena_release(scratch, mark);
}

/* exp(Z) = exp(Z/2^s)^(2^s), Z = [A b; 0 0], with |Z/2^s| < 1/16: ten terms are exact */
void ns_affine_exp(ns_arena *scratch, const ns_generators *g, const double *c, ns_affine *out)
{
    enum { TERMS = 10 };
    const uint32_t n = g->n;
    const ns_arena_place mark = ns_arena_mark(scratch);
    ns_affine *Z = ns_affine_new(scratch, n), *term = ns_affine_new(scratch, n);
    ns_affine *next = ns_affine_new(scratch, n);
    memset(Z->H, 0, (size_t)n * n * sizeof *Z->H);
    for (uint32_t k = 0; k < g->count; k++) {
        for (size_t i = 0; i < (size_t)n * n; i++)
            Z->H[i] += c[k] * g->A[(size_t)k * n * n + i];
        for (uint32_t i = 0; i < n; i++)
            Z->b[i] += c[k] * g->b[(size_t)k * n + i];
    }
    double size = 0;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += fabs(Z->H[(size_t)i * n + j]);
        size = ns_max(size, sum);
    }
    int halvings = 0;
    for (; size > 1.0 / 16 && halvings < 60; size /= 2)
        halvings++;
    for (size_t i = 0; i < (size_t)n * n; i++)
        Z->H[i] = ldexp(Z->H[i], -halvings);
    for (uint32_t i = 0; i < n; i++)
        Z->b[i] = ldexp(Z->b[i], -halvings);
    ns_affine_set(out, term); /* identity */
    for (int k = 1; k <= TERMS; k++) {
        /* term = Z term / k; after the first the last column is [b; 0] */
        ns_flow_multiply(n, n, n, Z->H, term->H, next->H);
        ns_affine_direct(Z, term->b, next->b);
        for (size_t i = 0; i < (size_t)n * n; i++)
            out->H[i] += term->H[i] = next->H[i] / k;
        for (uint32_t i = 0; i < n; i++)
            out->b[i] += term->b[i] = (next->b[i] + (k == 1 ? Z->b[i] : 0)) / k;
    }
    for (int k = 0; k < halvings; k++)
        ns_affine_multiply(scratch, out, out, out);
    ns_arena_release(scratch, mark);
}

void ns_affine_power(ns_arena *scratch, const ns_affine *h, uint64_t k, ns_affine *out)
{
    const ns_arena_place mark = ns_arena_mark(scratch);
    ns_affine *square = ns_affine_new(scratch, h->n), *result = ns_affine_new(scratch, h->n);
    ns_affine_set(square, h);
    for (; k; k >>= 1) {
        if (k & 1)
            ns_affine_multiply(scratch, square, result, result);
        ns_affine_multiply(scratch, square, square, square);
    }
    ns_affine_set(out, result);
    ns_arena_release(scratch, mark);
}

/* ---- matching ---------------------------------------------------------------------------- */

typedef struct match {
    ns_flow *flow;
    const ns_generators *g;
    const double *x, *y;
    double *f;         /* f(y), NULL: no time */
    double *z, *r, *D; /* h x, residuals, derivatives */
    double *xi, *step;
    ns_affine *e;
} match;

static double difference(match *m, const ns_affine *h, double dt)
{
    double worst = 0;
    ns_affine_apply(h, m->x, m->z);
    for (uint32_t i = 0; i < h->n; i++) {
        m->r[i] = (m->y[i] + (m->f ? dt * m->f[i] : 0) - m->z[i]) / m->flow->sigma[i];
        worst = ns_max(worst, fabs(m->r[i]));
    }
    return worst;
}

/* Steps of Gauss and Newton: h becomes exp(sum c_k xi_k) h. */
static double descend(match *m, ns_affine *h, double *dt)
{
    enum { ROUNDS = 60 };
    const uint32_t n = h->n, k = m->g->count, columns = k + (m->f ? 1 : 0);
    ns_arena *a = m->flow->scratch;
    double off = difference(m, h, *dt);
    for (int round = 0; round < ROUNDS && off > 1e-16; round++) {
        const ns_arena_place mark = ns_arena_mark(a);
        ns_affine *trial = ns_affine_new(a, n);
        ns_generators_at(m->g, m->z, m->xi);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < k; j++)
                m->D[(size_t)i * columns + j] = m->xi[(size_t)j * n + i] / m->flow->sigma[i];
            if (m->f)
                m->D[(size_t)i * columns + k] = -m->f[i] / m->flow->sigma[i];
        }
        ns_dense_least(a, n, columns, m->D, m->r, 1e-10, m->step);
        double part = 1, now = INFINITY;
        for (int half = 0; half < 8; half++, part /= 2) {
            for (uint32_t j = 0; j < k; j++)
                m->xi[j] = part * m->step[j];
            ns_affine_exp(a, m->g, m->xi, m->e);
            ns_affine_multiply(a, m->e, h, trial);
            now = difference(m, trial, *dt + (m->f ? part * m->step[k] : 0));
            if (now < off)
                break;
        }
        const bool better = now < off;
        if (better) {
            ns_affine_set(h, trial);
            *dt += m->f ? part * m->step[k] : 0;
        }
        ns_arena_release(a, mark);
        if (!better || now > 0.999 * off) {
            off = ns_min(off, now);
            break;
        }
        off = now;
    }
    difference(m, h, *dt);
    return off;
}

double ns_affine_match(ns_flow *flow, const ns_generators *g, const double *x, const double *y,
                       ns_affine *h, double *dt)
{
    NS_CHECK(g->n == flow->n && h->n == flow->n);
    enum { TRIES = 200 };
    static const double pi = 3.14159265358979323846;
    const uint32_t n = flow->n, k = g->count;
    ns_arena *a = flow->scratch;
    const ns_arena_place mark = ns_arena_mark(a);
    match m = {.flow = flow, .g = g, .x = x, .y = y};
    m.z = NS_NEW_ARRAY(a, double, n + 1);
    m.r = NS_NEW_ARRAY(a, double, n + 1);
    m.D = NS_NEW_ARRAY(a, double, (size_t)n * (k + 1) + 1);
    m.xi = NS_NEW_ARRAY(a, double, (size_t)n * k + k + 1);
    m.step = NS_NEW_ARRAY(a, double, k + 2);
    m.e = ns_affine_new(a, n);
    if (dt) {
        m.f = NS_NEW_ARRAY(a, double, n + 1);
        ns_flow_rhs(flow, y, m.f);
        *dt = 0;
    }
    double time = 0, *c = NS_NEW_ARRAY(a, double, k + 1);
    ns_affine *trial = ns_affine_new(a, n);
    double best = descend(&m, h, dt ? dt : &time);
    uint64_t seed = 271828;
    for (int i = 0; i < TRIES && best > 1e-9 && k; i++) {
        for (uint32_t j = 0; j < k; j++) {
            double norm = 0;
            for (size_t l = 0; l < (size_t)n * n; l++)
                norm += g->A[(size_t)j * n * n + l] * g->A[(size_t)j * n * n + l];
            c[j] = norm > 0 ? 2 * pi * (2 * ns_eval_random(&seed) - 1) / sqrt(norm / 2) : 0;
        }
        ns_affine_exp(a, g, c, trial);
        double other = 0;
        const double off = descend(&m, trial, &other);
        if (off < best) {
            best = off;
            ns_affine_set(h, trial);
            *(dt ? dt : &time) = other;
        }
    }
    ns_arena_release(a, mark);
    return best;
}

/* ---- words ------------------------------------------------------------------------------- */

static const double round_off = 1e-9;

static double entry(const ns_affine *h, uint32_t i, uint32_t j)
{
    return h->H[(size_t)i * h->n + j] - (i == j ? 1 : 0);
}

/* Do rows and columns of these states stand alone in H - 1? */
static bool alone(const ns_affine *h, const uint32_t *at, uint32_t count)
{
    for (uint32_t i = 0; i < h->n; i++)
        for (uint32_t k = 0; k < count; k++) {
            bool inside = false;
            for (uint32_t l = 0; l < count; l++)
                inside = inside || at[l] == i;
            if (!inside &&
                (fabs(entry(h, i, at[k])) > round_off || fabs(entry(h, at[k], i)) > round_off))
                return false;
        }
    return true;
}

/* Rates of coordinates only repeat what the coordinates do. */
static bool is_rate(const ns_flow *flow, uint32_t i)
{
    for (uint32_t k = 0; k < flow->n; k++)
        if (flow->problem->source[k] == i)
            return true;
    return false;
}

/* Four numbers of a turn: what happens to them is said otherwise. */
static bool is_quaternion(const ns_flow *flow, uint32_t i)
{
    return flow->system->states.at[i].kind == NS_QUANTITY_QUATERNION;
}

/* The first plane from the state `from` on; false if there is none. */
static bool find_plane(const ns_flow *flow, const ns_affine *h, uint32_t from,
                       ns_affine_plane *out)
{
    for (uint32_t i = from; i < h->n; i++)
        for (uint32_t j = i + 1; j < h->n && !is_rate(flow, i) && !is_quaternion(flow, i);
             j++) {
            const uint32_t pair[2] = {i, j};
            const double c = h->H[(size_t)i * h->n + i], s = h->H[(size_t)j * h->n + i];
            if (is_rate(flow, j) || is_quaternion(flow, j) || !alone(h, pair, 2) ||
                fabs(ns_math_hypot(c, s) - 1) > 1e-7 ||
                fabs(h->H[(size_t)j * h->n + j] - c) > 1e-7 ||
                fabs(h->H[(size_t)i * h->n + j] + s) > 1e-7 || fabs(s) < round_off)
                continue;
            *out = (ns_affine_plane){.i = i,
                                     .j = j,
                                     .angle = ns_math_atan2(s, c),
                                     .move = {h->b[i], h->b[j]},
                                     .centre = {NAN, NAN}};
            const double det = 2 * (1 - c); /* of 1 - R */
            if (det > 1e-14) {
                out->centre[0] = ((1 - c) * h->b[i] - s * h->b[j]) / det;
                out->centre[1] = (s * h->b[i] + (1 - c) * h->b[j]) / det;
            }
            return true;
        }
    return false;
}

bool ns_affine_path(const ns_flow *flow, const ns_affine *h, ns_affine_plane *out)
{
    ns_affine_plane one;
    bool found = false;
    double far = -1;
    for (uint32_t i = 0; find_plane(flow, h, i, &one); i = one.i + 1) {
        const double distance = ns_math_hypot(one.move[0], one.move[1]);
        if (distance > far) {
            far = distance;
            *out = one;
        }
        found = true;
    }
    return found;
}

/* q -> a q b with unit quaternions: the matrix is L(a) R(b); a and b from the averages of its
 * rows (the only such pair up to a common sign). */
static bool quaternion(const ns_affine *h, uint32_t at, double a[4], double b[4])
{
    /* L(e_p) R(e_q) for the sixteen pairs of units is orthogonal: M = sum m_pq L(e_p) R(e_q), m
     * = a b^T */
    static const int product[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    static const int sign[4][4] = {
        {1, 1, 1, 1}, {1, -1, 1, -1}, {1, -1, -1, 1}, {1, 1, -1, -1}};
    double m[4][4];
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) {
            m[p][q] = 0;
            for (int u = 0; u < 4; u++) { /* e_p e_u e_q = s e_w */
                const int pu = product[p][u], w = product[pu][q];
                const int s = sign[p][u] * sign[pu][q];
                m[p][q] += s * h->H[(size_t)(at + (uint32_t)w) * h->n + at + (uint32_t)u] / 4;
            }
        }
    int big = 0;
    double most = 0;
    for (int p = 0; p < 4; p++) {
        double sum = 0;
        for (int q = 0; q < 4; q++)
            sum += m[p][q] * m[p][q];
        if (sum > most) {
            most = sum;
            big = p;
        }
    }
    most = sqrt(most); /* |a_big| */
    for (int q = 0; q < 4; q++)
        b[q] = m[big][q] / most;
    double off = 0;
    for (int p = 0; p < 4; p++) {
        a[p] = 0;
        for (int q = 0; q < 4; q++)
            a[p] += m[p][q] * b[q];
    }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++)
            off = ns_max(off, fabs(m[p][q] - a[p] * b[q]));
    return off < 1e-7;
}

static void say_turn(ns_arena *arena, ns_affine_lines *lines, const char *what,
                     const double q[4])
{
    const double s = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (s < round_off)
        return;
    const double flip = q[0] < 0 ? -1 : 1;
    NS_PUSH(arena, *lines,
            ns_arena_format(arena, "%s: turn %.15g rad about (%.9g, %.9g, %.9g)", what,
                            2 * ns_math_atan2(s, flip * q[0]), flip * q[1] / s + 0.0,
                            flip * q[2] / s + 0.0, flip * q[3] / s + 0.0));
}

ns_affine_lines ns_affine_words(ns_arena *arena, const ns_flow *flow, const ns_affine *h)
{
    const ns_system *s = flow->system;
    ns_affine_lines lines = {0};
    ns_affine_plane plane;
    bool *done = NS_NEW_ARRAY(arena, bool, h->n + 1);
    for (uint32_t i = 0; find_plane(flow, h, i, &plane); i = plane.i + 1) {
        const char *pair = ns_arena_format(arena, "(%s, %s)", s->states.at[plane.i].name,
                                           s->states.at[plane.j].name);
        NS_PUSH(arena, lines,
                isfinite(plane.centre[0])
                    ? ns_arena_format(arena, "%s: turn %.15g rad about (%.15g, %.15g)", pair,
                                      plane.angle, plane.centre[0], plane.centre[1])
                    : ns_arena_format(arena, "%s: turn %.15g rad, then move (%.15g, %.15g)",
                                      pair, plane.angle, plane.move[0], plane.move[1]));
        done[plane.i] = done[plane.j] = true;
    }
    for (uint32_t i = 0; i < h->n; i++) {
        const ns_state *state = &s->states.at[i];
        if (done[i] || is_rate(flow, i))
            continue;
        if (is_quaternion(flow, i) && state->first == i) {
            const uint32_t four[4] = {i, i + 1, i + 2, i + 3};
            double a[4], b[4];
            if (alone(h, four, 4) && quaternion(h, i, a, b)) {
                say_turn(arena, &lines, ns_arena_format(arena, "%s, in space", state->vector),
                         a);
                say_turn(arena, &lines,
                         ns_arena_format(arena, "%s, in the body", state->vector), b);
                done[i] = done[i + 1] = done[i + 2] = done[i + 3] = true;
                continue;
            }
        }
        const uint32_t one[1] = {i};
        if (alone(h, one, 1) && fabs(h->b[i]) > 1e-14 * flow->sigma[i])
            NS_PUSH(arena, lines,
                    ns_arena_format(arena, "%s: move %.15g", state->name, h->b[i]));
    }
    return lines;
}
