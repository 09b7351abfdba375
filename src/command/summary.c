#include "command/summary.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "expr/diff.h"
#include "expr/graph.h"
#include "session/output.h"
#include "session/trust/digits.h"
#include "session/trust/trust.h"
#include "study/orbits/relative.h"

enum { NAME = 14, MOST_EVENTS = 12, MOST_SINGLE = 30 /* more values: vectors in lines */ };

/* Larger values than these earn a warning. */
static const double doubtful_energy = 1e-8, doubtful_residual = 1e-8, doubtful_drift = 1e-8;

/* ---- choosing ---------------------------------------------------------------------------- */

/* Does the observable belong to the name (itself, or name.component)? */
static bool belongs(const char *observable, const char *name, size_t length)
{
    return strncmp(observable, name, length) == 0 &&
           (observable[length] == 0 || observable[length] == '.');
}

/* The value that is nearest to a word, or the group of values: `omega` of omega.x. */
static const char *nearest_value(ns_arena *arena, const ns_model *model, const char *word)
{
    const ns_system *s = model->system;
    ns_near near = {.word = word};
    for (uint32_t i = 0; i < s->observables.n; i++) {
        const char *name = s->observables.at[i].name, *dot = strrchr(name, '.');
        ns_near_try(&near, name);
        if (dot)
            ns_near_try(&near, ns_arena_string(arena, name, (size_t)(dot - name)));
    }
    return near.found;
}

static bool choose_one(ns_host *host, const ns_model *model, const char *name, size_t length,
                       ns_shown *shown)
{
    const ns_system *s = model->system;
    const bool all = length == 3 && strncmp(name, "all", 3) == 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->observables.n; i++) {
        if (!all && !belongs(s->observables.at[i].name, name, length))
            continue;
        found++;
        bool twice = false;
        for (uint32_t j = 0; j < shown->n; j++)
            twice = twice || shown->at[j] == i;
        if (!twice)
            shown->at[shown->n++] = i;
    }
    if (found)
        return true;
    const char *word = ns_arena_string(host->arena, name, length);
    const char *nearest = nearest_value(host->arena, model, word);
    if (nearest)
        ns_command_wrong(host, "--show: there is no value `%s`; did you mean `%s`?", word,
                         nearest);
    else
        ns_command_wrong(host, "--show: there is no value `%s`; `noslip check` lists them all",
                         word);
    return false;
}

bool ns_summary_choose(ns_host *host, const ns_model *model, const char *names, ns_shown *shown)
{
    const ns_system *s = model->system;
    shown->n = 0;
    shown->at = NS_NEW_ARRAY(host->arena, uint32_t, s->observables.n + 1);
    if (!names) {
        for (uint32_t i = 0; i < s->observables.n; i++)
            if (s->observables.at[i].basic)
                shown->at[shown->n++] = i;
        return true;
    }
    for (;;) {
        const size_t length = strcspn(names, ",");
        if (!choose_one(host, model, names, length, shown))
            return false;
        if (!names[length])
            return true;
        names += length + 1;
    }
}

/* ---- printing ---------------------------------------------------------------------------- */

const char *ns_summary_unit(const char *unit, char buffer[64])
{
    if (!unit || !*unit)
        return "";
    snprintf(buffer, 64, " %s", unit);
    return buffer;
}

