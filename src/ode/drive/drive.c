/* Steps that skip nothing that happens in time: see drive.h.
 *
 * Let g be a driver, g_k its Taylor coefficients in time, and [t, t + h] a step.  What a
 * polynomial of degree K - 1 cannot represent of g over the step is at most
 *
 *     rest = 2 (h/4)^K max |g_K|   (best polynomial),   h^K max |g_K|   (Taylor's at t)
 *
 * with the maximum over the step, which interval arithmetic bounds.  A step may go as far as
 *
 *     rest <= EASE tol size
 *
 * with size the largest |g| lately.  With K twice the number of stages a Gauss method
 * integrates the polynomial exactly, so that nothing is left that it cannot see, up to the
 * tolerance; and it is about as far as its own error estimate goes where g is smooth.  Taylor's
 * method has K = its order.  The others have lower orders and shorter steps: for them the rest
 * is judged by 2 (h/2)^16 and h^16.
 *
 * Maxima are found on cells of time that end at multiples of powers of 2, as large as they can
 * be while the cell alone would be a good step: there the bound is sharp enough.  Cells follow
 * each other from the start, and a step keeps to the bounds of all cells it touches.  They
 * depend on the equations, parameters, start and tolerance, and on nothing a method does: every
 * engine has the same.
 *
 * `size` falls by half from cell to cell: a driver is resolved relative to what it is, or was a
 * short time ago; below 1e-100 it is zero.
 *
 * Where g or a derivative of it jumps (sign, abs, min, max of time, the root of 0) no cell is
 * small enough.  A cell of 2^SMALL units in the last place is a switch, together with those
 * that follow it, each twice as large as the one before, while rounding errors hide where the
 * jump is: steps end there, the state is carried across by the rates on either side, and the
 * method starts afresh.  If such cells never end, g cannot be resolved at this precision
 * (sin(1/t) near 0), and they are accepted as they are. */
#include "ode/drive/drive.h"

#include <float.h>

#include "base/math/vecmath.h"
#include "eval/interval/interval.h"
#include "ode/stepper.h"

#define EASE 100.0

/* Rounding errors are a small part of what a driver can be: an enclosure of one time that is
 * wider tells of something else (overflow). */
#define NOISE 1e-3
/* What counts as constant, in units of what is allowed. */
#define FLAT 1e-3

enum {
    CELLS = 64,        /* looked ahead at most */
    SWITCH_CELLS = 12, /* in a row, at most */
    SMALL = 4,         /* binary logarithm of units in the last place */
    LOWEST = -80,      /* binary logarithm of the shortest cell, */
    HIGHEST = 200      /* and of the longest */
};

enum { BENDS = 2 }; /* where a driver or its rate jumps this coefficient has no bound */

typedef struct cell {
    double lo, hi;
    double longest; /* step that touches it; 0: steps stay inside; -1: a switch */
} cell;

/* Plain numbers, part of checkpoints. */
typedef struct kept {
    double count; /* cells at hand, in the sense of the motion */
    double begun; /* 0: the first one is still to be made */
    double next;  /* where the one after them begins */
    double level; /* of the last one, where the next is tried */
    double usual; /* of the last one without anything near */
    double rough; /* this many cells in a row without an end to their coefficients */
    cell at[CELLS];
    double
        size[]; /* [2][n] of the drivers at the last cell; sums of size times length so far */
} kept;

struct ns_drive {
    const ns_program *program;
    kept *k;
    uint32_t n, order;
    double factor; /* steps are judged by (h factor)^order */
    double tolerance;
    double *work, *work_bends, *work_points; /* for all coefficients, two of them, values */
    double *size, *noise;                    /* [n] of the drivers in a cell */
    ns_interval *out, *values;
};

/* ---- finding them ------------------------------------------------------------------------ */

