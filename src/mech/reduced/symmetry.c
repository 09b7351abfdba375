/* Reading a `symmetry` block and verifying it (Bloch, Marsden and Zenkov 2009, Definition 2.2
 * and section 4.1).
 *
 * A connected group leaves L invariant if the derivative of L along every generator, lifted to
 * the velocities, vanishes:
 *
 *     X^i dL/dq^i + (dX^i/dq^j) q'^j dL/dq'^i = 0,
 *
 * and the constraints a^s(q).q' = 0 if the derivative of each row stays a combination of the
 * rows:
 *
 *     (L_X a^s)_j = X^i d_i a^s_j + a^s_i d_j X^i   in   span(a^1 .. a^p).
 *
 * Affine constraints a^s.q' + b^s = 0 are invariant if (L_X a^s, X[b^s]) stays in the span of
 * the (a^s, b^s).
 * Both are evaluated, from exact derivatives, at random states near the start. */
#include "mech/reduced/symmetry.h"

#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "expr/eval.h"
#include "expr/subst.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"

/* Relative failure up to which a law counts as exact: round-off of long expressions. */
static const double exact = 1e-9;

/* Of the group: the work grows with the fourth power. */
enum { MOST = 64 };

static const char *coordinate_name(const ns_symmetry *y, uint32_t i)
{
    return y->d->coordinates.at[i].name;
}

/* ---- the split --------------------------------------------------------------------------- */

/* The places of the coordinates that a property lists. */
static bool read_coordinates(const ns_symmetry *y, const ns_property *p, uint32_t *list,
                             uint32_t *count, bool *taken)
{
    for (uint32_t i = 0; i < p->values; i++) {
        uint32_t c = 0;
        const bool scalar = p->value[i].rows == 1 && p->value[i].cols == 1;
        while (scalar && c < y->n && p->value[i].at[0] != y->q[c])
            c++;
        if (!scalar || c == y->n || taken[c]) {
            if (scalar && c < y->n)
                ns_diag_error(y->d->diag, p->value_span,
                              "coordinate `%s` is listed twice in the symmetry",
                              coordinate_name(y, c));
            else
                ns_diag_error(y->d->diag, p->value_span, "value %u of `%s` is not a coordinate",
                              i + 1, p->name);
            return false;
        }
        taken[c] = true;
        list[(*count)++] = c;
    }
    if (!p->values)
        ns_diag_error(y->d->diag, p->span, "`%s` needs coordinates", p->name);
    return p->values > 0;
}

static bool read_split(ns_symmetry *y)
{
    const ns_property *shape = ns_block_find(y->block, "shape"),
                      *on = ns_block_find(y->block, "on");
    bool *taken = NS_NEW_ARRAY(y->d->arena, bool, y->n);
    y->shape = NS_NEW_ARRAY(y->d->arena, uint32_t, y->n);
    y->group = NS_NEW_ARRAY(y->d->arena, uint32_t, y->n);
    if ((shape && !read_coordinates(y, shape, y->shape, &y->sigma, taken)) ||
        (on && !read_coordinates(y, on, y->group, &y->k, taken)))
        return false;
    for (uint32_t i = 0; i < y->n; i++) {
        if (taken[i])
            continue;
        if (shape && on) {
            ns_diag_error(y->d->diag, y->block->span,
                          "coordinate `%s` is neither a shape nor a group coordinate of the "
                          "symmetry",
                          coordinate_name(y, i));
            return false;
        }
        if (on)
            y->shape[y->sigma++] = i;
        else
            y->group[y->k++] = i;
    }
    return true;
}

/* ---- the group --------------------------------------------------------------------------- */

static bool read_factor(ns_symmetry *y, const ns_property *p, uint32_t *first)
{
    double argument = 0;
    if (!p->word || p->values != 1 ||
        !ns_graph_is_number(y->d->graph, p->value[0].at[0], &argument) ||
        !(argument >= 1 && argument <= 1000) || floor(argument) < argument) {
        ns_diag_error(y->d->diag, p->values || p->word ? p->value_span : p->span,
                      "expected a group: R(n), SO(2), SE(2), SO(3), SE(3), one per `group` "
                      "line, or generators (with a parameter called R, write "
                      "translations(n))");
        return false;
    }
    ns_group_factor f = {.first = *first, .span = p->value_span};
    f.name = ns_arena_format(y->d->arena, "%s(%u)", p->word, (unsigned)argument);
    if (!ns_symmetry_group_find(p->word, (uint32_t)argument, &f.kind, &f.dim)) {
        ns_diag_error(y->d->diag, p->value_span,
                      "the group %s is not known; there are R(n), SO(2), SE(2), SO(3), SE(3) "
                      "and their products, or give generators",
                      f.name);
        return false;
    }
    *first += f.dim;
    NS_PUSH(y->d->arena, y->factors, f);
    return true;
}

