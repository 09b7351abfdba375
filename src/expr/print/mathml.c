/* MathML, with the work stack of pieces.h. */
#include "expr/print/mathml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "expr/pieces.h"

static const char minus_sign[] = "<mo>&#x2212;</mo>";
static const char thin_space[] = "<mspace width=\"0.17em\"/>";

/* ---- names and numbers ------------------------------------------------------------------- */

void ns_mathml_escape(const char *text, size_t length, ns_text *out)
{
    NS_CHECK(text || !length);
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '<':
            ns_text_add(out, "&lt;");
            break;
        case '>':
            ns_text_add(out, "&gt;");
            break;
        case '&':
            ns_text_add(out, "&amp;");
            break;
        case '"':
            ns_text_add(out, "&quot;");
            break;
        case '\'':
            ns_text_add(out, "&apos;");
            break;
        default:
            ns_text_add_bytes(out, text + i, 1);
        }
}

/* Number of the Unicode character of a Greek letter's name, 0 if it is not one. */
static unsigned greek(const char *word, size_t length)
{
    static const char *const letters[] = {
        "alpha", "beta",   "gamma",   "delta", "epsilon", "zeta",    "eta",  "theta", "iota",
        "kappa", "lambda", "mu",      "nu",    "xi",      "omicron", "pi",   "rho",   "",
        "sigma", "tau",    "upsilon", "phi",   "chi",     "psi",     "omega"};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        const char *name = letters[i];
        if (!*name || strlen(name) != length || memcmp(name + 1, word + 1, length - 1) != 0)
            continue;
        if (word[0] == name[0])
            return 0x3B1 + (unsigned)i;
        if (word[0] == name[0] - 'a' + 'A')
            return 0x391 + (unsigned)i;
    }
    return 0;
}

static void word(const char *name, size_t length, ns_text *out)
{
    bool digits = length > 0;
    for (size_t i = 0; i < length; i++)
        digits = digits && name[i] >= '0' && name[i] <= '9';
    const unsigned letter = length ? greek(name, length) : 0;
    ns_text_add(out, digits ? "<mn>" : "<mi>");
    if (letter)
        ns_text_addf(out, "&#x%X;", letter);
    else
        ns_mathml_escape(name, length, out);
    ns_text_add(out, digits ? "</mn>" : "</mi>");
}

void ns_mathml_name(const char *name, ns_text *out)
{
    static const char *const dots[] = {"", "<mo>&#x2D9;</mo></mover>",
                                       "<mo>&#xA8;</mo></mover>", "<mo>&#x20DB;</mo></mover>"};
    size_t length = strlen(name), primes = 0;
    while (primes < length && name[length - 1 - primes] == '\'')
        primes++;
    length -= primes;
    const size_t shown = primes < 4 ? primes : 3;
    const size_t head = ns_pieces_word(name, length);
    size_t rest = head;
    while (rest < length && (name[rest] == '.' || name[rest] == '_'))
        rest++;
    const bool below = rest < length;
    ns_text_add(out, below ? "<msub>" : "");
    ns_text_add(out, shown ? "<mover>" : "");
    word(name, head, out);
    ns_text_add(out, dots[shown]);
    ns_text_add(out, below ? "<mrow>" : "");
    bool some = false;
    for (size_t at = rest; at < length;) {
        if (name[at] == '.' || name[at] == '_') {
            at++;
            continue;
        }
        const size_t n = ns_pieces_word(name + at, length - at);
        ns_text_add(out, some ? "<mo>,</mo>" : "");
        word(name + at, n, out);
        some = true;
        at += n;
    }
    ns_text_add(out, below ? "</mrow></msub>" : "");
}

static void number(ns_pieces *p, const ns_node *node, bool unsign)
{
    double value = node->hi;
    if (!isfinite(value)) {
        ns_text_add(p->out, isnan(value) ? "<mi>nan</mi>" : "<mi>&#x221E;</mi>");
        return;
    }
    ns_text_add(p->out, value < 0 && !unsign ? minus_sign : "");
    value = fabs(value);
    if (value == 0x1.921fb54442d18p+1 && fabs(node->lo) == 0x1.1a62633145c07p-53) {
        ns_text_add(p->out, "<mi>&#x3C0;</mi>");
        return;
    }
    for (int below = 2; below <= 8; below *= 2)
        if (node->lo == 0 && value < 1000 && value != floor(value) &&
            value * below == floor(value * below)) {
            ns_text_addf(p->out, "<mfrac><mn>%d</mn><mn>%d</mn></mfrac>", (int)(value * below),
                         below);
            return;
        }
    ns_text text = ns_text_new(p->out->arena);
    ns_text_add_double(&text, value);
    const char *digits = ns_text_string(&text), *e = strchr(digits, 'e');
    const int before = e ? (int)(e - digits) : (int)text.length;
    if (!e || before != 1 || digits[0] != '1')
        ns_text_addf(p->out, "<mn>%.*s</mn>", before, digits);
    if (e) {
        const int exponent = atoi(e + 1);
        ns_text_addf(p->out, "%s<msup><mn>10</mn><mrow>%s<mn>%d</mn></mrow></msup>",
                     before == 1 && digits[0] == '1' ? "" : "<mo>&#xB7;</mo>",
                     exponent < 0 ? minus_sign : "", abs(exponent));
    }
}

