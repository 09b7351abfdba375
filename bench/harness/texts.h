/*
 * The problems of the speed table as model text: written as first-order systems, the way an
 * expert with a compiler would, or as mechanics alone, from which noslip derives the equations.
 */
#ifndef BENCH_TEXTS_H
#define BENCH_TEXTS_H

#include <stdbool.h>

#include "problems/hand_problems.h"

#include "session/model.h"

typedef enum bench_kind { BENCH_EQUATIONS, BENCH_MECHANICS } bench_kind;

typedef struct bench_text {
    const char *problem;
    bench_kind kind;
    const char *gallery; /* name of a bundled model, or */
    const char *text;    /* its text, or */
    int links;           /* a chain of that many links */
    ns_override set;     /* a parameter that differs; name NULL: none */
    const char *varied;  /* states, separated by blanks, that may be scaled for an ensemble */
    const char *values[HAND_MAX_STATES]; /* the problem's components among the model's values */
} bench_text;

/* Is the name one of a list with blanks between (varied)? */
bool bench_text_lists(const char *name, const char *list);
/* NULL if the problem is not written that way. */
const bench_text *bench_text_find(const char *problem, bench_kind kind);

/* The model, ready to run; NULL after saying on stderr what is wrong. */
ns_model *bench_text_load(const bench_text *text);

/* A bundled model's text; NULL if there is none of that name. */
const char *bench_gallery_text(const char *name);

/* n equal pendulums in a chain, 3 m long and bent at the start, as text of malloc. */
char *bench_chain_text(int links);

#endif
