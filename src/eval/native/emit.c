/* From stream to C: see emit.h.  The words are decoded to instructions first; a look ahead
 * tells which values leave their chunk; then the text is written, once for each number of
 * lanes. */
#include "eval/native/emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define NONE UINT32_MAX

/* One instruction of the stream, or the copying of an output. */
typedef struct instruction {
    uint32_t code;
    uint32_t op;           /* CALL: operation; FACTOR, SOLVE: size */
    const uint32_t *words; /* operands as places */
    uint32_t n;
    uint32_t y, z;    /* places written, NONE: none.  FACTOR: the matrix; SOLVE: first of n */
    uint32_t matrix;  /* SOLVE: its place */
    uint32_t maker;   /* SOLVE: the instruction that made the matrix, NONE: bind */
    bool takes_acc;   /* uses the result of the instruction before */
    bool written_out; /* FACTOR, SOLVE: not left to the engine */
    uint32_t chunk;
    bool
        *keep; /* of each value written: a later chunk or a copy from the work block reads it */
} instruction;

typedef struct emission {
    ns_arena *arena;
    ns_text *text;
    const ns_stream *stream;
    const char *name;
    NS_LIST(instruction) code;
    uint32_t chunks;
    bool fused;       /* sums with a product round once */
    bool inputs;      /* copies read x or t from the work block */
    uint32_t *writer; /* [cells] the instruction that wrote a cell last, NONE: bind or input */
    uint32_t *loaded; /* [cells] 1 + the chunk in which a cell from outside has a local name */
    const ns_stream_constant **constant; /* [cells] */
} emission;

