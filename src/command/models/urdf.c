/* URDF, read: links, joints, their places at zero, masses of what is fixed together, wheels. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "base/messages/tame.h"
#include "command/models/urdf_internal.h"

/* Links are compared with each other; of numbers products of four are finite. */
enum { MOST_LINKS = 1000 };
static const double largest = 1e60;

/* ---- messages and numbers ---------------------------------------------------------------- */

static bool wrong(ns_urdf *u, const ns_xml *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool wrong(ns_urdf *u, const ns_xml *at, const char *format, ...)
{
    ns_text text = ns_text_new(u->arena);
    va_list list;
    ns_text_addf(&text, "%s:%u:%u: error: ", u->file, at->line, at->column);
    va_start(list, format);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    *u->message = ns_text_string(&text);
    return false;
}

void ns_urdf_note(ns_urdf *u, const char *format, ...)
{
    ns_text text = ns_text_new(u->arena);
    va_list list;
    va_start(list, format);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    NS_PUSH(u->arena, u->notes->at, ns_text_string(&text));
}

/* n numbers of an attribute; those given before stay if there is none. */
static bool numbers(ns_urdf *u, const ns_xml *e, const char *name, int n, double *out)
{
    const char *text = ns_xml_value(e, name), *at = text;
    if (!text)
        return true;
    for (int i = 0; i < n; i++) {
        char *end;
        out[i] = strtod(at, &end);
        if (end == at || !isfinite(out[i]))
            return wrong(u, e, "`%s` of <%s> expects %d number%s, not `%s`", name, e->name, n,
                         n > 1 ? "s" : "", text);
        if (fabs(out[i]) > largest)
            return wrong(u, e, "`%s` of <%s> is larger than %g", name, e->name, largest);
        at = end;
    }
    if (at[strspn(at, " \t\r\n")])
        return wrong(u, e, "`%s` of <%s> expects %d number%s, not `%s`", name, e->name, n,
                     n > 1 ? "s" : "", text);
    return true;
}

/* ---- frames ------------------------------------------------------------------------------ */

void ns_pose_turn(const ns_pose *a, const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a->R[i][0] * v[0] + a->R[i][1] * v[1] + a->R[i][2] * v[2];
}

void ns_pose_back(const ns_pose *a, const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a->R[0][i] * v[0] + a->R[1][i] * v[1] + a->R[2][i] * v[2];
}

static ns_pose compose(const ns_pose *a, const ns_pose *b)
{
    ns_pose out;
    ns_pose_turn(a, b->p, out.p);
    for (int i = 0; i < 3; i++) {
        out.p[i] += a->p[i];
        for (int j = 0; j < 3; j++)
            out.R[i][j] = a->R[i][0] * b->R[0][j] + a->R[i][1] * b->R[1][j] +
                          a->R[i][2] * b->R[2][j];
    }
    return out;
}

/* <origin xyz rpy>: turns about the fixed axes x, y, z in this order. */
static bool origin(ns_urdf *u, const ns_xml *of, ns_pose *out)
{
    const ns_xml *e = ns_xml_child(of, "origin");
    double a[3] = {0};
    *out = (ns_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (!e)
        return true;
    if (!numbers(u, e, "xyz", 3, out->p) || !numbers(u, e, "rpy", 3, a))
        return false;
    const double cr = ns_math_cos(a[0]), sr = ns_math_sin(a[0]), cp = ns_math_cos(a[1]),
                 sp = ns_math_sin(a[1]), cy = ns_math_cos(a[2]), sy = ns_math_sin(a[2]);
    const double R[3][3] = {{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                            {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                            {-sp, cp * sr, cp * cr}};
    memcpy(out->R, R, sizeof R);
    return true;
}

/* ---- links ------------------------------------------------------------------------------- */

static int find_link(const ns_urdf *u, const char *name)
{
    for (uint32_t i = 0; i < u->links.n && name; i++)
        if (strcmp(u->links.at[i].name, name) == 0)
            return (int)i;
    return NS_URDF_NONE;
}

static bool read_inertial(ns_urdf *u, ns_urdf_link *l, ns_pose *at)
{
    const ns_xml *e = ns_xml_child(l->xml, "inertial");
    double I[6] = {0};
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    if (!origin(u, e, at) || !e)
        return *u->message == NULL;
    if (!numbers(u, ns_xml_child(e, "mass"), "value", 1, &l->mass))
        return false;
    if (l->mass < 0)
        return wrong(u, e, "the mass of `%s` is negative", l->name);
    for (int k = 0; k < 6; k++)
        if (!numbers(u, ns_xml_child(e, "inertia"), names[k], 1, &I[k]))
            return false;
    const double M[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
    memcpy(l->inertia, M, sizeof M);
    return true;
}

/* Cylinders and spheres: of the collision, otherwise of the picture. */
static bool read_shape(ns_urdf *u, ns_urdf_link *l)
{
    static const char *const kinds[] = {"collision", "visual"};
    for (int k = 0; k < 2 && !(l->radius > 0); k++)
        for (const ns_xml *e = ns_xml_child(l->xml, kinds[k]); e; e = ns_xml_next(e)) {
            const ns_xml *g = ns_xml_child(e, "geometry");
            const ns_xml *round = ns_xml_child(g, "cylinder");
            l->ball = !round;
            round = round ? round : ns_xml_child(g, "sphere");
            if (!round)
                continue;
            if (!numbers(u, round, "radius", 1, &l->radius) || !origin(u, e, &l->shape))
                return false;
            if (!(l->radius > 0))
                return wrong(u, round, "the radius of `%s` must be positive", l->name);
            break;
        }
    return true;
}

static bool read_links(ns_urdf *u, const ns_xml *robot)
{
    for (const ns_xml *e = ns_xml_child(robot, "link"); e; e = ns_xml_next(e)) {
        ns_urdf_link l = {.xml = e, .name = ns_xml_value(e, "name"), .joint = NS_URDF_NONE};
        if (!l.name || !*l.name)
            return wrong(u, e, "a link needs a name");
        if (u->links.n == MOST_LINKS)
            return wrong(u, e, "more than %d links", MOST_LINKS);
        if (find_link(u, l.name) != NS_URDF_NONE)
            return wrong(u, e, "there are two links `%s`", l.name);
        l.body = (int)u->links.n;
        NS_PUSH(u->arena, u->links, l);
    }
    return u->links.n || wrong(u, robot, "the robot has no links");
}

/* ---- joints ------------------------------------------------------------------------------ */

static bool joint_kind(ns_urdf *u, const ns_xml *e, ns_joint_kind *kind)
{
    static const char *const names[] = {"fixed",     "revolute", "continuous",
                                        "prismatic", "floating", "planar"};
    const char *type = ns_xml_value(e, "type");
    for (int k = 0; k < 6 && type; k++)
        if (strcmp(type, names[k]) == 0) {
            *kind = (ns_joint_kind)k;
            return true;
        }
    return wrong(u, e,
                 "`type` of <joint> is fixed, revolute, continuous, prismatic, floating "
                 "or planar, not `%s`",
                 type ? type : "");
}

static void note_rest(ns_urdf *u, const ns_urdf_joint *j)
{
    const ns_xml *limit = ns_xml_child(j->xml, "limit"),
                 *dynamics = ns_xml_child(j->xml, "dynamics");
    const char *friction = ns_xml_value(dynamics, "friction");
    if (limit && j->kind != NS_JOINT_CONTINUOUS &&
        (ns_xml_value(limit, "lower") || ns_xml_value(limit, "upper")))
        ns_urdf_note(u, "joint %s: its limits (it moves freely beyond them)", j->name);
    if (friction && strtod(friction, NULL) != 0)
        ns_urdf_note(u, "joint %s: dry friction", j->name);
    if (ns_xml_child(j->xml, "mimic"))
        ns_urdf_note(u, "joint %s: mimic (it moves by itself)", j->name);
}

static bool read_joint(ns_urdf *u, const ns_xml *e)
{
    ns_urdf_joint j = {.xml = e, .name = ns_xml_value(e, "name"), .axis = {1, 0, 0}};
    const ns_xml *parent = ns_xml_child(e, "parent"), *child = ns_xml_child(e, "child");
    const ns_xml *axis = ns_xml_child(e, "axis"), *dynamics = ns_xml_child(e, "dynamics");
    if (!j.name || !*j.name)
        return wrong(u, e, "a joint needs a name");
    if (!joint_kind(u, e, &j.kind))
        return false;
    j.parent = find_link(u, ns_xml_value(parent, "link"));
    j.child = find_link(u, ns_xml_value(child, "link"));
    if (j.parent == NS_URDF_NONE || j.child == NS_URDF_NONE)
        return wrong(u, e, "joint `%s` needs <parent link=...> and <child link=...> that exist",
                     j.name);
    if (u->links.at[j.child].joint != NS_URDF_NONE)
        return wrong(u, e, "link `%s` has two parents", u->links.at[j.child].name);
    if (!origin(u, e, &j.origin) || (axis && !numbers(u, axis, "xyz", 3, j.axis)) ||
        (dynamics && !numbers(u, dynamics, "damping", 1, &j.damping)))
        return false;
    const double length = sqrt(j.axis[0] * j.axis[0] + j.axis[1] * j.axis[1] +
                               j.axis[2] * j.axis[2]);
    if (!(length > 1e-9))
        return wrong(u, e, "the axis of joint `%s` has no length", j.name);
    for (int i = 0; i < 3; i++)
        j.axis[i] /= length;
    u->links.at[j.child].joint = (int)u->joints.n;
    NS_PUSH(u->arena, u->joints, j);
    if (j.kind != NS_JOINT_FIXED)
        note_rest(u, &j);
    return true;
}

static bool read_joints(ns_urdf *u, const ns_xml *robot)
{
    for (const ns_xml *e = ns_xml_child(robot, "joint"); e; e = ns_xml_next(e))
        if (!read_joint(u, e))
            return false;
    u->root = NS_URDF_NONE;
    for (uint32_t i = 0; i < u->links.n; i++) {
        if (u->links.at[i].joint != NS_URDF_NONE)
            continue;
        if (u->root != NS_URDF_NONE)
            return wrong(u, u->links.at[i].xml, "links `%s` and `%s` hang together by no joint",
                         u->links.at[u->root].name, u->links.at[i].name);
        u->root = (int)i;
    }
    return u->root != NS_URDF_NONE ||
           wrong(u, robot, "the joints form a ring: no link is first");
}

/* ---- bodies ------------------------------------------------------------------------------ */

/* Poses at zero, from the root on; links fixed to others belong to their bodies. */
static bool place_links(ns_urdf *u)
{
    u->links.at[u->root].pose = (ns_pose){.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    u->links.at[u->root].done = true;
    for (uint32_t placed = 1, before = 0; placed < u->links.n;) {
        before = placed;
        for (uint32_t i = 0; i < u->links.n; i++) {
            ns_urdf_link *l = &u->links.at[i];
            const ns_urdf_joint *j = l->joint == NS_URDF_NONE ? NULL : &u->joints.at[l->joint];
            if (l->done || !u->links.at[j->parent].done)
                continue;
            l->pose = compose(&u->links.at[j->parent].pose, &j->origin);
            if (j->kind == NS_JOINT_FIXED)
                l->body = u->links.at[j->parent].body;
            l->done = true;
            placed++;
        }
        if (placed == before) {
            for (uint32_t i = 0; i < u->links.n; i++)
                if (!u->links.at[i].done)
                    return wrong(u, u->links.at[i].xml, "link `%s` is in a ring of joints",
                                 u->links.at[i].name);
        }
    }
    return true;
}

/* Adds a mass with its inertia, both along the axes of space, by Steiner's theorem. */
static void add_mass(ns_urdf_link *to, double m, const double c[3], const double I[3][3])
{
    const double sum = to->mass + m;
    double d[3], square = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = c[i] - to->com[i];
        square += d[i] * d[i];
    }
    const double reduced = sum > 0 ? to->mass * m / sum : 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            to->inertia[i][j] += I[i][j] + reduced * ((i == j ? square : 0) - d[i] * d[j]);
        to->com[i] += sum > 0 ? m / sum * d[i] : 0;
    }
    to->mass = sum;
}

static bool collect_masses(ns_urdf *u)
{
    ns_urdf_link *own = NS_NEW_ARRAY(u->arena, ns_urdf_link, u->links.n);
    for (uint32_t i = 0; i < u->links.n; i++) {
        ns_urdf_link *l = &u->links.at[i];
        ns_pose at, in_space;
        if (!read_inertial(u, l, &at) || !read_shape(u, l))
            return false;
        if (l->radius > 0)
            l->shape = compose(&l->pose, &l->shape);
        in_space = compose(&l->pose, &at);
        own[i] = *l;
        memcpy(own[i].com, in_space.p, sizeof own[i].com);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                own[i].inertia[a][b] = 0;
                for (int k = 0; k < 3; k++)
                    for (int n = 0; n < 3; n++)
                        own[i].inertia[a][b] += in_space.R[a][k] * l->inertia[k][n] *
                                                in_space.R[b][n];
            }
        l->mass = 0;
        memset(l->inertia, 0, sizeof l->inertia);
        memcpy(l->com, in_space.p, sizeof l->com);
    }
    for (uint32_t i = 0; i < u->links.n; i++)
        if (own[i].mass > 0 || own[i].inertia[0][0] > 0) {
            const double(*I)[3] = (const double(*)[3])own[i].inertia;
            add_mass(&u->links.at[u->links.at[i].body], own[i].mass, own[i].com, I);
        }
    return true;
}

/* A cylinder about the axis of its joint, or a sphere on it, is a wheel; other spheres are
 * casters if they are as low.  All is lifted so that the lowest wheel stands on z = 0. */
static void find_wheels(ns_urdf *u)
{
    double lowest = INFINITY;
    for (uint32_t i = 0; i < u->links.n; i++) {
        ns_urdf_link *l = &u->links.at[i];
        const ns_urdf_joint *j = l->joint == NS_URDF_NONE ? NULL : &u->joints.at[l->joint];
        l->frame = l->pose;
        if (!j || j->kind != NS_JOINT_CONTINUOUS || !(l->radius > 0))
            continue;
        double a[3], off = 0, along = 0, across = 0;
        ns_pose_turn(&l->pose, j->axis, a);
        for (int k = 0; k < 3; k++) {
            off += a[k] * l->shape.R[k][2];
            along += a[k] * (l->shape.p[k] - l->pose.p[k]);
        }
        for (int k = 0; k < 3; k++) {
            const double d = l->shape.p[k] - l->pose.p[k] - along * a[k];
            across += d * d;
        }
        const double flat = sqrt(ns_max(0, 1 - a[2] * a[2]));
        if ((!l->ball && fabs(off) < 1 - 1e-6) || sqrt(across) > 1e-6 * l->radius || flat < 0.1)
            continue;
        l->wheel = true;
        const double e3[3] = {-a[2] * a[0] / flat, -a[2] * a[1] / flat, flat};
        for (int k = 0; k < 3; k++) { /* e2 along the axle, e3 up, e1 = e2 x e3 */
            const int n = (k + 1) % 3, m = (k + 2) % 3;
            l->frame.R[k][1] = a[k];
            l->frame.R[k][2] = e3[k];
            l->frame.R[k][0] = a[n] * e3[m] - a[m] * e3[n];
            l->frame.p[k] = l->shape.p[k];
        }
        lowest = ns_min(lowest, l->shape.p[2] - l->radius * flat);
    }
    for (uint32_t i = 0; i < u->links.n && isfinite(lowest); i++) {
        ns_urdf_link *l = &u->links.at[i];
        const double low = l->shape.p[2] - l->radius, near = 0.02 * l->radius;
        l->caster = !l->wheel && l->ball && l->radius > 0 && fabs(low - lowest) <= near;
        if (l->wheel && fabs(low - lowest) > near && fabs(l->frame.R[2][1]) < 0.1) {
            ns_urdf_note(u, "link %s: a wheel above the ground, which turns freely", l->name);
            l->wheel = false;
        }
        l->pose.p[2] -= lowest;
        l->frame.p[2] -= lowest;
        l->shape.p[2] -= lowest;
        l->com[2] -= lowest;
    }
}

static void note_elements(ns_urdf *u, const ns_xml *robot)
{
    uint32_t transmissions = 0, others = 0;
    for (const ns_xml *e = robot->child; e; e = e->next) {
        transmissions += strcmp(e->name, "transmission") == 0;
        others += strcmp(e->name, "link") != 0 && strcmp(e->name, "joint") != 0 &&
                  strcmp(e->name, "material") != 0 && strcmp(e->name, "transmission") != 0;
    }
    if (transmissions)
        ns_urdf_note(u, "%u transmissions", transmissions);
    if (others)
        ns_urdf_note(u, "%u other elements (gazebo, sensors, ...)", others);
    ns_urdf_note(u, "pictures and collisions, but for wheels and casters on the ground");
}

/* The name of a file, in one line and without commands: it is whatever somebody called it. */
static const char *tame_name(ns_arena *arena, const char *name)
{
    char *tame = ns_arena_string(arena, name, strlen(name));
    ns_tame_text(tame);
    for (char *c = tame; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = '?';
    return tame;
}

const char *ns_urdf_convert(ns_arena *arena, const char *name, const char *text, size_t length,
                            ns_urdf_notes *notes, const char **message)
{
    name = tame_name(arena, name);
    ns_urdf u = {.arena = arena, .file = name, .notes = notes, .message = message};
    const char *why;
    uint32_t line, column;
    *message = NULL;
    const ns_xml *robot = ns_xml_read(arena, text, length, &why, &line, &column);
    if (!robot) {
        *message = ns_arena_format(arena, "%s:%u:%u: error: %s", name, line, column, why);
        return NULL;
    }
    if (strcmp(robot->name, "robot") != 0) {
        wrong(&u, robot, "expected <robot>, not <%s>%s", robot->name,
              strcmp(robot->name, "sdf") == 0 ? ": SDF is another format" : "");
        return NULL;
    }
    for (uint32_t i = 0; i < robot->attributes.n; i++)
        if (strncmp(robot->attributes.at[i].name, "xmlns:xacro", 11) == 0 &&
            ns_xml_child(robot, "xacro:macro")) {
            wrong(&u, robot, "this is a xacro file; make URDF of it first: xacro FILE");
            return NULL;
        }
    u.robot = ns_xml_value(robot, "name") ? ns_xml_value(robot, "name") : "robot";
    if (!read_links(&u, robot) || !read_joints(&u, robot) || !place_links(&u) ||
        !collect_masses(&u))
        return NULL;
    const ns_urdf_link *root = &u.links.at[u.root];
    u.world = strcmp(root->name, "world") == 0 && !(root->mass > 0);
    find_wheels(&u);
    note_elements(&u, robot);
    return ns_urdf_write(&u);
}
