/* noslip: derive, integrate and study nonholonomic mechanical systems.
 *
 * The public interface, for C and C++ and small enough for bindings:
 *
 *     ns_model *model = ns_model_open("sleigh.mech", NULL, NULL, 0);
 *     if (ns_model_verdict(model) != NS_DONE)
 *         fputs(ns_model_messages(model), stderr);
 *     ns_simulate_options options;
 *     ns_simulate_defaults(&options, sizeof options);
 *     options.until = 20;
 *     options.every = 0.1;
 *     ns_result *result = ns_simulate(model, &options);
 *     const double *t = ns_result_times(result), *x = ns_result_values(result, "x");
 *     for (size_t i = 0; i < ns_result_rows(result); i++)
 *         printf("%g %g\n", t[i], x[i]);
 *     ns_result_close(result);
 *     ns_model_close(model);
 *
 * The library never prints, never ends the process and writes only files it was asked for.
 * Strings and arrays that functions return belong to the object they come from and live as
 * long as it does.  Functions that make objects return NULL only when memory ran out; all that
 * take objects accept NULL and then answer with NS_FAILED, "", 0 or nan.
 *
 * The environment variable NOSLIP_SIMD (plain, avx2, avx512) forces lower vector instructions
 * than the processor has, with the same results to the bit; one that is not there makes models
 * NS_WRONG. */
#ifndef NOSLIP_NOSLIP_H
#define NOSLIP_NOSLIP_H

#include <stddef.h>

#if defined(__GNUC__)
#define NS_API __attribute__((visibility("default")))
#else
#define NS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

NS_API const char *ns_version(void);

/* How something ended; also the exit status of the program `noslip`. */
typedef enum ns_verdict {
    NS_DONE = 0,
    NS_STOPPED = 1, /* the motion ended early; everything up to then is good */
    NS_WRONG = 2,   /* the model or the request is wrong */
    NS_FAILED = 3   /* the system failed: memory, disk */
} ns_verdict;

/* ---- models --------------------------------------------------------------------------------
 * A model is read, derived and checked when it is opened; afterwards it does not change and
 * may be used by several threads at once. */
typedef struct ns_model ns_model;

/* From a file, with n parameters set to expressions: names[i] = expressions[i] ("m", "2
 * kg"). */
NS_API ns_model *ns_model_open(const char *path, const char *const *names,
                               const char *const *expressions, size_t n);
/* From text; `name` stands for the file in messages. */
NS_API ns_model *ns_model_open_text(const char *name, const char *text,
                                    const char *const *names, const char *const *expressions,
                                    size_t n);
/* No result of the model may be in use any more. */
NS_API void ns_model_close(ns_model *model);

NS_API ns_verdict ns_model_verdict(const ns_model *model);
/* Errors and warnings with their places, lines end with a newline; "" if there are none. */
NS_API const char *ns_model_messages(const ns_model *model);
NS_API const char *ns_model_title(const ns_model *model);
NS_API const char *ns_model_formulation(const ns_model *model);

/* What a model has, by kind and number.  Counts are 0 unless the verdict is NS_DONE. */
typedef enum ns_kind {
    NS_PARAMETERS = 0,
    NS_STATES = 1,
    NS_VALUES = 2, /* all that a run records: coordinates, velocities, energy, ... */
    NS_CONSTRAINTS = 3,
    NS_INVARIANTS = 4,
    NS_EVENTS = 5
} ns_kind;

NS_API size_t ns_model_count(const ns_model *model, ns_kind kind);
NS_API const char *ns_model_name(const ns_model *model, ns_kind kind, size_t i);
/* "" where none is known */
NS_API const char *ns_model_unit(const ns_model *model, ns_kind kind, size_t i);
/* Parameters: the value; states: the value at the start; nan for the rest. */
NS_API double ns_model_number(const ns_model *model, ns_kind kind, size_t i);

/* ---- runs ------------------------------------------------------------------------------- */

/* What is not said (nan, NULL or 0 as noted) is taken from the run block of the model, then
 * from the defaults of the program. */
