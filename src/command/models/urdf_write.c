/* URDF, written as a model of bodies and constraints. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "command/models/urdf_internal.h"
#include "expr/ops.h"
#include "lang/functions.h"
#include "lang/syntax/lexer.h"

/* ---- names ------------------------------------------------------------------------------- */

static bool taken(const ns_urdf *u, const char *id)
{
    for (uint32_t i = 0; i < u->links.n; i++)
        if (u->links.at[i].id && strcmp(u->links.at[i].id, id) == 0)
            return true;
    for (uint32_t i = 0; i < u->joints.n; i++)
        if (u->joints.at[i].id && strcmp(u->joints.at[i].id, id) == 0)
            return true;
    return strcmp(id, "ground") == 0 || strcmp(id, "body") == 0;
}

/* Is it the name of a function of the language, or might it be one that is made here, of an
 * input, a value, a constraint? */
static bool means_more(const char *id)
{
    static const char *const made[] = {"u_", "at_", "rate_", "drive_", "roll_", "caster"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (strncmp(id, made[i], strlen(made[i])) == 0)
            return true;
    for (const ns_builtin *b = ns_builtins; b->name; b++)
        if (strcmp(id, b->name) == 0)
            return true;
    return ns_ops_find(id) != NS_OP_NONE || ns_lexer_reserved(id, strlen(id));
}

/* A name of the language: letters, digits and _, at least four characters so that it is no unit
 * and no constant, and nobody else's. */
static const char *name_for(const ns_urdf *u, const char *name, const char *kind)
{
    ns_text text = ns_text_new(u->arena);
    for (const char *c = name; *c && c - name < 60; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        const bool digit = *c >= '0' && *c <= '9';
        ns_text_addf(&text, "%c", letter || digit ? *c : '_');
    }
    const char *id = ns_text_string(&text);
    const char first = *id == '_' ? '0' : *id;
    if ((first >= '0' && first <= '9') || means_more(id))
        id = ns_arena_format(u->arena, "%s_%s", kind, id);
    if (strlen(id) < 4 || taken(u, id))
        id = ns_arena_format(u->arena, "%s_%s", id, kind);
    const char *stem = id;
    for (int k = 2; taken(u, id); k++)
        id = ns_arena_format(u->arena, "%s_%d", stem, k);
    return id;
}

static void name_all(ns_urdf *u)
{
    for (uint32_t i = 0; i < u->links.n; i++)
        if (u->links.at[i].body == (int)i)
            u->links.at[i].id = name_for(u, u->links.at[i].name, "link");
    for (uint32_t i = 0; i < u->joints.n; i++)
        u->joints.at[i].id = name_for(u, u->joints.at[i].name, "joint");
}

/* ---- numbers and vectors ----------------------------------------------------------------- */

static double clean(double v)
{
    return fabs(v) < 1e-15 ? 0 : v; /* cos(pi/2) and the like */
}

static void put_vector(ns_text *t, const double v[3])
{
    for (int i = 0; i < 3; i++) {
        ns_text_add(t, i ? ", " : "[");
        ns_text_add_double(t, clean(v[i]));
    }
    ns_text_add(t, "]");
}

static bool is_world(const ns_urdf *u, int body)
{
    return u->world && body == u->root;
}

/* A direction of space at zero that moves with a body. */
static const char *direction(const ns_urdf *u, int body, const double v[3])
{
    ns_text t = ns_text_new(u->arena);
    if (is_world(u, body)) {
        put_vector(&t, v);
        return ns_text_string(&t);
    }
    const ns_urdf_link *l = &u->links.at[body];
    double own[3];
    bool any = false;
    ns_pose_back(&l->frame, v, own);
    ns_text_add(&t, "(");
    for (int i = 0; i < 3; i++) {
        const double a = fabs(own[i]) < 1e-12 ? 0 : own[i];
        if (a == 0)
            continue;
        ns_text_add(&t, a < 0 ? (any ? " - " : "-") : any ? " + " : "");
        if (fabs(a) != 1) {
            ns_text_add_double(&t, fabs(a));
            ns_text_add(&t, "*");
        }
        ns_text_addf(&t, "%s.e%d", l->id, i + 1);
        any = true;
    }
    ns_text_add(&t, ")");
    return ns_text_string(&t);
}

/* The point of a joint on a body. */
static const char *point(const ns_urdf *u, int body, const ns_urdf_joint *j)
{
    if (is_world(u, body)) {
        ns_text t = ns_text_new(u->arena);
        put_vector(&t, u->links.at[j->child].pose.p);
        return ns_text_string(&t);
    }
    return ns_arena_format(u->arena, "%s.%s", u->links.at[body].id, j->id);
}

/* ---- bodies ------------------------------------------------------------------------------ */

static void put_points(const ns_urdf *u, ns_text *t, int body)
{
    const ns_urdf_link *l = &u->links.at[body];
    for (uint32_t k = 0; k < u->joints.n; k++) {
        const ns_urdf_joint *j = &u->joints.at[k];
        if (j->kind == NS_JOINT_FIXED || j->kind == NS_JOINT_FLOATING ||
            (u->links.at[j->parent].body != body && j->child != body))
            continue;
        double d[3], own[3];
        for (int i = 0; i < 3; i++)
            d[i] = u->links.at[j->child].pose.p[i] - l->frame.p[i];
        ns_pose_back(&l->frame, d, own);
        ns_text_addf(t, "\n    %s = ", j->id);
        put_vector(t, own);
    }
    for (uint32_t k = 0; k < u->links.n; k++) {
        if (!u->links.at[k].caster || u->links.at[k].body != body)
            continue;
        double d[3], own[3];
        for (int i = 0; i < 3; i++)
            d[i] = u->links.at[k].shape.p[i] - l->frame.p[i];
        ns_pose_back(&l->frame, d, own);
        ns_text_addf(t, "\n    caster%u = ", k + 1);
        put_vector(t, own);
    }
}

static void put_body(const ns_urdf *u, ns_text *t, int body)
{
    const ns_urdf_link *l = &u->links.at[body];
    double d[3], com[3], own[3][3], turned[3][3];
    for (int i = 0; i < 3; i++)
        d[i] = l->com[i] - l->frame.p[i];
    ns_pose_back(&l->frame, d, com);
    for (int i = 0; i < 3; i++) /* R^T I R */
        ns_pose_back(&l->frame, l->inertia[i], turned[i]);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            own[i][j] = l->frame.R[0][i] * turned[0][j] + l->frame.R[1][i] * turned[1][j] +
                        l->frame.R[2][i] * turned[2][j];
    ns_text_addf(t, "body %s {\n    mass ", l->id);
    ns_text_add_double(t, l->mass);
    if (l->mass > 0) {
        ns_text_add(t, "; com ");
        put_vector(t, com);
    }
    ns_text_add(t, "\n    inertia [");
    for (int i = 0; i < 3; i++) {
        const double row[3] = {own[0][i], i > 1 ? own[1][i] : own[i][1],
                               own[i][2]}; /* the same numbers on both sides */
        ns_text_add(t, i ? ", " : "");
        put_vector(t, row);
    }
    ns_text_add(t, "]");
    put_points(u, t, body);
    ns_text_add(t, "\n}\n");
}

/* ---- joints ------------------------------------------------------------------------------ */

/* Any direction across a. */
static void across(const double a[3], double out[3])
{
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(a[i]) < fabs(a[least]))
            least = i;
    double length = 0;
    for (int i = 0; i < 3; i++) {
        out[i] = (i == least) - a[least] * a[i];
        length += out[i] * out[i];
    }
    for (int i = 0; i < 3; i++)
        out[i] /= sqrt(length);
}

