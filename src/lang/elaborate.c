/* From jobs to the description: every statement's expressions on the graph, checked for what
 * that statement may contain. */
#include <math.h>
#include <string.h>

#include "lang/blocks.h"

enum {
    TIME = 1 << NS_SYM_TIME,
    PARAM = 1 << NS_SYM_PARAM,
    ACCEL = 1 << NS_SYM_ACCEL,
};

static bool is_number(const ns_value *value)
{
    return value->rows == 1 && value->cols == 1;
}

static bool expect_number(ns_reader *r, ns_span place, const ns_value *value, const char *what)
{
    if (is_number(value))
        return true;
    ns_cell cell = ns_arithmetic_cell(*value);
    ns_diag_error(r->diag, place, "%s must be a number, found %s", what,
                  ns_arithmetic_shape(r, &cell));
    return false;
}

/* Only symbols of the kinds allowed? */
static bool expect_kinds(ns_reader *r, ns_span place, const ns_value *value, uint32_t allowed,
                         const char *what)
{
    static const char *const names[] = {
        [NS_SYM_TIME] = "the time",         [NS_SYM_PARAM] = "the parameter",
        [NS_SYM_STATE] = "the state",       [NS_SYM_COORD] = "the coordinate",
        [NS_SYM_VELOCITY] = "the velocity", [NS_SYM_ACCEL] = "the acceleration",
        [NS_SYM_LOCAL] = "the quantity",
    };
    for (uint32_t i = 0; i < value->rows * value->cols; i++) {
        uint32_t bad = ns_facts_kinds(r, value->at[i]) & ~allowed;
        for (uint32_t kind = 0; kind <= NS_SYM_LOCAL; kind++) {
            ns_ex found;
            if (!(bad & (1u << kind)) ||
                !ns_graph_depends_kind(r->g, value->at[i], (ns_symbol_kind)kind, &found))
                continue;
            ns_diag_error(r->diag, place, "%s cannot contain %s %s%s", what, names[kind],
                          ns_graph_symbol(r->g, found)->name,
                          kind == NS_SYM_ACCEL
                              ? "; accelerations follow from the equations and "
                                "can only be observed"
                              : "");
            return false;
        }
    }
    return true;
}

/* Evaluates the one code of a job. */
static bool evaluate(ns_reader *r, ns_job *job, const ns_code *code, ns_value *out)
{
    ns_outcome outcome = ns_evaluate_code(r, code, out);
    job->progress = outcome.progress;
    job->missing = outcome.missing;
    return outcome.progress == NS_DONE;
}

