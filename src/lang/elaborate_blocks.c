/* Blocks and settings: words, calls of words, and values. */
#include <math.h>
#include <string.h>

#include "lang/elaborate.h"

bool ns_elaborate_is_word(ns_reader *r, const ns_postfix *code, const char **word)
{
    if (code->n != 1 || code->at[0].op != NS_POSTFIX_NAME)
        return false;
    ns_span place = {code->span.source, code->at[0].begin, code->at[0].end};
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    *word = ns_arena_string(r->arena, text, length);
    return !ns_scope_is_known(r, text, length) && !ns_scope_is_member(r, text, length) &&
           !ns_scope_is_reaction(text, length);
}

/* The arguments of a code that is one call, as codes of their own. */
static const ns_postfix *split_call(ns_reader *r, const ns_postfix *call)
{
    uint32_t n = call->n - 1, count = call->at[n].count, top = 0;
    ns_postfix *args = NS_NEW_ARRAY(r->arena, ns_postfix, count);
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
        args[k] = (ns_postfix){
            .at = call->at + begin[k], .n = end - begin[k], .span = call->span};
    }
    return args;
}

/* WORD(ARGUMENTS) where the word is not a function */
static bool is_word_call(ns_reader *r, const ns_postfix *code, const char **word)
{
    if (code->n == 0 || code->at[code->n - 1].op != NS_POSTFIX_CALL)
        return false;
    const ns_item *last = &code->at[code->n - 1];
    ns_span place = {code->span.source, last->begin, last->end};
    const char *text = ns_reader_text(r, place);
    size_t length = place.end - place.begin;
    const ns_name *name = ns_scope_find(&r->scope, text, length);
    if (ns_functions_is(text, length) || (name && name->kind == NS_NAME_FUNCTION))
        return false; /* what is not a function cannot be called: kinds have names of their
                       * own */
    *word = ns_arena_string(r->arena, text, length);
    return true;
}

void ns_elaborate_property(ns_reader *r, ns_job *job)
{
    ns_property property = r->d->blocks.at[job->block].properties.at[job->property];
    const ns_postfix *codes = job->code;
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
    job->progress = NS_READ_DONE;
    ns_value *values = NS_NEW_ARRAY(r->arena, ns_value, n);
    for (uint32_t i = 0; i < n; i++)
        if (!ns_elaborate_code(r, job, &codes[i], &values[i]))
            return;
    for (uint32_t i = 0; i < n; i++)
        if (!ns_elaborate_expect_kinds(r, codes[i].span, &values[i], ~(uint32_t)NS_KIND_ACCEL,
                                       "this")) {
            job->progress = NS_READ_BROKEN;
            return;
        }
    property.value = values;
    property.values = n;
    r->d->blocks.at[job->block].properties.at[job->property] = property;
    if (late)
        job->progress = NS_READ_LATE;
    job->missing = (ns_span){0};
}

/* Where the code of an argument stands in the source. */
static ns_span place_of(const ns_postfix *code)
{
    ns_span place = {code->span.source, code->at[0].begin, code->at[0].end};
    for (uint32_t i = 1; i < code->n; i++) {
        place.begin = code->at[i].begin < place.begin ? code->at[i].begin : place.begin;
        place.end = code->at[i].end > place.end ? code->at[i].end : place.end;
    }
    return place;
}

/* The bare name of a block (a body, a ground), which has no value of its own. */
static bool is_block(ns_reader *r, const ns_postfix *code)
{
    if (code->n != 1 || code->at[0].op != NS_POSTFIX_NAME)
        return false;
    const ns_name *name = ns_scope_find(&r->scope, ns_reader_text(r, place_of(code)),
                                        code->at[0].end - code->at[0].begin);
    return name && name->kind == NS_NAME_BLOCK;
}

