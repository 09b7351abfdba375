#include "mech/contact/sliding.h"

#include <string.h>

/* ---- modes ------------------------------------------------------------------------------- */

static void name_modes(const ns_sliding *k, const char *holds)
{
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        ns_text name = ns_text_new(k->s->arena);
        for (uint32_t i = 0; i < k->n; i++)
            ns_text_addf(&name, "%s%s", i ? "+" : "",
                         ns_sliding_slides(k, mode, i) ? "slide" : holds);
        NS_PUSH(k->s->arena, k->s->modes, ns_text_string(&name));
    }
}

/* The entries of a row of A that may not be zero; how many. */
static uint32_t entries_of(const ns_dalembert *w, uint32_t row, uint32_t *column, ns_ex *value)
{
    const uint32_t first = w->A ? 0 : w->rows.start[row];
    const uint32_t n = w->A ? w->n : w->rows.start[row + 1] - first;
    for (uint32_t e = 0; e < n; e++) {
        column[e] = w->A ? e : w->rows.column[first + e];
        value[e] = w->A ? w->A[(size_t)row * n + e] : w->rows.value[first + e];
    }
    return n;
}

void ns_sliding_begin(ns_sliding *k, const char *holds)
{
    ns_graph *g = k->s->graph;
    const ns_dalembert *w = k->eq;
    uint32_t *column = NS_NEW_ARRAY(k->s->arena, uint32_t, w->n + 1);
    ns_ex *A = NS_NEW_ARRAY(k->s->arena, ns_ex, w->n + 1);
    for (uint32_t i = 0; i < k->n; i++) {
        ns_sliding_contact *one = &k->at[i];
        ns_ex sum = ns_number(g, 1e-6); /* 1 mm/s: something at rest has a scale, too */
        for (uint32_t j = 0; j < one->rows; j++) {
            const uint32_t n = entries_of(w, one->row + j, column, A);
            one->u[j] = w->psi[one->row + j];
            for (uint32_t e = 0; e < n; e++)
                sum = ns_add(g, sum, ns_powi(g, ns_mul(g, A[e], w->v[column[e]]), 2));
        }
        one->size = ns_sqrt(g, sum);
        one->z = ns_symbol_new(g, "normal force", NS_SYM_LOCAL, i);
    }
    name_modes(k, holds);
}

/* The contact whose row of slip this is, and which of its rows; k->n if none. */
static uint32_t contact_of(const ns_sliding *k, uint32_t row, uint32_t *part)
{
    uint32_t i = 0;
    while (i < k->n && row - k->at[i].row >= k->at[i].rows)
        i++;
    *part = i < k->n ? row - k->at[i].row : 0;
    return i;
}

/* The rows that hold: none yet. */
static void begin_rows(ns_arena *arena, const ns_dalembert *all, ns_dalembert *part)
{
    part->m = 0;
    if (all->A) {
        part->A = NS_NEW_ARRAY(arena, ns_ex, (size_t)all->m * all->n + 1);
        return;
    }
    const uint32_t entries = all->rows.start[all->m];
    part->rows.rows = 0;
    part->rows.start = NS_NEW_ARRAY(arena, uint32_t, all->m + 1);
    part->rows.column = NS_NEW_ARRAY(arena, uint32_t, entries + 1);
    part->rows.value = NS_NEW_ARRAY(arena, ns_ex, entries + 1);
}

static void add_row(ns_dalembert *part, const uint32_t *column, const ns_ex *value, uint32_t n)
{
    if (part->A) {
        memcpy(part->A + (size_t)part->m * part->n, value, n * sizeof *value);
        return;
    }
    const uint32_t to = part->rows.start[part->m];
    memcpy(part->rows.column + to, column, n * sizeof *column);
    memcpy(part->rows.value + to, value, n * sizeof *value);
    part->rows.start[++part->rows.rows] = to + n;
}

