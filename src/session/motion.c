#include "session/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 16384,     /* even */
    MOST_BYTES = 64000000, /* of all states */
    MOST_JUMPS = 8         /* one in this many rows may be a jump */
};

/* ---- gathering --------------------------------------------------------------------------- */

bool ns_motion_begin(ns_motion *motion, ns_run *run, uint32_t n)
{
    size_t room = MOST_BYTES / ((n + 1) * sizeof(double));
    room = room > MOST_ROWS ? MOST_ROWS : room < 256 ? 256 : room & ~(size_t)1;
    const uint32_t operations = ns_run_operations(run);
    *motion = (ns_motion){.n = n, .room = room, .stride = 1};
    motion->per_step = operations < 2000    ? 12
                       : operations < 8000  ? 6
                       : operations < 20000 ? 4
                                            : 3;
    /* one row more: the end comes on top */
    motion->t = malloc((room + 1) * sizeof(double));
    motion->x = malloc((room + 1) * (n + (size_t)1) * sizeof(double));
    motion->mode = malloc((room + 1) * sizeof *motion->mode);
    if (!motion->t || !motion->x || !motion->mode) {
        ns_motion_free(motion);
        return false;
    }
    motion->t[0] = motion->reached = ns_run_time(run);
    motion->mode[0] = ns_run_mode(run);
    memcpy(motion->x, ns_run_state(run), n * sizeof(double));
    motion->rows = 1;
    return true;
}

void ns_motion_free(ns_motion *motion)
{
    free(motion->t);
    free(motion->x);
    free(motion->mode);
    *motion = (ns_motion){0};
}

/* Is row k one side of a jump?  Its two sides have the same time. */
static bool beside_jump(const ns_motion *motion, size_t k)
{
    const double *t = motion->t;
    return (k > 0 && t[k] == t[k - 1]) || (k + 1 < motion->rows && t[k] == t[k + 1]);
}

/* Forgets every second row between jumps, and jumps only if they are too many; row 0 stays. */
static void thin(ns_motion *motion)
{
    const size_t n = motion->n;
    const bool spare = motion->jumps <= motion->room / MOST_JUMPS;
    size_t to = 1, turn = 1;
    motion->jumps = 0;
    for (size_t k = 1; k < motion->rows; k++) {
        if (!(spare && beside_jump(motion, k)) && turn++ % 2)
            continue;
        motion->jumps += motion->t[to - 1] == motion->t[k];
        motion->t[to] = motion->t[k];
        motion->mode[to] = motion->mode[k];
        memmove(motion->x + to * n, motion->x + k * n, n * sizeof(double));
        to++;
    }
    motion->rows = to;
    motion->stride *= 2;
}

/* One more row, for which there is room: its state. */
static double *take(ns_motion *motion, double t, uint32_t mode)
{
    motion->mode[motion->rows] = mode;
    motion->t[motion->rows] = t;
    return motion->x + motion->rows++ * motion->n;
}

/* Where the motion goes on from elsewhere, or by other equations: a second row at that time. */
static void add_jump(ns_motion *motion, ns_run *run)
{
    const size_t bytes = motion->n * sizeof(double);
    double *next = motion->x + motion->room * motion->n; /* the end's row, free until then */
    const uint32_t mode = ns_run_next(run, next);
    const double t = ns_run_time(run);
    if (mode == ns_run_mode(run) && memcmp(next, ns_run_state(run), bytes) == 0)
        return;
    while (motion->rows + 2 > motion->room)
        thin(motion);
    if (motion->t[motion->rows - 1] != t)
        memcpy(take(motion, t, ns_run_mode(run)), ns_run_state(run), bytes);
    memcpy(take(motion, t, mode), next, bytes);
    motion->jumps++;
}

void ns_motion_add(ns_motion *motion, ns_run *run)
{
    const double from = ns_run_last_time(run), to = ns_run_time(run);
    if (!(to > motion->reached || to < motion->reached))
        return; /* the step failed */
    motion->reached = to;
    for (unsigned k = 1; k <= motion->per_step; k++) {
        if (++motion->counter % motion->stride)
            continue;
        if (motion->rows == motion->room) {
            thin(motion);
            if (motion->counter % motion->stride)
                continue;
        }
        const double t = k < motion->per_step ? from + (to - from) * k / motion->per_step : to;
        double *x = take(motion, t, ns_run_mode(run));
        if (k < motion->per_step)
            ns_run_state_at(run, t, x);
        else
            memcpy(x, ns_run_state(run), motion->n * sizeof(double));
    }
    add_jump(motion, run);
}

