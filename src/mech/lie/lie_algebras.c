/* Lie algebras by name, as sums, or by a table of brackets.
 *
 *     algebra so(3) { inertia diag(A, B, C) }
 *     algebra sum { term so(3); term se(2) }
 *     algebra table(3) { bracket 1, 2, e3;  bracket 2, 3, e1;  bracket 3, 1, e2 }
 *     algebra table(3) { bracket 1, 2, 3, 1;  ... }          # c_12^3 = 1
 *
 * Bases
 *     so(3)          [e1, e2] = e3 and cyclic; E_a x = e_a x x
 *     so(n)          e_ij turns axis i towards axis j, i < j, in the order 12, 13, .., 23, ..
 *     se(2)          e1 turns, e2 and e3 shift: [e1, e2] = e3, [e1, e3] = -e2 (Bloch, Marsden
 *                    and Zenkov 2009, 6.2)
 *     se(3)          e1..e3 turn as in so(3), e4..e6 shift
 *     sl(2)          e1 = diag(1, -1), e2 and e3 the upper and lower corner:
 *                    [e1, e2] = 2 e2, [e1, e3] = -2 e3, [e2, e3] = e1
 *     heisenberg(k)  [e_i, e_(k+i)] = e_(2k+1), i = 1 .. k
 *     R(n)           no brackets; as a matrix group the shifts of n-space
 *
 * The brackets of the named ones are computed from their matrices, so that both agree. */
#include <math.h>
#include <string.h>

#include "expr/eval.h"
#include "mech/common/block.h"
#include "mech/lie/lie.h"

enum { MOST = 64 }; /* dimension: n^3 structure constants are kept */

/* ---- named algebras: matrices ------------------------------------------------------------ */

typedef struct named {
    const char *word, *usage;
    ns_lie_kind kind;
    int least, most; /* argument; 0, 0: none */
    int otherwise;   /* argument if there is none; 0: it is needed */
    uint32_t (*dimension)(uint32_t k);
    uint32_t (*size)(uint32_t k);
    /* entry (i, j) of the matrix of basis vector b */
    int (*entry)(uint32_t k, uint32_t b, uint32_t i, uint32_t j);
} named;

static uint32_t so_dimension(uint32_t k)
{
    return k * (k - 1) / 2;
}

static uint32_t same(uint32_t k)
{
    return k;
}

static int so_entry(uint32_t k, uint32_t b, uint32_t i, uint32_t j)
{
    uint32_t from = 0, to = 1;
    if (k == 3) { /* E_b turns axis b+1 towards b+2 */
        from = (b + 1) % 3;
        to = (b + 2) % 3;
    } else {
        for (uint32_t count = 0; count < b; count++)
            if (++to == k)
                to = ++from + 1;
    }
    return i == to && j == from ? 1 : i == from && j == to ? -1 : 0;
}

static uint32_t se_dimension(uint32_t k)
{
    return so_dimension(k) + k;
}

static uint32_t one_more(uint32_t k)
{
    return k + 1;
}

static int se_entry(uint32_t k, uint32_t b, uint32_t i, uint32_t j)
{
    uint32_t turns = so_dimension(k);
    if (b < turns)
        return i < k && j < k ? so_entry(k, b, i, j) : 0;
    return i == b - turns && j == k ? 1 : 0;
}

static uint32_t sl_dimension(uint32_t k)
{
    return k * k - 1;
}

static int sl_entry(uint32_t k, uint32_t b, uint32_t i, uint32_t j)
{
    (void)k;
    static const int entries[3][2][2] = {{{1, 0}, {0, -1}}, {{0, 1}, {0, 0}}, {{0, 0}, {1, 0}}};
    return entries[b][i][j];
}

static uint32_t heisenberg_dimension(uint32_t k)
{
    return 2 * k + 1;
}

static uint32_t two_more(uint32_t k)
{
    return k + 2;
}

static int heisenberg_entry(uint32_t k, uint32_t b, uint32_t i, uint32_t j)
{
    if (b < k)
        return i == 0 && j == b + 1 ? 1 : 0;
    if (b < 2 * k)
        return i == b - k + 1 && j == k + 1 ? 1 : 0;
    return i == 0 && j == k + 1 ? 1 : 0;
}

