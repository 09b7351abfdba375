/* `noslip emit fmu`: our own importer (fmu_import.h) runs the units, both kinds, both versions,
 * and they move as the library does; their descriptions hold what the standard demands. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>

#include "fmu_import.h"

#include <cmocka.h>

#include "out/program/emit_fmu.h"
#include "support/xml.h"

static const char sleigh[] =
    "title \"A sleigh that is pushed\"\n"
    "param m = 2 kg, I = 1.5 kg*m^2, a = 0.3 m, J = m*a^2 + I\n"
    "input torque in N*m = 0.2\n"
    "coordinate x in m, y in m, phi\n"
    "lagrangian m/2*((x' - a*sin(phi)*phi')^2 + (y' + a*cos(phi)*phi')^2) + I/2*phi'^2\n"
    "constraint blade: -sin(phi)*x' + cos(phi)*y' = 0\n"
    "force phi = torque\n"
    "observe spin = J*phi'\n"
    "start { x = 0; y = 0; phi = 0.3; phi' = 1; x' = a*2 }\n"
    "run { until 2 }\n";

static ns_model *load(const char *name, const ns_override *overrides, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, name);
    ns_model *model = strcmp(name, "sleigh") == 0
                          ? ns_model_load_text("sleigh.mech", sleigh, strlen(sleigh), overrides,
                                               n, NS_MODEL_READY)
                          : ns_model_load(path, overrides, n, NS_MODEL_READY);
    if (!model || model->status != NS_OK)
        fail_msg("%s: %s", name, model ? model->messages : "no model");
    return model;
}

/* The unit of a large model comes without a binary, which would take long: it is built from its
 * source, as elsewhere. */
static void make(const ns_model *model, int version, fmu *f)
{
    const bool large = !NS_NATIVE || model->system->states.n > 20;
    ns_arena *arena = ns_arena_new();
    assert_non_null(arena);
    ns_text archive = ns_text_new(arena);
    const char *message = "";
    if (!ns_emit_fmu(model, version, !large, &archive, &message))
        fail_msg("%s", message);
    if (!fmu_open(f, version, ns_text_string(&archive), archive.length, large))
        fail_msg("the unit cannot be opened: %s", dlerror());
    ns_arena_free(arena);
}

/* Values of a run at a time; rounding errors of both integrators are below 1e-11 of the values
 * here, as neither motion is chaotic over these times. */
static void compare(fmu *f, ns_model *model, double until)
{
    const uint32_t n = model->system->observables.n;
    double *expected = calloc(n + 1, sizeof *expected);
    ns_run_options options = ns_model_run_options(model);
    options.until = until;
    options.tolerance = 1e-13;
    ns_status status;
    const char *message;
    ns_run *run = ns_run_new(model->problem, &options, model->p, model->x0, &status, &message);
    assert_non_null(run);
    assert_int_equal(ns_run_to(run, until), NS_OK);
    ns_run_observe(run, until, ns_run_state(run), expected);
    ns_run_free(run);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = model->system->observables.at[i].name;
        const unsigned vr = fmu_find(f, name);
        double found = NAN;
        if (strpbrk(name, "'<&") && vr == UINT32_MAX)
            continue;
        assert_true(vr != UINT32_MAX);
        assert_int_equal(fmu_get(f, vr, &found), 0);
        if (!(fabs(found - expected[i]) <= 1e-9 * fmax(1, fabs(expected[i]))))
            fail_msg("%s, FMI %d: %s is %.17g, not %.17g", model->name, f->version, name, found,
                     expected[i]);
    }
    free(expected);
}

static void step_to(fmu *f, double from, double to, int steps)
{
    for (int k = 0; k < steps; k++) {
        const double t = from + (to - from) * k / steps;
        double last = NAN;
        bool ended = true;
        assert_int_equal(
            fmu_step(f, t, from + (to - from) * (k + 1) / steps - t, &last, &ended), 0);
        assert_false(ended);
    }
}

static void moves(const char *name, double until, int steps)
{
    ns_model *model = load(name, NULL, 0);
    for (int version = 2; version <= 3; version++) {
        fmu f;
        make(model, version, &f);
        for (int co = 0; co < 2; co++) {
            assert_true(fmu_instantiate(&f, co, f.guid, NULL));
            assert_int_equal(fmu_begin(&f, 0), 0);
            assert_int_equal(fmu_initialised(&f), 0);
            if (co)
                step_to(&f, 0, until, 10);
            else {
                assert_false(fmu_events(&f));
                assert_true(fmu_exchange(&f, 0, until, steps));
            }
            compare(&f, model, until);
            fmu_free_instance(&f);
        }
        fmu_close(&f);
    }
    ns_model_free(model);
}

