/* Several contacts, each of which holds or slides by a law of friction.  Every set of sliding
 * contacts is a mode; a contact that always slides has none.
 *
 *     hold:   u = 0, friction T = lambda of its rows of slip, as long as |T| <= mu_static N
 *     slide:  T as the law says, in terms of the normal force N
 *
 * u are one or two rows of the constraints, and friction acts on the coordinates with A_u^T T.
 * In a mode the rows of those that slide are left out and their friction is put among the
 * forces; it contains their normal forces as symbols z.  Accelerations a(z) and multipliers
 * lambda(z) give N(z), and z = N(z) is solved (mech/common/reactions.h).
 *
 * Used by grip.c (one direction of slip) and constrained_law.c (two). */
#ifndef NS_MECH_CONTACT_SLIDING_H
#define NS_MECH_CONTACT_SLIDING_H

#include "mech/common/dalembert.h"
#include "mech/contact/law.h"

enum { NS_SLIDING_MOST = 3, NS_SLIDING_MODES = 1 << NS_SLIDING_MOST, NS_SLIDING_ALWAYS = -1 };

typedef struct ns_sliding_outcome {
    ns_ex *a, *lambda; /* of all rows: friction where one slides */
    ns_ex normal[NS_SLIDING_MOST];
    ns_ex firm; /* det(1 - B) */
} ns_sliding_outcome;

typedef struct ns_sliding_contact {
    const char *dot; /* what its names begin with: "NAME.", or "" */
    const ns_law *law;
    uint32_t row, rows; /* of slip: the first, and how many */
    int bit;            /* of the mode, or NS_SLIDING_ALWAYS */
    ns_ex u[2], size;   /* slip; the speeds around it, its scale */
    ns_ex z;            /* normal force as a symbol */
    ns_ex slide;        /* 0 or 1, a state that jumps change */
} ns_sliding_contact;

/* Unknowns of a mode and what the equations give for them. */
typedef struct ns_sliding_unknowns {
    ns_ex z[NS_REACTIONS_MOST], y[NS_REACTIONS_MOST];
    uint32_t n;
} ns_sliding_unknowns;

typedef struct ns_sliding ns_sliding;
struct ns_sliding {
    /* given */
    ns_system *s;
    const ns_dalembert *eq;
    ns_sliding_contact at[NS_SLIDING_MOST];
    uint32_t n, modes;
    void *own;                                                         /* of the functions */
    ns_ex (*friction)(const ns_sliding *k, uint32_t i, uint32_t part); /* while i slides */
    ns_ex (*normal)(const ns_sliding *k, uint32_t i, const ns_sliding_outcome *o);
    void (*solve)(const ns_sliding *k, const ns_dalembert *rows, ns_ex *a, ns_ex *lambda);
    /* reactions that are unknown, too; or NULL */
    void (*more)(const ns_sliding *k, const ns_sliding_outcome *o, ns_sliding_unknowns *all);
    /* made */
    ns_sliding_outcome in[NS_SLIDING_MODES];
};

static inline bool ns_sliding_slides(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return k->at[i].bit == NS_SLIDING_ALWAYS || (mode >> k->at[i].bit & 1);
}

/* The mode in which contact i slides or holds and the others do what they did. */
static inline uint32_t ns_sliding_with(const ns_sliding *k, uint32_t mode, uint32_t i,
                                       bool slides)
{
    const uint32_t bit = k->at[i].bit == NS_SLIDING_ALWAYS ? 0 : 1u << k->at[i].bit;
    return slides ? mode | bit : mode & ~bit;
}

/* Slip and its scale of all contacts; names of the modes, from what holding is called. */
void ns_sliding_begin(ns_sliding *k, const char *holds);

/* a and lambda where the rows of a mode hold with b; under Q and friction if `forced`. */
void ns_sliding_rows(const ns_sliding *k, uint32_t mode, const ns_ex *b, bool forced,
                     ns_sliding_outcome *o);
/* The same under Q and friction, with normal forces solved for. */
void ns_sliding_solve(const ns_sliding *k, uint32_t mode, const ns_ex *b,
                      ns_sliding_outcome *o);

/* ---- values by mode ---------------------------------------------------------------------- */

typedef ns_ex ns_sliding_value(const ns_sliding *k, uint32_t mode, uint32_t i);

ns_ex ns_sliding_by_mode(const ns_sliding *k, ns_sliding_value *of, uint32_t i);

ns_sliding_value ns_sliding_acceleration,  /* of coordinate i */
    ns_sliding_multiplier,                 /* of row i */
    ns_sliding_normal, ns_sliding_power,   /* of friction, all of it */
    ns_sliding_held,                       /* residual of row i of slip */
    ns_sliding_margin,                     /* (static mu N)^2 - T^2 */
    ns_sliding_margin_now,                 /* where it holds; 1 elsewhere */
    ns_sliding_margin_held, ns_sliding_is, /* 1 where it slides, otherwise 0 */
    ns_sliding_firm;

/* ---- events ------------------------------------------------------------------------------ */

/* An event of contact i in modes where it slides, or does not. */
ns_jump *ns_sliding_jump(const ns_sliding *k, uint32_t i, const char *name, bool slides,
                         ns_ex value, int direction, bool hidden);
void ns_sliding_reset(const ns_sliding *k, ns_jump *j, uint32_t state, ns_ex value);
/* The jump leads to the mode that the states `slide` say. */
void ns_sliding_ways(const ns_sliding *k, ns_jump *j);
/* Contacts do not open here: the run ends. */
void ns_sliding_liftoff(const ns_sliding *k, uint32_t i);

/* At the start as many contacts as can hold do: those whose slip is less than `touching` of
 * its scale.  speed[n] are sizes of slip. */
void ns_sliding_start(const ns_sliding *k, const ns_ex *speed, double touching);

#endif