static int shift_entry(uint32_t k, uint32_t b, uint32_t i, uint32_t j)
{
    return i == b && j == k ? 1 : 0;
}

static const named algebras[] = {
    {"so", "so(n)", NS_LIE_ROTATION, 2, 8, 0, so_dimension, same, so_entry},
    {"se", "se(2) or se(3)", NS_LIE_EUCLIDEAN, 2, 3, 0, se_dimension, one_more, se_entry},
    {"sl", "sl(2)", NS_LIE_SPECIAL, 2, 2, 0, sl_dimension, same, sl_entry},
    {"heisenberg", "heisenberg or heisenberg(k)", NS_LIE_UNIPOTENT, 1, 20, 1,
     heisenberg_dimension, two_more, heisenberg_entry},
    {"R", "R(n)", NS_LIE_UNIPOTENT, 1, 40, 0, same, one_more, shift_entry},
};

static const char *const words[] = {"so", "se", "sl", "heisenberg", "R", "sum", "table", NULL};

static const named *find(const char *word)
{
    for (size_t i = 0; i < sizeof algebras / sizeof *algebras; i++)
        if (strcmp(algebras[i].word, word) == 0)
            return &algebras[i];
    return NULL;
}

static bool unknown(const ns_description *d, const char *word, ns_span span)
{
    if (strcmp(word, "table") == 0 || strcmp(word, "sum") == 0) {
        ns_diag_error(d->diag, span,
                      "the terms of a sum are algebras with a name: so(3), R(2)");
        return false;
    }
    const char *nearest = ns_block_nearest(word, words);
    ns_diag_error(d->diag, span,
                  nearest ? "there is no algebra `%s`; did you mean `%s`?"
                          : "there is no algebra `%s`; there are: so(n), se(2), se(3), sl(2), "
                            "heisenberg(k), R(n), sum, table(n)",
                  word, nearest);
    return false;
}

/* A whole number between least and most that is the same for all parameters. */
static bool whole(const ns_description *d, ns_value value, ns_span span, const char *what,
                  int least, int most, uint32_t *out)
{
    double number = NAN;
    if (value.rows * value.cols == 1)
        number = ns_eval_constant(d->graph, value.at[0]);
    if (!(number >= least && number <= most) || number != floor(number)) {
        ns_diag_error(d->diag, span, "%s must be a whole number from %d to %d", what, least,
                      most);
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

typedef struct term {
    const named *which;
    uint32_t k;
} term;

typedef NS_LIST(term) term_list;

/* so(3): the word and its argument */
static bool read_term(const ns_description *d, const char *word, ns_span span,
                      const ns_value *args, uint32_t n, term_list *list)
{
    const named *which = find(word);
    if (!which)
        return unknown(d, word, span);
    term t = {which, (uint32_t)which->otherwise};
    if (n > 1 || (n == 0 && !which->otherwise)) {
        ns_diag_error(d->diag, span, "expected %s", which->usage);
        return false;
    }
    if (n == 1 &&
        !whole(d, args[0], span, ns_arena_format(d->arena, "the argument of %s", which->usage),
               which->least, which->most, &t.k))
        return false;
    NS_PUSH(d->arena, *list, t);
    return true;
}

/* A place where basis matrix c has an entry and no other has one. */
static void own_entry(const named *which, uint32_t k, uint32_t c, uint32_t *row,
                      uint32_t *column)
{
    uint32_t n = which->dimension(k), m = which->size(k);
    for (uint32_t place = 0; place < m * m; place++) {
        *row = place / m;
        *column = place % m;
        bool own = which->entry(k, c, *row, *column) != 0;
        for (uint32_t other = 0; other < n && own; other++)
            own = other == c || which->entry(k, other, *row, *column) == 0;
        if (own)
            return;
    }
}

/* Matrices block by block; brackets from them. */
static bool build(const ns_description *d, ns_lie *w, const term *terms, uint32_t count)
{
    ns_graph *g = d->graph;
    ns_text name = ns_text_new(d->arena);
    for (uint32_t i = 0; i < count; i++) {
        const named *a = terms[i].which;
        uint32_t k = terms[i].k;
        ns_lie_part part = {.kind = a->kind,
                            .first = w->n,
                            .n = a->dimension(k),
                            .row = w->N,
                            .size = a->size(k)};
        part.name = strcmp(a->word, "heisenberg") == 0 && k == 1
                        ? "heisenberg"
                        : ns_arena_format(d->arena, "%s(%u)", a->word, k);
        ns_text_addf(&name, "%s%s", i ? " + " : "", part.name);
        w->n += part.n;
        w->N += part.size;
        NS_PUSH(d->arena, w->parts, part);
    }
    w->name = ns_text_string(&name);
    if (w->n > MOST) {
        ns_diag_error(d->diag, w->span, "the algebra has dimension %u, more than %d", w->n,
                      (int)MOST);
        return false;
    }
    uint32_t n = w->n, N = w->N;
    w->E = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)n * N * N);
    w->C = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)n * n * n);
    for (size_t i = 0; i < (size_t)n * N * N; i++)
        w->E[i] = ns_zero(g);
    for (size_t i = 0; i < (size_t)n * n * n; i++)
        w->C[i] = ns_zero(g);
    for (uint32_t t = 0; t < count; t++) {
        const ns_lie_part *part = &w->parts.at[t];
        const named *which = terms[t].which;
        uint32_t k = terms[t].k, m = part->size;
        for (uint32_t b = 0; b < part->n; b++)
            for (uint32_t i = 0; i < m; i++)
                for (uint32_t j = 0; j < m; j++)
                    w->E[((size_t)(part->first + b) * N + part->row + i) * N + part->row + j] =
                        ns_integer(g, which->entry(k, b, i, j));
        for (uint32_t c = 0; c < part->n; c++) {
            uint32_t r = 0, q = 0;
            own_entry(which, k, c, &r, &q);
            for (uint32_t a = 0; a < part->n; a++)
                for (uint32_t b = 0; b < part->n; b++) {
                    int sum = 0; /* of the commutator, at that place */
                    for (uint32_t l = 0; l < m; l++)
                        sum += which->entry(k, a, r, l) * which->entry(k, b, l, q) -
                               which->entry(k, b, r, l) * which->entry(k, a, l, q);
                    w->C[((size_t)(part->first + a) * n + part->first + b) * n + part->first +
                         c] = ns_integer(g, sum / which->entry(k, c, r, q));
                }
        }
    }
    w->numbers = true;
    return true;
}

