/* For files of lang/ alone: the memory of the reader, from parsing to the last late statement.
 *
 * Parsing turns every expression into code (postfix, a plain array) and every statement into a
 * job; elaboration runs the code on a stack of values on the graph.  Neither needs recursion
 * that follows the text: a sum of a million terms is a million items.  A job that needs names
 * that only the formulation knows stays undone and is taken up again by ns_description_define
 * and ns_description_finish. */
#ifndef NS_LANG_READER_H
#define NS_LANG_READER_H

#include "lang/description.h"
#include "lang/units.h"

/* ---- code -------------------------------------------------------------------------------- */

typedef enum ns_postfix_op {
    NS_POSTFIX_NUMBER,
    NS_POSTFIX_UNIT, /* multiplies the number before it */
    NS_POSTFIX_NAME,
    NS_POSTFIX_STRING, /* only in formulas: see formula.h */
    NS_POSTFIX_ADD,
    NS_POSTFIX_SUB,
    NS_POSTFIX_MUL,
    NS_POSTFIX_DIV,
    NS_POSTFIX_POW,
    NS_POSTFIX_NEG,
    NS_POSTFIX_PRIME,   /* time derivative */
    NS_POSTFIX_VECTOR,  /* of `count` elements */
    NS_POSTFIX_INDEX,   /* the value, then `count` indices */
    NS_POSTFIX_CALL,    /* `count` arguments; the place is that of the function's name */
    NS_POSTFIX_GRAD,    /* the same for grad(NAME)(...) */
    NS_POSTFIX_INTEGRAL /* and for integral(NAME)(from, to) */
} ns_postfix_op;

typedef struct ns_item {
    uint32_t begin, end; /* place in the source; also the text of names and numbers */
    uint32_t op : 8, count : 24;
} ns_item;

enum { NS_POSTFIX_MOST_COUNT = 1 << 20 };

typedef struct ns_postfix {
    const ns_item *at;
    uint32_t n;
    ns_span span; /* of the whole expression */
} ns_postfix;

/* ---- names ------------------------------------------------------------------------------- */

typedef enum ns_name_kind {
    NS_NAME_BUILTIN, /* t, pi */
    NS_NAME_PARAM,
    NS_NAME_COORDINATE,
    NS_NAME_STATE,
    NS_NAME_LET,
    NS_NAME_OBSERVE,
    NS_NAME_FUNCTION,
    NS_NAME_BLOCK, /* body S, particle P: stands for members the formulation will define */
    NS_NAME_ENTRY  /* defined by the formulation */
} ns_name_kind;

typedef enum ns_reading {
    NS_READ_WAITING,
    NS_READ_BUSY, /* being elaborated: meeting it again is a circle */
    NS_READ_DONE,
    NS_READ_BROKEN, /* an error was reported: no more words about it */
    NS_READ_LATE    /* needs a name that nobody has defined yet */
} ns_reading;

typedef struct ns_name {
    const char *text;
    ns_name_kind kind;
    uint32_t index; /* in the description's list of its kind */
    ns_span span;
    ns_reading progress;
    ns_postfix code;
    ns_value value;
    ns_span missing;            /* NS_READ_LATE: the name that was not found */
    const char *const *formals; /* functions */
    uint32_t arity;
    const struct ns_table *table;    /* of a function through measured values: table.c */
    const ns_ex *symbols, *gradient; /* for grad: formal variables, derivatives by them */
    bool used;
    const char *unit; /* that others know of: of entries, of parameters; NULL if none */
    const char *axes; /* of entries, see ns_scope_entry */
    const struct ns_agreed *agreed; /* its dimension, once that is known: walk.c */
    struct ns_name *next;           /* in its chain of the table */
} ns_name;

typedef struct ns_scope {
    ns_name **table; /* chained hash table, size a power of two */
    uint32_t size;
    NS_LIST(ns_name *) names;
} ns_scope;

/* ---- jobs -------------------------------------------------------------------------------- */

