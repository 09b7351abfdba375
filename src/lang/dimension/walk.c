/* Dimensions of expressions: the code of lang/evaluate.c, run on dimensions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/dimension/walk.h"

/* Beyond this a model is left alone; the gallery's largest needs a few per cent. */
enum { MOST_WORK = 200 * 1000, MOST_DEPTH = 100, MOST_SAID = 10, MOST_NOTES = 3 };

static ns_agreed anything(ns_span span)
{
    return (ns_agreed){.any = true, .value = (double)NAN, .span = span};
}

static ns_agreed of(ns_form form, ns_span span)
{
    return (ns_agreed){.form = form, .value = (double)NAN, .span = span};
}

static ns_agreed number(double value, bool pure, ns_span span)
{
    return (ns_agreed){.weak = true, .pure = pure, .value = value, .span = span};
}

/* ---- contradictions ---------------------------------------------------------------------- */

static bool said_already(ns_walk *c, ns_span place)
{
    for (uint32_t i = 0; i < c->said.n; i++)
        if (c->said.at[i].begin == place.begin && c->said.at[i].source == place.source)
            return true;
    NS_PUSH(c->r->arena, c->said, place);
    return false;
}

/* Where the unknowns of a form became known. */
static void tell_reasons(ns_walk *c, ns_form a, uint32_t *notes)
{
    for (uint32_t i = 0; i < a.n; i++) {
        const ns_form_unknown *u = &c->f.unknowns.at[a.at[i].of];
        if (!u->known || !u->name || !u->where.source || ++*notes > MOST_NOTES)
            continue;
        const ns_form_term one = {.of = a.at[i].of, .power = 1};
        const char *text = ns_form_text(&c->f, (ns_form){&one, 1});
        ns_diag_note(c->r->diag, u->where, "`%s` is %s, because of this", u->name, text);
    }
}

/* The first round only looks; a few warnings are enough. */
static bool silent(ns_walk *c, ns_span place)
{
    return !c->aloud || c->said.n >= MOST_SAID || said_already(c, place);
}

ns_agreed ns_walk_same(ns_walk *c, const ns_agreed *a, const ns_agreed *b, const char *words)
{
    const ns_agreed *strong = a->weak || a->any ? b : a, *other = strong == a ? b : a;
    ns_agreed out = *strong;
    out.scaled = a->scaled || b->scaled;
    if (other->any || other->weak) {
        if (other->weak && !strong->weak && !strong->any && other->value != 0 && !c->bare &&
            !ns_form_is_open(&c->f, strong->form) && !ns_form_is_number(&c->f, strong->form))
            c->lax = true;
        if (strong->weak) { /* so is the other, or it is anything */
            out.any = other->any;
            out.weak = !other->any;
            out.pure = a->pure && b->pure;
            out.value = (double)NAN;
        }
        return out;
    }
    if (ns_form_equal(&c->f, a->form, b->form, b->span) || silent(c, b->span))
        return out;
    uint32_t notes = 0;
    ns_diag_warn(c->r->diag, b->span, "units do not agree: this is %s, but it is %s %s",
                 ns_form_text(&c->f, b->form), words, ns_form_text(&c->f, a->form));
    ns_diag_note(c->r->diag, a->span, "this is %s", ns_form_text(&c->f, a->form));
    tell_reasons(c, a->form, &notes);
    tell_reasons(c, b->form, &notes);
    return out;
}

void ns_walk_demand(ns_walk *c, const ns_agreed *a, ns_form form, const char *what,
                    ns_span place)
{
    if (a->any)
        return;
    if (a->weak) {
        if (a->value != 0 && !c->bare && !ns_form_is_open(&c->f, form) &&
            !ns_form_is_number(&c->f, form))
            c->lax = true;
        return;
    }
    if (ns_form_equal(&c->f, a->form, form, a->span) || silent(c, a->span))
        return;
    uint32_t notes = 0;
    ns_diag_warn(c->r->diag, a->span, "units do not agree: this is %s, but %s is %s",
                 ns_form_text(&c->f, a->form), what, ns_form_text(&c->f, form));
    if (place.source)
        ns_diag_note(c->r->diag, place, "%s is %s", what, ns_form_text(&c->f, form));
    tell_reasons(c, a->form, &notes);
    tell_reasons(c, form, &notes);
}

/* An argument that must be a number: of sin, or an exponent.  In sin(3*t) the 3 is a frequency,
 * so what has a bare factor is not complained about. */
static void demand_number(ns_walk *c, const ns_agreed *a, const char *what)
{
    if (a->scaled && !ns_form_is_open(&c->f, a->form))
        return;
    ns_walk_demand(c, a, (ns_form){0}, what, (ns_span){0});
}

