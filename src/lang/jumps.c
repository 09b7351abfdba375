/* Modes and what events do to the motion:
 *
 *     mode slip, stick                                 mode.slip is 1 in that mode, 0 in others
 *     event bounce: z = 0 falling { z' = -e*z' }
 *     event stop: v = 0 in slip { mode stick if F - abs(f); mode slip }
 *     event bounce: z = 0 falling { z' = -e*z'; rest { z' = 0; mode resting } }
 *     start { mode slip }
 *
 * Values are of the state before; what stands after `if` is of the state after. */
#include <string.h>

#include "base/near.h"
#include "lang/blocks.h"
#include "lang/elaborate.h"

enum { MOST_MODES = 64, REST = 1 };

/* ---- parsing ----------------------------------------------------------------------------- */

static bool item_mode(ns_parser *p)
{
    ns_reader *r = p->r;
    ns_span span;
    const char *text = ns_parser_name(p, "the name of a mode", &span);
    if (!text)
        return false;
    if (strchr(text, '.')) {
        ns_diag_error(r->diag, span, "the name of a mode has no dots");
        return false;
    }
    if (!ns_statements_declare_in(p, &r->modes, text, span, "modes"))
        return true;
    const char *name = ns_arena_format(r->arena, "mode.%s", text);
    ns_name *value = ns_scope_add(r->arena, &r->scope, name, strlen(name), NS_NAME_BUILTIN,
                                  span);
    ns_ex *at = NS_NEW(r->arena, ns_ex);
    *at = ns_symbol_new(r->g, name, NS_SYM_LOCAL, r->d->modes.n);
    value->value = (ns_value){1, 1, at};
    NS_PUSH(r->arena, r->d->modes, text);
    NS_PUSH(r->arena, r->d->mode_values, (ns_mode_value){.symbol = *at});
    return true;
}

bool ns_jumps_parse_mode(ns_parser *p)
{
    do
        if (!item_mode(p))
            return false;
    while (ns_parser_accept(p, ','));
    return true;
}

void ns_jumps_modes(ns_reader *r)
{
    const uint32_t n = r->d->modes.n;
    if (n == 1)
        ns_diag_error(r->diag, r->modes.names.at[0]->span,
                      "there is one mode only: a model has none, or two and more");
    if (n > MOST_MODES)
        ns_diag_error(r->diag, r->modes.names.at[MOST_MODES]->span,
                      "there are %u modes; %d are possible", n, MOST_MODES);
    for (uint32_t i = 0; i < n; i++) {
        ns_ex *value = NS_NEW_ARRAY(r->arena, ns_ex, n);
        for (uint32_t k = 0; k < n; k++)
            value[k] = k == i ? ns_one(r->g) : ns_zero(r->g);
        r->d->mode_values.at[i].value = value;
    }
}

/* mode NAME [if EXPR] */
static bool parse_way(ns_parser *p, ns_change *line)
{
    ns_parser_next(p);
    line->mode = ns_parser_name(p, "the name of a mode", &line->span);
    if (!line->mode)
        return false;
    line->has_code = ns_parser_accept_word(p, "if");
    return !line->has_code || ns_parser_expression(p, &line->code);
}

static bool entry_change(ns_parser *p, uint32_t rest)
{
    ns_reader *r = p->r;
    ns_change line = {.rest = rest, .span = ns_parser_span(p)};
    const char sign = ns_parser_behind(p, "'");
    if (ns_parser_at_word(p, "rest") && sign == '{') {
        if (rest) {
            ns_diag_error(r->diag, line.span, "`rest` does not stand inside of `rest`");
            return false;
        }
        ns_parser_next(p);
        return ns_blocks_body(p, entry_change, REST);
    }
    if (ns_parser_at_word(p, "mode") && sign != '=') {
        if (!parse_way(p, &line))
            return false;
    } else {
        line.name = ns_parser_name(p, "a state, `mode` or `rest`", &line.span);
        if (!line.name)
            return false;
        while (ns_parser_accept(p, '\''))
            line.span.end = p->before;
        line.name = ns_arena_string(r->arena, p->lexer.text + line.span.begin,
                                    line.span.end - line.span.begin);
        line.has_code = true;
        if (!ns_parser_expect(p, '=', "`=` and the value after the event") ||
            !ns_parser_expression(p, &line.code))
            return false;
    }
    NS_PUSH(r->arena, r->changes, line);
    return true;
}

