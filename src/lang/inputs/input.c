/* Inputs: quantities that the outside gives.
 *
 *   input u in N = 2 + a               constant between changes from outside: a parameter
 *   input u = a*sin(t)                 a function of time: a definition
 *   input u from "f.csv" column "u" order 3
 *   input u every 0.01 = -k*x          sampled: constant from sample to sample
 *
 * A table is a polynomial of t - u.at whose coefficients u.c0, u.c1, ... are parameters that
 * change at its knots (ode/drive/schedule.h); a sampled input is a parameter that changes at
 * the samples.  --set replaces what the model says. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lang/blocks.h"
#include "lang/elaborate.h"
#include "lang/units.h"

enum { FOLLOWS = 3 }; /* the highest order of splines */

static const ns_override *override_of(const ns_reader *r, const char *name)
{
    const ns_override *found = NULL;
    for (size_t i = 0; i < r->n_overrides; i++) /* the last one wins */
        if (strcmp(r->overrides[i].name, name) == 0)
            found = &r->overrides[i];
    return found;
}

/* A parameter without a name in the scope, or that of the input itself. */
static uint32_t add_param(ns_reader *r, const char *name, const char *unit, ns_span span)
{
    const uint32_t index = r->d->params.n;
    NS_PUSH(r->arena, r->d->params,
            (ns_param){.name = name,
                       .symbol = ns_symbol_new(r->g, name, NS_SYM_PARAM, index),
                       .value = ns_zero(r->g),
                       .unit = unit,
                       .span = span});
    ns_facts_set(r, r->d->params.at[index].symbol, 0);
    return index;
}

/* c0 + s (c1 + s (c2 + s c3)) with s = t - at */
static void define_table(ns_reader *r, ns_name *name, ns_input *input)
{
    ns_graph *g = r->g;
    ns_ex c[FOLLOWS + 1];
    input->param = add_param(r, ns_arena_format(r->arena, "%s.at", name->text), "s",
                             input->span);
    const ns_ex at = r->d->params.at[input->param].symbol;
    for (uint32_t k = 0; k <= input->order; k++) {
        const uint32_t i = add_param(r, ns_arena_format(r->arena, "%s.c%u", name->text, k),
                                     input->unit, input->span);
        c[k] = r->d->params.at[i].symbol;
    }
    const ns_ex s = ns_sub(g, r->d->time, at);
    ns_ex value = c[input->order];
    for (uint32_t k = input->order; k > 0; k--)
        value = ns_add(g, c[k - 1], ns_mul(g, s, value));
    const ns_cell cell = ns_arithmetic_scalar(value);
    name->value = ns_arithmetic_value(r, &cell);
    name->progress = NS_READ_DONE;
}

static bool take_order(ns_reader *r, ns_span place, double order, ns_input *input)
{
    if (order != 0 && order != 1 && order != 3) {
        ns_diag_error(r->diag, place,
                      "the order of a table is 0 (steps), 1 (lines) or 3 (cubic spline)");
        return false;
    }
    input->order = (uint32_t)order;
    return true;
}

static bool text_between(ns_parser *p, const char *what, const char **text)
{
    const ns_token token = p->token;
    if (!ns_parser_expect(p, NS_TOKEN_STRING, what))
        return false;
    *text = ns_arena_string(p->r->arena, p->lexer.text + token.begin + 1,
                            token.end - token.begin - 2);
    return true;
}

/* "FILE" [column "NAME"] [order N] */
bool ns_input_table(ns_parser *p, ns_input *input)
{
    input->file_span = ns_parser_span(p);
    if (!text_between(p, "the name of the file between \" \"", &input->file))
        return false;
    for (;;) {
        if (ns_parser_accept_word(p, "column")) {
            if (!text_between(p, "the name of the column between \" \"", &input->column))
                return false;
        } else if (ns_parser_accept_word(p, "order")) {
            const ns_span place = ns_parser_span(p);
            const char *text = ns_parser_token_text(p);
            if (!ns_parser_expect(p, NS_TOKEN_NUMBER, "0, 1 or 3") ||
                !take_order(p->r, place, strtod(text, NULL), input))
                return false;
        } else {
            return true;
        }
    }
}

