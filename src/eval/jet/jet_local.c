/* Jets as C text, second way: all orders in one function, for series that are not too long.
 *
 * What jet_run.inc does at an order is done in two parts.  First the sums over the coefficients
 * 2 .. n-2 of all operations, several at a time: they depend on earlier orders only, so the
 * processor works on them while it still waits for the end of the order before.  Then the
 * operations, one after the other, in local variables: what remains of each is what depends on
 * coefficients n and n-1, kept in local variables as well.  The additions are those of
 * jet_run.inc in their order, and the bits are the same.
 *
 * Names in the text: v[c] coefficient 0 of cell c, l<c> coefficient n, q<r> coefficient n-1 of
 * row r, e<r> its coefficient 1, g<k> what operation k has from the first part, i<k> a
 * reciprocal.  The sums with coefficients 1 and n-1 are  e_a q_b + q_a e_b;  at order 2, where
 * there is only one such product, e is half of it. */
#include <stdio.h>

#include "eval/jet/jet_emit.h"
#include "eval/jet/jet_internal.h"

enum {
    BATCH = 10 /* sums at a time: their vectors and the operands stay in registers */
};

typedef struct sum {
    uint32_t id;
    ns_jet_place a, b;
} sum;

typedef struct local {
    ns_text *text;
    const ns_jet *jet;
    const bool *varies;
    NS_LIST(sum) full, half;
    uint32_t sums;
    ns_arena *arena;
} local;

/* ---- names ------------------------------------------------------------------------------- */

typedef struct name {
    char text[24];
} name;

static name latest(const local *e, uint32_t cell)
{
    name n;
    const ns_tape *tape = e->jet->tape;
    if (cell < tape->ncells && !e->varies[cell])
        snprintf(n.text, sizeof n.text, "0.");
    else if (cell == tape->nx)
        snprintf(n.text, sizeof n.text, "lt");
    else
        snprintf(n.text, sizeof n.text, "l%u", cell);
    return n;
}

#define L(cell) latest(e, cell).text

/* ---- first part -------------------------------------------------------------------------- */

static uint32_t add_sum(local *e, ns_jet_place a, ns_jet_place b)
{
    const sum s = {.id = e->sums++, .a = a, .b = b};
    if (a.row == b.row && a.row)
        NS_PUSH(e->arena, e->half, s);
    else
        NS_PUSH(e->arena, e->full, s);
    return s.id;
}

/* The sums of an operation, in the order in which `emit_gathered` takes them. */
static void collect(local *e, const ns_jet_op *op)
{
    const ns_jet *jet = e->jet;
    switch ((ns_jet_rule)op->rule) {
    case NS_JET_MUL:
        add_sum(e, op->a, op->b);
        break;
    case NS_JET_SQUARE:
        add_sum(e, op->a, op->a);
        break;
    case NS_JET_SUM:
        for (uint32_t k = 0; k < op->count; k++) {
            const ns_jet_term *term = &jet->terms.at[op->first + k];
            if (term->b.row || term->a.row)
                add_sum(e, term->a, term->b);
        }
        break;
    case NS_JET_DIV:
        add_sum(e, op->b, op->y);
        break;
    case NS_JET_ROOT:
        add_sum(e, op->y, op->y);
        break;
    case NS_JET_TIMES:
    case NS_JET_MINUS_TIMES:
        add_sum(e, op->da, op->w);
        break;
    case NS_JET_OVER:
    case NS_JET_MINUS_OVER:
        add_sum(e, op->dy, op->w);
        break;
    case NS_JET_ANGLE:
        add_sum(e, op->da, op->b);
        add_sum(e, op->db, op->a);
        add_sum(e, op->dy, op->w);
        break;
    case NS_JET_SOLVE:
        for (uint32_t k = 0; k < jet->matrices[op->matrix].count; k++) {
            const ns_jet_entry *M = &jet->entries.at[jet->matrices[op->matrix].first + k];
            const ns_jet_place y = {op->y.cell + M->j, op->y.row + M->j};
            add_sum(e, M->M, y);
        }
        break;
    default:
        break;
    }
}

