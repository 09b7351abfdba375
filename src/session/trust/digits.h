/* How many digits of the values of a record are right?
 *
 * Energy and residuals do not tell: a motion may keep both and be wrong.  So the motion is
 * computed twice more, as accurately as double precision permits, by `gauss` and by `taylor`,
 * from numbers that are rounded differently (shaken.h, NS_MODEL_SHAKEN), in steps short enough
 * to meet what the run may have passed over.  Values of one of them are evaluated in quadruple
 * precision.  The results differ by
 *     errors of the method, which the other runs do not share,
 *     rounding errors, which every step sequence makes in its own way,
 *     the rounding of given numbers, which no run can undo,
 *     rounding errors inside the values.
 * Five times the largest difference up to a time, for safety, is taken as the error there:
 *     digits d:  |value - exact| <= 10^-d |value|. */
#ifndef NS_SESSION_TRUST_DIGITS_H
#define NS_SESSION_TRUST_DIGITS_H

#include "session/record.h"

enum {
    NS_DIGITS_MOST = 15,     /* that a double can have */
    NS_DIGITS_MOST_QUAD = 31 /* and a value of a run in quadruple precision */
};

/* Fills r->digits after ns_record_run, for all rows in r->table; the record must have been made
 * with `keep`.  False if memory ran out, or if the other runs could not be made: then `message`
 * says why. */
bool ns_digits_judge(ns_record *r, char *message, size_t room);

/* The same by two runs in quadruple precision, with other tolerances.  Sharper, for the error
 * of a run in double precision is seen as it is.  For runs in quadruple precision the first
 * does this, and one of the others has a start and values with other rounding errors
 * (eval/interp/shaken.c). */
bool ns_digits_judge_quad(ns_record *r, char *message, size_t room);

/* Of one value, 0 to NS_DIGITS_MOST; -1: not known, for another run ended earlier. */
int ns_digits_at(const ns_record *r, uint32_t column, size_t row);

#endif
