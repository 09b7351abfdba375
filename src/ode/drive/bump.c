/* Narrow functions of the state along a step: see bump.h.
 *
 * The functions examined are  exp(a),  1 - tanh(a)^2  for tanh(a),  and quotients by cosh,
 * where a depends on states.  Other quotients occur throughout mechanics and are seldom
 * narrow.
 *
 * Let u be one of these functions, and M the largest |u| that the method has seen: at the ends
 * of the step, or at eight points in it if it is a collocation method.  Between two
 * neighbouring points the states lie in a box: their values at both, widened by how far they
 * bend.  If the enclosure of u on every box is below LIMIT M, the points have seen u as it is.
 * If not, the stretch is examined again with eight points in it; where u turns out to be above
 * LIMIT M, or the boxes cannot decide, the step was too long.  Values of u below LEAST are
 * ignored.
 *
 * That costs as much as a step.  Where the arguments of all these functions change by less than
 * CALM from one end of the step to the other, and did so in the step before, none of them can
 * have risen and fallen in between as narrow ones do, and the examination is skipped.
 *
 * This examines the motion that was found, with margins that are customary, not proven. */
#include "ode/drive/bump.h"

#include "eval/interval/interval.h"

enum {
    DEPTH = 6,  /* of looking again: 8^6 parts of a step */
    LOOKS = 200 /* in all */
};
#define LIMIT 4.0
#define LEAST 1e-40
#define CALM 2.0
#define MARGIN 0.1 /* of how far states go between points, for how they bend */

/* Part of checkpoints. */
typedef struct kept {
    double calm;   /* the last step changed the clues little */
    double clue[]; /* arguments of the functions at its end */
} kept;

struct ns_bump {
    kept *k;
    uint32_t clues;
    double *work_clues, *clue; /* at the end of the step */
    const ns_program *program;
    uint32_t n;       /* functions */
    double *work;     /* for intervals, */
    double *work8;    /* for eight points */
    double *values;   /* [n][8] */
    double *most;     /* [n] */
    double *points;   /* [DEPTH][states][8] */
    double *ends;     /* [DEPTH][2][states] */
    ns_interval *box; /* [states] */
    ns_interval *out; /* [n] */
    uint32_t looks;
    bool inside; /* the method sees the eight points, not the ends */
};

/* ---- finding them ------------------------------------------------------------------------ */

enum { STATE = 1, COSH = 2 };

/* What can be narrow of a node, 0 if nothing. */
static ns_ex narrow(ns_graph *g, ns_ex e, const unsigned char *depends)
{
    const ns_op op = ns_graph_op(g, e);
    if (op == NS_OP_EXP)
        return e;
    if (op == NS_OP_TANH) /* 1 - tanh^2, with all its digits */
        return ns_div(g, ns_one(g), ns_powi(g, ns_cosh(g, ns_graph_args(g, e)[0]), 2));
    const unsigned char both = STATE | COSH;
    return op == NS_OP_DIV && (depends[ns_graph_args(g, e)[1]] & both) == both ? e : 0;
}

const ns_program *ns_bump_build(const ns_system *system, ns_arena *arena, const ns_ex *rates,
                                const ns_program **clues)
{
    ns_graph *g = system->graph;
    const uint32_t size = ns_graph_size(g), n = system->states.n;
    ns_arena *room = ns_graph_workspace(g);
    const ns_arena_place mark = ns_arena_mark(room);
    bool *used = NS_NEW_ARRAY(room, bool, size);
    unsigned char *depends = NS_NEW_ARRAY(room, unsigned char, size);
    ns_graph_mark(g, rates, n, used);
    NS_LIST(ns_ex) out = {0}, clue = {0};
    for (ns_ex e = 1; e < size; e++) {
        if (!used[e])
            continue;
        const ns_node node = *ns_graph_node(g, e);
        const ns_symbol *symbol = ns_graph_symbol(g, e);
        if (symbol)
            depends[e] = e == system->time || symbol->kind == NS_SYM_PARAM ? 0 : STATE;
        for (uint32_t i = 0; i < node.n; i++)
            depends[e] |= depends[ns_graph_args(g, e)[i]];
        if (node.op == NS_OP_COSH)
            depends[e] |= COSH;
        const ns_ex u = depends[e] & STATE ? narrow(g, e, depends) : 0;
        if (u)
            NS_PUSH(room, out, u);
        if (depends[e] & STATE &&
            (node.op == NS_OP_EXP || node.op == NS_OP_TANH || node.op == NS_OP_COSH))
            NS_PUSH(room, clue, ns_graph_args(g, e)[0]);
    }
    ns_program_spec spec = {.graph = g,
                            .time = system->time,
                            .x = ns_system_state_symbols(system, arena),
                            .p = ns_system_param_symbols(system, arena),
                            .out = out.at,
                            .nx = n,
                            .np = system->description->params.n,
                            .nout = out.n};
    const ns_program *program = out.n ? ns_program_build(arena, &spec) : NULL;
    spec.out = clue.at;
    spec.nout = clue.n;
    *clues = program ? ns_program_build(arena, &spec) : NULL;
    ns_arena_release(room, mark);
    return program;
}

