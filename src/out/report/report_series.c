/* What a report plots: quantities over time, and over one another. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "mech/common/block.h"
#include "mech/contact/law.h"
#include "out/report/report_internal.h"
#include "session/trust/trust.h"

enum { MOST_OBSERVABLES = 48, MOST_PORTRAITS = 4 };

static void add(ns_report *r, ns_report_series series)
{
    for (uint32_t i = 0; i < r->series.n; i++)
        if (strcmp(r->series.at[i].name, series.name) == 0)
            return; /* names are unique in the page */
    NS_PUSH(r->arena, r->series, series);
}

/* ---- observables ------------------------------------------------------------------------- */

enum {
    OBSERVE,
    FORCE,
    RATIO, /* of friction to the normal force */
    SLIP,
    ANGULAR,
    QUASIVELOCITIES,
    MOMENTA,
    COORDINATES,
    VELOCITIES,
    MULTIPLIERS,
    QUALITY, /* energy error, constraints, invariants */
    POSITION,
    ON_BODY,
    ENERGY,
    FURTHER,
    ORIENTATION,
    PANELS
};

/* In which order they come: of bodies in space the picture shows where they are, and how good
 * the motion is comes first; of coordinates these are what one looks at. */
static const uint8_t order_of_bodies[PANELS] = {
    OBSERVE, FORCE,   RATIO,       SLIP,       ANGULAR,     QUASIVELOCITIES,
    MOMENTA, QUALITY, COORDINATES, VELOCITIES, MULTIPLIERS, POSITION,
    ON_BODY, ENERGY,  FURTHER,     ORIENTATION};
static const uint8_t order_of_coordinates[PANELS] = {
    OBSERVE,    FORCE,       RATIO,   SLIP,     ANGULAR, QUASIVELOCITIES, MOMENTA, COORDINATES,
    VELOCITIES, MULTIPLIERS, QUALITY, POSITION, ON_BODY, ENERGY,          FURTHER, ORIENTATION};

static const char *const panels[PANELS] = {[OBSERVE] = "observe",
                                           [ANGULAR] = "angular velocity",
                                           [QUASIVELOCITIES] = "quasivelocities",
                                           [MOMENTA] = "momenta",
                                           [COORDINATES] = "coordinates",
                                           [VELOCITIES] = "velocities",
                                           [FORCE] = "force",
                                           [RATIO] = "friction / normal force",
                                           [SLIP] = "slip",
                                           [MULTIPLIERS] = "multipliers",
                                           [POSITION] = "position",
                                           [ON_BODY] = "contact on the body",
                                           [ENERGY] = "energy",
                                           [FURTHER] = "further quantities",
                                           [ORIENTATION] = "orientation"};

/* Is it the value of a contact?  That is VALUE or NAME.VALUE. */
static bool is_value(const char *name, const char *value)
{
    const size_t length = strlen(name), tail = strlen(value);
    return length >= tail && strcmp(name + length - tail, value) == 0 &&
           (length == tail || name[length - tail - 1] == '.');
}

/* Has a contact of the model a law of friction? */
static bool has_law(const ns_report *r)
{
    const ns_description *d = r->system->description;
    for (uint32_t i = 0; i < d->blocks.n; i++)
        if (ns_block_find(&d->blocks.at[i], "friction"))
            return true;
    return false;
}

/* The force of a contact across and along its surfaces, and what friction it takes. */
static bool is_push(const ns_report *r, const char *name)
{
    return r->system->pushes.n &&
           (is_value(name, "force.normal") || is_value(name, "force.friction") ||
            is_value(name, "force.ratio"));
}

