/*
 * Many motions: how many trajectories of the rattleback P1c per second and core, with starts that
 * differ a little, at equal median error of the final state, as a ratio to C853, which runs them
 * one after the other.
 *
 *     bench_ensemble [--rounds N] [--motions N] [--profile]
 *
 * --profile runs the ensemble alone, for a while, at one tolerance: for perf.
 */
#include "hand_problems.h"

#include "io/model.h"
#include "ode/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The right-hand side of C853, term by term (hand_rhs.inc): two divisions and a root. */
static const char equations_text[] =
    "param a = 0.2, b = 0.03, c = 0.02, m = 1, g = 9.81, turn = 0.02\n"
    "param J1 = m/5*(b^2 + c^2), J2 = m/5*(a^2 + c^2), I33 = m/5*(a^2 + b^2)\n"
    "param I11 = J1*cos(turn)^2 + J2*sin(turn)^2, I22 = J1*sin(turn)^2 + J2*cos(turn)^2\n"
    "param I12 = (J1 - J2)*sin(turn)*cos(turn), aa = a^2, bb = b^2, cc = c^2\n"
    "let O = [O1, O2, O3], G = [g1, g2, g3], d = [aa*g1, bb*g2, cc*g3], q = dot(G, d)\n"
    "let root = sqrt(q), inv = 1/q, dG = cross(G, O), rate = dot(d, dG)*inv\n"
    "let u = [aa*dG[1], bb*dG[2], cc*dG[3]] - rate*d\n"
    "let L = [I11*O1 + I12*O2, I12*O1 + I22*O2, I33*O3]\n"
    "let r = q*cross(L, O) + m*dot(d, O)*(u - cross(d, O)) - m*dot(d, u)*O"
    " - m*g*root*cross(d, G)\n"
    "let md1 = m*d[1], md2 = m*d[2], e1 = md1*d[1], e2 = md2*d[2], e3 = m*d[3]*d[3]\n"
    "let k11 = I11*q + (e2 + e3), k22 = I22*q + (e1 + e3), k33 = I33*q + (e1 + e2)\n"
    "let k12 = I12*q - md1*d[2], k13 = -md1*d[3], k23 = -md2*d[3]\n"
    "let c11 = k22*k33 - k23^2, c12 = k13*k23 - k12*k33, c13 = k12*k23 - k13*k22\n"
    "let c22 = k11*k33 - k13^2, c23 = k12*k13 - k11*k23, c33 = k11*k22 - k12^2\n"
    "let idet = 1/(k11*c11 + (k12*c12 + k13*c13)), ds = -root*inv*u\n"
    "let e = [q1, q2, q3], h = 0.5*O, w = cross(e, ds) + q0*ds\n"
    "let dq = q0*h + cross(e, h)\n"
    "state q0' = -dot(e, h)\n"
    "state q1' = dq[1]\nstate q2' = dq[2]\nstate q3' = dq[3]\n"
    "state O1' = (c11*r[1] + c12*r[2] + c13*r[3])*idet\n"
    "state O2' = (c12*r[1] + c22*r[2] + c23*r[3])*idet\n"
    "state O3' = (c13*r[1] + c23*r[2] + c33*r[3])*idet\n"
    "state g1' = dG[1]\nstate g2' = dG[2]\nstate g3' = dG[3]\n"
    "state x' = ds[1] + 2*(q2*w[3] - q3*w[2])\nstate y' = ds[2] + 2*(q3*w[1] - q1*w[3])\n"
    "start { q0 = 1; O1 = 0.01; O2 = 0.02; O3 = -3; g3 = 1 }\n";

static const char rolling_text[] =
    "param a = 0.2, b = 0.03, c = 0.02\n"
    "ground plane\n"
    "body ellipsoid(a, b, c) { mass 1; uniform; turn [0, 0, 1], 0.02 }\n"
    "start { omega [0.01, 0.02, -3] }\n";

