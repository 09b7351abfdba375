/* Runs code on a stack of values.
 *
 * Definitions are elaborated when first needed, so a model may use a name before it defines it;
 * functions are run anew for every set of arguments, and calls with the same arguments are
 * remembered, so that functions of functions cannot multiply the work without end. */
#include <stdlib.h>
#include <string.h>

#include "expr/diff.h"
#include "expr/subst.h"
#include "lang/reader.h"
#include "lang/statements.h"

enum { MOST_DEPTH = 200, MOST_WORK = 10 * 1000 * 1000, MOST_NODES = 2 * 1000 * 1000 };

/* Values of a function's formal arguments. */
typedef struct binding {
    const ns_name *function;
    const ns_cell *args;
} binding;

typedef struct run {
    ns_reader *r;
    const binding *frame; /* NULL outside functions */
    ns_evaluated outcome;
} run;

struct ns_call {
    const ns_name *function;
    const ns_cell *args;
    uint32_t n;
    bool gradient;
    ns_cell value;
    ns_call *next;
};

static ns_cell none(void)
{
    return (ns_cell){0};
}

/* Errors weigh more than missing names. */
static void worsen(ns_evaluated *outcome, ns_evaluated with)
{
    if (with.progress == NS_READ_BROKEN)
        outcome->progress = NS_READ_BROKEN;
    if (with.progress == NS_READ_LATE && outcome->progress == NS_READ_DONE)
        *outcome = with;
}

static void broken(run *e)
{
    e->outcome.progress = NS_READ_BROKEN;
}

bool ns_evaluate_spend(ns_reader *r, ns_span place, uint64_t work)
{
    r->work += work;
    if (r->exhausted)
        return false;
    if (r->work <= MOST_WORK && ns_graph_size(r->g) <= MOST_NODES)
        return true;
    r->exhausted = true;
    ns_diag_error(r->diag, place,
                  "the model is too large: by here its expressions amount to more than %d "
                  "million operations",
                  (ns_graph_size(r->g) > MOST_NODES ? MOST_NODES : MOST_WORK) / 1000000);
    return false;
}

/* ---- names ------------------------------------------------------------------------------- */

/* Lacks the name at `missing`: an error, or put off. */
static ns_cell lacking(run *e, ns_span missing)
{
    if (ns_scope_may_come(e->r, missing)) {
        worsen(&e->outcome, (ns_evaluated){.progress = NS_READ_LATE, .missing = missing});
    } else {
        ns_scope_undefined(e->r, missing, false);
        broken(e);
    }
    return none();
}

/* The value of a name of the scope; kinds without one are errors. */
static ns_cell value_of(run *e, ns_name *name, ns_span place)
{
    ns_reader *r = e->r;
    const ns_description *d = r->d;
    name->used = true;
    switch (name->kind) {
    case NS_NAME_PARAM:
        return ns_arithmetic_scalar(d->params.at[name->index].symbol);
    case NS_NAME_COORDINATE:
        return ns_arithmetic_scalar(d->coordinates.at[name->index].q);
    case NS_NAME_STATE:
        return ns_arithmetic_scalar(d->states.at[name->index].symbol);
    case NS_NAME_BUILTIN:
    case NS_NAME_ENTRY:
        return ns_arithmetic_cell(name->value);
    case NS_NAME_FUNCTION:
        ns_diag_error(r->diag, place, "`%s` is a function: expected %s(...)", name->text,
                      name->text);
        broken(e);
        return none();
    case NS_NAME_BLOCK:
        if (ns_scope_may_come(r, place))
            return lacking(e, place);
        ns_diag_error(r->diag, place,
                      "`%s` has no value of its own: expected a part of it, %s.NAME",
                      name->text, name->text);
        broken(e);
        return none();
    case NS_NAME_LET:
    case NS_NAME_OBSERVE:
        break;
    }
    if (name->progress == NS_READ_BUSY) {
        ns_diag_error(r->diag, place, "`%s` is defined by itself", name->text);
        ns_diag_note(r->diag, name->span, "its definition is here");
        broken(e);
        return none();
    }
    ns_evaluate_name(r, name);
    if (name->progress == NS_READ_DONE)
        return ns_arithmetic_cell(name->value);
    if (name->progress == NS_READ_LATE)
        return lacking(e, name->missing);
    broken(e);
    return none();
}