static const struct {
    uint32_t operands;
    const char *text;
} forms[NS_CODE_COUNT] = {
#define NS_FORM(NAME, OPERANDS, EXPRESSION)                                                    \
    [NS_CODE_##NAME] = {OPERANDS, #EXPRESSION}, [NS_CODE_##NAME##_S] = {OPERANDS, #EXPRESSION},
#include "eval/forms.def"
#undef NS_FORM
};

static bool stores(uint32_t code)
{
    switch (code) {
#define NS_FORM(NAME, ...)                                                                     \
    case NS_CODE_##NAME##_S:                                                                   \
        return true;
#include "eval/forms.def"
#undef NS_FORM
    default:
        return false;
    }
}

/* ---- decoding ---------------------------------------------------------------------------- */

static uint32_t written_by(const instruction *i)
{
    switch (i->code) {
    case NS_CODE_SINCOS:
        return 2;
    case NS_CODE_FACTOR:
        return i->op * (i->op + 1);
    case NS_CODE_SOLVE:
        return i->op;
    default:
        return 1;
    }
}

static void decode(emission *e)
{
    for (const uint32_t *pc = e->stream->run; *pc != NS_CODE_END;) {
        instruction i = {.code = *pc, .y = NONE, .z = NONE, .matrix = NONE, .maker = NONE};
        switch (i.code) {
        case NS_CODE_CALL:
            i.op = pc[1];
            i.words = pc + 2;
            i.n = 2;
            i.y = pc[4];
            pc += 5;
            break;
        case NS_CODE_SINCOS:
            i.words = pc + 1;
            i.n = 1;
            i.y = pc[2];
            i.z = pc[3];
            pc += 4;
            break;
        case NS_CODE_FACTOR:
            i.op = pc[1];
            i.y = pc[2];
            i.words = pc + 3;
            i.n = i.op * i.op;
            pc += 3 + i.n;
            break;
        case NS_CODE_SOLVE:
            i.op = pc[1];
            i.matrix = pc[2];
            i.y = pc[3];
            i.words = pc + 4;
            i.n = i.op;
            pc += 4 + i.n;
            break;
        default:
            i.n = forms[i.code].operands;
            i.words = pc + 1;
            i.takes_acc = strstr(forms[i.code].text, "acc") != NULL;
            if (stores(i.code))
                i.y = pc[1 + i.n];
            pc += 1 + i.n + stores(i.code);
        }
        i.keep = NS_NEW_ARRAY(e->arena, bool, written_by(&i));
        NS_PUSH(e->arena, e->code, i);
    }
}

static uint32_t weight(const instruction *i)
{
    const uint32_t n = i->op;
    if (i->code == NS_CODE_FACTOR)
        return n <= NS_EMIT_SMALL ? n * n * n : 2 * n * n;
    if (i->code == NS_CODE_SOLVE)
        return n <= NS_EMIT_SMALL ? n * n : 2 * n;
    return 1;
}

static uint32_t cell_of(uint32_t place)
{
    return place / NS_STREAM_CELL;
}

/* Chunks, and which matrices stay in one. */
static void cut(emission *e)
{
    uint32_t used = 0, chunk = 0;
    for (uint32_t k = 0; k < e->code.n; k++) {
        instruction *i = &e->code.at[k];
        used += weight(i);
        if (used > NS_EMIT_CHUNK && !i->takes_acc) {
            used = weight(i);
            chunk++;
        }
        i->chunk = chunk;
        if (i->code == NS_CODE_FACTOR) {
            i->written_out = i->op <= NS_EMIT_SMALL;
            e->writer[cell_of(i->y)] = k;
        } else if (i->code == NS_CODE_SOLVE) {
            i->maker = e->writer[cell_of(i->matrix)];
            if (i->maker != NONE && e->code.at[i->maker].chunk != chunk)
                e->code.at[i->maker].written_out = false;
        }
    }
    for (uint32_t k = 0; k < e->code.n; k++) {
        instruction *i = &e->code.at[k];
        if (i->code == NS_CODE_SOLVE)
            i->written_out = i->maker != NONE && e->code.at[i->maker].written_out;
    }
    e->chunks = chunk + 1;
}

/* ---- which values leave their chunk ------------------------------------------------------ */

static void set_writers(emission *e, uint32_t k)
{
    const instruction *i = &e->code.at[k];
    if (i->code == NS_CODE_FACTOR)
        return; /* found through SOLVE */
    const uint32_t n = i->code == NS_CODE_SOLVE ? i->op : 1;
    for (uint32_t j = 0; j < n && i->y != NONE; j++) {
        e->writer[cell_of(i->y) + j] = k;
        e->loaded[cell_of(i->y) + j] = 0;
    }
    if (i->z != NONE)
        e->writer[cell_of(i->z)] = k;
}

/* Which of the values that instruction i writes is the cell? */
static uint32_t number_of(const instruction *i, uint32_t cell)
{
    return i->z != NONE && cell == cell_of(i->z) ? 1 : cell - cell_of(i->y);
}

/* A system that is left to the engine: what it needs is copied from the work block. */
static bool copies(const instruction *i)
{
    return (i->code == NS_CODE_FACTOR || i->code == NS_CODE_SOLVE) && !i->written_out;
}

static void note_read(emission *e, uint32_t place, uint32_t chunk)
{
    const uint32_t cell = cell_of(place), k = e->writer[cell];
    e->inputs = e->inputs || (chunk == NONE && cell <= e->stream->nx);
    if (k >= e->code.n)
        return;
    const instruction *i = &e->code.at[k];
    if (i->chunk != chunk)
        i->keep[number_of(i, cell)] = true;
}

static void find_kept(emission *e)
{
    memset(e->writer, 0xff, e->stream->cells * sizeof *e->writer);
    for (uint32_t k = 0; k < e->code.n; k++) {
        const instruction *i = &e->code.at[k];
        for (uint32_t j = 0; j < i->n; j++)
            note_read(e, i->words[j], copies(i) ? NONE : i->chunk);
        set_writers(e, k);
    }
    for (uint32_t j = 0; j < e->stream->nout; j++)
        note_read(e, e->stream->out[j], e->chunks - 1);
}

/* ---- names ------------------------------------------------------------------------------- */

typedef struct word {
    char text[40];
} word;

#define WORD(made, ...) snprintf((made).text, sizeof(made).text, __VA_ARGS__)

/* The value that instruction k makes, or the j-th of its values. */
static word value_1(uint32_t k)
{
    word made;
    WORD(made, "v%u", k);
    return made;
}

static word value_2(uint32_t k, uint32_t j)
{
    word made;
    WORD(made, "v%u_%u", k, j);
    return made;
}

/* Memory of a cell that has no local name: input, time, or work block. */
static word memory(const emission *e, uint32_t cell)
{
    word made;
    if (cell == e->stream->nx)
        WORD(made, "T(0)");
    else
        WORD(made, "%c(%u)", cell < e->stream->nx ? 'X' : 'W', cell);
    return made;
}

/* Is the value of a cell a number that C can write? */
static bool is_number(const emission *e, uint32_t cell)
{
    return e->constant[cell] && isfinite(e->constant[cell]->hi);
}

/* The name by which the chunk knows a cell; a first load is written before. */
static word value_of(emission *e, uint32_t place, uint32_t chunk)
{
    const uint32_t cell = cell_of(place), k = e->writer[cell];
    if (k < e->code.n && e->code.at[k].chunk == chunk && !copies(&e->code.at[k])) {
        const instruction *i = &e->code.at[k];
        if (i->code != NS_CODE_SOLVE && i->code != NS_CODE_SINCOS)
            return value_1(k);
        return value_2(k, number_of(i, cell));
    }
    word made;
    if (is_number(e, cell)) {
        WORD(made, "(%a)", e->constant[cell]->hi);
        return made;
    }
    /* its name tells its writer, for a cell may be written again */
    const uint32_t writer = k == NONE ? 0 : k + 1;
    if (e->loaded[cell] != chunk + 1) {
        e->loaded[cell] = chunk + 1;
        ns_text_addf(e->text, "V c%u_%u = %s;\n", writer, cell, memory(e, cell).text);
    }
    WORD(made, "c%u_%u", writer, cell);
    return made;
}

/* ---- instructions ------------------------------------------------------------------------ */

static void keep(emission *e, const instruction *i, uint32_t number, uint32_t cell,
                 const char *value)
{
    if (i->keep[number])
        ns_text_addf(e->text, "W(%u) = %s;\n", cell, value);
}

/* The text of a form, from `at` on, with the names of its operands put in and sums and products
 * as C writes them: macros would take longer to read than the rest.  Returns what is after
 * it. */
static const char *emit_expression(emission *e, uint32_t k, const word *operand, const char *at)
{
    static const struct {
        const char *name, *sign;
    } infix[] = {{"ADD", " + "}, {"SUB", " - "}, {"MUL", " * "}, {"DIV", " / "}};
    const size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    const char *name = at;
    at += length;
    if (*at != '(') {
        if (length == 1)
            ns_text_add(e->text, operand[*name - 'A'].text);
        else
            ns_text_addf(e->text, "v%u", k - 1); /* acc */
        return at;
    }
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
        if (strncmp(name, infix[i].name, length) == 0) {
            ns_text_add(e->text, "(");
            at = emit_expression(e, k, operand, at + 1);
            ns_text_add(e->text, infix[i].sign);
            at = emit_expression(e, k, operand, at + strspn(at, ", "));
            ns_text_add(e->text, ")");
            return at + 1;
        }
    const bool negative = strncmp(name, "NEG", length) ==
                          0; /* else SQRT; one argument counts */
    ns_text_add(e->text, negative ? "(-" : "SQRT(");
    at = emit_expression(e, k, operand, at + 1);
    ns_text_add(e->text, ")");
    return at + strcspn(at, ")") + 1;
}

/* A sum with a product: its three operands and the signs between them. */
static bool emit_product(emission *e, uint32_t k, const word *operand, const char *text)
{
    static const struct {
        const char *name, *plain[4], *fused[4];
        int order[3]; /* of the operands when fused */
    } sums[] = {
        {"ADD_MUL(", {"(", " + (", " * ", "))"}, {"FMA(", ", ", ", ", ")"}, {1, 2, 0}},
        {"SUB_MUL(", {"(", " - (", " * ", "))"}, {"FNMA(", ", ", ", ", ")"}, {1, 2, 0}},
        {"MUL_SUB(", {"((", " * ", ") - ", ")"}, {"FMS(", ", ", ", ", ")"}, {0, 1, 2}},
    };
    const size_t length = strlen(sums[0].name);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (strncmp(text, sums[i].name, length) != 0)
            continue;
        const char *const *between = e->fused ? sums[i].fused : sums[i].plain;
        const char *at[3];
        text += length;
        for (int j = 0; j < 3; j++) {
            at[j] = text;
            text += strcspn(text, ",)") + 1;
            text += strspn(text, " ");
        }
        for (int j = 0; j < 3; j++) {
            ns_text_add(e->text, between[j]);
            emit_expression(e, k, operand, at[e->fused ? sums[i].order[j] : j]);
        }
        ns_text_add(e->text, between[3]);
        return true;
    }
    return false;
}

