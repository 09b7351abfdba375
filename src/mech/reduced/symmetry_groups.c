/* The groups a symmetry can name: generators of the action on the group coordinates and the
 * left-invariant fields, which commute with them.
 *
 *   R(n), SO(2)   d/dx_i are both.
 *   SE(2)         angle theta and x, y.  E: d_theta, cos d_x + sin d_y, -sin d_x + cos d_y (the
 *                 frame
 *                 of 6.2).  X: d_theta - y d_x + x d_y, d_x, d_y.
 *   SO(3)         Euler angles phi, theta, psi with A = Rz(phi) Rx(theta) Rz(psi), body to
 *                 space.
 *                 E_i: the motion with body angular velocity along axis i; X_i: with space
 *                 angular velocity along e_i.
 *   SE(3)         the same and x, y, z, the space position; E_4.. translate along body axes.
 *
 * Each factor acts on its own coordinates alone. */
#include <string.h>

#include "mech/reduced/symmetry.h"

static const struct {
    const char *word;
    uint32_t argument; /* 0: any */
    ns_group_kind kind;
    uint32_t dim; /* 0: the argument */
} table[] = {
    {"R", 0, NS_GROUP_R, 0},    {"translations", 0, NS_GROUP_R, 0}, {"SO", 2, NS_GROUP_R, 1},
    {"SO", 3, NS_GROUP_SO3, 3}, {"SE", 2, NS_GROUP_SE2, 3},         {"SE", 3, NS_GROUP_SE3, 6},
};

bool ns_symmetry_group_find(const char *word, uint32_t argument, ns_group_kind *kind,
                            uint32_t *dim)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].word, word) == 0 &&
            (table[i].argument == argument || (table[i].argument == 0 && argument > 0))) {
            *kind = table[i].kind;
            *dim = table[i].dim ? table[i].dim : argument;
            return true;
        }
    return false;
}

/* Where the components of one factor go. */
typedef struct place {
    ns_symmetry *y;
    const ns_group_factor *f;
    ns_graph *g;
} place;

static void put(const place *at, ns_ex *fields, uint32_t A, uint32_t coordinate, ns_ex value)
{
    const ns_symmetry *y = at->y;
    fields[(at->f->first + A) * y->n + y->group[at->f->first + coordinate]] = value;
}

static ns_ex coordinate(const place *at, uint32_t i)
{
    return at->y->q[at->y->group[at->f->first + i]];
}

/* [E_A, E_B] = value E_C and its mirror image */
static void bracket(const place *at, uint32_t A, uint32_t B, uint32_t C, int value)
{
    const uint32_t k = at->y->k, first = at->f->first;
    A += first;
    B += first;
    C += first;
    at->y->C0[(A * k + B) * k + C] = ns_integer(at->g, value);
    at->y->C0[(B * k + A) * k + C] = ns_integer(at->g, -value);
}

static void plane(const place *at)
{
    ns_graph *g = at->g;
    ns_ex *E = at->y->E, *X = at->y->X, one = ns_one(g);
    ns_ex c = ns_cos(g, coordinate(at, 0)), s = ns_sin(g, coordinate(at, 0));
    put(at, E, 0, 0, one);
    put(at, E, 1, 1, c);
    put(at, E, 1, 2, s);
    put(at, E, 2, 1, ns_neg(g, s));
    put(at, E, 2, 2, c);
    put(at, X, 0, 0, one);
    put(at, X, 0, 1, ns_neg(g, coordinate(at, 2)));
    put(at, X, 0, 2, coordinate(at, 1));
    put(at, X, 1, 1, one);
    put(at, X, 2, 2, one);
    bracket(at, 0, 1, 2, 1);
    bracket(at, 0, 2, 1, -1);
}

