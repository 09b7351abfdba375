/* Parameters and starts of a model from measured series, by least squares.
 *
 *     minimise  sum_i ((y_i(q) - d_i) / sigma_c)^2
 *
 * over q within bounds, with y_i the value of column c at the time of measurement i (moved by
 * the offset of its experiment, if that is unknown) and sigma_c the scatter of the column,
 * given or estimated from what the fit leaves.  Levenberg and Marquardt's method; the Jacobian
 * is that of the variational equations, exact.
 *
 * Errors are those of the linear theory: the covariance (J^T J)^-1 at the end.  Directions of q
 * that leave the data unchanged are told by the singular values of J. */
#ifndef NS_STUDY_FIT_FIT_H
#define NS_STUDY_FIT_FIT_H

#include "base/series/series.h"
#include "session/model.h"

typedef struct ns_fit_column {
    const char *name; /* of the value */
    double sigma;     /* 0: to be estimated */
} ns_fit_column;

typedef struct ns_fit_spec {
    const char *const *names; /* [n] parameters, states at the start */
    const double *low, *high; /* [n] bounds, infinite if there are none */
    uint32_t n;
    ns_fit_column *columns; /* [n_columns] */
    uint32_t n_columns;
    const ns_series *data; /* [experiments] */
    uint32_t experiments;
    bool offset; /* the clock of each experiment is off by an unknown time */
    ns_run_options run;
    bool (*progress)(void *context, double fraction); /* false: stop */
    void *context;
} ns_fit_spec;

typedef struct ns_fit {
    ns_status status;
    const char *message;
    uint32_t n;               /* names, then offsets */
    const char *const *name;  /* [n] */
    double *value, *error;    /* [n]; an error of nan: not determined */
    bool *bound;              /* [n] at a bound */
    double *correlation;      /* [n][n] */
    uint32_t rank;            /* of the sensitivities; below n: not all can be told apart */
    const char **combination; /* [n - rank] relative changes that change nothing, in words */
    double chi2;              /* the sum at the end */
    size_t rows;              /* measurements */
    uint32_t rounds;
    double *t, *data, *model, *residual; /* [rows]; residual in units of sigma */
    uint32_t *column, *experiment;       /* [rows] */
    double *sigma;                       /* [n_columns] as used */
} ns_fit;

/* The model must be the caller's alone.  Everything lives in the arena. */
ns_fit *ns_fit_run(ns_arena *arena, ns_model *model, const ns_fit_spec *spec);

#endif