static void emit_form(emission *e, uint32_t k)
{
    const instruction *i = &e->code.at[k];
    word operand[3];
    for (uint32_t j = 0; j < i->n; j++)
        operand[j] = value_of(e, i->words[j], i->chunk);
    ns_text_addf(e->text, "V v%u = ", k);
    if (!emit_product(e, k, operand, forms[i->code].text))
        emit_expression(e, k, operand, forms[i->code].text);
    ns_text_add(e->text, ";\n");
    if (i->y != NONE)
        keep(e, i, 0, cell_of(i->y), value_1(k).text);
}

/* Functions take their arguments in memory. */
static void spill(emission *e, uint32_t k, uint32_t j)
{
    const instruction *i = &e->code.at[k];
    const uint32_t cell = cell_of(i->words[j]);
    if (is_number(e, cell)) /* a number in the work block, where bind has put it */
        ns_text_addf(e->text, "V a%u_%u = W(%u);\n", k, j, cell);
    else {
        const word value = value_of(e, i->words[j], i->chunk);
        ns_text_addf(e->text, "V a%u_%u = %s;\n", k, j, value.text);
    }
}

static void emit_call(emission *e, uint32_t k)
{
    const instruction *i = &e->code.at[k];
    for (uint32_t j = 0; j < i->n; j++)
        spill(e, k, j);
    if (i->code == NS_CODE_SINCOS) {
        ns_text_addf(e->text,
                     "V v%u_0, v%u_1;\nm->sincos((double *)&v%u_0, (double *)&v%u_1, "
                     "(const double *)&a%u_0);\n",
                     k, k, k, k, k);
        keep(e, i, 0, cell_of(i->y), value_2(k, 0).text);
        keep(e, i, 1, cell_of(i->z), value_2(k, 1).text);
        return;
    }
    ns_text_addf(e->text,
                 "V v%u;\nm->call[%u]((double *)&v%u, (const double *)&a%u_0, "
                 "(const double *)&a%u_1);\n",
                 k, i->op, k, k, k);
    keep(e, i, 0, cell_of(i->y), value_1(k).text);
}