typedef enum ns_job_kind {
    NS_JOB_PARAM,
    NS_JOB_LET,
    NS_JOB_STATE,
    NS_JOB_LAGRANGIAN,
    NS_JOB_CONSTRAINT,
    NS_JOB_FORCE,
    NS_JOB_START,
    NS_JOB_SETTING,
    NS_JOB_BLOCK,    /* arguments of a block */
    NS_JOB_PROPERTY, /* one line of a block */
    NS_JOB_OBSERVE,  /* from here on: late statements */
    NS_JOB_INVARIANT,
    NS_JOB_EVENT,
    NS_JOB_SAMPLE, /* what an input is sampled from */
    NS_JOB_DRAW
} ns_job_kind;

/* A line of what an event changes: a state, or the mode. */
typedef struct ns_change {
    const char *name; /* of a state, with primes; NULL: a mode */
    const char *mode;
    uint32_t number; /* of the mode */
    bool rest, has_code;
    ns_span span;
    ns_postfix code; /* the value, or the condition */
    ns_value value;
} ns_change;

typedef struct ns_job {
    ns_job_kind kind;
    ns_reading progress;
    const char *name;
    ns_span span;    /* of the name, or of the whole */
    ns_name *target; /* what is being defined, if it has a name in the scope */
    const ns_postfix *code;
    uint32_t n; /* codes: right-hand side alone, or left and right */
    const ns_unit_product *unit;
    const char *unit_text;
    uint32_t primes;          /* start: x, x' */
    uint32_t block, property; /* indices */
    int direction;
    ns_event_action action;
    const char *meaning;
    ns_change *changes, *in; /* of events: what they change, the modes they belong to */
    uint32_t n_changes, n_in;
    uint64_t in_modes;
    bool jumps, guess;
    ns_value value;  /* the result, until all is published in the order of the text */
    ns_span missing; /* NS_READ_LATE: the name that was not found */
} ns_job;

/* ---- the reader -------------------------------------------------------------------------- */

typedef struct ns_call ns_call; /* remembered calls of functions: see evaluate.c */

/* A value while code runs: a matrix by rows; a scalar keeps its entry inside.  No rows: there
 * is no value (the reason was reported, or a name is still to come). */
typedef struct ns_cell {
    uint32_t rows, cols;
    ns_ex one;
    const ns_ex *at; /* NULL for scalars */
} ns_cell;

/* What is known about a node: see facts.c. */
typedef struct ns_fact_of {
    double value;
    uint32_t kinds;
    uint32_t params; /* the last parameter it depends on, counted from 1; 0 if none */
} ns_fact_of;

typedef struct ns_reader {
    ns_description *d;
    ns_arena *arena;
    ns_graph *g;
    ns_diag *diag;
    const ns_grammar *grammar;
    uint32_t source;
    const ns_override *overrides;
    size_t n_overrides;
    ns_scope scope;
    NS_LIST(ns_job) jobs;
    NS_LIST(ns_item) scratch; /* code of the expression being parsed */
    ns_scope reported;        /* undefined names already complained about */
    /* names with a space of their own */
    ns_scope constraints, observes, invariants, events, settings, starts, modes;
    NS_LIST(ns_change) changes; /* of the event being parsed */
    ns_change start_mode;
    uint32_t start_block, force_block; /* their numbers from 1; 0 if there is none */

    NS_LIST(ns_scope_entry) rates; /* entries that are time derivatives */
    struct ns_kept_rates {         /* see rate.c */
        ns_ex *d;                  /* [room] time derivative of a node, 0 where it vanishes */
        uint8_t *known;            /* [room] */
        uint32_t room, entries;
        bool finishing;
    } kept;
    NS_LIST(ns_fact_of) facts; /* by node */
    NS_LIST(ns_cell) stack;    /* of values while code runs */
    ns_call **calls;
    uint32_t calls_size, calls_n;
    uint64_t tables; /* hash of the values that functions go through; 0: there are none */
    uint64_t work;   /* operations done so far */
    bool exhausted;  /* the limit was reached and reported */
    uint32_t depth;  /* of definitions within definitions */
    bool strict;     /* names must be known now */
    bool defined;    /* names of blocks are known */
    bool reactions;  /* names of reactions are known */
    bool finishing;  /* all names of the formulation are known */
} ns_reader;

