/* Symmetry of a model with coordinates, a Lagrangian and constraints (Bloch, Marsden and Zenkov
 * 2009, sections 2.5, 4).
 *
 *     symmetry { shape r; group SE(2); e1 = [..]; ... }
 *
 * splits the coordinates q = (r, g).  The group acts on g from the left; E_A are its
 * left-invariant fields, X_A the generators of the action.  Indices as in section 4.2:
 *
 *     alpha, beta   1 .. sigma   shape
 *     A, B, C       1 .. k       Lie algebra;  a, b, c  1 .. m along S = D cap V,  a', b' the
 *                                rest
 *
 * All that follows is a function of r alone, made on the graph with exact derivatives.  The
 * frame e_A(r) = e_A^B E_B has its first m members in D. */
#ifndef NS_MECH_REDUCED_SYMMETRY_H
#define NS_MECH_REDUCED_SYMMETRY_H

#include "mech/system.h"

/* One factor of the group. */
typedef enum ns_group_kind {
    NS_GROUP_R,     /* R^n and SO(2): numbers that add up */
    NS_GROUP_SE2,   /* angle, x, y */
    NS_GROUP_SO3,   /* Euler angles phi, theta, psi: A = Rz(phi) Rx(theta) Rz(psi) */
    NS_GROUP_SE3,   /* the same, then x, y, z */
    NS_GROUP_FIELDS /* given by generators */
} ns_group_kind;

typedef struct ns_group_factor {
    ns_group_kind kind;
    const char *name;    /* "SE(2)" */
    uint32_t first, dim; /* place among the group coordinates */
    ns_span span;
} ns_group_factor;

typedef struct ns_symmetry {
    ns_description *d;
    ns_system *s;
    const ns_block *block;
    uint32_t n, sigma, k, m, constraints; /* n = sigma + k,  m = k - constraints */
    uint32_t *shape, *group;              /* [sigma], [k] places among the coordinates */
    NS_LIST(ns_group_factor) factors;
    const char *name; /* "SO(2) x SE(2)" */
    ns_ex *q, *dq;    /* [n] coordinates and velocities as symbols */
    ns_ex *r, *dr;    /* [sigma] those of the shape */
    ns_ex *X, *E;     /* [k][n] generators; left-invariant fields */
    ns_ex *C0;        /* [k][k][k] structure constants of E: [E_A, E_B] = C0[A,B,C] E_C */
    ns_ex *rows;      /* [constraints][n] of the velocities */
    ns_ex *rest;      /* [constraints] terms without velocities */
    ns_ex *from,
        *to; /* [n_from] puts the group coordinates to one point: invariance allows it */
    uint32_t n_from;
    double invariance_L, invariance_D; /* largest relative failure at random states */
    double principal;                  /* smallest singular value that D + V = TQ rests on */
    /* geometry; all depend on r alone */
    bool framed;  /* the user gave the frame */
    ns_ex *e;     /* [k][k] e_A along E_B */
    ns_ex *C;     /* [k][k][k] of the frame e */
    ns_ex *gamma; /* [k][sigma][k] d e_A/d r^alpha = gamma e_B     (2.16) */
    ns_ex *I;     /* [k][k] locked inertia */
    ns_ex *K;     /* [sigma][k] */
    ns_ex *A;     /* [sigma][k] nonholonomic connection (Def 4.2) */
    ns_ex *mech;  /* [sigma][k] mechanical connection (Def 2.4) */
    ns_ex *Gc;    /* [sigma][sigma] */
    ns_ex *IS;    /* [m][m] constrained locked inertia; ISi its inverse */
    ns_ex *ISi;
    ns_ex *IUS; /* [k-m][m];  J = I_US I_S^-1 */
    ns_ex *J;
    ns_ex *Lambda; /* [k-m][sigma] */
    ns_ex *B;      /* [sigma][sigma][k] curvature with the terms in gamma: (2.19), (4.11) */
    ns_ex *Ecal;   /* [sigma][m][k] (2.18), for b in S */
    ns_ex *Q;      /* [m][m][m] p'_a = Q_a^cd p_c p_d + tau .. + R ..; symmetric in c, d */
    ns_ex *tau;    /* [m][sigma][m] D_{a alpha}^c */
    ns_ex *R;      /* [m][sigma][sigma] symmetric in alpha, beta */
    ns_ex V;
    /* Terms of l linear in the velocities, gr_alpha r'^alpha + b_A Omega^A, and affine
     * constraints, which give Omega^a' = w^a'.  All vanish unless `linear`. */
    bool linear, affine;
    ns_ex *gr;       /* [sigma] */
    ns_ex *b;        /* [k] */
    ns_ex *w;        /* [k-m] */
    ns_ex *base;     /* [m] p at Omega^a = 0: I_aa' w^a' + b_a */
    ns_ex *rise;     /* [k-m] P_a' = J p + Lambda r' + rise: I_U w + b_U - J base */
    ns_ex frame_det; /* 0, or what vanishes where the frame made by the program ends */
    /* in the coordinates and velocities of the model */
    ns_ex *p, *Omega; /* [m] */
} ns_symmetry;

