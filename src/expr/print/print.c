/* Text and LaTeX, with the work stack of pieces.h. */
#define _GNU_SOURCE
#include "expr/print/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/math/quad.h"
#include "expr/pieces.h"

/* ---- numbers ----------------------------------------------------------------------------- */

/* Does the text read back as hi + lo?  The same reading as ns_decimal. */
static bool reads_as(const char *text, double hi, double lo)
{
    double high = strtod(text, NULL), low = 0;
    if (isfinite(high))
        low = (double)(NS_QUAD_READ(text, NULL) - (ns_quad)high);
    return high == hi && low == lo;
}

/* Shortest decimal of a positive number that reads back. */
static void decimal(char *buffer, size_t size, double hi, double lo)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, hi);
        if (reads_as(buffer, hi, lo))
            return;
    }
    for (int digits = 18; digits <= 40 && (NS_HAVE_QUAD || lo == 0); digits++) {
        ns_quad_print(buffer, size, digits, (ns_quad)hi + (ns_quad)lo);
        if (reads_as(buffer, hi, lo))
            return;
    }
}

static void print_number(ns_pieces *p, const ns_node *node, bool unsign)
{
    double hi = node->hi, lo = node->lo;
    char buffer[64];
    if (!isfinite(hi)) {
        ns_text_add_double(p->out, hi);
        return;
    }
    if (hi < 0) {
        ns_text_add(p->out, unsign ? "" : "-");
        hi = -hi;
        lo = -lo;
    }
    if (hi == 0x1.921fb54442d18p+1 && lo == 0x1.1a62633145c07p-53) {
        ns_text_add(p->out, p->latex ? "\\pi" : "pi");
        return;
    }
    for (int below = 2; p->latex && below <= 8; below *= 2)
        if (lo == 0 && hi < 1000 && hi != floor(hi) && hi * below == floor(hi * below)) {
            ns_text_addf(p->out, "\\tfrac{%d}{%d}", (int)(hi * below), below);
            return;
        }
    decimal(buffer, sizeof buffer, hi, lo);
    char *e = strchr(buffer, 'e');
    if (p->latex && e) { /* 1.5e-07 as powers of ten */
        *e = 0;
        if (strcmp(buffer, "1") != 0)
            ns_text_addf(p->out, "%s\\cdot ", buffer);
        ns_text_addf(p->out, "10^{%d}", atoi(e + 1));
        return;
    }
    ns_text_add(p->out, buffer);
}

/* ---- names ------------------------------------------------------------------------------- */

static bool is_greek(const char *word, size_t length)
{
    static const char *const greek[] = {
        "alpha",   "beta",   "gamma", "delta",   "epsilon", "zeta",  "eta",   "theta", "iota",
        "kappa",   "lambda", "mu",    "nu",      "xi",      "pi",    "rho",   "sigma", "tau",
        "upsilon", "phi",    "chi",   "psi",     "omega",   "Gamma", "Delta", "Theta", "Lambda",
        "Xi",      "Pi",     "Sigma", "Upsilon", "Phi",     "Psi",   "Omega",
    };
    for (size_t i = 0; i < sizeof greek / sizeof *greek; i++)
        if (strlen(greek[i]) == length && memcmp(greek[i], word, length) == 0)
            return true;
    return false;
}

static void latex_word(const char *word, size_t length, ns_text *out)
{
    bool digits = true;
    for (size_t i = 0; i < length; i++)
        digits = digits && word[i] >= '0' && word[i] <= '9';
    const char *before = length == 1 || digits    ? ""
                         : is_greek(word, length) ? "\\"
                                                  : "\\mathrm{";
    ns_text_add(out, before);
    ns_text_add_bytes(out, word, length);
    ns_text_add(out, before[0] && before[1] ? "}" : "");
}