static void broken(ns_job *job)
{
    job->progress = NS_BROKEN;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* The code of --set for this parameter, if there is one; false if it cannot be read. */
static bool override_code(ns_reader *r, const char *name, ns_code *code, bool *set)
{
    const ns_override *found = NULL;
    for (size_t i = 0; i < r->n_overrides; i++) /* the last one wins */
        if (strcmp(r->overrides[i].name, name) == 0)
            found = &r->overrides[i];
    *set = found != NULL;
    if (!found)
        return true;
    size_t length = strlen(found->expression);
    const char *text = ns_arena_string(r->arena, found->expression, length);
    uint32_t source = ns_diag_source(r->diag, ns_arena_format(r->arena, "--set %s", name), text,
                                     length);
    return ns_parser_expression_text(r, source, text, length, code);
}

/* The unit of a number with one: param g = 9.81 m/s^2 */
static const char *unit_of(ns_reader *r, const ns_code *code)
{
    uint32_t n = code->n;
    bool signed_number = n == 3 && code->at[2].op == NS_CODE_NEG;
    if ((n != 2 && !signed_number) || code->at[1].op != NS_CODE_UNIT)
        return "";
    ns_span place = {code->span.source, code->at[1].begin, code->at[1].end};
    ns_unit_product unit;
    ns_units_split(ns_reader_text(r, place), place.end - place.begin, &unit);
    ns_text text = ns_text_new(r->arena);
    ns_units_add_si(&text, &unit);
    return ns_text_string(&text);
}

static void elaborate_param(ns_reader *r, ns_job *job)
{
    uint32_t index = job->target->index;
    ns_param *param = &r->d->params.at[index];
    ns_code code = job->code[0];
    bool set;
    ns_value value;
    param->unit = unit_of(r, &code);
    if (!override_code(r, param->name, &code, &set)) {
        broken(job);
        return;
    }
    r->strict = true;
    if (!evaluate(r, job, &code, &value))
        return;
    broken(job);
    if (!expect_number(r, code.span, &value, "a parameter") ||
        !expect_kinds(r, code.span, &value, PARAM, "a parameter"))
        return;
    uint32_t last = ns_facts_last_param(r, value.at[0]);
    if (last > index) {
        ns_diag_error(r->diag, code.span,
                      "a parameter can depend only on parameters before it, not on '%s'",
                      r->d->params.at[last - 1].name);
        return;
    }
    double number = ns_facts_value(r, value.at[0]);
    if (!isfinite(number)) {
        ns_diag_error(r->diag, code.span, "the parameter '%s' has no finite value",
                      param->name);
        return;
    }
    param = &r->d->params.at[index];
    param->value = value.at[0];
    param->set = set;
    ns_facts_set(r, param->symbol, number);
    job->progress = NS_DONE;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void elaborate_let(ns_reader *r, ns_job *job)
{
    ns_evaluate_name(r, job->target);
    job->progress = job->target->progress;
    if (job->progress == NS_LATE && r->finishing) {
        ns_evaluate_undefined(r, job->target->missing, false);
        broken(job);
    }
}

static void elaborate_state(ns_reader *r, ns_job *job)
{
    ns_name *name = job->target;
    ns_evaluate_name(r, name);
    job->progress = name->progress;
    job->missing = name->missing;
    r->strict = true;
    if (name->progress == NS_LATE && !ns_evaluate_may_come(r, name->missing)) {
        ns_evaluate_undefined(r, name->missing, false);
        broken(job);
    }
    if (job->progress != NS_DONE)
        return;
    if (expect_number(r, name->code.span, &name->value, "the derivative of a state") &&
        expect_kinds(r, name->code.span, &name->value, ~(uint32_t)ACCEL,
                     "a state's derivative"))
        r->d->states.at[name->index].derivative = name->value.at[0];
    else
        broken(job);
}

/* ---- mechanics ------------------------------------------------------------------------------- */

/* Does an algebra still have to name its velocities, which the mechanics is written in? */
static bool velocities_come(const ns_reader *r)
{
    for (uint32_t i = 0; !r->defined && i < r->d->blocks.n; i++)
        if (strcmp(r->d->blocks.at[i].keyword, "algebra") == 0)
            return true;
    return false;
}

static void elaborate_lagrangian(ns_reader *r, ns_job *job)
{
    r->strict = !velocities_come(r);
    if (!evaluate(r, job, &job->code[0], &job->value))
        return;
    if (!expect_number(r, job->span, &job->value, "the Lagrangian") ||
        !expect_kinds(r, job->span, &job->value, ~(uint32_t)ACCEL, "the Lagrangian"))
        broken(job);
}

/* left - right of a job with two codes */
static bool difference(ns_reader *r, ns_job *job)
{
    ns_value side[2];
    if (!evaluate(r, job, &job->code[0], &side[0]))
        return false;
    if (!evaluate(r, job, &job->code[1], &side[1]))
        return false;
    ns_cell a = ns_arithmetic_cell(side[0]), b = ns_arithmetic_cell(side[1]);
    ns_cell out = ns_arithmetic_difference(r, job->code[0].span, &a, &b);
    if (out.rows == 0) {
        broken(job);
        return false;
    }
    job->value = ns_arithmetic_value(r, &out);
    return true;
}

static void elaborate_constraint(ns_reader *r, ns_job *job)
{
    r->strict = !velocities_come(r);
    if (!difference(r, job))
        return;
    if (!expect_kinds(r, job->span, &job->value, ~(uint32_t)ACCEL, "a constraint")) {
        broken(job);
        return;
    }
    for (uint32_t i = 0; i < job->value.rows * job->value.cols; i++)
        if (!(ns_facts_kinds(r, job->value.at[i]) & ~(uint32_t)(TIME | PARAM))) {
            ns_diag_error(r->diag, job->span,
                          "the constraint '%s' mentions no coordinate and no velocity",
                          job->name);
            broken(job);
            return;
        }
}

/* Do names of this model come from blocks, so that a name unknown here may be theirs? */
static bool has_blocks(const ns_reader *r)
{
    uint32_t own = (r->start_block ? 1u : 0u) + (r->force_block ? 1u : 0u);
    return r->d->blocks.n > own;
}

static void not_a_coordinate(ns_reader *r, const ns_job *job, const char *what)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    const char *nearest = NULL;
    unsigned best = ~0u;
    if (name) {
        ns_diag_error(r->diag, job->span, "'%s' is %s, not %s", job->name,
                      ns_scope_kind_text(name->kind), what);
        return;
    }
    for (uint32_t i = 0; i < r->d->coordinates.n; i++)
        ns_scope_consider(job->name, r->d->coordinates.at[i].name, &best, &nearest);
    for (uint32_t i = 0; i < r->d->states.n; i++)
        ns_scope_consider(job->name, r->d->states.at[i].name, &best, &nearest);
    if (nearest)
        ns_diag_error(r->diag, job->span, "'%s' is not %s; did you mean '%s'?", job->name, what,
                      nearest);
    else
        ns_diag_error(r->diag, job->span, "'%s' is not %s", job->name, what);
}

static void elaborate_property(ns_reader *r, ns_job *job);

/* An assignment to a name that only the formulation can know becomes a property. */
static bool to_property(ns_reader *r, ns_job *job, uint32_t *number, const char *keyword)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    if (!has_blocks(r) || (name && name->kind != NS_NAME_BLOCK && name->kind != NS_NAME_ENTRY))
        return false;
    job->block = ns_blocks_find(r, number, keyword, job->span);
    ns_block *block = &r->d->blocks.at[job->block];
    ns_text text = ns_text_new(r->arena);
    ns_text_add(&text, job->name);
    for (uint32_t i = 0; i < job->primes; i++)
        ns_text_add(&text, "'");
    job->kind = NS_JOB_PROPERTY;
    job->property = block->properties.n;
    NS_PUSH(r->arena, block->properties,
            (ns_property){.name = ns_text_string(&text),
                          .assigned = true,
                          .guess = job->guess,
                          .span = job->span,
                          .value_span = job->code[0].span});
    elaborate_property(r, job);
    return true;
}

