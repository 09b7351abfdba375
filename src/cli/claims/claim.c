/* Reading and running claims: see claim.h. */
#include "cli/claims/claim.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/math/vecmath.h"
#include "cli/claims/claim_runs.h"
#include "out/plot/plot.h"

typedef struct scan {
    ns_claims_world world;
    const char *at; /* in the text of the expression or statement */
    const char *end;
} scan;

static void wrong(scan *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(scan *s, const char *format, ...)
{
    if (s->world.claim->error)
        return;
    ns_text text = ns_text_new(s->world.arena);
    va_list list;
    va_start(list, format);
    ns_text_addf(&text, "line %u: ", s->world.line);
    ns_text_vaddf(&text, format, list);
    va_end(list);
    s->world.claim->error = ns_text_string(&text);
}

/* ---- words ------------------------------------------------------------------------------- */

static void blanks(scan *s)
{
    while (s->at < s->end && isspace((unsigned char)*s->at))
        s->at++;
}

static bool accept(scan *s, char c)
{
    blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static void expect(scan *s, char c)
{
    if (!accept(s, c))
        wrong(s, "expected '%c' at '%.*s'", c, (int)(s->end - s->at), s->at);
}

/* Up to a blank or one of the characters. */
static const char *word(scan *s, const char *stops)
{
    blanks(s);
    const char *from = s->at;
    while (s->at < s->end && !isspace((unsigned char)*s->at) && !strchr(stops, *s->at))
        s->at++;
    return ns_arena_string(s->world.arena, from, (size_t)(s->at - from));
}

static const char *quoted(scan *s)
{
    expect(s, '"');
    const char *from = s->at;
    while (s->at < s->end && *s->at != '"')
        s->at++;
    const char *text = ns_arena_string(s->world.arena, from, (size_t)(s->at - from));
    expect(s, '"');
    return text;
}

/* ---- expressions ------------------------------------------------------------------------- */

static double expression(scan *s);

static ns_claims_run *run_of(scan *s)
{
    const char *name = word(s, ",()");
    ns_claims_run *run = ns_claims_find(&s->world, name);
    if (!run)
        wrong(s, "there is no run '%s'", name);
    return run;
}

static const char *name_of(scan *s)
{
    expect(s, ',');
    return word(s, ",)");
}

/* Values of the rest of the arguments, an expression, for each run of a series. */
static double over_series(scan *s, const char *what)
{
    const char *name = word(s, ",()");
    expect(s, ',');
    const char *from = s->at;
    ns_claims_series *series = ns_claims_find_series(&s->world, name);
    double xs[64], ys[64], largest = -INFINITY, smallest = INFINITY, last = INFINITY;
    bool falls = true;
    uint32_t n = 0;
    if (!series) {
        wrong(s, "there is no series '%s'", name);
        return (double)NAN;
    }
    for (; n < series->n && n < 64; n++) {
        s->at = from;
        series->present = n;
        const double value = expression(s);
        xs[n] = ns_math_log(fabs(series->value[n]));
        ys[n] = ns_math_log(fabs(value));
        largest = ns_max(largest, value);
        smallest = ns_min(smallest, value);
        falls = falls && value < last;
        last = value;
    }
    if (strcmp(what, "falls") == 0)
        return falls;
    if (strcmp(what, "largest") == 0)
        return largest;
    if (strcmp(what, "smallest") == 0)
        return smallest;
    double mx = 0, my = 0, sxy = 0, sxx = 0;
    for (uint32_t i = 0; i < n; i++) {
        mx += xs[i] / n;
        my += ys[i] / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        sxy += (xs[i] - mx) * (ys[i] - my);
        sxx += (xs[i] - mx) * (xs[i] - mx);
    }
    return sxy / sxx;
}

/* The text of output from the k-th occurrence of a part on; NULL. */
static const char *occurrence(const char *output, const char *part, double k)
{
    const char *found = strstr(output, part);
    for (; found && k >= 1; k--)
        found = strstr(found + 1, part);
    return found;
}

/* has(C, "text"), number(C, "text" [, k]) */
static double of_output(scan *s, bool number)
{
    const char *name = word(s, ",()");
    expect(s, ',');
    const char *text = quoted(s), *output = ns_claims_output(&s->world, name);
    if (!output) {
        wrong(s, "there is no command '%s'", name);
        return (double)NAN;
    }
    const char *found = occurrence(output, text, accept(s, ',') ? expression(s) : 0);
    if (!number)
        return found != NULL;
    if (!found)
        return (double)NAN;
    found += strlen(text);
    while (*found && !isdigit((unsigned char)*found) &&
           !(*found == '-' && isdigit((unsigned char)found[1])))
        found++;
    return strtod(found, NULL);
}

static double of_run(scan *s, const char *function)
{
    ns_claims_run *run = run_of(s);
    if (!run)
        return (double)NAN;
    if (strcmp(function, "circle") == 0) {
        const char *x = name_of(s);
        return ns_claims_circle(&s->world, run, x, name_of(s));
    }
    if (strcmp(function, "differ") == 0) {
        const char *x = name_of(s);
        expect(s, ',');
        ns_claims_run *other = run_of(s);
        const char *y = name_of(s);
        return other ? ns_claims_differ(&s->world, run, x, other, y) : (double)NAN;
    }
    const char *name = accept(s, ',') ? word(s, ",)") : NULL;
    double extra = 0;
    if (strcmp(function, "when") == 0) {
        const char *value = name_of(s);
        if (accept(s, ','))
            extra = expression(s);
        return ns_claims_when(&s->world, run, name, value, extra);
    }
    if (accept(s, ','))
        extra = expression(s);
    return ns_claims_value(&s->world, run, function, name, extra);
}

static double call(scan *s, const char *function)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } plain[] = {{"sqrt", sqrt},       {"sin", ns_math_sin}, {"cos", ns_math_cos},
                 {"tan", ns_math_tan}, {"exp", ns_math_exp}, {"log", ns_math_log},
                 {"abs", fabs}};
    double value = (double)NAN;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i].name, function) == 0) {
            value = plain[i].f(expression(s));
            expect(s, ')');
            return value;
        }
    if (strcmp(function, "order") == 0 || strcmp(function, "largest") == 0 ||
        strcmp(function, "smallest") == 0 || strcmp(function, "falls") == 0)
        value = over_series(s, function);
    else if (strcmp(function, "has") == 0 || strcmp(function, "number") == 0)
        value = of_output(s, function[0] == 'n');
    else if (ns_claims_knows(function))
        value = of_run(s, function);
    else
        wrong(s, "there is no function '%s'", function);
    expect(s, ')');
    return value;
}

