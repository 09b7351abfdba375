#include "lang/dimension/agree.h"

#include <string.h>

#include "lang/dimension/walk.h"

/* ---- what the model says ----------------------------------------------------------------- */

/* Does any unit of the text have a dimension?  Angles alone do not. */
static bool is_dimensional(ns_walk *c, const char *unit, size_t length)
{
    ns_form form;
    return length && ns_form_of_unit(&c->f, unit, length, &form) && form.n;
}

static bool code_has_units(ns_walk *c, const ns_postfix *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < code[i].n; k++) {
            const ns_item *item = &code[i].at[k];
            const ns_span place = {code[i].span.source, item->begin, item->end};
            if (item->op == NS_POSTFIX_UNIT &&
                is_dimensional(c, ns_reader_text(c->r, place), item->end - item->begin))
                return true;
        }
    return false;
}

static bool model_has_units(ns_walk *c)
{
    const ns_description *d = c->r->d;
    for (uint32_t i = 0; i < d->coordinates.n; i++)
        if (is_dimensional(c, d->coordinates.at[i].unit, strlen(d->coordinates.at[i].unit)))
            return true;
    for (uint32_t i = 0; i < d->states.n; i++)
        if (is_dimensional(c, d->states.at[i].unit, strlen(d->states.at[i].unit)))
            return true;
    for (uint32_t i = 0; i < c->r->jobs.n; i++) {
        const ns_job *job = &c->r->jobs.at[i];
        if (job->kind != NS_JOB_SETTING && job->kind != NS_JOB_DRAW &&
            code_has_units(c, job->code, job->n))
            return true;
    }
    return false;
}

/* ---- statements -------------------------------------------------------------------------- */

static const char *quoted(ns_walk *c, const char *name, const char *primes)
{
    return ns_arena_format(c->r->arena, "`%s%s`", name, primes);
}

/* A unit that somebody declared; false if it says nothing. */
static bool declared(ns_walk *c, const char *unit, ns_form *form)
{
    return unit && unit[0] && ns_form_of_unit(&c->f, unit, strlen(unit), form);
}

static void demand_unit(ns_walk *c, const ns_agreed *a, const char *unit, const char *what,
                        ns_span place)
{
    ns_form form;
    if (declared(c, unit, &form))
        ns_walk_demand(c, a, form, what, place);
}

static void check_param(ns_walk *c, const ns_job *job)
{
    ns_name *name = job->target;
    ns_agreed a = ns_walk_code(c, &job->code[0]);
    if (a.weak || a.any) { /* a bare number: its uses tell */
        a = (ns_agreed){.form = ns_form_new(&c->f, name->text, name->span)};
        a.span = name->span;
    }
    a.scaled = false;
    demand_unit(c, &a, name->unit, quoted(c, name->text, ""), (ns_span){0});
    if (name->code.n) { /* by --set */
        const ns_agreed set = ns_walk_code(c, &name->code);
        c->bare = true;
        ns_walk_demand(c, &set, a.form, quoted(c, name->text, ""), name->span);
        c->bare = false;
    }
    name->agreed = ns_arena_copy(c->r->arena, &a, sizeof a);
}

static void check_state(ns_walk *c, const ns_job *job)
{
    const ns_name *name = job->target;
    static const ns_form_term second = {.of = NS_FORM_SECOND, .power = 1};
    const ns_agreed f = ns_walk_code(c, &name->code);
    const ns_agreed x = ns_walk_name(c, name->text, strlen(name->text), name->span);
    if (!x.any)
        ns_walk_demand(c, &f, ns_form_add(&c->f, x.form, -1, (ns_form){&second, 1}),
                       quoted(c, name->text, "'"), name->span);
}

/* NAME, with primes, is set to a value: start, and what events change. */
static void check_set(ns_walk *c, const char *name, uint32_t primes, ns_span place,
                      const ns_agreed *value)
{
    static const ns_form_term second = {.of = NS_FORM_SECOND, .power = 1};
    size_t length = strlen(name);
    while (length && name[length - 1] == '\'') {
        length--;
        primes++;
    }
    const ns_agreed x = ns_walk_name(c, name, length, place);
    if (x.any || x.weak)
        return;
    c->bare = true;
    ns_walk_demand(c, value, ns_form_add(&c->f, x.form, -(double)primes, (ns_form){&second, 1}),
                   ns_arena_format(c->r->arena, "`%.*s%.*s`", (int)length, name,
                                   primes < 2 ? (int)primes : 2, "''"),
                   place);
    c->bare = false;
}

static void check_force(ns_walk *c, const ns_job *job)
{
    const ns_agreed force = ns_walk_code(c, &job->code[0]);
    const ns_agreed q = ns_walk_name(c, job->name, strlen(job->name), job->span);
    const ns_agreed *L = c->lagrangian;
    if (!L || L->any || L->weak || q.any || q.weak)
        return;
    ns_walk_demand(c, &force, ns_form_add(&c->f, L->form, -1, q.form),
                   ns_arena_format(c->r->arena,
                                   "the force on `%s`, Lagrangian over coordinate,", job->name),
                   L->span);
}

static const char *look_up(const ns_unit_of *table, const char *name)
{
    for (; table && table->name && name; table++)
        if (strcmp(table->name, name) == 0)
            return table->unit;
    return NULL;
}