static void elaborate_force(ns_reader *r, ns_job *job)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    if (!name || name->kind != NS_NAME_COORDINATE) {
        if (!to_property(r, job, &r->force_block, "force")) {
            not_a_coordinate(r, job, "a coordinate");
            broken(job);
        }
        return;
    }
    job->property = name->index;
    r->strict = true;
    if (!evaluate(r, job, &job->code[0], &job->value))
        return;
    if (!expect_number(r, job->code[0].span, &job->value, "a generalised force") ||
        !expect_kinds(r, job->code[0].span, &job->value, ~(uint32_t)ACCEL, "a force"))
        broken(job);
}

/* The symbol that a line of start { } sets; 0 after an error. */
static ns_ex start_symbol(ns_reader *r, ns_job *job, const ns_name *name)
{
    bool coordinate = name->kind == NS_NAME_COORDINATE;
    if (job->primes > (coordinate ? 1u : 0u)) {
        ns_diag_error(r->diag, job->span,
                      coordinate ? "a start sets coordinates and velocities; the rest follows "
                                   "from the equations"
                                 : "a start sets states; their derivatives follow from the "
                                   "equations");
        return 0;
    }
    const char *text = ns_arena_format(r->arena, "%s%s", job->name, job->primes ? "'" : "");
    const ns_name *old = ns_scope_find(&r->starts, text, strlen(text));
    if (old) {
        ns_diag_error(r->diag, job->span, "%s is started twice", text);
        ns_diag_note(r->diag, old->span, "first here");
        return 0;
    }
    ns_scope_add(r->arena, &r->starts, text, strlen(text), NS_NAME_LET, job->span);
    if (!coordinate)
        return r->d->states.at[name->index].symbol;
    const ns_coordinate *c = &r->d->coordinates.at[name->index];
    return job->primes ? c->v : c->q;
}

static void elaborate_start(ns_reader *r, ns_job *job)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    if (!name || (name->kind != NS_NAME_COORDINATE && name->kind != NS_NAME_STATE)) {
        if (!to_property(r, job, &r->start_block, "start")) {
            not_a_coordinate(r, job, "a coordinate or state");
            broken(job);
        }
        return;
    }
    if (!job->property)
        job->property = start_symbol(r, job, name);
    if (!job->property) {
        broken(job);
        return;
    }
    r->strict = true;
    if (!evaluate(r, job, &job->code[0], &job->value))
        return;
    ns_span place = job->code[0].span;
    if (!expect_number(r, place, &job->value, "a start value") ||
        !expect_kinds(r, place, &job->value, PARAM, "a start value")) {
        broken(job);
    } else if (!isfinite(ns_facts_value(r, job->value.at[0]))) {
        ns_diag_error(r->diag, place, "this start value is not finite");
        broken(job);
    }
}

