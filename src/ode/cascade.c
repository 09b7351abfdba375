/* Parts and blocks of a right-hand side: see cascade.h.
 *
 * Dependencies are sets of states, one set of bits per node of the graph, found in one walk.
 * What depends on what around rings is their transitive closure. */
#include "ode/cascade.h"

#include <string.h>

#include "base/check.h"
#include "expr/normal/quick.h"
#include "expr/normal/shorten.h"
#include "expr/split.h"

/* Whether splitting pays, in operations.  A part with feedback is evaluated SWEEPS times, one
 * without once.  Each time also costs a product with the matrix of the method per state, and a
 * call; and a part has to be started, judged and ended. */
enum { SWEEPS = 10, STATE = 16, CALL = 20, PART = 150 };
/* Sets larger than this in all are not worth the memory: no split then. */
enum { MOST_WORDS = 1 << 22, MOST_STATES = 1000 };
/* States whose rates cost less than this share of the part's come after the others. */
static const double CHEAP = 0.3;
/* ... if those of the others cost this many times more. */
enum { GAP = 3 };
/* ... and all together this many operations: the second evaluation waits for the first, which
 * costs small systems more than the sweeps that it saves. */
enum { LEAST = 100 };
/* Operations of the rates of a ring times its states: more takes long to make linear. */
enum { MOST_LINEAR = 300000 };

/* Rings that were taken together because their rates are linear in their own states. */
typedef struct linear_part {
    uint32_t part;    /* which one it is */
    uint32_t n, dear; /* states; those of them whose rates cost more come first */
    uint32_t *state;
    ns_ex *rate;  /* [n] */
    ns_ex *known; /* [n_known] */
    uint32_t n_known, first;
    double once, sweep; /* operations */
} linear_part;

typedef struct splitter {
    ns_arena *arena, *scratch;
    const ns_cascade_spec *spec;
    uint32_t n, words, size;
    uint64_t *set;   /* [size][words] states that a node depends on */
    uint64_t *reach; /* [n][words] states that a state depends on, directly or not */
    uint32_t *price; /* [size] operations of a node in a run; 0 if it is done once */
    uint32_t *stamp; /* [size] who counted the node last */
    uint32_t now;
    ns_ex *todo;  /* [size] */
    bool *placed; /* [n] in a part already */
    bool *idle;   /* [n] in no rate: a path, an angle that nothing depends on */
    NS_LIST(ns_rate_part) parts;
    NS_LIST(linear_part) linear;
    NS_LIST(ns_ex) inputs; /* states, then symbols of known values */
} splitter;

static bool has(const uint64_t *set, uint32_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}

/* Sets and prices of all nodes; false if there are too many. */
static bool survey(splitter *b)
{
    const ns_program_spec *spec = &b->spec->rhs;
    const ns_graph *g = spec->graph;
    b->size = ns_graph_size(g);
    b->words = (b->n + 63) / 64;
    if (b->n > MOST_STATES || (uint64_t)b->size * b->words > MOST_WORDS)
        return false;
    bool *used = NS_NEW_ARRAY(b->scratch, bool, b->size);
    bool *runs = NS_NEW_ARRAY(b->scratch, bool, b->size);
    b->set = NS_NEW_ARRAY(b->scratch, uint64_t, (size_t)b->size * b->words);
    b->price = NS_NEW_ARRAY(b->scratch, uint32_t, b->size);
    b->stamp = NS_NEW_ARRAY(b->scratch, uint32_t, b->size);
    b->todo = NS_NEW_ARRAY(b->scratch, ns_ex, b->size);
    ns_graph_mark(g, spec->out, b->n, used);
    if (spec->time)
        runs[spec->time] = true;
    for (uint32_t i = 0; i < b->n; i++) {
        b->set[(size_t)spec->x[i] * b->words + i / 64] |= UINT64_C(1) << (i % 64);
        runs[spec->x[i]] = true;
    }
    for (ns_ex e = 1; e < b->size; e++) {
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        if (!used[e])
            continue;
        for (uint32_t k = 0; k < node->n; k++) {
            runs[e] = runs[e] || runs[args[k]];
            for (uint32_t w = 0; w < b->words; w++)
                b->set[(size_t)e * b->words + w] |= b->set[(size_t)args[k] * b->words + w];
        }
        b->price[e] = runs[e] ? ns_shorten_price(node) : 0;
    }
    b->reach = NS_NEW_ARRAY(b->scratch, uint64_t, (size_t)b->n * b->words + 1);
    for (uint32_t i = 0; i < b->n; i++)
        memcpy(b->reach + (size_t)i * b->words, b->set + (size_t)spec->out[i] * b->words,
               b->words * sizeof(uint64_t));
    for (uint32_t k = 0; k < b->n; k++)
        for (uint32_t i = 0; i < b->n; i++)
            if (has(b->reach + (size_t)i * b->words, k))
                for (uint32_t w = 0; w < b->words; w++)
                    b->reach[(size_t)i * b->words + w] |= b->reach[(size_t)k * b->words + w];
    return true;
}

