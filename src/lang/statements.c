/* Statements: the table, and one parse function for each kind.
 *
 * Parsing declares names and makes jobs; nothing is evaluated before the whole text is read, so
 * that the order of statements is the writer's choice. */
#include "lang/statements.h"

#include <ctype.h>
#include <string.h>

#include "base/near.h"
#include "lang/blocks.h"

/* ---- names and jobs ---------------------------------------------------------------------- */

static bool duplicate(ns_parser *p, ns_span span, const char *text, const ns_name *old)
{
    if (old->kind == NS_NAME_BUILTIN) {
        ns_diag_error(p->r->diag, span, "`%s` is %s and cannot be defined anew", text,
                      strcmp(text, "t") == 0 ? "the time" : "a constant");
    } else {
        ns_diag_error(p->r->diag, span, "`%s` is defined twice", text);
        ns_diag_note(p->r->diag, old->span, "its first definition is here, as %s",
                     ns_scope_kind_text(old->kind));
    }
    return false;
}

/* Is the name free, and of a form that can be defined? */
static bool check_name(ns_parser *p, const char *text, ns_span span, bool dots)
{
    size_t length = strlen(text);
    const char *dot = strchr(text, '.');
    if (dot && !dots) {
        ns_diag_error(p->r->diag, span, "a name that is defined here has no dots");
        return false;
    }
    if (ns_functions_is(text, length)) {
        ns_diag_error(p->r->diag, span, "`%s` is a built-in function", text);
        return false;
    }
    const ns_name *old = ns_scope_find(&p->r->scope, text, length);
    return !old || duplicate(p, span, text, old);
}

ns_name *ns_statements_declare(ns_parser *p, ns_name_kind kind, const char *text, ns_span span)
{
    if (!check_name(p, text, span, kind == NS_NAME_OBSERVE))
        return NULL;
    return ns_scope_add(p->r->arena, &p->r->scope, text, strlen(text), kind, span);
}

bool ns_statements_declare_in(ns_parser *p, ns_scope *scope, const char *text, ns_span span,
                              const char *what)
{
    const ns_name *old = ns_scope_find(scope, text, strlen(text));
    if (old) {
        ns_diag_error(p->r->diag, span, "there are two %s named `%s`", what, text);
        ns_diag_note(p->r->diag, old->span, "the first one is here");
        return false;
    }
    ns_scope_add(p->r->arena, scope, text, strlen(text), NS_NAME_LET, span);
    return true;
}

ns_job *ns_statements_job(ns_parser *p, ns_job_kind kind, const char *name, ns_span span,
                          const ns_postfix *code, uint32_t n)
{
    ns_reader *r = p->r;
    NS_PUSH(r->arena, r->jobs,
            (ns_job){.kind = kind,
                     .name = name,
                     .span = span,
                     .code = ns_arena_copy(r->arena, code, n * sizeof *code),
                     .n = n});
    return &r->jobs.at[r->jobs.n - 1];
}

/* ITEM, ITEM, ... */
static bool listed(ns_parser *p, bool (*item)(ns_parser *p))
{
    do
        if (!item(p) || p->r->diag->errors > NS_STATEMENTS_MOST_ERRORS)
            return false;
    while (ns_parser_accept(p, ','));
    return true;
}

static bool equals(ns_parser *p, ns_postfix *code)
{
    return ns_parser_expect(p, '=', "`=`") && ns_parser_expression(p, code);
}

/* in UNIT, of a quantity that is kept in SI */
static bool si_unit(ns_parser *p, const char **unit)
{
    const ns_unit_product *product;
    const char *text;
    ns_span span;
    *unit = "";
    if (!ns_parser_at_word(p, "in"))
        return true;
    if (!ns_parser_unit(p, &product, &text, &span))
        return false;
    if (!ns_units_coherent(product)) {
        ns_text si = ns_text_new(p->r->arena);
        ns_units_add_si(&si, product);
        ns_diag_error(p->r->diag, span,
                      "coordinates and states are in SI units: expected %s; to see another "
                      "unit, observe it: observe NAME in %s = ...",
                      ns_text_string(&si), text);
        return false;
    }
    *unit = text;
    return true;
}

/* ---- statements -------------------------------------------------------------------------- */

