/* The catalogue: finding a shape, reading its sizes, and what all shapes are made with.  A new
 * one is a function in shapes_bodies.c or shapes_grounds.c and a row in the table at the end of
 * that file. */
#include "mech/contact/shapes.h"

#include <string.h>

#include "expr/subst.h"
#include "mech/contact/shapes_internal.h"

const char *const ns_shapes_letters[5] = {"x", "y", "z", "u", "v"};

bool ns_shapes_offer(ns_description *d, ns_locals *locals, bool needed)
{
    ns_scope_entry entries[5];
    for (uint32_t i = 0; i < 5; i++) {
        ns_ex *symbol = i < 3 ? &locals->x[i] : &locals->u[i - 3];
        *symbol = ns_symbol_new(d->graph, ns_shapes_letters[i], NS_SYM_LOCAL, i);
        entries[i] = (ns_scope_entry){
            .name = ns_shapes_letters[i], .value = {1, 1, symbol}, .unit = i < 3 ? "m" : NULL};
    }
    return !needed || ns_description_offer(d, entries, 5);
}

void ns_shapes_states(ns_shapes_work *w, ns_quantity kind, const char *vector, const char *axes,
                      ns_ex *out)
{
    w->out->kind = kind;
    w->out->vector = vector;
    w->out->axes = axes;
    for (uint32_t i = 0; axes[i]; i++) {
        const char *name = ns_arena_format(w->d->arena, "%s.%c", vector, axes[i]);
        out[i] = ns_symbol_new(w->g, name, NS_SYM_STATE, i);
    }
}

ns_drawing *ns_shapes_draw(ns_shapes_work *w, ns_drawing_kind how)
{
    ns_drawing *d = &w->out->drawing;
    d->kind = how;
    memcpy(d->x, w->locals->x, sizeof d->x);
    memcpy(d->u, w->locals->u, sizeof d->u);
    return d;
}

bool ns_shapes_argument(ns_shapes_work *w, uint32_t i, ns_ex *out)
{
    const char *word = w->block->arg_words ? w->block->arg_words[i] : NULL;
    for (int k = 0; word && k < 5; k++) /* a lone name was read before it was known */
        if (strcmp(word, ns_shapes_letters[k]) == 0) {
            *out = k < 3 ? w->locals->x[k] : w->locals->u[k - 3];
            return true;
        }
    return ns_block_argument(w->d, w->block, i, out);
}

bool ns_shapes_argument_vector(ns_shapes_work *w, uint32_t i, ns_v3 *out)
{
    return ns_block_argument_vector(w->d, w->block, i, out);
}

bool ns_shapes_implicit(ns_shapes_work *w, ns_ex F)
{
    if (!w->out->drawing.kind || !w->body) {
        ns_drawing *d = ns_shapes_draw(w, NS_DRAW_IMPLICIT);
        d->F = w->outward < 0 ? ns_neg(w->g, F) : F;
        d->inside = w->outward < 0;
        if (!w->body) { /* where the ground's frame stands */
            ns_v3 at;
            for (int i = 0; i < 3; i++)
                at.at[i] = ns_sub(w->g, d->x[i], w->shift.at[i]);
            d->F = ns_subst_one(w->g, d->F, w->locals->x, at.at, 3);
        }
    }
    ns_ex symbol[3];
    ns_v3 point, local;
    ns_shapes_states(w, w->body ? NS_QUANTITY_ON_BODY : NS_QUANTITY_PLACE,
                     w->body ? "s" : "contact", "xyz", symbol);
    for (int i = 0; i < 3; i++) {
        point.at[i] = w->body ? ns_add(w->g, symbol[i], w->shift.at[i]) : symbol[i];
        local.at[i] = w->body ? point.at[i] : ns_sub(w->g, symbol[i], w->shift.at[i]);
    }
    F = ns_subst_one(w->g, F, w->locals->x, local.at, 3);
    w->out->side = ns_side_implicit(w->g, F, symbol, point, w->outward);
    return true;
}

const char *const ns_shapes_ground_properties[] = {"tilt", "heading", "at",   "axis",
                                                   "side", "origin",  "turn", NULL};

const char *ns_shapes_list(ns_arena *arena, bool ground)
{
    ns_text text = ns_text_new(arena);
    for (const ns_shapes_kind *k = ground ? ns_shapes_grounds : ns_shapes_bodies; k->name; k++)
        ns_text_addf(&text, "%s%s(%s)", text.length ? ", " : "", k->name, k->sizes);
    return ns_text_string(&text);
}