/* A formal argument or a name of the scope. */
static bool find(run *e, const char *text, size_t length, ns_span place, ns_cell *out)
{
    const ns_name *function = e->frame ? e->frame->function : NULL;
    for (uint32_t i = 0; function && i < function->arity; i++)
        if (strncmp(function->formals[i], text, length) == 0 && !function->formals[i][length]) {
            *out = e->frame->args[i];
            return true;
        }
    ns_name *name = ns_scope_find(&e->r->scope, text, length);
    if (!name)
        return false;
    *out = value_of(e, name, place);
    return true;
}

static ns_cell name_value(run *e, ns_span place)
{
    ns_reader *r = e->r;
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin, dot;
    int index = ns_scope_component(text, length, &dot);
    ns_cell out;
    if (find(e, text, length, place, &out))
        return out;
    if (index >= 0 && find(e, text, dot - 1, place, &out)) {
        if (out.rows == 0)
            return out;
        const ns_name *of = ns_scope_find(&r->scope, text, dot - 1);
        const char *letter = of && of->axes ? strchr(of->axes, text[dot]) : NULL;
        if (letter) /* quaternions are (w, x, y, z) */
            index = (int)(letter - of->axes);
        if (out.cols == 1 && (uint32_t)index < out.rows && out.rows > 1)
            return ns_arithmetic_scalar(out.at[index]);
        ns_diag_error(r->diag, place, "`%.*s` is %s and has no component %.*s", (int)(dot - 1),
                      text, ns_arithmetic_shape(r, &out), (int)(length - dot), text + dot);
        broken(e);
        return none();
    }
    if (ns_functions_is(text, length)) {
        ns_diag_error(r->diag, place, "`%.*s` is a function: expected %.*s(...)", (int)length,
                      text, (int)length, text);
        broken(e);
        return none();
    }
    return lacking(e, place);
}

/* One level of definitions deeper; false if it goes too deep. */
static bool enter(ns_reader *r, ns_span place)
{
    if (r->depth < MOST_DEPTH) {
        r->depth++;
        return true;
    }
    ns_diag_error(r->diag, place, "definitions use one another more than %d levels deep",
                  MOST_DEPTH);
    return false;
}

void ns_evaluate_name(ns_reader *r, ns_name *name)
{
    if (name->progress != NS_READ_WAITING)
        return;
    if (!enter(r, name->span)) {
        name->progress = NS_READ_BROKEN;
        return;
    }
    /* Whether a missing name is an error is for the statement to say that uses this one. */
    bool strict = r->strict;
    r->strict = false;
    name->progress = NS_READ_BUSY;
    ns_evaluated outcome = ns_evaluate_code(r, &name->code, &name->value);
    name->progress = outcome.progress;
    name->missing = outcome.missing;
    r->strict = strict;
    r->depth--;
}

/* ---- calls ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

static uint64_t hash_call(const ns_name *function, const ns_cell *args, uint32_t n)
{
    uint64_t h = mix(17, (uint64_t)(uintptr_t)function);
    for (uint32_t i = 0; i < n; i++) {
        h = mix(h, args[i].rows);
        for (uint32_t k = 0; k < args[i].rows * args[i].cols; k++)
            h = mix(h, ns_cell_at(&args[i])[k]);
    }
    return h;
}

static bool same_cell(const ns_cell *a, const ns_cell *b)
{
    return a->rows == b->rows && a->cols == b->cols &&
           memcmp(ns_cell_at(a), ns_cell_at(b), (size_t)a->rows * a->cols * sizeof(ns_ex)) == 0;
}

/* The slot of the table where this call is or belongs. */
static ns_call **find_call(ns_reader *r, const ns_name *function, const ns_cell *args,
                           uint32_t n, bool gradient)
{
    if (r->calls_n >= r->calls_size) {
        uint32_t size = r->calls_size ? 2 * r->calls_size : 256;
        ns_call **table = NS_NEW_ARRAY(r->arena, ns_call *, size);
        for (uint32_t i = 0; i < r->calls_size; i++)
            for (ns_call *call = r->calls[i], *next; call; call = next) {
                next = call->next;
                ns_call **slot =
                    &table[hash_call(call->function, call->args, call->n) & (size - 1)];
                call->next = *slot;
                *slot = call;
            }
        r->calls = table;
        r->calls_size = size;
    }
    ns_call **slot = &r->calls[hash_call(function, args, n) & (r->calls_size - 1)];
    for (; *slot; slot = &(*slot)->next) {
        const ns_call *call = *slot;
        bool same = call->function == function && call->n == n && call->gradient == gradient;
        for (uint32_t i = 0; i < n && same; i++)
            same = same_cell(&call->args[i], &args[i]);
        if (same)
            break;
    }
    return slot;
}