static void print_head(ns_host *host, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = r->outcome;
    const ns_run_options *run = &r->options.run;
    FILE *f = host->out;
    fprintf(f, "%s%s%s\n", host->style_out.bold, s->description->title, host->style_out.plain);
    fprintf(f, "  %-*s %s\n", NAME, "formulation", s->formulation->name);
    if (run->fixed_step > 0)
        fprintf(f, "  %-*s %s, steps of %g s\n", NAME, "method", r->method->name,
                run->fixed_step);
    else
        fprintf(f, "  %-*s %s, tolerance %g\n", NAME, "method", r->method->name,
                run->tolerance);
    if (r->chosen)
        fprintf(f, "  %-*s %s\n", NAME, "chosen by",
                r->choice[0] ? r->choice : "the run that is continued");
    if (r->status == NS_OK && r->message[0])
        fprintf(f, "  %-*s %g to %.10g s, %s\n", NAME, "time", run->t0, o->t, r->message);
    else if (r->status == NS_OK)
        fprintf(f, "  %-*s %g to %g s\n", NAME, "time", run->t0, o->t);
    else
        fprintf(f, "  %-*s %g to %.10g s, ended early (%g s were asked for)\n", NAME, "time",
                run->t0, o->t, run->until);
    fprintf(f, "  %-*s %llu steps", NAME, "work", (unsigned long long)o->steps);
    if (o->rejected)
        fprintf(f, " (%llu more rejected)", (unsigned long long)o->rejected);
    fprintf(f, ", %llu evaluations, %.3g s\n", (unsigned long long)o->evaluations, r->seconds);
    if (!r->relative || !r->relative->found)
        return;
    double rest;
    const uint64_t k = ns_relative_periods(r->relative, run->t0, o->t, &rest);
    fprintf(f, "  %-*s %.15g s, %llu times; built from one of them and powers of its shift\n",
            NAME, "period", r->relative->period, (unsigned long long)k);
    fprintf(f, "  %-*s at the end about %.1e of the states' sizes\n", NAME, "error",
            ns_relative_error(r->relative, k));
}

/* "(13 digits)", or nothing if they are not known for the end of the run. */
static const char *digits_text(const ns_record *r, uint32_t column, char buffer[32])
{
    const size_t rows = r->table.rows;
    buffer[0] = 0;
    if (!r->digits || !rows || r->table.t[rows - 1] != r->outcome->t)
        return buffer;
    const int digits = ns_digits_at(r, column, rows - 1);
    if (digits < 0)
        snprintf(buffer, 32, "  (digits not known)");
    else
        snprintf(buffer, 32, "  (%d digit%s)", digits, digits == 1 ? "" : "s");
    return buffer;
}

/* With a space or a sign before it; `low`, if given, is what the value lacks. */
static void put_value(char *out, size_t room, double value, const double *low, int digits)
{
    char buffer[64];
    if (isnan(value)) {
        snprintf(out, room, " undefined");
        return;
    }
    if (!low) {
        snprintf(out, room, "% .*g", digits, value);
        return;
    }
    ns_output_precise(buffer, value, *low, NS_PRECISE_DECIMAL);
    snprintf(out, room, "%s%s", signbit(value) ? "" : " ", buffer);
}

/* Does it belong to the vector that begins with `first`, as its component `letter`?  Names have
 * the letter at `at`, perhaps with primes after it. */
static bool is_component(const ns_observable *first, const ns_observable *v, size_t at,
                         char letter)
{
    const char *unit = first->unit ? first->unit : "";
    return strlen(v->name) == strlen(first->name) && strncmp(v->name, first->name, at) == 0 &&
           v->name[at] == letter && strcmp(v->name + at + 1, first->name + at + 1) == 0 &&
           strcmp(v->unit ? v->unit : "", unit) == 0;
}

/* name.x, name.y, name.z, or a quaternion, as one line: how many values it took, 0 if that is
 * not what stands there. */
static uint32_t print_vector(ns_host *host, const ns_record *r, const uint32_t *index,
                             uint32_t left, int width)
{
    const ns_system *s = r->model->system;
    const ns_observable *first = &s->observables.at[index[0]];
    size_t at = strlen(first->name);
    while (at && first->name[at - 1] == '\'')
        at--;
    if (at < 3 || first->name[at - 2] != '.' || !strchr("wx", first->name[at - 1]))
        return 0;
    at--;
    const char *letters = first->name[at] == 'w' ? "wxyz" : "xyz";
    const uint32_t n = (uint32_t)strlen(letters);
    for (uint32_t k = 0; k < n; k++)
        if (k >= left || !is_component(first, &s->observables.at[index[k]], at, letters[k]))
            return 0;
    char unit[64];
    const char *name = ns_arena_format(host->arena, "%.*s%s", (int)at - 1, first->name,
                                       first->name + at + 1);
    fprintf(host->out, "  %-*s [", width, name);
    for (uint32_t k = 0; k < n; k++) {
        char number[72];
        put_value(number, sizeof number, r->last[index[k]], NULL, 12);
        fprintf(host->out, "%s%s", k ? ", " : "", number);
    }
    fprintf(host->out, " ]%s\n", ns_summary_unit(first->unit, unit));
    return n;
}