/* ---- tables ------------------------------------------------------------------------------ */

static bool only_parameters(const ns_description *d, const ns_value *v, ns_span span,
                            const char *what)
{
    double number;
    for (uint32_t i = 0; i < v->rows * v->cols; i++)
        for (int kind = NS_SYM_TIME; kind <= NS_SYM_LOCAL; kind++)
            if (kind != NS_SYM_PARAM && !ns_graph_is_number(d->graph, v->at[i], &number) &&
                ns_graph_depends_kind(d->graph, v->at[i], (ns_symbol_kind)kind, NULL)) {
                ns_diag_error(d->diag, span, "%s may depend on parameters only", what);
                return false;
            }
    return true;
}

/* bracket i, j, VECTOR   or   bracket i, j, m, NUMBER */
static bool read_bracket(const ns_description *d, ns_lie *w, const ns_property *p, bool *known)
{
    ns_graph *g = d->graph;
    uint32_t n = w->n, i, j, m = 0;
    bool vector = p->values == 3 && p->value[2].rows * p->value[2].cols == n;
    if (!vector && p->values != 4) {
        ns_diag_error(d->diag, p->values ? p->value_span : p->span,
                      "expected `bracket i, j, VECTOR` with %u components, or "
                      "`bracket i, j, m, NUMBER`, in terms of parameters and e1 .. e%u",
                      n, n);
        return false;
    }
    if (!whole(d, p->value[0], p->value_span, "the index of a basis vector", 1, (int)n, &i) ||
        !whole(d, p->value[1], p->value_span, "the index of a basis vector", 1, (int)n, &j) ||
        (!vector &&
         !whole(d, p->value[2], p->value_span, "the index of a basis vector", 1, (int)n, &m)) ||
        !only_parameters(d, &p->value[p->values - 1], p->value_span, "a bracket"))
        return false;
    if (!vector && p->value[3].rows * p->value[3].cols != 1) {
        ns_diag_error(d->diag, p->value_span, "expected one number for c_%u%u^%u", i, j, m);
        return false;
    }
    i--;
    j--;
    for (uint32_t c = 0; c < n; c++) {
        if (!vector && c != m - 1)
            continue;
        ns_ex value = vector ? p->value[2].at[c] : p->value[3].at[0];
        size_t at = ((size_t)i * n + j) * n + c, back = ((size_t)j * n + i) * n + c;
        ns_ex opposite = ns_neg(g, value);
        if ((i == j && !ns_graph_is_zero(g, value)) ||
            (known[at] && w->C[at] != value &&
             !ns_eval_vanishes(g, ns_sub(g, w->C[at], value), 0))) {
            ns_diag_error(d->diag, p->value_span,
                          i == j
                              ? "[e%u, e%u] is zero: the bracket is antisymmetric"
                              : "[e%u, e%u] is given a second time, differently (the bracket "
                                "is antisymmetric)",
                          i + 1, j + 1);
            return false;
        }
        w->C[at] = value;
        w->C[back] = i == j ? value : opposite;
        known[at] = known[back] = true;
        double number;
        w->numbers = w->numbers && ns_graph_is_number(g, value, &number);
    }
    return true;
}

