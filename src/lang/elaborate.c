/* From jobs to the description: every statement's expressions on the graph, checked for what
 * that statement may contain. */
#include <math.h>
#include <string.h>

#include "base/near.h"

#include "lang/elaborate.h"

static bool is_number(const ns_value *value)
{
    return value->rows == 1 && value->cols == 1;
}

bool ns_elaborate_expect_number(ns_reader *r, ns_span place, const ns_value *value,
                                const char *what)
{
    if (is_number(value))
        return true;
    ns_cell cell = ns_arithmetic_cell(*value);
    ns_diag_error(r->diag, place, "%s must be a number, found %s", what,
                  ns_arithmetic_shape(r, &cell));
    return false;
}

bool ns_elaborate_expect_kinds(ns_reader *r, ns_span place, const ns_value *value,
                               uint32_t allowed, const char *what)
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

bool ns_elaborate_code(ns_reader *r, ns_job *job, const ns_postfix *code, ns_value *out)
{
    ns_evaluated outcome = ns_evaluate_code(r, code, out);
    job->progress = outcome.progress;
    job->missing = outcome.missing;
    return outcome.progress == NS_READ_DONE;
}

/* ---- parameters -------------------------------------------------------------------------- */

/* The code of --set for this parameter, if there is one; false if it cannot be read. */
static bool override_code(ns_reader *r, const char *name, ns_postfix *code, bool *set)
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
static const char *unit_of(ns_reader *r, const ns_postfix *code)
{
    uint32_t n = code->n;
    bool signed_number = n == 3 && code->at[2].op == NS_POSTFIX_NEG;
    if ((n != 2 && !signed_number) || code->at[1].op != NS_POSTFIX_UNIT)
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
    ns_postfix code = job->code[0];
    bool set;
    ns_value value;
    if (!param->unit[0])
        param->unit = unit_of(r, &code);
    if (!override_code(r, param->name, &code, &set)) {
        job->progress = NS_READ_BROKEN;
        return;
    }
    if (set)
        job->target->code = code; /* for its unit */
    r->strict = true;
    if (!ns_elaborate_code(r, job, &code, &value))
        return;
    job->progress = NS_READ_BROKEN;
    if (!ns_elaborate_expect_number(r, code.span, &value, "a parameter") ||
        !ns_elaborate_expect_kinds(r, code.span, &value, NS_KIND_PARAM, "a parameter"))
        return;
    uint32_t last = ns_facts_last_param(r, value.at[0]);
    if (last > index) {
        ns_diag_error(r->diag, code.span,
                      "a parameter can depend only on parameters before it, not on `%s`",
                      r->d->params.at[last - 1].name);
        return;
    }
    const bool plain = ns_graph_is_number(r->g, value.at[0], NULL);
    for (uint32_t i = 0; i < index && !plain; i++) /* one that is wrong itself: said already */
        if (!r->d->params.at[i].value &&
            ns_graph_depends(r->g, value.at[0], &r->d->params.at[i].symbol, 1))
            return;
    double number = ns_facts_value(r, value.at[0]);
    if (!isfinite(number)) {
        ns_diag_error(r->diag, code.span, "the parameter `%s` has no finite value",
                      param->name);
        return;
    }
    param = &r->d->params.at[index];
    param->value = value.at[0];
    param->set = set;
    ns_facts_set(r, param->symbol, number);
    job->progress = NS_READ_DONE;
}

/* ---- definitions ------------------------------------------------------------------------- */

static void elaborate_let(ns_reader *r, ns_job *job)
{
    ns_evaluate_name(r, job->target);
    job->progress = job->target->progress;
    if (job->progress == NS_READ_LATE && r->finishing) {
        ns_scope_undefined(r, job->target->missing, false);
        job->progress = NS_READ_BROKEN;
    }
}

static void elaborate_state(ns_reader *r, ns_job *job)
{
    ns_name *name = job->target;
    ns_evaluate_name(r, name);
    job->progress = name->progress;
    job->missing = name->missing;
    r->strict = true;
    if (name->progress == NS_READ_LATE && !ns_scope_may_come(r, name->missing)) {
        ns_scope_undefined(r, name->missing, false);
        job->progress = NS_READ_BROKEN;
    }
    if (job->progress != NS_READ_DONE)
        return;
    if (ns_elaborate_expect_number(r, name->code.span, &name->value,
                                   "the derivative of a state") &&
        ns_elaborate_expect_kinds(r, name->code.span, &name->value, ~(uint32_t)NS_KIND_ACCEL,
                                  "a state's derivative"))
        r->d->states.at[name->index].derivative = name->value.at[0];
    else
        job->progress = NS_READ_BROKEN;
}

/* ---- mechanics --------------------------------------------------------------------------- */

