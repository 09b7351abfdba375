/* Eight motions in the lanes of a bundle: the inner loops.  Arrays are [quantity][8], 64-byte
 * aligned.  Compiled once per instruction set (ensemble_plain.c, ensemble_avx2.c,
 * ensemble_avx512.c) from one text, ensemble_step.inc and what it includes; all give the same
 * bits, and no lane's arithmetic depends on another lane.
 *
 * Every lane has its own time, step and error.  An attempt is a step of all live lanes; each
 * lane accepts or rejects its own.  Lanes that are not live go on with steps of length zero. */
#ifndef NS_ODE_ENSEMBLE_ENSEMBLE_KERNEL_H
#define NS_ODE_ENSEMBLE_ENSEMBLE_KERNEL_H

#include <stdalign.h>
#include <stdbool.h>

#include "ode/method.h"

enum { NS_BUNDLE_STAGES = 16, NS_BUNDLE_DENSE = 7, NS_BUNDLE_MOST = 2 };

/* The parts of a right-hand side (cascade.h) as lists without detours: all states that occur in
 * rates, part by part, and after them the others, part by part. */
typedef struct ns_bundle_state {
    uint32_t place; /* of the state in arrays [n][8], bytes */
    int32_t rate;   /* of its rate, bytes from ns_bundle.out on */
} ns_bundle_state;

typedef struct ns_bundle_call {
    const ns_program *program;
    double *work, *out;
} ns_bundle_call;

typedef struct ns_bundle_part {
    uint32_t live, live_end, idle, idle_end; /* its states */
    uint32_t call, call_end;                 /* programs of its rates */
    bool feedback, major;                    /* see cascade.h; a block is */
} ns_bundle_part;

typedef struct ns_bundle_parts {
    uint32_t n; /* parts */
    ns_bundle_part *part;
    ns_bundle_state *state;
    ns_bundle_call *call;
} ns_bundle_parts;

typedef struct ns_bundle {
    alignas(64) double t[8]; /* now */
    double from[8];          /* the last accepted step began here */
    double h[8];             /* signed step: tried; of the last step where it was accepted */
    double want[8];          /* length proposed for the next */
    double longest[8];       /* of the next, where time drives the motion (drive.h) */
    double end[8];           /* it must not go beyond: until, or a switch */
    double error[8];         /* of the step tried, squared; 1 is allowed */
    double factor[8];        /* what it makes of the length of the next step */
    double t_new[8];
    double cautious[8]; /* 1: the step before was rejected, do not grow at once */
    double steps[8], rejected[8], smallest[8], largest[8];
    double evaluations[8]; /* of the attempts */
    double probe_at[8];    /* number of the step at which the noise of the rates is measured */
    double judge[8];       /* and at which its progress is to be judged */
    double stage_t[8];
    int64_t live[8];     /* -1: a motion is in this lane */
    int64_t unsound[8];  /* -1: the rates are not finite at its start */
    int64_t fresh[8];    /* -1: the last step was accepted, its last stage begins the next */
    int64_t trying[8];   /* -1: live and not failed */
    int64_t good[8];     /* -1: the error is small enough */
    int64_t refused[8];  /* -1: rejected because something was not finite */
    int64_t diverged[8]; /* -1: rejected because an iteration did not converge */

    /* gauss: what the next step is predicted from, and what is known of the last ones */
    double base[8];        /* signed length of the step that K belongs to */
    double shift[8];       /* where the next one begins in it: 1, or 0 if it was rejected */
    double tried_error[8]; /* if it was */
    double rho[8];         /* contraction of the sweeps */
    double best[8];        /* length that would have had the error aimed at; 0: none yet */
    double slow[8];        /* as in gauss.c */
    int64_t pass[8];       /* -1: whatever the error */
    double extend[28 * 8]; /* see extend_prediction */
    /* gauss: sweeps under way, as in gauss.c */
    double moved[8], last[8], first[8], seen[8], seen_sweeps[8];
    double reach[8]; /* binary logarithm of the factor by which they would let the step grow */
    double slowest[8]; /* contraction of the parts done */
    double left[8];    /* change when they ended */
    int64_t going[8];  /* -1: not yet converged */
    double expected;   /* what the change would be if every sweep made 0.7 */
    uint32_t part, sweeps;
    bool sweeping; /* in the middle of a step */

    /* of the last attempt, one bit per lane */
    unsigned accepted;
    unsigned ended;    /* at the end of its time */
    unsigned probe;    /* the noise of its rates is to be measured */
    unsigned judged;   /* it has made as many steps as in `judge` */
    unsigned singular; /* the rates are not finite at the state itself */
    unsigned tiny;     /* the step is too small for the arithmetic */
    unsigned leave;    /* better off alone, see ns_bundle_kernel.take */
    bool dense;        /* F and the stages 13.. are those of the last step */

    /* the same for all */
    const ns_problem *problem;
    uint32_t n;
    size_t stride; /* between stages */
    double sense, until, tolerance, max_step, fixed_step, least_size;
    bool project;
    bool driven; /* longest and end count */
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

    /* gauss */
    double goal, settled, price; /* as in gauss.c; the first as a binary logarithm */
    double rounding;             /* ns_gauss_rounding in units of it */
    double *K_new;               /* [n][8] increments tried; K those of the last step */
    double *work_parts;          /* of the blocks of the cascade, bound */
    ns_bundle_parts *parts;
    double *weight, *settle, *out, *room; /* [n] */

    /* projection, see project.c */
    double *work_manifold, *work_change;
    double *g;      /* outputs of manifold or shift */
    double *rows;   /* [m][n] orthonormal rows */
    double *along;  /* [m] coefficients */
    double *change; /* [n] */
    double *x_try, *x_try_low;
    double *inputs;       /* [n + n_shift] */
    const double *metric; /* plain [n] */
} ns_bundle;

