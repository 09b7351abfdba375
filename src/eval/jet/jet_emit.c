/* Jets as C text: the operations of jet_run.inc one after the other, with their places as
 * numbers.
 * The kernels are those of jet_run.inc, and so is the order of all additions: the bits are the
 * same. */
#include "eval/jet/jet_emit.h"

#include "eval/jet/jet_internal.h"

enum { CHUNK = 40 }; /* operations in one function */

/* clang-format off */
static const char kernels[] =
    "#if defined(__AVX2__)\n"
    "#define WIDTH 4\n"
    "#else\n"
    "#define WIDTH 2\n"
    "#endif\n"
    "#define PARTS (4 / WIDTH)\n"
    "typedef double jvector __attribute__((vector_size(8 * WIDTH)));\n"
    "typedef long long jmask __attribute__((vector_size(8 * WIDTH)));\n"
    "typedef double junaligned __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));\n"
    "typedef struct four { jvector part[PARTS]; } four;\n"
    "typedef struct length { unsigned chunks; jmask last[PARTS]; } length;\n"
    "typedef struct pass { unsigned n; length full, half; const double *rows, *prev; unsigned long stride; double inverse, rest; } pass;\n"
    "typedef struct block { double *value, *latest, *rows, *prev; unsigned long stride; double *factors, *scratch; } block;\n"
    "typedef struct jetmath { double (*const *call)(double, double); void (*factor)(unsigned, double *); void (*solve)(unsigned, const double *, double *); } jetmath;\n"
    "static inline length length_of(unsigned count)\n"
    "{\n"
    "static const long long slide[8] = {-1, -1, -1, -1, 0, 0, 0, 0};\n"
    "length l; l.chunks = (count + 3) / 4;\n"
    "__builtin_memcpy(l.last, slide + (l.chunks * 4 - count), sizeof l.last);\n"
    "return l;\n"
    "}\n"
    "static inline jvector reversed(jvector v)\n"
    "{\n"
    "#ifdef __clang__\n"
    "#if WIDTH == 4\n"
    "return __builtin_shufflevector(v, v, 3, 2, 1, 0);\n"
    "#else\n"
    "return __builtin_shufflevector(v, v, 1, 0);\n"
    "#endif\n"
    "#else\n"
    "#if WIDTH == 4\n"
    "return __builtin_shuffle(v, (jmask){3, 2, 1, 0});\n"
    "#else\n"
    "return __builtin_shuffle(v, (jmask){1, 0});\n"
    "#endif\n"
    "#endif\n"
    "}\n"
    "static inline __attribute__((always_inline)) four convolve(const pass *p, const length *l, unsigned ra, unsigned rb)\n"
    "{\n"
    "const double *a = p->rows + ra * p->stride + 1, *b = p->rows + rb * p->stride + p->n - 3;\n"
    "four sum = {0};\n"
    "for (unsigned chunk = l->chunks; chunk > 0; chunk--, a += 4, b -= 4)\n"
    "for (int i = 0; i < PARTS; i++) {\n"
    "jvector y = *(const junaligned *)(a + i * WIDTH) * reversed(*(const junaligned *)(b - i * WIDTH - (WIDTH - 1)));\n"
    "if (chunk == 1) y = (jvector)((jmask)y & l->last[i]);\n"
    "sum.part[i] += y;\n"
    "}\n"
    "return sum;\n"
    "}\n"
    "static inline void plus(four *s, four t) { for (int i = 0; i < PARTS; i++) s->part[i] += t.part[i]; }\n"
    "static inline void minus(four *s, four t) { for (int i = 0; i < PARTS; i++) s->part[i] -= t.part[i]; }\n"
    "static inline four twice(four s) { for (int i = 0; i < PARTS; i++) s.part[i] += s.part[i]; return s; }\n"
    "static inline four times(four a, four b) { for (int i = 0; i < PARTS; i++) a.part[i] *= b.part[i]; return a; }\n"
    "static inline four masked(four a, const length *l) { for (int i = 0; i < PARTS; i++) a.part[i] = (jvector)((jmask)a.part[i] & l->last[i]); return a; }\n"
    "static inline four ahead(const double *a) { four f; for (int i = 0; i < PARTS; i++) f.part[i] = *(const junaligned *)(a + i * WIDTH); return f; }\n"
    "static inline four back(const double *b) { four f; for (int i = 0; i < PARTS; i++) f.part[i] = reversed(*(const junaligned *)(b - i * WIDTH - (WIDTH - 1))); return f; }\n";

