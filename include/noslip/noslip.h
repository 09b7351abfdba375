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
 * docs/library.md is the guide.  What there is:
 *
 *     ns_model        a model that was read and derived; variants of it with other numbers
 *     ns_calculator     rates, Jacobians, values, ... at points (t, x, p) of your choice
 *     ns_result       a whole run, from beginning to end: what `noslip run` does
 *     ns_simulation   a run in the caller's hands: step, look, change, go on
 *     ns_batch        many runs at once: what `noslip sweep` does
 *     ns_study        equilibria, sections, exponents, ...: all other commands
 *
 * The library never prints, never ends the process and writes only files it was asked for.
 * Strings and arrays that functions return belong to the object they come from and live as
 * long as it does, or until the next call that says so.  Functions that make objects return
 * NULL only when memory ran out; all that take objects accept NULL and then answer with
 * NS_FAILED, "", 0 or nan.  Names (const char *) must not be NULL unless a comment says so.
 *
 * Threads: a model may be used by any number of threads at once; every other object by one at
 * a time.
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

/* The version, "0.1.0". */
NS_API const char *ns_version(void);

/* How something ended; also the exit status of the program `noslip`. */
typedef enum ns_verdict {
    NS_DONE = 0,    /* also if an event that the model declares with `stop` ended it */
    NS_STOPPED = 1, /* the motion ended early; everything up to then is good */
    NS_WRONG = 2,   /* the model or the request is wrong */
    NS_FAILED = 3   /* the system failed: memory, disk */
} ns_verdict;

/* The i-th name of a list, NULL after the last (or if there is no such list):
 *     "gallery"       bundled models
 *     "methods"       integration methods
 *     "formulations"  ways to equations
 *     "quantities"    what ns_calculator_new takes
 *     "formats"       what ns_result_bytes takes
 *     "equations"     what ns_model_equations takes
 *     "studies"       what ns_study_run takes
 *     "lists"         these names
 * *summary is set to one line about it, "" if there is none; it may be NULL. */
NS_API const char *ns_list(const char *list, size_t i, const char **summary);
/* The text of a bundled model; NULL if there is none of this name. */
NS_API const char *ns_gallery_text(const char *name);

/* Progress: called about ten times a second, with the part that is done (0 to 1) and the time
 * of the motion, or what else is counted.  The work stops when it does not return 0. */
typedef int (*ns_progress_function)(void *context, double fraction, double at);

/* ---- models --------------------------------------------------------------------------------
 * A model is read, derived and checked when it is opened; afterwards it does not change and
 * may be used by several threads at once. */
typedef struct ns_model ns_model;

/* From a file, with n parameters set to expressions: names[i] = expressions[i] ("m", "2
 * kg").  With n = 0 both may be NULL. */
NS_API ns_model *ns_model_open(const char *path, const char *const *names,
                               const char *const *expressions, size_t n);
/* From text; `name` stands for the file in messages. */
NS_API ns_model *ns_model_open_text(const char *name, const char *text,
                                    const char *const *names, const char *const *expressions,
                                    size_t n);
/* A bundled model. */
NS_API ns_model *ns_model_open_gallery(const char *name, const char *const *names,
                                       const char *const *expressions, size_t n);
/* As the command line finds it: a file if there is one, otherwise a bundled model. */
NS_API ns_model *ns_model_find(const char *name, const char *const *names,
                               const char *const *expressions, size_t n);

/* The same model with other numbers, without reading or deriving it again.  Names are
 * parameters, states, or velocities that a start may give; values are expressions ("2 kg",
 * "m/4") in parameters, or numbers.  What depends on a parameter changes with it, and the rest
 * of the start is made consistent with what is set.  The variant counts as a model of its own;
 * either may be closed first.  Of a variant: its numbers are kept unless they are set anew. */
NS_API ns_model *ns_model_variant(ns_model *model, const char *const *names,
                                  const char *const *expressions, size_t n);
NS_API ns_model *ns_model_variant_numbers(ns_model *model, const char *const *names,
                                          const double *values, size_t n);

/* A model of its own with the numbers of this one and with derivatives of its motion among its
 * values: `omega.z by a` beside `omega.z`, for parameters a, states (their value at the start)
 * or `start` (all states), separated by commas; `E.t by a` at an occurrence of the event E is
 * the derivative of its time.  Its states are those of the model, then the deviations. */
NS_API ns_model *ns_model_sensitivities(const ns_model *model, const char *names);