static void print_final(ns_host *host, const ns_record *r, const ns_shown *shown, bool verbose)
{
    const bool together = !verbose && !r->digits && !r->low.rows && shown->n > MOST_SINGLE;
    const ns_system *s = r->model->system;
    char title[64], unit[64];
    int width = NAME;
    for (uint32_t i = 0; i < shown->n; i++)
        width = ns_style_wider(width, s->observables.at[shown->at[i]].name);
    snprintf(title, sizeof title, "At t = %.15g s", r->outcome->t);
    ns_style_heading(host->out, &host->style_out, title);
    for (uint32_t i = 0; i < shown->n; i++) {
        const ns_observable *v = &s->observables.at[shown->at[i]];
        char number[72], digits[32];
        const uint32_t taken = together
                                   ? print_vector(host, r, shown->at + i, shown->n - i, width)
                                   : 0;
        if (taken) {
            i += taken - 1;
            continue;
        }
        put_value(number, sizeof number, r->last[shown->at[i]],
                  r->low.rows ? r->last_low + shown->at[i] : NULL, 15);
        digits_text(r, shown->at[i], digits);
        if (v->unit && *v->unit)
            fprintf(host->out, "  %-*s %-*s%-*s%s\n", width, v->name, r->low.rows ? 39 : 22,
                    number, *digits ? 8 : 0, ns_summary_unit(v->unit, unit), digits);
        else
            fprintf(host->out, "  %-*s %-*s%s\n", width, v->name,
                    !*digits      ? 0
                    : r->low.rows ? 47
                                  : 30,
                    number, digits);
    }
}

/* Rows of one constraint, and of its derivative: pin.1, pin.2, pin.1', ... */
typedef struct family {
    const char *name;
    uint32_t rows, place;
    double worst;
} family;

enum { MOST_FAMILIES = 8, SHOWN_FAMILIES = 5 };

/* The name without primes and without the number or letter of a component. */
static size_t stem_of(const char *name)
{
    size_t n = strlen(name);
    while (n && name[n - 1] == '\'')
        n--;
    size_t dot = n;
    while (dot && isdigit((unsigned char)name[dot - 1]))
        dot--;
    if (dot == n && n > 1 && strchr("xyz", name[n - 1]))
        dot--;
    return dot > 1 && dot < n && name[dot - 1] == '.' ? dot - 1 : n;
}

static int by_worst(const void *a, const void *b)
{
    const family *p = a, *q = b;
    if (p->worst != q->worst)
        return p->worst > q->worst ? -1 : 1;
    return p->place < q->place ? -1 : 1;
}

/* In the order of the model if they are few or all are asked for, otherwise the worst first. */
static const family *families(ns_arena *arena, const ns_record *r, bool all, uint32_t *n)
{
    const ns_system *s = r->model->system;
    const double *residual = r->outcome->residual;
    family *f = NS_NEW_ARRAY(arena, family, s->constraints.n + 1);
    *n = 0;
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        const char *name = s->constraints.at[i].name;
        const size_t length = all ? strlen(name) : stem_of(name);
        uint32_t k = 0;
        while (k < *n && (strlen(f[k].name) != length || strncmp(f[k].name, name, length) != 0))
            k++;
        if (k == *n)
            f[(*n)++] = (family){.name = ns_arena_string(arena, name, length), .place = k};
        f[k].rows++;
        if (!(residual[i] <= f[k].worst))
            f[k].worst = residual[i];
    }
    if (!all && *n > MOST_FAMILIES)
        qsort(f, *n, sizeof *f, by_worst);
    return f;
}