static const char more_kernels[] =
    "static inline double total(const four *sum)\n"
    "{\n"
    "#if WIDTH == 4\n"
    "const jvector s = sum->part[0]; return (s[0] + s[2]) + (s[1] + s[3]);\n"
    "#else\n"
    "const jvector s = sum->part[0] + sum->part[1]; return s[0] + s[1];\n"
    "#endif\n"
    "}\n"
    "static inline double edges(const pass *p, unsigned ra, unsigned rb)\n"
    "{\n"
    "const double *a = p->rows + ra * p->stride, *b = p->rows + rb * p->stride, *q = p->prev;\n"
    "return p->n > 2 ? a[0] * q[rb] + q[ra] * b[0] : p->n == 2 ? q[ra] * q[rb] : 0;\n"
    "}\n"
    "static inline double middle(const pass *p, unsigned a, unsigned b)\n"
    "{\n"
    "const four sum = convolve(p, &p->full, a, b); return total(&sum) + edges(p, a, b);\n"
    "}\n"
    "static inline double square_edges(const pass *p, unsigned row)\n"
    "{\n"
    "const double *a = p->rows + row * p->stride, q = p->prev[row];\n"
    "const double centre = p->n % 2 ? 0 : p->n == 2 ? q : a[p->n / 2 - 1];\n"
    "return (p->n > 2 ? 2 * a[0] * q : 0) + centre * centre;\n"
    "}\n"
    "static inline double middle_square(const pass *p, unsigned a)\n"
    "{\n"
    "const four sum = twice(convolve(p, &p->half, a, a)); return total(&sum) + square_edges(p, a);\n"
    "}\n"
    "static inline double jpower(const pass *p, unsigned ra, unsigned ry, double b, double an, double a0, double y0)\n"
    "{\n"
    "const double *a = p->rows + ra * p->stride - 1, *y = p->rows + ry * p->stride - 1, n = p->n;\n"
    "double sum = n * b * (an * y0);\n"
    "for (unsigned k = 1; k < p->n; k++) {\n"
    "const double ak = k == p->n - 1 ? p->prev[ra] : a[k], yk = k == 1 ? p->prev[ry] : y[p->n - k];\n"
    "sum += (k * b - (n - k)) * (ak * yk);\n"
    "}\n"
    "return sum / (n * a0);\n"
    "}\n"
    "static inline double lpower(unsigned n, const double *a, const double *y, double qa, double qy, double b, double an, double a0, double y0)\n"
    "{\n"
    "const double dn = n;\n"
    "double sum = dn * b * (an * y0);\n"
    "for (unsigned k = 1; k < n; k++) {\n"
    "const double ak = k == n - 1 ? qa : a[k - 1], yk = k == 1 ? qy : y[n - k - 1];\n"
    "sum += (k * b - (dn - k)) * (ak * yk);\n"
    "}\n"
    "return sum / (dn * a0);\n"
    "}\n"
    "static inline double divided(double x, double inverse, double rest)\n"
    "{\n"
    "return x * inverse + x * rest;\n"
    "}\n"
    "static inline double jsign(double a)\n"
    "{\n"
    "return a != a ? a : (double)((a > 0) - (a < 0));\n"
    "}\n";
/* clang-format on */

void ns_jet_emit_prelude(ns_text *text)
{
    ns_text_add(text, kernels);
    ns_text_add(text, more_kernels);
    ns_text_addf(text, "static const double inverses[%d][2] = {\n", NS_JET_INVERSES);
    for (int k = 0; k < NS_JET_INVERSES; k++)
        ns_text_addf(text, "{%a, %a},\n", ns_jet_inverse[k][0], ns_jet_inverse[k][1]);
    ns_text_add(text, "};\n");
}

/* ---- values ------------------------------------------------------------------------------ */