/* No result, quantity, simulation, batch or study of the model may be in use any more. */
NS_API void ns_model_close(ns_model *model);

NS_API ns_verdict ns_model_verdict(const ns_model *model);
/* Errors and warnings with their places, as a compiler prints them, lines end with a newline;
 * "" if there are none. */
NS_API const char *ns_model_messages(const ns_model *model);
/* The same as data: how many messages, and the text of one ("" if there is none).  Where the
 * pointers are not NULL: severity "error", "warning" or "note"; the file, line and column
 * (from 1, in characters) and length in bytes of its place, "" and 0 if it has none; the end
 * of the text that says what to do ("did you mean 'x'?"), "" if there is none. */
NS_API size_t ns_model_message_count(const ns_model *model);
NS_API const char *ns_model_message(const ns_model *model, size_t i, const char **severity,
                                    const char **file, unsigned *line, unsigned *column,
                                    unsigned *length, const char **hint);
NS_API const char *ns_model_title(const ns_model *model);
/* File name or name, as given; the text it was read from. */
NS_API const char *ns_model_source(const ns_model *model);
NS_API const char *ns_model_text(const ns_model *model);
NS_API const char *ns_model_formulation(const ns_model *model);

/* What a model has, by kind and number.  Counts are 0 unless the verdict is NS_DONE. */
typedef enum ns_kind {
    NS_PARAMETERS = 0,
    NS_STATES = 1,
    NS_VALUES = 2, /* all that a run records: coordinates, velocities, energy, ... */
    NS_CONSTRAINTS = 3,
    NS_INVARIANTS = 4,
    NS_EVENTS = 5,
    NS_INPUTS = 6 /* "given" ones a simulation may change; others follow what the model says */
} ns_kind;

NS_API size_t ns_model_count(const ns_model *model, ns_kind kind);
/* "" after the last. */
NS_API const char *ns_model_name(const ns_model *model, ns_kind kind, size_t i);
/* The number of a name, -1 if there is none. */
NS_API long ns_model_index(const ns_model *model, ns_kind kind, const char *name);
/* "" where none is known */
NS_API const char *ns_model_unit(const ns_model *model, ns_kind kind, size_t i);
/* Parameters: the value; states: the value at the start; nan for the rest. */
NS_API double ns_model_number(const ns_model *model, ns_kind kind, size_t i);
/* All of them at once: parameters or states, the first n, into numbers[n]; how many there
 * are. */
NS_API size_t ns_model_numbers(const ns_model *model, ns_kind kind, double *numbers, size_t n);
/* What a state or value is: "coordinate", "velocity", "quaternion", "angular velocity",
 * "force", "energy", ...; "" for the rest. */
NS_API const char *ns_model_quantity(const ns_model *model, ns_kind kind, size_t i);
/* What role it plays: states what ns_model_quantity says; parameters "given" or
 * "derived" (from others); values "basic" (shown by default) or "more"; constraints
 * "projected" or "watched"; events "record", "stop", "warn" or "singular". */
NS_API const char *ns_model_role(const ns_model *model, ns_kind kind, size_t i);
/* Numbers of the components of a vector of states, values or parameters: of "omega" those of
 * omega.x, omega.y, omega.z, of "quat" those of quat.w, .x, .y, .z; of any other name
 * its own.  At most `room` go to numbers; how many there are, 0 if there is no such name. */
NS_API size_t ns_model_vector(const ns_model *model, ns_kind kind, const char *name,
                              size_t *numbers, size_t room);
/* The name of the vector that a state or value is a component of ("omega" of omega.x), cut off
 * to fit into name[room]; its length, 0 if there is none. */
NS_API size_t ns_model_vector_of(const ns_model *model, ns_kind kind, size_t i, char *name,
                                 size_t room);

/* What the run block of the model says: from, until, tolerance, every, step, first_step,
 * max_step, max_steps; nan if it says nothing (from: 0). */
NS_API double ns_model_setting(const ns_model *model, const char *name);

/* The derived equations as "text" (which the model language reads), "latex" (a document),
 * "mathml" (a fragment of HTML) or "c" (a program of its own).  The text belongs to the caller,
 * see ns_free; NULL if there is no such form or the model is wrong. */
NS_API char *ns_model_equations(ns_model *model, const char *form);

/* For memory that a function said belongs to the caller. */
NS_API void ns_free(void *memory);

