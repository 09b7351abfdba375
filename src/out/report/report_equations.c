/* The derived equations of a report, typeset: what `noslip equations` prints. */
#include <ctype.h>
#include <string.h>

#include "expr/print/mathml.h"
#include "out/report/report_internal.h"

/* Longer ones nobody reads on a page. */
enum { MOST_BYTES = 150000, MOST_NODES = 12000 };

typedef struct sheet {
    ns_report *r;
    const ns_shared *shared;
    ns_text text; /* of the table under way */
    uint32_t lines;
    size_t bytes;
} sheet;

static void begin(sheet *s)
{
    s->text = ns_text_new(s->r->arena);
    s->lines = 0;
    ns_text_add(&s->text, "<math display=\"block\"><mtable displaystyle=\"true\" "
                          "columnalign=\"right center left\">");
}

static void end(sheet *s, const char *caption)
{
    ns_json *j = &s->r->json;
    ns_text_add(&s->text, "</mtable></math>");
    if (!s->lines)
        return;
    ns_json_object(j, NULL);
    char *words = ns_arena_format(s->r->arena, "%s", caption);
    words[0] = (char)toupper((unsigned char)words[0]);
    ns_json_text(j, "caption", words);
    ns_json_text(j, "mathml", ns_text_string(&s->text));
    ns_json_end(j);
    s->bytes += s->text.length;
}

static void begin_line(sheet *s, const char *name)
{
    const size_t stem = strcspn(name, "[");
    ns_text_add(&s->text, "<mtr><mtd>");
    if (name[stem]) { /* M[1,2] */
        ns_text_add(&s->text, "<msub>");
        ns_mathml_name(ns_arena_string(s->r->arena, name, stem), &s->text);
        ns_text_add(&s->text, "<mtext>");
        ns_mathml_escape(name + stem + 1, strcspn(name + stem + 1, "]"), &s->text);
        ns_text_add(&s->text, "</mtext></msub>");
    } else {
        ns_mathml_name(name, &s->text);
    }
    ns_text_add(&s->text, "</mtd><mtd><mo>=</mo></mtd><mtd><mrow>");
    s->lines++;
}

static void end_line(sheet *s)
{
    ns_text_add(&s->text, "</mrow></mtd></mtr>");
}

static void line(sheet *s, const char *name, ns_ex value)
{
    begin_line(s, name);
    ns_mathml_expression(s->r->system->graph, value, s->shared, &s->text);
    end_line(s);
}

static void put_groups(sheet *s)
{
    const ns_system *system = s->r->system;
    for (uint32_t i = 0, next; i < system->equations.n; i = next) {
        const char *group = system->equations.at[i].group;
        begin(s);
        for (next = i; next < system->equations.n; next++) {
            const ns_equation_line *l = &system->equations.at[next];
            if (strcmp(l->group, group) != 0)
                break;
            if (!strchr(l->name, '[') || !ns_graph_is_zero(system->graph, l->value))
                line(s, l->name, l->value);
        }
        end(s, group);
    }
}

static void put_rates(sheet *s)
{
    const ns_system *system = s->r->system;
    begin(s);
    for (uint32_t i = 0; i < system->states.n; i++) {
        const char *name = ns_arena_format(s->r->arena, "%s'", system->states.at[i].name);
        const ns_symbol *symbol = ns_graph_symbol(system->graph, system->states.at[i].rate);
        if (!symbol || strcmp(symbol->name, name) != 0) /* that x' is x' needs no line */
            line(s, name, system->states.at[i].rate);
    }
    end(s, "equations of motion");
}

static void put_shared(sheet *s)
{
    begin(s);
    for (uint32_t i = 0; i < s->shared->items.n; i++) {
        begin_line(s, s->shared->items.at[i].name);
        ns_mathml_definition(s->r->system->graph, s->shared, i, &s->text);
        end_line(s);
    }
    end(s, "with");
}

/* Nodes that the equations are made of. */
static size_t nodes_of(const ns_report *r, const ns_ex *roots, size_t n)
{
    ns_arena *scratch = ns_arena_child(r->arena);
    bool *used = NS_NEW_ARRAY(scratch, bool, ns_graph_size(r->system->graph));
    ns_graph_mark(r->system->graph, roots, n, used);
    size_t count = 0;
    for (uint32_t i = 0; i < ns_graph_size(r->system->graph); i++)
        count += used[i] ? 1 : 0;
    return count;
}

void ns_report_put_equations(ns_report *r)
{
    const ns_system *system = r->system;
    ns_json *j = &r->json;
    const size_t n = system->equations.n + system->states.n;
    ns_ex *roots = NS_NEW_ARRAY(r->arena, ns_ex, n + 1);
    for (uint32_t i = 0; i < system->equations.n; i++)
        roots[i] = system->equations.at[i].value;
    for (uint32_t i = 0; i < system->states.n; i++)
        roots[system->equations.n + i] = system->states.at[i].rate;
    ns_json_array(j, "equations");
    const size_t start = j->text.length;
    const bool inside = j->inside;
    sheet s = {.r = r};
    if (nodes_of(r, roots, n) <= MOST_NODES) {
        s.shared = ns_print_shared(system->graph, roots, n, "t");
        put_groups(&s);
        put_rates(&s);
        put_shared(&s);
    }
    if (!s.bytes || s.bytes > MOST_BYTES) { /* take back, and say where they are */
        j->text.length = start;
        j->text.at[start] = 0;
        j->inside = inside;
        ns_json_object(j, NULL);
        ns_json_text(j, "caption", "Equations of motion");
        ns_json_text(j, "text",
                     "They are too long for a page: `noslip equations MODEL` prints them.");
        ns_json_end(j);
    }
    ns_json_end(j);
}
