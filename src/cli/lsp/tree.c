#include "cli/lsp/tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_DEPTH = 64 };

typedef struct source {
    ns_arena *arena;
    const char *at, *end;
    int depth;
} source;

static ns_lsp_tree *value(source *s);

static void skip(source *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at))
        s->at++;
}

static bool accept(source *s, char c)
{
    skip(s);
    if (s->at >= s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static void add_point(ns_text *out, unsigned c)
{
    char b[4];
    size_t n = 0;
    if (c < 0x80) {
        b[n++] = (char)c;
    } else if (c < 0x800) {
        b[n++] = (char)(0xC0 | (c >> 6));
        b[n++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        b[n++] = (char)(0xE0 | (c >> 12));
        b[n++] = (char)(0x80 | ((c >> 6) & 0x3F));
        b[n++] = (char)(0x80 | (c & 0x3F));
    } else {
        b[n++] = (char)(0xF0 | (c >> 18));
        b[n++] = (char)(0x80 | ((c >> 12) & 0x3F));
        b[n++] = (char)(0x80 | ((c >> 6) & 0x3F));
        b[n++] = (char)(0x80 | (c & 0x3F));
    }
    ns_text_add_bytes(out, b, n);
}

/* Four hexadecimal digits; -1 if they are not there. */
static int hex(source *s)
{
    int c = 0;
    if (s->end - s->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char d = *s->at++;
        const char *digits = "0123456789abcdef0123456789ABCDEF", *found = strchr(digits, d);
        if (!d || !found)
            return -1;
        c = 16 * c + (int)(found - digits) % 16;
    }
    return c;
}

static bool escape(source *s, ns_text *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (s->at >= s->end)
        return false;
    const char c = *s->at++, *found = strchr(names, c);
    if (c && found) {
        ns_text_add_bytes(out, &values[found - names], 1);
        return true;
    }
    int high = c == 'u' ? hex(s) : -1;
    if (high < 0)
        return false;
    if (high >= 0xD800 && high < 0xDC00 && s->end - s->at >= 6 &&
        memcmp(s->at, "\\u", 2) == 0) {
        s->at += 2;
        const int low = hex(s);
        if (low < 0xDC00 || low > 0xDFFF)
            return false;
        high = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }
    add_point(out, (unsigned)high);
    return true;
}

static const char *string(source *s)
{
    ns_text out = ns_text_new(s->arena);
    if (!accept(s, '"'))
        return NULL;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at == '\\') {
            s->at++;
            if (!escape(s, &out))
                return NULL;
        } else {
            ns_text_add_bytes(&out, s->at++, 1);
        }
    }
    if (s->at >= s->end)
        return NULL;
    s->at++;
    return ns_text_string(&out);
}

/* Members or elements up to the closing bracket; false after an error. */
static bool list(source *s, ns_lsp_tree *t, char close, bool keys)
{
    ns_lsp_tree **last = &t->child;
    if (accept(s, close))
        return true;
    do {
        const char *key = keys ? string(s) : NULL;
        if (keys && (!key || !accept(s, ':')))
            return false;
        ns_lsp_tree *child = value(s);
        if (!child)
            return false;
        child->key = key;
        *last = child;
        last = &child->next;
    } while (accept(s, ','));
    return accept(s, close);
}

static bool word(source *s, const char *text)
{
    const size_t n = strlen(text);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n) != 0)
        return false;
    s->at += n;
    return true;
}

static bool number(source *s, ns_lsp_tree *t)
{
    char buffer[64], *stop;
    size_t n = 0;
    while (s->at + n < s->end && n < sizeof buffer - 1 && strchr("+-.eE0123456789", s->at[n])) {
        buffer[n] = s->at[n];
        n++;
    }
    buffer[n] = 0;
    t->number = strtod(buffer, &stop);
    s->at += n;
    return n && !*stop;
}

static bool fill(source *s, ns_lsp_tree *t)
{
    switch (*s->at) {
    case '{':
        s->at++;
        t->kind = NS_LSP_TREE_OBJECT;
        return list(s, t, '}', true);
    case '[':
        s->at++;
        t->kind = NS_LSP_TREE_ARRAY;
        return list(s, t, ']', false);
    case '"':
        t->kind = NS_LSP_TREE_TEXT;
        t->text = string(s);
        return t->text;
    case 't':
    case 'f':
        t->kind = NS_LSP_TREE_BOOL;
        t->number = *s->at == 't';
        return word(s, *s->at == 't' ? "true" : "false");
    case 'n':
        return word(s, "null");
    default:
        t->kind = NS_LSP_TREE_NUMBER;
        return number(s, t);
    }
}

static ns_lsp_tree *value(source *s)
{
    skip(s);
    if (s->at >= s->end || s->depth >= MOST_DEPTH)
        return NULL;
    ns_lsp_tree *t = NS_NEW(s->arena, ns_lsp_tree);
    const char *begin = s->at;
    s->depth++;
    const bool good = fill(s, t);
    s->depth--;
    t->raw = begin;
    t->raw_length = (size_t)(s->at - begin);
    return good ? t : NULL;
}

const ns_lsp_tree *ns_lsp_tree_read(ns_arena *arena, const char *text, size_t length)
{
    source s = {.arena = arena, .at = text, .end = text + length};
    ns_lsp_tree *t = value(&s);
    skip(&s);
    return s.at == s.end ? t : NULL;
}

const ns_lsp_tree *ns_lsp_tree_at(const ns_lsp_tree *tree, const char *path)
{
    while (tree && *path) {
        const size_t n = strcspn(path, ".");
        const ns_lsp_tree *child = tree->kind == NS_LSP_TREE_OBJECT ? tree->child : NULL;
        while (child && (strlen(child->key) != n || memcmp(child->key, path, n) != 0))
            child = child->next;
        tree = child;
        path += n + (path[n] == '.');
    }
    return tree;
}

const char *ns_lsp_tree_text(const ns_lsp_tree *tree, const char *path)
{
    const ns_lsp_tree *t = ns_lsp_tree_at(tree, path);
    return t && t->kind == NS_LSP_TREE_TEXT ? t->text : "";
}

double ns_lsp_tree_number(const ns_lsp_tree *tree, const char *path)
{
    const ns_lsp_tree *t = ns_lsp_tree_at(tree, path);
    return t && t->kind == NS_LSP_TREE_NUMBER ? t->number : 0;
}