/* ---- quantities ----------------------------------------------------------------------------
 * Functions of time, state and parameters, exact and at full speed, for solvers and controllers
 * of one's own:
 *
 *     "rates"                  x'                              [states]
 *     "jacobian"               of the rates by the states      [states][states]
 *     "parameter jacobian"     of the rates by the parameters  [states][parameters]
 *     "residuals"              of the constraints              [constraints]
 *     "residual jacobian"      of these by the states          [constraints][states]
 *     "values"                 all that a run records          [values]
 *     "energy"                 energy, kinetic energy          [2], nan without
 *     "invariants"                                             [invariants]
 *     "events"                 whose zeros are the events      [events]
 *
 * Parameters are independent of each other here: one that is computed from others in the model
 * is an input like them.  Outside of the domain of a function the outputs are inf or nan. */
typedef struct ns_calculator ns_calculator;

NS_API ns_calculator *ns_calculator_new(ns_model *model, const char *what);
NS_API void ns_calculator_close(ns_calculator *calculator);
/* NS_WRONG if there is no such quantity, or the model is wrong. */
NS_API ns_verdict ns_calculator_verdict(const ns_calculator *calculator);
/* Its shape; a vector has one column. */
NS_API size_t ns_calculator_rows(const ns_calculator *calculator);
NS_API size_t ns_calculator_columns(const ns_calculator *calculator);
/* At `points` points: out[points][rows][columns] from t[n_t], x[points][states] and
 * p[n_p][parameters], one after the other in memory.  n_t and n_p are `points`, 1 (the same for
 * all) or 0 (that of the model; the array may be NULL). */
NS_API ns_verdict ns_calculator_eval(ns_calculator *calculator, size_t points, const double *t,
                                     size_t n_t, const double *x, const double *p, size_t n_p,
                                     double *out);
/* Calls with enough points to take milliseconds are shared by threads: at most this many,
 * 0 for as many as processors (which is the default), at most 4096.  The bits are the same. */
NS_API ns_verdict ns_calculator_threads(ns_calculator *calculator, size_t threads);

/* ---- whole runs ------------------------------------------------------------------------- */

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
    ns_progress_function progress;   /* NULL: none */
    void *context;                   /* of progress */
    /* from 0.2 on */
    const char *engine; /* "interpreter", "native", "auto"; NULL: auto, native where it pays */
    double first_step;  /* 0: not said */
    double least_size;  /* smaller states are measured by this; 0: each by its own size */
    int digits;         /* how many digits are right: 1 by other runs, 2 by quadruple
                         * precision; 0: not asked */
    int trust;          /* how far the trajectory can be trusted: 1; 0: not asked */
    int motion;         /* keep the motion, for pictures and reports: 1; 0: no */
    int periodic;       /* find the period and build the motion from it: 1; 0: no */
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
                                          ns_progress_function progress, void *context);
/* The i-th option that can be set by name, NULL after the last; its type is "number",
 * "numbers", "text" or "texts". */
NS_API const char *ns_options_name(size_t i, const char **type, const char **help);

typedef struct ns_result ns_result;

/* Runs the model from beginning to end.  Options may be NULL. */
NS_API ns_result *ns_simulate(ns_model *model, const ns_simulate_options *options);
NS_API void ns_result_close(ns_result *result);

NS_API ns_verdict ns_result_verdict(const ns_result *result);
/* Why it ended early or failed, in words; "" if it did not. */
NS_API const char *ns_result_reason(const ns_result *result);
/* The method that was used; where "auto" chose it, *why is set to the reason, otherwise to "".
 * why may be NULL. */
NS_API const char *ns_result_method(const ns_result *result, const char **why);
/* Did it run on native code?  If not and it was asked for, *why says why; may be NULL. */
NS_API int ns_result_native(const ns_result *result, const char **why);

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
/* The state at the end of the run into x[states]; NS_WRONG if there was no run. */
NS_API ns_verdict ns_result_state(const ns_result *result, double *x);

NS_API size_t ns_result_events(const ns_result *result);
NS_API const char *ns_result_event_name(const ns_result *result, size_t event);
NS_API double ns_result_event_time(const ns_result *result, size_t event);
NS_API int ns_result_event_direction(const ns_result *result, size_t event); /* +1, -1 */
NS_API double ns_result_event_value(const ns_result *result, size_t event, const char *name);

/* Of models with modes: the stretches between changes of the mode, when each begins and what
 * the mode is called.  None for others. */
