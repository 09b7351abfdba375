/* noslip emit c: see emit_c.h.
 *
 * Expressions are printed from the graph with names for what is shared (expr/print/print.h
 * chooses which), states and parameters under their own names as far as C allows.  The helpers
 * that the expressions use are written before them, and no others, so that no compiler
 * complains of unused functions. */
#include "out/program/emit_c.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/print/print.h"
#include "expr/sparse.h"
#include "out/program/emit_c_texts.h"

/* Functions of the file that only some models need. */
typedef enum helper { POWER, SIGN, LEAST, MOST, SYSTEMS, HELPERS } helper;

typedef struct waiting {
    const char *text; /* NULL: a node */
    ns_ex node;
    int least;
} waiting;

typedef struct writer {
    ns_arena *arena;
    const ns_model *model;
    const ns_graph *g;
    ns_text *out;
    ns_text line; /* the statement being written */
    const ns_shared *shared;
    const char **names; /* [graph size] of symbols */
    NS_LIST(waiting) stack;
    bool needs[HELPERS];
} writer;

/* ---- names ------------------------------------------------------------------------------- */

/* Words that mean something else in the file. */
static bool is_taken(const char *name)
{
    static const char *const words[] = {
        "auto",    "break",       "case",     "char",   "const",    "continue", "default",
        "do",      "double",      "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",          "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",       "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",       "unsigned", "void",   "volatile", "while",    "t",
        "x",       "p",           "dx",       "v",      "sin",      "cos",      "tan",
        "asin",    "acos",        "atan",     "atan2",  "sinh",     "cosh",     "tanh",
        "asinh",   "acosh",       "atanh",    "exp",    "log",      "pow",      "sqrt",
        "fabs",    "power",       "sign",     "least",  "most",     "factor",   "solve",
        "stdin",   "stdout",      "stderr",   "errno",  "linux",    "unix",     "main",
        "NULL",    "EOF",         "INFINITY", "NAN",    "HUGE_VAL", "STATES",   "PARAMETERS",
        "VALUES",  "CONSTRAINTS", "g",        "asm",    "typeof",   "signbit",  "isnan",
        "isinf",   "isfinite"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    /* t1, t2, ... are the shared expressions */
    const size_t digits = strspn(name + 1, "0123456789");
    return name[0] == 't' && digits && !name[1 + digits];
}

/* What begins so belongs to the library, whatever follows. */
static bool begins_taken(const char *name)
{
    return name[0] == '_' || strncmp(name, "M_", 2) == 0;
}

static bool is_used(const writer *w, const char *name)
{
    for (uint32_t e = 1; e < ns_graph_size(w->g); e++)
        if (w->names[e] && strcmp(w->names[e], name) == 0)
            return true;
    return false;
}

/* omega.x' becomes omega_x_dot. */
static void set_name(writer *w, ns_ex symbol, const char *name)
{
    ns_text text = ns_text_new(w->arena);
    for (const char *at = name; *at; at++) {
        if (*at == '\'')
            ns_text_add(&text, "_dot");
        else if (isalnum((unsigned char)*at) && (unsigned char)*at < 128)
            ns_text_add_bytes(&text, at, 1);
        else
            ns_text_add(&text, "_");
    }
    if (isdigit((unsigned char)*name))
        text = (ns_text){.arena = w->arena};
    const char *plain = ns_text_string(&text);
    if (!*plain || *plain == '_')
        plain = "value";
    else if (begins_taken(plain))
        plain = ns_arena_format(w->arena, "value_%s", plain);
    const char *made = plain;
    for (uint32_t i = 1; is_taken(made) || is_used(w, made); i++)
        made = ns_arena_format(w->arena, "%s_%u", plain, i);
    w->names[symbol] = made;
}

/* Text of the model in a comment: no end of it, no lines, no question marks (trigraphs). */
static const char *harmless(ns_arena *arena, const char *words)
{
    char *made = ns_arena_string(arena, words, strlen(words));
    for (char *at = made; *at; at++)
        if (*at == '*' || *at == '?' || *at == '\\' || (unsigned char)*at < 32)
            *at = ' ';
    return made;
}

/* ---- expressions ------------------------------------------------------------------------- */

enum { SUM, PRODUCT, SIGNED, ATOM };

static void put_number(writer *w, double value, int least)
{
    ns_text text = ns_text_new(w->arena);
    if (!isfinite(value)) {
        ns_text_add(&w->line, isnan(value) ? "NAN" : value > 0 ? "INFINITY" : "(-INFINITY)");
        return;
    }
    ns_text_add_double(&text, value);
    const char *digits = ns_text_string(&text);
    const bool brackets = *digits == '-' && least > SUM;
    ns_text_addf(&w->line, "%s%s%s%s", brackets ? "(" : "", digits,
                 strpbrk(digits, ".e") ? "" : ".0", brackets ? ")" : "");
}

/* What is still to be written, last first: a text, or a node that binds at least as strongly as
 * `least`.  Sums are as deep as they are long, so that there is a stack. */
static void push_text(writer *w, const char *text)
{
    NS_PUSH(w->arena, w->stack, ((waiting){.text = text}));
}

static void push(writer *w, ns_ex e, int least)
{
    NS_PUSH(w->arena, w->stack, ((waiting){.node = e, .least = least}));
}

static void put_call(writer *w, const char *function, ns_ex a, ns_ex b)
{
    ns_text_addf(&w->line, "%s(", function);
    push_text(w, ")");
    if (b) {
        push(w, b, SUM);
        push_text(w, ", ");
    }
    push(w, a, SUM);
}

static void put_binary(writer *w, ns_ex e, const char *sign, int own, int least)
{
    const ns_ex *a = ns_graph_args(w->g, e);
    const bool brackets = own < least;
    ns_text_add(&w->line, brackets ? "(" : "");
    if (brackets)
        push_text(w, ")");
    push(w, a[1], own + 1);
    push_text(w, sign);
    push(w, a[0], own);
}

/* a^n, n >= 2: written out if a is a name and n small. */
static void put_power(writer *w, ns_ex a, int32_t n, int least)
{
    const bool name = ns_graph_op(w->g, a) == NS_OP_SYMBOL || w->shared->place[a];
    if (!name || n > 3) {
        w->needs[POWER] = true;
        ns_text_add(&w->line, "power(");
        push_text(w, ns_arena_format(w->arena, ", %d)", n));
        push(w, a, SUM);
        return;
    }
    const bool brackets = PRODUCT < least;
    ns_text_add(&w->line, brackets ? "(" : "");
    if (brackets)
        push_text(w, ")");
    for (int32_t k = 0; k < n; k++) {
        push(w, a, ATOM);
        if (k + 1 < n)
            push_text(w, "*");
    }
}

static void put_function(writer *w, ns_op op, ns_ex a, ns_ex b)
{
    static const struct {
        ns_op op;
        const char *name;
        helper helper;
    } others[] = {{NS_OP_ABS, "fabs", HELPERS},
                  {NS_OP_SIGN, "sign", SIGN},
                  {NS_OP_MIN, "least", LEAST},
                  {NS_OP_MAX, "most", MOST}};
    const char *name = ns_ops[op].name;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].op == op) {
            name = others[i].name;
            if (others[i].helper != HELPERS)
                w->needs[others[i].helper] = true;
        }
    put_call(w, name, a, ns_ops[op].arity > 1 ? b : 0);
}