static bool read_table(ns_description *d, ns_lie *w)
{
    const ns_block *block = ns_block_single(d, &ns_block_algebra);
    ns_graph *g = d->graph;
    uint32_t n;
    if (block->nargs != 1 || block->arg_words[0]) {
        ns_diag_error(d->diag, block->kind_span, "expected table(n) with the dimension n");
        return false;
    }
    if (!whole(d, block->args[0], block->kind_span, "the dimension of the algebra", 1, MOST,
               &n))
        return false;
    w->n = n;
    w->name = "given by a table";
    ns_scope_entry *unit = NS_NEW_ARRAY(d->arena, ns_scope_entry, n);
    for (uint32_t a = 0; a < n; a++) {
        ns_ex *e = NS_NEW_ARRAY(d->arena, ns_ex, n);
        for (uint32_t b = 0; b < n; b++)
            e[b] = ns_integer(g, a == b);
        unit[a] = (ns_scope_entry){.name = ns_arena_format(d->arena, "e%u", a + 1),
                                   .value = {n, 1, e}};
    }
    if (!ns_description_offer(d, unit, n))
        return false;
    block = ns_block_single(d, &ns_block_algebra); /* blocks may have moved */
    w->C = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)n * n * n);
    bool *known = NS_NEW_ARRAY(d->arena, bool, (size_t)n * n * n);
    for (size_t i = 0; i < (size_t)n * n * n; i++)
        w->C[i] = ns_zero(g);
    w->numbers = true;
    bool good = true;
    for (uint32_t k = 0; k < block->properties.n; k++)
        if (strcmp(block->properties.at[k].name, "bracket") == 0)
            good = read_bracket(d, w, &block->properties.at[k], known) && good;
    return good;
}

/* reconstruct adjoint: the group of the matrices Ad_g */
static void adjoint(const ns_description *d, ns_lie *w)
{
    uint32_t n = w->n;
    w->N = n;
    w->adjoint = true;
    w->E = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)n * n * n);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            for (uint32_t c = 0; c < n; c++)
                w->E[((size_t)a * n + c) * n + b] = w->C[((size_t)a * n + b) * n + c];
    NS_PUSH(d->arena, w->parts,
            (ns_lie_part){.kind = NS_LIE_MATRICES, .name = "Ad", .n = n, .size = n});
}

/* ---- checks ------------------------------------------------------------------------------ */

void ns_lie_constants(const ns_lie *w, const ns_system *s, const double *p, double *C)
{
    ns_system_eval(s, w->C, (size_t)w->n * w->n * w->n, 0, p, NULL, C);
}

