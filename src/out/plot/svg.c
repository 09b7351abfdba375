/* --out FILE.svg: paths in their plane and quantities over time, for paper or a quick look; or
 * only the values that --show names. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "out/formats.h"
#include "out/plot/plot.h"
#include "out/report/report_internal.h"

enum { MOST_LINES = 8, MOST_PANELS = 12, MOST_PATHS = 6 };

typedef struct stage {
    ns_report *r;
    ns_plot *plot;
    ns_arena *arena;
} stage;

static const struct {
    const char *name;
    ns_plot_colour colour;
} colours[] = {
    {"blue", NS_PLOT_BLUE},     {"vermilion", NS_PLOT_VERMILION}, {"green", NS_PLOT_GREEN},
    {"purple", NS_PLOT_PURPLE}, {"orange", NS_PLOT_ORANGE},       {"sky", NS_PLOT_SKY},
    {"brown", NS_PLOT_BROWN},   {"black", NS_PLOT_BLACK},         {"grey", NS_PLOT_GREY}};

static void paint(ns_plot_series *s, const char *colour)
{
    for (size_t i = 0; colour && i < sizeof colours / sizeof *colours; i++)
        if (strcmp(colours[i].name, colour) == 0)
            s->colour = colours[i].colour;
    if (colour && colour[0] == '#')
        s->paint = colour;
}

/* ---- paths ------------------------------------------------------------------------------- */

/* One component of a track. */
static double *component(const stage *s, const double *at, int k)
{
    double *v = NS_NEW_ARRAY(s->arena, double, s->r->n + 1);
    for (size_t i = 0; i < s->r->n; i++)
        v[i] = at[3 * i + (size_t)k];
    return v;
}

static double extent(const double *v, size_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i])) {
            low = ns_min(low, v[i]);
            high = ns_max(high, v[i]);
        }
    return high > low ? high - low : 0;
}

static bool is_contact(const ns_scene *scene)
{
    for (uint32_t i = 0; i < scene->paths.n; i++)
        if (scene->paths.at[i].role == NS_PATH_CONTACT && scene->paths.at[i].body < 0)
            return true;
    return false;
}

static void add_path_panel(stage *s, const char *title, int x, int y)
{
    static const char *const names[] = {"x", "y", "z"};
    const ns_scene *scene = s->r->frames->scene;
    const char *unit = scene->unit ? scene->unit : "m";
    ns_plot_panel *panel = ns_plot_add(s->plot, title, names[x], unit, names[y], unit);
    panel->equal = true;
    bool contact = is_contact(scene);
    uint32_t centres = 0;
    for (uint32_t i = 0; i < scene->paths.n; i++)
        centres += scene->paths.at[i].role == NS_PATH_COM;
    for (uint32_t i = 0; i < scene->paths.n && panel->series.n < MOST_PATHS; i++) {
        const ns_scene_path *path = &scene->paths.at[i];
        const ns_track *track = &s->r->frames->paths[i];
        if (path->body >= 0 || !track->at ||
            (path->role == NS_PATH_COM && contact && centres > 1))
            continue;
        ns_plot_series *line = ns_plot_line(
            panel, path->name, s->r->n, component(s, track->at, x), component(s, track->at, y));
        paint(line, path->colour);
        if (contact && path->role == NS_PATH_COM) {
            line->dashed = true;
            line->colour = NS_PLOT_GREY;
        }
    }
}

static void add_paths(stage *s)
{
    const ns_frames *f = s->r->frames;
    const ns_scene *scene = f->scene;
    double size[3] = {0, 0, 0};
    for (uint32_t i = 0; i < scene->paths.n; i++)
        for (int k = 0; f->paths[i].at && scene->paths.at[i].body < 0 && k < 3; k++)
            size[k] = ns_max(size[k], extent(component(s, f->paths[i].at, k), s->r->n));
    if (scene->view == NS_VIEW_SIDE && size[0] + size[2] > 0) {
        add_path_panel(s, "Path", 0, 2);
    } else if (size[0] + size[1] + size[2] > 0) {
        const double wide = ns_max(size[0], size[1]);
        bool high = scene->view == NS_VIEW_SPACE && size[2] > 0.05 * wide;
        if (wide > 0.02 * size[2])
            add_path_panel(s, high ? "Path from above" : "Path", 0, 1);
        if (high)
            add_path_panel(s, "Path from the side", size[0] >= size[1] ? 0 : 1, 2);
    }
    if (!f->algebra.at)
        return;
    const ns_scene_algebra *a = &scene->algebra;
    const char *axes[3] = {a->axes[0] ? a->axes[0] : "1", a->axes[1] ? a->axes[1] : "2",
                           a->axes[2] ? a->axes[2] : "3"};
    for (int k = 1; k < 3; k++) {
        ns_plot_panel *panel = ns_plot_add(s->plot, a->name, axes[0], a->unit, axes[k],
                                           a->unit);
        panel->equal = true;
        ns_plot_line(panel, "", s->r->n, component(s, f->algebra.at, 0),
                     component(s, f->algebra.at, k));
    }
}

