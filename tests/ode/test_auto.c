/* --method auto: what it chooses, that it chooses it again, and that the run is that of the
 * method chosen, to the bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ode/auto.h"
#include "session/record.h"
#include "support/motion.h"

static const ns_method *const candidates[] = {&ns_method_gauss, &ns_method_dop853,
                                              &ns_method_taylor};

/* The problems of the speed table: P1c, P2, P3min, disk, and a shorter chain. */
typedef struct example {
    const char *model; /* of the gallery, or */
    const char *text;
    double until;
} example;

static const char sphere[] = "param r = 0.06, m = 4/3*pi*r^3*4500\n"
                             "ground height(0.65*x - 3/2*x^2 - 6.7/3*x^3 + 20.5/4*x^4)\n"
                             "body sphere(r) { mass m; uniform }\n"
                             "start { contact [-0.65, 0.1]; centre' [0.2, -0.3]; spin 0 }\n";

static const char chain[] = "param m = 0.3, l = 0.3, g = 9.81\n"
                            "let arm(q) = l*[sin(q), -cos(q)]\n"
                            "let share(p) = m/2*dot(p', p') - m*g*p.y\n"
                            "coordinate a in rad\ncoordinate b in rad\ncoordinate c in rad\n"
                            "coordinate d in rad\n"
                            "let p = arm(a), q = p + arm(b), r = q + arm(c), s = r + arm(d)\n"
                            "lagrangian share(p) + share(q) + share(r) + share(s)\n"
                            "start { a = 0.15; b = 0.3; c = 0.45; d = 0.6 }\n";

static const example examples[] = {
    {.model = "rattleback-p1c", .until = 20},
    {.model = "sleigh-oscillator", .until = 100},
    {.text = sphere, .until = 10},
    {.model = "falling-disk", .until = 20},
    {.text = chain, .until = 2},
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static ns_model *loaded(const example *e)
{
    if (e->text)
        return motion_model_text(e->text, NULL);
    char path[512];
    snprintf(path, sizeof path, "%s/%s.mech", NS_MODELS_DIR, e->model);
    ns_model *model = ns_model_load(path, NULL, 0, NS_MODEL_READY);
    assert_non_null(model);
    assert_int_equal(model->status, NS_OK);
    return model;
}

static ns_run *ran(ns_model *model, const ns_run_options *options)
{
    ns_status status;
    const char *message = "";
    ns_run *run = ns_run_new(ns_model_problem(model, false), options, model->p, model->x0,
                             &status, &message);
    if (!run)
        fail_msg("%s", message);
    assert_int_equal(ns_run_to(run, options->until), NS_OK);
    return run;
}

/* Thirty steps tell what the whole run costs: the choice is within 30 % of the cheapest, by the
 * counts of whole runs at equal error, from loose to tight. */
static void cheapest(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-4, 1e-9, 1e-13};
    for (size_t e = 0; e < EXAMPLES; e++) {
        ns_model *model = loaded(&examples[e]);
        const ns_problem *problem = ns_model_problem(model, false);
        for (size_t t = 0; t < 3; t++) {
            ns_run_options o = ns_run_defaults();
            o.until = examples[e].until;
            o.tolerance = tolerances[t];
            ns_choice choice, again;
            ns_auto_choose(problem, &o, model->p, model->x0, &choice);
            ns_auto_choose(problem, &o, model->p, model->x0, &again);
            assert_ptr_equal(choice.method, again.method);
            assert_string_equal(choice.why, again.why);
            assert_non_null(strstr(choice.why, choice.method->name));
            double least = INFINITY, mine = INFINITY;
            for (size_t m = 0; m < 3; m++) {
                o.method = candidates[m]->name;
                ns_run *run = ran(model, &o);
                const double cost = candidates[m]->price.digits *
                                    ns_auto_cost(problem, candidates[m], tolerances[t],
                                                 ns_run_outcome(run));
                ns_run_free(run);
                least = fmin(least, cost);
                mine = candidates[m] == choice.method ? cost : mine;
            }
            if (!(mine <= 1.3 * least))
                fail_msg("example %zu at %g: %s costs %.2f of the least; %s", e, tolerances[t],
                         choice.method->name, mine / least, choice.why);
        }
        ns_model_free(model);
    }
}

