#include "session/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval/program.h"
#include "expr/diff.h"

/* ---- expressions, compiled when they are asked for the first time ------------------------ */

typedef struct entry {
    uint64_t hash;
    const ns_ex *f;
    size_t nf;
    bool states; /* in terms of states too */
    const ns_program *program;
    double *work;
    uint64_t bound; /* for which set of parameters */
} entry;

typedef struct compiled {
    ns_evaluator base;
    ns_arena *arena;
    const ns_system *system;
    ns_ex *x, *p; /* symbols */
    uint32_t n, np;
    entry *table; /* [room], open addressing */
    uint32_t used, room;
    uint64_t set; /* number of the present set of parameters */
} compiled;

static uint64_t hash_of(const ns_ex *f, size_t nf, bool states)
{
    uint64_t h = 14695981039346656037u ^ (states ? 1 : 0);
    for (size_t i = 0; i < nf; i++)
        h = (h ^ f[i]) * 1099511628211u;
    return h ^ (h >> 29);
}

static entry *place(entry *table, uint32_t room, uint64_t hash, const ns_ex *f, size_t nf,
                    bool states)
{
    for (uint64_t i = hash;; i++) {
        entry *e = &table[i & (room - 1)];
        if (!e->program || (e->hash == hash && e->nf == nf && e->states == states &&
                            memcmp(e->f, f, nf * sizeof *f) == 0))
            return e;
    }
}

static void grow(compiled *c)
{
    const uint32_t room = c->room ? 2 * c->room : 32;
    entry *table = NS_NEW_ARRAY(c->arena, entry, room);
    for (uint32_t i = 0; i < c->room; i++)
        if (c->table[i].program)
            *place(table, room, c->table[i].hash, c->table[i].f, c->table[i].nf,
                   c->table[i].states) = c->table[i];
    c->table = table;
    c->room = room;
}

static entry *find(compiled *c, const ns_ex *f, size_t nf, bool states)
{
    const uint64_t hash = hash_of(f, nf, states);
    if (2 * c->used >= c->room)
        grow(c);
    entry *e = place(c->table, c->room, hash, f, nf, states);
    if (e->program)
        return e;
    const ns_program_spec spec = {.graph = c->system->graph,
                                  .time = c->system->time,
                                  .x = c->x,
                                  .p = c->p,
                                  .out = f,
                                  .nx = states ? c->n : 0,
                                  .np = c->np,
                                  .nout = (uint32_t)nf};
    *e = (entry){.hash = hash,
                 .f = ns_arena_copy(c->arena, f, nf * sizeof *f),
                 .nf = nf,
                 .states = states,
                 .program = ns_program_build(c->arena, &spec)};
    e->work = NS_NEW_ARRAY(c->arena, double, ns_program_work1(e->program) + 1);
    c->used++;
    return e;
}

static void eval(ns_evaluator *self, const ns_ex *f, size_t nf, double t, const double *p,
                 const double *x, double *out)
{
    compiled *c = (compiled *)self;
    if (!nf)
        return;
    entry *e = find(c, f, nf, x != NULL);
    if (e->bound != c->set)
        ns_program_bind1(e->program, e->work, p);
    e->bound = c->set;
    ns_program_eval1(e->program, e->work, t, x, out);
}

/* ---- starts ------------------------------------------------------------------------------ */

/* A parameter that depends on varied ones. */
typedef struct dependent {
    uint32_t index;
    const ns_program *program;
    double *work;
} dependent;

struct ns_starter {
    ns_system *system; /* a fork with varied starts, own evaluator and scratch memory */
    compiled compiled;
    double t0;
    uint32_t n, np;  /* names, parameters */
    uint32_t *place; /* [n] in p: below np a parameter, from np on a start */
    double *p;       /* [np + n] */
    bool *varied;    /* [np + n] */
    ns_ex *symbols;  /* [np + n] */
    NS_LIST(dependent) dependents;
};

/* Does the expression, of parameters alone, change with what is varied? */
static bool varies(const ns_starter *q, ns_ex e)
{
    const ns_graph *g = q->system->graph;
    for (uint32_t i = 0; i < q->np + q->n; i++)
        if (q->varied[i] && ns_graph_depends(g, e, &q->symbols[i], 1))
            return true;
    return false;
}

const char *ns_starter_setting(const ns_starter *q, const ns_description *d, bool until,
                               bool tolerance)
{
    for (uint32_t i = 0; i < d->settings.n; i++) {
        const ns_setting *s = &d->settings.at[i];
        const char *name = s->form->name;
        const bool given = (strcmp(name, "until") == 0 && until) ||
                           (strcmp(name, "tolerance") == 0 && tolerance) ||
                           strcmp(name, "every") == 0;
        if (!given && !s->word && s->value && varies(q, s->value))
            return name;
    }
    return NULL;
}

static void demand(ns_arena *arena, ns_system *s, const char *name, ns_ex residual, bool anew)
{
    const ns_constraint line = {.name = name, .residual = residual};
    for (uint32_t k = 0; k < s->start.extra.n; k++)
        if (strcmp(s->start.extra.at[k].name, name) == 0) {
            if (anew)
                s->start.extra.at[k] = line;
            return;
        }
    NS_PUSH(arena, s->start.extra, line);
}