/* The operands of an instruction from their cells to a row of cells. */
static void emit_copy(emission *e, uint32_t k)
{
    const instruction *i = &e->code.at[k];
    ns_text_addf(e->text, "{ static const unsigned from[] = {");
    for (uint32_t j = 0; j < i->n; j++)
        ns_text_addf(e->text, "%u,%s", cell_of(i->words[j]), j % 16 == 15 ? "\n" : "");
    ns_text_addf(e->text, "};\nfor (unsigned i = 0; i < %uu; i++) W(%uu + i) = W(from[i]); }\n",
                 i->n, cell_of(i->y));
}

/* expr/lu.inc written out; the rows of the matrix are m<k>_<row>_<column>, the row exchanged
 * with row r is p<k>_<r>. */
static void emit_factor(emission *e, uint32_t k)
{
    const instruction *i = &e->code.at[k];
    const uint32_t n = i->op;
    ns_text *text = e->text;
    if (!i->written_out) {
        emit_copy(e, k);
        ns_text_addf(text, "m->factor(%uu, (double *)&W(%u));\n", n, cell_of(i->y));
        return;
    }
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n; c++) {
            const word value = value_of(e, i->words[r * n + c], i->chunk);
            ns_text_addf(text, "V m%u_%u_%u = ALL(%s);\n", k, r, c, value.text);
        }
    for (uint32_t r = 0; r < n; r++) {
        ns_text_addf(text, "I p%u_%u = ROW(%u);\n", k, r, r);
        if (r + 1 < n) {
            ns_text_addf(text, "{ V most = ABS(m%u_%u_%u), size; I q;\n", k, r, r);
            for (uint32_t s = r + 1; s < n; s++)
                ns_text_addf(text,
                             "size = ABS(m%u_%u_%u); q = size > most; most = SELECT(q, size, "
                             "most); p%u_%u = CHOOSE(q, %u, p%u_%u);\n",
                             k, s, r, k, r, s, k, r);
            ns_text_addf(text, "if (ANY(p%u_%u != %u)) {\n", k, r, r);
            for (uint32_t s = r + 1; s < n; s++) {
                ns_text_addf(text, "q = EQUAL(p%u_%u, %u);\n", k, r, s);
                for (uint32_t c = 0; c < n; c++)
                    ns_text_addf(text, "SWAP(q, m%u_%u_%u, m%u_%u_%u)\n", k, r, c, k, s, c);
            }
            ns_text_add(text, "} }\n");
        }
        ns_text_addf(text, "m%u_%u_%u = 1 / m%u_%u_%u;\n", k, r, r, k, r, r);
        for (uint32_t s = r + 1; s < n; s++) {
            ns_text_addf(text, "m%u_%u_%u = m%u_%u_%u * m%u_%u_%u;\n", k, s, r, k, s, r, k, r,
                         r);
            for (uint32_t c = r + 1; c < n; c++)
                ns_text_addf(text, "m%u_%u_%u -= m%u_%u_%u * m%u_%u_%u;\n", k, s, c, k, s, r, k,
                             r, c);
        }
    }
}

