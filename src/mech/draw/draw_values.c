/* Values and options of the lines of a draw block, with what is said when they do not fit. */
#include <string.h>

#include "base/text.h"
#include "mech/draw/draw_internal.h"

const char *const ns_draw_colours[] = {"blue",   "orange", "green",  "vermilion",
                                       "purple", "sky",    "yellow", "grey",
                                       "black",  "white",  "brown",  NULL};

/* ---- values ------------------------------------------------------------------------------ */

bool ns_drawer_complain(const ns_drawer *w, const ns_draw_value *v, const char *what)
{
    ns_description *d = w->d;
    if (v->word) {
        const char *nearest = ns_description_nearest(d, v->word);
        ns_diag_error(d->diag, v->span, "expected %s, found `%s`%s%s%s", what, v->word,
                      nearest ? "; did you mean `" : "", nearest ? nearest : "",
                      nearest ? "`?" : "");
    } else if (v->value.cols > 1) {
        ns_diag_error(d->diag, v->span, "expected %s, found a %u x %u matrix", what,
                      v->value.rows, v->value.cols);
    } else if (v->value.rows > 1) {
        ns_diag_error(d->diag, v->span, "expected %s, found a vector of %u", what,
                      v->value.rows);
    } else {
        ns_diag_error(d->diag, v->span, "expected %s, found a number", what);
    }
    return false;
}

/* The n-th value in order, counted from 0; NULL if there are fewer. */
const ns_draw_value *ns_drawer_nth(const ns_draw_line *line, uint32_t n)
{
    for (uint32_t i = 0; i < line->n; i++)
        if (!line->values[i].option && n-- == 0)
            return &line->values[i];
    return NULL;
}

const ns_draw_value *ns_drawer_option(const ns_draw_line *line, const char *name)
{
    for (uint32_t i = 0; i < line->n; i++)
        if (line->values[i].option && strcmp(line->values[i].option, name) == 0)
            return &line->values[i];
    return NULL;
}

bool ns_drawer_is_vector(const ns_draw_value *v, uint32_t rows)
{
    return !v->word && v->value.cols == 1 && v->value.rows == rows;
}

ns_ex ns_drawer_at(const ns_drawer *w, const ns_draw_value *v, uint32_t i)
{
    return ns_system_in_states(w->s, v->value.at[i]);
}

bool ns_drawer_number(const ns_drawer *w, const ns_draw_value *v, const char *what, ns_ex *out)
{
    if (!ns_drawer_is_vector(v, 1))
        return ns_drawer_complain(w, v, what);
    *out = ns_drawer_at(w, v, 0);
    return true;
}

/* Does it stay what it is?  Shapes are rigid. */
bool ns_drawer_fixed(const ns_drawer *w, const ns_draw_value *v, const char *what, ns_ex e)
{
    const ns_system *s = w->s;
    ns_ex *moving = ns_system_state_symbols(s, s->arena);
    moving[s->states.n] = s->time;
    if (!ns_graph_depends(w->g, e, moving, s->states.n + 1))
        return true;
    ns_diag_error(w->d->diag, v->span,
                  "%s must not change during the motion: it can depend on parameters alone",
                  what);
    return false;
}

bool ns_drawer_constant(const ns_drawer *w, const ns_draw_value *v, const char *what,
                        ns_ex *out)
{
    return ns_drawer_number(w, v, what, out) && ns_drawer_fixed(w, v, what, *out);
}

/* A place or direction: planes lack one component. */
static ns_v3 in_space(const ns_drawer *w, ns_ex a, ns_ex b)
{
    ns_ex zero = ns_zero(w->g);
    return w->view == NS_VIEW_SIDE ? ns_v3_make(a, zero, b) : ns_v3_make(a, b, zero);
}