NS_API size_t ns_result_modes(const ns_result *result);
NS_API double ns_result_mode_time(const ns_result *result, size_t i);
NS_API const char *ns_result_mode_name(const ns_result *result, size_t i);

/* energy_drift (nan where the energy is not conserved), energy_change (the same, conserved or
 * not), constraint.NAME (largest residual), invariant.NAME (largest relative drift),
 * t_end, steps, rejected, evaluations, seconds; after `trust` trust.until, trust.largest,
 * trust.tenfold (docs/cli.md); after `periodic` period; nan if there is no such thing. */
NS_API double ns_result_diagnostic(const ns_result *result, const char *name);
/* Correct digits of value i at every row, -1 where they are not known; NULL unless the option
 * digits was set and could be answered (otherwise ns_result_error says why). */
NS_API const signed char *ns_result_digits(const ns_result *result, size_t i);
/* How far to trust the trajectory, in words; "" unless the option trust was set. */
NS_API const char *ns_result_trust(const ns_result *result);

/* Writes all rows to a file; the format follows from the extension: .h5, .csv, .json, and after
 * a run with the option motion .svg, .glb, .html (the report).  What went wrong is said by
 * ns_result_error. */
NS_API ns_verdict ns_result_write(ns_result *result, const char *path);
/* The same as bytes: "csv", "json", "h5", "svg", "glb", "html", "report" (the data of the
 * page alone, docs/report.md), "motion" (the same without the formulas, which no number
 * changes), "live" (a page whose sliders recompute; it is made of the
 * playground, which the environment variable NOSLIP_PLAYGROUND names unless it is installed
 * with the program).  They belong to the caller (ns_free), a zero byte after them; NULL with
 * ns_result_error if that is not possible. */
NS_API void *ns_result_bytes(ns_result *result, const char *format, size_t *length);
NS_API const char *ns_result_error(const ns_result *result);

/* ---- simulations: runs in the caller's hands ---------------------------------------------
 *
 *     ns_simulation *s = ns_simulation_new(model, NULL);
 *     for (int i = 1; i <= 1000 && ns_simulation_advance(s, 0.01 * i) == NS_DONE; i++)
 *         printf("%g\n", ns_simulation_value(s, "omega.z"));
 *     ns_simulation_close(s);
 *
 * The present time is where the last call left it; the integrator may be up to one step
 * ahead, and goes on from there unless something was changed.  Steps and bits are those of
 * ns_simulate with the same options. */
typedef struct ns_simulation ns_simulation;

/* Of the options those that say what to output are refused; without `until` there is no end. */
NS_API ns_simulation *ns_simulation_new(ns_model *model, const ns_simulate_options *options);
NS_API void ns_simulation_close(ns_simulation *simulation);
/* NS_STOPPED when the motion cannot go on, or an event stopped it. */
NS_API ns_verdict ns_simulation_verdict(const ns_simulation *simulation);
/* Why, in words: of this verdict, or of the last call that was wrong. */
NS_API const char *ns_simulation_reason(const ns_simulation *simulation);

/* One step of the method; the present time is its end. */
NS_API ns_verdict ns_simulation_step(ns_simulation *simulation);
/* To the time t exactly.  Back to a time inside the last step is possible too. */
NS_API ns_verdict ns_simulation_advance(ns_simulation *simulation, double t);
NS_API double ns_simulation_time(const ns_simulation *simulation);
/* Where the last step of the integrator began and ended. */
NS_API double ns_simulation_from(const ns_simulation *simulation);
NS_API double ns_simulation_reached(const ns_simulation *simulation);

/* The present state into x[states]; at a time inside the last step. */
NS_API ns_verdict ns_simulation_state(ns_simulation *simulation, double *x);
NS_API ns_verdict ns_simulation_state_at(ns_simulation *simulation, double t, double *x);
/* The present values into values[values]; one of them. */
NS_API ns_verdict ns_simulation_values(ns_simulation *simulation, double *values);
NS_API double ns_simulation_value(ns_simulation *simulation, const char *name);
/* Goes on from the time t with the state x[states]; `project`: from the nearest state at which
 * all constraints hold. */
NS_API ns_verdict ns_simulation_set_state(ns_simulation *simulation, double t, const double *x,
                                          int project);
/* Goes on from the present with other parameters p[parameters] (what depends on them is the
 * caller's affair), or with one of them changed, and all that depends on it. */