void ns_sliding_rows(const ns_sliding *k, uint32_t mode, const ns_ex *b, bool forced,
                     ns_sliding_outcome *o)
{
    ns_graph *g = k->s->graph;
    ns_arena *arena = k->s->arena;
    const ns_dalembert *all = k->eq;
    const uint32_t n = all->n, m = all->m;
    ns_dalembert part = *all;
    ns_ex *held = NS_NEW_ARRAY(arena, ns_ex, m + 1), *A = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    uint32_t *column = NS_NEW_ARRAY(arena, uint32_t, n + 1);
    begin_rows(arena, all, &part);
    part.b = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    part.Q = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        part.Q[i] = forced ? all->Q[i] : ns_zero(g);
    o->a = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    o->lambda = NS_NEW_ARRAY(arena, ns_ex, m + 1);
    for (uint32_t row = 0, which; row < m; row++) {
        const uint32_t i = contact_of(k, row, &which);
        const uint32_t count = entries_of(all, row, column, A);
        if (i == k->n || !ns_sliding_slides(k, mode, i)) {
            add_row(&part, column, A, count);
            part.b[part.m++] = b[row];
            continue;
        }
        o->lambda[row] = forced ? k->friction(k, i, which) : ns_zero(g);
        for (uint32_t e = 0; e < count; e++)
            part.Q[column[e]] = ns_add(g, part.Q[column[e]], ns_mul(g, A[e], o->lambda[row]));
    }
    if (!part.A)
        part.columns = *ns_sparse_transposed(arena, &part.rows, n);
    k->solve(k, &part, o->a, held);
    for (uint32_t row = 0, at = 0, which; row < m; row++) {
        const uint32_t i = contact_of(k, row, &which);
        if (i == k->n || !ns_sliding_slides(k, mode, i))
            o->lambda[row] = held[at++];
    }
}

void ns_sliding_solve(const ns_sliding *k, uint32_t mode, const ns_ex *b, ns_sliding_outcome *o)
{
    ns_graph *g = k->s->graph;
    const ns_dalembert *w = k->eq;
    ns_sliding_unknowns all = {.n = 0};
    ns_ex value[NS_REACTIONS_MOST];
    uint32_t places = 0;
    ns_sliding_rows(k, mode, b, true, o);
    for (uint32_t i = 0; i < k->n; i++) {
        o->normal[i] = k->normal(k, i, o);
        if (k->at[i].bit == NS_SLIDING_ALWAYS || !ns_sliding_slides(k, mode, i))
            continue;
        all.z[all.n] = k->at[i].z;
        all.y[all.n++] = o->normal[i];
    }
    if (k->more)
        k->more(k, o, &all);
    o->firm = ns_one(g);
    if (!all.n)
        return;
    o->firm = ns_reactions_solve(g, all.n, all.z, all.y, value);
    ns_ex **at = NS_NEW_ARRAY(k->s->arena, ns_ex *, w->n + w->m + k->n);
    for (uint32_t i = 0; i < w->n; i++)
        at[places++] = &o->a[i];
    for (uint32_t i = 0; i < w->m; i++)
        at[places++] = &o->lambda[i];
    for (uint32_t i = 0; i < k->n; i++)
        at[places++] = &o->normal[i];
    ns_reactions_put(g, all.n, all.z, value, at, places);
}

/* ---- values by mode ---------------------------------------------------------------------- */

ns_ex ns_sliding_by_mode(const ns_sliding *k, ns_sliding_value *of, uint32_t i)
{
    ns_ex value[NS_SLIDING_MODES];
    for (uint32_t mode = 0; mode < k->modes; mode++)
        value[mode] = of(k, mode, i);
    return ns_system_by_mode(k->s, value);
}

ns_ex ns_sliding_acceleration(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].a[i];
}

ns_ex ns_sliding_multiplier(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].lambda[i];
}

ns_ex ns_sliding_normal(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return k->in[mode].normal[i];
}

ns_ex ns_sliding_power(const ns_sliding *k, uint32_t mode, uint32_t unused)
{
    (void)unused;
    ns_graph *g = k->s->graph;
    ns_ex sum = ns_zero(g);
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = 0; j < k->at[i].rows && ns_sliding_slides(k, mode, i); j++) {
            ns_ex T = k->in[mode].lambda[k->at[i].row + j];
            sum = ns_add(g, sum, ns_mul(g, T, k->at[i].u[j]));
        }
    return sum;
}

ns_ex ns_sliding_held(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    uint32_t part;
    const uint32_t contact = contact_of(k, i, &part);
    return ns_sliding_slides(k, mode, contact) ? ns_zero(k->s->graph) : k->at[contact].u[part];
}