static void print_quality(ns_host *host, const ns_record *r, bool verbose)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = r->outcome;
    const bool energy = isfinite(o->energy_drift);
    if (!energy && !s->constraints.n && !s->invariants.n)
        return;
    uint32_t n;
    const family *f = families(host->arena, r, verbose, &n);
    const uint32_t shown = !verbose && n > MOST_FAMILIES ? SHOWN_FAMILIES : n;
    int width = NAME;
    for (uint32_t i = 0; i < shown; i++)
        width = ns_style_wider(width, f[i].name);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        width = ns_style_wider(width, s->invariants.at[i].name);
    ns_style_heading(host->out, &host->style_out, "Quality");
    if (energy)
        fprintf(host->out, "  %-*s %-10.2g %s\n", width, "energy", o->energy_drift,
                s->conservative ? "largest relative change"
                                : "largest relative change: not conserved, forces do work");
    for (uint32_t i = 0; i < shown; i++)
        if (f[i].rows > 1)
            fprintf(host->out, "  %-*s %-10.2g constraint, largest residual of %u rows\n",
                    width, f[i].name, f[i].worst, f[i].rows);
        else
            fprintf(host->out, "  %-*s %-10.2g constraint, largest residual\n", width,
                    f[i].name, f[i].worst);
    if (shown < n)
        fprintf(host->out,
                "  and %u more constraints, %u rows in all: none is worse (--verbose)\n",
                n - shown, s->constraints.n);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        fprintf(host->out, "  %-*s %-10.2g invariant, largest relative change\n", width,
                s->invariants.at[i].name, o->drift[i]);
}

static void print_trust(ns_host *host, const ns_record *r)
{
    char text[300];
    if (!r->trust)
        return;
    ns_trust_text(r, text, sizeof text);
    ns_style_heading(host->out, &host->style_out, "Trust in the trajectory");
    fprintf(host->out, "  %s\n", text);
}

static void print_ranks(ns_host *host, const ns_outcome *o)
{
    if (!o->rank_coordinates)
        return;
    char range[32];
    if (o->rank_A[0] == o->rank_A[1])
        snprintf(range, sizeof range, "%u", o->rank_A[0]);
    else
        snprintf(range, sizeof range, "%u to %u", o->rank_A[0], o->rank_A[1]);
    fprintf(host->out,
            "  %-*s A: %s of %u rows; [M | A^T]: %u of %u coordinates, at every step\n", NAME,
            "rank", range, o->rank_rows, o->rank_all[0], o->rank_coordinates);
}

static void print_events(ns_host *host, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const size_t n = r->events.rows;
    if (!n)
        return;
    int width = NAME;
    for (uint32_t i = 0; i < s->events.n; i++)
        width = ns_style_wider(width, s->events.at[i].name);
    ns_style_heading(host->out, &host->style_out, "Events");
    for (size_t i = 0; i < n && i < MOST_EVENTS; i++) {
        const ns_occurrence *e = &r->outcome->events[i];
        fprintf(host->out, "  %-*s t = %-20.15g %s\n", width, s->events.at[e->event].name, e->t,
                e->direction < 0 ? "falling" : "rising");
    }
    if (n > MOST_EVENTS)
        fprintf(host->out, "  and %zu more (--json or --out has all of them)\n",
                n - MOST_EVENTS);
}

void ns_summary_print(ns_host *host, const ns_record *r, const ns_shown *shown, bool verbose)
{
    print_head(host, r);
    print_final(host, r, shown, verbose);
    print_quality(host, r, verbose);
    print_ranks(host, r->outcome);
    print_trust(host, r);
    print_events(host, r);
    if (r->options.n_outputs) {
        ns_style_heading(host->out, &host->style_out, "Written");
        for (size_t i = 0; i < r->n_files; i++) {
            const ns_output *file = &r->files[i];
            const char *failed = file->failed ? ", incomplete" : "";
            if (file->failed && (file->format->needs_motion || !file->rows))
                continue; /* there is none */
            if (file->format->needs_motion)
                fprintf(host->out, "  %s (%s)%s\n", file->path,
                        file->format->needs_scene ? "scene" : "picture", failed);
            else
                fprintf(host->out, "  %s (%zu %s)%s\n", file->path, file->rows,
                        file->rows == 1 ? "row" : "rows", failed);
        }
    }
}