static void units_move_as_runs_do(void **state)
{
    (void)state;
    moves("rattleback", 1, 800);
    moves("bicycle", 0.5, 50);
    moves("sleigh", 2, 100);
}

/* Another parameter: what is given follows it (x'), what is found too (y'), and so do
 * parameters that follow from others.  A state that is set stays. */
static void starts_are_consistent(void **state)
{
    (void)state;
    static const ns_override other[] = {{"a", "0.45"}, {"torque", "0.7"}};
    ns_model *model = load("sleigh", NULL, 0), *variant = load("sleigh", other, 2);
    for (int version = 2; version <= 3; version++) {
        fmu f;
        make(model, version, &f);
        for (int co = 0; co < 2; co++) {
            double spin, speed, y;
            int complaints = 0;
            assert_false(fmu_instantiate(&f, co, "{another}", &complaints));
            assert_int_equal(complaints, 1);
            assert_true(fmu_instantiate(&f, co, f.guid, &complaints));
            assert_int_equal(fmu_set(&f, fmu_find(&f, "a"), 0.45), 0);
            assert_int_equal(fmu_begin(&f, 0), 0);
            assert_int_equal(fmu_set(&f, fmu_find(&f, "torque"), 0.7), 0);
            assert_int_equal(fmu_initialised(&f), 0);
            assert_int_not_equal(fmu_set(&f, fmu_find(&f, "a"), 0.5), 0);
            assert_int_not_equal(fmu_set(&f, fmu_find(&f, "J"), 0.5), 0);
            assert_int_equal(complaints, 3);
            if (co)
                step_to(&f, 0, 2, 7);
            else {
                assert_false(fmu_events(&f));
                assert_true(fmu_exchange(&f, 0, 2, 100));
            }
            compare(&f, variant, 2);
            assert_int_equal(fmu_simple(&f, "Reset", "Reset"), 0);
            assert_int_equal(fmu_set(&f, fmu_find(&f, "x'"), 3), 0);
            assert_int_equal(fmu_begin(&f, 0), 0);
            assert_int_equal(fmu_get(&f, fmu_find(&f, "x'"), &speed), 0);
            assert_int_equal(fmu_get(&f, fmu_find(&f, "y'"), &y), 0);
            assert_int_equal(fmu_get(&f, fmu_find(&f, "spin"), &spin), 0);
            assert_true(speed == 3 && spin == 2 * 0.3 * 0.3 + 1.5);
            assert_true(fabs(y - 3 * tan(0.3)) < 1e-14);
            assert_int_equal(fmu_initialised(&f), 0);
            fmu_free_instance(&f);
        }
        fmu_close(&f);
    }
    ns_model_free(variant);
    ns_model_free(model);
}

/* The inverted sleigh: rates from differences of what the unit itself computes; the derivatives
 * are exact, the differences good to about 1e-9. */
static void derivatives_are_exact(void **state)
{
    (void)state;
    ns_model *model = load("sleigh", NULL, 0);
    for (int version = 2; version <= 3; version++) {
        fmu f;
        make(model, version, &f);
        assert_true(fmu_instantiate(&f, false, f.guid, NULL));
        assert_int_equal(fmu_begin(&f, 0), 0);
        assert_int_equal(fmu_initialised(&f), 0);
        assert_false(fmu_events(&f));
        const unsigned known[] = {fmu_find(&f, "phi"), fmu_find(&f, "phi'"),
                                  fmu_find(&f, "torque")};
        const unsigned unknown[] = {fmu_find(&f, "der(phi')"), fmu_find(&f, "der(x')"),
                                    fmu_find(&f, "lambda.blade"), fmu_find(&f, "spin")};
        const double seed[] = {0.3, -0.7, 1.1}, weight[] = {0.2, 0.9, -0.4, 0.5}, h = 1e-5;
        double d[4], side[2][4], x[6], y[6], adjoint[3], left = 0, right = 0;
        assert_int_equal(fmu_direction(&f, false, unknown, 4, known, 3, seed, d), 0);
        fmu_array(&f, "GetContinuousStates", "GetContinuousStates", x, 6);
        for (int s = 0; s < 2; s++) {
            const double step = s ? h : -h;
            memcpy(y, x, sizeof y);
            y[2] += step * seed[0];
            y[5] += step * seed[1];
            fmu_rates(&f, 0, y, side[s]);
            assert_int_equal(fmu_set(&f, known[2], 0.2 + step * seed[2]), 0);
            for (int i = 0; i < 4; i++)
                assert_int_equal(fmu_get(&f, unknown[i], &side[s][i]), 0);
        }
        for (int i = 0; i < 4; i++)
            if (!(fabs(d[i] - (side[1][i] - side[0][i]) / (2 * h)) < 1e-8))
                fail_msg("derivative %d: %.17g, not %.17g", i, d[i],
                         (side[1][i] - side[0][i]) / (2 * h));
        if (version == 3) {
            fmu_rates(&f, 0, x, y);
            fmu_set(&f, known[2], 0.2);
            assert_int_equal(fmu_direction(&f, true, unknown, 4, known, 3, weight, adjoint), 0);
            for (int i = 0; i < 4; i++)
                left += weight[i] * d[i];
            for (int i = 0; i < 3; i++)
                right += adjoint[i] * seed[i];
            assert_true(fabs(left - right) < 1e-13);
        }
        fmu_free_instance(&f);
        fmu_close(&f);
    }
    ns_model_free(model);
}

