/* noslip equations: the derived equations, as text that the model language reads or as LaTeX. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "cli/open.h"
#include "expr/print.h"

typedef struct page {
    ns_cli *cli;
    const ns_system *system;
    ns_print_style style;
    const ns_shared *shared;
    ns_text text;
} page;

/* All expressions that are printed: what the formulation shows, then the rates. */
static const ns_shared *share(ns_cli *cli, const ns_system *s)
{
    const size_t n = s->equations.n + s->states.n;
    ns_ex *roots = NS_NEW_ARRAY(cli->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < s->equations.n; i++)
        roots[i] = s->equations.at[i].value;
    for (uint32_t i = 0; i < s->states.n; i++)
        roots[s->equations.n + i] = s->states.at[i].rate;
    return ns_print_shared(s->graph, roots, n, "t");
}

/* Words outside of formulas. */
static void add_words(page *p, const char *words)
{
    static const char special[] = "#$%&_{}";
    if (p->style == NS_PRINT_TEXT) {
        ns_text_add(&p->text, words);
        return;
    }
    for (; *words; words++) {
        if (*words == '\\' || *words == '~' || *words == '^') {
            ns_text_addf(&p->text, "{\\char`\\%c}", *words);
        } else {
            if (strchr(special, *words))
                ns_text_add(&p->text, "\\");
            ns_text_add_bytes(&p->text, words, 1);
        }
    }
}

static void add_title(page *p, const char *title)
{
    const ns_style *s = &p->cli->style_out;
    const bool latex = p->style == NS_PRINT_LATEX;
    if (latex)
        ns_text_add(&p->text, "\\documentclass{article}\n"
                              "\\usepackage[margin=2cm]{geometry}\n"
                              "\\usepackage{amsmath}\n"
                              "\\usepackage[T1]{fontenc}\n"
                              "\\allowdisplaybreaks\n"
                              "\\begin{document}\n");
    ns_text_add(&p->text, latex ? "\\section*{" : s->bold);
    add_words(p, title);
    ns_text_addf(&p->text, "%s\n", latex ? "}" : s->plain);
}

static void begin_group(page *p, const char *name)
{
    const ns_style *s = &p->cli->style_out;
    const bool latex = p->style == NS_PRINT_LATEX;
    const char first[] = {(char)toupper((unsigned char)*name), 0};
    ns_text_addf(&p->text, "\n%s", latex ? "\\paragraph{" : s->bold);
    add_words(p, first);
    add_words(p, name + 1);
    ns_text_addf(&p->text, "%s\n", latex ? "}\n\\begin{align*}" : s->plain);
}

static void end_group(page *p)
{
    if (p->style == NS_PRINT_LATEX)
        ns_text_add(&p->text, "\\end{align*}\n");
}

/* name = ...; `first` of its group */
static void begin_line(page *p, const char *name, bool first)
{
    const bool latex = p->style == NS_PRINT_LATEX;
    if (latex && !first)
        ns_text_add(&p->text, " \\\\\n");
    ns_text_add(&p->text, "  ");
    const size_t stem = strcspn(name, "[");
    if (latex && name[stem]) { /* M[1,2] */
        ns_print_name(ns_arena_string(p->cli->arena, name, stem), p->style, &p->text);
        ns_text_addf(&p->text, "_{%.*s}", (int)strcspn(name + stem + 1, "]"), name + stem + 1);
    } else {
        ns_print_name(name, p->style, &p->text);
    }
    ns_text_add(&p->text, latex ? " &= " : " = ");
}

static void end_line(page *p, bool last)
{
    if (p->style == NS_PRINT_TEXT || last)
        ns_text_add(&p->text, "\n");
}

static void add_shared(page *p)
{
    const uint32_t n = p->shared->items.n;
    if (!n)
        return;
    begin_group(p, "with");
    for (uint32_t i = 0; i < n; i++) {
        begin_line(p, p->shared->items.at[i].name, i == 0);
        ns_print_definition(p->system->graph, p->shared, i, p->style, &p->text);
        end_line(p, i + 1 == n);
    }
    end_group(p);
}

static void add_value(page *p, const char *name, ns_ex value, bool first, bool last)
{
    begin_line(p, name, first);
    ns_print_expression(p->system->graph, value, p->style, p->shared, &p->text);
    end_line(p, last);
}

/* What the formulation has to show, group by group. */
static void add_groups(page *p)
{
    const ns_system *s = p->system;
    for (uint32_t i = 0; i < s->equations.n;) {
        const char *group = s->equations.at[i].group;
        uint32_t end = i;
        while (end < s->equations.n && strcmp(s->equations.at[end].group, group) == 0)
            end++;
        begin_group(p, group);
        for (uint32_t k = i; k < end; k++)
            add_value(p, s->equations.at[k].name, s->equations.at[k].value, k == i,
                      k + 1 == end);
        end_group(p);
        i = end;
    }
}

/* That the derivative of x is x' needs no line. */
static bool is_plain(const ns_system *s, const ns_state *state, const char *name)
{
    const ns_symbol *symbol = ns_graph_symbol(s->graph, state->rate);
    return symbol && strcmp(symbol->name, name) == 0;
}

static void add_rates(page *p)
{
    const ns_system *s = p->system;
    bool first = true;
    begin_group(p, "equations of motion");
    for (uint32_t i = 0; i < s->states.n; i++) {
        const char *name = ns_arena_format(p->cli->arena, "%s'", s->states.at[i].name);
        if (is_plain(s, &s->states.at[i], name))
            continue;
        add_value(p, name, s->states.at[i].rate, first, false);
        first = false;
    }
    if (p->style == NS_PRINT_LATEX)
        ns_text_add(&p->text, "\n");
    end_group(p);
}

static int equations(ns_cli *cli, const ns_arguments *a)
{
    int status;
    ns_model *model = ns_open_model(cli, a, a->words.at[0], NS_MODEL_DERIVED, &status);
    if (!model)
        return status;
    page p = {.cli = cli,
              .system = model->system,
              .style = ns_command_flag(a, "latex") ? NS_PRINT_LATEX : NS_PRINT_TEXT,
              .text = ns_text_new(cli->arena)};
    p.shared = share(cli, model->system);
    add_title(&p, model->system->description->title);
    add_groups(&p);
    add_rates(&p);
    add_shared(&p);
    if (p.style == NS_PRINT_LATEX)
        ns_text_add(&p.text, "\\end{document}\n");
    fwrite(ns_text_string(&p.text), 1, p.text.length, cli->out);
    ns_model_free(model);
    return 0;
}

static const ns_option options[] = {
    {.name = "latex", .help = "a LaTeX document instead of text"}, NS_OPTION_SET, {0}};

const ns_command ns_command_equations = {
    .name = "equations",
    .summary = "Print the derived equations, readable or as LaTeX",
    .usage = "MODEL [--latex] [--set NAME=EXPR]...",
    .doc = "Prints what the formulation derives (mass matrix, constraints, energy) and the\n"
           "derivatives of the states.  Expressions that occur several times are named t1,\n"
           "t2, ... and listed at the end, each in terms of those before it.",
    .options = options,
    .least = 1,
    .most = 1,
    .run = equations,
};
