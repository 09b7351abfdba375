/* The programs that jumps need. */
#include "ode/modes/modes.h"

typedef NS_LIST(ns_ex) list;

static void add_resets(ns_arena *arena, list *out, const ns_reset *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        NS_PUSH(arena, *out, at[i].value);
}

static void add_needs(const ns_system *s, ns_arena *arena, list *out, const ns_way *at,
                      uint32_t n, uint32_t mode)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < at[i].needs.n; k++)
            NS_PUSH(arena, *out, at[i].mode == mode ? at[i].needs.at[k] : ns_zero(s->graph));
}

static const ns_program *build_gates(const ns_system *s, ns_arena *arena, const list *gates)
{
    const ns_program_spec spec = {.graph = s->graph,
                                  .time = s->time,
                                  .x = ns_system_state_symbols(s, arena),
                                  .p = ns_system_param_symbols(s, arena),
                                  .out = gates->at,
                                  .nx = s->states.n,
                                  .np = s->description->params.n,
                                  .nout = gates->n,
                                  .jets = true};
    return ns_program_build(arena, &spec);
}

const ns_jumps *ns_jumps_new(const ns_system *s, ns_arena *arena, uint32_t mode)
{
    if (!ns_system_jumps(s) && !s->start.ways.n)
        return NULL;
    ns_jumps *jumps = NS_NEW(arena, ns_jumps);
    list resets = {0}, needs = {0}, gates = {0};
    jumps->of = NS_NEW_ARRAY(arena, ns_jump_places, s->events.n + 1);
    for (uint32_t i = 0; i < s->events.n; i++) {
        const ns_event *event = &s->events.at[i];
        const ns_jump *j = event->jump;
        if (!j)
            continue;
        ns_jump_places *of = &jumps->of[i];
        of->gate = gates.n;
        NS_PUSH(arena, gates, event->value);
        of->reset = resets.n;
        add_resets(arena, &resets, j->resets.at, j->resets.n);
        of->rest_reset = resets.n;
        add_resets(arena, &resets, j->rest_resets.at, j->rest_resets.n);
        of->need = needs.n;
        add_needs(s, arena, &needs, j->ways.at, j->ways.n, mode);
        of->rest_need = needs.n;
        add_needs(s, arena, &needs, j->rest.at, j->rest.n, mode);
    }
    jumps->start_need = needs.n;
    add_needs(s, arena, &needs, s->start.ways.at, s->start.ways.n, mode);
    jumps->resets = ns_problem_program(s, arena, resets.at, resets.n);
    jumps->needs = ns_problem_program(s, arena, needs.at, needs.n);
    jumps->gates = build_gates(s, arena, &gates);
    jumps->fingerprint = ns_problem_fingerprint(s->graph, arena, resets.at, resets.n) ^
                         ns_problem_fingerprint(s->graph, arena, needs.at, needs.n);
    return jumps;
}