#define EQUATIONS "q0", "q1", "q2", "q3", "O1", "O2", "O3", "g1", "g2", "g3", "x", "y"
#define BODY                                                                                   \
    "quat.w", "quat.x", "quat.y", "quat.z", "omega.x", "omega.y", "omega.z", "vertical.x",     \
        "vertical.y", "vertical.z", "contact.x", "contact.y"

enum { N = 12, MOST = 1024, MOST_RUNGS = 40, MOST_ROUNDS = 51, CONTENDERS = 5 };

static int motions = 64, rounds = 5;
static double starts[MOST][3], reference[MOST][N], end_state[MOST][N];

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double median_error(void)
{
    static double errors[MOST];
    for (int k = 0; k < motions; k++) {
        errors[k] = 0;
        for (int i = 0; i < N; i++) {
            const double v = reference[k][i];
            const double d = fabs(end_state[k][i] - v) / fmax(1, fabs(v));
            errors[k] = d <= errors[k] ? errors[k] : isnan(d) ? INFINITY : d;
        }
    }
    return median(errors, motions);
}

/* ---- contenders ---------------------------------------------------------------------------- */

typedef struct contender {
    const char *name;
    const char *text, *const *values; /* NULL: C853 */
    ns_ensemble_options options;
    bool native;
    ns_model *model;
    const ns_problem *problem;
    ns_native *code;
    int64_t place[N];
    int64_t spin[3]; /* states of the angular velocity */
    double *observed, *work;
    /* while running */
    int next;
    double tolerance;
    uint64_t steps, rejected, evaluations;
} contender;

static void run_c853(contender *c)
{
    const hand_problem *p = hand_problem_find("P1c");
    for (int k = 0; k < motions; k++) {
        double y[HAND_MAX_STATES];
        hand_stats stats;
        memcpy(y, p->forms[0].y0, (size_t)p->forms[0].n * sizeof *y);
        memcpy(y + 4, starts[k], sizeof starts[k]);
        p->forms[0].dop853(p->t_end, c->tolerance, y, &stats);
        memcpy(end_state[k], y, sizeof end_state[k]);
        c->steps += (uint64_t)stats.steps;
        c->rejected += (uint64_t)stats.rejected;
        c->evaluations += (uint64_t)stats.evaluations;
    }
}

static bool next(void *context, uint64_t *id, double *p, double *x0)
{
    contender *c = context;
    if (c->next == motions)
        return false;
    memcpy(p, c->model->p, c->problem->np * sizeof *p);
    memcpy(x0, c->model->x0, c->problem->n * sizeof *x0);
    for (int i = 0; i < 3; i++)
        x0[c->spin[i]] = starts[c->next][i];
    *id = (uint64_t)c->next++;
    return true;
}

static bool done(void *context, const ns_ensemble_result *r)
{
    contender *c = context;
    ns_program_eval1(c->problem->observables, c->work, r->outcome->t, r->x, c->observed);
    for (int i = 0; i < N; i++)
        end_state[r->id][i] = c->observed[c->place[i]];
    if (r->outcome->status != NS_OK)
        end_state[r->id][0] = NAN;
    c->steps += r->outcome->steps;
    c->rejected += r->outcome->rejected;
    c->evaluations += r->outcome->evaluations;
    return true;
}

static void run(contender *c, double tolerance)
{
    c->tolerance = tolerance;
    c->next = 0;
    c->steps = c->rejected = c->evaluations = 0;
    if (!c->text) {
        run_c853(c);
        return;
    }
    const ns_ensemble_client client = {c, next, done};
    const char *message;
    ns_ensemble_options options = c->options;
    options.run.tolerance = tolerance;
    if (ns_ensemble_run(c->problem, &options, &client, &message) != NS_OK)
        fprintf(stderr, "%s: %s\n", c->name, message);
}

