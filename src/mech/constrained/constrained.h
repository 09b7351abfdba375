/* For the files of the formulation `constrained`: bodies, particles and what derivation leaves
 * behind for checks. */
#ifndef NS_MECH_CONSTRAINED_CONSTRAINED_H
#define NS_MECH_CONSTRAINED_CONSTRAINED_H

#include "mech/common/dalembert.h"
#include "mech/common/vec3.h"
#include "mech/contact/law.h"
#include "mech/contact/shapes.h"

typedef struct ns_member {
    const char *name;
    const ns_block *block;
    bool is_body;
    uint32_t unit;  /* row that keeps a body's quaternion at length one */
    uint32_t first; /* its first coordinate: position, then the quaternion of a body */
    ns_v3 position, velocity; /* coordinates and their derivatives */
    ns_ex quat[4], quat_rate[4];
    ns_m3 A;     /* body to space */
    ns_v3 omega; /* body frame */
    ns_ex mass;
    ns_v3 com; /* centre of mass from the body's origin, body frame */
    ns_v3 com_space, com_velocity;
    ns_m3 inertia;
} ns_member;

/* A body or ground with a shape. */
typedef struct ns_shaped {
    const ns_block *block;
    ns_shape shape;
} ns_shaped;

/* A contact: what its values, checks and first guesses need, in space. */
typedef struct ns_touch {
    const char *name;
    ns_span span;
    const ns_block *block;
    uint32_t first, second; /* members; the second is UINT32_MAX if it is a ground */
    uint32_t particle;      /* member */
    uint32_t row, rows;     /* first row and number of rows */
    uint32_t slip;          /* the first of two rows of slip, where there is a law */
    const ns_law *law;      /* of friction; NULL: it rolls, or slides without */
    ns_v3 normal;    /* of the second side, or minus that of the first; towards the first */
    bool has_normal; /* not for a curve on a curve */
    ns_ex facing;    /* product of the two outward normals: negative; 0 if not surfaces */
    ns_ex bend[3]; /* sum of the curvatures in the tangent plane, 11, 12, 22: positive; or 0 */
    ns_v3 chart; /* normal of a ground with coordinates of its own, from `chart_first`; or 0 */
    uint32_t chart_first;
    /* guesses */
    ns_ex gap;  /* distance of the particle from the second side; 0 if it needs coordinates */
    ns_v3 from; /* else: the second side's point at its coordinates */
    ns_v3 support; /* the first side's point with normal opposite to `normal` */
    bool has_support;
    NS_LIST(ns_limit) limits; /* where the parts that touch end */
} ns_touch;

typedef struct ns_constrained {
    NS_LIST(ns_member) members;
    NS_LIST(ns_constraint_line)
    rows; /* all constraints: the user's, joints, unit quaternions */
    NS_LIST(ns_force_line) forces;
    ns_ex lagrangian;
    ns_dalembert eq;
    ns_v3 gravity;          /* acceleration of free fall */
    ns_ex energy_level;     /* state that holds the start's energy, for `keep energy`; else 0 */
    bool pinv;              /* runs use (42) */
    ns_ex kappa2;           /* of route `augmented`; 0: `saddle` */
    struct ns_slips *slips; /* contacts with friction, constrained_law.c; or NULL */
    ns_ex baumgarte;        /* rate of stabilisation instead of projection; 0 without */
    ns_ex *acceleration, *multiplier;
    ns_locals locals; /* x, y, z, u, v inside shapes */
    NS_LIST(ns_touch) touches;
    ns_ex
        *reaction; /* [rows, then 4 of each touch]: symbols that forces may contain; or NULL */
    NS_LIST(ns_shaped) shapes;
} ns_constrained;

/* constrained_members.c: those that the model names, with their names.  False after errors. */
bool ns_constrained_members(ns_description *d, ns_constrained *c);
/* A new member with its coordinates (its block is where it was asked for), and a
 * further coordinate.  Both become known to the derivation only. */
uint32_t ns_constrained_member(ns_description *d, ns_constrained *c, const char *name,
                               const ns_block *block, bool is_body);
const ns_coordinate *ns_constrained_coordinate(ns_description *d, const char *name,
                                               const char *unit, ns_span span);

/* Names of shapes must not be used elsewhere.  False after an error. */
bool ns_constrained_no_locals(ns_description *d, ns_ex e, ns_span span);
/* constrained_start.c: what the block `start` says.  False after errors. */
bool ns_constrained_start(ns_description *d, ns_system *s, const ns_constrained *c);