static bool parse_title(ns_parser *p)
{
    ns_description *d = p->r->d;
    ns_token token = p->token;
    ns_span span = ns_parser_span(p);
    if (!ns_parser_expect(p, NS_TOKEN_STRING, "the title between \" \""))
        return false;
    if (d->title) {
        ns_diag_error(p->r->diag, span, "the model has two titles");
        return false;
    }
    d->title = ns_arena_string(p->r->arena, p->lexer.text + token.begin + 1,
                               token.end - token.begin - 2);
    return true;
}

static bool parse_formulation(ns_parser *p)
{
    ns_description *d = p->r->d;
    ns_span span = ns_parser_span(p);
    do /* names of formulations may have hyphens */
        if (!ns_parser_expect(p, NS_TOKEN_NAME, "the name of a formulation"))
            return false;
    while (ns_parser_accept(p, '-'));
    span.end = p->before;
    if (d->formulation) {
        ns_diag_error(p->r->diag, span, "the formulation is chosen twice");
        ns_diag_note(p->r->diag, d->formulation_span, "first here");
        return false;
    }
    d->formulation = ns_arena_string(p->r->arena, p->lexer.text + span.begin,
                                     span.end - span.begin);
    d->formulation_span = span;
    return true;
}

static bool item_param(ns_parser *p)
{
    ns_description *d = p->r->d;
    ns_span span;
    ns_postfix code;
    const char *text = ns_parser_name(p, "the name of a parameter", &span);
    ns_name *name = text ? ns_statements_declare(p, NS_NAME_PARAM, text, span) : NULL;
    if (name) { /* before its value is read: an error there makes no undefined names */
        name->index = d->params.n;
        NS_PUSH(p->r->arena, d->params,
                (ns_param){.name = name->text,
                           .symbol = ns_symbol_new(p->r->g, text, NS_SYM_PARAM, name->index),
                           .unit = "",
                           .span = span});
    }
    if (!text || !equals(p, &code))
        return false;
    if (name)
        ns_statements_job(p, NS_JOB_PARAM, text, span, &code, 1)->target = name;
    return true;
}

static bool parse_param(ns_parser *p)
{
    return listed(p, item_param);
}

/* (x, y, ...) */
static bool formals(ns_parser *p, ns_name *name)
{
    NS_LIST(const char *) list = {0};
    do {
        ns_span span;
        const char *text = ns_parser_name(p, "the name of an argument", &span);
        if (!text)
            return false;
        const ns_name *old = ns_scope_find(&p->r->scope, text, strlen(text));
        if (old && old->kind == NS_NAME_BUILTIN)
            return duplicate(p, span, text, old);
        if (strchr(text, '.')) {
            ns_diag_error(p->r->diag, span, "the name of an argument has no dots");
            return false;
        }
        for (uint32_t i = 0; i < list.n; i++)
            if (strcmp(list.at[i], text) == 0) {
                ns_diag_error(p->r->diag, span, "two arguments are named `%s`", text);
                return false;
            }
        NS_PUSH(p->r->arena, list, text);
    } while (ns_parser_accept(p, ','));
    if (name) {
        name->formals = list.at;
        name->arity = list.n;
    }
    return ns_parser_expect(p, ')', "`)` or `,`");
}

static bool definition(ns_parser *p, bool surface)
{
    ns_span span;
    ns_postfix code = {0};
    const char *text = ns_parser_name(p, surface ? "the name of a surface" : "a name", &span);
    if (!text)
        return false;
    if (surface && !ns_parser_at(p, '('))
        return ns_parser_unexpected(p, "`(` and the names of the arguments");
    bool function = ns_parser_accept(p, '(');
    ns_name *name = ns_statements_declare(p, function ? NS_NAME_FUNCTION : NS_NAME_LET, text,
                                          span);
    if (name)
        name->progress = NS_READ_BROKEN; /* until its code is known */
    if (function && !formals(p, name))
        return false;
    const bool table = !surface && ns_parser_at_word(p, "from");
    if (table && !function) {
        ns_diag_error(p->r->diag, ns_parser_span(p),
                      "a table makes a function: `let %s(u) from \"FILE\"`", text);
        return false;
    }
    if (table ? !ns_parser_accept_word(p, "from") || !ns_table_parse(p, name)
              : !equals(p, &code))
        return false;
    if (!name)
        return true;
    name->code = code;
    name->progress = NS_READ_WAITING;
    if (function) {
        name->index = p->r->d->functions.n;
        NS_PUSH(
            p->r->arena, p->r->d->functions,
            (ns_function){
                .name = name->text, .arity = name->arity, .surface = surface, .span = span});
    } else {
        ns_statements_job(p, NS_JOB_LET, text, span, &code, 1)->target = name;
    }
    return true;
}