void ns_print_name(const char *name, ns_print_style style, ns_text *out)
{
    static const char *const accents[] = {"", "\\dot{", "\\ddot{", "\\dddot{"};
    if (style != NS_PRINT_LATEX) {
        ns_text_add(out, name);
        return;
    }
    size_t length = strlen(name), primes = 0;
    while (primes < length && name[length - 1 - primes] == '\'')
        primes++;
    length -= primes;
    size_t head = ns_pieces_word(name, length), shown = primes < 4 ? primes : 3;
    ns_text_add(out, accents[shown]);
    latex_word(name, head, out);
    ns_text_add(out, shown ? "}" : "");
    bool some = false;
    for (size_t at = head; at < length;) {
        if (name[at] == '.' || name[at] == '_') {
            at++;
            continue;
        }
        size_t n = ns_pieces_word(name + at, length - at);
        ns_text_add(out, some ? "," : "_{");
        latex_word(name + at, n, out);
        some = true;
        at += n;
    }
    ns_text_add(out, some ? "}" : "");
}

/* ---- pieces ------------------------------------------------------------------------------ */

/* Functions written by name in front of their arguments; NULL for all else. */
static const char *latex_function(ns_op op)
{
    static const char *const names[NS_OP_COUNT] = {
        [NS_OP_SIN] = "\\sin",
        [NS_OP_COS] = "\\cos",
        [NS_OP_TAN] = "\\tan",
        [NS_OP_ASIN] = "\\arcsin",
        [NS_OP_ACOS] = "\\arccos",
        [NS_OP_ATAN] = "\\arctan",
        [NS_OP_SINH] = "\\sinh",
        [NS_OP_COSH] = "\\cosh",
        [NS_OP_TANH] = "\\tanh",
        [NS_OP_ASINH] = "\\operatorname{arsinh}",
        [NS_OP_ACOSH] = "\\operatorname{arcosh}",
        [NS_OP_ATANH] = "\\operatorname{artanh}",
        [NS_OP_LOG] = "\\ln",
        [NS_OP_MIN] = "\\min",
        [NS_OP_MAX] = "\\max",
        [NS_OP_SIGN] = "\\operatorname{sign}",
        [NS_OP_ATAN2] = "\\operatorname{atan2}",
    };
    return names[op];
}

static int level(const ns_pieces *p, const ns_piece *what)
{
    ns_op op = ns_graph_op(p->g, what->node);
    if (ns_pieces_item(p, what->node) && !what->expand)
        return NS_LEVEL_ATOM;
    switch (op) {
    case NS_OP_ADD:
    case NS_OP_SUB:
        return NS_LEVEL_SUM;
    case NS_OP_MUL:
        return NS_LEVEL_PRODUCT;
    case NS_OP_DIV:
        return p->latex ? NS_LEVEL_POWER : NS_LEVEL_PRODUCT;
    case NS_OP_NEG:
        return what->unsign ? NS_LEVEL_PRODUCT : p->latex ? NS_LEVEL_SUM : NS_LEVEL_SIGN;
    case NS_OP_POW:
    case NS_OP_POWI:
        return NS_LEVEL_POWER;
    case NS_OP_NUMBER:
        if (ns_pieces_negative(p, what->node) && !what->unsign)
            return p->latex ? NS_LEVEL_SUM : NS_LEVEL_SIGN;
        return NS_LEVEL_ATOM;
    case NS_OP_EXP:
        return p->latex ? NS_LEVEL_POWER : NS_LEVEL_ATOM;
    default: /* a function without brackets must not be the base of a power */
        return p->latex && latex_function(op) ? NS_LEVEL_POWER : NS_LEVEL_ATOM;
    }
}

/* ---- matrices ---------------------------------------------------------------------------- */

/* Entries of a vector or a matrix by rows (0: zero), in the brackets of the style. */
static void push_matrix(ns_pieces *p, const ns_ex *at, uint32_t rows, uint32_t cols)
{
    ns_pieces_text(p, p->latex ? "\\end{pmatrix}" : "]");
    for (uint32_t i = rows; i-- > 0;) {
        if (!p->latex && cols > 1)
            ns_pieces_text(p, "]");
        for (uint32_t j = cols; j-- > 0;) {
            if (at[i * cols + j])
                ns_pieces_push(p, at[i * cols + j], 0);
            else
                ns_pieces_text(p, "0");
            if (j)
                ns_pieces_text(p, p->latex ? " & " : ", ");
        }
        if (!p->latex && cols > 1)
            ns_pieces_text(p, "[");
        if (i)
            ns_pieces_text(p, p->latex ? " \\\\ " : ", ");
    }
    ns_pieces_text(p, p->latex ? "\\begin{pmatrix}" : "[");
}

