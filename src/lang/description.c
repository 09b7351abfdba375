/* Reading a model: text -> names and jobs -> description. */
#include "lang/description.h"

#include <string.h>

#include "base/check.h"
#include "base/near.h"
#include "lang/reader.h"
#include "lang/syntax/lexer.h"

const char *ns_reader_text(const ns_reader *r, ns_span span)
{
    return r->diag->sources.at[span.source - 1].text + span.begin;
}

static void add_builtin(ns_reader *r, const char *text, ns_ex value)
{
    ns_name *name = ns_scope_add(r->arena, &r->scope, text, strlen(text), NS_NAME_BUILTIN,
                                 (ns_span){0});
    ns_cell cell = ns_arithmetic_scalar(value);
    name->value = ns_arithmetic_value(r, &cell);
}

/* "it has: a, b, m", of those that fit a line */
static const char *parameters(ns_reader *r)
{
    enum { MOST = 20 };
    const uint32_t n = r->d->params.n;
    ns_text text = ns_text_new(r->arena);
    ns_text_add(&text, n ? "it has: " : "it has none");
    for (uint32_t i = 0; i < n && i < MOST; i++)
        ns_text_addf(&text, "%s%s", i ? ", " : "", r->d->params.at[i].name);
    ns_text_add(&text, n > MOST ? ", ..." : "");
    return ns_text_string(&text);
}

static void check_overrides(ns_reader *r)
{
    for (size_t i = 0; i < r->n_overrides; i++) {
        const char *text = r->overrides[i].name;
        const ns_name *name = ns_scope_find(&r->scope, text, strlen(text));
        bool known = name && name->kind == NS_NAME_PARAM;
        for (uint32_t k = 0; k < r->d->inputs.n; k++)
            known = known || strcmp(r->d->inputs.at[k].name, text) == 0;
        if (known)
            continue;
        const char *expression = r->overrides[i].expression;
        size_t length = strlen(expression);
        ns_span span = {
            .source = ns_diag_source(r->diag, ns_arena_format(r->arena, "--set %s", text),
                                     ns_arena_string(r->arena, expression, length), length)};
        ns_near near = {.word = text};
        for (uint32_t k = 0; k < r->d->params.n; k++)
            ns_near_try(&near, r->d->params.at[k].name);
        if (name)
            ns_diag_error(r->diag, span, "`%s` is %s; only parameters can be set", text,
                          ns_scope_kind_text(name->kind));
        else if (near.found)
            ns_diag_error(r->diag, span, "the model has no parameter `%s`; did you mean `%s`?",
                          text, near.found);
        else
            ns_diag_error(r->diag, span, "the model has no parameter `%s`; %s", text,
                          parameters(r));
    }
}

static ns_reader *reader_new(ns_description *d)
{
    ns_reader *r = NS_NEW(d->arena, ns_reader);
    r->d = d;
    r->arena = d->arena;
    r->g = d->graph;
    r->diag = d->diag;
    ns_scope *const scopes[] = {&r->scope,    &r->reported,   &r->constraints,
                                &r->observes, &r->invariants, &r->events,
                                &r->settings, &r->starts,     &r->modes};
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        *scopes[i] = ns_scope_new(d->arena);
    d->time = ns_symbol_new(d->graph, "t", NS_SYM_TIME, 0);
    add_builtin(r, "t", d->time);
    add_builtin(r, "pi", ns_pi(d->graph));
    return r;
}

static ns_description *description_new(ns_arena *arena, ns_diag *diag)
{
    ns_description *d = NS_NEW(arena, ns_description);
    d->arena = arena;
    d->diag = diag;
    d->graph = ns_graph_new(arena);
    return d;
}

static ns_description *read_text(ns_description *d, const ns_grammar *grammar, const char *file,
                                 const char *text, size_t length, const ns_override *overrides,
                                 size_t n_overrides)
{
    ns_arena *arena = d->arena;
    ns_diag *diag = d->diag;
    uint32_t errors = diag->errors;
    d->file = ns_arena_string(arena, file, strlen(file));
    d->text = text;
    d->whole.source = ns_diag_source(diag, file, text, length);
    if (!ns_lexer_check(diag, d->whole.source, text, length))
        return NULL;
    ns_reader *r = reader_new(d);
    d->reader = r;
    r->grammar = grammar;
    r->source = d->whole.source;
    r->overrides = overrides;
    r->n_overrides = n_overrides;
    ns_statements_parse(r, text, length);
    ns_jumps_modes(r);
    ns_jumps_start(r);
    check_overrides(r);
    ns_elaborate_jobs(r);
    r->overrides = NULL; /* the caller's */
    r->n_overrides = 0;
    if (!d->title)
        d->title = d->file;
    return diag->errors == errors ? d : NULL;
}