static bool item_let(ns_parser *p)
{
    return definition(p, false);
}

static bool parse_let(ns_parser *p)
{
    return listed(p, item_let);
}

static bool parse_surface(ns_parser *p)
{
    return definition(p, true);
}

static bool item_coordinate(ns_parser *p)
{
    ns_description *d = p->r->d;
    ns_graph *g = p->r->g;
    ns_span span;
    const char *text = ns_parser_name(p, "the name of a coordinate", &span), *unit = "";
    if (!text)
        return false;
    ns_name *name = ns_statements_declare(p, NS_NAME_COORDINATE, text, span);
    uint32_t i = d->coordinates.n;
    if (name) {
        name->index = i;
        NS_PUSH(
            p->r->arena, d->coordinates,
            (ns_coordinate){.name = name->text,
                            .q = ns_symbol_new(g, text, NS_SYM_COORD, i),
                            .v = ns_symbol_new(g, ns_arena_format(p->r->arena, "%s'", text),
                                               NS_SYM_VELOCITY, i),
                            .a = ns_symbol_new(g, ns_arena_format(p->r->arena, "%s''", text),
                                               NS_SYM_ACCEL, i),
                            .unit = "",
                            .span = span});
    }
    if (!si_unit(p, &unit))
        return false;
    if (name)
        d->coordinates.at[i].unit = unit;
    return true;
}

static bool parse_coordinate(ns_parser *p)
{
    return listed(p, item_coordinate);
}

/* x' = EXPR [in UNIT], the unit being that of x */
static bool item_state(ns_parser *p)
{
    ns_description *d = p->r->d;
    ns_span span;
    ns_postfix code;
    const char *text = ns_parser_name(p, "the name of a state", &span), *unit = "";
    if (!text || !ns_parser_expect(p, '\'', "' : a state is given by its derivative, x' = ..."))
        return false;
    ns_name *name = ns_statements_declare(p, NS_NAME_STATE, text, span);
    uint32_t i = d->states.n;
    if (name) {
        name->index = i;
        name->progress = NS_READ_BROKEN; /* until its code is known */
        NS_PUSH(p->r->arena, d->states,
                (ns_state_line){.name = name->text,
                                .symbol = ns_symbol_new(p->r->g, text, NS_SYM_STATE, i),
                                .unit = "",
                                .span = span});
    }
    if (!equals(p, &code) || !si_unit(p, &unit))
        return false;
    if (!name)
        return true;
    name->code = code;
    name->progress = NS_READ_WAITING;
    d->states.at[i].unit = unit;
    ns_statements_job(p, NS_JOB_STATE, text, span, &code, 1)->target = name;
    return true;
}

static bool parse_state(ns_parser *p)
{
    return listed(p, item_state);
}

static bool parse_lagrangian(ns_parser *p)
{
    ns_description *d = p->r->d;
    ns_postfix code;
    if (!ns_parser_expression(p, &code))
        return false;
    if (d->lagrangian_span.source) {
        ns_diag_error(p->r->diag, code.span, "the model has two Lagrangians");
        ns_diag_note(p->r->diag, d->lagrangian_span, "the first one is here");
        return false;
    }
    d->lagrangian_span = code.span;
    ns_statements_job(p, NS_JOB_LAGRANGIAN, "lagrangian", code.span, &code, 1);
    return true;
}

/* NAME:  if one stands there */
static const char *label(ns_parser *p, ns_span *span)
{
    if (!ns_parser_at(p, NS_TOKEN_NAME) || ns_parser_behind(p, "") != ':')
        return NULL;
    const char *text = ns_parser_name(p, "a name", span);
    if (text)
        ns_parser_next(p); /* the colon */
    return text;
}

