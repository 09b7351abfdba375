/* Meshes of implicit surfaces F(x, y, z) = 0.
 *
 * F is evaluated on a grid of cubes.  Every cube in which it changes its sign gets one vertex
 * (the mean of the crossings on its edges, then moved onto the surface by Newton's method along
 * the gradient), every edge with a change of sign a quadrilateral of the four cubes around it.
 * At the border of the box, vertices are moved onto its faces as well, so that patches end in
 * clean lines. */
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "expr/diff.h"
#include "out/mesh/mesh_internal.h"

enum {
    SEARCH = 36,   /* cells along a side when looking for a body */
    BODY = 44,     /* along the longest side of it */
    GROUND = 56,   /* the same of a ground */
    NEWTON = 12,   /* steps onto the surface, at most */
    WIDENINGS = 10 /* of the box in which a body is looked for */
};

typedef struct grid {
    double low[3], high[3], step[3];
    size_t cells[3];
    double *F; /* values at the (cells + 1)^3 nodes */
} grid;

typedef struct implicit {
    ns_arena *arena;
    ns_field value, slope; /* F; F and its gradient */
} implicit;

static size_t node(const grid *g, size_t i, size_t j, size_t k)
{
    return (k * (g->cells[1] + 1) + j) * (g->cells[0] + 1) + i;
}

static void make_grid(const implicit *f, ns_arena *arena, const double low[3],
                      const double high[3], size_t longest, grid *g)
{
    double most = 0;
    for (int i = 0; i < 3; i++)
        most = ns_max(most, high[i] - low[i]);
    size_t nodes = 1;
    for (int i = 0; i < 3; i++) {
        g->low[i] = low[i];
        g->high[i] = high[i];
        g->cells[i] = (size_t)ns_max(4, ceil((double)longest * (high[i] - low[i]) / most));
        g->step[i] = (high[i] - low[i]) / (double)g->cells[i];
        nodes *= g->cells[i] + 1;
    }
    double *in = NS_NEW_ARRAY(arena, double, 3 * nodes);
    g->F = NS_NEW_ARRAY(arena, double, nodes);
    for (size_t k = 0; k <= g->cells[2]; k++)
        for (size_t j = 0; j <= g->cells[1]; j++)
            for (size_t i = 0; i <= g->cells[0]; i++) {
                double *x = in + 3 * node(g, i, j, k);
                const size_t at[3] = {i, j, k};
                for (int c = 0; c < 3; c++)
                    x[c] = g->low[c] + g->step[c] * (double)at[c];
            }
    ns_field_eval(&f->value, in, nodes, g->F);
    for (size_t k = 0; k < nodes; k++)
        if (!isfinite(g->F[k]))
            g->F[k] = 1; /* outside of where the function is defined */
}

/* ---- the part of F < 0 that belongs to the body ------------------------------------------ */

/* Keeps what is connected to the nodes next to the seeds; everything else counts as outside.
 * False if there is nothing; *open: it reaches the border of the grid. */
static bool keep_connected(ns_arena *arena, grid *g, const ns_mesh_fit *fit, bool *open)
{
    const size_t n[3] = {g->cells[0] + 1, g->cells[1] + 1, g->cells[2] + 1};
    const size_t nodes = n[0] * n[1] * n[2], step[3] = {1, n[0], n[0] * n[1]};
    bool *kept = NS_NEW_ARRAY(arena, bool, nodes);
    size_t *stack = NS_NEW_ARRAY(arena, size_t, nodes + 1), depth = 0;
    static const double origin[3] = {0, 0, 0};
    for (size_t s = 0; s < fit->n + 1; s++) {
        const double *seed = s < fit->n ? fit->path + 3 * s : origin;
        if (s == fit->n && depth)
            break; /* the origin counts only if nothing else does */
        size_t at[3];
        bool inside = true;
        for (int c = 0; c < 3; c++) {
            const double x = floor((seed[c] - g->low[c]) / g->step[c]);
            inside = inside && x >= 0 && x < (double)g->cells[c];
            at[c] = inside ? (size_t)x : 0;
        }
        for (size_t corner = 0; inside && corner < 8; corner++) {
            const size_t m = node(g, at[0] + corner % 2, at[1] + corner / 2 % 2,
                                  at[2] + corner / 4);
            if (g->F[m] < 0 && !kept[m]) {
                kept[m] = true;
                stack[depth++] = m;
            }
        }
    }
    const bool any = depth > 0;
    *open = false;
    while (depth) {
        const size_t m = stack[--depth];
        const size_t at[3] = {m % n[0], m / n[0] % n[1], m / (n[0] * n[1])};
        for (int c = 0; c < 3; c++) {
            if (at[c] == 0 || at[c] + 1 == n[c]) {
                *open = true;
                continue;
            }
            for (int way = 0; way < 2; way++) {
                const size_t next = way ? m + step[c] : m - step[c];
                if (g->F[next] < 0 && !kept[next]) {
                    kept[next] = true;
                    stack[depth++] = next;
                }
            }
        }
    }
    for (size_t m = 0; m < nodes; m++)
        if (g->F[m] < 0 && !kept[m])
            g->F[m] = -g->F[m];
    return any;
}

