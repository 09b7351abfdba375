/* A small reader of JSON for tests: values are places in the text. */
#ifndef NS_TEST_JSON_H
#define NS_TEST_JSON_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline const char *json_blank(const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

/* Behind the value at `at`; NULL if it is none. */
static inline const char *json_skip(const char *at)
{
    at = json_blank(at);
    if (*at == '"') {
        for (at++; *at && *at != '"'; at++)
            if (*at == '\\' && !*++at)
                return NULL;
        return *at ? at + 1 : NULL;
    }
    if (*at == '{' || *at == '[') {
        const char close = *at == '{' ? '}' : ']';
        const bool object = close == '}';
        at = json_blank(at + 1);
        while (*at != close) {
            if (object) {
                if (*at != '"' || !(at = json_skip(at)) || *(at = json_blank(at)) != ':')
                    return NULL;
                at++;
            }
            if (!(at = json_skip(at)))
                return NULL;
            at = json_blank(at);
            if (*at == ',')
                at = json_blank(at + 1);
            else if (*at != close)
                return NULL;
        }
        return at + 1;
    }
    const char *begin = at;
    while (*at && strchr("+-.0123456789eEtrufalsn", *at))
        at++;
    return at > begin ? at : NULL;
}

/* The value of a key of an object; NULL if it has none. */
static inline const char *json_get(const char *object, const char *key)
{
    const size_t n = strlen(key);
    if (!object || *(object = json_blank(object)) != '{')
        return NULL;
    for (const char *at = json_blank(object + 1); *at == '"';) {
        const char *name = at + 1, *value = json_blank(json_skip(at)) + 1;
        if (strncmp(name, key, n) == 0 && name[n] == '"')
            return json_blank(value);
        at = json_blank(json_skip(value));
        if (*at == ',')
            at = json_blank(at + 1);
    }
    return NULL;
}

/* Element i of an array; NULL behind the end. */
static inline const char *json_at(const char *array, size_t i)
{
    if (!array || *(array = json_blank(array)) != '[')
        return NULL;
    for (const char *at = json_blank(array + 1); *at != ']';) {
        if (i-- == 0)
            return at;
        at = json_blank(json_skip(at));
        if (*at == ',')
            at = json_blank(at + 1);
    }
    return NULL;
}

static inline size_t json_count(const char *array)
{
    size_t n = 0;
    while (json_at(array, n))
        n++;
    return n;
}

static inline double json_number(const char *value, double missing)
{
    return value ? strtod(value, NULL) : missing;
}

#endif
