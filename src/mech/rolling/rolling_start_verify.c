/* Starts of rolling bodies with numbers: sizes of shapes and laws, and whether the start found
 * is what was meant. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/block.h"
#include "mech/common/dense.h"
#include "mech/rolling/rolling.h"

bool ns_rolling_sizes(const ns_system *s, ns_diag *diag, const double *p, const ns_shape *shape,
                      const ns_block *block)
{
    for (uint32_t i = 0; i < shape->n_sizes; i++) {
        double value;
        ns_system_eval(s, &shape->size[i], 1, 0, p, NULL, &value);
        char sign = shape->signs[i];
        if ((sign == '+' && !(value > 0)) || (sign == '0' && !(value >= 0)) ||
            (sign == '1' && !(value > 1))) {
            ns_diag_error(diag, block->kind_span, "size %u of %s(%s) must %s; it is %.6g",
                          i + 1, block->kind, shape->sizes,
                          sign == '+'   ? "be positive"
                          : sign == '1' ? "be larger than 1"
                                        : "not be negative",
                          value);
            return false;
        }
    }
    return true;
}

/* Axes must have a direction. */
static bool directed(const ns_system *s, ns_diag *diag, const double *p, const ns_block *block,
                     const char *name)
{
    const ns_property *axis = ns_block_find(block, name);
    double v[3];
    if (!axis || axis->values == 0 || axis->value[0].rows * axis->value[0].cols != 3)
        return true;
    ns_system_eval(s, axis->value[0].at, 3, 0, p, NULL, v);
    if (v[0] != 0 || v[1] != 0 || v[2] != 0)
        return true;
    ns_diag_error(diag, axis->value_span, "`%s`: the axis has no direction", name);
    return false;
}

bool ns_rolling_all_sizes(const ns_system *s, ns_diag *diag, const double *p)
{
    const ns_rolling *r = s->own;
    const ns_property *mu = ns_block_find(r->ground_block, "mu");
    double friction = 0;
    if (mu && mu->values == 1) /* nan where it depends on the motion */
        ns_system_eval(s, &mu->value[0].at[0], 1, 0, p, NULL, &friction);
    if (mu && friction < 0) {
        ns_diag_error(diag, mu->value_span, "`mu` must not be negative; it is %.6g", friction);
        return false;
    }
    if (r->law.any && !ns_law_sizes(&r->law, diag, s, p))
        return false;
    return directed(s, diag, p, r->ground_block, "axis") &&
           directed(s, diag, p, r->ground_block, "turn") &&
           directed(s, diag, p, r->body_block, "turn") &&
           (!r->start_block || directed(s, diag, p, r->start_block, "axis")) &&
           ns_rolling_sizes(s, diag, p, &r->body, r->body_block) &&
           ns_rolling_sizes(s, diag, p, &r->ground, r->ground_block);
}

/* The given com' or centre': the component that points to the contact. */
static bool moves(const ns_system *s, ns_diag *diag, double t0, const double *p,
                  const double *x)
{
    const ns_rolling *r = s->own;
    if (!r->moved)
        return true;
    double excess, v[3], size = 1e-3;
    ns_system_eval(s, &r->excess, 1, t0, p, x, &excess);
    ns_system_eval(s, r->moved->value[0].at, 3, t0, p, NULL, v);
    for (int i = 0; i < 3; i++)
        size = ns_max(size, fabs(v[i]));
    if (fabs(excess) <= 1e-9 * size)
        return true;
    ns_diag_error(
        diag, r->moved->value_span,
        "no rolling has this %s: its component towards the contact is off by %.6g m/s; "
        "leave the third one open: %s [x, y]",
        r->moved->name, excess, r->moved->name);
    return false;
}

/* The equations of the contact hold too where body and ground are on the same side of it. */
static bool faces(const ns_system *s, ns_diag *diag, double t0, const double *p,
                  const double *x)
{
    const ns_rolling *r = s->own;
    double off[3] = {0};
    if (!r->contact.align.at[0])
        return true;
    ns_system_eval(s, r->contact.align.at, 3, t0, p, x, off);
    if (off[0] * off[0] + off[1] * off[1] + off[2] * off[2] < 1)
        return true;
    ns_diag_error(
        diag, r->body_block->span,
        "the body touches from the wrong side at the start: its outward normal must be "
        "opposite to that of the ground; give a better guess of the contact on the "
        "body (%s ~ ...)",
        s->states.at[r->side].name);
    return false;
}

