/* The language, by tables of text: the files of tests/lang.
 *
 * A case is a model followed by expectations:
 *
 *     == what is tested
 *     coordinate x
 *     lagrangian x'^2
 *     -- x' + x' -> 2*x'                   both are the same node in the model's scope
 *     -- x + [1, 2] -> error 3: ...        the column and the message
 *     -- lagrangian = x'^2                 a line of the description (see list_all)
 *     -- error 2:12: undefined name 'z'    all messages, no more and no fewer
 *     -- note 1:12: ...
 *     -- set a = 2 cm                      a --set option
 *     -- define S.position = [x, 0, 0]     a name that a formulation defines early
 *     -- entry energy = x'^2               or at the end
 *
 * A case without `error` must be free of errors. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "expr/print/print.h"
#include "lang/description.h"
#include "lang/dimension/agree.h"
#include "session/settings.h"

enum { MOST_LINES = 64 };

typedef struct expectation {
    const char *text; /* behind "-- " */
    unsigned line;
    bool met;
} expectation;

typedef struct table_case {
    const char *file, *title;
    unsigned line;
    char *model;
    size_t length;
    expectation expect[MOST_LINES];
    size_t n;
} table_case;

/* ---- listing ----------------------------------------------------------------------------- */

/* The description as lines: a head in words, and what is written behind it. */
typedef struct listing {
    const ns_description *d;
    NS_LIST(struct line {
        const char *head;
        const ns_value *value; /* NULL if there is none */
    })
    lines;
} listing;

