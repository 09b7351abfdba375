/* JSON that is read: a tree in an arena. */
#ifndef NS_CLI_LSP_TREE_H
#define NS_CLI_LSP_TREE_H

#include "base/arena.h"

typedef enum ns_lsp_tree_kind {
    NS_LSP_TREE_NULL,
    NS_LSP_TREE_BOOL,
    NS_LSP_TREE_NUMBER,
    NS_LSP_TREE_TEXT,
    NS_LSP_TREE_ARRAY,
    NS_LSP_TREE_OBJECT
} ns_lsp_tree_kind;

typedef struct ns_lsp_tree {
    ns_lsp_tree_kind kind;
    double number;    /* or a truth value */
    const char *text; /* UTF-8 */
    const char *key;  /* of a member */
    const char *raw;  /* the value as it stood in the text, for what is sent back */
    size_t raw_length;
    struct ns_lsp_tree *child, *next;
} ns_lsp_tree;

/* NULL if it is not JSON. */
const ns_lsp_tree *ns_lsp_tree_read(ns_arena *arena, const char *text, size_t length);

/* A member by its path "params.position.line"; NULL if there is none. */
const ns_lsp_tree *ns_lsp_tree_at(const ns_lsp_tree *tree, const char *path);
const char *ns_lsp_tree_text(const ns_lsp_tree *tree,
                             const char *path);                       /* "" if there is none */
double ns_lsp_tree_number(const ns_lsp_tree *tree, const char *path); /* 0 if there is none */

#endif
