/* `noslip run`, also used by `noslip gallery NAME`. */
#ifndef NS_COMMAND_MODELS_RUN_H
#define NS_COMMAND_MODELS_RUN_H

#include "command/open.h"

/* clang-format off */
#define NS_RUN_OPTIONS                                                                         \
    NS_OPTION_SET,                                                                             \
    {.name = "start", .argument = "NAME=EXPR", .repeat = true,                                 \
     .help = "give a state another value at the start; the rest is made consistent"},          \
    {.name = "until", .argument = "T", .help = "end time"},                                    \
    {.name = "tol", .argument = "R", .help = "tolerance, relative to the size of each state"}, \
    {.name = "method", .argument = "M", .help = "integration method (noslip help methods)"},   \
    {.name = "engine", .argument = "E",                                                        \
     .help = "interpreter, native (compiled), or auto: native when it pays (default)"},        \
    {.name = "at", .argument = "T1,T2,...", .help = "output at these times"},                  \
    {.name = "every", .argument = "DT", .help = "output at the start and every DT from there"},\
    {.name = "out", .argument = "FILE", .repeat = true,                                        \
     .help = "write the values at the output times (.h5, .csv, .json), a picture (.svg) "      \
             "or the moving scene (.glb)"},                                                    \
    {.name = "show", .argument = "NAME,...",                                                   \
     .help = "values in the tables and in a picture; omega means all omega.*, all means all"}, \
    {.name = "verbose",                                                                        \
     .help = "every value and every residual on a line of its own"},                           \
    {.name = "json", .help = "print one JSON object instead of the summary"},                  \
    NS_OPTION_LIMITS,                                                                          \
    NS_OPTION_QUIET,                                                                           \
    {.name = "checkpoint", .argument = "FILE",                                                 \
     .help = "save the run every few seconds and at its end"},                                 \
    {.name = "resume", .argument = "FILE", .help = "continue from a checkpoint"},              \
    {.name = "precision", .argument = "P", .help = "double, or quad: 113 bits (gcc)"},     \
    {.name = "report", .argument = "FILE.html",                                                \
     .help = "write a page with the motion in 3D, plots and facts"},                           \
    {.name = "live", .help = "with --report: the page recomputes (docs/playground.md)"},       \
    {.name = "sensitivity", .argument = "NAME,...",                                            \
     .help = "add derivatives by parameters and starting values (start: all) as values"},      \
    {.name = "periodic",                                                                       \
     .help = "build the motion from one period and its shift, if it is periodic"},             \
    {.name = "digits", .argument = "quad", .optional = true,                                   \
     .help = "how many digits of each value are right, from two more runs; =quad: in "         \
             "quadruple precision"}
/* clang-format on */

/* --engine and --precision: false after saying what is wrong. */
bool ns_run_command_words(ns_host *host, const ns_arguments *arguments);

/* Runs a model as the options say; takes the model. */
int ns_run_command_model(ns_host *host, const ns_arguments *arguments, ns_model *model);

#endif
