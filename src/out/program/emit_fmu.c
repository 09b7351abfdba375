/* noslip emit fmu: see emit_fmu.h.
 *
 * The source is the emitted C (emit_c_parts.h) with further functions of the model - events,
 * parameters that follow from others, what the start gives and the equations it meets,
 * derivatives along a direction - and then the fixed parts of the folder fmu: an instance with
 * its motion, and the functions of one version of the standard around it. */
#include "out/program/emit_fmu.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "eval/native/compiler.h"
#include "expr/diff.h"
#include "out/program/emit_c_parts.h"
#include "out/program/emit_c_texts.h"
#include "out/program/zip.h"

/* ---- what there is ----------------------------------------------------------------------- */

static const ns_fmu_kind *find_kinds(ns_arena *arena, const ns_system *s)
{
    const ns_description *d = s->description;
    ns_fmu_kind *kind = NS_NEW_ARRAY(arena, ns_fmu_kind, d->params.n + 1);
    for (uint32_t i = 0; i < d->params.n; i++)
        kind[i] = ns_graph_depends_kind(s->graph, d->params.at[i].value, NS_SYM_PARAM, NULL)
                      ? NS_FMU_CALCULATED
                      : NS_FMU_PARAMETER;
    for (uint32_t i = 0; i < d->inputs.n; i++)
        if (d->inputs.at[i].param != NS_INPUT_NO_PARAM)
            kind[d->inputs.at[i].param] = NS_FMU_INPUT;
    return kind;
}

/* A simulator changes inputs in jumps, with which constraints cannot jump: the first
 * constraint with an input, or NULL. */
static const char *find_jump(const ns_fmu *f)
{
    const ns_system *s = f->system;
    const ns_description *d = s->description;
    bool *used = NS_NEW_ARRAY(f->arena, bool, ns_graph_size(s->graph));
    for (uint32_t i = 0; i < s->constraints.n; i++) {
        ns_graph_mark(s->graph, &s->constraints.at[i].residual, 1, used);
        for (uint32_t k = 0; k < d->params.n; k++)
            if (f->kind[k] == NS_FMU_INPUT && used[d->params.at[k].symbol])
                return s->constraints.at[i].name;
    }
    return NULL;
}

/* The name of the file without folder and ending, as far as C allows. */
static const char *find_identifier(ns_arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');
    char *made = ns_arena_format(arena, "%s", slash ? slash + 1 : name);
    char *dot = strrchr(made, '.');
    if (dot && dot > made)
        *dot = 0;
    for (char *at = made; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127)
            *at = '_';
    return isalpha((unsigned char)*made) ? made : ns_arena_format(arena, "model%s", made);
}

