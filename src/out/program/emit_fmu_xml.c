/* The description of a functional mock-up unit: see emit_fmu.h.
 *
 * Variables in the order of their value references (fmu/core.inc): time, parameters and inputs,
 * states, their derivatives, other values, event indicators.  FMI 2.0 (section 2.2) names them
 * by their place in the list, counted from one, where FMI 3.0 (section 2.4) takes value
 * references. */
#include <math.h>
#include <string.h>

#include "out/plot/plot_paint.h"
#include "out/program/emit_fmu.h"

typedef enum place { TIME, PARAMS, STATES, RATES, VALUES, EVENTS, PLACES } place;

typedef struct writer {
    const ns_fmu *f;
    ns_text *out;
    uint32_t first[PLACES + 1]; /* value references */
    NS_LIST(const char *) units;
    const char **names; /* [all] unique */
} writer;

static bool is_output(const writer *w, uint32_t value)
{
    return w->f->system->observables.at[value].basic;
}

static void attribute(writer *w, const char *name, const char *value)
{
    ns_text_addf(w->out, " %s=\"", name);
    ns_paint_escaped(w->out, value);
    ns_text_add(w->out, "\"");
}

static void number(writer *w, const char *name, double value)
{
    ns_text_addf(w->out, " %s=\"", name);
    ns_text_add_double(w->out, value);
    ns_text_add(w->out, "\"");
}

/* ---- names and units --------------------------------------------------------------------- */

static void take_name(writer *w, uint32_t vr, const char *wanted)
{
    const char *made = wanted;
    for (uint32_t k = 1, i = 0; i < vr; i++)
        if (strcmp(w->names[i], made) == 0) {
            made = ns_arena_format(w->f->arena, "%s_%u", wanted, k++);
            i = UINT32_MAX; /* from the beginning */
        }
    w->names[vr] = made;
}

static void take_unit(writer *w, const char *unit)
{
    if (!unit || !*unit)
        return;
    for (uint32_t i = 0; i < w->units.n; i++)
        if (strcmp(w->units.at[i], unit) == 0)
            return;
    NS_PUSH(w->f->arena, w->units, unit);
}

static void collect(writer *w)
{
    const ns_system *s = w->f->system;
    const ns_description *d = s->description;
    const uint32_t n = s->states.n;
    const uint32_t count[PLACES] = {1, d->params.n, n, n, s->observables.n - n, w->f->events.n};
    for (int k = 0; k < PLACES; k++)
        w->first[k + 1] = w->first[k] + count[k];
    w->names = NS_NEW_ARRAY(w->f->arena, const char *, w->first[PLACES] + 1);
    take_name(w, 0, "time");
    for (uint32_t i = 0; i < d->params.n; i++) {
        take_name(w, w->first[PARAMS] + i, d->params.at[i].name);
        take_unit(w, d->params.at[i].unit);
    }
    for (uint32_t i = 0; i < n; i++) {
        take_name(w, w->first[STATES] + i, s->states.at[i].name);
        take_unit(w, s->states.at[i].unit);
    }
    for (uint32_t i = 0; i < n; i++)
        take_name(w, w->first[RATES] + i,
                  ns_arena_format(w->f->arena, "der(%s)", s->states.at[i].name));
    for (uint32_t i = n; i < s->observables.n; i++) {
        take_name(w, w->first[VALUES] + i - n, s->observables.at[i].name);
        take_unit(w, s->observables.at[i].unit);
    }
    for (uint32_t i = 0; i < w->f->events.n; i++)
        take_name(
            w, w->first[EVENTS] + i,
            ns_arena_format(w->f->arena, "event %s", s->events.at[w->f->events.at[i]].name));
}

/* ---- variables --------------------------------------------------------------------------- */

typedef struct variable {
    const char *causality, *variability, *initial, *unit;
    double start;        /* nan: none */
    uint32_t derivative; /* value reference of the state; 0: none */
    bool reinit;
} variable;

static void put_variable(writer *w, uint32_t vr, const variable *v)
{
    const bool old = w->f->version == 2;
    ns_text_add(w->out, old ? "    <ScalarVariable" : "    <Float64");
    attribute(w, "name", w->names[vr]);
    ns_text_addf(w->out, " valueReference=\"%u\"", vr);
    attribute(w, "causality", v->causality);
    attribute(w, "variability", v->variability);
    if (v->initial)
        attribute(w, "initial", v->initial);
    if (old)
        ns_text_add(w->out, "><Real");
    if (v->unit && *v->unit)
        attribute(w, "unit", v->unit);
    if (!isnan(v->start))
        number(w, "start", v->start);
    if (v->derivative)
        ns_text_addf(w->out, " derivative=\"%u\"", v->derivative + (old ? 1 : 0));
    if (v->reinit)
        ns_text_add(w->out, " reinit=\"true\"");
    ns_text_add(w->out, old ? "/></ScalarVariable>\n" : "/>\n");
}