void ns_motion_end(ns_motion *motion, ns_run *run)
{
    if (motion->ended || !motion->rows)
        return;
    motion->ended = true;
    /* A stop may have cut the last step after its samples were taken. */
    const double t = ns_run_time(run), sign = motion->t[0] <= t ? 1 : -1;
    while (motion->rows > 1 && sign * motion->t[motion->rows - 1] >= sign * t)
        motion->rows--;
    if (!(sign * t > sign * motion->t[motion->rows - 1]))
        return;
    motion->t[motion->rows] = t;
    motion->mode[motion->rows] = ns_run_mode(run);
    memcpy(motion->x + motion->rows * motion->n, ns_run_state(run), motion->n * sizeof(double));
    motion->rows++;
}

/* ---- values ------------------------------------------------------------------------------ */

/* Row k in ascending time. */
static size_t row_of(const ns_motion *motion, size_t k)
{
    const bool backwards = motion->rows > 1 && motion->t[1] < motion->t[0];
    return backwards ? motion->rows - 1 - k : k;
}

double *ns_motion_times(const ns_motion *motion, ns_arena *arena)
{
    double *t = NS_NEW_ARRAY(arena, double, motion->rows + 1);
    for (size_t k = 0; k < motion->rows; k++)
        t[k] = motion->t[row_of(motion, k)];
    return t;
}

/* Values of f[nf], which are those of one mode, at the rows in it. */
static void values_in(const ns_motion *motion, const ns_model *model, const ns_system *s,
                      uint32_t mode, const ns_ex *f, size_t nf, double *out)
{
    const uint32_t n = s->states.n, np = s->description->params.n;
    const ns_program *program = ns_problem_program(s, s->arena, f, (uint32_t)nf);
    double *work = NS_NEW_ARRAY(s->arena, double, ns_program_work8(program) + 8);
    double *p8 = NS_NEW_ARRAY(s->arena, double, 8 * (np + (size_t)1));
    double *x8 = NS_NEW_ARRAY(s->arena, double, 8 * (n + (size_t)1));
    double *out8 = NS_NEW_ARRAY(s->arena, double, 8 * (nf + 1));
    double *t8 = NS_NEW_ARRAY(s->arena, double, 8);
    size_t place[8];
    for (uint32_t i = 0; i < np; i++)
        for (unsigned lane = 0; lane < 8; lane++)
            p8[8 * i + lane] = model->p[i];
    ns_program_bind8(program, work, p8);
    for (size_t k = 0; k < motion->rows;) {
        size_t lanes = 0;
        for (; k < motion->rows && lanes < 8; k++)
            if (motion->mode[row_of(motion, k)] == mode)
                place[lanes++] = k;
        for (size_t lane = 0; lane < 8 && lanes; lane++) {
            const size_t row = row_of(motion, place[lane < lanes ? lane : 0]);
            t8[lane] = motion->t[row];
            for (uint32_t i = 0; i < n; i++)
                x8[8 * i + lane] = motion->x[row * n + i];
        }
        if (lanes)
            ns_program_eval8(program, work, t8, x8, out8);
        for (size_t i = 0; i < nf; i++)
            for (size_t lane = 0; lane < lanes; lane++)
                out[i * motion->rows + place[lane]] = out8[8 * i + lane];
    }
}

double *ns_motion_values(const ns_motion *motion, const ns_model *model, ns_arena *arena,
                         const ns_ex *f, size_t nf)
{
    ns_arena *scratch = ns_arena_child(arena);
    const ns_system *s = ns_system_fork(model->system, scratch);
    double *out = NS_NEW_ARRAY(arena, double, nf * motion->rows + 1);
    ns_ex *here = NS_NEW_ARRAY(scratch, ns_ex, nf + 1);
    for (uint32_t mode = 0; mode < ns_system_modes(s); mode++) {
        bool met = false;
        for (size_t k = 0; k < motion->rows && !met; k++)
            met = motion->mode[k] == mode;
        if (!met)
            continue;
        memcpy(here, f, nf * sizeof *f);
        ns_system_resolve(s, mode, scratch, here, nf);
        values_in(motion, model, s, mode, here, nf, out);
    }
    return out;
}

