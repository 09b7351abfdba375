/*
 * What `--method auto` knows about cost: time of gauss, dop853 and taylor on problems of
 * different size at loose, middle and tight tolerances, native and interpreted, beside the
 * counts of the runs and what src/ode/auto.c makes of them.
 *
 *     bench_methods [-i] [PROBLEM...]      -i: interpreted
 */
#include "rivals/contenders.h"

#include "harness/texts.h"
#include "ode/auto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5 };

static const char *const names[] = {"P1c", "P2", "P3min", "disk", "chain"};
static const char *const methods[] = {"gauss", "dop853", "taylor"};
static const double tolerances[] = {1e-4, 1e-6, 1e-9, 1e-11, 1e-13, 1e-17};

typedef struct job {
    const bench_text *text;
    bench_problem problem;
    ns_model *model;
    const ns_problem *ode;
    double *values;
} job;

/* One run: its seconds, counts and error. */
static double run_once(const job *j, const char *method, double tolerance, ns_outcome *outcome,
                       double *error)
{
    ns_run_options options = ns_run_defaults();
    options.method = method;
    options.until = j->problem.hand->t_end;
    options.tolerance = tolerance;
    ns_status status;
    const char *message;
    const double start = bench_cpu_seconds();
    ns_run *run = ns_run_new(j->ode, &options, j->model->p, j->model->x0, &status, &message);
    if (!run || ns_run_to(run, options.until) != NS_OK) {
        ns_run_free(run);
        return NAN;
    }
    const double seconds = bench_cpu_seconds() - start;
    double end[HAND_MAX_STATES];
    ns_run_observe(run, ns_run_time(run), ns_run_state(run), j->values);
    for (int i = 0; i < j->problem.hand->n; i++)
        end[i] = j->values[ns_model_observable(j->model, j->text->values[i])];
    *error = bench_error(&j->problem, end);
    *outcome = *ns_run_outcome(run);
    ns_run_free(run);
    return seconds;
}

static void print_weights(const job *j)
{
    const ns_problem *o = j->ode;
    double products;
    const double series = ns_program_jet_weight(o->rhs, &products);
    printf("# %s: n %u, weights: right-hand side %.0f, series %.0f and %.1f products, manifold "
           "%.0f, events %.0f, diagnostics %.0f\n",
           j->problem.hand->name, o->n, ns_program_weight(o->rhs), series, products,
           o->correction ? ns_program_weight(o->shift) + ns_program_weight(o->correction)
                         : ns_program_weight(o->manifold),
           ns_program_weight(o->events),
           ns_program_weight(o->observables) + ns_program_weight(o->residuals) +
               ns_program_weight(o->monitor));
}

static void measure(job *j, bool native)
{
    j->model = bench_text_load(j->text);
    if (!j->model)
        return;
    j->ode = ns_model_problem(j->model, false);
    j->values = calloc(j->model->system->observables.n + 1u, sizeof *j->values);
    print_weights(j);
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances && j->values; t++) {
        ns_run_options options = ns_run_defaults();
        options.until = j->problem.hand->t_end;
        options.tolerance = tolerances[t];
        ns_choice choice;
        ns_auto_choose(j->ode, &options, j->model->p, j->model->x0, &choice);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            const ns_method *method = ns_method_find(methods[m]);
            char why[300];
            if (native)
                ns_problem_native(j->ode, method->lanes, why, sizeof why, NULL);
            double sample[SAMPLES], error = NAN;
            ns_outcome o = {0};
            for (int i = 0; i < SAMPLES; i++)
                sample[i] = run_once(j, methods[m], tolerances[t], &o, &error);
            const double seconds = bench_median(sample, SAMPLES);
            const double tolerance = fmax(tolerances[t], method->least_tolerance);
            const double cost = ns_auto_cost(j->ode, method, tolerance, &o);
            printf("%-6s %-9s %6.0e %-7s%6llu %4llu %8llu %9.3f ms %9.3f %5.2f %8.0e%s\n",
                   j->problem.hand->name,
                   j->text->kind == BENCH_MECHANICS ? "derived" : "given", tolerances[t],
                   methods[m], (unsigned long long)o.steps, (unsigned long long)o.rejected,
                   (unsigned long long)o.evaluations, 1e3 * seconds, 1e-6 * cost,
                   1e-9 * cost / seconds, error, choice.method == method ? "  <- auto" : "");
            ns_problem_interpret(j->ode);
        }
    }
    fflush(stdout);
    free(j->values);
    ns_model_free(j->model);
}

int main(int argc, char **argv)
{
    const bool native = argc < 2 || strcmp(argv[1], "-i") != 0;
    printf("%-6s %-9s %6s %-7s%6s %4s %8s %12s %9s %5s %8s\n", "", "equations", "tol", "method",
           "steps", "rej", "evals", "CPU", "counted", "ratio", "error");
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
        bool wanted = argc < (native ? 2 : 3);
        for (int i = native ? 1 : 2; i < argc; i++)
            wanted = wanted || strcmp(argv[i], names[p]) == 0;
        for (int kind = BENCH_EQUATIONS; kind <= BENCH_MECHANICS && wanted; kind++) {
            job j = {.text = bench_text_find(names[p], (bench_kind)kind)};
            if (j.text && bench_problem_get(names[p], &j.problem) == 0)
                measure(&j, native);
        }
    }
    return 0;
}
