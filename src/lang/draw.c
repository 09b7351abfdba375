/* draw [VIEW] { [NAME:] KIND VALUE, ..., OPTION = VALUE, ...; ... } */
#include "lang/blocks.h"

#include <string.h>

/* NAME: or "TEXT": before the kind */
static bool label(ns_parser *p, const char **name)
{
    ns_span span;
    *name = NULL;
    if (ns_parser_behind(p, "") != ':' || p->token.kind == ':')
        return true;
    if (ns_parser_at(p, NS_TOKEN_STRING)) {
        *name = ns_arena_string(p->r->arena, p->lexer.text + p->token.begin + 1,
                                p->token.end - p->token.begin - 2);
        ns_parser_next(p);
    } else {
        *name = ns_parser_name(p, "a name", &span);
    }
    return *name && ns_parser_expect(p, ':', "`:`");
}

/* VALUE or OPTION = VALUE; code->n stays 0 if it is text */
static bool value(ns_parser *p, ns_draw_value *out, ns_postfix *code)
{
    *out = (ns_draw_value){0};
    *code = (ns_postfix){0};
    if (ns_parser_at(p, NS_TOKEN_NAME) && ns_parser_behind(p, "") == '=') {
        out->option = ns_parser_name(p, "an option", &out->option_span);
        if (!out->option)
            return false;
        ns_parser_next(p);
    }
    out->span = ns_parser_span(p);
    out->word = ns_blocks_text(p);
    if (!out->word) {
        if (!ns_parser_expression(p, code))
            return false;
        out->span = code->span;
    }
    return true;
}

static bool entry(ns_parser *p, uint32_t view)
{
    ns_draw_line line = p->r->d->draws.at[view];
    NS_LIST(ns_draw_value) list = {0};
    NS_LIST(ns_postfix) codes = {0};
    if (!label(p, &line.name))
        return false;
    line.kind = ns_parser_name(p, "what to draw", &line.span);
    if (!line.kind)
        return false;
    if (!ns_parser_at_end(p))
        do {
            ns_draw_value one;
            ns_postfix code;
            if (!value(p, &one, &code))
                return false;
            NS_PUSH(p->r->arena, list, one);
            if (!one.word)
                NS_PUSH(p->r->arena, codes, code);
        } while (ns_parser_accept(p, ','));
    line.values = list.at;
    line.n = list.n;
    NS_PUSH(p->r->arena, p->r->d->draws, line);
    ns_job *job = ns_statements_job(p, NS_JOB_DRAW, line.kind, line.span, codes.at, codes.n);
    job->block = p->r->d->draws.n - 1;
    return true;
}

/* The lines of a block copy its view from a line without a kind that stands before them: so a
 * block that draws nothing still says how to look. */
bool ns_draw_parse(ns_parser *p)
{
    ns_span span = {.source = p->lexer.source, .begin = p->before, .end = p->before};
    span.begin -= (uint32_t)strlen("draw");
    ns_draw_line line = {.span = span, .view_span = span};
    if (ns_parser_at(p, NS_TOKEN_NAME)) {
        line.view = ns_parser_name(p, "a view", &line.view_span);
        if (!line.view)
            return false;
    }
    NS_PUSH(p->r->arena, p->r->d->draws, line);
    return ns_blocks_body(p, entry, p->r->d->draws.n - 1);
}

/* Names may come from anywhere, so nothing is looked at before all are known. */
void ns_draw_elaborate(ns_reader *r, ns_job *job)
{
    if (!r->finishing) {
        job->progress = NS_READ_LATE;
        return;
    }
    const ns_draw_line *line = &r->d->draws.at[job->block];
    job->progress = NS_READ_DONE;
    for (uint32_t i = 0, k = 0; i < line->n; i++) {
        ns_draw_value *one = &line->values[i];
        if (one->word)
            continue;
        const ns_postfix *code = &job->code[k++];
        if (ns_elaborate_is_word(r, code, &one->word))
            continue;
        one->word = NULL;
        r->strict = true;
        ns_evaluated outcome = ns_evaluate_code(r, code, &one->value);
        if (outcome.progress != NS_READ_DONE) {
            if (outcome.progress == NS_READ_LATE)
                ns_scope_undefined(r, outcome.missing, false);
            job->progress = NS_READ_BROKEN;
        }
    }
}
