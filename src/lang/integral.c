/* integral(F)(a, b): the integral of a function of one argument, by Gauss's rule with 64 nodes,
 *
 *     (b - a)/2 sum_i w_i F(m + x_i (b - a)/2),      m = (a + b)/2
 *
 * written out on the graph: its derivatives, series and enclosures are those of what is
 * computed, in both precisions.  The rule is exact to degree 127.  Is F resolved by it?  Its
 * last two coefficients in Legendre polynomials, from the same values of F,
 *
 *     c_k = (2k+1)/2 sum_i w_i P_k(x_i) F_i,     k = 62, 63
 *
 * are compared with the mean of |F|.  For analytic F they fall geometrically and the error of
 * the integral is of the size of c_128, so that 1e-8 for them is 1e-16 for it.  An event
 * watches this along the motion, and ends a run that leaves what is resolved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/subst.h"
#include "lang/reader.h"

enum { HALF = 32, DEGREE = 63 };

static const struct node {
    const char *x, *weight;
} nodes[HALF] = {
#define NODE(x, weight) {x, weight},
#include "lang/gauss_nodes.def"
#undef NODE
};

/* w P_k(x) (2k+1)/2 for k = 62 and 63; P_k is even or odd as k is. */
static void coefficients(const struct node *node, double *c62, double *c63)
{
    const double x = strtod(node->x, NULL), w = strtod(node->weight, NULL);
    double before = 1, P = x;
    for (int k = 2; k <= DEGREE; k++) {
        const double next = ((2 * k - 1) * x * P - (k - 1) * before) / k;
        before = P;
        P = next;
    }
    *c62 = w * before * (2 * (DEGREE - 1) + 1) / 2;
    *c63 = w * P * (2 * DEGREE + 1) / 2;
}

/* An event that ends the run where F is not resolved.  In terms of a curve's parameter it is for
 * the formulation to say where along the motion that is; in terms of a function's arguments it
 * is of no use. */
static void watch(ns_reader *r, const ns_name *function, ns_span place, ns_ex size, ns_ex tail)
{
    ns_graph *g = r->g;
    const ns_ex margin = ns_sub(g, ns_mul(g, ns_number(g, 1e-8), size), tail);
    const char *name = ns_arena_format(r->arena, "integral.%s", function->text);
    for (uint32_t i = 0; i < r->d->events.n; i++)
        if (r->d->events.at[i].value == margin)
            return;
    for (uint32_t i = 0, k = 2; i < r->d->events.n; i++)
        if (strcmp(r->d->events.at[i].name, name) == 0) {
            name = ns_arena_format(r->arena, "integral.%s.%u", function->text, k++);
            i = UINT32_MAX; /* once more from the first */
        }
    NS_PUSH(
        r->arena, r->d->events,
        (ns_event_line){.name = name,
                        .value = margin,
                        .direction = -1,
                        .condition = true,
                        .action = NS_EVENT_SINGULAR,
                        .meaning = ns_arena_format(
                            r->arena, "%s varies too fast for its integral: split the range",
                            function->text),
                        .span = place});
}

bool ns_integral_apply(ns_reader *r, ns_name *function, ns_span place, const ns_cell *args,
                       uint32_t n, ns_evaluated *outcome, ns_cell *out)
{
    ns_graph *g = r->g;
    ns_ex u = ns_symbol_new(g, "u", NS_SYM_LOCAL, 0), at[2 * HALF];
    const ns_cell formal = ns_arithmetic_scalar(u);
    ns_cell value;
    if (n != 2 || args[0].rows * args[0].cols != 1 || args[1].rows * args[1].cols != 1) {
        ns_diag_error(r->diag, place, "an integral has two limits: integral(%s)(from, to)",
                      function->text);
        return false;
    }
    const ns_ex a = args[0].one, b = args[1].one;
    *outcome = ns_evaluate_call(r, function, place, &formal, 1, false, &value);
    if (outcome->progress != NS_READ_DONE)
        return true;
    if (value.rows != 1 || value.cols != 1) {
        ns_diag_error(r->diag, place,
                      "integral needs a function whose value is a number; "
                      "'%s' is %s",
                      function->text, ns_arithmetic_shape(r, &value));
        return false;
    }
    if (!ns_evaluate_spend(r, place, (uint64_t)2 * HALF * (ns_graph_size(g) / 64 + 16)))
        return false;
    const ns_ex half = ns_number(g, 0.5), reach = ns_mul(g, half, ns_sub(g, b, a));
    const ns_ex middle = ns_mul(g, half, ns_add(g, a, b));
    ns_ex sum = ns_zero(g), size = ns_zero(g), even = ns_zero(g), odd = ns_zero(g);
    for (uint32_t i = 0; i < HALF; i++) {
        double c62, c63;
        const ns_ex x = ns_mul(g, ns_decimal(g, nodes[i].x), reach);
        const ns_ex w = ns_decimal(g, nodes[i].weight);
        coefficients(&nodes[i], &c62, &c63);
        at[2 * i] = ns_subst_one(g, value.one, &u, (const ns_ex[]){ns_sub(g, middle, x)}, 1);
        at[2 * i + 1] = ns_subst_one(g, value.one, &u, (const ns_ex[]){ns_add(g, middle, x)},
                                     1);
        const ns_ex both = ns_add(g, at[2 * i], at[2 * i + 1]);
        const ns_ex apart = ns_sub(g, at[2 * i + 1], at[2 * i]);
        const ns_ex large = ns_add(g, ns_abs(g, at[2 * i]), ns_abs(g, at[2 * i + 1]));
        sum = ns_add(g, sum, ns_mul(g, w, both));
        size = ns_add(g, size, ns_mul(g, ns_mul(g, half, w), large));
        even = ns_add(g, even, ns_mul(g, ns_number(g, c62), both));
        odd = ns_add(g, odd, ns_mul(g, ns_number(g, c63), apart));
    }
    watch(r, function, place, size, ns_add(g, ns_abs(g, even), ns_abs(g, odd)));
    *out = ns_arithmetic_scalar(ns_mul(g, reach, sum));
    return ns_arithmetic_check(r, place, out);
}