bool ns_jumps_parse(ns_parser *p, ns_job *job)
{
    ns_reader *r = p->r;
    if (ns_parser_accept_word(p, "in")) {
        NS_LIST(ns_change) in = {0};
        do {
            ns_change line = {0};
            line.mode = ns_parser_name(p, "the name of a mode", &line.span);
            if (!line.mode)
                return false;
            NS_PUSH(r->arena, in, line);
        } while (ns_parser_accept(p, ','));
        job->in = in.at;
        job->n_in = in.n;
    }
    if (!ns_parser_at(p, '{'))
        return true;
    const ns_span open = ns_parser_span(p);
    r->changes.at = NULL; /* the job keeps the old ones */
    r->changes.n = r->changes.room = 0;
    if (!ns_blocks_body(p, entry_change, 0))
        return false;
    job->changes = r->changes.at;
    job->n_changes = r->changes.n;
    job->jumps = true;
    if (!job->n_changes)
        ns_diag_error(r->diag, open,
                      "nothing changes at this event: expected STATE = VALUE or "
                      "mode NAME, or no braces");
    if (job->action == NS_EVENT_STOP)
        ns_diag_error(r->diag, open, "an event that stops the run changes nothing");
    return true;
}

bool ns_jumps_parse_start(ns_parser *p)
{
    ns_change line = {0};
    if (!parse_way(p, &line))
        return false;
    if (line.has_code) {
        ns_diag_error(p->r->diag, line.code.span, "the mode at the start has no condition");
        return true;
    }
    if (p->r->start_mode.mode)
        ns_diag_error(p->r->diag, line.span, "the mode at the start is said twice");
    p->r->start_mode = line;
    return true;
}

/* ---- meaning ----------------------------------------------------------------------------- */

/* The number of a mode; false after a message. */
static bool find_mode(ns_reader *r, const char *name, ns_span span, uint32_t *number)
{
    ns_near near = {.word = name};
    for (uint32_t i = 0; i < r->d->modes.n; i++) {
        *number = i;
        if (strcmp(r->d->modes.at[i], name) == 0)
            return true;
        ns_near_try(&near, r->d->modes.at[i]);
    }
    ns_text known = ns_text_new(r->arena);
    for (uint32_t i = 0; i < r->d->modes.n; i++)
        ns_text_addf(&known, "%s%s", i ? ", " : "", r->d->modes.at[i]);
    if (near.found)
        ns_diag_error(r->diag, span, "there is no mode `%s`; did you mean `%s`?", name,
                      near.found);
    else
        ns_diag_error(r->diag, span, "there is no mode `%s`%s%s", name,
                      r->d->modes.n ? "; there are: " : ": `mode NAME, NAME` lines name them",
                      ns_text_string(&known));
    return false;
}

void ns_jumps_start(ns_reader *r)
{
    uint32_t mode;
    const ns_change *line = &r->start_mode;
    if (line->mode && find_mode(r, line->mode, line->span, &mode))
        r->d->start_mode = mode + 1;
}

bool ns_jumps_elaborate(ns_reader *r, ns_job *job)
{
    const uint32_t errors = r->diag->errors;
    uint32_t mode;
    for (uint32_t i = 0; i < job->n_in; i++)
        if (find_mode(r, job->in[i].mode, job->in[i].span, &mode))
            job->in_modes |= UINT64_C(1) << mode;
    for (uint32_t i = 0; i < job->n_changes; i++) {
        ns_change *line = &job->changes[i];
        if (line->mode && find_mode(r, line->mode, line->span, &mode))
            line->number = mode;
        if (!line->has_code)
            continue;
        if (!ns_elaborate_code(r, job, &line->code, &line->value))
            return false;
        if (line->mode &&
            !ns_elaborate_expect_number(r, line->code.span, &line->value, "a condition"))
            job->progress = NS_READ_BROKEN;
        if (line->value.cols != 1) {
            ns_diag_error(r->diag, line->code.span, "expected a number or a vector");
            job->progress = NS_READ_BROKEN;
        }
    }
    if (r->diag->errors != errors)
        job->progress = NS_READ_BROKEN;
    return job->progress == NS_READ_DONE;
}