static void check_block(ns_walk *c, const ns_job *job)
{
    const ns_block *block = &c->r->d->blocks.at[job->block];
    const ns_block_form *form = block->form;
    const char *unit = form->values ? look_up(form->units, form->keyword)
                                    : look_up(form->sizes, block->kind);
    for (uint32_t i = 0; unit && i < job->n; i++) {
        const ns_agreed a = ns_walk_code(c, &job->code[i]);
        demand_unit(c, &a, unit,
                    form->values ? quoted(c, form->keyword, "")
                                 : ns_arena_format(c->r->arena, "a size of `%s`", block->kind),
                    (ns_span){0});
    }
}

static void check_property(ns_walk *c, const ns_job *job)
{
    const ns_block *block = &c->r->d->blocks.at[job->block];
    const ns_property *property = &block->properties.at[job->property];
    const bool start = block->form == &ns_block_start;
    const char *unit = look_up(block->form->units, property->name);
    if (!unit && property->assigned)
        unit = block->form->points;
    if (property->word || !job->n || (!unit && !start))
        return;
    const ns_agreed a = ns_walk_code(c, &job->code[0]);
    if (start)
        check_set(c, property->name, 0, property->span, &a);
    else
        demand_unit(c, &a, unit, quoted(c, property->name, ""), (ns_span){0});
}

static void check_setting(ns_walk *c, const ns_job *job)
{
    const ns_setting *setting = &c->r->d->settings.at[job->property];
    if (setting->word || !job->n)
        return;
    const ns_agreed a = ns_walk_code(c, &job->code[0]);
    c->bare = true;
    demand_unit(c, &a, setting->form->unit, quoted(c, setting->form->name, ""), (ns_span){0});
    c->bare = false;
}

static void check_observed(ns_walk *c, const ns_job *job)
{
    const ns_agreed a = job->n ? ns_walk_code(c, &job->code[0])
                               : ns_walk_name(c, job->name, strlen(job->name), job->span);
    demand_unit(c, &a, job->unit_text, quoted(c, job->name, ""), (ns_span){0});
}

static void check_both_sides(ns_walk *c, const ns_job *job)
{
    const ns_agreed a = ns_walk_code(c, &job->code[0]);
    if (job->n < 2)
        return;
    const ns_agreed b = ns_walk_code(c, &job->code[1]);
    c->bare = job->kind == NS_JOB_EVENT; /* event far: x = 2 */
    ns_walk_same(c, &a, &b, "set equal to");
    c->bare = false;
}

static void check_event(ns_walk *c, const ns_job *job)
{
    check_both_sides(c, job);
    for (uint32_t i = 0; i < job->n_changes; i++) {
        const ns_change *change = &job->changes[i];
        if (!change->has_code)
            continue;
        const ns_agreed a = ns_walk_code(c, &change->code);
        if (change->name)
            check_set(c, change->name, 0, change->span, &a);
    }
}

static void check_job(ns_walk *c, const ns_job *job)
{
    switch (job->kind) {
    case NS_JOB_LET:
        if (job->target && job->target->kind == NS_NAME_LET)
            ns_walk_name(c, job->target->text, strlen(job->target->text), job->span);
        break;
    case NS_JOB_STATE:
        check_state(c, job);
        break;
    case NS_JOB_CONSTRAINT:
        check_both_sides(c, job);
        break;
    case NS_JOB_FORCE:
        check_force(c, job);
        break;
    case NS_JOB_START:
        if (job->n) {
            const ns_agreed value = ns_walk_code(c, &job->code[0]);
            check_set(c, job->name, job->primes, job->span, &value);
        }
        break;
    case NS_JOB_SETTING:
        check_setting(c, job);
        break;
    case NS_JOB_BLOCK:
        check_block(c, job);
        break;
    case NS_JOB_PROPERTY:
        check_property(c, job);
        break;
    case NS_JOB_OBSERVE:
    case NS_JOB_INVARIANT:
        check_observed(c, job);
        break;
    case NS_JOB_EVENT:
        check_event(c, job);
        break;
    default: /* parameters and the Lagrangian are known before; pictures may be anything */
        break;
    }
}

static void check_all(ns_walk *c)
{
    ns_reader *r = c->r;
    c->work = 0;
    c->lagrangian = NULL;
    for (uint32_t i = 0; i < r->scope.names.n; i++)
        r->scope.names.at[i]->agreed = NULL;
    for (uint32_t i = 0; i < r->jobs.n; i++)
        if (r->jobs.at[i].kind == NS_JOB_PARAM && r->jobs.at[i].target)
            check_param(c, &r->jobs.at[i]);
    for (uint32_t i = 0; i < r->jobs.n; i++)
        if (r->jobs.at[i].kind == NS_JOB_LAGRANGIAN) {
            const ns_agreed L = ns_walk_code(c, &r->jobs.at[i].code[0]);
            c->lagrangian = ns_arena_copy(r->arena, &L, sizeof L);
        }
    for (uint32_t i = 0; i < r->jobs.n; i++)
        check_job(c, &r->jobs.at[i]);
}

void ns_agree_check(ns_description *d)
{
    ns_reader *r = d->reader;
    ns_walk c = {.r = r};
    ns_form_begin(&c.f, r->arena);
    if (!model_has_units(&c))
        return;
    check_all(&c);
    ns_form_begin(&c.f, r->arena);
    c.aloud = true;
    check_all(&c);
}