static double primary(scan *s)
{
    if (accept(s, '-'))
        return -primary(s);
    double value;
    if (accept(s, '(')) {
        value = expression(s);
        expect(s, ')');
    } else {
        blanks(s);
        if (s->at < s->end && (isdigit((unsigned char)*s->at) || *s->at == '.')) {
            char *after;
            value = strtod(s->at, &after);
            s->at = after;
        } else {
            const char *name = word(s, "()+-*/^,<>=");
            if (accept(s, '('))
                value = call(s, name);
            else if (strcmp(name, "pi") == 0)
                value = 3.141592653589793;
            else {
                wrong(s, "expected a number or a function, found '%s'", name);
                return (double)NAN;
            }
        }
    }
    return accept(s, '^') ? ns_math_pow(value, primary(s)) : value;
}

static double product(scan *s)
{
    double value = primary(s);
    for (;;) {
        if (accept(s, '*'))
            value *= primary(s);
        else if (accept(s, '/'))
            value /= primary(s);
        else
            return value;
    }
}

static double expression(scan *s)
{
    double value = product(s);
    for (;;) {
        if (accept(s, '+'))
            value += product(s);
        else if (accept(s, '-'))
            value -= product(s);
        else
            return value;
    }
}

/* ---- statements -------------------------------------------------------------------------- */

static void read_expect(scan *s)
{
    const char *label = quoted(s);
    expect(s, ':');
    ns_claim_result r = {.label = label};
    r.obtained = expression(s);
    blanks(s);
    const char sign = s->at < s->end ? *s->at++ : '\0';
    const double wanted = expression(s);
    if (sign == '<' || sign == '>') {
        r.holds = sign == '<' ? r.obtained < wanted : r.obtained > wanted;
        r.text = ns_arena_format(s->world.arena, "%s %.6g", sign == '<' ? "below" : "above",
                                 wanted);
    } else if (sign == '=') {
        if (strcmp(word(s, ""), "within") != 0)
            wrong(s, "expected `within TOLERANCE`");
        const double tolerance = expression(s);
        r.holds = fabs(r.obtained - wanted) <= tolerance;
        r.text = ns_arena_format(s->world.arena, "%.12g within %.1e", wanted, tolerance);
    } else {
        wrong(s, "expected =, < or > behind the first expression");
        return;
    }
    NS_PUSH(s->world.arena, s->world.claim->results, r);
}

