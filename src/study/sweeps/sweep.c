/* Making a sweep: quantities from their text, the system with the events they need, programs.
 *
 * Extrema.  min(X) and max(X) are taken over the ends of the motion and the zeros of dX/dt on
 * it,
 *     dX/dt = sum_i (dX/dx_i) f_i + dX/dt|x,
 * an expression like any other, watched as an event: extrema inside of steps count, to the
 * accuracy of the method. */
#include "study/sweeps/sweep.h"

#include <math.h>
#include <string.h>

#include "expr/diff.h"
#include "lang/formula.h"
#include "study/sweeps/sweep_internal.h"

typedef struct maker {
    ns_sweep *sweep;
    const ns_sweep_spec *spec;
    ns_system *system; /* the sweep's own copy */
    bool *used;        /* [events of the model] */
    const char *message;
    bool events, diagnostics;
} maker;

/* ---- words ------------------------------------------------------------------------------- */

static const char *trim(ns_arena *arena, const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return ns_arena_string(arena, from, (size_t)(to - from));
}

/* A quantity as the language's parser sees it: EXPR or EXPR@PLACE. */
typedef struct parsed {
    ns_formula value;
    const char *text;  /* of the expression */
    const char *place; /* after @; NULL if there is none */
} parsed;

/* False if it is no such thing; the reader of expressions will say why. */
static bool parse(maker *m, const char *text, parsed *out)
{
    ns_arena *arena = m->sweep->arena;
    ns_diag *diag = ns_diag_new(arena);
    const size_t length = strlen(text);
    uint32_t at = 0;
    if (!ns_formula_read(diag, ns_diag_source(diag, "", text, length), "@", NULL, &at,
                         (uint32_t)length, &out->value))
        return false;
    const char *rest = trim(arena, text + at, text + length);
    out->text = trim(arena, text, text + at);
    out->place = *rest == '@' ? trim(arena, rest + 1, rest + strlen(rest)) : NULL;
    return !*rest || out->place;
}

/* The text of the argument if the quantity is FUNCTION(ARGUMENT); otherwise NULL. */
static const char *argument(const maker *m, const parsed *q, const char *function)
{
    ns_span inside;
    return !q->place && ns_formula_argument(&q->value, function, &inside)
               ? trim(m->sweep->arena, q->value.text + inside.begin, q->value.text + inside.end)
               : NULL;
}

/* ---- quantities -------------------------------------------------------------------------- */

static bool fail(maker *m, const char *message)
{
    m->message = message;
    return false;
}

static bool find_event(maker *m, const char *name, uint32_t *event)
{
    const ns_system *s = m->spec->system;
    ns_text known = ns_text_new(m->sweep->arena);
    for (uint32_t i = 0; i < s->events.n; i++) {
        if (strcmp(s->events.at[i].name, name) == 0) {
            m->used[i] = true;
            m->events = true;
            *event = i;
            return true;
        }
        ns_text_addf(&known, "%s%s", i ? ", " : "", s->events.at[i].name);
    }
    return fail(m, ns_arena_format(m->sweep->arena, "the model has no event `%s`; it has %s",
                                   name, s->events.n ? ns_text_string(&known) : "none"));
}

static bool read_value(maker *m, const char *text, ns_sweep_get *get)
{
    const ns_system *s = m->spec->system;
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, text) == 0) {
            get->value = s->observables.at[i].value;
            get->unit = s->observables.at[i].unit ? s->observables.at[i].unit : "";
            return true;
        }
    return m->spec->reader(m->spec->context, text, &get->value);
}

/* A zero of an expression as an event of the sweep's own; those asked for twice are one. */
static uint32_t zero_of(maker *m, const char *name, ns_ex value)
{
    ns_system *s = m->system;
    m->events = true;
    for (uint32_t i = m->spec->system->events.n; i < s->events.n; i++)
        if (s->events.at[i].value == value)
            return i;
    NS_PUSH(m->sweep->arena, s->events,
            (ns_event){.name = name, .value = value, .action = NS_EVENT_RECORD});
    return s->events.n - 1;
}

static ns_ex time_derivative(maker *m, ns_ex value)
{
    const ns_system *s = m->system;
    const uint32_t n = s->states.n;
    ns_ex *x = ns_system_state_symbols(s, m->sweep->arena);
    ns_ex *dx = ns_system_state_rates(s, m->sweep->arena), out;
    x[n] = s->time;
    dx[n] = ns_number(s->graph, 1);
    ns_diff_along(s->graph, &value, 1, x, dx, n + (s->time ? 1 : 0), &out);
    return out;
}

