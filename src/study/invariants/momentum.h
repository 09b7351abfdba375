/* Momentum integrals of a symmetric system (Bloch, Marsden and Zenkov 2009, sections 4.3, 6.2,
 * 6.4).
 *
 * A quantity <p, eta(z)> linear in the momenta is constant along every motion if and only if
 *
 *     d eta^c + T_i^c_a eta^a dz^i = 0   and   K_a eta^a = 0                    (4.12), Theorem
 *     4.4
 *
 * where z are the shape variables, T_alpha^c_a = tau_a alpha^c, and the rows K are the terms of
 * the momentum equation that are quadratic in p and in r'.  z may include one coordinate s of
 * the group (6.2) whose rate depends on r and s alone, s' = Y^d p_d + y_alpha r'^alpha; then d
 * eta/ds is found from the terms quadratic in p.
 *
 * The solutions are a linear space: eta at the base point must stay in the kernel of K and of
 * the curvature of T when carried along all paths.  That is decided by singular values over a
 * region of z; where it holds, eta(z) is found by integrating (4.12) along straight lines. */
#ifndef NS_STUDY_INVARIANTS_MOMENTUM_H
#define NS_STUDY_INVARIANTS_MOMENTUM_H

#include "mech/reduced/symmetry.h"
#include "ode/run.h"

/* T, K and the curvature on the graph, for shape variables and perhaps one group coordinate. */
typedef struct ns_parallel {
    const ns_symmetry *y;
    uint32_t dim, m, rows; /* variables z; momenta; conditions */
    ns_ex *z, *dz;         /* [dim] symbols; rates in states of the system */
    const char **name;     /* [dim] */
    uint32_t along;    /* place of the group coordinate among the coordinates, or UINT32_MAX */
    ns_ex *T;          /* [dim][m][m] */
    ns_ex *K;          /* [rows][m] in scaled units */
    ns_ex *F, *F_size; /* [pairs][m][m] curvature in scaled units; size of its terms */
    ns_ex *scale;      /* [m] sqrt of the diagonal of I_S */
    ns_ex *terms;      /* [n_terms] in the units of K: what its size is compared with */
    uint32_t pairs, n_terms,
        n_structure;          /* the first n_structure are not terms of the equation */
    uint32_t n_Q, n_tau, n_D; /* then those of Q, tau, D */
    /* z' = delta, Phi' = -T_i delta_i Phi, (ln W)' = -Tr T_i delta_i: states z, delta, Phi, ln
     * W */
    const ns_problem *carrier;
    ns_ex *Phi; /* [m][m] its symbols */
} ns_parallel;

typedef struct ns_momentum_options {
    double *low, *high; /* [dim] the region; NULL or nan: where the run goes */
    double *base;       /* [dim] where eta is the frame itself; NULL or nan: the start */
    double until;       /* of the run that is watched */
    uint32_t points;    /* of the table; 0: 9 */
} ns_momentum_options;

typedef struct ns_momentum {
    const ns_parallel *c;
    double *low, *high, *base, *start; /* [dim] */
    double *Phi_start;                 /* [m][m] from the base to the start of the run */
    double size_Q, size_tau, size_D, curvature; /* largest, relative to the largest term */
    double *sigma;  /* [m] singular values of all conditions, relative */
    uint32_t found; /* integrals */
    double *eta0;   /* [found][m] at the base point */
    bool all;       /* found = m: the basis at the base point is the frame itself */
    bool constant;  /* T does not depend on z: eta = exp(-T z) */
    /* the table */
    uint32_t points, used; /* used: where everything is defined */
    double *at;            /* [points][dim] */
    double *Phi;           /* [points][m][m]: eta(z) = Phi eta(base) */
    double *field;         /* [points][found][k] eta_i along the basis of the Lie algebra */
    double *W, *W_trace;   /* [points] det Phi, and by (6.16) from the trace of tau */
    /* the run */
    ns_status status;
    const char *reason;
    double until;
    double *value, *drift; /* [found] at the start; largest relative change */
    double
        path_difference; /* eta carried along the motion against eta(z) at its end, relative */
} ns_momentum;

/* NULL if `along` (a place among the coordinates, UINT32_MAX for none) is not usable; *why. */
const ns_parallel *ns_momentum_connection(const ns_system *s, uint32_t along, const char **why);

/* Decides, carries eta over the region, and watches the integrals along a run.  NULL with
 * *message if a run could not be made. */
const ns_momentum *ns_momentum_search(const ns_system *s, const ns_parallel *c,
                                      const ns_momentum_options *options,
                                      const ns_run_options *run, const double *p,
                                      const double *x0, const char **message);

/* The place of a symbol among the states. */
uint32_t ns_momentum_state(const ns_system *s, ns_ex symbol);
/* The system with eta_i carried along as further states (eta[found][m]) and the integrals as
 * its invariants. */
ns_system *ns_momentum_with_eta(const ns_system *s, const ns_momentum *f, ns_ex *eta);

/* The amended potential U_c(r) = p(r) I_S^-1 p(r)/2 + V(r) on the level of all m integrals, for
 * one shape variable: where U_c <= h (section 6.5). */
typedef struct ns_amended {
    double h;                 /* energy */
    double low, high;         /* around the start; infinite if no limit was found */
    double run_low, run_high; /* where the run went, turning points included */
    double least;             /* smallest (h - U_c)/scale along the run: not below zero */
    uint32_t points;
    double *r, *U; /* [points] a table */
} ns_amended;
const ns_amended *ns_momentum_amended(const ns_system *s, const ns_momentum *found,
                                      const ns_run_options *run, const double *p,
                                      const double *x0, const char **message);

#endif
