/* FNV-1a: tells files, models and requests apart.  Against damage and mistakes, not against
 * enemies. */
#ifndef NS_BASE_HASH_H
#define NS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t ns_hash_start = UINT64_C(14695981039346656037);

/* The hash so far and more bytes. */
uint64_t ns_hash_bytes(uint64_t hash, const void *bytes, size_t n);

#endif
