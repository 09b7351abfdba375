/* What a model file says, names resolved and expressions on the graph: the editable artefact
 * between the language and the formulations.  Vectors and matrices are already taken apart into
 * scalar expressions; user functions are expanded; units are factors (SI).
 *
 * Everything lives in one arena and is borrowed by the system derived from it. */
#ifndef NS_LANG_DESCRIPTION_H
#define NS_LANG_DESCRIPTION_H

#include "base/diag.h"
#include "base/status.h"
#include "expr/graph.h"
#include "lang/grammar.h"

/* A matrix of expressions by rows; scalars are 1 x 1, vectors n x 1. */
typedef struct ns_value {
    uint32_t rows, cols;
    const ns_ex *at;
} ns_value;

typedef struct ns_param {
    const char *name;
    ns_ex symbol; /* NS_SYM_PARAM, index = position in the list */
    ns_ex value;  /* in terms of parameters before it; replaced by --set */
    const char *unit;
    bool set; /* by --set */
    ns_span span;
} ns_param;

/* input NAME ...: see lang/inputs/input.c.  A table has the parameters NAME.at, NAME.c0 ...
 * one after another from `param` on; others the parameter itself, or none. */
#define NS_INPUT_NO_PARAM UINT32_MAX /* a function of time */
typedef struct ns_input {
    const char *name, *unit;
    uint32_t param;
    const char *file, *column; /* of a table; column NULL: of the input's own name */
    bool outside;              /* the file is named outside the model */
    uint32_t order;            /* of its polynomials: 0, 1, 3 */
    bool sampled;
    ns_ex period, sample; /* of parameters; of anything, when reading is finished */
    ns_span span, file_span;
} ns_input;

/* A coordinate with its derivatives as symbols of their own (index = position in the list). */
typedef struct ns_coordinate {
    const char *name;
    ns_ex q, v, a;    /* NS_SYM_COORD, NS_SYM_VELOCITY (name'), NS_SYM_ACCEL (name'') */
    const char *unit; /* "" if not said */
    ns_span span;
} ns_coordinate;

/* state x' = f : a component of a first-order system */
typedef struct ns_state_line {
    const char *name;
    ns_ex symbol, derivative; /* NS_SYM_STATE; the right-hand side */
    const char *unit;
    ns_span span;
} ns_state_line;

/* constraint NAME: left = right, one entry per scalar row; residual = left - right.  A vector
 * constraint NAME of m rows has rows NAME.1 ... NAME.m. */
typedef struct ns_constraint_line {
    const char *name;
    ns_ex residual;
    ns_span span;
} ns_constraint_line;

/* force on the coordinate `coordinate` (index) */
typedef struct ns_force_line {
    uint32_t coordinate;
    ns_ex value;
    ns_span span;
} ns_force_line;

/* start { NAME = EXPR } : sets a coordinate, velocity or state; `guess` if it may be changed
 * to meet the constraints (written  NAME ~ EXPR). */
typedef struct ns_start_line {
    ns_ex symbol;
    ns_ex value; /* may use parameters only */
    bool guess;
    ns_span span;
} ns_start_line;

/* observe NAME [in UNIT] = EXPR, invariant NAME = EXPR */
typedef struct ns_named_line {
    const char *name;
    ns_ex value; /* already divided by the unit's factor */
    const char *unit;
    ns_span span;
} ns_named_line;

typedef enum ns_event_action {
    NS_EVENT_RECORD,
    NS_EVENT_STOP,
    NS_EVENT_WARN,    /* recorded, and said in the summary in the words of `meaning` */
    NS_EVENT_SINGULAR /* stops with status NS_STOP_SINGULAR; made by formulations only */
} ns_event_action;

/* What an event does to the motion: it changes states and the mode, see mech/system.h. */
typedef struct ns_reset {
    uint32_t state;
    ns_ex value; /* after the jump, in terms of time and states before it */
} ns_reset;

/* A mode to go on in, taken if all needs are > 0.  They are in terms of time and states after
 * the resets; mode values in them are those of the mode they lead to. */
typedef struct ns_way {
    uint32_t mode;
    NS_LIST(ns_ex) needs;
} ns_way;

struct ns_system;
typedef struct ns_jump {
    uint64_t in;              /* bit k: watched in mode k; 0: in all */
    NS_LIST(ns_reset) resets; /* simultaneous: all values are of the state before */
    /* the first whose needs hold is taken; empty: the mode stays.  If none holds the run ends
     * and says so in the words of the event's `meaning`. */
    NS_LIST(ns_way) ways;
    /* Where jumps of this event accumulate, the motion goes on after these; both empty: the run
     * ends there, with that time. */
    NS_LIST(ns_reset) rest_resets;
    NS_LIST(ns_way) rest;
    /* Beside the resets, where they need an iteration: changes x, which has the resets done, in
     * double precision.  `s`: of the mode before.  False: there is no such jump, the run ends.
     * Called by several threads at once, so it must not use the system's arena.  May be
     * NULL. */
    bool (*call)(const struct ns_system *s, uint32_t event, double t, const double *p,
                 double *x);
} ns_jump;