/* x'' = -x from x = 1 stops when x falls below 1/2, at pi/3; x rises through 1/2 later. */
static void stop_events_end_motions(void **state)
{
    (void)state;
    static const char text[] = "coordinate x\nlagrangian x'^2/2 - x^2/2\n"
                               "event low: x = 1/2 falling stop\n"
                               "start { x = 1; x' = 0 }\nrun { until 3 }\n";
    const double exact = acos(0.5);
    ns_model *model = ns_model_load_text("o.mech", text, strlen(text), NULL, 0, NS_MODEL_READY);
    if (!model || model->status != NS_OK)
        fail_msg("%s", model ? model->messages : "no model");
    for (int version = 2; version <= 3; version++) {
        fmu f;
        bool ended = false;
        double last = NAN;
        make(model, version, &f);
        assert_int_equal(f.events, 1);
        assert_true(fmu_instantiate(&f, true, f.guid, NULL));
        assert_int_equal(fmu_begin(&f, 0), 0);
        assert_int_equal(fmu_initialised(&f), 0);
        assert_int_equal(fmu_step(&f, 0, 1, &last, &ended), 0);
        assert_false(ended);
        assert_int_equal(fmu_step(&f, 1, 1, &last, &ended), 0);
        assert_true(ended && fabs(last - exact) < 1e-12);
        fmu_free_instance(&f);
        assert_true(fmu_instantiate(&f, false, f.guid, NULL));
        assert_int_equal(fmu_begin(&f, 0), 0);
        assert_int_equal(fmu_initialised(&f), 0);
        assert_false(fmu_events(&f));
        assert_true(fmu_exchange(&f, 0, 1, 20));
        double indicator[1];
        assert_int_equal(
            fmu_array(&f, "GetEventIndicators", "GetEventIndicators", indicator, 1), 0);
        assert_true(fabs(indicator[0] - (cos(1) - 0.5)) < 1e-12);
        assert_false(fmu_exchange(&f, 1, 1.1, 3));
        fmu_free_instance(&f);
        fmu_close(&f);
    }
    ns_model_free(model);
}

/* Under the sanitizer nothing may be left; states are saved and brought back on the way. */
static void ten_thousand_steps(void **state)
{
    (void)state;
    ns_model *model = load("sleigh", NULL, 0);
    for (int version = 2; version <= 3; version++) {
        fmu f;
        make(model, version, &f);
        assert_true(fmu_instantiate(&f, true, f.guid, NULL));
        assert_int_equal(fmu_begin(&f, 0), 0);
        assert_int_equal(fmu_initialised(&f), 0);
        typedef int keep(void *, void **);
        typedef int bring(void *, void *);
        for (int k = 0; k < 100; k++) {
            void *saved = NULL;
            double last, x[2] = {0};
            bool ended;
            const double t = k * 0.02;
            FMU_CALL(&f, "GetFMUstate", "GetFMUState", keep *, f.instance, &saved);
            assert_int_equal(fmu_step(&f, t, 0.02, &last, &ended), 0);
            fmu_get(&f, fmu_find(&f, "x"), &x[0]);
            FMU_CALL(&f, "SetFMUstate", "SetFMUState", bring *, f.instance, saved);
            step_to(&f, t, t + 0.02, 100);
            fmu_get(&f, fmu_find(&f, "x"), &x[1]);
            assert_true(fabs(x[0] - x[1]) < 1e-11);
            FMU_CALL(&f, "FreeFMUstate", "FreeFMUState", keep *, f.instance, &saved);
            assert_null(saved);
        }
        compare(&f, model, 2);
        fmu_free_instance(&f);
        fmu_close(&f);
    }
    ns_model_free(model);
}

/* ---- the description --------------------------------------------------------------------- */

