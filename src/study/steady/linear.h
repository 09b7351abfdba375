/* Linear stability of a steady motion, from the exact Jacobian.
 *
 * A steady motion (relative equilibrium) is a state x0 with f(x0) = xi(x0), xi = sum_k c_k xi_k
 * a symmetry.  Seen from a frame that moves along, x0 is at rest and small deviations obey v' =
 * L v, L = Df(x0) - sum_k c_k A_k, on the tangent space T of the manifold.  Some deviations
 * lead to the same motion or to another steady one.  They are divided out, one after the other:
 *   - along symmetries, span xi_k(x0): L maps it into itself;
 *   - along the family of steady motions, the kernel of L on what is left (as many as there are
 *     integrals in involution with nothing else; of each further kernel the same).
 * A matrix L with an invariant subspace has, on the orthogonal complement, the spectrum of the
 * quotient; no eigenvalue is divided by a small number.  What remains decides about
 * stability. */
#ifndef NS_STUDY_STEADY_LINEAR_H
#define NS_STUDY_STEADY_LINEAR_H

#include "study/flow.h"
#include "study/invariants/generators.h"

enum { NS_LINEAR_LEVELS = 4 };

typedef struct ns_eigenvalue {
    double re, im;
} ns_eigenvalue;

/* How many directions are set apart at each level; found at a generic state and kept along a
 * branch. */
typedef struct ns_linear_shape {
    uint32_t levels;
    uint32_t family[NS_LINEAR_LEVELS]; /* dimension of the kernel after the symmetries, ... */
} ns_linear_shape;

typedef struct ns_linear {
    uint32_t tangent;  /* dimension of the manifold */
    uint32_t symmetry; /* dimension of the group orbit */
    uint32_t family;   /* further neutral directions: steady motions nearby */
    uint32_t
        conserved; /* independent differentials of energy and invariants on what is left after
                           the symmetries */
    uint32_t n;    /* eigenvalues that remain */
    ns_eigenvalue *eigenvalue; /* [n] by decreasing real part, then imaginary part */
    double scale;              /* largest modulus of an eigenvalue */
    double det;                /* determinant of what remains: det 2^det_exponent; 0 if empty */
    int det_exponent;
    uint32_t unstable, zero,
        stable;        /* of the remaining eigenvalues; the others are imaginary */
    double *basis, *M; /* [n][states] orthonormal; M = basis L basis^T, [n][n] */
    ns_linear_shape shape;
} ns_linear;

/* c[generators->count].  `shape` NULL: find it.  The result lives in `arena`. */
ns_linear *ns_linear_at(ns_flow *field, const ns_generators *g, ns_arena *arena,
                        const double *x, const double *c, const ns_linear_shape *shape);

/* What is left after the symmetries, before the family is divided out: orthonormal rows
 * basis[r][states] and M = basis L basis^T, [r][r]; returns r.  `arena` is not the field's
 * scratch memory. */
uint32_t ns_linear_quotient(ns_flow *field, const ns_generators *g, ns_arena *arena,
                            const double *x, const double *c, double **basis, double **M);

/* Real parts below this are not distinguished from zero: a double zero shows the root of a
 * rounding error. */
double ns_linear_tolerance(const ns_linear *l);

/* Pairs the n eigenvalues of one point of a branch with those guessed from the points before:
 * now[order[k]] goes on from guess[k].  The nearest pairs are taken first. */
void ns_linear_join(ns_arena *scratch, uint32_t n, const ns_eigenvalue *guess,
                    const ns_eigenvalue *now, uint32_t *order);

/* A verdict in words. */
const char *ns_linear_verdict(ns_arena *arena, const ns_linear *l);

/* Eigenvalues of a general matrix, sorted as above; false, and nan, if an entry is not
 * finite. */
bool ns_linear_eigenvalues(ns_arena *scratch, uint32_t n, const double *M, ns_eigenvalue *out);

#endif
