/* Variants of a model: the same equations with other parameters and another start, made without
 * reading or deriving anything again.
 *
 * A variant is a model like any other.  It borrows text, description and problems from the
 * model it is one of, works on a fork of its system, and has numbers, settings, messages and
 * memory of its own. */
#ifndef NS_SESSION_VARIANT_H
#define NS_SESSION_VARIANT_H

#include "session/model.h"

/* A parameter, a state, or a velocity that a start may give, and what it is set to. */
typedef struct ns_variant_value {
    const char *name;
    const char *expression; /* of parameters; NULL: the number */
    double number;
} ns_variant_value;

/* What a variant knows of its making; in its arena. */
typedef struct ns_variant {
    ns_model *of; /* not a variant itself */
    const char **name;
    double *value; /* [n] all that is set, and in which order */
    bool *is_set;  /* [parameters] by these */
    uint32_t n;
} ns_variant;

/* Values are set in their order; expressions may use what was set before.  The variant of a
 * variant keeps what is not set anew.  NULL only if memory ran out: what is wrong is in the
 * status and messages of the variant. */
ns_model *ns_variant_new(ns_model *model, const ns_variant_value *values, size_t n);

/* The variant of `model` with the numbers of another variant; NULL if memory ran out. */
ns_model *ns_variant_again(ns_model *model, const ns_model *like);

/* A model that shares nothing with `model` and has its numbers, with further parameters set:
 * for those who add to its graph.  NULL if memory ran out. */
ns_model *ns_variant_copy(const ns_model *model, const ns_override *more, size_t n);

#endif