/* ---- arithmetic -------------------------------------------------------------------------- */

/* Is a bare number, as a factor, surely without dimension? */
static bool is_pure(const ns_walk *c, const ns_agreed *a, bool below)
{
    const double size = fabs(a->value);
    if (size == 1 || size == 2 || size == 0.5)
        return true;
    return !c->lax && (a->pure || (below && size == floor(size)));
}

static ns_agreed product(ns_walk *c, const ns_agreed *a, const ns_agreed *b, int sign,
                         ns_span span)
{
    if (a->weak && b->weak) {
        const double value = sign > 0 ? a->value * b->value : a->value / b->value;
        const bool whole = floor(a->value) == a->value && floor(b->value) == b->value;
        return number(value, (a->pure && b->pure) || (sign < 0 && whole), span);
    }
    if (a->any || b->any)
        return anything(span);
    ns_agreed out = of(ns_form_add(&c->f, a->form, sign, b->form), span);
    out.scaled = a->scaled || b->scaled || a->weak || b->weak;
    if (!a->weak && !b->weak)
        return out;
    const ns_agreed *bare = a->weak ? a : b, *other = a->weak ? b : a;
    const bool pure = is_pure(c, bare, bare == b && sign < 0);
    if (bare->value == 0 || ns_form_is_number(&c->f, other->form))
        return number(bare->value == 0 ? 0 : (double)NAN, pure, span);
    if (!pure)
        out.form = ns_form_new(&c->f, NULL, span);
    return out;
}

static ns_agreed power(ns_walk *c, const ns_agreed *a, const ns_agreed *b, ns_span span)
{
    demand_number(c, b, "an exponent");
    if (a->weak)
        return number((double)NAN, a->pure, span);
    if (a->any)
        return anything(span);
    if (b->weak && isfinite(b->value)) {
        ns_agreed out = of(ns_form_scale(&c->f, b->value, a->form), span);
        out.scaled = a->scaled;
        return out;
    }
    return ns_form_is_number(&c->f, a->form) ? of((ns_form){0}, span) : anything(span);
}

/* Entries of one dimension, or anything. */
static ns_agreed vector(ns_walk *c, const ns_agreed *at, uint32_t n, ns_span span)
{
    const ns_agreed *first = NULL;
    bool pure = true, zero = true, scaled = false;
    for (uint32_t i = 0; i < n; i++) {
        if (at[i].any)
            return anything(span);
        scaled = scaled || at[i].scaled;
        if (at[i].weak) {
            pure = pure && at[i].pure;
            zero = zero && at[i].value == 0;
            continue;
        }
        if (first && !ns_form_is_number(&c->f, ns_form_add(&c->f, at[i].form, -1, first->form)))
            return anything(span);
        first = first ? first : &at[i];
    }
    if (!first)
        return number(zero ? 0 : (double)NAN, pure, span);
    ns_agreed out = of(first->form, span);
    out.scaled = scaled;
    return out;
}

static ns_agreed rate(ns_walk *c, ns_agreed a, ns_span span)
{
    static const ns_form_term second = {.of = NS_FORM_SECOND, .power = 1};
    if (!a.any && !a.weak)
        a.form = ns_form_add(&c->f, a.form, -1, (ns_form){&second, 1});
    a.span = span;
    return a;
}

/* ---- functions --------------------------------------------------------------------------- */

typedef enum rule {
    NUMBERS, /* of a number, a number */
    SAME,    /* the arguments are alike, and so is the value */
    ALIKE,   /* the arguments are alike, the value is a number */
    SIGN,    /* of anything, a number */
    ROOT,
    POWER,
    PRODUCT,
    QUOTIENT, /* the first over the second */
    SOLUTION, /* the second over the first */
    ENTRIES,
} rule;

static const struct {
    const char *names;
    rule rule;
} rules[] = {
    {" sin cos tan asin acos atan exp log sinh cosh tanh asinh acosh atanh ", NUMBERS},
    {" abs min max norm sum transpose ", SAME},
    {" atan2 ", ALIKE},
    {" sign identity ", SIGN},
    {" sqrt ", ROOT},
    {" pow ", POWER},
    {" dot cross ", PRODUCT},
    {" diff ", QUOTIENT},
    {" solve ", SOLUTION},
    {" diag ", ENTRIES},
};

static bool find_rule(const char *name, rule *out)
{
    char word[24];
    if (snprintf(word, sizeof word, " %s ", name) >= (int)sizeof word)
        return false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strstr(rules[i].names, word)) {
            *out = rules[i].rule;
            return true;
        }
    return false;
}