/* ---- memory ------------------------------------------------------------------------------ */

static ns_bump place(const ns_problem *problem, ns_layout *l)
{
    const ns_program *program = problem->bumps, *clues = problem->bump_clues;
    const size_t n = problem->n;
    ns_bump b = {.program = program,
                 .n = ns_program_nout(program),
                 .clues = clues ? ns_program_nout(clues) : 0};
    b.work = ns_layout_doubles(l, ns_interval_work(program, 0));
    b.work8 = ns_layout_doubles(l, ns_program_work8(program));
    b.values = ns_layout_doubles(l, 8 * (size_t)b.n);
    b.most = ns_layout_doubles(l, b.n);
    b.points = ns_layout_doubles(l, 8 * DEPTH * n);
    b.ends = ns_layout_doubles(l, 2 * DEPTH * n);
    b.box = ns_layout_take(l, n, sizeof *b.box);
    b.out = ns_layout_take(l, b.n, sizeof *b.out);
    b.work_clues = ns_layout_doubles(l, clues ? ns_program_work1(clues) : 0);
    b.clue = ns_layout_doubles(l, b.clues);
    return b;
}

size_t ns_bump_kept(const ns_problem *problem)
{
    const ns_program *clues = problem->bump_clues;
    return clues ? sizeof(kept) / sizeof(double) + ns_program_nout(clues) : 0;
}

ns_bump *ns_bump_layout(const ns_problem *problem, ns_layout *l)
{
    if (!problem->bumps)
        return NULL;
    ns_bump *b = ns_layout_take(l, 1, sizeof *b);
    place(problem, l);
    return b;
}

void ns_bump_begin(ns_run *run)
{
    const ns_problem *problem = run->s.problem;
    ns_bump *b = run->bump;
    if (!b)
        return;
    ns_layout l = {.base = b};
    ns_layout_take(&l, 1, sizeof *b);
    *b = place(problem, &l);
    b->inside = run->s.method->collocation;
    ns_interval_bind(b->program, b->work, 0, run->s.p);
    ns_program_bind8(b->program, b->work8, run->s.p8);
    b->k = (kept *)run->bump_kept;
    ns_program_bind1(problem->bump_clues, b->work_clues, run->s.p);
    ns_program_eval1(problem->bump_clues, b->work_clues, run->s.now.t, run->s.x, b->k->clue);
}

/* ---- looking ----------------------------------------------------------------------------- */

static double time_at(const ns_stepper *s, double u)
{
    return s->now.from + u * (s->now.t - s->now.from);
}

/* State i at point k of a stretch: 0 is its beginning, 9 its end. */
static double point(const double *x, uint32_t i, int k, const double *first, const double *last)
{
    return k == 0 ? first[i] : k == 9 ? last[i] : x[8 * (size_t)i + (size_t)k - 1];
}

