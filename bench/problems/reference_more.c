/*
 * Motions in quadruple precision: ellipsoid in a bowl, falling disk, chain of pendulums,
 * bicycle.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sqrtf128 and its like */
#endif

#include "problems/reference_quad.h"

#include <math.h>
#include <string.h>

#include "problems/hand_rhs_bodies.inc"
#include "problems/hand_rhs_more.inc"

static bowl_q in_bowl;
static disk_q falling;
static chain_q links;
static bodies_q whipple;

static void bowl_call(const void *p, const quad *y, quad *f)
{
    bowl_rhs_q(p, y, f);
}

static void disk_call(const void *p, const quad *y, quad *f)
{
    disk_rhs_q(p, y, f);
}

static void chain_call(const void *p, const quad *y, quad *f)
{
    chain_rhs_q(p, 20, y, f);
}

static void chain_full_call(const void *p, const quad *y, quad *f)
{
    chain_full_rhs_q(p, 20, y, f);
}

static void bodies_call(const void *p, const quad *y, quad *f)
{
    bodies_rhs_q(p, y, f);
}

static void bicycle_end(const quad *y, quad *end)
{
    bicycle_finish_q(y, end);
}

static void set_parameters(void)
{
    const quad a = Q(0.1), b = Q(0.08), c = Q(0.06), R = Q(0.3);
    in_bowl = (bowl_q){.aa = a * a,
                       .bb = b * b,
                       .cc = c * c,
                       .I1 = (b * b + c * c) / 5,
                       .I2 = (a * a + c * c) / 5,
                       .I3 = (a * a + b * b) / 5,
                       .m = 1,
                       .g = Q(9.81),
                       .k = 1};
    falling = (disk_q){.m = 1, .R = R, .g = Q(9.81), .A = R * R / 4, .B = R * R / 2};
    links = (chain_q){.l = Q(0.15), .g = Q(9.81)};
    bicycle_set_q(&whipple);
}

void reference_more(motion list[REFERENCE_MORE])
{
    set_parameters();
    const quad norm = sqrtf128(Q(1.0025)); /* of (0.9, 0.3, -0.2, 0.25) */
    list[0] = (motion){.name = "bowl",
                       .n = 9,
                       .rhs = bowl_call,
                       .param = &in_bowl,
                       .t_end = 5,
                       .y0 = {Q(0.9) / norm, Q(0.3) / norm, Q(-0.2) / norm, Q(0.25) / norm, 1,
                              2, 3, Q(0.25), 0},
                       .steps = 2000};
    const quad c = cosf128(Q(0.2)), s = sinf128(Q(0.2));
    const quad RR = falling.R * falling.R;
    list[1] = (motion){.name = "disk",
                       .n = 8,
                       .rhs = disk_call,
                       .param = &falling,
                       .t_end = 20,
                       .y0 = {Q(0.2), 0, 0, 0, 0, 0, falling.A * c, (RR + falling.B) * (6 + s)},
                       .steps = 2000};
    list[2] = (motion){
        .name = "chain", .n = 40, .rhs = chain_call, .param = &links, .t_end = 2, .steps = 300};
    for (int i = 0; i < 20; i++)
        list[2].y0[i] = Q(0.6) * (i + 1) / 20;
    list[3] = (motion){.name = "bicycle",
                       .n = 52,
                       .rhs = bodies_call,
                       .param = &whipple,
                       .t_end = 5,
                       .steps = 150,
                       .components = 25,
                       .finish = bicycle_end};
    bicycle_start_q(list[3].y0);
}

/* The disk as a wheel of its own among the bodies: axle and contact at the end against
 * angles. */
static double check_disk(const motion *m)
{
    bodies_q wheel = {.n = 1,
                      .n_wheels = 1,
                      .m = {falling.m},
                      .I = {{{falling.A}, {0, falling.A}, {0, 0, falling.B}}},
                      .g = falling.g,
                      .wheels = {{0, falling.R}},
                      .order = {-1}};
    const quad t = m->y0[0], R = falling.R, turn = 1, roll = 6;
    const quad half = Q(1.57079632679489661923132169163975144) / 2 - t / 2;
    const quad a[3] = {0, -cosf128(t), sinf128(t)},
               top[3] = {0, R * sinf128(t), R * cosf128(t)};
    quad y[13] = {0, top[1], top[2], cosf128(half), sinf128(half)};
    for (int i = 0; i < 3; i++)
        y[10 + i] = roll * a[i];
    y[12] += turn;
    cross_q(y + 10, top, y + 7);
    quad end[QUAD_MAX_N];
    memcpy(end, m->y0, sizeof end);
    quad_gbs(24, Q(1e-28), bodies_call, &wheel, 13, m->t_end, y);
    quad_gbs(24, Q(1e-28), m->rhs, m->param, m->n, m->t_end, end);
    pose_q pose;
    pose_of_q(&wheel, 0, y, &pose);
    const quad h = pose.A[2][2], w = sqrtf128(1 - h * h), ct = cosf128(end[0]);
    const quad found[5] = {y[0] + R * h * pose.A[0][2] / w, y[1] + R * h * pose.A[1][2] / w,
                           pose.A[0][2], pose.A[1][2], h};
    const quad known[5] = {end[3], end[4], ct * sinf128(end[2]), -ct * cosf128(end[2]),
                           sinf128(end[0])};
    double largest = 0;
    for (int i = 0; i < 5; i++)
        largest = fmax(largest, fabs((double)(found[i] - known[i])));
    return largest;
}

static double check_chain(const motion *m)
{
    quad a[QUAD_MAX_N], b[QUAD_MAX_N];
    double largest = 0;
    memcpy(a, m->y0, sizeof a);
    memcpy(b, m->y0, sizeof b);
    quad_gbs(24, Q(1e-27), m->rhs, m->param, m->n, m->t_end, a);
    quad_gbs(24, Q(1e-27), chain_full_call, m->param, m->n, m->t_end, b);
    for (int i = 0; i < m->n; i++)
        largest = fmax(largest, fabs((double)(a[i] - b[i])));
    return largest;
}

void reference_more_check(reference_check list[REFERENCE_CHECKS])
{
    motion motions[REFERENCE_MORE];
    reference_more(motions);
    list[0] = (reference_check){"disk, angles and momenta against a body with contact force",
                                check_disk(&motions[1])};
    list[1] = (reference_check){"chain, tensions against the full mass matrix",
                                check_chain(&motions[2])};
}