/* The same for the same source. */
static const char *make_token(ns_arena *arena, const ns_text *source)
{
    uint64_t a = ns_hash_bytes(ns_hash_start, source->at, source->length);
    uint64_t b = ns_hash_bytes(a ^ ns_hash_start, source->at, source->length);
    return ns_arena_format(arena, "{%08x-%04x-%04x-%04x-%012llx}", (unsigned)(a >> 32),
                           (unsigned)(a >> 16) & 0xffffu, (unsigned)a & 0xffffu,
                           (unsigned)(b >> 48),
                           (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

/* ---- functions of the model -------------------------------------------------------------- */

/* All expressions, built before anything is written: names go with the size of the graph. */
typedef struct expressions {
    ns_emit_c_equations kept, start;
    ns_ex *events, *vx, *vp; /* symbols of the direction */
    ns_ex *along, *params;   /* derivatives along it, of everything and of each parameter */
    const char **event_names, **along_names;
    uint32_t n_along;
} expressions;

static void build_along(const ns_fmu *f, expressions *e)
{
    const ns_system *s = f->system;
    ns_graph *g = s->graph;
    const uint32_t n = s->states.n, np = s->description->params.n;
    const uint32_t nv = s->observables.n, ne = f->events.n;
    const ns_ex *x = ns_system_state_symbols(s, f->arena);
    const ns_ex *p = ns_system_param_symbols(s, f->arena);
    ns_ex *from = NS_NEW_ARRAY(f->arena, ns_ex, n + np + (size_t)1);
    ns_ex *to = NS_NEW_ARRAY(f->arena, ns_ex, n + np + (size_t)1);
    for (uint32_t i = 0; i < n + np; i++) {
        const char *name = i < n ? s->states.at[i].name : s->description->params.at[i - n].name;
        from[i] = i < n ? x[i] : p[i - n];
        to[i] = ns_symbol_new(g, ns_arena_format(f->arena, "d_%s", name), NS_SYM_LOCAL, i);
    }
    e->vx = to;
    e->vp = to + n;
    e->n_along = n + nv + ne;
    ns_ex *roots = NS_NEW_ARRAY(f->arena, ns_ex, e->n_along + 1);
    e->along = NS_NEW_ARRAY(f->arena, ns_ex, e->n_along + 1);
    e->along_names = NS_NEW_ARRAY(f->arena, const char *, e->n_along + 1);
    for (uint32_t i = 0; i < e->n_along; i++) {
        roots[i] = i < n        ? s->states.at[i].rate
                   : i < n + nv ? s->observables.at[i - n].value
                                : e->events[i - n - nv];
        e->along_names[i] = i < n        ? s->states.at[i].name
                            : i < n + nv ? s->observables.at[i - n].name
                                         : e->event_names[i - n - nv];
    }
    ns_diff_along(g, roots, e->n_along, from, to, n + np, e->along);
    e->params = NS_NEW_ARRAY(f->arena, ns_ex, np + 1);
    for (uint32_t i = 0; i < np; i++)
        ns_diff_along(g, &s->description->params.at[i].value, 1, from + n, e->vp, i,
                      &e->params[i]);
}

static expressions build(const ns_fmu *f)
{
    const ns_system *s = f->system;
    ns_arena *a = f->arena;
    expressions e = {.kept = ns_emit_c_constraints(a, s)};
    NS_LIST(ns_ex) residual = {0};
    NS_LIST(const char *) name = {0};
    for (uint32_t i = 0; i < ns_system_start_rows(s); i++) {
        const ns_constraint *c = ns_system_start_row(s, i);
        NS_PUSH(a, residual, c->residual);
        NS_PUSH(a, name, c->name);
    }
    e.start = ns_emit_c_equations_new(a, s, residual.at, name.at, residual.n);
    e.events = NS_NEW_ARRAY(a, ns_ex, f->events.n + 1);
    e.event_names = NS_NEW_ARRAY(a, const char *, f->events.n + 1);
    for (uint32_t i = 0; i < f->events.n; i++) {
        e.events[i] = s->events.at[f->events.at[i]].value;
        e.event_names[i] = s->events.at[f->events.at[i]].name;
    }
    build_along(f, &e);
    return e;
}

/* Each parameter that follows from others, in its turn, in a block of its own. */
static void put_dependent(ns_emit_c_writer *w, const ns_fmu *f, const ns_ex *value,
                          const char *array)
{
    const ns_description *d = f->system->description;
    for (uint32_t i = 0; i < d->params.n; i++) {
        if (f->kind[i] != NS_FMU_CALCULATED)
            continue;
        ns_text_add(w->out, "    {\n");
        ns_emit_c_body(w, &value[i], 1, array, &i, &d->params.at[i].name);
        ns_text_add(w->out, "    }\n");
    }
}

static void put_functions(ns_emit_c_writer *w, const ns_fmu *f, const expressions *e)
{
    const ns_system *s = f->system;
    const uint32_t n = s->states.n, np = s->description->params.n;
    ns_ex *value = NS_NEW_ARRAY(f->arena, ns_ex, np + 1);
    const char **names = NS_NEW_ARRAY(f->arena, const char *, n + 1);
    for (uint32_t i = 0; i < np; i++)
        value[i] = s->description->params.at[i].value;
    for (uint32_t i = 0; i < n; i++)
        names[i] = s->states.at[i].name;
    ns_emit_c_rates_and_values(w);
    ns_emit_c_put_equations(w, &e->kept, "model_constraints", "CONSTRAINTS");
    ns_emit_c_put_equations(w, &e->start, "model_equations", "EQUATIONS");
    ns_text_add(w->out, "/* Their zeros are events. */\n"
                        "void model_events(double t, const double x[STATES], const double *p,"
                        " double *g)\n{\n    (void)g;\n");
    ns_emit_c_body(w, e->events, f->events.n, "g", NULL, e->event_names);
    ns_text_add(w->out, "}\n\n/* What the model gives at the start. */\n"
                        "void model_given(double t, const double x[STATES], const double *p,"
                        " double *g)\n{\n");
    ns_emit_c_body(w, s->start.value, n, "g", NULL, names);
    ns_text_add(w->out, "}\n\n/* Parameters that follow from others. */\n"
                        "void model_parameters(double t, const double x[STATES], double *p)"
                        "\n{\n    (void)t, (void)x, (void)p;\n");
    put_dependent(w, f, value, "p");
    ns_text_add(w->out, "}\n\n");
    ns_emit_c_writer_add(w, "vx", e->vx, n);
    ns_emit_c_writer_add(w, "vp", e->vp, np);
    ns_text_add(w->out,
                "/* Derivatives of rates, values and events along a change vx of the states "
                "and vp of the\n * parameters. */\n"
                "void model_along(double t, const double x[STATES], const double *p,\n"
                "                 const double *vx, double *vp, double *g)\n{\n");
    put_dependent(w, f, e->params, "vp");
    ns_emit_c_body(w, e->along, e->n_along, "g", NULL, e->along_names);
    ns_text_add(w->out, "}\n\n");
}

/* ---- tables ------------------------------------------------------------------------------ */

static void put_ints(ns_text *out, const char *head, const int *value, uint32_t n)
{
    ns_text_addf(out, "%s[] = {", head);
    for (uint32_t i = 0; i < n; i++)
        ns_text_addf(out, "%s%d", i == 0 ? "\n    " : i % 20 ? ", " : ",\n    ", value[i]);
    ns_text_addf(out, "%s\n};\n\n", n ? "" : "0");
}

static void put_tables(ns_emit_c_writer *w, const ns_fmu *f)
{
    const ns_system *s = f->system;
    const ns_start *start = &s->start;
    const uint32_t n = s->states.n, np = s->description->params.n, ne = f->events.n;
    int *value = NS_NEW_ARRAY(f->arena, int, np + ne + 1);
    double *weight = NS_NEW_ARRAY(f->arena, double, n + 1);
    const char **names = NS_NEW_ARRAY(f->arena, const char *, n + 1);
    for (uint32_t i = 0; i < np; i++)
        value[i] = (int)f->kind[i];
    put_ints(w->out, "static const int settable", value, np);
    for (uint32_t i = 0; i < ne; i++)
        value[i] = ns_event_stops(&s->events.at[f->events.at[i]]);
    put_ints(w->out, "static const int event_stops", value, ne);
    for (uint32_t i = 0; i < ne; i++)
        value[i] = s->events.at[f->events.at[i]].direction;
    put_ints(w->out, "static const int event_direction", value, ne);
    for (uint32_t i = 0; i < n; i++) {
        const bool late = (start->keep && start->keep[i]) || (start->guess && start->guess[i]);
        weight[i] = !start->free[i] ? 0 : late ? 1e-3 : 1;
        names[i] = s->states.at[i].name;
    }
    ns_text_add(w->out, "/* How easily the start changes a state; 0: not at all. */\n");
    ns_emit_c_values(w, "static const double start_weight[]", names, weight, n);
}

static const char *part(const char *name)
{
    for (unsigned i = 0; i < ns_fmu_part_count; i++)
        if (strcmp(ns_fmu_part_entries[i].name, name) == 0)
            return ns_fmu_part_entries[i].text;
    return "";
}

/* The source without its token. */
static void put_source(const ns_fmu *f, const expressions *e, ns_text *out)
{
    const ns_system *s = f->system;
    ns_text bodies = ns_text_new(f->arena);
    ns_emit_c_writer w = ns_emit_c_writer_new(f->arena, f->model, s, &bodies);
    put_functions(&w, f, e);
    w.out = out;
    ns_text_addf(out,
                 "/* %s\n *\n * A functional mock-up unit (FMI %d.0), written by noslip %s.\n"
                 " *\n *     cc -O2 -fPIC -shared -fvisibility=hidden -o model.so model.c -lm\n"
                 " */\n#include <math.h>\n#include <stdlib.h>\n\n"
                 "enum {\n    STATES = %u,\n    PARAMETERS = %u,\n    VALUES = %u,\n"
                 "    CONSTRAINTS = %u,\n    EQUATIONS = %u,\n    EVENTS = %u\n};\n\n",
                 ns_emit_c_comment(f->arena, s->description->title), f->version, NS_VERSION,
                 s->states.n, s->description->params.n, s->observables.n, e->kept.rows,
                 e->start.rows, f->events.n);
    static const char declarations[] =
        "void model_rhs(double t, const double x[STATES], const double *p, double "
        "dx[STATES]);\n"
        "void model_values(double t, const double x[STATES], const double *p, double "
        "v[VALUES]);\n"
        "void model_constraints(double t, const double x[STATES], const double *p, double "
        "*g);\n"
        "void model_equations(double t, const double x[STATES], const double *p, double *g);\n"
        "void model_events(double t, const double x[STATES], const double *p, double *g);\n"
        "void model_given(double t, const double x[STATES], const double *p, double *g);\n"
        "void model_parameters(double t, const double x[STATES], double *p);\n"
        "void model_along(double t, const double x[STATES], const double *p,\n"
        "                 const double *vx, double *vp, double *g);\n\n";
    ns_text_add(out, declarations);
    ns_emit_c_numbers(&w);
    put_tables(&w, f);
    const double from = f->model->settings.from;
    ns_text_addf(out, "static const double first_time = %s;\n\n",
                 ns_emit_c_number(&w, isnan(from) ? 0 : from));
    for (int i = 0; i < NS_EMIT_HELPERS; i++)
        if (w.needs[i])
            ns_text_add(out, ns_emit_c_helpers[i]);
    ns_text_add_bytes(out, ns_text_string(&bodies), bodies.length);
    ns_text_add(out, ns_emit_c_least_change);
    ns_emit_c_integration(&w, &e->kept);
}

/* ---- the archive ------------------------------------------------------------------------- */

static const char *platform(ns_arena *arena, int version)
{
#if defined __APPLE__
    const char *system = "darwin", *old = "darwin64";
#else
    const char *system = "linux", *old = sizeof(void *) == 8 ? "linux64" : "linux32";
#endif
#if defined __x86_64__
    static const char processor[] = "x86_64";
#elif defined __aarch64__
    static const char processor[] = "aarch64";
    old = NULL; /* FMI 2.0 has no name for it: as FMI 3.0 */
#elif defined __i386__
    static const char processor[] = "x86";
#else
    static const char processor[] = "other";
    old = NULL;
#endif
    return version == 2 && old ? old : ns_arena_format(arena, "%s-%s", processor, system);
}

static bool add_binary(const ns_fmu *f, const ns_text *source, ns_zip *zip,
                       const char **message)
{
    enum { ROOM = 1000 };
    char *bytes = NULL, *said = NS_NEW_ARRAY(f->arena, char, ROOM);
    size_t n = 0;
    if (!ns_compiler_library(ns_text_string(source), source->length, &bytes, &n, said, ROOM)) {
        *message = ns_arena_format(f->arena, "%s; --sources leaves the binary out", said);
        return false;
    }
#if defined __APPLE__
    static const char ending[] = "dylib";
#else
    static const char ending[] = "so";
#endif
    ns_zip_add(zip,
               ns_arena_format(f->arena, "binaries/%s/%s.%s", platform(f->arena, f->version),
                               f->identifier, ending),
               bytes, n);
    free(bytes);
    return true;
}

static void add_build(const ns_fmu *f, ns_zip *zip)
{
    const char *text = ns_arena_format(f->arena,
                                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                       "<fmiBuildDescription fmiVersion=\"3.0\">\n"
                                       "  <BuildConfiguration modelIdentifier=\"%s\">\n"
                                       "    <SourceFileSet language=\"C99\">\n"
                                       "      <SourceFile name=\"model.c\"/>\n"
                                       "    </SourceFileSet>\n"
                                       "    <Library name=\"m\" external=\"true\"/>\n"
                                       "  </BuildConfiguration>\n"
                                       "</fmiBuildDescription>\n",
                                       f->identifier);
    ns_zip_add(zip, "sources/buildDescription.xml", text, strlen(text));
}

bool ns_emit_fmu(const ns_model *model, int version, bool binary, ns_text *out,
                 const char **message)
{
    ns_arena *arena = out->arena;
    ns_system *s = ns_system_fork(model->system, arena);
    ns_fmu f = {.arena = arena,
                .model = model,
                .system = s,
                .version = version,
                .identifier = find_identifier(arena, model->name),
                .kind = find_kinds(arena, s)};
    for (uint32_t i = 0; i < s->events.n; i++)
        if (!s->events.at[i].watched && !s->events.at[i].off)
            NS_PUSH(arena, f.events, i);
    if (s->levels) {
        *message = ns_arena_format(
            arena,
            "a unit keeps no integrals (`%s`), as a simulator may change "
            "its states: leave out the line  keep",
            s->constraints.at[s->constraints.n - 1].name);
        return false;
    }
    const char *jump = find_jump(&f);
    if (jump) {
        *message = ns_arena_format(arena,
                                   "the constraint %s contains an input, which a simulator "
                                   "changes in jumps: velocities would have to jump too",
                                   jump);
        return false;
    }
    const expressions e = build(&f);
    if (e.kept.dropped || e.start.dropped) {
        *message = ns_arena_format(arena,
                                   "the model has %u constraints on %u states, too many for a "
                                   "unit that keeps them",
                                   e.start.dropped ? e.start.dropped : e.kept.dropped,
                                   s->states.n);
        return false;
    }
    f.projects = e.kept.rows > 0;
    ns_text source = ns_text_new(arena), description = ns_text_new(arena);
    put_source(&f, &e, &source);
    ns_text_add(&source, part("core"));
    ns_text_add(&source, part(version == 2 ? "fmi2" : "fmi3"));
    f.token = make_token(arena, &source);
    ns_text whole = ns_text_new(arena); /* the token comes before what compares it */
    ns_text_addf(&whole, "static const char model_token[] = \"%s\";\n\n", f.token);
    ns_text_add_bytes(&whole, ns_text_string(&source), source.length);
    ns_emit_fmu_description(&f, &description);
    ns_zip zip = ns_zip_new(out);
    ns_zip_add(&zip, "modelDescription.xml", ns_text_string(&description), description.length);
    ns_zip_add(&zip, "sources/model.c", ns_text_string(&whole), whole.length);
    if (version == 3)
        add_build(&f, &zip);
    if (binary && !add_binary(&f, &whole, &zip, message))
        return false;
    ns_zip_end(&zip);
    return true;
}