/* Is the enclosure between points k and k + 1 within what the points have shown? */
static bool enclosed(ns_run *run, const double *u, const double *x, const double *first,
                     const double *last, int k)
{
    const ns_stepper *s = &run->s;
    const ns_bump *b = run->bump;
    for (uint32_t i = 0; i < s->n; i++) {
        const double p = point(x, i, k, first, last), q = point(x, i, k + 1, first, last);
        const double before = k > 0 ? point(x, i, k - 1, first, last) : q;
        const double after = k < 8 ? point(x, i, k + 2, first, last) : p;
        const double margin = MARGIN * fabs(q - p) +
                              MARGIN * ns_smaller(fabs(p - before), fabs(after - q));
        b->box[i] = (ns_interval){ns_smaller(p, q) - margin, ns_larger(p, q) + margin};
    }
    const double t0 = time_at(s, u[k]), t1 = time_at(s, u[k + 1]);
    ns_interval_eval(b->program, b->work, 0,
                     (ns_interval){ns_smaller(t0, t1), ns_larger(t0, t1)}, b->box, b->out);
    for (uint32_t j = 0; j < b->n; j++)
        if (!(ns_interval_size(b->out[j]) <= ns_larger(LIMIT * b->most[j], LEAST)))
            return false;
    return true;
}

/* Looks at the stretch from u0 to u1 of the last step.  False at a place that was not seen:
 * *part. */
static bool look(ns_run *run, double u0, double u1, const double *first, const double *last,
                 uint32_t depth, double *part)
{
    ns_stepper *s = &run->s;
    ns_bump *b = run->bump;
    double u[10] = {u0}, t[8] __attribute__((aligned(64)));
    *part = u0;
    if (depth == DEPTH || b->looks++ == LOOKS)
        return false;
    double *x = b->points + 8 * (size_t)depth * s->n,
           *ends = b->ends + 2 * (size_t)depth * s->n;
    for (int k = 0; k < 8; k++)
        u[k + 1] = depth == 0 ? ns_method_nodes[k] : u0 + (u1 - u0) * ns_method_nodes[k];
    u[9] = u1;
    s->method->sample(s, u + 1, x);
    for (int k = 0; k < 8; k++)
        t[k] = time_at(s, u[k + 1]);
    ns_program_eval8(b->program, b->work8, t, x, b->values);
    for (uint32_t j = 0; j < b->n; j++)
        for (size_t k = 0; k < 8; k++) {
            const double size = fabs(b->values[8 * j + k]);
            if (depth == 0 && b->inside)
                b->most[j] = ns_larger(b->most[j], size);
            else if (size > ns_larger(LIMIT * b->most[j], LEAST))
                return false;
        }
    for (int k = 0; k < 9; k++) {
        if (enclosed(run, u, x, first, last, k))
            continue;
        for (uint32_t i = 0; i < s->n; i++) {
            ends[i] = point(x, i, k, first, last);
            ends[s->n + i] = point(x, i, k + 1, first, last);
        }
        if (!look(run, u[k], u[k + 1], ends, ends + s->n, depth + 1, part))
            return false;
    }
    return true;
}

/* Did the arguments change little in this step and the one before?  They become those of its
 * end if it is to stay. */
static bool is_calm(ns_run *run, bool *now)
{
    const ns_stepper *s = &run->s;
    const ns_bump *b = run->bump;
    *now = true;
    ns_program_eval1(s->problem->bump_clues, b->work_clues, s->now.t, s->x, b->clue);
    for (uint32_t j = 0; j < b->clues; j++)
        *now = *now && fabs(b->clue[j] - b->k->clue[j]) <= CALM;
    return *now && b->k->calm != 0;
}

static bool look_at_all(ns_run *run, double *part)
{
    ns_stepper *s = &run->s;
    ns_bump *b = run->bump;
    b->looks = 0;
    for (uint32_t j = 0; j < b->n; j++)
        b->most[j] = 0;
    for (int end = 0; end < 2 && !b->inside; end++) {
        const ns_interval t = {end ? s->now.t : s->now.from, end ? s->now.t : s->now.from};
        for (uint32_t i = 0; i < s->n; i++)
            b->box[i].lo = b->box[i].hi = end ? s->x[i] : s->x0[i];
        ns_interval_eval(b->program, b->work, 0, t, b->box, b->out);
        for (uint32_t j = 0; j < b->n; j++)
            b->most[j] = ns_larger(b->most[j], ns_interval_size(b->out[j]));
    }
    return look(run, 0, 1, s->x0, s->x, 0, part);
}

bool ns_bump_seen(ns_run *run, double *part)
{
    const ns_bump *b = run->bump;
    bool now = false;
    if (!is_calm(run, &now) && !look_at_all(run, part))
        return false;
    b->k->calm = now;
    memcpy(b->k->clue, b->clue, b->clues * sizeof *b->clue);
    return true;
}
