#include "command/models/xml.h"

#include <stdbool.h>
#include <string.h>

#include "base/messages/tame.h"
#include "base/text.h"

typedef struct reader {
    ns_arena *arena;
    const char *at, *end;
    uint32_t line, column, count;
    const char *message;
} reader;

static bool wrong(reader *r, const char *message)
{
    if (!r->message)
        r->message = message;
    return false;
}

static void step(reader *r)
{
    if (*r->at == '\n') {
        r->line++;
        r->column = 1;
    } else if (((unsigned char)*r->at & 0xc0) != 0x80) /* not inside a character */
        r->column++;
    r->at++;
}

static bool space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool part_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

static void skip_space(reader *r)
{
    while (r->at < r->end && space(*r->at))
        step(r);
}

static bool starts(const reader *r, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(r->end - r->at) >= n && memcmp(r->at, word, n) == 0;
}

/* Up to and with a word. */
static bool skip_past(reader *r, const char *word, const char *message)
{
    while (r->at < r->end && !starts(r, word))
        step(r);
    if (r->at == r->end)
        return wrong(r, message);
    for (size_t i = strlen(word); i > 0; i--)
        step(r);
    return true;
}

static const char *read_name(reader *r)
{
    const char *begin = r->at;
    while (r->at < r->end && part_of_name(*r->at))
        step(r);
    if (r->at == begin || (*begin >= '0' && *begin <= '9') || *begin == '-' || *begin == '.') {
        wrong(r, "expected a name");
        return NULL;
    }
    return ns_arena_string(r->arena, begin, (size_t)(r->at - begin));
}

/* &lt; &#65; &#x41; */
static bool read_entity(reader *r, ns_text *out)
{
    static const struct {
        const char *name, *value;
    } known[] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (starts(r, known[i].name)) {
            ns_text_add(out, known[i].value);
            return skip_past(r, ";", "");
        }
    if (!starts(r, "&#"))
        return wrong(r, "expected one of &lt; &gt; &amp; &quot; &apos; or a number &#...;");
    step(r);
    step(r);
    const bool hex = r->at < r->end && *r->at == 'x';
    if (hex)
        step(r);
    uint32_t code = 0;
    int digits = 0;
    for (; r->at < r->end && *r->at != ';' && digits < 8; digits++) {
        const char c = *r->at;
        const int digit = c >= '0' && c <= '9'          ? c - '0'
                          : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : hex && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                        : -1;
        if (digit < 0)
            return wrong(r, "expected a number and `;`");
        code = code * (hex ? 16 : 10) + (uint32_t)digit;
        step(r);
    }
    if (!digits || r->at == r->end || *r->at != ';' || code < 0x20 || code > 0x7e)
        return wrong(r, "expected the number of a printable ASCII character and `;`");
    step(r);
    const char one = (char)code;
    ns_text_add_bytes(out, &one, 1);
    return true;
}

static const char *read_value(reader *r)
{
    if (r->at == r->end || (*r->at != '"' && *r->at != '\'')) {
        wrong(r, "expected a value between quotes");
        return NULL;
    }
    const char quote = *r->at;
    ns_text out = ns_text_new(r->arena);
    step(r);
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '<' || *r->at == 0) {
            wrong(r, "a value must not contain `<`");
            return NULL;
        }
        if (*r->at == '&') {
            if (!read_entity(r, &out))
                return NULL;
            continue;
        }
        ns_text_add_bytes(&out, space(*r->at) ? " " : r->at, 1);
        step(r);
    }
    if (r->at == r->end) {
        wrong(r, "the value has no closing quote");
        return NULL;
    }
    step(r);
    return ns_text_string(&out);
}

static bool read_attributes(reader *r, ns_xml *e)
{
    for (;;) {
        const char *before = r->at;
        skip_space(r);
        if (r->at == r->end)
            return wrong(r, "the element is not closed: expected `>`");
        if (*r->at == '>' || *r->at == '/')
            return true;
        if (before == r->at)
            return wrong(r, "expected a space, `>` or `/>`");
        if (e->attributes.n == NS_XML_MOST_ATTRIBUTES)
            return wrong(r, "too many attributes"); /* each is compared with all before it */
        ns_xml_attribute a = {.name = read_name(r)};
        if (!a.name)
            return false;
        if (ns_xml_value(e, a.name))
            return wrong(r, ns_arena_format(r->arena, "`%s` is given twice", a.name));
        skip_space(r);
        if (r->at == r->end || *r->at != '=')
            return wrong(r, "expected `=`");
        step(r);
        skip_space(r);
        a.value = read_value(r);
        if (!a.value)
            return false;
        NS_PUSH(r->arena, e->attributes, a);
    }
}