static void emit_value(ns_text *text, const ns_jet *jet, const ns_tape_op *op)
{
    const ns_tape *tape = jet->tape;
    const uint32_t *args = tape->args.at + op->a;
    static const struct {
        uint32_t op;
        char sign;
    } plain[] = {{NS_OP_ADD, '+'}, {NS_OP_SUB, '-'}, {NS_OP_MUL, '*'}, {NS_OP_DIV, '/'}};
    if (op->op == NS_OP_FACTOR) {
        const ns_jet_matrix *m = &jet->matrices[op->y];
        for (uint32_t k = 0; k < m->n * m->n; k++)
            ns_text_addf(text, "w->factors[%zu] = v[%u];\n", m->place + k, args[k]);
        ns_text_addf(text, "m->factor(%u, w->factors + %zu);\n", m->n, m->place);
    } else if (op->op == NS_OP_SOLVE) {
        const ns_jet_matrix *m = &jet->matrices[op->c];
        for (uint32_t k = 0; k < m->n; k++)
            ns_text_addf(text, "v[%u] = v[%u];\n", op->y + k, args[k]);
        ns_text_addf(text, "m->solve(%u, w->factors + %zu, v + %u);\n", m->n, m->place, op->y);
    } else if (op->op == NS_TAPE_SQUARE)
        ns_text_addf(text, "v[%u] = v[%u] * v[%u];\n", op->y, op->a, op->a);
    else if (op->op == NS_OP_NEG)
        ns_text_addf(text, "v[%u] = -v[%u];\n", op->y, op->a);
    else {
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            if (plain[i].op == op->op) {
                ns_text_addf(text, "v[%u] = v[%u] %c v[%u];\n", op->y, op->a, plain[i].sign,
                             op->b);
                return;
            }
        ns_text_addf(text, "v[%u] = m->call[%u](v[%u], v[%u]);\n", op->y, op->op, op->a, op->b);
    }
}

/* ---- higher orders ----------------------------------------------------------------------- */

static void emit_sum(ns_text *text, const ns_jet *jet, const ns_jet_op *op)
{
    const ns_jet_term *term = jet->terms.at + op->first, *end = term + op->count;
    ns_text_add(text, "{ double ends = 0; four sum = {0};\n");
    for (; term < end && !term->b.row && !term->a.row; term++)
        ns_text_addf(text, "ends %c= l[%u];\n", term->sign < 0 ? '-' : '+', term->a.cell);
    for (; term < end && term->a.row == term->b.row; term++)
        ns_text_addf(text,
                     "%s(&sum, twice(convolve(p, &p->half, %u, %u)));\n"
                     "ends %c= 2 * v[%u] * l[%u] + square_edges(p, %u);\n",
                     term->sign < 0 ? "minus" : "plus", term->a.row, term->a.row,
                     term->sign < 0 ? '-' : '+', term->a.cell, term->a.cell, term->a.row);
    for (; term < end; term++)
        ns_text_addf(text,
                     "%s(&sum, convolve(p, &p->full, %u, %u));\n"
                     "ends %c= v[%u] * l[%u] + l[%u] * v[%u] + edges(p, %u, %u);\n",
                     term->sign < 0 ? "minus" : "plus", term->a.row, term->b.row,
                     term->sign < 0 ? '-' : '+', term->a.cell, term->b.cell, term->a.cell,
                     term->b.cell, term->a.row, term->b.row);
    ns_text_addf(text, "l[%u] = total(&sum) + ends; }\n", op->y.cell);
}

static void emit_solve(ns_text *text, const ns_jet *jet, const ns_jet_op *op)
{
    const ns_jet_matrix *m = &jet->matrices[op->matrix];
    const uint32_t *b = jet->tape->args.at + op->first;
    const ns_jet_entry *M = jet->entries.at + m->first, *end = M + m->count;
    ns_text_add(text, "{ double *s = w->scratch;\n");
    for (uint32_t i = 0; i < m->n; i++) {
        ns_text_addf(text, "{ double ends = l[%u]; four sum = {0};\n", b[i]);
        for (; M < end && M->i == i; M++)
            ns_text_addf(text,
                         "minus(&sum, convolve(p, &p->full, %u, %u));\n"
                         "ends -= l[%u] * v[%u] + edges(p, %u, %u);\n",
                         M->M.row, op->y.row + M->j, M->M.cell, op->y.cell + M->j, M->M.row,
                         op->y.row + M->j);
        ns_text_addf(text, "s[%u] = ends + total(&sum); }\n", i);
    }
    ns_text_addf(text, "m->solve(%u, w->factors + %zu, s);\n", m->n, m->place);
    for (uint32_t i = 0; i < m->n; i++)
        ns_text_addf(text, "l[%u] = s[%u];\n", op->y.cell + i, i);
    ns_text_add(text, "}\n");
}

