/* Probes of events: see probes.h.
 *
 * Limits.  Ten samples show a wave of one period, an exponential over a few units, and a pole
 * or a branch point that is not much nearer than the distance of two samples.  If b = x^2 + w^2
 * or |x| + w has its least value hidden between two, those seen differ by a factor of 5 or
 * more.  What the samples show, the fit judges by its last coefficients; the limits need only
 * exclude what they do not show.
 *
 * Kinks.  A parabola dips between two samples by about as much as these are off the straight
 * lines through their neighbours, and so does a roof like |x|; twice as much is allowed for. */
#include "ode/events/probes.h"

#include <math.h>
#include <string.h>

#include "ode/method.h"

enum {
    KINDS = 6,
    DIP = 2,
    TURN = 6,
    GROWTH = 6,
    BEND = 2,
    RATIO = 3,
    ROOT_RATIO = 1000,
    SMALL_POWER = 8
};

typedef struct finder {
    ns_graph *g;
    ns_arena *arena;
    NS_LIST(ns_probe) list;
    uint32_t size;    /* nodes there were before probes made some */
    uint32_t *number; /* [size][KINDS] of the probe of a node and kind, from 1 on */
    uint32_t *own;    /* [size][2] probes of an operation, from 1 on */
    bool *outer;      /* [size] only sums and kinks follow */
} finder;

/* The operation `at` needs this probe. */
static void add(finder *f, ns_ex at, ns_ex node, ns_probe_kind kind, double limit)
{
    uint32_t none = 0,
             *number = node < f->size ? &f->number[KINDS * (size_t)node + kind] : &none;
    if (*number && f->list.at) {
        double *least = &f->list.at[*number - 1].limit;
        *least = limit < *least ? limit : *least;
    } else {
        NS_PUSH(f->arena, f->list, (ns_probe){.node = node, .kind = kind, .limit = limit});
        *number = f->list.n;
    }
    f->own[2 * (size_t)at + (f->own[2 * (size_t)at] != 0)] = *number;
}

static ns_ex sum_of_squares(ns_graph *g, ns_ex a, ns_ex b)
{
    return ns_add(g, ns_powi(g, a, 2), ns_powi(g, b, 2));
}

static void add_kink(finder *f, ns_ex at, ns_ex node)
{
    if (f->outer[at])
        add(f, at, node, NS_PROBE_KINK, DIP);
    else
        add(f, at, node, NS_PROBE_SIDE, DIP);
}

/* Probes of operation e on arguments a and b. */
static void look(finder *f, ns_ex e, ns_op op, ns_ex a, ns_ex b, const bool *varies)
{
    ns_graph *g = f->g;
    const bool moves = a && varies[a];
    switch (op) {
    case NS_OP_SIN:
    case NS_OP_COS:
        if (moves)
            add(f, e, a, NS_PROBE_RANGE, TURN);
        break;
    case NS_OP_TAN:
        if (moves)
            add(f, e, ns_cos(g, a), NS_PROBE_RATIO, RATIO);
        break;
    case NS_OP_EXP:
    case NS_OP_SINH:
    case NS_OP_COSH:
        if (moves)
            add(f, e, a, NS_PROBE_RANGE, GROWTH);
        break;
    case NS_OP_TANH:
        if (moves)
            add(f, e, a, NS_PROBE_FLAT, BEND);
        break;
    case NS_OP_ATAN:
    case NS_OP_ASINH:
        if (moves)
            add(f, e, a, NS_PROBE_FAR, BEND);
        break;
    case NS_OP_ASIN:
    case NS_OP_ACOS:
    case NS_OP_ATANH:
        if (moves)
            add(f, e, ns_sub(g, ns_one(g), ns_powi(g, a, 2)), NS_PROBE_RATIO, RATIO);
        break;
    case NS_OP_ACOSH:
        if (moves)
            add(f, e, ns_sub(g, a, ns_one(g)), NS_PROBE_RATIO, RATIO);
        break;
    case NS_OP_ATAN2:
        if (moves || varies[b]) {
            add(f, e, sum_of_squares(g, a, b), NS_PROBE_RATIO, RATIO);
            add(f, e, e, NS_PROBE_RANGE, 3);
        }
        break;
    case NS_OP_DIV:
        if (varies[b])
            add(f, e, b, NS_PROBE_RATIO, RATIO);
        break;
    case NS_OP_LOG:
        if (moves)
            add(f, e, a, NS_PROBE_RATIO, RATIO);
        break;
    case NS_OP_ABS:
    case NS_OP_SIGN:
        if (moves)
            add_kink(f, e, a);
        break;
    case NS_OP_SQRT:
        if (moves)
            add(f, e, a, NS_PROBE_RATIO, ROOT_RATIO);
        break;
    case NS_OP_MIN:
    case NS_OP_MAX:
        if (moves || varies[b])
            add_kink(f, e, ns_sub(g, a, b));
        break;
    case NS_OP_POW:
        if (moves)
            add(f, e, a, NS_PROBE_RATIO, RATIO);
        if (moves || varies[b])
            add(f, e, e, NS_PROBE_RATIO, ROOT_RATIO);
        break;
    case NS_OP_POWI:
        if (moves && ns_graph_node(g, e)->integer > SMALL_POWER)
            add(f, e, e, NS_PROBE_RATIO, ROOT_RATIO);
        break;
    default:
        break;
    }
}