static int64_t state_of(const ns_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->system->states.n; i++)
        if (strcmp(model->system->states.at[i].name, name) == 0)
            return i;
    return -1;
}

static bool open_model(contender *c)
{
    if (!c->text)
        return true;
    c->model = ns_model_load_text(c->name, c->text, strlen(c->text), NULL, 0, NS_MODEL_READY);
    if (!c->model || c->model->status != NS_OK) {
        fputs(c->model ? c->model->messages : "out of memory\n", stderr);
        return false;
    }
    c->problem = ns_model_problem(c->model, false);
    char message[300];
    if (c->native)
        c->code = ns_ensemble_native(c->problem, &c->options, message, sizeof message, NULL);
    if (c->native && !c->code)
        fprintf(stderr, "no native code: %s\n", message);
    for (int i = 0; i < N; i++) {
        c->place[i] = ns_model_observable(c->model, c->values[i]);
        if (i >= 4 && i < 7)
            c->spin[i - 4] = state_of(c->model, c->values[i]);
    }
    c->observed = calloc(c->model->system->observables.n, sizeof *c->observed);
    c->work = calloc(ns_program_work1(c->problem->observables) + 1, sizeof *c->work);
    if (!c->observed || !c->work)
        return false;
    ns_program_bind1(c->problem->observables, c->work, c->model->p);
    return true;
}

/* ---- the table ----------------------------------------------------------------------------- */

typedef struct rung {
    double tolerance, error, seconds[MOST_ROUNDS];
    double per_motion; /* seconds, the median */
    double steps, rejected;
} rung;

static double at_error(const rung *rungs, int n, double error, double (*of)(const rung *))
{
    for (int i = 0; i + 1 < n; i++)
        if (rungs[i].error >= error && error > rungs[i + 1].error) {
            const double u = log(rungs[i].error / error) /
                             log(rungs[i].error / rungs[i + 1].error);
            return exp((1 - u) * log(of(&rungs[i])) + u * log(of(&rungs[i + 1])));
        }
    return NAN;
}

static double seconds_of(const rung *r)
{
    return r->per_motion;
}

static double steps_of(const rung *r)
{
    return r->steps;
}

static void measure(contender *contenders, int count, rung (*rungs)[MOST_RUNGS], int n)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++)
            for (int c = 0; c < count; c++) {
                rung *r = &rungs[c][i];
                r->tolerance = pow(10, -6 - i / 3.0);
                const double begin = cpu_seconds();
                run(&contenders[c], r->tolerance);
                r->seconds[round] = cpu_seconds() - begin;
                if (round == 0) {
                    r->error = median_error();
                    r->steps = (double)(contenders[c].steps + contenders[c].rejected) / motions;
                    r->rejected = (double)contenders[c].rejected / motions;
                }
            }
    for (int c = 0; c < count; c++)
        for (int i = 0; i < n; i++)
            rungs[c][i].per_motion = median(rungs[c][i].seconds, rounds) / motions;
}