/* An expression that binds at least as strongly as `least`; `whole`: what a name stands for. */
static void put_node(writer *w, ns_ex e, int least)
{
    const ns_node *node = ns_graph_node(w->g, e);
    const ns_ex *a = ns_graph_args(w->g, e);
    switch ((ns_op)node->op) {
    case NS_OP_NUMBER:
        put_number(w, node->hi, least);
        break;
    case NS_OP_SYMBOL:
        ns_text_add(&w->line, w->names[e] ? w->names[e] : "NAN");
        break;
    case NS_OP_ADD:
        put_binary(w, e, " + ", SUM, least);
        break;
    case NS_OP_SUB:
        put_binary(w, e, " - ", SUM, least);
        break;
    case NS_OP_MUL:
        put_binary(w, e, "*", PRODUCT, least);
        break;
    case NS_OP_DIV:
        put_binary(w, e, "/", PRODUCT, least);
        break;
    case NS_OP_NEG:
        ns_text_add(&w->line, least > SUM ? "(-" : "-");
        if (least > SUM)
            push_text(w, ")");
        push(w, a[0], SIGNED);
        break;
    case NS_OP_POWI:
        put_power(w, a[0], node->integer, least);
        break;
    case NS_OP_PICK:
        ns_text_addf(&w->line, "%s[%d]", w->shared->items.at[w->shared->place[a[0]] - 1].name,
                     node->integer);
        break;
    default:
        put_function(w, (ns_op)node->op, a[0], node->n > 1 ? a[1] : 0);
    }
}