void ns_summary_rows(ns_host *host, const ns_record *r, const ns_shown *shown)
{
    const int width = r->low.rows ? 39 : 19;
    const ns_system *s = r->model->system;
    FILE *f = host->out;
    char number[72];
    fprintf(f, "%s%-*s", host->style_out.bold, shown->n ? width - 1 : 0, "t");
    for (uint32_t i = 0; i < shown->n; i++)
        fprintf(f, "  %-*s", i + 1 < shown->n ? width : 0,
                s->observables.at[shown->at[i]].name);
    fprintf(f, "%s\n", host->style_out.plain);
    for (size_t row = 0; row < r->table.rows; row++) {
        snprintf(number, sizeof number, "%.12g", r->table.t[row]);
        fprintf(f, "%-*s", shown->n ? width - 1 : 0, number);
        for (uint32_t i = 0; i < shown->n; i++) {
            put_value(number, sizeof number, ns_table_column(&r->table, shown->at[i])[row],
                      r->low.rows ? ns_table_column(&r->low, shown->at[i]) + row : NULL, 12);
            fprintf(f, " %-*s", i + 1 < shown->n ? width + 1 : 0, number);
        }
        fputc('\n', f);
    }
    fputc('\n', f);
}

/* ---- doubts ------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void warn(ns_host *host, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(host->err, "noslip: %swarning:%s ", host->style_err.yellow, host->style_err.plain);
    vfprintf(host->err, format, list);
    fputc('\n', host->err);
    va_end(list);
}

/* Events with action `warn`: the first time each, and how often. */
static void warn_events(ns_host *host, const ns_record *r)
{
    const ns_system *s = r->model->system;
    for (uint32_t k = 0; k < s->events.n; k++) {
        const ns_event *event = &s->events.at[k];
        size_t count = 0;
        double first = 0;
        for (size_t i = 0; i < r->events.rows; i++)
            if (r->outcome->events[i].event == k && count++ == 0)
                first = r->events.t[i];
        if (!count || event->action != NS_EVENT_WARN)
            continue;
        const char *meaning = event->meaning ? event->meaning : event->name;
        if (count == 1)
            warn(host, "%s at t = %.6g s", meaning, first);
        else
            warn(host, "%s at t = %.6g s, and %zu more %s", meaning, first, count - 1,
                 count == 2 ? "time" : "times");
    }
}

/* Does a contact pull, by more than rounding? */
static bool pulls(const ns_record *r, uint32_t i)
{
    return r->outcome->push_least && r->outcome->push_least[i] < 0;
}

/* Values that are not finite numbers at output times or at the end. */
static void warn_values(ns_host *host, const ns_record *r)
{
    const ns_system *s = r->model->system;
    for (uint32_t i = 0; i < s->observables.n; i++) {
        const double *column = r->table.rows ? ns_table_column(&r->table, i) : NULL;
        size_t count = 0;
        double first = r->outcome->t;
        for (size_t row = 0; row < r->table.rows; row++)
            if (!isfinite(column[row]) && count++ == 0)
                first = r->table.t[row];
        if (!s->observables.at[i].basic || (!count && isfinite(r->last[i])))
            continue;
        if (count > 1)
            warn(host, "the value `%s` is not a finite number at t = %.6g s, and %zu more %s",
                 s->observables.at[i].name, first, count - 1, count == 2 ? "time" : "times");
        else
            warn(host, "the value `%s` is not a finite number at t = %.6g s",
                 s->observables.at[i].name, first);
    }
}

/* Does the model itself call one of the functions with corners?  (Formulations use `sign` where
 * it makes none.) */
static bool calls_corners(const char *text)
{
    static const char *const names[] = {"sign", "abs", "min", "max"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *at = strstr(text, names[i]); at; at = strstr(at + 1, names[i])) {
            const char *end = at + strlen(names[i]);
            const bool begins = at == text || !(isalnum((unsigned char)at[-1]) ||
                                                at[-1] == '_' || at[-1] == '.');
            if (begins && end[strspn(end, " ")] == '(')
                return true;
        }
    return false;
}

/* Do the rates have corners: sign, abs, min or max of states?  Steps end on those of time
 * alone. */