/* Vectors of n components along the coordinates, which move the group coordinates alone. */
static bool read_fields(ns_symmetry *y, const char *name, ns_ex *fields, uint32_t *count)
{
    ns_graph *g = y->d->graph;
    for (uint32_t b = 0; b < y->block->properties.n; b++) {
        const ns_property *p = &y->block->properties.at[b];
        if (strcmp(p->name, name) != 0)
            continue;
        for (uint32_t i = 0; i < p->values; i++, ++*count) {
            const bool fits = p->value[i].rows * p->value[i].cols == y->n;
            bool vertical = fits, own = fits;
            for (uint32_t j = 0; fits && j < y->sigma; j++)
                vertical = vertical && ns_graph_is_zero(g, p->value[i].at[y->shape[j]]);
            for (uint32_t j = 0; fits && j < y->n; j++)
                own = own && !ns_graph_depends(g, p->value[i].at[j], y->r, y->sigma) &&
                      !ns_graph_depends(g, p->value[i].at[j], y->dq, y->n) &&
                      !ns_graph_depends(g, p->value[i].at[j], &y->d->time, 1);
            if (!fits || !vertical || !own || *count >= y->k) {
                ns_diag_error(
                    y->d->diag, p->value_span,
                    !fits       ? "a `%s` needs %u components, one per coordinate"
                    : !vertical ? "a `%s` moves none but the %u group coordinates: wrong split"
                    : !own      ? "a `%s` may depend on the %u group coordinates and on "
                                  "parameters only"
                                : "more `%s` vectors than the %u group coordinates",
                    name, fits ? y->k : y->n);
                return false;
            }
            memcpy(fields + *count * y->n, p->value[i].at, y->n * sizeof(ns_ex));
        }
    }
    return true;
}

static void bracket(const ns_symmetry *y, const ns_ex *a, const ns_ex *b, ns_ex *out)
{
    ns_graph *g = y->d->graph;
    ns_ex *forward = NS_NEW_ARRAY(y->d->arena, ns_ex, y->n);
    ns_diff_along(g, b, y->n, y->q, a, y->n, forward);
    ns_diff_along(g, a, y->n, y->q, b, y->n, out);
    for (uint32_t i = 0; i < y->n; i++)
        out[i] = ns_sub(g, forward[i], out[i]);
}

void ns_symmetry_point(const ns_symmetry *y, uint32_t point, uint64_t *seed,
                       const ns_ex **symbol, const double **value, uint32_t *count)
{
    const ns_description *d = y->d;
    const uint32_t np = d->params.n, n = y->n;
    ns_ex *x = NS_NEW_ARRAY(d->arena, ns_ex, np + 2 * n);
    double *v = NS_NEW_ARRAY(d->arena, double, np + 2 * n);
    ns_system_params(y->s, NULL, NULL, v);
    for (uint32_t i = 0; i < np; i++)
        x[i] = d->params.at[i].symbol;
    for (uint32_t i = 0; i < n; i++) {
        x[np + i] = y->q[i];
        x[np + n + i] = y->dq[i];
        for (uint32_t k = 0; k < d->starts.n; k++)
            if (d->starts.at[k].symbol == y->q[i])
                ns_eval(d->graph, &d->starts.at[k].value, 1, x, v, np, &v[np + i]);
        if (!isfinite(v[np + i]))
            v[np + i] = 0;
        if (point)
            v[np + i] += (0.4 + 0.2 * fabs(v[np + i])) * (2 * ns_eval_random(seed) - 1);
        v[np + n + i] = 2 * ns_eval_random(seed) - 1;
    }
    *symbol = x;
    *value = v;
    *count = np + 2 * n;
}

/* Largest relative size of sums over random states: terms[rows][width] adds up to zero in each
 * row.  *row: where. */
