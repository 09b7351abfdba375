/* What a report says in words: quality, doubts, events, parameters, final values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "out/report/report_internal.h"
#include "session/trust/trust.h"

enum { MOST_EVENTS = 400, MOST_SPANS = 60 };

/* Up to here a number is good, up to there worth a note. */
typedef struct judge {
    double good, fair;
} judge;
static const judge of_energy = {1e-11, 1e-8}, of_residual = {1e-11, 1e-8},
                   of_drift = {1e-11, 1e-8};

static const char *level(judge j, double value)
{
    return value <= j.good ? "good" : value <= j.fair ? "note" : "bad";
}

static void put_fact(ns_report *r, const char *name, const char *text, const char *how)
{
    ns_json *j = &r->json;
    ns_json_object(j, NULL);
    ns_json_text(j, "name", name);
    ns_json_text(j, "text", text);
    ns_json_text(j, "level", how);
    ns_json_end(j);
}

/* ---- the contact ------------------------------------------------------------------------- */

typedef struct contact {
    bool known;
    double least, least_at; /* normal force */
    double ratio, ratio_at; /* largest friction needed, before the contact would lift off */
    double lift;            /* when it would lift off; nan if never */
    double steep;           /* from when until then it needs a coefficient above 1; or nan */
    bool from_start;
} contact;

static contact look(const ns_report *r)
{
    const double *normal = ns_report_observed(r, "force.normal");
    const double *ratio = ns_report_observed(r, "force.ratio");
    contact c = {.known = normal && r->n, .least = INFINITY, .lift = NAN, .steep = NAN};
    if (!c.known)
        return c;
    for (uint32_t i = 0; i < r->record->outcome->n_events; i++) {
        const ns_occurrence *e = &r->record->outcome->events[i];
        const ns_event *event = &r->system->events.at[e->event];
        /* one that is only recorded happens: the body flies */
        if (strcmp(event->name, "liftoff") == 0 && event->action != NS_EVENT_RECORD &&
            isnan(c.lift))
            c.lift = e->t;
    }
    c.from_start = normal[0] < 0;
    if (c.from_start)
        c.lift = r->t[0];
    for (size_t k = 0; k < r->n; k++) {
        if (normal[k] < c.least) {
            c.least = normal[k];
            c.least_at = r->t[k];
        }
        if (!ratio || !(normal[k] > 0) || r->t[k] >= c.lift)
            continue;
        if (ratio[k] > c.ratio) {
            c.ratio = ratio[k];
            c.ratio_at = r->t[k];
        }
        c.steep = !(ratio[k] > 1) ? NAN : isnan(c.steep) ? r->t[k] : c.steep;
    }
    return c;
}

static void put_contact_fact(ns_report *r, const contact *c)
{
    if (!c->known)
        return;
    if (isnan(c->lift))
        put_fact(r, "contact",
                 ns_arena_format(r->arena,
                                 "holds: the normal force is at least %.3g N (at %.3g s), the "
                                 "friction coefficient needed at most %.3g (at %.3g s)",
                                 c->least, c->least_at, c->ratio, c->ratio_at),
                 c->ratio < 1 ? "good" : "note");
    else
        put_fact(r, "contact",
                 ns_arena_format(r->arena,
                                 "would lift off at %.4g s; it is kept as if the ground could "
                                 "pull (smallest normal force %.3g N at %.3g s)",
                                 c->lift, c->least, c->least_at),
                 "bad");
}

/* ---- the trajectory ---------------------------------------------------------------------- */

static void put_trust(ns_report *r)
{
    const ns_trust *q = r->record->trust;
    char text[300];
    if (!q)
        return;
    ns_trust_text(r->record, text, sizeof text);
    put_fact(r, "trajectory", text, isnan(q->until) && q->largest < 1e-6 ? "good" : "note");
}

/* ---- facts ------------------------------------------------------------------------------- */

static void put_quality(ns_report *r)
{
    const ns_system *s = r->system;
    const ns_outcome *o = r->record->outcome;
    if (isfinite(o->energy_drift))
        put_fact(r, "energy",
                 ns_arena_format(r->arena, "largest change %.2g of its size%s", o->energy_drift,
                                 s->conservative ? "" : ": not conserved, forces do work"),
                 s->conservative ? level(of_energy, o->energy_drift) : NULL);
    uint32_t worst = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++)
        worst = o->residual[i] <= o->residual[worst] ? worst : i;
    if (s->constraints.n)
        put_fact(r, "constraints",
                 ns_arena_format(r->arena, "kept to %.2g or better (%u of them; the worst: %s)",
                                 o->residual[worst], s->constraints.n,
                                 s->constraints.at[worst].name),
                 level(of_residual, o->residual[worst]));
}

static void put_invariants(ns_report *r)
{
    const ns_system *s = r->system;
    const ns_outcome *o = r->record->outcome;
    for (uint32_t i = 0; i < s->invariants.n; i++)
        put_fact(r, ns_arena_format(r->arena, "invariant %s", s->invariants.at[i].name),
                 ns_arena_format(r->arena, "largest change %.2g of its size", o->drift[i]),
                 level(of_drift, o->drift[i]));
}