static ns_evaluated run_code(ns_reader *r, const ns_postfix *code, const binding *frame,
                             ns_cell *out);

/* The body of a function with values for its arguments. */
static ns_evaluated run_body(ns_reader *r, ns_name *function, ns_span place,
                             const ns_cell *args, ns_cell *out)
{
    ns_evaluated bad = {.progress = NS_READ_BROKEN};
    const ns_evaluated done = {.progress = NS_READ_DONE};
    if (function->table)
        return ns_table_call(r, function, place, args, out) ? done : bad;
    if (function->progress == NS_READ_BUSY) {
        ns_diag_error(r->diag, place, "the function `%s` calls itself", function->text);
        return bad;
    }
    if (!enter(r, place))
        return bad;
    binding inner = {.function = function, .args = args};
    function->progress = NS_READ_BUSY;
    ns_evaluated outcome = run_code(r, &function->code, &inner, out);
    function->progress = NS_READ_WAITING;
    r->depth--;
    return outcome;
}

/* Derivatives by formal variables, made once and kept: the gradient at a point follows by
 * putting the point's coordinates in their place. */
static ns_evaluated make_gradient(ns_reader *r, ns_name *function, ns_span place)
{
    uint32_t n = function->arity;
    ns_ex *symbols = NS_NEW_ARRAY(r->arena, ns_ex, n), *gradient;
    ns_cell *args = NS_NEW_ARRAY(r->arena, ns_cell, n), value;
    for (uint32_t i = 0; i < n; i++) {
        symbols[i] = ns_symbol_new(r->g, function->formals[i], NS_SYM_LOCAL, i);
        args[i] = ns_arithmetic_scalar(symbols[i]);
    }
    ns_evaluated outcome = run_body(r, function, place, args, &value);
    if (outcome.progress != NS_READ_DONE)
        return outcome;
    if (value.rows != 1 || value.cols != 1) {
        ns_diag_error(r->diag, place,
                      "grad needs a function whose value is a number; `%s` is %s",
                      function->text, ns_arithmetic_shape(r, &value));
        return (ns_evaluated){.progress = NS_READ_BROKEN};
    }
    gradient = NS_NEW_ARRAY(r->arena, ns_ex, n);
    ns_diff_gradient(r->g, value.one, symbols, n, gradient);
    function->symbols = symbols;
    function->gradient = gradient;
    return outcome;
}

static ns_evaluated apply_gradient(ns_reader *r, ns_name *function, ns_span place,
                                   const ns_cell *args, ns_cell *out)
{
    ns_evaluated outcome = {.progress = NS_READ_DONE};
    uint32_t n = function->arity;
    if (!function->gradient)
        outcome = make_gradient(r, function, place);
    if (outcome.progress != NS_READ_DONE)
        return outcome;
    if (!ns_evaluate_spend(r, place, ns_graph_size(r->g) / 16))
        return (ns_evaluated){.progress = NS_READ_BROKEN};
    ns_ex *point = NS_NEW_ARRAY(r->arena, ns_ex, n), *at;
    for (uint32_t i = 0; i < n; i++)
        point[i] = args[i].one;
    *out = ns_arithmetic_new(r, n, 1, &at);
    ns_subst(r->g, function->gradient, n, function->symbols, point, n, at);
    if (n == 1)
        *out = ns_arithmetic_scalar(at[0]);
    if (!ns_arithmetic_check(r, place, out))
        outcome.progress = NS_READ_BROKEN;
    return outcome;
}

/* Entries of all arguments one after another, if that makes their number right. */
static const ns_cell *spread(ns_reader *r, const ns_name *function, ns_span place,
                             const ns_cell *args, uint32_t n)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < n; i++)
        entries += (uint64_t)args[i].rows * args[i].cols;
    if (entries != function->arity) {
        ns_diag_error(r->diag, place, "%s takes %u argument%s, found %u", function->text,
                      function->arity, function->arity == 1 ? "" : "s", n);
        if (function->span.source)
            ns_diag_note(r->diag, function->span, "the function is defined here");
        return NULL;
    }
    ns_cell *flat = NS_NEW_ARRAY(r->arena, ns_cell, function->arity);
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < args[i].rows * args[i].cols; k++)
            flat[m++] = ns_arithmetic_scalar(ns_cell_at(&args[i])[k]);
    return flat;
}