const ns_program *ns_drive_build(const ns_system *system, ns_arena *arena, const ns_ex *roots,
                                 uint32_t n)
{
    enum { TIME = 1, OTHER = 2 };
    const ns_graph *g = system->graph;
    const uint32_t size = ns_graph_size(g);
    ns_arena *room = ns_graph_workspace(g);
    const ns_arena_place mark = ns_arena_mark(room);
    bool *used = NS_NEW_ARRAY(room, bool, size), *root = NS_NEW_ARRAY(room, bool, size);
    unsigned char *depends = NS_NEW_ARRAY(room, unsigned char, size);
    bool *inside = NS_NEW_ARRAY(room, bool, size); /* of something that has no states either */
    ns_graph_mark(g, roots, n, used);
    for (uint32_t i = 0; i < n; i++)
        root[roots[i]] = true;
    for (ns_ex e = 1; e < size; e++) {
        if (!used[e])
            continue;
        const ns_node *node = ns_graph_node(g, e);
        const ns_symbol *symbol = ns_graph_symbol(g, e);
        if (symbol)
            depends[e] = e == system->time ? TIME : symbol->kind == NS_SYM_PARAM ? 0 : OTHER;
        for (uint32_t i = 0; i < node->n; i++)
            depends[e] |= depends[ns_graph_args(g, e)[i]];
    }
    NS_LIST(ns_ex) out = {0};
    for (ns_ex e = size - 1; e > 0; e--) {
        const ns_node *node = ns_graph_node(g, e);
        const bool value = node->op != NS_OP_FACTOR && node->op != NS_OP_LDL &&
                           node->op != NS_OP_SOLVE;
        if (!used[e] || depends[e] != TIME)
            continue;
        for (uint32_t i = 0; i < node->n; i++)
            inside[ns_graph_args(g, e)[i]] = true;
        if (value && e != system->time && (root[e] || !inside[e]))
            NS_PUSH(room, out, e);
    }
    const ns_program_spec spec = {.graph = system->graph,
                                  .time = system->time,
                                  .p = ns_system_param_symbols(system, arena),
                                  .out = out.at,
                                  .np = system->description->params.n,
                                  .nout = out.n};
    const ns_program *program = out.n ? ns_program_build(arena, &spec) : NULL;
    ns_arena_release(room, mark);
    return program;
}

/* ---- memory ------------------------------------------------------------------------------ */

size_t ns_drive_kept(const ns_problem *problem)
{
    return problem->drivers ? sizeof(kept) / sizeof(double) + ns_program_nout(problem->drivers)
                            : 0;
}

static ns_drive place(const ns_stepper *s, ns_layout *l)
{
    const ns_program *program = s->problem->drivers;
    const ns_method *method = s->method;
    ns_drive d = {.program = program,
                  .n = ns_program_nout(program),
                  .order = method->drive_order ? method->drive_order
                                               : method->series_order(s->problem, s->tolerance),
                  .factor = method->drive_part};
    d.work = ns_layout_doubles(l, ns_interval_work(program, d.order));
    d.work_bends = ns_layout_doubles(l, ns_interval_work(program, BENDS));
    d.work_points = ns_layout_doubles(l, ns_interval_work(program, 0));
    d.size = ns_layout_doubles(l, d.n);
    d.noise = ns_layout_doubles(l, d.n);
    d.values = ns_layout_take(l, d.n, sizeof *d.values);
    d.out = ns_layout_take(l, (size_t)d.n * (d.order + 1), sizeof *d.out);
    return d;
}

ns_drive *ns_drive_layout(const ns_stepper *s, ns_layout *l)
{
    if (!s->problem->drivers)
        return NULL;
    ns_drive *d = ns_layout_take(l, 1, sizeof *d);
    place(s, l);
    return d;
}

void ns_drive_begin(ns_stepper *s, double *kept_block, ns_drive *d)
{
    s->drive = NULL;
    if (!d || s->fixed_step > 0)
        return;
    ns_layout l = {.base = d};
    ns_layout_take(&l, 1, sizeof *d);
    *d = place(s, &l);
    d->k = (kept *)kept_block;
    const double least = s->method->precise ? 1e-33 : 0.5 * DBL_EPSILON; /* round-off */
    d->tolerance = ns_larger(s->tolerance, least);
    memset(d->k, 0, ns_drive_kept(s->problem) * sizeof(double));
    ns_interval_bind(d->program, d->work, d->order, s->p);
    ns_interval_bind(d->program, d->work_bends, BENDS, s->p);
    ns_interval_bind(d->program, d->work_points, 0, s->p);
    s->drive = d;
}

/* ---- cells ------------------------------------------------------------------------------- */

/* The rest of the cell of this level with `at` in it, from there on. */
static cell cell_at(double at, int level, double sense)
{
    const double length = ldexp(1, level), i = at / length;
    return sense > 0 ? (cell){.lo = at, .hi = (floor(i) + 1) * length}
                     : (cell){.lo = (ceil(i) - 1) * length, .hi = at};
}

/* How large the drivers are there and were before; and their rounding errors, which a driver
 * that is a difference of larger terms may consist of. */
static void measure(ns_drive *d, const cell *c)
{
    const double times[] = {c->lo, 0.5 * (c->lo + c->hi), c->hi};
    for (uint32_t j = 0; j < d->n; j++) {
        d->size[j] = ns_larger(0.5 * d->k->size[j], 1e-100);
        d->noise[j] = 0;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const ns_interval at = {times[i], times[i]};
        ns_interval_eval(d->program, d->work_points, 0, at, NULL, d->values);
        for (uint32_t j = 0; j < d->n; j++) {
            const double size = ns_interval_size(d->values[j]);
            if (!isfinite(size))
                continue;
            d->size[j] = ns_larger(d->size[j], size);
            d->noise[j] = ns_larger(d->noise[j], d->values[j].hi - d->values[j].lo);
        }
    }
}

