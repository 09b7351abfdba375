/* The matrices of linear models by name, and in files. */
#ifndef NS_COMMAND_STUDIES_MATRICES_H
#define NS_COMMAND_STUDIES_MATRICES_H

#include "study/control/linearise.h"

/* Linear models of one system at one or several times, perhaps with a regulator. */
typedef struct ns_linear_set {
    ns_arena *arena;
    ns_linear_model **at; /* [n] */
    uint32_t n;
    const ns_lqr *lqr; /* or NULL */
} ns_linear_set;

/* Rows and columns belong to states 'x', inputs 'u' or outputs 'y'. */
typedef struct ns_matrix {
    const char *name;
    char rows_are, columns_are;
    uint32_t rows, columns;
    const double *at;
} ns_matrix;

enum { NS_MATRICES = 6 };

/* A, B, C, D, and K, P of a regulator, at time number i; how many. */
uint32_t ns_matrices_of(const ns_linear_set *set, uint32_t i, ns_matrix m[NS_MATRICES]);
/* Name of a row or column. */
const char *ns_matrix_name(const ns_linear_model *l, char kind, uint32_t i);

/* Is the ending of a file name one that can be written: .m, .npz, .json? */
bool ns_matrices_know(const char *path);
/* 0 or an errno value. */
int ns_matrices_write(const ns_linear_set *set, const char *path);

#endif