/* How often the element names the variable inside the list (FMI 2.0) or anywhere (3.0). */
static unsigned named(const fmu *f, const char *list, const char *element, unsigned vr)
{
    char open[64], key[96], value[24];
    snprintf(open, sizeof open, "<%s>", list);
    const char *at = f->version == 2 ? strstr(f->xml, open) : f->xml;
    snprintf(open, sizeof open, "</%s>", list);
    const char *end = at && f->version == 2 ? strstr(at, open) : f->xml + strlen(f->xml);
    unsigned count = 0;
    snprintf(key, sizeof key, "<%s ", f->version == 2 ? "Unknown" : element);
    for (; at && (at = strstr(at, key)) && at < end; at++) {
        fmu_attribute(at, f->version == 2 ? "index" : "valueReference", value, sizeof value);
        count += strtoul(value, NULL, 10) == vr + (f->version == 2 ? 1 : 0);
    }
    return count;
}

static bool is_one_of(const char *word, const char *words)
{
    const char *at = strstr(words, word);
    return *word && at && strchr(" ", at[strlen(word)]);
}

/* Tables of FMI 2.0.4 section 2.2.7 and FMI 3.0 section 2.4.7: which words go together, and
 * when there is a start. */
static void check_variable(const fmu *f, const fmu_variable *v, unsigned place)
{
    const bool is_rate = v->derivative != 0;
    const bool is_state = place >= f->first_state && place < f->first_state + f->states;
    assert_int_equal(v->vr, place);
    assert_true(is_one_of(v->causality,
                          "independent parameter calculatedParameter input output "
                          "local "));
    for (unsigned j = 0; j < place; j++)
        assert_string_not_equal(f->v[j].name, v->name);
    if (strcmp(v->causality, "independent") == 0)
        assert_true(place == 0 && !*v->initial && !v->start);
    else if (strcmp(v->causality, "parameter") == 0)
        assert_true(strcmp(v->variability, "fixed") == 0 && strcmp(v->initial, "exact") == 0 &&
                    v->start);
    else if (strcmp(v->causality, "calculatedParameter") == 0)
        assert_true(strcmp(v->variability, "fixed") == 0 && !v->start);
    else if (strcmp(v->causality, "input") == 0)
        assert_true(!*v->initial && v->start && strcmp(v->variability, "continuous") == 0);
    else
        assert_true(strcmp(v->initial, v->start ? "approx" : "calculated") == 0);
    assert_true(is_state == (strcmp(v->initial, "approx") == 0));
    const bool output = strcmp(v->causality, "output") == 0;
    assert_int_equal(named(f, "Outputs", "Output", place), output);
    assert_int_equal(named(f, "Derivatives", "ContinuousStateDerivative", place), is_rate);
    assert_int_equal(named(f, "InitialUnknowns", "InitialUnknown", place),
                     output || is_state || is_rate ||
                         strcmp(v->causality, "calculatedParameter") == 0);
    if (f->version == 3)
        assert_int_equal(named(f, "", "EventIndicator", place),
                         strncmp(v->name, "event ", 6) == 0);
}

static void descriptions_are_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"sleigh", "rattleback", "falling-disk"};
    for (int i = 0; i < 6; i++) {
        ns_model *model = load(names[i / 2], NULL, 0);
        ns_arena *arena = ns_arena_new();
        ns_text archive = ns_text_new(arena);
        const char *message = "",
                   *order[] = {"<ModelExchange ", "<CoSimulation ",      "<UnitDefinitions>",
                               "<LogCategories>", "<DefaultExperiment ", "<ModelVariables>",
                               "<ModelStructure>"};
        fmu f = {.version = 2 + i % 2};
        size_t n;
        assert_true(ns_emit_fmu(model, f.version, false, &archive, &message));
        const unsigned char *at = zip_find(ns_text_string(&archive), archive.length,
                                           "modelDescription.xml", "", &n);
        assert_non_null(at);
        assert_non_null(
            zip_find(ns_text_string(&archive), archive.length, "sources/model.c", "", &n));
        assert_null(zip_find(ns_text_string(&archive), archive.length, "binaries/", "", &n));
        zip_find(ns_text_string(&archive), archive.length, "modelDescription.xml", "", &n);
        f.xml = strndup((const char *)at, n);
        fmu_read_variables(&f);
        char why[200];
        if (!xml_well_formed(strchr(f.xml, '\n') + 1, why))
            fail_msg("%s: %s", model->name, why);
        const char *last = f.xml;
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            const char *here = strstr(f.xml, order[k]);
            assert_true(here && here > last);
            last = here;
        }
        assert_int_equal(f.states, model->system->states.n);
        for (unsigned k = 0; k < f.n; k++)
            check_variable(&f, &f.v[k], k);
        free(f.xml);
        free(f.v);
        ns_arena_free(arena);
        ns_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_move_as_runs_do), cmocka_unit_test(starts_are_consistent),
        cmocka_unit_test(derivatives_are_exact), cmocka_unit_test(stop_events_end_motions),
        cmocka_unit_test(ten_thousand_steps),    cmocka_unit_test(descriptions_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