/* A symbol that stands for another expression in each mode. */
typedef struct ns_mode_value {
    ns_ex symbol;
    const ns_ex *value; /* [modes] they may contain mode values made before */
} ns_mode_value;

/* A line between the braces of an event; the system makes a jump of them. */
typedef struct ns_change_line {
    const char *state; /* as written, with primes: omega, q'; NULL: it leads to a mode */
    uint32_t mode;
    ns_value value; /* of the state, or what must be > 0 for the mode; no rows: nothing */
    bool rest;      /* where the jumps accumulate */
    ns_span span;
} ns_change_line;

typedef struct ns_event_line {
    const char *name;
    ns_ex value;    /* the event is a zero crossing of this */
    int direction;  /* +1 rising, -1 falling, 0 both */
    bool condition; /* happens also at the start, if the value is beyond zero there already */
    ns_event_action action;
    bool asked;          /* the model says `stop`: a motion that ends here is done */
    const char *meaning; /* in words, NULL if none */
    bool watched;        /* found by other means than zeros of `value` */
    bool off;            /* listed, but not looked for (in this mode) */
    bool internal;       /* a jump of the formulation's own use: not told about */
    const ns_change_line *changes;
    uint32_t n_changes;
    uint64_t in;   /* modes it belongs to, bit k for mode k; 0: all */
    ns_jump *jump; /* NULL: the motion goes on as it was */
    ns_span span;
} ns_event_line;

/* A setting of the run { } block: a number or a word, of the kind that its form asks for. */
typedef struct ns_setting {
    const ns_setting_form *form;
    const char *word; /* NULL if it is a number */
    ns_ex value;      /* 0 if it is a word; may use parameters */
    ns_span span;     /* of the value */
} ns_setting;

/* A generic block for formulations:  KEYWORD [NAME] [KIND(ARGS)] { PROPERTY VALUE, ...; ... }.
 * The language checks its shape, the formulation its content.  Also in this form:
 *   solve augmented(kappa2 = 0.02)   named arguments are properties
 *   start { roll 0.5 deg }           a block "start" with what sets no coordinate or state
 *   force S.tip = [0, 0, 1]          a block "force" with what acts on no coordinate
 *   constraint e: keep energy        a block "constraint", kind "keep", argument word "energy"
 *   constraint j: revolute(A, B)     the same for a word that is not a function
 * While names of its value are unknown (see ns_description_define) a property has neither word
 * nor values. */
typedef struct ns_property {
    const char *name; /* with its primes: omega' */
    const char *word; /* value WORD or WORD(VALUES) of a word not known as a name; or text */
    const ns_value *value; /* values, in order */
    uint32_t values;
    bool assigned; /* written NAME = VALUE, or NAME ~ VALUE if guess */
    bool guess;
    ns_span span, value_span;
} ns_property;

typedef struct ns_block {
    const ns_block_form *form;
    const char *name, *kind; /* may be NULL */
    const ns_value *args;
    /* [nargs]: an argument that is not a known name, or the bare name of a block; else NULL */
    const char *const *arg_words;
    const ns_span *arg_spans; /* [nargs] */
    uint32_t nargs;
    NS_LIST(ns_property) properties;
    ns_span span, name_span, kind_span;
} ns_block;

/* A line of a draw { } block:  [NAME:] KIND VALUE, ..., OPTION = VALUE, ...  The language
 * checks its shape, mech/draw/draw.c its content. */
typedef struct ns_draw_value {
    const char *option; /* NULL: one of the values in order */
    const char *word;   /* text, or a word that is no known name; then there is no value */
    ns_value value;
    ns_span span, option_span;
} ns_draw_value;

typedef struct ns_draw_line {
    const char *view;        /* the word after `draw`, NULL if there is none */
    const char *name, *kind; /* name may be NULL */
    ns_draw_value *values;
    uint32_t n;
    ns_span span, view_span; /* span: of the kind */
} ns_draw_line;

/* let f(x, y) = ..., surface G(x, y, z) = ... */
typedef struct ns_function {
    const char *name;
    uint32_t arity;
    bool surface;
    ns_span span;
} ns_function;

