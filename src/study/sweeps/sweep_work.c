/* Working through blocks of rows.
 *
 * Lanes stay full across the ends of blocks: while the last rows of one block are under way,
 * the first of the next are begun.  So several blocks are open at a time, at most one more than
 * there are motions under way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "study/sweeps/sweep_internal.h"

typedef struct block {
    uint64_t first;
    uint32_t count;
    uint32_t given, left;   /* rows begun; rows not finished */
    unsigned char *records; /* [count] */
    double *p, *x0;         /* [count][np], [count][n] */
    uint32_t room;          /* rows it has memory for */
    bool open;
} block;

typedef struct worker {
    const ns_sweep *sweep;
    const ns_sweep_client *client;
    ns_starter *starter;
    uint32_t n, np;
    block **blocks; /* [n_blocks], some of them open */
    uint32_t n_blocks;
    block *current; /* the one that rows are taken from */
    double **work;  /* [stations] */
    double *values; /* [most values of a station] */
    bool stopped, no_memory;
} worker;

static void *record_of(const worker *w, const block *b, uint64_t row)
{
    return b->records + (size_t)(row - b->first) * w->sweep->record;
}

static ns_sweep_end *end_of(const worker *w, void *record)
{
    return (ns_sweep_end *)((double *)record + w->sweep->n_axes + w->sweep->n_gets);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool reserve(worker *w, block *b, uint32_t count)
{
    if (count > b->room) {
        free(b->records);
        free(b->p);
        free(b->x0);
        b->records = malloc(count * w->sweep->record);
        b->p = malloc(((size_t)count * w->np + 1) * sizeof(double));
        b->x0 = malloc(((size_t)count * w->n + 1) * sizeof(double));
        b->room = b->records && b->p && b->x0 ? count : 0;
    }
    return count <= b->room;
}

static block *unused_block(worker *w)
{
    for (uint32_t i = 0; i < w->n_blocks; i++)
        if (!w->blocks[i]->open)
            return w->blocks[i];
    block **more = realloc(w->blocks, (w->n_blocks + 1) * sizeof *more);
    if (!more)
        return NULL;
    w->blocks = more;
    more[w->n_blocks] = calloc(1, sizeof **more);
    return more[w->n_blocks] ? more[w->n_blocks++] : NULL;
}

static block *block_of(const worker *w, uint64_t row)
{
    for (uint32_t i = 0; i < w->n_blocks; i++) {
        block *b = w->blocks[i];
        if (b->open && row >= b->first && row - b->first < b->count)
            return b;
    }
    return NULL;
}

static bool open_block(worker *w)
{
    uint64_t first;
    uint32_t count = 0;
    w->current = NULL;
    if (w->stopped || !w->client->next(w->client->context, &first, &count) || !count)
        return false;
    block *b = unused_block(w);
    if (!b || !reserve(w, b, count)) {
        w->no_memory = true;
        return false;
    }
    memset(b->records, 0, count * w->sweep->record);
    b->first = first;
    b->count = b->left = count;
    b->given = 0;
    b->open = true;
    w->current = b;
    return true;
}

/* One row less to wait for. */
static void finish_row(worker *w, block *b)
{
    if (--b->left)
        return;
    b->open = false;
    if (!w->client->done(w->client->context, b->first, b->count, b->records))
        w->stopped = true;
}

/* ---- a row that begins ------------------------------------------------------------------- */

static bool begin_row(worker *w, block *b, uint64_t row)
{
    const size_t k = (size_t)(row - b->first);
    double *record = record_of(w, b, row);
    ns_sweep_end *end = end_of(w, record);
    ns_plan_row(&w->sweep->plan, row, record);
    if (ns_starter_find(w->starter, record, b->p + k * w->np, b->x0 + k * w->n, end->reason,
                        sizeof end->reason))
        return true;
    const size_t used = strlen(end->reason);
    memset(end->reason + used, 0, sizeof end->reason - used);
    end->status = NS_ERR_MODEL;
    for (uint32_t i = 0; i < w->sweep->n_gets; i++)
        record[w->sweep->n_axes + i] = NAN;
    return false;
}

static bool next(void *context, uint64_t *id, double *p, double *x0)
{
    worker *w = context;
    while (!w->stopped &&
           ((w->current && w->current->given < w->current->count) || open_block(w))) {
        block *b = w->current;
        const uint64_t row = b->first + b->given++;
        if (b->given == b->count)
            w->current = NULL;
        if (!begin_row(w, b, row)) {
            finish_row(w, b);
            continue;
        }
        const size_t k = (size_t)(row - b->first);
        *id = row;
        memcpy(p, b->p + k * w->np, w->np * sizeof *p);
        memcpy(x0, b->x0 + k * w->n, w->n * sizeof *x0);
        return true;
    }
    return false;
}

/* ---- a row that ends --------------------------------------------------------------------- */

typedef struct motion {
    const ns_ensemble_result *result;
    const double *p, *x0;
    double t0;
} motion;

static void eval(const worker *w, const motion *m, uint32_t station, uint32_t mode, double t,
                 const double *x)
{
    const ns_program *program = w->sweep->station[station].program[mode];
    ns_program_bind1(program, w->work[station], m->p);
    ns_program_eval1(program, w->work[station], t, x, w->values);
}

static const ns_occurrence *first_event(const ns_outcome *o, uint32_t event)
{
    for (uint32_t i = 0; i < o->n_events; i++)
        if (o->events[i].event == event)
            return &o->events[i];
    return NULL;
}

static double extreme(const worker *w, const motion *m, const ns_sweep_get *get)
{
    const ns_outcome *o = m->result->outcome;
    const bool least = get->kind == NS_SWEEP_MIN;
    eval(w, m, get->station, 0, m->t0, m->x0);
    double best = w->values[0];
    eval(w, m, get->station, 0, o->t, m->result->x);
    best = least ? ns_min(best, w->values[0]) : ns_max(best, w->values[0]);
    for (uint32_t i = 0; i < o->n_events; i++) {
        if (o->events[i].event != get->event)
            continue;
        eval(w, m, get->station, 0, o->events[i].t, o->event_states + (size_t)i * w->n);
        best = least ? ns_min(best, w->values[0]) : ns_max(best, w->values[0]);
    }
    return best;
}

/* Values at a station that several quantities may share; false if the motion did not come
 * there. */
static bool arrive(const worker *w, const motion *m, uint32_t station)
{
    const ns_sweep_station *s = &w->sweep->station[station];
    const ns_outcome *o = m->result->outcome;
    const bool many = ns_system_modes(w->sweep->problem->system) > 1;
    if (s->kind == NS_SWEEP_FINAL) {
        eval(w, m, station, many ? o->mode : 0, o->t, m->result->x);
    } else if (s->kind == NS_SWEEP_TIME) {
        const double *x = m->result->at + (size_t)s->time * w->n;
        if (w->n && isnan(x[0]))
            return false;
        eval(w, m, station, 0, s->t, x);
    } else {
        const ns_occurrence *e = first_event(o, s->event);
        if (!e)
            return false;
        eval(w, m, station, many ? e->before : 0, e->t,
             o->event_states + (size_t)(e - o->events) * w->n);
    }
    return true;
}

static double fact(const motion *m, const ns_sweep_get *get)
{
    const ns_outcome *o = m->result->outcome;
    double count = 0;
    switch (get->kind) {
    case NS_SWEEP_WHEN: {
        const ns_occurrence *e = first_event(o, get->event);
        return e ? e->t : (double)NAN;
    }
    case NS_SWEEP_HAPPENED:
        return first_event(o, get->event) ? 1 : 0;
    case NS_SWEEP_COUNT:
        for (uint32_t i = 0; i < o->n_events; i++)
            count += o->events[i].event == get->event;
        return count;
    case NS_SWEEP_DRIFT:
        return o->energy_drift;
    case NS_SWEEP_STEPS:
        return (double)o->steps;
    default:
        return o->t;
    }
}

static void fill(const worker *w, const motion *m, double *out)
{
    const ns_sweep *sweep = w->sweep;
    for (uint32_t i = 0; i < sweep->n_stations; i++) {
        const ns_sweep_station *s = &sweep->station[i];
        if (s->kind == NS_SWEEP_MIN || s->kind == NS_SWEEP_MAX)
            continue;
        const bool there = arrive(w, m, i);
        for (uint32_t k = 0; k < sweep->n_gets; k++)
            if (sweep->get[k].value && sweep->get[k].station == i)
                out[k] = there ? w->values[sweep->get[k].position] : (double)NAN;
    }
    for (uint32_t k = 0; k < sweep->n_gets; k++) {
        const ns_sweep_get *get = &sweep->get[k];
        if (get->kind == NS_SWEEP_MIN || get->kind == NS_SWEEP_MAX)
            out[k] = extreme(w, m, get);
        else if (!get->value)
            out[k] = fact(m, get);
    }
}

/* The reason without the list of states after it, as far as there is room. */
static void put_reason(char out[NS_SWEEP_REASON], const char *reason)
{
    const char *states = strstr(reason, "; state there:");
    const size_t length = states ? (size_t)(states - reason) : strlen(reason);
    const size_t most = length < NS_SWEEP_REASON - 1 ? length : NS_SWEEP_REASON - 1;
    memset(out, 0, NS_SWEEP_REASON);
    memcpy(out, reason, most);
}

static bool done(void *context, const ns_ensemble_result *result)
{
    worker *w = context;
    const ns_outcome *o = result->outcome;
    if (o->status == NS_STOP_INTERRUPT || o->status == NS_ERR_MEMORY) {
        w->stopped = true;
        w->no_memory = w->no_memory || o->status == NS_ERR_MEMORY;
        return false;
    }
    block *b = block_of(w, result->id);
    if (!b)
        return false; /* the ensemble gives back what it was given */
    const size_t k = (size_t)(result->id - b->first);
    double *record = record_of(w, b, result->id);
    ns_sweep_end *end = end_of(w, record);
    const motion m = {.result = result,
                      .p = b->p + k * w->np,
                      .x0 = b->x0 + k * w->n,
                      .t0 = w->sweep->options.run.t0};
    fill(w, &m, record + w->sweep->n_axes);
    end->status = o->status == NS_STOP_ASKED ? NS_OK : o->status;
    put_reason(end->reason, o->status == NS_OK ? "" : o->reason);
    finish_row(w, b);
    return !w->stopped;
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool prepare(worker *w, ns_arena *arena, char *message, size_t room)
{
    const ns_sweep *sweep = w->sweep;
    const char *words = "";
    w->starter = ns_starter_new(arena, sweep->problem->system, sweep->options.run.t0,
                                sweep->axis, sweep->n_axes, &words);
    if (!w->starter) {
        snprintf(message, room, "%s", words);
        return false;
    }
    uint32_t most = 0;
    w->work = NS_NEW_ARRAY(arena, double *, sweep->n_stations + 1);
    for (uint32_t i = 0; i < sweep->n_stations; i++) {
        size_t room_of = 0;
        for (uint32_t k = 0; k < ns_system_modes(sweep->problem->system); k++) {
            const ns_program *program = sweep->station[i].program[k];
            const size_t need = ns_program_work1(program);
            room_of = need > room_of ? need : room_of;
            most = ns_program_nout(program) > most ? ns_program_nout(program) : most;
        }
        w->work[i] = NS_NEW_ARRAY(arena, double, room_of + 1);
    }
    w->values = NS_NEW_ARRAY(arena, double, most + 1);
    return true;
}

static ns_status guarded(worker *w, ns_arena *arena, char *message, size_t room)
{
    if (NS_ARENA_GUARD(arena)) {
        snprintf(message, room, "out of memory");
        return NS_ERR_MEMORY;
    }
    if (!prepare(w, arena, message, room))
        return NS_ERR_USAGE;
    const ns_ensemble_client client = {.context = w, .next = next, .done = done};
    const char *words = "";
    const ns_status status = ns_ensemble_run(w->sweep->problem, &w->sweep->options, &client,
                                             &words);
    if (status != NS_OK)
        snprintf(message, room, "%s", words);
    else if (w->no_memory)
        snprintf(message, room, "out of memory");
    return status != NS_OK ? status : w->no_memory ? NS_ERR_MEMORY : NS_OK;
}

ns_status ns_sweep_work(const ns_sweep *sweep, const ns_sweep_client *client, char *message,
                        size_t room)
{
    ns_arena *arena = ns_arena_new();
    worker *w = calloc(1, sizeof *w);
    ns_status status = NS_ERR_MEMORY;
    if (!arena || !w) {
        snprintf(message, room, "out of memory");
    } else {
        w->sweep = sweep;
        w->client = client;
        w->n = sweep->problem->n;
        w->np = sweep->problem->np;
        status = guarded(w, arena, message, room);
        for (uint32_t i = 0; i < w->n_blocks; i++) {
            free(w->blocks[i]->records);
            free(w->blocks[i]->p);
            free(w->blocks[i]->x0);
            free(w->blocks[i]);
        }
        free(w->blocks);
    }
    free(w);
    ns_arena_free(arena);
    return status;
}

typedef struct one_block {
    uint64_t first;
    uint32_t count;
    bool given;
    void *to;
    size_t bytes;
} one_block;

static bool give_block(void *context, uint64_t *first, uint32_t *count)
{
    one_block *b = context;
    const bool more = !b->given;
    *first = b->first;
    *count = b->count;
    b->given = true;
    return more;
}

static bool take_block(void *context, uint64_t first, uint32_t count, const void *records)
{
    const one_block *b = context;
    (void)first;
    memcpy(b->to, records, count * b->bytes);
    return true;
}

ns_status ns_sweep_rows(const ns_sweep *sweep, uint64_t first, uint32_t count, void *records,
                        char *message, size_t room)
{
    one_block b = {.first = first, .count = count, .to = records, .bytes = sweep->record};
    const ns_sweep_client client = {.context = &b, .next = give_block, .done = take_block};
    return ns_sweep_work(sweep, &client, message, room);
}
