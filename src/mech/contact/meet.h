/* A body on a ground under a contact law: closest points with gap and slip, forces of the modes
 * roll, slide and fly, onset of slip, impact.  Equations: meet.c. */
#ifndef NS_MECH_CONTACT_MEET_H
#define NS_MECH_CONTACT_MEET_H

#include "mech/contact/contact.h"
#include "mech/contact/law.h"

typedef enum ns_meet_mode { NS_MEET_ROLL, NS_MEET_SLIDE, NS_MEET_FLY } ns_meet_mode;

/* What the contact does to the body in one mode. */
typedef struct ns_meet_force {
    ns_v3 force, moment; /* at the contact point, body frame; moment beside that of the force */
    ns_ex normal;        /* component of the force along the ground normal */
    ns_ex power;         /* of friction and resistance */
    ns_v3 acceleration;  /* of the centre of mass, space */
    ns_v3 Omega_rate;
} ns_meet_force;

typedef struct ns_meet {
    /* given: the law; the contact after ns_contact_kinematics, whose com and velocity are
     * states;
     * states of the formulation's own */
    const ns_law *law;
    ns_contact *c;
    ns_ex way[3];          /* reference direction of slip, ground frame */
    const ns_ex *reaction; /* force.normal and force in space: symbols that loads contain */
    uint32_t n_reactions;
    ns_ex hold; /* 1: friction acts along the reference direction, 0: along the slip, which is
                   measured from it */
    ns_ex far;  /* 1, and `hold` too: along the slip itself */
    /* derived: kinematics */
    ns_m3 inverse;  /* of the inertia */
    ns_v3 reach;    /* the body's contact point, ground frame */
    ns_ex place[2]; /* of the closest point on a plane, in its base */
    ns_ex size;     /* |s| */
    ns_ex faint;    /* square of an angular velocity that counts as zero */
    ns_ex gap;      /* how far it is above the ground */
    ns_v3 relative; /* its velocity relative to the ground, ground frame */
    ns_ex approach; /* d gap/dt */
    ns_v3 slip;     /* tangential part of `relative`, ground frame */
    ns_v3 slip_space;
    ns_v3 slip_body;
    ns_v3 way_now, way_side; /* reference direction in the tangent plane, and across it */
    ns_ex along, across;     /* slip along them */
    ns_v3 direction;         /* of slip as friction sees it, ground frame */
    ns_ex tau;               /* tangent of the angle between the two */
    ns_ex speed;             /* how fast things move: a scale for slip */
    ns_v3 foot; /* (reach - ground point) . base: vanish, where the ground is curved */
    /* dynamics */
    ns_meet_force in[3];
    ns_ex stiff;   /* how much the normal force accelerates the contact apart in slide: > 0 */
    ns_ex firm;    /* the same in roll, where loads contain reactions: > 0; 1 if not */
    ns_ex parting; /* d2 gap/dt2 without a contact force, at gap 0 */
    ns_v3 onset;   /* direction in which slip would begin from roll, ground frame */
    ns_ex margin;  /* (static mu N)^2 - |T|^2 in roll */
} ns_meet;

/* Needs c with kinematics. Sets s_rate, rates of contact coordinates, point; then, once loads
 * are in c, the rest. */
void ns_meet_kinematics(ns_graph *g, ns_meet *w);
void ns_meet_dynamics(ns_graph *g, ns_meet *w);

/* The tangent plane: its base, and how forces there answer accelerations of slip, W and w of
 * meet_impact.c. */
typedef struct ns_meet_plane {
    ns_v3 base[2];
    ns_ex W[2][2], w[2];
} ns_meet_plane;
/* Direction e, of length one, in which slip begins where the force (T, N) that holds is outside
 * of the cone mu N; returns lambda, 0 inside of the cone. */
ns_ex ns_meet_slip_way(ns_graph *g, const ns_meet_plane *q, const ns_ex T[2], ns_ex N, ns_ex mu,
                       ns_ex e[2]);

/* The jump of an impact with these coefficients of restitution: com velocity (space) and Omega
 * after it, its work, the slip after it (ground frame), and whether it slips (1) or not (0). */
typedef struct ns_meet_impact {
    ns_v3 velocity, Omega, slip;
    ns_ex work, slips;
} ns_meet_impact;
ns_meet_impact ns_meet_hit(ns_graph *g, const ns_meet *w, ns_ex normal, ns_ex tangential);
/* Takes the tangential relative velocity away: the end of slip, to round-off. */
ns_meet_impact ns_meet_catch(ns_graph *g, const ns_meet *w);

#endif
