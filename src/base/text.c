#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

ns_text ns_text_new(ns_arena *arena)
{
    NS_CHECK(arena);
    return (ns_text){.arena = arena};
}

void ns_text_add_bytes(ns_text *text, const char *more, size_t length)
{
    NS_CHECK(more || !length);
    NS_CHECK(!text->room || text->length < text->room);
    if (text->length + length + 1 > text->room) {
        size_t room = text->room ? text->room * 2 : 128;
        while (room < text->length + length + 1)
            room *= 2;
        char *at = ns_arena_alloc(text->arena, room);
        if (text->length)
            memcpy(at, text->at, text->length);
        text->at = at;
        text->room = room;
    }
    memcpy(text->at + text->length, more, length);
    text->length += length;
    text->at[text->length] = 0;
}

void ns_text_add(ns_text *text, const char *more)
{
    NS_CHECK(more);
    ns_text_add_bytes(text, more, strlen(more));
}

void ns_text_vaddf(ns_text *text, const char *format, va_list list)
{
    NS_CHECK(text->arena);
    NS_CHECK(format);
    va_list again;
    va_copy(again, list);
    char buffer[256];
    int length = vsnprintf(buffer, sizeof buffer, format, list);
    if (length >= (int)sizeof buffer) {
        char *large = ns_arena_alloc(text->arena, (size_t)length + 1);
        vsnprintf(large, (size_t)length + 1, format, again);
        ns_text_add_bytes(text, large, (size_t)length);
    } else if (length > 0) {
        ns_text_add_bytes(text, buffer, (size_t)length);
    }
    va_end(again);
}

void ns_text_addf(ns_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    ns_text_vaddf(text, format, list);
    va_end(list);
}

const char *ns_text_string(const ns_text *text)
{
    NS_CHECK(!text->at || text->at[text->length] == 0);
    return text->at ? text->at : "";
}

static bool reads_back(char buffer[NS_NUMBER_ROOM], int digits, double value)
{
    snprintf(buffer, NS_NUMBER_ROOM, "%.*g", digits, value);
    return strtod(buffer, NULL) == value;
}

void ns_text_number(char buffer[NS_NUMBER_ROOM], double value)
{
    if (!isfinite(value)) {
        snprintf(buffer, NS_NUMBER_ROOM, "%s",
                 isnan(value) ? "nan"
                 : value > 0  ? "inf"
                              : "-inf");
        return;
    }
    /* 17 digits always read back.  16 first: most computed numbers need at least these, and
     * where they do not read back 15 do not either. */
    if (!reads_back(buffer, 16, value))
        snprintf(buffer, NS_NUMBER_ROOM, "%.17g", value);
    else if (!reads_back(buffer, 15, value))
        snprintf(buffer, NS_NUMBER_ROOM, "%.16g", value);
    char *comma = strchr(buffer, ','); /* the program around us may have set a locale */
    if (comma)
        *comma = '.';
}

void ns_text_add_double(ns_text *text, double value)
{
    char buffer[NS_NUMBER_ROOM];
    ns_text_number(buffer, value);
    ns_text_add(text, buffer);
}

size_t ns_text_character(const char *text, size_t length)
{
    NS_CHECK(text || !length);
    const unsigned char *s = (const unsigned char *)text;
    if (!length)
        return 0;
    const size_t n = s[0] < 0x80                   ? 1
                     : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                     : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                     : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                                   : 0;
    if (n > length)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    /* no overlong forms, surrogates, or values beyond Unicode */
    const bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                       (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    return wrong ? 0 : n;
}