static void emit_angle(ns_text *text, const ns_jet_op *op)
{
    ns_text_addf(text,
                 "{ const double da = n * l[%u], db = n * l[%u]; four sum = {0};\n"
                 "plus(&sum, convolve(p, &p->full, %u, %u));\n"
                 "minus(&sum, convolve(p, &p->full, %u, %u));\n"
                 "minus(&sum, convolve(p, &p->full, %u, %u));\n"
                 "l[%u] = da; l[%u] = db;\n",
                 op->a.cell, op->b.cell, op->da.row, op->b.row, op->db.row, op->a.row,
                 op->dy.row, op->w.row, op->da.cell, op->db.cell);
    ns_text_addf(text,
                 "const double ends = da * v[%u] - db * v[%u] + (edges(p, %u, %u) - edges(p, "
                 "%u, %u) - edges(p, %u, %u));\n"
                 "const double dy = (ends + total(&sum)) * (1 / v[%u]);\n"
                 "l[%u] = dy; l[%u] = divided(dy, p->inverse, p->rest); }\n",
                 op->b.cell, op->a.cell, op->da.row, op->b.row, op->db.row, op->a.row,
                 op->dy.row, op->w.row, op->w.cell, op->dy.cell, op->y.cell);
}

static void emit_op(ns_text *text, const ns_jet *jet, const ns_jet_op *op)
{
    const uint32_t y = op->y.cell, a = op->a.cell, b = op->b.cell, w = op->w.cell;
    switch ((ns_jet_rule)op->rule) {
    case NS_JET_ADD:
        ns_text_addf(text, "l[%u] = l[%u] + l[%u];\n", y, a, b);
        break;
    case NS_JET_SUB:
        ns_text_addf(text, "l[%u] = l[%u] - l[%u];\n", y, a, b);
        break;
    case NS_JET_NEG:
        ns_text_addf(text, "l[%u] = -l[%u];\n", y, a);
        break;
    case NS_JET_SCALE:
        ns_text_addf(text, "l[%u] = l[%u] * v[%u];\n", y, a, b);
        break;
    case NS_JET_SHRINK:
        ns_text_addf(text, "l[%u] = l[%u] * (1 / v[%u]);\n", y, a, b);
        break;
    case NS_JET_MUL:
        ns_text_addf(text, "l[%u] = middle(p, %u, %u) + (v[%u] * l[%u] + l[%u] * v[%u]);\n", y,
                     op->a.row, op->b.row, a, b, a, b);
        break;
    case NS_JET_SQUARE:
        ns_text_addf(text, "l[%u] = middle_square(p, %u) + 2 * v[%u] * l[%u];\n", y, op->a.row,
                     a, a);
        break;
    case NS_JET_SUM:
        emit_sum(text, jet, op);
        break;
    case NS_JET_DIV:
        ns_text_addf(text,
                     "l[%u] = (l[%u] - (middle(p, %u, %u) + l[%u] * v[%u])) * (1 / v[%u]);\n",
                     y, a, op->b.row, op->y.row, b, y, b);
        break;
    case NS_JET_POWER:
        ns_text_addf(text, "l[%u] = jpower(p, %u, %u, v[%u], l[%u], v[%u], v[%u]);\n", y,
                     op->a.row, op->y.row, b, a, a, y);
        break;
    case NS_JET_ROOT:
        ns_text_addf(text, "l[%u] = (l[%u] - middle_square(p, %u)) * (0.5 / v[%u]);\n", y, a,
                     op->y.row, y);
        break;
    case NS_JET_TIMES:
    case NS_JET_MINUS_TIMES:
        ns_text_addf(
            text,
            "{ const double da = n * l[%u]; l[%u] = da;\n"
            "l[%u] = divided(%s(middle(p, %u, %u) + da * v[%u]), p->inverse, p->rest); }\n",
            a, op->da.cell, y, op->rule == NS_JET_TIMES ? "" : "-", op->da.row, op->w.row, w);
        break;
    case NS_JET_OVER:
    case NS_JET_MINUS_OVER:
        ns_text_addf(text,
                     "{ const double dy = (%s(n * l[%u]) - middle(p, %u, %u)) * (1 / v[%u]);\n"
                     "l[%u] = dy; l[%u] = divided(dy, p->inverse, p->rest); }\n",
                     op->rule == NS_JET_OVER ? "" : "-", a, op->dy.row, op->w.row, w,
                     op->dy.cell, y);
        break;
    case NS_JET_ANGLE:
        emit_angle(text, op);
        break;
    case NS_JET_ABS:
        ns_text_addf(text, "l[%u] = jsign(v[%u]) * l[%u];\n", y, a, a);
        break;
    case NS_JET_SELECT:
        ns_text_addf(text, "l[%u] = v[%u] == v[%u] ? l[%u] : l[%u];\n", y, y, a, a, b);
        break;
    case NS_JET_ZERO:
        ns_text_addf(text, "l[%u] = 0;\n", y);
        break;
    case NS_JET_SOLVE:
        emit_solve(text, jet, op);
        break;
    }
}