ns_ex ns_sliding_margin(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    ns_graph *g = k->s->graph;
    const ns_sliding_contact *one = &k->at[i];
    const ns_ex *T = k->in[mode].lambda + one->row;
    ns_ex limit = ns_mul(g, one->law->fixed, k->in[mode].normal[i]);
    ns_ex used = ns_powi(g, T[0], 2);
    for (uint32_t j = 1; j < one->rows; j++)
        used = ns_add(g, used, ns_powi(g, T[j], 2));
    return ns_sub(g, ns_powi(g, limit, 2), used);
}

ns_ex ns_sliding_margin_now(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return ns_sliding_slides(k, mode, i) ? ns_one(k->s->graph) : ns_sliding_margin(k, mode, i);
}

ns_ex ns_sliding_margin_held(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return ns_sliding_margin(k, ns_sliding_with(k, mode, i, false), i);
}

ns_ex ns_sliding_is(const ns_sliding *k, uint32_t mode, uint32_t i)
{
    return ns_sliding_slides(k, mode, i) ? ns_one(k->s->graph) : ns_zero(k->s->graph);
}

ns_ex ns_sliding_firm(const ns_sliding *k, uint32_t mode, uint32_t unused)
{
    (void)unused;
    return k->in[mode].firm;
}

/* ---- events ------------------------------------------------------------------------------ */

ns_jump *ns_sliding_jump(const ns_sliding *k, uint32_t i, const char *name, bool slides,
                         ns_ex value, int direction, bool hidden)
{
    ns_system *s = k->s;
    ns_jump *j = NS_NEW(s->arena, ns_jump);
    for (uint32_t mode = 0; mode < k->modes; mode++)
        if (ns_sliding_slides(k, mode, i) == slides)
            j->in |= (uint64_t)1 << mode;
    NS_PUSH(s->arena, s->events,
            (ns_event){.name = ns_arena_format(s->arena, "%s%s", k->at[i].dot, name),
                       .value = value,
                       .direction = direction,
                       .action = NS_EVENT_RECORD,
                       .internal = hidden,
                       .jump = j});
    return j;
}

void ns_sliding_reset(const ns_sliding *k, ns_jump *j, uint32_t state, ns_ex value)
{
    NS_PUSH(k->s->arena, j->resets, (ns_reset){state, value});
}

void ns_sliding_ways(const ns_sliding *k, ns_jump *j)
{
    ns_graph *g = k->s->graph;
    for (uint32_t mode = 0; mode < k->modes; mode++) {
        ns_way way = {.mode = mode};
        for (uint32_t i = 0; i < k->n; i++) {
            if (k->at[i].bit == NS_SLIDING_ALWAYS)
                continue;
            ns_ex off = ns_sub(g, k->at[i].slide, ns_number(g, 0.5));
            NS_PUSH(k->s->arena, way.needs,
                    ns_sliding_slides(k, mode, i) ? off : ns_neg(g, off));
        }
        NS_PUSH(k->s->arena, j->ways, way);
    }
}

void ns_sliding_liftoff(const ns_sliding *k, uint32_t i)
{
    ns_system *s = k->s;
    NS_PUSH(s->arena, s->events,
            (ns_event){.name = ns_arena_format(s->arena, "%sliftoff", k->at[i].dot),
                       .value = ns_sliding_by_mode(k, ns_sliding_normal, i),
                       .direction = -1,
                       .condition = true,
                       .action = NS_EVENT_STOP,
                       .meaning = "the normal force vanishes: the contact would open"});
}

void ns_sliding_start(const ns_sliding *k, const ns_ex *speed, double touching)
{
    ns_graph *g = k->s->graph;
    for (uint32_t count = 0; count <= k->n; count++)
        for (uint32_t mode = 0; mode < k->modes; mode++) {
            ns_way way = {.mode = mode};
            if ((uint32_t)__builtin_popcount(mode) != count)
                continue;
            for (uint32_t i = 0; i < k->n; i++) {
                if (ns_sliding_slides(k, mode, i))
                    continue;
                ns_ex still = ns_mul(g, ns_number(g, touching), k->at[i].size);
                NS_PUSH(k->s->arena, way.needs, ns_sub(g, still, speed[i]));
                NS_PUSH(k->s->arena, way.needs, ns_sliding_margin(k, mode, i));
            }
            NS_PUSH(k->s->arena, k->s->start.ways, way);
        }
}