double ns_lie_jacobi(ns_arena *arena, uint32_t n, const double *C, uint32_t triple[3],
                     double *size)
{
    /* [e_a, [e_b, e_c]] for the few pairs with a bracket at all: lists of the non-zero
     * C_bc^m */
    uint32_t *first = NS_NEW_ARRAY(arena, uint32_t, (size_t)n * n + 1), count = 0;
    uint32_t *index = NS_NEW_ARRAY(arena, uint32_t, (size_t)n * n * n + 1);
    for (uint32_t bc = 0; bc < n * n; bc++) {
        first[bc] = count;
        for (uint32_t m = 0; m < n; m++)
            if (C[(size_t)bc * n + m] != 0)
                index[count++] = m;
    }
    first[n * n] = count;
    double *sum = NS_NEW_ARRAY(arena, double, n), *most = NS_NEW_ARRAY(arena, double, n);
    double worst = 0;
    *size = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            for (uint32_t c = b + 1; c < n; c++) {
                memset(sum, 0, n * sizeof *sum);
                memset(most, 0, n * sizeof *most);
                const uint32_t turn[3][3] = {{a, b, c}, {b, c, a}, {c, a, b}};
                for (int k = 0; k < 3; k++) {
                    uint32_t inner = turn[k][1] * n + turn[k][2];
                    for (uint32_t i = first[inner]; i < first[inner + 1]; i++) {
                        uint32_t m = index[i], outer = turn[k][0] * n + m;
                        for (uint32_t j = first[outer]; j < first[outer + 1]; j++) {
                            double value = C[(size_t)inner * n + m] *
                                           C[(size_t)outer * n + index[j]];
                            sum[index[j]] += value;
                            most[index[j]] += fabs(value);
                        }
                    }
                }
                for (uint32_t m = 0; m < n; m++) {
                    double ratio = most[m] > 0 ? fabs(sum[m]) / most[m] : 0;
                    if (!(ratio <= worst)) {
                        worst = isnan(ratio) ? INFINITY : ratio;
                        *size = fabs(sum[m]);
                        triple[0] = a;
                        triple[1] = b;
                        triple[2] = c;
                    }
                }
            }
    return worst;
}

ns_lie *ns_lie_read(ns_description *d, ns_system *s, const ns_block *block)
{
    ns_lie *w = NS_NEW(d->arena, ns_lie);
    w->span = block->kind_span;
    term_list terms = {0};
    bool table = strcmp(block->kind, "table") == 0, sum = strcmp(block->kind, "sum") == 0;
    bool good = true;
    if (table) {
        good = read_table(d, w);
    } else if (sum) {
        for (uint32_t i = 0; i < block->properties.n; i++) {
            const ns_property *p = &block->properties.at[i];
            if (strcmp(p->name, "term") != 0)
                continue;
            if (!p->word) {
                ns_diag_error(d->diag, p->span, "expected an algebra: `term so(3)`");
                good = false;
            } else {
                good = read_term(d, p->word, p->value_span, p->value, p->values, &terms) &&
                       good;
            }
        }
        if (good && terms.n == 0) {
            ns_diag_error(d->diag, w->span, "the sum has no terms: expected `term so(3)`");
            good = false;
        }
    } else {
        good = read_term(d, block->kind, block->kind_span, block->args, block->nargs, &terms);
    }
    if (!good || (!table && !build(d, w, terms.at, terms.n)))
        return NULL;
    block = ns_block_single(d, &ns_block_algebra);
    const ns_property *how = ns_block_find(block, "reconstruct");
    const char *word = how ? how->word : NULL;
    if (how && (!word || (strcmp(word, "no") != 0 && strcmp(word, "adjoint") != 0 &&
                          (table || strcmp(word, "matrices") != 0)))) {
        ns_diag_error(d->diag, how->values || word ? how->value_span : how->span,
                      table ? "`reconstruct` is `no` or `adjoint` for a table"
                            : "`reconstruct` is `matrices`, `adjoint` or `no`");
        return NULL;
    }
    if (word && strcmp(word, "matrices") != 0) {
        w->N = 0;
        w->parts.n = 0;
        if (strcmp(word, "adjoint") == 0)
            adjoint(d, w);
    }
    double *p = NS_NEW_ARRAY(d->arena, double, d->params.n + 1);
    double *C = NS_NEW_ARRAY(d->arena, double, (size_t)w->n * w->n * w->n);
    ns_system_params(s, NULL, NULL, p);
    ns_lie_constants(w, s, p, C);
    uint32_t triple[3] = {0};
    double size;
    if (ns_lie_jacobi(d->arena, w->n, C, triple, &size) > 1e-10) {
        ns_diag_error(
            d->diag, w->span,
            "the brackets violate the Jacobi identity: [e%u, [e%u, e%u]] + cyclic has "
            "a component of size %.6g",
            triple[0] + 1, triple[1] + 1, triple[2] + 1, size);
        return NULL;
    }
    return w;
}
