#include "out/report/packed.h"

#include <math.h>
#include <string.h>

typedef struct pack {
    ns_json *j;
    unsigned char wait[3];
    unsigned waiting;
    char out[1024];
    size_t filled;
} pack;

static void flush(pack *p)
{
    ns_json_bytes(p->j, p->out, p->filled);
    p->filled = 0;
}

static void put_three(pack *p)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned bits = (unsigned)p->wait[0] << 16 | (unsigned)p->wait[1] << 8 | p->wait[2];
    if (p->filled + 4 > sizeof p->out)
        flush(p);
    for (unsigned i = 0; i < 4; i++)
        p->out[p->filled++] = i > p->waiting ? '=' : digits[bits >> (18 - 6 * i) & 63];
    memset(p->wait, 0, sizeof p->wait);
    p->waiting = 0;
}

/* The least significant byte first, whatever the machine does. */
static void put_bytes(pack *p, uint64_t bits, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        p->wait[p->waiting++] = (unsigned char)(bits >> (8 * i));
        if (p->waiting == 3)
            put_three(p);
    }
}

static void put_f32(pack *p, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bytes(p, bits, 4);
}

static pack begin_pack(ns_json *j, const char *key, const char *kind)
{
    ns_json_literal(j, key, "\"");
    ns_json_bytes(j, kind, strlen(kind));
    return (pack){.j = j};
}

static void end_pack(pack *p)
{
    if (p->waiting)
        put_three(p);
    flush(p);
    ns_json_bytes(p->j, "\"", 1);
}

/* Too large for single precision: as large as that gets. */
static float single(double value)
{
    if (isfinite(value) && fabs(value) > (double)3.4e38F)
        return value > 0 ? 3.4e38F : -3.4e38F;
    return (float)value;
}

void ns_packed_f32(ns_json *j, const char *key, const double *v, uint32_t width,
                   const uint32_t *keep, size_t n)
{
    pack p = begin_pack(j, key, "f32:");
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < width; i++)
            put_f32(&p, single(v[(keep ? keep[k] : k) * width + i]));
    end_pack(&p);
}

void ns_packed_f64(ns_json *j, const char *key, const double *v, uint32_t width,
                   const uint32_t *keep, size_t n)
{
    pack p = begin_pack(j, key, "f64:");
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < width; i++) {
            uint64_t bits;
            memcpy(&bits, &v[(keep ? keep[k] : k) * width + i], sizeof bits);
            put_bytes(&p, bits, 8);
        }
    end_pack(&p);
}

void ns_packed_floats(ns_json *j, const char *key, const float *v, size_t n)
{
    pack p = begin_pack(j, key, "f32:");
    for (size_t i = 0; i < n; i++)
        put_f32(&p, v[i]);
    end_pack(&p);
}

void ns_packed_indices(ns_json *j, const char *key, const uint32_t *v, size_t n, uint32_t most)
{
    const bool small = most <= UINT16_MAX;
    pack p = begin_pack(j, key, small ? "u16:" : "u32:");
    for (size_t i = 0; i < n; i++)
        put_bytes(&p, v[i], small ? 2 : 4);
    end_pack(&p);
}
