#include "out/report/report_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin_value(ns_json *j)
{
    if (!j->fresh)
        ns_text_add(&j->text, ",");
    j->fresh = false;
}

void ns_json_open(ns_json *j, char bracket)
{
    begin_value(j);
    ns_text_add_bytes(&j->text, &bracket, 1);
    j->fresh = true;
}

void ns_json_close(ns_json *j, char bracket)
{
    ns_text_add_bytes(&j->text, &bracket, 1);
    j->fresh = false;
}

/* `<` is never written, so that nothing can end the element around it. */
static void put_string(ns_json *j, const char *text)
{
    const char *s = text ? text : "";
    size_t left = strlen(s);
    ns_text_add(&j->text, "\"");
    while (*s) {
        const size_t n = ns_text_character(s, left);
        const unsigned char c = (unsigned char)*s;
        if (n == 0)
            ns_text_add(&j->text, "\\ufffd");
        else if (c == '"' || c == '\\')
            ns_text_addf(&j->text, "\\%c", c);
        else if (c == '\n')
            ns_text_add(&j->text, "\\n");
        else if (c < 0x20 || c == 0x7F || c == '<' || c == '>' || c == '&')
            ns_text_addf(&j->text, "\\u%04x", (unsigned)c);
        else
            ns_text_add_bytes(&j->text, s, n);
        s += n ? n : 1;
        left -= n ? n : 1;
    }
    ns_text_add(&j->text, "\"");
}

void ns_json_key(ns_json *j, const char *key)
{
    begin_value(j);
    put_string(j, key);
    ns_text_add(&j->text, ":");
    j->fresh = true;
}

void ns_json_string(ns_json *j, const char *text)
{
    begin_value(j);
    put_string(j, text);
}

void ns_json_number(ns_json *j, double value)
{
    begin_value(j);
    if (isfinite(value))
        ns_text_add_double(&j->text, value);
    else
        ns_text_add(&j->text, "null");
}

void ns_json_bool(ns_json *j, bool value)
{
    begin_value(j);
    ns_text_add(&j->text, value ? "true" : "false");
}

void ns_json_vector(ns_json *j, const double *v, size_t n)
{
    ns_json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        ns_json_number(j, v[i]);
    ns_json_close(j, ']');
}

void ns_json_text(ns_json *j, const char *key, const char *text)
{
    if (!text)
        return;
    ns_json_key(j, key);
    ns_json_string(j, text);
}

void ns_json_value(ns_json *j, const char *key, double value)
{
    ns_json_key(j, key);
    ns_json_number(j, value);
}

/* ---- packed arrays ----------------------------------------------------------------------- */

typedef struct pack {
    ns_json *j;
    unsigned char wait[3];
    unsigned waiting;
    char out[1024];
    size_t filled;
} pack;

static void flush(pack *p)
{
    ns_text_add_bytes(&p->j->text, p->out, p->filled);
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

static pack begin_pack(ns_json *j, const char *kind)
{
    begin_value(j);
    ns_text_addf(&j->text, "\"%s:", kind);
    return (pack){.j = j};
}

static void end_pack(pack *p)
{
    if (p->waiting)
        put_three(p);
    flush(p);
    ns_text_add(&p->j->text, "\"");
}

/* Too large for single precision: as large as that gets. */
static float single(double value)
{
    if (isfinite(value) && fabs(value) > (double)3.4e38F)
        return value > 0 ? 3.4e38F : -3.4e38F;
    return (float)value;
}

void ns_json_f32(ns_json *j, const double *v, uint32_t width, const uint32_t *keep, size_t n)
{
    pack p = begin_pack(j, "f32");
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < width; i++)
            put_f32(&p, single(v[(keep ? keep[k] : k) * width + i]));
    end_pack(&p);
}

void ns_json_f64(ns_json *j, const double *v, uint32_t width, const uint32_t *keep, size_t n)
{
    pack p = begin_pack(j, "f64");
    for (size_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < width; i++) {
            uint64_t bits;
            memcpy(&bits, &v[(keep ? keep[k] : k) * width + i], sizeof bits);
            put_bytes(&p, bits, 8);
        }
    end_pack(&p);
}

void ns_json_floats(ns_json *j, const float *v, size_t n)
{
    pack p = begin_pack(j, "f32");
    for (size_t i = 0; i < n; i++)
        put_f32(&p, v[i]);
    end_pack(&p);
}

void ns_json_indices(ns_json *j, const uint32_t *v, size_t n, uint32_t most)
{
    const bool small = most <= UINT16_MAX;
    pack p = begin_pack(j, small ? "u16" : "u32");
    for (size_t i = 0; i < n; i++)
        put_bytes(&p, v[i], small ? 2 : 4);
    end_pack(&p);
}
