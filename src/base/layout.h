/* Many arrays in one block of memory.  A function takes them from a layout one after the other:
 * the first time without a block, which only counts bytes, then with a block of that many.  So
 * sizes and places are written once.  Every array begins at a multiple of 64 bytes. */
#ifndef NS_BASE_LAYOUT_H
#define NS_BASE_LAYOUT_H

#include <stddef.h>

enum { NS_LAYOUT_ALIGNMENT = 64 };

typedef struct ns_layout {
    void *base;  /* NULL while counting */
    size_t used; /* bytes */
} ns_layout;

static inline void *ns_layout_take(ns_layout *l, size_t count, size_t size)
{
    void *at = l->base ? (char *)l->base + l->used : NULL;
    l->used += (count * size + NS_LAYOUT_ALIGNMENT - 1) / NS_LAYOUT_ALIGNMENT *
               NS_LAYOUT_ALIGNMENT;
    return at;
}

/* Where the next array will be. */
static inline void *ns_layout_here(const ns_layout *l)
{
    return l->base ? (char *)l->base + l->used : NULL;
}

static inline double *ns_layout_doubles(ns_layout *l, size_t count)
{
    return ns_layout_take(l, count, sizeof(double));
}

/* Several arrays of one size: NS_LAYOUT_EACH(l, count, &a, &b, ...). */
static inline void ns_layout_each(ns_layout *l, size_t count, double **const *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *arrays[i] = ns_layout_doubles(l, count);
}

#define NS_LAYOUT_EACH(l, count, ...)                                                          \
    ns_layout_each(l, count, (double **const[]){__VA_ARGS__},                                  \
                   sizeof((double **const[]){__VA_ARGS__}) / sizeof(double **))

#endif