/* ---- vertices ---------------------------------------------------------------------------- */

/* Moves p onto F = 0, changing only the free components.  False if it does not get there within
 * `reach` of where it was. */
static bool onto(const implicit *f, double p[3], const bool free[3], double reach,
                 double normal[3])
{
    double x[3], value[4] = {0};
    memcpy(x, p, sizeof x);
    bool there = false;
    for (int k = 0; k < NEWTON; k++) {
        ns_field_eval(&f->slope, x, 1, value);
        double square = 0;
        for (int i = 0; i < 3; i++)
            square += free[i] ? value[1 + i] * value[1 + i] : 0;
        const double move = fabs(value[0]) / sqrt(square);
        if (!(move < 4 * reach))
            return false;
        for (int i = 0; i < 3; i++)
            x[i] -= free[i] ? value[0] * value[1 + i] / square : 0;
        there = move < 1e-9 * reach;
        if (there)
            break;
    }
    double off = 0;
    for (int i = 0; i < 3; i++)
        off += (x[i] - p[i]) * (x[i] - p[i]);
    const double length = sqrt(value[1] * value[1] + value[2] * value[2] + value[3] * value[3]);
    if (!there || !(off <= reach * reach) || !(length > 0))
        return false;
    for (int i = 0; i < 3; i++) {
        p[i] = x[i];
        normal[i] = value[1 + i] / length;
    }
    return true;
}

/* The mean of the crossings on the edges of a cell; false if there are none. */
static bool crossing(const grid *g, const size_t at[3], double p[3])
{
    double sum[3] = {0, 0, 0}, count = 0;
    for (size_t edge = 0; edge < 12; edge++) {
        const size_t axis = edge / 4, b = (axis + 1) % 3, c = (axis + 2) % 3;
        size_t one[3] = {at[0], at[1], at[2]}, two[3];
        one[b] += edge & 1;
        one[c] += edge >> 1 & 1;
        memcpy(two, one, sizeof two);
        two[axis]++;
        const double F1 = g->F[node(g, one[0], one[1], one[2])];
        const double F2 = g->F[node(g, two[0], two[1], two[2])];
        if ((F1 < 0) == (F2 < 0))
            continue;
        const double part = F1 / (F1 - F2);
        for (size_t i = 0; i < 3; i++)
            sum[i] += g->low[i] + g->step[i] * ((double)one[i] + (i == axis ? part : 0));
        count++;
    }
    for (int i = 0; count > 0 && i < 3; i++)
        p[i] = sum[i] / count;
    return count > 0;
}

static uint32_t cell_vertex(const implicit *f, ns_mesh_maker *m, const grid *g,
                            const size_t at[3], bool cut)
{
    double p[3], q[3], normal[3] = {0, 0, 1};
    if (!crossing(g, at, p))
        return UINT32_MAX;
    const double reach = 1.5 * ns_max(g->step[0], ns_max(g->step[1], g->step[2]));
    bool free[3] = {true, true, true};
    if (!onto(f, p, free, reach, normal)) { /* a kink: the mean is near enough */
        double value[4], length = 0;
        ns_field_eval(&f->slope, p, 1, value);
        for (int i = 1; i < 4; i++)
            length += value[i] * value[i];
        for (int i = 0; length > 0 && i < 3; i++)
            normal[i] = value[1 + i] / sqrt(length);
    }
    memcpy(q, p, sizeof q);
    for (int i = 0; cut && i < 3; i++)
        if (at[i] == 0 || at[i] + 1 == g->cells[i]) {
            free[i] = false;
            q[i] = at[i] == 0 ? g->low[i] : g->high[i];
        }
    if (cut && (free[0] || free[1] || free[2]) && onto(f, q, free, reach, normal))
        memcpy(p, q, sizeof p);
    return ns_mesh_vertex(m, p, normal);
}

