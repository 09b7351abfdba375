/* Zip archives: see zip.h.
 *
 * PKWARE's APPNOTE: each member has a local header (4.3.7) before its bytes and an entry of the
 * central directory (4.3.12) after all of them; the end record (4.3.16) says where that is.
 * Method 0 is "stored".  Times are always 1980-01-01, so that the same model makes the same
 * bytes. */
#include "out/program/zip.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"

/* CRC-32 of ISO 3309, reflected, polynomial 0xEDB88320 (4.4.7). */
static uint32_t crc(const char *bytes, size_t length)
{
    uint32_t table[256], c = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    for (size_t i = 0; i < length; i++)
        c = table[(c ^ (unsigned char)bytes[i]) & 255] ^ (c >> 8);
    return ~c;
}

static void put(ns_text *out, unsigned bytes, size_t value)
{
    for (unsigned i = 0; i < bytes; i++) {
        const char byte = (char)(unsigned char)(value >> (8 * i));
        ns_text_add_bytes(out, &byte, 1);
    }
}

/* What both headers have in common. */
static void put_facts(ns_text *out, const char *name, uint32_t sum, size_t length)
{
    put(out, 2, 20);     /* version 2.0 is enough to read it */
    put(out, 2, 0x0800); /* the name is UTF-8 */
    put(out, 2, 0);      /* stored */
    put(out, 2, 0);      /* time */
    put(out, 2, 0x0021); /* date */
    put(out, 4, sum);
    put(out, 4, length);
    put(out, 4, length);
    put(out, 2, strlen(name));
    put(out, 2, 0); /* nothing extra */
}

ns_zip ns_zip_new(ns_text *out)
{
    return (ns_zip){.out = out, .directory = ns_text_new(out->arena)};
}

void ns_zip_add(ns_zip *zip, const char *name, const char *bytes, size_t length)
{
    NS_CHECK(*name && *name != '/' && zip->out->length + length < INT32_MAX);
    const size_t at = zip->out->length;
    const uint32_t sum = crc(bytes, length);
    put(zip->out, 4, 0x04034b50);
    put_facts(zip->out, name, sum, length);
    ns_text_add(zip->out, name);
    ns_text_add_bytes(zip->out, bytes, length);
    ns_text *d = &zip->directory;
    put(d, 4, 0x02014b50);
    put(d, 2, 20); /* made by version 2.0 */
    put_facts(d, name, sum, length);
    put(d, 2, 0); /* no comment */
    put(d, 2, 0); /* first disk */
    put(d, 2, 0); /* no text */
    put(d, 4, 0); /* no attributes */
    put(d, 4, at);
    ns_text_add(d, name);
    zip->members++;
}

void ns_zip_end(ns_zip *zip)
{
    const size_t at = zip->out->length;
    ns_text_add_bytes(zip->out, ns_text_string(&zip->directory), zip->directory.length);
    put(zip->out, 4, 0x06054b50);
    put(zip->out, 4, 0); /* one disk */
    put(zip->out, 2, zip->members);
    put(zip->out, 2, zip->members);
    put(zip->out, 4, zip->directory.length);
    put(zip->out, 4, at);
    put(zip->out, 2, 0); /* no comment */
}