const char *ns_shapes_solid(const char *name)
{
    for (const ns_shapes_kind *k = ns_shapes_bodies; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k->solid;
    return NULL;
}

const char *ns_shapes_variables(const ns_block *block)
{
    const ns_shapes_kind *k = block->form == &ns_block_ground ? ns_shapes_grounds
                              : block->form == &ns_block_body ? ns_shapes_bodies
                                                              : NULL;
    for (; block->kind && k && k->name; k++)
        if (strcmp(k->name, block->kind) == 0 && k->n == 0) {
            const char *of = strstr(k->sizes, " of "), *next;
            while (of && (next = strstr(of + 4, " of ")))
                of = next;
            return of ? of + 4 : NULL;
        }
    return NULL;
}

static const ns_shapes_kind *find(ns_shapes_work *w, const ns_shapes_kind *table)
{
    const ns_block *b = w->block;
    for (const ns_shapes_kind *k = table; b->kind && k->name; k++) {
        if (strcmp(k->name, b->kind) != 0)
            continue;
        bool functions = k->n == 0 && k->sizes[0]; /* arguments that are functions */
        if (functions ? b->nargs >= 1 : b->nargs == k->n)
            return k;
        ns_diag_error(w->d->diag, b->kind_span, "%s takes %s: %s(%s)", k->name,
                      functions   ? "a function"
                      : k->n == 0 ? "no sizes"
                                  : "these sizes",
                      k->name, k->sizes);
        return NULL;
    }
    ns_diag_error(w->d->diag, b->kind ? b->kind_span : b->span,
                  b->kind ? "there is no %s `%s`; there are: %s"
                          : "a %s needs a shape%s; there are: %s",
                  b->form->keyword, b->kind ? b->kind : "",
                  ns_shapes_list(w->d->arena, table == ns_shapes_grounds));
    return NULL;
}

/* A property that means nothing for this shape must not be ignored. */
static bool properties_fit(ns_shapes_work *w, const ns_shapes_kind *k)
{
    static const char *const names[] = {"tilt",    "heading", "axis", "side",
                                        "contact", "flip",    "limit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ns_property *p = ns_block_find(w->block, names[i]);
        if (p && !strstr(k->takes, names[i])) {
            ns_diag_error(w->d->diag, p->span, "`%s` means nothing for a %s `%s`", names[i],
                          w->block->form->keyword, k->name);
            return false;
        }
    }
    return true;
}

static bool make(ns_shapes_work *w, const ns_shapes_kind *table)
{
    const ns_shapes_kind *k = find(w, table);
    if (!k || !properties_fit(w, k))
        return false;
    for (uint32_t i = 0; i < k->n; i++) {
        if (!ns_shapes_argument(w, i, &w->a[i]))
            return false;
        w->out->size[i] = w->a[i];
    }
    w->out->n_sizes = k->n;
    w->out->sizes = k->sizes;
    w->out->signs = k->signs;
    return k->make(w);
}

bool ns_shapes_known(ns_description *d, const ns_block *block)
{
    ns_shapes_work w = {.d = d, .g = d->graph, .block = block};
    return find(&w, ns_shapes_bodies) != NULL;
}

bool ns_shapes_body(ns_description *d, const ns_block *block, const ns_locals *locals,
                    ns_v3 centre, ns_shape *out)
{
    *out = (ns_shape){0};
    ns_shapes_work w = {
        .d = d, .g = d->graph, .block = block, .locals = locals, .shift = centre};
    w.body = true;
    w.outward = ns_block_has(block, "flip") ? -1 : 1;
    w.out = out;
    static const char *const rigid[] = {"limit", NULL};
    return ns_block_rigid(d, block, rigid) && make(&w, ns_shapes_bodies) &&
           ns_shapes_given_limits(&w);
}

bool ns_shapes_ground(ns_description *d, const ns_block *block, const ns_locals *locals,
                      ns_shape *out)
{
    *out = (ns_shape){0};
    ns_shapes_work w = {.d = d, .g = d->graph, .block = block, .locals = locals, .out = out};
    w.outward = 1;
    w.shift = ns_v3_zero(d->graph);
    const ns_property *at = ns_block_find(block, "at"), *side = ns_block_find(block, "side");
    if (at && !ns_block_vector(d, at, 0, &w.shift))
        return false;
    if (side) {
        bool inside = side->word && strcmp(side->word, "inside") == 0;
        if (!inside && !(side->word && strcmp(side->word, "outside") == 0)) {
            ns_diag_error(d->diag, side->value_span, "side is `inside` or `outside`");
            return false;
        }
        w.outward = inside ? -1 : 1;
    }
    static const char *const rigid[] = {"at", "axis", "tilt", "heading", NULL};
    return ns_block_rigid(d, block, rigid) && make(&w, ns_shapes_grounds);
}