/* ---- pieces ------------------------------------------------------------------------------ */

/* Functions written by name in front of their arguments; NULL for all else. */
static const char *function(ns_op op)
{
    static const char *const names[NS_OP_COUNT] = {
        [NS_OP_SIN] = "sin",      [NS_OP_COS] = "cos",      [NS_OP_TAN] = "tan",
        [NS_OP_ASIN] = "arcsin",  [NS_OP_ACOS] = "arccos",  [NS_OP_ATAN] = "arctan",
        [NS_OP_SINH] = "sinh",    [NS_OP_COSH] = "cosh",    [NS_OP_TANH] = "tanh",
        [NS_OP_ASINH] = "arsinh", [NS_OP_ACOSH] = "arcosh", [NS_OP_ATANH] = "artanh",
        [NS_OP_LOG] = "ln",       [NS_OP_MIN] = "min",      [NS_OP_MAX] = "max",
        [NS_OP_SIGN] = "sign",    [NS_OP_ATAN2] = "atan2",
    };
    return names[op];
}

static int level(const ns_pieces *p, const ns_piece *what)
{
    const ns_op op = ns_graph_op(p->g, what->node);
    if (ns_pieces_item(p, what->node) && !what->expand)
        return NS_LEVEL_ATOM;
    switch (op) {
    case NS_OP_ADD:
    case NS_OP_SUB:
        return NS_LEVEL_SUM;
    case NS_OP_MUL:
        return !what->unsign && ns_pieces_negative(p, ns_pieces_arg(p, what->node, 0))
                   ? NS_LEVEL_SUM
                   : NS_LEVEL_PRODUCT;
    case NS_OP_NEG:
        return what->unsign ? NS_LEVEL_PRODUCT : NS_LEVEL_SUM;
    case NS_OP_DIV:
    case NS_OP_POW:
    case NS_OP_POWI:
    case NS_OP_EXP:
        return NS_LEVEL_POWER;
    case NS_OP_NUMBER:
        return ns_pieces_negative(p, what->node) && !what->unsign ? NS_LEVEL_SUM
                                                                  : NS_LEVEL_ATOM;
    default: /* a function without brackets must not be the base of a power */
        return function(op) ? NS_LEVEL_POWER : NS_LEVEL_ATOM;
    }
}

/* ---- nodes ------------------------------------------------------------------------------- */

static void push_matrix(ns_pieces *p, const ns_ex *at, uint32_t rows, uint32_t cols)
{
    ns_pieces_text(p, "</mtable><mo>)</mo></mrow>");
    for (uint32_t i = rows; i-- > 0;) {
        ns_pieces_text(p, "</mtr>");
        for (uint32_t k = cols; k-- > 0;) {
            ns_pieces_text(p, "</mtd>");
            if (at[i * cols + k])
                ns_pieces_push(p, at[i * cols + k], 0);
            else
                ns_pieces_text(p, "<mn>0</mn>");
            ns_pieces_text(p, "<mtd>");
        }
        ns_pieces_text(p, "<mtr>");
    }
    ns_pieces_text(p, "<mrow><mo>(</mo><mtable>");
}

static void push_solve(ns_pieces *p, ns_ex e)
{
    const uint32_t n = (uint32_t)ns_graph_node(p->g, e)->integer;
    push_matrix(p, ns_graph_args(p->g, e) + 1, n, 1);
    ns_pieces_text(p, "</mrow><mrow><mo>&#x2212;</mo><mn>1</mn></mrow></msup>");
    ns_pieces_push(p, ns_pieces_arg(p, e, 0), 0);
    ns_pieces_text(p, "<msup><mrow>");
}

/* f to a power, of its arguments; a lone symbol needs no brackets. */
static void push_call(ns_pieces *p, ns_ex e, uint32_t power)
{
    const ns_node *node = ns_graph_node(p->g, e);
    const bool plain = ns_pieces_lone(p, e);
    ns_pieces_text(p, plain ? "</mrow>" : "<mo>)</mo></mrow></mrow>");
    for (uint32_t k = node->n; k-- > 0;) {
        ns_pieces_push(p, ns_pieces_arg(p, e, k), 0);
        ns_pieces_text(p, k ? "<mo>,</mo>" : "");
    }
    ns_pieces_text(p, plain ? thin_space : "<mrow><mo>(</mo>");
    ns_pieces_text(p, power ? "</msup>" : "");
    if (power)
        ns_pieces_index(p, power);
    const char *name = function((ns_op)node->op);
    ns_pieces_text(p, "</mi>");
    ns_pieces_text(p, name ? name : ns_ops[node->op].name);
    ns_pieces_text(p, power ? "<mrow><msup><mi>" : "<mrow><mi>");
}