#define ARGUMENTS "(const jetmath *m, const block *w, const pass *p)"

static void open_chunk(ns_text *text, const char *name, uint32_t chunk)
{
    ns_text_addf(text,
                 "static __attribute__((noinline)) void %s_jet_%u" ARGUMENTS "\n{\n"
                 "const double *restrict v = w->value; double *restrict l = w->latest; const "
                 "double n = p->n;\n(void)m; (void)v; (void)l; (void)n;\n",
                 name, chunk);
}

bool ns_jet_is_local(const ns_jet *jet)
{
    enum { LOCAL = 300 }; /* more take the compiler too long */
    return jet->ops.n <= LOCAL && jet->terms.n <= LOCAL;
}

void ns_jet_emit(ns_text *text, ns_arena *arena, const ns_jet *jet, const char *name)
{
    const ns_tape *tape = jet->tape;
    ns_text_addf(text,
                 "void %s_values(const jetmath *m, const block *w)\n{\ndouble *v = w->value; "
                 "(void)m;\n",
                 name);
    for (uint32_t i = tape->nbound; i < tape->ops.n; i++)
        emit_value(text, jet, &tape->ops.at[i]);
    ns_text_add(text, "}\n");
    if (ns_jet_is_local(jet)) {
        ns_jet_emit_local(text, arena, jet, name);
        return;
    }
    uint32_t chunks = 0;
    for (uint32_t i = 0; i < jet->ops.n; i++) {
        if (i % CHUNK == 0) {
            ns_text_add(text, i ? "}\n" : "");
            open_chunk(text, name, chunks++);
        }
        emit_op(text, jet, &jet->ops.at[i]);
    }
    ns_text_add(text, chunks ? "}\n" : "");
    ns_text_addf(
        text,
        "void %s_orders(const jetmath *m, const block *w, unsigned n)\n{\n"
        "pass made, *p = &made; double *l = w->latest, *q = w->prev, *to = w->rows + n - 2;\n"
        "made.n = n; made.rows = w->rows; made.prev = q; made.stride = w->stride; made.inverse "
        "= 1.0 / n;\n"
        "made.full = length_of(n > 3 ? n - 3 : 0);\n"
        "made.half = length_of(n > 4 ? (n - 1) / 2 - 1 : 0);\n",
        name);
    for (uint32_t i = 0; i < chunks; i++)
        ns_text_addf(text, "%s_jet_%u(m, w, p);\n", name, i);
    ns_text_add(text, "if (n > 1) {\n");
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "to[%u * w->stride] = q[%u];\n", row, row);
    ns_text_add(text, "}\n");
    for (uint32_t row = 1; row < jet->rows.n; row++)
        ns_text_addf(text, "q[%u] = l[%u];\n", row, jet->rows.at[row]);
    ns_text_add(text, "}\n");
}