static bool is_first(const sum *s, uint32_t k, bool back)
{
    for (uint32_t i = 0; i < k; i++)
        if ((back ? s[i].b.row : s[i].a.row) == (back ? s[k].b.row : s[k].a.row))
            return false;
    return true;
}

static void emit_batch(local *e, const sum *s, uint32_t n, const char *length)
{
    ns_text *text = e->text;
    for (uint32_t k = 0; k < n; k++)
        ns_text_addf(text, "four s%u = {0};\n", s[k].id);
    ns_text_addf(text,
                 "{ const double *f = r + 1, *b = r + n - 3;\n"
                 "for (unsigned c = %s.chunks; c > 0; c--, f += 4, b -= 4) {\n",
                 length);
    for (uint32_t k = 0; k < n; k++) {
        if (is_first(s, k, false))
            ns_text_addf(text, "const four f%u = ahead(f + %u);\n", s[k].a.row,
                         s[k].a.row * NS_JET_STRIDE);
        if (is_first(s, k, true))
            ns_text_addf(text, "const four b%u = back(b + %u);\n", s[k].b.row,
                         s[k].b.row * NS_JET_STRIDE);
    }
    ns_text_add(text, "if (c > 1) {\n");
    for (uint32_t k = 0; k < n; k++)
        ns_text_addf(text, "plus(&s%u, times(f%u, b%u));\n", s[k].id, s[k].a.row, s[k].b.row);
    ns_text_add(text, "} else {\n");
    for (uint32_t k = 0; k < n; k++)
        ns_text_addf(text, "plus(&s%u, masked(times(f%u, b%u), &%s));\n", s[k].id, s[k].a.row,
                     s[k].b.row, length);
    ns_text_add(text, "} } }\n");
}

static void emit_sums(local *e)
{
    for (uint32_t k = 0; k < e->full.n; k += BATCH)
        emit_batch(e, e->full.at + k, e->full.n - k < BATCH ? e->full.n - k : BATCH, "full");
    for (uint32_t k = 0; k < e->half.n; k += BATCH)
        emit_batch(e, e->half.at + k, e->half.n - k < BATCH ? e->half.n - k : BATCH, "half");
    /* what the two coefficients at the ends contribute */
    for (uint32_t k = 0; k < e->full.n; k++) {
        const sum *s = &e->full.at[k];
        ns_text_addf(e->text, "const double d%u = e%u * q%u + q%u * e%u;\n", s->id, s->a.row,
                     s->b.row, s->a.row, s->b.row);
    }
    for (uint32_t k = 0; k < e->half.n; k++) {
        const sum *s = &e->half.at[k];
        ns_text_addf(e->text,
                     "const double c%u = even ? r[%u + n / 2 - 1] : 0, "
                     "d%u = 2 * e%u * q%u + c%u * c%u; s%u = twice(s%u);\n",
                     s->id, s->a.row * NS_JET_STRIDE, s->id, s->a.row, s->a.row, s->id, s->id,
                     s->id, s->id);
    }
}

/* ---- second part ------------------------------------------------------------------------- */

/* g<id>: sum and ends of one convolution. */
static void emit_one(local *e, uint32_t id)
{
    ns_text_addf(e->text, "const double g%u = total(&s%u) + d%u;\n", id, id, id);
}

