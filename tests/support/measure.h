/* For tests of models: limits that say what was measured, and more to ask of a motion. */
#ifndef TEST_SUPPORT_MEASURE_H
#define TEST_SUPPORT_MEASURE_H

#include "support/motion.h"

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* Fails unless |a - b| <= tolerance * max(1, |b|). */
void measure_close(double a, double b, double tolerance, const char *what);
/* Fails unless |a - b| <= tolerance. */
void measure_near(double a, double b, double tolerance, const char *what);
/* Fails unless value < limit. */
void measure_below(double value, double limit, const char *what, const char *of);

double measure_seconds(void); /* of a clock that only goes forward */

double measure_energy_drift(const motion *m);
/* Largest size of a value over all steps so far. */
double measure_extreme(const motion *m, const char *name);

/* A motion of models/NAME.mech by another method than the model's own. */
motion measure_by_method(const char *name, const char *set, const char *method);
/* Ends a motion whose model goes on to be used by another. */
void measure_drop(motion *m);

/* Puts the motion's values at the k-th (from 0) occurrence of an event; false if there is
 * none. */
bool measure_at_event(motion *m, const char *name, uint32_t k);

#endif
