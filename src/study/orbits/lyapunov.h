/* Lyapunov exponents by variational equations (Benettin et al. 1980): deviations v_j that span
 * the tangent space of the manifold are carried along, orthonormalised at intervals (QR), and
 * the logarithms of the diagonal of R added up.  Exponents of holonomic systems pair at every
 * time: lengths are measured in canonical variables (lyapunov.c). */
#ifndef NS_STUDY_ORBITS_LYAPUNOV_H
#define NS_STUDY_ORBITS_LYAPUNOV_H

#include "study/orbits/variation.h"

typedef struct ns_lyapunov_spec {
    ns_run_options run; /* t0: the beginning */
    double transient;   /* this long, first, without counting */
    double span;        /* then this long */
    double interval;    /* between two orthonormalisations; 0: chosen from the motion */
    uint32_t count;     /* how many exponents, the largest first; 0: all */
    uint32_t rows;      /* running values kept */
    bool (*progress)(void *context, double fraction); /* false stops; may be NULL */
    void *context;
} ns_lyapunov_spec;

typedef struct ns_lyapunov {
    ns_status status;
    const char *message;
    uint32_t n;         /* exponents */
    uint32_t dimension; /* of the manifold */
    double *exponent;   /* [n] decreasing */
    double *spread;     /* [n] how far the running value moved during the second half */
    double sum;        /* of all: mean growth rate of a volume; nan if not all were asked for */
    double divergence; /* mean divergence of the equations on the manifold, at the same times */
    double dimension_ky; /* Kaplan and Yorke; nan if not all were asked for */
    double span, interval;
    uint32_t rows;
    double *t, *running; /* [rows], [n][rows] */
    double *x;           /* [states] at the end */
} ns_lyapunov;

ns_lyapunov *ns_lyapunov_run(ns_arena *arena, ns_flow *flow, const ns_lyapunov_spec *spec,
                             const double *x);

#endif