static ns_agreed builtin(ns_walk *c, const char *name, const ns_agreed *args, uint32_t n,
                         ns_span span)
{
    const ns_agreed half = number(0.5, true, span);
    rule how;
    if (n == 0 || !find_rule(name, &how))
        return anything(span);
    ns_agreed out = args[0];
    switch (how) {
    case NUMBERS:
        demand_number(c, &args[0], ns_arena_format(c->r->arena, "the argument of %s", name));
        return args[0].weak ? number((double)NAN, true, span) : of((ns_form){0}, span);
    case SAME:
    case ALIKE:
        for (uint32_t i = 1; i < n; i++)
            out = ns_walk_same(c, &out, &args[i], "compared with");
        out.span = span;
        return how == SAME ? out : of((ns_form){0}, span);
    case SIGN:
        return of((ns_form){0}, span);
    case ROOT:
        return power(c, &args[0], &half, span);
    case POWER:
        return n == 2 ? power(c, &args[0], &args[1], span) : anything(span);
    case PRODUCT:
    case QUOTIENT:
        return n == 2 ? product(c, &args[0], &args[1], how == PRODUCT ? 1 : -1, span)
                      : anything(span);
    case SOLUTION:
        return n == 2 ? product(c, &args[1], &args[0], -1, span) : anything(span);
    case ENTRIES:
        return vector(c, args, n, span);
    }
    return anything(span);
}

/* A function of the model; vectors given for several arguments are spread. */
static ns_agreed call(ns_walk *c, const ns_agreed *args, uint32_t n, ns_span place,
                      ns_span span, bool gradient)
{
    ns_reader *r = c->r;
    const char *text = ns_reader_text(r, place);
    const size_t length = place.end - place.begin;
    const ns_name *name = ns_scope_find(&r->scope, text, length);
    if (!name || name->kind != NS_NAME_FUNCTION)
        return gradient ? anything(span)
                        : builtin(c, ns_arena_string(r->arena, text, length), args, n, span);
    if (c->depth >= MOST_DEPTH || name->table || (n != 1 && n != name->arity))
        return anything(span);
    ns_agreed *given = NS_NEW_ARRAY(r->arena, ns_agreed, name->arity + 1);
    for (uint32_t i = 0; i < name->arity; i++)
        given[i] = args[n == 1 ? 0 : i];
    const ns_walk_frame inner = {.function = name, .args = given}, *outer = c->frame;
    c->frame = &inner;
    c->depth++;
    ns_agreed out = ns_walk_code(c, &name->code);
    c->depth--;
    c->frame = outer;
    out.span = span;
    if (!gradient)
        return out;
    const ns_agreed by = vector(c, given, name->arity, span);
    return by.weak ? anything(span) : product(c, &out, &by, -1, span);
}

/* F du, for the integral of a function of the model by its argument. */
static ns_agreed integral_of(ns_walk *c, const ns_agreed *u, ns_span place, ns_span span)
{
    const ns_agreed value = call(c, u, 1, place, span, false);
    return product(c, &value, u, 1, span);
}

/* ---- names ------------------------------------------------------------------------------- */

/* By its unit; without one an unknown of this name, or anything. */
static ns_agreed by_unit(ns_walk *c, const char *unit, const char *unknown, ns_span span)
{
    ns_form form;
    if (unit && unit[0] && ns_form_of_unit(&c->f, unit, strlen(unit), &form))
        return of(form, span);
    return unknown ? of(ns_form_new(&c->f, unknown, span), span) : anything(span);
}

static ns_agreed find_agreed(ns_walk *c, ns_name *name)
{
    const ns_description *d = c->r->d;
    switch (name->kind) {
    case NS_NAME_BUILTIN:
        if (strcmp(name->text, "t") != 0)
            return number(3.14159265358979323846, true, name->span);
        /* in sin(t) the frequency is 1: as if it had a factor */
        ns_agreed time = by_unit(c, "s", NULL, name->span);
        time.scaled = true;
        return time;
    case NS_NAME_COORDINATE:
        return by_unit(c, d->coordinates.at[name->index].unit, name->text, name->span);
    case NS_NAME_STATE:
        return by_unit(c, d->states.at[name->index].unit, name->text, name->span);
    case NS_NAME_PARAM: /* those of the model are known already; this is an input */
        return by_unit(c, d->params.at[name->index].unit, name->text, name->span);
    case NS_NAME_ENTRY:
        /* a Lagrangian per mass has an energy per mass */
        if (d->lagrangian && strcmp(name->text, "energy") == 0)
            return c->lagrangian ? *c->lagrangian : anything(name->span);
        return by_unit(c, strncmp(name->text, "mode.", 5) == 0 ? "1" : name->unit, NULL,
                       name->span);
    case NS_NAME_LET:
    case NS_NAME_OBSERVE:
        if (!name->code.n || c->depth >= MOST_DEPTH)
            break;
        const ns_walk_frame *outer = c->frame;
        c->frame = NULL;
        c->depth++;
        ns_agreed out = ns_walk_code(c, &name->code);
        c->depth--;
        c->frame = outer;
        return out;
    default:
        break;
    }
    return anything(name->span);
}

