/* Shared by the files of the search for integrals. */
#ifndef NS_STUDY_INVARIANTS_INTEGRALS_INTERNAL_H
#define NS_STUDY_INVARIANTS_INTEGRALS_INTERNAL_H

#include "study/invariants/integrals.h"

typedef struct ns_integrals_work {
    ns_flow *flow;
    ns_arena *arena;
    const ns_family *family;
    ns_sampler *sampler;
    const ns_run_options *run;
    const ns_integrals_options *options; /* for progress; NULL: nobody asks */
    double progress, share; /* how much is done, and what the next candidate is worth */
    bool stopped;           /* by progress */
    const double *x0;
    uint32_t atoms, terms;
    ns_atom *atom;           /* [atoms] velocities, shape, single functions */
    uint8_t *power;          /* [terms][atoms] */
    ns_flow_program *rates;  /* outputs: atoms, then their rates */
    ns_flow_program *slopes; /* [atoms][n] gradients of the atoms */
    /* For densities: what counts as the rate of a function is phi' + factor*weight*phi, and the
     * constant is one of the functions.  The weight is a further output of `rates`. */
    ns_ex weight;       /* 0: none */
    bool negative;      /* the leading coefficient is -1 */
    double factor, rms; /* root mean square of the weight */
    /* samples */
    uint32_t N;
    double *x, *t;      /* [N][n], [N] */
    double *phi;        /* [terms][N] */
    double *dphi;       /* [terms][N] */
    double *divergence; /* [N] the weight */
    /* functions that are independent on the manifold; the first is the constant */
    uint32_t kept;
    uint32_t *column; /* [kept] which term */
    double *size;   /* [kept] root mean squares of the columns: phi/size is what R belongs to */
    double *Q;      /* [kept][N] orthonormal */
    double *R;      /* [kept][kept] upper triangular: phi_k/size_k = sum_j Q_j R_jk */
    double *rate_Q; /* [kept][N] rates of the orthonormal functions, without the weight */
} ns_integrals_work;

/* integrals_space.c: degree of a product in its first n atoms */
uint32_t ns_integrals_degree(const uint8_t *power, uint32_t n);
/* b -= factor a */
void ns_integrals_subtract(uint32_t n, double factor, const double *a, double *b);
/* Coefficients a[kept] of a column in the orthonormal functions; what is left of it stays in v,
 * and is that long. */
double ns_integrals_orthogonalise(const ns_integrals_work *w, double *v, double *a);
/* c = R^-1 a: coefficients of phi/size */
void ns_integrals_coefficients(const ns_integrals_work *w, const double *a, double *c);
/* The first function: the constant is an integral, and counts among them only if there is a
 * weight. */
uint32_t ns_integrals_first(const ns_integrals_work *w);
/* Singular values, ascending, and rows Z[zero][kept] of coefficients of the null space. */
double *ns_integrals_null_space(ns_integrals_work *w, ns_integrals *r);

/* Samples, orthonormal functions and their rates; false with a message if there are none. */
bool ns_integrals_sample(ns_integrals_work *w, const ns_integrals_options *o,
                         const char **message);
/* The combination of lowest degree with rate zero, as a row for ns_integrals_refine; NULL if
 * there is none. r: sigma, n, zero, margin. */
const double *ns_integrals_lowest(ns_integrals_work *w, ns_integrals *r);
/* Terms and programs of the family. */
void ns_integrals_prepare(ns_integrals_work *w);
/* A term in the model language. */
const char *ns_integrals_term_text(const ns_integrals_work *w, uint32_t term);
/* Value and rate of a term from values and rates of the atoms. */
void ns_integrals_term(const ns_integrals_work *w, uint32_t term, const double *atom,
                       double *value, double *rate);
/* A row of coefficients (of phi/size, over the kept functions) becomes an integral:
 * coefficients to the last digit, formulas, verification.  NULL if it is none. */
ns_integral *ns_integrals_refine(ns_integrals_work *w, const double *row);

#endif
