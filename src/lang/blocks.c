/* Statements with braces: start, run, and the generic blocks of formulations. */
#include "lang/blocks.h"

#include <string.h>

#include "base/near.h"

const ns_block_form ns_block_start = {.keyword = "start"};
const ns_block_form ns_block_force = {.keyword = "force"};
const ns_block_form ns_block_constraint = {.keyword = "constraint"};

static uint32_t add_block(ns_reader *r, const ns_block_form *form, ns_span span)
{
    NS_PUSH(r->arena, r->d->blocks, (ns_block){.form = form, .span = span});
    return r->d->blocks.n - 1;
}

uint32_t ns_blocks_find(ns_reader *r, uint32_t *number, const ns_block_form *form, ns_span span)
{
    if (!*number)
        *number = add_block(r, form, span) + 1;
    return *number - 1;
}

static ns_block *block_at(ns_parser *p, uint32_t block)
{
    return &p->r->d->blocks.at[block];
}

/* Adds a property and the job that will fill it. */
static ns_job *add_property(ns_parser *p, uint32_t block, const char *name, ns_span span,
                            ns_span value_span, const ns_postfix *code, uint32_t n)
{
    ns_block *b = block_at(p, block);
    NS_PUSH(p->r->arena, b->properties,
            (ns_property){.name = name, .span = span, .value_span = value_span});
    ns_job *job = ns_statements_job(p, NS_JOB_PROPERTY, name, span, code, n);
    job->block = block;
    job->property = b->properties.n - 1;
    return job;
}

/* "text" as the value of a property or setting, or one of the words that elsewhere end an
 * expression: liftoff stop */
const char *ns_blocks_text(ns_parser *p)
{
    ns_token token = p->token;
    if (ns_parser_at(p, NS_TOKEN_NAME) &&
        ns_lexer_reserved(p->lexer.text + token.begin, token.end - token.begin)) {
        const char *word = ns_parser_token_text(p);
        ns_parser_next(p);
        return word;
    }
    if (!ns_parser_accept(p, NS_TOKEN_STRING))
        return NULL;
    return ns_arena_string(p->r->arena, p->lexer.text + token.begin + 1,
                           token.end - token.begin - 2);
}

/* VALUE, VALUE, ...; may be none */
static bool values(ns_parser *p, const ns_postfix **codes, uint32_t *n)
{
    NS_LIST(ns_postfix) list = {0};
    ns_postfix code;
    if (!ns_parser_at_end(p))
        do {
            if (!ns_parser_expression(p, &code))
                return false;
            NS_PUSH(p->r->arena, list, code);
        } while (ns_parser_accept(p, ','));
    *codes = list.at;
    *n = list.n;
    return true;
}

bool ns_blocks_body(ns_parser *p, bool (*entry)(ns_parser *p, uint32_t block), uint32_t block)
{
    ns_span open = ns_parser_span(p);
    if (!ns_parser_expect(p, '{', "`{`"))
        return false;
    for (;;) {
        if (ns_parser_accept(p, NS_TOKEN_LINE) || ns_parser_accept(p, ';'))
            continue;
        if (ns_parser_at(p, '}'))
            break;
        const ns_statement *next = ns_parser_at(p, NS_TOKEN_NAME) && p->token.first
                                       ? ns_statements_find(p->lexer.text + p->token.begin,
                                                            p->token.end - p->token.begin)
                                       : NULL;
        if (ns_parser_at(p, NS_TOKEN_END) || (next && next->opens) ||
            p->r->diag->errors > NS_STATEMENTS_MOST_ERRORS) {
            ns_parser_unexpected(p, "`}`");
            ns_diag_note(p->r->diag, open, "the block was opened here");
            return false;
        }
        uint32_t begin = p->token.begin;
        bool good = entry(p, block);
        if (good && !ns_parser_at_end(p))
            good = ns_parser_unexpected(p, "an operator, `;` or `}`");
        if (!good)
            ns_statements_recover(p, begin, true);
        if (!good && p->token.begin == begin) /* always forward */
            ns_parser_next(p);
    }
    ns_parser_next(p);
    return true;
}

/* NAME with its primes, as in x'' */
static const char *primed(ns_parser *p, const char *what, ns_span *span, uint32_t *primes)
{
    const char *name = ns_parser_name(p, what, span);
    *primes = 0;
    while (name && ns_parser_accept(p, '\'')) {
        ++*primes;
        span->end = p->before;
    }
    return name;
}