static double sum_rule(const ns_symmetry *y, const ns_ex *terms, uint32_t rows, uint32_t width,
                       uint32_t *row)
{
    double *at = NS_NEW_ARRAY(y->d->arena, double, (size_t)rows * width + 1), worst = 0;
    double *total = NS_NEW_ARRAY(y->d->arena, double, (size_t)rows * NS_SYMMETRY_POINTS + 1);
    double *size = NS_NEW_ARRAY(y->d->arena, double, (size_t)rows * NS_SYMMETRY_POINTS + 1);
    double largest = 0;
    uint64_t seed = 2009;
    *row = 0;
    for (uint32_t point = 0; point < NS_SYMMETRY_POINTS; point++) {
        const ns_ex *symbol;
        const double *value;
        uint32_t count;
        ns_symmetry_point(y, point, &seed, &symbol, &value, &count);
        ns_eval(y->d->graph, terms, (size_t)rows * width, symbol, value, count, at);
        for (uint32_t i = 0; i < rows; i++) {
            double *t = &total[point * rows + i], *s = &size[point * rows + i];
            for (uint32_t j = 0; j < width; j++) {
                *t += at[i * width + j];
                *s += fabs(at[i * width + j]);
            }
            if (isfinite(*s))
                largest = ns_max(largest, *s);
            else
                *t = *s = 0; /* a state where the model is undefined tells nothing */
        }
    }
    for (uint32_t i = 0; i < rows * NS_SYMMETRY_POINTS && largest > 0; i++) {
        const double relative = fabs(total[i]) / ns_max(size[i], 1e-3 * largest);
        if (relative > worst) {
            worst = relative;
            *row = i % rows;
        }
    }
    return worst;
}

/* Do all fields of one list commute with all of the other? */
static double commute(const ns_symmetry *y, const ns_ex *a, const ns_ex *b, uint32_t *which)
{
    const uint32_t n = y->n, k = y->k;
    ns_ex *forward = NS_NEW_ARRAY(y->d->arena, ns_ex, n), *back;
    back = NS_NEW_ARRAY(y->d->arena, ns_ex, n);
    ns_ex *terms = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)k * k * n * 2);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = 0; j < k; j++) {
            ns_diff_along(y->d->graph, b + j * n, n, y->q, a + i * n, n, forward);
            ns_diff_along(y->d->graph, a + i * n, n, y->q, b + j * n, n, back);
            for (uint32_t c = 0; c < n; c++) {
                terms[(((size_t)i * k + j) * n + c) * 2] = forward[c];
                terms[(((size_t)i * k + j) * n + c) * 2 + 1] = ns_neg(y->d->graph, back[c]);
            }
        }
    uint32_t row;
    const double worst = sum_rule(y, terms, k * k * n, 2, &row);
    *which = row / n;
    return worst;
}

static bool read_generators(ns_symmetry *y, ns_span span)
{
    ns_graph *g = y->d->graph;
    uint32_t generators = 0, fields = 0, which = 0;
    if (!read_fields(y, "generator", y->X, &generators) ||
        !read_fields(y, "field", y->E, &fields))
        return false;
    if (generators != y->k || (fields && fields != y->k)) {
        ns_diag_error(y->d->diag, span,
                      "%u group coordinates need %u `%s` vectors, there are %u: wrong split",
                      y->k, y->k, generators != y->k ? "generator" : "field",
                      generators != y->k ? generators : fields);
        return false;
    }
    if (!fields)
        memcpy(y->E, y->X, sizeof(ns_ex) * y->k * y->n);
    const double worst = commute(y, y->X, y->E, &which);
    if (y->k && worst > exact) {
        ns_diag_error(y->d->diag, span,
                      fields ? "generator %u and field %u do not commute (relative %.2g): "
                               "`field` lists the invariant fields"
                             : "generators %u and %u do not commute (relative %.2g): give the "
                               "fields that are invariant under them with `field`",
                      which / y->k + 1, which % y->k + 1, worst);
        return false;
    }
    NS_PUSH(y->d->arena, y->factors,
            (ns_group_factor){.kind = NS_GROUP_FIELDS,
                              .name = ns_arena_format(y->d->arena, "generators(%u)", y->k),
                              .dim = y->k,
                              .span = span});
    /* structure constants, by components along the group coordinates */
    ns_ex *M = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)y->k * y->k);
    ns_ex *b = NS_NEW_ARRAY(y->d->arena, ns_ex, y->n);
    ns_ex *right = NS_NEW_ARRAY(y->d->arena, ns_ex, y->k);
    for (uint32_t i = 0; i < y->k; i++)
        for (uint32_t A = 0; A < y->k; A++)
            M[i * y->k + A] = y->E[A * y->n + y->group[i]];
    for (uint32_t A = 0; fields && A < y->k; A++)
        for (uint32_t B = 0; B < y->k; B++) {
            bracket(y, y->E + A * y->n, y->E + B * y->n, b);
            for (uint32_t i = 0; i < y->k; i++)
                right[i] = b[y->group[i]];
            ns_solve(g, y->k, M, right, y->C0 + (A * y->k + B) * y->k);
        }
    return true;
}

