/* Shared by record.c and record_periodic.c. */
#ifndef NS_IO_RECORD_INTERNAL_H
#define NS_IO_RECORD_INTERNAL_H

#include "io/record.h"

/* The i-th output time. */
double ns_record_time(const ns_record *record, size_t i);
/* Appends the values of a state. */
void ns_record_add_row(ns_record *record, double t, const double *x);
/* Writes the files that are due at the time (INFINITY: all), and forgets rows that are in all of them. */
void ns_record_write(ns_record *record, double time);

/* record_periodic.c: the long motion from one period and powers of its shift. */
void ns_record_periodic_begin(ns_record *record); /* finds the period, or ns_record_fail */
void ns_record_periodic_run(ns_record *record);

#endif