NS_API ns_verdict ns_simulation_set_parameters(ns_simulation *simulation, const double *p);
NS_API ns_verdict ns_simulation_set_parameter(ns_simulation *simulation, const char *name,
                                              double value);
NS_API double ns_simulation_parameter(const ns_simulation *simulation, const char *name);
/* The value of an input from now on; NS_WRONG if it follows a table, a controller or a function
 * of time, or if there is none of that name. */
NS_API ns_verdict ns_simulation_set_input(ns_simulation *simulation, const char *name,
                                          double value);

/* Events up to the present time that have not been asked for: the number of the event (as in
 * ns_model_name(model, NS_EVENTS, i)), -1 if there is none.  The time, direction (+1 or -1)
 * and state x[states] go where the pointers are not NULL. */
NS_API long ns_simulation_event(ns_simulation *simulation, double *t, int *direction,
                                double *x);
/* Or a function that is called for each, in their order, during step and advance; then
 * ns_simulation_event gives none.  If it does not return 0 the present time is that of the
 * event, and step or advance return.  NULL: none. */
typedef int (*ns_event_function)(void *context, size_t event, double t, int direction,
                                 const double *x);
NS_API ns_verdict ns_simulation_on_event(ns_simulation *simulation, ns_event_function function,
                                         void *context);

/* Bytes from which a simulation of the same model, with the same options, continues bit for
 * bit.  save returns how many there are, and fills bytes[room] if they fit. */
NS_API size_t ns_simulation_save(ns_simulation *simulation, void *bytes, size_t room);
NS_API ns_verdict ns_simulation_restore(ns_simulation *simulation, const void *bytes,
                                        size_t length);
/* Quality of the motion since it was last changed: names as ns_result_diagnostic. */
NS_API double ns_simulation_diagnostic(ns_simulation *simulation, const char *name);

/* ---- batches: many runs at once -----------------------------------------------------------
 *
 *     ns_batch *b = ns_batch_new(model);
 *     ns_batch_vary(b, "spin", spins, 10000);
 *     ns_batch_get(b, "omega.z");
 *     ns_batch_set_number(b, "until", 20);
 *     if (ns_batch_run(b) == NS_DONE)
 *         const double *last = ns_batch_column(b, "omega.z");
 *     ns_batch_close(b);
 *
 * The rows are the same to the bit as those of `noslip sweep`, whatever the number of threads
 * and lanes. */
typedef struct ns_batch ns_batch;

NS_API ns_batch *ns_batch_new(ns_model *model);
NS_API void ns_batch_close(ns_batch *batch);
/* Why the last call did not end with NS_DONE. */
NS_API const char *ns_batch_reason(const ns_batch *batch);

/* What varies: a parameter or a start by name with a value for each row (copied; all arrays
 * have one length), */
NS_API ns_verdict ns_batch_vary(ns_batch *batch, const char *name, const double *values,
                                size_t n);
/* or as `noslip sweep --over` ("spin=-8:8:100", "m=1:100:50:log") and --random
 * ("spin=normal(5, 0.1)"); limits are expressions of parameters ("m=m0/2:3 kg:50").  Not arrays
 * and these.  The last one varies fastest. */
NS_API ns_verdict ns_batch_over(ns_batch *batch, const char *axis);
NS_API ns_verdict ns_batch_random(ns_batch *batch, const char *axis);
/* What to record, as `noslip sweep --get` ("omega.z", "max(theta)", "E=energy@2",
 * "event(reversal)"); without, the basic values at the end and the energy drift. */
NS_API ns_verdict ns_batch_get(ns_batch *batch, const char *quantity);
/* until, tolerance, least_size, max_steps, threads (0: as many as processors), lanes (1, 2, 4,
 * 8; 0: as many as pay), alone (1: one motion after the other, to the bit what ns_simulate
 * gives), count, seed, sobol (of ns_batch_random); method, engine.  NS_WRONG for others. */
NS_API ns_verdict ns_batch_set_number(ns_batch *batch, const char *name, double value);
NS_API ns_verdict ns_batch_set_text(ns_batch *batch, const char *name, const char *text);
/* Called for each row when it is done, in any order but one at a time, with its number, its
 * columns and how it ended; the batch stops when it does not return 0.  `keep` 0: the rows are
 * not kept in memory, and there are no columns afterwards. */
typedef int (*ns_row_function)(void *context, size_t row, const double *columns,
                               ns_verdict verdict, const char *reason);
NS_API ns_verdict ns_batch_on_row(ns_batch *batch, ns_row_function function, void *context,
                                  int keep);