/* Writes all that is waiting. */
static void drain(writer *w)
{
    while (w->stack.n) {
        const waiting next = w->stack.at[--w->stack.n];
        const uint32_t item = next.node < w->shared->size ? w->shared->place[next.node] : 0;
        if (next.text)
            ns_text_add(&w->line, next.text);
        else if (item)
            ns_text_add(&w->line, w->shared->items.at[item - 1].name);
        else
            put_node(w, next.node, next.least);
    }
}

static void put(writer *w, ns_ex e, int least)
{
    push(w, e, least);
    drain(w);
}

/* ---- statements -------------------------------------------------------------------------- */

enum { WIDTH = 96 };

/* The line to the file, broken at blanks. */
static void end_line(writer *w)
{
    enum { INDENT = 4 };
    const char *at = ns_text_string(&w->line);
    for (bool first = true; *at; first = false) {
        const size_t room = WIDTH - INDENT - (first ? 0 : 4);
        size_t length = strnlen(at, room + 1);
        if (length > room) {
            size_t cut = room;
            while (cut > 0 && at[cut] != ' ')
                cut--;
            if (cut == 0) /* no blank so early: the next one */
                cut = strcspn(at, " ");
            length = cut;
        }
        ns_text_add(w->out, first ? "    " : "        ");
        ns_text_add_bytes(w->out, at, length);
        ns_text_add(w->out, "\n");
        at += length;
        while (*at == ' ')
            at++;
    }
    w->line.length = 0;
    if (w->line.at)
        w->line.at[0] = 0;
}

static void put_list(writer *w, const ns_ex *at, uint32_t n)
{
    ns_text_add(&w->line, "{");
    for (uint32_t i = 0; i < n; i++) {
        ns_text_add(&w->line, i ? ", " : "");
        put(w, at[i], SUM);
    }
    ns_text_add(&w->line, "};");
    end_line(w);
}

static void put_item(writer *w, const ns_shared_item *item)
{
    const ns_node *node = ns_graph_node(w->g, item->node);
    const ns_ex *a = ns_graph_args(w->g, item->node);
    const unsigned n = (unsigned)node->integer;
    if (node->op == NS_OP_FACTOR) {
        w->needs[SYSTEMS] = true;
        ns_text_addf(&w->line, "double %s[%u] = ", item->name, n * n);
        put_list(w, a, n * n);
        ns_text_addf(&w->line, "int %s_row[%u];", item->name, n);
        end_line(w);
        ns_text_addf(&w->line, "factor(%u, %s, %s_row);", n, item->name, item->name);
        end_line(w);
    } else if (node->op == NS_OP_LDL) { /* sparse and symmetric; here as a whole matrix */
        const ns_pattern *pattern = ns_sparse_of(w->g, item->node);
        w->needs[SYSTEMS] = true;
        ns_text_addf(&w->line, "double %s[%u] = {0};", item->name, n * n);
        end_line(w);
        for (uint32_t k = 0; k < pattern->entries; k++) {
            const uint32_t i = pattern->row[k], j = pattern->col[k];
            ns_text_addf(&w->line, "%s[%u] = ", item->name, i * n + j);
            if (i != j)
                ns_text_addf(&w->line, "%s[%u] = ", item->name, j * n + i);
            put(w, a[k], SUM);
            ns_text_add(&w->line, ";");
            end_line(w);
        }
        ns_text_addf(&w->line, "int %s_row[%u];", item->name, n);
        end_line(w);
        ns_text_addf(&w->line, "factor(%u, %s, %s_row);", n, item->name, item->name);
        end_line(w);
    } else if (node->op == NS_OP_SOLVE) {
        const char *M = w->shared->items.at[w->shared->place[a[0]] - 1].name;
        ns_text_addf(&w->line, "double %s[%u] = ", item->name, n);
        put_list(w, a + 1, n);
        ns_text_addf(&w->line, "solve(%u, %s, %s_row, %s);", n, M, M, item->name);
        end_line(w);
    } else {
        ns_text_addf(&w->line, "const double %s = ", item->name);
        put_node(w, item->node, SUM);
        drain(w);
        ns_text_add(&w->line, ";");
        end_line(w);
    }
}

/* Names for what is shared, and for all linear systems, which C cannot write in an
 * expression. */
