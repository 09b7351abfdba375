/* For files of lang/dimension alone: what is known about the values of expressions. */
#ifndef NS_LANG_DIMENSION_WALK_H
#define NS_LANG_DIMENSION_WALK_H

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
typedef struct ns_walk_frame {
    const ns_name *function;
    const ns_agreed *args;
} ns_walk_frame;

typedef struct ns_walk {
    ns_reader *r;
    ns_forms f;
    const ns_walk_frame *frame; /* NULL outside functions */
    NS_LIST(ns_agreed) stack;
    NS_LIST(ns_span) said; /* places of warnings */
    bool aloud;            /* false in the first round, which looks for bare numbers */
    bool lax;              /* there are bare numbers in the place of quantities */
    bool bare;             /* they are usual here: in start, run, jumps */
    uint32_t depth;
    uint64_t work;
    const ns_agreed *lagrangian;
} ns_walk;

ns_agreed ns_walk_code(ns_walk *c, const ns_postfix *code);
/* A name with its components; may be anything if nobody knows it. */
ns_agreed ns_walk_name(ns_walk *c, const char *text, size_t length, ns_span place);
/* a and b are added or equal; `words`: "added to", "equal to".  What both are. */
ns_agreed ns_walk_same(ns_walk *c, const ns_agreed *a, const ns_agreed *b, const char *words);
/* A value must have this dimension; `what` it is, and where that is said (or no place). */
void ns_walk_demand(ns_walk *c, const ns_agreed *a, ns_form form, const char *what,
                    ns_span place);

#endif