static void emit_terms(local *e, const ns_jet_op *op, uint32_t *id)
{
    const ns_jet_term *term = e->jet->terms.at + op->first, *end = term + op->count;
    ns_text *text = e->text;
    ns_text_add(text, "{ double ends = 0; four sum = {0};\n");
    for (; term < end; term++) {
        const char sign = term->sign < 0 ? '-' : '+';
        const char *gather = term->sign < 0 ? "minus" : "plus";
        if (!term->b.row && !term->a.row) {
            ns_text_addf(text, "ends %c= %s;\n", sign, L(term->a.cell));
            continue;
        }
        ns_text_addf(text, "%s(&sum, s%u);\n", gather, *id);
        if (term->a.row == term->b.row)
            ns_text_addf(text, "ends %c= 2 * v[%u] * %s + d%u;\n", sign, term->a.cell,
                         L(term->a.cell), *id);
        else
            ns_text_addf(text, "ends %c= v[%u] * %s + %s * v[%u] + d%u;\n", sign, term->a.cell,
                         L(term->b.cell), L(term->a.cell), term->b.cell, *id);
        (*id)++;
    }
    ns_text_addf(text, "l%u = total(&sum) + ends; }\n", op->y.cell);
}

static void emit_solve(local *e, const ns_jet_op *op, uint32_t *id)
{
    const ns_jet_matrix *m = &e->jet->matrices[op->matrix];
    const uint32_t *b = e->jet->tape->args.at + op->first;
    const ns_jet_entry *M = e->jet->entries.at + m->first, *end = M + m->count;
    ns_text *text = e->text;
    for (uint32_t i = 0; i < m->n; i++) {
        ns_text_addf(text, "{ double ends = %s; four sum = {0};\n", L(b[i]));
        for (; M < end && M->i == i; M++, (*id)++)
            ns_text_addf(text,
                         "minus(&sum, s%u);\n"
                         "ends -= %s * v[%u] + d%u;\n",
                         *id, L(M->M.cell), op->y.cell + M->j, *id);
        ns_text_addf(text, "w->scratch[%u] = ends + total(&sum); }\n", i);
    }
    ns_text_addf(text, "m->solve(%u, w->factors + %zu, w->scratch);\n", m->n, m->place);
    for (uint32_t i = 0; i < m->n; i++)
        ns_text_addf(text, "l%u = w->scratch[%u];\n", op->y.cell + i, i);
}

static void emit_angle(local *e, const ns_jet_op *op, uint32_t *id)
{
    const uint32_t k = *id;
    ns_text_addf(e->text,
                 "{ four sum = {0}; plus(&sum, s%u); minus(&sum, s%u); minus(&sum, s%u);\n"
                 "l%u = dn * %s; l%u = dn * %s;\n",
                 k, k + 1, k + 2, op->da.cell, L(op->a.cell), op->db.cell, L(op->b.cell));
    ns_text_addf(
        e->text,
        "const double ends = l%u * v[%u] - l%u * v[%u] + (d%u - d%u - d%u);\n"
        "l%u = (ends + total(&sum)) * (1 / v[%u]); l%u = divided(l%u, inverse, rest); }\n",
        op->da.cell, op->b.cell, op->db.cell, op->a.cell, k, k + 1, k + 2, op->dy.cell,
        op->w.cell, op->y.cell, op->dy.cell);
    *id += 3;
}

/* Divisors: v of this cell, not 0. */
static bool divides(const ns_jet_op *op, uint32_t *cell)
{
    switch ((ns_jet_rule)op->rule) {
    case NS_JET_SHRINK:
    case NS_JET_DIV:
        *cell = op->b.cell;
        return true;
    case NS_JET_ROOT:
        *cell = op->y.cell;
        return true;
    case NS_JET_OVER:
    case NS_JET_MINUS_OVER:
        *cell = op->w.cell;
        return true;
    default:
        return false;
    }
}

