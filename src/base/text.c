#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/math/decimal.h"

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

/* The digits of a whole number, 17 at most, so that they end before `end`; where they begin. */
static char *put_whole(char *end, uint64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
                                "31323334353637383940414243444546474849505152535455565758596061"
                                "62636465666768697071727374757677787980818283848586878889909192"
                                "93949596979899";
    while (number >= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (number % 100), 2);
        number /= 100;
    }
    if (number >= 10) {
        end -= 2;
        memcpy(end, pairs + 2 * number, 2);
    } else
        *--end = (char)('0' + number);
    return end;
}

/* n digits, the point after the first `point` of them; the end. */
static char *put_digits(char *at, const char *digits, int n, int point)
{
    if (point <= 0) { /* 0.000ddd */
        memcpy(at, "0.00000", (size_t)(2 - point));
        at += 2 - point;
        point = n;
        memcpy(at, digits, (size_t)n);
    } else if (point >= n) { /* ddd000 */
        memcpy(at, digits, (size_t)n);
        memset(at + n, '0', (size_t)(point - n));
    } else {
        memcpy(at, digits, (size_t)point);
        at[point] = '.';
        memcpy(at + point + 1, digits + point, (size_t)(n - point));
        return at + n + 1;
    }
    return at + point;
}

/* As printf's %g with this many digits, at least 15; but no locale changes its point. */
static char *put_number(char *at, double size)
{
    enum { USUAL = 15, LEAST_FIXED = -4 }; /* digits; exponent of those without an `e` */
    const ns_decimal number = ns_decimal_shortest(size);
    char digits[20], *const end = digits + sizeof digits;
    const char *const first = put_whole(end, number.digits);
    const int n = (int)(end - first), exponent = number.exponent + n - 1;
    if (exponent >= LEAST_FIXED && exponent < (n > USUAL ? n : USUAL))
        return put_digits(at, first, n, exponent + 1);
    const int power = exponent < 0 ? -exponent : exponent;
    at = put_digits(at, first, n, 1);
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    if (power >= 100)
        *at++ = (char)('0' + power / 100);
    *at++ = (char)('0' + power / 10 % 10);
    *at++ = (char)('0' + power % 10);
    return at;
}

size_t ns_text_number(char buffer[NS_NUMBER_ROOM], double value)
{
    char *at = buffer;
    if (signbit(value) && !isnan(value))
        *at++ = '-';
    if (!isfinite(value)) {
        memcpy(at, isnan(value) ? "nan" : "inf", 3);
        at += 3;
    } else if (value == 0)
        *at++ = '0';
    else
        at = put_number(at, fabs(value));
    *at = 0;
    return (size_t)(at - buffer);
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
