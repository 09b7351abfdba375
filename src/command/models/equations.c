/* noslip equations: the derived equations, as text that the model language reads or as
 * LaTeX. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "command/open.h"
#include "expr/normal/normal.h"
#include "expr/print/print.h"
#include "mech/readable.h"

typedef struct page {
    ns_host *host;
    const ns_system *system;
    ns_print_style style;
    const ns_shared *shared;
    ns_text text;
} page;

/* Short expressions are read at a glance: nothing in them needs a name of its own. */
static bool is_short(const ns_system *s, ns_ex e)
{
    return ns_normal_length(s->graph, e) < 100;
}

/* All expressions that need names for parts of them: what the formulation shows, then the
 * rates. */
static const ns_shared *share(ns_host *host, const ns_system *s)
{
    const size_t n = s->equations.n + s->states.n;
    ns_ex *roots = NS_NEW_ARRAY(host->arena, ns_ex, n + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->equations.n; i++)
        if (!is_short(s, s->equations.at[i].value))
            roots[count++] = s->equations.at[i].value;
    for (uint32_t i = 0; i < s->states.n; i++)
        roots[count++] = s->states.at[i].rate;
    return ns_print_shared(s->graph, roots, count, "t");
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
    const ns_style *s = &p->host->style_out;
    const bool latex = p->style == NS_PRINT_LATEX;
    ns_text_add(&p->text, latex ? "\\section*{" : s->bold);
    add_words(p, title);
    ns_text_addf(&p->text, "%s\n", latex ? "}" : s->plain);
}

static void begin_group(page *p, const char *name)
{
    const ns_style *s = &p->host->style_out;
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
        ns_print_name(ns_arena_string(p->host->arena, name, stem), p->style, &p->text);
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

static void add_fact(page *p, const char *name, ns_ex value, bool first, bool last)
{
    if (!is_short(p->system, value)) {
        add_value(p, name, value, first, last);
        return;
    }
    begin_line(p, name, first);
    ns_print_expression(p->system->graph, value,
                        p->style == NS_PRINT_TEXT ? NS_PRINT_PLAIN : p->style, NULL, &p->text);
    end_line(p, last);
}

/* Entries of matrices that are zero are not listed one by one. */
static bool is_left_out(const page *p, const ns_equation_line *line)
{
    return strchr(line->name, '[') && ns_graph_is_zero(p->system->graph, line->value);
}

static void add_group(page *p, const ns_equation_line *lines, uint32_t n)
{
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < n; i++)
        left += is_left_out(p, &lines[i]) ? 1 : 0;
    begin_group(p, lines[0].group);
    for (uint32_t i = 0; i < n; i++)
        if (!is_left_out(p, &lines[i])) {
            shown++;
            add_fact(p, lines[i].name, lines[i].value, shown == 1, shown == n);
        }
    if (left && p->style == NS_PRINT_TEXT)
        ns_text_addf(&p->text, "  all %s = 0\n", shown ? "others" : "entries");
    else if (left)
        ns_text_addf(&p->text, "%s  \\text{all %s} &= 0\n", shown ? " \\\\\n" : "",
                     shown ? "others" : "entries");
    end_group(p);
}

/* What the formulation has to show, group by group. */
static void add_groups(page *p)
{
    const ns_system *s = p->system;
    for (uint32_t i = 0, end; i < s->equations.n; i = end) {
        const char *group = s->equations.at[i].group;
        for (end = i; end < s->equations.n; end++)
            if (strcmp(s->equations.at[end].group, group) != 0)
                break;
        add_group(p, &s->equations.at[i], end - i);
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
        const char *name = ns_arena_format(p->host->arena, "%s'", s->states.at[i].name);
        if (is_plain(s, &s->states.at[i], name))
            continue;
        add_value(p, name, s->states.at[i].rate, first, false);
        first = false;
    }
    if (p->style == NS_PRINT_LATEX)
        ns_text_add(&p->text, "\n");
    end_group(p);
}

/* About how wide LaTeX sets a line, in points; rows of a matrix stand below each other. */
static double width_of(const char *line, size_t length)
{
    double glyphs = 0, rows = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\' && i + 1 < length && line[i + 1] == '\\') {
            rows++;
            i++;
        } else if (line[i] == '\\') {
            while (i + 1 < length && isalpha((unsigned char)line[i + 1]))
                i++;
            glyphs += 1;
        } else if (!strchr("{}_^ ", line[i])) {
            glyphs += line[i] == '&' ? 3 : 1;
        }
    }
    return 6 * (rows > 1 ? 2 * glyphs / rows : glyphs);
}

/* The page is as wide as its longest line; TeX knows no more than 5.7 m. */
static void print_head(FILE *file, const char *body)
{
    double widest = 0;
    for (const char *at = body; *at;) {
        const size_t length = strcspn(at, "\n");
        const double width = width_of(at, length);
        widest = width > widest ? width : widest;
        at += length + (at[length] ? 1 : 0);
    }
    const double paper = widest + 120; /* margins */
    fprintf(file,
            "\\documentclass[fleqn]{article}\n"
            "\\usepackage[margin=2cm,paperwidth=%.0fpt]{geometry}\n"
            "\\usepackage{amsmath}\n"
            "\\usepackage[T1]{fontenc}\n"
            "\\setcounter{MaxMatrixCols}{1000}\n"
            "\\allowdisplaybreaks\n"
            "\\begin{document}\n",
            paper < 597     ? 597
            : paper > 16000 ? 16000
                            : paper);
}

static int equations(ns_host *host, const ns_arguments *a)
{
    int status;
    ns_model *model = ns_open_model(host, a, a->words.at[0], NS_MODEL_DERIVED, &status);
    if (!model)
        return status;
    page p = {.host = host,
              .system = ns_system_readable(model->system, host->arena),
              .style = ns_command_flag(a, "latex") ? NS_PRINT_LATEX : NS_PRINT_TEXT,
              .text = ns_text_new(host->arena)};
    p.shared = share(host, p.system);
    add_title(&p, model->system->description->title);
    add_groups(&p);
    add_rates(&p);
    add_shared(&p);
    if (p.style == NS_PRINT_LATEX) {
        ns_text_add(&p.text, "\\end{document}\n");
        print_head(host->out, ns_text_string(&p.text));
    }
    fwrite(ns_text_string(&p.text), 1, p.text.length, host->out);
    ns_model_free(model);
    return 0;
}

static const ns_option options[] = {
    {.name = "latex", .help = "a LaTeX document instead of text"}, NS_OPTION_SET, {0}};

const ns_command ns_command_equations = {
    .name = "equations",
    .summary = "Print the derived equations, as text or as LaTeX",
    .usage = "MODEL [--latex] [--set NAME=EXPR]...",
    .doc = "Prints what the formulation derives (mass matrix, constraints, energy) and the\n"
           "derivatives of the states.  Expressions that occur several times are named t1,\n"
           "t2, ... and listed at the end, each in terms of those before it.",
    .options = options,
    .models = 1,
    .least = 1,
    .most = 1,
    .run = equations,
};
