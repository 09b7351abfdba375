/*
 * What is measured beside the table of accuracy against time: the peak of the machine,
 * start-up, compiling, engines, the paper's problem as a whole, and how costs grow.
 */
#ifndef BENCH_FACTS_H
#define BENCH_FACTS_H

#include <stdbool.h>

enum {
    FACTS_WORST = 5,
    FACTS_ENGINES = 7,
    GROWTH_CHAINS = 5,
    GROWTH_LANES = 4,
    GROWTH_TIMES = 7
};

typedef struct bench_compile {
    char name[64];
    double seconds; /* CPU, of the compiler too */
} bench_compile;

/* Nanoseconds of one evaluation of the right-hand side, all lanes together. */
typedef struct bench_engine {
    const char *name;
    long operations;
    double one, one_native, eight, eight_native;
} bench_engine;

typedef struct bench_facts {
    double peak; /* operations per second of one core */
    /* `noslip run rattleback`, the motion cut to nothing: seconds of wall (least) and CPU
     * (median) */
    double start_wall, start_cpu, start_all;
    int compiled; /* models of the gallery */
    double compile_median;
    bench_compile worst[FACTS_WORST];
    bench_engine engines[FACTS_ENGINES];
    /* Udwadia and Mogharabin's (2021) problem: the program as a whole, and Octave at the
     * paper's tolerances (nan: not
       installed) */
    double paper_noslip_wall, paper_noslip_cpu, paper_octave_cpu, paper_octave_error;
} bench_facts;

/* Chains of pendulums, 1 s at 1e-10: CPU seconds. */
typedef struct bench_chain {
    int links;
    long operations;
    double derive, compile, by_hand, interpreted, native;
} bench_chain;

typedef struct bench_growth {
    bench_chain chains[GROWTH_CHAINS];
    double lanes[GROWTH_LANES]; /* motions of P1c per second with 1, 2, 4, 8 lanes, at 1e-9 */
    double times[GROWTH_TIMES], seconds[GROWTH_TIMES], energy[GROWTH_TIMES]; /* P2 */
} bench_growth;

/* Everything but Octave's part; noslip: the program, may be NULL. */
void bench_facts_measure(const char *noslip, bench_facts *facts);
/* Octave's part: a minute of CPU time and more. Not measured without Octave. */
void bench_facts_octave(bench_facts *facts);
void bench_growth_measure(bench_growth *growth);

#endif