static void push_solve(ns_pieces *p, ns_ex e)
{
    uint32_t n = (uint32_t)ns_graph_node(p->g, e)->integer;
    ns_pieces_text(p, p->latex ? "" : ")");
    push_matrix(p, ns_graph_args(p->g, e) + 1, n, 1);
    ns_pieces_text(p, p->latex ? "^{-1}" : ", ");
    ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
    ns_pieces_text(p, p->latex ? "" : "solve(");
}

/* ---- text -------------------------------------------------------------------------------- */

/* The builder's largest exponent that a^n reads back as an integer power. */
enum { MOST_POWER = 1024 };

/* a^n; a larger n as (a^1024)^m * a^r, which the builder puts together again. */
static void push_power(ns_pieces *p, ns_ex a, uint32_t n)
{
    uint32_t levels = 0, rest[4];
    for (; n > MOST_POWER; n /= MOST_POWER)
        rest[levels++] = n % MOST_POWER;
    /* a^(m 1024^k) * ... * a^(r_1 1024) * a^(r_0) */
    for (uint32_t k = 0; k <= levels; k++) {
        uint32_t power = k < levels ? rest[k] : n;
        if (!power)
            continue;
        ns_pieces_index(p, power);
        ns_pieces_text(p, "^");
        for (uint32_t i = 0; i < k; i++)
            ns_pieces_text(p, "^1024)");
        ns_pieces_push(p, a, NS_LEVEL_ATOM);
        for (uint32_t i = 0; i < k; i++)
            ns_pieces_text(p, "(");
        if (k < levels)
            ns_pieces_text(p, "*");
    }
}

/* -a*b reads as (-a)*b, which the builder turns into -(a*b), unless a begins with a number,
 * which takes the sign for its own. */
static int least_behind_minus(const ns_pieces *p, ns_ex e)
{
    enum { MOST_STEPS = 32 };
    for (int i = 0; i < MOST_STEPS; i++) {
        ns_op op = ns_graph_op(p->g, e);
        if (ns_pieces_item(p, e))
            return NS_LEVEL_PRODUCT;
        if (op == NS_OP_NUMBER)
            return NS_LEVEL_POWER;
        if (op != NS_OP_MUL && op != NS_OP_DIV)
            return NS_LEVEL_PRODUCT;
        e = ns_pieces_arg(p, e, 0);
    }
    return NS_LEVEL_POWER;
}

/* 2*(a*b) may be written 2*a*b: the builder moves numbers to the front of a product.  Not so if
 * a is a quotient or a number itself. */
static int least_behind_factor(const ns_pieces *p, ns_ex e)
{
    enum { MOST_STEPS = 32 };
    const ns_node *factor = ns_graph_node(p->g, ns_pieces_arg(p, e, 0));
    ns_ex rest = ns_pieces_arg(p, e, 1);
    if (factor->op != NS_OP_NUMBER || factor->lo != 0)
        return NS_LEVEL_POWER;
    for (int i = 0; i < MOST_STEPS; i++) {
        ns_op op = ns_graph_op(p->g, rest);
        if (ns_pieces_item(p, rest))
            return NS_LEVEL_PRODUCT;
        if (op != NS_OP_MUL)
            return op == NS_OP_DIV || op == NS_OP_NUMBER || op == NS_OP_NEG ? NS_LEVEL_POWER
                                                                            : NS_LEVEL_PRODUCT;
        rest = ns_pieces_arg(p, rest, 0);
    }
    return NS_LEVEL_POWER;
}

static void push_binary(ns_pieces *p, ns_ex e, const char *sign, int left, int right)
{
    ns_pieces_push(p, ns_pieces_arg(p, e, 1), right);
    ns_pieces_text(p, sign);
    ns_pieces_push(p, ns_pieces_arg(p, e, 0), left);
}