/* The same in the text of an override, after `from`. */
static bool table_override(ns_reader *r, const ns_override *o, ns_input *input, bool *good)
{
    *good = true;
    if (strncmp(o->expression, "from", 4) != 0 || !strchr(" \t\"", o->expression[4]))
        return false;
    const size_t length = strlen(o->expression + 4);
    const char *text = ns_arena_string(r->arena, o->expression + 4, length);
    const uint32_t source = ns_diag_source(
        r->diag, ns_arena_format(r->arena, "--set %s", o->name), text, length);
    ns_parser p = {.r = r, .lexer = ns_lexer_new(r->diag, source, text, length)};
    input->outside = true;
    *good = ns_lexer_check(r->diag, source, text, length);
    if (!*good)
        return true;
    ns_parser_next(&p);
    input->order = 1;
    *good = ns_input_table(&p, input) &&
            (ns_parser_at_end(&p) || ns_parser_unexpected(&p, "column, order or the end"));
    return true;
}

static bool mentions_time(const ns_reader *r, const ns_postfix *code)
{
    for (uint32_t i = 0; i < code->n; i++) {
        const ns_span place = {code->span.source, code->at[i].begin, code->at[i].end};
        if (code->at[i].op == NS_POSTFIX_NAME && place.end == place.begin + 1 &&
            *ns_reader_text(r, place) == 't')
            return true;
    }
    return false;
}

/* = EXPR, or what --set says; a function of time is a definition, all else a parameter. */
static bool define_value(ns_parser *p, ns_name *name, const ns_postfix *given,
                         const ns_override *o, ns_input *input)
{
    ns_reader *r = p->r;
    ns_postfix code = *given;
    bool set = o != NULL;
    if (o) {
        const size_t length = strlen(o->expression);
        const char *text = ns_arena_string(r->arena, o->expression, length);
        const uint32_t source = ns_diag_source(
            r->diag, ns_arena_format(r->arena, "--set %s", o->name), text, length);
        if (!ns_parser_expression_text(r, source, text, length, &code))
            return true; /* said already */
    }
    if (code.n && mentions_time(r, &code)) {
        input->param = NS_INPUT_NO_PARAM;
        name->code = code;
        name->progress = NS_READ_WAITING;
        ns_statements_job(p, NS_JOB_LET, name->text, name->span, &code, 1)->target = name;
        return true;
    }
    name->index = input->param = add_param(r, name->text, input->unit, name->span);
    name->kind = NS_NAME_PARAM;
    r->d->params.at[input->param].set = set;
    if (code.n) {
        r->d->params.at[input->param].value = 0;
        ns_statements_job(p, NS_JOB_PARAM, name->text, name->span, &code, 1)->target = name;
    }
    return true;
}

static bool unit_of(ns_parser *p, const char **unit)
{
    const ns_unit_product *product;
    ns_span span;
    *unit = "";
    if (!ns_parser_at_word(p, "in"))
        return true;
    if (!ns_parser_unit(p, &product, unit, &span))
        return false;
    if (ns_units_coherent(product))
        return true;
    ns_text si = ns_text_new(p->r->arena);
    ns_units_add_si(&si, product);
    ns_diag_error(p->r->diag, span, "inputs are in SI units: expected %s", ns_text_string(&si));
    return false;
}

