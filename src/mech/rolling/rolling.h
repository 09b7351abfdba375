/* For the files of the rolling formulation: what derivation leaves behind for starts, checks
 * and pictures. */
#ifndef NS_MECH_ROLLING_ROLLING_H
#define NS_MECH_ROLLING_ROLLING_H

#include "mech/contact/contact.h"
#include "mech/contact/meet.h"
#include "mech/contact/shapes.h"
#include "mech/contact/solid.h"
#include "mech/system.h"

typedef struct ns_rolling {
    ns_contact contact;
    ns_shape body, ground;
    const ns_block *body_block, *ground_block, *start_block;
    ns_locals locals;
    ns_mass mass;
    bool isotropic;                      /* the inertia */
    uint32_t quat, omega, side, support; /* places of the first state of each group */
    /* given at the start and not to be met by solving for anything, so checked afterwards: */
    const ns_property *placed, *moved; /* com or centre, com' or centre'; NULL if not */
    ns_ex gap;     /* how far com lies above where it touches, along the ground normal */
    ns_ex excess;  /* component of com' towards the contact that rolling does not allow */
    bool anywhere; /* nothing is said about where on an implicit ground */
    /* for guesses of the start, in terms of the ground's states and parameters: */
    ns_v3 up; /* ground normal in the body frame */
    ns_ex closed
        [3];      /* body's contact coordinates, where there is a closed form: closed[0] != 0 */
    ns_ex misfit; /* square of the distance from the contact or com given; 0 if none */
    ns_ex above;  /* distance of (x, y, z) from the ground, positive on the body's side; 0: not
                * needed */
    ns_v3 body_centre; /* origin of the body's geometric frame, in space */
    /* with a contact law: rolling_touch.c */
    ns_law law;
    ns_meet touch;
    ns_ex piece; /* state: 0 the first part, 1 the second may touch; 0: there is one part */
    ns_ex other; /* gap of the part that does not touch */
    ns_ex stem;  /* the radius of a stem, the second part; 0: it is the other rim of a can */
    /* loads may contain: force.normal, force (x, y, z in space) of the contact, as symbols */
    ns_ex reaction[4];
    uint32_t n_reactions;   /* 1: the normal force alone, 4: both, 0: no load does */
    ns_ex ratio;            /* force.ratio; 0: friction by normal force */
    uint32_t com, velocity; /* places of the first state */
    uint32_t mode[3];       /* number of each ns_meet_mode; UINT32_MAX if there is none */
} ns_rolling;

/* rolling.c: parts of the derivation that a contact law shares. */
void ns_rolling_limits(ns_graph *g, ns_rolling *r);
void ns_rolling_constrain(ns_system *s, const char *name, ns_ex residual, ns_span span);
void ns_rolling_manifold(ns_system *s, const ns_rolling *r);
void ns_rolling_values(ns_system *s, ns_rolling *r);
bool ns_rolling_action(const ns_description *d, const ns_block *block, const char *name,
                       ns_event_action *action);
bool ns_rolling_ends(ns_description *d, ns_system *s, ns_rolling *r);
/* Equations to print, facts, overlap, scene: what is known once the system stands. */
void ns_rolling_tell(ns_description *d, ns_system *s, ns_rolling *r);

/* rolling_loads.c: names that loads may use; the loads, into the contact.  False after
 * errors. */
bool ns_rolling_names(ns_description *d, ns_rolling *r);
bool ns_rolling_loads(ns_description *d, ns_system *s, ns_rolling *r, bool *any);
/* Solves for reactions in loads of an ideal contact. */
void ns_rolling_settle(ns_system *s, ns_rolling *r);
/* Their symbols stand for the forces of the contact in what is observed. */
void ns_rolling_reactions(ns_system *s, const ns_rolling *r);

/* rolling_parts.c: a stem, the two rims of a can; false after errors.  Events where a part
 * ends.  What vanishes where an edge comes to lie on a plane, `tilt` where it touches. */
