/* Dimensions as linear forms: the exponents of metre, kilogram and second, and of unknowns.
 *
 *   [k x] = [k] + [x]      products add exponents, powers multiply them
 *
 * An unknown is the dimension of something whose unit nobody said.  That two forms are equal is
 * an equation between exponents: it either holds, or fixes one more unknown, or contradicts
 * what is known.  (A. Kennedy, Dimension types, ESOP 1994: unification in a vector space has
 * most general solutions, found one equation at a time.) */
#ifndef NS_LANG_DIMENSION_FORM_H
#define NS_LANG_DIMENSION_FORM_H

#include "lang/reader.h"

enum { NS_FORM_METRE, NS_FORM_KILOGRAM, NS_FORM_SECOND, NS_FORM_BASES };

typedef struct ns_form_term {
    uint32_t of; /* a base, or the number of an unknown */
    double power;
} ns_form_term;

/* Terms in the order of `of`, none with power 0; no terms: a number without dimension. */
typedef struct ns_form {
    const ns_form_term *at;
    uint32_t n;
} ns_form;

typedef struct ns_form_unknown {
    const char *name; /* of what it is the dimension; NULL: of a number */
    ns_span span;     /* where that is said */
    bool known;
    ns_form value; /* if known */
    ns_span where; /* the place that made it known */
} ns_form_unknown;

typedef struct ns_forms {
    ns_arena *arena;
    NS_LIST(ns_form_unknown) unknowns; /* the first are the bases */
} ns_forms;

void ns_form_begin(ns_forms *f, ns_arena *arena);
/* The dimension of a new unknown. */
ns_form ns_form_new(ns_forms *f, const char *name, ns_span span);
/* Of a unit of SI as labels have it: kg*m^2/s, or kg m^2/s, or 1.  False if it is none. */
bool ns_form_of_unit(ns_forms *f, const char *unit, size_t length, ns_form *out);
/* a + factor*b */
ns_form ns_form_add(ns_forms *f, ns_form a, double factor, ns_form b);
ns_form ns_form_scale(ns_forms *f, double factor, ns_form a);
/* Makes a and b equal; false if they cannot be. */
bool ns_form_equal(ns_forms *f, ns_form a, ns_form b, ns_span where);
/* Is it a number without dimension, as far as is known?  Has it an unknown? */
bool ns_form_is_number(ns_forms *f, ns_form a);
bool ns_form_is_open(ns_forms *f, ns_form a);
/* "kg*m/s^2", "[k]*m": for messages */
const char *ns_form_text(ns_forms *f, ns_form a);

#endif