static bool parse_constraint(ns_parser *p)
{
    ns_reader *r = p->r;
    ns_span span = ns_parser_span(p);
    const char *name = label(p, &span);
    if (!name)
        name = ns_arena_format(r->arena, "constraint%u", r->constraints.names.n + 1);
    bool fresh = ns_statements_declare_in(p, &r->constraints, name, span, "constraints");
    if (ns_parser_at_word(p, "keep") && isalpha((unsigned char)ns_parser_behind(p, ""))) {
        ns_parser_next(p);
        ns_span kept = ns_parser_span(p);
        const char *what = ns_parser_name(p, "a name", &kept);
        if (what && fresh)
            ns_blocks_word(p, name, span, "keep", what, kept);
        return what;
    }
    ns_postfix code[2];
    if (!ns_parser_expression(p, &code[0]))
        return false;
    uint32_t n = code[0].n;
    bool call = n && code[0].at[n - 1].op == NS_POSTFIX_CALL;
    if (call && ns_parser_at_end(p)) {
        /* NAME(ARGUMENTS): a ready-made constraint of a formulation, if it is not a function */
        const ns_item *last = &code[0].at[n - 1];
        ns_span word = {.source = code[0].span.source, .begin = last->begin, .end = last->end};
        if (!ns_functions_is(ns_reader_text(r, word), word.end - word.begin)) {
            if (fresh)
                ns_blocks_call(p, name, span, &code[0]);
            return true;
        }
    }
    if (!ns_parser_expect(p, '=', "`=` and the other side of the constraint") ||
        !ns_parser_expression(p, &code[1]))
        return false;
    if (fresh)
        ns_statements_job(p, NS_JOB_CONSTRAINT, name,
                          ns_diag_join(span, ns_diag_join(code[0].span, code[1].span)), code,
                          2);
    return true;
}

static bool item_force(ns_parser *p)
{
    ns_span span;
    ns_postfix code;
    const char *name = ns_parser_name(p, "the coordinate on which the force acts", &span);
    if (!name || !equals(p, &code))
        return false;
    ns_statements_job(p, NS_JOB_FORCE, name, span, &code, 1);
    return true;
}

static bool parse_force(ns_parser *p)
{
    return listed(p, item_force);
}

/* NAME [in UNIT] [= EXPR]; without an expression the name is one the model has already */
static bool item_named(ns_parser *p, ns_job_kind kind)
{
    ns_reader *r = p->r;
    bool observe = kind == NS_JOB_OBSERVE;
    ns_span span, unit_span;
    ns_postfix code;
    const char *text = ns_parser_name(
        p, observe ? "the name of what is observed" : "the name of an invariant", &span);
    if (!text)
        return false;
    const ns_unit_product *unit = NULL;
    const char *unit_text = "";
    if (ns_parser_at_word(p, "in") && !ns_parser_unit(p, &unit, &unit_text, &unit_span))
        return false;
    bool fresh = ns_statements_declare_in(p, observe ? &r->observes : &r->invariants, text,
                                          span, observe ? "observed quantities" : "invariants");
    ns_name *name = NULL;
    if (ns_parser_at(p, '=')) {
        if (observe && fresh) {
            name = ns_statements_declare(p, NS_NAME_OBSERVE, text, span);
            fresh = name != NULL;
        }
        if (name)
            name->progress = NS_READ_BROKEN;
        if (!equals(p, &code))
            return false;
        if (name) {
            name->code = code;
            name->progress = NS_READ_WAITING;
        }
    } else {
        ns_item item = {.begin = span.begin, .end = span.end, .op = NS_POSTFIX_NAME};
        code = (ns_postfix){
            .at = ns_arena_copy(r->arena, &item, sizeof item), .n = 1, .span = span};
    }
    if (!fresh)
        return true;
    ns_job *job = ns_statements_job(p, kind, text, span, &code, 1);
    job->target = name;
    job->unit = unit;
    job->unit_text = unit_text;
    return true;
}

static bool item_observe(ns_parser *p)
{
    return item_named(p, NS_JOB_OBSERVE);
}

static bool item_invariant(ns_parser *p)
{
    return item_named(p, NS_JOB_INVARIANT);
}

static bool parse_observe(ns_parser *p)
{
    return listed(p, item_observe);
}

static bool parse_invariant(ns_parser *p)
{
    return listed(p, item_invariant);
}