static void rotations(const place *at)
{
    ns_graph *g = at->g;
    ns_ex *E = at->y->E, *X = at->y->X;
    ns_ex cf = ns_cos(g, coordinate(at, 0)), sf = ns_sin(g, coordinate(at, 0));
    ns_ex ct = ns_cos(g, coordinate(at, 1)), st = ns_sin(g, coordinate(at, 1));
    ns_ex cp = ns_cos(g, coordinate(at, 2)), sp = ns_sin(g, coordinate(at, 2));
    ns_ex cot = ns_div(g, ct, st);
    put(at, E, 0, 0, ns_div(g, sp, st));
    put(at, E, 0, 1, cp);
    put(at, E, 0, 2, ns_neg(g, ns_mul(g, cot, sp)));
    put(at, E, 1, 0, ns_div(g, cp, st));
    put(at, E, 1, 1, ns_neg(g, sp));
    put(at, E, 1, 2, ns_neg(g, ns_mul(g, cot, cp)));
    put(at, E, 2, 2, ns_one(g));
    put(at, X, 0, 0, ns_neg(g, ns_mul(g, cot, sf)));
    put(at, X, 0, 1, cf);
    put(at, X, 0, 2, ns_div(g, sf, st));
    put(at, X, 1, 0, ns_mul(g, cot, cf));
    put(at, X, 1, 1, sf);
    put(at, X, 1, 2, ns_neg(g, ns_div(g, cf, st)));
    put(at, X, 2, 0, ns_one(g));
    for (uint32_t i = 0; i < 3; i++)
        bracket(at, i, (i + 1) % 3, (i + 2) % 3, 1);
}

static void space(const place *at)
{
    ns_graph *g = at->g;
    ns_ex *E = at->y->E, *X = at->y->X;
    ns_ex cf = ns_cos(g, coordinate(at, 0)), sf = ns_sin(g, coordinate(at, 0));
    ns_ex ct = ns_cos(g, coordinate(at, 1)), st = ns_sin(g, coordinate(at, 1));
    ns_ex cp = ns_cos(g, coordinate(at, 2)), sp = ns_sin(g, coordinate(at, 2));
    rotations(at);
    /* columns of A = Rz(phi) Rx(theta) Rz(psi) */
    const ns_ex column[3][3] = {
        {ns_sub(g, ns_mul(g, cf, cp), ns_mul(g, ns_mul(g, sf, ct), sp)),
         ns_add(g, ns_mul(g, sf, cp), ns_mul(g, ns_mul(g, cf, ct), sp)), ns_mul(g, st, sp)},
        {ns_neg(g, ns_add(g, ns_mul(g, cf, sp), ns_mul(g, ns_mul(g, sf, ct), cp))),
         ns_sub(g, ns_mul(g, ns_mul(g, cf, ct), cp), ns_mul(g, sf, sp)), ns_mul(g, st, cp)},
        {ns_mul(g, sf, st), ns_neg(g, ns_mul(g, cf, st)), ct},
    };
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t j = (i + 1) % 3, l = (i + 2) % 3;
        for (uint32_t c = 0; c < 3; c++)
            put(at, E, 3 + i, 3 + c, column[i][c]);
        put(at, X, 3 + i, 3 + i, ns_one(g));
        /* e_i x position */
        put(at, X, i, 3 + l, coordinate(at, 3 + j));
        put(at, X, i, 3 + j, ns_neg(g, coordinate(at, 3 + l)));
        bracket(at, i, 3 + j, 3 + l, 1);
        bracket(at, i, 3 + l, 3 + j, -1);
    }
}

void ns_symmetry_group_fields(ns_symmetry *y, const ns_group_factor *f)
{
    const place at = {y, f, y->d->graph};
    switch (f->kind) {
    case NS_GROUP_R:
        for (uint32_t i = 0; i < f->dim; i++) {
            put(&at, y->E, i, i, ns_one(at.g));
            put(&at, y->X, i, i, ns_one(at.g));
        }
        break;
    case NS_GROUP_SE2:
        plane(&at);
        break;
    case NS_GROUP_SO3:
        rotations(&at);
        break;
    case NS_GROUP_SE3:
        space(&at);
        break;
    case NS_GROUP_FIELDS:
        break;
    }
}
