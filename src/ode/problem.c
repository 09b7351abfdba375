/* From a system to the programs a run needs. */
#include "ode/problem.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "expr/diff.h"
#include "ode/drive/bump.h"
#include "ode/drive/drive.h"
#include "ode/modes/modes.h"
#include "ode/pinv.h"

typedef struct builder {
    const ns_system *system;
    ns_arena *arena;
    ns_graph *graph;
    ns_ex *x, *p;
    uint32_t n, np;
} builder;

static ns_program_spec spec_of(const builder *b, const ns_ex *out, uint32_t nout)
{
    return (ns_program_spec){.graph = b->graph,
                             .time = b->system->time,
                             .x = b->x,
                             .p = b->p,
                             .out = out,
                             .nx = b->n,
                             .np = b->np,
                             .nout = nout};
}

static const ns_program *build(const builder *b, const ns_ex *out, uint32_t nout, bool jets)
{
    ns_program_spec spec = spec_of(b, out, nout);
    spec.jets = spec.reciprocals = jets; /* the rates: what the steps consist of */
    return ns_program_build(b->arena, &spec);
}

static const ns_program *build_jacobian(const builder *b, const ns_ex *rates)
{
    ns_ex *J = NS_NEW_ARRAY(b->arena, ns_ex, (size_t)b->n * b->n);
    ns_diff_jacobian(b->graph, rates, b->n, b->x, b->n, J);
    return build(b, J, b->n * b->n, false);
}

/* Operations of the right-hand side times states: how much a Jacobian may cost to build.  Below
 * this it takes about a millisecond. */
enum { CHEAP_JACOBIAN = 20000 };

/* out[i] = the size of the terms of f_i: the same expression with sums of absolute values.  The
 * rounding error of its value is a few times that by epsilon.  Very large expressions get 0:
 * not worth the time. */
static void sizes_of_terms(const builder *b, const ns_ex *f, uint32_t m, ns_ex *out)
{
    enum { LARGE = 4000 };
    ns_graph *g = b->graph;
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(b->arena, bool, size);
    ns_ex *term = NS_NEW_ARRAY(b->arena, ns_ex, size);
    ns_graph_mark(g, f, m, used);
    uint32_t count = 0;
    for (ns_ex e = 1; e < size; e++)
        count += used[e];
    for (ns_ex e = 1; e < size && count <= LARGE; e++) {
        if (!used[e])
            continue;
        const ns_node node = *ns_graph_node(g, e);
        const ns_ex x = node.n > 0 ? ns_graph_args(g, e)[0] : 0;
        const ns_ex y = node.n > 1 ? ns_graph_args(g, e)[1] : 0;
        switch ((ns_op)node.op) {
        case NS_OP_ADD:
        case NS_OP_SUB:
            term[e] = ns_add(g, term[x], term[y]);
            break;
        case NS_OP_NEG:
            term[e] = term[x];
            break;
        case NS_OP_MUL:
            term[e] = ns_mul(g, term[x], term[y]);
            break;
        case NS_OP_DIV:
            term[e] = ns_div(g, term[x], ns_abs(g, y));
            break;
        case NS_OP_POWI:
            term[e] = ns_powi(g, term[x], node.integer);
            break;
        case NS_OP_FACTOR:
        case NS_OP_LDL:
        case NS_OP_SOLVE:
            break; /* only components of a solution have values */
        default:
            term[e] = ns_abs(g, e);
        }
    }
    for (uint32_t i = 0; i < m; i++)
        out[i] = count <= LARGE ? term[f[i]] : ns_zero(g);
}

/* Residuals of more entries than this have no dense Jacobian: `manifold` is empty then, and
 * what needs it (variational flows) goes without. */
enum { MOST_DENSE = 1000000 };

static const ns_program *build_manifold(const builder *b, uint32_t *n_manifold,
                                        uint32_t *n_reach)
{
    const ns_system *s = b->system;
    uint32_t m = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        m += s->constraints.at[i].project;
    if (s->correction && (uint64_t)m * b->n > MOST_DENSE)
        m = 0;
    *n_manifold = m;
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, (size_t)m * (b->n + 2) + 1);
    m = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (s->constraints.at[i].project && m < *n_manifold)
            out[m++] = s->constraints.at[i].residual;
    ns_diff_jacobian(b->graph, out, m, b->x, b->n, out + m);
    *n_reach = 0;
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = *n_reach; j < b->n; j++)
            if (!ns_graph_is_zero(b->graph, out[m + (size_t)i * b->n + j]))
                *n_reach = j + 1;
    *n_reach = (*n_reach + 3) / 4 * 4 < b->n ? (*n_reach + 3) / 4 * 4 : b->n;
    sizes_of_terms(b, out, m, out + m * (b->n + 1));
    return build(b, out, m * (b->n + 2), false);
}