/* Values that are not states: equations for those given at the start, from which the states
 * follow that belong to them. */
static void demand_given(ns_arena *arena, ns_system *s, const ns_start_value *one)
{
    for (uint32_t k = 0; k < s->start.other.n; k++) {
        const ns_start_value *v = &s->start.other.at[k];
        if (v->first == one->first && v->given)
            demand(arena, s, v->name, ns_sub(s->graph, v->value, v->given), false);
    }
    for (uint32_t i = 0; i < one->n; i++)
        s->start.free[one->first + i] = true;
}

/* A value that is not a state: an equation for the start. */
static bool as_equation(ns_arena *arena, ns_system *s, const char *name, ns_ex symbol)
{
    for (uint32_t i = 0; i < s->accelerations.n; i++) {
        const ns_symbol *of = ns_graph_symbol(s->graph, s->accelerations.at[i].from);
        if (!of || of->kind != NS_SYM_VELOCITY || strcmp(of->name, name) != 0)
            continue;
        demand(arena, s, name, ns_sub(s->graph, s->accelerations.at[i].to, symbol), true);
        return true;
    }
    for (uint32_t i = 0; i < s->start.other.n; i++) {
        const ns_start_value *v = &s->start.other.at[i];
        if (strcmp(v->name, name) != 0)
            continue;
        demand_given(arena, s, v);
        demand(arena, s, name, ns_sub(s->graph, v->value, symbol), true);
        return true;
    }
    return false;
}

/* Takes away the equations that say what this state now says. */
static void release(ns_system *s, uint32_t state)
{
    uint32_t kept = 0;
    if (!s->start.unless.name || state < s->start.unless.first ||
        state >= s->start.unless.first + s->start.unless.n)
        return;
    for (uint32_t k = 0; k < s->start.extra.n; k++)
        if (strcmp(s->start.extra.at[k].name, s->start.unless.name) != 0)
            s->start.extra.at[kept++] = s->start.extra.at[k];
    s->start.extra.n = kept;
}

static bool as_start(ns_starter *q, ns_arena *arena, const char *name, uint32_t k)
{
    ns_system *s = q->system;
    const ns_ex symbol = ns_symbol_new(s->graph, name, NS_SYM_PARAM, q->np + k);
    q->symbols[q->np + k] = symbol;
    q->varied[q->np + k] = true;
    q->place[k] = q->np + k;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (strcmp(s->states.at[i].name, name) == 0) {
            s->start.value[i] = symbol;
            s->start.free[i] = false;
            release(s, i);
            for (uint32_t j = 0; j < s->start.other.n; j++) {
                const ns_start_value *v = &s->start.other.at[j];
                if (v->given && i >= v->through && i < v->through + 4)
                    demand_given(arena, s, v);
            }
            return true;
        }
    return as_equation(arena, s, name, symbol);
}

/* What of the start is changed in place. */
static void own_start(ns_arena *arena, ns_system *s)
{
    const uint32_t n = s->states.n;
    s->start.value = ns_arena_copy(arena, s->start.value, n * sizeof *s->start.value);
    s->start.free = ns_arena_copy(arena, s->start.free, n * sizeof *s->start.free);
    s->start.extra.at = ns_arena_copy(arena, s->start.extra.at,
                                      s->start.extra.n * sizeof *s->start.extra.at);
}

static void own_jacobian(ns_arena *arena, ns_system *s)
{
    const uint32_t n = s->states.n, m = ns_system_start_rows(s);
    const ns_ex *x = ns_system_state_symbols(s, arena);
    ns_ex *r = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    for (uint32_t i = 0; i < m; i++)
        r[i] = ns_system_start_row(s, i)->residual;
    s->start.jacobian = ns_diff_sparse(s->graph, arena, r, m, x, n);
}

/* Each parameter that depends on varied ones is computed from those before it, in their order,
 * as ns_system_params does. */
static void find_dependents(ns_starter *q, ns_arena *arena)
{
    const ns_description *d = q->system->description;
    for (uint32_t i = 0; i < q->np; i++) {
        if (q->varied[i] || !varies(q, d->params.at[i].value))
            continue;
        const ns_program_spec spec = {.graph = q->system->graph,
                                      .x = NULL,
                                      .p = q->symbols,
                                      .out = &d->params.at[i].value,
                                      .np = i,
                                      .nout = 1};
        dependent next = {.index = i, .program = ns_program_build(arena, &spec)};
        next.work = NS_NEW_ARRAY(arena, double, ns_program_work1(next.program) + 1);
        NS_PUSH(arena, q->dependents, next);
        q->varied[i] = true;
    }
}

/* Is it something that the start block gives to the formulation:  roll 0.5 deg  ? */
static bool in_start(const ns_description *d, const char *name)
{
    for (uint32_t b = 0; b < d->blocks.n; b++) {
        const ns_block *block = &d->blocks.at[b];
        for (uint32_t k = 0; block->form == &ns_block_start && k < block->properties.n; k++)
            if (strcmp(block->properties.at[k].name, name) == 0)
                return true;
    }
    return false;
}

