/* The orientation of a body at the start: see orientation.h. */
#include "mech/common/orientation.h"

#include "mech/common/block.h"

const char *const ns_orientation_properties[] = {"quat", "axis", "euler", "heading", "tilt",
                                                 "turn", "roll", "pitch", "yaw",     NULL};

typedef struct work {
    const ns_description *d;
    ns_graph *g;
    const ns_block *b;
    bool loose; /* something is a guess */
} work;

static ns_ex half_of(work *w, ns_ex angle)
{
    return ns_mul(w->g, ns_number(w->g, 0.5), angle);
}

static void multiply(ns_graph *g, const ns_ex a[4], const ns_ex b[4], ns_ex out[4])
{
    ns_v3 u = ns_v3_make(a[1], a[2], a[3]), v = ns_v3_make(b[1], b[2], b[3]);
    ns_v3 cross = ns_v3_cross(g, u, v);
    ns_ex w = ns_sub(g, ns_mul(g, a[0], b[0]), ns_v3_dot(g, u, v));
    for (int i = 0; i < 3; i++)
        out[i + 1] = ns_add(g, ns_add(g, ns_mul(g, a[0], v.at[i]), ns_mul(g, b[0], u.at[i])),
                            cross.at[i]);
    out[0] = w;
}

/* Quaternion of the rotation by `angle` about a unit vector. */
static void about(work *w, ns_v3 unit, ns_ex angle, ns_ex out[4])
{
    ns_ex half = half_of(w, angle), sine = ns_sin(w->g, half);
    out[0] = ns_cos(w->g, half);
    for (int i = 0; i < 3; i++)
        out[i + 1] = ns_mul(w->g, sine, unit.at[i]);
}

/* q = rotations about the axes listed (0, 1, 2), the last one acting first on the body */
static void compose(work *w, const int axes[3], const ns_ex angles[3], ns_ex out[4])
{
    about(w, ns_v3_unit(w->g, axes[0]), angles[0], out);
    for (int k = 1; k < 3; k++) {
        ns_ex next[4];
        about(w, ns_v3_unit(w->g, axes[k]), angles[k], next);
        multiply(w->g, out, next, out);
    }
}

/* Up to three named angles; those not given are zero.  Returns how many were given. */
static int angles_of(work *w, const char *const names[3], ns_ex out[3], bool *good)
{
    int given = 0;
    for (int i = 0; i < 3; i++) {
        const ns_property *p = ns_block_find(w->b, names[i]);
        out[i] = ns_zero(w->g);
        if (!p)
            continue;
        given++;
        w->loose = w->loose || p->guess;
        *good = ns_block_scalar(w->d, p, 0, &out[i]) && *good;
    }
    return given;
}

static bool read(work *w, ns_ex quat[4])
{
    static const char *const cardan[3] = {"roll", "pitch", "yaw"};
    static const char *const named[3] = {"heading", "tilt", "turn"};
    static const int xyz[3] = {0, 1, 2}, zxz[3] = {2, 0, 2};
    const ns_property *given = ns_block_find(w->b, "quat");
    const ns_property *axis = ns_block_find(w->b, "axis"),
                      *euler = ns_block_find(w->b, "euler");
    bool good = true;
    ns_ex a[3], b[3];
    int ways = (given != NULL) + (axis != NULL) + (euler != NULL);
    int n_cardan = angles_of(w, cardan, a, &good), n_named = angles_of(w, named, b, &good);
    ways += (n_cardan > 0) + (n_named > 0);
    if (ways > 1) {
        ns_diag_error(
            w->d->diag, w->b->span,
            "the orientation is given in more than one way: choose one of quat, axis, "
            "euler, heading/tilt/turn, roll/pitch/yaw");
        return false;
    }
    const ns_property *whole = given ? given : axis ? axis : euler;
    w->loose = w->loose || (whole && whole->guess);
    if (given) {
        if (given->values != 1 || given->value[0].rows * given->value[0].cols != 4) {
            ns_diag_error(w->d->diag, given->value_span, "quat: expected [w, x, y, z]");
            return false;
        }
        ns_ex norm = ns_zero(w->g);
        for (int i = 0; i < 4; i++)
            norm = ns_add(w->g, norm, ns_powi(w->g, given->value[0].at[i], 2));
        norm = ns_sqrt(w->g, norm);
        for (int i = 0; i < 4; i++)
            quat[i] = ns_div(w->g, given->value[0].at[i], norm);
    } else if (axis) {
        ns_v3 direction;
        if (!ns_block_vector(w->d, axis, 0, &direction) ||
            !ns_block_scalar(w->d, axis, 1, &a[0]))
            return false;
        about(w, ns_v3_normalise(w->g, direction, NULL), a[0], quat);
    } else if (euler) {
        for (uint32_t i = 0; i < 3; i++)
            good = ns_block_scalar(w->d, euler, i, &b[i]) && good;
        compose(w, zxz, b, quat);
    } else if (n_cardan) {
        compose(w, xyz, a, quat);
    } else {
        compose(w, zxz, b, quat); /* all zero: the identity */
    }
    return good;
}

bool ns_orientation_read(const ns_description *d, const ns_block *block, ns_ex quat[4],
                         bool *guess)
{
    work w = {.d = d, .g = d->graph, .b = block};
    bool good = read(&w, quat);
    *guess = w.loose;
    return good;
}
