/*
 * Motions in quadruple precision, for reference_quad.c.
 */
#ifndef BENCH_REFERENCE_QUAD_H
#define BENCH_REFERENCE_QUAD_H

#include "problems/quad_ode.h"

/* The right-hand sides of hand_rhs*.inc in quadruple precision. */
#define RHS_REAL quad
#define RHS_FN(name) name##_q
#define RHS_C(x) Q(x)
#define RHS_SQRT(x) sqrtf128(x)
#define RHS_SINCOS(x, s, c) (*(s) = sinf128(x), *(c) = cosf128(x))

/* One motion: how to integrate it, and by which other way to check it. */
typedef struct motion {
    const char *name;
    int n;
    quad_rhs *rhs;
    const void *param;
    quad t_end;
    quad y0[QUAD_MAX_N];
    int steps; /* of Gauss collocation with 20 stages */
    const struct newton *other;
    /* The problem's components from the states; NULL: they are the first ones. */
    int components;
    void (*finish)(const quad *y, quad *end);
} motion;

enum { REFERENCE_MORE = 4 };

/* Ellipsoid in a bowl, falling disk, chain, bicycle. */
void reference_more(motion list[REFERENCE_MORE]);

/* Their right-hand sides against others: differences to be small, and in words what they
 * are. */
typedef struct reference_check {
    const char *what;
    double difference;
} reference_check;

enum { REFERENCE_CHECKS = 2 };
void reference_more_check(reference_check list[REFERENCE_CHECKS]);

#endif