static const ns_shared *share(const writer *w, const ns_ex *roots, uint32_t n, const bool *used)
{
    const ns_shared *found = ns_print_shared(w->g, roots, n, "t");
    const uint32_t size = ns_graph_size(w->g);
    ns_shared *made = NS_NEW(w->arena, ns_shared);
    uint32_t *place = NS_NEW_ARRAY(w->arena, uint32_t, size);
    made->place = place;
    made->size = size;
    for (ns_ex e = 1; e < size; e++) { /* arguments come before what uses them */
        const ns_op op = ns_graph_op(w->g, e);
        const bool system = op == NS_OP_FACTOR || op == NS_OP_LDL || op == NS_OP_SOLVE;
        if (!used[e] || !(system || (e < found->size && found->place[e])))
            continue;
        const char *name = ns_arena_format(w->arena, "t%u", made->items.n + 1);
        NS_PUSH(w->arena, made->items, (ns_shared_item){.name = name, .node = e});
        place[e] = made->items.n;
    }
    return made;
}

/* The body of a function that computes `roots` into an array, at their places in it if
 * given. */
static void put_body(writer *w, const ns_ex *roots, uint32_t n, const char *array,
                     const uint32_t *place, const char *const *comments)
{
    const ns_system *s = w->model->system;
    bool *used = NS_NEW_ARRAY(w->arena, bool, ns_graph_size(w->g));
    ns_graph_mark(w->g, roots, n, used);
    w->shared = share(w, roots, n, used);
    if (!s->time || !used[s->time])
        ns_text_add(w->out, "    (void)t;\n");
    bool any_x = false, any_p = false;
    for (uint32_t i = 0; i < s->states.n; i++) {
        const ns_ex symbol = s->states.at[i].symbol;
        if (used[symbol])
            ns_text_addf(w->out, "    const double %s = x[%u];\n", w->names[symbol], i);
        any_x = any_x || used[symbol];
    }
    for (uint32_t i = 0; i < s->description->params.n; i++) {
        const ns_ex symbol = s->description->params.at[i].symbol;
        if (used[symbol])
            ns_text_addf(w->out, "    const double %s = p[%u];\n", w->names[symbol], i);
        any_p = any_p || used[symbol];
    }
    if (!any_x)
        ns_text_add(w->out, "    (void)x;\n");
    if (!any_p)
        ns_text_add(w->out, "    (void)p;\n");
    ns_text_add(w->out, "\n");
    for (uint32_t i = 0; i < w->shared->items.n; i++)
        put_item(w, &w->shared->items.at[i]);
    ns_text_add(w->out, w->shared->items.n ? "\n" : "");
    for (uint32_t i = 0; i < n; i++) {
        const char *comment = harmless(w->arena, comments[i]);
        ns_text_addf(&w->line, "%s[%u] = ", array, place ? place[i] : i);
        put(w, roots[i], SUM);
        ns_text_add(&w->line, ";");
        if (w->line.length + strlen(comment) < WIDTH - 12) /* not broken: behind it */
            ns_text_addf(&w->line, " /* %s */", comment);
        else
            ns_text_addf(w->out, "    /* %s */\n", comment);
        end_line(w);
    }
}

/* ---- the file ---------------------------------------------------------------------------- */

/* name = value, one a line, as the initialiser of an array. */
static void put_values(writer *w, const char *head, const char *const *names,
                       const double *values, uint32_t n)
{
    ns_text_addf(w->out, "%s = {\n", head);
    for (uint32_t i = 0; i < n; i++) {
        put_number(w, values[i], SUM);
        ns_text_addf(w->out, "    %s, /* %u: %s */\n", ns_text_string(&w->line), i,
                     harmless(w->arena, names[i]));
        w->line.length = 0;
    }
    ns_text_addf(w->out, "%s};\n\n", n ? "" : "    0.0\n");
}

static void put_strings(writer *w, const char *head, const char *const *names, uint32_t n)
{
    ns_text_addf(w->out, "%s = {\n", head);
    for (uint32_t i = 0; i < n; i++)
        ns_text_addf(w->out, "    \"%s\",\n", harmless(w->arena, names[i]));
    ns_text_addf(w->out, "%s};\n\n", n ? "" : "    \"\"\n");
}

/* ---- constraints ------------------------------------------------------------------------- */

/* Residuals that are to vanish along the motion, and the entries of their Jacobian that can
 * differ from zero, at their places in an array of both: residuals, then the Jacobian by
 * rows. */