static void build_correction(const builder *b, ns_problem *problem)
{
    const ns_system *s = b->system;
    const ns_correction *c = s->correction;
    const uint32_t m = s->constraints.n;
    ns_ex *residual = NS_NEW_ARRAY(b->arena, ns_ex, m + 1);
    ns_ex *terms = NS_NEW_ARRAY(b->arena, ns_ex, m + 1);
    NS_LIST(ns_ex) out = {0};
    for (uint32_t i = 0; i < m; i++) {
        residual[i] = s->constraints.at[i].residual;
        NS_PUSH(b->arena, out, residual[i]);
    }
    const ns_sparse_rows *J = ns_diff_sparse(b->graph, b->arena, residual, m, b->x, b->n);
    sizes_of_terms(b, residual, m, terms);
    for (uint32_t e = 0; e < J->start[m]; e++)
        NS_PUSH(b->arena, out, J->value[e]);
    for (uint32_t i = 0; i < m; i++)
        NS_PUSH(b->arena, out, terms[i]);
    problem->n_shift = m;
    problem->shift_start = J->start;
    problem->shift_column = J->column;
    problem->shift = build(b, out.at, out.n, false);
    builder wide = *b; /* residuals are inputs too */
    wide.n = b->n + m;
    wide.x = NS_NEW_ARRAY(b->arena, ns_ex, wide.n + 1);
    memcpy(wide.x, b->x, b->n * sizeof *b->x);
    memcpy(wide.x + b->n, c->residual, m * sizeof *c->residual);
    problem->correction = build(&wide, c->change, b->n, false);
}

static const ns_program *build_ranks(const builder *b)
{
    const ns_rank_watch *watch = b->system->watch;
    if (!watch)
        return NULL;
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, watch->entries.n + 1);
    for (uint32_t k = 0; k < watch->entries.n; k++)
        out[k] = watch->entries.at[k].value;
    return build(b, out, watch->entries.n, false);
}

static const ns_program *build_pushes(const builder *b)
{
    const uint32_t n = b->system->pushes.n;
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out[i] = b->system->pushes.at[i].value;
    return n ? build(b, out, n, false) : NULL;
}

static const ns_program *build_monitor(const builder *b)
{
    const ns_system *s = b->system;
    ns_graph *g = b->graph;
    const uint32_t k = s->invariants.n;
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, 2 + 2 * (size_t)k);
    ns_ex *gradient = NS_NEW_ARRAY(b->arena, ns_ex, b->n + 1);
    out[0] = s->energy ? s->energy : ns_zero(g);
    out[1] = s->kinetic ? s->kinetic : ns_zero(g);
    for (uint32_t i = 0; i < k; i++) {
        out[2 + i] = s->invariants.at[i].value;
        ns_diff_gradient(g, out[2 + i], b->x, b->n, gradient);
        ns_ex sum = ns_zero(g);
        for (uint32_t j = 0; j < b->n; j++)
            sum = ns_add(g, sum, ns_abs(g, ns_mul(g, b->x[j], gradient[j])));
        out[2 + k + i] = sum;
    }
    return build(b, out, 2 + 2 * k, false);
}

/* The parameters u and v of a surface have no size in common, nor have entries of a matrix. */
static void find_vectors(const builder *b, ns_problem *problem)
{
    uint32_t *vector = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    for (uint32_t i = 0; i < b->n; i++) {
        const ns_state *state = &b->system->states.at[i];
        const bool apart = state->kind == NS_QUANTITY_PARAMETER ||
                           state->kind == NS_QUANTITY_MATRIX;
        vector[i] = apart ? i : state->first;
    }
    problem->vector = vector;
}

/* See ns_problem.source.  States that are sources of each other in a ring (x' = y, y' = x) are
 * cut open: one of them counts as having none. */