ns_evaluated ns_evaluate_call(ns_reader *r, ns_name *function, ns_span place,
                              const ns_cell *args, uint32_t n, bool gradient, ns_cell *out)
{
    ns_evaluated bad = {.progress = NS_READ_BROKEN};
    *out = none();
    function->used = true;
    if (function->progress == NS_READ_BROKEN) /* its definition could not be read */
        return bad;
    bool numbers = true;
    for (uint32_t i = 0; i < n; i++)
        numbers = numbers && args[i].rows == 1 && args[i].cols == 1;
    /* The stack the arguments stand on may move while the body runs: they are copied. */
    const ns_cell *values = n == function->arity && (numbers || !gradient)
                                ? ns_arena_copy(r->arena, args, n * sizeof *args)
                                : spread(r, function, place, args, n);
    if (!values)
        return bad;
    ns_call **slot = find_call(r, function, values, function->arity, gradient);
    if (*slot) {
        *out = (*slot)->value;
        return (ns_evaluated){.progress = NS_READ_DONE};
    }
    ns_evaluated outcome = gradient ? apply_gradient(r, function, place, values, out)
                                    : run_body(r, function, place, values, out);
    if (outcome.progress != NS_READ_DONE) {
        *out = none();
        return outcome;
    }
    slot = find_call(r, function, values, function->arity, gradient); /* it may have moved */
    if (!*slot) {
        ns_call *call = NS_NEW(r->arena, ns_call);
        *call = (ns_call){.function = function,
                          .args = values,
                          .n = function->arity,
                          .gradient = gradient,
                          .value = *out};
        *slot = call;
        r->calls_n++;
    }
    return outcome;
}

static ns_cell call(run *e, ns_span place, const ns_cell *args, uint32_t n, ns_postfix_op op)
{
    const bool gradient = op == NS_POSTFIX_GRAD, integral = op == NS_POSTFIX_INTEGRAL;
    ns_reader *r = e->r;
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    ns_name *name = ns_scope_find(&r->scope, text, length);
    ns_cell out = none();
    bool found = true;
    if (name && name->kind == NS_NAME_FUNCTION && integral) {
        ns_evaluated outcome = {.progress = NS_READ_DONE};
        const ns_cell limits[2] = {n > 0 ? args[0] : none(), n > 1 ? args[1] : none()};
        if (!ns_functions_integral(r, name, place, limits, n, &outcome, &out))
            broken(e);
        worsen(&e->outcome, outcome);
        return out;
    }
    if (name && name->kind == NS_NAME_FUNCTION) {
        worsen(&e->outcome, ns_evaluate_call(r, name, place, args, n, gradient, &out));
        return out;
    }
    if (gradient || integral)
        ns_diag_error(r->diag, place,
                      "%s needs a function defined by let or surface; `%.*s` "
                      "is none",
                      gradient ? "grad" : "integral", (int)length, text);
    else if (name)
        ns_diag_error(r->diag, place, "`%s` is %s, not a function; a product is written with *",
                      name->text, ns_scope_kind_text(name->kind));
    else
        out = ns_functions_apply(r, place, args, n, &found);
    if (!found)
        ns_scope_undefined(r, place, true);
    if (out.rows == 0)
        broken(e);
    return out;
}

/* ---- the loop ---------------------------------------------------------------------------- */

static ns_ex number(ns_reader *r, ns_span place)
{
    char buffer[512]; /* the lexer admits at most 400 characters */
    size_t length = place.end - place.begin;
    if (length >= sizeof buffer)
        length = sizeof buffer - 1;
    memcpy(buffer, ns_reader_text(r, place), length);
    buffer[length] = 0;
    return ns_decimal(r->g, buffer);
}

static ns_ex unit(ns_reader *r, ns_span place, ns_ex x)
{
    ns_unit_product product;
    ns_units_split(ns_reader_text(r, place), place.end - place.begin, &product);
    return ns_units_multiply(r->g, &product, x);
}

uint32_t ns_evaluate_taken(const ns_item *item)
{
    switch (item->op) {
    case NS_POSTFIX_NUMBER:
    case NS_POSTFIX_NAME:
    case NS_POSTFIX_STRING:
        return 0;
    case NS_POSTFIX_UNIT:
    case NS_POSTFIX_NEG:
    case NS_POSTFIX_PRIME:
        return 1;
    case NS_POSTFIX_INDEX:
        return item->count + 1;
    case NS_POSTFIX_VECTOR:
    case NS_POSTFIX_CALL:
    case NS_POSTFIX_GRAD:
    case NS_POSTFIX_INTEGRAL:
        return item->count;
    default:
        return 2;
    }
}