/* Which nodes depend on more than parameters. */
static void find_varying(const ns_graph *g, uint32_t size, bool *varies)
{
    for (ns_ex e = 1; e < size; e++) {
        const ns_symbol *symbol = ns_graph_symbol(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        varies[e] = symbol && symbol->kind != NS_SYM_PARAM;
        for (uint32_t k = 0; k < ns_graph_node(g, e)->n && !varies[e]; k++)
            varies[e] = varies[args[k]];
    }
}

/* outer[e] for the nodes used: from the top down. */
static void find_outer(const ns_graph *g, uint32_t size, const bool *used, const bool *varies,
                       bool *outer)
{
    memcpy(outer, used, size * sizeof *outer);
    for (ns_ex e = size - 1; e > 0; e--) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        const ns_op op = (ns_op)node->op;
        const bool sum = op == NS_OP_ADD || op == NS_OP_SUB || op == NS_OP_NEG ||
                         op == NS_OP_MIN || op == NS_OP_MAX || op == NS_OP_ABS ||
                         (op == NS_OP_MUL && (!varies[args[0]] || !varies[args[1]])) ||
                         (op == NS_OP_DIV && !varies[args[1]]);
        for (uint32_t k = 0; k < node->n && !(sum && outer[e]); k++)
            outer[args[k]] = false;
    }
}

/* Shares and widths are a little smaller than limits, for rounding errors. */
#define SURELY 0.999

static void finish(ns_probes *probes, uint32_t i, ns_arena *arena)
{
    ns_probe *probe = &probes->at[i];
    if (probe->kind == NS_PROBE_KINK || probe->kind == NS_PROBE_SIDE) {
        if (!probes->kinks)
            probes->kinks = NS_NEW_ARRAY(arena, uint64_t, probes->words);
        probes->kinks[i / 64] |= UINT64_C(1) << i % 64;
        probe->share = SURELY / (1 + 2 * DIP); /* least > DIP (most - least) */
    } else if (probe->kind == NS_PROBE_RATIO)
        probe->share = SURELY * (probe->limit - 1) / (probe->limit + 1);
    else
        probe->width = 0.499 * probe->limit; /* on either side */
}

const ns_probes *ns_probes_find(ns_graph *g, ns_arena *arena, const ns_ex *events, uint32_t n)
{
    ns_probes *probes = NS_NEW(arena, ns_probes);
    *probes = (ns_probes){.n_events = n};
    if (n == 0)
        return probes;
    const uint32_t size = ns_graph_size(g);
    ns_arena *room = ns_graph_workspace(g);
    const ns_arena_place mark = ns_arena_mark(room);
    finder f = {.g = g, .arena = arena, .size = size};
    f.number = NS_NEW_ARRAY(room, uint32_t, KINDS * (size_t)size);
    f.own = NS_NEW_ARRAY(room, uint32_t, 2 * (size_t)size);
    bool *varies = NS_NEW_ARRAY(room, bool, size), *used = NS_NEW_ARRAY(room, bool, size);
    find_varying(g, size, varies);
    ns_graph_mark(g, events, n, used);
    f.outer = NS_NEW_ARRAY(room, bool, size);
    find_outer(g, size, used, varies, f.outer);
    for (ns_ex e = 1; e < size; e++) {
        const ns_node *node = ns_graph_node(g, e);
        if (!used[e] || node->n == 0)
            continue;
        const ns_ex *args = ns_graph_args(g, e);
        look(&f, e, (ns_op)node->op, args[0], node->n > 1 ? args[1] : 0, varies);
    }
    probes->n = f.list.n;
    probes->at = f.list.at;
    probes->words = (f.list.n + 63) / 64;
    probes->of = NS_NEW_ARRAY(arena, uint64_t, (size_t)n * probes->words + 1);
    for (uint32_t i = 0; i < n && probes->n > 0; i++) {
        memset(used, 0, size * sizeof *used);
        ns_graph_mark(g, events + i, 1, used);
        for (ns_ex e = 1; e <= events[i]; e++)
            for (size_t k = 0; k < 2 && used[e]; k++) {
                const uint32_t number = f.own[2 * (size_t)e + k];
                if (number)
                    probes->of[(size_t)i * probes->words + (number - 1) / 64] |=
                        UINT64_C(1) << (number - 1) % 64;
            }
    }
    for (uint32_t i = 0; i < probes->n; i++)
        finish(probes, i, arena);
    ns_arena_release(room, mark);
    return probes;
}

