/* Formulas: see formula.h.  The code is postfix, in a plain array, and is run by a loop over
 * a stack of numbers; only the caller's functions recurse, and the parser bounds how deep.
 *
 * Where the operands of each item begin is found once, after parsing.  When the loop comes
 * to the place where the arguments of one of the caller's functions begin, it goes on at the
 * call. */
#include "lang/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/near.h"
#include "expr/ops.h"
#include "lang/syntax/parser.h"

static const double pi = 3.141592653589793;

static size_t length_of(ns_span place)
{
    return place.end - place.begin;
}

static ns_span place_of(const ns_formula *f, uint32_t i)
{
    return (ns_span){.source = f->span.source, .begin = f->at[i].begin, .end = f->at[i].end};
}

/* ---- reading ----------------------------------------------------------------------------- */

static void find_operands(ns_arena *arena, ns_formula *f)
{
    uint32_t *begin = NS_NEW_ARRAY(arena, uint32_t, f->n), *stack, depth = 0;
    stack = NS_NEW_ARRAY(arena, uint32_t, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t taken = ns_evaluate_taken(&f->at[i]);
        NS_CHECK(taken <= depth);
        depth -= taken;
        begin[i] = taken ? stack[depth] : i;
        stack[depth++] = begin[i];
    }
    NS_CHECK(depth == 1);
    f->begin = begin;
}

bool ns_formula_read(ns_diag *diag, uint32_t source, const char *stops, const char *word,
                     uint32_t *at, uint32_t end, ns_formula *out)
{
    NS_CHECK(source > 0 && source <= diag->sources.n);
    const ns_source *s = &diag->sources.at[source - 1];
    ns_reader reader = {.arena = diag->arena, .diag = diag, .source = source};
    ns_parser p = {
        .r = &reader, .lexer = ns_lexer_new(diag, source, s->text, end), .strings = true};
    NS_CHECK(*at <= end && end <= s->length);
    p.lexer.stops = stops;
    p.lexer.word = word;
    p.lexer.at = *at;
    ns_postfix code;
    ns_parser_next(&p);
    if (!ns_parser_expression(&p, &code))
        return false;
    *at = p.before;
    *out = (ns_formula){.text = s->text, .at = code.at, .n = code.n, .span = code.span};
    find_operands(diag->arena, out);
    return true;
}

/* ---- parts ------------------------------------------------------------------------------- */

const char *ns_formula_word(ns_arena *arena, const ns_formula *f)
{
    if (f->at[f->first].op != NS_POSTFIX_NAME)
        return NULL;
    for (uint32_t i = f->first + 1; i < f->n; i++)
        if (f->at[i].op != NS_POSTFIX_PRIME)
            return NULL;
    ns_text word = ns_text_new(arena);
    const ns_span place = place_of(f, f->first);
    ns_text_add_bytes(&word, f->text + place.begin, length_of(place));
    for (uint32_t i = f->first + 1; i < f->n; i++)
        ns_text_add(&word, "'");
    return ns_text_string(&word);
}

const char *ns_formula_string(ns_arena *arena, const ns_formula *f)
{
    if (f->n - f->first != 1 || f->at[f->first].op != NS_POSTFIX_STRING)
        return NULL;
    const ns_span place = place_of(f, f->first);
    return ns_arena_string(arena, f->text + place.begin + 1, length_of(place) - 2);
}

static bool is(const ns_formula *f, uint32_t i, const char *name)
{
    const ns_span place = place_of(f, i);
    return strlen(name) == length_of(place) &&
           memcmp(name, f->text + place.begin, length_of(place)) == 0;
}

/* The part of a formula whose last item this is. */
static ns_formula operand(const ns_formula *f, uint32_t last)
{
    ns_formula part = *f;
    part.n = last + 1;
    part.first = f->begin[last];
    part.span = place_of(f, part.first);
    for (uint32_t i = part.first; i <= last; i++)
        part.span = ns_diag_join(part.span, place_of(f, i));
    return part;
}

bool ns_formula_argument(const ns_formula *f, const char *function, ns_span *argument)
{
    const uint32_t root = f->n - 1;
    if (f->at[root].op != NS_POSTFIX_CALL || f->at[root].count != 1 || !is(f, root, function))
        return false;
    /* brackets leave no items behind: from the call's own to the one that closes it */
    uint32_t end = f->at[root].end;
    while (f->text[end] != '(')
        end++;
    *argument = (ns_span){.source = f->span.source, .begin = end + 1};
    for (int depth = 1; depth > 0;) {
        end++;
        depth += (f->text[end] == '(') - (f->text[end] == ')');
    }
    argument->end = end;
    return true;
}

/* ---- values ------------------------------------------------------------------------------ */

static const char *text_of(const ns_formula_world *w, const ns_formula *f, uint32_t i)
{
    const ns_span place = place_of(f, i);
    return ns_arena_string(w->arena, f->text + place.begin, length_of(place));
}

static const ns_formula_function *find(const ns_formula_world *w, const ns_formula *f,
                                       uint32_t i)
{
    if (f->at[i].op != NS_POSTFIX_CALL)
        return NULL;
    for (const ns_formula_function *known = w->functions; known && known->name; known++)
        if (is(f, i, known->name))
            return known;
    return NULL;
}