static void put_work(ns_report *r)
{
    const ns_outcome *o = r->record->outcome;
    for (uint32_t i = 0; i < r->system->facts.n; i++)
        put_fact(r, r->system->facts.at[i].name, r->system->facts.at[i].text, NULL);
    for (uint32_t i = 0; i < r->system->constants.n; i++) {
        const ns_observable *c = &r->system->constants.at[i];
        double value;
        ns_system_eval(r->system, &c->value, 1, 0, r->model->p, r->model->x0, &value);
        put_fact(r, c->name,
                 ns_arena_format(r->arena, "%.10g%s%s", value, c->unit && *c->unit ? " " : "",
                                 c->unit ? c->unit : ""),
                 NULL);
    }
    put_fact(r, "steps",
             ns_arena_format(r->arena, "%llu from %.2g to %.2g s long, %llu more rejected",
                             (unsigned long long)o->steps, o->smallest_step, o->largest_step,
                             (unsigned long long)o->rejected),
             NULL);
}

/* ---- warnings ---------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void warn(ns_report *r, const char *format, ...)
{
    ns_text text = ns_text_new(r->arena);
    va_list list;
    va_start(list, format);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    ns_json_text(&r->json, NULL, ns_text_string(&text));
}

static void warn_contact(ns_report *r, const contact *c)
{
    if (!c->known || isnan(c->lift)) {
        if (c->known && c->ratio >= 1)
            warn(r,
                 "the motion needs a friction coefficient of %.3g (at %.4g s): more than most "
                 "surfaces give",
                 c->ratio, c->ratio_at);
        return;
    }
    /* before a lift-off the coefficient grows beyond all bounds: its largest sample says
     * nothing */
    const double end = r->record->outcome->t;
    if (r->record->status != NS_OK && !c->from_start &&
        fabs(end - c->lift) <= 1e-6 * fabs(end)) { /* it ended the run, which says so */
        if (!isnan(c->steep))
            warn(r, "from %.4g s on the motion needs a friction coefficient above 1", c->steep);
        return;
    }
    if (c->from_start)
        warn(r, "the ground would have to pull on the body from the start: the contact is kept "
                "as if it could");
    else if (isnan(c->steep))
        warn(r,
             "the contact would lift off at %.4g s, and is kept from there as if the ground "
             "could pull; until then a friction coefficient of %.3g is enough",
             c->lift, c->ratio);
    else
        warn(r,
             "the contact would lift off at %.4g s, and is kept from there as if the ground "
             "could pull; from %.4g s on it needs a friction coefficient above 1",
             c->lift, c->steep);
}

static void warn_events(ns_report *r)
{
    const ns_system *s = r->system;
    const ns_outcome *o = r->record->outcome;
    for (uint32_t k = 0; k < s->events.n; k++) {
        const ns_event *event = &s->events.at[k];
        uint32_t count = 0;
        double first = 0;
        for (uint32_t i = 0; i < o->n_events; i++)
            if (o->events[i].event == k && count++ == 0)
                first = o->events[i].t;
        if (!count || event->action != NS_EVENT_WARN || strcmp(event->name, "liftoff") == 0)
            continue;
        warn(r, "%s at %.4g s%s", event->meaning ? event->meaning : event->name, first,
             count > 1 ? ns_arena_format(r->arena, ", and %u more %s", count - 1,
                                         count == 2 ? "time" : "times")
                       : "");
    }
}

static void put_warnings(ns_report *r, const contact *c)
{
    const ns_system *s = r->system;
    const ns_outcome *o = r->record->outcome;
    ns_json *j = &r->json;
    ns_json_array(j, "warnings");
    warn_contact(r, c);
    warn_events(r);
    for (uint32_t i = 0; i < s->pushes.n; i++)
        if (o->push_least && o->push_least[i] < 0)
            warn(
                r,
                "contact `%s` would lift off: its normal force is negative from t = %.6g s on, "
                "%.3g N at the least",
                s->pushes.at[i].name, o->push_since[i], o->push_least[i]);
    if (s->conservative && !(o->energy_drift <= of_energy.fair) && !isnan(o->energy_drift))
        warn(r,
             "the energy changed by %.2g of its size, though nothing in the model changes it: "
             "the "
             "result is doubtful; try a smaller tolerance",
             o->energy_drift);
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (!(o->residual[i] <= of_residual.fair))
            warn(r, "the constraint `%s` was violated by up to %.2g", s->constraints.at[i].name,
                 o->residual[i]);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (!(o->drift[i] <= of_drift.fair))
            warn(r, "the invariant `%s` changed by %.2g of its size: it may be none",
                 s->invariants.at[i].name, o->drift[i]);
    if (r->record->trust && !isnan(r->record->trust->until)) {
        char text[300];
        ns_trust_text(r->record, text, sizeof text);
        warn(r, "this single trajectory is %s", text);
    }
    if (r->record->options.resume)
        warn(r, "the run was continued from a checkpoint: the motion before %.4g s is not here",
             r->n ? r->t[0] : 0.0);
    ns_json_end(j);
}