/* Reads and verifies the `symmetry` block (kind other than `map`) of a description and makes
 * the geometry; *out is NULL if there is no such block.  False after errors. */
bool ns_symmetry_read(ns_description *d, ns_system *s, ns_symmetry **out);

/* The same for `lagrange` and `hamel`: facts, lines for `noslip equations`, the momenta as
 * values symmetry.p1, ...  Sets s->symmetry. */
bool ns_symmetry_attach(ns_description *d, ns_system *s);

/* symmetry_groups.c: generators, left-invariant fields and structure constants of the named
 * factors; false if the word is none.  dim: what the word and its argument say. */
bool ns_symmetry_group_find(const char *word, uint32_t argument, ns_group_kind *kind,
                            uint32_t *dim);
void ns_symmetry_group_fields(ns_symmetry *y, const ns_group_factor *f);

/* Coordinates near the start, with numbers for all parameters and random velocities: the values
 * of `symbol` (parameters, q, q'), of which there are *count.  The first point is the start. */
void ns_symmetry_point(const ns_symmetry *y, uint32_t point, uint64_t *seed,
                       const ns_ex **symbol, const double **value, uint32_t *count);
enum { NS_SYMMETRY_POINTS = 12 };

/* symmetry_geometry.c */
bool ns_symmetry_geometry(ns_symmetry *y);
void ns_symmetry_note(const ns_symmetry *y);
/* The reduced equations (4.6), (4.7), where they are not the system's own. */
void ns_symmetry_note_reduced(const ns_symmetry *y);

/* symmetry_rates.c: Omega = I_S^-1 (p - base) */
void ns_symmetry_velocity(const ns_symmetry *y, const ns_ex *p, ns_ex *Omega);
/* Full momentum P_C = dl/dOmega^C on the constraints: P_a = p_a, P_a' = J p + Lambda r'
 * (+ rise). */
void ns_symmetry_full_momentum(const ns_symmetry *y, const ns_ex *p, ns_ex *P);
/* Right-hand side of (4.3): [ad*_Omega P + <P, i_r' E>]_a */
void ns_symmetry_momentum_rate(const ns_symmetry *y, const ns_ex *Omega, const ns_ex *P,
                               ns_ex *rate);
/* r'' from (4.2) */
void ns_symmetry_shape_rate(const ns_symmetry *y, const ns_ex *Omega, const ns_ex *P,
                            ns_ex *ddr);
/* Rates of the group coordinates, by place among them: g' = g(Omega - A r')      (2.15) */
void ns_symmetry_group_rate(const ns_symmetry *y, const ns_ex *Omega, ns_ex *rate);

/* symmetry_map.c: verifies `symmetry map` blocks and reversibility on the equations. */
typedef struct ns_discrete {
    const char *name;  /* "t -> -t, r -> -r" */
    bool reverses;     /* t -> -t */
    double difference; /* largest relative difference of DS f and +-f(S) */
    const ns_ex *S;    /* [about] images of the first states, in states */
    uint32_t about;    /* all states, or those of the reduced equations */
    ns_span span;
} ns_discrete;
/* The maps of the model, then the reversal of all odd states (name NULL); *n of them. */
const ns_discrete *ns_symmetry_maps(const ns_system *s, const double *p, const double *x,
                                    uint32_t *n);
/* Errors for maps that name no state, or give it no single value, and for a symmetry that the
 * formulation did not read. */
bool ns_symmetry_maps_known(const ns_description *d, const ns_system *s);

#endif