static bool read_extreme(maker *m, const char *inner, ns_sweep_get *get, ns_sweep_kind kind)
{
    get->kind = kind;
    get->event = UINT32_MAX;
    if (!read_value(m, inner, get))
        return false;
    const ns_ex rate = time_derivative(m, get->value);
    double constant;
    if (!ns_graph_is_number(m->system->graph, rate, &constant))
        get->event = zero_of(m, get->name, rate);
    return true;
}

static bool is_event(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->events.n; i++)
        if (strcmp(s->events.at[i].name, name) == 0)
            return true;
    return false;
}

static bool is_value(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (strcmp(s->observables.at[i].name, name) == 0)
            return true;
    return false;
}

/* VALUE@PLACE, where the place is an event, event(NAME), or a time. */
static bool read_at(maker *m, const char *text, const char *value, const char *place,
                    ns_sweep_get *get)
{
    ns_arena *arena = m->sweep->arena;
    const ns_system *s = m->spec->system;
    const ns_run_options *run = &m->spec->run;
    parsed named = {0};
    const char *inner = parse(m, place, &named) ? argument(m, &named, "event") : NULL;
    if (!read_value(m, value, get))
        return false;
    if (is_event(s, place))
        inner = place;
    if (inner) {
        get->kind = NS_SWEEP_EVENT;
        return find_event(m, inner, &get->event);
    }
    ns_ex e;
    get->kind = NS_SWEEP_TIME;
    if (!m->spec->reader(m->spec->context, place, &e))
        return false;
    double *p = NS_NEW_ARRAY(arena, double, s->description->params.n + 1);
    ns_system_params(s, NULL, NULL, p);
    ns_system_eval(s, &e, 1, 0, p, NULL, &get->t);
    const double sense = run->until < run->t0 ? -1 : 1;
    if (!isfinite(get->t) || sense * get->t < sense * run->t0 ||
        sense * get->t > sense * run->until)
        return fail(m, ns_arena_format(arena,
                                       "`%s`: expected an event or a time from %g to %g after "
                                       "@, not `%s`",
                                       text, run->t0, run->until, place));
    return true;
}

static bool read_quantity(maker *m, const char *text, ns_sweep_get *get)
{
    static const struct {
        const char *word;
        ns_sweep_kind kind;
        bool event; /* of an event; otherwise of an expression */
    } functions[] = {
        {"min", NS_SWEEP_MIN, false},           {"max", NS_SWEEP_MAX, false},
        {"event", NS_SWEEP_WHEN, true},         {"count", NS_SWEEP_COUNT, true},
        {"happened", NS_SWEEP_HAPPENED, true},  {"reversal", NS_SWEEP_WHEN, false},
        {"reversed", NS_SWEEP_HAPPENED, false},
    };
    static const struct {
        const char *word;
        ns_sweep_kind kind;
    } words[] = {
        {"energy_drift", NS_SWEEP_DRIFT}, {"steps", NS_SWEEP_STEPS}, {"end", NS_SWEEP_END}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, text) == 0) {
            get->kind = words[i].kind;
            m->diagnostics = m->diagnostics || get->kind == NS_SWEEP_DRIFT;
            get->unit = get->kind == NS_SWEEP_END ? "s" : "";
            return true;
        }
    parsed q = {0};
    const bool good_text = parse(m, text, &q);
    for (size_t i = 0; good_text && i < sizeof functions / sizeof *functions; i++) {
        const char *inner = argument(m, &q, functions[i].word);
        if (!inner)
            continue;
        get->kind = functions[i].kind;
        if (get->kind == NS_SWEEP_MIN || get->kind == NS_SWEEP_MAX)
            return read_extreme(m, inner, get, get->kind);
        bool good;
        if (functions[i].event) {
            good = find_event(m, inner, &get->event);
        } else {
            good = read_value(m, inner, get);
            if (good)
                get->event = zero_of(m, get->name, get->value);
        }
        get->unit = get->kind == NS_SWEEP_WHEN ? "s" : "";
        get->value = 0;
        return good;
    }
    if (good_text && q.place)
        return read_at(m, text, q.text, q.place, get);
    if (is_event(m->spec->system, text) && !is_value(m->spec->system, text)) {
        get->kind = NS_SWEEP_WHEN;
        get->unit = "s";
        return find_event(m, text, &get->event);
    }
    get->kind = NS_SWEEP_FINAL;
    return read_value(m, text, get);
}

static bool read_get(maker *m, const char *text, ns_sweep_get *get)
{
    ns_arena *arena = m->sweep->arena;
    const char *equals = strchr(text, '=');
    const char *quantity = trim(arena, equals ? equals + 1 : text, text + strlen(text));
    *get = (ns_sweep_get){.name = equals ? trim(arena, text, equals) : quantity, .unit = ""};
    if (!*get->name || !*quantity)
        return fail(m, ns_arena_format(arena, "expected [NAME=]QUANTITY, not `%s`", text));
    return read_quantity(m, quantity, get);
}

