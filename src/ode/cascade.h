/* How the rates depend on each other: which states must be solved for together.
 *
 * State i depends on state j if x_j occurs in the rate of x_i.  States that depend on each
 * other, directly or around a ring, form one part; parts are listed in an order in which each
 * one depends on itself and on earlier ones only.  An implicit method iterates on the first
 * part alone, then on the next one with the first known, and so on; a part without feedback (a
 * path, an angle that nothing depends on) needs no iteration at all: its rates are evaluated
 * once.
 *
 * Inside a part the states whose rates cost little (coordinates and orientations, as a rule)
 * form a block of their own, evaluated after the others and with their new values: for
 * equations of second order that makes one sweep worth two.
 *
 * Rings whose rates are linear in their own states, as deviations from a motion are, can be
 * taken together as one part, whose coefficients are evaluated once, before its sweeps
 * (split.h). */
#ifndef NS_ODE_CASCADE_H
#define NS_ODE_CASCADE_H

#include "eval/program.h"

#define NS_NO_ROW UINT32_MAX

typedef struct ns_rate_block {
    const ns_program *rhs; /* NULL: nothing to evaluate */
    uint32_t n;
    uint32_t live; /* the first this many occur in rates; of the others the end is enough */
    const uint32_t *state;  /* [n] in the order in which they are updated */
    const uint32_t *row;    /* [n] output that is the rate, or NS_NO_ROW: see `source` */
    const uint32_t *source; /* [n] the state, updated before, that is the rate */
    bool follow;            /* there is such a state */
    bool all;               /* rhs is the whole right-hand side, of which `row` picks */
    bool major;             /* of all blocks the one that costs most */
    size_t place;           /* of its work block on eight lanes, in one for all */
    uint32_t rows; /* of the blocks before: where its outputs begin, in one array for all */
} ns_rate_block;

typedef struct ns_rate_part {
    uint32_t n, n_blocks;
    uint32_t live;         /* of all blocks */
    const uint32_t *state; /* [n] */
    const ns_rate_block *block;
    bool feedback; /* its rates depend on its own states */
    /* Values that are known before its sweeps, from the states of earlier parts: inputs of its
     * blocks after the states, from `first` on.  NULL: none. */
    const ns_program *known;
    size_t place; /* of its work block */
    uint32_t first;
} ns_rate_part;

typedef struct ns_cascade {
    uint32_t n;
    const uint32_t *state; /* all of them, in the order of the parts */
    const ns_rate_part *part;
    size_t work;    /* doubles: the work blocks of all */
    uint32_t known; /* values of all parts: this many inputs come after the states */
} ns_cascade;

typedef struct ns_cascade_spec {
    ns_program_spec rhs;     /* inputs as of the whole right-hand side, out = rates */
    const ns_program *whole; /* it, built */
    const uint32_t *source;  /* of each state, see ns_problem */
    const uint32_t *order;   /* of all states, sources first */
    bool split;              /* false: one part, one block */
    bool known;              /* the rates are what `out` says */
    uint32_t linear;         /* > 0: states from this on in linear parts, or none at all */
} ns_cascade_spec;

/* In the arena.  NULL if `linear` is asked for and would change nothing. */
const ns_cascade *ns_cascade_new(ns_arena *arena, const ns_cascade_spec *spec);

#endif