static void print(const contender *contenders, int count, rung (*rungs)[MOST_RUNGS], int n)
{
    static const double targets[] = {1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11};
    enum { TARGETS = sizeof targets / sizeof *targets };
    printf("P1c, %d motions of 20 s with different starts; medians of %d interleaved rounds\n"
           "%-34s",
           motions, rounds, "median error");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0e", targets[t]);
    printf("\n%-34s", "C853, motions per second and core");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0f", 1 / at_error(rungs[0], n, targets[t], seconds_of));
    printf("\n%-34s", "C853, steps tried in a motion");
    for (int t = 0; t < TARGETS; t++)
        printf("%9.0f", at_error(rungs[0], n, targets[t], steps_of));
    printf("\nTimes as many motions:\n");
    for (int c = 1; c < count; c++) {
        printf("%-34s", contenders[c].name);
        for (int t = 0; t < TARGETS; t++)
            printf("%9.2f", at_error(rungs[0], n, targets[t], seconds_of) /
                                at_error(rungs[c], n, targets[t], seconds_of));
        printf("\n%-34s", "  steps tried in a motion");
        for (int t = 0; t < TARGETS; t++)
            printf("%9.0f", at_error(rungs[c], n, targets[t], steps_of));
        printf("\n");
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_ensemble [--rounds N] [--motions N] [--profile K]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const char *const equations[] = {EQUATIONS}, *const body[] = {BODY};
    static rung rungs[CONTENDERS][MOST_RUNGS];
    const int n_rungs = 27;
    int profile = -1;
    for (int i = 1; i < argc; i++) {
        const int value = i + 1 < argc ? atoi(argv[i + 1]) : 0;
        if (strcmp(argv[i], "--rounds") == 0 && value > 0 && value <= MOST_ROUNDS)
            rounds = value;
        else if (strcmp(argv[i], "--motions") == 0 && value > 0 && value <= MOST)
            motions = value;
        else if (strcmp(argv[i], "--profile") == 0 && i + 1 < argc && value < CONTENDERS)
            profile = value;
        else
            return usage();
        i++;
    }
    contender contenders[CONTENDERS] = {
        {.name = "C853"},
        {.name = "lanes, native", .text = equations_text, .values = equations, .native = true},
        {.name = "lanes, native, derived by rolling",
         .text = rolling_text,
         .values = body,
         .native = true},
        {.name = "lanes, native, fused",
         .text = equations_text,
         .values = equations,
         .native = true,
         .options.fused = true},
        {.name = "lanes, interpreted", .text = equations_text, .values = equations},
    };
    for (int c = 0; c < CONTENDERS; c++) {
        contenders[c].options.run = ns_run_defaults();
        contenders[c].options.run.method = "dop853";
        contenders[c].options.run.until = 20;
        contenders[c].options.run.least_size = 1; /* as C853 */
        if (!open_model(&contenders[c]))
            return 1;
    }
    for (int k = 0; k < motions; k++) { /* spread evenly in a box */
        starts[k][0] = 0.01 * (1 + 0.5 * fmod(0.754877666 * k, 1));
        starts[k][1] = 0.02 * (1 + 0.5 * fmod(0.569840291 * k, 1));
        starts[k][2] = -3 * (1 + 0.02 * fmod(0.438579021 * k, 1));
    }
    if (profile >= 0) {
        enum { TIMES = 40 };
        contender *c = &contenders[profile];
        double seconds[TIMES];
        for (int k = 0; k < TIMES; k++) {
            const double begin = cpu_seconds();
            run(c, 1e-9);
            seconds[k] = cpu_seconds() - begin;
        }
        median(seconds, TIMES);
        const double took = seconds[0] / motions; /* the least disturbed */
        printf("%.1f steps, %.1f rejected, %.1f evaluations of a motion; %.1f us, %.2f ns for "
               "an evaluation of one of the stages\n",
               (double)c->steps / motions, (double)c->rejected / motions,
               (double)c->evaluations / motions, 1e6 * took,
               1e9 * took * motions / (12 * (double)(c->steps + c->rejected)));
        return 0;
    }
    /* the reference: gauss, to round-off */
    contender exact = {.name = "reference", .text = equations_text, .values = equations};
    exact.options.run = ns_run_defaults();
    exact.options.run.until = 20;
    if (!open_model(&exact))
        return 1;
    run(&exact, 0);
    memcpy(reference, end_state, sizeof reference);
    measure(contenders, CONTENDERS, rungs, n_rungs);
    print(contenders, CONTENDERS, rungs, n_rungs);
    for (int c = 0; c < CONTENDERS; c++) {
        ns_native_free(contenders[c].code);
        ns_model_free(contenders[c].model);
        free(contenders[c].observed);
        free(contenders[c].work);
    }
    ns_model_free(exact.model);
    free(exact.observed);
    free(exact.work);
    return 0;
}
