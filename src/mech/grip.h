/* Contacts of formulations with coordinates that stick or slide in one direction under
 * Coulomb's friction: the blade of a sleigh, a tyre, a brake, a block on a belt, disks on a
 * curve.
 *
 *     contact NAME { slip EXPR; normal EXPR; friction coulomb(MU) | coulomb(STATIC, KINETIC) }
 *
 * Equations: grip.c. */
#ifndef NS_MECH_GRIP_H
#define NS_MECH_GRIP_H

#include "mech/contact/sliding.h"

typedef struct ns_grip {
    const char *dot; /* what its values begin with: "NAME.", or "" */
    ns_span span;
    const ns_block *block; /* where its normal force is; NULL if `normal` is given */
    uint32_t row;          /* its slip velocity, among the constraints */
    ns_law law;
    ns_ex normal; /* in coordinates, velocities, accelerations and reactions */
} ns_grip;

typedef struct ns_grips {
    ns_grip at[NS_SLIDING_MOST];
    uint32_t n;
    const char *holds; /* the name of the mode without slip */
    bool bare;         /* normal force and friction are values already */
} ns_grips;

/* Reads blocks `contact`; their slips become constraints of the description.  False after
 * errors. */
bool ns_grip_read(ns_description *d, ns_system *s, ns_grips *grips);
/* Their normal forces, once reactions are known. */
bool ns_grip_normals(ns_description *d, ns_system *s, const ns_dalembert *w, ns_grips *grips);

/* States, modes, multipliers and events of a system with grips.  `solve` finds accelerations
 * and multipliers of rows from M, Q, A, b. */
void ns_grip_assemble(ns_dalembert *w, const ns_grips *grips,
                      void (*solve)(const ns_dalembert *, ns_ex *a, ns_ex *lambda));

/* lagrange.c: formulation `lagrange` of a description whose grips have been read. */
bool ns_lagrange_derive(ns_description *d, ns_system *s, ns_grips *grips);
bool ns_lagrange_sizes(const ns_system *s, ns_diag *diag, const double *p);
/* The equations of a system of this formulation; NULL for others. */
const ns_dalembert *ns_lagrange_equations(const ns_system *s);

/* Are the coefficients what they must be?  False after an error. */
bool ns_grip_sizes(const ns_system *s, const ns_grips *grips, ns_diag *diag, const double *p);

#endif