static void text_node(ns_pieces *p, ns_ex e, bool unsign)
{
    (void)unsign; /* sums of the text notation leave the signs of their terms alone */
    const ns_node *node = ns_graph_node(p->g, e);
    switch (node->op) {
    case NS_OP_NUMBER:
        print_number(p, node, false);
        break;
    case NS_OP_SYMBOL:
        ns_text_add(p->out, ns_graph_symbol(p->g, e)->name);
        break;
    case NS_OP_ADD:
        push_binary(p, e, " + ", NS_LEVEL_SUM, p->plain ? NS_LEVEL_SUM : NS_LEVEL_PRODUCT);
        break;
    case NS_OP_SUB:
        push_binary(p, e, " - ", NS_LEVEL_SUM, NS_LEVEL_PRODUCT);
        break;
    case NS_OP_MUL:
        push_binary(p, e, "*", NS_LEVEL_PRODUCT,
                    p->plain ? NS_LEVEL_PRODUCT : least_behind_factor(p, e));
        break;
    case NS_OP_DIV:
        push_binary(p, e, "/", NS_LEVEL_PRODUCT, NS_LEVEL_POWER);
        break;
    case NS_OP_NEG:
        ns_pieces_push(p, ns_pieces_arg(p, e, 0),
                       least_behind_minus(p, ns_pieces_arg(p, e, 0)));
        ns_pieces_text(p, "-");
        break;
    case NS_OP_POW:
        push_binary(p, e, "^", NS_LEVEL_ATOM, NS_LEVEL_POWER);
        break;
    case NS_OP_POWI:
        push_power(p, ns_pieces_arg(p, e, 0), (uint32_t)node->integer);
        break;
    case NS_OP_LDL:
    case NS_OP_FACTOR:
        push_matrix(p, ns_pieces_entries(p, e), (uint32_t)node->integer,
                    (uint32_t)node->integer);
        break;
    case NS_OP_SOLVE:
        push_solve(p, e);
        break;
    case NS_OP_PICK:
        ns_pieces_text(p, "]");
        ns_pieces_index(p, (uint32_t)node->integer + 1);
        ns_pieces_text(p, "[");
        ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
        break;
    default:
        ns_pieces_text(p, ")");
        for (uint32_t k = node->n; k-- > 0;) {
            ns_pieces_push(p, ns_pieces_arg(p, e, k), 0);
            ns_pieces_text(p, k ? ", " : "(");
        }
        ns_pieces_text(p, ns_ops[node->op].name);
    }
}

/* ---- LaTeX ------------------------------------------------------------------------------- */

/* f^{power} of its arguments; a lone symbol needs no brackets. */
static void latex_call(ns_pieces *p, ns_ex e, uint32_t power)
{
    const ns_node *node = ns_graph_node(p->g, e);
    const bool plain = ns_pieces_lone(p, e);
    ns_pieces_text(p, plain ? "" : "\\right)");
    for (uint32_t k = node->n; k-- > 0;) {
        ns_pieces_push(p, ns_pieces_arg(p, e, k), 0);
        ns_pieces_text(p, k ? ", " : plain ? " " : "\\left(");
    }
    if (power) {
        ns_pieces_text(p, "}");
        ns_pieces_index(p, power);
        ns_pieces_text(p, "^{");
    }
    const char *name = latex_function((ns_op)node->op);
    ns_pieces_text(p, name ? name : ns_ops[node->op].name);
}

static void latex_product(ns_pieces *p, ns_ex e, bool unsign)
{
    ns_ex a = ns_pieces_arg(p, e, 0), b = ns_pieces_arg(p, e, 1);
    bool numbers = ns_graph_is_number(p->g, b, NULL);
    ns_pieces_push(p, b, NS_LEVEL_PRODUCT);
    ns_pieces_text(p, numbers ? " \\cdot " : "\\,");
    if (unsign)
        ns_pieces_unsigned(p, a, NS_LEVEL_PRODUCT);
    else if (ns_pieces_negative(p, a))
        ns_pieces_push(p, a, 0); /* in front of everything: its minus needs no brackets */
    else
        ns_pieces_push(p, a, NS_LEVEL_PRODUCT);
}

