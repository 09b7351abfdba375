/* Newton's method for equations r(z) = 0, as many or as few as there are unknowns:
 *
 *     z <- z - part dz,      dz the shortest that minimises |D dz - r|^2,   D = dr/dz
 *
 * in one of three manners: whole steps; steps halved until they lead nearer to a solution;
 * or damped ones (Levenberg and Marquardt), which minimise |D dz - r|^2 + mu^2 |dz|^2 with
 * mu in proportion to |r|: that keeps the quadratic convergence, and where the equations do
 * not decide z stays.  The caller says how far z is from a solution. */
#ifndef NS_BASE_MATH_NEWTON_H
#define NS_BASE_MATH_NEWTON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ns_newton {
    uint32_t rows, columns; /* of D */
    double *z;              /* [size] the unknowns, or what contains them */
    uint32_t size;
    void *context;
    /* r and D at z, and how far off it is: 0 at a solution, not finite where r is undefined. */
    double (*look)(void *context, double *r, double *D);
    /* z[column[j]] changes by -part scale[j] dz[j], but for those that are fixed; each NULL:
     * the j-th, 1, none. */
    const uint32_t *column;
    const double *scale;
    const bool *fixed;
    /* Solves for dz in another way than least squares, and may use up r and D; false: stop
     * here.  NULL: least squares, where singular values up to `rcond` times the largest
     * count as zero. */
    bool (*solve)(void *context, double *r, double *D, double *dz);
    double rcond;
    int rounds;    /* at most */
    int halvings;  /* this many lengths are tried, each half of the last; 0: one, and taken */
    bool damped;   /* Levenberg and Marquardt; `halvings` is not used */
    double exact;  /* settled when not farther off than this */
    double near;   /* settled when nearer than this, and no longer nearer than half of before */
    double enough; /* a step that ends not farther off is taken though it leads away */
    double wild;   /* given up when a step leads this many times farther off; 0: never */
} ns_newton;

typedef struct ns_newton_end {
    double off;  /* of z */
    double step; /* length of the last dz; damped only */
    int rounds;  /* steps made */
    /* by `exact` or `near`; otherwise no step led nearer, or the rounds are over */
    bool settled;
} ns_newton_end;

/* Doubles of work space for one search. */
size_t ns_newton_work(const ns_newton *n);

ns_newton_end ns_newton_solve(const ns_newton *n, double *work);

#endif