typedef struct ns_description {
    ns_arena *arena;
    ns_graph *graph;
    ns_diag *diag;
    const char *file, *text; /* the model's source */
    const char *title;       /* file name if not given */
    const char *formulation; /* NULL if not said */
    ns_span formulation_span, whole;
    ns_ex time;
    ns_ex lagrangian; /* 0 if there is none */
    ns_span lagrangian_span;
    NS_LIST(ns_param) params;
    NS_LIST(ns_input) inputs;
    NS_LIST(ns_coordinate) coordinates;
    NS_LIST(ns_state_line) states;
    NS_LIST(ns_constraint_line) constraints;
    NS_LIST(ns_force_line) forces;
    NS_LIST(ns_start_line) starts;
    NS_LIST(ns_named_line) observes;
    NS_LIST(ns_named_line) invariants;
    NS_LIST(ns_event_line) events;
    NS_LIST(ns_setting) settings;
    NS_LIST(ns_block) blocks;
    NS_LIST(ns_draw_line) draws;
    NS_LIST(ns_function) functions;
    NS_LIST(const char *) modes; /* `mode` lines; empty: there is one, without a name */
    NS_LIST(ns_mode_value) mode_values;
    uint32_t start_mode; /* number + 1 of the one that `start { mode NAME }` says; 0: none */
    bool precise; /* to be run in quadruple precision: what is iterated takes more rounds */
    struct ns_reader *reader; /* of lang/: parsed statements that wait for names */
} ns_description;

typedef struct ns_override {
    const char *name, *expression; /* --set NAME=EXPR */
} ns_override;

/* Reads model text.  NULL if it has errors (they are in diag, all of them, with places).  The
 * text is borrowed by the arena's owner for the life of the arena. */
ns_description *ns_description_read(ns_arena *arena, ns_diag *diag, const ns_grammar *grammar,
                                    const char *file, const char *text, size_t length,
                                    const ns_override *overrides, size_t n_overrides);
/* The same with numbers as ns_graph_shake makes them. */
ns_description *ns_description_read_shaken(ns_arena *arena, ns_diag *diag,
                                           const ns_grammar *grammar, const char *file,
                                           const char *text, size_t length,
                                           const ns_override *overrides, size_t n_overrides);

/* Names that a formulation adds to those of the model: energy, lambda.blade, omega (a vector;
 * omega.x, .y, .z then exist too).  Names the model has already keep their meaning.  If values
 * contain symbols of the formulation's own, x' works for a symbol x where there is an entry
 * named x' as well.  The arrays are copied. */
typedef struct ns_scope_entry {
    const char *name;
    ns_value value;
    ns_ex
        rate_of; /* a symbol whose time derivative the value is, whatever the symbol is called;
                  * or 0 */
    const char *unit; /* of SI; NULL or "": not known */
    const char *axes; /* letters of the components in their order; NULL: x, y, z */
} ns_scope_entry;

/* For formulations whose blocks define names that the rest of the model uses (body S gives
 * S.position, particle P gives P).  Until this call, statements and properties that mention
 * them are not in the description's lists; they are afterwards, in the order of the text.
 * Coordinates that the formulation adds to the list of coordinates count as moving.  False
 * after errors. */
bool ns_description_define(ns_description *d, const ns_scope_entry *entries, uint32_t n);

/* The same for some of the names: others may follow, by ns_description_define. */
bool ns_description_offer(ns_description *d, const ns_scope_entry *entries, uint32_t n);

/* The same for reactions, lambda.NAME and NAME.force, which are known after all others: forces
 * that mention them wait for this call. */
bool ns_description_reactions(ns_description *d, const ns_scope_entry *entries, uint32_t n);
bool ns_description_awaits_reactions(const ns_description *d); /* does a force? */

/* Ends the reading: all names are known now.  Fills observes, invariants and events (empty
 * before) and the values of draws, whose expressions may use the entries, accelerations and
 * names of observes.  False after errors, among them names still undefined. */
bool ns_description_finish(ns_description *d, const ns_scope_entry *entries, uint32_t n);

/* The value of an expression given as text, in the scope of the model.  `name` is what messages
 * call the text.  False after errors. */
bool ns_description_evaluate(ns_description *d, const char *name, const char *text,
                             ns_value *out);

/* Is a number what the setting asks for?  Reading has checked it for the parameters as they are
 * set; this is for other ones.  False after a message. */
bool ns_description_setting(ns_diag *diag, const ns_setting *setting, double value);

/* A function of the model applied to n numbers; messages point to `place`. */
bool ns_description_call(ns_description *d, const char *function, const ns_ex *args, uint32_t n,
                         ns_span place, ns_value *out);

/* Where a name of this many bytes is defined, and as what ("a parameter"); for a part of a body
 * (S.omega) the body.  False if the text does not define it. */
bool ns_description_place(const ns_description *d, const char *name, size_t length,
                          ns_span *place, const char **kind);

/* The model's parameter of this name, which a formulation uses by itself (g) in this unit; 0 if
 * it has none. */
ns_ex ns_description_param(ns_description *d, const char *name, const char *unit);

/* The name of the model nearest to a misspelt one, NULL if none is near. */
/* A hash of the values in files that functions of the model go through, which its text does not
 * hold; 0 if there are none. */
uint64_t ns_description_tables(const ns_description *d);

const char *ns_description_nearest(const ns_description *d, const char *name);

#endif