/* The point of the group at which everything is evaluated: zero, for Euler angles theta = pi/2,
 * for generators the start (where they are surely regular). */
static void choose_point(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    y->from = NS_NEW_ARRAY(y->d->arena, ns_ex, 3 * (size_t)y->k + 1);
    y->to = NS_NEW_ARRAY(y->d->arena, ns_ex, 3 * (size_t)y->k + 1);
    const ns_ex *symbol;
    const double *value;
    uint32_t count;
    uint64_t seed = 1;
    ns_symmetry_point(y, 0, &seed, &symbol, &value, &count);
    for (uint32_t f = 0; f < y->factors.n; f++) {
        const ns_group_factor *factor = &y->factors.at[f];
        for (uint32_t i = 0; i < factor->dim; i++) {
            const uint32_t c = y->group[factor->first + i];
            const bool middle = i == 1 &&
                                (factor->kind == NS_GROUP_SO3 || factor->kind == NS_GROUP_SE3);
            if (middle) { /* exactly, where the angle enters through sine and cosine */
                y->from[y->n_from] = ns_cos(g, y->q[c]);
                y->to[y->n_from++] = ns_zero(g);
                y->from[y->n_from] = ns_sin(g, y->q[c]);
                y->to[y->n_from++] = ns_one(g);
            }
            y->from[y->n_from] = y->q[c];
            y->to[y->n_from++] = middle ? ns_div(g, ns_pi(g), ns_integer(g, 2))
                                 : factor->kind == NS_GROUP_FIELDS
                                     ? ns_number(g, value[y->d->params.n + c])
                                     : ns_zero(g);
        }
    }
}

static bool read_group(ns_symmetry *y)
{
    uint32_t first = 0, span = 0;
    const ns_property *generator = ns_block_find(y->block, "generator");
    ns_text name = ns_text_new(y->d->arena);
    for (uint32_t i = 0; i < y->block->properties.n; i++)
        if (strcmp(y->block->properties.at[i].name, "group") == 0) {
            if (!read_factor(y, &y->block->properties.at[i], &first))
                return false;
            span = i;
        }
    if ((y->factors.n > 0) == (generator != NULL)) {
        ns_diag_error(y->d->diag, generator ? generator->span : y->block->span,
                      generator ? "a symmetry has either `group` or `generator` lines"
                                : "a symmetry needs `group` lines (R(n), SO(2), SE(2), SO(3), "
                                  "SE(3)) or `generator` vectors");
        return false;
    }
    const ns_property *field = ns_block_find(y->block, "field");
    if (field && !generator) {
        ns_diag_error(y->d->diag, field->span, "`field` belongs to `generator`");
        return false;
    }
    if (!generator && first != y->k) {
        ns_text left = ns_text_new(y->d->arena);
        for (uint32_t i = 0; i < y->k; i++)
            ns_text_addf(&left, "%s%s", i ? ", " : "", coordinate_name(y, y->group[i]));
        ns_diag_error(y->d->diag, y->block->properties.at[span].span,
                      "wrong split: the group has %u dimensions, the group coordinates are %u "
                      "(%s)",
                      first, y->k, y->k ? ns_text_string(&left) : "none");
        return false;
    }
    for (uint32_t i = 0; i < y->k * y->n; i++)
        y->X[i] = y->E[i] = ns_zero(y->d->graph);
    for (uint32_t i = 0; i < y->k * y->k * y->k; i++)
        y->C0[i] = ns_zero(y->d->graph);
    if (generator && !read_generators(y, generator->span))
        return false;
    for (uint32_t i = 0; i < y->factors.n; i++) {
        ns_symmetry_group_fields(y, &y->factors.at[i]);
        ns_text_addf(&name, "%s%s", i ? " x " : "", y->factors.at[i].name);
    }
    y->name = ns_text_string(&name);
    return true;
}

