/* The motion on the group of matrices: g' = g v, v = v^a E_a, the equations that keep g in its
 * group, and Ad*_{g^-1}, which takes momenta from the body to space (Bloch, Marsden and Zenkov
 * 2009, section 5).
 *
 * Entries of g that never move (the last row of a Euclidean motion) are numbers, not states:
 * the entry (i, j) of a product of basis matrices can be non-zero only if there is a path from
 * i to j along non-zero entries of basis matrices; all others stay those of the identity. */
#include <math.h>

#include "mech/lie/lie.h"

const char *ns_lie_group_entry(const ns_lie *w, ns_arena *arena, uint32_t i, uint32_t j)
{
    return ns_arena_format(arena, w->N < 10 ? "g.%u%u" : "g.%u.%u", i + 1, j + 1);
}

void ns_lie_group_symbols(ns_lie *w, ns_system *s, ns_ex *entry_symbols, uint32_t *n_symbols)
{
    ns_graph *g = s->graph;
    uint32_t N = w->N;
    bool *moves = NS_NEW_ARRAY(s->arena, bool, (size_t)N * N + 1);
    for (uint32_t a = 0; a < w->n; a++)
        for (uint32_t k = 0; k < N * N; k++)
            moves[k] = moves[k] || !ns_graph_is_zero(g, w->E[(size_t)a * N * N + k]);
    for (uint32_t via = 0; via < N; via++) /* transitive closure */
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < N; j++)
                moves[i * N + j] = moves[i * N + j] ||
                                   (moves[i * N + via] && moves[via * N + j]);
    w->g = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)N * N + 1);
    *n_symbols = 0;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++)
            if (moves[i * N + j]) {
                w->g[i * N + j] = ns_symbol_new(g, ns_lie_group_entry(w, s->arena, i, j),
                                                NS_SYM_STATE, w->n + *n_symbols);
                entry_symbols[(*n_symbols)++] = w->g[i * N + j];
            } else {
                w->g[i * N + j] = ns_integer(g, i == j);
            }
}

ns_ex ns_lie_group_rate(const ns_lie *w, ns_graph *g, const ns_ex *v, uint32_t i, uint32_t j)
{
    uint32_t N = w->N;
    ns_ex rate = ns_zero(g);
    for (uint32_t k = 0; k < N; k++) {
        ns_ex column = ns_zero(g);
        for (uint32_t a = 0; a < w->n; a++)
            column = ns_add(g, column, ns_mul(g, w->E[((size_t)a * N + k) * N + j], v[a]));
        rate = ns_add(g, rate, ns_mul(g, w->g[i * N + k], column));
    }
    return rate;
}

static ns_ex entry(const ns_lie *w, const ns_lie_part *part, uint32_t i, uint32_t j)
{
    return w->g[(size_t)(part->row + i) * w->N + part->row + j];
}

static void keep(ns_system *s, const char *name, ns_ex residual)
{
    NS_PUSH(s->arena, s->constraints,
            (ns_constraint){.name = name, .residual = residual, .project = true});
}

void ns_lie_group_manifold(const ns_lie *w, ns_system *s)
{
    ns_graph *g = s->graph;
    for (uint32_t t = 0; t < w->parts.n; t++) {
        const ns_lie_part *part = &w->parts.at[t];
        uint32_t m = part->kind == NS_LIE_ROTATION    ? part->size
                     : part->kind == NS_LIE_EUCLIDEAN ? part->size - 1
                                                      : 0;
        const char *of = w->parts.n > 1 ? ns_arena_format(s->arena, "%u", t + 1) : "";
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = i; j < m; j++) {
                ns_ex sum = ns_integer(g, i == j ? -1 : 0);
                for (uint32_t k = 0; k < m; k++)
                    sum = ns_add(g, sum, ns_mul(g, entry(w, part, k, i), entry(w, part, k, j)));
                keep(s, ns_arena_format(s->arena, "rotation%s.%u%u", of, i + 1, j + 1), sum);
            }
        if (part->kind == NS_LIE_SPECIAL)
            keep(s, ns_arena_format(s->arena, "determinant%s", of),
                 ns_sub(g,
                        ns_sub(g, ns_mul(g, entry(w, part, 0, 0), entry(w, part, 1, 1)),
                               ns_mul(g, entry(w, part, 0, 1), entry(w, part, 1, 0))),
                        ns_one(g)));
    }
}

