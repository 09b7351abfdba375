/* A record: one run of a model with what it leaves behind: values at output times, events,
 * diagnostics, and files.
 *
 *     ns_record *r = ns_record_new(model, &options);      // checks, opens, integrates nothing
 *     if (r && r->status == NS_OK) ns_record_run(r);
 *     ... r->status, r->message, r->table, r->outcome ...
 *     ns_record_free(r);
 *
 * Output files are brought up to date every few seconds, so that a kill or a full disk leaves
 * the earlier results readable.  When a file cannot be written any more the run ends with
 * NS_ERR_IO; the other files are completed. */
#ifndef NS_SESSION_RECORD_H
#define NS_SESSION_RECORD_H

#include "session/model.h"
#include "session/motion.h"
#include "session/table.h"

typedef struct ns_output ns_output; /* session/output.h */
typedef struct ns_output_format ns_output_format;
typedef struct ns_record ns_record;

/* Another way to the rows than integrating the whole motion (study/orbits/record_periodic.c).
 * `begin` checks and prepares, or ns_record_fail; `run` adds all rows and sets the outcome. */
typedef struct ns_record_route {
    void (*begin)(ns_record *record);
    void (*run)(ns_record *record);
} ns_record_route;
typedef struct ns_trust ns_trust; /* session/trust/trust.h */

typedef struct ns_progress {
    double fraction; /* of the time span, 0 to 1 */
    double t;        /* reached */
    double seconds;  /* since the beginning */
    uint64_t steps;
} ns_progress;

typedef enum ns_record_engine {
    NS_ENGINE_INTERPRETER,
    NS_ENGINE_NATIVE,
    NS_ENGINE_AUTO /* native code once the run has shown to be long enough to pay for it */
} ns_record_engine;

typedef struct ns_record_options {
    ns_run_options run; /* start from ns_model_run_options; until: nan if nobody said it */
    ns_record_engine engine;
    bool until_fixed; /* do not run on to the last output time */
    const double *at; /* output times, any order; NULL: see every */
    size_t n_at;
    double every;               /* output at t0, t0 + every, ...; 0: only the end */
    const char *const *outputs; /* files; the format follows from the extension */
    size_t n_outputs;
    const ns_output_format *const *formats; /* that they may have, ends with NULL */
    const ns_record_route *route;           /* NULL: integrate */
    bool motion;                            /* keep the motion, for pictures */
    const uint32_t *drawn; /* the observables that pictures show; n_drawn 0: a fitting choice */
    uint32_t n_drawn;
    bool keep; /* keep all rows in memory (otherwise only until they are written) */
    const char *checkpoint; /* file to save the run to now and then, NULL: none */
    const char *resume;     /* file to continue from, NULL: from the start */
    /* rows as sums of two doubles in place of the run's own values; NULL: those */
    void (*observe)(void *observer, uint32_t mode, double t, const double *x, double *row,
                    double *low);
    void *observer;
    double flush_seconds; /* shortest time between two updates of the files */
    void (*progress)(void *context, const ns_progress *progress); /* may be NULL */
    void *context;
} ns_record_options;

struct ns_record {
    ns_status status;
    /* What is wrong, why the run stopped, or by which event of the model it ended as asked
     * (status NS_OK); otherwise "". */
    char message[900];
    ns_model *model;
    ns_record_options options; /* as used: until and tolerance are known */
    const ns_method *method;
    bool chosen;      /* by --method auto, for this reason: */
    char choice[200]; /* "" if a checkpoint says which method */
    bool running;     /* false before and after the run */
    uint32_t columns; /* = observables of the system, in their order */
    ns_table table;   /* rows in memory */
    size_t first_row; /* number of rows before those, which are in files only */
    ns_table events;  /* occurrences so far with their values; the rest is in outcome->events */
    ns_motion motion; /* without rows unless asked for */
    ns_table low;     /* of precise methods: what times and values of `table` lack */
    double *last;     /* [columns] values at the end of the run so far */
    double *last_low; /* [columns] what they lack */
    double seconds;
    const ns_outcome *outcome; /* NULL if the run could not begin */
    signed char
        *digits;     /* [columns][rows] right ones (session/trust/digits.h); NULL: not asked */
    ns_trust *trust; /* how far to trust it; NULL: nobody asked */
    bool native;     /* otherwise interpreted */
    char native_message[300]; /* why there is no native code though it was wanted; "" */
    const struct ns_relative
        *relative;    /* of the route `periodic`: period, shift, how well they hold */
    ns_outcome whole; /* then: quality and events of the first period, the end of the whole */
    ns_arena *own;    /* what these live in */
    ns_run *run;
    ns_output *files;
    size_t n_files;
    double *times; /* output times, in the direction of the motion */
    size_t n_times, next_time;
    double *x, *row, *row_low; /* work */
};

ns_record_options ns_record_defaults(const ns_model *model);

/* Checks everything that can be checked before computing.  NULL only if memory ran out. */
ns_record *ns_record_new(ns_model *model, const ns_record_options *options);
/* Integrates and writes.  The status is also in the record. */
ns_status ns_record_run(ns_record *record);
/* Forgets the run itself (its memory is the largest part); what was recorded stays valid. */
void ns_record_free(ns_record *record);

/* The stretches of a motion between changes of its mode, for systems with modes: when it began
 * and in which.  *next: 0 for the first, then as it is left.  False: there are no more. */
bool ns_record_stretch(const ns_record *record, size_t *next, double *t, uint32_t *mode);

size_t ns_record_rows(const ns_record *record); /* all rows so far, in memory or not */

/* Largest relative change of an energy that nothing in the model changes; nan where something
 * does, or where there is none. */
double ns_record_energy_drift(const ns_record *record);

/* Sets status and message; the first failure wins. */
void ns_record_fail(ns_record *record, ns_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
