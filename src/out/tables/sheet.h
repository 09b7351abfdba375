/* Results of a study: facts with a name, and tables of named columns.  Written as CSV (the
 * first table), JSON or HDF5 (all), by the ending of the file name. */
#ifndef NS_OUT_TABLES_SHEET_H
#define NS_OUT_TABLES_SHEET_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"

typedef struct ns_sheet_column {
    const char *name, *unit;
    const double *number;    /* [rows], or NULL */
    const char *const *text; /* [rows], or NULL */
} ns_sheet_column;

typedef struct ns_sheet_table {
    const char *name;
    size_t rows;
    NS_LIST(ns_sheet_column) columns;
} ns_sheet_table;

typedef struct ns_sheet_fact {
    const char *name;
    const char *text; /* NULL: the number */
    double number;
} ns_sheet_fact;

typedef struct ns_sheet {
    ns_arena *arena;
    const char *study, *model;
    NS_LIST(ns_sheet_fact) facts;
    NS_LIST(ns_sheet_table *) tables;
} ns_sheet;

ns_sheet *ns_sheet_new(ns_arena *arena, const char *study, const char *model);
void ns_sheet_number(ns_sheet *sheet, const char *name, double value);
void ns_sheet_text(ns_sheet *sheet, const char *name, const char *text);
ns_sheet_table *ns_sheet_add(ns_sheet *sheet, const char *name, size_t rows);
/* Columns borrow their values. */
void ns_sheet_column_add(ns_sheet *sheet, ns_sheet_table *table, const char *name,
                         const char *unit, const double *values);
void ns_sheet_words_add(ns_sheet *sheet, ns_sheet_table *table, const char *name,
                        const char *const *words);

/* Columns to be filled: [rows], zero at first. */
double *ns_sheet_numbers(ns_sheet *sheet, ns_sheet_table *table, const char *name,
                         const char *unit);
const char **ns_sheet_words(ns_sheet *sheet, ns_sheet_table *table, const char *name);

void ns_sheet_json(const ns_sheet *sheet, ns_json *j);

/* Is the ending of a file name one that can be written (csv, json, h5, hdf5)? */
bool ns_sheet_knows(const char *path);
/* 0 or an errno value. */
int ns_sheet_write(const ns_sheet *sheet, const char *path);

#endif