static int panel_of(const ns_report *r, uint32_t k)
{
    const bool state = k < r->system->states.n; /* they come first */
    if (is_value(r->system->observables.at[k].name, "slip") && has_law(r))
        return SLIP;
    switch (r->system->observables.at[k].kind) {
    case NS_QUANTITY_OBSERVED:
        return OBSERVE;
    case NS_QUANTITY_QUATERNION:
    case NS_QUANTITY_QUATERNION_RATE:
    case NS_QUANTITY_MATRIX:
        return ORIENTATION;
    case NS_QUANTITY_QUASIVELOCITY:
        return state ? QUASIVELOCITIES : FURTHER;
    case NS_QUANTITY_MOMENTUM:
        return state ? MOMENTA : FURTHER;
    case NS_QUANTITY_FORCE:
        return is_value(r->system->observables.at[k].name, "force.ratio") ? RATIO : FORCE;
    case NS_QUANTITY_MULTIPLIER:
        return MULTIPLIERS;
    case NS_QUANTITY_ANGULAR:
        return ANGULAR;
    case NS_QUANTITY_ENERGY:
        return ENERGY;
    case NS_QUANTITY_ON_BODY:
        return ON_BODY;
    case NS_QUANTITY_PLACE:
        return POSITION;
    case NS_QUANTITY_VELOCITY:
        return state ? VELOCITIES : FURTHER;
    default: /* work done and levels kept are not coordinates */
        return !state                                                ? FURTHER
               : strcmp(r->system->observables.at[k].unit, "J") == 0 ? ENERGY
                                                                     : COORDINATES;
    }
}

static bool wanted(const ns_report *r, uint32_t k, int panel)
{
    const ns_observable *o = &r->system->observables.at[k];
    if (panel == OBSERVE || is_push(r, o->name))
        return true;
    if (!o->basic || o->kind == NS_QUANTITY_QUATERNION_RATE)
        return false;
    /* the energy error says more about an energy that does not change */
    return panel != ENERGY || !r->system->conservative;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ratio of friction to a normal force that goes through zero, without its pole: beyond what
 * any surface gives and three times what it mostly is there is a gap. */
static const double *without_pole(const ns_report *r, const double *v)
{
    double *out = NS_NEW_ARRAY(r->arena, double, r->n + 1);
    size_t finite = 0;
    for (size_t k = 0; k < r->n; k++)
        if (isfinite(v[k]))
            out[finite++] = fabs(v[k]);
    qsort(out, finite, sizeof *out, ascending);
    const double most = ns_max(3, finite ? 3 * out[finite - 1 - finite / 5] : 0);
    for (size_t k = 0; k < r->n; k++)
        out[k] = fabs(v[k]) <= most ? v[k] : (double)NAN;
    return out;
}

static void add_observables(ns_report *r, int panel, uint32_t *room)
{
    const ns_system *s = r->system;
    for (uint32_t k = 0; k < s->observables.n && *room; k++) {
        if (panel_of(r, k) != panel || !wanted(r, k, panel))
            continue;
        const ns_observable *o = &s->observables.at[k];
        const double *v = r->observed + k * r->n;
        add(r, (ns_report_series){.name = o->name,
                                  .unit = o->unit && *o->unit ? o->unit : "1",
                                  .group = panels[panel],
                                  .data = panel == RATIO ? without_pole(r, v) : v});
        --*room;
    }
}

/* ---- quality ----------------------------------------------------------------------------- */

static double first_finite(const double *v, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (isfinite(v[k]))
            return v[k];
    return NAN;
}

static double largest(const double *v, size_t n)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        if (isfinite(v[k]))
            most = ns_max(most, fabs(v[k]));
    return most;
}

static void add_energy(ns_report *r)
{
    const ns_system *s = r->system;
    if (!s->energy || !s->conservative)
        return;
    const ns_ex f[2] = {s->energy, s->kinetic ? s->kinetic : s->energy};
    double *v = ns_motion_values(&r->record->motion, r->model, r->arena, f, 2);
    const double first = first_finite(v, r->n);
    const double scale = ns_max(fabs(first), s->kinetic ? largest(v + r->n, r->n) : 0);
    for (size_t k = 0; k < r->n; k++)
        v[k] = scale > 0 ? (v[k] - first) / scale : 0;
    add(r, (ns_report_series){.name = "energy error",
                              .unit = "1",
                              .group = "energy error",
                              .data = v,
                              .log = true,
                              .noise = true});
}

