/* What a method sees of a run, and the small tools all methods share.
 *
 * The state is kept as x + x_lo with |x_lo| <= ulp(x)/2: each step adds its increment with
 * compensated summation, so that rounding errors of the additions do not pile up.  Times are
 * plain doubles: steps are chosen so that t + h is exact.
 *
 * A method keeps what the next step or a checkpoint needs in arrays of its own that are part of
 * checkpoints; everything in its scratch arrays may be lost between steps. */
#ifndef NS_ODE_STEPPER_H
#define NS_ODE_STEPPER_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "ode/method.h"

/* Why a step could not be made; the driver puts it in words. */
typedef enum ns_why {
    NS_WHY_NONE,
    NS_WHY_NOT_FINITE, /* the right-hand side gave inf or nan wherever it was tried */
    NS_WHY_STEP,       /* the error asks for steps below what the arithmetic resolves */
    NS_WHY_ITERATION,  /* an iteration does not converge even for the smallest steps */
    NS_WHY_STALLED,    /* steps are made, but the time hardly moves: ns_stepper_stalled */
    NS_WHY_OTHER       /* see ns_stepper.why_text */
} ns_why;

/* Numbers that steps of one motion and of motions in lanes have in common. */
#define NS_STEPPER_ALL 1e-9 /* a fixed step this much shorter than what is left: all of it */
#define NS_STEPPER_NEARLY 1.001      /* and one that is chosen, this many times longer */
#define NS_STEPPER_LEAST 1e-290      /* shorter steps are not tried, even at t = 0 */
enum { NS_STEPPER_LAST_PLACES = 4 }; /* half units of the time that a step takes at least */
/* The size of a state falls by this from step to step at most: the memory keeps one that passes
 * through zero from asking for absurd accuracy. */
#define NS_STEPPER_MEMORY 0.99
/* A state that begins at zero has no size yet: it counts as this part of the largest. */
#define NS_STEPPER_PART 1e-8

/* Plain numbers that change while stepping: part of a checkpoint. */
typedef struct ns_counters {
    double from, t; /* the last step went from `from` to `t` */
    double h;       /* length proposed for the next step, > 0 */
    uint64_t steps, rejected, evaluations;
    double smallest, largest; /* steps so far */
    uint64_t probed;          /* number of the step at which the noise was measured */
    bool noisy;               /* there was much of it: it is measured again soon */
    double mark_t;            /* time and number of the step at which progress was judged */
    uint64_t mark_steps;
    bool moved; /* the state was changed (projected) after the last step */
} ns_counters;

typedef struct ns_drive ns_drive; /* drive.h */

struct ns_stepper {
    const ns_problem *problem;
    const ns_method *method;
    const double *p;    /* [np] */
    const double *p8;   /* [np][8] the same in all lanes */
    const double *p_lo; /* [np] what they lack, for precise methods */
    uint32_t n;
    double sense; /* +1 forwards, -1 backwards in time */
    double until;
    double tolerance, least_size;
    double first_step, max_step, fixed_step; /* 0: not given */
    double cap;                              /* of the next step, by the driver; 0: none */

    ns_counters now;
    double *x, *x_lo;   /* [n] state at now.t */
    double *x0, *x0_lo; /* [n] state at now.from */
    double *size;       /* [n] how large each state is lately; errors are relative to it */
    double *noise;      /* [n] rounding errors of the rates */
    double *rough;      /* [n] the part that shows along the tangent */
    bool fused;         /* of those that ns_program_eval8_fused makes (ensembles) */
    double *change, *other, *rest; /* [n] room for measuring them */
    double
        rough_share; /* the part of them that does not come from errors of the states counts so
                           much: a method takes the noise times its own errors over eps */
    void *view;      /* the method's own: see ns_method.layout */
    double *work8;   /* of the right-hand side on eight lanes, bound */
    double *pinv;    /* see pinv.h */
    double *t8, *x8, *f8; /* [8], [n][8], [n][8]: room for anybody, for a moment */
    ns_drive *drive;      /* what happens in time; NULL: nothing */
    void *outside;        /* memory of an outside library (CVODE), released by method->end */

