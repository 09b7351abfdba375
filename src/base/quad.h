/* Quadruple precision where compiler and C library have it (gcc with glibc).
 *
 * A file that uses it defines _GNU_SOURCE before its first include. */
#ifndef NS_BASE_QUAD_H
#define NS_BASE_QUAD_H

#include <math.h>
#include <stdlib.h>

#if defined(__HAVE_FLOAT128) && __HAVE_FLOAT128 && defined(__GNUC__) && !defined(__clang__)
#define NS_HAVE_QUAD 1
__extension__ typedef _Float128 ns_quad;
#else
#define NS_HAVE_QUAD 0
#endif

#endif