/* ---- quantities over time ---------------------------------------------------------------- */

static bool is_error(const ns_report_series *s)
{
    return strncmp(s->name, "error", 5) == 0;
}

static const double *sizes(const stage *s, const double *v)
{
    double *out = NS_NEW_ARRAY(s->arena, double, s->r->n + 1);
    for (size_t i = 0; i < s->r->n; i++)
        out[i] = fabs(v[i]);
    return out;
}

static const char *capital(const stage *s, const char *text)
{
    char *copy = ns_arena_string(s->arena, text, strlen(text));
    if (copy[0] >= 'a' && copy[0] <= 'z')
        copy[0] = (char)(copy[0] - 'a' + 'A');
    return copy;
}

/* Times at which the contact would lift off. */
static void add_liftoff(stage *s, ns_plot_panel *panel)
{
    const double *normal = ns_report_observed(s->r, "force.normal");
    size_t begin = 0;
    bool inside = false;
    ns_plot_at(panel, NULL, 0);
    for (size_t i = 0; normal && i <= s->r->n; i++) {
        bool now = i < s->r->n && normal[i] < 0;
        if (now && !inside)
            begin = i;
        if (!now && inside)
            ns_plot_shade(panel, s->r->t[begin], s->r->t[i ? i - 1 : 0]);
        inside = now;
    }
}

/* Of errors the upper decades matter; what is below is left to the frame's edge. */
static void show_errors(const stage *s, ns_plot_panel *panel)
{
    double most = 0;
    for (uint32_t i = 0; i < panel->series.n; i++)
        for (size_t k = 0; k < s->r->n; k++)
            if (isfinite(panel->series.at[i]->y[k]))
                most = ns_max(most, panel->series.at[i]->y[k]);
    if (!(most > 1e-300))
        return;
    panel->y.to = ns_math_pow(10, ceil(ns_math_log10(most) + 0.1));
    panel->y.from = 1e-4 * panel->y.to;
}

/* "lean, turn" if they are few, else the name of the group */
static const char *axis_name(const stage *s, const ns_plot_panel *panel, const char *group)
{
    ns_text text = ns_text_new(s->arena);
    for (uint32_t i = 0; i < panel->series.n; i++)
        ns_text_addf(&text, "%s%s", i ? ", " : "", panel->series.at[i]->name);
    if (panel->series.n == 1 || (panel->series.n < 4 && text.length < 24))
        return ns_text_string(&text);
    return strcmp(group, "observe") == 0 || panel->y.log ? "" : group;
}

/* All series of one group and unit in a panel.  Of many bodies there is too much to show. */
static void add_group(stage *s, const char *group, const char *unit, bool errors)
{
    ns_plot_panel *panel = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->r->series.n; i++)
        n += strcmp(s->r->series.at[i].group, group) == 0 &&
             strcmp(s->r->series.at[i].unit, unit) == 0 &&
             is_error(&s->r->series.at[i]) == errors;
    if (n > MOST_LINES && strcmp(group, "observe") != 0)
        return;
    for (uint32_t i = 0; i < s->r->series.n; i++) {
        const ns_report_series *one = &s->r->series.at[i];
        if (strcmp(one->group, group) != 0 || strcmp(one->unit, unit) != 0 ||
            is_error(one) != errors || (panel && panel->series.n == MOST_LINES))
            continue;
        if (!panel) {
            const char *title = errors ? "Differences from what is known" : capital(s, group);
            panel = ns_plot_add(s->plot, strcmp(group, "observe") == 0 && !errors ? "" : title,
                                "time", "s", NULL, NULL);
            panel->y.unit = unit;
            panel->y.log = one->log || errors;
        }
        ns_plot_line(panel, one->name, s->r->n, s->r->t,
                     panel->y.log ? sizes(s, one->data) : one->data);
    }
    if (!panel)
        return;
    if (panel->y.log)
        show_errors(s, panel);
    panel->y.label = axis_name(s, panel, group);
    if (strcmp(panel->title, capital(s, panel->y.label)) == 0)
        panel->title = "";
    if (strcmp(group, "force") == 0 && strcmp(unit, "N") == 0 && !errors &&
        ns_report_observed(s->r, "force.normal"))
        add_liftoff(s, panel);
}

static void add_groups(stage *s, const char *group, bool errors)
{
    for (uint32_t i = 0; i < s->r->series.n && s->plot->panels.n < MOST_PANELS; i++) {
        const ns_report_series *one = &s->r->series.at[i];
        bool first = strcmp(one->group, group) == 0 && is_error(one) == errors;
        for (uint32_t k = 0; first && k < i; k++) {
            const ns_report_series *other = &s->r->series.at[k];
            first = strcmp(other->group, group) != 0 || strcmp(other->unit, one->unit) != 0 ||
                    is_error(other) != errors;
        }
        if (first)
            add_group(s, group, one->unit, errors);
    }
}

