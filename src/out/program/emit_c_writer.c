#include "out/program/emit_c_writer.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "expr/sparse.h"

/* ---- names ------------------------------------------------------------------------------- */

/* How the languages say it. */
static const struct dialect {
    const char *end;                   /* of a statement */
    const char *open, *close;          /* round an index */
    const char *list, *list_end;       /* round entries */
    const char *remark, *remark_end;   /* round a comment */
    const char *more;                  /* at the end of a line that goes on */
    const char *nan, *infinity, *less; /* and minus infinity */
    uint32_t first;                    /* index */
} dialects[] = {
    {";", "[", "]", "{", "};", "/* ", " */", "", "NAN", "INFINITY", "(-INFINITY)", 0},
    {"", "[", "]", "[", "]", "# ", "", " \\", "nan", "inf", "(-inf)", 0},
    {";", "(", ")", "[", "];", "% ", "", " ...", "NaN", "Inf", "(-Inf)", 1},
};

static const struct dialect *dialect_of(const ns_emit_c_writer *w)
{
    return &dialects[w->language];
}

/* Words that mean something else in a script. */
static bool is_taken_in_scripts(const char *name)
{
    static const char *const words[] = {
        "False",       "None",    "True",     "and",      "as",         "assert",
        "async",       "await",   "class",    "def",      "del",        "elif",
        "except",      "finally", "from",     "global",   "import",     "in",
        "is",          "lambda",  "nonlocal", "not",      "or",         "pass",
        "raise",       "try",     "with",     "yield",    "nan",        "inf",
        "math",        "sys",     "end",      "function", "elseif",     "until",
        "catch",       "abs",     "min",      "max",      "zeros",      "reshape",
        "NaN",         "Inf",     "values",   "rhs",      "persistent", "otherwise",
        "endfunction", "endif",   "endwhile", "endfor",   "switch",     "unwind_protect",
        "endswitch"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

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
        "isinf",   "isfinite",    "vx",       "vp",     "EVENTS",   "EQUATIONS"};
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

static bool is_used(const ns_emit_c_writer *w, const char *name)
{
    for (uint32_t e = 1; e < ns_graph_size(w->g); e++)
        if (w->names[e] && strcmp(w->names[e], name) == 0)
            return true;
    return false;
}

/* omega.x' becomes omega_x_dot. */
static void give_name(ns_emit_c_writer *w, ns_ex symbol, const char *name)
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
    for (uint32_t i = 1; is_taken(made) || is_used(w, made) ||
                         (w->language != NS_EMIT_C && is_taken_in_scripts(made));
         i++)
        made = ns_arena_format(w->arena, "%s_%u", plain, i);
    w->names[symbol] = made;
}

void ns_emit_c_writer_add(ns_emit_c_writer *w, const char *array, const ns_ex *symbols,
                          uint32_t n)
{
    NS_PUSH(w->arena, w->arrays, array);
    for (uint32_t i = 0; i < n; i++) {
        give_name(w, symbols[i], ns_graph_symbol(w->g, symbols[i])->name);
        NS_PUSH(w->arena, w->sources, ((ns_emit_c_source){symbols[i], array, i}));
    }
}

static ns_emit_c_writer writer_new(ns_arena *arena, const ns_model *model,
                                   const ns_system *system, ns_emit_language language,
                                   ns_text *out)
{
    const ns_description *d = system->description;
    ns_emit_c_writer w = {.arena = arena,
                          .language = language,
                          .model = model,
                          .system = system,
                          .g = system->graph,
                          .out = out,
                          .line = ns_text_new(arena)};
    w.names = NS_NEW_ARRAY(arena, const char *, ns_graph_size(w.g));
    if (system->time)
        w.names[system->time] = "t";
    ns_emit_c_writer_add(&w, "x", ns_system_state_symbols(system, arena), system->states.n);
    ns_emit_c_writer_add(&w, "p", ns_system_param_symbols(system, arena), d->params.n);
    return w;
}

ns_emit_c_writer ns_emit_c_writer_new(ns_arena *arena, const ns_model *model,
                                      const ns_system *system, ns_text *out)
{
    return writer_new(arena, model, system, NS_EMIT_C, out);
}