    ns_why why;
    char why_text[160];
    const char *why_begin; /* literal: why `begin` failed; it outlives the run */
};

/* Right-hand side on one and on eight lanes, counted. */
void ns_stepper_rhs(ns_stepper *s, double *work, double t, const double *x, double *f);
void ns_stepper_rhs8(ns_stepper *s, double *work, const double *t, const double *x, double *f);
bool ns_stepper_finite(const double *values, size_t n);

/* The step to take when |h| is wanted: signed, within max_step, ending exactly at `until` or on
 * a representable time; the last two steps before `until` are made equal rather than one
 * tiny. */
double ns_stepper_clip(const ns_stepper *s, double h);
/* Is a step this long beyond what the arithmetic resolves at the present time? */
bool ns_stepper_too_small(const ns_stepper *s, double h);

/* The status of a method that has come to a step too small; s->why says why, if it did not. */
ns_status ns_stepper_give_up(ns_stepper *s);

/* Is the motion stuck?  Judged every NS_STEPPER_WINDOW steps: they took the time forward by so
 * little of the whole run, from t0 on, that it would need 10^11 of them, and they are far
 * shorter than steps were before.  By steps, not by the clock: results must not depend on the
 * machine. */
enum { NS_STEPPER_WINDOW = 50000 };
bool ns_stepper_stalled(ns_counters *now, double t0, double until);

/* Makes x + x_lo = new state: moves the old one to x0, the time forward by h, updates size. */
void ns_stepper_accept(ns_stepper *s, double h, const double *x_new, const double *x_new_lo);
/* Its parts, for methods that move the state themselves: the time, and the sizes. */
void ns_stepper_advance(ns_stepper *s, double h);
void ns_stepper_resize(ns_stepper *s);

/* Measures the rounding errors of the rates: how far they differ when the state is changed in
 * its last bits.  A rate that is a small difference of large terms has large ones: a state that
 * should be zero may consist of them alone, and shorter steps do not make them less.  Methods
 * do not count them as errors of their own.  Done at the beginning and now and then; a method
 * that gets into trouble asks for it again, and gets it once per step. */
void ns_stepper_measure_noise(ns_stepper *s);
enum { NS_STEPPER_SOON = 4 }; /* steps after which it is done again where there is much of it */
void ns_stepper_trouble(ns_stepper *s);

/* A radius of convergence, about, from finite Taylor coefficients, so far apart from state to
 * state and from degree to degree. */
double ns_stepper_radius(const ns_stepper *s, const double *x, uint32_t order, size_t state,
                         size_t degree);
/* A first step without derivatives: one at which the state changes by a part in `parts`. */
double ns_stepper_guess(const ns_stepper *s, const double *f, double parts);

/* s + e = a + b exactly (Knuth) */
static inline double ns_two_sum(double a, double b, double *e)
{
    const double s = a + b, bb = s - a;
    *e = (a - (s - bb)) + (b - bb);
    return s;
}

/* Adds d + d_lo to the compensated number x + x_lo and normalises. */
static inline void ns_add_compensated(double *x, double *x_lo, double d, double d_lo)
{
    double e1, e2;
    const double sum = ns_two_sum(*x, d, &e1);
    const double hi = ns_two_sum(sum, e1 + (*x_lo + d_lo), &e2);
    *x = hi;
    *x_lo = e2;
}

/* As fmax and fmin where b is the one that may be nan; those are calls of the library. */
static inline double ns_larger(double a, double b)
{
    return b > a ? b : a;
}

static inline double ns_smaller(double a, double b)
{
    return b < a ? b : a;
}

static inline size_t ns_round8(size_t n)
{
    return (n + 7) / 8 * 8;
}

#endif
