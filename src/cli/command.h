/* Sub-commands: one const descriptor each.  It drives the parsing of arguments, the help and
 * the messages about wrong ones. */
#ifndef NS_CLI_COMMAND_H
#define NS_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "cli/terminal.h"

typedef struct ns_model ns_model;
struct ns_override;
struct ns_sheet;
struct ns_plot;

/* A program that runs commands on models of its own (api/study.c).  The command frees the
 * models it opened; what it finds is the host's to keep, in the arena and these models. */
typedef struct ns_cli_host {
    void *context;
    /* The model of a word, with further parameters set. */
    ns_model *(*open)(void *context, const char *word, const struct ns_override *overrides,
                      size_t n);
    void (*found)(void *context, const ns_model *model, const struct ns_sheet *sheet,
                  const struct ns_plot *plot);
    bool (*progress)(void *context, double fraction, double at); /* false: stop */
    volatile int *stop;                                          /* not zero: stop */
} ns_cli_host;

/* What a command works with.  The arena lives as long as the program. */
typedef struct ns_cli {
    ns_arena *arena;
    FILE *out; /* results */
    FILE *err; /* everything else */
    ns_style style_out, style_err;
    bool quiet;                         /* only results and errors */
    const struct ns_gallery_entry *own; /* models known beside the bundled ones */
    unsigned n_own;
    const ns_cli_host *host; /* NULL: the program `noslip` */
} ns_cli;

typedef struct ns_option {
    const char *name;     /* without the two dashes; NULL ends a table */
    const char *argument; /* "T"; NULL if it takes none */
    const char *help;
    bool repeat;         /* may be given several times */
    bool optional;       /* its argument may be left out, or given as --NAME=ARGUMENT */
    const char *missing; /* why it is refused in this version; NULL if it works */
} ns_option;

typedef struct ns_given {
    const ns_option *option;
    const char *value; /* NULL if it takes none */
} ns_given;

typedef struct ns_command ns_command;

typedef struct ns_arguments {
    const ns_command *command;
    NS_LIST(ns_given) options;
    NS_LIST(const char *) words; /* arguments that are not options */
    const char *simd;            /* of --simd, which every command has; NULL: not given */
} ns_arguments;

struct ns_command {
    const char *name;
    const char *summary; /* one line */
    const char *usage;   /* after `noslip NAME` */
    const char *doc;     /* paragraphs; may be NULL */
    const ns_option *options;
    unsigned least, most;                                   /* number of words */
    int (*run)(ns_cli *cli, const ns_arguments *arguments); /* exit status */
};

extern const ns_command ns_command_run;
extern const ns_command ns_command_check;
extern const ns_command ns_command_equations;
extern const ns_command ns_command_emit;
extern const ns_command ns_command_equilibria;
extern const ns_command ns_command_compare;
extern const ns_command ns_command_lyapunov;
extern const ns_command ns_command_portrait;
extern const ns_command ns_command_section;
extern const ns_command ns_command_measure;
extern const ns_command ns_command_bench;
extern const ns_command ns_command_gallery;
extern const ns_command ns_command_help;
extern const ns_command ns_command_version;
extern const ns_command ns_command_invariants;
extern const ns_command ns_command_period;
extern const ns_command ns_command_reproduce;
extern const ns_command ns_command_sweep;
extern const ns_command *const ns_commands[]; /* ends with NULL */
const ns_command *ns_command_find(const char *name);

/* Reads the arguments of a command; false after saying what is wrong. */
bool ns_command_parse(ns_cli *cli, const ns_command *command, int n, char **words,
                      ns_arguments *arguments);

/* Value of an option that was given once; NULL if it was not given.  The name must be one of
 * the command's table. */
const char *ns_command_text(const ns_arguments *arguments, const char *name);
bool ns_command_flag(const ns_arguments *arguments, const char *name);
/* The next value of an option that may be given several times; begin with *at = 0.  False when
 * there is none left. */
bool ns_command_each(const ns_arguments *arguments, const char *name, uint32_t *at,
                     const char **value);
/* The two sides of NAME=REST; false after saying that the option expects `form`. */
bool ns_command_pair(ns_cli *cli, const char *option, const char *form, const char *text,
                     const char **name, const char **rest);
/* Its value as a number; *value is untouched if it was not given.  False after saying what is
 * wrong with it. */
bool ns_command_number(ns_cli *cli, const ns_arguments *arguments, const char *name,
                       double *value);
/* A list of numbers separated by commas. */
bool ns_command_numbers(ns_cli *cli, const ns_arguments *arguments, const char *name,
                        double **values, size_t *n);

/* The help of a command, to cli->out. */
void ns_command_help_text(ns_cli *cli, const ns_command *command);

/* "noslip: error: ..." to cli->err.  They return the exit status of a wrong request, false, and
 * the exit status of `status`: what their callers return. */
int ns_command_wrong(ns_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool ns_command_refuse(ns_cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int ns_command_failed(ns_cli *cli, ns_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