/* ---- invariance -------------------------------------------------------------------------- */

static const char *generator_text(const ns_symmetry *y, uint32_t A)
{
    for (uint32_t i = 0; i < y->factors.n; i++) {
        const ns_group_factor *f = &y->factors.at[i];
        if (A < f->first + f->dim)
            return f->kind == NS_GROUP_FIELDS
                       ? ns_arena_format(y->d->arena, "generator %u", A + 1)
                       : ns_arena_format(y->d->arena, "the generator of `%s` in %s",
                                         coordinate_name(y, y->group[A]), f->name);
    }
    return "a generator";
}

static ns_span generator_span(const ns_symmetry *y, uint32_t A)
{
    uint32_t i = 0;
    while (i + 1 < y->factors.n && A >= y->factors.at[i].first + y->factors.at[i].dim)
        i++;
    return y->factors.at[i].span;
}

static bool lagrangian_invariant(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t n = y->n, k = y->k;
    ns_ex *dLdq = NS_NEW_ARRAY(y->d->arena, ns_ex, n);
    ns_ex *pi = NS_NEW_ARRAY(y->d->arena, ns_ex, n);
    ns_ex *lifted = NS_NEW_ARRAY(y->d->arena, ns_ex, n);
    ns_ex *terms = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)k * (2 * n + 2) + 1);
    ns_diff_gradient(g, y->d->lagrangian, y->q, n, dLdq);
    ns_diff_gradient(g, y->d->lagrangian, y->dq, n, pi);
    for (uint32_t A = 0; A < k; A++) {
        ns_diff_along(g, y->X + A * n, n, y->q, y->dq, n, lifted);
        for (uint32_t i = 0; i < n; i++) {
            terms[A * (2 * n + 2) + 2 * i] = ns_mul(g, y->X[A * n + i], dLdq[i]);
            terms[A * (2 * n + 2) + 2 * i + 1] = ns_mul(g, lifted[i], pi[i]);
        }
        /* L itself: a derivative that is nothing but rounding must not be its own measure */
        terms[A * (2 * n + 2) + 2 * n] = y->d->lagrangian;
        terms[A * (2 * n + 2) + 2 * n + 1] = ns_neg(g, y->d->lagrangian);
    }
    uint32_t A = 0;
    y->invariance_L = sum_rule(y, terms, k, 2 * n + 2, &A);
    /* A term alone, such as dL/dx, is near 1 in this measure; roundings are 1e-16. */
    if (y->invariance_L <= exact)
        return true;
    ns_diag_error(y->d->diag, generator_span(y, A),
                  "the Lagrangian is not invariant: its derivative along %s is %.2g of its "
                  "terms at a random state near the start",
                  generator_text(y, A), y->invariance_L);
    ns_diag_note(y->d->diag, y->d->lagrangian_span, "the Lagrangian is here");
    return false;
}