static void find_sources(const builder *b, const ns_ex *rates, ns_problem *problem)
{
    uint32_t *source = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    uint32_t *order = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    bool *placed = NS_NEW_ARRAY(b->arena, bool, b->n + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        source[i] = UINT32_MAX;
        for (uint32_t j = 0; j < b->n; j++)
            if (j != i && rates[i] == b->x[j])
                source[i] = j;
        if (source[i] == UINT32_MAX) {
            order[count++] = i;
            placed[i] = true;
        }
    }
    while (count < b->n) {
        const uint32_t before = count;
        for (uint32_t i = 0; i < b->n; i++)
            if (!placed[i] && placed[source[i]]) {
                order[count++] = i;
                placed[i] = true;
            }
        for (uint32_t i = 0; i < b->n && count == before; i++)
            if (!placed[i]) {
                source[i] = UINT32_MAX;
                order[count++] = i;
                placed[i] = true;
            }
    }
    problem->source = source;
    problem->order = order;
}

/* See ns_problem.core. */
static void build_core(const builder *b, const ns_ex *rates, ns_problem *problem)
{
    enum { VERY_LONG = 3000 }; /* operations: building it would take longer than it saves */
    bool *used = NS_NEW_ARRAY(b->arena, bool, ns_graph_size(b->graph));
    uint32_t *needed = NS_NEW_ARRAY(b->arena, uint32_t, b->n + 1);
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, b->n + 1);
    ns_graph_mark(b->graph, rates, b->n, used);
    for (uint32_t i = 0; i < b->n; i++) {
        out[i] = used[b->x[i]] ? rates[i] : ns_zero(b->graph);
        if (used[b->x[i]])
            needed[problem->n_needed++] = i;
    }
    problem->needed = needed;
    if (problem->n_needed == b->n || ns_program_operations(problem->rhs, NULL) > VERY_LONG)
        return;
    ns_program_spec spec = spec_of(b, out, b->n);
    spec.reciprocals = true;
    const ns_program *core = ns_program_build(b->arena, &spec);
    if (ns_program_operations(core, NULL) < ns_program_operations(problem->rhs, NULL))
        problem->core = core;
}

/* Right-hand sides of more operations than this are not taken apart: building programs for the
 * parts would take longer than it saves in a run of usual length. */
enum { LONG = 20000 };

static const ns_cascade *build_cascade(const builder *b, const ns_ex *rates,
                                       const ns_problem *problem, uint32_t linear)
{
    ns_cascade_spec spec = {.rhs = spec_of(b, rates, b->n),
                            .whole = problem->rhs,
                            .source = problem->source,
                            .order = problem->order,
                            .known = !problem->pinv,
                            .linear = linear,
                            .split = !problem->pinv &&
                                     ns_program_operations(problem->rhs, NULL) <= LONG};
    spec.rhs.reciprocals = true;
    return ns_cascade_new(b->arena, &spec);
}

/* Over the nodes the expressions need, numbered in order of first use, so that the same
 * model gives the same number whatever else is on its graph. */
uint64_t ns_problem_fingerprint(const ns_graph *g, ns_arena *arena, const ns_ex *roots,
                                uint32_t n_roots)
{
    const uint32_t size = ns_graph_size(g);
    bool *used = NS_NEW_ARRAY(arena, bool, size);
    uint32_t *number = NS_NEW_ARRAY(arena, uint32_t, size);
    ns_graph_mark(g, roots, n_roots, used);
    uint64_t hash = ns_hash_start;
    uint32_t count = 0;
    for (ns_ex e = 1; e < size; e++) {
        if (!used[e])
            continue;
        number[e] = ++count;
        const ns_node *node = ns_graph_node(g, e);
        const ns_ex *args = ns_graph_args(g, e);
        hash = ns_hash_bytes(hash, &node->op, sizeof node->op);
        const ns_symbol *symbol = ns_graph_symbol(g, e);
        if (symbol)
            hash = ns_hash_bytes(hash, symbol->name, strlen(symbol->name) + 1);
        else
            hash = ns_hash_bytes(hash, &node->integer, sizeof node->integer);
        hash = ns_hash_bytes(hash, &node->hi, sizeof node->hi);
        hash = ns_hash_bytes(hash, &node->lo, sizeof node->lo);
        for (uint32_t i = 0; i < node->n; i++)
            hash = ns_hash_bytes(hash, &number[args[i]], sizeof number[0]);
    }
    for (uint32_t i = 0; i < n_roots; i++)
        hash = ns_hash_bytes(hash, &number[roots[i]], sizeof number[0]);
    return hash;
}