static void emit_solve(emission *e, uint32_t k)
{
    const instruction *i = &e->code.at[k];
    const uint32_t n = i->op, f = i->maker, y = cell_of(i->y);
    ns_text *text = e->text;
    if (!i->written_out) {
        emit_copy(e, k);
        ns_text_addf(text, "m->solve(%uu, (const double *)&W(%u), (double *)&W(%u));\n", n,
                     cell_of(i->matrix), y);
        return;
    }
    for (uint32_t r = 0; r < n; r++) {
        const word value = value_of(e, i->words[r], i->chunk);
        ns_text_addf(text, "V v%u_%u = ALL(%s);\n", k, r, value.text);
    }
    for (uint32_t r = 0; r + 1 < n; r++) {
        ns_text_addf(text, "if (ANY(p%u_%u != %u)) { I q;\n", f, r, r);
        for (uint32_t s = r + 1; s < n; s++)
            ns_text_addf(text, "q = EQUAL(p%u_%u, %u); SWAP(q, v%u_%u, v%u_%u)\n", f, r, s, k,
                         r, k, s);
        ns_text_add(text, "}\n");
    }
    for (uint32_t r = 1; r < n; r++)
        for (uint32_t c = 0; c < r; c++)
            ns_text_addf(text, "v%u_%u -= m%u_%u_%u * v%u_%u;\n", k, r, f, r, c, k, c);
    for (uint32_t r = n; r-- > 0;) {
        for (uint32_t c = r + 1; c < n; c++)
            ns_text_addf(text, "v%u_%u -= m%u_%u_%u * v%u_%u;\n", k, r, f, r, c, k, c);
        ns_text_addf(text, "v%u_%u *= m%u_%u_%u;\n", k, r, f, r, r);
    }
    for (uint32_t r = 0; r < n; r++)
        keep(e, i, r, y + r, value_2(k, r).text);
}

/* ---- functions --------------------------------------------------------------------------- */

static void emit_outputs(emission *e)
{
    const ns_stream *stream = e->stream;
    word *value = NS_NEW_ARRAY(e->arena, word, stream->nout + 1);
    for (uint32_t j = 0; j < stream->nout; j++)
        value[j] = value_of(e, stream->out[j], e->chunks - 1);
    for (uint32_t j = 0; j < stream->nout; j++)
        ns_text_addf(e->text, "Y(%u) = ALL(%s);\n", j, value[j].text);
}

#define PARAMETERS                                                                             \
    "(const math *m, double *work, const double *t, const double *x, double *out)"

static void emit_lanes(emission *e, const char *lanes)
{
    ns_text *text = e->text;
    memset(e->writer, 0xff, e->stream->cells * sizeof *e->writer);
    memset(e->loaded, 0, e->stream->cells * sizeof *e->loaded);
    for (uint32_t chunk = 0, k = 0; chunk < e->chunks; chunk++) {
        ns_text_addf(text, NS_EMIT_CUT "NOINLINE void %s_%s_%u" PARAMETERS "\n{\n", e->name,
                     lanes, chunk);
        if (chunk == 0 && e->inputs)
            ns_text_addf(text,
                         "for (unsigned i = 0; i < %uu; i++) W(i) = X(i);\nW(%u) = T(0);\n",
                         e->stream->nx, e->stream->nx);
        for (; k < e->code.n && e->code.at[k].chunk == chunk; k++) {
            switch (e->code.at[k].code) {
            case NS_CODE_CALL:
            case NS_CODE_SINCOS:
                emit_call(e, k);
                break;
            case NS_CODE_FACTOR:
                emit_factor(e, k);
                break;
            case NS_CODE_SOLVE:
                emit_solve(e, k);
                break;
            default:
                emit_form(e, k);
            }
            set_writers(e, k);
        }
        if (chunk + 1 == e->chunks)
            emit_outputs(e);
        ns_text_add(text, "}\n");
    }
    ns_text_add(text, NS_EMIT_CUT);
    for (uint32_t chunk = 0; chunk < e->chunks; chunk++)
        ns_text_addf(text, "NOINLINE void %s_%s_%u" PARAMETERS ";\n", e->name, lanes, chunk);
    ns_text_addf(text, "void %s_%s" PARAMETERS "\n{\n", e->name, lanes);
    for (uint32_t chunk = 0; chunk < e->chunks; chunk++)
        ns_text_addf(text, "%s_%s_%u(m, work, t, x, out);\n", e->name, lanes, chunk);
    ns_text_add(text, "}\n");
}

