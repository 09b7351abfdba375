/* noslip lsp: a language server for editors, on standard input and output (LSP 3.17).
 *
 * Errors while typing, hover with value and unit, the place where a name is defined, words to
 * complete, and the layout of `noslip format`.  Documents come whole with every change; answers
 * about names are those of the last text that was a model.  Of claims (files ending .claim) it
 * knows errors, layout, and the words of the models in them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/lsp/lsp.h"
#include "cli/lsp/tree.h"
#include "cli/program.h"
#include "command/claims/claim.h"
#include "lang/functions.h"
#include "lang/statements.h"
#include "lang/syntax/format.h"
#include "lang/units.h"
#include "mech/blocks.h"
#include "noslip/noslip.h"
#include "session/model.h"

enum { MOST_BYTES = 64 << 20 };

typedef struct document {
    char *uri, *text;
    ns_model *model, *good; /* of this text; the last one without errors, perhaps the same */
    struct document *next;
} document;

typedef struct server {
    ns_host *host;
    ns_arena *arena; /* of the message at hand */
    document *documents;
    bool ended; /* asked to shut down */
} server;

/* ---- messages ---------------------------------------------------------------------------- */

/* The next message in memory from malloc; NULL at the end of the input. */
static char *receive(FILE *in, size_t *length)
{
    char line[256];
    long size = -1;
    while (fgets(line, sizeof line, in)) {
        if (strncmp(line, "Content-Length:", 15) == 0)
            size = strtol(line + 15, NULL, 10);
        if (strcmp(line, "\r\n") == 0 || strcmp(line, "\n") == 0)
            break;
    }
    if (size < 0 || size > MOST_BYTES || feof(in))
        return NULL;
    char *body = malloc((size_t)size + 1);
    if (!body || fread(body, 1, (size_t)size, in) != (size_t)size) {
        free(body);
        return NULL;
    }
    body[size] = 0;
    *length = (size_t)size;
    return body;
}

