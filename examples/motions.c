/* Motions: whole runs, simulations in one's own hands, and batches of many.
 *     cc motions.c $(pkg-config --cflags --libs noslip) -lm -o motions */
#include <math.h>
#include <noslip/noslip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(int holds, const char *what)
{
    if (!holds) {
        printf("%s does not hold\n", what);
        exit(1);
    }
}
#define EXPECT(what) expect(what, #what)

static int go_on(void *context, double fraction, double at)
{
    (void)fraction;
    (void)at;
    ++*(int *)context;
    return 0; /* anything else stops it */
}

/* By the struct, or by names for languages that do not see it. */
static ns_result *run(ns_model *m, int *calls)
{
    ns_simulate_options fixed;
    ns_simulate_defaults(&fixed, sizeof fixed);
    fixed.until = 1;
    ns_result *by_struct = ns_simulate(m, &fixed);
    EXPECT(ns_result_verdict(by_struct) == NS_DONE && ns_result_rows(by_struct) >= 1);
    ns_result_close(by_struct);

    const char *type, *help;
    printf("an option: %s", ns_options_name(0, &type, &help));
    printf(", a %s: %s\n", type, help);
    const double at[] = {0, 1, 2, 3};
    ns_simulate_options *o = ns_options_new();
    ns_options_set_number(o, "until", 3);
    ns_options_set_number(o, "digits", 1);
    ns_options_set_number(o, "trust", 1);
    ns_options_set_numbers(o, "at", at, 4);
    ns_options_set_text(o, "method", "gauss");
    ns_options_set_texts(o, "outputs", (const char *const[]){"motion.json"}, 1);
    ns_options_set_progress(o, go_on, calls);
    ns_result *r = ns_simulate(m, o);
    ns_options_free(o);
    return r;
}

static void results(ns_model *m)
{
    int calls = 0;
    ns_result *r = run(m, &calls);
    const char *why;
    EXPECT(ns_result_verdict(r) == NS_DONE && *ns_result_reason(r) == 0);
    printf("%s, native: %d", ns_result_method(r, &why), ns_result_native(r, NULL));
    const size_t i = (size_t)ns_model_index(m, NS_VALUES, "omega.z");
    const double *t = ns_result_times(r), *spin = ns_result_values(r, "omega.z");
    printf("; spin %g at %g s, %d digits\n", spin[3], t[3], ns_result_digits(r, i)[3]);
    EXPECT(ns_result_rows(r) == 4 && ns_result_column(r, i)[3] == spin[3]);
    EXPECT(ns_result_low(r, i) == NULL); /* only in quadruple precision */
    EXPECT(ns_result_final(r, "omega.z") == spin[3]);
    double x[20];
    EXPECT(ns_model_count(m, NS_STATES) <= 20 && ns_result_state(r, x) == NS_DONE);
    EXPECT(ns_result_diagnostic(r, "energy_drift") < 1e-12 && *ns_result_trust(r));
    for (size_t e = 0; e < ns_result_events(r); e++)
        printf("%s (%+d) at %.4f s, omega.x = %.4f\n", ns_result_event_name(r, e),
               ns_result_event_direction(r, e), ns_result_event_time(r, e),
               ns_result_event_value(r, e, "omega.x"));
    for (size_t k = 0; k < ns_result_modes(r); k++) /* none: this model has no modes */
        printf("%s since %g s\n", ns_result_mode_name(r, k), ns_result_mode_time(r, k));
    size_t length;
    void *csv = ns_result_bytes(r, "csv", &length);
    EXPECT(csv && length == strlen(csv));
    ns_free(csv);
    EXPECT(ns_result_write(r, "motion.csv") == NS_DONE);
    EXPECT(ns_result_write(r, "motion.doc") == NS_WRONG && *ns_result_error(r));
    ns_result_close(r);
}

static int note(void *context, size_t event, double t, int direction, const double *x)
{
    (void)event;
    (void)direction;
    (void)x;
    *(double *)context = t;
    return 0;
}

