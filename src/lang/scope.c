/* Names and what they mean. */
#include <string.h>

#include "base/hash.h"
#include "base/near.h"
#include "lang/reader.h"

ns_scope ns_scope_new(ns_arena *arena)
{
    ns_scope scope = {.size = 64};
    scope.table = NS_NEW_ARRAY(arena, ns_name *, scope.size);
    return scope;
}

static uint32_t hash_of(const char *text, size_t length)
{
    const uint64_t h = ns_hash_bytes(ns_hash_start, text, length);
    return (uint32_t)(h ^ (h >> 32));
}

ns_name *ns_scope_find(const ns_scope *scope, const char *text, size_t length)
{
    ns_name *name = scope->table[hash_of(text, length) & (scope->size - 1)];
    while (name && (strncmp(name->text, text, length) != 0 || name->text[length]))
        name = name->next;
    return name;
}

ns_name *ns_scope_add(ns_arena *arena, ns_scope *scope, const char *text, size_t length,
                      ns_name_kind kind, ns_span span)
{
    ns_name *name = NS_NEW(arena, ns_name);
    name->text = ns_arena_string(arena, text, length);
    name->kind = kind;
    name->span = span;
    if (scope->names.n >= scope->size) {
        uint32_t size = scope->size * 2;
        ns_name **table = NS_NEW_ARRAY(arena, ns_name *, size);
        for (uint32_t i = 0; i < scope->names.n; i++) {
            ns_name *old = scope->names.at[i];
            ns_name **chain = &table[hash_of(old->text, strlen(old->text)) & (size - 1)];
            old->next = *chain;
            *chain = old;
        }
        scope->table = table;
        scope->size = size;
    }
    ns_name **chain = &scope->table[hash_of(text, length) & (scope->size - 1)];
    name->next = *chain;
    *chain = name;
    NS_PUSH(arena, scope->names, name);
    return name;
}

const char *ns_scope_nearest(const ns_scope *scope, const char *text)
{
    enum { MOST_COMPARED = 5000 }; /* a suggestion is not worth seconds */
    ns_near near = {.word = text};
    for (uint32_t i = 0; i < scope->names.n && i < MOST_COMPARED; i++)
        ns_near_try(&near, scope->names.at[i]->text);
    return near.found;
}

const char *ns_scope_kind_text(ns_name_kind kind)
{
    switch (kind) {
    case NS_NAME_BUILTIN:
        return "built in";
    case NS_NAME_PARAM:
        return "a parameter";
    case NS_NAME_COORDINATE:
        return "a coordinate";
    case NS_NAME_STATE:
        return "a state";
    case NS_NAME_LET:
        return "a definition";
    case NS_NAME_OBSERVE:
        return "an observed quantity";
    case NS_NAME_FUNCTION:
        return "a function";
    case NS_NAME_BLOCK:
        return "the name of a block";
    case NS_NAME_ENTRY:
        return "a quantity of the formulation";
    }
    return "a name";
}

/* ---- parts of names ---------------------------------------------------------------------- */

static int component(const char *suffix, size_t length)
{
    if (length == 1 && *suffix >= 'x' && *suffix <= 'z')
        return *suffix - 'x';
    int index = 0;
    for (size_t i = 0; i < length; i++) {
        if (suffix[i] < '0' || suffix[i] > '9' || index > 99999)
            return -1;
        index = 10 * index + (suffix[i] - '0');
    }
    return index - 1;
}

/* Where the part after the last dot begins; 0 if there is no dot. */
static size_t last_part(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] != '.')
        length--;
    return length;
}

int ns_scope_component(const char *text, size_t length, size_t *dot)
{
    *dot = last_part(text, length);
    return *dot > 1 ? component(text + *dot, length - *dot) : -1;
}

bool ns_scope_is_known(const ns_reader *r, const char *text, size_t length)
{
    const ns_name *name = ns_scope_find(&r->scope, text, length);
    size_t dot;
    if (!name && ns_scope_component(text, length, &dot) >= 0)
        name = ns_scope_find(&r->scope, text, dot - 1);
    return name && name->kind != NS_NAME_FUNCTION;
}

/* ---- names that are missing -------------------------------------------------------------- */