/* Steps of a method are priced by what they consist of: more of anything costs more. */
static void prices(void **state)
{
    (void)state;
    ns_model *model = loaded(&examples[0]);
    const ns_problem *problem = ns_model_problem(model, false);
    for (size_t m = 0; m < 3; m++) {
        const ns_outcome few = {.steps = 10, .evaluations = 960};
        const ns_outcome steps = {.steps = 20, .evaluations = 960};
        const ns_outcome calls = {.steps = 10, .evaluations = 1920};
        const double cost = ns_auto_cost(problem, candidates[m], 1e-9, &few);
        assert_true(cost > 0);
        assert_true(ns_auto_cost(problem, candidates[m], 1e-9, &steps) > cost);
        if (candidates[m] != &ns_method_taylor)
            assert_true(ns_auto_cost(problem, candidates[m], 1e-9, &calls) > cost);
        else
            assert_true(ns_auto_cost(problem, candidates[m], 1e-15, &few) > cost);
    }
    ns_model_free(model);
}

static ns_record *recorded(ns_model *model, const char *method, double tolerance, double until)
{
    ns_record_options o = ns_record_defaults(model);
    o.run.method = method;
    o.run.tolerance = tolerance;
    o.run.until = until;
    o.keep = true;
    o.every = until / 4;
    ns_record *r = ns_record_new(model, &o);
    assert_non_null(r);
    if (r->status != NS_OK)
        fail_msg("%s", r->message);
    assert_int_equal(ns_record_run(r), NS_OK);
    return r;
}

/* The output is that of the method chosen, to the bit, through records and through runs; with
 * the default tolerance, and with that of the chosen method when it was not given. */
static void same_bits(void **state)
{
    (void)state;
    static const double tolerances[] = {0, 1e-7};
    for (size_t e = 0; e < EXAMPLES; e++) {
        ns_model *model = loaded(&examples[e]);
        const uint32_t columns = model->system->observables.n, n = model->system->states.n;
        for (size_t t = 0; t < 2; t++) {
            const double until = examples[e].until / 10;
            ns_record *r = recorded(model, "auto", tolerances[t], until);
            assert_true(r->chosen);
            assert_true(r->choice[0] != 0);
            ns_record *named = recorded(model, r->method->name, tolerances[t], until);
            assert_false(named->chosen);
            assert_ptr_equal(named->method, r->method);
            assert_true(named->options.run.tolerance == r->options.run.tolerance);
            assert_int_equal(named->table.rows, r->table.rows);
            for (uint32_t i = 0; i < columns; i++)
                assert_memory_equal(ns_table_column(&named->table, i),
                                    ns_table_column(&r->table, i),
                                    r->table.rows * sizeof(double));
            ns_run_options o = ns_run_defaults();
            o.method = NS_METHOD_AUTO;
            o.until = until;
            o.tolerance = tolerances[t];
            ns_run *one = ran(model, &o);
            o.method = r->method->name;
            ns_run *two = ran(model, &o);
            assert_memory_equal(ns_run_state(one), ns_run_state(two), n * sizeof(double));
            ns_run_free(one);
            ns_run_free(two);
            ns_record_free(r);
            ns_record_free(named);
        }
        ns_model_free(model);
    }
}

/* Where a corner comes every few hundredths of a second high orders do not help. */
static void corners(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        "let saw = abs(sin(40*q))\n"
        "state q' = 1 + 0.1*saw\nstate w' = saw - abs(sin(31*w + q))\n",
        NULL);
    ns_run_options o = ns_run_defaults();
    o.until = 20;
    o.tolerance = 1e-5;
    ns_choice choice;
    ns_auto_choose(ns_model_problem(model, false), &o, model->p, model->x0, &choice);
    if (choice.method == &ns_method_taylor || choice.n != 3)
        fail_msg("%s", choice.why);
    ns_model_free(model);
}

/* Stiff: rates of 1 and of a million. */
static void stiff(void **state)
{
    (void)state;
    ns_model *model = motion_model_text(
        "state y' = -1e6*(y - cos(t)) - sin(t)\nstate z' = y - z\n"
        "start { y = 1.5; z = 0 }\n",
        NULL);
    ns_record *r = recorded(model, "auto", 1e-6, 5000);
    if (!strstr(r->choice, "bdf"))
        fail_msg("%s", r->choice);
    assert_true(r->method == &ns_method_bdf || r->method == &ns_method_gauss);
    assert_true(r->outcome->steps < 200000);
    const double *y = ns_table_column(&r->table, 0);
    assert_true(fabs(y[r->table.rows - 1] - cos(5000)) < 1e-4);
    ns_record_free(r);
    ns_model_free(model);
}