/* NAME = VALUE, NAME ~ VALUE, NAME VALUE, ... or NAME "text" */
static bool entry_property(ns_parser *p, uint32_t block)
{
    ns_span span, value_span;
    uint32_t primes, n;
    const ns_postfix *codes;
    const char *name = primed(p, "the name of a property", &span, &primes);
    if (!name)
        return false;
    if (primes)
        name = ns_arena_string(p->r->arena, p->lexer.text + span.begin, span.end - span.begin);
    bool guess = ns_parser_at(p, '~'), assigned = guess || ns_parser_at(p, '=');
    if (assigned)
        ns_parser_next(p);
    value_span = ns_parser_span(p);
    const char *text = ns_blocks_text(p);
    if (text) {
        codes = NULL;
        n = 0;
    } else if (!values(p, &codes, &n)) {
        return false;
    }
    if (assigned && !n && !text)
        return ns_parser_unexpected(p, "an expression");
    value_span.end = n || text ? p->before : value_span.begin;
    ns_job *job = add_property(p, block, name, span, value_span, codes, n);
    ns_property *property = &block_at(p, block)->properties.at[job->property];
    property->assigned = assigned;
    property->guess = guess;
    property->word = text;
    return true;
}

/* (VALUE, NAME = VALUE, ...) */
static bool arguments(ns_parser *p, uint32_t block)
{
    NS_LIST(ns_postfix) list = {0};
    ns_postfix code;
    do {
        ns_span span;
        const char *name = NULL;
        if (ns_parser_at(p, NS_TOKEN_NAME) && ns_parser_behind(p, "") == '=') {
            name = ns_parser_name(p, "a name", &span);
            if (!name)
                return false;
            ns_parser_next(p);
        }
        if (!ns_parser_expression(p, &code))
            return false;
        if (name) {
            ns_job *job = add_property(p, block, name, span, code.span, &code, 1);
            block_at(p, block)->properties.at[job->property].assigned = true;
        } else {
            NS_PUSH(p->r->arena, list, code);
        }
    } while (ns_parser_accept(p, ','));
    if (list.n)
        ns_statements_job(p, NS_JOB_BLOCK, block_at(p, block)->kind, list.at[0].span, list.at,
                          list.n)
            ->block = block;
    return ns_parser_expect(p, ')', "`)` or `,`");
}

/* KEYWORD [NAME] [KIND [(ARGUMENTS)]] */
static bool header(ns_parser *p, const ns_block_form *form, uint32_t block)
{
    ns_span span;
    const char *word = NULL;
    if (ns_parser_at(p, NS_TOKEN_NAME)) {
        word = ns_parser_name(p, "a name", &span);
        if (!word)
            return false;
    }
    bool lone = !ns_parser_at(p, NS_TOKEN_NAME);
    bool is_kind = lone && (form->kind == NS_PART_MUST ||
                            (ns_parser_at(p, '(') && form->kind != NS_PART_NO));
    bool is_name = word && form->name != NS_PART_NO && !is_kind;
    if (form->name == NS_PART_MUST && !is_name)
        return ns_parser_unexpected(p, "a name");
    if (is_name) {
        ns_name *name = ns_statements_declare(p, NS_NAME_BLOCK, word, span);
        block_at(p, block)->name = word;
        block_at(p, block)->name_span = span;
        if (name)
            name->index = block;
        word = NULL;
        if (!lone && form->kind != NS_PART_NO) {
            word = ns_parser_name(p, "a kind", &span);
            if (!word)
                return false;
        }
    }
    if (word && form->kind == NS_PART_NO) {
        ns_diag_error(p->r->diag, span, "expected `{`, found `%s`", word);
        return false;
    }
    if (!word && form->kind == NS_PART_MUST)
        return ns_parser_unexpected(p, "a kind");
    if (word) {
        block_at(p, block)->kind = word;
        block_at(p, block)->kind_span = span;
        if (ns_parser_accept(p, '(') && !arguments(p, block))
            return false;
    }
    return true;
}

bool ns_blocks_parse(ns_parser *p, const ns_block_form *form)
{
    ns_span span = {.source = p->lexer.source, .begin = p->before, .end = p->before};
    span.begin -= (uint32_t)strlen(form->keyword);
    uint32_t block = add_block(p->r, form, span);
    if (form->values) {
        const ns_postfix *codes;
        uint32_t n;
        if (!values(p, &codes, &n))
            return false;
        if (!n)
            return ns_parser_unexpected(p, "an expression");
        ns_statements_job(p, NS_JOB_BLOCK, form->keyword, codes[0].span, codes, n)->block =
            block;
        return true;
    }
    if (!header(p, form, block))
        return false;
    if (ns_parser_at(p, '{') || form->body == NS_PART_MUST)
        return ns_blocks_body(p, entry_property, block);
    return true;
}