static void send(server *s, ns_json *j)
{
    const char *text = ns_json_string(j);
    fprintf(s->host->out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
    fflush(s->host->out);
}

/* {"jsonrpc": "2.0", "id": ..., "result": ... : the caller adds the result and ends it. */
static ns_json answer(server *s, const ns_lsp_tree *request)
{
    ns_json j = ns_json_new(s->arena);
    const ns_lsp_tree *id = ns_lsp_tree_at(request, "id");
    ns_json_object(&j, NULL);
    ns_json_text(&j, "jsonrpc", "2.0");
    ns_json_literal(&j, "id", id ? ns_arena_string(s->arena, id->raw, id->raw_length) : "null");
    return j;
}

/* ---- places ------------------------------------------------------------------------------ */

/* Lines from 0; characters are UTF-16 units. */
static void put_position(ns_json *j, const char *key, const char *text, size_t at)
{
    unsigned line = 0, unit = 0;
    for (size_t i = 0; i < at && text[i];) {
        const size_t n = ns_text_character(text + i,
                                           strlen(text + i) < 4 ? strlen(text + i) : 4);
        if (text[i] == '\n') {
            line++;
            unit = 0;
        } else {
            unit += n == 4 ? 2 : 1;
        }
        i += n ? n : 1;
    }
    ns_json_object(j, key);
    ns_json_number(j, "line", line);
    ns_json_number(j, "character", unit);
    ns_json_end(j);
}

static void put_range(ns_json *j, const char *text, size_t begin, size_t end)
{
    ns_json_object(j, "range");
    put_position(j, "start", text, begin);
    put_position(j, "end", text, end);
    ns_json_end(j);
}

static size_t offset_of(const char *text, const ns_lsp_tree *position)
{
    double line = ns_lsp_tree_number(position, "line"),
           unit = ns_lsp_tree_number(position, "character");
    size_t i = 0;
    for (; line > 0 && text[i]; i++)
        line -= text[i] == '\n';
    while (unit > 0 && text[i] && text[i] != '\n') {
        const size_t n = ns_text_character(text + i,
                                           strlen(text + i) < 4 ? strlen(text + i) : 4);
        unit -= n == 4 ? 2 : 1;
        i += n ? n : 1;
    }
    return i;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The word around a place; false if there is none. */
static bool word_at(const char *text, size_t at, size_t *begin, size_t *length)
{
    size_t end = at;
    *begin = at;
    while (*begin > 0 && is_word(text[*begin - 1]))
        --*begin;
    while (is_word(text[end]))
        end++;
    *length = end - *begin;
    return *length > 0;
}

/* ---- documents --------------------------------------------------------------------------- */

static document *find(server *s, const char *uri)
{
    for (document *d = s->documents; d; d = d->next)
        if (strcmp(d->uri, uri) == 0)
            return d;
    return NULL;
}

static void forget_models(document *d)
{
    if (d->good != d->model)
        ns_model_free(d->good);
    ns_model_free(d->model);
    d->good = d->model = NULL;
}

static void put_message(server *s, ns_json *j, const char *text, const ns_message *m)
{
    static const int severities[] = {[NS_NOTE] = 3, [NS_WARNING] = 2, [NS_ERROR] = 1};
    const bool placed = m->span.source == 1;
    (void)s;
    ns_json_object(j, NULL);
    put_range(j, text, placed ? m->span.begin : 0, placed ? m->span.end : 0);
    ns_json_number(j, "severity", severities[m->severity]);
    ns_json_text(j, "source", "noslip");
    ns_json_text(j, "code", m->code);
    ns_json_text(j, "message", m->text);
    ns_json_end(j);
}

static void publish(server *s, const document *d, const ns_diag *diag)
{
    ns_json j = ns_json_new(s->arena);
    ns_json_object(&j, NULL);
    ns_json_text(&j, "jsonrpc", "2.0");
    ns_json_text(&j, "method", "textDocument/publishDiagnostics");
    ns_json_object(&j, "params");
    ns_json_text(&j, "uri", d->uri);
    ns_json_array(&j, "diagnostics");
    for (uint32_t i = 0; diag && i < diag->messages.n; i++)
        put_message(s, &j, d->text, &diag->messages.at[i]);
    ns_json_end(&j);
    ns_json_end(&j);
    ns_json_end(&j);
    send(s, &j);
}

static bool is_claim(const document *d)
{
    const size_t length = strlen(d->uri);
    return length > 6 && strcmp(d->uri + length - 6, ".claim") == 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The file that a document is, where its tables are looked for: `file:///a%20b` is "/a b". */
static const char *path_of(server *s, const document *d)
{
    static const char scheme[] = "file://";
    if (strncmp(d->uri, scheme, sizeof scheme - 1) != 0)
        return "model";
    char *path = ns_arena_string(s->arena, d->uri, strlen(d->uri)), *to = path;
    for (const char *at = d->uri + sizeof scheme - 1; *at; at++) {
        const int high = *at == '%' ? digit_of(at[1]) : -1;
        const int low = high >= 0 ? digit_of(at[2]) : -1;
        *to++ = low >= 0 ? (char)(high * 16 + low) : *at;
        at += low >= 0 ? 2 : 0;
    }
    *to = 0;
    return *path ? path : "model";
}

static void read_text(server *s, document *d, const char *text)
{
    char *copy = strdup(text);
    if (!copy) /* the text before stays: better than none */
        return;
    free(d->text);
    d->text = copy;
    if (is_claim(d)) {
        publish(s, d, ns_claim_read(s->arena, "claim", NULL, d->text, strlen(d->text))->diag);
        return;
    }
    if (d->model != d->good)
        ns_model_free(d->model);
    d->model = ns_model_load_text(path_of(s, d), d->text, strlen(d->text), NULL, 0,
                                  NS_MODEL_READY);
    if (d->model && d->model->status == NS_OK) {
        ns_model_free(d->good);
        d->good = d->model;
    }
    publish(s, d, d->model ? d->model->diag : NULL);
}

static void open_document(server *s, const ns_lsp_tree *m)
{
    const char *uri = ns_lsp_tree_text(m, "params.textDocument.uri");
    document *d = find(s, uri);
    if (!d) {
        d = calloc(1, sizeof *d);
        if (!d || !(d->uri = strdup(uri))) {
            free(d);
            return;
        }
        d->next = s->documents;
        s->documents = d;
    }
    read_text(s, d, ns_lsp_tree_text(m, "params.textDocument.text"));
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the server has it in its list */
}

static void change_document(server *s, const ns_lsp_tree *m)
{
    document *d = find(s, ns_lsp_tree_text(m, "params.textDocument.uri"));
    const ns_lsp_tree *changes = ns_lsp_tree_at(m, "params.contentChanges");
    const ns_lsp_tree *last = changes ? changes->child : NULL;
    while (last && last->next)
        last = last->next;
    if (d && last)
        read_text(s, d, ns_lsp_tree_text(last, "text"));
}

static void close_document(server *s, const ns_lsp_tree *m)
{
    for (document **d = &s->documents; *d; d = &(*d)->next)
        if (strcmp((*d)->uri, ns_lsp_tree_text(m, "params.textDocument.uri")) == 0) {
            document *gone = *d;
            *d = gone->next;
            forget_models(gone);
            free(gone->text);
            free(gone->uri);
            free(gone);
            return;
        }
}

/* ---- questions --------------------------------------------------------------------------- */

/* Words of the language: form and help of a statement, block, function or unit. */
static bool add_language(ns_text *out, const char *word)
{
    for (const ns_statement *s = ns_statements; s->keyword; s++)
        if (strcmp(s->keyword, word) == 0)
            ns_text_addf(out, "`%s`\n\n%s", s->form, s->help);
    for (const ns_block_form *const *b = ns_blocks; *b && !out->length; b++)
        if (strcmp((*b)->keyword, word) == 0)
            ns_text_addf(out, "`%s`\n\n%s", (*b)->form, (*b)->help);
    for (const ns_builtin *b = ns_builtins; b->name && !out->length; b++)
        if (strcmp(b->name, word) == 0)
            ns_text_addf(out, "`%s`\n\n%s", b->form ? b->form : b->name,
                         b->help ? b->help : "");
    return out->length > 0;
}

static void add_value(ns_text *out, const char *word, double value, const char *unit,
                      const char *when)
{
    char number[NS_NUMBER_ROOM];
    ns_text_number(number, value);
    ns_text_addf(out, "`%s = %s%s%s`%s", word, number, unit && *unit ? " " : "",
                 unit ? unit : "", when);
}

static void add_name(ns_text *out, const ns_model *m, const char *word)
{
    const ns_description *d = m->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        if (strcmp(d->params.at[i].name, word) == 0)
            add_value(out, word, m->p[i], d->params.at[i].unit, " (a parameter)");
    const uint32_t state = ns_system_state_named(m->system, word);
    if (state < m->system->states.n && !out->length)
        add_value(out, word, m->x0[state], m->system->states.at[state].unit, " at the start");
    for (uint32_t i = 0; i < m->system->observables.n && !out->length; i++) {
        const ns_observable *v = &m->system->observables.at[i];
        if (strcmp(v->name, word) == 0)
            ns_text_addf(out, "`%s`%s%s (a value)", word, v->unit && *v->unit ? " in " : "",
                         v->unit ? v->unit : "");
    }
    ns_span place;
    const char *kind;
    if (!out->length && ns_description_place(d, word, strlen(word), &place, &kind))
        ns_text_addf(out, "`%s`: %s", word, kind);
}

static void hover(server *s, const ns_lsp_tree *m)
{
    const document *d = find(s, ns_lsp_tree_text(m, "params.textDocument.uri"));
    ns_json j = answer(s, m);
    size_t begin, length;
    ns_text out = ns_text_new(s->arena);
    if (d && word_at(d->text, offset_of(d->text, ns_lsp_tree_at(m, "params.position")), &begin,
                     &length)) {
        const char *word = ns_arena_string(s->arena, d->text + begin, length);
        if (d->good)
            add_name(&out, d->good, word);
        if (!out.length)
            add_language(&out, word);
    }
    if (d && out.length) {
        ns_json_object(&j, "result");
        ns_json_object(&j, "contents");
        ns_json_text(&j, "kind", "markdown");
        ns_json_text(&j, "value", ns_text_string(&out));
        ns_json_end(&j);
        put_range(&j, d->text, begin, begin + length);
        ns_json_end(&j);
    } else {
        ns_json_literal(&j, "result", "null");
    }
    ns_json_end(&j);
    send(s, &j);
}

static void definition(server *s, const ns_lsp_tree *m)
{
    const document *d = find(s, ns_lsp_tree_text(m, "params.textDocument.uri"));
    ns_json j = answer(s, m);
    size_t begin, length;
    ns_span place;
    const char *kind;
    if (d && d->good &&
        word_at(d->text, offset_of(d->text, ns_lsp_tree_at(m, "params.position")), &begin,
                &length) &&
        ns_description_place(d->good->description, d->text + begin, length, &place, &kind)) {
        ns_json_object(&j, "result");
        ns_json_text(&j, "uri", d->uri);
        put_range(&j, d->text, place.begin, place.end);
        ns_json_end(&j);
    } else {
        ns_json_literal(&j, "result", "null");
    }
    ns_json_end(&j);
    send(s, &j);
}

/* Kinds of the protocol. */
enum { FUNCTION = 3, VARIABLE = 6, UNIT = 11, KEYWORD = 14 };

static void put_item(ns_json *j, const char *label, int kind, const char *detail)
{
    ns_json_object(j, NULL);
    ns_json_text(j, "label", label);
    ns_json_number(j, "kind", kind);
    ns_json_text(j, "detail", detail && *detail ? detail : NULL);
    ns_json_end(j);
}

static void put_words(ns_json *j)
{
    for (const ns_statement *st = ns_statements; st->keyword; st++)
        put_item(j, st->keyword, KEYWORD, st->help);
    for (const ns_block_form *const *b = ns_blocks; *b; b++)
        put_item(j, (*b)->keyword, KEYWORD, (*b)->help);
    for (int op = 0; op < NS_OP_COUNT; op++)
        if (ns_ops[op].name && ns_ops_find(ns_ops[op].name) == (ns_op)op)
            put_item(j, ns_ops[op].name, FUNCTION, NULL);
    for (const ns_builtin *b = ns_builtins; b->name; b++)
        put_item(j, b->name, FUNCTION, b->help);
    for (const ns_unit *u = ns_units; u->name; u++)
        put_item(j, u->name, UNIT, u->help);
}

static void completion(server *s, const ns_lsp_tree *m)
{
    const document *d = find(s, ns_lsp_tree_text(m, "params.textDocument.uri"));
    ns_json j = answer(s, m);
    ns_json_array(&j, "result");
    put_words(&j);
    if (d && d->good) {
        const ns_description *of = d->good->description;
        const ns_system *system = d->good->system;
        for (uint32_t i = 0; i < of->params.n; i++)
            put_item(&j, of->params.at[i].name, VARIABLE, of->params.at[i].unit);
        for (uint32_t i = 0; i < system->observables.n; i++)
            put_item(&j, system->observables.at[i].name, VARIABLE,
                     system->observables.at[i].unit);
    }
    ns_json_end(&j);
    ns_json_end(&j);
    send(s, &j);
}

static void formatting(server *s, const ns_lsp_tree *m)
{
    const document *d = find(s, ns_lsp_tree_text(m, "params.textDocument.uri"));
    ns_json j = answer(s, m);
    ns_text out = ns_text_new(s->arena);
    ns_json_array(&j, "result");
    if (d && (is_claim(d) ? ns_claim_format : ns_format_text)(d->text, strlen(d->text), &out) &&
        strcmp(ns_text_string(&out), d->text) != 0) {
        ns_json_object(&j, NULL);
        put_range(&j, d->text, 0, strlen(d->text));
        ns_json_text(&j, "newText", ns_text_string(&out));
        ns_json_end(&j);
    }
    ns_json_end(&j);
    ns_json_end(&j);
    send(s, &j);
}

static void initialize(server *s, const ns_lsp_tree *m)
{
    ns_json j = answer(s, m);
    ns_json_object(&j, "result");
    ns_json_object(&j, "capabilities");
    ns_json_number(&j, "textDocumentSync", 1); /* whole texts */
    ns_json_bool(&j, "hoverProvider", true);
    ns_json_bool(&j, "definitionProvider", true);
    ns_json_bool(&j, "documentFormattingProvider", true);
    ns_json_object(&j, "completionProvider");
    ns_json_end(&j);
    ns_json_end(&j);
    ns_json_object(&j, "serverInfo");
    ns_json_text(&j, "name", "noslip");
    ns_json_text(&j, "version", ns_version());
    ns_json_end(&j);
    ns_json_end(&j);
    ns_json_end(&j);
    send(s, &j);
}

static void nothing(server *s, const ns_lsp_tree *m)
{
    ns_json j = answer(s, m);
    ns_json_literal(&j, "result", "null");
    ns_json_end(&j);
    send(s, &j);
}

static void shut_down(server *s, const ns_lsp_tree *m)
{
    s->ended = true;
    nothing(s, m);
}

static void unknown(server *s, const ns_lsp_tree *m)
{
    if (!ns_lsp_tree_at(m, "id"))
        return; /* notifications need no answer */
    ns_json j = answer(s, m);
    ns_json_object(&j, "error");
    ns_json_number(&j, "code", -32601);
    ns_json_text(&j, "message", "the method is not known");
    ns_json_end(&j);
    ns_json_end(&j);
    send(s, &j);
}

static void handle(server *s, const ns_lsp_tree *m)
{
    static const struct {
        const char *method;
        void (*run)(server *s, const ns_lsp_tree *m);
    } table[] = {
        {"initialize", initialize},
        {"shutdown", shut_down},
        {"textDocument/didOpen", open_document},
        {"textDocument/didChange", change_document},
        {"textDocument/didClose", close_document},
        {"textDocument/hover", hover},
        {"textDocument/definition", definition},
        {"textDocument/completion", completion},
        {"textDocument/formatting", formatting},
    };
    const char *method = ns_lsp_tree_text(m, "method");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].method, method) == 0) {
            table[i].run(s, m);
            return;
        }
    unknown(s, m);
}