/* Many constraints are shown by the largest of their residuals. */
static void add_constraints(stage *s)
{
    double *most = NS_NEW_ARRAY(s->arena, double, s->r->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->r->series.n; i++) {
        const ns_report_series *one = &s->r->series.at[i];
        if (strcmp(one->group, "constraints") != 0)
            continue;
        n++;
        for (size_t k = 0; k < s->r->n; k++)
            most[k] = ns_max(most[k], fabs(one->data[k]));
    }
    if (n <= 4) {
        add_groups(s, "constraints", false);
        return;
    }
    ns_plot_panel *panel = ns_plot_add(s->plot, "Constraints", "time", "s",
                                       ns_arena_format(s->arena, "largest of %u residuals", n),
                                       "");
    panel->y.log = true;
    ns_plot_line(panel, panel->y.label, s->r->n, s->r->t, most);
    show_errors(s, panel);
}

/* The values that were asked for, those of one unit in a panel. */
static void add_drawn(stage *s, const uint32_t *drawn, uint32_t n)
{
    const ns_observable *all = s->r->system->observables.at;
    for (uint32_t i = 0; i < n; i++) {
        const char *unit = all[drawn[i]].unit ? all[drawn[i]].unit : "";
        ns_plot_panel *panel = NULL;
        for (uint32_t k = 0; k < s->plot->panels.n; k++)
            if (strcmp(s->plot->panels.at[k]->y.unit, unit) == 0 &&
                s->plot->panels.at[k]->series.n < MOST_LINES)
                panel = s->plot->panels.at[k];
        if (!panel)
            panel = ns_plot_add(s->plot, "", "time", "s", "", unit);
        ns_plot_line(panel, all[drawn[i]].name, s->r->n, s->r->t,
                     s->r->observed + (size_t)drawn[i] * s->r->n);
    }
    for (uint32_t k = 0; k < s->plot->panels.n; k++)
        s->plot->panels.at[k]->y.label = axis_name(s, s->plot->panels.at[k], "values");
    s->plot->columns = s->plot->panels.n > 1 ? 2 : 1;
}

/* ---- the whole --------------------------------------------------------------------------- */

static void add_usual(stage *s)
{
    add_paths(s);
    add_groups(s, "coordinates", false);
    add_groups(s, "quasivelocities", false);
    add_groups(s, "momenta", false);
    add_groups(s, "observe", false);
    add_groups(s, "angular velocity", false);
    add_groups(s, "force", false);
    add_groups(s, "friction / normal force", false);
    add_groups(s, "energy error", false);
    add_constraints(s);
    add_groups(s, "invariants", false);
    add_groups(s, "observe", true);
}

static void fill(const ns_record *record, ns_arena *arena, ns_text *out)
{
    ns_report *r = NS_NEW(arena, ns_report);
    r->record = record;
    r->model = record->model;
    r->system = record->model->system;
    r->arena = arena;
    r->frames = ns_frames_new(&record->motion, r->model, arena);
    r->n = r->frames->n;
    r->t = r->frames->t;
    const uint32_t n = r->system->observables.n;
    ns_ex *f = NS_NEW_ARRAY(arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < n; i++)
        f[i] = r->system->observables.at[i].value;
    r->observed = ns_motion_values(&record->motion, r->model, arena, f, n);
    ns_report_collect(r);
    stage s = {.r = r, .arena = arena};
    s.plot = ns_plot_new(arena, r->system->description->title);
    s.plot->columns = 2;
    s.plot->subtitle = ns_arena_format(arena, "formulation %s, method %s, %llu steps%s%s",
                                       r->system->formulation->name, record->method->name,
                                       (unsigned long long)record->outcome->steps,
                                       record->status != NS_OK ? "; ended early: "
                                       : record->message[0]    ? "; "
                                                               : "",
                                       record->message);
    if (record->options.n_drawn)
        add_drawn(&s, record->options.drawn, record->options.n_drawn);
    else
        add_usual(&s);
    ns_plot_svg(s.plot, out);
}

static void make(const ns_record *record, ns_arena *arena, ns_text *out)
{
    pthread_mutex_lock(&record->model->lock);
    if (!NS_ARENA_GUARD(record->model->arena) && !NS_ARENA_GUARD(arena))
        fill(record, arena, out);
    else
        out->length = 0;
    ns_arena_unguard(arena);
    ns_arena_unguard(record->model->arena);
    pthread_mutex_unlock(&record->model->lock);
}

/* Once, at the end. */
static bool write_svg(ns_output *o, const ns_record *record)
{
    if (record->running || !record->outcome)
        return true;
    ns_arena *arena = ns_arena_new();
    if (!arena)
        return ns_output_error(o, ENOMEM, NULL);
    ns_text text = ns_text_new(arena);
    make(record, arena, &text);
    int error = text.length ? ns_file_put(o->descriptor, text.at, text.length) : ENOMEM;
    ns_arena_free(arena);
    if (!error)
        error = ns_file_target_publish(&o->target);
    return error ? ns_output_error(o, error, NULL) : true;
}

const ns_output_format ns_output_svg = {
    .extension = "svg",
    .summary = "pictures of the path and of quantities over time",
    .needs_motion = true,
    .write = write_svg,
};