static void add_constraints(ns_report *r)
{
    const ns_system *s = r->system;
    const uint32_t n = s->constraints.n;
    ns_ex *f = NS_NEW_ARRAY(r->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f[i] = s->constraints.at[i].residual;
    const double *v = n ? ns_motion_values(&r->record->motion, r->model, r->arena, f, n) : NULL;
    for (uint32_t i = 0; i < n; i++)
        add(r, (ns_report_series){.name = ns_arena_format(r->arena, "residual of %s",
                                                          s->constraints.at[i].name),
                                  .unit = "1",
                                  .group = "constraints",
                                  .data = v + i * r->n,
                                  .log = true,
                                  .noise = true});
}

static void add_invariants(ns_report *r)
{
    const ns_system *s = r->system;
    const uint32_t n = s->invariants.n;
    ns_ex *f = NS_NEW_ARRAY(r->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f[i] = s->invariants.at[i].value;
    double *v = n ? ns_motion_values(&r->record->motion, r->model, r->arena, f, n) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        double *of = v + i * r->n;
        /* drift = largest change / scale, as the run has found it, gives the scale */
        const double first = first_finite(of, r->n);
        for (size_t k = 0; k < r->n; k++)
            of[k] -= first;
        const double change = largest(of, r->n), drift = r->record->outcome->drift[i];
        const double scale = fabs(first) > 0 && !(drift > 0 && change > 0) ? fabs(first)
                             : drift > 0 && change > 0 ? ns_max(fabs(first), change / drift)
                                                       : 1;
        for (size_t k = 0; k < r->n; k++)
            of[k] /= scale;
        add(r, (ns_report_series){
                   .name = ns_arena_format(r->arena, "change of %s", s->invariants.at[i].name),
                   .unit = "1",
                   .group = "invariants",
                   .data = of,
                   .log = true,
                   .noise = true});
    }
}

/* The separation from another run, at the times of the motion: between the compared times its
 * logarithm is taken as straight. */
static void add_trust(ns_report *r)
{
    const ns_trust *q = r->record->trust;
    if (!q)
        return;
    const double sense = q->t[q->n - 1] < q->t[0] ? -1 : 1;
    double *v = NS_NEW_ARRAY(r->arena, double, r->n);
    for (size_t k = 0; k < r->n; k++) {
        const double t = r->t[k] * sense;
        size_t i = 1;
        while (i + 1 < q->n && q->t[i] * sense < t)
            i++;
        const double part = (t - q->t[i - 1] * sense) / fabs(q->t[i] - q->t[i - 1]);
        const double a = ns_math_log(ns_max(q->off[i - 1], 1e-17)),
                     b = ns_math_log(ns_max(q->off[i], 1e-17));
        v[k] = ns_math_exp(a + (b - a) * ns_min(ns_max(part, 0), 1));
    }
    add(r, (ns_report_series){.name = "separation of two runs",
                              .unit = "1",
                              .group = "trajectory",
                              .data = v,
                              .log = true,
                              .noise = true});
}

void ns_report_collect(ns_report *r)
{
    uint32_t room = MOST_OBSERVABLES;
    bool bodies = false;
    for (uint32_t i = 0; i < r->system->states.n; i++)
        bodies |= r->system->states.at[i].kind == NS_QUANTITY_QUATERNION;
    for (int i = 0; i < PANELS; i++) {
        const int panel = bodies ? order_of_bodies[i] : order_of_coordinates[i];
        if (panel == QUALITY) {
            add_energy(r);
            add_constraints(r);
            add_invariants(r);
            add_trust(r);
        } else {
            add_observables(r, panel, &room);
        }
    }
}

/* ---- writing ----------------------------------------------------------------------------- */

static bool has_series(const ns_report *r, const char *name)
{
    for (uint32_t i = 0; i < r->series.n; i++)
        if (strcmp(r->series.at[i].name, name) == 0)
            return true;
    return false;
}

static void put_plot(ns_report *r, const char *title, const char *x, const char *y, bool equal)
{
    ns_json *j = &r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "title", title);
    ns_json_text(j, "x", x);
    ns_json_text(j, "y", y);
    ns_json_bool(j, "equal", equal);
    ns_json_end(j);
}

/* The contact's path from above, the plane of the first two momenta (of quasivelocities, of a
 * Lie algebra), and a portrait of each coordinate with its velocity. */