const ns_program *ns_problem_program(const ns_system *system, ns_arena *arena, const ns_ex *out,
                                     uint32_t nout)
{
    const builder b = {.system = system,
                       .arena = arena,
                       .graph = system->graph,
                       .x = ns_system_state_symbols(system, arena),
                       .p = ns_system_param_symbols(system, arena),
                       .n = system->states.n,
                       .np = system->description->params.n};
    return build(&b, out, nout, false);
}

/* The events and their probes; and what of them those need that stop a run. */
static void build_events(const builder *b, ns_problem *problem)
{
    const ns_system *system = b->system;
    const uint32_t n = system->events.n;
    ns_ex *value = NS_NEW_ARRAY(b->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        value[i] = system->events.at[i].value;
    const ns_probes *probes = ns_probes_find(b->graph, b->arena, value, n);
    ns_ex *out = NS_NEW_ARRAY(b->arena, ns_ex, (size_t)n + probes->n + 1);
    bool *needed = NS_NEW_ARRAY(b->arena, bool, probes->n + 1);
    memcpy(out, value, n * sizeof *out);
    for (uint32_t k = 0; k < probes->n; k++)
        out[n + k] = probes->at[k].node;
    problem->probes = probes;
    problem->events = build(b, out, n + probes->n, false);
    for (uint32_t i = 0; i < n; i++) {
        const bool stops = ns_event_cuts(&system->events.at[i]);
        out[i] = stops ? value[i] : ns_zero(b->graph);
        for (uint32_t k = 0; k < probes->n; k++)
            needed[k] = needed[k] || (stops && ns_probes_has(probes, i, k));
    }
    for (uint32_t k = 0; k < probes->n; k++)
        out[n + k] = needed[k] ? probes->at[k].node : ns_zero(b->graph);
    problem->stops = build(b, out, n + probes->n, false);
}

/* Of an ordinary system, or one in its mode number `mode`. */
static ns_problem *problem_new(const ns_system *system, bool jacobian, uint32_t mode)
{
    const uint32_t n = system->states.n, np = system->description->params.n;
    builder b = {
        .system = system, .arena = system->arena, .graph = system->graph, .n = n, .np = np};
    ns_problem *problem = NS_NEW(b.arena, ns_problem);
    problem->code = ns_problem_code_new(b.arena);
    problem->system = system;
    problem->n = n;
    problem->np = np;
    b.x = ns_system_state_symbols(system, b.arena);
    b.p = ns_system_param_symbols(system, b.arena);
    const uint32_t n_obs = system->observables.n, n_res = system->constraints.n;
    const uint32_t n_ev = system->events.n;
    ns_ex *roots = NS_NEW_ARRAY(b.arena, ns_ex, (size_t)n + n_obs + n_res + n_ev + 1);
    ns_ex *rates = roots, *events = rates + n, *residuals = events + n_ev;
    ns_ex *observables = residuals + n_res;
    for (uint32_t i = 0; i < n; i++)
        rates[i] = system->states.at[i].rate;
    for (uint32_t i = 0; i < n_ev; i++)
        events[i] = system->events.at[i].value;
    for (uint32_t i = 0; i < n_res; i++)
        residuals[i] = system->constraints.at[i].residual;
    for (uint32_t i = 0; i < n_obs; i++)
        observables[i] = system->observables.at[i].value;

    find_sources(&b, rates, problem);
    find_vectors(&b, problem);
    problem->fingerprint = ns_problem_fingerprint(b.graph, b.arena, roots, n + n_ev + n_res);
    problem->rhs = build(&b, rates, n, true);
    build_core(&b, rates, problem);
    build_events(&b, problem);
    problem->residuals = build(&b, residuals, n_res, false);
    problem->observables = build(&b, observables, n_obs, false);
    problem->monitor = build_monitor(&b);
    problem->pushes = build_pushes(&b);
    problem->ranks = build_ranks(&b);
    uint32_t n_pinv;
    const ns_ex *pinv = ns_pinv_outputs(system, b.arena, &n_pinv);
    problem->pinv = pinv ? build(&b, pinv, n_pinv, false) : NULL;
    problem->drivers = ns_drive_build(system, b.arena, pinv ? pinv : rates, pinv ? n_pinv : n);
    problem->bumps = ns_bump_build(system, b.arena, rates, &problem->bump_clues);
    problem->cascade = build_cascade(&b, rates, problem, 0);
    problem->linear = system->motion ? build_cascade(&b, rates, problem, system->motion) : NULL;
    problem->manifold = build_manifold(&b, &problem->n_manifold, &problem->n_reach);
    if (system->correction)
        build_correction(&b, problem);
    const uint64_t cost = (uint64_t)n * ns_program_operations(problem->rhs, NULL);
    if (jacobian || cost <= CHEAP_JACOBIAN)
        problem->jacobian = build_jacobian(&b, rates);
    problem->n_modes = 1;
    problem->jumps = ns_jumps_new(system, b.arena, mode);
    if (problem->jumps)
        problem->fingerprint = ns_hash_bytes(problem->fingerprint, &problem->jumps->fingerprint,
                                             sizeof problem->fingerprint);
    return problem;
}

ns_problem *ns_problem_new(const ns_system *system, bool jacobian)
{
    const uint32_t modes = ns_system_modes(system);
    if (modes == 1)
        return problem_new(system, jacobian, 0);
    ns_problem **mode = NS_NEW_ARRAY(system->arena, ns_problem *, modes);
    for (uint32_t k = 0; k < modes; k++)
        mode[k] = problem_new(ns_system_in_mode(system, k, system->arena), jacobian, k);
    ns_problem *problem = ns_arena_copy(system->arena, mode[0], sizeof *problem);
    problem->system = system;
    problem->mode = mode;
    problem->n_modes = modes;
    for (uint32_t k = 1; k < modes; k++)
        problem->fingerprint = ns_hash_bytes(problem->fingerprint, &mode[k]->fingerprint,
                                             sizeof problem->fingerprint);
    return problem;
}

void ns_problem_add_tangent(ns_problem *problem)
{
    const ns_system *system = problem->system;
    const uint32_t n = problem->n;
    if (problem->tangent)
        return;
    if (problem->mode) {
        ns_problem **mode = NS_NEW_ARRAY(system->arena, ns_problem *, problem->n_modes);
        for (uint32_t k = 0; k < problem->n_modes; k++) {
            mode[k] = ns_arena_copy(system->arena, problem->mode[k], sizeof *problem);
            ns_problem_add_tangent(mode[k]);
        }
        problem->mode = mode;
        problem->tangent = mode[0]->tangent;
        return;
    }
    builder b = {.system = system,
                 .arena = system->arena,
                 .graph = ns_graph_fork(system->graph, system->arena),
                 .n = 2 * n,
                 .np = problem->np};
    b.x = NS_NEW_ARRAY(b.arena, ns_ex, 2 * (size_t)n + 1);
    b.p = ns_system_param_symbols(system, b.arena);
    const ns_ex *rates = ns_system_state_rates(system, b.arena);
    ns_ex *out = NS_NEW_ARRAY(b.arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        b.x[i] = system->states.at[i].symbol;
        b.x[n + i] = ns_symbol_new(b.graph, "d", NS_SYM_LOCAL, i);
    }
    ns_diff_along(b.graph, rates, n, b.x, b.x + n, n, out);
    problem->tangent = build(&b, out, n, false);
}

void ns_problem_add_balance(ns_problem *problem)
{
    const ns_formulation *formulation = problem->system->formulation;
    if (problem->balance || problem->mode || !formulation->balance)
        return;
    const ns_system *system = ns_system_fork(problem->system, problem->system->arena);
    const ns_balance *d = problem->balance = formulation->balance(system);
    if (!d)
        return;
    const uint32_t n = problem->n, rows = d->nq + 2 * d->nv + 2 * d->m;
    ns_arena *arena = system->arena;
    ns_ex *out = NS_NEW_ARRAY(arena, ns_ex, (size_t)rows * (n + 1) + (size_t)d->m * d->nv);
    ns_ex *at = out;
    memcpy(at, d->U, d->nq * sizeof *at);
    memcpy(at += d->nq, d->P, d->nv * sizeof *at);
    memcpy(at += d->nv, d->G, d->nv * sizeof *at);
    memcpy(at += d->nv, d->psi, d->m * sizeof *at);
    at += d->m;
    for (uint32_t k = 0; k < d->m; k++)
        at[k] = d->phi[k] ? d->phi[k] : ns_zero(system->graph);
    ns_diff_jacobian(system->graph, out, rows, ns_system_state_symbols(system, arena), n,
                     out + rows);
    memcpy(out + (size_t)rows * (n + 1), d->A, (size_t)d->m * d->nv * sizeof *out);
    problem->pieces = ns_problem_program(system, arena, out, rows * (n + 1) + d->m * d->nv);
}