typedef struct manifold {
    uint32_t rows, dropped; /* dropped: more than a file of this kind should project */
    NS_LIST(ns_ex) value;
    NS_LIST(uint32_t) place;
    NS_LIST(const char *) name;
} manifold;

static manifold find_manifold(ns_arena *arena, const ns_system *s)
{
    enum { LARGE = 100000 }; /* entries of the Jacobian: they are on the stack */
    const uint32_t n = s->states.n;
    manifold k = {0};
    for (uint32_t i = 0; i < s->constraints.n; i++)
        k.rows += s->constraints.at[i].project;
    if ((uint64_t)k.rows * n > LARGE)
        return (manifold){.dropped = k.rows};
    const ns_ex *x = ns_system_state_symbols(s, arena);
    ns_ex *g = NS_NEW_ARRAY(arena, ns_ex, k.rows + 1);
    ns_ex *G = NS_NEW_ARRAY(arena, ns_ex, (size_t)k.rows * n + 1);
    uint32_t row = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        if (!s->constraints.at[i].project)
            continue;
        g[row] = s->constraints.at[i].residual;
        NS_PUSH(arena, k.value, g[row]);
        NS_PUSH(arena, k.place, row++);
        NS_PUSH(arena, k.name, s->constraints.at[i].name);
    }
    ns_diff_jacobian(s->graph, g, k.rows, x, n, G);
    for (uint32_t i = 0; i < k.rows * n; i++) {
        if (ns_graph_is_zero(s->graph, G[i]))
            continue;
        NS_PUSH(arena, k.value, G[i]);
        NS_PUSH(arena, k.place, k.rows + i);
        NS_PUSH(
            arena, k.name,
            ns_arena_format(arena, "d(%s)/d(%s)", k.name.at[i / n], s->states.at[i % n].name));
    }
    return k;
}

static void put_manifold(writer *w, const manifold *k)
{
    ns_text_add(w->out,
                "/* What vanishes along the motion, and its derivatives by the states, by "
                "rows. */\n"
                "void model_constraints(double t, const double x[STATES], const double "
                "*p,\n                       double g[CONSTRAINTS*(STATES + 1)])\n{\n"
                "    for (int i = 0; i < CONSTRAINTS*(STATES + 1); i++)\n"
                "        g[i] = 0.0;\n");
    put_body(w, k->value.at, k->value.n, "g", k->place.at, k->name.at);
    ns_text_add(w->out, "}\n\n");
}

/* Velocities are cheaper to change than positions (ode/project.c). */
static void put_weights(writer *w)
{
    const ns_problem *problem = w->model->problem;
    const uint32_t n = problem->n;
    ns_text_add(w->out,
                "/* How easily a state is changed: velocities rather than positions. */\n"
                "static const double weight[STATES] = {");
    for (uint32_t i = 0; i < n; i++) {
        bool velocity = false;
        for (uint32_t j = 0; j < n; j++)
            velocity = velocity || problem->source[j] == i;
        ns_text_addf(w->out, "%s%s",
                     i == 0   ? "\n    "
                     : i % 12 ? ", "
                              : ",\n    ",
                     velocity && !problem->correction ? "1e6" : "1.0");
    }
    ns_text_add(w->out, "\n};\n\n");
}

static void put_head(const writer *w, const manifold *kept)
{
    const ns_model *m = w->model;
    ns_text_addf(w->out, "/* %s\n *\n", harmless(w->arena, m->system->description->title));
    ns_text_addf(
        w->out,
        " * Equations of motion (formulation %s), written by noslip %s.\n"
        " *\n"
        " *     cc -O2 -o motion THIS_FILE -lm\n"
        " *     ./motion [END_TIME [OUTPUT_INTERVAL [TOLERANCE]]]  > motion.csv\n"
        " *\n"
        " * model_rhs and model_values are what another program needs; they keep nothing\n"
        " * between calls and may be used by several threads.  SI units.\n",
        m->system->formulation->name, NS_VERSION);
    if (m->system->description->params.n)
        ns_text_add(
            w->out,
            " *\n"
            " * The start was computed for the parameters given here: other parameters may\n"
            " * need another start.\n");
    if (kept->dropped)
        ns_text_addf(
            w->out,
            " *\n * The %u constraints are not imposed again after each step: they drift "
            "with the\n * errors of the integrator, and the motion with them.\n",
            kept->dropped);
    if (m->system->events.n)
        ns_text_add(w->out, " *\n * Events of the model are not part of this file.\n");
    ns_text_add(w->out, " */\n");
}