static void put_parameter(writer *w, uint32_t i)
{
    const ns_param *p = &w->f->system->description->params.at[i];
    static const variable forms[] = {
        [NS_FMU_CALCULATED] = {"calculatedParameter", "fixed", "calculated", NULL, NAN, 0, 0},
        [NS_FMU_PARAMETER] = {"parameter", "fixed", "exact", NULL, NAN, 0, 0},
        [NS_FMU_INPUT] = {"input", "continuous", NULL, NULL, NAN, 0, 0}};
    variable v = forms[w->f->kind[i]];
    v.unit = p->unit;
    if (w->f->kind[i] != NS_FMU_CALCULATED)
        v.start = w->f->model->p[i];
    put_variable(w, w->first[PARAMS] + i, &v);
}

static void put_variables(writer *w)
{
    const ns_system *s = w->f->system;
    const uint32_t n = s->states.n;
    ns_text_add(w->out, "  <ModelVariables>\n");
    put_variable(w, 0, &(variable){"independent", "continuous", NULL, NULL, NAN, 0, false});
    for (uint32_t i = 0; i < s->description->params.n; i++)
        put_parameter(w, i);
    for (uint32_t i = 0; i < n; i++)
        put_variable(w, w->first[STATES] + i,
                     &(variable){is_output(w, i) ? "output" : "local", "continuous", "approx",
                                 s->states.at[i].unit, w->f->model->x0[i], 0, w->f->projects});
    for (uint32_t i = 0; i < n; i++)
        put_variable(w, w->first[RATES] + i,
                     &(variable){"local", "continuous", "calculated", NULL, NAN,
                                 w->first[STATES] + i, false});
    for (uint32_t i = n; i < s->observables.n; i++)
        put_variable(w, w->first[VALUES] + i - n,
                     &(variable){is_output(w, i) ? "output" : "local", "continuous",
                                 "calculated", s->observables.at[i].unit, NAN, 0, false});
    for (uint32_t i = 0; i < w->f->events.n; i++)
        put_variable(w, w->first[EVENTS] + i,
                     &(variable){"local", "continuous", "calculated", NULL, NAN, 0, false});
    ns_text_add(w->out, "  </ModelVariables>\n");
}

/* ---- structure --------------------------------------------------------------------------- */