typedef struct ns_simulate_options {
    size_t size;        /* of this struct, for the library */
    double until;       /* end time; nan: not said */
    double tolerance;   /* 0: not said */
    const char *method; /* NULL: not said */
    const double *at;   /* output times; NULL: see every */
    size_t n_at;
    double every;               /* output interval; 0: only the end (or as the model says) */
    double step;                /* constant steps of this length; 0: not said */
    double max_step;            /* 0: not said */
    double max_steps;           /* 0: not said */
    int project;                /* keep the state on its manifold: 1, 0; -1: not said */
    const char *const *outputs; /* files to write during the run: .h5, .csv, .json */
    size_t n_outputs;
    const char *checkpoint, *resume; /* files; NULL: none */
    /* Called about ten times a second; the run stops when it does not return 0. */
    int (*progress)(void *context, double fraction, double t);
    void *context;
} ns_simulate_options;

/* Always call it with sizeof(ns_simulate_options): programs compiled for an earlier version
 * keep working with a later library. */
NS_API void ns_simulate_defaults(ns_simulate_options *options, size_t size);

/* For languages that do not see the struct: options made, set by name and freed.  Names are
 * those of the members.  NS_WRONG if there is no such option of that type.  Values are copied,
 * except the progress function's context. */
NS_API ns_simulate_options *ns_options_new(void);
NS_API void ns_options_free(ns_simulate_options *options);
NS_API ns_verdict ns_options_set_number(ns_simulate_options *options, const char *name,
                                        double value);
NS_API ns_verdict ns_options_set_numbers(ns_simulate_options *options, const char *name,
                                         const double *values, size_t n);
NS_API ns_verdict ns_options_set_text(ns_simulate_options *options, const char *name,
                                      const char *text);
NS_API ns_verdict ns_options_set_texts(ns_simulate_options *options, const char *name,
                                       const char *const *texts, size_t n);
NS_API ns_verdict ns_options_set_progress(ns_simulate_options *options,
                                          int (*progress)(void *context, double fraction,
                                                          double t),
                                          void *context);
/* The i-th option that can be set by name, NULL behind the last; its type is "number",
 * "numbers", "text" or "texts". */
NS_API const char *ns_options_name(size_t i, const char **type, const char **help);

typedef struct ns_result ns_result;

NS_API ns_result *ns_simulate(ns_model *model, const ns_simulate_options *options);
NS_API void ns_result_close(ns_result *result);

NS_API ns_verdict ns_result_verdict(const ns_result *result);
/* Why it ended early or failed, in words; "" if it did not. */
NS_API const char *ns_result_reason(const ns_result *result);

/* Rows at the output times. */
NS_API size_t ns_result_rows(const ns_result *result);
NS_API const double *ns_result_times(const ns_result *result);
/* NULL if there is no value of this name, or no row. */
NS_API const double *ns_result_values(const ns_result *result, const char *name);
/* The same by number, as in ns_model_name(model, NS_VALUES, i). */
NS_API const double *ns_result_column(const ns_result *result, size_t i);
/* Of runs in quadruple precision (method "quad"): what the doubles lack; value + low has 106
 * bits.
 * NULL in double precision. */
NS_API const double *ns_result_low(const ns_result *result, size_t i);
/* Value at the end of the run, whatever the output times. */
NS_API double ns_result_final(const ns_result *result, const char *name);

NS_API size_t ns_result_events(const ns_result *result);
NS_API const char *ns_result_event_name(const ns_result *result, size_t event);
NS_API double ns_result_event_time(const ns_result *result, size_t event);
NS_API int ns_result_event_direction(const ns_result *result, size_t event); /* +1, -1 */
NS_API double ns_result_event_value(const ns_result *result, size_t event, const char *name);

/* energy_drift (nan where the energy is not conserved), energy_change (the same, conserved or
 * not), constraint.NAME (largest residual), invariant.NAME (largest relative drift),
 * t_end, steps, rejected, evaluations, seconds; nan if there is no such thing. */
NS_API double ns_result_diagnostic(const ns_result *result, const char *name);

/* Writes all rows to a file; the format follows from the extension.  What went wrong is said
 * by ns_result_error. */
NS_API ns_verdict ns_result_write(ns_result *result, const char *path);
NS_API const char *ns_result_error(const ns_result *result);

#ifdef __cplusplus
}
#endif

#endif