/* The ground's normal must be on its side, whatever its chart does. */
static bool on_side(const ns_system *s, ns_diag *diag, double t0, const double *p,
                    const double *x)
{
    const ns_rolling *r = s->own;
    const ns_side *ground = &r->contact.ground;
    if (r->contact.reduced || ground->kind != NS_SIDE_CHART || ground->flat ||
        !ns_rolling_flipped(s, &ground->normal, r->support, t0, p, x))
        return true;
    ns_diag_error(
        diag, r->ground_block->span,
        "the body starts on the wrong side of the ground: at %s = %.6g, %s = %.6g its "
        "chart runs over a pole and y_u x y_v points to the other side; give a better "
        "guess of the contact",
        s->states.at[r->support].name, x[r->support], s->states.at[r->support + 1].name,
        x[r->support + 1]);
    return false;
}

/* The given com or centre: where the body touches the ground, across the ground. */
static bool touches(const ns_system *s, ns_diag *diag, double t0, const double *p,
                    const double *x)
{
    const ns_rolling *r = s->own;
    if (!r->placed)
        return true;
    double value[4], size = 0;
    ns_ex ask[4] = {r->gap, r->contact.s.at[0], r->contact.s.at[1], r->contact.s.at[2]};
    ns_system_eval(s, ask, 4, t0, p, x, value);
    for (int i = 1; i < 4; i++)
        size = ns_max(size, fabs(value[i]));
    if (fabs(value[0]) <= 1e-9 * size) /* the user's own numbers may be rounded */
        return true;
    ns_diag_error(diag, r->placed->value_span,
                  value[0] > 0
                      ? "the body does not touch the ground: with this %s it is %.6g m "
                        "above it"
                      : "the start is under the ground: with this %s the body reaches "
                        "%.6g m into it",
                  r->placed->name, fabs(value[0]));
    return false;
}

bool ns_rolling_verify(const ns_system *s, ns_diag *diag, double t0, const double *p,
                       const double *x)
{
    const ns_rolling *r = s->own;
    ns_span body = r->body_block->span;
    ns_ex ask[12];
    double value[12], moment[3];
    ask[0] = r->mass.mass;
    ask[1] = r->contact.regular;
    ask[2] = r->contact.fit ? r->contact.fit : r->contact.regular;
    memcpy(ask + 3, r->mass.inertia.at, sizeof r->mass.inertia.at);
    ns_system_eval(s, ask, 12, t0, p, x, value);
    if (!(value[0] > 0)) {
        ns_diag_error(diag, body, "the mass must be positive; it is %.6g", value[0]);
        return false;
    }
    if (!ns_dense_symmetric(s->arena, 3, value + 3, moment)) {
        ns_diag_error(diag, body, "the inertia tensor is not finite");
        return false;
    }
    if (moment[0] == 0 && moment[2] == 0) {
        ns_diag_error(diag, body, "the inertia tensor is zero");
        return false;
    }
    if (!(moment[0] >= -1e-12 * moment[2] && moment[2] > 0)) {
        ns_diag_error(diag, body, "the inertia tensor has a negative principal moment: %.6g",
                      moment[0]);
        return false;
    }
    if (moment[2] > (moment[0] + moment[1]) * (1 + 1e-12)) {
        ns_diag_error(
            diag, body,
            "no mass distribution has this inertia tensor: the principal moment %.6g is "
            "larger than the sum of the others, %.6g + %.6g",
            moment[2], moment[0], moment[1]);
        return false;
    }
    if (!on_side(s, diag, t0, p, x) || !faces(s, diag, t0, p, x))
        return false;
    if (r->law.any ? !ns_rolling_touch_verify(s, diag, t0, p, x)
                   : !touches(s, diag, t0, p, x) || !moves(s, diag, t0, p, x))
        return false;
    if (ns_side_is_curve(&r->contact.body) && !(value[1] > 0)) {
        ns_diag_error(diag, r->body_block->span,
                      "the edge lies flat on the ground, or bends less than the ground does "
                      "(relative curvature %.3g): they do not touch in one point",
                      isnan(value[1]) ? 0.0 : value[1] + 0.0); /* 0, not -0 */
        return false;
    }
    if (!isfinite(value[1])) {
        ns_diag_error(diag, r->ground_block->span,
                      "the curvature of body or ground is undefined at the start");
        return false;
    }
    if (!(value[1] > 0 && value[2] > 0)) {
        ns_diag_error(
            diag, r->ground_block->span,
            "the body does not fit the ground at the contact: it is flatter than the "
            "ground there (relative curvature %.3g), so they meet in more than one point",
            value[1]);
        return false;
    }
    return true;
}

void ns_rolling_doubts(const ns_system *s, ns_diag *diag, double t0, const double *p,
                       const double *x)
{
    const ns_rolling *r = s->own;
    if (ns_block_has(r->ground_block, "overlap"))
        return; /* the run says it */
    const double depth = ns_rolling_overlaps(s, t0, p, x);
    if (depth > 0)
        ns_diag_warn(diag, r->ground_block->span,
                     "the body reaches %.3g m into the ground at the start, away from the "
                     "contact: there would be more than one",
                     depth);
}