/* The ten samples of a probe and where they are. */
static void list(const ns_probes_seen *seen, size_t i, double u[10], double v[10])
{
    for (int k = 0; k < 10; k++) {
        u[k] = k == 0 ? 0 : k == 9 ? 1 : ns_method_nodes[k - 1];
        v[k] = k == 0   ? seen->begin[seen->apart * i]
               : k == 9 ? seen->end[seen->apart * i]
                        : seen->nodes[8 * i + (size_t)k - 1];
    }
}

/* May changes of sign hide between neighbouring samples, or a peak of which one shows the foot?
 * With `side` no sample may change its sign; at the ends, where a stretch may be cut, zero is
 * near. */
static bool may_hide(const ns_probes_seen *seen, size_t at, double limit, bool side)
{
    static const double touches = 1e-9; /* of its neighbour: a zero that rounding moved */
    double u[10], v[10], off[10] = {0}; /* off: from the line through the neighbours */
    list(seen, at, u, v);
    for (int i = 1; i < 9; i++) {
        const double part = (u[i] - u[i - 1]) / (u[i + 1] - u[i - 1]);
        off[i] = fabs(v[i] - (v[i - 1] + part * (v[i + 1] - v[i - 1])));
    }
    for (int i = 0; i < 9; i++) {
        const double a = fabs(v[i]), b = fabs(v[i + 1]);
        double least = a < b ? a : b;
        if (side && (i == 0 || i == 8)) /* the inner one counts */
            least = i == 0 ? b : a;
        else if (side && v[i] * v[i + 1] < 0)
            return true;
        if (side && v[i] * v[i + 1] < 0 && (i == 0 ? a : b) > touches * (i == 0 ? b : a))
            return true;
        if (least < limit * (off[i] > off[i + 1] ? off[i] : off[i + 1]))
            return true;
    }
    return false;
}

int ns_probes_flip(const ns_probes *probes, const ns_probes_seen *seen, uint32_t event,
                   uint32_t *probe)
{
    for (uint32_t i = 0; i < probes->n; i++) {
        double u[10], v[10];
        if (!ns_probes_has(probes, event, i) || probes->at[i].kind != NS_PROBE_SIDE)
            continue;
        list(seen, i, u, v);
        *probe = i;
        for (int k = 0; k < 9; k++)
            if (v[k] * v[k + 1] < 0)
                return k;
    }
    return -1;
}

static bool is_wild(const ns_probe *probe, const ns_probes_seen *seen, size_t i)
{
    const double *v = seen->nodes + 8 * i;
    double least = v[0], most = v[0];
    for (int k = 1; k < 8; k++) {
        least = v[k] < least ? v[k] : least;
        most = v[k] > most ? v[k] : most;
    }
    const bool side = probe->kind == NS_PROBE_SIDE;
    const double away = DIP * (most - least); /* a kink that far from zero does not matter */
    const bool tame = !side && probe->kind != NS_PROBE_KINK
                          ? ns_probe_tame(probe, least, most)
                          : least > away || -most > away || least == most ||
                                !may_hide(seen, i, probe->limit, side);
    const ns_interval *noise = seen->noise ? &seen->noise[i] : NULL;
    return !tame && !(noise && most - least <= 4 * (noise->hi - noise->lo));
}

/* The common case, in few instructions. */
static bool is_calm(const ns_probe *probe, const double *v)
{
    double off[7];
    for (int k = 0; k < 7; k++)
        off[k] = fabs(v[k + 1] - v[0]);
    const double a = off[0] > off[1] ? off[0] : off[1], b = off[2] > off[3] ? off[2] : off[3];
    const double c = off[4] > off[5] ? off[4] : off[5], d = a > b ? a : b, e = c > d ? c : d;
    return (e > off[6] ? e : off[6]) <= probe->width + probe->share * fabs(v[0]);
}

void ns_probes_wild(const ns_probes *probes, const ns_probes_seen *seen, uint64_t *set)
{
    for (uint32_t i = 0; i < probes->words; i++)
        set[i] = 0;
    for (uint32_t i = 0; i < probes->n; i++)
        if (!is_calm(&probes->at[i], seen->nodes + 8 * (size_t)i))
            set[i / 64] |= (uint64_t)is_wild(&probes->at[i], seen, i) << i % 64;
}

bool ns_probes_wild_of(const ns_probes *probes, const ns_probes_seen *seen, uint32_t event)
{
    for (uint32_t i = 0; i < probes->n; i++)
        if (ns_probes_has(probes, event, i) && is_wild(&probes->at[i], seen, i))
            return true;
    return false;
}
