#include "expr/ops.h"

#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "base/math/vecmath.h"
#include "expr/graph.h"

/* Rows of the table use only some of the names in scope: hence the void casts. */
#define F(f) ns_math_##f
#define NS_OP_SPECIAL(ID, NAME)
#define NS_OP(ID, NAME, ARITY, VALUE, DA, DB, TAYLOR, COMPANION)                               \
    static double value_##ID(double a, double b)                                               \
    {                                                                                          \
        (void)b;                                                                               \
        return VALUE;                                                                          \
    }                                                                                          \
    static ns_ex partial_##ID(ns_graph *g, ns_ex y, ns_ex a, ns_ex b, int k)                   \
    {                                                                                          \
        (void)g, (void)y, (void)a, (void)b;                                                    \
        return k == 0 ? (DA) : (DB);                                                           \
    }                                                                                          \
    static ns_ex companion_##ID(ns_graph *g, ns_ex y, ns_ex a, ns_ex b)                        \
    {                                                                                          \
        (void)g, (void)y, (void)a, (void)b;                                                    \
        return COMPANION;                                                                      \
    }
#include "expr/ops.def"
#undef NS_OP
#undef NS_OP_SPECIAL
#undef F

const ns_op_info ns_ops[NS_OP_COUNT] = {
#define NS_OP(ID, NAME, ARITY, VALUE, DA, DB, TAYLOR, COMPANION)                               \
    [NS_OP_##ID] = {.name = NAME,                                                              \
                    .value = value_##ID,                                                       \
                    .partial = partial_##ID,                                                   \
                    .companion = companion_##ID,                                               \
                    .taylor = NS_TAYLOR_##TAYLOR,                                              \
                    .arity = ARITY},
#define NS_OP_SPECIAL(ID, NAME) [NS_OP_##ID] = {.name = NAME, .arity = -1},
#include "expr/ops.def"
#undef NS_OP
#undef NS_OP_SPECIAL
};

ns_op ns_ops_find(const char *name)
{
    NS_CHECK(name);
    if (!isalpha((unsigned char)name[0]) || strcmp(name, "neg") == 0)
        return NS_OP_NONE;
    for (int op = 1; op < NS_OP_COUNT; op++)
        if (ns_ops[op].arity > 0 && strcmp(ns_ops[op].name, name) == 0)
            return (ns_op)op;
    return NS_OP_NONE;
}

double ns_ops_value(ns_op op, double a, double b)
{
    NS_CHECK(op > NS_OP_NONE && op < NS_OP_COUNT);
    NS_CHECK(ns_ops[op].value);
    return ns_ops[op].value(a, b);
}