void ns_elaborate_block(ns_reader *r, ns_job *job)
{
    const ns_postfix *codes = job->code;
    uint32_t n = job->n;
    bool constraint = r->d->blocks.at[job->block].form == &ns_block_constraint;
    if (constraint) {
        const char *word;
        if (!is_word_call(r, &codes[0], &word)) {
            ns_span end = codes[0].span;
            end.begin = end.end;
            ns_diag_error(r->diag, end, "expected `=` and the other side of the constraint");
            job->progress = NS_READ_BROKEN;
            return;
        }
        n = codes[0].at[codes[0].n - 1].count;
        codes = split_call(r, &codes[0]);
    }
    ns_value *args = NS_NEW_ARRAY(r->arena, ns_value, n);
    const char **words = NS_NEW_ARRAY(r->arena, const char *, n);
    ns_span *spans = NS_NEW_ARRAY(r->arena, ns_span, n);
    job->progress = NS_READ_DONE;
    for (uint32_t i = 0; i < n; i++) {
        spans[i] = place_of(&codes[i]);
        if (ns_elaborate_is_word(r, &codes[i], &words[i]))
            continue;
        if (is_block(r, &codes[i])) {
            if (r->defined)
                continue; /* a word, as the formulation gave it no value */
            job->progress = NS_READ_LATE;
            job->missing = (ns_span){0};
            return;
        }
        words[i] = NULL;
        r->strict = r->defined;
        if (!ns_elaborate_code(r, job, &codes[i], &args[i]))
            return;
    }
    ns_block *block = &r->d->blocks.at[job->block];
    block->args = args;
    block->arg_words = words;
    block->arg_spans = spans;
    block->nargs = n;
}

static bool check_word(ns_reader *r, const ns_setting *setting)
{
    const ns_setting_form *form = setting->form;
    const bool is_switch = form->kind == NS_SETTING_SWITCH;
    const char *word = setting->word, *wrong = NULL;
    char text[NS_SETTING_TEXT];
    if (!word)
        ns_diag_error(r->diag, setting->span, "`%s` expects %s, not a number", form->name,
                      is_switch ? "on or off" : "a word");
    else if (is_switch && strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
        ns_diag_error(r->diag, setting->span, "`%s` is on or off, not `%s`", form->name, word);
    else if (is_switch || !(wrong = form->wrong(word, text)))
        return true;
    else
        ns_diag_error(r->diag, setting->span, "%s", wrong);
    return false;
}

bool ns_description_setting(ns_diag *diag, const ns_setting *setting, double value)
{
    const ns_setting_form *form = setting->form;
    if (!isfinite(value))
        ns_diag_error(diag, setting->span, "`%s` has no finite value", form->name);
    else if (form->kind != NS_SETTING_NUMBER && !(value > 0))
        ns_diag_error(diag, setting->span, "`%s` is %g: it must be positive", form->name,
                      value);
    else if (form->kind == NS_SETTING_FRACTION && !(value < 1))
        ns_diag_error(diag, setting->span, "`%s` is %g: it must be smaller than 1", form->name,
                      value);
    else if (form->kind == NS_SETTING_COUNT && !(value >= 1))
        ns_diag_error(diag, setting->span, "`%s` is %g: it must be 1 or more", form->name,
                      value);
    else
        return true;
    return false;
}

static bool check_number(ns_reader *r, const ns_setting *setting)
{
    if (!setting->word)
        return ns_description_setting(r->diag, setting, ns_facts_value(r, setting->value));
    ns_diag_error(r->diag, setting->span, "`%s` expects a number, not `%s`",
                  setting->form->name, setting->word);
    return false;
}

void ns_elaborate_setting(ns_reader *r, ns_job *job)
{
    ns_setting *setting = &r->d->settings.at[job->property];
    const ns_setting_kind kind = setting->form->kind;
    job->progress = NS_READ_DONE;
    if (job->n && !ns_elaborate_is_word(r, &job->code[0], &setting->word)) {
        ns_value value;
        setting->word = NULL;
        r->strict = true;
        if (!ns_elaborate_code(r, job, &job->code[0], &value))
            return;
        job->progress = NS_READ_BROKEN;
        if (!ns_elaborate_expect_number(r, setting->span, &value, "a setting") ||
            !ns_elaborate_expect_kinds(r, setting->span, &value, NS_KIND_PARAM, "a setting"))
            return;
        setting->value = value.at[0];
    }
    const bool good = kind == NS_SETTING_WORD || kind == NS_SETTING_SWITCH
                          ? check_word(r, setting)
                          : check_number(r, setting);
    job->progress = good ? NS_READ_DONE : NS_READ_BROKEN;
}
