#include "session/table.h"

#include <stdlib.h>
#include <string.h>

bool ns_table_reserve(ns_table *table, size_t rows)
{
    if (rows <= table->room)
        return true;
    size_t room = table->room ? table->room : 64;
    while (room < rows) {
        if (room > SIZE_MAX / 2)
            return false;
        room *= 2;
    }
    const size_t all = (size_t)table->columns + 1;
    if (room > SIZE_MAX / sizeof(double) / all)
        return false;
    double *memory = malloc(all * room * sizeof(double));
    if (!memory)
        return false;
    /* Columns lie one after the other, so that each can be handed out as one array. */
    if (table->rows) {
        memcpy(memory, table->t, table->rows * sizeof(double));
        for (uint32_t i = 0; i < table->columns; i++)
            memcpy(memory + (i + (size_t)1) * room, ns_table_column(table, i),
                   table->rows * sizeof(double));
    }
    free(table->t);
    table->t = memory;
    table->values = memory + room;
    table->room = room;
    return true;
}

bool ns_table_add(ns_table *table, double t, const double *row)
{
    if (table->rows == table->room && !ns_table_reserve(table, table->rows + 1))
        return false;
    table->t[table->rows] = t;
    for (uint32_t i = 0; i < table->columns; i++)
        table->values[i * table->room + table->rows] = row[i];
    table->rows++;
    return true;
}

const double *ns_table_column(const ns_table *table, uint32_t column)
{
    return table->values ? table->values + column * table->room : NULL;
}

void ns_table_row(const ns_table *table, size_t row, double *values)
{
    for (uint32_t i = 0; i < table->columns; i++)
        values[i] = table->values[i * table->room + row];
}

size_t ns_table_bytes(const ns_table *table)
{
    return table->rows * ((size_t)table->columns + 1) * sizeof(double);
}

void ns_table_free(ns_table *table)
{
    free(table->t);
    *table = (ns_table){.columns = table->columns};
}