static void put_plots(ns_report *r)
{
    const ns_system *s = r->system;
    ns_json *j = &r->json;
    ns_json_array(j, "plots");
    if (has_series(r, "contact.x") && has_series(r, "contact.y"))
        put_plot(r, "Contact path", "contact.x", "contact.y", true);
    else if (has_series(r, "x") && has_series(r, "y"))
        put_plot(r, "Path", "x", "y", true);
    if (has_series(r, "s.x") && has_series(r, "s.y"))
        put_plot(r, "Contact on the body", "s.x", "s.y", true);
    if (has_series(r, "p1") && has_series(r, "p2"))
        put_plot(r, "Momentum plane", "p1", "p2", false);
    uint32_t portraits = 0;
    for (uint32_t i = 0; i < s->states.n; i++)
        if (s->states.at[i].kind == NS_QUANTITY_QUATERNION)
            portraits = MOST_PORTRAITS; /* bodies in space: the picture shows where they are */
    for (uint32_t i = 0; i < s->states.n && portraits < MOST_PORTRAITS; i++) {
        const char *name = s->states.at[i].name;
        const char *rate = ns_arena_format(r->arena, "%s'", name);
        if (!has_series(r, name) || !has_series(r, rate) ||
            s->states.at[i].kind == NS_QUANTITY_QUATERNION)
            continue;
        put_plot(r, ns_arena_format(r->arena, "Phase portrait of %s", name), name, rate, false);
        portraits++;
    }
    ns_json_end(j);
}

static void put_level(ns_report *r, int panel, const char *unit, double value, const char *name)
{
    ns_json *j = &r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "group", panels[panel]);
    ns_json_text(j, "unit", unit);
    ns_json_number(j, "value", value);
    ns_json_text(j, "name", name);
    ns_json_end(j);
}

/* The friction cone of a contact: its coefficients, at the start. */
static void put_cone(ns_report *r, const ns_system *s, const ns_block *block)
{
    ns_law law;
    if (!ns_block_find(block, "friction") ||
        !ns_law_read((ns_description *)s->description, block, &law) ||
        (law.friction != NS_FRICTION_COULOMB && law.friction != NS_FRICTION_CONTENSOU))
        return;
    const ns_ex both[2] = {law.fixed, law.moving};
    double mu[2];
    ns_system_eval(s, both, 2, r->record->options.run.t0, r->model->p, r->model->x0, mu);
    const char *of = block->name ? ns_arena_format(r->arena, " of %s", block->name) : "";
    if (mu[0] != mu[1])
        put_level(r, RATIO, "1", mu[0], ns_arena_format(r->arena, "static friction%s", of));
    put_level(r, RATIO, "1", mu[1],
              ns_arena_format(r->arena, "%s%s",
                              mu[0] != mu[1] ? "kinetic friction" : "friction coefficient",
                              of));
}

/* Where a contact would lift off, and the friction cones. */
static void put_levels(ns_report *r)
{
    ns_json_array(&r->json, "levels");
    bool normal = false;
    for (uint32_t i = 0; i < r->series.n && !normal; i++)
        normal = is_value(r->series.at[i].name, "force.normal");
    if (normal)
        put_level(r, FORCE, "N", 0, "lift-off");
    /* reading a law makes expressions: on a bench of its own */
    ns_system *s = ns_system_fork(r->system, ns_arena_child(r->arena));
    for (uint32_t i = 0; i < s->description->blocks.n; i++)
        put_cone(r, s, &s->description->blocks.at[i]);
    ns_json_end(&r->json);
}

void ns_report_put_series(ns_report *r)
{
    ns_json *j = &r->json;
    ns_json_array(j, "series");
    for (uint32_t i = 0; i < r->series.n; i++) {
        const ns_report_series *s = &r->series.at[i];
        ns_json_object(j, NULL);
        ns_json_text(j, "name", s->name);
        ns_json_text(j, "unit", s->unit);
        ns_json_text(j, "group", s->group);
        if (s->log) {
            ns_json_bool(j, "log", true);
        }
        if (s->hidden) {
            ns_json_bool(j, "shown", false);
        }
        ns_packed_f32(j, "data", s->data, 1, r->keep, r->kept);
        ns_json_end(j);
    }
    ns_json_end(j);
    put_plots(r);
    put_levels(r);
}