static void add(listing *l, const ns_value *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(listing *l, const ns_value *value, const char *format, ...)
{
    ns_text text = ns_text_new(l->d->arena);
    va_list list;
    va_start(list, format);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    NS_PUSH(l->d->arena, l->lines, (struct line){ns_text_string(&text), value});
}

static const ns_value *scalar(const listing *l, const ns_ex *e)
{
    ns_value value = {.rows = 1, .cols = 1, .at = e};
    return *e ? ns_arena_copy(l->d->arena, &value, sizeof value) : NULL;
}

/* " [m]", or nothing */
static const char *unit_text(const listing *l, const char *unit)
{
    return *unit ? ns_arena_format(l->d->arena, " [%s]", unit) : "";
}

static void list_block(listing *l, const ns_block *block)
{
    const char *kind = block->kind ? block->kind : "";
    add(l, NULL, "%s%s%s%s%s", block->form->keyword, block->name ? " " : "",
        block->name ? block->name : "", *kind ? ": " : "", kind);
    for (uint32_t i = 0; i < block->nargs; i++)
        if (block->arg_words[i])
            add(l, NULL, "%s(%u) %s", kind, i + 1, block->arg_words[i]);
        else
            add(l, &block->args[i], "%s(%u)", kind, i + 1);
    for (uint32_t i = 0; i < block->properties.n; i++) {
        const ns_property *p = &block->properties.at[i];
        const char *name = ns_arena_format(l->d->arena, "%s.%s%s%s%s",
                                           block->name ? block->name : block->form->keyword,
                                           p->name,
                                           p->guess      ? " guess"
                                           : p->assigned ? " assigned"
                                                         : "",
                                           p->word ? " " : "", p->word ? p->word : "");
        if (!p->values)
            add(l, NULL, "%s", name);
        for (uint32_t k = 0; k < p->values; k++)
            add(l, &p->value[k], p->values > 1 ? "%s(%u)" : "%s", name, k + 1);
    }
}

static void list_late(listing *l)
{
    static const char *const actions[] = {"record", "stop", "warn", "singular"};
    static const char *const directions[] = {"falling", "both", "rising"};
    const ns_description *d = l->d;
    for (uint32_t i = 0; i < d->observes.n; i++)
        add(l, scalar(l, &d->observes.at[i].value), "observe %s%s", d->observes.at[i].name,
            unit_text(l, d->observes.at[i].unit));
    for (uint32_t i = 0; i < d->invariants.n; i++)
        add(l, scalar(l, &d->invariants.at[i].value), "invariant %s", d->invariants.at[i].name);
    for (uint32_t i = 0; i < d->events.n; i++) {
        const ns_event_line *e = &d->events.at[i];
        add(l, scalar(l, &e->value), "event %s %s %s%s%s", e->name,
            directions[e->direction + 1], actions[e->action], e->meaning ? " " : "",
            e->meaning ? e->meaning : "");
    }
}

static void list_all(listing *l)
{
    const ns_description *d = l->d;
    add(l, NULL, "title %s", d->title);
    if (d->formulation)
        add(l, NULL, "formulation %s", d->formulation);
    for (uint32_t i = 0; i < d->params.n; i++)
        add(l, scalar(l, &d->params.at[i].value), "param %s%s%s", d->params.at[i].name,
            unit_text(l, d->params.at[i].unit), d->params.at[i].set ? " set" : "");
    for (uint32_t i = 0; i < d->coordinates.n; i++)
        add(l, NULL, "coordinate %s%s", d->coordinates.at[i].name,
            unit_text(l, d->coordinates.at[i].unit));
    for (uint32_t i = 0; i < d->states.n; i++)
        add(l, scalar(l, &d->states.at[i].derivative), "state %s%s", d->states.at[i].name,
            unit_text(l, d->states.at[i].unit));
    add(l, scalar(l, &d->lagrangian), "lagrangian");
    for (uint32_t i = 0; i < d->constraints.n; i++)
        add(l, scalar(l, &d->constraints.at[i].residual), "constraint %s",
            d->constraints.at[i].name);
    for (uint32_t i = 0; i < d->forces.n; i++)
        add(l, scalar(l, &d->forces.at[i].value), "force %s",
            d->coordinates.at[d->forces.at[i].coordinate].name);
    for (uint32_t i = 0; i < d->starts.n; i++)
        add(l, scalar(l, &d->starts.at[i].value), "start %s%s",
            ns_graph_symbol(d->graph, d->starts.at[i].symbol)->name,
            d->starts.at[i].guess ? " guess" : "");
    for (uint32_t i = 0; i < d->settings.n; i++)
        add(l, scalar(l, &d->settings.at[i].value), "setting %s%s%s",
            d->settings.at[i].form->name, d->settings.at[i].word ? " " : "",
            d->settings.at[i].word ? d->settings.at[i].word : "");
    for (uint32_t i = 0; i < d->functions.n; i++)
        add(l, NULL, "%s %s of %u", d->functions.at[i].surface ? "surface" : "function",
            d->functions.at[i].name, d->functions.at[i].arity);
    for (uint32_t i = 0; i < d->blocks.n; i++)
        list_block(l, &d->blocks.at[i]);
    list_late(l);
}

/* ---- running a case ---------------------------------------------------------------------- */

static void complain(const table_case *c, unsigned line, const char *expected,
                     const char *found)
{
    print_error("%s:%u: %s\n  expected: %s\n  found:    %s\n", c->file, line, c->title,
                expected, found);
}

/* Text behind a word at the beginning of an expectation, or NULL. */
static const char *behind(const char *text, const char *word)
{
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && text[n] == ' ' ? text + n + 1 : NULL;
}

/* "NAME = EXPR" of set, define and entry. */
static char *split(ns_arena *arena, const char *text, const char **expression)
{
    const char *equals = strstr(text, " = ");
    assert_non_null(equals);
    *expression = equals + 3;
    return ns_arena_string(arena, text, (size_t)(equals - text));
}

static bool entries(ns_description *d, const table_case *c, const char *word,
                    ns_scope_entry *entry, uint32_t *n)
{
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const char *text = behind(c->expect[i].text, word), *expression;
        if (!text)
            continue;
        entry[*n].name = split(d->arena, text, &expression);
        if (!ns_description_evaluate(d, word, expression, &entry[*n].value))
            return false;
        ++*n;
    }
    return true;
}