bool ns_drawer_vector(const ns_drawer *w, const ns_draw_value *v, const char *what, ns_v3 *out)
{
    bool planar = w->view == NS_VIEW_ABOVE || w->view == NS_VIEW_SIDE;
    if (planar && ns_drawer_is_vector(v, 2)) {
        const ns_ex second = ns_drawer_at(w, v, 1);
        *out = in_space(w, ns_drawer_at(w, v, 0), second);
        return true;
    }
    if (ns_drawer_is_vector(v, 3)) {
        *out = ns_v3_make(ns_drawer_at(w, v, 0), ns_drawer_at(w, v, 1), ns_drawer_at(w, v, 2));
        return true;
    }
    return ns_drawer_complain(
        w, v,
        ns_arena_format(w->s->arena, "%s, a vector of %s", what, planar ? "2 or 3" : "3"));
}

/* ---- options ----------------------------------------------------------------------------- */

bool ns_drawer_colour(const ns_drawer *w, const char **out)
{
    const ns_draw_value *v = ns_drawer_option(w->line, "colour");
    if (!v)
        v = ns_drawer_option(w->line, "color");
    if (!v)
        return true;
    bool known = false;
    for (uint32_t i = 0; v->word && ns_draw_colours[i]; i++)
        known = known || strcmp(ns_draw_colours[i], v->word) == 0;
    if (v->word && v->word[0] == '#' && strlen(v->word) == 7)
        known = strspn(v->word + 1, "0123456789abcdefABCDEF") == 6;
    if (known) {
        *out = v->word;
        return true;
    }
    ns_text names = ns_text_new(w->s->arena);
    for (uint32_t i = 0; ns_draw_colours[i]; i++)
        ns_text_addf(&names, "%s%s", i ? ", " : "", ns_draw_colours[i]);
    ns_diag_error(w->d->diag, v->span, "expected a colour: one of %s, or \"#rrggbb\"",
                  ns_text_string(&names));
    return false;
}

bool ns_drawer_optional(const ns_drawer *w, const char *name, ns_ex *out)
{
    const ns_draw_value *v = ns_drawer_option(w->line, name);
    return !v || ns_drawer_constant(w, v, ns_arena_format(w->s->arena, "the %s", name), out);
}

/* A number that must be known now. */
bool ns_drawer_optional_number(const ns_drawer *w, const char *name, double lo, double hi,
                               double *out)
{
    ns_ex e = 0;
    if (!ns_drawer_optional(w, name, &e) || !e)
        return e == 0 && !ns_drawer_option(w->line, name);
    double value;
    if (ns_graph_is_number(w->g, e, &value) && value >= lo && value <= hi) {
        *out = value;
        return true;
    }
    ns_diag_error(w->d->diag, ns_drawer_option(w->line, name)->span,
                  "expected a number from %g to %g without parameters", lo, hi);
    return false;
}

bool ns_drawer_optional_text(const ns_drawer *w, const char *name, const char **out)
{
    const ns_draw_value *v = ns_drawer_option(w->line, name);
    if (v && !v->word)
        return ns_drawer_complain(w, v, "text in quotes");
    if (v)
        *out = v->word;
    return true;
}