const char *ns_reader_text(const ns_reader *r, ns_span span); /* the source's bytes there */

/* ---- scope.c ----------------------------------------------------------------------------- */

ns_scope ns_scope_new(ns_arena *arena);
ns_name *ns_scope_find(const ns_scope *scope, const char *text, size_t length);
/* A new name; the caller has made sure that it is new. */
ns_name *ns_scope_add(ns_arena *arena, ns_scope *scope, const char *text, size_t length,
                      ns_name_kind kind, ns_span span);
/* The nearest name that is near enough to be meant, or NULL. */
const char *ns_scope_nearest(const ns_scope *scope, const char *text);
/* "a parameter", "a coordinate", ... */
const char *ns_scope_kind_text(ns_name_kind kind);
/* Is the part before the first dot the name of a block? */
bool ns_scope_is_member(const ns_reader *r, const char *text, size_t length);
/* Is it the name of a reaction: lambda.NAME, NAME.force, NAME.force.x? */
bool ns_scope_is_reaction(const char *text, size_t length);
/* May a name that is missing now still be defined?  Then it is no error to lack it. */
bool ns_scope_may_come(const ns_reader *r, ns_span missing);
/* Does it stand for a value, or a component of one? */
bool ns_scope_is_known(const ns_reader *r, const char *text, size_t length);
/* Complains about a name that nobody defined, once per name. */
void ns_scope_undefined(ns_reader *r, ns_span place, bool function);
/* The component that .x .y .z or .1 .2 .. at the end names, from 0 on; -1 if there is none.
 * *dot: where the part after the last dot begins; 0 if there is no dot. */
int ns_scope_component(const char *text, size_t length, size_t *dot);

/* ---- statements.c ------------------------------------------------------------------------ */

/* Parses the whole text into jobs and names (blocks: blocks.c). */
void ns_statements_parse(ns_reader *r, const char *text, size_t length);

/* ---- parser.c ---------------------------------------------------------------------------- */

/* Parses a text that is one expression (--set, command line).  False after an error. */
bool ns_parser_expression_text(ns_reader *r, uint32_t source, const char *text, size_t length,
                               ns_postfix *out);

static inline const ns_ex *ns_cell_at(const ns_cell *c)
{
    return c->at ? c->at : &c->one;
}

/* ---- arithmetic.c ------------------------------------------------------------------------ */

ns_cell ns_arithmetic_scalar(ns_ex e);
ns_cell ns_arithmetic_cell(ns_value value);
ns_value ns_arithmetic_value(ns_reader *r, const ns_cell *cell);
/* Room for a rows x cols result; *at is where its entries go. */
ns_cell ns_arithmetic_new(ns_reader *r, uint32_t rows, uint32_t cols, ns_ex **at);
/* "a number", "a vector of 3", "a 2 x 3 matrix" */
const char *ns_arithmetic_shape(ns_reader *r, const ns_cell *cell);
/* a op b for + - * / ^; no value after an error. */
ns_cell ns_arithmetic_binary(ns_reader *r, ns_span place, ns_postfix_op op, const ns_cell *a,
                             const ns_cell *b);
ns_cell ns_arithmetic_negate(ns_reader *r, const ns_cell *a);
ns_cell ns_arithmetic_vector(ns_reader *r, ns_span place, const ns_cell *elements, uint32_t n);
ns_cell ns_arithmetic_index(ns_reader *r, ns_span place, const ns_cell *a,
                            const ns_cell *indices, uint32_t n);
/* a - b where a zero number fits every size */
ns_cell ns_arithmetic_difference(ns_reader *r, ns_span place, const ns_cell *a,
                                 const ns_cell *b);
/* Complains about entries that are constants without a finite value. */
bool ns_arithmetic_check(ns_reader *r, ns_span place, const ns_cell *a);

