/* Closed forms of mass properties (any textbook; each is checked by quadrature in
 * tests/mech/test_solid.c).  Sizes: r radius, h height, a, b, c half axes or edges.  A kind
 * gives its content V (volume, area or length), the height z of its centre of mass above the
 * origin of its frame, and the moments k_x, k_y, k_z of inertia about the centre of mass, per
 * unit mass.
 *
 * A compound has  m = sum m_i,  c = sum m_i c_i / m,
 * I = sum [ R_i I_i R_i^T + m_i (|d_i|^2 - d_i d_i^T) ],  d_i = c_i - c   (parallel axes). */
#include "mech/contact/solid.h"

#include <string.h>

#include "mech/common/block.h"

typedef struct shape {
    ns_ex V, z, k[3];
} shape;

typedef struct kind {
    const char *name, *sizes;
    uint32_t n;
    shape (*make)(ns_graph *g, const ns_ex *s);
    bool round; /* about its z axis */
} kind;

/* number p/q as a graph node (exact in any precision) */
static ns_ex ratio(ns_graph *g, int64_t p, int64_t q)
{
    return ns_div(g, ns_integer(g, p), ns_integer(g, q));
}

static ns_ex sq(ns_graph *g, ns_ex a)
{
    return ns_powi(g, a, 2);
}

/* p/q * pi * a */
static ns_ex pi_times(ns_graph *g, int64_t p, int64_t q, ns_ex a)
{
    return ns_mul(g, ns_mul(g, ratio(g, p, q), ns_pi(g)), a);
}

/* p/q a^2 + r/s b^2 */
static ns_ex squares(ns_graph *g, int64_t p, int64_t q, ns_ex a, int64_t r, int64_t s, ns_ex b)
{
    return ns_add(g, ns_mul(g, ratio(g, p, q), sq(g, a)), ns_mul(g, ratio(g, r, s), sq(g, b)));
}

static shape sphere(ns_graph *g, const ns_ex *s)
{
    ns_ex k = ns_mul(g, ratio(g, 2, 5), sq(g, s[0]));
    return (shape){pi_times(g, 4, 3, ns_powi(g, s[0], 3)), ns_zero(g), {k, k, k}};
}

static shape shell(ns_graph *g, const ns_ex *s)
{
    ns_ex k = ns_mul(g, ratio(g, 2, 3), sq(g, s[0]));
    return (shape){pi_times(g, 4, 1, sq(g, s[0])), ns_zero(g), {k, k, k}};
}

static shape hemisphere(ns_graph *g, const ns_ex *s)
{
    ns_ex k = ns_mul(g, ratio(g, 83, 320), sq(g, s[0]));
    return (shape){pi_times(g, 2, 3, ns_powi(g, s[0], 3)),
                   ns_mul(g, ratio(g, 3, 8), s[0]),
                   {k, k, ns_mul(g, ratio(g, 2, 5), sq(g, s[0]))}};
}

static shape ellipsoid(ns_graph *g, const ns_ex *s)
{
    return (shape){pi_times(g, 4, 3, ns_mul(g, s[0], ns_mul(g, s[1], s[2]))),
                   ns_zero(g),
                   {squares(g, 1, 5, s[1], 1, 5, s[2]), squares(g, 1, 5, s[2], 1, 5, s[0]),
                    squares(g, 1, 5, s[0], 1, 5, s[1])}};
}

static shape cylinder(ns_graph *g, const ns_ex *s)
{
    ns_ex k = squares(g, 1, 4, s[0], 1, 12, s[1]);
    return (shape){pi_times(g, 1, 1, ns_mul(g, sq(g, s[0]), s[1])),
                   ns_zero(g),
                   {k, k, ns_mul(g, ratio(g, 1, 2), sq(g, s[0]))}};
}

static shape tube(ns_graph *g, const ns_ex *s)
{
    ns_ex k = squares(g, 1, 2, s[0], 1, 12, s[1]);
    return (shape){pi_times(g, 2, 1, ns_mul(g, s[0], s[1])), ns_zero(g), {k, k, sq(g, s[0])}};
}

static shape cone(ns_graph *g, const ns_ex *s)
{
    ns_ex k = squares(g, 3, 20, s[0], 3, 80, s[1]);
    return (shape){pi_times(g, 1, 3, ns_mul(g, sq(g, s[0]), s[1])),
                   ns_mul(g, ratio(g, 1, 4), s[1]),
                   {k, k, ns_mul(g, ratio(g, 3, 10), sq(g, s[0]))}};
}

static shape disk(ns_graph *g, const ns_ex *s)
{
    ns_ex k = ns_mul(g, ratio(g, 1, 4), sq(g, s[0]));
    return (shape){pi_times(g, 1, 1, sq(g, s[0])),
                   ns_zero(g),
                   {k, k, ns_mul(g, ratio(g, 1, 2), sq(g, s[0]))}};
}

