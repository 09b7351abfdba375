/* Native code of a problem: made once for all its runs, and kept to its end, so that nobody has
 * to know who else is evaluating. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ode/problem.h"

typedef struct made { /* requests that were met */
    struct made *next;
    ns_native *native;
    uint32_t n;
    ns_native_request requests[];
} made;

typedef struct ns_problem_code {
    pthread_mutex_t lock;
    made *made;
} ns_problem_code;

static void forget(void *object)
{
    ns_problem_code *code = object;
    for (made *next; code->made; code->made = next) {
        next = code->made->next;
        ns_native_free(code->made->native);
        free(code->made);
    }
}

ns_problem_code *ns_problem_code_new(ns_arena *arena)
{
    ns_problem_code *code = NS_NEW(arena, ns_problem_code);
    pthread_mutex_init(&code->lock, NULL);
    ns_arena_at_end(arena, forget, code);
    return code;
}

void ns_problem_interpret(const ns_problem *problem)
{
    forget(problem->code);
}

static bool has(const ns_problem_code *code, const ns_native_request *wanted)
{
    bool one = !wanted->one, eight = !wanted->eight, fused = !wanted->eight_fused;
    for (const made *m = code->made; m; m = m->next)
        for (uint32_t i = 0; i < m->n; i++)
            if (m->requests[i].program == wanted->program) {
                one = one || m->requests[i].one;
                eight = eight || m->requests[i].eight;
                fused = fused || m->requests[i].eight_fused;
            }
    return one && eight && fused;
}

/* Code for what is still interpreted; the lock is held. */
static bool add(ns_problem_code *code, const ns_native_request *requests, uint32_t n,
                char *message, size_t room, ns_native_facts *facts)
{
    made *m = malloc(sizeof *m + n * sizeof *requests);
    if (!m) {
        snprintf(message, room, "out of memory");
        return false;
    }
    m->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!has(code, &requests[i]))
            m->requests[m->n++] = requests[i];
    if (n && !m->n) { /* an earlier run has asked */
        *facts = (ns_native_facts){.cached = true};
        free(m);
        return true;
    }
    m->native = ns_native_new(m->requests, m->n, message, room, facts);
    if (!m->native) {
        free(m);
        return false;
    }
    m->next = code->made;
    code->made = m;
    return true;
}

bool ns_problem_compile(const ns_problem *problem, const ns_native_request *requests,
                        uint32_t n, char *message, size_t room, ns_native_facts *facts)
{
    ns_native_facts unasked;
    pthread_mutex_lock(&problem->code->lock);
    const bool good = add(problem->code, requests, n, message, room, facts ? facts : &unasked);
    pthread_mutex_unlock(&problem->code->lock);
    return good;
}

/* Of one mode. */
static bool native(const ns_problem *problem, int lanes, char *message, size_t room,
                   ns_native_facts *facts)
{
    /* beside the right-hand side: what is done after every step, unless compiling it takes
     * long */
    enum { MOST = 24 };
    const uint32_t most = ns_native_most(problem->rhs);
    ns_native_request requests[MOST + 12];
    uint32_t n = 0;
    const bool eight = lanes == 8 || lanes == NS_LANES_ALL;
    const ns_cascade *cascade = ns_problem_cascade(problem);
    bool whole = lanes != 8 || ns_program_operations(problem->rhs, NULL) < most;
    for (uint32_t p = 0; p < cascade->n && eight; p++) {
        if (cascade->part[p].known && n < MOST)
            requests[n++] = (ns_native_request){.program = cascade->part[p].known,
                                                .eight = true};
        for (uint32_t k = 0; k < cascade->part[p].n_blocks; k++) {
            const ns_rate_block *block = &cascade->part[p].block[k];
            whole = whole || block->all;
            if (block->rhs && !block->all && n < MOST)
                requests[n++] = (ns_native_request){.program = block->rhs, .eight = true};
        }
    }
    if (whole)
        requests[n++] = (ns_native_request){
            .program = problem->rhs, .one = lanes != 8, .eight = eight};
    const uint32_t manifold = ns_program_operations(problem->manifold, NULL);
    if (manifold > 0 && manifold < most)
        requests[n++] = (ns_native_request){.program = problem->manifold, .one = true};
    const bool quick = ns_native_is_quick(problem->rhs);
    const uint32_t events = ns_program_operations(problem->events, NULL);
    if (events > 0 && events < most)
        requests[n++] = (ns_native_request){
            .program = problem->events, .one = quick, .eight = true};
    if (quick && ns_program_operations(problem->stops, NULL) > 0)
        requests[n++] = (ns_native_request){
            .program = problem->stops, .one = true, .eight = true};
    /* diagnostics, where that costs next to nothing */
    const ns_program *const ends[] = {problem->ranks, problem->shift, problem->correction};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && quick; i++)
        if (ends[i] && ns_program_operations(ends[i], NULL) > 0)
            requests[n++] = (ns_native_request){.program = ends[i], .one = true};
    const ns_program *const looks[] = {problem->monitor, problem->residuals,
                                       problem->observables, problem->pushes};
    for (size_t i = 0; i < sizeof looks / sizeof *looks && quick; i++)
        if (looks[i] && ns_program_operations(looks[i], NULL) > 0)
            requests[n++] = (ns_native_request){.program = looks[i],
                                                .one = looks[i] ==
                                                       problem->observables, /* rows */
                                                .eight = true};
    return ns_problem_compile(problem, requests, n, message, room, facts);
}

bool ns_problem_native(const ns_problem *problem, int lanes, char *message, size_t room,
                       ns_native_facts *facts)
{
    bool good = true;
    for (uint32_t k = 0; k < problem->n_modes && good; k++)
        good = native(ns_problem_in_mode(problem, k), lanes, message, room, facts);
    return good;
}

bool ns_problem_native_pays(const ns_problem *problem, double seconds, double done)
{
    const bool quick = ns_native_is_quick(problem->rhs);
    const double seconds_known = quick ? 0.002 : 0.25, seconds_left = quick ? 0.02 : 1.5;
    return seconds > seconds_known && done > 0 && seconds * (1 - done) / done > seconds_left;
}
