/* What steer.c (Newton's method) and steer_guess.c (where it begins) share. */
#ifndef NS_STUDY_CONTROL_STEER_INTERNAL_H
#define NS_STUDY_CONTROL_STEER_INTERNAL_H

#include "study/control/steer_path.h"

/* d = sign (value - limit) >= 0, of the unknown or of the value at a node. */
typedef struct ns_steer_limit {
    bool keep;
    uint32_t index;
    double sign, limit;
} ns_steer_limit;

typedef struct ns_steer_solver {
    ns_path *p;
    const ns_steer_spec *spec;
    ns_arena *a;
    uint32_t M, k; /* unknowns, goals */
    NS_LIST(ns_steer_limit) rows;
    double *w, *s, *z, *lambda; /* unknowns, slacks, their multipliers, those of the goals */
    double *d, *dw, *ds, *dz;
    double *g_w;          /* of the goals, where the round began */
    double *W, *r, *next; /* Hessian, right-hand side, multipliers to be */
    double *trial, *trial_s;
    double mu, penalty, slope, alpha;
    double scale; /* of the Hessian without the barrier */
    bool bent;    /* the last Hessian was not positive where the goals are kept */
    uint32_t rounds;
} ns_steer_solver;

typedef enum ns_steer_end {
    NS_STEER_FOUND,
    NS_STEER_STALLED,
    NS_STEER_LOST,
    NS_STEER_STOPPED
} ns_steer_end;

/* The motion for the knots w; a second time without the stages of another motion. */
bool ns_steer_follow(const ns_steer_solver *q, const double *w);
/* The largest distance of a goal, relative to its size. */
double ns_steer_miss(const ns_steer_solver *q);

/* steer_guess.c: knots of guess number k: what is given, then waves about it; and knots that
 * bring the goals near, whatever the effort. */
void ns_steer_guess(ns_steer_solver *q, uint32_t number, double *w);
ns_steer_end ns_steer_approach(ns_steer_solver *q);

#endif