static shape hoop(ns_graph *g, const ns_ex *s)
{
    ns_ex k = ns_mul(g, ratio(g, 1, 2), sq(g, s[0]));
    return (shape){pi_times(g, 2, 1, s[0]), ns_zero(g), {k, k, sq(g, s[0])}};
}

static shape torus(ns_graph *g, const ns_ex *s)
{
    ns_ex k = squares(g, 1, 2, s[0], 5, 8, s[1]);
    return (shape){pi_times(g, 2, 1, ns_mul(g, ns_pi(g), ns_mul(g, s[0], sq(g, s[1])))),
                   ns_zero(g),
                   {k, k, squares(g, 1, 1, s[0], 3, 4, s[1])}};
}

static shape box(ns_graph *g, const ns_ex *s)
{
    return (shape){ns_mul(g, s[0], ns_mul(g, s[1], s[2])),
                   ns_zero(g),
                   {squares(g, 1, 12, s[1], 1, 12, s[2]), squares(g, 1, 12, s[2], 1, 12, s[0]),
                    squares(g, 1, 12, s[0], 1, 12, s[1])}};
}

static shape rod(ns_graph *g, const ns_ex *s)
{
    ns_ex k = ns_mul(g, ratio(g, 1, 12), sq(g, s[0]));
    return (shape){s[0], ns_zero(g), {k, k, ns_zero(g)}};
}

static shape point(ns_graph *g, const ns_ex *s)
{
    (void)s;
    return (shape){ns_one(g), ns_zero(g), {ns_zero(g), ns_zero(g), ns_zero(g)}};
}

