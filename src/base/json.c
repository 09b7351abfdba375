#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

ns_json ns_json_new(ns_arena *arena)
{
    NS_CHECK(arena);
    return (ns_json){.text = ns_text_new(arena)};
}

ns_json ns_json_to(FILE *file)
{
    NS_CHECK(file);
    return (ns_json){.file = file, .lines = true};
}

const char *ns_json_string(ns_json *j)
{
    NS_CHECK(!j->file && j->depth == 0);
    return ns_text_string(&j->text);
}

void ns_json_bytes(ns_json *j, const char *bytes, size_t n)
{
    NS_CHECK(bytes || !n);
    if (j->file)
        fwrite(bytes, 1, n, j->file);
    else
        ns_text_add_bytes(&j->text, bytes, n);
}

static void put(ns_json *j, const char *text)
{
    ns_json_bytes(j, text, strlen(text));
}

static void put_escaped(ns_json *j, unsigned c)
{
    char code[8];
    snprintf(code, sizeof code, "\\u%04x", c);
    put(j, code);
}

/* Compact text may stand in a page: nothing in it can end the element that holds it. */
static void put_string(ns_json *j, const char *text)
{
    size_t left = strlen(text);
    put(j, "\"");
    for (size_t n; left; text += n, left -= n) {
        const unsigned char c = (unsigned char)*text;
        n = ns_text_character(text, left);
        if (n == 0) { /* not UTF-8 */
            put_escaped(j, 0xFFFD);
            n = 1;
        } else if (c == '"' || c == '\\') {
            ns_json_bytes(j, (const char[]){'\\', (char)c}, 2);
        } else if (c == '\n') {
            put(j, "\\n");
        } else if (c < 0x20 || c == 0x7F || (!j->lines && strchr("<>&", c))) {
            put_escaped(j, c);
        } else {
            ns_json_bytes(j, text, n);
        }
    }
    put(j, "\"");
}

/* ---- layout ------------------------------------------------------------------------------ */

static uint64_t level(const ns_json *j)
{
    return (uint64_t)1 << (j->depth - 1);
}

static void break_line(ns_json *j)
{
    put(j, "\n");
    for (uint32_t i = 0; i < j->depth; i++)
        put(j, "  ");
}

/* Members of objects that are not in an array get a line each, and so do the objects and arrays
 * in an array. */
static void begin(ns_json *j, const char *key, bool container)
{
    NS_CHECK(j->depth == 0 ? !key : !key == !!(j->arrays & level(j)));
    const bool wide = j->lines && j->depth &&
                      (key ? !j->arrays : container && j->arrays == level(j));
    if (j->inside)
        put(j, j->lines && !wide ? ", " : ",");
    if (wide) {
        j->broken |= level(j);
        break_line(j);
    }
    if (key) {
        put_string(j, key);
        put(j, j->lines ? ": " : ":");
    }
    j->inside = true;
}

static void open_level(ns_json *j, const char *key, bool array)
{
    begin(j, key, true);
    put(j, array ? "[" : "{");
    j->depth++;
    NS_CHECK(j->depth <= 64);
    j->arrays = array ? j->arrays | level(j) : j->arrays & ~level(j);
    j->broken &= ~level(j);
    j->inside = false;
}

void ns_json_object(ns_json *j, const char *key)
{
    open_level(j, key, false);
}

void ns_json_array(ns_json *j, const char *key)
{
    open_level(j, key, true);
}

void ns_json_end(ns_json *j)
{
    NS_CHECK(j->depth > 0);
    const bool array = j->arrays & level(j), broken = j->broken & level(j);
    j->arrays &= ~level(j);
    j->depth--;
    if (broken)
        break_line(j);
    put(j, array ? "]" : "}");
    if (j->depth == 0 && j->lines)
        put(j, "\n");
    j->inside = true;
}

/* ---- values ------------------------------------------------------------------------------ */

void ns_json_literal(ns_json *j, const char *key, const char *json)
{
    begin(j, key, false);
    put(j, json);
}

void ns_json_number(ns_json *j, const char *key, double value)
{
    char buffer[NS_NUMBER_ROOM];
    ns_text_number(buffer, value);
    ns_json_literal(j, key, isfinite(value) ? buffer : "null");
}

void ns_json_bool(ns_json *j, const char *key, bool value)
{
    ns_json_literal(j, key, value ? "true" : "false");
}

void ns_json_text(ns_json *j, const char *key, const char *text)
{
    if (key && !text)
        return;
    begin(j, key, false);
    put_string(j, text ? text : "");
}

void ns_json_numbers(ns_json *j, const char *key, const double *v, size_t n)
{
    NS_CHECK(v || !n);
    ns_json_array(j, key);
    for (size_t i = 0; i < n; i++)
        ns_json_number(j, NULL, v[i]);
    ns_json_end(j);
}

void ns_json_texts(ns_json *j, const char *key, const char *const *texts, size_t n)
{
    NS_CHECK(texts || !n);
    ns_json_array(j, key);
    for (size_t i = 0; i < n; i++)
        ns_json_text(j, NULL, texts[i]);
    ns_json_end(j);
}