static void surface(const implicit *f, const grid *g, bool cut, ns_mesh_maker *m)
{
    const size_t *n = g->cells;
    uint32_t *vertex = NS_NEW_ARRAY(f->arena, uint32_t, n[0] * n[1] * n[2]);
    for (size_t k = 0; k < n[2]; k++)
        for (size_t j = 0; j < n[1]; j++)
            for (size_t i = 0; i < n[0]; i++)
                vertex[(k * n[1] + j) * n[0] + i] = cell_vertex(
                    f, m, g, (const size_t[3]){i, j, k}, cut);
    const size_t step[3] = {1, n[0], n[0] * n[1]};
    for (size_t k = 0; k <= n[2]; k++)
        for (size_t j = 0; j <= n[1]; j++)
            for (size_t i = 0; i <= n[0]; i++)
                for (size_t axis = 0; axis < 3; axis++) {
                    const size_t at[3] = {i, j, k}, b = (axis + 1) % 3, c = (axis + 2) % 3;
                    size_t next[3] = {i, j, k};
                    next[axis]++;
                    if (at[axis] == n[axis] || at[b] == 0 || at[c] == 0 || at[b] == n[b] ||
                        at[c] == n[c])
                        continue; /* not four cells around this edge */
                    if ((g->F[node(g, i, j, k)] < 0) ==
                        (g->F[node(g, next[0], next[1], next[2])] < 0))
                        continue;
                    const size_t cell = (k * n[1] + j) * n[0] + i;
                    const uint32_t v[4] = {vertex[cell], vertex[cell - step[b]],
                                           vertex[cell - step[b] - step[c]],
                                           vertex[cell - step[c]]};
                    if (v[0] == UINT32_MAX || v[1] == UINT32_MAX || v[2] == UINT32_MAX ||
                        v[3] == UINT32_MAX)
                        continue;
                    ns_mesh_triangle(m, v[0], v[1], v[2]);
                    ns_mesh_triangle(m, v[0], v[2], v[3]);
                }
}

static implicit prepare(ns_arena *arena, const ns_model *model, const ns_drawing *d)
{
    ns_ex f[4] = {d->F};
    ns_diff_gradient(model->system->graph, d->F, d->x, 3, f + 1);
    return (implicit){.arena = arena,
                      .value = ns_field_new(arena, model, d->x, 3, f, 1),
                      .slope = ns_field_new(arena, model, d->x, 3, f, 4)};
}

/* ---- bodies and grounds ------------------------------------------------------------------ */