/* Operations of the rate of state i that were not counted since b->now was raised. */
static uint32_t count(splitter *b, uint32_t i)
{
    const ns_graph *g = b->spec->rhs.graph;
    uint32_t sum = 0, n = 0;
    const ns_ex rate = b->spec->rhs.out[i];
    if (b->stamp[rate] == b->now)
        return 0;
    b->stamp[rate] = b->now;
    b->todo[n++] = rate;
    while (n) {
        const ns_ex e = b->todo[--n];
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        sum += b->price[e];
        for (uint32_t k = 0; k < node->n; k++)
            if (b->stamp[args[k]] != b->now) {
                b->stamp[args[k]] = b->now;
                b->todo[n++] = args[k];
            }
    }
    return sum;
}

static uint32_t count_all(splitter *b, const uint32_t *state, uint32_t n)
{
    uint32_t sum = 0;
    b->now++;
    for (uint32_t k = 0; k < n; k++)
        sum += count(b, state[k]);
    return sum;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static const ns_program *build(const splitter *b, const ns_ex *out, uint32_t n)
{
    ns_program_spec spec = b->spec->rhs;
    if (b->inputs.n) {
        spec.x = b->inputs.at;
        spec.nx = b->inputs.n;
    }
    spec.out = out;
    spec.nout = n;
    spec.jets = false;
    return ns_program_build(b->arena, &spec);
}

/* Moves idle states to the end; returns how many are not. */
static uint32_t live_first(const splitter *b, uint32_t *state, uint32_t n)
{
    uint32_t *sorted = NS_NEW_ARRAY(b->scratch, uint32_t, n + 1), used = 0, live = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < n; k++)
            if (b->idle[state[k]] == (pass == 1))
                sorted[used++] = state[k];
        live = pass == 0 ? used : live;
    }
    memcpy(state, sorted, n * sizeof *state);
    return live;
}

/* The block of these states.  A state whose source was updated before takes it for its rate. */
static ns_rate_block block_of(splitter *b, uint32_t *state, uint32_t n, const ns_ex *rates_of,
                              bool *known)
{
    const uint32_t live = live_first(b, state, n);
    const ns_cascade_spec *spec = b->spec;
    uint32_t *row = NS_NEW_ARRAY(b->arena, uint32_t, n);
    uint32_t *from = NS_NEW_ARRAY(b->arena, uint32_t, n);
    ns_ex *out = NS_NEW_ARRAY(b->scratch, ns_ex, n);
    uint32_t rates = 0;
    for (uint32_t k = 0; k < n; k++) {
        from[k] = spec->source[state[k]];
        if (from[k] != UINT32_MAX && known[from[k]])
            row[k] = NS_NO_ROW;
        else {
            from[k] = UINT32_MAX;
            row[k] = rates;
            out[rates++] = rates_of[state[k]];
        }
        known[state[k]] = true;
    }
    return (ns_rate_block){.rhs = rates ? build(b, out, rates) : NULL,
                           .n = n,
                           .live = live,
                           .state = state,
                           .row = row,
                           .source = from};
}

/* Dear states before cheap ones, in the given order otherwise; returns how many are dear. */
static uint32_t sort_by_price(splitter *b, uint32_t *state, uint32_t n)
{
    const double room = CHEAP * count_all(b, state, n);
    uint32_t *price = NS_NEW_ARRAY(b->scratch, uint32_t, n);
    bool *cheap = NS_NEW_ARRAY(b->scratch, bool, n);
    for (uint32_t k = 0; k < n; k++)
        price[k] = count_all(b, &state[k], 1);
    double sum = 0;
    uint32_t n_cheap = 0, dearest = 0;
    b->now++;
    for (;;) { /* the cheapest first, as long as all together cost little */
        uint32_t best = n;
        for (uint32_t k = 0; k < n; k++)
            if (!cheap[k] && (best == n || price[k] < price[best]))
                best = k;
        if (best == n)
            return n; /* nothing costs much */
        sum += count(b, state[best]);
        if (sum > room) {
            if (price[best] < GAP * dearest)
                return n; /* they are all of a kind */
            break;
        }
        dearest = price[best];
        cheap[best] = true;
        n_cheap++;
    }
    uint32_t *sorted = NS_NEW_ARRAY(b->scratch, uint32_t, n);
    uint32_t used = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < n; k++)
            if (cheap[k] == (pass == 1))
                sorted[used++] = state[k];
    memcpy(state, sorted, n * sizeof *state);
    return n - n_cheap;
}