static void put_joint(const ns_urdf *u, ns_text *t, const ns_urdf_joint *j)
{
    const int P = u->links.at[j->parent].body, C = j->child;
    double a[3], n[3];
    ns_pose_turn(&u->links.at[C].pose, j->axis, a);
    across(a, n);
    const char *pp = point(u, P, j), *pc = point(u, C, j);
    const char *ap = direction(u, P, a), *ac = direction(u, C, a);
    const char *np = direction(u, P, n), *nc = direction(u, C, n);
    const char *id = u->links.at[C].id;
    if (j->kind == NS_JOINT_PLANAR) {
        ns_text_addf(t, "constraint %s: planar(%s, %s, %s, %s)\n", j->id, pc, pp, ac, ap);
        return;
    }
    const bool slides = j->kind == NS_JOINT_PRISMATIC;
    ns_text_addf(t, "input u_%s in %s = 0\n", j->id, slides ? "N" : "N*m");
    if (slides)
        ns_text_addf(t,
                     "constraint %s: prismatic(%s, %s, %s, %s, %s, %s)\n"
                     "observe at_%s in m = dot(%s - %s, %s)\n"
                     "let rate_%s = dot(%s' - %s, %s)\n",
                     j->id, pc, pp, ac, ap, nc, np, j->id, pc, pp, ap, j->id, pc,
                     is_world(u, P) ? "[0, 0, 0]" : ns_arena_format(u->arena, "%s'", pp), ap);
    else
        ns_text_addf(t,
                     "constraint %s: revolute(%s, %s, %s, %s)\n"
                     "observe at_%s in rad = atan2(dot(cross(%s, %s), %s), dot(%s, %s))\n"
                     "let rate_%s = dot(%s.omega.space%s, %s)\n",
                     j->id, pc, pp, ac, ap, j->id, np, nc, ap, np, nc, j->id, id,
                     is_world(u, P)
                         ? ""
                         : ns_arena_format(u->arena, " - %s.omega.space", u->links.at[P].id),
                     ap);
    ns_text_addf(t, "let drive_%s = (u_%s", j->id, j->id);
    if (j->damping != 0) {
        ns_text_add(t, " - ");
        ns_text_add_double(t, j->damping);
        ns_text_addf(t, "*rate_%s", j->id);
    }
    ns_text_addf(t, ")*%s\n", ap);
    if (slides) {
        ns_text_addf(t, "force %s = drive_%s\n", pc, j->id);
        if (!is_world(u, P))
            ns_text_addf(t, "force %s = -drive_%s\n", pp, j->id);
    }
}

