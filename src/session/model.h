/* A model: everything from the text to a start state, in one place and one arena.
 *
 * ns_model_load reads the text, derives the system, evaluates parameters, run settings and the
 * start state, and builds the programs.  It never fails silently: the model it returns carries
 * the status, and messages that say what is wrong and where.  NULL means that there was not
 * even memory for that.
 *
 * The terms of this folder, in order:
 *     model    from the text to the start state
 *     system   its equations (mech/system.h)
 *     problem  the programs of the system that methods evaluate (ode/problem.h)
 *     variant  the model with other numbers
 *     run      one integration (ode/run.h)
 *     record   a run with what was asked of it: rows, events, files, checkpoints
 * A model loaded without error may be used by several threads at once, each with runs, records
 * and forks of `shared` of its own; what a function here makes for all of them it makes under
 * the model's lock.  Only the sole user of a model may add to its `system`. */
#ifndef NS_SESSION_MODEL_H
#define NS_SESSION_MODEL_H

#include <pthread.h>

#include "base/diag.h"
#include "base/status.h"
#include "mech/system.h"
#include "ode/method.h"
#include "ode/problem.h"
#include "ode/quad/quad.h"
#include "ode/run.h"

/* What the run { } block of the model says; nan or NULL where it says nothing. */
typedef struct ns_model_settings {
    double from, until, tolerance, every;
    double step, first_step, max_step, max_steps;
    const char *method;
    const char *project; /* "on" or "off" */
} ns_model_settings;

/* Variants of a model, from its text on. */
typedef enum ns_model_kind {
    NS_MODEL_PLAIN,
    NS_MODEL_SHAKEN, /* every given number that is not a double rounded the other way
                      * (ns_graph_shake) */
    NS_MODEL_PRECISE /* for quadruple precision: what is iterated takes more rounds */
} ns_model_kind;

typedef struct ns_model {
    ns_status status;
    ns_model_kind kind;
    const char *messages; /* rendered diagnostics, "" if there are none */
    const char *name;     /* file name as the user wrote it */
    char *text;           /* from malloc */
    size_t length;
    const ns_override *overrides;
    size_t n_overrides;
    ns_arena *arena;
    ns_diag *diag;
    ns_description *description;
    ns_system *system; /* with the bench of whoever owns the model: one thread at a time */
    const ns_system *shared; /* the same, never touched again: threads make forks of it */
    ns_model_settings settings;
    const volatile int *interrupt; /* for ns_model_run_options; NULL */
    double *p, *x0;
    const ns_exact *exact[2]; /* the same in quadruple precision: ask ns_model_exact */
    ns_problem *problem;      /* ask ns_model_problem, for these too: */
    ns_problem *with_jacobian, *with_tangent, *with_balance;
    struct ns_model *twins[3];        /* by kind: ask ns_model_twin */
    const struct ns_variant *variant; /* session/variant.h; NULL: as the text says */
    const struct ns_variant *taken;   /* numbers that a copy of a variant took from it; NULL */
    const ns_schedule
        *schedule; /* of inputs that change (session/inputs/inputs.h); NULL: none */
    const struct ns_sensitivity *sensitivity; /* session/sensitivity.h; NULL: none */
    unsigned users;                           /* its owner, and variants of it */
    pthread_mutex_t lock;
} ns_model;

typedef enum ns_model_depth {
    NS_MODEL_READ,    /* parsed: title, parameters */
    NS_MODEL_DERIVED, /* system, parameters, settings; no start state, no programs */
    NS_MODEL_READY    /* all */
} ns_model_depth;

/* From a file ("-": standard input), or from text with a name for messages. */
ns_model *ns_model_load(const char *path, const ns_override *overrides, size_t n_overrides,
                        ns_model_depth depth);
ns_model *ns_model_load_text(const char *name, const char *text, size_t length,
                             const ns_override *overrides, size_t n_overrides,
                             ns_model_depth depth);
/* Its memory goes when the last variant of it has gone too. */
void ns_model_free(ns_model *model);
/* For variants: evaluates what the run block says with the parameters of the model; errors go
 * to its diag.  And the settings when nothing is said. */
void ns_model_read_settings(ns_model *model);
ns_model_settings ns_model_no_settings(void);
/* The same model once more, of another kind; it lives as long as the model.  NULL if that is
 * not possible, or leads to other states. */
ns_model *ns_model_twin(ns_model *model, ns_model_kind kind);

/* The problem as a method needs it; NULL if memory ran out. */
const ns_problem *ns_model_problem_for(ns_model *model, const ns_method *method);
/* The model itself, or its twin for quadruple precision where that differs; NULL if memory ran
 * out. */
ns_model *ns_model_precise(ns_model *model);
/* Parameters and start in quadruple precision, or what the machine has of it; `shaken`: with
 * other rounding errors.  NULL if memory ran out. */
const ns_exact *ns_model_exact(ns_model *model, bool shaken);
/* The problem, with the Jacobian if asked for; NULL if memory ran out. */
const ns_problem *ns_model_problem(ns_model *model, bool jacobian);

/* Run options from the model's settings (method, times and tolerance included). */
ns_run_options ns_model_run_options(const ns_model *model);

/* Index of a name among the observables, -1 if there is none; the nearest name, NULL if none
 * is near. */
int64_t ns_model_observable(const ns_model *model, const char *name);
const char *ns_model_nearest_observable(const ns_model *model, const char *name);

#endif
