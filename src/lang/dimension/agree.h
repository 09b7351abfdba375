/* Do the units of a model agree?  Warnings about sums, equations and arguments of functions
 * whose dimensions contradict each other, with both places.
 *
 * Dimensions are inferred from units that the model says and from those that formulations
 * declare (lang/grammar.h, ns_scope_entry).  What has no unit is unknown, and takes what its
 * uses ask for.  Bare numbers are written for quantities in SI everywhere (x = 1, -4*x), so a
 * number is believed to have no dimension only where it is a factor like 1/2, 2 or 2/5; in a
 * model that has bare numbers in the place of quantities, only 1/2 and 2.  A model without any
 * unit of length, mass or time is not looked at. */
#ifndef NS_LANG_DIMENSION_AGREE_H
#define NS_LANG_DIMENSION_AGREE_H

#include "lang/dimension/form.h"

/* What is known about the value of an expression. */
typedef struct ns_agreed {
    ns_form form;
    bool any;     /* nothing follows from it: a vector of different things */
    bool weak;    /* a bare number: it has the dimension that is asked for */
    bool pure;    /* ... but as a factor it has none */
    bool scaled;  /* a bare number is a factor of it */
    double value; /* of a bare number; nan if not known */
    ns_span span;
} ns_agreed;

/* Values of a function's formal arguments. */
typedef struct ns_agree_frame {
    const ns_name *function;
    const ns_agreed *args;
} ns_agree_frame;

typedef struct ns_agree {
    ns_reader *r;
    ns_forms f;
    const ns_agree_frame *frame; /* NULL outside functions */
    NS_LIST(ns_agreed) stack;
    NS_LIST(ns_span) said; /* places of warnings */
    bool aloud;            /* false in the first round, which looks for bare numbers */
    bool lax;              /* there are bare numbers in the place of quantities */
    bool bare;             /* they are usual here: in start, run, jumps */
    uint32_t depth;
    uint64_t work;
    const ns_agreed *lagrangian;
} ns_agree;

/* The end of a reading without errors: all names are known. */
void ns_agree_check(ns_reader *r);

/* ---- walk.c ------------------------------------------------------------------------------ */

ns_agreed ns_agree_code(ns_agree *c, const ns_postfix *code);
/* A name with its components; may be anything if nobody knows it. */
ns_agreed ns_agree_name(ns_agree *c, const char *text, size_t length, ns_span place);
/* a and b are added or equal; `words`: "added to", "equal to".  What both are. */
ns_agreed ns_agree_same(ns_agree *c, const ns_agreed *a, const ns_agreed *b, const char *words);
/* A value must have this dimension; `what` it is, and where that is said (or no place). */
void ns_agree_demand(ns_agree *c, const ns_agreed *a, ns_form form, const char *what,
                     ns_span place);

#endif