/* The member that argument i of a ready-made constraint names: a body by its bare name, a
 * particle or label by its value.  UINT32_MAX if it is none (no message). */
uint32_t ns_constrained_argument(const ns_constrained *c, const ns_block *block, uint32_t i);

/* constrained_contact.c: shapes of all bodies and grounds, whether something touches them or
 * not; rolling(A, B), sliding(A, B), with or without a particle. */
bool ns_constrained_shapes(ns_description *d, ns_constrained *c);
bool ns_constrained_contact(ns_description *d, ns_constrained *c, const ns_block *block,
                            const char *name, bool slips);
/* Force of a contact on its first body, in space. */
ns_v3 ns_constrained_contact_force(const ns_system *s, const ns_constrained *c,
                                   const ns_touch *t);
void ns_constrained_contact_values(ns_system *s, const ns_constrained *c);
void ns_constrained_contact_guess(const ns_system *s, double t0, const double *p, double *x);
bool ns_constrained_sizes(const ns_system *s, ns_diag *diag, const double *p);
void ns_constrained_contact_doubts(const ns_system *s, ns_diag *diag, double t0,
                                   const double *p, const double *x);
bool ns_constrained_contact_verify(const ns_system *s, ns_diag *diag, double t0,
                                   const double *p, const double *x);

/* constrained_joints.c: rows of a ready-made constraint (block `constraint` with a kind),
 * labels, springs, forces on points. */
bool ns_constrained_joints(ns_description *d, ns_constrained *c);

/* constrained_solve.c: the route the model asks for (false after an error), and by it
 * accelerations and multipliers from M, Q, A, b. */
bool ns_constrained_route(ns_description *d, ns_system *s, ns_constrained *c);
void ns_constrained_accelerate(ns_system *s, const ns_constrained *c, ns_ex *a, ns_ex *lambda);
/* constrained_law.c: contacts under a law of friction.  The law of a ground (NULL if it has
 * none); accelerations and multipliers by modes, where there are such contacts; states; then
 * events, values and the mode at the start. */
bool ns_constrained_law(ns_description *d, const ns_block *ground, bool slips, ns_span span,
                        const ns_law **out);
bool ns_constrained_law_solve(ns_description *d, ns_system *s, ns_constrained *c);
void ns_constrained_law_states(ns_system *s, const ns_constrained *c);
void ns_constrained_law_events(ns_system *s, const ns_constrained *c);
bool ns_constrained_law_sizes(const ns_system *s, ns_diag *diag, const double *p);
/* constrained_force.c: forces of the constraints in forces (names first, values once there are
 * accelerations and multipliers) and as values. */
bool ns_constrained_offer(ns_description *d, ns_constrained *c);
bool ns_constrained_settle(ns_description *d, ns_system *s, ns_constrained *c);
uint32_t ns_constrained_reactions(const ns_constrained *c); /* how many there may be */
/* e with zeros for them. */
ns_ex ns_constrained_aside(ns_description *d, const ns_constrained *c, ns_ex e);
void ns_constrained_forces(ns_system *s, const ns_constrained *c);

/* After the states: how they are kept on the constraints. */
void ns_constrained_correction(ns_system *s, const ns_constrained *c);

/* constrained_order.c: what to eliminate when, in the matrix [ M A^T ; A 0 ]; false if there is
 * no order in which all pivots are sound whatever the state. */
typedef enum ns_order_kind { NS_ORDER_MASS, NS_ORDER_MASSLESS, NS_ORDER_ROW } ns_order_kind;
typedef struct ns_order_request {
    uint32_t size;
    const ns_order_kind *kind;         /* [size] */
    const uint32_t *group;             /* [size] first coordinate of its member */
    const uint32_t *group_size;        /* [size] coordinates without mass in it */
    const uint32_t *first, *neighbour; /* those of v: first[v] .. first[v+1]-1 */
} ns_order_request;
bool ns_constrained_order(ns_arena *arena, const ns_order_request *q, uint32_t *order);

/* constrained_rank.c: what runs watch; ranks at the start, for refusals and for `check`. */
void ns_constrained_watch(ns_system *s, const ns_constrained *c);
void ns_constrained_ranks(const ns_system *s, double t0, const double *p, const double *x,
                          ns_rank_facts *out);
bool ns_constrained_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                           const double *x);

/* constrained_scene.c: what it looks like. */
void ns_constrained_scene(ns_description *d, ns_system *s, const ns_constrained *c);

/* A row of the constraints. */
void ns_constrained_row(ns_description *d, ns_constrained *c, const char *name, ns_ex residual,
                        ns_span span);

#endif
