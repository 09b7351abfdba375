#include "base/hash.h"

#include "base/check.h"

uint64_t ns_hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    NS_CHECK(bytes || !n);
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}