static void latex_pick(ns_pieces *p, ns_ex e)
{
    const ns_node *node = ns_graph_node(p->g, e);
    const ns_shared_item *item = ns_pieces_item(p, ns_pieces_arg(p, e, 0));
    ns_pieces_text(p, "}");
    ns_pieces_index(p, (uint32_t)node->integer + 1);
    ns_pieces_text(p, item ? "\\right)_{" : "\\right]_{");
    ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
    ns_pieces_text(p, item ? "\\left(" : "\\left[");
}

static void latex_node(ns_pieces *p, ns_ex e, bool unsign)
{
    const ns_node *node = ns_graph_node(p->g, e);
    switch (node->op) {
    case NS_OP_NUMBER:
        print_number(p, node, unsign);
        break;
    case NS_OP_SYMBOL:
        ns_print_name(ns_graph_symbol(p->g, e)->name, NS_PRINT_LATEX, p->out);
        break;
    case NS_OP_ADD:
    case NS_OP_SUB:
        ns_pieces_sum(p, e, " + ", " - ");
        break;
    case NS_OP_MUL:
        latex_product(p, e, unsign);
        break;
    case NS_OP_DIV:
        ns_pieces_text(p, "}");
        ns_pieces_push(p, ns_pieces_arg(p, e, 1), 0);
        ns_pieces_text(p, "}{");
        ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
        ns_pieces_text(p, "\\frac{");
        break;
    case NS_OP_NEG:
        ns_pieces_push(p, ns_pieces_arg(p, e, 0), NS_LEVEL_PRODUCT);
        ns_pieces_text(p, unsign ? "" : "-");
        break;
    case NS_OP_POW:
    case NS_OP_POWI:
        ns_pieces_power(p, e, "", "^{", "}");
        break;
    case NS_OP_SQRT:
    case NS_OP_EXP:
        ns_pieces_text(p, "}");
        ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
        ns_pieces_text(p, node->op == NS_OP_SQRT ? "\\sqrt{" : "e^{");
        break;
    case NS_OP_ABS:
        ns_pieces_text(p, "\\right|");
        ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
        ns_pieces_text(p, "\\left|");
        break;
    case NS_OP_LDL:
    case NS_OP_FACTOR:
        push_matrix(p, ns_pieces_entries(p, e), (uint32_t)node->integer,
                    (uint32_t)node->integer);
        break;
    case NS_OP_SOLVE:
        push_solve(p, e);
        break;
    case NS_OP_PICK:
        latex_pick(p, e);
        break;
    default:
        latex_call(p, e, 0);
    }
}

/* ---- notations --------------------------------------------------------------------------- */

static void text_name(const char *name, ns_text *out)
{
    ns_print_name(name, NS_PRINT_TEXT, out);
}

static void latex_name(const char *name, ns_text *out)
{
    ns_print_name(name, NS_PRINT_LATEX, out);
}

static const ns_notation text_notation = {.open = "(",
                                          .close = ")",
                                          .before_index = "",
                                          .behind_index = "",
                                          .name = text_name,
                                          .level = level,
                                          .node = text_node};

static const ns_notation latex_notation = {.open = "\\left(",
                                           .close = "\\right)",
                                           .before_index = "",
                                           .behind_index = "",
                                           .name = latex_name,
                                           .level = level,
                                           .node = latex_node,
                                           .function = latex_function,
                                           .call = latex_call};

static void print(const ns_graph *g, ns_ex e, ns_print_style style, const ns_shared *shared,
                  bool expand, ns_text *out)
{
    const bool latex = style == NS_PRINT_LATEX;
    ns_pieces p = {.notation = latex ? &latex_notation : &text_notation,
                   .g = g,
                   .out = out,
                   .shared = shared,
                   .latex = latex,
                   .plain = style == NS_PRINT_PLAIN};
    ns_pieces_print(&p, e, expand);
}