bool ns_rolling_two_parts(ns_description *d, ns_rolling *r);
void ns_rolling_part_ends(ns_system *s, const ns_rolling *r);
ns_ex ns_rolling_lies_flat(ns_system *s, const ns_rolling *r, ns_ex tilt);
/* rolling_touch.c: the system of a body under a contact law. */
bool ns_rolling_touch(ns_description *d, ns_system *s, ns_rolling *r);
/* rolling_touch_start.c */
bool ns_rolling_touch_start(ns_description *d, ns_system *s, ns_rolling *r);
bool ns_rolling_touch_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                             const double *x);

/* rolling_start.c: values, free states and extra equations of the start; rolling_guess.c: first
 * values for what is free. */
bool ns_rolling_start(ns_description *d, ns_system *s, ns_rolling *r);
/* Its arrays.  Line k of the block: is it a way to start, and not the name of a state?  False
 * after an error (given twice).  The error of a line that is neither. */
void ns_rolling_start_room(ns_system *s);
bool ns_rolling_start_line(const ns_description *d, const ns_block *b, uint32_t k, bool modes,
                           bool *way);
void ns_rolling_start_unknown(const ns_description *d, const ns_property *p);
/* The contact on the body, from the ground normal seen in the body frame at the orientation A:
 * frees its states, which ns_rolling_guess sets when there are numbers.  False if there is no
 * closed form. */
bool ns_rolling_aim(ns_system *s, ns_rolling *r, ns_m3 A);
void ns_rolling_guess(const ns_system *s, double t0, const double *p, double *x);
/* Is the normal of a chart, in terms of states first and first + 1, on the other side at x than
 * at its origin? */
bool ns_rolling_flipped(const ns_system *s, const ns_v3 *normal, uint32_t first, double t0,
                        const double *p, const double *x);
/* rolling_start_verify.c: is the start found what was meant?  False after an error; doubts are
 * warnings. */
void ns_rolling_doubts(const ns_system *s, ns_diag *diag, double t0, const double *p,
                       const double *x);
bool ns_rolling_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                       const double *x);

/* rolling_overlap.c: becomes negative when another point of the body reaches the ground
 * (`overlap` of the ground block).  False after errors. */
bool ns_rolling_overlap(ns_description *d, ns_system *s, const ns_rolling *r, ns_ex *out);
/* How deep the body reaches into the ground at x; 0 if it does not, or if that cannot be
 * said. */
void ns_rolling_prepare_overlap(ns_description *d, ns_system *s, ns_rolling *r);
double ns_rolling_overlaps(const ns_system *s, double t0, const double *p, const double *x);

/* Are the sizes of a shape positive, or not negative, as its table asks?  Numbers of laws and
 * axes, too.  False after an error. */
bool ns_rolling_all_sizes(const ns_system *s, ns_diag *diag, const double *p);
bool ns_rolling_sizes(const ns_system *s, ns_diag *diag, const double *p, const ns_shape *shape,
                      const ns_block *block);

/* rolling_facts.c: mass properties and classical integrals. */
void ns_rolling_facts(ns_system *s, const ns_rolling *r);

/* rolling_form.c: largest relative difference between omega(Y, v) and dE(v) over random states
 * and variations; *points: how many.  Infinite where omega is degenerate.  For conservative
 * systems with a fixed ground. */
double ns_rolling_form(const ns_system *s, const double *p, const double *x, uint32_t *points);
/* Its rank on the distribution. */
void ns_rolling_ranks(const ns_system *s, double t0, const double *p, const double *x,
                      ns_rank_facts *out);

/* The name of contact coordinate i of the body. */
static inline const char *ns_rolling_side_name(const ns_system *s, const ns_rolling *r,
                                               uint32_t i)
{
    return ns_arena_format(s->arena, "%s.%c", r->body.vector, r->body.axes[i]);
}

#endif