static bool constraints_invariant(ns_symmetry *y)
{
    ns_graph *g = y->d->graph;
    const uint32_t n = y->n, k = y->k, m = y->constraints, width = n + 1;
    ns_ex *change = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)k * m * width + 1);
    ns_ex *along = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)m * n + 1);
    ns_ex *all = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)m * width + 1);
    ns_ex *DX = NS_NEW_ARRAY(y->d->arena, ns_ex, (size_t)n * n);
    for (uint32_t A = 0; A < k && m; A++) {
        ns_diff_along(g, y->rows, (size_t)m * n, y->q, y->X + A * n, n, along);
        ns_diff_jacobian(g, y->X + A * n, n, y->q, n, DX);
        for (uint32_t s = 0; s < m; s++) {
            ns_ex *row = change + ((size_t)A * m + s) * width;
            ns_diff_along(g, &y->rest[s], 1, y->q, y->X + A * n, n, &row[n]);
            for (uint32_t j = 0; j < n; j++) {
                row[j] = along[s * n + j];
                for (uint32_t i = 0; i < n; i++)
                    row[j] = ns_add(g, row[j], ns_mul(g, y->rows[s * n + i], DX[i * n + j]));
            }
        }
    }
    for (uint32_t i = 0; i < m * width; i++)
        all[i] = i % width < n ? y->rows[i / width * n + i % width] : y->rest[i / width];
    double *rows = NS_NEW_ARRAY(y->d->arena, double, (size_t)m * width + 1);
    double *columns = NS_NEW_ARRAY(y->d->arena, double, (size_t)m * width + 1);
    double *at = NS_NEW_ARRAY(y->d->arena, double, (size_t)k * m * width + 1);
    double *x = NS_NEW_ARRAY(y->d->arena, double, m + 1);
    uint32_t worst = 0;
    uint64_t seed = 1911;
    for (uint32_t point = 0; m && point < NS_SYMMETRY_POINTS; point++) {
        const ns_ex *symbol;
        const double *value;
        uint32_t count;
        ns_symmetry_point(y, point, &seed, &symbol, &value, &count);
        ns_eval(g, all, (size_t)m * width, symbol, value, count, rows);
        ns_eval(g, change, (size_t)k * m * width, symbol, value, count, at);
        bool defined = true;
        for (uint32_t i = 0; i < m * width; i++) {
            columns[(i % width) * m + i / width] = rows[i];
            defined = defined && isfinite(rows[i]);
        }
        for (uint32_t i = 0; i < k * m * width; i++)
            defined = defined && isfinite(at[i]);
        for (uint32_t i = 0; defined && i < k * m; i++) {
            const double *row = at + (size_t)i * width, *own = rows + (i % m) * width;
            ns_dense_least(y->d->arena, width, m, columns, row, 1e-13, x);
            double rest = 0, size = 0;
            for (uint32_t j = 0; j < width; j++) {
                double left = row[j];
                for (uint32_t s = 0; s < m; s++)
                    left -= x[s] * rows[s * width + j];
                rest += left * left;
                size += row[j] * row[j] + own[j] * own[j];
            }
            const double relative = size > 0 ? sqrt(rest / size) : 0;
            if (relative > y->invariance_D) {
                y->invariance_D = relative;
                worst = i;
            }
        }
    }
    if (!m || y->invariance_D <= exact)
        return true;
    const ns_constraint_line *line = &y->d->constraints.at[worst % m];
    ns_diag_error(y->d->diag, line->span,
                  "constraint `%s` is not invariant: its derivative along %s leaves the "
                  "constraints by %.2g of its size at a random state near the start",
                  line->name, generator_text(y, worst / m), y->invariance_D);
    ns_diag_note(y->d->diag, generator_span(y, worst / m), "the group is given here");
    return false;
}

/* ---- reading ----------------------------------------------------------------------------- */

static bool read_rows(ns_symmetry *y)
{
    const ns_description *d = y->d;
    for (uint32_t s = 0; s < y->constraints; s++) {
        const ns_constraint_line *line = &d->constraints.at[s];
        if (!ns_graph_depends(d->graph, line->residual, y->dq, y->n) ||
            !ns_subst_collect_linear(d->graph, line->residual, y->dq, y->n, y->rows + s * y->n,
                                     &y->rest[s]) ||
            ns_graph_depends(d->graph, line->residual, &d->time, 1)) {
            ns_diag_error(d->diag, line->span,
                          "with a symmetry, constraint `%s` must be affine in the velocities "
                          "and free of time",
                          line->name);
            return false;
        }
        y->affine = y->affine || !ns_graph_is_zero(d->graph, y->rest[s]);
    }
    return true;
}

static bool known_properties(const ns_symmetry *y)
{
    static const char *const names[] = {"shape", "group", "on", "generator", "field", NULL};
    bool good = true;
    for (uint32_t i = 0; i < y->block->properties.n; i++) {
        const ns_property *p = &y->block->properties.at[i];
        bool known = p->assigned; /* NAME = [..]: a vector of the frame */
        for (uint32_t k = 0; names[k]; k++)
            known = known || strcmp(p->name, names[k]) == 0;
        if (known)
            continue;
        const char *near = ns_block_nearest(p->name, names);
        ns_diag_error(y->d->diag, p->span,
                      "`%s` is not a property of `symmetry`%s%s%s; there are: shape, group, "
                      "on, generator, field, and NAME = [..] for the vectors of a frame",
                      p->name, near ? "; did you mean `" : "", near ? near : "",
                      near ? "`?" : "");
        good = false;
    }
    return good;
}

