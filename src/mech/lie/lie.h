/* Lie algebras and groups of matrices: what formulation `lie` (lie.c) and the study of
 * invariant measures (study/invariants/measure.c) share.
 *
 * A basis e_1 .. e_n with [e_a, e_b] = C_ab^c e_c, and, for the motion on the group, a
 * representation by N x N matrices E_a with E_a E_b - E_b E_a = C_ab^c E_c. */
#ifndef NS_MECH_LIE_LIE_H
#define NS_MECH_LIE_LIE_H

#include "mech/system.h"

/* How a block of the group matrix is inverted, and which equations keep it in the group. */
typedef enum ns_lie_kind {
    NS_LIE_ROTATION,  /* g^T g = 1 */
    NS_LIE_EUCLIDEAN, /* [R x; 0 1], R^T R = 1 */
    NS_LIE_SPECIAL,   /* 2 x 2, det g = 1 */
    NS_LIE_UNIPOTENT, /* 1 + nilpotent */
    NS_LIE_MATRICES   /* nothing known: inverted by `solve` */
} ns_lie_kind;

/* A direct summand: basis vectors first .. first + n - 1, matrix rows and columns row ..
 * row + size - 1. */
typedef struct ns_lie_part {
    ns_lie_kind kind;
    const char *name; /* so(3) */
    uint32_t first, n, row, size;
} ns_lie_part;

typedef struct ns_lie {
    uint32_t n;       /* dimension */
    ns_ex *C;         /* [n][n][n]: C[(a*n + b)*n + c] = C_ab^c, in terms of parameters */
    bool numbers;     /* the C are plain numbers */
    const char *name; /* of the algebra, for people */
    ns_span span;     /* of the block */
    uint32_t N;       /* size of the matrices; 0: the group is not followed */
    ns_ex *E;         /* [n][N][N] */
    NS_LIST(ns_lie_part) parts;
    bool adjoint; /* the matrices are those of ad: g is Ad_g */

    /* made by the formulation */
    uint32_t constraints;
    ns_ex *v;       /* [n] symbols */
    ns_ex *p;       /* [n] momenta dl/dv */
    ns_ex *M;       /* [n][n] d2l/dv2 */
    ns_ex *a;       /* [constraints][n] covectors */
    ns_ex *c;       /* [constraints] terms without velocities: a.v + c = 0 */
    bool affine;    /* some c is not zero */
    ns_ex *lambda;  /* [constraints] */
    ns_ex *torque;  /* [n] e_b[l]: derivative of l along the left-invariant fields */
    ns_ex *g;       /* [N][N] entries of the group matrix: states or numbers */
    ns_ex *mu;      /* [n] spatial momentum Ad*_{g^-1} p; NULL without g */
    bool invariant; /* neither l nor the constraints depend on g or time */
    bool quadratic; /* l = v.M v/2 with M free of v and g: section 5 applies */
} ns_lie;

/* ---- lie_algebras.c ---- */

/* Reads the block `algebra`: brackets (antisymmetry completed), matrices.  NULL after
 * errors. */
ns_lie *ns_lie_read(ns_description *d, ns_system *s, const ns_block *block);

/* Values of the structure constants for parameter values p: C[n][n][n]. */
void ns_lie_constants(const ns_lie *w, const ns_system *s, const double *p, double *C);

/* Largest failure of the Jacobi identity, relative to the size of its terms, and the triple
 * (a, b, c, counted from 0) where it occurs. */
double ns_lie_jacobi(ns_arena *arena, uint32_t n, const double *C, uint32_t triple[3],
                     double *size);

/* ---- lie_facts.c ---- */

/* T_a = Tr ad_{e_a}; the algebra is unimodular if T vanishes. */
void ns_lie_trace(uint32_t n, const double *C, double *T);
/* Killing form Tr(ad_a ad_b), [n][n]. */
void ns_lie_killing(uint32_t n, const double *C, double *kappa);

/* Casimir functions linear and quadratic in the momenta p, as claims of the system: `expected`
 * says whether they are constant along its motion. */
void ns_lie_casimirs(const ns_lie *w, ns_system *s, bool expected);

/* ---- lie_group.c ---- */

/* Which entries of g move; fills w->g with new symbols (NS_SYM_STATE) for those. */
void ns_lie_group_symbols(ns_lie *w, ns_system *s, ns_ex *entry_symbols, uint32_t *n_symbols);
/* g' = g v: entry (i, j), for a given v[n]. */
ns_ex ns_lie_group_rate(const ns_lie *w, ns_graph *g, const ns_ex *v, uint32_t i, uint32_t j);
/* The equations that keep g in the group become constraints of the system. */
void ns_lie_group_manifold(const ns_lie *w, ns_system *s);
/* Ad*_{g^-1} of a covector. */
void ns_lie_group_to_space(const ns_lie *w, ns_system *s, const ns_ex *covector, ns_ex *out);
const char *ns_lie_group_entry(const ns_lie *w, ns_arena *arena, uint32_t i, uint32_t j);

/* ---- lie.c ---- */

/* The algebra of a system of formulation `lie`, NULL for others. */
const ns_lie *ns_lie_of(const ns_system *s);

/* ---- lie_check.c ---- */

/* The formulation's `verify`: Jacobi identity, inertia positive definite, covectors
 * independent. */
bool ns_lie_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                   const double *x);

/* Largest relative failure of (5.7), mu' = lambda_s Ad*_{g^-1} a^s + Ad*_{g^-1} e[l], at random
 * states near x; nan if the group is not followed. */
double ns_lie_spatial_failure(const ns_system *s, const double *p, const double *x,
                              uint32_t *points);

#endif