static ns_cell step(run *e, const ns_item *item, ns_span place, const ns_cell *args)
{
    ns_reader *r = e->r;
    ns_cell out = none();
    switch (item->op) {
    case NS_POSTFIX_NUMBER:
        return ns_arithmetic_scalar(number(r, place));
    case NS_POSTFIX_UNIT:
        out = ns_arithmetic_scalar(unit(r, place, args[0].one));
        if (!ns_arithmetic_check(r, place, &out))
            out = none();
        break;
    case NS_POSTFIX_NAME:
        return name_value(e, place);
    case NS_POSTFIX_NEG:
        return ns_arithmetic_negate(r, &args[0]);
    case NS_POSTFIX_PRIME:
        worsen(&e->outcome, ns_rate_of(r, place, &args[0], &out));
        return out;
    case NS_POSTFIX_VECTOR:
        out = ns_arithmetic_vector(r, place, args, item->count);
        break;
    case NS_POSTFIX_INDEX:
        out = ns_arithmetic_index(r, place, &args[0], args + 1, item->count);
        break;
    case NS_POSTFIX_CALL:
    case NS_POSTFIX_GRAD:
    case NS_POSTFIX_INTEGRAL:
        return call(e, place, args, item->count, (ns_postfix_op)item->op);
    default:
        out = ns_arithmetic_binary(r, place, (ns_postfix_op)item->op, &args[0], &args[1]);
    }
    if (out.rows == 0)
        broken(e);
    return out;
}

static ns_evaluated run_code(ns_reader *r, const ns_postfix *code, const binding *frame,
                             ns_cell *out)
{
    run e = {.r = r, .frame = frame, .outcome = {.progress = NS_READ_DONE}};
    uint32_t base = r->stack.n;
    for (uint32_t i = 0; i < code->n; i++) {
        const ns_item *item = &code->at[i];
        ns_span place = {.source = code->span.source, .begin = item->begin, .end = item->end};
        uint32_t count = ns_evaluate_taken(item), first = r->stack.n - count;
        bool whole = true;
        uint64_t size = 1;
        for (uint32_t k = first; k < r->stack.n; k++) {
            whole = whole && r->stack.at[k].rows;
            size += (uint64_t)r->stack.at[k].rows * r->stack.at[k].cols;
        }
        if (!ns_evaluate_spend(r, place, size)) {
            broken(&e);
            break;
        }
        const ns_cell *args = count ? r->stack.at + first : NULL;
        ns_cell value = whole ? step(&e, item, place, args) : none();
        r->stack.n = first;
        NS_PUSH(r->arena, r->stack, value);
    }
    if (e.outcome.progress == NS_READ_DONE)
        *out = r->stack.at[base];
    r->stack.n = base;
    return e.outcome;
}

ns_evaluated ns_evaluate_code(ns_reader *r, const ns_postfix *code, ns_value *out)
{
    ns_cell cell;
    ns_evaluated outcome = run_code(r, code, NULL, &cell);
    if (outcome.progress == NS_READ_DONE)
        *out = ns_arithmetic_value(r, &cell);
    return outcome;
}

void ns_evaluate_check_names(ns_reader *r, const ns_name *function)
{
    /* Run with numbers for arguments, a function that expects vectors would complain about
     * sizes; so only its names are looked at. */
    for (uint32_t i = 0; i < function->code.n; i++) {
        const ns_item *item = &function->code.at[i];
        ns_span place = {
            .source = function->code.span.source, .begin = item->begin, .end = item->end};
        const char *text = ns_reader_text(r, place);
        size_t length = place.end - place.begin;
        bool call = item->op == NS_POSTFIX_CALL || item->op == NS_POSTFIX_GRAD ||
                    item->op == NS_POSTFIX_INTEGRAL;
        if (item->op != NS_POSTFIX_NAME && !call)
            continue;
        const char *dot = memchr(text, '.', length);
        size_t head = dot ? (size_t)(dot - text) : length;
        bool known = ns_scope_find(&r->scope, text, length) ||
                     ns_scope_find(&r->scope, text, head) || ns_functions_is(text, length);
        for (uint32_t k = 0; k < function->arity; k++)
            known = known || (strncmp(function->formals[k], text, head) == 0 &&
                              !function->formals[k][head]);
        if (!known)
            ns_scope_undefined(r, place, call);
    }
}