/* All torques on a body in one line. */
static void put_torques(const ns_urdf *u, ns_text *t, int body)
{
    bool any = false;
    for (uint32_t k = 0; k < u->joints.n; k++) {
        const ns_urdf_joint *j = &u->joints.at[k];
        const bool child = j->child == body, parent = u->links.at[j->parent].body == body;
        if ((j->kind != NS_JOINT_REVOLUTE && j->kind != NS_JOINT_CONTINUOUS) ||
            (!child && !parent))
            continue;
        if (!any)
            ns_text_addf(t, "force %s.torque = ", u->links.at[body].id);
        ns_text_addf(t, "%sdrive_%s", child ? (any ? " + " : "") : any ? " - " : "-", j->id);
        any = true;
    }
    if (any)
        ns_text_add(t, "\n");
}

static void put_ground(const ns_urdf *u, ns_text *t)
{
    for (uint32_t i = 0; i < u->links.n; i++) {
        const ns_urdf_link *l = &u->links.at[i];
        if (l->wheel) {
            ns_text_addf(t, "constraint roll_%s: wheel(%s, ", l->id, l->id);
            ns_text_add_double(t, l->radius);
            ns_text_add(t, ")\n");
        } else if (l->caster && !is_world(u, l->body)) {
            ns_text_addf(t, "constraint caster%u: dot(%s.caster%u, [0, 0, 1]) = ", i + 1,
                         u->links.at[l->body].id, i + 1);
            ns_text_add_double(t, l->radius);
            ns_text_add(t, "\n");
        }
    }
}

/* The quaternion of a rotation, by the largest of its components. */
static void quaternion(const double R[3][3], double q[4])
{
    const double square[4] = {1 + R[0][0] + R[1][1] + R[2][2], 1 + R[0][0] - R[1][1] - R[2][2],
                              1 - R[0][0] + R[1][1] - R[2][2], 1 - R[0][0] - R[1][1] + R[2][2]};
    const double pair[4][4] = {
        {0, R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]},
        {R[2][1] - R[1][2], 0, R[0][1] + R[1][0], R[0][2] + R[2][0]},
        {R[0][2] - R[2][0], R[0][1] + R[1][0], 0, R[1][2] + R[2][1]},
        {R[1][0] - R[0][1], R[0][2] + R[2][0], R[1][2] + R[2][1], 0},
    };
    int most = 0;
    for (int k = 1; k < 4; k++)
        if (square[k] > square[most])
            most = k;
    const double root = sqrt(square[most]);
    for (int k = 0; k < 4; k++)
        q[k] = k == most ? root / 2 : pair[most][k] / (2 * root);
}

