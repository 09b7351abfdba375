/* Arena memory for everything made while a model is read and derived.
 *
 * Objects of one arena die together.  Allocation never returns NULL: when memory runs out the
 * arena jumps to the guard its owner set, so that parsing and derivation need no error paths.
 *
 *     ns_arena *arena = ns_arena_new();
 *     if (!arena) return NS_ERR_MEMORY;
 *     if (NS_ARENA_GUARD(arena)) {        // reached a second time when memory ran out
 *         ns_arena_free(arena);
 *         return NS_ERR_MEMORY;
 *     }
 *
 * Nothing that needs releasing (files, malloc) may be open between the guard and the end of the
 * guarded work, unless its owner releases it in the guard's branch.  A guard is left with
 * ns_arena_unguard; allocating from an unguarded arena that has run out aborts. */
#ifndef NS_BASE_ARENA_H
#define NS_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* WebAssembly has no jumps out of functions: there an arena that has run out traps, and whoever
 * started the module starts it anew. */
#ifdef __wasm__
#define NS_ARENA_JUMPS 0
#else
#define NS_ARENA_JUMPS 1
#include <setjmp.h>
#endif

typedef struct ns_arena ns_arena;

ns_arena *ns_arena_new(void);
void ns_arena_free(ns_arena *arena);

/* Zeroed memory, aligned to 64 bytes for 64 bytes and more, to 16 below. */
void *ns_arena_alloc(ns_arena *arena, size_t bytes);
void *ns_arena_copy(ns_arena *arena, const void *data, size_t bytes);
char *ns_arena_string(ns_arena *arena, const char *text, size_t length);
char *ns_arena_format(ns_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Scratch: a child arena dies with its parent and uses its guard; what was allocated since a
 * mark is given back by release (marks nest).  For arrays that live only during one call. */
typedef struct ns_arena_place {
    void *block;
    size_t used;
    void *endings;
} ns_arena_place;
ns_arena *ns_arena_child(ns_arena *parent);
ns_arena_place ns_arena_mark(const ns_arena *arena);
void ns_arena_release(ns_arena *arena, ns_arena_place mark);

/* For what an object of the arena holds of the system (mapped code, libraries): end(object) is
 * called when the arena is freed, or released to before this call, while its memory is still
 * there.  The last to be added is the first to be called. */
void ns_arena_at_end(ns_arena *arena, void (*end)(void *object), void *object);

/* For tests: the n-th allocation from now on fails as if memory had run out (0: never). */
void ns_arena_fail_after(ns_arena *arena, uint64_t n);

/* Where an arena has no guard, memory that runs out ends at the guard of its support, which
 * lives longer and belongs to the same thread. */
void ns_arena_support(ns_arena *arena, ns_arena *support);
/* As an allocation that fails: for memory that was not to come from the arena. */
_Noreturn void ns_arena_exhausted(ns_arena *arena);

void ns_arena_unguard(ns_arena *arena);
#if NS_ARENA_JUMPS
jmp_buf *ns_arena_guard_slot(ns_arena *arena);
#define NS_ARENA_GUARD(arena) (setjmp(*ns_arena_guard_slot(arena)) != 0)
#else
#define NS_ARENA_GUARD(arena) ((void)(arena), 0)
#endif

#define NS_NEW(arena, type) ((type *)ns_arena_alloc((arena), sizeof(type)))
#define NS_NEW_ARRAY(arena, type, n)                                                           \
    ((type *)ns_arena_alloc((arena), sizeof(type) * (size_t)(n)))

/* Growing array in an arena: struct { T *at; uint32_t n, room; } declared by NS_LIST(T). */
#define NS_LIST(type)                                                                          \
    struct {                                                                                   \
        type *at;                                                                              \
        uint32_t n, room;                                                                      \
    }
void *ns_arena_grow(ns_arena *arena, void *old, uint32_t n, uint32_t *room, size_t size);
#define NS_PUSH(arena, list, ...)                                                              \
    do {                                                                                       \
        if ((list).n == (list).room)                                                           \
            (list).at = ns_arena_grow((arena), (list).at, (list).n, &(list).room,              \
                                      sizeof *(list).at);                                      \
        (list).at[(list).n++] = (__VA_ARGS__);                                                 \
    } while (0)

#endif