/* ---- blocks and settings --------------------------------------------------------------------- */

bool ns_elaborate_is_word(ns_reader *r, const ns_code *code, const char **word)
{
    if (code->n != 1 || code->at[0].op != NS_CODE_NAME)
        return false;
    ns_span place = {code->span.source, code->at[0].begin, code->at[0].end};
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    *word = ns_arena_string(r->arena, text, length);
    return !ns_evaluate_is_known(r, text, length) && !ns_evaluate_is_member(r, text, length);
}

/* The arguments of a code that is one call, as codes of their own. */
static const ns_code *split_call(ns_reader *r, const ns_code *call)
{
    uint32_t n = call->n - 1, count = call->at[n].count, top = 0;
    ns_code *args = NS_NEW_ARRAY(r->arena, ns_code, count);
    /* where the code of each value on the stack begins */
    uint32_t *begin = NS_NEW_ARRAY(r->arena, uint32_t, call->n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t taken = ns_evaluate_taken(&call->at[i]);
        top -= taken;
        if (!taken)
            begin[top] = i;
        top++;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t end = k + 1 < count ? begin[k + 1] : n;
        args[k] = (ns_code){.at = call->at + begin[k], .n = end - begin[k], .span = call->span};
    }
    return args;
}

/* WORD(ARGUMENTS) where the word is no function */
static bool is_word_call(ns_reader *r, const ns_code *code, const char **word)
{
    if (code->n == 0 || code->at[code->n - 1].op != NS_CODE_CALL)
        return false;
    const ns_item *last = &code->at[code->n - 1];
    ns_span place = {code->span.source, last->begin, last->end};
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    if (ns_functions_is(text, length) || ns_scope_find(&r->scope, text, length))
        return false;
    *word = ns_arena_string(r->arena, text, length);
    return true;
}

static void elaborate_property(ns_reader *r, ns_job *job)
{
    ns_property property = r->d->blocks.at[job->block].properties.at[job->property];
    const ns_code *codes = job->code;
    uint32_t n = job->n;
    bool late = false;
    if (n == 1 && ns_elaborate_is_word(r, &codes[0], &property.word)) {
        n = 0;
        late = !r->defined; /* a formulation may still give it a meaning */
    } else if (n == 1 && is_word_call(r, &codes[0], &property.word)) {
        n = codes[0].at[codes[0].n - 1].count;
        codes = split_call(r, &codes[0]);
    } else if (n) {
        property.word = NULL;
    }
    r->strict = r->defined;
    job->progress = NS_DONE;
    ns_value *values = NS_NEW_ARRAY(r->arena, ns_value, n);
    for (uint32_t i = 0; i < n; i++)
        if (!evaluate(r, job, &codes[i], &values[i]))
            return;
    for (uint32_t i = 0; i < n; i++)
        if (!expect_kinds(r, codes[i].span, &values[i], ~(uint32_t)ACCEL, "this")) {
            broken(job);
            return;
        }
    property.value = values;
    property.values = n;
    r->d->blocks.at[job->block].properties.at[job->property] = property;
    if (late)
        job->progress = NS_LATE;
    job->missing = (ns_span){0};
}

/* Where the code of an argument stands in the source. */
static ns_span place_of(const ns_code *code)
{
    ns_span place = {code->span.source, code->at[0].begin, code->at[0].end};
    for (uint32_t i = 1; i < code->n; i++) {
        place.begin = code->at[i].begin < place.begin ? code->at[i].begin : place.begin;
        place.end = code->at[i].end > place.end ? code->at[i].end : place.end;
    }
    return place;
}

/* The bare name of a block (a body, a ground), which has no value of its own. */
static bool is_block(ns_reader *r, const ns_code *code)
{
    if (code->n != 1 || code->at[0].op != NS_CODE_NAME)
        return false;
    const ns_name *name = ns_scope_find(&r->scope, ns_reader_text(r, place_of(code)),
                                        code->at[0].end - code->at[0].begin);
    return name && name->kind == NS_NAME_BLOCK;
}