/* Does it stand on wheels or casters?  Height and tilt follow from these then: angles in files
 * are rounded, 1.57 for a right angle. */
static bool stands(const ns_urdf *u)
{
    for (uint32_t i = 0; i < u->links.n; i++)
        if (u->links.at[i].wheel ||
            (u->links.at[i].caster && !is_world(u, u->links.at[i].body)))
            return true;
    return false;
}

static void put_start(const ns_urdf *u, ns_text *t)
{
    const bool open = stands(u);
    ns_text_add(t, "start {\n");
    for (uint32_t i = 0; i < u->links.n; i++) {
        const ns_urdf_link *l = &u->links.at[i];
        if (l->body != (int)i || is_world(u, (int)i))
            continue;
        double q[4];
        quaternion(l->frame.R, q);
        /* what the constraints leave open is as here; the others are found near it */
        const bool first = (int)i == u->root;
        if (first && open)
            for (int k = 0; k < 3; k++) {
                ns_text_addf(t, "%s%s.%c %s ", k ? "; " : "    ", l->id, "xyz"[k],
                             k < 2 ? "=" : "~");
                ns_text_add_double(t, clean(l->frame.p[k]));
            }
        else {
            ns_text_addf(t, "    %s.position %s ", l->id, first ? "=" : "~");
            put_vector(t, l->frame.p);
        }
        ns_text_addf(t, "; %s.quat %s [", l->id, first && !open ? "=" : "~");
        for (int k = 0; k < 4; k++) {
            ns_text_add(t, k ? ", " : "");
            ns_text_add_double(t, clean(q[k]));
        }
        ns_text_add(t, "]\n");
    }
    ns_text_add(t, "}\nrun { until 1 }\n");
}

const char *ns_urdf_write(ns_urdf *u)
{
    ns_text t = ns_text_new(u->arena);
    bool ground = false;
    name_all(u);
    for (uint32_t i = 0; i < u->links.n; i++) {
        const ns_urdf_link *l = &u->links.at[i];
        ground = ground || l->wheel;
        if (l->body == (int)i && !is_world(u, (int)i) && !(l->mass > 0))
            ns_urdf_note(u, "link %s has no mass: give it one, or fix it to another", l->name);
    }
    ns_urdf_note(u, ground
                        ? "wheels roll on z = 0 without slipping"
                        : "nothing rolls on the ground: there are no wheels (cylinders about "
                          "the axis of a continuous joint)");
    if (!u->world)
        ns_urdf_note(u, "the first link, %s, moves freely", u->links.at[u->root].name);
    const char *slash = strrchr(u->file, '/'), *file = slash ? slash + 1 : u->file;
    ns_text_addf(&t, "# From %s.  Left out, or assumed:\n", file);
    for (uint32_t i = 0; i < u->notes->at.n; i++)
        ns_text_addf(&t, "#   %s\n", u->notes->at.at[i]);
    ns_text_add(&t, "title \"");
    for (const char *c = u->robot; *c && c - u->robot < 80; c++)
        ns_text_addf(&t, "%c", *c == '"' || *c == '\\' || (unsigned char)*c < 32 ? '_' : *c);
    ns_text_add(&t, "\"\n");
    for (uint32_t i = 0; i < u->links.n; i++)
        if (u->links.at[i].body == (int)i && !is_world(u, (int)i))
            put_body(u, &t, (int)i);
    for (uint32_t k = 0; k < u->joints.n; k++)
        if (u->joints.at[k].kind != NS_JOINT_FIXED && u->joints.at[k].kind != NS_JOINT_FLOATING)
            put_joint(u, &t, &u->joints.at[k]);
    for (uint32_t i = 0; i < u->links.n; i++)
        if (u->links.at[i].body == (int)i && !is_world(u, (int)i))
            put_torques(u, &t, (int)i);
    put_ground(u, &t);
    put_start(u, &t);
    return ns_text_string(&t);
}
