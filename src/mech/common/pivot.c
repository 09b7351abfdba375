/* How near to singular are the linear systems of the rates? */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/sparse.h"
#include "mech/system.h"

/* Smallest pivot over the largest, all rows and columns of M[n][n] free to be chosen; M is
 * first scaled so that the largest entry of each row is 1, and is destroyed. */
static double least_pivot(uint32_t n, double *M)
{
    for (uint32_t i = 0; i < n; i++) {
        double most = 0;
        for (uint32_t j = 0; j < n; j++)
            most = ns_max(most, fabs(M[i * n + j]));
        for (uint32_t j = 0; j < n && most > 0; j++)
            M[i * n + j] /= most;
    }
    double first = 0, least = 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = k, c = k;
        for (uint32_t i = k; i < n; i++)
            for (uint32_t j = k; j < n; j++)
                if (fabs(M[i * n + j]) > fabs(M[r * n + c]))
                    r = i, c = j;
        const double pivot = M[r * n + c];
        first = k ? first : fabs(pivot);
        least = first > 0 ? ns_min(least, fabs(pivot) / first) : 0;
        if (!(fabs(pivot) > 0))
            return 0;
        for (uint32_t j = 0; j < n; j++) {
            const double swap = M[k * n + j];
            M[k * n + j] = M[r * n + j];
            M[r * n + j] = swap;
        }
        for (uint32_t i = 0; i < n; i++) {
            const double swap = M[i * n + k];
            M[i * n + k] = M[i * n + c];
            M[i * n + c] = swap;
        }
        for (uint32_t i = k + 1; i < n; i++) {
            const double factor = M[i * n + k] / pivot;
            for (uint32_t j = k; j < n; j++)
                M[i * n + j] -= factor * M[k * n + j];
        }
    }
    return least;
}

/* Entries of the matrix of a FACTOR or LDL node, [n][n] by rows. */
static double *entries_of(const ns_system *s, ns_arena *arena, ns_ex e, uint32_t n, double t,
                          const double *p, const double *x)
{
    const ns_ex *args = ns_graph_args(s->graph, e);
    const bool sparse = ns_graph_op(s->graph, e) == NS_OP_LDL;
    const ns_pattern *pattern = sparse ? ns_sparse_of(s->graph, e) : NULL;
    const uint32_t count = sparse ? pattern->entries : n * n;
    double *value = NS_NEW_ARRAY(arena, double, count + 1);
    ns_system_eval(s, args, count, t, p, x, value);
    if (!sparse)
        return value;
    double *M = NS_NEW_ARRAY(arena, double, (size_t)n * n + 1);
    for (uint32_t k = 0; k < count; k++)
        M[pattern->row[k] * n + pattern->col[k]] = M[pattern->col[k] * n + pattern->row[k]] =
            value[k];
    return M;
}

double ns_system_pivot(const ns_system *s, ns_arena *arena, double t, const double *p,
                       const double *x, uint32_t *size)
{
    enum { MOST = 100 }; /* equations; larger systems are not looked at */
    const uint32_t count = ns_graph_size(s->graph);
    const ns_ex *rates = ns_system_state_rates(s, arena);
    bool *used = NS_NEW_ARRAY(arena, bool, count + 1);
    double least = 1;
    ns_graph_mark(s->graph, rates, s->states.n, used);
    for (ns_ex e = 1; e < count; e++) {
        const ns_op op = ns_graph_op(s->graph, e);
        const uint32_t n = (uint32_t)ns_graph_node(s->graph, e)->integer;
        if (!used[e] || (op != NS_OP_FACTOR && op != NS_OP_LDL) || n > MOST)
            continue;
        const double pivot = least_pivot(n, entries_of(s, arena, e, n, t, p, x));
        if (pivot < least) {
            least = pivot;
            *size = n;
        }
    }
    return least;
}