static void multiply(ns_graph *g, const ns_ex a[4], const ns_ex b[4], ns_ex out[4])
{
    static const signed char sign[4][4] = {
        {1, -1, -1, -1}, {1, 1, 1, -1}, {1, -1, 1, 1}, {1, 1, -1, 1}};
    static const unsigned char other[4][4] = {
        {0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    ns_ex result[4];
    for (int i = 0; i < 4; i++) {
        ns_ex sum = 0;
        for (int k = 0; k < 4; k++) {
            ns_ex term = ns_mul(g, a[k], b[other[i][k]]);
            sum = k == 0 ? term : sign[i][k] > 0 ? ns_add(g, sum, term) : ns_sub(g, sum, term);
        }
        result[i] = sum;
    }
    memcpy(out, result, sizeof result);
}

static void about(ns_graph *g, int axis, ns_ex angle, bool back, ns_ex out[4])
{
    ns_ex half = ns_mul(g, ns_number(g, 0.5), angle), sine = ns_sin(g, half);
    out[0] = ns_cos(g, half);
    for (int i = 1; i < 4; i++)
        out[i] = i == axis + 1 ? (back ? ns_neg(g, sine) : sine) : ns_zero(g);
}

/* Rows of 4 q q^T for a rotation matrix; the one with the largest diagonal is q up to a factor.
 * Unequal weights make ties rare. */
static void from_matrix(const ns_drawer *w, const ns_draw_value *v, ns_ex out[4])
{
    ns_graph *g = w->g;
    ns_ex m[3][3], row[4][4], one = ns_one(g), weight[4], sum[4] = {0};
    for (uint32_t i = 0; i < 9; i++)
        m[i / 3][i % 3] = ns_drawer_at(w, v, i);
    ns_ex trace = ns_add(g, ns_add(g, m[0][0], m[1][1]), m[2][2]);
    row[0][0] = ns_add(g, one, trace);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        row[0][i + 1] = row[i + 1][0] = ns_sub(g, m[k][j], m[j][k]);
        row[j + 1][k + 1] = row[k + 1][j + 1] = ns_add(g, m[k][j], m[j][k]);
        row[i + 1][i + 1] = ns_add(g, one, ns_sub(g, ns_add(g, m[i][i], m[i][i]), trace));
    }
    for (int i = 0; i < 4; i++) {
        weight[i] = one;
        for (int j = 0; j < 4; j++)
            if (j != i) {
                ns_ex mine = ns_mul(g, ns_number(g, 1 + 0.01 * i), row[i][i]),
                      yours = ns_mul(g, ns_number(g, 1 + 0.01 * j), row[j][j]);
                weight[i] = ns_mul(g, weight[i], ns_step(g, ns_sub(g, mine, yours)));
            }
    }
    ns_ex size = ns_zero(g);
    for (int k = 0; k < 4; k++) {
        sum[k] = ns_zero(g);
        for (int i = 0; i < 4; i++)
            sum[k] = ns_add(g, sum[k], ns_mul(g, weight[i], row[i][k]));
        size = ns_add(g, size, ns_mul(g, sum[k], sum[k]));
    }
    for (int k = 0; k < 4; k++)
        out[k] = ns_div(g, sum[k], ns_sqrt(g, size));
}

/* The orientation: the angle among the values (planes), or turn = QUATERNION or MATRIX, or
 * turns about the thing's own axes one after the other: z = phi, x = theta, z = psi. */
bool ns_drawer_orientation(const ns_drawer *w, const ns_draw_value *angle, ns_ex quat[4])
{
    ns_graph *g = w->g;
    bool turned = false;
    for (int i = 0; i < 4; i++)
        quat[i] = i ? ns_zero(g) : ns_one(g);
    if (angle) {
        ns_ex value = 0;
        if (!ns_drawer_number(w, angle, "an angle", &value))
            return false;
        about(g, w->view == NS_VIEW_SIDE ? 1 : 2, value, w->view == NS_VIEW_SIDE, quat);
        turned = true;
    }
    for (uint32_t i = 0; i < w->line->n; i++) {
        const ns_draw_value *v = &w->line->values[i];
        ns_ex next[4], value = 0;
        const char *name = v->option;
        if (!name)
            continue;
        if (strcmp(name, "turn") == 0) {
            if (ns_drawer_is_vector(v, 4)) {
                for (uint32_t k = 0; k < 4; k++)
                    next[k] = ns_drawer_at(w, v, k);
            } else if (!v->word && v->value.rows == 3 && v->value.cols == 3) {
                from_matrix(w, v, next);
            } else {
                return ns_drawer_complain(
                    w, v, "a quaternion [w, x, y, z] or a 3 x 3 rotation matrix");
            }
        } else if (strlen(name) == 1 && strchr("xyz", name[0])) {
            if (!ns_drawer_number(w, v, "an angle", &value))
                return false;
            about(g, name[0] - 'x', value, false, next);
        } else {
            continue;
        }
        multiply(g, quat, next, quat);
        turned = true;
    }
    if (!turned)
        memset(quat, 0, 4 * sizeof *quat);
    return true;
}
