/* Eight motions in the lanes of a bundle, stepped by dop853: the inner loops.  Arrays are
 * [quantity][8], 64-byte aligned.  Compiled once per instruction set (ensemble_plain.c,
 * ensemble_avx2.c, ensemble_avx512.c) from one text, ensemble_step.h and ensemble_project.h; all
 * give the same bits, and no lane's arithmetic depends on another lane.
 *
 * Every lane has its own time, step and error.  An attempt is a step of all live lanes; each
 * lane accepts or rejects its own.  Lanes that are not live go on with steps of length zero. */
#ifndef NS_ODE_ENSEMBLE_KERNEL_H
#define NS_ODE_ENSEMBLE_KERNEL_H

#include <stdalign.h>
#include <stdbool.h>

#include "ode/method.h"

enum { NS_BUNDLE_STAGES = 16, NS_BUNDLE_DENSE = 7, NS_BUNDLE_MOST = 2 };

typedef struct ns_bundle {
    alignas(64) double t[8]; /* now */
    double from[8];          /* the last accepted step began here */
    double h[8];             /* signed step: tried; of the last step where it was accepted */
    double want[8];          /* length proposed for the next */
    double error[8];         /* of the step tried, squared; 1 is allowed */
    double factor[8];        /* what it makes of the length of the next step */
    double t_new[8];
    double cautious[8]; /* 1: the step before was rejected, do not grow at once */
    double steps[8], rejected[8], smallest[8], largest[8];
    double probed[8]; /* number of the step when the noise of the rates was measured */
    double stage_t[8];
    int64_t live[8];    /* -1: a motion is in this lane */
    int64_t unsound[8]; /* -1: the rates are not finite at its start */
    int64_t fresh[8];   /* -1: the last step was accepted, its last stage begins the next */
    int64_t trying[8];  /* -1: live and not failed */
    int64_t good[8];    /* -1: the error is small enough */
    int64_t refused[8]; /* -1: rejected because something was not finite */

    /* of the last attempt, one bit per lane */
    unsigned accepted;
    unsigned ended;    /* at the end of its time */
    unsigned probe;    /* the noise of its rates is to be measured */
    unsigned singular; /* the rates are not finite at the state itself */
    unsigned tiny;     /* the step is too small for the arithmetic */
    bool dense;        /* F and the stages 13.. are those of the last step */

    /* the same for all */
    const ns_problem *problem;
    uint32_t n;
    size_t stride; /* between stages */
    double sense, until, tolerance, max_step, fixed_step, least_size;
    bool project;
    void (*rates)(const ns_program *rhs, double *work, const double *t, const double *x,
                  double *out);

    double *work, *work_core; /* of the right-hand sides, bound to the lanes' parameters */
    double *x, *x_lo;         /* [n] at t */
    double *x0, *x0_lo;       /* [n] at from */
    double *x_new, *x_low;    /* [n] of the step tried */
    double *size, *noise;     /* [n] as in ns_stepper; noise four times that */
    double *w;                /* [n] */
    double *K;                /* [NS_BUNDLE_STAGES] of stride */
    double *F;                /* [NS_BUNDLE_DENSE][n] */

    /* projection, see project.c and correct.c */
    double *work_manifold, *work_change;
    double *g;      /* outputs of manifold or shift */
    double *rows;   /* [m][n] orthonormal rows */
    double *along;  /* [m] coefficients */
    double *change; /* [n] */
    double *x_try, *x_try_low;
    double *inputs;       /* [n + n_shift] */
    const double *metric; /* plain [n] */
} ns_bundle;

typedef struct ns_bundle_kernel {
    const char *name; /* as ns_program_lanes_name */
    /* One attempt in every bundle; several bundles side by side hide each other's latencies. */
    void (*attempt)(ns_bundle *const *bundles, uint32_t count);
    /* Stages and coefficients of the interpolant in the last step. */
    void (*dense)(ns_bundle *b);
    /* States at a fraction of the last step by cubic interpolation, into w; times into stage_t. */
    void (*inside)(ns_bundle *b, double u);
    /* Which lanes may have crossed zero, or come near, given values at `count` (3 or 5) equally
     * spaced points of the step: bits.  `watch`: which events count. */
    unsigned (*suspects)(uint32_t events, const bool *watch, const double *sign,
                         const double *const *values, int count);
} ns_bundle_kernel;

/* dop853.c: rates at the start, [n]; gives a run the state and the last step of a lane. */
const double *ns_dop853_first(const ns_stepper *s);
void ns_dop853_take(ns_stepper *s, const ns_bundle *b, uint32_t lane);

extern const ns_bundle_kernel ns_bundle_plain, ns_bundle_avx2, ns_bundle_avx512;

#endif