/* One message; true if it asks for the end.  Memory that runs out costs an answer, no more. */
static bool take(server *s, const char *body, size_t length)
{
    volatile bool asked = false;
    s->arena = ns_arena_new();
    if (s->arena && !NS_ARENA_GUARD(s->arena)) {
        const ns_lsp_tree *m = ns_lsp_tree_read(s->arena, body, length);
        asked = m && strcmp(ns_lsp_tree_text(m, "method"), "exit") == 0;
        if (m && !asked)
            handle(s, m);
    }
    ns_arena_free(s->arena);
    return asked;
}

int ns_lsp_serve(ns_host *host, FILE *in)
{
    server s = {.host = host};
    size_t length;
    bool asked = false;
    for (char *body; !asked && (body = receive(in, &length)); free(body))
        asked = take(&s, body, length);
    while (s.documents) {
        document *gone = s.documents;
        s.documents = gone->next;
        forget_models(gone);
        free(gone->text);
        free(gone->uri);
        free(gone);
    }
    return s.ended ? 0 : 1;
}

static int serve(ns_host *host, const ns_arguments *a)
{
    (void)a;
    return ns_lsp_serve(host, stdin);
}

const ns_command ns_command_lsp = {
    .name = "lsp",
    .summary = "Language server for editors, on standard input and output",
    .usage = "",
    .doc = "Errors while typing, hover with value and unit, go to definition, completion and\n"
           "formatting, by the Language Server Protocol 3.17.  Tell your editor to start\n"
           "`noslip lsp` for files that end in .mech (models) or .claim (claims).",
    .least = 0,
    .most = 0,
    .run = serve,
};