/* ---- what the text begins with ----------------------------------------------------------- */

static const char prelude[] =
    "#define NOINLINE __attribute__((noinline, visibility(\"hidden\")))\n"
    "typedef double vector8 __attribute__((vector_size(64)));\n"
    "typedef double vector8_in_memory __attribute__((vector_size(64), may_alias));\n"
    "typedef long long mask8 __attribute__((vector_size(64)));\n"
    /* no headers: reading them would take longer than compiling the rest */
    "static inline int any8(mask8 m)\n{\n"
    "#if defined(__AVX512DQ__)\n"
    "unsigned char k; __asm__(\"vptestmq %1, %1, %0\" : \"=Yk\"(k) : \"v\"(m)); return k != "
    "0;\n"
    "#else\n"
    "return (m[0] | m[1] | m[2] | m[3] | m[4] | m[5] | m[6] | m[7]) != 0;\n"
    "#endif\n}\n"
    "static inline vector8 sqrt8(vector8 a)\n{\n"
    "#if defined(__AVX512F__)\n"
    "vector8 y; __asm__(\"vsqrtpd %1, %0\" : \"=v\"(y) : \"v\"(a)); return y;\n"
    "#else\n"
    "for (int k = 0; k < 8; k++) a[k] = __builtin_sqrt(a[k]);\nreturn a;\n"
    "#endif\n}\n";

static const char undefine[] =
    "#undef V\n#undef I\n#undef W\n#undef X\n#undef T\n#undef Y\n#undef ALL\n#undef ROW\n"
    "#undef ABS\n#undef SELECT\n#undef CHOOSE\n#undef EQUAL\n#undef SWAP\n#undef ANY\n#undef "
    "SQRT\n#undef FMA\n#undef FNMA\n#undef FMS\n";

static const char one_lane[] = "#define V double\n"
                               "#define I long long\n"
                               "#define W(k) work[k]\n"
                               "#define X(k) x[k]\n"
                               "#define T(k) t[0]\n"
                               "#define Y(k) out[k]\n"
                               "#define ALL(a) (a)\n"
                               "#define ROW(k) k\n"
                               "#define ABS(a) __builtin_fabs(a)\n"
                               "#define SELECT(q, a, b) ((q) ? (a) : (b))\n"
                               "#define CHOOSE(q, k, p) ((q) ? (k) : (p))\n"
                               "#define EQUAL(p, k) ((p) == (k))\n"
                               "#define SWAP(q, a, b) if (q) { V u_ = a; a = b; b = u_; }\n"
                               "#define ANY(q) (q)\n"
                               "#define SQRT(a) __builtin_sqrt(a)\n";

static const char eight_lanes[] =
    "#define V vector8\n"
    "#define I mask8\n"
    "#define W(k) (*(vector8_in_memory *)(work + 8 * (unsigned long)(k)))\n"
    "#define X(k) (*(const vector8_in_memory *)(x + 8 * (k)))\n"
    "#define T(k) (*(const vector8_in_memory *)t)\n"
    "#define Y(k) (*(vector8_in_memory *)(out + 8 * (k)))\n"
    "#define ALL(a) ((a) - (vector8){0})\n" /* -0 and all others keep their bits */
    "#define ROW(k) ((mask8){0} + k)\n"
    "#define ABS(a) ((vector8)((mask8)(a) & 0x7fffffffffffffffll))\n"
    "#define SELECT(q, a, b) ((vector8)(((q) & (mask8)(a)) | (~(q) & (mask8)(b))))\n"
    "#define CHOOSE(q, k, p) (((q) & k) | (~(q) & (p)))\n"
    "#define EQUAL(p, k) ((p) == k)\n"
    "#define SWAP(q, a, b) { V u_ = a; a = SELECT(q, b, a); b = SELECT(q, u_, b); }\n"
    "#define ANY(q) any8(q)\n"
    "#define SQRT(a) sqrt8(a)\n";