/* Does a block still have to name the velocities that the mechanics is written in? */
static bool velocities_come(const ns_reader *r)
{
    for (uint32_t i = 0; !r->defined && i < r->d->blocks.n; i++)
        if (r->d->blocks.at[i].form->velocities)
            return true;
    return false;
}

static void elaborate_lagrangian(ns_reader *r, ns_job *job)
{
    r->strict = !velocities_come(r);
    if (!ns_elaborate_code(r, job, &job->code[0], &job->value))
        return;
    if (!ns_elaborate_expect_number(r, job->span, &job->value, "the Lagrangian") ||
        !ns_elaborate_expect_kinds(r, job->span, &job->value, ~(uint32_t)NS_KIND_ACCEL,
                                   "the Lagrangian"))
        job->progress = NS_READ_BROKEN;
}

/* left - right of a job with two codes */
static bool difference(ns_reader *r, ns_job *job)
{
    ns_value side[2];
    if (!ns_elaborate_code(r, job, &job->code[0], &side[0]))
        return false;
    if (!ns_elaborate_code(r, job, &job->code[1], &side[1]))
        return false;
    ns_cell a = ns_arithmetic_cell(side[0]), b = ns_arithmetic_cell(side[1]);
    ns_cell out = ns_arithmetic_difference(r, job->code[0].span, &a, &b);
    if (out.rows == 0) {
        job->progress = NS_READ_BROKEN;
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
    if (!ns_elaborate_expect_kinds(r, job->span, &job->value, ~(uint32_t)NS_KIND_ACCEL,
                                   "a constraint")) {
        job->progress = NS_READ_BROKEN;
        return;
    }
    for (uint32_t i = 0; i < job->value.rows * job->value.cols; i++)
        if (!(ns_facts_kinds(r, job->value.at[i]) &
              ~(uint32_t)(NS_KIND_TIME | NS_KIND_PARAM))) {
            ns_diag_error(r->diag, job->span,
                          "the constraint `%s` mentions no coordinate and no velocity",
                          job->name);
            job->progress = NS_READ_BROKEN;
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
    ns_near near = {.word = job->name};
    if (name) {
        ns_diag_error(r->diag, job->span, "`%s` is %s, not %s", job->name,
                      ns_scope_kind_text(name->kind), what);
        return;
    }
    for (uint32_t i = 0; i < r->d->coordinates.n; i++)
        ns_near_try(&near, r->d->coordinates.at[i].name);
    for (uint32_t i = 0; i < r->d->states.n; i++)
        ns_near_try(&near, r->d->states.at[i].name);
    if (near.found)
        ns_diag_error(r->diag, job->span, "`%s` is not %s; did you mean `%s`?", job->name, what,
                      near.found);
    else
        ns_diag_error(r->diag, job->span, "`%s` is not %s", job->name, what);
}

/* An assignment to a name that only the formulation can know becomes a property. */
static bool to_property(ns_reader *r, ns_job *job, uint32_t *number, const ns_block_form *form)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    if (!has_blocks(r) || (name && name->kind != NS_NAME_BLOCK && name->kind != NS_NAME_ENTRY))
        return false;
    job->block = ns_blocks_find(r, number, form, job->span);
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
    ns_elaborate_property(r, job);
    return true;
}

static void elaborate_force(ns_reader *r, ns_job *job)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    if (!name || name->kind != NS_NAME_COORDINATE) {
        if (!to_property(r, job, &r->force_block, &ns_block_force)) {
            not_a_coordinate(r, job, "a coordinate");
            job->progress = NS_READ_BROKEN;
        }
        return;
    }
    job->property = name->index;
    r->strict = true;
    if (!ns_elaborate_code(r, job, &job->code[0], &job->value))
        return;
    if (!ns_elaborate_expect_number(r, job->code[0].span, &job->value, "a generalised force") ||
        !ns_elaborate_expect_kinds(r, job->code[0].span, &job->value, ~(uint32_t)NS_KIND_ACCEL,
                                   "a force"))
        job->progress = NS_READ_BROKEN;
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
        if (!to_property(r, job, &r->start_block, &ns_block_start)) {
            not_a_coordinate(r, job, "a coordinate or state");
            job->progress = NS_READ_BROKEN;
        }
        return;
    }
    if (!job->property)
        job->property = start_symbol(r, job, name);
    if (!job->property) {
        job->progress = NS_READ_BROKEN;
        return;
    }
    r->strict = true;
    if (!ns_elaborate_code(r, job, &job->code[0], &job->value))
        return;
    ns_span place = job->code[0].span;
    if (!ns_elaborate_expect_number(r, place, &job->value, "a start value") ||
        !ns_elaborate_expect_kinds(r, place, &job->value, NS_KIND_PARAM, "a start value")) {
        job->progress = NS_READ_BROKEN;
    } else if (!isfinite(ns_facts_value(r, job->value.at[0]))) {
        ns_diag_error(r->diag, place, "this start value is not finite");
        job->progress = NS_READ_BROKEN;
    }
}