static void simulations(ns_model *m)
{
    double x[20], values[100], turned = NAN;
    ns_simulation *s = ns_simulation_new(m, NULL);
    EXPECT(ns_simulation_step(s) == NS_DONE && ns_simulation_verdict(s) == NS_DONE);
    EXPECT(ns_simulation_from(s) == 0 && ns_simulation_reached(s) >= ns_simulation_time(s));
    EXPECT(ns_simulation_state_at(s, ns_simulation_time(s) / 2, x) == NS_DONE);
    EXPECT(ns_simulation_advance(s, 0.5) == NS_DONE);
    const size_t bytes = ns_simulation_save(s, NULL, 0);
    void *saved = malloc(bytes);
    ns_simulation_save(s, saved, bytes);
    EXPECT(ns_model_count(m, NS_VALUES) <= 100 && ns_simulation_values(s, values) == NS_DONE);
    EXPECT(ns_simulation_advance(s, 5) == NS_DONE);
    double t;
    const long event = ns_simulation_event(s, &t, NULL, NULL);
    EXPECT(event >= 0);
    printf("%s at %.4f s\n", ns_model_name(m, NS_EVENTS, (size_t)event), t);
    EXPECT(ns_simulation_restore(s, saved, bytes) == NS_DONE); /* back to 0.5 s */
    free(saved);
    ns_simulation_on_event(s, note, &turned);
    ns_simulation_advance(s, 5);
    EXPECT(turned >= t && ns_simulation_diagnostic(s, "energy_drift") < 1e-12);
    ns_simulation_state(s, x);
    x[0] += 1e-3; /* the quaternion is not of length one now: project */
    EXPECT(ns_simulation_set_state(s, 5, x, 1) == NS_DONE);
    EXPECT(ns_simulation_set_parameter(s, "m", 2) == NS_DONE);
    EXPECT(ns_simulation_parameter(s, "m") == 2 && ns_simulation_value(s, "energy") > 0);
    double p[20];
    ns_model_numbers(m, NS_PARAMETERS, p, 20);
    EXPECT(ns_simulation_set_parameters(s, p) == NS_DONE);
    EXPECT(ns_simulation_set_input(s, "none", 1) == NS_WRONG && *ns_simulation_reason(s));
    ns_simulation_close(s);
}

static int count_row(void *context, size_t row, const double *columns, ns_verdict verdict,
                     const char *reason)
{
    (void)row;
    (void)columns;
    (void)reason;
    *(int *)context += verdict == NS_DONE;
    return 0;
}

static void batches(ns_model *m)
{
    const double spin[] = {-5, -4, 4};
    int rows = 0, calls = 0;
    ns_batch *b = ns_batch_new(m);
    ns_batch_vary(b, "omega.z", spin, 3);
    ns_batch_get(b, "turned=reversal(omega.z)");
    ns_batch_set_number(b, "until", 5);
    ns_batch_set_text(b, "method", "dop853");
    ns_batch_on_row(b, count_row, &rows, 1);
    ns_batch_on_progress(b, go_on, &calls);
    EXPECT(ns_batch_prepare(b) == NS_DONE && ns_batch_rows(b) == 3 && ns_batch_columns(b) == 2);
    EXPECT(ns_batch_run(b) == NS_DONE && rows == 3 && calls >= 0);
    for (size_t i = 0; i < 3; i++)
        printf("%s %g %s: turned at %g s %s\n", ns_batch_column_name(b, 0),
               ns_batch_values(b)[2 * i], ns_batch_column_unit(b, 0),
               ns_batch_column(b, "turned")[i], ns_batch_why(b, i));
    EXPECT(ns_batch_verdict(b, 0) == NS_DONE);
    EXPECT(ns_batch_over(b, "m=1:2:5") == NS_WRONG &&
           *ns_batch_reason(b)); /* arrays are there */
    ns_batch_close(b);
    b = ns_batch_new(m);
    ns_batch_over(b, "m=1 kg:2*m:3");
    ns_batch_random(b, "omega.z=normal(-5, 0.1)");
    ns_batch_set_number(b, "count", 4);
    EXPECT(ns_batch_prepare(b) == NS_DONE && ns_batch_rows(b) == 12);
    ns_batch_close(b);
}

int main(void)
{
    ns_model *m = ns_model_open_gallery("rattleback", NULL, NULL, 0);
    results(m);
    simulations(m);
    batches(m);
    ns_model_close(m);
    puts("all examples hold");
    return 0;
}