/* ---- parts ------------------------------------------------------------------------------- */

/* All that state i depends on is placed, but for states of its own ring. */
static bool ready(const splitter *b, const bool *placed, uint32_t i)
{
    const uint64_t *reach = b->reach + (size_t)i * b->words;
    for (uint32_t j = 0; j < b->n; j++)
        if (has(reach, j) && !placed[j] && !has(b->reach + (size_t)j * b->words, i))
            return false;
    return true;
}

static bool in_ring(const splitter *b, uint32_t i)
{
    return has(b->reach + (size_t)i * b->words, i);
}

/* The next ring from `order[*at]` on whose surroundings are placed, in the order of the
 * problem: its states, marked as placed; 0 if there is none. */
static uint32_t next_ring(splitter *b, const bool *placed, uint32_t *at, uint32_t *state)
{
    const uint32_t *order = b->spec->order;
    uint32_t n = 0;
    while (*at < b->n &&
           (b->placed[order[*at]] || !in_ring(b, order[*at]) || !ready(b, placed, order[*at])))
        (*at)++;
    if (*at == b->n)
        return 0;
    const uint32_t first = order[*at];
    for (uint32_t k = 0; k < b->n; k++) {
        const uint32_t i = order[k];
        if (has(b->reach + (size_t)first * b->words, i) &&
            has(b->reach + (size_t)i * b->words, first))
            state[n++] = i;
    }
    for (uint32_t k = 0; k < n; k++)
        b->placed[state[k]] = true;
    return n;
}

static bool take_ring(splitter *b)
{
    uint32_t at = 0, *state = NS_NEW_ARRAY(b->arena, uint32_t, b->n);
    const uint32_t n = next_ring(b, b->placed, &at, state);
    if (n)
        NS_PUSH(b->scratch, b->parts, (ns_rate_part){.n = n, .state = state, .feedback = true});
    return n > 0;
}

/* Are all rings placed but those of linear parts? */
static bool others_placed(const splitter *b)
{
    for (uint32_t i = 0; i < b->spec->linear; i++)
        if (!b->placed[i] && in_ring(b, i))
            return false;
    return true;
}

/* All rings that are ready now, if they are linear in their own states and that saves
 * operations: one part, dear states first, then cheap ones. */