void ns_print_expression(const ns_graph *g, ns_ex e, ns_print_style style,
                         const ns_shared *shared, ns_text *out)
{
    print(g, e, style, shared, false, out);
}

void ns_print_definition(const ns_graph *g, const ns_shared *shared, uint32_t item,
                         ns_print_style style, ns_text *out)
{
    NS_CHECK(item < shared->items.n);
    print(g, shared->items.at[item].node, style, shared, true, out);
}

void ns_print_text(const ns_graph *g, ns_ex e, ns_text *out)
{
    print(g, e, NS_PRINT_TEXT, NULL, false, out);
}

void ns_print_latex(const ns_graph *g, ns_ex e, ns_text *out)
{
    print(g, e, NS_PRINT_LATEX, NULL, false, out);
}

/* ---- sharing ----------------------------------------------------------------------------- */

/* Printed length of a node's own part, roughly. */
static uint64_t own_length(const ns_graph *g, ns_ex e)
{
    const ns_node *node = ns_graph_node(g, e);
    switch (node->op) {
    case NS_OP_NUMBER:
        return 3;
    case NS_OP_SYMBOL:
        return strlen(ns_graph_symbol(g, e)->name);
    case NS_OP_FACTOR:
    case NS_OP_LDL:
    case NS_OP_SOLVE:
        return 10 + 2 * (uint64_t)node->n;
    default:
        return ns_ops[node->op].arity == 1 ? strlen(ns_ops[node->op].name) + 2 : 3;
    }
}

/* Is it the name of a symbol of the roots? */
static bool taken(const ns_graph *g, const bool *used, ns_ex top, const char *name)
{
    for (ns_ex e = 1; e <= top; e++)
        if (used[e] && ns_graph_op(g, e) == NS_OP_SYMBOL &&
            strcmp(ns_graph_symbol(g, e)->name, name) == 0)
            return true;
    return false;
}

const ns_shared *ns_print_shared(const ns_graph *g, const ns_ex *roots, size_t n,
                                 const char *prefix)
{
    NS_CHECK(roots || !n);
    NS_CHECK(prefix);
    enum { LONG_ENOUGH = 17, NAME_LENGTH = 3 };
    ns_arena *arena = ns_graph_arena(g);
    ns_shared *shared = NS_NEW(arena, ns_shared);
    ns_ex top = 0;
    for (size_t i = 0; i < n; i++)
        top = roots[i] > top ? roots[i] : top;
    bool *used = NS_NEW_ARRAY(arena, bool, top + 1);
    uint32_t *uses = NS_NEW_ARRAY(arena, uint32_t, top + 1);
    uint64_t *length = NS_NEW_ARRAY(arena, uint64_t, top + 1);
    uint32_t *place = NS_NEW_ARRAY(arena, uint32_t, top + 1);
    ns_graph_mark(g, roots, n, used);
    for (size_t i = 0; i < n; i++)
        uses[roots[i]]++;
    bool clash = false; /* any symbol that begins like our names? */
    for (ns_ex e = 1; e <= top; e++) {
        if (!used[e])
            continue;
        for (uint32_t k = 0; k < ns_graph_node(g, e)->n; k++)
            uses[ns_graph_args(g, e)[k]]++;
        clash = clash || (ns_graph_op(g, e) == NS_OP_SYMBOL &&
                          strncmp(ns_graph_symbol(g, e)->name, prefix, strlen(prefix)) == 0);
    }
    uint32_t number = 0;
    for (ns_ex e = 1; e <= top; e++) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        length[e] = own_length(g, e);
        for (uint32_t k = 0; k < node->n; k++)
            length[e] += length[ns_graph_args(g, e)[k]];
        if (node->n == 0 || uses[e] < 2 || length[e] < LONG_ENOUGH)
            continue;
        const char *name;
        do
            name = ns_arena_format(arena, "%s%u", prefix, ++number);
        while (clash && taken(g, used, top, name));
        NS_PUSH(arena, shared->items, (ns_shared_item){.name = name, .node = e});
        place[e] = shared->items.n;
        length[e] = NAME_LENGTH;
    }
    shared->place = place;
    shared->size = top + 1;
    return shared;
}