/* ---- functions.c: also lang/functions.h -------------------------------------------------- */

/* A built-in function or an operation of the graph; *found says whether there is one. */
ns_cell ns_functions_apply(ns_reader *r, ns_span place, const ns_cell *args, uint32_t n,
                           bool *found);
bool ns_functions_is(const char *name, size_t length);
const char *ns_functions_nearest(const char *name);

/* ---- evaluate.c -------------------------------------------------------------------------- */

/* What running a code came to: NS_READ_DONE, NS_READ_BROKEN (an error was reported) or
 * NS_READ_LATE (a name may still be defined; `missing` is its place). */
typedef struct ns_evaluated {
    ns_reading progress;
    ns_span missing;
} ns_evaluated;

ns_evaluated ns_evaluate_code(ns_reader *r, const ns_postfix *code, ns_value *out);
/* A definition, elaborated when first needed: its progress is the answer. */
void ns_evaluate_name(ns_reader *r, ns_name *name);
/* A user's function applied to values; spreads vectors where that makes the number fit. */
ns_evaluated ns_evaluate_call(ns_reader *r, ns_name *function, ns_span place,
                              const ns_cell *args, uint32_t n, bool gradient, ns_cell *out);
/* functions.c: integral(F)(args).  False after an error; *outcome as of a call. */
bool ns_functions_integral(ns_reader *r, ns_name *function, ns_span place, const ns_cell *args,
                           uint32_t n, ns_evaluated *outcome, ns_cell *out);
/* How many values an item takes from the stack. */
uint32_t ns_evaluate_taken(const ns_item *item);
/* Complains about all undefined names of a function that was never called. */
void ns_evaluate_check_names(ns_reader *r, const ns_name *function);
/* Adds to the work done; false when it is too much (said once). */
bool ns_evaluate_spend(ns_reader *r, ns_span place, uint64_t work);

/* ---- rate.c ------------------------------------------------------------------------------ */

/* Total time derivative along the motion. */
ns_evaluated ns_rate_of(ns_reader *r, ns_span place, const ns_cell *a, ns_cell *out);

/* ---- facts.c ----------------------------------------------------------------------------- */

/* Which kinds of symbols does e depend on?  Bits 1 << ns_symbol_kind. */
uint32_t ns_facts_kinds(ns_reader *r, ns_ex e);
/* The last parameter it depends on, counted from 1; 0 if none. */
uint32_t ns_facts_last_param(ns_reader *r, ns_ex e);
/* Value of e if it depends on parameters at most, by their present values; nan if on more. */
double ns_facts_value(ns_reader *r, ns_ex e);
/* Is e without any symbol?  Then its value. */
bool ns_facts_constant(ns_reader *r, ns_ex e, double *value);
/* The present value of a parameter has become known. */
void ns_facts_set(ns_reader *r, ns_ex symbol, double value);

/* ---- elaborate.c ------------------------------------------------------------------------- */

/* Does all jobs that can be done with the names known by now, and fills the lists of the
 * description with the results. */
void ns_elaborate_jobs(ns_reader *r);
/* Is it a single word that is not a value: a function, or unknown (for good)? */
bool ns_elaborate_is_word(ns_reader *r, const ns_postfix *code, const char **word);

/* ---- table.c ----------------------------------------------------------------------------- */

/* The value of a function that is a table.  False after an error. */
bool ns_table_call(ns_reader *r, const ns_name *function, ns_span place, const ns_cell *args,
                   ns_cell *out);

/* ---- input.c ----------------------------------------------------------------------------- */

void ns_input_elaborate(ns_reader *r, ns_job *job);

/* ---- jumps.c ----------------------------------------------------------------------------- */

/* All modes are known; the mode at the start; what an event changes. */
void ns_jumps_modes(ns_reader *r);
void ns_jumps_start(ns_reader *r);
bool ns_jumps_elaborate(ns_reader *r, ns_job *job);

/* ---- draw.c ------------------------------------------------------------------------------ */

void ns_draw_elaborate(ns_reader *r, ns_job *job);

#endif