static bool parse_event(ns_parser *p)
{
    ns_reader *r = p->r;
    ns_span span;
    ns_postfix code[2];
    uint32_t n = 1;
    const char *name = ns_parser_name(p, "the name of the event", &span);
    if (!name || !ns_parser_expect(p, ':', "`:` and what vanishes at the event") ||
        !ns_parser_expression(p, &code[0]))
        return false;
    if (ns_parser_accept(p, '=')) {
        if (!ns_parser_expression(p, &code[n++]))
            return false;
    }
    ns_job event = {.action = NS_EVENT_RECORD};
    if (ns_parser_accept_word(p, "rising"))
        event.direction = 1;
    else if (ns_parser_accept_word(p, "falling"))
        event.direction = -1;
    if (ns_parser_accept_word(p, "stop"))
        event.action = NS_EVENT_STOP;
    else if (ns_parser_accept_word(p, "warn"))
        event.action = NS_EVENT_WARN;
    else
        ns_parser_accept_word(p, "record");
    ns_token token = p->token;
    if (ns_parser_accept(p, NS_TOKEN_STRING))
        event.meaning = ns_arena_string(r->arena, p->lexer.text + token.begin + 1,
                                        token.end - token.begin - 2);
    if (!ns_jumps_parse(p, &event))
        return false;
    if (!ns_parser_at_end(p))
        return ns_parser_unexpected(p, n == 1 ? "`=`, an operator, rising, falling, stop, "
                                                "record, warn, in or `{`"
                                              : "an operator, rising, falling, stop, record, "
                                                "warn, in or `{`");
    if (!ns_statements_declare_in(p, &r->events, name, span, "events"))
        return true;
    ns_job *job = ns_statements_job(p, NS_JOB_EVENT, name, span, code, n);
    job->direction = event.direction;
    job->action = event.action;
    job->meaning = event.meaning;
    job->changes = event.changes;
    job->n_changes = event.n_changes;
    job->in = event.in;
    job->n_in = event.n_in;
    job->jumps = event.jumps;
    return true;
}

/* ---- the table --------------------------------------------------------------------------- */

const ns_statement ns_statements[] = {
    {"title", parse_title, "title \"TEXT\"", "what the model is", .opens = true},
    {"formulation", parse_formulation, "formulation NAME",
     "how the equations are derived; chosen from the model if not named", .opens = true},
    {"param", parse_param, "param NAME = EXPR, ...",
     "constants of a run, changed by --set NAME=EXPR", .opens = true},
    {"input", ns_input_parse,
     "input NAME [in UNIT] [= EXPR | from \"FILE\" column \"NAME\" order N | every T = EXPR]",
     "given from outside: constants, functions of time, tables, sampled controllers",
     .opens = true},
    {"let", parse_let, "let NAME = EXPR, NAME(ARGUMENT, ...) = EXPR, ...",
     "definitions and functions", .opens = true},
    {"surface", parse_surface, "surface NAME(X, Y, Z) = EXPR",
     "a function whose zeros are a surface", .opens = false},
    {"coordinate", parse_coordinate, "coordinate NAME [in UNIT], ...",
     "generalised coordinates; NAME' is the velocity", .opens = true},
    {"state", parse_state, "state NAME' = EXPR [in UNIT], ...",
     "components of a first-order system", .opens = true},
    {"lagrangian", parse_lagrangian, "lagrangian EXPR", "kinetic minus potential energy",
     .opens = true},
    {"constraint", parse_constraint, "constraint [NAME:] EXPR = EXPR",
     "between coordinates or velocities; vectors give several", .opens = false},
    {"force", parse_force, "force COORDINATE = EXPR, ...", "generalised forces",
     .opens = false},
    {"start", ns_blocks_parse_start, "start { NAME = EXPR; NAME' = EXPR; NAME ~ GUESS }",
     "the initial state; guesses give way to constraints", .opens = true},
    {"observe", parse_observe, "observe NAME [in UNIT] [= EXPR], ...", "quantities to report",
     .opens = true},
    {"invariant", parse_invariant, "invariant NAME [= EXPR], ...",
     "quantities that should stay constant: their drift is reported", .opens = true},
    {"event", parse_event,
     "event NAME: EXPR [= EXPR] [rising|falling] [record|stop|warn] [\"TEXT\"] [in MODE, ...] "
     "[{ STATE = EXPR; mode NAME [if EXPR]; rest { ... } }]",
     "a moment to find, and what changes there", .opens = true},
    {"mode", ns_jumps_parse_mode, "mode NAME, NAME, ...",
     "ways to move, between which events change; mode.NAME is 1 in it, else 0", .opens = false},
    {"run", ns_blocks_parse_run, "run { until 20; tolerance 1e-14; method gauss; every 0.1 }",
     "settings of the integration", .opens = true},
    {"draw", ns_draw_parse, "draw [VIEW] { [NAME:] KIND VALUE, ..., OPTION = VALUE; ... }",
     "what the motion looks like", .opens = true},
    {.keyword = NULL},
};