/* ---- frames ------------------------------------------------------------------------------ */

void ns_frames_rotate(const double q[4], const double v[3], double out[3])
{
    /* v + 2 u x (u x v + w v) */
    const double c[3] = {q[2] * v[2] - q[3] * v[1] + q[0] * v[0],
                         q[3] * v[0] - q[1] * v[2] + q[0] * v[1],
                         q[1] * v[1] - q[2] * v[0] + q[0] * v[2]};
    const double d[3] = {q[2] * c[2] - q[3] * c[1], q[3] * c[0] - q[1] * c[2],
                         q[1] * c[1] - q[2] * c[0]};
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + 2 * d[i];
}

/* v' = q^-1 v q */
static void rotate_back(const double q[4], const double v[3], double out[3])
{
    const double back[4] = {q[0], -q[1], -q[2], -q[3]};
    ns_frames_rotate(back, v, out);
}

/* Quaternion of a rotation matrix given by rows, from its largest component. */
static void quaternion(const double m[9], double q[4])
{
    const double trace = m[0] + m[4] + m[8];
    double square[4] = {1 + trace, 1 + 2 * m[0] - trace, 1 + 2 * m[4] - trace,
                        1 + 2 * m[8] - trace};
    int k = 0;
    for (int i = 1; i < 4; i++)
        k = square[i] > square[k] ? i : k;
    const double w[4] = {0, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    const double sums[4][4] = {{0, 0, 0, 0},
                               {0, 0, m[1] + m[3], m[2] + m[6]},
                               {0, m[1] + m[3], 0, m[5] + m[7]},
                               {0, m[2] + m[6], m[5] + m[7], 0}};
    const double largest = sqrt(square[k]) / 2;
    for (int i = 0; i < 4; i++)
        q[i] = i == k   ? largest
               : k == 0 ? w[i] / (4 * largest)
               : i == 0 ? w[k] / (4 * largest)
                        : sums[k][i] / (4 * largest);
}

/* Expressions that wait for being evaluated, and where their values go. */
typedef struct wish {
    ns_track *track;
    uint32_t component;
} wish;

typedef struct list {
    ns_arena *arena;
    NS_LIST(ns_ex) f;
    NS_LIST(wish) wishes;
} list;

static void want(list *l, ns_track *track, const ns_ex *f, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (!f[i])
            return; /* the scene does not have it */
    track->width = width;
    for (uint32_t i = 0; i < width; i++) {
        NS_PUSH(l->arena, l->f, f[i]);
        NS_PUSH(l->arena, l->wishes, ((wish){track, i}));
    }
}

static void want_all(list *l, const ns_scene *scene, ns_frames *frames, ns_track *rotation)
{
    for (uint32_t i = 0; i < scene->bodies.n; i++) {
        want(l, &frames->bodies[i].position, scene->bodies.at[i].position.at, 3);
        want(l, &frames->bodies[i].quat, scene->bodies.at[i].quat, 4);
    }
    for (uint32_t i = 0; i < scene->paths.n; i++)
        want(l, &frames->paths[i], scene->paths.at[i].point.at, 3);
    for (uint32_t i = 0; i < scene->arrows.n; i++) {
        want(l, &frames->arrows[i].origin, scene->arrows.at[i].origin.at, 3);
        want(l, &frames->arrows[i].vector, scene->arrows.at[i].vector.at, 3);
    }
    for (uint32_t i = 0; i < scene->links.n; i++) {
        want(l, &frames->links[i].a, scene->links.at[i].a.at, 3);
        want(l, &frames->links[i].b, scene->links.at[i].b.at, 3);
    }
    for (uint32_t i = 0; i < scene->points.n; i++)
        want(l, &frames->points[i], scene->points.at[i].at.at, 3);
    if (scene->algebra.drawn)
        want(l, &frames->algebra, scene->algebra.point.at, 3);
    for (uint32_t i = 0; i < scene->algebra.vectors.n; i++)
        want(l, &frames->algebra_arrows[i], scene->algebra.vectors.at[i].vector.at, 3);
    if (scene->ground_moves) {
        want(l, &frames->ground_origin, scene->ground_origin.at, 3);
        want(l, rotation, &scene->ground_rotation.at[0][0], 9);
    }
    for (int i = 0; i < 2; i++)
        want(l, &frames->ground_u[i], &scene->ground.along[i], 1);
}

static void fill(ns_frames *frames, list *l, const double *values)
{
    for (uint32_t i = 0; i < l->wishes.n; i++) {
        const wish *w = &l->wishes.at[i];
        ns_track *track = w->track;
        if (!track->at)
            track->at = NS_NEW_ARRAY(l->arena, double, track->width * frames->n + 1);
        for (size_t k = 0; k < frames->n; k++)
            track->at[track->width * k + w->component] = values[i * frames->n + k];
    }
}

/* What depends on parameters alone. */
static void fill_bodies(ns_frames *frames, const ns_model *model)
{
    for (uint32_t i = 0; i < frames->scene->bodies.n; i++) {
        const ns_scene_body *body = &frames->scene->bodies.at[i];
        struct ns_frame_body *out = &frames->bodies[i];
        ns_ex f[12];
        double value[12] = {0};
        memcpy(f, body->com.at, sizeof body->com.at);
        memcpy(f + 3, body->inertia.at, sizeof body->inertia.at);
        for (int k = 0; k < 12; k++)
            if (f[k])
                ns_system_eval(model->system, &f[k], 1, 0, model->p, model->x0, &value[k]);
        memcpy(out->com, value, sizeof out->com);
        memcpy(out->inertia, value + 3, sizeof out->inertia);
    }
}

ns_frames *ns_frames_new(const ns_motion *motion, const ns_model *model, ns_arena *arena)
{
    const ns_scene *scene = &model->system->scene;
    ns_frames *frames = NS_NEW(arena, ns_frames);
    frames->scene = scene;
    frames->n = motion->rows;
    frames->t = ns_motion_times(motion, arena);
    frames->bodies = NS_NEW_ARRAY(arena, struct ns_frame_body, scene->bodies.n + 1);
    frames->paths = NS_NEW_ARRAY(arena, ns_track, scene->paths.n + 1);
    frames->arrows = NS_NEW_ARRAY(arena, struct ns_frame_arrow, scene->arrows.n + 1);
    frames->links = NS_NEW_ARRAY(arena, struct ns_frame_link, scene->links.n + 1);
    frames->points = NS_NEW_ARRAY(arena, ns_track, scene->points.n + 1);
    frames->algebra_arrows = NS_NEW_ARRAY(arena, ns_track, scene->algebra.vectors.n + 1);
    ns_track rotation = {0};
    list l = {.arena = arena};
    want_all(&l, scene, frames, &rotation);
    if (frames->n && l.f.n)
        fill(frames, &l, ns_motion_values(motion, model, arena, l.f.at, l.f.n));
    if (rotation.at) {
        frames->ground_quat = (ns_track){NS_NEW_ARRAY(arena, double, 4 * frames->n + 1), 4};
        for (size_t k = 0; k < frames->n; k++)
            quaternion(rotation.at + 9 * k, frames->ground_quat.at + 4 * k);
    }
    fill_bodies(frames, model);
    return frames;
}

double *ns_frames_on_ground(const ns_frames *frames, uint32_t path, ns_arena *arena)
{
    const double *in = frames->paths[path].at;
    double *out = NS_NEW_ARRAY(arena, double, 3 * frames->n + 1);
    if (!in)
        return out;
    for (size_t k = 0; k < frames->n; k++) {
        double v[3];
        for (int i = 0; i < 3; i++)
            v[i] = in[3 * k + (size_t)i] -
                   (frames->ground_origin.at ? frames->ground_origin.at[3 * k + (size_t)i] : 0);
        if (frames->ground_quat.at)
            rotate_back(frames->ground_quat.at + 4 * k, v, out + 3 * k);
        else
            memcpy(out + 3 * k, v, sizeof v);
    }
    return out;
}