static bool count_fits(const ns_formula_world *w, ns_span place, const char *name,
                       uint32_t least, uint32_t most, uint32_t n)
{
    if (n >= least && n <= most)
        return true;
    const uint32_t wanted = n < least ? least : most;
    ns_diag_error(w->diag, place, "%s takes %u argument%s, found %u", name, wanted,
                  wanted == 1 ? "" : "s", n);
    return false;
}

static double undefined(const ns_formula_world *w, const ns_formula *f, uint32_t i)
{
    const ns_span place = place_of(f, i);
    const char *name = text_of(w, f, i);
    const bool function = f->at[i].op == NS_POSTFIX_CALL;
    ns_near near = {.word = name};
    for (const ns_formula_function *known = w->functions; function && known && known->name;
         known++)
        ns_near_try(&near, known->name);
    const char *nearest = near.found;
    if (!nearest && function)
        nearest = ns_functions_nearest(name);
    ns_diag_error(w->diag, place, "undefined %s `%s`%s%s%s", function ? "function" : "name",
                  name, nearest ? "; did you mean `" : "", nearest ? nearest : "",
                  nearest ? "`?" : "");
    return (double)NAN;
}

static double call_own(const ns_formula_world *w, const ns_formula *f, uint32_t i,
                       const ns_formula_function *function)
{
    const uint32_t n = f->at[i].count;
    if (!count_fits(w, place_of(f, i), function->name, function->least, function->most, n))
        return (double)NAN;
    ns_formula *args = NS_NEW_ARRAY(w->arena, ns_formula, n);
    for (uint32_t k = n, last = i - 1; k-- > 0; last = args[k].first - 1)
        args[k] = operand(f, last);
    const ns_formula_call call = {
        .world = w, .what = function->what, .place = place_of(f, i), .args = args, .n = n};
    return function->apply(&call);
}

static double call(const ns_formula_world *w, const ns_formula *f, uint32_t i,
                   const double *args)
{
    const ns_span place = place_of(f, i);
    const char *name = text_of(w, f, i);
    const ns_op op = ns_ops_find(name);
    const uint32_t arity = (uint32_t)ns_ops[op].arity;
    if (!count_fits(w, place, name, arity, arity, f->at[i].count))
        return (double)NAN;
    return ns_ops_value(op, args[0], arity > 1 ? args[1] : 0);
}

/* x times a unit: exact factors above and below, as in units.c. */
static double unit(const ns_formula *f, uint32_t i, double x)
{
    ns_unit_product product;
    const ns_span place = place_of(f, i);
    double above = 1, below = 1;
    ns_units_split(f->text + place.begin, length_of(place), &product);
    for (uint32_t k = 0; k < product.n; k++) {
        const ns_unit *u = product.part[k].unit;
        for (int power = product.part[k].power; power != 0; power += power < 0 ? 1 : -1) {
            const double up = u->numerator * (u->pi ? pi : 1);
            above *= power > 0 ? up : u->denominator;
            below *= power > 0 ? u->denominator : up;
        }
    }
    return x * above / below;
}

static double step(const ns_formula_world *w, const ns_formula *f, uint32_t i, const double *a)
{
    static const ns_op operations[] = {[NS_POSTFIX_ADD] = NS_OP_ADD,
                                       [NS_POSTFIX_SUB] = NS_OP_SUB,
                                       [NS_POSTFIX_MUL] = NS_OP_MUL,
                                       [NS_POSTFIX_DIV] = NS_OP_DIV,
                                       [NS_POSTFIX_POW] = NS_OP_POW};
    switch ((ns_postfix_op)f->at[i].op) {
    case NS_POSTFIX_NUMBER:
        return strtod(f->text + f->at[i].begin, NULL);
    case NS_POSTFIX_UNIT:
        return unit(f, i, a[0]);
    case NS_POSTFIX_NAME:
        return is(f, i, "pi") ? pi : undefined(w, f, i);
    case NS_POSTFIX_NEG:
        return -a[0];
    case NS_POSTFIX_CALL:
        return call(w, f, i, a);
    case NS_POSTFIX_ADD:
    case NS_POSTFIX_SUB:
    case NS_POSTFIX_MUL:
    case NS_POSTFIX_DIV:
    case NS_POSTFIX_POW:
        return ns_ops_value(operations[f->at[i].op], a[0], a[1]);
    default:
        ns_diag_error(w->diag, place_of(f, i), "expected a number here");
        return (double)NAN;
    }
}

double ns_formula_value(const ns_formula_world *w, const ns_formula *f)
{
    const uint32_t errors = w->diag->errors;
    /* by the item where its arguments begin: the outermost call of the caller's functions */
    uint32_t *own = NS_NEW_ARRAY(w->arena, uint32_t, f->n);
    for (uint32_t i = f->first; i < f->n; i++) {
        if (find(w, f, i))
            own[f->begin[i]] = i;
        else if (f->at[i].op == NS_POSTFIX_CALL && ns_ops_find(text_of(w, f, i)) == NS_OP_NONE)
            return undefined(w, f, i); /* before its arguments are looked at */
    }
    double *stack = NS_NEW_ARRAY(w->arena, double, f->n - f->first);
    uint32_t depth = 0;
    for (uint32_t i = f->first; i < f->n && w->diag->errors == errors; i++) {
        if (own[i]) {
            i = own[i];
            stack[depth++] = call_own(w, f, i, find(w, f, i));
            continue;
        }
        depth -= ns_evaluate_taken(&f->at[i]);
        stack[depth] = step(w, f, i, stack + depth);
        depth++;
    }
    return w->diag->errors == errors ? stack[0] : (double)NAN;
}