static void elaborate_block(ns_reader *r, ns_job *job)
{
    const ns_code *codes = job->code;
    uint32_t n = job->n;
    bool constraint = strcmp(r->d->blocks.at[job->block].keyword, "constraint") == 0;
    if (constraint) {
        const char *word;
        if (!is_word_call(r, &codes[0], &word)) {
            ns_span end = codes[0].span;
            end.begin = end.end;
            ns_diag_error(r->diag, end, "expected '=' and the other side of the constraint");
            broken(job);
            return;
        }
        n = codes[0].at[codes[0].n - 1].count;
        codes = split_call(r, &codes[0]);
    }
    ns_value *args = NS_NEW_ARRAY(r->arena, ns_value, n);
    const char **words = NS_NEW_ARRAY(r->arena, const char *, n);
    ns_span *spans = NS_NEW_ARRAY(r->arena, ns_span, n);
    job->progress = NS_DONE;
    for (uint32_t i = 0; i < n; i++) {
        spans[i] = place_of(&codes[i]);
        if (ns_elaborate_is_word(r, &codes[i], &words[i]))
            continue;
        if (is_block(r, &codes[i])) {
            if (r->defined)
                continue; /* a word, as the formulation gave it no value */
            job->progress = NS_LATE;
            job->missing = (ns_span){0};
            return;
        }
        words[i] = NULL;
        r->strict = r->defined;
        if (!evaluate(r, job, &codes[i], &args[i]))
            return;
    }
    ns_block *block = &r->d->blocks.at[job->block];
    block->args = args;
    block->arg_words = words;
    block->arg_spans = spans;
    block->nargs = n;
}

static void elaborate_setting(ns_reader *r, ns_job *job)
{
    ns_setting *setting = &r->d->settings.at[job->property];
    ns_value value;
    if (ns_elaborate_is_word(r, &job->code[0], &setting->word)) {
        job->progress = NS_DONE;
        return;
    }
    setting->word = NULL;
    r->strict = true;
    if (!evaluate(r, job, &job->code[0], &value))
        return;
    if (expect_number(r, setting->span, &value, "a setting") &&
        expect_kinds(r, setting->span, &value, PARAM, "a setting"))
        setting->value = value.at[0];
    else
        broken(job);
}

/* ---- late statements ------------------------------------------------------------------------- */

static void elaborate_named(ns_reader *r, ns_job *job)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    bool observe = job->kind == NS_JOB_OBSERVE;
    if (observe && name && (name->kind == NS_NAME_COORDINATE || name->kind == NS_NAME_STATE)) {
        ns_diag_error(r->diag, job->span,
                      "'%s' is %s and observed anyway; to see it in another unit give that a "
                      "name of its own: observe NAME in UNIT = %s",
                      job->name, ns_scope_kind_text(name->kind), job->name);
        broken(job);
        return;
    }
    r->strict = r->finishing;
    if (job->target) {
        ns_evaluate_name(r, job->target);
        job->progress = job->target->progress;
        job->missing = job->target->missing;
        job->value = job->target->value;
        if (job->progress == NS_LATE && r->finishing) {
            ns_evaluate_undefined(r, job->missing, false);
            broken(job);
        }
    } else {
        evaluate(r, job, &job->code[0], &job->value);
    }
    if (job->progress == NS_DONE && job->value.cols > 1) {
        ns_cell cell = ns_arithmetic_cell(job->value);
        ns_diag_error(r->diag, job->span, "expected a number or a vector, found %s",
                      ns_arithmetic_shape(r, &cell));
        broken(job);
    }
}

static void elaborate_event(ns_reader *r, ns_job *job)
{
    r->strict = r->finishing;
    if (job->n == 2 ? !difference(r, job) : !evaluate(r, job, &job->code[0], &job->value))
        return;
    if (!expect_number(r, job->code[0].span, &job->value, "an event")) {
        broken(job);
    } else if (!(ns_facts_kinds(r, job->value.at[0]) & ~(uint32_t)PARAM)) {
        ns_diag_error(r->diag, job->code[0].span,
                      "this never changes: the event '%s' cannot occur", job->name);
        broken(job);
    }
}