/* Does it begin with a digit, which would run into a number before it? */
static bool begins_with_number(const ns_pieces *p, ns_ex e)
{
    enum { MOST_STEPS = 32 };
    for (int i = 0; i < MOST_STEPS && !ns_pieces_item(p, e); i++) {
        const ns_op op = ns_graph_op(p->g, e);
        if (op == NS_OP_NUMBER)
            return true;
        if (op != NS_OP_MUL && op != NS_OP_POW && op != NS_OP_POWI && op != NS_OP_DIV)
            return false;
        e = ns_pieces_arg(p, e, 0);
    }
    return false;
}

static void push_product(ns_pieces *p, ns_ex e, bool unsign)
{
    const ns_ex a = ns_pieces_arg(p, e, 0), b = ns_pieces_arg(p, e, 1);
    ns_pieces_push(p, b, NS_LEVEL_PRODUCT);
    ns_pieces_text(p, begins_with_number(p, b) ? "<mo>&#xB7;</mo>" : thin_space);
    if (unsign)
        ns_pieces_unsigned(p, a, NS_LEVEL_PRODUCT);
    else
        ns_pieces_push(p, a, ns_pieces_negative(p, a) ? 0 : NS_LEVEL_PRODUCT);
}

static void push_wrapped(ns_pieces *p, ns_ex e, const char *open, const char *close)
{
    ns_pieces_text(p, close);
    ns_pieces_push(p, e, 0);
    ns_pieces_text(p, open);
}

static void print_node(ns_pieces *p, ns_ex e, bool unsign)
{
    const ns_node *node = ns_graph_node(p->g, e);
    const uint32_t n = (uint32_t)node->integer;
    switch (node->op) {
    case NS_OP_NUMBER:
        number(p, node, unsign);
        break;
    case NS_OP_SYMBOL:
        ns_mathml_name(ns_graph_symbol(p->g, e)->name, p->out);
        break;
    case NS_OP_ADD:
    case NS_OP_SUB:
        ns_pieces_sum(p, e, "<mo>+</mo>", minus_sign);
        break;
    case NS_OP_MUL:
        push_product(p, e, unsign);
        break;
    case NS_OP_DIV:
        push_wrapped(p, ns_pieces_arg(p, e, 1), "<mrow>", "</mrow></mfrac>");
        push_wrapped(p, ns_pieces_arg(p, e, 0), "<mfrac><mrow>", "</mrow>");
        break;
    case NS_OP_NEG:
        ns_pieces_push(p, ns_pieces_arg(p, e, 0), NS_LEVEL_PRODUCT);
        ns_pieces_text(p, unsign ? "" : minus_sign);
        break;
    case NS_OP_POW:
    case NS_OP_POWI:
        ns_pieces_power(p, e, "<msup><mrow>", "</mrow><mrow>", "</mrow></msup>");
        break;
    case NS_OP_SQRT:
        push_wrapped(p, ns_pieces_arg(p, e, 0), "<msqrt><mrow>", "</mrow></msqrt>");
        break;
    case NS_OP_EXP:
        push_wrapped(p, ns_pieces_arg(p, e, 0), "<msup><mi>e</mi><mrow>", "</mrow></msup>");
        break;
    case NS_OP_ABS:
        push_wrapped(p, ns_pieces_arg(p, e, 0), "<mrow><mo>|</mo>", "<mo>|</mo></mrow>");
        break;
    case NS_OP_LDL:
    case NS_OP_FACTOR:
        push_matrix(p, ns_pieces_entries(p, e), n, n);
        break;
    case NS_OP_SOLVE:
        push_solve(p, e);
        break;
    case NS_OP_PICK:
        ns_pieces_text(p, "</msub>");
        ns_pieces_index(p, n + 1);
        push_wrapped(p, ns_pieces_arg(p, e, 0), "<msub><mrow><mo>(</mo>", "<mo>)</mo></mrow>");
        break;
    default:
        push_call(p, e, 0);
    }
}

static const ns_notation notation = {.open = "<mrow><mo>(</mo>",
                                     .close = "<mo>)</mo></mrow>",
                                     .before_index = "<mn>",
                                     .behind_index = "</mn>",
                                     .name = ns_mathml_name,
                                     .level = level,
                                     .node = print_node,
                                     .function = function,
                                     .call = push_call};

static void print(const ns_graph *g, ns_ex e, const ns_shared *shared, bool expand,
                  ns_text *out)
{
    ns_pieces p = {.notation = &notation, .g = g, .out = out, .shared = shared};
    ns_pieces_print(&p, e, expand);
}

void ns_mathml_expression(const ns_graph *g, ns_ex e, const ns_shared *shared, ns_text *out)
{
    print(g, e, shared, false, out);
}

void ns_mathml_definition(const ns_graph *g, const ns_shared *shared, uint32_t item,
                          ns_text *out)
{
    NS_CHECK(item < shared->items.n);
    print(g, shared->items.at[item].node, shared, true, out);
}