/* every EXPR = EXPR: a parameter that is 0 before the first sample. */
static bool parse_sampled(ns_parser *p, ns_name *name, ns_input *input)
{
    ns_reader *r = p->r;
    ns_postfix code[2];
    if (!ns_parser_expression(p, &code[1]) ||
        !ns_parser_expect(p, '=', "`=` and what is sampled") ||
        !ns_parser_expression(p, &code[0]))
        return false;
    input->sampled = true;
    if (!name)
        return true;
    name->index = input->param = add_param(r, name->text, input->unit, name->span);
    name->kind = NS_NAME_PARAM;
    ns_job *job = ns_statements_job(p, NS_JOB_SAMPLE, name->text, name->span, code, 2);
    job->property = r->d->inputs.n;
    return true;
}

static bool parse_value(ns_parser *p, ns_name *name, ns_input *input)
{
    ns_reader *r = p->r;
    const ns_override *o = name ? override_of(r, name->text) : NULL;
    ns_postfix code = {0};
    bool good, table = false;
    if (ns_parser_accept_word(p, "from")) {
        table = true;
        input->order = 1;
        if (!ns_input_table(p, input))
            return false;
    } else if (ns_parser_accept(p, '=') && !ns_parser_expression(p, &code)) {
        return false;
    }
    if (!name)
        return true;
    if (o && table_override(r, o, input, &good)) {
        if (good)
            define_table(r, name, input);
        return true;
    }
    if (table && !o) {
        define_table(r, name, input);
        return true;
    }
    input->file = input->column = NULL;
    return define_value(p, name, &code, o, input);
}

static bool item(ns_parser *p)
{
    ns_reader *r = p->r;
    ns_input input = {0};
    const char *text = ns_parser_name(p, "the name of an input", &input.span);
    if (!text)
        return false;
    ns_name *name = ns_statements_declare(p, NS_NAME_LET, text, input.span);
    if (name)
        name->progress = NS_READ_BROKEN;
    if (!unit_of(p, &input.unit))
        return false;
    input.name = text;
    const bool sampled = ns_parser_accept_word(p, "every");
    if (sampled && name && override_of(r, text)) {
        /* the value from outside takes the place of the controller */
        ns_postfix code[2];
        if (!ns_parser_expression(p, &code[1]) || !ns_parser_expect(p, '=', "`=`") ||
            !ns_parser_expression(p, &code[0]))
            return false;
        bool good;
        const ns_override *o = override_of(r, text);
        if (table_override(r, o, &input, &good)) {
            if (good)
                define_table(r, name, &input);
        } else {
            define_value(p, name, &code[0], o, &input);
        }
    } else if (sampled ? !parse_sampled(p, name, &input) : !parse_value(p, name, &input)) {
        return false;
    }
    if (name && name->kind == NS_NAME_PARAM)
        name->progress = NS_READ_WAITING;
    NS_PUSH(r->arena, r->d->inputs, input);
    return true;
}

bool ns_input_parse(ns_parser *p)
{
    do
        if (!item(p))
            return false;
    while (ns_parser_accept(p, ','));
    return true;
}

void ns_input_elaborate(ns_reader *r, ns_job *job)
{
    ns_value period;
    ns_input *input = &r->d->inputs.at[job->property];
    r->strict = r->finishing;
    if (!input->period) {
        if (!ns_elaborate_code(r, job, &job->code[1], &period))
            return;
        job->progress = NS_READ_BROKEN;
        if (!ns_elaborate_expect_number(r, job->code[1].span, &period, "a period") ||
            !ns_elaborate_expect_kinds(r, job->code[1].span, &period, NS_KIND_PARAM,
                                       "a period"))
            return;
        if (!(ns_facts_value(r, period.at[0]) > 0)) {
            ns_diag_error(r->diag, job->code[1].span, "the period of samples must be positive");
            return;
        }
        input->period = period.at[0];
        job->progress = NS_READ_WAITING;
    }
    if (!ns_elaborate_code(r, job, &job->code[0], &job->value))
        return;
    if (!ns_elaborate_expect_number(r, job->code[0].span, &job->value, "an input"))
        job->progress = NS_READ_BROKEN;
    else
        input->sample = job->value.at[0];
}
