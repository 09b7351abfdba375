#include "mech/common/block.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"

const ns_block *ns_block_single(const ns_description *d, const ns_block_form *form)
{
    const ns_block *found = NULL;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        if (block->form != form)
            continue;
        if (found) {
            ns_diag_error(d->diag, block->span, "a second `%s`: the model has one already",
                          form->keyword);
            return found;
        }
        found = block;
    }
    return found;
}

const ns_property *ns_block_find(const ns_block *block, const char *name)
{
    for (uint32_t i = 0; block && i < block->properties.n; i++)
        if (strcmp(block->properties.at[i].name, name) == 0)
            return &block->properties.at[i];
    return NULL;
}

bool ns_block_has(const ns_block *block, const char *name)
{
    return ns_block_find(block, name) != NULL;
}

static const ns_value *value_at(const ns_description *d, const ns_property *p, uint32_t index)
{
    if (index < p->values)
        return &p->value[index];
    ns_diag_error(d->diag, p->span, index ? "`%s` needs another value" : "`%s` needs a value",
                  p->name);
    return NULL;
}

static void describe(char *text, size_t size, ns_value v)
{
    if (v.rows == 1 && v.cols == 1)
        snprintf(text, size, "a number");
    else if (v.cols == 1)
        snprintf(text, size, "a vector of %u", v.rows);
    else
        snprintf(text, size, "a %u x %u matrix", v.rows, v.cols);
}

static bool expect(const ns_description *d, ns_value value, ns_span span, const char *what,
                   uint32_t rows, uint32_t cols, const char *expected)
{
    if (value.rows == rows && value.cols == cols)
        return true;
    char found[64];
    describe(found, sizeof found, value);
    ns_diag_error(d->diag, span, "%s: expected %s, found %s", what, expected, found);
    return false;
}

bool ns_block_value_scalar(const ns_description *d, ns_value value, ns_span span,
                           const char *what, ns_ex *out)
{
    if (!expect(d, value, span, what, 1, 1, "a number"))
        return false;
    *out = value.at[0];
    return true;
}

bool ns_block_value_vector(const ns_description *d, ns_value value, ns_span span,
                           const char *what, ns_v3 *out)
{
    if (!expect(d, value, span, what, 3, 1, "a vector of 3"))
        return false;
    memcpy(out->at, value.at, sizeof out->at);
    return true;
}

static bool no_word(const ns_description *d, const ns_block *block, uint32_t i)
{
    const char *word = block->arg_words ? block->arg_words[i] : NULL;
    if (word)
        ns_diag_error(d->diag, block->arg_spans[i], "undefined name `%s`", word);
    return !word;
}

bool ns_block_argument(const ns_description *d, const ns_block *block, uint32_t i, ns_ex *out)
{
    return no_word(d, block, i) &&
           ns_block_value_scalar(d, block->args[i], block->arg_spans[i], block->kind, out);
}

bool ns_block_argument_vector(const ns_description *d, const ns_block *block, uint32_t i,
                              ns_v3 *out)
{
    return no_word(d, block, i) &&
           ns_block_value_vector(d, block->args[i], block->arg_spans[i], block->kind, out);
}

bool ns_block_scalar(const ns_description *d, const ns_property *p, uint32_t index, ns_ex *out)
{
    const ns_value *value = value_at(d, p, index);
    return value && ns_block_value_scalar(d, *value, p->value_span, p->name, out);
}

bool ns_block_vector(const ns_description *d, const ns_property *p, uint32_t index, ns_v3 *out)
{
    const ns_value *value = value_at(d, p, index);
    return value && ns_block_value_vector(d, *value, p->value_span, p->name, out);
}

bool ns_block_matrix(const ns_description *d, const ns_property *p, uint32_t index, ns_m3 *out)
{
    const ns_value *value = value_at(d, p, index);
    if (!value || !expect(d, *value, p->value_span, p->name, 3, 3, "a 3 x 3 matrix"))
        return false;
    memcpy(out->at, value->at, sizeof out->at);
    return true;
}

const char *ns_block_nearest(const char *name, const char *const *known)
{
    ns_near near = {.word = name};
    for (uint32_t i = 0; known[i]; i++)
        ns_near_try(&near, known[i]);
    return near.found;
}

static bool timeless(const ns_description *d, ns_value value, ns_span span, const char *what)
{
    for (uint32_t i = 0; value.at && i < value.rows * value.cols; i++)
        if (ns_graph_depends(d->graph, value.at[i], &d->time, 1)) {
            ns_diag_error(
                d->diag, span,
                "`%s` cannot change with time: bodies and grounds are rigid (`origin` "
                "and `turn` move a ground)",
                what);
            return false;
        }
    return true;
}

bool ns_block_rigid(const ns_description *d, const ns_block *block, const char *const *names)
{
    for (uint32_t i = 0; i < block->nargs; i++)
        if (block->args && !(block->arg_words && block->arg_words[i]) &&
            !timeless(d, block->args[i], block->arg_spans ? block->arg_spans[i] : block->span,
                      block->kind ? block->kind : block->form->keyword))
            return false;
    for (uint32_t k = 0; names[k]; k++) {
        const ns_property *p = ns_block_find(block, names[k]);
        for (uint32_t i = 0; p && i < p->values; i++)
            if (!timeless(d, p->value[i], p->value_span, p->name))
                return false;
    }
    return true;
}

bool ns_block_known(const ns_description *d, const ns_block *block, const char *const *names)
{
    bool good = true;
    for (uint32_t i = 0; block && i < block->properties.n; i++) {
        const ns_property *p = &block->properties.at[i];
        bool known = false;
        for (uint32_t k = 0; names[k]; k++)
            known = known || strcmp(names[k], p->name) == 0;
        for (uint32_t k = 0; known && k < i; k++)
            if (strcmp(block->properties.at[k].name, p->name) == 0) {
                ns_diag_error(d->diag, p->span, "`%s` is given twice", p->name);
                good = false;
            }
        if (known)
            continue;
        const char *near = ns_block_nearest(p->name, names);
        ns_text all = ns_text_new(d->arena);
        for (uint32_t k = 0; names[k]; k++)
            ns_text_addf(&all, "%s%s", k ? ", " : "", names[k]);
        if (near)
            ns_diag_error(d->diag, p->span,
                          "`%s` is not a property of `%s`; did you mean `%s`?", p->name,
                          block->form->keyword, near);
        else
            ns_diag_error(d->diag, p->span, "`%s` is not a property of `%s`; there are: %s",
                          p->name, block->form->keyword, ns_text_string(&all));
        good = false;
    }
    return good;
}
