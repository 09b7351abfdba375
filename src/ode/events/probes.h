/* Probes: parts of an event's function that tell whether ten samples in a step represent it.
 *
 * The states of a step are smooth: the method has resolved them.  A function of them need not
 * be: sin(1000 x) turns many times, 1/(x^2 + w^2) has a peak between two samples.  Every
 * operation that can do so has an argument that gives it away, and so on inwards down to the
 * states:
 *
 *     sin, cos a       the angle turns by more than a circle
 *     exp, sinh a      the exponent changes by more than a few units
 *     tanh a           the same, and a is not beyond 19 where tanh is 1
 *     1/b, log b, b^c  b comes near zero, compared with its size elsewhere in the stretch
 *     |a|, sign a      a changes its sign; min(a, b), max(a, b): a - b does
 *
 * The kinks of |a|, min and max do no harm where only sums and other such functions lie between
 * them and the event itself: its samples show them.  There a need only not change sign unseen.
 *
 * Sums, products and small powers of tame functions are tame; so are the solutions of linear
 * systems, which the equations of motion contain too.  A stretch of the step in which a probe
 * of an event moves too far is wild: its samples prove nothing. */
#ifndef NS_ODE_EVENTS_PROBES_H
#define NS_ODE_EVENTS_PROBES_H

#include "eval/interval/interval.h"
#include "expr/graph.h"

typedef enum ns_probe_kind {
    NS_PROBE_RANGE, /* tame if largest - least value <= limit */
    NS_PROBE_RATIO, /* tame if of one sign and largest / least size <= limit; or constant */
    NS_PROBE_FAR,   /* one of the two: RANGE, or RATIO with limit NS_PROBE_FAR_RATIO */
    NS_PROBE_FLAT,  /* RANGE, or everything beyond NS_PROBE_FLAT_FROM */
    NS_PROBE_KINK,  /* tame if no change of sign may hide between two samples: both are larger
                    * than
                      limit times how far samples there are from a straight line */
    NS_PROBE_SIDE   /* the same, and no sample shows a change of sign */
} ns_probe_kind;

enum { NS_PROBE_FAR_RATIO = 4, NS_PROBE_FLAT_FROM = 19 };

typedef struct ns_probe {
    ns_ex node;
    ns_probe_kind kind;
    double limit;
    /* tame at any rate if no sample is further from the first than width + share * |first| */
    double width, share;
} ns_probe;

typedef struct ns_probes {
    uint32_t n, n_events, words; /* words: of 64 bits, for a set of probes */
    uint64_t *kinks; /* [words] those of kinds KINK and SIDE; NULL: there are none */
    ns_probe *at;
    uint64_t *of; /* [n_events][words] those of each event */
} ns_probes;

/* Those of expressions, in the arena. */
const ns_probes *ns_probes_find(ns_graph *g, ns_arena *arena, const ns_ex *events, uint32_t n);

/* Is a probe with these least and largest values tame?  Not for kinks. */
static inline bool ns_probe_tame(const ns_probe *probe, double lo, double hi)
{
    const double ratio = probe->kind == NS_PROBE_RATIO ? probe->limit : NS_PROBE_FAR_RATIO;
    const bool near = hi - lo <= probe->limit;
    const bool even = (lo > 0 && hi <= ratio * lo) || (hi < 0 && lo >= ratio * hi) || lo == hi;
    return probe->kind == NS_PROBE_RANGE   ? near
           : probe->kind == NS_PROBE_RATIO ? even
           : probe->kind == NS_PROBE_FAR
               ? near || even
               : near || lo > NS_PROBE_FLAT_FROM || hi < -NS_PROBE_FLAT_FROM;
}

/* Samples of all probes in a stretch of a step. */
typedef struct ns_probes_seen {
    const double *nodes;       /* [n][8] at the Gauss nodes */
    const double *begin, *end; /* [n] at its ends, `apart` from each other; for kinks */
    size_t apart;
    /* [n] enclosures at a point: what changes by rounding errors alone is tame; may be NULL */
    const ns_interval *noise;
} ns_probes_seen;

/* The set of wild ones; is one of the event wild? */
void ns_probes_wild(const ns_probes *probes, const ns_probes_seen *seen, uint64_t *set);
bool ns_probes_wild_of(const ns_probes *probes, const ns_probes_seen *seen, uint32_t event);

/* A sample, of the ten, before one with another sign of a probe of the event of kind SIDE, and
 * which probe; -1: there is none. */
int ns_probes_flip(const ns_probes *probes, const ns_probes_seen *seen, uint32_t event,
                   uint32_t *probe);

static inline bool ns_probes_has(const ns_probes *probes, uint32_t event, uint32_t probe)
{
    return probes->of[(size_t)event * probes->words + probe / 64] >> probe % 64 & 1;
}

/* Is one of the event in the set? */
static inline bool ns_probes_meet(const ns_probes *probes, const uint64_t *set, uint32_t event)
{
    uint64_t both = 0;
    for (uint32_t i = 0; i < probes->words; i++)
        both |= set[i] & probes->of[(size_t)event * probes->words + i];
    return both != 0;
}

#endif