static bool find_names(ns_starter *q, ns_arena *arena, const char *const *names,
                       const char **message)
{
    const ns_description *d = q->system->description;
    bool starts = false;
    for (uint32_t k = 0; k < q->n; k++) {
        uint32_t i = 0;
        while (i < q->np && strcmp(d->params.at[i].name, names[k]) != 0)
            i++;
        q->symbols[q->np + k] = 0;
        if (i < q->np) {
            q->place[k] = i;
        } else if (as_start(q, arena, names[k], k)) {
            i = q->np + k;
            starts = true;
        } else {
            const char *near = ns_description_nearest(d, names[k]);
            if (in_start(d, names[k]))
                *message = ns_arena_format(
                    arena,
                    "`%s` of the start is not a state; to vary it, give it a "
                    "parameter:  param p = ...; start { %s p }",
                    names[k], names[k]);
            else if (near && strcmp(near, names[k]) == 0)
                *message = ns_arena_format(
                    arena, "`%s` follows from the states; set these, or parameters, instead",
                    names[k]);
            else
                *message = ns_arena_format(
                    arena,
                    "`%s` is neither a parameter nor a starting value of the "
                    "model%s%s%s",
                    names[k], near ? "; did you mean `" : "", near ? near : "",
                    near ? "`?" : "");
            return false;
        }
        for (uint32_t j = 0; j < k; j++)
            if (strcmp(names[j], names[k]) == 0) {
                *message = ns_arena_format(arena, "`%s` is varied twice", names[k]);
                return false;
            }
        q->varied[i] = true;
    }
    if (starts)
        own_jacobian(arena, q->system);
    return true;
}

ns_starter *ns_starter_new(ns_arena *arena, const ns_system *shared, double t0,
                           const char *const *names, uint32_t n, const char **message)
{
    ns_starter *q = NS_NEW(arena, ns_starter);
    ns_system *system = q->system = ns_system_fork(shared, arena);
    const uint32_t np = system->description->params.n, states = system->states.n;
    q->t0 = t0;
    q->n = n;
    q->np = np;
    q->place = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    q->p = NS_NEW_ARRAY(arena, double, np + n + 1);
    q->varied = NS_NEW_ARRAY(arena, bool, np + n + 1);
    q->symbols = NS_NEW_ARRAY(arena, ns_ex, np + n + 1);
    for (uint32_t i = 0; i < np; i++)
        q->symbols[i] = system->description->params.at[i].symbol;
    ns_system_params(system, NULL, NULL, q->p);
    own_start(arena, system);
    if (!find_names(q, arena, names, message))
        return NULL;
    find_dependents(q, arena);
    for (uint32_t k = 0; k < system->modes.n; k++)
        ns_system_mode(system, k); /* before the arena becomes scratch */
    system->arena = ns_arena_child(arena);
    compiled *c = &q->compiled;
    c->base.eval = eval;
    c->arena = arena;
    c->system = system;
    c->n = states;
    c->x = ns_system_state_symbols(system, arena);
    /* parameters without a symbol (a name that is a parameter takes no place) are left
     * out */
    c->p = q->symbols;
    c->np = np + n;
    for (uint32_t k = 0; k < n; k++)
        if (!q->symbols[np + k])
            q->symbols[np + k] = ns_symbol_new(system->graph, names[k], NS_SYM_PARAM, np + k);
    system->evaluator = &c->base;
    for (uint32_t k = 0; system->in_mode && k < system->modes.n; k++) {
        system->in_mode[k]->arena = system->arena;
        system->in_mode[k]->evaluator = system->evaluator;
    }
    return q;
}

static void say(const ns_diag *diag, char *reason, size_t room)
{
    const char *text = "there is no start";
    for (uint32_t i = 0; i < diag->messages.n; i++)
        if (diag->messages.at[i].severity == NS_ERROR) {
            text = diag->messages.at[i].text;
            break;
        }
    snprintf(reason, room, "no start: %s", text);
}

bool ns_starter_find(ns_starter *q, const double *values, double *p, double *x, char *reason,
                     size_t room)
{
    ns_arena *scratch = q->system->arena;
    const ns_arena_place mark = ns_arena_mark(scratch);
    for (uint32_t k = 0; k < q->n; k++)
        q->p[q->place[k]] = values[k];
    for (uint32_t k = 0; k < q->dependents.n; k++) {
        const dependent *d = &q->dependents.at[k];
        ns_program_bind1(d->program, d->work, q->p);
        ns_program_eval1(d->program, d->work, 0, NULL, &q->p[d->index]);
    }
    q->compiled.set++;
    ns_diag *diag = ns_diag_like(scratch, q->system->description->diag);
    bool good = ns_system_start(q->system, diag, q->t0, q->p, x);
    if (!good)
        say(diag, reason, room);
    memcpy(p, q->p, q->np * sizeof *p);
    ns_arena_release(scratch, mark);
    return good;
}