static bool has_corners(ns_arena *arena, const ns_system *s, const char *text)
{
    const ns_graph *g = s->graph;
    if (!calls_corners(text))
        return false;
    const uint32_t n = s->states.n;
    const ns_ex *moves = ns_system_state_symbols(s, arena);
    bool *used = NS_NEW_ARRAY(arena, bool, ns_graph_size(g));
    ns_graph_mark(g, ns_system_state_rates(s, arena), n, used);
    for (ns_ex e = 1, size = ns_graph_size(g); e < size; e++) {
        const ns_op op = ns_graph_op(g, e);
        if (used[e] &&
            (op == NS_OP_SIGN || op == NS_OP_ABS || op == NS_OP_MIN || op == NS_OP_MAX) &&
            ns_graph_depends(g, e, moves, n))
            return true;
    }
    return false;
}

/* A residual in units of the size of its terms, sum |dg/dx x|, where that is above 1: bodies of
 * 1e7 m keep a constraint on lengths to 1e-8 m. */
static double relative(const ns_record *r, uint32_t i)
{
    const ns_model *m = r->model;
    const ns_system *s = ns_system_mode(m->system, ns_run_mode(r->run));
    const uint32_t n = s->states.n;
    const double *x = ns_run_state(r->run);
    ns_ex *G = NS_NEW_ARRAY(s->arena, ns_ex, n + 1);
    double *value = NS_NEW_ARRAY(s->arena, double, n + 1), size = 0;
    ns_diff_gradient(s->graph, s->constraints.at[i].residual,
                     ns_system_state_symbols(s, s->arena), n, G);
    ns_system_eval(s, G, n, ns_run_time(r->run), m->p, x, value);
    for (uint32_t j = 0; j < n; j++)
        size += fabs(value[j] * x[j]);
    return r->outcome->residual[i] / (size > 1 ? size : 1);
}

/* Drifts are measured against the sizes of an invariant's terms, sum |dI/dx x|, which hide a
 * real change where the invariant varies over tiny differences of the state, as cos(1e9*x)
 * does.  If its values differ by more than a doubtful part of themselves, its exact rate
 * decides. */
static bool moves(const ns_record *r, uint32_t i)
{
    const ns_model *m = r->model;
    const double change = r->outcome->change[i];
    return change > doubtful_drift * (fabs(r->outcome->first[i]) + change) &&
           ns_system_drift_rate(m->system, m->system->invariants.at[i].value, m->p, m->x0) >
               1e-10;
}

void ns_summary_warn(ns_host *host, const ns_record *r)
{
    const ns_system *s = r->model->system;
    const ns_outcome *o = r->outcome;
    if (r->status > 0)
        fprintf(host->err, "noslip: %sstopped:%s %s\n", host->style_err.yellow,
                host->style_err.plain, r->message);
    if (host->quiet)
        return;
    warn_events(host, r);
    for (uint32_t i = 0; i < s->pushes.n; i++)
        if (pulls(r, i))
            warn(
                host,
                "contact `%s` would lift off: its normal force is negative from t = %.6g s on, "
                "%.3g N at the least",
                s->pushes.at[i].name, o->push_since[i], o->push_least[i]);
    if (r->status == NS_OK)
        warn_values(host, r);
    if (!(s->conservative && isfinite(o->energy_drift)) && r->method->loses_at_corners &&
        has_corners(host->arena, s, r->model->text))
        warn(host,
             "the equations have corners (sign, abs, min or max), over which %s loses digits; "
             "--method dop853 does not, and --digits says how many are right",
             r->method->name);
    if (s->conservative && o->energy_drift > doubtful_energy)
        warn(host,
             "the energy changed by %.2g of its size, though nothing in the model changes it: "
             "the result is doubtful; try a smaller tolerance or --precision quad",
             o->energy_drift);
    for (uint32_t i = 0; i < s->constraints.n; i++)
        if (!(o->residual[i] <= doubtful_residual) && !(relative(r, i) <= doubtful_residual))
            warn(host, "the constraint `%s` was violated by up to %.2g",
                 s->constraints.at[i].name, o->residual[i]);
    for (uint32_t i = 0; i < s->invariants.n; i++)
        if (!(o->drift[i] <= doubtful_drift))
            warn(host, "the invariant `%s` changed by %.2g of its size: it may be none",
                 s->invariants.at[i].name, o->drift[i]);
        else if (moves(r, i))
            warn(host,
                 "`%s` is not constant: its drift is small only against its sensitivity to "
                 "the state; see `noslip check`",
                 s->invariants.at[i].name);
}
