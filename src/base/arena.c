#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { ALIGN = 64, SMALL_ALIGN = 16, BLOCK = 64 * 1024 };

typedef struct block {
    struct block *next;
    size_t size, used; /* of the bytes after the header */
    char padding[ALIGN - 3 * sizeof(size_t)];
} block;

typedef struct ending {
    struct ending *next;
    void (*end)(void *object);
    void *object;
} ending;

struct ns_arena {
    ns_arena *parent;   /* whose guard is used; NULL for an arena of its own */
    ns_arena *support;  /* whose guard is used while this one has none, or NULL */
    ns_arena *children; /* freed with this one */
    ns_arena *sibling;  /* next child of the same parent */
    block *blocks;
    block *spare;    /* the largest block given back: releasing and allocating again is cheap */
    ending *endings; /* the last first */
    size_t total;
    uint64_t fail_after; /* counts down; 0 = never fail */
#if NS_ARENA_JUMPS
    bool guarded;
    jmp_buf guard;
#endif
};

ns_arena *ns_arena_new(void)
{
    return calloc(1, sizeof(ns_arena));
}

/* Ends what was added after `last`. */
static void end_all(ns_arena *arena, const ending *last)
{
    for (; arena->endings != last; arena->endings = arena->endings->next)
        arena->endings->end(arena->endings->object);
}

void ns_arena_free(ns_arena *arena)
{
    if (!arena)
        return;
    end_all(arena, NULL);
    ns_arena *sibling = NULL;
    for (ns_arena *child = arena->children; child; child = sibling) {
        sibling = child->sibling;
        ns_arena_free(child); /* children of children are few: this does not go deep */
    }
    free(arena->spare);
    block *next = NULL;
    for (block *b = arena->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

static ns_arena *root_of(ns_arena *arena)
{
    while (arena->parent)
        arena = arena->parent;
    return arena;
}

_Noreturn void ns_arena_exhausted(ns_arena *arena)
{
#if NS_ARENA_JUMPS
    for (ns_arena *a = root_of(arena); a; a = a->support ? root_of(a->support) : NULL)
        if (a->guarded)
            longjmp(a->guard, 1);
#else
    (void)arena;
#endif
    abort();
}

void ns_arena_support(ns_arena *arena, ns_arena *support)
{
    NS_CHECK(!arena->parent && arena != root_of(support));
    arena->support = support;
}

ns_arena *ns_arena_child(ns_arena *parent)
{
    NS_CHECK(parent);
    ns_arena *child = ns_arena_new();
    if (!child)
        ns_arena_exhausted(parent);
    child->parent = parent;
    child->sibling = parent->children;
    parent->children = child;
    return child;
}

ns_arena_place ns_arena_mark(const ns_arena *arena)
{
    NS_CHECK(arena);
    return (ns_arena_place){.block = arena->blocks,
                            .used = arena->blocks ? arena->blocks->used : 0,
                            .endings = arena->endings};
}

void ns_arena_release(ns_arena *arena, ns_arena_place mark)
{
    NS_CHECK(arena);
    NS_CHECK(!mark.block || mark.used <= ((const block *)mark.block)->size);
    end_all(arena, mark.endings);
    while (arena->blocks != mark.block) {
        block *last = arena->blocks;
        arena->blocks = last->next;
        arena->total -= last->size;
        if (!arena->spare || arena->spare->size < last->size) {
            free(arena->spare);
            arena->spare = last;
        } else {
            free(last);
        }
    }
    if (arena->blocks)
        arena->blocks->used = mark.used;
}

static block *add_block(ns_arena *arena, size_t bytes)
{
    /* Blocks double with the arena, so a large graph takes few calls of the system. */
    size_t size = arena->total > BLOCK ? arena->total : BLOCK;
    if (size > ((size_t)1 << 26))
        size = (size_t)1 << 26;
    if (size < bytes)
        size = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (arena->spare && arena->spare->size >= bytes) {
        block *again = arena->spare;
        arena->spare = NULL;
        *again = (block){.next = arena->blocks, .size = again->size};
        arena->blocks = again;
        arena->total += again->size;
        return again;
    }
    block *b = size > SIZE_MAX - sizeof(block) - ALIGN
                   ? NULL
                   : aligned_alloc(ALIGN, sizeof(block) + size);
    if (!b)
        ns_arena_exhausted(arena);
    *b = (block){.next = arena->blocks, .size = size};
    arena->blocks = b;
    arena->total += size;
    return b;
}

void *ns_arena_alloc(ns_arena *arena, size_t bytes)
{
    ns_arena *counter = arena;
    while (counter->parent)
        counter = counter->parent;
    if (counter->fail_after && --counter->fail_after == 0)
        ns_arena_exhausted(arena);
    if (bytes > SIZE_MAX / 2)
        ns_arena_exhausted(arena);
    size_t align = bytes >= ALIGN ? ALIGN : SMALL_ALIGN;
    block *b = arena->blocks;
    size_t start = b ? (b->used + align - 1) / align * align : 0;
    if (!b || start > b->size || b->size - start < bytes) {
        b = add_block(arena, bytes);
        start = 0;
    }
    char *memory = (char *)(b + 1) + start;
    b->used = start + bytes;
    memset(memory, 0, bytes);
    return memory;
}

void *ns_arena_copy(ns_arena *arena, const void *data, size_t bytes)
{
    NS_CHECK(data || !bytes);
    void *memory = ns_arena_alloc(arena, bytes);
    if (bytes)
        memcpy(memory, data, bytes);
    return memory;
}

char *ns_arena_string(ns_arena *arena, const char *text, size_t length)
{
    NS_CHECK(text);
    NS_CHECK(length < SIZE_MAX);
    char *copy = ns_arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *ns_arena_format(ns_arena *arena, const char *format, ...)
{
    NS_CHECK(format);
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = ns_arena_alloc(arena, size);
    vsnprintf(text, size, format, again);
    va_end(again);
    return text;
}

void ns_arena_at_end(ns_arena *arena, void (*end)(void *object), void *object)
{
    NS_CHECK(end);
    ending *last = NS_NEW(arena, ending);
    *last = (ending){.next = arena->endings, .end = end, .object = object};
    arena->endings = last;
}

void ns_arena_fail_after(ns_arena *arena, uint64_t n)
{
    NS_CHECK(!arena->parent);
    arena->fail_after = n;
}

#if NS_ARENA_JUMPS
jmp_buf *ns_arena_guard_slot(ns_arena *arena)
{
    arena->guarded = true;
    return &arena->guard;
}

void ns_arena_unguard(ns_arena *arena)
{
    arena->guarded = false;
}
#else
void ns_arena_unguard(ns_arena *arena)
{
    (void)arena;
}
#endif

void *ns_arena_grow(ns_arena *arena, void *old, uint32_t n, uint32_t *room, size_t size)
{
    NS_CHECK(n == *room);
    NS_CHECK(old || !n);
    NS_CHECK(size > 0);
    uint32_t more = *room ? *room * 2 : 8;
    if (more < *room)
        ns_arena_exhausted(arena);
    void *memory = ns_arena_alloc(arena, more * size);
    if (n)
        memcpy(memory, old, n * size);
    *room = more;
    return memory;
}