static ns_description *read_case(ns_arena *arena, ns_diag *diag, const table_case *c)
{
    ns_override overrides[MOST_LINES];
    ns_scope_entry entry[MOST_LINES] = {0};
    size_t n_overrides = 0;
    uint32_t n;
    for (size_t i = 0; i < c->n; i++) {
        const char *text = behind(c->expect[i].text, "set");
        if (text) {
            overrides[n_overrides].name = split(arena, text,
                                                &overrides[n_overrides].expression);
            n_overrides++;
        }
    }
    ns_description *d = ns_description_read(arena, diag, &ns_settings_grammar, "m", c->model,
                                            c->length, overrides, n_overrides);
    if (!d || !entries(d, c, "define", entry, &n) ||
        (n && !ns_description_define(d, entry, n)) || !entries(d, c, "entry", entry, &n) ||
        !ns_description_finish(d, entry, n))
        return NULL;
    ns_agree_check(d);
    return d;
}

static int check_messages(const ns_diag *diag, table_case *c)
{
    static const char *const severity[] = {
        [NS_NOTE] = "note", [NS_WARNING] = "warning", [NS_ERROR] = "error"};
    int bad = 0;
    for (uint32_t i = 0; i < diag->messages.n; i++) {
        const ns_message *m = &diag->messages.at[i];
        if (m->code && strcmp(m->code, "unused") == 0)
            continue; /* small models have parameters that nothing uses: see test_learn.sh */
        unsigned line, column;
        ns_diag_position(diag, m->span, &line, &column);
        const char *source = diag->sources.at[m->span.source - 1].name;
        char *text = ns_arena_format(diag->arena, "%s %s%s%u:%u: %s", severity[m->severity],
                                     strcmp(source, "m") ? source : "",
                                     strcmp(source, "m") ? ":" : "", line, column, m->text);
        bool met = false;
        for (size_t k = 0; k < c->n && !met; k++)
            if (!c->expect[k].met && strcmp(c->expect[k].text, text) == 0)
                met = c->expect[k].met = true;
        if (!met) {
            complain(c, c->line, "no such message", text);
            bad++;
        }
    }
    return bad;
}

static const char *text_of(const ns_description *d, const ns_value *value)
{
    ns_text out = ns_text_new(d->arena);
    for (uint32_t i = 0; i < value->rows * value->cols; i++) {
        ns_text_add(&out, i ? ", " : "");
        ns_print_text(d->graph, value->at[i], &out);
    }
    return ns_text_addf(&out, " (%u x %u)", value->rows, value->cols), ns_text_string(&out);
}

/* The value of an expression, or NULL and what was said about it. */
static const ns_value *value_of(ns_description *d, const char *input, const char **error)
{
    ns_value value;
    uint32_t before = d->diag->messages.n;
    if (ns_description_evaluate(d, "x", input, &value))
        return ns_arena_copy(d->arena, &value, sizeof value);
    *error = "no message";
    if (d->diag->messages.n > before) {
        const ns_message *m = &d->diag->messages.at[before];
        unsigned line, column;
        ns_diag_position(d->diag, m->span, &line, &column);
        *error = ns_arena_format(d->arena, "error %u: %s", column, m->text);
    }
    return NULL;
}

/* Is it what the expression `expected` stands for? */
static int check_value(ns_description *d, const table_case *c, const expectation *e,
                       const char *expected, const ns_value *found)
{
    const char *error;
    const ns_value *value = value_of(d, expected, &error);
    if (!value) {
        complain(c, e->line, expected, error);
        return 1;
    }
    if (value->rows == found->rows && value->cols == found->cols &&
        memcmp(value->at, found->at, value->rows * value->cols * sizeof *value->at) == 0)
        return 0;
    complain(c, e->line, text_of(d, value), text_of(d, found));
    return 1;
}