/* ---- events and spans -------------------------------------------------------------------- */

static void put_events(ns_report *r)
{
    static const char *const actions[] = {[NS_EVENT_RECORD] = "recorded",
                                          [NS_EVENT_STOP] = "stopped the run",
                                          [NS_EVENT_WARN] = "warned of",
                                          [NS_EVENT_SINGULAR] = "stopped the run"};
    const ns_outcome *o = r->record->outcome;
    ns_json *j = &r->json;
    ns_json_array(j, "events");
    for (uint32_t i = 0; i < o->n_events && i < MOST_EVENTS; i++) {
        const ns_event *event = &r->system->events.at[o->events[i].event];
        ns_json_object(j, NULL);
        ns_json_text(j, "name", event->name);
        ns_json_number(j, "t", o->events[i].t);
        ns_json_number(j, "direction", o->events[i].direction);
        ns_json_text(j, "action", actions[event->action]);
        ns_json_text(j, "text", event->meaning);
        ns_json_end(j);
    }
    ns_json_end(j);
}

/* The modes of the motion, one after the other. */
static void put_stretches(ns_report *r)
{
    const ns_record *record = r->record;
    double t, end;
    uint32_t mode, next_mode;
    size_t next = 0;
    bool more = ns_record_stretch(record, &next, &t, &mode);
    for (unsigned count = 0; more && count < MOST_EVENTS; count++) {
        more = ns_record_stretch(record, &next, &end, &next_mode);
        ns_json_object(&r->json, NULL);
        ns_json_text(&r->json, "name", r->system->modes.at[mode]);
        ns_json_number(&r->json, "from", t);
        ns_json_number(&r->json, "to", more ? end : record->outcome->t);
        ns_json_number(&r->json, "mode", mode);
        ns_json_end(&r->json);
        t = end;
        mode = next_mode;
    }
}

/* Modes, and times at which the ground would have to pull. */
static void put_spans(ns_report *r)
{
    const double *normal = ns_report_observed(r, "force.normal");
    ns_json *j = &r->json;
    ns_json_array(j, "spans");
    unsigned count = 0;
    put_stretches(r);
    for (size_t k = 0; normal && k < r->n && count < MOST_SPANS; k++) {
        if (!(normal[k] < 0))
            continue;
        double from = r->t[k];
        if (k) /* between this sample and the one before it */
            from = r->t[k - 1] +
                   (r->t[k] - r->t[k - 1]) * normal[k - 1] / (normal[k - 1] - normal[k]);
        size_t end = k;
        while (end + 1 < r->n && normal[end + 1] < 0)
            end++;
        double to = r->t[end];
        if (end + 1 < r->n && isfinite(normal[end + 1]))
            to += (r->t[end + 1] - r->t[end]) * normal[end] / (normal[end] - normal[end + 1]);
        ns_json_object(j, NULL);
        ns_json_text(j, "name", "lifted off");
        ns_json_number(j, "from", from);
        ns_json_number(j, "to", to);
        ns_json_end(j);
        count++;
        k = end;
    }
    ns_json_end(j);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void put_quantity(ns_json *j, const char *name, double value, const char *unit)
{
    ns_json_object(j, NULL);
    ns_json_text(j, "name", name);
    ns_json_number(j, "value", value);
    ns_json_text(j, "unit", unit && *unit ? unit : NULL);
    ns_json_end(j);
}

void ns_report_put_parameters(ns_json *j, const ns_model *model)
{
    const ns_description *d = model->system->description;
    ns_json_array(j, "parameters");
    for (uint32_t i = 0; i < d->params.n; i++)
        put_quantity(j, d->params.at[i].name, model->p[i], d->params.at[i].unit);
    ns_json_end(j);
}

static void put_final(ns_report *r)
{
    ns_json_array(&r->json, "final");
    for (uint32_t i = 0; i < r->system->observables.n; i++) {
        const ns_observable *o = &r->system->observables.at[i];
        if (o->basic)
            put_quantity(&r->json, o->name, r->record->last[i], o->unit);
    }
    ns_json_end(&r->json);
}

void ns_report_put_facts(ns_report *r)
{
    const contact c = look(r);
    ns_json_array(&r->json, "facts");
    put_quality(r);
    put_contact_fact(r, &c);
    put_trust(r);
    put_invariants(r);
    put_work(r);
    ns_json_end(&r->json);
    put_warnings(r, &c);
    put_events(r);
    put_spans(r);
    ns_report_put_parameters(&r->json, r->model);
    put_final(r);
}

const double *ns_report_observed(const ns_report *r, const char *name)
{
    for (uint32_t i = 0; i < r->system->observables.n; i++)
        if (strcmp(r->system->observables.at[i].name, name) == 0)
            return r->observed + i * r->n;
    return NULL;
}