/* Once per text; a processor without the instruction calls the C library's function.  gcc does
 * not see that a change of sign is part of the instruction. */
static const char fused_lanes[] =
    "#ifndef FUSED\n#define FUSED\n"
    "static inline vector8 fma8(vector8 a, vector8 b, vector8 c)\n{\n"
    "#if defined(__AVX512F__)\n"
    "return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);\n"
    "#elif defined(__FMA__)\n"
    "typedef double vector4 __attribute__((vector_size(32)));\n"
    "union { vector8 all; vector4 half[2]; } p = {a}, q = {b}, r = {c};\n"
    "for (int k = 0; k < 2; k++) p.half[k] = __builtin_ia32_vfmaddpd256(p.half[k], q.half[k], "
    "r.half[k]);\nreturn p.all;\n"
    "#else\n"
    "for (int k = 0; k < 8; k++) a[k] = __builtin_fma(a[k], b[k], c[k]);\nreturn a;\n"
    "#endif\n}\n#endif\n"
    "#define FMA(a, b, c) fma8(ALL(a), ALL(b), ALL(c))\n"
    "#if defined(__AVX512F__) && !defined(__clang__)\n"
    "#define FNMA(a, b, c) __builtin_ia32_vfnmaddpd512_mask(ALL(a), ALL(b), ALL(c), -1, 4)\n"
    "#define FMS(a, b, c) __builtin_ia32_vfmsubpd512_mask(ALL(a), ALL(b), ALL(c), -1, 4)\n"
    "#else\n"
    "#define FNMA(a, b, c) fma8(ALL(-a), ALL(b), ALL(c))\n"
    "#define FMS(a, b, c) fma8(ALL(a), ALL(b), ALL(-c))\n"
    "#endif\n";

void ns_emit_prelude(ns_text *text)
{
    ns_text_add(text, prelude);
    ns_text_addf(text,
                 "typedef struct math {\n"
                 "void (*call[%d])(double *, const double *, const double *);\n"
                 "void (*sincos)(double *, double *, const double *);\n"
                 "void (*factor)(unsigned, double *);\n"
                 "void (*solve)(unsigned, const double *, double *);\n"
                 "} math;\n",
                 NS_OP_COUNT);
}

void ns_emit_program(ns_text *text, ns_arena *scratch, const ns_stream *stream,
                     const char *name, unsigned lanes)
{
    NS_CHECK(name && scratch);
    emission *e = NS_NEW(scratch, emission);
    *e = (emission){.arena = scratch, .text = text, .stream = stream, .name = name};
    e->writer = NS_NEW_ARRAY(scratch, uint32_t, stream->cells + 1);
    e->loaded = NS_NEW_ARRAY(scratch, uint32_t, stream->cells + 1);
    e->constant = NS_NEW_ARRAY(scratch, const ns_stream_constant *, stream->cells + 1);
    memset(e->writer, 0xff, stream->cells * sizeof *e->writer);
    for (uint32_t i = 0; i < stream->constants.n; i++)
        e->constant[cell_of(stream->constants.at[i].place)] = &stream->constants.at[i];
    decode(e);
    cut(e);
    find_kept(e);
    if (lanes & NS_EMIT_ONE) {
        ns_text_add(text, NS_EMIT_MACROS);
        ns_text_add(text, undefine);
        ns_text_add(text, one_lane);
        emit_lanes(e, "1");
    }
    if (lanes & NS_EMIT_EIGHT) {
        ns_text_add(text, NS_EMIT_MACROS);
        ns_text_add(text, undefine);
        ns_text_add(text, eight_lanes);
        emit_lanes(e, "8");
    }
    if (lanes & NS_EMIT_EIGHT_FUSED) {
        ns_text_add(text, NS_EMIT_MACROS);
        ns_text_add(text, undefine);
        ns_text_add(text, eight_lanes);
        ns_text_add(text, fused_lanes);
        e->fused = true;
        emit_lanes(e, "8f");
    }
}
