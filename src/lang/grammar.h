/* What the language reads without knowing what it means: the blocks of formulations and the
 * settings of `run`.  Those who use them declare them here, and hand the tables to
 * ns_description_read; mech/blocks.c and session/settings.c hold them. */
#ifndef NS_LANG_GRAMMAR_H
#define NS_LANG_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

/* The unit that a value must have, in SI: "kg*m^2"; "1" if it has none.  See
 * lang/dimension/agree.h. */
typedef struct ns_unit_of {
    const char *name, *unit;
} ns_unit_of;

typedef enum ns_part { NS_PART_NO, NS_PART_MAYBE, NS_PART_MUST } ns_part;

/* KEYWORD [NAME] [KIND(ARGUMENTS)] [{ PROPERTY VALUE; ... }] */
typedef struct ns_block_form {
    const char *keyword;
    ns_part name, kind, body; /* a lone word is the name if there must be one */
    bool values;              /* expressions directly after the keyword */
    const char *form, *help;  /* for people */
    const char *const
        *gives;        /* names it gives the rest of the model, ends with NULL; or NULL */
    bool velocities;   /* it names the velocities that the Lagrangian and constraints contain */
    const char *late;  /* blocks of this kind speak of the finished system, as observe does */
    const char *calls; /* the property whose value may be WORD(VALUES); or NULL */
    /* Units of properties by their names, of all arguments by the kind; what is in neither may
     * be anything.  Both end with a NULL name, or are NULL. */
    const ns_unit_of *units, *sizes;
    const char *points; /* the unit of assigned properties with other names; or NULL */
} ns_block_form;

/* Lines of the language's own statements that it cannot place itself become blocks too. */
extern const ns_block_form ns_block_start, ns_block_force, ns_block_constraint;

typedef enum ns_setting_kind {
    NS_SETTING_NUMBER,
    NS_SETTING_POSITIVE,
    NS_SETTING_FRACTION, /* between 0 and 1 */
    NS_SETTING_COUNT,    /* 1 or more */
    NS_SETTING_WORD,
    NS_SETTING_SWITCH, /* on or off */
} ns_setting_kind;

enum { NS_SETTING_TEXT = 300 };

typedef struct ns_setting_form {
    const char *name;
    ns_setting_kind kind;
    size_t place; /* for its owner: where the value goes */
    /* NS_SETTING_WORD: NULL if there is such a word, or else what to say, in `text`. */
    const char *(*wrong)(const char *word, char text[NS_SETTING_TEXT]);
    const char *unit; /* of a number; NULL: none */
} ns_setting_form;

typedef struct ns_grammar {
    const ns_block_form *const *blocks; /* ends with NULL */
    const ns_setting_form *settings;    /* ends with a NULL name */
} ns_grammar;

#endif
