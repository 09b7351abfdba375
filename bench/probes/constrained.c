/*
 * Formulation `constrained`: its routes against `rolling` on one motion, ways to keep the state
 * on the constraints, and chains of growing length. CPU times of the thread, all contenders run
 * once in each round, least of the rounds.
 *
 *     bench_constrained [MODELS-DIRECTORY [ROUNDS]]
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "session/model.h"

typedef struct contender {
    const char *name;
    ns_model *model;
    bool project;
    double least; /* seconds */
    double contact[2], energy, residual;
    unsigned long steps, evaluations;
} contender;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static char *text_of(const char *directory, const char *name, const char *more)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.mech", directory, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(1);
    }
    enum { ROOM = 1 << 16 };
    char *text = calloc(1, ROOM);
    size_t n = text ? fread(text, 1, ROOM / 2, f) : 0;
    fclose(f);
    if (text)
        memcpy(text + n, more, strlen(more) + 1);
    return text;
}

static ns_model *model_of(const char *name, const char *text)
{
    ns_model *model = ns_model_load_text(name, text, strlen(text), NULL, 0, NS_MODEL_READY);
    if (!model || model->status != NS_OK) {
        fprintf(stderr, "%s", model ? model->messages : "out of memory\n");
        exit(1);
    }
    return model;
}

static void run(contender *c, double tolerance)
{
    ns_run_options options = ns_model_run_options(c->model);
    options.tolerance = tolerance;
    options.project = c->project;
    ns_status status;
    const char *message = "";
    const double begin = now();
    ns_run *r = ns_run_new(ns_model_problem(c->model, false), &options, c->model->p,
                           c->model->x0, &status, &message);
    if (!r || ns_run_to(r, options.until) != NS_OK) {
        fprintf(stderr, "%s: %s\n", c->name, r ? ns_run_outcome(r)->reason : message);
        exit(1);
    }
    const double spent = now() - begin;
    c->least = c->least > 0 ? fmin(c->least, spent) : spent;
    const ns_outcome *o = ns_run_outcome(r);
    c->steps = (unsigned long)o->steps;
    c->evaluations = (unsigned long)o->evaluations;
    c->energy = o->energy_drift;
    c->residual = 0;
    for (uint32_t i = 0; i < c->model->system->constraints.n; i++)
        c->residual = fmax(c->residual, o->residual[i]);
    double *values = calloc(c->model->system->observables.n + 1, sizeof *values);
    if (values) {
        ns_run_observe(r, options.until, ns_run_state(r), values);
        for (int i = 0; i < 2; i++) {
            const char *names[2][2] = {{"P.x", "contact.x"}, {"P.y", "contact.y"}};
            for (uint32_t k = 0; k < c->model->system->observables.n; k++)
                if (strcmp(c->model->system->observables.at[k].name, names[i][0]) == 0 ||
                    strcmp(c->model->system->observables.at[k].name, names[i][1]) == 0)
                    c->contact[i] = values[k];
        }
    }
    free(values);
    ns_run_free(r);
}

static void table(contender *list, int n, double tolerance, int rounds)
{
    /* contact at 10 s, tests/reference/a1_sphere_uniform.json */
    static const double known[2] = {-0.6619445702249951, -1.731377215098056};
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++)
            run(&list[i], tolerance);
    printf("\n10 s at tolerance %g\n%-34s %9s %7s %6s %8s %9s %9s %9s\n", tolerance, "", "ms",
           "ratio", "steps", "evaluat.", "error", "energy", "residual");
    const double first = list[0].least;
    for (int i = 0; i < n; i++) {
        const double error = fmax(fabs(list[i].contact[0] - known[0]),
                                  fabs(list[i].contact[1] - known[1]));
        printf("%-34s %9.2f %7.2f %6lu %8lu %9.1e %9.1e %9.1e\n", list[i].name,
               1e3 * list[i].least, list[i].least / first, list[i].steps, list[i].evaluations,
               error, list[i].energy, list[i].residual);
        list[i].least = 0;
    }
}

/* n particles on rods, 3 m long and bent. */
static void chain(int n)
{
    char *text = malloc((size_t)n * 300 + 200), *at = text;
    if (!text)
        exit(1);
    double l = 3.0 / n, x = 0, z = 0;
    at += sprintf(at, "param m = %.17g\n", 3.0 / n);
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "particle P%d { mass m }\nconstraint r%d: rod(P%d, ", i, i, i);
        at += i ? sprintf(at, "P%d, %.17g)\n", i - 1, l)
                : sprintf(at, "[0, 0, 0], %.17g)\n", l);
    }
    at += sprintf(at, "start {\n");
    for (int i = 0; i < n; i++) {
        x += l * sin(0.6 * (i + 1) / n);
        z -= l * cos(0.6 * (i + 1) / n);
        at += sprintf(at, "P%d ~ [%.17g, 0, %.17g]; P%d' = [0, 0, 0]\n", i, x, z, i);
    }
    sprintf(at, "}\nrun { until 0.1 }\n");
    const double begin = now();
    contender c = {.name = "chain", .model = model_of("chain", text), .project = true};
    const double built = now() - begin;
    run(&c, 1e-10);
    const ns_problem *problem = ns_model_problem(c.model, false);
    printf("%6d %12.1f %12u %8lu %14.1f %10.1e %10.1e\n", n, 1e3 * built,
           ns_program_operations(problem->rhs, NULL), c.steps,
           1e6 * c.least / (double)c.evaluations * 8, c.energy, c.residual);
    ns_model_free(c.model);
    free(text);
}

int main(int argc, char **argv)
{
    const char *directory = argc > 1 ? argv[1] : "models";
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    static const struct {
        const char *name, *model, *more;
        bool drifts;
    } all[] = {
        {"rolling", "sphere-trough", "", false},
        {"saddle, projection", "sphere-one-particle", "", false},
        {"saddle, neither", "sphere-one-particle", "", true},
        {"saddle, Baumgarte 1/s", "sphere-one-particle", "\nsolve saddle(baumgarte = 1)\n",
         true},
        {"saddle, Baumgarte 10/s", "sphere-one-particle", "\nsolve saddle(baumgarte = 10)\n",
         true},
        {"saddle, Baumgarte 100/s", "sphere-one-particle", "\nsolve saddle(baumgarte = 100)\n",
         true},
        {"augmented, projection", "sphere-one-particle", "\nsolve augmented(kappa2 = 0.02)\n",
         false},
        {"pinv, projection", "sphere-one-particle", "\nsolve pinv\n", false},
    };
    enum { N = sizeof all / sizeof *all };
    contender list[N] = {0};
    for (int i = 0; i < N; i++) {
        char *text = text_of(directory, all[i].model, all[i].more);
        if (!text)
            return 1;
        list[i] = (contender){.name = all[i].name,
                              .model = model_of(all[i].name, text),
                              .project = !all[i].drifts};
        free(text);
    }
    table(list, N, 1e-11, rounds);
    table(list, N, 1e-7, rounds);
    for (int i = 0; i < N; i++)
        ns_model_free(list[i].model);
    printf(
        "\nChains of particles, 0.1 s at tolerance 1e-10\n%6s %12s %12s %8s %14s %10s %10s\n",
        "links", "build, ms", "operations", "steps", "us per 8 eval.", "energy", "residual");
    for (int n = 25; n <= 200; n *= 2)
        chain(n);
    return 0;
}