static void emit_op(local *e, uint32_t k, uint32_t *id)
{
    const ns_jet_op *op = &e->jet->ops.at[k];
    const uint32_t y = op->y.cell, a = op->a.cell, b = op->b.cell, w = op->w.cell;
    ns_text *text = e->text;
    switch ((ns_jet_rule)op->rule) {
    case NS_JET_ADD:
        ns_text_addf(text, "l%u = %s + %s;\n", y, L(a), L(b));
        break;
    case NS_JET_SUB:
        ns_text_addf(text, "l%u = %s - %s;\n", y, L(a), L(b));
        break;
    case NS_JET_NEG:
        ns_text_addf(text, "l%u = -%s;\n", y, L(a));
        break;
    case NS_JET_SCALE:
        ns_text_addf(text, "l%u = %s * v[%u];\n", y, L(a), b);
        break;
    case NS_JET_SHRINK:
        ns_text_addf(text, "l%u = %s * i%u;\n", y, L(a), k);
        break;
    case NS_JET_MUL:
        emit_one(e, *id);
        ns_text_addf(text, "l%u = g%u + (v[%u] * %s + %s * v[%u]);\n", y, *id, a, L(b), L(a),
                     b);
        (*id)++;
        break;
    case NS_JET_SQUARE:
        emit_one(e, *id);
        ns_text_addf(text, "l%u = g%u + 2 * v[%u] * %s;\n", y, *id, a, L(a));
        (*id)++;
        break;
    case NS_JET_SUM:
        emit_terms(e, op, id);
        break;
    case NS_JET_DIV:
        emit_one(e, *id);
        ns_text_addf(text, "l%u = (%s - (g%u + %s * v[%u])) * i%u;\n", y, L(a), *id, L(b), y,
                     k);
        (*id)++;
        break;
    case NS_JET_POWER:
        ns_text_addf(text,
                     "l%u = lpower(n, r + %u, r + %u, q%u, q%u, v[%u], %s, v[%u], v[%u]);\n", y,
                     op->a.row * NS_JET_STRIDE, op->y.row * NS_JET_STRIDE, op->a.row, op->y.row,
                     b, L(a), a, y);
        break;
    case NS_JET_ROOT:
        emit_one(e, *id);
        ns_text_addf(text, "l%u = (%s - g%u) * i%u;\n", y, L(a), *id, k);
        (*id)++;
        break;
    case NS_JET_TIMES:
    case NS_JET_MINUS_TIMES:
        emit_one(e, *id);
        ns_text_addf(
            text, "l%u = dn * %s; l%u = divided(%s(g%u + l%u * v[%u]), inverse, rest);\n",
            op->da.cell, L(a), y, op->rule == NS_JET_TIMES ? "" : "-", *id, op->da.cell, w);
        (*id)++;
        break;
    case NS_JET_OVER:
    case NS_JET_MINUS_OVER:
        emit_one(e, *id);
        ns_text_addf(
            text, "l%u = (%s(dn * %s) - g%u) * i%u; l%u = divided(l%u, inverse, rest);\n",
            op->dy.cell, op->rule == NS_JET_OVER ? "" : "-", L(a), *id, k, y, op->dy.cell);
        (*id)++;
        break;
    case NS_JET_ANGLE:
        emit_angle(e, op, id);
        break;
    case NS_JET_ABS:
        ns_text_addf(text, "l%u = jsign(v[%u]) * %s;\n", y, a, L(a));
        break;
    case NS_JET_SELECT:
        ns_text_addf(text, "l%u = v[%u] == v[%u] ? %s : %s;\n", y, y, a, L(a), L(b));
        break;
    case NS_JET_ZERO:
        ns_text_addf(text, "l%u = 0;\n", y);
        break;
    case NS_JET_SOLVE:
        emit_solve(e, op, id);
        break;
    }
}

/* ---- the function ------------------------------------------------------------------------ */

static void declare(local *e)
{
    const ns_jet *jet = e->jet;
    ns_text *text = e->text;
    ns_text_add(text, "const double e0 = 0, q0 = 0; (void)e0; (void)q0;\n");
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "double e%u = 0, q%u = 0;\n", row, row);
    for (uint32_t i = 0; i < jet->tape->nx; i++)
        ns_text_addf(text, "double l%u = x[%u * per_state + per_order];\n", i, i);
    for (uint32_t k = 0; k < jet->ops.n; k++) {
        uint32_t cell;
        if (divides(&jet->ops.at[k], &cell))
            ns_text_addf(text, "const double i%u = %s / v[%u];\n", k,
                         jet->ops.at[k].rule == NS_JET_ROOT ? "0.5" : "1", cell);
    }
}