typedef struct verdict {
    double longest; /* step that may touch the cell; 0: coefficients have no useful bound */
    bool flat;      /* the drivers are as good as constant in the cell */
} verdict;

/* Of a cell, with coefficients enclosed over the times t. */
static verdict judge(ns_drive *d, const cell *c, ns_interval t)
{
    const size_t width = (size_t)d->order + 1;
    const double length = c->hi - c->lo;
    verdict v = {.flat = true};
    bool bounded = true;
    measure(d, c);
    ns_interval_series(d->program, d->work_bends, BENDS, t, length, d->out);
    for (uint32_t j = 0; j < d->n; j++) {
        const ns_interval value = d->out[j * (BENDS + 1)];
        v.flat = v.flat && value.hi - value.lo <= FLAT * EASE * d->tolerance * d->size[j];
        bounded = bounded && isfinite(ns_interval_size(d->out[j * (BENDS + 1) + BENDS]));
    }
    if (!bounded)
        return v;
    double part = INFINITY; /* least allowed / |g_K|, in units of the length */
    ns_interval_series(d->program, d->work, d->order, t, length, d->out);
    for (uint32_t j = 0; j < d->n; j++) {
        const ns_interval value = d->out[j * width], last = d->out[j * width + d->order];
        const bool noisy = d->noise[j] < NOISE * ns_interval_size(value);
        const double allowed = ns_larger(EASE * d->tolerance * d->size[j],
                                         noisy ? d->noise[j] : 0);
        part = ns_smaller(part, allowed / (2 * ns_interval_size(last)));
    }
    v.longest = part < INFINITY ? length * ns_math_exp(ns_math_log(part) / d->order) / d->factor
                                : INFINITY;
    return v;
}

static int lowest(double at)
{
    int exponent;
    frexp(at, &exponent);
    exponent += SMALL - DBL_MANT_DIG;
    return at == 0 || exponent < LOWEST ? LOWEST : exponent;
}

/* Tries a level: false if the cell is too long a step.  A switch on the border of two cells is
 * in both.  Where coefficients are of no use at a single time either, the arithmetic is at its
 * end (cosh(1000)), and it is enough that values are as good as constant. */
static bool fits(ns_drive *d, double at, int level, double sense, cell *c)
{
    *c = cell_at(at, level, sense);
    const double length = c->hi - c->lo,
                 inside = c->lo + 0.4 * length; /* any time that is not special */
    const double border = ns_larger(4 * DBL_EPSILON * ns_larger(fabs(c->lo), fabs(c->hi)),
                                    ldexp(1, LOWEST - 4));
    const verdict v = judge(d, c, (ns_interval){c->lo - border, c->hi + border});
    c->longest = v.longest >= length ? v.longest : 0;
    return c->longest > 0 ||
           (v.flat && judge(d, c, (ns_interval){inside, inside}).longest < length);
}

/* Could a cell of the next level be as good? */
static bool may_grow(const cell *c, int level)
{
    return level < HIGHEST && (c->longest == 0 || c->longest >= 2 * (c->hi - c->lo));
}

/* The smallest cells that do not fit: a switch, or what cannot be resolved. */
static cell rough_cell(kept *k, double at, int floor, double sense)
{
    const int more = (int)ns_smaller(HIGHEST - floor, ns_larger(0, k->rough));
    cell c = cell_at(at, floor + more, sense);
    c.longest = ++k->rough <= SWITCH_CELLS ? -1 : 0;
    return c;
}

/* The cell that begins at this time. */
static cell next_cell(ns_drive *d, double at, double sense)
{
    kept *k = d->k;
    const int floor = lowest(at);
    int level = (int)ns_smaller(HIGHEST, ns_larger(LOWEST, k->level));
    level = level < floor ? floor : level;
    cell c;
    bool good = fits(d, at, level, sense, &c);
    while (good && may_grow(&c, level)) {
        cell larger;
        if (!fits(d, at, level + 1, sense, &larger))
            break;
        c = larger;
        level++;
    }
    if (good) /* otherwise something is near, and after it all may be as before */
        k->usual = level;
    while (!good && level > floor)
        good = fits(d, at, --level, sense, &c);
    if (good)
        k->rough = 0;
    else
        c = rough_cell(k, at, floor, sense);
    k->level = good ? level : k->usual;
    measure(d, &c);
    memcpy(k->size, d->size, d->n * sizeof *d->size);
    k->begun = 1;
    k->next = sense > 0 ? c.hi : c.lo;
    return c;
}