/* ---- late statements --------------------------------------------------------------------- */

static void elaborate_named(ns_reader *r, ns_job *job)
{
    const ns_name *name = ns_scope_find(&r->scope, job->name, strlen(job->name));
    bool observe = job->kind == NS_JOB_OBSERVE;
    if (observe && name && (name->kind == NS_NAME_COORDINATE || name->kind == NS_NAME_STATE)) {
        ns_diag_error(r->diag, job->span,
                      "`%s` is %s and observed anyway; to see it in another unit give that a "
                      "name of its own: observe NAME in UNIT = %s",
                      job->name, ns_scope_kind_text(name->kind), job->name);
        job->progress = NS_READ_BROKEN;
        return;
    }
    r->strict = r->finishing;
    if (job->target) {
        ns_evaluate_name(r, job->target);
        job->progress = job->target->progress;
        job->missing = job->target->missing;
        job->value = job->target->value;
        if (job->progress == NS_READ_LATE && r->finishing) {
            ns_scope_undefined(r, job->missing, false);
            job->progress = NS_READ_BROKEN;
        }
    } else {
        ns_elaborate_code(r, job, &job->code[0], &job->value);
    }
    if (job->progress == NS_READ_DONE && job->value.cols > 1) {
        ns_cell cell = ns_arithmetic_cell(job->value);
        ns_diag_error(r->diag, job->span, "expected a number or a vector, found %s",
                      ns_arithmetic_shape(r, &cell));
        job->progress = NS_READ_BROKEN;
    }
}

static void elaborate_event(ns_reader *r, ns_job *job)
{
    r->strict = r->finishing;
    if (job->n == 2 ? !difference(r, job)
                    : !ns_elaborate_code(r, job, &job->code[0], &job->value))
        return;
    if (!ns_elaborate_expect_number(r, job->code[0].span, &job->value, "an event")) {
        job->progress = NS_READ_BROKEN;
    } else if (!(ns_facts_kinds(r, job->value.at[0]) & ~(uint32_t)NS_KIND_PARAM)) {
        ns_diag_error(r->diag, job->code[0].span,
                      "this never changes: the event `%s` cannot occur", job->name);
        job->progress = NS_READ_BROKEN;
    } else {
        ns_jumps_elaborate(r, job);
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
        ns_elaborate_setting(r, job);
        break;
    case NS_JOB_BLOCK:
        ns_elaborate_block(r, job);
        break;
    case NS_JOB_PROPERTY:
        ns_elaborate_property(r, job);
        break;
    case NS_JOB_OBSERVE:
    case NS_JOB_INVARIANT:
        elaborate_named(r, job);
        break;
    case NS_JOB_EVENT:
        elaborate_event(r, job);
        break;
    case NS_JOB_SAMPLE:
        ns_input_elaborate(r, job);
        break;
    case NS_JOB_DRAW:
        ns_draw_elaborate(r, job);
        break;
    }
}

/* ---- publishing -------------------------------------------------------------------------- */

/* NAME, or for vectors NAME.1 ... or NAME.x ... */
static const char *row_name(ns_reader *r, const ns_job *job, uint32_t i, bool letters)
{
    if (is_number(&job->value))
        return job->name;
    if (letters && job->value.rows <= 3)
        return ns_arena_format(r->arena, "%s.%c", job->name, (int)("xyz"[i]));
    return ns_arena_format(r->arena, "%s.%u", job->name, i + 1);
}

static void publish_event(ns_reader *r, const ns_job *job)
{
    ns_change_line *changes = NS_NEW_ARRAY(r->arena, ns_change_line, job->n_changes + 1);
    for (uint32_t i = 0; i < job->n_changes; i++)
        changes[i] = (ns_change_line){.state = job->changes[i].name,
                                      .mode = job->changes[i].number,
                                      .value = job->changes[i].value,
                                      .rest = job->changes[i].rest,
                                      .span = job->changes[i].span};
    NS_PUSH(r->arena, r->d->events,
            (ns_event_line){.name = job->name,
                            .value = job->value.at[0],
                            .direction = job->direction,
                            .action = job->action,
                            .asked = job->action == NS_EVENT_STOP,
                            .meaning = job->meaning,
                            .changes = changes,
                            .n_changes = job->n_changes,
                            .in = job->in_modes,
                            .span = job->span});
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
            publish_event(r, job);
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
            bool waiting = job->progress == NS_READ_WAITING || job->progress == NS_READ_LATE;
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
        if (r->jobs.at[i].progress == NS_READ_DONE)
            publish(r, &r->jobs.at[i]);
}
