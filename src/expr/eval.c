#include "expr/eval.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "expr/sparse.h"

#define NS_LU_REAL double
#define NS_LU_ABS(x) fabs(x)
#define NS_LU_NAME(name) lu_##name
#include "expr/lu.inc"

double ns_eval_power(double a, int32_t n)
{
    NS_CHECK(n >= 0);
    double power = 1, square = a;
    for (uint32_t k = (uint32_t)n; k; k >>= 1, square *= square)
        if (k & 1)
            power *= square;
    return power;
}

/* Inverse pivots, then L. */
static double *factor_sparse(ns_arena *arena, const ns_pattern *p, const ns_ex *args,
                             const double *v)
{
    const uint32_t count = p->start[p->n];
    double *block = NS_NEW_ARRAY(arena, double, p->n + count + 1);
    double *V = NS_NEW_ARRAY(arena, double, count + 1);
    double *K = NS_NEW_ARRAY(arena, double, p->entries + 1);
    double *column = NS_NEW_ARRAY(arena, double, p->n + 1);
    for (uint32_t k = 0; k < p->entries; k++)
        K[k] = v[args[k]];
    ns_sparse_factor(p, K, V, block + p->n, block, column);
    return block;
}

void ns_eval(const ns_graph *g, const ns_ex *f, size_t nf, const ns_ex *x, const double *value,
             size_t nx, double *out)
{
    NS_CHECK((f && out) || !nf);
    NS_CHECK((x && value) || !nx);
    ns_arena *arena = ns_graph_scratch(g);
    ns_arena_place mark = ns_arena_mark(arena);
    ns_ex top = 0;
    for (size_t i = 0; i < nf; i++)
        top = f[i] > top ? f[i] : top;
    bool *used = NS_NEW_ARRAY(arena, bool, top + 1);
    ns_graph_mark(g, f, nf, used);
    double *v = NS_NEW_ARRAY(arena, double, top + 1);
    double **block = NS_NEW_ARRAY(arena, double *, top + 1); /* of FACTOR and SOLVE */
    for (ns_ex e = 1; e <= top; e++)
        v[e] = NAN;
    for (size_t j = 0; j < nx; j++)
        if (x[j] <= top)
            v[x[j]] = value[j];
    for (ns_ex e = 1; e <= top; e++) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        uint32_t n = (uint32_t)node->integer;
        switch (node->op) {
        case NS_OP_NUMBER:
            v[e] = node->hi;
            break;
        case NS_OP_SYMBOL:
            break;
        case NS_OP_POWI:
            v[e] = ns_eval_power(v[args[0]], node->integer);
            break;
        case NS_OP_FACTOR:
            block[e] = NS_NEW_ARRAY(arena, double, n * n + n);
            for (uint32_t k = 0; k < n * n; k++)
                block[e][k] = v[args[k]];
            lu_factor(n, block[e], (unsigned *)(block[e] + n * n));
            break;
        case NS_OP_LDL:
            block[e] = factor_sparse(arena, ns_sparse_of(g, e), args, v);
            break;
        case NS_OP_SOLVE:
            block[e] = NS_NEW_ARRAY(arena, double, n);
            for (uint32_t k = 0; k < n; k++)
                block[e][k] = v[args[k + 1]];
            if (ns_graph_op(g, args[0]) == NS_OP_LDL) {
                const ns_pattern *p = ns_sparse_of(g, args[0]);
                const double *inverse = block[args[0]], *L = inverse + n;
                double *scratch = NS_NEW_ARRAY(arena, double, n);
                ns_sparse_apply(p, L, inverse, block[e], block[e], scratch);
                break;
            }
            lu_solve(n, block[args[0]], (const unsigned *)(block[args[0]] + n * n), block[e]);
            break;
        case NS_OP_PICK:
            v[e] = block[args[0]][node->integer];
            break;
        default:
            v[e] = ns_ops[node->op].value(v[args[0]], node->n > 1 ? v[args[1]] : 0);
        }
    }
    for (size_t i = 0; i < nf; i++)
        out[i] = v[f[i]];
    ns_arena_release(arena, mark);
}

double ns_eval_constant(const ns_graph *g, ns_ex f)
{
    double value;
    ns_eval(g, &f, 1, NULL, NULL, 0, &value);
    return value;
}

double ns_eval_random(uint64_t *state)
{
    NS_CHECK(state);
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

bool ns_eval_vanishes(const ns_graph *g, ns_ex f, ns_ex scale)
{
    enum { POINTS = 24, NEEDED = 4 };
    if (ns_graph_is_zero(g, f))
        return true;
    ns_arena *arena = ns_graph_scratch(g);
    ns_arena_place mark = ns_arena_mark(arena);
    ns_ex roots[2] = {f, scale ? scale : f};
    ns_ex top = roots[0] > roots[1] ? roots[0] : roots[1];
    bool *used = NS_NEW_ARRAY(arena, bool, top + 1);
    ns_graph_mark(g, roots, 2, used);
    NS_LIST(ns_ex) symbols = {0};
    for (ns_ex e = 1; e <= top; e++)
        if (used[e] && ns_graph_op(g, e) == NS_OP_SYMBOL)
            NS_PUSH(arena, symbols, e);
    double *value = NS_NEW_ARRAY(arena, double, symbols.n + 1);
    uint64_t seed = 20090101;
    int defined = 0;
    bool vanishes = true;
    for (int p = 0; p < POINTS && vanishes; p++) {
        /* positive values first, where roots and logarithms exist, then of both signs */
        for (uint32_t j = 0; j < symbols.n; j++)
            value[j] = (p % 2 ? 2 * ns_eval_random(&seed) - 1 : 0.1 + ns_eval_random(&seed));
        double result[2];
        ns_eval(g, roots, 2, symbols.at, value, symbols.n, result);
        if (!isfinite(result[0]))
            continue;
        double size = scale && isfinite(result[1]) ? fabs(result[1]) : 0;
        vanishes = fabs(result[0]) <= 1e-10 * (1 + size);
        defined++;
    }
    ns_arena_release(arena, mark);
    return vanishes && defined >= NEEDED;
}