static double near_end(const ns_stepper *s, const cell *c)
{
    return s->sense > 0 ? c->lo : c->hi;
}

static double far_end(const ns_stepper *s, const cell *c)
{
    return s->sense > 0 ? c->hi : c->lo;
}

static uint32_t cells_of(const kept *k)
{
    return k->count > 0 && k->count <= CELLS ? (uint32_t)k->count : 0;
}

/* Cell number i ahead, made if need be; NULL if there is no room for it. */
static const cell *look_ahead(const ns_stepper *s, uint32_t i)
{
    static const double slack = 1e-9; /* of the time; steps end within rounding errors */
    kept *k = s->drive->k;
    for (uint32_t count = cells_of(k); count <= i && i < CELLS; count++) {
        /* no step goes beyond the last cell; a checkpoint that is not what it says may */
        const bool sound = k->begun != 0 && isfinite(k->next) &&
                           (count > 0 ||
                            s->sense * (k->next - s->now.t) >= -slack * fabs(s->now.t));
        k->at[count] = next_cell(s->drive, sound ? k->next : s->now.t, s->sense);
        k->count = count + 1;
    }
    return i < CELLS ? &k->at[i] : NULL;
}

/* Leaves behind the cells that end at the present time or before. */
static void forget(const ns_stepper *s)
{
    kept *k = s->drive->k;
    for (;;) {
        const uint32_t count = cells_of(k);
        if (!(s->sense * (far_end(s, look_ahead(s, 0)) - s->now.t) <= 0))
            return;
        memmove(k->at, k->at + 1, (count ? count - 1 : 0) * sizeof *k->at);
        k->count = count ? count - 1 : 0;
    }
}

double ns_drive_limit(const ns_stepper *s, double *end)
{
    const double t = s->now.t, sense = s->sense, little = 8 * DBL_EPSILON * fabs(t);
    double longest = INFINITY;
    forget(s);
    for (uint32_t i = 0;; i++) {
        const cell *c = look_ahead(s, i);
        if (!c)
            return ns_smaller(longest, sense * (s->drive->k->next - t));
        const double near = sense * (near_end(s, c) - t), far = sense * (far_end(s, c) - t);
        if (near >= sense * (*end - t))
            return longest;
        if (c->longest < 0) { /* so that no stage is beyond it, as times are rounded */
            const double at = near_end(s, c);
            *end = at - sense * 2 * DBL_EPSILON * fabs(at);
            return longest;
        }
        if (far <= little)
            continue;
        if (near > ns_larger(c->longest, little))
            return ns_smaller(longest, near);
        if (c->longest == 0) /* it is in there */
            return ns_smaller(longest, far);
        longest = ns_smaller(longest, c->longest);
        if (!(longest > far))
            return longest;
    }
}

/* ---- switches ---------------------------------------------------------------------------- */

/* Where in the cell the switch is: the half without a bound, again and again. */
static double locate(ns_drive *d, const cell *c)
{
    double lo = c->lo, hi = c->hi;
    for (;;) {
        const double middle = 0.5 * (lo + hi);
        if (!(middle > lo && middle < hi))
            return middle;
        const cell left = {.lo = lo, .hi = middle}, right = {.lo = middle, .hi = hi};
        const bool in_left = judge(d, &left, (ns_interval){lo, middle}).longest < middle - lo;
        const bool in_right = judge(d, &right, (ns_interval){middle, hi}).longest < hi - middle;
        if (in_left == in_right)
            return middle;
        if (in_left)
            hi = middle;
        else
            lo = middle;
    }
}

bool ns_drive_switch(const ns_stepper *s, double *at, double *beyond)
{
    if (!s->drive)
        return false;
    forget(s);
    const cell *c = look_ahead(s, 0);
    const double slack = 4 * DBL_EPSILON * fabs(s->now.t);
    uint32_t n = 0;
    cell all = *c;
    if (c->longest >= 0 && s->sense * (far_end(s, c) - s->now.t) > slack)
        return false;
    /* the cell it is in may be about to end */
    for (uint32_t i = 0; (c = look_ahead(s, i)) != NULL; i++) {
        if (c->longest >= 0 && n)
            break;
        if (c->longest >= 0 && i)
            return false;
        if (c->longest < 0)
            all = n++ ? (cell){.lo = ns_smaller(all.lo, c->lo), .hi = ns_larger(all.hi, c->hi)}
                      : *c;
    }
    if (!n)
        return false;
    *at = locate(s->drive, &all);
    *beyond = far_end(s, &all);
    if (s->sense * (s->until - *at) < 0)
        *at = s->until;
    if (s->sense * (s->until - *beyond) < 0)
        *beyond = s->until;
    return true;
}
