/* The motion of a run: states at many times, gathered while it goes on, and what the scene
 * looks like at these times.  Reports and animations are made from it.
 *
 * Each accepted step gives samples at equal distances inside it, so that they are dense where
 * the motion is quick; fewer if the equations are long, since a state inside a step is computed
 * as exactly as one at its end.  A jump of the state or of the mode gives two samples of one
 * time, before and after it.  When there are more than there is room for, every second one
 * is forgotten and from then on half as many are taken: memory is bounded however long the run
 * is. */
#ifndef NS_SESSION_MOTION_H
#define NS_SESSION_MOTION_H

#include "ode/run.h"
#include "session/model.h"

typedef struct ns_motion {
    uint32_t n; /* states */
    size_t rows, room;
    double *t;         /* [room], in the direction of the run */
    double *x;         /* [room][n] */
    uint32_t *mode;    /* [room] the system is in */
    unsigned per_step; /* samples of a step */
    uint64_t counter;  /* samples offered so far */
    uint64_t stride;   /* one in this many is kept */
    size_t jumps;      /* pairs of rows at one time */
    double reached;    /* end of the last step seen */
    bool ended;        /* the last row is the end of the run, whatever the stride */
} ns_motion;

/* False if memory ran out. */
bool ns_motion_begin(ns_motion *motion, ns_run *run, uint32_t n);
/* After an accepted step: samples inside it. */
void ns_motion_add(ns_motion *motion, ns_run *run);
/* After the last step: its end. */
void ns_motion_end(ns_motion *motion, ns_run *run);
void ns_motion_free(ns_motion *motion);

/* Values of expressions of the model (in states, time and parameters) along the motion:
 * out[i*rows + k] of f_i at row k, in the arena.  Rows come in ascending time, also of a run
 * backwards in time. */
double *ns_motion_values(const ns_motion *motion, const ns_model *model, ns_arena *arena,
                         const ns_ex *f, size_t nf);
/* The times in ascending order. */
double *ns_motion_times(const ns_motion *motion, ns_arena *arena);

/* The scene along the motion.  Vectors of one quantity lie one after the other: x0 y0 z0 x1
 * ... */
typedef struct ns_track {
    double *at; /* [n][width], or NULL */
    uint32_t width;
} ns_track;

typedef struct ns_frames {
    size_t n;
    const double *t; /* [n] ascending */
    const ns_scene *scene;
    struct ns_frame_body {
        ns_track position, quat; /* 3: of the drawing's frame; 4: (w, x, y, z) */
        double com[3];           /* in the drawing's frame */
        double inertia[3][3];    /* about it */
    } * bodies;
    ns_track *paths; /* 3: in space or, if the path is on a body, in its frame */
    struct ns_frame_arrow {
        ns_track origin, vector; /* 3, 3 */
    } * arrows;
    struct ns_frame_link {
        ns_track a, b; /* 3, 3 */
    } * links;
    ns_track *points;                    /* 3 */
    ns_track algebra;                    /* 3: the moving point */
    ns_track *algebra_arrows;            /* 3 */
    ns_track ground_origin, ground_quat; /* 3, 4; NULL if it does not move */
    ns_track ground_u[2]; /* 1, 1: contact coordinates of a ground that has them */
} ns_frames;

/* In the arena; a motion without rows gives frames with n = 0. */
ns_frames *ns_frames_new(const ns_motion *motion, const ns_model *model, ns_arena *arena);

/* A path in the frame of the ground: [n][3]. */
double *ns_frames_on_ground(const ns_frames *frames, uint32_t path, ns_arena *arena);

/* v' = q v q^-1 (quaternion w, x, y, z) */
void ns_frames_rotate(const double quat[4], const double v[3], double out[3]);

#endif
