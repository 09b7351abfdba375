/* For record.c and routes of a record. */
#ifndef NS_SESSION_RECORD_INTERNAL_H
#define NS_SESSION_RECORD_INTERNAL_H

#include "session/record.h"

/* The i-th output time. */
double ns_record_time(const ns_record *record, size_t i);
/* Appends the values of a state. */
void ns_record_add_row(ns_record *record, double t, const double *x);
/* Writes the files that are due at the time (INFINITY: all), and forgets rows that are in all
 * of them. */
void ns_record_write(ns_record *record, double time);

#endif
