/* noslip brackets: are the constraints holonomic? */
#include "study/control/brackets.h"

#include <string.h>

#include "base/text.h"
#include "command/study.h"
#include "expr/normal/shorten.h"
#include "expr/print/print.h"

enum { LONGEST = 60 }; /* characters of a component that is printed */

/* Would it print to a few characters?  Every node written out is one at least. */
static bool is_short(ns_arena *arena, const ns_graph *g, ns_ex e)
{
    double *size = NS_NEW_ARRAY(arena, double, (size_t)e + 1); /* as a tree */
    bool *used = NS_NEW_ARRAY(arena, bool, ns_graph_size(g));
    ns_graph_mark(g, &e, 1, used);
    for (ns_ex k = 1; k <= e; k++) {
        const ns_ex *args = ns_graph_args(g, k);
        size[k] = 1;
        for (uint32_t i = 0; used[k] && i < ns_graph_node(g, k)->n; i++)
            size[k] += size[args[i]];
    }
    return size[e] <= LONGEST;
}

/* Components that are not zero, as long as they are short: "cos(phi) d/dx + ...". */
static const char *field_text(ns_host *host, const ns_model *model, const ns_brackets *b,
                              const ns_bracket *field)
{
    ns_text out = ns_text_new(host->arena);
    for (uint32_t i = 0; i < b->n; i++) {
        const ns_ex e = ns_shorten(model->system->graph, field->field[i]);
        if (ns_graph_is_zero(model->system->graph, e))
            continue;
        ns_text component = ns_text_new(host->arena);
        const bool few = is_short(host->arena, model->system->graph, e);
        if (few)
            ns_print_text(model->system->graph, e, &component);
        const char *text = ns_text_string(&component);
        if (!few || component.length > LONGEST)
            text = "...";
        ns_text_addf(&out, "%s%s: %s", out.length ? ", " : "",
                     model->system->states.at[b->state[i]].name, text);
    }
    return ns_text_string(&out);
}

static const char *growth_text(ns_arena *arena, const ns_flag *f)
{
    ns_text out = ns_text_new(arena);
    for (uint32_t i = 0; i < f->growth.n; i++)
        ns_text_addf(&out, "%s%u", i ? ", " : "(", f->growth.at[i]);
    ns_text_addf(&out, ")");
    return ns_text_string(&out);
}

/* The first invariant of a distribution that grows as (2, 3, 5). */
static void print_cartan(ns_host *host, const ns_cartan *c)
{
    if (!c)
        return;
    ns_style_heading(host->out, &host->style_out, "Cartan's quartic at the start");
    const double *f = c->form;
    fprintf(host->out, "  %-22s %.12g, %.12g, %.12g, %.12g, %.12g\n", "coefficients", f[0],
            f[1], f[2], f[3], f[4]);
    fprintf(host->out, "  %-22s %.1e\n", "of its terms at most", c->size);
    fprintf(host->out, "  %s\n",
            c->flat
                ? "it vanishes: the symmetries are the exceptional group G2, of 14 dimensions"
                : "it does not vanish: there are fewer symmetries than those of G2");
}

static void print(ns_host *host, const ns_model *model, const ns_brackets *b)
{
    const ns_flag *f = &b->general;
    ns_study_title(host, model, "Brackets");
    fprintf(host->out, "  %-22s %u, in %u variables\n", "configurations", f->dimension, b->n);
    fprintf(host->out, "  %-22s %s\n", "growth vector", growth_text(host->arena, f));
    const char *start = growth_text(host->arena, &b->start);
    fprintf(host->out, "  %-22s %s%s\n", "at the start", start,
            strcmp(start, growth_text(host->arena, f)) != 0 ? ": a singular configuration"
                                                            : "");
    fprintf(host->out, "  %-22s %.1e | %.1e\n", "least new, most old", f->least, f->most);
    ns_style_heading(host->out, &host->style_out, "Fields that add a direction");
    for (uint32_t i = 0; i < f->fields.n; i++)
        fprintf(host->out, "  %-22s %s\n", f->fields.at[i].name,
                field_text(host, model, b, &f->fields.at[i]));
    for (uint32_t i = 0; b->integrals && i < b->integrals->found.n; i++) {
        if (i == 0)
            ns_style_heading(host->out, &host->style_out, "Constant");
        fprintf(host->out, "  %s\n", b->integrals->found.at[i]->text);
    }
    ns_style_heading(host->out, &host->style_out, "Conclusion");
    fprintf(host->out, "  %s\n", ns_brackets_verdict(host->arena, b));
    print_cartan(host, b->cartan);
}