void ns_emit_c(const ns_model *model, ns_text *out)
{
    ns_arena *arena = out->arena;
    const ns_system *s = model->system;
    const uint32_t n = s->states.n, np = s->description->params.n, nv = s->observables.n;
    ns_text bodies = ns_text_new(arena);
    const manifold kept = find_manifold(arena, s);
    writer w = {.arena = arena,
                .model = model,
                .g = s->graph,
                .out = &bodies,
                .line = ns_text_new(arena)};
    w.names = NS_NEW_ARRAY(arena, const char *, ns_graph_size(s->graph));
    if (s->time)
        w.names[s->time] = "t";
    const char **states = NS_NEW_ARRAY(arena, const char *, n + 1);
    const char **rates = NS_NEW_ARRAY(arena, const char *, n + 1);
    const char **params = NS_NEW_ARRAY(arena, const char *, np + 1);
    const char **values = NS_NEW_ARRAY(arena, const char *, nv + 1);
    ns_ex *roots = NS_NEW_ARRAY(arena, ns_ex, n + nv + (size_t)1);
    for (uint32_t i = 0; i < n; i++) {
        states[i] = s->states.at[i].name;
        rates[i] = ns_arena_format(arena, "d/dt %s", states[i]);
        roots[i] = s->states.at[i].rate;
        set_name(&w, s->states.at[i].symbol, states[i]);
    }
    for (uint32_t i = 0; i < np; i++) {
        params[i] = s->description->params.at[i].name;
        set_name(&w, s->description->params.at[i].symbol, params[i]);
    }
    for (uint32_t i = 0; i < nv; i++) {
        values[i] = s->observables.at[i].name;
        roots[n + i] = s->observables.at[i].value;
    }

    ns_text_add(&bodies, "/* Derivatives of the states. */\n"
                         "void model_rhs(double t, const double x[STATES], const double *p,"
                         " double dx[STATES])\n{\n");
    put_body(&w, roots, n, "dx", NULL, rates);
    ns_text_add(&bodies, "}\n\n/* Everything that can be observed. */\n"
                         "void model_values(double t, const double x[STATES], const double *p,"
                         " double v[VALUES])\n{\n");
    put_body(&w, roots + n, nv, "v", NULL, values);
    ns_text_add(&bodies, "}\n\n");
    if (kept.rows)
        put_manifold(&w, &kept);

    w.out = out;
    put_head(&w, &kept);
    ns_text_addf(out,
                 "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n"
                 "enum { STATES = %u, PARAMETERS = %u, VALUES = %u, CONSTRAINTS = %u };\n\n"
                 "void model_rhs(double t, const double x[STATES], const double *p,"
                 " double dx[STATES]);\n"
                 "void model_values(double t, const double x[STATES], const double *p,"
                 " double v[VALUES]);\n%s\n",
                 n, np, nv, kept.rows,
                 kept.rows
                     ? "void model_constraints(double t, const double x[STATES], const "
                       "double *p,\n                       double g[CONSTRAINTS*(STATES + "
                       "1)]);\n"
                     : "");
    put_values(&w, "static const double parameters[]", params, model->p, np);
    put_values(&w, "static const double start[]", states, model->x0, n);
    put_strings(&w, "static const char *const names[]", values, nv);
    for (int i = 0; i < HELPERS; i++)
        if (w.needs[i])
            ns_text_add(out, ns_emit_c_helpers[i]);
    ns_text_add_bytes(out, ns_text_string(&bodies), bodies.length);
    const ns_model_settings *settings = &model->settings;
    const double from = isnan(settings->from) ? 0 : settings->from;
    const double until = isnan(settings->until) ? from + 1 : settings->until;
    ns_text_add(out, "static const double first_time = ");
    put_number(&w, from, SUM);
    ns_text_addf(out, "%s, last_time = ", ns_text_string(&w.line));
    w.line.length = 0;
    put_number(&w, until, SUM);
    ns_text_addf(out, "%s, interval = ", ns_text_string(&w.line));
    w.line.length = 0;
    put_number(&w, isnan(settings->every) ? fabs(until - from) : settings->every, SUM);
    ns_text_addf(out, "%s;\n\n", ns_text_string(&w.line));
    if (kept.rows) {
        put_weights(&w);
        ns_text_add(out, ns_emit_c_projection);
    } else
        ns_text_add(out, ns_emit_c_no_projection);
    ns_text_add(out, ns_emit_c_integrator);
    ns_text_add(out, ns_emit_c_main);
}
