/* Numbers with a point, whatever the locale: the program that uses the library may have chosen
 * one with commas, for itself or for all its threads.  Every function of the library that reads
 * or writes numbers begins with NS_PLAIN_NUMBERS, every thread of its own with ns_plain_begin;
 * the thread gets its own locale back when the function returns. */
#ifndef NS_BASE_PROCESS_PLAIN_H
#define NS_BASE_PROCESS_PLAIN_H

#include <locale.h>

/* The locale before, which ns_plain_end brings back. */
locale_t ns_plain_begin(void);
void ns_plain_end(const locale_t *before);

#define NS_PLAIN_NUMBERS                                                                       \
    __attribute__((cleanup(ns_plain_end), unused))                                             \
    const locale_t ns_plain_before = ns_plain_begin()

#endif