NS_API ns_verdict ns_batch_on_progress(ns_batch *batch, ns_progress_function progress,
                                       void *context);

/* Checks the request (the rows and columns are known after this), and runs.  NS_STOPPED if a
 * function wanted it to stop: rows that were done are there.  Rows that ended early do not make
 * it stop. */
NS_API ns_verdict ns_batch_prepare(ns_batch *batch);
NS_API ns_verdict ns_batch_run(ns_batch *batch);

NS_API size_t ns_batch_rows(const ns_batch *batch);
/* Columns: what varies, then what is recorded. */
NS_API size_t ns_batch_columns(const ns_batch *batch);
NS_API const char *ns_batch_column_name(const ns_batch *batch, size_t i);
NS_API const char *ns_batch_column_unit(const ns_batch *batch, size_t i);
/* [rows], nan for rows that are not done or did not come that far; NULL if there is none of
 * this name.  All of them: [rows][columns]. */
NS_API const double *ns_batch_column(ns_batch *batch, const char *name);
NS_API const double *ns_batch_values(const ns_batch *batch);
/* How a row ended: NS_FAILED if it was not done. */
NS_API ns_verdict ns_batch_verdict(const ns_batch *batch, size_t row);
NS_API const char *ns_batch_why(const ns_batch *batch, size_t row);

/* ---- studies -------------------------------------------------------------------------------
 * Everything else that the program does, by the name of its command: "equilibria", "section",
 * "period", "lyapunov", "invariants", "measure", "portrait", "compare", "check", "sweep"
 * (tables on disk, in parts and joined, with figure and page), "reproduce"; the list is
 * ns_list("studies", ...).  Options are those of the command line without the dashes: names[i]
 * = values[i], NULL or "" for those that take none; several of one name where the command line
 * takes several.  "reproduce" takes no model; claims are values of the empty name "".  So do
 * "new", "explain", "format" and "words", about texts of models: the summary is what the
 * program prints. */
typedef struct ns_study ns_study;

/* `other` is the second model of "compare", otherwise NULL.  progress may be NULL. */
NS_API ns_study *ns_study_run(ns_model *model, ns_model *other, const char *name,
                              const char *const *names, const char *const *values, size_t n,
                              ns_progress_function progress, void *context);
NS_API void ns_study_close(ns_study *study);
NS_API ns_verdict ns_study_verdict(const ns_study *study);
/* What is wrong, warnings and notes; "" if there are none. */
NS_API const char *ns_study_messages(const ns_study *study);
/* The summary that the program prints; the object of --json ("" if there is none). */
NS_API const char *ns_study_summary(const ns_study *study);
NS_API const char *ns_study_json(const ns_study *study);
/* The data of its page, as JSON: facts, tables and figures (docs/report.md); "" if there is
 * none. */
NS_API const char *ns_study_report(ns_study *study);

/* Facts: a name with a number or a text (then *text is not NULL).  "" after the last. */
NS_API size_t ns_study_fact_count(const ns_study *study);
NS_API const char *ns_study_fact(const ns_study *study, size_t i, double *number,
                                 const char **text);
/* One by name: its number, nan if there is none. */
NS_API double ns_study_fact_number(const ns_study *study, const char *name);

/* Tables of named columns: numbers[rows], or texts[rows]; the other is NULL. */
NS_API size_t ns_study_table_count(const ns_study *study);
NS_API const char *ns_study_table(const ns_study *study, size_t table, size_t *rows,
                                  size_t *columns);
NS_API const char *ns_study_column(const ns_study *study, size_t table, size_t column,
                                   const char **unit, const double **numbers,
                                   const char *const **texts);
/* Numbers of a column by names of table and column; NULL if there are none. */
NS_API const double *ns_study_numbers(const ns_study *study, const char *table,
                                      const char *column, size_t *rows);

/* Writes all of it to a file; the format follows from the extension: .csv (the first table),
 * .json, .h5, .svg (the figure), .html (a page).  NS_WRONG with ns_study_error if it cannot. */
NS_API ns_verdict ns_study_save(ns_study *study, const char *path);
NS_API const char *ns_study_error(const ns_study *study);

/* The options that a study takes: the i-th, NULL after the last; its argument ("T"), "" if it
 * takes none. */
NS_API const char *ns_study_option(const char *study, size_t i, const char **argument,
                                   const char **help);

#ifdef __cplusplus
}
#endif

#endif
