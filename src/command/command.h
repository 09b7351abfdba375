/* Commands: one const descriptor each, for the program (src/cli), the library (src/api) and
 * claims.  It drives the reading of options, the help and the messages about wrong ones. */
#ifndef NS_COMMAND_COMMAND_H
#define NS_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "command/style.h"

typedef struct ns_model ns_model;
struct ns_override;
struct ns_sheet;
struct ns_plot;

/* Parts of the work of a command: what a signal may do then is the host's to decide. */
typedef enum ns_phase {
    NS_PHASE_READ,   /* reading options and models: nothing is lost by ending it */
    NS_PHASE_STUDY,  /* computing, with nothing written before it is done */
    NS_PHASE_RUN,    /* computing and writing: it must come to an end by itself */
    NS_PHASE_FOLLOW, /* the same, on behalf of another process that heeds signals */
    NS_PHASE_WRITE   /* done computing: files are written */
} ns_phase;

typedef struct ns_host_progress {
    const char *what; /* "t": what the numbers count */
    double fraction;  /* 0 to 1 */
    double at, end;   /* in terms of what is counted */
    double seconds;   /* since the beginning, as far as the time left is concerned */
} ns_host_progress;

/* Who runs commands, and what they work with: the program `noslip`, the library (api/study.c),
 * or a claim.  A command writes text to `out` and `err` and tells its host what it found; it
 * knows no terminal and no signals.  Functions may be NULL. */
typedef struct ns_host {
    ns_arena *arena; /* lives as long as the host */
    FILE *out;       /* results, for people */
    FILE *err;       /* everything else */
    ns_style style_out, style_err;
    bool quiet;                         /* only results and errors */
    bool owns_process;                  /* it may join others that mpirun has started */
    const struct ns_gallery_entry *own; /* models known beside the bundled ones */
    unsigned n_own;
    volatile int *stop; /* not zero: stop */
    void *context;      /* of the functions */
    /* The model of a word, with further parameters set; the command frees it.  NULL: files and
     * bundled models. */
    ns_model *(*open)(void *context, const char *word, const struct ns_override *overrides,
                      size_t n);
    /* Results, which are in the arena and in the models that were opened. */
    void (*found)(void *context, const ns_model *model, const struct ns_sheet *sheet,
                  const struct ns_plot *plot);
    bool (*progress)(void *context, const ns_host_progress *p); /* false: stop */
    void (*phase)(void *context, ns_phase phase);
} ns_host;

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
    unsigned least, most; /* number of words */
    unsigned models;      /* how many of them, the last, are models */
    bool apart;           /* the library has functions of its own for it */
    bool starts;          /* makes starts by itself: a variant's numbers are options */
    /* The first word where it follows from the options; NULL: from nothing. */
    const char *(*form)(const ns_arguments *arguments);
    int (*run)(ns_host *host, const ns_arguments *arguments); /* exit status */
};

extern const ns_command ns_command_run;
extern const ns_command ns_command_check;
extern const ns_command ns_command_equations;
extern const ns_command ns_command_emit;
extern const ns_command ns_command_equilibria;
extern const ns_command ns_command_compare;
extern const ns_command ns_command_fit;
extern const ns_command ns_command_linearise;
extern const ns_command ns_command_plan;
extern const ns_command ns_command_import;
extern const ns_command ns_command_gradient;
extern const ns_command ns_command_lyapunov;
extern const ns_command ns_command_frequencies;
extern const ns_command ns_command_portrait;
extern const ns_command ns_command_section;
extern const ns_command ns_command_measure;
extern const ns_command ns_command_brackets;
extern const ns_command ns_command_invariants;
extern const ns_command ns_command_period;
extern const ns_command ns_command_reproduce;
extern const ns_command ns_command_sweep;
extern const ns_command ns_command_new;
extern const ns_command ns_command_explain;
extern const ns_command ns_command_format;
extern const ns_command ns_command_words;
extern const ns_command *const ns_commands[]; /* ends with NULL */

static inline const ns_command *ns_command_find(const char *name)
{
    for (const ns_command *const *c = ns_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

/* Adds an option to the arguments by its name; the value is NULL if there is none.  False after
 * saying what is wrong. */
bool ns_command_take(ns_host *host, ns_arguments *arguments, const char *name,
                     const char *value);
/* Is its argument the name of a file that is written? */
bool ns_command_writes(const ns_option *option);
/* Are there enough words, and not too many?  False after saying what is wrong. */
bool ns_command_enough(ns_host *host, const ns_arguments *arguments);
/* Reads a command line after `noslip NAME`; false after saying what is wrong. */
bool ns_command_parse(ns_host *host, const ns_command *command, int n, char **words,
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
bool ns_command_pair(ns_host *host, const char *option, const char *form, const char *text,
                     const char **name, const char **rest);
/* Its value as a number; *value is untouched if it was not given.  False after saying what is
 * wrong with it. */
bool ns_command_number(ns_host *host, const ns_arguments *arguments, const char *name,
                       double *value);
/* A list of numbers separated by commas. */
bool ns_command_numbers(ns_host *host, const ns_arguments *arguments, const char *name,
                        double **values, size_t *n);

/* The options that every command has beside its own; ends with a NULL name. */
extern const ns_option ns_command_common[];
/* By its name, of this many characters; NULL if there is none. */
const ns_option *ns_command_option(const ns_option *options, const char *name, size_t length);

void ns_command_phase(const ns_host *host, ns_phase phase);
/* Tells the host how far it is; false: stop. */
bool ns_command_progress(const ns_host *host, const ns_host_progress *p);

/* "noslip: error: ..." to host->err.  They return the exit status of a wrong request, false,
 * and the exit status of `status`: what their callers return. */
int ns_command_wrong(ns_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool ns_command_refuse(ns_host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int ns_command_failed(ns_host *host, ns_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
