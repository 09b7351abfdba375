/* How far can a single trajectory be trusted?
 *
 * A chaotic motion multiplies every error, of the method and of the last bit of the start
 * alike, until nothing of the computed trajectory is left but its statistics; energy and
 * constraints do not show it.  So the motion is followed beside another one, computed by
 * `gauss` as accurately as double precision permits (a run in quadruple precision: by another
 * one), with parameters and start changed in their last bits:
 *     separation(t) = max_i |x_i(t) - y_i(t)| / size_i,
 *     size_i the largest |x_i|, |y_i| so far.
 * The result is the time until which both agree, and how fast they part.
 *
 * A state that should be zero is nothing but rounding, and two runs round differently: it would
 * part at once.  It counts as zero while its size is less than
 *     1e-8 of the vector it is a component of (for a velocity also: that of the place over the
 *     time), or 1000 times what the measured rounding errors of its rate, and of its rate's
 *     rate, can add up to,
 * and then its separation is measured by that vector, if there is one.  Work is measured by the
 * energy of the motion.  States of a formulation's own use (what a contact remembers) do not
 * count: they show in the others where they matter. */
#ifndef NS_SESSION_TRUST_TRUST_H
#define NS_SESSION_TRUST_TRUST_H

#include "session/record.h"

enum { NS_TRUST_POINTS = 1000 };

struct ns_trust {
    size_t n;                    /* times compared */
    double t[NS_TRUST_POINTS];   /* in the direction of the run */
    double off[NS_TRUST_POINTS]; /* separation */
    double until;                /* first time with more than 1e-3/2; nan if there is none */
    double largest;              /* separation */
    uint32_t zeros,
        first_zero; /* states that are nothing but rounding to the end, and one of them */
    double
        tenfold; /* time in which the separation grows ten times, while it grows exponentially;
                  * nan */
};

/* What it would take: evaluations of the right-hand side times its operations. */
double ns_trust_cost(const ns_record *r);

/* Fills r->trust after ns_record_run.  False if that was not possible, and why. */
bool ns_trust_judge(ns_record *r, char *message, size_t room);

/* In words. */
void ns_trust_text(const ns_record *r, char *text, size_t room);

#endif