static void add_growth(ns_sheet *sheet, const char *name, const ns_flag *f)
{
    ns_sheet_table *t = ns_sheet_add(sheet, name, f->growth.n);
    double *dimension = ns_sheet_numbers(sheet, t, "dimension", "");
    for (uint32_t i = 0; i < f->growth.n; i++)
        dimension[i] = f->growth.at[i];
}

static ns_sheet *make_sheet(ns_host *host, const ns_model *model, const ns_brackets *b)
{
    const ns_flag *f = &b->general;
    ns_sheet *sheet = ns_sheet_new(host->arena, "brackets", model->description->title);
    ns_sheet_text(sheet, "verdict", ns_brackets_verdict(host->arena, b));
    ns_sheet_number(sheet, "configurations", f->dimension);
    ns_sheet_number(sheet, "reached", f->fields.n);
    ns_sheet_number(sheet, "degree", f->growth.n);
    ns_sheet_number(sheet, "start", b->start.fields.n);
    ns_sheet_number(sheet, "least_new", f->least);
    ns_sheet_number(sheet, "most_old", f->most);
    if (b->cartan) {
        ns_sheet_number(sheet, "cartan", b->cartan->size);
        ns_sheet_number(sheet, "cartan_off", b->cartan->off);
        ns_sheet_number(sheet, "cartan_flat", b->cartan->flat);
        double *form = ns_sheet_numbers(sheet, ns_sheet_add(sheet, "quartic", 5), "coefficient",
                                        "");
        for (uint32_t i = 0; i < 5; i++)
            form[i] = b->cartan->form[i];
    }
    add_growth(sheet, "growth", f);
    add_growth(sheet, "growth_at_start", &b->start);
    ns_sheet_table *t = ns_sheet_add(sheet, "fields", f->fields.n);
    const char **name = ns_sheet_words(sheet, t, "name");
    double *level = ns_sheet_numbers(sheet, t, "level", "");
    const char **text = ns_sheet_words(sheet, t, "field");
    for (uint32_t i = 0; i < f->fields.n; i++) {
        name[i] = f->fields.at[i].name;
        level[i] = f->fields.at[i].level;
        text[i] = field_text(host, model, b, &f->fields.at[i]);
    }
    const uint32_t found = b->integrals ? b->integrals->found.n : 0;
    t = ns_sheet_add(sheet, "integrals", found);
    name = ns_sheet_words(sheet, t, "integral");
    for (uint32_t i = 0; i < found; i++)
        name[i] = b->integrals->found.at[i]->text;
    return sheet;
}

static int brackets(ns_host *host, const ns_arguments *a)
{
    int status = 0;
    ns_model *model = NULL;
    ns_flow *flow = NULL;
    uint32_t depth = NS_BRACKETS_DEPTH;
    const char *message;
    if (!ns_study_count(host, a, "depth", 1, &depth))
        return 2;
    if (!ns_study_open(host, a, false, &model, &flow, &status))
        return status;
    ns_study_progress progress = ns_study_progress_new(host, "brackets", 1);
    const ns_integrals_options o = {.run = ns_model_run_options(model),
                                    .progress = ns_study_progress_draw,
                                    .context = &progress};
    const ns_brackets *b = ns_brackets_find(host->arena, flow, &o, model->x0, depth, &message);
    ns_study_progress_end(&progress);
    if (!b) {
        ns_command_refuse(host, "%s", message);
    } else {
        if (ns_study_prints(host, a))
            print(host, model, b);
        status = ns_study_finish(host, a, model, make_sheet(host, model, b), NULL);
    }
    ns_model_free(model);
    return status;
}

static const ns_option options[] = {
    {.name = "depth", .argument = "N", .help = "brackets of up to N fields (8)"},
    NS_STUDY_OPTIONS,
    {0},
};

const ns_command ns_command_brackets = {
    .name = "brackets",
    .summary = "Are the constraints holonomic? The growth vector by iterated Lie brackets",
    .usage = "MODEL [--depth N]",
    .doc =
        "The velocities that the constraints allow span a distribution on the space of\n"
        "configurations.  Its fields and their iterated brackets, by exact derivatives, give\n"
        "the growth vector at the start and at a configuration in general position.  If it\n"
        "grows to the dimension of the space, the system is completely nonholonomic: it can\n"
        "be steered from any configuration to any other near it.  If it does not grow at all,\n"
        "the constraints are holonomic in disguise; between the two, integrals of the\n"
        "configuration are left, which are searched for among polynomials, sines and cosines.\n"
        "Lengths of arrows do not matter: a vertical disk has (2, 3, 4).  Where the growth\n"
        "vector is (2, 3, 5) in five coordinates, Cartan's quartic is evaluated; if it\n"
        "vanishes, as for balls that roll on each other without twist with radii as 3 to 1,\n"
        "the symmetries are the exceptional group G2.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = brackets,
};
