/* Shared by plot*.c: scales, ticks and numbers as text. */
#ifndef NS_OUT_PLOT_PLOT_AXIS_H
#define NS_OUT_PLOT_PLOT_AXIS_H

#include <stdbool.h>

enum { NS_TICKS_MOST = 24, NS_TICK_TEXT = 32 };

typedef struct ns_scale {
    bool log;
    double from, to; /* data; from < to unless turned round */
    double lo, hi;   /* pixels that belong to them */
} ns_scale;

typedef struct ns_ticks {
    int n;
    double at[NS_TICKS_MOST];
    char text[NS_TICKS_MOST][NS_TICK_TEXT];
    char
        factor[2 * NS_TICK_TEXT]; /* what all labels have in common: "×10⁻⁶", "+ 9.81"; or "" */
} ns_ticks;

/* Pixels of a value; nan for what a logarithmic scale does not show. */
double ns_scale_map(const ns_scale *scale, double value);
/* Ticks at round numbers, about `most` of them. */
void ns_scale_ticks(const ns_scale *scale, int most, ns_ticks *ticks);
/* A fitting range for data from lo to hi; `pad` is the fraction added at both ends. */
void ns_scale_fit(ns_scale *scale, double lo, double hi, double pad);

#endif