static const ns_block *find_block(ns_description *d)
{
    const ns_block *found = NULL;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        const ns_block *block = &d->blocks.at[i];
        if (block->form != &ns_block_symmetry ||
            (block->kind && strcmp(block->kind, "map") == 0))
            continue;
        if (block->kind)
            ns_diag_error(d->diag, block->kind_span,
                          "there is no kind `%s` of symmetry; there are: `symmetry { .. }` and "
                          "`symmetry map { .. }`",
                          block->kind);
        if (found)
            ns_diag_error(d->diag, block->span,
                          "a second symmetry: give one group, with "
                          "several `group` lines for a product");
        found = block;
    }
    return found;
}

bool ns_symmetry_read(ns_description *d, ns_system *s, ns_symmetry **out)
{
    const uint32_t errors = d->diag->errors, n = d->coordinates.n;
    const ns_block *block = find_block(d);
    *out = NULL;
    if (!block || d->diag->errors != errors)
        return d->diag->errors == errors;
    ns_symmetry *y = NS_NEW(d->arena, ns_symmetry);
    *y = (ns_symmetry){.d = d, .s = s, .block = block, .n = n, .constraints = d->constraints.n};
    if (!d->lagrangian || n == 0 || d->forces.n ||
        ns_graph_depends(d->graph, d->lagrangian, &d->time, 1)) {
        ns_diag_error(d->diag, d->forces.n ? d->forces.at[0].span : block->span,
                      "a symmetry needs coordinates and a Lagrangian without time, and no "
                      "forces");
        return false;
    }
    y->q = NS_NEW_ARRAY(d->arena, ns_ex, n);
    y->dq = NS_NEW_ARRAY(d->arena, ns_ex, n);
    for (uint32_t i = 0; i < n; i++) {
        y->q[i] = d->coordinates.at[i].q;
        y->dq[i] = d->coordinates.at[i].v;
    }
    if (!known_properties(y) || !read_split(y))
        return false;
    y->r = NS_NEW_ARRAY(d->arena, ns_ex, y->sigma + 1);
    y->dr = NS_NEW_ARRAY(d->arena, ns_ex, y->sigma + 1);
    for (uint32_t i = 0; i < y->sigma; i++) {
        y->r[i] = y->q[y->shape[i]];
        y->dr[i] = y->dq[y->shape[i]];
    }
    if (y->k > MOST) {
        ns_diag_error(d->diag, block->span, "a symmetry moves at most %d coordinates, not %u",
                      (int)MOST, y->k);
        return false;
    }
    y->X = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)y->k * n + 1);
    y->E = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)y->k * n + 1);
    y->C0 = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)y->k * y->k * y->k + 1);
    y->rows = NS_NEW_ARRAY(d->arena, ns_ex, (size_t)y->constraints * n + 1);
    y->rest = NS_NEW_ARRAY(d->arena, ns_ex, y->constraints + 1);
    if (!read_group(y) || !read_rows(y) || !lagrangian_invariant(y) ||
        !constraints_invariant(y))
        return false;
    choose_point(y);
    if (!ns_symmetry_geometry(y))
        return false;
    *out = y;
    return true;
}

bool ns_symmetry_attach(ns_description *d, ns_system *s)
{
    ns_symmetry *y;
    if (!ns_symmetry_read(d, s, &y))
        return false;
    if (!y)
        return true;
    s->symmetry = y;
    ns_symmetry_note(y);
    ns_symmetry_note_reduced(y);
    /* in states: a formulation without the velocities as states has said what they are */
    const uint32_t replaced = s->accelerations.n;
    ns_ex *from = NS_NEW_ARRAY(d->arena, ns_ex, replaced + 1);
    ns_ex *to = NS_NEW_ARRAY(d->arena, ns_ex, replaced + 1);
    for (uint32_t i = 0; i < replaced; i++) {
        from[i] = s->accelerations.at[i].from;
        to[i] = s->accelerations.at[i].to;
    }
    ns_subst(d->graph, y->p, y->m, from, to, replaced, y->p);
    ns_subst(d->graph, y->Omega, y->m, from, to, replaced, y->Omega);
    for (uint32_t a = 0; a < y->m; a++)
        ns_system_observe(s, NS_QUANTITY_MOMENTUM,
                          ns_arena_format(s->arena, "symmetry.p%u", a + 1), y->p[a], "", false);
    for (uint32_t a = 0; a < y->m; a++)
        ns_system_observe(s, NS_QUANTITY_QUASIVELOCITY,
                          ns_arena_format(s->arena, "symmetry.Omega%u", a + 1), y->Omega[a], "",
                          false);
    return true;
}