static bool take_linear(splitter *b)
{
    const ns_program_spec *rhs = &b->spec->rhs;
    uint32_t at = 0, n = 0, dear = 0, cheap = 0, first = 0;
    bool *before = NS_NEW_ARRAY(b->scratch, bool, b->n), good = true;
    uint32_t *state = NS_NEW_ARRAY(b->arena, uint32_t, b->n);
    uint32_t *late = NS_NEW_ARRAY(b->scratch, uint32_t, b->n);
    uint32_t *ring = NS_NEW_ARRAY(b->scratch, uint32_t, b->n);
    ns_ex *rate = NS_NEW_ARRAY(b->scratch, ns_ex, b->n);
    ns_ex *v = NS_NEW_ARRAY(b->scratch, ns_ex, b->n);
    ns_ex *of = NS_NEW_ARRAY(b->scratch, ns_ex, b->n);
    memcpy(before, b->placed, b->n * sizeof *before);
    ns_ex *runs = NS_NEW_ARRAY(b->scratch, ns_ex, b->n + 1);
    memcpy(runs, rhs->x, b->n * sizeof *runs);
    runs[b->n] = rhs->time;
    ns_split l = {.graph = rhs->graph,
                  .arena = b->scratch,
                  .runs = runs,
                  .n_runs = b->n + (rhs->time ? 1 : 0)};
    double joint = 0;
    while (good && (n = next_ring(b, before, &at, ring))) {
        const uint64_t price = count_all(b, ring, n);
        joint += (double)price;
        uint32_t own = sort_by_price(b, ring, n);
        for (uint32_t k = 0; k < n; k++) {
            v[k] = rhs->x[ring[k]];
            of[k] = rhs->out[ring[k]];
        }
        good = price * n <= MOST_LINEAR && ns_split_linear(&l, v, n, of);
        for (uint32_t k = 0; k < n; k++) {
            rate[ring[k]] = of[k];
            if (k < own)
                state[dear++] = ring[k];
            else
                late[cheap++] = ring[k];
        }
    }
    memcpy(state + dear, late, cheap * sizeof *late);
    n = dear + cheap;
    linear_part part = {.part = b->parts.n, .n = n, .dear = dear, .state = state, .rate = rate};
    for (uint32_t k = 0; k < n; k++)
        v[k] = rate[state[k]];
    good = good && n && l.known.n;
    if (good) {
        part.known = NS_NEW_ARRAY(b->scratch, ns_ex, l.known.n);
        ns_quick(rhs->graph, l.known.at, l.known.n, runs, l.n_runs, part.known);
        part.once = ns_shorten_cost(rhs->graph, part.known, l.known.n);
        part.sweep = ns_shorten_cost(rhs->graph, v, n);
        good = part.once + SWEEPS * part.sweep < SWEEPS * joint;
    }
    if (!good) {
        memcpy(b->placed, before, b->n * sizeof *before);
        return false;
    }
    for (uint32_t i = 0; i < b->linear.n; i++)
        first += b->linear.at[i].n_known;
    part.n_known = l.known.n;
    part.first = first;
    for (uint32_t i = 0; i < l.symbol.n; i++)
        NS_PUSH(b->scratch, b->inputs, l.symbol.at[i]);
    NS_PUSH(b->scratch, b->linear, part);
    NS_PUSH(b->scratch, b->parts, (ns_rate_part){.n = n, .state = state, .feedback = true});
    return true;
}

/* All states without feedback that can be had without another ring: one part, a block for each
 * level of them. */
static bool take_rest(splitter *b)
{
    uint32_t *state = NS_NEW_ARRAY(b->arena, uint32_t, b->n);
    NS_LIST(ns_rate_block) blocks = {0};
    uint32_t n = 0;
    for (;;) {
        const uint32_t before = n;
        for (uint32_t i = 0; i < b->n; i++)
            if (!b->placed[i] && !in_ring(b, i) && ready(b, b->placed, i))
                state[n++] = i;
        if (n == before)
            break;
        for (uint32_t k = before; k < n; k++)
            b->placed[state[k]] = true;
        NS_PUSH(b->arena, blocks, (ns_rate_block){.state = state + before, .n = n - before});
    }
    if (n)
        NS_PUSH(
            b->scratch, b->parts,
            (ns_rate_part){.n = n, .state = state, .n_blocks = blocks.n, .block = blocks.at});
    return n > 0;
}

static const linear_part *linear_of(const splitter *b, uint32_t part)
{
    for (uint32_t i = 0; i < b->linear.n; i++)
        if (b->linear.at[i].part == part)
            return &b->linear.at[i];
    return NULL;
}

static bool pays(splitter *b)
{
    const uint64_t joint =
        (uint64_t)SWEEPS * (count_all(b, b->spec->order, b->n) + STATE * b->n + CALL) + PART;
    uint64_t split = 0;
    for (uint32_t p = 0; p < b->parts.n; p++) {
        const ns_rate_part *part = &b->parts.at[p];
        const linear_part *linear = linear_of(b, p);
        uint64_t once = STATE * part->n + CALL;
        if (linear) {
            once += (uint64_t)linear->sweep;
            split += (uint64_t)linear->once;
        } else if (part->feedback)
            once += count_all(b, part->state, part->n);
        for (uint32_t k = 0; k < part->n_blocks; k++) /* they share nothing */
            once += count_all(b, part->block[k].state, part->block[k].n);
        split += (part->feedback ? SWEEPS : 1) * once + PART;
    }
    return split < joint;
}

/* ---- all --------------------------------------------------------------------------------- */

static ns_rate_block whole_block(const splitter *b)
{
    const ns_cascade_spec *spec = b->spec;
    uint32_t *row = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    uint32_t *from = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    uint32_t *state = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    memcpy(state, spec->order, b->n * sizeof *state);
    const uint32_t live = live_first(b, state, b->n);
    for (uint32_t k = 0; k < b->n; k++) {
        const uint32_t i = state[k];
        from[k] = spec->source[i];
        row[k] = from[k] == UINT32_MAX ? i : NS_NO_ROW;
    }
    return (ns_rate_block){.rhs = spec->whole,
                           .n = b->n,
                           .live = live,
                           .state = state,
                           .row = row,
                           .source = from,
                           .all = true,
                           .major = true};
}

