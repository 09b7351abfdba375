#include "mech/shapes.h"

#include <string.h>

#include "expr/subst.h"
#include "mech/block.h"

typedef struct work {
    ns_description *d;
    ns_graph *g;
    const ns_block *block;
    const ns_locals *locals;
    ns_ex a[4];  /* scalar sizes */
    ns_v3 shift; /* body: centre of mass; ground: where its frame stands */
    bool body;
    int outward; /* -1: the normal is turned round */
    ns_shape *out;
} work;

typedef struct kind {
    const char *name, *sizes;
    uint32_t n; /* scalar sizes read into work.a */
    bool (*make)(work *w);
    const char *solid; /* what fills it */
    const char *signs; /* of the sizes: see ns_shape */
    const char *takes; /* properties that describe shapes and mean something for this one */
} kind;

static ns_ex new_state(work *w, int i, const char *name)
{
    w->out->names[i] = name;
    return ns_symbol_new(w->g, name, NS_SYM_STATE, (uint32_t)i);
}

static ns_ex sq(ns_graph *g, ns_ex a)
{
    return ns_powi(g, a, 2);
}

static ns_drawing *draw(work *w, ns_drawing_kind how)
{
    ns_drawing *d = &w->out->drawing;
    d->kind = how;
    memcpy(d->x, w->locals->x, sizeof d->x);
    memcpy(d->u, w->locals->u, sizeof d->u);
    return d;
}

/* A closed surface drawn over u in [0, turn] and v in [0, turn/sheets]. */
static void draw_closed(work *w, ns_ex x, ns_ex y, ns_ex z, double sheets)
{
    const double turn = 6.283185307179586;
    ns_drawing *d = draw(w, NS_DRAW_CHART);
    d->point = ns_v3_make(x, y, z);
    d->ranged = true;
    d->range[1] = turn;
    d->range[3] = turn / sheets;
}

/* An expression in the local names x, y, z as an implicit surface. */
static bool implicit(work *w, ns_ex F)
{
    if (!w->out->drawing.kind || !w->body) {
        ns_drawing *d = draw(w, NS_DRAW_IMPLICIT);
        d->F = w->outward < 0 ? ns_neg(w->g, F) : F;
        d->inside = w->outward < 0;
        if (!w->body) { /* where the ground's frame stands */
            ns_v3 at;
            for (int i = 0; i < 3; i++)
                at.at[i] = ns_sub(w->g, d->x[i], w->shift.at[i]);
            d->F = ns_subst_one(w->g, d->F, w->locals->x, at.at, 3);
        }
    }
    static const char *const body_names[3] = {"s.x", "s.y", "s.z"};
    static const char *const ground_names[3] = {"contact.x", "contact.y", "contact.z"};
    ns_ex symbol[3];
    ns_v3 point, local;
    for (int i = 0; i < 3; i++) {
        symbol[i] = new_state(w, i, w->body ? body_names[i] : ground_names[i]);
        point.at[i] = w->body ? ns_add(w->g, symbol[i], w->shift.at[i]) : symbol[i];
        local.at[i] = w->body ? point.at[i] : ns_sub(w->g, symbol[i], w->shift.at[i]);
    }
    F = ns_subst_one(w->g, F, w->locals->x, local.at, 3);
    w->out->side = ns_side_implicit(w->g, F, symbol, point, w->outward);
    return true;
}

/* The point of the body whose outward normal is the unit vector (x, y, z), where there is a
 * closed form: starts need it. */
static void set_support(work *w, ns_ex x, ns_ex y, ns_ex z)
{
    w->out->support = ns_v3_make(x, y, z);
    w->out->has_support = true;
    w->out->lowest = w->outward > 0;
}

/* the ellipsoid with these half axes, by longitude u and colatitude v */
static void draw_round(work *w, ns_ex a, ns_ex b, ns_ex c)
{
    ns_graph *g = w->g;
    ns_ex u = w->locals->u[0], v = w->locals->u[1], sine = ns_sin(g, v);
    draw_closed(w, ns_mul(g, a, ns_mul(g, ns_cos(g, u), sine)),
                ns_mul(g, b, ns_mul(g, ns_sin(g, u), sine)), ns_mul(g, c, ns_cos(g, v)), 2);
}