ns_description *ns_description_read(ns_arena *arena, ns_diag *diag, const ns_grammar *grammar,
                                    const char *file, const char *text, size_t length,
                                    const ns_override *overrides, size_t n_overrides)
{
    return read_text(description_new(arena, diag), grammar, file, text, length, overrides,
                     n_overrides);
}

ns_description *ns_description_read_shaken(ns_arena *arena, ns_diag *diag,
                                           const ns_grammar *grammar, const char *file,
                                           const char *text, size_t length,
                                           const ns_override *overrides, size_t n_overrides)
{
    ns_description *d = description_new(arena, diag);
    ns_graph_shake(d->graph);
    return read_text(d, grammar, file, text, length, overrides, n_overrides);
}

/* Entries become names; definitions that lacked one get another chance. */
static void add_entries(ns_reader *r, const ns_scope_entry *entries, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i].rate_of) {
            NS_PUSH(r->arena, r->rates, entries[i]);
            continue;
        }
        size_t length = strlen(entries[i].name);
        ns_name *name = ns_scope_find(&r->scope, entries[i].name, length);
        if (!name)
            name = ns_scope_add(r->arena, &r->scope, entries[i].name, length, NS_NAME_ENTRY,
                                (ns_span){0});
        if (name->kind != NS_NAME_ENTRY && name->kind != NS_NAME_BLOCK)
            continue;
        name->kind = NS_NAME_ENTRY;
        name->unit = entries[i].unit;
        name->axes = entries[i].axes;
        name->value = entries[i].value;
        name->value.at = ns_arena_copy(r->arena, entries[i].value.at,
                                       (size_t)name->value.rows * name->value.cols *
                                           sizeof *name->value.at);
    }
    for (uint32_t i = 0; i < r->scope.names.n; i++)
        if (r->scope.names.at[i]->progress == NS_READ_LATE)
            r->scope.names.at[i]->progress = NS_READ_WAITING;
}

bool ns_description_offer(ns_description *d, const ns_scope_entry *entries, uint32_t n)
{
    uint32_t errors = d->diag->errors;
    add_entries(d->reader, entries, n);
    ns_elaborate_jobs(d->reader);
    return d->diag->errors == errors;
}

bool ns_description_define(ns_description *d, const ns_scope_entry *entries, uint32_t n)
{
    uint32_t errors = d->diag->errors;
    ns_reader *r = d->reader;
    add_entries(r, entries, n);
    r->defined = true;
    ns_elaborate_jobs(r);
    return d->diag->errors == errors;
}

bool ns_description_awaits_reactions(const ns_description *d)
{
    const ns_reader *r = d->reader;
    for (uint32_t i = 0; i < r->jobs.n; i++) {
        const ns_job *job = &r->jobs.at[i];
        if ((job->kind == NS_JOB_FORCE || job->kind == NS_JOB_PROPERTY) &&
            job->progress == NS_READ_LATE && job->missing.source &&
            ns_scope_is_reaction(ns_reader_text(r, job->missing),
                                 job->missing.end - job->missing.begin))
            return true;
    }
    return false;
}

bool ns_description_reactions(ns_description *d, const ns_scope_entry *entries, uint32_t n)
{
    d->reader->reactions = true;
    return ns_description_offer(d, entries, n);
}

/* Lines about the finished system, like observe. */
static bool waits_for_system(const ns_reader *r, const ns_job *job)
{
    if (job->kind != NS_JOB_PROPERTY)
        return false;
    const ns_block *block = &r->d->blocks.at[job->block];
    const char *late = block->form->late;
    return late && block->kind && strcmp(block->kind, late) == 0;
}

