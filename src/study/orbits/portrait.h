/* Phase portraits of two-dimensional reduced systems.
 *
 * Two states whose rates depend on these two states (and parameters) alone form a system of
 * their own: an angle and its rate, two momenta.  Its equilibria are found by Newton's method
 * from a grid of starts and told apart by the eigenvalues of the exact Jacobian; from saddles
 * the separatrices are followed; level sets of a quantity of the two states are drawn by
 * marching squares. */
#ifndef NS_STUDY_ORBITS_PORTRAIT_H
#define NS_STUDY_ORBITS_PORTRAIT_H

#include "study/orbits/variation.h"
#include "study/steady/linear.h"

typedef struct ns_portrait_spec {
    uint32_t x, y;         /* the two states */
    double from[2], to[2]; /* the window */
    ns_run_options run;    /* tolerance and method */
    double span;           /* how long curves are followed, both ways */
    uint32_t orbits;       /* about this many further curves */
    uint32_t levels;       /* of the quantity; 0: none */
    ns_ex quantity;        /* of the two states; 0: none */
} ns_portrait_spec;

typedef enum ns_portrait_kind {
    NS_PORTRAIT_SADDLE,
    NS_PORTRAIT_CENTRE,
    NS_PORTRAIT_NODE,
    NS_PORTRAIT_FOCUS,
    NS_PORTRAIT_LINE, /* one of a line of equilibria */
    NS_PORTRAIT_CUSP  /* both eigenvalues vanish */
} ns_portrait_kind;

typedef struct ns_portrait_point {
    double x, y;
    ns_portrait_kind kind;
    ns_eigenvalue eigenvalue[2];
} ns_portrait_point;

typedef struct ns_portrait_curve {
    size_t n;
    double *x, *y; /* a nan lifts the pen */
    uint32_t from; /* separatrix: index of its saddle */
    bool out;      /* unstable: leaves the saddle */
} ns_portrait_curve;

typedef struct ns_portrait {
    const char *message; /* why there is none; "" if there is one */
    NS_LIST(ns_portrait_point) points;
    NS_LIST(ns_portrait_curve) separatrices;
    NS_LIST(ns_portrait_curve) orbits;
    NS_LIST(ns_portrait_curve) levels; /* the pieces of all levels */
} ns_portrait;

ns_portrait *ns_portrait_make(ns_arena *arena, ns_flow *flow, const ns_portrait_spec *spec,
                              const double *x);

/* Does e really depend on a state other than these two, not only in appearance? */
bool ns_portrait_depends_on_others(const ns_system *s, ns_ex e, uint32_t x, uint32_t y);
/* The first two states that form a system (none a mere shadow of the other); false if there are
 * none. */
bool ns_portrait_plane(const ns_system *s, uint32_t *x, uint32_t *y);
/* A window about the start x0, angles once round. */
void ns_portrait_window(const ns_system *s, const double *x0, ns_portrait_spec *spec);

const char *ns_portrait_kind_name(ns_portrait_kind kind);

#endif