/* Do parameters that follow from others depend on inputs? */
static bool inputs_pass(const writer *w)
{
    const ns_description *d = w->f->system->description;
    for (uint32_t i = 0; i < d->params.n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (w->f->kind[i] == NS_FMU_CALCULATED && w->f->kind[j] == NS_FMU_INPUT &&
                ns_graph_depends(w->f->system->graph, d->params.at[i].value,
                                 &d->params.at[j].symbol, 1))
                return true;
    return false;
}

/* Which states and inputs an expression depends on. */
static void put_dependencies(writer *w, ns_ex e)
{
    const ns_system *s = w->f->system;
    const ns_description *d = s->description;
    const uint32_t shift = w->f->version == 2 ? 1 : 0;
    bool *used = NS_NEW_ARRAY(w->f->arena, bool, ns_graph_size(s->graph));
    ns_graph_mark(s->graph, &e, 1, used);
    const char *blank = "";
    ns_text_add(w->out, " dependencies=\"");
    for (uint32_t i = 0; i < d->params.n; i++)
        if (w->f->kind[i] == NS_FMU_INPUT && used[d->params.at[i].symbol]) {
            ns_text_addf(w->out, "%s%u", blank, w->first[PARAMS] + i + shift);
            blank = " ";
        }
    for (uint32_t i = 0; i < s->states.n; i++)
        if (used[s->states.at[i].symbol]) {
            ns_text_addf(w->out, "%s%u", blank, w->first[STATES] + i + shift);
            blank = " ";
        }
    ns_text_add(w->out, "\"");
}

/* One entry; e: what its dependencies are of, 0: they are not said. */
static void put_unknown(writer *w, const char *element, uint32_t vr, ns_ex e)
{
    if (w->f->version == 2)
        ns_text_addf(w->out, "      <Unknown index=\"%u\"", vr + 1);
    else
        ns_text_addf(w->out, "    <%s valueReference=\"%u\"", element, vr);
    if (e)
        put_dependencies(w, e);
    ns_text_add(w->out, "/>\n");
}

static uint32_t value_reference(const writer *w, uint32_t observable)
{
    const uint32_t n = w->f->system->states.n;
    return observable < n ? w->first[STATES] + observable : w->first[VALUES] + observable - n;
}

static void open_list(writer *w, const char *name)
{
    if (w->f->version == 2)
        ns_text_addf(w->out, "    <%s>\n", name);
}

static void close_list(writer *w, const char *name)
{
    if (w->f->version == 2)
        ns_text_addf(w->out, "    </%s>\n", name);
}

static void put_structure(writer *w)
{
    const ns_system *s = w->f->system;
    const uint32_t n = s->states.n, nv = s->observables.n;
    const bool pass = inputs_pass(w);
    bool any = false;
    for (uint32_t i = 0; i < nv; i++)
        any = any || is_output(w, i);
    ns_text_add(w->out, "  <ModelStructure>\n");
    if (any)
        open_list(w, "Outputs");
    for (uint32_t i = 0; i < nv; i++)
        if (is_output(w, i))
            put_unknown(w, "Output", value_reference(w, i),
                        pass ? 0 : s->observables.at[i].value);
    if (any)
        close_list(w, "Outputs");
    open_list(w, "Derivatives");
    for (uint32_t i = 0; i < n; i++)
        put_unknown(w, "ContinuousStateDerivative", w->first[RATES] + i,
                    pass ? 0 : s->states.at[i].rate);
    close_list(w, "Derivatives");
    open_list(w, "InitialUnknowns");
    for (uint32_t i = 0; i < s->description->params.n; i++)
        if (w->f->kind[i] == NS_FMU_CALCULATED)
            put_unknown(w, "InitialUnknown", w->first[PARAMS] + i, 0);
    for (uint32_t i = 0; i < n; i++)
        put_unknown(w, "InitialUnknown", w->first[STATES] + i, 0);
    for (uint32_t i = 0; i < n; i++)
        put_unknown(w, "InitialUnknown", w->first[RATES] + i, 0);
    for (uint32_t i = n; i < nv; i++)
        if (is_output(w, i))
            put_unknown(w, "InitialUnknown", value_reference(w, i), 0);
    close_list(w, "InitialUnknowns");
    for (uint32_t i = 0; w->f->version == 3 && i < w->f->events.n; i++)
        put_unknown(w, "EventIndicator", w->first[EVENTS] + i, 0);
    ns_text_add(w->out, "  </ModelStructure>\n");
}

/* ---- the whole --------------------------------------------------------------------------- */

static void put_kinds(writer *w)
{
    static const char *const kinds[] = {"ModelExchange", "CoSimulation"};
    for (int i = 0; i < 2; i++) {
        ns_text_addf(w->out, "  <%s", kinds[i]);
        attribute(w, "modelIdentifier", w->f->identifier);
        if (i == 1)
            attribute(w, "canHandleVariableCommunicationStepSize", "true");
        if (w->f->version == 2) {
            ns_text_addf(w->out,
                         " canNotUseMemoryManagementFunctions=\"true\" "
                         "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" "
                         "providesDirectionalDerivative=\"true\">\n"
                         "    <SourceFiles>\n      <File name=\"model.c\"/>\n"
                         "    </SourceFiles>\n  </%s>\n",
                         kinds[i]);
        } else
            ns_text_add(w->out, " canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                                "providesDirectionalDerivatives=\"true\" "
                                "providesAdjointDerivatives=\"true\"/>\n");
    }
}

static void put_experiment(writer *w)
{
    const ns_model_settings *settings = &w->f->model->settings;
    const double from = isnan(settings->from) ? 0 : settings->from;
    ns_text_add(w->out, "  <DefaultExperiment");
    number(w, "startTime", from);
    if (settings->until > from)
        number(w, "stopTime", settings->until);
    if (settings->every > 0)
        number(w, "stepSize", settings->every);
    ns_text_add(w->out, "/>\n");
}

void ns_emit_fmu_description(const ns_fmu *fmu, ns_text *out)
{
    writer w = {.f = fmu, .out = out};
    collect(&w);
    ns_text_addf(out,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<fmiModelDescription fmiVersion=\"%d.0\"",
                 fmu->version);
    attribute(&w, "modelName", fmu->identifier);
    attribute(&w, fmu->version == 2 ? "guid" : "instantiationToken", fmu->token);
    attribute(&w, "description", fmu->system->description->title);
    attribute(&w, "generationTool", "noslip " NS_VERSION);
    attribute(&w, "variableNamingConvention", "flat");
    if (fmu->version == 2)
        ns_text_addf(out, " numberOfEventIndicators=\"%u\"", fmu->events.n);
    ns_text_add(out, ">\n");
    put_kinds(&w);
    if (w.units.n) {
        ns_text_add(out, "  <UnitDefinitions>\n");
        for (uint32_t i = 0; i < w.units.n; i++) {
            ns_text_add(out, "    <Unit");
            attribute(&w, "name", w.units.at[i]);
            ns_text_add(out, "/>\n");
        }
        ns_text_add(out, "  </UnitDefinitions>\n");
    }
    ns_text_add(out, "  <LogCategories>\n    <Category name=\"logStatusError\"/>\n"
                     "  </LogCategories>\n");
    put_experiment(&w);
    put_variables(&w);
    put_structure(&w);
    ns_text_add(out, "</fmiModelDescription>\n");
}