static bool read_gets(maker *m)
{
    ns_sweep *w = m->sweep;
    const ns_system *s = m->spec->system;
    if (m->spec->n_gets) {
        w->get = NS_NEW_ARRAY(w->arena, ns_sweep_get, m->spec->n_gets);
        for (; w->n_gets < m->spec->n_gets; w->n_gets++) {
            if (!read_get(m, m->spec->gets[w->n_gets], &w->get[w->n_gets]))
                return false;
            for (uint32_t i = 0; i < w->n_gets; i++)
                if (strcmp(w->get[i].name, w->get[w->n_gets].name) == 0)
                    return fail(m, ns_arena_format(w->arena, "`%s` is asked for twice",
                                                   w->get[i].name));
        }
        return true;
    }
    w->get = NS_NEW_ARRAY(w->arena, ns_sweep_get, s->observables.n + 1);
    for (uint32_t i = 0; i < s->observables.n; i++)
        if (s->observables.at[i].basic)
            w->get[w->n_gets++] = (ns_sweep_get){
                .name = s->observables.at[i].name,
                .unit = s->observables.at[i].unit ? s->observables.at[i].unit : "",
                .kind = NS_SWEEP_FINAL,
                .value = s->observables.at[i].value};
    if (s->energy && s->conservative) {
        w->get[w->n_gets++] = (ns_sweep_get){
            .name = "energy_drift", .unit = "", .kind = NS_SWEEP_DRIFT};
        m->diagnostics = true;
    }
    return true;
}

/* ---- the system -------------------------------------------------------------------------- */

/* Events that nobody asked for and that stop nothing are left out; no observables are
 * followed. */
static void prune(maker *m)
{
    ns_sweep *w = m->sweep;
    ns_system *s = m->system;
    const uint32_t given = m->spec->system->events.n;
    uint32_t *now = NS_NEW_ARRAY(w->arena, uint32_t, s->events.n + 1), kept = 0;
    for (uint32_t i = 0; i < s->events.n; i++) {
        const ns_event *e = &s->events.at[i];
        const bool keep = i >= given || m->used[i] || ns_event_cuts(e) ||
                          (s->watch && s->watch->event == i);
        now[i] = kept;
        if (keep)
            s->events.at[kept++] = *e;
    }
    s->events.n = kept;
    for (uint32_t k = 0; k < w->n_gets; k++)
        if (w->get[k].event < UINT32_MAX)
            w->get[k].event = now[w->get[k].event];
    if (s->watch) {
        s->watch = ns_arena_copy(w->arena, s->watch, sizeof *s->watch);
        s->watch->event = now[s->watch->event];
    }
    s->observables.n = 0;
}

/* ---- stations: where on a motion values are wanted, with a program for those of each
 * --------- */

static bool same_station(const ns_sweep_station *a, const ns_sweep_get *get)
{
    if (a->kind != get->kind)
        return false;
    return get->kind == NS_SWEEP_FINAL || (get->kind == NS_SWEEP_TIME && a->t == get->t) ||
           (get->kind == NS_SWEEP_EVENT && a->event == get->event);
}

/* Programs of a station: what its values are in each mode. */
static void compile(maker *m, ns_sweep_station *station)
{
    ns_arena *arena = m->sweep->arena;
    const uint32_t modes = ns_system_modes(m->system), n = station->values.n;
    station->program = NS_NEW_ARRAY(arena, const ns_program *, modes);
    if (modes == 1) {
        station->program[0] = ns_problem_program(m->system, arena, station->values.at, n);
        return;
    }
    ns_system *all = ns_arena_copy(arena, m->system, sizeof *all);
    all->observables.at = NULL;
    all->observables.n = all->observables.room = 0;
    for (uint32_t i = 0; i < n; i++)
        NS_PUSH(arena, all->observables,
                (ns_observable){.name = "", .value = station->values.at[i], .unit = ""});
    for (uint32_t mode = 0; mode < modes; mode++) {
        const ns_system *in = ns_system_in_mode(all, mode, arena);
        ns_ex *value = NS_NEW_ARRAY(arena, ns_ex, n + 1);
        for (uint32_t i = 0; i < n; i++)
            value[i] = in->observables.at[i].value;
        station->program[mode] = ns_problem_program(in, arena, value, n);
    }
}