static const kind kinds[] = {
    {"sphere", "r", 1, sphere, true},
    {"shell", "r", 1, shell, true},
    {"hemisphere", "r", 1, hemisphere, true},
    {"ellipsoid", "a, b, c", 3, ellipsoid, false},
    {"cylinder", "r, h", 2, cylinder, true},
    {"tube", "r, h", 2, tube, true},
    {"cone", "r, h", 2, cone, true},
    {"disk", "r", 1, disk, true},
    {"hoop", "r", 1, hoop, true},
    {"torus", "R, r", 2, torus, true},
    {"box", "a, b, c", 3, box, false},
    {"rod", "l", 1, rod, true},
    {"point", "", 0, point, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *ns_solid_kinds(ns_arena *arena)
{
    ns_text text = ns_text_new(arena);
    for (uint32_t i = 0; i < KINDS; i++)
        ns_text_addf(&text, "%s%s(%s)", i ? ", " : "", kinds[i].name, kinds[i].sizes);
    return ns_text_string(&text);
}

static const kind *find(const char *name)
{
    for (uint32_t i = 0; name && i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

bool ns_solid_uniform(ns_graph *g, const char *name, const ns_ex *sizes, uint32_t n, ns_ex mass,
                      ns_mass *out)
{
    const kind *k = find(name);
    if (!k || k->n != n)
        return false;
    shape s = k->make(g, sizes);
    *out = (ns_mass){0};
    out->mass = mass ? mass : s.V;
    out->centre = ns_v3_make(ns_zero(g), ns_zero(g), s.z);
    out->inertia = ns_m3_zero(g);
    for (int i = 0; i < 3; i++)
        out->inertia.at[i][i] = ns_mul(g, out->mass, s.k[i]);
    return true;
}

ns_m3 ns_solid_turn(ns_graph *g, ns_v3 axis, ns_ex angle)
{
    /* R = cos(angle) 1 + sin(angle) u^ + (1 - cos(angle)) u u^T */
    ns_v3 u = ns_v3_normalise(g, axis, NULL);
    ns_ex c = ns_cos(g, angle), s = ns_sin(g, angle), rest = ns_sub(g, ns_one(g), c);
    ns_m3 R = ns_m3_scale(g, rest, ns_m3_outer(g, u, u));
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        ns_ex turned = ns_mul(g, s, u.at[k]);
        R.at[i][i] = ns_add(g, R.at[i][i], c);
        R.at[i][j] = ns_sub(g, R.at[i][j], turned);
        R.at[j][i] = ns_add(g, R.at[j][i], turned);
    }
    return R;
}

/* m (|d|^2 - d d^T) */
static ns_m3 parallel(ns_graph *g, ns_ex mass, ns_v3 d)
{
    ns_m3 m = ns_m3_scale(g, ns_neg(g, mass), ns_m3_outer(g, d, d));
    ns_ex square = ns_mul(g, mass, ns_v3_dot(g, d, d));
    for (int i = 0; i < 3; i++)
        m.at[i][i] = ns_add(g, m.at[i][i], square);
    return m;
}

/* One block: the part in the body's frame. */
static bool read_part(const ns_description *d, const ns_block *block, ns_mass *part)
{
    static const char *const names[] = {"density", "mass", "at", "axis", "turn", "hole", NULL};
    ns_graph *g = d->graph;
    const kind *k = find(block->kind);
    if (!k || k->n != block->nargs) {
        ns_diag_error(d->diag, block->kind ? block->kind_span : block->span,
                      k ? "`solid %s` takes other sizes; there are: %s"
                        : "there is no solid `%s`; there are: %s",
                      block->kind ? block->kind : "", ns_solid_kinds(d->arena));
        return false;
    }
    if (!ns_block_known(d, block, names))
        return false;
    ns_ex sizes[3];
    for (uint32_t i = 0; i < k->n; i++)
        if (!ns_block_argument(d, block, i, &sizes[i]))
            return false;
    const ns_property *density = ns_block_find(block, "density");
    const ns_property *mass = ns_block_find(block, "mass"), *at = ns_block_find(block, "at");
    const ns_property *axis = ns_block_find(block, "axis"),
                      *turn = ns_block_find(block, "turn");
    if (!density == !mass) {
        ns_diag_error(d->diag, block->span, "a solid needs either `mass` or `density`");
        return false;
    }
    ns_ex amount;
    if (!ns_block_scalar(d, density ? density : mass, 0, &amount))
        return false;
    if (ns_block_has(block, "hole"))
        amount = ns_neg(g, amount);
    if (density)
        amount = ns_mul(g, amount, k->make(g, sizes).V);
    if (!ns_solid_uniform(g, k->name, sizes, k->n, amount, part))
        return false;
    if (axis && (turn || !k->round)) {
        ns_diag_error(d->diag, axis->span,
                      turn ? "give either `axis` or `turn`"
                           : "`%s` is not round: use `turn [x, y, z], angle`",
                      k->name);
        return false;
    }
    if (axis) { /* I = k_x (1 - u u^T) + k_z u u^T */
        ns_v3 direction = ns_v3_zero(g);
        if (!ns_block_vector(d, axis, 0, &direction))
            return false;
        ns_v3 u = ns_v3_normalise(g, direction, NULL);
        ns_ex Ix = part->inertia.at[0][0], Iz = part->inertia.at[2][2];
        part->inertia = ns_m3_add(g, ns_m3_scale(g, Ix, ns_m3_identity(g)),
                                  ns_m3_scale(g, ns_sub(g, Iz, Ix), ns_m3_outer(g, u, u)));
        part->centre = ns_v3_scale(g, part->centre.at[2], u);
    }
    if (turn) {
        ns_v3 direction;
        ns_ex angle;
        if (!ns_block_vector(d, turn, 0, &direction) || !ns_block_scalar(d, turn, 1, &angle))
            return false;
        ns_m3 R = ns_solid_turn(g, direction, angle);
        part->inertia = ns_m3_mul(g, R, ns_m3_mul(g, part->inertia, ns_m3_transpose(R)));
        part->centre = ns_m3_apply(g, R, part->centre);
    }
    ns_v3 place;
    if (at && !ns_block_vector(d, at, 0, &place))
        return false;
    if (at)
        part->centre = ns_v3_add(g, part->centre, place);
    return true;
}

bool ns_solid_read(const ns_description *d, ns_mass *mass, bool *found)
{
    ns_graph *g = d->graph;
    bool good = true;
    NS_LIST(ns_mass) parts = {0};
    *found = false;
    for (uint32_t i = 0; i < d->blocks.n; i++) {
        if (d->blocks.at[i].form != &ns_block_solid)
            continue;
        ns_mass part;
        *found = true;
        if (read_part(d, &d->blocks.at[i], &part))
            NS_PUSH(d->arena, parts, part);
        else
            good = false;
    }
    if (!good || !*found)
        return good;
    mass->mass = ns_zero(g);
    ns_v3 moment = ns_v3_zero(g);
    for (uint32_t i = 0; i < parts.n; i++) {
        mass->mass = ns_add(g, mass->mass, parts.at[i].mass);
        moment = ns_v3_add(g, moment, ns_v3_scale(g, parts.at[i].mass, parts.at[i].centre));
    }
    for (int k = 0; k < 3; k++)
        mass->centre.at[k] = ns_div(g, moment.at[k], mass->mass);
    mass->inertia = ns_m3_zero(g);
    for (uint32_t i = 0; i < parts.n; i++) {
        ns_v3 apart = ns_v3_sub(g, parts.at[i].centre, mass->centre);
        mass->inertia = ns_m3_add(
            g, mass->inertia,
            ns_m3_add(g, parts.at[i].inertia, parallel(g, parts.at[i].mass, apart)));
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            mass->inertia.at[i][j] = mass->inertia.at[j][i];
    return true;
}
