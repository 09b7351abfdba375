/* Is a text well-formed XML, as far as this project writes it: elements with quoted attributes,
 * text, the five entities and numeric ones; valid UTF-8, no control characters. */
#ifndef NS_TEST_XML_H
#define NS_TEST_XML_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool xml_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == ':' || c == '_';
}

static inline size_t xml_entity(const char *at)
{
    static const char *const known[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (size_t i = 0; i < 5; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return strlen(known[i]);
    return 0;
}

/* One character of text or of an attribute's value. */
static inline size_t xml_character(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;
    if (*p == '&')
        return xml_entity(at);
    if (*p < 0x80)
        return *p == '<' || (*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f ? 0 : 1;
    size_t n = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (n == 3 && ((p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0)))
        return 0;
    return n;
}

static inline bool xml_well_formed(const char *text, char why[200])
{
    enum { DEEPEST = 64 };
    const char *open[DEEPEST], *at = text;
    size_t length[DEEPEST];
    int depth = 0, roots = 0;
#define XML_NEED(condition, what)                                                              \
    if (!(condition)) {                                                                        \
        snprintf(why, 200, "%s at byte %ld: %.60s", what, (long)(at - text), at);              \
        return false;                                                                          \
    }
    while (*at) {
        if (*at != '<') {
            size_t n = xml_character(at);
            XML_NEED(n, "a bad character")
            XML_NEED(depth > 0 || *at == '\n', "text outside")
            at += n;
            continue;
        }
        bool end = at[1] == '/';
        const char *name = at + 1 + end;
        size_t n = 0;
        while (xml_name(name[n]))
            n++;
        XML_NEED(n, "no name of an element")
        at = name + n;
        if (end) {
            XML_NEED(depth > 0 && length[depth - 1] == n &&
                         strncmp(open[depth - 1], name, n) == 0,
                     "the wrong end")
            depth--;
            XML_NEED(*at == '>', "no >")
            at++;
            continue;
        }
        while (*at == ' ') {
            at++;
            if (*at == '/' || *at == '>')
                break;
            XML_NEED(xml_name(*at), "no name of an attribute")
            while (xml_name(*at))
                at++;
            XML_NEED(at[0] == '=' && at[1] == '"', "no value")
            for (at += 2; *at != '"';) {
                size_t k = xml_character(at);
                XML_NEED(k, "a bad character in a value")
                at += k;
            }
            at++;
        }
        if (*at == '/') {
            at++;
            roots += depth == 0;
        } else {
            XML_NEED(depth < DEEPEST, "too deep")
            roots += depth == 0;
            open[depth] = name;
            length[depth++] = n;
        }
        XML_NEED(*at == '>', "no >")
        at++;
    }
    XML_NEED(depth == 0 && roots == 1, "not one element")
#undef XML_NEED
    return true;
}

#endif