static void make_stations(maker *m)
{
    ns_sweep *w = m->sweep;
    w->station = NS_NEW_ARRAY(w->arena, ns_sweep_station, w->n_gets + 1);
    for (uint32_t k = 0; k < w->n_gets; k++) {
        ns_sweep_get *get = &w->get[k];
        if (!get->value)
            continue;
        uint32_t i = 0;
        while (i < w->n_stations && !same_station(&w->station[i], get))
            i++;
        ns_sweep_station *station = &w->station[i];
        if (i == w->n_stations) {
            w->n_stations++;
            *station = (ns_sweep_station){.kind = get->kind, .event = get->event, .t = get->t};
        }
        get->station = i;
        get->position = station->values.n;
        NS_PUSH(w->arena, station->values, get->value);
    }
    for (uint32_t i = 0; i < w->n_stations; i++)
        compile(m, &w->station[i]);
}

/* Extremes are zeros of rates, and states at times come without their modes. */
static bool modes_known(maker *m)
{
    ns_sweep *w = m->sweep;
    const ns_system *s = m->spec->system;
    for (uint32_t k = 0; k < w->n_gets; k++)
        for (uint32_t i = 0; i < s->mode_values.n && w->get[k].value; i++)
            if ((w->get[k].kind == NS_SWEEP_TIME || w->get[k].kind == NS_SWEEP_MIN ||
                 w->get[k].kind == NS_SWEEP_MAX) &&
                ns_graph_depends(s->graph, w->get[k].value, &s->mode_values.at[i].symbol, 1))
                return fail(m, ns_arena_format(w->arena,
                                               "`%s` differs between modes: a sweep takes such "
                                               "values at the end or at an event",
                                               w->get[k].name));
    return true;
}

/* Times in the order of the motion. */
static void make_times(ns_sweep *w, const ns_run_options *run)
{
    double *times = NS_NEW_ARRAY(w->arena, double, w->n_stations + 1);
    const double sense = run->until < run->t0 ? -1 : 1;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_stations; i++) {
        if (w->station[i].kind != NS_SWEEP_TIME)
            continue;
        uint32_t k = n++;
        for (; k > 0 && sense * times[k - 1] > sense * w->station[i].t; k--)
            times[k] = times[k - 1];
        times[k] = w->station[i].t;
    }
    for (uint32_t i = 0; i < w->n_stations; i++)
        for (uint32_t k = 0; k < n; k++)
            if (w->station[i].kind == NS_SWEEP_TIME && times[k] == w->station[i].t)
                w->station[i].time = k;
    w->options.times = times;
    w->options.n_times = n;
}

static bool is_parameter(const ns_system *s, const char *name)
{
    for (uint32_t i = 0; i < s->description->params.n; i++)
        if (strcmp(s->description->params.at[i].name, name) == 0)
            return true;
    return false;
}

ns_sweep *ns_sweep_new(ns_arena *arena, const ns_sweep_spec *spec, const char **message)
{
    ns_sweep *w = NS_NEW(arena, ns_sweep);
    ns_system *s = ns_arena_copy(arena, spec->system, sizeof *spec->system);
    w->arena = arena;
    w->plan = spec->plan;
    w->n_axes = spec->plan.axes.n;
    w->axis = NS_NEW_ARRAY(arena, const char *, w->n_axes + 1);
    w->label = NS_NEW_ARRAY(arena, const char *, w->n_axes + 1);
    for (uint32_t i = 0; i < w->n_axes; i++) {
        w->axis[i] = spec->plan.axes.at[i].name;
        w->label[i] = is_parameter(s, w->axis[i])
                          ? w->axis[i]
                          : ns_arena_format(arena, "start.%s", w->axis[i]);
    }
    s->events.at = ns_arena_copy(arena, s->events.at, s->events.n * sizeof *s->events.at);
    s->events.room = s->events.n;
    maker m = {.sweep = w, .spec = spec, .system = s, .message = ""};
    m.used = NS_NEW_ARRAY(arena, bool, s->events.n + 1);
    if (!read_gets(&m) || !modes_known(&m)) {
        *message = m.message;
        return NULL;
    }
    prune(&m);
    make_stations(&m);
    w->options = (ns_ensemble_options){.run = spec->run,
                                       .lanes = spec->lanes,
                                       .alone = spec->alone,
                                       .diagnostics = m.diagnostics,
                                       .events = m.events};
    make_times(w, &spec->run);
    w->record = (w->n_axes + w->n_gets) * sizeof(double) + sizeof(ns_sweep_end);
    const ns_method *method = ns_method_find(spec->run.method);
    /* on a graph of its own: nobody else adds to what the threads of the sweep read */
    w->problem = ns_problem_new(ns_system_fork(s, arena), method && method->needs_jacobian);
    return w;
}