void ns_blocks_word(ns_parser *p, const char *name, ns_span span, const char *kind,
                    const char *word, ns_span word_span)
{
    uint32_t block = add_block(p->r, &ns_block_constraint, span);
    ns_block *b = block_at(p, block);
    b->name = name;
    b->name_span = span;
    b->kind = kind;
    b->kind_span = word_span;
    const char **words = NS_NEW_ARRAY(p->r->arena, const char *, 1);
    words[0] = word;
    b->arg_words = words;
    ns_span *spans = NS_NEW_ARRAY(p->r->arena, ns_span, 1);
    spans[0] = word_span;
    b->arg_spans = spans;
    b->args = NS_NEW(p->r->arena, ns_value);
    b->nargs = 1;
}

void ns_blocks_call(ns_parser *p, const char *name, ns_span span, const ns_postfix *call)
{
    uint32_t block = add_block(p->r, &ns_block_constraint, span);
    ns_block *b = block_at(p, block);
    const ns_item *last = &call->at[call->n - 1];
    b->name = name;
    b->name_span = span;
    b->kind_span = (ns_span){call->span.source, last->begin, last->end};
    b->kind = ns_arena_string(p->r->arena, ns_reader_text(p->r, b->kind_span),
                              last->end - last->begin);
    ns_statements_job(p, NS_JOB_BLOCK, b->kind, span, call, 1)->block = block;
}

/* ---- start and run ----------------------------------------------------------------------- */

static bool entry_start(ns_parser *p, uint32_t block)
{
    (void)block;
    ns_span span;
    uint32_t primes;
    ns_postfix code;
    char sign = ns_parser_behind(p, "'");
    if (ns_parser_at_word(p, "mode") && sign != '=' && sign != '~')
        return ns_jumps_parse_start(p);
    if (ns_parser_at(p, NS_TOKEN_NAME) && sign != '=' && sign != '~')
        return entry_property(
            p, ns_blocks_find(p->r, &p->r->start_block, &ns_block_start, ns_parser_span(p)));
    const char *name = primed(p, "a coordinate, velocity or state", &span, &primes);
    if (!name)
        return false;
    bool guess = ns_parser_at(p, '~');
    ns_parser_next(p);
    if (!ns_parser_expression(p, &code))
        return false;
    ns_job *job = ns_statements_job(p, NS_JOB_START, name, span, &code, 1);
    job->primes = primes;
    job->guess = guess;
    return true;
}

bool ns_blocks_parse_start(ns_parser *p)
{
    return ns_blocks_body(p, entry_start, 0);
}

static const ns_setting_form *find_setting(ns_parser *p, const char *name, ns_span span)
{
    ns_near near = {.word = name};
    ns_text known = ns_text_new(p->r->arena);
    const ns_setting_form *const all = p->r->grammar->settings;
    for (const ns_setting_form *form = all; form->name; form++) {
        if (strcmp(form->name, name) == 0)
            return form;
        ns_near_try(&near, form->name);
        ns_text_addf(&known, "%s%s",
                     form == all    ? ""
                     : form[1].name ? ", "
                                    : " or ",
                     form->name);
    }
    if (near.found)
        ns_diag_error(p->r->diag, span, "unknown setting `%s`; did you mean `%s`?", name,
                      near.found);
    else
        ns_diag_error(p->r->diag, span, "unknown setting `%s`; expected %s", name,
                      ns_text_string(&known));
    return NULL;
}

static bool entry_run(ns_parser *p, uint32_t block)
{
    (void)block;
    ns_span span;
    ns_postfix code = {0};
    const char *name = ns_parser_name(p, "the name of a setting", &span);
    if (!name)
        return false;
    ns_parser_accept(p, '=');
    code.span = ns_parser_span(p);
    const char *text = ns_blocks_text(p);
    if (!text && !ns_parser_expression(p, &code))
        return false;
    const ns_setting_form *form = find_setting(p, name, span);
    if (!form || !ns_statements_declare_in(p, &p->r->settings, name, span, "settings"))
        return true;
    NS_PUSH(p->r->arena, p->r->d->settings,
            (ns_setting){.form = form, .word = text, .span = code.span});
    ns_statements_job(p, NS_JOB_SETTING, name, span, &code, text ? 0 : 1)->property =
        p->r->d->settings.n - 1;
    return true;
}

bool ns_blocks_parse_run(ns_parser *p)
{
    return ns_blocks_body(p, entry_run, 0);
}