ns_emit_c_writer ns_emit_script_writer(ns_arena *arena, const ns_model *model,
                                       ns_emit_language language, ns_text *out)
{
    return writer_new(arena, model, model->system, language, out);
}

/* Text of the model in a comment: no end of it, no lines, no question marks (trigraphs). */
const char *ns_emit_c_comment(ns_arena *arena, const char *words)
{
    char *made = ns_arena_string(arena, words, strlen(words));
    for (char *at = made; *at; at++)
        if (*at == '*' || *at == '?' || *at == '\\' || (unsigned char)*at < 32)
            *at = ' ';
    return made;
}

/* ---- expressions ------------------------------------------------------------------------- */

enum { SUM, PRODUCT, SIGNED, ATOM };

static void put_number(ns_emit_c_writer *w, double value, int least)
{
    ns_text text = ns_text_new(w->arena);
    if (!isfinite(value)) {
        const struct dialect *d = dialect_of(w);
        ns_text_add(&w->line, isnan(value) ? d->nan : value > 0 ? d->infinity : d->less);
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
static void push_text(ns_emit_c_writer *w, const char *text)
{
    NS_PUSH(w->arena, w->stack, ((ns_emit_c_waiting){.text = text}));
}

static void push(ns_emit_c_writer *w, ns_ex e, int least)
{
    NS_PUSH(w->arena, w->stack, ((ns_emit_c_waiting){.node = e, .least = least}));
}

static void put_call(ns_emit_c_writer *w, const char *function, ns_ex a, ns_ex b)
{
    ns_text_addf(&w->line, "%s(", function);
    push_text(w, ")");
    if (b) {
        push(w, b, SUM);
        push_text(w, ", ");
    }
    push(w, a, SUM);
}

static void put_binary(ns_emit_c_writer *w, ns_ex e, const char *sign, int own, int least)
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
static void put_power(ns_emit_c_writer *w, ns_ex a, int32_t n, int least)
{
    const bool name = ns_graph_op(w->g, a) == NS_OP_SYMBOL || w->shared->place[a];
    if (!name || n > 3) {
        w->needs[NS_EMIT_POWER] = true;
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

static void put_function(ns_emit_c_writer *w, ns_op op, ns_ex a, ns_ex b)
{
    static const struct {
        ns_op op;
        const char *name;
        ns_emit_c_helper helper;
    } others[] = {{NS_OP_ABS, "fabs", NS_EMIT_HELPERS},
                  {NS_OP_SIGN, "sign", NS_EMIT_SIGN},
                  {NS_OP_MIN, "least", NS_EMIT_LEAST},
                  {NS_OP_MAX, "most", NS_EMIT_MOST}};
    const char *name = ns_ops[op].name;
    if (w->language == NS_EMIT_OCTAVE) { /* it has them all, one under another name */
        put_call(w, op == NS_OP_POW ? "power" : name, a, ns_ops[op].arity > 1 ? b : 0);
        return;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].op == op) {
            name = others[i].name;
            if (others[i].helper != NS_EMIT_HELPERS)
                w->needs[others[i].helper] = true;
        }
    put_call(w, name, a, ns_ops[op].arity > 1 ? b : 0);
}

/* array[index] */
static void put_place(const ns_emit_c_writer *w, ns_text *out, const char *array,
                      uint32_t index)
{
    const struct dialect *d = dialect_of(w);
    ns_text_addf(out, "%s%s%u%s", array, d->open, index + d->first, d->close);
}

/* An expression that binds at least as strongly as `least`; `whole`: what a name stands for. */
static void put_node(ns_emit_c_writer *w, ns_ex e, int least)
{
    const ns_node *node = ns_graph_node(w->g, e);
    const ns_ex *a = ns_graph_args(w->g, e);
    switch ((ns_op)node->op) {
    case NS_OP_NUMBER:
        put_number(w, node->hi, least);
        break;
    case NS_OP_SYMBOL:
        ns_text_add(&w->line, w->names[e] ? w->names[e] : dialect_of(w)->nan);
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
        put_place(w, &w->line, w->shared->items.at[w->shared->place[a[0]] - 1].name,
                  (uint32_t)node->integer);
        break;
    default:
        put_function(w, (ns_op)node->op, a[0], node->n > 1 ? a[1] : 0);
    }
}

/* Writes all that is waiting. */
static void drain(ns_emit_c_writer *w)
{
    while (w->stack.n) {
        const ns_emit_c_waiting next = w->stack.at[--w->stack.n];
        const uint32_t item = next.node < w->shared->size ? w->shared->place[next.node] : 0;
        if (next.text)
            ns_text_add(&w->line, next.text);
        else if (item)
            ns_text_add(&w->line, w->shared->items.at[item - 1].name);
        else
            put_node(w, next.node, next.least);
    }
}

static void put(ns_emit_c_writer *w, ns_ex e, int least)
{
    push(w, e, least);
    drain(w);
}

/* ---- statements -------------------------------------------------------------------------- */

enum { WIDTH = 96 };

/* The line to the file, broken at blanks. */
static void end_line(ns_emit_c_writer *w)
{
    enum { INDENT = 4 };
    const char *at = ns_text_string(&w->line);
    for (bool first = true; *at; first = false) {
        const size_t room = (size_t)(WIDTH - INDENT - (first ? 0 : 4)) -
                            strlen(dialect_of(w)->more);
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
        at += length;
        while (*at == ' ')
            at++;
        ns_text_add(w->out, *at ? dialect_of(w)->more : "");
        ns_text_add(w->out, "\n");
    }
    w->line.length = 0;
    if (w->line.at)
        w->line.at[0] = 0;
}

/* [1, 2, 3 without the end */
static void put_entries(ns_emit_c_writer *w, const ns_ex *at, uint32_t n)
{
    ns_text_add(&w->line, dialect_of(w)->list);
    for (uint32_t i = 0; i < n; i++) {
        ns_text_add(&w->line, i ? ", " : "");
        put(w, at[i], SUM);
    }
}

static void put_list(ns_emit_c_writer *w, const ns_ex *at, uint32_t n)
{
    put_entries(w, at, n);
    ns_text_add(&w->line, dialect_of(w)->list_end);
    end_line(w);
}

/* Linear systems in Python (lists, with the functions of the file) and Octave (matrices). */
static void put_script_system(ns_emit_c_writer *w, const ns_shared_item *item)
{
    const ns_node *node = ns_graph_node(w->g, item->node);
    const ns_ex *a = ns_graph_args(w->g, item->node);
    const unsigned n = (unsigned)node->integer;
    const bool python = w->language == NS_EMIT_PYTHON;
    w->needs[NS_EMIT_SYSTEMS] = true;
    if (node->op == NS_OP_SOLVE) {
        const char *M = w->shared->items.at[w->shared->place[a[0]] - 1].name;
        if (python)
            ns_text_addf(&w->line, "%s = solve(%u, %s, %s_row, ", item->name, n, M, M);
        else
            ns_text_addf(&w->line, "%s = %s \\ ", item->name, M);
        put_entries(w, a + 1, n);
        ns_text_add(&w->line, python ? "])" : "].';");
        end_line(w);
        return;
    }
    ns_text_addf(&w->line, "%s = ", item->name);
    if (node->op == NS_OP_FACTOR) {
        put_entries(w, a, n * n);
        ns_text_add(&w->line, python ? "]" : "];");
    } else
        ns_text_addf(&w->line, python ? "[0.0]*%u" : "zeros(1, %u);", n * n);
    end_line(w);
    const ns_pattern *pattern = node->op == NS_OP_LDL ? ns_sparse_of(w->g, item->node) : NULL;
    for (uint32_t k = 0; pattern && k < pattern->entries; k++) {
        const uint32_t i = pattern->row[k], j = pattern->col[k];
        put_place(w, &w->line, item->name, i * n + j);
        ns_text_add(&w->line, " = ");
        put(w, a[k], SUM);
        ns_text_add(&w->line, dialect_of(w)->end);
        end_line(w);
        if (i == j)
            continue;
        put_place(w, &w->line, item->name, j * n + i);
        ns_text_add(&w->line, " = ");
        put_place(w, &w->line, item->name, i * n + j);
        ns_text_add(&w->line, dialect_of(w)->end);
        end_line(w);
    }
    if (python)
        ns_text_addf(&w->line, "%s_row = factor(%u, %s)", item->name, n, item->name);
    else
        ns_text_addf(&w->line, "%s = reshape(%s, %u, %u).';", item->name, item->name, n, n);
    end_line(w);
}

/* const double name = */
static void put_declaration(const ns_emit_c_writer *w, ns_text *out, const char *name)
{
    ns_text_addf(out, w->language == NS_EMIT_C ? "const double %s = " : "%s = ", name);
}

static void put_item(ns_emit_c_writer *w, const ns_shared_item *item)
{
    const ns_node *node = ns_graph_node(w->g, item->node);
    const ns_ex *a = ns_graph_args(w->g, item->node);
    const unsigned n = (unsigned)node->integer;
    const bool system = node->op == NS_OP_FACTOR || node->op == NS_OP_LDL ||
                        node->op == NS_OP_SOLVE;
    if (system && w->language != NS_EMIT_C) {
        put_script_system(w, item);
    } else if (node->op == NS_OP_FACTOR) {
        w->needs[NS_EMIT_SYSTEMS] = true;
        ns_text_addf(&w->line, "double %s[%u] = ", item->name, n * n);
        put_list(w, a, n * n);
        ns_text_addf(&w->line, "int %s_row[%u];", item->name, n);
        end_line(w);
        ns_text_addf(&w->line, "factor(%u, %s, %s_row);", n, item->name, item->name);
        end_line(w);
    } else if (node->op == NS_OP_LDL) { /* sparse and symmetric; here as a whole matrix */
        const ns_pattern *pattern = ns_sparse_of(w->g, item->node);
        w->needs[NS_EMIT_SYSTEMS] = true;
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
        put_declaration(w, &w->line, item->name);
        put_node(w, item->node, SUM);
        drain(w);
        ns_text_add(&w->line, dialect_of(w)->end);
        end_line(w);
    }
}

/* Names for what is shared, and for all linear systems, which C cannot write in an
 * expression. */
static const ns_shared *share(const ns_emit_c_writer *w, const ns_ex *roots, uint32_t n,
                              const bool *used)
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
void ns_emit_c_body(ns_emit_c_writer *w, const ns_ex *roots, uint32_t n, const char *array,
                    const uint32_t *place, const char *const *comments)
{
    const ns_system *s = w->system;
    bool *used = NS_NEW_ARRAY(w->arena, bool, ns_graph_size(w->g));
    ns_graph_mark(w->g, roots, n, used);
    w->shared = share(w, roots, n, used);
    const struct dialect *d = dialect_of(w);
    const bool c = w->language == NS_EMIT_C;
    if (c && (!s->time || !used[s->time]))
        ns_text_add(w->out, "    (void)t;\n");
    for (uint32_t k = 0; k < w->arrays.n; k++) {
        bool any = false;
        for (uint32_t i = 0; i < w->sources.n; i++) {
            const ns_emit_c_source *from = &w->sources.at[i];
            if (from->array != w->arrays.at[k] || !used[from->symbol])
                continue;
            ns_text_add(w->out, "    ");
            put_declaration(w, w->out, w->names[from->symbol]);
            put_place(w, w->out, from->array, from->index);
            ns_text_addf(w->out, "%s\n", d->end);
            any = true;
        }
        if (!any && c)
            ns_text_addf(w->out, "    (void)%s;\n", w->arrays.at[k]);
    }
    ns_text_add(w->out, "\n");
    for (uint32_t i = 0; i < w->shared->items.n; i++)
        put_item(w, &w->shared->items.at[i]);
    ns_text_add(w->out, w->shared->items.n ? "\n" : "");
    for (uint32_t i = 0; i < n; i++) {
        const char *comment = ns_emit_c_comment(w->arena, comments[i]);
        put_place(w, &w->line, array, place ? place[i] : i);
        ns_text_add(&w->line, " = ");
        put(w, roots[i], SUM);
        ns_text_add(&w->line, d->end);
        if (w->line.length + strlen(comment) < WIDTH - 12) /* not broken: after it */
            ns_text_addf(&w->line, " %s%s%s", d->remark, comment, d->remark_end);
        else
            ns_text_addf(w->out, "    %s%s%s\n", d->remark, comment, d->remark_end);
        end_line(w);
    }
}

const char *ns_emit_c_number(ns_emit_c_writer *w, double value)
{
    put_number(w, value, SUM);
    const char *text = ns_arena_string(w->arena, w->line.at, w->line.length);
    w->line.length = 0;
    return text;
}