/* Comments, declarations, instructions; false if there is none here, or it is wrong. */
static bool skip_other(reader *r)
{
    if (starts(r, "<!--"))
        return skip_past(r, "-->", "the comment has no end");
    if (starts(r, "<![CDATA["))
        return skip_past(r, "]]>", "the text has no end");
    if (starts(r, "<?"))
        return skip_past(r, "?>", "the instruction has no end");
    if (!starts(r, "<!"))
        return false;
    while (r->at < r->end && *r->at != '>') {
        if (*r->at == '[')
            return wrong(r, "document types with definitions are not read");
        step(r);
    }
    return skip_past(r, ">", "the declaration has no end");
}

/* An element from its `<` to the end of its tag; *closed if it has no content. */
static ns_xml *read_open(reader *r, bool *closed)
{
    ns_xml *e = NS_NEW(r->arena, ns_xml);
    e->line = r->line;
    e->column = r->column;
    if (++r->count > NS_XML_MOST) {
        wrong(r, "too many elements");
        return NULL;
    }
    step(r);
    e->name = read_name(r);
    if (!e->name || !read_attributes(r, e))
        return NULL;
    *closed = *r->at == '/';
    if (*closed)
        step(r);
    if (r->at == r->end || *r->at != '>') {
        wrong(r, "expected `>`");
        return NULL;
    }
    step(r);
    return e;
}

static bool read_close(reader *r, const ns_xml *e)
{
    step(r);
    step(r);
    const char *name = read_name(r);
    if (!name)
        return false;
    skip_space(r);
    if (strcmp(name, e->name) != 0)
        return wrong(r, ns_arena_format(r->arena, "expected `</%s>`, of line %u, not `</%s>`",
                                        e->name, e->line, name));
    if (r->at == r->end || *r->at != '>')
        return wrong(r, "expected `>`");
    step(r);
    return true;
}

static ns_xml *read_tree(reader *r)
{
    ns_xml *root = NULL, *here = NULL;
    ns_xml *last[NS_XML_DEPTH] = {0}; /* child of each level */
    int depth = 0;
    while (r->at < r->end && !r->message) {
        if (*r->at != '<') {
            if (!here && !space(*r->at))
                wrong(r, "expected an element, `<...>`");
            else
                step(r);
        } else if (starts(r, "</")) {
            if (!here)
                wrong(r, "nothing is open here");
            else if (read_close(r, here)) {
                here = here->parent;
                depth--;
            }
        } else if (!skip_other(r) && !r->message) {
            bool closed = false;
            if (!here && root) {
                wrong(r, "there must be one element around all others");
                break;
            }
            if (depth == NS_XML_DEPTH) {
                wrong(r, "elements are nested too deeply");
                break;
            }
            ns_xml *e = read_open(r, &closed);
            if (!e)
                break;
            e->parent = here;
            if (!here)
                root = e;
            else if (here->child)
                last[depth]->next = e;
            else
                here->child = e;
            last[depth] = e;
            if (!closed) {
                here = e;
                depth++;
            }
        }
    }
    if (here && !r->message)
        wrong(r, ns_arena_format(r->arena, "`<%s>` of line %u has no end", here->name,
                                 here->line));
    if (!root && !r->message)
        wrong(r, "expected an element, `<...>`");
    return root;
}

/* Text that no message and no terminal has to fear; at the place where it is not, otherwise. */
static bool is_text(reader *r)
{
    const char *begin = r->at;
    const uint32_t line = r->line, column = r->column;
    while (r->at < r->end) {
        const size_t left = (size_t)(r->end - r->at), n = ns_text_character(r->at, left);
        if (!n)
            return wrong(r, "this is not UTF-8 text");
        if (*r->at != '\r' && ns_tame_commands(r->at, left))
            return wrong(r, "a control character, which no text has");
        for (size_t i = 0; i < n; i++)
            step(r);
    }
    r->at = begin;
    r->line = line;
    r->column = column;
    return true;
}

ns_xml *ns_xml_read(ns_arena *arena, const char *text, size_t length, const char **message,
                    uint32_t *line, uint32_t *column)
{
    reader r = {.arena = arena, .at = text, .end = text + length, .line = 1, .column = 1};
    if (starts(&r, "\xef\xbb\xbf"))
        r.at += 3;
    ns_xml *root = is_text(&r) ? read_tree(&r) : NULL;
    *message = r.message;
    *line = r.line;
    *column = r.column;
    return r.message ? NULL : root;
}

const char *ns_xml_value(const ns_xml *element, const char *name)
{
    for (uint32_t i = 0; element && i < element->attributes.n; i++)
        if (strcmp(element->attributes.at[i].name, name) == 0)
            return element->attributes.at[i].value;
    return NULL;
}

const ns_xml *ns_xml_child(const ns_xml *element, const char *name)
{
    const ns_xml *e = element ? element->child : NULL;
    while (e && strcmp(e->name, name) != 0)
        e = e->next;
    return e;
}

const ns_xml *ns_xml_next(const ns_xml *element)
{
    const ns_xml *e = element->next;
    while (e && strcmp(e->name, element->name) != 0)
        e = e->next;
    return e;
}