/* The inverse of one block, h[size][size]. */
static void invert(const ns_lie *w, ns_system *s, const ns_lie_part *part, ns_ex *h)
{
    ns_graph *g = s->graph;
    uint32_t m = part->size;
    switch (part->kind) {
    case NS_LIE_ROTATION:
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < m; j++)
                h[i * m + j] = entry(w, part, j, i);
        break;
    case NS_LIE_EUCLIDEAN: /* [R^T, -R^T x] */
        for (uint32_t i = 0; i + 1 < m; i++) {
            ns_ex shift = ns_zero(g);
            for (uint32_t j = 0; j + 1 < m; j++) {
                h[i * m + j] = entry(w, part, j, i);
                shift = ns_sub(g, shift,
                               ns_mul(g, entry(w, part, j, i), entry(w, part, j, m - 1)));
            }
            h[i * m + m - 1] = shift;
        }
        for (uint32_t j = 0; j < m; j++)
            h[(m - 1) * m + j] = ns_integer(g, j == m - 1);
        break;
    case NS_LIE_SPECIAL:
        h[0] = entry(w, part, 1, 1);
        h[1] = ns_neg(g, entry(w, part, 0, 1));
        h[2] = ns_neg(g, entry(w, part, 1, 0));
        h[3] = entry(w, part, 0, 0);
        break;
    case NS_LIE_UNIPOTENT: /* (1 + X)^-1 = 1 - X + X^2; all of ours have X^3 = 0 */
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < m; j++) {
                ns_ex sum = i == j ? ns_one(g) : ns_neg(g, entry(w, part, i, j));
                for (uint32_t k = i + 1; k < j; k++)
                    sum = ns_add(g, sum, ns_mul(g, entry(w, part, i, k), entry(w, part, k, j)));
                h[i * m + j] = sum;
            }
        break;
    case NS_LIE_MATRICES: {
        ns_ex *matrix = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m);
        ns_ex *unit = NS_NEW_ARRAY(s->arena, ns_ex, m), *x = NS_NEW_ARRAY(s->arena, ns_ex, m);
        for (uint32_t i = 0; i < m * m; i++)
            matrix[i] = entry(w, part, i / m, i % m);
        for (uint32_t j = 0; j < m; j++) {
            for (uint32_t i = 0; i < m; i++)
                unit[i] = ns_integer(g, i == j);
            ns_solve(g, m, matrix, unit, x);
            for (uint32_t i = 0; i < m; i++)
                h[i * m + j] = x[i];
        }
        break;
    }
    }
}

/* The place of block `part` where E_a alone has an entry, so that the components of a matrix of
 * the algebra can be read off there. */
static void place_of(const ns_lie *w, const ns_graph *g, const ns_lie_part *part, uint32_t a,
                     uint32_t *row, uint32_t *column)
{
    uint32_t N = w->N, m = part->size;
    for (uint32_t place = 0; place < m * m; place++) {
        uint32_t i = part->row + place / m, j = part->row + place % m;
        bool own = !ns_graph_is_zero(g, w->E[((size_t)a * N + i) * N + j]);
        for (uint32_t b = part->first; b < part->first + part->n && own; b++)
            own = b == a || ns_graph_is_zero(g, w->E[((size_t)b * N + i) * N + j]);
        *row = place / m;
        *column = place % m;
        if (own)
            return;
    }
}

void ns_lie_group_to_space(const ns_lie *w, ns_system *s, const ns_ex *covector, ns_ex *out)
{
    ns_graph *g = s->graph;
    uint32_t N = w->N;
    for (uint32_t t = 0; t < w->parts.n; t++) {
        const ns_lie_part *part = &w->parts.at[t];
        uint32_t m = part->size;
        ns_ex *h = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m);
        if (w->adjoint) { /* g = Ad_g:  mu = g^-T p, one solve */
            ns_ex *transposed = NS_NEW_ARRAY(s->arena, ns_ex, (size_t)m * m);
            for (uint32_t i = 0; i < m * m; i++)
                transposed[i] = w->g[(i % m) * m + i / m];
            ns_solve(g, m, transposed, covector, out);
            continue;
        }
        invert(w, s, part, h);
        for (uint32_t b = part->first; b < part->first + part->n; b++)
            out[b] = ns_zero(g);
        for (uint32_t a = part->first; a < part->first + part->n; a++) {
            uint32_t r = 0, c = 0;
            place_of(w, g, part, a, &r, &c);
            ns_ex unit = w->E[((size_t)a * N + part->row + r) * N + part->row + c];
            for (uint32_t b = part->first; b < part->first + part->n; b++) {
                /* (Ad_{g^-1} e_b)^a = (g^-1 E_b g)_rc / (E_a)_rc */
                ns_ex sum = ns_zero(g);
                for (uint32_t k = 0; k < m; k++)
                    for (uint32_t l = 0; l < m; l++) {
                        ns_ex e = w->E[((size_t)b * N + part->row + k) * N + part->row + l];
                        if (!ns_graph_is_zero(g, e))
                            sum = ns_add(
                                g, sum,
                                ns_mul(g, ns_mul(g, h[r * m + k], e), entry(w, part, l, c)));
                    }
                out[b] = ns_add(g, out[b], ns_mul(g, covector[a], ns_div(g, sum, unit)));
            }
        }
    }
}
