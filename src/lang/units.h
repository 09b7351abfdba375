/* Units: exact factors to SI.  One table serves numbers (6 cm), labels (in rad) and help. */
#ifndef NS_LANG_UNITS_H
#define NS_LANG_UNITS_H

#include "base/text.h"
#include "expr/graph.h"

/* one UNIT = numerator/denominator * pi^pi of the SI unit `si` */
typedef struct ns_unit {
    const char *name;
    double numerator, denominator;
    int pi;
    const char *si;
    const char *help;
} ns_unit;

extern const ns_unit ns_units[]; /* ends with a NULL name */

/* A compound such as m/s^2, written without spaces; a leading 1 is allowed (1/s). */
typedef struct ns_unit_part {
    const ns_unit *unit;
    int power;           /* negative after a slash */
    uint32_t begin, end; /* of the name within the text */
} ns_unit_part;

enum { NS_UNITS_MOST = 8 };

typedef struct ns_unit_product {
    ns_unit_part part[NS_UNITS_MOST];
    uint32_t n;
} ns_unit_product;

/* Splits a compound.  False if it is not one; then out->part[out->n] is the part at fault (its
 * unit is NULL if the name is unknown). */
bool ns_units_split(const char *text, size_t length, ns_unit_product *out);

/* Two units written without a sign between them, Nm: where the second begins; 0 if it is not
 * that. */
size_t ns_units_joined(const char *name);

/* x times the unit, or divided by it. */
ns_ex ns_units_multiply(ns_graph *g, const ns_unit_product *unit, ns_ex x);
ns_ex ns_units_divide(ns_graph *g, const ns_unit_product *unit, ns_ex x);

/* Is one of it one of SI? */
bool ns_units_coherent(const ns_unit_product *unit);

/* The same dimension in SI, for labels: km/h becomes m/s. */
void ns_units_add_si(ns_text *out, const ns_unit_product *unit);

#endif