ns_agreed ns_walk_name(ns_walk *c, const char *text, size_t length, ns_span place)
{
    const ns_name *function = c->frame ? c->frame->function : NULL;
    for (;;) {
        for (uint32_t i = 0; function && i < function->arity; i++)
            if (strncmp(function->formals[i], text, length) == 0 &&
                !function->formals[i][length]) {
                ns_agreed out = c->frame->args[i];
                out.span = place;
                return out;
            }
        ns_name *name = ns_scope_find(&c->r->scope, text, length);
        if (name) {
            if (!name->agreed) {
                const ns_agreed found = find_agreed(c, name);
                name->agreed = ns_arena_copy(c->r->arena, &found, sizeof found);
            }
            ns_agreed out = *name->agreed;
            out.span = place;
            return out;
        }
        /* a component: v.x, v.1 */
        size_t dot = length;
        while (dot > 0 && text[dot - 1] != '.')
            dot--;
        if (dot < 2)
            return anything(place);
        length = dot - 1;
    }
}

/* ---- the loop ---------------------------------------------------------------------------- */

static ns_agreed literal(ns_walk *c, ns_span place)
{
    const size_t length = place.end - place.begin;
    const char *text = ns_arena_string(c->r->arena, ns_reader_text(c->r, place), length);
    const double value = strtod(text, NULL);
    return number(value, value == 1.5, place);
}

static ns_agreed step(ns_walk *c, const ns_item *item, ns_span place, ns_span span,
                      const ns_agreed *args)
{
    const char *text = ns_reader_text(c->r, place);
    const size_t length = place.end - place.begin;
    ns_agreed out;
    ns_form form;
    switch (item->op) {
    case NS_POSTFIX_NUMBER:
        return literal(c, place);
    case NS_POSTFIX_UNIT:
        return ns_form_of_unit(&c->f, text, length, &form) ? of(form, span) : anything(span);
    case NS_POSTFIX_NAME:
        return ns_walk_name(c, text, length, place);
    case NS_POSTFIX_ADD:
    case NS_POSTFIX_SUB:
        out = ns_walk_same(c, &args[0], &args[1],
                           item->op == NS_POSTFIX_ADD ? "added to" : "subtracted from");
        break;
    case NS_POSTFIX_MUL:
    case NS_POSTFIX_DIV:
        return product(c, &args[0], &args[1], item->op == NS_POSTFIX_MUL ? 1 : -1, span);
    case NS_POSTFIX_POW:
        return power(c, &args[0], &args[1], span);
    case NS_POSTFIX_PRIME:
        return rate(c, args[0], span);
    case NS_POSTFIX_VECTOR:
        return vector(c, args, item->count, span);
    case NS_POSTFIX_INTEGRAL:
        if (item->count != 2)
            return anything(span);
        out = ns_walk_same(c, &args[0], &args[1], "a limit like");
        return integral_of(c, &out, place, span);
    case NS_POSTFIX_CALL:
    case NS_POSTFIX_GRAD:
        return call(c, args, item->count, place, span, item->op == NS_POSTFIX_GRAD);
    default: /* a sign, a component */
        out = args[0];
        out.value = item->op == NS_POSTFIX_NEG ? -out.value : (double)NAN;
    }
    out.span = span;
    return out;
}

ns_agreed ns_walk_code(ns_walk *c, const ns_postfix *code)
{
    const uint32_t base = c->stack.n;
    for (uint32_t i = 0; i < code->n; i++) {
        const ns_item *item = &code->at[i];
        const ns_span place = {code->span.source, item->begin, item->end};
        const uint32_t count = ns_evaluate_taken(item), first = c->stack.n - count;
        ns_span span = place;
        for (uint32_t k = first; k < c->stack.n; k++)
            span = ns_diag_join(span, c->stack.at[k].span);
        if (++c->work > MOST_WORK) {
            c->stack.n = base;
            return anything(code->span);
        }
        ns_agreed two[2] = {0}; /* copies: the stack may move while a function runs */
        ns_agreed *args = count > 2 ? NS_NEW_ARRAY(c->r->arena, ns_agreed, count) : two;
        for (uint32_t k = 0; k < count; k++)
            args[k] = c->stack.at[first + k];
        const ns_agreed value = step(c, item, place, span, args);
        c->stack.n = first;
        NS_PUSH(c->r->arena, c->stack, value);
    }
    const ns_agreed out = code->n ? c->stack.at[base] : anything(code->span);
    c->stack.n = base;
    return out;
}