/* A whole run of one step, backwards in time, and no run at all. */
static void short_runs(void **state)
{
    (void)state;
    ns_model *model = motion_model_text("state q' = v\nstate v' = -q\nstart { q = 1 }\n", NULL);
    static const double until[] = {1e-3, -0.5, -40};
    ns_run_options o = ns_run_defaults();
    o.method = NS_METHOD_AUTO;
    for (size_t i = 0; i < 3; i++) {
        o.until = until[i];
        ns_choice choice;
        ns_auto_choose(ns_model_problem(model, false), &o, model->p, model->x0, &choice);
        assert_true(isfinite(choice.trial[0].price) && choice.trial[0].price > 0);
        ns_run *run = ran(model, &o);
        assert_true(fabs(ns_run_state(run)[0] - cos(until[i])) < 1e-13);
        ns_run_free(run);
    }
    o.until = 0;
    ns_run_free(ran(model, &o));
    ns_model_free(model);
}

static void refused(void **state)
{
    (void)state;
    ns_model *model = motion_model_text("state q' = -q\nstart { q = 1 }\nrun { until 1 }\n",
                                        NULL);
    ns_record_options o = ns_record_defaults(model);
    o.run.method = NS_METHOD_AUTO;
    o.run.fixed_step = 0.1;
    ns_record *r = ns_record_new(model, &o);
    assert_int_equal(r->status, NS_ERR_USAGE);
    assert_non_null(strstr(r->message, "fixed length"));
    ns_record_free(r);
    ns_status status;
    const char *message = "";
    assert_null(ns_run_new(ns_model_problem(model, false), &o.run, model->p, model->x0, &status,
                           &message));
    assert_int_equal(status, NS_ERR_USAGE);
    assert_non_null(strstr(message, "fixed length"));
    ns_model_free(model);
    model = motion_model_text("state q' = -q\nstart { q = 1 }\nrun { until 1; method auto }\n",
                              NULL);
    r = ns_record_new(model, &(ns_record_options){.run = ns_model_run_options(model)});
    assert_int_equal(r->status, NS_OK);
    assert_true(r->chosen);
    ns_record_free(r);
    ns_model_free(model);
}

/* A continued run goes on with its own method, whatever would be chosen now. */
static void continued(void **state)
{
    (void)state;
    char path[] = "/tmp/noslip-auto-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    ns_model *model = motion_model_text("state q' = v\nstate v' = -q^3\nstart { q = 1 }\n",
                                        NULL);
    ns_record_options o = ns_record_defaults(model);
    o.run.method = "dop853";
    o.run.tolerance = 1e-12;
    o.run.until = 5;
    o.checkpoint = path;
    ns_record *r = ns_record_new(model, &o);
    assert_int_equal(ns_record_run(r), NS_OK);
    ns_record_free(r);

    o.run.method = NS_METHOD_AUTO;
    o.checkpoint = NULL;
    o.resume = path;
    o.run.until = 10;
    ns_record *on = ns_record_new(model, &o);
    if (on->status != NS_OK)
        fail_msg("%s", on->message);
    assert_ptr_equal(on->method, &ns_method_dop853);
    assert_true(on->chosen && !on->choice[0]);
    assert_int_equal(ns_record_run(on), NS_OK);
    ns_record_free(on);

    FILE *f = fopen(path, "w");
    fputs("something else\n", f);
    fclose(f);
    on = ns_record_new(model, &o);
    assert_int_equal(on->status, NS_ERR_USAGE);
    assert_non_null(strstr(on->message, "not a checkpoint"));
    ns_record_free(on);
    remove(path);
    on = ns_record_new(model, &o);
    assert_non_null(strstr(on->message, "cannot read"));
    ns_record_free(on);
    ns_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheapest), cmocka_unit_test(prices),    cmocka_unit_test(same_bits),
        cmocka_unit_test(corners),  cmocka_unit_test(stiff),     cmocka_unit_test(short_runs),
        cmocka_unit_test(refused),  cmocka_unit_test(continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