/* The events that count, and the probes of these. */
typedef struct ns_bundle_watch {
    const ns_probes *probes;
    bool *event, *probe;
} ns_bundle_watch;

struct ns_bundle_kernel {
    const char *name; /* as ns_program_lanes_name */
    uint32_t kept;    /* rows of K that a step begins with */
    bool by_parts;    /* rates are evaluated by the parts of the cascade, not as a whole */
    bool fixed_steps; /* can make them */
    /* A step tried in every bundle; several side by side hide each other's latencies.  Returns
     * which bundles have come to the end of theirs, one bit each: at least one. */
    unsigned (*attempt)(ns_bundle *const *bundles, uint32_t count);
    /* Stages and coefficients of the interpolant in the last step, by this many evaluations. */
    uint32_t (*dense)(ns_bundle *b);
    /* States at a quarter, half or three quarters of the last step, roughly, into w; times into
     * stage_t. */
    void (*inside)(ns_bundle *b, double u);
    /* Which lanes may have crossed zero, or come near, given values at `count` (3 or 5) equally
     * spaced points of the step, of events and probes: bits. */
    unsigned (*suspects)(const ns_bundle_watch *watch, const double *sign,
                         const double *const *values, int count);
    /* Gives a lane what the method has made of the start of a motion; gives a run what the
     * method keeps of the last step of a lane, so that it could go on alone. */
    void (*give)(const ns_stepper *s, ns_bundle *b, uint32_t lane);
    void (*take)(ns_stepper *s, const ns_bundle *b, uint32_t lane);
};

/* ensemble_parts.c: when the arrays of the bundle are there; NULL: no memory. */
ns_bundle_parts *ns_bundle_parts_new(const ns_bundle *b);
void ns_bundle_parts_free(ns_bundle_parts *parts);

/* dop853.c, gauss_bundle.c */
void ns_dop853_give(const ns_stepper *s, ns_bundle *b, uint32_t lane);
void ns_dop853_take(ns_stepper *s, const ns_bundle *b, uint32_t lane);
void ns_gauss_give(const ns_stepper *s, ns_bundle *b, uint32_t lane);
void ns_gauss_take(ns_stepper *s, const ns_bundle *b, uint32_t lane);

extern const ns_bundle_kernel ns_bundle_plain_dop853, ns_bundle_avx2_dop853,
    ns_bundle_avx512_dop853, ns_bundle_plain_gauss, ns_bundle_avx2_gauss,
    ns_bundle_avx512_gauss;
extern const ns_bundle_kernel *const ns_gauss_bundles[]; /* see ns_method.bundle */

#endif