/* "EXPR -> EXPR" or "EXPR -> error ..." */
static int check_expression(ns_description *d, const table_case *c, const expectation *e)
{
    const char *arrow = strstr(e->text, " -> "), *error;
    const ns_value *value = value_of(
        d, ns_arena_string(d->arena, e->text, (size_t)(arrow - e->text)), &error);
    if (value)
        return check_value(d, c, e, arrow + 4, value);
    if (strcmp(arrow + 4, error) == 0)
        return 0;
    complain(c, e->line, arrow + 4, error);
    return 1;
}

/* "HEAD" or "HEAD = EXPR" */
static int check_line(ns_description *d, const table_case *c, const expectation *e,
                      const listing *l)
{
    const char *equals = strstr(e->text, " = ");
    size_t n = equals ? (size_t)(equals - e->text) : strlen(e->text);
    for (uint32_t i = 0; i < l->lines.n; i++) {
        const struct line *line = &l->lines.at[i];
        if (strlen(line->head) == n && strncmp(line->head, e->text, n) == 0 &&
            !line->value == !equals)
            return equals ? check_value(d, c, e, equals + 3, line->value) : 0;
    }
    ns_text all = ns_text_new(d->arena);
    for (uint32_t i = 0; i < l->lines.n; i++)
        ns_text_addf(&all, "%s; ", l->lines.at[i].head);
    complain(c, e->line, e->text, ns_text_string(&all));
    return 1;
}

static int run_case(table_case *c)
{
    ns_arena *arena = ns_arena_new();
    ns_diag *diag = ns_diag_new(arena);
    ns_description *d = read_case(arena, diag, c);
    int bad = check_messages(diag, c);
    listing all = {.d = d};
    if (d)
        list_all(&all);
    for (size_t i = 0; i < c->n; i++) {
        const expectation *e = &c->expect[i];
        bool message = behind(e->text, "error") || behind(e->text, "warning") ||
                       behind(e->text, "note");
        if (behind(e->text, "set") || behind(e->text, "define") || behind(e->text, "entry"))
            continue;
        if (message && !e->met) {
            complain(c, e->line, e->text, "no such message");
            bad++;
        } else if (!message && !d) {
            complain(c, e->line, e->text, "the model has errors");
            bad++;
        } else if (!message && strstr(e->text, " -> ")) {
            bad += check_expression(d, c, e);
        } else if (!message) {
            bad += check_line(d, c, e, &all);
        }
    }
    ns_arena_free(arena);
    return bad;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* Runs all cases of a table; how many failed. */
static int run_table(const char *path, const char *name, int *cases)
{
    char *text;
    size_t length;
    assert_int_equal(ns_file_read(path, 1 << 24, &text, &length), 0);
    char *line = text;
    table_case c = {0};
    unsigned number = 0;
    int failed = 0;
    while (line) {
        char *next = strchr(line, '\n');
        bool end = !next || !next[1];
        if (next)
            *next++ = 0;
        number++;
        if (strncmp(line, "== ", 3) == 0) {
            if (c.title)
                failed += run_case(&c) ? 1 : 0;
            c = (table_case){.file = name, .title = line + 3, .line = number, .model = next};
            ++*cases;
        } else if (strncmp(line, "-- ", 3) == 0 && c.title) {
            assert_true(c.n < MOST_LINES);
            c.expect[c.n++] = (expectation){.text = line + 3, .line = number};
        } else if (c.title && c.n == 0) {
            if (next)
                next[-1] = '\n';
            c.length = (size_t)((next ? next : line + strlen(line)) - c.model);
        }
        line = end ? NULL : next;
    }
    if (c.title)
        failed += run_case(&c) ? 1 : 0;
    free(text);
    return failed;
}

static void test_tables(void **state)
{
    (void)state;
    DIR *folder = opendir(NS_TESTS_DIR "/lang");
    assert_non_null(folder);
    int failed = 0, cases = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t n = strlen(entry->d_name);
        if (n < 4 || strcmp(entry->d_name + n - 4, ".txt") != 0)
            continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/lang/%s", NS_TESTS_DIR, entry->d_name);
        failed += run_table(path, entry->d_name, &cases);
    }
    closedir(folder);
    assert_true(cases > 60);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