/* A function or constant of another habit, by its name here: ln, arcsin, PI; or NULL. */
static const char *other_word(const char *text)
{
    static const struct {
        const char *there, *here;
    } words[] = {
        {"ln", "log"},        {"arcsin", "asin"}, {"arccos", "acos"}, {"arctan", "atan"},
        {"arctan2", "atan2"}, {"sgn", "sign"},    {"fabs", "abs"},    {"PI", "pi"},
        {"Pi", "pi"},         {"sqr", "x^2"},     {"pow", "x^y"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].there, text) == 0)
            return words[i].here;
    return NULL;
}

/* A name of another habit: xdot, x_dot, ln(x), PI, np.sin(x).  What it is here, or NULL. */
static const char *habit(ns_reader *r, const char *text)
{
    const char *word = other_word(text);
    if (word)
        return word;
    static const char *const modules[] = {"math.", "Math.", "np.", "numpy.", "sp.", "sympy."};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        const char *plain = text + strlen(modules[i]);
        if (strncmp(text, modules[i], strlen(modules[i])) != 0)
            continue;
        word = other_word(plain);
        const bool same = ns_functions_is(plain, strlen(plain)) || strcmp(plain, "pi") == 0;
        return word ? word : same ? plain : NULL;
    }
    static const char *const rates[] = {"_ddot", "ddot", "_dot", "dot", ".dot"};
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const size_t end = strlen(rates[i]);
        if (length > end && strcmp(text + length - end, rates[i]) == 0 &&
            ns_scope_is_known(r, text, length - end))
            return ns_arena_format(r->arena, "%.*s%s", (int)(length - end), text,
                                   strstr(rates[i], "dd") ? "''" : "'");
    }
    return NULL;
}

void ns_scope_undefined(ns_reader *r, ns_span place, bool function)
{
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    if (length && text[0] == '\'') {
        ns_diag_error(
            r->diag, place,
            "this time derivative follows from the equations; it can only be observed");
        return;
    }
    if (ns_scope_find(&r->reported, text, length))
        return;
    ns_name *name = ns_scope_add(r->arena, &r->reported, text, length, NS_NAME_LET, place);
    const char *what = function ? "function" : "name";
    const char *nearest = ns_scope_nearest(&r->scope, name->text);
    const char *here = habit(r, name->text);
    if (!nearest && function)
        nearest = ns_functions_nearest(name->text);
    if (here)
        ns_diag_error(r->diag, place, "undefined %s `%s`; here it is written %s", what,
                      name->text, here);
    else if (nearest)
        ns_diag_error(r->diag, place, "undefined %s `%s`; did you mean `%s`?", what, name->text,
                      nearest);
    else
        ns_diag_error(r->diag, place, "undefined %s `%s`", what, name->text);
}

bool ns_scope_is_member(const ns_reader *r, const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);
    const ns_name *head = ns_scope_find(&r->scope, text, dot ? (size_t)(dot - text) : length);
    return head && head->kind == NS_NAME_BLOCK;
}

/* Is it one of the names that come with a block of the model? */
static bool is_given(const ns_reader *r, const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);
    if (dot)
        length = (size_t)(dot - text);
    for (uint32_t i = 0; i < r->d->blocks.n; i++) {
        const char *const *given = r->d->blocks.at[i].form->gives;
        for (; given && *given; given++)
            if (strlen(*given) == length && memcmp(*given, text, length) == 0)
                return true;
    }
    return false;
}

bool ns_scope_is_reaction(const char *text, size_t length)
{
    static const char head[] = "lambda.", part[] = ".force";
    if (length >= sizeof head && memcmp(text, head, sizeof head - 1) == 0)
        return true;
    for (size_t i = 1; i + sizeof part - 1 <= length; i++)
        if (memcmp(text + i, part, sizeof part - 1) == 0 &&
            (i + sizeof part - 1 == length || text[i + sizeof part - 1] == '.'))
            return true;
    return false;
}

/* May a name that is missing now still be defined?  Then it is no error to lack it. */
bool ns_scope_may_come(const ns_reader *r, ns_span missing)
{
    if (!r->strict)
        return true;
    const char *text = ns_reader_text(r, missing);
    const size_t length = missing.end - missing.begin;
    if (!r->reactions && !r->finishing && ns_scope_is_reaction(text, length))
        return true;
    return !r->defined && (ns_scope_is_member(r, text, length) || is_given(r, text, length));
}