static void elaborate(ns_reader *r, ns_job *job)
{
    switch (job->kind) {
    case NS_JOB_PARAM:
        elaborate_param(r, job);
        break;
    case NS_JOB_LET:
        elaborate_let(r, job);
        break;
    case NS_JOB_STATE:
        elaborate_state(r, job);
        break;
    case NS_JOB_LAGRANGIAN:
        elaborate_lagrangian(r, job);
        break;
    case NS_JOB_CONSTRAINT:
        elaborate_constraint(r, job);
        break;
    case NS_JOB_FORCE:
        elaborate_force(r, job);
        break;
    case NS_JOB_START:
        elaborate_start(r, job);
        break;
    case NS_JOB_SETTING:
        elaborate_setting(r, job);
        break;
    case NS_JOB_BLOCK:
        elaborate_block(r, job);
        break;
    case NS_JOB_PROPERTY:
        elaborate_property(r, job);
        break;
    case NS_JOB_OBSERVE:
    case NS_JOB_INVARIANT:
        elaborate_named(r, job);
        break;
    case NS_JOB_EVENT:
        elaborate_event(r, job);
        break;
    case NS_JOB_DRAW:
        ns_draw_elaborate(r, job);
        break;
    }
}

/* ---- publishing ------------------------------------------------------------------------------ */

/* NAME, or for vectors NAME.1 ... or NAME.x ... */
static const char *row_name(ns_reader *r, const ns_job *job, uint32_t i, bool letters)
{
    if (is_number(&job->value))
        return job->name;
    if (letters && job->value.rows <= 3)
        return ns_arena_format(r->arena, "%s.%c", job->name, (int)("xyz"[i]));
    return ns_arena_format(r->arena, "%s.%u", job->name, i + 1);
}

static void publish(ns_reader *r, const ns_job *job)
{
    ns_description *d = r->d;
    uint32_t n = job->value.rows * job->value.cols;
    switch (job->kind) {
    case NS_JOB_LAGRANGIAN:
        d->lagrangian = job->value.at[0];
        break;
    case NS_JOB_CONSTRAINT:
        for (uint32_t i = 0; i < n; i++)
            NS_PUSH(r->arena, d->constraints,
                    (ns_constraint_line){.name = row_name(r, job, i, false),
                                         .residual = job->value.at[i],
                                         .span = job->span});
        break;
    case NS_JOB_FORCE:
        NS_PUSH(r->arena, d->forces,
                (ns_force_line){.coordinate = job->property,
                                .value = job->value.at[0],
                                .span = job->code[0].span});
        break;
    case NS_JOB_START:
        NS_PUSH(r->arena, d->starts,
                (ns_start_line){.symbol = job->property,
                                .value = job->value.at[0],
                                .guess = job->guess,
                                .span = ns_diag_join(job->span, job->code[0].span)});
        break;
    case NS_JOB_OBSERVE:
    case NS_JOB_INVARIANT:
        for (uint32_t i = 0; i < n && r->finishing; i++) {
            ns_ex value = job->value.at[i];
            ns_named_line line = {.name = row_name(r, job, i, true),
                                  .value = job->unit ? ns_units_divide(r->g, job->unit, value)
                                                     : value,
                                  .unit = job->unit_text,
                                  .span = job->span};
            if (job->kind == NS_JOB_OBSERVE)
                NS_PUSH(r->arena, d->observes, line);
            else
                NS_PUSH(r->arena, d->invariants, line);
        }
        break;
    case NS_JOB_EVENT:
        if (r->finishing)
            NS_PUSH(r->arena, d->events,
                    (ns_event_line){.name = job->name,
                                    .value = job->value.at[0],
                                    .direction = job->direction,
                                    .action = job->action,
                                    .meaning = job->meaning,
                                    .span = job->span});
        break;
    default: /* these write where they belong */
        break;
    }
}

void ns_elaborate_jobs(ns_reader *r)
{
    ns_description *d = r->d;
    /* Parameters first: whether a start value is finite depends on their values. */
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < r->jobs.n; i++) {
            ns_job *job = &r->jobs.at[i];
            bool waiting = job->progress == NS_WAITING || job->progress == NS_LATE;
            if (waiting && (job->kind == NS_JOB_PARAM) == (pass == 0))
                elaborate(r, job);
        }
    for (uint32_t i = 0; r->finishing && i < d->functions.n; i++) {
        const ns_name *name = ns_scope_find(&r->scope, d->functions.at[i].name,
                                            strlen(d->functions.at[i].name));
        if (!name->used)
            ns_evaluate_check_names(r, name);
    }
    d->constraints.n = d->forces.n = d->starts.n = 0;
    for (uint32_t i = 0; i < r->jobs.n; i++)
        if (r->jobs.at[i].progress == NS_DONE)
            publish(r, &r->jobs.at[i]);
}