/* Box of the cells with a change of sign; false if there are none. */
static bool tighten(const grid *g, double low[3], double high[3])
{
    size_t first[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, last[3] = {0, 0, 0};
    bool any = false;
    for (size_t k = 0; k < g->cells[2]; k++)
        for (size_t j = 0; j < g->cells[1]; j++)
            for (size_t i = 0; i < g->cells[0]; i++) {
                const size_t at[3] = {i, j, k};
                double p[3];
                if (!crossing(g, at, p))
                    continue;
                any = true;
                for (int c = 0; c < 3; c++) {
                    first[c] = at[c] < first[c] ? at[c] : first[c];
                    last[c] = at[c] > last[c] ? at[c] : last[c];
                }
            }
    for (int c = 0; any && c < 3; c++) {
        low[c] = g->low[c] + g->step[c] * ((double)first[c] - 1);
        high[c] = g->low[c] + g->step[c] * ((double)last[c] + 2);
    }
    return any;
}

bool ns_mesh_implicit_body(ns_arena *arena, const ns_model *model, const ns_drawing *d,
                           const ns_mesh_fit *fit, ns_mesh *out)
{
    const implicit f = prepare(arena, model, d);
    ns_arena *scratch = ns_arena_child(arena);
    double reach = 0;
    for (size_t k = 0; k < fit->n; k++)
        for (size_t i = 0; i < 3; i++)
            reach = ns_max(reach, fabs(fit->path[3 * k + i]));
    reach = reach > 0 ? 1.1 * reach : 1;
    /* A box that holds all of it, then one that fits. */
    grid g;
    bool open = true;
    double low[3], high[3];
    for (int i = 0; i < WIDENINGS && open; i++, reach *= 1.5) {
        const double a[3] = {-reach, -reach, -reach}, b[3] = {reach, reach, reach};
        make_grid(&f, scratch, a, b, SEARCH, &g);
        if (!keep_connected(scratch, &g, fit, &open))
            open = true;
        if (!open && !tighten(&g, low, high))
            open = true;
    }
    if (open) { /* it has no end: the part around the contact */
        double box[2][3];
        ns_mesh_box(fit, box[0], box[1]);
        double size = 0;
        for (int i = 0; i < 3; i++)
            size = ns_max(size, ns_max(fabs(box[0][i]), fabs(box[1][i])));
        for (int i = 0; i < 3; i++) {
            low[i] = -1.5 * size;
            high[i] = 1.5 * size;
        }
        if (!(size > 0))
            return false;
    }
    make_grid(&f, scratch, low, high, BODY, &g);
    bool border;
    if (!open && !keep_connected(scratch, &g, fit, &border))
        return false;
    ns_mesh_maker m = {.arena = arena};
    surface(&f, &g, open, &m);
    ns_mesh_finish(&m, out);
    ns_mesh_orient(out, false);
    return out->triangles > 0;
}

/* A bowl or a pipe that is not much wider than what the motion needs is shown all round, cut
 * only above and below: widens the box sideways until it holds the surface, if that is not
 * far. */
static void whole_round(const implicit *f, double low[3], double high[3])
{
    for (int k = 1; k <= 3; k++) {
        ns_arena *scratch = ns_arena_child(f->arena);
        double wide[2][3], fit[2][3];
        memcpy(wide[0], low, sizeof wide[0]);
        memcpy(wide[1], high, sizeof wide[1]);
        const double more = 0.4 * k * ns_max(high[0] - low[0], high[1] - low[1]);
        for (int i = 0; i < 2; i++) {
            wide[0][i] -= more;
            wide[1][i] += more;
        }
        grid g;
        make_grid(f, scratch, wide[0], wide[1], SEARCH, &g);
        if (!tighten(&g, fit[0], fit[1]))
            return;
        bool inside = true;
        for (int i = 0; i < 2; i++)
            inside = inside && fit[0][i] >= wide[0][i] - 1e-9 * more &&
                     fit[1][i] <= wide[1][i] + 1e-9 * more;
        if (!inside)
            continue;
        for (int i = 0; i < 2; i++) {
            low[i] = fit[0][i];
            high[i] = fit[1][i];
        }
        return;
    }
}

bool ns_mesh_implicit_ground(ns_arena *arena, const ns_model *model, const ns_drawing *d,
                             const ns_mesh_fit *fit, ns_mesh *out)
{
    const implicit f = prepare(arena, model, d);
    double low[3], high[3], extent = 0;
    ns_mesh_box(fit, low, high);
    for (int i = 0; i < 3; i++)
        extent = ns_max(extent, high[i] - low[i]);
    double margin = ns_max(1.8 * fit->size, 0.12 * extent);
    if (!(margin > 0))
        margin = 1;
    ns_mesh_broaden(low, high, margin);
    low[2] -= margin;
    high[2] += margin;
    whole_round(&f, low, high);
    grid g;
    make_grid(&f, ns_arena_child(arena), low, high, GROUND, &g);
    /* If the surface ends inside of the box, the box need not be larger. */
    if (tighten(&g, low, high)) {
        for (int i = 0; i < 3; i++) {
            low[i] = ns_max(low[i], g.low[i]);
            high[i] = ns_min(high[i], g.high[i]);
        }
        make_grid(&f, ns_arena_child(arena), low, high, GROUND, &g);
    }
    ns_mesh_maker m = {.arena = arena};
    surface(&f, &g, true, &m);
    ns_mesh_finish(&m, out);
    return out->triangles > 0;
}