static void read_refuse(scan *s)
{
    const char *name = word(s, ":");
    expect(s, ':');
    const char *model = word(s, ""), *part = quoted(s);
    const char *messages = ns_claims_messages(&s->world, model);
    const bool refused = messages && strstr(messages, part);
    ns_claim_result r = {.label = name, .holds = refused, .obtained = refused};
    r.text = ns_arena_format(s->world.arena, "refused: %s", part);
    NS_PUSH(s->world.arena, s->world.claim->results, r);
}

static void read_run(scan *s, bool series)
{
    const char *name = word(s, ":");
    expect(s, ':');
    const char *model = word(s, "");
    ns_claims_setting settings[16];
    uint32_t n = 0;
    for (blanks(s); s->at < s->end && n < 16; blanks(s)) {
        settings[n].name = word(s, "=");
        expect(s, '=');
        settings[n++].value = word(s, "");
    }
    if (!s->world.claim->error && !s->world.head &&
        !ns_claims_start(&s->world, name, model, settings, n, series))
        wrong(s, "%s", s->world.why);
}

static void read_command(scan *s)
{
    const char *name = word(s, ":");
    expect(s, ':');
    char *words[32];
    int n = 0;
    for (blanks(s); s->at < s->end && n < 32; blanks(s)) {
        const char *text = *s->at == '"' ? quoted(s) : word(s, "");
        const bool figure = strncmp(text, "figures/", 8) == 0;
        if (figure && !s->world.folder)
            n -= n > 0; /* with the option it belongs to */
        else if (figure)
            words[n++] = ns_arena_format(s->world.arena, "%s%s", s->world.folder, text + 7);
        else
            words[n++] = ns_arena_string(s->world.arena, text, strlen(text));
    }
    if (!ns_claims_command(&s->world, name, n, words))
        wrong(s, "%s", s->world.why);
}

static void write_figure(scan *s, const ns_plot *plot, const char *file)
{
    if (!s->world.folder)
        return;
    const int error = ns_plot_write(
        plot, ns_arena_format(s->world.arena, "%s/%s", s->world.folder, file));
    if (error)
        wrong(s, "%s/%s: %s", s->world.folder, file, strerror(error));
}

/* One line of a figure: of a run, or of run k of a series, under the value of its parameter. */
static bool draw(scan *s, ns_plot *plot, ns_plot_panel **panel, const char *name, const char *x,
                 const char *y, ns_claims_series *series, uint32_t k)
{
    if (series)
        series->present = k;
    ns_claims_run *run = ns_claims_find(&s->world, name);
    const double *xs = run ? ns_claims_samples(&s->world, run, x) : NULL;
    const double *ys = run ? ns_claims_samples(&s->world, run, y) : NULL;
    if (!run)
        wrong(s, "there is no run '%s'", name);
    else if (!xs || !ys)
        wrong(s, "run '%s' has no value '%s'", name, xs ? y : x);
    if (!xs || !ys)
        return false;
    const char *unit_x = ns_claims_unit(run, x), *unit_y = ns_claims_unit(run, y);
    if (!*panel) {
        *panel = ns_plot_add(plot, "", x, unit_x, y, unit_y);
        (*panel)->equal = unit_x && unit_y && *unit_x &&
                          strcmp(unit_x, unit_y) == 0; /* a path */
    }
    const bool first_other = *(*panel)->y.label && strcmp((*panel)->y.label, y) != 0;
    for (uint32_t i = 0; first_other && i < (*panel)->series.n; i++)
        (*panel)->series.at[i]->name =
            (*panel)->y.label; /* several values: these are the names */
    if (first_other)
        (*panel)->y.label = "";
    const char *label = *(*panel)->y.label ? name : y;
    if (series)
        label = ns_arena_format(s->world.arena, "%s = %g", series->parameter, series->value[k]);
    ns_plot_line(*panel, label, run->n, xs, ys);
    return true;
}

