/* Running claims, statement by statement: see claim.h. */
#include "command/claims/claim.h"

#include <math.h>
#include <string.h>

#include "command/claims/claim_runs.h"
#include "out/plot/plot.h"

static void expect(ns_claims_world *w, const ns_claim_statement *s)
{
    ns_claim_result r = {.label = s->text, .obtained = ns_formula_value(&w->words, &s->left)};
    const double wanted = ns_formula_value(&w->words, &s->right);
    if (s->sign == '=') {
        const double tolerance = ns_formula_value(&w->words, &s->tolerance);
        r.holds = fabs(r.obtained - wanted) <= tolerance;
        r.text = ns_arena_format(w->arena, "%.12g within %.1e", wanted, tolerance);
    } else {
        r.holds = s->sign == '<' ? r.obtained < wanted : r.obtained > wanted;
        r.text = ns_arena_format(w->arena, "%s %.6g", s->sign == '<' ? "below" : "above",
                                 wanted);
    }
    if (!w->claim->diag->errors)
        NS_PUSH(w->arena, w->claim->results, r);
}

static void refuse(ns_claims_world *w, const ns_claim_statement *s)
{
    const char *messages = ns_claims_messages(w, &s->model);
    const bool refused = messages && strstr(messages, s->text);
    const ns_claim_result r = {.label = s->name.text,
                               .holds = refused,
                               .obtained = refused,
                               .text = ns_arena_format(w->arena, "refused: %s", s->text)};
    NS_PUSH(w->arena, w->claim->results, r);
}

/* ---- figures ----------------------------------------------------------------------------- */

static void write_figure(ns_claims_world *w, const ns_plot *plot, const ns_claim_word *file)
{
    if (!ns_claims_inside(file->text)) {
        ns_diag_error(w->claim->diag, file->place, "a figure stays in its folder");
        return;
    }
    if (!w->folder)
        return;
    const char *path = ns_arena_format(w->arena, "%s/%s", w->folder, file->text);
    const int error = ns_plot_write(plot, path);
    if (error)
        ns_diag_error(w->claim->diag, file->place, "%s: %s", path, strerror(error));
}

/* One line of a figure: of a run, or of run k of a series, under the value of its parameter. */
static bool draw(ns_claims_world *w, ns_plot *plot, ns_plot_panel **panel,
                 const ns_claim_curve *c, ns_claims_series *series, uint32_t k)
{
    if (series)
        series->present = k;
    const ns_claims_run *run = ns_claims_find(w, &c->of);
    const double *xs = run ? ns_claims_samples(w, run, c->of.place, c->x) : NULL;
    const double *ys = xs ? ns_claims_samples(w, run, c->of.place, c->y) : NULL;
    if (!ys)
        return false;
    const char *unit_x = ns_claims_unit(run, c->x), *unit_y = ns_claims_unit(run, c->y);
    if (!*panel) {
        *panel = ns_plot_add(plot, "", c->x, unit_x, c->y, unit_y);
        (*panel)->equal = unit_x && unit_y && *unit_x &&
                          strcmp(unit_x, unit_y) == 0; /* a path */
    }
    ns_plot_panel *p = *panel;
    if (*p->y.label && strcmp(p->y.label, c->y) != 0) {
        /* several values: they name the lines */
        for (uint32_t i = 0; i < p->series.n; i++)
            p->series.at[i]->name = p->y.label;
        p->y.label = "";
    }
    const char *label = *p->y.label ? c->of.text : c->y;
    if (series)
        label = ns_arena_format(w->arena, "%s = %g", series->parameter, series->value[k]);
    ns_plot_line(p, label, run->n, xs, ys);
    return true;
}

static void figure(ns_claims_world *w, const ns_claim_statement *s)
{
    ns_plot *plot = ns_plot_new(w->arena, s->text);
    ns_plot_panel *panel = NULL;
    for (uint32_t i = 0; i < s->curves.n; i++) {
        const ns_claim_curve *c = &s->curves.at[i];
        ns_claims_series *series = ns_claims_is_series(w, c->of.text)
                                       ? ns_claims_find_series(w, &c->of)
                                       : NULL;
        for (uint32_t k = 0; k < (series ? series->n : 1); k++)
            if (!draw(w, plot, &panel, c, series, k))
                return;
    }
    if (panel && panel->series.n == 1)
        panel->series.at[0]->name = NULL; /* nothing to tell apart */
    write_figure(w, plot, &s->name);
}

static void chart(ns_claims_world *w, const ns_claim_statement *s)
{
    ns_plot *plot = ns_plot_new(w->arena, s->text);
    ns_plot_panel *panel = NULL;
    for (uint32_t i = 0; i < s->curves.n; i++) {
        const ns_claim_curve *c = &s->curves.at[i];
        ns_claims_series *series = ns_claims_find_series(w, &c->of);
        if (!series)
            return;
        double *y = NS_NEW_ARRAY(w->arena, double, series->n);
        for (series->present = 0; series->present < series->n; series->present++)
            y[series->present] = ns_formula_value(&w->words, &c->value);
        series->present = series->n - 1;
        if (!panel) {
            panel = ns_plot_add(plot, "", series->parameter, "", "", "");
            panel->x.log = panel->y.log = true;
        }
        ns_plot_line(panel, c->label, series->n, series->value, y)->marker = NS_PLOT_CIRCLE;
    }
    write_figure(w, plot, &s->name);
}

/* ---- statements -------------------------------------------------------------------------- */

static void do_statement(ns_claims_world *w, const ns_claim_statement *s)
{
    switch (s->kind) {
    case NS_CLAIM_MODEL:
        NS_PUSH(w->arena, w->models, (ns_claims_text){s->name.text, s->text});
        break;
    case NS_CLAIM_RUN:
    case NS_CLAIM_SERIES:
        ns_claims_start(w, s);
        break;
    case NS_CLAIM_REFUSE:
        refuse(w, s);
        break;
    case NS_CLAIM_COMMAND:
        ns_claims_command(w, s);
        break;
    case NS_CLAIM_EXPECT:
        expect(w, s);
        break;
    case NS_CLAIM_FIGURE:
        figure(w, s);
        break;
    case NS_CLAIM_CHART:
        chart(w, s);
        break;
    }
}

void ns_claim_run(ns_host *host, ns_claim *claim, const char *folder)
{
    ns_claims_world w = {.host = host, .arena = claim->arena, .folder = folder, .claim = claim};
    w.words = (ns_formula_world){.diag = claim->diag,
                                 .arena = claim->arena,
                                 .functions = ns_claims_functions,
                                 .context = &w};
    for (uint32_t i = 0; i < claim->statements.n && !claim->diag->errors; i++)
        do_statement(&w, &claim->statements.at[i]);
    ns_claims_free(&w);
}
