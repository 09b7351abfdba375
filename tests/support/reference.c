/* No parser of JSON: the files are our own.  The samples are the objects in the array
 * "samples", and the values asked for are numbers or flat arrays of numbers. */
#include "support/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"

reference reference_open(const char *name)
{
    reference r = {0};
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/reference/%s.json", NS_TESTS_DIR, name);
    assert_int_equal(ns_file_read(path, 1 << 22, &r.text, &length), 0);
    char *at = strstr(r.text, "\"samples\"");
    assert_non_null(at);
    at = strchr(at, '[');
    assert_non_null(at);
    int depth = 0;
    for (at++; *at && !(*at == ']' && depth == 0); at++) {
        if (*at == '{' && depth++ == 0) {
            const char **more = realloc(r.sample, (r.samples + 1) * sizeof *more);
            assert_non_null(more);
            r.sample = more;
            r.sample[r.samples++] = at;
        }
        if (*at == '[')
            depth++;
        if (*at == ']' || *at == '}')
            depth--;
    }
    assert_true(r.samples > 0);
    return r;
}

void reference_close(reference *r)
{
    free(r->sample);
    free(r->text);
}

static const char *find(const reference *r, size_t sample, const char *key)
{
    char quoted[64];
    assert_true(sample < r->samples);
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(r->sample[sample], quoted);
    if (!at || (sample + 1 < r->samples && at > r->sample[sample + 1]))
        fail_msg("sample %zu has no %s", sample, key);
    return at + strlen(quoted);
}

const char *reference_text(const reference *r, size_t sample, const char *key, size_t i)
{
    const char *at = find(r, sample, key);
    at += strspn(at, " \n[,");
    for (; i > 0; i--) {
        at += strcspn(at, ",");
        at += strspn(at, " \n[,");
    }
    return at;
}

void reference_get(const reference *r, size_t sample, const char *key, double *out, size_t k)
{
    const char *at = find(r, sample, key);
    for (size_t i = 0; i < k; i++) {
        at += strspn(at, " \n[,");
        char *end;
        out[i] = strtod(at, &end);
        assert_ptr_not_equal(at, end);
        at = end;
    }
}

double reference_number(const reference *r, size_t sample, const char *key)
{
    double value;
    reference_get(r, sample, key, &value, 1);
    return value;
}