/* Are the rates of all states from `dear` on states that were updated before? */
static bool all_follow(const splitter *b, const uint32_t *state, uint32_t dear, uint32_t n,
                       const bool *known)
{
    bool *before = NS_NEW_ARRAY(b->scratch, bool, b->n);
    memcpy(before, known, b->n * sizeof *before);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t from = b->spec->source[state[k]];
        if (k >= dear && (from == UINT32_MAX || !before[from]))
            return false;
        before[state[k]] = true;
    }
    return true;
}

/* Moves every state to the place after its source, if that is among them and before it. */
static void sources_next(const splitter *b, uint32_t *state, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        const uint32_t moved = state[k];
        uint32_t at = 0;
        while (at < k && state[at] != b->spec->source[moved])
            at++;
        for (uint32_t j = k; at < k && j > at + 1; j--)
            state[j] = state[j - 1];
        if (at < k)
            state[at + 1] = moved;
    }
}

static void add_blocks(splitter *b, ns_rate_part *part, bool *known)
{
    ns_rate_block *blocks;
    if (part->feedback) {
        uint32_t *state = NS_NEW_ARRAY(b->arena, uint32_t, part->n);
        memcpy(state, part->state, part->n * sizeof *state);
        uint32_t dear = sort_by_price(b, state, part->n);
        if (all_follow(b, state, dear, part->n, known)) {
            dear = part->n; /* there is nothing to evaluate between */
            sources_next(b, state, part->n);
        } else if (count_all(b, part->state, part->n) < LEAST)
            dear = part->n;
        part->n_blocks = dear < part->n ? 2 : 1;
        blocks = NS_NEW_ARRAY(b->arena, ns_rate_block, 2);
        blocks[0] = block_of(b, state, dear, b->spec->rhs.out, known);
        if (dear < part->n)
            blocks[1] = block_of(b, state + dear, part->n - dear, b->spec->rhs.out, known);
        part->state = state;
    } else {
        blocks = NS_NEW_ARRAY(b->arena, ns_rate_block, part->n_blocks);
        for (uint32_t k = 0; k < part->n_blocks; k++)
            blocks[k] = block_of(b, (uint32_t *)part->block[k].state, /* made in take_rest */
                                 part->block[k].n, b->spec->rhs.out, known);
    }
    part->block = blocks;
}

static void add_linear(splitter *b, ns_rate_part *part, const linear_part *l, bool *known)
{
    uint32_t dear = l->dear;
    ns_rate_block *blocks = NS_NEW_ARRAY(b->arena, ns_rate_block, 2);
    if (all_follow(b, l->state, dear, l->n, known))
        dear = l->n; /* nothing to evaluate between */
    blocks[0] = block_of(b, l->state, dear, l->rate, known);
    if (dear < l->n)
        blocks[1] = block_of(b, l->state + dear, l->n - dear, l->rate, known);
    part->n_blocks = dear < l->n ? 2 : 1;
    part->block = blocks;
    part->known = build(b, l->known, l->n_known);
    part->first = l->first;
}

static void mark_major(const splitter *b)
{
    ns_rate_block *most = NULL;
    uint32_t cost = 0;
    for (uint32_t p = 0; p < b->parts.n; p++)
        for (uint32_t k = 0; k < b->parts.at[p].n_blocks; k++) {
            ns_rate_block *block = (ns_rate_block *)&b->parts.at[p].block[k]; /* made here */
            const uint32_t own = block->rhs ? 1 + ns_program_operations(block->rhs, NULL) : 0;
            const uint32_t times = b->parts.at[p].feedback ? SWEEPS : 1;
            if (own * times > cost) {
                cost = own * times;
                most = block;
            }
        }
    if (most)
        most->major = true;
}

/* Where work blocks and outputs begin; returns the size of all work blocks. */
static size_t place_blocks(const splitter *b)
{
    size_t sum = 0;
    uint32_t rows = 0;
    for (uint32_t p = 0; p < b->parts.n; p++) {
        ns_rate_part *part = &b->parts.at[p];
        for (uint32_t k = 0; k < part->n_blocks; k++) {
            ns_rate_block *block = (ns_rate_block *)&part->block[k]; /* made here */
            block->place = sum;
            block->rows = rows;
            for (uint32_t i = 0; i < block->n; i++)
                block->follow = block->follow || block->row[i] == NS_NO_ROW;
            part->live += block->live;
            sum += block->rhs && !block->all ? ns_program_work8(block->rhs) : 0;
            rows += block->rhs ? ns_program_nout(block->rhs) : 0;
        }
        part->place = sum;
        sum += part->known ? ns_program_work8(part->known) : 0;
    }
    return sum;
}

