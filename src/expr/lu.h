/* Dense LU factorisation with partial pivoting, the one definition of what FACTOR and SOLVE
 * compute.  Included by every evaluator with its own number type: define NS_LU_REAL,
 * NS_LU_ABS and NS_LU_NAME (a macro that decorates names) before.
 *
 * The order of operations is fixed (row-oriented elimination, dot products left to right), so
 * that evaluators of the same precision agree to the bit. */

/* lu: n x n by rows, overwritten by L (unit diagonal, below) and U; pivot[k]: row exchanged with
 * row k.  A zero pivot makes infinities or NaNs in the solution, never a crash. */
static inline void NS_LU_NAME(factor)(unsigned n, NS_LU_REAL *lu, unsigned *pivot)
{
    for (unsigned k = 0; k < n; k++) {
        unsigned best = k;
        for (unsigned i = k + 1; i < n; i++)
            if (NS_LU_ABS(lu[i * n + k]) > NS_LU_ABS(lu[best * n + k]))
                best = i;
        pivot[k] = best;
        if (best != k)
            for (unsigned j = 0; j < n; j++) {
                NS_LU_REAL swap = lu[k * n + j];
                lu[k * n + j] = lu[best * n + j];
                lu[best * n + j] = swap;
            }
        NS_LU_REAL inverse = 1 / lu[k * n + k];
        for (unsigned i = k + 1; i < n; i++) {
            NS_LU_REAL factor = lu[i * n + k] * inverse;
            lu[i * n + k] = factor;
            for (unsigned j = k + 1; j < n; j++)
                lu[i * n + j] -= factor * lu[k * n + j];
        }
        lu[k * n + k] = inverse; /* the diagonal of U is kept inverted */
    }
}

/* x = M^-1 x in place */
static inline void NS_LU_NAME(solve)(unsigned n, const NS_LU_REAL *lu, const unsigned *pivot,
                                     NS_LU_REAL *x)
{
    for (unsigned k = 0; k < n; k++) {
        NS_LU_REAL swap = x[pivot[k]];
        x[pivot[k]] = x[k];
        x[k] = swap;
    }
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = 0; j < i; j++)
            x[i] -= lu[i * n + j] * x[j];
    for (unsigned i = n; i-- > 0;) {
        for (unsigned j = i + 1; j < n; j++)
            x[i] -= lu[i * n + j] * x[j];
        x[i] *= lu[i * n + i];
    }
}