/* A parameter that nothing mentions may be a slip: what was meant has another name. */
static void note_unused(ns_reader *r)
{
    for (uint32_t i = 0; i < r->scope.names.n; i++) {
        const ns_name *name = r->scope.names.at[i];
        if (name->kind == NS_NAME_PARAM && !name->used && !r->diag->errors)
            ns_diag_note(r->diag, name->span, "the parameter `%s` is not used", name->text);
    }
}

bool ns_description_finish(ns_description *d, const ns_scope_entry *entries, uint32_t n)
{
    uint32_t errors = d->diag->errors;
    ns_reader *r = d->reader;
    /* What the formulation did not define before it derived the equations came too late. */
    for (uint32_t i = 0; i < r->jobs.n; i++) {
        const ns_job *job = &r->jobs.at[i];
        if (job->progress == NS_READ_LATE && job->kind < NS_JOB_OBSERVE &&
            job->kind != NS_JOB_LET && job->missing.source && !waits_for_system(r, job))
            ns_scope_undefined(r, job->missing, false);
    }
    if (d->diag->errors != errors)
        return false;
    add_entries(r, entries, n);
    r->defined = r->finishing = true;
    ns_elaborate_jobs(r);
    note_unused(r);
    return d->diag->errors == errors;
}

/* The end of an evaluation that was asked for now: what is missing is an error. */
static bool complete(ns_reader *r, ns_evaluated outcome)
{
    if (outcome.progress == NS_READ_LATE)
        ns_scope_undefined(r, outcome.missing, false);
    return outcome.progress == NS_READ_DONE;
}

bool ns_description_evaluate(ns_description *d, const char *name, const char *text,
                             ns_value *out)
{
    ns_reader *r = d->reader;
    NS_CHECK(r->d == d); /* forks only look names up */
    size_t length = strlen(text);
    const char *copy = ns_arena_string(d->arena, text, length);
    uint32_t source = ns_diag_source(d->diag, name, copy, length);
    ns_postfix code;
    r->strict = true;
    if (!ns_parser_expression_text(r, source, copy, length, &code))
        return false;
    return complete(r, ns_evaluate_code(r, &code, out));
}

bool ns_description_call(ns_description *d, const char *function, const ns_ex *args, uint32_t n,
                         ns_span place, ns_value *out)
{
    ns_reader *r = d->reader;
    ns_name *name = ns_scope_find(&r->scope, function, strlen(function));
    if (!name || name->kind != NS_NAME_FUNCTION) {
        ns_diag_error(d->diag, place, "the model has no function `%s`", function);
        return false;
    }
    ns_cell *cells = NS_NEW_ARRAY(d->arena, ns_cell, n), value;
    r->strict = true;
    for (uint32_t i = 0; i < n; i++)
        cells[i] = ns_arithmetic_scalar(args[i]);
    if (!complete(r, ns_evaluate_call(r, name, place, cells, n, false, &value)))
        return false;
    *out = ns_arithmetic_value(r, &value);
    return true;
}

uint64_t ns_description_tables(const ns_description *d)
{
    return d->reader->tables;
}

const char *ns_description_nearest(const ns_description *d, const char *name)
{
    return ns_scope_nearest(&d->reader->scope, name);
}

ns_ex ns_description_param(ns_description *d, const char *name, const char *unit)
{
    ns_name *found = ns_scope_find(&d->reader->scope, name, strlen(name));
    if (!found || found->kind != NS_NAME_PARAM)
        return 0;
    found->used = true;
    found->unit = unit;
    return d->params.at[found->index].symbol;
}

bool ns_description_place(const ns_description *d, const char *name, size_t length,
                          ns_span *place, const char **kind)
{
    for (;;) {
        const ns_name *found = ns_scope_find(&d->reader->scope, name, length);
        if (found && found->span.source) {
            *place = found->span;
            *kind = ns_scope_kind_text(found->kind);
            return true;
        }
        for (uint32_t i = 0; i < d->blocks.n; i++) {
            const ns_block *b = &d->blocks.at[i];
            if (b->name && strlen(b->name) == length && memcmp(b->name, name, length) == 0) {
                *place = b->name_span;
                *kind = b->form->keyword;
                return true;
            }
        }
        while (length && name[length - 1] != '.')
            length--;
        if (!length)
            return false;
        length--;
    }
}
