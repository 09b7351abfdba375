/* Fields of CSV files. */
#ifndef NS_OUT_TABLES_CSV_H
#define NS_OUT_TABLES_CSV_H

#include <stdio.h>

/* A text, quoted if it would be misread otherwise; line breaks become blanks. */
void ns_csv_field(FILE *to, const char *text);
/* The shortest digits that read back the same. */
void ns_csv_number(FILE *to, double value);

#endif