static bool sphere(work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    set_support(w, ns_mul(g, w->a[0], x[0]), ns_mul(g, w->a[0], x[1]),
                ns_mul(g, w->a[0], x[2]));
    w->out->convex = w->outward > 0;
    w->out->radius = w->a[0];
    draw_round(w, w->a[0], w->a[0], w->a[0]);
    ns_ex F = ns_add(g, ns_add(g, sq(g, x[0]), sq(g, x[1])), sq(g, x[2]));
    return implicit(w, ns_mul(g, ns_number(g, 0.5), ns_sub(g, F, sq(g, w->a[0]))));
}

static bool ellipsoid(work *w)
{
    ns_graph *g = w->g;
    ns_ex F = ns_neg(g, ns_one(g));
    for (int i = 0; i < 3; i++) /* x^2 * (1/a^2): the reciprocal is a constant */
        F = ns_add(g, F,
                   ns_times(g, sq(g, w->locals->x[i]), ns_div(g, ns_one(g), sq(g, w->a[i]))));
    /* y_i = a_i^2 n_i / sqrt(sum a_j^2 n_j^2) */
    ns_ex an[3], square = ns_zero(g);
    for (int i = 0; i < 3; i++) {
        an[i] = ns_mul(g, w->a[i], w->locals->x[i]);
        square = ns_add(g, square, sq(g, an[i]));
    }
    for (int i = 0; i < 3; i++) {
        an[i] = ns_div(g, ns_mul(g, w->a[i], an[i]), ns_sqrt(g, square));
        w->out->squares.at[i] = sq(g, w->a[i]);
    }
    set_support(w, an[0], an[1], an[2]);
    w->out->convex = w->out->quadric = w->outward > 0;
    draw_round(w, w->a[0], w->a[1], w->a[2]);
    return implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

static bool superellipsoid(work *w)
{
    ns_graph *g = w->g;
    ns_ex F = ns_neg(g, ns_one(g));
    double e;
    bool even = ns_graph_is_number(g, w->a[3], &e) && e == 2 * (double)(int)(e / 2);
    for (int i = 0; i < 3; i++) {
        ns_ex ratio = ns_div(g, w->locals->x[i], w->a[i]);
        F = ns_add(g, F, ns_pow(g, even ? ratio : ns_abs(g, ratio), w->a[3]));
    }
    /* with h_i = |a_i n_i|:  y_i = a_i sign(n_i) h_i^(1/(e-1)) / (sum h_j^(e/(e-1)))^(1/e) */
    ns_ex y[3], sum = ns_zero(g), one = ns_one(g);
    ns_ex q = ns_div(g, one, ns_sub(g, w->a[3], one));
    for (int i = 0; i < 3; i++) {
        ns_ex h = ns_abs(g, ns_mul(g, w->a[i], w->locals->x[i]));
        y[i] = ns_mul(g, ns_mul(g, w->a[i], ns_sign(g, w->locals->x[i])), ns_pow(g, h, q));
        sum = ns_add(g, sum, ns_pow(g, h, ns_mul(g, w->a[3], q)));
    }
    for (int i = 0; i < 3; i++)
        y[i] = ns_div(g, y[i], ns_pow(g, sum, ns_div(g, one, w->a[3])));
    set_support(w, y[0], y[1], y[2]);
    w->out->lowest = false; /* its derivatives do not exist where the surface is flat */
    return implicit(w, F);
}

static bool torus(work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex level = ns_sqrt(g, ns_add(g, sq(g, x[0]), sq(g, x[1])));
    ns_ex ring = ns_sub(g, level, w->a[0]);
    ns_ex out = ns_add(g, ns_div(g, w->a[0], level), w->a[1]); /* R n_t/|n_t| + r n */
    set_support(w, ns_mul(g, out, x[0]), ns_mul(g, out, x[1]), ns_mul(g, w->a[1], x[2]));
    ns_ex u = w->locals->u[0], v = w->locals->u[1];
    ns_ex rho = ns_add(g, w->a[0], ns_mul(g, w->a[1], ns_cos(g, v)));
    draw_closed(w, ns_mul(g, rho, ns_cos(g, u)), ns_mul(g, rho, ns_sin(g, u)),
                ns_mul(g, w->a[1], ns_sin(g, v)), 1);
    ns_ex F = ns_sub(g, ns_add(g, sq(g, ring), sq(g, x[2])), sq(g, w->a[1]));
    return implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

/* z^2/a^2 + (x^2 + y^2)/b^2 (1 + k z/a) = 1 : an egg whose pointed end is at +z for k > 0 */
static bool egg(work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex h = ns_div(g, x[2], w->a[0]);
    ns_ex round = ns_div(g, ns_add(g, sq(g, x[0]), sq(g, x[1])), sq(g, w->a[1]));
    ns_ex F = ns_mul(g, round, ns_add(g, ns_one(g), ns_mul(g, w->a[2], h)));
    return implicit(w, ns_sub(g, ns_add(g, F, sq(g, h)), ns_one(g)));
}

/* A lone name that nobody defined was read as a word. */
static bool no_word(const work *w, uint32_t i)
{
    const char *word = w->block->arg_words ? w->block->arg_words[i] : NULL;
    if (word)
        ns_diag_error(w->d->diag, w->block->arg_spans[i], "undefined name '%s'", word);
    return !word;
}

/* Expression argument i of the block, scalar. */
static bool argument(work *w, uint32_t i, ns_ex *out)
{
    static const char names[5][2] = {"x", "y", "z", "u", "v"};
    const char *word = w->block->arg_words ? w->block->arg_words[i] : NULL;
    for (int k = 0; word && k < 5; k++) /* a lone name was read before it was known */
        if (strcmp(word, names[k]) == 0) {
            *out = k < 3 ? w->locals->x[k] : w->locals->u[k - 3];
            return true;
        }
    return no_word(w, i) && ns_block_value_scalar(w->d, w->block->args[i], w->block->kind_span,
                                                  w->block->kind, out);
}

static bool argument_vector(work *w, uint32_t i, ns_v3 *out)
{
    return no_word(w, i) && ns_block_value_vector(w->d, w->block->args[i], w->block->kind_span,
                                                  w->block->kind, out);
}

static bool implicit_given(work *w)
{
    ns_ex F;
    return argument(w, 0, &F) && implicit(w, F);
}

/* radius as a function of z, about the z axis */
static bool revolution(work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex radius;
    if (!argument(w, 0, &radius))
        return false;
    ns_ex F = ns_sub(g, ns_add(g, sq(g, x[0]), sq(g, x[1])), sq(g, radius));
    return implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

/* y(u, v) */
static bool chart(work *w, ns_v3 y)
{
    ns_ex u[2] = {new_state(w, 0, w->body ? "body.u" : "ground.u"),
                  new_state(w, 1, w->body ? "body.v" : "ground.v")};
    ns_v3 placed = w->body ? y : ns_v3_add(w->g, y, w->shift);
    ns_drawing *d = draw(w, NS_DRAW_CHART);
    d->point = placed;
    memcpy(d->along, u, sizeof u);
    ns_subst(w->g, placed.at, 3, w->locals->u, u, 2, placed.at);
    w->out->side = ns_side_chart(w->g, placed, u, w->outward);
    return true;
}

static bool parametric(work *w)
{
    ns_v3 y;
    return argument_vector(w, 0, &y) && chart(w, y);
}

/* the curve [x(u), z(u)] swept along y */
static bool extruded(work *w)
{
    ns_ex x, z;
    if (w->block->nargs != 2) {
        ns_diag_error(w->d->diag, w->block->kind_span,
                      "extruded takes two functions of u: extruded(x, z)");
        return false;
    }
    /* d/du x d/dv = (x', 0, z') x (0, 1, 0) = (-z', 0, x'): upwards where x grows */
    return argument(w, 0, &x) && argument(w, 1, &z) &&
           chart(w, ns_v3_make(x, w->locals->u[1], z));
}

static bool circle_at(work *w, ns_ex z)
{
    ns_ex u[2] = {new_state(w, 0, "rim.x"), new_state(w, 1, "rim.y")};
    const char *name = w->block->kind;
    ns_drawing *d = draw(w, strcmp(name, "cylinder") == 0 ? NS_DRAW_CYLINDER
                            : strcmp(name, "cone") == 0   ? NS_DRAW_CONE
                            : strcmp(name, "hoop") == 0   ? NS_DRAW_HOOP
                                                          : NS_DRAW_DISK);
    bool tall = d->kind == NS_DRAW_CYLINDER || d->kind == NS_DRAW_CONE;
    d->size[0] = w->a[0];
    d->size[1] = tall ? w->a[1] : z;
    w->out->side = ns_side_circle(w->g, w->a[0], z, u);
    w->out->lowest = true;
    return true;
}

static bool disk(work *w)
{
    return circle_at(w, ns_zero(w->g));
}

static bool rim(work *w)
{
    return circle_at(w, w->a[1]);
}

/* The contact leaves its part where `value` becomes negative, or (value = 0) lies down along
 * `lean`: see ns_limit. */
static void limit(work *w, const char *name, ns_ex value, ns_v3 lean, const char *meaning)
{
    w->out->limit[w->out->n_limits++] = (ns_limit){name, meaning, value, lean};
}

/* The part that touches, by `contact PART`: its place in the list, which ends with NULL, the first
 * if nothing is said; -1 after an error. */
static int part(work *w, const char *const *parts)
{
    const ns_property *p = ns_block_find(w->block, "contact");
    if (!p)
        return 0;
    ns_text list = ns_text_new(w->d->arena);
    for (int i = 0; parts[i]; i++) {
        if (p->word && strcmp(p->word, parts[i]) == 0)
            return i;
        ns_text_addf(&list, "%s%s", i == 0 ? "" : parts[i + 1] ? ", " : " or ", parts[i]);
    }
    ns_diag_error(w->d->diag, p->value_span, "a %s touches with its %s", w->block->kind,
                  ns_text_string(&list));
    return -1;
}

/* a can: its rim below, the one above, or the side */
static bool cylinder(work *w)
{
    static const char *const parts[] = {"bottom", "top", "side", NULL};
    static const char *const falls = "the cylinder falls on its side";
    ns_graph *g = w->g;
    ns_ex half = ns_mul(g, ns_number(g, 0.5), w->a[1]), zero = ns_zero(g), one = ns_one(g);
    switch (part(w, parts)) {
    case 0:
        limit(w, "falls", 0, ns_v3_make(zero, zero, one), falls);
        return circle_at(w, ns_neg(g, half));
    case 1:
        limit(w, "falls", 0, ns_v3_make(zero, zero, ns_neg(g, one)), falls);
        return circle_at(w, half);
    case 2: {
        ns_drawing *d = draw(w, NS_DRAW_CYLINDER);
        d->size[0] = w->a[0];
        d->size[1] = w->a[1];
        const ns_ex *x = w->locals->x;
        ns_ex F = ns_sub(g, ns_add(g, sq(g, x[0]), sq(g, x[1])), sq(g, w->a[0]));
        if (!implicit(w, ns_mul(g, ns_number(g, 0.5), F)))
            return false;
        ns_ex z = w->out->side.point.at[2];
        limit(w, "rim", ns_sub(g, sq(g, half), sq(g, z)), ns_v3_zero(g),
              "the contact reaches a rim of the cylinder");
        return true;
    }
    default:
        return false;
    }
}

/* cone with its base circle at z = 0 and its apex at z = h */
static bool cone(work *w)
{
    static const char *const parts[] = {"base", "side", NULL};
    ns_graph *g = w->g;
    ns_ex r = w->a[0], h = w->a[1];
    switch (part(w, parts)) {
    case 0: {
        if (!circle_at(w, ns_zero(g)))
            return false;
        ns_v3 apex = ns_v3_make(ns_zero(g), ns_zero(g), h);
        limit(w, "falls", 0, ns_v3_sub(g, apex, w->out->side.point),
              "the cone falls on its side");
        return true;
    }
    case 1: {
        ns_drawing *d = draw(w, NS_DRAW_CONE);
        d->size[0] = r;
        d->size[1] = h;
        /* distance from the side: (h rho + r (z - h))/sqrt(r^2 + h^2) */
        const ns_ex *x = w->locals->x;
        ns_ex rho = ns_sqrt(g, ns_add(g, sq(g, x[0]), sq(g, x[1])));
        ns_ex F = ns_add(g, ns_mul(g, h, rho), ns_mul(g, r, ns_sub(g, x[2], h)));
        if (!implicit(w, ns_div(g, F, ns_sqrt(g, ns_add(g, sq(g, r), sq(g, h))))))
            return false;
        ns_ex z = w->out->side.point.at[2];
        limit(w, "base", z, ns_v3_zero(g), "the contact reaches the base of the cone");
        limit(w, "apex", ns_sub(g, h, z), ns_v3_zero(g),
              "the contact reaches the apex of the cone");
        return true;
    }
    default:
        return false;
    }
}

/* half a ball: flat face at z = 0, dome above it */
static bool hemisphere(work *w)
{
    static const char *const parts[] = {"dome", "rim", NULL};
    ns_graph *g = w->g;
    switch (part(w, parts)) {
    case 0:
        if (!sphere(w))
            return false;
        w->out->drawing.range[3] = 3.141592653589793 / 2;
        limit(w, "rim", w->out->side.point.at[2], ns_v3_zero(g),
              "the contact reaches the rim of the hemisphere");
        return true;
    case 1:
        if (!circle_at(w, ns_zero(g)))
            return false;
        draw_round(w, w->a[0], w->a[0], w->a[0]);
        w->out->drawing.range[3] = 3.141592653589793 / 2;
        limit(w, "dome", 0, ns_v3_make(ns_zero(g), ns_zero(g), ns_one(g)),
              "the contact passes from the rim to the dome");
        return true;
    default:
        return false;
    }
}

/* `limit F, ...`: where a part given by the user ends, in x, y, z or the surface's u, v */
static bool given_limits(work *w)
{
    const ns_property *p = ns_block_find(w->block, "limit");
    const ns_side *side = &w->out->side;
    for (uint32_t i = 0; p && i < p->values; i++) {
        ns_ex F;
        if (w->out->n_limits == sizeof w->out->limit / sizeof *w->out->limit) {
            ns_diag_error(w->d->diag, p->span, "a part has up to four limits");
            return false;
        }
        if (!ns_block_scalar(w->d, p, i, &F))
            return false;
        F = ns_subst_one(w->g, F, w->locals->x, side->point.at, 3);
        if (side->kind != NS_SIDE_IMPLICIT)
            F = ns_subst_one(w->g, F, w->locals->u, side->symbol, side->n);
        if (ns_graph_depends(w->g, F, w->locals->u, 2)) {
            ns_diag_error(w->d->diag, p->value_span, "a `%s` has no parameters u, v",
                          w->block->kind);
            return false;
        }
        limit(w, "limit", F, ns_v3_zero(w->g),
              "the contact leaves the part of the body given by `limit`");
    }
    return true;
}

static bool curve(work *w)
{
    ns_v3 c;
    if (!argument_vector(w, 0, &c))
        return false;
    ns_ex u = new_state(w, 0, w->body ? "edge.u" : "wire.u");
    ns_v3 placed = w->body ? c : ns_v3_add(w->g, c, w->shift);
    ns_drawing *d = draw(w, NS_DRAW_CURVE);
    d->point = placed;
    d->along[0] = u;
    ns_subst(w->g, placed.at, 3, w->locals->u, &u, 1, placed.at);
    w->out->side = ns_side_curve(w->g, placed, u);
    return true;
}

/* ---- grounds ------------------------------------------------------------------------------- */

static bool plane(work *w)
{
    ns_graph *g = w->g;
    const ns_property *tilt = ns_block_find(w->block, "tilt");
    const ns_property *heading = ns_block_find(w->block, "heading");
    ns_ex angle = ns_zero(g), way = ns_zero(g);
    if ((tilt && !ns_block_scalar(w->d, tilt, 0, &angle)) ||
        (heading && !ns_block_scalar(w->d, heading, 0, &way)))
        return false;
    bool level = ns_graph_is_zero(g, angle);
    ns_ex u[2] = {new_state(w, 0, level ? "contact.x" : "ground.u"),
                  new_state(w, 1, level ? "contact.y" : "ground.v")};
    if (level)
        way = angle; /* the axes of a horizontal plane are those of space */
    ns_ex c = ns_cos(g, angle), ch = ns_cos(g, way), sh = ns_sin(g, way);
    /* e1 points downhill */
    ns_v3 e1 = ns_v3_make(ns_mul(g, c, ch), ns_mul(g, c, sh), ns_neg(g, ns_sin(g, angle)));
    ns_v3 e2 = ns_v3_make(ns_neg(g, sh), ch, ns_zero(g));
    w->out->side = ns_side_plane(g, w->shift, e1, e2, u);
    ns_drawing *d = draw(w, NS_DRAW_PLANE);
    d->point = w->shift;
    d->base[0] = e1;
    d->base[1] = e2;
    w->out->planar = true;
    w->out->level = level && ns_v3_is_zero(g, w->shift);
    return true;
}

/* z = f(x, y) */
static bool height(work *w)
{
    ns_ex f, u[2];
    if (!argument(w, 0, &f))
        return false;
    u[0] = new_state(w, 0, "contact.x");
    u[1] = new_state(w, 1, "contact.y");
    ns_ex at[2] = {ns_sub(w->g, u[0], w->shift.at[0]), ns_sub(w->g, u[1], w->shift.at[1])};
    f = ns_add(w->g, ns_subst_one(w->g, f, w->locals->x, at, 2), w->shift.at[2]);
    ns_ex z = w->locals->x[2];
    if (ns_graph_depends(w->g, f, &z, 1)) {
        ns_diag_error(w->d->diag, w->block->kind_span,
                      "a height is a function of x and y only");
        return false;
    }
    w->out->side = ns_side_graph(w->g, f, u);
    draw(w, NS_DRAW_GRAPH)->F = ns_subst_one(w->g, f, u, w->locals->x, 2);
    return true;
}

/* z = k (x^2 + y^2) */
static bool paraboloid(work *w)
{
    ns_graph *g = w->g;
    ns_ex u[2] = {new_state(w, 0, "contact.x"), new_state(w, 1, "contact.y")};
    ns_ex x = ns_sub(g, u[0], w->shift.at[0]), y = ns_sub(g, u[1], w->shift.at[1]);
    ns_ex f = ns_mul(g, w->a[0], ns_add(g, sq(g, x), sq(g, y)));
    f = ns_add(g, f, w->shift.at[2]);
    w->out->side = ns_side_graph(g, f, u);
    draw(w, NS_DRAW_GRAPH)->F = ns_subst_one(g, f, u, w->locals->x, 2);
    return true;
}

/* about an axis through the origin, vertical unless given */
static bool pipe(work *w)
{
    ns_graph *g = w->g;
    const ns_property *axis = ns_block_find(w->block, "axis");
    ns_v3 x = ns_v3_make(w->locals->x[0], w->locals->x[1], w->locals->x[2]), u;
    ns_ex along = x.at[2];
    if (axis) {
        if (!ns_block_vector(w->d, axis, 0, &u))
            return false;
        along = ns_v3_dot(g, x, ns_v3_normalise(g, u, NULL));
    }
    ns_ex square = axis ? ns_sub(g, ns_v3_dot(g, x, x), sq(g, along))
                        : ns_add(g, sq(g, x.at[0]), sq(g, x.at[1]));
    ns_ex F = ns_sub(g, square, sq(g, w->a[0]));
    return implicit(w, ns_mul(g, ns_number(g, 0.5), F));
}

/* cone about the vertical, apex at the origin, opening upwards with this half angle;
 * positive outside:  sqrt(x^2 + y^2) cos(angle) - z sin(angle) */
static bool funnel(work *w)
{
    ns_graph *g = w->g;
    const ns_ex *x = w->locals->x;
    ns_ex r = ns_sqrt(g, ns_add(g, sq(g, x[0]), sq(g, x[1])));
    return implicit(
        w, ns_sub(g, ns_mul(g, r, ns_cos(g, w->a[0])), ns_mul(g, x[2], ns_sin(g, w->a[0]))));
}

static const kind bodies[] = {
    {"sphere", "r", 1, sphere, "sphere", "+", "flip limit"},
    {"ellipsoid", "a, b, c", 3, ellipsoid, "ellipsoid", "+++", "flip limit"},
    {"superellipsoid", "a, b, c, exponent", 4, superellipsoid, NULL, "+++1", "flip limit"},
    {"torus", "R, r", 2, torus, "torus", "++", "flip limit"},
    {"egg", "a, b, k", 3, egg, NULL, "++.", "flip limit"},
    {"revolution", "radius of z", 0, revolution, NULL, "", "flip limit"},
    {"implicit", "F of x, y, z", 0, implicit_given, NULL, "", "flip limit"},
    {"parametric", "[x, y, z] of u, v", 0, parametric, NULL, "", "flip limit"},
    {"disk", "r", 1, disk, "disk", "+", ""},
    {"hoop", "r", 1, disk, "hoop", "+", ""},
    {"rim", "r, z", 2, rim, NULL, "+.", ""},
    {"cylinder", "r, h", 2, cylinder, "cylinder", "+0", "contact"},
    {"cone", "r, h", 2, cone, "cone", "+0", "contact"},
    {"hemisphere", "r", 1, hemisphere, "hemisphere", "+", "contact"},
    {"edge", "[x, y, z] of u", 0, curve, NULL, "", "limit"},
    {0},
};

static const kind grounds[] = {
    {"plane", "", 0, plane, NULL, "", "tilt heading"},
    {"height", "z of x, y", 0, height, NULL, "", ""},
    {"sphere", "R", 1, sphere, NULL, "+", "side"},
    {"cylinder", "R", 1, pipe, NULL, "+", "side axis"},
    {"cone", "half angle", 1, funnel, NULL, "+", "side"},
    {"paraboloid", "k", 1, paraboloid, NULL, ".", ""},
    {"torus", "R, r", 2, torus, NULL, "++", "side"},
    {"implicit", "F of x, y, z", 0, implicit_given, NULL, "", "side"},
    {"parametric", "[x, y, z] of u, v", 0, parametric, NULL, "", "side"},
    {"extruded", "x of u, z of u", 0, extruded, NULL, "", "side"},
    {"wire", "[x, y, z] of u", 0, curve, NULL, "", ""},
    {0},
};

const char *const ns_shapes_ground_properties[] = {"tilt", "heading", "at",   "axis",
                                                   "side", "origin",  "turn", NULL};

const char *ns_shapes_list(ns_arena *arena, bool ground)
{
    ns_text text = ns_text_new(arena);
    for (const kind *k = ground ? grounds : bodies; k->name; k++)
        ns_text_addf(&text, "%s%s(%s)", text.length ? ", " : "", k->name, k->sizes);
    return ns_text_string(&text);
}

const char *ns_shapes_solid(const char *name)
{
    for (const kind *k = bodies; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k->solid;
    return NULL;
}

const char *ns_shapes_variables(const ns_block *block)
{
    const kind *k = strcmp(block->keyword, "ground") == 0 ? grounds
                    : strcmp(block->keyword, "body") == 0 ? bodies
                                                          : NULL;
    for (; block->kind && k && k->name; k++)
        if (strcmp(k->name, block->kind) == 0 && k->n == 0) {
            const char *of = strstr(k->sizes, " of "), *next;
            while (of && (next = strstr(of + 4, " of ")))
                of = next;
            return of ? of + 4 : NULL;
        }
    return NULL;
}

static const kind *find(work *w, const kind *table)
{
    const ns_block *b = w->block;
    for (const kind *k = table; b->kind && k->name; k++) {
        if (strcmp(k->name, b->kind) != 0)
            continue;
        bool functions = k->n == 0 && k->sizes[0]; /* arguments that are functions */
        if (functions ? b->nargs >= 1 : b->nargs == k->n)
            return k;
        ns_diag_error(w->d->diag, b->kind_span, "%s takes %s: %s(%s)", k->name,
                      functions   ? "a function"
                      : k->n == 0 ? "no sizes"
                                  : "these sizes",
                      k->name, k->sizes);
        return NULL;
    }
    ns_diag_error(
        w->d->diag, b->kind ? b->kind_span : b->span,
        b->kind ? "there is no %s `%s`; there are: %s" : "a %s needs a shape%s; there are: %s",
        b->keyword, b->kind ? b->kind : "", ns_shapes_list(w->d->arena, table == grounds));
    return NULL;
}

/* A property that means nothing for this shape must not be ignored. */
static bool properties_fit(work *w, const kind *k)
{
    static const char *const names[] = {"tilt",    "heading", "axis", "side",
                                        "contact", "flip",    "limit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ns_property *p = ns_block_find(w->block, names[i]);
        if (p && !strstr(k->takes, names[i])) {
            ns_diag_error(w->d->diag, p->span, "`%s` means nothing for a %s `%s`", names[i],
                          w->block->keyword, k->name);
            return false;
        }
    }
    return true;
}

static bool make(work *w, const kind *table)
{
    const kind *k = find(w, table);
    if (!k || !properties_fit(w, k))
        return false;
    for (uint32_t i = 0; i < k->n; i++) {
        if (!argument(w, i, &w->a[i]))
            return false;
        w->out->size[i] = w->a[i];
    }
    w->out->n_sizes = k->n;
    w->out->sizes = k->sizes;
    w->out->signs = k->signs;
    return k->make(w);
}

bool ns_shapes_known(ns_description *d, const ns_block *block)
{
    work w = {.d = d, .g = d->graph, .block = block};
    return find(&w, bodies) != NULL;
}

bool ns_shapes_body(ns_description *d, const ns_block *block, const ns_locals *locals,
                    ns_v3 centre, ns_shape *out)
{
    *out = (ns_shape){0};
    work w = {.d = d, .g = d->graph, .block = block, .locals = locals, .shift = centre};
    w.body = true;
    w.outward = ns_block_has(block, "flip") ? -1 : 1;
    w.out = out;
    return make(&w, bodies) && given_limits(&w);
}

bool ns_shapes_ground(ns_description *d, const ns_block *block, const ns_locals *locals,
                      ns_shape *out)
{
    *out = (ns_shape){0};
    work w = {.d = d, .g = d->graph, .block = block, .locals = locals, .out = out};
    w.outward = 1;
    w.shift = ns_v3_zero(d->graph);
    const ns_property *at = ns_block_find(block, "at"), *side = ns_block_find(block, "side");
    if (at && !ns_block_vector(d, at, 0, &w.shift))
        return false;
    if (side) {
        bool inside = side->word && strcmp(side->word, "inside") == 0;
        if (!inside && !(side->word && strcmp(side->word, "outside") == 0)) {
            ns_diag_error(d->diag, side->value_span, "side is `inside` or `outside`");
            return false;
        }
        w.outward = inside ? -1 : 1;
    }
    return make(&w, grounds);
}
