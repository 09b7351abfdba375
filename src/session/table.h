/* A table of doubles that grows: a column of times and one column per quantity. */
#ifndef NS_SESSION_TABLE_H
#define NS_SESSION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ns_table {
    uint32_t columns;
    size_t rows, room;
    double *t;      /* [room] */
    double *values; /* [columns][room] */
} ns_table;

/* Adds a row; false if memory ran out (the table stays as it was). */
bool ns_table_add(ns_table *table, double t, const double *row);
/* Room for that many rows in all. */
bool ns_table_reserve(ns_table *table, size_t rows);
const double *ns_table_column(const ns_table *table, uint32_t column);
void ns_table_row(const ns_table *table, size_t row, double *values);
size_t ns_table_bytes(const ns_table *table); /* of the rows it has */
void ns_table_free(ns_table *table);

#endif