/* Cells that the operations write. */
static void declare_cells(local *e)
{
    const ns_jet *jet = e->jet;
    ns_text *text = e->text;
    bool *known = NS_NEW_ARRAY(e->arena, bool, jet->ncells + 1);
    for (uint32_t k = 0; k < jet->ops.n; k++) {
        const ns_jet_op *op = &jet->ops.at[k];
        const uint32_t count = op->rule == NS_JET_SOLVE ? jet->matrices[op->matrix].n : 1;
        const bool times = op->rule == NS_JET_TIMES || op->rule == NS_JET_MINUS_TIMES;
        const bool over = op->rule == NS_JET_OVER || op->rule == NS_JET_MINUS_OVER;
        const bool angle = op->rule == NS_JET_ANGLE;
        for (uint32_t i = 0; i < count; i++)
            ns_text_addf(text, "double l%u;\n", op->y.cell + i);
        const struct {
            bool used;
            uint32_t cell;
        } more[] = {
            {times || angle, op->da.cell}, {angle, op->db.cell}, {over || angle, op->dy.cell}};
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            if (more[i].used && !known[more[i].cell]) {
                known[more[i].cell] = true;
                ns_text_addf(text, "double l%u;\n", more[i].cell);
            }
    }
}

void ns_jet_emit_local(ns_text *text, ns_arena *arena, const ns_jet *jet, const char *function)
{
    local e = {.text = text, .jet = jet, .varies = jet->tape->varies, .arena = arena};
    const ns_tape *tape = jet->tape;
    for (uint32_t k = 0; k < jet->ops.n; k++)
        collect(&e, &jet->ops.at[k]);
    ns_text_addf(text,
                 "void %s_series(const jetmath *m, const block *w, unsigned order, double "
                 "*restrict x, unsigned long per_state, unsigned long per_order)\n{\n"
                 "const double *restrict v = w->value; double *restrict r = w->rows; (void)m; "
                 "(void)v; (void)r;\n",
                 function);
    declare(&e);
    ns_text_add(
        text,
        "for (unsigned n = 1; n < order; n++) {\n"
        "const double dn = n, inverse = inverses[n][0], rest = inverses[n][1], lt = n == 1;\n"
        "const double next = inverses[n + 1][0], next_rest = inverses[n + 1][1];\n"
        "const int even = n % 2 == 0 && n > 2;\n"
        "const length full = length_of(n > 3 ? n - 3 : 0);\n"
        "const length half = length_of(n > 4 ? (n - 1) / 2 - 1 : 0);\n"
        "(void)dn; (void)inverse; (void)rest; (void)lt; (void)even; (void)full; (void)half;\n");
    emit_sums(&e);
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "r[%u + n - 2] = q%u;\n", row * NS_JET_STRIDE, row);
    declare_cells(&e);
    uint32_t id = 0;
    for (uint32_t k = 0; k < jet->ops.n; k++)
        emit_op(&e, k, &id);
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "q%u = l%u;\n", row, jet->rows.at[row]);
    ns_text_add(text, "if (n == 1) {\n");
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "e%u = 0.5 * q%u;\n", row, row);
    ns_text_add(text, "} else if (n == 2) {\n");
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "e%u += e%u;\n", row, row);
    ns_text_add(text, "}\n");
    for (uint32_t i = 0; i < tape->nx; i++)
        ns_text_addf(text, "const double o%u = divided(%s, next, next_rest);\n", i,
                     latest(&e, tape->out[i]).text);
    for (uint32_t i = 0; i < tape->nx; i++)
        ns_text_addf(text, "x[%u * per_state + (n + 1) * per_order] = l%u = o%u;\n", i, i, i);
    ns_text_add(text, "}\n}\n");
}