/* States that occur in no rate. */
static void find_idle(splitter *b)
{
    const ns_program_spec *rhs = &b->spec->rhs;
    bool *used = NS_NEW_ARRAY(b->scratch, bool, ns_graph_size(rhs->graph));
    b->idle = NS_NEW_ARRAY(b->scratch, bool, b->n + 1);
    if (!b->spec->known)
        return;
    ns_graph_mark(rhs->graph, rhs->out, b->n, used);
    for (uint32_t i = 0; i < b->n; i++)
        b->idle[i] = !used[rhs->x[i]];
}

/* Parts and their blocks; false if a linear part was asked for and there is none. */
static bool split(splitter *b)
{
    const ns_cascade_spec *spec = b->spec;
    b->placed = NS_NEW_ARRAY(b->scratch, bool, b->n);
    for (uint32_t i = 0; i < b->n && spec->linear; i++)
        NS_PUSH(b->scratch, b->inputs, spec->rhs.x[i]);
    while ((spec->linear && others_placed(b) && take_linear(b)) || take_ring(b) || take_rest(b))
        ;
    if (b->parts.n > 1 && !pays(b)) {
        b->parts.n = b->linear.n = 0;
        NS_PUSH(b->scratch, b->parts,
                (ns_rate_part){.n = b->n, .state = spec->order, .feedback = true});
    }
    if (spec->linear && !b->linear.n)
        return false;
    bool *known = NS_NEW_ARRAY(b->scratch, bool, b->n);
    for (uint32_t p = 0; p < b->parts.n; p++) {
        const linear_part *linear = linear_of(b, p);
        if (linear)
            add_linear(b, &b->parts.at[p], linear, known);
        else
            add_blocks(b, &b->parts.at[p], known);
    }
    mark_major(b);
    return true;
}

/* All states in the order of the parts. */
static const uint32_t *states_by_part(const splitter *b)
{
    uint32_t *all = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    uint32_t used = 0;
    for (uint32_t p = 0; p < b->parts.n; used += b->parts.at[p++].n)
        memcpy(all + used, b->parts.at[p].state, b->parts.at[p].n * sizeof *all);
    NS_CHECK(used == b->n); /* every state is in one part */
    return all;
}

const ns_cascade *ns_cascade_new(ns_arena *arena, const ns_cascade_spec *spec)
{
    ns_arena *scratch = ns_graph_scratch(spec->rhs.graph);
    const ns_arena_place mark = ns_arena_mark(scratch);
    const uint32_t n = spec->rhs.nx;
    ns_cascade_spec quick = *spec;
    if (spec->split) {
        ns_ex *inputs = NS_NEW_ARRAY(scratch, ns_ex, n + 1),
                                     *out = NS_NEW_ARRAY(scratch, ns_ex, n);
        memcpy(inputs, spec->rhs.x, n * sizeof *inputs);
        inputs[n] = spec->rhs.time;
        ns_quick(spec->rhs.graph, spec->rhs.out, n, inputs, n + 1, out);
        quick.rhs.out = out;
    }
    splitter b = {.arena = arena, .scratch = scratch, .spec = &quick, .n = n};
    find_idle(&b);
    bool good = true;
    if (spec->split && b.n && survey(&b))
        good = split(&b);
    else if (!spec->linear) {
        ns_rate_block *block = NS_NEW(arena, ns_rate_block);
        *block = whole_block(&b);
        NS_PUSH(scratch, b.parts,
                (ns_rate_part){.n = b.n,
                               .state = spec->order,
                               .n_blocks = 1,
                               .block = block,
                               .feedback = true});
    } else
        good = false;
    ns_cascade *cascade = NULL;
    if (good) {
        cascade = NS_NEW(arena, ns_cascade);
        cascade->state = states_by_part(&b);
        cascade->n = b.parts.n;
        cascade->work = place_blocks(&b);
        cascade->known = b.inputs.n ? b.inputs.n - n : 0;
        cascade->part = ns_arena_copy(arena, b.parts.at, b.parts.n * sizeof *b.parts.at);
    }
    ns_arena_release(scratch, mark);
    return cascade;
}