const ns_statement *ns_statements_find(const char *word, size_t length)
{
    for (const ns_statement *s = ns_statements; s->keyword; s++)
        if (strlen(s->keyword) == length && memcmp(s->keyword, word, length) == 0)
            return s;
    return NULL;
}

/* ---- the whole text ---------------------------------------------------------------------- */

static const ns_statement *at_statement(const ns_parser *p)
{
    if (!ns_parser_at(p, NS_TOKEN_NAME))
        return NULL;
    return ns_statements_find(p->lexer.text + p->token.begin, p->token.end - p->token.begin);
}

static const ns_block_form *at_block(const ns_parser *p)
{
    const ns_block_form *const *form = p->r->grammar->blocks;
    while (*form && !ns_parser_at_word(p, (*form)->keyword))
        form++;
    return *form;
}

static void unknown_statement(ns_parser *p)
{
    if (!ns_parser_at(p, NS_TOKEN_NAME)) {
        ns_parser_unexpected(p, "a statement");
        return;
    }
    ns_near near = {.word = ns_parser_token_text(p)};
    ns_text known = ns_text_new(p->r->arena);
    for (const ns_statement *s = ns_statements; s->keyword; s++) {
        ns_near_try(&near, s->keyword);
        ns_text_addf(&known, "%s%s", s == ns_statements ? "" : ", ", s->keyword);
    }
    for (const ns_block_form *const *form = p->r->grammar->blocks; *form; form++) {
        ns_near_try(&near, (*form)->keyword);
        ns_text_addf(&known, ", %s", (*form)->keyword);
    }
    if (near.found)
        ns_diag_error(p->r->diag, ns_parser_span(p),
                      "unknown statement `%s`; did you mean `%s`?", near.word, near.found);
    else
        ns_diag_error(p->r->diag, ns_parser_span(p), "unknown statement `%s`; there are: %s",
                      near.word, ns_text_string(&known));
}

void ns_statements_recover(ns_parser *p, uint32_t begin, bool in_block)
{
    int kind = p->token.kind;
    if (kind == NS_TOKEN_END || kind == NS_TOKEN_LINE || kind == ';' ||
        (kind == '}' && in_block)) {
        p->lexer.nested = 0;
        return;
    }
    /* A new line that begins with a keyword is where the next statement begins, even if a
     * bracket is still open. */
    if (p->token.first && p->token.begin > begin && (at_statement(p) || at_block(p))) {
        p->lexer.nested = 0;
        return;
    }
    ns_lexer_skip(&p->lexer, p->token.begin, in_block);
    ns_parser_next(p);
}

void ns_statements_parse(ns_reader *r, const char *text, size_t length)
{
    ns_parser p = {.r = r, .lexer = ns_lexer_new(r->diag, r->source, text, length)};
    bool some = false;
    ns_parser_next(&p);
    while (!ns_parser_at(&p, NS_TOKEN_END) && r->diag->errors < NS_STATEMENTS_MOST_ERRORS) {
        if (ns_parser_accept(&p, NS_TOKEN_LINE) || ns_parser_accept(&p, ';'))
            continue;
        some = true;
        uint32_t begin = p.token.begin;
        const ns_statement *statement = at_statement(&p);
        const ns_block_form *block = at_block(&p);
        bool good = statement || block;
        if (good) {
            ns_parser_next(&p);
            good = statement ? statement->parse(&p) : ns_blocks_parse(&p, block);
        } else {
            unknown_statement(&p);
        }
        if (good && (!ns_parser_at_end(&p) || ns_parser_at(&p, '}')))
            good = ns_parser_unexpected(&p, "an operator or the end of the statement");
        if (!good)
            ns_statements_recover(&p, begin, false);
    }
    if (!some)
        ns_diag_error(r->diag, (ns_span){.source = r->source},
                      "the model is empty: expected statements, for instance `coordinate x`");
}