static void read_figure(scan *s)
{
    const char *file = word(s, ""), *title = quoted(s);
    expect(s, ':');
    ns_plot *plot = ns_plot_new(s->world.arena, title);
    ns_plot_panel *panel = NULL;
    do {
        const char *name = word(s, ","), *x = word(s, ","), *y = word(s, ",");
        ns_claims_series *series = ns_claims_find_series(&s->world, name);
        for (uint32_t k = 0; k < (series ? series->n : 1); k++)
            if (!draw(s, plot, &panel, name, x, y, series, k))
                return;
    } while (accept(s, ','));
    if (panel && panel->series.n == 1)
        panel->series.at[0]->name = NULL; /* nothing to tell apart */
    write_figure(s, plot, file);
}

/* chart FILE "title": SERIES "label" EXPR [, SERIES "label" EXPR]...   values over the
 * parameter */
static void read_chart(scan *s)
{
    const char *file = word(s, ""), *title = quoted(s);
    expect(s, ':');
    ns_plot *plot = ns_plot_new(s->world.arena, title);
    ns_plot_panel *panel = NULL;
    do {
        const char *name = word(s, ","), *label = quoted(s), *from = s->at;
        ns_claims_series *series = ns_claims_find_series(&s->world, name);
        if (!series) {
            wrong(s, "there is no series '%s'", name);
            return;
        }
        double *y = NS_NEW_ARRAY(s->world.arena, double, series->n);
        for (uint32_t k = 0; k < series->n; k++) {
            s->at = from;
            series->present = k;
            y[k] = expression(s);
        }
        if (!panel) {
            panel = ns_plot_add(plot, "", series->parameter, "", "", "");
            panel->x.log = panel->y.log = true;
        }
        ns_plot_line(panel, label, series->n, series->value, y)->marker = NS_PLOT_CIRCLE;
    } while (accept(s, ','));
    write_figure(s, plot, file);
}

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* model NAME <<  lines  >> ; returns where the text goes on */
static const char *read_model(scan *s, const char *next)
{
    const char *name = word(s, ""), *from = next;
    if (strcmp(word(s, ""), "<<") != 0)
        wrong(s, "expected << behind the name of the model");
    while (*next && strncmp(next, ">>", 2) != 0) {
        next = next_line(next);
        s->world.line++;
    }
    ns_claims_model(&s->world, name,
                    ns_arena_string(s->world.arena, from, (size_t)(next - from)));
    s->world.line++;
    return next_line(next);
}

static void read(ns_cli *cli, ns_arena *arena, const struct ns_claim_entry *entry,
                 const char *folder, bool head, ns_claim_report *out)
{
    *out = (ns_claim_report){.name = entry->name, .title = "", .source = ""};
    scan s = {
        .world = {.cli = cli, .arena = arena, .folder = folder, .head = head, .claim = out}};
    for (const char *line = entry->text, *next; *line && !out->error; line = next) {
        s.world.line++;
        next = next_line(line);
        s.at = line;
        s.end = next;
        const char *key = word(&s, "");
        if (!*key || *key == '#')
            continue;
        if (strcmp(key, "title") == 0) {
            out->title = quoted(&s);
        } else if (strcmp(key, "source") == 0) {
            blanks(&s);
            out->source = ns_arena_string(arena, s.at, (size_t)(s.end - s.at) - 1);
        } else if (strcmp(key, "slow") == 0) {
            out->slow = true;
        } else if (strcmp(key, "model") == 0) {
            next = read_model(&s, next);
        } else if (head) {
            continue;
        } else if (strcmp(key, "run") == 0) {
            read_run(&s, false);
        } else if (strcmp(key, "series") == 0) {
            read_run(&s, true);
        } else if (strcmp(key, "refuse") == 0) {
            read_refuse(&s);
        } else if (strcmp(key, "command") == 0) {
            read_command(&s);
        } else if (strcmp(key, "expect") == 0) {
            read_expect(&s);
        } else if (strcmp(key, "figure") == 0) {
            read_figure(&s);
        } else if (strcmp(key, "chart") == 0) {
            read_chart(&s);
        } else {
            wrong(&s, "unknown statement '%s'", key);
        }
    }
    ns_claims_free(&s.world);
}

void ns_claim_head(ns_arena *arena, const struct ns_claim_entry *entry, ns_claim_report *out)
{
    read(NULL, arena, entry, NULL, true, out);
}

void ns_claim_run(ns_cli *cli, ns_arena *arena, const struct ns_claim_entry *entry,
                  const char *folder, ns_claim_report *out)
{
    read(cli, arena, entry, folder, false, out);
}
