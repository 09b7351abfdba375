/* Expressions as presentation MathML, for pages: the sibling of the LaTeX of
 * expr/print/print.h.
 *
 * What is written are elements without the surrounding <math>, all text in them escaped; it may
 * be put where a sequence of elements is allowed (an mrow, a cell of a table). */
#ifndef NS_EXPR_PRINT_MATHML_H
#define NS_EXPR_PRINT_MATHML_H

#include "expr/print/print.h"

/* With names for the shared parts (ns_print_shared; may be NULL). */
void ns_mathml_expression(const ns_graph *g, ns_ex e, const ns_shared *shared, ns_text *out);
/* What a shared part stands for. */
void ns_mathml_definition(const ns_graph *g, const ns_shared *shared, uint32_t item,
                          ns_text *out);
/* A name alone: omega.x' becomes an omega with a dot above and an x below. */
void ns_mathml_name(const char *name, ns_text *out);
/* Text with the characters that mean something to markup written as entities. */
void ns_mathml_escape(const char *text, size_t length, ns_text *out);

#endif
