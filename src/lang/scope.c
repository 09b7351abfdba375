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
